"""LAPACK without Python's lock: the results of SciPy's calls, to the bit, while other threads run."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from scipy.linalg import lapack as scipys

from adaline.solvers import lapack


@pytest.fixture
def matrix(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(lapack, "LARGE_MATRIX", 4)
    x = np.random.default_rng(0).normal(size=(30, 9))
    return x.T @ x


@pytest.mark.parametrize("lower", [0, 1])
@pytest.mark.parametrize("clean", [0, 1])
def test_factors_solutions_and_inverses_are_those_of_scipy(matrix: Any, lower: int, clean: int) -> None:
    found, wanted = lapack.dpotrf(matrix, lower, clean), scipys.dpotrf(matrix, lower=lower, clean=clean)
    assert found[1] == wanted[1] == 0
    assert found[0].tolist() == wanted[0].tolist()
    assert found[0].flags.f_contiguous
    b = np.arange(27.0).reshape(9, 3)
    for right in (b, b[:, 0]):
        solved, expected = lapack.dpotrs(found[0], right, lower), scipys.dpotrs(wanted[0], right, lower=lower)
        assert solved[0].tolist() == expected[0].tolist()
    assert b.ravel().tolist() == list(range(27))
    inverse, info = lapack.dtrtri(found[0], lower)
    assert info == 0
    assert inverse.tolist() == scipys.dtrtri(wanted[0], lower=lower)[0].tolist()


def test_what_is_not_positive_definite_is_told_by_its_minor(matrix: Any) -> None:
    matrix[5, 5] = -1.0
    assert lapack.dpotrf(matrix)[1] == scipys.dpotrf(matrix)[1] == 6
    with pytest.raises(LinAlgError, match="6-th leading minor"):
        lapack.cholesky(matrix)
    assert lapack.dtrtri(np.diag([1.0, 1, 1, 0, 1]))[1] == 4
    for name in ("dpotrf", "dpotrs", "dtrtri"):  # which are called without the lock
        assert lapack._routine(name)._flags_ & ctypes._FUNCFLAG_PYTHONAPI == 0  # type: ignore[attr-defined]
