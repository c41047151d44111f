"""Adaptive filters: the textbook's rules on a delay line, the same bits in any pieces, and what they are good for."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.signal import lfilter
from sklearn.base import clone

from adaline import AdalineWarning, AdaptiveFilter, Ridge, Status, WienerFilter
from adaline.errors import InvalidData, InvalidParameter, InvalidType, NotFittedError
from tests.sources.tapped import design
from tests.storage.cases import assert_equal

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
@pytest.mark.parametrize("channels", [0, 1, 3])
def test_it_is_the_textbooks_rule(kind: dict[str, Any], channels: int) -> None:
    x, d = signals(channels)
    taps: Any = [5, 1, 3] if channels == 3 else 4
    model = AdaptiveFilter(taps=taps, **kind)
    output, error = model.filter(x, d)
    rows = design(x.reshape(len(x), -1), tuple(np.atleast_1d(taps)), model.delay)
    z, w = textbook(rows, d, model)
    np.testing.assert_allclose(output, z, atol=1e-10)
    np.testing.assert_array_equal(error, d - output)
    np.testing.assert_allclose(np.r_[[model.intercept_] * model.fit_intercept, model.coef_], w, atol=1e-10)
    np.testing.assert_allclose(model.predict(x), rows @ model.coef_ + model.intercept_, atol=1e-12)
    assert [len(part) for part in model.taps_] == np.atleast_1d(taps).tolist()
    assert model.rows_seen_ == len(x)
    assert model.certificate_.status is Status.SOLVED
    np.testing.assert_allclose(model.certificate_.objective, (error @ error) / 2)
    np.testing.assert_allclose(model.history_, [np.mean(error**2)])


@EACH
@pytest.mark.parametrize(("channels", "targets"), [(0, 0), (0, 2), (2, 0), (3, 2)])
def test_pieces_change_no_bit(kind: dict[str, Any], channels: int, targets: int) -> None:
    """Of outputs, errors, weights and their record, also where a piece is a single sample or a model is copied."""
    x, d = signals(channels, targets, n=300)
    make = partial(AdaptiveFilter, taps=5, record=7, **kind)
    whole, cut, single, every = make(), make(), make(), make(record=True).fit(x, d)
    output, error = whole.filter(x, d)
    parts = [cut.filter(a, b) for a, b in zip(np.split(x, [1, 3, 150]), np.split(d, [1, 3, 150]), strict=True)]
    ones = [single.learn_one(a, b).output_ for a, b in zip(x[:90], d[:90], strict=True)]
    again = pickle.loads(pickle.dumps(single))
    ones += [again.learn_one(a, b).output_ for a, b in zip(x[90:], d[90:], strict=True)]
    for found, outputs in ((cut, np.concatenate([part.output for part in parts])), (again, np.array(ones))):
        np.testing.assert_array_equal(outputs, output)
        for name in ("coef_", "intercept_", "weights_over_time_"):
            np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
        assert found.coef_.shape == whole.coef_.shape
    np.testing.assert_array_equal(np.concatenate([part.error for part in parts]), error)
    np.testing.assert_array_equal(whole.weights_over_time_, every.weights_over_time_[6::7])
    np.testing.assert_array_equal(every.weights_over_time_[-1], every.coef_)
    assert make(record=False).fit(x, d).weights_over_time_.shape == (0, *whole.coef_.shape)
    fitted = make().fit(x[:99], d[:99]).fit(x[:200], d[:200]).partial_fit(x[200:], d[200:])
    np.testing.assert_array_equal(fitted.coef_, whole.coef_)


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
    n = np.arange(30_000)
    x, d = np.sin(0.2 * n) * np.where(n > 15_000, 1e-3, 1e3), np.sin(0.2 * n + 1.0)
    model = AdaptiveFilter(rule="rls", taps=8, forgetting=forgetting)
    error = model.filter(x, d).error
    root = model._adaptation.covariance_root
    assert np.isfinite(root).all()
    assert np.isfinite(error).all()
    assert (np.diag(root @ root.T) > 0).all()
    assert abs(error[12_000:15_000]).max() < 1e-6
    for rule in ("nlms", "rls"):  # silence moves nothing
        assert not AdaptiveFilter(rule=rule, taps=4, eps=0.0).fit(np.zeros(100), np.ones(100)).coef_.any()


def test_what_filters_are_good_for() -> None:
    """A path that changes is followed; a line is heard through noise by another way; a predictor is Wiener's."""
    rng = np.random.default_rng(4)
    x, paths = rng.standard_normal(6000), rng.standard_normal((2, 6))
    for settings in ({"rule": "nlms"}, {"rule": "rls", "forgetting": 0.95}):
        model = AdaptiveFilter(taps=6, **settings)
        for path, part in zip(paths, (slice(0, 3000), slice(3000, None)), strict=True):
            model.partial_fit(x[part], lfilter(path, [1.0], x)[part])
            np.testing.assert_allclose(model.coef_, path, atol=1e-6)
    sine = np.sin(0.05 * np.arange(6000))
    heard = sine + lfilter([0.8, -0.5, 0.3], [1.0], x)
    for rule, settings in (("nlms", {"rate": 0.02}), ("rls", {"forgetting": 0.999}), ("lms", {"rate": 0.002})):
        clean = AdaptiveFilter(taps=8, rule=rule, **settings).filter(x, heard).error
        assert np.var((clean - sine)[3000:]) < 0.05 * np.var((heard - sine)[3000:])
    signal = lfilter([1.0], [1.0, -1.5, 0.8], x)
    model = AdaptiveFilter(rule="rls", taps=2, delay=1).fit(signal, signal)
    np.testing.assert_allclose(model.coef_, WienerFilter(taps=2, delay=1).fit(signal, signal).coef_, atol=1e-3)


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
    again = pickle.loads(pickle.dumps(model))
    for bad in (np.nan, np.inf, 1e200):
        wrong = x.copy()
        wrong[310, 1] = bad
        with pytest.raises(InvalidData, match="row 10, column 'x1'" if bad != 1e200 else "too large"):
            model.filter(wrong[300:], d[300:])
        for row, desired in ((wrong[310], 1.0), (x[310], bad)):
            with pytest.raises(InvalidData, match="finite"):
                model.learn_one(row, desired)
    with pytest.raises(InvalidData, match="Input y contains NaN: first at row 33"):
        model.partial_fit(x[300:], np.where(np.arange(300, 700) == 333, np.nan, d[300:]))
    np.testing.assert_array_equal(model.partial_fit(x[300:], d[300:]).coef_, again.partial_fit(x[300:], d[300:]).coef_)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"taps": 0}, "taps must be"),
        ({"delay": -1}, "delay must be a whole number of 0 or more, got -1; to look ahead"),
        ({"delay": 0.5}, "delay must be a whole"),
        ({"rate": 0.0}, "rate must be"),
        ({"rule": "sign"}, "needs a number as rate"),
        ({"rule": "rls", "rate": 0.99}, "set by forgetting"),
        ({"rule": "rls", "forgetting": 0.0}, "above 0"),
        ({"rule": "rls", "forgetting": 1.1}, "forgetting must be"),
        ({"rule": "rls", "regularization": 0.0}, "regularization must be a positive number"),
        ({"leak": 0.1}, "leak needs"),
        ({"taps": [2, 2]}, "give one number a signal"),
    ],
    ids=str,
)
def test_arguments_that_mean_nothing(settings: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidParameter, match=match):
        AdaptiveFilter(**{"taps": 3, **settings}).fit(*signals())


@pytest.mark.parametrize("name", ["certificate_", "rate_bound_", "weights_over_time_"])
def test_nothing_is_known_of_a_filter_without_samples(name: str) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(AdaptiveFilter(), name)


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


@pytest.mark.parametrize("targets", [0, 2])
def test_it_continues_from_weights_that_are_assigned(targets: int) -> None:
    x, d = signals(targets=targets)
    model = AdaptiveFilter(rule="lms", rate=1e-3, taps=2, fit_intercept=True).fit(x[:50], d[:50])
    before, held = model.coef_, model.coef_.copy()
    coef, constant = np.ones_like(held), np.full(max(targets, 1), 0.5)
    model.coef_, model.intercept_ = coef, constant if targets else 0.5
    np.testing.assert_array_equal(before, held)
    assert_equal(pickle.loads(pickle.dumps(model)), model, laid=False)
    u = np.array([x[50], x[49]])
    output = u.sum() + 0.5
    np.testing.assert_allclose(model.predict_one(x[50]), np.full(targets, output) if targets else output, rtol=1e-12)
    model.learn_one(x[50], d[50])
    step = 1e-3 * np.asarray(d[50] - output)
    np.testing.assert_allclose(model.coef_, coef + step[..., None] * u, rtol=1e-12)
    np.testing.assert_allclose(model.intercept_, 0.5 + step, rtol=1e-12)


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
        model.learn_one(dict(reversed(row.items())) if hasattr(model, "_adaptation") else row, desired)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.feature_names_in_.tolist() == ["left", "right"]
