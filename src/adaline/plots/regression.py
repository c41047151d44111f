"""Plots of regression: the line, residuals, their quantiles, and the leverage of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, RowsLike, TargetsLike, WeightsLike
from adaline.errors import InvalidData
from adaline.fitted import AnyModel
from adaline.plots.inputs import column_names, method_values, need, numbers, same_length
from adaline.plots.style import BLUE, GREY, INK, MOST_POINTS, ORANGE, Axes, axes, finished, short, size, styled, thin

MOST_NAMED = 3  # rows of large influence that are named; doubling it makes names overlap
COOK = ((0.5, "--"), (1.0, ":"))


@styled
def line(
    model: AnyModel, x: Any, y: TargetsLike, ax: Axes | None = None, *, names: Sequence[Any] | None = None
) -> Axes:
    """Draw a regression on one column: the rows and the fitted line, or curve.

    Parameters
    ----------
    model : fitted to one column.
    x, y : rows (n,) or (n, 1), and targets (n,).
    ax : where to draw; None: axes of a new figure.
    names : of the column and the target; None: from a frame or the model, and "target".

    Examples
    --------
    >>> from adaline import LinearRegression, datasets, plots
    >>> data = datasets.load("norris")
    >>> ax = plots.line(LinearRegression().fit(data.X, data.y), data.X, data.y, names=("standard", "monitor"))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('standard', 'monitor')
    """
    across, up = numbers(x, "x", 2), numbers(y, "y")
    if across.shape[1] != 1:
        raise InvalidData(f"line draws one column and x has {across.shape[1]}: choose one, or draw `residuals`")
    across = across[:, 0]
    same_length("x", len(across), "y", len(up))
    words = [*column_names(None, x, model, 1), "target"] if names is None else [short(name) for name in names]
    ax = axes(ax, 3.8)
    rows = thin(len(up))
    dots: dict[str, Any] = {"color": BLUE, "alpha": 0.5, "linewidths": 0, "rasterized": True}
    ax.scatter(across[rows], up[rows], s=size(len(rows)), label="rows", **dots)
    ends = np.linspace(across.min(), across.max(), 200)
    ax.plot(ends, method_values(model.predict, ends[:, None]), color=ORANGE, linewidth=1.8, label="fit")
    return finished(ax, *words)


@styled
def residuals(y: TargetsLike, predicted: Any, ax: Axes | None = None) -> Axes:
    """Draw target minus prediction against the prediction, with the mean of up to twenty slices of the predictions.

    Parameters
    ----------
    y, predicted : targets and predictions, (n,).
    ax : where to draw; None: axes of a new figure.

    Examples
    --------
    >>> from adaline import LinearRegression, datasets, plots
    >>> data = datasets.load("penguins", target="body_mass_g")
    >>> model = LinearRegression().fit(data.X, data.y)
    >>> plots.residuals(data.y, model.predict(data.X)).get_xlabel()
    'prediction'
    """
    y, predicted = numbers(y, "y"), numbers(predicted, "predicted")
    same_length("y", len(y), "predicted", len(predicted))
    ax = axes(ax, 3.6)
    left = y - predicted
    rows = thin(len(y))
    ax.scatter(predicted[rows], left[rows], s=size(len(rows)), color=BLUE, alpha=0.5, linewidths=0, rasterized=True)
    ax.axhline(0, color=GREY, linewidth=0.8)
    if len(y) >= 60:
        slices = np.array_split(np.argsort(predicted, kind="stable"), min(20, len(y) // 20))
        centre = [predicted[part].mean() for part in slices]
        ax.plot(centre, [left[part].mean() for part in slices], color=ORANGE, linewidth=1.8, label="mean of a slice")
    return finished(ax, "prediction", "target minus prediction")


@styled
def quantiles(residual: AnyArray, ax: Axes | None = None) -> Axes:
    """Draw the sorted residuals, in standard deviations, against those of a normal distribution.

    Parameters
    ----------
    residual : targets minus predictions, (n,).
    ax : where to draw; None: axes of a new figure.

    Examples
    --------
    >>> from adaline import LinearRegression, datasets, plots
    >>> data = datasets.load("penguins", target="body_mass_g")
    >>> model = LinearRegression().fit(data.X, data.y)
    >>> plots.quantiles(data.y - model.predict(data.X)).get_xlabel()
    'normal quantile'
    """
    residual = numbers(residual, "residual")
    ax = axes(ax, 3.6)
    n = len(residual)
    spread = float(residual.std())
    ordered = np.sort(residual - residual.mean()) / (spread if spread > 0 else 1.0)
    normal = scipy.special.ndtri((np.arange(n) + 0.5) / n)
    kept = (
        np.arange(n)
        if n <= MOST_POINTS
        else np.unique(np.r_[:100, np.linspace(0, n - 1, 2000), n - 100 : n].astype(int))
    )
    ends = np.array([normal[0], normal[-1]])
    ax.plot(ends, ends, color=GREY, linewidth=0.9)
    ax.scatter(normal[kept], ordered[kept], s=size(n), color=BLUE, alpha=0.6, linewidths=0, rasterized=True)
    return finished(ax, "normal quantile", "residual, in standard deviations")


@styled
def leverage(
    model: AnyModel, X: RowsLike, y: TargetsLike, ax: Axes | None = None, *, sample_weight: WeightsLike = None
) -> Axes:
    """Draw standardised residuals against leverage, with contours of Cook's distance; the rows that matter are named.

    A row beyond the contours moves all predictions if it is left out. Rows of leverage 1, whose residual is always
    zero, are left out of the plot.

    Parameters
    ----------
    model : a fitted system with `influence`, such as LinearRegression.
    X, y, sample_weight : the rows it was fitted to.
    ax : where to draw; None: axes of a new figure.

    Examples
    --------
    >>> from adaline import LinearRegression, datasets, plots
    >>> data = datasets.load("longley")
    >>> ax = plots.leverage(LinearRegression().fit(data.X, data.y), data.X, data.y)
    >>> sorted(text.get_text() for text in ax.texts)
    ['row 15', 'row 3', 'row 4']

    References
    ----------
    R. D. Cook and S. Weisberg, Residuals and Influence in Regression (1982).
    """
    found = need(model, "influence", "leverage", "use LinearRegression")(X, y, sample_weight=sample_weight)
    h, r, cook = found.leverage, found.standardized, found.cooks_distance
    if r.ndim != 1:
        raise InvalidData(f"leverage draws one target and the model has {r.shape[1]}: fit one at a time")
    known = np.flatnonzero(np.isfinite(r))
    if not len(known):
        raise InvalidData("leverage has nothing to draw: the fit leaves no residuals, or residuals of rounding")
    ax = axes(ax, 3.8)
    p, widest = float(h.sum()), float(np.abs(r[known]).max())
    top, right = 1.25 * max(widest, 2.0), min(1.08 * float(h[known].max()), 0.999)
    rows = known[thin(len(known))]
    ax.scatter(h[rows], r[rows], s=size(len(rows)), color=BLUE, alpha=0.6, linewidths=0, rasterized=True)
    ax.axhline(0, color=GREY, linewidth=0.8)
    across = np.linspace(right / 500, right, 500)
    for level, style in COOK:
        reach = np.sqrt(level * p * (1 - across) / across)
        if reach[-1] > top:
            continue
        for side in (1, -1):
            name = f"Cook's distance {level:g}" if side > 0 else None
            ax.plot(across, side * reach, color=ORANGE, linestyle=style, linewidth=1.2, label=name)
    ax.set(xlim=(0, right), ylim=(-top, top))
    _name_rows(ax, known[np.argsort(-cook[known], kind="stable")[:MOST_NAMED]], h, r, right, top)
    if finished(ax, "leverage", "standardised residual").get_legend() is None:
        ax.set_title(f"largest Cook's distance: {cook[known].max():.2g}", color=GREY, fontsize=9)
    return ax


def _name_rows(ax: Axes, rows: NDArray[np.intp], h: Array, r: Array, right: float, top: float) -> None:
    """Write the numbers of rows beside them, unless that would cover another number."""
    taken: list[Array] = []
    for i in rows:
        position = np.array([h[i] / right, (r[i] + top) / (2 * top)])
        if any(abs(position - other)[0] < 0.16 and abs(position - other)[1] < 0.07 for other in taken):
            continue
        taken.append(position)
        inward = position[0] > 0.8
        ax.annotate(
            f"row {i}",
            (h[i], r[i]),
            xytext=(-5 if inward else 5, 4),
            textcoords="offset points",
            ha="right" if inward else "left",
            color=INK,
            fontsize=9,
        )
