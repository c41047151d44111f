"""Scans with the rate that was asked for: a number under a schedule, or one that the scan finds by itself."""

from __future__ import annotations

from typing import Any

from adaline.block import Shape
from adaline.errors import AdalineWarning, InvalidParameter, warn
from adaline.scans import LMS, Adaptive, Scan, Schedule, Tally

WIDE = 2**14
"""Columns beyond which "auto" touches only the entries of a sparse row, and not scales of all columns with each row."""


def start_scan(rule: type[Scan], shape: Shape, rate: Any, schedule: Any, **config: Any) -> Scan:
    """Return a rule's scan before its first row."""
    if not isinstance(rate, str):
        return rule.start(shape, rate=Schedule(rate, schedule), **config)
    if shape.features <= WIDE:
        return Adaptive.start(shape, **config)
    if rule is LMS:
        return LMS.start(shape, rate=Schedule(1.0, "power", tau=1e4), variant="normalized", **config)
    raise InvalidParameter(
        f"rate='auto' goes over the scales of all columns with each row, too slow for {shape.features} of them: give a "
        "number as rate, or use mode='batch'"
    )


def warn_of_bound(system: Any, tally: Tally) -> None:
    """Warn where a constant rate is above 2 / Trace[Rxx] (5.20)."""
    if isinstance(system.rate, str) or system.schedule != "constant" or not system.rate > tally.bound:
        return
    warn(
        f"rate={system.rate:g} is above about {tally.bound:.3g}, the bound 2/Trace[Rxx] of (5.20) on these rows: "
        f"{type(system).__name__} may diverge. Lower it, or use rate='auto'.",
        AdalineWarning,
    )
