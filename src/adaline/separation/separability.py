"""`separability`: can a hyperplane separate the classes? Decided for two classes, for every pair, and jointly.

t (w.x + w0) > 0 for every row   or   sum lambda_n t_n (1, x_n) = 0, lambda >= 0, sum lambda = 1   (Gordan)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import RowsLike, TargetsLike, WeightsLike
from adaline.errors import InvalidData
from adaline.input.labels import too_few_classes
from adaline.input.open import open_labelled
from adaline.input.system import System
from adaline.separation.budget import Budget, Undecided
from adaline.separation.confirm import confirm
from adaline.separation.contests import Contests, Plane
from adaline.separation.decision import Overlap, decide, won
from adaline.separation.exact import Whole, whole
from adaline.separation.survey import Survey
from adaline.separation.verdict import Combination, ManyClasses, Separability
from adaline.sources import Source

MOST_DECIDED_CLASSES = 50  # classes; doubling it asks four times as many questions of pairs
# (K - 1)(D + 1) of the joint question; doubling it takes eight times as long, as exact arithmetic is cubic
MOST_COORDINATES = 200
MOST_CONTESTS = 2_000_000  # (K - 1) N of the joint question; doubling it takes twice as long


def separability(X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Separability | ManyClasses:
    """Decide whether a hyperplane separates the classes, and prove it.

    The perceptron finds a plane w.x + w0 with t (w.x + w0) > 0 for every row if there is one, and otherwise never
    stops: "we will only know that the data are separable once the algorithm converges". Here both answers end in a
    proof: a plane, or a convex combination of the rows of each class that meet in one point. `verify()` checks it in
    exact arithmetic; the answer is right for the numbers as they are given, however small the margin.

    Parameters
    ----------
    X : rows (n, D): array, frame (categories are coded as in `fit`), sparse matrix, or a source with its own targets.
    y : labels of at least two classes.
    sample_weight : rows of weight zero take no part; otherwise weights do not matter.

    Returns
    -------
    Separability : `separable`, `kind` ("complete", "quasi", "none"), `coef`, `intercept`, `margin`, `weights` and
        `verify()`; prints as a sentence. For K > 2 classes a `ManyClasses`: `pairs` and `joint` (Kesler), and the same
        names for the joint question, which is asked up to 200 coordinates (K - 1)(D + 1) and 2 million comparisons
        (K - 1) N. Rows of one class only are refused: there is nothing to separate.

    Examples
    --------
    >>> from adaline.separation.separability import separability
    >>> xor = separability([[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"])
    >>> print(xor)
    The classes 'other' and 'same' are not separable: they overlap on every hyperplane; a convex combination of 4 rows
    proves it.
    >>> [str(value) for value in xor.weights.values], xor.verify()
    (['1/4', '1/4', '1/4', '1/4'], True)
    >>> apart = separability([[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> apart.separable, round(apart.margin, 9)
    (True, 1.0)

    References
    ----------
    Lecture S2, the perceptron convergence theorem; S4, which problems are linearly separable. P. Gordan (1873): either
    a plane or a combination exists. P. Wolfe, Finding the nearest point in a polytope (1976). J. D. Dixon, Exact
    solution of linear equations using p-adic expansions (1982).

    Cost: three passes over the rows, and one or two for each round of the search, mostly 3 to 20 rounds; then integers
    of some thousand digits on at most D + 2 rows, about a second for D = 100. Where there is no separating plane and
    the proof needs more than 400 rows, it is refused (`Undecided`).
    """
    source, labels = _opened(X, y, sample_weight)
    return decide_separability(source, labels)


def decide_separability(source: Source, labels: NDArray[Any]) -> Separability | ManyClasses:
    """Return whether the classes of a source, whose targets are class indices, can be separated: pairs and jointly."""
    survey = _survey(source, labels)
    present = np.flatnonzero(survey.rows > 0)
    if len(present) == 2:
        return _answer(survey, present.tolist(), labels)
    names = labels.tolist()
    pairs = {}
    for i, j in combinations(present.tolist(), 2):
        pairs[names[i], names[j]] = _answer(survey, [i, j], labels)
    reason = _too_many(survey, present.tolist())
    joint = None if reason else _answer(survey, present.tolist(), labels)
    return ManyClasses(labels[present], pairs, joint, f"not asked: {reason}." if reason else "")


def quasi_separating_weights(
    source: Source, guess: NDArray[np.float64], budget: Budget | None = None
) -> NDArray[np.float64] | None:
    """Return weights (1, 1 + D) proven to separate two classes quasi-completely and no better; None without a proof.

    `guess` (1 + D,) are the weights in raw units of a logistic fit that does not converge. The proof takes a fraction
    of the time of `decide_jointly`, which needs no guess; Undecided is raised where it needs more than the budget.
    """
    survey = Survey.of_extremes(source, 2)
    if not (survey.rows > 0).all():
        return None
    scaling = survey.with_moments().scaling([0, 1])
    contests = Contests(source, [0, 1], 2, scaling, budget)
    found = confirm(contests, scaling.weights_inside(guess))
    if found is None or found.theta is None:
        return None
    return np.array([[float(value) for value in row] for row in _plane(contests, found.theta, rounding=False)])


def decide_jointly(source: Source, labels: NDArray[Any], budget: Budget) -> Separability:
    """Return whether all classes are separable jointly; raise Undecided where that needs more than the budget."""
    survey = _survey(source, labels, Survey.of_extremes)
    present = np.flatnonzero(survey.rows > 0).tolist()
    if len(present) > 2 and (reason := _too_many(survey, present)):
        raise Undecided(f"separability was not asked about: {reason}")
    return _answer(survey.with_moments(), present, labels, budget)


def is_separable(X: RowsLike, y: TargetsLike, work: float) -> bool:
    """Return whether a plane has every row of two classes on its side; raise Undecided where that needs more work."""
    source, labels = _opened(X, y, None)
    return len(labels) < 2 or separating_weights(source, len(labels), work) is not None


def separating_weights(source: Source, n_classes: int, work: float = math.inf) -> NDArray[np.float64] | None:
    """Return weights (K, 1 + D) whose largest output is right on every row, or None where there are none.

    This is `decide_separability` without the kind of overlap, which can take a hundred times as long to find. Undecided
    is raised where it needs more than this work.
    """
    survey = Survey.of(source, n_classes)
    classes = np.flatnonzero(survey.rows > 0).tolist()
    if len(classes) < n_classes:
        raise InvalidData(f"there are rows of {len(classes)} of {n_classes} classes")
    scaling = survey.scaling(classes)
    contests = Contests(source, classes, n_classes, scaling, Budget(work))
    found = won(contests, survey.start(classes, scaling))
    if isinstance(found, Overlap):
        return None
    weights = [[float(value) for value in row] for row in _plane(contests, found, rounding=True)]
    return np.array([[0.0] * len(weights[0]), *weights])


def _survey(source: Source, labels: NDArray[Any], of: Callable[[Source, int], Survey] = Survey.of) -> Survey:
    survey = of(source, len(labels))
    present = np.flatnonzero(survey.rows > 0)
    if len(present) < 2:
        raise too_few_classes("separability", labels[present])
    if len(present) > MOST_DECIDED_CLASSES:
        raise InvalidData(f"separability takes {MOST_DECIDED_CLASSES} classes at most, there are {len(present)}")
    return survey


def _too_many(survey: Survey, present: list[int]) -> str:
    """Return why many classes are not decided jointly, "" where they are."""
    low, high = survey.low[present].min(axis=0), survey.high[present].max(axis=0)
    coordinates = (len(present) - 1) * (1 + int((low < high).sum()))
    contests = (len(present) - 1) * int(survey.rows.sum())
    if coordinates <= MOST_COORDINATES and contests <= MOST_CONTESTS:
        return ""
    return f"{contests} comparisons in {coordinates} coordinates, the limits are {MOST_CONTESTS} and {MOST_COORDINATES}"


def _answer(survey: Survey, classes: list[int], labels: NDArray[Any], budget: Budget | None = None) -> Separability:
    scaling = survey.scaling(classes)
    contests = Contests(survey.source, classes, len(labels), scaling, budget)
    decision = decide(contests, survey.start(classes, scaling))
    kind = "complete" if decision.overlap is None else "quasi" if decision.theta is not None else "none"
    plane, on_plane, margin = None, np.empty(0, dtype=np.int64), 0.0
    coef: Any = None
    intercept: Any = None
    if decision.theta is not None:
        plane = _plane(contests, decision.theta, rounding=kind == "complete")
        every = np.array([[float(value) for value in row] for row in plane])
        coef, intercept = every[:, 1:], every[:, 0]
        if kind == "quasi":
            swept = contests.sweep(contests.direction(plane), 1, zeros=True)
            on_plane = np.unique(swept.zeros[:, 0])
        else:
            margin = _margin(contests, plane)
        if contests.k == 2:
            coef, intercept = coef[0], float(intercept[0])
        else:
            coef = np.concatenate([np.zeros((1, coef.shape[1])), coef])
            intercept = np.concatenate([[0.0], intercept])
    weights = _combination(decision.overlap, contests, labels)
    span = weights if decision.span is decision.overlap else _combination(decision.span, contests, labels)
    return Separability(kind, labels[classes], coef, intercept, plane, margin, weights, span, on_plane, contests)


def _plane(contests: Contests, theta: Whole, rounding: bool) -> Plane:
    """Return the plane in raw columns; rounded to floats if it still separates then."""
    rows = [contests.scaling.to_raw(row) for row in theta.reshape(contests.k - 1, contests.width)]
    largest = max(abs(value) for row in rows for value in row)
    size = Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length())
    plane = tuple(tuple(value / size for value in row) for row in rows)
    even = tuple(tuple(Fraction(float(value)) for value in row) for row in plane)
    if not rounding or even == plane or contests.sweep(contests.direction(even), 1).worst <= 0:
        return plane
    return even


def _margin(contests: Contests, plane: Plane) -> float:
    """Return the smallest distance from the plane; it is exact for the rows that are nearest in floats."""
    theta = [contests.scaling.from_raw(list(row)) for row in plane]
    size = max(abs(value) for row in theta for value in row)
    swept = contests.sweep(whole(value for row in theta for value in row), 4)
    every = np.array([[0.0] * len(plane[0]), *([float(value) for value in row] for row in plane)])
    apart = every[swept.lowest.own, 1:] - every[swept.lowest.rival, 1:]
    largest = np.abs(apart).max(axis=1, keepdims=True)
    gap = largest[:, 0] * np.linalg.norm(apart / largest, axis=1)
    near = np.argsort(swept.height / gap, kind="stable")[:64]
    vectors, power = contests.vectors(swept.lowest.of(near))
    flat = [value for row in theta for value in row]
    found = []
    for vector, k, length in zip(vectors, power.tolist(), gap[near].tolist(), strict=True):
        height = sum((value * int(v) for value, v in zip(flat, vector, strict=True) if v), Fraction(0)) / 2**k
        found.append(float(height / size) / length * float(size))
    return float(min(found))


def _combination(overlap: Overlap | None, contests: Contests, labels: NDArray[Any]) -> Combination | None:
    if overlap is None:
        return None
    shares = [int(share) << int(k) for share, k in zip(overlap.share, overlap.power, strict=True)]
    total = sum(shares)
    order = np.argsort(overlap.chosen.row, kind="stable")
    rivals = None if contests.k == 2 else labels[np.array(contests.classes)[overlap.chosen.rival[order]]]
    return Combination(overlap.chosen.row[order], tuple(Fraction(shares[i], total) for i in order), rivals)


class _SeparabilityInput(System):
    """The estimator that rows are read for, as there is no system."""


_SeparabilityInput.__name__ = "separability"  # as messages call it


def _opened(X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> tuple[Source, Any]:
    """Return rows with the class index of each as target, and the labels."""
    given = open_labelled(_SeparabilityInput(), X, y, sample_weight, reset=True)
    labels = given.all_classes()
    return given.encoded(labels), labels
