"""How many observations weighted rows stand for.

A weight is a frequency, how often the row was observed, or a precision, the inverse of its variance up to a factor. The
solution is the same; degrees of freedom, variances and likelihoods are not. Frequencies add up to the number of
observations. For precisions two more totals are needed: how many are positive, and the sum of their logarithms. Both
add up over rows, so streamed, merged and thinned models have them too.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from adaline.errors import UnsafeForget
from adaline.forms import Count, FiniteNumber
from adaline.sources import Source
from adaline.sources.absorbed import Absorption
from adaline.sources.totals import weight_totals

WeightKind = Literal["frequency", "precision"]

# rounding error of sums of logarithms, per row; 100x larger misses parts of rows among ten million
COUNT_ROUNDING = 1e-9


class Sample(NamedTuple):
    """n observations: the sum of the weights if they are frequencies, the number of positive ones if precisions.

    log_weight: the sum of the logarithms of precisions, zero for frequencies.
    absorbed: the effects that were absorbed from the rows; their degrees of freedom are part of `Fit.trace`.
    """

    n: float
    log_weight: float = 0.0
    precision: bool = False
    absorbed: Absorption | None = None


class Counted(NamedTuple):
    """Rows of positive weight, and the sum of the logarithms of their weights."""

    rows: Count
    log_weight: FiniteNumber

    def plus(self, other: Counted) -> Counted:
        """Return the counts over both sets of rows."""
        return Counted(self.rows + other.rows, self.log_weight + other.log_weight)

    def minus(self, other: Counted, before: float, left: float) -> Counted:
        """Return the counts without the other's rows, given the total weight before and after.

        Rows are taken out whole. Where that cannot be, as n rows of total weight W have sum log w <= n log(W / n), the
        rows are refused: of a row that keeps part of its weight the counts do not tell.
        """
        rows, log_weight = self.rows - other.rows, self.log_weight - other.log_weight
        if left > 0:
            rounding = COUNT_ROUNDING * (self.rows + abs(self.log_weight) + max(rows, 0) * before / left)
            if rows < 1 or log_weight > rows * math.log(left / rows) + rounding:
                raise UnsafeForget(
                    "cannot forget rows with weights that they were not fitted with: under weights='precision' a row "
                    "is one observation, and is forgotten with its whole weight. Or refit to the remaining rows."
                )
        return Counted(rows, log_weight)


def count(source: Source) -> Counted:
    """Return the counts of a source."""
    found = weight_totals(source)
    return Counted(found.rows, found.logs)
