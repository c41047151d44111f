"""Powers and products of the columns (S3, S4: polynomial discriminants)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Annotated, Any

import numpy as np
import scipy

from adaline.arrays import AnyArray, Array
from adaline.basis.base import Basis
from adaline.construction import configured
from adaline.errors import InvalidParameter
from adaline.forms import Count, Floats
from adaline.parameters import COUNT, FLAG, AnyOf, ListOf
from adaline.state import FittedAttribute, FittedState
from adaline.values import Blocks, exact_mean, exact_sum, reduce_blocks

MOST_TERMS = 10**5  # columns of phi; doubling it allows phi twice as large, and second moments four times as large


@dataclass(frozen=True, kw_only=True, eq=False)
class PolynomialState(FittedState):
    """The learned state of a polynomial basis.

    Parameters
    ----------
    terms : of each product the indices of its columns.
    recurrence : (D, degree, 3), of orthogonal polynomials, see `recurrence`.
    """

    terms: list[tuple[Count, ...]]
    recurrence: Annotated[Array, Floats("F . 3")] | None = None


@configured
@dataclass(eq=False, repr=False)
class Polynomial(Basis):
    """Products of powers of the columns, of total degree 1 to `degree`; the constant is the system's intercept.

    Sparse rows give sparse columns, unless they are orthogonal: a product is zero where a factor is.

    Parameters
    ----------
    degree : int, or two of them
        Largest total degree, or with interactions=False the largest power of each column alone; (2, 3) is the smallest
        and the largest.
    interactions : bool
        Whether products of different columns take part.
    interaction_only : bool
        Whether each column is at most once in a product: no powers.
    orthogonal : bool
        Whether powers of a column are replaced by polynomials of the same degrees that are orthogonal over the rows
        fitted, of mean square 1 (three-term recurrence): they span the same functions, in the best condition. A column
        of k distinct values has k - 1 of them, the others are zero.

    Examples
    --------
    >>> from adaline import basis
    >>> basis.Polynomial(degree=2).fit([[1.0, 2.0]]).get_feature_names_out().tolist()
    ['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']

    References
    ----------
    Lecture S3, generalized linear discriminants (XOR); S4. G. Forsythe (1957) for the orthogonal ones.
    """

    degree: Annotated[Any, AnyOf(COUNT, ListOf(COUNT, "the smallest and the largest degree"))] = 2
    _: KW_ONLY
    interactions: Annotated[bool, FLAG] = True
    interaction_only: Annotated[bool, FLAG] = False
    orthogonal: Annotated[bool, FLAG] = False

    learned_as = PolynomialState
    terms_ = FittedAttribute[list[tuple[int, ...]]]()
    recurrence_ = FittedAttribute[Array]()

    def learn(self, x: Array) -> None:
        """List the products, and with `orthogonal` find the recurrences."""
        super().learn(x)
        columns, (lowest, degree) = range(x.shape[1]), self.degrees
        if sum(self._count(len(columns), p) for p in range(lowest, degree + 1)) > MOST_TERMS:
            raise InvalidParameter(
                f"{len(columns)} columns have more than {MOST_TERMS:,} terms of degree {self.degree}"
            )
        products = combinations if self.interaction_only else combinations_with_replacement
        terms = [
            term
            for p in range(lowest, degree + 1)
            for term in (products(columns, p) if self.interactions else ((j,) * p for j in columns))
        ]
        if not terms:
            raise InvalidParameter(f"{len(columns)} columns have no products of degree {self.degree} without powers")
        steps = None
        if self.orthogonal:
            steps = np.stack([recurrence(partial(list, [column]), degree) for column in x.T])
        self._state = PolynomialState(terms=terms, recurrence=steps)

    def of(self, x: Array) -> Array:
        powers = self._powers(np.asfortranarray(x))
        out = np.empty((len(self.terms_), len(x)))  # column by column: five to ten times as fast as row by row
        for column, term in zip(out, self.terms_, strict=True):
            used = sorted(set(term))
            column[:] = powers[term.count(used[0])][:, used[0]]
            for j in used[1:]:
                column *= powers[term.count(j)][:, j]
        return out.T

    def sparse_of(self, x: AnyArray) -> Any:
        """Return phi of sparse rows (n, D) as CSR, (n, M).

        The terms of each degree follow in lexicographic order: those that begin with term i of the degree before, whose
        last column is l, by their last column, from l on (beyond l, without powers). So the index of a product is known
        from that of its first factors.
        """
        (lowest, degree), (n, d) = self.degrees, x.shape
        if not x.has_canonical_format:
            x = x.copy()
            x.sum_duplicates()
        row = np.repeat(np.arange(n), np.diff(x.indptr))
        at, last, value = np.arange(x.nnz), np.arange(d), x.data
        index, first = x.indices.astype(np.int64), 0  # of the terms of this degree; of the first column of it
        parts = []
        for p in range(1, degree + 1):
            if p > 1 and not self.interactions:
                value = value * x.data
            elif p > 1:
                begin = last + self.interaction_only  # the least last column of the terms that begin with each
                rest = x.indptr[row + 1] - at - self.interaction_only
                before = np.repeat(np.arange(len(at)), rest)
                at = (
                    at[before]
                    + self.interaction_only
                    + np.arange(len(before))
                    - np.repeat(np.cumsum(rest) - rest, rest)
                )
                start = np.cumsum(d - begin) - (d - begin)
                index = (start - begin)[index[before]] + x.indices[at]
                row, value = row[before], value[before] * x.data[at]
                last = np.concatenate([np.empty(0, dtype=np.int64), *(np.arange(b, d) for b in begin)])
            if p >= lowest:
                parts.append((row, first + index, value))
                first += self._count(d, p)
        rows, columns, values = map(np.concatenate, zip(*parts, strict=True))
        return scipy.sparse.csr_array((values, (rows, columns)), shape=(n, len(self.terms_)))

    def names(self, given: list[str]) -> list[str]:
        """Return names such as x0^2 x1."""
        mark = "P{1}({0})" if self.orthogonal else "{0}^{1}"

        def name(j: int, power: int) -> str:
            return given[j] if power == 1 and not self.orthogonal else mark.format(given[j], power)

        return [" ".join(name(j, term.count(j)) for j in sorted(set(term))) for term in self.terms_]

    def _powers(self, x: Array) -> list[Array]:
        """Return the powers 0 to degree of all columns, or the orthogonal polynomials of these degrees."""
        if self.orthogonal:
            return orthogonal(x, self.recurrence_)
        out = [np.ones_like(x)]
        for _ in range(self.degrees[1]):
            out.append(out[-1] * x)
        return out

    @property
    def degrees(self) -> tuple[int, int]:
        """The smallest and the largest total degree."""
        return (1, int(self.degree)) if np.ndim(self.degree) == 0 else (int(self.degree[0]), int(self.degree[1]))

    def stored(self, x: AnyArray) -> float:
        """Return how many products have no factor that is zero; infinity with `orthogonal`."""
        if self.orthogonal:
            return np.inf
        counts, rows = np.unique(np.diff(x.indptr), return_counts=True)
        lowest, degree = self.degrees
        each = [sum(self._count(int(k), p) for p in range(lowest, degree + 1)) for k in counts]
        return float(np.array(each, dtype=np.float64) @ rows)

    def _count(self, columns: int, p: int) -> int:
        """Return how many terms of degree p there are."""
        if not self.interactions:
            return columns
        return comb(columns, p) if self.interaction_only else comb(columns + p - 1, p)

    def _check_together(self) -> None:
        if np.ndim(self.degree) and (len(self.degree) != 2 or self.degree[0] > self.degree[1]):
            raise InvalidParameter(f"degree must be one number, or the smallest and the largest, got {self.degree!r}")
        if self.interaction_only and not self.interactions:
            raise InvalidParameter("interaction_only=True with interactions=False leaves nothing but the columns")

    @property
    def learns(self) -> bool:
        """Whether polynomials are orthogonal over the rows."""
        return bool(self.orthogonal)


def orthogonal(x: Array, steps: Array) -> list[Array]:
    """Return the polynomials of degree 0 to p of columns x (n, D), each (n, D), by their recurrences (D, p, 3)."""
    out = [np.zeros_like(x), np.ones_like(x)]
    for shift, before, norm in steps.transpose(1, 2, 0):
        out.append(((x - shift) * out[-1] - before * out[-2]) / norm)
    return out[1:]


def recurrence(blocks: Blocks, degree: int) -> Array:
    """Return shift, weight of the polynomial before last, and norm of each step, (degree, 3): of the polynomials of
    mean square 1 that are orthogonal over values which come in blocks (n,), however they are cut.

    The norm is infinite beyond the number of distinct values.
    """
    count, largest, distinct = reduce_blocks(blocks, partial(_survey, degree + 1), partial(_merge_surveys, degree + 1))
    power = int(np.frexp(largest)[1])
    out = np.zeros((degree, 3))  # in units of 2^power, so that squares are in range

    def average(function: Callable[..., Array], *arguments: Any) -> list[float]:
        return [exact_mean(total, count) for total in reduce_blocks(blocks, partial(function, power, *arguments))]

    mean, _ = average(_shifts, out[:0], 0.0)
    spread = np.sqrt(average(_norm, out[:0], (mean, 0.0))[0])
    for p in range(degree):
        beyond, before = average(_shifts, out[:p], mean)
        out[p] = mean + beyond, before, np.inf
        size = np.sqrt(average(_norm, out[:p], out[p, :2])[0])
        out[p, 2] = size if p + 1 < len(distinct) and size > 1e-12 * spread else np.inf
    return np.asarray(np.ldexp(out, power))


def _survey(most: int, x: Array) -> tuple[int, float, Array]:
    """Return the number of values, the largest magnitude, and some of the distinct values, at most `most`."""
    distinct = np.unique(x[: 8 * most])
    distinct = distinct if len(distinct) >= most else np.unique(x)
    return len(x), float(np.abs(x).max(initial=0.0)), distinct[:most]


def _merge_surveys(most: int, a: tuple[int, float, Array], b: tuple[int, float, Array]) -> tuple[int, float, Array]:
    return a[0] + b[0], max(a[1], b[1]), np.union1d(a[2], b[2])[:most]


def _shifts(power: int, steps: Array, mean: float, block: Array) -> Array:
    """Return the exact sums of (x - mean) p^2 and x p q, (2,), of the last polynomial p and the one before it, q."""
    x, p, q = _last_two(power, steps, block)
    return np.array([exact_sum((x - mean) * p * p), exact_sum(x * p * q)], dtype=object)


def _norm(power: int, steps: Array, next_step: Sequence[float], block: Array) -> Array:
    """Return the exact sum of the squares of the next polynomial, (1,)."""
    (x, p, q), (shift, before) = _last_two(power, steps, block), next_step
    return np.array([exact_sum(((x - shift) * p - before * q) ** 2)], dtype=object)


def _last_two(power: int, steps: Array, block: Array) -> tuple[Array, Array, Array]:
    x = np.ldexp(block, -power)
    last, now = [np.zeros((len(x), 1)), *orthogonal(x[:, None], steps[None])][-2:]
    return x, now[:, 0], last[:, 0]
