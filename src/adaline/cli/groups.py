"""`adaline fit --by`: one model for each group of rows, as a table of coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adaline.cli.exit import check_output, note
from adaline.cli.open import FOR_NUMBERS, opened_pipe, read_settings, split_call, with_notes
from adaline.cli.options import Options
from adaline.cli.predict import KINDS, writing
from adaline.comparison.open_data import DataRequest
from adaline.errors import InvalidParameter
from adaline.groups.fit_groups import fit_groups
from adaline.lazy import nw
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.rows import TableRows
from adaline.sources.tables.source import TableSource
from adaline.sources.tables.spec import check_column, shown_columns
from adaline.systems import SYSTEMS, system_name
from adaline.wording import counted

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
    named, own = split_call(system or FOR_NUMBERS)
    name = system_name(named)
    model = SYSTEMS[name](**read_settings(name, [*own, *settings]))
    found = fit_groups(model, _opened(options, by), by=by)
    table = nw.from_native(found, eager_only=True).to_arrow()
    _note_outcomes(table)
    with writing(output, as_json) as write:
        write(table)


def _opened(options: Options, by: Sequence[str]) -> TableSource:
    """Return the table with what its options say of its columns."""
    request = DataRequest.of(**{**options, "data": opened_pipe(options["data"])}, shell=True)
    spec = replace(request.spec, missing="error") if request.choose_missing else request.spec
    if not spec.targets and spec.formula is None:
        raise InvalidParameter("--by needs the column to predict: name it by --target, or give a --formula")
    relation = with_notes(Relation(request.data, request.reading))
    for name in request.drop:
        check_column(relation, name, "--drop")
    if spec.features is None and spec.formula is None:
        others = {*by, *spec.targets, *request.drop, spec.weight}
        features = tuple(name for name in relation.schema if name not in others)
        if not features:
            raise InvalidParameter(f"no columns are left to learn from; there are: {shown_columns(relation)}")
        spec = replace(spec, features=features)
    return TableSource(TableRows(relation), spec)


def _note_outcomes(table: Any) -> None:
    """Say on stderr how many groups there are, and how the fits ended."""
    width = len(table["name"].unique())
    ends = sorted(table["status"].value_counts().to_pylist(), key=lambda one: -one["counts"])
    shown = "; ".join(f"{one['counts'] // width:,} {one['values']}" for one in ends[:MOST_REASONS])
    more = f"; {len(ends) - MOST_REASONS} more reasons" if len(ends) > MOST_REASONS else ""
    note(f"{counted(table.num_rows // width, 'group')}: {shown}{more}")
