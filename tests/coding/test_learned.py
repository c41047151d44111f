"""What formulas learn from rows: the same from a stream as in memory, used for new rows as learned, and bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from adaline import GeneralizedLinear, LinearRegression, load, open_table, save
from adaline.coding import learned
from adaline.errors import InvalidData, InvalidParameter, MissingValues
from adaline.sources.tables import coding

LEARN = "y ~ scale(x) + center(z) + poly(x, 3) + bs(z, df=5) + ns(x, df=4) + cut(z, 3) + I(scale(log(z))^2)"


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    out = pd.DataFrame(
        {"x": rng.normal(size=500), "z": np.round(rng.uniform(1, 5, size=500), 2), "y": rng.normal(size=500)}
    )
    out["t"], out["won"] = rng.uniform(1, 9, 500), rng.binomial(10, 0.4, 500)
    out["count"], out["lost"] = rng.poisson(out.t), 10 - out.won
    out["g"] = rng.choice(["a", "b"], 500)
    return out


def test_streams_are_learned_as_memory_is(frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=64)
    whole = open_table(tmp_path / "t.parquet", formula=LEARN).coding
    for module in (learned, coding):
        monkeypatch.setattr(module, "HELD", 10)
    streamed = open_table(tmp_path / "t.parquet", formula=LEARN).coding
    assert streamed.facts.keys() == whole.facts.keys()
    for text, facts in whole.facts.items():
        np.testing.assert_allclose(streamed.facts[text], facts, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("values", [np.arange(7.0), np.repeat([-3.0, 0.0, -0.0, 5e-324, 1e300], 9), np.full(30, 2.5)])
def test_quantiles_of_streams_are_exact(values: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned, "HELD", 0)
    shares = np.linspace(0, 1, 11)
    blocks = np.array_split(np.random.default_rng(0).permutation(values), 4)
    np.testing.assert_allclose(learned.quantiles(lambda: blocks, shares), np.quantile(values, shares), rtol=1e-15)


def test_what_is_learned_is_that_of_the_rows_used(frame: pd.DataFrame) -> None:
    frame.loc[::7, "x"] = np.nan
    kept = frame.dropna()
    formula = "y ~ scale(x) + ns(x, df=3)"
    assert (
        open_table(frame, formula=formula, missing="drop").coding.facts
        == open_table(kept, formula=formula).coding.facts
    )
    with pytest.raises(MissingValues, match=r"'x' \(72\)"):
        open_table(frame, formula=formula)
    filled = frame.fillna({"x": kept.x.mean()})
    mean = open_table(frame, formula=formula, missing="mean").coding.facts
    for text, facts in open_table(filled, formula=formula).coding.facts.items():
        np.testing.assert_allclose(mean[text], facts, rtol=1e-12)
    with pytest.raises(InvalidData, match=r"log\(x\) in the formula is not finite"):
        open_table(kept, formula="y ~ scale(log(x))")


def test_intervals_that_no_row_was_in(frame: pd.DataFrame) -> None:
    model = LinearRegression().fit(open_table(frame, formula="y ~ cut(z, 3)"))
    with pytest.raises(InvalidData, match="outside all intervals"):
        model.predict(frame.assign(z=99.0))
    model = LinearRegression().fit(open_table(frame, formula="y ~ cut(z, 3)", unseen="other"))
    np.testing.assert_allclose(model.predict(frame.assign(z=99.0)), frame.y.mean(), rtol=1e-9)
    with pytest.raises(MissingValues, match="'z'"):
        model.predict(frame.assign(z=np.nan))


def test_lags_are_the_rows_before(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=64)
    before = frame.assign(one=frame.y.shift(1), three=frame.x.shift(3)).dropna()
    theirs = LinearRegression().fit(before[["one", "three", "z"]], before.y)
    for data in (frame, tmp_path / "t.parquet"):
        source = open_table(data, formula="y ~ lag(y, 1) + lag(x, k=3) + z", missing="drop")
        assert source.names == ("lag(y, 1)", "lag(x, k=3)", "z")
        assert source.n_rows == 497
        np.testing.assert_allclose(LinearRegression().fit(source).coef_, theirs.coef_, rtol=1e-10)
    with pytest.raises(MissingValues, match=r"'lag\(x, 3\)' \(3\), 'lag\(y, 1\)' \(1\)"):
        open_table(frame, formula="y ~ lag(y, 1) + lag(x, 3)")


def test_offsets_and_two_targets_are_those_of_statsmodels(frame: pd.DataFrame, tmp_path: Path) -> None:
    mine = GeneralizedLinear(loss="poisson").fit(open_table(frame, formula="count ~ x + g + offset(log(t))"))
    theirs = smf.glm("count ~ x + g", frame, family=sm.families.Poisson(), offset=np.log(frame.t)).fit()
    np.testing.assert_allclose(mine.predict(frame), theirs.fittedvalues, rtol=1e-8)
    won = GeneralizedLinear(loss="binomial").fit(open_table(frame, formula="cbind(won, lost) ~ bs(x, df=4) * g"))
    theirs = smf.glm("won + lost ~ bs(x, df=4) * g", frame, family=sm.families.Binomial()).fit()
    np.testing.assert_allclose(won.predict(frame), theirs.fittedvalues, rtol=1e-8)
    for model in (mine, won):
        save(model, tmp_path / "m")
        np.testing.assert_array_equal(load(tmp_path / "m").predict(frame), model.predict(frame))
        np.testing.assert_array_equal(model.predict(open_table(frame)), model.predict(frame))
    with pytest.raises(InvalidParameter, match="takes no offset"):
        LinearRegression().fit(open_table(frame, formula="y ~ x + offset(z)"))


@pytest.mark.parametrize("missing", ["drop", "error"])
def test_expressions_without_a_column_are_constants(missing: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 5.0, 4.0, 7.0], "y": [1.0, 2.0, 4.0, 3.0, 5.0, 6.0]})
    plain = GeneralizedLinear(loss="poisson").fit(frame[["x"]], frame["y"])
    moved = GeneralizedLinear(loss="poisson").fit(open_table(frame, formula="y ~ x + offset(2.5)", missing=missing))
    np.testing.assert_allclose(moved.intercept_ + 2.5, plain.intercept_, rtol=1e-12)
    cut = open_table(frame, formula="y ~ x + cut(3, [0, 2, 5])", missing=missing)
    assert cut.names == ("x", "cut(3, [0, 2, 5])[T.(2,5]]")
