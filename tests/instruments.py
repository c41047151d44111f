"""The models of tests/data/instruments/instruments.R, and what R says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adaline.arrays import Array
from adaline.solvers.least_squares.k_class import Roles

HERE = Path(__file__).parent
BIRDS = pd.read_csv(HERE.parent / "src" / "adaline" / "datasets" / "penguins.csv").dropna().reset_index(drop=True)
BIRDS = BIRDS.assign(
    gentoo=1.0 * (BIRDS.species == "Gentoo"),
    chinstrap=1.0 * (BIRDS.species == "Chinstrap"),
    male=1.0 * (BIRDS.sex == "male"),
    place=BIRDS.island + " " + BIRDS.year.astype(str),
    w=BIRDS.year - 2005.0,
)
THEIRS: dict[tuple[str, str], Array] = {
    (str(case), str(what)): part["value"].to_numpy(float)
    for (case, what), part in pd.read_csv(HERE / "data" / "instruments" / "instruments.csv", comment="#").groupby(
        ["case", "what"]
    )
}
BILL, FLIPPER, DEPTH = "bill_length_mm", "flipper_length_mm", "bill_depth_mm"
GROUPS = ["gentoo", "chinstrap", "male"]
MODELS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "exact": ([BILL], [FLIPPER], [DEPTH]),
    "over": ([BILL], [FLIPPER], GROUPS),
    "two": ([BILL], [FLIPPER, DEPTH], GROUPS),
    "weighted": ([BILL], [FLIPPER], GROUPS),
    "origin": ([BILL], [FLIPPER], [DEPTH, "year"]),
    "absorbed": ([BILL], [FLIPPER], [DEPTH, "male"]),
}
"""Exogenous columns, endogenous columns, and instruments."""
CASES = [*MODELS, "liml exact", "liml over", "liml two", "liml weighted"]


def columns_of(case: str) -> tuple[Array, Array, Array | None, Roles, bool]:
    """Return the columns [X z], the target, the weights, what the columns are, and whether there is an intercept."""
    own, inner, instruments = MODELS[case.removeprefix("liml ")]
    frame: Any = BIRDS[[*own, *inner]].to_numpy(float)
    if case == "absorbed":
        dummies = pd.get_dummies(BIRDS[["island", "year"]].astype(str), drop_first=True).to_numpy(float)
        frame = np.hstack([frame, dummies])
    x = np.hstack([frame, BIRDS[instruments].to_numpy(float)])
    weight = BIRDS["w"].to_numpy() if case.endswith("weighted") else None
    roles = Roles(frame.shape[1], np.arange(len(own), len(own) + len(inner)))
    return x, BIRDS["body_mass_g"].to_numpy(float), weight, roles, case != "origin"
