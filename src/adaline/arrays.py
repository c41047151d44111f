"""Arrays of any array-API namespace (NumPy, torch, cupy, jax), sparse ones and frames: their kinds, and conversions."""

from __future__ import annotations

import math
import sys
from os import PathLike
from typing import Any, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.errors import InvalidData, MissingValues
from adaline.lazy import nw, sklearn, torch

Array = NDArray[np.float64]
RowsLike = Any
"""Rows as fits take them: an array of any namespace, a list, a sparse matrix, a frame, or a source."""
RowLike = Any
"""One row: an array, a list, or a dict by the names of the columns."""
TargetsLike = Any
"""Targets or labels of rows, as an array of any namespace, a list or a column of a frame; None where there are none."""
TargetLike = Any
"""The target or the label of one row."""
LabelsLike = Any
"""Labels of classes: an array or a list of numbers, texts, booleans or dates."""
WeightsLike = Any
"""A weight for each row, as an array of any namespace, a list or a column of a frame; None for equal weights."""
OffsetsLike = Any
"""A number for each row, or for each row and output, that is added to the output; None for zero."""
GroupsLike = Any
"""A group for each row, as an array or a list of labels, or a column of a frame; None where there are none."""
DataLike = Any
"""A table: a path or a pattern of paths, a query, a frame, or an object of another library that has columns."""
HypothesisLike = Any
"""A hypothesis about coefficients: equations as text, names of columns, or a matrix of contrasts."""
AnyArray = Any
"""An array of NumPy, torch, cupy or jax: these share no class, and the array-API standard has no types to check."""
ThetaLike = Any
"""The parameters that a sum is taken at: an array of any namespace, in float64 or double-double; None without any."""
Values = TypeVar("Values")


ON_HOST = (np.ndarray, np.generic, float, int)
WITHOUT_NAMESPACE = ("torch", "cupy")  # packages whose arrays may not tell their namespace themselves
CUDA = (2, 13)  # kinds of devices of DLPack: memory of a CUDA device, and memory that the host shares with it
# numbers up to which infinities are found by a product; beyond, a sum under errstate takes less time
FEW_NUMBERS = 2**10
NO_FRAMES = (np.ndarray, list, tuple, str, PathLike)  # types of data that are surely not a frame


def is_sparse(x: AnyArray) -> bool:
    """Whether x is a SciPy sparse matrix or array, of which there is none before SciPy's module of them is loaded."""
    return not isinstance(x, np.ndarray) and "scipy.sparse" in sys.modules and bool(scipy.sparse.issparse(x))


def is_device(x: AnyArray) -> bool:
    """Whether x is an array of another namespace than NumPy's."""
    if isinstance(x, ON_HOST) or is_sparse(x):
        return False
    return hasattr(x, "__array_namespace__") or package_of(x) in WITHOUT_NAMESPACE


def package_of(x: AnyArray) -> str:
    """Return the name of the package that the type of x is from."""
    return type(x).__module__.partition(".")[0]


def on_torch(x: AnyArray) -> AnyArray:
    """Return an array of cupy or jax on a CUDA device as a tensor of the same memory, where torch has that device.

    Sums of it are then those of a tensor, to the bit. A tensor that requires gradients is returned without its history:
    fits are not differentiated. Other arrays are returned as they are.
    """
    if package_of(x) == "torch":
        return x.detach()
    if package_of(x) not in ("cupy", "jax", "jaxlib") or x.__dlpack_device__()[0] not in CUDA:
        return x
    try:
        return torch.from_dlpack(x) if torch.cuda.is_available() else x
    except ImportError:
        return x


def namespace(x: AnyArray) -> Any:
    """Return the array-API namespace of x; torch's through array-api-compat, which scikit-learn ships."""
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__()
    return sklearn.externals.array_api_compat.array_namespace(x)


def weighted(weight: AnyArray, a: Any) -> Any:
    """Return weight times a, zero where the weight is, whatever a: rows of weight zero are not there."""
    if isinstance(weight, np.ndarray) and weight.all():
        return weight * a  # in half the time
    xp = namespace(weight)
    return xp.where(weight == 0, 0.0 * weight, weight * a)


def has_float64(x: AnyArray) -> bool:
    """Whether the device of an array has float64, as sums are: those of Apple (MPS) have float32 at most."""
    info = getattr(namespace(x), "__array_namespace_info__", None)
    return info is None or "float64" in info().dtypes(device=x.device, kind="real floating")


def to_device_of(other: Any, array: AnyArray) -> AnyArray:
    """Return an array as float64 in the namespace and on the device of another."""
    if type(array) is not np.ndarray and is_device(array) and package_of(array) != package_of(other):
        array = host(array)
    xp = namespace(other)
    if isinstance(array, np.ndarray) and xp is not np and not array.flags.writeable:
        array = array.copy()
    return xp.asarray(array, dtype=xp.float64, device=other.device)


def beside(like: Any, array: AnyArray) -> AnyArray:
    """Return an array, of NumPy or a tensor, in the namespace and on the device of another, its dtype kept.

    A tensor is handed over without a copy; where jax is set to 32 bits it has no more than these. On a device without
    float64 numbers are float32.
    """
    package = package_of(like)
    if package == package_of(array):
        return array
    xp = namespace(like)
    if array.dtype == np.float64 and not has_float64(like):
        array = array.astype(np.float32)
    if package_of(array) == "torch" and package != "torch":
        return xp.from_dlpack(array)
    return xp.asarray(array, device=like.device)


def framed(data: DataLike) -> Any:
    """Return a frame as narwhals takes it, other objects as they are; refuse two columns of one name."""
    if isinstance(data, NO_FRAMES):  # asking narwhals costs a tenth of a small fit, importing it a tenth of a second
        return data
    from narwhals.exceptions import DuplicateError

    try:
        return nw.from_native(data, pass_through=True)
    except DuplicateError:
        names = list(map(str, data.column_names if hasattr(data, "column_names") else data.columns))
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InvalidData(f"the frame has two columns called {twice!r}: rename one of them") from None


def all_finite(numbers: Array) -> bool:
    """Whether all numbers of an array are finite; where their sum, or that of their squares, is, so is each of them."""
    if numbers.size <= FEW_NUMBERS:  # by a product, as to have NumPy ignore what overflows takes longer
        total = np.vdot(numbers, numbers)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.add.reduce(numbers, axis=None)
    return math.isfinite(total) or bool(np.isfinite(numbers).all())


def copy_at_once(array: Array) -> Array:
    """Return a copy of a float64 array, made while no other thread can change it: `copy` lets others run."""
    return np.ndarray(array.shape, np.float64, bytearray(array))


def overwrite(array: Array, values: Array) -> None:
    """Replace all numbers of a contiguous array by those of another, while no other thread can read it."""
    array.reshape(-1).data[:] = values.reshape(-1).data


def as_dense(x: AnyArray) -> AnyArray:
    """Return sparse rows as a dense NumPy array, other arrays as they are."""
    return x.toarray() if is_sparse(x) else x


def on_host(x: AnyArray) -> AnyArray:
    """Return rows of a device as a NumPy array, others, sparse ones too, as they are."""
    return host(x) if is_device(x) else x


def like_rows(x: AnyArray, values: Values) -> Values:
    """Return values of the rows x, on the host, where rows on a device lie; as they are where x is none of these.

    Texts, and labels of other kinds than numbers, stay on the host.
    """
    numbers = isinstance(values, np.ndarray) and values.dtype.kind in "biuf"
    out: Values = beside(x, values) if numbers and is_device(x) else values
    return out


def host_values(values: AnyArray) -> AnyArray:
    """Return values on a device as a NumPy array, whole numbers as such; others as they are."""
    if not is_device(values):
        return values
    whole = not namespace(values).isdtype(values.dtype, "real floating")
    return host(values).astype(np.int64) if whole else host(values)


def host(array: AnyArray) -> Array:
    """Return an array of any namespace as NumPy float64."""
    if type(array) is not np.ndarray and is_device(array):
        package = package_of(array)
        if package == "torch":
            array = array.detach().cpu()
            array = array.double().numpy() if array.is_floating_point() else array.numpy()  # NumPy has no bfloat16
        elif package == "cupy":
            array = array.get()
        elif package.startswith("jax"):
            array = np.asarray(array)
        else:
            array = np.from_dlpack(array)
    return np.asarray(array, dtype=np.float64)


def refuse_masked(values: AnyArray, what: str) -> None:
    """Refuse a masked array with a mask: the values under the mask are not data."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise MissingValues(f"{what} is a masked array, with masked values: drop or fill such rows")
