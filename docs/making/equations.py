"""Equations as MathML, which browsers draw by themselves: no script, no fonts, no network."""

from __future__ import annotations

import html
import re
from typing import Any

STEPS = (
    ("<mo>&#x0002B;</mo><mo>&#x0003D;</mo>", "<mo>+=</mo>"),
    ("<mo>&#x02212;</mo><mo>&#x0003D;</mo>", "<mo>-=</mo>"),
)
EQUATION = re.compile(r'<(div|span) class="arithmatex">\\([\[(])(.*?)\\[\])]</\1>', re.DOTALL)

LONG = 60  # characters of an equation in a line that scrolls by itself where the page is narrower


def on_page_content(text: str, **_: Any) -> str:
    """Replace the equations that arithmatex marked by MathML."""
    return EQUATION.sub(_drawn, text)


def _drawn(found: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    tex = " ".join(html.unescape(found[3]).split())
    drawn = convert(tex, display="block" if found[2] == "[" else "inline")
    if "<mi>\\" in drawn:
        raise ValueError(f"an equation has a command that MathML is not made of: {tex}")
    for apart, sign in STEPS:
        drawn = drawn.replace(apart, sign)
    return f'<span class="formula">{drawn}</span>' if found[2] == "(" and len(tex) > LONG else drawn
