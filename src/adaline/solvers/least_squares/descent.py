"""Batch gradient descent on the squared error (S0 section 5.3): w(t+1) = w(t) + eta sum_n e(n, t) x(n).

The sum over rows is a linear function of w, sum e x = c - A w with A = X'X and c = X't about the ones column, so the
textbook rule runs on the sums: one pass over the rows, whatever the number of steps. `rate` is eta as a number, a
vector (diagonal) or a positive definite matrix acting on (w0, w) in raw units. "auto" takes the matrix that
standardises the columns, over the largest eigenvalue of their curvature: it converges in any units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter
from adaline.penalties import no_penalty
from adaline.results import Solution, Status
from adaline.solvers.least_squares.direct import solve_sums
from adaline.solvers.least_squares.factor import ColumnScaling, Factor, SpectralFactor
from adaline.solvers.least_squares.fit import Fit, digits
from adaline.sums import Moments

DIVERGED = 1e6  # error, relative to the first, from which steps have diverged; 10x larger reports it later


@dataclass(frozen=True)
class Quadratic:
    """E(v) = (total - 2 v.c + v'A v) / 2, coordinates v; `unit` (p,) turns gradients into standardised ones."""

    a: Array
    c: Array
    total: float
    unit: Array

    @property
    def finite(self) -> bool:
        """Whether no number of it overflowed."""
        return bool(np.isfinite(self.a).all() and np.isfinite(self.c).all() and np.isfinite(self.total))

    def gradient(self, v: Array) -> Array:
        """Return -dE/dv = c - A v."""
        return np.asarray(self.c - self.a @ v)

    def error(self, v: Array, gradient: Array) -> float:
        """Return E(v), given the gradient there."""
        return float(0.5 * (self.total - v @ (self.c + gradient)))


@dataclass(frozen=True)
class DescentPath:
    """Where a descent ended, and the error after each step."""

    v: Array
    history: list[float]
    status: Status


@dataclass(frozen=True)
class DescentOptions:
    """How to descend: rate, start (None: zero), and when to stop."""

    rate: Any
    init: Any
    tol: float
    stop_error: float | None
    epochs: int


def solve_by_descent(
    moments: Moments, intercept: bool, options: DescentOptions
) -> tuple[Fit, list[list[float]], float]:
    """Descend for each target; also return the errors along the way, and the rate above which a number diverges."""
    d, targets = moments.shape
    exact = solve_sums(moments, intercept, no_penalty(d))
    factor = exact.factor
    assert factor is not None
    with np.errstate(over="ignore", invalid="ignore"):
        quadratics = [raw_quadratic(factor.scaling, moments.second, k) for k in range(targets)]
    automatic = isinstance(options.rate, str) and options.rate == "auto"
    rate = np.asarray(0.0) if automatic else read_rate(options.rate, 1 + d)
    start = read_init(options.init, targets, 1 + d)
    start[:, 0] *= intercept
    if not automatic and not all(quadratic.finite for quadratic in quadratics):
        raise InvalidData(
            "the squares of the columns or targets overflow float64, and a rate acts on them in their own units: "
            "leave rate='auto', or rescale the columns and targets"
        )
    paths = [
        _descend_standardised(factor, moments, k, start[k], options)
        if automatic
        else descend_quadratic(quadratics[k], start[k], rate, options)
        for k in range(targets)
    ]
    curvature = float(np.linalg.eigvalsh(quadratics[0].a)[-1]) if quadratics[0].finite else np.inf
    bound = 2.0 / max(curvature, np.finfo(float).tiny)
    return _certify(exact, moments, factor, paths), [path.history for path in paths], bound


def raw_quadratic(scaling: ColumnScaling, second: Array, k: int) -> Quadratic:
    """Return the error of target k in raw coordinates (w0, w); without intercept the row and column of w0 are zero."""
    d, weight = scaling.features, scaling.weight * scaling.intercept
    scale, unit = np.exp2(scaling.exponent), np.exp2(scaling.exponent[scaling.features + k])
    s = second[:d, :d] * np.outer(scale[:d], scale[:d])
    mean, mean_t = scaling.mean_hi[:d], scaling.mean_hi[d + k]
    a = np.empty((1 + d, 1 + d))
    a[0, 0], a[0, 1:], a[1:, 0] = weight, weight * mean, weight * mean
    a[1:, 1:] = s + weight * np.outer(mean, mean)
    cross = second[d + k, :d] * scale[:d] * unit
    c = np.concatenate([[weight * mean_t], cross + weight * mean_t * mean])
    total = second[d + k, d + k] * unit**2 + weight * mean_t**2
    return Quadratic(a, c, float(total), 1.0 / np.sqrt(np.maximum(a.diagonal(), np.finfo(float).tiny)))


def descend_quadratic(quadratic: Quadratic, start: Array, rate: Array, options: DescentOptions) -> DescentPath:
    """Descend until the error is at most `stop_error`, or every standardised derivative at most tol times its bound.

    At most `epochs` steps. If the error diverges, the best weights so far are returned.
    """
    v = best = start
    gradient = quadratic.gradient(v)
    history = [quadratic.error(v, gradient)]
    lowest = history[0]
    limit = options.tol * np.sqrt(quadratic.total)
    scale = abs(history[0]) + quadratic.total
    for _ in range(options.epochs):
        if np.abs(gradient * quadratic.unit).max() <= limit:
            return DescentPath(v, history, Status.SOLVED)
        if options.stop_error is not None and history[-1] <= options.stop_error:
            return DescentPath(v, history, Status.SOLVED)
        with np.errstate(over="ignore", invalid="ignore"):
            v = v + (rate @ gradient if rate.ndim == 2 else rate * gradient)
            gradient = quadratic.gradient(v)
            history.append(quadratic.error(v, gradient))
        if not history[-1] <= DIVERGED * scale:
            return DescentPath(best, history[:-1], Status.DIVERGED)
        if history[-1] <= lowest:
            lowest, best = history[-1], v
    if history[-1] > history[0]:
        return DescentPath(best, history, Status.DIVERGED)
    return DescentPath(v, history, Status.NOT_CONVERGED)


def _descend_standardised(
    factor: Factor, moments: Moments, k: int, start: Array, options: DescentOptions
) -> DescentPath:
    """Descend on centred columns of length one, at the best intercept: in raw coordinates the rate is a matrix."""
    scaling = factor.scaling
    d = scaling.features
    unit = np.exp2(scaling.exponent[d + k])
    c = moments.second[:d, :d] / np.outer(factor.length, factor.length)
    cross = moments.second[d + k, :d] / factor.length
    quadratic = Quadratic(c, cross, float(moments.second[d + k, d + k]), np.ones(d))
    if options.stop_error is not None:
        options = replace(options, stop_error=float(options.stop_error / unit / unit))
    v = np.ldexp(start[1:], scaling.scale) * factor.length / unit
    path = descend_quadratic(quadratic, v, np.asarray(1.0 / np.linalg.eigvalsh(c)[-1]), options)
    u = path.v / factor.length * factor.alive
    if isinstance(factor, SpectralFactor):
        u = factor.project(u)
    w = np.ldexp(u, -scaling.scale) * unit
    constant = scaling.mean_hi[d + k] - scaling.mean_hi[:d] @ w
    with np.errstate(over="ignore", invalid="ignore"):
        history = (np.array(path.history) * unit * unit).tolist()
    return DescentPath(np.concatenate([[constant], w]), history, path.status)


def _certify(exact: Fit, moments: Moments, factor: Factor, paths: list[DescentPath]) -> Fit:
    """Return the fit with its distance from the minimum: E - E_min = (theta - best)'A (theta - best) / 2."""
    scaling, proof = factor.scaling, exact.solution.certificate
    d = scaling.features
    theta = np.stack([path.v for path in paths])
    off = theta - exact.solution.theta
    slopes = np.ldexp(off[:, 1:], scaling.scale)
    gradient = slopes @ moments.second[:d, :d]
    constant = (off[:, 0] + off[:, 1:] @ scaling.mean_hi[:d]) * scaling.intercept
    gap = 0.5 * ((slopes * gradient).sum(axis=1) + scaling.weight * constant**2)
    status = next((path.status for path in paths if path.status is not Status.SOLVED), proof.status)
    error = np.abs(off) + np.abs(exact.solution.theta) * 10**-proof.digits
    length = np.concatenate([[np.sqrt(scaling.weight)], np.ldexp(factor.length, scaling.scale)])
    certificate = replace(
        proof,
        objective=proof.objective + float(gap.sum()),
        gradient=float(np.abs(gradient / factor.length).max(initial=0.0) * np.sqrt(scaling.weight)),
        gap=proof.gap + float(gap.sum()),
        digits=digits(error, theta, length),
        solver="batch gradient descent on sums",
        status=status,
        advice=status.advice,
    )
    return exact._replace(solution=Solution(theta, certificate), squares=exact.squares + 2 * gap / exact.unit**2)


def read_init(init: Any, targets: int, columns: int) -> Array:
    """Return the start as (K, 1 + D)."""
    if init is None:
        return np.zeros((targets, columns))
    start = np.asarray(init, dtype=np.float64)
    if start.size != targets * columns or not np.isfinite(start).all():
        raise InvalidParameter(
            f"init has shape {start.shape}; it must hold {columns} finite numbers for each target, intercept first"
        )
    return start.reshape(targets, columns).copy()


def read_rate(rate: Any, columns: int) -> Array:
    """Return a rate as a scalar, vector or matrix array; refuse what is not positive (definite)."""
    out = np.asarray(rate, dtype=np.float64)
    if out.ndim > 2 or (out.ndim and out.shape != (columns,) * out.ndim):
        raise InvalidParameter(
            f"rate has shape {out.shape}; with {columns} coefficients, intercept first, it must be a number, "
            f"({columns},) or ({columns}, {columns})"
        )
    if out.ndim < 2:
        good = bool(np.isfinite(out).all() and (out > 0).all())
    else:
        good = bool(np.isfinite(out).all() and np.allclose(out, out.T) and np.linalg.eigvalsh(out)[0] > 0)
    if not good:
        raise InvalidParameter("rate must be positive: a number or vector above zero, or a positive definite matrix")
    return out
