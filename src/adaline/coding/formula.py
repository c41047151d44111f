"""R-style formulas: parsed by formulaic, evaluated here as terms and expressions, never executed as code."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from adaline.coding.additive import argument_terms, read_terms, split_additive
from adaline.coding.contrasts import contrast_of
from adaline.coding.expressions import (
    CONSTANTS,
    QUOTED,
    as_python,
    compiled,
    lag_of,
    names_in,
    outside_quotes,
    reserved_word,
    syntax_tree,
)
from adaline.coding.terms import Term, TermFactor
from adaline.errors import InvalidParameter

MOST_TERMS = 10_000
LONGEST, LONGEST_SHOWN = 50_000, 200  # characters of a formula, and of one in a message
QUOTE = re.compile(r"""\bQ\(\s*("[^"`]*"|'[^'`]*')\s*\)""")

INTERACTION = re.compile(r"\binteraction\(((?:[^()`\"']|`[^`]*`|\([^()]*\))*)\)")


@dataclass(frozen=True)
class Formula:
    """A parsed formula: the target's expression, the terms, whether there is a constant, and the sum of the offsets.

    absorb : the columns after a bar, whose effects are absorbed.
    endogenous, instruments : how many of the last terms are those before and after the second tilde, instruments last.
    additive : the texts of smooths and random effects.
    arguments : the columns that these are functions of, where they are not among the terms.
    """

    target: str
    terms: tuple[Term, ...]
    intercept: bool
    offset: str | None = None
    absorb: tuple[str, ...] = ()
    endogenous: int = 0
    instruments: int = 0
    additive: tuple[str, ...] = ()
    arguments: tuple[Term, ...] = ()

    def columns(self) -> list[str]:
        """Return the raw columns of the terms, each once."""
        factors = [factor for term in (*self.terms, *self.arguments) for factor in term.factors]
        return list(dict.fromkeys(name for factor in factors for name in (*factor.numbers(), *factor.categories())))


def read_formula(
    text: str,
    categories: Collection[str],
    known: Collection[str],
    booleans: Collection[str] = (),
    everything: Collection[str] = (),
) -> Formula:
    """Return a formula such as "y ~ x1 + C(x2) + x1:x3", parsed.

    `categories` are columns that are not numbers, `known` all columns, `everything` those that '.' stands for, but for
    those of the target. `booleans` are categories of two levels as factors, as in R and patsy, and the numbers 0 and 1
    inside expressions.
    """
    shown = _shown(text)
    if len(text) > LONGEST:
        raise InvalidParameter(f"the formula {shown!r} has {len(text):,} characters; at most {LONGEST:,} are read")
    text = QUOTE.sub(lambda found: f"`{found[1][1:-1]}`", text)
    text = INTERACTION.sub(lambda found: _product(found[1], categories, shown), text)
    text, additive = split_additive(text)
    text, absorb, instrumented = _without_effects(text, shown)
    if (absorb or instrumented) and (additive or split_additive(text)[1]):
        raise InvalidParameter(
            f"the formula {shown!r} has smooths or random effects beside absorbed effects or instruments: write "
            "(1 | group) for the effects of a group, or leave out the smooths"
        )
    bare = "".join(QUOTED.split(text)[::2])
    everything = [name for name in everything if name not in absorb]
    caret = "^" in bare and "**" not in bare

    def terms_of(right: list[Any]) -> tuple[Term, ...]:
        found = (Term(tuple(_factor(f, caret, categories, booleans) for f in one.factors)) for one in right)
        return tuple(term for term in found if term.factors)

    after: list[tuple[Term, ...]] = []
    for part in instrumented:
        one = f"{text[: text.index('~')]}~ {part}"
        _, right = _sides(one, "".join(QUOTED.split(one)[::2]), shown, ())
        after.append(terms_of([term for term in right if str(term) != "1"]))
    named = Formula("", tuple(term for own in after for term in own), False).columns()
    left, right = _sides(text, bare, shown, [name for name in everything if name not in named])
    target = _text(left, caret)
    offsets = [one for one in right if len(one.factors) == 1 and _text(one.factors[0], caret).startswith("offset(")]
    terms = terms_of([term for term in right if str(term) != "1" and term not in offsets])
    _check_parts(terms, after, shown)
    counts = [*map(len, after), 0, 0]
    formula = Formula(
        target,
        (*terms, *(term for own in after for term in own)),
        any(str(term) == "1" for term in right),
        _sum([_offset(_text(one.factors[0], caret), categories) for one in offsets]),
        absorb,
        endogenous=counts[0],
        instruments=counts[1],
        additive=additive,
        arguments=tuple(one for one in argument_terms(read_terms(additive), categories, booleans) if one not in terms),
    )
    if (
        not formula.terms
        and not formula.arguments
        and not (formula.intercept and re.search(r"[\w.]", bare.rpartition("~")[2]))
    ):
        raise InvalidParameter(f"the formula {shown!r} leaves nothing to fit: neither a column nor a constant")
    _check_names(formula, known)
    return formula


def _product(columns: str, categories: Collection[str], shown: str) -> str:
    """Return interaction(a, b), a category of all pairs of levels, as the product a:b, which has the same fit."""
    names = [name.strip() for name in _split(columns, ",")]
    if not all(names) or any("=" in name for name in names):
        raise InvalidParameter(f"interaction() in the formula {shown!r} takes columns alone, as interaction(a, b)")
    return f"({':'.join(n if n.strip('`') in categories or '(' in n else f'C({n})' for n in names)})"


def _without_effects(text: str, shown: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return a formula up to its first bar, the columns after it, which are absorbed, and the sides of the last part.

    "y ~ x | firm + year" has two parts. With endogenous columns, "y ~ x | firm | d ~ z" has three, the second of which
    may be 0 or left out; their sides are d and z.
    """
    parts = QUOTED.split(text)  # what is quoted has odd indices
    if not any("|" in part for part in parts[::2]):
        return text, (), ()
    first, *rest = _split(text, "|")
    last = _split(rest[-1], "~")
    if len(last) == 2:
        rest = rest[:-1]
    names = tuple(name.strip().strip("`") for name in rest[0].split("+")) if rest else ()
    names = () if names == ("0",) and len(last) == 2 else names
    bare = "".join(QUOTED.split(rest[0])[::2]) if rest else ""
    whole = len(rest) <= 1 and len(last) <= 2 and len(_split(first, "~")) == 2 and all(one.strip() for one in last)
    if not whole or not all(names) or re.search(r"[*:^~]", bare):
        raise InvalidParameter(
            f"the '|' in the formula {shown!r} sets apart columns whose effects are absorbed: write them after it, "
            "joined by '+', as in 'y ~ x | firm + year', and endogenous columns with their instruments last, as in "
            "'y ~ x | firm | d ~ z' or 'y ~ x | 0 | d ~ z'"
        )
    return first, names, tuple(last) if len(last) == 2 else ()


def _split(text: str, sign: str) -> list[str]:
    """Return the parts of a formula between signs that are not quoted."""
    out = [""]
    for k, part in enumerate(QUOTED.split(text)):
        if k % 2:
            out[-1] += part
            continue
        own = part.split(sign)
        out[-1] += own[0]
        out += own[1:]
    return out


def _check_parts(terms: tuple[Term, ...], after: list[tuple[Term, ...]], shown: str) -> None:
    """Refuse endogenous terms that are exogenous, or instruments, as well."""
    for place, others in (("exogenous", terms), ("an instrument", after[1] if after else ())):
        if after and (both := [term for term in after[0] if term in others]):
            name = ":".join(factor.text for factor in both[0].factors)
            raise InvalidParameter(f"{name!r} in the formula {shown!r} is endogenous, and {place} too: name it once")


def _sides(text: str, bare: str, shown: str, everything: Collection[str]) -> tuple[Any, list[Any]]:
    """Return the factor on the left-hand side of a formula and the terms on the right, as formulaic reads them.

    `bare` is the text without what is quoted, `shown` what errors have of it.
    """
    try:
        from formulaic import Formula as Parsed
        from formulaic.errors import FormulaicError

        parser = _parser()
    except ImportError:
        raise InvalidParameter("a formula needs the package formulaic: pip install 'adaline-learn[app]'") from None
    try:
        context = {"__formulaic_variables_available__": list(everything)}
        found: Any = Parsed(as_python(text), _parser=parser, _context=context)
    except InvalidParameter:
        raise
    except (FormulaicError, SyntaxError, ValueError, TypeError, RecursionError) as error:
        first = str(error).strip().splitlines() or ["syntax"]
        hint = " (comparisons are written as I(x > 2))" if re.search("[<>=]", bare) and "operator" in str(error) else ""
        if other := re.search(r"as\.factor\(\s*([^()]+?)\s*\)", bare):
            first, hint = [f"write C({other[1]}) for {other[0]}"], ""
        elif other := re.search(r"%[^%\s]*%", bare):
            first, hint = [f"{other[0]} is not among the operators inside I(): +, -, *, /, ^ and comparisons"], ""
        elif isinstance(error, SyntaxError) and (word := reserved_word(text.replace("`", " "))):
            first = [f"{word!r} is a word of Python, which no function can have here: rename the column"]
        elif "context" in first[0]:
            first = ["a bracket or a quotation mark is not closed"]
        raise InvalidParameter(f"cannot read the formula {shown!r}: {first[0][:200]}{hint}") from None
    except AttributeError:  # of formulaic, where a bracket is closed by one of another kind
        raise InvalidParameter(f"cannot read the formula {shown!r}: its brackets do not match") from None
    if not hasattr(found, "lhs"):
        raise InvalidParameter(f"the formula {shown!r} has no target: write it as 'target ~ columns'")
    left, right = list(found.lhs), list(found.rhs)
    if len(left) != 1 or len(left[0].factors) != 1:
        raise InvalidParameter(f"the formula {shown!r} must have one target on its left-hand side")
    return left[0].factors[0], right


def _check_names(formula: Formula, known: Collection[str]) -> None:
    """Refuse a formula that names columns that are not there, or whose target is more than numbers of its row."""
    targets = targets_of(formula.target)
    for one in targets:
        if one not in known and not compiled(one).plain:
            raise InvalidParameter(
                f"{_shown(one)!r} in the formula needs more than numbers of its row: make it a column"
            )
    of_targets = [name for one in targets for name in ([one] if one in known else names_in(one))]
    expressions = [factor.text for term in formula.terms for factor in term.factors if factor.column is None]
    for name in CONSTANTS.keys() & {*known}:
        used = next((text for text in expressions if re.search(rf"\b{name}\b", "".join(QUOTED.split(text)[::2]))), None)
        if used is not None:
            raise InvalidParameter(
                f"{name!r} in {_shown(used)!r} of the formula is the number, and there is a column of this name: write "
                f"`{name}` for the column, or rename it"
            )
    for name in [
        *of_targets,
        *formula.columns(),
        *formula.absorb,
        *([] if formula.offset is None else names_in(formula.offset)),
    ]:
        lag = lag_of(name)
        if name not in known and (lag is None or lag[0] not in known or name in of_targets):
            plain = "; effects are columns by their names alone" if name in formula.absorb else ""
            raise InvalidParameter(
                f"the formula names {_shown(name)!r}, and there is no such column{plain}; {_offer(known)}"
            )


def targets_of(text: str) -> tuple[str, ...]:
    """Return the targets of a formula's left-hand side: one, or those of cbind(a, b)."""
    if not text.startswith("cbind("):
        return (text,)
    tree, quoted = syntax_tree(text)
    if not isinstance(tree, ast.Call) or tree.keywords or not tree.args:
        raise InvalidParameter(f"cannot read {_shown(text)!r} in the formula: cbind takes columns, cbind(a, b)")
    parts = [quoted.get(one.id, one.id) if isinstance(one, ast.Name) else ast.unparse(one) for one in tree.args]
    back = partial(re.sub, r"_quoted_\d+", lambda found: f"`{quoted.get(found[0], found[0])}`")
    return tuple(map(back, parts))


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


def _text(parsed: Any, caret: bool) -> str:
    """Return a factor's text; powers in R's spelling where the formula has that."""
    text = str(parsed.expr)
    return outside_quotes(text, lambda part: part.replace(" ** ", "^")) if caret else text


def _factor(parsed: Any, caret: bool, categories: Collection[str], booleans: Collection[str]) -> TermFactor:
    text = _text(parsed, caret)
    if parsed.eval_method.value == "lookup":
        return TermFactor(text, text, category=text in categories or text in booleans)
    if text.startswith("offset("):
        raise InvalidParameter(f"{text!r} in the formula is multiplied: an offset is a term of its own, '+ offset(x)'")
    contrast = contrast_of(text)
    if contrast is not None:
        return TermFactor(text, contrast.column, category=True)
    _refuse_categories(text, categories)
    return TermFactor(text, category=compiled(text).kind in ("boolean", "levels"))


def _offset(text: str, categories: Collection[str]) -> str:
    """Return the expression inside offset(...)."""
    inner = text[len("offset(") : -1]
    if not compiled(inner).plain:
        raise InvalidParameter(f"{text!r} in the formula needs more than numbers of its row: make it a column")
    _refuse_categories(inner, categories)
    return inner


def _sum(texts: list[str]) -> str | None:
    return " + ".join(f"({text})" for text in texts) if len(texts) > 1 else texts[0] if texts else None


def _refuse_categories(text: str, categories: Collection[str]) -> None:
    for name in names_in(text):
        base = (lag_of(name) or (name,))[0]
        if base in categories:
            raise InvalidParameter(f"column {base!r} is not a number, so {text!r} means nothing; use C({base})")


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."


def _offer(known: Collection[str]) -> str:
    shown = list(known)[:20]
    return "there are: " + ", ".join(shown) + (", ..." if len(known) > len(shown) else "")
