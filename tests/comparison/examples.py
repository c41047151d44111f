"""Tables to compare upon: clean ones, which must raise no alarm, and the bundled sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from adaline import ElasticNet, datasets
from adaline.arrays import Array
from adaline.comparison.compare import Comparison, compare_table
from adaline.comparison.table import Table


def numbers(seed: int = 0, n: int = 200, d: int = 4, noise: float = 1.0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) + rng.normal(size=d)) * 10.0 ** rng.integers(-3, 4, d)
    return X, (X / X.std(axis=0)) @ rng.uniform(0.5, 1.5, d) + noise * rng.normal(size=n)


def labels(seed: int = 0, n: int = 240, classes: int = 2, apart: float = 1.0) -> tuple[Array, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 3)) + apart * np.eye(max(classes, 3))[y, :3], np.array(list("abcdefgh"))[y]


def regression(**settings: Any) -> Table:
    return Table.of(*numbers(**settings), target="y")


def classification(**settings: Any) -> Table:
    return Table.of(*labels(**settings), target="kind")


def bundled(name: str, target: str | None = None, columns: list[int] | None = None) -> Table:
    data = datasets.load(name, target=target)
    kept = list(range(data.X.shape[1])) if columns is None else columns
    names = [data.feature_names[j] for j in kept]
    return Table.of(data.X[:, kept], data.y, names=names, target=data.target_name, source=name)


@contextmanager
def few_penalties() -> Iterator[None]:
    """Let ElasticNet be compared over few penalties: over all it takes about as long as the other systems together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ElasticNet, "compared", tuple({**one, "points": 5} for one in ElasticNet.compared))
        yield


@cache
def compared(make: Callable[..., Table], **settings: Any) -> Comparison:
    """Return the comparison of all systems on a table, made once for the tests that only read it."""
    with few_penalties():
        return compare_table(make(**settings))
