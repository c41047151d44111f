"""Which of thirty measurements does a diagnosis need?

Thirty columns measure the nuclei of cells, many of them nearly the same thing. `ElasticNet(loss="logistic")` goes down
a path of penalties, and takes the largest that predicts rows held out within a standard error of the best
(`rule="one-standard-error"`), hence the fewest columns. A short path is enough here, `points=15`.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import ElasticNet, datasets, open_table
from drawing import BLUE, GREY, VERMILION, finish, panels, show

CSV = datasets.path("breast_cancer")  # or your own file


def main() -> Figure:
    tumours = open_table(CSV, target="diagnosis")
    net = ElasticNet(loss="logistic", rule="one-standard-error", points=15, ratio=0.004).fit(tumours)
    spread = datasets.load("breast_cancer").X.std(axis=0)
    strength = net.coef_[0] * spread  # a standard deviation of each column
    needed = np.flatnonzero(strength)
    for i in needed[np.argsort(-np.abs(strength[needed]))]:
        print(f"{net.feature_names_in_[i]:21} {strength[i]:+.2f}")
    print(f"\n{100 * net.score(tumours):.1f} % of the rows right;", net.certificate_)
    assert 5 <= needed.size <= 15, "a few columns"
    assert net.score(tumours) > 0.96, "are enough"
    strongest = net.feature_names_in_[np.argmax(np.abs(strength))].replace("_", " ")
    print(
        f"\nAnswer: {needed.size} of the 30, above all the {strongest}; the others make predictions better by less "
        "than a standard error."
    )

    figure, (ax,) = panels(width=6.4)
    path = net.path_["coef"].reshape(len(net.path_["l1"]), -1) * spread
    for i in range(path.shape[1]):
        ax.plot(net.path_["l1"], path[:, i], color=BLUE if i in needed else GREY, linewidth=2 if i in needed else 0.7)
    ax.axvline(net.l1_, color=VERMILION, linestyle="--")
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.annotate(
        "chosen",
        (net.l1_, ax.get_ylim()[1]),
        color=VERMILION,
        ha="right",
        va="top",
        xytext=(-4, 0),
        textcoords="offset points",
    )
    finish(ax, f"{needed.size} of 30 columns are left", "l1 penalty", "coefficient x deviation", legend=False)
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
