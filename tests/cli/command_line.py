"""Running command lines in process, and tables to run them on."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier

from adaline.cli import main
from adaline.systems import SYSTEMS

CLASSIFIERS = [name for name, cls in SYSTEMS.items() if is_classifier(cls())]


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out, parse_constant=_never)

    @property
    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(self.out.splitlines()))


class Shell:
    """Runs commands; what they print is returned."""

    def __init__(self, captured: pytest.CaptureFixture[str]) -> None:
        self.captured = captured

    def __call__(self, *words: object) -> Done:
        self.captured.readouterr()
        code = main([str(word) for word in words])
        return Done(code, *self.captured.readouterr())

    def good(self, *words: object) -> Done:
        done = self(*words)
        assert done.code == 0, done.err
        return done

    def bad(self, *words: object) -> str:
        """Run what must fail as a mistake of the user; return its one line."""
        done = self(*words)
        assert done.code == 2, done
        last = done.err.splitlines()[-1]
        assert last.startswith("adaline: ")
        assert all(line.startswith("note: ") for line in done.err.splitlines()[:-1])
        assert "Traceback" not in done.err
        return last


def table(path: Path, seed: int = 0, n: int = 90) -> Path:
    """Write numbers, a category, labels, words, prose and a date."""
    rng = np.random.default_rng(seed)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "a", "b", "color", "kind", "rank", "flag", "y", "when", "prose"])
        for i in range(n):
            kind = i % 3
            a, b = kind + rng.normal(), rng.normal()
            color = ["red", "green", "blue"][int(rng.integers(3))]
            y = 2 * a - b + (color == "red") + 0.1 * rng.normal()
            row = [i, f"{a:.6f}", f"{b:.6f}", color, "xyz"[kind], kind, a > 1, f"{y:.6f}", f"2024-01-{1 + i % 28:02d}"]
            writer.writerow([*row, f"text {i} {rng.integers(10**9)}"])
    return path


def _never(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")
