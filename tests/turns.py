"""Laws held against several values in one test: to start a test takes longer than to hold most laws of rows."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from adaline.kernels import native

Law = Callable[..., None]
ISAS: list[str] = [] if native is None else native.isas()

needs_native = pytest.mark.skipif(native is None, reason="the native kernels could not be built")


def in_turn(name: str, values: Iterable[Any] | Callable[..., Iterable[Any]]) -> Callable[[Law], Law]:
    """Give an argument of a law each of some values, or of those that a function finds for the other arguments.

    An error says at which value.
    """

    def hold(law: Law) -> Law:
        @functools.wraps(law)
        def test(**others: Any) -> None:
            for value in values(**others) if callable(values) else values:
                try:
                    law(**others, **{name: value})
                except pytest.skip.Exception:
                    raise AssertionError(f"a law is left out at {name} = {value!r}, and so would be the rest") from None
                except Exception as error:
                    error.add_note(f"at {name} = {value!r}")
                    raise

        signature = inspect.signature(law)
        left = [one for one in signature.parameters.values() if one.name != name]
        vars(test)["__signature__"] = signature.replace(parameters=left)
        return test

    return hold


@contextmanager
def instruction_set(name: str) -> Iterator[None]:
    """Let the kernels use an instruction set for a while."""
    before = native.isa()
    native.use_isa(name)
    try:
        yield
    finally:
        native.use_isa(before)


def on_every_isa(law: Law) -> Law:
    """Hold a law of the kernels on every instruction set in turn."""

    @functools.wraps(law)
    def on(isa: str, **others: Any) -> None:
        with instruction_set(isa):
            law(**others)

    return needs_native(in_turn("isa", ISAS)(on))
