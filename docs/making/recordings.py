"""Recordings: scenes of the playground as animated SVG, for the galleries, the guide and the README.

`make recordings` writes them to docs/assets/recordings; a test holds the files equal to what this makes. A recording is
the board and the systems of a step of its scene, learning as on the page, or with a control of the scene moved along.
It moves by style sheet alone: REPEATS times, not at all where motion is reduced, and it has a dark look.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from contourpy import contour_generator
from numpy.typing import NDArray

from adaline.playground.boards import Board, Recipe
from adaline.playground.forms import ModelSpec
from adaline.playground.instruments import INSTRUMENTS
from adaline.playground.pictures import Window, picture
from adaline.playground.scenes import scenes
from adaline.playground.traces import Trace, quiet, trace

FOLDER = Path(__file__).parents[1] / "assets" / "recordings"
WIDTH, HEIGHT, UNIT = 480, 360, 60  # of a board from -4 to 4 and from -3 to 3
FOOT = 28  # below the boards, for words
GAP = 10  # between two boards
REPEATS = 4
WINDOW = Window(-4, 4, -3, 3, 80, 60)
SHAPES = (
    "M-6,0a6,6 0 1,0 12,0a6,6 0 1,0 -12,0z",
    "M-5.4,-5.4h10.8v10.8h-10.8z",
    "M0,-7l7,12h-14z",
    "M0,-7.5l7.5,7.5l-7.5,7.5l-7.5,-7.5z",
)
STYLE = """
svg{--i:#1b1e23;--s:#5b6470;--p:#fff;--g:#e3e6ea;--a:#0072b2;--b:#d55e00;--c:#009e73;--d:#cc79a7}
@media(prefers-color-scheme:dark){svg{--i:#e8eaed;--s:#a5adb8;--p:#1d2126;--g:#3a414a;--a:#56b4e9}}
.k0{fill:var(--a)}.k1{fill:var(--b)}.k2{fill:var(--c)}.k3{fill:var(--d)}
.o{stroke:var(--p);stroke-width:1.2}.w{fill:none;stroke:var(--i);stroke-width:2.5}.h{fill-opacity:.13}
.l1,.l2,.n{fill:none;stroke:var(--i);stroke-width:3}.l2{stroke-dasharray:7 5}.n{stroke-width:2}
.e{fill:none;stroke:var(--b);stroke-width:1.2}.u{fill:none;stroke:var(--a);stroke-width:3.5}.v{fill:none;stroke:var(--b);stroke-width:3.5}
.q{fill:none;stroke:var(--s);stroke-opacity:.45;stroke-width:1.5}text{fill:var(--s)}
.f{visibility:hidden}
"""
MOVING = """.f{{animation:f {length:.2f}s step-end {repeats}}}.t{{animation:t {length:.2f}s step-end {repeats}}}
@keyframes f{{0%{{visibility:visible}}{first:.5f}%{{visibility:hidden}}}}
@keyframes t{{0%{{visibility:hidden}}{last:.5f}%{{visibility:visible}}}}
@media(prefers-reduced-motion:reduce){{.f,.t{{animation:none}}}}
"""


@dataclass(frozen=True)
class Recording:
    """A scene that is recorded: the example whose page shows it, what one sees, and what makes it."""

    scene: str
    example: str
    label: str
    make: Callable[[Recording], str]

    @property
    def file(self) -> str:
        return f"{self.scene}.svg"


def step_of(scene: str, index: int) -> dict[str, Any]:
    """Return what holds at a step of a scene: all that it and the steps before it have set."""
    out: dict[str, Any] = {}
    for step in next(one for one in scenes() if one["id"] == scene)["steps"][: index + 1]:
        for one, other in (("recipe", "points"), ("points", "recipe")):
            if one in step:
                out.pop(other, None)
        out |= step
    return json.loads(json.dumps(out))


def board_of(step: dict[str, Any]) -> Board:
    """Return the board of a step."""
    return Recipe(**step["recipe"]).board()


def learned(board: Board, model: dict[str, Any]) -> Trace:
    """Return the trace of a system on a board."""
    return trace(board, ModelSpec(**model))


# A whole recording


def animated(label: str, still: str, frames: Sequence[str], seconds: float, height: int = HEIGHT) -> str:
    """Return an SVG that shows the frames one after the other, of which the last one stays, and `still` upon them."""
    share, length = 100 / len(frames), seconds * len(frames)
    moving = MOVING.format(length=length, repeats=REPEATS, first=share, last=100 - share)
    groups = [
        f'<g class="f" style="animation-delay:{k * seconds:.2f}s">{one}</g>\n'
        if k + 1 < len(frames)
        else f'<g class="t">{one}</g>\n'
        for k, one in enumerate(frames)
    ]
    full = height + FOOT
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {full}" width="{WIDTH}" height="{full}" ',
            f'role="img" aria-label="{escape(label)}" font-family="sans-serif" font-size="15">\n',
            f"<title>{escape(label)}</title>\n",
            f'<style>{STYLE}{moving}</style>\n<rect width="{WIDTH}" height="{full}" rx="8" style="fill:var(--p)"/>\n',
            f'<defs><clipPath id="r"><rect width="{WIDTH}" height="{HEIGHT}"/></clipPath>',
            '<circle id="rim" class="w" r="9"/>',
            *(f'<path id="p{k}" class="k{k} o" d="{shape}"/>' for k, shape in enumerate(SHAPES)),
            "</defs>\n",
            *groups,
            f"{still}\n</svg>\n",
        ]
    )


def words(text: str, height: int = HEIGHT) -> str:
    """Return words below the boards."""
    return f'<text x="12" y="{height + 18}">{escape(text)}</text>'


def beside(left: str, right: str) -> str:
    """Return two boards in the width of one."""
    scale = (WIDTH - GAP) / 2 / WIDTH
    return inside(left, 0, scale) + inside(right, (WIDTH + GAP) / 2, scale)


def inside(drawn: str, x: float = 0, scale: float = 1) -> str:
    """Return what is drawn on one board, cut off at its edges."""
    return f'<g transform="translate({x:g},0) scale({scale:.4g})" clip-path="url(#r)">{drawn}</g>'


HALF = round(HEIGHT * (WIDTH - GAP) / 2 / WIDTH)  # how high two boards side by side are


# What is on a board


def across(x: float) -> str:
    """Return how far from the left a place is, in pixels."""
    return f"{(x + 4) * UNIT:.1f}".removesuffix(".0")


def down(y: float) -> str:
    """Return how far from the top a place is, in pixels."""
    return f"{(3 - y) * UNIT:.1f}".removesuffix(".0")


def dots(board: Board, labels: Sequence[int] | None = None) -> str:
    """Return the points, by their classes or by other labels."""
    kinds = labels if labels is not None else board.points[:, 2].astype(int).tolist()
    places = zip(kinds, board.points[:, :2], strict=True)
    return "".join(f'<use href="#p{k % len(SHAPES)}" x="{across(x)}" y="{down(y)}"/>' for k, (x, y) in places)


def rims(board: Board, rows: Sequence[int]) -> str:
    """Return rims of points, as of those that are wrong."""
    return "".join(f'<use href="#rim" x="{across(x)}" y="{down(y)}"/>' for x, y, _ in board.points[rows])


def ring(board: Board, row: int) -> str:
    """Return a ring around a point."""
    x, y, _ = board.points[row]
    return f'<circle class="n" r="11" cx="{across(x)}" cy="{down(y)}"/>'


def regions(model: Any, levels: Sequence[float] = (0.0,)) -> str:
    """Return where each class wins; with levels of its posterior, the surer the darker."""
    grid = Window(-4.1, 4.1, -3.1, 3.1, 83, 63)
    rows = grid.grid()
    with quiet():
        if levels == (0.0,):
            z = np.asarray(model.decision_function(rows)).reshape(len(rows), -1)
            z = np.hstack([-z, z]) if z.shape[1] == 1 else z - np.sort(z, axis=1)[:, -2:-1]
        else:
            z = np.asarray(model.predict_proba(rows))
    x, y = rows[: grid.columns, 0], rows[:: grid.columns, 1]
    out = []
    for k in range(z.shape[1]):
        found = contour_generator(x, y[::-1], z[:, k].reshape(grid.rows, grid.columns)[::-1], fill_type="OuterOffset")
        for level in levels:
            for corners, offsets in zip(*found.filled(level, np.inf), strict=True):
                rings = (corners[a:b] for a, b in pairwise(offsets))
                out.append(f'<path class="h k{k}" d="{"".join(map(outline, rings))}"/>')
    return "".join(out)


def outline(corners: NDArray[np.float64]) -> str:
    """Return a closed line, without the corners that lie on a straight one."""
    places = np.column_stack([(corners[:, 0] + 4) * UNIT, (3 - corners[:, 1]) * UNIT])
    half = len(places) // 2
    kept = np.vstack([thinned(places[: half + 1])[:-1], thinned(places[half:])[:-1]])
    return "M" + "L".join(f"{x:.0f},{y:.0f}" for x, y in kept) + "z"


def thinned(line: NDArray[np.float64], off: float = 0.6) -> NDArray[np.float64]:
    """Return a line with few corners, nowhere farther than `off` from the one given (Douglas and Peucker)."""
    if len(line) < 3:
        return line
    along = line[-1] - line[0]
    length = float(np.hypot(*along))
    away = line - line[0]
    distance = np.abs(away[:, 0] * along[1] - away[:, 1] * along[0]) / length if length else np.hypot(*away.T)
    worst = int(distance.argmax())
    if distance[worst] <= off:
        return line[[0, -1]]
    return np.vstack([thinned(line[: worst + 1], off)[:-1], thinned(line[worst:], off)])


def plane(w: Sequence[float], look: str = "l1") -> str:
    """Return the line w0 + w1 x + w2 y = 0, with its normal."""
    w0, w1, w2 = w
    size = w1 * w1 + w2 * w2
    if not size:
        return ""
    x, y = -w0 * w1 / size, -w0 * w2 / size
    a, b = -w2 * 12 / size**0.5, w1 * 12 / size**0.5
    tip = (x + 0.7 * b / 12, y - 0.7 * a / 12)
    return stroke([(x - a, y - b), (x + a, y + b)], look) + arrow((x, y), tip)


def stroke(places: Sequence[tuple[float, float]], look: str) -> str:
    """Return a line through places."""
    return f'<path class="{look}" d="M{"L".join(f"{across(x)},{down(y)}" for x, y in places)}"/>'


def arrow(start: tuple[float, float], tip: tuple[float, float]) -> str:
    """Return an arrow."""
    (x, y), (a, b) = start, tip
    turn, head = np.arctan2(b - y, a - x), 0.18
    wings = [(a - head * np.cos(turn + s), b - head * np.sin(turn + s)) for s in (0.5, -0.5)]
    return stroke([start, tip], "n") + stroke([wings[0], tip, wings[1]], "n")


def curve(drawn: dict[str, Any], look: str = "u") -> str:
    """Return a fitted curve."""
    places = np.array([(x, min(max(y, -9), 9)) for x, y in zip(drawn["x"], drawn["curve"], strict=True)])
    return stroke([(float(x), float(y)) for x, y in thinned(places, 0.3 / UNIT)], look)


def residuals(board: Board, drawn: dict[str, Any]) -> str:
    """Return strokes from the points to the curve."""
    ends = zip(board.points[:, 0], board.points[:, 1], drawn["predicted"], strict=True)
    return '<path class="e" d="' + "".join(f"M{across(x)},{down(y)}V{down(p)}" for x, y, p in ends) + '"/>'


def drawn_at(found: Trace, moment: int) -> dict[str, Any]:
    """Return what the page draws of a trace at a moment."""
    return picture(found, moment, WINDOW)


def spaced(count: int, most: int, first: int = 0) -> list[int]:
    """Return at most so many of the moments, evenly spaced, the last one among them."""
    return sorted({int(k) for k in np.linspace(first, count - 1, min(most, count - first)).round()})


# The recordings


def two_classes(found: Trace, moment: int) -> str:
    """Return a plane between two classes at a moment, with the point that was just learned."""
    model = found.model(moment)
    drawn = drawn_at(found, moment)
    now = ring(found.board, drawn["row"]) if "row" in drawn else ""
    return regions(model) + rims(found.board, drawn["wrong"]) + now + plane(drawn["planes"][0])


def perceptron(recording: Recording) -> str:
    """The plane moves at every mistake, until there is none."""
    step = step_of(recording.scene, 0)
    found = learned(board_of(step), step["model"])
    frames = [
        inside(two_classes(found, k)) + words(f"Perceptron(): {found.positions[k]} points seen")
        for k in spaced(len(found), 44, 1)
    ]
    return animated(recording.label, inside(dots(found.board)), frames, 0.16)


def descent(recording: Recording) -> str:
    """A step for all points together, down the error surface."""
    step = step_of(recording.scene, 0)
    board = board_of(step)
    found = learned(board, step["model"])
    return on_the_surface(recording, board, [found], spaced(min(len(found), 60), 26), "gradient step {}")


def stochastic(recording: Recording) -> str:
    """A step for each point, beside batch descent, which takes one for all of them."""
    step = step_of(recording.scene, 0)
    board = board_of(step)
    batch, single = (learned(board, step[name]) for name in ("model", "rival"))
    moments = [k for k, position in enumerate(single.positions) if position % 10 == 0 or position < 10]
    return on_the_surface(
        recording, board, [single, batch], moments, "{} points seen by the stochastic rule, none twice"
    )


def on_the_surface(recording: Recording, board: Board, traces: list[Trace], moments: list[int], text: str) -> str:
    """Return a line through points beside the error over its two weights, with the path that the weights take."""
    surface = INSTRUMENTS["surface"](board, None, {})
    (cx, cy), curvature = surface["centre"], np.array(surface["curvature"])
    paths = [np.array(one.weights) for one in traces]
    reach = 1.25 * float(np.abs(paths[0][0] - [cx, cy]).max())
    unit = 170 / reach

    def at(w: Sequence[float]) -> str:
        return f"{240 + (w[0] - cx) * unit:.1f},{180 - (w[1] - cy) * unit:.1f}"

    values, vectors = np.linalg.eigh(curvature)
    turn = float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0])) % 180)
    rings = "".join(
        f'<ellipse class="q" rx="{unit * (level / values[0]) ** 0.5:.1f}" ry="{unit * (level / values[1]) ** 0.5:.1f}" '
        f'transform="translate(240,180) rotate({-turn:.1f})"/>'
        for level in (values[1] * reach**2 / 2.0**k for k in range(-1, 9))
    )
    looks = ("v", "u")
    frames = []
    for moment in moments:
        end = traces[0].positions[moment]
        shown = [
            path[: sum(p <= end for p in one.positions)] if k == 0 else path[: 1 + end // len(board.points)]
            for k, (one, path) in enumerate(zip(traces, paths, strict=True))
        ]
        w0, w1 = shown[0][-1]
        left = stroke([(-4, w0 - 4 * w1), (4, w0 + 4 * w1)], "v")
        right = ""
        for k, path in enumerate(shown):
            x, y = at(path[-1]).split(",")
            line = f'<path class="{looks[k]}" d="M{"L".join(map(at, path))}"/>'
            right += f'{line}<circle class="k{1 - k}" r="6" cx="{x}" cy="{y}"/>'
        frames.append(beside(left, right) + words(text.format(end), HALF))
    cross = '<path class="n" d="M232,180h16M240,172v16"/>'
    return animated(recording.label, beside(dots(board), rings + cross), frames, 0.2, height=HALF)


def one_line(recording: Recording) -> str:
    """The line moves a little at each point."""
    step = step_of(recording.scene, 0)
    found = learned(board_of(step), step["model"])
    frames = []
    for k in spaced(min(len(found), 61), 40, 1):
        drawn = drawn_at(found, k)
        frames.append(
            inside(curve(drawn, "v") + ring(found.board, drawn["row"]))
            + words(f"LMS(rate=0.05): {found.positions[k]} points seen")
        )
    return animated(recording.label, inside(dots(found.board)), frames, 0.16)


def swept(recording: Recording, index: int, path: str, values: Sequence[Any], text: str, seconds: float) -> str:
    """Return the curve of a scene as one of its controls moves, with the error on fresh points."""
    step = step_of(recording.scene, index)
    board, fresh = board_of(step), Recipe(**step["recipe"]).board(fresh=True)
    frames = []
    for value in values:
        *way, last = path.split(".")
        place = step["model"]
        for name in way:
            place = place[name]
        place[last] = value
        found = learned(board, step["model"])
        drawn = drawn_at(found, len(found) - 1)
        with quiet():
            error = float(np.sqrt(np.mean((found.fitted.predict(fresh.X) - fresh.y) ** 2)))
        frames.append(
            inside(residuals(board, drawn) + curve(drawn))
            + words(text.format(value) + f"; error {drawn['error']:.2f}, on fresh points {error:.2f}")
        )
    return animated(recording.label, inside(dots(board)), frames, seconds)


def ridge(recording: Recording) -> str:
    """The penalty grows."""
    values = [round(float(v), 5) for v in np.geomspace(1e-4, 1e3, 22)]
    return swept(recording, 0, "settings.penalty", values, "penalty {:.2g}", 0.25)


def square_wave(recording: Recording) -> str:
    """Terms are added."""
    return swept(recording, 0, "basis_settings.terms", [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23], "{} terms", 0.5)


def richness(recording: Recording) -> str:
    """The degree grows."""
    return swept(recording, 0, "basis_settings.degree", list(range(1, 13)), "degree {}", 0.6)


def outliers(recording: Recording) -> str:
    """A point is dragged down; squares follow it, Tukey's criterion does not."""
    step = step_of(recording.scene, 0)
    board = board_of(step)
    row = int(board.points[:, 0].argmax())
    frames = []
    for y in np.linspace(board.points[row, 1], -2.7, 20):
        points = board.points.copy()
        points[row, 1] = y
        moved = Board("numbers", points)
        shown = [
            curve(drawn_at(found, len(found) - 1), look)
            for found, look in (
                (learned(moved, {"system": "LinearRegression"}), "v"),
                (learned(moved, {"system": "RobustRegression", "settings": {"loss": "tukey"}}), "u"),
            )
        ]
        frames.append(inside("".join(shown) + dots(moved) + ring(moved, row)))
    legend = words("orange: least squares; blue: Tukey's criterion")
    return animated(recording.label, legend, [*frames, *frames[-1:] * 5], 0.15)


def too_correct(recording: Recording) -> str:
    """Points move farther onto their own side; least squares follows them, logistic regression does not."""
    step = step_of(recording.scene, 0)
    board = board_of(step)
    far = board.points[:, 0] > 2.2
    frames = []
    for by in np.linspace(-2.4, 0, 16):
        points = board.points.copy()
        points[far, 0] += by
        moved = Board("classes", points)
        shown = [drawn_at(one, len(one) - 1) for one in (learned(moved, step["model"]), learned(moved, step["rival"]))]
        lines = plane(shown[0]["planes"][-1], "l2") + plane(shown[1]["planes"][0])
        frames.append(inside(lines + rims(moved, shown[0]["wrong"]) + dots(moved)))
    text = words("dashed: least squares; solid: logistic regression")
    return animated(recording.label, text, [*frames, *frames[-1:] * 4], 0.2)


def pocket(recording: Recording) -> str:
    """Two boards, epoch by epoch."""
    step = step_of(recording.scene, 1)
    board = board_of(step)
    traces = [learned(board, {**step[name], "settings": {"epochs": 24}}) for name in ("model", "rival")]
    frames = []
    for epoch in range(1, 25):
        moments = [
            max(k for k, p in enumerate(one.positions) if p <= epoch * (len(board.points) if one.unit == "row" else 1))
            for one in traces
        ]
        shown = [drawn_at(one, k) for one, k in zip(traces, moments, strict=True)]
        boards = [
            regions(one.model(k)) + rims(board, drawn["wrong"]) + plane(drawn["planes"][0])
            for one, k, drawn in zip(traces, moments, shown, strict=True)
        ]
        left, right = (f"{one['error']:.0%}" for one in shown)
        frames.append(beside(*boards) + words(f"epoch {epoch}: perceptron {left} wrong, pocket {right}", HALF))
    return animated(recording.label, beside(dots(board), dots(board)), frames, 0.35, height=HALF)


def fisher(recording: Recording) -> str:
    """The direction turns to Fisher's."""
    step = step_of(recording.scene, 0)
    board = board_of(step)
    best = INSTRUMENTS["projection"](board, None, {"angle": 0})["facts"]["best"]
    frames = []
    for angle in np.linspace(best - 118, best, 21).round(1):
        found = INSTRUMENTS["projection"](board, None, {"angle": float(angle)})
        a, b = found["direction"]
        feet = {0: "", 1: ""}
        for (x, y), k in zip(board.X, board.index, strict=True):
            s = a * x + b * y
            feet[int(k)] += (
                f"M{across(s * a - 0.1 * b)},{down(s * b + 0.1 * a)}L{across(s * a + 0.1 * b)},{down(s * b - 0.1 * a)}"
            )
        ticks = "".join(
            f'<path class="{look}" style="stroke-width:2" d="{feet[k]}"/>' for k, look in ((0, "u"), (1, "v"))
        )
        drawn = arrow((-2.7 * a, -2.7 * b), (2.7 * a, 2.7 * b)) + ticks
        frames.append(inside(drawn) + words(f"J(w) is {found['facts']['share']:.0%} of the largest"))
    return animated(recording.label, inside(dots(board)), [*frames, *frames[-1:] * 6], 0.16)


def by_steps(recording: Recording) -> str:
    """Logistic regression by Newton's method: posteriors after each step."""
    step = step_of(recording.scene, 0)
    found = learned(board_of(step), step["model"])
    frames = []
    for k in range(1, min(len(found), 11)):
        drawn = drawn_at(found, k)
        shown = (
            regions(found.model(k), (0.5, 0.7, 0.9, 0.97))
            + rims(found.board, drawn["wrong"])
            + plane(drawn["planes"][0])
        )
        length = float(np.linalg.norm(drawn["weights"]))
        frames.append(inside(shown) + words(f"step {k} of Newton's method: length of the weights {length:.4g}"))
    return animated(recording.label, inside(dots(found.board)), frames, 0.8)


def clusters(recording: Recording) -> str:
    """Points take the colours of their clusters, iteration by iteration."""
    step = step_of(recording.scene, 0)
    board = board_of(step)
    found = learned(board, step["model"])
    frames = []
    for k in spaced(len(found), 14):
        drawn = drawn_at(found, k)
        marks = "".join(
            f'<path class="n" d="M{across(x - 0.14)},{down(y)}h17M{across(x)},{down(y + 0.14)}v17"/>'
            for x, y in drawn["centres"]
        )
        for (x, y), (a, b, turn) in zip(drawn["centres"], drawn.get("axes", []), strict=False):
            for times in (1, 2):
                marks += (
                    f'<ellipse class="n" rx="{times * a * UNIT:.1f}" ry="{times * b * UNIT:.1f}" '
                    f'transform="translate({across(x)},{down(y)}) rotate({-(turn % 180):.1f})"/>'
                )
        what = "mean squared distance" if "axes" not in drawn else "minus log-likelihood a point"
        frames.append(
            inside(dots(board, drawn["labels"]) + marks)
            + words(f"iteration {found.positions[k]}: {what} {drawn['error']:.3f}")
        )
    return animated(recording.label, "", [*frames, *frames[-1:] * 2], 0.5)


RECORDINGS = {
    one.scene: one
    for one in (
        Recording(
            "perceptron",
            "s1_perceptron_convergence",
            "The perceptron learns, one point after the other, until a line separates two classes",
            perceptron,
        ),
        Recording(
            "descent",
            "s0_descent_and_pseudo_inverse",
            "Gradient descent turns a line into the least-squares one, and walks down the error surface",
            descent,
        ),
        Recording(
            "ridge",
            "s0_ridge_filters_and_generalises",
            "As the penalty of ridge regression grows, a curve that follows the noise becomes calm, then flat",
            ridge,
        ),
        Recording("lms", "s0_lms_bound", "LMS moves its line a little at each point that it sees", one_line),
        Recording(
            "outliers",
            "s1_outliers",
            "A point is dragged down: the least-squares line follows it, that of Tukey's criterion does not",
            outliers,
        ),
        Recording(
            "pocket",
            "s2_perceptron_and_pocket",
            "On classes that overlap the perceptron's plane jumps about, while the pocket keeps the best one",
            pocket,
        ),
        Recording(
            "fisher",
            "s2_fisher_three_ways",
            "A direction is turned until the feet of two classes on it are as far apart as can be",
            fisher,
        ),
        Recording(
            "too-correct",
            "s2_too_correct",
            "Points move farther onto their own side, and the plane of least squares follows them into errors",
            too_correct,
        ),
        Recording(
            "irls",
            "s2_irls_steps",
            "The posteriors of logistic regression after each step of Newton's method",
            by_steps,
        ),
        Recording(
            "kmeans", "s3_kmeans_local_optima", "Four centres of k-means leave one corner for their clusters", clusters
        ),
        Recording("em", "s3_em_never_falls", "Two Gaussians of a mixture find two long clusters that cross", clusters),
        Recording(
            "square-wave",
            "s3_square_wave",
            "Sines follow a square wave the better the more of them there are",
            square_wave,
        ),
        Recording(
            "growth",
            "s3_separable_weights_grow",
            "On separable classes the weights of logistic regression grow with every step",
            by_steps,
        ),
        Recording(
            "richness", "s4_richer_families", "Polynomials of rising degree follow the points, then the noise", richness
        ),
        Recording(
            "stochastic",
            "s4_stochastic_needs_fewer_passes",
            "The stochastic rule reaches the minimum while batch descent takes its first step",
            stochastic,
        ),
    )
}
"""The recordings by the id of their scene."""


def files() -> Iterator[tuple[Path, str]]:
    """The recordings by their file."""
    for one in RECORDINGS.values():
        yield FOLDER / one.file, one.make(one)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in files():
        path.write_text(text, encoding="utf-8")
        print(f"{path.name}: {len(text) / 1000:.1f} kB")
