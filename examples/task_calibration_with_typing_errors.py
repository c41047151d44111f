"""How true is an instrument, when some readings were typed wrongly?

An ozone monitor was held against a standard; in the file three decimal points slipped. Least squares believes every
row; `RobustRegression(loss="tukey")` gives rows that lie far from all others no weight, so that they show.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from adaline import LinearRegression, RobustRegression, datasets, open_table
from drawing import BLUE, GREY, VERMILION, finish, panels, show

WRONG = [5, 14, 27]


def write_readings(path: Path) -> None:
    """Write the table of the question: the readings, three of them ten times what they were or a tenth."""
    data = datasets.load("norris")
    y = data.y.copy()
    y[WRONG] = np.where(y[WRONG] < 300, 10 * y[WRONG], y[WRONG] / 10)
    np.savetxt(path, np.column_stack([data.X, y]), delimiter=",", header="standard,monitor", comments="")


def main() -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        csv = Path(folder) / "readings.csv"  # or your own file
        write_readings(csv)
        readings = open_table(csv, target="monitor")
        squares = LinearRegression().fit(readings)
        robust = RobustRegression(loss="tukey").fit(readings)
        standard, monitor = np.loadtxt(csv, delimiter=",", skiprows=1, unpack=True)
        residual = monitor - robust.predict(readings)
    print(robust.summary())
    suspects = np.flatnonzero(np.abs(residual) > 5 * robust.scale_)
    for i in suspects:
        print(f"line {i + 2}: {monitor[i]:g} where about {monitor[i] - residual[i]:.0f} was expected")
    slope = robust.summary().to_dict()["coefficients"][1]
    assert suspects.tolist() == WRONG, "these and no others"
    assert abs(robust.coef_[0] - 1.0021) < 0.001, "NIST's slope for the true readings"
    print(
        f"\nAnswer: it reads {100 * slope['estimate'] - 100:.2f} ± {100 * slope['std_error']:.2f} % too high; "
        f"look at lines {', '.join(str(i + 2) for i in suspects)} of the file."
    )

    figure, (ax,) = panels(width=6.4)
    ends = open_table({"standard": [0.0, 1000.0]})
    right = np.ones(36, dtype=bool)
    right[suspects] = False
    ax.scatter(standard[right], monitor[right], s=18, color=GREY, label="readings")
    ax.scatter(standard[suspects], monitor[suspects], s=60, marker="X", color=VERMILION, label="typed wrongly")
    ax.plot([0, 1000], squares.predict(ends), "--", color=VERMILION, label=f"least squares: {squares.coef_[0]:.3f}")
    ax.plot([0, 1000], robust.predict(ends), color=BLUE, label=f"Tukey: {robust.coef_[0]:.3f}")
    finish(ax, "The robust line ignores the three", "standard", "monitor")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
