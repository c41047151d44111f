"""Temporary files and folders of this process, which are removed if it ends without unwinding the stack.

Normally the code that made them removes them, by `with` or a finalizer. A command that is ended from another thread
does not get there: `remove_leftovers` removes the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, finalize

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

MOST_TRIES = 3  # attempts to remove a folder that another thread still writes into

_removals: dict[object, Callable[[], Any]] = {}
_folders: WeakSet[TemporaryDirectory[str]] = WeakSet()


def temporary_folder(prefix: str = "adaline-") -> TemporaryDirectory[str]:
    """Return a new temporary folder, private to the user; it is removed with the object, at the latest at exit.

    Examples
    --------
    >>> import os
    >>> from adaline.leftovers import temporary_folder
    >>> with temporary_folder() as folder:
    ...     os.path.isdir(folder)
    True
    """
    from tempfile import TemporaryDirectory  # slow to import

    folder = TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)
    _folders.add(folder)
    return folder


@contextmanager
def removing(remove: Callable[[], Any]) -> Iterator[None]:
    """Let `remove_leftovers` call a function while the block runs."""
    key = object()
    _removals[key] = remove
    try:
        yield
    finally:
        _removals.pop(key, None)


def remove_with(owner: Any, folder: str) -> None:
    """Remove a folder with its owner, at the latest at exit, or let `remove_leftovers` do that."""
    key = object()
    _removals[key] = partial(_remove_folder, folder)
    finalize(owner, _end, key, folder, os.getpid())


def _end(key: object, folder: str, process: int) -> None:
    _removals.pop(key, None)
    if process == os.getpid():  # a process that was forked leaves the folder to the one that uses it
        _remove_folder(folder)


def remove_leftovers() -> None:
    """Remove every temporary file and folder that still exists; what cannot be removed is left."""
    removals = list(_removals.values())
    removals += [partial(_remove_folder, one.name) for one in list(_folders)]
    for remove in removals:
        with suppress(Exception):
            remove()


def _remove_folder(name: str) -> None:
    from shutil import rmtree

    for _ in range(MOST_TRIES):
        rmtree(name, ignore_errors=True)
        if not os.path.exists(name):
            return
