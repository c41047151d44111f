"""Small tables with levels whose effects are absorbed: of one to three columns, nested, in parts, with singletons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Design:
    """Seed of the rows, columns to absorb, whether rows are weighted, and whether pyfixest counts levels alike."""

    seed: int
    absorb: tuple[str, ...]
    weighted: bool = False
    peer: bool = True


DESIGNS = {
    "one": Design(1, ("firm",)),
    "one weighted": Design(8, ("firm",), weighted=True, peer=False),
    "two": Design(6, ("firm", "year")),
    "two weighted": Design(7, ("firm", "year"), weighted=True),
    "three": Design(4, ("firm", "year", "town"), peer=False),  # town is the same for all rows of a firm
    "three weighted": Design(5, ("firm", "year", "kind"), weighted=True, peer=False),
    "nested": Design(0, ("firm", "town"), peer=False),
    "parts": Design(2, ("left", "right"), peer=False),
    "singletons": Design(3, ("rare", "year")),
}


def columns(name: str, rows: int = 240) -> dict[str, Any]:
    """Return the columns of a design: y, count, a, b, weights w, and levels."""
    rng = np.random.default_rng(DESIGNS[name].seed)
    firm = rng.integers(0, 30, rows)
    year = rng.integers(2000, 2008, rows)
    town = firm // 4
    effect = rng.normal(size=30)[firm] + rng.normal(size=8)[year - 2000]
    a = rng.normal(size=rows) + effect
    b = rng.normal(size=rows) + 0.3 * a
    rare = np.where(rng.random(rows) < 0.05, 100 + np.arange(rows), firm)
    part = rng.integers(0, 3, rows)
    y = 1.0 + 0.5 * a - 2.0 * b + effect + rng.normal(size=rows)
    return {
        "y": y,
        "count": rng.poisson(np.exp(np.clip(0.2 * a - 0.1 * b + 0.3 * effect, -3, 3))).astype(np.float64),
        "a": a,
        "b": b,
        "w": rng.integers(1, 4, rows).astype(np.float64),
        "firm": np.array([f"f{i:02}" for i in firm]),
        "year": year,
        "town": town,
        "kind": rng.integers(0, 3, rows),
        "rare": rare,
        "left": part * 10 + rng.integers(0, 5, rows),
        "right": part * 10 + rng.integers(0, 4, rows),
    }


def sparse_counts(seed: int, rows: int = 40) -> dict[str, Any]:
    """Return few counts, most of them zero, with levels a, b and c, a number x and a rare dummy d."""
    rng = np.random.default_rng(seed)
    return {
        "y": rng.poisson(0.3, rows).astype(np.float64),
        "x": rng.normal(size=rows),
        "d": (rng.random(rows) < 0.1).astype(np.float64),
        "a": rng.integers(0, 8, rows),
        "b": rng.integers(0, 6, rows),
        "c": rng.integers(0, 4, rows),
    }
