"""Least squares and ridge with coefficients of zero or more, from second moments.

At the minimum the derivative of the objective by a coefficient is zero where that is above zero, and zero or more where
it is zero: the certificate has the largest violation of this, and the gap that a dual point proves.
"""

from __future__ import annotations

import numpy as np

from adaline.penalties import RidgePenalty
from adaline.results import Solution, Status, combine_certificates
from adaline.solvers.coordinates.corners import PositiveCorners
from adaline.solvers.coordinates.lasso import Lasso
from adaline.solvers.coordinates.quadratics import of_moments
from adaline.solvers.least_squares.fit import Fit, certificate
from adaline.sums import Moments

# gap wanted, as a share of the sum of squares of the target; 10x larger loses half a digit of the coefficients
GAP_SHARE = 1e-13


def solve_positive(moments: Moments, intercept: bool, penalty: RidgePenalty) -> Fit:
    """Return the fit of all targets, each with coefficients of zero or more."""
    thetas, proofs, squares, totals, units, traces = [], [], [], [], [], []
    for k in range(moments.shape.targets):
        quadratic = of_moments(moments, [], k)
        alive = quadratic.scale > 0
        ridge = np.where(alive, penalty.value * (penalty.unit * quadratic.scale) ** 2, 0.0)
        machine, corners = Lasso(quadratic, 0), PositiveCorners(np.zeros(len(alive)))
        machine.join(quadratic.known)
        machine.solve(corners, ridge, GAP_SHARE * machine.total)
        machine.measure(corners, ridge)
        steep = machine.subgradient(corners, ridge) / np.where(alive, quadratic.deviation, 1.0)
        theta = quadratic.raw(0, machine.v, intercept)
        solved = machine.gap <= 1e-9 * machine.total
        proofs.append(
            certificate(
                status=Status.SOLVED if solved else Status.NOT_CONVERGED,
                objective=machine.objective(corners, ridge) / quadratic.unit**2,
                gradient=float(np.abs(steep).max(initial=0.0)) / quadratic.unit,
                gap=machine.gap / quadratic.unit**2,
                rank=machine.rank(ridge),
                solver="active sets on second moments, coefficients of zero or more",
                advice=None if solved else "standardize the columns, or give a penalty: Ridge(positive=True)",
            )
        )
        thetas.append(theta)
        squares.append(max(machine.total + float(machine.v @ (machine.g - machine.c)), 0.0))
        totals.append(machine.total)
        units.append(1 / quadratic.unit)
        traces.append(float(np.count_nonzero(machine.v)) + intercept)
    return Fit(
        Solution(np.stack(thetas), combine_certificates(proofs)),
        *(np.array(squares), np.array(totals), np.array(units), None, np.array(traces)),
        *(moments.rows, moments.weight, penalty),
    )
