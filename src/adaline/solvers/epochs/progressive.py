"""Progressive loss during an epoch, each row before learning from it, reported at 1, 2, 4, 8, ... rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.block import Block
from adaline.scans import Scan, State, Tally

Report = Callable[[int, Tally], None]
REPORT: ContextVar[Report | None] = ContextVar("report", default=None)
"""The report of a single epoch: the number of rows so far, and their tally."""


@contextmanager
def reported(report: Report) -> Iterator[None]:
    """Let the epochs that are run meanwhile, where a fit has only one, be reported."""
    token = REPORT.set(report)
    try:
        yield
    finally:
        REPORT.reset(token)


class ReportedScan:
    """A scan whose blocks are cut where the number of rows is a power of two, which changes no bit."""

    def __init__(self, scan: Scan, report: Report) -> None:
        self.scan, self.report, self.rows = scan, report, 0

    @property
    def status(self) -> State:
        """That of the scan."""
        return self.scan.status

    def run(self, block: Block, order: Any = None, outputs: Array | None = None) -> None:
        """Go over the rows of a block, in place, as `Scan.run` does."""
        rows, first = block.rows if order is None else len(order), 0
        while first < rows:
            power = 1 << self.rows.bit_length()  # the next one
            last = min(rows, first + power - self.rows)
            part, visits = block, slice(first, last)
            if order is None and (first, last) != (0, rows):
                chosen = np.arange(first, last) if block.chosen is None else block.chosen[visits]
                weight = None if block.weight is None else block.weight[visits]
                part = replace(block, t=block.t[visits], weight=weight, chosen=chosen)
            self.scan.run(part, None if order is None else order[visits], None if outputs is None else outputs[visits])
            self.rows += last - first
            first = last
            if self.rows == power:
                self.report(self.rows, self.scan.tally)

    def finish(self) -> None:
        """Report the last rows."""
        if self.rows & (self.rows - 1):
            self.report(self.rows, self.scan.tally)
