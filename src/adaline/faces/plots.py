"""Plots in one readable, colour-blind-safe style; each takes a fitted system and returns Axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"


def coefficients(models: dict[str, Any], ax: Axes | None = None) -> Axes:
    """Draw the coefficients of one or more fitted regressions with their confidence intervals, as t statistics.

    Dividing by the standard error of the first model puts columns of different units on one axis.
    """
    ax = _axes(ax)
    tables = {label: model.summary().to_dict()["coefficients"] for label, model in models.items()}
    first = next(iter(tables.values()))
    names = [row["name"] for row in first if row["name"] != "intercept"]
    unit = {row["name"]: row["std_error"] for row in first}
    for i, (label, rows) in enumerate(tables.items()):
        shown = [row for row in rows if row["name"] in names]
        place = np.arange(len(names)) + 0.16 * (i - (len(tables) - 1) / 2)
        middle = np.array([row["estimate"] / unit[row["name"]] for row in shown])
        reach = np.array([(row["upper"] - row["lower"]) / 2 / unit[row["name"]] for row in shown])
        ax.errorbar(middle, place, xerr=reach, fmt="o", color=(BLUE, ORANGE)[i % 2], capsize=3, label=label)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks(np.arange(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel(f"coefficient, in standard errors of {next(iter(models))}")
    ax.legend(frameon=False)
    return ax


def penalty_path(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the criterion that Ridge(penalty="auto") minimised, along the penalty, with the choice marked."""
    ax = _axes(ax)
    ax.plot(model.path_["penalties"], model.path_["values"], color=BLUE)
    ax.set_xscale("log")
    if model.criterion != "evidence":
        ax.set_yscale("log")
    ax.axvline(model.penalty_, color=ORANGE, linestyle="--", label=f"chosen: {model.penalty_:.3g}")
    ax.set_xlabel("penalty on standardised columns")
    ax.set_ylabel(model.criterion.upper() if model.criterion != "evidence" else "-2 log evidence")
    ax.legend(frameon=False)
    return ax


def _axes(ax: Axes | None) -> Axes:
    if ax is None:
        ax = Figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    return ax
