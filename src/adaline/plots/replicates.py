"""Plots of bootstrap replicates."""

from __future__ import annotations

import numpy as np

from adaline.errors import InvalidParameter
from adaline.plots.style import BLUE, GREY, GRID, ORANGE, Axes, axes, finished, short, styled
from adaline.selection.bootstrap import Bootstrap

BINS = 40  # of a histogram; doubling it shows more noise of the draws
MOST_SHOWN = 25  # coefficients; doubling it makes the figure twice as high


@styled
def bootstrap(found: Bootstrap, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
    """Draw how the replicates of each coefficient are spread about the estimate, with their intervals.

    Differences are in standard errors; a skew shape is one that classical intervals, which are symmetric, miss.

    Parameters
    ----------
    found : what `adaline.bootstrap` returned.
    ax : where to draw; None: axes of a new figure.
    level : coverage of the intervals.

    Examples
    --------
    >>> from adaline import LinearRegression, bootstrap, datasets, plots
    >>> data = datasets.load("penguins", target="body_mass_g")
    >>> ax = plots.bootstrap(bootstrap(LinearRegression().fit(data.X, data.y), data.X, data.y))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['intercept', 'x0', 'x1', 'x2']
    """
    if not isinstance(found, Bootstrap):
        raise InvalidParameter(f"plots.bootstrap draws what adaline.bootstrap returns, got {type(found).__name__}")
    error, ends = found.std_error, found.ends(level)
    kept = found.replicates[~np.isnan(found.replicates).any(axis=1)]
    shown = np.flatnonzero(error > 0)[:MOST_SHOWN]
    names = [f"{found.names[i]}, {found.targets[i]}" if found.targets[i] else found.names[i] for i in shown]
    ax = axes(ax, 1.1 + 0.4 * len(shown))
    apart = (kept[:, shown] - found.estimate[shown]) / error[shown]
    lower, upper = (ends[:, shown] - found.estimate[shown]) / error[shown]
    place = np.arange(len(shown))
    for k, values in enumerate(apart.T):
        counts, edges = np.histogram(values, BINS)
        half = 0.4 * counts / counts.max()
        ax.fill_between(edges, k - np.append(half, 0.0), k + np.append(half, 0.0), step="post", color=BLUE, alpha=0.35)
    ax.hlines(place, lower, upper, color=ORANGE, linewidth=2)
    ax.plot(np.zeros(len(shown)), place, "o", color=ORANGE, markersize=4.5)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks(place, [short(name) for name in names])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.grid(axis="y", color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    return finished(ax, f"difference from the estimate in standard errors, {100 * level:g} % intervals", "")
