"""A page as Python: code that reproduces its models at a moment, to the last bit of their weights, and its chart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from adaline.fitted import has_classes
from adaline.playground.boards import Board, Recipe
from adaline.playground.instruments import ALONE, filter_settings
from adaline.playground.traces import ITERATIONS, Trace

ROWS_A_LINE = 8  # rows of data in a line of the code shown
BOARD = "from adaline.playground.boards import Board"
IMPORT = re.compile(r"from (\S+) import (.+)")
Chart = tuple[str, Mapping[str, Any]]  # an instrument and its settings


def as_program(trace: Trace, moment: int, rival: tuple[Trace, int] | None = None, chart: Chart | None = None) -> str:
    """Return a program that makes the same points and fits the same system as far as this moment, and prints it.

    Parameters
    ----------
    trace, moment : the model of the first board: `model` of the program.
    rival : trace and moment of a second board: `rival` of the program.
    chart : the instrument that stands beside the boards: `chart` of the program.
    """
    if chart is not None and chart[0] in ALONE:
        return _program(_measured(trace, chart))
    parts = [*_points(trace.board, trace.recipe), "", *_fit("model", trace, moment), *_show("model", trace)]
    if rival:
        parts += ["", *_fit("rival", *rival), *_show("rival", rival[0])]
    if chart is not None:
        parts += ["", *_measured(trace, chart)]
    return _program(parts)


def _program(parts: list[str]) -> str:
    """Return a program: its imports, gathered from its parts, then the parts."""
    imported: dict[str, set[str]] = {}
    for line in parts:
        if found := IMPORT.fullmatch(line):
            imported.setdefault(found[1], set()).update(found[2].split(", "))
    head = [f"from {place} import {', '.join(sorted(imported[place], key=str.lower))}" for place in sorted(imported)]
    body = [line for line in parts if not IMPORT.fullmatch(line)]
    numpy = ["import numpy as np", ""] if any("np." in line for line in body) else []
    return "\n".join([*numpy, *head, "", *body]) + "\n"


def _points(board: Board, recipe: Recipe | None) -> list[str]:
    names = "X" if board.task == "clusters" else "X, y"
    if recipe is not None and _makes(recipe, board):
        values = "board.X" if board.task == "clusters" else "board.X, board.y"
        return [
            "from adaline.playground.boards import Recipe",
            f"board = Recipe({recipe.kind!r}, {recipe.count}, {recipe.noise!r}, {recipe.seed}).board()",
            f"{names} = {values}",
        ]
    return [*_array("X", board.X), *(_array("y", board.y) if board.y is not None else [])]


def _makes(recipe: Recipe, board: Board, fresh: bool = False) -> bool:
    """Whether a recipe gives the very points of a board: none was moved, added or removed, and no class named."""
    made = recipe.board(fresh)
    return (made.task, made.names) == (board.task, board.names) and np.array_equal(made.points, board.points)


def _array(name: str, values: Any) -> list[str]:
    rows = np.asarray(values).tolist()
    lines = [", ".join(map(repr, rows[i : i + ROWS_A_LINE])) for i in range(0, len(rows), ROWS_A_LINE)]
    return [f"{name} = np.array([", *(f"    {line}," for line in lines), "])"]


def _fit(name: str, trace: Trace, moment: int) -> list[str]:
    spec = trace.spec
    used = [spec.system, *([spec.inner] if spec.inner else []), *(["basis"] if spec.basis else [])]
    return [f"from adaline import {', '.join(used)}", *_fit_lines(name, trace, moment)]


def _fit_lines(name: str, trace: Trace, moment: int) -> list[str]:
    spec = trace.spec
    rows = "X" if trace.board.task == "clusters" else "X, y"
    last = moment == len(trace) - 1
    position = trace.positions[moment]
    if last or trace.unit in ("fit", "step") or position == 0:
        note = [] if last else ["# the end of the fit: the weights on the way to it are those of its solver"]
        return [*note, f"{name} = {spec.call}.fit({rows})"]
    if trace.unit == "epoch":
        counted = ITERATIONS.get(spec.system, "epochs")
        stopped = type(spec)(
            spec.system, {**spec.settings, counted: position}, spec.basis, spec.basis_settings, spec.inner
        )
        return [f"{name} = {stopped.call}.fit({rows})  # stopped on the way"]
    classes = f", classes={trace.fitted.classes_.tolist()}" if has_classes(trace.fitted) else ""
    return [
        f"{name} = {spec.call}",
        f"rows = np.arange({position}) % len(X)  # {position} rows, one after the other",
        f"{name}.partial_fit(X[rows], y[rows]{classes})",
    ]


def _show(name: str, trace: Trace) -> list[str]:
    for fields in (("coef_", "intercept_"), ("cluster_centers_",), ("means_",), ("estimators_",)):
        if all(hasattr(trace.fitted, field) for field in fields):
            shown = ", ".join(f"{name}.{field}" for field in fields)
            return [f"print({shown})", f"print({name}.certificate_)"]
    return [f"print({name}.certificate_)"]


def _measured(trace: Trace, chart: Chart) -> list[str]:
    """Return the lines that give what stands beside the board: a proof, a filter, or the chart itself."""
    name, settings = chart
    match name:
        case "proof":
            return ["from adaline import separability", "proof = separability(X, y)", "proof.verify()", "print(proof)"]
        case "noise":
            given = ", ".join(f"{key}={value!r}" for key, value in filter_settings(settings).items())
            return [
                "from adaline import AdaptiveFilter",
                "from adaline.playground.instruments import recording",
                "tune, source, microphone = recording()  # 8000 samples a second",
                f"model = AdaptiveFilter({given})",
                "cleaned = model.filter(source, microphone).error",
                "print(model.coef_)",
                "print(model.certificate_)",
            ]
    boards = "None, None" if name in ALONE else "board, fresh"
    return [
        f"from adaline.playground.instruments import {name}",
        *([] if name in ALONE else _boards(trace)),
        f"chart = {name}({boards}, {settings!r})",
        'print(chart["facts"])',
    ]


def _boards(trace: Trace) -> list[str]:
    """Return the lines that make `board` and `fresh`, of which a chart is made."""
    board, recipe, fresh = trace.board, trace.recipe, trace.fresh
    names = [f"names = {board.names}"] if board.task == "classes" else []
    given = recipe is not None and _makes(recipe, board)
    lines = [] if given else [BOARD, *names, f"board = {_literal(board, 'X', 'y')}"]
    if fresh is None:
        return [*lines, "fresh = None"]
    if recipe is not None and _makes(recipe, fresh, fresh=True):
        made = f"Recipe({recipe.kind!r}, {recipe.count}, {recipe.noise!r}, {recipe.seed})"
        return [*lines, "from adaline.playground.boards import Recipe", f"fresh = {made}.board(fresh=True)"]
    targets = [] if fresh.y is None else _array("new_y", fresh.y)
    kept = [*_array("new_X", fresh.X), *targets, *(names if given else [])]
    return [*lines, BOARD, *kept, f"fresh = {_literal(fresh, 'new_X', 'new_y')}"]


def _literal(board: Board, x: str, y: str) -> str:
    """Return the board of arrays that a program has."""
    if board.task == "clusters":
        return f"Board('clusters', np.column_stack([{x}, np.zeros(len({x}))]))"
    if board.task != "classes":
        return f"Board({board.task!r}, np.column_stack([{x}, {y}, np.zeros(len({x}))]))"
    return f"Board('classes', np.column_stack([{x}, [names.index(one) for one in {y}]]), names)"
