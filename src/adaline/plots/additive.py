"""Plots of additive models: curves and surfaces with their errors, and the effects of groups."""

from __future__ import annotations

import numpy as np

from adaline.arrays import AnyArray, Array
from adaline.errors import InvalidParameter
from adaline.plots.style import BLUE, GREY, GRID, ORANGE, Axes, axes, finished, short, styled
from adaline.systems import AdditiveModel
from adaline.systems.additive_model import Curve

POINTS, GRID_POINTS = 200, 40**2  # of a curve, and of a surface; doubling them shows nothing more
MOST_GROUPS = 200  # shown one by one; of more, those at both ends and evenly between them


@styled
def smooth(model: AdditiveModel, term: int | str = 0, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
    """Draw a smooth of an additive model: a curve with its bands, or the contours of a surface.

    Values are about the mean over the rows fitted, in the units of the target. The inner band holds at each point, the
    outer one at all points together.

    Parameters
    ----------
    model : a fitted `AdditiveModel`.
    term : which smooth, by its name in `terms_`, "s(x0)", or its index among the smooths.
    ax : where to draw; None: axes of a new figure.
    level : coverage of the bands.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import AdditiveModel, plots
    >>> x = np.linspace(0, 6, 200)
    >>> model = AdditiveModel(terms=["s(x0)"]).fit(x[:, None], np.sin(x) + 0.1 * np.cos(50 * x))
    >>> plots.smooth(model).get_ylabel()
    's(x0)'
    """
    if not isinstance(model, AdditiveModel):
        raise InvalidParameter(f"plots.smooth draws a smooth of an AdditiveModel, got {type(model).__name__}")
    curves = model.curves(points=GRID_POINTS, level=level)
    names = [one.term for one in curves]
    if not names:
        raise InvalidParameter("the model has no smooths: plots.random_effects draws the effects of groups")
    k = names.index(term) if term in names else term
    if not isinstance(k, int) or not 0 <= k < len(names):
        raise InvalidParameter(f"there is no smooth {term!r}; there are: {', '.join(names)}")
    return draw_curve(curves[k], ax)


@styled
def draw_curve(found: Curve, ax: Axes | None = None) -> Axes:
    """Draw the values of a smooth as `smooth` does."""
    if len(found.columns) == 2:
        ax = axes(ax, 3.4)
        side = round(len(found.x) ** 0.5)
        first, second, value = (part.reshape(side, side) for part in (*found.x.T, found.value))
        lines = ax.contour(first, second, value, levels=9, colors=BLUE, linewidths=1.0)
        ax.clabel(lines, fontsize=7)
        return finished(ax, short(found.columns[0]), short(found.columns[1]))
    if len(found.columns) > 2:
        raise InvalidParameter(f"{found.term} has {len(found.columns)} columns: a plot has two")
    ax = axes(ax, 2.8)
    x = found.x[:, 0]
    for lower, upper in ((found.all_lower, found.all_upper), (found.lower, found.upper)):
        ax.fill_between(x, lower, upper, color=BLUE, alpha=0.14, linewidth=0)
    ax.plot(x, found.value, color=BLUE)
    ax.axhline(0, color=GREY, linewidth=0.8)
    return finished(ax, short(found.columns[0]), short(found.term))


@styled
def random_effects(
    model: AdditiveModel, group: str | None = None, ax: Axes | None = None, *, effect: str | None = None
) -> Axes:
    """Draw the effects of groups in order of size, with intervals of two standard errors.

    Parameters
    ----------
    model : a fitted `AdditiveModel` with random effects.
    group : the grouping, as in `random_effects_`; None for the first.
    ax : where to draw; None: axes of a new figure.
    effect : "intercept", or the column whose slope varies; None for the first.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import AdditiveModel, plots
    >>> rng = np.random.default_rng(0)
    >>> school = rng.integers(0, 12, 300)
    >>> y = rng.normal(size=12)[school] + rng.normal(size=300)
    >>> model = AdditiveModel(terms=["(1 | x0)"]).fit(school[:, None].astype(float), y)
    >>> plots.random_effects(model).get_ylabel()
    'x0, in order of the effect'
    """
    if not isinstance(model, AdditiveModel):
        raise InvalidParameter(f"plots.random_effects draws effects of an AdditiveModel, got {type(model).__name__}")
    every = model.random_effects_
    if not every:
        raise InvalidParameter("the model has no random effects: plots.smooth draws its curves")
    group = next(iter(every)) if group is None else group
    if group not in every:
        raise InvalidParameter(f"there is no grouping {group!r}; there are: {', '.join(every)}")
    frame = every[group]
    names = [name for name in frame.columns if name != "level" and not name.endswith("_std_error")]
    effect = names[0] if effect is None else effect
    if effect not in names:
        raise InvalidParameter(f"there is no effect {effect!r} of {group}; there are: {', '.join(names)}")
    value, error = np.asarray(frame[effect]), np.asarray(frame[f"{effect}_std_error"])
    what = "effect" if effect == "intercept" else f"effect on the slope of {short(effect)}"
    return draw_effects(np.asarray(frame["level"], dtype=object), value, error, group, what, ax)


@styled
def draw_effects(levels: AnyArray, value: Array, error: Array, group: str, what: str, ax: Axes | None = None) -> Axes:
    """Draw effects of levels, and their standard errors, as `random_effects` does."""
    order = np.argsort(value, kind="stable")
    if len(order) > MOST_GROUPS:
        order = order[np.linspace(0, len(order) - 1, MOST_GROUPS).round().astype(int)]
    few = len(order) <= 40
    ax = axes(ax, 1.1 + 0.16 * len(order) if few else 4.2)
    place = np.arange(len(order))
    ax.hlines(place, value[order] - 2 * error[order], value[order] + 2 * error[order], color=ORANGE, linewidth=1.2)
    ax.plot(value[order], place, "o", color=BLUE, markersize=4 if few else 2)
    ax.axvline(0, color=GREY, linewidth=0.8)
    labels = [short(level) for level in levels[order]]
    ax.set_yticks(place if few else [], labels if few else [])
    ax.grid(axis="y", color=GRID, linewidth=0.4)
    ax.set_axisbelow(True)
    return finished(ax, what, f"{short(group)}, in order of the effect")
