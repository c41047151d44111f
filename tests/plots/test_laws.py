"""Laws that every plot obeys: axes, labels, legends, texts that cover nothing, and no trace left."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

import adaline
from adaline import plots
from tests.plots.drawn import DRAWN

every = pytest.mark.parametrize("name", DRAWN)


@cache
def own(name: str) -> tuple[Axes, str]:
    """Return the axes of the plot's own figure, which the laws only look at, and its text as SVG."""
    ax = DRAWN[name](None)
    return ax, plots.svg(ax)


@cache
def narrow(name: str) -> tuple[Axes, Axes]:
    """Return the narrow axes that a plot was told to draw on, and those that it returned."""
    given = Figure(figsize=(3.6, 5.0), layout="constrained").add_subplot()
    return given, DRAWN[name](given)


@every
def test_plots_return_axes_and_draw_where_they_are_told(name: str) -> None:
    before = dict(matplotlib.rcParams)
    (ax, text), (given, returned) = own(name), narrow(name)
    assert isinstance(ax, Axes)
    assert returned is given
    assert ax.has_data()
    ElementTree.fromstring(text)
    assert "mathdefault" not in text, "ticks are plain text"
    assert text == plots.svg(DRAWN[name](None)), "the same data, the same bytes"
    assert dict(matplotlib.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


@every
def test_axes_are_labelled_and_what_differs_is_told_apart(name: str) -> None:
    ax, _ = own(name)
    named = [label.get_text() for label in ax.get_yticklabels()]
    assert ax.get_xlabel()
    assert ax.get_ylabel() or (named and not any(text[0].isdigit() for text in named))
    names = ax.get_legend_handles_labels()[1]
    assert len(set(names)) == len(names)
    assert ax.get_legend() is not None or len(names) < 2


@every
@pytest.mark.parametrize("drawn", [own, narrow], ids=["own figure", "narrow axes"])
def test_no_text_covers_another_or_leaves_the_figure(name: str, drawn: Callable[[str], tuple[Axes, object]]) -> None:
    ax, _ = drawn(name)
    figure: Any = ax.figure
    figure.draw_without_rendering()
    boxes = _boxes(ax)
    for (one, a), (two, b) in combinations(boxes, 2):
        assert not a.shrunk(0.9, 0.8).overlaps(b.shrunk(0.9, 0.8)), f"{one!r} covers {two!r}"
    page = figure.bbox.padded(2)
    for text, box in boxes if drawn is own else []:
        assert page.x0 <= box.x0 <= box.x1 <= page.x1, text
        assert page.y0 <= box.y0 <= box.y1 <= page.y1, text


def _boxes(ax: Axes) -> list[tuple[str, Any]]:
    """Return all visible texts, with their positions."""
    legend = ax.get_legend()
    texts: list[Any] = [*ax.texts, ax.xaxis.label, ax.yaxis.label, ax.title, ax._left_title, ax._right_title]  # type: ignore[attr-defined]
    texts += [] if legend is None else legend.get_texts()
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        low, high = min(low, high), max(low, high)
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        texts += [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]
    seen = [text for text in texts if text.get_visible() and text.get_text().strip()]
    tilted = [text for text in seen if text.get_rotation() not in (0.0, 90.0)]  # their boxes are wider than they are
    return [(text.get_text(), Text.get_window_extent(text)) for text in seen if text not in tilted]


def test_every_public_plot_is_under_these_laws() -> None:
    drawn = {name.split()[0] for name in DRAWN}
    assert drawn | {"svg", "trajectory"} == set(plots.__all__)
    assert adaline.plots is plots
    for name in plots.__all__:
        for part in ("Parameters\n", "Examples\n"):
            assert part in (getattr(plots, name).__doc__ or ""), name


@pytest.mark.slow
def test_without_matplotlib_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['matplotlib'] = None; from adaline import *; plots.quantiles([1.0, 2.0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith("pip install 'adaline-learn[app]'")
