"""The plane of two columns: its grid, regions painted on it, and rows drawn by class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.fitted import AnyModel
from adaline.plots.inputs import method_values
from adaline.plots.style import INK, Axes, colour, marker, mixed, short, thin

Codes = NDArray[np.intp]

GRID_POINTS = 300  # points of the grid on each side; doubling it takes four times as long
FAINT, FULL = 0.08, 0.42  # opacity of a region's colour where its class is least, and where it is most probable
REGION_OPACITY = 0.22  # opacity of the colour of a region
MOST_RINGS = 100  # misclassified rows up to which their rings are large; doubling it lets rings overlap


class Field:
    """The grid around rows (n, 2), a little wider than they are.

    Parameters
    ----------
    ax : where it is drawn.
    x : the rows.
    """

    def __init__(self, ax: Axes, x: Array) -> None:
        low, high = x.min(axis=0), x.max(axis=0)
        edge = np.where(high > low, 0.06 * (high - low), 0.5 * np.maximum(np.abs(low), 1.0))
        self.ax, self.low, self.high = ax, low - edge, high + edge
        self.first, self.second = (np.linspace(a, b, GRID_POINTS) for a, b in zip(self.low, self.high, strict=True))
        self.points = np.column_stack([part.ravel() for part in np.meshgrid(self.first, self.second)])

    def paint(self, rgb: Array) -> None:
        """Colour every point of the grid, (GRID_POINTS^2, 3)."""
        step = (self.high - self.low) / (GRID_POINTS - 1) / 2
        (left, bottom), (right, top) = self.low - step, self.high + step
        image: Any = rgb.reshape(GRID_POINTS, GRID_POINTS, 3)
        self.ax.imshow(image, extent=(left, right, bottom, top), origin="lower", aspect="auto", zorder=0)
        self.ax.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))

    def contour(self, values: Array, levels: Sequence[float], **style: Any) -> None:
        """Draw lines where values on the grid, (GRID_POINTS^2,), cross the levels; none where they do not."""
        if values.min() < max(levels) and values.max() > min(levels):
            self.ax.contour(self.first, self.second, values.reshape(GRID_POINTS, GRID_POINTS), levels, **style)

    def regions(self, winner: Codes, count: int, strength: Any = REGION_OPACITY) -> None:
        """Paint regions in the colours of their classes, by their strength."""
        colours = [colour(k) for k in range(count)]
        self.paint(mixed(colours, np.eye(count)[winner], np.broadcast_to(strength, len(winner))))

    def borders(self, scores: Array) -> None:
        """Draw where the largest of K scores on the grid, (GRID_POINTS^2, K), changes."""
        for k in range(scores.shape[1]):
            others = np.delete(scores, k, axis=1).max(axis=1)
            self.contour(scores[:, k] - others, [0.0], colors=INK, linewidths=0.9)


def scatter_classes(ax: Axes, x: Array, codes: Codes, names: Iterable[Any], wrong: NDArray[np.bool_] | None) -> None:
    """Draw rows by class, each with its colour and marker; wrong ones are ringed."""
    rows = thin(len(x))
    x, codes = x[rows], codes[rows]
    style: dict[str, Any] = {"s": 18, "edgecolors": "white", "linewidths": 0.3} if len(x) <= 1000 else {"s": 5, "lw": 0}
    for k, name in enumerate(names):
        own = x[codes == k]
        if len(own):
            ax.scatter(
                own[:, 0], own[:, 1], marker=marker(k), color=colour(k), label=short(name, 18), rasterized=True, **style
            )
    if wrong is not None and wrong[rows].any():
        few = np.count_nonzero(wrong[rows]) <= MOST_RINGS
        ring: dict[str, Any] = {"s": 60 if few else 20, "linewidths": 0.9 if few else 0.4, "rasterized": not few}
        ax.scatter(*x[wrong[rows]].T, label="wrong", facecolors="none", edgecolors=INK, **ring)


def scores_of(model: AnyModel, points: Array, predicted: NDArray[Any]) -> Array:
    """Return what decides between K classes at points, (n, K): scores, else probabilities, else the predicted label."""
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            found = method_values(getattr(model, method), points)
            return np.column_stack([-found, found]) if found.ndim == 1 else found
    return np.asarray(predicted[:, None] == np.asarray(model.classes_)[None, :], dtype=np.float64) - 0.5
