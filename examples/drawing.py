"""What the examples share: colours that the colour-blind can tell apart, panels, points of classes, lines, regions.

A script beside this file says ``from drawing import BLUE, panels, points, line, regions, show``.
The colours are those of M. Okabe and K. Ito (2008).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9"
GREY = "#777777"
CLASSES = (BLUE, VERMILION, GREEN, PURPLE)
MARKERS = "os^D"


def show(main: Callable[[], Figure], claim: str | None, script: str) -> None:
    """Run an example by hand: save its picture where one is, and print the claim and the picture's name."""
    picture = Path(script).with_suffix(".png").name
    main().savefig(picture)
    print(f"{(claim or '').partition(chr(10))[0]} See {picture}")


def panels(count: int = 1, *, width: float = 5.2, height: float = 4.2) -> tuple[Figure, list[Axes]]:
    """A figure of panels side by side."""
    figure = Figure(figsize=(width * count, height), layout="constrained")
    axes = [figure.add_subplot(1, count, i + 1) for i in range(count)]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def finish(ax: Axes, title: str, x: str, y: str, *, legend: bool = True) -> None:
    """Title (the finding), labels of the axes, and a legend below the panel, where it covers nothing."""
    ax.set_title(title, loc="left", fontsize=10.5)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if legend:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2, frameon=False, fontsize=9)


def points(ax: Axes, X: ArrayLike, y: ArrayLike, names: Sequence[str] | None = None, **style: Any) -> None:
    """The rows of two columns, a colour and a marker for each class; the view is kept where the points are."""
    X, y = np.asarray(X), np.asarray(y)
    for i, label in enumerate(np.unique(y)):
        rows = X[y == label]
        name = names[i] if names else f"class {label}"
        ax.scatter(
            *rows.T,
            **{"s": 16, "alpha": 0.7, "linewidths": 0, "color": CLASSES[i], "marker": MARKERS[i], "label": name}
            | style,
        )
    room = 0.06 * np.ptp(X, axis=0)
    ax.set_xlim(X[:, 0].min() - room[0], X[:, 0].max() + room[0])
    ax.set_ylim(X[:, 1].min() - room[1], X[:, 1].max() + room[1])


def line(ax: Axes, coef: ArrayLike, intercept: ArrayLike, **style: Any) -> None:
    """The line w0 + w.x = 0 of a two-class machine, across the view as it stands."""
    w, w0 = np.ravel(coef).astype(float), float(np.ravel(intercept)[0])
    foot = -w0 * w / (w @ w)
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    corners = np.array([[x, y] for x in ax.get_xlim() for y in ax.get_ylim()])
    reach = (corners - foot) @ along
    ends = foot + np.outer([reach.min(), reach.max()], along)
    ax.plot(*ends.T, scalex=False, scaley=False, **{"color": "black", "linewidth": 1.8} | style)


def regions(ax: Axes, predict: Callable[[Any], Any], *, size: int = 200, colours: Sequence[str] = CLASSES) -> None:
    """Shade the view as it stands by what a machine predicts: its i-th label, sorted, in the i-th colour."""
    xs, ys = np.linspace(*ax.get_xlim(), size), np.linspace(*ax.get_ylim(), size)
    grid = np.column_stack([a.ravel() for a in np.meshgrid(xs, ys)])
    labels, index = np.unique(np.asarray(predict(grid)), return_inverse=True)
    shades = ListedColormap(list(colours[: len(labels)]))
    ax.pcolormesh(xs, ys, index.reshape(size, size), cmap=shades, alpha=0.18, linewidth=0, rasterized=True, zorder=0)
