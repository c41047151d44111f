"""Exported predictions beside memory bandwidth, onnxruntime, scikit-learn, and a plain sum of columns in DuckDB."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import adaline
from benchmarks.problems import regression
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import race

COLUMNS = 20
NAMES = [f"x{j}" for j in range(COLUMNS)]
PROGRAM = """
#include <stdlib.h>
#include "model.h"
void predict(const double *rows, size_t count, double *out) { model_predict_rows((const model_row *)rows, count, out); }
void predict_columns(const double *first, size_t count, double *out) {
    model_columns columns;
    const double **each = (const double **)&columns;
    for (size_t k = 0; k < sizeof columns / sizeof *each; ++k) each[k] = first + k * count;
    model_predict_columns(&columns, count, out);
}
double total(const double *rows, size_t count) {
    double sums[16] = {0}, all = 0;
    for (size_t i = 0; i + 16 <= count; i += 16)
        for (int k = 0; k < 16; ++k) sums[k] += rows[i + k];
    for (int k = 0; k < 16; ++k) all += sums[k];
    return all;
}
"""
SUM = "a plain sum of all numbers in memory, C"


@benchmark("exports")
def exports(settings: Settings) -> Section:
    """C, ONNX and SQL of models with 20 columns."""
    rows = settings.rows(1_000_000)
    X, y = map(np.ascontiguousarray, regression(rows, COLUMNS))
    labels = (y > np.median(y)).astype(int)
    models = [adaline.LinearRegression().fit(X, y), adaline.LogisticRegression(penalty=1.0).fit(X, labels)]
    tables = [_programs(model, X, settings) for model in models]
    return Section("Exported models", _TEXT, [*tables, _database(models[0], settings)])


def _programs(model: Any, X: Any, settings: Settings) -> Table:
    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        by_rows, by_columns, total = _compiled(model, X, Path(folder))
        adaline.export(model, Path(folder) / "m.onnx")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(Path(folder) / "m.onnx", options, providers=["CPUExecutionProvider"])
        theirs, output = adaline.to_sklearn(model), session.get_outputs()[0].name
        turns: dict[str, Callable[[], Any]] = {
            "C, gcc -O3, rows": by_rows,
            "C, gcc -O3, columns": by_columns,
            SUM: total,
            "ONNX in onnxruntime": lambda: session.run([output], {"X": X}),
            "scikit-learn": lambda: theirs.predict(X),
            "adaline": lambda: model.predict(X),
        }
        found = race(turns, rounds=settings.rounds)
    base = found[SUM].seconds
    lines = [
        [name, seconds(one.seconds), f"{X.nbytes / one.seconds / 1e9:.1f} GB/s", ratio(one.seconds / base)]
        for name, one in found.items()
    ]
    name = f"{type(model).__name__}, {len(X):,} x {COLUMNS}, one thread in C and ONNX"
    return Table(name, ["", "time", "read", "times the plain sum"], lines)


def _compiled(model: Any, X: Any, folder: Path) -> tuple[Callable[[], Any], ...]:
    """Return calls of the exported program, of rows and of columns, and of the plain sum, over the same rows."""
    import ctypes

    adaline.export(model, folder / "model.h", outputs=["prediction"])
    (folder / "model.c").write_text(PROGRAM)
    command = ["gcc", "-std=c99", "-O3", "-march=native", "-shared", "-fPIC", "model.c", "-o", "model.so", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "model.so"))
    library.total.restype = ctypes.c_double
    out, columns, size = np.empty(len(X)), np.asfortranarray(X), ctypes.c_size_t

    def pointer(array: Any) -> Any:
        return ctypes.c_void_p(array.ctypes.data)

    return (
        lambda: library.predict(pointer(X), size(len(X)), pointer(out)),
        lambda: library.predict_columns(pointer(columns), size(len(X)), pointer(out)),
        lambda: library.total(pointer(X), size(X.size)),
    )


def _database(model: Any, settings: Settings) -> Table:
    import duckdb

    rows = settings.rows(10_000_000)
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {settings.threads}")
        random = ", ".join(f"random() AS {name}" for name in NAMES)
        connection.execute(f"CREATE TABLE t AS SELECT {random} FROM range({rows})")
        query = adaline.export(model, to="sql", dialect="duckdb", table="t")
        queries = {
            "the model": f"SELECT sum(prediction) FROM ({query})",
            "a plain sum of the columns": f"SELECT sum({' + '.join(NAMES)}) FROM t",
        }
        turns = {name: partial(_asked, connection, text) for name, text in queries.items()}
        found = race(turns, rounds=settings.rounds)
    base = found["a plain sum of the columns"].seconds
    lines = [[name, seconds(one.seconds), ratio(one.seconds / base)] for name, one in found.items()]
    return Table(f"DuckDB {duckdb.__version__}, {rows:,} x {COLUMNS}", ["", "time", "times the plain sum"], lines)


def _asked(connection: Any, query: str) -> Any:
    return connection.execute(query).fetchall()


_TEXT = """\
The prediction of a model with 20 columns, in the languages of `adaline.export`. C reads rows of doubles from memory,
or columns, and writes a prediction for each; beside it, the plain sum shows what memory gives. onnxruntime computes the
graph that `export_onnx` writes; scikit-learn's estimator is that of `to_sklearn`.
"""
