"""Plots of regions in the plane: the class predicted at each point and its probability, and where machines disagree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.arrays import RowsLike, TargetsLike
from adaline.errors import InvalidData
from adaline.fitted import AnyModel, gives_probabilities
from adaline.input.labels import places
from adaline.plots.field import FAINT, FULL, REGION_OPACITY, Field, scatter_classes, scores_of
from adaline.plots.inputs import Labels, column_names, labels, method_values, need, plane
from adaline.plots.style import GREY, INK, LINES, Axes, axes, finished, short, styled
from adaline.systems import OneVsOne

MOST_LINES = 8  # lines of machines that are named; doubling it makes the legend cover the picture
SURE_POSTERIOR = 0.9  # the posterior whose line is drawn
UNCLEAR = (("claimed by none", "....", "#ffffff"), ("claimed by several", "////", "#d9d9d9"))
TIED = ("vote tied", "////", "#d9d9d9")


@styled
def decision_regions(
    model: AnyModel, X: RowsLike, y: TargetsLike, ax: Axes | None = None, *, names: Sequence[Any] | None = None
) -> Axes:
    """Draw the regions a classifier of two columns assigns to its classes, and the rows; wrong ones are ringed.

    Where the model gives probabilities, a region is the stronger the surer it is, and a dashed line shows where the
    posterior of the winning class is 0.9.

    Parameters
    ----------
    model : a classifier, fitted to two columns.
    X, y : rows (n, 2) and labels (n,).
    ax : where to draw; None: axes of a new figure.
    names : of the columns; None: those of a frame, of the model, or x0, x1.

    Examples
    --------
    >>> from adaline import GaussianClassifier, datasets, plots
    >>> data = datasets.load("penguins", target="species")
    >>> X = data.X[:, :2]
    >>> model = GaussianClassifier(covariance="full").fit(X, data.y)
    >>> ax = plots.decision_regions(model, X, data.y, names=data.feature_names[:2])
    >>> ax.get_xlabel()
    'bill_length_mm'

    References
    ----------
    Lectures S2 and S3: discriminants, decision regions, posteriors.
    """
    x = plane(X, "decision_regions")
    y = labels(y, len(x))
    classes = np.asarray(need(model, "classes_", "decision_regions", "use a fitted classifier"))
    words = column_names(names, X, model, 2)
    codes = _codes(classes, y)
    wrong = method_values(model.predict, x) != y
    ax = axes(ax, 4.2)
    field = Field(ax, x)
    predicted = method_values(model.predict, field.points)
    winner = places(predicted, classes)
    if gives_probabilities(model):
        posterior = method_values(model.predict_proba, field.points).max(axis=1)
        sure = (posterior - 1 / len(classes)) / (1 - 1 / len(classes))
        field.regions(winner, len(classes), FAINT + (FULL - FAINT) * sure)
        field.contour(posterior, [SURE_POSTERIOR], colors=GREY, linewidths=0.9, linestyles="--")
    else:
        field.regions(winner, len(classes))
    field.borders(scores_of(model, field.points, predicted))
    scatter_classes(ax, x, codes, classes, wrong)
    if gives_probabilities(model):
        ax.plot([], [], color=GREY, linestyle="--", linewidth=0.9, label=f"posterior {SURE_POSTERIOR:g}")
    return finished(ax, *words)


@styled
def ambiguous_regions(
    model: AnyModel, X: RowsLike, y: TargetsLike, ax: Axes | None = None, *, names: Sequence[Any] | None = None
) -> Axes:
    """Draw where two-class machines give K classes no answer by their signs: hatched; and the line of each machine.

    One against the rest: regions that no machine claims, or several. One against one: regions where the vote is tied.

    Parameters
    ----------
    model : OneVsRest or OneVsOne, fitted to two columns.
    X, y : rows (n, 2) and labels (n,).
    ax : where to draw; None: axes of a new figure.
    names : of the columns; None: those of a frame, of the model, or x0, x1.

    Examples
    --------
    >>> from adaline import LeastSquaresClassifier, OneVsRest, datasets, plots
    >>> data = datasets.load("penguins", target="species")
    >>> X = data.X[:, :2]
    >>> model = OneVsRest(LeastSquaresClassifier()).fit(X, data.y)
    >>> ax = plots.ambiguous_regions(model, X, data.y, names=data.feature_names[:2])
    >>> "claimed by none" in [text.get_text() for text in ax.get_legend().get_texts()]
    True

    References
    ----------
    Lecture S2, K > 2 classes, ideas 1 and 2; S3, extension to multiple classes.
    """
    x = plane(X, "ambiguous_regions")
    y = labels(y, len(x))
    need(model, "ambiguous", "ambiguous_regions", "use OneVsRest or OneVsOne, or draw `decision_regions`")
    classes = np.asarray(model.classes_)
    words = column_names(names, X, model, 2)
    codes = _codes(classes, y)
    ax = axes(ax, 4.6)
    field = Field(ax, x)
    said = method_values(model.decisions, field.points)
    unclear = method_values(model.ambiguous, field.points)
    winner = places(method_values(model.predict, field.points), classes)
    field.regions(winner, len(classes), np.where(unclear, 0.0, REGION_OPACITY))
    claims = (said > 0).sum(axis=1)
    kinds = (
        [(TIED, unclear)]
        if isinstance(model, OneVsOne)
        else [(UNCLEAR[0], unclear & (claims == 0)), (UNCLEAR[1], unclear & (claims > 1))]
    )
    scatter_classes(ax, x, codes, classes, None)
    for (name, hatch, shade), there in kinds:
        if there.any():
            ax.contourf(
                field.first,
                field.second,
                there.reshape(len(field.second), -1).astype(float),
                levels=[0.5, 1.5],
                colors=[shade],
                hatches=[hatch],
                zorder=0.5,
            )
            ax.fill_between([], [], [], facecolor=shade, hatch=hatch, edgecolor=GREY, linewidth=0.5, label=name)
    for k, (column, question) in enumerate(zip(said.T, model.questions(), strict=True)):
        ink, dashes = (INK, GREY)[k // 4 % 2], LINES[k % 4]
        field.contour(column, [0.0], colors=ink, linestyles=dashes, linewidths=1.1)
        if len(said.T) <= MOST_LINES:
            ax.plot([], [], color=ink, linestyle=dashes, linewidth=1.1, label=short(question, 34))
    return finished(ax, *words)


def _codes(classes: Labels, y: Labels) -> Any:
    """Return the index of each label among the classes."""
    known = np.isin(y, classes)
    if not known.all():
        raise InvalidData(f"y has a label that the model does not know: {y[~known][0]}, at row {int(np.argmin(known))}")
    return places(y, classes)
