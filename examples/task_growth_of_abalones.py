"""Until what age does an abalone grow?

Rings of the shell count its years. A straight line cannot say when growth ends; a natural spline, `ns(rings, df=4)` in
the formula, bends where the data do. The information criterion (AIC) says whether that is worth its columns, and the
confidence interval how sure the curve is.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LinearRegression, datasets, open_table
from drawing import BLUE, GREY, VERMILION, finish, panels, show

CSV = datasets.path("abalone")  # or your own file


def main() -> Figure:
    line = LinearRegression().fit(open_table(CSV, formula="length ~ rings"))
    curve = LinearRegression().fit(open_table(CSV, formula="length ~ ns(rings, df=4)"))
    print(curve.summary())
    gain = line.summary().to_dict()["aic"] - curve.summary().to_dict()["aic"]
    print(f"AIC of the line less that of the spline: {gain:.0f}")
    ages = np.arange(3, 24)
    length, lower, upper = 200 * np.array(curve.predict(open_table({"rings": ages}), interval="confidence"))  # in mm
    for age in (5, 10, 15, 20):
        print(f"{age:2d} rings: {length[age - 3]:.0f} mm, between {lower[age - 3]:.0f} and {upper[age - 3]:.0f} mm")

    yearly = np.diff(length)
    end = ages[np.flatnonzero(yearly < 1)[0]]
    assert gain > 1000, "growth is no straight line"
    assert yearly[:4].min() > 10 * np.abs(yearly[8:]).max(), "it is fast, and then hardly any"
    print(
        f"\nAnswer: until about {end} rings, when it is {length[end - 3]:.0f} mm long; after that by less than "
        "1 mm a ring."
    )

    data = datasets.load("abalone", target="length")
    figure, (ax,) = panels(width=6.4)
    rings = data.X[:, data.feature_names.index("rings")]
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, rings.size)
    ax.scatter(rings + jitter, 200 * data.y, s=4, alpha=0.25, linewidths=0, color=GREY, label="an abalone")
    ax.plot(ages, 200 * line.predict(open_table({"rings": ages})), "--", color=VERMILION, label="line")
    ax.plot(ages, length, color=BLUE, linewidth=2.2, label="spline, with its 95 % interval")
    ax.fill_between(ages, lower, upper, color=BLUE, alpha=0.25, linewidth=0)
    ax.axvline(end, color="black", linewidth=0.8)
    ax.set_xlim(2, 24)
    finish(ax, f"Abalones grow until about {end} rings", "rings (years)", "length, mm")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
