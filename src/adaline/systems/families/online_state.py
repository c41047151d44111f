"""What a system that learns row by row has learned: its scan, the results of its fits, and what its first rows set."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Annotated, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.coding.columns import Level
from adaline.fits.online import LONGEST_HISTORY, OnlineResult
from adaline.forms import ClassesOf, Count, Finite, FiniteNumber
from adaline.input.labels import Labels
from adaline.input.system import SystemState
from adaline.results import Certificate, Status
from adaline.scans import Scan
from adaline.scans.tally import LOSS, RUNNING, STATUS, STEPS
from adaline.sources.standardized import Standard

Kind = TypeVar("Kind", bound=Scan)


@dataclass(frozen=True, kw_only=True, eq=False)
class PreparedState(SystemState):
    """The state of a system that learns row by row before it has learned: what it takes from its first rows.

    Parameters
    ----------
    standard : mean and scale of the columns that the scan works in; None for the columns of the rows.
    names : the columns of a row that is a dict, a tuple, or a dict that grows; None where rows were arrays.
    typical : (D,) a row about which outputs can be computed without cancellation.
    flat : of a regression, whether the targets were one vector.
    classes, targets : of a classifier, the labels, and the target, or targets, of each.
    """

    standard: Standard | None
    names: dict[str, Count] | tuple[str, ...] | None
    typical: Annotated[Array, Finite("D")] | None
    flat: bool | None = None
    classes: Annotated[Labels, ClassesOf("C")] | None = None
    targets: dict[Level, FiniteNumber | Annotated[Array, Finite(".")]] | None = None

    @property
    def labels(self) -> Labels:
        """The classes of a classifier."""
        assert self.classes is not None
        return self.classes

    @property
    def as_given(self) -> bool:
        """Whether the scan works in the columns of the rows as they are given."""
        return self.standard is None and self.columns.basis is None


@dataclass(frozen=True, kw_only=True, eq=False)
class OnlineState(PreparedState):
    """What an online system has learned: how it was prepared, the scan with its weights, and what its fits found.

    Parameters
    ----------
    scan : the rule, its weights and tallies; a single row changes it in place, by one call.
    result : of the fits so far.
    """

    scan: Scan
    result: OnlineResult

    def made_names(self) -> NDArray[np.object_] | None:
        """Return the names of columns that grow with the rows, which are dicts."""
        if isinstance(self.names, dict) and self.names:
            return np.array(list(self.names)[: self.columns.count], dtype=np.object_)
        return None

    @property
    def fitted(self) -> FittedScan[Scan]:
        """The scan, and the result of the fits that it has been through."""
        return FittedScan(self.scan, self.result)


@dataclass(frozen=True)
class FittedScan(Generic[Kind]):
    """A scan, and the result of the fits that it has been through; it may have learned single rows since the last."""

    scan: Kind
    result: OnlineResult

    @property
    def rows_seen(self) -> int:
        """Number of rows learned from, each counted once a fit."""
        return self.result.rows + self.scan.steps - self.result.steps

    @property
    def certificate(self) -> Certificate:
        """How the last fit ended; rows learned one at a time since then are taken into account."""
        proof, numbers = self.result.certificate, self.scan.numbers.copy()
        if numbers[STEPS] == self.result.steps:
            return proof
        status = Status.ONGOING if int(numbers[STATUS]) == RUNNING else Status.DIVERGED
        objective = proof.objective if math.isnan(proof.objective) else float(numbers[LOSS])  # NaN: it claims none
        return replace(proof, objective=objective, status=status, advice=status.advice)

    @contextmanager
    def continued(self) -> Iterator[FittedScan[Kind]]:
        """Give what replaces this, which takes no row from then on, unless that fails."""
        with self.scan.continued() as scan:
            yield FittedScan(scan, replace(self.result, rows=self.rows_seen))

    def joined(self, result: OnlineResult, certificate: Certificate, rows: int) -> FittedScan[Kind]:
        """Return the scan after another fit, of so many rows, with the result of all fits.

        The history of a model that never stops learning, one call after another, has the last of them only.
        """
        kept = self.result.history if len(result.history) > 1 else self.result.history[1 - LONGEST_HISTORY :]
        history = [*kept, *result.history]
        steps, rows = self.scan.steps, self.result.rows + rows
        whole = replace(result, history=history, certificate=certificate, rows=rows, steps=steps)
        return FittedScan(self.scan, whole)


def learned_by(setup: PreparedState, fitted: FittedScan[Scan]) -> OnlineState:
    """Return the state of a setup, or of the state before, with a scan and the result of its fits."""
    if isinstance(setup, OnlineState):
        return replace(setup, scan=fitted.scan, result=fitted.result)
    return OnlineState(**setup.by_name(), scan=fitted.scan, result=fitted.result)


def copied(state: OnlineState) -> OnlineState:
    """Return a copy of a state, whose scan and pocket single rows change in place."""
    result = state.result
    if result.pocket is not None:
        result = replace(result, pocket=deepcopy(result.pocket))
    return replace(state, scan=state.scan.copy(), result=result)
