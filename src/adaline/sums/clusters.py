"""The sums of one step of k-means: each row goes to its nearest centre, and the rows of each centre are added (S3).

    v = x scale + offset,   k(v) = argmin_k ||v - c_k||^2, the first of equals
    weight_k = sum w,   first_k = sum w v,   error_k = sum w ||v - c_k||^2      over the rows with k(v) = k

The sums of v are taken about the origin of the view and not about the centres: equal assignments give equal bits, so
that centres that have stopped moving do so exactly. Errors are sums of squared differences; the native kernel finds
the nearest centre by products v'c and computes the squared differences where rounding could decide. Sparse rows stay
sparse.

In C++: `native/clusters.hpp`.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, ThetaLike, as_dense, host, is_sparse, namespace, to_device_of
from adaline.block import Block, Columns, Shape
from adaline.kernels import fused_kernels, native
from adaline.sums.base import Sum, Totals
from adaline.sums.moments import PIECE_NUMBERS
from adaline.sums.objective import View, dense_in_view, row_weights, weights_on_device


class Centres(NamedTuple):
    """Points (K, D) in the coordinates of a view."""

    points: Array
    view: View


class Clusters(Totals):
    """One row a centre, (K, 2 + D): weight, error, and the sum of v."""

    uses_blas: ClassVar[bool] = True
    reads_columns: ClassVar[bool] = True
    has_device_kernel: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows, for `clusters` centres."""
        return cls(np.zeros((config["clusters"], 2 + shape.features)))

    @property
    def weight(self) -> Array:
        """Weight of the rows of each centre, (K,)."""
        return self.sums[:, 0]

    @property
    def error(self) -> float:
        """Sum of squared distances to the nearest centres."""
        return float(self.sums[:, 1].sum())

    @property
    def first(self) -> Array:
        """Sums of v, (K, D)."""
        return self.sums[:, 2:]

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at Centres."""
        centres: Centres = theta
        if native is not None and isinstance(block.x, np.ndarray | Columns) and block.chosen is None:
            native.clusters_dense(self.sums, block.x, block.weight, *_flat(centres), None)
            return
        fused = fused_kernels(block.x)
        if fused is not None and block.chosen is None:
            found = fused.clusters(block.x, weights_on_device(block.x, block.weight), *_flat(centres))
            if found is not None:
                self.sums += found[0]
                return
        for piece in block.pieces(PIECE_NUMBERS):
            self.sums += clusters_reference(piece, centres)


class FarthestRow(Sum):
    """The row of positive weight that is farthest from its nearest centre: its square, zero for none, and x (D,)."""

    uses_blas: ClassVar[bool] = True

    def __init__(self, square: float, x: Array) -> None:
        self.square, self.x = square, x

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return that there is none."""
        return cls(0.0, np.zeros(shape.features))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at Centres; of rows that are equally far, the first one stays."""
        block = block.gathered()
        if block.rows == 0:
            return
        squares = np.where(block.weights() > 0, nearest_centres(block, theta)[:, 1], 0.0)
        row = int(squares.argmax())
        self.merge(
            type(self)(float(squares[row]), host(as_dense(block.taken(np.array([row])).x))[0].astype(np.float64))
        )

    def merge(self, other: Self) -> None:
        """Keep the row that is farther."""
        if other.square > self.square:
            self.square, self.x = other.square, other.x.copy()


def nearest_centres(block: Block, centres: Centres) -> Array:
    """Return the index of the nearest centre of each row, and the squared distance to it in the view, (n, 2)."""
    if native is not None and isinstance(block.x, np.ndarray) and block.chosen is None:
        out = np.empty((block.rows, 2))
        unused = np.zeros((len(centres.points), 2 + block.shape.features))
        native.clusters_dense(unused, block.x, None, *_flat(centres), out)
        return out
    squares = distances(block.gathered(), centres)
    xp = namespace(squares)
    return np.column_stack([host(xp.argmin(squares, axis=1)), host(xp.min(squares, axis=1))])


def nearest_beside(block: Block, centres: Centres) -> tuple[Any, Any]:
    """Return the index of the nearest centre and the squared distance to it, (n,) each, where rows on a device lie."""
    block = block.gathered()
    fused = fused_kernels(block.x)
    found = None if fused is None else fused.clusters(block.x, None, *_flat(centres), marked=True)
    if found is not None:
        return found[1], found[2]
    squares = distances(block, centres)
    xp: Any = namespace(squares)
    return xp.astype(xp.argmin(squares, axis=1), xp.int32), xp.min(squares, axis=1)


def nearest_index(centres: Centres, block: Block) -> NDArray[np.int32]:
    """Return the index of the nearest centre of each row, (n,)."""
    return nearest_centres(block, centres)[:, 0].astype(np.int32)


def distances(block: Block, centres: Centres) -> Any:
    """Return the squared distances to all centres in the view, (n, K), in the namespace of the rows."""
    if is_sparse(block.x):
        return _sparse_distances(block.x, centres)
    v = dense_in_view(block.x, centres.view)
    xp = namespace(v)
    return xp.stack([xp.sum((v - to_device_of(v, point)) ** 2, axis=1) for point in centres.points], axis=1)


def clusters_reference(block: Block, centres: Centres) -> Array:
    """Return the sums of one block, (K, 2 + D), in array-API operations: k(v) = argmin_k ||v - c_k||^2, then totals."""
    block = block.gathered()
    squares = distances(block, centres)
    xp = namespace(squares)
    nearest_index = xp.expand_dims(xp.argmin(squares, axis=1), axis=1)
    indices = xp.arange(len(centres.points), device=squares.device)
    member = xp.astype(nearest_index == indices, xp.float64) * row_weights(block, squares)
    total, error = host(xp.sum(member, axis=0)), host(xp.sum(member * squares, axis=0))
    if is_sparse(block.x):
        first = (block.x.astype(np.float64).T @ member).T * centres.view.scale
        first += total[:, None] * centres.view.offset
    else:
        first = host(xp.matmul(xp.matrix_transpose(member), dense_in_view(block.x, centres.view)))
    return np.column_stack([total, error, first])


def _sparse_distances(x: AnyArray, centres: Centres) -> Array:
    """Return ||v||^2 - 2 v'c + ||c||^2 of sparse rows without forming v, (n, K), never below zero."""
    scale, offset = centres.view
    x, points = (x.astype(np.float64) @ scipy.sparse.diags_array(scale)).tocsr(), centres.points
    squares = np.asarray(x.power(2).sum(axis=1)).ravel() + 2 * np.asarray(x @ offset) + offset @ offset
    products = np.asarray(x @ points.T) + points @ offset
    return np.asarray(np.maximum(squares[:, None] - 2 * products + (points**2).sum(axis=1), 0.0))


def _flat(centres: Centres) -> tuple[Array, Array, Array]:
    return np.ascontiguousarray(centres.points), *centres.view
