"""Powers and products of the columns (S3, S4: polynomial discriminants)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from typing import Annotated

import numpy as np

from adaline.arrays import Array
from adaline.basis.base import Basis, moments
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
            self.recurrence_ = np.stack([_recurrence(x[:, j], degree) for j in columns])

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
        out = [np.ones_like(x)]
        for p in range(int(self.degree)):
            if not self.orthogonal:
                out.append(out[-1] * x)
                continue
            shift, before, norm = self.recurrence_[:, p].T
            last = out[-2] if p else np.zeros_like(x)
            out.append(((x - shift) * out[-1] - before * last) / norm)
        return out

    @property
    def learns(self) -> bool:
        """Whether polynomials are orthogonal over the rows."""
        return bool(self.orthogonal)


def _recurrence(x: Array, degree: int) -> Array:
    """Return shift, weight of the polynomial before last, and norm of each step, (degree, 3).

    The norm is infinite beyond the number of distinct values.
    """
    out = np.zeros((degree, 3))
    now, last, distinct = np.ones_like(x), np.zeros_like(x), len(np.unique(x))
    mean, spread = (float(value[0]) for value in moments(x[:, None]))
    for p in range(degree):
        shift = mean + float(((x - mean) * now * now).mean())
        before = float((x * now * last).mean()) if p else 0.0
        new = (x - shift) * now - before * last
        power = np.frexp(np.abs(new).max())[1]
        size = float(np.ldexp(np.sqrt((np.ldexp(new, -power) ** 2).mean()), power))
        norm = size if p + 1 < distinct and size > 1e-12 * spread else np.inf
        out[p] = shift, before, norm
        last, now = now, new / norm
    return out
