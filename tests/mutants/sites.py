"""Where a source file can be changed so that a test should fail; the file with all changes, each behind a switch.

A site is one small change inside a function: a comparison, a sign, a number, a bound, a branch, an early end of a loop
or a call left out. Annotations, decorators, default values, messages and the bodies of modules and classes have none.
All sites of a file are compiled at once: `left < right` becomes

    (left <= right) if __mutant__(17) else (left < right)

so that a process that has imported the package becomes any mutant by a switch, without another import.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SWITCH = "__mutant__"
SKIPPED = {"fused", "__main__.py"}  # Triton's kernels; a file of one call

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True, order=True)
class Site:
    """A change: the file, its line and column, and what is changed."""

    path: str
    line: int
    column: int
    change: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column} {self.change}"


def sites_of(root: Path, path: Path) -> list[Site]:
    """Return all sites of a file, in its order."""
    name = path.relative_to(root).as_posix()
    finder = _Changes(name, {})
    finder.visit(ast.parse(path.read_text()))
    return sorted(finder.seen)


def draw(root: Path, folder: Path, count: int, seed: int) -> list[Site]:
    """Return a random sample of the sites of all files of a folder; its order is random too."""
    files = sorted(one for one in folder.rglob("*.py") if SKIPPED.isdisjoint(one.relative_to(root).parts))
    every = [site for file in files for site in sites_of(root, file)]
    return random.Random(seed).sample(every, min(count, len(every)))


def with_switches(source: str, path: str, numbers: dict[Site, int]) -> ast.Module:
    """Return the module of a file with some of its sites behind switches."""
    changes = _Changes(path, numbers)
    tree = changes.visit(ast.parse(source))
    assert isinstance(tree, ast.Module)
    return ast.fix_missing_locations(tree)


class _Changes(ast.NodeTransformer):
    """Collects the sites of a module in `seen`, and puts those in `numbers` behind switches."""

    def __init__(self, path: str, numbers: dict[Site, int]) -> None:
        self.path, self.numbers = path, numbers
        self.seen: list[Site] = []
        self.inside = False

    def visit(self, node: ast.AST) -> ast.AST:
        """Visit a node; outside of functions only what holds functions."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            before, self.inside = self.inside, node.name not in ("__repr__", "__str__")
            node.body = self._statements(node.body)
            self.inside = before
            return node
        if isinstance(node, ast.Module | ast.ClassDef):
            before, self.inside = self.inside, False
            node.body = self._statements(node.body)
            self.inside = before
            return node
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.pattern):
            return node
        if isinstance(node, ast.AnnAssign):
            node.value = None if node.value is None else self.visit(node.value)  # type: ignore[assignment]
            return node
        super().generic_visit(node)
        if not self.inside:
            return node
        if isinstance(node, ast.expr):
            for change, new in _expressions(node):
                node = self._switched(node, change, new)
            return node
        return self._statement(node)

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [new for new in map(self.visit, body) if isinstance(new, ast.stmt)]

    def _number(self, node: ast.expr | ast.stmt, change: str) -> int | None:
        site = Site(self.path, node.lineno, node.col_offset, change)
        self.seen.append(site)
        return self.numbers.get(site)

    def _switched(self, node: ast.expr, change: str, new: Callable[[], ast.expr]) -> ast.expr:
        number = self._number(node, change)
        return node if number is None else ast.copy_location(ast.IfExp(_switch(number), new(), node), node)

    def _statement(self, node: ast.AST) -> ast.AST:
        """Return a statement, which may be left out behind a switch."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            change = f"{ast.unparse(node.value.func)}() left out"
        elif isinstance(node, ast.Break | ast.Continue):
            change = f"{type(node).__name__.lower()} left out"
        elif isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
            change = f"{_symbol(node.op)}= left out"
        else:
            return node
        number = self._number(node, change)
        if number is None:
            return node
        return ast.copy_location(ast.If(_switch(number), [ast.Pass()], [node]), node)


def _expressions(node: ast.expr) -> Iterator[tuple[str, Callable[[], ast.expr]]]:
    """Yield the changes of one expression, by name, with what makes them."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        op = COMPARISONS[type(node.ops[0])]()
        yield (
            f"{_symbol(node.ops[0])} to {_symbol(op)}",
            lambda: ast.Compare(node.left, [op, *node.ops[1:]], node.comparators),
        )
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        other = OPERATORS[type(node.op)]()
        yield f"{_symbol(node.op)} to {_symbol(other)}", lambda: ast.BinOp(node.left, other, node.right)
    elif isinstance(node, ast.BoolOp):
        joined = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"{_symbol(node.op)} to {_symbol(joined)}", lambda: ast.BoolOp(joined, node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield f"{_symbol(node.op)} left out", lambda: node.operand
    elif isinstance(node, ast.IfExp):
        yield "branches exchanged", lambda: ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value} to {not node.value}", lambda: ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        value = node.value
        new = value + 1 if isinstance(value, int) else 2 * value if value else 1.0
        yield f"{value} to {new}", lambda: ast.Constant(new)
    elif isinstance(node, ast.Call):
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if name in FUNCTIONS:
            other_name = FUNCTIONS[name]
            yield f"{name} to {other_name}", lambda: ast.Call(_renamed(function, other_name), node.args, node.keywords)


def _renamed(function: ast.expr, name: str) -> ast.expr:
    if isinstance(function, ast.Attribute):
        return ast.Attribute(function.value, name, ast.Load())
    return ast.Name(name, ast.Load())


def _switch(number: int) -> ast.expr:
    return ast.Call(ast.Name(SWITCH, ast.Load()), [ast.Constant(number)], [])


def _symbol(op: ast.AST) -> str:
    blank: Sequence[ast.expr] = [ast.Name("a", ast.Load()), ast.Name("b", ast.Load())]
    if isinstance(op, ast.cmpop):
        text = ast.unparse(ast.Compare(blank[0], [op], [blank[1]]))
    elif isinstance(op, ast.boolop):
        text = ast.unparse(ast.BoolOp(op, list(blank)))
    elif isinstance(op, ast.unaryop):
        return ast.unparse(ast.UnaryOp(op, blank[0])).removesuffix("a").strip()
    else:
        assert isinstance(op, ast.operator)
        text = ast.unparse(ast.BinOp(blank[0], op, blank[1]))
    return text.removeprefix("a").removesuffix("b").strip()
