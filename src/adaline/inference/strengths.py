"""Standardised coefficients: the change of the prediction by one standard deviation of each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.fitted import AnyModel, has_classes, has_summary, is_linear
from adaline.inference.jackknife import JackknifeInterval, jackknife
from adaline.input.basis import basis_of
from adaline.sources.expanded import phi


@dataclass(frozen=True)
class Strength:
    """A coefficient, in units of its column and per standard deviation of it.

    Parameters
    ----------
    name : of the column, or "intercept".
    side : the class it speaks for, "" in a regression.
    estimate, std_error, p_value, lower, upper : as in `summary()`, or by the jackknife over folds; all but the first
        NaN where there is neither.
    spread : standard deviation of the column; 0 for the intercept.
    """

    name: str
    side: str
    estimate: float
    std_error: float
    p_value: float
    lower: float
    upper: float
    spread: float

    @property
    def strength(self) -> float:
        """What one standard deviation of the column does, in units of the target or the discriminant."""
        return self.estimate * self.spread


def strengths(
    model: AnyModel, X: Array, names: Sequence[str], without: Sequence[Any] = (), spread: Array | None = None
) -> list[Strength]:
    """Return the coefficients of a fitted system, intercept first where it has one; none where it is not linear.

    From `summary()` where the system has one, with standard errors and intervals; else from `coef_`, the discriminants
    of several classes taken about their mean, since only their differences matter, with those of the jackknife where
    the models fitted `without` each fold are given. `spread` : standard deviations of columns, where known.

    Examples
    --------
    >>> from adaline import LinearRegression, datasets
    >>> from adaline.inference.strengths import strengths
    >>> data = datasets.load("penguins", target="body_mass_g")
    >>> found = strengths(LinearRegression().fit(data.X, data.y), data.X, data.feature_names)
    >>> [(e.name, round(e.strength)) for e in found[1:]]
    [('bill_length_mm', 18), ('bill_depth_mm', 35), ('flipper_length_mm', 710)]
    """
    basis = basis_of(model)
    if basis is not None:
        X, names, spread = phi(basis, X), basis.names(list(names)), None
    spread = np.std(X, axis=0) if spread is None else spread
    if has_summary(model):
        found = model.summary()
        told = found.to_dict()
        parts = [list(part) for _, part in groupby(told["coefficients"], lambda row: row.get("target", ""))]
        for first in (1, 0):  # the slopes come after the intercept where there is one, and before thresholds
            if all([row["name"] for row in part[first:]][: len(names)] == found.names for part in parts):
                labels, spreads = ["intercept"] * first + list(names), [0.0] * first + list(spread)
                base = f" against {told['reference']}" if told.get("reference") else ""
                keys = ("estimate", "std_error", "p_value", "lower", "upper")
                return [
                    Strength(
                        name=label,
                        side=f"{row['target']}{base}" if "target" in row else "",
                        spread=float(size),
                        **{key: float(row[key]) for key in keys},
                    )
                    for part in parts
                    for label, row, size in zip(labels, part, spreads, strict=False)
                ]
    if not is_linear(model):
        return []
    coef = _about_mean(model)
    sides = [""] if len(coef) == 1 else [str(label) for label in model.classes_]
    if len(coef) == 1 and has_classes(model):
        sides = [str(model.classes_[-1])]
    known = jackknife(coef, [_about_mean(one) for one in without]) if without else None
    return [
        Strength(str(name), side, float(coef[k, j]), *_at(known, k, j), float(spread[j]))
        for j, name in enumerate(names)
        for k, side in enumerate(sides)
    ]


def _at(known: JackknifeInterval | None, k: int, j: int) -> tuple[float, float, float, float]:
    """Return standard error, p-value and limits of one coefficient; NaN where they are not identified."""
    if known is None:
        return (np.nan, np.nan, np.nan, np.nan)
    error, p, lower, upper = (float(part[k, j]) for part in known)
    return error, p, lower, upper


def _about_mean(model: AnyModel) -> Array:
    """Return the coefficients (K, D) of the discriminants about their mean, or those of one output, (1, D)."""
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    return coef - coef.mean(axis=0) if len(coef) > 1 else coef


def strongest(found: Sequence[Strength], limit: int) -> tuple[list[str], int]:
    """Return the names of the columns with the largest effects, strongest first, and how many are left out."""
    size: dict[str, float] = {}
    for effect in found:
        if effect.spread > 0 or effect.name != "intercept":
            size[effect.name] = max(size.get(effect.name, 0.0), abs(effect.strength))
    ordered = sorted(size, key=lambda name: -size[name])
    return ordered[:limit], max(len(ordered) - limit, 0)
