"""`adaline select`: chooses the parameters of a system by its error on new rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adaline import select, storage
from adaline.cli.exit import MODEL_START, check_output
from adaline.cli.open import chosen_system, open_with_notes, read_grid
from adaline.cli.options import Options
from adaline.cli.output import print_json, progress, say, show_errors
from adaline.errors import InvalidParameter
from adaline.wording import counted, file_name


def run_select(
    options: Options,
    system: str | None,
    settings: Sequence[str],
    parameters: Sequence[str],
    how: Mapping[str, Any],
    output: Path | None,
    as_json: bool,
) -> None:
    """Try the values of parameters, show the errors, and save the choice fitted to all rows; `how`: of `select`."""
    check_output(output, replaces=MODEL_START)
    if not parameters:
        raise InvalidParameter("say what to choose: --parameter NAME=VALUE,VALUE,...")
    grid = read_grid(parameters)
    opened = open_with_notes(options)
    model = chosen_system(opened, system, settings)
    with progress() as show_step:
        found = select(model, opened.source, parameters=grid, **how, progress=show_step)
    if output is not None:
        storage.save(found.best, output)
    saved = None if output is None else str(output)
    if as_json:
        print_json({"system": type(found.best).__name__, **found.to_dict(), "saved": saved})
        return
    table = found.table
    rows = counted(opened.source.count_rows())
    say(f"{type(model).__name__}: {opened.target} from {opened.request.title}, {rows}", "bold")
    say(table.title)
    say()
    show_errors(table, "chosen")
    say()
    for note in table.notes:
        say(note)
    say("not saved: add -o model.adaline to keep the choice" if saved is None else f"saved: {file_name(saved)}")
