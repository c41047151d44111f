"""A budget of work for a proof, counted in multiplications, not timed, so that proofs do not depend on the machine."""

from __future__ import annotations

import math
from dataclasses import dataclass

from adaline.errors import AdalineError

# time of a product of integers, in products of floats; doubling it gives proofs up after half the time
INTEGER_COST = 50


class Undecided(AdalineError):
    """The answer needs more exact arithmetic than is reasonable, or than was allowed."""


@dataclass
class Budget:
    """The work that is left, in products of two floats: about 1e9 a second."""

    left: float = math.inf

    def spend(self, work: float) -> None:
        """Subtract some work; raise Undecided if none is left."""
        self.left -= work
        if self.left < 0:
            raise Undecided(
                "the proof whether a plane separates the classes was given up after the work allowed for it: "
                "adaline.separability has no such limit"
            )
