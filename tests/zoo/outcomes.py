"""The outcomes that are expected: a line a run in outcomes.tsv, of table, target and "ok" or "refused"."""

from __future__ import annotations

from pathlib import Path

EXPECTED = Path(__file__).with_name("outcomes.tsv")
SIGNS = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}

Outcomes = dict[tuple[str, str], str]


def read_outcomes() -> Outcomes:
    """Return the expected outcome of each table and target."""
    if not EXPECTED.exists():
        return {}
    lines = [line.split("\t") for line in EXPECTED.read_text(encoding="utf-8").split("\n") if line]
    return {(_unescaped(table), _unescaped(target)): outcome for table, target, outcome in lines}


def write_outcomes(known: Outcomes) -> None:
    """Write the outcomes that are expected from now on."""
    lines = [f"{_escaped(table)}\t{_escaped(target)}\t{known[table, target]}\n" for table, target in sorted(known)]
    EXPECTED.write_text("".join(lines), encoding="utf-8", newline="\n")


def _escaped(text: str) -> str:
    for sign, written in SIGNS.items():
        text = text.replace(sign, written)
    return text


def _unescaped(text: str) -> str:
    for sign, written in reversed(SIGNS.items()):
        text = text.replace(written, sign)
    return text
