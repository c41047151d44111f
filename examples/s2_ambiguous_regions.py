r"""One-versus-rest and one-versus-one leave ambiguous regions; with the largest of K outputs regions are convex.

S2, K > 2 classes, ideas 1 to 3. The signs of $K-1$ machines (one class against the rest) claim some points twice; the
votes of $K(K-1)/2$ machines (class against class) can be tied. K discriminants with the largest to decide,

$$\mathbf{x} \in C_k \quad\text{if}\quad y_k(\mathbf{x}) > y_j(\mathbf{x})\ \ \forall j \neq k, \qquad
y_k(\mathbf{x}) = \mathbf{w}_k^t\mathbf{x} + w_{k0},$$

give "decision regions that are simply-connected and convex": the output of a point between two of them lies between
theirs, for each class. Hatched: where the signs alone give no answer.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LeastSquaresClassifier, LogisticRegression, OneVsOne, OneVsRest
from drawing import finish, panels, points, regions, show

CENTRES = np.array([[0.0, 2.2], [-2.0, -1.2], [2.0, -1.2]])


def main(*, argmax: object = None) -> Figure:
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    turned = np.pi / 4 + np.arange(3) * 2 * np.pi / 3
    along = np.column_stack([np.cos(turned), np.sin(turned)])[y]
    X = CENTRES[y] + 0.35 * rng.normal(size=(150, 2)) + 1.3 * rng.normal(size=(150, 1)) * along
    machine = LeastSquaresClassifier()
    rest = OneVsRest(machine, machines="K-1").fit(X, y)
    pairs = OneVsOne(machine).fit(X, y)
    largest = (argmax or LogisticRegression(penalty=0.1)).fit(X, y)

    grid = rng.uniform(-5, 5, size=(20_000, 2))
    assert np.mean(rest.ambiguous(grid)) > 0.01, "one-versus-rest leaves an ambiguous region"
    assert np.mean(pairs.ambiguous(grid)) > 0.005, "so does one-versus-one"
    a, b = grid[:10_000], grid[10_000:]
    same = largest.predict(a) == largest.predict(b)
    share = rng.random((10_000, 1))
    between = largest.predict(share * a + (1 - share) * b)
    assert np.all(between[same] == largest.predict(a)[same]), "regions of the largest output are convex"

    figure, axes = panels(3, width=4.2)
    titles = ("Two machines against the rest: claimed twice", "Three machines, class against class: a tie", "")
    for ax, model, title in zip(axes, (rest, pairs, largest), titles, strict=True):
        points(ax, X, y)
        ax.set_xlim(-5, 5)
        ax.set_ylim(-5, 5)
        regions(ax, model.predict)
        if title:
            xs = np.linspace(-5, 5, 300)
            unclear = model.ambiguous(np.column_stack([g.ravel() for g in np.meshgrid(xs, xs)])).reshape(300, 300)
            ax.contourf(xs, xs, unclear, levels=[0.5, 1.5], colors="none", hatches=["////"])
            ax.contour(xs, xs, unclear, levels=[0.5], colors="black", linewidths=1)
        finish(ax, title or "The largest output: convex, no gaps", "$x_1$", "$x_2$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
