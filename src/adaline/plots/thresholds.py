"""Plots of a score that ranks rows, over all its thresholds: ROC, and precision against recall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter
from adaline.plots.inputs import labels, numbers
from adaline.plots.style import GREY, LINES, MOST_POINTS, Axes, axes, colour, finished, short, styled

MOST_CURVES = 6
FIRST_POINTS = 100  # of a curve that are all shown: the precision of a few rows jumps


class ThresholdCounts(NamedTuple):
    """Rows called positive at each threshold, from none to all: weights of those that are (hits) and are not (alarms).

    Rows whose score is the threshold or more are called positive; the first threshold is infinite.
    """

    threshold: Array
    hits: Array
    alarms: Array

    @property
    def auc(self) -> float:
        """The area under the ROC curve: the probability that a positive row has the higher score; ties count half."""
        return float(np.trapezoid(self.hits / self.hits[-1], self.alarms / self.alarms[-1]))

    @property
    def average_precision(self) -> float:
        """The mean precision over the steps of the recall."""
        precision = self.hits[1:] / (self.hits[1:] + self.alarms[1:])
        return float((np.diff(self.hits) / self.hits[-1]) @ precision)

    def thinned(self) -> ThresholdCounts:
        """Return no more thresholds than a plot shows, evenly spread over the rows called positive, ends included."""
        if len(self.threshold) <= MOST_POINTS:
            return self
        called = self.hits + self.alarms
        at = np.searchsorted(called, np.linspace(0.0, called[-1], MOST_POINTS))
        return ThresholdCounts(*(part[np.unique(np.r_[:FIRST_POINTS, at])] for part in self))


def count_at_thresholds(truth: NDArray[np.bool_], score: Array, weight: Array | None = None) -> ThresholdCounts:
    """Return the hits and alarms at every different score, highest first; `truth` (n,) holds both kinds of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.plots.thresholds import count_at_thresholds
    >>> count_at_thresholds(np.array([False, True, True]), np.array([0.2, 0.9, 0.1])).auc
    0.5
    """
    if truth.all() or not truth.any():
        raise InvalidData("a ranking of two kinds of rows needs some of each: all rows are of one kind")
    order = np.argsort(-score)
    w = np.ones(len(score)) if weight is None else weight[order]
    hit, sorted_score = truth[order], score[order]
    last = np.flatnonzero(np.diff(sorted_score, append=-np.inf) != 0)  # of those that share a score
    hits, alarms = (np.r_[0.0, np.cumsum(w * kind)[last]] for kind in (hit, ~hit))
    return ThresholdCounts(np.r_[np.inf, sorted_score[last]], hits, alarms)


@styled
def roc(y: Any, score: Any, ax: Axes | None = None, *, classes: Sequence[Any] | None = None) -> Axes:
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
        shown = counts.thinned()
        across, up = shown.alarms / shown.alarms[-1], shown.hits / shown.hits[-1]
        ax.plot(across, up, color=colour(k), linestyle=LINES[k % 4], linewidth=1.6, label=label)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    return finished(ax, "share of the others called so", "share of the class found")


@styled
def precision_recall(y: Any, score: Any, ax: Axes | None = None, *, classes: Sequence[Any] | None = None) -> Axes:
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
        shown = counts.thinned()
        recall, precision = shown.hits[1:] / shown.hits[-1], shown.hits[1:] / (shown.hits[1:] + shown.alarms[1:])
        label = f"{short(name, 18)}, average {counts.average_precision:.3f}"
        style: dict[str, Any] = {"color": colour(k), "linestyle": LINES[k % 4], "linewidth": 1.6}
        ax.step(np.r_[0.0, recall], np.r_[precision[0], precision], where="pre", label=label, **style)
        ax.axhline(counts.hits[-1] / (counts.hits[-1] + counts.alarms[-1]), color=colour(k), linewidth=0.7, alpha=0.4)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    return finished(ax, "recall: share of the class found", "precision: share called so that is")


def _curves(y: Any, score: Any, classes: Sequence[Any] | None) -> list[tuple[str, ThresholdCounts]]:
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
