"""The covariance of the coefficients, kept as a root: Cov(w0, w) = A root (A root)', A A' = (X'X + P)^-1.

A comes from the factor of the fit, so that large means and unlike units cost no digits. Classical: root = sigma I.
Robust errors, which hold without equal variances (HC0 to HC4) or independent rows (cluster, HAC), take one more pass:

    root root' = G,   G = c sum w r^2 / (1 - h)^power z z'     or     G = c sum_g s_g s_g'

    HC0: c = 1, power 0      HC1: c = N/(N - p), power 0      HC2: c = 1, power 1      HC3: c = 1, power 2
    HC4: c = 1, power min(4, h N/p) of each row
    cluster, CR1 to CR3: see clusters.py
    HAC: see lagged.py

The model keeps only sums, so the rows have to be given again; they are recognised by their weight and their residuals.

F. Cribari-Neto, Computational Statistics and Data Analysis 45 (2004), 215-233 (HC4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import scipy

from adaline.arrays import Array, RowsLike, host
from adaline.block import Block
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.inference.clusters import CLUSTERED, judges_together, nested_freedom, read_scores
from adaline.inference.lagged import lagged
from adaline.inference.roots import root_of, small_sample_factor
from adaline.inference.sample import Sample
from adaline.inference.wild import OneDirection, WildBootstrap
from adaline.parameters import (
    ERROR_KIND,
    NONE,
    STATISTIC_DISTRIBUTION,
    AnyOf,
    ErrorKind,
    StatisticDistribution,
    WholeNumber,
)
from adaline.results import UNKNOWN_ROWS, Status
from adaline.solvers.least_squares.factor import EPS, Factor
from adaline.solvers.least_squares.fit import Fit
from adaline.sources import Source
from adaline.sources.threads import one_blas_thread
from adaline.sources.totals import weight_totals
from adaline.sums import FittedDesign, FittedLikelihood, Scores
from adaline.wording import degrees

POWERS = {"HC0": 0.0, "HC1": 0.0, "HC2": 1.0, "HC3": 2.0, "HC4": 4.0}
# rows a coefficient below which a summary warns of these errors: with 17, 95 % intervals of HC0 covered 89 %, with 10
# those of HC1 90 % and of HC2 91 %; doubling them warns more often
FEW_ROWS = {"HC0": 30, "HC1": 30, "HC2": 15}
KNOWN_LAGS = AnyOf(NONE, WholeNumber(0))
# relative differences of weight, residual squares and total up to which rows count as those fitted
WEIGHT_TOLERANCE, SQUARES_TOLERANCE, TOTAL_TOLERANCE = 1e-9, 1e-6, 1e-9
FULL_LEVERAGE = 1e-12  # 1 - h below which a row has leverage 1; 10x larger lets HC2 and HC3 refuse more rows
# least singular value of a root, relative to the largest, beyond rounding; 10x larger leaves more tests undetermined
SINGULAR_ROOT = 1e-13


Design = TypeVar("Design", FittedDesign, FittedLikelihood)
DesignOf = Callable[[int, Fit, bool], FittedDesign]
"""From a fit, with its index, and whether weights are precisions, to the form in which sums over its rows take it."""


@dataclass(frozen=True)
class Covariance:
    """Cov of target k: its root (m, s), the degrees of freedom of F tests, the name of the errors, notes on them.

    `wild` has the draws of p values and intervals that come from no distribution.
    """

    fit: Fit
    k: int
    root: Array
    freedom: float
    errors: str = "classical"
    notes: tuple[str, ...] = ()
    wild: WildBootstrap | None = None

    def along(self, contrasts: Array) -> Array:
        """Return rows b, (q, s), with b b' = C Cov C' for the rows of C (q, 1 + D), intercept first."""
        return np.asarray(coordinates(self.fit, contrasts) @ self.root)

    def std_errors(self) -> Array:
        """Return the standard errors of (w0, w), NaN for an intercept that is not there."""
        scaling = factor_of(self.fit).scaling
        units = np.concatenate([[0], scaling.scale])
        scaled = np.diag(np.exp2(np.clip(units, -1000, 1000)))
        out = np.ldexp(lengths(self.along(scaled)), -np.clip(units, -1000, 1000))
        out[0] = out[0] if scaling.intercept else np.nan
        out[1:][~factor_of(self.fit).alive] = np.nan  # left out
        return np.asarray(out)

    def model_f(self) -> float:
        """Return the F statistic of all slopes being zero: NaN if the covariance has too low a rank."""
        along = self._slopes()
        enough = judges_together(self.errors, len(along), self.freedom)
        return quadratic(self.root[1:], along) / len(along) if len(along) and enough else np.nan

    def _slopes(self) -> Array:
        """Return the slopes in the coordinates, (m - 1,)."""
        factor = factor_of(self.fit)
        slopes = np.ldexp(self.fit.solution.theta[self.k, 1:], factor.scaling.scale)
        basis = factor.basis()
        return np.asarray(np.linalg.lstsq(basis * factor.length[:, None], slopes * factor.length)[0], dtype=np.float64)

    def model_chance(self, f: float, count: float) -> float:
        """Return p of the F statistic of all slopes, `count` of them."""
        if not self.freedom > 0.5 or not count > 0 or np.isnan(f):
            return np.nan
        if self.wild is not None:
            slopes = self._scaled(self._slopes())
            return self.wild.chance(np.eye(1 + len(slopes))[1:], -slopes)
        return float(scipy.special.fdtrc(count, self.freedom, f))

    def chance(self, f: float, contrasts: Array, difference: Array) -> float:
        """Return p of the F statistic of C theta = value; `difference` (q,) is C theta - value."""
        if self.wild is None:
            return float(scipy.special.fdtrc(len(contrasts), self.freedom, f))
        along = coordinates(self.fit, contrasts)
        length = lengths(along)
        return self.wild.chance(along / length[:, None], self._scaled(-difference) / length)

    def by_draws(self, level: float) -> dict[str, Array]:
        """Return p values and ends of intervals of (w0, w) by the draws; nothing where there are none."""
        if self.wild is None:
            return {}
        scaling, theta = factor_of(self.fit).scaling, self.fit.solution.theta[self.k]
        units = np.concatenate([[0], scaling.scale]).astype(np.intp)
        out = {name: np.full(len(theta), np.nan) for name in ("p_value", "lower", "upper")}
        for j in np.flatnonzero(np.isfinite(self.std_errors())):
            along = coordinates(self.fit, np.exp2(np.clip(units[j], -1000, 1000)) * np.eye(len(theta))[[j]])
            one, shift = OneDirection(self.wild, along[0]), int(scaling.target_scale[self.k]) - units[j]
            out["p_value"][j] = one.chance(-float(np.ldexp(theta[j], -shift)))
            out["lower"][j] = theta[j] - np.ldexp(one.reach(level, -1.0), shift)
            out["upper"][j] = theta[j] + np.ldexp(one.reach(level, 1.0), shift)
        return out

    def _scaled(self, values: Array) -> Array:
        """Return values in units of the target in those of the scores."""
        return np.asarray(np.ldexp(values, -int(factor_of(self.fit).scaling.target_scale[self.k])))


def classical(fit: Fit, k: int, sample: Sample) -> Covariance:
    """Return sigma^2 (X'X + P)^-1."""
    freedom = sample.n - float(fit.trace[k])
    sigma = fit.unit[k] * np.sqrt(fit.squares[k] / freedom) if freedom > 0.5 else np.nan
    return Covariance(fit, k, sigma * np.eye(1 + factor_of(fit).rank), freedom)


def factor_of(fit: Fit) -> Factor:
    """Return the factor of a fit, or say why there is none."""
    if fit.factor is None:
        raise SumsMissing(f"no standard errors: {why_no_factor(fit)}")
    return fit.factor


def why_no_factor(fit: Fit) -> str:
    """Return why a fit has no factor, and what to do."""
    if fit.solution.certificate.status is Status.GIVEN:
        return f"{UNKNOWN_ROWS}: fit to the rows"
    return "the solver for wide data keeps no D x D matrix: use fewer columns than rows"


def coordinates(fit: Fit, contrasts: Array) -> Array:
    """Return C A, (q, m): the combinations C theta in coordinates where (X'X + P)^-1 is the identity."""
    factor = factor_of(fit)
    first = contrasts[:, :1]
    constant = first * (factor.scaling.intercept / np.sqrt(factor.scaling.weight))
    return np.hstack([constant, about_mean(factor, contrasts) @ factor.basis()])


def about_mean(factor: Factor, contrasts: Array) -> Array:
    """Return c - c0 mean in scaled coordinates, (q, D): the slopes' part once w0 is counted at the mean of the rows."""
    hi, lo = (part[: factor.scaling.features] for part in factor.scaling.scaled_means)
    first = contrasts[:, :1]
    return np.asarray((np.ldexp(contrasts[:, 1:], -factor.scaling.scale) - first * hi) - first * lo)


def offset(fit: Fit) -> Array:
    """Return mean_t - mean'w - w0, (K,): zero at a solution, up to rounding, and then exactly zero."""
    scaling = factor_of(fit).scaling
    d, theta = scaling.features, fit.solution.theta
    w, mean, mean_t = theta[:, 1:], scaling.mean_hi[:d], scaling.mean_hi[d:]
    off = mean_t - w @ mean - theta[:, 0]
    size = np.abs(mean_t) + np.abs(w) @ np.abs(mean) + np.abs(theta[:, 0])
    return np.asarray(np.where(np.abs(off) <= 16 * EPS * size, 0.0, off))


def estimates(fit: Fit, k: int, contrasts: Array) -> Array:
    """Return C theta, (q,), from raw coefficients or about the mean, whichever cancels less."""
    factor = factor_of(fit)
    scaling, theta = factor.scaling, fit.solution.theta[k]
    centre = scaling.mean_hi[scaling.features + k] - offset(fit)[k]
    about = np.column_stack(
        [contrasts[:, :1] * centre, about_mean(factor, contrasts) * np.ldexp(theta[1:], scaling.scale)]
    )
    raw = contrasts * theta
    less = np.abs(raw).sum(axis=1) <= np.abs(about).sum(axis=1)
    return np.asarray(np.where(less, raw.sum(axis=1), about.sum(axis=1)))


def lengths(rows: Array) -> Array:
    """Return the norms of rows of any magnitude."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    return np.asarray(unit * np.linalg.norm(rows / unit[:, None], axis=1))


def quadratic(root: Array, difference: Array, first: int = 0) -> float:
    """Return d'(root root')^-1 d, or NaN where root has dependent rows.

    With `first` only what all rows have beyond the same of the first ones, without cancellation: the triangle R of the
    rows, L its transpose, has d'(root root')^-1 d = |L^-1 d|^2, and the first rows only the first numbers of L^-1 d.
    """
    length = lengths(root)
    if not ((length > 0) & (length < np.inf)).all() or root.shape[0] > root.shape[1]:
        return np.nan
    if first:  # a term of many, where singular values would take ten times as long
        with one_blas_thread():
            r: Array = np.asarray(np.linalg.qr((root / length[:, None]).T, mode="r"))
        if not np.abs(r.diagonal()).min() > SINGULAR_ROOT:
            return np.nan
        return float((scipy.linalg.solve_triangular(r, difference / length, trans="T")[first:] ** 2).sum())
    u, s, _ = np.linalg.svd(root / length[:, None], full_matrices=False)
    if not s[-1] > SINGULAR_ROOT * s[0]:
        return np.nan
    return float((((difference / length) @ u / s) ** 2).sum())


@dataclass(frozen=True)
class ErrorOptions:
    """Which standard errors are wanted.

    Parameters
    ----------
    errors : see `ErrorKind`.
    groups : labels of the rows, (n,), or two of them, (n, 2), or names of columns of a table, for those of groups.
    lags : how far apart rows may be related, for "HAC"; None for as far as the rows say, see `lagged`.
    distribution : "normal" or "t", which judges single coefficients; None is "t" with groups, and with classical errors
        where the variance of the rows is estimated, else "normal".
    """

    errors: ErrorKind = "classical"
    groups: Any = None
    lags: int | None = None
    distribution: StatisticDistribution | None = None

    def needs_rows(self, X: RowsLike) -> bool:
        """Return whether these errors need the rows; refuse unknown names, and missing rows."""
        ERROR_KIND.check("errors", self.errors)
        if self.distribution is not None:
            STATISTIC_DISTRIBUTION.check("distribution", self.distribution)
        if self.lags is not None:
            KNOWN_LAGS.check("lags", self.lags)
        if self.groups is not None and self.errors not in CLUSTERED:
            raise InvalidParameter(f"groups are for errors='cluster', not for {self.errors!r}")
        if self.distribution is not None and self.errors == "wild":
            raise InvalidParameter("errors='wild' draws the distribution from the groups: leave out distribution=")
        if self.lags is not None and self.errors != "HAC":
            raise InvalidParameter(f"lags are for errors='HAC', not for {self.errors!r}")
        if self.errors == "classical":
            return False
        if X is None:
            raise SumsMissing(
                f"errors={self.errors!r} needs the rows: this model keeps only sums; give X and y again (and "
                "sample_weight, if it was fitted with one)"
            )
        return True

    def refuse_wild(self, what: str) -> None:
        """Refuse the wild bootstrap, which has tests and intervals of coefficients of least squares alone."""
        if self.errors == "wild":
            raise InvalidParameter(f"errors='wild' has no {what}: use 'cluster'")

    def refuse_absorbed(self, source: Source) -> None:
        """Refuse errors that need leverages where effects were absorbed from the rows."""
        if source.absorption is not None and POWERS.get(self.errors, 0.0):
            raise InvalidParameter(
                f"no {self.errors} errors where effects are absorbed: leverages of their levels are not known. Use "
                "'HC1' or 'cluster'"
            )

    def few_rows(self, observations: float, parameters: float) -> list[str]:
        """Return the line of a table about too few rows for these errors."""
        if observations >= FEW_ROWS.get(self.errors, 0) * parameters:
            return []
        what = f"{self.errors} errors of {observations:g} rows and {parameters:g} coefficients"
        return [f"{what} are too small: use errors='HC3'"]

    def tempered(self, design: Design, mean: float) -> Design:
        """Return a fit with the power of these errors; `mean` is that of the leverages."""
        return design._replace(power=POWERS.get(self.errors, 0.0), typical=mean if self.errors == "HC4" else None)

    def freedom(self, freedom: float, estimated: bool) -> float:
        """Return the degrees of freedom of what judges single coefficients, infinity for the normal distribution.

        `freedom` are those of Student's t; `estimated` says whether the variance of the rows is.
        """
        exact = self.errors in CLUSTERED or (self.errors == "classical" and estimated)
        return freedom if self.distribution == "t" or (self.distribution is None and exact) else np.inf

    def describe(self, freedom: float) -> str:
        """Return the line that a table says about robust errors."""
        by = f"t, p and intervals by Student's t with {degrees(freedom)} degrees of freedom"
        by = by if np.isfinite(freedom) else "z, p and intervals by the normal distribution"
        return f"{self.errors} standard errors; {by}"


CLASSICAL = ErrorOptions()


@dataclass(frozen=True)
class JudgedRegression:
    """The fits of a regression with their standard errors, computed in one read of the rows.

    Parameters
    ----------
    fits : one of all targets, or one for each.
    sample : how many observations the rows stand for.
    options : which standard errors.
    robust : the covariance of each target, of the model without dependent columns; None of classical errors.
    """

    fits: Sequence[Fit]
    sample: Sample
    options: ErrorOptions = CLASSICAL
    robust: Sequence[Covariance] | None = None

    def covariances(self) -> Sequence[Covariance]:
        """Return the covariance of each target, of the model without dependent columns."""
        if self.robust is not None:
            return self.robust
        kept = [fit.without_dependent() for fit in self.fits]
        return [classical(fit, k, self.sample) for fit in kept for k in range(len(fit.squares))]

    @property
    def freedom(self) -> float:
        """Degrees of freedom of what judges single coefficients, infinity for the normal distribution."""
        freedom = self.sample.n - float(self.fits[0].trace[0]) if self.robust is None else self.robust[0].freedom
        return self.options.freedom(freedom, True)

    def describe(self) -> list[str]:
        """Return the lines that a table says about robust errors; none about classical ones."""
        if self.robust is None:
            return []
        notes = dict.fromkeys(note for one in self.robust for note in one.notes)
        if self.options.errors == "wild":
            return list(notes)
        return [self.options.describe(self.freedom), *notes]


def judge_regression(
    fits: Sequence[Fit], sources: Sequence[Source] | None, sample: Sample, options: ErrorOptions, design_of: DesignOf
) -> JudgedRegression:
    """Return fits with their standard errors; robust ones read the rows of each fit, classical ones need none.

    `design_of` gives a fit, by its index, in the form in which sums over its rows take it: `lens` of least squares.
    """
    if sources is None:
        return JudgedRegression(fits, sample, options)
    found: list[Covariance] = []
    for k, (fit, own) in enumerate(zip(fits, sources, strict=True)):
        kept = fit.without_dependent()
        found += covariances(kept, own, sample, options, design_of(k, kept, sample.precision))
    return JudgedRegression(fits, sample, options, found)


def covariances(
    fit: Fit, source: Source, sample: Sample, options: ErrorOptions, design: FittedDesign
) -> list[Covariance]:
    """Return the robust covariance of each target of a fit, from its rows, in the form in which sums take it."""
    targets, errors = len(fit.squares), options.errors
    if any(sample.n - trace <= 0.5 for trace in fit.trace):
        raise InvalidData(
            f"no robust errors: {sample.n:g} observations leave no residuals to {fit.trace[0]:g} parameters"
        )
    options.refuse_absorbed(source)
    check_weight(source, fit, sample)
    if errors in CLUSTERED:
        return _clustered(fit, source, sample, options, design)
    notes: Sequence[str] = ()
    through = options.tempered(design, float(fit.trace[0]) / sample.n)
    if errors == "HAC":
        serial = lagged(source, through, options.lags, targets)
        meat, squares, notes = serial.meat, serial.squares, serial.notes(options.lags)
    else:
        scores = source.sum(Scores, through, size=1 + factor_of(fit).rank)
        refuse_full_leverage(source, through, scores, errors)
        meat, squares = scores.meat, scores.squares
        notes = options.few_rows(sample.n, float(fit.trace[0]))
    check_squares(source, fit, squares)
    out = []
    for k in range(targets):
        parameters = float(fit.trace[k])
        root = _root(fit, k, meat[k], small_sample_factor(errors, sample.n, parameters))
        out.append(Covariance(fit, k, root, sample.n - parameters, errors, tuple(notes)))
    return out


def lens(fit: Fit, precision: bool) -> FittedDesign:
    """Return a fit in the form in which sums over its rows take it."""
    factor = factor_of(fit)
    scaling = factor.scaling
    down = -scaling.target_scale[:, None]
    return FittedDesign(
        mean_hi=scaling.mean_hi,
        mean_lo=scaling.mean_lo,
        exponent=scaling.exponent,
        rotation=factor.basis(),
        slopes=np.ldexp(fit.solution.theta[:, 1:], scaling.scale + down),
        offset=np.ldexp(offset(fit), down[:, 0]),
        constant=scaling.intercept / float(np.sqrt(scaling.weight)),
        precision=precision,
    )


def check_weight(source: Source, fit: Fit, sample: Sample) -> None:
    """Refuse rows whose number or weight is not that of the rows fitted."""
    found = weight_totals(source)
    if abs(found.weight - fit.weight) > WEIGHT_TOLERANCE * fit.weight:
        raise InvalidData(
            f"these are not the rows that were fitted: their weight is {found.weight:g}, the model holds "
            f"{fit.weight:g}. Give all rows again, with the same sample_weight."
        )
    if sample.precision and found.rows != sample.n:
        raise InvalidData(
            f"these are not the rows that were fitted: {found.rows} have a positive weight, the model holds "
            f"{sample.n:g}. Give all rows again."
        )


def check_squares(source: Source, fit: Fit, squares: Array) -> None:
    """Refuse rows that are not finite, or whose residuals (sums of squares, scaled) are not those of the fit."""
    if not np.isfinite(squares).all():
        source.refuse_nonfinite()
    if (np.abs(squares - fit.squares) > SQUARES_TOLERANCE * fit.squares + TOTAL_TOLERANCE * fit.total).any():
        raise InvalidData(
            "these are not the rows that were fitted: their squared residuals add up to "
            f"{(squares * fit.unit * fit.unit).sum():.6g}, the model's to {fit.rss.sum():.6g}. "
            "Give the same X and y again."
        )


def _clustered(
    fit: Fit, source: Source, sample: Sample, options: ErrorOptions, design: FittedDesign
) -> list[Covariance]:
    size = 1 + factor_of(fit).rank
    if options.errors == "wild" and (fit.projected or fit.penalty.any()):
        options.refuse_wild("tests with endogenous columns" if fit.projected else "tests of a penalised fit")
    found, joined = read_scores(source, design, options.errors, options.groups, size=size)
    check_squares(source, fit, found.squares)
    nested = nested_freedom(source, joined[:2]) if found.kind == "CR1" else 0.0
    bootstrapped = len(found.groups) == 1 and found.groups[0] > 2 and not (fit.projected or fit.penalty.any())
    remedy = "; errors='wild' bootstraps the groups" if bootstrapped else ""
    out = []
    for k in range(len(fit.squares)):
        root, notes = found.root(k, found.factor(sample.n, float(fit.trace[k]) - nested))
        root = np.ldexp(root, factor_of(fit).scaling.target_scale[k])
        if found.grams is None:
            out.append(Covariance(fit, k, root, found.freedom, options.errors, (*found.notes(remedy), *notes)))
            continue
        wild = WildBootstrap.of(found.scores[0][:, k], found.grams)
        out.append(Covariance(fit, k, root, found.freedom, options.errors, (wild.describe(),), wild))
    return out


def _root(fit: Fit, k: int, meat: Array, scale: float) -> Array:
    """Return a root of scale times the meat in raw units of the target."""
    return np.asarray(np.ldexp(root_of(meat, scale), factor_of(fit).scaling.target_scale[k]))


def refuse_full_leverage(source: Source, design: Design, scores: Scores, errors: str) -> None:
    """Refuse a row of leverage 1 where its residual is divided by 1 - h."""
    if not design.power or scores.rest[0] > FULL_LEVERAGE:
        return
    full = source.map(partial(_full_leverage, design))
    row = int(full[full[:, 1].argmin(), 0])
    raise InvalidData(
        f"row {row} has leverage 1: the fit passes through it whatever its target, and {errors} divides by zero there. "
        "Use errors='HC0' or 'HC1', or drop the column that only this row has."
    )


def _full_leverage(design: Design, block: Block) -> Array:
    """Return the index of the row of a block with the smallest 1 - h, and that, (1, 2); none of no rows."""
    if block.rows == 0:
        return np.empty((0, 2))
    rest = 1.0 - host(design.read(block.gathered()).leverage)
    row = int(rest.argmin())
    return np.array([[block.first_row + row, rest[row]]])
