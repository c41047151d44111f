"""Exceptions and warnings of the package; each message says what is wrong, where, and what to do."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os.path import dirname, sep

from adaline.wording import visible


class AdalineError(Exception):
    """Base of every error that adaline raises on purpose.

    Examples
    --------
    >>> from adaline import AdalineError, LinearRegression
    >>> try:
    ...     LinearRegression().fit([[1.0], [float("nan")]], [1.0, 2.0])
    ... except AdalineError as error:
    ...     print(type(error).__name__, isinstance(error, ValueError))
    InvalidData True
    """

    def __str__(self) -> str:
        """Return the message, control characters of names in it written out."""
        return visible(super().__str__())


class InvalidData(AdalineError, ValueError):
    """The rows given cannot be learned from: not finite, empty, of the wrong shape."""


class MissingValues(InvalidData):
    """Values are missing, and no policy says what to do about them."""


class UnknownLabel(InvalidData):
    """A row has a label that is not among the classes."""


def with_row(error: InvalidData, say: Callable[[int], str]) -> InvalidData:
    """Return an error about some of the rows with "row 3" in its message replaced by say(3), which all rows know.

    Examples
    --------
    >>> from adaline.errors import InvalidData, with_row
    >>> print(with_row(InvalidData("NaN at row 3, column 'a'"), lambda row: f"row {1000 + row}"))
    NaN at row 1003, column 'a'
    """
    return type(error)(re.sub(r"\brow (\d+)", lambda found: say(int(found[1])), str(error), count=1))


class UnreadableTable(AdalineError, OSError):
    """A file, database or query cannot be read as a table."""


class TooLarge(InvalidData, MemoryError):
    """A fit needs more memory than there is: it has too many classes or columns."""


class InvalidType(AdalineError, TypeError):
    """An argument is of a type that cannot be read as numbers."""


class InvalidParameter(AdalineError, ValueError):
    """A constructor argument has an invalid value."""


class UnknownParameter(InvalidParameter, TypeError):
    """A constructor argument has a name that the system does not know, or no name."""


class SumsMissing(AdalineError, ValueError):
    """The model was fitted in a way that keeps no sums, so it can neither continue, merge nor forget."""


class UnsafeForget(AdalineError, ValueError):
    """These rows cannot be taken out: the model does not hold them, or too few correct digits would be left."""


class ModelFileError(AdalineError, OSError):
    """A model file cannot be read or written: missing, truncated, altered, foreign, or of a newer version."""


class BadRows(InvalidData):
    """Rows sent to a model in service cannot be predicted or learned from; `row` and `column` say where, if known."""

    def __init__(self, message: str, row: int | None = None, column: str | None = None) -> None:
        super().__init__(message)
        self.row, self.column = row, column


class Busy(AdalineError):
    """More rows are waiting to be learned than the queue holds: try again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class JournalError(AdalineError, OSError):
    """A journal cannot be read or written: missing, damaged, in use by another process, or without the rows needed."""


class JournalFull(JournalError):
    """There is no room on the disk: no row was taken, and none that was acknowledged is lost."""


class AdalineWarning(UserWarning):
    """The result is valid, but not all that was asked for.

    Examples
    --------
    >>> import warnings
    >>> from adaline import AdalineWarning, LogisticRegression
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> [issubclass(warning.category, AdalineWarning) for warning in caught]
    [True]
    """


class AloneWarning(UserWarning):
    """In the place of scikit-learn's ConvergenceWarning, until scikit-learn is loaded (see `adaline.estimator`)."""


class AloneError(ValueError, AttributeError):
    """In the place of scikit-learn's NotFittedError, until scikit-learn is loaded (see `adaline.estimator`)."""


class ConvergenceWarning(AdalineWarning, AloneWarning):
    """A fit ended before it reached what was asked for. Also scikit-learn's warning of that name."""


class NotFittedError(AdalineError, AloneError):
    """The model has to be fitted first. Also scikit-learn's error of that name."""


OWN = dirname(__file__) + sep
PASSED_ON = ("sklearn", "joblib", "importlib", "functools", "numpy")
"""Modules that forward calls: a warning refers to the line that called them."""


_KEPT: ContextVar[list[tuple[str, type[Warning]]] | None] = ContextVar("kept", default=None)


@contextmanager
def kept_warnings() -> Iterator[list[tuple[str, type[Warning]]]]:
    """Keep what `warn` is called with inside as (message, category), in order, instead of issuing it."""
    found: list[tuple[str, type[Warning]]] = []
    token = _KEPT.set(found)
    try:
        yield found
    finally:
        _KEPT.reset(token)


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the line of the user's own code."""
    message, kept = visible(message), _KEPT.get()
    if kept is not None:
        kept.append((message, category))
        return
    frame = sys._getframe(1)
    while frame.f_back is not None and _passes_on(frame.f_code.co_filename, frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__", "<unknown>"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _passes_on(file: str, module: str) -> bool:
    """Whether code is in this package, or in a module that forwards calls."""
    return file.startswith(OWN) or module.partition(".")[0] in PASSED_ON
