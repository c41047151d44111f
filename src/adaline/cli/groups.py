"""`adaline fit --by`: one model for each group of rows, as a table of coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adaline.cli.exit import check_output, note
from adaline.cli.open import FOR_NUMBERS, is_penalised, open_with_notes, read_settings, split_call
from adaline.cli.options import Options
from adaline.cli.predict import KINDS, writing
from adaline.errors import InvalidParameter
from adaline.groups.fit_groups import fit_groups
from adaline.lazy import nw
from adaline.sources.tables.source import TableSource
from adaline.sources.tables.sql import quoted
from adaline.systems import SYSTEMS, system_name
from adaline.wording import counted

FOR_LABELS = "LogisticRegression"  # the classifier with standard errors
MOST_REASONS = 5  # reasons that the note about groups names
NOT_FOR_GROUPS = ("offset", "absorb", "cluster", "hashed", "words")


def run_groups(
    options: Options,
    system: str | None,
    settings: Sequence[str],
    by: Sequence[str],
    output: Path | None,
    as_json: bool,
    others: Mapping[str, Any],
) -> None:
    """Fit a system to every group of rows, and write the coefficients to a file or to stdout."""
    check_output(output, KINDS)
    given = [f"--{name}" for name in NOT_FOR_GROUPS if options[name]] + [name for name in others if others[name]]
    if given:
        raise InvalidParameter(f"--by does not go with {given[0]}: leave one of the two out")
    options = {**options, "aside": dict.fromkeys(by, "by")}
    opened = open_with_notes(options, named=True, penalised=is_penalised(system, settings))
    named, own = split_call(system or (FOR_LABELS if opened.labels else FOR_NUMBERS))
    name = system_name(named)
    model = SYSTEMS[name](**read_settings(name, [*own, *settings]))
    found = fit_groups(model, opened.source, by=by)
    table = nw.from_native(found, eager_only=True).to_arrow()
    _note_outcomes(table, opened.source, by)
    with writing(output, as_json) as write:
        write(table)


def _groups_of(source: TableSource, by: Sequence[str]) -> int:
    """Return how many groups a table has, those included that have no rows without missing values."""
    keys = ", ".join(map(quoted, by))
    return int(source.relation.rows(f"SELECT count(*) FROM (SELECT DISTINCT {keys} FROM {source.relation.sql})")[0][0])


def _note_outcomes(table: Any, source: TableSource, by: Sequence[str]) -> None:
    """Say on stderr how many groups there are, and how the fits ended."""
    width = len(table["name"].unique())
    groups = table.num_rows // width
    ends = sorted(table["status"].value_counts().to_pylist(), key=lambda one: -one["counts"])
    shown = "; ".join(f"{one['counts'] // width:,} {one['values']}" for one in ends[:MOST_REASONS])
    more = f"; {len(ends) - MOST_REASONS} more reasons" if len(ends) > MOST_REASONS else ""
    note(f"{counted(groups, 'group')}: {shown}{more}")
    if source.where != "TRUE" and (without := _groups_of(source, by) - groups):
        they = "it has" if without == 1 else "they have"
        note(f"{counted(without, 'group')} left out: {they} no row without missing values")
