"""GeneralizedLinear against statsmodels, scikit-learn and the systems that it contains."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import statsmodels.api as sm
from scipy import sparse
from sklearn.linear_model import GammaRegressor, PoissonRegressor

from adaline import GeneralizedLinear, LinearRegression, LogisticRegression, Ridge, SigmoidPerceptron, load, save
from adaline.activations import ACTIVATIONS
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter, InvalidType
from adaline.losses import FAMILIES, LOSSES, CustomLoss, Huber, Logistic, Loss, Quantile
from adaline.results import Status
from adaline.storage import export_onnx

OWN_HUBER = CustomLoss(
    lambda z, t: np.where(np.abs(t - z) <= 2.0, 0.5 * (t - z) ** 2, 2.0 * (np.abs(t - z) - 1.0)),
    lambda z, t: np.clip(z - t, -2.0, 2.0),
    lambda z, t: (np.abs(t - z) <= 2.0).astype(float),
)


def rows(n: int = 300, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return X in unlike units, the linear part, and a generator."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 0.0]
    return X, X @ [0.2, 0.05, 1.0] + 0.3, rng


def theta(model: Any) -> Any:
    """Return coefficients, intercept first."""
    return np.concatenate([[model.intercept_], model.coef_])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_poisson_and_gamma_are_those_of_statsmodels(weighted: bool, intercept: bool) -> None:
    X, z, rng = rows()
    weight = rng.integers(0, 4, size=len(X)) if weighted else np.ones(len(X))
    z = z if intercept else z - 0.3
    design = sm.add_constant(X) if intercept else X
    for loss, y, family in (
        ("poisson", rng.poisson(np.exp(z)), sm.families.Poisson()),
        ("gamma", rng.gamma(2.0, np.exp(z) / 2), sm.families.Gamma(sm.families.links.Log())),
    ):
        model = GeneralizedLinear(loss=loss, fit_intercept=intercept).fit(X, y, sample_weight=weight)
        found = sm.GLM(y, design, family=family, freq_weights=weight).fit(tol=1e-14, maxiter=200)
        np.testing.assert_allclose(theta(model)[1 - intercept :], found.params, rtol=1e-10)
        np.testing.assert_allclose(model.predict(X), found.mu, rtol=1e-10)
        assert model.certificate_.status is Status.SOLVED
        assert model.certificate_.digits > 10
        np.testing.assert_allclose(np.exp(model.decision_function(X)), model.predict(X), rtol=1e-14)


@pytest.mark.parametrize(("loss", "peer"), [("poisson", PoissonRegressor), ("gamma", GammaRegressor)])
def test_penalties_are_those_of_scikit_learn(loss: str, peer: Any) -> None:
    X, z, rng = rows()
    y = rng.gamma(2.0, np.exp(z) / 2)
    ours = GeneralizedLinear(loss=loss, penalty=3.0).fit(X, y)
    theirs = peer(alpha=3.0 / len(X), tol=1e-10, solver="newton-cholesky", max_iter=1000).fit(X, y)
    np.testing.assert_allclose(theta(ours), [theirs.intercept_, *theirs.coef_], rtol=1e-7)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_squared_loss_is_linear_regression_and_ridge(intercept: bool) -> None:
    X, z, rng = rows()
    Y = np.column_stack([z, -z]) * 1e3 + rng.normal(size=(len(X), 2))
    for penalty, other in ((0.0, LinearRegression()), (2.0, Ridge(penalty=2.0))):
        for y in (Y, Y[:, 0]):
            a = GeneralizedLinear(penalty=penalty, fit_intercept=intercept).fit(X, y)
            b = other.set_params(fit_intercept=intercept).fit(X, y)
            np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-10)
            np.testing.assert_allclose(a.intercept_, b.intercept_, rtol=1e-10)
            assert np.shape(a.intercept_) == np.shape(b.intercept_)
            assert a.score(X, y) == pytest.approx(b.score(X, y))


def test_logistic_and_softmax_are_logistic_regression() -> None:
    X, z, rng = rows()
    y = (rng.uniform(size=len(z)) < 1 / (1 + np.exp(-z))).astype(float)
    ours, theirs = GeneralizedLinear(loss="logistic").fit(X, y), LogisticRegression().fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict_proba(X)[:, 1], rtol=1e-9)
    y = np.digitize(z + rng.logistic(size=len(z)), [-0.5, 1.0])
    ours, theirs = GeneralizedLinear(loss="softmax", penalty=0.1).fit(X, y), LogisticRegression(penalty=0.1).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ours.predict(X), theirs.predict_proba(X), rtol=1e-8)
    assert ours.intercept_.shape == (3,)
    own = np.eye(3)[y]
    expected = 1 - ((own - ours.predict(X)) ** 2).sum() / ((own - own.mean(axis=0)) ** 2).sum()
    assert ours.score(X, y) == pytest.approx(expected)


@pytest.mark.parametrize("activation", ["logistic", "tanh"])
def test_the_sigmoidal_perceptron_has_the_same_minimum(activation: str) -> None:
    X, z, rng = rows()
    y = (rng.uniform(size=len(z)) < 1 / (1 + np.exp(-z))).astype(float)
    ours = GeneralizedLinear(activation=activation).fit(X, y if activation == "logistic" else 2 * y - 1)
    theirs = SigmoidPerceptron(activation=activation, epochs=5000, tol=1e-13).fit(X, y)
    assert ours.certificate_.objective == pytest.approx(theirs.history_[-1], rel=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], rtol=2e-2)
    np.testing.assert_array_equal(ours.predict(X), ACTIVATIONS[activation].value(ours.decision_function(X)))


@pytest.mark.parametrize("name", ["exp", "softplus"])
def test_activations_are_learned_through(name: str) -> None:
    X, z, _ = rows()
    g = ACTIVATIONS[name]
    model = GeneralizedLinear(activation=name).fit(X, g.value(z))
    np.testing.assert_allclose(theta(model), [0.3, 0.2, 0.05, 1.0], rtol=1e-6)
    assert model.certificate_.gap == np.inf


@pytest.mark.parametrize("far", [None, np.zeros(4), np.full(4, 1e4)])
def test_curvature_that_vanishes_hides_no_slope(far: Any) -> None:
    """Every row may be beyond the threshold at the start: Newton's matrix is zero there, and the gradient is not."""
    X, z, rng = rows()
    y = 1e3 * z + rng.standard_t(2, size=len(z))
    model = GeneralizedLinear(loss=Huber(delta=0.5), init=far).fit(X, y)
    slopes = np.clip(model.predict(X) - y, -0.5, 0.5)
    assert np.abs(slopes @ ((X - X.mean(axis=0)) / X.std(axis=0))).max() < 1e-8
    assert model.certificate_.status is Status.SOLVED
    np.testing.assert_allclose(model.coef_, [200.0, 50.0, 1000.0], rtol=1e-2)


@pytest.mark.parametrize("loss", ["squared", "poisson", "huber", "own", "gamma", "logistic"])
@pytest.mark.parametrize("solver", ["newton", "lbfgs", "newton-cg", "gradient"])
def test_the_solver_does_not_matter(loss: str, solver: str) -> None:
    X, z, rng = rows()
    y = rng.gamma(2.0, np.exp(z) / 2)
    y = y / y.max() if loss == "logistic" else y
    settings = {"tol": 1e-15, "epochs": 10000} if solver == "gradient" else {"tol": 1e-14}
    given, built_in = (OWN_HUBER, Huber(delta=2.0)) if loss == "own" else (loss, loss)
    model = GeneralizedLinear(loss=given, penalty=0.5, solver=solver, **settings).fit(X, y)
    exact = GeneralizedLinear(loss=built_in, penalty=0.5).fit(X, y)
    np.testing.assert_allclose(theta(model), theta(exact), rtol=1e-5)
    assert model.certificate_.status is Status.SOLVED


@pytest.mark.slow
@pytest.mark.parametrize("loss", [Huber(), "tukey", OWN_HUBER], ids=["huber", "tukey", "own"])
def test_many_rows_take_the_staged_solver(loss: Any) -> None:
    X, z, rng = rows(n=120_000)
    y = z + rng.standard_t(2, size=len(z))
    proof = GeneralizedLinear(loss=loss).fit(np.column_stack([X, rng.normal(size=(len(X), 60))]), y).certificate_
    assert proof.status is Status.SOLVED
    assert "sample" in proof.solver
    assert proof.gradient < 1e-4


def test_a_level_that_no_sample_has_leaves_a_start_near_the_minimum_in_use() -> None:
    level = np.where(np.arange(40_000) < 4, 0, 1 + np.arange(40_000) % 59)
    X = np.eye(60)[level][:, :-1]
    y = np.random.default_rng(0).poisson(np.where(level == 0, 1e6, 1000.0)).astype(float)
    model = GeneralizedLinear(loss="poisson", warm_start=True).fit(X, y)
    passes = model.certificate_.passes
    again = model.fit(X, y).certificate_
    assert again.status is Status.SOLVED
    assert again.passes <= 0.6 * passes


@pytest.mark.parametrize("columns", [3, 24])
def test_a_row_far_from_the_others_hides_no_minimum(columns: int) -> None:
    """One row, in no sample, whose mean would be astronomical under the weights of the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, columns))
    y = rng.poisson(np.exp(1 + 0.3 * X[:, 0] + 0.3 * X[:, 1])).astype(float)
    X[1, 1] = 200.0
    model = GeneralizedLinear(loss="poisson").fit(X, y)
    assert model.certificate_.status is Status.SOLVED
    peer = sm.GLM(y, sm.add_constant(X), family=sm.families.Poisson()).fit(tol=1e-12, maxiter=200)
    np.testing.assert_allclose(theta(model), peer.params, rtol=1e-8, atol=1e-10)


def test_counts_that_are_all_zero_on_one_side_end_finite() -> None:
    x = np.array([0.0, 0, 0, 1, 1, 1])[:, None]
    with pytest.warns(AdalineWarning, match="no minimum"):
        model = GeneralizedLinear(loss="poisson").fit(x, [1, 2, 3, 0, 0, 0])
    assert model.certificate_.status is Status.NO_MINIMUM
    assert -40 < model.coef_[0] < -10
    assert model.intercept_ == pytest.approx(np.log(2), abs=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GeneralizedLinear(loss="poisson", penalty=1e-3).fit(x, [1, 2, 3, 0, 0, 0])
        GeneralizedLinear(loss="poisson").fit(x, [1, 2, 3, 0, 0, 1])


def test_slow_steps_under_wide_offsets_are_not_taken_for_counts_without_a_minimum() -> None:
    """The coefficients are those of R's glm; a column that is one only where counts are zero still has none."""
    rng = np.random.default_rng(1)
    X, offset = rng.normal(size=(300, 2)) * [1, 3], rng.normal(size=300) * 4
    y = np.floor(np.exp(X @ [1.5, -1.0] + offset + rng.normal(size=300)))
    model = GeneralizedLinear(loss="poisson").fit(X, y, offset=offset)
    assert model.certificate_.status is Status.SOLVED
    np.testing.assert_allclose(model.coef_, [2.427757, -1.416024], atol=1e-6)
    with pytest.warns(AdalineWarning, match="no minimum"):
        GeneralizedLinear(loss="poisson").fit(np.c_[X, y == 0], y, offset=offset)


@pytest.mark.parametrize(("loss", "value"), [("poisson", 0.0), ("logistic", 0.0), ("logistic", 1.0)])
def test_targets_that_are_all_at_an_end_have_no_minimum(loss: str, value: float) -> None:
    X, _, _ = rows(30)
    with pytest.warns(AdalineWarning, match="no minimum"):
        model = GeneralizedLinear(loss=loss).fit(X, np.full(30, value))
    np.testing.assert_allclose(model.predict(X), value, atol=1e-9)
    assert GeneralizedLinear(loss="poisson").fit(X, np.full(30, 5.0)).certificate_.status is Status.SOLVED


def test_counts_that_end_at_once_have_no_minimum() -> None:
    """Weights run so far that curvature vanishes: the column is not taken for a constant, and no digits are claimed."""
    y = np.r_[np.random.default_rng(0).poisson(4, 20), np.zeros(20)]
    with pytest.warns(AdalineWarning, match="no minimum"):
        model = GeneralizedLinear(loss="poisson").fit(np.r_[np.zeros(20), np.linspace(1e-4, 2, 20)][:, None], y)
    assert model.certificate_.status is Status.NO_MINIMUM
    assert np.isnan(model.certificate_.digits)
    assert model.coef_[0] < -100
    assert not len(model.aliased_)


@pytest.mark.night
def test_counts_that_are_all_zero_in_one_of_many_groups_have_no_minimum() -> None:
    """So many columns that no solver forms second derivatives."""
    X = sparse.random(6000, 3000, density=1e-3, random_state=0, format="csr", data_rvs=np.ones)
    y = np.random.default_rng(0).poisson(3.0, 6000) * (X[:, [0]].toarray().ravel() == 0)
    with pytest.warns(AdalineWarning, match="no minimum"):
        model = GeneralizedLinear(loss="poisson").fit(X, y)
    assert model.certificate_.status is Status.NO_MINIMUM


@pytest.mark.parametrize("near", [1e-6, 1e-8, 0.0])
def test_columns_that_nearly_depend_are_not_taken_for_dependent_ones(near: float) -> None:
    """Those that do depend are named, and not a column beside them."""
    rng = np.random.default_rng(0)
    x, e, z = rng.normal(size=(3, 500))
    X, counts = np.column_stack([x, x + near * e, z]), rng.poisson(np.exp(1 + 0.3 * x + 0.5 * z))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdalineWarning)
        models = [GeneralizedLinear(loss="poisson").fit(X, counts), LogisticRegression().fit(X, counts > 2)]
    for model in models:
        assert model.certificate_.status is (Status.ILL_CONDITIONED if near else Status.RANK_DEFICIENT)
        assert list(model.dependencies_) == ([] if near else ["x1 = x0"])
        assert "Predictions of rows" not in str(model.summary()) or not near


# -- the textbook's rules --------------------------------------------------------------------------------------------


def test_batch_steps_are_the_textbooks() -> None:
    """w += eta sum of (t - y) g' x, from zero, in raw columns."""
    X, z, _ = rows(40)
    X, t = X / 10, np.tanh(z)
    with pytest.warns(UserWarning, match="not converged"):
        model = GeneralizedLinear(activation="tanh", solver="gradient", rate=0.01, epochs=5).fit(X, t)
    w, ones = np.zeros(4), np.column_stack([np.ones(40), X])
    for _ in range(5):
        y = np.tanh(ones @ w)
        w = w + 0.01 * ((t - y) * (1 - y**2)) @ ones
    np.testing.assert_allclose(theta(model), w, rtol=1e-12)
    assert len(model.history_) == model.n_iter_ == 5
    assert model.history_[-1] == pytest.approx(0.5 * ((t - np.tanh(ones @ w)) ** 2).sum())


def test_a_rate_that_is_too_large_diverges_and_keeps_the_best_weights() -> None:
    X, z, _ = rows(40)
    for solver in ("gradient", "stochastic"):
        with pytest.warns(UserWarning, match="diverged"):
            model = GeneralizedLinear(loss=Huber(1e9), solver=solver, rate=10.0).fit(X, z)
        assert model.certificate_.status is Status.DIVERGED
        assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("loss", ["poisson", "absolute", Quantile(level=0.8), "squared", "tanh_squared", "softmax"])
@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_stochastic_steps_are_the_textbooks(loss: Any, penalty: float) -> None:
    """w -= eta_t (slope x + penalty/N w), one row after the other; native scans and the loop alike."""
    X, z, rng = rows(30)
    X = X / 10
    y = {"tanh_squared": np.sign(z), "softmax": np.digitize(z, [0.2, 0.5])}.get(str(loss), rng.poisson(np.exp(z)))
    model = GeneralizedLinear(
        loss=loss, penalty=penalty, solver="stochastic", rate=0.05, schedule="1/t", epochs=2, shuffle=False, tol=0.0
    )
    with pytest.warns(UserWarning, match="not converged"):
        model.fit(X, y)
    kind = model.loss if isinstance(loss, Loss) else LOSSES[loss]()
    w = np.zeros((3 if loss == "softmax" else 1, 4))
    for step in range(60):
        x, t = np.concatenate([[1.0], X[step % 30]]), np.array([[float(y[step % 30])]])
        slope = kind.slope((w @ x)[None, :], t)[0]
        hold = penalty / 30 * w * (np.arange(4) > 0)
        w = w - 0.05 / (step + 1) * (np.outer(slope, x) + hold)
    np.testing.assert_allclose(np.column_stack([model.intercept_, np.atleast_2d(model.coef_)]), w, rtol=1e-9)


@pytest.mark.parametrize("loss", ["poisson", "absolute", "huber", "squared"])
def test_stochastic_steps_of_their_own_rate_come_near(loss: str) -> None:
    X, z, rng = rows(200)
    y = rng.poisson(np.exp(z)) if loss == "poisson" else z + 0.1 * rng.normal(size=len(z))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GeneralizedLinear(loss=loss, solver="stochastic", epochs=40).fit(X, y)
    assert (model.certificate_.solver.endswith("a scan")) == (loss == "squared")
    assert np.corrcoef(model.decision_function(X) if loss == "poisson" else model.predict(X), z)[0, 1] > 0.96


def test_a_warm_start_goes_on() -> None:
    X, z, rng = rows()
    y = rng.poisson(np.exp(z))
    model = GeneralizedLinear(loss="poisson", solver="gradient", epochs=3, warm_start=True, tol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = model.fit(X, y).history_[-1]
        assert model.fit(X, y).history_[-1] < first


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "cubed"}, "loss must be 'squared', .* or a Loss of your own"),
        ({"activation": "relu"}, "activation must be None, 'identity'"),
        ({"activation": "sign"}, "flat.*Perceptron"),
        ({"activation": "softmax"}, "softmax couples"),
        ({"loss": "absolute"}, "corners.*RobustRegression"),
        ({"loss": "perceptron"}, "corners.*Perceptron"),
        ({"loss": Quantile(0.9), "solver": "lbfgs"}, "solver='stochastic'"),
        ({"rate": [1.0, 1.0], "solver": "stochastic"}, "only batch steps"),
        ({"epochs": 0}, "epochs"),
        ({"init": [1.0]}, "init has shape"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, Any], message: str) -> None:
    X, z, _ = rows(20)
    with pytest.raises(InvalidParameter, match=message):
        GeneralizedLinear(**settings).fit(X, z)


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        ("poisson", [1, 2, -1], "-1 at row 2"),
        ("gamma", [1, 0, 1], "0 at row 1"),
        ("logistic", [0, 1, 2], "2 at row 2"),
        ("softmax", [0, 1, 0.5], "0.5 at row 2"),
        ("softmax", [0, 0, 0], "at least 2 classes"),
        ("softmax", [[0, 1], [1, 0], [0, 0]], "one target"),
        ("squared_hinge", [1, -1, 0], "0 at row 2"),
    ],
    ids=str,
)
def test_targets_that_a_loss_does_not_take_are_refused_by_row(loss: str, y: Any, message: str) -> None:
    X, weight = [[0.0], [1.0], [2.0], [4.0]], [1.0, 1.0, 1.0, 0.0]
    with pytest.raises(InvalidData, match=message):
        GeneralizedLinear(loss=loss).fit(X[:3], y)
    bad, other = (GeneralizedLinear(loss="poisson").fit(X, [1, 2, 2, t], weight) for t in (-5.0, 3.0))
    assert bad.coef_ == other.coef_  # a row of weight zero is not looked at


def test_python_code_is_never_stored(tmp_path: Path) -> None:
    X, z, _ = rows()
    model = GeneralizedLinear(loss=OWN_HUBER).fit(X, z)
    with pytest.raises(InvalidType, match="never code"):
        save(model, tmp_path / "m")
    assert not (tmp_path / "m").exists()
    stored = GeneralizedLinear(loss=Huber(delta=2.0), activation="softplus").fit(X, np.exp(z))
    save(stored, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.get_params() == stored.get_params()
    np.testing.assert_array_equal(again.predict(X), stored.predict(X))


@pytest.mark.parametrize(
    ("settings", "target"),
    [
        ({"loss": "softmax"}, "classes"),
        ({"loss": "logistic"}, "shares"),
        ({"activation": "tanh"}, "shares"),
        ({"activation": "softplus"}, "counts"),
        ({"loss": OWN_HUBER}, "counts"),
    ],
    ids=["softmax", "logistic", "tanh", "softplus", "own"],
)
def test_what_it_predicts_is_exported(settings: Any, target: str, tmp_path: Path) -> None:
    ort = pytest.importorskip("onnxruntime")
    X, z, rng = rows()
    p = 1 / (1 + np.exp(-z))
    y = {"counts": rng.poisson(np.exp(z)), "classes": np.digitize(z + rng.normal(size=len(z)), [0, 1]), "shares": p}
    model = GeneralizedLinear(**settings, penalty=1.0).fit(X, y[target])
    for dtype, near in (("float64", 1e-12), ("float32", 2e-5)):
        export_onnx(model, tmp_path / "m.onnx", dtype=dtype)
        session = ort.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
        found = session.run(["prediction"], {"X": X.astype(dtype)})[0]
        np.testing.assert_allclose(found, model.predict(X.astype(dtype)), rtol=near, strict=False)
        assert found.shape == model.predict(X).shape


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "newton-cg"])
@pytest.mark.parametrize("loss", ["softmax", "logistic"])
def test_separated_classes_end_as_in_logistic_regression(loss: str, solver: str) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2] if loss == "softmax" else [0, 1, 1], 20)
    X = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 20, axis=0) + rng.uniform(-1, 1, (60, 2))
    with pytest.warns(AdalineWarning, match="no maximum"):
        model = GeneralizedLinear(loss=loss, solver=solver).fit(X, y)
    with pytest.warns(AdalineWarning, match="no maximum"):
        twin = LogisticRegression(solver=solver).fit(X, y)
    assert model.certificate_.status is twin.certificate_.status is Status.SEPARATED
    assert "give a number as penalty" in model.certificate_.advice
    np.testing.assert_allclose(np.atleast_2d(model.coef_), twin.coef_, rtol=1e-6)


def test_batch_steps_never_call_growing_weights_solved() -> None:
    x = np.array([[0.0], [1], [2], [3], [4], [5]])
    model = GeneralizedLinear(loss="softmax", solver="gradient", epochs=20_000, tol=1e-3)
    with pytest.warns(AdalineWarning, match="the last step reached"):
        model.fit(x, [0, 0, 0, 1, 1, 1])
    assert model.certificate_.status is Status.SEPARATED


def test_quasi_separation_and_none_are_told_apart() -> None:
    x = np.array([[0.0], [1], [2], [2], [3], [4]])
    with pytest.warns(AdalineWarning, match="quasi-separated"):
        GeneralizedLinear(loss="softmax").fit(x, [0, 0, 0, 1, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        near = np.array([[0.0], [1], [2.001], [2], [3], [4]])  # weights of some thousand, but a maximum
        for loss in ("softmax", "logistic"):
            assert GeneralizedLinear(loss=loss).fit(near, [0, 0, 0, 1, 1, 1]).certificate_.status is Status.SOLVED


def test_shares_have_a_least_cost() -> None:
    X, z, _ = rows()
    model = GeneralizedLinear(loss="logistic").fit(X, 1 / (1 + np.exp(-z)))
    assert model.certificate_.status is Status.SOLVED
    t = np.array([[0.0], [0.25], [1.0]])
    best = np.array([[-800.0], [-np.log(3)], [800.0]])
    np.testing.assert_allclose(Logistic().lowest(t), Logistic().value(best, t), atol=1e-15)


@pytest.mark.parametrize("loss", ["gamma", "poisson"])
def test_the_model_without_columns_is_found_under_large_offsets(loss: str) -> None:
    """At an offset of 1e10 rounding kept steps towards it going for ever."""
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(15, 2)), rng.poisson(3.0, 15) + 1.0
    model = GeneralizedLinear(loss=loss).fit(x, t, offset=1e10 + rng.normal(size=15))
    assert model.certificate_.status is Status.SOLVED
    assert np.isfinite(model.deviance_)


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("spread", [0.5, 4.0])
def test_a_negative_binomial_without_columns_has_a_shape_of_its_own(spread: float, offset: bool) -> None:
    """So that the test of all columns is a likelihood ratio, as anova of two of MASS's glm.nb is."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 2))
    mean = np.exp(0.5 + x @ [0.6, -0.3])
    y, own = rng.negative_binomial(spread, spread / (spread + mean)).astype(float), rng.normal(size=400) / 4
    given = {"offset": own} if offset else {}
    model = GeneralizedLinear(loss="negative_binomial").fit(x, y, **given)
    found = model.summary().to_dict()
    alone = GeneralizedLinear(loss="negative_binomial").fit(np.zeros((400, 1)), y, **given).summary().to_dict()
    assert found["null_log_likelihood"] == pytest.approx(alone["log_likelihood"], rel=1e-12)
    ratio = 2 * (found["log_likelihood"] - alone["log_likelihood"])
    assert found["chi2"] == pytest.approx(ratio, rel=1e-9)
    assert found["pseudo_r_squared"] == pytest.approx(1 - found["log_likelihood"] / alone["log_likelihood"], rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("target", ["exact", "constant"])
@pytest.mark.parametrize("loss", ["gamma", "tweedie", "inverse_gaussian", "squared"])
def test_an_exact_fit_of_a_family_has_no_tests(loss: str, target: str, seed: int) -> None:
    """Residuals that are rounding, or what the steps left, measure no dispersion; a constant leaves none to explain."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(8, 40)), 2)) * 10.0 ** rng.integers(-3, 4)
    y = np.exp(3 * (X / np.abs(X).max()).sum(axis=1)) if target == "exact" else np.full(len(X), 7 / 3)
    summary = GeneralizedLinear(loss=loss, link="log").fit(X, y).summary()
    said = summary.to_dict()
    assert any("the fit is exact to rounding" in note for note in said["notes"])
    assert np.isnan([row["p_value"] for row in said["coefficients"]]).all()
    assert said["deviance_explained"] == pytest.approx(1.0 if target == "exact" else np.nan, nan_ok=True)


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_deviances_of_small_residuals_keep_their_digits(loss: str) -> None:
    """Relative residuals e have deviances of about e^2, whatever is lost in t / mean; those of zeros stay zero."""
    e = np.array([1e-9, -1e-7, 1e-5])
    mean = np.array([0.3, 7.0, 1e5])
    t = mean * (1 + e)
    expected = []
    with mpmath.workdps(50):
        for x, m in zip(map(mpmath.mpf, t), map(mpmath.mpf, mean), strict=True):
            log = mpmath.log(x / m)
            expected.append(float(2 * (x * log - (x - m) if loss == "poisson" else (x - m) / m - log)))
    np.testing.assert_allclose(FAMILIES[loss].deviance(mean[:, None], t[:, None])[:, 0], expected, rtol=1e-6)


def test_counts_that_are_all_zero_have_nothing_to_explain() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(AdalineWarning, match="decreases without bound"):
        said = GeneralizedLinear("poisson").fit(X, np.zeros(30)).summary().to_dict()
    assert said["deviance"] < 1e-100
    assert not said["deviance_explained"] < 0
