"""The options of a table are written once in its spec and once on the command line."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pytest

from adaline import compare, open_table
from adaline.cli.app import TABLE_OPTIONS
from adaline.sources.tables.spec import TableSpec

SPEC = {one.name for one in fields(TableSpec)}


def test_open_table_and_the_command_line_have_the_options_of_the_spec() -> None:
    assert set(inspect.signature(open_table).parameters) == SPEC | {"data", "table", "progress", "cluster", "device"}
    assert set(TABLE_OPTIONS) == SPEC | {"data", "table", "drop", "cluster"}


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
