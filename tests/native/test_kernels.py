"""What the kernels accept: index types of sparse rows, columns in any order; what they refuse; instruction sets.

The digits of what they compute are those of tests/sums, tests/scans and tests/losses, on every instruction set.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from adaline.block import Block, Shape
from adaline.sums import Moments
from adaline.sums.moments import fill_reference
from tests.sums.test_moments import assert_digits, in_long_double
from tests.turns import ISAS, on_every_isa

native = pytest.importorskip("adaline._native")


@on_every_isa
def test_sparse_moments_of_every_type_equal_dense() -> None:
    rng = np.random.default_rng(0)
    z, weight = rng.normal(size=(90, 14)) * (rng.random((90, 14)) < 0.4), rng.integers(0, 4, 90) * 0.7
    x, t = np.ascontiguousarray(z[:, :12]).astype(np.float32).astype(float), z[:, 12:].copy()
    dense = Moments.zero(Shape(12, 2), centred=False)
    fill_reference(dense, Block(x, t))
    rows = sparse.csr_array(x)
    for indices, indptr, dtype in product((np.int32, np.int64), (np.int32, np.int64), (np.float32, np.float64)):
        parts = rows.data.astype(dtype), rows.indices.astype(indices), rows.indptr.astype(indptr)
        for w in (None, weight):
            m = Moments.zero(Shape(12, 2), centred=False)
            assert native.moments_csr(m.buffer, 12, 2, *parts, t, w, dense.exponent.copy())
            assert not m.centred
            assert_digits(m, in_long_double(x, t, w, False), 1e-14)


@on_every_isa
def test_sparse_rows_out_of_order_and_with_repetitions() -> None:
    indptr, columns = np.array([0, 4, 4, 7]), np.array([3, 0, 3, 1, 2, 2, 2])
    data, t = np.array([1.0, 2, 4, 8, 1, 1, 16]), np.array([[1.0], [2], [3]])
    z = np.hstack([np.array([[2.0, 8, 0, 5], [0, 0, 0, 0], [0, 0, 18, 0]]), t])
    m = Moments.zero(Shape(4, 1), centred=False)

    def run() -> bool:
        return bool(native.moments_csr(m.buffer, 4, 1, data, columns, indptr, t, None, np.zeros(5)))

    assert run()
    np.testing.assert_array_equal(m.second, z.T @ z)
    np.testing.assert_array_equal(m.first_hi, z.sum(0))
    data[2] = np.nan
    assert not run()
    columns[0] = 4
    with pytest.raises(ValueError, match="outside"):
        run()


def test_wrong_types_and_shapes_are_refused() -> None:
    x, t, state = np.ones((10, 3)), np.ones((10, 1)), Moments.zero(Shape(3, 1)).buffer
    for bad in (x.astype(int), x.astype(">f8"), x.astype(np.float16), x.tolist()):
        with pytest.raises(TypeError):
            native.moments_dense(state, 3, 1, bad, t, None, True, None)
    with pytest.raises(TypeError):
        native.moments_dense(state, 3, 1, x, t.astype(np.float32), None, True, None)
    with pytest.raises(ValueError, match="state"):
        native.moments_dense(state[:-1].copy(), 3, 1, x, t, None, True, None)
    with pytest.raises(ValueError, match="row"):
        native.moments_dense(state, 3, 1, x, t[:5].copy(), None, True, None)
    with pytest.raises(ValueError, match="usable"):
        native.use_isa("mmx")


@pytest.mark.parametrize("isa", ISAS)
def test_the_environment_can_force_a_set(isa: str) -> None:
    code = "from adaline import _native; print(_native.isa())"
    environment = {**os.environ, "ADALINE_ISA": isa}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == isa
