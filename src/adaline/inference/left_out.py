"""Columns that a table of coefficients leaves out: constants, and combinations of columns before them, as in R."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adaline.results import CONSTANT, EXPLAINED, say_constant, some
from adaline.solvers.least_squares.dependence import MOST_SHOWN, Dependence


def left_out(dependence: Dependence, names: Sequence[str], constant: str = CONSTANT) -> dict[str, str]:
    """Return the names of columns left out, each with its combination of other columns, or that it is `constant`."""
    reasons = {names[j]: constant for j in map(int, np.flatnonzero(dependence.constant))}
    texts = dependence.texts(names, constant == EXPLAINED)
    return reasons | {names[a]: text for a, text in zip(dependence.left_out, texts, strict=True)}


def left_out_notes(reasons: dict[str, str], shared: bool = True) -> list[str]:
    """Return the lines that a table says about columns left out; `shared`: whether coef_ has a share for them."""
    alone = {what: [name for name, why in reasons.items() if why == what] for what in (CONSTANT, EXPLAINED)}
    dependent = [why for why in reasons.values() if why not in alone]
    out = [say_constant(found, what) for what, found in alone.items() if found]
    if dependent:
        held = "the solution of minimum norm, in which they share their effect" if shared else "the same, zero there"
        out.append(
            f"left out as combinations of columns before them, as in R: {some(dependent, '; ', MOST_SHOWN)}. The table "
            f"is that of the model without them; coef_ is {held}. Predictions of rows in which the combinations hold "
            "are the same"
        )
    return out
