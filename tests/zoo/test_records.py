"""Records are counted independently of what is counted, so that a run that loses rows silently fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.zoo.records import count_records, miscounted

FOUND: dict[str, Any] = {"features": ["x"], "left_out": {"id": "numbers the rows"}, "target": "y", "notes": []}


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ("id,x,y\n1,2,3\n\n4,5,6\n", 2),
        ('\ufeffid;x;y\r\n1;"2\r\n";3\r\n', 1),
        ("id\tx\ty\n", 0),
        ("A title\nid,x,y\n1,2,3\n", None),
        ("id,x,y\n1,2,3\n4,5\n", None),
        ("id,x\n1,2\n", None),
    ],
)
def test_records_of_plain_files_are_counted(text: str, records: int | None, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert count_records(path, {"id", "x", "y"}) == records


@pytest.mark.parametrize(
    ("note", "lines"),
    [
        ("line 4 repeats the names of the columns and is left out", 1),
        ("lines 3, 5 are subtotals of the rows above and are left out", 2),
        ("lines 3, 5, 7, 9, 11 and 4 more are subtotals of the rows above and are left out", 9),
        ("lines 8 to 10 below the table: 'Total', left out", 3),
        ("lines 2, 3 have no values at the end, which are read as missing", 0),
        ("column 'id' is left out: it numbers the rows", 0),
    ],
)
def test_lines_that_a_note_names_as_left_out_are_counted(note: str, lines: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,x,y\n" + 20 * "1,2,3\n")
    known = FOUND | {"notes": [note], "dropped_rows": 2}
    assert miscounted(path, known | {"total_rows": 18 - lines}) == ""
    assert miscounted(path, known | {"total_rows": 17 - lines}).startswith("20 records in the file, but ")
