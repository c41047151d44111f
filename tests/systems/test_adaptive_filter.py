"""Adaptive filters: the textbook's rules on a delay line, the same bits in any pieces, and what they are good for."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.signal import lfilter
from sklearn.base import clone

from adaline import AdalineWarning, AdaptiveFilter, Ridge, Status, WienerFilter, load, open_table, save
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from tests.sources.tapped import design

KINDS: list[dict[str, Any]] = [
    {"rule": "lms", "rate": 0.01},
    {"rule": "lms"},
    {"rule": "lms", "rate": 0.01, "leak": 0.5},
    {"rule": "nlms", "rate": 0.3, "eps": 1e-3},
    {"rule": "nlms", "delay": 3},
    {"rule": "nlms", "fit_intercept": True},
    {"rule": "sign", "rate": 0.01},
    {"rule": "sign-data", "rate": 0.01},
    {"rule": "sign-sign", "rate": 0.001},
    {"rule": "rls"},
    {"rule": "rls", "forgetting": 0.98, "regularization": 0.1, "delay": 2},
    {"rule": "rls", "forgetting": 0.99, "fit_intercept": True},
]
EACH = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: ",".join(f"{k}={v}" for k, v in kind.items()))


def signals(channels: int = 0, targets: int = 0, n: int = 700, seed: int = 0) -> tuple[Any, Any]:
    """Coloured inputs, and what a filter with noise makes of them; channels 0: one signal (n,)."""
    rng = np.random.default_rng(seed)
    x = lfilter([1.0], [1.0, -0.5], rng.standard_normal((n, max(channels, 1))), axis=0)
    d = np.stack([lfilter(rng.standard_normal(4), [1.0], x.sum(axis=1)) for _ in range(max(targets, 1))], axis=1)
    d += 0.1 * rng.standard_normal(d.shape) + 0.5
    return (x if channels else x[:, 0]), (d if targets else d[:, 0])


def textbook(U: Any, d: Any, model: AdaptiveFilter) -> tuple[Any, Any]:
    """The rules as books and padasip have them: outputs and last weights; P for rls as P - P u u'P / (lam + u'P u)."""
    U = np.column_stack([np.ones(len(U)), U]) if model.fit_intercept else U
    w, z = np.zeros(U.shape[1]), np.zeros(len(U))
    P, lam = np.eye(len(w)) / model.regularization, model.forgetting
    rule = "nlms" if model.rate == "auto" and model.rule == "lms" else model.rule
    mu = 0.5 if model.rate == "auto" else model.rate
    for n, u in enumerate(U):
        z[n] = w @ u
        e = d[n] - z[n]
        match rule:
            case "lms":
                w = (1 - mu * model.leak) * w + mu * e * u
            case "nlms":
                w = w + mu * e * u / (model.eps + u @ u)
            case "sign":
                w = w + mu * np.sign(e) * u
            case "sign-data":
                w = w + mu * e * np.sign(u)
            case "sign-sign":
                w = w + mu * np.sign(e) * np.sign(u)
            case "rls":
                g = P @ u / (lam + u @ P @ u)
                w = w + g * e
                P = (P - np.outer(g, u @ P)) / lam
    return z, w


@EACH
@pytest.mark.parametrize("channels", [0, 1, 2])
def test_it_is_the_textbooks_rule(kind: dict[str, Any], channels: int) -> None:
    x, d = signals(channels)
    model = AdaptiveFilter(taps=4, **kind)
    output, error = model.filter(x, d)
    rows = design(x.reshape(len(x), -1), (4,) * max(channels, 1), model.delay)
    z, w = textbook(rows, d, model)
    np.testing.assert_allclose(output, z, atol=1e-10)
    np.testing.assert_array_equal(error, d - output)
    np.testing.assert_allclose(np.r_[[model.intercept_] * model.fit_intercept, model.coef_], w, atol=1e-10)
    np.testing.assert_allclose(model.predict(x), rows @ model.coef_ + model.intercept_, atol=1e-12)
    assert model.rows_seen_ == len(x)
    assert model.certificate_.status is Status.SOLVED
    np.testing.assert_allclose(model.certificate_.objective, (error @ error) / 2)
    np.testing.assert_allclose(model.history_, [np.mean(error**2)])


@EACH
@pytest.mark.parametrize(("channels", "targets"), [(0, 0), (0, 2), (2, 0), (3, 2)])
def test_pieces_change_no_bit(kind: dict[str, Any], channels: int, targets: int) -> None:
    x, d = signals(channels, targets)
    make = clone(AdaptiveFilter(taps=5, record=7, **kind))
    whole = clone(make)
    output, error = whole.filter(x, d)
    cut, single = clone(make), clone(make)
    parts, first = [], 0
    for size in (1, 2, 300, 3, 1, 260, 1000):
        parts.append(cut.filter(x[first : first + size], d[first : first + size]))
        first += size
    ones = [single.learn_one(a, b).output_ for a, b in zip(x, d, strict=True)]
    for found, outputs in ((cut, np.concatenate([part.output for part in parts])), (single, np.array(ones))):
        np.testing.assert_array_equal(outputs, output)
        np.testing.assert_array_equal(found.coef_, whole.coef_)
        np.testing.assert_array_equal(found.intercept_, whole.intercept_)
        np.testing.assert_array_equal(found.weights_over_time_, whole.weights_over_time_)
        assert found.coef_.shape == whole.coef_.shape
    np.testing.assert_array_equal(np.concatenate([part.error for part in parts]), error)
    fitted = clone(make).fit(x[:99], d[:99]).fit(x[:400], d[:400]).partial_fit(x[400:], d[400:])
    np.testing.assert_array_equal(fitted.coef_, whole.coef_)


def test_weights_over_time() -> None:
    x, d = signals()
    every = AdaptiveFilter(taps=3, record=True).fit(x, d)
    assert every.weights_over_time_.shape == (len(x), 3)
    np.testing.assert_array_equal(every.weights_over_time_[-1], every.coef_)
    some = AdaptiveFilter(taps=3, record=50).fit(x, d)
    np.testing.assert_array_equal(some.weights_over_time_, every.weights_over_time_[49::50])
    assert AdaptiveFilter(taps=3).fit(x, d).weights_over_time_.shape == (0, 3)
    two = AdaptiveFilter(taps=3, record=100).fit(x, np.column_stack([d, -d]))
    assert two.weights_over_time_.shape == (7, 2, 3)
    np.testing.assert_array_equal(two.weights_over_time_[:, 0], -two.weights_over_time_[:, 1])


def test_float32_signals_equal_their_float64_copies() -> None:
    x, d = signals(2)
    x = x.astype(np.float32)
    a, b = (AdaptiveFilter(taps=4).fit(rows, d) for rows in (x, x.astype(np.float64)))
    np.testing.assert_array_equal(a.coef_, b.coef_)


def test_each_signal_may_have_its_own_taps() -> None:
    x, d = signals(3)
    model = AdaptiveFilter(taps=[5, 1, 3], delay=1, rate=0.2)
    output = model.filter(x, d).output
    z, w = textbook(design(x, (5, 1, 3), 1), d, model)
    np.testing.assert_allclose(output, z, atol=1e-12)
    np.testing.assert_allclose(model.coef_, w, atol=1e-12)
    assert [len(part) for part in model.taps_] == [5, 1, 3]
    single = AdaptiveFilter(taps=[5, 1, 3], delay=1, rate=0.2)
    np.testing.assert_array_equal([single.learn_one(a, b).output_ for a, b in zip(x, d, strict=True)], output)


def test_rls_without_forgetting_is_ridge_on_the_rows() -> None:
    x, d = signals()
    model = AdaptiveFilter(rule="rls", taps=6, regularization=2.0).fit(x, d)
    theirs = Ridge(penalty=2.0, fit_intercept=False).fit(design(x[:, None], (6,)), d)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-11)
    weight = np.arange(len(x)) % 3.0
    model.fit(x, d, sample_weight=weight)
    theirs.fit(design(x[:, None], (6,)), d, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-11)


@pytest.mark.parametrize("forgetting", [1.0, 0.99, 0.9])
def test_rls_stays_positive_definite(forgetting: float) -> None:
    """Also where the input excites two directions of eight only, and the others are forgotten for ever."""
    n = np.arange(100_000)
    x = np.sin(0.2 * n) * np.where(n > 50_000, 1e-3, 1e3)
    d = np.sin(0.2 * n + 1.0)
    model = AdaptiveFilter(rule="rls", taps=8, forgetting=forgetting)
    error = model.filter(x, d).error
    root = model._state.covariance_root
    assert np.isfinite(root).all()
    assert np.isfinite(error).all()
    assert (np.diag(root @ root.T) > 0).all()
    assert abs(error[40_000:50_000]).max() < 1e-6


def test_silence_moves_nothing() -> None:
    for rule in ("nlms", "rls"):
        model = AdaptiveFilter(rule=rule, taps=4, eps=0.0).fit(np.zeros(100), np.ones(100))
        assert not model.coef_.any()


def test_noise_cancelling() -> None:
    """A sine is heard through noise that reaches it by another way than the reference microphone."""
    rng = np.random.default_rng(0)
    n = np.arange(8000)
    noise, sine = rng.standard_normal(8000), np.sin(0.05 * n)
    heard = sine + lfilter([0.8, -0.5, 0.3], [1.0], noise)
    for settings in (
        {"rule": "nlms", "rate": 0.02},
        {"rule": "rls", "forgetting": 0.999},
        {"rule": "lms", "rate": 0.002},
    ):
        clean = AdaptiveFilter(taps=8, **settings).filter(noise, heard).error
        assert np.var((clean - sine)[4000:]) < 0.03 * np.var((heard - sine)[4000:])


def test_echo_cancelling() -> None:
    rng = np.random.default_rng(1)
    far = lfilter([1.0], [1.0, -0.7], rng.standard_normal(20_000))
    path = rng.standard_normal(32) * 0.8 ** np.arange(32)
    echo = lfilter(path, [1.0], far)
    heard = echo + 0.01 * rng.standard_normal(20_000)
    for settings in ({"rule": "nlms"}, {"rule": "rls"}):
        left = AdaptiveFilter(taps=32, **settings).filter(far, heard).error
        assert 10 * np.log10(np.var(echo[15_000:]) / np.var(left[15_000:])) > 20


def test_line_enhancement() -> None:
    """Noise that is not correlated beyond the delay cannot be predicted, a line can."""
    rng = np.random.default_rng(2)
    n = np.arange(20_000)
    line = np.sin(0.3 * n)
    d = line + rng.standard_normal(20_000)
    output = AdaptiveFilter(rule="nlms", taps=64, delay=1, rate=0.01).filter(d, d).output
    assert np.var((output - line)[10_000:]) < 0.2 * np.var((d - line)[10_000:])


def test_prediction() -> None:
    """An autoregressive signal: the error comes down to the innovation, the weights to the coefficients."""
    rng = np.random.default_rng(3)
    x = lfilter([1.0], [1.0, -1.5, 0.8], rng.standard_normal(20_000))
    model = AdaptiveFilter(rule="rls", taps=2, delay=1)
    error = model.filter(x, x).error
    np.testing.assert_allclose(model.coef_, [1.5, -0.8], atol=0.02)
    np.testing.assert_allclose(np.var(error[1000:]), 1.0, atol=0.05)
    assert np.var(error[1000:]) < 0.2 * np.var(x)
    np.testing.assert_allclose(model.coef_, WienerFilter(taps=2, delay=1).fit(x, x).coef_, atol=1e-4)


def test_system_identification_follows_a_change() -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal(6000)
    first, second = rng.standard_normal((2, 6))
    d = np.r_[lfilter(first, [1.0], x)[:3000], lfilter(second, [1.0], x)[3000:]]
    for settings in ({"rule": "nlms"}, {"rule": "rls", "forgetting": 0.95}):
        model = AdaptiveFilter(taps=6, **settings).fit(x[:3000], d[:3000])
        np.testing.assert_allclose(model.coef_, first, atol=1e-6)
        model.partial_fit(x[3000:], d[3000:])
        np.testing.assert_allclose(model.coef_, second, atol=1e-6)


@pytest.mark.parametrize("pieces", [1, 7])
def test_divergence_keeps_the_last_good_weights(pieces: int) -> None:
    x, d = signals(n=3000)
    model = AdaptiveFilter(rule="lms", taps=8, rate=0.01).fit(x, d)
    model.set_params(rate=2.0)
    with pytest.warns(AdalineWarning, match="rate is too large"):
        parts = [
            model.filter(a, b) for a, b in zip(np.split(x[:2100], pieces), np.split(d[:2100], pieces), strict=True)
        ]
    assert model.certificate_.status is Status.DIVERGED
    assert "lower it" in model.certificate_.advice
    assert all(np.isfinite(part.output).all() for part in parts)
    kept = model.coef_.copy()
    assert np.isfinite(kept).all()
    output = model.partial_fit(x, d).filter(x, d).output
    np.testing.assert_array_equal(model.coef_, kept)
    np.testing.assert_allclose(output[8:], model.predict(x)[8:], atol=1e-12)
    assert np.isfinite(model.learn_one(1.0, 1.0).output_)
    np.testing.assert_array_equal(model.coef_, kept)
    assert model.rate_bound_ < 2.0
    assert model.fit(x[:5], d[:5]).certificate_.status is Status.SOLVED


def test_a_rate_above_the_bound_is_told() -> None:
    x, d = signals(n=300)
    model = AdaptiveFilter(rule="lms", taps=2, rate=0.9).fit(x[:20] * 0.1, d[:20])
    assert model.rate_bound_ == pytest.approx(2 / np.mean((design(0.1 * x[:20, None], (2,)) ** 2).sum(axis=1)))
    assert "above about" not in model.certificate_.advice
    with pytest.warns(AdalineWarning):
        model.fit(x * 10, d)
    small = AdaptiveFilter(rule="lms", taps=2, rate=0.9).fit(30 * x[:3], d[:3])
    assert "(5.20)" in small.certificate_.advice


def test_bad_samples_are_named_and_change_nothing() -> None:
    x, d = signals(2)
    model = AdaptiveFilter(taps=3).fit(x[:300], d[:300])
    before = pickle.dumps(model)
    for bad in (np.nan, np.inf, 1e200):
        wrong = x.copy()
        wrong[310, 1] = bad
        with pytest.raises(InvalidData, match="row 10, column 'x1'" if bad != 1e200 else "too large"):
            model.filter(wrong[300:], d[300:])
        with pytest.raises(InvalidData, match="finite"):
            model.learn_one(wrong[310], 1.0)
        with pytest.raises(InvalidData, match="finite"):
            model.learn_one(x[310], bad)
    target = d.copy()
    target[333] = np.nan
    with pytest.raises(InvalidData, match="Input y contains NaN: first at row 33"):
        model.partial_fit(x[300:], target[300:])
    again = pickle.loads(before)
    np.testing.assert_array_equal(model.partial_fit(x[300:], d[300:]).coef_, again.partial_fit(x[300:], d[300:]).coef_)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"rule": "kalman"}, "rule must be one of"),
        ({"taps": 0}, "taps must be"),
        ({"delay": -1}, "delay must be a whole number of 0 or more, got -1; to look ahead"),
        ({"delay": 0.5}, "delay must be a whole"),
        ({"rate": 0.0}, "rate must be"),
        ({"rate": "fast"}, "rate must be"),
        ({"eps": -1.0}, "eps must be"),
        ({"rule": "sign"}, "needs a number as rate"),
        ({"rule": "rls", "rate": 0.99}, "set by forgetting"),
        ({"rule": "rls", "forgetting": 0.0}, "above 0"),
        ({"rule": "rls", "forgetting": 1.1}, "forgetting must be"),
        ({"rule": "rls", "regularization": 0.0}, "regularization must be a positive number"),
        ({"leak": 0.1}, "leak needs"),
        ({"record": -1}, "record must be"),
        ({"taps": [2, 2]}, "give one number a signal"),
    ],
)
def test_arguments_that_mean_nothing(settings: dict[str, Any], match: str) -> None:
    x, d = signals()
    with pytest.raises(InvalidParameter, match=match):
        AdaptiveFilter(**{"taps": 3, **settings}).fit(x, d)


def test_what_may_change_on_the_way() -> None:
    x, d = signals()
    model = AdaptiveFilter(taps=3, rate=0.5).fit(x, d)
    model.set_params(rate=0.1).partial_fit(x, d)
    for changed in ({"taps": 4}, {"delay": 1}, {"fit_intercept": True}, {"rule": "rls", "rate": "auto"}):
        with pytest.raises(InvalidParameter, match="reset"):
            clone(model).fit(x, d).set_params(**changed).partial_fit(x, d)
    with pytest.raises(InvalidData, match="2 desired signals"):
        model.partial_fit(x, np.column_stack([d, d]))
    with pytest.raises(InvalidData, match="needs a number of taps"):
        AdaptiveFilter().fit(x, d)
    with pytest.raises(InvalidType, match="sparse"):
        AdaptiveFilter().fit(sparse.csr_array(x[:, None]), d)
    assert not hasattr(model.reset(), "coef_")
    np.testing.assert_array_equal(model.fit(x, d).coef_, AdaptiveFilter(taps=3, rate=0.1).fit(x, d).coef_)


def test_predict_one_keeps_nothing() -> None:
    x, d = signals()
    model = AdaptiveFilter(taps=4).fit(x[:600], d[:600])
    for a, b in zip(x[600:], d[600:], strict=True):
        said = model.predict_one(a)
        assert said == model.predict_one(a)
        assert said == pytest.approx(model.learn_one(a, b).output_, rel=1e-12)


def test_samples_as_dicts() -> None:
    x, d = signals(2)
    frame = pd.DataFrame(x, columns=["left", "right"])
    model, other = AdaptiveFilter(taps=3), AdaptiveFilter(taps=3).fit(frame, d)
    for row, desired in zip(frame.to_dict("records"), d, strict=True):
        model.learn_one(dict(reversed(row.items())) if model.__dict__.get("_state") else row, desired)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.feature_names_in_.tolist() == ["left", "right"]


def test_stored_filters_go_on(tmp_path: Path) -> None:
    x, d = signals()
    for settings in KINDS:
        whole = AdaptiveFilter(taps=4, **settings).fit(x, d)
        part = AdaptiveFilter(taps=4, **settings).fit(x[:300], d[:300])
        save(part, tmp_path / "m")
        for again in (load(tmp_path / "m"), pickle.loads(pickle.dumps(part))):
            before = again.coef_.copy()
            for a, b in zip(x[300:], d[300:], strict=True):
                again.learn_one(a, b)
            np.testing.assert_array_equal(again.coef_, whole.coef_)
            assert (again.coef_ != before).any()
        np.testing.assert_array_equal(part.filter(x[300:], d[300:]).output.shape, (400,))


def test_tables_are_signals(tmp_path: Path) -> None:
    x, d = signals(2)
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "d": d})
    frame.to_parquet(tmp_path / "s.parquet", row_group_size=100)
    table = open_table(tmp_path / "s.parquet", target="d")
    model = AdaptiveFilter(taps=4)
    output, error = model.filter(table)
    expected = AdaptiveFilter(taps=4)
    np.testing.assert_array_equal(output, expected.filter(x, d).output)
    np.testing.assert_array_equal(error, d - output)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.predict(table), expected.predict(x))
