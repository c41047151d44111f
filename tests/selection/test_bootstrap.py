"""`bootstrap`: the same replicates from any kind of rows; near the sandwich; groups, choices and other systems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import (
    GeneralizedLinear,
    KMeans,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    Ridge,
    RobustRegression,
    bootstrap,
    open_table,
    select,
    set_threads,
)
from adaline.block import Block
from adaline.errors import InvalidParameter
from adaline.estimator import clone
from adaline.sources import held
from adaline.sums.replicates import Replicates

RNG = np.random.default_rng(0)
N = 90
X = RNG.normal(size=(N, 2)) + 3
Y = X @ [1.0, 2.0] + RNG.normal(size=N) * X[:, 0]
LABELS = (RNG.uniform(size=N) < 1 / (1 + np.exp(3 - X[:, 0]))).astype(int)
GROUPS = RNG.integers(0, 15, N)


def weights(size: int, **more: Any) -> Any:
    """Return the weights of replicates by seed 0, (size, N)."""
    t = np.column_stack([Y, GROUPS]) if more else Y[:, None]
    return Replicates(0, size, 0, **more).weights(Block(X, t.astype(float)))[:, 1:].T


def theta(model: Any) -> Any:
    return np.append(model.intercept_, model.coef_)


@pytest.mark.parametrize("system", [LinearRegression(), LogisticRegression()], ids=str)
def test_files_frames_blocks_and_threads_give_the_same_replicates(
    system: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "HELD", 0)  # tables are streamed
    y = LABELS if isinstance(system, LogisticRegression) else Y
    many = np.tile(np.arange(N), 60)  # more rows than a block
    frame = pd.DataFrame(X[many], columns=["a", "b"]).assign(
        y=y[many], g=GROUPS[many], h=[f"{3 * g} {g}" for g in GROUPS[many]]
    )
    frame.to_csv(tmp_path / "rows.csv", index=False)
    table = open_table(str(tmp_path / "rows.csv"), target="y", features=["a", "b"], progress=False)
    model = clone(system).fit(X[many], y[many])
    expected = bootstrap(model, X[many], y[many], replicates=20)
    by_group = bootstrap(model, X[many], y[many], replicates=20, groups=GROUPS[many])
    set_threads(1)
    alone = bootstrap(model, X[many], y[many], replicates=20)
    set_threads(None)
    assert (alone.replicates == expected.replicates).all()
    for given, own in (((table,), "g"), ((frame[["a", "b"]], frame.y), frame.g)):
        again = clone(system).fit(*given)
        found = bootstrap(again, *given, replicates=20)
        np.testing.assert_allclose(found.replicates, expected.replicates, rtol=1e-8)
        np.testing.assert_allclose(found.ends(), expected.ends(), rtol=1e-8)
        found = bootstrap(again, *given, replicates=20, groups=own)
        np.testing.assert_allclose(found.replicates, by_group.replicates, rtol=1e-8)
    by_text = [
        bootstrap(clone(system).fit(*given), *given, replicates=20, groups=own).replicates
        for given, own in (((table,), "h"), ((frame[["a", "b"]], frame.y), frame.h))
    ]
    np.testing.assert_allclose(*by_text, rtol=1e-8)


@pytest.mark.parametrize("system", [LinearRegression(), LogisticRegression(penalty=0.5), RobustRegression()], ids=str)
def test_groups_are_drawn_as_a_whole(system: Any) -> None:
    y = LABELS if isinstance(system, LogisticRegression) else Y
    found = bootstrap(clone(system).fit(X, y), X, y, replicates=8, groups=GROUPS)
    refits = [theta(clone(system).fit(X, y, sample_weight=own)) for own in weights(8, groups=np.arange(15.0))]
    np.testing.assert_allclose(found.replicates, refits, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("system", [LinearRegression(), GeneralizedLinear("poisson")], ids=str)
def test_errors_of_replicates_are_those_of_their_refits(system: Any, groups: Any) -> None:
    """HC0, or CR1 of groups up to its factor, from which studentised intervals are made."""
    y = np.round(np.exp(Y / 6)) if isinstance(system, GeneralizedLinear) else Y
    found = bootstrap(clone(system).fit(X, y), X, y, replicates=5, groups=groups, interval="studentised")
    more = {} if groups is None else {"groups": np.arange(15.0)}
    expected = []
    for own in [np.ones(N), *weights(5, **more)]:
        rows = np.repeat(np.arange(N), own.astype(int))
        label = {} if groups is None else {"groups": np.array([f"{GROUPS[i]}" for i in rows])}
        if groups is not None:  # a group that is drawn twice is two groups
            copy = np.concatenate([np.arange(n) for n in own.astype(int)])
            label = {"groups": np.array([f"{GROUPS[i]} {k}" for i, k in zip(rows, copy, strict=True)])}
        again = clone(system).fit(X[rows], y[rows])
        kind = "HC0" if groups is None else "CR1"
        table = again.summary(errors=kind, X=X[rows], y=y[rows], **label).to_dict()["coefficients"]
        count = 1.0 if groups is None else len(np.unique(label["groups"]))
        factor = 1.0 if groups is None else count / (count - 1) * (len(rows) - 1) / (len(rows) - 3)
        expected.append(np.array([row["std_error"] for row in table]) / np.sqrt(factor))
    assert found.errors is not None
    np.testing.assert_allclose(found.errors, expected, rtol=1e-6)


@pytest.mark.slow
def test_the_covariance_is_near_the_sandwich() -> None:
    """Within four standard errors of a standard deviation over replicates; wild ones too."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 2))
    y = x @ [1.0, 2.0] + rng.normal(size=4000) * np.exp(x[:, 0])
    model, labels = LinearRegression().fit(x, y), (y > 0).astype(int)
    machine = LogisticRegression().fit(x, labels)
    for fitted, target, method in ((model, y, "pairs"), (model, y, "wild"), (machine, labels, "pairs")):
        found = bootstrap(fitted, x, target, replicates=2000, method=method, interval="percentile")
        rows = fitted.summary(errors="HC0", X=x, y=target).to_dict()["coefficients"]
        np.testing.assert_allclose(found.std_error / [row["std_error"] for row in rows], 1, atol=4 / np.sqrt(4000))
        np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), found.std_error)


def test_ordered_classes_have_thresholds() -> None:
    y = np.digitize(Y, [6.0, 9.0])
    model = OrdinalRegression().fit(X, y)
    found = bootstrap(model, X, y, replicates=4)
    assert found.names == ["0 | 1", "1 | 2", "x0", "x1"]
    np.testing.assert_array_equal(found.estimate, np.append(model.thresholds_, model.coef_))


@pytest.mark.parametrize("system", [RobustRegression(), Ridge(), LogisticRegression(firth=True)], ids=str)
def test_other_systems_are_fitted_again(system: Any) -> None:
    y = LABELS if isinstance(system, LogisticRegression) else Y
    found = bootstrap(clone(system).fit(X, y), X, y, replicates=4)
    refits = [theta(clone(system).fit(X, y, sample_weight=own)) for own in weights(4)]
    np.testing.assert_array_equal(found.replicates, refits)
    inside = found.predict(X[:3])
    assert (inside.lower < inside.upper).all()


def test_a_choice_is_made_again_for_each_replicate() -> None:
    chosen = select(Ridge(), X, Y, penalty=[0.01, 1000.0])
    found = bootstrap(chosen, X, Y, replicates=30)
    penalties = {one.penalty for one in found.models}
    assert penalties == {0.01, 1000.0} or len(penalties) == 1
    mean = chosen.best.predict(X[:5])
    prediction, lower, upper = found.predict(X[:5], level=0.8)
    np.testing.assert_array_equal(prediction, mean)
    assert (lower < upper).all()
    assert "estimate" in str(found)
    systems = bootstrap(select([LinearRegression(), Ridge(5.0)], X, Y), X, Y, replicates=5)
    assert "seed 0" in str(systems)
    assert systems.predict(X[:5]).lower.shape == (5,)
    with pytest.raises(InvalidParameter, match="use predict"):
        systems.summary()


def test_a_table_says_how_replicates_were_drawn() -> None:
    model = LinearRegression().fit(pd.DataFrame(X, columns=["a", "b"]), Y)
    found = bootstrap(model, pd.DataFrame(X, columns=["a", "b"]), Y, replicates=200, random_state=9)
    text = str(found)
    assert "BCa intervals of 200 replicates" in text
    assert "seed 9" in text
    assert "5 replicates lie beyond each end" in text
    assert list(found.to_frame()["name"]) == ["intercept", "a", "b"]
    assert [row["name"] for row in found.to_dict()["coefficients"]] == ["intercept", "a", "b"]
    assert found._repr_html_().startswith("<table>")
    level = np.column_stack([X, np.arange(N) == 5])
    lost = bootstrap(LinearRegression().fit(level, Y), level, Y, replicates=50)
    assert "left out" in str(lost)


def test_columns_that_depend_on_others_and_absent_intercepts_are_not_shown() -> None:
    double = np.column_stack([X, X[:, 0] * 2, np.ones(N)])
    with pytest.warns(match="determine"):
        model = LinearRegression().fit(double, Y)
    assert bootstrap(model, double, Y, replicates=10).names == ["intercept", "x0", "x1"]
    plain = LinearRegression(fit_intercept=False).fit(X, Y)
    assert bootstrap(plain, X, Y, replicates=10).names == ["x0", "x1"]
    both = LinearRegression().fit(X, np.column_stack([Y, Y]))
    assert bootstrap(both, X, np.column_stack([Y, Y]), replicates=10).targets[-1] == "y1"


@pytest.mark.parametrize(
    ("model", "more", "message"),
    [
        (KMeans(2).fit(X), {}, "no coefficients"),
        (LogisticRegression().fit(X, LABELS), {"method": "wild"}, "residuals have signs"),
        (RobustRegression().fit(X, Y), {"method": "wild"}, "is for LinearRegression"),
        (RobustRegression().fit(X, Y), {"interval": "bca"}, "use 'percentile'"),
        (LinearRegression().fit(X, Y), {"groups": np.column_stack([GROUPS, GROUPS])}, "one column"),
        (LinearRegression().fit(X, Y), {"replicates": 1}, "replicates"),
        (LinearRegression().fit(X, Y), {"interval": "basic"}, "interval"),
    ],
)
def test_what_cannot_be_drawn_is_refused(model: Any, more: Any, message: str) -> None:
    y = LABELS if isinstance(model, LogisticRegression) else Y
    with pytest.raises(InvalidParameter, match=message):
        bootstrap(model, X, y, **more)


def test_intervals_that_were_not_prepared_are_refused() -> None:
    found = bootstrap(LinearRegression().fit(X, Y), X, Y, replicates=10)
    with pytest.raises(InvalidParameter, match="not prepared"):
        found.ends(interval="studentised")
    with pytest.raises(InvalidParameter, match="with_errors"):
        found.predict(X)
    wild = bootstrap(LinearRegression().fit(X, Y), X, Y, replicates=10, method="wild")
    with pytest.raises(InvalidParameter, match="not prepared"):
        wild.ends(interval="bca")
