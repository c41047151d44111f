"""Instruments: charts that a scene shows beside the board, computed by the systems on its points or on data of its own.

An instrument is a function of the board, fresh points of the same kind and settings from the page. Most return a chart:

    {"x": [...], "lines": [{"name": ..., "y": [...]}, ...], "log": "x", "y" or "xy", "mark": x or None, "facts": {...}}

whose names are keys of the texts of the page, where they may stand with a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.basis import Fourier, Polynomial, Radial
from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import AnyModel
from adaline.input.basis import rows_through_basis
from adaline.playground.boards import Board
from adaline.playground.pictures import b64, json_number, json_numbers
from adaline.playground.traces import quiet
from adaline.separation.separability import separability
from adaline.separation.verdict import ManyClasses
from adaline.systems import (
    LMS,
    AdaptiveFilter,
    FisherDiscriminant,
    GaussianClassifier,
    LinearRegression,
    LogisticRegression,
    Ridge,
)

SOUND_RATE = 8000  # samples a second; doubling it gives twice the bandwidth, and takes twice as long
SIGNAL_SECONDS = 4  # length of the signal; doubling it takes twice as long
HISTOGRAM_BINS = 40  # bins of a histogram; doubling it makes those of few points ragged
DIRECTIONS = 181  # directions in half a circle along which the error is drawn
MOST_PATHS = 5  # weights, or directions, whose path over the penalties is drawn


def surface(board: Board, fresh: Board | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the squared error over two weights as a quadratic form: its minimum and its curvature (5.6).

    Of numbers the weights are (w0, w1), of classes with targets -1 and 1 (w1, w2), about the best w0.
    """
    _need(board, 3, "numbers", "classes")
    if board.task == "numbers":
        ones = np.column_stack([np.ones(len(board.points)), board.X])
        model = LinearRegression().fit(board.X, board.y)
        centre, curve = [float(model.intercept_), float(model.coef_[0])], ones.T @ ones
    else:
        t = np.where(np.asarray(board.y) == np.unique(np.asarray(board.y))[-1], 1.0, -1.0)  # as systems have it
        model = LinearRegression().fit(board.X, t)
        about = board.X - board.X.mean(axis=0)
        centre, curve = [float(w) for w in model.coef_], about.T @ about
    values = np.linalg.eigvalsh(curve)
    return {
        "centre": json_numbers(centre),
        "curvature": [json_numbers(row) for row in curve],
        "least": json_number(2 * model.certificate_.objective),
        "facts": {
            "steepest": json_number(values[-1]),
            "flattest": json_number(values[0]),
            "bound": json_number(2 / values[-1]),
        },
    }


def bound(board: Board, fresh: Board | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error of LMS after some epochs by its rate, and the bound 2 / Trace[Rxx] of (5.20)."""
    _need(board, 3, "numbers")
    ones = np.column_stack([np.ones(len(board.points)), board.X])
    limit = 2 / float(np.mean((ones**2).sum(axis=1)))
    shares = np.geomspace(0.02, 4, 25)
    found = []
    for share in shares:
        with quiet():
            model = LMS(rate=float(share * limit), epochs=20, tol=0.0).fit(board.X, board.y)
            error = _rms(model, board)
        found.append(None if model.certificate_.status.label == "diverged" else json_number(error))
    last = max((s for s, e in zip(shares, found, strict=True) if e is not None), default=0.0)
    return {
        "x": json_numbers(shares * limit),
        "lines": [{"name": "error", "y": found}],
        "log": "x",
        "mark": json_number(limit),
        "facts": {"bound": json_number(limit), "last": json_number(last * limit)},
    }


def ridge(board: Board, fresh: Board | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return, by the penalty of `Ridge` on powers of x, its errors, its weights, or how much it damps directions.

    Along an eigenvector of X'X with eigenvalue d, ridge keeps d / (d + penalty) of the least-squares answer. Weights
    are those of columns with standard deviation 1; of the powers the first MOST_PATHS are shown.
    """
    _need(board, 4, "numbers")
    degree = _whole(settings, "degree", 8, 1, 12)
    basis = Polynomial(degree=degree, orthogonal=False)
    penalties = np.geomspace(1e-4, 1e4, 33)
    with quiet():
        models = [Ridge(penalty=float(p), standardize=True, basis=basis).fit(board.X, board.y) for p in penalties]
        own = [_rms(one, board) for one in models]
        other = None if fresh is None else [_rms(one, fresh) for one in models]
        phi = rows_through_basis(models[0], board.X)
    scaled = (phi - phi.mean(axis=0)) / phi.std(axis=0)
    values = np.linalg.eigvalsh(scaled.T @ scaled)[::-1]
    best = None if other is None else float(penalties[int(np.argmin(other))])
    lines: list[dict[str, Any]]
    match settings.get("show", "errors"):
        case "damping":
            lines = [
                {"name": "eigenvalue", "value": f"{d:.2g}", "y": json_numbers(d / (d + penalties))}
                for d in values[:MOST_PATHS]
            ]
        case "path":
            weights = np.array([np.ravel(one.coef_) for one in models]) * phi.std(axis=0)
            most = enumerate(weights.T[:MOST_PATHS])
            lines = [{"name": "power", "value": k + 1, "y": json_numbers(y)} for k, y in most]
        case _:
            lines = [{"name": name, "y": json_numbers(y)} for name, y in (("training", own), ("fresh", other)) if y]
    return {
        "x": json_numbers(penalties),
        "lines": lines,
        "log": "x",
        "mark": best,
        "facts": {"best": best, "unpenalised": None if other is None else json_number(other[0])},
    }


def noise(board: Board, fresh: Board | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tune under noise, and what an adaptive filter that hears the noise alone leaves of it: sound and errors.

    The noise reaches the microphone through a room, 12 taps that the filter does not know and that change half-way.
    """
    tune, source, microphone = recording()
    disturbed, n = microphone - tune, len(tune)
    half = n // 2
    with quiet():
        canceller = AdaptiveFilter(**filter_settings(settings))
        clean = np.asarray(canceller.filter(source, microphone).error)
    clean = np.where(np.isfinite(clean), clean, 0.0)
    left = (clean - tune) ** 2
    window = SOUND_RATE // 20
    power = left[: n // window * window].reshape(-1, window).mean(axis=1)
    before = ((disturbed**2)[: n // window * window]).reshape(-1, window).mean(axis=1)
    status = canceller.certificate_.status.label
    settled = slice(half // 2, half)  # before the room changes
    remaining = max(float(np.mean(left[settled])), 1e-12)
    gain = 10 * math.log10(float(np.mean(disturbed[settled] ** 2)) / remaining)
    return {
        "rate": SOUND_RATE,
        "sounds": {"microphone": _sound(microphone), "cleaned": _sound(clean)},
        "x": json_numbers((np.arange(len(power)) + 0.5) * window / SOUND_RATE),
        "lines": [
            {"name": "noise before", "y": json_numbers(10 * np.log10(before))},
            {"name": "noise left", "y": json_numbers(10 * np.log10(np.maximum(power, 1e-9)))},
        ],
        "log": "",
        "mark": SIGNAL_SECONDS / 2,
        "facts": {"status": status, "gain": json_number(gain), "diverged": status == "diverged"},
    }


def filter_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the adaptive filter that a page asks for."""
    taps, rate = _whole(settings, "taps", 24, 1, 64), _real(settings, "rate", 0.05, 1e-5, 4.0)
    rule = settings.get("rule", "nlms")
    if rule not in ("lms", "nlms", "rls"):
        raise InvalidParameter("rule must be one of lms, nlms, rls")
    return {"rule": rule, "taps": taps, **({"forgetting": 0.999} if rule == "rls" else {"rate": rate})}


def recording() -> tuple[Array, Array, Array]:
    """Return a tune, a noise, and what a microphone hears: the tune and the noise through a room that changes half-way.

    Examples
    --------
    >>> from adaline.playground.instruments import recording
    >>> [len(one) for one in recording()]
    [32000, 32000, 32000]
    """
    rng = np.random.default_rng(3)
    n = SOUND_RATE * SIGNAL_SECONDS
    tune, source = _tune(n), rng.normal(size=n)
    room = [rng.normal(size=12) * 0.8 ** np.arange(12) for _ in range(2)]
    heard = [np.convolve(source, one)[:n] for one in room]
    return tune, source, tune + 0.25 * np.concatenate([heard[0][: n // 2], heard[1][n // 2 :]])


def _tune(n: int) -> Array:
    """Return a tune of eight notes, each plucked."""
    notes = [261.6, 329.6, 392.0, 523.3, 440.0, 392.0, 329.6, 261.6]
    each = n // len(notes)
    time = np.arange(each) / SOUND_RATE
    fade = np.exp(-3 * time) * np.minimum(1, 200 * time)
    parts = [fade * (np.sin(2 * np.pi * f * time) + 0.4 * np.sin(4 * np.pi * f * time)) for f in notes]
    return 0.3 * np.concatenate(parts)


def _sound(values: Array) -> str:
    """Return samples as 16-bit integers."""
    return b64(np.round(32000 * np.clip(values, -1, 1)).astype("<i2"))


def projection(board: Board, fresh: Board | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return two classes projected on a direction: histograms, Fisher's criterion J by the angle, and its optimum."""
    classes = np.unique(board.index) if board.task == "classes" else np.zeros(0, dtype=np.int64)
    if len(classes) != 2:
        raise InvalidData("a projection compares two classes: put points of two classes on the board")
    a, b = (board.X[board.index == one] for one in classes)
    if min(len(a), len(b)) < 2:
        raise InvalidData("each class needs two points or more")
    angle = _real(settings, "angle", 0.0, -720, 720)
    angles = np.linspace(0, 180, DIRECTIONS)
    criterion = [_criterion(a, b, float(one)) for one in angles]
    with quiet():
        fisher = np.ravel(FisherDiscriminant().fit(board.X, board.y).coef_)
    best = math.degrees(math.atan2(fisher[1], fisher[0])) % 180
    w = _direction(angle)
    values = board.X @ w
    edges = np.linspace(values.min(), values.max() + 1e-9, HISTOGRAM_BINS + 1)
    histograms = [np.histogram(one @ w, edges)[0].tolist() for one in (a, b)]
    here, top = _criterion(a, b, angle), _criterion(a, b, best)
    return {
        "x": json_numbers(angles),
        "lines": [{"name": "criterion", "y": json_numbers(criterion)}],
        "log": "",
        "mark": json_number(angle % 180),
        "histograms": {"edges": json_numbers(edges), "classes": [int(one) for one in classes], "counts": histograms},
        "direction": json_numbers(w),
        "optimum": json_numbers(_direction(best)),
        "facts": {
            "here": json_number(here),
            "best": json_number(best),
            "share": json_number(here / top if top else 1.0),
        },
    }


def _direction(angle: float) -> Array:
    return np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))])


def _criterion(a: Array, b: Array, angle: float) -> float:
    """Return J(w) = (m2 - m1)^2 / (s1^2 + s2^2) along a direction."""
    p, q = a @ _direction(angle), b @ _direction(angle)
    within = float(((p - p.mean()) ** 2).sum() + ((q - q.mean()) ** 2).sum())
    return float((q.mean() - p.mean()) ** 2 / max(within, 1e-12))


def dimension(board: Board, fresh: Board | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many products of powers a polynomial has, by the number of columns and its degree."""
    columns = range(1, 11)
    sizes = {p: [Polynomial(degree=p).fit(np.zeros((1, d))).size for d in columns] for p in (2, 3, 4, 6)}
    return {
        "x": list(columns),
        "lines": [{"name": "degree", "value": p, "y": size} for p, size in sizes.items()],
        "log": "y",
        "mark": None,
        "facts": {"cubic": sizes[3][9], "sixth": sizes[6][9]},
    }


def bumps(board: Board, fresh: Board | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return how well bumps on a grid follow a wave of one, two and three columns, by their number."""
    rng = np.random.default_rng(6)
    lines, needed = [], {}
    for d, most in ((1, 12), (2, 9), (3, 6)):
        X, new = rng.uniform(size=(1500, d)), rng.uniform(size=(800, d))
        sizes, shares = [], []
        for m in range(2, most + 1):
            centres = np.array(list(product(np.linspace(0, 1, m), repeat=d)))
            with quiet():
                basis = Radial(centres=centres, width=float(1 / (m - 1) / X.std()))
                model = LinearRegression(basis=basis).fit(X, _ripple(X))
                rest = float(np.mean((model.predict(new) - _ripple(new)) ** 2) / np.var(_ripple(new)))
            sizes.append(len(centres))
            shares.append(rest)
            if rest <= 0.02:
                break
        needed[f"needed{d}"] = sizes[-1]
        lines.append({"name": "columns", "value": d, "x": sizes, "y": json_numbers(shares)})
    return {"x": [], "lines": lines, "log": "xy", "mark": None, "facts": needed}


def _ripple(X: Array) -> Array:
    return np.asarray(np.cos(3 * np.pi * X.sum(axis=1) / np.sqrt(X.shape[1])))


def growth(board: Board, fresh: Board | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the length of the weights of logistic regression by its penalty, as that vanishes."""
    _need(board, 4, "classes")
    penalties = np.geomspace(10, 1e-7, 17)
    with quiet():
        lengths = [
            float(np.linalg.norm(LogisticRegression(penalty=float(p)).fit(board.X, board.y).coef_)) for p in penalties
        ]
        free = LogisticRegression().fit(board.X, board.y)
    return {
        "x": json_numbers(penalties),
        "lines": [{"name": "length of w", "y": json_numbers(lengths)}],
        "log": "x",
        "mark": None,
        "reverse": True,
        "facts": {"status": free.certificate_.status.label, "ratio": json_number(lengths[-1] / lengths[-5])},
    }


def richness(board: Board, fresh: Board | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error on the points and on fresh ones by the number of basis functions."""
    _need(board, 4, "numbers")
    kind = settings.get("basis", "Polynomial")
    if kind not in ("Polynomial", "Fourier"):
        raise InvalidParameter("basis must be Polynomial or Fourier")
    sizes = list(range(1, 13 if kind == "Polynomial" else 16))
    with quiet():
        bases = [
            Polynomial(degree=k, orthogonal=True) if kind == "Polynomial" else Fourier(terms=k, period=6.0)
            for k in sizes
        ]
        models = [LinearRegression(basis=one).fit(board.X, board.y) for one in bases]
        lines = {"training": [_rms(one, board) for one in models]}
        if fresh is not None:
            lines["fresh"] = [_rms(one, fresh) for one in models]
    judged = lines.get("fresh", lines["training"])
    best = sizes[int(np.argmin(judged))]
    return {
        "x": sizes,
        "lines": [{"name": name, "y": json_numbers(np.minimum(y, 1e3))} for name, y in lines.items()],
        "log": "y",
        "mark": best,
        "facts": {"best": best},
    }


def passes(board: Board, fresh: Board | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error above its minimum after each pass over the rows: a step a row against a step a pass."""
    _need(board, 3, "numbers")
    least = _mean_square(LinearRegression().fit(board.X, board.y), board)
    ones = np.column_stack([np.ones(len(board.points)), board.X])
    steepest = float(np.linalg.eigvalsh(ones.T @ ones)[-1])
    longest = float((ones**2).sum(axis=1).max())
    count = 20
    found: dict[str, list[float]] = {"a step a pass": [], "a step a row": []}
    with quiet():
        for k in range(1, count + 1):
            batch = LinearRegression(solver="gradient", rate=1 / steepest, epochs=k, tol=0.0).fit(board.X, board.y)
            single = LMS(rate=0.5 / longest, epochs=k, tol=0.0).fit(board.X, board.y)
            found["a step a pass"].append(max(_mean_square(batch, board) - least, 1e-12))
            found["a step a row"].append(max(_mean_square(single, board) - least, 1e-12))
    first = {name: next((k + 1 for k, e in enumerate(y) if e < 0.1 * least), None) for name, y in found.items()}
    return {
        "x": list(range(1, count + 1)),
        "lines": [{"name": name, "y": json_numbers(y)} for name, y in found.items()],
        "log": "y",
        "mark": None,
        "facts": {"batch": first["a step a pass"], "single": first["a step a row"]},
    }


def posterior(board: Board, fresh: Board | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the errors on fresh points of a generative and a discriminative classifier, by the number of points."""
    if fresh is None or board.task != "classes":
        raise InvalidData("this needs points that were generated: choose a kind of points first")
    y = np.asarray(board.y)
    sizes = sorted({int(s) for s in np.geomspace(10, max(len(y), 11), 9)})
    found: dict[str, list[Any]] = {"Gaussian": [], "logistic": []}
    with quiet():
        for size in sizes:
            for name, model in (("Gaussian", GaussianClassifier()), ("logistic", LogisticRegression(penalty=1e-3))):
                fit = model.fit(board.X[:size], y[:size])
                found[name].append(float(np.mean(fit.predict(fresh.X) != fresh.y)))
    return {
        "x": sizes,
        "lines": [{"name": name, "y": json_numbers(y)} for name, y in found.items()],
        "log": "x",
        "mark": None,
        "facts": {"gaussian": json_number(found["Gaussian"][-1]), "logistic": json_number(found["logistic"][-1])},
    }


def proof(board: Board, fresh: Board | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether a plane separates the classes, with its proof: a plane, or convex combinations that coincide."""
    if board.task != "classes" or len(np.unique(board.index)) < 2:
        raise InvalidData("separability is about two classes or more")
    with quiet():
        found = separability(board.X, board.y)
        found.verify()
    out: dict[str, Any] = {"text": str(found), "facts": {"separable": bool(found.separable)}}
    if isinstance(found, ManyClasses):
        return out
    out["facts"] |= {"kind": found.kind, "margin": json_number(found.margin)}
    if found.separable and found.coef is not None:
        out["plane"] = json_numbers([found.intercept, *np.ravel(found.coef)])
        out["margin"] = json_number(found.margin)
    if found.weights is not None:
        rows = found.weights.rows
        shares = [2 * float(value) for value in found.weights.values]
        positive = np.asarray(board.y)[rows] == found.classes[1]
        meeting = np.asarray(shares)[positive] @ board.X[rows[positive]]
        out["combination"] = [{"row": int(r), "share": json_number(s)} for r, s in zip(rows, shares, strict=True)]
        out["meeting"] = json_numbers(meeting)
        out["facts"]["rows"] = len(rows)
    return out


def _need(board: Board, least: int, *tasks: str) -> None:
    if board.task not in tasks or len(board.points) < least:
        raise InvalidData(f"this needs {least} points or more of {' or '.join(tasks)}")


def _rms(model: AnyModel, board: Board) -> float:
    return math.sqrt(_mean_square(model, board))


def _mean_square(model: AnyModel, board: Board) -> float:
    return float(np.mean((np.asarray(model.predict(board.X)) - np.asarray(board.y)) ** 2))


def _real(settings: Mapping[str, Any], name: str, default: float, least: float, most: float) -> float:
    value = settings.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise InvalidParameter(f"{name} must be a number from {least:g} to {most:g}, got {value!r}")
    return float(value)


def _whole(settings: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    value = _real(settings, name, default, least, most)
    if value != int(value):
        raise InvalidParameter(f"{name} must be a whole number, got {value!r}")
    return int(value)


Instrument = Callable[[Board, Board | None, Mapping[str, Any]], dict[str, Any]]
INSTRUMENTS: dict[str, Instrument] = {
    one.__name__: one
    for one in (
        *(surface, bound, ridge, noise, projection, dimension, bumps),
        *(growth, richness, passes, posterior, proof),
    )
}
"""What scenes may show beside the board, by name."""
ALONE = ("dimension", "bumps", "noise")
"""Instruments that do not look at the board, and stand in its place."""
