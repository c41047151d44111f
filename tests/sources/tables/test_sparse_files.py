"""Files of sparse rows: what LIBSVM and VW text means, and that systems learn from them as from CSR matrices."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from adaline import cli, compare, open_table, storage
from adaline.errors import AdalineError, InvalidData, InvalidParameter, InvalidType, UnreadableTable
from adaline.input import columns as columns_module
from adaline.sources import set_threads
from adaline.sources.tables import sparse_files
from adaline.sources.tables.sparse_lines import MalformedLine, parse_lines, parse_reference
from adaline.sums import Spread
from adaline.systems import SYSTEMS

SPARSE = [
    name
    for name, cls in SYSTEMS.items()
    if name not in ("OneVsRest", "OneVsOne") and cls().__sklearn_tags__().input_tags.sparse
]
SETTINGS: dict[str, dict[str, Any]] = {
    "GeneralizedLinear": {"penalty": 0.1},
    "LogisticRegression": {"penalty": 0.1},
    "ElasticNet": {"penalty": 0.1},
}


def rows(n: int = 120, d: int = 6) -> tuple[Any, Any]:
    """Sparse rows in which every column has entries, with labels -1 and 1 that overlap."""
    rng = np.random.default_rng(3)
    x = np.where(rng.random((n, d)) < 0.6, 0.0, np.round(rng.normal(size=(n, d)), 3))
    return sparse.csr_matrix(x), np.where(x @ rng.normal(size=d) + rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    x, y = rows()
    dump_svmlight_file(x, y, str(tmp_path / "rows.libsvm"), zero_based=False)
    return tmp_path / "rows.libsvm"


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is streamed, in pieces of some lines."""
    monkeypatch.setattr(sparse_files, "KEPT", 0)
    monkeypatch.setattr(sparse_files, "PIECE", 400)


def written(folder: Path, text: str | bytes, name: str = "rows.libsvm") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def made(name: str) -> Any:
    """A system that takes rows in their order."""
    known = SYSTEMS[name]().get_params()
    own = {"shuffle": False, "random_state": 0, "epochs": 10}
    return SYSTEMS[name](**SETTINGS.get(name, {}), **{key: value for key, value in own.items() if key in known})


def answers(model: Any, X: Any) -> Any:
    return np.asarray(getattr(model, "decision_function", model.predict)(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SPARSE)
def test_a_system_learns_from_a_file_as_from_the_matrix_of_scikit_learn(
    name: str, file: Path, request: pytest.FixtureRequest
) -> None:
    x, y = load_svmlight_file(str(file))
    target = () if not hasattr(SYSTEMS[name], "score") or name == "KMeans" else (y,)
    expected = answers(made(name).fit(x, *target), x)
    source = open_table(file)
    model = made(name).fit(source)
    for X in (x, source):
        np.testing.assert_allclose(answers(model, X), expected, rtol=1e-12, atol=1e-12)
    request.getfixturevalue("streamed")
    source = open_table(file)
    assert source.streamed
    assert sum(1 for _ in source.blocks()) > 3
    models = []
    for threads in (1, 2):
        set_threads(threads)
        models.append(made(name).fit(source))
    if name != "Pocket":  # which draws rows at random, of a stream within blocks
        np.testing.assert_allclose(answers(models[0], x), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(answers(models[1], x), answers(models[0], x))
    np.testing.assert_allclose(answers(models[0], source), answers(models[0], x), rtol=1e-12, atol=1e-12)


LIBSVM = [
    b"1 1:0.5 3:-2e-3\n-1 2:1\n",
    b"\xef\xbb\xbf1 1:1\r\n\r\n# a comment\n+1\t2:.5 # another 5:1\r\n0\n",
    b"1 qid:7 1:1 2:1.\n2.5 1:1e-400 2:0.1234567890123456789012 3:123456789012345678901234567890\n3 1:4.9e-324",
    b"1 0:1 268435456:1.7976931348623157e308\n",
]
VW = [
    b"1 |a x y:2 |b:0.5 x:3 'z\n-1 2 tag| x\n",
    b"0.5 1e1 0.25 'tag |user ann |item book:1.5 pen\r\n\r\n| plain\n",
    b"|a x|b y\t z \n1 |a x x x:0.25 |c\n1 2 3|\xc3\xa9 \xff:2\n1 |:2 x",
]


@pytest.mark.parametrize(("text", "width"), [*((t, None) for t in LIBSVM), *((t, w) for t in VW for w in (4, 2**20))])
def test_the_parser_gives_what_its_reference_gives(text: bytes, width: int | None, tmp_path: Path) -> None:
    plain = text.removeprefix(b"\xef\xbb\xbf")
    for found, expected in zip(parse_lines(plain, width), parse_reference(plain, width), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    if width is None:
        source = open_table(written(tmp_path, text))
        x, y = load_svmlight_file(str(written(tmp_path, plain, "plain.libsvm")))
        assert source.shape.features == x.shape[1]
        assert (source.x != x).nnz == 0
        np.testing.assert_array_equal(source.read_targets()[:, 0], y)


def test_numbers_are_rounded_as_python_rounds_them() -> None:
    rng = np.random.default_rng(0)
    words = [
        f"{m}{e}"
        for m in ("1", "9.5", "0.3", "12345678901234567", "8.5070591730234615")
        for e in ("e22", "e-23", "e290", "e-310", "")
    ]
    words += [repr(v) for v in rng.integers(0, 2**63, 2000).view(np.float64).tolist() if np.isfinite(v)]
    found = parse_lines(" ".join(["1", *(f"{j}:{word}" for j, word in enumerate(words))]).encode())
    np.testing.assert_array_equal(found.data, [float(word) for word in words])


MALFORMED = [
    (b"1 1:1\n1,2 1:1\n", r"line 2: it has several labels, '1,2'"),
    (b"one 1:1\n", r"line 1: the label 'one' is not a finite number"),
    (b"1 1:1\n\n# c\n1 3:1 2:1\n", r"line 4: index 2 follows 3"),
    (b"1 2:1 2:1\n", r"line 1: index 2 follows 2"),
    (b"1 1:nan\n", r"line 1: the value of index 1, 'nan' is not a finite number"),
    *((b"1 1:" + word + b"\n", "line 1: .* is not a finite number") for word in (b"inf", b"1e999", b"1_0")),
    (b"1 -1:1\n", r"line 1: '-1:1' is no entry"),
    (b"1 99999999999999999999:1\n", r"line 1: index '99999999999999999999' is beyond 268,435,456"),
    (b"1 1:1\n1 2:\0\n", r"line 2: it has a NUL byte"),
    (b"1 1:1\n1 \xff:2\n", r"line 2: .*\\xff:2' is no entry"),
    (b"1 1:1\n1 2:", r"line 2: the value of index 2, '' is not"),
    (b"1 1:1 5\n", r"line 1: '5' is no entry"),
    (b"1 1:1 qid:3\n", r"line 1: 'qid:3' is no entry"),
    *((text, "has no rows") for text in (b"\n# nothing\n", b"", b"\xef\xbb\xbf")),
    ("1 1:1\n".encode("utf-16"), "line 1: it has a NUL byte"),
]
MALFORMED_VW = [
    (b"\r\n", "has no rows"),
    (b"1 |a x\n1 x\n", r"line 2: it has no bar"),
    (b"yes |a x\n", r"line 1: the label 'yes' is not"),
    (b"1:0.5:1 |a x\n", "line 1: the label '1:0.5:1' is not"),
    (b"1 2 3 4 |a x\n", "line 1: .*more than label, importance and base"),
    (b"'t 1 |a x\n", 'line 1: the label "\'t" is not'),
    (b"1 |a x:y\n", "line 1: the value in 'x:y', 'y' is not"),
    (b"1 |a x:nan\n", "line 1: .*is not a finite number"),
    (b"1 |a http://x\n", "line 1: .*'//x' is not a finite number"),
    (b"1 |a :3\n", "line 1: .*':3' has no name"),
    (b"1 |a:b x\n", "line 1: .*'b' is not a finite number"),
    (b"1 |a:1e300 x:1e300\n", "line 1: .*overflows"),
    (b"1 |a x\0\n", "line 1: it has a NUL byte"),
    (b"1 -2 |a x\n", ".vw, line 1: the importance is -2"),
    (b"1 0 |a x\n", "the importance is zero in all rows"),
]


@pytest.mark.parametrize(
    ("name", "text", "match"), [*(("t.svm", *one) for one in MALFORMED), *(("t.vw", *one) for one in MALFORMED_VW)]
)
def test_a_malformed_file_is_refused_by_its_line(tmp_path: Path, name: str, text: bytes, match: str) -> None:
    with pytest.raises(AdalineError, match=match) as caught:
        open_table(written(tmp_path, text, name))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    if match.startswith("line") and b"\0" not in text:
        with pytest.raises(MalformedLine):
            parse_reference(text, None if name == "t.svm" else 8)


def test_a_line_may_be_long_but_not_endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "1 " + " ".join(f"{j}:1" for j in range(1, 400)) + "\n"
    monkeypatch.setattr(sparse_files, "PIECE", 64)
    monkeypatch.setattr(sparse_files, "WINDOW", 32)
    assert open_table(written(tmp_path, 3 * text)).x.shape == (3, 399)
    monkeypatch.setattr(sparse_files, "LONGEST", 1000)
    with pytest.raises(UnreadableTable, match="has a line of more than 1000 bytes"):
        open_table(written(tmp_path, 3 * text))


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_compressed_files_are_unpacked_and_damaged_ones_refused(tmp_path: Path, file: Path, ending: str) -> None:
    import pyarrow as pa

    data = file.read_bytes()
    packed = gzip.compress(data) if ending == ".gz" else bytes(pa.compress(data, "zstd", asbytes=True))
    source = open_table(written(tmp_path, packed, f"packed.libsvm{ending}"))
    assert (source.x != open_table(file).x).nnz == 0
    with pytest.raises(UnreadableTable, match="cut short"):
        open_table(written(tmp_path, packed[:-20], f"packed.libsvm{ending}"))


@pytest.mark.parametrize(("text", "columns"), [("1 2:1\n-1 1:3\n", 2), ("1 |a x\n-1 'tag|b y\n", 2**18)])
def test_what_comes_through_standard_input_is_told_by_its_content(
    monkeypatch: pytest.MonkeyPatch, text: str, columns: int
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    source = open_table("-")
    assert source.shape == (columns, 1)
    assert source.read_targets()[:, 0].tolist() == [1, -1]


def test_indices_begin_at_zero_where_one_is_zero_and_at_one_elsewhere(tmp_path: Path) -> None:
    assert open_table(written(tmp_path, "1 1:1 3:1\n")).columns.names == ("x1", "x2", "x3")
    assert open_table(written(tmp_path, "1 0:1 3:1\n")).columns.names == ("x0", "x1", "x2", "x3")
    both = [written(tmp_path, "1 1:1\n", "a.svm"), written(tmp_path, "2 0:5\n", "b.svmlight")]
    assert open_table(both).x.toarray().tolist() == [[0, 1], [5, 0]]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_a_model_reads_other_files_in_its_own_columns(
    tmp_path: Path, large: bool, wide: bool, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if large:
        request.getfixturevalue("streamed")
    if wide:  # of so many columns no names are kept
        monkeypatch.setattr(sparse_files, "NAMED", 2)
        monkeypatch.setattr(columns_module, "NAMED", 2)
    text = "".join(f"{a} 0:{a} 2:{b}\n" for a, b in [(1, 2), (2, 1), (3, 5), (5, 4), (4, 4)])
    model = SYSTEMS["LinearRegression"]().fit(open_table(written(tmp_path, text)))
    assert hasattr(model, "feature_names_in_") != wide
    assert {row["name"] for row in model.coefficients().rows} == {"x0", "x1", "x2"}
    storage.save(model, tmp_path / "model.adaline")
    model = storage.load(tmp_path / "model.adaline")
    other = written(tmp_path, "0 1:7\n0 2:1\n0\n", "other.libsvm")  # which alone would begin at 1
    x = np.array([[0, 7, 0], [0, 0, 1], [0, 0, 0]], dtype=float)
    np.testing.assert_allclose(model.predict(open_table(other)), x @ model.coef_ + model.intercept_)
    wider = written(tmp_path, "0 1:7\n0 3:1\n", "wider.libsvm")
    with pytest.raises(InvalidData, match=r", line 2: index 3, and the model knows 0 to 2; .*unseen='other'"):
        model.predict(open_table(wider))
    found = model.predict(open_table(wider, unseen="other"))
    np.testing.assert_allclose(found, [x[0] @ model.coef_ + model.intercept_, model.intercept_])
    named = SYSTEMS["LinearRegression"]().fit(open_table({"a": [1.0, 2, 3, 5], "y": [1.0, 2, 4, 4]}, target="y"))
    with pytest.raises(InvalidData, match="has indices for columns, and the model was fitted to 'a'"):
        named.predict(open_table(other))


def test_a_changed_file_is_refused(tmp_path: Path, streamed: None) -> None:
    path = written(tmp_path, "1 1:1\n2 1:3\n")
    source = open_table(path)
    path.write_text("1 1:1\n")
    with pytest.raises(UnreadableTable, match="changed since it was opened"):
        SYSTEMS["LinearRegression"]().fit(source)


def test_a_file_that_is_cut_short_while_it_is_opened_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch, streamed: None
) -> None:
    monkeypatch.setattr(sparse_files, "_bytes", lambda path, start, stop: b"")
    with pytest.raises(UnreadableTable, match="has changed while it was read"):
        open_table(file)


def test_wide_files_are_read_piece_by_piece_and_summed_by_many_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streamed: None
) -> None:
    source = open_table(written(tmp_path, "".join(f"{i % 2} |a n{i}:0.5 m\n" for i in range(400)), "wide.vw"))
    assert source.files is not None
    pieces, parsed, zeros = len(source.files.pieces), [], []
    parse, zero = sparse_files.parse_lines, Spread.zero
    monkeypatch.setattr(sparse_files, "parse_lines", lambda *given: parsed.append(1) or parse(*given))
    monkeypatch.setattr(Spread, "zero", lambda *given, **config: zeros.append(1) or zero(*given, **config))
    set_threads(2)
    blocks = source.runner.in_order(source)
    next(blocks)
    assert len(parsed) <= 3 < pieces  # one at hand, two ahead
    blocks.close()
    source.sum(Spread)
    assert len(zeros) > min(pieces, 8)
    set_threads(None)


@pytest.mark.parametrize("option", ["target=y", "formula=y ~ x", "weight=w", "table=t", "absorb=g", "singletons=drop"])
def test_options_that_a_file_answers_itself_are_refused(file: Path, option: str) -> None:
    name, _, value = option.partition("=")
    with pytest.raises(InvalidParameter, match=f"leave {name}= out"):
        open_table(file, **{name: value})


VW_ROWS = "1 2 |user ann |price x:0.5\n-1 |user bob |price x:1.5\n1 |user ann |price x:1\n-1 |user eve |price x:2\n"


@pytest.mark.parametrize("large", [False, True])
def test_vw_importance_is_the_weight_and_base_the_offset(
    tmp_path: Path, large: bool, request: pytest.FixtureRequest
) -> None:
    if large:
        request.getfixturevalue("streamed")
    source = open_table(written(tmp_path, VW_ROWS, "clicks.vw"), hashed=16)
    assert source.shape == (16, 1)
    assert source.read_weights().tolist() == [2, 1, 1, 1]
    model = SYSTEMS["LogisticRegression"](penalty=1.0).fit(source)
    x, y = sparse.vstack([block.x for block in source.blocks()]).tocsr(), source.read_targets()[:, 0]
    expected = SYSTEMS["LogisticRegression"](penalty=1.0).fit(x, y, sample_weight=[2, 1, 1, 1])
    np.testing.assert_allclose(model.predict_proba(source), expected.predict_proba(x), rtol=1e-7)
    unlabelled = open_table(written(tmp_path, "|user ann |price x:0.5\n", "new.vw"))  # by the model's own width
    np.testing.assert_allclose(model.predict_proba(unlabelled), expected.predict_proba(x[:1]), rtol=1e-7)
    storage.save(model, tmp_path / "model.adaline")
    for one in (model, storage.load(tmp_path / "model.adaline")):
        with pytest.raises(InvalidData, match="has indices for columns, and the model was fitted to hashed names"):
            one.predict(open_table(written(tmp_path, "1 1:1 16:1\n")))
    with pytest.raises(InvalidData, match=r"requires y: .*new.vw, line 1 has no label"):
        SYSTEMS["LogisticRegression"]().fit(unlabelled)
    based = open_table(written(tmp_path, "3 1 0.5 |a x:1\n5 1 1 |a x:2\n6 1 |a x:3\n", "based.vw"), hashed=2)
    with pytest.raises(InvalidParameter, match="takes no offset"):
        SYSTEMS["LinearRegression"]().fit(based)
    poisson = SYSTEMS["GeneralizedLinear"](loss="poisson", penalty=0.1)
    x, t = sparse.vstack([block.x for block in based.blocks()]).tocsr(), based.read_targets()
    offset = poisson.fit(x, t[:, 0], offset=t[:, 1]).predict(x, offset=t[:, 1])
    np.testing.assert_allclose(poisson.fit(based).predict(based), offset, rtol=1e-7)


@pytest.mark.parametrize("name", ["WienerFilter", "AdaptiveFilter"])
def test_filters_refuse_sparse_files(tmp_path: Path, name: str) -> None:
    source, x = open_table(written(tmp_path, "1 1:1 3:2\n2 2:1\n" * 9)), np.random.default_rng(0).normal(size=(20, 3))
    fitted = SYSTEMS[name]().fit(x, x[:, 0])
    for act in (SYSTEMS[name]().fit, SYSTEMS[name]().partial_fit, fitted.predict, fitted.score):
        with pytest.raises(InvalidType, match=f"sparse rows: {name} takes signals"):
            act(source)


@pytest.mark.parametrize("width", [3, 1, 2**40, "user", 2.0])
def test_names_are_hashed_to_a_power_of_two(tmp_path: Path, width: Any) -> None:
    with pytest.raises(InvalidParameter, match="hashed must be a power of two"):
        open_table(written(tmp_path, VW_ROWS, "clicks.vw"), hashed=width)


@pytest.mark.parametrize(("given", "columns"), [("2^4", 16), ("32", 32), ("user", 0), ("user=2^4", 0)])
def test_the_command_line_takes_the_number_of_columns_of_a_vw_file(
    tmp_path: Path, given: str, columns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    data, saved = written(tmp_path, VW_ROWS, "clicks.vw"), tmp_path / "model.adaline"
    fit = ["fit", str(data), "--hash", given, "--system", "LogisticRegression", "--set", "penalty=1", "-o", str(saved)]
    assert cli.main(fit) == (0 if columns else 2)
    if columns:
        assert storage.load(saved).n_features_in_ == columns
    else:
        assert "a number of columns is 1048576 or 2^20, not 'user'" in capsys.readouterr().err


def test_the_command_line_fits_and_predicts_sparse_files(
    tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved, out = tmp_path / "model.adaline", tmp_path / "out.csv"
    fit = ["fit", str(file), "--system", "LogisticRegression", "--set", "penalty=0.1", "-o", str(saved), "--json"]
    assert cli.main(fit) == 0
    assert json.loads(capsys.readouterr().out)["training"]["accuracy"] > 0.5
    assert cli.main(["predict", str(saved), str(file), "--proba", "--strict", "-o", str(out)]) == 0
    model, source = storage.load(saved), open_table(file)
    found = np.loadtxt(out, delimiter=",", skiprows=1)  # label, prediction, probability of each class
    np.testing.assert_array_equal(found[:, 0], source.read_targets()[:, 0])
    np.testing.assert_array_equal(found[:, 1], model.predict(source))
    np.testing.assert_allclose(found[:, 2:], model.predict_proba(source))
    assert cli.main(["score", str(saved), str(file)]) == 0
    capsys.readouterr()
    assert cli.main(["compare", str(file)]) == 2
    assert "sparse rows" in capsys.readouterr().err
    with pytest.raises(InvalidParameter, match="adaline fit"):
        compare(str(file))
