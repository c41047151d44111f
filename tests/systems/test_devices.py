"""Rows on other devices: labels, targets, weights, samples and metrics there, and what is refused.

That all systems give where rows lie what they give on the host is a law (tests/laws/test_forms.py). `array_api_strict`
has a device whose arrays NumPy cannot read; torch tensors are tested where torch is there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import adaline
from adaline.arrays import host, host_values, is_device
from adaline.errors import InvalidData
from adaline.losses import Poisson, Softmax
from adaline.row_hashes import row_uniforms, row_uniforms_beside
from adaline.solvers.robust.scales import HuberScale
from adaline.solvers.smooth.lbfgs import of_blocks
from adaline.sources import ArraySource, DeviceSource
from adaline.sums import ClassWeights, Point, Targets, ThinnedCurvature, Thinning, View

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3)) + np.array([0.0, 3.0, 0.0])
Z = X @ [1.0, -0.5, 0.3] + 1.5
Y, LABELS = Z + RNG.standard_t(3, 240), (Z + RNG.logistic(size=240) > 0).astype(int)
COUNTS, THREE = RNG.poisson(np.exp(Z / 4)).astype(float), np.digitize(Z + RNG.normal(size=240), [-1, 1])


def there(array: Any) -> Any:
    return strict.asarray(array, device=strict.Device("device1"))


def test_a_model_that_was_fitted_on_the_host_predicts_where_rows_lie() -> None:
    model = adaline.ElasticNet(loss="logistic", penalty=1.0).fit(X, LABELS)
    for method in ("predict", "predict_proba", "decision_function"):
        values = getattr(model, method)(there(X))
        assert values.device == strict.Device("device1")
        np.testing.assert_allclose(host(values), getattr(model, method)(X), rtol=1e-12)


@pytest.mark.every
@pytest.mark.parametrize("n", [5, 7, 9, 239, 240])
def test_the_scale_of_residuals_there_is_that_of_the_host(n: int) -> None:
    rest, weight = 0.1 * (Y[:n] - Y.mean()), np.full(n, 2.0)
    for rule in (HuberScale(1), HuberScale(4)):
        expected = rule.of(rest, weight)
        assert rule.of(there(rest), there(weight)) == pytest.approx(expected, rel=1e-12)


def test_clusters_of_a_device_are_stored_as_whole_numbers(tmp_path: Path) -> None:
    model = adaline.KMeans(n_clusters=3).fit(there(X))
    assert is_device(model.labels_)
    np.testing.assert_array_equal(host_values(model.labels_), adaline.KMeans(n_clusters=3).fit(X).labels_)
    adaline.save(model, tmp_path / "model.adaline")
    np.testing.assert_array_equal(adaline.load(tmp_path / "model.adaline").labels_, host_values(model.labels_))


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


@pytest.mark.parametrize(
    ("system", "y", "bad", "message"),
    [
        (adaline.LogisticRegression(), LABELS, np.nan, "row 17"),
        (adaline.LogisticRegression(), LABELS, np.inf, "row 17"),
        (adaline.LogisticRegression(), LABELS, 0.5, "continuous"),
        (adaline.GeneralizedLinear(loss="poisson"), COUNTS, -1.0, "row 17"),
        (adaline.GeneralizedLinear(loss="poisson"), COUNTS, np.nan, "row 17"),
    ],
)
def test_targets_that_are_not_admitted_are_named(system: Any, y: Any, bad: float, message: str) -> None:
    wrong = y.astype(float)
    wrong[17] = bad
    with pytest.raises(InvalidData, match=message):
        system.fit(there(X), there(wrong))


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


def test_targets_and_the_weights_of_classes_are_summed_where_they_lie() -> None:
    codes, weight = THREE[:, None].astype(float), RNG.integers(0, 3, 240).astype(float)
    for own in (None, weight):
        found, sought = (
            source.sum(ClassWeights) for source in (DeviceSource(there(X), codes, own), ArraySource(X, codes, own))
        )
        np.testing.assert_array_equal(found.weights, sought.weights)
        assert found.lightest == sought.lightest
    device, array = DeviceSource(there(X), COUNTS[:, None]), ArraySource(X, COUNTS[:, None])
    np.testing.assert_allclose(device.sum(Targets, Poisson()).sums, array.sum(Targets, Poisson()).sums, rtol=1e-13)


def test_the_rows_sampled_for_a_metric_are_the_same_on_a_device() -> None:
    for first, salt in ((0, 0), (12345, 7), (2**40, 19)):
        np.testing.assert_array_equal(
            host(row_uniforms_beside(there(np.zeros(50)), first, salt)), row_uniforms(first, 50, salt)
        )
    view = View(np.full(3, 0.5), np.array([0.0, -1.5, 0.0]))
    point = Point(Softmax(), RNG.normal(size=(3, 4)), view)
    thinning = Thinning(point, np.full(4, 0.2), np.array([[0.6, -0.8, 0.2]]))
    found, sought = (
        source.sum(ThinnedCurvature, thinning, outputs=4).sums
        for source in (DeviceSource(there(X), THREE[:, None]), ArraySource(X, THREE[:, None].astype(float)))
    )
    np.testing.assert_allclose(found, sought, rtol=1e-12, atol=1e-12)


def test_a_metric_is_factored_on_the_device() -> None:
    rows = RNG.normal(size=(3, 30, 5))
    blocks, contrasts, g = rows.transpose(0, 2, 1) @ rows, np.array([[0.6, -0.8]]), RNG.normal(size=(2, 5))
    found, sought = (of_blocks(blocks.copy(), contrasts, like)(g) for like in (there(np.zeros(0)), None))
    np.testing.assert_allclose(found, sought, rtol=1e-10)


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_halves_are_taken_as_they_are_and_summed_in_float64(half: str) -> None:
    torch = pytest.importorskip("torch")
    rows = torch.tensor(X).to(getattr(torch, half))
    found = adaline.LinearRegression().fit(rows, torch.tensor(Y))
    expected = adaline.LinearRegression().fit(rows.double().numpy(), Y).coef_
    np.testing.assert_allclose(host(found.coef_), expected, rtol=1e-9)
    assert found.coef_.dtype == torch.float64


def test_a_tensor_that_requires_gradients_is_fitted_without_them() -> None:
    torch = pytest.importorskip("torch")
    found = adaline.LinearRegression().fit(torch.tensor(X, requires_grad=True), torch.tensor(Y, requires_grad=True))
    assert not found.coef_.requires_grad
    np.testing.assert_allclose(host(found.coef_), adaline.LinearRegression().fit(X, Y).coef_, rtol=1e-9)


def test_a_model_is_as_before_where_a_device_has_too_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    model = adaline.LogisticRegression().fit(torch.tensor(X), torch.tensor(LABELS))
    before = host(model.coef_).copy()

    def full(*_: Any, **__: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("adaline.sums.objective.device_objective", full)
    with pytest.raises(torch.OutOfMemoryError, match="out of memory"):
        model.fit(torch.tensor(2 * X), torch.tensor(LABELS))
    np.testing.assert_array_equal(host(model.coef_), before)
