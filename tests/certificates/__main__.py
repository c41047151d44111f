"""python -m tests.certificates --fits 20000 --seed 0: claims against the truth by family, in a table.

`--only NAME` takes one family, `--float64` leaves out refinement, as fits of large tables do, `--worst N` prints the N
worst overstatements, `--jobs N` runs on several processes.
"""

from __future__ import annotations

import argparse
import math
import sys
from contextlib import nullcontext

from tests.certificates.cases import FAMILIES, Outcome, run, tally, unrefined

MOST_OVER, MOST_RATIO = 0.1, 2.0


def main() -> int:
    """Print the table; return 1 where a certificate claims too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--only", action="append", choices=list(FAMILIES))
    parser.add_argument("--float64", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    with unrefined() if given.float64 else nullcontext():
        outcomes = run(given.seed, given.fits, given.only, given.jobs)
    print(f"{'family':22} {'fits':>6} {'digits':>6} {'overstated':>10} {'gaps':>6} {'ratio':>9} {'conservatism':>12}")
    failed = False
    for name in given.only or FAMILIES:
        row = tally(name, [one for one in outcomes if one.case.family == name])
        failed |= row.over > MOST_OVER or row.gap_ratio > MOST_RATIO
        print(
            f"{name:22} {row.fits:6} {row.digits:6} {row.over:10.2f} {row.gaps:6} {row.gap_ratio:9.2g} "
            f"{row.conservatism:12.2f}"
        )

    def badness(one: Outcome) -> float:
        over = -math.inf if math.isnan(one.over) else one.over
        return max(over, math.log10(one.gap_ratio) if one.gap_ratio > 0 else -math.inf)

    for one in sorted(outcomes, key=badness, reverse=True)[: given.worst]:
        c = one.case
        print(
            f"{c.family}, {c.design}, {c.x.shape}, penalty {c.penalty:.2g}, weights {c.weight is not None}, "
            f"offset {0 if c.offset is None else abs(c.offset).max():.2g}, intercept {c.intercept}: {one.status}, "
            f"condition {one.condition:.2g}, digits {one.claimed:.2f} of {one.true:.2f}, "
            f"gap {one.gap:.2g} of {one.true_gap:.2g}"
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
