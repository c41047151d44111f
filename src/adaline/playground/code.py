"""As Python: the lines that give the model of a trace at a moment, to the last bit of its coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.playground.boards import Board
from adaline.playground.traces import ITERATIONS, Trace

PER_LINE = 8


def as_python(trace: Trace, moment: int) -> str:
    """Return a program that makes the same points, fits the same system as far as this moment, and prints it."""
    spec, board = trace.spec, trace.board
    names = {spec.system, *([spec.inner] if spec.inner else []), *(["basis"] if spec.basis else [])}
    head = ["import numpy as np", "", f"from adaline import {', '.join(sorted(names, key=str.lower))}", ""]
    return "\n".join([*head, *_points(board), "", *_fit(trace, moment), *_show(trace)]) + "\n"


def _points(board: Board) -> list[str]:
    match board.task:
        case "numbers":
            return [*_array("X", board.X), *_array("y", board.y)]
        case "classes":
            return [*_array("X", board.X), *_array("y", board.y)]
    return _array("X", board.X)


def _array(name: str, values: Any) -> list[str]:
    rows = np.asarray(values).tolist()
    lines = [", ".join(map(repr, rows[i : i + PER_LINE])) for i in range(0, len(rows), PER_LINE)]
    return [f"{name} = np.array([", *(f"    {line}," for line in lines), "])"]


def _fit(trace: Trace, moment: int) -> list[str]:
    spec = trace.spec
    rows = "X" if trace.board.task == "clusters" else "X, y"
    last = moment == len(trace) - 1
    position = trace.positions[moment]
    if last or trace.unit in ("fit", "step") or position == 0:
        note = [] if last else ["# the end of the fit: the weights on the way to it are those of its solver"]
        return [*note, f"model = {spec.call}.fit({rows})"]
    if trace.unit == "epoch":
        name = ITERATIONS.get(spec.system, "epochs")
        stopped = type(spec)(
            spec.system, {**spec.settings, name: position}, spec.basis, spec.basis_settings, spec.inner
        )
        return [f"model = {stopped.call}.fit({rows})  # stopped on the way"]
    classes = f", classes={trace.fitted.classes_.tolist()}" if hasattr(trace.fitted, "classes_") else ""
    return [
        f"model = {spec.call}",
        f"rows = np.arange({position}) % len(X)  # {position} rows, one after the other",
        f"model.partial_fit(X[rows], y[rows]{classes})",
    ]


def _show(trace: Trace) -> list[str]:
    for names in (("coef_", "intercept_"), ("cluster_centers_",), ("means_",), ("estimators_",)):
        if all(hasattr(trace.fitted, name) for name in names):
            return [f"print({', '.join(f'model.{name}' for name in names)})", "print(model.certificate_)"]
    return ["print(model.certificate_)"]
