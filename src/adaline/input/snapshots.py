"""Methods that read a model see one state of it; those with a value for each row take a table on a cluster too."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import getattr_static, isfunction
from typing import Any

import numpy as np

from adaline.estimator import available_if
from adaline.input.blockwise import column_of
from adaline.input.drafts import snapshot

LEARNING = ("partial_fit", "learn_one", "predict_one", "merge", "forget", "filter", "reset", "get_params")
"""Public methods that change a model, or choose what they see of it, beside those called fit... and set_..."""


OF_ROWS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "score_samples")
"""Methods that return a value for each row: of a table on a cluster, as a column there."""


def read_snapshots(system: type[Any]) -> None:
    """Let all public methods and properties of a class that read a model see a snapshot of it.

    Outputs that overflow are refused where they are made, without a warning of NumPy beside it.
    """
    for name in dir(system):
        found = getattr_static(system, name)
        check = getattr(found, "check", None)  # of a method that is there for some settings only
        reads = found.fget if isinstance(found, property) else found if check is None else found.fn
        if (
            name.startswith(("_", "fit", "set_"))
            or name in LEARNING
            or not isfunction(reads)
            or hasattr(reads, "on_snapshot")
        ):
            continue
        if reads.__module__.partition(".")[0] == "adaline":
            wrap = (
                property if isinstance(found, property) else (lambda one: one) if check is None else available_if(check)
            )
            setattr(system, name, wrap(_on_snapshot(reads)))


def _on_snapshot(method: Callable[..., Any]) -> Callable[..., Any]:
    quietly = np.errstate(all="ignore")(method)
    of_rows = method.__name__ in OF_ROWS

    @wraps(method)
    def reading(self: Any, *args: Any, **kwargs: Any) -> Any:
        self = snapshot(self)
        if of_rows and not (args and isinstance(args[0], np.ndarray)):
            column = column_of(self, method.__name__, args, kwargs)
            if column is not None:
                return column
        return quietly(self, *args, **kwargs)

    reading.on_snapshot = True  # type: ignore[attr-defined]
    return reading
