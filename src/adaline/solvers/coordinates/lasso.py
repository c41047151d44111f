"""The minimum of a quadratic under l1 and ridge penalties, by coordinate descent on its second moments.

    P(v) = Q(v) + sum_j ridge_j/2 v_j^2 + sum_j l1_j |v_j|

Sweeps over a working set of coordinates find which are zero, and the signs of the others; where they are slow, as with
nearly dependent columns, one solve over the coefficients that are not zero ends them. The gradient over all columns
then gives the duality gap: ridge penalties are rows added to the data, whose residual r is scaled by s until all
|z_j'r| <= l1_j, and

    P(v) - min P <= P(v) - (s r'y - s^2/2 r'r),      r'r = total + v'(g - c),   r'y = total - c'v,   z'r = -g

all of which the second moments give: no row is read.
"""

from __future__ import annotations

import numpy as np

from adaline.arrays import Array
from adaline.solvers.coordinates.quadratics import Indices, Quadratics
from adaline.solvers.smooth.proximal_newton import coordinate_descent, least_subgradient, solve_support

SWEEPS = 10  # between two looks at the gap
ROUNDS = 100
FIRST = 32  # columns that a working set gains at least
PATIENCE = 2  # looks at the gap until the coefficients that are not zero are solved for


class Lasso:
    """Coefficients v (D,) of quadratic m, and g = G v - c there: where the last penalties have led."""

    def __init__(self, quadratics: Quadratics, m: int) -> None:
        self.quadratics, self.m = quadratics, m
        self.c, self.total = quadratics.c[m], float(quadratics.total[m])
        self.v, self.g = np.zeros_like(self.c), -self.c
        self.gap = np.inf
        self.share = float(quadratics.weight[m] / quadratics.weight[0])
        self.columns: Indices | None = None
        self.matrix = quadratics.rows(m, np.arange(len(self.c))).copy() if quadratics.whole else np.zeros((0, 0))
        self.diagonal = quadratics.diagonal[m]

    def pull(self, l1: Array) -> Array:
        """Return |g_j| / l1_j, (D,), at least 1 where coordinate j would leave zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.diagonal > 0, np.abs(self.g) / l1, 0.0)

    def wider(self, columns: Indices, l1: Array) -> Indices:
        """Return the columns and those others that most want to leave zero; the same where none does."""
        over = np.where(self.diagonal > 0, np.abs(self.g) - l1, 0.0)
        over[columns] = 0.0
        worst = np.argsort(-over)[: min(max(FIRST, len(columns)), int((over > 0).sum()))]
        return np.sort(np.concatenate([columns, worst]))

    def wants(self, l1: Array, last: Array) -> Indices:
        """Return the columns not zero, and those that the strong rule cannot rule out, after penalties `last`."""
        return np.flatnonzero((self.v != 0) | ((np.abs(self.g) >= 2 * l1 - last) & (self.diagonal > 0)))

    def solve(self, l1: Array, ridge: Array, columns: Indices, wanted: float) -> bool:
        """Step to the minimum over some columns, until the gap over all is at most `wanted` or others have to join.

        Return whether the gap is proven.
        """
        if self.quadratics.whole:
            return self._descend(l1, ridge, slice(None), self.matrix, wanted)
        if self.columns is None or len(self.columns) != len(columns) or (self.columns != columns).any():
            self.columns = columns
            self.matrix = self.quadratics.rows(self.m, columns)[:, columns].copy()
        return self._descend(l1, ridge, columns, self.matrix, wanted)

    def _descend(self, l1: Array, ridge: Array, columns: Indices | slice, matrix: Array, wanted: float) -> bool:
        """Sweep over some columns, whose part of G is `matrix`, changed on its diagonal."""
        where = np.arange(len(matrix))
        matrix[where, where] = np.where(self.diagonal[columns] > 0, self.diagonal[columns] + ridge[columns], 0.0)
        few, cost = self.v[columns].copy(), np.ascontiguousarray(l1[columns])
        gradient = self.g[columns] + ridge[columns] * few
        enough, last = 0.01 * wanted, np.inf
        for look in range(ROUNDS):
            coordinate_descent(matrix, gradient, few, cost, SWEEPS, enough)
            self._take(columns, few, gradient, ridge)
            if self._measure(l1, ridge) <= wanted:
                return True
            within = self._violation(l1, ridge, columns)
            if not within > 1e-2 * self._violation(l1, ridge, slice(None)):
                return False  # other columns have to join
            if look >= PATIENCE:
                solve_support(matrix, gradient, few, cost)
                self._take(columns, few, gradient, ridge)
                if self._measure(l1, ridge) <= wanted:
                    return True
                if not within < 0.9 * last:
                    break
                last = within
            enough *= 0.1
        return False

    def polish(self, l1: Array, ridge: Array) -> None:
        """Solve for the coefficients that are not zero, as exactly as the sums allow."""
        support = np.flatnonzero(self.v)
        if not len(support):
            return
        before, gap = (self.v.copy(), self.g.copy()), self.gap
        matrix = self.quadratics.rows(self.m, support)[:, support].copy()
        matrix[np.diag_indices(len(support))] += ridge[support]
        few = self.v[support].copy()
        for _ in range(2):
            gradient = self.g[support] + ridge[support] * few
            solve_support(matrix, gradient, few, np.ascontiguousarray(l1[support]))
            self._take(support, few, gradient, ridge)
        if not self._measure(l1, ridge) <= gap:
            (self.v, self.g), self.gap = before, gap

    def _take(self, columns: Indices | slice, few: Array, gradient: Array, ridge: Array) -> None:
        """Set coefficients of some columns, and g of all."""
        if isinstance(columns, slice):
            self.v, self.g = few.copy(), gradient - ridge * few
            return
        change = few - self.v[columns]
        moved = np.flatnonzero(change)
        self.v[columns] = few
        if len(moved):
            self.g = self.g + change[moved] @ self.quadratics.rows(self.m, columns[moved])

    def _measure(self, l1: Array, ridge: Array) -> float:
        """Return the duality gap, and keep it."""
        gradient = self.g + ridge * self.v
        rr, ry = self.total + float(self.v @ (gradient - self.c)), self.total - float(self.c @ self.v)
        steep = np.abs(gradient)
        felt = steep > 0
        most = float((l1[felt] / steep[felt]).min(initial=np.inf))
        share = min(max(ry / rr, 0.0), most) if rr > 0 else 0.0
        value = 0.5 * rr + float(l1 @ np.abs(self.v))
        self.gap = max(value - share * ry + 0.5 * share**2 * rr, 0.0)
        return self.gap

    def objective(self, l1: Array, ridge: Array) -> float:
        """Return P(v)."""
        return 0.5 * (self.total + float(self.v @ (self.g + ridge * self.v - self.c))) + float(l1 @ np.abs(self.v))

    def subgradient(self, l1: Array, ridge: Array) -> Array:
        """Return the least subgradient of P, (D,): zero at the minimum."""
        return np.where(self.diagonal > 0, least_subgradient(self.v, self.g + ridge * self.v, l1), 0.0)

    def _violation(self, l1: Array, ridge: Array, columns: Indices | slice) -> float:
        size = np.maximum(self.diagonal[columns], 1e-300)
        return float((self.subgradient(l1, ridge)[columns] ** 2 / size).sum())


def solve_all(machines: list[Lasso], l1: Array, last: Array, ridge: Array, wanted: Array) -> bool:
    """Step all machines to their minima under penalties l1 (D,), from those under `last`, to gaps of `wanted` (M,).

    A machine that learns from a share of the rows has that share of the penalties, so that these mean the same to it.
    Return False where there is no memory for the rows of G that this needs.
    """
    quadratics = machines[0].quadratics
    wants = [machine.wants(l1 * machine.share, last * machine.share) for machine in machines]
    left = list(range(len(machines)))
    while left:
        if not quadratics.need(np.unique(np.concatenate([wants[i] for i in left])), machines[0].pull(l1)):
            return False
        again = []
        for i in left:
            machine = machines[i]
            own = l1 * machine.share
            if machine.solve(own, ridge * machine.share, wants[i], float(wanted[i])) or quadratics.whole:
                continue
            wider = machine.wider(wants[i], own)
            if len(wider) > len(wants[i]):
                wants[i] = wider
                again.append(i)
        left = again
    return True
