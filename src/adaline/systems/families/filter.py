"""What filters share: signals as (n, C), the taps of each, and the output of their weights."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, cast

import numpy as np

from adaline.arrays import (
    AnyArray,
    Array,
    RowsLike,
    TargetsLike,
    WeightsLike,
    host,
    is_device,
    is_sparse,
    like_rows,
    namespace,
    on_host,
    refuse_masked,
    to_device_of,
)
from adaline.basis.base import BASIS
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from adaline.estimator import RegressorMixin
from adaline.fitted import check_is_fitted
from adaline.input.coded import CodedRows, coded, scored
from adaline.input.columns import InputColumns
from adaline.input.open import read_given, read_targets, refuse_nonfinite_rows, refuse_overflow
from adaline.input.system import System, SystemState, columns_on
from adaline.parameters import COUNT, FLAG, NONE, AnyOf, ListOf, WholeNumber
from adaline.sources import Source
from adaline.sources.array import read_weights
from adaline.sources.expanded import phi
from adaline.sources.signal import SignalSource, filtered_on_device
from adaline.state import FittedAttribute


class Filtered(NamedTuple):
    """The output of a filter, (n,) or (n, K), and its error d - output."""

    output: Array
    error: Array


class Signals(NamedTuple):
    """Signals for a fit, on the host, as the filter works on them.

    x, t, weight : the signals (n, C), the desired signals (n, K), and weights of the samples, (n,) or None.
    flat : whether the desired signals were one vector.
    columns : of the input.
    """

    x: Any
    t: Array
    weight: Array | None
    flat: bool
    columns: InputColumns


@dataclass(frozen=True, kw_only=True, eq=False)
class FilterState(SystemState):
    """What a fit of a filter has learned; `flat` : whether the desired signals were one vector."""

    flat: bool


class SignalSystem(RegressorMixin, System):
    """A filter w'u_n + w0, u_n = [x_(n-delay), ..., x_(n-delay-taps+1)], all taps of the first signal first."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ()  # it needs a signal, not rows
    fit_intercept: Annotated[bool, FLAG]
    basis: Annotated[Any, BASIS]
    taps: Annotated[Any, AnyOf(NONE, COUNT, ListOf(COUNT, "a list of such numbers, one a signal"))]
    delay: Annotated[int, WholeNumber()]

    coef_ = FittedAttribute[Array]()
    intercept_ = FittedAttribute[float | Array]()
    _flat = FittedAttribute[bool]()

    @property
    @abstractmethod
    def _line(self) -> tuple[tuple[int, ...], int]:
        """The taps of each signal, and the delay, that the weights belong to."""

    def score(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> float:
        """Return R^2 for rows X (n, D) and y, or for a source."""
        return scored(self, super().score, X, y, sample_weight, by_rows=False)

    def predict(self, X: RowsLike) -> Array:
        """Return the filter's output (n,) or (n, K) for input signals X, zero before their start."""
        check_is_fitted(self, "coef_")
        if isinstance(X, Source):
            rows = coded(self, X, targets=False)
            self._refuse_sparse(rows)
            X = rows.map(lambda block: np.asarray(block.x)).view(CodedRows)
        x, columns = self._read_signals(X, reset=False)
        w, constant = self._weights()
        if is_device(x):
            found = filtered_on_device(x, w, *self._line) + to_device_of(x, constant)
            if bool(namespace(found).all(namespace(found).isfinite(found))):
                return cast("Array", found[:, 0] if self._flat else found)
            x = host(x)
        source = SignalSource(x, np.zeros((len(x), 1)), *self._line, names=tuple(columns.coefficient_names()))
        with np.errstate(all="ignore"):
            output: Array = source.filtered(w) + constant
        if not np.isfinite(output).all() and not np.isfinite(x).all():
            source.refuse_nonfinite()
        refuse_overflow(output)
        return like_rows(X, output[:, 0] if self._flat else output)

    @property
    def taps_(self) -> list[Array]:
        """The filter of each signal, (taps,) or (K, taps): parts of `coef_`."""
        check_is_fitted(self, "coef_")
        return np.split(self.coef_, np.cumsum(self._line[0])[:-1], axis=-1)

    def _weights(self) -> tuple[Array, Any]:
        """Return the filters (K, D), and their constants."""
        return np.atleast_2d(self.coef_), self.intercept_

    def _layout(self, columns: InputColumns) -> tuple[int, ...]:
        """Return the taps of each signal."""
        signals = columns.width
        counts = [1 if self.taps is None else self.taps] * signals if np.ndim(self.taps) == 0 else list(self.taps)
        if len(counts) != signals:
            raise InvalidParameter(
                f"taps lists {len(counts)} numbers for {signals} signal(s): give one number a signal"
            )
        return tuple(int(count) for count in counts)

    def _tap_names(self) -> list[str]:
        """Return the name of each tap: x0(n), x0(n-1), ..."""
        return tap_names(columns_on(self), *self._line)

    def _read(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, *, reset: bool) -> Signals:
        """Return signals and desired signals; with `reset` columns and basis are learned from them."""
        x, columns = self._read_signals(on_host(X), reset=reset)
        t = self._read_desired(y, len(x))
        weight = None if sample_weight is None else read_weights(sample_weight, len(x))
        return Signals(x, t.reshape(len(t), -1), weight, t.ndim == 1 if reset else self._flat, columns)

    def _read_signals(self, x: AnyArray, *, reset: bool) -> tuple[Any, InputColumns]:
        """Return signals (n, C) through the basis, then on the host, and the columns; `reset` learns them."""
        x, columns = self._read_given(x, reset=reset)
        if columns.basis is None:
            return x, columns
        x = on_host(x)
        refuse_nonfinite_rows(columns, x)
        return phi(columns.basis, x), columns

    def _read_given(self, x: AnyArray, *, reset: bool) -> tuple[Any, InputColumns]:
        """Return signals (n, C) as they are given, and the columns."""
        if isinstance(x, CodedRows):
            return np.asarray(x), columns_on(self)
        try:
            dimensions = len(x.shape) if hasattr(x, "shape") else np.ndim(np.asarray(x))
        except ValueError:  # ragged lists, which are refused as rows
            dimensions = 2
        if dimensions == 1:
            if self.taps is None:
                raise InvalidData(
                    "Expected 2D array, got 1D array instead: one signal (n,) needs a number of taps, as in "
                    f"{type(self).__name__}(taps=16). Without memory, Reshape your data to (n, columns)."
                )
            refuse_masked(x, "X")
            x = x[:, None] if is_device(x) else np.asarray(x)[:, None]
        x, _, columns = read_given(self, x, None, reset=reset)
        if is_sparse(x):
            raise InvalidType("X is a sparse matrix: a filter takes signals as dense arrays. Use X.toarray().")
        return x, columns

    def _read_desired(self, d: Any, rows: int) -> Array:
        """Return desired signals (n,) or (n, K)."""
        return read_targets(self, on_host(d), rows)

    def _refuse_sparse(self, source: Source) -> None:
        """Refuse a source of sparse rows."""
        if source.sparse:
            raise InvalidType(f"X has sparse rows: {type(self).__name__} takes signals, the dense columns of a table")


def tap_names(columns: InputColumns, taps: tuple[int, ...], delay: int) -> list[str]:
    """Return the name of each tap of a filter: x0(n), x0(n-1), ..."""
    names = columns.coefficient_names()
    lags = [(name, -delay - j) for name, count in zip(names, taps, strict=True) for j in range(count)]
    return [f"{name}(n{lag:+d})" if lag else f"{name}(n)" for name, lag in lags]
