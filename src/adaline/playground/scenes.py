"""The guided scenes: the board and the instruments of each step (page/scenes.json), and their texts.

Every text of the page is in `page/texts.json`, so that a translation is one file; scenes are joined with theirs here.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

PAGE = files("adaline.playground") / "page"


@cache
def scenes() -> list[dict[str, Any]]:
    """Return the scenes in the order of the lectures: id, lecture, title, chapter, and steps with their texts.

    Examples
    --------
    >>> from adaline.playground.scenes import scenes
    >>> sorted(scenes()[0])
    ['chapter', 'id', 'lecture', 'steps', 'title']
    """
    texts = json.loads((PAGE / "texts.json").read_text(encoding="utf-8"))["scenes"]
    plain = json.loads((PAGE / "scenes.json").read_text(encoding="utf-8"))
    return [_joined(one, texts[one["id"]]) for one in plain]


def _joined(scene: dict[str, Any], texts: dict[str, Any]) -> dict[str, Any]:
    """Return a scene with its texts; each step takes up what the steps before it have set."""
    steps = [{**step, **text} for step, text in zip(scene["steps"], texts["steps"], strict=True)]
    return {**scene, "title": texts["title"], "chapter": texts["chapter"], "steps": steps}
