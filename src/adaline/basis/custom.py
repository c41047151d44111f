"""A user-defined basis: any function of rows (S3, S4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from adaline.arrays import Array
from adaline.basis.base import Basis, checked_columns
from adaline.construction import configured
from adaline.errors import InvalidData, InvalidParameter
from adaline.parameters import NONE, AnyOf, Function, Instance, ListOf
from adaline.state import FittedAttribute, FittedState


@dataclass(frozen=True, kw_only=True, eq=False)
class CustomState(FittedState):
    """The number of columns of phi."""

    columns: int


@configured
class Custom(Basis):
    """Any function from rows (n, D) to columns (n, M), row by row.

    Parameters
    ----------
    function : callable
        phi; called with blocks of rows, so it must treat each row alone; it may write into the block.
    names_out : sequence of texts, or None
        Names of the columns of phi; None is phi0, phi1, ...

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import basis
    >>> product = basis.Custom(lambda x: x[:, :1] * x[:, 1:2], names_out=["product"])
    >>> product.fit_transform([[2.0, 3.0]]).tolist()
    [[6.0]]

    References
    ----------
    Lectures S3 and S4: any fixed functions of x.
    """

    function: Annotated[Any, Function()]
    names_out: Annotated[Any, AnyOf(NONE, ListOf(Instance(str, "a text"), "a list of texts"))]

    learned_as = CustomState
    columns_ = FittedAttribute[int]()

    def __init__(self, function: Any, *, names_out: Sequence[str] | None = None) -> None:
        self.function = function
        self.names_out = names_out

    def learn(self, x: Array) -> None:
        """Find the number of columns of phi, and check that rows are treated alone."""
        super().learn(x)
        pair = x[[0, int((x != x[0]).any(axis=1).argmax())]]
        both = self._values(pair)
        alone = np.concatenate([self._values(pair[:1]), self._values(pair[1:])])
        near = 1e-9 * float(np.nanmax(np.abs(alone), initial=0.0))
        if both.shape != alone.shape or not np.allclose(both, alone, rtol=1e-6, atol=near, equal_nan=True):
            raise InvalidData("the basis function gives a row other numbers beside others: it must treat each alone")
        columns = both.shape[1]
        if self.names_out is not None and len(self.names_out) != columns:
            raise InvalidParameter(f"names_out holds {len(self.names_out)} names for {columns} columns")
        self._state = CustomState(columns=columns)

    def of(self, x: Array) -> Array:
        out = self._values(x)
        if out.shape[1] != self.columns_:
            raise InvalidData(f"the basis function gave {out.shape[1]} columns, and {self.columns_} for the first rows")
        return out

    def _values(self, x: Array) -> Array:
        return checked_columns(self.function(x.copy()), len(x), "the basis function")  # which may write into its rows

    def names(self, given: list[str]) -> list[str]:
        """Return the names given, or phi0, phi1, ..."""
        return [f"phi{k}" for k in range(self.columns_)] if self.names_out is None else list(self.names_out)
