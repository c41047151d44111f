"""The pages of the service in a real browser: `make test-browser`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from adaline import LinearRegression, open_table
from adaline.serve import app
from adaline.serve.security import read_tokens

pytestmark = pytest.mark.browser
TABLE = {"a": [0.0, 1.0, 2.0, 3.0, 4.0], "b": ["x", "y", "x", "y", "x"], "t": [0.0, 2.0, 2.0, 4.0, 4.0]}
TOKEN = "r-0123456789abcdef"


@pytest.fixture(params=[False, True], ids=["open", "tokens"])
def address(request: Any, tmp_path: Path) -> Iterator[str]:
    """Serve a model that learns, without tokens and with them."""
    (tmp_path / "tokens").write_text(f"learn {TOKEN}\n")
    tokens = read_tokens(tmp_path / "tokens") if request.param else None
    model = LinearRegression().fit(open_table(TABLE, target="t"))
    service = app({"line": model}, learn=True, journal=tmp_path / "journal", tokens=tokens)
    server = uvicorn.Server(uvicorn.Config(service, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize("width", [1280, 390])
def test_requests_can_be_tried_out(browser: Any, address: str, width: int, request: Any) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    troubles: list[str] = []
    page.on("pageerror", lambda one: troubles.append(str(one)))
    page.goto(f"{address}/docs")
    if "tokens" in request.node.name:
        page.fill("#token", "guess")
        page.click("#token-form button")
        page.wait_for_selector("text=The token is refused")
        page.fill("#token", TOKEN)
        page.click("#token-form button")
        page.wait_for_selector("text=The token is accepted")
    for path, said in (("predict", "predictions"), ("learn", '"learned": 1')):
        trial = page.locator(f'[data-request="post /models/{{name}}/{path}"]')
        if trial.get_attribute("open") is None:
            trial.locator("summary").click()
        body = trial.locator("textarea")
        while '"b": "x"' not in body.input_value():
            page.wait_for_timeout(20)
        trial.locator("button").click()
        answer = trial.locator(".result")
        answer.wait_for()
        while not answer.text_content():
            page.wait_for_timeout(20)
        assert said in answer.text_content()
        assert "curl -X POST" in trial.locator("pre").first.text_content()
        body.fill('{"rows": [{"a": "much"}]}')
        trial.locator("button").click()
        page.wait_for_selector(f'[data-request$="{path}"] .result.bad')
        assert "column 'b'" in answer.text_content() or "is not a number" in answer.text_content()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert troubles == []
    page.close()
