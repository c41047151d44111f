"""The lowest versions that pyproject.toml allows of the packages adaline works with: make test-oldest."""

from __future__ import annotations

import tomllib
from pathlib import Path

PYPROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
EXTRAS = ("app", "onnx", "serve", "play")
FRAMES = ("pandas", "polars")  # no dependencies, but frames of theirs are taken


def requirements() -> list[str]:
    """Return the dependencies and extras at their lowest versions; not torch, whose old builds take gigabytes."""
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    listed = [*project["dependencies"], *(line for name in EXTRAS for line in extras[name])]
    listed += [
        line for line in PYPROJECT["dependency-groups"]["dev"] if line.startswith(FRAMES) and "stubs" not in line
    ]
    return list(dict.fromkeys(line.replace(">=", "==") for line in listed))


if __name__ == "__main__":
    print("\n".join(requirements()))
