"""partial_fit, merge and forget of systems that add up: as if all rows had come in one go, or some had never come."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adaline import FisherDiscriminant, LinearRegression, Ridge
from adaline.errors import AdalineError, InvalidData, InvalidParameter, NotFittedError, UnsafeForget
from adaline.state import attributes_of
from tests.cases import Case, Given, assert_same, cases, reading

ADDING = cases(lambda case: case.adds, law="parts")
PIECES = [slice(0, 40), slice(40, 41), slice(41, 43), slice(43, 80), slice(80, 120)]


def classes_of(case: Case, given: Given) -> dict[str, Any]:
    """Return the labels, as the first partial_fit of a classifier takes them."""
    return {"classes": np.unique(given.y)} if case.classifies else {}


def automatic(case: Case) -> bool:
    """Whether a penalty is chosen from the rows: it is known to the square root of rounding."""
    return case.name.startswith("Ridge") and "penalty" not in case.settings


def assert_equal_parts(case: Case, found: Any, expected: Any, X: Any) -> None:
    """Assert that two models are one to rounding, and that least squares counts the same rows and noise."""
    assert_same(found, expected, X, rtol=1e-8 if automatic(case) or not case.linear else 1e-11)
    if case.linear:
        ours, theirs = found.summary().to_dict(), expected.summary().to_dict()
        assert ours["rows"] == theirs["rows"]
        assert [ours[key] for key in ("sigma", "freedom", "weight")] == pytest.approx(
            [theirs[key] for key in ("sigma", "freedom", "weight")], rel=1e-7
        )


@ADDING
def test_pieces_equal_the_whole(case: Case) -> None:
    given = case.rows(n=120)
    given = given.with_weight(np.random.default_rng(1).uniform(0.5, 3.0, 120))
    parts, told = case.make(), classes_of(case, given)
    for number, rows in enumerate(PIECES):
        piece = given[rows]
        if number % 2 and case.keeps("sparse rows"):
            piece = piece.with_rows(sparse.csr_array)
        assert parts.partial_fit(*piece.arguments, **piece.weighted, **(told if not number else {})) is parts
    whole = case.fit(given)
    assert_equal_parts(case, parts, whole, given.X)
    assert not case.linear or parts.certificate_.digits > 9
    begun = case.fit(given[:70])
    assert_equal_parts(case, begun.partial_fit(*given[70:].arguments, **given[70:].weighted), whole, given.X)


@ADDING
def test_merging_in_any_grouping_and_order(case: Case) -> None:
    given = case.rows(n=120)
    whole, rows = case.fit(given), np.array_split(np.arange(120), 4)

    def part(i: int) -> Any:
        return case.fit(given[rows[i]])

    other = part(1)
    kept = copy.deepcopy(other)
    left = part(0)
    assert left.merge(other) is left
    np.testing.assert_array_equal(reading(other, given.X), reading(kept, given.X))
    other.partial_fit(*given[rows[0]].arguments)  # which the merged model does not see
    for merged in (
        left.merge(part(2)).merge(part(3)),
        part(0).merge(part(1).merge(part(2).merge(part(3)))),
        part(3).merge(part(1)).merge(part(0).merge(part(2))),
    ):
        assert_equal_parts(case, merged, whole, given.X)
    assert_same(whole.merge(whole), case.fit(given.with_weight(2.0)), given.X, rtol=1e-8)


@ADDING
def test_rows_that_are_forgotten_were_never_there(case: Case) -> None:
    given = case.rows(n=120)
    some = np.sort(np.random.default_rng(2).permutation(120)[:40])
    rest = np.setdiff1d(np.arange(120), some)
    model = case.fit(given)
    assert model.forget(*given[some].arguments) is model
    assert_equal_parts(case, model, case.fit(given[rest]), given.X)
    window = case.fit(given[:60])
    for i in range(60, 120, 10):
        window.partial_fit(*given[i : i + 10].arguments).forget(*given[i - 60 : i - 50].arguments)
    assert_equal_parts(case, window, case.fit(given[60:]), given.X)
    for left in (30,) if case.classifies or automatic(case) else (1, 4, 13):
        few = case.fit(given[:60])
        before = reading(few, given.X)
        try:
            few.forget(*given[left:60].arguments)
        except UnsafeForget:
            np.testing.assert_array_equal(reading(few, given.X), before)
        else:
            assert_same(few, case.fit(given[:left]), given.X[:left], rtol=1e-6)


@ADDING
def test_rows_of_weight_zero_are_not_forgotten(case: Case) -> None:
    given = case.rows(n=120)
    given = given.with_weight(np.random.default_rng(4).uniform(0.5, 3.0, 120))
    model, gone = case.fit(given), np.arange(120) % 3 == 0
    for part in (gone & (np.arange(120) < 50), gone & (np.arange(120) >= 50)):
        model.forget(*given.arguments, sample_weight=part * given.weight)
    assert_equal_parts(case, model, case.fit(given[~gone]), given.X)
    assert not case.classifies or model._sums.rows == 80


@ADDING
def test_rows_that_keep_part_of_their_weight_stay(case: Case) -> None:
    """Their number too; but a row of some precision is one observation, of which no part is taken out."""
    given = case.rows(n=120)
    model, part = case.fit(given.with_weight(3.0)), given[:40]
    if case.settings.get("weights") == "precision":
        before = reading(model, given.X), model.summary().to_dict()
        for rows, weight in ((given, 1.0), (given, 3e-9), (part, 1.0), (given[:1], 2.0)):
            with pytest.raises(UnsafeForget, match="forgotten with its whole weight"):
                model.forget(*rows.arguments, sample_weight=weight)
        np.testing.assert_array_equal(reading(model, given.X), before[0])
        assert model.summary().to_dict() == before[1]
        thrice = case.fit(given[40:].with_weight(3.0))
        assert_equal_parts(case, model.forget(*part.arguments, sample_weight=3.0), thrice, given.X)
        return
    assert_equal_parts(case, model.forget(*given.arguments), case.fit(given.with_weight(2.0)), given.X)
    assert not case.classifies or model._sums.rows == 120
    for _ in range(2):
        model.forget(*part.arguments)
    assert_same(model.forget(*given[40:].arguments), case.fit(given[40:]), given.X, rtol=1e-8)
    assert not case.classifies or model._sums.rows > 0


@ADDING
def test_what_does_not_fit_the_model_is_refused_and_leaves_it(case: Case) -> None:
    given, few = case.rows(n=60), case.rows(n=60, seed=3)
    model = case.fit(given)
    before = reading(model, given.X)
    refused = "cannot forget (60 rows of weight 60: the model holds 30 rows of weight 30|rows that were not fitted)"
    half = case.fit(given[:30])
    with pytest.raises(UnsafeForget, match=refused):
        half.forget(*given.arguments)
    for rows, weight in ((given[:30], 3.0), (given[:30], 1.0)):
        with pytest.raises(AdalineError):
            half.forget(*rows.arguments, sample_weight=weight)
    assert_same(half.partial_fit(*given[30:].arguments), model, given.X, rtol=1e-8)
    with pytest.raises(UnsafeForget):
        model.forget(1000 * given.X[:30], *given[:30].arguments[1:])
    for call in (model.partial_fit, model.forget):
        with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
            call(given.X[:, :3], given.y)
        with pytest.raises(AdalineError):
            call(given.X, np.column_stack([given.y, given.y]))
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.merge(case.make())
    for method in ("merge", "forget"):
        new = case.make()
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(new, method)(*((model,) if method == "merge" else given.arguments))
        assert not [name for name in attributes_of(new) if name.endswith("_")]
    if not {"basis", "init"} & {*case.settings}:
        with pytest.raises(AdalineError, match=r"different (shape|kind)|of 4 and 3 columns"):
            model.merge(case.make().fit(few.X[:, :3], few.y))
    with pytest.raises(InvalidParameter, match=r"cannot merge \w+ with ndarray"):
        model.merge(given.X)
    if case.linear:
        with pytest.raises(InvalidData, match="fit_intercept"):
            model.merge(case.fit(given, fit_intercept=not model.fit_intercept))
    named, swapped = (
        case.fit(given.with_rows(lambda X, names=names: pd.DataFrame(X, columns=list(names))))
        for names in ("abcd", "acbd")
    )
    with pytest.raises(InvalidData, match=r"different columns: \['a', 'b', 'c', 'd'\] and \['a', 'c', 'b', 'd'\]"):
        named.merge(swapped)
    np.testing.assert_array_equal(reading(model, given.X), before)
    assert_same(named.merge(model), case.fit(given.with_weight(2.0)), pd.DataFrame(given.X, columns=list("abcd")), 1e-8)


def test_models_of_different_kind_or_targets_do_not_merge() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = X[:, 0] + X[:, 1] ** 2
    with pytest.raises(InvalidParameter, match="cannot merge LinearRegression with Ridge"):
        LinearRegression().fit(X, y).merge(Ridge().fit(X, y))  # type: ignore[arg-type]
    with pytest.raises(InvalidData, match="different shape"):
        LinearRegression().fit(X, y).merge(LinearRegression().fit(X, X))
    with pytest.raises(InvalidData, match=r"the model has shape.*the rows"):
        LinearRegression().fit(X, y).partial_fit(X, X)
    model = FisherDiscriminant().fit(X, y > 0)
    with pytest.raises(AdalineError):
        model.merge(FisherDiscriminant().fit(X, np.where(y > 0, "high", "low")))


@pytest.mark.parametrize("seed", range(40))
def test_forgetting_is_right_to_nine_digits_or_refused(seed: int) -> None:
    """Rows that dwarf the rest are taken out: what remains is drowned in them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) + rng.normal(size=4)
    y = X @ rng.normal(size=4) + 1.5 + 0.5 * rng.normal(size=30)
    size = 10.0 ** rng.uniform(0, 8) if seed > 1 else (1.0, 1e7)[seed]
    X[20:] *= size
    y[20:] += (size - 1) * rng.normal(size=10)
    model = LinearRegression().fit(X, y)
    before, expected = model.predict(X[:20]), LinearRegression().fit(X[:20], y[:20])
    try:
        model.forget(X[20:], y[20:])
    except UnsafeForget:
        np.testing.assert_array_equal(model.predict(X[:20]), before)
        assert model.summary().to_dict()["rows"] == 30
        assert size > 30
    else:
        assert seed != 1
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9, atol=1e-9 * np.abs(expected.coef_).max())
