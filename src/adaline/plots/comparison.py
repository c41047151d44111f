"""Systems side by side: their errors on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidParameter
from adaline.plots.style import BLUE, GREY, GRID, ORANGE, Axes, axes, short, styled
from adaline.wording import amount

FAR = 6.0  # times as far from the best fold as the middle system: beyond it an error is written, not drawn


@styled
def comparison(found: Any, ax: Axes | None = None) -> Axes:
    """Draw a Comparison: the error of each system with its standard error, single folds, and the baseline.

    Parameters
    ----------
    found : what `adaline.compare` returned.
    ax : where to draw; None: axes of a new figure.

    Examples
    --------
    >>> from adaline import compare, plots
    >>> plots.comparison(compare("norris", target="y")).get_xlabel()
    'RMSE of y, rows held out'
    """
    if not hasattr(found, "results"):
        raise InvalidParameter(f"comparison draws what compare() returned, got {type(found).__name__}")
    recommended = found.recommended if found.recommendation.useful else None
    able = [result for result in found.results if not result.failure]
    ax = axes(ax, 1.2 + 0.42 * len(able))
    scale = 100.0 if found.measure == "error rate" else 1.0
    low, high = _ends([scale * result.fold_errors for result in able])
    for i, result in enumerate(able):
        colour = ORANGE if result is recommended else BLUE
        if scale * result.error > high:
            text = f"{amount(result.error, found.measure)} →"
            ax.annotate(text, (1, i), xycoords=("axes fraction", "data"), ha="right", va="center", color=colour)
            continue
        ax.plot(scale * result.fold_errors, np.full(len(result.fold_errors), i), "|", color=colour, alpha=0.45, ms=9)
        ax.errorbar(
            scale * result.error,
            i,
            xerr=scale * result.std_error,
            fmt="D" if result is recommended else "o",
            color=colour,
            capsize=3,
        )
    clipped = high < scale * max(float(result.fold_errors.max()) for result in able)
    if clipped:
        ax.set_xlim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    ax.set_yticks(np.arange(len(able)), [_tick(result) for result in able])
    for label, result in zip(ax.get_yticklabels(), able, strict=True):
        if result is recommended:
            label.set_fontweight("bold")
    ax.set_ylim(len(able) - 0.5, -0.5)
    level = scale * found.baseline.error
    title = f"{found.baseline.system}: {amount(found.baseline.error, found.measure)}"
    if level <= (high if clipped else high + 0.6 * (high - low)):
        ax.axvline(level, color=GREY, linestyle="--", linewidth=1)
        ax.set_title(f"dashed: {title}", loc="right", color=GREY, fontsize=9)
    else:
        ax.set_title(f"far to the right: {title}", loc="right", color=GREY, fontsize=9)
    unit = "wrong labels, %" if found.measure == "error rate" else f"{found.measure} of {short(found.data.target)}"
    ax.set_xlabel(f"{unit}, rows held out")
    ax.locator_params(axis="x", nbins=5)  # numbers of five digits side by side
    ax.grid(axis="x", color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    return ax


def _ends(errors: Sequence[Array]) -> tuple[float, float]:
    """Return the range of the axis: of all folds, but for systems far worse than the middle one, which get an arrow."""
    low = min(float(own.min()) for own in errors)
    middle = float(np.median([own.mean() for own in errors]))
    limit = low + FAR * max(middle - low, 0.05 * abs(low))
    return low, min(max(float(own.max()) for own in errors), limit)


def _tick(result: Any) -> str:
    """Return the label of a result, with its budget where it was fitted to a sample."""
    return _folded(result.label) + (f"\n{result.budget}" if result.sampled else "")


def _folded(label: str) -> str:
    """Return a long label on two lines: the system above, its settings below."""
    name, _, settings = label.partition("(")
    return label if len(label) <= 24 or not settings else f"{name}\n({short(settings, 32)}"
