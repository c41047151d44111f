"""Every system with a basis is that system on the columns of phi, however the rows come and however they are read."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression as Foreign

import adaline
from adaline import basis, open_table
from adaline.arrays import host
from adaline.errors import InvalidData, InvalidParameter
from adaline.sources import ArraySource, expanded
from adaline.sources.expanded import ExpandedRows
from adaline.sources.tables import coded_table
from adaline.sources.tables import source as table_module
from adaline.sources.views import Fold, fold_of
from adaline.systems import SYSTEMS, UNSUPERVISED, ClosedFormClassifier, LinearSystem, OnlineSystem
from adaline.systems.families.filter import SignalSystem

ALL = {name: cls for name, cls in {**SYSTEMS, **UNSUPERVISED}.items() if "basis" in cls().get_params()}
EACH = pytest.mark.parametrize("cls", ALL.values(), ids=ALL)
ONLINE = pytest.mark.parametrize("cls", [c for c in SYSTEMS.values() if issubclass(c, OnlineSystem)])
CLASSIFIERS = {name: cls for name, cls in SYSTEMS.items() if is_classifier(cls())}
PHI = pytest.mark.parametrize(
    "phi",
    [
        basis.Polynomial(degree=2),
        basis.Radial(centres=5),
        basis.Polynomial(degree=2, orthogonal=True) + basis.Fourier(terms=3, random=True),
    ],
    ids=["polynomial", "radial", "beside"],
)
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]

RNG = np.random.default_rng(0)
N = 300
X = RNG.normal(size=(N, 2))
W = RNG.integers(1, 3, N).astype(float)
NUMBERS = X[:, 0] * X[:, 1] + 0.2 * RNG.normal(size=N)
LABELS = np.where(NUMBERS + 0.3 * RNG.normal(size=N) > 0, "on", "off")


def target(cls: type[Any]) -> Any:
    return LABELS if is_classifier(cls()) else NUMBERS


def quick(cls: type[Any], **more: Any) -> Any:
    """Return the system; on rows that no plane parts, perceptrons are ended early."""
    epochs = {"epochs": 20} if "epochs" in cls().get_params() and cls is not SYSTEMS["LinearRegression"] else {}
    return cls(**epochs, **more)


def said(model: Any, rows: Any) -> Any:
    """Return what a model says of rows, as numbers."""
    return np.asarray(getattr(model, "decision_function", model.predict)(rows))


def near(a: Any, b: Any, rtol: float = 1e-10) -> None:
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


SQUARES = basis.Polynomial(degree=2)


def by_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let phi be too large to be held, and blocks as short as they get."""
    monkeypatch.setattr(expanded, "IN_MEMORY", 0)
    monkeypatch.setattr(expanded, "PIECE", 1)
    monkeypatch.setattr(sys.modules["adaline.input.blockwise"], "PIECE", 1)


@PHI
@EACH
def test_it_is_the_system_on_the_columns_of_phi(cls: type[Any], phi: Any) -> None:
    y, columns = target(cls), clone(phi).fit_transform(X)
    model, plain = quick(cls, basis=phi).fit(X, y), quick(cls).fit(columns, y)
    near(said(model, X), said(plain, columns))
    assert model.score(X, y) == pytest.approx(plain.score(columns, y), abs=1e-10)
    assert (model.n_features_in_, model.basis_.size) == (2, columns.shape[1])
    assert model.basis is phi
    assert not hasattr(phi, "n_features_in_")
    for name in ("predict_proba", "transform", "predict_log_proba"):
        if hasattr(model, name):
            near(getattr(model, name)(X), getattr(plain, name)(columns), 1e-9)
    if hasattr(plain, "coef_"):
        assert model.coef_.shape == plain.coef_.shape


@PHI
@EACH
def test_blocks_give_what_the_whole_gives(cls: type[Any], phi: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    weighted = {"sample_weight": W} if cls is not UNSUPERVISED["GaussianMixture"] else {}
    whole = quick(cls, basis=phi).fit(X, target(cls), **weighted)
    expected, score = said(whole, X), whole.score(X, target(cls))
    by_small_blocks(monkeypatch)
    model = quick(cls, basis=phi).fit(X, target(cls), **weighted)
    near(said(model, X), expected, 1e-8 if cls is SYSTEMS["Ridge"] else 1e-10)  # an automatic penalty: sqrt(rounding)
    assert model.score(X, target(cls)) == pytest.approx(score, abs=1e-8)
    assert model.certificate_.solver == whole.certificate_.solver
    assert model.certificate_.passes == whole.certificate_.passes


OTHERWISE = [
    ("LogisticRegression", {"penalty": "auto", "folds": 3}),
    ("LogisticRegression", {"penalty": 1.0, "class_weight": "balanced"}),
    ("LogisticRegression", {"l1": 1.0}),
    ("LogisticRegression", {"firth": True}),
    ("LogisticRegression", {"penalty": 0.1, "solver": "lbfgs"}),
    ("Ridge", {"criterion": "loo"}),
    ("RobustRegression", {"loss": "tukey"}),
    ("RobustRegression", {"loss": "quantile", "quantile": 0.3}),
    ("GaussianClassifier", {"components": 2}),
    ("GaussianClassifier", {"covariance": "full"}),
    ("GeneralizedLinear", {"loss": "huber"}),
    ("GeneralizedLinear", {"solver": "stochastic", "rate": 0.01, "epochs": 3, "shuffle": False}),
    ("LinearRegression", {"solver": "qr"}),
    ("LMS", {"rate": 0.01, "shuffle": True, "epochs": 3}),
    ("Perceptron", {"class_weight": {"on": 2.0, "off": 1.0}, "shuffle": True, "epochs": 5}),
    ("SigmoidPerceptron", {"mode": "online", "shuffle": True, "epochs": 5}),
    ("KMeans", {"init": "random", "n_init": 3}),
    ("GaussianMixture", {"n_components": 3}),
]


@pytest.mark.parametrize(("name", "settings"), OTHERWISE, ids=str)
def test_blocks_give_what_the_whole_gives_in_other_settings(
    name: str, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    y = target(ALL[name])
    whole = ALL[name](basis=SQUARES, **settings).fit(X, y)
    expected = said(whole, X)
    by_small_blocks(monkeypatch)
    model = ALL[name](basis=SQUARES, **settings).fit(X, y)
    near(said(model, X), expected, 1e-7)
    assert model.certificate_.status == whole.certificate_.status


def test_large_expansions_are_never_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """No block that any system sees is longer than it should be, and no array holds them all."""
    by_small_blocks(monkeypatch)
    longest = []

    def expanding(self: Any, x: Any, of: Any = basis.Polynomial.of) -> Any:
        longest.append(len(x))
        return of(self, x)

    def opened(self: Any, x: Any, *rest: Any, init: Any = ArraySource.__init__, **named: Any) -> None:
        longest.append(len(x) if x.shape[1] == 5 else 0)
        init(self, x, *rest, **named)

    monkeypatch.setattr(basis.Polynomial, "of", expanding)
    monkeypatch.setattr(ArraySource, "__init__", opened)
    for cls in (cls for name, cls in SYSTEMS.items() if name in ALL):
        if not issubclass(cls, SignalSystem):  # these hold their signals
            shuffled = {"shuffle": True} if "shuffle" in cls().get_params() else {}
            quick(cls, basis=SQUARES, **shuffled).fit(X, target(cls)).predict(X)
            assert max(longest) <= 64, cls
    adaline.OneVsRest(adaline.Perceptron(epochs=3), basis=basis.Polynomial()).fit(X, LABELS)
    assert max(longest) <= 64


@EACH
def test_a_stream_gives_what_arrays_give(cls: type[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, phi = tmp_path / "rows.parquet", SQUARES + basis.Radial(centres=3)
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": target(cls)}).to_parquet(path, row_group_size=120)
    more = {"shuffle": False} if "shuffle" in cls().get_params() else {}
    expected = quick(cls, basis=phi, **more).fit(X, target(cls))
    near(said(quick(cls, basis=phi, **more).fit(open_table(path, target="y")), X), said(expected, X))
    monkeypatch.setattr(table_module, "KEPT", 0)
    monkeypatch.setattr(coded_table, "block_rows", lambda features: 128)
    monkeypatch.setattr(expanded, "PIECE", 1)
    source, other = open_table(path, target="y"), open_table(path, target="y")
    assert source.streamed
    model = quick(cls, basis=phi, **more).fit(source)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    if cls is not SYSTEMS["Pocket"]:  # it draws rows within blocks
        near(said(model, X), said(expected, X), 1e-7)
        near(said(model, other), said(model, X))
        assert model.score(other) == pytest.approx(expected.score(X, target(cls)), abs=1e-6)


@EACH
def test_sparse_and_device_rows(cls: type[Any]) -> None:
    model = quick(cls, basis=SQUARES).fit(X, target(cls))
    if not issubclass(cls, SignalSystem) and cls is not UNSUPERVISED["GaussianMixture"]:
        rows = sparse.csr_array(X)
        np.testing.assert_array_equal(said(quick(cls, basis=SQUARES).fit(rows, target(cls)), rows), said(model, X))
    if not is_classifier(cls()):
        rows = array_api_strict.asarray(X)
        other = quick(cls, basis=SQUARES).fit(rows, array_api_strict.asarray(NUMBERS))
        np.testing.assert_array_equal(host(other.predict(rows)), model.predict(X))


@pytest.mark.parametrize("cls", [cls for cls in ALL.values() if hasattr(cls(), "partial_fit")])
def test_pieces_go_on_with_the_basis_of_the_first(cls: type[Any]) -> None:
    y, columns = target(cls), SQUARES.fit_transform(X)
    model, plain = cls(basis=SQUARES), cls()
    for rows in np.array_split(np.arange(N), 4):
        model.partial_fit(X[rows], y[rows])
        plain.partial_fit(columns[rows], y[rows])
    near(said(model, X), said(plain, columns))
    learned = cls(basis=basis.Radial(centres=4)).partial_fit(X[:100], y[:100])
    before = learned.basis_
    assert learned.partial_fit(X[100:], y[100:]).basis_ is before
    model.set_params(basis=basis.Polynomial(degree=2).fit(X)).partial_fit(X[:90], y[:90])
    for begun, other in (
        (model, basis.Polynomial(degree=3)),
        (model, basis.Fourier()),
        (model, None),
        (plain, SQUARES),
    ):
        kind = "None" if begun is plain else r"Polynomial\("
        with pytest.raises(InvalidParameter, match=rf"was begun with {kind}.*restore it to continue, or refit"):
            begun.set_params(basis=other).partial_fit(X if begun is model else columns, y)
    model.set_params(basis=SQUARES).partial_fit(X, y)
    if not hasattr(cls, "merge"):
        return
    parts = [cls(basis=SQUARES).fit(X[rows], y[rows]) for rows in (slice(0, 180), slice(180, None))]
    near(said(parts[0].merge(parts[1]), X), said(cls(basis=SQUARES).fit(X, y), X), 1e-8)
    near(said(parts[0].forget(X[180:], y[180:]), X), said(cls(basis=SQUARES).fit(X[:180], y[:180]), X), 1e-8)
    for other in (None, basis.Polynomial(degree=3), basis.Custom(lambda x: np.hstack([x, x, x[:, :1]]))):
        with pytest.raises(InvalidData, match="cannot merge"):
            parts[0].merge(cls(basis=other).fit(X, y))
    first, same, last = (
        cls(basis=basis.Radial(centres=3)).fit(X[rows], y[rows])
        for rows in (slice(0, 180), slice(0, 180), slice(180, None))
    )
    with pytest.raises(InvalidData, match=r"knots or levels differ.*partial_fit or adaline update"):
        first.merge(last)
    assert first.merge(same) is first


@ONLINE
def test_one_row_at_a_time(cls: type[Any]) -> None:
    y = target(cls)
    known = {"classes": np.unique(y)} if is_classifier(cls()) else {}
    make = partial(cls, **({"mode": "online"} if "mode" in cls().get_params() else {}))
    rows, named = make(basis=SQUARES), make(basis=SQUARES)
    for x, t in zip(X[:60], y[:60], strict=True):
        rows.learn_one(x, t, **known)
        named.learn_one({"a": x[0], "b": x[1]}, t, **known)
    whole = make(basis=SQUARES).partial_fit(X[:60], y[:60], **known)
    for model in (rows, named):
        np.testing.assert_array_equal(model.coef_, whole.coef_)
        assert model.n_features_in_ == 2
    assert named.feature_names_in_.tolist() == ["a", "b"]
    assert rows.predict_one(X[70]) == whole.predict(X[70:71])[0]
    assert named.predict_one({"b": X[70, 1], "a": X[70, 0]}) == rows.predict_one(list(X[70]))
    for model, row, words in (
        (rows, [1.0, np.nan], "column 'x1'"),
        (rows, np.ones(5), "2 numbers"),
        (make(basis=basis.Radial(centres=3)), X[0], "one row is too little"),
    ):
        with pytest.raises(InvalidData, match=words):
            model.learn_one(row, y[0], **known)


def test_a_basis_as_wide_as_the_rows_is_not_passed_over() -> None:
    model = adaline.LMS(basis=basis.Custom(np.square), rate=0.01)
    for x, t in zip(X, NUMBERS, strict=True):
        model.learn_one(x, t)
    plain = adaline.LMS(rate=0.01).partial_fit(X**2, NUMBERS)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.predict_one(X[3]) == pytest.approx(plain.predict(X[3:4] ** 2)[0])


@pytest.mark.parametrize("cls", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_exclusive_or(cls: type[Any]) -> None:
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    rows = corners.repeat(10, axis=0) + 0.1 * np.random.default_rng(1).normal(size=(40, 2))
    y = np.array([0, 1, 1, 0]).repeat(10)
    often = {"epochs": 1000} if cls is adaline.OnlineLogistic else {}  # which takes rows once otherwise
    assert cls().fit(rows, y).score(rows, y) < 0.8
    assert cls(basis=basis.Polynomial(degree=2), **often).fit(rows, y).score(rows, y) == 1.0
    spread = issubclass(cls, ClosedFormClassifier) or hasattr(cls(), "system")
    if not spread or cls is SYSTEMS["LeastSquaresClassifier"]:  # a covariance needs more than two rows a class
        model = cls(basis=basis.Polynomial(degree=2), **often).fit(corners, y[::10])
        np.testing.assert_array_equal(model.predict(corners), y[::10])


def test_columns_have_the_names_that_the_basis_gives() -> None:
    frame = pd.DataFrame(X, columns=["a", "b"])
    names = ["intercept", "a", "b", "a^2", "a b", "b^2"]
    for cls in ("LinearRegression", "Ridge", "RobustRegression", "LogisticRegression"):
        model = SYSTEMS[cls](basis=basis.Polynomial(degree=2)).fit(frame, target(SYSTEMS[cls]))
        assert [row["name"] for row in model.summary().to_dict()["coefficients"]] == names
        assert model.feature_names_in_.tolist() == ["a", "b"]
    twice = adaline.LinearRegression(basis=basis.Polynomial(degree=2)).fit(np.column_stack([X, X[:, 0]]), NUMBERS)
    assert twice.aliased_.tolist() == ["x2", "x0 x2", "x1 x2", "x2^2"]
    line = adaline.WienerFilter(taps=2, basis=basis.Polynomial(degree=2)).fit(X[:, :1].repeat(2, axis=1), NUMBERS)
    assert line.aliased_.tolist()[:2] == ["x1(n)", "x1(n-1)"]


def test_inference_on_the_columns_of_phi() -> None:
    phi = basis.Polynomial(degree=2)
    columns = phi.fit_transform(X)
    model, plain = adaline.LinearRegression(basis=phi).fit(X, NUMBERS), adaline.LinearRegression().fit(columns, NUMBERS)
    np.testing.assert_array_equal(model.influence(X, NUMBERS).dffits, plain.influence(columns, NUMBERS).dffits)
    np.testing.assert_array_equal(model.variance_inflation(), plain.variance_inflation())
    for ours, theirs in zip(model.predict(X, "prediction"), plain.predict(columns, "prediction"), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    ours = model.summary(errors="HC3", X=X, y=NUMBERS).to_dict()["coefficients"]
    theirs = plain.summary(errors="HC3", X=columns, y=NUMBERS).to_dict()["coefficients"]
    assert [row["std_error"] for row in ours] == [row["std_error"] for row in theirs]
    assert model.test("x0^2 = 0").p_value == plain.test("x2 = 0").p_value
    assert model.test("`x0 x1` = 0").p_value == plain.test("x3 = 0").p_value
    table = adaline.anova(adaline.LinearRegression().fit(X, NUMBERS), model)
    assert table.columns == (2, 5)
    assert table.p_value[1] < 1e-9
    other = adaline.LinearRegression(basis=basis.Fourier(terms=9)).fit(X, NUMBERS)
    with pytest.raises(InvalidData, match=r"no column 'x0', 'x1', 'x0\^2'"):
        adaline.anova(model, other)


@EACH
def test_arguments_of_the_basis_are_arguments_of_the_system(cls: type[Any]) -> None:
    model = cls(basis=basis.Polynomial(degree=2))
    assert clone(model).set_params(basis__degree=3).fit(X, target(cls)).basis_.size == 9
    assert model.basis.degree == 2
    assert cls().basis is None
    for wrong in ("polynomial", np.square, basis.Polynomial):
        with pytest.raises(InvalidParameter, match=r"basis must be .*basis\.Polynomial.*basis\.Custom"):
            cls(basis=wrong).fit(X, target(cls))
    with pytest.raises(InvalidParameter, match="degree"):
        cls(basis=basis.Polynomial(degree=0)).fit(X, target(cls))
    again = model.fit(X, target(cls)).set_params(basis=None).fit(X, target(cls))
    assert not hasattr(again, "basis_")
    np.testing.assert_array_equal(said(again, X), said(cls().fit(X, target(cls)), X))


@EACH
def test_what_is_not_finite_is_named_as_given(cls: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    bad, y, phi = X.copy(), target(cls), basis.Polynomial(orthogonal=True) + basis.Radial(centres=3)
    bad[200, 1] = np.inf
    model = quick(cls, basis=phi).fit(X, y)
    for change in (lambda: None, lambda: by_small_blocks(monkeypatch)):
        change()
        for call in (lambda: quick(cls, basis=phi).fit(bad, y), lambda: model.predict(bad)):
            with pytest.raises(InvalidData, match="infinity: first at row 200, column 'x1'"):
                call()


@pytest.mark.parametrize("cls", [SYSTEMS["LinearRegression"], SYSTEMS["LogisticRegression"], SYSTEMS["LMS"]])
def test_powers_of_two_change_no_bit(cls: type[Any]) -> None:
    scale, y = np.array([2.0**20, 2.0**-30]), target(cls)
    plain, scaled = cls(basis=SQUARES).fit(X, y), cls(basis=SQUARES).fit(X * scale, y)
    np.testing.assert_array_equal(said(scaled, X * scale), said(plain, X))


@pytest.mark.parametrize("cls", [SYSTEMS["OneVsRest"], SYSTEMS["OneVsOne"]])
@pytest.mark.slow
def test_schemes_have_a_basis_of_their_own_or_of_their_machines(
    cls: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    y, own = np.digitize(NUMBERS, [-0.5, 0.5]), partial(adaline.LogisticRegression, penalty=1.0)
    for machine in (own(), Foreign()):
        whole = cls(machine, basis=SQUARES).fit(X, y)
        near(said(whole, X), said(cls(machine).fit(SQUARES.fit_transform(X), y), SQUARES.fit_transform(X)))
        with monkeypatch.context() as blocks:
            by_small_blocks(blocks)
            near(said(cls(machine, basis=SQUARES).fit(X, y), X), said(whole, X))
    near(said(cls(own(basis=SQUARES)).fit(X, y), X), said(cls(own(), basis=SQUARES).fit(X, y), X))
    both = cls(own(basis=SQUARES), basis=basis.Fourier(terms=1)).fit(X, y)
    assert (both.basis_.size, both.estimators_[0].basis_.size, both.n_features_in_) == (4, 14, 2)
    assert both.score(X, y) > 0.5


@pytest.mark.parametrize("rule", ["wiener", "rls"])
def test_volterra_and_hammerstein_filters(rule: str) -> None:
    x = RNG.normal(size=2000)
    past = np.column_stack([x, np.concatenate([[0.0], x[:-1]])])
    rls = partial(adaline.AdaptiveFilter, rule="rls", regularization=1e-9)
    make = partial(adaline.WienerFilter if rule == "wiener" else rls, basis=SQUARES)
    volterra = make().fit(past, 0.5 * past[:, 0] - past[:, 0] * past[:, 1] + 0.25 * past[:, 1] ** 2)
    near(volterra.coef_, np.array([0.5, 0.0, 0.0, -1.0, 0.25]), 1e-7)
    hammerstein = make(taps=2).fit(x, past @ [1.0, 0.5] + past**2 @ [0.0, -2.0])
    near(hammerstein.coef_, np.array([1.0, 0.5, 0.0, -2.0]), 1e-7)
    assert [len(taps) for taps in hammerstein.taps_] == [2, 2]
    if rule == "rls":
        x, again, whole = x[:50], make(taps=2), make(taps=2)
        outputs = [again.learn_one(float(s), float(d)).output_ for s, d in zip(x, x**2, strict=True)]
        np.testing.assert_array_equal(outputs, whole.filter(x, x**2).output)
        np.testing.assert_array_equal(again.coef_, whole.coef_)
        assert again.predict_one(1.5) == pytest.approx(whole.predict_one(np.array([1.5])))


def test_more_columns_than_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dual forms and products, on phi that is not held."""
    rows, y = RNG.normal(size=(60, 40)), RNG.normal(size=60)
    for cls in (adaline.LinearRegression, adaline.Ridge):
        whole = cls(basis=SQUARES).fit(rows, y)
        assert whole.coef_.shape == (860,)
        with monkeypatch.context() as blocks:
            by_small_blocks(blocks)
            model = cls(basis=SQUARES).fit(rows, y)
            near(model.predict(rows), whole.predict(rows), 1e-8)
            assert model.certificate_.solver == whole.certificate_.solver


def test_the_sample_that_a_basis_learns_from_is_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorted rows: centres are found over their whole range."""
    monkeypatch.setattr("adaline.input.basis.SAMPLE", 50)
    x = np.sort(RNG.normal(size=(N, 1)), axis=0)
    model = adaline.LinearRegression(basis=basis.Radial(centres=4)).fit(x, x[:, 0])
    centres = model.basis_.centres_ * model.basis_.unit_ + model.basis_.middle_
    assert centres.min() < -0.5 < 0.5 < centres.max()


@pytest.mark.parametrize("cls", [cls for cls in ALL.values() if not issubclass(cls, SignalSystem)])
def test_a_basis_learns_nothing_from_rows_of_weight_zero(cls: type[Any]) -> None:
    weight, y, phi = (np.arange(N) < 200).astype(float), target(cls), basis.Radial(centres=5)
    far = np.where(weight[:, None] > 0, X, X + 100.0)
    kept, absent = quick(cls, basis=phi).fit(far, y, sample_weight=weight), quick(cls, basis=phi).fit(X[:200], y[:200])
    assert kept.basis_.same(absent.basis_)


def test_a_basis_learns_nothing_from_rows_held_out() -> None:
    held = fold_of(0, N, 5) == 0
    x = np.where(held[:, None], X + 100.0, X)
    model = adaline.Ridge(basis=basis.Radial(centres=5)).fit(
        Fold(ArraySource(x, NUMBERS[:, None]), 0, 5, held_out=False)
    )
    assert model.basis_.same(basis.Radial(centres=5).fit(X[~held]))


class Power:
    def __init__(self, degree: int) -> None:
        self.degree = degree

    def __call__(self, x: Any) -> Any:
        return x**self.degree

    def of(self, x: Any) -> Any:
        return x**self.degree


def raised(x: Any, degree: int) -> Any:
    return x**degree


@pytest.mark.parametrize(
    "made",
    [Power, lambda degree: Power(degree).of, lambda degree: partial(raised, degree=degree)],
    ids=["object", "method", "partial"],
)
def test_functions_that_are_objects_are_known_again(made: Any) -> None:
    model = adaline.LinearRegression(basis=basis.Custom(made(2))).partial_fit(X[:100], NUMBERS[:100])
    model.partial_fit(X[100:], NUMBERS[100:])
    with pytest.raises(InvalidParameter, match="was begun with Custom"):
        model.set_params(basis=basis.Custom(made(3))).partial_fit(X, NUMBERS)


@pytest.mark.parametrize(
    "cls", [cls for cls in SYSTEMS.values() if issubclass(cls, LinearSystem) and "basis" in cls().get_params()]
)
def test_every_linear_system_takes_frames_with_categories(cls: type[Any]) -> None:
    frame = pd.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 0, "u", "v")})
    model = cls(basis=SQUARES).fit(frame, NUMBERS)
    assert model.basis_.get_feature_names_out(model.feature_names_in_).tolist()[:3] == ["a", "kind[T.v]", "a^2"]
    assert model.predict(frame).shape == (N,)
    phi = basis.Polynomial(degree=2).fit(X)  # rows on a basis are a source like any other
    near(cls().fit(ExpandedRows(ArraySource(X, NUMBERS[:, None]), phi)).coef_, cls(basis=phi).fit(X, NUMBERS).coef_)
