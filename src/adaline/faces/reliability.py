"""Whether probabilities hold: how often what was given a probability came true, with intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BINS = 10
FEWEST = 5  # rows of a bin from which its share says anything


class Reliability(NamedTuple):
    """Bins of probabilities: their mean, the share that came true, and its 95% interval."""

    probability: Array
    share: Array
    lower: Array
    upper: Array


def reliability(probability: Array, happened: NDArray[np.bool_]) -> Reliability:
    """Return the shares in ten bins of equal width, those with five rows or more; intervals by Wilson's formula.

    E. B. Wilson, JASA 22 (1927), 209-212.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.faces.reliability import reliability
    >>> found = reliability(np.repeat([0.25, 0.75], 40), np.tile([True, False, False, False], 20))
    >>> found.share.tolist(), bool(found.upper[1] < 0.75)
    ([0.25, 0.25], True)
    """
    bins = np.minimum((probability * BINS).astype(int), BINS - 1)
    n = np.bincount(bins, minlength=BINS)
    known = n >= FEWEST
    n = n[known]
    mean = np.bincount(bins, probability, BINS)[known] / n
    share = np.bincount(bins, happened.astype(np.float64), BINS)[known] / n
    z = 1.96
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return Reliability(mean, share, np.minimum(middle - half, share), np.maximum(middle + half, share))
