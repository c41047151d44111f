"""The numbers that a scan keeps besides its weights: tallies of the rows, its status, and their indices in one vector.

The native scans read and write the same vector.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import Enum
from typing import NamedTuple

from adaline.arrays import Array
from adaline.kernels import numbers_of

_STATES = numbers_of("ScanState", ("running", "diverged", "not_finite"))


class State(Enum):
    """Whether a scan runs, or why it has ended."""

    RUNNING = _STATES["running"]
    DIVERGED = _STATES["diverged"]
    NOT_FINITE = _STATES["not_finite"]
    """A row or target is NaN, infinite, or too large to be squared."""


RUNNING = float(State.RUNNING.value)
"""The status of a running scan, among its numbers."""
REPLACED = 0.5
"""Added to the status of a scan that another one replaces: it takes no more rows."""


class RowOutcome(NamedTuple):
    """The outputs, the loss and the mistakes of one row, before its own step."""

    outputs: Array
    loss: float
    error: float
    """Largest squared error of the row's outputs, which shows divergence; 0 for rules that cannot diverge so."""
    mistakes: int = 0
    updates: int = 1
    margin: float = math.inf

    @classmethod
    def of_squares(cls, z: Array, e: Array, margins: Array, error: float = 0.0) -> RowOutcome:
        """Return the outcome of a rule of squared errors e (K,); margins (K,) are positive on the right side."""
        return cls(z, float(e @ e) / 2, error, int((margins <= 0).sum()), len(z), float(margins.min()))


@dataclass
class Tally:
    """Statistics of the rows since `begin`, which a scan computes on its way.

    Parameters
    ----------
    steps : rows of positive weight since the start of the scan; `begin` leaves it.
    weight : sum of their weights.
    loss : progressive loss, each row's before its own step: sum over rows of weight x loss.
    squares : sum of weight x ||x||^2, the ones column included; squares / weight is Trace[Rxx] of (5.20).
    largest : largest ||x||^2.
    mistakes : rows, or outputs of rows, on the wrong side.
    updates : corrections made; meaningful for perceptrons and Kesler's rule.
    margin : smallest t (w.x), or w_i.x - w_j.x, before its step; of an epoch without mistakes, M ||w||.
    energy : sum of weight x t^2, twice the loss of w = 0.
    """

    steps: float = 0.0
    weight: float = 0.0
    loss: float = 0.0
    squares: float = 0.0
    largest: float = 0.0
    mistakes: float = 0.0
    updates: float = 0.0
    margin: float = math.inf
    energy: float = 0.0

    @property
    def bound(self) -> float:
        """The bound 2 / Trace[Rxx] on the rate of LMS (5.20); infinite before the first row."""
        return 2.0 * self.weight / self.squares if self.squares > 0 else math.inf

    @property
    def radius(self) -> float:
        """R, the length of the longest row."""
        return math.sqrt(self.largest)

    @property
    def mean_loss(self) -> float:
        """Mean progressive loss of a row."""
        return self.loss / self.weight if self.weight > 0 else math.nan


FIELDS = tuple(f.name for f in fields(Tally))
INDEX = numbers_of("TallyIndex", (*FIELDS, "reach", "worst", "status", "stopped", "hold", "curves", "spare"))
"""The index of each number of a scan, by name. After the tallies: the largest squared target, the largest squared error
since theta was saved, the status and the row that ended the scan, whether forgetting is suspended (RLS) or
how often rows were taken again (Coordinate), the sum of curvatures (Adaptive) or of squared rows in their own units,
and that of weights since the start (Coordinate)."""
STEPS, WEIGHT, LOSS, SQUARES, LARGEST, MISTAKES, UPDATES, MARGIN, ENERGY = (INDEX[name] for name in FIELDS)
REACH, WORST, STATUS, STOPPED = INDEX["reach"], INDEX["worst"], INDEX["status"], INDEX["stopped"]
HOLD, CURVES, SPARE = INDEX["hold"], INDEX["curves"], INDEX["spare"]
SIZE = len(INDEX)
