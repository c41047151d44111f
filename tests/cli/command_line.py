"""Running command lines in process, and tables to run them on."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier

import adaline
from adaline.cli import main
from adaline.systems import SYSTEMS

ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(Path(adaline.__file__).parents[1]), *sys.path]),
    "NO_COLOR": "1",
}
"""Of processes that run the command line."""
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

    def __call__(self, *words: object, stdin: bytes | None = None) -> Done:
        self.captured.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            if stdin is not None:
                patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
            code = main([str(word) for word in words])
        return Done(code, *self.captured.readouterr())

    def good(self, *words: object, stdin: bytes | None = None) -> Done:
        done = self(*words, stdin=stdin)
        assert done.code == 0, done.err
        return done

    def bad(self, *words: object, stdin: bytes | None = None) -> str:
        """Run what must fail as a mistake of the user; return its one line."""
        done = self(*words, stdin=stdin)
        assert done.code == 2, done
        last = done.err.splitlines()[-1]
        assert last.startswith("adaline: ")
        assert all(line.startswith("note: ") for line in done.err.splitlines()[:-1])
        assert "Traceback" not in done.err
        return last

    def fit(self, lines: Iterable[str], *options: str, target: str = "y") -> Done:
        """Write rows to old.csv, and fit m.adaline to them."""
        return self.good("fit", written(lines, "old.csv"), "-t", target, "-o", "m.adaline", *options)

    def predict(self, lines: Iterable[str], *options: str) -> Done:
        """Write rows to new.csv, and predict them by m.adaline."""
        return self.good("predict", "m.adaline", written(lines, "new.csv"), *options)

    def reasons(self, lines: Iterable[str], *options: str) -> list[str]:
        """Return why rows have no prediction, where they have none."""
        found = self.predict(lines, *options).rows
        assert all(bool(row["prediction"]) == (not row["reason"]) for row in found)
        return [row["reason"] for row in found]


def written(lines: Iterable[str], name: str, encoding: str = "utf-8") -> str:
    """Write lines to a file, and return its name."""
    Path(name).write_bytes(("\n".join(lines) + "\n").encode(encoding))
    return name


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
