"""Laws of every basis, and what each is by its formula."""

from __future__ import annotations

import pickle
import re
import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from adaline import LinearRegression, LogisticRegression, Ridge, select
from adaline.arrays import as_dense
from adaline.basis import BASES, After, Basis, Beside, Custom, Fourier, Polynomial, Radial, Spline
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from tests.turns import in_turn


def squares(x: Any) -> Any:
    return x**2


def named(basis: Any) -> str:
    return re.sub(r" at 0x\w+", "", str(basis))


EXAMPLES = [
    Polynomial(degree=3),
    Polynomial(degree=3, interactions=False),
    Polynomial(degree=(2, 3), interaction_only=True),
    Polynomial(degree=4, orthogonal=True),
    Spline(),
    Spline(df=4, natural=True, knots="uniform"),
    Fourier(terms=2),
    Fourier(terms=2, period=[1.0, 2.0, 3.0]),
    Fourier(terms=7, random=True),
    Radial(centres=4),
    Radial(centres=4, init="random", width=0.7),
    Custom(squares),
    Beside([Polynomial(degree=2), Fourier(terms=1)]),
    After(Polynomial(degree=2), Radial(centres=3)),
]
EACH = pytest.mark.parametrize("basis", EXAMPLES, ids=named)
X = np.random.default_rng(0).normal(size=(90, 3)) * [1.0, 100.0, 0.01] + [0.0, 50.0, 0.0]


def test_every_basis_has_an_example() -> None:
    assert {type(one) for one in EXAMPLES} == set(BASES.values())


@parametrize_with_checks([Polynomial(), Spline(), Fourier(), Radial(centres=3), Beside([Polynomial(), Fourier()])])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@EACH
def test_rows_are_treated_one_by_one(basis: Any) -> None:
    fitted = clone(basis).fit(X)
    whole = fitted.transform(X)
    assert whole.shape == (90, fitted.size)
    assert np.isfinite(whole).all()
    parts = np.concatenate([fitted.transform(X[i : i + 7]) for i in range(0, 90, 7)])
    np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-12 * np.abs(whole).max())
    few = sparse.csr_array(X)
    assert sparse.issparse(fitted.transform(few)) == np.isfinite(fitted.stored(few))
    np.testing.assert_allclose(as_dense(fitted.transform(few)), whole, rtol=1e-12)
    assert len(set(fitted.get_feature_names_out())) == fitted.size
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), whole)
    np.testing.assert_array_equal(clone(basis).fit(X).transform(X), whole)


def assert_spanned(columns: Any, basis: Any, atol: float) -> None:
    """Assert that columns are combinations of those of a basis."""
    fitted = basis @ np.linalg.lstsq(basis, columns, rcond=None)[0]
    np.testing.assert_allclose(fitted, columns, atol=atol)


def test_polynomials_are_products() -> None:
    found = Polynomial(degree=3).fit(X)
    terms = [t for p in (1, 2, 3) for t in combinations_with_replacement(range(3), p)]
    np.testing.assert_allclose(found.transform(X), np.stack([X[:, list(t)].prod(axis=1) for t in terms], axis=1))
    assert found.get_feature_names_out(["a", "b", "c"])[:5].tolist() == ["a", "b", "c", "a^2", "a b"]


@in_turn("degree", [1, 3, (2, 3), (3, 3)])
@in_turn("only", [False, True])
def test_sparse_rows_give_the_sparse_columns_of_scikit_learn(degree: Any, only: bool) -> None:
    rows = sparse.csr_array(sparse.random(50, 7, density=0.3, random_state=0))
    found = Polynomial(degree=degree, interaction_only=only).fit(rows)
    phi = found.transform(rows)
    theirs = PolynomialFeatures(degree=degree, interaction_only=only, include_bias=False).fit(rows)
    np.testing.assert_allclose(phi.toarray(), theirs.transform(rows).toarray(), rtol=1e-14)
    assert phi.nnz == found.stored(rows) == theirs.transform(rows).nnz
    np.testing.assert_allclose(found.transform(rows.toarray()), phi.toarray(), rtol=1e-14)
    y = rows.sum(axis=1) + np.arange(50) % 3
    sparsely, densely = (Ridge(penalty=0.1, basis=found).fit(x, y) for x in (rows, rows.toarray()))
    np.testing.assert_allclose(sparsely.coef_, densely.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(sparsely.predict(rows), densely.predict(rows), rtol=1e-9, atol=1e-10)


@in_turn("degree", [2, 3])
@in_turn("knots", ["quantile", "uniform"])
def test_splines_span_those_of_scikit_learn(degree: int, knots: str) -> None:
    far = np.vstack([X, 2 * X])
    mine = Spline(df=degree + 3, degree=degree, knots=knots).fit(X).transform(far)
    theirs = SplineTransformer(n_knots=5, degree=degree, knots=knots, extrapolation="continue").fit(X).transform(far)
    assert_spanned(theirs, np.column_stack([np.ones(len(far)), mine]), 1e-9 * np.abs(theirs).max())


def test_natural_splines_are_straight_beyond_the_rows() -> None:
    x = np.linspace(0, 1, 30)[:, None]
    curve = Spline(df=4, natural=True).fit(x)
    for beyond in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]):
        np.testing.assert_allclose(np.diff(curve.transform(np.array(beyond)[:, None]), 2, axis=0), 0.0, atol=1e-12)
    given = Spline(knots=curve.knots_[0][1:-1], natural=True).fit(x)
    np.testing.assert_array_equal(given.transform(x), curve.transform(x))
    constant = np.column_stack([x, np.full(30, 5.0), x[:, 0] > 0.5])
    assert np.isfinite(Spline().fit_transform(constant)).all()


def test_orthogonal_polynomials_are_orthonormal_and_span_the_powers() -> None:
    x = np.linspace(3, 9, 50)[:, None]
    phi = Polynomial(degree=6, orthogonal=True).fit_transform(x)
    whole = np.column_stack([np.ones(50), phi])
    np.testing.assert_allclose(whole.T @ whole / 50, np.eye(7), atol=1e-10)
    powers = Polynomial(degree=6).fit_transform((x - 6) / 3)
    assert_spanned(powers, whole, 1e-8)


def test_random_features_approximate_the_gaussian_kernel() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(15, 2))
    x /= x.std(axis=0)
    phi = Fourier(terms=20000, random=True, period=1.5).fit_transform(x)
    squares = ((x[:, None] - x) ** 2).sum(axis=2)
    np.testing.assert_allclose(phi @ phi.T, np.exp(-squares / (2 * 1.5**2)), atol=0.05)


def test_radial_functions_do_not_depend_on_units() -> None:
    for init in ("k-means", "random"):
        one = Radial(centres=5, init=init).fit_transform(X)
        other = Radial(centres=5, init=init).fit_transform(X * [2.0, 0.25, 1024.0])
        np.testing.assert_allclose(other, one, rtol=1e-9)
    assert Radial(centres=500).fit(X).size <= 90


@pytest.mark.every
@pytest.mark.parametrize(
    "bad",
    [
        *(Polynomial(degree=0), Polynomial(degree=83), Polynomial(degree=(3, 2))),
        *(Polynomial(degree=(4, 4), interaction_only=True), Polynomial(interactions=False, interaction_only=True)),
        *(Spline(df=2), Spline(natural=True, degree=2), Spline(knots="somewhere")),
        *(Fourier(terms=0), Fourier(period="long"), Fourier(period=-1.0), Fourier(period=[1.0, 2.0])),
        *(Fourier(period=[1.0, 2.0, 3.0], random=True), Fourier(period=[[], [1.0]])),
        *(Radial(centres=0), Radial(init="somewhere"), Radial(width=0.0)),
        *(Radial(centres=[[1.0]]), Radial(centres="a"), Radial(centres=1.5)),
        *(Beside([]), Beside([3]), After(Polynomial(), None), Custom(3), Custom(squares, names_out=["one"])),
    ],
    ids=named,
)
def test_what_means_nothing_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidParameter):
        bad.fit(X)


@EACH
def test_a_basis_is_the_same_where_it_has_learned_the_same(basis: Any) -> None:
    one = clone(basis).fit(X)
    assert one.same(clone(basis).fit(X))
    assert not one.same(clone(basis))
    assert not one.same(None)
    assert not any(one.same(clone(other).fit(X)) for other in EXAMPLES if other is not basis)
    assert one.same(clone(basis).fit(X[:40] ** 3)) != basis.learns


@dataclass(frozen=True)
class Doubling:
    """A function with a value that is computed once."""

    width: float

    @cached_property
    def twice(self) -> float:
        return 2 * self.width

    def __call__(self, x: Any) -> Any:
        return self.twice * x


def test_bases_are_compared_by_what_they_learned_and_not_by_what_was_asked_of_it() -> None:
    one, same, other = (Custom(partial(map, Doubling(width))) for width in (1.0, 1.0, 3.0))
    assert one.function.args[0].twice == 2.0
    assert one.same(same)
    assert not one.same(other)


@in_turn("degree", [3, 4, 5])
def test_orthogonal_polynomials_of_few_values_are_the_same_family(degree: int) -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=60), rng.random(60) < 0.37, np.full(60, 7.1)])
    y = x[:, 0] + x[:, 1] + rng.normal(0, 0.5, 60)
    plain, orthogonal = (
        LinearRegression(basis=Polynomial(degree=degree, orthogonal=kind)).fit(x, y) for kind in (False, True)
    )
    np.testing.assert_allclose(orthogonal.score(x, y), plain.score(x, y), atol=1e-6)
    np.testing.assert_allclose(orthogonal.predict(x), plain.predict(x), atol=1e-5)
    alone = Polynomial(degree=degree, orthogonal=True).fit_transform(x[:, 1:])
    assert (np.abs(alone).max(axis=0) > 0).sum() == 1


LEARNED = [Polynomial(degree=3, orthogonal=True), Spline(), Spline(natural=True), Radial(centres=5)]


@pytest.mark.parametrize("basis", [*LEARNED, Fourier(terms=20, random=True)], ids=named)
@pytest.mark.parametrize("power", [-900, -600, 600, 900])
@pytest.mark.filterwarnings("error")
def test_what_is_learned_does_not_depend_on_powers_of_two(basis: Any, power: int) -> None:
    np.testing.assert_allclose(
        clone(basis).fit_transform(np.ldexp(X, power)), clone(basis).fit_transform(X), rtol=1e-9, atol=1e-12
    )


def test_a_function_may_write_into_its_rows() -> None:
    def doubled(x: Any) -> Any:
        x *= 2
        return x

    rows = X.copy()
    np.testing.assert_array_equal(Custom(doubled).fit_transform(rows), 2 * X)
    np.testing.assert_array_equal(rows, X)


def test_bases_side_by_side_have_parameters_by_index() -> None:
    both = Polynomial() + Fourier(terms=2)
    assert both.get_params()["0__degree"] == 2
    assert clone(both).set_params(**{"0__degree": 3, "1__terms": 1}).fit(X[:, :1]).size == 5
    assert clone(both).set_params(**{"1": Polynomial(degree=4)}).fit(X[:, :1]).size == 6
    assert both.get_params()["1__terms"] == 2
    with pytest.raises(ValueError, match="no parameter '2'"):
        both.set_params(**{"2__degree": 1})
    y = (X[:, 0] > 0).astype(int)
    system = LogisticRegression(basis=both, penalty=1.0)
    assert select(system, X, y, degree=[1, 2], terms=[1]).parameters.keys() == {"basis__0__degree", "basis__1__terms"}
    found = GridSearchCV(system, {"basis__0__degree": [1, 3]}, cv=2).fit(X, y)
    assert found.best_estimator_.basis.bases[0].degree in (1, 3)


def test_only_bases_are_joined() -> None:
    assert sum([Polynomial(), Fourier()]).fit(X).size == (Polynomial() + Fourier()).fit(X).size
    assert len((Polynomial() + Fourier() + Radial()).bases) == 3
    for wrong in (
        lambda: Polynomial() + 3,
        lambda: 3 + Polynomial(),
        lambda: Polynomial() @ np.eye(3),
        lambda: Polynomial() + Fourier() + 1,
    ):
        with pytest.raises(InvalidType, match="joins a basis to another"):
            wrong()


class Own(Basis):
    """A basis of a user, whose columns are what a function returns."""

    def __init__(self, function: Any = None) -> None:
        self.function = function

    def of(self, x: Any) -> Any:
        return self.function(x)

    def names(self, given: list[str]) -> list[str]:
        return given


WRONG: dict[str, Any] = {
    "complex": lambda x: x.astype(complex),
    "text": lambda x: np.full(x.shape, "a"),
    "ragged": lambda x: [[1.0], [1.0, 2.0]],
    "nothing": lambda x: None,
    "rows": lambda x: x[:-1],
    "vector": lambda x: x[:, 0],
    "huge": lambda x: [[10**400]] * len(x),
    "width": lambda x: x if len(x) < 60 else x[:, :2],
}
ALONE: dict[str, Any] = {  # which are refused of a `Custom` alone
    "one row": lambda x: x.sum(axis=0),
    "no columns": lambda x: x[:, :0],
    "sparse": sparse.csr_array,
    "centred": lambda x: x - x.mean(axis=0),
    "sorted": lambda x: np.sort(x, axis=0),
}


@in_turn("what", ["text", "nothing", *ALONE])
def test_what_a_function_may_not_give(what: str) -> None:
    with pytest.raises(InvalidData, match="basis function"):
        Custom({**WRONG, **ALONE}[what]).fit(X)


@in_turn("kind", [Custom, Own, lambda f: Fourier(terms=1) + Own(f), lambda f: Polynomial() @ Own(f)])
@in_turn("what", WRONG)
def test_what_a_users_basis_may_not_return(kind: Any, what: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearRegression(basis=kind(lambda x: x)).fit(X, X[:, 0])
        with pytest.raises(InvalidData, match="gave"):
            LinearRegression(basis=kind(WRONG[what])).fit(X, X[:, 0])
        for one in (model.basis_, *getattr(model.basis_, "bases_", ()), getattr(model.basis_, "inner_", None)):
            if hasattr(one, "function"):
                one.function = WRONG[what]
        with pytest.raises(InvalidData, match="gave"):
            model.predict(X)


@in_turn("kind", [Custom, Own])
def test_an_error_of_a_users_basis_is_its_own(kind: Any) -> None:
    def fails(x: Any) -> Any:
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$") as caught:
        LinearRegression(basis=kind(fails)).fit(X, X[:, 0])
    assert not isinstance(caught.value, InvalidData)
