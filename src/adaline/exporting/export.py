"""`export`: a fitted model written in another language."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from adaline.errors import InvalidParameter
from adaline.exporting.c import CProgram
from adaline.exporting.dialects import SQLDialect
from adaline.exporting.javascript import JavaScriptProgram
from adaline.exporting.prediction import expression
from adaline.exporting.python import PythonProgram
from adaline.exporting.sql import Select
from adaline.fitted import AnyModel
from adaline.parameters import one_of
from adaline.storage.container import replacing

Destination = Literal["sql", "c", "javascript", "python", "onnx"]
Output = Literal["prediction", "score", "probability"]
PROGRAMS: dict[str, type[CProgram | JavaScriptProgram | PythonProgram]] = {
    "c": CProgram,
    "javascript": JavaScriptProgram,
    "python": PythonProgram,
}
ENDINGS = {
    ".sql": "sql",
    ".h": "c",
    ".c": "c",
    ".js": "javascript",
    ".mjs": "javascript",
    ".py": "python",
    ".onnx": "onnx",
}


def export(
    model: AnyModel,
    path: str | os.PathLike[str] | None = None,
    to: Destination | None = None,
    *,
    dialect: SQLDialect = "duckdb",
    table: str = "t",
    keep: Sequence[str] = (),
    outputs: Sequence[Output] | None = None,
    name: str = "model",
) -> str:
    """Write the prediction of a fitted model in another language; return the text.

    The text needs no adaline where it runs. It takes raw columns: categories, dates, gaps and formulas are part of it.
    What `predict` refuses, as a level that the fit did not see or a missing number, is NULL in SQL, NaN in C (the class
    -1), null in JavaScript and None in Python. Numbers agree with `predict` to rounding: sums are taken in the order of
    the columns, the constant last.

    Parameters
    ----------
    model : a fitted system.
    path : the file to write; None only returns the text. An existing file is replaced when the new one is complete.
    to : "sql", "c" (a header), "javascript" (a module), "python" (a module), or "onnx" (see `export_onnx`); by default
        by the ending of the path.
    dialect : of SQL: "duckdb", "postgres", "sqlite", "spark" or "bigquery".
    table : of SQL: the table that the SELECT reads; dots part it from its schema.
    keep : of SQL: columns that are selected as they are, such as a key.
    outputs : which of "prediction", "score" and "probability"; by default the prediction in SQL, and all elsewhere.
    name : of C: the beginning of all names in the header.

    Examples
    --------
    >>> from adaline import LinearRegression, export
    >>> model = LinearRegression().fit([[1.0], [2.0], [3.0]], [3.0, 5.0, 7.0])
    >>> print(export(model, to="sql", dialect="sqlite", table="scales"))  # doctest: +ELLIPSIS
    SELECT
      nullif(...) AS "prediction"
    FROM "scales"
    <BLANKLINE>
    >>> program = {}
    >>> exec(export(model, to="python"), program)
    >>> round(program["predict"]({"x0": 10.0})["prediction"], 9)
    21.0

    References
    ----------
    Lectures S0 to S4: a linear system is a formula, and any language that has + and * can compute it.
    """
    to = _destination(path, to)
    one_of(SQLDialect).check("dialect", dialect)
    if to == "onnx":
        if path is None:
            raise InvalidParameter("ONNX is a binary format: give a path")
        from adaline.exporting.onnx import export_onnx  # needs an optional package

        export_onnx(model, path)
        return ""
    wanted = _wanted(outputs, to)
    found = expression(model)
    if outputs is not None and (lacking := [one for one in wanted if one not in found.outputs]):
        raise InvalidParameter(f"{type(model).__name__} has no {lacking[0]}; there are: {', '.join(found.outputs)}")
    if to == "sql":
        text = Select(found, dialect, table, _kept(keep), wanted).text()
    else:
        text = PROGRAMS[to](found, name, wanted).source()
    if path is not None:
        with replacing(path) as temporary:
            Path(temporary).write_text(text, encoding="utf-8")
    return text


def _destination(path: str | os.PathLike[str] | None, to: str | None) -> Destination:
    if to is None and path is not None:
        to = ENDINGS.get(Path(path).suffix.lower())
        if to is None:
            raise InvalidParameter(
                f"the ending of {Path(path).name!r} names no language: give to= as one of "
                f"{', '.join(get_args(Destination))}"
            )
    if to is None:
        raise InvalidParameter(f"give a path, or to= as one of {', '.join(get_args(Destination))}")
    one_of(Destination).check("to", to)
    return to  # type: ignore[return-value]


def _wanted(outputs: Sequence[Output] | None, to: str) -> tuple[Output, ...]:
    if outputs is None:
        return ("prediction",) if to == "sql" else get_args(Output)
    given = (outputs,) if isinstance(outputs, str) else tuple(outputs)
    for one in given:
        one_of(Output).check("outputs", one)
    if not given:
        raise InvalidParameter("outputs is empty: name at least one of prediction, score and probability")
    return tuple(one for one in get_args(Output) if one in given)


def _kept(keep: Sequence[str]) -> list[str]:
    names = [keep] if isinstance(keep, str) else list(keep)
    if not all(isinstance(one, str) for one in names):
        raise InvalidParameter(f"keep is a list of names of columns, got {keep!r:.80}")
    return names
