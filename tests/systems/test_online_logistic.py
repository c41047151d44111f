"""`OnlineLogistic`: one state, however its rows come."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adaline import LogisticRegression, OnlineLogistic, SigmoidPerceptron, open_table
from adaline.arrays import Array
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter
from adaline.results import Status
from adaline.scans import AdaptiveRule, CoordinateRule
from adaline.storage import load, save


def rows(n: int = 300, classes: int = 2) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.5)
    score = x @ rng.normal(size=(6, classes)) + rng.gumbel(size=(n, classes))
    return x, score.argmax(axis=1)


def online(**options: Any) -> OnlineLogistic:
    return OnlineLogistic(**options)


def bits(model: Any) -> tuple[bytes, bytes]:
    return model.coef_.tobytes(), model.intercept_.tobytes()


KINDS = [
    (2, {"l1": 2.0, "penalty": 1.0}),
    (2, {"fit_intercept": False, "class_weight": {0: 2.0}}),
    (3, {}),
    (3, {"scheme": "one-vs-rest"}),
]


@pytest.mark.parametrize(("classes", "options"), KINDS, ids=str)
def test_rows_at_once_in_parts_sparse_one_by_one_and_as_dicts_give_the_same_bits(
    classes: int, options: dict[str, Any], tmp_path: Path
) -> None:
    x, y = rows(classes=classes)
    whole, known = online(**options).fit(x, y), np.arange(classes)
    parts, single, dicts = online(**options), online(**options), online(**options)
    parts.partial_fit(x[:1], y[:1], classes=known).partial_fit(sparse.csr_array(x[1:200]), y[1:200])
    parts = pickle.loads(pickle.dumps(parts)).partial_fit(x[200:], y[200:])
    order = [5, 3, 0, 1, 2, 4]  # columns are met in this order
    for row, label in zip(x, y.tolist(), strict=True):
        single.learn_one(row, label, classes=known)
        dicts.learn_one({f"c{j}": row[j] for j in order if row[j]} or {}, label, classes=known)
    assert bits(parts) == bits(whole) == bits(single)
    place = [int(str(name)[1:]) for name in dicts.feature_names_in_]
    np.testing.assert_allclose(dicts.coef_, whole.coef_[:, place], rtol=1e-9, atol=1e-12)
    assert whole.rows_seen_ == single.rows_seen_ == dicts.rows_seen_ == 300
    assert np.isnan([single.certificate_.objective, whole.certificate_.objective]).all()
    assert whole.progressive_loss_ == pytest.approx(whole.history_[0]) == pytest.approx(single.progressive_loss_)
    assert parts.progressive_loss_ == pytest.approx(whole.progressive_loss_, rel=1e-12)
    assert "online, one pass" in whole.certificate_.solver
    assert [single.predict_one(row) for row in x[:40]] == whole.predict(x[:40]).tolist()
    save(dicts, tmp_path / "dicts")
    again = load(tmp_path / "dicts").learn_one({"new": 1.0}, 1)
    assert again.feature_names_in_.tolist() == [*dicts.feature_names_in_, "new"]
    assert again.predict_proba(np.zeros((1, 7))).sum() == pytest.approx(1.0)


def test_single_rows_follow_set_params_and_series_have_names() -> None:
    model = online().learn_one(pd.Series({"a": 1.0, "b": 2.0}), True).learn_one({"b": 1.0}, False)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    row = {"a": 3.0, "b": 1.0}
    assert model.predict_one(pd.Series({"b": 1.0, "a": 3.0})) == model.predict_one(row)
    for wrong, words in (({"l1": 50.0}, "l1 changed since OnlineLogistic began"), ({"l1": -5.0}, "l1 must be")):
        with pytest.raises(InvalidParameter, match=words):
            copy.copy(model).set_params(**wrong).learn_one(row, True)


def test_a_copy_has_columns_of_its_own() -> None:
    model = online().learn_one({"a": 1.0}, True)
    other = copy.copy(model)
    model.learn_one({"b": 1.0}, False)
    other.learn_one({"c": 1.0}, False)
    assert (model.feature_names_in_.tolist(), other.feature_names_in_.tolist()) == (["a", "b"], ["a", "c"])
    assert model.coef_.shape == other.coef_.shape == (1, 2)


def test_one_pass_comes_near_to_the_maximum_and_has_no_standard_errors() -> None:
    x, y = rows(4000)
    model, exact = online().fit(x, y), LogisticRegression().fit(x, y)
    assert model.score(x, y) > exact.score(x, y) - 0.02
    assert model.progressive_loss_ < 1.2 * exact.certificate_.objective / len(y)
    assert not hasattr(model, "summary")
    assert not hasattr(exact, "partial_fit")
    assert not hasattr(exact, "progressive_loss_")


def test_a_model_of_dicts_knows_the_columns_of_a_frame_by_their_names(tmp_path: Path) -> None:
    x, y = rows()
    x, y = x[:, :3], y > 0
    model, same = online(), online()
    for row, label in zip(x, y.tolist(), strict=True):
        model.learn_one(dict(zip("cab", row, strict=True)), label)
        same.learn_one(row, label)
    save(model, tmp_path / "model")
    frame = pd.DataFrame(x, columns=list("cab"))
    expected, again = same.predict_proba(x), same.partial_fit(x, y).predict_proba(x)
    for one in (model, load(tmp_path / "model")):
        assert "x0" not in str(one.coefficients())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for given in (frame[list("abc")], open_table(frame[list("bca")])):
                np.testing.assert_allclose(one.predict_proba(given), expected, rtol=1e-12)
            one.partial_fit(frame[list("bca")], y)
            np.testing.assert_allclose(one.predict_proba(frame[list("abc")]), again, rtol=1e-12)


def test_l1_sets_weights_to_zero_and_all_of_it_to_the_constant() -> None:
    x, y = rows(2000)
    noise = np.random.default_rng(1).normal(size=(2000, 20))
    x = np.column_stack([x, noise])
    zero = [(online(l1=l1).fit(x, y).coef_ == 0).sum() for l1 in (0.0, 60.0, 1e6)]
    assert zero[0] == 0
    assert 10 <= zero[1] < 26
    assert zero[2] == 26


@pytest.mark.parametrize("options", [{"penalty": 100.0}, {"l1": 50.0}, {"penalty": 20.0, "l1": 20.0}], ids=str)
def test_many_epochs_approach_the_stated_objective(options: dict[str, Any]) -> None:
    x, y = rows(500)

    def excess(model: OnlineLogistic) -> float:
        z, w = model.decision_function(x), model.coef_
        held = options.get("penalty", 0.0) / 2 * (w * w).sum() + options.get("l1", 0.0) * np.abs(w).sum()
        return float((np.logaddexp(0.0, z) - y * z).sum() + held - least)

    least = LogisticRegression(**options).fit(x, y).certificate_.objective
    assert -1e-9 < excess(online(epochs=100, **options).fit(x, y)) < 5e-4 * least
    again = online(epochs=10, warm_start=True, **options).fit(x, y).fit(x, y)
    assert bits(again) == bits(online(epochs=20, **options).fit(x, y))


def test_a_fit_that_diverges_says_so() -> None:
    with pytest.warns(AdalineWarning, match="not finite"):
        model = online(init=[[0.0, 1e300]]).fit([[1e10], [1.0]], [0, 1])
    assert model.certificate_.status is Status.DIVERGED
    assert online().fit([[5e-324], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).certificate_.status is Status.ONGOING


def test_a_row_that_is_refused_changes_nothing() -> None:
    refused: list[tuple[Any, Any]] = [({"a": 1.0, "b": np.inf}, True), ({"b": 1e200}, True), ({"b": 1.0}, "no")]
    begun = online().learn_one({"a": 1.0}, True)
    for model in (begun, online()):
        before = pickle.dumps(model)  # with the names of the columns, which learning adds to in place
        for row, label in refused:
            with pytest.raises(ValueError, match=r"infinity|label 'no'|classes"):
                model.learn_one(row, label)
            assert pickle.dumps(model) == before
    assert list(begun.feature_names_in_) == ["a"]


def test_the_order_of_many_keys_changes_no_bit() -> None:
    names = [f"c{j}" for j in range(500)]
    row = dict(zip(names, np.random.default_rng(0).normal(size=500).tolist(), strict=True))
    other = {name: row[name] for name in reversed(names)}
    first = online().learn_one(row, True)
    a, b = (pickle.loads(pickle.dumps(first)).learn_one(row, False) for _ in range(2))
    assert bits(a.learn_one(row, True)) == bits(b.learn_one(other, True))


def test_what_one_pass_cannot_do_is_refused() -> None:
    x, y = rows()
    for options in ({"penalty": "auto"}, {"scheme": "one-vs-one"}, {"epochs": 0}, {"l1": -1.0}):
        with pytest.raises(InvalidParameter, match=f"{next(iter(options))} must be"):
            online(**options).fit(x, y)
    with pytest.raises(InvalidData, match="classes"):
        online().learn_one(x[0], 1)
    model = online().fit(x, y)
    before = bits(model)
    for row in (x[0, :3], [np.nan] * 6, ["a"] * 6, {"a": 1.0}):
        with pytest.raises(InvalidData):
            model.learn_one(row, 1)
    assert bits(model) == before


def test_auto_rates_of_many_sparse_columns_are_those_of_each() -> None:
    rng = np.random.default_rng(0)
    x = sparse.random_array((400, 20_000), density=0.001, format="csr", rng=rng)
    y = np.asarray(x[:, :10_000].sum(axis=1) > x[:, 10_000:].sum(axis=1))
    model = SigmoidPerceptron(mode="online", epochs=5).fit(x, y)
    assert isinstance(model._scan, CoordinateRule)
    assert model.score(x, y) > 0.9
    assert isinstance(SigmoidPerceptron(mode="online").fit(x[:, :50], y)._scan, AdaptiveRule)


@pytest.mark.parametrize(
    "changed", [{"l1": 1.0}, {"penalty": 1.0}, {"average": True}, {"fit_intercept": False}, {"scheme": "one-vs-rest"}]
)
def test_what_a_scan_was_begun_with_cannot_change_under_way(changed: dict[str, Any]) -> None:
    x, y = rows(classes=3)
    model = online().partial_fit(x, y)
    before = bits(model)
    (name,) = changed
    with pytest.raises(InvalidParameter, match=f"{name} changed since OnlineLogistic began.*refit"):
        model.set_params(**changed).partial_fit(x, y)
    assert bits(model) == before
    model.set_params(**{name: getattr(online(), name)}).partial_fit(x, y)
    assert bits(model) == bits(online().partial_fit(np.vstack([x, x]), np.concatenate([y, y])))
