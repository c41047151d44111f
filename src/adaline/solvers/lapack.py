"""Cholesky factors and triangular inverses by LAPACK, called without Python's lock where matrices are large.

SciPy holds the lock (GIL) while these routines run, unlike NumPy, so that no other thread runs for minutes on 10,000
columns: neither one that serves predictions nor one that handles Ctrl-C. The routine is the same, and so are the bits.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, lapack

from adaline.arrays import Array

# columns from which the lock is released; below, a call takes milliseconds, and releasing it would cost time
LARGE_MATRIX = 400

dgeqrf, dsyevd = lapack.dgeqrf, lapack.dsyevd  # which releases the lock, and which is used on small matrices


def dpotrf(a: Array, lower: int = 0, clean: int = 1) -> tuple[Array, int]:
    """Return the Cholesky factor of a matrix, and 0, or the order of its first minor that is not positive.

    Parameters
    ----------
    a : symmetric matrix, of which one triangle is read.
    lower : whether the factor L of LL' is wanted, not R of R'R.
    clean : whether the other triangle is set to zero.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.solvers.lapack import dpotrf
    >>> dpotrf(np.array([[4.0, 2.0], [2.0, 5.0]]))[0]
    array([[2., 1.],
           [0., 2.]])
    """
    if len(a) < LARGE_MATRIX or not _has("dpotrf"):
        factor, info = lapack.dpotrf(a, lower=lower, clean=clean)
        return factor, int(info)
    c, n = np.array(a, dtype=np.float64, order="F"), ctypes.c_int(len(a))
    info = _call("dpotrf", _triangle(lower), n, c, n)
    if clean:
        c = np.asfortranarray(np.tril(c) if lower else np.triu(c))
    return c, info


def dtrtri(c: Array, lower: int = 0) -> tuple[Array, int]:
    """Return the inverse of a triangular matrix, and 0, or the index of a zero on its diagonal, counted from 1."""
    if len(c) < LARGE_MATRIX or not _has("dtrtri"):
        inverse, info = lapack.dtrtri(c, lower=lower)
        return inverse, int(info)
    inverse, n = np.array(c, dtype=np.float64, order="F"), ctypes.c_int(len(c))
    return inverse, _call("dtrtri", _triangle(lower), b"N", n, inverse, n)


def dpotrs(c: Array, b: Array, lower: int = 0, overwrite_b: int = 0) -> tuple[Array, int]:
    """Return the solution of Ax = b by the Cholesky factor of A, and 0; b has a row for each of A."""
    if len(c) < LARGE_MATRIX or b.ndim == 1 or not _has("dpotrs"):  # one solution takes little time
        x, info = lapack.dpotrs(c, b, lower=lower, overwrite_b=overwrite_b)
        return x, int(info)
    factor, x = np.asfortranarray(c, dtype=np.float64), np.array(b, dtype=np.float64, order="F")
    n, columns = ctypes.c_int(len(c)), ctypes.c_int(x.shape[1])
    return x, _call("dpotrs", _triangle(lower), n, columns, factor, n, x, n)


def cholesky(a: Array, lower: bool = False) -> Array:
    """Return the Cholesky factor of a matrix; LinAlgError where it is not positive definite."""
    factor, info = dpotrf(a, lower=lower)
    if info:
        raise LinAlgError(f"{info}-th leading minor of the array is not positive definite")
    return factor


def _triangle(lower: int) -> bytes:
    return b"L" if lower else b"U"


def _call(name: str, *given: Any) -> int:
    """Call a routine of LAPACK without the lock; return its `info`."""
    info = ctypes.c_int()
    arguments = [
        one if isinstance(one, bytes) else one.ctypes.data if isinstance(one, np.ndarray) else ctypes.byref(one)
        for one in (*given, info)
    ]
    _routine(name)(*arguments)
    return info.value


def _has(name: str) -> bool:
    return _routine(name) is not None


@cache
def _routine(name: str) -> Any:
    """Return a routine of SciPy's LAPACK, as its Cython interface exports it; None where its integers are not int."""
    from scipy.linalg import cython_lapack

    exported: Any = cython_lapack.__pyx_capi__
    capsule, api = exported[name], ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    signature = name_of(capsule)
    kinds = [one.split()[0] for one in signature.decode().partition("(")[2].split(",")]
    if not all(kind in ("char", "int") or kind.endswith("cython_lapack_d") for kind in kinds):
        return None
    types = [ctypes.c_char_p if kind == "char" else ctypes.c_void_p for kind in kinds]
    return ctypes.CFUNCTYPE(None, *types)(address_of(capsule, signature))
