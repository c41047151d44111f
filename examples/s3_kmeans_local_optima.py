r"""K-means ends after finitely many moves, in a local optimum that depends on the start.

Lecture S3, recap of k-means: assign each row to the nearest centroid, move the centroids to the means of their rows,
until nothing changes. Each half-step can only lower

$$E = \sum_n \min_k \|x_n - \mu_k\|^2,$$

and there are finitely many assignments, so that it ends; where, the start decides. Forty random starts on five groups:
a histogram of the errors they end with, and the best and the worst of them. In the worst, two centres lie between
groups while three share one.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import KMeans
from drawing import BLUE, CLASSES, GREY, ORANGE, finish, panels, show

COLOURS = (*CLASSES, ORANGE)


def main() -> Figure:
    rng = np.random.default_rng(8)
    middles = np.array([[0, 0], [4, 0], [0, 4], [4, 4], [9, 2]])
    X = np.repeat(middles, 60, axis=0) + rng.normal(scale=0.7, size=(300, 2))
    runs = [KMeans(n_clusters=5, init="random", n_init=1, tol=0.0, random_state=seed).fit(X) for seed in range(40)]
    assert all(np.all(np.diff(run.history_) <= 0) for run in runs), "the error never rises"
    assert all(run.n_iter_ < 300 for run in runs), "every run converges"
    again = [KMeans(n_clusters=5, init=run.cluster_centers_, tol=0.0).fit(X).inertia_ for run in runs]
    assert np.allclose(again, [run.inertia_ for run in runs], rtol=1e-12), "where it ends, it stays: an optimum nearby"
    errors = np.array([run.inertia_ for run in runs])
    assert errors.max() > 1.5 * errors.min(), "but not the best one everywhere: the start decides"
    assert np.mean(errors < 1.01 * errors.min()) >= 0.1, "several starts find the best"

    figure, axes = panels(3, width=4.2)
    axes[0].hist(errors, bins=30, color=BLUE)
    finish(axes[0], "40 starts end with different errors", "$E$ at the end", "starts", legend=False)
    for ax, which, word in ((axes[1], errors.argmin(), "Best"), (axes[2], errors.argmax(), "Worst")):
        run = runs[which]
        ax.scatter(*X.T, s=10, color=[COLOURS[k] for k in run.labels_], alpha=0.6, linewidths=0)
        ax.scatter(*run.cluster_centers_.T, s=90, marker="X", color="black", edgecolor="white", label="centres")
        ax.plot([], [], "o", color=GREY, markersize=3, label="rows, in the colour of their centre")
        finish(ax, f"{word}: $E$ = {run.inertia_:.0f} after {run.n_iter_} moves", "$x_1$", "$x_2$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
