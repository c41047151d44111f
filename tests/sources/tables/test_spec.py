"""Options of a table that contradict each other are refused, by name; words may be given by their weighting alone."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import KMeans, LinearRegression, open_table, separability
from adaline.coding.effects import Effect
from adaline.coding.texts import ABSENT, UNKNOWN
from adaline.errors import InvalidData, InvalidParameter
from adaline.lazy import nw
from adaline.sources.tables.spec import TableSpec

ROWS = {
    "y": [1.0, 2.0, 4.0, 6.0, 5.0, 3.0],
    "x": [0.0, 1.0, 0.0, 2.0, 5.0, 1.0],
    "w": [1.0, 1.0, 2.0, 1.0, 1.0, 1.0],
    "g": ["a", "a", "b", "b", "c", "c"],
    "t": ["one two", "two", "three", "one", "two two", "one three"],
}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"absorb": ["g", "g"]}, "twice"),
        ({"target": None, "formula": "y ~ x | g + g"}, "twice"),
        ({"absorb": "y"}, "'y' is the target too"),
        ({"absorb": "w", "weight": "w"}, "'w' is the weight too"),
        ({"absorb": "g", "categories": ["g"]}, "'g' is in categories= too"),
        ({"absorb": "g", "hashed": ["g"]}, "'g' is in hashed= too"),
        ({"absorb": "t", "words": ["t"]}, "'t' is in words= too"),
        ({"hashed": ["y"]}, "'y' is the target"),
        ({"hashed": ["g"], "features": ["x"]}, "'g' is not among features="),
        ({"words": ["t"], "features": ["x"]}, "'t' is not among features="),
        ({"hashed": {"g": 1000}}, "power of two"),
        ({"hashed": {"nobody": 2**10}}, "has no column 'nobody'"),
        ({"hashed": ["g"], "categories": ["g"]}, "named in two of"),
        ({"words": ["x"]}, "no texts"),
        ({"words": {"t": {"weighting": "loud"}}}, "weighting"),
        ({"words": {"t": {"size": 3}}}, "options of a column are weighting"),
        ({"words": {"t": {"width": 64, "weighting": "tfidf"}}}, "neither a least count"),
    ],
)
def test_contradictions_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        open_table(ROWS, **{"target": "y", **options}).learn_coding()


def test_functions_that_learn_beside_absorbed_effects() -> None:
    rows = {name: ROWS[name] for name in ("y", "x", "g")}
    scaled = LinearRegression().fit(open_table(rows, formula="y ~ scale(x) | g"))
    plain = LinearRegression().fit(open_table(rows, formula="y ~ x | g"))
    np.testing.assert_allclose(scaled.predict(open_table(rows)), plain.predict(open_table(rows)), rtol=1e-12)


def test_words_by_their_weighting() -> None:
    assert TableSpec.of(words={"t": "tfidf"}) == TableSpec.of(words={"t": {"weighting": "tfidf"}})


@pytest.mark.parametrize(
    "options",
    [
        {"words": {"t": {"weighting": "tfidf"}, "u": {}}},
        {"words": ["t", "u"]},
        {"hashed": {"g": 16, "h": 2**20}, "target": "y"},
        {"categories": {"g": ["a", "b"], "h": None}, "dates": ["d"]},
        {"categories": ["g"], "missing": "drop", "unseen": "other"},
    ],
)
def test_options_of_a_table_give_it_again(options: dict[str, Any]) -> None:
    spec = TableSpec.of(**options)
    assert TableSpec.of(**spec.options()) == spec


def test_levels_of_all_types_are_found_again_in_frames() -> None:
    codes = np.array([0, 0, 1, 1, 2, 2])
    frame = pd.DataFrame({"y": ROWS["y"], "x": ROWS["x"]})
    columns = {
        "whole": pd.Categorical(codes),
        "halves": pd.Categorical(codes / 2),
        "truth": pd.Categorical(codes > 0),
        "decimal": [Decimal(int(code)) / 2 for code in codes],
        "objects": pd.Series(codes.tolist(), dtype=object),
    }
    for column in columns.values():
        rows = frame.assign(g=column)
        model = LinearRegression().fit(open_table(rows, target="y", absorb="g", unseen="other"))
        assert np.array_equal(model.predict(rows), model.predict(open_table(rows)))
    for column in ([b"u", b"u", b"v", b"v", b"w", b"w"], pd.to_timedelta(codes, unit="h")):
        with pytest.raises(InvalidData, match="no levels"):
            LinearRegression().fit(open_table(frame.assign(g=column), target="y", absorb="g"))


def test_codes_of_texts_in_columns_of_any_type() -> None:
    effect = Effect("g", np.array(["1", "b"], dtype=object), np.array([1.0, -1.0]))
    for column in (
        ["b", None, "z", "1"],
        pd.Categorical(["b", None, "z", "1"]),
        pd.Series(["b", None, 2, 1], dtype=object),
    ):
        frame = nw.from_native(pd.DataFrame({"g": column}), eager_only=True)
        assert effect.codes(frame).tolist() == [1, ABSENT, UNKNOWN, 0]


def test_messages_say_what_to_change() -> None:
    rows = {name: ROWS[name] for name in ("y", "x", "g")}
    table = open_table(rows, target="y", absorb="g")
    with pytest.raises(InvalidParameter, match="KMeans does not absorb effects"):
        KMeans(n_clusters=2).fit(table)
    with pytest.raises(InvalidParameter, match=r"^separability does not absorb effects"):
        separability(open_table({**rows, "y": [0, 1, 0, 1, 0, 1]}, target="y", absorb="g"))
    with pytest.raises(InvalidParameter, match="hold a constant: take"):
        LinearRegression().fit(open_table(rows, formula="y ~ x - 1 | g"))
    model = LinearRegression().fit(table)
    with pytest.raises(InvalidData, match="score needs y, or a table with its target"):
        model.score(pd.DataFrame(rows))
    with pytest.raises(InvalidData, match="or two names"):
        model.summary(errors="cluster", X=table, groups=["g", "x", "y"])
