"""How the fields of an object in a model file must fit together, so that its methods and native code can rely on them.

RELATIONS has a function for each class. Forms of single fields are in their annotations (`adaline.forms`); `checks.py`
tests both.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from adaline.attributes import own_attributes
from adaline.basis import After, Beside, Fourier, Polynomial, Spline
from adaline.block import Shape
from adaline.coding import Coding, Column, Effect, HashedColumn, WordColumn
from adaline.coding.columns import MOST_WIDTH
from adaline.coding.contrasts import contrast_of
from adaline.coding.expressions import compiled, names_in
from adaline.coding.formula import targets_of
from adaline.coding.learned import LearnedFunction
from adaline.errors import AdalineError
from adaline.fits.additive.design import AdditiveDesign
from adaline.fitted import AnyModel
from adaline.forms import SHARE_ROUNDING, ClassesOf, Sizes
from adaline.scans import AdaptiveRule, CoordinateRule, Scan
from adaline.scans.tally import MISTAKES, SIZE, STATUS, STEPS, UPDATES, WEIGHT, State
from adaline.solvers.least_squares.dependence import Dependence
from adaline.solvers.least_squares.factor import CholeskyFactor, ColumnScaling, Factor, SpectralFactor
from adaline.solvers.least_squares.fit import Fit
from adaline.storage.fields import KNOWN, fields_of
from adaline.sums import ClassMoments, Components, Moments
from adaline.systems.families.adaptation import VARIANTS, Adaptation
from adaline.systems.families.closed_form import ClosedFormClassifier
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
SOLVED: dict[str, str] = {
    "LeastSquaresClassifier": "coef intercept rank",
    "FisherDiscriminant": "coef intercept means mean n_features_out criterion directions",
    "GaussianClassifier": "priors means covariance",
}
"""What fit learns where there are rows of two classes or more."""


class Misfit(ValueError):
    """What a file holds is not what its place takes."""


def basis_size(basis: Any) -> int:
    """Return how many columns a basis makes, from its arguments and attributes, without making them."""
    if isinstance(basis, Polynomial):
        return len(basis.terms_)
    if isinstance(basis, Fourier):
        return int(basis.terms) if basis.random else 2 * int(basis.terms) * basis.n_features_in_
    if isinstance(basis, Spline):
        return sum(map(basis.width, basis.knots_))
    if isinstance(basis, AdditiveDesign):
        return basis.size
    if isinstance(basis, Beside):
        return sum(map(basis_size, basis.bases_))
    return basis_size(basis.outer_) if isinstance(basis, After) else len(basis.centres_)


def refuse_unequal(found: object, expected: object, what: str) -> None:
    """Raise Misfit where two values differ."""
    if found != expected:
        raise Misfit(f"{what}: {found} and {expected}")


def refuse_unless(true: object, what: str) -> None:
    """Raise Misfit where a condition does not hold."""
    if not true:
        raise Misfit(what)


def _moments(made: Moments, sizes: Sizes) -> None:
    q, buffer = made.columns, made.buffer
    refuse_unless(
        q <= len(buffer) and len(buffer) == 3 + 4 * q + q * q and buffer.flags.c_contiguous, "moments of that size"
    )
    whole = buffer[0] == np.floor(buffer[0]) and 0 <= buffer[0] < 2**63 and buffer[1] >= 0 and buffer[2] in (0.0, 1.0)
    refuse_unless(whole, "rows, weight and mode of moments")
    _exponents(made.exponent)
    refuse_unless((made.noise >= 0).all(), "noise of zero or more")


def _exponents(exponent: Any) -> None:
    """Refuse exponents that are not whole numbers in the range of float64: int of others is undefined in C++."""
    good = (np.abs(exponent) <= LARGEST_EXPONENT) & (exponent == np.floor(exponent))
    refuse_unless(good.all(), "exponents that are whole numbers in range")


def _class_moments(made: ClassMoments, sizes: Sizes) -> None:
    refuse_unless(len({part.shape for part in made.parts}) == 1, "classes of one shape")


def _scaling(made: ColumnScaling, sizes: Sizes) -> None:
    refuse_unless(len(made.exponent) >= made.features, "scales of all columns")
    _exponents(made.exponent)


def _factor(made: Factor, sizes: Sizes) -> None:
    refuse_unless(made.rank <= int(made.alive.sum()), "a rank of at most the columns that vary")


def _fit(made: Fit, sizes: Sizes) -> None:
    if made.factor is not None:
        refuse_unequal(
            len(made.factor.scaling.exponent), len(made.factor.length) + len(made.squares), "scaled columns of a fit"
        )


def _spectral(made: SpectralFactor, sizes: Sizes) -> None:
    refuse_unequal(made.rank, len(made.s), "rank")
    refuse_unless(all((np.abs(basis) < 1.001).all() for basis in (made.v, made.null)), "columns of length 1")
    refuse_unless(not made.v[~made.alive].any(), "directions of columns that vary")
    out = copy.copy(made).dependence.left_out  # of a copy, as it is kept once computed
    refuse_unequal(len(out), int(made.alive.sum()) - made.rank, "columns left out")


def _cholesky(made: CholeskyFactor, sizes: Sizes) -> None:
    refuse_unless((made.r.diagonal() != 0).all(), "a factor that is not singular")


def _dependence(made: Dependence, sizes: Sizes) -> None:
    out = made.left_out
    refuse_unless(
        (np.diff(out) > 0).all() and (not len(out) or 0 <= out[0] <= out[-1] < len(made.constant)), "columns left out"
    )


def _scan(made: Scan, sizes: Sizes) -> None:
    """The arrays fit together, and the rule is that of the class: native code reads them."""
    if isinstance(made, CoordinateRule):
        refuse_unless(
            1 + made.outputs * made.pace + made.average <= made.root.shape[2]
            and made.root.shape[1] == 1 + made.features,
            "a state",
        )
        refuse_unequal(made.features, sizes.setdefault("D", made.features), "columns of a scan")
    n, given = made.theta.shape[1], own_attributes(made)
    names = ("variant", "activation", "wide", "eps", "leak", "forget", "loss", "penalty", "l1", "average")
    options: dict[str, Any] = {name: given[name] for name in names if name in given}
    if made.classes:
        options["classes"] = len(made.theta)
    plain = type(made).start(Shape(1, len(made.theta)), **options)
    refuse_unless(made.rule == plain.rule and made.classes == plain.classes, "the rule of a scan")
    root = (made.roots, 1 if given.get("wide") else n, -(-n // 8) * 8) if made.roots else (0, 0, 0)
    if isinstance(made, CoordinateRule):
        root = (1, 1 + made.features, plain.root.shape[2])
        refuse_unless(
            (made.root[0, :, [0, *range(2, 1 + made.outputs * made.pace, made.pace)]] >= 0).all(), "sums of squares"
        )
        if made.average:
            last = made.root[0, :, 1 + made.outputs * made.pace]
            refuse_unless(((last >= 0) & (last <= made.steps)).all(), "rows that were averaged")
    refuse_unequal(made.root.shape, root, "root of a scan")
    refuse_unequal(made.lag.shape, made.theta.shape if plain.lag.size else (0, 0), "lag of a scan")
    refuse_unequal(made.good.shape, made.theta.shape if plain.good.size else (0, 0), "weights saved")
    for name in fields_of(type(made)).keys() & {"theta", "good", "numbers", "lag", "root"}:
        refuse_unless(given[name].flags.c_contiguous, f"{name} in the order of C")
    _tallies(made.numbers)


def _tallies(numbers: Any) -> None:
    good = numbers[STATUS] in [state.value for state in State] and 0 <= numbers[STEPS] < 2**53
    good = good and np.isfinite(numbers[[WEIGHT, MISTAKES, UPDATES]]).all()
    refuse_unless(
        good and not np.isnan(numbers).any() and (np.abs(numbers) < np.inf).sum() >= SIZE - 1, "tallies of a scan"
    )


def _adaptation(made: Adaptation, sizes: Sizes) -> None:
    refuse_unless(made.rule == "rls" or made.rule in VARIANTS, "a rule of adaptive filters")
    _taps(made, sizes)
    reach = max(made.delay + max(made.taps) - 1, 1)
    refuse_unless(reach <= made.end <= made.samples.shape[1], "samples of the filter")
    _scan(made.scan, sizes)


def _recording(made: Recording, sizes: Sizes) -> None:
    _taps(made, sizes)
    refuse_unless((made.done is None) == (made.total is None), "sums of a recording")


def _taps(made: Any, sizes: Sizes) -> None:
    refuse_unequal(len(made.taps), sizes["S"], "signals")
    refuse_unless(min(made.taps, default=0) > 0, "taps of one or more")
    refuse_unequal(sum(made.taps), sizes.setdefault("D", sum(made.taps)), "taps")
    refuse_unless(abs(made.delay) + max(made.taps) <= LONGEST_REACH, f"a reach of at most {LONGEST_REACH} samples")


def _coding(made: Coding, sizes: Sizes) -> None:
    factors = [factor for term in made.terms for factor in term.factors]
    calls: dict[str, LearnedFunction] = {}
    for factor in factors:
        refuse_unless(factor.category or not factor.full, "factors of numbers")
        read = [*((name, False) for name in factor.numbers()), *((name, True) for name in factor.categories())]
        refuse_unless({*read} <= {(column.name, column.is_category) for column in made.columns}, "columns of factors")
        if factor.column is None:
            found = compiled(factor.text)
            calls |= {call.text: call.learner for call in found.calls}
            refuse_unless(factor.category == (found.kind in ("boolean", "levels")), "factors of levels")
        elif factor.category and factor.text != factor.column:
            contrast = contrast_of(factor.text)
            refuse_unless(contrast is not None and contrast.column == factor.column, "contrasts of factors")
    refuse_unless(all(term.factors for term in made.terms), "factors of terms")
    plain = made.offset is None or any(column.name == made.offset for column in made.columns)
    refuse_unless(plain or "(" not in str(made.offset) or compiled(str(made.offset)).plain, "an offset of numbers")
    refuse_unless(
        len(made.facts) == len(made.learned) and made.facts.keys() == calls.keys(), "what functions have learned"
    )
    refuse_unless(all(learner.fits(made.facts[text]) for text, learner in calls.items()), "what functions have learned")
    _notations(made)
    refuse_unequal(made.count, sizes["F"], "columns of the coding")


def _notations(made: Coding) -> None:
    named = [name for one in made.notations for name in one.columns]
    refuse_unless(all(one.known and one.columns for one in made.notations), "notations of numbers and dates")
    refuse_unless(len({*named}) == len(named), "one notation for each column")
    if made.target is not None:  # a coding does not name several targets
        others = [text for text in (made.target, made.weight, made.offset) if text is not None]
        plain = {*made.needed, *others, *chain(*map(_names_of, others))}
        refuse_unless({*named} <= plain, "notations of its columns")


def _names_of(text: str) -> list[str]:
    """Return the columns of an expression, such as a target; none where it is a name that is no expression."""
    try:
        return [name for one in targets_of(text) for name in (one, *names_in(one))]
    except AdalineError:
        return []


def _effect(made: Effect, sizes: Sizes) -> None:
    levels = made.levels
    texts = levels.dtype.kind == "O" and all(type(level) is str for level in levels)
    refuse_unless(texts or levels.dtype in (np.int64, np.float64), "levels that are numbers or texts")
    refuse_unless(len(levels) < 2 or bool((levels[:-1] < levels[1:]).all()), "levels that are sorted, each once")
    refuse_unless(
        bool((made.values < np.inf).all()) and made.missing != np.inf, "effects that are finite, or minus infinity"
    )
    refuse_unless(len(made.directions) in (0, 1 + len(levels)), "directions of the levels")


def _components(made: Components, sizes: Sizes) -> None:
    refuse_unless((made.log_weights <= SHARE_ROUNDING).all(), "shares of components")
    refuse_unless(np.isfinite(made.log_weights).any(), "a component that has a share")


def _column(made: Column, sizes: Sizes) -> None:
    refuse_unless(len(set(made.levels)) == len(made.levels) and len(made.share) in (0, len(made.levels)), "levels")
    if isinstance(made, HashedColumn | WordColumn):
        hashed, width = isinstance(made, HashedColumn), made.width
        refuse_unless(
            (2 <= width <= MOST_WIDTH and not width & (width - 1)) or not (hashed or width), "a width of columns"
        )
        refuse_unless(
            hashed or (made.of_texts and len(made.share) == len(made.levels) and bool(made.levels) != bool(width)),
            "words",
        )
    if isinstance(made, WordColumn):
        refuse_unless(1 <= made.ngrams <= 8 and not (width and made.weighting == "tfidf"), "words")


def _labels(model: AnyModel, sizes: Sizes) -> None:
    if isinstance(model, GeneralizedLinear | LogisticRegression | OrdinalRegression):
        _likelihoods(model)
    if "C" in sizes:
        classes = model.classes_
        refuse_unless(len(classes) > 1 or not isinstance(model, OnlineClassifier), "two classes or more")
        if isinstance(model, OrdinalRegression):
            _ordinal(model, sizes)
        elif "K" in sizes:
            refuse_unless(sizes["K"] in (sizes["C"], 1 if sizes["C"] <= 2 else -1), "an output for each class")


def _likelihoods(model: GeneralizedLinear | LogisticRegression | OrdinalRegression) -> None:
    """The fits are of the kind of their system: those of classes have no family, all others have one."""
    with_family = isinstance(model, GeneralizedLinear)
    refuse_unless(
        all((fit.family is not None) == with_family for fit in getattr(model, "_fits", ())), "fits of one kind"
    )
    if isinstance(model, LogisticRegression) and getattr(model, "_fits", None):
        refuse_unequal(sum(len(fit.solution.theta) for fit in model._fits), len(model.coef_), "machines of the fits")


def _online(model: OnlineSystem, sizes: Sizes) -> None:
    refuse_unless(isinstance(model._scan, model._rule | AdaptiveRule | CoordinateRule), "the scan of its rule")
    refuse_unequal(model._result.pocket is not None, isinstance(model, Pocket), "a pocket")
    if getattr(model, "_flat", None):
        refuse_unequal(len(model._scan.theta), 1, "outputs")


def _online_classifier(model: OnlineClassifier, sizes: Sizes) -> None:
    refuse_unless(
        repr(model._with_classes(model.classes_)["targets"]) == repr(model._targets), "targets of the classes"
    )
    if isinstance(model, OnlineLogistic):
        _online_logistic(model)
        return
    refuse_unequal(
        model._scan.classes, model._rule.classes or getattr(model._scan, "activation", None) == "softmax", "targets"
    )
    outputs = len(model.classes_) if model._scan.classes else model._class_targets(len(model.classes_)).shape[1]
    refuse_unequal(len(model._scan.theta), outputs, "outputs")


def _online_logistic(model: OnlineLogistic) -> None:
    assert model._state is not None
    expected = model._scan_of(model._state, 1)
    scan = model._coordinates
    refuse_unless(isinstance(scan, CoordinateRule), "the scan of the log loss")
    refuse_unequal((scan.loss, scan.outputs), (expected.loss, expected.outputs), "loss and outputs")
    names = model._names
    refuse_unless(names is None or list(names.values()) == list(range(model.n_features_in_)), "columns by name")


def _closed_form(model: ClosedFormClassifier, sizes: Sizes) -> None:
    refuse_unequal(len(model._sums.parts), sizes["C"], "classes of the sums")
    known = model._sums.weights > 0
    if known.sum() > 1:
        for name in SOLVED[type(model).__name__].split():
            refuse_unless(getattr(model._state, name) is not None, f"{type(model).__name__} lacks {name}")
        densities = hasattr(model, "_densities") or hasattr(model, "_mixtures")
        refuse_unless(
            not isinstance(model, GaussianClassifier) or bool(densities), "GaussianClassifier lacks its densities"
        )
    if hasattr(model, "intercept_"):
        level = model.intercept_
        if len(level) == 1 < len(known):
            refuse_unless(np.isfinite(level[0]) if known.all() else np.isinf(level[0]), "the intercept of two classes")
        else:
            refuse_unless(
                np.isfinite(level[known]).all() and np.isneginf(level[~known]).all(), "intercepts of the classes"
            )
    if isinstance(model, GaussianClassifier):
        priors = getattr(model, "priors_", known / known.sum())
        refuse_unless(not priors[~known].any(), "priors of the classes")
        if hasattr(model, "_densities"):
            found, there = model._densities, known & (known.sum() > 1)
            refuse_unless(
                [factor is not None for factor in found.factors] == there.tolist(), "densities of the classes"
            )


def _scheme(model: AnyModel, sizes: Sizes) -> None:
    refuse_unequal(len(model.estimators_), len(model._targets(len(model.classes_))), "machines")
    for one in model.estimators_:
        refuse_unequal(getattr(one, "n_features_in_", sizes["D"]), sizes["D"], "columns of a machine")


def _polynomial(model: Polynomial, sizes: Sizes) -> None:
    terms = model.terms_
    refuse_unequal((min(map(len, terms), default=0), max(map(len, terms), default=0)), model.degrees, "degree")
    refuse_unless({j for term in terms for j in term} == set(range(sizes["F"])) and all(terms), "terms of all columns")
    if model.orthogonal:
        refuse_unequal(model.recurrence_.shape[:2], (sizes["F"], model.degrees[1]), "recurrence")


def _fourier(model: Fourier, sizes: Sizes) -> None:
    if model.random:
        refuse_unequal(
            (*model.directions_.shape, *model.phases_.shape), (sizes["F"], model.terms, model.terms), "directions"
        )
    else:
        refuse_unless(model.terms * sizes["F"] <= MOST_WORK, f"at most {MOST_WORK} frequencies")


def _ordinal(model: OrdinalRegression, sizes: Sizes) -> None:
    ends = model.thresholds_
    refuse_unless(len(ends) == sizes["C"] - 1, "thresholds that ascend")
    refuse_unless(ClassesOf("C").holds(np.sort(model.classes_), sizes), "classes, each once")
    refuse_unless(len(model._fits) == 1, "one fit")
    fitted = int((np.append(ends, np.inf) > np.append(-np.inf, ends)).sum())
    refuse_unequal(len(model._fits[0].solution.theta), fitted - 1, "thresholds of the fit")


def _beside(model: Beside, sizes: Sizes) -> None:
    for one in model.bases_:
        refuse_unequal(one.n_features_in_, sizes["F"], "columns")


def _after(model: After, sizes: Sizes) -> None:
    refuse_unequal(model.inner_.n_features_in_, sizes["F"], "columns")
    refuse_unequal(model.outer_.n_features_in_, basis_size(model.inner_), "columns")


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
