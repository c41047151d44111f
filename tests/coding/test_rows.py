"""Sparse rows from parts: the kernel against its reference, in all ways in which rows have entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adaline.coding.rows import Entries, as_csr
from adaline.coding.texts import join_parts, join_parts_reference
from adaline.kernels import native


def parts(rows: int, gaps: bool, several: bool) -> list[Entries]:
    """Return a part with an entry for each row, one whose rows share entries, and perhaps one with several for each."""
    rng = np.random.default_rng(rows)
    own, shared = (rng.integers(0, 7, n).astype(np.int32) for n in (rows, 5))
    if gaps:
        own[rng.random(rows) < 0.1] = shared[2] = -1
    out = [
        Entries(own),
        Entries(shared, rng.normal(size=5), which=rng.integers(0, 5, rows).astype(np.int32)),
        Entries(rng.integers(0, 7, rows).astype(np.int32), rng.normal(size=rows)),
    ]
    if several:
        counts = rng.integers(0, 3, rows)
        starts = np.concatenate([[0], np.cumsum(counts)])
        codes = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
        out.append(Entries(codes.astype(np.int32), None, starts))
    return out


def joined(function: Any, given: list[Entries], rows: int) -> list[Any]:
    size = sum(len(one.codes if one.which is None else one.which) for one in given)
    indptr, indices, data = np.zeros(rows + 1, np.int32), np.zeros(size, np.int32), np.zeros(size)
    columns = [[getattr(one, name) for one in given] for name in ("starts", "which", "codes", "values")]
    used = function(indptr, indices, data, *columns, [7 * k for k in range(len(given))], 7 * len(given))
    return [used, indptr, indices[:used], data[:used]]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("rows", [1, 255, 600])
def test_the_kernel_equals_its_reference(rows: int, gaps: bool, several: bool) -> None:
    given = parts(rows, gaps, several)
    for one, other in zip(joined(join_parts, given, rows), joined(join_parts_reference, given, rows), strict=True):
        np.testing.assert_array_equal(one, other)
    x = as_csr(rows, [(7, [one]) for one in given])
    expected = as_csr(rows, [(7, [one]) for one in given]).copy()
    expected.sum_duplicates()
    assert x.has_canonical_format
    np.testing.assert_array_equal(x.toarray(), expected.toarray())


@pytest.mark.skipif(native is None, reason="there are no native kernels")
@pytest.mark.parametrize("several", [False, True])
def test_stray_codes_and_indices_are_refused(several: bool) -> None:
    for part, name, value in ((0, "codes", 28), (1, "which", 5), (1, "which", -1)):
        given = parts(300, False, several)
        getattr(given[part], name)[270] = value
        with pytest.raises(ValueError, match="a code lies outside of the columns, or an index outside of the codes"):
            joined(join_parts, given, 300)
