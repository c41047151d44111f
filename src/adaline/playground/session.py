"""A session: one page, its traces, and an answer to each of its messages."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from adaline.errors import AdalineError
from adaline.playground.boards import GENERATORS, LARGEST_COORDINATE
from adaline.playground.code import as_program
from adaline.playground.forms import form_of, systems_by_task
from adaline.playground.instruments import ALONE, INSTRUMENTS
from adaline.playground.messages import (
    SLOTS,
    BadMessage,
    CodeMessage,
    FitMessage,
    FormMessage,
    FrameMessage,
    GenerateMessage,
    InstrumentMessage,
    Message,
    NoiseMessage,
    SystemsMessage,
    read_message,
)
from adaline.playground.pictures import errors, facts, in_words, picture
from adaline.playground.traces import Trace, trace


class Session:
    """What one page has fitted.

    Examples
    --------
    >>> from adaline.playground.session import Session
    >>> session = Session()
    >>> points = [[-1.0, -1.0, 0], [1.0, 1.0, 1]]
    >>> answer = session.answer(
    ...     {"id": 1, "type": "fit", "task": "classes", "points": points, "model": {"system": "Perceptron"}}
    ... )
    >>> answer["type"], answer["facts"]["mistakes"]
    ('fitted', 1.0)
    """

    def __init__(self) -> None:
        self.traces: list[Trace | None] = [None] * SLOTS

    def answer(self, given: dict[str, Any], wanted: Callable[[], bool] = lambda: True) -> dict[str, Any]:
        """Return the answer to a message; errors of the message or of the fit are answers too.

        Parameters
        ----------
        given : the message.
        wanted : asked between the moments of a trace; once it is False, the answer is that the message was skipped.
        """
        identity = given.get("id")
        identity = identity if isinstance(identity, int | str) else None
        try:
            found = self._answer(read_message(given), wanted)
        except AdalineError as error:
            found = {"type": "error", "message": str(error), "bad": isinstance(error, BadMessage)}
        except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError, np.linalg.LinAlgError) as error:
            logging.getLogger(__name__).exception("a message could not be answered")
            found = {"type": "error", "message": f"this could not be computed: {error}", "bad": False}
        return {"id": identity, **found}

    def _answer(self, message: Message, wanted: Callable[[], bool]) -> dict[str, Any]:
        match message:
            case SystemsMessage():
                kinds = {kind: task for kind, (task, _) in GENERATORS.items()}
                return {"type": "systems", "systems": systems_by_task(), "kinds": kinds, "alone": list(ALONE)}
            case FormMessage(system):
                return {"type": "form", **form_of(system)}
            case GenerateMessage(recipe):
                board = recipe.board()
                return {"type": "points", "task": board.task, "points": board.points.tolist()}
            case NoiseMessage(board, amount, seed):
                moved = board.points.copy()
                moved[:, :2] += amount * np.random.default_rng(seed).normal(size=(len(moved), 2))
                moved[:, :2] = np.clip(np.round(moved[:, :2], 3), -LARGEST_COORDINATE, LARGEST_COORDINATE)
                return {"type": "points", "task": board.task, "points": moved.tolist()}
            case FitMessage():
                return self._fit(message, wanted)
            case FrameMessage(slot, moment, window):
                return {"type": "frame", "slot": slot, **picture(*self._at(slot, moment), window)}
            case CodeMessage(moments, chart):
                found, *others = (self._at(slot, moment) for slot, moment in enumerate(moments))
                return {"type": "python", "code": as_program(*found, others[0] if others else None, chart)}
            case InstrumentMessage(name, settings, board, fresh):
                return {"type": "instrument", "name": name, **INSTRUMENTS[name](board, fresh, settings)}

    def _fit(self, message: FitMessage, wanted: Callable[[], bool]) -> dict[str, Any]:
        self.traces[message.slot] = None
        found = trace(message.board, message.model, message.recipe, message.fresh, message.window is not None)
        for moment in range(len(found)):
            if not wanted():
                return {"type": "skipped"}
            found.model(moment)
        self.traces[message.slot] = found
        curve = errors(found)
        return {
            "type": "fitted",
            "slot": message.slot,
            "unit": found.unit,
            "positions": found.positions,
            "weights": found.weights,
            "curve": curve,
            "facts": facts(found, curve),
            "certificate": in_words(found),
            "notes": found.notes,
            "call": found.spec.call,
            "frame": None if message.window is None else picture(found, 0, message.window),
        }

    def _at(self, slot: int, moment: int) -> tuple[Trace, int]:
        """Return the trace in a slot, and a moment that it has."""
        found = self.traces[slot]
        if found is None:
            raise BadMessage("nothing has been fitted there yet")
        return found, min(moment, len(found) - 1)
