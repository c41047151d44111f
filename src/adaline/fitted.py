"""What a model is and has, asked of any model: whether it was fitted, to how many rows, and what it can answer."""

from __future__ import annotations

from typing import Any

from adaline.attributes import own_attributes
from adaline.lazy import sklearn

AnyModel = Any
"""A fitted system, or a fitted estimator of scikit-learn, with the attributes that its fit sets."""
AnySystem = Any
"""A system, or an estimator of scikit-learn, whether fitted or not."""


def check_is_fitted(model: AnyModel, attribute: str | None = None) -> None:
    """Raise NotFittedError, adaline's and scikit-learn's in one, where a model lacks what fit sets.

    Where nothing is at hand that only `fit` sets, scikit-learn decides: some of its own models need no fit.
    """
    if not isinstance(model, type) and _has_learned(model, attribute):
        return
    from adaline.errors import NotFittedError, of_both

    try:
        sklearn.utils.validation.check_is_fitted(model, attribute)
    except sklearn.utils.validation.NotFittedError as error:
        raise of_both(NotFittedError)(str(error)) from None


def has_learned(model: object) -> bool:
    """Whether a model has an attribute that `fit` sets: one whose name ends with an underscore."""
    return any(name[-1] == "_" and name[:2] != "__" for name in own_attributes(model))


def has_classes(model: AnyModel) -> bool:
    """Whether a model predicts classes: a classifier that is fitted, or knows its classes beforehand."""
    return hasattr(model, "classes_")


def gives_probabilities(model: AnyModel) -> bool:
    """Whether a model, or a class of models, has probabilities of classes; for some that depends on their settings."""
    return hasattr(model, "predict_proba")


def is_linear(model: AnyModel) -> bool:
    """Whether a fitted model is linear in its columns; quadratic discriminants, and sums of curves, are not."""
    return hasattr(model, "coef_") and not hasattr(model, "terms_")


def has_summary(model: AnyModel) -> bool:
    """Whether a model has a table of coefficients with standard errors."""
    return hasattr(model, "summary")


def has_enclosure(model: AnyModel) -> bool:
    """Whether a model can prove bounds on its exact coefficients."""
    return hasattr(model, "enclose")


def has_absorbed(model: AnyModel) -> bool:
    """Whether effects of levels were absorbed in the fit of a model."""
    return hasattr(model, "absorbed_")


def sums_folds(system: AnySystem) -> bool:
    """Whether a system is fitted to all folds of a cross-validation by the sums of each."""
    return hasattr(system, "_sum_folds")


def can_fit(system: AnySystem) -> bool:
    """Whether something is a system or an estimator, and no result or curve."""
    return hasattr(system, "fit")


def can_transform(step: AnySystem) -> bool:
    """Whether an estimator transforms rows."""
    return hasattr(step, "transform")


def can_predict(model: AnyModel) -> bool:
    """Whether a model predicts; for some that depends on their settings."""
    return hasattr(model, "predict")


def can_continue(model: AnyModel) -> bool:
    """Whether a fitted model can learn from more rows."""
    return hasattr(model, "partial_fit")


def learns_by_row(model: AnyModel) -> bool:
    """Whether a model can learn from one row at a time, in their order."""
    return hasattr(model, "learn_one")


def gives_decisions(model: AnyModel) -> bool:
    """Whether a model, or a class of models, has decision values of classes."""
    return hasattr(model, "decision_function")


def has_certificate(model: AnyModel) -> bool:
    """Whether a model is a fitted system of this package."""
    return hasattr(model, "certificate_")


def uses_basis(model: AnyModel) -> bool:
    """Whether a fitted model works on functions of its columns."""
    return hasattr(model, "basis_")


def has_progressive_loss(model: AnyModel) -> bool:
    """Whether a model was judged on each row before it learned from that."""
    return hasattr(model, "progressive_loss_")


def is_ordinal(model: AnyModel) -> bool:
    """Whether a fitted model has thresholds between ordered classes."""
    return hasattr(model, "thresholds_")


def rows_of(model: AnyModel) -> int | None:
    """Return how many rows a model was fitted to; None where it keeps no sums."""
    if hasattr(model, "rows_seen_"):  # it goes from row to row, and keeps no sums
        return int(model.rows_seen_)
    sums = model._recording.total if hasattr(model, "_recording") else getattr(model, "_sums", None)
    return None if sums is None else int(sums.rows)


def _has_learned(model: AnyModel, attribute: str | None) -> bool:
    if attribute is not None:
        return hasattr(model, attribute)
    said = getattr(model, "__sklearn_is_fitted__", None)
    return has_learned(model) if said is None else bool(said())
