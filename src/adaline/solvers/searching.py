"""How far to go along a step: whole, or shorter until the objective falls enough (Armijo), by parabolas."""

from __future__ import annotations

import math
from collections.abc import Callable

from adaline.solvers.problem import At

ARMIJO = 1e-4
FLAT = 1e-13  # changes of an objective below this share of it are rounding
SHORTEST = 1e-10


def search(
    look: Callable[[float], At],
    value: float,
    slope: float,
    floor: float = 0.0,
    will_do: Callable[[At], bool] = lambda new: False,
    more: Callable[[float], float] = lambda share: 0.0,
) -> tuple[At | None, float]:
    """Return F at the first share of a step that lowers the objective enough, and the share; None where none does.

    `value` and `slope` are those of the objective at the start; it may rise by `floor`, by rounding. `look` tells F at
    a share of the step, `more` what the objective has beside it, `will_do` what is enough otherwise.
    """
    share = 1.0
    while share > SHORTEST:
        new = look(share)
        reached = new.value + more(share)
        if reached <= value + ARMIJO * share * slope + floor or will_do(new):
            return new, share
        fall = reached - value - share * slope
        best = -slope * share * share / (2 * fall) if math.isfinite(fall) and fall > 0 else 0.0
        share = min(max(best, 0.1 * share), 0.5 * share)
    return None, 0.0
