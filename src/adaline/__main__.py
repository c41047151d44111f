"""`python -m adaline`: the command line."""

import atexit
import os
import sys

from adaline.cli import main


def end_as_said(codes: list[int]) -> None:
    """End the process with the code of an interrupted command.

    Python itself would end it by SIGINT, of a command that was terminated too, where the interrupt met code compiled
    from a text, as that of a dataclass is.
    """
    if codes and codes[0] > 128:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(codes[0])


if __name__ == "__main__":
    said: list[int] = []
    atexit.register(end_as_said, said)  # before what else is to be done at the end, so that it comes last
    said.append(main())
    sys.exit(said[0])
