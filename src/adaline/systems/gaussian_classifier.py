"""Gaussian classifiers: Bayes' rule with normal class densities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline import enclosures
from adaline.arrays import (
    AnyArray,
    Array,
    RowsLike,
    TargetsLike,
    WeightsLike,
    as_dense,
    host,
    is_device,
    is_sparse,
    like_rows,
    namespace,
    to_device_of,
)
from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import check_is_fitted, has_classes, is_linear
from adaline.forms import FiniteNumber, Floats, Shares
from adaline.input import by_blocks, generator
from adaline.input.basis import width_of
from adaline.input.open import refuse_overflow
from adaline.parameters import COUNT, NONE, SEED, AnyOf, Number, Numbers, OneOf, UsedWith
from adaline.penalties import no_penalty
from adaline.results import Certificate, Status
from adaline.solvers.clusters.components import CovarianceForm, in_raw_units
from adaline.solvers.clusters.mixture import MixtureOptions, fit_mixture
from adaline.solvers.least_squares.direct import gram_name
from adaline.solvers.least_squares.discriminant import discriminant, shrunk
from adaline.solvers.least_squares.factor import Factor, gram_factor, varying
from adaline.solvers.least_squares.fit import certificate, judge
from adaline.sources import Source
from adaline.sources.views import of_class
from adaline.state import FitSettings, FittedAttribute, FittedWith
from adaline.sums import ClassMoments, Components, Moments
from adaline.sums.mixture import log_joint, log_total
from adaline.systems.families.closed_form import (
    ClassDensities,
    ClosedFormClassifier,
    ClosedFormState,
    OpenedClasses,
    varying_between_classes_alone,
)
from adaline.systems.families.named import named_system
from adaline.wording import counted

if TYPE_CHECKING:
    from adaline.enclosures.enclosure import Enclosure

ClassCovariance = Literal["shared", "tied", "full", "diag", "spherical", "identity"]
COVARIANCES: dict[ClassCovariance, CovarianceForm] = {
    "shared": CovarianceForm.TIED,
    "tied": CovarianceForm.TIED,
    "full": CovarianceForm.FULL,
    "diag": CovarianceForm.DIAG,
    "spherical": CovarianceForm.SPHERICAL,
    "identity": CovarianceForm.SPHERICAL,
}
"""Values of `covariance`, and the kind of covariance that each means for the components of a mixture."""

CACHED_ROWS = 1024  # rows whose distances are computed at a time, in the cache; doubling it may leave the cache
DEVICE_NUMBERS = 2**26  # the same on a device, in numbers of X; doubling it takes another gigabyte there
MILD = 500  # exponent up to which one power of two scales a column without overflow; beyond, two do
FLOOR = 1e-6  # share of a class's variances that is added to those of its mixture's components
TOL, MOST_STEPS = 1e-6, 300  # of EM


@dataclass(frozen=True)
class GaussianSettings(FitSettings):
    """The settings that Gaussian classifiers are read with."""

    covariance: ClassCovariance
    priors: Any
    shrinkage: float


@dataclass(frozen=True, kw_only=True, eq=False)
class GaussianState(ClosedFormState):
    """What normal densities of classes have learned; until two classes have rows, not all of it.

    Parameters
    ----------
    priors, means, covariance : as `GaussianClassifier` says.
    densities : one a class.
    mixtures, weights : or several a class, and their shares.
    beta, gamma : the logit of two classes.
    """

    priors: Annotated[Array, Shares("C")] | None = None
    means: Annotated[Array, Floats(". D", ". . D")] | None = None
    covariance: float | Annotated[Array, Floats(".", ". .", ". . .", ". . . .")] | None = None
    densities: ClassDensities | None = None
    mixtures: list[Components] | None = None
    weights: Annotated[Array, Floats(". .")] | None = None
    beta: Annotated[Array, Floats(".")] | None = None
    gamma: FiniteNumber | None = None


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class GaussianClassifier(ClosedFormClassifier):
    """Bayes' rule with a normal density for each class: maximises log p(c_k) + log N(x; mean_k, Sigma_k).

    Means, covariances (divisor N, maximum likelihood) and priors are the estimates (5.33)-(5.36), from one pass over
    the rows. With a shared covariance the boundaries are hyperplanes, and with two classes the log odds are
    gamma + beta'x of (5.39)-(5.41).

    Parameters
    ----------
    covariance : "shared" or "tied", "full", "diag", "spherical" or "identity"
        One covariance for all classes (linear; the two words mean the same), one for each class (quadratic), variances
        for each class (naive Bayes), one variance for each class, as scikit-learn and GaussianMixture call them; or one
        variance for all columns and classes (linear: the nearest mean, up to the priors).
    priors : array (K,) or None
        Prior probabilities in the order of classes_; None takes the class frequencies N_k / N.
    shrinkage : number from 0 to 1
        Sigma becomes (1 - shrinkage) Sigma + shrinkage diag(Sigma), in which units do not matter.
        A class whose own covariance is singular, as it has no more rows than columns or a constant column, is given
        D + 1 more rows of the covariance within all classes together; the certificate says so.
    components : int
        Normal densities for each class. More than one: a mixture a class, fitted by EM to all its rows (one that
        cannot be updated, merge or forget), with one covariance for all components of a class, or one for each, or
        variances, or one variance, as `covariance` says. A millionth of the class's variances is added to variances.
    random_state : int, generator or None
        Where the starts of mixtures are drawn from.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    classes_, priors_, means_ : labels, priors (K,), class means (K, D); (K, components, D) of mixtures.
    covariance_ : (D, D), (K, D, D), (K, D), (K,) or a number, as `covariance` says; of mixtures (K, components, D, D),
        or (K, components, D) where they are not matrices. weights_ : of the components of mixtures, (K, components).
    coef_, intercept_ : hyperplanes where linear: (1, D) and (1,) for two classes, C1 being classes_[1]; else (K, D)
        and (K,), discriminants taken about the overall mean.
    gamma_, beta_ : the logit of two classes, (5.40) and (5.41), where linear.
    certificate_ : digits of the discriminants, condition and rank of the (worst) covariance.

    Examples
    --------
    >>> from adaline import GaussianClassifier, datasets
    >>> data = datasets.load("penguins", target="species")
    >>> model = GaussianClassifier().fit(data.X, data.y)
    >>> bool(model.score(data.X, data.y) > 0.98)
    True

    References
    ----------
    Lecture S0, section 5.8, (5.31)-(5.41); S2 for a covariance per class; S3 for Bayes' decision with mixtures. One
    pass; mixtures take one more for each step of EM.
    """

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"covariance": "full"}, {"covariance": "diag"})
    used_with: ClassVar[UsedWith] = {
        "shrinkage": {"covariance": OneOf(*(name for name in COVARIANCES if name != "identity"))}
    }
    covariance: Annotated[ClassCovariance, OneOf(*COVARIANCES)] = "shared"
    priors: Annotated[Any, AnyOf(NONE, Numbers("probabilities in the order of classes_", (1,)))] = None
    shrinkage: Annotated[float, Number(0, 1)] = 0.0
    components: Annotated[int, COUNT] = 1
    random_state: Annotated[Any, SEED] = 0
    basis: Any = None

    learns = GaussianState
    _fitted_with = FittedWith(GaussianSettings)
    priors_ = FittedAttribute[Array]()
    means_ = FittedAttribute[Array]()
    covariance_ = FittedAttribute[float | Array]()
    beta_ = FittedAttribute[Array]()
    gamma_ = FittedAttribute[float]()
    weights_ = FittedAttribute[Array]()
    _densities = FittedAttribute[ClassDensities]()
    _mixtures = FittedAttribute[list[Components]]()

    @by_blocks
    def predict_log_proba(self, X: RowsLike) -> Array:
        """Return log posteriors, (n, K)."""
        check_is_fitted(self, "classes_")
        linear = is_linear(self) and np.isfinite(host(self.intercept_)).all()
        if linear and len(self.classes_) == 2:
            odds = host(self.decision_function(X))  # the logarithm of p(c_1 | x) / p(c_0 | x), linear in x
            return like_rows(X, -np.logaddexp(0.0, np.column_stack([odds, -odds])))
        joint = host(self.decision_function(X)) if linear else self._log_densities(X) + self._log_priors()
        if np.count_nonzero(self.priors_) == 1:  # rows of one class only: nothing else can be
            return like_rows(X, np.tile(self._log_priors(), (len(joint), 1)))
        return like_rows(X, joint - scipy.special.logsumexp(joint, axis=1, keepdims=True))

    def predict_proba(self, X: RowsLike) -> Array:
        """Return posteriors p(c_k | x) of (5.35), (n, K)."""
        logarithms = self.predict_log_proba(X)
        shares: Array = namespace(logarithms).exp(logarithms)
        return shares

    @by_blocks
    def log_likelihood(self, X: RowsLike) -> Array:
        """Return log densities log p(x | c_k) of (5.31), (n, K); singular covariances by pseudo-inverse."""
        return like_rows(X, self._log_densities(X))

    @by_blocks
    def mahalanobis(self, X: RowsLike) -> Array:
        """Return (x - mean_k)' Sigma_k^-1 (x - mean_k), the squared length ||x - mean_k||^2 of (5.38), (n, K)."""
        check_is_fitted(self, "classes_")
        if hasattr(self, "_mixtures"):
            raise InvalidParameter("a mixture has no one distance to its class: use log_likelihood")
        return like_rows(X, self._distances(X))

    def _log_densities(self, X: RowsLike) -> Array:
        """Return log densities (n, K), on the host."""
        check_is_fitted(self, "classes_")
        if hasattr(self, "_mixtures"):
            return refuse_overflow(densities(self._read(X), self._mixtures))
        known = self._densities.log_determinants + width_of(self) * np.log(2 * np.pi)
        return np.asarray(-0.5 * (self._distances(X) + known))

    def _distances(self, X: RowsLike) -> Array:
        """Return squared distances (n, K), on the host."""
        x = as_dense(self._read(X))
        out = np.empty((x.shape[0], len(self.classes_)))
        found = self._densities
        for k, factor in enumerate(found.factors):
            if factor is None:  # a class without rows is infinitely far
                out[:, k] = np.inf
                continue
            scaling, half = factor.scaling, factor.scaling.scale // 2
            powers = [np.exp2(-half), np.exp2(half - scaling.scale)]  # one alone may overflow
            if (np.abs(half) < MILD).all():
                powers = [powers[0] * powers[1]]
            squares = partial(_squares_there if is_device(x) else _squares, factor, found.hi[k], found.lo[k], powers)
            step = max(DEVICE_NUMBERS // x.shape[1], 1) if is_device(x) else CACHED_ROWS
            for first in range(0, len(out), step):
                last = min(first + step, len(out))
                out[first:last, k] = squares(x[first:last, :]) * scaling.weight
        refuse_overflow(out[:, [factor is not None for factor in found.factors]])
        return out

    @by_blocks
    def decision_function(self, X: RowsLike) -> Array:
        """Return log odds (n,) of classes_[1] for two classes; else discriminants (n, K)."""
        if is_linear(self) or not has_classes(self):
            return super().decision_function(X)
        scores = self._log_densities(X) + self._log_priors()
        return like_rows(X, scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores)

    def _enclosed(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> Enclosure:
        settings = self._fitted_with
        if settings.covariance not in ("shared", "tied") or settings.shrinkage or not hasattr(self, "coef_"):
            raise InvalidParameter(
                "enclosures are of covariance='shared' with shrinkage=0, and of one component a class"
            )
        given = None if settings.priors is None else self.priors_
        return self._enclose_discriminants(
            X, y, sample_weight, enclosures.Discrimination(enclosures.ClassPriors(given, True))
        )

    def _check_together(self) -> None:
        if self.components > 1 and self.shrinkage:
            raise InvalidParameter("shrinkage is for one component a class: set shrinkage=0 or components=1")

    def _sums_suffice(self) -> bool:
        return self.components == 1 and super()._sums_suffice()

    def _linear(self) -> bool:
        return self.covariance in ("shared", "tied", "identity")

    def _solve(self, rows: OpenedClasses, sums: ClassMoments) -> GaussianState:
        priors = self._read_priors(sums.weights)
        if self.components > 1:
            return self._solve_mixtures(rows, sums, priors)
        return self._solve_linear(rows, sums, priors) if self._linear() else self._solve_quadratic(rows, sums, priors)

    def _constant_within_classes(self, rows: OpenedClasses, total: ClassMoments) -> list[str]:
        measured = self.components == 1 and COVARIANCES[self.covariance] is not CovarianceForm.SPHERICAL
        return varying_between_classes_alone(rows, total) if measured else []

    def _solve_linear(self, rows: OpenedClasses, sums: ClassMoments, priors: Array) -> GaussianState:
        within = sums.within()
        shape = spherical(within) if self.covariance == "identity" else shrunk(within, self.shrinkage)
        solved = discriminant(shape, sums)
        n = solved.within.weight
        k, log_volume = len(priors), log_determinant(solved.factor)
        densities = ClassDensities(*sums.means(), [solved.factor] * k, np.full(k, log_volume))
        scale = np.exp2(solved.within.exponent)
        covariance = solved.within.second * np.outer(scale, scale) / n
        coef = solved.raw(solved.slopes)
        half = 0.5 * (solved.away * solved.slopes).sum(axis=1)
        level = np.log(priors) - half
        energy = 0.5 * n * (log_volume + sums.features * np.log(2 * np.pi) + solved.factor.rank)
        found = GaussianState(
            **rows.with_sums(sums),
            fitted_with=self._settings_of_fit(),
            certificate=replace(solved.certificate, objective=float(energy - sums.weights @ np.log(priors))),
            coef=coef,
            intercept=level - coef @ solved.mean,
            means=densities.hi,
            priors=priors,
            covariance=float(covariance[0, 0]) if self.covariance == "identity" else covariance,
            densities=densities,
        )
        if k > 2:
            return found
        beta = coef[1] - coef[0]
        gamma = np.array([level[1] - level[0] - solved.mean @ beta])
        return replace(found, coef=beta[None, :], intercept=gamma, beta=beta, gamma=float(gamma[0]))

    def _solve_quadratic(self, rows: OpenedClasses, sums: ClassMoments, priors: Array) -> GaussianState:
        shaped: Any = {"diag": diagonal, "spherical": spherical}.get(self.covariance, lambda part: part)
        parts = [shrunk(shaped(part), self.shrinkage) for part in sums.parts]
        solved = [gram_factor(part, True, no_penalty(sums.features)) for part in parts]
        pooled = shrunk(shaped(sums.within()), self.shrinkage)
        rank = gram_factor(pooled, True, no_penalty(sums.features))[0].rank
        singular = [k for k, (factor, _) in enumerate(solved) if factor.rank < rank]
        for k in singular:
            parts[k] = with_pooled(parts[k], pooled)
            solved[k] = gram_factor(parts[k], True, no_penalty(sums.features))
        volumes = np.array([log_determinant(factor) for factor, _ in solved])
        densities = ClassDensities(*sums.means(), [factor for factor, _ in solved], volumes)
        covariances = [p.second * np.outer(np.exp2(p.exponent), np.exp2(p.exponent)) / p.weight for p in parts]
        own: Any = {"diag": np.diag, "spherical": lambda c: c[0, 0]}.get(self.covariance, np.asarray)
        worst = max(
            (factor for factor, _ in solved), key=lambda factor: (sums.features - factor.rank, factor.condition)
        )
        noise = max(float(relative.max()) for _, relative in solved)
        digits = max(-np.log10(worst.condition**2 * noise * sums.features), 0.0) if worst.decided else 0.0
        ranks = np.array([factor.rank for factor, _ in solved])
        constant = volumes + ranks + sums.features * np.log(2 * np.pi)
        proof = certificate(
            status=judge(worst, digits, int(varying(sums.total().about_mean()).sum())),
            objective=float(0.5 * sums.weights @ constant - sums.weights @ np.log(priors)),
            digits=float(digits),
            condition=worst.condition,
            rank=worst.rank,
            passes=1,
            solver=gram_name(worst) + " on class moments",
        )
        found = GaussianState(
            **rows.with_sums(sums),
            fitted_with=self._settings_of_fit(),
            certificate=proof,
            means=densities.hi,
            priors=priors,
            covariance=np.stack([own(covariance) for covariance in covariances]),
            densities=densities,
        )
        if not singular:
            return found
        fewest, most = (find(sums.parts[k].rows for k in singular) for find in (min, max))
        few = counted(most) if fewest == most else f"{fewest:,} to {counted(most)}"
        advice = (
            f"the covariance of {counted(len(singular), 'class')} ({few}) is singular and was averaged with "
            "that of all classes: use more rows of such classes, fewer columns, or covariance='shared'"
        )
        return replace(found, certificate=replace(proof, status=Status.RANK_DEFICIENT, advice=advice))

    def _solve_mixtures(self, rows: OpenedClasses, sums: ClassMoments, priors: Array) -> GaussianState:
        source = rows.source
        if source is None:
            raise InvalidParameter(
                "mixtures (components > 1) are fitted to all rows of every class in one go: use fit, or components=1"
            )
        found = class_mixtures(
            source, sums, COVARIANCES[self.covariance], self.components, generator(self.random_state)
        )
        return GaussianState(
            **rows.with_sums(sums),
            fitted_with=self._settings_of_fit(),
            certificate=found.certificate(float(sums.weights @ np.log(priors)), source),
            means=np.stack([one.means for one in found.components]),
            priors=priors,
            covariance=found.covariances,
            mixtures=found.components,
            weights=np.exp(np.stack([one.log_weights for one in found.components])),
        )

    def _log_priors(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.priors_))

    def _spread_out(self, solved: ClosedFormState, total: ClassMoments, present: NDArray[np.intp]) -> GaussianState:
        if self._linear() or len(present) < 2:
            solved = super()._spread_out(solved, total, present)
        assert isinstance(solved, GaussianState)
        k, d = len(total.parts), total.features
        factors: list[Factor | None] = [None] * k
        priors, volumes = np.zeros(k), np.zeros(k)
        hi, lo = np.full((k, d), np.nan), np.zeros((k, d))
        if len(present) == 1:
            priors[present] = 1.0
        else:
            known = solved.densities
            assert known is not None
            for index, factor in zip(present, known.factors, strict=True):
                factors[index] = factor
            priors[present], volumes[present] = solved.priors, known.log_determinants
            hi[present], lo[present] = known.hi, known.lo
        return replace(solved, priors=priors, means=hi, densities=ClassDensities(hi, lo, factors, volumes))

    def _read_priors(self, weights: Array) -> Array:
        if self.priors is None:
            return np.asarray(weights / weights.sum())
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != weights.shape or not (priors > 0).all() or abs(priors.sum() - 1) > 1e-9:
            raise InvalidParameter(
                f"priors must be {len(weights)} positive probabilities that add up to 1, in the order of classes_"
            )
        return priors


def diagonal(moments: Moments) -> Moments:
    """Return the scatter with variances alone."""
    out = moments.copy()
    out.second[:] = np.diag(out.second.diagonal())
    return out


def spherical(within: Moments) -> Moments:
    """Return the scatter with one variance for all columns, in raw units."""
    out = within.copy()
    size = np.exp2(2 * (out.exponent - out.exponent.max()))
    level = float((out.second.diagonal() * size).mean())
    out.second[:] = np.diag(level / size)
    out.noise[:] = float((out.noise * size).mean()) / size
    return out


def with_pooled(part: Moments, pooled: Moments) -> Moments:
    """Return the scatter of a class as if D + 1 more rows had the covariance of all classes.

        Sigma = (S_k + (D + 1) S / N) / (N_k + D + 1),   S the scatter within classes, of N rows

    This is the posterior mode under an inverse Wishart prior about the pooled covariance; units do not matter.
    """
    out, more = pooled.copy(), part.shape.features + 1
    e = (part.exponent - pooled.exponent).astype(np.int64)
    share = part.weight / (part.weight + more)
    own, other = share, (1.0 - share) * part.weight / pooled.weight
    out.second[:] = own * np.ldexp(part.second, e[:, None] + e) + other * pooled.second
    out.noise[:] = own * np.ldexp(part.noise, 2 * e) + other * pooled.noise
    out.buffer[:2] = part.buffer[:2]
    return out


def log_determinant(factor: Factor) -> float:
    """Return ln |Sigma|, Sigma = S / N, in raw units; of the directions kept where it is singular."""
    return factor.log_determinant() - int(factor.alive.sum()) * float(np.log(factor.scaling.weight))


class ClassMixtures(NamedTuple):
    """The mixtures of all classes in raw units, their covariances, log-likelihood of the rows, and whether EM ended."""

    components: list[Components]
    covariances: Array
    value: float
    converged: bool

    def certificate(self, log_priors: float, source: Source) -> Certificate:
        """Return what is known of the fit: a local optimum of each class."""
        return certificate(
            status=Status.SOLVED if self.converged else Status.NOT_CONVERGED,
            objective=-(self.value + log_priors),
            rank=source.shape.features,
            passes=source.reads[0],
            solver="EM for each class",
        )


def class_mixtures(
    source: Source, sums: ClassMoments, kind: CovarianceForm, components: int, draw: np.random.Generator
) -> ClassMixtures:
    """Fit a mixture to the rows of every class, whose moments give the floor of its variances."""
    found = []
    overall = _variances(sums.total())
    for k, part in enumerate(sums.parts):
        variance = _variances(part)
        floor = FLOOR * np.where(variance > 0, variance, np.where(overall > 0, overall, 1.0))
        plan = MixtureOptions(components, kind, floor, TOL, MOST_STEPS)
        try:
            found.append(fit_mixture(of_class(source, k, len(sums.parts)), plan, draw))
        except InvalidData as error:
            raise InvalidData(f"class {k}: {error}") from None
    mixtures = [in_raw_units(one.mixture) for one in found]
    return ClassMixtures(
        [one.components for one in mixtures],
        np.stack([one.covariances for one in mixtures]),
        float(sum(w * one.values[-1] for w, one in zip(sums.weights, found, strict=True))),
        all(one.converged for one in found),
    )


def _squares(factor: Factor, hi: Array, lo: Array, powers: list[Array], x: Array) -> Array:
    """Return the squared lengths of R^-T (x - hi - lo) of rows, each times some powers of two, (n,)."""
    rows = x - hi
    rows -= lo
    for power in powers:
        rows *= power
    rows = factor.half(rows)
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def _squares_there(factor: Factor, hi: Array, lo: Array, powers: list[Array], x: AnyArray) -> Array:
    """Return the same of rows on a device, where R^-1 is sent; the lengths are on the host."""
    xp = namespace(x)
    rows = xp.astype(x, xp.float64) - to_device_of(x, hi) - to_device_of(x, lo)
    for power in powers:
        rows = rows * to_device_of(x, power)
    rows = xp.matmul(rows, to_device_of(x, factor.half(np.eye(len(hi)))))
    return host(xp.sum(rows * rows, axis=1))


def _variances(part: Moments) -> Array:
    return np.asarray(np.exp2(2 * part.exponent) * part.second.diagonal() / part.weight)


def densities(x: AnyArray, mixtures: list[Components]) -> Array:
    """Return ln p(x | c_k) of rows, (n, K)."""
    x = x.toarray() if is_sparse(x) else host(x)
    return np.concatenate([log_total(log_joint(x, one)) for one in mixtures], axis=1)
