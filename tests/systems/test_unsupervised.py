"""Laws of the systems that learn without targets: arrays, frames, tables, devices, files, threads, scikit-learn."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import array_api_strict as xp
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import adaline
from adaline.cli import main
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from adaline.sources import array
from adaline.sources.tables import source as table_module
from adaline.storage import export_onnx, load, read_header, save
from adaline.systems import SYSTEMS, UNSUPERVISED

Array = NDArray[Any]
Make = Callable[[], Any]

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")


def rows(n: int = 400, seed: int = 0) -> Array:
    """Four groups in unlike columns far from zero."""
    rng = np.random.default_rng(seed)
    groups = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 3.0], [0.0, 7.0, -3.0], [6.0, 7.0, 0.0]])
    return (rng.normal(size=(n, 3)) + groups[rng.integers(0, 4, n)]) * [1.0, 20.0, 0.1] + [100.0, -3000.0, 5.0]


SETTINGS: dict[str, Make] = {
    "KMeans": lambda: adaline.KMeans(n_clusters=4),
    "KMeans(init='random')": lambda: adaline.KMeans(n_clusters=4, init="random", tol=0.0),
    **{
        f"GaussianMixture({kind})": lambda kind=kind: adaline.GaussianMixture(
            n_components=4, covariance_type=kind, tol=1e-6, max_iter=500
        )
        for kind in ("full", "tied", "diag", "spherical")
    },
}
EACH = pytest.mark.parametrize("make", SETTINGS.values(), ids=SETTINGS)


def numbers(model: Any) -> Array:
    """Return what was learned, in one vector."""
    names = ("cluster_centers_",) if hasattr(model, "cluster_centers_") else ("weights_", "means_", "covariances_")
    return np.concatenate([np.ravel(getattr(model, name)) for name in names])


@parametrize_with_checks(
    [cls() for cls in UNSUPERVISED.values()], expected_failed_checks=lambda one: getattr(one, "expected_failures", {})
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.parametrize("system", UNSUPERVISED.values(), ids=UNSUPERVISED)
def test_they_are_documented_and_never_compared(system: type[Any]) -> None:
    text = inspect.getdoc(system) or ""
    for name, parameter in inspect.signature(system).parameters.items():
        assert f"{name} :" in text or f"{name}, " in text or f", {name} :" in text, name
        assert parameter.kind is parameter.KEYWORD_ONLY
    assert "imises" in text.splitlines()[0]
    assert "Lecture" in text
    assert system.compared == ()
    assert system.__name__ in adaline.__all__
    assert system.__name__ not in SYSTEMS


@EACH
def test_stored_cloned_and_fitted_again(make: Make) -> None:
    X = rows()
    model = make()
    before = model.get_params()
    model.fit(X[:50, :2]).fit(X)
    assert all(model.get_params()[key] is value for key, value in before.items())
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model).fit(X)):
        np.testing.assert_array_equal(numbers(other), numbers(model))
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert model.certificate_.status is adaline.Status.SOLVED
    assert model.certificate_.solver in str(model.certificate_)
    assert model.certificate_.passes >= model.n_iter_


@EACH
def test_model_files_keep_every_bit(make: Make, tmp_path: Path) -> None:
    X = pd.DataFrame(rows(), columns=["a", "b", "c"])
    model = make().fit(X)
    save(model, tmp_path / "m")
    back = load(tmp_path / "m")
    assert vars(back).keys() == vars(model).keys()
    np.testing.assert_array_equal(numbers(back), numbers(model))
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert read_header(tmp_path / "m")["system"] == type(model).__name__
    with pytest.raises(InvalidType, match="no ONNX form"):
        export_onnx(model, tmp_path / "m.onnx")


@EACH
def test_layouts_frames_and_devices_give_the_same(make: Make) -> None:
    X = rows().astype(np.float32).astype(np.float64)
    weight = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    model = make().fit(X, sample_weight=weight)
    forms = {
        "float32": X.astype(np.float32),
        "columns": np.asfortranarray(X),
        "frame": pd.DataFrame(X, columns=["a", "b", "c"]),
        "device": xp.asarray(X),
        "list": X.tolist(),
    }
    for name, form in forms.items():
        other = make().fit(form, sample_weight=weight)
        np.testing.assert_allclose(numbers(other), numbers(model), rtol=1e-7, err_msg=name)
        np.testing.assert_array_equal(other.predict(form), model.predict(X))
        assert other.score(form, sample_weight=weight) == pytest.approx(model.score(X, sample_weight=weight))


@EACH
@pytest.mark.parametrize("streamed", [False, True])
def test_tables_give_the_same(make: Make, streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["kind"] = np.where(X[:, 0] > 103, "far", "near")
    frame["times"] = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=150)
    if streamed:
        monkeypatch.setattr(table_module, "KEPT", 0)
        monkeypatch.setattr(table_module, "block_rows", lambda features: 128)
    model = make().fit(X, sample_weight=frame["times"])
    for more in ({}, {"target": "kind"}):  # a target is left alone
        table = adaline.open_table(tmp_path / "t.parquet", features=["a", "b", "c"], weight="times", **more)
        other = make().fit(table)
        assert other.feature_names_in_.tolist() == ["a", "b", "c"]
        np.testing.assert_allclose(numbers(other), numbers(model), rtol=1e-7)
        np.testing.assert_array_equal(other.predict(table), model.predict(X))
        assert other.score(adaline.open_table(tmp_path / "t.parquet")) == pytest.approx(model.score(X))
    with pytest.raises(InvalidParameter, match="brings its own weights"):
        make().fit(table, sample_weight=frame["times"])


@EACH
def test_the_command_line_shows_and_applies_them(
    make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X = pd.DataFrame(rows(), columns=["a", "b", "c"])
    model = make().fit(X)
    X.to_csv(tmp_path / "t.csv", index=False)
    save(model, tmp_path / "m")
    assert main(["summary", str(tmp_path / "m")]) == 0
    assert "certificate: solved" in capsys.readouterr().out
    assert main(["predict", str(tmp_path / "m"), str(tmp_path / "t.csv"), "-o", str(tmp_path / "out.csv")]) == 0
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "out.csv")["prediction"], model.predict(X))


def test_categories_of_a_frame_are_coded() -> None:
    X = rows(200)
    frame = pd.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > -2930, "north", "south")})
    model = adaline.KMeans(n_clusters=2).fit(frame)
    assert model.feature_names_in_.tolist() == ["a", "kind[T.south]"]
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


@pytest.mark.usefixtures("blas_threads")
@EACH
def test_the_number_of_threads_changes_no_bit(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    X = rows(10_000)
    monkeypatch.setattr(array, "block_rows", lambda features: 500)
    found = []
    try:
        for n in (1, 3):
            adaline.set_threads(n)
            found.append(numbers(make().fit(X)))
    finally:
        adaline.set_threads(None)
    np.testing.assert_array_equal(found[0], found[1])


@EACH
def test_a_column_of_weights_is_rows_repeated_from_a_given_start(make: Make) -> None:
    X = rows(120)
    times = np.random.default_rng(2).integers(0, 4, len(X))
    model = make()
    start = X[[3, 30, 60, 90]]
    model.set_params(**({"init": start} if hasattr(model, "init") else {"means_init": start}))
    weighted, repeated = clone(model).fit(X, sample_weight=times), clone(model).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(numbers(weighted), numbers(repeated), rtol=1e-8)


@EACH
def test_they_work_in_pipelines(make: Make) -> None:
    X = rows()
    found = make_pipeline(StandardScaler(), make()).fit(X).predict(X)
    assert len(np.unique(found)) == 4


@EACH
def test_bad_rows_are_named(make: Make) -> None:
    X = rows(60)
    model = make().fit(X)
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        bad = X.copy()
        bad[7, 1] = value
        for call in (make().fit, model.predict, model.score):
            with pytest.raises(InvalidData, match=f"{word}: first at row 7, column 'x1'"):
                call(bad)
    with pytest.raises(InvalidData, match="n_samples=3 is fewer than the 4"):
        make().fit(X[:3])
    with pytest.raises(InvalidData, match="n_samples=2 is fewer"):
        make().fit(X, sample_weight=(np.arange(60) < 2).astype(float))
    with pytest.raises(InvalidParameter, match="random_state"):
        make().set_params(random_state="now").fit(X)
    with pytest.raises(InvalidParameter, match="max_iter"):
        make().set_params(max_iter=0).fit(X)


def test_one_that_fails_leaves_the_model_as_it_was() -> None:
    X = rows()
    model = adaline.GaussianMixture(n_components=2).fit(X)
    before = model.means_.copy()
    with pytest.raises(InvalidData):
        model.fit(np.full((5, 3), np.nan))
    np.testing.assert_array_equal(model.means_, before)
