"""What `select` found: the choice, how every candidate did, and the validation curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidParameter
from adaline.proof.tables import number
from adaline.systems.choosing.candidates import shown
from adaline.systems.choosing.table import ErrorTable, told
from adaline.systems.choosing.trying import Tried

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ValidationCurve:
    """Errors along one parameter: its values, errors on the rows learned from and on new rows, and the latter's
    standard errors, arrays (m,); NaN where a candidate failed. `chosen` is the place of the one chosen, `others` what
    the other parameters are held at.
    """

    parameter: str
    values: NDArray[Any]
    training: Array
    validation: Array
    std_error: Array
    chosen: int
    measure: str
    others: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """What `select` found; prints as its table.

    Parameters
    ----------
    best : the system chosen, fitted to all rows.
    parameters : what sets it apart from the other candidates.
    index : its place among them. winner : the place of the one with the smallest error, another under
        rule="one-standard-error".
    candidates : the parameters of each.
    tried : training error, error on new rows, its standard error, effective number of parameters, seconds, warning and
        failure of each.
    method : "loo", "gcv" or "folds", or the name of a criterion of the fit. measure : what the error is.
    rule, folds : as asked for.
    """

    best: Any
    parameters: dict[str, Any]
    index: int
    winner: int
    candidates: Sequence[dict[str, Any]]
    tried: Sequence[Tried]
    method: str
    measure: str
    rule: str
    folds: int

    @property
    def curve(self) -> ValidationCurve:
        """The validation curve along the first parameter, the others held at the values chosen."""
        return self.along(next(iter(self.parameters)))

    def along(self, parameter: str) -> ValidationCurve:
        """Return the validation curve along one parameter, the others held at the values chosen."""
        if parameter not in self.parameters:
            raise InvalidParameter(f"{parameter!r} was not varied. There are: {', '.join(self.parameters)}")
        others = {name: value for name, value in self.parameters.items() if name != parameter}
        places = [
            i for i, one in enumerate(self.candidates) if all(one[name] is value for name, value in others.items())
        ]
        values = [self.candidates[i][parameter] for i in places]
        numbers = all(isinstance(value, int | float) for value in values)
        kept = np.array(values) if numbers else np.array([shown(value) for value in values], dtype=object)
        training, validation, std_error = np.array([self.tried[i][:3] for i in places]).T
        chosen = places.index(self.index)
        return ValidationCurve(parameter, kept, training, validation, std_error, chosen, self.measure, others)

    @cached_property
    def table(self) -> ErrorTable:
        """One row a candidate, in the order given; the one chosen is marked >, the smallest error *."""
        names = list(self.parameters)
        known = not all(np.isnan(one.freedom) for one in self.tried)
        head = ["", *names, "training", self.measure, "std. error", *(["parameters"] if known else []), "seconds"]
        cells, rows = [], []
        for i, (given, one) in enumerate(zip(self.candidates, self.tried, strict=True)):
            mark = ">" if i == self.index else "*" if i == self.winner else ""
            values = ["failed" if one.failure else number(one.error), number(one.std_error)]
            freedom = [f"{one.freedom:.4g}".replace("nan", "-")] if known else []
            cells.append(
                [mark, *map(shown, given.values()), number(one.training), *values, *freedom, f"{one.seconds:.2g}"]
            )
            plain = {name: value if isinstance(value, int | float) else shown(value) for name, value in given.items()}
            rows.append({**plain, **one._asdict(), "chosen": i == self.index, "best": i == self.winner})
        notes = [f"{self._name(i)} failed: {one.failure}" for i, one in enumerate(self.tried) if one.failure]
        notes += told([(self._name(i), one.warning) for i, one in enumerate(self.tried)])
        return ErrorTable(self._title(), head, cells, rows, [self._reason(), *notes], left=1 + len(names))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the fitted system as plain values."""
        return {
            "parameters": {name: shown(value) for name, value in self.parameters.items()},
            "index": self.index,
            "method": self.method,
            "measure": self.measure,
            "rule": self.rule,
            **self.table.to_dict(),
        }

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def _name(self, i: int) -> str:
        return ", ".join(f"{name}={shown(value)}" for name, value in self.candidates[i].items())

    def _title(self) -> str:
        how = {
            "loo": "by exact leave-one-out",
            "gcv": "by generalised cross-validation",
            "folds": f"by {self.folds} folds",
        }.get(self.method, "of the fit to all rows")
        return f"{len(self.tried)} candidates, {self.measure} {how}"

    def _reason(self) -> str:
        if self.index == self.winner:
            return f"chosen: {self._name(self.index)}, the smallest error"
        best = self.tried[self.winner]
        limit = best.error + best.std_error
        return f"chosen: {self._name(self.index)}, the simplest within one standard error of the smallest ({limit:.6g})"
