r"""Gradient descent ends where the pseudo-inverse is: one criterion, one solution.

S0, section 5.3 (Gradient descent), and S1 ("same error criterion -> same solution"). The sum of squares is a
quadratic form with a single minimum, which the pseudo-inverse of (5.8) gives at once and the steps of (5.19) reach
one by one:

$$\mathbf{w} = (\mathbf{X}^T\mathbf{X})^{-1}\mathbf{X}^T\mathbf{y}, \qquad
\Delta\mathbf{w}(t) = \eta \sum_{n=1}^N e(n, t)\,\mathbf{x}(n)$$

Left, the way of the steps across the error's contours; right, what is left of the error above its minimum, which
falls geometrically at any rate below 2 over the largest eigenvalue of $\mathbf{X}^T\mathbf{X}$.
"""

from __future__ import annotations

import warnings

import numpy as np
from matplotlib.figure import Figure

from adaline import LinearRegression
from drawing import BLUE, GREEN, GREY, VERMILION, finish, panels, show


def main(*, largest: float = 1.9) -> Figure:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) @ np.array([[1.0, 0.5], [0.0, 0.8]])
    y = X @ [1.5, -0.8] + 0.3 * rng.normal(size=60)
    exact = np.linalg.pinv(X) @ y
    top = np.linalg.eigvalsh(X.T @ X)[-1]
    least = 0.5 * float(np.sum((y - X @ exact) ** 2))

    figure, (left, right) = panels(2)
    a, b = np.meshgrid(np.linspace(-1.7, 2.5, 80), np.linspace(-1.9, 2.1, 80))
    errors = 0.5 * np.sum((y - a[..., None] * X[:, 0] - b[..., None] * X[:, 1]) ** 2, axis=-1)
    left.contour(a, b, errors, levels=np.geomspace(1.2 * least, errors.max(), 9), colors=GREY, linewidths=0.6)
    left.plot(*exact, "k*", ms=13, label="pseudo-inverse", zorder=3)

    init = np.array([0.0, -1.2, -1.4])  # intercept first; this model has none
    for share, colour in ((0.2, GREEN), (0.5, BLUE), (largest, VERMILION)):
        rule = {"fit_intercept": False, "solver": "gradient", "rate": share / top, "init": init}
        model = LinearRegression(**rule).fit(X, y)
        assert np.allclose(model.coef_, exact, rtol=0, atol=1e-8), "descent ends at the pseudo-inverse"
        assert np.allclose(LinearRegression(fit_intercept=False).fit(X, y).coef_, exact, rtol=0, atol=1e-12)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # stopped on the way
            path = [LinearRegression(**rule, epochs=n).fit(X, y).coef_ for n in range(1, min(model.n_iter_, 40))]
        label = rf"$\eta = {share}\,/\,\lambda_{{max}}$"
        left.plot(*np.transpose([init[1:], *path]), ".-", color=colour, ms=4, linewidth=1, label=label)
        right.semilogy(np.maximum(np.array(model.history_) - least, 1e-16), color=colour, label=label)

    finish(left, "Every rate leads to the pseudo-inverse", "$w_1$", "$w_2$")
    finish(right, "The rest of the error falls geometrically", "step", r"$E(t) - E_{min}$")
    right.set_xlim(0, 120)
    right.set_ylim(1e-12, 1e3)
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
