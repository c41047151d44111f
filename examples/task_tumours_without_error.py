"""Can benign and malignant tumours be told apart without a single error?

`separability` looks for a plane between two classes, and proves its answer: the plane with its margin, or rows of both
classes whose weighted means are the same point, so that no plane can part them. `verify` checks the proof.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LogisticRegression, datasets, open_table, separability
from drawing import BLUE, VERMILION, finish, panels, show

CSV = datasets.path("breast_cancer")  # or your own file


def main() -> Figure:
    data = datasets.load("breast_cancer")
    means = list(data.feature_names[:10])
    every = separability(open_table(CSV, target="diagnosis"))
    few = separability(open_table(CSV, target="diagnosis", features=means))
    print(f"all 30 columns: {every}\nthe 10 means: {few}")
    assert every.separable, "a plane with all columns"
    assert not few.separable, "none with ten of them"
    assert every.verify(), "the plane has every row on its side"
    assert few.verify(), "the combination of rows is the same point"
    print("\nAnswer: yes with all 30 columns, on these rows, and provably not with the 10 means alone.")

    malignant = data.y == every.classes[1]
    likely = LogisticRegression().fit(open_table(CSV, target="diagnosis", features=means))
    sides = [data.X @ np.ravel(every.coef) + every.intercept, likely.decision_function(open_table(CSV, features=means))]
    wrong = np.sum((sides[1] > 0) != malignant)
    figure, axes = panels(2)
    shift = 0.25 * np.random.default_rng(0).uniform(-1, 1, malignant.size)
    for ax, side in zip(axes, sides, strict=True):
        rank = np.argsort(np.argsort(side)) - np.sum(side < 0)  # distances differ too much to be drawn
        colours = np.where((side > 0) == malignant, BLUE, VERMILION)
        ax.scatter(rank, malignant + shift, s=10, alpha=0.7, linewidths=0, color=colours)
        ax.axvline(0, color="black")
        ax.set_yticks([0, 1], [str(label) for label in every.classes])
    x = "rows, in order of distance from the plane"
    finish(axes[0], "All 30 columns: no row on the wrong side", x, "diagnosis", legend=False)
    finish(axes[1], f"10 means: every plane errs, this one {wrong} times", x, "diagnosis", legend=False)
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
