"""Tensor products: surfaces from products of curves, with one penalty for each direction, whatever the units."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from adaline.arrays import Array
from adaline.smooths.smooth import Smooth


@dataclass(frozen=True)
class TensorProduct:
    """All products of the columns of the margins, the last margin's first (mgcv's `te`).

    Parameters
    ----------
    margins : smooths of one column each.
    """

    margins: tuple[Smooth, ...]

    @property
    def width(self) -> int:
        """Number of coefficients."""
        return prod(one.width for one in self.margins)

    def columns(self, x: Array) -> Array:
        """Return products of the margins' columns at rows x (n, margins)."""
        out = np.ones((len(x), 1))
        for j, one in enumerate(self.margins):
            part = one.columns(x[:, j : j + 1])
            out = (out[:, :, None] * part[:, None, :]).reshape(len(x), -1)
        return out

    def penalty(self) -> Array:
        """Return the sum of the margins' penalties, each scaled to largest eigenvalue 1."""
        total = np.zeros((self.width, self.width))
        for j, one in enumerate(self.margins):
            own = one.penalty()
            sizes = [other.width for other in self.margins]
            left, right = np.eye(prod(sizes[:j])), np.eye(prod(sizes[j + 1 :]))
            total += np.kron(np.kron(left, own / np.linalg.norm(own, 2)), right)
        return total
