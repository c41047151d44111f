"""What filters share: signals as (n, C), the taps of each, and the output of the weights they hold."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from adaline.basis.base import BASIS
from adaline.construction import Configured
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from adaline.namespaces import host, is_device, is_sparse
from adaline.parameters import COUNT, FLAG, NONE, AnyOf, Check, ListOf, Whole
from adaline.sources import ArraySource, Source
from adaline.sources.signal import SignalSource
from adaline.systems.expanding import basis_of, columns_of, learn_basis, seen_rows, width_of
from adaline.systems.reading import read_rows, read_targets, refuse_nonfinite
from adaline.systems.streaming import CodedRows, ScoredOnSources, coded

Array = NDArray[np.float64]


class Filtered(NamedTuple):
    """What a filter makes of a signal: its output, and the error d - output."""

    output: Array
    error: Array


class SignalSystem(ScoredOnSources, MultiOutputMixin, RegressorMixin, Configured):
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
        if reset:
            learn_basis(self, ArraySource(x, np.empty((len(x), 0))))
        if basis_of(self) is not None:
            refuse_nonfinite(self, x)
        return seen_rows(self, x)

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
        x = read_rows(self, x, reset=reset)
        if is_sparse(x):
            raise InvalidType("X is a sparse matrix: a filter takes signals as dense arrays. Use X.toarray().")
        return x

    def _read_desired(self, d: Any, rows: int) -> Array:
        return read_targets(self, host(d) if is_device(d) else d, rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
