r"""More basis functions approximate a square wave better and better.

Lecture S3, generalized linear discriminants: "by choosing the right $\phi_j$, every continuous function can (in
principle) be approximated with arbitrary accuracy". Least squares on $\sin kx$ and $\cos kx$, $k \le m$, leaves exactly
the mean square that Parseval's equation says,

$$\overline{e^2} = 1 - \frac{8}{\pi^2} \sum_{k \le m,\, k \text{ odd}} \frac{1}{k^2} \approx \frac{4}{\pi^2 m}.$$

A square wave is not continuous, and one sees the price: the mean square keeps falling, the overshoot at the jump,
about 9 % of it, stays (Gibbs).
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LinearRegression, basis
from drawing import BLUE, GREEN, GREY, VERMILION, finish, panels, show

TERMS = (1, 3, 7, 15, 31, 63)


def main() -> Figure:
    x = (np.arange(20_000) + 0.5)[:, None] * 2 * np.pi / 20_000
    wave = np.sign(np.sin(x[:, 0]))
    curves = {m: LinearRegression(basis=basis.Fourier(terms=m)).fit(x, wave).predict(x) for m in TERMS}
    left_over = np.array([np.mean((wave - curve) ** 2) for curve in curves.values()])
    parseval = np.array([1 - 8 / np.pi**2 * sum(1 / k**2 for k in range(1, m + 1, 2)) for m in TERMS])
    overshoot = np.array([(curve.max() - 1) / 2 for curve in curves.values()])
    assert np.all(np.diff(left_over) < 0), "each larger basis approximates better"
    assert np.allclose(left_over, parseval, atol=1e-5), "by as much as Parseval's equation says"
    assert np.all(np.abs(overshoot[2:] - 0.0895) < 0.003), "the overshoot at the jump stays about 9 %"

    figure, (left, right) = panels(2)
    left.plot(x, wave, color=GREY, linewidth=1, label="square wave")
    for m, colour in zip((1, 7, 31), (VERMILION, GREEN, BLUE), strict=True):
        left.plot(x, curves[m], color=colour, linewidth=1.3, label=f"{2 * m} functions")
    finish(left, "More functions hug the wave", "$x$", "$y$")
    right.loglog(2 * np.array(TERMS), left_over, "o", color=BLUE, label="least squares: mean $e^2$")
    right.loglog(2 * np.array(TERMS), parseval, "-", color=GREY, label="Parseval")
    right.loglog(2 * np.array(TERMS), overshoot, "s--", color=VERMILION, label="overshoot / jump")
    finish(right, "The mean square keeps falling, the overshoot stays", "basis functions", "error")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
