"""How much more often is a stronger wine a good one?

The table has a row for each class of strength: how many wines there were, and how many of them got a mark of 7 or more.
A count out of many is a rate: `GeneralizedLinear(loss="poisson")` with the number of wines as *exposure* learns it, and
the exponential of its coefficient is the ratio of two rates. The counts vary more than Poisson's do about one curve,
which `dispersion="pearson"` adds to the standard errors.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from adaline import GeneralizedLinear, datasets, open_table
from drawing import BLUE, VERMILION, finish, panels, show


def write_counts(path: Path) -> None:
    """Write the table of the question: alcohol, wines and good wines, a row for each half per cent of alcohol."""
    wines = pd.read_csv(datasets.path("wine"))
    strength = (2 * wines["alcohol"].clip(9, 13)).round() / 2
    rows = wines.assign(good=wines["quality"] >= 7).groupby(strength)["good"].agg(wines="size", good="sum")
    rows.to_csv(path)


def main() -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        csv = Path(folder) / "counts.csv"  # or your own file
        write_counts(csv)
        rows = pd.read_csv(csv)
        model = GeneralizedLinear(loss="poisson", dispersion="pearson").fit(
            open_table(csv, target="good", features=["alcohol"], offset="log(wines)")
        )
    print(rows.to_string(index=False), "\n")
    print(model.summary())
    row = model.summary().to_dict()["coefficients"][1]
    ratio, lower, upper = np.exp([row["estimate"], row["lower"], row["upper"]])
    again = GeneralizedLinear(loss="poisson").fit(rows[["alcohol"]], rows["good"], exposure=rows["wines"])
    assert np.allclose(again.coef_, model.coef_, rtol=1e-8), "exposure= is the same as log(...) as offset"
    assert lower > 1.5, "the rate rises beyond doubt"
    print(
        f"\nAnswer: with each % of alcohol good wines are {ratio:.1f} times as frequent "
        f"(between {lower:.1f} and {upper:.1f})."
    )

    figure, (ax,) = panels(width=6.4)
    degrees = np.linspace(9, 13, 80)
    rate, low, high = model.predict(open_table({"alcohol": degrees, "wines": np.full(80, 100)}), interval="confidence")
    ax.scatter(
        rows["alcohol"],
        100 * rows["good"] / rows["wines"],
        s=4 * np.sqrt(rows["wines"]) + 8,
        color=VERMILION,
        label="observed",
    )
    ax.plot(degrees, rate, color=BLUE, linewidth=2.2, label="Poisson rate, with its 95 % interval")
    ax.fill_between(degrees, low, high, color=BLUE, alpha=0.2, linewidth=0)
    finish(ax, f"Each % of alcohol: {ratio:.1f} times as many good wines", "alcohol, %", "good wines of 100")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
