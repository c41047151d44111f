"""What is compared upon: rows of numbers, a target, and what is known about the columns they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidData, InvalidParameter
from adaline.faces.targets import is_two_valued
from adaline.solvers.factor import ROUNDED
from adaline.wording import counted

Array = NDArray[np.float64]

REGRESSION, CLASSIFICATION = "regression", "classification"
MOST_CLASSES = 20  # whole numbers with more distinct values than this are amounts, not labels


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in memory, coded as numbers, with their names and their story.

    Parameters
    ----------
    X : (n, D) float64.
    y : (n,) the target: floats are regressed upon unless they are two whole numbers; text, booleans and few distinct
        integers are classes.
    names : of the columns of X, such as "distance" or "carrier[T.UA]".
    origin : the column of the data that each column of X was made from, such as "carrier".
    target : name of y.
    weight : (n,) or None; a weight of 2 is the row twice.
    total_rows : rows that could be used, of which these may be a random sample; 0: there are no others.
    dropped : rows of the data that could not, as something is missing in them.
    constant : columns that hold the same value in every row, and are not in X.
    columns : what the columns of the data hold, before coding; dictionaries with `name`, `role`, `kind`, `missing`,
        `distinct`, `low`, `mean`, `high`, `levels` ([level, count], most frequent first) and `note`.
    source : what the user typed: a file, or the name of a data set.
    command : the command line that makes this comparison again, "" if there is none.
    opening : the Python call that opens the table again, "" if there is none.

    Examples
    --------
    >>> from adaline.faces.table import Table
    >>> table = Table.of([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0], names=["x"], target="y")
    >>> table.task(), table.X.shape, table.names
    ('regression', (3, 1), ('x',))
    """

    X: Array
    y: NDArray[Any]
    names: tuple[str, ...]
    origin: tuple[str, ...]
    target: str
    weight: Array | None = None
    total_rows: int = 0
    dropped: int = 0
    constant: tuple[str, ...] = ()
    columns: list[dict[str, Any]] = field(default_factory=list)
    source: str = ""
    command: str = ""
    opening: str = ""

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        names: Sequence[str] | None = None,
        target: str = "y",
        weight: Any = None,
        source: str = "",
    ) -> Table:
        """Make a table of plain arrays: every column is a number and its own origin."""
        x = np.ascontiguousarray(X, dtype=np.float64)
        if x.ndim != 2:
            raise InvalidData(f"X must have rows and columns, got an array of {x.ndim} dimension(s)")
        known = tuple(f"x{j}" for j in range(x.shape[1])) if names is None else tuple(map(str, names))
        return cls(
            x,
            np.asarray(y),
            known,
            known,
            target,
            None if weight is None else np.asarray(weight, dtype=np.float64),
            len(x),
            source=source,
        )

    def task(self, wanted: str | None = None) -> str:
        """Return "regression" or "classification": as the type of y says, unless one is asked for."""
        if wanted is not None:
            if wanted not in (REGRESSION, CLASSIFICATION):
                raise InvalidParameter(f"task must be '{REGRESSION}' or '{CLASSIFICATION}', got {wanted!r}")
            return wanted
        kind = self.y.dtype.kind
        if kind == "f":
            return CLASSIFICATION if is_two_valued(self.y) else REGRESSION
        if kind in "iu":
            return CLASSIFICATION if len(np.unique(self.y)) <= MOST_CLASSES else REGRESSION
        return CLASSIFICATION

    def groups(self) -> dict[str, list[int]]:
        """Return, for each column of the data, the columns of X that were made from it."""
        out: dict[str, list[int]] = {}
        for j, name in enumerate(self.origin):
            out.setdefault(name, []).append(j)
        return out

    def varying(self) -> Table:
        """Return the table without the columns that are the same in every row, up to rounding."""
        varies = np.ptp(self.X, axis=0) > ROUNDED * np.abs(self.X).max(axis=0)
        if varies.all():
            return self
        if not varies.any():
            raise InvalidData("every column holds the same value in all rows: there is nothing to predict from")
        kept = np.flatnonzero(varies)
        return replace(
            self,
            X=np.ascontiguousarray(self.X[:, kept]),
            names=tuple(self.names[j] for j in kept),
            origin=tuple(self.origin[j] for j in kept),
            constant=tuple(self.names[j] for j in np.flatnonzero(~varies)),
        )

    def described(self) -> list[dict[str, Any]]:
        """Return `columns`, or what X and y themselves say where nobody described them."""
        if self.columns:
            return self.columns
        out = [_described(self.target, "target", self.y)]
        for name, places in self.groups().items():
            if len(places) == 1:
                out.append(_described(name, "feature", self.X[:, places[0]]))
            else:
                counts = [[self.names[j], int(np.count_nonzero(self.X[:, j]))] for j in places]
                out.append(_empty(name, "feature", "category", counts))
        return out

    def check(self, task: str, folds: int) -> None:
        """Refuse what cannot be compared upon, saying why and where."""
        n, d = self.X.shape
        for what, length, right in (
            ("names", len(self.names), d),
            ("origin", len(self.origin), d),
            ("y", len(self.y), n),
            ("weight", n if self.weight is None else len(self.weight), n),
        ):
            if length != right:
                raise InvalidData(f"{what} has {length} entries where X of shape {self.X.shape} asks for {right}")
        if folds < 2 or n < 2 * folds:
            few = f"{counted(n)} {'is' if n == 1 else 'are'} too few for {folds} folds"
            raise InvalidData(f"{few}: give more rows, or folds from 2 to {n // 2}")
        if d == 0:
            raise InvalidData("there is no column to predict from")
        if self.weight is not None and not (np.isfinite(self.weight).all() and (self.weight >= 0).all()):
            row = int(np.flatnonzero(~(self.weight >= 0) | ~np.isfinite(self.weight))[0])
            raise InvalidData(f"the weight of row {row} is {self.weight[row]}: weights are zero or more")
        bad = np.argwhere(~np.isfinite(self.X))
        if len(bad):
            row, column = bad[0]
            raise InvalidData(
                f"column {self.names[column]} is {self.X[row, column]} in row {row}: leave such rows out or fill them"
            )
        if task == REGRESSION:
            self._check_numbers()
        else:
            self._check_labels()

    def _check_numbers(self) -> None:
        try:
            y = self.y.astype(np.float64)
        except (TypeError, ValueError):
            raise InvalidData(
                f"target {self.target} holds labels: compare classifiers, task='classification'"
            ) from None
        if not np.isfinite(y).all():
            row = int(np.flatnonzero(~np.isfinite(y))[0])
            raise InvalidData(f"target {self.target} is {y[row]} in row {row}: leave such rows out")
        if y.min() == y.max():
            raise InvalidData(f"target {self.target} is {y[0]:g} in every row: there is nothing to learn")

    def _check_labels(self) -> None:
        labels, counts = np.unique(self.y, return_counts=True)
        if len(labels) < 2:
            raise InvalidData(f"target {self.target} is '{labels[0]}' in every row: there is nothing to learn")
        if np.count_nonzero(counts > 1) < 2:
            raise InvalidData(
                f"target {self.target} has {len(labels)} labels in {len(self.y)} rows, fewer than two of them twice: "
                "cross-validation needs two classes of two rows or more"
            )


def _described(name: str, role: str, values: NDArray[Any]) -> dict[str, Any]:
    if values.dtype.kind in "fiu":
        numbers = values.astype(np.float64)
        low, mean, high = float(numbers.min()), float(numbers.mean()), float(numbers.max())
        entry = _empty(name, role, "number", [])
        return entry | {"distinct": len(np.unique(numbers)), "low": low, "mean": mean, "high": high}
    labels, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    kind = "boolean" if values.dtype.kind == "b" else "category"
    return _empty(name, role, kind, [[str(labels[i]), int(counts[i])] for i in order]) | {"distinct": len(labels)}


def _empty(name: str, role: str, kind: str, levels: list[list[Any]]) -> dict[str, Any]:
    unknown = dict.fromkeys(("distinct", "low", "mean", "high"))
    return {"name": name, "role": role, "kind": kind, "missing": 0, **unknown, "levels": levels, "note": ""}
