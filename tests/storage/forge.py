"""Forged model files: one node of the header or one tensor altered, under checksums that are right.

    python -m tests.storage.forge [share] [seed] [every] [grafts]

forges a share (1.0 is every forgery) of the files of all systems, with `every` in every setting, and reports. With
`grafts` the forgeries are parts of one system's state inside another's file, for all pairs of systems.

A forgery must be refused by `load` with a ModelFileError, or load as a model whose every public method works or raises
an AdalineError: never another exception, a wait without end, or memory out of proportion.
"""

from __future__ import annotations

import contextlib
import copy
import json
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adaline.errors import AdalineError, ModelFileError
from adaline.storage import container, load, read_header, save
from adaline.storage.tree import CLASSES
from adaline.systems import UNSUPERVISED, LinearSystem
from tests.fuzz.targets import Random, is_sound, one_of
from tests.storage.cases import makes
from tests.storage.mutants import spots

SECONDS = 20  # for all that is done with one file: a forgery that takes longer waits without end
MEMORY = 256 << 20  # address space that one file may ask for
STATM = Path("/proc/self/statm")

VALUES: list[Any] = [
    *(None, True, 0, 1, -1, 7, 2**31, 2**70, 0.5, -1.5, 1e308, "", "x", "nan", [], {}, [1, 2], ["a"]),
    *({"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, {"tuple": []}, {"tuple": [1, 2]}, {"dict": []}),
    *({"scalar": ["float64", 2.0]}, {"same": 0}, {"Status": "DIVERGED"}),
    {"array": {"dtype": "float64", "shape": [2], "values": [1.0, 2.0]}},
    {"array": {"dtype": "object", "shape": [1], "values": [None]}},
    {"array": {"dtype": "<U1000000", "shape": [1], "values": ["a"]}},
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
    "one nan": lambda a: _with(a, np.nan),
    "one inf": lambda a: _with(a, np.inf),
    "huge": lambda a: np.full(a.shape, 1e308),
    "one huge": lambda a: _with(a, 1e308),
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


class Original(NamedTuple):
    """A file that is right: its header without the digest, its tensors, and rows for its model."""

    name: str
    head: dict[str, Any]
    tensors: dict[str, Any]
    rows: tuple[Any, Any]


class Forgery(NamedTuple):
    """A file that is wrong: what was done to it, its header and its tensors."""

    what: str
    head: dict[str, Any]
    tensors: dict[str, Any]


def originals(every: bool = False) -> dict[str, Callable[[], Original]]:
    """Return functions that make, once each, the files of all systems as they come, on numbers and on a table, by name.

    With `every` in every setting too.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 4)) + np.arange(4)
    t = X @ [1.0, -1.0, 0.5, 2.0] + rng.normal(size=24)
    out: dict[str, Callable[[], Original]] = {}
    for name, make in {**makes(), **{f"{name}()": cls for name, cls in UNSUPERVISED.items()}}.items():
        if every or name.endswith("()"):
            model = make()
            y = np.digitize(t, np.quantile(t, [0.3, 0.6])) if hasattr(model, "decision_function") else t
            out[name] = cache(partial(_original, name, make, X, y))
            if not hasattr(model, "taps") and not getattr(model, "init", None) and name[:-2] not in UNSUPERVISED:
                out[f"{name} table"] = cache(partial(_original, f"{name} table", make, _table(X), y))
    return out


def forgeries(original: Original) -> Iterator[tuple[str, Callable[[], Forgery]]]:
    """Give every forgery of a file: its name, and a function that makes it."""
    words = sorted({value for inside, key in spots(original.head) if isinstance(value := inside[key], str)})
    for place in _places(original.head):
        inside, key = _at(original.head, place)
        value = inside[key]
        path = "/".join(map(str, place))
        for new in (*VALUES, *(words if isinstance(value, str) else ())):
            yield f"{path} = {str(new)[:50]}", lambda place=place, new=new: _set(original, place, new)
        yield f"{path} deleted", lambda place=place: _change(original, place, lambda tree, at: tree.pop(at))
        if isinstance(inside, dict):
            for name in ("x", "predict", "_native", "coef_"):
                more = lambda inside, key, name=name: inside.update({name: inside[key]})  # noqa: E731
                yield f"{path} and {name}", lambda place=place, more=more: _change(original, place, more)
            if key in CLASSES:
                for name in sorted(CLASSES):
                    renamed = lambda inside, key, name=name: inside.update({name: inside.pop(key)})  # noqa: E731
                    yield f"{path} is {name}", lambda place=place, renamed=renamed: _change(original, place, renamed)
    for name in original.tensors:
        for what, change in ARRAYS.items():
            yield f"{name} {what}", lambda name=name, change=change: _retype(original, name, change)


def without_each(original: Original) -> Iterator[Forgery]:
    """Give a file without each attribute of its systems in turn, and without the tensors of that."""
    for place in _places(original.head):
        if place[-2:-1] == ("state",):
            what, head, tensors = _change(original, place, lambda tree, at: tree.pop(at))
            text = json.dumps(head["state"])
            yield Forgery(what, head, {name: array for name, array in tensors.items() if f'"{name}"' in text})


def grafts(host: Original, donor: Original) -> Iterator[tuple[str, Callable[[], Forgery]]]:
    """Give every file of one system with a part of another's state inside, tensors included.

    An attribute of the donor is added to the host's state or replaces the one of that name; its state as a whole
    replaces the host's, with and without its parameters; and an object of the donor replaces each object of the same
    family in the host.
    """
    there = f"{donor.name}: "
    moved = {there + name: array for name, array in donor.tensors.items()}
    parameters, state = (_renamed(donor.head[part], there) for part in ("parameters", "state"))

    def forged(what: str, change: Callable[[dict[str, Any]], None]) -> Forgery:
        head = copy.deepcopy(host.head)
        change(head)
        text = json.dumps(head["state"])
        tensors = {name: array for name, array in {**host.tensors, **moved}.items() if json.dumps(name) in text}
        return Forgery(what, head, tensors)

    for name, tree in state.items():
        what = f"{name} of {donor.name} in {host.name}"
        yield what, lambda what=what, name=name, tree=tree: forged(what, lambda h: h["state"].update({name: tree}))
    for what, parts in (("state", {"state": state}), ("all", {"state": state, "parameters": parameters})):
        yield what, lambda what=what, parts=parts: forged(f"{what} of {donor.name}", lambda head: head.update(parts))
    objects = {key: (inside, key) for inside, key in spots(state) if key in CLASSES}
    for place in _places(host.head["state"], ("state",)):
        for key, (inside, _) in objects.items() if place[-1] in CLASSES else ():
            what = f"{'/'.join(map(str, place))} is {key} of {donor.name}"

            def swap(
                head: dict[str, Any], place: tuple[Any, ...] = place, key: str = key, inside: Any = inside
            ) -> None:
                tree, at = _at(head, place)
                del tree[at]
                tree[key] = inside[key]

            yield what, lambda what=what, swap=swap: forged(what, swap)


def _renamed(tree: Any, before: str) -> Any:
    """Return a tree whose tensors have a name with something before it."""
    if isinstance(tree, list):
        return [_renamed(one, before) for one in tree]
    if not isinstance(tree, dict):
        return tree
    out = {}
    for key, value in tree.items():
        if key in ("tensor", "json") and len(tree) == 1:
            named = isinstance(value, str)
            out[key] = before + value if named else {**value, "name": before + value["name"]}
        else:
            out[key] = _renamed(value, before)
    return out


def altered(rng: Random, file: Original | Forgery) -> Forgery:
    """Return a file with one stored value altered at random: its type, shape, range, name or place, or deleted."""
    if file.tensors and rng.random() < 0.5:
        name = one_of(rng, file.tensors)
        match int(rng.integers(4)):
            case 0:
                return _retype(file, name, ARRAYS[one_of(rng, ARRAYS)])
            case 1:
                other = one_of(rng, file.tensors)
                both = {name: file.tensors[other], other: file.tensors[name]}
                return Forgery(f"{name} and {other} swapped", file.head, {**file.tensors, **both})
        return _retype(file, name, lambda array: _one_number(rng, array))
    within = rng.random() < 0.8 and isinstance(state := file.head.get("state"), dict) and bool(state)
    tree, start = (file.head["state"], ("state",)) if within else (file.head, ())
    place, other = one_of(rng, places := list(_places(tree, start))), one_of(rng, places)
    inside, key = _at(file.head, place)
    value = inside[key]
    match int(rng.integers(6)):
        case 0:
            return _change(file, place, lambda tree, at: tree.pop(at))
        case 1 if place[: len(other)] != other and other[: len(place)] != place:
            there, where = _at(file.head, other)
            return _set(_set(file, place, there[where]), other, value)
        case 2 if isinstance(inside, dict):
            new = one_of(rng, [*CLASSES, *(p[-1] for p in places if isinstance(p[-1], str))])
            return _change(file, place, lambda tree, at: tree.update({new: tree.pop(at)}))
        case 3:
            return _set(file, place, one_of(rng, ([value], {"tuple": [value]}, {"dict": [["a", value]]}, {"a": value})))
        case 4:
            return _set(file, place, one_of(rng, VALUES))
    return _set(file, place, _near(rng, value, file.head))


def failures(original: Original, forged: Forgery, path: Path) -> list[str]:
    """Return what went wrong with a forgery: nothing where it is refused, or loads and works."""
    try:
        return misused(original, forged, path)
    except ModelFileError:
        return []


def misused(original: Original, forged: Forgery, path: Path) -> list[str]:
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
        for name, use in uses(*original.rows, path).items():
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
    out = {
        name: call(name, X)
        for name in ("predict", "decision_function", "predict_proba", "predict_log_proba", "transform", "mahalanobis")
    }
    out |= {name: call(name, X, y) for name in ("score", "partial_fit", "influence", "filter")}
    out |= {
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
        "attributes": lambda model: [getattr(model, name) for name in dir(model) if not name.startswith("__")],
        "repr": lambda model: repr(model) + str(model.certificate_),
        "save": lambda model: (save(model, path), load(path)),
    }
    return out


def sample(
    share: float, seed: int, every: bool = False, grafted: bool = False
) -> Iterator[tuple[Original, str, Callable[[], Forgery]]]:
    """Give a share of all forgeries, or of all grafts, drawn at random."""
    rng = np.random.default_rng(seed)
    files = originals(every)
    for kept in files.values():
        original = kept()
        donors = [donor() for donor in files.values() if donor is not kept]
        found = chain(*(grafts(original, donor) for donor in donors)) if grafted else forgeries(original)
        for name, make in found:
            if rng.random() < share:
                yield original, name, make


def _table(X: Any) -> Any:
    import pandas as pd

    return pd.DataFrame({"a": X[:, 0], "kind": np.array(["x", "y", "z"])[np.arange(len(X)) % 3], "b": X[:, 1]})


def _original(name: str, make: Callable[[], Any], X: Any, y: Any) -> Original:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        save(make().fit(X, y), Path(folder) / "model")
        head, tensors = container.read(Path(folder) / "model")
    head = {key: value for key, value in head.items() if key != "data"}
    return Original(name, head, dict(sorted(tensors.items())), (X, y))


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


def _change(original: Original | Forgery, place: tuple[Any, ...], change: Callable[[Any, Any], Any]) -> Forgery:
    head = copy.deepcopy(original.head)
    change(*_at(head, place))
    return Forgery("/".join(map(str, place)), head, original.tensors)


def _set(original: Original | Forgery, place: tuple[Any, ...], value: Any) -> Forgery:
    return _change(original, place, lambda inside, key: inside.__setitem__(key, copy.deepcopy(value)))


def _retype(original: Original | Forgery, name: str, change: Callable[[Any], Any]) -> Forgery:
    with np.errstate(all="ignore"):
        return Forgery(name, original.head, {**original.tensors, name: np.asarray(change(original.tensors[name]))})


def _with(array: Any, value: float) -> Any:
    out = np.array(array, dtype=np.float64)
    out.ravel()[-1:] = value
    return out


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


def _near(rng: Random, value: Any, head: Any) -> Any:
    """Return a value of the type of another: a number of another range, another word; VALUES for what has none."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return one_of(rng, (value + 1, value - 1, -value, 2 * value, 0, 1, 2, 2**31, 2**53, 2**63, 2**70))
    if isinstance(value, float):
        new = float(one_of(rng, NUMBERS))
        return one_of(rng, (new, -value, {"float": "nan"}, {"float": "inf"}))
    if isinstance(value, str):
        return one_of(rng, [inside[key] for inside, key in spots(head) if isinstance(inside[key], str)])
    if isinstance(value, list) and value:
        return one_of(rng, (value[:-1], [*value, value[-1]], value[::-1], []))
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


def main() -> None:
    """Forge a share of all files, and report."""
    share, seed = (float(sys.argv[1]) if len(sys.argv) > 1 else 1.0), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    tried, failed, kinds = Counter[str](), Counter[str](), dict[str, str]()
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for original, name, make in sample(share, seed, "every" in sys.argv, "grafts" in sys.argv):
            found = failures(original, make(), Path(folder) / "model")
            tried[original.name] += 1
            failed[original.name] += bool(found)
            for one in found:
                counts[one] += 1
                kinds.setdefault(one, f"{original.name} {name}")
    for one, times in counts.most_common():
        print(f"{times:6} {one}   [{kinds[one]}]")
    for system, times in tried.items():
        print(f"{system}: {failed[system]} of {times} failed")
    print(f"{sum(failed.values())} of {sum(tried.values())} forgeries failed")
    sys.exit(bool(sum(failed.values())))


if __name__ == "__main__":
    main()
