"""Weights of bootstrap replicates: fixed by row and seed, of the right distribution, summed like any other weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adaline.block import Block
from adaline.sums.replicates import Replicates, packed_pairs, unpacked

RNG = np.random.default_rng(0)


def rows(first: int, count: int, weight: float | None = None) -> Block:
    own = None if weight is None else np.full(count, weight)
    return Block(np.ones((count, 1)), np.ones((count, 1)), own, first_row=first)


def test_weights_depend_on_row_replicate_and_seed_alone() -> None:
    whole = Replicates(0, 50, seed=3).weights(rows(0, 100))
    assert (Replicates(0, 50, seed=3).weights(rows(60, 40)) == whole[60:]).all()
    assert (Replicates(7, 20, seed=3).weights(rows(0, 100))[:, 1:] == whole[:, 8:28]).all()
    assert (Replicates(0, 50, seed=4).weights(rows(0, 100)) != whole).any()
    assert (whole[:, 0] == 1).all()


@pytest.mark.parametrize("weight", [1.0, 0.3, 2.0, 50.0])
def test_a_weight_is_drawn_as_that_many_rows(weight: float) -> None:
    """Mean and variance of Poisson numbers; rows and replicates are independent of each other."""
    drawn = Replicates(0, 500, seed=1).weights(rows(0, 1000, weight))[:, 1:]
    assert drawn.mean() == pytest.approx(weight, rel=5 / np.sqrt(weight * drawn.size))
    assert drawn.var() == pytest.approx(weight, rel=0.01)
    assert ((drawn - weight) ** 3).mean() == pytest.approx(weight, rel=0.1)
    for correlation in (np.corrcoef(drawn), np.corrcoef(drawn.T)):
        beside = correlation[~np.eye(len(correlation), dtype=bool)]
        assert abs(beside).max() < 0.25
        assert np.sqrt((beside**2).mean()) == pytest.approx(1 / np.sqrt(drawn.size / len(correlation)), rel=0.05)


def test_a_precision_goes_with_its_row() -> None:
    drawn = Replicates(0, 9, seed=1)
    assert (drawn._replace(precision=True).weights(rows(0, 5, 0.3)) == 0.3 * drawn.weights(rows(0, 5))).all()


def test_rows_of_a_group_are_drawn_together() -> None:
    group = np.array([2.0, 0.0, 2.0, 1.0, 0.0])
    block = Block(np.ones((5, 1)), np.column_stack([np.ones(5), group]))
    drawn = Replicates(0, 30, seed=5, groups=np.arange(3.0)).weights(block)
    assert (drawn[0] == drawn[2]).all()
    assert (drawn[1] == drawn[4]).all()
    assert (drawn[[1, 3, 0]] == Replicates(0, 30, seed=5, groups=np.arange(3.0)).counts()).all()
    others = replace(block, t=np.column_stack([np.ones(5), 10 * group - 7]))
    assert (Replicates(0, 30, seed=5, groups=np.array([-7.0, 3.0, 13.0])).weights(others) == drawn).all()


@pytest.mark.parametrize("groups", [0, 5, 40])
def test_signs_have_mean_zero_and_variance_one(groups: int) -> None:
    own = np.arange(float(groups)) if groups else None
    block = Block(np.ones((300, 1)), np.arange(300.0)[:, None] % max(groups, 1))
    signs = Replicates(0, 500, seed=2, groups=own).signs(block)
    assert signs.mean() == pytest.approx(0, abs=0.05)
    assert signs.var() == pytest.approx(1, abs=0.05)
    assert len(np.unique(signs)) == (6 if groups == 5 else 2)


def test_pairs_are_packed_and_unpacked() -> None:
    z = RNG.normal(size=(4, 3))
    assert (unpacked(packed_pairs(z), 3) == z[:, :, None] * z[:, None, :]).all()
