"""Coordinates in which all penalties of a smooth are diagonal, with the constraint that its values add up to zero.

beta = T gamma, and beta' S_j beta = sum_k d_jk gamma_k^2 with d_jk >= 0. Under the constraint c' beta = 0, c the column
sums of b_k over the rows:

- One penalty: T = Z V, where the columns of Z are orthonormal with c' Z = 0 and V holds the eigenvectors of Z' S Z.
- A tensor product: T is the product of the margins' eigenvectors without the constant, which the intercept holds. Its
  columns are centred over the rows instead, which gives the same functions. In mgcv's coordinates log|X'X + S| - log|S|
  differs by a number that does not depend on the ratios, `shift`:

      2 log|u' c| - log(1 - |U' c|^2),   u the constant, U the penalised directions, c of length 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from adaline.arrays import Array
from adaline.smooths.smooth import Smooth
from adaline.smooths.tensor import TensorProduct

ZERO_EIGENVALUE = 1e-10  # share of the largest eigenvalue below which one is zero; a penalty's others are far larger


@dataclass(frozen=True)
class DiagonalForm:
    """Coordinates gamma of a smooth's coefficients, beta = transform gamma.

    Parameters
    ----------
    transform : T, (width, m).
    weights : d, (penalties, m).
    first : gamma of the first of mgcv's coordinates, which decides a sign in its tests of smooths, (m,).
    shift : what mgcv's log|X'X + S| - log|S| has beyond that of these coordinates.
    """

    transform: Array
    weights: Array
    first: Array
    shift: float = 0.0


def diagonal_form(smooth: Smooth, sums: Array | None, select: bool = False) -> DiagonalForm:
    """Return coordinates in which the penalties of a smooth are diagonal.

    Parameters
    ----------
    smooth : the smooth.
    sums : column sums over the rows, for the constraint that the function's values add up to zero; None for none.
    select : whether functions that no penalty sees get one too, so that the term can vanish.
    """
    if isinstance(smooth, TensorProduct):
        form = _of_products(smooth, sums)
    else:
        free = _constrained(smooth.width, sums)
        values, vectors = _eigen(free.T @ smooth.penalty() @ free)
        form = DiagonalForm(free @ vectors, values[None], vectors[0])
    if select and (straight := ~form.weights.any(axis=0)).any():
        form = replace(form, weights=np.vstack([form.weights, straight.astype(float)]))
    return form


def _constrained(width: int, sums: Array | None) -> Array:
    """Return Z, orthonormal columns with c' Z = 0; the unit matrix where there is no constraint."""
    if sums is None:
        return np.eye(width)
    return np.asarray(np.linalg.qr(np.asarray(sums, dtype=np.float64)[:, None], mode="complete")[0][:, 1:])


def margin_directions(margin: Smooth) -> tuple[Array, Array]:
    """Return eigenvectors of a margin's penalty, the constant first where it has no penalty, and eigenvalues by the
    largest.
    """
    values, vectors = _eigen(margin.penalty())
    straight = values == 0
    constant = vectors[:, straight] @ (vectors[:, straight].T @ np.ones(margin.width))
    if np.linalg.norm(constant) > 0:
        rotated = np.linalg.qr(np.column_stack([constant, vectors[:, straight]]))[0]
        vectors = np.column_stack([rotated[:, : straight.sum()], vectors[:, ~straight]])
        values = np.concatenate([values[straight], values[~straight]])
    return vectors, values / values.max()


def _of_products(smooth: TensorProduct, sums: Array | None) -> DiagonalForm:
    transform: Array = np.eye(1)
    sizes = [one.width for one in smooth.margins]
    weights = np.zeros((len(sizes), smooth.width))
    for j, one in enumerate(smooth.margins):
        vectors, values = margin_directions(one)
        transform = np.asarray(np.kron(transform, vectors), dtype=np.float64)
        weights[j] = np.kron(np.kron(np.ones(prod(sizes[:j])), values), np.ones(prod(sizes[j + 1 :])))
    first = transform.T @ _constrained(smooth.width, sums)[:, 0]
    if sums is None:
        return DiagonalForm(transform, weights, first)
    along = transform.T @ (sums / np.linalg.norm(sums))
    penalised = weights.any(axis=0)
    shift = 2 * np.log(abs(along[0])) - np.log1p(-np.sum(along[penalised] ** 2))
    return DiagonalForm(transform[:, 1:], weights[:, 1:], first[1:], float(shift))


def _eigen(penalty: Array) -> tuple[Array, Array]:
    """Return eigenvalues, tiny ones as zero, and eigenvectors of a penalty."""
    values, vectors = np.linalg.eigh((penalty + penalty.T) / 2)
    return np.where(values > ZERO_EIGENVALUE * values[-1], values, 0.0), vectors
