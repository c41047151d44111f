"""The registry of targets, and how one case is run."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from adaline.errors import AdalineError

Random = np.random.Generator
Target = Callable[[Random, Path], Any]

TARGETS: dict[str, Target] = {}
SEEDS = Path(__file__).with_name("seeds.txt")


def target(function: Target) -> Target:
    """Add a target to the registry, under the name of the function."""
    TARGETS[function.__name__] = function
    return function


def run_case(name: str, seed: int) -> str:
    """Return "worked" or "refused" for one case; whatever else comes of it is raised."""
    import tests.fuzz.attacks  # noqa: F401  (fills the registry)

    rng = np.random.default_rng([seed, *name.encode()])
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)  # NumPy's, of numbers that nobody looked at
        try:
            TARGETS[name](rng, Path(folder))
        except AdalineError:
            return "refused"
    return "worked"


def kept_seeds() -> list[tuple[str, int]]:
    """Return the cases that have failed before: a target and a seed a line, and what it found as a comment."""
    lines = (line.partition("#")[0].split() for line in SEEDS.read_text(encoding="utf-8").splitlines())
    return [(words[0], int(words[1])) for words in lines if words]


def one_of(rng: Random, values: Any) -> Any:
    """Return one of some values."""
    values = list(values)
    return values[int(rng.integers(len(values)))]


def is_sound(model: Any, out: Any) -> bool:
    """Whether what a model gives is finite; of classes without rows a classifier may know nothing, -inf."""
    array = np.asarray(out)
    return array.dtype.kind not in "fc" or not (np.isnan(array) if is_classifier(model) else ~np.isfinite(array)).any()


def flipped(rng: Random, data: bytes) -> bytes:
    """Return bytes with a few of them changed, cut out, put in or repeated."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(len(out) + 1)) if out else 0
        match int(rng.integers(6)):
            case 0 if at < len(out):
                out[at] ^= 1 << int(rng.integers(8))
            case 1 if at < len(out):
                out[at] = one_of(rng, (0, 10, 13, 34, 44, 127, 128, 255))
            case 2:
                del out[at : at + int(rng.integers(1, 40))]
            case 3:
                out[at:at] = rng.bytes(int(rng.integers(1, 9)))
            case 4:
                out[at:at] = out[at : at + int(rng.integers(1, 60))]
            case _:
                del out[at + int(rng.integers(1, 400)) :]
    return bytes(out)
