"""A model that was saved and loaded, or pickled, is the model that was, to the bit, in what it holds, says and does."""

from __future__ import annotations

import dataclasses
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import adaline
from adaline.basis import Polynomial
from adaline.coding import Coding, Column, Term, TermFactor
from adaline.coding.numerals import Notation
from adaline.errors import AdalineError, InvalidData, InvalidParameter, InvalidType
from adaline.state import change_state
from adaline.storage import load, read_header, save
from adaline.storage.checks import require
from adaline.storage.container import SCHEMA
from adaline.storage.fields import CLASSES
from adaline.storage.relations import Misfit
from adaline.storage.steps import LEARNED
from adaline.storage.tree import _is_plain, decode, encode, laid_out, layout
from adaline.sums import Moments
from adaline.systems import (
    FisherDiscriminant,
    GaussianClassifier,
    LeastSquaresClassifier,
    LinearRegression,
    OneVsRest,
    Ridge,
    WienerFilter,
)
from tests import cases as all_cases
from tests.cases import Case, cases
from tests.storage.cases import assert_equal, behaviours, fitted, pairs

X, Y = np.array([[1.0], [2.0], [4.0], [5.0]]), np.array([1.0, 2.0, 2.0, 3.0])
WIDE, LABELS = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3
ARRAY = np.arange(24.0).reshape(2, 3, 4)


@pairs()
def test_a_loaded_model_is_the_model_that_was_saved(case: Case, kind: str, tmp_path: Path) -> None:
    model, first, more = fitted(case, kind)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_equal(again, model)
    assert_equal(pickle.loads(pickle.dumps(model)), model, laid=False)
    expected = behaviours(model, first, more)
    assert_equal(behaviours(again, first, more), expected, timed=False)
    assert not isinstance(expected["predict"], str)


@cases(lambda case: set(case.settings) <= {"epochs"}, law="model files")
def test_the_header_says_what_the_file_holds(case: Case, tmp_path: Path) -> None:
    model = all_cases.fitted(case.name)
    save(model, tmp_path / "model")
    header = read_header(tmp_path / "model")
    assert (header["system"], header["schema"]) == (case.system.__name__, SCHEMA)
    assert (header["adaline"], header["created"][:2]) == (adaline.__version__, "20")
    assert (header["parameters"], header["columns"]) == (model.get_params(), None)
    assert header["classes"] == (model.classes_.tolist() if hasattr(model, "classes_") else None)
    for key, value in dataclasses.asdict(model.certificate_).items():
        shown = header["certificate"][key]
        assert shown == (str(value) if key == "status" else value) or math.isnan(shown)


def test_the_header_has_arrays_as_lists_and_names_and_machines_as_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a b": [1.0, 2.0, 3.0, 5.0], "\u00e4": [0.0, 1.0, 0.0, 2.0]})
    save(GaussianClassifier(priors=np.array([0.25, 0.75])).fit(frame, list("xyxy")), tmp_path / "m")
    header = read_header(tmp_path / "m")
    assert header["parameters"]["priors"] == [0.25, 0.75]
    assert (header["columns"], header["classes"]) == (["a b", "\u00e4"], ["x", "y"])
    save(OneVsRest(GaussianClassifier(covariance="diag")).fit(X, [0, 1, 2, 0]), tmp_path / "m")
    assert read_header(tmp_path / "m")["parameters"]["system"] == "GaussianClassifier(covariance='diag')"


@pytest.mark.parametrize("rate", [1, np.int64(1), np.float32(0.5)])
def test_a_rate_may_be_any_number(rate: Any, tmp_path: Path) -> None:
    save(adaline.Perceptron(rate=rate).fit(X, Y > 1.5), tmp_path / "m")
    assert load(tmp_path / "m").partial_fit(X, Y > 1.5).rate == rate


def test_settings_of_scikit_learn(tmp_path: Path) -> None:
    """The form of `transform` is kept; requests for routed metadata, objects of scikit-learn's own, are left out."""
    fisher = FisherDiscriminant(basis=Polynomial(degree=2).set_output(transform="pandas")).fit(WIDE, LABELS)
    with config_context(enable_metadata_routing=True):
        one = LeastSquaresClassifier().set_fit_request(sample_weight=True).fit(WIDE, LABELS)
        for model in (one, OneVsRest(system=one).fit(WIDE, LABELS), fisher.set_output(transform="pandas")):
            save(model, tmp_path / "m")
            again = load(tmp_path / "m")
            np.testing.assert_array_equal(again.predict(WIDE), model.predict(WIDE))
            assert not hasattr(again, "_metadata_request")
    assert isinstance(load(tmp_path / "m").transform(WIDE), pd.DataFrame)


def with_code() -> Any:
    """Return a fitted model whose argument is a function."""
    model = LinearRegression(rate="auto").fit(X, Y)
    model.rate = lambda step: 1 / step
    return model


def of_other_arrays() -> Any:
    """Return a fitted model that has other coefficients than columns."""
    model = Ridge().fit(X, Y)
    change_state(model, coef=np.ones(7))
    return model


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (Ridge, InvalidParameter, "not fitted"),
        (lambda: {"coef_": 1}, InvalidType, "not a system"),
        (with_code, InvalidType, r"cannot store rate: .* type function"),
        (of_other_arrays, InvalidData, "cannot store this Ridge, as it could not be loaded again"),
        (
            lambda: OneVsRest(DecisionTreeClassifier()).fit(X, [0, 1, 2, 0]),
            InvalidType,
            r"cannot store system: .* type DecisionTreeClassifier",
        ),
    ],
)
def test_what_is_not_stored(make: Any, error: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        save(make(), tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_an_attribute_of_the_user_is_refused_by_name(tmp_path: Path) -> None:
    model = Ridge(basis=Polynomial()).fit(X, Y)
    for owner in (model, model.basis, model.basis_):
        owner.note = "x"
        with pytest.raises(InvalidType, match=rf"note of {type(owner).__name__}: .* Delete the attribute note"):
            save(model, tmp_path / "m")
        del owner.note
    save(model, tmp_path / "m")


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_models_on_a_device_come_to_the_host(library: str, tmp_path: Path) -> None:
    xp = pytest.importorskip(library)
    rows = WIDE[:, 0] + 0.1 * WIDE[:, 1]
    for model, y in ((LinearRegression(), rows), (Ridge(), rows), (GaussianClassifier(), (rows > 0).astype(np.int64))):
        save(model.fit(xp.asarray(WIDE), xp.asarray(y)), tmp_path / "m")
        again = load(tmp_path / "m")
        np.testing.assert_array_equal(again.predict(WIDE), np.asarray(model.predict(WIDE)))
        assert type(again.coef_) is np.ndarray
        assert again._like is None
        again.partial_fit(WIDE, y)


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
    values = {
        "numbers": [None, True, 0, -1, 10**30, 0.1, -0.0, 5e-324, math.nan, math.inf, -math.inf, "t\u00eb\ud800xt\n"],
        "nested": ({"a": (1, [2.0]), 3: None, (1, "b"): {}}, [[]], ()),
        "scalars": [np.float64(0.1), np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("x"), np.float64("nan")],
        "shared": [shared, (shared, shared), ARRAY, ARRAY],
        "layouts": [ARRAY.T, ARRAY[:, ::-1], ARRAY[..., ::2], ARRAY.transpose(1, 0, 2), ARRAY[0, :, 0], np.float64(2)],
        "empty": [np.zeros((0, 4)), np.array(1.0), np.array([], dtype="<U3"), np.array([], dtype=object)],
        "kinds": [np.array([1, 2], dtype=kind) for kind in ("?", "i1", "u8", "f2", "f4", "i8")],
        "labels": [np.array(["a", "bcd"], dtype="<U7"), np.array(["a", 1, True, 0.5, None, np.int64(4)], dtype=object)],
        "dates": [np.array(["2024-02-29"], dtype="datetime64[D]"), np.array([5, 6], dtype="timedelta64[ns]")],
        "texts": [np.array(["a" * 10_000, "b"]), np.array([f"level {i}" for i in range(2_000)] + ["x" * 200])],
        "long": [list(range(1500)), [0.5] * 1500, [math.nan] * 1500, [1, (2,)] * 700, [1, {}] * 700],
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
    assert "long.0" in tensors
    assert not {"long.2", "long.3", "long.4"} & tensors.keys()


ONE = {"array": {"dtype": "float64", "shape": [1], "values": [1.0]}}
SELECTOR = {"pattern": None, "dtype_include": None, "dtype_exclude": None}
HUBER = {"name": "loss huber", "fields": {"delta": 2.0}}


@pytest.mark.every
@pytest.mark.parametrize(
    "tree",
    [
        *({}, {"tuple": [1], "dict": []}, {"nothing": 1}, {"tuple": 1}, {"dict": 3}, {"float": "1e5"}, {"float": 1.0}),
        *({"scalar": ["object", 1]}, {"scalar": ["str", 1]}, {"scalar": ["float64", "x"]}, {"scalar": 1}),
        *({"tensor": "none"}, {"tensor": {"name": "t", "axes": [1]}}, {"same": -1}, {"same": 0}, {"same": True}),
        *({"tensor": {"name": "t", "axes": axes, "gaps": False}} for axes in ([1, 1], [3], [1.0], 1)),
        *({"tensor": {"name": "t", "axes": [1], "gaps": 1}}, {"json": "t"}, {"json": 1}, {"Status": "DROP"}),
        *({"slice": [0, 1, 0.5]}, {"slice": 1}, {"dtype": "evil"}, {"dtype": 1}, {"type": "os"}),
        *({"selector": {**SELECTOR, name: 3}} for name in SELECTOR),
        *({"selector": {**SELECTOR, "dtype_include": ["a", 3]}}, {"selector": {"pattern": None}}),
        *({"criterion": {**HUBER, "name": "loss evil"}}, {"criterion": {**HUBER, "fields": {"evil": 2.0}}}),
        *({"criterion": {**HUBER, "fields": {"delta": [1]}}}, {"criterion": {"name": "loss huber"}}),
        *({"array": {**ONE["array"], "shape": shape}} for shape in ([2], [-1, -1], [1.0], 1)),
        *({"array": {**ONE["array"], "dtype": kind}} for kind in ("evil", "<U99999999", "datetime64[evil]", 3)),
        *({"array": {**ONE["array"], "dtype": "<U1"}}, {"array": {**ONE["array"], "values": ["a"]}}),
        *({"system": {"name": "Evil", "parameters": {}, "state": {}}}, {"basis": {"name": "Ridge"}}),
        *({"Shape": {"features": 1}}, {"Shape": {"features": 1, "targets": 1, "evil": 1}}, {"Shape": 1}),
    ],
    ids=str,
)
def test_trees_that_mean_nothing_are_refused(tree: Any) -> None:
    used = "'t'" in str(tree)  # one that nothing uses is refused too
    tensors = {"t": np.frombuffer(b'[1, "a", [2]]', dtype=np.uint8)} if used else None
    with pytest.raises((ValueError, TypeError, OverflowError)):
        decode({"here": tree}, tensors)


def test_trees_that_mean_something_are_not() -> None:
    for tree, value in (
        ({"slice": [0, None, "b"]}, slice(0, None, "b")),
        ({"dtype": "float32"}, np.dtype("float32")),
        ({"type": "numpy.number"}, np.number),
        ({"float": "-inf"}, -math.inf),
    ):
        assert decode({"here": tree})["here"] == value
    selector = decode({"here": {"selector": {**SELECTOR, "dtype_include": [{"type": "float"}, "int64"]}}})["here"]
    assert selector.dtype_include == [float, "int64"]
    assert decode({"here": {"criterion": HUBER}})["here"].delta == 2.0


@pytest.mark.parametrize(
    "view",
    [
        ARRAY,
        ARRAY.T,
        ARRAY[::-1, :, ::-1],
        ARRAY.transpose(2, 0, 1)[:, ::-1],
        ARRAY[:, 1],
        ARRAY[..., 1::2],
    ],
)
def test_layouts_come_back(view: Any) -> None:
    axes, gaps = layout(view)
    again = laid_out(np.ascontiguousarray(view), axes, gaps)
    np.testing.assert_array_equal(again, view)
    assert layout(again) == (axes, gaps)


def test_what_has_no_form_is_named() -> None:
    for value in (1j, {1, 2}, b"x", np.complex128(1), np.array([1j]), object(), np.dtype, Path("x"), AdalineError()):
        with pytest.raises(InvalidType, match="cannot store here"):
            encode({"here": value}, {})
    odd = Moments.zero(CLASSES["Shape"](2, 1))
    odd.more = 1  # type: ignore[attr-defined]
    with pytest.raises(InvalidType, match="Moments has no field more"):
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
    assert len(CLASSES) == len({cls.__name__ for cls in CLASSES.values()})
    assert not set(CLASSES) & {"tuple", "dict", "float", "scalar", "tensor", "array", "same", "Status"}


@pytest.mark.parametrize("axes", [[2, 2], [1], [True, 2], [1, 3], [0, 1], [1, 2, 3]], ids=str)
def test_axes_that_no_tensor_has_are_refused(axes: list[Any]) -> None:
    with pytest.raises(ValueError, match="not the axes of a tensor"):
        laid_out(np.ones((3, 3)), axes, False)


def test_what_json_holds_as_it_is() -> None:
    assert all(map(_is_plain, [None, True, 3, "a", 0.5]))
    assert not any(map(_is_plain, [math.inf, math.nan, [], {}, np.float64(1.0)]))


def test_levels_of_every_column_are_different_and_rise() -> None:
    form = LEARNED[OneHotEncoder]["categories_"]
    good, wrong = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    require([good, np.array(["b", "a"])], form, {"F": 2}, "levels")
    for levels, columns in (([good, wrong], 2), ([wrong, good], 2), ([good], 2), ((good,), 1), ([[1.0, 2.0]], 1)):
        with pytest.raises(Misfit, match="levels is not"):
            require(levels, form, {"F": columns}, "levels")
