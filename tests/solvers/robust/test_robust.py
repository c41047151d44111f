"""Scales of streamed residuals are those of residuals in memory, whatever window begins; quantiles as programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adaline import RobustRegression
from adaline.block import Block
from adaline.solvers.robust import quantile
from adaline.solvers.robust.m_estimation import _secant
from adaline.solvers.robust.quantile import solve_program
from adaline.solvers.robust.scales import HuberScale, Mad, RankedScale, median, middle_of, scale_by_passes
from adaline.sources import ArraySource
from adaline.sums import Ranks, ranks
from adaline.sums.ranks import INFINITY_KEY, key_of


class FirstTarget:
    """What `Ranks` reads of a row."""

    def read(self, block: Block) -> Any:
        return block.t[:, 0]


def residuals(kind: str, n: int, rng: np.random.Generator) -> Any:
    if kind == "tied":
        return rng.integers(-3, 4, n).astype(float)
    if kind == "on a plane":
        return np.where(rng.random(n) < 0.7, 0.0, rng.normal(size=n))
    return rng.standard_t(1.0, size=n) * 10.0 ** rng.integers(-200, 200)


@pytest.mark.parametrize("most", [4, 64, 2**14])
@pytest.mark.parametrize("kind", ["far", "tied", "on a plane"])
@pytest.mark.parametrize("scale", [Mad(), HuberScale(3)], ids=["mad", "huber"])
def test_passes_find_the_scale_of_memory(
    scale: RankedScale, kind: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks, "MOST_CELLS", most)
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 1001):
        r = residuals(kind, n, rng)
        for weight in (None, rng.integers(0, 4, n) + (np.arange(n) == 0), 0.1 * rng.integers(1, 3, n)):
            source = ArraySource(np.empty((n, 1)), r[:, None], None if weight is None else weight.astype(float))
            source.rows_per_block = 100
            expected = scale.of(r, np.ones(n) if weight is None else weight.astype(float))
            middle = scale.reach * expected
            for window in (
                None,
                (0, INFINITY_KEY),
                (key_of(0.9 * middle), key_of(1.1 * middle) + 1),
                (0, 1),
                (INFINITY_KEY, INFINITY_KEY),
            ):
                known = None if window is None else source.sum(Ranks, FirstTarget(), window=window)
                found = scale_by_passes(source, FirstTarget(), scale, known)
                if isinstance(scale, Mad):
                    assert found == expected
                assert found == pytest.approx(expected, rel=1e-13)


def test_rows_without_weight_have_no_scale() -> None:
    source = ArraySource(np.empty((5, 1)), np.arange(5.0)[:, None], np.zeros(5))
    assert scale_by_passes(source, FirstTarget(), Mad()) == 0.0


def test_a_known_neighbourhood_takes_one_pass_and_none_two() -> None:
    r = np.random.default_rng(1).normal(size=50_000)
    source = ArraySource(np.empty((len(r), 1)), r[:, None])
    expected = Mad().of(r, np.ones(len(r)))
    assert scale_by_passes(source, FirstTarget(), Mad()) == expected
    assert source.reads[0] == 2
    near = (key_of(0.999 * Mad.reach * expected), key_of(1.001 * Mad.reach * expected))
    scale_by_passes(source, FirstTarget(), Mad(), source.sum(Ranks, FirstTarget(), window=near))
    assert source.reads[0] == 3


def test_the_middle_of_nothing_and_of_nan_is_nan() -> None:
    assert middle_of(np.array([3.0, 1.0, 2.0])) == 2.0
    for values in (np.array([]), np.array([1.0, np.nan, 2.0]), np.array([np.nan])):
        assert np.isnan(middle_of(values))
        assert np.isnan(median(values, np.ones(len(values))))
    assert np.isnan(median(np.array([1.0]), np.zeros(1)))


@pytest.mark.parametrize("seed", range(4))
def test_targets_most_of_which_are_equal_need_no_simplex_method(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    n, p, level = 10_000, 12, 0.47
    rng = np.random.default_rng(seed)
    a = np.column_stack([np.ones(n), rng.standard_normal((n, p)), rng.exponential(size=n) ** 3])
    t = np.where(rng.uniform(size=n) < 0.02, rng.exponential(size=n), 0.0)
    a, t = np.vstack([a, 3 * a.sum(axis=0)]), np.append(t, t.sum())  # as many rows on one side are added up
    monkeypatch.setattr(quantile, "_simplex", None)
    found = solve_program(a, t, level, 1e-12 * rng.standard_normal(p + 2))
    assert found.on_plane.any()


def test_duals_of_many_ties_satisfy_their_equations() -> None:
    rng = np.random.default_rng(400)
    X = rng.integers(0, 2, (400, 3)).astype(float)
    proof = RobustRegression(loss="absolute").fit(X, rng.integers(0, 2, 400)).certificate_
    assert proof.gap <= 1e-10 * proof.objective


def test_the_next_scale_is_where_the_line_through_two_of_them_stays() -> None:
    assert _secant([(1.0, 2.0)]) == 2.0
    assert _secant([(1.0, 2.0), (1.5, 2.2)]) == pytest.approx(1.5 + 0.7 / 0.6, rel=1e-14)
    assert _secant([(1.0, 2.0), (1.5, 2.0)]) == 2.0
    assert _secant([(1.0, 2.0), (1.5, 2.45)]) == 2.45  # too steep to say
    assert _secant([(1.0, 2.0), (1.5, 2.44)]) == 2.44  # beyond twice the scale
