"""The Wiener filter: exact least squares on a tapped delay line, or the Toeplitz equations, in one go or in pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.linalg import toeplitz
from scipy.signal import lfilter

from adaline import LinearRegression, Ridge, WienerFilter
from adaline.errors import InvalidData, InvalidParameter, InvalidType, SumsMissing, UnsafeForget
from tests.sources.tapped import design

KINDS: list[dict[str, Any]] = [
    {"taps": 4},
    {"taps": 4, "delay": 3},
    {"taps": 4, "delay": -2},
    {"taps": 3, "delay": -7},
    {"taps": 4, "penalty": 2.0},
    {"taps": 4, "delay": -1, "fit_intercept": True},
    {"taps": 4, "method": "autocorrelation"},
    {"taps": 4, "method": "autocorrelation", "delay": 2},
    {"taps": 4, "method": "autocorrelation", "delay": -2, "penalty": 2.0},
    {"taps": 2, "method": "autocorrelation", "delay": -7},
]


def signals(channels: int = 1, targets: int = 0, n: int = 300, seed: int = 0) -> tuple[Any, Any]:
    """Coloured inputs, and what a long filter with noise makes of them; channels 0: one signal (n,)."""
    rng = np.random.default_rng(seed)
    x = lfilter([1.0], [1.0, -0.6], rng.standard_normal((n, max(channels, 1))), axis=0)
    d = np.stack([lfilter(rng.standard_normal(6), [1.0], x.sum(axis=1)) for _ in range(max(targets, 1))], axis=1)
    d += rng.standard_normal(d.shape)
    return (x if channels else x[:, 0]), (d if targets else d[:, 0])


def padded(x: Any, d: Any, taps: int, delay: int) -> tuple[Any, Any]:
    """The record with so many zeros around it that no row is cut off: what the autocorrelation method fits."""
    more = taps + abs(delay)
    return tuple(np.pad(part, [(more, more)] + [(0, 0)] * (part.ndim - 1)) for part in (x, d))


@pytest.mark.parametrize("channels", [0, 1, 3])
@pytest.mark.parametrize("targets", [0, 1, 2])
@pytest.mark.parametrize("delay", [0, 2, -3])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(("penalty", "weighted"), [(0.0, False), (5.0, True)], ids=["plain", "penalised"])
def test_covariance_is_least_squares_on_the_rows(
    channels: int, targets: int, delay: int, fit_intercept: bool, penalty: float, weighted: bool
) -> None:
    x, d = signals(channels, targets)
    taps = [5, 1, 3] if channels == 3 else [4]
    rows, weight = design(x.reshape(len(x), -1), tuple(taps), delay), np.arange(len(x)) % 4.0 if weighted else None
    mine = WienerFilter(taps=taps if channels == 3 else 4, delay=delay, fit_intercept=fit_intercept, penalty=penalty)
    theirs = Ridge(penalty=penalty, fit_intercept=fit_intercept).fit(rows, d, weight)
    mine.fit(x, d, weight)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-12)
    np.testing.assert_allclose(mine.intercept_, theirs.intercept_, rtol=1e-12)
    np.testing.assert_allclose(mine.predict(x), theirs.predict(rows), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(mine.score(x, d), theirs.score(rows, d), rtol=1e-12)
    assert mine.coef_.shape == theirs.coef_.shape
    assert mine.certificate_.digits > 14
    assert mine.rank_ == sum(taps)
    parts = np.split(mine.coef_, np.cumsum(taps)[:-1], axis=-1)
    assert [part.tolist() for part in mine.taps_] == [part.tolist() for part in parts]
    assert np.shares_memory(mine.taps_[0], mine.coef_)


def test_large_records_are_not_refined_and_still_agree() -> None:
    x, d = signals(0, n=200_000)
    mine = WienerFilter(taps=8).fit(x, d)
    rows = np.lib.stride_tricks.sliding_window_view(np.concatenate([np.zeros(7), x]), 8)[:, ::-1]
    theirs = LinearRegression(fit_intercept=False).fit(rows, d)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-12)
    assert mine.certificate_.passes == 1


@pytest.mark.parametrize("delay", [0, 3, -2])
@pytest.mark.parametrize("penalty", [0.0, 5.0])
def test_autocorrelation_solves_the_toeplitz_equations(delay: int, penalty: float) -> None:
    x, d = signals(0)
    n, taps = len(x), 5
    mine = WienerFilter(taps=taps, method="autocorrelation", delay=delay, penalty=penalty).fit(x, d)
    r = np.array([x[k:] @ x[: n - k] for k in range(taps)]) / n
    p = np.array([sum(d[i] * x[i - k - delay] for i in range(n) if 0 <= i - k - delay < n) for k in range(taps)]) / n
    w = np.linalg.solve(toeplitz(r) + penalty / n * np.eye(taps), p)
    np.testing.assert_allclose(mine.coef_, w, rtol=1e-12)
    assert mine.certificate_.digits > 14
    assert "Levinson" in mine.certificate_.solver


@pytest.mark.parametrize("delay", [0, 3, -2])
def test_autocorrelation_of_several_signals_is_block_toeplitz(delay: int) -> None:
    x, d = signals(2, 2)
    mine = WienerFilter(taps=3, method="autocorrelation", delay=delay).fit(x, d)
    rows, desired = padded(x, d, 3, delay)
    rows = design(rows, (3, 3), delay)
    gram = rows.T @ rows
    assert np.allclose(gram[:2, 3:5], gram[1:3, 4:6])
    np.testing.assert_allclose(mine.coef_, np.linalg.solve(gram, rows.T @ desired).T, rtol=1e-12)


def test_orthogonality_of_error_and_input() -> None:
    x, d = signals(2)
    output, error = WienerFilter(taps=4).fit(x, d).filter(x, d)
    np.testing.assert_allclose(output + error, d, rtol=1e-14)
    np.testing.assert_allclose(design(x, (4, 4)).T @ error, 0.0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("channels", [0, 2])
@pytest.mark.parametrize("cuts", [(100,), (1, 2, 3, 40), tuple(range(1, 30))], ids=["two", "short", "single samples"])
def test_a_record_in_pieces_is_the_whole_record(kind: dict[str, Any], channels: int, cuts: tuple[int, ...]) -> None:
    x, d = signals(channels)
    weight = np.where(np.arange(len(x)) < 100, 1.0, 2.0) if "method" not in kind else None
    whole, model = WienerFilter(**kind).fit(x, d, weight), WienerFilter(**kind)
    for piece in np.split(np.arange(len(x)), cuts):
        model.partial_fit(x[piece], d[piece], None if weight is None else weight[piece])
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(model.intercept_, whole.intercept_, rtol=1e-12, atol=1e-13)
    again = WienerFilter(**kind).fit(x[:100], d[:100]).partial_fit(x[100:], d[100:], None if weight is None else 2.0)
    np.testing.assert_allclose(again.coef_, whole.coef_, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_merge_and_forget_recordings(kind: dict[str, Any]) -> None:
    (x, d), (x2, d2) = signals(0, seed=1), signals(0, seed=2)
    first, second = WienerFilter(**kind).fit(x, d), WienerFilter(**kind).fit(x2, d2)
    alone = first.coef_
    both = WienerFilter(**kind).fit(x, d).merge(second)
    parts = [padded(part, other, 4, kind.get("delay", 0)) for part, other in ((x, d), (x2, d2))]
    if kind.get("method") is None and not kind.get("fit_intercept"):
        rows = np.concatenate([design(part[:, None], (kind["taps"],), kind.get("delay", 0)) for part in (x, x2)])
        gram = rows.T @ rows + kind.get("penalty", 0.0) * np.eye(kind["taps"])
        np.testing.assert_allclose(both.coef_, np.linalg.solve(gram, rows.T @ np.concatenate([d, d2])), rtol=1e-11)
    elif not kind.get("fit_intercept"):
        one = WienerFilter(**kind).fit(*(np.concatenate(both_parts) for both_parts in zip(*parts, strict=True)))
        np.testing.assert_allclose(both.coef_, one.coef_, rtol=1e-11)
    np.testing.assert_allclose(second.merge(first).coef_, both.coef_, rtol=1e-11)
    np.testing.assert_allclose(both.forget(x2, d2).coef_, alone, rtol=1e-11)


def test_a_merged_filter_goes_on_with_its_own_record() -> None:
    (x, d), (x2, d2) = signals(0, seed=1), signals(0, seed=2)
    other = WienerFilter(taps=3, delay=-2).fit(x2, d2)
    early = WienerFilter(taps=3, delay=-2).fit(x[:99], d[:99]).merge(other).partial_fit(x[99:], d[99:])
    late = WienerFilter(taps=3, delay=-2).fit(x, d).merge(other)
    np.testing.assert_allclose(early.coef_, late.coef_, rtol=1e-12)


def test_forgetting_everything_is_refused_and_changes_nothing() -> None:
    x, d = signals(0)
    model = WienerFilter(taps=3).fit(x, d)
    before = model.coef_.copy()
    for gone in (x, np.concatenate([x, x])):
        with pytest.raises(UnsafeForget):
            model.forget(gone, np.resize(d, len(gone)))
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("method", ["covariance", "autocorrelation"])
@pytest.mark.parametrize("taps", [40, 600])
def test_more_taps_than_samples(method: str, taps: int) -> None:
    x, d = signals(0, n=30)
    x[0] = 30.0  # else the equations are exponentially ill-conditioned
    model = WienerFilter(taps=taps, method=method).fit(x, d)
    if method == "covariance":
        np.testing.assert_allclose(model.predict(x), d, atol=1e-10)
        expected = np.linalg.lstsq(design(x[:, None], (taps,)), d, rcond=None)[0]
        np.testing.assert_allclose(model.coef_, expected, atol=1e-10)
        assert model.rank_ == 30
        assert model.aliased_ is None or len(model.aliased_) == 10
        for action in (model.partial_fit, model.forget) if taps == 600 else ():
            with pytest.raises(SumsMissing):
                action(x, d)
    else:
        assert model.rank_ == taps
        assert model.certificate_.digits > 12


def test_a_signal_given_twice_is_named() -> None:
    x, d = signals(0)
    model = WienerFilter(taps=2, delay=-1).fit(pd.DataFrame({"left": x, "right": x}), d)
    assert list(model.aliased_) == ["right(n+1)", "right(n)"]
    np.testing.assert_allclose(2 * model.taps_[0], WienerFilter(taps=2, delay=-1).fit(x, d).coef_, rtol=1e-12)


def test_silence() -> None:
    for method in ("covariance", "autocorrelation"):
        model = WienerFilter(taps=3, method=method).fit(np.zeros(20), np.ones(20))
        np.testing.assert_array_equal(model.coef_, np.zeros(3))
        assert model.rank_ == 0
        assert list(model.aliased_) == ["x0(n)", "x0(n-1)", "x0(n-2)"]


@pytest.mark.parametrize("method", ["covariance", "autocorrelation"])
@pytest.mark.parametrize("size", [2.0**900, 2.0**-900])
def test_units_do_not_matter(method: str, size: float) -> None:
    x, d = signals(0)
    plain = WienerFilter(taps=4, method=method).fit(x, d)
    np.testing.assert_array_equal(WienerFilter(taps=4, method=method).fit(x * size, d).coef_, plain.coef_ / size)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        *(({"taps": taps}, "taps must be") for taps in (0, 2.5, True, [], [3, 0])),
        ({"taps": [3, 4]}, "2 numbers for 1 signal"),
        ({"taps": 3, "delay": 0.5}, "delay must be"),
        ({"taps": 3, "method": "autocorrelation", "fit_intercept": True}, "needs method='covariance'"),
        ({"taps": 9000}, "fewer taps"),
    ],
    ids=str,
)
def test_arguments_that_mean_nothing(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        WienerFilter(**wrong).fit(*signals(0, n=9000 if wrong["taps"] == 9000 else 300))


def test_bad_signals() -> None:
    x, d = signals(0)
    model, weight = WienerFilter(taps=3).fit(x, d), np.ones(len(x))
    bad, wild = (np.where(np.arange(len(x)) == 17, value, x) for value in (np.nan, np.inf))
    toeplitz = WienerFilter(taps=3, method="autocorrelation")
    begun = WienerFilter(taps=3, delay=-2).fit(x[:100], d[:100])
    refusals: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: WienerFilter().fit(x, d), InvalidData, "needs a number of taps"),
        (lambda: WienerFilter(taps=3).fit(x, d[1:]), InvalidData, "inconsistent numbers of samples"),
        (lambda: WienerFilter(taps=3).fit(sparse.csr_array(x[:, None]), d), InvalidType, "sparse"),
        (lambda: toeplitz.fit(x, d, weight), InvalidParameter, "sample_weight needs method='covariance'"),
        (lambda: model.fit(bad, d), InvalidData, "Input X contains NaN: first at row 17"),
        (lambda: model.fit(x, bad), InvalidData, "Input y contains NaN: first at row 17"),
        (lambda: model.predict(wild), InvalidData, "X contains infinity: first at row 17"),
        (lambda: model.filter(x, np.column_stack([d, d])), InvalidData, "shape"),
        (lambda: model.partial_fit(x, np.column_stack([d, d])), InvalidData, "2 desired signals"),
        (lambda: model.merge(WienerFilter(taps=4).fit(x, d)), InvalidData, "cannot merge"),
        (lambda: begun.partial_fit(bad[:18], d[:18]), InvalidData, "first at row 17, column 'x0'"),
    ]
    for call, error, words in refusals:
        with pytest.raises(error, match=words):
            call()
    begun.partial_fit(x[100:], d[100:])
    np.testing.assert_allclose(begun.coef_, WienerFilter(taps=3, delay=-2).fit(x, d).coef_, rtol=1e-12)
    whole = (64 * x).round().astype(np.int16)
    for kind in (np.asarray, pd.Series):
        found = WienerFilter(taps=3).fit(kind(whole), kind(d)).coef_
        np.testing.assert_array_equal(found, WienerFilter(taps=3).fit(whole.astype(float), d).coef_)
