"""Plots of coefficients: their effects, and how they shrink under a penalty."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.arrays import Array, RowsLike, TargetsLike
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidParameter
from adaline.estimator import clone
from adaline.fits.l1_path import L1Path
from adaline.fitted import AnyModel, can_fit
from adaline.inference.strengths import Strength, strengths, strongest
from adaline.input.basis import basis_of, rows_through_basis
from adaline.plots.inputs import column_names, need, numbers, plain_array, same_length
from adaline.plots.style import (
    BLUE,
    GREY,
    GRID,
    LINES,
    ORANGE,
    Axes,
    axes,
    colour,
    finished,
    log_scale,
    marker,
    short,
    styled,
)

PATH_POINTS = 60  # fits along a path; doubling it takes twice as long, for smoother lines
MOST_NAMED = 12  # lines with a name, the others are grey; doubling it makes names overlap


@styled
def coefficients(
    model: AnyModel, X: RowsLike, ax: Axes | None = None, *, names: Sequence[Any] | None = None, limit: int = 25
) -> Axes:
    """Draw what one standard deviation of each column does, with intervals where there are some, strongest first.

    Parameters
    ----------
    model : a fitted linear system.
    X : rows (n, D), for the spread of the columns.
    ax : where to draw; None: axes of a new figure.
    names : of the columns; None: those of a frame, of the model, or x0, x1, ...
    limit : most columns to show.

    Examples
    --------
    >>> from adaline import LinearRegression, datasets, plots
    >>> data = datasets.load("penguins", target="body_mass_g")
    >>> ax = plots.coefficients(LinearRegression().fit(data.X, data.y), data.X, names=data.feature_names)
    >>> ax.get_yticklabels()[0].get_text()
    'flipper_length_mm'
    """
    x = numbers(X, "X", 2)
    names = column_names(names, X, model, x.shape[1])
    found = strengths(model, x, names)
    if not found:
        raise InvalidParameter(f"coefficients needs a linear system, and {type(model).__name__} has no `coef_`")
    return draw_strengths(found, ax, limit)


@styled
def draw_strengths(found: Sequence[Strength], ax: Axes | None = None, limit: int = 25) -> Axes:
    """Draw effects as `coefficients` does, given themselves."""
    shown, _ = strongest(found, limit)
    sides = list(dict.fromkeys(effect.side for effect in found if effect.name in shown))
    ax = axes(ax, 1.1 + (0.26 if len(sides) < 3 else 0.34) * len(shown))
    step = 0.6 / max(len(sides), 1)
    for k, side in enumerate(sides):
        own = {effect.name: effect for effect in found if effect.side == side}
        rows = [own[name] for name in shown]
        position = np.arange(len(rows)) + step * (k - (len(sides) - 1) / 2)
        middle = np.array([effect.strength for effect in rows])
        reach = np.array([(effect.upper - effect.lower) / 2 * effect.spread for effect in rows])
        bars: dict[str, Any] = {} if np.isnan(reach).all() else {"xerr": np.nan_to_num(reach), "capsize": 2.5}
        style: dict[str, Any] = {"fmt": marker(k), "color": colour(k), "markersize": 4.5}
        ax.errorbar(middle, position, label=short(side) if len(sides) > 1 else None, **bars, **style)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks(np.arange(len(shown)), [short(name) for name in shown])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.grid(axis="y", color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.locator_params(axis="x", nbins=5)
    if len(sides) == 1 and sides[0]:
        ax.set_title(f"to the right: towards {short(sides[0])}", color=GREY, fontsize=9)
    return finished(ax, "effect of one standard deviation", "")


@styled
def coefficient_path(
    path: Any,
    X: RowsLike = None,
    y: TargetsLike = None,
    ax: Axes | None = None,
    *,
    names: Sequence[Any] | None = None,
    penalties: Any = None,
) -> Axes:
    """Draw the coefficients against the penalty, from strong to weak, the largest ones named at their ends.

    Parameters
    ----------
    path : what `l1_path` returned, a pair (penalties (m,), coefficients (m, D)), or a system with a penalty, such as
        Ridge.
    X, y : with a system: the rows it is fitted to once more under each penalty. Effects of one standard deviation of a
        column are then drawn, so that units do not matter, and the system's own penalty is marked.
    ax : where to draw; None: axes of a new figure.
    names : of the columns; None: those of a frame, of the model, or x0, x1, ...
    penalties : with a system: those to try; None: those that Ridge(penalty="auto") tried, or six decades about its own.

    Examples
    --------
    >>> from adaline import Ridge, datasets, plots
    >>> data = datasets.load("longley")
    >>> ax = plots.coefficient_path(Ridge().fit(data.X, data.y), data.X, data.y, names=data.feature_names)
    >>> ax.get_xscale(), ax.get_ylabel()
    ('log', 'effect of one standard deviation')

    References
    ----------
    Lecture S0, section 5.2, (5.13). Cost: with a system, a fit for each of 60 penalties, or of those given.
    """
    chosen: float | None = None
    if can_fit(path):
        if X is None or y is None:
            raise InvalidParameter("coefficient_path of a system needs the rows: give X and y, or (penalties, coefs)")
        if getattr(path, "penalty", None) == "auto" and not hasattr(path, "penalty_"):
            path = clone(path).fit(X, y)
        tried, own = _penalties(path, penalties)
        chosen = own if own > 0 else None
        x = numbers(X, "X", 2)
        models = [_refitted(path, one, x, y) for one in tried]
        heights = np.array([np.ravel(one.coef_) for one in models], dtype=np.float64)
        heights *= np.std(rows_through_basis(models[0], x), axis=0)
        names, basis = column_names(names, X, path, x.shape[1]), basis_of(models[0])
        names = names if basis is None else basis.names(names)
    else:
        if isinstance(path, L1Path):
            if path.coef.ndim != 2:
                raise InvalidParameter("coefficient_path draws one target, or two classes: draw one at a time")
            path = (path.l1, path.coef)
        tried, heights = numbers(path[0], "penalties"), numbers(path[1], "coefficients", 2)
        same_length("penalties", len(tried), "coefficients", len(heights))
        names = column_names(names, None, None, heights.shape[1])
    if not (tried > 0).all():
        raise InvalidParameter("penalties must be above zero: the axis is logarithmic")
    order = np.argsort(-tried)
    tried, heights = tried[order], heights[order]
    named = np.argsort(-np.abs(heights).max(axis=0), kind="stable")[:MOST_NAMED]
    ax = axes(ax, max(3.6, 1.0 + 0.24 * len(named)))
    ax.axhline(0, color=GREY, linewidth=0.8)
    rest = np.setdiff1d(np.arange(heights.shape[1]), named)
    ax.plot(tried, heights[:, rest], color="#bbbbbb", linewidth=0.7)
    for k, j in enumerate(named):
        ax.plot(tried, heights[:, j], color=colour(k), linestyle=LINES[(k // 7) % 4], linewidth=1.5)
    ax.set_xlim(tried[0], tried[-1])
    log_scale(ax, "x")
    if chosen is not None and tried[-1] <= chosen <= tried[0]:
        ax.axvline(chosen, color=GREY, linestyle="--", linewidth=1, label=f"chosen: {chosen:.3g}")
    ax.set_ylim(ax.get_ylim())
    _label_beside(ax, heights[-1, named], [short(names[j], 20) for j in named], [colour(k) for k in range(len(named))])
    what = "coefficient" if X is None else "effect of one standard deviation"
    return finished(ax, "penalty, from strong to weak", what)


@styled
def penalty_path(model: AnyModel, ax: Axes | None = None) -> Axes:
    """Draw what a penalty "auto" was chosen by, along the penalties that were tried, with the choice marked.

    Parameters
    ----------
    model : a Ridge(penalty="auto") or an ElasticNet(l1="auto"), fitted to one target.
    ax : where to draw; None: axes of a new figure.

    Examples
    --------
    >>> from adaline import Ridge, datasets, plots
    >>> data = datasets.load("longley")
    >>> plots.penalty_path(Ridge().fit(data.X, data.y)).get_ylabel()
    'GCV'
    """
    path = need(model, "path_", "penalty_path", "fit Ridge(penalty='auto') on one target")
    if not isinstance(path, dict):
        raise InvalidParameter("penalty_path draws one target: fit Ridge(penalty='auto') on one target at a time")
    ax = axes(ax, 3.4)
    of = "l1" if "l1" in path else "penalties"
    criterion, chosen = getattr(model._fitted_with, "criterion", "folds"), model.l1_ if of == "l1" else model.penalty_
    ax.plot(path[of], path["values"], color=BLUE)
    log_scale(ax, "x")
    if criterion != "evidence":
        log_scale(ax, "y")
    ax.axvline(chosen, color=ORANGE, linestyle="--", label=f"chosen: {chosen:.3g}")
    what = {"evidence": "-2 log evidence", "folds": "error on held-out rows"}.get(criterion, criterion.upper())
    return finished(ax, "penalty on standardised columns", what)


def _label_beside(ax: Axes, ends: Array, names: Sequence[str], colours: Sequence[str]) -> None:
    """Write names to the right of the axes, each as near to the end of its line as the others allow.

    Call it when the limits of the axes are final. Ends are in data units, (K,).
    """
    low, high = ax.get_ylim()
    figure: Any = ax.figure
    gap = 13.0 / 72 / max(figure.get_size_inches()[1] * ax.get_position().height, 0.5)
    ends_in_axes = (ends - low) / (high - low)
    order = np.argsort(ends_in_axes)
    spread = _spread_apart(ends_in_axes[order], gap)
    for k, y in zip(order, spread, strict=True):
        ax.annotate(
            names[k],
            (1.0, ends_in_axes[k]),
            xytext=(1.04, y),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            color=colours[k],
            fontsize=9,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colours[k],
                "linewidth": 0.6,
                "shrinkA": 1,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )


def _spread_apart(positions: Array, gap: float) -> Array:
    """Return sorted positions moved as little as needed (least squares) to be a gap apart; near ones form blocks."""
    blocks: list[tuple[float, int]] = []  # mean of the positions less their offsets, and how many
    for i, position in enumerate(positions):
        mean, count = float(position) - i * gap, 1
        while blocks and blocks[-1][0] > mean:
            before, many = blocks.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        blocks.append((mean, count))
    means = np.repeat([mean for mean, _ in blocks], [count for _, count in blocks])
    return np.asarray(means + gap * np.arange(len(positions)))


def _penalties(model: AnyModel, given: Any) -> tuple[Array, float]:
    """Return the penalties to try, and the system's own."""
    own = getattr(model, "penalty_", getattr(model, "penalty", None))
    if own is None or isinstance(own, str) or np.ndim(own):
        raise InvalidParameter(f"coefficient_path needs one number as penalty, {type(model).__name__} has {own!r}")
    own = float(own)
    if given is not None:
        return numbers(given, "penalties"), own
    known = getattr(model, "path_", None)
    if isinstance(known, dict):
        return np.geomspace(min(known["penalties"]), max(known["penalties"]), PATH_POINTS), own
    middle = own if own > 0 else 1.0
    return np.geomspace(1e-3 * middle, 1e3 * middle, PATH_POINTS), own


def _refitted(model: AnyModel, penalty: float, x: Array, y: TargetsLike) -> Any:
    """Return the system refitted under a penalty."""
    again = clone(model).set_params(penalty=float(penalty))
    if model.penalty == "auto" and getattr(model, "standardize", False) is None:
        again.set_params(standardize=True)  # as "auto" had it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", AdalineWarning)
        again.fit(x, plain_array(y))
    if len(np.atleast_2d(again.coef_)) != 1:
        raise InvalidParameter("coefficient_path draws one target, or two classes: draw one at a time")
    return again
