"""`adaline verify-proof`: checks a stored proof of coefficients against a table, by rational arithmetic alone.

Comma-separated files are read by the checker. Other tables are read as `fit` reads them: files with semicolons or
decimal commas, with currencies, Parquet, queries, bundled data sets.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adaline.cli.exit import note
from adaline.cli.open import with_notes
from adaline.cli.output import print_json, say
from adaline.enclosures.checker import Refuted, Unreadable, load_proof, verify
from adaline.errors import InvalidData
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.relation import Relation
from adaline.wording import counted, file_name


def run_verify_proof(proof: Path, data: str, as_json: bool) -> None:
    """Verify a proof, and say what it proves; refuse one that is not confirmed."""
    try:
        found = load_proof(proof)
        rows = _verified(found, data)
    except Refuted as error:
        raise InvalidData(f"{file_name(proof)}: not verified: {error}") from error
    if as_json:
        print_json({"proof": str(proof), "data": data, "verified": True, "rows": rows})
        return
    bounds = sum(len(one) - (not found["intercept"]) for one in found["lower"])
    say(f"verified: {counted(bounds, 'coefficient')} within the bounds, exactly one solution, {counted(rows)}")


def _verified(proof: dict[str, Any], data: str) -> int:
    """Return the number of rows that the proof was verified for."""
    if Path(data).suffix.lower() == ".csv" and Path(data).is_file():
        try:
            with open(data, encoding="utf-8-sig", newline="") as file:
                return verify(proof, csv.DictReader(file))
        except (Unreadable, UnicodeDecodeError):
            pass
    relation = with_notes(Relation(data, FileOptions()))
    note(f"{relation.title} was read as fit reads it, not by the checker")
    return verify(proof, _cells(relation, proof))


def _cells(relation: Relation, proof: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the rows of a table, of the columns that a proof is about, as texts with all their digits."""
    used = [factor["column"] for factors in proof["columns"] for factor in factors]
    used += [*proof["targets"], *(proof[name] for name in ("weight", "offset") if proof[name] is not None)]
    for name in used:
        if name not in relation.schema:
            raise Unreadable(f"{relation.title} has no column {name!r}")
    for table in relation.arrow_tables(list(dict.fromkeys(used))):
        for row in table.to_pylist():
            yield {
                name: "" if value is None else repr(value) if isinstance(value, float) else str(value)
                for name, value in row.items()
            }
