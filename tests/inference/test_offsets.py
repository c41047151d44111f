"""Offsets, a known part of outputs, against R (tests/data/glm/offsets.R), and their laws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import GeneralizedLinear, LogisticRegression, anova, effects, load, open_table, save, select
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter
from adaline.storage import export_onnx
from tests.inference.against import column, table

DATA = Path(__file__).parents[1] / "data" / "glm"
ROWS, THEIRS = pd.read_csv(DATA / "rows.csv"), table("glm/offsets.csv")
X, SHIFT = ROWS[["x1", "x2"]], 2.0 * ROWS.o
TWO, W = np.where(ROWS.yes > ROWS.no, "yes", "no"), ROWS.w
TABLE = X.assign(t=TWO, o=ROWS.o, w=W)


def logistic(**settings: Any) -> LogisticRegression:
    return LogisticRegression(**settings).fit(X, TWO, offset=SHIFT)


def test_logistic_regression_is_that_of_glm() -> None:
    theirs, rows = THEIRS["logistic"], {"X": X, "y": TWO, "offset": SHIFT}
    model = LogisticRegression().fit(X, TWO, W, offset=SHIFT)
    summary = model.summary()
    for name in ("estimate", "std_error"):
        assert column(summary, name) == pytest.approx(theirs[name], rel=1e-8), name
    said = summary.to_dict()
    assert [said["log_likelihood"], said["null_log_likelihood"]] == pytest.approx(theirs["log_likelihood"], rel=1e-12)
    assert model.predict_proba(X, SHIFT)[:5, 1] == pytest.approx(theirs["probability"], rel=1e-9)
    row = model.summary(interval="profile", sample_weight=W, **rows).to_dict()["coefficients"][1]
    assert [row["lower"], row["upper"]] == pytest.approx(theirs["profile"], rel=1e-8)
    plain = logistic()
    assert column(plain.summary(errors="HC0", **rows), "std_error") == pytest.approx(theirs["HC0"], rel=1e-7)
    assert plain.influence(**rows).cooks_distance[:5] == pytest.approx(theirs["cooks_distance"], rel=1e-7)


@pytest.mark.parametrize("settings", [{}, {"penalty": 2.0}, {"l1": 0.5}, {"fit_intercept": False}], ids=str)
def test_a_binomial_machine_of_the_same_rows_is_the_same(settings: dict[str, Any]) -> None:
    model = logistic(**settings)
    other = GeneralizedLinear("binomial", **settings).fit(X, TWO == "yes", offset=SHIFT)
    np.testing.assert_allclose(model.coef_[0], other.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X, SHIFT)[:, 1], other.predict(X, SHIFT), rtol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"firth": True}, {"penalty": "auto"}, {"class_weight": "balanced"}], ids=str)
def test_a_constant_offset_is_taken_off_the_intercept(settings: dict[str, Any]) -> None:
    plain = LogisticRegression(**settings).fit(X, TWO)
    model = LogisticRegression(**settings).fit(X, TWO, offset=1.5)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_ + 1.5, plain.intercept_, rtol=1e-6)
    np.testing.assert_allclose(model.decision_function(X, offset=1.5), plain.decision_function(X), rtol=1e-6)


@pytest.mark.parametrize(
    "options",
    [{"target": "t", "offset": "2 * o", "features": ["x1", "x2"]}, {"formula": "t ~ x1 + x2 + offset(2 * o)"}],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_tables_bring_their_offset(
    options: dict[str, Any], streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adaline.sources.tables.source.KEPT", 0 if streamed else 2**23)
    model, rows = logistic(), open_table(TABLE, **options)
    found = LogisticRegression().fit(rows)
    np.testing.assert_allclose(found.coef_, model.coef_, rtol=1e-10)
    save(found, tmp_path / "m")
    for one in (found, load(tmp_path / "m")):
        for new in (TABLE, rows):
            np.testing.assert_allclose(one.predict_proba(new), model.predict_proba(X, SHIFT), rtol=1e-10)
            np.testing.assert_array_equal(one.predict(new), model.predict(X, offset=SHIFT))
        assert one.score(rows) == pytest.approx(model.score(X, TWO, offset=SHIFT))
    np.testing.assert_allclose(
        column(found.summary(errors="HC3", X=rows), "std_error"),
        column(model.summary(errors="HC3", X=X, y=TWO, offset=SHIFT), "std_error"),
        rtol=1e-10,
    )


def test_many_rows_are_predicted_in_blocks_with_their_offsets() -> None:
    model, times = logistic(), 15_000
    many, shift = np.tile(X.to_numpy(), (times, 1)), np.tile(SHIFT, times)
    fitted = LogisticRegression().fit(X.to_numpy(), TWO, offset=SHIFT)
    expected = np.tile(model.predict_proba(X, SHIFT), (times, 1))
    np.testing.assert_allclose(fitted.predict_proba(many, offset=shift), expected, rtol=1e-12)


def test_an_offset_is_no_plane_that_separates() -> None:
    """Each row lies on the side of its class by its offset, and the slope is that of the few rows without one."""
    x = np.linspace(-1, 1, 40)[:, None]
    y = np.isin(np.arange(40) % 10, [0, 1, 4])
    offset = np.where(y, 60.0, -60.0) * (np.arange(40) > 9)
    model = LogisticRegression().fit(x, y, offset=offset)
    few = LogisticRegression().fit(x[:10], y[:10])
    assert model.separation_ is None
    np.testing.assert_allclose(model.coef_, few.coef_, rtol=1e-9)
    with pytest.warns(AdalineWarning, match="separated by a plane"):
        apart = LogisticRegression().fit(x, x[:, 0] > 0, offset=np.sin(np.arange(40.0)))
    assert apart.separation_ is not None


def test_inference_knows_the_offset() -> None:
    model, rows = logistic(), {"X": X, "y": TWO, "offset": SHIFT}
    small = LogisticRegression().fit(X[["x1"]], TWO, offset=SHIFT)
    deviance = 2 * (model.summary().to_dict()["log_likelihood"] - small.summary().to_dict()["log_likelihood"])
    assert anova(model, type=2, **rows).to_dict()["terms"][1]["chi2"] == pytest.approx(deviance, rel=1e-9)
    p = model.predict_proba(X, SHIFT)[:, 1]
    slope = effects(model, X, offset=SHIFT).rows[0]["estimate"]
    assert slope == pytest.approx(model.coef_[0, 0] * (p * (1 - p)).mean(), rel=1e-9)
    interval = model.predict(X, interval="confidence", offset=SHIFT)
    assert (interval.lower < p).all()
    assert (p < interval.upper).all()
    chosen = select(LogisticRegression(), X, TWO, offset=SHIFT, folds=3, penalty=[1e-9, 0.0])
    np.testing.assert_allclose(chosen.best.coef_, model.coef_, rtol=1e-7)


def test_what_an_offset_cannot_be_is_refused(tmp_path: Path) -> None:
    model = logistic()
    plain = LogisticRegression().fit(X, TWO)
    for asked, match in (
        (lambda: model.predict(X), "fitted with an offset: give that of these rows"),
        (lambda: model.summary(errors="HC0", X=X, y=TWO), "with an offset: give it again"),
        (lambda: plain.summary(errors="HC0", X=X, y=TWO, offset=SHIFT), "without an offset"),
        (lambda: model.summary(errors="HC0", X=X, y=TWO, exposure=SHIFT), "takes no exposure"),
        (lambda: LogisticRegression().fit(X, ROWS["count"] % 3, offset=SHIFT), "there are 3 classes"),
        (lambda: LogisticRegression().fit(X, TWO, offset=SHIFT[:5]), "offset has shape"),
        (lambda: LogisticRegression(solver="online").fit(X, TWO, offset=SHIFT), "takes no offset"),
        (lambda: LogisticRegression().fit(open_table(TABLE, target="t"), offset=1.0), "brings its own offset"),
    ):
        with pytest.raises((InvalidParameter, InvalidData), match=match):
            asked()
    with pytest.raises(TypeError, match="needs an offset"):
        export_onnx(model, tmp_path / "m.onnx")
