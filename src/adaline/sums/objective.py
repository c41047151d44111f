"""The objective of a linear machine under any loss: value, gradient and curvature over rows (S0 5.9, S2 IRLS, S4).

    v = x scale + offset,   z_k = theta_k0 + theta_k'v
    value = sum weight loss(z, t),   gradient_k = sum weight slope_k (1, v)
    hessian_k = sum weight curvature_k (1, v)(1, v)'        each output alone
              = sum weight (diag(p) - p p') (x) (1, v)(1, v)'      softmax: all outputs together, class after class

A view (scale and offset) brings columns to unit spread about zero without a copy of X, so that results do not depend on
units; its scales are powers of two and cause no rounding. In sparse rows only few columns have an offset. The native
kernels compute all of this in one read of X, as do the kernels for CUDA devices (`adaline.fused`) up to a few hundred
columns; both are tested against the references here, which serve other devices and user-defined losses. Wide rows on a
device are not brought into the view, which would copy them: the weights are transformed instead, unless the offset is
so large that this would cost digits.

In C++: `native/objective.hpp`, of sparse rows `native/objective_csr.hpp`; the losses are in `native/losses.hpp`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline.arrays import (
    AnyArray,
    Array,
    ThetaLike,
    as_dense,
    host,
    is_device,
    is_sparse,
    namespace,
    to_device_of,
    weighted,
)
from adaline.block import Block, Columns, Shape, UnitsApart
from adaline.forms import Finite, Positive
from adaline.kernels import call_native, fused_kernels, native
from adaline.losses import Loss
from adaline.sums.base import Totals
from adaline.sums.moments import PIECE_NUMBERS, batched_product

FULL_DENSITY = 0.2  # density from which a matrix of all machines is summed over dense rows; the times are equal near it
# mean in spreads up to which a column is not centred, which costs at most one digit; 10x larger costs two
NEAR_MEAN = 8.0
# numbers of outputs and the like held on a device at a time; doubling it takes another 2 GiB there
DEVICE_NUMBERS = 2**28


class View(NamedTuple):
    """Scaled columns v_j = x_j scale_j + offset_j; scale and offset are (D,)."""

    scale: Annotated[Array, Positive("D")]
    offset: Annotated[Array, Finite("D")]


class Point(NamedTuple):
    """Where a sum is taken: theta (K, 1 + D) in the coordinates of the view; a direction (K, 1 + D) for products."""

    loss: Loss
    theta: Array
    view: View
    direction: Array | None = None


class Objective(Totals):
    """Value (K,), or (1,) for coupled outputs, gradient (K, 1 + D) and, if asked for, the second derivatives."""

    uses_blas: ClassVar[bool] = True
    reads_columns: ClassVar[bool] = True
    has_device_kernel: ClassVar[bool] = True
    reads_units: ClassVar[bool] = True

    def __init__(self, outputs: int, features: int, coupled: bool, second: str, sums: Array) -> None:
        self.outputs, self.features, self.coupled, self.second, self.sums = outputs, features, coupled, second, sums

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows.

        `outputs` is the number of machines K, `coupled` whether the loss is one of all outputs of a row, `second` which
        second derivatives are added: "none", "alone" (those of each machine) or "all".
        """
        k = config.get("outputs", shape.targets)
        coupled, second = config.get("coupled", False), config.get("second", "none")
        if not coupled and second == "all":
            second = "alone"
        side = 1 + shape.features
        size = (1 if coupled else k) + k * side
        size += {"none": 0, "alone": k * side**2, "all": (k * side) ** 2}[second]
        return cls(k, shape.features, coupled, second, np.zeros(size))

    @property
    def value(self) -> Array:
        """The sum of weight x loss."""
        return self.sums[: 1 if self.coupled else self.outputs]

    @property
    def gradient(self) -> Array:
        """Its derivative by theta, (K, 1 + D)."""
        first = len(self.value)
        return self.sums[first : first + self.outputs * (1 + self.features)].reshape(self.outputs, -1)

    @property
    def hessian(self) -> Array:
        """Its second derivatives: (K, 1 + D, 1 + D), or (K (1 + D), K (1 + D)) for all of coupled outputs."""
        side = 1 + self.features
        tail = self.sums[len(self.value) + self.outputs * side :]
        return tail.reshape((self.outputs * side, -1) if self.second == "all" else (self.outputs, side, side))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a Point; one target serves all machines of a loss that does not couple them."""
        point: Point = theta
        if block.t.shape[1] == 1 < len(point.theta) and not point.loss.coupled:
            block = replace(block, t=namespace(block.t).concat([block.t] * len(point.theta), axis=1))
        if len(point.theta) > 1 or self.second != "none":
            block = _without_units_apart(block)
        if self.second == "all" and is_sparse(block.x) and block.x.nnz > FULL_DENSITY * math.prod(block.x.shape):
            for piece in block.pieces(PIECE_NUMBERS):
                self.add(replace(piece, x=as_dense(piece.x)), point)
            return
        natively = _read_natively(block)
        rows = point.loss.native_rows(block.t, block.weight) if natively else None
        if rows is not None:
            call_native("objective", self.sums, block.x, *_kernel_arguments(rows, point), native.Second[self.second])
            self.value[:] += rows[2]
        elif natively and self.second != "all":  # a loss without a kernel: outputs and sums are native
            loss, z, weight = point.loss, _margins(block, point, point.theta), row_weights(block, block.t)
            self.value[:] += weighted(weight, loss.value(z, block.t)).sum(axis=0)
            curvature = _rows(weighted(weight, loss.curvature(z, block.t))) if self.second == "alone" else None
            slope = weighted(weight, loss.slope(z, block.t))
            _gather(self.sums[len(self.value) :], block, slope, curvature, point.view)
        elif is_device(block.x):
            self.sums += device_objective(block.gathered(), point, self.second)
        else:
            for piece in block.pieces(PIECE_NUMBERS):
                self.sums += objective_reference(piece, point, self.second)


class HessianProduct(Totals):
    """The second derivatives at a point times its direction, (K, 1 + D); no matrix is formed."""

    uses_blas: ClassVar[bool] = True
    reads_columns: ClassVar[bool] = True
    has_device_kernel: ClassVar[bool] = True
    reads_units: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `outputs` is the number of machines."""
        return cls(np.zeros((config.get("outputs", shape.targets), 1 + shape.features)))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a Point with a direction."""
        point: Point = theta
        if len(point.theta) > 1:
            block = _without_units_apart(block)
        if not _read_natively(block):
            for piece in block.pieces(PIECE_NUMBERS):
                self.sums += product_reference(piece, point)
            return
        assert point.direction is not None
        rows = point.loss.native_rows(block.t, block.weight)
        if rows is not None:
            call_native("product", self.sums, block.x, *_kernel_arguments(rows, point), _rows(point.direction))
        else:
            z, q = (_margins(block, point, part) for part in (point.theta, point.direction))
            slope = weighted(row_weights(block, block.t), point.loss.product(z, block.t, q))
            _gather(self.sums, block, slope, None, point.view)


def _kernel_arguments(rows: tuple[Any, Any, float], point: Point) -> tuple[Any, ...]:
    """Return the arguments that the kernels of the objective and of the product share."""
    loss, (t, weight, _) = point.loss, rows
    return (native.Loss[loss.kernel], loss.parameter, t, weight, _rows(point.theta), *point.view)


def _read_natively(block: Block) -> bool:
    """Whether the native kernels read the rows of a block."""
    return (
        native is not None
        and block.chosen is None
        and (is_sparse(block.x) or isinstance(block.x, np.ndarray | Columns | UnitsApart))
    )


def _without_units_apart(block: Block) -> Block:
    """Return the block with its ones among the other numbers: apart, only sums of one output know them."""
    return block.packed() if isinstance(block.x, UnitsApart) else block


def _rows(a: Array) -> Array:
    return np.ascontiguousarray(a, dtype=np.float64)


def margins(block: Block, point: Point) -> Array:
    """Return the outputs z of each row, (n, K), on the host."""
    if _read_natively(block):
        return _margins(block, point, point.theta)
    return view_products(block, point.view, point.theta.T.copy())


def view_products(block: Block, view: View, matrix: Array) -> Array:
    """Return (1, v) times a matrix (1 + D, M) for each row, (n, M), on the host; not by the native kernels."""
    return host(device_products(block, view, matrix))


def device_products(block: Block, view: View, matrix: Array) -> Any:
    """Return (1, v) times a matrix (1 + D, M) for each row, (n, M), where the rows lie."""
    xp = namespace(as_dense(block.x[:0]) if is_sparse(block.x) else block.x)
    if is_device(block.x) and is_near(view):
        block = block.gathered()
        slopes, constant = (to_device_of(block.x, part) for part in weights_of_raw(view, matrix))
        pieces = block.pieces(_held_numbers(block, matrix.shape[1]))
        found = [xp.matmul(xp.astype(piece.x, xp.float64, copy=False), slopes) + constant for piece in pieces]
    else:
        rows = (rows_in_view(piece, view) for piece in block.pieces(PIECE_NUMBERS))
        found = [xp.matmul(v, to_device_of(v, matrix)) for v in rows]
    return found[0] if len(found) == 1 else xp.concat(found, axis=0)


def gather(block: Block, slope: Array, view: View) -> Array:
    """Return sum slope_k (1, v), (K, 1 + D), on the host."""
    sums = np.zeros((slope.shape[1], 1 + len(view.scale)))
    if _read_natively(block):
        _gather(sums.ravel(), block, slope, None, view)
        return sums
    for piece in block.pieces(PIECE_NUMBERS):
        first = piece.first_row - block.first_row
        rows = rows_in_view(piece, view)
        own = to_device_of(rows, slope[first : first + piece.rows].T.copy())
        sums += host(namespace(rows).matmul(own, rows))
    return sums


def second_moments(block: Block, weight: AnyArray, view: View) -> Array:
    """Return sum weight (1, v)(1, v)', (1 + D, 1 + D), on the host; weights (n,) may lie where the rows do."""
    side = 1 + len(view.scale)
    if _read_natively(block):
        sums = np.zeros(side + side**2)
        _gather(sums, block, np.zeros((block.rows, 1)), _rows(weight[:, None]), view)
        return sums[side:].reshape(side, side)
    if is_device(block.x):
        return _second_moments(block.gathered(), to_device_of(block.x, weight), view)
    rows = rows_in_view(block.gathered(), view)
    return np.asarray((rows * weight[:, None]).T @ rows)


def _margins(block: Block, point: Point, theta: Array) -> Array:
    z = np.empty((block.rows, len(theta)))
    x = block.packed().x if isinstance(block.x, UnitsApart) and len(theta) > 1 else block.x
    call_native("margins", z, x, _rows(theta), *point.view)
    return z


def _gather(sums: Array, block: Block, slope: Array, curvature: Array | None, view: View) -> None:
    call_native("gather", sums, block.x, _rows(slope), curvature, *view)


def objective_reference(block: Block, point: Point, second: str) -> Array:
    """Return value, gradient and second derivatives over one block as one vector, in array-API operations.

    z_k = theta_k'(1, v),   sum weight loss(z, t),   sum weight slope_k (1, v),   sum weight curvature_k (1, v)(1, v)'
    """
    rows = rows_in_view(block, point.view)
    xp = namespace(rows)
    z = xp.matmul(rows, to_device_of(rows, point.theta.T.copy()))
    t, weight = to_device_of(rows, block.t), row_weights(block, rows)
    value = xp.sum(weighted(weight, point.loss.value(z, t)), axis=0)
    slope = weighted(weight, point.loss.slope(z, t))
    gradient = xp.matmul(xp.matrix_transpose(slope), rows)
    parts = [host(value), host(gradient).ravel()]
    if second == "all":
        parts.append(_softmax_hessian(rows, weight, point.loss.mean(z)).ravel())
    elif second == "alone":
        curvature = weighted(weight, point.loss.curvature(z, t))
        each = [xp.matmul(xp.matrix_transpose(rows * curvature[:, k : k + 1]), rows) for k in range(z.shape[1])]
        parts += [host(hessian).ravel() for hessian in each]
    return np.concatenate(parts)


def device_objective(block: Block, point: Point, second: str) -> Array:
    """Return what `objective_reference` does over a block of rows on a device: fused, or by products with X itself."""
    loss, fused = point.loss, fused_kernels(block.x)
    if fused is not None and loss.native_rows(block.t, block.weight) is not None and second != "all":
        at = (loss.kernel, loss.parameter, point.theta, *point.view)
        rows = (block.x, to_device_of(block.x, block.t), weights_on_device(block.x, block.weight))
        near = is_near(point.view)
        found = fused.objective(*rows, *at, second, near)
        if found is None and second == "alone" and len(point.theta) == 1:
            found = fused.objective(*rows, *at, "rows", near)
            found = found and (*found[:2], _second_moments(block, found[3], point.view)[None])
        if found is not None:
            return np.concatenate([part.ravel() for part in found[:3] if part is not None])
    if second == "none" and is_near(point.view):
        pieces = block.pieces(_held_numbers(block, len(point.theta)))
        return np.asarray(np.sum([_objective_by_products(piece, point) for piece in pieces], axis=0))
    parts = [objective_reference(piece, point, second) for piece in block.pieces(PIECE_NUMBERS)]
    return np.asarray(np.sum(parts, axis=0))


def _held_numbers(block: Block, outputs: int) -> int:
    """Return how many numbers of X a piece has: float64 rows are not copied, and only their outputs are held."""
    if block.x.dtype != namespace(block.x).float64:
        return PIECE_NUMBERS
    return max(DEVICE_NUMBERS // max(outputs, 1), 1) * block.shape.features


def is_near(view: View) -> bool:
    """Whether the offset of a view can be taken into the weights: means are not many spreads from zero."""
    return bool(np.abs(view.offset).max(initial=0.0) <= NEAR_MEAN)


def weights_of_raw(view: View, matrix: Array) -> tuple[Array, Array]:
    """Return A (D, M) and b (M,) with (1, v) matrix = x A + b, for a matrix (1 + D, M)."""
    return matrix[1:] * view.scale[:, None], matrix[0] + view.offset @ matrix[1:]


def _objective_by_products(block: Block, point: Point) -> Array:
    """Return value and gradient over one block as one vector, without a copy of X."""
    xp = namespace(block.x)
    x = xp.astype(block.x, xp.float64, copy=False)
    slopes, constant = (to_device_of(x, part) for part in weights_of_raw(point.view, point.theta.T))
    z = xp.matmul(x, slopes) + constant
    t, weight = to_device_of(x, block.t), row_weights(block, x)
    value = xp.sum(weighted(weight, point.loss.value(z, t)), axis=0)
    slope = weighted(weight, point.loss.slope(z, t))
    parts = (value, xp.sum(slope, axis=0), xp.reshape(xp.matmul(xp.matrix_transpose(slope), x), (-1,)))
    found = host(xp.concat([xp.reshape(part, (-1,)) for part in parts]))
    k = z.shape[1]
    value, total, gradient = np.split(found, [len(found) - k * (1 + x.shape[1]), len(found) - k * x.shape[1]])
    gradient = gradient.reshape(k, -1) * point.view.scale + total[:, None] * point.view.offset
    return np.concatenate([value, np.column_stack([total, gradient]).ravel()])


def _second_moments(block: Block, weight: AnyArray, view: View) -> Array:
    """Return sum weight (1, v)(1, v)' of rows on a device, with weights (n,) there, (1 + D, 1 + D), on the host."""
    xp, out, first = namespace(block.x), 0.0, 0
    for piece in block.pieces(PIECE_NUMBERS):
        rows = rows_in_view(piece, view)
        own = xp.reshape(weight[first : first + piece.rows], (-1, 1))
        out = out + batched_product(rows * own, rows)
        first += piece.rows
    return host(out)


def product_reference(block: Block, point: Point) -> Array:
    """Return sum weight (loss'' q)_k (1, v) over a block, q = direction'(1, v), (K, 1 + D), in array-API operations."""
    assert point.direction is not None
    rows = rows_in_view(block, point.view)
    xp = namespace(rows)
    z, q = (xp.matmul(rows, to_device_of(rows, part.T.copy())) for part in (point.theta, point.direction))
    product = weighted(row_weights(block, rows), point.loss.product(z, to_device_of(rows, block.t), q))
    return host(xp.matmul(xp.matrix_transpose(product), rows))


def _softmax_hessian(rows: Any, weight: AnyArray, p: Any) -> Array:
    """Return sum weight (diag(p) - p p') (x) (1, v)(1, v)', (K (1 + D), K (1 + D)).

    A matrix times its own transpose takes half the work of a product. As p adds up to 1, what one class has of its own
    is minus the sum of what it has with the others: nothing cancels.
    """
    xp = namespace(rows)
    n, side, k = rows.shape[0], rows.shape[1], p.shape[1]
    p_rows = xp.expand_dims(weighted(xp.sqrt(weight), p), axis=2) * xp.expand_dims(rows, axis=1)
    p_rows = xp.reshape(p_rows, (n, k * side))
    out = -host(xp.matmul(xp.matrix_transpose(p_rows), p_rows))
    blocks = out.reshape(k, side, k, side)
    for j in range(k):
        blocks[j, :, j] = 0.0
        blocks[j, :, j] = -blocks[j].sum(axis=1)
    return out


def rows_in_view(block: Block, view: View) -> Any:
    """Return (1, v) of each row, (n, 1 + D)."""
    v = dense_in_view(as_dense(block.x), view)
    xp = namespace(v)
    return xp.concat([xp.ones((block.rows, 1), dtype=xp.float64, device=v.device), v], axis=1)


def dense_in_view(x: AnyArray, view: View) -> Any:
    """Return v = x scale + offset of dense rows x, (n, D)."""
    xp = namespace(x)
    return xp.astype(x, xp.float64) * to_device_of(x, view.scale) + to_device_of(x, view.offset)


def weights_on_device(x: AnyArray, weight: AnyArray) -> Any:
    """Return weights (n,) on the device of rows x; None where there are none."""
    return None if weight is None else to_device_of(x, weight)


def row_weights(block: Block, rows: Any) -> Any:
    """Return the weight of each row, (n, 1), in the namespace and on the device of `rows`."""
    xp = namespace(rows)
    if block.weight is None:
        return xp.ones((block.rows, 1), dtype=xp.float64, device=rows.device)
    return xp.reshape(to_device_of(rows, block.weight), (-1, 1))
