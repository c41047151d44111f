"""The board: points in the plane with classes, numbers or nothing to learn, and generators of such points.

classes    rows (x1, x2), names of classes          numbers    rows (x), targets y          clusters   rows (x1, x2)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import InvalidData

MOST_POINTS = 20_000  # points of a board; doubling it makes each fit and each message take twice as long
BOARD_CLASSES = 5  # classes of a board: the page has as many colours
CLASS_NAMES = tuple(f"Class {k + 1}" for k in range(BOARD_CLASSES))  # where a page names no others
LARGEST_COORDINATE = 1e6  # absolute value of a coordinate
TASKS = ("classes", "numbers", "clusters")
JUDGING_POINTS = 1000  # points drawn to estimate errors; doubling it takes twice as long, for steadier errors
SEED_OFFSET = 7919  # added to the seed of the points that are drawn to estimate errors


@dataclass(frozen=True)
class Board:
    """Points, and the task to be learned from them.

    Parameters
    ----------
    task : "classes", "numbers" or "clusters".
    points : (n, 3), two coordinates and the index of a class; of numbers x, y and an unused zero.
    names : the names of the classes by index: systems learn them, so that what they say names classes as the page does.
    """

    task: str
    points: Array
    names: tuple[str, ...] = CLASS_NAMES

    @property
    def X(self) -> Array:
        """The rows, (n, 2) or, of numbers, (n, 1)."""
        return np.ascontiguousarray(self.points[:, : 1 if self.task == "numbers" else 2])

    @property
    def y(self) -> NDArray[Any] | None:
        """The targets: names of classes, or numbers; None for clusters."""
        if self.task == "clusters":
            return None
        return self.points[:, 1].copy() if self.task == "numbers" else np.asarray(self.names)[self.index]

    @property
    def index(self) -> NDArray[np.int64]:
        """The index of each point's class, (n,)."""
        return self.points[:, 2].astype(np.int64)

    def index_of(self, labels: Any) -> NDArray[np.int64]:
        """Return the index of each class in an array of names."""
        order = np.argsort(self.names)
        return np.asarray(order[np.searchsorted(self.names, labels, sorter=order)])


@dataclass(frozen=True)
class Recipe:
    """How points are generated: by name, with a number of points, noise and a seed."""

    kind: str
    count: int
    noise: float
    seed: int

    def board(self, fresh: bool = False) -> Board:
        """Return the points; `fresh` draws others of the same kind, to judge by."""
        task, make = GENERATORS[self.kind]
        rng = np.random.default_rng(self.seed + SEED_OFFSET if fresh else self.seed)
        points = make(JUDGING_POINTS if fresh else self.count, self.noise, rng)
        return Board(task, np.round(points, 3))


Generator = Callable[[int, float, np.random.Generator], Array]


def _labelled(x: Array, labels: NDArray[Any]) -> Array:
    return np.column_stack([x, labels])


def _around(centres: list[tuple[float, float]], count: int, spread: Any, rng: np.random.Generator) -> Array:
    labels = np.arange(count) % len(centres)
    return _labelled(np.asarray(centres)[labels] + spread * rng.normal(size=(count, 2)), labels)


def gaussians(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return two round classes."""
    return _around([(-1.5, -1.0), (1.5, 1.0)], count, 0.4 + noise, rng)


def three(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return three round classes around the origin."""
    return _around([(0.0, 2.0), (-2.0, -1.2), (2.0, -1.2)], count, 0.3 + noise, rng)


def five(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return five round classes."""
    centres = [(2.4 * np.cos(a), 2.4 * np.sin(a)) for a in np.pi / 2 + 2 * np.pi * np.arange(5) / 5]
    return _around(centres, count, 0.3 + 0.6 * noise, rng)


def stretched(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return two long, slanting classes side by side: their means differ in a misleading direction."""
    labels = np.arange(count) % 2
    along, across = np.array([1.0, 0.8]), np.array([-0.6, 0.75])
    x = rng.normal(size=(count, 1)) * 1.3 * along + rng.normal(size=(count, 1)) * (0.15 + 0.4 * noise) * across
    return _labelled(x + np.where(labels == 1, 1.0, -1.0)[:, None] * np.array([0.75, -0.25]), labels)


def middle(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return three classes in a row."""
    return _around([(-2.4, -1.6), (0.0, 0.0), (2.4, 1.6)], count, 0.2 + 0.6 * noise, rng)


def slanting(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return three long classes that point around the origin, so that pairs of them overlap each other's planes."""
    labels = np.arange(count) % 3
    turned = np.pi / 4 + np.arange(3) * 2 * np.pi / 3
    along = np.column_stack([np.cos(turned), np.sin(turned)])[labels]
    centres = np.array([[0.0, 2.0], [-1.8, -1.1], [1.8, -1.1]])[labels]
    x = centres + (0.2 + 0.5 * noise) * rng.normal(size=(count, 2)) + rng.normal(size=(count, 1)) * along
    return _labelled(x, labels)


def far(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return two classes, one of which has some rows far on its own side."""
    labels = np.arange(count) % 2
    x = np.where(labels == 1, 0.9, -0.9)[:, None] * np.array([0.5, 1.0]) + (0.25 + 0.5 * noise) * rng.normal(
        size=(count, 2)
    )
    remote = (labels == 1) & (np.arange(count) % 6 == 1)
    return _labelled(x + remote[:, None] * np.array([3.2, 0.2]), labels)


def unequal(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return two classes of which one is narrow and one is wide."""
    labels = np.arange(count) % 2
    spread = np.where(labels == 1, 1.3, 0.4) * (0.6 + noise)
    centre = np.where(labels == 1, 1.2, -1.2)[:, None] * np.array([1.0, 0.4])
    return _labelled(centre + spread[:, None] * rng.normal(size=(count, 2)), labels)


def moons(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return two half moons, one in the other's arms."""
    labels = np.arange(count) % 2
    turn = np.pi * rng.random(count)
    x = np.where(labels == 1, 1 - np.cos(turn), np.cos(turn)) - 0.5
    y = np.where(labels == 1, 0.5 - np.sin(turn), np.sin(turn)) - 0.25
    return _labelled(1.8 * np.column_stack([x, y]) + 0.5 * noise * rng.normal(size=(count, 2)), labels)


def xor(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return four corners, of which those opposite each other are of one class."""
    corner = np.arange(count) % 4
    centres = np.array([(-1.6, -1.6), (1.6, -1.6), (1.6, 1.6), (-1.6, 1.6)])[corner]
    return _labelled(centres + (0.2 + 0.6 * noise) * rng.normal(size=(count, 2)), corner % 2)


def circles(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return a class in the middle of the other."""
    labels = np.arange(count) % 2
    turn, radius = 2 * np.pi * rng.random(count), np.where(labels == 1, 0.8, 2.4)
    x = radius[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return _labelled(x + 0.4 * (0.2 + noise) * rng.normal(size=(count, 2)), labels)


def separable(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return two classes with a gap between them; noise makes it narrow."""
    labels = np.arange(count) % 2
    normal, along = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    side = np.where(labels == 1, 1.0, -1.0) * (0.45 - 0.4 * min(noise, 1.0) + 1.5 * rng.random(count))
    return _labelled(side[:, None] * normal + rng.uniform(-2.2, 2.2, (count, 1)) * along, labels)


def line(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return numbers along a line."""
    x = rng.uniform(-3, 3, count)
    return np.column_stack([x, 0.6 + 0.7 * x + noise * rng.normal(size=count), np.zeros(count)])


def outliers(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return numbers along a line, some of them far off it."""
    points = line(count, noise, rng)
    wrong = np.arange(count) % 8 == 0
    points[wrong, 1] = -1.5 - 1.2 * rng.random(int(wrong.sum()))
    points[wrong, 0] = np.abs(points[wrong, 0])
    return points


def wave(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return numbers along a sine."""
    x = rng.uniform(-3, 3, count)
    return np.column_stack([x, 1.8 * np.sin(1.6 * x) + noise * rng.normal(size=count), np.zeros(count)])


def square_wave(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return numbers that jump between two levels."""
    x = np.sort(rng.uniform(-3, 3, count))
    return np.column_stack(
        [x, 1.5 * np.sign(np.sin(np.pi * x / 1.5)) + noise * rng.normal(size=count), np.zeros(count)]
    )


def blobs(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return four clusters without labels."""
    points = _around([(-2.0, -1.4), (2.0, -1.2), (-1.8, 1.6), (1.7, 1.7)], count, 0.3 + 0.5 * noise, rng)
    points[:, 2] = 0
    return points


def crossed(count: int, noise: float, rng: np.random.Generator) -> Array:
    """Return two long clusters that cross, without labels."""
    of = np.arange(count) % 2
    along = np.where(of == 1, 1.0, -1.0)[:, None] * np.array([0.0, 0.8]) + np.array([1.0, 0.0])
    x = 1.3 * rng.normal(size=(count, 1)) * along + (0.12 + 0.4 * noise) * rng.normal(size=(count, 2))
    return _labelled(x, np.zeros(count))


GENERATORS: dict[str, tuple[str, Generator]] = {
    **{
        make.__name__: ("classes", make)
        for make in (
            *(gaussians, separable, three, five, stretched, middle, slanting),
            *(far, unequal, moons, xor, circles),
        )
    },
    **{make.__name__: ("numbers", make) for make in (line, outliers, wave, square_wave)},
    **{make.__name__: ("clusters", make) for make in (blobs, crossed)},
}
"""The kinds of points by name: the task that they suit, and the function that draws them."""


def check_points(task: str, points: Array, names: tuple[str, ...] = CLASS_NAMES) -> Board:
    """Return a board of points; refuse too many, too far, not finite, or of unknown classes."""
    if len(points) > MOST_POINTS:
        raise InvalidData(f"the board holds at most {MOST_POINTS:,} points, got {len(points):,}")
    if not np.isfinite(points).all() or (len(points) and np.abs(points[:, :2]).max() > LARGEST_COORDINATE):
        raise InvalidData(f"coordinates must be finite numbers of at most {LARGEST_COORDINATE:g}")
    labels = points[:, 2]
    if not np.isin(labels, np.arange(BOARD_CLASSES)).all():
        raise InvalidData(f"the third number of a point is its class, a whole number from 0 to {BOARD_CLASSES - 1}")
    return Board(task, points, names)
