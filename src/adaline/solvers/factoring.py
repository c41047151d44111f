"""Factoring sums: the Gram matrix by Cholesky or its eigenvectors, the triangle by QR or SVD, equilibrated first.

Columns that do not vary, or by rounding alone, are dead. A direction is cut off where rounding of the sums, or of the
raw columns themselves, could have made it; the factor then says whether that is beyond doubt.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from adaline.penalties import RidgePenalty
from adaline.solvers.factor import EPS, ROUNDED, CholeskyFactor, Frame, SpectralFactor
from adaline.sources.threads import one_blas_thread
from adaline.sums import Moments, Triangle
from adaline.sums.moments import ROUNDING

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

EXACT_CONDITION = 32


def gram_factor(
    moments: Moments, intercept: bool, penalty: RidgePenalty
) -> tuple[CholeskyFactor | SpectralFactor, Array]:
    """Factor the sums; also return the relative rounding noise of each column's sum of squares."""
    frame = moments_frame(moments, intercept)
    d = frame.features
    gram, noise = moments.second[:d, :d], moments.noise[:d]
    diagonal = gram.diagonal() + penalty.scaled(frame.scale)
    alive = (diagonal > 4 * noise) & _beyond_rounding(moments, frame)
    length = np.sqrt(np.where(alive, diagonal, 1.0))
    c = gram / np.outer(length, length)
    c[np.diag_indices(d)] = 1.0
    if not alive.all():
        c[~alive, :] = 0.0
        c[:, ~alive] = 0.0
        c[~alive, ~alive] = 1.0
    relative = np.where(alive, noise / length**2, 0.0) + 2 * ROUNDING
    r, info = lapack.dpotrf(c, lower=0, clean=1)
    if info == 0:
        condition = estimate_condition(c, r)
        contraction = 4 * condition**2 * float(relative.max()) * np.sqrt(d)
        if contraction < 0.1:
            factor = CholeskyFactor(frame, length, alive, r, condition)
            factor.contraction = contraction
            factor.decided = not diagonal[~alive].any()
            return factor, relative
    if not alive.all():
        c[~alive, ~alive] = 0.0
    with one_blas_thread():
        values, v = np.linalg.eigh(c)
    values, v = values[::-1], v[:, ::-1]
    cut = 4 * d * relative.max()
    rank = int((values > cut * max(values[0], 0.0)).sum()) if d and values[0] > 0 else 0
    spectral = SpectralFactor(frame, length, alive, v, np.sqrt(np.maximum(values, 0.0)), rank)
    spectral.contraction = cut * spectral.condition**2
    spectral.decided = rank == int(alive.sum()) and not diagonal[~alive].any()
    return spectral, relative


def triangle_factor(
    triangle: Triangle, features: int, weight: float, penalty: RidgePenalty, spectral: bool
) -> tuple[CholeskyFactor | SpectralFactor, Array]:
    """Factor the triangle; also return the solution u = L^-1 R^-1 (rotated targets), (K, D)."""
    ones = int(triangle.centred)
    r = triangle.r
    mean_hi, mean_lo = np.zeros(len(triangle.shift)), np.zeros(len(triangle.shift))
    if ones and len(r):
        first = np.ldexp(r[0, 1:] / r[0, 0], triangle.exponent.astype(np.int64))
        mean_hi = triangle.shift + first
        mean_lo = (triangle.shift - mean_hi) + first
    frame = Frame(features, weight, triangle.centred, mean_hi, mean_lo, triangle.exponent)
    whole = np.linalg.norm(r[:, ones:], axis=0)
    inner = r[ones:, ones:]
    length = np.linalg.norm(inner[:, :features], axis=0)
    varies = length > _rounded(frame)
    alive = length > 16 * EPS * whole[:features]
    constant = not length[~alive].any()
    ridge = np.sqrt(penalty.scaled(frame.scale))
    alive = (alive | (ridge > 0)) & varies
    length = np.where(alive, np.hypot(length, ridge), 1.0)
    kept = np.flatnonzero(alive)
    a, targets = len(kept), inner.shape[1] - features
    stacked = np.zeros((len(inner) + features, a + targets))
    stacked[: len(inner)] = inner[:, np.append(kept, np.arange(features, inner.shape[1]))]
    stacked[len(inner) + kept, np.arange(a)] = ridge[kept]
    stacked[:, :a] /= length[kept]
    qr = lapack.dgeqrf(np.asfortranarray(stacked))[0]
    r = np.zeros((a, a + targets))
    r[: len(qr)] = np.triu(qr[:a])
    u, s, vt = np.linalg.svd(r[:, :a])
    tolerance = cut_relative(features)
    raw = np.hypot(whole[kept], np.sqrt(weight) * np.abs(frame.scaled_mean()[0][kept])) / length[kept]
    doubt = 4 * EPS * np.linalg.norm(raw[:, None] * vt.T, axis=0)  # what rounding the raw columns can make of s
    largest = s[0] if a else 0.0
    rank = int((s > np.maximum(tolerance * largest, doubt)).sum())
    factor: CholeskyFactor | SpectralFactor
    start = np.zeros((targets, features))
    if rank == a and not spectral:
        c_r = np.eye(features)
        c_r[np.ix_(kept, kept)] = r[:, :a]
        factor = CholeskyFactor(frame, length, alive, c_r, float(s[0] / s[-1]) if a else 1.0)
        start[:, kept] = r[:, a:].T
        start = start @ factor.root.T * (alive / length)
    else:
        v = np.zeros((features, features))
        v[kept, :a] = vt.T
        v[~alive, a:] = np.eye(features - a)
        factor = SpectralFactor(frame, length, alive, v, np.append(s, np.zeros(features - a)), rank)
        factor.decided = not (s[rank:] > tolerance * largest).any()
        start[:, kept] = (r[:, a:].T @ u[:, :rank] / s[:rank]) @ vt[:rank]
        start = factor.project(start / length)
    factor.contraction = 4 * tolerance * factor.condition
    factor.decided &= constant
    return factor, start


def varying(moments: Moments) -> Mask:
    """Which columns (D,) vary about their means, by more than the rounding of numbers and sums."""
    d = moments.shape.features
    sure = moments.second.diagonal()[:d] > 4 * moments.noise[:d]
    return np.asarray(sure & _beyond_rounding(moments, moments_frame(moments, intercept=True)))


def _beyond_rounding(moments: Moments, frame: Frame) -> Mask:
    squares = moments.second.diagonal()[: frame.features]
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)) > _rounded(frame))


def cut_relative(features: int) -> float:
    """Return the share of the longest direction at which a direction of the triangle is rounding."""
    return 2 * (features + 10) * EPS


def _rounded(frame: Frame) -> Array:
    """Return the length, in scaled coordinates, that rounding alone can give a column about its mean: 0.1 + 0.2 here
    and 0.3 there do not vary.
    """
    return np.asarray(ROUNDED * np.sqrt(frame.weight) * np.abs(frame.scaled_mean()[0]))


def moments_frame(moments: Moments, intercept: bool) -> Frame:
    """Return the frame of moments: centred ones with an intercept, raw ones without."""
    zero = np.zeros(moments.columns)
    hi, lo = (moments.first_hi, moments.first_lo) if intercept else (zero, zero)
    return Frame(moments.shape.features, moments.weight, intercept, hi, lo, moments.exponent)


def estimate_condition(c: Array, r: Array) -> float:
    """Return sqrt of the condition of C = R'R, which is that of the design; large ones by power iteration."""
    if len(c) <= EXACT_CONDITION:
        values = lapack.dsyevd(c, compute_v=0)[0]
        return float(np.sqrt(values[-1] / max(values[0], 1e-300 * values[-1])))
    v = np.cos(np.arange(1.0, len(c) + 1.0))
    w = v.copy()
    largest = smallest = 1.0
    for _ in range(8):
        v = c @ v
        largest = float(np.sqrt(v @ v))
        v /= largest
        w = lapack.dpotrs(r, w)[0]
        smallest = float(np.sqrt(w @ w))
        w /= smallest
    return float(np.sqrt(max(largest * smallest, 1.0)))
