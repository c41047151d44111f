"""Which model should tell the sex of a penguin, and how often will it err?

`compare` fits every system that suits the target on the same folds (here the three that are named), and recommends one.
Its errors are those on rows that it had not seen, with a standard error. `report("report.html")` writes all of this as
a page with pictures; on the command line it is `adaline compare penguins.csv --target sex`.
"""

from __future__ import annotations

from matplotlib.figure import Figure

from adaline import compare, datasets
from drawing import BLUE, GREY, finish, panels, show

CSV = datasets.path("penguins")  # or your own file


def main() -> Figure:
    found = compare(CSV, target="sex", systems=["LogisticRegression", "GaussianClassifier", "LeastSquaresClassifier"])
    print(found)
    best = next(row for row in found.table if row["recommended"])
    assert best["error"] < 0.1, "nine of ten birds"
    assert best["error"] + 5 * best["std_error"] < found.baseline.error, "far better than a guess"
    wrong, spread = round(1000 * best["error"]), round(1000 * best["std_error"])
    print(f"\nAnswer: {best['system']}; of 1,000 new birds it takes about {wrong} ± {spread} for the other sex.")

    figure, (ax,) = panels(width=6.4)
    rows = found.table[::-1]
    errors, spreads = ([100 * row[key] for row in rows] for key in ("error", "std_error"))
    colours = [BLUE if row["recommended"] else GREY for row in rows]
    ax.barh(range(len(rows)), errors, xerr=spreads, color=colours, height=0.6, capsize=3)
    ax.set_yticks(range(len(rows)), [row["system"].replace("(", "\n(") for row in rows], fontsize=8)
    finish(ax, f"{best['system']} errs least", "errors on rows not seen, %", "system", legend=False)
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
