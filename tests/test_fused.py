"""The kernels for CUDA devices against the references of the sums: on a device, else in Triton's interpreter."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import adaline
from adaline.arrays import host
from adaline.block import Block, Shape
from adaline.kernels import fused_kernels
from adaline.losses import LOSSES, Huber, Loss
from adaline.row_hashes import row_uniforms, row_uniforms_beside
from adaline.sources import ArraySource, DeviceSource
from adaline.sums import Centres, Moments, Objective, Point, Spread, Theta, View
from adaline.sums.clusters import clusters_reference, nearest_centres
from adaline.sums.mixture import Components, mixture_reference
from adaline.sums.objective import objective_reference
from adaline.sums.spread import fused_spread, spread_reference
from tests.solvers.least_squares import exact as exactly
from tests.solvers.least_squares.test_digits import check_claim, draw
from tests.sums.examples import KERNELS, exact
from tests.sums.test_residual import in_fractions
from tests.turns import in_turn

Array = NDArray[Any]

torch = pytest.importorskip("torch")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
INTERPRET = {"TRITON_INTERPRET": "1"} if DEVICE == "cpu" else {}
with pytest.MonkeyPatch.context() as patch:  # Triton decides when it is imported
    for variable, setting in INTERPRET.items():
        patch.setenv(variable, setting)
    pytest.importorskip("triton")
    import triton.language as tl

    from adaline import fused
    from adaline.fused import tiles

ROWS, D = 70 if DEVICE == "cpu" else 1003, 5
MAIN = ("logistic", "softmax", "huber")


def reduced_by_halves(op: Any, values: Any) -> list[Any]:
    """Reduce in pairs, as a device does; Triton's interpreter takes one number at a time, and minutes."""
    parts = [np.moveaxis(one.handle.data, op.axis, 0) for one in values]
    while (half := len(parts[0]) // 2) > 0:
        both = (part[rows] for rows in (slice(half), slice(half, None)) for part in parts)
        parts = [one.handle.data for one in op.combine_fn.fn(*(op.to_tensor(part, tl.float64) for part in both))]
    return [op.to_tensor(part[0], tl.float64) for part in parts]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits take the kernels too, interpreted where there is no device; programs have several tiles, and rows pieces."""
    monkeypatch.setattr(tiles, "multiprocessors", lambda device: 1)
    monkeypatch.setattr(sys.modules["adaline.fused.objective"], "HELD", 72 * 32)
    if DEVICE == "cpu":
        monkeypatch.setattr("triton.runtime.interpreter.ReduceOps.generic_reduce", reduced_by_halves)
    for variable, setting in INTERPRET.items():
        monkeypatch.setenv(variable, setting)


def there(array: Array | None, dtype: Any = None) -> Any:
    return None if array is None else torch.tensor(array, dtype=dtype or torch.float64, device=DEVICE)


def targets(loss: Loss, outputs: int, rng: np.random.Generator) -> Array:
    if loss.coupled:
        return rng.integers(0, outputs, (ROWS, 1)).astype(float)
    if loss.name in ("perceptron", "squared_hinge", "tanh_squared"):
        return rng.choice([-1.0, 1.0], (ROWS, outputs))
    return rng.integers(0, 2, (ROWS, outputs)).astype(float) + (loss.name == "gamma")


def close(found: Array, sought: Array, allowed: float = 2e-14) -> None:
    np.testing.assert_allclose(found, sought, rtol=0, atol=allowed * np.abs(sought).max(initial=1e-300))


def some_weights(rng: np.random.Generator, weighted: bool, rows: int = ROWS) -> Any:
    return rng.integers(0, 3, rows).astype(float) if weighted else None


CASES = {  # outputs, what is asked of second derivatives, near, weighted, float32
    "alone": (1, "alone", False, True, False),
    "alone, near": (1, "alone", True, False, True),
    "rows": (1, "rows", True, True, False),
    "three": (3, "none", False, True, True),
    "three, near": (3, "none", True, False, False),
}


@pytest.mark.parametrize("name", KERNELS)
@in_turn("case", lambda name: [case for case in CASES if "near" not in case or name in MAIN])
def test_value_and_derivatives_are_those_of_the_reference(name: str, case: str) -> None:
    rng, loss, (outputs, second, near, weighted, single) = np.random.default_rng(0), KERNELS[name](), CASES[case]
    if loss.coupled and outputs == 1:
        return  # one output of softmax has no loss
    x, view = rng.normal(size=(ROWS, D)) + 2, View(np.exp2(rng.integers(-2, 2, D)), rng.normal(size=D))
    theta, t = rng.normal(size=(outputs, 1 + D)), targets(loss, outputs, rng)
    weight = some_weights(rng, weighted)
    rows = there(x, torch.float32 if single else torch.float64)
    at = (loss.kernel, loss.parameter, theta, *view, second, near)
    found = fused.objective(rows, there(t), there(weight), *at)
    if second == "alone" and not loss.convex:
        assert found is None
        return
    block = Block(rows.double().cpu().numpy(), t, weight)
    sought = objective_reference(block, Point(loss, theta, view), "alone" if second == "alone" else "none")
    close(np.concatenate([part.ravel() for part in found[:3] if part is not None]), sought)
    if second == "rows":
        z = theta[0, 0] + (block.x * view.scale + view.offset) @ theta[0, 1:]
        curvature = loss.curvature(z[:, None], t)[:, 0] * (1.0 if weight is None else weight)
        close(found[3].cpu().numpy(), curvature)


@pytest.mark.parametrize("loss", [LOSSES["logistic"](), LOSSES["softmax"](), Huber(0.5)], ids=lambda loss: loss.name)
@in_turn("features", [1, 40, 70])
def test_the_sum_takes_the_kernel_and_cuts_blocks(loss: Loss, features: int) -> None:
    rng, outputs = np.random.default_rng(1), 3 if loss.coupled else 1
    x, theta = rng.normal(size=(ROWS, features)), rng.normal(size=(outputs, 1 + features))
    t, point = targets(loss, outputs, rng), Point(loss, theta, View(np.full(features, 0.5), np.full(features, 20.0)))
    config = {"outputs": outputs, "coupled": loss.coupled, "second": "none" if loss.coupled else "alone"}
    sources = (ArraySource(x, t), DeviceSource(there(x), t), DeviceSource(there(x), t))
    sought, found, again = (source.sum(Objective, point, **config).sums for source in sources)
    close(found, sought, 1e-12)
    assert (again == found).all(), "two runs give the same bits"


@pytest.mark.parametrize(
    ("name", "outputs", "features"), [("logistic", 1, 260), ("logistic", 3, 130), ("softmax", 3, 130)]
)
def test_wide_rows_are_read_twice(name: str, outputs: int, features: int) -> None:
    rng, loss = np.random.default_rng(9), LOSSES[name]()
    for single in (False, True):
        rows = there(rng.normal(size=(ROWS, features)) + 2, torch.float32 if single else torch.float64)
        view = View(np.exp2(rng.integers(-2, 2, features)), rng.normal(size=features))
        theta, t = rng.normal(size=(outputs, 1 + features)), targets(loss, outputs, rng)
        weight = some_weights(rng, single)
        at = (loss.kernel, loss.parameter, theta, *view)
        found = fused.objective(rows, there(t), there(weight), *at, "none", near=True)
        assert fused.objective(rows, there(t), there(weight), *at, "none") is None
        block = Block(rows.double().cpu().numpy(), t, weight)
        sought = objective_reference(block, Point(loss, theta, view), "none")
        close(np.concatenate([found[0].ravel(), found[1].ravel()]), sought, 1e-13)


@in_turn("weighted", [False, True])
def test_the_spread_is_that_of_the_reference_and_shows_constant_columns(weighted: bool) -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(ROWS, D)) * 3 + 1e6
    x[:, 2] = 0.1
    weight = some_weights(rng, weighted)
    found = fused_spread(Block(there(x), there(x[:, :0]), there(weight)))
    sought = spread_reference(Block(x, x[:, :0], weight), np.zeros(D))
    np.testing.assert_allclose(found[0], sought[0])
    for got, wanted in zip(found[1:], sought[1:], strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    assert found[2][2] == 0
    x[7, 1] = np.nan
    assert not DeviceSource(there(x), x[:, :0]).sum(Spread).finite


@in_turn("case", ["all", "chosen", "weighted", "wide", "wide and far", "raw"])
def test_moments_are_those_of_arrays(case: str) -> None:
    rng = np.random.default_rng(5)
    d = 70 if "wide" in case else D
    x, t = rng.normal(size=(ROWS, d)) + (0 if case == "wide" else 1e4), rng.normal(size=(ROWS, 1))
    t = t if case == "wide" else np.hstack([t, t**2])
    weight = some_weights(rng, case == "weighted")
    chosen = np.flatnonzero(rng.random(ROWS) < (0.4 if case == "chosen" else 2.0))
    t = t[chosen]
    found, sought = (Moments.zero(Shape(d, t.shape[1]), centred=case != "raw") for _ in range(2))
    where = torch.tensor(chosen, device=DEVICE) if case == "chosen" else None
    found.add(Block(there(x), there(t), there(weight), chosen=where))
    sought.add(Block(x[chosen], t, weight))
    assert (found.rows, found.weight) == (sought.rows, sought.weight)
    scale = np.ldexp(1.0, found.exponent.astype(int) - sought.exponent.astype(int))
    close(found.second * scale * scale[:, None], sought.second, 1e-12)
    if case != "raw":
        close(found.first_hi, sought.first_hi)


@in_turn("weighted", [False, True])
@in_turn("clusters", [2, 8])
def test_rows_go_to_the_nearest_centre(clusters: int, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    x, points = rng.integers(-2, 3, (ROWS, D)).astype(float), rng.integers(-2, 3, (clusters, D)).astype(float)
    view = View(np.full(D, 0.5), np.full(D, 0.25))  # whole numbers: many rows are as near to two centres
    weight = some_weights(rng, weighted)
    found, index, squares = fused.clusters(there(x), there(weight), points, *view, marked=True)
    block, centres = Block(x, x[:, :0], weight), Centres(points, view)
    close(found, clusters_reference(block, centres))
    sought = nearest_centres(block, centres)
    np.testing.assert_array_equal(index.cpu().numpy(), sought[:, 0])
    close(squares.cpu().numpy(), sought[:, 1])


@in_turn("weighted", [False, True])
def test_responsibilities_are_those_of_the_reference(weighted: bool) -> None:
    rng = np.random.default_rng(6)
    x, view = rng.normal(size=(ROWS, D)), View(np.full(D, 0.5), rng.normal(size=D))
    factors = np.triu(rng.normal(size=(3, D, D))) + 3 * np.eye(D)
    at = Components(np.log([0.2, 0.5, 0.3]), rng.normal(size=(3, D)), factors, view)
    weight = some_weights(rng, weighted)
    found = fused.mixture(there(x), there(weight), at.constants, at.means, at.factors, *view)
    close(found, mixture_reference(Block(x, x[:, :0], weight), at, True), 1e-13)


@pytest.mark.parametrize("case", ["one target", "weighted", "more columns than a tile", "float32"])
def test_residuals_have_thirty_digits(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact sums of rational numbers are the oracle; targets and outputs agree to ten digits, which cancel."""
    rng, rows = np.random.default_rng(8), 24 if DEVICE == "cpu" else 203
    monkeypatch.setattr(sys.modules["adaline.fused.residual"], "TILE_COLUMNS", 16)
    d, k = (20, 1) if case == "more columns than a tile" else (4, 1 if case == "one target" else 2)
    exponent = np.concatenate([rng.integers(-3, 3, d), np.zeros(k)]).astype(float)
    exponent[0], exponent[-1] = 700.0, 5.0  # one power of two alone would overflow
    exponent = np.zeros(d + k) if case == "float32" else exponent
    v = rng.normal(size=(rows, d)).astype(np.float32).astype(float) + 3.0
    hi, lo = rng.normal(size=(k, 1 + d)), 2.0**-56 * rng.normal(size=(k, 1 + d))
    scaled = hi[:, 0] + v @ hi[:, 1:].T + 1e-10 * rng.normal(size=(rows, k))
    x, t = np.ldexp(v, exponent[:d].astype(int)), scaled * np.exp2(exponent[d:])
    weight = rng.integers(0, 4, rows) / 3.0 if case == "weighted" else None
    given = there(x, torch.float32 if case == "float32" else torch.float64)
    found = fused.residual(given, there(t), there(weight), hi, lo, exponent)
    if DEVICE == "cuda":
        again = fused.residual(given, there(t), there(weight), hi, lo, exponent)
        assert (again == found).all(), "two runs give the same bits"
    sought = in_fractions(given.double().cpu().numpy(), t, weight, Theta(hi, lo, exponent))[0]
    error = np.abs(exact(found[..., 0]) + exact(found[..., 1]) - sought)
    assert (error < 1e-27 * (rows if weight is None else weight.sum()) * np.array([1.0] * (d + 1) + [1e-9])).all()


def test_refinement_takes_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, own = [], fused.residual
    monkeypatch.setattr(fused, "residual", lambda *given: calls.append(1) or own(*given))
    rng = np.random.default_rng(9)
    x = rng.normal(size=(40, 2)) @ np.array([[1.0, 1.0], [0.0, 1e-5]])
    y = x @ [1.0, 2.0] + rng.normal(size=40)
    found, sought = (adaline.LinearRegression().fit(*given) for given in ((there(x), there(y)), (x, y)))
    assert calls
    np.testing.assert_allclose(host(found.coef_), sought.coef_, rtol=1e-13)
    assert found.certificate_.digits > 12


def test_fits_to_tensors_are_those_to_arrays() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(150, 3)) + np.array([0.0, 5.0, 0.0])
    z = x @ [1.0, -0.5, 0.3] + 2
    y, labels = z + rng.standard_t(2, 150), (z + rng.logistic(size=150) > 0).astype(int)
    for make, target in (
        (lambda: adaline.LinearRegression(), y),
        (lambda: adaline.LogisticRegression(), labels),
        (lambda: adaline.GaussianClassifier(), labels),
        (lambda: adaline.RobustRegression(), y),
    ):
        found, sought = make().fit(there(x), torch.tensor(target, device=DEVICE)), make().fit(x, target)
        np.testing.assert_allclose(host(found.coef_), sought.coef_, rtol=1e-6)
    found, sought = (adaline.KMeans(n_clusters=3, init=x[:3], max_iter=3).fit(rows) for rows in (there(x), x))
    np.testing.assert_allclose(found.cluster_centers_, sought.cluster_centers_, rtol=1e-10)
    np.testing.assert_array_equal(np.asarray(found.labels_.cpu()), sought.labels_)


def test_uniforms_of_rows_are_the_same_on_a_device() -> None:
    for first, salt in ((0, 0), (12345, 7), (2**40, 19)):
        found = row_uniforms_beside(there(np.zeros(50)), first, salt)
        assert (found.cpu().numpy() == row_uniforms(first, 50, salt)).all()


def test_without_triton_there_are_no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    if DEVICE == "cpu":
        assert fused_kernels(there(np.zeros((2, 2)))) is None
    assert fused_kernels(np.zeros((2, 2))) is None
    assert os.environ.get("TRITON_INTERPRET") is None


@in_turn("near", [False, True])
@in_turn("features", [3, 20, 21])
def test_narrow_rows_are_packed_into_tiles_or_stay_in_registers(features: int, near: bool) -> None:
    rng, loss = np.random.default_rng(7), LOSSES["logistic"]()
    x, view = rng.normal(size=(ROWS + 1, features)), View(np.full(features, 0.5), rng.normal(size=features))
    theta, t = rng.normal(size=(1, 1 + features)), rng.integers(0, 2, (ROWS + 1, 1)).astype(float)
    weight = some_weights(rng, not near, ROWS + 1)
    at = (loss.kernel, loss.parameter, theta, *view, "none", near)
    found = fused.objective(there(x), there(t), there(weight), *at)
    apart = fused.objective(there(np.hstack([x, x]))[:, :features], there(t), there(weight), *at)
    sought = objective_reference(Block(x, t, weight), Point(loss, theta, view), "none")
    for value, gradient, *_ in (found, apart):
        close(np.concatenate([value, gradient.ravel()]), sought)
    signal = there(rng.normal(size=ROWS + features))
    for rows in (signal.unfold(0, features, 1), there(x)[:1].expand(ROWS + 1, features)):  # which share memory
        value, gradient, *_ = fused.objective(rows, there(t), there(weight), *at)
        sought = objective_reference(Block(host(rows).copy(), t, weight), Point(loss, theta, view), "none")
        close(np.concatenate([value, gradient.ravel()]), sought)


def test_the_claim_of_a_certificate_is_honest() -> None:
    for seed in range(50 if DEVICE == "cuda" else 3):
        p = draw(seed)  # condition 1 to 1e12
        model = adaline.LinearRegression(fit_intercept=p.fit_intercept).fit(there(p.X), there(p.y))
        on_host = SimpleNamespace(
            coef_=host(model.coef_),
            intercept_=float(host(model.intercept_)),
            certificate_=model.certificate_,
            fit_intercept=p.fit_intercept,
        )
        check_claim(on_host, exactly.solve(p.X, p.y, fit_intercept=p.fit_intercept), p.X)
