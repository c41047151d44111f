"""Regressions with instruments from sums: two-stage least squares and limited information maximum likelihood.

    b = [X'(1 - k M) X]^-1 X'(1 - k M) y,      M = 1 - Z (Z'Z)^-1 Z'

X = [x d] are the regressors, D columns of which some, d, are endogenous, and Z = [x z] the exogenous ones with the
instruments. k = 1 is two-stage least squares: least squares on the projections of X. LIML has k = kappa, the smallest
root of

    |[y d]'(M_x - k M)[y d]| = 0,              M_x = 1 - x (x'x)^-1 x'

All of it follows from the second moments of [X z y], S: the first stage p = (Z'Z)^-1 Z'[d y] gives d'(1 - M) d = p'Z'd
and d'(1 - M) y = p'Z'y, while the products of x are those of S. What results are moments of least squares again, on
which `direct.py` works: rank, coefficients and their digits, standard errors.

Their rounding: errors of at most g_i g_j of S_ij change p_i'Z'd_j by at most (g_i + |p_i|'g)(g_j + |p_j|'g), to first
order, so that the moments of the projections have bounds of the same form.

T. W. Anderson and H. Rubin, Ann. Math. Statist. 20 (1949), 46-63; H. Theil, Economic Forecasts and Policy (1958).
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.forms import Integers
from adaline.penalties import no_penalty
from adaline.solvers.least_squares.direct import SOLVED_UNITS, assemble, gram_name, solve_gram
from adaline.solvers.least_squares.factor import Factor, gram_factor
from adaline.solvers.least_squares.fit import Fit
from adaline.sums import Moments
from adaline.sums.moments import ROUNDING

KClassMethod = Literal["2sls", "liml"]


class Roles(NamedTuple):
    """What the columns [X z] of a design with instruments are.

    Parameters
    ----------
    regressors : D, the number of regressors, which come first; the others are instruments that are no regressors.
    endogenous : indices of the endogenous ones among them, ascending.
    """

    regressors: int
    endogenous: Annotated[NDArray[np.intp], Integers("E")]

    def exogenous(self) -> list[int]:
        """Return the indices of the regressors that are their own instruments, x."""
        return [j for j in range(self.regressors) if j not in self.endogenous]

    def instruments(self, features: int) -> list[int]:
        """Return the indices of all instruments, Z = [x z], among so many columns."""
        return [*self.exogenous(), *range(self.regressors, features)]


class ProjectedColumns(NamedTuple):
    """Columns t projected on others, from sums.

    Parameters
    ----------
    factor : of the columns Z that they are projected on.
    u : (T, Q) coefficients p of the projections, scaled.
    fitted, left : (T, T) second moments of the projections and of the residuals.
    grain : (T,) numbers of which products are the rounding of either, and `excess`, how much larger it may be.
    """

    factor: Factor
    u: Array
    fitted: Array
    left: Array
    grain: Array
    excess: float


class KClassFit(NamedTuple):
    """A solved regression with instruments.

    Parameters
    ----------
    fits : of the regressors alone, one for all targets, or, of LIML, one for each.
    kappa : (K,) the k of each target.
    identified : whether the instruments tell all independent regressors apart.
    """

    fits: tuple[Fit, ...]
    kappa: Array
    identified: bool


def project(moments: Moments, intercept: bool, on: list[int], columns: list[int]) -> ProjectedColumns:
    """Return some columns of moments projected on others, `on`, both by their indices."""
    own = moments.among(on, columns)
    q, none = len(on), no_penalty(len(on))
    normal = solve_gram(own, intercept, none).refined(none)
    u, cross, second = normal.u, own.second[q:, :q], own.second[q:, q:]
    fitted = u @ cross.T
    fitted = 0.5 * (fitted + fitted.T)
    noise, squares = own.noise.copy(), own.second.diagonal()
    if normal.left is None:
        noise[:q] += ROUNDING * SOLVED_UNITS * q * squares[:q]
    roots = np.sqrt(noise)
    size = np.abs(u)
    grain = roots[q:] + size @ roots[:q]
    grain += np.sqrt((q + 2) * ROUNDING) * np.maximum(size @ np.sqrt(squares[:q]), np.sqrt(squares[q:]))
    if normal.left is not None:  # what is left of the normal equations of the first stage
        rest = np.abs(normal.left) @ size.T
        grain += np.divide(rest, grain, out=np.zeros_like(rest), where=grain > 0).max(axis=1, initial=0.0)
    return ProjectedColumns(normal.factor, u, fitted, second - fitted, grain, own.excess)


def liml_kappa(first: ProjectedColumns, without: ProjectedColumns, target: int, endogenous: int) -> tuple[float, float]:
    """Return the smallest root k of |[y d]'(M_x - k M)[y d]| = 0, and a bound on its rounding.

    Both projections are of the endogenous columns and the targets, on all instruments and on the regressors among them.
    """
    places = [*range(endogenous), endogenous + target]
    square = np.ix_(places, places)
    outer, inner = without.left[square], first.left[square]
    length = np.sqrt(np.maximum(outer.diagonal(), np.finfo(np.float64).tiny))
    scale = np.outer(length, length)
    try:
        values, vectors = scipy.linalg.eigh(inner / scale, outer / scale)
    except np.linalg.LinAlgError:  # the regressors explain a column
        return 1.0, np.inf
    largest, v = float(values[-1]), np.abs(vectors[:, -1])
    if not largest > 0:  # the instruments explain all
        return 1.0, np.inf
    kappa = max(1.0 / largest, 1.0)
    grains = [float(v @ (one.grain[places] / length)) ** 2 for one in (without, first)]
    return kappa, (grains[0] + kappa * grains[1]) * kappa  # v'[y d]'M[y d]v is 1/kappa


def k_class_moments(
    moments: Moments, roles: Roles, first: ProjectedColumns, targets: list[int], kappa: float = 1.0, doubt: float = 0.0
) -> Moments:
    """Return X'(1 - k M)[X y] as the moments of D features and these targets; `doubt` bounds the rounding of kappa."""
    d, features, e = roles.regressors, moments.shape.features, len(roles.endogenous)
    out = moments.among(range(d), [features + k for k in targets])
    places = [*range(e), *(e + k for k in targets)]
    own = np.array([*roles.endogenous, *(d + k for k in range(len(targets)))])
    left, grain = first.left[np.ix_(places, places)], first.grain[places]
    projected = out.second[np.ix_(own, own)] - kappa * left
    projected[e:, e:] = out.second[d:, d:]
    out.second[np.ix_(own, own)] = projected
    more = grain * np.sqrt(2.0 * kappa - 1.0) + np.sqrt(min(doubt, 1.0) * np.maximum(left.diagonal(), 0.0))
    out.noise[own] = np.maximum(out.noise[own], more**2)
    if first.excess > out.excess:
        out.noise[own] *= first.excess
    return out


def squared_residuals(moments: Moments, roles: Roles, targets: list[int], u: Array) -> Array:
    """Return the sums of squares of y - X u', (K,), scaled; u (K, D)."""
    own = moments.among(range(roles.regressors), [moments.shape.features + k for k in targets])
    d = roles.regressors
    cross, rest = own.second[d:, :d], own.second.diagonal()[d:]
    return np.asarray(np.maximum(rest - (u * (2 * cross - u @ own.second[:d, :d])).sum(axis=1), 0.0))


def solve_k_class(moments: Moments, roles: Roles, intercept: bool, method: KClassMethod) -> KClassFit:
    """Return two-stage least squares or LIML from the moments of [X z y]."""
    d, features, k = roles.regressors, *moments.shape
    e, none = len(roles.endogenous), no_penalty(roles.regressors)
    columns = [*map(int, roles.endogenous), *range(features, features + k)]
    first = project(moments, intercept, roles.instruments(features), columns)
    kappa = np.ones(k)
    if method == "liml" and e:
        without = project(moments, intercept, roles.exogenous(), columns)
        found = [liml_kappa(first, without, target, e) for target in range(k)]
        kappa = np.array([one for one, _ in found])
        each = [([target], k_class_moments(moments, roles, first, [target], *found[target])) for target in range(k)]
    else:
        each = [([*range(k)], k_class_moments(moments, roles, first, [*range(k)]))]
    rank = gram_factor(moments.among(range(d), range(features, features + k)), intercept, none)[0].rank
    fits = []
    for targets, own in each:
        normal = solve_gram(own, intercept, none).refined(none)
        out = normal.bounded(none)
        out = out._replace(squares=squared_residuals(moments, roles, targets, out.theta[:, 1:]))
        name = {"2sls": "two-stage least squares", "liml": "limited information maximum likelihood"}[method]
        fit = assemble(own, normal.factor, out, none, f"{name}, {gram_name(normal.factor)}")
        fits.append(fit._replace(projected=True))
    identified = all(fit.factor is not None and fit.factor.rank >= rank for fit in fits)
    return KClassFit(tuple(fits), kappa, identified)


def scaled_slopes(fits: tuple[Fit, ...]) -> Array:
    """Return the coefficients of all targets without intercepts, (K, D), in the scales of the moments."""
    each = []
    for fit in fits:
        assert fit.factor is not None
        scaling = fit.factor.scaling
        each.append(np.ldexp(fit.solution.theta[:, 1:], scaling.scale - scaling.target_scale[:, None]))
    return np.concatenate(each)


def score_rotation(moments: Moments, roles: Roles, intercept: bool, kappa: float, basis: Array) -> Array:
    """Return the map (D + L, m) from rows [X z], scaled, to coordinates of (1 - k M)X, given the basis (D, m) of a fit.

    The estimating equations are X'(1 - k M) r = 0, and (1 - k M)X = (1 - k) X + k Z p.
    """
    features = moments.shape.features
    out = np.zeros((features, basis.shape[1]))
    out[: roles.regressors] = basis
    inner = basis[roles.endogenous]
    out[roles.endogenous] = (1.0 - kappa) * inner
    instruments = roles.instruments(features)
    out[instruments] += kappa * project(moments, intercept, instruments, list(map(int, roles.endogenous))).u.T @ inner
    return out
