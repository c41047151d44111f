r"""A generative classifier is beaten by a discriminative one where classes are not normal.

S2, discriminative classifiers: for normal classes "the best thing to do is to estimate the parameters of these
distributions"; if they "are not exactly normal, this generative approach will yield sub-optimal results". Right,
inputs are exponential, so that the log odds are linear although no class is normal,

$$p(x_j|C_k) = \lambda_{kj}\, e^{-\lambda_{kj} x_j} \quad\Rightarrow\quad
\ln\frac{p(C_1|\mathbf{x})}{p(C_2|\mathbf{x})} = \gamma + \sum_j (\lambda_{2j} - \lambda_{1j})\, x_j,$$

and logistic regression, which models the boundary alone, comes close to the best that can be done (Bayes). Left,
normal classes: there the generative classifier is right, and the better one on few rows.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import GaussianClassifier, LogisticRegression
from drawing import BLUE, GREY, ORANGE, VERMILION, finish, panels, show

SCALES = np.array([1.2, 1.4, 1.7, 2.0, 3.0, 5.0])  # of the second exponential class, against one
D = len(SCALES)
MODELS = {
    "logistic": (LogisticRegression, {"penalty": 1e-3}, BLUE, "o-"),
    "Gaussian, shared covariance": (GaussianClassifier, {}, VERMILION, "s--"),
    "Gaussian, covariance per class": (GaussianClassifier, {"covariance": "full"}, ORANGE, "^-."),
}
SIZES = (40, 100, 300, 1000, 3000)


def normal(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, classes, and what Bayes' rule says."""
    y = np.arange(n) % 2
    X = rng.normal(size=(n, D)) + 0.35 * (2 * y[:, None] - 1)
    return X, y, X.sum(axis=1) > 0


def exponential(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    y = np.arange(n) % 2
    X = rng.exponential(size=(n, D)) * np.where(y[:, None] == 1, SCALES, 1.0)
    return X, y, X @ (1 - 1 / SCALES) > np.sum(np.log(SCALES))


def main(*, skewed: object = exponential) -> Figure:
    figure, axes = panels(2)
    final = []
    for ax, draw in zip(axes, (normal, skewed), strict=True):
        rng = np.random.default_rng(0)
        new_X, new_y, bayes = draw(rng, 8_000)
        best = 100 * np.mean(bayes != new_y)
        found = {name: [] for name in MODELS}
        for n in SIZES:
            trains = [draw(rng, n)[:2] for _ in range(10)]
            for name, (system, options, _, _) in MODELS.items():
                scores = [system(**options).fit(*train).score(new_X, new_y) for train in trains]
                found[name].append(100 * (1 - np.mean(scores)))
        for name, (_, _, colour, style) in MODELS.items():
            ax.semilogx(SIZES, found[name], style, color=colour, ms=5, label=name)
        ax.axhline(best, color=GREY, linestyle=":", label="Bayes: the least possible")
        final.append((best, *(np.array(errors) for errors in found.values())))
    (_, logistic, shared, _), (best, off, off_shared, off_full) = final
    assert shared[0] < logistic[0], "on few normal rows the generative classifier is better"
    assert abs(shared[-1] - logistic[-1]) < 0.2, "on many both agree"
    assert off[-1] < best + 0.3, "off-normal, the discriminative one comes close to Bayes"
    assert off_shared[-1] > off[-1] + 0.5, "the generative one with a shared covariance does not"
    assert off_full[-1] > off[-1] + 0.5, "nor does the one with a covariance per class"
    finish(axes[0], "Normal classes: the right density wins on few rows", "rows", "errors on new rows, %")
    finish(axes[1], "Exponential classes: the discriminative one wins", "rows", "errors on new rows, %")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
