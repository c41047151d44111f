"""Files that someone forged, checksums and all: each loads and works, or is refused, and takes little memory."""

from __future__ import annotations

import copy
import errno
import os
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import open_table
from adaline.block import Shape
from adaline.coding.numerals import Notation
from adaline.errors import InvalidData, ModelFileError
from adaline.scans import LMSRule
from adaline.scans.tally import SIZE, UPDATES
from adaline.storage import container, load, save
from adaline.storage.schema import REQUIRED, SOLVED, STATE
from adaline.storage.tree import DEEPEST, PADDING, decode, encode
from adaline.sums import Moments
from adaline.systems import (
    LMS,
    GaussianClassifier,
    GeneralizedLinear,
    KeslerPerceptron,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
)
from tests.storage.cases import assert_equal
from tests.storage.forge import Forgery, Original, failures, forgeries, grafts, misused, originals, without_each

SHARE = float(os.environ.get("ADALINE_FORGERIES", "0.0015"))
"""Of about 300,000 forgeries; all of them take an hour: `python -m tests.storage.forge`."""

X = np.random.default_rng(0).normal(size=(40, 3))
Y = X @ [1.0, -2.0, 0.5]


ORIGINALS = originals()


@pytest.fixture(params=ORIGINALS)
def original(request: pytest.FixtureRequest) -> Original:
    return ORIGINALS[request.param]()


def test_a_forged_file_loads_and_works_or_is_refused(original: Original, tmp_path: Path) -> None:
    rng = np.random.default_rng(len(original.name))
    assert failures(original, Forgery("as it was", original.head, original.tensors), tmp_path / "m") == []
    load(tmp_path / "m")
    for name, make in forgeries(original):
        if rng.random() < SHARE:
            assert failures(original, make(), tmp_path / "m") == [], name


def test_a_file_that_lacks_an_attribute_is_refused_or_works(original: Original, tmp_path: Path) -> None:
    for forged in without_each(original):
        assert failures(original, forged, tmp_path / "m") == [], f"without {forged.what}"


@pytest.mark.parametrize("name", [name for name in ORIGINALS if name.endswith("()")])
def test_a_part_of_another_system_works_or_is_refused(name: str, tmp_path: Path) -> None:
    """One part of each other system, drawn at random; all of them: `python -m tests.storage.forge 1 0 grafts`."""
    original, rng = ORIGINALS[name](), np.random.default_rng(len(name))
    for donor in (make() for name, make in ORIGINALS.items() if name.endswith("()")):
        found = list(grafts(original, donor))
        name, make = found[int(rng.integers(len(found)))]
        assert failures(original, make(), tmp_path / "m") == [], name


@pytest.mark.parametrize(
    ("host", "donor", "part"),
    [
        ("Pocket()", "Perceptron()", "_result of"),
        ("Pocket()", "LMS()", "_result of"),
        ("Perceptron()", "Pocket()", "_result of"),
        ("Ridge()", "RobustRegression()", "_fits of"),
        ("Ridge()", "LeastSquaresClassifier()", "_sums of"),
        ("LinearRegression() table", "OneVsOne() table", "/scaling/ColumnScaling is ColumnScaling of"),
        ("LogisticRegression()", "GeneralizedLinear()", "_fits of"),
        ("GeneralizedLinear()", "LogisticRegression()", "_fits of"),
        ("LogisticRegression()", "OrdinalRegression()", "_fits of"),
        ("LogisticRegression()", "Ridge()", "/Solution is Solution of"),
        ("LMS()", "Adaline()", "_scan of"),
    ],
)
def test_parts_of_other_families_are_refused(host: str, donor: str, part: str, tmp_path: Path) -> None:
    original = ORIGINALS[host]()
    forgery = next(make() for name, make in grafts(original, ORIGINALS[donor]()) if part in name)
    with pytest.raises(ModelFileError):
        misused(original, forgery, tmp_path / "m")


def forged(path: Path, model: Any, **tensors: Any) -> None:
    """Write the file of a model with some of its tensors replaced."""
    save(model, path)
    head, stored = container.read(path)
    assert tensors.keys() <= stored.keys()
    container.write(path, {key: value for key, value in head.items() if key != "data"}, {**stored, **tensors})


@pytest.mark.parametrize("exponent", [np.nan, np.inf, 1e300, -1e300, 2.0**31, 5000.0, 0.5])
def test_exponents_that_no_column_has(exponent: float, tmp_path: Path) -> None:
    model = LinearRegression().fit(X, Y)
    buffer = model._sums.buffer.copy()
    Moments(model._sums.shape, buffer).exponent[1] = exponent
    forged(tmp_path / "m", model, **{"_sums.buffer": buffer})
    with pytest.raises(ModelFileError, match=r"Moments|exponents"):
        load(tmp_path / "m")


@pytest.mark.parametrize("exponent", [np.nan, np.inf, -np.inf, 1e300, -1e300, 2.0**40])
def test_the_native_core_takes_any_exponent(exponent: float) -> None:
    first, second = (copy.deepcopy(LinearRegression().fit(X, Y)._sums) for _ in range(2))
    second.exponent[0] = exponent
    for a, b in ((first, second), (second, first)):
        a.merge(b)
        a.subtract(b)


def test_relations_between_arrays(tmp_path: Path) -> None:
    labels = np.where(Y > 0, "a", "b")
    scan, kesler = Perceptron(epochs=2).fit(X, labels), KeslerPerceptron(epochs=2).fit(X, labels)
    twice = np.column_stack([X, X[:, 0]])
    for model, tensors in (
        (Ridge().fit(X, Y), {"coef_": np.ones(4)}),
        (Ridge().fit(X, Y), {"coef_": np.ones((1, 1, 3))}),
        (Ridge().fit(X, Y), {"coef_": np.array([1.0, np.nan, 2.0])}),
        (Ridge().fit(X, Y), {"_fits.0.solution.theta": np.ones((1, 3))}),
        (GaussianClassifier().fit(X, labels), {"priors_": np.ones(3)}),
        (scan, {"_scan.theta": np.ones((3, 4)), "_scan.good": np.ones((3, 4))}),
        (scan, {"_scan.good": np.ones((1, 5))}),
        (scan, {"_typical": np.ones(2)}),
        (LogisticRegression().fit(X, labels), {"intercept_": np.array([np.nan])}),
        (LeastSquaresClassifier().fit(X, labels), {"intercept_": np.array([np.inf])}),
        (GaussianClassifier().fit(X, labels), {"priors_": np.array([1.5, -0.5])}),
        (GaussianClassifier(covariance="full").fit(X, labels), {"_densities.log_determinants": np.full(2, np.nan)}),
        (kesler, {"_scan.numbers": np.where(np.arange(SIZE) == UPDATES, np.inf, kesler._scan.numbers)}),
        (LinearRegression().fit(twice, Y), {"_fits.0.factor.alive": np.array([True, True, False, True])}),
    ):
        forged(tmp_path / "m", model, **tensors)
        with pytest.raises(ModelFileError, match="does not describe a fitted"):
            load(tmp_path / "m")


@pytest.mark.parametrize(
    "notations",
    [
        (Notation("banana", "", ("x",)),),
        (Notation("%d banana", "", ("x",)),),
        (Notation(",", "", ("elsewhere",)),),
        (Notation(",", "", ("x",)), Notation(".", "%", ("x",))),
        (Notation(",", "", ("x", "x")),),
        (Notation(",", "\x1b[2J", ("x",)),),
        (Notation("%d.%m.%Y", "%", ("x",)),),
        (Notation(",", "", ()),),
    ],
)
def test_notations_that_no_file_has(notations: tuple[Notation, ...], tmp_path: Path) -> None:
    model = LinearRegression().fit(open_table({"x": [1.0, 2.0, 4.0], "y": [1.0, 3.0, 2.0]}, target="y"))
    save(model, tmp_path / "m")
    head, stored = container.read(tmp_path / "m")
    coding = head["state"]["coding_"]["Coding"]
    whole = (Notation(",", "%", ("x",)), Notation("%H:%M:%S", "", ("y",)))
    for given, good in ((whole, True), (notations, False)):
        coding["notations"] = encode({"a": replace(model.coding_, notations=given)}, {})["a"]["Coding"]["notations"]
        container.write(tmp_path / "m", {key: value for key, value in head.items() if key != "data"}, stored)
        if good:
            assert load(tmp_path / "m").coding_.notations == whole
        else:
            with pytest.raises(ModelFileError, match="does not describe a fitted"):
                load(tmp_path / "m")


def bombs() -> dict[str, dict[str, Any]]:
    """Return trees of state that are small as text, and huge as arrays."""
    wide = {"array": {"dtype": "<U9999999", "shape": [20], "values": ["a"] * 20}}
    some = {"array": {"dtype": "<U100000", "shape": [20], "values": ["a"] * 20}}
    none = {"array": {"dtype": "<U9999999", "shape": [0], "values": []}}
    deep: Any = 1
    for _ in range(DEEPEST + 1):
        deep = [deep]
    return {"wide": {"a": wide}, "many": {"a": [some] * 200}, "empty": {"a": [none] * 200}, "deep": {"a": deep}}


@pytest.mark.parametrize("name", bombs())
def test_a_small_file_takes_little_memory(name: str, tmp_path: Path) -> None:
    save(Ridge().fit(X, Y), tmp_path / "m")
    head, tensors = container.read(tmp_path / "m")
    container.write(tmp_path / "m", {**head, "state": {**head["state"], **bombs()[name]}}, tensors)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=r"take too much room|inside each other"):
            load(tmp_path / "m")
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


def test_tensors_that_nothing_uses(tmp_path: Path) -> None:
    save(Ridge().fit(X, Y), tmp_path / "m")
    head, tensors = container.read(tmp_path / "m")
    container.write(tmp_path / "m", head, {**tensors, "more": np.ones(3)})
    with pytest.raises(ModelFileError, match="tensors that nothing uses"):
        load(tmp_path / "m")


def test_long_texts_are_stored() -> None:
    for texts in (np.array(["a" * 10_000, "b"]), np.array([f"level {i}" for i in range(20_000)] + ["x" * 200])):
        np.testing.assert_array_equal(decode(encode({"a": texts}))["a"], texts)
    assert PADDING > 10


def many_levels(levels: int) -> Any:
    """Return a model of a category of so many levels, as if it had been fitted to them."""
    model = LMS(rate=0.1).fit(pd.DataFrame({"kind": list("abca")}), [1.0, 2.0, 3.0, 1.0])
    names = tuple(f"level {i}" for i in range(levels))
    column = replace(model.coding_.columns[0], levels=names, share=(1 / levels,) * levels)
    model.coding_ = replace(model.coding_, columns=(column,))
    model.n_features_in_ = levels - 1
    model.feature_names_in_ = np.array(model.coding_.names, dtype=object)
    model._names, model._typical = model.coding_.names, np.zeros(levels - 1)
    model._scan = LMSRule.start(Shape(levels - 1, 1), rate=0.1)
    return model


def test_many_levels_are_stored(tmp_path: Path) -> None:
    model = many_levels(50_000)
    save(model, tmp_path / "m")
    assert_equal(load(tmp_path / "m"), model)


def test_a_model_that_could_not_be_loaded_is_not_stored(tmp_path: Path) -> None:
    model = Ridge().fit(X, Y)
    model.coef_ = np.ones(7)
    with pytest.raises(InvalidData, match="cannot store this Ridge, as it could not be loaded again"):
        save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_what_fit_must_set_has_a_form() -> None:
    named = {name for names in (*REQUIRED.values(), *SOLVED.values()) for name in names.split()}
    assert named <= STATE.keys()


@pytest.mark.filterwarnings("ignore:overflow")
def test_predictions_beyond_the_range_have_no_score(tmp_path: Path) -> None:
    forged(tmp_path / "m", LinearRegression().fit(X, Y), coef_=np.full(3, 1e308))
    with pytest.raises(InvalidData, match="the output of row 0 overflows float64"):
        load(tmp_path / "m").score(100 * X, Y)
    forged(tmp_path / "m", GeneralizedLinear(activation="tanh").fit(X, np.tanh(Y)), coef_=np.full(3, 1e308))
    with pytest.raises(InvalidData, match="overflows float64"):
        load(tmp_path / "m").decision_function(100 * X)
    forged(tmp_path / "m", LinearRegression().fit(X, Y), **{"_fits.0.factor.length": np.full(3, 5e-324)})
    with pytest.raises(InvalidData, match="no robust errors"):
        load(tmp_path / "m").summary(errors="HC0", X=X, y=Y)


def test_a_list_cannot_be_unpacked_twice(tmp_path: Path) -> None:
    save(LMS().fit(X, Y), tmp_path / "m")
    head, tensors = container.read(tmp_path / "m")
    head.pop("data")
    tensors["many"] = np.frombuffer(b"[" + b"0," * 1999 + b"0]", np.uint8)
    head["state"]["h"] = [{"json": "many"}] * 3
    container.write(tmp_path / "m", head, tensors)
    with pytest.raises(ModelFileError):
        load(tmp_path / "m")


def test_a_file_system_without_locks_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def flock(*_: Any) -> None:
        raise OSError(errno.ENOTSUP, "no locks here")

    monkeypatch.setattr(fcntl, "flock", flock)
    save(LinearRegression().fit(X, Y), tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
