"""Fisher's linear discriminant: the direction that separates class means most, for its spread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from adaline import enclosures
from adaline.arrays import Array, RowsLike, TargetsLike, WeightsLike, host, is_device, like_rows, to_device_of
from adaline.errors import InvalidData, InvalidParameter
from adaline.estimator import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from adaline.fitted import check_is_fitted
from adaline.forms import Count, Finite, Floats
from adaline.input import by_blocks
from adaline.input.open import refuse_overflow
from adaline.parameters import COUNT, NONE, AnyOf, Number, one_of
from adaline.solvers.least_squares.discriminant import Discriminant, discriminant
from adaline.solvers.least_squares.factor import EPS, Factor
from adaline.state import FitSettings, FittedAttribute, FittedWith
from adaline.sums import ClassMoments
from adaline.systems.families.closed_form import (
    ClosedFormClassifier,
    ClosedFormState,
    OpenedClasses,
    varying_between_classes_alone,
)
from adaline.systems.families.named import named_system

if TYPE_CHECKING:
    from adaline.enclosures.enclosure import Enclosure

Scatter = Literal["within", "identity"]
ThresholdRule = Literal["middle", "prior"]
EQUAL = "the means of the classes are equal, so that no direction separates them: use another system, or a basis"


@dataclass(frozen=True)
class FisherSettings(FitSettings):
    """The settings that Fisher's discriminant is read with."""

    covariance: Scatter
    threshold: float | ThresholdRule


@dataclass(frozen=True, kw_only=True, eq=False)
class FisherState(ClosedFormState):
    """What Fisher's discriminant has learned; until two classes have rows, there are no directions.

    Parameters
    ----------
    means : of the classes, (K, D).
    mean : of all rows, (D,), about which rows are projected.
    directions, n_features_out : (r, D), and their number.
    criterion, threshold : as `FisherDiscriminant` says.
    """

    means: Annotated[Array, Floats(". D")] | None = None
    mean: Annotated[Array, Finite("D")] | None = None
    directions: Annotated[Array, Finite("M D")] | None = None
    n_features_out: Count | None = None
    criterion: float | Annotated[Array, Floats(".")] | None = None
    threshold: float | None = None


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class FisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClosedFormClassifier):
    """Maximises J(w) = w'S_B w / w'S_W w, the separation of class means along w over the spread within classes.

    Two classes: w = Sigma^-1 (m_1 - m_0), scaled so that w' Sigma w = 1 with Sigma = S_W / N, which makes it free of
    units; classes_[1] is predicted beyond the threshold. K classes: `directions_` are the leading generalised
    eigenvectors, scaled alike, and rows go to the nearest class mean among them.

    Parameters
    ----------
    covariance : "within" or "identity"
        "identity" is the lecture's first idea: w along the difference of the means (unit length), whatever the spread.
    threshold : "middle", "prior" or number
        Two classes: where the projection is cut. "middle": halfway between the projected means. "prior": where the
        shared-covariance Gaussian classifier cuts, counting class frequencies. K classes: "middle" and "prior".
    components : int or None
        Most directions for K classes; None is as many as the class means span, at most min(K - 1, D).
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    classes_, means_ : labels and class means.
    coef_, intercept_ : two classes: w (1, D) and minus the threshold (1,); K classes: the K discriminants.
    threshold_ : where w'x is cut, for two classes.
    directions_ : (r, D) rows w along which class means differ; `transform` projects on them about the overall mean.
    criterion_ : J(w) with S_B = (m_1 - m_0)(m_1 - m_0)' and scatters as sums, for two classes; (r,) generalised
        eigenvalues of the between and within scatter for K classes; infinite where classes have no spread along w.
    certificate_ : digits of the directions, condition and rank of the within scatter.

    Examples
    --------
    >>> from adaline import FisherDiscriminant, datasets
    >>> data = datasets.load("penguins", target="species")
    >>> model = FisherDiscriminant().fit(data.X, data.y)
    >>> model.transform(data.X).shape
    (333, 2)

    References
    ----------
    Lecture S2, Fisher's linear discriminant. One pass over the rows.
    """

    covariance: Annotated[Scatter, one_of(Scatter)] = "within"
    threshold: Annotated[float | ThresholdRule, AnyOf(one_of(ThresholdRule), Number())] = "middle"
    components: Annotated[int | None, AnyOf(NONE, COUNT)] = None
    basis: Any = None

    learns = FisherState
    _fitted_with = FittedWith(FisherSettings)
    means_ = FittedAttribute[Array]()
    criterion_ = FittedAttribute[float | Array]()
    directions_ = FittedAttribute[Array]()
    threshold_ = FittedAttribute[float]()
    _mean = FittedAttribute[Array]()
    _n_features_out = FittedAttribute[int]()

    @by_blocks
    def transform(self, X: RowsLike) -> Array:
        """Return the projections of the rows, about the overall mean, on the directions, (n, r)."""
        check_is_fitted(self, "classes_")
        if not hasattr(self, "directions_"):
            raise InvalidData("there are no directions yet: only one class has rows with a weight")
        x = self._read(X)
        directions = to_device_of(x, self.directions_.T.copy()) if is_device(x) else self.directions_.T
        return like_rows(X, refuse_overflow(host(x @ directions)) - self.directions_ @ self._mean)

    def fit_transform(  # type: ignore[override]
        self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None
    ) -> Array:
        """Fit, then return the projections of the same rows."""
        return self.fit(X, y, sample_weight).transform(X)

    def _enclosed(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> Enclosure:
        settings, classes = self._fitted_with, len(self.classes_)
        if settings.covariance != "within" or (
            classes > 2 and len(self.directions_) < min(classes - 1, self.coef_.shape[1])
        ):
            raise InvalidParameter(
                "enclosures are of covariance='within', and of as many directions as the means of the classes span"
            )
        cut = None if isinstance(settings.threshold, str) else float(settings.threshold)
        return self._enclose_discriminants(
            X,
            y,
            sample_weight,
            enclosures.Discrimination(enclosures.ClassPriors(None, settings.threshold == "prior"), True, cut),
        )

    def _solve(self, rows: OpenedClasses, sums: ClassMoments) -> FisherState:
        solved = discriminant(sums.within(), sums)
        proof = solved.certificate if solved.away.any() else replace(solved.certificate, advice=EQUAL)
        found = FisherState(
            **rows.with_sums(sums),
            fitted_with=self._settings_of_fit(),
            certificate=proof,
            means=sums.means()[0],
            mean=solved.mean,
        )
        solve = self._solve_two if len(rows.classes) == 2 else self._solve_many
        return replace(found, **solve(solved, sums.weights))

    def _constant_within_classes(self, rows: OpenedClasses, total: ClassMoments) -> list[str]:
        return varying_between_classes_alone(rows, total) if self.covariance == "within" else []

    def _solve_two(self, solved: Discriminant, weights: Array) -> dict[str, Any]:
        """Scale w so that w' Sigma w = 1 (or |w| = 1), and cut."""
        n = float(weights.sum())
        apart = solved.away[1] - solved.away[0]
        u = solved.slopes[1] - solved.slopes[0]
        if self.covariance == "identity":
            u = np.ldexp(apart, 2 * solved.factor.scaling.scale)  # w = raw(u) is then apart * 2^scale
            w = solved.raw(u)
            u = u / (np.linalg.norm(w) or 1.0)
        spread = float(u @ solved.within.second @ u) / n
        if self.covariance == "within" and spread > 0:
            u, spread = u / np.sqrt(spread), 1.0
        w = solved.raw(u)
        low, high = solved.away @ u
        between = float((high - low) ** 2)
        criterion = between / (n * spread) if spread > 0 else np.inf if between > 0 else 0.0
        cut = 0.5 * (low + high)
        if self.threshold == "prior":
            cut += (spread / (high - low) if high != low else 1.0) * float(np.log(weights[0] / weights[1]))
        cut += float(solved.mean @ w)
        threshold = cut if isinstance(self.threshold, str) else float(self.threshold)
        return {
            **{"coef": w[None, :], "intercept": np.array([-threshold]), "threshold": threshold},
            **{"directions": w[None, :], "n_features_out": 1, "criterion": criterion},
        }

    def _count(self, spans: Array, factor: Factor, classes: int) -> int:
        """Return the number of directions: at most K - 1, and no more than the class means span, up to rounding.

        `spans` are the singular values of the class means about the overall one, on columns of equal spread.
        """
        rounding = 16 * EPS * classes * factor.condition
        reached = int((spans > rounding * spans.max(initial=0.0)).sum())
        most = min(classes - 1, reached)
        return most if self.components is None else min(self.components, most)

    def _solve_many(self, solved: Discriminant, weights: Array) -> dict[str, Any]:
        """Take the leading eigenvectors of Sigma^-1 S_B, or of S_B alone, and discriminate by nearest mean there."""
        if not isinstance(self.threshold, str):
            raise InvalidParameter("a number as threshold needs two classes; use 'middle' or 'prior'")
        n = float(weights.sum())
        root = np.sqrt(weights / n)[:, None]
        if self.covariance == "within":
            half = solved.factor.half(solved.away) * np.sqrt(n)
            spectrum = np.linalg.svd(root * half, full_matrices=False)
            r = self._count(spectrum[1], solved.factor, len(weights))
            slopes = (spectrum[0][:, :r] / spectrum[1][:r]).T @ (root * solved.slopes)
        else:
            raw = np.ldexp(solved.away, solved.factor.scaling.scale)
            spectrum = np.linalg.svd(root * raw, full_matrices=False)
            even = np.linalg.svd(root * solved.away / solved.factor.length, full_matrices=False)
            r = self._count(even[1], solved.factor, len(weights))
            slopes = np.ldexp(spectrum[2] * raw.any(axis=0), solved.factor.scaling.scale)
        directions = solved.raw(slopes[:r])
        centres = solved.away @ slopes[:r].T
        level = -0.5 * (centres**2).sum(axis=1)
        if self.threshold == "prior":
            level = level + np.log(weights / n)
        coef = centres @ directions
        if self.covariance == "within" and (self.components is None or r in (len(weights) - 1, coef.shape[1])):
            coef = solved.raw(solved.slopes)  # the same along all directions, with the digits of the certificate
        return {
            **{"coef": coef, "intercept": level - coef @ solved.mean},
            **{"directions": directions, "n_features_out": r, "criterion": spectrum[1][:r] ** 2},
        }
