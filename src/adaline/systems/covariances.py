"""Covariances of normal classes: what may be asked for, and the scatter that it means."""

from __future__ import annotations

import numpy as np

from adaline.solvers.components import Kind
from adaline.solvers.factor import Factor
from adaline.sums import Moments

COVARIANCES = {
    "shared": Kind.TIED,
    "tied": Kind.TIED,
    "full": Kind.FULL,
    "diag": Kind.DIAG,
    "spherical": Kind.SPHERICAL,
    "identity": Kind.SPHERICAL,
}
"""What may be asked for, and what it means for the components of a mixture."""


def diagonal(moments: Moments) -> Moments:
    """Return the scatter with variances alone."""
    out = moments.copy()
    out.second[:] = np.diag(out.second.diagonal())
    return out


def spherical(within: Moments) -> Moments:
    """Return the scatter with one variance for all columns, in raw units."""
    out = within.copy()
    size = np.exp2(2 * (out.exponent - out.exponent.max()))
    level = float((out.second.diagonal() * size).mean())
    out.second[:] = np.diag(level / size)
    out.noise[:] = float((out.noise * size).mean()) / size
    return out


def log_determinant(factor: Factor) -> float:
    """Return ln |Sigma|, Sigma = S / N, in raw units; of the directions kept where it is singular."""
    return factor.log_determinant() - int(factor.alive.sum()) * float(np.log(factor.frame.weight))
