"""Trees as a text to read: a line for each output, and for each part that is used more than once."""

from __future__ import annotations

from collections.abc import Mapping

from adaline.exporting.graph import by_dependence, shared_parts, uses
from adaline.exporting.tree import COMPARED, SIGNS, STRENGTH, Breaks, Node

SHOWN = 8  # levels or intervals of one choice
ATOM = 9  # of what needs no brackets
HIDDEN = ("level", "interval")  # written by what is chosen by them


def notation(outputs: Mapping[str, Node]) -> str:
    """Return trees as text, numbers to six digits; parts that are used more than once are t1, t2, ..."""
    nodes = shared_parts(dict(outputs))
    counts = uses(nodes, lambda one, k: 1)
    written: dict[int, tuple[str, int]] = {}
    lines: list[str] = []

    def of(one: Node, least: int = 0) -> str:
        text, strength = written[id(one)]
        return text if strength >= least else f"({text})"

    def text(one: Node) -> tuple[str, int]:
        name, given = one.name, one.arguments
        if name == "number":
            return f"{one.value:.6g}", ATOM
        if name == "input":
            return one.value.name if one.value.name.isidentifier() else f"`{one.value.name}`", ATOM
        if name in SIGNS:
            strength = STRENGTH[name]
            left, sign, right = of(given[0], strength), SIGNS[name], of(given[1], strength + 1)
            if strength == 1 and right.startswith("-"):
                sign, right = "-" if sign == "+" else "+", right[1:]
            return f"{left} {sign} {right}", strength
        if name == "neg":
            return f"-{of(given[0], 2)}", 1
        if name in COMPARED:
            return f"{of(given[0], 1)} {COMPARED[name]} {of(given[1], 1)}", 0
        if name == "where":
            return f"if({', '.join(map(of, given))})", ATOM
        if name == "and":
            return " and ".join(map(of, given)), 0
        if name == "choose":
            cases = [*_cases(given[0]), "unknown", "missing"]
            pairs = [f"{case}: {of(value)}" for case, value in zip(cases, given[1:], strict=True)]
            if len(pairs) > SHOWN + 2:
                pairs[SHOWN:-2] = [f"... {len(pairs) - SHOWN - 2} more"]
            return f"choose({of(given[0].arguments[0])}; {', '.join(pairs)})", ATOM
        if name == "label":
            labels = ", ".join(map(repr, one.value))
            return f"label({', '.join(map(of, given))}; {labels})", ATOM
        return f"{name}({', '.join(map(of, given))})" if given else name, ATOM

    for one in by_dependence(nodes.values()):
        written[id(one)] = ("", ATOM) if one.name in HIDDEN else text(one)
        if counts[id(one)] > 1 and one.arguments and one.name not in HIDDEN:
            lines.append(f"t{len(lines) + 1} = {of(one)}")
            written[id(one)] = f"t{len(lines)}", ATOM
    return "\n".join([*lines, *(f"{name} = {of(one)}" for name, one in nodes.items())])


def _cases(index: Node) -> list[str]:
    """Return what each index of a level or an interval means."""
    if index.name == "level":
        return list(map(repr, index.value))
    breaks: Breaks = index.value
    sign = "<" if breaks.closed_left else "<="
    below = [f"{sign} {one:.6g}" for one in breaks.numbers]
    return below[1:] if breaks.inside else [*below, "above"]
