"""Effective degrees of freedom of a fit with a grouping that is eliminated, of its columns and of each penalty."""

from __future__ import annotations

import numpy as np

from adaline.arrays import Array
from adaline.fits.additive.grouped import GroupedFit


def residual_squares(fit: GroupedFit) -> float:
    """Return the sum of squared residuals."""
    b, penalised = fit.effects, 0.0
    for one, own in fit.blocks:
        beta = fit.coefficients[one.start : one.stop]
        penalised += float(beta @ one.times(beta[None], one.total(own))[0])
    return float(fit.squares - penalised - np.sum((b @ fit.omega) * b))


def column_freedom(fit: GroupedFit, size: int) -> Array:
    """Return the part of (X'X + P)^-1 X'X of the first columns, (size, size)."""
    out = np.eye(size)
    for one, own in fit.blocks:
        if one.stop <= size:
            block = slice(one.start, one.stop)
            out[:, block] -= one.times(fit.inverse[:size, block], one.total(own))
    return out


def freedoms(fit: GroupedFit, first: int = 0) -> list[float]:
    """Return the effective degrees of freedom of penalties from the first on, those of the grouping last."""
    out = []
    for one, own in fit.blocks[first:]:
        block = slice(one.start, one.stop)
        kept = one.times(fit.inverse[block, block], one.total(own))
        out.append(float(one.stop - one.start - np.trace(kept)))
    left = np.sum(fit.spread.sum(axis=0) * fit.omega) + np.sum(fit.inverse * fit.between(fit.omega))
    return [*out, float(fit.effects.size - left)]


def shared_freedom(fit: GroupedFit, size: int) -> Array:
    """Return what effects beside the first columns add to the diagonal of the square of `column_freedom`, (size,)."""
    some = fit.inverse[:size]
    images = some @ fit.between(fit.omega) @ some.T
    for one, own in fit.blocks:
        if one.start >= size:
            block = slice(one.start, one.stop)
            images += one.times(some[:, block], one.total(own)) @ some[:, block].T
    out = np.zeros(size)
    for one, own in fit.blocks:
        if one.stop <= size:
            block = slice(one.start, one.stop)
            out[block] = one.times(images[block, block], one.total(own)).diagonal()
    return out
