"""Recordings: a trace of the playground as an animated SVG, for the guide and the README.

`python docs/making/recordings.py` writes them to docs/assets; a test holds the files equal to what this makes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adaline.playground.boards import Recipe
from adaline.playground.forms import ModelSpec
from adaline.playground.traces import Trace, trace

ASSETS = Path(__file__).parents[1] / "assets"
WIDTH, HEIGHT, UNIT = 480, 360, 60  # of a board from -4 to 4 and from -3 to 3
SECONDS = 0.12  # a moment
REPEATS = 3
SHAPES = ("M-6,0a6,6 0 1,0 12,0a6,6 0 1,0 -12,0z", "M-5.5,-5.5h11v11h-11z")
COLOURS = ("#0072b2", "#d55e00")
HEAD = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
    'role="img" aria-label="{label}" font-family="sans-serif" font-size="15">\n'
    f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff" stroke="#d5d9df"/>\n'
)


def perceptron() -> str:
    """Return the perceptron as it learns, one point after the other, until it makes no mistake."""
    board = Recipe("separable", 30, 0.45, 6).board()
    return record(trace(board, ModelSpec("Perceptron")), "The perceptron learns until a line separates two classes")


def record(found: Trace, label: str) -> str:
    """Return a trace of a two-class plane as an SVG: its points, the plane and the point just learned."""
    moments = range(1, len(found))
    ends = [_ends(found.model(k)) for k in moments]
    n = len(found.board.points)
    length = SECONDS * len(ends)
    now = [found.board.points[(found.positions[k] - 1) % n] for k in moments]
    lines = [HEAD.format(label=label)]
    for x, y, k in found.board.points:
        place = f"translate({_across(x)},{_down(y)})"
        lines.append(f'<path d="{SHAPES[int(k)]}" fill="{COLOURS[int(k)]}" transform="{place}"/>\n')
    ring = {"cx": [_across(x) for x, _, _ in now], "cy": [_down(y) for _, y, _ in now]}
    lines.append(f'<circle r="11" fill="none" stroke="#1b1e23" stroke-width="2">{_animated(ring, length)}</circle>\n')
    plane = {name: [one[k] for one in ends] for k, name in enumerate(("x1", "y1", "x2", "y2"))}
    lines.append(f'<line stroke="#1b1e23" stroke-width="3">{_animated(plane, length)}</line>\n')
    return "".join([*lines, f'<text x="12" y="{HEIGHT - 12}" fill="#5b6470">{found.spec.call}</text>\n</svg>\n'])


def _animated(values: dict[str, list[float]], length: float) -> str:
    how = f'dur="{length:.2f}s" calcMode="discrete" repeatCount="{REPEATS}" fill="freeze"'
    return "".join(
        f'<animate attributeName="{name}" values="{";".join(map(str, all_of_it))}" {how}/>'
        for name, all_of_it in values.items()
    )


def _ends(model: Any) -> tuple[float, float, float, float]:
    """Return two ends of w0 + w1 x + w2 y = 0 far outside the picture; where there is no plane yet, a point."""
    w0, (w1, w2) = float(model.intercept_[0]), map(float, model.coef_[0])
    size = w1 * w1 + w2 * w2
    if size == 0:
        return (-10.0, -10.0, -10.0, -10.0)
    x, y = -w0 * w1 / size, -w0 * w2 / size
    a, b = -w2 * 12 / size**0.5, w1 * 12 / size**0.5
    return _across(x - a), _down(y - b), _across(x + a), _down(y + b)


def _across(x: float) -> float:
    return round(float((x + 4) * UNIT), 1)


def _down(y: float) -> float:
    return round(float((3 - y) * UNIT), 1)


RECORDINGS = {"perceptron.svg": perceptron}
"""The recordings by their file in docs/assets."""

if __name__ == "__main__":
    for name, make in RECORDINGS.items():
        (ASSETS / name).write_text(make(), encoding="utf-8")
