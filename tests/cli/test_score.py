"""`adaline score`: what scikit-learn's measures say of the same predictions, shown, and refused in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

from adaline import GeneralizedLinear, OrdinalRegression, load, open_table, save
from tests.cli.command_line import Shell, table, written

TWO = ["x,z,y", "1,2,a", "2,1,b", "3,5,a", "4,1,b"]


@pytest.fixture(autouse=True)
def files(shell: Shell) -> None:
    table(Path("old.csv"), 0)
    table(Path("new.csv"), 1, 300)


def test_numbers_are_judged_as_by_scikit_learn(shell: Shell) -> None:
    shell.good("fit", "old.csv", "-t", "y", "--features", "a,b,color", "-o", "y.adaline")
    found = shell.good("score", "y.adaline", "new.csv", "--target", "y", "--weight", "id", "--json").json
    rows = open_table("new.csv", target="y", features=["a", "b", "color"], weight="id")
    y, w = rows.target_values(), rows.read_weights()
    predicted = load("y.adaline").predict(rows)
    (one,) = found["targets"]
    assert found["rows"] == 300
    assert one["r_squared"] == pytest.approx(metrics.r2_score(y, predicted, sample_weight=w), rel=1e-12)
    assert one["rmse"] == pytest.approx(metrics.root_mean_squared_error(y, predicted, sample_weight=w), rel=1e-12)
    assert one["mae"] == pytest.approx(metrics.mean_absolute_error(y, predicted, sample_weight=w), rel=1e-12)
    assert one["bias"] == pytest.approx(np.average(predicted - y, weights=w), abs=1e-12)
    text = shell.good("score", "y.adaline", "new.csv").out
    assert "y from new.csv, 300 rows" in text
    assert "R²" in text


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("target", ["flag", "kind"])
def test_classes_are_judged_as_by_scikit_learn(target: str, reverse: bool, shell: Shell) -> None:
    """Whatever the order of the classes in the model."""
    old, new = (open_table(name, target=target, features=["b", "y"]) for name in ("old.csv", "new.csv"))
    if reverse:
        model = OrdinalRegression(classes=np.unique(old.target_values())[::-1].tolist()).fit(old)
        save(model, "m.adaline")
    else:
        asked = ("-t", target, "--features", "b,y", "-s", "LogisticRegression")
        shell.good("fit", "old.csv", *asked, "-o", "m.adaline")
        model = load("m.adaline")
    found = shell.good("score", "m.adaline", "new.csv", "--json").json
    y, p = new.target_values(), model.predict_proba(new)[:, :: -1 if reverse else 1]
    predicted = model.predict(new)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, predicted))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, p), rel=1e-9)
    if target == "flag":
        assert found["brier"] == pytest.approx(metrics.brier_score_loss(y, p[:, 1]), rel=1e-9)
        assert found["auc"] == pytest.approx(metrics.roc_auc_score(y, p[:, 1]), rel=1e-12)
        assert found["calibration"][0]["probability"] < 0.5 < found["calibration"][-1]["share"]
        assert sum(one["share"] <= 1 for one in found["calibration"]) == len(found["calibration"]) > 3
    else:
        each = metrics.roc_auc_score(y, p, multi_class="ovr", average=None)
        assert [one["auc"] for one in found["classes"]] == pytest.approx(each, rel=1e-12)
    for name, measure in (("recall", metrics.recall_score), ("precision", metrics.precision_score)):
        expected = measure(y, predicted, average=None, zero_division=0)
        assert [one[name] for one in found["classes"]] == pytest.approx(expected)
    assert "precision" in shell.good("score", "m.adaline", "new.csv").out


def test_mistakes_are_one_line(shell: Shell) -> None:
    shell.good("fit", "old.csv", "-t", "y", "--features", "a,b", "-o", "y.adaline")
    shell.fit(["x,y", "1,2", "2,4.5", "3,5"])
    for words, said in (
        (["y.adaline", written(["a,b", "1,2"], "bare.csv")], "'y'"),
        (["y.adaline", "new.csv", "--target", "c"], "'c'"),
        (["y.adaline", "no.csv"], "no.csv"),
        (
            ["m.adaline", written(["x,y", "1,a", "2,b"], "texts.csv")],
            "predicts numbers, but the target 'y' of these rows holds texts",
        ),
    ):
        assert said in shell.bad("score", *words)


def test_levels_in_their_order_are_named_on_the_command_line(shell: Shell) -> None:
    words = ("-t", "kind", "--features", "b,y", "--categories", "kind=z<x<y")
    shell.good("fit", "old.csv", *words, "-s", "OrdinalRegression", "-o", "m.adaline")
    assert load("m.adaline").classes_.tolist() == ["z", "x", "y"]
    found = shell.good("compare", "old.csv", *words, "--folds", "2", "--systems", "OrdinalRegression", "--json").json
    assert found["results"][0]["system"] == "OrdinalRegression"
    assert not found["results"][0]["failure"]


@pytest.mark.parametrize("levels", [["low", "mid", "high"], ["low", "high"]])
def test_weights_count_rows_and_classes_keep_their_order(levels: list[str], shell: Shell) -> None:
    rng = np.random.default_rng(0)
    rows = [(["low", "mid", "high"][i % 3], f"{i % 3 + rng.normal():.3f}", 1 + i % 4) for i in range(120)]
    rows = [row for row in rows if row[0] in levels]
    written(["size,x,w", *(f"{y},{x},{w}" for y, x, w in rows)], "weighted.csv")
    written(["size,x,w", *(f"{y},{x},1" for y, x, w in rows for _ in range(w))], "repeated.csv")
    words = ("-t", "size", "--features", "x", "--categories", f"size={'<'.join(levels)}", "-s", "OrdinalRegression")
    shell.good("fit", "repeated.csv", *words, "-o", "m.adaline")
    weighted, repeated = (
        shell.good("score", "m.adaline", f"{name}.csv", "-t", "size", "--weight", "w", "--json").json
        for name in ("weighted", "repeated")
    )
    source = open_table("repeated.csv", target="size", features=["x"])
    y, p = source.target_values(), load("m.adaline").predict_proba(source)
    assert repeated["log_loss"] == pytest.approx(metrics.log_loss(y, p[:, np.argsort(levels)]), rel=1e-9)
    assert [one["label"] for one in repeated["classes"]] == sorted(levels)
    for key in ("log_loss", "brier", "accuracy"):
        assert weighted[key] == pytest.approx(repeated[key], rel=1e-12)
    for one, other in zip(weighted.get("calibration", []), repeated.get("calibration", []), strict=True):
        assert one == pytest.approx(other, rel=1e-9)


def test_successes_and_failures_are_judged_as_shares_of_the_trials(shell: Shell) -> None:
    rows = [(3, 1, 0.0), (2, 2, 1.0), (0, 0, 1.5), (1, 4, 2.0), (0, 3, 3.0)]
    source = open_table(written(["a,b,x", *(f"{a},{b},{x}" for a, b, x in rows)], "t.csv"), formula="cbind(a, b) ~ x")
    model = GeneralizedLinear(loss="binomial").fit(source)
    save(model, "m.adaline")
    (one,) = shell.good("score", "m.adaline", "t.csv", "--json").json["targets"]
    assert one["r_squared"] == pytest.approx(model.score(source), rel=1e-12)
    assert one["mean_deviance"] == pytest.approx(model.deviance_ / sum(a + b for a, b, _ in rows), rel=1e-9)
    assert one["target"] == "cbind(a, b)"


def test_labels_that_the_model_does_not_know_are_told(shell: Shell) -> None:
    shell.fit(TWO, "-s", "LogisticRegression")
    assert shell.good("score", "m.adaline", "old.csv").err == ""
    more = written(["x,z,y", "1,2,a", "2,1,c", "3,5,b", "4,1,d"], "more.csv")
    done = shell.good("score", "m.adaline", more, "--json")
    assert "note: 2 of 4 rows have labels unknown to the model, 'c', 'd', and count as errors." in done.err
    assert "Its classes are 'a', 'b'" in done.err
    unknown = [(one["label"], one["recall"], one["auc"]) for one in done.json["classes"]][2:]
    assert unknown == [("c", 0, 0.5), ("d", 0, 0.5)]
    written(["x,Z,y", "1,2,a", "2,1,b"], "names.csv")
    for command in ("score", "predict"):
        said = shell.bad(command, "m.adaline", "names.csv")
        assert "names.csv has no column 'z', only 'Z'; the model needs: x, z" in said
    said = shell.bad("score", "m.adaline", written(["x,z,y", "1,2,5", "2,1,6"], "other.csv"))
    assert "other.csv: the labels of 'y', '5', '6', are not classes of the model, 'a', 'b'." in said
    assert "name another target with --target" in said
    said = shell.bad("score", "m.adaline", written(["x,z,y", "1,2,A", "2,1,B"], "capitals.csv"))
    assert "'A', 'B', differ from the classes of the model only in capitals" in said


def test_unknown_labels_count_in_the_brier_score_and_have_no_calibration(shell: Shell) -> None:
    shell.fit(TWO, "-s", "LogisticRegression", "--set", "penalty=1")
    found = shell.good("score", "m.adaline", written(["x,z,y", "1,2,c", "2,1,b"], "other.csv"), "--json").json
    p = load("m.adaline").predict_proba(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert found["brier"] == pytest.approx((np.sum(p[0] ** 2) + 1 + np.sum((p[1] - [0, 1]) ** 2)) / 4, rel=1e-12)
    assert found["accuracy"] == 0.5 * (p[1, 1] > 0.5)
    assert "calibration" not in found
    assert "calibration" in shell.good("score", "m.adaline", "old.csv", "--json").json


def test_an_update_leaves_out_unknown_labels_and_levels(shell: Shell) -> None:
    shell.fit(["x,g,y", "1,a,down", "2,b,up", "3,b,down", "5,a,up"], "-s", "GaussianClassifier")
    assert shell.good("update", "m.adaline", "old.csv", "-o", "other.adaline").err == ""
    written(["x,g,y", "1,a,Down", "2,b,up", "3,z,down", "5,b,up"], "more.csv")
    assert "line 4" in shell.bad("update", "m.adaline", "more.csv", "--strict")
    done = shell.good("update", "m.adaline", "more.csv", "-o", "other.adaline")
    assert "4 rows before, 6 rows after" in done.out
    left_out = "unseen level of g in line 4 (1), unknown label of y in line 2 (1); --new-classes adds such labels"
    assert f"note: 2 of 4 rows are left out: {left_out}; with --strict they are errors" in done.err
    done = shell.good("update", "m.adaline", "more.csv", "--new-classes")
    assert "note: new classes: 'Down'; before, the model knew 'down', 'up'" in done.err
    gaps = written(["x,g,y", "1,a,down", ",b,up"], "gaps.csv")
    assert "missing value" in shell.bad("update", "m.adaline", gaps, "--strict")


@pytest.mark.parametrize("policy", ["error", "drop", "mean"])
def test_rows_without_a_target_or_a_prediction_are_left_out(policy: str, shell: Shell) -> None:
    shell.fit(["x,c,y", "1,p,2", "2,q,4", "3,p,5", "4,q,9", "5,p,10"], "--missing", policy)
    good = ["x,c,y", "1,p,2", "3,q,5", "4,q,8"]
    written([*good, ",p,3", "3,r,4", "2,p,", "2,,4"], "bad.csv")
    done = shell.good("score", "m.adaline", "bad.csv", "--json")
    reasons = "missing value of y (1), missing value of x (1), missing value of c (1), unseen level of c (1)"
    if policy == "mean":
        assert "note: 2 of 7 rows are left out: missing value of y (1), unseen level of c (1)" in done.err
        assert done.json["rows"] == 5
    else:
        assert f"note: 4 of 7 rows are left out: {reasons}" in done.err
        alone = shell.good("score", "m.adaline", written(good, "good.csv"), "--json").json["targets"]
        named = shell.good("score", "m.adaline", "bad.csv", "--target", "y", "--json").json["targets"]
        assert done.json["targets"] == alone == named
    said = shell.bad("score", "m.adaline", written(["x,c,y", "1,r,2"], "none.csv"))
    assert "can predict no row of none.csv: unseen levels of c" in said


@pytest.mark.parametrize("target", ["y", "z"])
def test_rows_whose_target_is_no_number_are_left_out(target: str, shell: Shell) -> None:
    shell.fit(["x,y", "1,2", "2,4.5", "3,5", "4,7.5"])
    columns = "x,y,z" if target == "y" else "x,z,y"
    written([columns, "1,2,2", "2,4,4", "3,oops,none", "4,8,8"], "new.csv")
    asked = () if target == "y" else ("--target", target)
    done = shell.good("score", "m.adaline", "new.csv", "--json", *asked)
    assert f"1 of 4 rows is left out: non-numeric value of {target} in line 4 (1)" in done.err
    assert (done.json["rows"], done.json["targets"][0]["target"]) == (3, target)


def test_classes_are_printed_as_the_table_has_them(shell: Shell) -> None:
    shell.fit(["x,y", *(f"{i % 7},{int(i % 7 > 3)}" for i in range(30))])
    done = shell.good("score", "m.adaline", "old.csv")
    assert "0.0" not in done.out.split("AUC")[-1].split()
    assert [one["label"] for one in shell.good("score", "m.adaline", "old.csv", "--json").json["classes"]] == ["0", "1"]
