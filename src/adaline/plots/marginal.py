"""Plots of marginal means."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.errors import InvalidParameter
from adaline.inference.means import Means
from adaline.plots.style import GRID, Axes, axes, colour, finished, marker, short, styled


@styled
def means(found: Means, ax: Axes | None = None) -> Axes:
    """Draw marginal means with their intervals, one line a level, in colours by what they are within or by class.

    Parameters
    ----------
    found : what `adaline.means` returned.
    ax : where to draw; None: axes of a new figure.

    Examples
    --------
    >>> import pandas as pd
    >>> from adaline import LinearRegression, datasets, means, plots
    >>> birds = pd.read_csv(datasets.path("penguins")).dropna()
    >>> X = birds[["species", "sex"]]
    >>> ax = plots.means(means(LinearRegression().fit(X, birds.body_mass_g), X, by="species"))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['Adelie', 'Chinstrap', 'Gentoo']
    """
    if not isinstance(found, Means):
        raise InvalidParameter(f"plots.means draws what adaline.means returns, got {type(found).__name__}")
    rows = found.means.rows
    levels = list(dict.fromkeys(row["level"] for row in rows))
    groups = list(dict.fromkeys(_group(row) for row in rows))
    ax = axes(ax, 1.1 + (0.26 if len(groups) < 3 else 0.34) * len(levels))
    step = 0.6 / len(groups)
    for k, group in enumerate(groups):
        own = [row for row in rows if _group(row) == group]
        position = np.array([levels.index(row["level"]) for row in own]) + step * (k - (len(groups) - 1) / 2)
        middle, lower, upper = (np.array([row[name] for row in own]) for name in ("mean", "lower", "upper"))
        style: dict[str, Any] = {"fmt": marker(k), "color": colour(k), "markersize": 4.5, "capsize": 2.5}
        reach = np.nan_to_num([middle - lower, upper - middle], posinf=0.0)
        ax.errorbar(middle, position, xerr=reach, label=short(group) if len(groups) > 1 else None, **style)
    ax.set_yticks(np.arange(len(levels)), [short(level) for level in levels])
    ax.set_ylim(len(levels) - 0.4, -0.6)
    ax.grid(axis="y", color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.locator_params(axis="x", nbins=5)
    what = "marginal mean" if found.scale == "response" else "marginal mean, on the scale of the link"
    return finished(ax, f"{what}, {100 * found.means.level:g} % intervals", short(" and ".join(found.by)))


def _group(row: dict[str, Any]) -> str:
    return ", ".join(str(row[name]) for name in ("within", "target") if name in row)
