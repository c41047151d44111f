"""The options of a table are written once in its spec and once on the command line."""

from __future__ import annotations

import inspect
import sys
from dataclasses import fields
from typing import Any

import pytest
import typer

from adaline import compare, open_table
from adaline.cli import commands
from adaline.cli.app import app
from adaline.cli.options import TABLE_OPTIONS
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.spec import TableSpec

SPEC = {one.name for one in fields(TableSpec)}
OF_A_MODEL = {"notations", "unreadable", "levels"}  # not of the user
READING = {one.name for one in fields(FileOptions)} - OF_A_MODEL
LINES = [
    "fit penguins",
    "fit penguins -t y --features a,b --drop c --set rate=1 --set init=2 --missing mean --json -o m.adaline --passes 3",
    "fit - --categories size=low<high --hash id=2^20 --words title=tfidf --unseen other --absorb firm",
    "predict m.adaline new.csv --level 0.9 --interval prediction --keep none",
    "compare penguins -t y --folds 3 --seed 7 --systems Ridge --task regression",
    "merge a.adaline b.adaline -o c.adaline",
    "systems",
]


def test_open_table_and_the_command_line_have_the_options_of_the_spec() -> None:
    assert set(inspect.signature(open_table).parameters) == SPEC | READING | {"data", "progress", "cluster", "device"}
    assert set(TABLE_OPTIONS) == SPEC | READING | {"data", "drop", "cluster"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"target": "y", "features": ["a", "b"], "weight": "w", "missing": "mean", "unseen": "other"},
        {"target": ["y", "z"], "dates": ["when"], "categories": ["c", "d"]},
        {"formula": "y ~ x", "categories": {"c": ("low", "high")}},
    ],
)
def test_a_spec_gives_its_options_back(options: dict[str, Any]) -> None:
    spec = TableSpec.of(**options)
    assert spec.options() == options
    assert TableSpec.of(**spec.options()) == spec


def test_one_name_needs_no_list() -> None:
    assert TableSpec.of(features="a", categories="c", dates="when") == TableSpec.of(
        features=["a"], categories=["c"], dates=["when"]
    )


def test_compare_refuses_an_option_that_no_table_has() -> None:
    with pytest.raises(TypeError, match="there is no option 'penalty' for a table; there are: target, features"):
        compare("penguins", target="species", penalty=1.0)


def parsed(line: str) -> dict[str, Any]:
    """Return the values of the parameters of a command line."""
    name, *words = line.split()
    group: Any = typer.main.get_command(app)
    found: dict[str, Any] = group.commands[name].make_context(name, words).params
    return found


@pytest.mark.parametrize("line", LINES)
def test_texts_that_are_taken_as_given_are_as_typer_converts_them(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert commands  # registered
    taken = parsed(line)
    monkeypatch.setattr(sys.modules["adaline.cli.app"], "taken_as_given", lambda parameters, texts=(): parameters)
    converted = parsed(line)
    assert list(taken) == list(converted)
    for name, value in converted.items():
        assert type(taken[name]) is type(value)
        assert taken[name] == value
