"""A recording in progress: the sums of the rows that are complete, and what is kept of the signals to go on.

A row u_n needs the samples from n - delay - taps + 1 to n - delay. Rows that look ahead (delay < 0) wait for samples
to come; at any moment they also count with zeros in place of those, as in a recording that ends here. The same holds
for the rows after the end, which the autocorrelation method adds: they are taken back when the recording goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidData
from adaline.solvers.choose import sums
from adaline.sources.signal import SignalSource
from adaline.sums import Moments

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Recording:
    """What a filter has heard so far.

    Parameters
    ----------
    taps, delay : of the filter; taps one a signal.
    windowed : whether the signals are zero also after the end, with rows until the filter is empty.
    intercept : whether the sums are centred.
    x : (m, C) last samples, which rows to come need.
    t, weight : (p, K), (p,) or None: of the rows that wait for samples, the last one at the last sample.
    done, total : sums over the complete rows, and over all rows; None before the first sample.
    """

    taps: tuple[int, ...]
    delay: int
    windowed: bool
    intercept: bool
    x: Any
    t: Array
    weight: Array | None = None
    done: Moments | None = None
    total: Moments | None = None

    @classmethod
    def begin(cls, taps: tuple[int, ...], delay: int, targets: int, *, windowed: bool, intercept: bool) -> Recording:
        """Return a recording of no samples; a windowed one that looks ahead has rows before the first sample."""
        ahead = max(-delay, 0) if windowed else 0
        return cls(taps, delay, windowed, intercept, np.zeros((0, len(taps))), np.zeros((ahead, targets)))

    @property
    def after(self) -> int:
        """Number of rows after the last sample."""
        return max(self.delay + max(self.taps) - 1, 0) if self.windowed else 0

    def open(self, x: Any, t: Array, weight: Array | None, names: tuple[str, ...] | None) -> SignalSource:
        """Return the rows up to the end of new samples: those that wait, the new ones, those after the end."""
        if t.shape[1] != self.t.shape[1]:
            raise InvalidData(f"y has {t.shape[1]} desired signals; the filter was fitted to {self.t.shape[1]}")
        if weight is not None or self.weight is not None:
            weight = _joined(_ones(self.weight, self.t), _ones(weight, t))
        return SignalSource(
            _joined(self.x, x),
            _joined(self.t, t, np.zeros((self.after, t.shape[1]))),
            self.taps,
            self.delay,
            origin=len(self.x) - len(self.t),
            history=len(self.x),
            weight=weight,
            names=names,
        )

    def take(self, source: SignalSource) -> Recording:
        """Return the recording continued by the rows of `open`."""
        rows = source.n_rows - self.after
        waiting = min(max(-self.delay, 0), rows)
        done = total = self._plus(self.done, source.rows(0, rows - waiting))
        if waiting + self.after:
            total = self._plus(done, source.rows(rows - waiting, source.n_rows))
        kept = min(max(waiting + self.delay + source.longest - 1, 0), len(source.x))
        return replace(
            self,
            x=source.x[len(source.x) - kept :].copy(),
            t=source.t[rows - waiting : rows].copy(),
            weight=None if source.weight is None else source.weight[rows - waiting : rows].copy(),
            done=done,
            total=total,
        )

    def merge(self, other: Moments) -> Recording:
        """Return the recording with the sums of another one added; it can go on."""
        assert self.done is not None
        assert self.total is not None
        done, total = self.done.copy(), self.total.copy()
        done.merge(other)
        total.merge(other)
        return replace(self, done=done, total=total)

    def afresh(self, total: Moments | None) -> Recording:
        """Return a new recording of the same kind, on top of these sums."""
        new = self.begin(self.taps, self.delay, self.t.shape[1], windowed=self.windowed, intercept=self.intercept)
        return replace(new, done=total, total=total)

    def _plus(self, before: Moments | None, source: SignalSource) -> Moments:
        if source.n_rows == 0:
            return Moments.zero(source.shape, centred=self.intercept) if before is None else before
        found = sums(source, self.intercept)
        if before is None:
            return found
        out = before.copy()
        out.merge(found)
        return out


def _joined(*parts: Any) -> Any:
    """Return arrays one after the other; the only one that is not empty is not copied."""
    filled = [part for part in parts if len(part)]
    return filled[0] if len(filled) == 1 else np.concatenate(filled or parts)


def _ones(weight: Array | None, rows: Array) -> Array:
    return np.ones(len(rows)) if weight is None else weight
