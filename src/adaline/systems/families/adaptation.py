"""The state of an adaptive filter: a scan of its rule on a tapped delay line, and the last samples of the signals.

Rows of one signal are views of its samples, oldest tap first, and so are their weights; rows of several signals are
copied, some thousand at a time, newest tap first. However the signals are cut into pieces, every row is the same, and
so is every bit of what is learned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from adaline.arrays import AnyArray, Array, copy_at_once
from adaline.block import Block, Shape
from adaline.errors import InvalidData
from adaline.forms import Count, Finite, FiniteNumber, Floats, PerTarget
from adaline.locks import cached_property
from adaline.scans import LMSRule, RLSRule, Scan, State
from adaline.scans.tally import RUNNING, SIZE, STATUS

VARIANTS = {
    **{"lms": "lms", "leaky": "leaky", "nlms": "normalized"},
    **{"sign": "sign-error", "sign-data": "sign-data", "sign-sign": "sign-sign"},
}
# samples that may arrive one at a time before the delay line is moved back to its start; doubling it moves it half as
# often
ROOM = 256
PIECE = 2**18  # numbers of the rows that one scan processes; doubling it takes twice the memory
LARGEST = 1e140  # size of a sample that arrives alone: the sums of squares of larger ones could overflow


@dataclass
class Adaptation:
    """An adaptive filter in progress; `run` and `learn` change it in place.

    Parameters
    ----------
    rule : of VARIANTS, or "rls".
    rate, eps, leak, forgetting, regularization : numbers of the rule; those that it does not have are not read.
    intercept : whether there is a constant w0.
    taps, delay : of the filter; taps one a signal.
    samples, end : (C, reach + ROOM) samples of the signals, those before `end` known; the first are zero.
    count : samples learned from since the start.
    theta, good, numbers, root : state of the scan, see `adaline.scans.base`; changed in place by `scan`.
    output : of the last sample that `learn` took, before its step; None after `run`.
    """

    rule: str
    rate: FiniteNumber
    eps: FiniteNumber
    leak: FiniteNumber
    forgetting: FiniteNumber
    regularization: FiniteNumber
    intercept: bool
    taps: tuple[Count, ...]
    delay: Count
    samples: Annotated[Array, Finite("S .")]
    end: Count
    count: Count
    theta: Annotated[Array, Finite("K 1+D")]
    good: Annotated[Array, Finite("K 1+D")]
    numbers: Annotated[Array, Floats(SIZE)]
    root: Annotated[Array, Finite(". . .")]
    output: PerTarget | None = None

    @classmethod
    def begin(cls, taps: tuple[int, ...], delay: int, targets: int, **config: Any) -> Adaptation:
        """Return the filter before its first sample: weights and signals are zero."""
        reach = _reach(taps, delay)
        none = np.zeros((0, 0))
        samples = np.zeros((len(taps), reach + ROOM))
        new = cls(**config, taps=taps, delay=delay, samples=samples, end=reach, count=0,
                  theta=none, good=none, numbers=none, root=none)  # fmt: skip
        scan = new._start(Shape(sum(taps), targets))
        return replace(new, theta=scan.theta, good=scan.good, numbers=scan.numbers, root=scan.root)

    def copy(self, **changed: Any) -> Adaptation:
        """Return an independent filter that continues from here, with other numbers of the rule."""
        arrays = {name: getattr(self, name).copy() for name in ("samples", "theta", "good", "numbers", "root")}
        return replace(self, **arrays, **changed)

    def of_weights(self, coef: Array | None = None, intercept: float | Array | None = None) -> Adaptation:
        """Return an independent filter that continues from other filters (K, D), or constants (K,)."""
        made = self.copy()
        if coef is not None:
            made.coef[:] = coef
        if intercept is not None:
            made.theta[:, 0] = intercept
        return made

    @cached_property
    def scan(self) -> Scan:
        """The rule, working on the arrays of this object."""
        scan = self._start(Shape(self.theta.shape[1] - 1, len(self.theta)))
        scan.theta, scan.good, scan.numbers, scan.root = self.theta, self.good, self.numbers, self.root
        return scan

    @cached_property
    def learns_at_once(self) -> bool:
        """Whether no other thread can come between what `learn` changes of the weights."""
        return self.scan.learns_at_once

    @cached_property
    def _single(self) -> bool:
        return len(self.theta) == 1

    @cached_property
    def _room(self) -> int:
        return int(self.samples.shape[1])

    @cached_property
    def _line(self) -> Array | None:
        """The samples of the only signal, if there is one only."""
        return self.samples[0] if len(self.taps) == 1 else None

    @property
    def coef(self) -> Array:
        """The filters (K, D), newest tap of the first signal first: a view of theta."""
        return self.theta[:, :0:-1] if len(self.taps) == 1 else self.theta[:, 1:]

    @property
    def covariance_root(self) -> Array:
        """S of "rls", where P = S S' is the inverse of sum forgetting^(n-i) u_i u_i'."""
        size = sum(self.taps) + self.intercept  # the constant comes last
        return copy_at_once(self.root)[0, :size, :size]

    @property
    def diverged(self) -> bool:
        """Whether the rule has stopped; the weights are the last good ones."""
        return self.scan.status is not State.RUNNING

    @property
    def past(self) -> Array:
        """The last samples, (C, reach), at least one."""
        return self.samples[:, self.end - _reach(self.taps, self.delay) : self.end]

    def run(self, x: AnyArray, t: Array, weight: Array | None, record: int = 0) -> tuple[Array, list[Array]]:
        """Go over samples x (n, C) with desired t (n, K): return the outputs (n, K), each before its own step.

        With `record` return also the weights (K, D) after every sample whose number is a multiple of it. Rows after a
        divergence get the output of the last good weights. A sample that is not finite raises InvalidData.
        """
        outputs, kept, self.output = np.zeros(t.shape), [], None
        for first, rows in self._pieces(x):
            start, stop = 0, len(rows)
            while start < stop:
                end = min(start + record - self.count % record, stop) if record else stop
                part = slice(first + start, first + end)
                self._advance(rows[start:end], t[part], None if weight is None else weight[part], outputs[part])
                self.count += end - start
                if record and self.count % record == 0:
                    kept.append(self.coef.copy())
                start = end
        return outputs, kept

    def learn(self, x: AnyArray, t: AnyArray) -> None:
        """Take one sample, a number or (C,), with one desired number or (K,); `output` is the one before the step.

        What is not a finite number raises InvalidData, and nothing has changed.
        """
        u = self.row(x)
        if self._single:
            given = t
            if not isinstance(t, float):
                t = _number(t)
            if not -LARGEST < t < LARGEST:
                raise InvalidData(f"the desired sample is {given}: it must be a finite number")
            self.end += 1
            self.count += 1
            self.output = self.scan.learn(u, t) if self.numbers[STATUS] == RUNNING else float(self._outputs(u)[0])
            return
        desired = np.array(t, dtype=np.float64, ndmin=2)
        if desired.shape != (1, len(self.theta)) or not (np.abs(desired) < LARGEST).all():
            raise InvalidData(f"the desired sample is {t}: it must be {len(self.theta)} finite numbers")
        if self.learns_at_once and self.numbers[STATUS] == RUNNING:
            self.scan.learn(u, desired[0])
            z = np.array(self.scan.last) if self.numbers[STATUS] == RUNNING else self._outputs(u)
        else:
            z = np.zeros(desired.shape)
            self._advance(u[None, :], desired, None, z)
            z = z[0]
        self.end += 1
        self.count += 1
        self.output = z

    def row(self, x: AnyArray) -> Array:
        """Write one sample after the last and return its row; `end` does not move."""
        end = self.end
        if end == self._room:
            past = self.past.copy()
            self.samples[:, : past.shape[1]] = past
            end = self.end = past.shape[1]
        stop = end + 1 - self.delay
        if self._line is not None:
            self._line[end] = x
            if not -LARGEST < x < LARGEST:
                raise InvalidData(f"the sample is {x}: it must be a finite number")
            return self._line[stop - self.taps[0] : stop]
        try:
            if np.iscomplexobj(x):
                raise TypeError
            with np.errstate(over="ignore"):
                self.samples[:, end] = x
        except (TypeError, ValueError, OverflowError):
            raise InvalidData(f"the sample is {x}: it must be {len(self.taps)} numbers, one a signal") from None
        if not (np.abs(self.samples[:, end]) < LARGEST).all():
            raise InvalidData(f"the sample is {x}: it must be finite numbers")
        lines = zip(self.samples, self.taps, strict=True)
        return np.concatenate([line[stop - taps : stop][::-1] for line, taps in lines])

    def output_of(self, x: AnyArray) -> Any:
        """Return the output for one more sample, which is not kept."""
        z = self._outputs(self.row(x))
        return float(z[0]) if len(z) == 1 else z

    def _start(self, shape: Shape) -> Scan:
        if self.rule == "rls":
            return RLSRule.start(shape, forget=self.forgetting, delta=self.regularization, intercept=self.intercept)
        return LMSRule.start(shape, variant=VARIANTS[self.rule], rate=self.rate, eps=self.eps, leak=self.leak,
                         intercept=self.intercept)  # fmt: skip

    def _pieces(self, x: AnyArray) -> Iterator[tuple[int, Array]]:
        """Return rows (m, D) for samples x (n, C), some at a time, with the number of the first."""
        reach, size = _reach(self.taps, self.delay), max(PIECE // sum(self.taps), ROOM)
        for first in range(0, len(x), size):
            piece = x[first : first + size].T
            lines = np.concatenate([self.past, piece], axis=1)
            self.samples[:, :reach] = lines[:, lines.shape[1] - reach :]
            self.end = reach
            last = lines.shape[1] - self.delay
            lines = lines[:, last - piece.shape[1] - max(self.taps) + 1 : last]
            windows = sliding_window_view(lines, max(self.taps), axis=1)
            if len(self.taps) == 1:
                yield first, windows[0]
            else:
                parts = zip(windows[..., ::-1], self.taps, strict=True)
                yield first, np.concatenate([part[:, :taps] for part, taps in parts], axis=1)

    def _advance(self, rows: Array, t: Array, weight: Array | None, outputs: Array) -> None:
        """Take rows, and write the output of each before its step."""
        first = 0
        if not self.diverged:
            self.scan.run(Block(rows, np.ascontiguousarray(t), weight), outputs=outputs)
            if self.numbers[STATUS] == RUNNING:
                return
            if self.numbers[STATUS] == State.NOT_FINITE.value:
                raise InvalidData("a sample is NaN, infinite, or too large to be squared")
            first = self.scan.stopped
        outputs[first:] = rows[first:] @ self.theta[:, 1:].T + self.theta[:, 0]

    def _outputs(self, u: Array) -> Array:
        return np.asarray(self.theta[:, 1:] @ u + self.theta[:, 0])


def _number(value: Any) -> float:
    """Return what stands for one real number as a float; NaN where nothing does."""
    try:
        return math.nan if np.iscomplexobj(value) or isinstance(value, str | bytes) else np.asarray(value).item() + 0.0
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _reach(taps: tuple[int, ...], delay: int) -> int:
    """Return how many samples before the next one its row needs; at least one is kept."""
    return max(delay + max(taps) - 1, 1)
