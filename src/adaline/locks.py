"""Locks that a forked child finds free, the lock of a model, and properties computed once, without a lock.

A fork copies one thread only. A lock that another thread held at that moment would stay held in the child forever.
"""

from __future__ import annotations

import functools
import os
import threading
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet, ref

from adaline.fitted import AnyModel

T = TypeVar("T")

_ReentrantLock: Any = type(threading.RLock())


class Lock(_ReentrantLock):  # type: ignore[misc]
    """A re-entrant lock; in a forked child it is free, unless the thread that forked holds it."""

    model: Any = None  # a weak reference to the model whose lock it is

    def __init__(self) -> None:
        _locks.add(self)


_locks: WeakSet[Lock] = WeakSet()
_model_locks: dict[int, Lock] = {}  # by the identity of living models, beside them, so that they are copied without


def _free_locks() -> None:
    for lock in (*_locks, *_model_locks.values()):
        if not lock._is_owned():
            lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_locks)


def lock_of(model: AnyModel) -> Lock:
    """Return the lock of a model, which is made when it is first asked for; copies of the model have their own."""
    return _model_locks.get(id(model)) or _make_lock(model)


def _make_lock(model: AnyModel) -> Lock:
    lock, key = Lock.__new__(Lock), id(model)  # which the dictionary keeps, and not `_locks`
    lock.model = ref(model, lambda _: _model_locks.pop(key, None))  # lives as long as the lock: until the model ends
    return _model_locks.setdefault(key, lock)


class cached_property(functools.cached_property[T]):  # noqa: N801
    """A property that is computed at its first use; two threads may both compute it, to the same value.

    Before Python 3.12 that of the standard library holds a lock, one for all objects of the class, while it computes.
    """

    if not TYPE_CHECKING:  # whose types are those of the standard library

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """Return the value, from now on a plain attribute of the object."""
            if instance is None:
                return self
            value = self.func(instance)
            object.__setattr__(instance, self.attrname, value)  # of a frozen dataclass too
            return value
