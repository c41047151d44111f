"""`python -m adaline` and the script `adaline`: the command line."""

import gc
import sys

from adaline.interrupts import take_over

# new objects before the collector looks for cycles; at Python's 700 it takes a tenth of the start-up time.
# `cli` sets more once it is imported; doubling this saves nothing
STARTING_OBJECTS = 50_000


def run() -> int:
    """Run the command line of this process and return its exit code."""
    gc.set_threshold(STARTING_OBJECTS)
    take_over()  # before the imports of the command line, which can be interrupted too
    from adaline.cli import main

    return main()


if __name__ == "__main__":
    sys.exit(run())
