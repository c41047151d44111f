"""Another project's distribution is called adaline, and installs a package of the same name over ours."""

from __future__ import annotations

import os
import warnings

OURS = "adaline-learn"


def warn_of_namesake(folder: str = os.path.dirname(os.path.dirname(__file__))) -> None:
    """Warn where a distribution called `adaline` is installed beside this one; a listing of a folder finds it."""
    try:
        names = os.listdir(folder)
    except OSError:  # a package in an archive
        return
    if any(name.startswith("adaline-") and name.endswith((".dist-info", ".egg-info")) for name in names):
        warnings.warn(
            f"the distribution adaline, which is another project, is installed beside {OURS}: both write the package "
            f"adaline, and parts of it may be the other's. Run: pip uninstall adaline {OURS}; pip install {OURS}",
            stacklevel=3,
        )
