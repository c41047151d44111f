r"""Iteratively reweighted least squares needs a handful of steps.

S2, maximum likelihood for logistic regression: there is no closed form, but the error is convex, and Newton's step on
it, with $\mathbf{R}$ the diagonal of $y_n(1 - y_n)$, is a weighted least squares:

$$\mathbf{w}^{new} = \mathbf{w}^{old} - (\boldsymbol\Phi^t\mathbf{R}\boldsymbol\Phi)^{-1}
\boldsymbol\Phi^t(\mathbf{y} - \mathbf{t})$$

Near the minimum each step doubles the number of correct digits; gradient descent gains the same part of a digit each
time.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import GeneralizedLinear, LogisticRegression, Status
from drawing import BLUE, VERMILION, finish, panels, show


def main(*, solver: str = "newton") -> Figure:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 8)) @ (np.eye(8) + 0.3 * rng.normal(size=(8, 8)))
    y = (rng.random(1000) < 1 / (1 + np.exp(-X @ rng.normal(size=8)))).astype(int)
    newton = LogisticRegression(solver=solver).fit(X, y)
    ones = np.column_stack([np.ones(1000), X])
    most = np.linalg.eigvalsh(ones.T @ ones)[-1] / 4  # the largest curvature that the error can have
    descent = GeneralizedLinear(loss="logistic", solver="gradient", rate=1.9 / most, epochs=2000).fit(X, y)

    outputs = 1 / (1 + np.exp(-ones @ np.append(newton.intercept_, newton.coef_)))
    least = newton.certificate_.objective
    above = np.array(newton.history_) - least
    assert newton.certificate_.status is Status.SOLVED, "IRLS finds the maximum likelihood"
    assert np.abs(ones.T @ (outputs - y)).max() < 1e-8, "where the gradient of the error is zero"
    assert newton.n_iter_ <= 8, "in a handful of steps"
    assert descent.n_iter_ > 20 * newton.n_iter_, "gradient descent needs many more"

    figure, (ax,) = panels(1, width=6.4, height=4.6)
    ax.semilogy(np.arange(1, len(above) + 1), np.maximum(above, 1e-12), "o-", color=BLUE, label="IRLS (Newton-Raphson)")
    slow = np.array(descent.history_) - least
    ax.semilogy(np.arange(1, len(slow) + 1), slow, color=VERMILION, linestyle="--", label="gradient descent")
    ax.set_xscale("log")
    title = f"IRLS is exact after {newton.n_iter_} steps; descent took {descent.n_iter_} to be near"
    finish(ax, title, "step", r"$E(\mathbf{w}) - E_{min}$, at least $10^{-12}$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
