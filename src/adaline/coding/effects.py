"""Effects of the levels of a column that a fit has absorbed: a number for each level, added to the output of a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.coding.columns import Column
from adaline.coding.texts import ABSENT, UNKNOWN, Codes32, Texts
from adaline.errors import InvalidData, MissingValues
from adaline.forms import Finite, Floats, LabelsOf
from adaline.lazy import nw
from adaline.locks import cached_property


@dataclass(frozen=True, eq=False)
class Effect:
    """The effect of a column: of each level the part of the output that rows of it have in common.

    Parameters
    ----------
    name : of the column.
    levels : (L,) whole numbers, numbers, or texts, sorted; none before the fit.
    values : (L,) effects of the levels; their mean over the rows fitted is zero. Minus infinity is the effect of a
        level whose counts are zero whatever the rows.
    missing : effect of rows without a value, NaN where the fit had none.
    directions : (L + 1,) how fast effects grow along the direction in which counts are separated, that of missing
        values last; none where levels do not separate rows together. Rows whose directions add up to less than zero
        have a mean of zero, those whose directions add up to more have none.
    """

    name: str
    levels: Annotated[NDArray[Any], LabelsOf("E")] = field(default_factory=partial(np.empty, 0, np.int64))
    values: Annotated[Array, Floats("E")] = field(default_factory=partial(np.empty, 0))
    missing: float = math.nan
    directions: Annotated[Array, Finite(".")] = field(default_factory=partial(np.empty, 0))

    @property
    def fitted(self) -> bool:
        """Whether the effects are known."""
        return len(self.values) > 0 or not math.isnan(self.missing)

    @property
    def texts(self) -> bool:
        """Whether levels are texts, compared letter by letter."""
        return self.levels.dtype.kind == "O"

    @cached_property
    def _column(self) -> Column:
        return Column(self.name, "category", tuple(self.levels.tolist()))

    def codes(self, frame: nw.DataFrame[Any]) -> Codes32:
        """Return the index of each value of a frame among the levels, (n,), ABSENT and UNKNOWN beside them."""
        if self.name not in frame.columns:
            raise InvalidData(f"column {self.name!r} is missing from the table; the model has absorbed its effects")
        return self._column.codes(frame)

    def at(self, levels: NDArray[Any], gaps: bool) -> tuple[Array, Array]:
        """Return the effects and directions of some levels, (m,), as they are stored; NaN of those that are not known.

        With `gaps` those of missing values are the last.
        """
        if self.texts:
            at: NDArray[Any] = self._column.index.find(Texts.of(levels.tolist()))
            known = at >= 0
        else:
            known, at = _found(self.levels, levels)
        values, along = np.full(len(levels) + gaps, np.nan), np.zeros(len(levels) + gaps)
        values[: len(levels)][known] = self.values[at[known]]
        values[len(levels) :] = self.missing
        if len(self.directions):
            along[: len(levels)][known] = self.directions[at[known]]
            along[len(levels) :] = self.directions[-1]
        return values, along

    def of(self, frame: nw.DataFrame[Any], unseen: str, first_row: int = 0) -> tuple[Array, Array | None]:
        """Return the effect of each row of a frame, (n,), and its directions, None where there are none.

        Both are zero for unseen levels, where these are allowed.
        """
        codes = self.codes(frame)
        if unseen == "error" and (codes == UNKNOWN).any():
            row = int((codes == UNKNOWN).argmax())
            raise InvalidData(
                f"column {self.name!r} has the level {frame[self.name].to_list()[row]!r} at row {first_row + row}, "
                "which did not occur in the fit and has no effect. Fit the model with unseen='other' to treat such "
                "levels as an average level"
            )
        if math.isnan(self.missing) and (codes == ABSENT).any():
            row = first_row + int((codes == ABSENT).argmax())
            raise MissingValues(f"column {self.name!r} is missing at row {row}, and the model has no effect for that")
        out = np.where(codes == ABSENT, self.missing, 0.0)
        known = codes >= 0
        out[known] = self.values[codes[known]]
        if not len(self.directions):
            return out, None
        along = np.where(codes == ABSENT, self.directions[-1], 0.0)
        along[known] = self.directions[codes[known]]
        return out, along


def effects_of_rows(effects: Sequence[Effect], frame: nw.DataFrame[Any], unseen: str, first_row: int = 0) -> Array:
    """Return the sum of the effects of each row of a frame, (n,); minus infinity where its mean is zero."""
    found = [effect.of(frame, unseen, first_row) for effect in effects]
    out: Array = sum((values for values, _ in found[1:]), found[0][0])
    if not any(along is not None for _, along in found):
        return out
    along = np.sum([along for _, along in found if along is not None], axis=0)
    out[along < -0.5] = -np.inf
    rising = (along > 0.5) & np.isfinite(out)
    if rising.any():
        row = int(rising.argmax())
        levels = ", ".join(f"{effect.name} {frame[effect.name].to_list()[row]!r}" for effect in effects)
        raise InvalidData(
            f"row {first_row + row} has no finite mean: in the rows fitted, counts of its levels ({levels}) are "
            "separated, so that their effects are apart by an infinite amount"
        )
    return out


def _found(levels: NDArray[Any], given: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Return which values, (m,), are among sorted levels, and where."""
    if not len(levels):
        return np.zeros(len(given), dtype=bool), np.zeros(len(given), dtype=np.intp)
    at = np.minimum(np.searchsorted(levels, given), len(levels) - 1)
    return levels[at] == given, at
