r"""Fisher's discriminant is least squares with targets N/Nₖ and the shared-covariance Gaussian classifier.

S2, Fisher's linear discriminant, its connection to maximum likelihood of normal classes and to least squares: with
targets $t_n = N/N_1$ and $-N/N_2$, and under normal classes with one covariance, the weights are those that maximise

$$J(\mathbf{w}) = \frac{\mathbf{w}^t\mathbf{S}_B\mathbf{w}}{\mathbf{w}^t\mathbf{S}_W\mathbf{w}}
\qquad\Rightarrow\qquad \mathbf{w} \propto \mathbf{S}_W^{-1}(\mathbf{m}_2 - \mathbf{m}_1)$$

The first idea, $\mathbf{w} \propto \mathbf{m}_2 - \mathbf{m}_1$, "if conditional distributions are not isotropic, is
typically not optimal": projected on it the classes overlap; projected on Fisher's direction they hardly do.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import FisherDiscriminant, GaussianClassifier, LeastSquaresClassifier
from drawing import CLASSES, GREEN, ORANGE, finish, line, panels, points, show


def unit(w: np.ndarray) -> np.ndarray:
    return w[0] / np.linalg.norm(w[0])


def main(*, lean: float = 0.9) -> Figure:
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    noise = rng.normal(size=(400, 2)) @ np.linalg.cholesky([[2.0, 2 * lean], [2 * lean, 2.0]]).T
    X = noise + np.outer(y, [2.0, 0.5])
    fisher = FisherDiscriminant(threshold="prior").fit(X, y)
    squares = LeastSquaresClassifier(coding="fisher").fit(X, y)
    gaussian = GaussianClassifier(covariance="shared").fit(X, y)
    means = FisherDiscriminant(covariance="identity").fit(X, y)

    assert np.allclose(unit(squares.coef_), unit(fisher.coef_), rtol=1e-10), "least squares has Fisher's direction"
    assert np.isclose(squares.intercept_[0], -squares.coef_[0] @ X.mean(axis=0)), "and cuts at the mean of all rows"
    assert np.allclose(unit(gaussian.coef_), unit(fisher.coef_), rtol=1e-10), "so has the Gaussian classifier"
    assert np.array_equal(fisher.predict(X), gaussian.predict(X)), "with the threshold of the priors both decide alike"
    assert fisher.criterion_ > 1.5 * means.criterion_, "the mean difference separates worse where classes lean"
    assert fisher.score(X, y) > means.score(X, y) + 0.03, "and makes more errors"

    figure, (left, middle, right) = panels(3, width=4.4)
    points(left, X, y)
    line(left, fisher.coef_, fisher.intercept_, color=GREEN, linewidth=3, label="Fisher")
    line(left, gaussian.coef_, gaussian.intercept_, color="black", linestyle=":", label="Gaussian")
    line(left, means.coef_, means.intercept_, color=ORANGE, linestyle="--", label="mean difference")
    for ax, model, name in ((middle, means, "Mean difference"), (right, fisher, "Fisher")):
        along = model.transform(X)[:, 0]
        bins = np.linspace(along.min(), along.max(), 36)
        for k in (0, 1):
            ax.hist(along[y == k], bins, color=CLASSES[k], alpha=0.6, label=f"class {k}")
        wrong = 100 * (1 - model.score(X, y))
        finish(ax, f"{name}: J = {model.criterion_:.4f}, {wrong:.1f} % wrong", r"$\mathbf{w}^t\mathbf{x}$", "rows")
    finish(left, "One line by three ways, and a worse one", "$x_1$", "$x_2$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
