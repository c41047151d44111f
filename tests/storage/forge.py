"""Forged model files: one node of the header or one tensor altered, under checksums that are right.

A forgery must be refused by `load` with a ModelFileError, or load as a model whose every public method works or raises
an AdalineError: never another exception, a wait without end, or memory out of proportion.
"""

from __future__ import annotations

import contextlib
import copy
import json
import resource
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial, reduce
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adaline.errors import AdalineError, ModelFileError
from adaline.storage import container, load, read_header, save
from adaline.storage.fields import CLASSES
from adaline.systems import LinearSystem
from tests.cases import CASES, Given
from tests.fuzz.targets import Random, is_sound, one_of

SECONDS = 20  # for all that is done with one file: a forgery that takes longer waits without end
MEMORY = 256 << 20  # address space that one file may ask for
STATM = Path("/proc/self/statm")

VALUES: list[Any] = [
    *(None, True, 0, 1, -1, 7, 2**31, 2**70, 0.5, -1.5, 1e308, "", "x", "nan", "os.system", [], {}, [1, 2], ["a"]),
    *({"float": "nan"}, {"float": "inf"}, {"float": "1e5"}, {"tuple": []}, {"tuple": [1, 2]}, {"dict": []}),
    *({"dict": 3}, {"dict": [[[1], 2]]}, {"scalar": ["float64", 2.0]}, {"scalar": ["float64", "x"]}),
    *({"scalar": ["object", 1]}, {"same": 0}, {"same": 10**6}, {"Status": "DIVERGED"}, {"Status": "DROP"}),
    *({"tensor": "coef"}, {"tensor": "nothing"}, {"tensor": {"name": "coef", "axes": [2, 2], "gaps": False}}),
    {"array": {"dtype": "float64", "shape": [2], "values": [1.0, 2.0]}},
    {"array": {"dtype": "float64", "shape": [2], "values": [1.0, "a"]}},
    {"array": {"dtype": "object", "shape": [1], "values": [None]}},
    {"array": {"dtype": "object", "shape": [10**9, 10**9], "values": []}},
    {"array": {"dtype": "datetime64[evil]", "shape": [1], "values": [1]}},
    {"array": {"dtype": "<U1000000", "shape": [1], "values": ["a"]}},
    {"Moments": {"shape": {"Shape": {"features": 2, "targets": 1}}, "buffer": {"tensor": "coef"}}},
    *({"Moments": {}}, {"ClassMoments": {"parts": []}}, {"os.system": "true"}, {"__reduce__": ["os.system", ["true"]]}),
]
"""What a node is replaced by."""

ARRAYS: dict[str, Callable[[Any], Any]] = {
    "float32": lambda a: np.nan_to_num(np.clip(a, -9, 9)).astype(np.float32),
    "int8": lambda a: np.nan_to_num(np.clip(a, -9, 9)).astype(np.int8),
    "bool": lambda a: a != 0,
    "shorter": lambda a: a.ravel()[:-1].copy(),
    "one row less": lambda a: a[:-1].copy() if a.ndim else a,
    "one row more": lambda a: np.concatenate([a, a[-1:]]) if a.ndim and len(a) else a[None],
    "transposed": lambda a: np.ascontiguousarray(a.T),
    "one axis more": lambda a: a[None],
    "one number": lambda a: a.ravel()[:1].reshape(()).copy() if a.size else np.zeros(()),
    "empty": lambda a: np.zeros((0,) * max(a.ndim, 1), a.dtype),
    "nan": lambda a: np.full(a.shape, np.nan),
    "huge": lambda a: np.full(a.shape, 1e308),
    "negative": lambda a: -np.abs(np.asarray(a, dtype=np.float64)) - 1,
    "zero": lambda a: np.zeros_like(a),
    "half": lambda a: np.asarray(a, dtype=np.float64) + 0.5,
    "tiny": lambda a: np.full(a.shape, 5e-324),
    "large index": lambda a: np.full(a.shape, 10**12),
}
"""What a tensor is replaced by."""

NUMBERS: tuple[float, ...] = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 5e-324, 1e-200, 1e200, 1e308, 2.0**53, 2200.0, 1e-9)
"""What a number is replaced by, or multiplied with."""

FINITE = ("predict", "decision_function", "predict_proba", "transform")
"""What gives finite numbers of a file that loads, or an error; of single rows nothing is checked."""


class Forgery(NamedTuple):
    """A file: its name or what was done to it, its header without the digest, its tensors, and rows for its model."""

    name: str
    head: dict[str, Any]
    tensors: dict[str, Any]
    rows: tuple[Any, Any] = (None, None)

    @property
    def places(self) -> list[tuple[Any, ...]]:
        """The path of every node of its header."""
        return list(_places(self.head))


def original(name: str, make: Callable[[], Any], X: Any, y: Any) -> Forgery:
    """Return the file of a model that is fitted to rows."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        save(make().fit(X, y), Path(folder) / "model")
        head, tensors = container.read(Path(folder) / "model")
    head = {key: value for key, value in head.items() if key != "data"}
    return Forgery(name, head, dict(sorted(tensors.items())), (X, y))


def originals(every: bool = False) -> dict[str, Callable[[], Forgery]]:
    """Return functions that make, once each, the files of all systems as they come, on numbers and on a table, by name.

    With `every` in every setting too.
    """
    out: dict[str, Callable[[], Forgery]] = {}
    for case in (case for case in CASES.values() if case.keeps("model files")):
        first = f"{case.system.__name__}()" not in out
        if not (first or every):
            continue
        given = case.rows(n=24)
        rows = given if case.targets != "none" else Given(given.X, given.X[:, 0])
        name = f"{case.system.__name__}()" if first else case.name
        out[name] = cache(partial(original, name, case.make, *rows.arguments))
        if not hasattr(case.make(), "taps") and case.targets != "none":
            out[f"{name} table"] = cache(partial(original, f"{name} table", case.make, _table(rows.X), rows.y))
    return out


def _table(X: Any) -> Any:
    import pandas as pd

    return pd.DataFrame({"a": X[:, 0], "kind": np.array(["x", "y", "z"])[np.arange(len(X)) % 3], "b": X[:, 1]})


def altered(rng: Random, file: Forgery) -> Forgery:
    """Return a file with one stored value altered at random: its type, shape, range, name or place, or deleted."""
    if file.tensors and rng.random() < 0.5:
        name, other = one_of(rng, file.tensors), one_of(rng, file.tensors)
        match int(rng.integers(4)):
            case 0:
                change = ARRAYS[one_of(rng, ARRAYS)]
            case 1:
                swapped = {name: file.tensors[other], other: file.tensors[name]}
                return file._replace(name=f"{name} and {other} swapped", tensors={**file.tensors, **swapped})
            case _:
                change = partial(_one_number, rng)
        with np.errstate(all="ignore"):
            changed = {**file.tensors, name: np.asarray(change(file.tensors[name]))}
        return file._replace(name=f"{name} changed", tensors=changed)
    within = rng.random() < 0.8
    places = [place for place in file.places if place[0] == "state" and len(place) > 1] if within else []
    places = places or file.places
    place, other = one_of(rng, places), one_of(rng, places)
    inside, key = _at(file.head, place)
    value = inside[key]
    match int(rng.integers(7)):
        case 0:
            return _change(file, place, lambda tree, at: tree.pop(at))
        case 1 if place[: len(other)] != other and other[: len(place)] != place:
            there, where = _at(file.head, other)
            return _set(_set(file, place, there[where]), other, value)
        case 2 | 3 as kept if isinstance(inside, dict):
            new = one_of(
                rng, [*CLASSES, *["x", "predict", "__class__", "_native"], *(str(place[-1]) for place in places)]
            )
            return _change(file, place, lambda tree, at: tree.update({new: tree[at] if kept == 3 else tree.pop(at)}))
        case 4:
            return _set(file, place, one_of(rng, ([value], {"tuple": [value]}, {"dict": [["a", value]]}, {"a": value})))
        case 5:
            return _set(file, place, one_of(rng, VALUES))
    return _set(file, place, _near(rng, value, file))


def without_each(file: Forgery) -> Iterator[Forgery]:
    """Give a file without each attribute of its systems in turn, and without the tensors of that."""
    for place in file.places:
        if place[-2:-1] == ("state",):
            yield with_used_tensors(_change(file, place, lambda tree, at: tree.pop(at)))


def grafted(host: Forgery, donor: Forgery, part: str) -> Forgery:
    """Return a file with an attribute of another system's state, tensors included, or with the whole of its state."""
    state = donor.head["state"] if part == "state" else {**host.head["state"], part: donor.head["state"][part]}
    own = {name: array for name, array in host.tensors.items() if name.partition(".")[0] != part and part != "state"}
    more = {name: array for name, array in donor.tensors.items() if part == "state" or name.partition(".")[0] == part}
    return with_used_tensors(host._replace(name=part, head={**host.head, "state": state}, tensors={**own, **more}))


def with_used_tensors(file: Forgery) -> Forgery:
    """Return a file without the tensors that its state does not name."""
    text = json.dumps(file.head["state"])
    return file._replace(tensors={name: array for name, array in file.tensors.items() if json.dumps(name) in text})


def with_changes(file: Forgery, changes: dict[str, Any]) -> Forgery:
    """Return a file with tensors replaced, by name, or nodes of its state, by path; functions get what was there."""
    head, tensors = copy.deepcopy(file.head), dict(file.tensors)
    for path, new in changes.items():
        if path in tensors:
            tensors[path] = np.array(new(tensors[path].copy()) if callable(new) else new, order="C")
        else:
            *before, last = [int(key) if key.isdigit() else key for key in path.split("/")]
            inside = reduce(getitem, before, head["state"])
            inside[last] = new(inside[last]) if callable(new) else new
    return with_used_tensors(file._replace(head=head, tensors=tensors))


def at(place: int, value: float) -> Callable[[Any], Any]:
    """Return a function that replaces one number of an array."""

    def change(array: Any) -> Any:
        array.flat[place] = value
        return array

    return change


def failures(file: Forgery, forged: Forgery, path: Path) -> list[str]:
    """Return what went wrong with a forgery: nothing where it is refused, or loads and works."""
    try:
        return misused(file, forged, path)
    except ModelFileError:
        return []


def misused(file: Forgery, forged: Forgery, path: Path) -> list[str]:
    """Return what went wrong with a forgery that loads; raise a ModelFileError where it is refused."""
    head = {key: value for key, value in forged.head.items() if key not in ("data", "checksum")}
    try:
        container.write(path, head, forged.tensors)
    except (AdalineError, TypeError, ValueError) as error:
        raise ModelFileError(f"it cannot be written: {error}") from None
    found: list[str] = []
    with _bounded(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with contextlib.suppress(ModelFileError):
                read_header(path)
            model = load(path)
        except ModelFileError:
            raise
        except Exception as error:
            return [_said("load", error)]
        for name, use in uses(*file.rows, path).items():
            try:
                out = use(copy.deepcopy(model))
            except AdalineError:
                continue
            except Exception as error:
                found.append(_said(name, error))
            else:
                if name in FINITE and not is_sound(model, out):
                    found.append(f"{name}: not finite")
    return found


def uses(X: Any, y: Any, path: Path) -> dict[str, Callable[[Any], Any]]:
    """Return all that can be done with a model, by name."""

    def call(name: str, *args: Any, **named: Any) -> Callable[[Any], Any]:
        return lambda model: getattr(model, name)(*args, **named) if hasattr(model, name) else None

    row = X.iloc[0].to_dict() if hasattr(X, "iloc") else X[0]
    return {
        **{name: call(name, X) for name in (*FINITE, "predict_log_proba", "mahalanobis")},
        **{name: call(name, X, y) for name in ("score", "partial_fit", "influence", "filter")},
        "forget": call("forget", X[:3], y[:3]),
        "learn_one": call("learn_one", row, y[0]),
        "predict_one": call("predict_one", row),
        "summary": lambda model: hasattr(model, "summary") and str(model.summary()) and model.summary().to_dict(),
        "robust": lambda m: m.summary(errors="HC3", X=X, y=y) if isinstance(m, LinearSystem) else None,
        "interval": lambda m: m.predict(X, interval="prediction") if isinstance(m, LinearSystem) else None,
        "inflation": call("variance_inflation"),
        "names": call("get_feature_names_out"),
        "merge": lambda model: model.merge(copy.deepcopy(model)) if hasattr(model, "merge") else None,
        "merge with a fresh one": lambda model: _fresh(model, X, y).merge(model) if hasattr(model, "merge") else None,
        "attributes": lambda model: [getattr(model, name, None) for name in dir(model) if not name.startswith("__")],
        "repr": lambda model: repr(model) + str(model.certificate_),
        "save": lambda model: (save(model, path), load(path)),
    }


def _fresh(model: Any, X: Any, y: Any) -> Any:
    return type(model)(**model.get_params(deep=False)).fit(X, y)


def _places(tree: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, value in list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)):
        if isinstance(tree, list) and key > 3:
            return  # later items are like the first
        yield (*before, key)
        if isinstance(value, dict | list):
            yield from _places(value, (*before, key))


def _at(tree: Any, place: tuple[Any, ...]) -> tuple[Any, Any]:
    for key in place[:-1]:
        tree = tree[key]
    return tree, place[-1]


def _change(file: Forgery, place: tuple[Any, ...], change: Callable[[Any, Any], Any]) -> Forgery:
    head = copy.deepcopy(file.head)
    change(*_at(head, place))
    return file._replace(name="/".join(map(str, place)), head=head)


def _set(file: Forgery, place: tuple[Any, ...], value: Any) -> Forgery:
    return _change(file, place, lambda inside, key: inside.__setitem__(key, copy.deepcopy(value)))


def _one_number(rng: Random, array: Any) -> Any:
    """Return an array with one of its numbers replaced or multiplied; one without numbers as it is."""
    out = array.copy()
    if out.size:
        at = int(rng.integers(out.size))
        new = float(one_of(rng, (*NUMBERS, np.nan, np.inf, -np.inf)))
        if rng.random() < 0.5:
            new *= float(out.flat[at])
        out.flat[at] = new if out.dtype.kind == "f" else int(np.clip(np.nan_to_num(new), 0, 100))
    return out


def _near(rng: Random, value: Any, file: Forgery) -> Any:
    """Return a value of the type of another: a number of another range, another word; VALUES for what has none."""
    match value:
        case bool():
            return not value
        case int():
            return one_of(rng, (value + 1, value - 1, -value, 2 * value, 0, 1, 2, 2**31, 2**53, 2**63, 2**70))
        case float():
            return one_of(rng, (float(one_of(rng, NUMBERS)), -value, {"float": "nan"}, {"float": "inf"}))
        case str():
            values = (inside[key] for inside, key in (_at(file.head, place) for place in file.places))
            return one_of(rng, [one for one in values if isinstance(one, str)])
        case [*_, last]:
            return one_of(rng, (value[:-1], [*value, last], value[::-1], []))
    return one_of(rng, VALUES)


def _said(where: str, error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{where}: {type(error).__name__} {str(error)[:90]} ({Path(frame.filename).name}:{frame.lineno})"


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    """Bound time and memory."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {SECONDS} seconds")

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, late)
    if STATM.exists():  # elsewhere memory is not bounded
        used = int(STATM.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
