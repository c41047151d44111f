"""Model files with bytes changed, and with stored values changed under checksums that are right."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.base import is_classifier

from adaline import load, save
from adaline.systems import SYSTEMS, UNSUPERVISED
from tests.fuzz.attacks.inputs import use
from tests.fuzz.targets import Random, flipped, one_of, target
from tests.storage.forge import Forgery, altered, misused, originals


@target
def model_bytes(rng: Random, folder: Path) -> None:
    """Change bytes of a model file: it is refused, or it works."""
    system = one_of(rng, [*SYSTEMS.values(), *UNSUPERVISED.values()])
    x = np.random.default_rng(0).normal(size=(40, 3))
    y = x.sum(axis=1)
    y = np.where(y > 0, "yes", "no") if is_classifier(system()) else y
    path = folder / "model.adaline"
    save(system().fit(x, *(() if system in UNSUPERVISED.values() else (y,))), path)
    path.write_bytes(flipped(rng, path.read_bytes()))
    use(load(path), x, y)


@cache
def files() -> list[Callable[[], Forgery]]:
    """Return functions that make the files of all systems in every setting, each once a process."""
    return list(originals(every=True).values())


@target
def model_fields(rng: Random, folder: Path) -> None:
    """Change one to three stored values of a model file: it is refused, or every use of the model works."""
    original = one_of(rng, files())()
    forged, what = altered(rng, original), ""
    for _ in range(int(rng.integers(0, 3))):
        forged, what = altered(rng, forged), f"{what}{forged.name}, "
    found = misused(original, forged, folder / "model.adaline")
    assert not found, f"{original.name}: {what}{forged.name}: {found}"
