"""Separability against a linear program in rational arithmetic, on small sets with many ties."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import nnls

from adaline.separation.budget import Budget, Undecided
from adaline.separation.exact import complement, eliminate, whole, whole_rows
from adaline.separation.hull import SimplexBasis, alternative, nearest
from adaline.separation.separability import separability
from adaline.separation.verdict import ManyClasses
from tests.separation.separable_sets import kind, won


@st.composite
def sets(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    d = draw(st.integers(1, 3))
    n = draw(st.integers(2, 9))
    size = draw(st.integers(1, 3))
    X = draw(st.lists(st.lists(st.integers(-size, size), min_size=d, max_size=d), min_size=n, max_size=n))
    y = [0, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    return X, y


@given(sets())
@settings(max_examples=80)
def test_two_classes(rows: tuple[list[list[int]], list[int]]) -> None:
    X, y = rows
    found = separability(X, y)
    assert found.kind == kind(X, y)
    assert found.verify()


@pytest.mark.parametrize("seed", range(40))
def test_rows_that_lie_on_a_plane_up_to_rounding(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    n = int(rng.integers(d + 2, 11))
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    X -= np.outer(X @ w, w) / (w @ w)
    X[0] += (seed % 2) * w
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    found = separability(X, y)
    assert found.kind == kind(X, y)
    assert found.verify()


@pytest.mark.parametrize("seed", range(25))
def test_three_classes_jointly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 3)), int(rng.integers(3, 8))
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    y = np.r_[0, 1, 2, rng.integers(0, 3, n - 3)]
    found = separability(X, y)
    assert isinstance(found, ManyClasses)
    z = []
    for row, label in zip(X, y, strict=True):
        for own, rival in permutations(range(3), 2):
            if own == label:
                blocks = [[Fraction(0)] * (d + 1) for _ in range(3)]
                blocks[own] = [Fraction(v) for v in (1.0, *row)]
                blocks[rival] = [-Fraction(v) for v in (1.0, *row)]
                z.append([value for block in blocks for value in block])
    right = won(z)
    assert found.kind == ("complete" if all(right) else "quasi" if any(right) else "none")
    for (a, b), pair in found.pairs.items():
        some = (y == a) | (y == b)
        assert pair.kind == kind(X[some], y[some])
    assert found.verify()


@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=7))
@settings(max_examples=60)
def test_exact_algebra(rows: list[list[int]]) -> None:
    table = np.array(rows).astype(object)
    found = eliminate(table)
    assert len(found.independent) == np.linalg.matrix_rank(np.array(rows))
    for place in range(len(found.rest)):
        share = found.dependency(place)
        assert share[found.rest[place]] > 0
        assert not (share @ table).any()
    room = complement(table, 3)
    assert len(room.free) == 3 - len(found.independent)
    if room.free:
        assert not (table @ np.stack([room.lift(phi) for phi in np.eye(len(room.free), dtype=object)], axis=1)).any()
        assert not room.reduce(table).any()


@given(st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=1, max_size=7))
@settings(max_examples=60)
def test_alternative_of_gordan(rows: list[list[int]]) -> None:
    u = np.array(rows).astype(object)
    basis = SimplexBasis(2)
    phi = alternative(u, basis, Budget().spend)
    if phi is not None:
        assert (u @ phi > 0).all()
    else:
        share = {row: value for row, value in zip(basis.rows, basis.weights, strict=True) if value != 0}
        assert min(share.values()) > 0
        assert min(share) >= 0
        assert not sum(value * u[row] for row, value in share.items()).any()


@pytest.mark.parametrize("values", [[0.1, -3.0, 1e-300, 2.0**60], [0.0, 5.0, -1e308, 1.0]])
def test_rows_as_integers(values: list[float]) -> None:
    shift, exponent = np.array([0.5, 0.0, 1e-3, 3.0]), np.array([3, -5, 0, 40])
    rows, power = whole_rows(np.array([values]), shift, exponent)
    exact = [
        Fraction(1),
        *(
            (Fraction(v) - Fraction(float(s))) / Fraction(2) ** int(e)
            for v, s, e in zip(values, shift, exponent, strict=True)
        ),
    ]
    assert [Fraction(v) for v in rows[0]] == [v * Fraction(2) ** int(power[0]) for v in exact]
    assert (whole([0.5, Fraction(1, 3), -2]) == [3, 2, -12]).all()


def test_nearest_point_separates_or_is_zero() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows = rng.normal(size=(30, 4)) + rng.choice([0.0, 3.0])
        support, point = nearest(rows, enough=1 - 1e-9)
        corners = np.column_stack([rows[support], np.ones(len(support))])
        _, missing = nnls(corners.T, np.append(point, 1.0))  # a convex combination of the rows of the support
        assert missing < 1e-12
        assert np.linalg.norm(point) < 1e-12 or (rows @ point > 0.999 * point @ point).all()


def test_exact_pivots_are_paid_for() -> None:
    rng = np.random.default_rng(5)
    u = rng.integers(-100, 100, (40, 6)).astype(object)
    spent: list[float] = []
    alternative(u, SimplexBasis(6), spent.append)
    assert len(spent) > 1
    assert spent[-1] > spent[0] > 0  # integers grow
    with pytest.raises(Undecided):
        alternative(u, SimplexBasis(6), Budget(1.5 * spent[0]).spend)
