r"""Logistic regression has fewer parameters than the Gaussian classifier, agrees with it on much data, is stabler.

S0, section 5.9.1 (Logistic regression, two categories), (5.39)-(5.44) and its last two paragraphs. Both end in the
logit

$$\mathrm{logit}[p(c_1|\mathbf{x})] = \gamma + \boldsymbol\beta^T\mathbf{x},$$

the logistic regression from its $D + 1$ parameters, the Gaussian classifier from $D(D+1)/2 + 2D$ of means and
covariance. Left, on normal classes the two logits come together as $N$ grows. Right, classes of which a tenth lies
far out on its own side: the wrong model of the density moves the Gaussian boundary from sample to sample, the
logistic one hardly.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import GaussianClassifier, LogisticRegression
from drawing import BLUE, GREEN, VERMILION, finish, panels, show

D = 5


def rows(rng: np.random.Generator, n: int, far: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes; a share `far` of class 1 lies far out, on its own side."""
    y = np.arange(n) % 2
    X = rng.normal(size=(n, D)) + 0.4 * (2 * y[:, None] - 1)
    out = (y == 1) & (rng.random(n) < far)
    X[out] += rng.normal(loc=8.0, scale=6.0, size=(out.sum(), D)) ** 2 / 10
    return X, y


def main(*, far: float = 0.1) -> Figure:
    rng = np.random.default_rng(0)
    sizes = np.array([100, 300, 1000, 3000, 10_000, 30_000])
    gaps = []
    for n in sizes:
        gap = []
        for _ in range(8):
            X, y = rows(rng, n)
            gaussian, logistic = GaussianClassifier().fit(X, y), LogisticRegression().fit(X, y)
            a = np.append(gaussian.intercept_, gaussian.coef_)
            b = np.append(logistic.intercept_, logistic.coef_)
            gap.append(np.linalg.norm(a - b) / np.linalg.norm(a))
        gaps.append(np.mean(gap))
    in_gaussian = gaussian.means_.size + np.tril(np.ones_like(gaussian.covariance_)).sum()
    assert in_gaussian == D * (D + 1) // 2 + 2 * D, "the Gaussian classifier has D(D+1)/2 + 2D parameters"
    assert logistic.coef_.size + logistic.intercept_.size == D + 1, "logistic regression has D + 1"
    assert gaps[-1] < gaps[0] / 10, "on Gaussian data both agree as N grows"

    new_X, new_y = rows(rng, 10_000, far)
    errors = {"logistic": [], "Gaussian": []}
    for _ in range(40):
        X, y = rows(rng, 200, far)
        for name, model in (("logistic", LogisticRegression()), ("Gaussian", GaussianClassifier())):
            errors[name].append(100 * (1 - model.fit(X, y).score(new_X, new_y)))
    assert np.mean(errors["logistic"]) < np.mean(errors["Gaussian"]), "off Gaussian data logistic makes fewer errors"
    assert np.std(errors["logistic"]) < np.std(errors["Gaussian"]), "and differs less from sample to sample"

    figure, (left, right) = panels(2)
    left.loglog(sizes, gaps, "o-", color=BLUE, label="mean of 8 samples")
    left.loglog(sizes, gaps[0] * np.sqrt(sizes[0] / sizes), ":", color=GREEN, label=r"$1/\sqrt{N}$")
    spot = rng.uniform(-0.18, 0.18, size=40)
    for i, (name, colour) in enumerate((("logistic", BLUE), ("Gaussian", VERMILION))):
        right.plot(i + spot, errors[name], "os"[i], color=colour, ms=4, alpha=0.7, label=f"{name}, 40 samples")
        right.plot([i - 0.3, i + 0.3], [np.mean(errors[name])] * 2, color="black", linewidth=1.5)
    right.set_xticks([0, 1], [f"logistic,\n{D + 1} parameters", f"Gaussian,\n{in_gaussian:.0f} parameters"])
    right.set_xlim(-0.6, 1.6)
    finish(left, "Normal classes: the two agree as N grows", "rows", "distance of the two logits, relative")
    finish(right, "A tenth of a class far out: logistic is stabler", "system", "errors on new rows, %", legend=False)
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
