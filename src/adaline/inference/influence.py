"""What single rows do to a fit, and what the columns do to each other: one pass, and none.

    h = z'z                                    leverage
    r / (s sqrt(1 - h))                        internally studentised ("standardised") residual
    t = that, with s taken without the row     externally studentised residual
    Cook's D = standardised^2 h / (1 - h) / p  how far all predictions move without the row
    DFFITS = t sqrt(h / (1 - h))               how far the row's own prediction moves
    r / (1 - h)                                residual of the row in the fit to all others (also with a penalty)

R. D. Cook and S. Weisberg, Residuals and Influence in Regression (1982); D. A. Belsley, E. Kuh and R. E. Welsch,
Regression Diagnostics (1980).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from adaline.arrays import Array, host
from adaline.block import Block
from adaline.errors import InvalidData, InvalidParameter
from adaline.inference.covariance import FULL_LEVERAGE, check_squares, check_weight, factor_of, lens
from adaline.inference.sample import Sample
from adaline.solvers.least_squares.factor import Factor
from adaline.solvers.least_squares.fit import Fit
from adaline.sources import Source
from adaline.sums.scores import runs

INVOLVED = 1e-6  # the share of a column beyond the span of the rows from which it takes part in a dependence


class Influence(NamedTuple):
    """Arrays (n,), or (n, K) with several targets (leverage is (n,) either way).

    Rows of leverage 1, whose residual is zero whatever their target, and rows of weight zero have NaN where a measure
    does not exist.
    """

    leverage: Array
    residual: Array
    standardized: Array
    studentized: Array
    cooks_distance: Array
    dffits: Array


def influence(fits: Sequence[Fit], sources: Sequence[Source], sample: Sample, flat: bool) -> Influence:
    """Return the measures of all rows, targets side by side, or, where `flat`, vectors of the only one."""
    if any(fit.penalty.any() for fit in fits):
        raise InvalidParameter(
            "no influence for a penalised fit: leave-one-out formulas of its variance do not hold. Use "
            "LinearRegression, or penalty=0."
        )
    parts = [_influence(fit, source, sample) for fit, source in zip(fits, sources, strict=True)]
    if flat:
        return Influence(*(values[:, 0] if values.ndim == 2 else values for values in parts[0]))
    columns: list[Any] = [parts[0].leverage]
    columns += [np.concatenate([part[i] for part in parts], axis=1) for i in range(1, len(Influence._fields))]
    return Influence(*columns)


class LeaveOneOutResult(NamedTuple):
    """Residuals (n, K) of all rows in the fit, and of each row in the fit to all others; weights (n,)."""

    residual: Array
    left_out: Array
    weight: Array


def left_out(fit: Fit, source: Source, sample: Sample) -> LeaveOneOutResult:
    """Return the exact leave-one-out residuals of a fit, penalised or not: r / (1 - h), without a refit.

    A row of weight w is w copies, of which one is left out; a precision belongs to the row as a whole.
    """
    leverage, residual, weight = _diagnostics(fit, source, sample)
    rest = 1.0 - leverage
    if (full := (rest <= FULL_LEVERAGE) & (weight > 0)).any():
        raise InvalidData(
            f"row {int(full.argmax())} has leverage 1: the other rows do not determine its prediction, so it has no "
            "leave-one-out error"
        )
    return LeaveOneOutResult(residual, residual / rest[:, None], weight)


def inflation(factor: Factor) -> Array:
    """Return VIF_j = S_jj (S^-1)_jj = 1 / (1 - R^2 of column j on the others), (D,); infinite where that R^2 is 1."""
    d = factor.scaling.features
    dependent = ~factor.alive | (factor.untestable(np.eye(d)) > INVOLVED)
    return np.where(dependent, np.inf, (factor.length * factor.inverse_lengths()) ** 2)


def _influence(fit: Fit, source: Source, sample: Sample) -> Influence:
    """Return the measures of all rows, (n, K), of one fit, block by block."""
    leverage, residual, weight = _diagnostics(fit, source, sample)
    p, freedom = fit.trace, sample.n - fit.trace
    rest = np.where((1.0 - leverage > FULL_LEVERAGE) & (weight > 0), 1.0 - leverage, np.nan)[:, None]
    root = np.sqrt(weight)[:, None] if sample.precision else 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma = fit.unit * np.sqrt(np.where(freedom > 0.5, fit.squares / freedom, np.nan))
        standardized = root * residual / (sigma * np.sqrt(rest))
        without = np.where(freedom > 1.5, freedom - 1.0, np.nan)
        studentized = standardized * np.sqrt(without / np.maximum(freedom - standardized**2, 0.0))
        odds = leverage[:, None] / rest
    return Influence(
        leverage, residual, standardized, studentized, standardized**2 * odds / p, studentized * np.sqrt(odds)
    )


def _diagnostics(fit: Fit, source: Source, sample: Sample) -> tuple[Array, Array, Array]:
    """Return leverages (n,), residuals (n, K) in raw units and weights (n,) of the rows that were fitted."""
    check_weight(source, fit, sample)
    through = lens(fit, sample.precision)
    targets = len(fit.squares)

    def rows(block: Block) -> Array:
        parts = [through.read(run) for run in runs(block)]
        return np.concatenate(
            [np.column_stack([host(part.leverage), host(part.residual)]) for part in parts]
            or [np.empty((0, 1 + targets))]
        )

    found = source.map(rows)
    given = source.read_weights()
    weight = np.ones(len(found)) if given is None else host(given)
    check_squares(source, fit, weight @ found[:, 1:] ** 2)
    return found[:, 0], np.ldexp(found[:, 1:], factor_of(fit).scaling.target_scale), weight
