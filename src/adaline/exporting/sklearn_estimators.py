"""`to_sklearn`: a fitted system as the estimator of scikit-learn that predicts the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adaline.activations import ACTIVATIONS
from adaline.arrays import Array, host
from adaline.attributes import give_attributes
from adaline.coding import Coding
from adaline.errors import InvalidType
from adaline.exporting.sklearn_models import Estimator
from adaline.fitted import AnyModel, has_absorbed, has_classes, is_linear
from adaline.input.columns import InputColumns
from adaline.input.system import System, columns_on
from adaline.links import Log
from adaline.losses import Composed, Linked, Loss, Poisson
from adaline.storage.model_file import check_storable
from adaline.storage.pipelines import is_pipeline
from adaline.systems import (
    CustomMachine,
    ElasticNet,
    GaussianClassifier,
    GaussianMixture,
    GeneralizedLinear,
    KMeans,
    LogisticRegression,
    OnlineLogistic,
    OrdinalRegression,
    Ridge,
    SigmoidPerceptron,
)
from adaline.systems.families.filter import SignalSystem
from adaline.systems.families.scheme import Scheme

Weights = tuple[Array, Array]
"""(K, D) weights and (K,) constants."""
NO_WEIGHTS: Weights = (np.empty((0, 0)), np.empty(0))
ROUNDING = 1e-14  # of a covariance's largest variance, below which a direction has none


def to_sklearn(model: AnyModel) -> Estimator:
    """Return the estimator of scikit-learn that predicts what a fitted system predicts.

    It has the same weights, and neither a certificate nor standard errors. Codings of numbers and categories, and
    bases, become steps of a Pipeline, which takes a data frame with the columns of the table. A model fitted with
    missing="mean" becomes a Pipeline that treats a new level like a gap, as an average level. Ordered classes, signals,
    offsets and absorbed effects have no estimator in scikit-learn; the error names an alternative.

    | system | estimator |
    |---|---|
    | LinearRegression, ElasticNet, LMS, RobustRegression, and other regressions | LinearRegression |
    | Ridge | Ridge |
    | GeneralizedLinear with the logarithm as link | PoissonRegressor, of other families GammaRegressor |
    | LogisticRegression, OnlineLogistic, ElasticNet of classes | LogisticRegression |
    | LogisticRegression(scheme="one-vs-rest"), SigmoidPerceptron | SGDClassifier(loss="log_loss") |
    | GaussianClassifier, one covariance | LinearDiscriminantAnalysis |
    | GaussianClassifier, a covariance a class | QuadraticDiscriminantAnalysis; GaussianNB of variances |
    | Perceptron, LeastSquaresClassifier, FisherDiscriminant, and other hyperplanes | Perceptron |
    | KMeans, GaussianMixture | KMeans, GaussianMixture |

    Parameters
    ----------
    model : a fitted system, or a Pipeline that ends with one.

    Examples
    --------
    >>> from adaline import LogisticRegression, datasets, to_sklearn
    >>> data = datasets.load("penguins", target="species")
    >>> model = LogisticRegression(penalty=1.0).fit(data.X, data.y)
    >>> estimator = to_sklearn(model)
    >>> type(estimator).__module__.split(".")[0], bool((estimator.predict(data.X) == model.predict(data.X)).all())
    ('sklearn', True)

    References
    ----------
    Lectures S0 to S4: the weights define a linear system, whichever program uses them.
    """
    if is_pipeline(model):
        *before, (name, last) = model.steps
        return type(model)([*before, (name, to_sklearn(last) if isinstance(last, System) else last)])
    check_storable(model)
    columns = columns_on(model)
    coding = columns.coding
    make = _maker_of(model)
    _refuse_known_parts(model, columns)
    weights = _weights(model) if is_linear(model) else NO_WEIGHTS
    steps: list[tuple[str, Estimator]] = []
    names, width = columns.names, columns.width
    if coding is not None and not _is_plain(coding):
        if not is_linear(model) or columns.basis is not None or isinstance(model, GaussianClassifier):
            raise _no_form(model, " of a table with categories or gaps")
        encoder, weights = _encoder(coding, weights)
        names, width = None, weights[0].shape[1]
        steps.append(("columns", encoder))
    estimator = make(model, weights)
    if columns.basis is not None:
        steps.append(("basis", columns.basis))
    elif names is not None:
        give_attributes(estimator, {"feature_names_in_": np.asarray(names, dtype=object)})
    give_attributes(estimator, {"n_features_in_": width})
    if not steps:
        return estimator
    from sklearn.pipeline import Pipeline

    return Pipeline([*steps, ("model", estimator)])


def _no_form(model: AnyModel, what: str) -> InvalidType:
    return InvalidType(
        f"{type(model).__name__}{what} has no estimator in scikit-learn that predicts the same: use the model, which "
        "scikit-learn's tools take, or export(model, to='python')"
    )


def _refuse_known_parts(model: AnyModel, columns: InputColumns) -> None:
    """Refuse outputs with parts that are not columns times weights."""
    coding = columns.coding
    if has_absorbed(model):
        raise _no_form(model, " with absorbed effects")
    if getattr(model, "_with_offset", None) or (coding is not None and coding.offset is not None):
        raise _no_form(model, " with an offset")
    if columns.hashed or columns.first is not None:
        raise _no_form(model, " of hashed columns")


def _weights(model: AnyModel) -> Weights:
    """Return (K, D) weights and (K,) constants."""
    coef = np.atleast_2d(np.asarray(host(model.coef_), dtype=np.float64))
    return coef.copy(), np.broadcast_to(np.asarray(host(model.intercept_), dtype=np.float64), (len(coef),)).copy()


def _is_plain(coding: Coding) -> bool:
    """Whether the columns are raw columns of numbers, as they are."""
    plain = all(
        len(term) == 1 and term[0].column is not None and not (term[0].category or term[0].full)
        for term in coding._all_terms
    )
    return plain and coding.missing in ("error", "drop") and all(one.kind == "number" for one in coding.columns)


def _encoder(coding: Coding, weights: Weights) -> tuple[Estimator, Weights]:
    """Return a ColumnTransformer of the raw columns of a table, and the weights of the columns that it makes.

    A category has a column for each level, whose weight is what its contrasts make of the level; what an average level
    has is in the constant where other levels, or gaps, count as average.
    """
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import MissingIndicator, SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    coef, constants = weights
    filled = coding.missing in ("mean", "indicator")
    parts: list[tuple[str, Estimator, list[str]]] = []
    blocks: list[Array] = []
    example: dict[str, list[Any]] = {}
    first = 0
    for term in coding._all_terms:
        own = coef[:, first : first + coding.term_width(term)]
        first += own.shape[1]
        factor = term[0]
        name = factor.column
        if len(term) > 1 or name is None:
            raise InvalidType(
                f"the term {':'.join(one.text for one in term)} has no form in scikit-learn's encoders: use the model "
                "itself, which scikit-learn's tools take, or export(model, to='python')"
            )
        column = coding.column(name, factor.category)
        known = column.kind in ("number", "boolean", "category")
        if not known or (column.gaps and factor.category) or column.takes_gaps:
            raise InvalidType(
                f"the column {name!r} ({column.kind}) has no form in scikit-learn's encoders: use the model itself, "
                "which scikit-learn's tools take, or export(model, to='python')"
            )
        ticked = column.kind == "boolean" and filled and not factor.full  # which SimpleImputer does not take
        if factor.category or ticked:
            table = np.array([[0.0], [1.0]]) if ticked else coding.contrast_columns(factor)
            share = (1.0 - column.mean, column.mean) if ticked else column.share
            levels = [False, True] if ticked else list(column.levels)
            own = own @ table.T
            average = own @ np.asarray(share) if filled or coding.unseen == "other" else np.zeros(len(own))
            constants, own = constants + average, own - average[:, None]
            unknown = "ignore" if filled or coding.unseen == "other" else "error"
            step: Estimator = OneHotEncoder(categories=[np.array(levels, dtype=object)], handle_unknown=unknown)
            example[name] = levels
        elif factor.full:
            step = MissingIndicator(features="all")
        else:
            step = SimpleImputer() if filled else "passthrough"
        example.setdefault(name, [column.mean if filled else 0.0])
        parts.append((f"{name}{len(parts)}", step, [name]))
        blocks.append(own)
    rows = max(map(len, example.values()))
    encoder = ColumnTransformer(parts, sparse_threshold=0.0)
    encoder.fit(pd.DataFrame({name: (values * rows)[:rows] for name, values in example.items()}))
    return encoder, (np.hstack(blocks), constants)


def _maker_of(model: AnyModel) -> Callable[[AnyModel, Weights], Estimator]:
    for kind, make in MAKERS.items():
        if isinstance(model, kind):
            return make
    if isinstance(model, OrdinalRegression | SignalSystem | CustomMachine | Scheme) or not is_linear(model):
        raise _no_form(model, "")
    return _hyperplanes if has_classes(model) else _regression


def _given(estimator: Estimator, weights: Weights, flat: bool = False, **learned: Any) -> Estimator:
    coef, constants = weights
    given = {"coef": coef[0] if flat else coef, "intercept": constants[0] if flat else constants, **learned}
    give_attributes(estimator, {f"{name}_": value for name, value in given.items()})
    return estimator


def _regression(model: AnyModel, weights: Weights) -> Estimator:
    from sklearn.linear_model import LinearRegression

    return _given(LinearRegression(), weights, np.ndim(model.coef_) == 1)


def _ridge(model: AnyModel, weights: Weights) -> Estimator:
    from sklearn import linear_model

    return _given(linear_model.Ridge(alpha=model.penalty_), weights, np.ndim(model.coef_) == 1)


def _machine(model: AnyModel, weights: Weights) -> Estimator:
    """Return the estimator of a generalized linear machine, or of a net."""
    from sklearn import linear_model

    if has_classes(model):
        return _logistic(model, weights)
    loss = model._fitted_with.of_row()
    response = _response(loss)
    if response == "identity":
        return _regression(model, weights)
    if response != "exp" or len(weights[0]) > 1:
        raise _no_form(model, f" whose outputs go through {response}" if response != "exp" else "of several targets")
    estimator = linear_model.PoissonRegressor() if isinstance(loss, Poisson) else linear_model.GammaRegressor()
    give_attributes(estimator, {"_base_loss": estimator._get_loss()})
    return _given(estimator, weights, flat=True)


def _response(loss: Loss) -> str:
    """Return what outputs go through: "identity", "exp" or another name."""
    if isinstance(loss, Linked):
        return "exp" if isinstance(loss.link, Log) else f"the link {type(loss.link).__name__}"
    return loss.activation.name if isinstance(loss, Composed) else ACTIVATIONS[loss.response].name


def _logistic(model: AnyModel, weights: Weights) -> Estimator:
    from sklearn import linear_model

    scheme = getattr(model._fitted_with, "scheme", "softmax")
    if len(weights[0]) > 1 and scheme != "softmax":
        if scheme == "one-vs-one":
            raise _no_form(model, " of a machine for each pair of classes")
        return _given(linear_model.SGDClassifier(loss="log_loss"), weights, classes=np.asarray(model.classes_))
    return _given(linear_model.LogisticRegression(), weights, classes=np.asarray(model.classes_))


def _sigmoidal(model: AnyModel, weights: Weights) -> Estimator:
    """Return the estimator of a sigmoidal perceptron: logistic units, tanh z = 2 / (1 + exp(-2 z)) - 1."""
    from sklearn import linear_model

    steep = 2.0 if model._fitted_with.activation == "tanh" else 1.0
    made = linear_model.SGDClassifier(loss="log_loss")
    return _given(made, (steep * weights[0], steep * weights[1]), classes=np.asarray(model.classes_))


def _hyperplanes(model: AnyModel, weights: Weights) -> Estimator:
    from sklearn import linear_model

    return _given(linear_model.Perceptron(), weights, classes=np.asarray(model.classes_))


def _densities(model: AnyModel, weights: Weights) -> Estimator:
    """Return a discriminant analysis, linear or quadratic, or naive Bayes."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.naive_bayes import GaussianNB

    if hasattr(model, "weights_"):
        raise _no_form(model, " of several densities a class")
    means, priors = np.array(host(model.means_)), np.array(host(model.priors_))
    classes, covariance = np.asarray(model.classes_), np.array(host(model.covariance_))
    if not (priors > 0).all():
        raise _no_form(model, " with a class that has no rows")
    known: dict[str, Any] = {"classes": classes, "means": means, "priors": priors}
    if is_linear(model):
        whole = covariance * np.eye(means.shape[1]) if covariance.ndim == 0 else covariance
        return _given(LinearDiscriminantAnalysis(solver="lsqr"), weights, covariance=whole, **known)
    if covariance.ndim == 3:
        found = [np.linalg.eigh(one) for one in covariance]
        kept = [values > ROUNDING * values.max() for values, _ in found]
        estimator = QuadraticDiscriminantAnalysis()
        rotations = [vectors[:, own] for (_, vectors), own in zip(found, kept, strict=True)]
        scalings = [values[own] for (values, _), own in zip(found, kept, strict=True)]
        learned: dict[str, Any] = {"rotations_": rotations, "scalings_": scalings, "covariance_": list(covariance)}
        give_attributes(estimator, learned | {f"{name}_": value for name, value in known.items()})
        return estimator
    estimator = GaussianNB()
    variances = np.broadcast_to(covariance if covariance.ndim == 2 else covariance[:, None], means.shape).copy()
    learned = {"theta_": means, "var_": variances, "class_prior_": priors, "classes_": classes, "epsilon_": 0.0}
    give_attributes(estimator, learned)
    return estimator


def _clusters(model: AnyModel, weights: Weights) -> Estimator:
    from sklearn.cluster import KMeans as Estimated

    centres = np.array(host(model.cluster_centers_))
    estimator = Estimated(len(centres), n_init=1)
    learned = {"cluster_centers_": centres, "inertia_": model.inertia_, "n_iter_": model.n_iter_}
    give_attributes(estimator, {**learned, "_n_threads": 1, "_n_features_out": len(centres)})
    return estimator


def _mixture(model: AnyModel, weights: Weights) -> Estimator:
    from sklearn.mixture import GaussianMixture as Estimated

    estimator = Estimated(len(model.weights_), covariance_type=model._fitted_with.covariance_type)
    copied = ("weights", "means", "covariances", "precisions", "precisions_cholesky")
    learned = {f"{name}_": np.array(getattr(model, f"{name}_")) for name in copied}
    same = {f"{name}_": getattr(model, f"{name}_") for name in ("converged", "n_iter", "lower_bound")}
    give_attributes(estimator, learned | same)
    return estimator


MAKERS: dict[type[Any], Callable[[AnyModel, Weights], Estimator]] = {
    Ridge: _ridge,
    GeneralizedLinear: _machine,
    ElasticNet: _machine,
    LogisticRegression: _logistic,
    OnlineLogistic: _logistic,
    SigmoidPerceptron: _sigmoidal,
    GaussianClassifier: _densities,
    KMeans: _clusters,
    GaussianMixture: _mixture,
}
"""What converts a system, from its weights where it has some, to an estimator; other linear systems are converted by
whether they have classes."""
