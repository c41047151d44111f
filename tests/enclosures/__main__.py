"""python -m tests.enclosures --problems 20000 --seed 0: enclosures against rational arithmetic, by design."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from tests.certificates.cases import DESIGNS
from tests.enclosures.cases import MODERATE, verdicts


def main() -> int:
    """Print the table; return 1 where an enclosure misses the exact solution."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    found = verdicts(given.seed, given.problems, given.jobs)
    print(f"{'design':16} {'problems':>8} {'proved':>8} {'misses':>6} {'width':>8} {'condition':>9} {'wide':>8}")
    for name in DESIGNS:
        mine = [one for one in found if one.problem.design == name]
        proved = [one for one in mine if one.proved]
        moderate = [one.width for one in proved if one.condition < MODERATE]
        largest = max((one.condition for one in proved), default=0.0)
        print(
            f"{name:16} {len(mine):8} {len(proved):8} {sum(not one.holds for one in mine):6} "
            f"{np.median(moderate):8.3g} {largest:9.2g} {max(one.width for one in proved):8.2g}"
        )
    for one in found:
        if not one.holds:
            print("missed:", one.problem, one.condition)
    return int(not all(one.holds for one in found))


if __name__ == "__main__":
    sys.exit(main())
