"""`adaline export`: writes a saved model as ONNX."""

from __future__ import annotations

from pathlib import Path

from adaline import storage
from adaline.cli.exit import check_output
from adaline.cli.output import say
from adaline.storage.onnx import GraphNumbers
from adaline.wording import file_name


def run_export(path: Path, output: Path, dtype: GraphNumbers) -> None:
    """Write a saved model as ONNX."""
    check_output(output, (".onnx",))
    storage.export_onnx(storage.load(path), output, dtype=dtype)
    say(f"saved: {file_name(output)}")
