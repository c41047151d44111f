"""One system on trial: fitted on every fold but one, asked about that one, and at last fitted on all rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.faces.table import REGRESSION, Table
from adaline.results import Certificate

Array = NDArray[np.float64]

SMALLEST = np.finfo(np.float64).eps  # a probability of zero for what happened counts as this in the log loss


@dataclass(frozen=True, eq=False)
class Result:
    """How a system did.

    Parameters
    ----------
    system, settings : its name in SYSTEMS and its constructor arguments.
    error, std_error : mean over the folds of the error on rows held out, and the standard error of that mean. The error
        is the root mean squared error in the units of the target, or the share of wrong labels.
    second : R^2 on rows held out, against the mean of the other folds; for classes the log loss, NaN without
        probabilities.
    fold_errors : the error of each fold.
    train_error : error on the rows the final model was fitted to, which are all of them.
    seconds : time to fit all rows.
    certificate : of that fit; None for the baseline and for a failure.
    model : fitted to all rows, None for a failure.
    predicted, probability : (n,) and (n, K) answers for each row by the model that had not seen it, None where there
        are none.
    warnings : what the fits warned about.
    failure : one line where the system failed, else "".
    """

    system: str
    settings: dict[str, Any]
    error: float
    std_error: float
    second: float
    fold_errors: Array
    train_error: float
    seconds: float
    certificate: Certificate | None
    model: Any
    predicted: NDArray[Any] | None
    probability: Array | None
    warnings: tuple[str, ...]
    failure: str

    @property
    def label(self) -> str:
        """The system with its settings: "Ridge", "GaussianClassifier(covariance='full')"."""
        shown = ", ".join(f"{key}={value!r}" for key, value in self.settings.items())
        return f"{self.system}({shown})" if shown else self.system

    def to_dict(self) -> dict[str, Any]:
        """Return what can be written as JSON: numbers that are not finite become None."""
        proof = self.certificate
        return {
            "system": self.system,
            "settings": dict(self.settings),
            "label": self.label,
            "error": plain(self.error),
            "std_error": plain(self.std_error),
            "second": plain(self.second),
            "fold_errors": [plain(value) for value in self.fold_errors.tolist()],
            "train_error": plain(self.train_error),
            "seconds": plain(self.seconds),
            "certificate": None
            if proof is None
            else {key: plain(value) for key, value in vars(proof).items()} | {"status": str(proof.status)},
            "warnings": list(self.warnings),
            "failure": self.failure,
        }


class Trial:
    """A system being tried, fold by fold; after its first failure nothing more is asked of it."""

    def __init__(
        self, system: str, settings: dict[str, Any], make: Callable[..., Any], table: Table, task: str
    ) -> None:
        self.system, self.settings, self._make = system, settings, make
        self._table, self._regression = table, task == REGRESSION
        self._classes = None if self._regression else np.unique(table.y)
        self._errors: list[float] = []
        self._predicted = np.empty_like(table.y)
        self._probability: Array | None = None
        self._warned: dict[str, None] = {}
        self._failure = ""

    def fold(self, held: NDArray[np.bool_]) -> None:
        """Fit the other rows and answer for those held out."""
        self._guarded(lambda: self._hold_out(held))

    def finish(self, guess: NDArray[Any] | None) -> Result:
        """Fit all rows and sum up; `guess` are the baseline's answers on rows held out, None for itself."""
        model: Any = None
        seconds, train = np.nan, np.nan
        if not self._failure:
            start = perf_counter()
            model = self._guarded(lambda: self._fitted(np.ones(len(self._table.y), dtype=bool)))
            seconds = perf_counter() - start
        if model is not None:
            train = self._guarded(lambda: self._error(self._table.y, model.predict(self._table.X), self._table.weight))
        if self._failure:
            model, train, self._errors = None, np.nan, []
        errors = np.array(self._errors)
        return Result(
            system=self.system,
            settings=self.settings,
            error=float(errors.mean()) if len(errors) else np.nan,
            std_error=float(errors.std(ddof=1) / np.sqrt(len(errors))) if len(errors) else np.nan,
            second=np.nan if self._failure else self._second(guess),
            fold_errors=errors,
            train_error=float(train),
            seconds=seconds,
            certificate=getattr(model, "certificate_", None),
            model=model,
            predicted=None if self._failure else self._predicted,
            probability=None if self._failure else self._probability,
            warnings=tuple(self._warned),
            failure=self._failure,
        )

    def _guarded(self, step: Callable[[], Any]) -> Any:
        """Take a step; keep what it warns about, and turn what it raises into a line of text."""
        if self._failure:
            return None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                done = step()
            except Exception as error:  # whatever a system raises must not stop the others
                lines = str(error).strip().splitlines()
                self._failure = lines[0] if lines else type(error).__name__
                done = None
        ours = (w for w in caught if not issubclass(w.category, DeprecationWarning | FutureWarning))
        self._warned |= dict.fromkeys(str(warning.message) for warning in ours)
        return done

    def _fitted(self, rows: NDArray[np.bool_]) -> Any:
        X, y, weight = self._table.X, self._table.y, self._table.weight
        if not rows.all():
            X, y, weight = X[rows], y[rows], None if weight is None else weight[rows]
        model = self._make(**self.settings)
        return model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)

    def _hold_out(self, held: NDArray[np.bool_]) -> None:
        model = self._fitted(~held)
        X, weight = self._table.X[held], None if self._table.weight is None else self._table.weight[held]
        self._predicted[held] = model.predict(X)
        self._errors.append(self._error(self._table.y[held], self._predicted[held], weight))
        if self._classes is not None and hasattr(model, "predict_proba"):
            if self._probability is None:
                self._probability = np.zeros((len(self._table.y), len(self._classes)))
            places = np.searchsorted(self._classes, model.classes_)
            self._probability[np.ix_(held, places)] = model.predict_proba(X)

    def _error(self, truth: NDArray[Any], answer: NDArray[Any], weight: Array | None) -> float:
        if not self._regression:
            return float(np.average(truth != answer, weights=weight))
        error = rms(truth - answer, weight)
        if not np.isfinite(error):
            raise FloatingPointError("its predictions are not finite")
        return error

    def _second(self, guess: NDArray[Any] | None) -> float:
        y, weight = self._table.y, self._table.weight
        if self._regression:
            if guess is None:
                return 0.0
            left, all_of_it = (rms(y - answer, weight) for answer in (self._predicted, guess))
            return 1.0 - (left / all_of_it) ** 2 if all_of_it > 0 else np.nan
        if self._probability is None or self._classes is None:
            return np.nan
        right = self._probability[np.arange(len(y)), np.searchsorted(self._classes, y)]
        return float(np.average(-np.log(np.clip(right, SMALLEST, 1.0)), weights=weight))


def rms(values: Array, weight: Array | None = None) -> float:
    """Return the root of the mean square, of numbers of any size.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.faces.trial import rms
    >>> print(rms(np.array([3e-200, 5e-200, 2e-200, 2e-200])))
    3.24...e-200
    """
    largest = float(np.abs(values).max())
    if not 0 < largest < np.inf:
        return largest
    return largest * float(np.sqrt(np.average((values / largest) ** 2, weights=weight)))


def plain(value: Any) -> Any:
    """Return a number as JSON knows it: None where it is not finite."""
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value
