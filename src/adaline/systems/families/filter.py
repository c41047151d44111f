"""What filters share: signals as (n, C), the taps of each, and the output of the weights they hold."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from adaline.arrays import Array, host, is_device, is_sparse
from adaline.basis.base import BASIS
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from adaline.input.basis import basis_of, columns_of, rows_through_basis, width_of
from adaline.input.coded import CodedRows, coded, scored
from adaline.input.columns import set_columns
from adaline.input.open import read_given, read_targets, refuse_nonfinite
from adaline.parameters import COUNT, FLAG, NONE, AnyOf, Check, ListOf, Whole
from adaline.solvers.least_squares.choose import sums
from adaline.sources import Source
from adaline.sources.signal import SignalSource
from adaline.sums import Moments


class Filtered(NamedTuple):
    """What a filter makes of a signal: its output, and the error d - output."""

    output: Array
    error: Array


class SignalSystem(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A filter w'u_n + w0, u_n = [x_(n-delay), ..., x_(n-delay-taps+1)], all taps of the first signal first."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ()  # it needs a signal, not rows
    parameters: ClassVar[dict[str, Check]] = {
        "taps": AnyOf(NONE, COUNT, ListOf(COUNT, "a list of such numbers, one a signal")),
        "delay": Whole(),
        "fit_intercept": FLAG,
        "basis": BASIS,
    }
    taps: Any
    delay: int
    coef_: Array
    intercept_: float | Array
    n_features_in_: int
    _flat: bool

    @property
    @abstractmethod
    def _line(self) -> tuple[tuple[int, ...], int]:
        """The taps of each signal and the delay that the weights were made with."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R^2 for rows X (n, D) and y, or for a source."""
        return scored(self, super().score, X, y, sample_weight)

    def predict(self, X: Any) -> Array:
        """Return the filter's output (n,) or (n, K) for input signals X, zero before their start."""
        check_is_fitted(self, "coef_")
        if isinstance(X, Source):
            X = coded(self, X, targets=False).map(lambda block: np.asarray(block.x)).view(CodedRows)
        x = self._read_signals(X, reset=False)
        w = np.atleast_2d(self.coef_)
        source = SignalSource(x, np.zeros((len(x), 1)), *self._line, names=self._names())
        output = source.filtered(w) + self.intercept_
        if not np.isfinite(output).all() and not np.isfinite(x).all():
            source.refuse_nonfinite()
        return output[:, 0] if self._flat else output

    @property
    def taps_(self) -> list[Array]:
        """The filter of each signal, (taps,) or (K, taps): views of `coef_`."""
        check_is_fitted(self, "coef_")
        return np.split(self.coef_, np.cumsum(self._layout())[:-1], axis=-1)

    def _layout(self) -> tuple[int, ...]:
        """Return the taps of each signal."""
        signals = width_of(self)
        counts = [1 if self.taps is None else self.taps] * signals if np.ndim(self.taps) == 0 else list(self.taps)
        if len(counts) != signals:
            raise InvalidParameter(
                f"taps lists {len(counts)} numbers for {signals} signal(s): give one number a signal"
            )
        return tuple(int(count) for count in counts)

    def _names(self) -> tuple[str, ...]:
        return tuple(columns_of(self))

    def _tap_names(self) -> list[str]:
        """Return x0(n), x0(n-1), ... for the taps in their order."""
        lags = [
            (name, -self.delay - j)
            for name, taps in zip(self._names(), self._layout(), strict=True)
            for j in range(taps)
        ]
        return [f"{name}(n{lag:+d})" if lag else f"{name}(n)" for name, lag in lags]

    def _read_signals(self, x: Any, *, reset: bool) -> Any:
        """Return signals as the filter sees them, (n, C)."""
        x = self._read_given(host(x) if is_device(x) else x, reset=reset)
        if basis_of(self) is not None:
            refuse_nonfinite(self, x)
        return rows_through_basis(self, x)

    def _read_given(self, x: Any, *, reset: bool) -> Any:
        """Return signals as they are given, (n, C)."""
        if isinstance(x, CodedRows):
            return np.asarray(x)
        if len(x.shape if hasattr(x, "shape") else np.shape(np.asarray(x))) == 1:
            if self.taps is None:
                raise InvalidData(
                    "Expected 2D array, got 1D array instead: one signal (n,) needs a number of taps, as in "
                    f"{type(self).__name__}(taps=16). Without memory, Reshape your data to (n, columns)."
                )
            x = np.asarray(x)[:, None]
        x, _, columns = read_given(self, x, None, reset=reset)
        if is_sparse(x):
            raise InvalidType("X is a sparse matrix: a filter takes signals as dense arrays. Use X.toarray().")
        if reset:
            set_columns(self, columns)
        return x

    def _read_desired(self, d: Any, rows: int) -> Array:
        return read_targets(self, host(d) if is_device(d) else d, rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


# A recording in progress: the sums of the rows that are complete, and what is kept of the signals to go on.
#
# A row u_n needs the samples from n - delay - taps + 1 to n - delay. Rows that look ahead (delay < 0) wait for samples
# to come; at any moment they also count with zeros in place of those, as in a recording that ends here. The same holds
# for the rows after the end, which the autocorrelation method adds: they are taken back when the recording goes on.


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
