"""A scan: a rule that processes rows in their order and updates its state with each. Scans do not merge.

Conventions
-----------
theta is (K, 1 + D), intercept first; the ones column is virtual: x_0 = 1, or 0 where there is no intercept. Below, x
stands for the whole (1 + D) vector of a row and w_k for a row of theta. A row's weight multiplies its rate; a row of
weight zero is skipped. (A weight of 2 is not two visits: the law of repetition holds for sums alone.)

Laws, tested for every class in SCANS: cutting rows into blocks changes no bit; an order of rows equals permuted rows to
the bit; float32 rows equal their float64 copy to the bit; dense and CSR agree to 1e-12, and so do native and reference;
pickling keeps every bit; nothing returns NaN.

Divergence. Every `period` steps theta is saved, if no error since the last time was larger than 10 times the largest
target. A step that is not finite, or (rules that can explode) an error above 1e8 times the largest target and the first
error, ends the scan: `status` says so, theta is the one saved, later rows change nothing until `follow` takes another
rate. The last finite theta would be no place to continue from: its errors may be 1e8 times the largest target.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host, is_device, is_sparse
from adaline.attributes import give_attributes, own_attributes
from adaline.block import Block, Shape
from adaline.errors import InvalidParameter
from adaline.forms import Finite, Floats
from adaline.kernels import native
from adaline.scans.schedules import Schedule
from adaline.scans.tally import (
    ENERGY,
    FIELDS,
    INDEX,
    LARGEST,
    LOSS,
    MARGIN,
    MISTAKES,
    REACH,
    REPLACED,
    RUNNING,
    SIZE,
    SQUARES,
    STATUS,
    STEPS,
    STOPPED,
    UPDATES,
    WEIGHT,
    WORST,
    RowOutcome,
    State,
    Tally,
)

Order = NDArray[np.int64]

EXPLODED, SUSPECT = 1e16, 100.0
"""Squared ratios of an error to the largest target, above which a scan has diverged or theta is not saved."""
CACHE_LINE = 8  # numbers in a line of the cache, where rows of weights start; other values make scans slower


class Scan(ABC):
    """Base of all rules: the state of a scan and the loop over rows; final classes are listed in `adaline.scans.SCANS`.

    Attributes, changed in place by the steps
    -----------------------------------------
    theta : (K, 1 + D) weights.
    good : the last theta saved while the errors were small; empty where no step can be too large.
    numbers : tallies and status, see `adaline.scans.tally`.
    lag : (K, 1 + D) weights that theta follows, of rules that have them, else empty.
    root : (roots, 1 + D, ...) matrices of the rule, or what it has for each coordinate.
    """

    explodes: ClassVar[bool] = False
    """Whether errors feed back into larger errors, so that a rate too large shows in the errors."""
    classes: ClassVar[bool] = False
    """Whether the one target is the index of a class, 0, 1, ..., and theta has a row for each class."""
    corrects: ClassVar[bool] = False
    """Whether only mistakes change the weights, so that epochs end at the first one without a mistake."""
    default_rate: ClassVar[float] = 0.01
    roots: ClassVar[int] = 0
    """How many (1 + D) x (1 + D) matrices the rule has."""
    theta: Annotated[Array, Finite("K 1+D")]
    schedule: Schedule
    intercept: bool
    good: Annotated[Array, Finite("K 1+D", "0 0")]
    numbers: Annotated[Array, Floats(SIZE)]
    lag: Annotated[Array, Finite("K 1+D", "0 0")]
    root: Annotated[Array, Finite(". . .")]

    def __init__(self, theta: Array, schedule: Schedule, intercept: bool = True) -> None:
        self.theta = theta
        self.schedule = schedule
        self.intercept = intercept
        self.good = theta.copy()
        self.numbers = np.zeros(SIZE)
        self.lag = np.zeros((0, 0))
        self.root = np.zeros((0, 0, 0))
        self._native: Any = None
        self.begin()

    @classmethod
    def start(
        cls,
        shape: Shape,
        *,
        rate: float | Schedule | None = None,
        classes: int = 2,
        intercept: bool = True,
        init: Any = None,
        **options: Any,
    ) -> Self:
        """Return the scan before its first row.

        Parameters
        ----------
        rate : a number, a Schedule, or None for the default of the rule.
        classes : number of classes, for rules whose target is the index of a class.
        init : theta to start from, (K, 1 + D); None for zeros.
        options : further arguments of the rule.
        """
        schedule = rate if isinstance(rate, Schedule) else Schedule(cls.default_rate if rate is None else rate)
        return cls(first_theta(shape, init, classes if cls.classes else None), schedule, intercept, **options)

    @property
    @abstractmethod
    def rule(self) -> str:
        """Name of the rule in the native scans."""

    @property
    def parameters(self) -> tuple[float, ...]:
        """Numbers of the rule that the native scan needs, at most four."""
        return ()

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the rule other than its rate and first weights; they do not change."""
        return {"fit_intercept": self.intercept}

    @abstractmethod
    def step(self, x: Array, t: Array, eta: float, square: float) -> RowOutcome:
        """Take the textbook's step for a row x (1 + D,) of squared length `square`, at the rate eta."""

    def run(self, block: Block, order: Order | None = None, outputs: Array | None = None) -> None:
        """Go over the rows of a block, in place.

        Parameters
        ----------
        block : the rows; `chosen` are rows of x, in the order of t.
        order : indices of rows of the block, in the order of their visit; None for the order of the block.
        outputs : (n, K) float64, receives w.x of each row before its own step, in the order of visit; zeros from the
            row on that ended the scan.
        """
        if self.ended():
            if outputs is not None:
                outputs[:] = 0.0
            return
        if native is None or is_device(block.x):
            self.run_reference(block, order, outputs)
            return
        core = self._core()
        rows = block.rows if order is None else len(order)
        rates = self.schedule.rates(self.steps + 1, rows) if self.schedule.given else None
        rest = (block.t, block.weight, block.chosen, order, rates, outputs)
        if is_sparse(block.x):
            x = block.x
            if not x.has_canonical_format:
                x = x.copy()
                x.sum_duplicates()
            core.run_csr(x.data, x.indices, x.indptr, *rest)
        else:
            core.run_dense(block.x, *rest)
        if outputs is not None and self.ended():
            outputs[self.stopped :] = 0.0

    def learn(self, x: Array, t: float | Array) -> float:
        """Take one row, contiguous float64 (D,), with its target, class index or K targets; return w.x before its step.

        Only sizes are checked. Of several outputs the first is returned (0 with more than 64); 0 for the row that ends
        the scan and all after it.
        """
        core = self._native or self._core()
        if self.schedule.given or core is None:
            outputs = np.empty((1, len(self.theta)))
            self.run(Block(x[None, :], np.array(t, dtype=np.float64, ndmin=2).reshape(1, -1)), outputs=outputs)
            return float(outputs[0, 0])
        return float(core.learn(x, t))

    @property
    def learns_at_once(self) -> bool:
        """Whether no other thread can come between what `learn` changes."""
        return self._core() is not None and not self.schedule.given

    def doubt_settings(self) -> None:
        """Take no row as it comes, until `follow` has been asked: the settings may be others now."""
        self._native = None

    @property
    def settings_may_differ(self) -> bool:
        """Whether the scan has not taken a row since it was made, copied or its settings were in doubt."""
        return self._native is None

    def read_rows_by(self, names: Any, targets: dict[Any, Any] | None = None) -> None:
        """Let the native scan take single rows as they come; its `take` returns whether it has taken one and continues.

        It does where x is a contiguous float64 array (D,), or a dict from the columns `names` to plain numbers, y a
        number or an array of K, or a label that `targets` has these for, all of them finite, and where the step does
        not end the scan; else, unless it has ended, nothing has changed. A copy of a scan knows no names and targets.
        """
        core = self._core()
        if core is not None:
            core.read_rows_by(names, targets)

    @property
    def last(self) -> list[float]:
        """w.x of the last single row, before its step, one for each row of theta."""
        found: list[float] = self._native.last()
        return found

    def run_reference(self, block: Block, order: Order | None = None, outputs: Array | None = None) -> None:
        """Go over the rows one at a time, as the textbook does: the reference of the native scans."""
        columns = block.packed()
        rows = np.arange(block.rows) if order is None else order
        for i, row in enumerate(rows):
            weight = 1.0 if block.weight is None else float(block.weight[row])
            if weight == 0.0 and outputs is None:
                continue
            x = self._augmented(columns.x, int(row if block.chosen is None else block.chosen[row]))
            t = np.asarray(block.t[row], dtype=np.float64)
            self._visit(x, t, weight, None if outputs is None else outputs[i], i)
            if self.ended():
                break
        if not np.isfinite(self.theta).all():
            self._stop(State.DIVERGED, len(rows))
        if outputs is not None and self.ended():
            outputs[self.stopped :] = 0.0

    def begin(self, again: bool = False) -> None:
        """Reset the tallies for a new epoch, of rows taken `again`; steps, weights and status are kept."""
        for name in FIELDS:
            if name != "steps":
                self.numbers[INDEX[name]] = math.inf if name == "margin" else 0.0

    def fold(self, constant: NDArray[np.bool_], value: Array) -> None:
        """Move the weights of constant columns (D,), which are `value` (D,) in every row, onto the intercept."""
        for theta in (self.theta, self.good, self.lag):
            if theta.size:
                theta[:, 0] += theta[:, 1:][:, constant] @ value[constant]
                theta[:, 1:][:, constant] = 0.0

    @property
    def steps(self) -> int:
        """Steps taken since the start."""
        return int(self.numbers[STEPS])

    @property
    def tally(self) -> Tally:
        """Statistics of the rows since `begin`."""
        numbers = self.numbers.tolist()
        return Tally(**{name: numbers[INDEX[name]] for name in FIELDS})

    @property
    def status(self) -> State:
        """Whether the scan runs, or why it has ended."""
        return State(int(self.numbers[STATUS]))

    def ended(self) -> bool:
        """Whether the scan has ended: it ignores later rows."""
        return bool(self.numbers[STATUS] != RUNNING)

    @property
    def stopped(self) -> int:
        """Index of the row of the last run, in the order of visit, that ended the scan; -1 while it runs."""
        return int(self.numbers[STOPPED]) if self.status is not State.RUNNING else -1

    @property
    def period(self) -> int:
        """Steps after which theta is saved again: a power of two, so many that copying costs little a row."""
        return max(256, 1 << (self.theta.size // 64).bit_length())

    def follow(self, other: Scan) -> list[str]:
        """Take the rate of another scan from the next step on; return which settings differ, where it does not.

        A scan that has diverged continues at another rate, from the theta that was saved. One that has not saves its
        own first: a rate that is too large does not undo what another has learned.
        """
        if type(other) is not type(self):
            return ["rate"]
        own, asked = self.settings, other.settings
        if own == asked:
            if self.status is State.DIVERGED and other.schedule != self.schedule:
                self.numbers[STATUS], self.numbers[STOPPED], self.numbers[WORST] = RUNNING, 0.0, 0.0
            elif self.status is State.RUNNING and other.schedule != self.schedule:
                self._save(int(self.numbers[STEPS]))
            self.schedule, self._native = other.schedule, None
        return [name for name, value in own.items() if value != asked[name]]

    @contextmanager
    def continued(self) -> Iterator[Self]:
        """Give a copy to continue with in place of this scan, which takes no row from then on, unless that fails.

        A thread that has not yet heard of the copy so finds that its row was not taken.
        """
        status = self.revive()
        self.numbers[STATUS] = status + REPLACED
        try:
            new = self.copy()
            new.numbers[STATUS] = status
            yield new
        except BaseException:
            self.numbers[STATUS] = status
            raise

    def revive(self) -> float:
        """Take rows again where the fit that was to replace this scan was interrupted; return the status, a number.

        For the scan of a model whose lock is held: no other fit is under way.
        """
        self.numbers[STATUS] = status = float(np.floor(self.numbers[STATUS]))
        return status

    def copy(self) -> Self:
        """Return an independent copy, which takes rows; these wait meanwhile for the lock, which the caller has."""
        other = type(self).__new__(type(self))
        give_attributes(other, self.__getstate__())
        marked = float(self.numbers[STATUS])
        status = math.floor(marked)
        self.numbers[STATUS] = status + REPLACED
        for name, value in own_attributes(other).items():
            if isinstance(value, np.ndarray):
                setattr(other, name, aligned_copy(value) if name == "root" else value.copy())
        other.numbers[STATUS], self.numbers[STATUS] = status, marked
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**own_attributes(self), "_native": None}

    def _core(self) -> Any:
        if self._native is None and native is not None:
            self._native = native.Scan(
                native.Rule[self.rule],
                self.theta,
                self.good,
                self.numbers,
                self.lag,
                self.root,
                np.array([*self.parameters, *([0.0] * (4 - len(self.parameters)))]),
                self.intercept,
                0 if self.lag.size else -1,
                self.period,
                native.Schedule[self.schedule.native],
                float(self.schedule.rate),
                float(self.schedule.tau),
                float(self.schedule.power),
            )
        return self._native

    def _augmented(self, rows: Any, i: int) -> Array:
        row = rows[[i]].toarray()[0] if is_sparse(rows) else host(rows[i])
        return np.concatenate([[float(self.intercept)], row]).astype(np.float64)

    def _visit(self, x: Array, t: Array, weight: float, outputs: Array | None, row: int) -> None:
        """Take one row: the step of the rule, the tallies, and every `period` steps a saved theta."""
        numbers = self.numbers
        if outputs is not None:
            outputs[:] = self.theta @ x
        if weight == 0.0:
            return
        with np.errstate(all="ignore"):
            square = float(x @ x)
            if (
                not math.isfinite(square)
                or not np.isfinite(t).all()
                or (self.classes and not 0 <= t[0] < len(self.theta))
            ):
                self._stop(State.NOT_FINITE, row)
                return
            step = self.steps + 1
            outcome = self.step(x, t, weight * self.schedule.at(step), square)
            if self.explodes:
                largest = float((t * t).max())
                numbers[REACH] = max(numbers[REACH], largest, outcome.error if step == 1 else 0.0)
            exploded = self.explodes and not outcome.error <= EXPLODED * numbers[REACH]
            if exploded or not math.isfinite(outcome.loss):
                self._stop(State.DIVERGED, row)
                return
        numbers[STEPS] = step
        numbers[WEIGHT] += weight
        numbers[LOSS] += weight * outcome.loss
        numbers[SQUARES] += weight * square
        numbers[LARGEST] = max(numbers[LARGEST], square)
        numbers[MISTAKES] += outcome.mistakes
        numbers[UPDATES] += outcome.updates
        numbers[MARGIN] = min(numbers[MARGIN], outcome.margin)
        numbers[ENERGY] += weight * float(t @ t)
        numbers[WORST] = max(numbers[WORST], outcome.error)
        if step % self.period == 0:
            self._save(row)

    def _save(self, row: int) -> None:
        if not np.isfinite(self.theta).all():
            self._stop(State.DIVERGED, row)
        elif self.good.size and self.numbers[WORST] <= SUSPECT * self.numbers[REACH]:
            self.good[:] = self.theta
        self.numbers[WORST] = 0.0

    def _stop(self, status: State, row: int) -> None:
        if self.good.size:
            self.theta[:] = self.good
        self.numbers[STATUS], self.numbers[STOPPED] = status.value, row


def aligned_zeros(shape: tuple[int, ...]) -> Array:
    """Return zeros that begin on a cache line, so that shorter parts of equal length do not cross one."""
    size = math.prod(shape)
    room = np.zeros(size + CACHE_LINE)
    first = -room.ctypes.data // room.itemsize % CACHE_LINE
    return room[first : first + size].reshape(shape)


def aligned_copy(array: Array) -> Array:
    """Return a copy that begins on a cache line."""
    out = aligned_zeros(array.shape)
    out[:] = array
    return out


def first_theta(shape: Shape, init: Any, rows: int | None = None) -> Array:
    """Return theta to start from: zeros, or a copy of `init`, (K, 1 + D)."""
    size = (shape.targets if rows is None else rows, 1 + shape.features)
    if init is None:
        return np.zeros(size)
    theta = np.array(init, dtype=np.float64, order="C", ndmin=2)
    if theta.shape != size or not np.isfinite(theta).all():
        raise InvalidParameter(f"init must be {size} finite numbers, intercept first, got shape {theta.shape}")
    return theta
