"""The error of predictions, each made before its row was learned: as counted, and as shown."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from adaline.arrays import Array
from adaline.fitted import AnyModel, gives_probabilities, has_classes
from adaline.serve.journal import ErrorTotals
from adaline.serve.rows import DecodedRows

# rows of the recent error: a row counts by exp(-age / this); doubling it gives a steadier, slower error
RECENT_ROWS = 1000.0
LARGEST_ERROR = 1e200  # largest error that is counted, so that means are finite
LEAST = float(np.finfo(np.float64).eps)  # probability of a label that is counted, so that no row has an endless loss


@dataclass(frozen=True)
class ProgressiveError:
    """The error of predictions of rows, each made before the row was learned, as a client would have got them.

    Parameters
    ----------
    measure : what `mean` and `recent` are: "mean squared error" for numbers, "error rate" (the share of wrong labels)
        for classes. A model and its challengers share it.
    rows : rows that were predicted so.
    mean : mean error of all of them. NaN without any row.
    recent : mean error of about the last 1,000.
    loss, recent_loss : the same by the model's own loss: squares of numbers, -log of the probability that was given to
        the label, at most 36; NaN for classifiers that give no probabilities.
    """

    measure: str
    rows: int
    mean: float
    recent: float
    loss: float
    recent_loss: float


def progressive_error(model: AnyModel, totals: ErrorTotals) -> ProgressiveError:
    """Return the errors counted of a model's predictions."""
    rows, error, recent_error, loss, recent_loss = totals
    measure = "error rate" if has_classes(model) else "mean squared error"
    if not rows:
        return ProgressiveError(measure, 0, math.nan, math.nan, math.nan, math.nan)
    losses = (loss / rows, recent_loss) if gives_loss(model) else (math.nan, math.nan)
    return ProgressiveError(measure, rows, error / rows, recent_error, *losses)


def totals_with(totals: ErrorTotals, errors: Array, losses: Array) -> ErrorTotals:
    """Return totals that count the errors and losses of more rows, (n,) each."""
    before, error, recent_error, loss, recent_loss = totals
    share = math.expm1(-len(errors) / RECENT_ROWS) / math.expm1(-(before + len(errors)) / RECENT_ROWS)
    return ErrorTotals(
        before + len(errors),
        error + float(errors.sum()),
        recent_error + share * (float(errors.mean()) - recent_error),
        loss + float(losses.sum()),
        recent_loss + share * (float(losses.mean()) - recent_loss),
    )


def prediction_errors(model: AnyModel, rows: DecodedRows) -> tuple[Array, Array]:
    """Return the error of a model on each row, (n,), squared, or 1 for a wrong label; and its own loss of each, (n,).

    The loss of classifiers that give no probabilities is zero.
    """
    found = np.asarray(model.predict(rows.x))
    if not has_classes(model):
        squares = np.square(found - rows.y)
        squares = squares if squares.ndim == 1 else squares.mean(axis=1)
        errors = np.minimum(np.nan_to_num(squares, nan=LARGEST_ERROR, posinf=LARGEST_ERROR), LARGEST_ERROR)
        return errors, errors
    errors = np.asarray(found != rows.y, dtype=np.float64)
    if not gives_loss(model):
        return errors, np.zeros(len(rows))
    shares = np.asarray(model.predict_proba(rows.x))
    given = shares[np.arange(len(rows)), np.searchsorted(model.classes_, rows.y)]
    return errors, -np.log(np.maximum(np.nan_to_num(given), LEAST))


def gives_loss(model: AnyModel) -> bool:
    """Return whether a model has a loss of its own for each row: a regression, or probabilities of classes."""
    return not has_classes(model) or gives_probabilities(model)
