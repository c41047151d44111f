"""The cost of a fit: how often the rows were read, and seconds."""

from __future__ import annotations

import math
from time import perf_counter
from typing import Any

import numpy as np

from adaline.results import Certificate, Status, changed, out_of_range
from adaline.sources import Source


class Meter:
    """Counts reads and seconds from the beginning of a fit to `given`, a source, read before or not, or arrays."""

    def __init__(self, given: Any = None) -> None:
        self._start = perf_counter()
        self._reads = given.reads[0] if type(given) is not np.ndarray and isinstance(given, Source) else 0

    def on(self, certificate: Certificate, source: Source | None) -> Certificate:
        """Return a certificate with the seconds since the beginning and the reads of the fit's source, if it has one.

        One whose objective overflows does not say that all is solved.
        `source` may be any view of the rows: views share the count of reads.
        """
        if certificate.status is Status.SOLVED and certificate.objective == math.inf:
            certificate = out_of_range(certificate)
        passes = certificate.passes if source is None else self.passes(source)
        return changed(certificate, passes=passes, seconds=perf_counter() - self._start)

    def passes(self, source: Source) -> int:
        """Return how often the rows were read since the beginning."""
        return source.reads[0] - self._reads
