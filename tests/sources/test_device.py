"""Rows of another array namespace: the same answers as NumPy's, on arrays that allow no more than the array API."""

from __future__ import annotations

from typing import Any

import array_api_strict as xp
import numpy as np
import pytest
from numpy.typing import NDArray

from adaline.errors import InvalidData
from adaline.sources import ArraySource, DeviceSource
from adaline.sums import Moments, Residual, Sum, Triangle
from tests.sums.examples import EXAMPLES, Example

Array = NDArray[Any]


def on_device(x: Array, t: Array, weight: Array | None, device: str = "device1") -> DeviceSource:
    source = DeviceSource(xp.asarray(x, device=xp.Device(device)), t, weight)
    source.rows_per_block = 30
    return source


def rows(n: int = 100) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 4)) + 1.0, rng.normal(size=(n, 2)), rng.integers(0, 3, n).astype(float)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
@pytest.mark.parametrize("weights", [True, False])
def test_sums_equal_those_of_an_array(example: Example, weights: bool) -> None:
    block = example.rows(100, weights=weights)
    device = on_device(block.x, block.t, block.weight)
    assert device.n_blocks == 4
    found = device.sum(example.kind, example.theta, **example.config)
    sought = ArraySource(block.x, block.t, block.weight).sum(example.kind, example.theta, **example.config)
    example.assert_close(found, sought, rounding=max(example.rounding, 1e-30) if example.kind is Residual else 1e-12)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_products_equal_those_of_an_array(weighted: bool, intercept: bool) -> None:
    x, t, weight = rows()
    w = weight if weighted else None
    own = weight if weighted else np.ones(len(x))
    device, array = on_device(x, t, w), ArraySource(x, t, w)
    v, u, scale = np.arange(4.0), np.arange(100.0), np.array([1.0, 2.0, 0.5, 0.0])
    ours, theirs = device.matrix(), array.matrix()
    pairs = [
        (ours.matvec(v), theirs.matvec(v)),
        (ours.rmatvec(u), theirs.rmatvec(u)),
        (ours.spread(own, intercept), theirs.spread(own, intercept)),
        *zip(ours.dual_gram(own, intercept, scale), theirs.dual_gram(own, intercept, scale), strict=True),
        (device.read_targets(), t),
    ]
    for found, sought in pairs:
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, sought, rtol=1e-12, atol=1e-12)


def test_the_first_bad_number_is_named() -> None:
    x, t, weight = rows()
    x[77, 2] = np.nan
    with pytest.raises(InvalidData, match="X contains NaN: first at row 77, column 'x2'"):
        on_device(x, t, weight).refuse_nonfinite()
    x[77, 2], t[40, 1] = 0.0, np.inf
    with pytest.raises(InvalidData, match="y contains infinity: first at row 40"):
        on_device(x, t, weight).refuse_nonfinite()


@pytest.mark.parametrize("kind", [Moments, Triangle])
def test_one_bad_number_shows_in_the_sums(kind: type[Sum]) -> None:
    x, t, weight = rows()
    x[77, 2] = np.nan
    with np.errstate(invalid="ignore"):
        found: Any = on_device(x, t, weight).sum(kind)
    assert not np.isfinite(found.buffer if kind is Moments else found.r).all()
