"""rate="auto": rules without a rate, independent of the units of the columns, as their metric P is learned with them.

    P = (sum weight x x' + prior)^-1 by its square root, as in RLS;   d = P x after the row,   q = x.d

    identity   w += e d,   e = t - w.x: the least squares of all rows so far
    sigmoid    v += A e phi'(v.x)^b d / (1 + A h q),   e = t - phi(v.x),   h = phi'^(1 + b)
    softmax    v_k += A e_k d / (1 + A h_k q),   e_k = t_k - p_k,   h_k = p_k (1 - p_k)

               A = c n (m + 1 + D)^-p weight / hbar,   w += (v - w) (1 + s) / (m + s),   m = n - M

The first M = 10 (1 + D) steps are those of the identity, to targets of the tangent of the activation at zero: t for
tanh, 4 t - 2 for logistic, K t_k for softmax. (Steps of the sigmoid from w = 0, in a metric of few rows, end in its
flat parts: 2 to 8 times the best error on some sets.) After them a row is weighted in P by its curvature, the mean of h
over the outputs (softmax: the sum of h_k), divided by its mean hbar since M, at least 0.01, and earlier rows are
multiplied by 1 - 2/n a step. So n P / hbar is an inverse Gauss-Newton matrix and c (m + 1 + D)^-p the step in it; the
denominator keeps a step from passing the row's own target; w averages v with weights that grow as n^s. The prior of a
column is 2^-20 of its first normal number, rounded to a power of two: it changes with the units and has no other
effect. (Subnormal numbers before it count nothing: a metric of their size overflows at the first of ordinary size.)

The squared error of a sigmoid has many minima where rows are nearly separable, one for each set of misfitted rows. So
b = m / (m + 50 (1 + D)) goes from 0, the convex log likelihood, to 1, the squared error itself. (Logistic: the power is
of 4 phi', so that both activations behave alike.)
Cost a row: 3 (1 + D)^2.

With more than 128 columns P is diagonal: d_j = x_j n / sum x_j^2, A = c n^-1/2 weight / hbar, M = 0, b = 1, and the
identity is treated as a sigmoid. Units still do not matter, but columns far from zero or correlated ones make it slow.
Cost a row: 5 (1 + D).

In C++: `native/adaptive.hpp` is the step, on `native/recursive.hpp`, and `native/scans.hpp` runs it over rows.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from adaline.arrays import Array
from adaline.block import Shape
from adaline.parameters import OneOf
from adaline.scans.base import Scan, first_theta
from adaline.scans.rls import first_roots, potter
from adaline.scans.schedules import Schedule
from adaline.scans.sigmoid import sigmoid_values
from adaline.scans.softmax import softmax_outcome
from adaline.scans.tally import CURVES, RowOutcome

ACTIVATIONS = ("identity", "tanh", "logistic", "softmax")
# the prior of a column is 2^-20 of its first number; doubling it changes only the first 1 + D rows
PRIOR_EXPONENT = 20.0
STEP_FACTOR = 1.0  # c, the factor of all steps; doubling it makes them twice as long
# p, by which steps shrink; nearer to 1 they are too short too soon, nearer to 1/2 they stay noisy for longer
STEP_POWER = 0.75
AVERAGE_SHARE = 30.0  # s: later weights count more in the average; doubling it averages over half as many rows
FADE_POWER = 2.0  # rows count in P as n^2; doubling it forgets early rows sooner
# least weight of a row in P, relative to the mean; 10x larger lets rows with saturated outputs shape P
LEAST_ROW_WEIGHT = 0.01
CONVEX_ROWS = 50.0  # (1 + D) rows after which b is 1/2; doubling it makes the convex start last twice as long
# columns beyond which P is diagonal; doubling it lets a row of so many columns take 4 times as long
MOST_MATRIX_COLUMNS = 128


class AdaptiveRule(Scan):
    """The rule for an activation: "identity" and "tanh" (targets +-1), "logistic" (0 and 1), "softmax" (class indices).

    Examples
    --------
    >>> scan = AdaptiveRule.start(Shape(1, 1))
    >>> for x, t in ((0.0, 1.0), (1e-9, 3.0), (2e-9, 5.0)):
    ...     z = scan.learn(np.array([x]), t)
    >>> (scan.theta * [1, 1e-9]).round(6)
    array([[1., 2.]])
    """

    roots = 1
    wide: bool
    activation: str

    def __init__(self, theta: Array, root: Array, intercept: bool = True, activation: str = "identity") -> None:
        self.wide = root.shape[1] == 1
        bent = activation != "identity" or self.wide
        super().__init__(theta, Schedule(1.0), intercept)
        self.root, self.activation = root, activation
        if bent:
            self.lag = theta.copy()

    @classmethod
    def start(
        cls,
        shape: Shape,
        *,
        activation: str = "identity",
        classes: int | None = None,
        intercept: bool = True,
        init: Any = None,
        wide: bool | None = None,
        **config: Any,
    ) -> Self:
        """Return the scan before its first row; `classes` is that of softmax, `wide` whether P is diagonal."""
        OneOf(*ACTIVATIONS).check("activation", activation)
        theta = first_theta(shape, init, classes if activation == "softmax" else None)
        diagonal = shape.features > MOST_MATRIX_COLUMNS if wide is None else wide
        root = first_roots(1, shape, rows=1 if diagonal else None)
        return cls(theta, root, intercept, activation, **config)

    @property
    def classes(self) -> bool:  # type: ignore[override]
        """Whether the target is the index of a class: the rule has a softmax."""
        return self.activation == "softmax"

    @property
    def rule(self) -> str:
        """The activation, and whether P is diagonal."""
        return f"{'wide' if self.wide else 'adaptive'}_{self.activation}"

    @property
    def settings(self) -> dict[str, Any]:
        """The intercept, and the activation."""
        return {**super().settings, "activation": self.activation}

    @property
    def parameters(self) -> tuple[float, ...]:
        """Prior exponent, first step, its power, and the power of the average."""
        return PRIOR_EXPONENT, STEP_FACTOR, STEP_POWER, AVERAGE_SHARE

    def step(self, x: Array, t: Array, eta: float, square: float) -> RowOutcome:
        """Take the row into P, then the step; eta is the row's weight."""
        z = self.theta @ x
        if self.activation == "identity" and not self.wide:
            e = t - z
            d, _ = self._update_root(np.roll(x, -1), eta)
            self.theta += np.outer(eta * e, d)
            return RowOutcome.of_squares(z, e, t * z)
        v, n = self.lag @ x, self.steps + 1
        m = n if self.wide else n - 10 * len(x)
        if self.activation == "softmax":
            i = int(t[0])
            p = np.exp(v - v.max())
            p /= p.sum()
            e, h, line = (np.arange(len(v)) == i) - p, p * (1 - p), len(v) * (np.arange(len(v)) == i)
            gain, d, q = self._gain(x, eta, n, m, float(h.sum()))
            outcome = softmax_outcome(z, i)
        else:
            phi, slope, _, line = self._activated(v, t)
            unit_slope = 4 * slope if self.activation == "logistic" else slope
            part = unit_slope ** (1.0 if self.wide else max(m, 0) / (max(m, 0) + CONVEX_ROWS * len(x)))
            e, h = (t - phi) * part, slope * part
            gain, d, q = self._gain(x, eta, n, m, float(h.mean()))
            phi_z, _, sign, _ = self._activated(z, t)
            outcome = RowOutcome.of_squares(z, t - phi_z, sign * z)
        self.lag += np.outer(gain * e / (1 + gain * h * q) if m > 0 else eta * (line - v), d)
        self.theta += ((1 + AVERAGE_SHARE) / (m + AVERAGE_SHARE) if m > 0 else 1.0) * (self.lag - self.theta)
        return outcome

    def _gain(self, x: Array, weight: float, n: int, m: int, h: float) -> tuple[float, Array, float]:
        """Take the row into P; return A, d and q."""
        row = np.roll(x, -1)
        if m <= 0:
            return 0.0, *self._update_root(row, weight)
        self.numbers[CURVES] += h
        mean = max(float(self.numbers[CURVES]) / m, 1e-30)
        if self.wide:
            squares = self.root[0, 0, : len(x)]
            squares += weight * (row * row)
            d = np.divide(row * n, squares, out=np.zeros_like(row), where=squares > 0)
            return weight * STEP_FACTOR / math.sqrt(n) / mean, np.roll(d, 1), float(row @ d)
        d, q = self._update_root(row, weight * max(h / mean, LEAST_ROW_WEIGHT), 1 - FADE_POWER / n)
        return weight * STEP_FACTOR * n * math.pow(m + len(x), -STEP_POWER) / mean, d, q

    def _activated(self, z: Array, t: Array) -> tuple[Array, Array, Array, Array]:
        """Return phi, phi', the targets as -1 and 1, and the targets of the tangent at zero."""
        if self.activation == "identity":
            return z, np.ones_like(z), t, t
        phi, slope, sign = sigmoid_values(self.activation, z, t)
        return phi, slope, sign, t if self.activation == "tanh" else 4 * t - 2

    def _update_root(self, x: Array, weight: float, lam: float = 1.0) -> tuple[Array, float]:
        """Take a row into P = S S' by Potter's formula; return d = P x after it and q = x.d."""
        S = self.root[0, :, : len(x)]
        for i in np.flatnonzero(np.abs(x) >= np.finfo(float).tiny):
            if not S[i].any():
                S[i, i] = math.ldexp(1.0, min(int(PRIOR_EXPONENT) - (math.frexp(x[i])[1] - 1), 1000))
        Sf, q, r = potter(S, x, lam / weight)
        S /= math.sqrt(lam)
        return np.roll(Sf / (weight * r), 1), q / (weight * r)
