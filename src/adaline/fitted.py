"""Whether a model was fitted."""

from __future__ import annotations

from typing import Any


def check_is_fitted(model: Any, attribute: str | None = None) -> None:
    """Raise NotFittedError, adaline's and scikit-learn's in one, where a model lacks what fit sets.

    Where nothing is at hand that only `fit` sets, scikit-learn decides: some of its own models need no fit.
    """
    if not isinstance(model, type) and _has_learned(model, attribute):
        return
    from sklearn.utils import validation  # slow to import

    from adaline.errors import NotFittedError

    try:
        validation.check_is_fitted(model, attribute)
    except validation.NotFittedError as error:
        raise NotFittedError(str(error)) from None


def _has_learned(model: Any, attribute: str | None) -> bool:
    if attribute is not None:
        return hasattr(model, attribute)
    if hasattr(model, "__sklearn_is_fitted__"):
        return False
    return any(name[-1] == "_" and name[:2] != "__" for name in vars(model))
