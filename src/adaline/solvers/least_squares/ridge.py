"""The ridge penalty by GCV, leave-one-out or evidence: O(D) a penalty once S is in its eigenbasis (S0 section 5.2).

With eigenvalues d_k of the standardised S and b_k^2 the part of t't along eigenvector k:

    RSS(lambda) = rest + sum b_k^2 (lambda / (d_k + lambda))^2,   df(lambda) = 1 + sum d_k / (d_k + lambda)
    GCV = N RSS / (N - df)^2
    evidence: (N - 1) ln s2 + sum ln(1 + d_k / lambda),   s2 = (rest + sum b_k^2 lambda / (d_k + lambda)) / (N - 1)

The evidence is minus twice the log marginal likelihood of t under the prior (5.18), w ~ N(0, s2/lambda), the intercept
integrated out. Leave-one-out is exact and takes a pass over the rows for each round of penalties. All are minimised
over a continuous penalty: a wide grid on the log scale, a narrow one around its minimum, and a polynomial fitted to all
of the narrow one. A flat criterion differs by little more than rounding between neighbours; the polynomial averages the
rounding out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from adaline.arrays import Array

RidgeCriterion = Literal["gcv", "loo", "evidence", "folds"]
WIDE, NARROW = 65, 17
# degree of the polynomial through the narrow grid, which gives the logarithm of the minimum to 1e-9; lower is less
# exact
DEGREE = 8
LOWEST, HIGHEST = 1e-12, 1e6  # penalties searched, relative to the largest eigenvalue; a wider range has a coarser grid


@dataclass(frozen=True)
class Spectrum:
    """The standardised S in its eigenbasis, for K targets.

    Parameters
    ----------
    d : (r,) eigenvalues.
    b2 : (K, r) squares of the targets along the eigenvectors.
    rest : (K,) squares of the targets orthogonal to all of them.
    weight : sum of the weights of the rows, N.
    intercept : whether there is one.
    exponent : (K,) targets are taken times 2^-exponent.
    """

    d: Array
    b2: Array
    rest: Array
    weight: float
    intercept: bool
    exponent: Array

    def squares(self, k: int, penalty: Array) -> Array:
        """Return RSS of target k at each penalty."""
        return np.asarray(self.rest[k] + self.b2[k] @ (penalty / (self.d[:, None] + penalty)) ** 2)

    def freedom(self, penalty: Array) -> Array:
        """Return the effective number of parameters, intercept included."""
        return np.asarray(self.intercept + (self.d[:, None] / (self.d[:, None] + penalty)).sum(axis=0))

    def gcv(self, k: int, penalty: Array) -> Array:
        """Return the generalised cross-validation score, an estimate of the squared error on new rows."""
        rest = np.maximum(self.weight - self.freedom(penalty), 1e-12 * self.weight)
        return np.asarray(self.weight * self.squares(k, penalty) / rest**2)

    def noise(self, k: int, penalty: Array) -> Array:
        """Return the noise variance that maximises the evidence."""
        energy = self.rest[k] + self.b2[k] @ (penalty / (self.d[:, None] + penalty))
        return np.asarray(energy / max(self.weight - self.intercept, 1.0))

    def evidence(self, k: int, penalty: Array) -> Array:
        """Return minus twice the log evidence, up to a constant."""
        spread = np.log1p(self.d[:, None] / penalty).sum(axis=0)
        noise = np.maximum(self.noise(k, penalty), np.finfo(float).tiny)
        return np.asarray((self.weight - self.intercept) * np.log(noise) + spread)


@dataclass(frozen=True)
class PenaltyChoice:
    """The chosen penalty and the criterion's values along the penalties tried, sorted."""

    penalty: float
    penalties: Array
    values: Array


def choose_penalty(criterion: Callable[[Array], Array], largest: float) -> PenaltyChoice:
    """Minimise a criterion over penalties from LOWEST to HIGHEST times the largest eigenvalue."""
    wide = np.linspace(np.log(LOWEST * largest), np.log(HIGHEST * largest), WIDE)
    coarse = criterion(np.exp(wide))
    best = int(np.argmin(coarse))
    narrow = np.linspace(wide[max(best - 1, 0)], wide[min(best + 1, WIDE - 1)], NARROW)
    fine = criterion(np.exp(narrow))
    best = int(np.argmin(fine))
    corner, value = (narrow[best], fine[best]) if best in (0, NARROW - 1) else _lowest(narrow, fine)
    tried, values = np.concatenate([wide, narrow, [corner]]), np.concatenate([coarse, fine, [value]])
    order = np.argsort(tried, kind="stable")
    return PenaltyChoice(float(np.exp(corner)), np.exp(tried[order]), values[order])


def _lowest(x: Array, y: Array) -> tuple[float, float]:
    """Return where the polynomial of DEGREE through equidistant points, by least squares, is lowest, and its value."""
    centre, reach = (x[0] + x[-1]) / 2, (x[-1] - x[0]) / 2
    size = np.ptp(y) or 1.0
    z, height = (x - centre) / reach, (y - y.min()) / size
    found = np.polynomial.Chebyshev.fit(z, height, DEGREE, domain=[-1, 1])
    roots = found.deriv().roots()
    level = roots[np.isreal(roots)].real
    candidates = np.concatenate([[-1.0, 1.0], level[np.abs(level) <= 1]])
    best = candidates[np.argmin(found(candidates))]
    return float(centre + reach * best), float(y.min() + size * found(best))
