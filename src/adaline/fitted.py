"""Whether a model was fitted."""

from __future__ import annotations

from typing import Any

from sklearn.utils import validation

from adaline.errors import NotFittedError


def check_is_fitted(model: Any, attribute: str | None = None) -> None:
    """Raise NotFittedError, adaline's and scikit-learn's in one, where a model lacks what fit sets."""
    try:
        validation.check_is_fitted(model, attribute)
    except validation.NotFittedError as error:
        raise NotFittedError(str(error)) from None
