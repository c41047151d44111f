"""A method that either succeeds, with weights that are finite, or leaves the model as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from adaline.arrays import is_device
from adaline.errors import InvalidData

Method = TypeVar("Method", bound=Callable[..., Any])


def transaction(method: Method) -> Method:
    """Restore the attributes of an object where its method raises; the method may replace them, not change them.

    What overflows or vanishes on the way is no matter for a warning of NumPy: sums and certificates judge it, and
    weights that are not finite are refused.
    """

    @wraps(method)
    def restoring(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        try:
            with np.errstate(all="ignore"):
                out = method(self, *args, **kwargs)
            _refuse_overflow(self)
            return out
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return cast(Method, restoring)


def _refuse_overflow(system: Any) -> None:
    """Raise where numbers that were learned are not finite."""
    for name in ("coef_", "intercept_", "covariances_", "cluster_centers_"):
        values = system.__dict__.get(name)
        if name == "intercept_" and "classes_" in system.__dict__:
            continue  # that of a class without rows is infinite
        if values is not None and not is_device(values) and not np.isfinite(values).all():
            raise InvalidData(
                f"{name} overflows float64: columns, targets or weights are too large or too small. Rescale them."
            )
