"""Jackknife standard errors: how much an estimate changes when each fold of the rows is left out.

    se^2 = (K - 1) / K  sum_k (theta_k - mean)^2,   theta_k: the estimate without fold k

The interval is theta -+ t se, theta the estimate of all rows, t the quantile of Student's distribution with K - 1
degrees of freedom. J. Shao and C. F. J. Wu, Annals of Statistics 17 (1989), 1176-1197.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from adaline.arrays import Array

LEVEL = 0.95  # coverage of the interval


class JackknifeInterval(NamedTuple):
    """Standard errors, p-values against zero and 95% limits of estimates, each of their shape."""

    std_error: Array
    p_value: Array
    lower: Array
    upper: Array


def jackknife(estimate: Array, without: Sequence[Array]) -> JackknifeInterval:
    """Return the intervals of estimates (...), given those without each of K folds, (...) each; NaN for K < 2.

    NaN too where all folds give the same estimate, as of a level of a category that has all its rows in one fold: that
    says nothing about its error.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.inference.jackknife import jackknife
    >>> round(float(jackknife(np.array(2.0), [np.array(v) for v in (1.0, 2.0, 3.0)]).std_error), 4)
    1.1547
    """
    k = len(without)
    if k < 2 or any(np.shape(one) != np.shape(estimate) for one in without):
        unknown = np.full(np.shape(estimate), np.nan)
        return JackknifeInterval(unknown, unknown, unknown, unknown)
    stacked = np.array(without, dtype=np.float64)
    error = np.sqrt((k - 1) / k * ((stacked - stacked.mean(axis=0)) ** 2).sum(axis=0))
    error = np.where((np.ptp(stacked, axis=0) > 0) & (error > 0), error, np.nan)  # squares may underflow
    reach = float(scipy.special.stdtrit(k - 1, 0.5 + LEVEL / 2)) * error
    p = 2 * scipy.special.stdtr(k - 1, -np.abs(estimate / error))
    return JackknifeInterval(error, p, estimate - reach, estimate + reach)
