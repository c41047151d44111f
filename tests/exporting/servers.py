"""Engines that take seconds to start, for `make night`: PostgreSQL, Spark, and C by another compiler."""

from __future__ import annotations

import atexit
import csv
import importlib.util
import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adaline.exporting import export, expression
from adaline.exporting.prediction import opened
from tests.exporting.engines import Found, plain, records, run_c

SMALLEST_LABEL = np.iinfo(np.int64).min  # of rows that a graph refuses
LARGEST, SMALLEST = 1e90, 1e-90  # beyond which PostgreSQL ends a query, as powers overflow, or vanish


def run_clang(model: Any, frame: pd.DataFrame, folder: Path) -> Found:
    return run_c(model, frame, folder, "clang")


def outputs_of(model: Any) -> list[Any]:
    return list(expression(model).outputs)


def postgres_programs() -> Path | None:
    """Return the folder with PostgreSQL's programs."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders else None


@cache
def postgres() -> Callable[[str], str]:
    """Start a server on a socket in a temporary folder; return what runs a script and gives what it printed."""
    programs = postgres_programs()
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    root = os.geteuid() == 0  # whom PostgreSQL refuses
    if root:
        shutil.chown(folder, "postgres")

    def program(*words: str, given: str | None = None) -> str:
        before = ["runuser", "-u", "postgres", "--"] if root else []
        done = subprocess.run([*before, *words], input=given, capture_output=True, text=True, cwd=folder, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    data = str(folder / "data")
    program(str(programs / "initdb"), "-D", data, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
    options = f"-k {folder} -c listen_addresses= -c fsync=off"
    program(str(programs / "pg_ctl"), "-D", data, "-o", options, "-l", str(folder / "log"), "-w", "start")
    atexit.register(lambda: program(str(programs / "pg_ctl"), "-D", data, "-m", "immediate", "stop"))
    head = ["psql", "-X", "-q", "-h", str(folder), "-d", "postgres", "-v", "ON_ERROR_STOP=1", "--csv", "-t", "-f", "-"]
    return lambda script: program(*head, given=script)


def without_overflow(frame: pd.DataFrame) -> pd.Index[Any]:
    """Return the index of the rows none of whose numbers may overflow or vanish in products."""
    size = frame.select_dtypes("number").abs()
    return frame.index[~(((size > LARGEST) & (size < np.inf)) | ((size > 0) & (size < SMALLEST))).any(axis=1)]


def run_postgres(model: Any, frame: pd.DataFrame, folder: Path) -> Found:
    text = export(model, to="sql", dialect="postgres", table="t", keep=["row "], outputs=outputs_of(model))
    types = {"f": "double precision", "i": "double precision", "b": "boolean", "M": "timestamp"}
    kinds = [types.get(frame[name].dtype.kind, _of_objects(frame[name])) for name in frame.columns]
    quoted = ['"' + name.replace('"', '""') + '"' for name in frame.columns]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(quoted, kinds, strict=True))
    rows = [
        f"({i}, {', '.join(map(_postgres_value, row.values()))})" for i, row in enumerate(records(frame, days=False))
    ]
    head = f'CREATE TEMP TABLE t ("row " integer, {columns});\nINSERT INTO t VALUES {", ".join(rows)};\n'
    printed = list(csv.reader(io.StringIO(postgres()(head + "\\pset null '\u2400'\n" + text + ";\n"))))
    out: Found = {name: [None] * len(frame) for names in expression(model).outputs.values() for name in names}
    for index, *values in printed:
        for name, value in zip(out, values, strict=True):
            out[name][int(index)] = _read(value, name, model)
    return out


def _of_objects(values: pd.Series[Any]) -> str:
    return "boolean" if all(isinstance(one, bool) for one in values.dropna()) else "text"


def _postgres_value(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value)
    text = str(value)
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _read(text: str, name: str, model: Any) -> Any:
    if text == "\u2400":
        return None
    if name == "prediction" and hasattr(model, "classes_"):
        return {str(plain(one)): plain(one) for one in model.classes_}[{"t": "True", "f": "False"}.get(text, text)]
    return float(text)


@cache
def spark() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    return builder.config("spark.sql.ansi.enabled", "false").getOrCreate()


def run_spark(model: Any, frame: pd.DataFrame, folder: Path) -> Found:
    from pyspark.sql import types

    kinds = {"f": types.DoubleType, "i": types.LongType, "b": types.BooleanType, "M": types.TimestampType}
    fields = [types.StructField(name, kinds.get(frame[name].dtype.kind, types.StringType)()) for name in frame.columns]
    rows = [
        tuple(one.to_pydatetime() if isinstance(one, pd.Timestamp) else one for one in row.values())
        for row in records(frame, days=False)
    ]
    spark().createDataFrame(rows, types.StructType(fields)).createOrReplaceTempView("t")
    found = spark().sql(export(model, to="sql", dialect="spark", table="t", outputs=outputs_of(model)))
    collected = found.collect()
    return {name: [plain(row[k]) for row in collected] for k, name in enumerate(found.columns)}


def run_onnx(model: Any, frame: pd.DataFrame, folder: Path) -> Found:
    """Run the graph in onnxruntime, row by row where an unknown level is an error of a batch."""
    import onnxruntime

    export(model, folder / "m.onnx")
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(folder / "m.onnx", options, providers=["CPUExecutionProvider"])
    rows = pd.DataFrame(records(frame), columns=frame.columns, dtype=object)
    given: dict[str, Any] = {}
    for one in session.get_inputs():
        if one.name == "X":
            given["X"] = rows[list(opened(model).names)].to_numpy(dtype=np.float64)
            continue
        name = one.name if one.name in rows else one.name.removesuffix("_")
        values = rows[name].tolist()
        if one.type == "tensor(string)":
            texts = ["" if v is None else str(v).strip() or "(none)" for v in values]  # as ONNX takes them
            given[one.name] = np.array(texts, dtype=object)[:, None]
        else:
            given[one.name] = np.array([np.nan if v is None else float(v) for v in values])[:, None]
    keys = expression(model).outputs
    out: Found = {key: [None] * len(frame) for names in keys.values() for key in names}
    parts = [(0, len(frame))]
    while parts:
        low, high = parts.pop()
        try:
            found = session.run(None, {name: values[low:high] for name, values in given.items()})
        except Exception:  # an error of its own kind
            if high - low > 1:
                parts += [(low, (low + high) // 2), ((low + high) // 2, high)]
            continue
        for one, values in zip(session.get_outputs(), found, strict=True):
            group = "prediction" if one.name == "label" else one.name
            if group not in keys:  # a projection
                continue
            for key, column in zip(keys[group], values.reshape(high - low, -1).T, strict=True):
                out[key][low:high] = [None if v in ("", SMALLEST_LABEL) else plain(v) for v in column.tolist()]
    return out


SERVERS: dict[str, Callable[[Any, pd.DataFrame, Path], Found]] = {
    "postgres": run_postgres,
    "clang": run_clang,
    "spark": run_spark,
    "onnx": run_onnx,
}


def has_server(engine: str) -> bool:
    """Whether an engine is installed."""
    if engine == "postgres":
        return postgres_programs() is not None and shutil.which("psql") is not None
    if engine == "spark":
        return shutil.which("java") is not None and importlib.util.find_spec("pyspark") is not None
    if engine == "onnx":
        return importlib.util.find_spec("onnx") is not None and importlib.util.find_spec("onnxruntime") is not None
    return shutil.which(engine) is not None
