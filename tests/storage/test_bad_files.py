"""Files that are not what they should be: each ends in one clear error, and none in code being run."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import reduce
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as serialized

from adaline.basis import BASES, Custom, Polynomial
from adaline.errors import AdalineError, InvalidType, ModelFileError
from adaline.storage import container, load, read_header, save
from adaline.storage.container import KEY, SCHEMA
from adaline.storage.fields import CLASSES, KNOWN, REQUIRED, fields_of, state_class
from adaline.systems import SYSTEMS, UNSUPERVISED, GaussianClassifier, OneVsRest, Ridge
from adaline.wording import visible
from tests.fuzz.targets import flipped
from tests.storage.forge import altered, originals

FORBIDDEN = {"import", "exec", "compile", "pickle.find_class", "os.system", "os.exec", "subprocess.Popen"}
FORBIDDEN |= {"marshal.loads"}
ALTERED = 12  # files of each system

X = np.random.default_rng(0).normal(size=(40, 3)) + 5
Y = X @ [1.0, -2.0, 0.5] + np.random.default_rng(1).normal(size=40)
ON, SEEN = [False], list[str]()


def hear(event: str, args: Any) -> None:
    """Note what Python does while it is watched."""
    if ON[0] and event in FORBIDDEN:
        SEEN.append(f"{event} {args[:1]}")


@pytest.fixture(scope="module")
def ear() -> None:
    sys.addaudithook(hear)  # which cannot be removed
    repr(OneVsRest(GaussianClassifier()))  # scikit-learn imports what prints estimators when it first needs it


@pytest.fixture
def watch(ear: None) -> Iterator[None]:
    SEEN.clear()
    ON[0] = True
    yield
    ON[0] = False
    assert SEEN == []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save(Ridge(penalty=0.5, basis=Polynomial(degree=2)).fit(X, Y), tmp_path / "model")
    load(tmp_path / "model")
    return tmp_path / "model"


def resealed(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Write a file with a header that is changed, and checksums that are right."""
    head, tensors = container.read(path)
    del head["data"]
    container.write(path, {**head, **change(head)}, tensors)


def refused(path: Any, match: str, reads: tuple[Any, ...] = (load, read_header)) -> None:
    for read in reads:
        with pytest.raises(ModelFileError, match=match) as caught:
            read(path)
        assert isinstance(caught.value, OSError)
        assert isinstance(caught.value, AdalineError)
        assert visible(str(path)) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert caught.value.__cause__ is None


class Evil:
    def __reduce__(self) -> Any:
        return os.system, ("touch harm",)


def parts(content: bytes) -> tuple[bytes, bytes]:
    """Return the header and the data of a file."""
    length = int.from_bytes(content[:8], "little")
    return content[8 : 8 + length], content[8 + length :]


def framed(header: bytes, data: bytes = b"") -> bytes:
    """Return a header with its length before it, and data after it."""
    return len(header).to_bytes(8, "little") + header + data


def nested(depth: int) -> bytes:
    """Return a file whose header is a deep nest of lists."""
    return framed(json.dumps({"__metadata__": {KEY: "[" * depth + "]" * depth}}).encode())


def said_twice(content: bytes) -> bytes:
    """Return a file whose header names its system twice."""
    header, data = parts(content)
    text = json.loads(header)["__metadata__"][KEY]
    twice = text.replace('"system": "Ridge"', '"system": "Ridge", "system": "Ridge"')
    return framed(header.replace(json.dumps(text).encode(), json.dumps(twice).encode()), data)


def two_headers(content: bytes) -> bytes:
    """Return a file with two headers in one."""
    header, data = parts(content)
    return framed(
        header.replace(b'{"__metadata__":', b'{"__metadata__":{"adaline":"{}"},"__metadata__":'),
        data,
    )


FOREIGN, ALTERED_SINCE, ONES = "is not a model file", "was altered since it was saved", {"weight": np.ones(3)}
BYTES: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("is empty", lambda _: b""),
    (FOREIGN, lambda _: pickle.dumps(Evil())),
    *((FOREIGN, lambda _, text=text: text) for text in (b"PK\x03\x04" + bytes(100), b"{}", b"a,b\n1,2\n3,4\n")),
    *((FOREIGN, lambda _, text=text: text) for text in (bytes(64), b"\x80\x05" * 60)),
    *(
        ("safetensors file, but holds no adaline model", lambda _, meta=meta: serialized(ONES, metadata=meta))
        for meta in (None, {"format": "pt"})
    ),
    ("was altered", lambda _: serialized(ONES, metadata={KEY: "hello"})),
    ("is truncated: it has", lambda content: content[:-1]),
    ("is truncated: it has", lambda content: content[: len(content) // 2]),
    ("is truncated: it has", lambda content: content[:100]),
    ("was altered: it has", lambda content: content + b"more"),
    (ALTERED_SINCE, lambda content: content.replace(b'penalty\\": 0.5', b'penalty\\": 0.6')),
    (ALTERED_SINCE, lambda content: content.replace(b'\\"schema\\": %d,' % SCHEMA, b'\\"schema\\": 0,')),
    *(("was altered", lambda _, depth=depth: nested(depth)) for depth in (10, 1000, 100_000)),
    *(
        ("is not a model file|is truncated", lambda content, n=n: n.to_bytes(8, "little") + content[8:])
        for n in (0, 1, 2**31, 2**63, 2**64 - 1, 10**9, 100_000_001, 99_999_999)
    ),
    ("was altered", said_twice),
    ("header was altered", two_headers),
]


@pytest.mark.every
@pytest.mark.parametrize(("message", "change"), BYTES, ids=lambda one: one if isinstance(one, str) else "")
def test_bytes_that_are_no_model(
    message: str, change: Any, path: Path, watch: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    path.write_bytes(change(path.read_bytes()))
    refused(path, message)
    assert not (path.parent / "harm").exists()


def test_names_without_a_file(path: Path, tmp_path: Path) -> None:
    refused(tmp_path / "none", "there is no such file")
    refused(tmp_path, "is a folder")
    if sys.platform != "win32":
        refused(tmp_path / "a\0b", "cannot read")
    path.chmod(0)
    if os.geteuid():  # root reads everything
        refused(path, "Permission denied")


def test_an_altered_number(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-4] ^= 1
    path.write_bytes(content)
    refused(path, ALTERED_SINCE, (load,))
    assert read_header(path)["system"] == "Ridge"  # the data are not read


def test_what_does_no_harm(path: Path) -> None:
    """Another version of the same schema, an argument that was added later, and whitespace."""
    expected = load(path)
    for version in ("0.1.0", "7.0.0"):
        resealed(path, lambda _, version=version: {"adaline": version})
        assert read_header(path)["adaline"] == version
    resealed(path, lambda head: {"parameters": {k: v for k, v in head["parameters"].items() if k != "criterion"}})
    header, data = parts(path.read_bytes())
    path.write_bytes(framed(header + b" " * 8, data))
    np.testing.assert_array_equal(load(path).predict(X), expected.predict(X))
    assert repr(load(path)) == repr(expected)


def test_another_layout_has_another_number() -> None:
    """If this fails, the layout of model files was changed. Where a release has written this schema, add one to SCHEMA
    and read the files of before in `storage/old_schemas.py`; set the checksum to that found. Fields with a default
    change nothing here.
    """
    learners = {cls.__name__: state_class(cls) for cls in (*KNOWN.values(), *BASES.values())}
    layout = sorted(
        (owner, name)
        for owner, cls in {**CLASSES, **learners}.items()
        for name, field in (fields_of(cls).items() if cls else ())
        if field.kept and field.default is REQUIRED
    )
    assert (SCHEMA, blake2b(repr(layout).encode(), digest_size=4).hexdigest()) == (7, "8c696727")


NEWER = r"written by a newer adaline, 7.0.0 \(schema 99\).* Upgrade"
OLDER = r"written by an older adaline, 0.0.9 \(schema 1\).* Refit the model, or load it with adaline 0.0.9"
UNKNOWN = ("LogisticTomorrow", "os.system", "builtins.eval", "adaline.systems.Ridge", "__import__('os')", 3, ["Ridge"])
DEEP = reduce(lambda tree, _: {"tuple": [tree]}, range(400), 1)


def in_state(name: str, change: Any) -> Callable[[Any], Any]:
    """Return a change of one attribute, to a value or by a function of what was there."""

    def changed(head: dict[str, Any]) -> dict[str, Any]:
        new = change(head["state"][name]) if callable(change) else change
        return {"state": {**head["state"], name: new}}

    return changed


def in_columns(**changes: Any) -> Callable[[Any], Any]:
    """Return a change of parts of the record of columns."""

    def changed(tree: dict[str, Any]) -> dict[str, Any]:
        old = tree["InputColumns"]
        new = {name: change(old[name]) if callable(change) else change for name, change in changes.items()}
        return {"InputColumns": {**old, **new}}

    return in_state("columns", changed)


def basis_with(**changes: Any) -> Callable[[Any], Any]:
    """Return a change of the basis."""
    return in_columns(basis=lambda tree: {"basis": {**tree["basis"], **changes}})


MOMENTS = {"shape": {"Shape": {"features": 3, "targets": 1}}, "buffer": {"tensor": "coef"}}
FIT = "does not describe a fitted Ridge"
FIELDS_CHANGED: list[tuple[str, Callable[[Any], Any]]] = [
    (NEWER, lambda _: {"schema": 99, "adaline": "7.0.0", "news": "?"}),
    (OLDER, lambda _: {"schema": 1, "adaline": "0.0.9", "state": {"gone": 1}}),
    *(("a system that adaline .* does not know", lambda _, name=name: {"system": name}) for name in UNKNOWN),
    ("other fields", lambda _: {"extra": 1}),
    *(
        (FIT, lambda head, name=name: {"state": {**head["state"], name: 1}})
        for name in ("predict", "__class__", "fit", "not a name", "_solve")
    ),
    *((FIT, lambda _, state=state: {"state": state}) for state in ({}, [], {"deep": DEEP})),
    (FIT, in_state("sums", {"Moments": {**MOMENTS, "shape": {"tuple": [3, 1]}}})),
    (FIT, in_state("sums", {"Moments": MOMENTS})),
    (FIT, in_state("sums", lambda tree: {"Moments": {**tree["Moments"], "evil": 1}})),
    (FIT, in_state("sums", {"Evil": {}})),
    (FIT, in_state("coef", {"tensor": "none"})),
    (FIT, lambda head: {"parameters": {**head["parameters"], "evil": 1}}),
    (FIT, lambda _: {"parameters": 3}),
    (FIT, basis_with(name="Custom", parameters={"function": "print"})),
    *((FIT, basis_with(**changes)) for changes in ({"name": "print"}, {"name": "Ridge"}, {"state": {"of": 1}})),
    (FIT, basis_with(parameters={"evil": 1})),
    *(
        (FIT, in_columns(basis=tree))
        for tree in (3, {"basis": {"name": "Polynomial"}}, {"system": {"name": "Ridge", "parameters": {}, "state": {}}})
    ),
    (FIT, lambda head: {"state": {**head["state"], "columns": head["state"]["certificate"]}}),
]


@pytest.mark.every
@pytest.mark.parametrize(("message", "change"), FIELDS_CHANGED)
def test_fields_that_are_no_model(message: str, change: Any, path: Path, watch: None) -> None:
    resealed(path, change)
    refused(path, message, (load,) if message == FIT else (load, read_header))


def test_functions_of_the_users_own_are_not_stored(tmp_path: Path) -> None:
    for basis in (Custom(np.square), Polynomial(degree=2) + Custom(np.square)):
        with pytest.raises(InvalidType, match=r"cannot store .*basis\.Custom holds a function of yours, which is code"):
            save(Ridge(basis=basis).fit(X, Y), tmp_path / "model")
    assert not (tmp_path / "model").exists()


FILES = {name: make for name, make in originals().items() if name.endswith("()")}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", FILES)
def test_altered_files_are_refused_or_systems_and_run_nothing(name: str, tmp_path: Path, watch: None) -> None:
    """With bytes altered a file is refused, or the same; with checksums that are right, what loads is a system."""
    ON[0] = False
    file, rng, path = FILES[name](), np.random.default_rng(7), tmp_path / "model"
    container.write(path, file.head, file.tensors)
    content, expected = path.read_bytes(), load(path).predict(file.rows[0])
    ON[0] = True
    loaded = [0, 0]
    for _ in range(ALTERED):
        path.write_bytes(flipped(rng, content))
        with contextlib.suppress(ModelFileError):
            np.testing.assert_array_equal(load(path).predict(file.rows[0]), expected)
            loaded[0] += 1
        forgery = altered(rng, file)
        with contextlib.suppress(AdalineError, TypeError, ValueError):
            container.write(path, forgery.head, forgery.tensors)
        with contextlib.suppress(ModelFileError):
            read_header(path)
        with contextlib.suppress(ModelFileError):
            found = load(path)
            loaded[1] += 1
            assert type(found) in (*SYSTEMS.values(), *UNSUPERVISED.values())
            with warnings.catch_warnings(), contextlib.suppress(AdalineError):
                warnings.simplefilter("ignore")
                found.predict(file.rows[0])
    assert loaded[0] < ALTERED // 2
    assert loaded[1] < ALTERED
