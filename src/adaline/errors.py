"""One family of exceptions: each message says what is wrong, where, and what to do."""


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


class InvalidData(AdalineError, ValueError):
    """The rows given cannot be learned from: not finite, empty, of the wrong shape."""


class MissingValues(InvalidData):
    """Values are missing, and no policy says what to do about them."""


class UnknownLabel(InvalidData):
    """A row has a label that is not among the classes."""


class UnreadableTable(AdalineError, OSError):
    """A file, database or query cannot be read as a table."""


class InvalidType(AdalineError, TypeError):
    """An argument is of a kind that cannot be read as numbers."""


class InvalidParameter(AdalineError, ValueError):
    """A constructor argument has a value that means nothing."""


class SumsMissing(AdalineError, ValueError):
    """The model was fitted in a way that kept no sums, so it can neither continue, merge nor forget."""


class UnsafeForget(AdalineError, ValueError):
    """Taking these rows out would leave fewer correct digits than a model may have."""


class ModelFileError(AdalineError, OSError):
    """A model file cannot be read or written: missing, truncated, altered, foreign, or of a newer version."""


class AdalineWarning(UserWarning):
    """Something the user should know: the result is valid, but not what was hoped for.

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
