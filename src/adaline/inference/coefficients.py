"""Coefficients by the names of their columns, the largest first, for models of many levels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.arrays import host
from adaline.coding import Coding, HashedColumn
from adaline.errors import InvalidData
from adaline.fitted import AnyModel, check_is_fitted, is_linear
from adaline.inference.summary import FrameBackend, frame_of, frame_of_columns, html_row, html_table, text_table
from adaline.input.basis import columns_of
from adaline.parameters import WholeNumber
from adaline.wording import visible

LEVELS_PER_BUCKET = 3  # levels named beside a bucket; doubling it makes rows of the table wider


@dataclass(frozen=True, repr=False)
class Coefficients:
    """Coefficients, the largest magnitude first; prints as text, shows as HTML in a notebook.

    Parameters
    ----------
    rows : dictionaries with `name` and `coefficient`; `target`, where a model has several outputs; and `levels`, where
        columns are hashed, the most frequent values there.
    count : the number of all coefficients.
    collisions : of each hashed column, how many of its different values are expected to share a column with another
        one; where they were counted.
    """

    rows: list[dict[str, Any]]
    count: int
    collisions: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {"coefficients": self.rows, "count": self.count, "collisions": self.collisions}

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Return a frame with one row a coefficient, of pandas where it is installed, or of `backend`."""
        rows = [{**row, "levels": ", ".join(row["levels"])} if "levels" in row else row for row in self.rows]
        return frame_of(rows, backend)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        heads = [name for name in ("target", "name", "coefficient", "levels") if any(name in row for row in self.rows)]
        shown = {"coefficient": "{:.6g}".format, "levels": ", ".join}
        return heads, [[shown.get(name, str)(row.get(name, "")) for name in heads] for row in self.rows]

    def _notes(self) -> list[str]:
        more = self.count - len(self.rows)
        notes = [f"and {more:,} more, each no larger"] if more else []
        return [*notes, *(f"{name}: about {n:,.0f} values share a column" for name, n in self.collisions.items())]

    def to_text(self) -> str:
        """Return the coefficients as text."""
        heads, cells = self._cells()
        left = heads.index("coefficient")
        return visible("\n".join([*text_table(heads, cells, left, len(heads) - left - 1), *self._notes()]))

    __str__ = __repr__ = to_text

    def to_html(self) -> str:
        """Return the coefficients as HTML."""
        heads, cells = self._cells()
        return html_table("; ".join(self._notes()), heads, "".join(map(html_row, cells)))

    _repr_html_ = to_html


def largest_coefficients(model: AnyModel, most: int) -> Coefficients:
    """Return the `most` largest coefficients of a fitted model by name, hashed ones with the levels of their bucket."""
    WholeNumber(1).check("most", most)
    check_is_fitted(model)
    if not is_linear(model):
        raise InvalidData(f"{type(model).__name__} has no coefficients of columns, fitted as it is")
    weights = np.atleast_2d(host(model.coef_))
    size = np.abs(weights).ravel()
    first = np.argpartition(-size, most - 1)[:most] if most < size.size else np.arange(size.size)
    first = first[np.lexsort((first, -size[first]))]
    names, coding = columns_of(model), getattr(model, "coding_", None)
    outputs, known = _outputs(model, len(weights)), {} if coding is None else _buckets(coding)
    rows = []
    for k, j in zip(*np.unravel_index(first, weights.shape), strict=True):
        name = names[int(j)]
        row = {"name": name, "coefficient": float(weights[k, j])}
        if known:
            row["levels"] = known.get(name, [])
        rows.append(({} if outputs is None else {"target": outputs[int(k)]}) | row)
    columns = () if coding is None else coding.columns
    collisions = {c.name: c.collisions for c in columns if isinstance(c, HashedColumn) and c.collisions is not None}
    return Coefficients(rows, int(size.size), collisions)


def _outputs(model: AnyModel, count: int) -> list[str] | None:
    """Return the names of the outputs of a model, None of one."""
    if count == 1:
        return None
    classes = getattr(model, "classes_", None)
    return [str(k) for k in (classes if classes is not None and len(classes) == count else range(count))]


def _buckets(coding: Coding) -> dict[str, list[str]]:
    """Return the most frequent values in each bucket of hashed columns, by the name of its column of X."""
    return {
        f"{column.name}[#{bucket}]": levels[:LEVELS_PER_BUCKET]
        for column in coding.columns
        if isinstance(column, HashedColumn)
        for bucket, levels in column.bucket_levels().items()
    }


def absorbed_effects(model: AnyModel) -> dict[str, Any]:
    """Return the effects that a fit has absorbed: for each column a frame of its levels and their values."""
    coding = getattr(model, "coding_", None)
    if coding is None or not coding.effects:
        raise AttributeError(f"this {type(model).__name__} has absorbed no effects: open_table(..., absorb=...)")
    found = {}
    for one in coding.effects:
        columns: dict[str, Any] = {"level": one.levels, "value": one.values}
        if not math.isnan(one.missing):
            columns = {"level": [*one.levels.tolist(), None], "value": [*one.values.tolist(), one.missing]}
        found[one.name] = frame_of_columns(columns)
    return found
