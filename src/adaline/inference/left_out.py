"""Columns that a table of coefficients leaves out: constants, and combinations of columns before them, as in R."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adaline.results import say_constant, some
from adaline.solvers.least_squares.dependence import Dependence

CONSTANT = "constant"


@dataclass(frozen=True)
class LeftOutColumns:
    """Why columns are left out: their names, each with its combination of other columns, or "constant"."""

    reasons: dict[str, str]

    def notes(self) -> list[str]:
        """Return the lines that a table says about them."""
        constant = [name for name, why in self.reasons.items() if why == CONSTANT]
        dependent = [why for why in self.reasons.values() if why != CONSTANT]
        out = []
        if constant:
            out.append(say_constant(constant))
        if dependent:
            out.append(
                f"left out as combinations of columns before them, as in R: {some(dependent, '; ')}. The other "
                "coefficients are those of the model without them; predictions are the same"
            )
        return out


def left_out(dependence: Dependence, names: Sequence[str]) -> LeftOutColumns:
    """Return what is left out of columns with these names."""
    reasons = {names[j]: CONSTANT for j in map(int, np.flatnonzero(dependence.constant))}
    texts = dependence.texts(names)
    return LeftOutColumns(reasons | {names[a]: text for a, text in zip(dependence.left_out, texts, strict=True)})


def nothing_left_out() -> LeftOutColumns:
    """Return that every column is there."""
    return LeftOutColumns({})
