"""Plots of a score that ranks rows, over all its thresholds: ROC, and precision against recall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.arrays import TargetsLike
from adaline.errors import InvalidParameter
from adaline.plots.inputs import labels, numbers
from adaline.plots.style import GREY, LINES, MOST_POINTS, Axes, axes, colour, finished, short, styled
from adaline.selection.probabilities import ThresholdCounts, count_at_thresholds

MOST_CURVES = 6  # most classes that get a curve each; beyond it colours are hard to distinguish
FIRST_POINTS = 100  # points of a curve that are all shown, as the precision of a few rows jumps; of later ones some


@styled
def roc(y: TargetsLike, score: Any, ax: Axes | None = None, *, classes: Sequence[Any] | None = None) -> Axes:
    """Draw the share of positive rows that are found against that of others called positive, over all thresholds.

    Two classes: the second one is positive. Three to six: each against the rest. The area under each curve is named.

    Parameters
    ----------
    y : labels (n,).
    score : (n,) of two classes, higher for the second one; or (n, K), as `predict_proba` or `decision_function` gives.
    ax : where to draw; None: axes of a new figure.
    classes : the labels that the columns belong to; None: those of y, sorted.

    Examples
    --------
    >>> from adaline import plots
    >>> ax = plots.roc(["no", "no", "yes", "yes"], [0.1, 0.6, 0.4, 0.9])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['yes, AUC 0.750']
    """
    ax = axes(ax, 3.6)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.9)
    for k, (name, counts) in enumerate(_curves(y, score, classes)):
        label = f"{short(name, 18)}, AUC {counts.auc:.3f}"
        shown = _thinned(counts)
        across, up = shown.alarms / shown.alarms[-1], shown.hits / shown.hits[-1]
        ax.plot(across, up, color=colour(k), linestyle=LINES[k % 4], linewidth=1.6, label=label)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    return finished(ax, "share of the others called so", "share of the class found")


@styled
def precision_recall(
    y: TargetsLike, score: Any, ax: Axes | None = None, *, classes: Sequence[Any] | None = None
) -> Axes:
    """Draw the share of rows called positive that are, against the share of positive rows found, over all thresholds.

    Two classes: the second one is positive. Three to six: each against the rest. The average precision is named.

    Parameters
    ----------
    y : labels (n,).
    score : (n,) of two classes, higher for the second one; or (n, K), as `predict_proba` or `decision_function` gives.
    ax : where to draw; None: axes of a new figure.
    classes : the labels that the columns belong to; None: those of y, sorted.

    Examples
    --------
    >>> from adaline import plots
    >>> ax = plots.precision_recall(["no", "no", "yes", "yes"], [0.1, 0.6, 0.4, 0.9])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['yes, average 0.833']
    """
    ax = axes(ax, 3.6)
    for k, (name, counts) in enumerate(_curves(y, score, classes)):
        shown = _thinned(counts)
        recall, precision = shown.hits[1:] / shown.hits[-1], shown.hits[1:] / (shown.hits[1:] + shown.alarms[1:])
        label = f"{short(name, 18)}, average {counts.average_precision:.3f}"
        style: dict[str, Any] = {"color": colour(k), "linestyle": LINES[k % 4], "linewidth": 1.6}
        ax.step(np.r_[0.0, recall], np.r_[precision[0], precision], where="pre", label=label, **style)
        ax.axhline(counts.hits[-1] / (counts.hits[-1] + counts.alarms[-1]), color=colour(k), linewidth=0.7, alpha=0.4)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    return finished(ax, "recall: share of the class found", "precision: share called so that is")


def _thinned(counts: ThresholdCounts) -> ThresholdCounts:
    """Return no more thresholds than a plot shows, evenly spread over the rows called positive, ends included."""
    if len(counts.threshold) <= MOST_POINTS:
        return counts
    called = counts.hits + counts.alarms
    at = np.searchsorted(called, np.linspace(0.0, called[-1], MOST_POINTS))
    return ThresholdCounts(*(part[np.unique(np.r_[:FIRST_POINTS, at])] for part in counts))


def _curves(y: TargetsLike, score: Any, classes: Sequence[Any] | None) -> list[tuple[str, ThresholdCounts]]:
    """Return the counts of each class that has a curve of its own, by its name."""
    s = numbers(score, "score", 2)
    y = labels(y, len(s))
    known = list(np.unique(y)) if classes is None else list(classes)
    columns = {known[-1]: s[:, -1]} if len(known) == 2 else dict(zip(known, s.T, strict=False))
    if s.shape[1] != len(known) and (s.shape[1], len(known)) != (1, 2):
        raise InvalidParameter(f"score has {s.shape[1]} columns for {len(known)} classes: name them by classes")
    if len(columns) > MOST_CURVES:
        raise InvalidParameter(f"{len(columns)} classes have too many curves for one plot: draw at most {MOST_CURVES}")
    return [(str(name), count_at_thresholds(y == name, column)) for name, column in columns.items()]
