"""`python -m adaline`: the command line."""

import sys

from adaline.cli import main

if __name__ == "__main__":
    sys.exit(main())
