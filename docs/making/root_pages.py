"""Pages that stand in the root of the repository: their text is taken from there, links into docs/ are the site's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def on_page_markdown(text: str, **_: Any) -> str:
    """Replace a line such as `--8<-- "CHANGELOG.md"` by the file."""
    return re.sub(r'^--8<-- "(\w+\.md)"$', lambda found: _taken(found[1]), text, flags=re.MULTILINE)


def _taken(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
