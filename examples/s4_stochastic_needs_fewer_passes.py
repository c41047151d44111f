r"""On redundant data stochastic gradient needs far fewer passes than batch gradient.

Lecture S4, online/stochastic gradient: "in many practical situations it is enormously faster than batch gradient". Rows
that repeat each other make the sum over all of them a waste: a batch step

$$w \leftarrow w + \eta \sum_i (y^i - w'x^i)\, x^i$$

reads all rows once, and in the same pass the stochastic rule makes as many steps as there are rows. The figure shows
the squared error in excess of the least, against passes over 20 000 rows, which are 100 rows two hundred times. After
one pass the stochastic rule is where the batch rule, with the rate that is best for it, needs many.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LMS, LinearRegression
from drawing import BLUE, VERMILION, finish, panels, show


def main() -> Figure:
    rng = np.random.default_rng(11)
    few = rng.normal(size=(100, 5)) * [2.0, 1.5, 1.0, 0.6, 0.3]
    X = np.tile(few, (200, 1))
    y = np.tile(few @ [0.5, -1.0, 1.0, 2.0, -3.0] + 0.1 * rng.normal(size=100), 200)
    order = rng.permutation(len(y))
    X, y = X[order], y[order]
    least = np.mean((y - LinearRegression().fit(X, y).predict(X)) ** 2) / 2

    ones = np.column_stack([np.ones(len(y)), X])
    curvature = np.linalg.eigvalsh(ones.T @ ones)
    best_rate = 2 / (curvature[0] + curvature[-1])
    batch = LinearRegression(solver="gradient", rate=best_rate, tol=1e-12, epochs=3000).fit(X, y)
    batch_excess = np.array(batch.history_) / len(y) / least - 1

    online, parts, stochastic_excess = LMS(rate=0.01), np.array_split(np.arange(2 * len(y)) % len(y), 40), []
    for part in parts:
        online.partial_fit(X[part], y[part])
        stochastic_excess.append(np.mean((y - online.predict(X)) ** 2) / 2 / least - 1)
    passes = np.arange(1, 41) / 20

    needed = 1 + int(np.argmax(batch_excess < 0.1))
    online_needed = passes[int(np.argmax(np.array(stochastic_excess) < 0.1))]
    assert min(stochastic_excess) < 0.1, "the stochastic rule comes within 10 % of the least error"
    assert needed >= 20 * online_needed, "batch takes at least twenty times the passes"
    assert batch_excess[-1] < 1e-6 < stochastic_excess[-1], "in the end batch is exact, and a constant rate is not"

    figure, (ax,) = panels(1, width=6.4, height=4.4)
    shown = slice(0, 2 * needed)
    ax.loglog(passes, stochastic_excess, "-", color=VERMILION, label=f"stochastic: {online_needed:g} passes to 10 %")
    ax.loglog(
        np.arange(1, len(batch_excess) + 1)[shown], batch_excess[shown], "--", color=BLUE, label=f"batch: {needed}"
    )
    ax.axhline(0.1, color="black", linewidth=0.8)
    finish(ax, "The same rows, many times the passes", "passes over the rows", "squared error / least - 1")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
