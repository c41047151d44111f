"""The rows of a tapped delay line, written out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def design(x: Any, taps: tuple[int, ...], delay: int = 0) -> NDArray[np.float64]:
    """Row n: x[n - delay - j, c] for j = 0 .. taps[c] - 1, signal after signal; zero outside the record."""
    n = len(x)
    out = np.zeros((n, sum(taps)))
    column = 0
    for c, count in enumerate(taps):
        for j in range(count):
            for i in range(n):
                if 0 <= i - delay - j < n:
                    out[i, column] = x[i - delay - j, c]
            column += 1
    return out
