"""Files that are not what they should be: each ends in one clear error, and none in code being run."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
import sys
import warnings
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from adaline.basis import Custom, Polynomial, Radial
from adaline.errors import AdalineError, InvalidType, ModelFileError
from adaline.storage import container, load, read_header, save
from adaline.storage.container import SCHEMA
from adaline.storage.schema import FIELDS, STATE
from adaline.systems import SYSTEMS, GaussianClassifier, LinearRegression, OneVsRest, Ridge, WienerFilter
from adaline.wording import visible
from tests.storage.mutants import altered_bytes, altered_fields, nested

MUTANTS = int(os.environ.get("ADALINE_MUTANTS", "400"))

FORBIDDEN = (
    "import",
    "exec",
    "compile",
    "pickle.find_class",
    "os.system",
    "os.exec",
    "subprocess.Popen",
    "marshal.loads",
)


class _Watch:
    """Notes what Python does while it is on: audit hooks cannot be removed."""

    def __init__(self) -> None:
        self.on = False
        self.seen: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: Any) -> None:
        if self.on and event in FORBIDDEN:
            self.seen.append(f"{event} {args[:1]}")


WATCH = _Watch()


@pytest.fixture
def watch() -> Iterator[_Watch]:
    repr(OneVsRest(GaussianClassifier()))  # scikit-learn imports what prints estimators when it first needs it
    WATCH.seen.clear()
    WATCH.on = True
    yield WATCH
    WATCH.on = False
    assert WATCH.seen == []


X = np.random.default_rng(0).normal(size=(40, 3)) + 5
Y = X @ [1.0, -2.0, 0.5] + np.random.default_rng(1).normal(size=40)


def models() -> list[Any]:
    return [
        LinearRegression().fit(X, Y),
        LinearRegression().fit(np.column_stack([X, X[:, 0]]), np.column_stack([Y, Y])),
        Ridge().fit(X, Y),
        WienerFilter(taps=2, delay=-1).fit(X, Y),
        GaussianClassifier(covariance="full").fit(X, np.where(Y > 0, "a", "b")),
        OneVsRest(GaussianClassifier()).fit(X, np.where(Y > 0, "a", "b")),
        LinearRegression(basis=Polynomial(degree=2, orthogonal=True) + Radial(centres=3)).fit(X, Y),
    ]


def rows(model: Any) -> Any:
    return np.column_stack([X, X[:, 0]]) if model.n_features_in_ == 4 else X


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save(Ridge(penalty=0.5).fit(X, Y), tmp_path / "model")
    load(tmp_path / "model")
    return tmp_path / "model"


def resealed(path: Path, **changes: Any) -> None:
    """Write the file with other fields, and checksums that are right."""
    head, tensors = container.read(path)
    container.write(path, {**{k: v for k, v in head.items() if k != "data"}, **changes}, tensors)


def refused(path: Any, match: str) -> None:
    for read in (load, read_header):
        with pytest.raises(ModelFileError, match=match) as caught:
            read(path)
        assert isinstance(caught.value, OSError)
        assert isinstance(caught.value, AdalineError)
        assert visible(str(path)) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_a_missing_file_a_folder_an_empty_file(tmp_path: Path) -> None:
    refused(tmp_path / "none", "there is no such file")
    refused(tmp_path, "is a folder")
    (tmp_path / "empty").touch()
    refused(tmp_path / "empty", "is empty")
    refused(tmp_path / "a\0b", "cannot read") if sys.platform != "win32" else None


def test_foreign_files(tmp_path: Path, watch: _Watch) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.system, ("touch " + str(tmp_path / "harm"),)

    for i, content in enumerate(
        (pickle.dumps(Evil()), b"PK\x03\x04" + bytes(100), b"{}", b"a,b\n1,2\n3,4\n", bytes(64), b"\x80\x05" * 60)
    ):
        (tmp_path / str(i)).write_bytes(content)
        refused(tmp_path / str(i), "is not a model file")
    assert not (tmp_path / "harm").exists()


def test_a_safetensors_file_without_a_model(tmp_path: Path) -> None:
    for metadata in (None, {"format": "pt"}):
        save_file({"weight": np.ones(3)}, tmp_path / "x", metadata=metadata)
        refused(tmp_path / "x", "safetensors file, but holds no adaline model")
    save_file({"weight": np.ones(3)}, tmp_path / "x", metadata={"adaline": "hello"})
    refused(tmp_path / "x", "was altered")


def test_a_truncated_file(path: Path) -> None:
    content = path.read_bytes()
    for length in (len(content) - 1, len(content) // 2, 100):
        path.write_bytes(content[:length])
        refused(path, "is truncated: it has")
    path.write_bytes(content + b"more")
    refused(path, "was altered: it has")


def test_an_altered_number(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-4] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="was altered since it was saved"):
        load(path)
    assert read_header(path)["system"] == "Ridge"  # the data are not read


def test_an_altered_header(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content.replace(b'penalty\\": 0.5', b'penalty\\": 0.6'))
    refused(path, "was altered since it was saved")
    path.write_bytes(content.replace(b'\\"schema\\": %d,' % SCHEMA, b'\\"schema\\": 0,'))
    refused(path, "was altered since it was saved")


def test_a_newer_file(path: Path) -> None:
    resealed(path, schema=99, adaline="7.0.0", news="?")
    refused(path, r"written by a newer adaline, 7.0.0 \(schema 99\).* Upgrade")


def test_a_file_of_another_version_with_the_same_schema_is_read(path: Path) -> None:
    for version in ("0.1.0", "7.0.0"):
        expected = load(path).coef_
        resealed(path, adaline=version)
        assert read_header(path)["adaline"] == version
        np.testing.assert_array_equal(load(path).coef_, expected)


def test_an_older_file(path: Path) -> None:
    resealed(path, schema=1, adaline="0.0.9", state={"gone": 1})
    refused(path, r"written by an older adaline, 0.0.9 \(schema 1\).* Refit the model, or load it with adaline 0.0.9")


def test_another_layout_has_another_number() -> None:
    """If this fails, the layout of model files was changed: add one to SCHEMA, unless what is new is OPTIONAL, and set
    the checksum to that found.
    """
    layout = repr([sorted((kind.__name__, text) for kind, text in FIELDS.items()), sorted(STATE.items())])
    assert (SCHEMA, blake2b(layout.encode(), digest_size=4).hexdigest()) == (6, "e5b9d1d2")


def test_a_system_that_is_not_known(path: Path, watch: _Watch) -> None:
    for name in (
        "LogisticTomorrow",
        "os.system",
        "builtins.eval",
        "adaline.systems.Ridge",
        "__import__('os')",
        3,
        ["Ridge"],
    ):
        resealed(path, system=name)
        refused(path, "holds a system that adaline .* does not know")


def test_a_state_that_no_fit_has_left(path: Path, watch: _Watch) -> None:
    head, _ = container.read(path)
    state, shape = head["state"], {"Shape": {"features": 3, "targets": 1}}
    for name in ("predict", "__class__", "fit", "not a name", "_solve"):
        resealed(path, state={**state, name: 1})
        with pytest.raises(ModelFileError, match="does not describe a fitted Ridge"):
            load(path)
    for changes in (
        {"state": {}},
        {"state": []},
        {"state": {**state, "_sums": {"Moments": {"shape": {"tuple": [3, 1]}, "buffer": {"tensor": "coef_"}}}}},
        {"state": {**state, "_sums": {"Moments": {"shape": shape, "buffer": {"tensor": "coef_"}}}}},
        {"state": {**state, "_sums": {"Moments": {**state["_sums"]["Moments"], "evil": 1}}}},
        {"state": {**state, "_sums": {"Evil": {}}}},
        {"state": {**state, "coef_": {"tensor": "none"}}},
        {"parameters": {**head["parameters"], "evil": 1}},
        {"parameters": 3},
    ):
        resealed(path, **{**{k: head[k] for k in ("state", "parameters")}, **changes})
        with pytest.raises(ModelFileError, match="does not describe a fitted Ridge"):
            load(path)
    resealed(path, state=state, parameters=head["parameters"], extra=1)
    refused(path, "other fields")


def test_a_basis_that_is_none(tmp_path: Path, watch: _Watch) -> None:
    path = tmp_path / "model"
    save(Ridge(basis=Polynomial(degree=2)).fit(X, Y), path)
    head, _ = container.read(path)
    learned = head["state"]["basis_"]["basis"]
    for basis in (
        {**learned, "name": "Custom", "parameters": {"function": "print"}},
        {**learned, "name": "print"},
        {**learned, "name": "Ridge"},
        {**learned, "state": {"of": 1}},
        {**learned, "parameters": {"evil": 1}},
        {"name": "Polynomial"},
    ):
        resealed(path, state={**head["state"], "basis_": {"basis": basis}})
        with pytest.raises(ModelFileError, match="does not describe a fitted Ridge"):
            load(path)
    for other in (3, head["state"]["certificate_"], {"system": {"name": "Ridge", "parameters": {}, "state": {}}}):
        resealed(path, state={**head["state"], "basis_": other})
        with pytest.raises(ModelFileError, match="does not describe a fitted Ridge"):
            load(path)


def test_functions_of_the_users_own_are_not_stored(tmp_path: Path) -> None:
    for basis in (Custom(np.square), Polynomial(degree=2) + Custom(np.square)):
        with pytest.raises(InvalidType, match=r"cannot store .*basis\.Custom holds a function of yours, which is code"):
            save(Ridge(basis=basis).fit(X, Y), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_argument_added_later_takes_its_default(path: Path) -> None:
    head, _ = container.read(path)
    resealed(path, parameters={k: v for k, v in head["parameters"].items() if k != "criterion"})
    assert load(path).get_params() == Ridge(penalty=0.5).get_params()


def test_deep_nests_and_huge_lengths(path: Path, tmp_path: Path) -> None:
    for depth in (10, 1000, 100_000):
        (tmp_path / "deep").write_bytes(nested(depth))
        refused(tmp_path / "deep", "was altered")
    tree: Any = 1
    for _ in range(400):
        tree = {"tuple": [tree]}
    resealed(path, state={"deep": tree})
    with pytest.raises(ModelFileError):
        load(path)
    content = path.read_bytes()
    for length in (2**63, 2**64 - 1, 10**9, 99_999_999):
        path.write_bytes(length.to_bytes(8, "little") + content[8:])
        refused(path, "is not a model file|is truncated")


def test_keys_that_stand_twice(path: Path) -> None:
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + length]
    text = json.loads(header)["__metadata__"]["adaline"]
    twice = text.replace('"system": "Ridge"', '"system": "Ridge", "system": "Ridge"')
    new = header.replace(json.dumps(text).encode(), json.dumps(twice).encode())
    path.write_bytes(len(new).to_bytes(8, "little") + new + content[8 + length :])
    refused(path, "was altered")
    new = header.replace(b'{"__metadata__":', b'{"__metadata__":{"adaline":"{}"},"__metadata__":')
    path.write_bytes(len(new).to_bytes(8, "little") + new + content[8 + length :])
    refused(path, "header was altered")


def test_whitespace_does_no_harm(path: Path) -> None:
    expected = load(path).predict(X)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    path.write_bytes((length + 8).to_bytes(8, "little") + content[8 : 8 + length] + b" " * 8 + content[8 + length :])
    np.testing.assert_array_equal(load(path).predict(X), expected)


MODELS = [pytest.param(model, id=f"{i} {type(model).__name__}") for i, model in enumerate(models())]


@pytest.mark.parametrize("model", MODELS)
def test_altered_bytes_end_in_clean_errors(model: Any, tmp_path: Path, watch: _Watch) -> None:
    """Any altered file is refused, or gives the same predictions."""
    rng = np.random.default_rng(7)
    path = tmp_path / "model"
    save(model, path)
    content, expected = path.read_bytes(), model.predict(rows(model))
    same = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(MUTANTS // 10):
            path.write_bytes(altered_bytes(rng, content))
            try:
                again = load(path)
            except ModelFileError:
                continue
            same += 1
            np.testing.assert_array_equal(again.predict(rows(model)), expected)
    assert same < MUTANTS // 20


@pytest.mark.parametrize("model", MODELS)
def test_altered_fields_end_in_clean_errors(model: Any, tmp_path: Path, watch: _Watch) -> None:
    """The same with checksums that are right: someone meant it. What loads is a system, and using it runs nothing."""
    rng = np.random.default_rng(8)
    path = tmp_path / "model"
    save(model, path)
    head, tensors = container.read(path)
    head.pop("data")
    found: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(MUTANTS // 10):
            container.write(path, *altered_fields(rng, head, tensors))
            with contextlib.suppress(ModelFileError):
                read_header(path)
            with contextlib.suppress(ModelFileError):
                found.append(load(path))
    assert len(found) < MUTANTS // 10
    assert all(type(one) in SYSTEMS.values() for one in found)
    for one in found:
        with warnings.catch_warnings(), contextlib.suppress(AdalineError):
            warnings.simplefilter("ignore")
            one.predict(rows(model))
            one.partial_fit(rows(model), Y)


def test_a_file_that_is_not_readable(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    path.chmod(0)
    refused(path, "Permission denied")


def test_a_copy_is_as_good(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "copy")
    np.testing.assert_array_equal(load(tmp_path / "copy").predict(X), load(path).predict(X))
