"""Additive models of counts, shares and amounts: Laplace's approximation of the likelihood, from sums over the rows.

With C(b) the sum of weight x cost of the outputs z = v'b of rows v = (1, columns), less the lowest, and a penalty P,

    b = argmin C(b) + b'P b / 2,    H = C''(b) + P,    l(phi) the log-likelihood at mean = t,
    V = (C + b'P b / 2) / phi - l(phi) + 1/2 [log|H| - log|P| - M log(2 pi phi)]

M of the coefficients have no penalty. "reml" treats all coefficients as random, and H covers all of them. "ml" treats
the coefficients without a penalty as parameters, like the ratios theta: b is then the minimum over the other
coefficients alone, H covers only these, and M = 0. The dispersion phi is known, or is the one at which V is smallest.

Derivatives. With K = H^-1, zero for parameters, and P_a = dP/da, zero for coefficients, b moves by d_a = db/da,

    d_a = -K P_a b      or for a coefficient j that is a parameter      e_j - K H e_j
    (C + b'P b / 2)_a = b'P_a b / 2, or the slope of coefficient j;     (..)_ab = b'P_ab b / 2 + b'P_a d_b, or (H d_b)_j
    H_a = T_a + P_a,    T_a = sum weight cost''' (v'd_a) v v'
    (log|H|)_a = g'd_a + tr(K P_a),    g = sum weight cost''' (v'K v) v
    (log|H|)_ab = d_a'Q d_b + g'd_ab + tr(K P_ab) - tr(K H_a K H_b),    Q = sum weight cost'''' (v'K v) v v'
    d_ab = -K (T_b d_a + P_b d_a + P_a d_b + P_ab b)

V has no other terms, so Newton's method of `ratios` applies to it as to the criteria of second moments. Reference:
S. N. Wood, Fast stable restricted maximum likelihood, J. Royal Statistical Society B 73 (2011), 3-36, for "reml"; "ml"
is the criterion of lme4's glmer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from adaline.arrays import Array
from adaline.fits.additive.criteria import Criterion, PenalisedSums, penalty_matrix, with_parameters
from adaline.fits.additive.laplace import LaplacePoint, LaplaceSums
from adaline.fits.additive.penalties import BlockPenalty
from adaline.fits.dispersion import likely_dispersion
from adaline.losses import Likelihood, Loss, Scoring
from adaline.solvers.lapack import cholesky, dtrtri
from adaline.sources import Source
from adaline.sums import Objective, Point, View

MOST_STEPS = 200  # Newton steps for the coefficients; doubling it matters only where they grow without bound
# decrement of the penalised cost, an observation's worth, at which coefficients are solved for; 1e4x larger leaves the
# criterion with 8 digits
SETTLED = 1e-20
STALLED = 1e-10  # decrement below which a step that gains nothing is one of rounding
LEAST_SHARE = 2.0**-30  # of a Newton step that is tried


class CostOfRows(NamedTuple):
    """The cost of all rows, less the lowest: value, gradient (p,) and second derivatives (p, p) by the coefficients."""

    value: float
    gradient: Array
    hessian: Array


class PenalisedMode(NamedTuple):
    """Coefficients where the penalised cost is least, and the cost there."""

    coefficients: Array
    cost: CostOfRows


class ProfiledDispersion(NamedTuple):
    """The dispersion phi, the log-likelihood at mean = t, and V's second derivative by ln phi, infinite if known."""

    dispersion: float
    log_density: float
    curvature: float


class FirstCoefficients(NamedTuple):
    """Coefficients near those for ratios near theta: they move by `moves` (p, len(theta))."""

    theta: Array
    coefficients: Array
    moves: Array

    def at(self, theta: Array) -> Array:
        """Return the coefficients from which those for theta are sought."""
        return np.asarray(self.coefficients + self.moves @ (theta - self.theta))


@dataclass(frozen=True)
class LaplaceProblem:
    """A penalised likelihood, as sums over the rows of a source.

    Parameters
    ----------
    source, loss : the rows, and what one costs.
    view : of the columns; the coefficients are in it.
    active : the coefficients that there are, among (1, columns), (p,).
    plain : the penalties, and C'' of the best constant.
    lowest : the least cost that the rows can have.
    saturated : l of a family whose dispersion is known.
    dispersion : phi; None where it is estimated.
    precision : whether weights are inverse variances.
    apart : whether coefficients without a penalty are parameters.
    start : coefficients from which others are sought.
    """

    source: Source
    loss: Loss
    view: View
    active: NDArray[np.intp]
    plain: PenalisedSums
    lowest: float
    saturated: float
    dispersion: float | None
    precision: bool
    apart: bool
    start: FirstCoefficients

    @property
    def gram(self) -> Array:
        """C'' of the best constant."""
        return self.plain.gram

    @property
    def rows(self) -> float:
        """N, the number of observations."""
        return self.plain.rows

    @property
    def square(self) -> float:
        """1: nothing is lost where a likelihood is not what is left of squares."""
        return 1.0

    @property
    def penalties(self) -> list[BlockPenalty]:
        """All penalties."""
        return list(self.plain.penalties)

    @property
    def likelihood(self) -> Likelihood:
        """The loss, as a family with a link."""
        assert self.loss.linked is not None
        return self.loss.linked

    @cached_property
    def inner(self) -> NDArray[np.bool_]:
        """Which coefficients H is of, (p,)."""
        return ~self.plain.free if self.apart else np.ones(len(self.active), dtype=bool)

    @property
    def unpenalised(self) -> int:
        """M."""
        return 0 if self.apart else self.plain.unpenalised

    def with_penalties(self, penalties: Sequence[BlockPenalty]) -> LaplaceProblem:
        """Return the same rows with penalties of the same blocks."""
        start = self.start._replace(moves=np.zeros_like(self.start.moves))
        return replace(self, plain=self.plain.with_penalties(penalties), start=start)

    def at(self, theta: Array) -> LaplaceFit:
        """Return the fit for these parameters."""
        return LaplaceFit(self, theta)

    def cost(self, coefficients: Array, expected: bool = False) -> CostOfRows:
        """Return the cost at coefficients (p,); its second derivatives may be the expected ones."""
        loss = Scoring(self.likelihood) if expected else self.loss
        point = Point(loss, self.whole(coefficients)[None], self.view)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = self.source.sum(Objective, point, outputs=1, second="alone")
        value = float(found.value[0]) - self.lowest
        on = self.active
        return CostOfRows(
            value if found.finite else math.inf, found.gradient[0][on].copy(), found.hessian[0][np.ix_(on, on)]
        )

    def whole(self, part: Array) -> Array:
        """Return coefficients, or columns of them, with zeros for those that are not there."""
        out = np.zeros((1 + len(self.view.scale), *part.shape[1:]))
        out[self.active] = part
        return out


@dataclass(frozen=True)
class LaplaceFit:
    """The solution for one theta: ratios, and where they are parameters the coefficients without a penalty."""

    problem: LaplaceProblem
    theta: Array

    @property
    def sums(self) -> LaplaceProblem:
        """The problem, whose next solution is sought from this one."""
        return replace(self.problem, start=FirstCoefficients(self.theta, self.coefficients, self.moves))

    @property
    def ratios(self) -> Array:
        """Those of theta that are ratios."""
        return self.theta[: self.problem.plain.parameters]

    @property
    def squares(self) -> float:
        """1, see `LaplaceProblem.square`."""
        return 1.0

    @cached_property
    def penalty(self) -> Array:
        """P, (p, p)."""
        return penalty_matrix(self.problem.plain, self.ratios)

    @cached_property
    def mode(self) -> PenalisedMode:
        """The coefficients, and the cost there."""
        problem = self.problem
        for first in (problem.start.at(self.theta), problem.start.coefficients.copy()):
            first[~problem.inner] = self.theta[problem.plain.parameters :]
            try:
                return penalised_mode(problem, first, problem.inner, self.penalty)
            except LinAlgError as error:  # from where the last ones were the cost is finite
                failed = error
        raise failed

    @property
    def coefficients(self) -> Array:
        """Coefficients b, (p,)."""
        return self.mode.coefficients

    @cached_property
    def inverse(self) -> Array:
        """K, (p, p), zero for parameters."""
        return _embedded(self._root[1], self.problem.inner)

    @cached_property
    def _root(self) -> tuple[float, Array]:
        """log|H|, and H^-1."""
        inner = self.problem.inner
        return log_and_inverse((self.mode.cost.hessian + self.penalty)[np.ix_(inner, inner)])

    @cached_property
    def penalised_cost(self) -> float:
        """C + b'P b / 2."""
        b = self.coefficients
        return self.mode.cost.value + 0.5 * float(b @ self.penalty @ b)

    @cached_property
    def profiled(self) -> ProfiledDispersion:
        """The dispersion, and what V has of it."""
        problem = self.problem
        if problem.dispersion is not None:
            phi = problem.dispersion
            density = problem.saturated
            return ProfiledDispersion(phi, density, math.inf)
        found = likely_dispersion(
            problem.source,
            problem.likelihood.family,
            np.array([2 * self.penalised_cost]),
            problem.rows,
            problem.precision,
            problem.unpenalised,
        )
        phi, error, likely = (float(one[0]) for one in found)
        if not (phi > 0 and error > 0):
            raise LinAlgError("the likelihood has no maximum over the dispersion")
        density = likely + self.penalised_cost / phi - 0.5 * problem.unpenalised * math.log(phi)
        return ProfiledDispersion(phi, density, (phi / error) ** 2)

    def dispersion(self, criterion: Criterion) -> float:
        """Return phi."""
        return self.profiled.dispersion

    def score(self, criterion: Criterion) -> float:
        """Return V."""
        phi, density, _ = self.profiled
        logs = self._root[0] - sum(one.log_determinant(own)[0] for one, own in self._blocks())
        logs -= self.problem.unpenalised * math.log(2 * math.pi * phi)
        return self.penalised_cost / phi - density + 0.5 * logs

    @cached_property
    def moves(self) -> Array:
        """d, (p, len(theta))."""
        b, k = self.coefficients, self.inverse
        pulls = [part @ b for part in self._slopes[0]]
        of_ratios = -k @ np.stack(pulls, axis=1) if pulls else np.zeros((len(b), 0))
        if not self.problem.apart:
            return of_ratios
        apart = np.flatnonzero(~self.problem.inner)
        of_coefficients = np.eye(len(b))[:, apart] - k @ (self.mode.cost.hessian + self.penalty)[:, apart]
        return np.concatenate([of_ratios, of_coefficients], axis=1)

    def derivatives(self, criterion: Criterion) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of V."""
        first, bends = self._slopes
        b, k, d = self.coefficients, self.inverse, self.moves
        apart = np.flatnonzero(~self.problem.inner)
        slopes = [*first, *(np.zeros_like(k) for _ in apart)]
        count, curved = len(first), self.mode.cost.hessian + self.penalty
        pulls = np.stack([part @ b for part in slopes], axis=1)
        cost = 0.5 * b @ pulls
        cost[count:] = (self.mode.cost.gradient + self.penalty @ b)[apart]
        cost_bend = pulls.T @ d
        cost_bend[count:] = (curved @ d)[apart]
        sums = self._sums(k, d)
        g, q, moved = sums
        changes = [t + p for t, p in zip(moved, slopes, strict=True)]
        log = g @ d + [np.sum(k * part) for part in slopes]
        products = [k @ part for part in changes]
        log_bend = d.T @ q @ d - [[np.sum(one * other.T) for other in products] for one in products]
        back = k @ g
        for i, (t, p) in enumerate(zip(moved, slopes, strict=True)):
            log_bend[:, i] -= back @ ((t + p) @ d)  # T_b d_a + P_b d_a
            log_bend[:, i] -= (back @ np.stack(slopes)) @ d[:, i]  # P_a d_b
        for i, j, part in bends:
            pulled = part @ b
            for at in {(i, j), (j, i)}:
                cost_bend[at] += 0.5 * b @ pulled
                log_bend[at] += np.sum(k * part) - back @ pulled
        phi, _, curvature = self.profiled
        gradient, hessian = cost / phi + 0.5 * log, cost_bend / phi + 0.5 * log_bend
        hessian -= np.outer(cost, cost) / (phi**2 * curvature)
        first_of = 0
        for one, own in self._blocks():
            block = slice(first_of, first_of := first_of + one.parameters)
            _, slope, curve = one.log_determinant(own)
            gradient[block] -= 0.5 * slope
            hessian[block, block] -= 0.5 * curve
        return gradient, 0.5 * (hessian + hessian.T)

    def used(self) -> Array:
        """Return the degrees of freedom that each part of P leaves; 1 for coefficients."""
        each = [one.log_determinant(own)[1] for one, own in self._blocks()]
        out = np.ones(len(self.theta))
        kept = np.concatenate(each) if each else np.zeros(0)
        out[: len(kept)] = kept - [np.sum(self.inverse * part) for part in self._slopes[0]]
        return out

    def _blocks(self) -> list[tuple[BlockPenalty, Array]]:
        return with_parameters(self.problem.plain.penalties, self.ratios)

    @cached_property
    def _slopes(self) -> tuple[list[Array], list[tuple[int, int, Array]]]:
        return _plain_slopes(self.problem.plain, self.ratios)

    def _sums(self, k: Array, d: Array) -> tuple[Array, Array, Array]:
        """Return g, Q and T."""
        problem, on = self.problem, self.problem.active
        inverse = problem.whole(problem.whole(k).T.copy())
        point = LaplacePoint(
            problem.likelihood, problem.whole(self.coefficients), problem.view, inverse, problem.whole(d)
        )
        found = problem.source.sum(LaplaceSums, point, moves=d.shape[1])
        square = np.ix_(on, on)
        return found.leverage[on], found.spread[square], np.array([one[square] for one in found.moved])


def penalised_mode(problem: LaplaceProblem, first: Array, inner: NDArray[np.bool_], penalty: Array) -> PenalisedMode:
    """Return where cost + b'P b / 2 is least over the inner coefficients, the others being as in `first`.

    Steps by the second derivatives, or where these are not positive definite by the expected ones, are halved until
    the penalised cost falls.
    """
    square = np.ix_(inner, inner)

    def penalised(b: Array, there: CostOfRows) -> float:
        return there.value + 0.5 * float(b @ penalty @ b)

    b, there, before = first, problem.cost(first), math.inf
    if not np.isfinite(there.value):
        raise LinAlgError("the cost of some rows is infinite")
    for _ in range(MOST_STEPS):
        slope = (there.gradient + penalty @ b)[inner]
        try:
            _, inverse = log_and_inverse((there.hessian + penalty)[square])
        except LinAlgError:
            _, inverse = log_and_inverse((problem.cost(b, expected=True).hessian + penalty)[square])
        step = np.zeros_like(b)
        step[inner] = -inverse @ slope
        decrement = -0.5 * float(slope @ step[inner])
        if decrement <= SETTLED or (decrement <= STALLED and decrement >= 0.25 * before):
            return PenalisedMode(b, there)
        before, share, value = decrement, 1.0, penalised(b, there)
        while True:
            new = b + share * step
            found = problem.cost(new)
            if penalised(new, found) <= value + 1e-14 * abs(value):
                b, there = new, found
                break
            share /= 2
            if share < LEAST_SHARE:
                if decrement <= STALLED:
                    return PenalisedMode(b, there)
                raise LinAlgError("no step lowers the penalised cost")
    raise LinAlgError("the coefficients were not found")


def log_and_inverse(matrix: Array) -> tuple[float, Array]:
    """Return log of the determinant and the inverse of a positive definite matrix, scaled to a diagonal of ones."""
    if not len(matrix):
        return 0.0, matrix
    diagonal = matrix.diagonal()
    if not (diagonal > 0).all():
        raise LinAlgError("the matrix of second derivatives is not positive definite")
    scale = 1 / np.sqrt(diagonal)
    factor = cholesky(matrix * scale * scale[:, None], lower=True)
    root = np.tril(dtrtri(factor, lower=1)[0]) * scale
    return 2 * float(np.sum(np.log(factor.diagonal())) - np.sum(np.log(scale))), np.asarray(root.T @ root)


def _embedded(part: Array, inner: NDArray[np.bool_]) -> Array:
    out = np.zeros((len(inner), len(inner)))
    out[np.ix_(inner, inner)] = part
    return out


def _plain_slopes(plain: PenalisedSums, theta: Array) -> tuple[list[Array], list[tuple[int, int, Array]]]:
    """Return dP/dtheta_i and the second derivatives that are not zero, (p, p) each."""
    size, first, second = len(plain.cross), list[Array](), list[tuple[int, int, Array]]()
    for one, own in with_parameters(plain.penalties, theta[: plain.parameters]):
        at, block, eye = len(first), slice(one.start, one.stop), np.eye(one.stop - one.start)

        def whole(part: Array, one: BlockPenalty = one, block: slice = block, eye: Array = eye) -> Array:
            out = np.zeros((size, size))
            out[block, block] = one.times(eye, part)
            return out

        slopes, curves = one.slopes(own)
        first += [whole(part) for part in slopes]
        second += [(at + i, at + j, whole(part)) for i, j, part in curves]
    return first, second
