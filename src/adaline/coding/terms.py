"""Terms of a design: products of numbers and categories, coded so that columns are not linearly dependent.

A category of L levels has L - 1 columns beside a constant, and L where there is none. The rule for products is that of
S, R and patsy: a term adds the subspaces that no earlier term has, each factor reduced (without its reference level) or
full.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import combinations

from adaline.coding.expressions import compiled, names_in
from adaline.errors import InvalidParameter

MOST_CATEGORIES = 8  # categories in a product of factors: each one more doubles its subspaces, of which m have 2^m


@dataclass(frozen=True)
class TermFactor:
    """One factor of a term.

    Parameters
    ----------
    text : the factor in a formula, "x1", "log(x1)" or "C(x2)".
    column : the raw column of the factor; None for an expression.
    category : whether the factor is the levels of that column, or those that an expression computes: cut(x, 3), x > 2.
    full : of a category, whether all levels have a column, the reference included; of a number, whether it is the
        indicator of its gaps instead.
    """

    text: str
    column: str | None = None
    category: bool = False
    full: bool = False

    def numbers(self) -> list[str]:
        """Return the raw columns that the factor reads as numbers."""
        if self.column is None:
            return names_in(self.text)
        return [] if self.category else [self.column]

    def categories(self) -> list[str]:
        """Return the raw columns that the factor reads by their levels."""
        if self.column is None:
            return list(dict.fromkeys(name for _, name, _ in compiled(self.text).compared))
        return [self.column] if self.category else []


@dataclass(frozen=True)
class Term:
    """A product of factors."""

    factors: tuple[TermFactor, ...]


def without_repetition(terms: Iterable[Term], intercept: bool, whole: Collection[str] = ()) -> tuple[Term, ...]:
    """Return the terms, with categories reduced where a constant or an earlier term has their subspace already.

    Columns that are `whole`, hashed or words, have no levels to leave out.
    """
    taken: set[tuple[frozenset[str], frozenset[str]]] = set()
    if intercept:
        taken.add((frozenset(), frozenset()))
    out: list[Term] = []
    for term in terms:
        categories = [factor for factor in term.factors if factor.category and factor.column not in whole]
        numbers = frozenset(factor.text for factor in term.factors if factor not in categories)
        if len(categories) > MOST_CATEGORIES:
            raise InvalidParameter(
                f"the formula has a product of {len(categories)} categories: at most {MOST_CATEGORIES} categories are "
                "multiplied"
            )
        spaces = [
            frozenset(factor.text for factor in chosen)
            for size in range(len(categories) + 1)
            for chosen in combinations(categories, size)
        ]
        new = [space for space in spaces if (numbers, space) not in taken]
        taken.update((numbers, space) for space in new)
        for coding in _absorbed(new):
            out.append(
                Term(
                    tuple(
                        replace(factor, full=coding.get(factor.text, factor.category and factor.column in whole))
                        for factor in term.factors
                        if factor not in categories or factor.text in coding
                    )
                )
            )
    return tuple(out)


def _absorbed(spaces: list[frozenset[str]]) -> list[dict[str, bool]]:
    """Return subspaces as {category: full}, joined where possible: b and a:b, both reduced, are b with full a."""
    codings = [dict.fromkeys(sorted(space), False) for space in spaces]
    while True:
        found = next(
            (
                (small, large, factor)
                for small in codings
                for large in codings
                for factor in large
                if factor not in small and not large[factor] and {**small, factor: False} == large
            ),
            None,
        )
        if found is None:
            return codings
        small, large, factor = found
        codings[codings.index(large)] = {**large, factor: True}
        codings.remove(small)
