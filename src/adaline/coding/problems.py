"""Rows that a coding cannot code, and why: missing values, unseen levels, values that are not finite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

LONGEST_SHOWN = 60  # characters of a level in a message


class RowProblems:
    """The rows of a frame that cannot be coded, with a reason for each.

    A reason is a text such as "missing value of age" or "unseen level 'ZZ' of carrier"; several are joined by "; ".

    Parameters
    ----------
    rows : the number of rows of the frame.

    Attributes
    ----------
    codable : (n,) whether each row can be coded.
    missing : (n,) whether a value that the coding needs is missing in a row.
    counts : the number of rows with each kind of problem, such as "unseen level of carrier".

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.coding.problems import RowProblems
    >>> problems = RowProblems(3)
    >>> problems.add("unseen level", "carrier", np.array([False, True, False]), ["AA", "ZZ", "AA"])
    >>> problems.reasons(), problems.counts
    ([None, "unseen level 'ZZ' of carrier", None], {'unseen level of carrier': 1})
    """

    def __init__(self, rows: int) -> None:
        self.codable: Mask = np.ones(rows, dtype=bool)
        self.missing: Mask = np.zeros(rows, dtype=bool)
        self.counts: dict[str, int] = {}
        self._reasons: dict[int, list[str]] = {}

    def add(
        self,
        problem: str,
        of: str,
        rows: Mask,
        values: Sequence[Any] | None = None,
        alike: Mapping[str, str] | None = None,
    ) -> None:
        """Add a problem of some rows, (n,), with a column or term; `values` of all rows stand in their reasons.

        Known values are `alike` that differ from these by capitals or blanks only, by their texts without either.
        """
        if not rows.any():
            return
        self.codable &= ~rows
        text = f"{problem} of {of}"
        self.counts[text] = self.counts.get(text, 0) + int(rows.sum())
        for row in np.flatnonzero(rows).tolist():
            told = text if values is None else f"{problem} {shown_level(values[row])} of {of}"
            if values is not None and alike and (known := alike.get(str(values[row]).strip().casefold())) is not None:
                told += f" (the fit has {shown_level(known)})"
            self._reasons.setdefault(row, []).append(told)

    def add_missing(self, of: str, rows: Mask) -> None:
        """Add missing values of a column."""
        self.missing |= rows
        self.add("missing value", of, rows)

    def reasons(self) -> list[str | None]:
        """Return why each row cannot be coded, (n,); None where it can."""
        return ["; ".join(self._reasons[row]) if row in self._reasons else None for row in range(len(self.codable))]


def shown_level(level: Any) -> str:
    """Return a level as a message shows it, on one line, shortened where it is long."""
    text = repr(level)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}...{text[0]}"
