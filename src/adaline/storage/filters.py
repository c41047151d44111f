"""Filters as graphs: y_n = w0 + sum_(c, j) w_cj x_c(n - delay - j), signals zero outside the record."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adaline.storage.graph import Graph
from adaline.systems import AdaptiveFilter, WienerFilter
from adaline.systems.signals import SignalSystem

Array = NDArray[np.float64]

FOREVER = np.iinfo(np.int64).max


def filtered(graph: Graph, model: SignalSystem) -> str:
    """Return the outputs of a filter, (n, K)."""
    taps, delay = model._line
    w, longest = np.atleast_2d(model.coef_), max(taps)
    kernel = np.zeros((len(w), len(taps), longest))  # oldest sample first
    for c, part in enumerate(np.split(w, np.cumsum(taps)[:-1], axis=1)):
        kernel[:, c, longest - taps[c] :] = part[:, ::-1]
    first = delay + longest - 1  # how far before the record the first row reaches
    padded = graph.op("Pad", "X", graph.put(np.array([max(first, 0), 0, max(-delay, 0), 0])))
    bounds = [np.array([value]) for value in (max(-first, 0), -delay if delay > 0 else FOREVER, 0)]
    samples = graph.op("Slice", padded, *map(graph.put, bounds))
    m = graph.rounded(_level(model))
    samples = graph.op("Sub", samples, graph.real(m))
    constant = np.broadcast_to(model.intercept_, (len(w),)) + kernel.sum(axis=2) @ m
    if graph.dtype == np.float32:
        lines = graph.op("Unsqueeze", graph.op("Transpose", samples, perm=[1, 0]), graph.put(np.array([0])))
        found = graph.op("Squeeze", graph.op("Conv", lines, graph.real(kernel)), graph.put(np.array([0])))
        value = graph.op("Transpose", found, perm=[1, 0])
    else:  # onnxruntime has no Conv for double: rows of samples times the kernel
        rows = graph.op("Gather", graph.op("Shape", "X"), graph.put(np.array(0)))
        start = graph.op("Range", graph.put(np.array(0)), rows, graph.put(np.array(1)))
        places = graph.op("Add", graph.op("Unsqueeze", start, graph.put(np.array([1]))), graph.put(np.arange(longest)))
        windows = graph.op("Gather", samples, places, axis=0)  # (n, longest, C)
        flat = graph.op("Reshape", windows, graph.put(np.array([-1, longest * len(taps)])))
        value = graph.op("MatMul", flat, graph.real(kernel.transpose(2, 1, 0).reshape(-1, len(w))))
    return graph.op("Add", value, graph.real(constant))


def _level(model: SignalSystem) -> Array:
    """Return about the mean of each signal, zero where the model does not know it."""
    if isinstance(model, AdaptiveFilter):
        return np.asarray(model._state.past.mean(axis=1))
    total = model._recording.total if isinstance(model, WienerFilter) else None
    newest = np.cumsum([0, *model._line[0][:-1]])
    return np.zeros(len(newest)) if total is None else total.about_mean().first_hi[newest]
