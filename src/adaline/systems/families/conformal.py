"""`conformal`: a fitted model with the scores of its rows, which give intervals and sets that cover without a model.

Where the fit without one row has a closed form, least squares and ridge of a given penalty, there is one model for each
row, jackknife+; else one for each fold, CV+, from the sums of folds where the system is a sum. See
`adaline.inference.conformal` for what is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, OffsetsLike, RowsLike, TargetsLike, WeightsLike, host, host_values, is_device
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.estimator import clone, is_classifier
from adaline.fitted import AnyModel, can_predict, check_is_fitted, gives_probabilities
from adaline.inference.classical import Interval
from adaline.inference.conformal import Scored, conformal_set, limits, scored_rows
from adaline.input.labels import read_labels
from adaline.input.open import read_offset
from adaline.input.system import System
from adaline.input.taken import indexable, take_rows
from adaline.parameters import LEVEL
from adaline.sources import Source
from adaline.sources.array import read_weights
from adaline.sources.tabular import target_values
from adaline.sources.views import Fold, assign_folds, fold_of, weights_or_ones
from adaline.systems.families.filter import SignalSystem
from adaline.systems.families.folds import fit_at_once

FOLDS = 10  # of CV+; doubling it takes twice as many fits, for models of nearly the same rows
SEED = 0  # of the cut into folds, so that the same rows give the same intervals


@dataclass(frozen=True, eq=False, repr=False)
class ConformalModel:
    """What `conformal` returns: a fitted model whose intervals, or sets of labels, cover for any distribution.

    Parameters
    ----------
    model : the fitted system; what it learns later changes nothing here.
    method : "jackknife+" or "CV+".
    models : the fits without each fold; none for jackknife+.
    scored : the scores of rows under the model without them, one entry for each target.
    pulls : by which each row moves outputs, (n, m) for each target; none for CV+.
    """

    model: AnyModel
    method: str
    models: Sequence[AnyModel]
    scored: Sequence[Scored]
    pulls: Sequence[Array] = ()

    def predict(
        self, X: RowsLike, level: float = 0.95, offset: OffsetsLike = None, exposure: OffsetsLike = None
    ) -> Interval:
        """Return predictions of a regression with intervals, a named tuple (prediction, lower, upper).

        An end is infinite where the rows are too few to say it: level 0.95 needs 19 rows.
        """
        LEVEL.check("level", level)
        if is_classifier(self.model):
            raise InvalidParameter(f"{type(self.model).__name__} predicts labels: use predict_set")
        known = {name: value for name, value in (("offset", offset), ("exposure", exposure)) if value is not None}
        prediction = np.asarray(host(self.model.predict(X, **known)))
        values = prediction.reshape(len(prediction), -1)
        ends = self._from_rows(X, values, level) if self.pulls else self._from_folds(X, known, values, level)
        lower, upper = (np.column_stack(end).reshape(prediction.shape) for end in zip(*ends, strict=True))
        return Interval(prediction, lower, upper)

    def predict_set(self, X: RowsLike, level: float = 0.95) -> NDArray[np.bool_]:
        """Return which labels are in the set of each row, (n, K), in the order of `classes_`.

        The set holds the label of a new row with probability `level`. It may hold several labels, or none where the row
        is like none of the rows fitted.
        """
        LEVEL.check("level", level)
        if not is_classifier(self.model):
            raise InvalidParameter(f"{type(self.model).__name__} predicts numbers: use predict")
        scores = [label_scores(model, X, self.model.classes_) for model in self.models]
        return conformal_set(scores, self.scored[0], level)

    def __repr__(self) -> str:
        return f"<{type(self.model).__name__} with {self.method} scores of {len(self.scored[0].score)} rows>"

    def _from_rows(self, X: RowsLike, values: Array, level: float) -> list[tuple[Array, Array]]:
        """Return the ends for each target, by the models without each row."""
        out = []
        for k, (scored, pull) in enumerate(zip(self.scored, self.pulls, strict=True)):
            z = self.model._coordinates(X, k)

            def centres(run: slice, z: Array = z, pull: Array = pull, k: int = k) -> tuple[Array, float]:
                return values[run, k, None] - z[run] @ pull.T, 1.0

            out.append(limits(len(z), centres, scored, level))
        return out

    def _from_folds(self, X: RowsLike, known: dict[str, Any], values: Array, level: float) -> list[tuple[Array, Array]]:
        """Return the ends for each target, by the models without each fold."""
        found = [_means(model, X, known) for model in self.models]
        out = []
        for k, scored in enumerate(self.scored):
            mean, unit = (np.column_stack([part[:, k] for part in parts]) for parts in zip(*found, strict=True))

            def centres(run: slice, mean: Array = mean, unit: Array = unit, own: Any = scored.model) -> Any:
                return mean[run][:, own], unit[run][:, own]

            out.append(limits(len(values), centres, scored, level))
        return out


def conformal(
    model: AnyModel,
    X: RowsLike = None,
    y: TargetsLike = None,
    sample_weight: WeightsLike = None,
    *,
    offset: OffsetsLike = None,
    exposure: OffsetsLike = None,
) -> ConformalModel:
    """Return a fitted model with conformal intervals, or sets of labels: they cover whatever the distribution is.

        interval: m_i(x) -+ |y_i - m_i(x_i)|, quantiles over the rows i, m_i the model without row i (or its fold)

    New rows must come from where the rows fitted came from, in any order: neither the noise nor the model need be as
    assumed. A new row is outside with probability at most 2 (1 - level), and about 1 - level in practice. That holds on
    average over rows; the intervals of least squares have nearly one width everywhere, those of a family follow the
    standard deviation that it gives its mean.

    `model.predict(X, interval="conformal")`, and `predict_set` of classifiers, are the short form, by the rows that
    `fit` was given. They find the scores again at each call; this function finds them once, and is for models that
    were loaded or have taken in rows since `fit`.

    Parameters
    ----------
    model : a fitted regression or classifier.
    X, y, sample_weight, offset, exposure : the rows that were fitted, as `fit` takes them; None: those of the last fit,
        which the model finds again while they have at most 8 million numbers, or somebody else still holds them.

    Returns
    -------
    ConformalModel : `predict(X, level=0.95)` of a regression, `predict_set(X, level=0.95)` of a classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LinearRegression, conformal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 4, (400, 1))
    >>> y = X[:, 0] + rng.exponential(1 + X[:, 0])
    >>> model = LinearRegression().fit(X[:200], y[:200])
    >>> found = conformal(model, X[:200], y[:200]).predict(X[200:], level=0.9)
    >>> print(f"{np.mean((found.lower <= y[200:]) & (y[200:] <= found.upper)):.2f}")
    0.92

    References
    ----------
    R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani, Annals of Statistics 49 (2021), 486-507.

    Cost: one pass over the rows fitted for least squares and ridge with a number as penalty; 10 fits without a tenth
    of the rows each for others, from one read where the system is a sum. At most about 2,048 rows are scored, so that
    memory is bounded, and a new row costs that many numbers.
    """
    check_is_fitted(model)
    given = {"X": X, "y": y, "sample_weight": sample_weight, "offset": offset, "exposure": exposure}
    rows = {name: value for name, value in given.items() if value is not None}
    if X is None:
        rows = _rows_of_fit(model)
    if not isinstance(model, System) or isinstance(model, SignalSystem) or not can_predict(model):
        raise InvalidParameter(
            f"{type(model).__name__} has no conformal intervals: they are for regressions and classifiers of rows in "
            "any order"
        )
    if getattr(rows["X"], "absorb", ()):
        raise InvalidParameter("conformal intervals need predictions of new rows: leave out absorb=")
    without = model._leave_rows_out(**rows)
    if without is None:
        return _by_folds(model, **rows)
    return ConformalModel(model, "jackknife+", (), [one.scored for one in without], [one.pull for one in without])


def label_scores(model: AnyModel, X: RowsLike, classes: NDArray[Any]) -> Array:
    """Return the scores of labels, (n, K): 1 - probability where a model has these, else how far it is behind others.

    A label that the model does not know has the largest score.
    """
    known = np.searchsorted(classes, model.classes_)
    if gives_probabilities(model):
        found = 1.0 - np.asarray(host(model.predict_proba(X)))
        out = np.ones((len(found), len(classes)))
    else:
        outputs = np.asarray(host(model.decision_function(X)))
        outputs = np.column_stack([-outputs, outputs]) if outputs.ndim == 1 else outputs
        best = np.sort(outputs, axis=1)
        rival = np.where(outputs == best[:, -1:], best[:, -2:-1], best[:, -1:])
        found = rival - outputs
        out = np.full((len(found), len(classes)), np.inf)
    out[:, known] = found
    return out


def _rows_of_fit(model: AnyModel) -> dict[str, Any]:
    """Return the rows of the last fit, or say why they are not at hand."""
    kept = getattr(getattr(model, "_state", None), "rows", None)
    rows = None if kept is None else kept.arguments()
    if rows is None:
        why = "it was loaded, or rows came or went since fit" if kept is None else "they were not held elsewhere"
        raise SumsMissing(
            f"conformal intervals need the rows that were fitted, which this model does not have: {why}. Give them "
            "again: adaline.conformal(model, X, y).predict(...)"
        )
    return cast("dict[str, Any]", rows)


def _by_folds(
    model: AnyModel,
    X: RowsLike,
    y: TargetsLike = None,
    sample_weight: WeightsLike = None,
    offset: OffsetsLike = None,
    exposure: OffsetsLike = None,
) -> ConformalModel:
    """Return the model with the models without each fold."""
    rows = (
        SourceInFolds(model, X) if isinstance(X, Source) else ArrayInFolds(model, X, y, sample_weight, offset, exposure)
    )
    models = rows.models()
    scored = scored_rows(0, len(rows.fold), len(rows.fold)) & (rows.weight > 0)
    scores = rows.scores(models, np.flatnonzero(scored))
    precise = getattr(model, "weights", "frequency") == "precision"
    own = rows.weight[scored]
    scores, counts = (scores * np.sqrt(own)[:, None], np.ones(len(own))) if precise else (scores, own)
    each = [Scored(score, rows.fold[scored], counts) for score in scores.T]
    return ConformalModel(model, "CV+", models, each)


class ArrayInFolds:
    """Rows in memory, the fold of each, (n,), and weights, (n,)."""

    def __init__(
        self,
        model: AnyModel,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        offset: OffsetsLike,
        exposure: OffsetsLike,
    ) -> None:
        self.model, self.x = model, indexable(X)
        n = int(self.x.shape[0])
        labels = is_classifier(model)
        self.y = read_labels(host_values(y)) if labels else np.asarray(host(y) if is_device(y) else y)
        self.given = None if sample_weight is None else read_weights(sample_weight, n)
        self.weight = np.ones(n) if self.given is None else self.given
        targets = 1 if self.y.ndim == 1 else self.y.shape[1]
        self.offset = read_offset(offset, exposure, n, targets)
        some = int(np.count_nonzero(self.weight))
        if self.y.shape[0] != n:
            raise InvalidData(f"X has {n} rows, y has {self.y.shape[0]}: give the rows that were fitted")
        if some < 2:
            raise InvalidData("conformal intervals need at least two rows")
        self.fold = np.full(n, -1)
        kept = np.flatnonzero(self.weight)
        self.fold[kept] = assign_folds(some, min(FOLDS, some), SEED, self.y[kept] if labels else None)

    def models(self) -> list[AnyModel]:
        """Return the fits without each fold."""
        system, count = clone(self.model), int(self.fold.max()) + 1
        fits = None
        if self.offset is None and (self.fold >= 0).all():
            fits = fit_at_once(system, self.x, self.y, self.given, self.fold, {})
        made = [None] * count if fits is None else fits.without
        return [self._without(k) if one is None else one for k, one in enumerate(made)]

    def scores(self, models: list[AnyModel], rows: NDArray[np.intp]) -> Array:
        """Return the scores of some rows, (n, K), each under the model without its fold."""
        out: list[Array] = []
        for k, model in enumerate(models):
            own = rows[self.fold[rows] == k]
            x, y = take_rows(self.x, own), self.y[own]
            if is_classifier(self.model):
                codes = np.searchsorted(self.model.classes_, y)
                out.append(label_scores(model, x, self.model.classes_)[np.arange(len(own)), codes][:, None])
            else:
                mean, unit = _means(model, x, self._offsets(own))
                out.append(np.abs(np.asarray(y, dtype=np.float64).reshape(mean.shape) - mean) / unit)
        order = np.argsort(np.concatenate([np.flatnonzero(self.fold[rows] == k) for k in range(len(models))]))
        return np.concatenate(out)[order]

    def _without(self, k: int) -> AnyModel:
        kept = np.flatnonzero((self.fold != k) & (self.fold >= 0))
        weight = {} if self.given is None else {"sample_weight": self.given[kept]}
        return clone(self.model).fit(take_rows(self.x, kept), self.y[kept], **weight, **self._offsets(kept))

    def _offsets(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        if self.offset is None:
            return {}
        own = self.offset[rows]
        return {"offset": own[:, 0] if own.shape[1] == 1 else own}


class SourceInFolds:
    """The rows of a source, the fold of each, (n,), and weights, (n,)."""

    def __init__(self, model: AnyModel, source: Source) -> None:
        self.model, self.source = model, source
        self.weight, n = weights_or_ones(source), source.count_rows()
        self.fold = fold_of(0, n, min(FOLDS, n)).astype(np.intp)

    def models(self) -> list[AnyModel]:
        """Return the fits without each fold."""
        fits = fit_at_once(clone(self.model), self.source, None, None, self.fold, {})
        made = [None] * (int(self.fold.max()) + 1) if fits is None else fits.without
        return [self._without(k) if one is None else one for k, one in enumerate(made)]

    def scores(self, models: list[AnyModel], rows: NDArray[np.intp]) -> Array:
        """Return the scores of some rows, (n, K), each under the model without its fold."""
        source = self.source
        if is_classifier(self.model):
            labels = target_values(source).ravel()
            codes = np.searchsorted(self.model.classes_, labels)[rows]
            found = (label_scores(model, source, self.model.classes_)[rows] for model in models)
            each = np.stack([one[np.arange(len(rows)), codes] for one in found])[:, :, None]
        else:
            t = source.read_targets()[rows, : source.targets.given]
            means = (tuple(part[rows] for part in _means(model, source, {})) for model in models)
            each = np.stack([np.abs(t - mean) / unit for mean, unit in means])
        return np.asarray(each[self.fold[rows], np.arange(len(rows))])

    def _without(self, k: int) -> AnyModel:
        return clone(self.model).fit(Fold(self.source, k, self.fold, held_out=False))


def _means(model: AnyModel, X: RowsLike, known: dict[str, Any]) -> tuple[Array, Array]:
    """Return predictions of a model, and the units of their scores, (n, K) each."""
    mean = np.asarray(host(model.predict(X, **known)))
    mean = mean.reshape(len(mean), -1)
    unit = model._score_units(mean) if hasattr(model, "_score_units") else np.ones_like(mean)
    return mean, unit
