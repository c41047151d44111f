"""Systems side by side: their errors on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidParameter
from adaline.plots.style import BLUE, GREY, GRID, ORANGE, Axes, axes, short, styled
from adaline.wording import amount

# distance from the best fold, in that of the middle system, beyond which an error is written, not drawn
FAR_ERRORS = 6.0


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
    'RMSE of y, held-out rows'
    """
    if not hasattr(found, "results"):
        raise InvalidParameter(f"comparison draws what compare() returned, got {type(found).__name__}")
    return draw_errors(**errors_of(found), ax=ax)


class SystemErrors(NamedTuple):
    """Errors of a system on held-out rows: their mean, its standard error, and those of the folds."""

    label: str
    mean: float
    std_error: float
    folds: Array
    recommended: bool


def errors_of(found: Any) -> dict[str, Any]:
    """Return what `draw_errors` draws of a Comparison."""
    recommended = found.recommended if found.recommendation.useful else None
    return {
        "systems": [
            SystemErrors(_tick(one), one.error, one.std_error, one.fold_errors, one is recommended)
            for one in found.results
            if not one.failure
        ],
        "baseline": (found.baseline.system, found.baseline.error),
        "measure": found.measure,
        "target": found.data.target,
    }


@styled
def draw_errors(
    systems: Sequence[SystemErrors],
    baseline: tuple[str, float],
    measure: str,
    target: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw errors as `comparison` does, given themselves."""
    ax = axes(ax, 1.2 + 0.42 * len(systems))
    scale = 100.0 if measure == "error rate" else 1.0
    low, high = _ends([scale * one.folds for one in systems])
    for i, one in enumerate(systems):
        colour = ORANGE if one.recommended else BLUE
        if scale * one.mean > high:
            text = f"{amount(one.mean, measure)} →"
            ax.annotate(text, (1, i), xycoords=("axes fraction", "data"), ha="right", va="center", color=colour)
            continue
        ax.plot(scale * one.folds, np.full(len(one.folds), i), "|", color=colour, alpha=0.45, ms=9)
        shape = "D" if one.recommended else "o"
        ax.errorbar(scale * one.mean, i, xerr=scale * one.std_error, fmt=shape, color=colour, capsize=3)
    clipped = high < scale * max(float(one.folds.max()) for one in systems)
    if clipped:
        ax.set_xlim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    ax.set_yticks(np.arange(len(systems)), [one.label for one in systems])
    for label, one in zip(ax.get_yticklabels(), systems, strict=True):
        if one.recommended:
            label.set_fontweight("bold")
    ax.set_ylim(len(systems) - 0.5, -0.5)
    name, level = baseline
    title = f"{name}: {amount(level, measure)}"
    if scale * level <= (high if clipped else high + 0.6 * (high - low)):
        ax.axvline(scale * level, color=GREY, linestyle="--", linewidth=1)
        ax.set_title(f"dashed: {title}", loc="right", color=GREY, fontsize=9)
    else:
        ax.set_title(f"far to the right: {title}", loc="right", color=GREY, fontsize=9)
    unit = "wrong labels, %" if measure == "error rate" else f"{measure} of {short(target)}"
    ax.set_xlabel(f"{unit}, held-out rows")
    ax.locator_params(axis="x", nbins=5)  # numbers of five digits side by side
    ax.grid(axis="x", color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    return ax


def _ends(errors: Sequence[Array]) -> tuple[float, float]:
    """Return the range of the axis: of all folds, but for systems far worse than the middle one, which get an arrow."""
    low = min(float(own.min()) for own in errors)
    middle = float(np.median([own.mean() for own in errors]))
    limit = low + FAR_ERRORS * max(middle - low, 0.05 * abs(low))
    return low, min(max(float(own.max()) for own in errors), limit)


def _tick(result: Any) -> str:
    """Return the label of a result, with its budget where it was fitted to a sample."""
    return _folded(result.label) + (f"\n{result.budget}" if result.sampled else "")


def _folded(label: str) -> str:
    """Return a long label on two lines: the system above, its settings below."""
    name, _, settings = label.partition("(")
    return label if len(label) <= 24 or not settings else f"{name}\n({short(settings, 32)}"
