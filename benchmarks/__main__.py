"""Run the benchmarks, print their tables, and write docs/benchmarks.md: all of it, or the sections that were run."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path

import benchmarks
from benchmarks.registry import BENCHMARKS, Settings
from benchmarks.report import circumstances, write
from benchmarks.timing import limit_threads

REPORT = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def main() -> None:
    """Read the command line and run what it asks for."""
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if module.name != "__main__":
            importlib.import_module(f"benchmarks.{module.name}")

    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rows, fewer turns: does it work?")
    parser.add_argument("--only", action="append", choices=list(BENCHMARKS), metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--threads", type=int, default=2, help="threads of every contender (2)")
    parser.add_argument("--output", type=Path, help="where to write (docs/benchmarks.md, unless it is quick)")
    arguments = parser.parse_args()

    settings = Settings(quick=arguments.quick, threads=arguments.threads)
    limit_threads(settings.threads)
    print(circumstances(settings.threads), flush=True)
    sections = []
    for name in arguments.only or BENCHMARKS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        sections.append(BENCHMARKS[name](settings))
        print(f"\n{sections[-1]}", flush=True)

    output = arguments.output
    if output is None and not arguments.quick:
        output = REPORT
    if output is not None:
        write(output, sections, settings.threads, whole=not arguments.only)
        print(f"\nwritten: {output}")


if __name__ == "__main__":
    main()
