"""Numbers as people read them in sentences and tables."""

from __future__ import annotations

import math


def counted(count: float, noun: str = "row", form: str = ",") -> str:
    """Return a number of things in words: "1 row", "1,200 rows"."""
    return f"{count:{form}} {noun}{'' if count == 1 else 's'}"


def amount(error: float, measure: str) -> str:
    """Return an error as people read it: a share of wrong labels in per cent, else four digits."""
    if math.isnan(error):
        return "-"
    return f"{100 * error:.2f}%" if measure == "error rate" else f"{error:.4g}"
