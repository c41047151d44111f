"""Attack adaline for a time: python -m tests.fuzz --seconds 600.

python -m tests.fuzz csv 12345      one case again, with its traceback
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys

import tests.fuzz.attacks  # noqa: F401  (fills the registry)
from tests.fuzz.loop import fuzz
from tests.fuzz.targets import TARGETS, run_case


def main() -> int:
    """Read the arguments, and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Attack adaline for a time.")
    parser.add_argument("target", nargs="?", help=f"one of {', '.join(TARGETS)}; all in turn by default")
    parser.add_argument("seed", nargs="?", type=int, help="run this one case, here")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--first", type=int, default=secrets.randbelow(2**40), help="the first seed")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--no-memory-limit", action="store_true", help="for sanitizers, which reserve terabytes")
    given = parser.parse_args()
    if given.target is not None and given.target not in TARGETS:
        parser.error(f"no target {given.target!r}: {', '.join(TARGETS)}")
    if given.seed is not None:
        print(run_case(given.target, given.seed))
        return 0
    names = [given.target] if given.target else list(TARGETS)
    print(f"fuzzing {', '.join(names)} for {given.seconds:.0f} s from seed {given.first}", flush=True)
    failures = fuzz(names, given.seconds, given.first, given.processes, not given.no_memory_limit)
    print(f"{failures} failures" if failures else "no failure")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
