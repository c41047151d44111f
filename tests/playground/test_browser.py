"""The playground in a real browser, Debian's Chromium driven by Playwright: `make test-browser`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import adaline
from adaline import Perceptron
from adaline.playground.scenes import scenes
from adaline.playground.traces import quiet, weights_of

pytestmark = pytest.mark.browser
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
KEPT = os.environ.get("PLAYGROUND_SCREENSHOTS")  # a folder for screenshots of every scene
WIDTHS = (1280, 390)
BOARD = "#board-0"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    driver = pytest.importorskip("playwright.sync_api")
    assert CHROMIUM, "no Chromium was found: Debian and Ubuntu have it as the package chromium"
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    playground = adaline.play()
    yield playground.url
    playground.close()


class Visitor:
    """A page with what went wrong on it: errors on its console, requests that leave the machine."""

    def __init__(self, browser: Any, address: str, width: int = 1280, scheme: str = "light") -> None:
        self.address = address
        self.troubles: list[str] = []
        self.page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        self.page.on("console", lambda one: one.type in ("error", "warning") and self.troubles.append(one.text))
        self.page.on("pageerror", lambda one: self.troubles.append(str(one)))
        self.page.on("request", self._watch)

    def _watch(self, request: Any) -> None:
        if urlsplit(request.url).hostname != "127.0.0.1" and not request.url.startswith("data:"):
            self.troubles.append(f"asked for {request.url}")

    def open(self, tail: str = "") -> Any:
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


@pytest.fixture
def visitor(browser: Any, address: str) -> Iterator[Visitor]:
    one = Visitor(browser, address)
    yield one
    one.close()


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
  for (const e of document.querySelectorAll("button, legend, #guide p, #guide span, .verdict p")) {
    if (e.offsetParent && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline")
      out.push(`clipped: ${e.textContent}`);
  }
  return out;
}"""


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene["id"])
def test_a_scene_is_walked_through(browser: Any, address: str, scene: dict[str, Any]) -> None:
    """Every step loads and runs at both widths, nothing overlaps or is clipped, and its question is checked."""
    for width in WIDTHS:
        visitor = Visitor(browser, address, width, "dark" if width == WIDTHS[1] else "light")
        page = visitor.open(f"#scene={scene['id']}")
        for k, step in enumerate(scene["steps"]):
            assert page.locator("#guide h2").inner_text() == scene["title"]
            if page.locator("#play").is_visible():
                page.keyboard.press("n")
                visitor.rest()
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
                page.locator("#step-next").click()
                visitor.rest()
        visitor.close()


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


def line_of(page: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the plane that is drawn, in the units of the board, and the weights that it says it has."""
    found = page.locator(f"{BOARD} .plane").first
    x1, y1, x2, y2 = (float(found.get_attribute(name)) for name in ("x1", "y1", "x2", "y2"))
    ends = np.array([[x1 / 110 - 4, 3 - y1 / 110], [x2 / 110 - 4, 3 - y2 / 110]])
    return ends, np.array([float(w) for w in found.get_attribute("data-w").split()])


def test_what_is_drawn_agrees_with_the_numbers(visitor: Visitor) -> None:
    page = visitor.open("#scene=perceptron&step=2")
    points = np.array(page.evaluate("playground.state.points"))
    X, y = points[:, :2], points[:, 2].astype(int)
    last = page.evaluate("playground.length") - 1
    for moment in (7, 20, last):
        page.evaluate(f"playground.go({moment})")
        visitor.rest()
        model = Perceptron()
        rows = np.arange(moment) % len(X)
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
        ends, weights = line_of(page)
        np.testing.assert_allclose(weights, weights_of(model), rtol=1e-8)
        values = np.column_stack([np.ones(2), ends]) @ weights
        np.testing.assert_allclose(values, 0, atol=1e-9 * np.abs(weights).max() + 1e-9)
        wrong = [k for k, one in enumerate(model.predict(X)) if one != y[k]]
        rims = page.evaluate(f"[...document.querySelectorAll('{BOARD} .point')].map(e => e.matches('.wrong'))")
        assert np.flatnonzero(rims).tolist() == wrong
    places = page.evaluate(f"[...document.querySelectorAll('{BOARD} .point')].map(e => e.getAttribute('transform'))")
    drawn_at = np.array([one[10:-1].split(",") for one in places], dtype=float)
    np.testing.assert_allclose(drawn_at, np.column_stack([(X[:, 0] + 4) * 110, (3 - X[:, 1]) * 110]), atol=0.06)


def test_the_path_on_the_error_surface_is_that_of_the_weights(visitor: Visitor) -> None:
    page = visitor.open("#scene=descent")
    page.evaluate("playground.go(5)")
    visitor.rest()
    shown = [float(w) for w in page.locator("#weights-now").get_attribute("data-w").split()]
    assert shown == page.evaluate("playground.slots[0].fitted.weights[5]")


def test_as_python_runs_and_gives_the_same_coefficients(visitor: Visitor) -> None:
    page = visitor.open("#scene=perceptron")
    page.locator("#code-card > summary").click()
    page.evaluate("playground.go(17)")
    visitor.rest()
    page.evaluate("playground.code()")
    visitor.rest()
    space: dict[str, Any] = {}
    with quiet(), redirect_stdout(StringIO()):
        exec(page.locator("#code").inner_text(), space)
    shown = page.evaluate("playground.boards[0].frame.weights")
    np.testing.assert_allclose(weights_of(space["model"]), shown, rtol=1e-8)


def test_the_board_is_worked_by_the_keyboard(visitor: Visitor) -> None:
    page = visitor.open()
    before = page.evaluate("playground.state.points.length")
    page.locator(BOARD).focus()
    for key in ("ArrowRight", "ArrowUp", "2", "Enter"):
        page.keyboard.press(key)
    visitor.rest()
    assert page.evaluate("playground.state.points.at(-1)") == [0.2, 0.2, 1]
    assert page.locator(f"{BOARD} .point").count() == before + 1
    page.keyboard.press("[")
    page.keyboard.press("Shift+ArrowLeft")
    visitor.rest()
    page.keyboard.press("Delete")
    visitor.rest()
    assert page.evaluate("playground.state.points.length") == before
    for _ in range(3):
        page.keyboard.press("Control+z")
        visitor.rest()
    assert page.evaluate("playground.state.points.length") == before
    page.keyboard.press("Control+Shift+z")
    visitor.rest()
    assert page.evaluate("playground.state.points.length") == before + 1
    assert page.locator("#said").inner_text()


def test_points_are_put_dragged_and_erased_by_hand(visitor: Visitor) -> None:
    page = visitor.open()
    page.locator("#clear").click()
    visitor.rest()
    assert "empty" in page.locator("#verdict-0").inner_text()
    box = page.locator(BOARD).bounding_box()

    def at(x: float, y: float) -> tuple[float, float]:
        return box["x"] + box["width"] * (x + 4) / 8, box["y"] + box["height"] * (3 - y) / 6

    page.mouse.click(*at(-1, -1))
    page.locator("#classes button").nth(1).click()
    page.mouse.click(*at(1, 1))
    visitor.rest()
    assert page.locator("#verdict-0 .status").inner_text() == "solved"
    page.mouse.move(*at(1, 1))
    page.mouse.down()
    page.mouse.move(*at(1.5, 0.5), steps=4)
    page.mouse.up()
    visitor.rest()
    np.testing.assert_allclose(page.evaluate("playground.state.points[1]"), [1.5, 0.5, 1], atol=0.02)
    page.locator("[data-tool=erase]").click()
    page.mouse.click(*at(1.5, 0.5))
    visitor.rest()
    assert page.evaluate("playground.state.points.length") == 1


def test_the_address_holds_the_board(browser: Any, address: str, visitor: Visitor) -> None:
    page = visitor.open()
    page.locator("#model-form [data-field=system]").select_option("LogisticRegression")
    visitor.rest()
    page.locator(BOARD).focus()
    page.keyboard.press("Enter")
    visitor.rest()
    visitor.until("location.hash.includes('board=')")
    page.wait_for_timeout(400)
    other = Visitor(browser, address)
    again = other.open(page.evaluate("location.hash"))
    for name in ("points", "model", "task"):
        assert again.evaluate(f"playground.state.{name}") == page.evaluate(f"playground.state.{name}")
    assert line_of(again)[1].tolist() == line_of(page)[1].tolist()
    other.close()


def test_a_pasted_table_is_text_and_nothing_more(visitor: Visitor) -> None:
    page = visitor.open()
    name = "<img src=x onerror=globalThis.harmed=1>"
    page.evaluate("for (const one of document.querySelectorAll('#points-card, #points-card details')) one.open = true")
    page.locator("#csv").fill(f'a,{name},"k"\n1,2,yes\n2,1,no\n3,5,"yes, so"\n')
    assert name in page.locator("#csv-columns").inner_text()
    page.locator("#csv-take").click()
    visitor.rest()
    assert page.evaluate("playground.state.points.length") == 3
    assert page.evaluate("globalThis.harmed") is None


def test_a_field_refuses_what_its_parameter_does(visitor: Visitor) -> None:
    page = visitor.open()
    rate = page.locator("#model-form input[data-field=rate]")
    rate.fill("-1")
    rate.blur()
    assert not rate.evaluate("e => e.checkValidity()")
    assert page.evaluate("playground.state.model.settings.rate") is None


def test_a_table_of_ones_own_is_on_the_board(browser: Any) -> None:
    pytest.importorskip("duckdb")
    playground = adaline.play("penguins", "species")
    visitor = Visitor(browser, playground.url)
    page = visitor.open()
    assert page.locator(f"{BOARD} .point").count() == 333
    page.locator("[data-field=axis-0]").select_option(label="bill_length_mm")
    visitor.rest()
    assert page.locator("#verdict-0 .status").inner_text() in ("solved", "separated")
    visitor.close()
    playground.close()
