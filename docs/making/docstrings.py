"""Docstrings of numpydoc's shape as Markdown: sections, definition lists for names, code for examples and formulas."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}[\w.]+(?:, [\w.]+)*) : (.*)$")


class Markdown(Extension):
    """Rewrites the docstring of every object of the package before it is shown."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite one."""
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    """Return a docstring as Markdown."""
    head, *rest = SECTION.split(text)
    parts = [head.strip()]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        shown = examples(body) if title == "Examples" else entries(body, typed=title == "Parameters")
        parts.append(f"**{title}**\n\n{shown}")
    return "\n\n".join(parts)


def examples(body: str) -> str:
    """Return examples as code, and words between them as they are."""
    blocks = re.split(r"\n\s*\n", body.strip())
    return "\n\n".join(f"```pycon\n{block}\n```" if block.startswith(">>>") else block for block in blocks)


def entries(body: str, *, typed: bool) -> str:
    """Return each `name : what` as a definition, with what follows indented; other lines are prose.

    Where `typed`, what stands before an indented description is a type.
    """
    lines = body.strip().splitlines()
    out: list[str] = []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        entry = ENTRY.match(line)
        if not entry:
            out.append(line)
            continue
        names, what = ", ".join(f"`{name}`" for name in entry[1].split(", ")), entry[2]
        if typed and after.startswith("    "):
            what = f"*{what}*  "  # two spaces: the description begins a line
        out += ["", names, f":   {what}"]
    return "\n".join(out).strip()
