"""Splines: polynomials in pieces that join smoothly at knots (B-splines, natural cubic splines)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from adaline.arrays import Array
from adaline.basis.base import Basis
from adaline.construction import configured
from adaline.errors import InvalidParameter
from adaline.forms import FiniteNumber, Range, Size
from adaline.parameters import COUNT, FLAG, AnyOf, Numbers, UsedWith, one_of
from adaline.state import FittedAttribute, FittedState

MOST_SPLINE_COLUMNS = 1000  # columns of a spline; doubling it allows phi twice as large
KnotRule = Literal["quantile", "uniform"]
PLACED = one_of(KnotRule)


RISING = Range("two or more rising numbers", lambda knots: len(knots) > 1 and all(a < b for a, b in pairwise(knots)))


@dataclass(frozen=True, kw_only=True, eq=False)
class SplineState(FittedState):
    """The knots of each column, those at the ends of its range included."""

    knots: Annotated[list[Annotated[tuple[FiniteNumber, ...], RISING]], Size("F", len)]


@configured
@dataclass(eq=False, repr=False)
class Spline(Basis):
    """B-splines, or natural cubic splines, of each column: smooth curves from a few local bumps.

    The bumps add up to 1, so the first one is left out: the constant is the system's intercept. They are the columns of
    R's `bs` and `ns`. Beyond the range of the rows fitted the outermost polynomials continue; natural splines are
    straight lines there.

    Parameters
    ----------
    df : int
        Number of columns of phi for each column of x; B-splines have df - degree knots inside the range, natural
        splines df - 1. Knots that would coincide, as for columns of few distinct values, are left out.
    degree : int
        Of the pieces; natural splines have 3.
    knots : "quantile", "uniform" or numbers
        Where the inner knots are: at quantiles of each column, evenly spaced over its range, or given, the same for all
        columns.
    natural : bool
        Whether the curve is a straight line beyond the range (natural cubic spline).

    Examples
    --------
    >>> from adaline import basis
    >>> curve = basis.Spline(df=4).fit([[0.0], [1.0], [2.0], [4.0]])
    >>> curve.get_feature_names_out().tolist(), curve.knots_
    (['B1(x0)', 'B2(x0)', 'B3(x0)', 'B4(x0)'], [(0.0, 1.5, 4.0)])

    References
    ----------
    C. de Boor, A Practical Guide to Splines (1978); T. Hastie in J. Chambers and T. Hastie, Statistical Models in S
    (1992), whose `bs` and `ns` these are.
    """

    used_with: ClassVar[UsedWith] = {"df": {"knots": PLACED}}
    df: Annotated[int, COUNT] = 5
    _: KW_ONLY
    degree: Annotated[int, COUNT] = 3
    knots: Annotated[KnotRule | Any, AnyOf(PLACED, Numbers("inner knots", (1,)))] = "quantile"
    natural: Annotated[bool, FLAG] = False

    learned_as = SplineState
    knots_ = FittedAttribute[list[tuple[float, ...]]]()

    def learn(self, x: Array) -> None:
        """Find the knots of each column, those at the ends of its range included."""
        super().learn(x)
        self._state = SplineState(knots=[self._knots(column) for column in x.T])

    def of(self, x: Array) -> Array:
        return np.concatenate([self._columns(column, knots) for column, knots in zip(x.T, self.knots_, strict=True)], 1)

    def names(self, given: list[str]) -> list[str]:
        """Return names such as B2(x0), N2(x0) for natural splines."""
        widths, letter = map(self.width, self.knots_), "N" if self.natural else "B"
        return [f"{letter}{k + 1}({name})" for name, m in zip(given, widths, strict=True) for k in range(m)]

    def width(self, knots: tuple[float, ...]) -> int:
        """Return the number of columns for a column of x with these knots."""
        return len(knots) - 1 if self.natural else len(knots) - 2 + int(self.degree)

    @property
    def learns(self) -> bool:
        """True, as knots lie in the range of the columns."""
        return True

    def pieces(self, knots: tuple[float, ...]) -> tuple[Array, Array, Array]:
        """Return `spline_pieces` of the columns of these knots."""
        return spline_pieces(knots, int(self.degree), self.natural)

    def _columns(self, x: Array, knots: tuple[float, ...]) -> Array:
        return natural_splines(x, knots) if self.natural else b_splines(x, knots, int(self.degree))[:, 1:]

    def _knots(self, x: Array) -> tuple[float, ...]:
        low, high = float(x.min()), float(x.max())
        high = high if low < high else low + (abs(low) or 1.0)  # a constant column has columns of zeros
        count = int(self.df) - (1 if self.natural else int(self.degree))
        if not isinstance(self.knots, str):
            inner = np.asarray(self.knots, dtype=np.float64)
        elif self.knots == "uniform":
            inner = np.linspace(low, high, count + 2)[1:-1]
        else:
            inner = np.quantile(x, np.linspace(0, 1, count + 2)[1:-1])
        inner = np.unique(inner)
        between = inner[(low < inner) & (inner < high)]
        return (low, *between.tolist(), high)

    def _check_together(self) -> None:
        if self.natural and int(self.degree) != 3:
            raise InvalidParameter(f"degree must be 3 with natural=True, got {self.degree!r}")
        least = 1 if self.natural else int(self.degree)
        if isinstance(self.knots, str) and not least <= int(self.df) <= MOST_SPLINE_COLUMNS:
            raise InvalidParameter(f"df must be {least} to {MOST_SPLINE_COLUMNS:,} here, got {self.df!r}")


def spline_pieces(
    knots: tuple[float, ...], degree: int, natural: bool, intercept: bool = False
) -> tuple[Array, Array, Array]:
    """Return splines of these knots as polynomials: breaks (b,), and of the b + 1 pieces between and beyond them
    centres and coefficients of powers of x - centre, (1 + degree, b + 1, M).
    """
    centres = np.array(knots[:-1])
    derivatives = [b_splines(centres, knots, degree, p) / math.factorial(p) for p in range(degree + 1)]
    first = 1 - intercept
    if not natural:
        return centres[1:], centres, np.stack(derivatives)[:, :, first:]
    ends = np.array([knots[0], knots[-1]])  # straight lines beyond
    low, high = np.zeros((2, degree + 1, 1, derivatives[0].shape[1]))
    low[:2, 0], high[:2, 0] = np.stack([b_splines(ends, knots, 3, p) for p in (0, 1)], axis=1)
    tables = np.concatenate([low, np.stack(derivatives), high], axis=1)
    return np.array(knots), np.array([knots[0], *knots]), tables[:, :, first:] @ _natural(knots, intercept)


def b_splines(x: Array, knots: tuple[float, ...], degree: int, derivative: int = 0) -> Array:
    """Return all B-splines of a degree at x (n,), or their derivatives, (n, M); M is len(knots) + degree - 1.

    `knots` are sorted, the ends of the range first and last; beyond them the outermost polynomials continue.
    """
    return _design(x, np.repeat(knots, [degree + 1, *[1] * (len(knots) - 2), degree + 1]), degree, derivative)


def natural_splines(x: Array, knots: tuple[float, ...], intercept: bool = False) -> Array:
    """Return natural cubic splines with these knots at x (n,), R's `ns`: (n, len(knots) - 1 + intercept).

    They are the cubic B-splines, without the first unless `intercept`, projected on those whose second derivative is
    zero at both ends; beyond these they continue as straight lines.
    """
    nearest = np.clip(x, knots[0], knots[-1])
    values = b_splines(nearest, knots, 3) + (x - nearest)[:, None] * b_splines(nearest, knots, 3, 1)
    return np.asarray(values[:, 1 - intercept :] @ _natural(knots, intercept))


@lru_cache(maxsize=256)
def _natural(knots: tuple[float, ...], intercept: bool) -> Array:
    """Return the matrix from cubic B-splines to natural splines, read-only as others share it."""
    unit = tuple((np.array(knots) - knots[0]) / (knots[-1] - knots[0]))
    ends = b_splines(np.array([0.0, 1.0]), unit, 3, 2)[:, 1 - intercept :]
    out = np.linalg.qr(ends.T, mode="complete")[0][:, 2:]
    out.flags.writeable = False
    return np.asarray(out)


def _design(x: Array, t: Array, degree: int, derivative: int) -> Array:
    """Return the B-splines of knots t, those at the ends repeated, by the recurrence of de Boor and Cox."""
    if derivative:
        lower = _design(x, t, degree - 1, derivative - 1)
        width = t[degree:] - t[:-degree]
        lower = lower * np.divide(degree, width, out=np.zeros_like(width), where=width > 0)
        return np.asarray(lower[:, :-1] - lower[:, 1:])
    first, last = np.searchsorted(t, t[0], side="right") - 1, np.searchsorted(t, t[-1], side="left") - 1
    at = np.clip(np.searchsorted(t, x, side="right") - 1, first, max(last, first))
    local = np.ones((len(x), 1))
    for p in range(1, degree + 1):
        index = at[:, None] + np.arange(p)
        low, high = t[index + 1 - p], t[index + 1]
        part = local / (high - low)
        local = np.zeros((len(x), p + 1))
        local[:, :-1] += (high - x[:, None]) * part
        local[:, 1:] += (x[:, None] - low) * part
    out = np.zeros((len(x), len(t) - degree - 1))
    np.put_along_axis(out, at[:, None] + np.arange(-degree, 1), local, axis=1)
    return out
