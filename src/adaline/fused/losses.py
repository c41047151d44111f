"""Losses on a device: value, slope and curvature at z = w'(v, 1), the formulas of `adaline.losses`.

The tests hold them equal to the references. Exponentials are of negative numbers, so that none overflows, and what is
near zero keeps its digits.
"""

from __future__ import annotations

import triton
import triton.language as tl

LOSSES = (
    *("squared", "logistic", "softmax", "poisson", "gamma", "huber", "tukey", "absolute", "quantile", "perceptron"),
    *("squared_hinge", "sigmoid_squared", "tanh_squared", "negative_binomial"),
)
NOT_CONVEX = ("tukey", "sigmoid_squared", "tanh_squared")


@triton.jit
def log1p(y):
    """Return ln(1 + y) for y >= 0 to the last digits."""
    u = 1.0 + y
    return tl.where(u == 1.0, y, tl.log(u) * (y / tl.where(u == 1.0, 1.0, u - 1.0)))


@triton.jit
def log1p_of_share(y):
    """Return ln(1 + y) for 0 <= y <= 1 to the last digits: 2 artanh(s), s = y / (2 + y), by a polynomial of s^2."""
    s = y / (2.0 + y)
    u = s * s
    p = 0.08522081781390699 * u + 0.0416225325593041
    p = p * u + 0.06055084364034609
    p = p * u + 0.06650187016337313
    p = p * u + 0.07693307021152004
    p = p * u + 0.09090870416252403
    p = p * u + 0.11111112040373837
    p = p * u + 0.14285714272727057
    p = p * u + 0.20000000000092874
    p = p * u + 0.33333333333333076
    return 2.0 * (s + s * (u * p))


@triton.jit
def minus_expm1(a):
    """Return 1 - exp(-a) for a >= 0 to the last digits."""
    u = tl.exp(-a)
    ordinary = (u < 1.0) & (u > 0.0)
    exact = (1.0 - u) * a / -tl.log(tl.where(ordinary, u, 0.5))
    return tl.where(u == 1.0, a, tl.where(u == 0.0, 1.0, exact))


@triton.jit
def sign(r):
    """Return the sign of r, 0 of 0, NaN of NaN."""
    return tl.where(r > 0.0, 1.0, tl.where(r < 0.0, -1.0, r))


@triton.jit
def cost(z, t, parameter, LOSS: tl.constexpr):
    """Return value, slope and curvature of a loss of single outputs, by the formulas of `adaline.losses`."""
    if LOSS == "squared":
        r = z - t
        return 0.5 * r * r, r, 1.0 + 0.0 * r
    elif LOSS == "logistic":
        y = tl.exp(-tl.abs(z))
        inverse = 1.0 / (1.0 + y)  # and not one division for both: that rounds more, and certificates claimed too much
        near = tl.where(z > 0.0, 1.0 - t, -t)
        far = tl.where(z > 0.0, -t, 1.0 - t)
        return near * z + log1p_of_share(y), (far * y + near) * inverse, y * inverse * inverse
    elif LOSS == "poisson":
        mean = tl.exp(z)
        return mean - t * z, mean - t, mean
    elif LOSS == "gamma":
        ratio = t * tl.exp(-z)
        return z + ratio, 1.0 - ratio, ratio
    elif LOSS == "huber":
        r = z - t
        size = tl.abs(r)
        inside = size <= parameter
        value = tl.where(inside, 0.5 * r * r, parameter * (size - 0.5 * parameter))
        return value, tl.where(inside, r, parameter * sign(r)), tl.where(inside, 1.0 + 0.0 * r, 0.0 * r)
    elif LOSS == "tukey":
        r = z - t
        rest = 1.0 - (r / parameter) * (r / parameter)
        left = tl.where(rest > 0.0, rest, 0.0 * t)
        value = parameter * parameter / 6.0 * (1.0 - left * left * left)
        return value, r * left * left, left * (5.0 * left - 4.0)
    elif LOSS == "absolute":
        return tl.abs(z - t), sign(z - t), 0.0 * z
    elif LOSS == "quantile":
        r = t - z
        value = tl.where(r > 0.0, parameter * r, (parameter - 1.0) * r)
        return value, 0.5 - parameter - 0.5 * sign(r), 0.0 * z
    elif LOSS == "perceptron":
        wrong = t * z <= 0.0
        return tl.where(wrong, -t * z, 0.0 * z), tl.where(wrong, -t + 0.0 * z, 0.0 * z), 0.0 * z
    elif LOSS == "squared_hinge":
        within = t * z < 1.0
        lack = tl.where(within, 1.0 - t * z, 0.0 * z)
        return 0.5 * lack * lack, -t * lack, tl.where(within, 1.0 + 0.0 * z, 0.0 * z)
    elif LOSS == "sigmoid_squared":
        y = tl.exp(-tl.abs(z))
        inverse = 1.0 / (1.0 + y)
        small = y * inverse
        e = tl.where(z > 0.0, inverse, small) - t
        bend = inverse * small
        turn = tl.where(z > 0.0, small - inverse, inverse - small)
        return 0.5 * e * e, e * bend, bend * (bend + e * turn)
    elif LOSS == "negative_binomial":
        a = z - tl.log(parameter)
        y = tl.exp(-tl.abs(a))
        inverse = 1.0 / (1.0 + y)
        share = tl.where(a > 0.0, inverse, y * inverse)
        rest = tl.where(a > 0.0, y * inverse, inverse)
        value = (t + parameter) * (tl.where(a > 0.0, a, 0.0 * a) + log1p_of_share(y)) - t * z
        return value, parameter * share - t * rest, (t + parameter) * share * rest
    else:
        tl.static_assert(LOSS == "tanh_squared")
        far = minus_expm1(2.0 * tl.abs(z))
        y = sign(z) * far / (2.0 - far)
        e = y - t
        bend = 1.0 - y * y
        return 0.5 * e * e, e * bend, bend * (bend - 2.0 * y * e)


@triton.jit
def costs_of_outputs(z, t, row, inside, outputs, w, parameter, K: tl.constexpr, LOSS: tl.constexpr):
    """Return weighted costs and slopes of outputs z, (rows, WIDTH), zero beyond K; costs of softmax are in column 0."""
    real = (outputs < K)[None, :]
    if LOSS == "softmax":
        own = tl.load(t + row, mask=inside, other=0.0)
        top = tl.max(tl.where(real, z, float("-inf")), axis=1)
        e = tl.where(real, tl.exp(z - top[:, None]), 0.0)
        total = tl.sum(e, axis=1)
        mine = outputs[None, :].to(tl.float64) == own[:, None]
        lost = top - tl.sum(tl.where(mine, z, 0.0), axis=1)
        p = e / total[:, None]
        costs = (lost + log1p(tl.maximum(total - 1.0, 0.0)))[:, None] + 0.0 * z
        slopes = tl.where(mine, p - 1.0, p)
        counted = (outputs == 0)[None, :]
    else:
        real &= inside[:, None]
        own = tl.load(t + row.to(tl.int64)[:, None] * K + outputs[None, :], mask=real, other=0.0)
        costs, slopes, _ = cost(z, own, parameter, LOSS)
        counted = real
    positive = (w > 0.0)[:, None]
    return tl.where(positive & counted, w[:, None] * costs, 0.0), tl.where(positive & real, w[:, None] * slopes, 0.0)
