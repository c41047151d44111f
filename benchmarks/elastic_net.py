"""The lasso cross-validated along a path of penalties: against scikit-learn, celer and skglm, by processor time."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds

Array = np.ndarray[Any, Any]
OURS = "adaline"
FOLDS, POINTS, ENOUGH = 5, 100, 1e-6
FEW = 500
LIMIT = 40  # seconds after which a peer is stopped, and its ratio a lower bound


@benchmark("elastic_net")
def elastic_net(settings: Settings) -> Section:
    """100 penalties, 5 folds and all rows, each point to a gap of 1e-6 of the sum of squares; one run each."""
    tables = []
    for name, (X, y, smallest) in _problems(settings).items():
        times: dict[str, float] = {}
        stopped: set[str] = set()
        missing: dict[str, str] = {}
        some = np.arange(0, len(y), max(len(y) // FEW, 1))
        first = _runs(X[some], y[some], smallest)  # imports, and what is compiled at the first call
        for who, run in _runs(X, y, smallest).items():
            try:
                first[who]()
            except (ImportError, TypeError) as error:  # a peer that is missing, or too old for scikit-learn as it is
                if who == OURS:
                    raise
                missing[who] = f"not run: {error}"
                continue
            run_start = time.process_time()
            if not _ended(run):
                stopped.add(who)
            times[who] = time.process_time() - run_start
            print(f"  {name}, {who}: {times[who]:.3g} s{' (stopped)' * (who in stopped)}", file=sys.stderr, flush=True)
        lines = []
        for who, spent in times.items():
            over = "> " if who in stopped else ""
            against = "-" if who == OURS else over + ratio(spent / times[OURS])
            lines.append((who, over + seconds(spent), against))
        lines += [(who, why, "-") for who, why in missing.items()]
        tables.append(Table(f"{name}, {X.shape[0]} x {X.shape[1]}", ("", "processor time", "ratio"), lines))
    return Section("Cross-validated lasso", _TEXT, tables)


def _ended(run: Callable[[], Any]) -> bool:
    """Run a contender; return whether it came to its end within LIMIT seconds."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        run()
    except TimeoutError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return True


def _problems(settings: Settings) -> dict[str, tuple[Any, Array, float]]:
    """Return rows, targets, and the smallest penalty over the largest, by name; real data where ADALINE_DATA has it."""
    rng = np.random.default_rng(0)
    out: dict[str, tuple[Any, Array, float]] = {}
    for name, rows, columns, few, noise, smallest in (
        ("dense, many rows", 100_000, 100, 20, 3.0, 1e-3),
        ("dense, many columns", 10_000, 5_000, 100, 1.0, 1e-2),
    ):
        X = rng.normal(size=(settings.rows(rows), columns))
        w = np.zeros(columns)
        w[:few] = rng.normal(size=few)
        out[name] = (X, X @ w + noise * rng.normal(size=len(X)), smallest)
    folder = os.environ.get("ADALINE_DATA")
    if folder:
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(str(Path(folder) / "sparse" / "a9a.svm.gz"), n_features=123)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        out["a9a"] = (X, y, 1e-3)
        file = np.load(Path(folder) / "sparse" / "20news_counts.npz", allow_pickle=False)
        counts = np.log1p(file["train_counts"].astype(np.float64))
        X = sparse.csr_matrix((counts, file["train_indices"], file["train_indptr"]))
        out["20 newsgroups"] = (X, np.where(file["train_y"] < 10, 1.0, -1.0), 1e-2)
    return out


def _runs(X: Any, y: Array, smallest: float) -> dict[str, Callable[[], Any]]:
    def ours() -> Any:
        from adaline import ElasticNet

        return ElasticNet(standardize=False, tol=ENOUGH, points=POINTS, ratio=smallest, folds=FOLDS).fit(X, y)

    def sklearn() -> Any:
        from sklearn.linear_model import LassoCV

        return LassoCV(tol=ENOUGH, cv=FOLDS, eps=smallest, max_iter=100_000).fit(X, y)

    def along(lasso: Any) -> Any:
        """Go down the path on all rows and without each fold, each fit from the one before."""
        from sklearn.model_selection import KFold

        largest = float(np.abs(X.T @ (y - y.mean())).max()) / len(y)
        for train in [*(kept for kept, _ in KFold(FOLDS).split(X)), np.arange(len(y))]:
            rows = sparse.csc_matrix(X[train]) if sparse.issparse(X) else np.asfortranarray(X[train])
            model = lasso(tol=ENOUGH, warm_start=True)
            for alpha in np.geomspace(largest, largest * smallest, POINTS):
                model.set_params(alpha=alpha).fit(rows, y[train])
        return model

    def celer() -> Any:
        from celer import Lasso

        return along(Lasso)

    def skglm() -> Any:
        from skglm import Lasso

        return along(Lasso)

    return {
        OURS: ours,
        "scikit-learn LassoCV": sklearn,
        "celer Lasso, warm starts": celer,
        "skglm Lasso, warm starts": skglm,
    }


_TEXT = (
    "A path of 100 penalties, on all rows and without each of 5 folds, every point to a duality gap of 1e-6 of the sum "
    "of squares of the target. Second moments of the folds, or products of the columns that matter, serve all machines "
    "at once. A peer that takes longer than 40 s is stopped. celer and skglm fit point after point, as celer's own "
    "LassoCV does not run with this scikit-learn. Of peers that do not run it is said why."
)
