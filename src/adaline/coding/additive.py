"""Terms of additive models in a formula: smooths s(x), te(x, z), and random effects (1 + x | group).

They are not columns of X but functions of some: of numbers as they are, of categories by the indices of their levels.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from adaline.coding.contrasts import INDEX
from adaline.coding.expressions import QUOTED, compiled, dotted, shown_expression, syntax_tree
from adaline.coding.terms import Term, TermFactor
from adaline.errors import InvalidParameter

SmoothBasis = Literal["tp", "cr", "cc", "ps"]
BASES: tuple[SmoothBasis, ...] = ("tp", "cr", "cc", "ps")
CALL = re.compile(r"(s|te)\(.*\)", re.DOTALL)
OTHER_CALL = re.compile(r"(t2|ti)\(.*\)", re.DOTALL)
EXAMPLES = "'s(x)', 's(x, bs=\"cr\", k=20)', 's(x, by=group)', 'te(x, z)' or '(1 + x | group)'"
PLAIN_NAME = re.compile(r"[^\W\d][\w.]*")
LEAST_SIZE: dict[SmoothBasis, int] = {"tp": 3, "cr": 3, "cc": 4, "ps": 5}
MOST_SIZE = 1000  # coefficients of a smooth; doubling it takes eight times as long


@dataclass(frozen=True)
class SmoothTerm:
    """A smooth of one column, s(x), or of several, te(x, z).

    Parameters
    ----------
    columns : names or expressions of the columns of numbers; names that are no words in backquotes.
    bases : the basis of each.
    sizes : how many coefficients each basis has; None for as many as usual.
    by : a column that multiplies the curve, or a category with a curve for each level; None for neither.
    """

    columns: tuple[str, ...]
    bases: tuple[SmoothBasis, ...]
    sizes: tuple[int | None, ...]
    by: str | None = None

    @property
    def text(self) -> str:
        """The term as results call it, "s(x)" or "te(x,z)"."""
        return f"{'te' if len(self.columns) > 1 else 's'}({','.join(self.columns)})"


@dataclass(frozen=True)
class RandomTerm:
    """Random effects of the levels of a category, or of the combinations of several.

    Parameters
    ----------
    slopes : columns of numbers whose coefficients vary between levels, "1" for the intercept.
    group : the categories.
    """

    slopes: tuple[str, ...]
    group: tuple[str, ...]

    @property
    def grouping(self) -> str:
        """The name of the grouping, "school" or "school:class"."""
        return ":".join(self.group)

    @property
    def text(self) -> str:
        """The term as results call it, "(1 + x | school)"."""
        slopes = self.slopes if "1" in self.slopes else ("0", *self.slopes)
        return f"({' + '.join(slopes)} | {self.grouping})"


AdditiveTerm = SmoothTerm | RandomTerm


def is_additive(text: str) -> bool:
    """Whether a term of a formula is a smooth or a random effect."""
    bare = "".join(QUOTED.split(text)[::2])
    return bool(CALL.fullmatch(text) or OTHER_CALL.fullmatch(text)) or (text.startswith("(") and "|" in bare)


def split_additive(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a formula without its smooths and random effects, and the texts of these."""
    left, tilde, right = text.partition("~")
    if not tilde:
        return text, ()
    kept, found = [], []
    for sign, part in _summands(right):
        if not is_additive(part.strip()):
            kept.append(f"{sign}{part}")
        elif sign == "-":
            raise InvalidParameter(f"{part.strip()!r} in the formula is taken out, and was never there: leave it out")
        else:
            found.append(part.strip())
    if not found:
        return text, ()
    rest = "".join(kept).strip().removeprefix("+") or " 1"
    return f"{left}~{rest}", tuple(found)


def read_additive(text: str) -> tuple[AdditiveTerm, ...]:
    """Return the terms that a text stands for: one, or several for a nested grouping (1 | school/class)."""
    text = text.strip()
    if OTHER_CALL.fullmatch(text):
        raise InvalidParameter(f"{text!r} in the formula is not among the smooths here: write te(x, z), or s(x)")
    if CALL.fullmatch(text):
        return (_smooth(text),)
    if text.startswith("(") and text.endswith(")") and "|" in text:
        return _random(text)
    raise InvalidParameter(f"cannot read the term {text!r}: terms are such as {EXAMPLES}")


def read_terms(texts: Collection[str]) -> tuple[AdditiveTerm, ...]:
    """Return the terms of several texts; refuse one that is there twice."""
    out = tuple(term for text in texts for term in read_additive(text))
    for k, one in enumerate(out):
        for other in out[:k]:
            same = isinstance(one, SmoothTerm) and isinstance(other, SmoothTerm)
            if one == other or (same and {*one.columns} == {*other.columns} and one.by == other.by):  # type: ignore[union-attr]
                raise InvalidParameter(f"{one.text} is in the formula twice: name it once")
            if isinstance(one, RandomTerm) and isinstance(other, RandomTerm) and {*one.group} == {*other.group}:
                both = {*one.slopes} & {*other.slopes}
                if both:
                    raise InvalidParameter(
                        f"{one.text} and {other.text} both have the effects of {min(both)} by {one.grouping}: name "
                        "them once"
                    )
    return out


def argument_terms(
    terms: Collection[AdditiveTerm], categories: Collection[str], booleans: Collection[str] = ()
) -> tuple[Term, ...]:
    """Return the columns of X that terms are functions of, each once: numbers, and indices of levels.

    `categories` are the columns that are not numbers, `booleans` may be either.
    """
    out: dict[str, Term] = {}
    for term in terms:
        if isinstance(term, SmoothTerm):
            numbers, levels = list(term.columns), list[str]()
            if term.by is not None:
                by = without_backquotes(term.by)
                (levels if by in categories or by in booleans else numbers).append(term.by)
        else:
            numbers, levels = [one for one in term.slopes if one != "1"], list(term.group)
        for text in numbers:
            name = without_backquotes(text)
            if name in categories:
                raise InvalidParameter(
                    f"column {name!r} in {term.text} is a category, and a number is needed: make a column of 0 and 1 "
                    "for each of its levels but one"
                )
            plain = name != text or bool(PLAIN_NAME.fullmatch(text))
            if not plain and (compiled(text).kind != "number" or not compiled(text).plain):
                raise InvalidParameter(f"{text!r} in {term.text} needs more than numbers of its row: make it a column")
            out[text] = Term((TermFactor(name, name if plain else None),))
        for name in map(without_backquotes, levels):
            out[f"{INDEX} {name}"] = Term((index_factor(name),))
    return tuple(out.values())


def without_backquotes(text: str) -> str:
    """Return the name of a column that is written in backquotes; other texts as they are."""
    return text[1:-1] if re.fullmatch("`[^`]*`", text) else text


def in_backquotes(name: str) -> str:
    """Return a name as it is written in a term: in backquotes, unless it could not be taken for an expression."""
    return name if PLAIN_NAME.fullmatch(name) or name == "1" else f"`{name}`"


def index_factor(name: str) -> TermFactor:
    """Return the factor that is the index of the level of a category, -1 for one that did not occur."""
    return TermFactor(f"{INDEX}(`{name}`)", name, category=True)


def _summands(text: str) -> list[tuple[str, str]]:
    """Return the parts of a text between the + and - that are in no brackets and not quoted, each with its sign."""
    out, depth = [["", ""]], 0
    for k, part in enumerate(QUOTED.split(text)):
        if k % 2:
            out[-1][1] += part
            continue
        for sign in part:
            depth += (sign in "([{") - (sign in ")]}")
            if sign in "+-" and depth == 0 and (out[-1][1].strip() or len(out) > 1):
                out.append([sign, ""])
            else:
                out[-1][1] += sign
    return [(sign, part) for sign, part in out]


def _smooth(text: str) -> SmoothTerm:
    tree, quoted = syntax_tree(text)
    if not isinstance(tree, ast.Call) or not tree.args:
        raise InvalidParameter(f"cannot read {text!r} in the formula: a smooth is a function of columns, as {EXAMPLES}")

    def named(node: ast.expr) -> str:
        out = quoted.get(getattr(node, "id", ""), dotted(node))
        return shown_expression(node, quoted) if out is None else in_backquotes(out)

    options = {one.arg: one.value for one in tree.keywords}
    columns = tuple(map(named, tree.args))
    unknown = options.keys() - {"bs", "k", "by"}
    if unknown:
        raise InvalidParameter(f"{min(map(str, unknown))}= in {text!r} is not among the options of a smooth: bs, k, by")
    tensor = text.startswith("te")
    if tensor is (len(columns) == 1):
        other = f"s({columns[0]})" if tensor else f"te({', '.join(columns)})"
        raise InvalidParameter(f"{text!r} in the formula: s() is of one column and te() of several, so write {other}")
    if len({*columns}) < len(columns):
        raise InvalidParameter(f"{text!r} in the formula names a column twice")
    kinds = [str(one) for one in _constants(options.get("bs"), ["cr" if tensor else "tp"], text)]
    sizes = _constants(options.get("k"), [None], text)
    for given in (kinds, sizes):
        if len(given) not in (1, len(columns)):
            raise InvalidParameter(f"{text!r} in the formula: bs and k are one for all columns, or one for each")
    kinds, sizes = ([*given] * (len(columns) if len(given) == 1 else 1) for given in (kinds, sizes))
    bases: list[SmoothBasis] = []
    whole: list[int | None] = []
    for kind, size in zip(kinds, sizes, strict=True):
        found = next((one for one in BASES if one == kind), None)
        if found is None:
            raise InvalidParameter(f"bs={kind!r} in {text!r} is none of the bases here: {', '.join(BASES)}")
        if size is not None and not (isinstance(size, int) and LEAST_SIZE[found] <= size <= MOST_SIZE):
            raise InvalidParameter(
                f"k in {text!r} is a whole number of {LEAST_SIZE[found]} to {MOST_SIZE:,}, got {size!r:.40}"
            )
        bases.append(found)
        whole.append(size)
    by = named(options["by"]) if "by" in options else None
    return SmoothTerm(columns, tuple(bases), tuple(whole), by)


def _constants(node: ast.expr | None, default: list[object], text: str) -> list[object]:
    """Return what an option gives: a constant, or those of c(...)."""
    if node is None:
        return default
    nodes = node.args if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "c" else [node]
    if not all(isinstance(one, ast.Constant) for one in nodes) or not nodes:
        raise InvalidParameter(f"options in {text!r} are texts or numbers, or c(...) of several")
    return [one.value for one in nodes if isinstance(one, ast.Constant)]


def _random(text: str) -> tuple[AdditiveTerm, ...]:
    inner = text[1:-1]
    left, bars, right = re.split(r"(\|\|?)", inner, maxsplit=1)
    groups = [one.strip().strip("`") for one in re.split(r"[:/]", right)]
    if not all(groups) or re.search(r"[|()*^+]", right):
        raise InvalidParameter(
            f"cannot read {text!r} in the formula: after the bar stands a category, 'a:b' for combinations, or 'a/b' "
            "for b within a"
        )
    slopes: list[str] = []
    constant = True
    for sign, part in _summands(left):
        name = part.strip()
        if name in ("0", "-1") or (sign == "-" and name == "1"):
            constant = False
        elif name not in ("", "1"):
            slopes.append(in_backquotes(name[1:-1]) if without_backquotes(name) != name else name)
    slopes = list(dict.fromkeys(["1", *slopes] if constant else slopes))
    if not slopes:
        raise InvalidParameter(f"{text!r} in the formula has nothing that varies between groups: write (1 | group)")
    nested = [groups[: k + 1] for k in range(len(groups))] if "/" in right else [groups]
    each = [[one] for one in slopes] if bars == "||" else [slopes]
    return tuple(RandomTerm(tuple(own), tuple(group)) for group in nested for own in each)
