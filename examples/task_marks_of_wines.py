"""What makes a wine better, and by how much?

Tasters gave marks from 3 to 8: ordered, but who knows whether 7 is as far from 6 as 6 from 5? `OrdinalRegression` needs
the order alone. Its odds ratios tell by what factor the odds of a better mark change with one unit of a column,
`effects` by how much the probability of each mark changes.
"""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from adaline import OrdinalRegression, datasets, effects, open_table
from drawing import finish, panels, show

CSV = datasets.path("wine")  # or your own file


def main() -> Figure:
    wines = open_table(CSV, target="quality", features=["alcohol", "volatile_acidity", "sulphates", "chlorides"])
    model = OrdinalRegression().fit(wines)
    print(effects(model, wines, columns=["alcohol"]))
    rows = {row["name"]: row for row in model.summary().to_dict()["coefficients"]}
    for name in model.feature_names_in_:
        row = rows[name]
        odds = np.exp([row["estimate"], row["lower"], row["upper"]])
        print(f"{name:17} odds x {odds[0]:.3g} a unit, between {odds[1]:.3g} and {odds[2]:.3g}")

    alcohol = np.exp(rows["alcohol"]["estimate"])
    assert rows["alcohol"]["lower"] > 0 > rows["volatile_acidity"]["upper"], "alcohol helps, acidity harms"
    print(
        f"\nAnswer: more alcohol (each % multiplies the odds of a better mark by {alcohol:.1f}) and sulphates, "
        "less volatile acid."
    )

    figure, (ax,) = panels(width=6.4)
    data = datasets.load("wine")
    degrees = np.linspace(9, 14, 60)
    typical = {
        name: np.full(60, np.median(data.X[:, data.feature_names.index(name)])) for name in model.feature_names_in_
    }
    shares = model.predict_proba(open_table(typical | {"alcohol": degrees}))
    colours = colormaps["viridis"](np.linspace(0.95, 0.1, shares.shape[1]))
    ax.stackplot(degrees, 100 * shares.T, labels=[f"mark {mark}" for mark in model.classes_], colors=colours)
    ax.set_xlim(9, 14)
    ax.set_ylim(0, 100)
    finish(ax, "More alcohol, better marks (other columns typical)", "alcohol, %", "share of wines, %")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
