"""python -m tests.coverage: simulate every kind of interval, and write how many contain the truth to docs/coverage.md.

`--only TEXT` runs the kinds whose name or design contains a text and keeps the other rows of the table, `--new` those
that the table does not have; `--draws 0.1` draws a tenth of the data sets.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.coverage.cases import CASES, Case, coverage

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
LEAST, MOST = 0.92, 0.97
RARE = 3.0  # standard errors beyond these limits that count as outside
HEAD = """# Coverage of intervals

How often 95 % intervals contain the truth: `make coverage` draws data sets whose truth is known, and counts. Intervals
of coefficients are those of all slopes; ± is the standard error of the simulation. A note explains
every coverage that is more than three of these outside 92 to 97 %.

| interval | data | coverage | data sets | note |
|---|---|---|---|---|
"""


def line(one: Case, share: float, error: float, draws: int) -> str:
    """Return a row of the table."""
    cells = (one.interval, one.design, f"{100 * share:.1f} ± {100 * error:.1f} %", draws, one.note)
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    """Run the simulations and write the table; return 1 where intervals without a note do not cover."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--draws", type=float, default=1.0)
    given = parser.parse_args()
    written = PAGE.read_text().splitlines() if PAGE.exists() else []
    table = {tuple(row.split(" | ")[:2]): row for row in written if row.startswith("| ")}
    failed, places = False, [tuple(line(one, 0, 0, 0).split(" | ")[:2]) for one in CASES]
    for one, place in zip(CASES, places, strict=True):
        if (given.new and place in table) or (given.only not in one.interval and given.only not in one.design):
            continue
        draws = max(int(given.draws * one.draws), 2)
        share, error = coverage(one, draws)
        table[place] = line(one, share, error, draws)
        print(table[place], flush=True)
        failed |= not one.note and not LEAST - RARE * error <= share <= MOST + RARE * error
        PAGE.write_text(HEAD + "\n".join(table[place] for place in places if place in table) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
