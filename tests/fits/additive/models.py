"""Additive models assembled by hand from the rows of R's figures: formulas read, columns made, sums taken."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adaline.fits.additive.criteria import PenalisedSums
from adaline.fits.additive.penalties import BlockPenalty, CovariancePenalty, DiagonalPenalty
from adaline.smooths import (
    CubicSpline,
    CyclicSpline,
    PenalizedSpline,
    Smooth,
    TensorProduct,
    ThinPlate,
    diagonal_form,
)

CASES = {
    one["case"]: one
    for one in json.loads((Path(__file__).parents[2] / "data" / "additive" / "additive.json").read_text("utf-8"))
}


@dataclass
class Assembled:
    """A model's sums, the columns of its rows, and the constant of its criterion."""

    sums: PenalisedSums
    x: np.ndarray
    mean: float
    centres: np.ndarray
    shift: float
    free: int


def smooth_of(kind: str, x: np.ndarray, k: int) -> Smooth:
    """Return a smooth with mgcv's knots."""
    values = np.unique(x)
    if kind == "cr":
        return CubicSpline(tuple(np.quantile(values, np.linspace(0, 1, k))))
    if kind == "cc":
        return CyclicSpline(tuple(np.quantile(values, np.linspace(0, 1, k))))
    if kind == "ps":
        return PenalizedSpline(values[0], values[-1], k)
    points, counts = np.unique(x, return_counts=True)
    return ThinPlate(points[:, None], counts.astype(np.float64), k)


def assemble(case: dict[str, Any]) -> Assembled:
    """Return the sums of a case."""
    data = {name: np.array(column) for name, column in case["data"].items()}
    left, right = case["formula"].split(" ~ ")
    y, weight = data[left], data[case["weights"]] if case["weights"] else np.ones(len(data[left]))
    fixed: list[np.ndarray] = []
    blocks: list[tuple[np.ndarray, Any]] = []
    shift = 0.0
    for term in re.findall(r"(?:s|te)\([^()]*(?:\([^()]*\))?[^()]*\)|\([^()]*\)|\w+", right):
        if term[0] == "(":
            columns, group = term[1:-1].split(" | ")
            slopes = [np.ones(len(y)) if c == "1" else data[c] for c in columns.split(" + ") if c != "0"]
            levels, at = np.unique(data[group], return_inverse=True)
            z = np.zeros((len(y), len(levels), len(slopes)))
            for j, slope in enumerate(slopes):
                z[np.arange(len(y)), at, j] = slope
            blocks.append((z.reshape(len(y), -1), (len(levels), len(slopes))))
        elif "(" in term:
            names = re.findall(r"(?<![= \"\w])\w+(?=[,)])|(?<=, )\w+(?=[,)])", term[term.index("(") :])
            options = dict(re.findall(r"(\w+) = (c\([^)]*\)|'?\w+'?)", term))
            k = [int(one) for one in re.findall(r"\d+", options.get("k", ""))] or [5 if term[:2] == "te" else 10]
            kind = options.get("bs", "cr" if term[:2] == "te" else "tp").strip("'")
            names = [name for name in names if name in data and name != options.get("by")]
            margins = [smooth_of(kind, data[n], k[i % len(k)]) for i, n in enumerate(names)]
            one = TensorProduct(tuple(margins)) if term[:2] == "te" else margins[0]
            raw = one.columns(np.column_stack([data[n] for n in names]))
            by = data.get(options.get("by", ""))
            numeric = by is not None and by.dtype.kind == "f"
            form = diagonal_form(one, None if numeric else raw.sum(axis=0), case.get("select", False))
            x = raw @ form.transform
            x = x if numeric else x - x.mean(axis=0)
            parts = [np.ones(len(y))] if by is None else [by] if numeric else [by == one for one in np.unique(by)]
            for part in parts:
                blocks.append((x * part[:, None], form.weights))
                shift += form.shift
        elif term != "1":
            column = data[term]
            fixed += [column] if column.dtype.kind != "U" else [column == one for one in np.unique(column)[1:]]
    penalties: list[BlockPenalty] = []
    at = len(fixed)
    for x, what in blocks:
        penalties.append(CovariancePenalty(at, *what) if isinstance(what, tuple) else DiagonalPenalty(at, what))
        at += x.shape[1]
    design = np.column_stack([*fixed, *(x for x, _ in blocks)]).astype(float)
    centres, mean = np.average(design, axis=0, weights=weight), float(np.average(y, weights=weight))
    x, t = design - centres, y - mean
    sums = PenalisedSums(
        gram=x.T @ (weight[:, None] * x),
        cross=x.T @ (weight * t),
        square=float(weight @ t**2),
        rows=len(y),
        weight=float(weight.sum()),
        means=centres,
        penalties=penalties,
        log_weights=float(np.log(weight).sum()),
    )
    return Assembled(sums, x, mean, centres, shift, len(fixed))
