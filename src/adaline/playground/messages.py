"""The messages of a page: JSON objects of a few types, read into records; invalid ones are refused with a message.

    {"type": "systems"}                                             the systems by task, and the kinds of points
    {"type": "form", "system": NAME}                                the fields of a system
    {"type": "generate", "recipe": {kind, count, noise, seed}}      points
    {"type": "noise", "task", "points", "amount", "seed"}           the points, moved at random
    {"type": "fit", "slot": 0, "task", "points", "names", "recipe", "fresh", "model", "window": null}
                                                                    fit a system; its trace is kept in the slot;
                                                                    with a window the end alone, and what is drawn of it
    {"type": "frame", "slot": 0, "moment": 3, "window": {...}}      what is drawn of it at a moment
    {"type": "python", "moments": [3, 3], "instrument": {...}}      all that is shown as a program
    {"type": "instrument", "name", "task", "points", "names", "recipe", "fresh", "settings"}

A point is [x, y, class], with the class as an index of `names`, five names of classes, which may be left out.
Fits and instruments are evaluated on fresh points: those given as `fresh`, or others of the recipe.
Every message has an `id`, which its answer repeats. An answer of `"type": "error"` has a `message`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from adaline.errors import AdalineError
from adaline.playground.boards import (
    BOARD_CLASSES,
    CLASS_NAMES,
    GENERATORS,
    MOST_POINTS,
    TASKS,
    Board,
    Recipe,
    check_points,
)
from adaline.playground.forms import ModelSpec
from adaline.playground.instruments import INSTRUMENTS
from adaline.playground.pictures import Window

LONGEST_MESSAGE = 2_000_000  # bytes of a message; the points of a full board take less
SLOTS = 2  # systems side by side; the page has room for two
MOST_CELLS = 65_536  # cells of a picture; doubling it takes twice as long to compute and send


class BadMessage(AdalineError, ValueError):
    """A message from a page that cannot be read."""


@dataclass(frozen=True)
class FitMessage:
    """Fit a system to the points; fresh ones judge it where there are some. With a window its end alone is drawn."""

    slot: int
    board: Board
    recipe: Recipe | None
    fresh: Board | None
    model: ModelSpec
    window: Window | None


@dataclass(frozen=True)
class FrameMessage:
    """Draw the trace in a slot at a moment."""

    slot: int
    moment: int
    window: Window


@dataclass(frozen=True)
class CodeMessage:
    """Write the traces at their moments, and the instrument beside them, as a program."""

    moments: tuple[int, ...]
    instrument: tuple[str, Mapping[str, Any]] | None


@dataclass(frozen=True)
class GenerateMessage:
    """Generate points."""

    recipe: Recipe


@dataclass(frozen=True)
class NoiseMessage:
    """Move points at random."""

    board: Board
    amount: float
    seed: int


@dataclass(frozen=True)
class InstrumentMessage:
    """Run an instrument on the points."""

    name: str
    settings: Mapping[str, Any]
    board: Board
    fresh: Board | None


@dataclass(frozen=True)
class FormMessage:
    """Ask for the form of a system."""

    system: str


@dataclass(frozen=True)
class SystemsMessage:
    """Ask for the systems by task, and the kinds of points."""


Message = (
    FitMessage
    | FrameMessage
    | CodeMessage
    | GenerateMessage
    | NoiseMessage
    | InstrumentMessage
    | FormMessage
    | SystemsMessage
)


def message_object(text: str | bytes) -> dict[str, Any]:
    """Return the JSON object of a message; refuse anything else, and long messages.

    Examples
    --------
    >>> from adaline.playground.messages import message_object
    >>> message_object('{"type": "systems", "id": 1}')
    {'type': 'systems', 'id': 1}
    """
    if len(text) > LONGEST_MESSAGE:
        raise BadMessage(f"a message is at most {LONGEST_MESSAGE:,} bytes long")
    try:
        given = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        raise BadMessage("a message is a JSON object, without NaN and infinity") from None
    if not isinstance(given, dict):
        raise BadMessage("a message is a JSON object")
    return given


def _no_constant(word: str) -> None:
    raise ValueError(word)


def _finite(text: str) -> float:
    """Return a number; refuse one beyond the range of float64, which no answer could repeat."""
    value = float(text)
    if math.isinf(value):
        raise ValueError(text)
    return value


def read_message(given: Mapping[str, Any]) -> Message:
    """Return the record of a message."""
    match _text(given, "type"):
        case "systems":
            return SystemsMessage()
        case "form":
            return FormMessage(_text(given, "system"))
        case "generate":
            recipe = _recipe(given)
            if recipe is None:
                raise BadMessage("a recipe is missing")
            return GenerateMessage(recipe)
        case "noise":
            return NoiseMessage(_board(given), _number(given, "amount", 0, 10), _whole(given, "seed", 0, 2**31))
        case "fit":
            board, recipe = _board(given), _recipe(given)
            window = None if given.get("window") is None else _window(given)
            return FitMessage(_slot(given), board, recipe, _fresh(given, board, recipe), _model(given), window)
        case "frame":
            return FrameMessage(_slot(given), _whole(given, "moment", 0, 10**6), _window(given))
        case "python":
            return CodeMessage(_moments(given), _instrument(given))
        case "instrument":
            board = _board(given)
            return InstrumentMessage(*_named(given), board, _fresh(given, board, _recipe(given)))
        case other:
            raise BadMessage(f"there is no message of type {other[:40]!r}")


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or len(value) > 100:
        raise BadMessage(f"{name} must be a short text")
    return value


def _object(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = given.get(name)
    if not isinstance(value, dict) or len(value) > 60:
        raise BadMessage(f"{name} must be an object of a few fields")
    return value


def _number(given: Mapping[str, Any], name: str, least: float, most: float) -> float:
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise BadMessage(f"{name} must be a number from {least:g} to {most:g}")
    return float(value)


def _whole(given: Mapping[str, Any], name: str, least: int, most: int) -> int:
    value = _number(given, name, least, most)
    if value != int(value):
        raise BadMessage(f"{name} must be a whole number")
    return int(value)


def _slot(given: Mapping[str, Any]) -> int:
    return _whole(given, "slot", 0, SLOTS - 1) if "slot" in given else 0


def _moments(given: Mapping[str, Any]) -> tuple[int, ...]:
    moments = given.get("moments")
    if not isinstance(moments, list) or not 1 <= len(moments) <= SLOTS:
        raise BadMessage(f"moments must be a list of 1 to {SLOTS} whole numbers, one a board")
    return tuple(_whole({"moment": one}, "moment", 0, 10**6) for one in moments)


def _instrument(given: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    return None if given.get("instrument") is None else _named(_object(given, "instrument"))


def _named(given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name of an instrument, and its settings."""
    name = _text(given, "name")
    if name not in INSTRUMENTS:
        raise BadMessage(f"there is no instrument {name!r}")
    return name, _object(given, "settings") if "settings" in given else {}


def _board(given: Mapping[str, Any], name: str = "points") -> Board:
    task, points = _text(given, "task"), given.get(name)
    if task not in TASKS:
        raise BadMessage(f"task must be one of {', '.join(TASKS)}")
    if not isinstance(points, list):
        raise BadMessage(f"{name} must be a list of [x, y, class]")
    if len(points) > MOST_POINTS:
        raise BadMessage(f"the board holds at most {MOST_POINTS:,} points, got {len(points):,}")
    rows = all(type(row) is list and len(row) == 3 for row in points)
    if not rows or not set(map(type, chain.from_iterable(points))) <= {int, float}:
        raise BadMessage(f"{name} must be a list of [x, y, class]")
    try:
        return check_points(task, np.array(points, dtype=np.float64).reshape(-1, 3), _names(given))
    except OverflowError:
        raise BadMessage("coordinates must be finite numbers") from None


def _names(given: Mapping[str, Any]) -> tuple[str, ...]:
    names = given.get("names")
    if names is None:
        return CLASS_NAMES
    if not isinstance(names, list) or not all(isinstance(one, str) and 0 < len(one) <= 100 for one in names):
        raise BadMessage("names must be a list of short texts")
    if len(names) != BOARD_CLASSES or len(np.unique(names)) != BOARD_CLASSES:  # NumPy drops a NUL at the end
        raise BadMessage(f"names must be {BOARD_CLASSES} names of classes, no two of them equal")
    return tuple(names)


def _fresh(given: Mapping[str, Any], board: Board, recipe: Recipe | None) -> Board | None:
    """Return the points that judge: those given, or others of the recipe; None where there are none."""
    if given.get("fresh"):
        return _board(given, "fresh")
    if recipe is None or GENERATORS[recipe.kind][0] != board.task:
        return None
    return replace(recipe.board(fresh=True), names=board.names)


def _recipe(given: Mapping[str, Any]) -> Recipe | None:
    if given.get("recipe") is None:
        return None
    recipe = _object(given, "recipe")
    kind = _text(recipe, "kind")
    if kind not in GENERATORS:
        raise BadMessage(f"there are no points of the kind {kind!r}")
    count, noise = _whole(recipe, "count", 1, MOST_POINTS), _number(recipe, "noise", 0, 5)
    return Recipe(kind, count, noise, _whole(recipe, "seed", 0, 2**31))


def _model(given: Mapping[str, Any]) -> ModelSpec:
    model = _object(given, "model")
    basis, inner = model.get("basis"), model.get("inner")
    return ModelSpec(
        _text(model, "system"),
        _object(model, "settings") if "settings" in model else {},
        None if basis is None else _text(model, "basis"),
        {} if basis is None or "basis_settings" not in model else _object(model, "basis_settings"),
        None if inner is None else _text(model, "inner"),
    )


def _window(given: Mapping[str, Any]) -> Window:
    window = _object(given, "window")
    left, right, low, high = (_number(window, name, -1e6, 1e6) for name in ("left", "right", "low", "high"))
    columns, rows = _whole(window, "columns", 1, 1024), _whole(window, "rows", 1, 1024)
    if not (left < right and low < high) or columns * rows > MOST_CELLS:
        raise BadMessage(f"a window has left < right, low < high and at most {MOST_CELLS:,} cells")
    return Window(left, right, low, high, columns, rows)
