"""`from_sklearn`: a fitted estimator of scikit-learn as a system of adaline.

The system has the estimator's weights, bit for bit, and the status "given": nothing is known of the rows that they were
learned from, so that there are no standard errors and no further rows. Normal densities of classes are those of a few
weighted points with the same means and covariances, from which a GaussianClassifier is solved.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from adaline.arrays import Array, is_sparse
from adaline.attributes import give_attributes
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from adaline.fitted import AnyModel, has_learned
from adaline.input.columns import InputColumns
from adaline.input.system import System
from adaline.losses import Tweedie
from adaline.penalties import no_penalty
from adaline.results import Certificate, Solution, Status
from adaline.solvers.least_squares.dependence import independent
from adaline.solvers.least_squares.fit import Fit, certificate
from adaline.solvers.smooth.likelihood import FamilyFit, LikelihoodFit
from adaline.storage.pipelines import is_pipeline, of_scikit_learn
from adaline.systems import (
    ElasticNet,
    GaussianClassifier,
    GaussianMixture,
    GeneralizedLinear,
    KMeans,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    Ridge,
)
from adaline.systems.gaussian_classifier import ClassCovariance

UNKNOWN_OF_FAMILIES = ("dispersion", "freedom", "deviance", "null_deviance", "pearson", "shape", "shape_error")
Estimator = Any
"""A fitted estimator of scikit-learn."""
MOST_NUMBERS = 10**8  # in the points that stand for the rows of classes: 0.8 GB; twice as many take twice the memory


def from_sklearn(estimator: Estimator) -> AnyModel:
    """Return the system of adaline that predicts what a fitted estimator of scikit-learn predicts.

    It can be saved, served, exported and plotted like any other. Its certificate has the status "given", as nothing is
    known of the rows: it has no standard errors, and cannot learn further rows.

    | estimator of scikit-learn | system |
    |---|---|
    | LinearRegression, SGDRegressor, HuberRegressor, and others with `coef_` that predict numbers | LinearRegression |
    | Ridge, RidgeCV | Ridge |
    | Lasso, ElasticNet, their CV and MultiTask forms | ElasticNet |
    | PoissonRegressor, GammaRegressor, TweedieRegressor | GeneralizedLinear |
    | LogisticRegression, LogisticRegressionCV, SGDClassifier(loss="log_loss") | LogisticRegression |
    | LinearSVC, Perceptron, and others with `coef_` that predict classes | LeastSquaresClassifier |
    | LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, GaussianNB | GaussianClassifier |
    | KMeans, MiniBatchKMeans; GaussianMixture | KMeans; GaussianMixture |
    | Pipeline of any steps | the Pipeline with its last step replaced |

    Parameters
    ----------
    estimator : a fitted estimator, or Pipeline; a system of adaline is returned as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> import adaline
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 2.0, 5.0])
    >>> model = adaline.from_sklearn(Ridge(alpha=0.5).fit(X, y))
    >>> print(type(model).__name__, model.predict(X).round(3), model.certificate_.status)
    Ridge [1.032 2.258 4.71 ] given

    References
    ----------
    Lectures S0 to S4: the weights define a linear system, whichever program found them.
    """
    if isinstance(estimator, System):
        return estimator
    if is_pipeline(estimator):
        *before, (name, last) = estimator.steps
        return type(estimator)([*before, (name, from_sklearn(last))])
    kind = type(estimator)
    if isinstance(estimator, type) or not of_scikit_learn(kind):
        raise InvalidType(f"from_sklearn takes a fitted estimator of scikit-learn, not {kind.__name__}")
    if not has_learned(estimator):
        raise InvalidParameter(f"this {kind.__name__} is not fitted: call its fit before from_sklearn")
    return _maker_of(estimator)(estimator)


def _maker_of(estimator: Estimator) -> Callable[[Estimator], AnyModel]:
    """Return what makes a system of an estimator, by its class or one that it is derived from."""
    for cls in type(estimator).__mro__:
        if cls.__name__ in MAKERS and of_scikit_learn(cls):
            return MAKERS[cls.__name__]
    if hasattr(estimator, "coef_") and hasattr(estimator, "predict"):
        return _hyperplanes if hasattr(estimator, "classes_") else _regression
    raise InvalidType(
        f"{type(estimator).__name__} cannot be converted: from_sklearn takes linear regressions "
        "and classifiers, discriminants, naive Bayes of normal densities, k-means and mixtures of normal densities"
    )


def _proof(estimator: Estimator) -> Certificate:
    return replace(certificate(status=Status.GIVEN, solver=f"scikit-learn's {type(estimator).__name__}"), seconds=0.0)


def _columns(estimator: Estimator) -> InputColumns:
    """Return the columns that an estimator takes."""
    names = getattr(estimator, "feature_names_in_", None)
    return InputColumns(int(estimator.n_features_in_), None if names is None else tuple(map(str, names)))


def _weights(estimator: Estimator) -> tuple[Array, Array]:
    """Return (K, D) weights and (K,) constants."""
    coef = estimator.coef_
    coef = np.atleast_2d(np.asarray(coef.toarray() if is_sparse(coef) else coef, dtype=np.float64)).copy()
    constants = np.asarray(estimator.intercept_, dtype=np.float64).ravel()
    if not (np.isfinite(coef).all() and np.isfinite(constants).all()):
        raise InvalidData(f"the weights of this {type(estimator).__name__} are not finite")
    return coef, np.broadcast_to(constants, (len(coef),)).copy()


def _of_targets(estimator: Estimator) -> dict[str, Any]:
    """Return the fields of a state that hold the weights of numeric targets, and the columns."""
    coef, constants = _weights(estimator)
    flat = np.ndim(estimator.coef_) == 1
    return {
        "columns": _columns(estimator),
        "certificate": _proof(estimator),
        "coef": coef[0] if flat else coef,
        "intercept": float(constants[0]) if flat else constants,
        "flat": flat,
    }


def _with_state(model: Any, **fields: Any) -> AnyModel:
    """Return a system with the state of these fields, read with its settings."""
    known = {"fitted_with": model._settings_of_fit()} | fields
    give_attributes(model, {"_state": type(model).learns(**known)})
    return model


def _regression(estimator: Estimator, model: AnyModel | None = None, **fields: Any) -> AnyModel:
    """Return a regression from second moments that has none."""
    coef, constants = _weights(estimator)
    model = LinearRegression(fit_intercept=bool(getattr(estimator, "fit_intercept", True))) if model is None else model
    solution = Solution(np.column_stack([constants, coef]), _proof(estimator))
    unknown, one = np.full(len(coef), math.inf), np.ones(len(coef))
    fit = Fit(
        solution=solution,
        squares=unknown,
        total=unknown,
        unit=one,
        factor=None,
        trace=one * (1 + coef.shape[1]),
        rows=0,
        weight=1.0,
        penalty=no_penalty(coef.shape[1]),
    )
    absent = {"rank": 0, "aliased": None, "dependencies": None, "estimable": None, "sums": None, "counted": None}
    return _with_state(model, fits=(fit,), like=None, **absent, **_of_targets(estimator), **fields)


def _ridge(estimator: Estimator) -> AnyModel:
    found = estimator.alpha_ if hasattr(estimator, "alpha_") else estimator.alpha
    penalty: Any = float(found) if np.ndim(found) == 0 else np.asarray(found, dtype=np.float64)
    return _regression(estimator, Ridge(penalty, fit_intercept=bool(estimator.fit_intercept)), penalty=penalty)


def _net(estimator: Estimator) -> AnyModel:
    """Return an elastic net; its penalties, which are sums over rows, would need the number of rows."""
    model = ElasticNet(fit_intercept=bool(estimator.fit_intercept))
    none = np.array([], dtype=object)
    return _with_state(
        model, l1=math.nan, penalty=math.nan, aliased=none, rows_seen=0, typical=None, **_of_targets(estimator)
    )


def _family(estimator: Estimator) -> AnyModel:
    kind, penalty = type(estimator).__name__, float(estimator.alpha)
    link: Literal["log", "identity"] = "log"
    power = {"PoissonRegressor": 1.0, "GammaRegressor": 2.0}.get(kind) or float(estimator.power)
    if kind == "TweedieRegressor" and (estimator.link == "identity" or (estimator.link == "auto" and power <= 0)):
        link = "identity"
    loss: Any = {0.0: "gaussian", 1.0: "poisson", 2.0: "gamma", 3.0: "inverse_gaussian"}.get(power) or Tweedie(power)
    model = GeneralizedLinear(loss, link=link, penalty=penalty, fit_intercept=bool(estimator.fit_intercept))
    unknown = dict.fromkeys(UNKNOWN_OF_FAMILIES, math.nan)
    found = FamilyFit(
        family=model._loss().name,
        link=link,
        estimated=False,
        extra=0,
        precision=False,
        **unknown,
    )
    theta, fields = np.append(estimator.intercept_, estimator.coef_)[None], _of_targets(estimator)
    fits = [_likelihood(estimator, theta, found)]
    known = {"history": [], "n_iter": int(np.max(estimator.n_iter_)), "rows_seen": 0, "typical": None, "fits": fits}
    return _with_state(model, **known, **fields)


def _labels(estimator: Estimator) -> Array:
    return np.asarray(estimator.classes_)


def _logistic(estimator: Estimator) -> AnyModel:
    coef, constants = _weights(estimator)
    several = len(coef) > 1
    one_by_one = several and (type(estimator).__name__ == "SGDClassifier" or _asked_one_by_one(estimator))
    model = LogisticRegression(
        scheme="one-vs-rest" if one_by_one else "softmax", fit_intercept=bool(estimator.fit_intercept)
    )
    groups = [[k] for k in range(len(coef))] if one_by_one else [list(range(len(coef)))]
    fits = [_likelihood(estimator, np.column_stack([constants[own], coef[own]])) for own in groups]
    return _with_state(
        model,
        columns=_columns(estimator),
        classes=_labels(estimator),
        coef=coef,
        intercept=constants,
        certificate=_proof(estimator),
        history=[],
        n_iter=0,
        rows_seen=0,
        penalty=0.0,
        separation=None,
        aliased=np.array([], dtype=object),
        dependencies=[],
        fits=fits,
        typical=None,
    )


def _likelihood(estimator: Estimator, theta: Array, family: FamilyFit | None = None) -> LikelihoodFit:
    """Return weights as a fit of which no more is known."""
    return LikelihoodFit(
        solution=Solution(theta, _proof(estimator)),
        root=None,
        log_likelihood=math.nan,
        null=math.nan,
        rows=0,
        weight=0.0,
        parameters=0,
        penalised=False,
        coupled=len(theta) > 1,
        dependence=independent(np.zeros(theta.shape[1] - 1, dtype=np.bool_)),
        family=family,
    )


def _asked_one_by_one(estimator: Estimator) -> bool:
    """Whether an estimator of an earlier version has a machine for each class."""
    return getattr(estimator, "multi_class", None) == "ovr"


def _stochastic(estimator: Estimator) -> AnyModel:
    return _logistic(estimator) if estimator.loss == "log_loss" else _hyperplanes(estimator)


def _hyperplanes(estimator: Estimator) -> AnyModel:
    """Return a classifier whose labels go by the side of a hyperplane, or by the largest of several outputs."""
    coef, constants = _weights(estimator)
    classes = _labels(estimator)
    if len(coef) != (1 if len(classes) == 2 else len(classes)):
        raise InvalidType(f"a {type(estimator).__name__} of several targets has no form here: convert one for each")
    points = np.vstack([np.zeros(coef.shape[1]), np.eye(coef.shape[1])])
    model = LeastSquaresClassifier(fit_intercept=bool(getattr(estimator, "fit_intercept", True)))
    return _in_place(model, estimator, *_repeated(points, classes), coef=coef, intercept=constants)


def _repeated(points: Array, classes: Array) -> tuple[Array, Array]:
    """Return points for every class, and their labels."""
    return np.vstack([points] * len(classes)), np.repeat(classes, len(points))


def _in_place(model: Any, estimator: Estimator, points: Array, labels: Array, **fields: Any) -> AnyModel:
    """Return a classifier that is solved from points that stand for the rows, with other fields of its state."""
    if len(points) * points.shape[1] > MOST_NUMBERS:
        raise InvalidType(
            f"a {type(estimator).__name__} of {points.shape[1]} columns and {len(set(labels.tolist()))} classes has no "
            "form here, as sums of all pairs of columns would take too much memory: save the estimator with skops"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(points, labels)
    known = {"columns": _columns(estimator), "certificate": _proof(estimator), "rows": None}
    give_attributes(model, {"_state": replace(model._state, **known, **fields)})
    return model


def _densities(
    estimator: Estimator, covariance: ClassCovariance, means: Array, roots: list[Array], priors: Array, **fields: Any
) -> AnyModel:
    """Return normal densities with these means and roots of the covariances, Sigma = root root'."""
    points = [
        mean + math.sqrt(root.shape[1]) * np.vstack([root.T, -root.T]) for mean, root in zip(means, roots, strict=True)
    ]
    labels = np.repeat(_labels(estimator), [len(one) for one in points])
    model = GaussianClassifier(covariance=covariance, priors=priors / priors.sum())
    made = _in_place(model, estimator, np.vstack(points), labels, **fields)
    if estimator.priors is None:
        made.set_params(priors=None)
    return made


def _discriminants(estimator: Estimator) -> AnyModel:
    coef, constants = _weights(estimator)
    if estimator.solver == "svd":
        root = np.linalg.pinv(estimator.scalings_).T
    else:
        values, vectors = np.linalg.eigh(estimator.covariance_)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
    means, priors = np.asarray(estimator.means_), np.asarray(estimator.priors_)
    return _densities(estimator, "shared", means, [root] * len(means), priors, coef=coef, intercept=constants)


def _quadratic(estimator: Estimator) -> AnyModel:
    spread = zip(estimator.rotations_, estimator.scalings_, strict=True)
    roots = [vectors * np.sqrt(values) for vectors, values in spread]
    return _densities(estimator, "full", np.asarray(estimator.means_), roots, np.asarray(estimator.priors_))


def _naive(estimator: Estimator) -> AnyModel:
    roots = [np.diag(np.sqrt(variances)) for variances in estimator.var_]
    return _densities(estimator, "diag", np.asarray(estimator.theta_), roots, np.asarray(estimator.class_prior_))


def _clusters(estimator: Estimator) -> AnyModel:
    centres = np.asarray(estimator.cluster_centers_, dtype=np.float64)
    return _with_state(
        KMeans(len(centres)),
        columns=_columns(estimator),
        certificate=_proof(estimator),
        cluster_centers=centres.copy(),
        inertia=float(estimator.inertia_),
        n_features_out=len(centres),
        labels=np.asarray(estimator.labels_, dtype=np.int32),
        n_iter=int(estimator.n_iter_),
        history=[],
    )


def _mixture(estimator: Estimator) -> AnyModel:
    learned = ("weights", "means", "covariances", "precisions", "precisions_cholesky")
    return _with_state(
        GaussianMixture(len(estimator.weights_), covariance_type=estimator.covariance_type),
        columns=_columns(estimator),
        certificate=_proof(estimator),
        converged=bool(estimator.converged_),
        lower_bound=float(estimator.lower_bound_),
        n_iter=int(estimator.n_iter_),
        history=[],
        **{name: np.array(getattr(estimator, f"{name}_"), dtype=np.float64) for name in learned},
    )


MAKERS: dict[str, Callable[[Estimator], AnyModel]] = {
    **dict.fromkeys(("Ridge", "RidgeCV"), _ridge),
    **dict.fromkeys(("Lasso", "LassoCV", "ElasticNet", "ElasticNetCV"), _net),
    **dict.fromkeys(("MultiTaskLasso", "MultiTaskLassoCV", "MultiTaskElasticNet", "MultiTaskElasticNetCV"), _net),
    **dict.fromkeys(("PoissonRegressor", "GammaRegressor", "TweedieRegressor"), _family),
    **dict.fromkeys(("LogisticRegression", "LogisticRegressionCV"), _logistic),
    "SGDClassifier": _stochastic,
    "LinearDiscriminantAnalysis": _discriminants,
    "QuadraticDiscriminantAnalysis": _quadratic,
    "GaussianNB": _naive,
    **dict.fromkeys(("KMeans", "MiniBatchKMeans"), _clusters),
    "GaussianMixture": _mixture,
}
"""What converts an estimator to a system, by the name of its class; others with `coef_` by whether they have
classes."""
