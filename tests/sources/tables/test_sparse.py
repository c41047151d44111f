"""Sparse rows out of tables: many levels, hashed columns and words, by one law each over all codings."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder

from adaline import LogisticRegression, Ridge, export_onnx, load, open_table, save, set_threads
from adaline.cli import main
from adaline.coding import columns as columns_module
from adaline.coding.texts import Texts, expected_collisions, xxh64
from adaline.errors import InvalidData, InvalidType, MissingValues
from adaline.sources.tables import coding as coding_module
from adaline.sources.tables import source as source_module
from adaline.sources.tables import summary as summary_module
from tests.codings import SPARSE, coded_frame, open_coded

EACH = pytest.mark.parametrize("options", SPARSE.values(), ids=SPARSE)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return coded_frame()


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are sparse from 40 columns on."""
    monkeypatch.setattr("adaline.coding.coding.MANY", 40)


def rows(source: Any) -> Any:
    assert source.sparse
    blocks = [block.x for block in source.blocks()]
    assert all(block.has_canonical_format for block in blocks)
    return scipy.sparse.vstack(blocks).tocsr()


def same(one: Any, other: Any) -> bool:
    return one.shape == other.shape and not (one != other).nnz


@EACH
def test_rows_are_the_same_from_everywhere(frame: pd.DataFrame, options: dict[str, Any], tmp_path: Path) -> None:
    expected = rows(open_coded(frame, options))
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=400)
    arrow = pa.table(frame.assign(user=frame["user"].astype("category")))
    query = f"SELECT * FROM '{tmp_path / 't.parquet'}'"
    for data in (pl.from_pandas(frame), arrow, tmp_path / "t.csv", tmp_path / "t.parquet", query):
        assert same(rows(open_coded(data, options)), expected)


@EACH
def test_streams_threads_files_and_weights(
    frame: pd.DataFrame, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=400)
    held = Ridge(penalty=1.0).fit(open_coded(frame, options))
    monkeypatch.setattr(source_module, "KEPT", 10)
    found = []
    for threads in (1, 3):
        set_threads(threads)
        found.append(Ridge(penalty=1.0).fit(open_coded(tmp_path / "t.parquet", options)))
    set_threads(None)
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)
    np.testing.assert_allclose(found[0].coef_, held.coef_, rtol=0, atol=1e-9 * np.abs(held.coef_).max())
    save(held, tmp_path / "m.adaline")
    again = load(tmp_path / "m.adaline")
    assert repr(again.coding_) == repr(held.coding_)
    np.testing.assert_array_equal(again.predict(frame), held.predict(frame))
    np.testing.assert_array_equal(again.predict(open_table(tmp_path / "t.parquet")), held.predict(frame))
    if {"hashed", "words"} & options.keys():
        with pytest.raises(InvalidType, match="no form outside adaline"):
            export_onnx(held, tmp_path / "m.onnx")
    if "tfidf" in str(options):  # rarities are learned from rows, whatever their weights
        return
    times = frame["times"].astype(int)
    weighted = Ridge(penalty=1.0).fit(open_coded(frame, options, weight="times"))
    repeated = Ridge(penalty=1.0).fit(open_coded(frame.loc[frame.index.repeat(times)], options))
    np.testing.assert_allclose(weighted.predict(frame), repeated.predict(frame), rtol=0, atol=1e-7)


def test_a_classifier_learns_what_it_learns_from_sparse_arrays(frame: pd.DataFrame) -> None:
    options = SPARSE["many levels"]
    source = open_coded(frame, options, "kind")
    x = rows(source.encoded(source.find_labels()))
    table = LogisticRegression(penalty=1.0).fit(source)
    array = LogisticRegression(penalty=1.0).fit(x, frame["kind"])
    np.testing.assert_allclose(table.coef_, array.coef_, atol=1e-7)
    encoder = OneHotEncoder(drop="first").fit(frame[["user"]])
    assert same(scipy.sparse.csr_matrix(x[:, : x.shape[1] - 1]), encoder.transform(frame[["user"]]).tocsr())


@pytest.mark.parametrize(
    ("options", "peer"),
    [
        ({}, CountVectorizer()),
        ({"weighting": "binary", "ngrams": 3, "least": 2}, CountVectorizer(binary=True, ngram_range=(1, 3), min_df=2)),
        ({"weighting": "tfidf"}, TfidfVectorizer()),
    ],
)
def test_words_are_those_of_scikit_learn(frame: pd.DataFrame, options: dict[str, Any], peer: Any) -> None:
    source = open_table(frame, target="y", features=["title"], words={"title": options})
    expected = peer.fit_transform(frame["title"])
    np.testing.assert_allclose(rows(source).toarray(), expected.toarray(), rtol=1e-13)
    assert list(source.names) == [f"title[{word}]" for word in peer.get_feature_names_out()]


def test_a_value_is_hashed_as_documented(frame: pd.DataFrame) -> None:
    x = rows(open_table(frame, target="y", features=["user", "number"], hashed={"user": 2**10, "number": 2**6}))
    for name, base, width in (("user", 0, 2**10), ("number", 2**10, 2**6)):
        seed = xxh64(name.encode(), 0)
        for i, value in enumerate(frame[name][:50]):
            found = xxh64(str(value).encode(), seed)
            assert x[i, base + found % width] == (-1 if found >> 63 else 1)
    product = rows(open_table(frame, formula="y ~ user:city", hashed={"user": 2**10}))
    parts = [xxh64(frame[name][0].encode(), xxh64(name.encode(), 0)).to_bytes(8, "little") for name in ("user", "city")]
    found = xxh64(b"".join(parts), 0)
    assert product.shape[1] == 2**10
    assert product[0, found % 2**10] == (-1 if found >> 63 else 1)


def test_the_command_line_hashes_and_counts_words(frame: pd.DataFrame, tmp_path: Path, capsys: Any) -> None:
    data, model = tmp_path / "t.parquet", tmp_path / "m.adaline"
    frame.assign(number=frame["number"] + 2**60).to_parquet(data)
    options = ["--hash", "user=2^6,number=2^5", "--words", "title=tfidf", "-s", "Ridge", "--set", "penalty=1.0"]
    assert main(["fit", str(data), "-t", "y", "--features", "user,number,title", *options, "-o", str(model)]) == 0
    capsys.readouterr()
    assert main(["predict", str(model), str(data)]) == 0
    shown = pd.read_csv(io.StringIO(capsys.readouterr().out), float_precision="round_trip")
    np.testing.assert_array_equal(shown["prediction"], load(model).predict(open_table(data)))


def test_coefficients_come_by_name(frame: pd.DataFrame) -> None:
    model = Ridge(penalty=1.0).fit(open_coded(frame, {"features": ["user", "city"], "categories": ["user"]}))
    found = model.coefficients(5)
    sizes = [abs(row["coefficient"]) for row in found.rows]
    assert sizes == sorted(sizes, reverse=True)
    assert found.count == len(model.coef_) == 61
    names = model.feature_names_in_.tolist()
    assert all(model.coef_[names.index(row["name"])] == row["coefficient"] for row in found.rows)
    model = Ridge(penalty=1.0).fit(open_coded(frame, {"features": ["user", "city"], "hashed": {"user": 2**6}}))
    found = model.coefficients(3)
    first = found.rows[0]
    bucket = int(first["name"].removeprefix("user[#").removesuffix("]"))
    seed = xxh64(b"user", 0)
    assert all(xxh64(level.encode(), seed) % 2**6 == bucket for level in first["levels"])
    assert found.collisions["user"] == pytest.approx(expected_collisions(60, 64))
    assert first["name"] in str(found)
    assert found.to_frame()["name"].tolist()[0] == first["name"]


def test_levels_and_words_that_are_new(frame: pd.DataFrame) -> None:
    new = frame.head(3).assign(user=["u1", "nobody", "u2"], title=["unheard of", "red", "red red"])
    for options in (SPARSE["hashed"], SPARSE["words"], SPARSE["hashed words"]):
        assert np.isfinite(Ridge(penalty=1.0).fit(open_coded(frame, options)).predict(new)).all()
    with pytest.raises(InvalidData, match="has the level 'nobody' at row 1"):
        Ridge(penalty=1.0).fit(open_coded(frame, SPARSE["many levels"])).predict(new)
    model = Ridge(penalty=1.0).fit(open_coded(frame, SPARSE["many levels"], unseen="other"))
    (column,) = [one for one in model.coding_.columns if one.is_category]
    average = np.array(column.share[1:]) @ model.coef_[:-1]
    found = model.predict(new)[1] - model.intercept_ - model.coef_[-1] * new["age"].iloc[1]
    assert found == pytest.approx(average, abs=1e-12)


@pytest.mark.parametrize("formula", ["y ~ user:city", "y ~ user:poly(age, 2)"])
def test_a_prediction_does_not_depend_on_the_other_rows_of_its_block(frame: pd.DataFrame, formula: str) -> None:
    new = frame.head(4).assign(user=["u1", "nobody", "u2", "nobody"], city=["Bern", "Oslo", "Paris", "Paris"])
    model = Ridge(penalty=1.0).fit(open_table(frame.head(100), formula=formula, unseen="other"))
    coded = model.coding_.code(nw.from_native(new))
    assert scipy.sparse.issparse(coded)
    assert coded.has_canonical_format
    each = [model.predict(new.iloc[[i]])[0] for i in range(len(new))]
    np.testing.assert_allclose(model.predict(new), each, rtol=1e-12)


def test_missing_ids_and_texts(frame: pd.DataFrame) -> None:
    gaps = frame.assign(
        user=frame["user"].where(frame.index % 7 != 3), title=frame["title"].where(frame.index % 5 != 3)
    )
    options = {"features": ["user", "title", "age"], "hashed": {"user": 2**9}, "words": ["title"]}
    with pytest.raises(MissingValues, match="missing values in column"):
        open_coded(gaps, options)
    assert rows(open_coded(gaps, options, missing="drop")).shape[0] == gaps[["user", "title"]].notna().all(axis=1).sum()
    filled, marked = (rows(open_coded(gaps, options, missing=how)) for how in ("mean", "indicator"))
    assert not filled[3].nnz - 1
    assert marked[3].nnz == 2
    assert marked[3, xxh64(b"(missing)", xxh64(b"user", 0)) % 2**9] != 0


def test_too_many_levels_and_words_are_refused(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding_module, "MOST_KEPT", 50)
    with pytest.raises(InvalidData, match=r"more than 50 different values.*hashed=\{'user': 2\*\*20\}"):
        open_coded(frame, SPARSE["many levels"])
    assert open_coded(frame, SPARSE["hashed"]).sparse
    monkeypatch.setattr(summary_module, "MOST_WORDS", 3)
    with pytest.raises(InvalidData, match="different words: set a larger least=, or hash them"):
        open_coded(frame, SPARSE["words"])


def test_prose_is_refused_and_levels_that_recur_are_not() -> None:
    n = columns_module.MOST_LEVELS + 500
    ids = [f"id{k}" for k in range(n)]
    y = np.arange(float(10 * n))
    assert open_table({"id": ids * 10, "y": y}, target="y").sparse
    with pytest.raises(InvalidData, match=r"different texts: text, not a category.*in hashed=.*in words="):
        open_table({"id": ids * 9 + [f"new{k}" for k in range(n)], "y": y}, target="y")


def test_texts_of_a_slice_are_told_by_their_own_bytes() -> None:
    some = Texts.of_column(pa.array(["naïve", "red cat", "dog"])[1:])
    assert some.to_list() == ["red cat", "dog"]
    assert some._in_ascii() is some  # so that they are not decoded one by one
