"""The names that Python and the kernels share are one list, native/codes.hpp, whatever side asks."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adaline
from adaline import kernels
from adaline.scans import CoordinateRule, tally
from adaline.scans.coordinate import LOSSES as LOSSES_OF_COORDINATES
from adaline.scans.schedules import KINDS, Schedule
from adaline.sums import moments
from tests.scans.examples import EXAMPLES
from tests.sums.examples import KERNELS

native = pytest.importorskip("adaline._native")

SHARED = {
    "TallyIndex": tuple(tally.INDEX),
    "ScanState": tuple(one.name.lower() for one in tally.State),
    "MomentMode": ("centred", "raw"),
}


def test_every_loss_rule_and_schedule_of_the_kernels_is_one_of_python() -> None:
    losses = {one.name for one in native.Loss}
    assert {loss().kernel for loss in KERNELS.values()} == losses
    scans = [example.start() for example in EXAMPLES]
    assert {one.rule for one in scans if not isinstance(one, CoordinateRule)} == {one.name for one in native.Rule}
    assert {one.loss for one in scans if isinstance(one, CoordinateRule)} == set(LOSSES_OF_COORDINATES) <= losses
    kinds: list[Any] = [*KINDS, lambda step: 1.0]
    assert {Schedule(1.0, kind).native for kind in kinds} == {one.name for one in native.Schedule}
    assert list(tally.INDEX) == [one.name for one in native.TallyIndex]
    assert (moments.CENTRED, moments.RAW) == (native.MomentMode.centred.value, native.MomentMode.raw.value)


@pytest.mark.parametrize("enum", SHARED)
def test_numbers_are_the_same_with_and_without_the_native_module(enum: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = kernels.numbers_of(enum, SHARED[enum])
    monkeypatch.setattr(kernels, "native", None)
    assert kernels.numbers_of(enum, SHARED[enum]) == with_it


@pytest.mark.parametrize("wrong", [13, -1, "logistic", 1.0, None])
def test_what_is_no_loss_is_refused(wrong: Any) -> None:
    x, t, theta = np.ones((3, 1)), np.ones((3, 1)), np.zeros((1, 2))
    with pytest.raises(TypeError):
        native.objective_dense(np.zeros(3), x, wrong, 0.0, t, None, theta, np.ones(1), np.zeros(1), native.Second.none)


def test_the_stub_lists_every_name_of_the_module() -> None:
    stub = Path(adaline.__file__).with_name("_native.pyi")
    listed = {
        node.name for node in ast.parse(stub.read_text()).body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert listed == {name for name in vars(native) if not name.startswith("_")}
