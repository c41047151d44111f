"""Errors on new rows by a formula, from one fit, where predictions are linear in the targets: leave-one-out and GCV.

    leave-one-out: sum w L(r / (1 - h)) / W,     GCV = W RSS / (W - trace of the hat matrix)^2

h are the leverages, the diagonal of the hat matrix, W the sum of the weights w. The columns are fixed: a basis or
`standardize` that learns from X learns from all rows.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from adaline.arrays import Array, RowsLike, TargetsLike, WeightsLike, host
from adaline.construction import check_parameters
from adaline.errors import InvalidParameter
from adaline.estimator import clone
from adaline.fitted import AnySystem
from adaline.inference.influence import LeaveOneOutResult, left_out_residuals
from adaline.input.labels import encode_labels, read_labels
from adaline.selection.cross_validation import CandidateErrors, Trial, fit, freedom_of, with_trial
from adaline.selection.measures import ErrorRate, InformationCriterion, Measure, Residuals
from adaline.sources import Source
from adaline.systems.families.linear_system import LinearSystem
from adaline.systems.least_squares_classifier import LeastSquaresClassifier
from adaline.systems.linear_regression import LinearRegression
from adaline.systems.ridge import Ridge


def why_not(system: AnySystem, X: RowsLike, measure: Measure, method: str) -> str:
    """Return why there is no formula of a method for a system, "" where there is one."""
    name = type(system).__name__
    if isinstance(system, LinearRegression) and system.solver == "gradient":
        return "gradient descent stops where it stops"
    if isinstance(system, Ridge | LeastSquaresClassifier) and isinstance(system.penalty, str):
        return "penalty='auto' is found again from the targets of every fit: give numbers"
    if isinstance(system, LeastSquaresClassifier) and method == "loo":
        if isinstance(X, Source):
            return "labels of a source are not held in memory"
        if system.coding == "fisher":
            return "coding='fisher' depends on the number of rows of each class"
        return "" if isinstance(measure, ErrorRate) else f"{measure.name} is not the error rate"
    if not isinstance(system, LinearRegression | Ridge):
        return f"{name} is not linear in the targets"
    if not isinstance(measure, Residuals) or (method == "gcv" and measure.kind != "mean_squared_error"):
        return f"{measure.name} is not a function of the residuals, as the formula needs"
    return ""


def by_formula(
    method: str, system: AnySystem, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, measure: Measure
) -> CandidateErrors:
    """Return the errors of a system by method "loo", "gcv", or by a criterion of the fit to all rows."""

    def errors() -> CandidateErrors:
        if method == "loo":
            return leave_one_out(system, X, y, sample_weight, measure)
        if method == "gcv":
            return generalised(system, X, y, sample_weight)
        assert isinstance(measure, InformationCriterion)
        return CandidateErrors(error=measure.value(fit(system, X, y, sample_weight), X, sample_weight))

    start, trial = perf_counter(), Trial()
    return with_trial(trial, trial.attempt(errors), start)


def leave_one_out(
    system: AnySystem, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, measure: Measure
) -> CandidateErrors:
    """Return the exact leave-one-out error, from one fit and one pass."""
    if isinstance(system, LeastSquaresClassifier):
        return _wrong_labels(system, X, y, sample_weight)
    assert isinstance(measure, Residuals)
    model = clone(system).fit(X, y, sample_weight)
    rows = _left_out(model, X, y, sample_weight)
    error, std_error = _mean_over_rows(measure.of(rows.left_out), rows.weight, model._sample().n)
    training = float(np.average(measure.of(rows.residual), weights=rows.weight))
    return CandidateErrors(training, error, std_error, freedom_of(model))


def generalised(system: AnySystem, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> CandidateErrors:
    """Return the generalised cross-validation error, from one fit alone."""
    model = clone(system).fit(X, y, sample_weight)
    n = model._sample().n
    rss = np.concatenate([one.rss for one in model._fits])
    rest = n - np.concatenate([one.trace for one in model._fits])
    if (rest <= 0.5).any():
        raise InvalidParameter(f"{n:g} observations leave nothing to judge {freedom_of(model):g} parameters by")
    return CandidateErrors(float((rss / n).mean()), float((n * rss / rest**2).mean()), np.nan, freedom_of(model))


def _mean_over_rows(losses: Array, weight: Array, n: float) -> tuple[float, float]:
    """Return the mean loss over rows (N,) and its standard error, for n observations."""
    share = weight / weight.sum()
    mean = share @ losses
    square = share @ (losses - mean) ** 2 / (n - 1) if n > 1 else np.nan
    return float(mean), float(np.sqrt(square))


def _left_out(model: LinearSystem, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> LeaveOneOutResult:
    sources = model._sources(X, y, sample_weight)
    parts = [left_out_residuals(fit, rows, model._sample()) for fit, rows in zip(model._fits, sources, strict=True)]
    residual, without = (np.concatenate([part[i] for part in parts], axis=1) for i in (0, 1))
    return LeaveOneOutResult(residual, without, parts[0].weight)


def _wrong_labels(
    system: LeastSquaresClassifier, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike
) -> CandidateErrors:
    """Return the share of rows that get a wrong label from the machines fitted without them."""
    check_parameters(system)
    classes, codes = encode_labels(read_labels(y), None)
    code = system._targets(np.ones(len(classes)))
    codes = host(codes).astype(np.intp)
    targets = code[codes]
    options = {name: clone(getattr(system, name), safe=False) for name in ("penalty", "fit_intercept", "basis")}
    model = Ridge(**options)
    rows = _left_out(model.fit(X, targets, sample_weight), X, targets, sample_weight)

    def wrong(residual: Array) -> Array:
        outputs = targets - residual
        if len(classes) > 2:
            return np.asarray(outputs.argmax(axis=1) != codes, dtype=np.float64)
        margin = outputs[:, -1] - (outputs[:, 0] if outputs.shape[1] == 2 else 0.0)
        return np.asarray((margin > system.threshold) != (codes == 1), dtype=np.float64)

    error, std_error = _mean_over_rows(wrong(rows.left_out), rows.weight, model._sample().n)
    training = float(np.average(wrong(rows.residual), weights=rows.weight))
    return CandidateErrors(training, error, std_error, freedom_of(model))
