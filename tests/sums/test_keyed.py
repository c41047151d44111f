"""Sums of the rows of each key: unions and products, native and reference, against a loop over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.kernels import native
from adaline.sums.keyed import (
    KEYS_PER_ROW,
    keyed_products_reference,
    merge_totals_reference,
    numbered,
)
from tests.turns import on_every_isa


@on_every_isa
def test_unions_add_the_rows_of_equal_keys() -> None:
    rng = np.random.default_rng(2)
    types: tuple[Any, ...] = (np.float64, np.int64)
    for kind in types:
        for sizes, width in (((0, 3), 1), ((5, 0), 2), ((40, 25), 5), ((300, 300), 1), ((0, 0), 3)):
            a, b = (np.unique(rng.integers(0, 400, size)).astype(kind) for size in sizes)
            v, w = rng.uniform(size=(len(a), width)), rng.uniform(size=(len(b), width))
            both = np.union1d(a, b)
            expected = [v[a == one].sum(axis=0) + w[b == one].sum(axis=0) for one in both]
            for run in (native.merge_totals, merge_totals_reference):
                keys, values = np.empty(len(a) + len(b), dtype=kind), np.empty((len(a) + len(b), width))
                size = run(keys, values, a, v, b, w)
                np.testing.assert_array_equal(keys[:size], both)
                np.testing.assert_allclose(values[:size], np.reshape(expected, (-1, width)), rtol=1e-15)


@on_every_isa
def test_each_nan_is_a_key_of_its_own_and_stands_last() -> None:
    a, b = np.array([-0.0, 1.0, np.inf, np.nan, np.nan]), np.array([-np.inf, 0.0, 2.0, np.nan])
    v, w = np.arange(1.0, 6.0)[:, None], 10 * np.arange(1.0, 5.0)[:, None]
    for run in (native.merge_totals, merge_totals_reference):
        keys, values = np.empty(9), np.empty((9, 1))
        size = run(keys, values, a, v, b, w)
        np.testing.assert_array_equal(keys[:size], [-np.inf, 0.0, 1.0, 2.0, np.inf, np.nan, np.nan, np.nan])
        np.testing.assert_array_equal(values[:size, 0], [10.0, 21.0, 2.0, 30.0, 3.0, 4.0, 5.0, 40.0])


@on_every_isa
def test_products_are_added_at_the_code_of_each_row() -> None:
    rng = np.random.default_rng(3)
    for q, m in ((1, 1), (2, 9), (3, 16)):
        codes, weight = rng.integers(-1, 5, 60), rng.uniform(size=60)
        z, y = rng.normal(size=(60, q)), rng.normal(size=(60, m))
        expected = np.ones((5, q, m))
        for n in np.flatnonzero(codes >= 0):
            expected[codes[n]] += weight[n] * np.outer(z[n], y[n])
        for run in (native.keyed_products, keyed_products_reference):
            out = np.ones((5, q * m))
            run(out, codes, weight, z, y)
            np.testing.assert_allclose(out.reshape(expected.shape), expected, rtol=1e-12, atol=1e-14)


def test_keys_that_occur_are_numbered_in_ascending_order_whether_they_are_few_or_many() -> None:
    keys = np.array([7, -1, 3, 7, 0, 3, -1, 9])
    for size in (10, 10 * KEYS_PER_ROW * len(keys)):
        found, codes = numbered(keys, size)
        assert found.tolist() == [0, 3, 7, 9]
        assert codes.tolist() == [2, -1, 1, 2, 0, 1, -1, 3]
    assert [part.tolist() for part in numbered(np.array([-1, -1]), 4)] == [[], [-1, -1]]
