"""Mixtures of Gaussians by EM (S3).

maximise  sum over rows of weight ln sum_k pi_k N(x; mean_k, Sigma_k)
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from adaline.arrays import Array, RowsLike, TargetsLike, WeightsLike, host, is_sparse, like_rows
from adaline.construction import check_parameters
from adaline.errors import ConvergenceWarning, InvalidParameter, InvalidType, warn
from adaline.estimator import DensityMixin
from adaline.fitted import check_is_fitted
from adaline.forms import Finite, Floats
from adaline.input import Meter, generator, transaction
from adaline.input.open import OpenedRows
from adaline.parameters import COUNT, FLAG, NONE, ZERO_OR_MORE, AnyOf, Numbers, OneOf, one_of
from adaline.solvers.clusters.alternate import e_step
from adaline.solvers.clusters.components import CovarianceForm, CovarianceType, Mixture, in_raw_units
from adaline.solvers.clusters.mixture import GivenStart, MixtureOptions, MixtureStart, fit_mixture
from adaline.sources import Source
from adaline.state import FitSettings, FittedAttribute, FittedWith
from adaline.sums import Components, View
from adaline.sums.mixture import log_joint, log_total
from adaline.systems.families.named import named_system
from adaline.systems.families.unsupervised import UnsupervisedState, UnsupervisedSystem, shaped


@dataclass(frozen=True)
class MixtureSettings(FitSettings):
    """The settings that a mixture is read with."""

    covariance_type: CovarianceType

    @property
    def form(self) -> CovarianceForm:
        """The form of the covariances."""
        return CovarianceForm(self.covariance_type)


@dataclass(frozen=True, kw_only=True, eq=False)
class MixtureState(UnsupervisedState):
    """What a fit of a mixture has learned.

    Parameters
    ----------
    fitted_with : the form of the covariances.
    weights, means : (K,) and (K, D).
    covariances, precisions, precisions_cholesky : as `GaussianMixture` says, by the type of the covariances.
    converged : whether EM ended before its last step.
    lower_bound : mean log-likelihood of a row before the last step.
    """

    fitted_with: MixtureSettings
    weights: Annotated[Array, Floats("M")]
    means: Annotated[Array, Floats("M D")]
    covariances: Annotated[Array, Finite("M", "M D", "D D", "M D D")]
    precisions: Annotated[Array, Finite("M", "M D", "D D", "M D D")]
    precisions_cholesky: Annotated[Array, Finite("M", "M D", "D D", "M D D")]
    converged: bool
    lower_bound: float


@named_system
@dataclass(eq=False, repr=False)
class GaussianMixture(DensityMixin, UnsupervisedSystem):
    """Mixture of Gaussians: maximises the sum over rows of weight ln sum_k pi_k N(x; mean_k, Sigma_k), by EM.

    The E step assigns rows softly, gamma_k = p(k | x), the M step takes weights, means and covariances of the softly
    assigned rows; both are one pass. The likelihood never falls: a step that would lower it, which only reg_covar can
    cause, is not taken and ends the run. EM itself works on shifted and scaled columns and does not depend on units;
    reg_covar, as in scikit-learn, is a number in squared units of the columns: where columns are much smaller than 1,
    lower it; where they are much larger it has no effect.

    Parameters
    ----------
    n_components : int
        K.
    covariance_type : "full", "tied", "diag" or "spherical"
        A matrix for each component, one for all, variances for each, or one variance for each.
    tol : float
        EM ends when the mean log-likelihood of a row changes by less than this; zero: when nothing moves any more.
    reg_covar : float
        Added to all variances, so that a component on few rows stays a density.
    max_iter, n_init : int
        Most steps of a start; how many starts to try: the largest likelihood wins.
    init_params : "kmeans", "k-means++", "random_from_data" or "random"
        First means: centres found by k-means, or rows far from each other, or any rows, or points drawn from the normal
        density of all rows. Rows then belong to the nearest, in units of the columns' spreads.
    weights_init, means_init, precisions_init : arrays or None
        Start from these instead: (K,), (K, D), and inverse covariances shaped as precisions_.
    random_state : int, generator or None
        Seed of starts and samples.
    warm_start : bool
        Whether fit starts from the parameters of the last fit.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    weights_, means_ : (K,) and (K, D). covariances_, precisions_, precisions_cholesky_ : (K, D, D), (D, D), (K, D) or
    (K,), as covariance_type says; the last are upper triangular P with P P' = precision, or roots of precisions.
    converged_, n_iter_ : how EM ended, and after how many steps. lower_bound_ : mean log-likelihood of a row before the
    last step. history_ : the same before each step. certificate_ : its objective is minus the log-likelihood.

    Examples
    --------
    >>> from adaline import GaussianMixture
    >>> model = GaussianMixture(n_components=2).fit([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> sorted(model.means_[:, 0].round(6).tolist()), model.weights_.round(6).tolist()
    ([1.0, 11.0], [0.5, 0.5])
    >>> model.predict_proba([[0.5]]).max() > 0.999
    np.True_

    References
    ----------
    Lecture S3, recap of mixtures of Gaussians and EM. One pass for the scale of the columns, those of the start, one a
    step; about K D^2 multiplications a row and step, K D for "diag" and "spherical".
    """

    n_components: Annotated[int, COUNT] = 1
    _: KW_ONLY
    covariance_type: Annotated[CovarianceType, OneOf(*(kind.value for kind in CovarianceForm))] = "full"
    tol: float = 1e-3
    reg_covar: Annotated[float, ZERO_OR_MORE] = 1e-6
    max_iter: int = 100
    n_init: Annotated[int, COUNT] = 1
    init_params: Annotated[MixtureStart, one_of(MixtureStart)] = "kmeans"
    weights_init: Annotated[Any, AnyOf(NONE, Numbers("K shares that add up to 1", (1,)))] = None
    means_init: Annotated[Any, AnyOf(NONE, Numbers("means (K, D)", (2,)))] = None
    precisions_init: Annotated[Any, AnyOf(NONE, Numbers("inverse covariances", (1, 2, 3)))] = None
    random_state: Any = 0
    warm_start: Annotated[bool, FLAG] = False
    basis: Any = None

    learns = MixtureState
    _fitted_with = FittedWith(MixtureSettings)
    weights_ = FittedAttribute[Array]()
    means_ = FittedAttribute[Array]()
    covariances_ = FittedAttribute[Array]()
    precisions_ = FittedAttribute[Array]()
    precisions_cholesky_ = FittedAttribute[Array]()
    converged_ = FittedAttribute[bool]()
    lower_bound_ = FittedAttribute[float]()

    @transaction
    def fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit to rows X (n, D), or to a source; y is ignored, weights are frequencies."""
        meter = Meter(X)
        check_parameters(self)
        settings, warm = MixtureSettings.of(self), bool(self.warm_start) and self._state is not None
        kind = settings.form
        options = MixtureOptions(
            components=int(self.n_components),
            kind=kind,
            floor=float(self.reg_covar),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            starts=int(self.n_init),
            how=self.init_params,
        )
        source, columns = self._open(X, sample_weight, reset=not warm)
        given = self._given(kind, options.components, source.shape.features, warm)
        last = self.lower_bound_ if warm else -np.inf
        best = fit_mixture(source, replace(options, given=given, last=last), generator(self.random_state))
        self._state = MixtureState(
            columns=columns,
            fitted_with=settings,
            certificate=self._certify(source, meter, -best.values[-1] * best.weight, "EM", best.converged),
            converged=best.converged,
            n_iter=best.n_iter,
            history=best.values,
            lower_bound=best.values[-1],
            **_in_own_form(best.mixture, kind),
        )
        if not best.converged:
            warn(
                f"GaussianMixture did not converge in {options.max_iter} steps: raise max_iter or tol",
                ConvergenceWarning,
            )
        return self

    def fit_predict(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> NDArray[np.intp]:
        """Fit, and return the most probable component of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    def score_samples(self, X: RowsLike) -> Array:
        """Return ln p(x) of each row, (n,)."""
        return like_rows(X, self._mapped(X, lambda joint: log_total(joint)[:, 0]))

    def score(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> float:
        """Return the mean of ln p(x)."""
        return self._mean_log(X, sample_weight)[0]

    def predict_proba(self, X: RowsLike) -> Array:
        """Return p(k | x), (n, K)."""
        return like_rows(X, self._mapped(X, lambda joint: np.exp(joint - log_total(joint))))

    def predict(self, X: RowsLike) -> NDArray[np.intp]:
        """Return the most probable component of each row, (n,)."""

        def best(joint: Array) -> Array:
            return np.where(np.isfinite(joint.max(axis=1)), joint.argmax(axis=1), np.nan)

        return like_rows(X, self._mapped(X, best).astype(np.intp))

    def bic(self, X: RowsLike, sample_weight: WeightsLike = None) -> float:
        """Return the Bayesian information criterion, -2 ln L + p ln n: less is better."""
        mean, n = self._mean_log(X, sample_weight)
        return -2 * n * mean + self._parameters() * float(np.log(n))

    def aic(self, X: RowsLike, sample_weight: WeightsLike = None) -> float:
        """Return Akaike's information criterion, -2 ln L + 2 p: less is better."""
        mean, n = self._mean_log(X, sample_weight)
        return -2 * n * mean + 2 * self._parameters()

    def sample(self, n_samples: int = 1) -> tuple[Array, NDArray[np.intp]]:
        """Return rows drawn from the mixture, (n, D), and their components, (n,), in the order of these."""
        check_is_fitted(self, "means_")
        draw, k = generator(self.random_state), len(self.weights_)
        COUNT.check("n_samples", n_samples)
        counts = draw.multinomial(n_samples, self.weights_ / self.weights_.sum())
        labels = np.repeat(np.arange(k), counts)
        noise = draw.standard_normal((len(labels), self.means_.shape[1]))
        factors = self._components().factors
        for j in range(k):
            own = labels == j
            whole = factors.ndim == 3
            noise[own] = linalg.solve(factors[j].T, noise[own].T).T if whole else noise[own] / factors[j]
        return self.means_[labels] + noise, labels

    def _components(self) -> Components:
        """Return the densities in raw units, from the attributes as they are."""
        check_is_fitted(self, "means_")
        d = self.means_.shape[1]
        factors = for_each(np.asarray(self.precisions_cholesky_), self._fitted_with.form, *self.means_.shape)
        with np.errstate(divide="ignore"):
            return Components(np.log(self.weights_), self.means_, factors, View(np.ones(d), np.zeros(d)))

    def _open(self, X: RowsLike, sample_weight: WeightsLike, *, reset: bool) -> OpenedRows:
        if is_sparse(X):
            raise InvalidType("Sparse data was passed, and densities have no zeros to leave out: give X.toarray()")
        return super()._open(X, sample_weight, reset=reset)

    def _mapped(self, X: RowsLike, function: Any) -> Array:
        """Return function(ln pi_k N(x; mean_k, Sigma_k)) of rows X, from an array (n, K) for each block."""
        components = self._components()
        return self._over(X, lambda block: np.asarray(function(host(log_joint(block.gathered().x, components)))))

    def _mean_log(self, X: RowsLike, sample_weight: WeightsLike) -> tuple[float, float]:
        """Return the mean of ln p(x) of rows X, and their weight; of streamed rows, from sums."""
        components, kind = self._components(), self._fitted_with.form
        if isinstance(X, Source) and (source := self._open(X, sample_weight, reset=False).source).streamed:
            sums = e_step(source, components, kind)
            weight = float((sums.moments[:, -1, -1] if kind.whole else sums.moments[:, -1]).sum())
            return sums.value / weight, weight
        given = self._weights_given(X, sample_weight)
        values = host(self.score_samples(X))
        return float(np.average(values, weights=given)), float(len(values) if given is None else given.sum())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _parameters(self) -> int:
        form: CovarianceForm = self._fitted_with.form
        return form.parameters(*self.means_.shape)

    def _given(self, kind: CovarianceForm, k: int, d: int, warm: bool) -> GivenStart:
        """Return the start: the parameters there are, or those of the constructor, in raw units."""
        if warm:
            return GivenStart(self.weights_, self.means_, for_each(self.covariances_, kind, k, d))
        weights, means, precisions = self.weights_init, self.means_init, self.precisions_init
        if weights is not None:
            weights = shaped("weights_init", weights, (k,))
            if not (weights >= 0).all() or abs(weights.sum() - 1) > 1e-6:
                raise InvalidParameter("weights_init must be K shares that add up to 1")
        if means is not None:
            means = shaped("means_init", means, (k, d))
        if precisions is None:
            return GivenStart(weights, means, None)
        shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind.value]
        try:
            inverse = shaped("precisions_init", precisions, shape)
            covariances = np.asarray(np.linalg.inv(inverse) if kind.whole else 1 / inverse)
            if not (np.linalg.eigvalsh(covariances) > 0).all() if kind.whole else not (covariances > 0).all():
                raise np.linalg.LinAlgError
        except np.linalg.LinAlgError:
            raise InvalidParameter("precisions_init must be symmetric and positive definite") from None
        return GivenStart(weights, means, for_each(covariances, kind, k, d))


def _in_own_form(mixture: Mixture, kind: CovarianceForm) -> dict[str, Any]:
    """Return the parameters in raw units, by the names of the state."""
    (log_weights, means, factors, _), covariances = in_raw_units(mixture)
    precisions = factors @ factors.transpose(0, 2, 1) if kind.whole else factors**2
    own: Any = {"tied": 0, "spherical": (slice(None), 0)}.get(kind.value, slice(None))
    return {
        "weights": np.exp(log_weights),
        "means": means,
        "covariances": covariances[own].copy(),
        "precisions": precisions[own].copy(),
        "precisions_cholesky": factors[own].copy(),
    }


def for_each(values: Array, kind: CovarianceForm, k: int, d: int) -> Array:
    """Return covariances or factors of every component and, where they are not matrices, of every column."""
    if kind is CovarianceForm.TIED:
        return np.ascontiguousarray(np.broadcast_to(values, (k, d, d)))
    return np.repeat(values[:, None], d, axis=1) if kind is CovarianceForm.SPHERICAL else values
