"""What a scan carries from row to row: weights, tallies, averages, and whether it goes on."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.scans.schedules import Schedule
from adaline.scans.tally import FIELDS, INDEX, RUNNING, SIZE, STATUS, STEPS, STOPPED, State, Tally

Array = NDArray[np.float64]


class ScanState:
    """The arrays of a scan, changed in place by its steps.

    Attributes
    ----------
    theta : (K, 1 + D) weights.
    good : the last theta kept aside.
    """

    def __init__(self, theta: Array, schedule: Schedule, intercept: bool = True, average: int | None = None) -> None:
        self.theta = theta
        self.schedule = schedule
        self.intercept = intercept
        self.average = average
        self.good = theta.copy()
        self.numbers = np.zeros(SIZE)
        self.lag = np.zeros_like(theta) if average is not None else np.zeros((0, 0))
        self.root = np.zeros((0, 0, 0))
        self._native: Any = None
        self.begin()

    def begin(self) -> None:
        """Start the tallies again, as an epoch does; steps, weights and status go on."""
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
        """What was seen since `begin`."""
        return Tally(**{name: float(self.numbers[INDEX[name]]) for name in FIELDS})

    @property
    def status(self) -> State:
        """How the scan stands."""
        return State(int(self.numbers[STATUS]))

    def ended(self) -> bool:
        """Whether something ended the scan, so that later rows change nothing."""
        return bool(self.numbers[STATUS] != RUNNING)

    @property
    def stopped(self) -> int:
        """Row of the last run, in the order of visit, that ended the scan; -1 where nothing did."""
        return int(self.numbers[STOPPED]) if self.status is not State.RUNNING else -1

    @property
    def averaged(self) -> Array:
        """Mean of theta over the steps since averaging began, (K, 1 + D); theta itself before.

        The sum of theta_1 .. theta_n is n theta_n - sum_j (j - 1) d_j for the steps d_j, so only the rows' own
        entries are touched; `lag` is that last sum.
        """
        n = self.steps - (self.average or 0)
        if self.average is None or n <= 0 or self.status is not State.RUNNING:
            return self.theta.copy()
        return np.asarray(self.theta - self.lag / n)

    @property
    def period(self) -> int:
        """Steps between two times that theta is kept aside: a power of two, so that copying costs little a row."""
        return max(256, 1 << (self.theta.size // 64).bit_length())

    def copy(self) -> Self:
        """Return a scan that goes on from here by itself."""
        other = type(self).__new__(type(self))
        other.__setstate__(self.__getstate__())
        for name in ("theta", "good", "numbers", "lag", "root"):
            setattr(other, name, getattr(other, name).copy())
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_native": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
