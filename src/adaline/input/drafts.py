"""Models are changed by one thread at a time, and all at once: learning methods work on a draft, others on a snapshot.

A learning method holds the lock of the model and works on a draft, a new object with the model's parameters and state;
at the end the model takes over the state of the draft by one assignment. If the method raises, the model is unchanged.
A reading method takes parameters and state once, at its beginning, without the lock: it sees the model before or after
the change, and need not wait. Only `learn_one` changes the state in place, by calls that other threads cannot
interrupt.
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
from adaline.errors import InvalidData, InvalidParameter, InvalidType, TooLarge
from adaline.fitted import AnyModel
from adaline.input.coded import take_intercept
from adaline.input.columns import SHOWN_NAMES
from adaline.input.fitted_rows import FittedRows
from adaline.input.system import System, columns_on, refuse_foreign_state
from adaline.locks import lock_of
from adaline.results import Status, out_of_range

Method = TypeVar("Method", bound=Callable[..., Any])
M = TypeVar("M")

REFUSED = ("coef", "intercept", "covariance", "covariances", "cluster_centers")
"""Fields of states that hold what is learned; a model of which any is not finite is of no use."""
MEANT = ("prior_variance", "criterion", "thresholds")
"""Numbers beside it whose infinity has a meaning: no prior; classes without spread within; a class without rows."""
JUDGED = frozenset((*REFUSED, *MEANT))
NUMBERS = frozenset((float, np.ndarray, list, dict))
"""Types of fields in which there may be numbers that overflow."""


def transaction(method: Method) -> Method:
    """Let a method that learns from all rows afresh work on a draft, alone: it replaces the state, and nothing else."""
    return _on_draft(method, snapshot)


def continuation(method: Method) -> Method:
    """Let a method that continues from what was learned work on a draft, alone: it replaces the state, nothing else."""
    return _on_draft(method, continued)


def _on_draft(method: Method, draft_of: Callable[[Any], Any]) -> Method:
    """Return a learning method that works on a draft of its model, alone.

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
            draft = draft_of(self)
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


def continued(model: M) -> M:
    """Return a model as it is now, to learn more or to be merged; its formula decided whether it has a constant."""
    out: Any = snapshot(model)
    if out._state is not None:
        refuse_given(out)
        take_intercept(out, columns_on(out).coding)
    return cast("M", out)


def refuse_given(model: AnyModel) -> None:
    """Refuse to continue from weights that were learned elsewhere, of whose rows nothing is known."""
    if getattr(getattr(model._state, "certificate", None), "status", None) is Status.GIVEN:
        raise InvalidParameter(
            f"the weights of this {type(model).__name__} were learned by another library, and nothing is known of "
            "their rows: fit to all rows"
        )


def _judge(model: Any) -> None:
    """Refuse what was learned where it overflows; let the certificate say it of numbers beside that."""
    if model._state is None:
        return
    learned = model._state.by_name()
    _refuse_overflow(learned)
    proof = learned.get("certificate")
    if proof is not None and proof.status is Status.SOLVED and _overflows_beside(learned):
        model._state = replace(model._state, certificate=out_of_range(proof))


def _refuse_overflow(learned: dict[str, Any]) -> None:
    """Raise where numbers that were learned are not finite."""
    for name in REFUSED:
        values = learned.get(name)
        if values is None or (name == "intercept" and learned.get("classes") is not None):
            continue  # that of a class without rows is not finite
        kind = type(values)
        on_device = kind is not np.ndarray and is_device(values)
        if not (math.isfinite(values) if kind is float else on_device or all_finite(values)):
            raise InvalidData(
                f"{name}_ overflows float64: columns, targets or weights are too large or too small. Rescale them."
            )


def _overflows_beside(learned: dict[str, Any]) -> bool:
    """Whether a number beside what is learned is infinite."""
    return any(type(value) in NUMBERS and name not in JUDGED and _infinite(value) for name, value in learned.items())


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
