"""Powers and products of the columns (S3, S4: polynomial discriminants)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from math import comb
from typing import Annotated

import numpy as np

from adaline.arrays import Array
from adaline.basis.base import Basis
from adaline.construction import configured
from adaline.errors import InvalidParameter
from adaline.parameters import COUNT, FLAG

MOST_TERMS = 10**5


@configured
@dataclass(kw_only=True, eq=False, repr=False)
class Polynomial(Basis):
    """Products of powers of the columns, of total degree 1 to `degree`; the constant is the system's intercept.

    Parameters
    ----------
    degree : int
        Largest total degree, or with interactions=False the largest power of each column alone.
    interactions : bool
        Whether products of different columns take part.
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

    degree: Annotated[int, COUNT] = 2
    interactions: Annotated[bool, FLAG] = True
    orthogonal: Annotated[bool, FLAG] = False

    def learn(self, x: Array) -> None:
        """List the products, and with `orthogonal` find the recurrences."""
        super().learn(x)
        columns, degree = range(x.shape[1]), int(self.degree)
        terms = comb(len(columns) + degree, degree) - 1 if self.interactions else len(columns) * degree
        if terms > MOST_TERMS:
            raise InvalidParameter(f"{terms} terms of degree {degree} in {len(columns)} columns, {MOST_TERMS} at most")
        if self.interactions:
            self.terms_ = [term for p in range(1, degree + 1) for term in combinations_with_replacement(columns, p)]
        else:
            self.terms_ = [(j,) * p for p in range(1, degree + 1) for j in columns]
        if self.orthogonal:
            self.recurrence_ = np.stack([recurrence(partial(list, [column]), degree) for column in x.T])

    def of(self, x: Array) -> Array:
        powers = self._powers(np.asfortranarray(x))
        out = np.empty((len(self.terms_), len(x)))  # column by column: five to ten times as fast as row by row
        for column, term in zip(out, self.terms_, strict=True):
            used = sorted(set(term))
            column[:] = powers[term.count(used[0])][:, used[0]]
            for j in used[1:]:
                column *= powers[term.count(j)][:, j]
        return out.T

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
        for _ in range(int(self.degree)):
            out.append(out[-1] * x)
        return out

    @property
    def learns(self) -> bool:
        """Whether polynomials are orthogonal over the rows."""
        return bool(self.orthogonal)


def orthogonal(x: Array, steps: Array) -> list[Array]:
    """Return the polynomials of degree 0 to p of the columns of x (n, D), each (n, D), by their recurrences (D, p, 3)."""
    out = [np.zeros_like(x), np.ones_like(x)]
    for shift, before, norm in steps.transpose(1, 2, 0):
        out.append(((x - shift) * out[-1] - before * out[-2]) / norm)
    return out[1:]


def recurrence(blocks: Callable[[], Iterable[Array]], degree: int) -> Array:
    """Return shift, weight of the polynomial before last, and norm of each step, (degree, 3): of the polynomials of
    mean square 1 that are orthogonal over values which come in blocks (n,), from the first block at each call.

    The norm is infinite beyond the number of distinct values.
    """
    count, largest, distinct = 0, 0.0, np.empty(0)
    for x in blocks():
        count, largest = count + len(x), max(largest, float(np.abs(x).max(initial=0.0)))
        distinct = np.unique(np.concatenate([distinct, x]))[: degree + 1]
    power = int(np.frexp(largest)[1])
    out = np.zeros((degree, 3))  # in units of 2^power, so that squares are in range

    def average(function: Callable[[Array, Array, Array], Array], known: int) -> float:
        total = 0.0
        for block in blocks():
            x = np.ldexp(block, -power)
            last, now = [np.zeros((len(x), 1)), *orthogonal(x[:, None], out[None, :known])][-2:]
            total += float(function(x, now[:, 0], last[:, 0]).sum())
        return total / max(count, 1)

    mean = average(lambda x, now, last: x, 0)
    spread = np.sqrt(average(lambda x, now, last: (x - mean) ** 2, 0))
    for p in range(degree):
        shift = mean + average(lambda x, now, last: (x - mean) * now * now, p)
        before = average(lambda x, now, last: x * now * last, p) if p else 0.0
        out[p] = shift, before, np.inf
        size = np.sqrt(average(lambda x, now, last: ((x - shift) * now - before * last) ** 2, p))  # noqa: B023
        out[p, 2] = size if p + 1 < len(distinct) and size > 1e-12 * spread else np.inf
    return np.asarray(np.ldexp(out, power))
