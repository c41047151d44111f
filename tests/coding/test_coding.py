"""Columns become numbers by rules that can be written down: reference coding, means, indicators, levels kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adaline import LinearRegression, open_table
from adaline.coding import Coding, Column
from adaline.coding.columns import is_text
from adaline.coding.frames import learn_from_frame, plain_terms
from adaline.coding.texts import ABSENT, UNKNOWN
from adaline.errors import AdalineError, InvalidData, InvalidParameter, MissingValues

FRAMES: dict[str, Any] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
KINDS = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)


def coded(columns: list[Column], data: Any, **more: Any) -> Any:
    return Coding(tuple(columns), plain_terms(columns), **more).code(nw.from_native(data, eager_only=True))


@KINDS
def test_reference_coding(make: Any) -> None:
    data = make({"c": ["b", "a", "c", "a"], "x": [1.5, 2.5, 3.5, 4.5], "t": [True, False, True, True]})
    coding = learn_from_frame(nw.from_native(data, eager_only=True))
    assert coding is not None
    assert coding.names == ("c[T.b]", "c[T.c]", "x", "t")
    assert coding.origin == ("c", "c", "x", "t")
    expected = [[1, 0, 1.5, 1], [0, 0, 2.5, 0], [0, 1, 3.5, 1], [0, 0, 4.5, 1]]
    np.testing.assert_array_equal(coding.code(nw.from_native(data, eager_only=True)), expected)


@KINDS
def test_codes_of_missing_and_unknown_levels(make: Any) -> None:
    frame = nw.from_native(make({"c": ["b", None, "z", "a"]}), eager_only=True)
    assert Column("c", "category", ("a", "b")).codes(frame).tolist() == [1, ABSENT, UNKNOWN, 0]


@pytest.mark.parametrize("levels", [(0, 1, 2), (2, 0, 1), (1, 5, 3), (0.5, 2)])
def test_codes_of_numbers(levels: tuple[Any, ...]) -> None:
    values = np.array([*levels, np.nan, 77.0, -1.0, 0.25])
    frame = nw.from_native(pd.DataFrame({"c": values}), eager_only=True)
    expected = [*range(len(levels)), ABSENT, UNKNOWN, UNKNOWN, UNKNOWN]
    assert Column("c", "category", levels).codes(frame).tolist() == expected


def test_declared_categories_keep_their_order() -> None:
    sizes = pd.Categorical(["small", "large", "small", "middle"], categories=["small", "middle", "large", "giant"])
    frame = pd.DataFrame({"size": sizes, "x": [0.0, 1.0, 0.5, 0.1], "y": [1.0, 3.0, 1.2, 2.0]})
    names = ("size[T.middle]", "size[T.large]", "x")
    assert tuple(LinearRegression().fit(frame[["size", "x"]], frame.y).feature_names_in_) == names
    assert open_table(frame, target="y").names == names


@pytest.fixture
def gaps() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    out = pd.DataFrame({"x": rng.normal(size=50), "z": rng.normal(size=50), "c": rng.choice(["a", "b", "c"], size=50)})
    out["y"] = out.x - out.z + (out.c == "b") + 0.1 * rng.normal(size=50)
    out.loc[[3, 7], "x"] = np.nan
    out.loc[[4, 7, 9], "c"] = None
    out.loc[11, "y"] = np.nan
    return out


def test_missing_values_are_an_error_with_counts(gaps: pd.DataFrame) -> None:
    with pytest.raises(MissingValues, match=r"'c' \(3\), 'x' \(2\), 'y' \(1\).*missing='drop'") as caught:
        open_table(gaps, target="y")
    assert "\n" not in str(caught.value)
    with pytest.raises(MissingValues, match=r"'x' \(2\)"):
        open_table(gaps[gaps.y.notna()], target="y", features=["x", "z"])


def test_drop_leaves_such_rows_out(gaps: pd.DataFrame) -> None:
    source, clean = open_table(gaps, target="y", missing="drop"), gaps.dropna()
    assert source.n_rows == len(clean) == 45
    ours = LinearRegression().fit(source)
    theirs = LinearRegression().fit(clean[["x", "z", "c"]], clean.y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-13)


def test_mean_fills_numbers_by_their_mean_and_levels_by_their_shares(gaps: pd.DataFrame) -> None:
    kept, source = gaps[gaps.y.notna()], open_table(gaps, target="y", missing="mean")
    x = kept.x.fillna(kept.x.mean())
    dummies = pd.get_dummies(kept.c, dtype=float)[["b", "c"]]
    dummies[kept.c.isna()] = kept.c.value_counts(normalize=True)[["b", "c"]].to_numpy()
    expected = np.column_stack([x, kept.z, dummies])
    np.testing.assert_allclose(np.concatenate([block.x for block in source.blocks()]), expected, rtol=1e-13)


def test_indicator_says_what_was_missing(gaps: pd.DataFrame) -> None:
    kept, source = gaps[gaps.y.notna()], open_table(gaps, target="y", missing="indicator")
    assert source.names == ("x", "x[missing]", "z", "c[T.b]", "c[T.c]", "c[T.(missing)]")
    X = np.concatenate([block.x for block in source.blocks()])
    np.testing.assert_array_equal(X[:, 1], kept.x.isna())
    np.testing.assert_array_equal(X[:, 5], kept.c.isna())
    assert np.isfinite(LinearRegression().fit(source).predict(gaps)).all()
    source = open_table(gaps, formula="y ~ exp(x) + x:z", missing="indicator")
    assert source.names == ("exp(x)", "x[missing]", "x:z")
    np.testing.assert_array_equal(next(source.blocks()).x[:, 1], kept.x.isna())


@pytest.mark.parametrize("missing", ["mean", "indicator"])
def test_gaps_at_prediction_are_filled_as_in_training(missing: str, gaps: pd.DataFrame) -> None:
    model = LinearRegression().fit(open_table(gaps, target="y", missing=missing))
    row = gaps[:1].assign(z=[None])
    filled = gaps[:1].assign(z=[gaps[gaps.y.notna()].z.mean()])
    np.testing.assert_allclose(model.predict(row), model.predict(filled), rtol=1e-12)


def test_dates_are_explicit() -> None:
    frame = pd.DataFrame(
        {"day": pd.to_datetime(["2020-01-01", "2020-01-03", "2020-01-04 12:00", "2020-02-01"], format="ISO8601")}
    )
    frame["y"] = [1.0, 3.0, 4.5, 32.0]
    with pytest.raises(InvalidData, match=r"'day'.*dates="):
        open_table(frame, target="y")
    model = LinearRegression().fit(open_table(frame, target="y", dates=["day"]))
    assert model.coef_[0] == pytest.approx(1.0, rel=1e-9)
    assert model.predict(frame)[2] == pytest.approx(4.5)
    with pytest.raises(InvalidParameter, match="not dates"):
        open_table(frame, target="day", features=["y"], dates=["y"])
    texts = frame.assign(day=["2020-01-01", None, " 2020-01-04 12:00", "2020-02-01T00:00"])
    expected = model.predict(frame)[[0, 2, 3]]
    np.testing.assert_allclose(model.predict(texts.iloc[[0, 2, 3]]), expected, rtol=1e-12)
    dates = frame.assign(day=frame["day"].dt.to_pydatetime().tolist()).astype({"day": object})
    np.testing.assert_array_equal(model.predict(dates), model.predict(frame))
    zoned = texts.iloc[[0]].assign(day="2020-01-01T01:30+01:30")
    np.testing.assert_array_equal(model.predict(zoned), model.predict(frame)[:1])
    for wrong in ("01/02/2020", "20200103", "2020-13-01"):
        with pytest.raises(InvalidData, match=r"'day' holds .*fitted to dates"):
            model.predict(texts.assign(day=wrong))


DATES = {
    "ISO 8601": ["2020-01-01", "2020-01-03", " 2020-01-04", "2020-02-01"],
    "times": ["2020-01-01 00:00", "2020-01-03T12:30:01.5", "2020-01-04T01:00+01:00", "2020-2-1"],
    "the day first": ["01.01.2020", "03.01.2020", "04.01.2020", "31.01.2020"],
    "the month first": ["01/01/2020", "01/03/2020", "01/04/2020", "01/31/2020"],
}


@pytest.mark.parametrize("name", DATES)
def test_dates_that_a_table_holds_as_texts_are_read_as_those_of_a_text_file(name: str, tmp_path: Path) -> None:
    days, y = DATES[name], [1.0, 3.0, 4.5, 32.0]
    frame = pd.DataFrame({"day": [*days, "n.a."], "y": [*y, 5.0]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    tables = [frame, pl.from_pandas(frame), tmp_path / "t.parquet", tmp_path / "t.csv"]
    tables = tables[:3] if name == "times" else tables  # which a text file writes in one way
    opened = [open_table(data, target="y", dates=["day"], missing="drop") for data in tables]
    rows = [np.concatenate([block.x for block in source.blocks()]) for source in opened]
    for x in rows:
        np.testing.assert_array_equal(x, rows[0])
    models = [LinearRegression().fit(source) for source in opened]
    for model in models:
        np.testing.assert_array_equal(model.predict(frame[:4]), models[0].predict(opened[0]))
    assert ("the" in name) == any(name in note for note in opened[0].notes)
    with pytest.raises(InvalidParameter, match="dates: column 'day' holds dates, but also 'soon'"):
        open_table(frame.assign(day=[*days, "soon"]), target="y", dates=["day"])


def test_categories_by_choice() -> None:
    frame = pd.DataFrame({"hour": [1, 2, 3, 1, 2, 3], "y": [1.0, 5.0, 2.0, 1.5, 5.5, 2.5]})
    assert open_table(frame, target="y", categories=["hour"]).names == ("hour[T.2]", "hour[T.3]")
    named = open_table(frame, target="y", categories={"hour": [3, 1, 2, 4]})
    assert named.names == ("hour[T.1]", "hour[T.2]", "hour[T.4]")
    with pytest.raises(InvalidData, match="level 3, which categories= does not name"):
        open_table(frame, target="y", categories={"hour": [1, 2]})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "yy"}, "no column 'yy'. Did you mean 'y'"),
        ({"target": "y", "features": ["x", "q"]}, "features: .* no column 'q'"),
        ({"target": "y", "weight": "w"}, "weight: .* no column 'w'"),
        ({"target": "y", "features": ["y"]}, "names 'y', which is the target: leave it out"),
        ({"target": "y", "missing": "zero"}, "missing must be one of error, drop, mean, indicator"),
        ({"target": "y", "unseen": "skip"}, "unseen must be"),
        ({"target": "y", "features": []}, "no column to learn from"),
    ],
)
def test_wishes_that_cannot_be_met(arguments: dict[str, Any], message: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0]})
    with pytest.raises(AdalineError, match=message):
        open_table(frame, **arguments)


def test_prose_is_not_a_category() -> None:
    assert not is_text(20, 20)
    assert is_text(21, 30)
    assert not is_text(21, 100)
    assert not is_text(1001, 10_010)
    assert is_text(1001, 10_009)
    frame = pd.DataFrame({"remark": [f"no. {i}" for i in range(40)], "y": np.arange(40.0)})
    with pytest.raises(InvalidData, match=r"40 different texts.*categories="):
        open_table(frame, target="y")
    assert len(open_table(frame, target="y", categories=["remark"]).names) == 39


def test_several_targets() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(30, 4)), columns=["a", "b", "u", "v"])
    model = LinearRegression().fit(open_table(frame, target=["u", "v"]))
    expected = LinearRegression().fit(frame[["a", "b"]].to_numpy(), frame[["u", "v"]].to_numpy())
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    one = LinearRegression().fit(open_table(frame[["a", "b", "u"]], target=["u"]))
    assert one.coef_.shape == (1, 2)
