"""Offsets, a known part of outputs, against R (tests/data/glm/offsets.R), and their laws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import (
    ElasticNet,
    GeneralizedLinear,
    LogisticRegression,
    OrdinalRegression,
    anova,
    effects,
    load,
    open_table,
    save,
    select,
)
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter
from adaline.estimator import clone
from adaline.losses import LOSSES
from adaline.storage import export_onnx
from tests.inference.against import column, table
from tests.storage.graphs import run

DATA = Path(__file__).parents[1] / "data" / "glm"
ROWS, THEIRS = pd.read_csv(DATA / "rows.csv"), table("glm/offsets.csv")
X, SHIFT = ROWS[["x1", "x2"]], 2.0 * ROWS.o
TWO, W = np.where(ROWS.yes > ROWS.no, "yes", "no"), ROWS.w
GRADE = np.minimum(ROWS["count"] // 2, 3).to_numpy()
TABLE = X.assign(t=TWO, o=ROWS.o, w=W)
TAKING: dict[str, Any] = {
    "logistic": LogisticRegression(),
    "ordinal": OrdinalRegression(link="probit"),
    "net": ElasticNet(loss="logistic", l1=0.5),
}


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


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_ordered_classes_are_those_of_polr(link: Any) -> None:
    theirs, rows = THEIRS[{"logit": "ordinal_logistic"}.get(link, "ordinal_probit")], {"X": X, "y": GRADE}
    model = OrdinalRegression(link=link).fit(X, GRADE, W, offset=SHIFT)
    summary = model.summary()
    assert column(summary, "estimate") == pytest.approx(theirs["estimate"], abs=1e-7)  # as far as polr goes
    assert summary.to_dict()["log_likelihood"] == pytest.approx(theirs["log_likelihood"][0], rel=1e-12)
    assert model.predict_proba(X, SHIFT)[:3].ravel() == pytest.approx(theirs["probability"], abs=1e-7)
    given = {**rows, "sample_weight": W, "offset": SHIFT}
    small = OrdinalRegression(link=link).fit(X[["x1"]], GRADE, W, offset=SHIFT)
    null = small.summary().to_dict()["null_log_likelihood"]
    assert null == pytest.approx(summary.to_dict()["null_log_likelihood"], rel=1e-12)
    assert null < small.summary().to_dict()["log_likelihood"]
    apart: dict[str, Any] = {"X": np.repeat(X, W, axis=0), "y": np.repeat(GRADE, W), "offset": np.repeat(SHIFT, W)}
    moved = OrdinalRegression(link=link).fit(**apart).influence(**apart).cooks_distance
    np.testing.assert_allclose(moved, np.repeat(model.influence(**given).cooks_distance, W), rtol=1e-7)


def test_two_ordered_classes_are_logistic_regression() -> None:
    ordered, model = OrdinalRegression(classes=["no", "yes"]).fit(X, TWO, offset=SHIFT), logistic()
    np.testing.assert_allclose(ordered.coef_, model.coef_, rtol=1e-9)
    np.testing.assert_allclose(ordered.decision_function(X, SHIFT), model.decision_function(X, SHIFT), rtol=1e-9)
    for kind in ("HC0", "classical"):
        given = {"errors": kind, "X": X, "y": TWO, "offset": SHIFT}
        two = [column(one.summary(**given), "std_error") for one in (ordered, model)]
        np.testing.assert_allclose(two[0][:2], two[1][1:], rtol=1e-7)
    rows = {"X": X, "y": TWO, "offset": SHIFT}
    ends = [column(one.summary(interval="profile", **rows), "lower") for one in (ordered, model)]
    np.testing.assert_allclose(ends[0][:2], ends[1][1:], rtol=1e-7)
    mine, theirs = (one.predict(X, interval="confidence", offset=SHIFT) for one in (ordered, model))
    np.testing.assert_allclose(mine.lower[:, 1], theirs.lower, rtol=1e-7)
    own, others = (effects(one, X, offset=SHIFT).to_dict()["effects"] for one in (ordered, model))
    assert own[-1]["estimate"] == pytest.approx(others[-1]["estimate"], rel=1e-7)


NETS = {
    "net_gaussian": ("squared", ROWS.amount),
    "net_poisson": ("poisson", ROWS["count"]),
    "net_binomial": ("logistic", TWO),
}


@pytest.mark.parametrize("name", NETS)
def test_nets_are_those_of_glmnet(name: str) -> None:
    """Whose ridge penalty of the gaussian is in units of the standard deviation of what the offset leaves."""
    loss, y = NETS[name]
    unit = np.std(ROWS.amount - SHIFT) if loss == "squared" else 1.0
    for k, strength in enumerate((0.2, 0.05, 0.01), start=1):
        total = strength * len(X)
        net = ElasticNet(loss=loss, l1=0.6 * total, penalty=0.4 * total / unit).fit(X, y, offset=SHIFT)
        found = np.append(net.intercept_, net.coef_)
        np.testing.assert_allclose(found, THEIRS[name][f"lambda{k}"], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("settings", [{"l1": 0.5}, {"points": 8, "folds": 3, "tol": 1e-10}], ids=str)
@pytest.mark.parametrize(
    "loss", [name for name, loss in LOSSES.items() if loss().convex and name not in {"softmax", "perceptron"}]
)
def test_nets_take_a_constant_offset_off_the_intercept(loss: Any, settings: dict[str, Any]) -> None:
    labels = {"logistic": TWO, "squared_hinge": np.where(TWO == "yes", 1.0, -1.0)}
    y = labels.get(loss, ROWS["count" if loss == "poisson" else "amount"])
    plain, moved = (ElasticNet(loss=loss, **settings) for _ in range(2))
    plain.fit(X, y)
    moved.fit(X, y, offset=0.7)
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(moved.intercept_ + 0.7, plain.intercept_, rtol=1e-6)
    assert moved.score(X, y, offset=0.7) == pytest.approx(plain.score(X, y), rel=1e-6)
    if "points" in settings:
        np.testing.assert_allclose(moved.path_["values"], plain.path_["values"], rtol=1e-6)


@pytest.mark.parametrize("loss", ["poisson", "huber", "squared"])
@pytest.mark.parametrize("rows", [1, 200])
def test_nets_of_many_rows_know_their_offsets(loss: str, rows: int) -> None:
    """Sums over rows, kernels and rows held in memory are the same net: that of the rows once, or of residuals."""
    many, shift, y = np.tile(X, (rows, 1)), np.tile(SHIFT, rows), np.tile(ROWS["count"], rows)
    net = ElasticNet(loss=loss, l1=0.5 * rows).fit(many, y, offset=shift)
    other = GeneralizedLinear(loss, l1=0.5 * rows).fit(many, y, offset=shift)
    np.testing.assert_allclose(net.coef_, other.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(net.predict(many, offset=shift)[:40], other.predict(many, offset=shift)[:40], rtol=1e-6)


def test_nets_of_several_targets_have_an_offset_each() -> None:
    both, shifts = ROWS[["amount", "count"]].to_numpy(), np.column_stack([SHIFT, -SHIFT])
    for loss in ("squared", "huber"):
        net = ElasticNet(loss=loss, l1=0.5).fit(X, both, offset=shifts)
        for k in range(2):
            one = ElasticNet(loss=loss, l1=0.5).fit(X, both[:, k], offset=shifts[:, k])
            np.testing.assert_allclose(net.coef_[k], one.coef_, rtol=1e-7)
        assert net.predict(X, offset=shifts).shape == both.shape
    trials = ROWS[["yes", "no"]]
    counted = ElasticNet(loss="binomial", l1=0.5).fit(X, trials, offset=SHIFT)
    share = trials["yes"] / trials.sum(axis=1)
    same = ElasticNet(loss="binomial", l1=0.5).fit(X, share, trials.sum(axis=1), offset=SHIFT)
    np.testing.assert_allclose(counted.coef_, same.coef_, rtol=1e-9)
    exposed = ElasticNet(loss="poisson", l1=0.5).fit(X, ROWS["count"], exposure=np.exp(SHIFT))
    offset = ElasticNet(loss="poisson", l1=0.5).fit(X, ROWS["count"], offset=SHIFT)
    np.testing.assert_allclose(exposed.predict(X, exposure=2.0), offset.predict(X, offset=np.log(2.0)), rtol=1e-9)
    found = offset.predict(X, interval="conformal", offset=SHIFT)
    assert (found.lower <= found.prediction).all()


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
@pytest.mark.parametrize("name", TAKING)
def test_tables_bring_their_offset(
    name: str, options: dict[str, Any], streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adaline.sources.tables.source.KEPT", 0 if streamed else 2**23)
    model, rows = clone(TAKING[name]).fit(X, TWO, offset=SHIFT), open_table(TABLE, **options)
    found = clone(TAKING[name]).fit(rows)
    np.testing.assert_allclose(found.coef_, model.coef_, rtol=1e-10)
    save(found, tmp_path / "m")
    for one in (found, load(tmp_path / "m")):
        for new in (TABLE, rows):
            np.testing.assert_allclose(one.predict_proba(new), model.predict_proba(X, SHIFT), rtol=1e-10)
            np.testing.assert_array_equal(one.predict(new), model.predict(X, offset=SHIFT))
        assert one.score(rows) == pytest.approx(model.score(X, TWO, offset=SHIFT))
    if name == "net":
        return
    np.testing.assert_allclose(
        column(found.summary(errors="HC3", X=rows), "std_error"),
        column(model.summary(errors="HC3", X=X, y=TWO, offset=SHIFT), "std_error"),
        rtol=1e-10,
    )


@pytest.mark.parametrize("name", TAKING)
def test_many_rows_are_predicted_in_blocks_with_their_offsets(name: str) -> None:
    model, times = clone(TAKING[name]).fit(X, TWO, offset=SHIFT), 15_000
    many, shift = np.tile(X.to_numpy(), (times, 1)), np.tile(SHIFT, times)
    fitted = clone(TAKING[name]).fit(X.to_numpy(), TWO, offset=SHIFT)
    expected = np.tile(model.predict_proba(X, SHIFT), (times, 1))
    np.testing.assert_allclose(fitted.predict_proba(many, offset=shift), expected, rtol=1e-12)


def test_an_offset_is_no_plane_that_separates() -> None:
    """Each row lies on the side of its class by its offset, and the slope is that of the few rows without one."""
    x = np.linspace(-1, 1, 40)[:, None]
    y = np.isin(np.arange(40) % 10, [0, 1, 4])
    offset = np.where(y, 60.0, -60.0) * (np.arange(40) > 9)
    model = LogisticRegression().fit(x, y, offset=offset)
    few = LogisticRegression().fit(x[:10], y[:10])
    ordered = OrdinalRegression().fit(x, y, offset=offset)
    for one in (model, ordered):
        assert one.separation_ is None
        np.testing.assert_allclose(one.coef_, few.coef_, rtol=1e-9)
    for system, match in ((LogisticRegression(), "separated by a plane"), (OrdinalRegression(), "separated")):
        with pytest.warns(AdalineWarning, match=match):
            apart = system.fit(x, x[:, 0] > 0, offset=np.sin(np.arange(40.0)))
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


ABSORBING = open_table(TABLE.assign(g=W), target="w", features=["x1"], offset="o", absorb=["g"])


def test_what_an_offset_cannot_be_is_refused() -> None:
    model = logistic()
    plain = LogisticRegression().fit(X, TWO)
    for asked, match in (
        (lambda: model.predict(X), "fitted with an offset: give that of these rows"),
        (lambda: model.summary(errors="HC0", X=X, y=TWO), "with an offset: give it again"),
        (lambda: plain.summary(errors="HC0", X=X, y=TWO, offset=SHIFT), "without an offset"),
        (lambda: model.summary(errors="HC0", X=X, y=TWO, exposure=SHIFT), "takes no exposure"),
        (lambda: anova(plain, X=X, y=TWO, exposure=W), "takes no exposure"),
        (lambda: LogisticRegression().fit(X, ROWS["count"] % 3, offset=SHIFT), "there are 3 classes"),
        (lambda: LogisticRegression().fit(X, TWO, offset=SHIFT[:5]), "offset has shape"),
        (lambda: LogisticRegression(solver="online").fit(X, TWO, offset=SHIFT), "takes no offset"),
        (lambda: LogisticRegression().fit(open_table(TABLE, target="t"), offset=1.0), "brings its own offset"),
        (lambda: clone(TAKING["ordinal"]).fit(X, TWO, offset=SHIFT).predict(X), "give that of these rows"),
        (lambda: clone(TAKING["ordinal"]).fit(X, TWO).summary(errors="HC0", X=X, y=TWO, offset=1), "without an offset"),
        (lambda: clone(TAKING["net"]).fit(X, TWO, offset=SHIFT).predict(X), "give that of these rows"),
        (lambda: clone(TAKING["net"]).fit(X, GRADE, offset=SHIFT), "several, one for each class"),
        (lambda: clone(TAKING["net"]).fit(X, TWO, exposure=W), "needs link='log'"),
        (lambda: ElasticNet(loss="binomial").fit(X, ROWS[["yes", "no"]], offset=X), "one offset a row, not 2"),
        (lambda: ElasticNet(l1=1.0).fit(ABSORBING), "no offset beside absorbed effects"),
    ):
        with pytest.raises((InvalidParameter, InvalidData), match=match):
            asked()


@pytest.mark.parametrize("name", TAKING)
def test_a_graph_takes_the_offset(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    model = clone(TAKING[name]).fit(X, TWO, offset=SHIFT)
    export_onnx(model, tmp_path / "m.onnx")
    found, expected = run(tmp_path / "m.onnx", X, "float64", SHIFT), model.predict(X, offset=SHIFT)
    if "label" in found:
        assert (found["label"] == expected).all()
        np.testing.assert_allclose(found["probability"], model.predict_proba(X, offset=SHIFT), rtol=1e-11)
    else:
        np.testing.assert_allclose(found["prediction"], expected, rtol=1e-11)
