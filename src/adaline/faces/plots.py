"""Plots in one readable style, safe for the colour-blind; each returns Axes and can be used by itself.

Colours are those of M. Okabe and K. Ito (2008). Scatter plots show at most 5000 points, drawn at random.

Examples
--------
>>> from adaline import LinearRegression, datasets
>>> from adaline.faces import plots
>>> data = datasets.load("penguins", target="body_mass_g")
>>> model = LinearRegression().fit(data.X, data.y)
>>> ax = plots.residuals(data.y, model.predict(data.X))
>>> ax.get_xlabel(), plots.svg(ax)[:4]
('prediction', '<svg')
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray
from scipy import special

from adaline.faces.choice import amount
from adaline.faces.effects import effects, strongest
from adaline.faces.reliability import reliability

Array = NDArray[np.float64]
P = ParamSpec("P")

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#666666")
BLUE, ORANGE, GREY = COLOURS[0], COLOURS[1], COLOURS[6]
MARKERS = "os^Dv<>"
MOST_POINTS = 5000
WIDTH = 5.2  # inches: the text is then readable on a phone, and two figures stand side by side on a desk

STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": "#222222",
    "text.color": "#222222",
    "text.parse_math": False,  # names of columns are text, dollars and all
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "adaline",
}


def _styled(plot: Callable[P, Axes]) -> Callable[P, Axes]:
    @wraps(plot)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Axes:
        with matplotlib.rc_context(STYLE):
            return plot(*args, **kwargs)

    return drawn


def svg(ax: Axes) -> str:
    """Return the figure of these axes as SVG text that refers to nothing outside itself."""
    out = io.StringIO()
    figure: Any = ax.figure
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the reader's fonts draw the text
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


@_styled
def comparison(found: Any, ax: Axes | None = None) -> Axes:
    """Draw a Comparison: the error of each system with its standard error, single folds, and the baseline."""
    able = [result for result in found.results if not result.failure]
    ax = _axes(ax, 1.2 + 0.42 * len(able))
    scale = 100.0 if found.measure == "error rate" else 1.0
    for i, result in enumerate(able):
        colour = ORANGE if result is found.recommended else BLUE
        ax.plot(scale * result.fold_errors, np.full(len(result.fold_errors), i), "|", color=colour, alpha=0.45, ms=9)
        ax.errorbar(
            scale * result.error,
            i,
            xerr=scale * result.std_error,
            fmt="D" if result is found.recommended else "o",
            color=colour,
            capsize=3,
        )
    ends = [scale * value for result in able for value in result.fold_errors]
    low, high = min(ends), max(ends)
    ax.set_yticks(np.arange(len(able)), [_folded(result.label) for result in able])
    for label, result in zip(ax.get_yticklabels(), able, strict=True):
        if result is found.recommended:
            label.set_fontweight("bold")
    ax.set_ylim(len(able) - 0.5, -0.5)
    level = scale * found.baseline.error
    title = f"{found.baseline.system}: {amount(found.baseline.error, found.measure)}"
    if level <= high + 1.5 * (high - low):
        ax.axvline(level, color=GREY, linestyle="--", linewidth=1)
        ax.set_title(f"dashed: {title}", loc="right", color=GREY, fontsize=9)
    else:
        ax.set_title(f"far to the right: {title}", loc="right", color=GREY, fontsize=9)
    unit = "wrong labels, %" if found.measure == "error rate" else f"{found.measure} of {_short(found.table.target)}"
    ax.set_xlabel(f"{unit}, rows held out")
    ax.grid(axis="x", color="#dddddd", linewidth=0.7)
    ax.set_axisbelow(True)
    return ax


@_styled
def coefficients(model: Any, X: Array, names: Sequence[str], limit: int = 25, ax: Axes | None = None) -> Axes:
    """Draw what one standard deviation of each column does, with intervals where there are some, strongest first."""
    found = effects(model, X, names)
    shown, _ = strongest(found, limit)
    sides = list(dict.fromkeys(effect.side for effect in found if effect.name in shown))
    ax = _axes(ax, 1.1 + (0.26 if len(sides) < 3 else 0.34) * len(shown))
    step = 0.6 / max(len(sides), 1)
    for k, side in enumerate(sides):
        own = {effect.name: effect for effect in found if effect.side == side}
        rows = [own[name] for name in shown]
        place = np.arange(len(rows)) + step * (k - (len(sides) - 1) / 2)
        middle = np.array([effect.strength for effect in rows])
        reach = np.array([(effect.upper - effect.lower) / 2 * effect.spread for effect in rows])
        bars: dict[str, Any] = {} if np.isnan(reach).all() else {"xerr": np.nan_to_num(reach), "capsize": 2.5}
        style: dict[str, Any] = {"fmt": MARKERS[k % 7], "color": COLOURS[k % 7], "markersize": 4.5}
        ax.errorbar(middle, place, label=_short(side), **bars, **style)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks(np.arange(len(shown)), [_short(name) for name in shown])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlabel("effect of one standard deviation")
    ax.grid(axis="y", color="#eeeeee", linewidth=0.7)
    ax.set_axisbelow(True)
    if len(sides) > 1:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, handletextpad=0.2)
    elif sides and sides[0]:
        ax.set_title(f"to the right: towards {_short(sides[0])}", color=GREY, fontsize=9)
    return ax


@_styled
def penalty_path(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the criterion that Ridge(penalty="auto") minimised, along the penalty, with the choice marked."""
    ax = _axes(ax, 3.4)
    ax.plot(model.path_["penalties"], model.path_["values"], color=BLUE)
    ax.set_xscale("log")
    if model.criterion != "evidence":
        ax.set_yscale("log")
    ax.axvline(model.penalty_, color=ORANGE, linestyle="--", label=f"chosen: {model.penalty_:.3g}")
    ax.set_xlabel("penalty on standardised columns")
    ax.set_ylabel(model.criterion.upper() if model.criterion != "evidence" else "-2 log evidence")
    ax.legend()
    return ax


@_styled
def residuals(y: Array, predicted: Array, ax: Axes | None = None) -> Axes:
    """Draw target minus prediction against the prediction, with the mean of twenty slices of the predictions."""
    ax = _axes(ax, 3.6)
    left = y - predicted
    rows = _thin(len(y))
    ax.scatter(predicted[rows], left[rows], s=_size(len(rows)), color=BLUE, alpha=0.5, linewidths=0, rasterized=True)
    ax.axhline(0, color=GREY, linewidth=0.8)
    if len(y) >= 60:
        slices = np.array_split(np.argsort(predicted, kind="stable"), min(20, len(y) // 20))
        centre = [predicted[part].mean() for part in slices]
        ax.plot(centre, [left[part].mean() for part in slices], color=ORANGE, linewidth=1.8, label="mean of a slice")
        ax.legend(loc="best")
    ax.set_xlabel("prediction")
    ax.set_ylabel("target minus prediction")
    return ax


@_styled
def quantiles(residual: Array, ax: Axes | None = None) -> Axes:
    """Draw the sorted residuals, in standard deviations, against those of a normal distribution."""
    ax = _axes(ax, 3.6)
    n = len(residual)
    spread = float(residual.std())
    ordered = np.sort(residual - residual.mean()) / (spread if spread > 0 else 1.0)
    normal = special.ndtri((np.arange(n) + 0.5) / n)
    kept = (
        np.arange(n)
        if n <= MOST_POINTS
        else np.unique(np.r_[:100, np.linspace(0, n - 1, 2000), n - 100 : n].astype(int))
    )
    ends = np.array([normal[0], normal[-1]])
    ax.plot(ends, ends, color=GREY, linewidth=0.9)
    ax.scatter(normal[kept], ordered[kept], s=_size(n), color=BLUE, alpha=0.6, linewidths=0, rasterized=True)
    ax.set_xlabel("normal quantile")
    ax.set_ylabel("residual, in standard deviations")
    return ax


@_styled
def confusion(y: NDArray[Any], predicted: NDArray[Any], limit: int = 12, ax: Axes | None = None) -> Axes:
    """Draw how often each class was taken for each other; the most frequent classes where there are many."""
    labels, counts = np.unique(y, return_counts=True)
    kept = np.sort(np.argsort(-counts, kind="stable")[:limit])
    labels = labels[kept]
    table = np.array([[np.count_nonzero((y == a) & (predicted == b)) for b in labels] for a in labels])
    ax = _axes(ax, 1.5 + 0.42 * max(len(labels), 4))
    share = table / np.maximum(counts[kept], 1)[:, None]
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1.15, aspect="auto")
    for i, j in np.ndindex(*table.shape):
        colour = "white" if share[i, j] > 0.6 else "#222222"
        ax.text(j, i, f"{table[i, j]}", ha="center", va="center", color=colour, fontsize=10 if len(labels) < 9 else 7.5)
    names = [_short(str(label), 14) for label in labels]
    tilt = sum(map(len, names)) > 40
    ax.set_xticks(np.arange(len(labels)), names, rotation=35 if tilt else 0, ha="right" if tilt else "center")
    ax.set_yticks(np.arange(len(labels)), names)
    ax.set_xlabel("predicted")
    ax.set_ylabel("true")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


@_styled
def calibration(y: NDArray[Any], probability: Array, classes: Sequence[Any], ax: Axes | None = None) -> Axes:
    """Draw how often a class is true where it was given a probability, with 95% intervals (Wilson), in ten bins.

    Two classes: the second one. Three to six: each. More: all probabilities together.
    """
    ax = _axes(ax, 3.6)
    truth = y[:, None] == np.asarray(classes)[None, :]
    if len(classes) == 2:
        series = [(str(classes[1]), probability[:, 1], truth[:, 1])]
    elif len(classes) <= 6:
        series = [(str(name), probability[:, k], truth[:, k]) for k, name in enumerate(classes)]
    else:
        series = [("all classes", probability.ravel(), truth.ravel())]
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.9)
    for k, (name, p, hit) in enumerate(series):
        found = reliability(p, hit)
        reach = np.array([found.share - found.lower, found.upper - found.share])
        style: dict[str, Any] = {"fmt": MARKERS[k % 7], "color": COLOURS[k % 7], "capsize": 2.5, "markersize": 4.5}
        ax.errorbar(found.probability, found.share, yerr=reach, label=_short(name), **style)
        ax.plot(found.probability, found.share, color=COLOURS[k % 7], linewidth=1, alpha=0.35)
    ax.set_xlabel("probability given")
    ax.set_ylabel("share that was true")
    ax.set_xlim(-0.03, 1.03)
    ax.set_ylim(-0.03, 1.03)
    ax.legend(loc="upper left")
    return ax


@_styled
def decision_regions(model: Any, X: Array, y: NDArray[Any], names: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw the regions a classifier of two columns assigns to its classes, and the rows; wrong ones are ringed."""
    ax = _axes(ax, 4.0)
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.05 * (high - low)
    first, second = (np.linspace(a, b, 240) for a, b in zip(low - margin, high + margin, strict=True))
    grid = np.column_stack([part.ravel() for part in np.meshgrid(first, second)])
    classes = list(model.classes_)
    region = np.searchsorted(model.classes_, model.predict(grid)).reshape(240, 240)
    colours = [COLOURS[k % 7] for k in range(len(classes))]
    ax.pcolormesh(
        first,
        second,
        region,
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=len(classes) - 0.5,
        alpha=0.18,
        rasterized=True,
    )
    rows = _thin(len(y))
    wrong = model.predict(X[rows]) != y[rows]
    for k, label in enumerate(classes):
        own = X[rows][y[rows] == label]
        ax.scatter(
            own[:, 0],
            own[:, 1],
            s=16,
            marker=MARKERS[k % 7],
            color=colours[k],
            linewidths=0,
            alpha=0.8,
            rasterized=True,
        )
    ring: dict[str, Any] = {"s": 60, "facecolors": "none", "edgecolors": "#222222", "linewidths": 0.9}
    ax.scatter(X[rows][wrong, 0], X[rows][wrong, 1], **ring)
    handles = [Patch(color=colours[k], label=_short(str(label), 18)) for k, label in enumerate(classes[:7])]
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    ax.set_xlabel(_short(names[0]))
    ax.set_ylabel(_short(names[1]))
    return ax


@_styled
def line(model: Any, x: Array, y: Array, names: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw a regression on one column: the rows and the fitted line; names of the column and the target."""
    ax = _axes(ax, 3.8)
    rows = _thin(len(y))
    ax.scatter(x[rows], y[rows], s=_size(len(rows)), color=BLUE, alpha=0.5, linewidths=0, rasterized=True)
    ends = np.linspace(x.min(), x.max(), 200)
    ax.plot(ends, model.predict(ends[:, None]), color=ORANGE, linewidth=1.8)
    ax.set_xlabel(_short(names[0]))
    ax.set_ylabel(_short(names[1]))
    return ax


def _axes(ax: Axes | None, height: float) -> Axes:
    return Figure(figsize=(WIDTH, height), dpi=150, layout="constrained").add_subplot() if ax is None else ax


def _short(name: str, limit: int = 30) -> str:
    """Return a name that fits an axis, without characters that no font has."""
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    half = (limit - 1) // 2
    return clean if len(clean) <= limit else f"{clean[: limit - 1 - half]}…{clean[-half:]}"


def _folded(label: str) -> str:
    """Return a long label on two lines: the system above, its settings below."""
    name, _, settings = label.partition("(")
    return label if len(label) <= 24 or not settings else f"{name}\n({_short(settings, 28)}"


def _thin(n: int) -> NDArray[np.intp]:
    return np.arange(n) if n <= MOST_POINTS else np.sort(np.random.default_rng(0).choice(n, MOST_POINTS, replace=False))


def _size(n: int) -> float:
    return 18.0 if n <= 200 else 10.0 if n <= 1000 else 4.0
