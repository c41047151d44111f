"""Pictures of a model on the board, as the numbers that the page draws: regions, planes, curves, clusters, errors.

A region has a byte for each cell of a grid over the window, row by row from the top: the index of the class, or
AMBIGUOUS where a scheme has no answer. If the system has posteriors, a second byte gives the posterior of that class,
255 for 1. Bytes are sent as base64.
"""

from __future__ import annotations

import math
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import AdalineError
from adaline.fitted import AnyModel, gives_probabilities
from adaline.playground.boards import Board
from adaline.playground.traces import Trace, quiet, shown_weights

AMBIGUOUS = 255  # the byte of a cell whose class is ambiguous
CURVE_POINTS = 161  # points of a curve; doubling it gives smoother curves, in larger messages
MOST_MARKED = 2000  # points with a residual or a mark of error; doubling it makes messages larger


@dataclass(frozen=True)
class Window:
    """The part of the plane that the page shows, and the cells of the grid over it."""

    left: float
    right: float
    low: float
    high: float
    columns: int
    rows: int

    def grid(self) -> Array:
        """Return the middles of the cells, (rows x columns, 2), from the top left."""
        width, height = (self.right - self.left) / self.columns, (self.high - self.low) / self.rows
        x = self.left + width * (np.arange(self.columns) + 0.5)
        y = self.high - height * (np.arange(self.rows) + 0.5)
        return np.column_stack([np.tile(x, self.rows), np.repeat(y, self.columns)])


def picture(trace: Trace, moment: int, window: Window) -> dict[str, Any]:
    """Return the picture of a trace at a moment."""
    model, board = trace.model(moment), trace.board
    out: dict[str, Any] = {"moment": moment, "position": trace.positions[moment], "unit": trace.unit}
    if trace.unit == "row" and trace.positions[moment]:
        out["row"] = (trace.positions[moment] - 1) % len(board.points)
    if model is None:
        return out
    weights = shown_weights(model)
    if weights is not None and len(weights) <= 32:
        out["weights"] = json_numbers(weights)
    with quiet():
        draw = {"classes": _classes, "numbers": _numbers, "clusters": _clusters}[board.task]
        return {**out, **draw(model, trace, window)}


def _classes(model: AnyModel, trace: Trace, window: Window) -> dict[str, Any]:
    grid = window.grid()
    board = trace.board
    label, sure = _decide(model, grid, board)
    wrong = np.flatnonzero(np.asarray(model.predict(board.X)) != board.y)
    out: dict[str, Any] = {
        "regions": b64(label),
        "sure": None if sure is None else b64(sure),
        "wrong": [int(one) for one in wrong[:MOST_MARKED]],
        "error": len(wrong) / len(board.points),
    }
    weights = shown_weights(model)
    if weights is not None and trace.spec.basis is None and np.isfinite(weights).all():
        out["planes"] = [json_numbers(one) for one in weights.reshape(-1, 3)]
    elif hasattr(model, "estimators_") and trace.spec.basis is None:
        inner = [shown_weights(one) for one in model.estimators_]
        out["planes"] = [json_numbers(one) for one in inner if one is not None and len(one) == 3]
        out["apart"] = True
    return out


def _decide(model: AnyModel, grid: Array, board: Board) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return the class of each place, and its posterior (0 to 255); None where the system has none."""
    posteriors = _posteriors(model, grid)
    if posteriors is not None:
        best = posteriors.argmax(axis=1)
        sure = np.round(255 * posteriors[np.arange(len(grid)), best])
        return board.index_of(model.classes_)[best].astype(np.uint8), sure.astype(np.uint8)
    label = board.index_of(model.predict(grid)).astype(np.uint8)
    if hasattr(model, "ambiguous"):
        label[np.asarray(model.ambiguous(grid))] = AMBIGUOUS
    return label, None


def _posteriors(model: AnyModel, grid: Array) -> Array | None:
    if not gives_probabilities(model) or hasattr(model, "ambiguous"):
        return None
    try:
        found = np.asarray(model.predict_proba(grid))
    except (AdalineError, AttributeError):
        return None
    return found if np.isfinite(found).all() else None


def _numbers(model: AnyModel, trace: Trace, window: Window) -> dict[str, Any]:
    x = np.linspace(window.left, window.right, CURVE_POINTS)
    out: dict[str, Any] = {}
    try:
        found = model.predict(x[:, None], interval="prediction")
        out |= {
            "curve": json_numbers(found.prediction),
            "lower": json_numbers(found.lower),
            "upper": json_numbers(found.upper),
        }
        inner = model.predict(x[:, None], interval="confidence")
        out |= {"inner": [json_numbers(inner.lower), json_numbers(inner.upper)]}
    except (AdalineError, TypeError, ValueError):  # a system, or a fit, without intervals
        out |= {"curve": json_numbers(model.predict(x[:, None]))}
    board = trace.board
    predicted = np.asarray(model.predict(board.X))
    out["x"] = json_numbers(x)
    out["predicted"] = json_numbers(predicted[:MOST_MARKED])
    out["error"] = json_number(np.sqrt(np.mean((predicted - board.y) ** 2)))
    return out


def _clusters(model: AnyModel, trace: Trace, window: Window) -> dict[str, Any]:
    label = np.asarray(model.predict(trace.board.X))
    if hasattr(model, "cluster_centers_"):
        return {
            "centres": [json_numbers(one) for one in model.cluster_centers_],
            "labels": [int(one) for one in label],
            "regions": b64(np.asarray(model.predict(window.grid())).astype(np.uint8)),
            "error": json_number(_squares(model, trace.board.X)),
        }
    posteriors = np.asarray(model.predict_proba(window.grid()))
    best = posteriors.argmax(axis=1)
    return {
        "centres": [json_numbers(one) for one in model.means_],
        "axes": [_axes(one) for one in _covariances(model)],
        "labels": [int(one) for one in label],
        "regions": b64(best.astype(np.uint8)),
        "sure": b64(np.round(255 * posteriors[np.arange(len(best)), best]).astype(np.uint8)),
        "error": json_number(-model.score(trace.board.X)),
    }


def _covariances(model: AnyModel) -> list[Array]:
    """Return the covariance of each component, (2, 2)."""
    k, given = len(model.means_), np.asarray(model.covariances_)
    match model._fitted_with.covariance_type:
        case "full":
            return list(given)
        case "tied":
            return [given] * k
        case "diag":
            return [np.diag(one) for one in given]
    return [float(one) * np.eye(2) for one in given]


def _axes(covariance: Array) -> list[float]:
    """Return the half axes of the ellipse at one standard deviation, and its angle in degrees."""
    values, vectors = np.linalg.eigh(covariance)
    length = np.sqrt(np.maximum(values, 0))
    return json_numbers([length[1], length[0], math.degrees(math.atan2(vectors[1, 1], vectors[0, 1]))])


def errors(trace: Trace) -> dict[str, Any]:
    """Return the error at each moment on the points and on fresh ones, and what it is."""
    own = [_error(trace.model(k), trace.board) for k in range(len(trace))]
    fresh = trace.fresh
    other = None if fresh is None else [_error(trace.model(k), fresh) for k in range(len(trace))]
    what = {"classes": "share", "numbers": "rms", "clusters": "squares"}[trace.board.task]
    if trace.spec.system == "GaussianMixture":
        what = "minus-log-likelihood"
    return {"what": what, "own": own, "fresh": other}


def _error(model: AnyModel, board: Board) -> float | None:
    if model is None:
        return None
    with quiet():
        if board.task == "clusters":
            own = hasattr(model, "cluster_centers_")
            return json_number(_squares(model, board.X) if own else -model.score(board.X))
        predicted = np.asarray(model.predict(board.X))
    if board.task == "classes":
        return json_number(np.mean(predicted != board.y))
    return json_number(np.sqrt(np.mean((predicted - np.asarray(board.y)) ** 2)))


def _squares(model: AnyModel, X: Array) -> float:
    """Return the mean squared distance of rows from their centres."""
    return float(np.mean(np.square(model.transform(X)).min(axis=1)))


def facts(trace: Trace, curve: dict[str, Any]) -> dict[str, Any]:
    """Return facts about a trace as plain numbers and words, which check the answers to questions of scenes."""
    model, certificate = trace.fitted, trace.fitted.certificate_
    out: dict[str, Any] = {
        "status": certificate.status.label,
        "solved": certificate.status.label == "solved",
        "error": curve["own"][-1],
        "steps": trace.positions[-1],
        "moments": len(trace),
    }
    if curve["fresh"] is not None:
        out["fresh"] = curve["fresh"][-1]
    weights = shown_weights(model)
    if weights is not None:
        out["length"] = json_number(np.linalg.norm(weights))
        out["weights"] = json_numbers(weights[:16])
    for name in ("mistakes_", "bound_", "margin_", "radius_", "penalty_", "rate_bound_", "log_likelihood_", "inertia_"):
        value = getattr(model, name, None)
        if isinstance(value, int | float | np.floating | np.integer):
            out[name.rstrip("_")] = json_number(value)
    return out


def in_words(trace: Trace) -> dict[str, Any]:
    """Return the certificate of a trace as a page shows it."""
    proof = trace.fitted.certificate_
    fields = ("objective", "gradient", "gap", "digits", "condition", "rank", "passes")
    return {
        "text": str(proof),
        "status": proof.status.label,
        "solver": proof.solver,
        "advice": proof.advice,
        **{name: json_number(getattr(proof, name)) for name in fields},
    }


def json_number(value: Any) -> float | None:
    """Return a number as JSON has it, to nine significant digits; None where it is not finite."""
    value = float(value)
    return float(f"{value:.9g}") if math.isfinite(value) else None


def json_numbers(values: Any) -> list[Any]:
    """Return numbers as JSON has them."""
    return [json_number(one) for one in np.ravel(np.asarray(values, dtype=np.float64))]


def b64(values: NDArray[Any]) -> str:
    """Return bytes as text."""
    return b64encode(np.ascontiguousarray(values).tobytes()).decode()
