"""Plot of the signals of a filter, one under the other: input, desired signal, output, error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter
from adaline.plots.inputs import frame_names, numbers, same_length
from adaline.plots.style import BLUE, GREEN, GREY, ORANGE, Axes, axes, finished, short, styled
from adaline.wording import counted

MOST_SAMPLES = 2000  # samples that are drawn one by one; longer signals show the extremes of as many slices
MOST_INPUTS = 4  # inputs with a panel each; doubling it makes panels too low to read


@styled
def filter_signals(
    x: Any, desired: Any, filtered: Any, ax: Axes | None = None, *, names: Sequence[Any] | None = None
) -> Axes:
    """Draw signals in lanes, from above: input, desired signal, output, error; the height of a lane is written there.

    Desired signal, output and error have one scale, so that the error can be judged. Of a long signal the extremes of
    2000 slices are drawn: no peak is lost.

    Parameters
    ----------
    x : input signal (n,), or (n, C).
    desired : d, (n,).
    filtered : what `filter(x, d)` returned, with `output` and `error`; or the output alone.
    ax : where to draw; None: axes of a new figure.
    names : of the inputs; None: those of a frame, "input", or "input 0", ...

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import AdaptiveFilter, plots
    >>> n = np.arange(3000)
    >>> mains, signal = np.sin(0.3 * n), 0.1 * np.sign(np.sin(0.01 * n))
    >>> heard = signal + 0.8 * np.sin(0.3 * n - 1.0)
    >>> ax = plots.filter_signals(mains, heard, AdaptiveFilter(rule="nlms", taps=4, rate=0.02).filter(mains, heard))
    >>> [label.get_text().split()[0] for label in ax.get_yticklabels()]
    ['input', 'desired', 'output', 'error']

    References
    ----------
    Lecture S0, section 5.4; Wiener's filter, section 5.1, (5.10).
    """
    inputs, d = numbers(x, "x", 2), numbers(desired, "desired")
    output = numbers(getattr(filtered, "output", filtered), "output")
    same_length("x", len(inputs), "desired", len(d))
    same_length("desired", len(d), "output", len(output))
    error = numbers(getattr(filtered, "error", d - output), "error")
    if inputs.shape[1] > MOST_INPUTS:
        raise InvalidData(f"filter_signals has room for {MOST_INPUTS} inputs and x has {inputs.shape[1]}: choose some")
    words = _names(names, x, inputs.shape[1])
    common = _half(np.concatenate([d, output, error]))
    lanes = [(word, one, _half(one), GREY) for word, one in zip(words, inputs.T, strict=True)]
    lanes += [("desired", d, common, BLUE), ("output", output, common, GREEN), ("error", error, common, ORANGE)]
    ax = axes(ax, 1.0 + 0.75 * len(lanes))
    for i, (_, values, half, colour) in enumerate(lanes):
        at, shown = _slices(values)
        ax.axhline(-i, color="#dddddd", linewidth=0.7, zorder=0)
        ax.plot(at, shown / (2.15 * half) - i, color=colour, linewidth=0.8)
    ax.set_yticks(-np.arange(len(lanes)), [f"{word}\n±{half:.3g}" for word, _, half, _ in lanes])
    ax.set(ylim=(0.5 - len(lanes), 0.5), xlim=(0, max(len(d) - 1, 1)))
    return finished(ax, "sample", "signal, and height of its lane")


def _names(given: Sequence[Any] | None, x: Any, count: int) -> list[str]:
    found = frame_names(x) if given is None else [str(name) for name in given]
    if found is None:
        found = ["input"] if count == 1 else [f"input {c}" for c in range(count)]
    if len(found) != count:
        raise InvalidParameter(f"names has {counted(len(found), 'name')} for {counted(count, 'input')}")
    return [short(name, 16) for name in found]


def _half(values: Array) -> float:
    return float(np.abs(values).max()) or 1.0


def _slices(values: Array) -> tuple[Array, Array]:
    """Return positions and values to draw: all, or the lowest and highest of each slice, in turn."""
    n = len(values)
    if n <= MOST_SAMPLES:
        return np.arange(n, dtype=np.float64), values
    starts = np.linspace(0, n, MOST_SAMPLES, endpoint=False).astype(np.intp)
    ends = np.column_stack([np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)])
    return np.repeat(starts, 2).astype(np.float64), ends.ravel()
