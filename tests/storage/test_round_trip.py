"""A model that was saved and loaded, or pickled, is the model that was, to the bit, in what it holds, says and does."""

from __future__ import annotations

import dataclasses
import math
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier

import adaline
from adaline.basis import Polynomial
from adaline.coding import Coding, Column, Term, TermFactor
from adaline.coding.numerals import Notation
from adaline.errors import AdalineError, InvalidParameter, InvalidType, ModelFileError
from adaline.storage import load, read_header, save
from adaline.storage.container import SCHEMA
from adaline.storage.tree import CLASSES, FIELDS, decode, encode, laid_out, layout
from adaline.sums import Moments
from adaline.systems import (
    SYSTEMS,
    FisherDiscriminant,
    GaussianClassifier,
    LeastSquaresClassifier,
    LinearRegression,
    OneVsRest,
    Ridge,
    WienerFilter,
)
from tests.storage.cases import assert_equal, behaviours, cases, sayings


@pytest.mark.parametrize("fitted", cases())
def test_a_loaded_model_is_the_model_that_was_saved(fitted: Any, tmp_path: Path) -> None:
    """What it does is that of a loaded one alone: a pickled one holds the same bits."""
    case = fitted()
    save(case.model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_equal(again, case.model)
    pickled = pickle.loads(pickle.dumps(case.model))
    assert_equal(pickled, case.model, laid=False)
    expected = behaviours(case)
    assert_equal(behaviours(case._replace(model=again)), expected, timed=False)
    said = sayings(case._replace(model=pickled))
    assert_equal(said, {name: expected[name] for name in said}, timed=False)
    assert not isinstance(expected["predict"], str)


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_header_says_what_the_file_holds(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    model = SYSTEMS[name]().fit(X, X[:, 0] > 0)
    save(model, tmp_path / "model")
    header = read_header(tmp_path / "model")
    assert header["system"] == name
    assert header["schema"] == SCHEMA
    assert header["adaline"] == adaline.__version__
    assert header["created"][:2] == "20"
    assert header["parameters"] == model.get_params()
    assert header["columns"] is None
    assert header["classes"] == ([False, True] if hasattr(model, "classes_") else None)
    for key, value in dataclasses.asdict(model.certificate_).items():
        shown = header["certificate"][key]
        assert shown == (str(value) if key == "status" else value) or math.isnan(shown)


@pytest.mark.parametrize("rate", [1, np.int64(1), np.float32(0.5)])
def test_a_rate_may_be_any_number(rate: Any, tmp_path: Path) -> None:
    X, y = np.array([[1.0], [2.0], [-3.0]]), [True, True, False]
    path = tmp_path / "model.adaline"
    save(adaline.Perceptron(rate=rate).fit(X, y), path)
    assert load(path).partial_fit(X, y).rate == rate


def test_the_header_has_arrays_as_lists_and_names(tmp_path: Path) -> None:
    import pandas as pd

    X = pd.DataFrame({"a b": [1.0, 2.0, 3.0, 5.0], "\u00e4": [0.0, 1.0, 0.0, 2.0]})
    save(GaussianClassifier(priors=np.array([0.25, 0.75])).fit(X, list("xyxy")), tmp_path / "m")
    header = read_header(tmp_path / "m")
    assert header["parameters"]["priors"] == [0.25, 0.75]
    assert header["columns"] == ["a b", "\u00e4"]
    assert header["classes"] == ["x", "y"]


def test_settings_of_scikit_learn(tmp_path: Path) -> None:
    """The form of `transform` is kept; requests for routed metadata, objects of scikit-learn's own, are left out."""
    X, t = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3
    fisher = FisherDiscriminant(basis=Polynomial(degree=2).set_output(transform="pandas")).fit(X, t)
    with config_context(enable_metadata_routing=True):
        one = LeastSquaresClassifier().set_fit_request(sample_weight=True).fit(X, t)
        for model in (fisher.set_output(transform="pandas"), one, OneVsRest(system=one).fit(X, t)):
            save(model, tmp_path / "m")
            again = load(tmp_path / "m")
            np.testing.assert_array_equal(again.predict(X), model.predict(X))
            assert not hasattr(again, "_metadata_request")
    save(fisher, tmp_path / "m")
    assert type(load(tmp_path / "m").transform(X)).__name__ == "DataFrame"


def test_an_attribute_of_the_user_is_refused_by_name(tmp_path: Path) -> None:
    model = Ridge(basis=Polynomial()).fit([[0.0], [1.0], [3.0]], [1.0, 2.0, 3.0])
    for owner in (model, model.basis, model.basis_):
        owner.note = "x"
        with pytest.raises(InvalidType, match=rf"note of {type(owner).__name__}: .* Delete the attribute note"):
            save(model, tmp_path / "m")
        del owner.note
    save(model, tmp_path / "m")


def test_only_fitted_systems_are_stored(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="not fitted"):
        save(Ridge(), tmp_path / "m")
    with pytest.raises(InvalidType, match="not a system"):
        save({"coef_": 1}, tmp_path / "m")
    with pytest.raises(InvalidType, match="name of a file"):
        save(Ridge().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 2.0]), 3)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_code_is_not_stored(tmp_path: Path) -> None:
    model = LinearRegression(rate="auto").fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 2.0])
    model.rate = lambda step: 1 / step
    with pytest.raises(InvalidType, match=r"cannot store rate: .* type function"):
        save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_machines_of_others_are_not_stored_and_ours_are_named_in_the_header(tmp_path: Path) -> None:
    X, y = [[1.0], [2.0], [4.0], [5.0]], [0, 1, 2, 0]
    with pytest.raises(InvalidType, match=r"cannot store system: .* type DecisionTreeClassifier"):
        save(OneVsRest(DecisionTreeClassifier()).fit(X, y), tmp_path / "m")
    save(OneVsRest(GaussianClassifier(covariance="diag")).fit(X, y), tmp_path / "m")
    assert read_header(tmp_path / "m")["parameters"]["system"] == "GaussianClassifier(covariance='diag')"


def test_an_existing_file_survives_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    model = Ridge().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 2.0])
    save(model, path)
    before = path.read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ModelFileError, match=r"cannot write .*: No space left"):
        save(model, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_saving_follows_a_link_and_replaces(tmp_path: Path) -> None:
    model = Ridge().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 2.0])
    (tmp_path / "link").symlink_to(tmp_path / "m")
    for target in (1.0, 2.0):
        save(model.fit([[1.0], [2.0], [4.0]], [target, 2.0, 2.0]), str(tmp_path / "link"))
        assert_equal(load(tmp_path / "m"), model)
    assert (tmp_path / "link").is_symlink()
    with pytest.raises(ModelFileError, match="cannot write"):
        save(model, tmp_path / "nowhere" / "m")


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_models_on_a_device_come_to_the_host(library: str, tmp_path: Path) -> None:
    xp = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    for model in (LinearRegression(), Ridge(), GaussianClassifier()):
        labels = xp.asarray((y > 0).astype(np.int64)) if isinstance(model, GaussianClassifier) else xp.asarray(y)
        model.fit(xp.asarray(X), labels)
        save(model, tmp_path / "m")
        again = load(tmp_path / "m")
        np.testing.assert_array_equal(again.predict(X), np.asarray(model.predict(X)))
        assert type(again.coef_) is np.ndarray
        assert again._like is None
        again.partial_fit(X, np.asarray(y > 0, dtype=np.int64))


def test_a_recording_goes_on_after_a_round_trip(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x, d = rng.normal(size=(200, 2)), rng.normal(size=(200, 3))
    for settings in ({"taps": (3, 5), "delay": -4}, {"taps": 4, "delay": 3, "method": "autocorrelation"}):
        kept = WienerFilter(**settings)
        for first in range(0, 200, 40):
            kept.partial_fit(x[first : first + 40], d[first : first + 40])
            save(kept, tmp_path / "m")
            again = load(tmp_path / "m")
            assert_equal(again, kept)
            kept = again
        np.testing.assert_allclose(kept.coef_, WienerFilter(**settings).fit(x, d).coef_, rtol=1e-9, atol=1e-12)


def test_every_kind_of_value_comes_back() -> None:
    shared = Moments.zero(CLASSES["Shape"](2, 1))
    array = np.arange(24.0).reshape(2, 3, 4)
    values = {
        "numbers": [None, True, 0, -1, 10**30, 0.1, -0.0, 5e-324, math.nan, math.inf, -math.inf, "t\u00eb\ud800xt\n"],
        "nested": ({"a": (1, [2.0]), 3: None, (1, "b"): {}}, [[]], ()),
        "scalars": [np.float64(0.1), np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("x"), np.float64("nan")],
        "shared": [shared, (shared, shared), array, array],
        "layouts": [array.T, array[:, ::-1], array[..., ::2], array.transpose(1, 0, 2), array[0, :, 0], np.float64(2)],
        "empty": [np.zeros((0, 4)), np.array(1.0), np.array([], dtype="<U3"), np.array([], dtype=object)],
        "kinds": [np.array([1, 2], dtype=kind) for kind in ("?", "i1", "u8", "f2", "f4", "i8")],
        "labels": [np.array(["a", "bcd"], dtype="<U7"), np.array(["a", 1, True, 0.5, None, np.int64(4)], dtype=object)],
        "dates": [np.array(["2024-02-29"], dtype="datetime64[D]"), np.array([5, 6], dtype="timedelta64[ns]")],
        "coding": Coding(
            (Column("a", "number", mean=0.5), Column("b", "category", ("x", 2, True), (0.25, 0.5, 0.25))),
            (Term((TermFactor("a", "a"),)), Term((TermFactor("log(a)"), TermFactor("b", "b", category=True)))),
        ),
    }
    for tensors in ({}, None):
        found = decode(encode(values, tensors), tensors)
        if tensors is None:
            found["layouts"] = values["layouts"]  # arrays inside the tree lie row by row
        assert_equal(found, values)
    tensors = {}
    found = decode(encode(values, tensors), tensors)
    assert found["shared"][0] is found["shared"][1][0] is found["shared"][1][1]
    assert found["shared"][2] is found["shared"][3]


def test_layouts_come_back() -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    for view in (
        array,
        array.T,
        array[::-1, :, ::-1],
        array.transpose(2, 0, 1)[:, ::-1],
        array[:, 1],
        array[..., 1::2],
    ):
        axes, gaps = layout(view)
        again = laid_out(np.ascontiguousarray(view), axes, gaps)
        np.testing.assert_array_equal(again, view)
        assert layout(again) == layout(view)


def test_what_has_no_form_is_named(tmp_path: Path) -> None:
    for value in (1j, {1, 2}, b"x", np.complex128(1), np.array([1j]), object(), np.dtype, Path("x"), AdalineError()):
        with pytest.raises(InvalidType, match="cannot store here"):
            encode({"here": value}, {})
    odd = Moments.zero(CLASSES["Shape"](2, 1))
    odd.more = 1  # type: ignore[attr-defined]
    with pytest.raises(InvalidType, match="more of Moments"):
        encode({"here": odd}, {})


def test_optional_fields_are_written_where_they_say_something() -> None:
    plain = Coding((Column("x", "number", mean=1.0),), ())
    tree = encode({"coding": plain}, {})
    assert not {"na", "notations"} & tree["coding"]["Coding"].keys()  # as in files of before
    assert decode(tree, {})["coding"] == plain
    told = dataclasses.replace(plain, na=("-999",), notations=(Notation(",", "%", ("x",)),))
    again = decode(encode({"coding": told}, {}), {})["coding"]
    assert (again.na, again.notations) == (told.na, told.notations)


def test_the_names_of_classes_are_unique() -> None:
    assert len(CLASSES) == len(FIELDS)
    assert not set(CLASSES) & {"tuple", "dict", "float", "scalar", "tensor", "array", "same", "Status"}
