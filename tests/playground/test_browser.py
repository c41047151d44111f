"""The playground in a real browser, Debian's Chromium driven by Playwright: `make test-browser`."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import adaline
from adaline import Perceptron
from adaline.playground.instruments import recording
from adaline.playground.scenes import scenes
from adaline.playground.traces import quiet, shown_weights

pytestmark = pytest.mark.browser
KEPT = os.environ.get("PLAYGROUND_SCREENSHOTS")  # a folder for screenshots of every scene
WIDTHS = (1280, 390)
BOARD = "#board-0"
TOUCH = {"width": 390, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    playground = adaline.play()
    yield playground.url
    playground.close()


class Visitor:
    """A page with what went wrong on it: errors on its console, requests that leave the machine."""

    def __init__(
        self, browser: Any, address: str, width: int = 1280, scheme: str = "light", motion: str = "reduce", **more: Any
    ) -> None:
        self.address = address
        self.troubles: list[str] = []
        self.page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion=motion, **more
        )
        self.page.on("console", lambda one: one.type in ("error", "warning") and self.troubles.append(one.text))
        self.page.on("pageerror", lambda one: self.troubles.append(str(one)))
        self.page.on("request", self._watch)

    def _watch(self, request: Any) -> None:
        if urlsplit(request.url).hostname != "127.0.0.1" and not request.url.startswith("data:"):
            self.troubles.append(f"asked for {request.url}")

    def open(self, tail: str = "#board") -> Any:
        self.page.goto("about:blank")
        self.page.goto(self.address + tail)
        self.page.wait_for_selector("body[data-ready]", timeout=60_000)
        self.rest()
        return self.page

    def rest(self) -> None:
        """Wait until nothing that was asked of the server is without an answer."""
        idle = "playground.link.waiting.size === 0 && !playground.slots.some(one => one.busy) && !playground.pending"
        for _ in range(2):  # an answer may lead to another question
            self.until(idle)
            self.page.wait_for_timeout(30)

    def until(self, condition: str) -> None:
        """Wait until an expression is true: from outside, as the page's own policy lets no text be evaluated."""
        for _ in range(3000):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"never true: {condition}")

    def close(self) -> None:
        self.page.close()
        assert self.troubles == []

    # -- what a person does, and waits for ----------------------------------------------------------------------------

    def do(self, script: str, *given: Any) -> None:
        self.page.evaluate(script, *given)
        self.rest()

    def click(self, look: str) -> None:
        self.page.locator(look).click()
        self.rest()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.rest()

    def point(self, x: float, y: float) -> None:
        self.page.mouse.click(*self.at(x, y))
        self.rest()

    def drag(self, start: Any, end: tuple[float, float]) -> None:
        self.page.mouse.move(*self.at(*start))
        self.page.mouse.down()
        self.page.mouse.move(*self.at(*end), steps=6)
        self.page.mouse.up()
        self.rest()

    def paste(self, text: str) -> None:
        """Type a table, and put it on the board."""
        self.page.evaluate(OPENED)
        self.page.locator("#csv").fill(text)
        self.click("#csv-take")

    # -- what is there ------------------------------------------------------------------------------------------------

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where on the screen a place of the board is."""
        box = self.page.locator(BOARD).bounding_box()
        return box["x"] + box["width"] * (x + 4) / 8, box["y"] + box["height"] * (3 - y) / 6

    @property
    def points(self) -> list[list[float]]:
        return list(self.page.evaluate("playground.state.points"))

    def facing(self, row: int) -> tuple[float, float]:
        """Return where on the board a point lies."""
        x, y, _ = self.points[row]
        return x, y

    def text(self, look: str) -> str:
        return str(self.page.locator(look).inner_text())

    def numbers(self, look: str, *names: str) -> list[list[float]]:
        """Return attributes of all that is drawn with a look."""
        read = "([l, names]) => [...document.querySelectorAll(l)].map(e => names.map(n => Number(e.getAttribute(n))))"
        return list(self.page.evaluate(read, [look, list(names)]))

    def words(self, look: str, name: str) -> list[str]:
        """Return an attribute of all that is drawn with a look."""
        read = "([look, name]) => [...document.querySelectorAll(look)].map(e => e.getAttribute(name))"
        return list(self.page.evaluate(read, [look, name]))

    def plane(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the plane that is drawn, in the units of the board, and the weights that it says."""
        x1, y1, x2, y2 = self.numbers(f"{BOARD} .plane", "x1", "y1", "x2", "y2")[0]
        ends = np.array([[x1 / 110 - 4, 3 - y1 / 110], [x2 / 110 - 4, 3 - y2 / 110]])
        return ends, np.array([float(w) for w in self.words(f"{BOARD} .plane", "data-w")[0].split()])

    def program(self) -> dict[str, Any]:
        """Run what is shown as Python; return what it makes, by name."""
        space: dict[str, Any] = {}
        with quiet(), redirect_stdout(StringIO()):
            exec(self.page.locator("#code").inner_text(), space)
        return space


OPENED = "for (const one of document.querySelectorAll('#points-card, #points-card details')) one.open = true"


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Visitor]]:
    """Visit with other settings; nothing may have gone wrong at the end."""
    made: list[Visitor] = []

    def visit(at: str = address, **settings: Any) -> Visitor:
        made.append(Visitor(browser, at, **settings))
        return made[-1]

    yield visit
    for one in made:
        one.close()


@pytest.fixture
def visitor(visit: Callable[..., Visitor]) -> Visitor:
    return visit()


CROWDED = """() => {
  const out = [];
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) out.push(`the page is ${wide} pixels too wide`);
  const blocks = [...document.querySelectorAll("main .card, .frame, .player, .tools, header")];
  const shown = blocks.filter(e => e.offsetParent);
  for (const a of shown) for (const b of shown) {
    if (a === b || a.contains(b) || b.contains(a)) continue;
    const p = a.getBoundingClientRect(), q = b.getBoundingClientRect();
    const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (across > 1 && down > 1) out.push(`${a.id || a.className} lies on ${b.id || b.className}`);
  }
  for (const e of document.querySelectorAll("button, legend, #guide p, #guide span, .formulas, .verdict p")) {
    if (e.offsetParent && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline")
      out.push(`clipped: ${e.textContent}`);
  }
  return out;
}"""


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene["id"])
def test_a_scene_is_walked_through(visit: Callable[..., Visitor], scene: dict[str, Any]) -> None:
    """Every step loads and runs at both widths, nothing overlaps or is clipped, and its question is checked."""
    for width, scheme in zip(WIDTHS, ("light", "dark"), strict=True):
        visitor = visit(width=width, scheme=scheme)
        page = visitor.open(f"#scene={scene['id']}")
        for k, step in enumerate(scene["steps"]):
            assert visitor.text("#guide h2") == scene["title"]
            assert page.locator("#guide math").count() > 0
            if page.locator("#play").is_visible():
                visitor.press("n")
                page.locator("#last").dispatch_event("click")
                visitor.rest()
                if "instrument" in step and step["instrument"]["name"] not in ("dimension", "bumps", "noise"):
                    assert page.locator("#chart").is_visible()
            assert page.locator(".verdict .bad[role=alert], #chart > .bad").count() == 0
            assert page.evaluate(CROWDED) == []
            if KEPT:
                page.screenshot(path=Path(KEPT) / f"{scene['id']}-{k + 1}-{width}.png", full_page=True)
            answer(page, step)
            if k + 1 < len(scene["steps"]):
                visitor.click("#step-next")


def answer(page: Any, step: dict[str, Any]) -> None:
    question = step.get("question") or {"kind": None}
    if question["kind"] == "choice":
        wrong = (question["answer"] + 1) % len(step["options"])
        page.locator(f"#question input[value='{wrong}']").check()
        assert "bad" in page.locator(".answer").get_attribute("class")
        page.locator(f"#question input[value='{question['answer']}']").check()
    elif question["kind"] == "number":
        known = question.get("value")
        if known is None:
            known = page.evaluate(f"playground.fact({question['of']!r}, {question['fact']!r})")
        page.locator("#number-answer").fill(str(known))
        page.locator("#question button").click()
    else:
        return
    assert "good" in page.locator(".answer").get_attribute("class")


# -- what is drawn is what the systems say ---------------------------------------------------------------------------


def test_what_is_drawn_agrees_with_the_numbers(visitor: Visitor) -> None:
    page = visitor.open("#scene=perceptron&step=2")
    points = np.array(visitor.points)
    X, y = points[:, :2], points[:, 2].astype(int)
    for moment in (7, 20, page.evaluate("playground.length") - 1):
        visitor.do(f"playground.go({moment})")
        model, rows = Perceptron(), np.arange(moment) % len(X)
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
        ends, weights = visitor.plane()
        np.testing.assert_allclose(weights, shown_weights(model), rtol=1e-8)
        values = np.column_stack([np.ones(2), ends]) @ weights
        np.testing.assert_allclose(values, 0, atol=1e-9 * np.abs(weights).max() + 1e-9)
        rims = page.evaluate(f"[...document.querySelectorAll('{BOARD} .point')].map(e => e.matches('.wrong'))")
        assert rims == (model.predict(X) != y).tolist()
    distances = np.abs(np.column_stack([np.ones(len(X)), X]) @ weights) / np.hypot(*weights[1:])
    edges = np.array(visitor.numbers(f"{BOARD} .margin", "x1", "y1"))
    assert len(edges) == 2
    there = np.column_stack([np.ones(2), edges[:, 0] / 110 - 4, 3 - edges[:, 1] / 110]) @ weights
    np.testing.assert_allclose(np.abs(there) / np.hypot(*weights[1:]), distances.min(), atol=1e-6)
    drawn_at = [one[1 : one.index("m")].split(",") for one in visitor.words(f"{BOARD} .point", "d")]
    there = np.column_stack([(X[:, 0] + 4) * 110, (3 - X[:, 1]) * 110])
    np.testing.assert_allclose(np.array(drawn_at, dtype=float), there, atol=0.06)


def test_residuals_are_drawn(visitor: Visitor) -> None:
    page = visitor.open("#scene=regression")
    strokes = "".join(visitor.words(f"{BOARD} .residual", "d")).split("M")[1:]
    points, predicted = np.array(visitor.points), np.array(page.evaluate("playground.boards[0].frame.predicted"))
    ends = [(*map(float, one.split("V")[0].split(",")), float(one.split("V")[1])) for one in strokes]
    there = 110 * np.column_stack([points[:, 0] + 4, 3 - points[:, 1], 3 - predicted])
    np.testing.assert_allclose(sorted(ends), there[np.argsort(there[:, 0])], atol=0.06)


def test_the_path_on_the_error_surface_is_that_of_the_weights(visitor: Visitor) -> None:
    page = visitor.open("#scene=descent")
    visitor.do("playground.go(5)")
    shown = [float(w) for w in page.locator("#weights-now").get_attribute("data-w").split()]
    assert shown == page.evaluate("playground.slots[0].fitted.weights[5]")


def test_the_curves_of_two_systems_have_one_axis(visitor: Visitor) -> None:
    """The perceptron counts rows, the pocket epochs: both are shown by epochs, and the pocket's error never rises."""
    page = visitor.open("#scene=pocket&step=2")
    assert page.evaluate("playground.slots.map(one => playground.places(one.fitted).at(-1))") == [40, 40]
    paths = visitor.words("#curve path.trace", "d")
    drawn = [np.array([one.split(",") for one in path[1:].replace("M", "L").split("L")], dtype=float) for path in paths]
    assert [line[-1, 0] for line in drawn] == [drawn[0][-1, 0]] * 4
    assert np.all(np.diff(drawn[2][:, 1]) >= 0)  # pictures count downwards


@pytest.mark.parametrize(
    ("scene", "moment", "names"), [("perceptron", "17", ["model"]), ("too-correct", "Infinity", ["model", "rival"])]
)
def test_as_python_runs_and_gives_the_same_coefficients(
    visitor: Visitor, scene: str, moment: str, names: list[str]
) -> None:
    page = visitor.open(f"#scene={scene}")
    visitor.click("#code-card > summary")
    visitor.do(f"playground.go({moment})")
    visitor.do("playground.code()")
    space = visitor.program()
    for slot, name in enumerate(names):
        shown = page.evaluate(f"playground.boards[{slot}].frame.weights")
        np.testing.assert_allclose(shown_weights(space[name]), shown, rtol=1e-8)


def test_fishers_direction_is_turned_by_hand(visitor: Visitor) -> None:
    page = visitor.open("#scene=fisher&step=2")
    best = page.evaluate("playground.chart.facts.best")
    assert "small" in page.locator(".answer").get_attribute("class")
    place = page.evaluate("playground.boards[0].handle.at")
    visitor.drag(place, (2.6 * np.cos(np.radians(best)), 2.6 * np.sin(np.radians(best))))
    visitor.until("!playground.turning")
    assert abs(page.evaluate("playground.state.instrument.settings.angle") - best) <= 2
    assert abs(float(page.locator("[data-control='instrument.settings.angle']").input_value()) - best) <= 2
    assert "good" in page.locator(".answer").get_attribute("class")
    x1, y1, x2, y2 = visitor.numbers("#optimum", "x1", "y1", "x2", "y2")[0]
    assert np.degrees(np.arctan2(y1 - y2, x2 - x1)) % 180 == pytest.approx(best, abs=0.1)


def test_the_proof_is_drawn(visitor: Visitor) -> None:
    """From the points of each class strokes lead to the ring, which is the mean of the points by their shares."""
    page = visitor.open("#scene=separability&step=3")
    (ring,) = visitor.numbers("#meeting", "cx", "cy")
    lines = visitor.numbers(".proof-edge", "x1", "y1", "x2", "y2")
    parts = page.evaluate("playground.chart.combination.map(one => [one.share, playground.state.points[one.row][2]])")
    assert len(lines) == len(parts) == page.locator(".share").count() >= 3
    for label in (0, 1):
        own = [(share, line) for (share, k), line in zip(parts, lines, strict=True) if k == label]
        np.testing.assert_allclose(sum(share * np.array(line[:2]) for share, line in own), ring, atol=0.5)
        assert all(line[2:] == ring for _, line in own)


def test_a_crowd_is_drawn_up_to_the_edges(visitor: Visitor) -> None:
    drawn = """x => {
      const board = playground.boards[0];
      playground.state.points = Array.from({ length: 2000 }, () => [x, 0, 0]);
      board.crowded();
      const { width, height } = board.dots.canvas;
      return board.dots.getImageData(x < 0 ? 0 : width - 5, 0, 5, height).data.some((one) => one > 0);
    }"""
    assert [visitor.open().evaluate(drawn, x) for x in (-4, 4)] == [True, True]


# -- the board is worked ---------------------------------------------------------------------------------------------


def test_the_board_is_worked_by_the_keyboard(visitor: Visitor) -> None:
    page = visitor.open()
    before = len(visitor.points)
    page.locator(BOARD).focus()
    for key in ("ArrowRight", "ArrowUp", "2"):  # nothing is waited for between them
        page.keyboard.press(key)
    visitor.press("Enter")
    assert visitor.points[-1] == [0.2, 0.2, 1]
    assert page.locator(f"{BOARD} .point").count() == before + 1
    visitor.press("[", "Shift+ArrowLeft", "Delete")
    assert len(visitor.points) == before
    visitor.press(*["Control+z"] * 3)
    assert len(visitor.points) == before
    visitor.press("Control+Shift+z")
    assert len(visitor.points) == before + 1
    assert visitor.text("#said")


def test_points_are_put_dragged_and_erased_by_hand(visitor: Visitor) -> None:
    page = visitor.open()
    visitor.click("#clear")
    assert "empty" in visitor.text("#verdict-0")
    visitor.point(-1, -1)
    page.locator("#classes button").nth(1).click()
    visitor.point(1, 1)
    assert visitor.text("#verdict-0 .status") == "solved"
    visitor.drag((1, 1), (1.5, 0.5))
    np.testing.assert_allclose(visitor.points[1], [1.5, 0.5, 1], atol=0.02)
    page.locator("[data-tool=erase]").click()
    visitor.point(1.5, 0.5)
    (before,) = visitor.points
    page.locator("[data-tool=brush]").click()
    visitor.drag((-1.1, -1), (-0.9, -1))
    assert visitor.points[0] != before
    np.testing.assert_allclose(visitor.points[0], before, atol=3)


def test_a_click_that_changes_nothing_cannot_be_undone(visitor: Visitor) -> None:
    page = visitor.open()
    for tool in ("add", "move", "erase", "brush"):
        page.locator(f"[data-tool={tool}]").click()
        visitor.point(*(visitor.facing(0) if tool in ("add", "move") else (3.9, 2.9)))
        assert page.locator("#undo").is_disabled(), tool
    visitor.press("Control+z", "Control+Shift+z")
    assert len(visitor.points) == 40


def test_a_touch_puts_a_point_drags_it_and_a_second_finger_does_nothing(visit: Callable[..., Visitor]) -> None:
    visitor = visit(**TOUCH)
    page = visitor.open()
    page.locator("#clear").tap()
    visitor.rest()
    page.locator(BOARD).scroll_into_view_if_needed()
    page.touchscreen.tap(*visitor.at(-1, 1))
    visitor.rest()
    np.testing.assert_allclose(visitor.points, [[-1, 1, 0]], atol=0.05)
    hand = page.context.new_cdp_session(page)

    def touch(kind: str, *fingers: tuple[float, float]) -> None:
        places = [dict(zip("xy", visitor.at(*one), strict=True)) | {"id": k} for k, one in enumerate(fingers)]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    touch("touchStart", (-0.8, 1.2))  # beside the point: a finger is broad
    for k in range(1, 9):
        touch("touchMove", (-0.8 + 1.8 * k / 8, 1.2 - 2.2 * k / 8))
    touch("touchEnd")
    visitor.rest()
    np.testing.assert_allclose(visitor.points, [[1, -1, 0]], atol=0.05)
    for kind, *fingers in (
        ("touchStart", (1, -1)),
        ("touchStart", (1, -1), (2, 2)),
        ("touchMove", (-1, -1), (3, 1)),
        ("touchEnd", (-1, -1)),
        ("touchEnd",),
    ):
        touch(kind, *fingers)
    visitor.rest()
    np.testing.assert_allclose(visitor.points, [[-1, -1, 0]], atol=0.05)


def test_a_finger_that_rests_on_a_point_does_not_remove_it(visitor: Visitor) -> None:
    page = visitor.open()
    held = """pointerType => {
      const [x, y] = playground.state.points[0], box = document.querySelector("#board-0").getBoundingClientRect();
      const at = { clientX: box.left + box.width * (x + 4) / 8, clientY: box.top + box.height * (3 - y) / 6 };
      const event = new PointerEvent("contextmenu", { ...at, pointerType, bubbles: true, cancelable: true });
      document.querySelector("#board-0").dispatchEvent(event);
      return [playground.state.points.length, event.defaultPrevented];
    }"""
    assert [page.evaluate(held, kind) for kind in ("touch", "mouse")] == [[40, True], [39, True]]
    visitor.rest()


def test_a_point_that_is_held_still_is_fitted(visitor: Visitor) -> None:
    """While a finger rests on a point, what is drawn is of the place where it is."""
    page = visitor.open("#scene=regression")
    page.mouse.move(*visitor.at(*visitor.facing(3)))
    page.mouse.down()
    for k in range(12):
        page.mouse.move(*visitor.at(-2 + 0.1 * k, 2))
    visitor.rest()
    points = np.array(visitor.points)
    fitted = adaline.LinearRegression().fit(points[:, :1], points[:, 1])
    np.testing.assert_allclose(page.evaluate("playground.boards[0].frame.weights"), shown_weights(fitted), rtol=1e-7)
    page.mouse.up()
    visitor.rest()
    assert page.evaluate("playground.slots[0].fitted.frame") is None  # all of it is fitted once hands rest


def test_fresh_points_judge_on_when_one_is_dragged(visitor: Visitor) -> None:
    page = visitor.open("#scene=ridge")
    before = page.evaluate("playground.fact('model', 'fresh')")
    visitor.drag(visitor.facing(3), (0, 2.5))
    assert page.evaluate("playground.fact('model', 'fresh')") not in (None, before)


def test_a_field_that_is_changed_stays_where_it_is(visitor: Visitor) -> None:
    """Forms are drawn anew after a change: the field keeps the focus, and what was opened stays open."""
    page = visitor.open()
    page.locator("#model-form summary").click()
    page.locator("#model-form details input[type=number]").first.focus()
    name = page.evaluate("document.activeElement.dataset.field")
    visitor.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.field") == name
    assert page.locator("#model-form details").evaluate("e => e.open")
    page.locator("#points-form [data-field=count]").focus()
    visitor.press(*["ArrowUp"] * 3)
    assert len(visitor.points) == 43
    rate = page.locator("#model-form input[data-field=rate]")
    rate.fill("-1")  # which the parameter refuses
    rate.blur()
    assert not rate.evaluate("e => e.checkValidity()")
    assert page.evaluate("playground.state.model.settings.rate") is None


TOUCHED = """async (act) => {
  const seen = new MutationObserver(() => {}), board = playground.boards[0];
  seen.observe(board.figure, { subtree: true, childList: true, attributes: true, characterData: true });
  const [x, y] = playground.state.points[3];
  if (act === "draw") board.draw(board.frame);
  else playground.move(3, [x + 0.1, y]);
  const found = seen.takeRecords().map(one => one.target.getAttribute("class"));
  seen.disconnect();
  return found;
}"""
FITTED_AGAIN = """async () => {
  let count = 0;
  const seen = new MutationObserver((records) => { count += records.length; });
  seen.observe(document.querySelector(".right"), { childList: true });
  const within = { childList: true, subtree: true };
  for (const one of ["#classes", "figcaption"]) seen.observe(document.querySelector(one), within);
  await playground.refit();
  seen.disconnect();
  return count;
}"""


def test_what_looks_as_before_is_not_touched(visitor: Visitor) -> None:
    """The same frame again changes no node of the board, a point that is moved its own, a fit none beside the board."""
    for scene in ("perceptron&step=2", "regression", "fisher&step=2"):
        page = visitor.open(f"#scene={scene}")
        assert page.evaluate(TOUCHED, "draw") == []
        assert [one.split()[0] for one in page.evaluate(TOUCHED, "move")] == ["point"]
        visitor.rest()
    assert page.evaluate(FITTED_AGAIN) == 0


COUNTED = """() => {
  globalThis.drawn = 0;
  globalThis.pictures = 0;
  const board = playground.boards[0], draw = board.draw;
  board.draw = function (...given) { drawn += 1; return draw.apply(this, given); };
  const tick = () => { pictures += 1; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
}"""
"""Count the frames that the first board draws, and the pictures of the page."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "system", "rival"),
    [("gaussians", "Perceptron", None), ("line", "LMS", None), ("gaussians", "Perceptron", "LogisticRegression")],
)
def test_five_hundred_points_are_drawn_within_a_frame(
    visitor: Visitor, kind: str, system: str, rival: str | None
) -> None:
    """A system learns, and a point is dragged: each frame takes less than 16 ms of the page's processor time.

    Scripts take less than 8 ms a frame, and all that the thread does less than 16 ms a picture of the page.
    """
    page = visitor.open()
    model = {"system": system, "settings": {"epochs": 4, "tol": 0}}
    recipe = {"kind": kind, "count": 500, "noise": 0.8, "seed": 1}
    more = {"rival": {"system": rival, "settings": {}}} if rival else {}
    visitor.do("given => playground.apply(given)", {"recipe": recipe, "model": model, "start": True, **more})
    counts = page.context.new_cdp_session(page)
    counts.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.evaluate(COUNTED)

    def read() -> dict[str, float]:
        found = {one["name"]: one["value"] for one in counts.send("Performance.getMetrics")["metrics"]}
        return found | page.evaluate("({ drawn, pictures })")

    def check(before: dict[str, float], least: int) -> None:
        gone = {name: value - before[name] for name, value in read().items()}
        assert gone["drawn"] >= least
        assert gone["ScriptDuration"] / gone["drawn"] < 0.008
        assert gone["TaskDuration"] / gone["pictures"] < 0.016

    before = read()
    page.locator("#speed").select_option("60")
    page.locator("#play").click()
    page.wait_for_timeout(2500)
    check(before, 5)
    visitor.do("playground.stop()")
    before, (x, y) = read(), visitor.facing(7)
    page.mouse.move(*visitor.at(x, y))
    page.mouse.down()
    for k in range(40):
        page.mouse.move(*visitor.at(x + 0.01 * k, y + 0.01 * k))
        page.wait_for_timeout(16)
    check(before, 2)
    page.mouse.up()
    visitor.rest()


# -- tables ----------------------------------------------------------------------------------------------------------


HARMFUL = "<img src=x onerror=globalThis.harmed=1>"


@pytest.mark.parametrize(
    ("text", "names", "points"),
    [
        ("1.5,2,red\n2,5,blue\n3,3,red", ["x0", "x1", "x2"], 3),  # no line of names, and words among the numbers
        ("a,b,kind\n1,NA,x\n2,3,\n4,5,y\n7,8,x\n9,2,NA", ["a", "b", "kind"], 2),
        ("a;b;kind\n1,5;2,25;x\n3;-4,5;y", ["a", "b", "kind"], 2),
        ("year\t2020\n1\t2\n3\t4", ["year", "2020"], 2),
        (f'a,{HARMFUL},"k"\n1,2,yes\n2,1,no\n3,5,"yes, so"\n', ["a", HARMFUL, "k"], 3),
        ("a,b,kind\n1,1,x\n2,3,y\n3,2,x\n1000,NA,y\n2000,-500,", [], [[-3.4, -2.5, 0], [0, 2.5, 1], [3.4, 0, 0]]),
    ],
)
def test_tables_as_people_have_them_are_read(visitor: Visitor, text: str, names: list[str], points: Any) -> None:
    """Rows that are left out do not scale the others, and names are text and nothing more."""
    page = visitor.open()
    visitor.paste(text)
    chosen = page.evaluate("[...document.querySelectorAll('#csv-columns select')].map(e => e.selectedOptions[0].text)")
    assert chosen[: len(names)] == names
    assert visitor.points == points if isinstance(points, list) else len(visitor.points) == points
    assert page.evaluate("playground.state.points.flat().every(Number.isFinite)")
    assert page.evaluate("globalThis.harmed") is None


PARTED = {
    "1.5  2   red\n 2 5  blue\n": [["x0", [1.5, 2]], ["x1", [2, 5]], ["x2", ["red", "blue"]]],
    '"bill length" b\n1 "Adelie x"\n3 b': [["bill length", [1, 3]], ["b", ["Adelie x", "b"]]],
    '"a" "b"\n"1" 1.5 2\n"2" 3 4': [["x0", [1, 2]], ["a", [1.5, 3]], ["b", [2, 4]]],  # names of rows, as R writes them
    "1,5;2,25;x\n3,5;4,5;y": [["x0", [1.5, 3.5]], ["x1", [2.25, 4.5]], ["x2", ["x", "y"]]],
    "1,5\t2,25\tx\n3\t−4,5\ty": [["x0", [1.5, 3]], ["x1", [2.25, -4.5]], ["x2", ["x", "y"]]],
    "1,5 2,25 x\n2,5 3,5 y": [["x0", [1.5, 2.5]], ["x1", [2.25, 3.5]], ["x2", ["x", "y"]]],
    "New York,8 m,1.5\nOld Town,3 x,4": [["x0", ["New York", "Old Town"]], ["x1", ["8 m", "3 x"]], ["x2", [1.5, 4]]],
    '1, 2, "a, b"\n3, 4, c': [["x0", [1, 3]], ["x1", [2, 4]], ["x2", ["a, b", "c"]]],
    "1 ,2\n3 ,4\n5 ,6": [["x0", [1, 3, 5]], ["x1", [2, 4, 6]]],
    "5,10 km\n6,12 km": [["x0", [5, 6]], ["x1", ["10 km", "12 km"]]],
    "1,2\n3,4,5\n6,7,8": [["x0", [1, 3, 6]], ["x1", [2, 4, 7]]],
    "a b\r1 2\r3 4": [["a", [1, 3]], ["b", [2, 4]]],
    "a b c\n1 2\n3 4 5": [["a", [1, 3]], ["b", [2, 4]], ["c", [None, 5]]],
}
"""Tables by their text: the name of each column, and its numbers or words."""
LISTED = [f"p{i},{i + 1},{1.5 * i},{i * i % 7},{i % 3},{'xy'[i % 2]}" for i in range(12)]
GUESSED = {
    "\n".join(["id,n,a,b,target,kind", *LISTED]): ["target", ["a", "b"]],  # by its name
    "\n".join(["id,n,a,b,k,kind", *LISTED]): ["kind", ["a", "b"]],
    "\n".join(["id,n,a,b,k", *(one.rsplit(",", 1)[0] for one in LISTED)]): ["k", ["a", "b"]],  # 0, 1, 2
    "\n".join(["id,n,a,b", *(one.rsplit(",", 2)[0] for one in LISTED)]): [None, ["a", "b"]],
    "k,x\n" + "\n".join(f"{1 + i % 2},{0.1 * i}" for i in range(12)): ["k", ["x", "k"]],
    "word,x,y\n" + "\n".join(f"w{i % 7},{0.1 * i},{i * i}" for i in range(9)): [None, ["x", "y"]],
}
"""Tables by their text: the column that is guessed to hold the classes, and those of the axes."""
READ = """async ([parted, guessed]) => {
  const { chosen, parse } = await import("/page/csv.js");
  const shown = (one) => [one.name, one.numeric ? one.numbers.map(x => (Number.isNaN(x) ? null : x)) : one.values];
  const guess = (text) => {
    const table = parse(text), { label, axes } = chosen(table), name = (k) => table.columns[k]?.name ?? null;
    return [name(label), axes.map(name)];
  };
  return [parted.map(text => parse(text).columns.map(shown)), guessed.map(guess)];
}"""


def test_columns_are_parted_and_their_roles_are_guessed(visitor: Visitor) -> None:
    """By commas, semicolons, tabs or spaces; ids are not guessed as classes, and codes are."""
    found = visitor.open().evaluate(READ, [list(PARTED), list(GUESSED)])
    assert found == [list(PARTED.values()), list(GUESSED.values())]


DROP = """([text, kind]) => {
  const data = new DataTransfer();
  if (kind === "file") data.items.add(new File([text], "table.csv"));
  else data.setData("text/plain", text);
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def test_what_is_no_table_is_told_so_however_it_came(visitor: Visitor) -> None:
    page = visitor.open()
    cases = {"": "This is not a table", "one": "This is not a table", "some words\nand more": "Two columns of numbers"}
    for text, told in cases.items():
        for kind in ("file", "text") if text else ("file",):
            page.evaluate(DROP, [text, kind])
            page.locator("#csv-columns [role=alert]", has_text=told).wait_for(timeout=5000)
    assert page.locator("#csv").input_value() == "some words\nand more"
    page.locator("#csv").fill("")
    assert visitor.text("#csv-columns") == ""


HUGE = (
    ("a,b\n" + "0.25,0.5\n" * 30_000, "The board holds 20,000 points", ["Use 20000 rows"]),
    ("x" * 5_000_001, "larger than 5 MB", []),
    ("\n".join([",".join(map(str, range(2000)))] * 2), "Only the first 500 columns", ["Use 2 rows"]),
    ('"' + "a,1\n" * 100_000, "This is not a table", []),
)


def test_a_huge_paste_is_answered_at_once(visitor: Visitor) -> None:
    """One sentence tells what is taken of it, and the board is worked on."""
    page = visitor.open()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate(OPENED)
    for text, told, rows in HUGE:
        page.evaluate("text => navigator.clipboard.writeText(text)", text)
        page.locator("#csv").focus()
        page.keyboard.press("Control+a")
        page.keyboard.press("Control+v")
        page.locator("#csv-columns [role=alert]", has_text=told).wait_for(timeout=10_000)
        assert page.locator("#csv-take").all_inner_texts() == rows
    page.locator("#csv").press_sequentially("a,b\n1,2\n3,4\n")  # in the place of the beginning that is shown
    assert page.locator("#csv").input_value() == "a,b\n1,2\n3,4\n"
    assert page.locator("#csv-columns [role=alert]").count() == 0
    page.locator(BOARD).focus()
    visitor.press("Enter")
    assert len(visitor.points) == 41


def test_classes_of_a_table_are_named_in_what_the_server_says(visitor: Visitor) -> None:
    page = visitor.open()
    page.evaluate(DROP, ["a b kind\n1 2 10\n2 3 10\n3 1 10\n", "text"])
    page.locator("#csv-columns select").nth(2).select_option(label="kind")
    visitor.click("#csv-take")
    assert visitor.text("#verdict-0") == "all points are of 10: put points of another class beside them"
    page.evaluate(DROP, ['a b kind\n1 2 "Class 2"\n2 3 9\n3 1 10\n', "text"])
    visitor.click("#csv-take")
    assert page.evaluate("playground.classNames") == ["10", "9", "Class 2", "Class 4", "Class 5"]
    visitor.do("playground.remodel({ names: { classes: ['Class 3', 'a', 'a'], across: '', up: '' } })")
    assert page.evaluate("playground.classNames") == ["Class 3", "a", "a (2)", "Class 4", "Class 5"]
    assert page.locator("#verdict-0 .bad[role=alert]").count() == 0


def test_a_dropped_table_is_judged_by_points_held_back(visitor: Visitor) -> None:
    page = visitor.open()
    rows = "\n".join(f"{k % 7},{k % 5},{k * k % 11},{'ab'[(k % 7) > 3]}" for k in range(30))
    page.evaluate(DROP, [f"one,two,three,kind\n{rows}", "file"])
    page.locator("#csv-columns select").nth(1).select_option(label="three")
    visitor.click("#csv-take")
    assert page.evaluate("playground.state.names") == {"classes": ["a", "b"], "across": "one", "up": "three"}
    assert [one.inner_text() for one in page.locator("#classes button").all()][:2] == ["a", "b"]
    assert len(visitor.points) == 30
    assert page.locator("[data-fact=fresh]").count() == 0
    visitor.click("#hold")
    assert page.evaluate("[playground.state.points.length, playground.state.held.length]") == [20, 10]
    assert page.locator(f"{BOARD} .held").count() == 10
    assert page.locator("[data-fact=fresh]").count() == 1
    state = page.evaluate("structuredClone(playground.state)")
    visitor.do("playground.unpack(playground.pack())")
    assert page.evaluate("playground.state") == state
    visitor.click("#hold")
    assert page.evaluate("playground.state.held") is None
    visitor.press("Control+z")
    assert len(visitor.points) == 20


def test_a_table_of_ones_own_is_on_the_board(visit: Callable[..., Visitor], tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    playground = adaline.play("penguins", "species")
    visitor = visit(playground.url)
    page = visitor.open()
    assert page.locator(f"{BOARD} .point").count() == 333
    button = page.locator("#classes button").first
    assert button.inner_text() == "Adelie"
    ink, paper = button.evaluate("e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]")
    assert ink != paper
    page.locator("[data-field=axis-0]").select_option(label="bill_length_mm")
    visitor.rest()
    assert visitor.text("#verdict-0 .status") in ("solved", "separated")
    visitor.page.goto("about:blank")
    playground.close()
    rows = "\n".join(f"{k},{k * k % 7},{'ab'[k % 2]}" for k in range(12))
    (tmp_path / "table.csv").write_text(f"one,two,kind\n{rows}\nNA,3,a\n")
    playground = adaline.play(tmp_path / "table.csv", "kind")
    visitor = visit(playground.url)
    page = visitor.open()
    assert len(visitor.points) == 12
    notes = page.locator(".note-of-table")
    assert notes.all_inner_texts() == ["1 of 13 rows is left out for gaps in 'one' (1)"]
    assert notes.first.is_visible()
    visitor.page.goto("about:blank")
    playground.close()


# -- addresses, and the way between scenes ---------------------------------------------------------------------------


def test_the_address_holds_the_board(visit: Callable[..., Visitor]) -> None:
    visitor, other = visit(), visit()
    page = visitor.open()
    page.locator("#model-form [data-field=system]").select_option("LogisticRegression")
    visitor.rest()
    page.locator(BOARD).focus()
    visitor.press("Enter")
    visitor.until("location.hash.includes('board=')")
    page.wait_for_timeout(400)
    again = other.open(page.evaluate("location.hash"))
    for name in ("points", "model", "task"):
        assert again.evaluate(f"playground.state.{name}") == page.evaluate(f"playground.state.{name}")
    assert other.plane()[1].tolist() == visitor.plane()[1].tolist()


def test_the_back_button_goes_where_one_was(visitor: Visitor) -> None:
    page = visitor.open()
    page.locator("#scenes").select_option("perceptron")
    visitor.rest()
    visitor.click("#free")
    assert (page.title(), page.locator("#guide").is_visible()) == ("adaline playground", False)
    for hidden, title, scene in (
        ("!", "The perceptron converges · adaline playground", "perceptron"),
        ("", "adaline playground", ""),
    ):
        page.go_back()
        visitor.until(f"{hidden}document.querySelector('#guide').hidden")
        visitor.rest()
        assert (page.title(), page.locator("#scenes").input_value()) == (title, scene)


def test_one_who_hurries_is_where_he_went_last(visitor: Visitor) -> None:
    page = visitor.open("#scene=fisher")
    page.evaluate("for (const one of playground.scenes) void playground.goto(one.id, 0)")
    last = page.evaluate("playground.scenes.at(-1)")
    visitor.until(f"location.hash === '#scene={last['id']}'")
    visitor.rest()
    assert page.title() == f"{last['title']} · adaline playground"
    assert page.evaluate("playground.state.model") == last["steps"][0]["model"]
    assert page.evaluate("history.length") <= 4  # a blank page, the first scene, the last, not those in between
    visitor.do("void playground.goto('fisher', 0); playground.free()")
    page.wait_for_timeout(100)
    assert not page.locator("#guide").is_visible()
    for scene in ("fisher", "separability"):  # what is drawn of one chart is not drawn of the next
        visitor.do(f"playground.goto('{scene}', 0)")


def test_a_change_is_in_the_address_where_it_was_made(visitor: Visitor) -> None:
    """Also where one goes on, or back, before the address was written."""
    page = visitor.open("#scene=perceptron")
    page.mouse.click(*visitor.at(3.5, 2.5))
    page.locator("#step-next").click()
    visitor.until("location.hash.startsWith('#scene=perceptron&step=2&board=')")
    there = page.evaluate("location.hash")
    page.go_back()
    visitor.until("playground.guide.index === 0 && playground.state.points.length === 31")
    visitor.rest()
    page.mouse.click(*visitor.at(3.5, -2.5))
    page.go_forward()
    visitor.until("playground.guide.index === 1 && playground.state.points.length === 31")
    page.wait_for_timeout(400)
    visitor.rest()
    assert page.evaluate("location.hash") == there


def test_a_stranger_to_the_address_gets_a_board(visitor: Visitor) -> None:
    """Addresses that hold nonsense open the first board, and say nothing on the console."""
    board = {"task": "classes", "points": [[0, 0, 0], [1, 1, 1]], "model": {"system": "Perceptron", "settings": {}}}
    odd = (
        {"task": "toString"},
        {"moment": "x"},
        {"moment": 1.5, "rival": 5, "instrument": "x"},
        {"model": {"system": "Perceptron", "basis": "Nothing"}},
    )
    boards = [b64encode(json.dumps({**board, **one}).encode()).decode().rstrip("=") for one in odd]
    tails = ["#scene=nothing", "#scene=perceptron&step=99", "#scene=perceptron&step=2.5"]
    for tail in [*tails, *(f"#board={one}" for one in ("%%%", "e30", "A" * 500, *boards))]:
        page = visitor.open(tail)
        assert page.locator(f"{BOARD} .point").count() > 0
        assert visitor.text("#verdict-0")
        assert page.evaluate("Number.isInteger(playground.moment)")


# -- what is said, seen and heard ------------------------------------------------------------------------------------

HEARD = """() => {
  globalThis.heard = [];
  const said = document.querySelector("#said");
  const keep = () => heard.push(said.textContent);
  new MutationObserver(keep).observe(said, { childList: true, characterData: true, subtree: true });
}"""


def test_what_happens_is_said(visitor: Visitor) -> None:
    """A live region tells what was done and what the system says of it, also after each step."""
    page = visitor.open()
    assert page.locator("#said").get_attribute("aria-live") == "polite"
    page.evaluate(HEARD)
    page.locator(BOARD).focus()
    page.keyboard.press("ArrowRight")
    assert visitor.text("#said") == "cursor at 0.2, 0.0"
    page.keyboard.press("3")
    assert visitor.text("#said") == "Class 3"
    visitor.press("Enter", "n", "b", "Control+z")
    visitor.drag(visitor.facing(0), (0, 0))
    heard = page.evaluate("heard")
    assert {"point of Class 3 added at 0.2, 0", "undone"} <= set(heard)
    assert any("rows seen" in one and "error rate" in one for one in heard)
    assert any(one.startswith("point moved to") for one in heard)


UNNAMED = """() => {
  const all = [...document.querySelectorAll("button, select, input, textarea, svg[role]")];
  const shown = all.filter(e => e.offsetParent !== null || e instanceof SVGElement);
  const inside = (e) => (e instanceof SVGElement ? "" : e.textContent.trim() || e.closest("label")?.textContent.trim());
  const name = (e) => e.getAttribute("aria-label") || inside(e);
  return shown.filter(e => !name(e)).map(e => e.outerHTML);
}"""


def test_all_that_is_worked_has_a_name_and_is_reached_by_the_tab_key(visitor: Visitor) -> None:
    page = visitor.open("#scene=ridge")
    assert page.evaluate(UNNAMED) == []
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.dataset?.control || ''"))
    assert {"scenes", "free", "board-0", "step-next", "model.settings.penalty"} <= reached
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "board-0"
    page.wait_for_timeout(100)
    assert page.evaluate("[location.hash, playground.guide.scene?.id]") == ["#scene=ridge", "ridge"]


def test_a_scene_is_walked_by_the_keyboard(visitor: Visitor) -> None:
    """The button that was pressed, or its neighbour, has the focus again on the next step; n is a step also there."""
    page = visitor.open("#scene=lms&step=2")
    page.locator("#guide input[type=range]").focus()
    page.keyboard.press("n")
    assert page.evaluate("playground.moment") == 1
    page.locator("#step-next").focus()
    for key, name in (("Enter", "next"), ("Shift+Tab", "back"), ("Enter", "back"), ("Enter", "next")):
        visitor.press(key)
        visitor.until(f"document.activeElement.id === 'step-{name}'")
    for step in (2, 3):
        page.locator("#step-next").click()
        visitor.until(f"playground.guide.box.textContent.includes('{step} of 3')")
    visitor.rest()
    page.locator("#guide .group button").nth(1).focus()
    visitor.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"


MOVING = """() => [...document.querySelectorAll("*")].filter(e => {
  const style = getComputedStyle(e);
  return style.animationName !== "none" || style.transitionDuration !== "0s";
}).length"""


def test_motion_is_slow_where_it_is_to_be_reduced(visit: Callable[..., Visitor]) -> None:
    for motion, speed in (("reduce", "2"), ("no-preference", "8")):
        page = visit(motion=motion).open("#scene=perceptron")
        assert (page.locator("#speed").input_value(), page.evaluate(MOVING)) == (speed, 0)


CONTRAST = """() => {
  const style = getComputedStyle(document.documentElement);
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (name) => {
    const hex = style.getPropertyValue(name).trim();
    const [r, g, b] = [1, 3, 5].map(i => linear(parseInt(hex.slice(i, i + 2), 16) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [dark, bright] = [light(a), light(b)].sort((x, y) => x - y);
    return (bright + 0.05) / (dark + 0.05);
  };
  const onPaper = ["--ink", "--soft", "--good", "--bad", "--accent"].map(one => [one, "--paper"]);
  return [...onPaper, ["--accent-ink", "--accent"], ["--ink", "--ground"]].map(([a, b]) => [a, b, ratio(a, b)]);
}"""


def test_dark_and_light_can_both_be_read(visit: Callable[..., Visitor]) -> None:
    shades = set()
    for scheme, other in (("light", "dark"), ("dark", "light")):
        visitor = visit(scheme=scheme)
        page = visitor.open("#scene=perceptron&step=2")
        visitor.do("playground.go(Infinity)")
        assert [one for one in page.evaluate(CONTRAST) if one[2] < 4.5] == []
        shades.add(page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor"))
        cells = "String(Array.from(playground.boards[0].cells.getImageData(8, 110, 1, 1).data))"
        before = page.evaluate(cells)
        page.emulate_media(color_scheme=other)
        visitor.until(f"{cells} !== '{before}'")  # regions take the colours of the other look
    assert len(shades) == 2


LISTENING = """globalThis.heard = [];
const start = AudioBufferSourceNode.prototype.start;
AudioBufferSourceNode.prototype.start = function (...given) {
  heard.push([this.buffer.sampleRate, Array.from(this.buffer.getChannelData(0))]);
  return start.apply(this, given);
};"""
LACKING = "delete globalThis.AudioContext; Object.defineProperty(navigator, 'clipboard', { value: undefined });"


def test_the_microphone_and_the_filter_can_be_heard(visitor: Visitor) -> None:
    """Buttons play the samples by WebAudio; noise is less in the second sound, most of all at the end."""
    visitor.page.add_init_script(LISTENING)
    page = visitor.open("#scene=noise")
    for name in ("microphone", "cleaned"):
        page.locator(f"[data-sound={name}]").click()
    (rate, raw), (_, cleaned) = page.evaluate("heard")
    tune, _, microphone = recording()
    np.testing.assert_allclose(raw, np.clip(microphone, -1, 1), atol=0.03)
    end = slice(-rate // 2, None)
    left, before = (np.mean((np.array(one) - tune)[end] ** 2) for one in (cleaned, raw))
    assert left < before / 20
    page.locator("#code-card > summary").click()
    visitor.until("document.querySelector('#code').textContent.includes('AdaptiveFilter')")


def test_a_browser_without_sound_or_clipboard_says_so(visitor: Visitor) -> None:
    visitor.page.add_init_script(LACKING)
    page = visitor.open("#scene=noise")
    assert page.locator("[data-sound]").evaluate_all("all => all.every(one => one.disabled)")
    assert "cannot play sound" in visitor.text("#chart")
    page.locator("#share").click()
    visitor.until("document.querySelector('#share').textContent === 'Copy it from the address bar'")


# -- the welcome, and a server that comes and goes -------------------------------------------------------------------

LOST = "document.querySelector('#lost').hidden"


def test_a_server_that_comes_back_is_found_again(visit: Callable[..., Visitor]) -> None:
    playground = adaline.play()
    port = int(urlsplit(playground.url).port or 0)
    visitor = visit(playground.url)
    page = visitor.open("#scene=perceptron")
    playground.close()
    visitor.until(f"!{LOST}")
    assert f"adaline play --port {port}" in visitor.text("#lost")
    moment = page.evaluate("playground.moment")
    page.evaluate("void playground.form('LMS').then(form => { globalThis.answered = form.type; })")  # asked of nobody
    playground = adaline.play(port=port)
    visitor.until(LOST)
    visitor.rest()
    visitor.until("globalThis.answered === 'form'")
    assert page.evaluate("playground.moment") == moment
    visitor.press("n")
    assert visitor.text("#verdict-0 .status") == "solved"
    visitor.troubles.clear()  # the console has the attempts to connect
    page.goto("about:blank")
    playground.close()


def test_a_scene_that_is_chosen_while_the_server_is_gone_comes_with_it(visit: Callable[..., Visitor]) -> None:
    playground = adaline.play()
    visitor = visit(playground.url, width=390)
    page = visitor.open("#scene=fisher&step=2")
    playground.close()
    visitor.until(f"!{LOST}")
    page.evaluate("scrollTo(0, 700)")
    assert page.locator("#lost").bounding_box()["y"] >= 0  # in sight wherever one is
    page.locator("#scenes").select_option("kmeans")
    playground = adaline.play(port=int(urlsplit(playground.url).port or 0))
    visitor.until("playground.guide.scene.id === 'kmeans' && document.title.startsWith('k-means')")
    visitor.rest()
    assert page.evaluate("playground.slots[0].fitted.call").startswith("KMeans")
    assert [one for one in visitor.troubles if "WebSocket" not in one] == []
    visitor.troubles.clear()
    page.goto("about:blank")
    playground.close()


def test_buttons_wait_for_their_texts(visitor: Visitor) -> None:
    """Where the network is slow, nothing is shown that has no name yet."""
    held: list[Any] = []
    page = visitor.page
    page.route("**/page/texts.json", lambda route: held.append(route))
    page.goto(f"{visitor.address}#board")
    while not held:
        page.wait_for_timeout(20)
    assert not page.locator("#play").is_visible()
    held.pop().continue_()
    page.wait_for_selector("body[data-ready]", timeout=60_000)
    visitor.rest()
    assert page.locator("#play").is_visible()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_opens_on_scenes_that_run(visit: Callable[..., Visitor], width: int) -> None:
    visitor = visit(width=width, motion="no-preference")
    page = visitor.page
    page.goto(visitor.address)
    page.wait_for_selector("body[data-ready]", timeout=60_000)
    assert page.locator(".way").count() == page.locator(".way:visible").count() == 3
    assert not page.locator("#play").is_visible()
    shown = visitor.text("#playing")
    visitor.until(f"playground.moment > {page.evaluate('playground.moment')}")
    page.keyboard.press("n")  # works the board, which is not open
    assert page.evaluate("playground.running")
    page.evaluate("void playground.go(Infinity)")
    visitor.until(f"document.querySelector('#playing').textContent !== {shown!r}")
    assert page.evaluate("location.hash") == ""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#lectures button").nth(2).click()
    visitor.until("location.hash.startsWith('#scene=')")
    assert page.evaluate("playground.guide.scene.lecture") == "S2"
    assert not page.locator("#welcome").is_visible()
    page.go_back()
    visitor.until("!document.querySelector('#welcome').hidden && playground.running")
    visitor.click("#way-free")
    assert page.locator("#play").is_visible()
    assert page.evaluate("playground.state.model.system") == "Perceptron"
    assert page.evaluate("playground.running ?? false") is False
    page.locator("#home").click()
    visitor.until("!document.querySelector('#welcome').hidden")
    page.locator("#playing").click()
    visitor.until("location.hash.startsWith('#scene=')")


def test_the_welcome_rests_where_motion_is_not_wanted_and_reads_a_dropped_table(visitor: Visitor) -> None:
    page = visitor.open("")
    assert page.locator(".way:visible").count() == 3
    assert page.evaluate("playground.moment === playground.length - 1 && !playground.running")
    visitor.click("#way-paste")
    assert page.evaluate("document.activeElement.id") == "csv"
    page = visitor.open("")
    page.evaluate(DROP, ["a,b,kind\n1,2,x\n3,4,y\n", "file"])
    visitor.click("#csv-take")
    assert len(visitor.points) == 2
    assert not page.locator("#welcome").is_visible()


def test_the_page_says_that_it_waits_for_the_server(visitor: Visitor) -> None:
    visitor.page.route_web_socket("**/ws", lambda socket: None)  # which nobody answers
    visitor.page.goto(visitor.address)
    visitor.page.wait_for_selector("body[data-texts]")
    visitor.page.wait_for_timeout(300)
    assert visitor.text("#connecting").startswith("Connecting")
    assert not visitor.page.locator("#play, .way, #scenes").first.is_visible()
