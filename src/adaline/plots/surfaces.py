"""Plot of the mean squared error over two weights, and of the weights of a system while it learns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adaline.arrays import Array, RowsLike, TargetsLike
from adaline.errors import ConvergenceWarning, InvalidData, InvalidParameter
from adaline.estimator import clone
from adaline.fitted import AnyModel, AnySystem, learns_by_row
from adaline.parameters import COUNT, NONE, AnyOf
from adaline.plots.inputs import column_names, numbers, plain_array, refuse_basis, same_length
from adaline.plots.style import INK, MOST_POINTS, Axes, axes, colour, finished, marker, short, styled

GRID_POINTS = 200  # points of the grid on each side; doubling it takes four times as long
CONTOURS = 12  # contours, each at twice the rise of the one below; doubling it crowds them at the minimum


@styled
def error_surface(
    X: RowsLike, y: TargetsLike, paths: Any = None, ax: Axes | None = None, *, names: Sequence[Any] | None = None
) -> Axes:
    """Draw contours of E(w) = 1/N sum (y - w'x)^2 over two weights, its minimum, and paths of weights.

    Each contour lies half as far above the minimum as the next one outside.

    Parameters
    ----------
    X, y : rows (n, 1), for the weights w0 (intercept) and w1; or (n, 2), for w1 and w2 without an intercept.
    paths : weights after each step, (m, 2), or several such by name; see `trajectory`.
    ax : where to draw; None: axes of a new figure.
    names : of the columns; None: those of a frame, or x0, x1.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LMS, LinearRegression, plots
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1))
    >>> y = 1 + 2 * X[:, 0] + rng.normal(size=200)
    >>> ways = {
    ...     "batch descent": plots.trajectory(LinearRegression(solver="gradient", rate=0.001), X, y, steps=30),
    ...     "LMS": plots.trajectory(LMS(rate=0.05), X, y),
    ... }
    >>> ax = plots.error_surface(X, y, ways)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('weight w0, of the constant', 'weight w1, of x0')

    References
    ----------
    Lecture S0, sections 5.3 and 5.4; S1, S3: the error surface, descent and the stochastic gradient.
    """
    x, t = numbers(X, "X", 2), numbers(y, "y")
    same_length("X", len(x), "y", len(t))
    columns = x.shape[1]
    if columns > 2:
        raise InvalidData(f"error_surface draws two weights and X has {columns} columns: choose one or two columns")
    words = [f"of {name}" for name in column_names(names, X, None, columns)]
    phi = np.column_stack([np.ones(len(x)), x]) if columns == 1 else x
    minimum: Array = np.asarray(np.linalg.lstsq(phi, t, rcond=None)[0], dtype=np.float64)
    ways = _ways(paths)
    first, second = _frame(minimum, ways, phi)
    w = np.stack(np.meshgrid(first, second), axis=-1) - minimum
    rise = np.einsum("...i,ij,...j->...", w, phi.T @ phi / len(x), w)
    ax = axes(ax, 4.2)
    levels = rise.max() * 2.0 ** np.arange(-CONTOURS, 1)
    ax.contourf(first, second, rise, [0.0, *levels], cmap="Greys_r", vmin=-3 * rise.max(), vmax=1.1 * rise.max())
    ax.contour(first, second, rise, levels, colors="#999999", linewidths=0.6)
    for k, (name, way) in enumerate(ways.items()):
        shown = way[np.unique(np.linspace(0, len(way) - 1, min(len(way), MOST_POINTS)).astype(int))]
        few: dict[str, Any] = {"marker": marker(k), "markersize": 3} if len(shown) <= 100 else {}
        style: dict[str, Any] = {"color": colour(k), "linewidth": 1.2, "alpha": 0.9}
        ax.plot(shown[:, 0], shown[:, 1], label=short(name) or None, **style, **few)
    if ways:
        hollow: dict[str, Any] = {"s": 36, "facecolors": "white", "edgecolors": INK, "zorder": 3}
        ax.scatter(*np.array([way[0] for way in ways.values()]).T, label="start", **hollow)
    least = float(np.mean((t - phi @ minimum) ** 2))
    ax.plot(*minimum, "*", color=INK, markersize=10, zorder=4, linestyle="", label=f"minimum, {least:.3g}")
    ax.set(xlim=(first[0], first[-1]), ylim=(second[0], second[-1]))
    ax.locator_params(axis="x", nbins=5)
    across = "weight w0, of the constant" if columns == 1 else f"weight w1, {words[0]}"
    return finished(ax, across, f"weight w{columns}, {words[-1]}")


def trajectory(system: AnySystem, X: RowsLike, y: TargetsLike, *, steps: int | None = None) -> Array:
    """Return the weights of a system at the start and after each step, (steps + 1, D); the intercept, if any, first.

    Parameters
    ----------
    system : an online one, such as LMS, which takes a step a row; or one with `epochs` and `init`, such as
        LinearRegression(solver="gradient"), which takes a step over all rows. It is copied, not changed.
    X, y : rows (n, D) and targets (n,).
    steps : how many; None: one for each row, or 50 over all rows. An online system continues with the first row.

    Examples
    --------
    >>> from adaline import LMS, plots
    >>> plots.trajectory(LMS(rate=0.5), [[1.0], [1.0]], [2.0, 2.0]).tolist()
    [[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]
    """
    x, t = numbers(X, "X", 2), plain_array(y)
    same_length("X", len(x), "y", len(t))
    AnyOf(NONE, COUNT).check("steps", steps)
    if isinstance(getattr(system, "init", None), str):
        raise InvalidParameter("trajectory needs a start that is known: init=None, or the weights themselves")
    refuse_basis(system, "trajectory", "give phi(X) as X, and a system without one")
    copy = clone(system)
    if learns_by_row(copy):
        path = [_weights(copy.learn_one(x[i % len(x)], t[i % len(x)])) for i in range(steps or len(x))]
    elif {"init", "epochs"} <= set(copy.get_params()):
        path = []
        for _ in range(50 if steps is None else steps):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                path.append(_weights(copy.set_params(epochs=1, **({"init": path[-1]} if path else {})).fit(x, t)))
    else:
        raise InvalidParameter(f"{type(system).__name__} does not learn in steps: use LMS, or solver='gradient'")
    start = np.zeros(1 + x.shape[1]) if system.init is None else np.ravel(system.init)
    return np.array([start, *path], dtype=np.float64)[:, 0 if system.fit_intercept else 1 :]


def _weights(model: AnyModel) -> Array:
    return np.concatenate([np.ravel(model.intercept_), np.ravel(model.coef_)])


def _ways(paths: Any) -> dict[str, Array]:
    if paths is None:
        return {}
    given = paths if isinstance(paths, Mapping) else {"path": paths}
    ways = {str(name): numbers(way, "a path", 2) for name, way in given.items()}
    for name, way in ways.items():
        if way.shape[1] != 2:
            raise InvalidData(f"the path {name!r} has {way.shape[1]} weights a step, two are drawn: give (m, 2)")
    return ways


def _frame(minimum: Array, ways: Mapping[str, Array], phi: Array) -> tuple[Array, Array]:
    """Return the grid: around the minimum, all paths, and a start at zero."""
    points = np.vstack([minimum[None], np.zeros((1, 2)), *ways.values()])
    reach = np.abs(points - minimum).max(axis=0)
    spread = 1 / np.maximum(np.sqrt((phi**2).mean(axis=0)), np.finfo(float).tiny)
    reach = 1.15 * np.maximum(reach, 0.25 * (reach / spread).max() * spread)
    reach = np.where(reach > 0, reach, 1.0)
    first, second = (np.linspace(m - r, m + r, GRID_POINTS) for m, r in zip(minimum, reach, strict=True))
    return first, second
