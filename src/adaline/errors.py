"""Exceptions and warnings of the package; each message says what is wrong, where, and what to do."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from os.path import dirname, sep
from typing import Any

from adaline.lazy import sklearn
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


class DeprecatedWarning(AdalineWarning, FutureWarning):
    """A deprecated name still works, and the next release removes it; the message names its replacement."""


class ConvergenceWarning(AdalineWarning):
    """A fit ended before it reached the requested tolerance.

    Where scikit-learn is imported, the warning issued is also scikit-learn's of that name.
    """


class NotFittedError(AdalineError, ValueError, AttributeError):
    """The model has to be fitted first. The error raised is also scikit-learn's of that name."""


@cache
def of_both(kind: Any) -> Any:
    """Return the subclass of an error or warning that is also scikit-learn's of the same name.

    Examples
    --------
    >>> import sklearn.exceptions
    >>> from adaline.errors import NotFittedError, of_both
    >>> error = of_both(NotFittedError)("not fitted")
    >>> type(error).__name__, isinstance(error, NotFittedError), isinstance(error, sklearn.exceptions.NotFittedError)
    ('NotFittedError', True, True)
    """
    bases = (kind, getattr(sklearn.exceptions, kind.__name__))
    pickled = {"__reduce__": lambda error: (_one_of_both, (kind, error.args))}
    return type(kind.__name__, bases, {"__module__": kind.__module__, "__doc__": kind.__doc__, **pickled})


def _one_of_both(kind: Any, given: tuple[Any, ...]) -> Any:
    return of_both(kind)(*given)


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
    if category is ConvergenceWarning and "sklearn" in sys.modules:
        category = of_both(category)
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
