"""Schedules: the rate eta of each step t = 1, 2, ... (S0 section 5.4, S4: Robbins and Monro).

    "constant"   eta_t = eta0
    "1/t"        eta_t = eta0 / t
    "power"      eta_t = eta0 / (1 + t / tau)^p         sum eta = oo and sum eta^2 < oo for 1/2 < p <= 1
    f            eta_t = eta0 f(t)                      any function of the step

A rate depends on the number of its step alone, not on how the rows were cut into blocks. A step is a row of positive
weight, and steps are counted on from epoch to epoch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidParameter
from adaline.forms import FiniteNumber, PositiveNumber
from adaline.parameters import POSITIVE, ZERO_OR_MORE, AnyOf, Function, OneOf

ScheduleKind = Literal["constant", "1/t", "power"]
Decay = ScheduleKind | Callable[[int], float]
"""How rates fall: a named kind, or a function of the step."""

KINDS = {"constant": "constant", "1/t": "inverse", "power": "power"}
"""The named kinds, with their names in the native scans."""
SCHEDULE = AnyOf(OneOf(*KINDS), Function())


@dataclass(frozen=True)
class Schedule:
    """The rate of every step.

    Parameters
    ----------
    rate : eta0, a positive number.
    kind : "constant", "1/t", "power", or a function of the step that the rate is multiplied by.
    tau, power : of the schedule "power".

    Examples
    --------
    >>> Schedule(0.5, "1/t").at(5)
    0.1
    >>> Schedule(1.0, lambda t: 0.5**t).rates(first=1, count=3)
    array([0.5  , 0.25 , 0.125])
    """

    rate: PositiveNumber
    kind: Decay = "constant"
    tau: PositiveNumber = 1.0
    power: FiniteNumber = 0.75

    def __post_init__(self) -> None:
        POSITIVE.check("rate", self.rate)
        SCHEDULE.check("schedule", self.kind)
        POSITIVE.check("tau", self.tau)
        ZERO_OR_MORE.check("power", self.power)
        for name in ("rate", "tau", "power"):  # whole numbers and those of NumPy too
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def given(self) -> bool:
        """Whether the rates are those of a function, so that the native scans take a rate for each row."""
        return callable(self.kind)

    @property
    def native(self) -> str:
        """Name of the kind in the native scans."""
        return "given" if callable(self.kind) else KINDS[self.kind]

    def at(self, step: int) -> float:
        """Return the rate of a step, from 1."""
        if callable(self.kind):
            rate = float(self.rate * self.kind(step))
            if not 0 <= rate < math.inf:
                raise InvalidParameter(
                    f"the schedule gave the rate {rate} at step {step}; it must be finite, not negative"
                )
            return rate
        if self.kind == "constant":
            return float(self.rate)
        if self.kind == "1/t":
            return float(self.rate / step)
        return float(self.rate / math.pow(1.0 + step / self.tau, self.power))

    def rates(self, first: int, count: int) -> Array:
        """Return the rates of `count` steps, the first of which is `first`."""
        return np.fromiter((self.at(step) for step in range(first, first + count)), np.float64, count)
