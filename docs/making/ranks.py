"""How pages rank in the search: guides before the reference, both before scripts, tables of figures and history."""

from __future__ import annotations

from typing import Any

BOOSTS = {
    "getting-started.md": 3.0,
    "which-model.md": 2.0,
    "guide/": 3.0,
    "reference/": 1.5,
    "cheat-sheet.md": 0.7,
    "coming-from.md": 0.5,
    "theory/": 0.7,
    "tasks/": 0.4,
    "gallery/": 0.3,
    "benchmarks": 0.2,
    "design": 0.2,
    "zoo.md": 0.2,
    "changelog.md": 0.1,
    "releases/": 0.1,
}


def boost(page: str) -> float:
    """Return the factor of a page's scores."""
    return next((factor for start, factor in BOOSTS.items() if page.startswith(start)), 1.0)


def on_page_markdown(text: str, page: Any, **_: Any) -> str:
    """Set the factor, unless the page has one."""
    page.meta.setdefault("search", {"boost": boost(page.file.src_uri)})
    return text
