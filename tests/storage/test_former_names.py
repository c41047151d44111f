"""Model files of a learner by its former name: they load as the learner by its present one, and continue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaline import LogisticRegression, OneVsRest, OnlineLogistic
from adaline.storage import load, read_header, save

MODELS = Path(__file__).parents[1] / "data" / "models"
KNOWN: dict[str, Any] = json.loads((MODELS / "online.json").read_text())
EXPECTED = {
    "online_of_rows": repr(OnlineLogistic(average=True, epochs=2, penalty=0.5)),
    "online_of_dicts": repr(OnlineLogistic(l1=0.1)),
    "one_vs_rest_online": repr(OneVsRest(system=OnlineLogistic())),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_of_an_online_logistic_regression_is_one_of_online_logistic(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)).round(3)
    y = np.digitize(X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=40), [-1.0, 1.0])
    labels = np.array(["a", "b", "c"])[y] if name == "online_of_rows" else y
    model = load(MODELS / f"{name}.adaline")
    assert repr(model) == EXPECTED[name]
    order = [["u", "v", "w"].index(column) for column in getattr(model, "feature_names_in_", "uvw")]
    np.testing.assert_allclose(model.predict_proba(X[:3, order]), KNOWN[name]["proba"], rtol=1e-12)
    if name == "online_of_dicts":
        model.learn_one({"new": 1.0, "u": 2.0}, True)
        assert model.feature_names_in_.tolist() == [*("uvw"[j] for j in order), "new"]
    else:
        model.partial_fit(X, labels)
    if hasattr(model, "coef_"):
        np.testing.assert_allclose(model.coef_, KNOWN[name]["coef"], rtol=1e-12)
    save(model, tmp_path / "again")
    assert read_header(tmp_path / "again")["system"] == type(model).__name__ != "LogisticRegression"
    assert repr(load(tmp_path / "again")) == EXPECTED[name]


@pytest.mark.filterwarnings("ignore::adaline.errors.DeprecatedWarning")
def test_a_maximum_stays_one_whatever_the_solver_is_now(tmp_path: Path) -> None:
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    model = LogisticRegression().fit(X, y).set_params(solver="online")
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert type(again) is LogisticRegression
    assert again.coef_ == model.coef_
