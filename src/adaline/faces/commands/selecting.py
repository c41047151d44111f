"""Choosing the parameters of a system by its error on new rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from adaline import select, storage
from adaline.errors import InvalidParameter
from adaline.faces.commands.asking import Chosen, Wanted
from adaline.faces.commands.choosing import chosen_system, open_data, read_grid
from adaline.faces.commands.ending import check_output
from adaline.faces.commands.opening import known_as
from adaline.faces.commands.showing import print_json, progress, say, show
from adaline.wording import counted


def run(
    wanted: Wanted,
    system: str | None,
    settings: Sequence[str],
    parameters: Sequence[str],
    how: Chosen,
    output: Path | None,
    as_json: bool,
) -> None:
    """Try the values of parameters, show the errors, and save the choice fitted to all rows."""
    check_output(output)
    if not parameters:
        raise InvalidParameter("say what to choose: --parameter NAME=VALUE,VALUE,...")
    grid = read_grid(parameters)
    opened = open_data(wanted)
    model = chosen_system(opened, system, settings)
    with progress() as bar:
        line = bar.add_task("reading", total=None)
        found = select(
            model,
            opened.source,
            parameters=grid,
            method=how.method,
            folds=how.folds,
            scoring=how.scoring,
            rule=how.rule,
            progress=lambda done, total, text: bar.update(line, completed=done, total=total, description=text),
        )
    if output is not None:
        storage.save(found.best, output)
    saved = None if output is None else str(output)
    if as_json:
        print_json({"system": type(found.best).__name__, **found.to_dict(), "saved": saved})
        return
    table = found.table
    rows = counted(opened.source.count_rows())
    say(f"{type(model).__name__}: {opened.target} of {known_as(wanted.data)}, {rows}", "bold")
    say(table.title)
    say()
    show(table.headings, table.cells, left=table.left, styles={found.index: "bold green"})
    say()
    for note in table.notes:
        say(note)
    say("not saved: add -o model.adaline to keep the choice" if saved is None else f"saved: {saved}")
