"""`python -m adaline` and the script `adaline`: the command line."""

import sys

from adaline.interrupts import take_over


def run() -> int:
    """Run the command line of this process and return its exit code."""
    take_over()  # before the imports of the command line, which can be interrupted too
    from adaline.cli import main

    return main()


if __name__ == "__main__":
    sys.exit(run())
