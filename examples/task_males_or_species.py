"""Are male penguins heavier, or only of heavier species?

Three models side by side by `regression_table`: sex alone, with the species, and with a difference of the sexes in each
species. `anova` says which of them is needed, and `effects` what the sex does on average, whatever the coding.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LinearRegression, anova, datasets, effects, open_table, regression_table
from drawing import BLUE, VERMILION, finish, panels, show

CSV = datasets.path("penguins")  # or your own file


def main() -> Figure:
    tables = [open_table(CSV, formula=f"body_mass_g ~ {terms}") for terms in ("sex", "species + sex", "species * sex")]
    models = [LinearRegression().fit(table) for table in tables]
    print(regression_table(*models, names=["sex", "+ species", "x species"]), "\n")
    steps = anova(*models)
    print(steps, "\n")
    effect = effects(models[2], tables[2], columns=["sex"])
    print(effect)
    row = effect.rows[0]
    assert (steps.p_value[1:] < 0.001).all(), "each step is needed"
    assert row["lower"] > 500, "the difference is real within species"
    assert models[2].coef_[-2] < min(0, models[2].coef_[-1]), "and smaller among Chinstraps"
    print(
        f"\nAnswer: heavier; within a species by {row['estimate']:.0f} g on average (between {row['lower']:.0f} and "
        f"{row['upper']:.0f} g), least among Chinstraps."
    )

    figure, (ax,) = panels(width=6.4)
    species = np.unique(datasets.load("penguins").y)
    for sex, colour, shift in (("female", VERMILION, -0.08), ("male", BLUE, 0.08)):
        rows = open_table({"species": species, "sex": [sex] * 3})
        mass, lower, upper = models[2].predict(rows, interval="confidence")
        ax.errorbar(
            np.arange(3) + shift, mass, (mass - lower, upper - mass), fmt="o", capsize=5, color=colour, label=sex
        )
    ax.set_xticks(range(3), species)
    finish(ax, f"Males weigh {row['estimate']:.0f} g more within a species", "species", "mean body mass, g")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
