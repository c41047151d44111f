"""What the online systems share: epochs over a source, going on with more rows, one row at a time.

The state is a scan (`adaline.scans`), so that chunks give the bits of one go. Batch rules keep their weights in it too,
and so can go on by single rows. The certificate costs no pass: its objective is the loss of the last epoch, each row's
before its own step; no gap and no digits are claimed.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adaline.basis.base import BASIS
from adaline.block import Shape
from adaline.errors import ConvergenceWarning, InvalidData, warn
from adaline.namespaces import host, is_device
from adaline.parameters import (
    AUTO,
    COUNT,
    FIRST_WEIGHTS,
    FLAG,
    NONE,
    POSITIVE,
    SEED,
    ZERO_OR_MORE,
    AnyOf,
    Check,
    OneOf,
)
from adaline.results import Certificate, Status
from adaline.scans import Scan, State
from adaline.scans.schedules import SCHEDULE
from adaline.solvers.fit import certificate
from adaline.solvers.sweep import Plan, Swept, sweep
from adaline.sources import Source
from adaline.sums.wrong import outputs
from adaline.systems.drawing import generator
from adaline.systems.reading import read_finite
from adaline.systems.single_rows import SingleRows

Array = NDArray[np.float64]

ORDER = (
    "what a scan learns depends on the order of rows and on the number of steps; a weight multiplies the rate of one"
)
WEIGHT_CHECKS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


@dataclass(frozen=True)
class Learned:
    """What a fit showed: errors by epoch, how it ended, the objective, and what a person can do about it."""

    history: list[float]
    status: Status
    objective: float
    solver: str
    advice: str = ""
    proof: Certificate | None = None
    """A certificate that says more, where the rule has one."""


class OnlineSystem(SingleRows):
    """A linear machine that learns row by row, or by batch steps, and can go on at any time."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({},)  # the settings that compare tries
    expected_failures: ClassVar[dict[str, str]] = dict.fromkeys(WEIGHT_CHECKS, ORDER)
    """Checks of scikit-learn that cannot pass, each with its reason."""
    parameters: ClassVar[dict[str, Check]] = {
        "rate": AnyOf(AUTO, POSITIVE),
        "schedule": SCHEDULE,
        "fit_intercept": FLAG,
        "init": AnyOf(NONE, OneOf("random"), FIRST_WEIGHTS),
        "epochs": COUNT,
        "tol": ZERO_OR_MORE,
        "shuffle": FLAG,
        "random_state": SEED,
        "warm_start": FLAG,
        "basis": BASIS,
    }
    fit_intercept: bool
    init: Any
    rate: Any
    schedule: Any
    epochs: int
    tol: float
    shuffle: bool
    random_state: Any
    warm_start: bool
    n_features_in_: int
    history_: list[float]
    n_iter_: int
    _scan: Scan
    _proof: Certificate
    _learned: tuple[int, int]  # rows seen by fits, and the steps of the scan by then

    # -- what a system says --------------------------------------------------------------------------------------

    @abstractmethod
    def _start(self, shape: Shape) -> Scan:
        """Return the scan before its first row."""

    def _plan(self, draw: np.random.Generator | None, epochs: int) -> Plan:
        """Return how long to go on."""
        return Plan(epochs, float(self.tol), draw=draw, title=type(self).__name__)

    def _learn(self, source: Source, scan: Scan, draw: np.random.Generator | None, epochs: int) -> Learned:
        """Go over the rows, in place."""
        return self._told(sweep(source, scan, self._plan(draw, epochs)))

    def _told(self, swept: Swept) -> Learned:
        """Return what the epochs of a scan mean here."""
        history = [tally.mean_loss for tally in swept.tallies]
        return Learned(history, swept.status, swept.tallies[-1].loss, "scan")

    def _weights(self) -> Array:
        """Return the weights that predict, (K, 1 + D)."""
        return self._scan.theta

    # -- learning ------------------------------------------------------------------------------------------------

    def _fit(self, source: Source, goes_on: bool, start: float) -> None:
        """Go over the rows for epochs, from the first weights or on from those there are."""
        scan = self._scan.copy() if goes_on else self._start(source.shape)
        if not goes_on:
            self._typical = _typical(source)
        before = source.total_reads()
        draw = self._draws() if self.shuffle else None
        self._keep(scan, source, self._learn(source, scan, draw, int(self.epochs)), goes_on, before, start)

    def _go_on(self, source: Source, start: float) -> None:
        """Go over more rows once, in their order."""
        goes_on = hasattr(self, "_scan")
        scan = self._scan.copy() if goes_on else self._start(source.shape)
        if not goes_on:
            self._typical = _typical(source)
        if len(scan.theta[0]) != 1 + source.shape.features:
            raise InvalidData(
                f"X has {source.shape.features} features, but {type(self).__name__} is expecting {self.n_features_in_}"
            )
        before = source.total_reads()
        learned = self._learn(source, scan, None, 1)
        if learned.status is Status.NOT_CONVERGED:
            learned = replace(learned, status=Status.ONGOING)
        self._keep(scan, source, learned, goes_on, before, start)

    def _keep(self, scan: Scan, source: Source, learned: Learned, goes_on: bool, before: int, start: float) -> None:
        rows = self._learned[0] if goes_on else 0
        history = self.history_ if goes_on else []
        self._scan = scan
        self._learned = rows + source.n_rows, scan.steps
        self.history_ = [*history, *learned.history]
        self.n_iter_ = len(self.history_)
        proof = learned.proof or self._certify(learned.status, learned.objective, learned.solver)
        advice = learned.advice or learned.status.advice
        passes = source.total_reads() - before
        self._proof = replace(proof, passes=passes, seconds=perf_counter() - start, advice=advice)
        if learned.status is Status.DIVERGED:
            warn(f"{type(self).__name__} diverged in epoch {self.n_iter_}: {advice}", ConvergenceWarning)

    def _certify(self, status: Status, objective: float, solver: str) -> Certificate:
        return certificate(
            status=status,
            objective=objective,
            gradient=math.nan,
            gap=math.inf,
            digits=math.nan,
            condition=math.nan,
            rank=0,
            passes=0,
            solver=solver,
        )

    @property
    def certificate_(self) -> Certificate:
        """How the last fit ended; rows learned one at a time since then are taken into account."""
        proof = self._proof
        scan = self._scan
        if scan.steps == self._learned[1] or proof.status is Status.DIVERGED:
            return proof
        status = Status.ONGOING if scan.status is State.RUNNING else Status.DIVERGED
        return replace(proof, objective=scan.tally.loss, status=status, advice=status.advice)

    @property
    def rows_seen_(self) -> int:
        """Number of rows learned from, each counted once a fit."""
        return self._learned[0] + self._scan.steps - self._learned[1]

    # -- inside --------------------------------------------------------------------------------------------------

    def _outputs(self, X: Any) -> Array:
        """Return w.x + w0 for rows, (n, K), on the host."""
        check_is_fitted(self, "n_features_in_")
        x = read_finite(self, X)
        return outputs(host(x) if is_device(x) else x, self._weights())

    def _draws(self) -> np.random.Generator:
        return generator(self.random_state)

    def _begun(self, shape: Shape, rows: int) -> Any:
        """Return the first weights (rows, 1 + D): zero, as given, or drawn."""
        if isinstance(self.init, str):
            first = self._draws().normal(size=(rows, 1 + shape.features))
            first[:, 0] *= bool(self.fit_intercept)
            return first
        return self.init

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _typical(source: Source) -> Array | None:
    """Return the first row, about which outputs can be computed without cancellation; None for sparse rows."""
    if source.sparse:
        return None
    block = next(iter(source.blocks())).gathered()
    row = np.asarray(host(block.x[:1]), dtype=np.float64)[0].copy()
    return row if np.isfinite(row).all() else None
