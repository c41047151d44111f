"""The check that ships with the package looks at every kernel, and tells what it finds."""

from __future__ import annotations

import json
import os
import sys
from itertools import islice
from typing import Any

import numpy as np
import pytest

from adaline import cli, kernels, selftest
from tests import nist
from tests.turns import in_turn, needs_native


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first checks are done."""
    monkeypatch.setattr(selftest, "checks", lambda all_checks=selftest.checks: islice(all_checks(), 3))


@needs_native
def test_every_kernel_is_checked_on_every_instruction_set(monkeypatch: pytest.MonkeyPatch) -> None:
    native, called = kernels.native, set()
    functions = {name for name in dir(native) if name.islower() and name[0] != "_" and "isa" not in name}

    def spied(name: str, function: Any) -> Any:
        def call(*given: Any) -> Any:
            called.add((name, native.isa()))
            return function(*given)

        return call

    for name in functions:
        monkeypatch.setattr(native, name, spied(name, getattr(native, name)))
    outcomes = selftest.check_kernels()
    assert [one for one in outcomes if not one.passed] == []
    assert called == {(name, isa) for name in functions for isa in native.isas()}
    names = {one.name.split()[0] for one in outcomes}
    assert names >= {one.name for one in native.Rule} | {one.name for one in native.Loss}


@in_turn("name", selftest.CERTIFIED)
def test_answers_are_those_of_nist(name: str) -> None:
    exact = nist.read(name.capitalize()).coef
    assert nist.digits(selftest.CERTIFIED[name], exact) > 14


@needs_native
@pytest.mark.usefixtures("few")
def test_a_kernel_that_is_off_or_fails_is_named(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    right = kernels.native.moments_merge
    monkeypatch.setattr(kernels.native, "moments_merge", lambda a, b, *shape: (right(a, b, *shape), a.__imul__(1.01)))
    monkeypatch.setattr(kernels.native, "residual_dense", lambda *_: 1 / 0)
    assert selftest.main([]) == 1
    told = capsys.readouterr().out
    for isa in kernels.native.isas():
        assert f"FAILED: moments, raw rows {isa}: differs by " in told
        assert f"FAILED: residual, rows {isa}: ZeroDivisionError: division by zero" in told
    assert cli.main(["selftest", "--json"]) == 1
    found, note = capsys.readouterr()
    assert not json.loads(found)["passed"]
    assert "checks of the installation failed" in note
    assert kernels.native.isa() == json.loads(found)["instruction_set"]


@pytest.mark.usefixtures("few")
def test_as_json(capsys: Any) -> None:
    assert cli.main(["selftest", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["passed"]
    assert found["native"] == (kernels.native is not None)
    assert found["versions"]["numpy"] == np.__version__
    assert {one["family"] for one in found["checks"]} >= {"certified by NIST"}


def test_without_native_kernels_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(selftest, "native", None)
    assert selftest.main([]) == 0
    told = capsys.readouterr().out
    assert "reference implementations in use" in told
    assert told.endswith("all 2 checks passed\n")


def test_a_reader_that_closes_early_sees_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "check_kernels", list)
    monkeypatch.setattr(selftest, "check_answers", list)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert selftest.main(["--json"]) == 141
