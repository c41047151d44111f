"""One style for all plots: colours, sizes, axes, legends and names that fit.

Colours are those of M. Okabe and K. Ito (2008), safe for the colour-blind; classes also differ by their markers, lines
by their dashes. Only this file imports matplotlib, when the first plot is drawn.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import AdalineError

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:
    Axes = Any

P = ParamSpec("P")

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#666666")
BLUE, ORANGE, GREEN, GREY = COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[6]
INK = "#222222"
GRID = "#dddddd"
DARK = {  # what each colour becomes on a dark page, as legible there as it was on white
    "#222222": "#e4e6e8",
    "#666666": "#a3a9b0",
    "#dddddd": "#3b4148",
    "#000000": "#e4e6e8",
    "#bbbbbb": "#5b626a",
    "#0072b2": "#4aa8e0",
    "#d55e00": "#f08a3c",
    "#009e73": "#35c299",
}
MARKERS = "os^Dv<>"
LINES = ("-", "--", "-.", ":")
# points of a picture, drawn at random from more rows; doubling it takes twice as long, and covers more of them
MOST_POINTS = 5000
FIGURE_WIDTH = 5.2  # inches: the text is then readable on a phone, and two figures stand side by side on a desk
LETTERS_AN_INCH = 14  # letters of a legend that fit into an inch; doubling it lets legends overflow
HANDLE_LETTERS = 7  # the width of the picture beside a name, in letters

DRAWN_IN = re.compile(r"((?:fill|stroke): )(#[0-9a-f]{6})")

STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "text.parse_math": False,  # names of columns are text, dollars and all
    "legend.frameon": False,
    "legend.fontsize": 9,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "adaline",
}


def styled(plot: Callable[P, Axes]) -> Callable[P, Axes]:
    """Let a function draw in the style, which ends with it."""

    @wraps(plot)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Axes:
        with _matplotlib().rc_context(STYLE):
            return plot(*args, **kwargs)

    return drawn


def svg(ax: Axes) -> str:
    """Return the figure of these axes as SVG text that refers to nothing outside itself.

    Parameters
    ----------
    ax : what a plot returned.

    Examples
    --------
    >>> from adaline import plots
    >>> plots.svg(plots.quantiles([-1.0, 0.0, 1.0]))[:4]
    '<svg'
    """
    out = io.StringIO()
    figure: Any = ax.figure
    with _matplotlib().rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the reader's fonts draw the text
        _write_svg(figure, out)
    text = out.getvalue()
    return text[text.index("<svg") :]


def on_dark(text: str) -> str:
    """Return the SVG text of a figure of lines, points and bars for a dark page.

    The two backgrounds, which are drawn first, are left out; points, which are a raster image, are brightened.
    """
    text = text.replace("fill: #ffffff", "fill: none", 2).replace("<image ", '<image style="filter: brightness(1.7)" ')
    return DRAWN_IN.sub(lambda found: found[1] + DARK.get(found[2], found[2]), text)


def axes(ax: Axes | None, height: float) -> Axes:
    """Return the axes given, or those of a new figure of this height in inches."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(FIGURE_WIDTH, height), dpi=150, layout="constrained").add_subplot()


def colour(k: int) -> str:
    """Return the colour of the k-th class."""
    return COLOURS[k % len(COLOURS)]


def marker(k: int) -> str:
    """Return the marker of the k-th class: the pair of colour and marker is its own up to 49 classes."""
    return MARKERS[(k + k // len(COLOURS)) % len(MARKERS)]


def mixed(colours: Sequence[str], shares: Array, strength: Any = 1.0) -> Array:
    """Return RGB values (..., 3): colours mixed by shares (..., K), on white by their strength in [0, 1]."""
    table = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colours])
    return np.asarray((1.0 - np.asarray(strength)[..., None] * (1.0 - shares @ table)).clip(0.0, 1.0))


def legend_above(ax: Axes) -> None:
    """Put the legend between the axes and a title of the figure, where it hides nothing."""
    names = ax.get_legend_handles_labels()[1]
    if names:
        figure: Any = ax.figure
        room = LETTERS_AN_INCH * figure.get_size_inches()[0] * ax.get_position().width
        ncols = next(n for n in range(len(names), 0, -1) if n == 1 or _letters(names, n) <= room)
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=ncols, handletextpad=0.4, columnspacing=1.4)


def finished(ax: Axes, xlabel: str, ylabel: str) -> Axes:
    """Return the axes with their labels and a legend."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    legend_above(ax)
    return ax


def short(name: Any, limit: int = 30) -> str:
    """Return a name that fits an axis, without characters that no font has."""
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(name))
    half = (limit - 1) // 2
    return clean if len(clean) <= limit else f"{clean[: limit - 1 - half]}…{clean[-half:]}"


def thin(n: int) -> NDArray[np.intp]:
    """Return the rows to draw, in order: all, or MOST_POINTS of them at random."""
    return np.arange(n) if n <= MOST_POINTS else np.sort(np.random.default_rng(0).choice(n, MOST_POINTS, replace=False))


def size(n: int) -> float:
    """Return the area of a marker where n are drawn."""
    return 18.0 if n <= 200 else 10.0 if n <= 1000 else 4.0


def log_scale(ax: Axes, side: str) -> None:
    """Make the x or y axis logarithmic, with ticks in plain words: 10⁻³, and 20 and 50 where there is room."""
    getattr(ax, f"set_{side}scale")("log")
    low, high = sorted(getattr(ax, f"get_{side}lim")())
    axis: Any = getattr(ax, f"{side}axis")
    axis.get_major_locator().set_params(subs=(1.0, 2.0, 5.0) if high < 300 * low else (1.0,))
    axis.set_major_formatter(lambda value, _: _power(value))
    axis.set_minor_formatter(lambda value, _: "")


def _letters(names: Sequence[str], ncols: int) -> int:
    """Return the width of a legend of `ncols` columns, in letters."""
    return sum(max(map(len, part)) + HANDLE_LETTERS for part in np.array_split(np.array(names, dtype=object), ncols))


def _power(value: float) -> str:
    """Return a number in plain letters: 0.001, 500, 10⁶, 5·10⁶."""
    if 9e-4 < value < 9e4:
        return f"{value:g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    raised = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return raised if mantissa == "1" else f"{mantissa}·{raised}"


def _write_svg(figure: Any, out: io.StringIO) -> None:
    """Do what `savefig` does, which draws twice where the layout is constrained."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    canvas, dpi = figure.canvas, figure.dpi
    try:
        canvas_of: Any = FigureCanvasSVG
        canvas_of(figure).print_svg(out, metadata={"Date": None})
    finally:
        figure.set_canvas(canvas)
        figure.dpi = dpi


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise AdalineError("plots need the package matplotlib: pip install 'adaline-learn[app]'") from None
    return matplotlib
