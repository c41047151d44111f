"""Recursive least squares in square-root form: after each row, the exact minimum of all rows so far.

    sum_n lam^(N-1-n) weight_n e_n^2 + lam^N delta ||w||^2,   P = S S' its inverse Hessian, P_0 = I / delta

    f = S'x,   a = lam / weight,   r = a + f.f
    w += (S f / r) (t - w.x)
    S  = (S - S f f' / (r + sqrt(r a))) / sqrt(lam)                                     (Potter)

P = S S' stays positive definite in spite of rounding, which the textbook's P - P x x'P / r does not. Directions that no
row excites grow by 1/sqrt(lam) a step; above 1e100 forgetting is suspended. K targets share S.
Cost a row: 3 (1 + D)^2.

In C++: `native/recursive.hpp` is the step, `native/scans.hpp` runs it over rows.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from adaline.arrays import Array
from adaline.block import Shape
from adaline.forms import PositiveNumber
from adaline.parameters import POSITIVE, Number
from adaline.scans.base import Scan, first_theta
from adaline.scans.schedules import Schedule
from adaline.scans.tally import HOLD, RowOutcome

LIMIT = 1e100


class RLSRule(Scan):
    """The recursion for K targets.

    Examples
    --------
    >>> scan = RLSRule.start(Shape(1, 1), delta=1e-9)
    >>> for x, t in ((0.0, 1.0), (1.0, 3.0), (2.0, 5.0)):
    ...     z = scan.learn(np.array([x]), t)
    >>> scan.theta.round(6)
    array([[1., 2.]])
    """

    rule = "rls"
    roots = 1
    forget: PositiveNumber

    def __init__(self, theta: Array, root: Array, forget: float = 1.0, intercept: bool = True) -> None:
        super().__init__(theta, Schedule(1.0), intercept)
        self.root, self.forget = root, forget

    @classmethod
    def start(
        cls,
        shape: Shape,
        *,
        forget: float = 1.0,
        delta: float = 1.0,
        intercept: bool = True,
        init: Any = None,
        **config: Any,
    ) -> Self:
        """Return the scan before its first row; `forget` is lam."""
        Number(above=0, most=1).check("forget", forget)
        POSITIVE.check("delta", delta)
        root = first_roots(1, shape)
        root[0, :, : 1 + shape.features] = np.eye(1 + shape.features) / math.sqrt(delta)
        root[0, -1, shape.features] *= intercept  # without an intercept no row excites its column, which would grow
        return cls(first_theta(shape, init), root, forget, intercept, **config)

    @property
    def parameters(self) -> tuple[float, ...]:
        """Lam, and 1 / sqrt(lam)."""
        return self.forget, 1.0 / math.sqrt(self.forget)

    def step(self, x: Array, t: Array, eta: float, square: float) -> RowOutcome:
        """Take Potter's step; eta is the row's weight."""
        z = self.theta @ x
        e = t - z
        suspended = self.numbers[HOLD] > 0
        S = self.root[0, :, : len(x)]
        Sf, _, r = potter(S, np.roll(x, -1), (1.0 if suspended else self.forget) / eta)
        self.theta += np.outer(e, np.roll(Sf, 1) / r)
        if not suspended and self.forget < 1:
            S *= self.parameters[1]
        if (self.steps + 1) % self.period == 0:
            self.numbers[HOLD] = float(np.abs(self.root).max() > LIMIT)
        return RowOutcome.of_squares(z, e, t * z)


def first_roots(count: int, shape: Shape, rows: int | None = None) -> Array:
    """Return zeros for square roots (count, 1 + D, 1 + D), their rows padded to whole vectors for the native scans."""
    n = 1 + shape.features
    size = (count, n if rows is None else rows, -(-n // 8) * 8)
    room = np.zeros(math.prod(size) + 7)
    first = -room.ctypes.data // 8 % 8  # on a cache line: the native scans are a quarter slower between two
    return room[first : first + math.prod(size)].reshape(size)


def potter(S: Array, x: Array, a: float) -> tuple[Array, float, float]:
    """Take a row x of noise a into P = S S', in place, by Potter's formula; return S f, f.f and r.

    The intercept is last in S and x, as in the native scans.
    """
    f = S.T @ x
    q = float(f @ f)
    r, Sf = a + q, S @ f
    S -= np.outer(Sf / (r + math.sqrt(r * a)), f)
    return Sf, q, r
