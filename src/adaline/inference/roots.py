"""Roots R of the sum of products of scores: R R' = c G."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import AdalineWarning, InvalidData, warn
from adaline.solvers.least_squares.factor import EPS

# negative eigenvalue, relative to the largest, beyond rounding; 10x larger accepts more indefinite covariances
NEGATIVE_EIGENVALUE = 1e-9


def small_sample_factor(errors: str, rows: float, parameters: float, groups: float = math.nan) -> float:
    """Return c: N/(N - p) for HC1, G/(G - 1) (N - 1)/(N - p) for CR1 of G groups, 1 for all other errors."""
    if errors == "HC1":
        return rows / (rows - parameters)
    if errors == "CR1":
        return groups / (groups - 1.0) * (rows - 1.0) / (rows - parameters)
    return 1.0


def root_of(meat: Array, scale: float) -> Array:
    """Return a root (m, m) of scale times the meat; directions that rounding made are zero."""
    if not np.isfinite(meat).all():
        raise InvalidData("no robust errors: sums over the rows overflow float64. Rescale columns that are very large.")
    values, vectors = np.linalg.eigh(meat)
    return np.asarray(vectors * np.sqrt(scale * np.where(values > 8 * len(values) * EPS * values[-1], values, 0.0)))


def root_of_difference(meat: Array, scale: float, constants: int = 1) -> tuple[Array, list[str]]:
    """Return a root (m, m) of scale times a meat that is a difference, and a note if it has negative eigenvalues.

    These count as zero: of the slopes, and then of the constant, the first coordinate, beside them. The dummies of
    absorbed effects take all of it out of the groups of either column, but not of those of both. Where there are other
    numbers of constants, eigenvalues are those of all coordinates.
    """
    if constants != 1:
        return root_of(meat, scale), _note_of_negative(np.linalg.eigvalsh(meat))
    root = np.zeros_like(meat)
    slopes = root_of(meat[1:, 1:], scale)
    lengths_squared = (slopes**2).sum(axis=0)
    across = np.divide(
        scale * meat[0, 1:] @ slopes, lengths_squared, where=lengths_squared > 0, out=np.zeros(len(slopes))
    )
    root[0, 1:], root[1:, 1:] = across, slopes
    root[0, 0] = np.sqrt(max(scale * meat[0, 0] - across @ across, 0.0))
    return root, _note_of_negative(np.linalg.eigvalsh(meat[1:, 1:]))


def _note_of_negative(values: NDArray[np.floating[Any]]) -> list[str]:
    """Warn of eigenvalues, in ascending order, that are negative beyond rounding; return a note about them."""
    if not len(values) or values[0] >= -NEGATIVE_EIGENVALUE * np.abs(values).max():
        return []
    note = (
        "groups of two kinds leave a covariance with negative variances in some directions, which count as zero: "
        "standard errors may be too small; use groups of one kind, or of more groups"
    )
    warn(note, AdalineWarning)
    return [note]
