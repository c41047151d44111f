"""How many observations weighted rows stand for.

A weight is a frequency, how often the row was observed, or a precision, the inverse of its variance up to a factor. The
solution is the same; degrees of freedom, variances and likelihoods are not. Frequencies add up to the number of
observations. Of precisions the sums do not say enough: how many are positive, and the sum of their logarithms, are
counted beside them. Both add up over rows, so that streamed, merged and thinned models know them too.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from adaline.sources import Source
from adaline.sources.absorbed import Absorption
from adaline.sources.totals import weight_totals

WeightKind = Literal["frequency", "precision"]


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

    rows: int
    log_weight: float

    def plus(self, other: Counted, sign: int = 1) -> Counted:
        """Return the counts over both sets of rows, or (sign -1) with the other's taken out."""
        return Counted(self.rows + sign * other.rows, self.log_weight + sign * other.log_weight)


def count(source: Source) -> Counted:
    """Return the counts of a source."""
    found = weight_totals(source)
    return Counted(found.rows, found.logs)
