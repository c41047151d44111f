"""Ridge regression with its penalty found from the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidParameter, SumsMissing
from adaline.fits.ridge_folds import RidgeFolds
from adaline.forms import Curves, Floats, PerTarget
from adaline.inference.sample import WeightKind
from adaline.lazy import sklearn
from adaline.parameters import (
    AUTO,
    FLAG,
    NONE,
    POSITIVE,
    ZERO_OR_MORE,
    AnyOf,
    Check,
    Numbers,
    OneOf,
    Penalty,
    UsedWith,
    WholeNumber,
    one_of,
)
from adaline.penalties import RidgePenalty
from adaline.solvers.coordinates.positive import solve_positive
from adaline.solvers.least_squares.choose import GRAM_BYTES, solve_least_squares, solve_wide
from adaline.solvers.least_squares.direct import solve_sums
from adaline.solvers.least_squares.fit import Fit
from adaline.solvers.least_squares.ridge import PenaltyChoice, RidgeCriterion, Spectrum, choose_penalty
from adaline.solvers.least_squares.wide import column_scale
from adaline.sources import Source
from adaline.sources.absorbed import AbsorbedSource
from adaline.sources.views import of_target, total_weight, weights_or_ones
from adaline.state import FittedAttribute, FittedWith
from adaline.sums import LeaveOneOut, Moments, Ridges
from adaline.sums.moments import ROUNDING
from adaline.systems.families.least_squares_state import (
    LeastSquaresState,
    LinearSettings,
    OpenedRegression,
    SolvedRegression,
)
from adaline.systems.families.linear_system import LinearSystem
from adaline.systems.families.named import named_system
from adaline.wording import counted

if TYPE_CHECKING:  # tables are slow to import
    from adaline.sources import TableSource

BY_TARGET = Numbers("an array of one a target", (1,))
MANY = "penalty must be 'auto' or a number of zero or more, got {} numbers for {}: an array has one a target"


class ScoringCheck(Check):
    """A name of scikit-learn's scores, or a function (model, X, y)."""

    wanted = "a name of scikit-learn's scores or a function (model, X, y)"

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, str):
            return callable(value) and not isinstance(value, type)
        return value in sklearn.metrics.get_scorer_names()


class TargetPenalties(Penalty):
    """A penalty as a number, or "auto", or one number a target."""

    def accepts(self, value: Any) -> bool:
        return super().accepts(value) or (not np.isscalar(value) and BY_TARGET.accepts(value))


@dataclass(frozen=True)
class RidgeSettings(LinearSettings):
    """The settings that a ridge regression is read with."""

    criterion: RidgeCriterion
    standardize: bool | None


@dataclass(frozen=True, kw_only=True, eq=False)
class SolvedRidge(SolvedRegression):
    """What the solution under a penalty is.

    Parameters
    ----------
    penalty, path : the penalties used, and the criterion that chose them.
    noise_variance, prior_variance : as `Ridge` says.
    """

    penalty: float | Annotated[Array, Floats(".", ". .")]
    path: Curves | list[Curves] | None = None
    noise_variance: PerTarget | None = None
    prior_variance: PerTarget | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class RidgeState(LeastSquaresState, SolvedRidge):
    """What a ridge regression has learned."""

    fitted_with: RidgeSettings


@named_system
@dataclass(eq=False, repr=False)
class Ridge(LinearSystem):
    """Ridge regression: minimises 1/2 sum_n weight_n (y_n - w0 - w'x_n)^2 + penalty/2 ||w||^2, w0 free.

    `penalty="auto"` finds the penalty that predicts new rows best, over a continuous range and on standardised columns,
    so that units do not matter. It is also the ratio of noise to prior variance of the Gaussian prior on w: see
    `noise_variance_` and `prior_variance_`. One pass over the rows, one more each round for criterion="loo".

    Parameters
    ----------
    penalty : "auto", number, or array (K,)
        lambda of (5.13), scikit-learn's alpha. A number penalises coefficients in the columns' own units; an array has
        one a target.
    criterion : "gcv", "loo", "evidence" or "folds"
        What "auto" minimises: generalised cross-validation, exact leave-one-out error, minus the log evidence, or the
        error of rows held out, one fold after the other, which takes one more pass.
    folds : int
        How many parts "folds" has. The penalty is the same number without a fold as for all rows, as scikit-learn has
        it; ElasticNet takes it smaller by the fold's share of the rows.
    scoring : None, a name of scikit-learn's scores, or a function (model, X, y)
        What "folds" measures, the larger the better, on rows in memory; None is the mean squared error.
    positive : bool
        Whether coefficients have to be zero or more; the intercept is free. Needs a number as penalty. Solved from the
        sums, with a gap in the certificate, and without standard errors.
    standardize : bool or None
        Whether the penalty acts on columns of unit standard deviation (population). None: for "auto" yes, for a number
        no. Coefficients are in raw units either way.
    fit_intercept : bool
        Whether the model has a constant w0; it is never penalised.
    weights : "frequency" or "precision"
        What sample_weight means, as for LinearRegression. It also decides how many observations "auto" counts.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    coef_, intercept_, certificate_, rank_, aliased_, dependencies_, estimable_ : as for LinearRegression.
    penalty_ : penalty used, one for each target if there are several.
    path_ : for "auto", a dictionary with `penalties` and `values` of the criterion, to plot.
    noise_variance_, prior_variance_ : of (5.16) and (5.18); their ratio is penalty_.
    absorbed_, effects_ : of a table opened with absorb=, as for LinearRegression; effects are not penalised.

    Examples
    --------
    >>> from adaline import Ridge, datasets
    >>> data = datasets.load("longley")
    >>> model = Ridge().fit(data.X, data.y)
    >>> bool(model.penalty_ > 0)
    True

    References
    ----------
    Lecture S0, section 5.2, (5.12)-(5.18). There w contains w0; here the intercept is not penalised.
    """

    used_with: ClassVar[UsedWith] = {
        "criterion": {"penalty": AUTO},
        **{name: {"criterion": OneOf("folds")} for name in ("folds", "scoring")},
        "standardize": {"penalty": AnyOf(AUTO, POSITIVE, BY_TARGET)},
    }
    penalty: Annotated[float | Literal["auto"] | Sequence[float], TargetPenalties(AUTO, ZERO_OR_MORE)] = "auto"
    _: KW_ONLY
    criterion: Annotated[RidgeCriterion, one_of(RidgeCriterion)] = "gcv"
    folds: Annotated[int, WholeNumber(2)] = 5
    scoring: Annotated[Any, AnyOf(NONE, ScoringCheck())] = None
    positive: bool = False
    standardize: Annotated[bool | None, AnyOf(NONE, FLAG)] = None
    fit_intercept: bool = True
    weights: WeightKind = "frequency"
    basis: Any = None

    learns = RidgeState
    _fitted_with = FittedWith(RidgeSettings)
    penalty_ = FittedAttribute[float | Array]()
    path_ = FittedAttribute[Any]()
    noise_variance_ = FittedAttribute[float | Array]()
    prior_variance_ = FittedAttribute[float | Array]()

    def _solve(self, rows: OpenedRegression, moments: Moments) -> SolvedRidge:
        source = rows.source
        unit = np.ones(moments.shape.features)
        if self._standardized():
            unit = spread_of(moments)
        if not isinstance(self.penalty, str):
            if np.ndim(self.penalty) == 0:
                fit = self._one(source, moments, RidgePenalty(float(np.asarray(self.penalty)), unit))
                return self._known(rows, (fit,))
            each = self._each(moments.shape.targets)
            return self._known(
                rows,
                tuple(
                    self._one(
                        None if source is None else of_target(source, k),
                        moments.target(k),
                        RidgePenalty(float(each[k]), unit),
                    )
                    for k in range(len(each))
                ),
            )
        n = rows.observations(moments.weight)
        basis = eigenbasis(moments, unit, self.fit_intercept, n, rows.counted is not None)
        held_out = self._held_out(source) if self.criterion == "folds" else None
        fits, choices = [], []
        for k in range(moments.shape.targets):
            part = moments.target(k) if moments.shape.targets > 1 else moments
            own = of_target(source, k) if source is not None and moments.shape.targets > 1 else source
            if held_out is None:
                choice = self._choose(own, basis, k)
            else:
                largest = float(basis.spectrum.d.max(initial=0.0)) or 1.0
                choice = choose_penalty(partial(held_out.errors, [k]), largest)
            fits.append(self._one(own, part, RidgePenalty(choice.penalty, unit)))
            choices.append(choice)
        return self._chosen(rows, basis.spectrum, fits, choices)

    def _sums_suffice(self) -> bool:
        by_rows = self.criterion in ("loo", "folds") and isinstance(self.penalty, str)
        return not by_rows and not self.positive and super()._sums_suffice()

    def _is_wide(self, source: Source) -> bool:
        return not self.positive and super()._is_wide(source)

    def _held_out(self, source: Source | None) -> RidgeFolds:
        if source is None:
            raise SumsMissing("criterion='folds' needs the rows, and only sums are at hand; use 'gcv' or 'evidence'")
        return RidgeFolds(source, bool(self.fit_intercept), self._standardized(), int(self.folds), self.scoring)

    def _each(self, targets: int) -> Array:
        """Return the penalty of each target, (K,)."""
        each = np.asarray(self.penalty, dtype=np.float64)
        if len(each) != targets:
            raise InvalidParameter(MANY.format(len(each), counted(targets, "target", "")))
        return each

    def _check_together(self) -> None:
        if not isinstance(self.penalty, str) and np.any(np.asarray(self.penalty) < 0):
            raise InvalidParameter(f"penalty must be numbers of zero or more, got {self.penalty!r}")
        if self.positive and isinstance(self.penalty, str):
            raise InvalidParameter(
                "positive=True needs a number as penalty: criteria of 'auto' are those of free weights"
            )

    def _solve_wide(self, rows: OpenedRegression, source: Source) -> SolvedRidge:
        unit = np.ones(source.shape.features)
        if self._standardized():
            unit = source.matrix().spread(weights_or_ones(source), self.fit_intercept)
        if not isinstance(self.penalty, str):
            if np.ndim(self.penalty) == 0:
                fit = solve_wide(source, self.fit_intercept, RidgePenalty(float(np.asarray(self.penalty)), unit))
                return self._known(rows, (fit,))
            each = enumerate(self._each(source.shape.targets))
            return self._known(
                rows,
                tuple(
                    solve_wide(of_target(source, k), self.fit_intercept, RidgePenalty(float(one), unit))
                    for k, one in each
                ),
            )
        if self.criterion in ("loo", "folds"):
            raise SumsMissing(
                f"criterion={self.criterion!r} needs the D x D sums, which are too large here; use 'gcv' or 'evidence'"
            )
        n = rows.observations(total_weight(source))
        if 8 * source.count_rows() ** 2 > GRAM_BYTES:
            raise InvalidParameter(
                f"penalty='auto' needs X'X or XX', and both exceed {GRAM_BYTES >> 20} MiB here: give a number"
            )
        spectrum = dual_spectrum(source, unit, self.fit_intercept, n)
        fits, choices = [], []
        for k in range(source.shape.targets):
            choice = self._choose(None, _Basis(spectrum, None), k)
            own = of_target(source, k) if source.shape.targets > 1 else source
            fits.append(solve_wide(own, self.fit_intercept, RidgePenalty(choice.penalty, unit)))
            choices.append(choice)
        return self._chosen(rows, spectrum, fits, choices)

    def _has_fixed_design(self) -> bool:
        return not isinstance(self.penalty, str) and not self._standardized()

    def _standardized(self) -> bool:
        return isinstance(self.penalty, str) if self.standardize is None else bool(self.standardize)

    def _one(self, source: Source | None, moments: Moments, penalty: RidgePenalty) -> Fit:
        if self.positive:
            return solve_positive(moments, self.fit_intercept, penalty)
        if source is None:
            return solve_sums(moments, self.fit_intercept, penalty)
        return self._beside_effects(solve_least_squares(source, moments, self.fit_intercept, penalty), source)

    def _absorb(self, table: TableSource) -> AbsorbedSource:
        """Return the rows of a table without the effects that it absorbs."""
        from adaline.solvers.absorb.absorb import absorb  # tables are slow to import

        if not self.fit_intercept or self.positive or isinstance(self.penalty, str) or np.ndim(self.penalty):
            raise InvalidParameter(
                "absorbed effects hold a constant, are not penalised, and no criterion counts them: leave "
                "fit_intercept=True and positive=False, and give a number as penalty"
            )
        return absorb(table, self.weights == "frequency")

    def _choose(self, source: Source | None, basis: _Basis, k: int) -> PenaltyChoice:
        spectrum = basis.spectrum
        largest = float(spectrum.d.max(initial=0.0)) or 1.0
        if self.criterion != "loo":
            function = spectrum.gcv if self.criterion == "gcv" else spectrum.evidence
            return self._in_units(choose_penalty(lambda penalty: function(k, penalty), largest), spectrum, k)
        if source is None or basis.ridges is None:
            raise SumsMissing("criterion='loo' needs the rows, and only sums are at hand; use 'gcv' or 'evidence'")
        ridges = basis.of_target(k)

        def leave_one_out(penalty: Array) -> Array:
            found = source.sum(LeaveOneOut, ridges._replace(penalties=penalty[None]), penalties=len(penalty))
            return np.asarray(found.sums[0] / spectrum.weight)

        return self._in_units(choose_penalty(leave_one_out, largest), spectrum, k)

    def _in_units(self, choice: PenaltyChoice, spectrum: Spectrum, k: int) -> PenaltyChoice:
        """Return the criterion in the units of the target, from those of the scaled one."""
        twice = 2 * int(spectrum.exponent[k])
        if self.criterion == "evidence":
            more = (spectrum.weight - spectrum.intercept) * twice * np.log(2.0)
            return replace(choice, values=choice.values + more)
        with np.errstate(over="ignore"):
            return replace(choice, values=np.ldexp(choice.values, twice))

    def _known(self, rows: OpenedRegression, fits: tuple[Fit, ...]) -> SolvedRidge:
        """Return fits, one for all targets or one for each, with the penalties given, and the variances."""
        given = np.asarray(self.penalty, dtype=np.float64)
        noise = [fit.rss / np.maximum(rows.observations(fit.weight) - fit.trace, 1.0) for fit in fits]
        every = np.concatenate(noise)
        variances = variances_of(every, np.broadcast_to(given, every.shape), rows.flat)
        return SolvedRidge(fits=fits, penalty=given.copy() if given.ndim else float(given), **variances)

    def _chosen(
        self, rows: OpenedRegression, spectrum: Spectrum, fits: list[Fit], choices: list[PenaltyChoice]
    ) -> SolvedRidge:
        penalties = np.array([choice.penalty for choice in choices])
        paths = [{"penalties": choice.penalties, "values": choice.values} for choice in choices]
        if self.criterion == "evidence":
            noise = np.array([spectrum.noise(k, penalties[k : k + 1])[0] for k in range(len(penalties))])
            with np.errstate(over="ignore"):
                noise = np.ldexp(noise, 2 * spectrum.exponent.astype(np.int64))
        else:
            noise = np.array([f.rss[0] / max(rows.observations(f.weight) - f.trace[0], 1.0) for f in fits])
        return SolvedRidge(
            fits=tuple(fits),
            penalty=float(penalties[0]) if rows.flat else penalties,
            path=paths[0] if rows.flat else paths,
            **variances_of(noise, penalties, rows.flat),
        )

    def _notes(self, errors: str) -> list[str]:
        settings, chosen = self._fitted_with, hasattr(self, "path_")
        standardized = chosen if settings.standardize is None else settings.standardize
        where = "standardised columns" if standardized else "the columns' own units"
        found = f", chosen by {settings.criterion}" if chosen else ""
        amount = ", ".join(f"{value:.6g}" for value in np.atleast_1d(self.penalty_))
        meaning = (
            "standard errors, t and p are those of the posterior under the Gaussian prior that belongs to the penalty "
            "(lecture S0, equation 5.18); they do not include the bias of shrinking"
            if errors == "classical"
            else "standard errors are those of the shrunken estimate over repeated samples at this penalty, without "
            "its bias"
        )
        return [*super()._notes(errors), f"penalty {amount} on {where}{found}; {meaning}"]


def variances_of(noise: Array, penalty: Array, flat: bool) -> dict[str, Any]:
    """Return the variances of noise and prior of each target, (K,), by the names of the state; numbers where `flat`."""
    prior = np.divide(noise, penalty, out=np.full(len(noise), np.inf), where=penalty > 0)
    found = {"noise_variance": noise, "prior_variance": prior}
    return {name: float(values[0]) if flat else values for name, values in found.items()}


@dataclass(frozen=True)
class _Basis:
    """The spectrum, and what leave-one-out needs to go through the rows in the eigenbasis."""

    spectrum: Spectrum
    ridges: Ridges | None

    def of_target(self, k: int) -> Ridges:
        """Return the ridges of one target."""
        assert self.ridges is not None
        columns = [*range(len(self.ridges.rotation)), len(self.ridges.rotation) + k]
        return self.ridges._replace(
            mean=self.ridges.mean[columns], exponent=self.ridges.exponent[columns], c=self.ridges.c[k : k + 1]
        )


def spread_of(moments: Moments) -> Array:
    """Return the standard deviations of the features (root mean squares without intercept), zero where constant."""
    d = moments.shape.features
    square = np.where(moments.second.diagonal()[:d] > 4 * moments.noise[:d], moments.second.diagonal()[:d], 0.0)
    return np.ldexp(np.sqrt(square / moments.weight), moments.exponent[:d].astype(np.int64))


def eigenbasis(moments: Moments, unit: Array, intercept: bool, n: float, precision: bool) -> _Basis:
    """Return S on columns divided by `unit` in its eigenbasis, for n observations."""
    d = moments.shape.features
    length = np.ldexp(unit, -moments.exponent[:d].astype(np.int64))
    ratio = np.divide(1.0, length, out=np.zeros(d), where=length > 0)
    values, vectors = np.linalg.eigh(moments.second[:d, :d] * np.outer(ratio, ratio))
    kept = values > d * 16 * ROUNDING * values.max(initial=0.0)
    values, vectors = values[kept], vectors[:, kept]
    cross = (moments.second[d:, :d] * ratio) @ vectors
    total = moments.second.diagonal()[d:]
    b2 = cross**2 / values
    spectrum = Spectrum(values, b2, np.maximum(total - b2.sum(axis=1), 0.0), n, intercept, moments.exponent[d:])
    mean = moments.first_hi if intercept else np.zeros(moments.columns)
    constant = 1.0 / moments.weight if intercept else 0.0
    none = np.ones((moments.shape.targets, 1))
    return _Basis(
        spectrum, Ridges(mean, moments.exponent, ratio[:, None] * vectors, values, cross, none, constant, precision)
    )


def dual_spectrum(source: Source, unit: Array, intercept: bool, n: float) -> Spectrum:
    """Return the same spectrum from the N x N dual matrix."""
    weight = weights_or_ones(source)
    gram, _ = source.matrix().dual_gram(weight, intercept, column_scale(unit))
    t = source.read_targets()
    if not (np.isfinite(gram).all() and np.isfinite(t).all()):
        source.refuse_nonfinite()
    values, vectors = np.linalg.eigh(gram)
    kept = values > len(values) * 16 * ROUNDING * values[-1]
    rhs = np.sqrt(weight)[:, None] * (t - intercept * (weight @ t) / weight.sum())
    b2 = (rhs.T @ vectors[:, kept]) ** 2
    rest = np.maximum((rhs**2).sum(axis=0) - b2.sum(axis=1), 0.0)
    return Spectrum(values[kept], b2, rest, n, intercept, np.zeros(t.shape[1]))
