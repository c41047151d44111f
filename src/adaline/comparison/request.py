"""What the options of a command ask for, as plain values; light, so that the command line can make them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class DataRequest:
    """What is asked of the data; None and () where nothing is said. `shell` says how messages spell the options."""

    data: Any
    table: str | None = None
    target: str | None = None
    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    weight: str | None = None
    categories: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    missing: str | None = None
    unseen: str = "error"
    formula: str | None = None
    shell: bool = True

    def option(self, name: str, value: str = "") -> str:
        """Return an option as the user types it.

        Examples
        --------
        >>> from adaline.comparison.request import DataRequest
        >>> DataRequest("x.csv").option("missing", "drop"), DataRequest("x.csv", shell=False).option("missing", "drop")
        ('--missing drop', "missing='drop'")
        """
        if self.shell:
            return f"--{name} {value}".rstrip()
        return f"{name}={value!r}" if value else name


@dataclass(frozen=True)
class CompareRequest:
    """How to compare: number of folds, seed of their cut, systems by name (none: all that suit), and the task."""

    folds: int = 5
    seed: int = 0
    systems: tuple[str, ...] = ()
    task: str | None = None


@dataclass(frozen=True)
class SelectRequest:
    """How to choose: by which errors, by which rule, on how many folds, and what the error is."""

    method: str = "auto"
    rule: str = "best"
    folds: int = 10
    scoring: str | None = None


@dataclass(frozen=True)
class PredictRequest:
    """What to predict: values or labels, also probabilities, or an interval of a level; and which columns to keep."""

    proba: bool = False
    interval: str | None = None
    level: float = 0.95
    keep: str = "all"


def listed(text: str | None) -> tuple[str, ...]:
    """Return the names in "a, b, c".

    Examples
    --------
    >>> from adaline.comparison.request import listed
    >>> listed("a, b,c")
    ('a', 'b', 'c')
    """
    return tuple(name for name in (part.strip() for part in (text or "").split(",")) if name)
