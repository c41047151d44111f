"""A budget of work for a proof, counted in multiplications, not timed, so that proofs do not depend on the machine."""

from __future__ import annotations

import math
from dataclasses import dataclass

from adaline.errors import AdalineError

EXACT = 50  # products of floats in the time of one of integers; doubled: proofs are given up after half the time


class Undecided(AdalineError):
    """The answer needs more exact arithmetic than is reasonable, or than was allowed."""


@dataclass
class Budget:
    """The work that is left, in products of two floats: about 1e9 a second."""

    left: float = math.inf

    def spend(self, work: float) -> None:
        """Subtract some work; raise Undecided where nothing is left."""
        self.left -= work
        if self.left < 0:
            raise Undecided(
                "the proof whether a plane separates the classes was given up after the work allowed for it: "
                "adaline.separability has no such limit"
            )
