"""The contenders at least squares, ourselves included: how each is called, and where it keeps its coefficients.

What a library needs before it can start (a column of ones) is prepared outside the clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Peer:
    """`prepare(X, y, fit_intercept)` returns what the clock runs; `theta` reads its result, intercept first."""

    name: str
    prepare: Callable[[Array, Array, bool], Callable[[], Any]]
    theta: Callable[[Any], Array]


def estimator_theta(model: Any) -> Array:
    """Coefficients of anything with scikit-learn's attributes."""
    coef = np.ravel(model.coef_)
    return np.r_[np.ravel(model.intercept_), coef] if model.fit_intercept else coef


def _ours(X: Array, y: Array, fit_intercept: bool) -> Callable[[], Any]:
    from adaline import LinearRegression

    return lambda: LinearRegression(fit_intercept=fit_intercept).fit(X, y)


def _ours_with_summary(X: Array, y: Array, fit_intercept: bool) -> Callable[[], Any]:
    from adaline import LinearRegression

    def run() -> Any:
        model = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
        model.summary().to_dict()
        return model

    return run


def _intelex(X: Array, y: Array, fit_intercept: bool) -> Callable[[], Any]:
    from sklearnex.linear_model import LinearRegression

    return lambda: LinearRegression(fit_intercept=fit_intercept).fit(X, y)


def _scikit_learn(X: Array, y: Array, fit_intercept: bool) -> Callable[[], Any]:
    from sklearn.linear_model import LinearRegression

    return lambda: LinearRegression(fit_intercept=fit_intercept).fit(X, y)


def _glum(X: Array, y: Array, fit_intercept: bool) -> Callable[[], Any]:
    from glum import GeneralizedLinearRegressor

    return lambda: GeneralizedLinearRegressor(family="normal", alpha=0, fit_intercept=fit_intercept).fit(X, y)


def _statsmodels(X: Array, y: Array, fit_intercept: bool) -> Callable[[], Any]:
    from statsmodels.api import OLS

    design = _design(X, fit_intercept)

    def run() -> Any:
        fit = OLS(y, design).fit()
        return fit.params, fit.bse

    return run


def _lstsq(X: Array, y: Array, fit_intercept: bool) -> Callable[[], Any]:
    design = _design(X, fit_intercept)
    return lambda: np.linalg.lstsq(design, y, rcond=None)


def _design(X: Array, fit_intercept: bool) -> Array:
    return np.column_stack([np.ones(len(X), X.dtype), X]) if fit_intercept else X


OURS = Peer("adaline", _ours, estimator_theta)
OURS_WITH_SUMMARY = Peer("adaline, standard errors", _ours_with_summary, estimator_theta)
INTELEX = Peer("scikit-learn-intelex", _intelex, estimator_theta)
SCIKIT_LEARN = Peer("scikit-learn", _scikit_learn, estimator_theta)
STATSMODELS = Peer("statsmodels, standard errors", _statsmodels, lambda result: np.asarray(result[0]))
GLUM = Peer("glum", _glum, estimator_theta)
LSTSQ = Peer("numpy.linalg.lstsq", _lstsq, lambda result: np.asarray(result[0]))

PEERS = (INTELEX, SCIKIT_LEARN, STATSMODELS, GLUM, LSTSQ)
"""Everybody but ourselves."""


def opponent(peer: Peer) -> Peer:
    """Who of us a peer is compared with: one that computes standard errors, with ours that does."""
    return OURS_WITH_SUMMARY if peer is STATSMODELS else OURS
