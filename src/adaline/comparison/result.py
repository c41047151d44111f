"""The result of one system in a comparison: errors on held-out rows, predictions for them, and the fit to all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array
from adaline.attributes import own_attributes
from adaline.coding.additive import read_terms
from adaline.comparison.additive import AdditiveColumns
from adaline.comparison.baseline import MeanTarget, MostFrequentClass
from adaline.comparison.budget import FitBudget
from adaline.estimator import clone
from adaline.fitted import AnyModel, AnySystem, gives_probabilities
from adaline.results import Certificate
from adaline.selection.cross_validation import ArrayRows, CrossValidation, StreamedFolds
from adaline.wording import plain

Indices = NDArray[np.intp]

MOST_TERMS = 3  # smooths and random effects that a label shows; doubling it makes tables wider than a terminal
SMALLEST = np.finfo(np.float64).eps  # a probability of zero of the true class counts as this in the log loss


@dataclass(frozen=True, eq=False)
class Result:
    """How a system did.

    Parameters
    ----------
    system, settings : its name in SYSTEMS and its constructor arguments.
    error, std_error : mean over the folds of the error on held-out rows, and the standard error of that mean. The error
        is the root mean squared error in the units of the target, or the share of wrong labels. Under leave-one-out it
        is that of all held-out rows together, with the standard error of the delta method.
    second : R^2 on held-out rows, against the mean of the other folds; for classes the log loss, NaN without
        probabilities.
    fold_errors : the error of each fold, or under leave-one-out what each row adds to the error (see `row_errors`):
        their mean is `error`, and the standard error of a mean of such values, or of their differences between two
        systems, is that of the errors.
    train_error : error on the rows the final model was fitted to: all of them, or those that the budget allows.
    seconds : time to fit all rows, or those that the budget allows.
    budget : what the system was held to so that the comparison takes seconds, as "after 1 epoch of 289,262 rows"; ""
        for one that learned from all rows for as long as it asks for.
    certificate : of that fit; None for the baseline and for a failure.
    model : fitted to all rows, None for a failure.
    predicted, probability : (n,) and (n, K) predictions for each row by a model not fitted to it, None where
        there are none.
    warnings : what the fits warned about.
    failure : one line where the system failed, else "".
    fold_models : the models fitted without each fold, in the order of the folds.
    judged_rows : held-out rows that the errors were measured on.
    sampled : whether the system was fitted to fewer rows than there are; `budget` says to how many.
    columns : what the models take instead of the columns of the table; None: these.
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
    budget: str = ""
    fold_models: tuple[Any, ...] = ()
    judged_rows: int = 0
    sampled: bool = False
    columns: AdditiveColumns | None = None

    def inputs(self, x: AnyArray) -> AnyArray:
        """Return what the models take, of rows x of the table."""
        return x if self.columns is None else self.columns.of(x)

    @property
    def label(self) -> str:
        """The system with its settings: "Ridge", "GaussianClassifier(covariance='full')"."""
        return system_label(self.system, self.settings)

    def to_dict(self) -> dict[str, Any]:
        """Return what can be written as JSON: numbers that are not finite become None."""
        left = {"model", "fold_models", "predicted", "probability", "columns"}
        known = {name: value for name, value in own_attributes(self).items() if name not in left}
        proof = None if self.certificate is None else own_attributes(self.certificate)
        return dict(plain({**known, "label": self.label, "certificate": proof}))


class SystemTrial:
    """One system in a comparison: cross-validated, then fitted to all rows.

    Parameters
    ----------
    name, settings : of the system.
    system : not fitted.
    rows : cut into folds, each a run of rows; y of classes are their indices.
    classes : (K,) labels, None for a regression.
    budget : how much the system may learn from.
    stream : all rows, where those above are a sample.
    columns : what the system takes instead of the columns of the table, and the rows have; None: these.
    """

    def __init__(
        self,
        name: str,
        settings: dict[str, Any],
        system: AnySystem,
        rows: ArrayRows,
        classes: NDArray[Any] | None,
        budget: FitBudget | None = None,
        stream: StreamedFolds | None = None,
        columns: AdditiveColumns | None = None,
    ) -> None:
        self.name, self.settings, self.columns = name, settings, columns
        self._rows, self._classes, self._budget = rows, classes, budget
        self._predicted = np.empty_like(rows.y)
        self._probability: Array | None = None
        self._models: list[Any] = []
        if budget is not None and budget.epochs is not None:
            system = clone(system).set_params(epochs=budget.epochs)
        most = len(rows.y) if budget is None or budget.rows is None else budget.rows
        self._learned = rows.sampled(most) if most < len(rows.y) else rows
        self._trial, self._streams = CrossValidation(system, self._learned, self._judge, stream), stream is not None

    @classmethod
    def of_constant(cls, rows: ArrayRows, classes: NDArray[Any] | None) -> Self:
        """Return the trial of what looks at no column: the mean, or the most frequent class."""
        if classes is None:
            return cls("the mean", {}, MeanTarget(), rows.with_columns(rows.x[:, :0]), classes)
        one_out = int(rows.fold[-1]) + 1 == len(rows.y)
        counts = np.bincount(rows.y, rows.given_weight) if one_out else None
        return cls("the most frequent class", {}, MostFrequentClass(counts), rows.with_columns(rows.x[:, :0]), classes)

    def run(self, guess: NDArray[Any] | None, before_fit: Callable[[str], None]) -> Result:
        """Cross-validate, fit all rows and return the result; `guess`: what the baseline predicts, else None.

        `before_fit` is called with a text before each of these steps.
        """
        rows, trial = self._rows, self._trial
        folds = int(rows.fold[-1]) + 1
        for k in range(folds):
            before_fit(f"fold {k + 1} of {folds}: {self.name}")
            trial.fold(k, *self._one_class(k))
        before_fit(f"all rows: {self.name}")
        start = perf_counter()
        model = trial.whole()
        seconds = perf_counter() - start
        learned = self._learned
        train = trial.attempt(lambda: self._error(learned.y, learned.predicted(model), learned.given_weight))
        if trial.failure:
            nothing = (np.nan, np.nan, np.nan, np.array([]), np.nan, np.nan, None, None, None, None)
            return Result(self.name, self.settings, *nothing, trial.warnings, trial.failure, judged_rows=len(rows.y))
        budget = self._budget_kept()
        errors = np.array(trial.judged) if folds < len(rows.y) else self._row_errors()
        second, proof = self._second(guess), getattr(model, "certificate_", None)
        if self._classes is not None:
            for one in (model, *self._models):
                one.classes_ = self._classes[one.classes_]
                if getattr(one, "classes", None) is not None:
                    one.classes = one.classes_.tolist()
        return Result(
            system=self.name,
            settings=self.settings,
            error=float(errors.mean()),
            std_error=float(errors.std(ddof=1) / np.sqrt(len(errors))),
            second=second,
            fold_errors=errors,
            train_error=float(train),
            seconds=seconds if proof is None else proof.seconds,
            certificate=proof,
            model=model,
            predicted=self._predicted if self._classes is None else self._classes[self._predicted],
            probability=self._probability,
            warnings=trial.warnings,
            failure="",
            fold_models=tuple(self._models) if all(type(one) is type(model) for one in self._models) else (),
            budget="" if budget is None else str(budget),
            judged_rows=len(rows.y),
            sampled=budget is not None and budget.rows is not None,
            columns=self.columns,
        )

    def _one_class(self, k: int) -> tuple[()] | tuple[Indices, MostFrequentClass]:
        """Return the training rows of fold k, and the model that predicts their class, if they have only one.

        Classifiers refuse such rows. They arise where all rows of the other classes are in fold k.
        """
        if self._classes is None:
            return ()
        learned, count = self._learned, len(self._classes)
        if "rows of classes" not in learned.shared:
            folds = int(self._rows.fold[-1]) + 1
            cells = np.bincount(learned.fold.astype(np.intp) * count + learned.y, minlength=folds * count)
            learned.shared["rows of classes"] = cells.reshape(folds, count)
        rows = learned.shared["rows of classes"]
        if np.count_nonzero(rows.sum(axis=0) - rows[k]) > 1:
            return ()
        indices = np.flatnonzero(learned.fold != k)
        return indices, MostFrequentClass().fit(indices, learned.y[indices])

    def _row_errors(self) -> Array:
        y, weight = self._rows.y, self._rows.given_weight
        if self._classes is not None:
            return row_errors((y != self._predicted).astype(np.float64), weight)
        return row_errors(np.abs(y - self._predicted), weight, square=True)

    def _budget_kept(self) -> FitBudget | None:
        """Return what the system was held to: the sample, where it could not learn from all rows of a stream."""
        if self._streams and self._trial.stream is None:
            return FitBudget(rows=len(self._rows.y))
        return self._budget

    def _judge(self, model: AnyModel, learned: Indices, held_out: Indices) -> float:
        """Keep the model and its predictions for held-out rows; return their error."""
        k = len(self._models)
        self._models.append(model)
        part = slice(*np.searchsorted(self._rows.fold, [k, k + 1]))
        x, y = self._learned.filled_for(k, self._rows.x[part]), self._rows.y[part]
        if self._classes is not None and gives_probabilities(self._trial.system):
            if self._probability is None:
                self._probability = np.zeros((len(self._predicted), len(self._classes)))
            self._probability[part, model.classes_] = model.predict_proba(x)
            self._predicted[part] = self._probability[part].argmax(axis=1)
        else:
            self._predicted[part] = self._rows.with_offset(model, part).predict(x)
        weight = self._rows.given_weight
        return self._error(y, self._predicted[part], None if weight is None else weight[part])

    def _error(self, truth: NDArray[Any], predicted: NDArray[Any], weight: Array | None) -> float:
        if self._classes is not None:
            return float(np.average(truth != predicted, weights=weight))
        error = rms(truth - predicted, weight)
        if not np.isfinite(error):
            raise FloatingPointError("its predictions are not finite")
        return error

    def _second(self, guess: NDArray[Any] | None) -> float:
        y, weight = self._rows.y, self._rows.given_weight
        if self._classes is None:
            if guess is None:
                return 0.0
            left, whole = (rms(y - predicted, weight) for predicted in (self._predicted, guess))
            return 1.0 - (left / whole) ** 2 if whole > 0 else np.nan
        if self._probability is None:
            return np.nan
        right = self._probability[np.arange(len(y)), y]
        return float(np.average(-np.log(np.clip(right, SMALLEST, 1.0)), weights=weight))


def row_errors(losses: Array, weight: Array | None = None, square: bool = False) -> Array:
    """Return values of rows, (n,), whose mean is the error of all rows together, and whose spread is its uncertainty.

        E = mean of l_i w_i / mean of w_i,                 e_i = E + (w_i / mean w) (l_i - E)
        E = root of the same mean of l_i^2 (`square`),     e_i = E + (w_i / mean w) (l_i^2 - E^2) / (2 E)

    Under leave-one-out the error of a fold is that of a single row, and the mean of |error| is not the root mean
    square. The e_i are the linear part of E about the rows (the delta method): sd(e_i) / sqrt(n) is the standard error
    of E, and sd(e_i - e'_i) / sqrt(n) that of the difference between two systems judged on the same rows. For shares of
    wrong labels, `square` is False and e_i is 0 or 1 without weights.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.comparison.result import row_errors
    >>> round(float(row_errors(np.array([3.0, 4.0, 5.0, 0.0]), square=True).mean() ** 2), 12)
    12.5
    """
    share = np.ones(len(losses)) if weight is None else weight / weight.mean()
    if not square:
        mean = float(np.mean(share * losses))
        return mean + share * (losses - mean)
    error = rms(losses, weight)
    return error + share * ((losses / error) ** 2 - 1) * error / 2 if 0 < error < np.inf else share * 0 + error


def system_label(name: str, settings: dict[str, Any]) -> str:
    """Return a system with its settings: "Ridge", "GaussianClassifier(covariance='full')", "AdditiveModel(s(age))"."""
    if settings.get("terms"):
        terms = [one.text for one in read_terms(settings["terms"])]
        more = [f"{len(terms) - MOST_TERMS} more"] * (len(terms) > MOST_TERMS)
        return f"{name}({' + '.join([*terms[:MOST_TERMS], *more])})"
    return system_call(name, settings)


def system_call(name: str, settings: dict[str, Any]) -> str:
    """Return a system with all its settings, "AdditiveModel(terms=['s(age)'])"; without brackets where it has none."""
    shown = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return f"{name}({shown})" if shown else name


def rms(values: Array, weight: Array | None = None) -> float:
    """Return the root of the mean square, of numbers of any size.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.comparison.result import rms
    >>> print(rms(np.array([3e-200, 5e-200, 2e-200, 2e-200])))
    3.24...e-200
    """
    largest = float(np.abs(values).max())
    if not 0 < largest < np.inf:
        return largest
    return largest * float(np.sqrt(np.average((values / largest) ** 2, weights=weight)))
