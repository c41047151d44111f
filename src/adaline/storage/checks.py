"""Whether a model that was read is whole: the forms of its fields, how they fit together, and one row predicted.

A file may come from a stranger, with checksums that are right. So nothing is handed over before it was checked: each
field against its annotation (`adaline.forms`), and each object against the relations that its methods rely on
(`RELATIONS`).
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from enum import Enum
from itertools import chain
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

from adaline.attributes import own_attributes
from adaline.basis import After, Basis, Beside, Fourier, Polynomial, Spline
from adaline.block import Shape
from adaline.coding import Coding, Column, Effect, HashedColumn, WordColumn
from adaline.coding.columns import MOST_WIDTH
from adaline.coding.contrasts import contrast_of
from adaline.coding.expressions import compiled, names_in
from adaline.coding.formula import targets_of
from adaline.coding.learned import LearnedFunction
from adaline.construction import check_values, checks_of
from adaline.errors import AdalineError
from adaline.fitted import AnyModel
from adaline.forms import SHARE_ROUNDING, ClassesOf, FieldValue, Sizes
from adaline.input.system import System, columns_on
from adaline.scans import AdaptiveRule, CoordinateRule, Scan
from adaline.scans.tally import MISTAKES, SIZE, STATUS, STEPS, UPDATES, WEIGHT, State
from adaline.solvers.least_squares.dependence import Dependence
from adaline.solvers.least_squares.factor import CholeskyFactor, ColumnScaling, Factor, SpectralFactor
from adaline.solvers.least_squares.fit import Fit
from adaline.state import HELD, as_fitted, change_state
from adaline.storage.fields import CLASSES, KNOWN, OUTPUT, fields_of, names_beside, state_class
from adaline.sums import ClassMoments, Components, Moments
from adaline.systems import SYSTEMS
from adaline.systems.families.adaptation import VARIANTS, Adaptation
from adaline.systems.families.closed_form import ClosedFormClassifier
from adaline.systems.families.online import OnlineSystem
from adaline.systems.families.online_classifier import OnlineClassifier
from adaline.systems.families.scheme import Scheme
from adaline.systems.gaussian_classifier import GaussianClassifier
from adaline.systems.generalized_linear import GeneralizedLinear
from adaline.systems.lms import LMS
from adaline.systems.logistic_regression import LogisticRegression
from adaline.systems.online_logistic import OnlineLogistic
from adaline.systems.ordinal_regression import OrdinalRegression
from adaline.systems.pocket import Pocket
from adaline.systems.wiener_filter import Recording

LARGEST_EXPONENT = 2200  # of a column's scale, a power of two: float64 has 2^-1074 to 2^1024
LONGEST_REACH = 10**7  # samples that a filter may look back or ahead
MOST_WORK = 10**7  # powers and frequencies that a basis may compute for a row

SOLVED: dict[str, str] = {
    "LeastSquaresClassifier": "coef intercept rank",
    "FisherDiscriminant": "coef intercept means mean n_features_out criterion directions",
    "GaussianClassifier": "priors means covariance",
}
"""What fit learns where there are rows of two classes or more."""


ALWAYS: dict[type[Any], tuple[str, ...]] = {
    OnlineClassifier: ("classes", "targets"),
    LMS: ("flat",),
}
"""What a system always learns of what is optional in a state that it shares with others."""


class Misfit(ValueError):
    """What a file holds is not what its place takes."""


def check_model(model: AnyModel) -> None:
    """Refuse a system that is not whole: forms, relations, constructor arguments, and one row predicted on trial."""
    sizes: Sizes = {}
    check_fitted(model, sizes)
    if not sizes["F"]:  # a constant alone, which no array can be given to
        return
    trial = copy.copy(model)
    blank = dict.fromkeys({"names", "with_offset"} & model._state.by_name().keys())  # the row has none, and no levels
    change_state(trial, columns=columns_on(model)._replace(names=None, coding=None), **blank)
    bounded = isinstance(trial, GeneralizedLinear) and trial._fitted_with.of_row().linked is not None
    with np.errstate(all="ignore"):  # where means are bounded, the row may have none
        (trial._outputs if bounded else trial.predict)(np.zeros((1, sizes["F"])))


def check_fitted(model: AnyModel, sizes: Sizes) -> None:
    """Refuse a system or a basis whose arguments or state are not as fit leaves them; `sizes` are then known."""
    cls = type(model)
    arguments = _check_arguments(model)
    beside = {name: value for name, value in own_attributes(model).items() if name not in (*arguments, HELD)}
    forms = names_beside(cls)
    if more := beside.keys() - forms.keys():
        raise Misfit(f"{cls.__name__} has no {min(more)}")
    for name, value in beside.items():
        require(value, forms[name], sizes, f"{name} of {cls.__name__}")
    state, wanted = model._state, state_class(cls)
    if (state is None) != (wanted is None) or (isinstance(model, Basis) and "n_features_in_" not in beside):
        raise Misfit(f"{cls.__name__} is not fitted")
    if isinstance(model, System):
        _check_columns(model, sizes)
    if state is not None:
        _check_fields(state, sizes, cls.__name__, but="columns")
    if isinstance(model, System):
        kind: Any = cls
        checks = checks_of(kind)
        for name, value in own_attributes(model._fitted_with).items():
            checks[name].check(name, value)
        model = as_fitted(model)
    for base in cls.__mro__:
        for name in ALWAYS.get(base, ()):
            _hold(getattr(state, name) is not None, f"{cls.__name__} lacks {name}")
        if base in RELATIONS:
            RELATIONS[base](model, sizes)


def _check_columns(model: AnyModel, sizes: Sizes) -> None:
    """Refuse columns that do not fit together; D is then known, and of a filter S."""
    columns = model._state.columns
    check_object(columns, sizes)
    width = columns.count
    if columns.basis is not None:
        _same(columns.basis.n_features_in_, width, "columns of the basis")
        width = basis_size(columns.basis)
    _same(sizes.setdefault("S" if hasattr(model, "taps") else "D", width), width, "columns")


def _check_arguments(model: AnyModel) -> list[str]:
    """Refuse constructor arguments that are not valid; return their names."""
    check_values(model)
    names = list(inspect.signature(type(model)).parameters)
    for name in names:
        value = getattr(model, name)
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, Basis) or type(one) in SYSTEMS.values():
                _check_inner(one)
    return names


def _check_inner(model: AnyModel) -> None:
    """Refuse a system or a basis inside another that is neither as its constructor nor as fit leaves it."""
    more = own_attributes(model).keys() - {*inspect.signature(type(model)).parameters, OUTPUT}
    if more:
        check_fitted(model, {})
    else:
        _check_arguments(model)


def _check_fields(made: Any, sizes: Sizes, owner: str, but: str = "") -> None:
    """Refuse an object of which a field, but for one, is not of its annotation."""
    for name, field in fields_of(type(made)).items():
        value = getattr(made, name)
        if field.kept and value is not field.default and name != but:
            require(value, field.hint, sizes, f"{name} of {owner}")


def check_object(made: Any, sizes: Sizes) -> None:
    """Refuse an object whose fields are not of their annotations, or do not fit together."""
    cls = type(made)
    _check_fields(made, sizes, cls.__name__)
    for base in cls.__mro__:
        if base in RELATIONS:
            RELATIONS[base](made, sizes)


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


def require(value: FieldValue, hint: FieldValue, sizes: Sizes, where: str) -> None:
    """Refuse a value that is not of an annotation, and say where it is."""
    if not _fits(value, hint, sizes):
        raise Misfit(f"{where} is not {_in_words(hint)}")


def _fits(value: Any, hint: Any, sizes: Sizes) -> bool:
    """Whether a value is of an annotation; sizes that were not known are then."""
    inner = get_args(hint)
    match get_origin(hint):
        case None:
            return _is_one(value, hint, sizes)
        case origin if origin is Annotated:
            return _fits(value, inner[0], sizes) and all(form.holds(value, sizes) for form in inner[1:])
        case origin if origin is Union or origin is UnionType:
            for one in inner:
                tried = dict(sizes)
                if _fits(value, one, tried):
                    sizes |= tried
                    return True
            return False
        case origin if origin is Literal:
            return any(type(value) is type(one) and value == one for one in inner)
        case origin if origin is np.ndarray:
            return type(value) is np.ndarray
        case origin if origin is list or origin is tuple:
            return type(value) is origin and _each(value, inner[0], sizes)
        case origin if origin is dict:
            return type(value) is dict and _each(value, inner[0], sizes) and _each(value.values(), inner[1], sizes)
    return False  # a function


def _each(values: Any, hint: Any, sizes: Sizes) -> bool:
    """Whether all items are of an annotation, in sizes of their own but for D."""
    for value in values:
        own = {"D": sizes["D"]} if "D" in sizes else {}
        if not _fits(value, hint, own):
            return False
        if "D" in own:
            sizes["D"] = own["D"]
    return True


def _is_one(value: Any, kind: Any, sizes: Sizes) -> bool:
    """Whether a value is of a class; objects, systems and bases are checked."""
    if kind is Any:
        return True
    if kind in (str, float) or issubclass(kind, Enum | np.generic):  # texts and floats may be those of NumPy
        return isinstance(value, kind)
    if kind is int:
        return type(value) is int and abs(value) < 2**63
    if kind in (bool, NoneType):
        return type(value) is kind
    if issubclass(kind, Basis | System):
        if not isinstance(value, Basis) if issubclass(kind, Basis) else type(value) not in SYSTEMS.values():
            return False
        check_fitted(value, {}) if issubclass(kind, Basis) else _check_inner(value)  # a machine may have had no rows
        return True
    if not isinstance(value, kind) or type(value) not in CLASSES.values():
        return False
    check_object(value, sizes)
    return True


def _in_words(hint: Any) -> str:
    """Return an annotation in words."""
    inner = get_args(hint)
    match get_origin(hint):
        case None:
            return "None" if hint is NoneType else str(getattr(hint, "__name__", hint))
        case origin if origin is Annotated:
            return " and ".join(map(str, inner[1:]))
        case origin if origin is Union or origin is UnionType:
            return " or ".join(map(_in_words, inner))
        case origin if origin is Literal:
            return " or ".join(map(repr, inner))
        case origin if origin is np.ndarray:
            return "an array"
        case origin if origin is dict:
            return f"a dict of {_in_words(inner[0])} to {_in_words(inner[1])}"
    return f"a {get_origin(hint).__name__} of {_in_words(inner[0])}" if inner else str(hint)


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
    _same(made.good.shape, made.theta.shape if plain.good.size else (0, 0), "weights saved")
    for name in fields_of(type(made)).keys() & {"theta", "good", "numbers", "lag", "root"}:
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


def _components(made: Components, sizes: Sizes) -> None:
    _hold((made.log_weights <= SHARE_ROUNDING).all(), "shares of components")
    _hold(np.isfinite(made.log_weights).any(), "a component that has a share")


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
    if isinstance(model, GeneralizedLinear | LogisticRegression | OrdinalRegression):
        _likelihoods(model)
    if "C" in sizes:
        classes = model.classes_
        _hold(len(classes) > 1 or not isinstance(model, OnlineClassifier), "two classes or more")
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
        for name in SOLVED[type(model).__name__].split():
            _hold(getattr(model._state, name) is not None, f"{type(model).__name__} lacks {name}")
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
        _hold(not priors[~known].any(), "priors of the classes")
        if hasattr(model, "_densities"):
            found, there = model._densities, known & (known.sum() > 1)
            _hold([factor is not None for factor in found.factors] == there.tolist(), "densities of the classes")


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


def _fourier(model: Fourier, sizes: Sizes) -> None:
    if model.random:
        _same((*model.directions_.shape, *model.phases_.shape), (sizes["F"], model.terms, model.terms), "directions")
    else:
        _hold(model.terms * sizes["F"] <= MOST_WORK, f"at most {MOST_WORK} frequencies")


def _ordinal(model: OrdinalRegression, sizes: Sizes) -> None:
    ends = model.thresholds_
    _hold(len(ends) == sizes["C"] - 1, "thresholds that ascend")
    _hold(ClassesOf("C").holds(np.sort(model.classes_), sizes), "classes, each once")
    _hold(len(model._fits) == 1, "one fit")
    fitted = int((np.append(ends, np.inf) > np.append(-np.inf, ends)).sum())
    _same(len(model._fits[0].solution.theta), fitted - 1, "thresholds of the fit")


def _beside(model: Beside, sizes: Sizes) -> None:
    for one in model.bases_:
        _same(one.n_features_in_, sizes["F"], "columns")


def _after(model: After, sizes: Sizes) -> None:
    _same(model.inner_.n_features_in_, sizes["F"], "columns")
    _same(model.outer_.n_features_in_, basis_size(model.inner_), "columns")


RELATIONS: dict[type[Any], Callable[[Any, Sizes], None]] = {
    **{Moments: _moments, ClassMoments: _class_moments, ColumnScaling: _scaling, Dependence: _dependence},
    **{Components: _components, Fit: _fit, Factor: _factor, SpectralFactor: _spectral, CholeskyFactor: _cholesky},
    **{Scan: _scan, Adaptation: _adaptation, Recording: _recording, Coding: _coding, Column: _column, Effect: _effect},
    **{
        OnlineSystem: _online,
        OnlineClassifier: _online_classifier,
        Scheme: _scheme,
        ClosedFormClassifier: _closed_form,
    },
    **dict.fromkeys(KNOWN.values(), _labels),
    **{Polynomial: _polynomial, Fourier: _fourier, Beside: _beside, After: _after},
}
"""What an object must satisfy beside the forms of its attributes; a class has that of its bases too."""
