"""Plain English: turns of phrase that readers stumbled over do not come back. `make lint` runs this file.

Each entry has the words to look for, in any case, and what to write instead.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from adaline.cli.app import app
from tests.cli.command_line import Shell
from tests.test_house import SOURCES, text

ROOT = Path(__file__).parents[1]
GENERATED = {"benchmarks.md", "coverage.md", "zoo.md"}
INSTEAD = {
    r"(is|are|was) told\b": "is reported",
    r"(is|are) said to\b": "is reported",
    r"(goes|go|went|going) on\b": "continues, keeps learning",
    r"anew\b": "again, refit",
    r"by (itself|themselves)\b": "automatically, alone",
    r"for ever\b": "without bound, forever",
    r"parted by\b": "separated by",
    r"amid\b": "among",
    r"hangs? (together )?by\b": "connected by",
    r"(is|are) taken for\b": "is treated as",
    r"takes? it for\b": "treats it as",
    r"wild rows?\b": "outliers",
    r"rows that come in parts\b": "incremental fitting",
    r"flatters? (it|them)\b": "is optimistic",
    r"that (falls|fell)\b": "after a crash",
    r"something to mend\b": "invalid input",
    r"nobody reads\b": "broken pipe",
    r"slip of the pen\b": "typing error",
    r"before one's eyes\b": "while you watch",
}
ANY = re.compile(rf"\b(?:{'|'.join(INSTEAD)})", re.IGNORECASE)
WORDS = {re.compile(rf"\b{pattern}", re.IGNORECASE): instead for pattern, instead in INSTEAD.items()}
PAGES = [
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name not in GENERATED),
]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


def relapses(text: str) -> list[str]:
    """Return what stands in a text and should not, with what to write instead; code is not looked at."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", " ", text, flags=re.DOTALL)
    prose = re.sub(r"\s+", " ", prose)
    if not ANY.search(prose):
        return []
    return [f"{found[0]!r}: write {instead}" for words, instead in WORDS.items() for found in words.finditer(prose)]


def test_pages_and_examples_are_in_plain_english() -> None:
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in (*PAGES, *SCRIPTS)}
    texts |= {name: ast.get_docstring(ast.parse(text)) or "" for name, text in texts.items() if name.endswith(".py")}
    assert {name: found for name, text in texts.items() if (found := relapses(text))} == {}


def literals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every string of a module, docstrings too; dots are values in f-strings."""
    every = [*ast.walk(tree)]
    formatted = [node for node in every if isinstance(node, ast.JoinedStr)]
    inside = {id(part) for node in formatted for part in ast.walk(node) if part is not node}
    for node in every:
        if id(node) in inside:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (str(one.value) if isinstance(one, ast.Constant) else "..." for one in node.values)
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_messages_and_docstrings_are_plain_english() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {relapse}"
        for path in SOURCES
        for line, string in literals(ast.parse(text(path)))
        for relapse in relapses(string)
    ]
    assert found == []


@pytest.mark.every
@pytest.mark.parametrize("command", [str(one.name) for one in app.registered_commands])
def test_help_is_in_plain_english(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert relapses(Shell(capsys).good(command, "--help").out) == []


def test_a_relapse_is_found_in_messages() -> None:
    code = 'def f(x):\n    """Go on."""\n    raise ValueError(f"{x} is" f" told by itself: {x!r:>9}")  # anew'
    texts = dict(literals(ast.parse(code)))
    assert texts == {2: "Go on.", 3: "... is told by itself: ..."}
    assert [relapses(text) for text in texts.values()] == [
        ["'Go on': write continues, keeps learning"],
        ["'is told': write is reported", "'by itself': write automatically, alone"],
    ]


def test_a_relapse_is_found() -> None:
    assert relapses("The server\ngoes on, and columns are parted by commas.") == [
        "'goes on': write continues, keeps learning",
        "'parted by': write separated by",
    ]
    assert relapses("It continues; `goes on` is code.\n```\nanew\n```") == []
