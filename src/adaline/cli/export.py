"""`adaline export` and `adaline card`: write a saved model in another language, and what it knows of itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from adaline import storage
from adaline.cli.exit import check_output
from adaline.cli.options import listed
from adaline.cli.output import say
from adaline.errors import InvalidParameter
from adaline.exporting.dialects import SQLDialect
from adaline.exporting.export import ENDINGS, Destination, export
from adaline.exporting.model_card import card
from adaline.exporting.onnx import GraphNumbers, export_onnx
from adaline.wording import file_name


def run_export(
    path: Path,
    output: Path | None,
    to: Destination | None,
    dtype: GraphNumbers,
    *,
    dialect: SQLDialect,
    table: str,
    keep: str | None,
    outputs: str | None,
    name: str,
) -> None:
    """Write a saved model to a file, or its text to stdout."""
    if output is None and to is None:
        raise InvalidParameter("give a file to write, or --to and a language, to print the text")
    if output is not None:
        check_output(output, tuple(ENDINGS) if to is None else ())
    model = storage.load(path)
    if output is not None and (to or ENDINGS[output.suffix.lower()]) == "onnx":
        export_onnx(model, output, dtype=dtype)
    else:
        asked: Any = listed(outputs)
        kept = listed(keep) or ()
        text = export(model, output, to, dialect=dialect, table=table, keep=kept, outputs=asked, name=name)
        if output is None:
            sys.stdout.write(text)
    if output is not None:
        say(f"saved: {file_name(output)}")


def run_card(path: Path, output: Path | None) -> None:
    """Write the card of a saved model to a file, or to stdout."""
    check_output(output, (".md", ".html"))
    text = card(storage.load(path), output)
    if output is None:
        sys.stdout.write(text)
    else:
        say(f"saved: {file_name(output)}")
