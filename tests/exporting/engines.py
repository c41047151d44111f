"""The languages of `adaline.export` run for real: rows go in, predictions come out."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adaline.exporting import Prediction, export, expression
from adaline.exporting.program import inputs_of

Found = dict[str, list[Any]]
"""Of each output of a prediction, as "probability_a", the values of all rows; None where the model refuses a row."""


def plain(value: Any) -> Any:
    """Return a value of a frame as Python has it; None where it is missing."""
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.item() if isinstance(value, np.generic) else value


def records(frame: pd.DataFrame, days: bool = True) -> list[dict[str, Any]]:
    """Return the rows of a frame as dicts, dates as days since 1970 unless they are left as they are."""
    if days:
        dates = frame.select_dtypes("datetime").columns
        frame = frame.assign(**{name: (frame[name] - pd.Timestamp(0)) / pd.Timedelta(days=1) for name in dates})
    columns = {name: [*map(plain, frame[name].tolist())] for name in frame.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def names(prediction: Prediction) -> dict[str, list[str]]:
    """Return the names of the outputs of each group."""
    return {group: list(found) for group, found in prediction.outputs.items()}


def flat(prediction: Prediction, results: list[dict[str, Any]]) -> Found:
    """Return results, a dict of groups for each row, by the names of outputs."""
    out: Found = {}
    for group, keys in names(prediction).items():
        for k, key in enumerate(keys):
            out[key] = [row[group] if len(keys) == 1 else row[group][k] for row in results]
    return out


def run_python(model: Any, frame: pd.DataFrame, folder: Path) -> Found:
    program: dict[str, Any] = {}
    exec(export(model, to="python"), program)
    return flat(expression(model), [program["predict"](row) for row in records(frame)])


def run_javascript(model: Any, frame: pd.DataFrame, folder: Path) -> Found:
    export(model, folder / "m.mjs")
    rows = [
        {k: "∞" if v == math.inf else "-∞" if v == -math.inf else v for k, v in row.items()} for row in records(frame)
    ]
    (folder / "rows.json").write_text(json.dumps(rows))
    (folder / "run.mjs").write_text(
        "import { readFileSync } from 'node:fs';\nimport { predict } from './m.mjs';\n"
        "const read = (k, v) => (v === '∞' ? Infinity : v === '-∞' ? -Infinity : v);\n"
        "const rows = JSON.parse(readFileSync(new URL('rows.json', import.meta.url)), read);\n"
        "console.log(JSON.stringify(rows.map(predict)));\n"
    )
    found = subprocess.run(["node", folder / "run.mjs"], capture_output=True, text=True, check=True, timeout=60)
    return flat(expression(model), json.loads(found.stdout))


def c_text(value: Any) -> str:
    """Return a value in an initialiser of C."""
    from adaline.exporting.c import c_string

    if value is None:
        return "NULL"
    return c_string(str(value))


def run_c(model: Any, frame: pd.DataFrame, folder: Path, compiler: str = "gcc") -> Found:
    """Compile the header with warnings as errors; numbers are given and printed as hexadecimal."""
    prediction = expression(model)
    (folder / "model.h").write_text(export(model, to="c", name="m"))
    inputs = inputs_of(prediction)
    rows = []
    for row in records(frame):
        values = []
        for one in inputs:
            value = row[one.name]
            values.append(c_text(value) if one.is_text else c_number(math.nan if value is None else float(value)))
        rows.append("{" + ", ".join(values or ["0"]) + "}")
    prints = []
    for group, keys in names(prediction).items():
        for k in range(len(keys)):
            at = f"{group}[{k}]" if len(keys) > 1 else group
            prints.append(f'printf("%a ", (double)out.{at});')
    (folder / "main.c").write_text(
        '#include <stdio.h>\n#include "model.h"\nint main(void) {\n'
        f"  static const m_row rows[] = {{{', '.join(rows)}}};\n"
        f"  for (size_t i = 0; i < {len(rows)}; ++i) {{\n    m_result out; m_predict(&rows[i], &out);\n    "
        + "\n    ".join(prints)
        + '\n    printf("\\n");\n  }\n  return 0;\n}\n'
    )
    strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run([compiler, *strict, "-o", folder / "m", folder / "main.c", "-lm"], check=True, timeout=300)
    printed = subprocess.run([folder / "m"], capture_output=True, text=True, check=True, timeout=60).stdout
    out: Found = {key: [] for keys in names(prediction).values() for key in keys}
    label = any("label" in _names_in(one) for one in prediction.prediction)
    for line in printed.splitlines():
        for key, value in zip(out, map(float.fromhex, line.split()), strict=True):
            if key == "prediction" and label:
                index = int(value)
                out[key].append(None if index < 0 else prediction.classes[index] if prediction.classes else index)
            else:
                out[key].append(None if math.isnan(value) else value)
    return out


def _names_in(one: Any) -> set[str]:
    return {one.name, *(part.name for part in one.arguments)}


def c_number(value: float) -> str:
    """Return a number in an initialiser of C."""
    return "NAN" if math.isnan(value) else ("-" if value < 0 else "") + "INFINITY" if math.isinf(value) else repr(value)


def run_sqlite(model: Any, frame: pd.DataFrame, folder: Path) -> Found:
    text = export(model, to="sql", dialect="sqlite", table="t", outputs=list(expression(model).outputs))
    with sqlite3.connect(":memory:") as connection:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.columns)
        connection.execute(f"CREATE TABLE t ({quoted or 'x'})")
        marks = ", ".join("?" * len(frame.columns))
        rows = [tuple(map(_sqlite_value, row.values())) for row in records(frame, days=False)]
        connection.executemany(f"INSERT INTO t VALUES ({marks})", rows)
        cursor = connection.execute(text)
        found = cursor.fetchall()
        return {one[0]: [row[k] for row in found] for k, one in enumerate(cursor.description)}


def _sqlite_value(value: Any) -> Any:
    return str(value) if hasattr(value, "isoformat") else value


def run_duckdb(model: Any, frame: pd.DataFrame, folder: Path) -> Found:
    import duckdb

    groups: Any = list(expression(model).outputs)
    text = export(model, to="sql", dialect="duckdb", table="rows of it", outputs=groups)
    with duckdb.connect() as connection:
        connection.register("rows of it", frame)
        cursor = connection.execute(text)
        columns = [one[0] for one in cursor.description]
        found = cursor.fetchall()
    return {name: [plain(row[k]) for row in found] for k, name in enumerate(columns)}


ENGINES: dict[str, Callable[[Any, pd.DataFrame, Path], Found]] = {
    "python": run_python,
    "javascript": run_javascript,
    "c": run_c,
    "duckdb": run_duckdb,
    "sqlite": run_sqlite,
}
NEEDS = {"javascript": "node", "c": "gcc"}


def is_there(engine: str) -> bool:
    """Whether the program that an engine needs is installed."""
    return engine not in NEEDS or shutil.which(NEEDS[engine]) is not None
