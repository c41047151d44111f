"""Exact columns of `basis.Polynomial`: each product of powers as a sum hi + lo.

A product of p factors takes p - 1 multiplications of a pair by a number, each right to 4 u^2, as long as nothing
underflows or overflows: rows with a product beyond 2^-800 .. 2^800 are made NaN, and then nothing is proved.

    rows [H, L],   V = H + L + E,   |L| <= u |H|,   |E| <= 4 p u^2 |H|

Residuals and their sums with the columns are those of 2 M columns, of which j and M + j have one coefficient. T is
made for H, and || I - T'V'WVT || is bounded by

    alpha + 2 sqrt(1 + alpha) w + w^2,   w = 2 u sum_j || H_j || || T_j ||,   at least || W^1/2 (V - H) T ||
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adaline import twofold
from adaline.arrays import Array
from adaline.basis import Basis, Polynomial
from adaline.block import Block, Shape
from adaline.enclosures.preconditioner import Preconditioner, RowSizes
from adaline.enclosures.rounding import OUTWARDS, ROUNDING
from adaline.sources import Source
from adaline.sources.columns import number_columns
from adaline.sources.views import SameTargets

MOST_EXPONENT = 800  # of a product; beyond it, errors of trailing parts would meet the ends of float64


class ExactProducts(Basis):
    """The columns of a polynomial basis, (n, 2 M): the leading parts of all, then the trailing ones."""

    def __init__(self, basis: Polynomial) -> None:
        self.basis = basis
        self.n_features_in_ = basis.n_features_in_

    def of(self, x: Array) -> Array:
        """Return the parts; NaN where a product may underflow or overflow."""
        rows = np.array(x, dtype=np.float64)
        power = np.where(rows == 0, 0, np.frexp(rows)[1])
        out = np.empty((2, len(self.basis.terms_), len(rows)))
        for k, term in enumerate(self.basis.terms_):
            hi, lo = rows[:, term[0]], np.zeros(len(rows))
            for j in term[1:]:
                hi, lo = twofold.multiply(hi, lo, rows[:, j], np.zeros(len(rows)))
            # every product on the way lies between those of the factors below one and above one
            sizes = power[:, list(term)]
            beyond = np.maximum(-np.minimum(sizes, 0).sum(axis=1), np.maximum(sizes, 0).sum(axis=1)) > MOST_EXPONENT
            zero = (rows[:, list(term)] == 0).any(axis=1)
            out[0, k] = np.where(zero, 0.0, np.where(beyond, np.nan, hi))
            out[1, k] = np.where(zero | beyond, 0.0, lo)
        return out.reshape(-1, len(rows)).T

    def names(self, given: list[str]) -> list[str]:
        """Return the names of the columns, twice."""
        return 2 * self.basis.names(given)


class Leading(SameTargets):
    """The leading parts of the columns of a source that has both."""

    def __init__(self, base: Source) -> None:
        super().__init__(base)
        self.shape = Shape(base.shape.features // 2, base.shape.targets)
        names = base.columns.names
        self.columns = number_columns(None if names is None else names[: self.shape.features])
        self.targets = base.targets

    def _with(self, base: Source) -> Source:
        return Leading(base)

    def _transformed(self, block: Block) -> Block:
        block = block.gathered()
        return replace(block, x=block.x[:, : self.shape.features], exponent=None)


def with_trailing(known: Preconditioner, sizes: RowSizes) -> Preconditioner | None:
    """Return T with the proof for the exact columns; None where there is none."""
    away = 2 * ROUNDING * OUTWARDS * float(sizes.columns[1:] @ known.row_lengths()[1:])
    defect = OUTWARDS * (known.defect + 2 * np.sqrt(1 + known.defect) * away + away**2)
    return replace(known, defect=float(defect)) if defect < 1 else None
