"""Plots of classification: confusion of classes, calibration of probabilities, classes along Fisher's direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.arrays import RowsLike, TargetsLike
from adaline.errors import InvalidParameter
from adaline.fitted import AnyModel
from adaline.plots.inputs import labels, method_values, need, numbers, plain_array, same_length
from adaline.plots.style import GREY, INK, LINES, Axes, axes, colour, finished, marker, short, styled
from adaline.selection.probabilities import RELIABILITY_BINS, bin_counts, reliability

MOST_BINS = 40  # bins of a histogram; doubling it makes histograms of few rows ragged
CELL_COLOUR = (0.0, 0.4, 0.64)  # white numbers are legible on it, on light pages and on dark ones


@styled
def confusion(y: TargetsLike, predicted: Any, ax: Axes | None = None, *, limit: int = 12) -> Axes:
    """Draw how often each class was taken for each other; the most frequent classes where there are many.

    Parameters
    ----------
    y, predicted : labels (n,).
    ax : where to draw; None: axes of a new figure.
    limit : most classes to show.

    Examples
    --------
    >>> from adaline import plots
    >>> ax = plots.confusion(["cat", "cat", "dog"], ["cat", "dog", "dog"])
    >>> [text.get_text() for text in ax.texts]
    ['1', '1', '0', '1']
    """
    y = np.asarray(plain_array(y))
    predicted = np.asarray(plain_array(predicted))
    same_length("y", len(y), "predicted", len(predicted))
    found = np.unique(np.concatenate([y, predicted]))
    counts = np.array([np.count_nonzero(y == label) for label in found])
    kept = np.sort(np.argsort(-counts, kind="stable")[:limit])
    found = found[kept]
    table = np.array([[np.count_nonzero((y == a) & (predicted == b)) for b in found] for a in found])
    ax = axes(ax, 1.5 + 0.42 * max(len(found), 4))
    share = table / np.maximum(counts[kept], 1)[:, None]
    row, column = (part.ravel() for part in np.indices(table.shape))
    shades = [(*CELL_COLOUR, float(part)) for part in share.ravel()]
    ax.bar(column, 1.0, 1.0, row - 0.5, color=shades)
    ax.set(xlim=(-0.5, len(found) - 0.5), ylim=(len(found) - 0.5, -0.5))
    for i, j in np.ndindex(*table.shape):
        ink = "white" if share[i, j] > 0.7 else INK
        ax.text(j, i, f"{table[i, j]}", ha="center", va="center", color=ink, fontsize=10 if len(found) < 9 else 7.5)
    names = [short(label, 14) for label in found]
    tilt = sum(map(len, names)) > 40
    ax.set_xticks(np.arange(len(found)), names, rotation=35 if tilt else 0, ha="right" if tilt else "center")
    ax.set_yticks(np.arange(len(found)), names)
    ax.set(xlabel="predicted", ylabel="true")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


@styled
def calibration(
    y: TargetsLike, probability: Any, ax: Axes | None = None, *, classes: Sequence[Any] | None = None
) -> Axes:
    """Draw how often a class is true where it was given a probability, with 95% intervals (Wilson), in ten bins.

    Two classes: the second one. Three to six: each. More: all probabilities together.

    Parameters
    ----------
    y : labels (n,).
    probability : (n, K), what `predict_proba` says of rows held out; two classes also (n,), of the second one.
    ax : where to draw; None: axes of a new figure.
    classes : the labels that the columns belong to; None: those of y, sorted.

    Examples
    --------
    >>> from adaline import GaussianClassifier, datasets, plots
    >>> data = datasets.load("penguins", target="species")
    >>> model = GaussianClassifier().fit(data.X[::2], data.y[::2])
    >>> ax = plots.calibration(data.y[1::2], model.predict_proba(data.X[1::2]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Adelie', 'Chinstrap', 'Gentoo']
    """
    p = numbers(probability, "probability", 2)
    p = np.column_stack([1 - p, p]) if p.shape[1] == 1 else p
    y = labels(y, len(p))
    classes = list(np.unique(y)) if classes is None else list(classes)
    if p.shape[1] != len(classes):
        raise InvalidParameter(f"probability has {p.shape[1]} columns for {len(classes)} classes: name them by classes")
    if p.min() < 0 or p.max() > 1:
        raise InvalidParameter("probabilities must lie between 0 and 1: give what predict_proba returns")
    truth = y[:, None] == np.asarray(classes)[None, :]
    if len(classes) == 2:
        series = [(str(classes[1]), p[:, 1], truth[:, 1])]
    elif len(classes) <= 6:
        series = [(str(name), p[:, k], truth[:, k]) for k, name in enumerate(classes)]
    else:
        series = [("all classes", p.ravel(), truth.ravel())]
    ax = axes(ax, 3.6)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.9)
    for k, (name, given, hit) in enumerate(series):
        found = reliability(given, hit)
        reach = np.array([found.share - found.lower, found.upper - found.share])
        style: dict[str, Any] = {"fmt": marker(k), "color": colour(k), "capsize": 2.5, "markersize": 4.5}
        ax.errorbar(found.probability, found.share, yerr=reach, label=short(name), **style)
        ax.plot(found.probability, found.share, color=colour(k), linewidth=1, alpha=0.35)
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    if len(series) == 1:
        ax.set(ylim=(-0.2, 1.03), yticks=np.linspace(0, 1, 6))
        for i, count in enumerate(bin_counts(series[0][1])):
            text = f"{count}" if count < 1e4 else f"{count:.0e}".replace("e+0", "e")
            ax.text((i + 0.5) / RELIABILITY_BINS, -0.14, text, ha="center", color=GREY, fontsize=7.5)
    return finished(ax, f"probability given{'; grey: rows' if len(series) == 1 else ''}", "share that was true")


@styled
def fisher_projection(
    model: AnyModel, X: RowsLike, y: TargetsLike, ax: Axes | None = None, *, direction: int = 0
) -> Axes:
    """Draw a histogram of each class along a direction of Fisher's discriminant, with the threshold of two classes.

    Parameters
    ----------
    model : a fitted FisherDiscriminant.
    X, y : rows (n, D) and labels (n,).
    ax : where to draw; None: axes of a new figure.
    direction : which one, from 0, where there are several.

    Examples
    --------
    >>> from adaline import FisherDiscriminant, datasets, plots
    >>> data = datasets.load("penguins", target="sex")
    >>> model = FisherDiscriminant().fit(data.X, data.y)
    >>> ax = plots.fisher_projection(model, data.X, data.y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['female', 'male', 'threshold']

    References
    ----------
    Lecture S2, Fisher's linear discriminant.
    """
    need(model, "directions_", "fisher_projection", "use a fitted FisherDiscriminant")
    x = numbers(X, "X", 2)
    y = labels(y, len(x))
    z = method_values(model.transform, x)
    if not 0 <= direction < z.shape[1]:
        raise InvalidParameter(f"direction must be from 0 to {z.shape[1] - 1}, got {direction}")
    ax = axes(ax, 3.6)
    along = z[:, direction]
    edges: Any = np.linspace(along.min(), along.max(), min(MOST_BINS, 8 + len(along) // 8) + 1)
    for k, label in enumerate(model.classes_):
        own = along[y == label]
        style: dict[str, Any] = {"color": colour(k), "label": short(label, 18)}
        ax.hist(own, edges, alpha=0.25, **style)
        ax.hist(own, edges, histtype="step", linewidth=1.4, linestyle=LINES[k % 4], color=colour(k))
    if len(model.classes_) == 2:
        cut = float(np.median(along - method_values(model.decision_function, x)))  # the same for every row
        ax.axvline(cut, color=INK, linewidth=1.2, linestyle="--", label="threshold")
    return finished(ax, "projection" if z.shape[1] == 1 else f"projection on direction {direction + 1}", "rows")
