"""Regressions under any loss: what `GeneralizedLinear` and `CustomMachine` share around their outputs z, (n, K).

Rows are opened with their loss, offsets are added to z, predictions are the mean of t under the loss, and scores are
R^2 of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from adaline.activations import Activation, ActivationName
from adaline.arrays import Array, OffsetsLike, RowsLike, TargetsLike, WeightsLike, host
from adaline.errors import InvalidData, InvalidParameter
from adaline.fits.constants import best_constants
from adaline.fitted import AnySystem
from adaline.input.coded import (
    brought,
    coded,
    is_added_up,
    predict_blocks,
    score_predictions,
    streamed_score,
)
from adaline.input.columns import InputColumns
from adaline.input.first_pass import FirstPass, first_pass
from adaline.input.open import open_rows, read_targets, refuse_overflow
from adaline.links import Link, LinkName, name_of
from adaline.losses import Composed, Logistic, Loss, Offset, loss_of
from adaline.losses.families import Family
from adaline.losses.registry import LossName
from adaline.sources import Source
from adaline.sources.array import read_weights
from adaline.sources.targets import shares_of
from adaline.sources.views import in_memory
from adaline.state import FitSettings
from adaline.sums import Targets


@dataclass(frozen=True)
class LossSettings(FitSettings):
    """The settings that say what the outputs of a regression under any loss mean."""

    loss: LossName | Loss | Family
    link: LinkName | Link | None
    activation: ActivationName | Activation | None

    def of_row(self) -> Loss:
        """Return the loss of a row without its offset."""
        return loss_of(self.loss, self.activation, self.link)


class PosedRows(NamedTuple):
    """Rows with the loss to fit to them.

    `constant` (K,) are the outputs of the best constants; `flat`: predictions have the shape (n,); `columns` are of the
    input.
    """

    source: Source
    loss: Loss
    opening: FirstPass
    constant: Array
    flat: bool
    columns: InputColumns

    @property
    def with_offset(self) -> bool:
        """Whether the outputs have a known part."""
        return isinstance(self.loss, Offset)


def pose(
    system: AnySystem,
    loss: Loss,
    X: RowsLike,
    y: TargetsLike,
    sample_weight: WeightsLike,
    offset: OffsetsLike,
    exposure: OffsetsLike,
    *,
    held: bool,
) -> PosedRows:
    """Open the rows of a fit and look over their targets. `held`: in memory."""
    source, columns = open_rows(system, X, y, sample_weight, reset=True, offset=offset, exposure=exposure)
    return posed(source, columns, loss, held=held)


def posed(source: Source, columns: InputColumns, loss: Loss, *, held: bool = False) -> PosedRows:
    """Look over the targets of rows that were opened for a fit."""
    targets = source.targets.given
    if loss == loss_of("binomial") and targets == 1:
        loss = Logistic()  # the same, and it has a native kernel
    if source.targets.offset:
        loss = _with_offset(loss, targets, source.targets.offset)
    if held:
        source = in_memory(source)
    opening = first_pass(source, Targets, loss)
    if not opening.targets.finite:
        source.refuse_nonfinite()
    constant = best_constants(source, loss, opening.targets)
    flat = (source.targets.flat or len(constant) < targets) and not loss.coupled
    return PosedRows(source, loss, opening, constant, flat, columns)


def _with_offset(loss: Loss, targets: int, columns: int) -> Loss:
    """Return a loss with offsets; refuse those of coupled outputs, and two of successes and failures."""
    if loss.coupled:
        raise InvalidData("an offset is a known part of one output, and softmax has several")
    if columns > 1 and loss.name == "binomial":
        raise InvalidData(f"successes and failures are one target: give one offset a row, not {columns}")
    return Offset(loss, columns)


def refuse_corners(loss: Loss, solver: str) -> None:
    """Refuse a loss without curvature, but for stochastic steps."""
    inner = loss.loss if isinstance(loss, Composed) else loss
    if inner.corners and solver != "stochastic":
        better = "Perceptron" if inner.name == "perceptron" else "RobustRegression"
        raise InvalidParameter(
            f"loss={inner.name!r} has corners and no curvature to step by: use solver='stochastic', or {better}, which "
            "is made for it"
        )


def has_response(loss: Loss) -> bool:
    """Whether predictions are not the outputs themselves; a plain regressor has no decision_function."""
    return isinstance(loss, Composed) or loss.response != "identity"


def mean_of(loss: Loss, z: Array) -> Array:
    """Return the means of t of outputs (n, K); refuse outputs that have none, and means that overflow."""
    return refuse_overflow(refuse_outside(loss, z, loss.mean(z)))


def refuse_outside(loss: Loss, z: Array, mean: Array) -> Array:
    """Return the means of outputs (n, K); raise where an output has none."""
    linked = loss.linked
    if linked is None or not (bad := np.isnan(mean) & np.isfinite(z)).any():
        return mean
    row, (low, high) = int(np.argwhere(bad)[0, 0]), linked.family.range(linked.link)
    raise InvalidData(
        f"row {row} has no mean: its output is {z[bad][0]:g}, and {linked.name} with link={name_of(linked.link)!r} "
        f"takes outputs from {low:g} to {high:g}. Leave such rows out, or fit with a link that takes every output, "
        f"such as {'logit' if linked.name == 'binomial' else 'log'}"
    )


def score_means(
    system: AnySystem,
    loss: Loss,
    X: RowsLike,
    y: TargetsLike,
    sample_weight: WeightsLike,
    offset: OffsetsLike,
    exposure: OffsetsLike,
    *,
    outputs: int,
    flat: bool,
) -> float:
    """Return R^2 of a system's predictions: of softmax that of the probabilities, of two counts that of the shares."""
    found: Array | None = None
    if isinstance(X, Source):
        X = coded(system, X)
        if offset is None and exposure is None and is_added_up(X):
            if X.targets.given == outputs and not loss.coupled:
                return streamed_score(system, X)
            found = predict_blocks(system, X)
        t, sample_weight = X.read_targets(), X.read_weights()
        t = t[:, : t.shape[1] - X.targets.offset]
        y = t[:, 0] if t.shape[1] == 1 else t
    found = brought(system.predict(X, offset, exposure)) if found is None else found
    y = host(read_targets(system, y, len(found)))
    weight = read_weights(1.0 if sample_weight is None else sample_weight, len(found))
    if loss.coupled:
        own = np.arange(found.shape[1]) == y[:, None]
        away = own - np.average(own, axis=0, weights=weight)
        return float(1 - (weight @ (own - found) ** 2).sum() / (weight @ away**2).sum())
    if flat and y.ndim == 2 and y.shape[1] == 2:
        y, sample_weight = shares_of(y, sample_weight)
    return score_predictions(system, found, X, y, sample_weight)
