"""`bootstrap`: how far the coefficients of a fitted model vary over data sets drawn from the same rows.

Replicates are weights of the rows. Where a system is a sum over rows, least squares, ridge and likelihoods, all of them
are solved together in a few reads (`adaline.inference.bootstrap`); any other system, and what `select` chose, is fitted
again under the weights of each.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, GroupsLike, OffsetsLike, RowsLike, TargetsLike, WeightsLike, host
from adaline.block import Block
from adaline.errors import AdalineError, InvalidData, InvalidParameter
from adaline.estimator import clone, is_classifier
from adaline.fitted import AnyModel, check_is_fitted, gives_probabilities, is_linear
from adaline.inference.bootstrap import RowsOfFit
from adaline.inference.bootstrap_intervals import BootstrapInterval, bca_ends, percentile_ends, studentised_ends
from adaline.inference.classical import Interval
from adaline.inference.clusters import FEW_GROUPS, read_groups
from adaline.inference.summary import LOWER, UPPER, FrameBackend, IntervalTable
from adaline.inference.view import RowsAgain
from adaline.input.basis import columns_of
from adaline.input.system import System
from adaline.parameters import LEVEL, NONE, AnyOf, WholeNumber, one_of
from adaline.selection.select import Selection
from adaline.sources import Source
from adaline.sources.array import read_weights
from adaline.sums.replicates import Replicates
from adaline.systems.families.conformal import label_scores
from adaline.systems.ordinal_regression import OrdinalRegression
from adaline.wording import counted

BootstrapMethod = Literal["pairs", "wild"]
NAMED = {"bca": "BCa", "percentile": "percentile", "studentised": "studentised"}
# rows a coefficient below which a table warns of intervals: with 40, 95 % BCa intervals covered 90 %, percentiles 93 %;
# with 100, BCa intervals 92 %; doubling them warns more often
FEW_ROWS = {"bca": 100, "percentile": 30}
FEW_REPLICATES = 20  # beyond an end of an interval; with fewer a summary says so


@dataclass(frozen=True, repr=False)
class BootstrapTable(IntervalTable):
    """Coefficients with their bootstrap errors and intervals."""

    COLUMNS: ClassVar[dict[str, str]] = {
        "target": "target",
        "name": "",
        "estimate": "estimate",
        "bias": "bias",
        "std_error": "std error",
        "lower": LOWER,
        "upper": UPPER,
    }


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap:
    """What `bootstrap` returns; prints as the table of `summary`.

    Parameters
    ----------
    model : the fitted model, or what `select` returned.
    names, targets : of the coefficients, (q,) each; targets are "" where there is one.
    estimate : (q,) coefficients of the fit.
    replicates : (B, q) those of each replicate; NaN where it does not determine them.
    interval : "bca", "percentile" or "studentised", unless `ends` or `summary` are asked for another.
    acceleration, errors : (q,) and (1 + B, q), which BCa and studentised intervals need; None where they were not
        computed.
    about : lines that say how the replicates were drawn.
    models : the fit of each replicate, where each was fitted alone; None where a fit failed.
    """

    model: AnyModel
    names: Sequence[str]
    targets: Sequence[str]
    estimate: Array
    replicates: Array
    interval: BootstrapInterval
    acceleration: Array | None
    errors: Array | None
    about: tuple[str, ...]
    models: Sequence[AnyModel] = ()

    @property
    def covariance(self) -> Array:
        """The covariance of the coefficients over the replicates, (q, q)."""
        return np.atleast_2d(np.cov(self._determined(), rowvar=False))

    @property
    def std_error(self) -> Array:
        """Standard errors, (q,): the standard deviations over the replicates."""
        return np.asarray(self._determined().std(axis=0, ddof=1))

    @property
    def bias(self) -> Array:
        """How far the mean of the replicates is from the estimate, (q,)."""
        return np.asarray(self._determined().mean(axis=0) - self.estimate)

    def ends(self, level: float = 0.95, interval: BootstrapInterval | None = None) -> Array:
        """Return the ends of the intervals of all coefficients, (2, q)."""
        LEVEL.check("level", level)
        AnyOf(NONE, one_of(BootstrapInterval)).check("interval", interval)
        kind = self.interval if interval is None else interval
        determined = self._determined()
        if kind == "percentile":
            return percentile_ends(determined, level)
        if kind == "bca":
            if self.acceleration is None:
                raise InvalidParameter("BCa intervals were not prepared: call bootstrap with interval='bca'")
            return bca_ends(determined, self.estimate, self.acceleration, level)
        if self.errors is None:
            raise InvalidParameter(
                "studentised intervals were not prepared: call bootstrap with interval='studentised'"
            )
        own = self.errors[1:][~np.isnan(self.replicates).any(axis=1)]
        return studentised_ends(determined, own, self.estimate, self.errors[0], level)

    def summary(self, level: float = 0.95, interval: BootstrapInterval | None = None) -> BootstrapTable:
        """Return a table of estimates, their bias, standard errors and intervals."""
        lower, upper = self.ends(level, interval)
        columns = (self.estimate, self.bias, self.std_error, lower, upper)
        several = any(self.targets)
        rows = [
            ({"target": target} if several else {})
            | {"name": name}
            | dict(zip(("estimate", "bias", "std_error", "lower", "upper"), map(float, values), strict=True))
            for target, name, *values in zip(self.targets, self.names, *columns, strict=True)
        ]
        kind = NAMED[self.interval if interval is None else interval]
        title = f"{type(self.model).__name__}, {kind} intervals of {counted(len(self.replicates), 'replicate')}"
        return BootstrapTable(title, rows, level, notes=(*self.about, *self._notes(level)))

    def to_frame(self, level: float = 0.95, backend: FrameBackend | None = None) -> Any:
        """Return the table of `summary` as a frame."""
        return self.summary(level).to_frame(backend)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return the table of `summary` as plain Python values."""
        found = self.summary(level)
        return {"title": found.title, "level": level, "coefficients": found.rows, "notes": list(found.notes)}

    def predict(self, X: RowsLike, level: float = 0.95) -> Interval:
        """Return predictions with percentile intervals of the mean, a named tuple (prediction, lower, upper).

        Of a classifier they are of probabilities, (n, K). They are for systems that were fitted again for each
        replicate, such as the choice of `select`.
        """
        LEVEL.check("level", level)
        if not self.models:
            raise InvalidParameter(
                f"{type(self.model).__name__} has intervals of its mean: use "
                "model.with_errors('HC3', X, y).predict(X_new)"
            )
        found = np.stack([_means(one, X, self._fitted) for one in self.models if one is not None])
        ends = percentile_ends(found.reshape(len(found), -1), level).reshape(2, *found.shape[1:])
        return Interval(_means(self._fitted, X, self._fitted), *ends)

    @property
    def _fitted(self) -> AnyModel:
        return self.model.best if isinstance(self.model, Selection) else self.model

    def _determined(self) -> Array:
        if not len(self.names):
            raise InvalidParameter(
                "the candidates have other coefficients each, so that those of replicates have no covariance or "
                "intervals: use predict(X) for intervals of the mean"
            )
        kept = self.replicates[~np.isnan(self.replicates).any(axis=1)]
        if len(kept) < 2:
            raise InvalidData("fewer than two replicates determine all coefficients: the rows are too few")
        return np.asarray(kept)

    def _notes(self, level: float) -> list[str]:
        lost, out = int(np.isnan(self.replicates).any(axis=1).sum()), []
        if lost:
            out.append(
                f"{lost} of {counted(len(self.replicates), 'replicate')} left out, as their rows leave a coefficient "
                "open or have no maximum: intervals are those of the others, and too short where these are many"
            )
        least = (1 - level) / 2 * (len(self.replicates) - lost)
        if least < FEW_REPLICATES:
            out.append(f"about {least:.3g} replicates lie beyond each end: give more replicates for steady ends")
        return out

    def __str__(self) -> str:
        return str(self.summary()) if len(self.names) else f"{self.model}\n\n" + "\n".join(self.about)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_() if len(self.names) else f"<pre>{self}</pre>"


def bootstrap(
    model: AnyModel,
    X: RowsLike,
    y: TargetsLike = None,
    sample_weight: WeightsLike = None,
    *,
    replicates: int = 999,
    method: BootstrapMethod = "pairs",
    groups: GroupsLike = None,
    interval: BootstrapInterval | None = None,
    random_state: int = 0,
    offset: OffsetsLike = None,
    exposure: OffsetsLike = None,
) -> Bootstrap:
    """Return the bootstrap of a fitted model: standard errors and intervals that assume no distribution of the errors.

    Each replicate is the fit to the rows with random weights, Poisson numbers with mean 1: how often a row is drawn.
    The weight of a row depends on its number, the replicate and the seed alone: files, blocks and threads give the same
    replicates. Least squares and ridge take one pass over the rows for all replicates, likelihoods one for each of four
    or five steps of Newton's method; each replicate equals the fit to rows with its weights to ten digits. Penalties
    that are found from the rows, learned bases, Firth's correction and all other systems are fitted again for each
    replicate.

    Parameters
    ----------
    model : a fitted model with coefficients, or what `select` returned: then each replicate chooses again, and the
        intervals of `predict` hold after the choice.
    X, y, sample_weight, offset, exposure : the rows that were fitted, as `fit` takes them. A frequency w is w rows.
    replicates : how many.
    method : "pairs" or "wild"
        Rows are drawn with their targets; or (regressions from least squares) rows stay, and their residuals, over
        1 - leverage, get random signs.
    groups : labels (n,), or the name of a column of X, a table: groups are drawn as a whole.
    interval : "bca", "percentile" or "studentised"
        BCa corrects percentiles for bias and skewness; "studentised" (bootstrap t, with HC0 errors, or CR0 of groups)
        is best for few rows and groups, and takes another pass. None: "bca", "studentised" of the wild bootstrap, and
        "percentile" where each replicate is fitted alone.
    random_state : seed of the draws.

    Returns
    -------
    Bootstrap : `summary()`, `ends()`, `covariance`, `std_error`, `bias`, `replicates`, `to_frame()`, `predict()`.

    Examples
    --------
    >>> from adaline import LinearRegression, bootstrap, datasets
    >>> data = datasets.load("penguins", target="body_mass_g")
    >>> model = LinearRegression().fit(data.X[:, [2]], data.y)
    >>> print(bootstrap(model, data.X[:, [2]], data.y))
    LinearRegression, BCa intervals of 999 replicates
    <BLANKLINE>
               estimate      bias  std error      2.5%     97.5%
    -------------------------------------------------------------
    ...
    drawn: rows; seed 0; solved in 1 pass over the rows

    References
    ----------
    B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (1993); A. C. Davison and D. V. Hinkley, Bootstrap
    Methods and their Application (1997); A. Chamandy et al., Estimating Uncertainty for Massive Data Streams (2012).

    Cost: N B D^2 multiplications a pass, in memory for B D^2 numbers (in several passes where these are too many).
    """
    WholeNumber(2).check("replicates", replicates)
    WholeNumber(0).check("random_state", random_state)
    one_of(BootstrapMethod).check("method", method)
    AnyOf(NONE, one_of(BootstrapInterval)).check("interval", interval)
    fitted = model.best if isinstance(model, Selection) else model
    check_is_fitted(fitted)
    if not isinstance(fitted, System) or not is_linear(fitted):
        raise InvalidParameter(f"{type(fitted).__name__} has no coefficients to bootstrap: give a fitted linear model")
    given = RowsAgain(X, y, sample_weight, offset, exposure)
    together = None if isinstance(model, Selection) else fitted._bootstrap_rows(given, groups)
    drawn = Replicates(0, replicates, random_state, None, getattr(fitted, "weights", "frequency") == "precision")
    if together is None:
        if method == "wild":
            raise InvalidParameter("method='wild' is for LinearRegression, and Ridge with a number as penalty")
        if interval not in (None, "percentile"):
            raise InvalidParameter(
                f"interval={interval!r} needs the scores of rows, which this model has not: use 'percentile'"
            )
        return _fitted_again(model, given, groups, drawn)
    return _drawn_together(fitted, together, drawn, method == "wild", interval)


def _drawn_together(
    model: AnyModel, parts: Sequence[RowsOfFit], drawn: Replicates, wild: bool, interval: BootstrapInterval | None
) -> Bootstrap:
    """Return the bootstrap of a model whose replicates are solved together."""
    kind: BootstrapInterval = interval or ("studentised" if wild else "bca")
    drawn = drawn._replace(groups=parts[0].labels)
    found = [part.replicate(drawn, wild) for part in parts]
    acceleration = None if wild else np.concatenate([part.acceleration() for part in parts])
    errors = None
    if kind == "studentised":
        errors = np.hstack([part.errors(drawn, own, wild) for part, own in zip(parts, found, strict=True)])
    passes = sum(one.passes for one in found)
    groups = 0 if drawn.groups is None else len(drawn.groups)
    what = counted(groups, "group") if groups else "rows"
    how = f"signs of residuals of {what}" if wild else what
    about = [f"drawn: {how}; seed {drawn.seed}; solved in {counted(passes, 'pass')} over the rows"]
    if 0 < groups < FEW_GROUPS:
        about.append(f"{counted(groups, 'group')} are few for a bootstrap: summary(errors='cluster') is more reliable")
    rows, coefficients = parts[0].source.count_rows(), found[0].values.shape[1]
    if not groups and rows < FEW_ROWS.get(kind, 0) * coefficients:
        about.append(f"{rows:,} rows are few for intervals from percentiles: interval='studentised' is more reliable")
    last = max(one.last_step for one in found)
    if last:
        about.append(f"Newton's method ended after steps of at most {last:.1g} standard errors")
    names, targets, shown = _names(model, np.concatenate([part.determined for part in parts]))
    return Bootstrap(
        model,
        names,
        targets,
        np.concatenate([one.estimate for one in found])[shown],
        np.hstack([one.values for one in found])[:, shown],
        kind,
        None if acceleration is None else acceleration[shown],
        None if errors is None else errors[:, shown],
        tuple(about),
    )


def _fitted_again(model: AnyModel, given: RowsAgain, groups: GroupsLike, drawn: Replicates) -> Bootstrap:
    """Return the bootstrap of a model that is fitted again for each replicate."""
    if isinstance(given.X, Source):
        raise InvalidParameter(
            f"{type(model).__name__} is fitted again for each replicate, which takes rows in memory: give X and y as "
            "arrays or frames"
        )
    y = np.asarray(host(given.y))
    n = len(y)
    labels = None if groups is None else read_groups(groups, n)
    weight = None if given.sample_weight is None else read_weights(given.sample_weight, n)
    t = np.zeros((n, 1)) if labels is None else labels[:, None]
    drawn = drawn._replace(groups=None if labels is None else np.unique(labels))
    parts = {"offset": given.offset, "exposure": given.exposure}
    more = {name: value for name, value in parts.items() if value is not None}
    models: list[AnyModel] = []
    for b in range(drawn.size):
        own = drawn._replace(first=b, size=1).weights(Block(np.zeros((n, 1)), t, weight))[:, 1]
        models.append(_refitted(model, given, own, more))
    fitted = model.best if isinstance(model, Selection) else model
    thetas = [None if one is None else _theta(one).ravel() for one in models]
    about = [
        f"drawn: {'rows' if labels is None else counted(len(np.unique(labels)), 'group')}; seed {drawn.seed}; "
        f"{counted(drawn.size, 'fit')}"
    ]
    estimate = _theta(fitted).ravel()
    if any(theta is not None and len(theta) != len(estimate) for theta in thetas) or (
        isinstance(model, Selection) and "system" in model.parameters
    ):
        nothing = np.empty(0)
        return Bootstrap(
            model, (), (), nothing, np.empty((drawn.size, 0)), "percentile", None, None, tuple(about), models
        )
    slopes = np.tile(np.arange(_theta(fitted).shape[1]) > 0, len(_theta(fitted)))
    names, targets, shown = _names(fitted, slopes | bool(getattr(fitted, "fit_intercept", True)))
    values = np.stack([np.full(len(estimate), np.nan) if theta is None else theta for theta in thetas])
    return Bootstrap(
        model, names, targets, estimate[shown], values[:, shown], "percentile", None, None, tuple(about), models
    )


def _refitted(model: AnyModel, given: RowsAgain, weight: Array, more: dict[str, Any]) -> AnyModel | None:
    """Return the fit to rows with these weights, or the choice among fits; None where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if isinstance(model, Selection):
                return model.again(given.X, given.y, sample_weight=weight, **more).best
            return clone(model).fit(given.X, given.y, sample_weight=weight, **more)
        except AdalineError:
            return None


def _theta(model: AnyModel) -> Array:
    """Return the coefficients (K, 1 + D) of a fitted model, intercept or thresholds first."""
    coef = np.atleast_2d(host(model.coef_))
    if isinstance(model, OrdinalRegression):
        return np.append(model.thresholds_, coef)[None]
    intercept = np.broadcast_to(np.atleast_1d(host(getattr(model, "intercept_", 0.0))), (len(coef),))
    return np.column_stack([intercept, coef])


def _names(model: AnyModel, shown: NDArray[np.bool_]) -> tuple[list[str], list[str], NDArray[np.intp]]:
    """Return the names and targets of the coefficients that are shown, and their places among all."""
    columns, outputs = columns_of(model), len(_theta(model))
    constants = ["intercept" if "intercept" not in columns else "(intercept)"]
    if isinstance(model, OrdinalRegression):
        constants = [f"{below} | {above}" for below, above in pairwise(model.classes_)]
    targets = [""]
    if outputs > 1:
        classes = getattr(model, "classes_", np.empty(0))
        targets = [str(one) for one in (classes if len(classes) == outputs else [f"y{k}" for k in range(outputs)])]
    each = [(name, target) for target in targets for name in (*constants, *columns)]
    places = np.flatnonzero(shown)
    return [each[i][0] for i in places], [each[i][1] for i in places], places


def _means(model: AnyModel, X: RowsLike, like: AnyModel) -> Array:
    """Return the predictions of a regression, or the probabilities of the classes that `like` knows."""
    if is_classifier(model):
        if not gives_probabilities(model):
            raise InvalidParameter(f"{type(model).__name__} has no probabilities: it has no intervals of the mean")
        return 1.0 - label_scores(model, X, like.classes_)
    return np.asarray(host(model.predict(X)))
