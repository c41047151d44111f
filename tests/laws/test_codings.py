"""A value is the same number, or refused, wherever it stands: in a frame, a table, `adaline predict`, the service."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adaline import LinearRegression, open_table, save
from adaline.cli.predict import PredictOptions, run_predict
from adaline.errors import AdalineError
from adaline.serve.rows import RowLayout
from adaline.sources.tables.file_options import FileOptions

N = 60
HALF_PAST = timezone(timedelta(hours=1, minutes=30))
VALUES: dict[str, list[Any]] = {
    "number": [
        *(1.5, 2, True, None, float("nan"), float("inf"), 2**53 + 1, 1e300, -0.0),
        *("1.5", " 1.5", "+1.5", "1e3", "007", ".5", "-2", "abc", "", "NA", "n.a.", "12 kg", "5%", "1_0", "0x1A"),
    ],
    "truth": [True, False, 1, 0, 1.0, 2, 0.5, None, "true", "TRUE", " false", "yes", "1", "", "x"],
    "level": ["a", " a", "a ", "b\t", "A", "zz", 1, 1.5, True, None, "\u00a0a", "cc"],
    "code": [1, 1.0, 3, 1.5, True, None, "1", " 1", "1.0", "01", "2", "x", "3"],
    "text": ["1", " 1", "1.0", "01", 1, 1.0, 3, True, None, "x", " x", "True"],
    "day": [
        *(datetime(2024, 1, 5), date(2024, 1, 5), datetime(2024, 1, 5, 12, 0, 0, 123457), 19727, 1.5, True, None),
        *(datetime(2024, 1, 5, 12, tzinfo=UTC), datetime(2024, 1, 5, 12, tzinfo=HALF_PAST)),
        *("2024-01-05", " 2024-01-05", "2024-01-05T12:00", "2024-01-05 12:00:00.123457", "2024-1-5", "20240105"),
        *("2024-01-05T12:00+02:00", "2024-01-05T12:00Z", "2024-13-01", "2024-W01-5", "x", "", "1999-02-29"),
    ],
}
"""Values of columns that a model knows as numbers, booleans, levels of three kinds, and dates."""
TYPED = ("number", "truth", "code")
"""Kinds of columns of which JSON has a type of its own, so that the service refuses texts."""


@cache
def fitted() -> tuple[Any, dict[str, Any]]:
    """Return a model of columns of all kinds, and a row that it can predict."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"number": rng.normal(size=N), "truth": rng.random(N) < 0.5})
    frame["level"], frame["code"] = rng.choice(["a", "b", "cc"], N), rng.choice([1, 2, 5], N)
    frame["text"] = rng.choice(["1", "2", "x"], N)
    frame["day"] = [datetime(2024, 1, 1) + timedelta(days=int(k)) for k in rng.integers(0, 50, N)]
    frame["y"] = frame["number"] + frame["code"] + (frame["level"] == "b") + 3.0 * (frame["text"] == "2")
    frame["y"] += rng.normal(size=N)
    model = LinearRegression().fit(open_table(frame, target="y", dates=["day"], categories=["code", "text"]))
    row: dict[str, Any] = {"number": 0.25, "truth": True, "level": "b", "code": 2, "text": "x"}
    return model, {**row, "day": datetime(2024, 1, 9)}


@cache
def model_of(kind: str) -> Any:
    """Return the model with weights of its own for the column of one kind, and none for others: sums do not round."""
    model = deepcopy(fitted()[0])
    own = np.cumsum([name == kind for name in model.coding_.origin]) * [name == kind for name in model.coding_.origin]
    model.coef_, model.intercept_ = own.astype(float), 0.0
    return model


def in_json(row: dict[str, Any]) -> dict[str, Any]:
    return {name: one.isoformat() if isinstance(one, date) else one for name, one in row.items()}


def pandas_twice(model: Any, row: dict[str, Any]) -> Any:
    """Predict a row beside one that is as it should be, so that its column may be one of objects."""
    return model.predict(pd.DataFrame([row, fitted()[1]]))[:1]


WAYS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "pandas": lambda model, row: model.predict(pd.DataFrame([row])),
    "objects": pandas_twice,
    "polars": lambda model, row: model.predict(pl.DataFrame([row], strict=False)),
    "arrow": lambda model, row: model.predict(pa.Table.from_pylist([row])),
    "table": lambda model, row: model.predict(open_table(pd.DataFrame([row]))),
}
SERVED: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "one": lambda layout, row: layout.read([in_json(row)]),
    "two": lambda layout, row: layout.read([in_json(row)] * 2)[:1],
    "list": lambda layout, row: layout.read([[in_json(row)[column.name] for column in layout.columns]]),
    "long way": lambda layout, row: layout.decode([in_json(row)], False).x,
    "arrow": lambda layout, row: layout.read(pa.Table.from_pylist([row])),
}


def outcome(way: Callable[[Any, dict[str, Any]], Any], kind: str, value: Any, layout: RowLayout | None = None) -> Any:
    """Return a prediction, or that there is none; by a layout of the service, where one is given."""
    model, row = model_of(kind), {**fitted()[1], kind: value}
    try:
        return float((way(model, row) if layout is None else model.predict(way(layout, row)))[0])
    except AdalineError:
        return "refused"


def predicted_by_command(kind: str, values: list[Any], folder: Path) -> list[float | str]:
    """Return what `adaline predict` writes for rows of JSON with these values."""
    save(model_of(kind), folder / "model.adaline")
    lines = [json.dumps(in_json({**fitted()[1], kind: value})) for value in values]
    (folder / "rows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    options, out = PredictOptions(keep="none"), folder / "out.parquet"
    run_predict(folder / "model.adaline", str(folder / "rows.jsonl"), FileOptions(), options, out, False)
    found = pq.read_table(out).to_pylist()
    return ["refused" if one["prediction"] is None else one["prediction"] for one in found]


@pytest.mark.parametrize("kind", VALUES)
def test_a_value_is_the_same_number_or_is_refused_wherever_it_stands(kind: str) -> None:
    layout = RowLayout.of(fitted()[0])
    for value in VALUES[kind]:
        expected = outcome(WAYS["pandas"], kind, value)
        found = {name: outcome(way, kind, value) for name, way in WAYS.items()}
        assert set(found.values()) == {expected}, (value, found)
        served = {name: outcome(way, kind, value, layout) for name, way in SERVED.items()}
        wanted = "refused" if isinstance(value, str) and kind in TYPED else expected
        assert set(served.values()) == {wanted}, (value, expected, served)


@pytest.mark.parametrize("kind", VALUES)
def test_the_command_line_predicts_what_a_frame_does(kind: str, tmp_path: Path) -> None:
    for type_ in {type(value) for value in VALUES[kind]} - {type(None)}:  # a column of JSON has one type
        values = [value for value in VALUES[kind] if type(value) is type_ and str(value) not in ("nan", "inf")]
        expected = [outcome(WAYS["pandas"], kind, value) for value in values]
        assert predicted_by_command(kind, values, tmp_path) == expected, values


def test_absorbed_levels_are_found_as_categories_are() -> None:
    """Whatever the type of the column that holds them; the predictions of integers are those of texts and floats."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=N), "firm": rng.choice([3, 7, 12], N)})
    frame["y"] = frame["x"] + frame["firm"]
    model = LinearRegression().fit(open_table(frame, target="y", absorb=["firm"]))
    expected, firm = model.predict(frame), frame["firm"]
    for values in (firm.astype(float), firm.astype(str), " " + firm.astype(str), firm.astype("category")):
        np.testing.assert_array_equal(model.predict(frame.assign(firm=values)), expected)
    with pytest.raises(AdalineError, match=r"'firm' has the level 'seven' at row 1"):
        model.predict(frame.assign(firm=["3", "seven", *["12"] * (N - 2)]))
