"""Terms of a design: products of numbers and categories, categories coded so that no column repeats another.

A category of L levels stands for L - 1 columns next to a constant, and for L where there is none. The rule for products
is the one of S, R and patsy: a term adds those subspaces that no earlier term has, each factor reduced (without its
reference level) or full.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations


@dataclass(frozen=True)
class TermFactor:
    """One factor of a term.

    Parameters
    ----------
    text : as the formula writes it, "x1", "log(x1)" or "C(x2)".
    column : the raw column it stands for, as it is or by its levels; None for an expression.
    category : whether it stands for the levels of that column.
    full : of a category, whether all levels have a column, the reference included; of a number, whether it is the
        indicator of its gaps instead.
    """

    text: str
    column: str | None = None
    category: bool = False
    full: bool = False


@dataclass(frozen=True)
class Term:
    """A product of factors."""

    factors: tuple[TermFactor, ...]


def without_repetition(terms: Iterable[Term], intercept: bool) -> tuple[Term, ...]:
    """Return the terms with categories reduced where a constant or an earlier term has their reference already."""
    taken: set[tuple[frozenset[str], frozenset[str]]] = set()
    if intercept:
        taken.add((frozenset(), frozenset()))
    out: list[Term] = []
    for term in terms:
        numbers = frozenset(factor.text for factor in term.factors if not factor.category)
        categories = [factor for factor in term.factors if factor.category]
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
                        replace(factor, full=coding.get(factor.text, False))
                        for factor in term.factors
                        if not factor.category or factor.text in coding
                    )
                )
            )
    return tuple(out)


def _absorbed(spaces: list[frozenset[str]]) -> list[dict[str, bool]]:
    """Return subspaces as {category: full}, joined as far as that goes: b and a:b, both reduced, are full a by b."""
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
