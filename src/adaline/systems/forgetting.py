"""When rows may be taken back out of a model: only those it holds, and only if enough correct digits are left."""

from __future__ import annotations

from adaline.errors import UnsafeForget
from adaline.sums import Moments
from adaline.wording import counted

SAFE_DIGITS = 9.0


def without(mine: Moments, gone: Moments) -> Moments:
    """Return the moments with rows taken out; refuse more rows or weight than they hold."""
    if gone.rows > mine.rows or gone.weight > mine.weight * (1 + 1e-12):
        raise UnsafeForget(
            f"cannot forget {counted(gone.rows)} of weight {gone.weight:g}: the model holds {counted(mine.rows)} of "
            f"weight {mine.weight:g}. Forget only rows that were fitted."
        )
    left = mine.copy()
    left.subtract(gone)
    return left


def refuse_few_digits(digits: float) -> None:
    """Refuse a model that would be left with fewer digits than is safe."""
    if digits < SAFE_DIGITS:
        raise UnsafeForget(
            f"forgetting these rows would leave {digits:.1f} correct digits, below {SAFE_DIGITS:g}: too few rows "
            "remain, or they say too little next to those taken out. Fit the remaining rows anew."
        )
