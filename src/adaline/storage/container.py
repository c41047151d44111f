"""The container of a model: one safetensors file, whose metadata hold a JSON header, both under checksums.

The metadata hold one text, under `adaline`: a JSON object that ends with `data`, the BLAKE2b-256 hash of the names,
types, shapes and bytes of all tensors, and `checksum`, the hash of everything before it. So any altered byte is
noticed, and one in the header without reading the data. Files are read, not mapped: if a file changes meanwhile,
reading ends in an error, not in a crash. Whatever is wrong with a file is a ModelFileError that says what it is and
what to do.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b
from importlib import import_module
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save as serialized

from adaline import __version__
from adaline.errors import AdalineError, InvalidData, InvalidType, ModelFileError
from adaline.leftovers import removing
from adaline.wording import file_name

SCHEMA, OLDEST = 7, 6
"""The schema that is written, and the oldest that is read."""
KEY = "adaline"
LONGEST_HEADER = 100_000_000  # the limit of safetensors itself
MOST_TENSORS = 10**6
SEARCHED, MOST_WRITERS = 8, 64
"""Numbers of temporary files that are searched for some left behind, and that can be in use at once, for one name."""
TYPES = {
    "BOOL": "?",
    **{f"{sign}{8 * size}": f"<{sign.lower()}{size}" for sign in "IU" for size in (1, 2, 4, 8)},
    **{f"F{8 * size}": f"<f{size}" for size in (2, 4, 8)},
}
BROKEN = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError, MemoryError)
"""What reading a damaged file may raise."""
AGAIN = "Restore it from a copy, or save the model again."

fcntl: Any = import_module("fcntl") if os.name == "posix" else None  # without it, what is left behind stays

Tensors = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], head: dict[str, Any], tensors: Tensors) -> None:
    """Write a header and tensors; an existing file is replaced only when the new one is complete."""
    head = {**head, "data": _digest(tensors)}
    text = json.dumps({**head, "checksum": _checksum(head)})
    if len(text) > LONGEST_HEADER // 2 or len(tensors) > MOST_TENSORS:  # quotes in it take twice the room
        raise InvalidData(
            f"cannot store this model: its settings and names exceed {LONGEST_HEADER // 2} bytes, or its arrays "
            f"{MOST_TENSORS}"
        )
    content = serialized(tensors, metadata={KEY: text})
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(content)


def read_head(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the header of a file, checked."""
    with _opened(path) as file:
        return _head(file, path)[0]


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Tensors]:
    """Return the header and the tensors of a file, checked."""
    with _opened(path) as file:
        head, length = _head(file, path)
        file.seek(0)
        content = file.read(length)
    try:
        tensors = {name: _array(info) for name, info in deserialize(content)}  # type: ignore[no-untyped-call]
    except (SafetensorError, *BROKEN) as error:
        refuse(path, f"is damaged: {error}", AGAIN)
    if _digest(tensors) != head["data"]:
        _altered(path)
    return head, tensors


def refuse(path: Any, what: str, advice: str) -> NoReturn:
    """Raise the one error of model files."""
    raise ModelFileError(f"{_shown(path)} {what}. {advice}") from None


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give a temporary name in the same folder; at the end the file replaces `path`, or is removed on error.

    Temporary files that writers of the same name left behind when they were killed are removed.
    """
    final, shown = _name(path), _shown(path)
    try:
        final = _writable(final)
        with _temporary(final) as (temporary, mode):
            yield temporary
            os.chmod(temporary, mode)  # as the user's mask has it: other writers may make files private
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(temporary, final)
    except AdalineError:
        raise
    except OSError as error:
        raise ModelFileError(f"cannot write {shown}: {error.strerror or error}") from None


def _writable(name: str) -> str:
    """Return the file that a name leads to; refuse a name that no file can have, or that something else has."""
    if "\0" in name:
        raise OSError("a name has no NUL character. Choose another")
    final = os.path.realpath(name)
    folder = os.path.dirname(final)
    if not os.path.isdir(folder):
        raise OSError(f"there is no folder {_shown(folder)}. Make it first")
    if os.path.exists(final) and not os.path.isfile(final):
        raise OSError(f"it is {'a folder' if os.path.isdir(final) else 'no regular file'}. Choose another name")
    return final


@contextmanager
def _temporary(final: str) -> Iterator[tuple[str, int]]:
    """Give the name and mode of a new file in the folder of `final`, which is removed at the end if it is still there.

    Its writer holds a lock on it as long as it lives, so that a file without a lock is one left behind. Names are
    numbered, not drawn: those left behind are found without listing the folder, however long the name of `final` is.
    """
    folder, name = os.path.split(final)
    start = os.path.join(folder, f".{blake2b(os.fsencode(name), digest_size=8).hexdigest()}")
    names = [f"{start}.{number}.tmp" for number in range(MOST_WRITERS)]
    for one in names[:SEARCHED]:
        with suppress(OSError):
            _remove(one, _lock(one, os.O_RDWR))
    for one in names:
        try:
            held = _lock(one, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            continue
        if held is not None:
            break
    else:
        raise OSError(f"{MOST_WRITERS} others are writing it. Try again later")
    mode = os.fstat(held).st_mode
    if fcntl is not None:
        try:
            with removing(partial(_remove, one, held)):
                yield one, mode
        finally:
            _remove(one, held)
        return
    os.close(held)  # Windows renames no open file
    try:
        with removing(partial(os.unlink, one)):
            yield one, mode
    except BaseException:
        with suppress(OSError):
            os.unlink(one)
        raise


def _lock(name: str, flags: int) -> int | None:
    """Open and lock a file; None where another has the lock. An existing file can be had only where there are locks."""
    descriptor = os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o666)
    locked = fcntl is not None
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:  # a file system without locks
        locked = False
    if (locked or flags & os.O_EXCL) and _is_named(descriptor, name):
        return descriptor
    os.close(descriptor)
    return None


def _remove(name: str, descriptor: int | None) -> None:
    """Close a file that this process has locked, and remove it if it still has its name."""
    if descriptor is not None:
        try:
            with suppress(OSError):
                if _is_named(descriptor, name):
                    os.unlink(name)
        finally:
            os.close(descriptor)


def _is_named(descriptor: int, name: str) -> bool:
    """Whether an open file is a regular one and has this name: another process may have moved or removed it."""
    found = os.fstat(descriptor)
    try:
        return stat.S_ISREG(found.st_mode) and os.path.samestat(found, os.stat(name, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _name(path: Any) -> str:
    try:
        name = os.fsdecode(path)
    except TypeError:
        raise InvalidType(f"expected the name of a file, got {type(path).__name__}") from None
    if not name:
        raise ModelFileError("the name of the file is empty: give one, as model.adaline")
    return name


def _shown(path: Any) -> str:
    """Return the name of a file as text that can be written anywhere: names need not be UTF-8."""
    return file_name(_name(path).encode("utf-8", "backslashreplace").decode())


def _altered(path: Any) -> NoReturn:
    refuse(path, "was altered since it was saved: its checksum differs", AGAIN)


@contextmanager
def _opened(path: Any) -> Iterator[BinaryIO]:
    """Open a file for reading; whatever goes wrong in reading it has one kind of error."""
    try:
        with open(_name(path), "rb", opener=_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                refuse(path, "is no regular file", "Give the name of a model file.")
            yield file
    except ModelFileError:
        raise
    except FileNotFoundError:
        raise ModelFileError(
            f"{_shown(path)}: there is no such file; adaline.save and adaline fit -o write one"
        ) from None
    except IsADirectoryError:
        raise ModelFileError(f"{_shown(path)} is a folder: give the name of a model file") from None
    except (OSError, ValueError, MemoryError) as error:
        raise ModelFileError(f"cannot read {_shown(path)}: {getattr(error, 'strerror', None) or error}") from None


def _at_once(name: str, flags: int) -> int:
    """Open a file; a pipe that nobody writes to is not waited for."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _head(file: BinaryIO, path: Any) -> tuple[dict[str, Any], int]:
    """Return the header, checked, and the length of the file that it promises."""
    foreign = "Model files are written by adaline.save and adaline fit -o; the command line takes them before the rows."
    size = os.fstat(file.fileno()).st_size
    start = file.read(9)
    length = int.from_bytes(start[:8], "little")
    if len(start) < 9 or start[8:] != b"{" or not 2 <= length <= LONGEST_HEADER:
        refuse(path, "is not a model file" if size else "is empty", foreign)
    if size < 8 + length:
        refuse(path, f"is truncated: it has {size} bytes, and should have more than {8 + length}", AGAIN)
    try:
        outer = _json(start[8:] + file.read(length - 1))
        text = outer.pop("__metadata__", {}).get(KEY)
        if len(outer) > MOST_TENSORS:
            raise ValueError("too many tensors")
        end = 8 + length + max((int(info["data_offsets"][1]) for info in outer.values()), default=0)
    except BROKEN:
        refuse(path, "is not a model file, or its header was altered", foreign)
    if text is None:
        refuse(path, "is a safetensors file, but holds no adaline model", foreign)
    if size != end:
        what = "is truncated" if size < end else "was altered"
        refuse(path, f"{what}: it has {size} bytes, and should have {end}", AGAIN)
    try:
        head = _json(text)
        schema, version, checksum = head["schema"], str(head["adaline"])[:40], head.pop("checksum", None)
        if type(schema) is not int or schema < 1:
            raise ValueError("no schema")
        if not OLDEST <= schema <= SCHEMA:
            age, advice = ("a newer", "Upgrade: pip install --upgrade adaline-learn")
            if schema < SCHEMA:
                age, advice = ("an older", f"Refit the model, or load it with adaline {version}, which wrote it.")
            this = f"this is {__version__} (schema {SCHEMA})"
            refuse(path, f"was written by {age} adaline, {version} (schema {schema}); {this}", advice)
        if checksum != _checksum(head):
            raise ValueError("another checksum")
    except BROKEN:
        _altered(path)
    return head, end


def _json(text: Any) -> Any:
    """Parse JSON as it is defined: an object has no key twice, and there is no NaN."""
    return json.loads(text, object_pairs_hook=_once, parse_constant=_never)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _never(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _checksum(head: dict[str, Any]) -> str:
    text = json.dumps(head)
    return blake2b(text.encode(), digest_size=32).hexdigest()


def _digest(tensors: Tensors) -> str:
    digest = blake2b(digest_size=32)
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(json.dumps([name, array.dtype.name, array.shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _array(info: dict[str, Any]) -> NDArray[Any]:
    """Return a tensor as an array of its own, which can be written to."""
    array = np.frombuffer(bytearray(info["data"]), dtype=TYPES[info["dtype"]]).reshape(info["shape"])
    if array.dtype == np.bool_ and (array.view(np.uint8) > 1).any():
        raise ValueError("a truth value is neither 0 nor 1")
    return array
