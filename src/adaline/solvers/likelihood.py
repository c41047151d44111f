"""What a fit of a likelihood leaves for inference: coefficients, their covariance, and how likely the rows are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.results import Solution

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LikelihoodFit:
    """A solution with what inference needs, all in raw units.

    Parameters
    ----------
    solution : theta (K, 1 + D), intercept first, and the certificate; two classes have K = 1.
    covariance : (K (1 + D), K (1 + D)) inverse of the (penalised) information, machine after machine, or None where it
        was too large to form. With coupled machines it is that of coefficients that sum to zero over the machines.
    log_likelihood, null : of the rows at the solution, and of the best constants alone; without the penalty.
    rows, weight : number of rows, and the sum of their weights.
    parameters : number of free coefficients, intercepts included.
    penalised : whether a penalty holds the coefficients.
    coupled : whether the machines are those of a softmax.
    """

    solution: Solution
    covariance: Array | None
    log_likelihood: float
    null: float
    rows: int
    weight: float
    parameters: int
    penalised: bool
    coupled: bool
