"""python -m tests.enclosures --problems 20000 --seed 0: enclosures against exact and 100-digit arithmetic, by kind."""

from __future__ import annotations

import argparse
import sys
from itertools import product

import numpy as np

from tests.certificates.cases import DESIGNS
from tests.enclosures.cases import LIKELIHOODS, MODERATE, verdicts


def main() -> int:
    """Print the table; return 1 where an enclosure misses the exact solution."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    found = verdicts(given.seed, given.problems, given.jobs)
    heads = ("problems", "proved", "misses", "width", "widest", "condition")
    print(f"{'family':18} {'design':16}", *(f"{head:>9}" for head in heads))
    for family, name in product(("least squares", *LIKELIHOODS), DESIGNS):
        mine = [one for one in found if one.problem[:2] == (family, name)]
        proved = [one for one in mine if one.proved]
        width = np.median([one.width for one in proved if one.condition < MODERATE] or [np.nan])
        widest = max((one.width for one in proved), default=np.nan)
        condition = max((one.condition for one in proved), default=np.nan)
        figures = len(mine), len(proved), sum(not one.holds for one in mine), width, widest, condition
        print(f"{family:18} {name:16}", *(f"{figure:9.4g}" for figure in figures))
    for one in found:
        if not one.holds:
            print("missed:", one.problem, one.condition)
    return int(not all(one.holds for one in found))


if __name__ == "__main__":
    sys.exit(main())
