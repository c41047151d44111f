"""The layout: a learner in a file of its name, one name for one class, few classes of ours in an MRO."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import adaline
from adaline.systems import SYSTEMS, UNSUPERVISED
from tests.conftest import kept_cases

HOME = Path(adaline.__file__).parent
SOURCES = sorted(HOME.rglob("*.py"))
EVERY = {**SYSTEMS, **UNSUPERVISED}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", EVERY)
def test_a_learner_is_in_the_file_of_its_name(name: str) -> None:
    file = EVERY[name].__module__.removeprefix("adaline.systems.")
    assert file.replace("_", "") == name.lower()


@pytest.mark.parametrize("system", EVERY.values(), ids=EVERY)
def test_at_most_three_classes_of_ours_are_behind_a_learner(system: type[Any]) -> None:
    stand_ins = "adaline.estimator"  # for scikit-learn's classes, which are not ours
    ours = [cls for cls in system.__mro__ if cls.__module__.startswith("adaline.") and cls.__module__ != stand_ins]
    assert len(ours) <= 3


def test_no_two_classes_share_a_name() -> None:
    names = Counter(node.name for path in SOURCES for node in ast.walk(parsed(path)) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []


def test_nothing_refers_to_documents_outside_the_project() -> None:
    for path in SOURCES:
        assert not re.search(r"\brows? [A-D]\d", path.read_text(encoding="utf-8")), path


def test_a_name_of_a_type_means_one_thing() -> None:
    meanings: dict[str, set[str]] = {}
    for path in SOURCES:
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef):
                meanings.setdefault(node.name, set()).add(str(path))
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if re.fullmatch(r"[A-Z][a-z]\w+", name) and "TypeVar" not in ast.unparse(node.value):
                    meanings.setdefault(name, set()).add(ast.unparse(node.value))
    assert [name for name, known in meanings.items() if len(known) > 1] == []


def test_fit_drivers_take_values_and_no_system() -> None:
    for path in (HOME / "fits").glob("*.py"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef):
                names = {one.arg for one in [*node.args.args, *node.args.kwonlyargs]}
                assert "system" not in names, f"{path.name}: {node.name}"


def test_quick_tests_are_different_cases_of_different_laws() -> None:
    for cases, count in ((1, 1), (2, 1), (15, 1), (16, 2), (100, 5)):
        kept = [kept_cases(f"law {k}", cases) for k in range(200)]
        assert {len(one) for one in kept} == {count}
        assert set[int]().union(*kept) == set(range(cases))
