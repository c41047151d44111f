"""The layout: a learner in a file of its name, one name for one class, few classes of ours in an MRO."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import adaline
from tests.cases import EVERY

HOME = Path(adaline.__file__).parent
SOURCES = sorted(HOME.rglob("*.py"))
MOST_ANY = 600  # bare Any in signatures; there were 1774


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", EVERY)
def test_a_learner_is_in_the_file_of_its_name_with_few_classes_of_ours_behind_it(name: str) -> None:
    system = EVERY[name]
    assert system.__module__.removeprefix("adaline.systems.").replace("_", "") == name.lower()
    every = ("adaline.estimator", "adaline.input.columns")  # what all systems are; no reader has to open these again
    assert sum(cls.__module__.startswith("adaline.") and cls.__module__ not in every for cls in system.__mro__) <= 3


def test_no_two_classes_share_a_name_and_a_name_of_a_type_means_one_thing() -> None:
    names = Counter(name for path in SOURCES for name in re.findall(r"^ *class (\w+)", text(path), re.MULTILINE))
    assert len(names) > 500
    assert [name for name, count in names.items() if count > 1] == []
    meanings: dict[str, set[str]] = {name: {"class"} for name in names}
    for path in SOURCES:
        for name, value in re.findall(r"^([A-Z][a-z]\w+) = (.+)", text(path), re.MULTILINE):
            if "TypeVar" not in value:
                meanings.setdefault(name, set()).add(value)
    assert len(meanings) > len(names)
    assert [name for name, known in meanings.items() if len(known) > 1] == []


def test_nothing_refers_to_documents_outside_the_project() -> None:
    assert [path for path in SOURCES if re.search(r"\brows? [A-D]\d", text(path))] == []


def test_fit_drivers_take_values_and_no_system() -> None:
    for path in (HOME / "fits").glob("*.py"):
        for node in ast.walk(ast.parse(text(path))):
            if isinstance(node, ast.FunctionDef):
                names = {one.arg for one in [*node.args.args, *node.args.kwonlyargs]}
                assert "system" not in names, f"{path.name}: {node.name}"


def functions_of(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the public functions and methods of a module, with `__init__` and `__call__`; none within functions."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            if not one.name.startswith("_") or one.name in ("__init__", "__call__"):
                yield one
        elif not (isinstance(one, ast.ClassDef) and one.name.startswith("_")):
            yield from functions_of(one)


def annotations_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr | None]:
    """Return the types of all parameters of a function, those of *args and **kwargs too, and of what it returns."""
    args = function.args
    taken = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
    return [*(one.annotation for one in taken), function.returns]


def test_few_types_in_public_signatures_say_nothing() -> None:
    """`Any` alone; a name for it, such as `RowsLike` of `adaline.arrays`, says what is meant."""
    hints = [
        hint
        for path in SOURCES
        for function in functions_of(ast.parse(text(path)))
        for hint in annotations_of(function)
    ]
    assert len(hints) > 5000
    assert 0 < sum(isinstance(hint, ast.Name) and hint.id == "Any" for hint in hints) <= MOST_ANY
