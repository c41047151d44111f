"""The compiled kernels, `native`; None where they could not be built: then the references run, after one warning."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from adaline.arrays import AnyArray, is_sparse, package_of
from adaline.block import UnitsApart
from adaline.errors import AdalineWarning, warn

native: Any
try:
    from adaline import _native as native
except ImportError as error:
    native = None
    warn(
        f"adaline's native core is missing ({error}): results are the same, but slower. "
        "Install a C++ compiler and reinstall adaline.",
        AdalineWarning,
    )


def call_native(name: str, out: Any, x: AnyArray, *rest: Any) -> None:
    """Call the kernel of this name for dense or sparse rows x, with its outputs and other arguments."""
    if is_sparse(x):
        getattr(native, f"{name}_csr")(out, x.data, x.indices, x.indptr, *rest)
    elif isinstance(x, UnitsApart):
        numbers = x.numbers
        arrays = (numbers.data, numbers.indices, numbers.indptr)
        getattr(native, f"{name}_csr")(out, *arrays, *rest, x.units, x.starts)
    else:
        getattr(native, f"{name}_dense")(out, x, *rest)


def fused_kernels(x: AnyArray) -> Any:
    """Return the kernels for rows x on a CUDA device, `adaline.fused`; None where there are none, as without Triton.

    With TRITON_INTERPRET=1 they serve tensors on the host too, slowly.
    """
    if package_of(x) != "torch" or not (x.is_cuda or os.environ.get("TRITON_INTERPRET") == "1"):
        return None
    if x.dim() != 2 or x.stride(1) != 1 or x.dtype.itemsize < 4 or not x.is_floating_point():
        return None
    return _fused()


@lru_cache
def _fused() -> Any:
    try:
        from adaline import fused
    except ImportError:
        return None
    return fused


def numbers_of(enum: str, names: tuple[str, ...]) -> dict[str, int]:
    """Return the number of each name in an enum of native/codes.hpp; without the native module, its index in `names`.

    For what the references share with the kernels, such as the indices of tallies. `names` follow the enum's order, so
    that a state stored by one kind of installation is read by the other.
    """
    return {name: i if native is None else getattr(native, enum)[name].value for i, name in enumerate(names)}
