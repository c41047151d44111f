"""The exact minimum of a likelihood or loss, by Newton's method in mpmath.

The cost of a row is written once, as a function of a truncated power series (`Jet`) in the output z: value, slope and
curvature come out together and share no formula with the package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import mpmath
import numpy as np
from mpmath import mp, mpf

DIGITS = 65
STEPS = 30
LARGEST = 1e5  # output beyond which a step went astray
NEAR = mpf(10) ** -6  # relative step below which steps are taken whole


@dataclass(frozen=True)
class Jet:
    """a + b h + c h^2 / 2 up to h^2."""

    a: Any
    b: Any = 0
    c: Any = 0

    def _through(self, f: Any, slope: Any, bend: Any) -> Self:
        return type(self)(f, slope * self.b, slope * self.c + bend * self.b**2)

    def __add__(self, other: Any) -> Self:
        o = other if isinstance(other, Jet) else Jet(other)
        return type(self)(self.a + o.a, self.b + o.b, self.c + o.c)

    __radd__ = __add__

    def __neg__(self) -> Self:
        return type(self)(-self.a, -self.b, -self.c)

    def __sub__(self, other: Any) -> Self:
        return self + (-other)

    def __rsub__(self, other: Any) -> Self:
        return -self + other

    def __mul__(self, other: Any) -> Self:
        o = other if isinstance(other, Jet) else Jet(other)
        return type(self)(self.a * o.a, self.a * o.b + self.b * o.a, self.a * o.c + 2 * self.b * o.b + self.c * o.a)

    __rmul__ = __mul__

    def power(self, k: Any) -> Self:
        """Return the power with a number."""
        return self._through(self.a**k, k * self.a ** (k - 1), k * (k - 1) * self.a ** (k - 2))

    def exp(self) -> Self:
        """Return the exponential."""
        if abs(self.a) > LARGEST:
            raise OverflowError
        e = mp.exp(self.a)
        return self._through(e, e, e)

    def log(self) -> Self:
        """Return the logarithm."""
        return self._through(mp.log(self.a), 1 / self.a, -1 / self.a**2)

    def normal(self) -> Self:
        """Return the normal distribution function."""
        phi = mp.npdf(self.a)
        return self._through(mp.erfc(-self.a / mp.sqrt(2)) / 2, phi, -self.a * phi)


Cost = Callable[[Jet, Any], Jet]
"""The cost of an output z and a target t."""


def tweedie(power: float, mean: Callable[[Jet], Jet]) -> Cost:
    """Return the cost of a Tweedie family, given the mean of an output."""

    def cost(z: Jet, t: Any) -> Jet:
        m = mean(z)
        if power == 0:
            return 0.5 * (m - t) * (m - t)
        first = m.log() if power == 2 else m.power(mpf(2) - power) * (1 / (mpf(2) - power))
        second = m.log() if power == 1 else m.power(mpf(1) - power) * (1 / (mpf(1) - power))
        return first - t * second

    return cost


def negative_binomial(shape: float, mean: Callable[[Jet], Jet]) -> Cost:
    """Return the cost of a negative binomial."""
    return lambda z, t: (t + shape) * (1 + mean(z) * (1 / mpf(shape))).log() - t * mean(z).log()


def binomial(logs: Callable[[Jet], tuple[Jet, Jet]]) -> Cost:
    """Return the cost of a share, given the logarithms of the mean and of one minus it."""

    def cost(z: Jet, t: Any) -> Jet:
        yes, no = logs(z)
        return -t * yes - (1 - t) * no

    return cost


def logit(z: Jet) -> tuple[Jet, Jet]:
    """Return ln p and ln(1 - p)."""
    return -(1 + (-z).exp()).log(), -(1 + z.exp()).log()


def probit(z: Jet) -> tuple[Jet, Jet]:
    """Return the same for the normal distribution."""
    return z.normal().log(), (-z).normal().log()


def cloglog(z: Jet) -> tuple[Jet, Jet]:
    """Return the same for p = 1 - exp(-exp(z))."""
    u = z.exp()
    return (1 - (-u).exp()).log(), -u


def logged(z: Jet) -> tuple[Jet, Jet]:
    """Return the same for p = exp(z)."""
    return z, (1 - z.exp()).log()


def huber(delta: float) -> Cost:
    """Return Huber's loss."""

    def cost(z: Jet, t: Any) -> Jet:
        r = z - t
        if abs(r.a) <= delta:
            return 0.5 * r * r
        return mpf(delta) * ((r if r.a > 0 else -r) - mpf(delta) / 2)

    return cost


def squared_hinge(z: Jet, t: Any) -> Jet:
    """Return max(0, 1 - t z)^2 / 2."""
    short = 1 - t * z
    return 0.5 * short * short if short.a > 0 else 0 * z


class Minimum(NamedTuple):
    """The weights (M,) of the minimum, and by how much the objective is above it at the weights given."""

    theta: list[Any]
    gap: Any


@dataclass(frozen=True)
class Objective:
    """sum weight cost(w'x + w0 + offset, t) + penalty / 2 ||w||^2; softmax where `classes` is more than 1."""

    x: np.ndarray[Any, Any]
    t: np.ndarray[Any, Any]
    weight: np.ndarray[Any, Any]
    offset: np.ndarray[Any, Any]
    penalty: float
    intercept: bool
    cost: Cost | None
    classes: int = 1

    def minimum(self, theta: np.ndarray[Any, Any], nearest: bool = False, digits: int = DIGITS) -> Minimum | None:
        """Return the minimum from weights (K, 1 + D); `nearest`: by whole steps. None where it is not reached.

        Newton's method has converged at a relative step, columns of equal length, of half the digits.
        """
        with mp.workdps(digits):
            close = mpf(10) ** -(digits // 2 + 4)
            start = [mpf(float(v)) for v in theta.ravel()]
            here = list(start)
            rows = [[mpf(1) * self.intercept, *(mpf(float(v)) for v in row)] for row in self.x]
            try:
                first = value = self._value(rows, here)
                for _ in range(STEPS):
                    gradient, hessian = self._derivatives(rows, here)
                    unit = [mp.sqrt(abs(hessian[i, i])) or mpf(1) for i in range(len(here))]
                    for i, a in enumerate(unit):
                        gradient[i] /= a
                        for j, b in enumerate(unit):
                            hessian[i, j] /= a * b
                    scaled = mpmath.lu_solve(hessian, -gradient)
                    step = [scaled[i] / a for i, a in enumerate(unit)]
                    length = max(abs(v) for v in scaled) / (
                        max(abs(v * a) for v, a in zip(here, unit, strict=True)) or 1
                    )
                    share = mpf(1)
                    while not nearest and length > NEAR:
                        try:
                            reached = self._value(rows, [a + share * b for a, b in zip(here, step, strict=True)])
                        except OverflowError:
                            reached = mpf("inf")
                        if mp.isfinite(reached) and reached <= value + abs(value) * mpf(10) ** (3 - digits):
                            value = reached
                            break
                        share /= 2
                        if share < mpf(10) ** -12:
                            return None
                    here = [a + share * b for a, b in zip(here, step, strict=True)]
                    if share == 1 and length <= close:
                        return Minimum(here, max(first - self._value(rows, here), mpf(0)))
            except (ZeroDivisionError, ValueError, OverflowError, TypeError):
                return None
        return None

    def _outputs(self, rows: Sequence[Any], theta: Sequence[Any]) -> list[list[Any]]:
        side = len(rows[0])
        parts = [theta[k * side : (k + 1) * side] for k in range(self.classes)]
        return [
            [mp.fdot(row, part) + mpf(float(o)) for part in parts] for row, o in zip(rows, self.offset, strict=True)
        ]

    def _value(self, rows: Sequence[Any], theta: Sequence[Any]) -> Any:
        total, side = mpf(0), len(rows[0])
        for z, t, w in zip(self._outputs(rows, theta), self.t, self.weight, strict=True):
            if w == 0:
                continue
            if self.cost is None:
                cost = mp.log(sum(mp.exp(one - z[int(t)]) for one in z))
            else:
                cost = self.cost(Jet(z[0]), mpf(float(t))).a
            total += mpf(float(w)) * cost
        if isinstance(total, mpmath.mpc):
            return mpf("inf")
        slopes = (v for i, v in enumerate(theta) if i % side)
        return total + mpf(self.penalty) / 2 * sum(v**2 for v in slopes)

    def _derivatives(self, rows: Sequence[Any], theta: Sequence[Any]) -> tuple[Any, Any]:
        side, m, classes = len(rows[0]), len(theta), self.classes
        gradient, hessian = mpmath.matrix(m, 1), mpmath.matrix(m, m)
        slopes, bends = [], []
        for z, t, w in zip(self._outputs(rows, theta), self.t, self.weight, strict=True):
            weight = mpf(float(w))
            if self.cost is None:
                top = max(z)
                e = [mp.exp(one - top) for one in z]
                p = [one / sum(e) for one in e]
                slopes.append([weight * (one - (k == int(t))) for k, one in enumerate(p)])
                bends.append([[weight * p[k] * ((k == q) - p[q]) for q in range(classes)] for k in range(classes)])
            else:
                jet = self.cost(Jet(z[0], mpf(1)), mpf(float(t)))
                slopes.append([weight * jet.b])
                bends.append([[weight * jet.c]])
        columns = [[row[i] for row in rows] for i in range(side)]
        for k in range(classes):
            own = [one[k] for one in slopes]
            for i in range(side):
                gradient[k * side + i] = mp.fdot(own, columns[i])
            for q in range(k + 1):
                bent = [one[k][q] for one in bends]
                for i in range(side):
                    times = [a * b for a, b in zip(bent, columns[i], strict=True)]
                    for j in range(i + 1):
                        entry = mp.fdot(times, columns[j])
                        for a, b in ((i, j), (j, i)):
                            hessian[k * side + a, q * side + b] = entry
                            hessian[q * side + b, k * side + a] = entry
        for i in range(m):
            if i % side:
                gradient[i] += mpf(self.penalty) * theta[i]
                hessian[i, i] += mpf(self.penalty)
            elif not self.intercept:
                gradient[i], hessian[i, i] = mpf(0), mpf(1)
        if self.cost is None:  # machines that gain the same decide nothing: weights add up to zero over them
            for i in range(side):
                total = sum(theta[k * side + i] for k in range(self.classes))
                size = sum(hessian[k * side + i, k * side + i] for k in range(self.classes)) or mpf(1)
                for k in range(self.classes):
                    gradient[k * side + i] += size * total
                    for q in range(self.classes):
                        hessian[k * side + i, q * side + i] += size
        return gradient, hessian
