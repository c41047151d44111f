"""One thing a user should know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SERIOUS, WARNING, NOTE = "serious", "warning", "note"

MOST_NAMED = 6


@dataclass(frozen=True)
class Finding:
    """What was seen, how grave it is, where, and what to do.

    Parameters
    ----------
    severity : "serious" (do not trust the result before you have looked), "warning" or "note".
    title : a few words.
    text : what was seen, where, and what to do.
    columns : names of the columns of the data it is about, where it is about some.

    Examples
    --------
    >>> from adaline.faces.finding import Finding
    >>> Finding("note", "A title", "What to do.").to_dict()["severity"]
    'note'
    """

    severity: str
    title: str
    text: str
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.severity}: {self.title}. {self.text}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"severity": self.severity, "title": self.title, "text": self.text, "columns": list(self.columns)}


def some(names: Sequence[str]) -> str:
    """Return names as text, and how many more there are where there are many."""
    more = len(names) - MOST_NAMED
    shown = ", ".join(name if len(name) <= 60 else name[:57] + "..." for name in names[:MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown


def percent(share: float) -> str:
    """Return a share as text, never rounded to nothing or to all.

    Examples
    --------
    >>> from adaline.faces.finding import percent
    >>> percent(0.417), percent(0.0002), percent(0.999)
    ('42%', '0.02%', '99.9%')
    """
    places = 0 if 0.01 <= share <= 0.99 or share in (0, 1) else 1 if 0.001 <= share <= 0.999 else 2
    return f"{100 * share:.{places}f}%"
