"""What a model file may hold: the form of every attribute of every class that can be stored, and how they fit together.

A file may come from a stranger, with checksums that are right. So nothing is handed over before it was checked: each
attribute against its form, and each object against the relations that its methods rely on (`INVARIANTS`). Forms are

    bool, int, str, None    as in Python;                    count: a whole number of zero or more
    float, number           any number, a finite one;        positive: a finite number above zero
    level                   text, a number or a boolean;     'a'|'b': one of these words
    Fit                     an object of that class;         System, Basis: one of the registered ones
    [form], (form)          a list, a tuple of any length;   {form: form}: a dict
    number(K, 1+D)          an array, of booleans (bool), whole numbers (int), text (str), classes (label), or floats
    #D                      a whole number that is the size D itself
    a|b                     either

D is the same in all of a system, every other size in an object and those in it; objects in a list have their own.
"""

from __future__ import annotations

import copy
import inspect
import math
import re
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from itertools import chain, pairwise
from typing import Any

import numpy as np

from adaline.attributes import own_attributes
from adaline.basis import After, Basis, Beside, Fourier, Polynomial, Spline
from adaline.block import Shape
from adaline.coding import Coding, Column, Effect, HashedColumn, Learned, Term, TermFactor, WordColumn
from adaline.coding.columns import MOST_WIDTH
from adaline.coding.contrasts import contrast_of
from adaline.coding.expressions import compiled, names_in
from adaline.coding.formula import targets_of
from adaline.coding.learned import LearnedFunction
from adaline.coding.numerals import Notation
from adaline.construction import check_values, checks_of
from adaline.errors import AdalineError
from adaline.fits.online import OnlineResult
from adaline.fits.separation import Separation
from adaline.fitted import AnyModel
from adaline.inference.robust import RobustFit, StandardErrors
from adaline.inference.sample import Counted
from adaline.input.columns import System, columns_on
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Solution, Status
from adaline.scans import SCANS, AdaptiveRule, CoordinateRule, Scan, Schedule
from adaline.scans.tally import MISTAKES, SIZE, STATUS, STEPS, UPDATES, WEIGHT, State
from adaline.solvers.epochs.pocket import BestWeights
from adaline.solvers.least_squares.dependence import Dependence
from adaline.solvers.least_squares.factor import CholeskyFactor, ColumnScaling, Factor, KeptFactor, SpectralFactor
from adaline.solvers.least_squares.fit import Fit
from adaline.solvers.smooth.likelihood import FamilyFit, LikelihoodFit
from adaline.sources.absorbed import Absorption
from adaline.sources.standardized import Standard
from adaline.state import FitSettings, as_fitted, attributes_of, change_state
from adaline.sums import ClassMoments, Components, Moments, View
from adaline.systems import SYSTEMS, UNSUPERVISED
from adaline.systems.families.adaptation import VARIANTS, Adaptation
from adaline.systems.families.closed_form import ClassDensities, ClosedFormClassifier
from adaline.systems.families.online import OnlineSystem
from adaline.systems.families.online_classifier import OnlineClassifier
from adaline.systems.families.scheme import Scheme
from adaline.systems.gaussian_classifier import GaussianClassifier
from adaline.systems.generalized_linear import GeneralizedLinear
from adaline.systems.logistic_regression import LogisticRegression
from adaline.systems.online_logistic import OnlineLogistic
from adaline.systems.ordinal_regression import OrdinalRegression
from adaline.systems.pocket import Pocket
from adaline.systems.wiener_filter import Recording

LARGEST_EXPONENT = 2200  # of a column's scale, a power of two: float64 has 2^-1074 to 2^1024
LONGEST_REACH = 10**7  # samples that a filter may look back or ahead
MOST_WORK = 10**7  # powers and frequencies that a basis may compute for a row

_FACTOR = (
    "scaling: ColumnScaling, length: positive(D), alive: bool(D), condition: float, rank: count, contraction: float, "
    "decided: bool"
)
_COLUMN = "name: str, levels: (level), share: (number), mean: float, gaps: bool"
_PATH = "float(.)|float(., .)|float(., ., .)"
_SCAN = {
    **{"theta": "number(K, 1+D)", "good": "number(K, 1+D)", "schedule": "Schedule", "intercept": "bool"},
    **{"numbers": f"float({SIZE})", "lag": "number(., .)", "root": "number(., ., .)"},
    **{"wide": "bool", "activation": "str", "classes": "bool", "variant": "str", "eps": "number", "leak": "number"},
    **{
        "forget": "positive",
        "loss": "str",
        "penalty": "number",
        "l1": "number",
        "average": "bool",
        "features": "count",
        "outputs": "count",
    },
}

RECORDS: dict[type[Any], str] = {
    Adaptation: "rule: str, rate: number, eps: number, leak: number, forgetting: number, regularization: number, "
    "intercept: bool, taps: (count), delay: count, samples: number(S, .), end: count, count: count, "
    f"theta: number(K, 1+D), good: number(K, 1+D), numbers: float({SIZE}), root: number(., ., .)",
    BestWeights: "theta: number(K, 1+D), record: number(K), streak: number(K), errors: number(K)|None",
    Certificate: "objective: float, gradient: float, gap: float, digits: float, condition: float, rank: count, "
    "passes: count, seconds: float, solver: str, status: Status, advice: str",
    ClassDensities: "hi: float(C, D), lo: float(C, D), factors: [Factor|None], log_determinants: float(C)",
    Coding: "columns: (Column|HashedColumn|WordColumn), terms: (Term), target: str|None, weight: str|None, "
    "missing: 'error'|'drop'|'mean'|'indicator', unseen: 'error'|'other', intercept: bool, offset: str|None, "
    "learned: (Learned), effects: (Effect), na: (str), notations: (Notation)",
    Effect: "name: str, levels: label(E), values: float(E), missing: float, directions: number(.)",
    Absorption: "names: (str), levels: (count), freedom: count, exact: bool, total: float, singletons: count, "
    "separated: count",
    Column: f"{_COLUMN}, kind: 'number'|'boolean'|'date'|'category'",
    HashedColumn: f"{_COLUMN}, kind: 'hashed', width: count, distinct: count",
    WordColumn: f"{_COLUMN}, kind: 'words', weighting: 'counts'|'binary'|'tfidf', ngrams: count, width: count, "
    "rows: count",
    ColumnScaling: "features: #D, weight: number, intercept: bool, mean_hi: number(Z), mean_lo: number(Z), "
    "exponent: number(Z)",
    Components: "log_weights: float(M), means: number(M, D), factors: number(M, D, D)|number(M, D), view: View",
    Counted: "rows: count, log_weight: number",
    Dependence: "left_out: int(A), weights: number(A, D), constants: number(A), constant: bool(D)",
    Fit: "solution: Solution, squares: float(K), total: float(K), unit: number(K), factor: Factor|None, "
    "trace: float(K), rows: count, weight: number, penalty: RidgePenalty",
    Learned: "text: str, facts: (number)",
    Notation: "form: str, unit: str, columns: (str)",
    LikelihoodFit: "solution: Solution, root: float(K, 1+D, M)|None, log_likelihood: float, null: float, rows: count, "
    "weight: number, parameters: count, penalised: bool, coupled: bool, dependence: Dependence, firth: bool, "
    "ratios: float(1+D)|None, family: FamilyFit|None",
    FamilyFit: "family: str, link: str, dispersion: float, estimated: bool, freedom: float, deviance: float, "
    "null_deviance: float, pearson: float, extra: count, shape: float, shape_error: float, in_trials: bool",
    OnlineResult: "history: [float], certificate: Certificate, rows: count, steps: count, corrections: number, "
    "bounded: bool, pocket: BestWeights|None",
    Recording: "taps: (count), delay: int, windowed: bool, intercept: bool, x: rows(., S), t: number(P, K), "
    "weight: number(P)|None, done: Moments|None, total: Moments|None",
    RidgePenalty: "value: number, unit: number(D)",
    RobustFit: "solution: Solution, scale: float, errors: {str: StandardErrors}, beyond: float, rows: count, "
    "weight: number, dependence: Dependence",
    Schedule: "rate: positive, kind: 'constant'|'1/t'|'power', tau: positive, power: number",
    Separation: "kind: 'complete'|'quasi'|'suspected', direction: number(., 1+D)",
    Shape: "features: #D, targets: #K",
    Solution: "theta: number(K, 1+D), certificate: Certificate",
    Standard: "mean: number(D), scale: positive(D)",
    StandardErrors: "root: float(1+D, .), notes: (str), freedom: float",
    Term: "factors: (TermFactor)",
    TermFactor: "text: str, column: str|None, category: bool, full: bool",
    View: "scale: positive(D), offset: number(D)",
}
"""Dataclasses and named tuples, by their fields: restored by their constructor."""

OPTIONAL: dict[type[Any], tuple[str, ...]] = {Coding: ("na", "notations")}
"""Fields that files may lack: they are written where they differ from their defaults, so that older files load, and
older versions load most files."""

PARTS: dict[type[Any], str] = {
    Moments: "shape: Shape, buffer: number(.)",
    ClassMoments: "parts: [Moments]",
    CholeskyFactor: f"{_FACTOR}, r: number(D, D)",
    KeptFactor: f"{_FACTOR}, r: number(D, D), whole: SpectralFactor",
    SpectralFactor: f"{_FACTOR}, v: number(D, R), s: positive(R), raw: positive(D), reach: number(D), "
    "null: number(D, .), size: float",
    **{
        cls: ", ".join(
            f"{name}: {'number(., .)' if name == 'good' and not value.size else _SCAN[name]}"
            for name, value in own_attributes(cls.start(Shape(1, 1))).items()
            if name != "_native"
        )
        for cls in SCANS.values()
    },
}
"""Other classes, by the attributes that are stored; cached properties are computed again from these."""

FIELDS: dict[type[Any], dict[str, str]] = {
    cls: dict(part.split(": ", 1) for part in re.split(r", (?=\w+: )", text))
    for cls, text in {**RECORDS, **PARTS}.items()
}
"""All classes that can be stored, beside systems and bases, with the form of each attribute."""

CLASSES: dict[str, type[Any]] = {cls.__name__: cls for cls in FIELDS}

KNOWN: dict[str, type[Any]] = {**SYSTEMS, **UNSUPERVISED}

STORED_AS = {"_adaptation": "_state"}
"""Attributes that have another name in files."""

OUTPUT = "_sklearn_output_config"  # what `set_output` of scikit-learn leaves
STATE: dict[str, str] = {
    **dict.fromkeys(("certificate_", "_proof"), "Certificate"),
    **{"n_features_in_": "#F", "feature_names_in_": "str(F)", "classes_": "label(C)", "_n_features_out": "count"},
    **{"coef_": "number(D)|number(K, D)", "intercept_": "number|float(K)", "scale_": "float|float(K)"},
    **dict.fromkeys(("penalty_", "noise_variance_", "prior_variance_"), "float|float(.)|float(., .)"),
    **{"path_": f"{{str: {_PATH}}}|[{{str: {_PATH}}}]", "l1_": "float|float(.)", "history_": "[float]|[[float]]"},
    **dict.fromkeys(("rank_", "n_iter_", "rows_seen_"), "count"),
    **{"aliased_": "str(.)|None", "dependencies_": "[str]|None", "estimable_": "bool(D)|None"},
    **{
        "separation_": "Separation|None",
        "_passes": "count|None",
        "estimators_": "[System]",
        "weights_": "float(.)|float(., .)",
    },
    **{"_fits": "(Fit)|(RobustFit)|[LikelihoodFit]", "_sums": "Moments|ClassMoments|None", "_counted": "Counted|None"},
    **{
        "_flat": "bool",
        "_like": "None",
        "_typical": "number(D)|None",
        "_names": "{str: count}|(str)|None",
        "_scan": "Scan",
    },
    **{"_result": "OnlineResult", "_standard": "Standard|None", "_targets": "{level: number|number(.)}"},
    **{"_recording": "Recording", "_state": "Adaptation", "_recorded": "[number(., D)]", "coding_": "Coding"},
    **{"output_": "float|float(K)", "deviance_": "float|float(K)", "dispersion_": "float|float(K)"},
    **{"shape_": "positive|positive(K)", "_with_offset": "bool", "absorbed_": "Absorption"},
    **{"_hashed": "bool", "_first_index": "count", "_fitted_with": "FitSettings"},
    **{"_densities": "ClassDensities", "_mixtures": "[Components]", "priors_": "number(C)", "gamma_": "number"},
    **{
        "covariance_": "float|float(.)|float(., .)|float(., ., .)|float(., ., ., .)",
        "beta_": "float(.)|float(., .)|float",
    },
    **{
        "means_": "float(., D)|float(., ., D)",
        "_mean": "number(D)",
        "criterion_": "float|float(.)",
        "threshold_": "float|float(.)",
        "thresholds_": "float(.)",
    },
    **{"directions_": "number(D, M)|number(M, D)", "cluster_centers_": "number(M, D)", "labels_": "int(.)"},
    **{"inertia_": "float", "lower_bound_": "float", "converged_": "bool"},
    **dict.fromkeys(("covariances_", "precisions_", "precisions_cholesky_"), "number(.)|number(., .)|number(., ., .)"),
    **{"basis_": "Basis", "bases_": "[Basis]", "inner_": "Basis", "outer_": "Basis", "terms_": "[(count)]"},
    **{"recurrence_": "float(F, ., 3)", "frequency_": "number(F)", "phases_": "number(M)", "middle_": "number(F)"},
    **{"unit_": "positive(F)", "knots_": "[(number)]", "centres_": "number(., F)", "width_": "positive"},
    OUTPUT: "{'transform': 'default'|'pandas'|'polars'|None}",
}
"""What fit, and `set_output`, set on systems and bases, by name."""

NARROWER: dict[str, dict[str, str]] = {
    "LinearSystem": {"_fits": "(Fit)", "_sums": "Moments|None"},
    "RobustRegression": {"_fits": "(RobustFit)"},
    "GeneralizedLinear": {"_fits": "[LikelihoodFit]"},
    "LogisticRegression": {"_fits": "[LikelihoodFit]"},
    "OrdinalRegression": {"_fits": "[LikelihoodFit]"},
    "ClosedFormClassifier": {"_sums": "ClassMoments"},
}
"""Forms of attributes that are of another class in each family, by class; a class has those of its bases too."""

REQUIRED: dict[str, str] = {
    "LinearSystem": "coef_ intercept_ rank_ aliased_ dependencies_ estimable_ certificate_ _fits _sums _counted _flat "
    "_like",
    "Ridge": "penalty_",
    "ElasticNet": "coef_ intercept_ l1_ penalty_ aliased_ certificate_ rows_seen_ _flat _typical",
    "RobustRegression": "coef_ intercept_ scale_ rank_ aliased_ dependencies_ certificate_ _fits _flat _typical "
    "history_ n_iter_",
    "GeneralizedLinear": "coef_ intercept_ certificate_ history_ n_iter_ rows_seen_ _flat _typical",
    "LogisticRegression": "classes_ coef_ intercept_ certificate_ history_ n_iter_ rows_seen_ penalty_ separation_ "
    "aliased_ dependencies_ _fits _typical",
    "OrdinalRegression": "classes_ coef_ thresholds_ certificate_ history_ n_iter_ rows_seen_ separation_ aliased_ "
    "dependencies_ _fits _typical",
    "WienerFilter": "coef_ intercept_ rank_ aliased_ dependencies_ certificate_ _recording _flat",
    "AdaptiveFilter": "coef_ intercept_ history_ _state _proof _recorded _flat",
    "OnlineSystem": "_scan _result _standard _names _typical",
    "OnlineClassifier": "classes_ _targets",
    "LMS": "_flat",
    "Scheme": "classes_ estimators_ rows_seen_ _passes",
    "ClosedFormClassifier": "classes_ certificate_ _sums _like",
    "KMeans": "cluster_centers_ inertia_ n_iter_ history_ _n_features_out certificate_",
    "GaussianMixture": "means_ weights_ covariances_ precisions_ precisions_cholesky_ converged_ n_iter_ history_ "
    "lower_bound_ certificate_",
    "BaseEstimator": "n_features_in_",
    "Polynomial": "terms_",
    "Spline": "knots_",
    "Radial": "middle_ unit_ centres_ width_",
    "Beside": "bases_",
    "After": "inner_ outer_",
}
"""What fit always sets, by class; a class has that of its bases too."""

SOLVED: dict[str, str] = {
    "LeastSquaresClassifier": "coef_ intercept_ rank_",
    "FisherDiscriminant": "coef_ intercept_ means_ _mean _n_features_out criterion_ directions_",
    "GaussianClassifier": "priors_ means_ covariance_",
}
"""What fit sets where there are rows of two classes or more."""

Sizes = dict[str, int]

KINDS = {"bool": "b", "int": "iu", "str": "UO", "label": "biufUOmM"}
FLOATS = ("float", "number", "positive", "rows")
"""The kinds of dtype of arrays, and the forms of those of floats: float64, but for rows of data."""


class Misfit(ValueError):
    """What a file holds is not what its place takes."""


def check_model(model: AnyModel) -> None:
    """Refuse a system that is not whole: forms, relations, constructor arguments, and one row predicted on trial."""
    sizes: Sizes = {}
    check_state(model, sizes)
    if not sizes["F"]:  # a constant alone, which no array can be given to
        return
    trial = copy.copy(model)
    blank = dict.fromkeys({"names", "with_offset"} & model._state.by_name().keys())  # the row has none, and no levels
    change_state(trial, columns=columns_on(model)._replace(names=None, coding=None), **blank)
    bounded = (
        isinstance(trial, GeneralizedLinear) and trial._fitted_with.of_row().linked is not None
    )  # the row may have no mean
    with np.errstate(all="ignore"):
        (trial._outputs if bounded else trial.predict)(np.zeros((1, sizes["F"])))


def check_state(model: AnyModel, sizes: Sizes) -> None:
    """Refuse a system or a basis whose arguments or attributes are not as fit leaves them; `sizes` are then known."""
    cls = type(model)
    check_values(model)
    arguments = inspect.signature(cls).parameters
    for name in arguments:
        _argument(getattr(model, name))
    shown = attributes_of(model)
    state = {STORED_AS.get(name, name): value for name, value in shown.items() if name not in arguments}
    _complete(model, REQUIRED)
    if more := state.keys() - STATE.keys():
        raise Misfit(f"{cls.__name__} has no {min(more)}")
    forms = STATE | {name: form for base in cls.__mro__ for name, form in NARROWER.get(base.__name__, {}).items()}
    for name in ("n_features_in_", *state):
        _require(state[name], forms[name], sizes, f"{name} of {cls.__name__}")
    columns, basis = sizes["F"], state.get("basis_")
    if basis is not None:
        _same(basis.n_features_in_, columns, "columns of the basis")
        columns = basis_size(basis)
    _same(sizes.setdefault("S" if hasattr(model, "taps") else "D", columns), columns, "columns")
    if isinstance(model, System):
        checks = checks_of(type(model))
        for field in fields(model._fitted_with):
            checks[field.name].check(field.name, getattr(model._fitted_with, field.name))
        model = as_fitted(model)
    for base in cls.__mro__:
        if base in INVARIANTS:
            INVARIANTS[base](model, sizes)


def _argument(value: Any) -> None:
    """Refuse a system or basis among arguments that is neither as its constructor nor as fit leaves it."""
    for one in value if isinstance(value, list | tuple) else [value]:
        if isinstance(one, Basis) or type(one) in SYSTEMS.values():
            if hasattr(one, "n_features_in_"):
                check_state(one, {})
            else:
                check_values(one)
                names = inspect.signature(type(one)).parameters
                _hold(attributes_of(one).keys() <= {*names, OUTPUT}, f"{type(one).__name__} lacks n_features_in_")
                for name in names:
                    _argument(getattr(one, name))


def check_object(made: Any, sizes: Sizes) -> None:
    """Refuse an object whose attributes do not have their forms, or do not fit together."""
    cls = type(made)
    for name, form in FIELDS[cls].items():
        _require(getattr(made, name), form, sizes, f"{name} of {cls.__name__}")
    for base in cls.__mro__:
        if base in INVARIANTS:
            INVARIANTS[base](made, sizes)


def basis_size(basis: Any) -> int:
    """Return how many columns a basis makes, from its arguments and attributes, without making them."""
    if isinstance(basis, Polynomial):
        return len(basis.terms_)
    if isinstance(basis, Fourier):
        return int(basis.terms) if basis.random else 2 * int(basis.terms) * basis.n_features_in_
    if isinstance(basis, Spline):
        return sum(map(basis.width, basis.knots_))
    if isinstance(basis, Beside):
        return sum(map(basis_size, basis.bases_))
    return basis_size(basis.outer_) if isinstance(basis, After) else len(basis.centres_)


@cache
def _parsed(form: str) -> tuple[Any, ...]:
    """Return a form as (kind, parts): either, word, list, tuple, dict, array, size or class."""
    depth, parts, last = 0, [], 0
    for i, letter in enumerate(form):
        depth += (letter in "[({") - (letter in "])}")
        if letter == "|" and not depth:
            parts.append(form[last:i])
            last = i + 1
    if parts:
        return "either", *map(_parsed, (*parts, form[last:]))
    if form[0] in "[(":
        return ("list" if form[0] == "[" else "tuple"), _parsed(form[1:-1])
    if form[0] == "{":
        return "dict", *map(_parsed, form[1:-1].split(": ", 1))
    if form[0] == "'":
        return "word", form[1:-1]
    if form[0] == "#":
        return "size", form[1:]
    name, _, dims = form.partition("(")
    return ("array", name, tuple(dims[:-1].split(", "))) if dims else ("class", name)


def _complete(model: AnyModel, names: dict[str, str]) -> None:
    """Refuse a model that lacks what its classes have."""
    shown = {STORED_AS.get(name, name) for name in attributes_of(model)}
    wanted = [names.get(base.__name__, "") for base in type(model).__mro__]
    for name in " ".join(wanted).split():
        _hold(name in shown, f"{type(model).__name__} lacks {name}")


def _require(value: Any, form: str, sizes: Sizes, where: str) -> None:
    if not _fits(value, _parsed(form), sizes):
        raise Misfit(f"{where} is not {form}")


def _fits(value: Any, form: tuple[Any, ...], sizes: Sizes) -> bool:
    """Whether a value has a form; sizes that were not known are then."""
    kind, *parts = form
    match kind:
        case "either":
            for part in parts:
                tried = dict(sizes)
                if _fits(value, part, tried):
                    sizes |= tried
                    return True
            return False
        case "word":
            return type(value) is str and value == parts[0]
        case "list" | "tuple":
            return type(value) is (list if kind == "list" else tuple) and _each(value, parts[0], sizes)
        case "dict":
            return type(value) is dict and _each(value, parts[0], sizes) and _each(value.values(), parts[1], sizes)
        case "size":
            return type(value) is int and value >= 0 and sizes.setdefault(parts[0], value) == value
        case "array":
            return type(value) is np.ndarray and _is_array(value, parts[0], parts[1], sizes)
    return _is_one(value, parts[0], sizes)


def _each(values: Any, form: tuple[Any, ...], sizes: Sizes) -> bool:
    """Whether all items have a form, in sizes of their own but for D."""
    for value in values:
        own = {"D": sizes["D"]} if "D" in sizes else {}
        if not _fits(value, form, own):
            return False
        if "D" in own:
            sizes["D"] = own["D"]
    return True


def _is_array(value: Any, kind: str, dims: tuple[str, ...], sizes: Sizes) -> bool:
    if value.dtype.kind not in KINDS.get(kind, "f") or len(dims) != value.ndim:
        return False
    for size, dim in zip(value.shape, dims, strict=True):
        more, _, name = dim.rpartition("+")
        expected = int(dim) if dim.isdigit() else size if dim == "." else sizes.setdefault(name, size - len(more))
        if size != expected + len(more) or expected < 0:
            return False
    if kind in FLOATS:
        right = (value.dtype == np.float64 or kind == "rows") and (kind == "float" or bool(np.isfinite(value).all()))
        return right and (kind != "positive" or bool((value > 0).all()))
    match kind:
        case "str" if value.dtype.kind == "O":
            return all(type(item) is str for item in value.flat)
        case "label" if value.dtype.kind == "O":
            return all(isinstance(item, str | int | float) for item in value.flat)
    return True


def _is_one(value: Any, name: str, sizes: Sizes) -> bool:
    match name:
        case "None":
            return value is None
        case "bool" | "str":
            return type(value).__name__ == name
        case "int" | "count":
            return type(value) is int and abs(value) < 2**63 and (name == "int" or value >= 0)
        case "float" | "number" | "positive":
            return isinstance(value, float) and (
                name == "float" or (math.isfinite(value) and (name == "number" or value > 0))
            )
        case "level":
            return isinstance(value, str | bool | int | float)
        case "Status":
            return isinstance(value, Status)
        case "FitSettings":  # whose values are checked as the parameters are
            return isinstance(value, FitSettings)
        case "Factor" | "Scan":
            fine = isinstance(value, Factor if name == "Factor" else Scan) and type(value) in FIELDS
        case "System" | "Basis":
            if not isinstance(value, Basis) if name == "Basis" else type(value) not in SYSTEMS.values():
                return False
            _argument(value) if name == "System" else check_state(value, {})  # a machine may have had no rows
            return True
        case _:
            fine = type(value) is CLASSES[name]
    if fine:
        check_object(value, sizes)
    return fine


def _same(found: Any, expected: Any, what: str) -> None:
    if found != expected:
        raise Misfit(f"{what}: {found} and {expected}")


def _hold(true: Any, what: str) -> None:
    if not true:
        raise Misfit(what)


# -- relations between attributes ----------------------------------------------------------------------------------


def _moments(made: Moments, sizes: Sizes) -> None:
    q, buffer = made.columns, made.buffer
    _hold(q <= len(buffer) and len(buffer) == 3 + 4 * q + q * q and buffer.flags.c_contiguous, "moments of that size")
    whole = buffer[0] == np.floor(buffer[0]) and 0 <= buffer[0] < 2**63 and buffer[1] >= 0 and buffer[2] in (0.0, 1.0)
    _hold(whole, "rows, weight and mode of moments")
    _exponents(made.exponent)
    _hold((made.noise >= 0).all(), "noise of zero or more")


def _exponents(exponent: Any) -> None:
    """Refuse exponents that are not whole numbers in the range of float64: int of others is undefined in C++."""
    good = (np.abs(exponent) <= LARGEST_EXPONENT) & (exponent == np.floor(exponent))
    _hold(good.all(), "exponents that are whole numbers in range")


def _class_moments(made: ClassMoments, sizes: Sizes) -> None:
    _hold(len({part.shape for part in made.parts}) == 1, "classes of one shape")


def _scaling(made: ColumnScaling, sizes: Sizes) -> None:
    _hold(len(made.exponent) >= made.features, "scales of all columns")
    _exponents(made.exponent)


def _factor(made: Factor, sizes: Sizes) -> None:
    _hold(made.rank <= int(made.alive.sum()), "a rank of at most the columns that vary")


def _fit(made: Fit, sizes: Sizes) -> None:
    if made.factor is not None:
        _same(len(made.factor.scaling.exponent), len(made.factor.length) + len(made.squares), "scaled columns of a fit")


def _spectral(made: SpectralFactor, sizes: Sizes) -> None:
    _same(made.rank, len(made.s), "rank")
    _hold(all((np.abs(basis) < 1.001).all() for basis in (made.v, made.null)), "columns of length 1")
    _hold(not made.v[~made.alive].any(), "directions of columns that vary")
    out = copy.copy(made).dependence.left_out  # of a copy, as it is kept once computed
    _same(len(out), int(made.alive.sum()) - made.rank, "columns left out")


def _cholesky(made: CholeskyFactor, sizes: Sizes) -> None:
    _hold((made.r.diagonal() != 0).all(), "a factor that is not singular")


def _dependence(made: Dependence, sizes: Sizes) -> None:
    out = made.left_out
    _hold(
        (np.diff(out) > 0).all() and (not len(out) or 0 <= out[0] <= out[-1] < len(made.constant)), "columns left out"
    )


def _scan(made: Scan, sizes: Sizes) -> None:
    """The arrays fit together, and the rule is that of the class: native code reads them."""
    if isinstance(made, CoordinateRule):
        _hold(
            1 + made.outputs * made.pace + made.average <= made.root.shape[2]
            and made.root.shape[1] == 1 + made.features,
            "a state",
        )
        _same(made.good.shape, (0, 0), "weights saved")
        _same(made.features, sizes.setdefault("D", made.features), "columns of a scan")
    n, given = made.theta.shape[1], own_attributes(made)
    names = ("variant", "activation", "wide", "eps", "leak", "forget", "loss", "penalty", "l1", "average")
    options: dict[str, Any] = {name: given[name] for name in names if name in given}
    if made.classes:
        options["classes"] = len(made.theta)
    plain = type(made).start(Shape(1, len(made.theta)), **options)
    _hold(made.rule == plain.rule and made.classes == plain.classes, "the rule of a scan")
    root = (made.roots, 1 if given.get("wide") else n, -(-n // 8) * 8) if made.roots else (0, 0, 0)
    if isinstance(made, CoordinateRule):
        root = (1, 1 + made.features, plain.root.shape[2])
        _hold((made.root[0, :, [0, *range(2, 1 + made.outputs * made.pace, made.pace)]] >= 0).all(), "sums of squares")
        if made.average:
            last = made.root[0, :, 1 + made.outputs * made.pace]
            _hold(((last >= 0) & (last <= made.steps)).all(), "rows that were averaged")
    _same(made.root.shape, root, "root of a scan")
    _same(made.lag.shape, made.theta.shape if plain.lag.size else (0, 0), "lag of a scan")
    for name in FIELDS[type(made)].keys() & {"theta", "good", "numbers", "lag", "root"}:
        _hold(given[name].flags.c_contiguous, f"{name} in the order of C")
    _tallies(made.numbers)


def _tallies(numbers: Any) -> None:
    good = numbers[STATUS] in [state.value for state in State] and 0 <= numbers[STEPS] < 2**53
    good = good and np.isfinite(numbers[[WEIGHT, MISTAKES, UPDATES]]).all()
    _hold(good and not np.isnan(numbers).any() and (np.abs(numbers) < np.inf).sum() >= SIZE - 1, "tallies of a scan")


def _adaptation(made: Adaptation, sizes: Sizes) -> None:
    _hold(made.rule == "rls" or made.rule in VARIANTS, "a rule of adaptive filters")
    _taps(made, sizes)
    reach = max(made.delay + max(made.taps) - 1, 1)
    _hold(reach <= made.end <= made.samples.shape[1], "samples of the filter")
    _scan(made.scan, sizes)


def _recording(made: Recording, sizes: Sizes) -> None:
    _taps(made, sizes)
    _hold((made.done is None) == (made.total is None), "sums of a recording")


def _taps(made: Any, sizes: Sizes) -> None:
    _same(len(made.taps), sizes["S"], "signals")
    _hold(min(made.taps, default=0) > 0, "taps of one or more")
    _same(sum(made.taps), sizes.setdefault("D", sum(made.taps)), "taps")
    _hold(abs(made.delay) + max(made.taps) <= LONGEST_REACH, f"a reach of at most {LONGEST_REACH} samples")


def _coding(made: Coding, sizes: Sizes) -> None:
    factors = [factor for term in made.terms for factor in term.factors]
    calls: dict[str, LearnedFunction] = {}
    for factor in factors:
        _hold(factor.category or not factor.full, "factors of numbers")
        read = [*((name, False) for name in factor.numbers()), *((name, True) for name in factor.categories())]
        _hold({*read} <= {(column.name, column.is_category) for column in made.columns}, "columns of factors")
        if factor.column is None:
            found = compiled(factor.text)
            calls |= {call.text: call.learner for call in found.calls}
            _hold(factor.category == (found.kind in ("boolean", "levels")), "factors of levels")
        elif factor.category and factor.text != factor.column:
            contrast = contrast_of(factor.text)
            _hold(contrast is not None and contrast.column == factor.column, "contrasts of factors")
    _hold(all(term.factors for term in made.terms), "factors of terms")
    plain = made.offset is None or any(column.name == made.offset for column in made.columns)
    _hold(plain or "(" not in str(made.offset) or compiled(str(made.offset)).plain, "an offset of numbers")
    _hold(len(made.facts) == len(made.learned) and made.facts.keys() == calls.keys(), "what functions have learned")
    _hold(all(learner.fits(made.facts[text]) for text, learner in calls.items()), "what functions have learned")
    _notations(made)
    _same(made.count, sizes["F"], "columns of the coding")


def _notations(made: Coding) -> None:
    named = [name for one in made.notations for name in one.columns]
    _hold(all(one.known and one.columns for one in made.notations), "notations of numbers and dates")
    _hold(len({*named}) == len(named), "one notation for each column")
    if made.target is not None:  # a coding does not name several targets
        others = [text for text in (made.target, made.weight, made.offset) if text is not None]
        plain = {*made.needed, *others, *chain(*map(_names_of, others))}
        _hold({*named} <= plain, "notations of its columns")


def _names_of(text: str) -> list[str]:
    """Return the columns of an expression, such as a target; none where it is a name that is no expression."""
    try:
        return [name for one in targets_of(text) for name in (one, *names_in(one))]
    except AdalineError:
        return []


def _effect(made: Effect, sizes: Sizes) -> None:
    levels = made.levels
    texts = levels.dtype.kind == "O" and all(type(level) is str for level in levels)
    _hold(texts or levels.dtype in (np.int64, np.float64), "levels that are numbers or texts")
    _hold(len(levels) < 2 or bool((levels[:-1] < levels[1:]).all()), "levels that are sorted, each once")
    _hold(bool((made.values < np.inf).all()) and made.missing != np.inf, "effects that are finite, or minus infinity")
    _hold(len(made.directions) in (0, 1 + len(levels)), "directions of the levels")


def _column(made: Column, sizes: Sizes) -> None:
    _hold(len(set(made.levels)) == len(made.levels) and len(made.share) in (0, len(made.levels)), "levels")
    if isinstance(made, HashedColumn | WordColumn):
        hashed, width = isinstance(made, HashedColumn), made.width
        _hold((2 <= width <= MOST_WIDTH and not width & (width - 1)) or not (hashed or width), "a width of columns")
        _hold(
            hashed or (made.of_texts and len(made.share) == len(made.levels) and bool(made.levels) != bool(width)),
            "words",
        )
    if isinstance(made, WordColumn):
        _hold(1 <= made.ngrams <= 8 and not (width and made.weighting == "tfidf"), "words")


def _labels(model: AnyModel, sizes: Sizes) -> None:
    bounded = isinstance(model, ClosedFormClassifier) or np.isfinite(attributes_of(model).get("intercept_", 0.0)).all()
    _hold(bounded, "an intercept that is finite")
    if isinstance(model, GeneralizedLinear | LogisticRegression | OrdinalRegression):
        _likelihoods(model)
    if "C" in sizes:
        classes = model.classes_
        _hold(len(classes) > 1 or not isinstance(model, OnlineClassifier), "two classes or more")
        arranged = np.sort(classes) if isinstance(model, OrdinalRegression) else classes
        _hold(np.array_equal(np.unique(classes), arranged), "classes that are sorted, each once")
        whole = classes.dtype.kind != "f" or ((np.abs(classes) < 2**53) & (classes == np.floor(classes))).all()
        _hold(whole, "classes that are whole numbers, text or booleans")
        if isinstance(model, OrdinalRegression):
            _ordinal(model, sizes)
        elif "K" in sizes:
            _hold(sizes["K"] in (sizes["C"], 1 if sizes["C"] <= 2 else -1), "an output for each class")


def _likelihoods(model: GeneralizedLinear | LogisticRegression | OrdinalRegression) -> None:
    """The fits are of the kind of their system: those of classes have no family, all others have one."""
    with_family = isinstance(model, GeneralizedLinear)
    _hold(all((fit.family is not None) == with_family for fit in getattr(model, "_fits", ())), "fits of one kind")
    if isinstance(model, LogisticRegression) and getattr(model, "_fits", None):
        _same(sum(len(fit.solution.theta) for fit in model._fits), len(model.coef_), "machines of the fits")


def _online(model: OnlineSystem, sizes: Sizes) -> None:
    _hold(isinstance(model._scan, model._rule | AdaptiveRule | CoordinateRule), "the scan of its rule")
    _same(model._result.pocket is not None, isinstance(model, Pocket), "a pocket")
    if getattr(model, "_flat", None):
        _same(len(model._scan.theta), 1, "outputs")


def _online_classifier(model: OnlineClassifier, sizes: Sizes) -> None:
    _hold(repr(model._with_classes(model.classes_)["targets"]) == repr(model._targets), "targets of the classes")
    if isinstance(model, OnlineLogistic):
        _online_logistic(model)
        return
    _same(model._scan.classes, model._rule.classes or getattr(model._scan, "activation", None) == "softmax", "targets")
    outputs = len(model.classes_) if model._scan.classes else model._class_targets(len(model.classes_)).shape[1]
    _same(len(model._scan.theta), outputs, "outputs")


def _online_logistic(model: OnlineLogistic) -> None:
    assert model._state is not None
    expected = model._scan_of(model._state, 1)
    scan = model._coordinates
    _hold(isinstance(scan, CoordinateRule), "the scan of the log loss")
    _same((scan.loss, scan.outputs), (expected.loss, expected.outputs), "loss and outputs")
    names = model._names
    _hold(names is None or list(names.values()) == list(range(model.n_features_in_)), "columns by name")


def _closed_form(model: ClosedFormClassifier, sizes: Sizes) -> None:
    _same(len(model._sums.parts), sizes["C"], "classes of the sums")
    known = model._sums.weights > 0
    if known.sum() > 1:
        _complete(model, SOLVED)
        densities = hasattr(model, "_densities") or hasattr(model, "_mixtures")
        _hold(not isinstance(model, GaussianClassifier) or bool(densities), "GaussianClassifier lacks its densities")
    if hasattr(model, "intercept_"):
        level = model.intercept_
        if len(level) == 1 < len(known):
            _hold(np.isfinite(level[0]) if known.all() else np.isinf(level[0]), "the intercept of two classes")
        else:
            _hold(np.isfinite(level[known]).all() and np.isneginf(level[~known]).all(), "intercepts of the classes")
    if isinstance(model, GaussianClassifier):
        priors = getattr(model, "priors_", known / known.sum())
        right = (priors >= 0).all() and abs(priors.sum() - 1) < 1e-6 and not priors[~known].any()
        _hold(right, "priors of the classes")
        if hasattr(model, "_densities"):
            found, there = model._densities, known & (known.sum() > 1)
            _hold([factor is not None for factor in found.factors] == there.tolist(), "densities of the classes")
            _hold(np.isfinite(found.log_determinants).all(), "determinants of the classes")


def _scheme(model: AnyModel, sizes: Sizes) -> None:
    _same(len(model.estimators_), len(model._targets(len(model.classes_))), "machines")
    for one in model.estimators_:
        _same(getattr(one, "n_features_in_", sizes["D"]), sizes["D"], "columns of a machine")


def _polynomial(model: Polynomial, sizes: Sizes) -> None:
    terms = model.terms_
    _same((min(map(len, terms), default=0), max(map(len, terms), default=0)), model.degrees, "degree")
    _hold({j for term in terms for j in term} == set(range(sizes["F"])) and all(terms), "terms of all columns")
    if model.orthogonal:
        _same(model.recurrence_.shape[:2], (sizes["F"], model.degrees[1]), "recurrence")


def _spline(model: Spline, sizes: Sizes) -> None:
    _same(len(model.knots_), sizes["F"], "knots of the columns")
    for knots in model.knots_:
        _hold(len(knots) > 1 and all(a < b for a, b in pairwise(knots)), "knots that rise")


def _fourier(model: Fourier, sizes: Sizes) -> None:
    if model.random:
        _same((*model.directions_.shape, *model.phases_.shape), (sizes["F"], model.terms, model.terms), "directions")
    else:
        _same(len(model.frequency_), sizes["F"], "frequencies")
        _hold(model.terms * sizes["F"] <= MOST_WORK, f"at most {MOST_WORK} frequencies")


def _ordinal(model: OrdinalRegression, sizes: Sizes) -> None:
    ends = model.thresholds_
    _hold(len(ends) == sizes["C"] - 1 and bool((ends[1:] >= ends[:-1]).all()), "thresholds that ascend")
    _same(len(model.coef_), 1, "rows of slopes")
    _hold(len(model._fits) == 1, "one fit")
    fitted = int((np.append(ends, np.inf) > np.append(-np.inf, ends)).sum())
    _same(len(model._fits[0].solution.theta), fitted - 1, "thresholds of the fit")


def _beside(model: Beside, sizes: Sizes) -> None:
    for one in model.bases_:
        _same(one.n_features_in_, sizes["F"], "columns")


def _after(model: After, sizes: Sizes) -> None:
    _same(model.inner_.n_features_in_, sizes["F"], "columns")
    _same(model.outer_.n_features_in_, basis_size(model.inner_), "columns")


INVARIANTS: dict[type[Any], Callable[[Any, Sizes], None]] = {
    **{Moments: _moments, ClassMoments: _class_moments, ColumnScaling: _scaling, Dependence: _dependence},
    **{Fit: _fit, Factor: _factor, SpectralFactor: _spectral, CholeskyFactor: _cholesky},
    **{Scan: _scan, Adaptation: _adaptation, Recording: _recording, Coding: _coding, Column: _column, Effect: _effect},
    **{
        OnlineSystem: _online,
        OnlineClassifier: _online_classifier,
        Scheme: _scheme,
        ClosedFormClassifier: _closed_form,
    },
    **dict.fromkeys(KNOWN.values(), _labels),
    **{Polynomial: _polynomial, Spline: _spline, Fourier: _fourier, Beside: _beside, After: _after},
}
"""What an object must satisfy beside the forms of its attributes; a class has that of its bases too."""
