"""The native kernels, or None where they could not be built; then the references run, and this says so once."""

from __future__ import annotations

from typing import Any

from adaline.errors import AdalineWarning, warn

native: Any
try:
    from adaline import _native as native
except ImportError as error:
    native = None
    warn(
        f"adaline's native core is missing ({error}): results are the same, but slower. "
        "Install a C++ compiler and reinstall adaline.",
        AdalineWarning,
    )
