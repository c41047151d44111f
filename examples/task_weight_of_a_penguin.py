"""How heavy is this penguin, and how far off may the answer be?

A table of 333 birds, and two birds that nobody could weigh: species, sex and flipper are known. `LinearRegression`
codes the texts automatically, and `interval="prediction"` gives the range in which nineteen of twenty such birds lie.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LinearRegression, datasets, open_table
from drawing import CLASSES, finish, panels, show

CSV = datasets.path("penguins")  # or your own file


def main() -> Figure:
    penguins = open_table(CSV, formula="body_mass_g ~ species + sex + flipper_length_mm")
    model = LinearRegression().fit(penguins)
    new = {"species": ["Gentoo", "Adelie"], "sex": ["male", "female"], "flipper_length_mm": [220, 190]}
    mass, lower, upper = model.predict(open_table(new), interval="prediction")
    print(model.summary())
    for i in range(2):
        print(f"{new['species'][i]}, {new['sex'][i]}: {mass[i]:.0f} g, between {lower[i]:.0f} and {upper[i]:.0f} g")

    data = datasets.load("penguins", target="body_mass_g")
    low, high = model.predict(penguins, interval="prediction")[1:]
    assert 0.93 < np.mean((low < data.y) & (data.y < high)) < 0.97, "nineteen of twenty birds lie in their intervals"
    half = (upper - lower)[0] / 2
    print(
        f"\nAnswer: the Gentoo weighs about {mass[0]:.0f} g and the Adelie {mass[1]:.0f} g, give or take {half:.0f} g."
    )

    figure, (ax,) = panels(width=6.4)
    species = datasets.load("penguins").y
    flipper = data.X[:, data.feature_names.index("flipper_length_mm")]
    for name, colour in zip(np.unique(species), CLASSES, strict=False):
        of = species == name
        ax.scatter(flipper[of], data.y[of], s=14, alpha=0.45, linewidths=0, color=colour, label=name)
    ax.errorbar(
        new["flipper_length_mm"], mass, (mass - lower, upper - mass), fmt="kD", capsize=5, label="the two birds"
    )
    finish(ax, f"{mass[0]:.0f} and {mass[1]:.0f} g, ± {half:.0f} g", "flipper, mm", "body mass, g")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
