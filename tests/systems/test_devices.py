"""Systems on arrays of other packages: the answers of NumPy's, results where the rows lie, and what is refused.

`array_api_strict` has a device whose arrays NumPy cannot read; torch tensors are tested where torch is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from numpy.typing import NDArray

import adaline
from adaline.arrays import host, host_values, is_device, package_of
from adaline.errors import InvalidData
from adaline.estimator import RegressorMixin
from adaline.row_hashes import row_uniforms, row_uniforms_beside
from adaline.sources import ArraySource, DeviceSource
from adaline.sums import ClassWeights, Point, Targets, ThinnedCurvature, Thinning, View
from adaline.systems import SYSTEMS, UNSUPERVISED

Array = NDArray[Any]
DEVICE = strict.Device("device1")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3)) + np.array([0.0, 3.0, 0.0])
Z = X @ [1.0, -0.5, 0.3] + 1.5
Y, LABELS = Z + RNG.standard_t(3, 240), (Z + RNG.logistic(size=240) > 0).astype(int)
COUNTS, THREE = RNG.poisson(np.exp(Z / 4)).astype(float), np.digitize(Z + RNG.normal(size=240), [-1, 1])


def there(array: Any) -> Any:
    return strict.asarray(array, device=DEVICE)


SUPERVISED: dict[str, tuple[Callable[[], Any], Array, tuple[str, ...]]] = {
    "linear": (adaline.LinearRegression, Y, ("predict",)),
    "huber": (adaline.RobustRegression, Y, ("predict",)),
    "tukey": (lambda: adaline.RobustRegression(loss="tukey"), Y, ("predict",)),
    "huber scale": (lambda: adaline.RobustRegression(scale="huber"), Y, ("predict",)),
    "quantile": (lambda: adaline.RobustRegression(loss="quantile"), Y, ("predict",)),
    "poisson": (lambda: adaline.GeneralizedLinear(loss="poisson"), COUNTS, ("predict", "decision_function")),
    "logistic": (
        adaline.LogisticRegression,
        LABELS,
        ("predict", "predict_proba", "predict_log_proba", "decision_function"),
    ),
    "softmax": (
        lambda: adaline.LogisticRegression(penalty=1.0),
        THREE,
        ("predict", "predict_proba", "predict_log_proba", "decision_function"),
    ),
    "pairs": (
        lambda: adaline.LogisticRegression(scheme="one-vs-one"),
        THREE,
        ("predict", "predict_proba", "decision_function"),
    ),
    "lasso": (lambda: adaline.ElasticNet(penalty=1.0), Y, ("predict",)),
    "ordinal": (
        adaline.OrdinalRegression,
        THREE,
        ("predict", "predict_proba", "predict_log_proba", "decision_function", "latent"),
    ),
    "lms": (adaline.LMS, Y, ("predict",)),
    "perceptron": (adaline.Perceptron, LABELS, ("predict", "decision_function")),
    "sigmoid": (adaline.SigmoidPerceptron, LABELS, ("predict", "predict_proba", "decision_function")),
    "kesler": (adaline.KeslerPerceptron, THREE, ("predict", "decision_function")),
    "fisher": (adaline.FisherDiscriminant, THREE, ("predict", "transform", "decision_function")),
    "one against the rest": (
        lambda: adaline.OneVsRest(adaline.LogisticRegression()),
        THREE,
        ("predict", "predict_proba", "decision_function", "decisions"),
    ),
    "one against one": (
        lambda: adaline.OneVsOne(adaline.LogisticRegression()),
        THREE,
        ("predict", "decision_function", "decisions"),
    ),
    "gaussian": (adaline.GaussianClassifier, LABELS, ("predict", "predict_proba", "decision_function")),
    "ellipses": (
        lambda: adaline.GaussianClassifier(covariance="full"),
        THREE,
        ("predict", "predict_proba", "decision_function"),
    ),
}


@pytest.mark.parametrize("name", SUPERVISED)
def test_results_are_those_of_arrays_and_lie_where_the_rows_do(name: str) -> None:
    make, y, methods = SUPERVISED[name]
    sought, found = make().fit(X, y), make().fit(there(X), there(y))
    for method in methods:
        values = getattr(found, method)(there(X))
        assert package_of(values) == "array_api_strict"
        assert values.device == DEVICE
        np.testing.assert_allclose(host(values), getattr(sought, method)(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.score(there(X), there(y)), sought.score(X, y), rtol=1e-9)


def test_a_model_that_was_fitted_on_the_host_predicts_where_rows_lie() -> None:
    model = adaline.ElasticNet(loss="logistic", penalty=1.0).fit(X, LABELS)
    for method in ("predict", "predict_proba", "decision_function"):
        values = getattr(model, method)(there(X))
        assert values.device == DEVICE
        np.testing.assert_allclose(host(values), getattr(model, method)(X), rtol=1e-12)


def test_clusters_and_mixtures_lie_where_the_rows_do() -> None:
    for make in (lambda: adaline.KMeans(n_clusters=3), lambda: adaline.GaussianMixture(n_components=2)):
        sought, found = make().fit(X), make().fit(there(X))
        for method in ("predict", "transform", "predict_proba", "score_samples"):
            if hasattr(found, method):
                values = getattr(found, method)(there(X))
                assert values.device == DEVICE
                np.testing.assert_allclose(host(values), getattr(sought, method)(X), rtol=1e-6, atol=1e-9)
        if hasattr(found, "labels_"):
            assert found.labels_.device == DEVICE
            np.testing.assert_array_equal(host_values(found.labels_), sought.labels_)


OF_ROWS = (
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "decisions", "ambiguous", "latent"),
    *("transform", "score_samples", "log_likelihood", "mahalanobis", "row_weights", "filter"),
)
"""Methods that return a value for each row."""
EVERY = {**SYSTEMS, **UNSUPERVISED}
MADE: dict[str, Callable[[Any], Any]] = {
    "WienerFilter": lambda cls: cls(taps=4, delay=1),
    "AdaptiveFilter": lambda cls: cls(taps=4, delay=1, fit_intercept=True),
    "OneVsRest": lambda cls: cls(adaline.LogisticRegression()),
    "OneVsOne": lambda cls: cls(adaline.LogisticRegression()),
    "KMeans": lambda cls: cls(n_clusters=3),
}


@pytest.mark.parametrize("device", ["device1", "no_float64"])
@pytest.mark.parametrize("name", EVERY)
def test_values_of_rows_lie_where_the_rows_do(name: str, device: str) -> None:
    """`no_float64` stands for the devices of Apple (MPS): rows are summed on the host, and values come back there."""
    own = strict.Device(device)
    exact = device != "no_float64"
    rows = X[:80] if exact else X[:80].astype(np.float32)
    y = {"LMS": Y, "GeneralizedLinear": Y}.get(name, Y if issubclass(EVERY[name], RegressorMixin) else THREE)[:80]
    y = y if exact else y.astype(np.float32 if y.dtype == np.float64 else y.dtype)
    on_device, on_host = (
        MADE.get(name, lambda cls: cls())(EVERY[name]).fit(*given)
        for given in ((strict.asarray(rows, device=own), strict.asarray(y, device=own)), (rows, y))
    )
    found = [method for method in OF_ROWS if hasattr(on_device, method)]
    assert found
    for method in found:
        extra = (y,) if method in ("row_weights", "filter") else ()
        there_values = getattr(on_device, method)(strict.asarray(rows, device=own), *extra)
        here_values = getattr(on_host, method)(rows, *extra)
        pairs = zip(there_values, here_values, strict=True) if method == "filter" else [(there_values, here_values)]
        for got, wanted in pairs:
            assert is_device(got), method
            assert got.device == own
            np.testing.assert_allclose(host(got), wanted, rtol=1e-6 if exact else 1e-5, atol=1e-6)


def test_texts_as_labels_stay_on_the_host() -> None:
    names = np.array(["no", "yes"])[LABELS]
    found = adaline.LogisticRegression().fit(there(X), names).predict(there(X))
    np.testing.assert_array_equal(found, adaline.LogisticRegression().fit(X, names).predict(X))


@pytest.mark.parametrize("kind", [float, int, np.float32])
def test_labels_keep_their_kind(kind: Any) -> None:
    for labels in (LABELS, 3 * LABELS - 1):
        sought = adaline.LogisticRegression().fit(X, labels.astype(kind))
        found = adaline.LogisticRegression().fit(there(X), there(labels.astype(kind)))
        assert found.classes_.dtype.kind == sought.classes_.dtype.kind
        np.testing.assert_array_equal(found.classes_, sought.classes_)
        np.testing.assert_allclose(host(found.coef_), sought.coef_, rtol=1e-6)
    for bad in (np.nan, np.inf, 0.5):
        wrong = LABELS.astype(float)
        wrong[17] = bad
        with pytest.raises(InvalidData, match="row 17" if bad != 0.5 else "continuous"):
            adaline.LogisticRegression().fit(there(X), there(wrong))


def test_targets_and_weights_follow_the_rows() -> None:
    weight = RNG.integers(1, 4, 240).astype(float)
    sought = adaline.LogisticRegression().fit(X, LABELS, weight)
    for rows, labels, own in ((there(X), LABELS, weight), (there(X), there(LABELS), there(weight))):
        found = adaline.LogisticRegression().fit(rows, labels, own)
        np.testing.assert_allclose(host(found.coef_), sought.coef_, rtol=1e-6)
        assert is_device(found.coef_)
    for labels in (there(LABELS), there(LABELS.astype(float))):
        found = adaline.LogisticRegression().fit(X, labels, there(weight))  # rows on the host, targets on a device
        np.testing.assert_array_equal(found.coef_, sought.coef_)
    np.testing.assert_array_equal(adaline.Ridge().fit(X, there(Y)).coef_, adaline.Ridge().fit(X, Y).coef_)


def test_the_weights_of_classes_are_counted_where_the_labels_lie() -> None:
    codes, weight = THREE[:, None].astype(float), RNG.integers(0, 3, 240).astype(float)
    for own in (None, weight):
        found, sought = (
            source.sum(ClassWeights) for source in (DeviceSource(there(X), codes, own), ArraySource(X, codes, own))
        )
        np.testing.assert_array_equal(found.weights, sought.weights)
        assert found.lightest == sought.lightest


@pytest.mark.parametrize("bad", [-1.0, np.nan])
def test_targets_that_a_loss_does_not_admit_are_named(bad: float) -> None:
    counts = COUNTS.copy()
    counts[17] = bad
    with pytest.raises(InvalidData, match="row 17"):
        adaline.GeneralizedLinear(loss="poisson").fit(there(X), there(counts))
    found = DeviceSource(there(X), COUNTS[:, None]).sum(Targets, adaline.losses.Poisson())
    sought = ArraySource(X, COUNTS[:, None]).sum(Targets, adaline.losses.Poisson())
    np.testing.assert_allclose(found.sums, sought.sums, rtol=1e-13)


def test_the_rows_sampled_for_a_metric_are_the_same_on_a_device() -> None:
    for first, salt in ((0, 0), (12345, 7), (2**40, 19)):
        np.testing.assert_array_equal(
            host(row_uniforms_beside(there(np.zeros(50)), first, salt)), row_uniforms(first, 50, salt)
        )
    theta = RNG.normal(size=(3, 4))
    view = View(np.full(3, 0.5), np.array([0.0, -1.5, 0.0]))
    thinning = Thinning(Point(adaline.losses.Softmax(), theta, view), np.full(4, 0.2), np.array([[0.6, -0.8, 0.2]]))
    found, sought = (
        source.sum(ThinnedCurvature, thinning, outputs=4).sums
        for source in (DeviceSource(there(X), THREE[:, None]), ArraySource(X, THREE[:, None].astype(float)))
    )
    np.testing.assert_allclose(found, sought, rtol=1e-12, atol=1e-12)


def test_a_metric_is_factored_on_the_device() -> None:
    rows = RNG.normal(size=(3, 30, 5))
    blocks, contrasts, g = rows.transpose(0, 2, 1) @ rows, np.array([[0.6, -0.8]]), RNG.normal(size=(2, 5))
    from adaline.solvers.smooth.lbfgs import of_blocks

    found, sought = (of_blocks(blocks.copy(), contrasts, like)(g) for like in (there(np.zeros(0)), None))
    np.testing.assert_allclose(found, sought, rtol=1e-10)


def torch_or_skip() -> Any:
    return pytest.importorskip("torch")


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_halves_are_taken_as_they_are_and_summed_in_float64(half: str) -> None:
    torch = torch_or_skip()
    rows = torch.tensor(X).to(getattr(torch, half))
    sought = adaline.LinearRegression().fit(rows.double().numpy(), Y)
    found = adaline.LinearRegression().fit(rows, torch.tensor(Y))
    np.testing.assert_allclose(host(found.coef_), sought.coef_, rtol=1e-9)
    assert found.coef_.dtype == torch.float64


def test_a_tensor_that_requires_gradients_is_fitted_without_them() -> None:
    torch = torch_or_skip()
    rows, y = torch.tensor(X, requires_grad=True), torch.tensor(Y, requires_grad=True)
    found = adaline.LinearRegression().fit(rows, y)
    assert not found.coef_.requires_grad
    np.testing.assert_allclose(host(found.coef_), adaline.LinearRegression().fit(X, Y).coef_, rtol=1e-9)


def test_a_model_is_as_before_where_a_device_has_too_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = torch_or_skip()
    model = adaline.LogisticRegression().fit(torch.tensor(X), torch.tensor(LABELS))
    before = host(model.coef_).copy()

    def full(*_: Any, **__: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("adaline.sums.objective.device_objective", full)
    with pytest.raises(torch.OutOfMemoryError, match="out of memory"):
        model.fit(torch.tensor(2 * X), torch.tensor(LABELS))
    np.testing.assert_array_equal(host(model.coef_), before)


def test_labels_on_a_device_are_stored_as_whole_numbers(tmp_path: Any) -> None:
    model = adaline.KMeans(n_clusters=3).fit(there(X))
    adaline.save(model, tmp_path / "model.adaline")
    np.testing.assert_array_equal(adaline.load(tmp_path / "model.adaline").labels_, host_values(model.labels_))
