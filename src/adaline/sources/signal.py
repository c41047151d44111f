"""Signals as rows of a tapped delay line: u_n = [x_(n-delay), x_(n-delay-1), ..., x_(n-delay-taps+1)], (5.10), (5.11).

Samples before the start and after the end are zero. The rows are not stored: a block of one signal is a view of its
samples with a negative stride, a block of several signals a small copy. Consecutive rows share all but one sample of a
signal, so without weights and intercept the second moments need only products with each signal's last tap:

    S[i, j] = S[i+1, j+1] + (u_i u_j at the last row) - (u_i u_j at the row before the first)

which costs N C D instead of N D^2 multiply-adds, for C signals with D taps in all.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, ThetaLike, namespace, to_device_of
from adaline.block import Block, Shape, block_rows
from adaline.errors import InvalidData
from adaline.locks import cached_property
from adaline.sources.base import IndexedSource, column_name
from adaline.sources.matrix import FLOATS, DenseMatrix, RowMatrix
from adaline.sources.runners import S
from adaline.sources.threads import one_blas_thread, run_blocks
from adaline.sums import Moments
from adaline.sums.columns import exponents
from adaline.sums.moments import SUM_ROUNDING

CHUNK, CHUNKS = 4096, 16  # rows to one dot product, and dot products added one after the other
LOWEST_EXPONENT = -1022.0


class SignalSource(IndexedSource):
    """Rows of tapped delay lines, all taps of signal 0 first, then those of signal 1, ...

    Parameters
    ----------
    x : (m, C) samples; float32 and float64 are read as they are.
    t : (n, K) targets, one row each.
    taps : number of taps of each signal.
    delay : row i starts at sample origin + i - delay.
    origin : the sample that is current at row 0; it may lie before the first.
    history : number of samples at the front that belong to earlier calls; messages count from the first after them.
    """

    def __init__(
        self,
        x: AnyArray,
        t: Array,
        taps: tuple[int, ...],
        delay: int = 0,
        *,
        origin: int = 0,
        history: int = 0,
        weight: Array | None = None,
        names: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(x if x.dtype in FLOATS else x.astype(np.float64), t, weight, names)
        self.n_rows, self.shape = len(t), Shape(sum(taps), t.shape[1])
        self.taps, self.delay, self.origin, self.history = taps, delay, origin, history
        self.longest, self.rows_per_block = max(taps), block_rows(self.shape.features)

    def block(self, i: int) -> Block:
        """Return the rows of block i: a view of one signal, a copy of this block for several."""
        first = i * self.rows_per_block
        last = min(first + self.rows_per_block, self.n_rows)
        windows = sliding_window_view(self.samples(first, last), self.longest, axis=0)[..., ::-1]
        if min(self.taps) == self.longest:
            x = windows.reshape(last - first, self.shape.features)
        else:
            x = windows[:, *self._columns]
        t, weight = self.targets.of_rows(slice(first, last))
        return Block(x, t, weight, first_row=first)

    def rows(self, first: int, last: int) -> SignalSource:
        """Return rows first to last - 1 as a source of its own, with the samples before them."""
        t, weight = self.targets.of_rows(slice(first, last))
        return SignalSource(
            *(self.x, t, self.taps, self.delay),
            origin=self.origin + first,
            history=self.history,
            weight=weight,
            names=self.columns.names,
        )

    def samples(self, first: int, last: int) -> Any:
        """Return the samples of rows first to last - 1, (last - first + longest - 1, C), oldest sample first."""
        start = self.origin + first - self.delay - self.longest + 1
        stop = self.origin + last - self.delay
        if start >= 0 and stop <= len(self.x):
            return self.x[start:stop]
        out = np.zeros((stop - start, self.x.shape[1]), dtype=self.x.dtype)
        low, high = max(start, 0), min(stop, len(self.x))
        if low < high:
            out[low - start : high - start] = self.x[low:high]
        return out

    def filtered(self, w: Array) -> Array:
        """Return the outputs w'u_n of filters w (K, D), (n, K)."""
        size = self.rows_per_block
        out = np.zeros((self.n_rows, len(w)))

        def work(i: int) -> None:
            first, last = i * size, min((i + 1) * size, self.n_rows)
            samples = self.samples(first, last).astype(np.float64, copy=False)
            for c, columns in enumerate(self._slices):
                line = samples[self.longest - self.taps[c] :, c]
                for k in range(len(w)):
                    out[first:last, k] += np.convolve(line, w[k, columns], "valid")

        run_blocks(self.n_blocks if self.n_rows else 0, work)
        return out

    def sum(self, kind: type[S], theta: ThetaLike = None, **config: Any) -> S:
        """Return the sum over all rows; second moments by the recursion where there are no weights and no intercept."""
        if kind is Moments and self.targets.weight is None and not config.get("centred", True):
            self.reads[0] += 1
            return cast(S, self._moments())
        return super().sum(kind, theta, **config)

    def refuse_nonfinite(self) -> None:
        """Raise, naming the first sample and signal that is NaN or infinite."""
        for what, values, first in (("X", self.x, 0), ("y", self.targets.values, self.origin)):
            bad = np.argwhere(~np.isfinite(values))
            if len(bad):
                row, column = (int(v) for v in bad[0])
                kind = "NaN" if np.isnan(values[row, column]) else "infinity"
                name = f", column {column_name(self, column)!r}" if what == "X" else ""
                raise InvalidData(
                    f"Input {what} contains {kind}: first at row {first + row - self.history}{name}. Fill such samples "
                    "before fitting; to drop them would shift the signal."
                )
        super().refuse_nonfinite()

    def _moments(self) -> Moments:
        """Return the raw moments, from products with the last tap of each signal and with the targets."""
        signals, (d, _) = len(self.taps), self.shape
        scale, target_scale = _scale(self.x), _scale(self.targets.values)
        products = self._products(scale, target_scale)
        newest, before = ((self.samples(i, i + 1)[::-1] * np.exp2(-scale)).T for i in (self.n_rows - 1, -1))
        out = Moments.zero(self.shape, centred=False)
        out.buffer[:2] = self.n_rows
        out.exponent[:] = np.concatenate([np.repeat(scale, self.taps), target_scale])
        s = out.second
        s[d:, :] = products[signals:, :-1]
        s[:d, d:] = s[d:, :d].T
        out.first_hi[d:] = products[signals:, -1]
        out.noise[d:] = SUM_ROUNDING * s.diagonal()[d:]
        for a, columns_a in enumerate(self._slices):
            for b, columns_b in enumerate(self._slices[: a + 1]):
                i, j = self.taps[a], self.taps[b]
                lags = np.concatenate([products[a, columns_b], products[b, columns_a][-2::-1]])
                edges = np.outer(newest[a, :i], newest[b, :j]) - np.outer(before[a, :i], before[b, :j])
                s[columns_a, columns_b] = sliding_window_view(lags, j)[::-1] + _diagonal_sums(edges)
                s[columns_b, columns_a] = s[columns_a, columns_b].T
            square, plain = newest[a] ** 2 + before[a] ** 2, newest[a] - before[a]
            out.noise[columns_a] = SUM_ROUNDING * (products[a, columns_a][-1] + _tail_sums(square[: self.taps[a]]))
            out.first_hi[columns_a] = products[a, -1] + _tail_sums(plain[: self.taps[a]])
        return out

    def _products(self, scale: Array, target_scale: Array) -> Array:
        """Return the sums of products of the last taps and the targets, (C + K), with [all taps, targets, 1]."""
        signals, (d, k) = len(self.taps), self.shape
        down, target_down, targets = np.exp2(-scale), np.exp2(-target_scale), self.targets.values
        size = CHUNK * CHUNKS
        parts = np.zeros((max(-(-self.n_rows // size), 1), signals + k, d + k + 1))

        @np.errstate(invalid="ignore", over="ignore")
        def work(part: int) -> None:
            stop = min((part + 1) * size, self.n_rows)
            for first in range(part * size, stop, CHUNK):
                last = min(first + CHUNK, stop)
                x = np.multiply(self.samples(first, last).T, down[:, None], dtype=np.float64, order="C")
                t = np.multiply(targets[first:last].T, target_down[:, None], order="C")
                lines = [line[self.longest - taps :] for line, taps in zip(x, self.taps, strict=True)]
                for row, y in zip(parts[part], [*(line[: last - first] for line in lines), *t], strict=True):
                    for columns, line in zip(self._slices, lines, strict=True):
                        row[columns] += np.correlate(line, y, "valid")[::-1]
                    row[-1] += y.sum()
                parts[part, signals:, d:-1] += t @ t.T

        with one_blas_thread():
            run_blocks(len(parts), work)
        return np.asarray(parts.transpose(1, 2, 0).copy().sum(axis=-1))  # contiguous, so that it adds in pairs

    def matrix(self) -> RowMatrix:
        """Return X, whose rows are held in memory from now on: wide data has few of them."""
        return self._dense

    @cached_property
    def _dense(self) -> RowMatrix:
        return DenseMatrix(np.concatenate([self.block(i).x for i in range(self.n_blocks)]), self.reads)

    @cached_property
    def _slices(self) -> list[slice]:
        """The columns of each signal."""
        ends = np.cumsum(self.taps).tolist()
        return [slice(end - taps, end) for end, taps in zip(ends, self.taps, strict=True)]

    @cached_property
    def _columns(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Signal and tap of each column."""
        return np.repeat(np.arange(len(self.taps)), self.taps), np.concatenate([np.arange(n) for n in self.taps])


def filtered_on_device(x: AnyArray, w: Array, taps: tuple[int, ...], delay: int = 0) -> Any:
    """Return the outputs w'u_n of filters w (K, D) for signals x (n, C) on a device, (n, K), there."""
    xp = namespace(x)
    n, before = x.shape[0], max(delay, 0) + max(taps) - 1
    silence = xp.zeros((before + max(-delay, 0), len(taps)), dtype=xp.float64, device=x.device)
    line = xp.concat([silence[:before, :], to_device_of(x, x), silence[before:, :]], axis=0)
    weights, out, column = to_device_of(x, w.T.copy()), None, 0
    for c, count in enumerate(taps):
        for j in range(count):
            first = before - delay - j
            part = line[first : first + n, c : c + 1] * weights[column : column + 1, :]
            out, column = part if out is None else out + part, column + 1
    return out


def _scale(values: Any) -> Array:
    """Return the exponent of the power of two above the largest magnitude of each column, none below -1022."""
    largest = np.maximum(values.max(axis=0, initial=0.0), -values.min(axis=0, initial=0.0)).astype(np.float64)
    return np.maximum(exponents(largest, largest), LOWEST_EXPONENT)


def _diagonal_sums(edges: Array) -> Array:
    """Return the sums along each diagonal from the last tap up: out[i, j] = out[i+1, j+1] + edges[i, j]."""
    out = np.zeros_like(edges)
    if edges.any():
        for i in range(len(edges) - 2, -1, -1):
            out[i, :-1] = out[i + 1, 1:] + edges[i, :-1]
    return out


def _tail_sums(values: Array) -> Array:
    """Return the sums of values[i:-1] for each i."""
    return np.concatenate([np.cumsum(values[-2::-1])[::-1], [0.0]])
