"""Learning one row at a time beside scikit-learn, padasip, River and Vowpal Wabbit: one epoch of equal work."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.peers import Array
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import race

OURS, TAPS = "adaline", 20
DENSE = ((1_000_000, 10), (200_000, 100), (20_000, 1000))
SPARSE = ((200_000, 1000), (20_000, 10_000), (100_000, 2000))
DENSITY = 0.01
ROWS = 2000  # learned one at a time


@benchmark("scans")
def scans(settings: Settings) -> Section:
    """Epochs, filters, single rows, and one pass over a file."""
    text = (
        "The same rule at the same rate, over the same rows in the same order, validation included. scikit-learn's "
        "intercept learns 100 times as slowly on sparse rows, so there only the accuracies can be compared. "
        f"River {version('river')}, padasip {version('padasip')}, Vowpal Wabbit {version('vowpalwabbit')}."
    )
    return Section(
        "Learning one row at a time", text, [_epochs(settings), _filters(settings), _rows(settings), _file(settings)]
    )


def _epochs(settings: Settings) -> Table:
    rng, rows = np.random.default_rng(1), []
    for n, d in DENSE:
        X: Any = rng.standard_normal((settings.rows(n), d))
        rows += [_epoch(f"{len(X)} x {d}", X, 0.1 / d, shuffle, settings) for shuffle in (False, True)]
    for n, d in SPARSE:
        shape = (settings.rows(n), d)
        X = sparse.random(*shape, DENSITY, format="csr", random_state=1, data_rvs=rng.standard_normal)
        rows += [_epoch(f"{shape[0]} x {d}, CSR", X, 0.01, shuffle, settings) for shuffle in (False, True)]
        rows.append(_epoch(f"{shape[0]} x {d}, CSR float32", X.astype(np.float32), 0.01, False, settings))
    columns = ["", "LMS", "SGDRegressor", "peer / ours", "R^2", "Perceptron", "Perceptron of", "SGDClassifier"]
    return Table("one epoch beside scikit-learn", [*columns, "peers / ours", "accuracy"], rows)


def _epoch(name: str, X: Any, rate: float, shuffle: bool, settings: Settings) -> list[str]:
    from sklearn import linear_model as peers

    import adaline

    rng = np.random.default_rng(2)
    y = X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(X.shape[0])
    labels = (y > 0).astype(int)
    theirs: dict[str, Any] = {"max_iter": 1, "tol": None, "shuffle": shuffle, "random_state": 0}
    steps: dict[str, Any] = {"penalty": None, "learning_rate": "constant", **theirs}
    found = race(
        {
            "LMS": lambda: adaline.LMS(rate=rate, epochs=1, shuffle=shuffle).fit(X, y),
            "SGDRegressor": lambda: peers.SGDRegressor(eta0=rate, **steps).fit(X, y),
            "Perceptron": lambda: adaline.Perceptron(epochs=1, shuffle=shuffle).fit(X, labels),
            "Perceptron of scikit-learn": lambda: peers.Perceptron(**theirs).fit(X, labels),
            "SGDClassifier": lambda: peers.SGDClassifier(loss="perceptron", eta0=1.0, **steps).fit(X, labels),
        },
        rounds=settings.rounds,
    )
    lms, sgd, ours, perceptron, classifier = (timing.seconds for timing in found.values())
    scores = [timing.result.score(X, y if i < 2 else labels) for i, timing in enumerate(found.values())]
    return [
        name + (", shuffled" if shuffle else ""),
        *(seconds(lms), seconds(sgd), ratio(sgd / lms), f"{scores[0]:.3f} {scores[1]:.3f}"),
        *(seconds(ours), seconds(perceptron), seconds(classifier)),
        f"{ratio(perceptron / ours)} {ratio(classifier / ours)}",
        f"{scores[2]:.3f} {scores[3]:.3f}",
    ]


def _filters(settings: Settings) -> Table:
    """Scans on the rows that padasip gets too."""
    import padasip

    from adaline import scans as rules
    from adaline.block import Block, Shape

    rng, rows = np.random.default_rng(3), []
    X = rng.standard_normal((settings.rows(100_000), TAPS))
    y = X @ rng.standard_normal(TAPS) + 0.1 * rng.standard_normal(len(X))
    shape, block = Shape(TAPS, 1), Block(X, y[:, None])

    def ours(rule: str, **config: Any) -> Array:
        outputs = np.empty((len(X), 1))
        rules.SCANS[rule].start(shape, intercept=False, **config).run(block, outputs=outputs)
        return y - outputs[:, 0]

    contests: dict[str, tuple[Callable[[], Array], Any]] = {
        "LMS": (lambda: ours("LMS", rate=0.01), padasip.filters.FilterLMS(TAPS, mu=0.01, w="zeros")),
        "RLS": (
            lambda: ours("RLS", forget=0.999, delta=0.1),
            padasip.filters.FilterRLS(TAPS, mu=0.999, eps=0.1, w="zeros"),
        ),
    }
    for name, (run, peer) in contests.items():
        found = race({OURS: run, "padasip": lambda peer=peer: _afresh(peer, y, X)}, rounds=min(settings.rounds, 3))
        mine, theirs = found[OURS], found["padasip"]
        gap = np.abs(mine.result - theirs.result).max()
        times = (seconds(mine.seconds / len(X)), seconds(theirs.seconds / len(X)))
        rows.append([name, *times, ratio(theirs.seconds / mine.seconds), f"{gap:.0e}"])
    caption = f"filters of {TAPS} taps, {len(X)} rows"
    return Table(caption, ["", "ours, a row", "padasip", "peer / ours", "outputs differ"], rows)


def _afresh(peer: Any, y: Array, X: Array) -> Array:
    import copy

    return np.asarray(copy.deepcopy(peer).run(y, X)[1])


def _rows(settings: Settings) -> Table:
    """`learn_one` on arrays and dicts beside River's, or beside that of the nearest of its models."""
    from river import linear_model as river
    from river import multiclass, optim

    import adaline

    rng, out = np.random.default_rng(4), []
    X = rng.standard_normal((ROWS, 20))
    y = 0.3 * X @ rng.standard_normal(20) + 0.1 * rng.standard_normal(ROWS)
    dicts = [{f"x{j}": float(v) for j, v in enumerate(row)} for row in X]
    numbers, labels, classes = y.tolist(), (y > 0).tolist(), np.digitize(y, [-0.5, 0.5]).tolist()
    steps: dict[str, Any] = {"optimizer": optim.SGD(0.01), "intercept_lr": 0.01}
    contests: list[tuple[Any, Callable[[], Any], str, Sequence[Any]]] = [
        (adaline.LMS(rate=0.01), lambda: river.LinearRegression(**steps), "LinearRegression", numbers),
        (adaline.LMS(), lambda: river.LinearRegression(**steps), "LinearRegression", numbers),
        (adaline.Adaline(rate=0.01), lambda: river.LinearRegression(**steps), "LinearRegression", labels),
        (adaline.Perceptron(), river.Perceptron, "Perceptron", labels),
        (adaline.Pocket(), river.Perceptron, "Perceptron", labels),
        (adaline.KeslerPerceptron(), river.Perceptron, "Perceptron", labels),
        (
            adaline.KeslerPerceptron(),
            lambda: multiclass.OneVsRestClassifier(river.Perceptron()),
            "OneVsRest(Perceptron)",
            classes,
        ),
        (adaline.SigmoidPerceptron(rate=0.01), lambda: river.LogisticRegression(**steps), "LogisticRegression", labels),
        (
            adaline.OnlineLogistic(),
            lambda: river.LogisticRegression(**steps),
            "LogisticRegression",
            labels,
        ),
    ]
    from sklearn.base import clone

    for ours, peer, nearest, t in contests:
        known = {"classes": [0, 1, 2]} if t is classes else {}
        found = race(
            {
                "array": lambda ours=ours, t=t, known=known: _learn(clone(ours), list(X), t, known),
                "dict": lambda ours=ours, t=t, known=known: _learn(clone(ours), dicts, t, known),
                "River": lambda peer=peer, t=t: _learn(peer(), dicts, t, {}),
            },
            rounds=settings.rounds,
        )
        array, by_name, theirs = (timing.seconds / ROWS for timing in found.values())
        shown = f"{ours!r}, {3 if t is classes else 2} classes" if t is not numbers else repr(ours)
        times = (seconds(array), seconds(by_name), nearest, seconds(theirs))
        out.append([shown, *times, ratio(theirs / array), ratio(theirs / by_name)])
    columns = ["", "array", "dict", "River", "its dict", "peer / array", "peer / dict"]
    return Table(f"learn_one, {X.shape[1]} features", columns, out)


def _learn(model: Any, rows: Sequence[Any], t: Sequence[Any], known: dict[str, Any]) -> Any:
    model.learn_one(rows[0], t[0], **known)
    for x, y in zip(rows, t, strict=True):
        model.learn_one(x, y)
    return model


def _file(settings: Settings) -> Table:
    """One pass over a text file, each as a command of its own: starting and parsing are included."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((settings.rows(1_000_000), 20))
    y = X @ rng.standard_normal(20) + 0.1 * rng.standard_normal(len(X))
    with tempfile.TemporaryDirectory() as folder:
        table, lines = Path(folder, "rows.csv"), Path(folder, "rows.vw")
        with table.open("w") as csv, lines.open("w") as vw:
            csv.write(",".join([*(f"x{j}" for j in range(20)), "y"]) + "\n")
            for row, t in zip(X, y, strict=True):
                cells = [f"{v:.6g}" for v in row]
                csv.write(",".join(cells) + f",{t:.6g}\n")
                vw.write(f"{t:.6g} | " + " ".join(f"x{j}:{v}" for j, v in enumerate(cells)) + "\n")
        ours = ["adaline", "fit", str(table), "-t", "y", "--system", "LMS", "--set", "rate=0.01", "--set", "epochs=1"]
        peer = ["vowpalwabbit", "-d", str(lines), "--loss_function", "squared", "--quiet"]
        found = race({OURS: lambda: _command(ours), "vw": lambda: _command(peer)}, rounds=settings.rounds)
    mine, theirs = found[OURS].seconds, found["vw"].seconds
    row = ["adaline fit --system LMS", seconds(mine), seconds(theirs), ratio(theirs / mine)]
    return Table(f"one pass over {len(X)} x 20 in a text file", ["", "ours", "Vowpal Wabbit", "peer / ours"], [row])


def _command(arguments: Sequence[str]) -> None:
    subprocess.run([sys.executable, "-m", *arguments], check=True, capture_output=True)
