"""Plot of the hyperplane of a linear classifier of two columns: a line, its normal vector, and its margin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.arrays import Array, RowsLike, TargetsLike
from adaline.errors import InvalidParameter
from adaline.fitted import AnyModel
from adaline.plots.field import scatter_classes
from adaline.plots.inputs import column_names, labels, method_values, need, plane, refuse_basis
from adaline.plots.style import FIGURE_WIDTH, GREY, INK, Axes, axes, finished, styled

MOST_RANGE_RATIO = 6.0  # ratio of the columns' ranges up to which both axes have one scale
WIDEST_FRAME = 1.6  # ratio of width to height of the frame then, which is 1 at least
ARROW_SHARE = 0.22  # length of the normal vector, as a share of the shorter side


@styled
def hyperplane(
    model: AnyModel, X: RowsLike, y: TargetsLike, ax: Axes | None = None, *, names: Sequence[Any] | None = None
) -> Axes:
    """Draw the line w'x + w0 = 0 of a linear classifier of two classes, its normal w, and the margin.

    The margin, the distance of the nearest row, is drawn as a band where all rows are on their side; where some are
    not, there is none, and those rows are ringed. Both axes have one scale, so that w stands upright on the line,
    unless the ranges of the columns differ too much: then w is that of columns with the range 1.

    Parameters
    ----------
    model : a linear classifier of two classes (Perceptron, Pocket, Adaline, LogisticRegression, ...), on two columns
        without a basis, with which the line is none: see `decision_regions`.
    X, y : rows (n, 2) and labels (n,).
    ax : where to draw; None: axes of a new figure.
    names : of the columns; None: those of a frame, of the model, or x0, x1.

    Examples
    --------
    >>> from adaline import Perceptron, plots
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 1.0], [2.0, 2.0]], ["no", "no", "yes", "yes"]
    >>> ax = plots.hyperplane(Perceptron().fit(X, y), X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['w′x + w0 = 0', 'margin 1', 'no', 'yes']

    References
    ----------
    Lecture S0, section 5.6; S1 and S2: geometry of linear discriminants, margin and the convergence theorem.
    """
    refuse_basis(model, "hyperplane", "draw `decision_regions`")
    x = plane(X, "hyperplane")
    y = labels(y, len(x))
    w = np.asarray(need(model, "coef_", "hyperplane", "draw `decision_regions`"), dtype=np.float64)
    classes = np.asarray(need(model, "classes_", "hyperplane", "use a classifier, or draw `line`"))
    if w.size != 2 or len(classes) != 2:
        raise InvalidParameter("hyperplane draws one line, of two classes and two columns: draw `decision_regions`")
    w, w0 = w.ravel(), float(np.ravel(model.intercept_)[0])
    length = float(np.linalg.norm(w))
    if length == 0:
        raise InvalidParameter("hyperplane needs weights that are not all zero: the model has learned no direction")
    words = column_names(names, X, model, 2)
    side = np.where(y == classes[1], 1.0, -1.0)
    distance = side * (x @ w + w0) / length
    low, high = _frame(x, w, w0)
    ax = axes(ax, _height(low, high))
    _line(ax, w, w0, 0.0, low, high, color=INK, linewidth=1.4, label="w′x + w0 = 0")
    margin = float(distance.min())
    if margin > 0:
        for offset in (-margin, margin):
            _line(ax, w, w0, offset, low, high, color=GREY, linewidth=0.9, linestyle="--")
        _band(ax, w, w0, margin, low, high, label=f"margin {margin:.3g}")
    _arrow(ax, w, w0, low, high)
    wrong = method_values(model.predict, x) != y
    scatter_classes(ax, x, (side > 0).astype(np.intp), classes, wrong)
    _set_limits(ax, low, high)
    return finished(ax, *words)


def _frame(x: Array, w: Array, w0: float) -> tuple[Array, Array]:
    """Return corners around the rows and the foot of the normal."""
    foot = _foot(x.mean(axis=0), w, w0)
    low, high = x.min(axis=0), x.max(axis=0)
    near = np.abs(foot - (low + high) / 2) < 2 * (high - low)  # a line far from all rows is not worth the space
    if near.all():
        low, high = np.minimum(low, foot), np.maximum(high, foot)
    edge = np.where(high > low, 0.1 * (high - low), 1.0)
    width, height = high - low + 2 * edge
    if _alike(low - edge, high + edge):
        edge += [max(0.0, height - width) / 2, max(0.0, width / WIDEST_FRAME - height) / 2]
    return low - edge, high + edge


def _height(low: Array, high: Array) -> float:
    """Return the height of a figure for the frame, in inches."""
    width, height = high - low
    return float(0.7 + 0.85 * FIGURE_WIDTH * height / width) if _alike(low, high) else 4.2


def _set_limits(ax: Axes, low: Array, high: Array) -> None:
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    if _alike(low, high):
        ax.set_aspect("equal", anchor="W")


def _alike(low: Array, high: Array) -> bool:
    """Whether both axes can have one scale."""
    width, height = high - low
    return bool(1 / MOST_RANGE_RATIO <= width / height <= MOST_RANGE_RATIO)


def _foot(point: Array, w: Array, w0: float) -> Array:
    """Return the nearest point of the line."""
    return np.asarray(point - (point @ w + w0) / (w @ w) * w)


def _ends(w: Array, w0: float, offset: float, low: Array, high: Array) -> Array:
    """Return two points of the line at this distance, far outside the frame, (2, 2)."""
    foot = _foot((low + high) / 2, w, w0) + offset * w / np.linalg.norm(w)
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    reach = 20 * float(np.abs(high - low).sum())
    return np.array([foot - reach * along, foot + reach * along])


def _line(ax: Axes, w: Array, w0: float, offset: float, low: Array, high: Array, **style: Any) -> None:
    ends = _ends(w, w0, offset, low, high)
    ax.plot(ends[:, 0], ends[:, 1], zorder=1.5, **style)


def _band(ax: Axes, w: Array, w0: float, margin: float, low: Array, high: Array, **style: Any) -> None:
    corners = np.vstack([_ends(w, w0, -margin, low, high), _ends(w, w0, margin, low, high)[::-1]])
    ax.fill(corners[:, 0], corners[:, 1], color=GREY, alpha=0.12, linewidth=0, zorder=0.5, **style)


def _arrow(ax: Axes, w: Array, w0: float, low: Array, high: Array) -> None:
    foot: Any = _foot((low + high) / 2, w, w0)
    upright = w if _alike(low, high) else w * (high - low) ** 2
    unit = upright / np.abs(upright / (high - low)).max()  # one side of the frame long
    tip = foot + ARROW_SHARE * unit
    style: dict[str, Any] = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
    halo: dict[str, Any] = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 1.5}
    ax.annotate("", tip, foot, arrowprops=style, zorder=4)
    ax.annotate(
        "w",
        tip,
        xytext=tip + 0.06 * unit,
        ha="center",
        va="center",
        fontsize=11,
        fontweight="bold",
        bbox=halo,
        zorder=4,
    )
