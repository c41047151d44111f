"""Names of very many columns, which are made when they are asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAMED = 2**16  # columns of X up to which their names are kept; those of more are made when they are asked for


class MadeNames(Sequence[str]):
    """Names of columns, (D,), each made when it is asked for."""

    @abstractmethod
    def _name(self, k: int) -> str:
        """Return the name of column k."""

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return tuple(self[i] for i in range(*k.indices(len(self))))
        return self._name(range(len(self))[k])

    def __iter__(self) -> Iterator[str]:
        return map(self._name, range(len(self)))


class NumberedNames(MadeNames):
    """The names x0, x1, ... of columns, or those from another index on.

    Examples
    --------
    >>> from adaline.coding.names import NumberedNames
    >>> names = NumberedNames(1, 3_000_000)
    >>> names[0], names[-1], len(names)
    ('x1', 'x3000000', 3000000)
    """

    def __init__(self, first: int, size: int) -> None:
        self.first, self.size = first, size

    def __len__(self) -> int:
        return self.size

    def _name(self, k: int) -> str:
        return f"x{self.first + k}"


class ChosenNames(MadeNames):
    """The names of some of the columns of others, which may be called x0, x1, ... (None)."""

    def __init__(self, names: Sequence[str] | None, columns: NDArray[np.intp]) -> None:
        self.names, self.columns = names, columns

    def __len__(self) -> int:
        return len(self.columns)

    def _name(self, k: int) -> str:
        column = int(self.columns[k])
        return f"x{column}" if self.names is None else self.names[column]
