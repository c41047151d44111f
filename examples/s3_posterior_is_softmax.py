r"""The posterior of K normal classes with one covariance is a softmax of K lines.

Lecture S3, normalized exponential. With $a_k = \ln p(x \mid C_k)\, p(C_k)$

$$p(C_k \mid x) = \frac{e^{a_k}}{\sum_j e^{a_j}},$$

and with equal covariances what is left of $a_k - a_j$ is a straight line. The figure shows the regions of three classes
by Bayes' rule and, dashed, where `LogisticRegression` (softmax of three lines, no densities) says that two classes are
equally probable: it finds the same posteriors.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.special import softmax
from scipy.stats import multivariate_normal

from adaline import GaussianClassifier, LogisticRegression
from drawing import panels, points, regions, show

MEANS = np.array([[-1.5, 0.0], [1.5, -0.5], [0.3, 2.0]])
SIGMA = np.array([[1.0, 0.4], [0.4, 0.7]])


def main() -> Figure:
    rng = np.random.default_rng(4)
    y = rng.choice(3, size=20_000, p=[0.5, 0.3, 0.2])
    X = MEANS[y] + rng.normal(size=(len(y), 2)) @ np.linalg.cholesky(SIGMA).T
    xs, ys = np.linspace(-4.5, 4.5, 121), np.linspace(-4, 5, 121)
    grid = np.column_stack([a.ravel() for a in np.meshgrid(xs, ys)])

    bayes = GaussianClassifier().fit(X, y)
    densities = [multivariate_normal(mean, bayes.covariance_).logpdf(grid) for mean in bayes.means_]
    posterior = softmax(np.transpose(densities) + np.log(bayes.priors_), axis=1)
    lines = grid @ bayes.coef_.T + bayes.intercept_
    assert np.allclose(bayes.predict_proba(grid), posterior, atol=1e-12), "it is Bayes' rule"
    assert np.allclose(softmax(lines, axis=1), posterior, atol=1e-12), "and it is the softmax of K lines"

    model = LogisticRegression().fit(X, y)
    off = np.abs(model.predict_proba(grid) - posterior).max()
    assert off < 0.05, "softmax regression, which knows nothing of densities, finds the same"
    by_class = GaussianClassifier(covariance="full").fit(X * np.where(y == 2, 0.3, 1.0)[:, None], y)
    logs = np.log(by_class.predict_proba(grid))
    bend = np.diff((logs[:, 2] - logs[:, 0]).reshape(121, 121), 2, axis=1)
    assert np.abs(bend).max() > 1e-3, "with unequal covariances the log odds are not lines"

    figure, (ax,) = panels(1, width=6.2, height=5.0)
    some = rng.choice(len(y), 600, replace=False)
    points(ax, X[some], y[some], names=["$C_1$", "$C_2$", "$C_3$"])
    regions(ax, bayes.predict)
    p = model.predict_proba(grid).reshape(121, 121, 3)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        other = p[..., 3 - i - j]
        even = np.where(other < np.maximum(p[..., i], p[..., j]), p[..., i] - p[..., j], np.nan)
        ax.contour(xs, ys, even, levels=[0.0], colors="black", linestyles="--")
    ax.plot([], [], "k--", label="softmax regression: two classes even")
    ax.set(title="Regions by Bayes' rule, lines by softmax regression", xlabel="$x_1$", ylabel="$x_2$")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=4, frameon=False, fontsize=9)
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
