"""Pipelines of scikit-learn's steps and ours: saved and loaded to the bit, exported, refused by name, never forged."""

from __future__ import annotations

import copy
import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression as Foreign
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from adaline.basis import Custom, Polynomial, Radial, Spline
from adaline.errors import AdalineError, InvalidData, InvalidParameter, InvalidType, ModelFileError
from adaline.storage import container, export_onnx, load, read_header, save
from adaline.systems import (
    AdaptiveFilter,
    CustomMachine,
    FisherDiscriminant,
    GaussianClassifier,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
)
from tests.storage.forge import Forgery, altered, with_changes
from tests.storage.graphs import run
from tests.systems.own_machines import Plane

N = 60
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=N) + 1000.0,
        "b": np.where(np.arange(N) % 7 == 3, np.nan, RNG.normal(size=N)),
        "kind": np.array(["low", "mid", "ä b"])[np.arange(N) % 3],
        "gap": np.array(["x", np.nan, "y", "x"], dtype=object)[np.arange(N) % 4],
        "whole": np.arange(N) % 5,
        "label": RNG.normal(size=N) ** 2,
    }
)
TARGET = FRAME["a"] - 1000.0 + (FRAME["kind"] == "low") * 2.0 + 0.1 * RNG.normal(size=N)
LABELS = np.array(["no", "perhaps", "yes"])[np.digitize(TARGET, [-0.2, 1.0])]
NUMBERS = FRAME[["a", "whole", "label"]].astype(float)
ARRAY = NUMBERS.to_numpy()


def columns(*parts: Any, **more: Any) -> ColumnTransformer:
    return ColumnTransformer([*parts], **more)


def usual(**more: Any) -> ColumnTransformer:
    """Return the usual treatment of numbers and categories."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    gaps = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(drop="first"))
    kinds = OneHotEncoder(handle_unknown="ignore")
    return columns(("number", numbers, ["a", "b"]), ("kind", kinds, ["kind"]), ("gap", gaps, ["gap"]), **more)


PICKED = columns(
    ("n", SimpleImputer(), make_column_selector(dtype_include=np.number)),
    ("s", OrdinalEncoder(), slice("kind", "gap")),
    ("none", StandardScaler(), []),
    ("d", "drop", [-1]),
    ("p", "passthrough", [False, False, False, False, True, False]),
    verbose_feature_names_out="{feature_name}-{transformer_name}",
)
INSIDE = make_pipeline(
    SimpleImputer(strategy="constant", fill_value="none", add_indicator=True),
    columns(("h", OneHotEncoder(sparse_output=False), [0]), ("p", "passthrough", [1])),
)
CODES = columns(
    ("o", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["kind"]),
    ("g", INSIDE, ["gap"]),
    ("w", OneHotEncoder(drop=[2], categories=[[0, 1, 2, 3, 4]], dtype=np.int8), ["whole"]),
)
GAPS = columns(("o", OneHotEncoder(), ["gap", "b"]), ("g", OrdinalEncoder(encoded_missing_value=-2), ["gap"]))
INDICES = columns(("s", StandardScaler(), slice(0, 2)), ("m", "passthrough", np.array([False, False, True])))
NESTED = Pipeline([("inner", make_pipeline(RobustScaler(with_centering=False), "passthrough")), ("m", Ridge())])
FRAMES = columns(("n", SimpleImputer(), ["a", "b"]), ("k", OrdinalEncoder(), ["kind"]))
SCALERS = MinMaxScaler(clip=True), MaxAbsScaler(), RobustScaler(), StandardScaler(with_mean=False)
WEIGHTED = usual(remainder=MinMaxScaler(), transformer_weights={"kind": 2.0})
POWERS = PolynomialFeatures((1, 3), interaction_only=True)

PIPELINES: dict[str, tuple[Any, Any, Any]] = {
    "standard": (make_pipeline(StandardScaler(), LinearRegression()), ARRAY, TARGET),
    "scalers": (make_pipeline(*SCALERS, Ridge()), NUMBERS, TARGET),
    "float32": (make_pipeline(MinMaxScaler((-1, 2)), LogisticRegression(penalty=1.0)), ARRAY.astype("f4"), LABELS),
    "rows": (make_pipeline(Normalizer("max"), Binarizer(threshold=0.001), Normalizer(), Normalizer("l1")), ARRAY, None),
    "nothing": (Pipeline([("p", "passthrough"), ("m", GaussianClassifier())]), NUMBERS, LABELS),
    "powers": (make_pipeline(StandardScaler(), POWERS, LinearRegression()), ARRAY, TARGET),
    "bias": (make_pipeline(StandardScaler(), PolynomialFeatures(2)), ARRAY, None),
    "frames": (make_pipeline(FRAMES, Ridge()).set_output(transform="pandas"), FRAME, TARGET),
    "mixed": (make_pipeline(usual(remainder="passthrough"), LogisticRegression(penalty=0.1)), FRAME, LABELS),
    "weights": (make_pipeline(WEIGHTED, FisherDiscriminant()), FRAME, LABELS),
    "picked": (make_pipeline(PICKED, SimpleImputer(strategy="constant", fill_value=-1.0), Ridge()), FRAME, TARGET),
    "codes": (make_pipeline(CODES, Perceptron(epochs=3)), FRAME, LABELS),
    "gaps": (make_pipeline(GAPS), FRAME.round(0), None),
    "indices": (make_pipeline(INDICES, NESTED), ARRAY, TARGET),
    "projected": (make_pipeline(StandardScaler(), FisherDiscriminant(), GaussianClassifier()), ARRAY, LABELS),
    "empty": (make_pipeline(SimpleImputer(), StandardScaler()), np.column_stack([ARRAY, np.full(N, np.nan)]), None),
    "negative": (make_pipeline(SimpleImputer(missing_values=2.0, strategy="mean", add_indicator=True)), ARRAY, None),
    "basis": (make_pipeline(StandardScaler(), Radial(centres=4) + Polynomial() + Spline(), Ridge()), ARRAY, TARGET),
    "splines": (make_pipeline(StandardScaler(), Spline(df=6), Ridge()), ARRAY, TARGET),
    "natural splines": (make_pipeline(Spline(df=3, natural=True), LinearRegression()), ARRAY, TARGET),
    "straight pieces": (make_pipeline(Spline(df=3, degree=1)), ARRAY, None),
    "filter": (make_pipeline(StandardScaler(), AdaptiveFilter(taps=2)), ARRAY, TARGET),
}
"""Pipelines, and the rows and targets that they are fitted to."""


@cache
def fitted(name: str) -> Any:
    pipeline, X, y = PIPELINES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(pipeline).fit(X, y)


def says(pipeline: Any, X: Any) -> dict[str, Any]:
    """Return what a pipeline makes of rows, by method."""
    out: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("predict", "predict_proba", "decision_function", "transform"):
            if hasattr(pipeline, name):
                made = getattr(pipeline, name)(X)
                out[name] = made.toarray() if issparse(made) else np.asarray(made)
        if hasattr(pipeline, "transform") or type(pipeline[0]) is ColumnTransformer:
            out["names"] = pipeline[: None if hasattr(pipeline, "transform") else 1].get_feature_names_out()
    return out


@pytest.mark.parametrize("name", PIPELINES)
def test_a_loaded_pipeline_is_the_one_that_was_saved(name: str, tmp_path: Path) -> None:
    pipeline, X = fitted(name), PIPELINES[name][1]
    save(pipeline, tmp_path / "m")
    again = load(tmp_path / "m")
    assert type(again) is Pipeline
    expected, found = says(pipeline, X), says(again, X)
    assert list(found) == list(expected)
    for key in expected:
        assert found[key].dtype == expected[key].dtype
        assert found[key].tobytes() == expected[key].tobytes() or key == "names"
        assert key != "names" or found[key].tolist() == expected[key].tolist()
    shown = [re.sub(r"at 0x\w+", "", repr(one)) for one in (again, pipeline)]
    assert shown[0] == shown[1]
    assert str(again.get_params().keys()) == str(pipeline.get_params().keys())
    for (_, one), (_, other) in zip(again.steps, pipeline.steps, strict=True):
        if not isinstance(one, str):
            assert vars(one).keys() == vars(other).keys()
        if isinstance(one, ColumnTransformer):
            for key in ("_columns", "_transformer_to_input_indices", "_remainder", "output_indices_"):
                assert repr(getattr(one, key)) == repr(getattr(other, key))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clone(again).fit(X, PIPELINES[name][2])
    save(again, tmp_path / "again")
    header = read_header(tmp_path / "again")
    assert header["system"] == "Pipeline"
    assert list(header["parameters"]["steps"]) == [step for step, _ in pipeline.steps]
    assert (header["columns"] is None) == (not hasattr(X, "columns"))


OUTPUTS = {
    "predict": ("prediction", "label"),
    "predict_proba": ("probability",),
    "transform": ("transformed", "projection"),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", PIPELINES)
def test_the_graph_says_what_the_pipeline_says(name: str, dtype: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    pipeline, X = fitted(name), PIPELINES[name][1]
    export_onnx(pipeline, tmp_path / "m", dtype=dtype)
    if isinstance(X, pd.DataFrame):
        rows = X.astype({key: dtype for key in X if X[key].dtype.kind == "f"})
        rows = rows.astype({key: "float64" for key in X if X[key].dtype.kind == "f"})
    else:
        rows = X.astype(dtype).astype("float64")
    found, expected = run(tmp_path / "m", rows, dtype), says(pipeline, rows)
    compared = 0
    for method, outputs in OUTPUTS.items():
        for key in set(outputs) & found.keys() if method in expected else ():
            one, other = found[key], expected[method]
            compared += 1
            if key == "label":
                assert np.mean(one == other) > (0.98 if dtype == "float64" else 0.95)
                continue
            assert one.shape == other.shape
            size = np.maximum(np.nanmax(np.abs(other.astype(float)), axis=0), 1.0)
            np.testing.assert_allclose(
                one / size, other.astype(float) / size, atol=1e-9 if dtype == "float64" else 1e-5
            )
    assert compared


def test_unknown_categories_in_a_graph(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    frame = pd.DataFrame({"kind": ["low", "new"], "whole": [1, 1]})
    for unknown in ("ignore", "error"):
        parts = [("k", OneHotEncoder(handle_unknown=unknown, sparse_output=False), ["kind", "whole"])]
        pipeline = make_pipeline(ColumnTransformer(parts)).fit(FRAME)
        export_onnx(pipeline, tmp_path / "m")
        if unknown == "ignore":
            found = run(tmp_path / "m", frame, "float64")["transformed"]
            np.testing.assert_array_equal(found, pipeline.transform(frame))
        else:
            with pytest.raises(Exception, match="out of data bounds"):
                run(tmp_path / "m", frame, "float64")


def test_a_missing_text_that_stays_beside_one_that_is_filled_has_no_graph(tmp_path: Path) -> None:
    """Of a column of objects scikit-learn fills NaN and leaves None, a category; in ONNX both are the empty text."""
    pytest.importorskip("onnx")
    frame = pd.DataFrame({"gap": pd.Series(["x", None, "y", "x"], dtype=object)})
    pipeline = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()).fit(frame)
    with pytest.raises(InvalidData, match="make them NaN"):
        export_onnx(pipeline, tmp_path / "m")


REFUSED: list[tuple[Any, str]] = [
    (make_pipeline(StandardScaler(), PCA(2), Ridge()), r"the step pca: PCA is none of the steps .*StandardScaler"),
    (make_pipeline(StandardScaler(), Foreign()), "the step linearregression: LinearRegression is none"),
    (make_pipeline(FunctionTransformer(np.log1p), Ridge()), "functiontransformer: .* a function of yours"),
    (make_pipeline(StandardScaler(), CustomMachine(Plane())), "custommachine: .* made of Python code.*pickle"),
    (make_pipeline(Custom(np.abs), Ridge()), "the step custom: Custom holds a function"),
    (make_pipeline(OneHotEncoder(max_categories=2), Ridge()), "infrequent categories"),
    (make_pipeline(OneHotEncoder(min_frequency=2), Ridge()), "infrequent categories"),
    (make_pipeline(columns(("n", make_pipeline(PCA(1)), [0])), Ridge()), r"the step columntransformer\.n\.pca: PCA"),
    (make_pipeline(columns(("n", StandardScaler(), lambda x: [0])), Ridge()), "'n' by a function"),
    (make_pipeline(StandardScaler(), Ridge(), memory="."), "memory"),
    (make_pipeline(SimpleImputer(strategy=np.max), Ridge()), "a function among its arguments"),
]


@pytest.mark.every
@pytest.mark.parametrize(("pipeline", "message"), REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_other_steps_are_refused_by_name(
    pipeline: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pipeline = clone(pipeline).fit(ARRAY[:, :3] % 7, TARGET)
    with pytest.raises(InvalidType, match=message):
        save(pipeline, tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        (make_pipeline(StandardScaler(), Foreign()), "ends with LinearRegression, which is not an adaline model"),
        (make_pipeline(FunctionTransformer(np.cbrt), Ridge()), "use a function of numpy such as np.log1p"),
        (make_pipeline(StandardScaler(), CustomMachine(Plane())), "Python code"),
        (make_pipeline(Custom(np.abs), Ridge()), "Python code of your own"),
    ],
    ids=["another system", "a function", "a machine", "a basis"],
)
def test_what_is_python_code_has_no_graph(pipeline: Any, message: str, tmp_path: Path) -> None:
    pipeline = clone(pipeline).fit(ARRAY, TARGET)
    with pytest.raises(InvalidType, match=message):
        export_onnx(pipeline, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_pipeline_that_is_not_fitted_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="not fitted"):
        save(make_pipeline(StandardScaler(), Ridge()), tmp_path / "m")
    half = make_pipeline(StandardScaler(), Ridge().fit(ARRAY, TARGET))
    for write in (save, export_onnx):
        with pytest.raises(AdalineError, match="StandardScaler is not fitted"):
            write(half, tmp_path / "m")
    with pytest.raises(InvalidType, match="nor a Pipeline"):
        save(StandardScaler().fit(ARRAY), tmp_path / "m")


@pytest.mark.parametrize("steps", [[Normalizer(), Binarizer()], []])
def test_columns_that_no_array_holds_are_limited(steps: list[Any], tmp_path: Path) -> None:
    dropped = [(f"drop{i}", "drop", slice(0, None)) for i in range(2)]
    parts = ColumnTransformer([("kept", StandardScaler(), [0]), *dropped])
    pipeline = make_pipeline(*steps, parts, Ridge()).fit(ARRAY, TARGET)
    for _, step in pipeline.steps[:-1]:
        step.n_features_in_ = 600_000
    with pytest.raises(InvalidData, match="too many columns"):
        save(pipeline, tmp_path / "m")


def original(name: str, path: Path) -> Forgery:
    save(fitted(name), path)
    head, tensors = container.read(path)
    return Forgery(name, {key: value for key, value in head.items() if key != "data"}, tensors)


def wrong_with(forged: Forgery, X: Any, path: Path) -> str | None:
    """Return what a forgery ends in, but for a file refused, or a pipeline that works or refuses its rows."""
    try:
        container.write(path, forged.head, forged.tensors)
    except (AdalineError, TypeError, ValueError):
        return None
    try:
        again = load(path)
    except ModelFileError:
        return None
    for use in (lambda one: says(one, X), clone, repr, lambda one: one.get_params(), lambda one: save(one, path)):
        try:
            use(copy.deepcopy(again))
        except (ValueError, AdalineError):
            pass
        except Exception as error:
            return repr(error)
    return None


def step(number: int, of: str = "parameters") -> str:
    """Return the path of the arguments or the state of a step, in the state of a file."""
    return f"steps/{number}/tuple/1/step/{of}"


PARTS, FIRST = f"{step(0, 'state')}/transformers_", "tuple/1/step"
NO_NAMES = {"array": {"dtype": "<U1", "shape": [0], "values": []}}
MISFITS: list[tuple[str, dict[str, Any], str]] = [
    ("scalers", {"steps": []}, "no steps"),
    ("scalers", {"steps/0/tuple/0": 3}, "a step has no name"),
    ("scalers", {"steps/0/tuple/0": "ridge"}, "unique"),
    ("scalers", {"steps/0/tuple/1": "nothing"}, "a step of type str is not supported"),
    ("scalers", {"memory": "."}, "a pipeline with memory"),
    ("scalers", {"verbose": 1}, "verbose of Pipeline is not bool"),
    ("scalers", {"steps": lambda steps: [steps[4], *steps[:4]]}, "Ridge does not transform"),
    ("scalers", {f"{step(0)}/feature_range/tuple": [1, 1]}, "a range is two rising numbers"),
    ("scalers", {f"{step(2)}/quantile_range/tuple": [25.0, 101.0]}, "a range is two rising numbers|quantile_range"),
    ("scalers", {f"{step(0)}/clip": 3}, "clip"),
    ("scalers", {f"{step(0, 'state')}/n_features_in_": 4}, "MinMaxScaler|names of columns"),
    ("scalers", {f"{step(0, 'state')}/n_features_in_": 10**6 + 1}, "too many columns"),
    ("scalers", {f"{step(0, 'state')}/n_features_in_": -1}, "not fitted to a number of columns"),
    ("scalers", {f"{step(0, 'state')}/feature_names_in_/array/values": ["a", "a", "b"]}, "two columns have one name"),
    (
        "scalers",
        {f"{step(0, 'state')}/feature_names_in_/array/values": ["a", "c", 3]},
        "names of columns are not texts",
    ),
    ("scalers", {"steps.0.1.state.scale_": np.ones(4)}, "scale_ of MinMaxScaler is not floats"),
    ("scalers", {f"{step(1, 'state')}/n_samples_seen_": True}, "n_samples_seen_ of MaxAbsScaler"),
    ("scalers", {f"{step(2)}/with_centering": False}, "center_ of RobustScaler goes with with_centering"),
    ("scalers", {f"{step(2)}/with_scaling": False}, "scale_ of RobustScaler goes with with_scaling"),
    ("scalers", {f"{step(3)}/with_std": False}, "scale_ of StandardScaler goes with with_std"),
    ("standard", {f"{step(0, 'state')}/mean_": None}, "mean_ of StandardScaler is missing"),
    ("standard", {f"{step(0, 'state')}/var_": None}, "var_ of StandardScaler is missing"),
    ("standard", {f"{step(0, 'state')}/evil": 1}, "StandardScaler has no evil"),
    ("powers", {f"{step(1)}/degree/tuple": [1, 1001]}, "too many terms"),
    ("powers", {f"{step(1)}/degree/tuple": [1, 2]}, "columns of LinearRegression"),
    ("negative", {f"{step(0)}/add_indicator": False}, "indicator_ of SimpleImputer goes with add_indicator"),
    ("negative", {f"{step(0)}/fill_value": [1]}, "fill_value is no value"),
    ("codes", {f"{PARTS}/0/{FIRST}/parameters/unknown_value": None}, "unknown_value"),
    ("codes", {f"{PARTS}/0/{FIRST}/parameters/max_categories": 3}, "infrequent categories"),
    ("codes", {f"{PARTS}/0/tuple/0": "x"}, "have other names"),
    ("codes", {f"{PARTS}/0/tuple/1": "drop"}, "is another step"),
    ("codes", {f"{PARTS}/0/{FIRST}/state/categories_": [["a"], ["b"]]}, "categories_ of OrdinalEncoder"),
    (
        "codes",
        {f"{PARTS}/0/{FIRST}/state/categories_/0/array/values": ["a", "a", "b"]},
        "categories_ of OrdinalEncoder",
    ),
    ("codes", {f"{PARTS}/2/{FIRST}/state/drop_idx_": None}, "drop_idx_ of OneHotEncoder goes with drop"),
    ("codes", {f"{PARTS}/2/{FIRST}/state/drop_idx_/array/values": [5]}, "a category that is none"),
    ("codes", {f"{PARTS}/2/{FIRST}/state/drop_idx_/array/values": [-1]}, "a category that is none"),
    ("codes", {f"{step(0)}/n_jobs": 257}, "n_jobs is not from 1 to 256"),
    ("codes", {f"{step(0)}/remainder": "nothing"}, "a step of type str is not supported"),
    ("codes", {f"{step(0)}/verbose_feature_names_out": "{x.__class__}"}, "names of columns"),
    ("weights", {f"{step(0)}/transformer_weights": {"dict": [["kind", "x"]]}}, "transformer_weights are not numbers"),
    ("picked", {f"{PARTS}/4/tuple/2": [True]}, "a mask of other columns"),
    ("codes", {f"{step(0, 'state')}/_transformers_feature_names_out": NO_NAMES}, "names of columns"),
]


@pytest.mark.every
@pytest.mark.parametrize(("name", "changes", "message"), MISFITS, ids=[message for *_, message in MISFITS])
def test_steps_that_do_not_fit_together_are_refused(
    name: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    found = with_changes(original(name, tmp_path / "m"), changes)
    container.write(tmp_path / "m", found.head, found.tensors)
    with pytest.raises(ModelFileError, match=f"does not describe a fitted Pipeline: .*({message})"):
        load(tmp_path / "m")


@pytest.mark.parametrize("name", ["codes", "scalers", "powers", "picked"])
def test_a_forged_pipeline_is_refused_or_works(name: str, tmp_path: Path) -> None:
    right, rng, X = original(name, tmp_path / "m"), np.random.default_rng(0), PIPELINES[name][1]
    assert wrong_with(right, X, tmp_path / "m") is None
    load(tmp_path / "m")
    for _ in range(15):
        forged = altered(rng, right)
        assert wrong_with(forged, X, tmp_path / "m") is None, forged.name


def test_a_file_of_another_scikit_learn_works_or_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m"
    right = original("standard", path)
    head = copy.deepcopy(right.head)
    assert head["state"]["_sklearn_version"] == sklearn.__version__
    head["state"]["_sklearn_version"] = "99.1"
    container.write(path, head, right.tensors)
    assert type(load(path)) is Pipeline
    head["state"]["steps"][0]["tuple"][1]["step"]["parameters"]["with_mode"] = True
    container.write(path, head, right.tensors)
    message = r"no argument with_mode \(it was saved with scikit-learn 99\.1, .*install"
    with pytest.raises(ModelFileError, match=message):
        load(path)
