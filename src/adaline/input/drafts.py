"""One thread at a time changes a model, and all of it at once: what learns works on a draft, what reads on a snapshot.

A learning method works on a draft, a new object with the parameters and the state of the model, while it holds the
lock of the model; at its end the model takes over the state of the draft, by one assignment. Where it raises, the model
is as it was. A reading method takes parameters and state once, at its beginning, and no lock: it sees the model before
or after, and need not wait. Only `learn_one` changes what it finds in place, by calls that no other thread can come
between.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

import numpy as np

from adaline.arrays import all_finite, is_device
from adaline.attributes import give_attributes, own_attributes
from adaline.errors import InvalidData, InvalidType, TooLarge
from adaline.input.coded import take_intercept
from adaline.input.columns import SHOWN_NAMES
from adaline.input.fitted_rows import FittedRows
from adaline.input.system import System, columns_on, refuse_foreign_state
from adaline.locks import lock_of
from adaline.results import Status, out_of_range
from adaline.state import shown_fields

Method = TypeVar("Method", bound=Callable[..., Any])
M = TypeVar("M")

REFUSED = ("coef_", "intercept_", "covariance_", "covariances_", "cluster_centers_")
"""What is learned; a model of which any is not finite is of no use."""
MEANT = ("prior_variance_", "criterion_", "thresholds_")
"""Numbers beside it whose infinity has a meaning: no prior; classes without spread within; a class without rows."""
JUDGED = frozenset((*REFUSED, *MEANT))
NUMBERS = frozenset((float, np.ndarray, list, dict))
"""Types of attributes in which there may be numbers that overflow."""


def transaction(method: Method) -> Method:
    """Let a learning method work on a draft, alone; it may replace the state, and change nothing else.

    What overflows or vanishes on the way is no matter for a warning of NumPy: sums and certificates judge it, and
    weights that are not finite are refused; where other numbers overflow, the certificate says so.
    """
    quietly = np.errstate(all="ignore")(method)
    names = tuple(signature(method).parameters)[1:]

    @wraps(method)
    def learning(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(self, System):
            called = f"{method.__name__}(X, y)"
            raise InvalidType(f"call {method.__name__} on a model, not on its class: LinearRegression().{called}")
        with lock_of(self):
            refuse_foreign_state(self)
            draft = snapshot(self) if method.__name__ == "fit" else goes_on(self)
            try:
                found = quietly(draft, *args, **kwargs)
            except TooLarge:
                raise
            except MemoryError as error:
                what = str(error) or "an allocation failed"
                raise TooLarge(f"{type(self).__name__}: {what}. Use fewer columns, or fewer classes.") from None
            _judge(draft)
            inside = SHOWN_NAMES.get() is not None  # another system, whose fit keeps the rows
            if method.__name__ == "fit" and draft._state is not None and not inside:
                given = FittedRows({**dict(zip(names, args, strict=False)), **kwargs})
                draft._state = replace(draft._state, rows=given)
            elif draft._state is not None and draft._state is not self._state and draft._state.rows is not None:
                draft._state = replace(draft._state, rows=None)
            self._state = draft._state
        return self if found is draft else found

    return cast("Method", learning)


def snapshot(model: M) -> M:
    """Return the model as it is now; what other threads learn meanwhile does not change it."""
    out = object.__new__(type(model))
    give_attributes(out, own_attributes(model))
    return out


def goes_on(model: M) -> M:
    """Return a model as it is now, to learn more or to be merged; its formula decided whether it has a constant."""
    out: Any = snapshot(model)
    if out._state is not None:
        take_intercept(out, columns_on(out).coding)
    return cast("M", out)


def _judge(model: Any) -> None:
    """Refuse what was learned where it overflows; let the certificate say it of numbers beside that."""
    if model._state is None:
        return
    attributes = shown_fields(model)
    _refuse_overflow(attributes)
    proof = attributes.get("certificate_")
    if proof is not None and proof.status is Status.SOLVED and _overflows_beside(attributes):
        model.certificate_ = out_of_range(proof)


def _refuse_overflow(attributes: dict[str, Any]) -> None:
    """Raise where numbers that were learned are not finite."""
    for name in REFUSED:
        values = attributes.get(name)
        if values is None or (name == "intercept_" and attributes.get("classes_") is not None):
            continue  # that of a class without rows is not finite
        kind = type(values)
        on_device = kind is not np.ndarray and is_device(values)
        if not (math.isfinite(values) if kind is float else on_device or all_finite(values)):
            raise InvalidData(
                f"{name} overflows float64: columns, targets or weights are too large or too small. Rescale them."
            )


def _overflows_beside(attributes: dict[str, Any]) -> bool:
    """Whether a public number beside what is learned is infinite."""
    for name, value in attributes.items():
        if type(value) in NUMBERS and name[-1] == "_" and name not in JUDGED and _infinite(value):
            return True
    return False


def _infinite(value: Any) -> bool:
    """Whether a number is infinite, or one in an array, a list or a dictionary."""
    kind = type(value)
    if kind is float:
        return math.isinf(value)
    if kind is np.ndarray:
        return value.dtype.kind == "f" and bool(np.isinf(value).any())
    if kind is list or kind is dict:
        return any(map(_infinite, value if kind is list else value.values()))
    return False
