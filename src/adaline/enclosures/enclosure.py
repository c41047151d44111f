"""What `model.enclose` returns: bounds that are proved to contain the exact coefficients, and outputs of given rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, RowsLike, ThetaLike, as_dense, host, like_rows
from adaline.enclosures.linear import LinearEnclosure
from adaline.enclosures.proof import Statement, write_proof
from adaline.errors import InvalidData, InvalidParameter
from adaline.inference.summary import AnyFrame, FrameBackend, escaped, frame_of, html_row, html_table, text_table
from adaline.wording import counted, visible

OTHER_ROWS = "\nthe model's coefficients lie outside: it was fitted to other rows, weights or settings than these"
RowReader = Callable[[RowsLike], AnyArray]  # reads X as a model works on it


class Ends(NamedTuple):
    """Lower and upper bounds, arrays of one shape."""

    lower: Array
    upper: Array


class Enclosure(Ends):
    """Bounds `lower` and `upper` that contain the exact coefficients, (1 + D) or (K, 1 + D), intercept first.

    A named tuple of these two; prints as text, shows as HTML in a notebook. Where it is not proved that there is
    exactly one solution, the bounds are infinite, `proved` is False, and `reason` says what is missing.

    Parameters
    ----------
    lower, upper : the bounds.
    names : of the coefficients, intercept first.
    reason : why nothing is proved; "" where it is.
    passes : times the rows were read.
    outputs : the function that encloses the outputs of rows.
    statement : what is proved, for a file.

    Examples
    --------
    >>> from adaline import LinearRegression, datasets
    >>> data = datasets.load("longley")
    >>> model = LinearRegression().fit(data.X, data.y)
    >>> lower, upper = model.enclose(data.X, data.y)
    >>> print(lower[0], upper[0])
    -3482258.634595819 -3482258.6345958184

    The certified value of NIST is -3482258.63459582, to 15 digits.
    """

    names: list[str]
    reason: str
    passes: int
    agrees: bool
    """Whether half of the model's coefficients or more have the digits that its certificate claims, by these bounds.

    False shows that the model was fitted to other rows; True shows nothing.
    """
    _outputs: Callable[[RowsLike], Ends] | None
    _statement: Statement | None

    def __new__(
        cls,
        lower: Array,
        upper: Array,
        names: Sequence[str] = (),
        reason: str = "",
        passes: int = 0,
        outputs: Callable[[RowsLike], Ends] | None = None,
        statement: Statement | None = None,
    ) -> Enclosure:
        """Make the named tuple of the bounds, with what is known beside them."""
        self = super().__new__(cls, lower, upper)
        self.names, self.reason, self.passes, self._outputs = list(names), reason, passes, outputs
        self._statement, self.agrees = statement, True
        return self

    def beside(self, intercept: AnyArray, coef: AnyArray, digits: float) -> Self:
        """Return this enclosure, having compared it with the coefficients of a model that claims so many digits.

        Where more than half of them have fewer, the model was fitted to other rows than those that were enclosed. Where
        not, nothing is shown: a few rows more may change no coefficient by as much as the certificate allows for.
        """
        if not self.reason:
            given = np.column_stack([np.atleast_1d(host(intercept)), np.atleast_2d(host(coef))])
            lower, upper = np.atleast_2d(self.lower), np.atleast_2d(self.upper)
            wrong = np.maximum(np.abs(given - lower), np.abs(given - upper))
            claimed = 10.0 ** (0.5 - np.nan_to_num(digits)) * np.maximum(np.abs(lower), np.abs(upper))
            self.agrees = bool((wrong <= claimed + upper - lower).mean() >= 0.5)
        return self

    @property
    def proved(self) -> bool:
        """Whether it is proved that there is exactly one solution, and that it lies within the bounds."""
        return not self.reason

    @property
    def width(self) -> Array:
        """The widths in units in the last place of the larger end; infinite where nothing is proved."""
        return widths_in_ulps(self.lower, self.upper)

    def contains(self, theta: ThetaLike) -> NDArray[np.bool_]:
        """Return which of these coefficients, intercept first, lie within their bounds."""
        given = np.asarray(theta, dtype=np.float64)
        if given.shape != self.lower.shape:
            raise InvalidData(f"theta has shape {given.shape}, the coefficients {self.lower.shape}, intercept first")
        return np.asarray((self.lower <= given) & (given <= self.upper))

    def predict(self, X: RowsLike) -> Ends:
        """Return bounds (n,) or (n, K) on the exact solution's outputs w0 + w'x of rows X, as the named tuple `Ends`.

        The errors of the coefficients depend on each other, and are taken together: outputs are as narrow as the
        coefficients where their terms do not cancel.
        """
        if self._outputs is None:
            raise InvalidData("this enclosure has no rows to predict: enclose again")
        return self._outputs(X)

    def certain(self, X: RowsLike) -> NDArray[np.bool_]:
        """Return for which rows (n,) the class is certain: rounding cannot have changed it.

        With two classes the bounds on the output exclude zero; with more, the lower bound of one class is above the
        upper bounds of all others.
        """
        lower, upper = (np.asarray(host(end)) for end in self.predict(X))
        if lower.ndim == 1:
            return np.asarray((lower > 0) | (upper < 0))
        best = lower.argmax(axis=1)[:, None]
        others = np.where(np.arange(lower.shape[1]) == best, -np.inf, upper).max(axis=1)
        return np.asarray(np.take_along_axis(lower, best, axis=1)[:, 0] > others)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        target: str | Sequence[str] | None = None,
        weight: str | None = None,
        offset: str | None = None,
    ) -> None:
        """Write the proof to a file, by convention .proof, which `adaline verify-proof FILE data.csv` checks.

        That reads the data, and computes with rational numbers alone: none of the arithmetic here is relied on.

        Parameters
        ----------
        path : of the file.
        target, weight, offset : names of these columns in the data; by default those of the table that the rows came
            from, or "y" for the target of rows in memory.
        """
        if self.reason:
            raise InvalidData(f"there is no proof to save: {self.reason}")
        if self._statement is None or not isinstance(self._outputs, _Outputs):
            raise InvalidParameter("a proof can be saved only of a regression on columns of a table, without a basis")
        own = self._statement
        names = own.target if target is None else (target,) if isinstance(target, str) else tuple(target)
        named = replace(own, target=names, weight=weight or own.weight, offset=offset or own.offset)
        write_proof(named.document(self._outputs.found, (self.lower, self.upper)), path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        known = {"proved": self.proved, "reason": self.reason, "passes": self.passes, "agrees": self.agrees}
        return {"coefficients": self._rows()} | known

    def to_frame(self, backend: FrameBackend | None = None) -> AnyFrame:
        """Return a frame with one row a coefficient, of pandas where it is installed, or of `backend`."""
        return frame_of(self._rows(), backend)

    def to_text(self) -> str:
        """Return the bounds as text, with all their digits."""
        heads, cells = self._cells()
        table = text_table(heads, cells, left=len(heads) - 3)
        return visible("\n".join([self._verdict()] if self.reason else [*table, self._verdict()]))

    __str__ = __repr__ = to_text

    def to_html(self) -> str:
        """Return the bounds as HTML."""
        heads, cells = self._cells()
        if self.reason:
            return f"<p>{escaped(self._verdict())}</p>"
        return html_table(self._verdict(), heads, "".join(map(html_row, cells)))

    _repr_html_ = to_html

    def _verdict(self) -> str:
        passes = counted(self.passes, "pass", "")
        if self.reason:
            return f"not proved: {self.reason} ({passes})"
        return f"proved: exactly one solution, within these bounds ({passes})" + OTHER_ROWS * (not self.agrees)

    def _rows(self) -> list[dict[str, Any]]:
        several = self.lower.ndim > 1
        ends = [np.atleast_2d(one).tolist() for one in (self.lower, self.upper, self.width)]
        return [
            ({"target": k} if several else {})
            | {"name": name, "lower": ends[0][k][j], "upper": ends[1][k][j], "width": ends[2][k][j]}
            for k in range(len(ends[0]))
            for j, name in enumerate(self.names)
        ]

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = self._rows()
        target = ["target"] if self.lower.ndim > 1 else []
        shown = {"lower": repr, "upper": repr, "width": "{:.4g}".format}
        names = [*target, "name", "lower", "upper", "width"]
        heads = [*target, "name", "lower", "upper", "width (ulp)"]
        return heads, [[shown.get(name, str)(row[name]) for name in names] for row in rows]


def widths_in_ulps(lower: Array, upper: Array) -> Array:
    """Return the widths of intervals in units in the last place of the larger end."""
    with np.errstate(all="ignore"):
        unit = np.spacing(np.maximum(np.abs(lower), np.abs(upper)))
        return np.where(np.isinf(lower) | np.isinf(upper), np.inf, (upper - lower) / unit)


def enclosure_of(
    found: Sequence[LinearEnclosure],
    names: Sequence[str],
    flat: bool,
    rows: RowReader,
    statement: Statement | None,
) -> Enclosure:
    """Return the enclosure of fits to one or more targets each; `rows` reads X as the model works on it."""
    ends = [np.concatenate([one.bounds[i] for one in found]) for i in range(2)]
    reason = next((one.reason for one in found if one.reason), "")
    if reason:
        ends = [np.full(ends[0].shape, sign * np.inf) for sign in (-1, 1)]
    lower, upper = (end[0] if flat else end for end in ends)
    passes = sum(one.passes for one in found)
    return Enclosure(lower, upper, ["intercept", *names], reason, passes, _Outputs(found, flat, rows), statement)


@dataclass(frozen=True)
class _Outputs:
    """Bounds on the outputs of rows, by the solutions of one or more targets each."""

    found: Sequence[LinearEnclosure]
    flat: bool
    rows: RowReader

    def __call__(self, X: RowsLike) -> Ends:
        x = host(as_dense(self.rows(X)))
        each = [one.outputs(x) for one in self.found]
        ends = (np.concatenate([one[i] for one in each], axis=1) for i in range(2))
        return Ends(*(like_rows(X, end[:, 0] if self.flat else end) for end in ends))
