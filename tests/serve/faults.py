"""What kills leave behind, and what is checked after them: batches that tell themselves apart, torn logs, lost rows."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

COLUMNS, BLOCK = 3, 256


def rows_of_batch(client: int, serial: int) -> list[list[float]]:
    """Return the rows that a client sends as its batch of this number; the first column tells them apart."""
    rng = np.random.default_rng([client, serial])
    x = rng.normal(size=(1 + serial % 7, COLUMNS - 1))
    names = client * 1e6 + serial + np.arange(len(x)) / 16
    t = x @ np.arange(1.0, COLUMNS) + 0.1 * rng.normal(size=len(x))
    return np.column_stack([1e-6 * names, x, t]).tolist()  # type: ignore[no-any-return]


def tear_log(folder: Path, draw: random.Random) -> None:
    """Leave a torn frame at the end of the log, as of a commit that never returned, half of the times."""
    log = folder / "journal" / "journal.sqlite-wal"
    if log.exists() and draw.random() < 0.5:
        with log.open("ab") as file:
            file.write(draw.randbytes(draw.randrange(1, 4000)))


def check_rows(found: list[tuple[float, ...]], serials: list[int]) -> None:
    """Check that every row that was acknowledged is in the journal, and none twice."""
    there = set(found)
    assert len(there) == len(found), "a row is there twice"
    for client, end in enumerate(serials):
        for serial in range(end):
            assert all(tuple(row) in there for row in rows_of_batch(client, serial)), "an acknowledged row is lost"
