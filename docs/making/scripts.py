"""Running the scripts in examples/, several at a time: each gives its figure, a thumbnail of it and what it prints."""

from __future__ import annotations

import contextlib
import importlib
import io
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = str(Path(__file__).parent)
EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Made:
    """What a script gives: what it prints, whether its panels lie side by side, its pictures as PNG by name."""

    printed: str
    wide: bool
    pictures: dict[str, bytes]


def made(names: Iterable[str]) -> Iterator[Made]:
    """Run scripts, as many at a time as there are cores; yield what they give, in their order."""
    if HERE not in sys.path:  # the processes find this module there
        sys.path.insert(0, HERE)
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(4, os.cpu_count() or 1), mp_context=spawned, initializer=alone) as pool:
        yield from pool.map(run, names)


def alone() -> None:
    """Keep a process to one thread, as others run beside it; libraries read these when they are imported."""
    os.environ |= {"ADALINE_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def run(name: str) -> Made:
    """Run one script."""
    import matplotlib.pyplot as plt

    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        figure = importlib.import_module(name).main()
    width, height = figure.get_size_inches()
    pictures = {f"{name}.png": picture(figure), f"{name}-small.png": picture(thumbnail(figure))}
    plt.close("all")
    return Made(out.getvalue().strip("\n"), bool(width > 1.8 * height), pictures)


def picture(figure: Any) -> bytes:
    """Return a figure as PNG."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=130)
    return out.getvalue()


def thumbnail(figure: Any) -> Any:
    """Cut a figure down to its last panel, small, so that its letters can be read; the rest is on its page."""
    from matplotlib.gridspec import GridSpec

    last = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"][-1].get_subplotspec()
    cell = GridSpec(1, 1, figure=figure)[0]
    for ax in figure.axes:
        if ax.get_subplotspec() != last:
            ax.remove()
            continue
        ax.set_subplotspec(cell)
        ax.set_title("", loc="left")
        ax.set_title("")
        if ax.get_legend():
            ax.get_legend().remove()
    figure.set_size_inches(3.9, 2.6)
    return figure
