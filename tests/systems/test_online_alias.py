"""`LogisticRegression(solver="online")` is `OnlineLogistic` by its former name: the same bits, and a warning."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaline import LogisticRegression, OneVsRest, OnlineLogistic, select
from adaline.arrays import Array
from adaline.errors import DeprecatedWarning, InvalidParameter
from adaline.estimator import clone
from adaline.kernels import native
from adaline.state import attributes_of
from adaline.storage import load, save

pytestmark = pytest.mark.filterwarnings("ignore::adaline.errors.DeprecatedWarning")

SETTINGS: list[dict[str, Any]] = [
    {},
    {"l1": 0.5, "penalty": 0.1, "average": True},
    {"scheme": "one-vs-rest", "class_weight": {1: 2.0}, "epochs": 2, "warm_start": True},
    {"fit_intercept": False, "init": np.ones((3, 5))},
]


def rows(n: int = 90) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 4))
    return x, (x @ rng.normal(size=(4, 3)) + rng.gumbel(size=(n, 3))).argmax(axis=1)


def online(**settings: Any) -> LogisticRegression:
    return LogisticRegression(solver="online", **settings)


def bits(model: Any, x: Array) -> list[Any]:
    shown = [model.coef_, model.intercept_, model.predict_proba(x), model.predict_log_proba(x), model.predict(x)]
    shown += [model.decision_function(x), np.array(model.history_), np.array(model.classes_), model.progressive_loss_]
    proof = model.certificate_
    more = [model.predict_one(x[0]), model.n_iter_, model.rows_seen_, proof.status, proof.solver, proof.passes]
    return [*(np.asarray(one).tobytes() for one in shown), *more]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_it_gives_the_bits_of_online_logistic_and_warns_once(settings: dict[str, Any], tmp_path: Path) -> None:
    x, y = rows()
    former, present = online(**settings), OnlineLogistic(**settings)
    with pytest.warns(DeprecatedWarning, match=r"deprecated.*use OnlineLogistic"):
        former.fit(x, y)
    assert bits(former, x) == bits(present.fit(x, y), x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (former, present):
            model.partial_fit(x[:40], y[:40]).learn_one(x[0], y[0]).learn_one(x[1], y[1])
        assert bits(former, x) == bits(present, x)
        for same in (copy.copy(former), pickle.loads(pickle.dumps(former))):
            same.learn_one(x[2], y[2])
            assert bits(former, x) == bits(present, x) != bits(same, x)
        assert bits(former.fit(x, y), x) == bits(present.fit(x, y), x)
    save(former, tmp_path / "model")
    again = load(tmp_path / "model")
    assert type(again) is OnlineLogistic
    assert bits(again.learn_one(x[2], y[2]), x) == bits(former.learn_one(x[2], y[2]), x)
    fitted = {name for name in dir(present) if name.endswith("_") and not name.startswith("_")}
    assert all(hasattr(former, name) for name in fitted)


def test_rows_that_are_dicts_bring_new_columns() -> None:
    former, present = online(), OnlineLogistic()
    for model in (former, present):
        model.learn_one({"a": 1.0}, True).learn_one({"b": 2.0, "a": 1.0}, False).learn_one({"c": 1.0}, True)
    assert former.feature_names_in_.tolist() == present.feature_names_in_.tolist() == ["a", "b", "c"]
    assert former.coef_.tobytes() == present.coef_.tobytes()
    other = copy.copy(former).learn_one({"d": 1.0}, True)
    assert (former.n_features_in_, other.n_features_in_) == (3, 4)
    with pytest.raises(ValueError, match="column 'd'"):
        former.learn_one({"d": np.inf}, True)
    assert former.n_features_in_ == 3


def test_what_one_pass_cannot_do_is_refused_and_changes_nothing() -> None:
    x, y = rows()
    for settings in ({"penalty": "auto"}, {"firth": True}, {"scheme": "one-vs-one"}, {"standardize": True}):
        with pytest.raises(InvalidParameter, match="solver='online'"):
            online(**settings).fit(x, y)
    model = online().fit(x, y)
    before = bits(model, x)
    with pytest.raises(InvalidParameter, match="use another solver"):
        model.influence(x, y)
    assert not hasattr(model, "summary")
    for wrong in ({"l1": 50.0}, {"l1": -5.0}, {"firth": True}):
        with pytest.raises(InvalidParameter):
            copy.copy(model).set_params(**wrong).learn_one(x[0], y[0])
    assert bits(model, x) == before


def test_another_solver_starts_from_it_and_nothing_is_left() -> None:
    x, y = rows(600)
    y = (y > 0).astype(int)
    exact, model = LogisticRegression().fit(x, y), online(warm_start=True).fit(x, y)
    model.set_params(solver="auto").fit(x, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-6)
    assert attributes_of(model).keys() == attributes_of(exact).keys()
    assert not any(hasattr(model, name) for name in ("partial_fit", "learn_one", "predict_one", "progressive_loss_"))
    exact.set_params(solver="online")
    assert not hasattr(exact, "predict_one")  # what there is to read was not learned online
    exact.learn_one(x[0], y[0], classes=[0, 1]).partial_fit(x[1:90], y[1:90])
    new = OnlineLogistic().learn_one(x[0], y[0], classes=[0, 1]).partial_fit(x[1:90], y[1:90])
    assert bits(exact, x) == bits(new, x)
    assert not hasattr(exact, "penalty_")


def test_other_systems_take_it(tmp_path: Path) -> None:
    x, y = rows()
    former, present = (OneVsRest(system=one).fit(x, y) for one in (clone(online(l1=0.1)), OnlineLogistic(l1=0.1)))
    assert former.predict_proba(x).tobytes() == present.predict_proba(x).tobytes()
    save(former, tmp_path / "model")
    assert repr(load(tmp_path / "model")) == repr(present)
    found = [select(one, x, y, l1=[0.0, 5.0], folds=3) for one in (online(), OnlineLogistic())]
    assert found[0].best.coef_.tobytes() == found[1].best.coef_.tobytes()
    errors = [[one.error for one in each.tried] for each in found]
    np.testing.assert_allclose(errors[0], errors[1], rtol=1e-9)


@pytest.mark.skipif(native is None, reason="the native core is not built")
def test_single_rows_after_the_first_ones_are_taken_by_one_native_call(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows()
    former, present = online().fit(x, y).learn_one(x[0], y[0]), OnlineLogistic().fit(x, y).learn_one(x[0], y[0])
    monkeypatch.setattr("adaline.systems.online_alias._hand_over", None)
    for row, label in zip(x, y.tolist(), strict=True):
        former.learn_one(row, label)
        present.learn_one(row, label)
    assert bits(former, x) == bits(present, x)
