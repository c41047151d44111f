"""R-style formulas: parsed by formulaic, evaluated here as terms and expressions, never executed as code."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from adaline.coding.expressions import names_in
from adaline.coding.terms import Term, TermFactor
from adaline.errors import InvalidParameter

MOST_TERMS = 10_000
LONGEST, LONGEST_SHOWN = 50_000, 200  # characters of a formula, and of one in a message
EVERYTHING = re.compile(r"[~+(:*-]\s*\.\s*($|[+):*-])")
CATEGORY = re.compile(r"C\(\s*`?([^`,()]+?)`?\s*\)")


@dataclass(frozen=True)
class Formula:
    """A parsed formula: the target's expression, the terms, and whether there is a constant."""

    target: str
    terms: tuple[Term, ...]
    intercept: bool

    def columns(self) -> list[str]:
        """Return the raw columns on the right-hand side, each once."""
        factors = [factor for term in self.terms for factor in term.factors]
        return list(dict.fromkeys(name for f in factors for name in ([f.column] if f.column else names_in(f.text))))


def read_formula(
    text: str, categories: Collection[str], known: Collection[str], booleans: Collection[str] = ()
) -> Formula:
    """Return a formula such as "y ~ x1 + C(x2) + x1:x3", parsed.

    `categories` are columns that are not numbers, `known` all columns. `booleans` are categories of two levels as
    factors, as in R and patsy, and the numbers 0 and 1 inside expressions.
    """
    try:
        from formulaic import Formula as Parsed
        from formulaic.errors import FormulaicError

        parser = _parser()
    except ImportError:
        raise InvalidParameter("a formula needs the package formulaic: pip install 'adaline[app]'") from None
    shown = _shown(text)
    if len(text) > LONGEST:
        raise InvalidParameter(f"the formula {shown!r} has {len(text):,} characters; at most {LONGEST:,} are read")
    if EVERYTHING.search(text):
        raise InvalidParameter("a formula has no '.' for all columns here: leave the formula out to use them all")
    if any("|" in part for part in text.split("`")[::2]):
        raise InvalidParameter(
            f"the '|' in the formula {shown!r} would set apart groups with effects of their own, which is not "
            "supported: add the groups as a category, '+ C(group)'"
        )
    try:
        parsed: Any = Parsed(_with_products(text), _parser=parser)
    except InvalidParameter:
        raise
    except (FormulaicError, SyntaxError, ValueError, TypeError, RecursionError) as error:
        first = str(error).strip().splitlines()
        raise InvalidParameter(f"cannot read the formula {shown!r}: {first[0][:200] if first else 'syntax'}") from None
    except AttributeError:  # of formulaic, where a bracket is closed by one of another kind
        raise InvalidParameter(f"cannot read the formula {shown!r}: its brackets do not match") from None
    if not hasattr(parsed, "lhs"):
        raise InvalidParameter(f"the formula {shown!r} has no target: write it as 'target ~ columns'")
    left, right = list(parsed.lhs), list(parsed.rhs)
    if len(left) != 1 or len(left[0].factors) != 1:
        raise InvalidParameter(f"the formula {shown!r} must have one target on its left-hand side")
    target = left[0].factors[0].expr
    terms = [Term(tuple(_factor(f, categories, booleans) for f in term.factors)) for term in right if str(term) != "1"]
    formula = Formula(target, tuple(term for term in terms if term.factors), any(str(term) == "1" for term in right))
    for name in [*([target] if target in known else names_in(target)), *formula.columns()]:
        if name not in known:
            raise InvalidParameter(f"the formula names {_shown(name)!r}, and there is no such column; {_offer(known)}")
    return formula


@cache
def _parser() -> Any:
    """Return formulaic's parser; products of terms are bounded, and powers end where another one adds no term."""
    from formulaic.parser import DefaultFormulaParser, DefaultOperatorResolver
    from formulaic.parser.types import OrderedSet

    def product(left: Any, right: Any) -> Any:
        if len(left) * len(right) > MOST_TERMS:
            raise InvalidParameter(f"the formula has products of more than {MOST_TERMS:,} terms: name fewer columns")
        return OrderedSet(one * other for one in left for other in right)

    def power(terms: Any, exponent: Any) -> Any:
        count = str(next(iter(exponent))) if len(exponent) == 1 else " + ".join(map(str, exponent))
        if not (count.isdecimal() and int(count)):
            raise InvalidParameter(f"the power {count!r} in the formula must be a whole number of 1 or more")
        out = terms
        for _ in range(int(count) - 1):
            before, out = out, product(out, terms)
            if len(out) == len(before):
                break
        return out

    class Bounded(DefaultOperatorResolver):  # type: ignore[misc]
        @property
        def operators(self) -> list[Any]:
            own = {"*": lambda a, b: a | b | product(a, b), ":": product, "**": power, "^": power}
            out: list[Any] = super().operators
            for operator in out:
                operator._to_terms = own.get(operator.symbol, operator._to_terms)
            return out

    return DefaultFormulaParser(operator_resolver=Bounded())


def _with_products(text: str) -> str:
    """Return a formula with a:b for R's a %in% b; names between backquotes stay as they are."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"\s*%in%\s*", ":", part) for part in parts[::2]]
    return "`".join(parts)


def _factor(parsed: Any, categories: Collection[str], booleans: Collection[str]) -> TermFactor:
    text = str(parsed.expr)
    if parsed.eval_method.value == "lookup":
        return TermFactor(text, text, category=text in categories or text in booleans)
    match = CATEGORY.fullmatch(text)
    if match:
        return TermFactor(text, match.group(1), category=True)
    if text.startswith("C("):
        raise InvalidParameter(
            f"cannot read {text!r} in the formula: C takes a column alone; name the levels, the reference first, "
            "by categories={'column': [...]}"
        )
    names = names_in(text)
    for name in names:
        if name in categories:
            raise InvalidParameter(f"column {name!r} is not a number, so {text!r} means nothing; use C({name})")
    return TermFactor(text)


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."


def _offer(known: Collection[str]) -> str:
    shown = list(known)[:20]
    return "there are: " + ", ".join(shown) + (", ..." if len(known) > len(shown) else "")
