"""Stored proofs: an independent checker accepts all of them, and none of what is not true."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from adaline import GeneralizedLinear
from adaline.enclosures import checker
from adaline.errors import InvalidParameter
from adaline.links import Power
from tests.certificates.cases import FAMILIES
from tests.certificates.exact import Jet
from tests.enclosures.proofs import mutated, proven


@pytest.mark.parametrize("count", [25, pytest.param(1000, marks=pytest.mark.night)])
def test_the_checker_accepts_proofs_and_rejects_what_is_false(count: int, tmp_path: Path) -> None:
    rejected, number, rng = 0, 0, np.random.default_rng(count)
    while rejected < count:
        number += 1
        one = proven(17, number, tmp_path)
        if one is None:
            continue
        assert one.accepted(), number
        for _ in range(4):
            other = mutated(one, rng)
            if other is not None:
                assert not other.accepted(), number
                rejected += 1


def test_the_checker_relies_on_the_standard_library_alone() -> None:
    tree = ast.parse(Path(checker.__file__).read_text())
    used = {one.module for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
    used |= {name.name for one in ast.walk(tree) if isinstance(one, ast.Import) for name in one.names}
    assert {str(name).partition(".")[0] for name in used} <= set(sys.stdlib_module_names)


@pytest.mark.parametrize(("exponent", "written"), [(0.5, True), (1 / 3, False)])
def test_powers_that_the_checker_cannot_take_have_no_proof(exponent: float, written: bool, tmp_path: Path) -> None:
    x = np.linspace(1.0, 3.0, 20)
    y = np.random.default_rng(5).poisson(x ** (1 / exponent)).astype(float)
    found = GeneralizedLinear(loss="poisson", link=Power(exponent)).fit(x[:, None], y).enclose(x[:, None], y)
    assert found.proved
    if not written:
        with pytest.raises(InvalidParameter, match="not written"):
            found.save(tmp_path / "m.proof")
        return
    found.save(tmp_path / "m.proof")
    rows = ({"x0": repr(a), "y": repr(b)} for a, b in zip(x.tolist(), y.tolist(), strict=True))
    checker.verify(checker.load_proof(tmp_path / "m.proof"), rows)


def test_exponentials_lie_within_their_bounds() -> None:
    for z in [*np.random.default_rng(2).uniform(-600, 600, 60), 0.0, 1e-300, -1e-20]:
        low, high = checker.exp_bounds(checker.real(float(z)))
        with mpmath.mp.workdps(400):
            exact = mpmath.exp(mpmath.mpf(float(z))) * checker.UNIT
            assert low <= exact <= high
        assert high - low <= 2 + (high >> 200)


@pytest.mark.parametrize(
    ("name", "loss", "low", "high"),
    [
        ("binomial", {"name": "binomial"}, -300, 300),
        ("probit", {"name": "binomial", "link": "probit"}, -30, 30),
        ("cloglog", {"name": "binomial", "link": "cloglog"}, -400, 6),
        ("binomial log", {"name": "binomial", "link": "log"}, -30, -1e-3),
        ("tweedie", {"name": "tweedie", "power": 1.5}, -30, 30),
        ("poisson identity", {"name": "tweedie", "power": 1, "link": 1.0}, 1e-3, 50),
        ("poisson sqrt", {"name": "tweedie", "power": 1, "link": 0.5}, 1e-3, 50),
        ("gamma inverse", {"name": "tweedie", "power": 2, "link": -1.0}, 1e-3, 50),
        ("inverse gaussian", {"name": "tweedie", "power": 3, "link": -2.0}, 1e-3, 50),
    ],
)
def test_slopes_and_curvatures_lie_within_their_bounds(name: str, loss: Any, low: float, high: float) -> None:
    rng, cost = np.random.default_rng(2), FAMILIES[name].cost
    assert cost is not None
    for z, t in zip(rng.uniform(low, high, 12).tolist(), rng.uniform(size=12).tolist(), strict=True):
        slope, curvature = checker.LOSSES[loss["name"]](checker.real(z), [checker.real(t)[0]], loss)
        with mpmath.mp.workdps(500):
            exact = cost(Jet(mpmath.mpf(z), 1), mpmath.mpf(t))
            assert slope[0] <= exact.b * checker.UNIT <= slope[1]
            assert curvature[0] <= exact.c * checker.UNIT <= curvature[1]
        assert slope[1] - slope[0] <= 2 + (max(map(abs, slope)) >> 150)
