"""Logistic and softmax regression: time to the same objective, not to each library's own tolerance.

For each contender the loosest tolerance is looked for, off the clock, whose objective is within 1e-6 of the best known;
then all race with theirs; one that is not there after 15 times our time is given with what it had reached. Data that
are read from files (MNIST, a9a, 20 newsgroups) come from the folder that ADALINE_DATA names (by default
../shared/data); what is not there is said.
"""

from __future__ import annotations

import gzip
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import race

Array = np.ndarray[Any, Any]
Fit = Callable[[float], Any]
DATA = Path(os.environ.get("ADALINE_DATA", Path(__file__).parents[2] / "shared" / "data"))

OURS = "adaline"
WANTED = 1e-6
PATIENCE = 15  # times our own time, after which a contender that is not there yet is let off
LADDER = [10.0**-k for k in range(1, 13)]
PENALTY = 1.0


@benchmark("logistic")
def logistic(settings: Settings) -> Section:
    """Two classes, dense."""
    tables = []
    for n, d in ((1_000_000, 20), (500_000, 50), (200_000, 100)):
        X, y = _problem(settings.rows(n), d)
        names = ("lbfgs", "newton-cholesky", "newton-cg")
        tables.append(_raced(f"{len(y)} x {d}", X, y, _dense_peers(X, y, names), settings))
    return Section("Logistic regression", f"Penalty {PENALTY:g}; time to a relative excess of {WANTED:g}.", tables)


@benchmark("softmax")
def softmax(settings: Settings) -> Section:
    """MNIST, ten classes."""
    found = _mnist()
    if found is None:
        return Section("Softmax regression", "MNIST is not there.", [])
    X, y = found
    if settings.quick:
        X, y = X[:3000], y[:3000]
    table = _raced(f"MNIST, {len(y)} x {X.shape[1]}", X, y, _dense_peers(X, y, ("lbfgs",)), settings)
    return Section("Softmax regression", f"Penalty {PENALTY:g}; time to a relative excess of {WANTED:g}.", [table])


@benchmark("sparse_logistic")
def sparse_logistic(settings: Settings) -> Section:
    """a9a, two classes, and 20 newsgroups, twenty."""
    tables = []
    for caption, found, names in (
        ("a9a", _a9a(), ("lbfgs", "newton-cg", "newton-cholesky", "liblinear")),
        ("20 newsgroups, counts", _news(), ("lbfgs", "newton-cg")),
    ):
        if found is not None:
            X, y = found
            tables.append(_raced(f"{caption}, {X.shape[0]} x {X.shape[1]}", X, y, _peers(X, y, names), settings))
    missing = "" if len(tables) == 2 else " Some data are not there."
    return Section("Sparse logistic regression", f"Penalty {PENALTY:g}.{missing}", tables)


@benchmark("logistic_inference")
def logistic_inference(settings: Settings) -> Section:
    """Coefficients with standard errors."""
    import statsmodels.api as sm

    import adaline

    X, y = _problem(settings.rows(200_000), 20)
    ones = sm.add_constant(X)

    def ours() -> Array:
        rows = adaline.LogisticRegression().fit(X, y).summary().to_dict()["coefficients"]
        return np.array([row["std_error"] for row in rows])

    found = race(
        {OURS: ours, "statsmodels Logit": lambda: np.asarray(sm.Logit(y, ones).fit(disp=0).bse)},
        rounds=settings.rounds,
    )
    theirs = found["statsmodels Logit"].result
    rows = [
        [name, seconds(t.seconds), ratio(t.seconds / found[OURS].seconds), f"{np.abs(t.result / theirs - 1).max():.1e}"]
        for name, t in found.items()
    ]
    table = Table(f"{len(y)} x 20", ["", "time", "peer / ours", "difference from statsmodels"], rows)
    return Section("Logistic regression with standard errors", "Fit and summary together.", [table])


def _raced(caption: str, X: Any, y: Array, contenders: dict[str, Fit], settings: Settings) -> Table:
    best = _objective(X, y, contenders[OURS](1e-13))
    chosen: dict[str, Callable[[], Any]] = {}
    took: dict[str, float] = {}
    left: dict[str, float] = {}
    for name, fit in contenders.items():
        for tol in LADDER:
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = fit(tol)
            took[name] = time.perf_counter() - start
            left[name] = _objective(X, y, model) / best - 1
            if left[name] <= WANTED:
                chosen[name] = lambda fit=fit, tol=tol: fit(tol)
                break
            if took[name] > PATIENCE * took[OURS] + 10:
                break
    slowest = max(took[name] for name in chosen)
    found = race(chosen, rounds=min(settings.rounds, max(1, int(60 / slowest))))
    rows = [
        [
            name,
            seconds(timing.seconds),
            ratio(timing.seconds / found[OURS].seconds),
            f"{_objective(X, y, timing.result) / best - 1:.1e}",
        ]
        for name, timing in found.items()
    ]
    rows += [
        [name, f"> {seconds(took[name])}", f"> {ratio(took[name] / found[OURS].seconds)}", f"{left[name]:.1e}"]
        for name in contenders
        if name not in found
    ]
    return Table(caption, ["", "time", "peer / ours", "excess of the objective"], rows)


def _objective(X: Any, y: Array, model: Any) -> float:
    """Return the objective at a model's coefficients."""
    coef = np.atleast_2d(model.coef_)
    z = np.asarray(X @ coef.T) + np.ravel(model.intercept_)
    if z.shape[1] == 1:
        sign = np.where(y == model.classes_[1], 1.0, -1.0)
        loss = np.logaddexp(0.0, -sign * z[:, 0]).sum()
    else:
        own = z[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        loss = (logsumexp(z, axis=1) - own).sum()
    return float(loss + 0.5 * PENALTY * (coef**2).sum())


def _dense_peers(X: Array, y: Array, names: tuple[str, ...]) -> dict[str, Fit]:
    from sklearnex.linear_model import LogisticRegression as Intelex

    return {
        **_peers(X, y, names),
        "scikit-learn-intelex": lambda tol: Intelex(C=1 / PENALTY, tol=tol, max_iter=10000).fit(X, y),
        **({} if len(np.unique(y)) > 2 else {"glum": lambda tol: _glum(X, y, tol)}),
    }


def _peers(X: Any, y: Array, names: tuple[str, ...]) -> dict[str, Fit]:
    from sklearn.linear_model import LogisticRegression

    import adaline

    def theirs(solver: str) -> Fit:
        more = {"intercept_scaling": 1e3} if solver == "liblinear" else {}
        return lambda tol: LogisticRegression(C=1 / PENALTY, tol=tol, max_iter=1000, solver=solver, **more).fit(X, y)

    ours: dict[str, Fit] = {OURS: lambda tol: adaline.LogisticRegression(penalty=PENALTY, tol=tol).fit(X, y)}
    return ours | {f"scikit-learn, {name}": theirs(name) for name in names}


def _glum(X: Array, y: Array, tol: float) -> Any:
    from glum import GeneralizedLinearRegressor

    model = GeneralizedLinearRegressor(
        family="binomial", alpha=PENALTY / len(y), l1_ratio=0, gradient_tol=tol, max_iter=1000
    ).fit(X, y.astype(float))
    model.classes_ = np.array([0, 1])
    return model


def _problem(rows: int, features: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((rows, features))
    z = X @ rng.standard_normal(features) * (2 / np.sqrt(features)) + 0.5
    return X, (rng.random(rows) < 1 / (1 + np.exp(-z))).astype(np.int64)


def _mnist() -> tuple[Array, Array] | None:
    folder = DATA / "images" / "mnist"
    images, labels = (folder / f"train-{name}.gz" for name in ("images-idx3-ubyte", "labels-idx1-ubyte"))
    if not images.exists():
        return None
    with gzip.open(images) as file:
        X = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / 255.0
    with gzip.open(labels) as file:
        return X, np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)


def _a9a() -> tuple[Any, Array] | None:
    from sklearn.datasets import load_svmlight_file

    path = DATA / "sparse" / "a9a.svm.gz"
    if not path.exists():
        return None
    with gzip.open(path) as file:
        X, y = load_svmlight_file(file)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # liblinear takes no others
    return sparse.csr_matrix(X), (y > 0).astype(np.int64)


def _news() -> tuple[Any, Array] | None:
    path = DATA / "sparse" / "20news_counts.npz"
    if not path.exists():
        return None
    held = np.load(path, allow_pickle=False)
    parts = (held["train_counts"].astype(float), held["train_indices"], held["train_indptr"])
    columns = int(max(held["train_indices"].max(), held["test_indices"].max())) + 1
    return sparse.csr_matrix(parts, shape=(len(parts[2]) - 1, columns)), held["train_y"].astype(np.int64)
