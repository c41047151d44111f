"""Gordan's alternative in exact arithmetic: a direction with u_i . phi > 0 for all rows, or weights lambda >= 0 that
add up to one with sum lambda_i u_i = 0. Never both, always one of them.

The dual simplex method with nothing to minimise. A basis B of columns a_i = (u_i, 1) gives lambda = B^-1 (0, 1). Where
some lambda_k is negative, row k of B^-1 is a direction rho = (phi, c) with c < 0: if rho . a_i >= 0 for every row, then
u_i . phi >= -c > 0 separates; else a row with rho . a_i < 0 takes the place of k. B^-1 is kept as integers over one
determinant (Edmonds), so that a pivot has no fractions and no rounding.
"""

from __future__ import annotations

import numpy as np

from adaline.proof.lifting import Whole

GREEDY = 50  # pivots by the largest violation, times the dimension; then by index, which cannot cycle (Bland)


class Basis:
    """The inverse of a basis, table / det with det > 0; places without a row hold a unit vector, which must weigh 0."""

    def __init__(self, dimension: int) -> None:
        self.table: Whole = np.eye(dimension + 1, dtype=np.int64).astype(object)
        self.det = 1
        self.rows = [-1] * (dimension + 1)

    def take(self, row: int, u: Whole, place: int | None = None) -> bool:
        """Let a row take a place, or one of those that no row has; False where it depends on the rows there."""
        along = self.table[:, :-1] @ u + self.table[:, -1]
        if place is None:
            open_places = [k for k, held in enumerate(self.rows) if held < 0 and along[k] != 0]
            if not open_places:
                return False
            place = open_places[0]
        pivot, kept = along[place], self.table[place].copy()
        self.table = (self.table * pivot - np.multiply.outer(along, kept)) // self.det
        self.table[place] = kept
        self.det = pivot
        if pivot < 0:
            self.table, self.det = -self.table, -pivot
        self.rows[place] = row
        return True

    @property
    def weights(self) -> Whole:
        """The weights of the rows in the basis, times det."""
        return self.table[:, -1]


def alternative(u: Whole, basis: Basis) -> Whole | None:
    """Return a direction phi with u_i . phi > 0 for all rows (n, q), or None where the basis proves there is none.

    The basis may hold rows of u from before; it is changed.
    """
    greedy = GREEDY * (u.shape[1] + 1)
    while True:
        weights = basis.weights
        held = np.array(basis.rows)
        wrong = np.flatnonzero(((held < 0) & (weights != 0)) | ((held >= 0) & (weights < 0)))
        if not len(wrong):
            return None
        k = max(wrong, key=lambda i: abs(weights[i])) if greedy > 0 else min(wrong, key=lambda i: basis.rows[i])
        rho = basis.table[k] if weights[k] < 0 else -basis.table[k]
        heights = u @ rho[:-1]
        if (heights > 0).all():
            return np.asarray(rho[:-1])
        entering = int(heights.argmin()) if greedy > 0 else int(np.flatnonzero(heights < -rho[-1])[0])
        basis.take(entering, u[entering], int(k))
        greedy -= 1
