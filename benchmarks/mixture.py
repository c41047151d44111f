"""K-means and mixtures of Gaussians: time for the same steps from the same start, and results from outside.

The results are read from the folder that ADALINE_DATA names (by default ../shared/data); what is not there is said.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import Timing, race

Array = np.ndarray[Any, Any]
DATA = Path(os.environ.get("ADALINE_DATA", Path(__file__).parents[2] / "shared" / "data"))

OURS = "adaline"
STEPS = 20
KINDS = {"VVV": "full", "EEE": "tied", "VVI": "diag"}


@benchmark("kmeans")
def kmeans(settings: Settings) -> Section:
    """Lloyd's algorithm from given centres."""
    from sklearn.cluster import KMeans
    from sklearnex.cluster import KMeans as Intel

    import adaline

    tables = []
    for n, d, k, dtype in (
        (100_000, 10, 5, np.float64),
        (100_000, 20, 10, np.float64),
        (100_000, 50, 20, np.float64),
        (100_000, 50, 20, np.float32),
        (1_000_000, 20, 10, np.float64),
    ):
        X = _groups(settings.rows(n), d, k).astype(dtype)
        same: dict[str, Any] = {"n_clusters": k, "init": X[:k].copy(), "tol": 0.0, "max_iter": STEPS}
        peers = {"scikit-learn, lloyd": KMeans, "scikit-learn-intelex": Intel}
        found = race(
            {
                OURS: lambda same=same, X=X: adaline.KMeans(**same).fit(X),
                **{
                    name: lambda cls=cls, same=same, X=X: cls(**same, n_init=1, algorithm="lloyd").fit(X)
                    for name, cls in peers.items()
                },
            },
            rounds=settings.rounds,
        )
        rows = [
            [*_timed(name, found), f"{t.result.inertia_ / found[OURS].result.inertia_ - 1:+.1e}"]
            for name, t in found.items()
        ]
        caption = f"{X.shape[0]} x {d} {np.dtype(dtype)}, {k} clusters"
        tables.append(Table(caption, ["", "time", "peer / ours", "moves", "error against ours"], rows))
    tables.append(_known("kmeans.json", _kmeans_error))
    return Section("K-means", f"At most {STEPS} moves from the first rows.", tables)


@benchmark("mixture")
def mixture(settings: Settings) -> Section:
    """EM from given parameters."""
    from sklearn.mixture import GaussianMixture

    import adaline

    tables = []
    for n, d, k, kind in (
        (100_000, 10, 5, "full"),
        (100_000, 10, 5, "tied"),
        (100_000, 10, 5, "diag"),
        (100_000, 10, 5, "spherical"),
        (100_000, 40, 5, "full"),
    ):
        X = _groups(settings.rows(n), d, k)
        same = {"tol": 0.0, "max_iter": STEPS, **_start(X, kind, k)}
        found = race(
            {
                OURS: lambda same=same, X=X: adaline.GaussianMixture(**same).fit(X),
                "scikit-learn": lambda same=same, X=X: GaussianMixture(**same).fit(X),
            },
            rounds=min(settings.rounds, 3),
        )
        best = found[OURS].result.lower_bound_
        rows = [[*_timed(name, found), f"{t.result.lower_bound_ - best:+.1e}"] for name, t in found.items()]
        caption = f"{kind}, {X.shape[0]} x {d}, {k} components"
        tables.append(Table(caption, ["", "time", "peer / ours", "steps", "log-likelihood against ours"], rows))
    tables.append(_known("em_gmm.json", _mixture_error))
    return Section("Mixtures of Gaussians", f"{STEPS} steps of EM.", tables)


def _timed(name: str, found: dict[str, Timing]) -> list[str]:
    taken = found[name].seconds
    return [name, seconds(taken), ratio(taken / found[OURS].seconds), str(found[name].result.n_iter_)]


def _groups(n: int, d: int, k: int) -> Array:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((k, d))[rng.integers(0, k, n)]


def _start(X: Array, kind: str, k: int) -> dict[str, Any]:
    d = X.shape[1]
    shape = {"full": np.stack([np.eye(d)] * k), "tied": np.eye(d), "diag": np.ones((k, d)), "spherical": np.ones(k)}
    return {
        "n_components": k,
        "covariance_type": kind,
        "weights_init": np.full(k, 1 / k),
        "means_init": X[:k],
        "precisions_init": shape[kind] / X.var(),
    }


def _known(file: str, error: Any) -> Table:
    path = DATA / "reference" / file
    if not path.exists():
        return Table(f"results from outside: {path.name} is not there", ["case", "error"], [])
    rows = []
    for name, case in json.loads(path.read_text())["cases"].items():
        source, _, key = case["file"].split(" ")[0].partition(":")
        found = error(name, case, np.load(DATA / source)[key])
        rows.append([name, "no such covariances here" if found is None else f"{found:.1e}"])
    return Table("largest relative error against results from outside", ["case", "error"], rows)


def _kmeans_error(name: str, case: dict[str, Any], X: Array) -> float:
    import adaline

    first = X[[0, 50, 100]] if name == "iris" else X[[0, 1]]
    model = adaline.KMeans(n_clusters=case["k"], init=first, tol=0).fit(X)
    centres = np.abs(model.cluster_centers_ / case["centres"] - 1).max()
    return float(max(centres, abs(model.inertia_ / case["inertia"] - 1)))


def _mixture_error(name: str, case: dict[str, Any], X: Array) -> float | None:
    import adaline

    kind = KINDS.get(name.rpartition("_")[2])
    if kind is None:
        return None
    part = {"i": np.repeat([0, 1, 2], 50), "f": X[:, 0] > 3, "g": np.digitize(X[:, 0], [14, 28])}[name[0]].astype(int)
    groups = [X[part == k] for k in range(part.max() + 1)]
    weights = np.array([len(own) / len(X) for own in groups])
    covariances = np.stack([np.atleast_2d(np.cov(own.T, bias=True)) for own in groups])
    if kind == "tied":
        covariances = np.einsum("k,kij->ij", weights, covariances)
    precisions = 1 / np.diagonal(covariances, axis1=1, axis2=2) if kind == "diag" else np.linalg.inv(covariances)
    model = adaline.GaussianMixture(
        n_components=len(groups),
        covariance_type=kind,
        reg_covar=0,
        tol=0,
        max_iter=2000,
        weights_init=weights,
        means_init=np.stack([own.mean(axis=0) for own in groups]),
        precisions_init=precisions,
    ).fit(X)
    value = abs(model.score(X) * len(X) / case["loglik"] - 1)
    return float(max(value, *(np.abs(getattr(model, f"{n}_") / case[n] - 1).max() for n in ("weights", "means"))))
