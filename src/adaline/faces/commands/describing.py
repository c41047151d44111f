"""Rows for a comparison: a random sample in memory where there are too many, and what the raw columns hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.coding.columns import plain
from adaline.faces.commands.opening import Opened, known_as
from adaline.faces.table import CLASSIFICATION, Table
from adaline.sources import Source
from adaline.sources.learning import target_columns
from adaline.sources.relation import Relation
from adaline.sources.sql import quoted

Array = NDArray[np.float64]

MOST_NUMBERS = 2**24  # of X; 128 MiB
COUNTED = 10**6  # rows up to which different values are counted one by one
MOST_LEVELS = 100  # kept of a category, most frequent first


def table_of(opened: Opened, task: str, seed: int, data: Any, table: str | None) -> Table:
    """Return the rows to compare upon, coded, with what is known of their columns."""
    source: Source = opened.source
    classes: NDArray[Any] | None = None
    if task == CLASSIFICATION:
        classes = opened.source.find_labels()
        source = opened.source.encoded(classes)
    x, t, weight = sample(source, MOST_NUMBERS // max(len(opened.source.names), 1), seed)
    return Table(
        x,
        t[:, 0] if classes is None else classes[t[:, 0].astype(np.intp)],
        opened.source.names,
        opened.source.coding.origin,
        opened.target,
        weight,
        opened.source.count_rows(),
        opened.rows - opened.source.count_rows(),
        columns=describe(opened),
        source=known_as(data),
        opening=_opening(opened, data, table),
    )


def _opening(opened: Opened, data: Any, table: str | None) -> str:
    """Return the Python call that opens the same table."""
    wish = opened.source.wish
    said = {
        "formula": wish.formula,
        "target": wish.target,
        "features": None if wish.features is None else list(wish.features),
        "weight": wish.weight,
        "categories": [name for name, _ in wish.categories] or None,
        "dates": list(wish.dates) or None,
        "missing": None if wish.missing == "error" else wish.missing,
        "unseen": None if wish.unseen == "error" else wish.unseen,
        "table": table,
    }
    arguments = [
        repr(data) if isinstance(data, str) else "data",
        *(f"{name}={value!r}" for name, value in said.items() if value is not None),
    ]
    return "adaline.open_table(\n    " + ",\n    ".join(arguments) + ",\n)"


def sample(source: Source, most: int, seed: int) -> tuple[Array, Array, Array | None]:
    """Return x, t and weights of at most so many rows, drawn at random and left in their order."""
    rows = source.count_rows()
    wanted = None if rows <= most else np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
    parts: list[tuple[Array, Array, Array | None]] = []
    for block in source.blocks():
        end = block.first_row + block.rows
        places: Any = slice(None)
        if wanted is not None:
            low, high = np.searchsorted(wanted, [block.first_row, end])
            places = wanted[low:high] - block.first_row
        parts.append((block.x[places], block.t[places], None if block.weight is None else block.weight[places]))
    x, t = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    weights = [part[2] for part in parts if part[2] is not None]
    return np.ascontiguousarray(x), t, np.concatenate(weights) if weights else None


def describe(opened: Opened) -> list[dict[str, Any]]:
    """Return what the raw columns hold: those used by one scan, those left out by name."""
    relation = opened.source.relation
    weight = opened.source.wish.weight
    used = {
        **dict.fromkeys(target_columns(relation, opened.target), "target"),
        **dict.fromkeys(opened.source.coding.needed, "feature"),
        **({} if weight is None else {weight: "weight"}),
    }
    categories = {column.name for column in opened.source.coding.columns if column.is_category}
    exact = opened.source.count_rows() <= COUNTED
    asked = [(name, part) for name in used for part in _asked(relation, name, name in categories, exact)]
    values = relation.rows(f"SELECT {', '.join(sql for _, sql in asked)} FROM {relation.sql}")[0]
    found: dict[str, list[Any]] = {}
    for (name, _), value in zip(asked, values, strict=True):
        found.setdefault(name, []).append(value)
    out = [_entry(relation, name, role, name in categories, found[name]) for name, role in used.items()]
    for name, reason in opened.left_out.items():
        out.append({**_empty(name, "left out", relation.kind(name)), "note": reason})
    return out


def _asked(relation: Relation, name: str, category: bool, exact: bool) -> list[str]:
    """Return SQL for what is missing and how many values differ, then for levels, or for low, mean and high."""
    column = quoted(name)
    distinct = f"count(DISTINCT {column})" if exact else f"approx_count_distinct({column})"
    first = [f"count(*) FILTER ({relation.absent(name)})", distinct]
    if category or relation.kind(name) in ("text", "category", "boolean"):
        return [*first, f"histogram({relation.value(name)})"]
    here = f"FILTER (NOT {relation.absent(name)})"
    number = f"epoch({column}) / 86400" if relation.kind(name) == "date" else f"CAST({column} AS DOUBLE)"
    return [*first, *(f"{how}({number}) {here}" for how in ("min", "avg", "max"))]


def _entry(relation: Relation, name: str, role: str, category: bool, found: list[Any]) -> dict[str, Any]:
    missing, distinct, *rest = found
    if len(rest) == 1:
        counts = sorted(dict(rest[0] or {}).items(), key=lambda item: -item[1])
        kind = "boolean" if relation.kind(name) == "boolean" and not category else "category"
        levels = [[str(plain(level)), int(count)] for level, count in counts[:MOST_LEVELS]]
        return {**_empty(name, role, kind), "missing": missing, "distinct": len(counts), "levels": levels}
    low, mean, high = (None if value is None else float(value) for value in rest)
    numbers = {"missing": missing, "distinct": distinct, "low": low, "mean": mean, "high": high}
    return {**_empty(name, role, relation.kind(name)), **numbers}


def _empty(name: str, role: str, kind: str) -> dict[str, Any]:
    unknown = dict.fromkeys(("distinct", "low", "mean", "high"))
    return {"name": name, "role": role, "kind": kind, "missing": 0, **unknown, "levels": [], "note": ""}
