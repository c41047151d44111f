"""Steps of scikit-learn in model files: the pipelines whose every step is known, whole or refused.

For each step the file has the constructor arguments and what fit has learned; whatever follows from these (such as the
columns that a ColumnTransformer gives to each part) is derived again by the version of scikit-learn that reads the
file. So everything in a file is checked here: arguments by scikit-learn's own checks, learned values by `LEARNED`, and
the whole by passing a row through all steps.
"""

from __future__ import annotations

import math
import numbers
import string
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Annotated, Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from adaline.attributes import give_attributes, own_attributes
from adaline.basis import Basis, Custom
from adaline.construction import check_parameters
from adaline.errors import InvalidType
from adaline.fitted import AnyModel, can_transform
from adaline.forms import Axes, FieldValue, Range, Size
from adaline.input.system import System, columns_on
from adaline.state import HELD, change_state
from adaline.storage.checks import check_fitted, check_model, require
from adaline.storage.fields import KNOWN, OUTPUT
from adaline.storage.pipelines import real_steps
from adaline.storage.relations import Misfit
from adaline.systems import CUSTOM

# columns that one step may make, that all steps of a file may take, and that all parts of its ColumnTransformers may
# take; 10x larger lets a file ask for ten times the memory
MOST_COLUMNS = 10**6
# largest degree of polynomials, and the number that the degree or the number of columns must not exceed: with both
# larger there are too many terms
MOST_DEGREE, MANY = 1000, 24
MOST_JOBS = 256  # processes that a file may ask for
MAY_BE_CODE = ("strategy", "feature_name_combiner", "verbose_feature_names_out")
PLACEHOLDERS = ("passthrough", "drop")
SCALARS = (str, bool, int, float, np.generic)
SKLEARN: str = sklearn.__version__
VERSION = "_sklearn_version"
DEPRECATED = "deprecated"  # the value of arguments that later versions do not have

Anything = NDArray[Any]


def _are_levels(levels: Any) -> bool:
    """Whether a value is an array of categories, all different, those that are numbers rising."""
    if type(levels) is not np.ndarray or levels.ndim != 1 or levels.dtype.kind not in "biufUO" or not len(levels):
        return False
    present = [level for level in levels.tolist() if not is_missing(level)]
    if not all(isinstance(level, SCALARS) for level in present) or len(levels) - len(present) > 2:
        return False
    return len(set(present)) == len(present) and (levels.dtype.kind in "UO" or present == sorted(present))


def _are_indices(values: Any) -> bool:
    return all(one is None or type(one) in (int, np.int64) for one in values.tolist())


def _are_values(values: Any) -> bool:
    return all(one is None or isinstance(one, SCALARS) for one in values.flat)


def _rise_from_zero(values: Any) -> bool:
    return bool(np.array_equal(values, np.unique(values)) and (not len(values) or values[0] >= 0))


_COLUMN = Annotated[Anything, Axes("floats", "f", lambda _: True, "F")]
_NUMBER = Range("a number", lambda value: isinstance(value, int | np.integer | np.floating) and type(value) is not bool)
_ROWS = Annotated[Any, _NUMBER] | Annotated[Anything, Axes("numbers", "iuf", lambda _: True, "F")]
_DTYPE = Range("a dtype", lambda value: isinstance(value, np.dtype) and value.kind in "iufO")
_LEVELS = Annotated[list[Annotated[Any, Range("different categories", _are_levels)]], Size("F", len)]

LEARNED: dict[type[Any], dict[str, FieldValue]] = {
    StandardScaler: {"n_samples_seen_": _ROWS, **dict.fromkeys(("mean_", "var_", "scale_"), _COLUMN | None)},
    MinMaxScaler: {
        "n_samples_seen_": _ROWS,
        **dict.fromkeys(("scale_", "min_", "data_min_", "data_max_", "data_range_"), _COLUMN),
    },
    MaxAbsScaler: {"n_samples_seen_": _ROWS, "max_abs_": _COLUMN, "scale_": _COLUMN},
    RobustScaler: dict.fromkeys(("center_", "scale_"), _COLUMN | None),
    Normalizer: {},
    Binarizer: {},
    FunctionTransformer: {},
    PolynomialFeatures: {},
    OneHotEncoder: {
        "categories_": _LEVELS,
        "drop_idx_": Annotated[Anything, Axes("indices", "O", _are_indices, "F")] | None,
    },
    OrdinalEncoder: {"categories_": _LEVELS},
    SimpleImputer: {
        "statistics_": _COLUMN | Annotated[Anything, Axes("values", "O", _are_values, "F")],
        "_fit_dtype": Annotated[Any, _DTYPE],
        "indicator_": Annotated[Any, Range("an indicator", lambda value: type(value) is MissingIndicator)] | None,
    },
    MissingIndicator: {
        "features_": Annotated[Anything, Axes("rising indices", "iu", _rise_from_zero, ".")],
        "_precomputed": bool,
    },
    ColumnTransformer: {
        "transformers_": Annotated[Any, Range("parts", lambda value: _are_parts(value))],
        "sparse_output_": bool | np.bool_,
    },
}
"""What fit learns, by class, with its form; F is the number of columns."""

DERIVED: dict[type[Any], tuple[str, ...]] = {
    OneHotEncoder: ("_infrequent_enabled", "_drop_idx_after_grouping", "_n_features_outs"),
    OrdinalEncoder: ("_infrequent_enabled", "_missing_indices"),
    PolynomialFeatures: ("_min_degree", "_max_degree", "n_output_features_", "_n_out_full"),
    SimpleImputer: ("_fill_dtype",),
    MissingIndicator: ("_n_features",),
    ColumnTransformer: ("_columns", "_transformer_to_input_indices", "_remainder", "output_indices_"),
}
"""What else fit sets: made again from what it learned."""

OPTIONAL = ("feature_names_in_", OUTPUT, "_transformers_feature_names_out")

STEPS: dict[str, type[Any]] = {cls.__name__: cls for cls in (Pipeline, *LEARNED)}


def parts_of_step(step: AnyModel) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the constructor arguments of a step, and what fit has learned; of a Pipeline all is what was learned.

    Requests for metadata (`set_fit_request`) are left out: they are objects of scikit-learn.
    """
    kind: Any = type(step)
    parameters, state = step.get_params(deep=False), own_attributes(step)
    state.pop("_metadata_request", None)
    if kind is Pipeline:
        return {}, {**state, VERSION: SKLEARN}
    derived = DERIVED.get(kind, ())
    state = {key: value for key, value in state.items() if key not in parameters and key not in derived}
    return {key: value for key, value in parameters.items() if type(value) is not str or value != DEPRECATED}, state


def step_of(cls: type[Any], parameters: dict[str, Any], state: dict[str, Any]) -> Any:
    """Return the step of these parts, not yet checked; refuse names that a step does not have."""
    known = {*LEARNED.get(cls, ()), *OPTIONAL, "n_features_in_"}
    if cls is Pipeline:
        parameters = {key: value for key, value in state.items() if key not in (VERSION, OUTPUT)}
        state = {key: value for key, value in state.items() if key == OUTPUT}
    if not state.keys() <= known:
        raise Misfit(f"{cls.__name__} has no {min(state.keys() - known)}")
    if not parameters.keys() <= set(cls._get_param_names()):
        raise Misfit(f"{cls.__name__} has no argument {min(parameters.keys() - set(cls._get_param_names()))}")
    step = cls(**parameters)
    give_attributes(step, state)
    return step


def refuse_unknown(pipeline: Pipeline) -> None:
    """Refuse, by name, a step that a model file cannot hold, and say what to do."""
    for path, step in _all_steps(pipeline, ""):
        kind: Any = type(step)
        advice = "Make its columns before the pipeline, and save the pipeline of the other steps"
        own = step.get_params(deep=False) if _is_step(step) else {}
        if kind is Custom or (kind is FunctionTransformer and (step.func, step.inverse_func) != (None, None)):
            why = f"holds a function of yours, which is code, and a model file holds none. {advice}"
        elif CUSTOM.get(kind.__name__) is kind:
            why = "is made of Python code, and a model file holds numbers and text, never code: pickle the pipeline"
        elif not _is_step(step):
            known = f"{', '.join(STEPS)}, bases and systems of adaline"
            why = f"is none of the steps that a model file holds: {known}. {advice}"
        elif own.get("min_frequency") is not None or own.get("max_categories") is not None:
            why = (
                "groups infrequent categories, which a model file does not hold: set min_frequency=max_categories=None"
            )
        elif own.get("memory") is not None or own.get("transform_input") is not None:
            why = "has memory or transform_input, which a model file does not hold: set both to None"
        elif kind is ColumnTransformer and (name := _code_among(step)):
            why = f"picks the columns of {name!r} by a function, which is code: give their names, or their indices"
        elif any(callable(own.get(key)) for key in MAY_BE_CODE):
            why = "has a function among its arguments, which is code, and a model file holds none"
        else:
            continue
        raise InvalidType(f"cannot store the step {path}: {kind.__name__} {why}")


def _code_among(step: Any) -> str | None:
    """Return the name of a part whose columns are picked by a function of the user's own."""
    for name, _, columns in step.transformers:
        if callable(columns) and type(columns) is not make_column_selector:
            return str(name)
    return None


def _all_steps(step: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Give a step and all steps inside it, with their path."""
    yield path or "Pipeline", step
    inner = step.steps if type(step) is Pipeline else []
    if type(step) is ColumnTransformer:
        inner = [*step.transformers, *getattr(step, "transformers_", ()), ("remainder", step.remainder)]
    for name, one, *_ in inner:
        if one is not None and not (isinstance(one, str) and one in PLACEHOLDERS):
            yield from _all_steps(one, f"{path}.{name}" if path else str(name))


# Checking: each step alone, parts before the whole.


def check_pipeline(pipeline: Pipeline) -> None:
    """Refuse a pipeline that is not whole: every step checked, and one row taken through all of them."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        _check_columns(pipeline)
        _check(pipeline)
        through(pipeline, example(pipeline))


def _hold(right: Any, what: str) -> None:
    if not right:
        raise Misfit(what)


def _check_columns(pipeline: Pipeline) -> None:
    """Refuse more columns than a file may have, before any are made: many steps need no array for theirs."""
    total = given = 0  # to the steps; to the parts of ColumnTransformers
    for _, step in _all_steps(pipeline, ""):
        _hold(hasattr(step, "get_params"), f"a step of type {type(step).__name__} is not supported")
        columns = 0 if KNOWN.get(type(step).__name__) is type(step) else own_attributes(step).get("n_features_in_", 0)
        _hold(type(columns) is int and columns >= 0, f"{type(step).__name__} is not fitted to a number of columns")
        total += columns
        _hold(total <= MOST_COLUMNS, "too many columns")
        if type(step) is ColumnTransformer and columns:
            for _, _, some in getattr(step, "transformers_", ()):
                given += len(column_indices(step, some))
                _hold(given <= MOST_COLUMNS, "too many columns")


def _is_fitted(step: Any) -> bool:
    if type(step) is Pipeline:
        return any(_is_fitted(one) for one in real_steps(step))
    return bool(own_attributes(step).keys() & {"n_features_in_", HELD})


def _check(step: Any, fitted: bool = True) -> None:
    """Refuse a step whose arguments or learned attributes are not as fit leaves them; make what follows from them."""
    kind: Any = type(step)
    system = KNOWN.get(kind.__name__) is kind
    if system and fitted:
        return check_model(step)
    if system or isinstance(step, Basis):
        return check_fitted(step, {}) if fitted or _is_fitted(step) else check_parameters(step)
    _hold(kind in STEPS.values(), f"{kind.__name__} is no step of a pipeline")
    config = getattr(step, OUTPUT, {})
    _hold(type(config) is dict and config.keys() <= {"transform"}, "its output is set to something unknown")
    _hold(all(one in (None, "default", "pandas", "polars") for one in config.values()), "its output is of no library")
    if kind is Pipeline:
        return _check_steps(step, fitted)
    step._validate_params()
    ARGUMENTS.get(kind, lambda _: None)(step)
    if not fitted and not _is_fitted(step):
        rest = own_attributes(step).keys() - step.get_params(deep=False).keys() - {OUTPUT}
        return _hold(not rest, f"{kind.__name__} is half fitted")
    state = own_attributes(step)
    columns: Any = state.get("n_features_in_")
    right = type(columns) is int and 0 <= columns <= MOST_COLUMNS
    _hold(right, f"{kind.__name__} is not fitted to a number of columns")
    _check_names(state.get("feature_names_in_"), columns)
    for name, form in LEARNED[kind].items():
        _hold(name in state, f"{kind.__name__} lacks {name}")
        require(state[name], form, {"F": columns}, f"{name} of {kind.__name__}")
    DERIVE.get(kind, lambda _: None)(step)
    return None


def _check_names(names: Any, columns: Any) -> None:
    if names is not None:
        right = type(names) is np.ndarray and names.dtype == object and names.shape == (columns,)
        _hold(right and all(type(name) is str for name in names), "names of columns are not texts, one each")
        _hold(len(set(names)) == columns, "two columns have one name")


def _check_steps(step: Any, fitted: bool) -> None:
    _hold(step.memory is None and getattr(step, "transform_input", None) is None, "a pipeline with memory")
    _hold(isinstance(step.verbose, bool), "verbose of Pipeline is not bool")
    pairs = step.steps
    _hold(type(pairs) is list and pairs and all(type(one) is tuple and len(one) == 2 for one in pairs), "no steps")
    _hold(all(type(name) is str for name, _ in pairs), "a step has no name")
    _hold(all(_is_step(one) or one in (None, "passthrough") for _, one in pairs), "no step of a pipeline")
    step._validate_names([name for name, _ in pairs])
    whole = fitted or _is_fitted(step)
    for one in real_steps(step):
        _hold(one is pairs[-1][1] or can_transform(one), f"{type(one).__name__} does not transform")
        _check(one, whole)


def _is_step(value: Any) -> bool:
    kind: Any = type(value)
    return kind in STEPS.values() or KNOWN.get(kind.__name__) is kind or isinstance(value, Basis)


def _two_numbers(values: Any, low: float, high: float) -> None:
    right = type(values) is tuple and len(values) == 2 and all(type(one) in (int, float) for one in values)
    _hold(right and low <= values[0] < values[1] <= high, "a range is two rising numbers")


def _encoder(step: Any) -> None:
    _hold(step.min_frequency is None and step.max_categories is None, "infrequent categories")
    _hold(isinstance(step.dtype, type | np.dtype | str), "dtype is no type")
    _hold(np.dtype(step.dtype).kind in "biufO", "dtype is no type of numbers")
    if type(step) is OrdinalEncoder:
        given, missing = step.unknown_value, step.encoded_missing_value
        known = step.handle_unknown == "use_encoded_value"
        _hold(known == (given is not None), "unknown_value goes with use_encoded_value")
        for one in (given if known else 0, missing):
            _hold(isinstance(one, int | float | np.number), "a code is no number")
            if np.dtype(step.dtype).kind != "f":
                _hold(not known or one is missing or np.isfinite(one), "a code does not fit dtype")


def _imputer(step: Any) -> None:
    _hold(isinstance(step.strategy, str), "strategy is no word")
    _hold(step.fill_value is None or isinstance(step.fill_value, SCALARS), "fill_value is no value")


def _function(step: Any) -> None:
    none = (step.func, step.inverse_func, step.kw_args, step.inv_kw_args)
    _hold(all(one is None for one in none), "a function is code")
    _hold(step.feature_names_out in (None, "one-to-one"), "feature_names_out is no word")


def _column_arguments(step: Any) -> None:
    weights, names, jobs = step.transformer_weights, step.verbose_feature_names_out, step.n_jobs
    _hold(jobs is None or 0 < abs(jobs) <= MOST_JOBS, f"n_jobs is not from 1 to {MOST_JOBS}")
    if weights is not None:
        right = all(type(key) is str and isinstance(one, int | float | np.number) for key, one in weights.items())
        _hold(right, "transformer_weights are not numbers")
    if isinstance(names, str):
        fields = [(field, spec, how) for _, field, spec, how in string.Formatter().parse(names) if field is not None]
        known = ("transformer_name", "feature_name")
        _hold(all(field in known and not spec and not how for field, spec, how in fields), "names of columns")
    else:
        _hold(isinstance(names, bool), "verbose_feature_names_out is neither bool nor text")
    _hold(_are_parts(step.transformers, selected=False), "transformers are not (name, transformer, columns)")
    step._validate_names([name for name, *_ in step.transformers])
    parts = [step.remainder, *(one for _, one, _ in step.transformers)]
    for one in parts:
        if not isinstance(one, str):
            _hold(_is_step(one) and can_transform(one), "a part of ColumnTransformer does not transform")
            _check(one, fitted=False)
        else:
            _hold(one in PLACEHOLDERS, "a part of ColumnTransformer is unknown")


def _are_parts(value: Any, selected: bool = True) -> bool:
    """Whether a value is a list of (name, transformer, columns), the columns those that were picked."""
    if type(value) is not list or not all(type(one) is tuple and len(one) == 3 for one in value):
        return False
    return all(
        type(name) is str and (isinstance(one, str) or _is_step(one)) and (_are_columns(columns) or not selected)
        for name, one, columns in value
    )


def _are_columns(columns: Any) -> bool:
    kinds = (str, bool, int, np.str_, np.integer, np.bool_)
    if isinstance(columns, slice):
        return all(one is None or type(one) in (int, str) for one in (columns.start, columns.stop, columns.step))
    if isinstance(columns, np.ndarray):
        return columns.ndim == 1 and all(isinstance(one, kinds) for one in columns.tolist())
    return isinstance(columns, kinds) or (
        isinstance(columns, list | tuple) and all(isinstance(one, kinds) for one in columns)
    )


ARGUMENTS: dict[type[Any], Callable[[Any], None]] = {
    MinMaxScaler: lambda step: _two_numbers(step.feature_range, -math.inf, math.inf),
    RobustScaler: lambda step: _two_numbers(step.quantile_range, 0, 100),
    **dict.fromkeys((OneHotEncoder, OrdinalEncoder), _encoder),
    **{SimpleImputer: _imputer, FunctionTransformer: _function, ColumnTransformer: _column_arguments},
}
"""What arguments must satisfy beside scikit-learn's own checks."""


def _standard(step: Any) -> None:
    _hold((step.scale_ is None) == (not step.with_std), "scale_ of StandardScaler goes with with_std")
    _hold(step.mean_ is not None or not step.with_mean, "mean_ of StandardScaler is missing")
    _hold(step.var_ is not None or not step.with_std, "var_ of StandardScaler is missing")


def _robust(step: Any) -> None:
    _hold((step.center_ is None) == (not step.with_centering), "center_ of RobustScaler goes with with_centering")
    _hold((step.scale_ is None) == (not step.with_scaling), "scale_ of RobustScaler goes with with_scaling")


def _one_hot(step: Any) -> None:
    dropped = [None] * len(step.categories_) if step.drop_idx_ is None else step.drop_idx_.tolist()
    _hold((step.drop_idx_ is None) == (step.drop is None), "drop_idx_ of OneHotEncoder goes with drop")
    sizes = list(map(len, step.categories_))
    _hold(
        all(one is None or 0 <= one < size for one, size in zip(dropped, sizes, strict=True)), "a category that is none"
    )
    _hold(sum(sizes) <= MOST_COLUMNS, "too many categories")
    step._infrequent_enabled, step._drop_idx_after_grouping = False, step.drop_idx_
    step._n_features_outs = step._compute_n_features_outs()


def _ordinal(step: Any) -> None:
    gaps = {j: [k for k, one in enumerate(levels) if _is_nan(one)] for j, levels in enumerate(step.categories_)}
    step._infrequent_enabled = False
    step._missing_indices = {j: where[-1] for j, where in gaps.items() if where}
    if step._missing_indices and np.dtype(step.dtype).kind != "f":
        _hold(np.isfinite(step.encoded_missing_value), "encoded_missing_value does not fit dtype")


def _polynomial(step: Any) -> None:
    top = max(step.degree) if isinstance(step.degree, tuple) else step.degree
    _hold(isinstance(top, numbers.Integral), "degree is no whole number")
    _hold(top <= MOST_DEGREE and min(step.n_features_in_, top) <= MANY, "too many terms")
    span = (0, top, step.interaction_only, step.include_bias)
    _hold(PolynomialFeatures._num_combinations(step.n_features_in_, *span) <= MOST_COLUMNS, "too many terms")
    again = PolynomialFeatures(**step.get_params()).fit(np.zeros((1, step.n_features_in_)))
    derived = own_attributes(again)
    give_attributes(step, {name: derived[name] for name in DERIVED[PolynomialFeatures] if name in derived})


def _filled(step: Any) -> None:
    texts = any(isinstance(one, str) for one in step.statistics_)
    _hold(not texts or step._fit_dtype.kind == "O", "text for a column of numbers")
    if _fill_has_a_type():
        step._fill_dtype = step._fit_dtype
    _hold((step.indicator_ is not None) == step.add_indicator, "indicator_ of SimpleImputer goes with add_indicator")
    if step.indicator_ is not None:
        _check(step.indicator_)
        _hold(step.indicator_.n_features_in_ == step.n_features_in_ and step.indicator_._precomputed, "the indicator")


@cache
def _fill_has_a_type() -> bool:
    """Whether imputers of this version of scikit-learn know the type of what they fill in."""
    return hasattr(SimpleImputer().fit([[0.0]]), "_fill_dtype")


def _indicator(step: Any) -> None:
    _hold(not (step.features_ >= step.n_features_in_).any(), "indices of columns")
    step._n_features = step.n_features_in_


def _column_transformer(step: Any) -> None:
    """Work out again which columns go to each part, and where its own are among those made."""
    parts = {name: (one, columns) for name, one, columns in step.transformers_ if name != "remainder"}
    _hold(list(parts) == [name for name, *_ in step.transformers], "the parts of ColumnTransformer have other names")
    inputs = {name: list(column_indices(step, columns)) for name, (_, columns) in parts.items()}
    left = sorted(set(range(step.n_features_in_)) - {j for some in inputs.values() for j in some})
    step._columns = [columns for _, columns in parts.values()]
    step._transformer_to_input_indices = {**inputs, "remainder": left}
    step._remainder = ("remainder", step.remainder, step._get_remainder_cols(left))
    rest = [(name, one, columns) for name, one, columns in step.transformers_ if name == "remainder"]
    _hold([columns for *_, columns in rest] == ([step._remainder[2]] if left else []), "the rest of the columns")
    asked = {name: one for name, one, _ in step.transformers} | {"remainder": step.remainder}
    step.output_indices_, first = {}, 0
    for name, one, _ in step.transformers_:
        _hold(_part_of(asked[name], one), f"{name!r} of ColumnTransformer is another step")
        if isinstance(one, str) or not step._transformer_to_input_indices[name]:
            continue
        _check(one)
        _hold(columns_in(one) == len(step._transformer_to_input_indices[name]), f"the columns of {name!r}")
        width = through(one, example(one)).shape[1]
        step.output_indices_[name] = slice(first, first + width)
        first += width
    _hold(first <= MOST_COLUMNS, "too many columns")
    for name in (*parts, "remainder"):
        step.output_indices_.setdefault(name, slice(0, 0))
    made = getattr(step, "_transformers_feature_names_out", None)
    _hold(made is None or (type(made) is np.ndarray and made.shape == (first,)), "names of columns")


def _part_of(asked: Any, made: Any) -> bool:
    """Whether a fitted part is of the kind that was asked for."""
    if isinstance(asked, str) or isinstance(made, str):
        named = type(made) is FunctionTransformer and made.feature_names_out == "one-to-one"
        return (isinstance(made, str) and made == asked) or (named and asked == "passthrough")
    return isinstance(made, type(asked))


DERIVE: dict[type[Any], Callable[[Any], None]] = {
    **{StandardScaler: _standard, RobustScaler: _robust, OneHotEncoder: _one_hot, OrdinalEncoder: _ordinal},
    **{PolynomialFeatures: _polynomial, SimpleImputer: _filled, MissingIndicator: _indicator},
    ColumnTransformer: _column_transformer,
}
"""Relations between what was learned, checked, and what follows from it, set."""


def column_indices(step: AnyModel, columns: Any) -> Sequence[int]:
    """Return the indices of the columns that a name, an index, a slice, a mask or a list picks."""
    names = list(getattr(step, "feature_names_in_", ()))
    every = range(step.n_features_in_)
    if isinstance(columns, str):
        return [names.index(columns)]
    if isinstance(columns, slice):
        start, stop = columns.start, columns.stop
        if isinstance(start, str) or isinstance(stop, str):
            start = None if start is None else names.index(start)
            stop = None if stop is None else names.index(stop) + 1
        return every[slice(start, stop, columns.step)]
    items = np.asarray(columns).tolist() if isinstance(columns, np.ndarray | np.generic) else columns
    items = list(items) if isinstance(items, list | tuple) else [items]
    if items and all(isinstance(one, bool) for one in items):
        _hold(len(items) == len(every), "a mask of other columns")
        return [j for j, one in enumerate(items) if one]
    return [names.index(one) if isinstance(one, str) else every[int(one)] for one in items]


# A row that all steps take.


def is_missing(value: Any) -> bool:
    """Whether a category stands for a value that is missing."""
    return value is None or _is_nan(value)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and math.isnan(value)


def columns_in(step: AnyModel) -> int:
    """Return how many columns a step takes."""
    if type(step) is Pipeline:
        return columns_in(real_steps(step)[0]) if real_steps(step) else 0
    coding = getattr(step, "coding_", None)
    return int(step.n_features_in_) if coding is None else len(coding.needed)


def example(step: AnyModel) -> Anything:
    """Return a row (1, D) that a step takes: known categories, zero elsewhere; text where a column is text."""
    if type(step) is Pipeline:
        return _first_row(real_steps(step))
    row = np.full((1, columns_in(step)), 0.0, dtype=object)
    if isinstance(step, OneHotEncoder | OrdinalEncoder):
        for j, levels in enumerate(step.categories_):
            row[0, j] = next((one for one in levels.tolist() if not is_missing(one)), levels.tolist()[0])
    elif isinstance(step, SimpleImputer):
        row[0] = [0.0 if is_missing(one) else one for one in step.statistics_.tolist()]
    elif isinstance(step, ColumnTransformer):
        for name, one, _ in step.transformers_:
            where = step._transformer_to_input_indices[name]
            if where and not isinstance(one, str):
                own = example(one)[0]
                row[0, where] = [new if new != 0 else old for new, old in zip(own, row[0, where], strict=True)]
    return row


def _first_row(steps: list[Any]) -> Anything:
    """Return the row of the first step; behind an imputer, which takes anything, the next decides."""
    if not steps:
        return np.zeros((1, 0), dtype=object)
    row = example(steps[0])
    if len(steps) > 1 and isinstance(steps[0], SimpleImputer):
        kept = imputed(steps[0])
        row[0, kept] = _first_row(steps[1:])[0, : len(kept)]
    elif len(steps) > 1 and isinstance(steps[0], FunctionTransformer):
        return _first_row(steps[1:])
    return row


def imputed(step: SimpleImputer) -> list[int]:
    """Return the columns that an imputer keeps: those in which something was there."""
    gone = [] if step.keep_empty_features else [_is_nan(one) for one in step.statistics_.tolist()]
    return [j for j in range(step.n_features_in_) if not (gone and gone[j])]


def _unnamed(step: AnyModel) -> Any:
    """Return a step that takes and returns plain arrays, without names."""
    out: Any = object.__new__(type(step))
    kept = {name: one for name, one in own_attributes(step).items() if name not in ("feature_names_in_", OUTPUT)}
    give_attributes(out, kept)
    if isinstance(out, System):
        change_state(out, columns=columns_on(out)._replace(names=None))
    return out


def through(step: AnyModel, rows: Anything) -> Anything:
    """Return what a step makes of rows (n, D) as an array; what a last step predicts is only tried."""
    if type(step) is Pipeline:
        for one in real_steps(step):
            _hold(columns_in(one) == rows.shape[1] or hasattr(one, "coding_"), f"columns of {type(one).__name__}")
            rows = through(one, rows)
        return rows
    if type(step) is ColumnTransformer:
        parts = [
            through(one, rows[:, where])
            for name, one, _ in step.transformers_
            if (where := step._transformer_to_input_indices[name]) and not isinstance(one, str)
        ]
        return np.hstack(parts) if parts else rows[:, :0]
    plain = _unnamed(step)
    if KNOWN.get(type(step).__name__) is type(step):
        rows = np.zeros((1, step.n_features_in_))  # a system was tried already
        if not can_transform(step):
            return rows
    if rows.dtype == object and not any(isinstance(value, str) for value in rows.flat):
        rows = rows.astype(np.float64)
    made: Any = plain.transform(rows)
    return np.asarray(made.toarray() if hasattr(made, "toarray") else made)
