"""The native scans, or None where they could not be built; `adaline.sums.kernels` says so."""

from __future__ import annotations

from typing import Any

native: Any
try:
    from adaline import _native as native
except ImportError:
    native = None
