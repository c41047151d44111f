"""Ridge regression with its penalty found from the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from adaline.arrays import Array
from adaline.construction import configured
from adaline.errors import InvalidParameter, SumsMissing
from adaline.parameters import AUTO, FLAG, NONE, PENALTY, POSITIVE, AnyOf, OneOf, UsedWith
from adaline.penalties import RidgePenalty
from adaline.solvers.least_squares.choose import GRAM_BYTES, solve_least_squares, solve_wide
from adaline.solvers.least_squares.direct import solve_sums
from adaline.solvers.least_squares.fit import Fit
from adaline.solvers.least_squares.ridge import CRITERIA, PenaltyChoice, Spectrum, choose_penalty
from adaline.solvers.least_squares.wide import column_scale
from adaline.sources import Source
from adaline.sums import LeaveOneOut, Moments, Ridges
from adaline.sums.moments import ROUNDING
from adaline.systems.families.linear_system import LinearSystem


@configured
@dataclass(kw_only=True, eq=False, repr=False)
class Ridge(LinearSystem):
    """Ridge regression: minimises 1/2 sum_n weight_n (y_n - w0 - w'x_n)^2 + penalty/2 ||w||^2, w0 free.

    `penalty="auto"` finds the penalty that predicts new rows best, over a continuous range and on standardised columns,
    so that units do not matter. It is also the ratio of noise to prior variance of the Gaussian prior on w: see
    `noise_variance_` and `prior_variance_`. One pass over the rows, one more each round for criterion="loo".

    Parameters
    ----------
    penalty : "auto" or number
        lambda of (5.13), scikit-learn's alpha. A number penalises coefficients in the columns' own units.
    criterion : "gcv", "loo" or "evidence"
        What "auto" minimises: generalised cross-validation, exact leave-one-out error, or minus the log evidence.
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
        "standardize": {"penalty": AnyOf(AUTO, POSITIVE)},
    }
    penalty: Annotated[float | str, PENALTY] = "auto"
    criterion: Annotated[str, OneOf(*CRITERIA)] = "gcv"
    standardize: Annotated[bool | None, AnyOf(NONE, FLAG)] = None
    fit_intercept: bool = True
    weights: str = "frequency"
    basis: Any = None

    def _solve(self, source: Source | None, moments: Moments) -> tuple[Fit, ...]:
        unit = np.ones(moments.shape.features)
        if self._standardized():
            unit = _spread(moments)
        if not isinstance(self.penalty, str):
            return self._known(self._one(source, moments, RidgePenalty(float(self.penalty), unit)))
        n = self._observations(moments.weight)
        basis = _eigenbasis(moments, unit, self.fit_intercept, n, self._counted is not None)
        fits, choices = [], []
        for k in range(moments.shape.targets):
            part = moments.target(k) if moments.shape.targets > 1 else moments
            rows = source.with_target(k) if source is not None and moments.shape.targets > 1 else source
            choice = self._choose(rows, basis, k)
            fits.append(self._one(rows, part, RidgePenalty(choice.penalty, unit)))
            choices.append(choice)
        return self._chosen(basis.spectrum, fits, choices)

    def _sums_suffice(self) -> bool:
        return (self.criterion != "loo" or not isinstance(self.penalty, str)) and super()._sums_suffice()

    def _solve_wide(self, source: Source) -> tuple[Fit, ...]:
        unit = source.spread(self.fit_intercept) if self._standardized() else np.ones(source.shape.features)
        if not isinstance(self.penalty, str):
            return self._known(solve_wide(source, self.fit_intercept, RidgePenalty(float(self.penalty), unit)))
        if self.criterion == "loo":
            raise SumsMissing("criterion='loo' needs the D x D sums, which are too large here; use 'gcv' or 'evidence'")
        n = self._observations(source.total_weight())
        if 8 * source.count_rows() ** 2 > GRAM_BYTES:
            raise InvalidParameter(
                f"penalty='auto' needs X'X or XX', and both exceed {GRAM_BYTES >> 20} MiB here: give a number"
            )
        spectrum = _dual_spectrum(source, unit, self.fit_intercept, n)
        fits, choices = [], []
        for k in range(source.shape.targets):
            choice = self._choose(None, _Basis(spectrum, None), k)
            rows = source.with_target(k) if source.shape.targets > 1 else source
            fits.append(solve_wide(rows, self.fit_intercept, RidgePenalty(choice.penalty, unit)))
            choices.append(choice)
        return self._chosen(spectrum, fits, choices)

    def _standardized(self) -> bool:
        return isinstance(self.penalty, str) if self.standardize is None else bool(self.standardize)

    def _one(self, source: Source | None, moments: Moments, penalty: RidgePenalty) -> Fit:
        if source is None:
            return solve_sums(moments, self.fit_intercept, penalty)
        return solve_least_squares(source, moments, self.fit_intercept, penalty)

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

    def _known(self, fit: Fit) -> tuple[Fit, ...]:
        self.penalty_: float | Array = float(self.penalty)
        freedom = np.maximum(self._observations(fit.weight) - fit.trace, 1.0)
        self._set_variances(fit.rss / freedom, np.full(len(fit.squares), self.penalty_))
        return (fit,)

    def _chosen(self, spectrum: Spectrum, fits: list[Fit], choices: list[PenaltyChoice]) -> tuple[Fit, ...]:
        penalties = np.array([choice.penalty for choice in choices])
        paths = [{"penalties": choice.penalties, "values": choice.values} for choice in choices]
        self.penalty_ = float(penalties[0]) if self._flat else penalties
        self.path_ = paths[0] if self._flat else paths
        if self.criterion == "evidence":
            noise = np.array([spectrum.noise(k, penalties[k : k + 1])[0] for k in range(len(penalties))])
            with np.errstate(over="ignore"):
                noise = np.ldexp(noise, 2 * spectrum.exponent.astype(np.int64))
        else:
            noise = np.array([f.rss[0] / max(self._observations(f.weight) - f.trace[0], 1.0) for f in fits])
        self._set_variances(noise, penalties)
        return tuple(fits)

    def _set_variances(self, noise: Array, penalty: Array) -> None:
        prior = np.divide(noise, penalty, out=np.full(len(noise), np.inf), where=penalty > 0)
        self.noise_variance_ = float(noise[0]) if self._flat else noise
        self.prior_variance_ = float(prior[0]) if self._flat else prior

    def _notes(self, errors: str) -> list[str]:
        where = "standardised columns" if self._standardized() else "the columns' own units"
        found = f", chosen by {self.criterion}" if isinstance(self.penalty, str) else ""
        amount = ", ".join(f"{value:.6g}" for value in np.atleast_1d(self.penalty_))
        meaning = (
            "standard errors, t and p are those of the posterior under the Gaussian prior that the penalty stands for "
            "(5.18), not of an unbiased estimate"
            if errors == "classical"
            else "standard errors are those of the shrunken estimate over repeated samples at this penalty, without "
            "its bias"
        )
        return [f"penalty {amount} on {where}{found}; {meaning}"]


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


def _spread(moments: Moments) -> Array:
    """Return the standard deviations of the features (root mean squares without intercept), zero where constant."""
    d = moments.shape.features
    square = np.where(moments.second.diagonal()[:d] > 4 * moments.noise[:d], moments.second.diagonal()[:d], 0.0)
    return np.ldexp(np.sqrt(square / moments.weight), moments.exponent[:d].astype(np.int64))


def _eigenbasis(moments: Moments, unit: Array, intercept: bool, n: float, precision: bool) -> _Basis:
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


def _dual_spectrum(source: Source, unit: Array, intercept: bool, n: float) -> Spectrum:
    """Return the same spectrum from the N x N dual matrix."""
    gram, _ = source.dual_gram(intercept, column_scale(unit))
    t = source.read_targets()
    if not (np.isfinite(gram).all() and np.isfinite(t).all()):
        source.refuse_nonfinite()
    weight = source.read_all_weights()
    values, vectors = np.linalg.eigh(gram)
    kept = values > len(values) * 16 * ROUNDING * values[-1]
    rhs = np.sqrt(weight)[:, None] * (t - intercept * (weight @ t) / weight.sum())
    b2 = (rhs.T @ vectors[:, kept]) ** 2
    rest = np.maximum((rhs**2).sum(axis=0) - b2.sum(axis=1), 0.0)
    return Spectrum(values[kept], b2, rest, n, intercept, np.zeros(t.shape[1]))
