"""The kernels of every instruction set on rows of odd sizes and layouts: they agree with each other.

Under the sanitizers this is what reads and writes wherever the kernels do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from adaline.kernels import native
from adaline.results import Status
from adaline.systems import SYSTEMS, UNSUPERVISED
from tests.fuzz.targets import Random, one_of, target


def layout(rng: Random, x: Any) -> Any:
    """Return rows (n, D) in another type, order or storage."""
    match int(rng.integers(6)):
        case 0:
            return x.astype(np.float32)
        case 1:
            return np.asfortranarray(x)
        case 2:
            return np.repeat(x, 3, axis=1)[:, ::3]
        case 3:
            return x[::-1]
        case 4:
            thinned = sparse.csr_array(np.where(rng.random(x.shape) < 0.6, 0.0, x))
            if rng.random() < 0.5:
                thinned.indices, thinned.indptr = thinned.indices.astype(np.int64), thinned.indptr.astype(np.int64)
            return thinned
    return x


@target
def kernels(rng: Random, folder: Path) -> None:
    """Fit one system on each instruction set to the same rows."""
    n, d = int(rng.integers(2, 300)), int(one_of(rng, (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 65)))
    x = rng.normal(size=(n, d)) + rng.normal(size=d)
    z = x @ rng.normal(size=d) / np.sqrt(d) + rng.normal(size=n)
    system = one_of(rng, [*SYSTEMS.values(), *UNSUPERVISED.values()])
    classes = int(rng.integers(2, 5))
    y = (np.argsort(np.argsort(z)) * classes // n) if is_classifier(system()) else z
    weight = rng.uniform(0, 2, size=n) if rng.random() < 0.4 else None
    rows = layout(rng, x)
    before, found = native.isa(), []
    try:
        for isa in native.isas():
            native.use_isa(isa)
            model = system()
            model.fit(rows, *(() if system in UNSUPERVISED.values() else (y,)), sample_weight=weight)
            predicted = np.asarray(model.predict(rows))
            if hasattr(model, "partial_fit"):
                model.partial_fit(rows, y)
            found.append((model.certificate_, predicted))
    finally:
        native.use_isa(before)
    (proof, first), *others = found
    for other, predicted in others:
        assert other.status is proof.status, f"{other.status} on one instruction set, {proof.status} on another"
        if proof.status is Status.SOLVED and proof.digits > 9 and first.dtype.kind == "f":
            np.testing.assert_allclose(predicted, first, rtol=1e-6, atol=1e-6 * np.abs(first).max())
