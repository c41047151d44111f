"""Equations as MathML, which browsers draw by themselves: no script, no fonts, no network."""

from __future__ import annotations

import html
import re
from typing import Any

EQUATION = re.compile(r'<(div|span) class="arithmatex">\\([\[(])(.*?)\\[\])]</\1>', re.DOTALL)


def on_page_content(text: str, **_: Any) -> str:
    """Replace the equations that arithmatex marked by MathML."""
    return EQUATION.sub(_drawn, text)


def _drawn(found: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    kind = "block" if found[2] == "[" else "inline"
    return convert(" ".join(html.unescape(found[3]).split()), display=kind)
