"""Pictures of a report, drawn in a separate process, which imports matplotlib while this one computes.

Importing matplotlib and drawing take as long as comparing systems on a small table. The process is started before
anything else, so this module imports little.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple


class Drawing(NamedTuple):
    """A plot that is to be drawn: a function of `adaline.plots` and its arguments."""

    plot: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    def svg(self) -> str:
        """Draw the plot."""
        from adaline.plots import svg

        return svg(self.plot(*self.arguments, **self.options))


class DrawingProcess:
    """A process that draws one list of plots; it ends with this one.

    Examples
    --------
    >>> from adaline import plots
    >>> from adaline.comparison.drawing import Drawing, DrawingProcess
    >>> with DrawingProcess() as process:
    ...     process.start([Drawing(plots.quantiles, ([-1.0, 0.0, 1.0],), {})])
    ...     process.finish()[0][:4]
    '<svg'
    """

    def __init__(self) -> None:
        self._drawings: list[Drawing] = []
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # too many processes: the plots are drawn by this one
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__],  # -P: no module of the current folder is imported
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )

    def __enter__(self) -> DrawingProcess:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self._process.kill()
            with suppress(OSError), self._process:  # closes the pipes and waits
                pass

    def start(self, drawings: Sequence[Drawing]) -> None:
        """Let the process draw."""
        self._drawings = list(drawings)
        if self._process is not None and self._process.stdin is not None:
            try:
                with self._process.stdin as pipe:
                    pickle.dump(self._drawings, pipe, pickle.HIGHEST_PROTOCOL)
            except Exception:  # pickle raises many
                self._process.kill()

    def finish(self) -> list[str]:
        """Return the SVG text of each plot; where the process failed they are drawn here."""
        if self._process is not None and self._process.stdout is not None:
            with suppress(Exception):
                found: list[str] = pickle.load(self._process.stdout)
                return found
        return [one.svg() for one in self._drawings]


def main() -> None:
    """Draw the plots that come through stdin."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the process that waits for the plots
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what else is printed is no part of the answer

    from adaline.plots import quantiles

    Drawing(quantiles, ([-1.0, 0.0, 1.0],), {}).svg()  # loads matplotlib and its fonts
    with suppress(EOFError):  # the other process has ended
        drawings = pickle.load(sys.stdin.buffer)
        with answer:
            pickle.dump([one.svg() for one in drawings], answer, pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()
