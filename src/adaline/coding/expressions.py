"""Expressions of formulas: columns, numbers, operators, and a few functions as in R. Nothing is executed as code.

An expression is parsed by Python's own parser, and everything but the operators and functions below is refused, so that
a formula, or a model file with one, cannot run code. Functions that learn from the rows are those of
`adaline.coding.learned`; what they have learned is given to `evaluate` by the text of their calls.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache, reduce
from itertools import islice, product
from keyword import iskeyword
from typing import Any, NamedTuple

import numpy as np

from adaline.arrays import AnyArray, Array
from adaline.coding.learned import LEARNERS, Facts, LearnedFunction, Poly
from adaline.errors import InvalidParameter

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "I": np.positive,
    "abs": np.abs,
    "cos": np.cos,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
}
OF_SEVERAL: dict[str, Callable[[Any, Any], Any]] = {"pmax": np.maximum, "pmin": np.minimum}
CONSTANTS = {"pi": np.float64(np.pi)}  # names of numbers; a column of such a name is written in backquotes
OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
WORDS: dict[str, Any] = {"TRUE": True, "T": True, "FALSE": False, "F": False, "NULL": None}

MOST_LAG = 10_000
LAG = re.compile(r"lag\((.+), (\d{1,5})\)", re.DOTALL)
MOST_COMPILED = 2**14  # expressions that are kept: more than a formula has terms
MOST_PRODUCTS = 1000  # columns of a polynomial in several variables
MOST_PARTS = 200  # of an expression: names, numbers, operators, calls
QUOTED = re.compile(r"""(`[^`]*`|"[^"]*"|'[^']*')""")

FactsByCall = Mapping[str, Facts]
ColumnFunction = Callable[[Mapping[str, Array], FactsByCall], Any]


@dataclass(frozen=True)
class LearnerCall:
    """A call of a function that learns from the rows: its text, that of its argument, and the function."""

    text: str
    argument: str
    learner: LearnedFunction


@dataclass(frozen=True)
class Compiled:
    """An expression: the columns it reads, its calls of functions that learn, inner ones first, and its function.

    `compared` has the comparisons of categories with a text, each with its key among the columns, column and level.
    `kind` is "number", "boolean" (a comparison), or that of the learner which makes several columns or levels.
    `powers` has those of each column of a polynomial in several variables, poly(x, z, degree=2), by variable.
    """

    names: tuple[str, ...]
    calls: tuple[LearnerCall, ...]
    function: ColumnFunction
    kind: str
    compared: tuple[tuple[str, str, str], ...]
    powers: tuple[tuple[int, ...], ...] = ()

    @property
    def plain(self) -> bool:
        """Whether it needs numbers of the same row, and nothing else."""
        return not self.calls and not self.compared and not any(map(lag_of, self.names))

    def size(self, learned: FactsByCall) -> int:
        """Return the number of columns, or of levels, of what functions have learned."""
        if self.kind in ("levels", "columns") and not self.powers:
            return self.calls[-1].learner.size(learned[self.calls[-1].text])
        return len(self.powers) or (2 if self.kind == "boolean" else 1)

    def suffixes(self, learned: FactsByCall) -> list[str]:
        """Return what the names of several columns end in."""
        if self.powers:
            return [".".join(map(str, one)) for one in self.powers]
        return [str(k + 1) for k in range(self.size(learned))]


def names_in(text: str) -> list[str]:
    """Return the columns of numbers that an expression reads, in order, each once; refuse what is no expression."""
    return list(dict.fromkeys(compiled(text).names))


def evaluate(text: str, columns: Mapping[str, Array], learned: FactsByCall | None = None) -> Array:
    """Return the value of an expression for all rows, (n,), or (n, M) where it makes several columns."""
    with np.errstate(all="ignore"):  # sums refuse what is not finite
        return np.asarray(evaluate_parts(text, columns, learned or {}), dtype=np.float64)


def evaluate_parts(text: str, columns: Mapping[str, AnyArray], learned: FactsByCall) -> AnyArray:
    """Return the value of an expression of columns that are arrays, or of anything that numpy's functions take."""
    return compiled(text).function(columns, learned)


def outside_quotes(text: str, change: Callable[[str], str]) -> str:
    """Return a text with the parts changed that are not between quotes or backquotes."""
    parts = QUOTED.split(text)
    parts[::2] = map(change, parts[::2])
    return "".join(parts)


def as_python(text: str) -> str:
    """Return a text of R in the spelling of Python: x^2 as x**2, Boundary.knots= as Boundary_knots=."""
    return outside_quotes(
        text, lambda part: re.sub(r"(\w)\.(?=\w+\s*=(?!=))", r"\1_", part.replace("^", "**").replace("%in%", ":"))
    )


@lru_cache(maxsize=MOST_COMPILED)
def compiled(text: str) -> Compiled:
    """Return an expression, parsed; refuse all that is not in the lists of this module."""
    tree, quoted = syntax_tree(text)
    compiler = _Compiler(text, quoted)
    function, outermost = compiler.build(tree), tree
    while isinstance(outermost, ast.Call) and isinstance(outermost.func, ast.Name) and outermost.func.id == "I":
        outermost = outermost.args[0]
    kind = "boolean" if isinstance(outermost, ast.Compare) else "number"
    several = {text: call.learner.kind for text, call in compiler.calls.items() if call.learner.kind != "number"}
    several |= dict.fromkeys(compiler.products, "columns")
    parts = {text for one in compiler.products.values() for text in one.parts}
    for one, own in several.items():
        if one == compiler.shown(outermost):
            kind = own
        elif one not in parts:
            raise InvalidParameter(f"{one!r:.200} in the formula makes several columns, and must be its own term")
    return Compiled(
        tuple(compiler.names),
        tuple(compiler.calls.values()),
        function,
        kind,
        tuple(compiler.compared.values()),
        next((one.powers for one in compiler.products.values()), ()),
    )


class _PolyProduct(NamedTuple):
    """A polynomial in several variables: the texts of their own polynomials, and the powers of each column."""

    parts: tuple[str, ...]
    powers: tuple[tuple[int, ...], ...]


class _Compiler:
    """Functions of the parts of an expression, and what they read: columns, what learns, levels compared with."""

    def __init__(self, text: str, quoted: Mapping[str, str]) -> None:
        self.text, self.quoted, self.parts = text, quoted, 0
        self.names: list[str] = []
        self.calls: dict[str, LearnerCall] = {}
        self.compared: dict[str, tuple[str, str, str]] = {}
        self.products: dict[str, _PolyProduct] = {}

    def shown(self, node: ast.AST) -> str:
        """Return a part as text, with its backquoted names."""
        return shown_expression(node, self.quoted)

    def build(self, node: ast.expr) -> ColumnFunction:
        """Return the function of a part of the expression."""
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise InvalidParameter(f"an expression of the formula has more than {MOST_PARTS} parts: make it a column")
        match node:
            case ast.Name(id=word) if word in CONSTANTS:
                constant = CONSTANTS[word]
                return lambda columns, learned: constant
            case ast.Name(id=word):
                return self._column(self.quoted.get(word, word))
            case ast.Attribute() if (name := dotted(node)) is not None:
                return self._column(name)
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                number = np.float64(value) if abs(value) < 1e300 else np.float64("inf")
                return lambda columns, learned: number
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return self._joined(OPERATORS[type(op)], left, right)
            case ast.Compare(
                left=ast.Name() | ast.Attribute() as left,
                ops=[ast.Eq() | ast.NotEq() as op],
                comparators=[ast.Constant(value=str() as level)],
            ) if (name := self.quoted.get(getattr(left, "id", ""), dotted(left))) is not None:
                key = f"{name} == {level!r}"
                self.compared[key] = key, name, level
                return (lambda c, _: c[key]) if isinstance(op, ast.Eq) else (lambda c, _: 1.0 - c[key])
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                compare = COMPARISONS[type(op)]
                return self._joined(lambda a, b: np.where(np.isnan(a + b), np.nan, compare(a, b)), left, right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                plus = self.build(operand)
                return lambda columns, learned: -plus(columns, learned)
            case ast.Call(func=ast.Name(id=name), args=[only], keywords=[]) if name in FUNCTIONS:
                inner, function = self.build(only), FUNCTIONS[name]
                return lambda columns, learned: function(inner(columns, learned))
            case ast.Call(func=ast.Name(id=name), args=[_, _, *_] as args, keywords=[]) if name in OF_SEVERAL:
                several, apply = [self.build(one) for one in args], OF_SEVERAL[name]
                return lambda columns, learned: reduce(apply, [one(columns, learned) for one in several])
            case ast.Call(func=ast.Name(id="lag"), args=[ast.Name() | ast.Attribute() as of, *_] as args):
                return self._column(
                    lag_name(self.quoted.get(getattr(of, "id", ""), dotted(of) or ""), args[1:], node.keywords)
                )
            case ast.Call(func=ast.Name(id="ifelse"), args=[test, one, other], keywords=[]):
                where, yes, no = map(self.build, (test, one, other))
                return lambda columns, learned: _chosen(*(part(columns, learned) for part in (where, yes, no)))
            case ast.Call(func=ast.Name(id="poly" | "polym" as name), args=[_, ast.expr() as second, *_] as args) if (
                not isinstance(second, ast.Constant)
            ):
                return self._poly_product(name, args, node)
            case ast.Call(func=ast.Name(id=name)) if name in LEARNERS:
                return self._learned(name, node)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name), args=args, keywords=[]):
                return self.build(ast.Call(func=ast.Name(id=name), args=args, keywords=[]))
        shown = self.shown(node)
        if re.match(r"(s|te)\(", shown):
            raise InvalidParameter(
                f"{shown!r:.200} is no column: a curve is a term of its own; for each level of g it is 's(x, by=g) + g'"
            )
        raise InvalidParameter(
            f"cannot read {shown!r:.200} in the formula's {self.text!r:.200}: there are columns, numbers, "
            f"+ - * / ^, comparisons, C(column), factor(column), offset(), lag(column, k), and "
            f"{', '.join([*FUNCTIONS, *OF_SEVERAL, 'ifelse', *LEARNERS])}"
        )

    def _column(self, name: str) -> ColumnFunction:
        self.names.append(name)
        return lambda columns, learned: columns[name]

    def _joined(self, apply: Callable[[Any, Any], Any], left: ast.expr, right: ast.expr) -> ColumnFunction:
        one, other = self.build(left), self.build(right)
        return lambda columns, learned: apply(one(columns, learned), other(columns, learned))

    def _learned(self, name: str, node: ast.Call) -> ColumnFunction:
        """Return the function of a call that learns from the rows, such as poly(x, 2)."""
        if not node.args:
            raise InvalidParameter(f"{name}() in the formula needs a column")
        learner, before, inner = learner_of(name, node), len(self.compared), self.build(node.args[0])
        if len(self.compared) > before:
            raise InvalidParameter(f"{name}() in the formula takes numbers, not {self.shown(node.args[0])!r:.200}")
        text = self.shown(node)
        self.calls.setdefault(text, LearnerCall(text, self.shown(node.args[0]), learner))
        return lambda columns, learned: learner.of(inner(columns, learned), learned[text])

    def _poly_product(self, name: str, args: list[ast.expr], node: ast.Call) -> ColumnFunction:
        """Return the function of poly(x, z, degree=2): products of the polynomials of each variable, as R's polym."""
        own = [ast.Call(func=ast.Name(id="poly"), args=[one], keywords=node.keywords) for one in args]
        parts = [self._learned("poly", one) for one in own]
        texts = tuple(map(self.shown, own))
        learner = self.calls[texts[0]].learner
        assert isinstance(learner, Poly)
        degrees = product(range(learner.degree + 1), repeat=len(args))
        powers = tuple(
            one[::-1] for one in islice((one for one in degrees if 0 < sum(one) <= learner.degree), MOST_PRODUCTS + 1)
        )
        if len(powers) > MOST_PRODUCTS:
            raise InvalidParameter(f"{name}() in the formula has more than {MOST_PRODUCTS:,} columns: lower its degree")
        self.products[self.shown(node)] = _PolyProduct(texts, powers)

        def columns_of(columns: Mapping[str, Array], learned: FactsByCall) -> Array:
            of_each = [np.asarray(part(columns, learned)) for part in parts]
            with_ones = [np.concatenate([np.ones((len(one), 1)), one], axis=1) for one in of_each]
            return np.column_stack(
                [reduce(operator.mul, (x[:, k] for x, k in zip(with_ones, one, strict=True))) for one in powers]
            )

        return columns_of


def _chosen(test: Any, one: Any, other: Any) -> Any:
    """Return one number where a test holds, another where it does not, NaN where it is not known."""
    return np.where(np.isnan(test), np.nan, np.where(np.asarray(test) != 0, one, other))


def syntax_tree(text: str) -> tuple[ast.expr, dict[str, str]]:
    """Return the syntax tree, and the backquoted names by the identifiers that replaced them."""
    quoted: dict[str, str] = {}
    parts = QUOTED.split(as_python(text))
    for i in range(1, len(parts), 2):
        if parts[i].startswith("`"):
            word = f"_quoted_{i}"
            quoted[word], parts[i] = parts[i][1:-1], word
    try:
        return ast.parse("".join(parts).strip(), mode="eval").body, quoted
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        reserved = reserved_word(text)
        hint = f": {reserved!r} is a word of Python, so write `{reserved}` for the column" if reserved else ""
        raise InvalidParameter(f"cannot read {text!r:.200} in the formula{hint}") from None


def reserved_word(text: str) -> str | None:
    """Return the first word outside quotes that Python keeps for itself, such as "class"; None without one.

    Examples
    --------
    >>> from adaline.coding.expressions import reserved_word
    >>> reserved_word("s(x, by=class)"), reserved_word("log(`class`)")
    ('class', None)
    """
    words = re.findall(r"\b[a-z]+\b", " ".join(QUOTED.split(text)[::2]))
    return next((word for word in words if iskeyword(word)), None)


def shown_expression(node: ast.AST, quoted: Mapping[str, str]) -> str:
    """Return a part of a syntax tree as text, with its backquoted names."""
    return re.sub(r"_quoted_\d+", lambda match: f"`{quoted.get(match[0], match[0])}`", ast.unparse(node))


def dotted(node: ast.expr) -> str | None:
    """Return a name with dots, as R has them: "Sepal.Length"; None for what is none, or belongs to Python."""
    if isinstance(node, ast.Attribute):
        first = dotted(node.value)
        return None if first is None or node.attr.startswith("__") else f"{first}.{node.attr}"
    return node.id if isinstance(node, ast.Name) and not node.id.startswith("_") else None


def lag_name(name: str, args: list[ast.expr], keywords: list[ast.keyword]) -> str:
    """Return the name of a column as it was some rows before, "lag(x, 1)"; `lag_of` reads it."""
    match [*args, *(one.value for one in keywords if one.arg == "k")]:
        case []:
            return f"lag({name}, 1)"
        case [ast.Constant(value=int() as k)] if (
            len(args) + len(keywords) == 1 and 1 <= k <= MOST_LAG and k is not True
        ):
            return f"lag({name}, {k})"
    raise InvalidParameter(f"lag({name:.80}, k) in the formula takes a whole number of 1 to {MOST_LAG:,} as k")


def lag_of(name: str) -> tuple[str, int] | None:
    """Return the column and the number of rows of a name such as "lag(x, 2)"; None for others."""
    found = LAG.fullmatch(name)
    return None if found is None else (found[1], int(found[2]))


def learner_of(name: str, node: ast.Call) -> LearnedFunction:
    """Return a function that learns, by the options of its call: numbers, TRUE, FALSE, NULL and c(1, 2)."""
    known = [field.name for field in fields(LEARNERS[name])]
    given = dict(zip(known, node.args[1:], strict=False))
    given |= {keyword.arg or "**": keyword.value for keyword in node.keywords}
    if unknown := given.keys() - set(known):
        offer = ", ".join(known).replace("_", ".") or "no options"
        raise InvalidParameter(f"{name}() in the formula has no option {min(unknown)!r}; there are: {offer}")
    if len(node.args) - 1 + len(node.keywords) > len(given):
        raise InvalidParameter(f"{name}() in the formula has too many options")
    made: LearnedFunction = LEARNERS[name](**{option: _option(name, value) for option, value in given.items()})
    return made


def _option(name: str, node: ast.expr) -> Any:
    """Return an option of a call: a number, TRUE, FALSE, NULL, or several numbers."""
    match node:
        case ast.Name(id=word) if word in WORDS:
            return WORDS[word]
        case ast.Constant(value=bool() | None as value):
            return value
        case ast.Constant(value=int() | float() as value) if abs(value) < 1e300:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)) if abs(value) < 1e300:
            return -value
        case ast.Call(func=ast.Name(id="c"), args=several, keywords=[]) | ast.List(elts=several):
            numbers = [_option(name, one) for one in several]
            if all(type(one) in (int, float) for one in numbers):
                return tuple(map(float, numbers))
    raise InvalidParameter(
        f"{name}() in the formula takes numbers, TRUE, FALSE and c(1, 2), not {ast.unparse(node)!r:.80}"
    )
