"""One row at a time: an array or a dict by column names, checked, seen through the basis, learned from."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.block import Shape
from adaline.construction import Configured
from adaline.errors import ConvergenceWarning, InvalidData, warn
from adaline.results import Certificate, Status
from adaline.scans import Scan
from adaline.scans.tally import RUNNING, STATUS
from adaline.sources.standardized import Standard
from adaline.systems.dictionaries import names_of, row_of
from adaline.systems.expanding import basis_of, begin_basis, columns_of, given_columns, seen_rows, width_of

Array = NDArray[np.float64]


class SingleRows(Configured):
    """A system whose scan can begin, and go on, with single rows."""

    n_features_in_: int
    history_: list[float]
    n_iter_: int
    _scan: Scan
    _proof: Certificate
    _learned: tuple[int, int]
    _typical: Array | None
    standardize: bool

    @abstractmethod
    def _start(self, shape: Shape) -> Scan:
        """Return the scan before its first row."""

    @abstractmethod
    def _certify(self, status: Status, objective: float, solver: str) -> Certificate:
        """Return a certificate."""

    def _row(self, x: Any) -> Array:
        """Return one row as the scan sees it, contiguous float64, from an array or a dict of columns."""
        row = self._given_row(x)
        standard = self._standard_of()
        if basis_of(self) is None and standard is None:
            return row
        if not np.isfinite(row).all():
            self._refuse(row, given_columns(self))
        seen = seen_rows(self, row[None])
        return np.ascontiguousarray((seen if standard is None else standard.rows(seen))[0])

    def _standard_of(self) -> Standard | None:
        """Return the scales of the columns that the scan works in, None where it works in their own units."""
        return self.__dict__.get("_standard")

    def _sees_raw(self) -> bool:
        """Whether the scan sees rows as they are given."""
        return "basis_" not in self.__dict__ and "_standard" not in self.__dict__

    def _given_row(self, x: Any) -> Array:
        """Return one row of the columns as given, (D,); refuse other sizes."""
        if isinstance(x, Mapping):
            return row_of(self, x)
        try:
            row = np.ascontiguousarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidData(f"a row is an array of numbers or a dict by column names, got {x!r}") from None
        if row.shape != (self.n_features_in_,):
            raise InvalidData(
                f"a row must hold {self.n_features_in_} numbers, one for each column, got an array of shape {row.shape}"
            )
        return row

    def _begin(self, x: Any, outputs: int) -> Scan:
        """Start a new model with its first row."""
        self._check_parameters()
        if self.standardize:
            raise InvalidData(
                "standardize=True learns the scales of the columns from rows, and one row is too little: begin with "
                "fit or partial_fit"
            )
        if isinstance(x, Mapping):
            names_of(self, x)
        else:
            self.n_features_in_ = int(np.size(x))
        row = self._given_row(x)
        if not np.isfinite(row).all():
            self._refuse(row, given_columns(self))
        begin_basis(self, row)
        self._scan = self._start(Shape(width_of(self), outputs))
        self._typical = self._row(x).copy()
        self._learned, self.history_, self.n_iter_ = (0, 0), [], 0
        self._proof = self._certify(Status.ONGOING, 0.0, "scan")
        return self._scan

    def _learn_row(self, scan: Scan, x: Any, t: Any) -> None:
        """Take one step; a row that is not finite is refused before it."""
        plain = self._sees_raw()
        if plain and scan.take(x, t, self.__dict__.get("_names")):
            return
        try:
            row = self._seen_row(x)
            if not row.dot(row) < math.inf:
                self._refuse(row)
            scan.learn(row, t)
        except (TypeError, ValueError):  # another type or shape than the scan takes
            if not plain or type(x) is not np.ndarray:
                raise
            row = self._row(x)
            if not row.dot(row) < math.inf:
                self._refuse(row)
            scan.learn(row, t)
        if scan.numbers[STATUS] != RUNNING:
            warn(
                f"{type(self).__name__} has diverged and learns no more: {Status.DIVERGED.advice}",
                ConvergenceWarning,
            )

    def _seen_row(self, x: Any) -> Any:
        """Return one row as the scan sees it; an array that needs no basis as it is, unchecked."""
        return x if type(x) is np.ndarray and self._sees_raw() else self._row(x)

    def _refuse(self, row: Array, names: list[str] | None = None) -> None:
        wrong = np.flatnonzero(~np.isfinite(row))
        if not len(wrong):
            raise InvalidData("Input X holds numbers too large to be squared: infinity came out. Rescale that column.")
        column = int(wrong[0])
        name = (columns_of(self) if names is None else names)[column]
        kind = "NaN" if np.isnan(row[column]) else "infinity"
        raise InvalidData(f"Input X contains {kind}: column {name!r}. Drop or fill such rows before learning.")
