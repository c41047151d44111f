"""What a target of numbers looks like: two classes, counts, or positive amounts with a long tail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

SKEW = 1.0  # skewness of an exponential target is 2, of a symmetric one 0
DISTINCT = 20  # different values from which a skewness says something


class Skewness(NamedTuple):
    """Skewness of a target and of its logarithm."""

    raw: float
    log: float


def is_two_valued(y: NDArray[Any]) -> bool:
    """Whether a target holds exactly two different whole numbers, which then are classes.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.faces.targets import is_two_valued
    >>> is_two_valued(np.array([0.0, 1.0, 1.0])), is_two_valued(np.array([0.5, 1.0, 1.0]))
    (True, False)
    """
    if not len(y) or not np.isfinite(y).all():
        return False
    low, high = y.min(), y.max()
    return bool(low < high and low == np.floor(low) and high == np.floor(high) and ((y == low) | (y == high)).all())


def is_count(y: NDArray[Any]) -> bool:
    """Whether a target holds counts: whole numbers, none negative, more than two different ones."""
    return bool(y.min() >= 0 and (y == np.floor(y)).all() and not is_two_valued(y))


def skewness(y: NDArray[Any]) -> Skewness | None:
    """Return the skewness of a positive target with a long upper tail that a logarithm shortens; None for others."""
    if not y.min() > 0 or len(np.unique(y)) <= DISTINCT:
        return None
    found = Skewness(float(stats.skew(y)), float(stats.skew(np.log(y))))
    return found if found.raw > SKEW and abs(found.log) < found.raw / 2 else None


LOSSES: dict[Any, Callable[[NDArray[Any]], bool]] = {
    "poisson": is_count,
    "gamma": lambda y: skewness(y) is not None,
}
"""Losses that are compared where the target suits them."""


def suits(settings: dict[str, Any], y: NDArray[Any]) -> bool:
    """Whether a target is one that the loss among the settings of a system is meant for.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.faces.targets import suits
    >>> suits({"loss": "poisson"}, np.array([0.0, 3.0, 1.0])), suits({"loss": "poisson"}, np.array([0.5, 3.0, 1.0]))
    (True, False)
    """
    meant = LOSSES.get(settings.get("loss"))
    return meant is None or meant(y)
