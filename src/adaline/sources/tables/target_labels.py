"""The labels that the target of a table holds: found by reads, and remembered beside the rows coded by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.coding.columns import plain_level
from adaline.sources.base import Source
from adaline.sources.tables.coded_table import CodedTable, distinct_labels, first_labels
from adaline.sources.tables.labels import TEXTS, LabelColumn, sorted_labels


def holds_labels(table: CodedTable) -> bool:
    """Whether the target of a table is one column of texts, so that only a classifier can learn it."""
    names, relation = table.target_names, table.relation
    return len(names) == 1 and names[0] in relation.schema and relation.kind(names[0]) in TEXTS


class TargetLabels:
    """The labels of a table, sorted.

    Parameters
    ----------
    table : the rows, and what they mean.
    numbers : reads the targets, (N, K), where they are held in memory; else None.
    begins : whether the first rows of the table can be looked at in a read that the next one continues.
    """

    def __init__(self, table: CodedTable, numbers: Callable[[], Array] | None, begins: bool) -> None:
        self.table, self.numbers, self.begins = table, numbers, begins
        self._found: NDArray[Any] | None = None  # by a read of all rows
        self._coded: tuple[NDArray[Any], Source] | None = None

    @property
    def column(self) -> LabelColumn:
        """The column of labels; refused where there is none."""
        return LabelColumn.among(self.table.relation, self.table.target_names, self.table.spec.categories)

    @property
    def are_read_numbers(self) -> bool:
        """Whether labels are numbers, and the targets are those that the spec names."""
        return self.table.given is None and self.column.are_numbers

    @property
    def known(self) -> bool:
        """Whether the labels are known without a read."""
        return self._found is not None

    def find(self, guess: bool = False) -> NDArray[Any]:
        """Return the distinct labels; refuse fractions and too many of them.

        This takes a pass. With `guess` those of the first rows of a large table are found, two at least where it has
        so many, in a read that the next one continues.
        """
        if self._found is not None:
            return self._found
        column = self.column
        if self.numbers is not None and self.are_read_numbers:
            found = np.unique(self.numbers()[:, 0]).tolist()
            return sorted_labels(column.name, [plain_level(label) for label in found])
        if guess and self.begins and (first := first_labels(self.table, column)) is not None:
            return first
        self._found = distinct_labels(self.table, column)
        return self._found

    def coded(self, classes: NDArray[Any]) -> Source | None:
        """Return the rows with indices among these classes as targets, where they were made before."""
        return self._coded[1] if self._coded is not None and np.array_equal(self._coded[0], classes) else None

    def remember(self, classes: NDArray[Any], rows: Source) -> None:
        """Keep the rows with indices among these classes as targets."""
        self._coded = classes, rows
