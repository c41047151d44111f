"""Docstrings of numpydoc's shape as Markdown: sections, definition lists for names, code for examples, formulas as TeX.

Parameters stand in the order in which people need them: what is learned, then how rows and columns are taken, then how
it is computed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from griffe import Class, Extension, Module, Object

sys.path.insert(0, str(Path(__file__).parent))
from formulas import marked

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}`?[\w.]+`?(?:, \*{0,2}`?[\w.]+`?)*)(?: : (.*)|)$")
ATTRIBUTES = re.compile(r"(?:^|(?<=[.;])\s+)((?:`?\w+_`?(?:, )?)+) : ", re.MULTILINE)
TAKEN = ("fit_intercept", "positive", "weights", "class_weight", "standardize", "basis", "rank")
COMPUTED = ("solver", "tol", "epochs", "stop_error", "init", "warm_start", "shuffle", "points", "ratio", "random_state")


class Markdown(Extension):
    """Rewrites the docstring of every object of the package, and sorts the parameters of its systems."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite one."""
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """Sort the fields of the systems, from which their signatures are made; what may lack a name is first."""
        for system in classes(pkg["systems"]):
            system.members = {name: system.members[name] for name in in_order(list(system.members))}


def classes(module: Module) -> Iterator[Class]:
    """Yield the classes of a module and of those in it."""
    for member in module.members.values():
        if member.is_alias:
            continue
        if member.is_class:
            yield member
        elif member.is_module:
            yield from classes(member)


def in_order(names: list[str]) -> list[str]:
    """Return the names of parameters in the order in which people need them; the steps of a solver are of its kind."""
    computed = COMPUTED[:1] + ("rate", "schedule") * ("solver" in names) + COMPUTED[1:]
    last = TAKEN + computed
    return sorted(names, key=lambda name: last.index(name) if name in last else -1)


def markdown(text: str) -> str:
    """Return a docstring as Markdown."""
    head, *rest = SECTION.split(text)
    parts = [prose(head.strip())]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        if title == "Examples":
            shown = examples(body)
        elif title == "Attributes":
            shown = attributes(body)
        else:
            shown = entries(body, typed=title == "Parameters")
        parts.append(f"**{title}**\n\n{shown}")
    return "\n\n".join(parts)


def prose(text: str) -> str:
    """Return paragraphs with their formulas set; an indented block of formulas is a list of them, any other is code."""
    shown = []
    for block in re.split(r"\n\s*\n", text):
        if not block.startswith("    "):
            shown.append(marked(block))
        elif '"' in block or ">>>" in block:
            shown.append(block)
        else:
            formulas = re.split(r",\s{2,}|,\n\s*", re.sub(r"^ +", "", block, flags=re.MULTILINE))
            shown.append("\n".join(f"- {marked(formula)}" for formula in formulas if formula))
    return "\n\n".join(shown)


def examples(body: str) -> str:
    """Return examples as code, and words between them as they are."""
    blocks = re.split(r"\n\s*\n", body.strip())
    return "\n\n".join(f"```pycon\n{block}\n```" if block.startswith(">>>") else block for block in blocks)


def attributes(body: str) -> str:
    """Return each `name_ : what` as a definition, where several stand in a line too."""
    before, *rest = ATTRIBUTES.split(re.sub(r"\s*\n\s*", "\n", body.strip()))
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return "\n\n".join([prose(before), *(definition(names, what.rstrip(";")) for names, what in pairs)]).strip()


def entries(body: str, *, typed: bool) -> str:
    """Return each `name : what`, or name alone, with what follows indented as a definition; other lines are prose.

    Where `typed`, what stands before an indented description is a type. Those of a system are sorted.
    """
    found: list[tuple[str, str]] = []
    lines = body.strip().splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        entry, indented = ENTRY.match(line), after.startswith("    ")
        goes_on = len(line) > 90 and after.strip()[:1].islower()  # the description began in the first line
        if entry and (entry[2] or (typed and indented)):
            kind = f"*{entry[2]}*  \n" if typed and indented and entry[2] and not goes_on else f"{entry[2] or ''}\n"
            found.append((entry[1], kind))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line.strip()}\n")
        else:
            found.append(("", f"{line}\n"))
    if any(names in ("basis", "fit_intercept", "random_state") for names, _ in found):  # of a system
        order = in_order([names for names, _ in found])
        found.sort(key=lambda pair: order.index(pair[0]))
    return "\n\n".join(definition(*pair) if pair[0] else prose(pair[1]) for pair in found).strip()


def definition(names: str, what: str) -> str:
    """Return a definition; the first line stays as it is where it is a type."""
    shown = ", ".join(f"`{name.strip('`')}`" for name in names.split(", "))
    kind, text = what.split("\n", 1) if what.startswith("*") else ("", what)
    said = "\n\n    ".join(marked(" ".join(block.split("\n"))) for block in text.strip().split("\n\n"))
    return f"{shown}\n:   {kind}{chr(10) + '    ' if kind else ''}{said}"
