"""partial_fit, merge and forget: as if all rows had come in one go, or as if some had never come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from adaline import LinearRegression, Ridge
from adaline.errors import InvalidData, InvalidParameter, UnsafeForget
from tests.systems.cases import NEEDS_ROWS, Make, assert_same, data, systems, theta

STREAMING = systems(NEEDS_ROWS)


def tolerance(make: Make) -> float:
    """Relative: 1e-12 for condition numbers up to 30; an automatic penalty is known to sqrt(rounding)."""
    return 1e-12 if getattr(make(), "penalty", None) != "auto" else 1e-8


def conditioned(condition: float, n: int = 200, seed: int = 0) -> tuple[Any, Any]:
    """Rows with centred columns of equal length and this condition number, and means of the size of the spread."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n, 4))
    u = np.linalg.qr(base - base.mean(axis=0))[0]
    v = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    X = np.sqrt(n) * u * np.geomspace(1, 1 / condition, 4) @ v + rng.normal(size=4)
    return X, X @ rng.normal(size=4) + 0.3 * rng.normal(size=n) + 1.0


@pytest.mark.parametrize("condition", [1.0, 30.0])
@pytest.mark.parametrize("pieces", [2, 7, 50])
@pytest.mark.parametrize("make", STREAMING)
def test_pieces_equal_the_whole(make: Make, pieces: int, condition: float) -> None:
    X, y = conditioned(condition)
    parts = make()
    for rows in np.array_split(np.arange(len(y)), pieces):
        assert parts.partial_fit(X[rows], y[rows]) is parts
    whole = make().fit(X, y)
    assert_same(parts, whole, X, rtol=tolerance(make))
    assert parts.certificate_.digits >= 10 - np.log10(condition)
    ours, expected = parts.summary().to_dict(), whole.summary().to_dict()
    assert ours["rows"] == expected["rows"] == len(y)
    assert ours["sigma"] == pytest.approx(expected["sigma"], rel=1e-8)


@pytest.mark.parametrize("make", STREAMING)
def test_a_fit_goes_on_with_partial_fit(make: Make) -> None:
    X, y = conditioned(10.0)
    assert_same(make().fit(X[:150], y[:150]).partial_fit(X[150:], y[150:]), make().fit(X, y), X, rtol=tolerance(make))


@pytest.mark.parametrize("make", STREAMING)
def test_rows_one_by_one(make: Make) -> None:
    X, y = data(n=25)
    parts = make()
    for i in range(25):
        parts.partial_fit(X[i : i + 1], y[i : i + 1])
    assert_same(parts, make().fit(X, y), X, rtol=1e-8)


@pytest.mark.parametrize("make", STREAMING)
def test_merging_in_any_grouping_and_order(make: Make) -> None:
    X, y = conditioned(30.0)
    rows = np.array_split(np.arange(len(y)), 4)

    def part(i: int) -> Any:
        return make().fit(X[rows[i]], y[rows[i]])

    whole = make().fit(X, y)
    left = part(0).merge(part(1)).merge(part(2)).merge(part(3))
    right = part(0).merge(part(1).merge(part(2).merge(part(3))))
    pairs = part(0).merge(part(1)).merge(part(2).merge(part(3)))
    back = part(3).merge(part(1)).merge(part(0)).merge(part(2))
    for merged in (left, right, pairs, back):
        assert_same(merged, whole, X, rtol=tolerance(make))
        assert merged.summary().to_dict()["freedom"] == pytest.approx(whole.summary().to_dict()["freedom"], rel=1e-7)


@pytest.mark.parametrize("make", STREAMING)
def test_merging_leaves_the_other_alone(make: Make) -> None:
    X, y = data()
    here, there = make().fit(X[:30], y[:30]), make().fit(X[30:], y[30:])
    kept = theta(there).copy()
    assert here.merge(there) is here
    np.testing.assert_array_equal(theta(there), kept)
    assert_same(here, make().fit(X, y), X, rtol=1e-8)
    there.partial_fit(X[:5], y[:5])
    assert here.summary().to_dict()["rows"] == 60


@pytest.mark.parametrize("make", STREAMING)
def test_merging_with_itself_counts_every_row_twice(make: Make) -> None:
    X, y = data()
    model = make().fit(X, y)
    assert_same(model.merge(model), make().fit(X, y, sample_weight=2.0), X, rtol=1e-8)


@pytest.mark.parametrize("make", STREAMING)
def test_weights_stream(make: Make) -> None:
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.0, 3.0, len(y))
    parts = make()
    for rows in np.array_split(np.arange(len(y)), 5):
        parts.partial_fit(X[rows], y[rows], sample_weight=weight[rows])
    assert_same(parts, make().fit(X, y, sample_weight=weight), X, rtol=1e-8)


@pytest.mark.parametrize("make", STREAMING)
def test_several_targets_stream(make: Make) -> None:
    X, Y = data(targets=3)
    assert_same(make().partial_fit(X[:20], Y[:20]).partial_fit(X[20:], Y[20:]), make().fit(X, Y), X, rtol=1e-8)


@pytest.mark.parametrize("make", STREAMING)
def test_dense_and_sparse_pieces_mix(make: Make) -> None:
    X, y = data()
    mixed = make().partial_fit(sparse.csr_array(X[:20]), y[:20]).partial_fit(X[20:40], y[20:40])
    mixed.partial_fit(sparse.csc_array(X[40:]), y[40:])
    assert_same(mixed, make().fit(X, y), X, rtol=1e-8)


@pytest.mark.parametrize("make", STREAMING)
def test_forget_undoes_partial_fit(make: Make) -> None:
    X, y = conditioned(10.0)
    for count in (1, 20, 100):
        model = make().fit(X[:-count], y[:-count])
        before = theta(model).copy()
        model.partial_fit(X[-count:], y[-count:])
        assert model.forget(X[-count:], y[-count:]) is model
        np.testing.assert_allclose(theta(model), before, rtol=1e-9, atol=1e-9 * np.abs(before).max())
        assert model.summary().to_dict()["rows"] == len(y) - count


@pytest.mark.parametrize("make", STREAMING)
def test_any_fitted_rows_can_be_forgotten(make: Make) -> None:
    X, y = conditioned(10.0)
    some = np.random.default_rng(2).permutation(len(y))[:70]
    rest = np.setdiff1d(np.arange(len(y)), some)
    model = make().fit(X, y).forget(X[some], y[some])
    assert_same(model, make().fit(X[rest], y[rest]), X, rtol=1e-8)
    assert model.summary().to_dict()["sigma"] == pytest.approx(
        make().fit(X[rest], y[rest]).summary().to_dict()["sigma"], rel=1e-8
    )


@pytest.mark.parametrize("make", STREAMING)
def test_weights_are_forgotten(make: Make) -> None:
    X, y = data()
    model = make().fit(X, y, sample_weight=3.0).forget(X, y, sample_weight=1.0)
    assert_same(model, make().fit(X, y, sample_weight=2.0), X, rtol=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_forgetting_is_right_to_nine_digits_or_refused(seed: int) -> None:
    """Rows taken out that dwarf the rest: what remains drowned in them."""
    rng = np.random.default_rng(seed)
    X, y = data(seed, n=30)
    size = 10.0 ** rng.uniform(0, 8)
    X[20:] *= size
    y[20:] += size * rng.normal(size=10)
    model = LinearRegression().fit(X, y)
    before = theta(model).copy()
    expected = theta(LinearRegression().fit(X[:20], y[:20]))
    try:
        model.forget(X[20:], y[20:])
    except UnsafeForget:
        np.testing.assert_array_equal(theta(model), before)
        assert model.summary().to_dict()["rows"] == 30
        assert size > 30
    else:
        np.testing.assert_allclose(theta(model), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_some_are_forgotten_and_some_refused() -> None:
    """So that the test above has both to judge."""
    X, y = data(n=30)
    LinearRegression().fit(X, y).forget(X[20:], y[20:])
    X[20:] *= 1e7
    with pytest.raises(UnsafeForget, match=r"correct digits, below 9.*Refit to the remaining rows"):
        LinearRegression().fit(X, y).forget(X[20:], y[20:])


@pytest.mark.parametrize("make", STREAMING)
def test_more_than_is_held_cannot_be_forgotten(make: Make) -> None:
    X, y = data()
    model = make().fit(X[:30], y[:30])
    before = theta(model).copy()
    with pytest.raises(UnsafeForget, match="cannot forget 60 rows of weight 60: the model holds 30 rows of weight 30"):
        model.forget(X, y)
    with pytest.raises(UnsafeForget, match="weight 90"):
        model.forget(X[:30], y[:30], sample_weight=3.0)
    with pytest.raises(UnsafeForget, match="too few rows"):
        model.forget(X[:30], y[:30])
    np.testing.assert_array_equal(theta(model), before)
    model.partial_fit(X[30:], y[30:])
    assert_same(model, make().fit(X, y), X, rtol=1e-8)


@pytest.mark.parametrize("left", [1, 2, 4, 5])
@pytest.mark.parametrize("make", STREAMING)
def test_forgetting_almost_everything_is_right_or_refused(make: Make, left: int) -> None:
    X, y = data()
    model = make().fit(X, y)
    if getattr(model, "penalty", None) == "auto":  # to choose a penalty takes more rows than columns
        left += 8
    before = theta(model).copy()
    try:
        model.forget(X[left:], y[left:])
    except UnsafeForget:
        np.testing.assert_array_equal(theta(model), before)
    else:
        assert_same(model, make().fit(X[:left], y[:left]), X[:left], rtol=1e-8)


@pytest.mark.parametrize("make", STREAMING)
def test_rows_that_were_never_fitted_cannot_be_forgotten_unnoticed(make: Make) -> None:
    """Taking out rows larger than all that was fitted leaves no sum of squares."""
    X, y = data()
    model = make().fit(X, y)
    before = theta(model).copy()
    with pytest.raises(UnsafeForget):
        model.forget(100 * X[:30], y[:30])
    np.testing.assert_array_equal(theta(model), before)


@pytest.mark.parametrize("make", STREAMING)
def test_a_window_slides(make: Make) -> None:
    X, y = data(n=150)
    model = make().fit(X[:50], y[:50])
    for i in range(50, 150, 10):
        model.partial_fit(X[i : i + 10], y[i : i + 10]).forget(X[i - 50 : i - 40], y[i - 50 : i - 40])
    assert_same(model, make().fit(X[100:], y[100:]), X, rtol=1e-8)
    assert model.summary().to_dict()["rows"] == 50


@pytest.mark.parametrize("make", STREAMING)
def test_streams_of_few_rows_are_honest_about_it(make: Make) -> None:
    """Fewer rows than columns so far: finite coefficients, the rank, and no digits that rounding decides."""
    X, y = data()
    model = make().partial_fit(X[:2], y[:2])
    assert np.isfinite(theta(model)).all()
    assert model.rank_ <= 4
    model.partial_fit(X[2:], y[2:])
    assert_same(model, make().fit(X, y), X, rtol=1e-8)


@pytest.mark.parametrize("make", STREAMING)
def test_continuing_and_merging_ask_for_the_same_columns_and_targets(make: Make) -> None:
    X, y = data()
    model = make().fit(X, y)
    before = theta(model).copy()
    for call in (model.partial_fit, model.forget):
        with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
            call(X[:, :3], y)
        with pytest.raises(InvalidData, match=r"the model has shape.*the rows"):
            call(X, np.column_stack([y, y]))
    with pytest.raises(InvalidData, match="different shape"):
        model.merge(make().fit(X[:, :3], y))
    with pytest.raises(InvalidData, match="different shape"):
        model.merge(make().fit(X, np.column_stack([y, y])))
    np.testing.assert_array_equal(theta(model), before)


def test_models_of_different_kind_do_not_merge() -> None:
    X, y = data()
    with pytest.raises(InvalidParameter, match="cannot merge LinearRegression with Ridge"):
        LinearRegression().fit(X, y).merge(Ridge().fit(X, y))  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="cannot merge Ridge with ndarray"):
        Ridge().fit(X, y).merge(X)  # type: ignore[arg-type]


@pytest.mark.parametrize("make", STREAMING)
def test_models_with_and_without_intercept_do_not_merge(make: Make) -> None:
    X, y = data()
    other = make()
    other.fit_intercept = not other.fit_intercept
    with pytest.raises(InvalidData, match="fit_intercept"):
        make().fit(X, y).merge(other.fit(X, y))


@pytest.mark.parametrize("make", STREAMING)
def test_models_of_differently_named_columns_do_not_merge(make: Make) -> None:
    import pandas as pd

    X, y = data()
    one = make().fit(pd.DataFrame(X, columns=["a", "b", "c", "d"]), y)
    other = make().fit(pd.DataFrame(X, columns=["a", "c", "b", "d"]), y)
    with pytest.raises(InvalidData, match=r"different columns: \['a', 'b', 'c', 'd'\] and \['a', 'c', 'b', 'd'\]"):
        one.merge(other)
    one.merge(make().fit(X, y))
    assert one.summary().to_dict()["rows"] == 120


@pytest.mark.parametrize("make", STREAMING)
def test_named_columns_are_put_in_order_and_others_refused(make: Make) -> None:
    import pandas as pd

    X, y = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model, other = make().fit(frame, y), frame[["b", "a", "c", "d"]]
    np.testing.assert_array_equal(model.predict(other), model.predict(frame))
    np.testing.assert_array_equal(theta(make().fit(frame, y).partial_fit(other, y)), theta(model.partial_fit(frame, y)))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "e"}))


@pytest.mark.parametrize("make", STREAMING)
def test_bad_rows_leave_a_model_as_it_was(make: Make) -> None:
    X, y = data()
    model = make().fit(X, y)
    before = theta(model).copy()
    bad = X.copy()
    bad[7, 2] = np.nan
    for call in (model.partial_fit, model.forget):
        with pytest.raises(InvalidData, match="NaN: first at row 7, column 'x2'"):
            call(bad, y)
    np.testing.assert_array_equal(theta(model), before)
    assert_same(model.partial_fit(X, y), make().fit(X, y, sample_weight=2.0), X, rtol=1e-8)
