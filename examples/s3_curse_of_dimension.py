r"""The number of basis functions needed explodes with the dimension.

Lecture S3, limitations: "flexibility of model is limited by curse of dimensionality". A wave along the diagonal of the
unit cube is approximated by bumps on a grid with $m$ of them along each axis,

$$y(x) = w_0 + \sum_{c \in \{1, \dots, m\}^D} w_c\, e^{-\|x - c\|^2 / 2s^2}.$$

How many give an $R^2$ of 0.99 on new rows? Four to six along each axis, so that each dimension multiplies their number,
as the left panel measures. The right panel counts all products of powers up to a degree, which is milder, and hopeless
all the same.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from matplotlib.figure import Figure

from adaline import LinearRegression, basis
from drawing import BLUE, GREEN, VERMILION, finish, panels, show


def wave(X: np.ndarray) -> np.ndarray:
    return np.cos(3 * np.pi * X.sum(axis=1) / np.sqrt(X.shape[1]))


def needed(dimension: int, rng: np.random.Generator) -> int:
    """How many bumps on a grid reach R^2 = 0.99 on new rows."""
    X, X_new = rng.uniform(size=(4000, dimension)), rng.uniform(size=(2000, dimension))
    for m in range(2, 12):
        centres = np.array(list(product(np.linspace(0, 1, m), repeat=dimension)))
        width = 1 / (m - 1) / X.std()  # one step of the grid; Radial counts in standard deviations
        model = LinearRegression(basis=basis.Radial(centres=centres, width=width)).fit(X, wave(X))
        if model.score(X_new, wave(X_new)) >= 0.99:
            return len(centres)
    raise AssertionError("twelve along each axis are not enough")


def main() -> Figure:
    rng = np.random.default_rng(6)
    bumps = np.array([needed(d, rng) for d in (1, 2, 3)])
    growth = bumps[1:] / bumps[:-1]
    assert np.all(growth >= 2.5), "each dimension multiplies the number of functions"
    sizes = {p: [basis.Polynomial(degree=p).fit(np.zeros((1, d))).size for d in range(1, 11)] for p in (2, 4, 6)}
    assert sizes[6][9] > 1000 * sizes[6][0], "degree 6: a thousand times as many products in ten dimensions as in one"

    figure, (left, right) = panels(2)
    left.semilogy([1, 2, 3], bumps, "o-", color=BLUE)
    for d, n in enumerate(bumps, start=1):
        left.annotate(str(n), (d, n), xytext=(-4, 6), textcoords="offset points", ha="right")
    left.set(xticks=[1, 2, 3], xlim=(0.6, 3.2), ylim=(1, 200))
    finish(left, "Bumps needed for $R^2$ = 0.99 of a diagonal wave", "dimension $D$", "bumps", legend=False)
    for (p, size), colour in zip(sizes.items(), (GREEN, BLUE, VERMILION), strict=True):
        right.semilogy(range(1, 11), size, "o-", color=colour, label=f"degree {p}")
    finish(right, "Products of powers up to a degree", "dimension $D$", "basis functions")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
