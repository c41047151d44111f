"""The terms of a model: the columns of one factor of a formula, of a category, or of a product of these.

Without a formula each raw column is a term. With a basis, a term is what it makes of the same columns of the input.

Tests of terms differ in what they assume about the other terms, whether or not the term has an effect:

    type 1   the terms after it are zero: effects in the order of the formula, sums of squares that add up
    type 2   the terms that contain it are zero: a:b for a, but not for c
    type 3   nothing; the hypothesis is about effects that add up to zero over the levels of each category

For type 3, the coefficients of all terms with the same numeric factors are a function on the cells of their categories.
The part of this function that belongs to the categories S is its projection by (x)_(i in S) (I - J/L_i)
(x)_(i not in S) 1'/L_i, as in SAS, and in R under contr.sum. So the test is the same for every coding of the categories
and every order of their levels.

S. R. Searle, Linear Models for Unbalanced Data (1987), chapter 12; J. Fox, Applied Regression Analysis and Generalized
Linear Models (2016), section 8.2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, HypothesisLike
from adaline.coding import Coding
from adaline.coding.contrasts import Contrast, contrast_of
from adaline.coding.terms import TermFactor
from adaline.errors import InvalidParameter
from adaline.fitted import AnyModel
from adaline.inference.hypotheses import Hypotheses, hint
from adaline.input.basis import basis_of, columns_of, given_columns
from adaline.input.system import coding_on
from adaline.solvers.least_squares.dependence import Dependence


class ModelTerm(NamedTuple):
    """A term of a fitted model.

    Parameters
    ----------
    name : "age", "a:b" or "poly(age, 2)".
    columns : the indices of its columns among D.
    factors : what it is a product of, by name; a term contains another one that has fewer of these.
    raw : the raw columns that it is made of.
    coded : the factors as the coding of a table has them; none without a coding, or beneath a basis.
    """

    name: str
    columns: NDArray[np.intp]
    factors: frozenset[str]
    raw: frozenset[str]
    coded: tuple[TermFactor, ...] = ()

    def within(self, other: ModelTerm) -> bool:
        """Whether another term contains this one."""
        return self.factors < other.factors


class PenalisedTerm(NamedTuple):
    """A curve, or the effects of a grouping: its name, its columns, and the columns of the input that it is of."""

    label: str
    start: int
    stop: int
    given: tuple[int, ...]


def terms_of(model: AnyModel) -> list[ModelTerm]:
    """Return the terms of a fitted model, in the order of their columns."""
    coding = coding_on(model)
    given = _coded_terms(coding) if coding is not None else _plain_terms(given_columns(model))
    return given if basis_of(model) is None else _basis_terms(model, given)


def _plain_terms(names: Sequence[str]) -> list[ModelTerm]:
    return [ModelTerm(name, np.array([j]), frozenset({name}), frozenset({name})) for j, name in enumerate(names)]


def _coded_terms(coding: Coding) -> list[ModelTerm]:
    found, first = [], 0
    for term in coding._all_terms:
        width = coding.term_width(term)
        raw = frozenset(name for factor in term for name in (*factor.numbers(), *factor.categories()))
        columns = np.arange(first, first + width)
        name = ":".join(factor.text for factor in term)
        found.append(ModelTerm(name, columns, frozenset(factor.text for factor in term), raw, term))
        first += width
    return found


def _basis_terms(model: AnyModel, given: Sequence[ModelTerm]) -> list[ModelTerm]:
    """Return the columns of a basis by the given ones that their names mention; others are terms of their own."""
    basis, names = basis_of(model), columns_of(model)
    assert basis is not None
    owner = {int(j): term for term in given for j in term.columns}
    marked = basis.names([f"\ue000{j}\ue001" for j in range(len(owner))])
    raw = {term.name: term.raw for term in given}
    found: dict[frozenset[str], list[int]] = {}
    whole: list[PenalisedTerm] = model._penalised_terms() if hasattr(model, "_penalised_terms") else []
    first = min((one.start for one in whole), default=len(marked))
    for column, text in enumerate(marked[:first]):
        parts = {owner[int(j)].name for j in re.findall("\ue000(\\d+)\ue001", text)} or {names[column]}
        found.setdefault(frozenset(parts), []).append(column)
    for one in whole:
        found[frozenset({one.label})] = list(range(one.start, one.stop))
        raw[one.label] = frozenset().union(*(owner[j].raw for j in one.given))
    return [
        ModelTerm(
            ":".join([name for name in raw if name in parts] or parts),
            np.array(columns),
            parts,
            frozenset().union(*(raw.get(name, {name}) for name in parts)),
        )
        for parts, columns in found.items()
    ]


def columns_named(model: AnyModel, hypothesis: HypothesisLike) -> HypothesisLike:
    """Return hypotheses with the names of terms, and of raw columns, replaced by those of their columns.

    A name of a column stands for that column. Names of terms stand for all of their columns that were not left out.
    """
    listed = isinstance(hypothesis, list | tuple) and all(isinstance(one, str) for one in hypothesis)
    if not (isinstance(hypothesis, str) or (listed and hypothesis)):
        return hypothesis
    names, out, terms = columns_of(model), [], None
    for text in [hypothesis] if isinstance(hypothesis, str) else hypothesis:
        name = text.strip().strip("`")
        own: list[str] = []
        if name not in names and name != "intercept":
            terms = terms_of(model) if terms is None else terms
            own = _columns_of_term(model, terms, name, names)
        out += own or [text]
    return hypothesis if isinstance(hypothesis, str) and out == [hypothesis] else out


def _columns_of_term(model: AnyModel, terms: Sequence[ModelTerm], name: str, names: Sequence[str]) -> list[str]:
    """Return the names of the columns of a term, or of the terms made of a raw column; none where there is no such."""
    found = [term for term in terms if term.name == name] or [term for term in terms if name in term.raw]
    if not found:
        refuse_absorbed_term(model, name)
        return []
    kept = dependence_of(model).kept
    columns = [int(j) for term in found for j in term.columns if kept[j]]
    if not columns:
        raise InvalidParameter(
            f"{name!r} has no coefficient to test: its columns are constant, or combinations of others (see aliased_)"
        )
    return [names[j] for j in columns]


def refuse_absorbed_term(model: AnyModel, name: str) -> None:
    """Refuse a column whose effects were absorbed."""
    coding = coding_on(model)
    if coding is not None and any(effect.name == name for effect in coding.effects):
        raise InvalidParameter(
            f"the effects of {name!r} were absorbed, so that they have no coefficients to test. Fit with C({name}) in "
            "the formula instead"
        )


def term_named(terms: Sequence[ModelTerm], name: str) -> ModelTerm:
    """Return a term by its name."""
    for term in terms:
        if term.name == name:
            return term
    raise InvalidParameter(f"no term is called {name!r}{hint(name, [term.name for term in terms])}")


def dependence_of(model: AnyModel) -> Dependence:
    """Return the constant columns of a fitted model, and the combinations among them."""
    fit: Any = model._fits[0]
    factor = getattr(fit, "factor", None)
    found: Dependence = fit.dependence if factor is None else factor.dependence
    return found


def sequential(terms: Sequence[ModelTerm], kept: NDArray[np.bool_], k: int) -> Hypotheses:
    """Return that term k has no effect where the terms after it have none (type 1)."""
    later = [term.columns for term in terms[k + 1 :]]
    return _zero(kept, terms[k].columns, np.concatenate(later) if later else np.empty(0, dtype=np.intp))


def by_marginality(terms: Sequence[ModelTerm], kept: NDArray[np.bool_], k: int) -> Hypotheses:
    """Return that term k has no effect where the terms that contain it have none (type 2)."""
    above = [term.columns for term in terms if terms[k].within(term)]
    return _zero(kept, terms[k].columns, np.concatenate(above) if above else np.empty(0, dtype=np.intp))


def _zero(kept: NDArray[np.bool_], columns: NDArray[np.intp], assumed: NDArray[np.intp]) -> Hypotheses:
    one = np.eye(1 + len(kept))[1:]
    matrix = one[columns[kept[columns]]]
    return Hypotheses(matrix, np.zeros(len(matrix)), (), one[assumed[kept[assumed]]], reduced=True)


def in_sums_to_zero(model: AnyModel, terms: Sequence[ModelTerm], k: int) -> Hypotheses:
    """Return that term k has no effect, whatever others have (type 3)."""
    coding, term, count = coding_on(model), terms[k], len(dependence_of(model).kept)
    own = None if coding is None or not term.coded else _parts(coding, term)
    if own is None or coding is None:
        matrix = np.eye(1 + count)[1 + term.columns]
        return Hypotheses(matrix, np.zeros(len(matrix)), (), np.empty((0, 1 + count)), reduced=True)
    blocks = []
    for other in terms:
        parts = _parts(coding, other) if other.coded else None
        if parts is None or _numbers(parts) != _numbers(own) or not parts.keys() >= own.keys():
            continue
        blocks.append((other.columns, _effect(own, parts)))
    matrix = np.zeros((len(blocks[0][1]), 1 + count))
    for columns, block in blocks:
        matrix[:, 1 + columns] = block
    return Hypotheses(matrix, np.zeros(len(matrix)), (), np.empty((0, 1 + count)), reduced=True)


class _Part(NamedTuple):
    """A factor of a term: the columns (L, c) of its levels, or of a number the identity, and whether it has all."""

    columns: Array
    number: bool
    full: bool


def _parts(coding: Coding, term: ModelTerm) -> dict[str, _Part] | None:
    """Return the factors of a term by their texts; None where it is hashed as a whole."""
    if coding.hashed_width(term.coded):
        return None
    return {factor.text: _part(coding, factor) for factor in term.coded}


def _part(coding: Coding, factor: TermFactor) -> _Part:
    if not factor.category or (factor.column is not None and not coding.column(factor.column, True).has_levels):
        return _Part(np.eye(coding.width(factor)), True, True)
    levels, _ = coding.levels(factor)
    whole = np.eye(len(levels))
    if factor.full:
        return _Part(whole, False, True)
    named = contrast_of(factor.text) if factor.text != factor.column else None
    contrast = named or Contrast(factor.column or factor.text)
    if contrast.kind == "Treatment":
        return _Part(np.delete(whole, contrast.base(levels), axis=1), False, False)
    return _Part(np.column_stack(list(contrast.columns(len(levels)))), False, False)


def _numbers(parts: dict[str, _Part]) -> set[str]:
    return {text for text, part in parts.items() if part.number}


def _effect(own: dict[str, _Part], parts: dict[str, _Part]) -> Array:
    """Return what the columns of a term (q, c), given by its parts, have of the effect of one that it contains."""
    factors = []
    for text, part in parts.items():
        if text not in own:
            factors.append(part.columns.mean(axis=0)[None])
        elif part.number or own[text].full:
            factors.append(part.columns)
        else:
            factors.append(part.columns[1:] - part.columns[:1])
    product = reduce(np.multiply.outer, factors)  # rows and columns of each factor in turn
    texts = list(parts)
    order = [2 * texts.index(text) for text in own]
    rows = [*order, *(2 * i for i in range(len(texts)) if 2 * i not in order)]
    product = product.transpose(*rows, *range(1, 2 * len(texts), 2))
    return np.asarray(product.reshape(-1, int(np.prod([factor.shape[1] for factor in factors]))))
