r"""Stochastic descent depends on the order of the rows, the pseudo-inverse and batch descent do not.

S1, the table that compares the three ("Sensitive to order of patterns: No, No, Might be"). The pseudo-inverse and the
batch step are sums over all rows, whatever their order; the stochastic step is taken row by row:

$$\mathbf{w}(t+1) = \mathbf{w}(t) + \tfrac{2}{P}\alpha\,\mathbf{X}(\mathbf{t} - \mathbf{X}^T\mathbf{w}(t)), \qquad
\mathbf{w}(t+1) = \mathbf{w}(t) + 2\alpha\,(t^k - \mathbf{w}(t)^T\mathbf{x}^k)\,\mathbf{x}^k$$

Each dot is where forty epochs of LMS end in one order of the same rows. A smaller rate narrows the cloud about the
solution.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LMS, LinearRegression
from drawing import BLUE, ORANGE, finish, panels, show


def main(*, shuffled: bool = True) -> Figure:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) @ np.array([[1.0, 0.4], [0.0, 0.9]])
    y = 0.5 + X @ [1.0, -2.0] + rng.normal(size=80)
    orders = [rng.permutation(80) if shuffled else np.arange(80) for _ in range(60)]

    exact = np.array([LinearRegression().fit(X[i], y[i]).coef_ for i in orders])
    batch = np.array([LinearRegression(solver="gradient").fit(X[i], y[i]).coef_ for i in orders])
    online = {}
    for rate in (0.05, 0.01):
        models = [LMS(rate=rate, epochs=40, tol=0).fit(X[i], y[i]) for i in orders]
        online[rate] = np.array([model.coef_ for model in models])
    spread = {rate: np.ptp(found, axis=0).max() for rate, found in online.items()}
    assert np.ptp(exact, axis=0).max() < 1e-12, "the order changes nothing for the pseudo-inverse"
    assert np.ptp(batch, axis=0).max() < 1e-12, "nor for batch descent"
    assert np.allclose(batch, exact, rtol=0, atol=1e-8), "which is the same solution"
    assert spread[0.01] > 0.01, "stochastic descent depends on it"
    assert spread[0.05] > 2 * spread[0.01], "the more so, the larger the rate"

    figure, (ax,) = panels(1, width=6.0, height=5.0)
    for (rate, found), colour, marker in zip(online.items(), (ORANGE, BLUE), "o^", strict=True):
        label = rf"LMS, $\eta = {rate}$, 60 orders"
        ax.plot(*found.T, marker, color=colour, ms=4.5, alpha=0.7, linewidth=0, label=label)
    ax.plot(*exact.T, "k*", ms=9, linewidth=0, label="pseudo-inverse, 60 orders")
    ax.plot(*batch.T, "o", mfc="none", mec="black", ms=15, linewidth=0, label="batch descent, 60 orders")
    finish(ax, "Only row-by-row learning depends on the order of rows", "$w_1$", "$w_2$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
