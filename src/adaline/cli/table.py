"""`adaline table`: the coefficients of saved models side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adaline import storage
from adaline.cli.exit import check_output
from adaline.cli.output import print_json, say
from adaline.inference.table import regression_table
from adaline.storage.container import replacing
from adaline.storage.pipelines import last_step
from adaline.wording import file_name, plain

FORMATS = {".txt": "text", ".html": "html", ".md": "markdown", ".tex": "latex"}


def run_table(paths: Sequence[Path], stars: bool, below: str, form: str, output: Path | None, as_json: bool) -> None:
    """Set the coefficients of saved models side by side, on stdout or in a file whose ending tells the format."""
    check_output(output, tuple(FORMATS))
    stems = [path.stem for path in paths]
    names = [str(path) if stems.count(path.stem) > 1 else path.stem for path in paths]
    of_table: Any = below.replace("-", "_")
    table = regression_table(
        *(last_step(storage.load(path)) for path in paths), names=names, stars=stars, below=of_table
    )
    if as_json:
        print_json(plain(table.to_dict()))
    if output is not None:
        form = FORMATS[output.suffix.lower()]
    text = getattr(table, f"to_{form}")()
    if output is not None:
        with replacing(output) as temporary, open(temporary, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        if not as_json:
            say(f"saved: {file_name(output)}")
    elif not as_json:
        print(text)
