"""The covariance of the coefficients, held by a root: Cov(w0, w) = A root (A root)', A A' = (X'X + P)^-1.

A comes from the factor of the fit, so that large means and unlike units cost nothing. Classical: root = sigma I;
robust: root root' = G, see `adaline.proof.sandwich`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.errors import SumsMissing
from adaline.proof.sample import Sample
from adaline.solvers.factor import EPS, Factor
from adaline.solvers.fit import Fit

Array = NDArray[np.float64]

DEPENDENT = 1e-13  # a direction this much shorter than the others is one that rounding made


@dataclass(frozen=True)
class Covariance:
    """Cov of target k: root (m, s), degrees of freedom of F tests, what the errors are called.

    `normal`: whether single coefficients are judged by the normal distribution instead of Student's t.
    """

    fit: Fit
    k: int
    root: Array
    freedom: float
    errors: str = "classical"

    @property
    def normal(self) -> bool:
        """Whether z, not t, judges single coefficients: so for all robust errors."""
        return self.errors != "classical"

    def along(self, contrasts: Array) -> Array:
        """Return rows b, (q, s), with b b' = C Cov C' for the rows of C (q, 1 + D), intercept first."""
        return np.asarray(coordinates(self.fit, contrasts) @ self.root)

    def std_errors(self) -> Array:
        """Return the standard errors of (w0, w), NaN for an intercept that is not there."""
        frame = factor_of(self.fit).frame
        units = np.concatenate([[0], frame.scale])
        scaled = np.diag(np.exp2(np.clip(units, -1000, 1000)))
        out = np.ldexp(lengths(self.along(scaled)), -np.clip(units, -1000, 1000))
        out[0] = out[0] if frame.intercept else np.nan
        out[1:][~factor_of(self.fit).alive] = np.nan  # left out
        return np.asarray(out)

    def model_f(self) -> float:
        """Return the F statistic of all slopes being zero: NaN if the covariance has too low a rank."""
        factor = factor_of(self.fit)
        slopes = np.ldexp(self.fit.solution.theta[self.k, 1:], factor.frame.scale)
        basis = factor.basis()
        if basis.shape[1] == 0:
            return np.nan
        along: Array = np.linalg.lstsq(basis * factor.length[:, None], slopes * factor.length)[0].astype(np.float64)
        return quadratic(self.root[1:], along) / len(along)


def classical(fit: Fit, k: int, sample: Sample) -> Covariance:
    """Return sigma^2 (X'X + P)^-1."""
    freedom = sample.n - float(fit.trace[k])
    sigma = fit.unit[k] * np.sqrt(fit.squares[k] / freedom) if freedom > 0.5 else np.nan
    return Covariance(fit, k, sigma * np.eye(1 + factor_of(fit).rank), freedom)


def factor_of(fit: Fit) -> Factor:
    """Return the factor of a fit, or say why there is none."""
    if fit.factor is None:
        raise SumsMissing(
            "no standard errors: the solver for wide data keeps no D x D matrix. Use fewer columns than rows."
        )
    return fit.factor


def coordinates(fit: Fit, contrasts: Array) -> Array:
    """Return C A, (q, m): what combinations C theta look like where (X'X + P)^-1 is the identity."""
    factor = factor_of(fit)
    first = contrasts[:, :1]
    constant = first * (factor.frame.intercept / np.sqrt(factor.frame.weight))
    return np.hstack([constant, about_mean(factor, contrasts) @ factor.basis()])


def about_mean(factor: Factor, contrasts: Array) -> Array:
    """Return c - c0 mean in scaled coordinates, (q, D): the slopes' part once w0 is counted at the mean of the rows."""
    hi, lo = factor.frame.scaled_mean()
    first = contrasts[:, :1]
    return np.asarray((np.ldexp(contrasts[:, 1:], -factor.frame.scale) - first * hi) - first * lo)


def offset(fit: Fit) -> Array:
    """Return mean_t - mean'w - w0, (K,): zero at a solution, up to rounding, and then exactly zero."""
    frame = factor_of(fit).frame
    d, theta = frame.features, fit.solution.theta
    w, mean, mean_t = theta[:, 1:], frame.mean_hi[:d], frame.mean_hi[d:]
    off = mean_t - w @ mean - theta[:, 0]
    size = np.abs(mean_t) + np.abs(w) @ np.abs(mean) + np.abs(theta[:, 0])
    return np.asarray(np.where(np.abs(off) <= 16 * EPS * size, 0.0, off))


def estimates(fit: Fit, k: int, contrasts: Array) -> Array:
    """Return C theta, (q,), from raw coefficients or about the mean, whichever cancels less."""
    factor = factor_of(fit)
    frame, theta = factor.frame, fit.solution.theta[k]
    centre = frame.mean_hi[frame.features + k] - offset(fit)[k]
    about = np.column_stack(
        [contrasts[:, :1] * centre, about_mean(factor, contrasts) * np.ldexp(theta[1:], frame.scale)]
    )
    raw = contrasts * theta
    less = np.abs(raw).sum(axis=1) <= np.abs(about).sum(axis=1)
    return np.asarray(np.where(less, raw.sum(axis=1), about.sum(axis=1)))


def lengths(rows: Array) -> Array:
    """Return the norms of rows of any magnitude."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    return np.asarray(unit * np.linalg.norm(rows / unit[:, None], axis=1))


def quadratic(root: Array, difference: Array) -> float:
    """Return d'(root root')^-1 d, or NaN where root has dependent rows."""
    length = lengths(root)
    if not (length > 0).all() or root.shape[0] > root.shape[1]:
        return np.nan
    u, s, _ = np.linalg.svd(root / length[:, None], full_matrices=False)
    if not s[-1] > DEPENDENT * s[0]:
        return np.nan
    return float((((difference / length) @ u / s) ** 2).sum())
