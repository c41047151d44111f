"""Rows as users give them, arrays, frames, sparse matrices, device arrays or sources, opened for a system.

`open_rows` (numbers as targets), `open_labelled` (labels) and `open_unlabelled` return a source for a fit, and the
record of its columns; `read_rows` returns rows to predict as an array. None of them changes the system.

Validation is not a pass: shapes and types are checked here, finiteness is read off the sums. What is not plainly
numbers goes through scikit-learn's own checks, so that messages are the ones people know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import scipy

from adaline.arrays import (
    AnyArray,
    Array,
    OffsetsLike,
    TargetsLike,
    WeightsLike,
    all_finite,
    has_float64,
    host,
    host_values,
    is_device,
    is_sparse,
    namespace,
    on_torch,
    package_of,
    refuse_masked,
    to_device_of,
)
from adaline.coding import Coding, Effect
from adaline.coding.columns import kind_of
from adaline.coding.frames import collected, learn_from_frame
from adaline.errors import InvalidData, InvalidParameter, InvalidType, MissingValues, UnknownLabel, warn
from adaline.fitted import AnySystem
from adaline.input.basis import basis_of, learn_basis, rows_through_basis, wanted_basis
from adaline.input.coded import coded, is_coded, take_intercept
from adaline.input.columns import InputColumns, first_index, kept_names
from adaline.input.labels import Labels, category_order, encode_labels, read_labels, refuse_name
from adaline.input.system import System, absorbs_nothing, coding_on, columns_if_any, columns_on, names_on
from adaline.lazy import nw, sklearn
from adaline.sources import ArraySource, DeviceSource, Source, SparseSource, is_table
from adaline.sources.array import read_weights
from adaline.sources.base import IndexedSource
from adaline.sources.matrix import FLOATS
from adaline.sources.tabular import label_order
from adaline.sources.views import unlabelled
from adaline.wording import plainly

if TYPE_CHECKING:  # tables are slow to import
    from adaline.sources.tables.labels import Codebook

TEXT = "string to float"
ADVICE = {
    TEXT: ". X holds text: give it as a frame (pandas, polars), whose columns of text are categories",
    "inhomogeneous": " The rows have different lengths: give each row a number for each column",
    "got 1D array instead": ". Reshape your data: X.reshape(-1, 1) is one column, X.reshape(1, -1) one row",
}
"""What to do, by words in a message of NumPy."""
T = TypeVar("T")


class OpenedRows(NamedTuple):
    """Rows for a fit: their source, through the basis of the system, and the columns of its input."""

    source: Source
    columns: InputColumns


class LabelledRows(NamedTuple):
    """Rows with labels, whose source is made once it is known which classes there are in all.

    columns : the columns of the system's input.
    guess : returns the classes, sorted; those of some rows where finding all of them is a read of all rows.
    all_classes : returns the classes, sorted.
    encoded : from classes to the source of the rows, through the basis, with the class index of each as target.
    numbered : returns the source of rows with the codes of their labels as targets, and the book that has read them;
        None where the classes are known without a read.
    order : returns the labels in the order of their categories, those without rows too, or None.
    """

    columns: InputColumns
    guess: Callable[[], Labels]
    all_classes: Callable[[], Labels]
    encoded: Callable[[Labels], Source]
    numbered: Callable[[], tuple[Source, Codebook]] | None = None
    order: Callable[[], list[Any] | None] = lambda: None

    def using_classes(self, use: Callable[[Labels], T]) -> T:
        """Return use(classes) of the classes guessed; of all classes where that meets a label not among them."""
        with suppress(UnknownLabel):  # not an except clause, which would hold the first attempt during the second
            return use(self.guess())
        return use(self.all_classes())


class GivenRows(NamedTuple):
    """Rows in memory as given, (n, D), their weights (n,) or None, and the columns of the system's input."""

    x: Any
    weight: Array | None
    columns: InputColumns

    def source(self, targets: AnyArray, flat: bool = True, offset: int = 0) -> Source:
        """Return the source of the rows, through the basis, with targets (n, K), the last of which may be offsets."""
        rows = array_source(self.x, targets, self.weight, self.columns.names)
        known = rows.targets
        if (known.flat, known.offset) != (flat, offset):
            rows = rows.retargeted(replace(known, flat=flat, offset=offset))
        return self.columns.expand(rows)


def open_rows(
    system: AnySystem,
    x: AnyArray,
    y: TargetsLike,
    sample_weight: WeightsLike,
    *,
    reset: bool,
    offset: OffsetsLike = None,
    exposure: OffsetsLike = None,
) -> OpenedRows:
    """Return the source of rows X (n, D) with targets y (n,) or (n, K), and the columns of the system's input.

    With `reset` columns and basis are learned from these rows; otherwise they are those of the fitted system. With an
    offset or an exposure, see `read_offset`, the source has the offsets as its last targets.
    """
    if type(x) is not np.ndarray and isinstance(x, Source):
        if offset is not None or exposure is not None:
            raise InvalidParameter("a source brings its own offset: open the table with offset='column'")
        source, columns = _open_source(system, x, y, sample_weight, reset=reset)
        return OpenedRows(columns.expand(source), columns)
    given = read_given(system, x, sample_weight, reset=reset)
    rows = given.x.shape[0]
    targets = read_targets(system, y, rows)
    own = (
        targets.reshape((rows, -1)) if type(targets) is np.ndarray else namespace(targets).reshape(targets, (rows, -1))
    )
    own = own if is_device(given.x) or not is_device(own) else host(own)
    known = read_offset(offset, exposure, rows, own.shape[1])
    if known is None:
        return OpenedRows(given.source(own, flat=targets.ndim == 1), given.columns)
    both = np.column_stack([host(own), known])
    return OpenedRows(given.source(both, flat=targets.ndim == 1, offset=known.shape[1]), given.columns)


def open_labelled(
    system: AnySystem,
    x: AnyArray,
    y: TargetsLike,
    sample_weight: WeightsLike,
    *,
    reset: bool,
    offset: OffsetsLike = None,
) -> LabelledRows:
    """Return rows X (n, D) with labels y (n,), and the columns of the system's input, as `open_rows` does."""
    if isinstance(x, Source):
        if offset is not None:
            raise InvalidParameter("a source brings its own offset: open the table with offset='column'")
        source, columns = _open_source(system, x, y, sample_weight, reset=reset)

        def numbered() -> tuple[Source, Codebook]:
            assert is_table(source)
            rows, book = source.numbered()
            return columns.expand(rows), book

        unknown = is_table(source) and source.costly and not (source.labels.known or source.targets.offset)
        return LabelledRows(
            columns,
            lambda: source.find_labels(guess=True),
            source.find_labels,
            lambda classes: columns.expand(source.encoded(classes)),
            numbered if unknown else None,
            lambda: label_order(source),
        )
    given = read_given(system, x, sample_weight, reset=reset)
    labels: Labels = read_labels(y if is_device(given.x) else host_values(y))
    if labels.shape[0] != given.x.shape[0]:
        raise InvalidData(
            f"Found input variables with inconsistent numbers of samples: X has {given.x.shape[0]}, "
            f"y has {labels.shape[0]}"
        )
    found, indices = encode_labels(labels, None)
    known = read_offset(offset, None, given.x.shape[0])

    def encoded(classes: Labels) -> Source:
        own = indices if classes is found else encode_labels(labels, classes)[1]
        if known is not None:
            return given.source(np.column_stack([host(own).astype(float), known]), offset=1)
        return given.source((to_device_of(own, own) if is_device(own) else own.astype(float))[:, None])

    return LabelledRows(given.columns, lambda: found, lambda: found, encoded, order=lambda: category_order(y))


def open_unlabelled(
    system: AnySystem, x: AnyArray, sample_weight: WeightsLike, *, reset: bool, through_basis: bool = True
) -> OpenedRows:
    """Return the source of rows X (n, D) without targets, and the columns of the system's input, as `open_rows` does.

    With through_basis=False the rows are as given, for those who ask only for their weights.
    """
    if isinstance(x, Source):
        if sample_weight is not None:
            raise InvalidParameter("a source brings its own weights: give no sample_weight")
        source, columns = _open_source(system, x, reset=reset, targets=False)
    else:
        rows, weight, columns = read_given(system, x, sample_weight, reset=reset)
        source = array_source(rows, weight=weight, names=columns.names)
    return OpenedRows(columns.expand(source) if through_basis else source, columns)


def read_given(system: AnySystem, x: AnyArray, sample_weight: WeightsLike, *, reset: bool) -> GivenRows:
    """Return rows X that are no source, with their weights; with `reset` columns and basis are learned from them."""
    rows, columns = _read_new(system, x) if reset else (read_rows(system, x), columns_on(system))
    weight = None if sample_weight is None else read_weights(sample_weight, rows.shape[0])
    if reset and wanted_basis(system) is not None:
        basis = learn_basis(system, array_source(rows, weight=weight, names=columns.names))
        columns = columns._replace(basis=basis)
    return GivenRows(rows, weight, columns)


def read_rows(system: AnySystem, x: AnyArray) -> Any:
    """Return rows X for a fitted system, (n, D), numbers or CSR, floats not copied; frames are coded as in the fit."""
    if is_coded(x):
        return x if is_sparse(x) else np.asarray(x)
    columns = columns_if_any(system)
    plain = _is_plain(x) and columns is not None and columns.names is None and x.shape[1] == columns.count
    names = names_on(system)
    if plain and names is None:
        return x
    x, frame = _frame_of(x)
    coding = coding_on(system)
    if frame is not None and coding is not None:
        return coding.code(frame)
    if frame is not None and names is not None and set(frame.columns) == set(names):
        frame = frame.select(names.tolist())  # the columns of the fit, in its order
        x = frame.to_native()
    if frame is not None:
        _check_names(system, names, _names_of(frame))
        _refuse_text_columns(system, frame)
    rows = _numbers(system, x, fitted=coding is None)
    if frame is None:
        _check_names(system, names, None)
    if rows.shape[1] != system.n_features_in_:
        raise InvalidData(
            f"X has {rows.shape[1]} features, but {type(system).__name__} is expecting "
            f"{system.n_features_in_} features as input."
        )
    return rows


def read_finite(system: AnySystem, x: AnyArray) -> Any:
    """Return rows to predict as a fitted system works on them: float64, or CSR, or a device array without a basis.

    The first number that is not finite is named.
    """
    x = read_rows(system, x)
    if is_device(x) and basis_of(system) is None:
        return to_device_of(x, x)
    x = host(x) if is_device(x) else x
    if not is_sparse(x) and x.dtype != np.float64:
        x = x.astype(np.float64)
    refuse_nonfinite(system, x)
    return rows_through_basis(system, x)


def refuse_nonfinite(system: AnySystem, x: AnyArray) -> None:
    """Raise, naming the first number of rows in memory that is not finite, if there is one."""
    refuse_nonfinite_rows(columns_on(system), x)


def refuse_nonfinite_rows(columns: InputColumns, x: AnyArray) -> None:
    """Raise, naming the first number of rows of these columns in memory that is not finite, if there is one."""
    if not is_device(x) and not all_finite(x.data if is_sparse(x) else x):
        array_source(x, names=columns.names).refuse_nonfinite()


def refuse_overflow(values: Array) -> Array:
    """Return outputs of finite rows, of any shape; raise where some are not finite."""
    if all_finite(values):
        return values
    row = int(np.argwhere(~np.isfinite(values))[0, 0])
    raise InvalidData(f"the output of row {row} overflows float64: its numbers are too large for these weights")


def array_source(
    rows: Any, targets: AnyArray = None, weight: Array | None = None, names: tuple[str, ...] | None = None
) -> IndexedSource:
    """Return the source of rows in memory, (n, D): dense, sparse, or on a device; no targets where none are given."""
    dense = type(rows) is np.ndarray
    kind: type[IndexedSource] = (
        ArraySource if dense else DeviceSource if is_device(rows) else SparseSource if is_sparse(rows) else ArraySource
    )
    return kind(rows, np.empty((rows.shape[0], 0)) if targets is None else targets, weight, names)


def read_targets(system: AnySystem, y: TargetsLike, rows: int) -> Array:
    """Return targets as float64, (n,) or (n, K)."""
    if y is None:
        raise InvalidData(f"{type(system).__name__} requires y to be passed, but the target y is None: fit(X, y)")
    if type(y) is np.ndarray and y.dtype == np.float64:
        y = np.ascontiguousarray(y)
    elif is_device(y):
        y = on_torch(y)
        y = to_device_of(y, y) if has_float64(y) else host(y)
    else:
        refuse_name(y)
        refuse_masked(y, "y")
        if not isinstance(y, np.ndarray):
            y = _from_frame(y)
        try:
            y = _array_of_numbers(y, np.dtype(np.float64), (1, 2), estimator=system, input_name="y", ensure_2d=False)
            y = np.ascontiguousarray(y)
        except (ValueError, TypeError, OverflowError) as error:
            if "NAType" in str(error):
                raise MissingValues("y has missing values (NA): leave such rows out") from None
            raise InvalidData(f"{plainly(error).rstrip('.')}. A regression needs numbers as targets.") from None
    if y.ndim not in (1, 2) or (y.ndim == 2 and y.shape[1] == 0):
        raise InvalidData(f"y has shape {y.shape}; it must be (n,) or (n, targets)")
    if y.shape[0] != rows:
        raise InvalidData(
            f"Found input variables with inconsistent numbers of samples: X has {rows}, y has {y.shape[0]}"
        )
    targets: Array = y
    return targets


def read_offset(offset: OffsetsLike, exposure: OffsetsLike, rows: int, targets: int = 1) -> Array | None:
    """Return offset + ln exposure, float64 and finite; None where neither is given.

    It is (n, 1), for all targets alike, or (n, K); one number is for all rows.
    """
    out = None
    for name, given in (("offset", offset), ("exposure", exposure)):
        if given is None:
            continue
        refuse_masked(given, name)
        try:
            part = (host(given) if is_device(given) else np.asarray(given)).astype(np.float64, casting="same_kind")
        except (TypeError, ValueError, OverflowError):
            raise InvalidType(f"{name} must be numbers, got {type(given).__name__}") from None
        part = np.full(rows, float(part)) if part.ndim == 0 else part
        if part.shape != (rows,) and (targets == 1 or part.shape != (rows, targets)):
            more = f", or ({rows}, {targets}), one for each target" if targets > 1 else ""
            raise InvalidData(
                f"{name} has shape {part.shape}; it must be a number or ({rows},), one for each row{more}"
            )
        part = part.reshape(rows, -1)
        good = np.isfinite(part) & ((part > 0) | (name == "offset"))
        if not good.all():
            row, column = (int(i) for i in np.argwhere(~good)[0])
            wanted = "finite numbers" if name == "offset" else "positive numbers, times or sizes"
            raise InvalidData(f"{name} is {part[row, column]:g} at row {row}: give {wanted}")
        part = part if name == "offset" else np.log(part)
        out = part if out is None else out + part
    return out


def _open_source(
    system: AnySystem,
    source: Source,
    y: TargetsLike = None,
    sample_weight: WeightsLike = None,
    *,
    reset: bool,
    targets: bool = True,
) -> OpenedRows:
    """Return the rows of a source as given, coded, and the columns of the system's input; with `reset` as learned."""
    if y is not None or sample_weight is not None:
        raise InvalidParameter("a source brings its own targets and weights: give neither y nor sample_weight")
    if not reset:
        columns = columns_on(system)
        if targets and columns.coding is not None and columns.coding.effects and is_table(source):
            from adaline.sources.tables.source import coded_by

            afresh = tuple(Effect(effect.name) for effect in columns.coding.effects)
            return OpenedRows(_absorbed(system, coded_by(source, replace(columns.coding, effects=afresh))), columns)
        return OpenedRows(coded(system, source, targets), columns)
    coding = source.columns.coding
    if coding is not None and isinstance(system, System) and (own := system._recoded(coding)) is not coding:
        source, coding = _recoded(source, own), own
    if source.targets.offset and not system.takes_offset:
        raise InvalidParameter(
            f"{type(system).__name__} takes no offset, and the table was opened with one: use GeneralizedLinear"
        )
    if targets and not source.targets.given:
        raise InvalidData(f"{type(system).__name__} requires y: {source.targets.advice}")
    if coding is not None:
        _refuse_constant_levels(coding)
        take_intercept(system, coding)
        if coding.endogenous and not getattr(system, "takes_instruments", False):
            raise InvalidParameter(
                f"{type(system).__name__} takes no instruments, and the formula of the table has some: use "
                "InstrumentalVariables, or leave out the last part of the formula"
            )
        if coding.additive and not getattr(system, "takes_additive", False):
            raise InvalidParameter(
                f"{type(system).__name__} has neither smooths nor random effects, and the formula has "
                f"{coding.additive[0]}: use AdditiveModel; or write ns(x, 5) for a curve, C(group) for effects of a "
                "group"
            )
    if coding is not None and coding.effects and not targets:
        raise absorbs_nothing(system)
    if coding is not None and coding.effects and wanted_basis(system) is not None:
        raise InvalidParameter("absorb= is for a regression on the columns themselves: leave out basis, or absorb=")
    rows = _absorbed(system, source) if targets else unlabelled(source)
    basis = learn_basis(system, rows)
    kept, first = kept_names(source.columns.names), first_index(source.columns.names)
    columns = InputColumns(source.shape.features, kept, coding, basis, source.columns.hashed, first)
    return OpenedRows(rows, columns)


def _recoded(source: Source, coding: Coding) -> Source:
    """Return the rows of a table in another coding."""
    if not is_table(source):
        raise InvalidParameter(
            "terms= is for arrays, frames and tables as opened: write smooths and random effects in the formula of "
            "open_table instead"
        )
    from adaline.sources.tables.source import coded_by

    return coded_by(source, coding)


def _absorbed(system: AnySystem, source: Source) -> Source:
    """Return rows without the effects that their table absorbs; refuse a system that does not know of them."""
    coding = source.columns.coding
    if coding is None or not coding.effects:
        return source
    if not is_table(source):
        raise InvalidParameter(
            "effects are absorbed from a whole table, and not from some of its rows, as for folds: open those "
            "separately, or code the levels by categories="
        )
    found: Source = system._absorb(source)
    return found


def _read_new(system: AnySystem, x: AnyArray) -> tuple[Any, InputColumns]:
    """Return rows for a system that begins with them, (n, D), and their columns; categories of a frame are coded."""
    if _is_plain(x):
        return x, InputColumns(x.shape[1])
    x, frame = _frame_of(x)
    coding = None if frame is None else learn_from_frame(frame)
    if frame is not None and coding is not None:
        coding = system._recoded(coding) if isinstance(system, System) else coding
        _refuse_constant_levels(coding)
        return coding.code(frame), InputColumns(coding.count, kept_names(coding.names), coding)
    rows = _numbers(system, x)
    return rows, InputColumns(rows.shape[1], _names_of(frame))


def _refuse_constant_levels(coding: Coding) -> None:
    """Refuse a design without columns: that of categories of one level."""
    if not coding.names and coding.columns:
        first = coding.columns[0]
        level = first.shown_levels()[0]
        raise InvalidData(f"column {first.name!r} is {level!r} in all rows, and there is no other column to learn from")


def _is_plain(x: AnyArray) -> bool:
    """Whether x is an array (n, D) of float32 or float64 numbers, which is taken as it is."""
    return type(x) is np.ndarray and x.ndim == 2 and x.dtype in FLOATS and x.size > 0


def _frame_of(x: AnyArray) -> tuple[Any, nw.DataFrame[Any] | None]:
    """Return x, collected where it is a lazy frame, and the frame that it is; None where it is none, or has no rows."""
    if isinstance(x, np.ndarray) or is_sparse(x) or is_device(x):
        return x, None
    x = collected(x)
    frame = nw.from_native(x, pass_through=True, eager_only=True)
    return x, frame if isinstance(frame, nw.DataFrame) and len(frame) else None


def _numbers(system: AnySystem, x: AnyArray, fitted: bool = False) -> Any:
    """Return rows that need no coding as numbers, (n, D), or CSR; `fitted` says that the system knows its columns."""
    if is_device(x):
        return _device_numbers(x)
    if _is_plain(x):
        return x
    if not (isinstance(x, np.ndarray) or is_sparse(x)):
        _refuse_no_rows(x)
        x = _from_frame(x)
    if getattr(getattr(x, "dtype", None), "kind", "f") in "mM":
        raise InvalidData(f"could not convert {x.dtype} to float: give dates and times as numbers, explicitly")
    refuse_masked(x, "X")
    if is_sparse(x):
        _refuse_malformed(x)
        x = _as_kernels_read(x)
    dtype = getattr(x, "dtype", np.dtype(object))
    numeric = dtype in FLOATS or getattr(dtype, "kind", "O") in "iub"
    try:
        return _array_of_numbers(
            x, None if numeric else np.dtype(np.float64), (2,), estimator=system, input_name="X", accept_sparse="csr"
        )
    except (ValueError, OverflowError) as error:
        advice = next((advice for words, advice in ADVICE.items() if words in str(error)), "")
        if fitted and advice is ADVICE[TEXT]:
            advice = f". X holds text, and {type(system).__name__} was fitted to numbers alone"
        raise InvalidData(f"{plainly(error)}{advice}") from None
    except TypeError as error:
        if "NAType" in str(error):
            raise MissingValues("X has missing values (NA): fill them, or leave such rows out") from None
        raise InvalidType(plainly(error)) from None


def _array_of_numbers(x: AnyArray, dtype: np.dtype[Any] | None, dimensions: tuple[int, ...], **options: Any) -> Any:
    """Return numbers as an array or CSR matrix of a dtype, their own where it is None, as `check_array` does.

    Arrays, matrices and lists that are plainly numbers are seen at once; others are for scikit-learn to convert or to
    refuse, with these options.
    """
    found = None
    if isinstance(x, np.ndarray | list | tuple) and not isinstance(x, np.matrix):
        with suppress(ValueError, TypeError, OverflowError):
            found = np.asarray(x)
    elif is_sparse(x) and "accept_sparse" in options:
        found = x
    if found is not None and found.dtype.kind in "iubf" and found.ndim in dimensions and 0 not in found.shape:
        found = found.asformat(options["accept_sparse"]) if found is x and is_sparse(x) else found
        return found if dtype is None else found.astype(dtype, copy=False)
    return sklearn.utils.validation.check_array(x, dtype=dtype, ensure_all_finite=False, **options)


def _names_of(frame: nw.DataFrame[Any] | None) -> tuple[str, ...] | None:
    """Return the names of the columns of a frame where they are texts; None where there are none; refuse a mixture."""
    names = () if frame is None else tuple(frame.columns)
    kinds = sorted({type(name).__qualname__ for name in names})
    if len(kinds) > 1 and "str" in kinds:
        raise InvalidType(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. Use X.columns = X.columns.astype(str), or give an array."
        )
    return names if kinds == ["str"] else None


def _check_names(system: AnySystem, fitted: Any, given: tuple[str, ...] | None) -> None:
    """Refuse columns of other names than those of the fit, (D,); warn where only one of the two has names."""
    name = type(system).__name__
    if given is None and fitted is not None:
        warn(f"X does not have valid feature names, but {name} was fitted with feature names", UserWarning)
    elif given is not None and fitted is None:
        warn(f"X has feature names, but {name} was fitted without feature names", UserWarning)
    elif given is not None and given != tuple(fitted):
        more, less = sorted({*given} - {*fitted}), sorted({*fitted} - {*given})
        lines = ["The feature names should match those that were passed during fit."]
        for title, names in (("unseen at fit time", more), ("seen at fit time, yet now missing", less)):
            if names:
                lines += [f"Feature names {title}:", *(f"- {one}" for one in names[:5]), *["- ..."][: len(names) > 5]]
        if more and not less:
            lines += ["Leave the other columns out: X[model.feature_names_in_]"]
        raise InvalidData("\n".join(lines) + "\n")


def _refuse_text_columns(system: AnySystem, frame: nw.DataFrame[Any]) -> None:
    """Refuse a frame with text for a system that was fitted to numbers alone, naming the first such column."""
    for name, dtype in frame.schema.items():
        found = next(filter(_is_text, frame[name].to_list()), None) if kind_of(dtype) in ("text", "category") else None
        if found is not None:
            raise InvalidData(
                f"could not convert string to float: column {name!r} of X holds text, such as {found!r:.60}, and "
                f"{type(system).__name__} was fitted to numbers alone. Give the columns of the fit, as numbers"
            )


def _is_text(value: Any) -> bool:
    """Whether a value is a text that is no number."""
    try:
        float(value if isinstance(value, str) else 0.0)
    except ValueError:
        return True
    return False


def _refuse_no_rows(x: AnyArray) -> None:
    """Refuse what people give for rows at first: the name of a file, nothing, dictionaries."""
    if isinstance(x, str | PathLike):
        name = str(x)
        raise InvalidData(
            f"could not convert string to float: {name!r}. Rows are an array or a frame; open a file, a query or a "
            f"bundled data set first: fit(open_table({name!r}, target=...))"
        )
    if x is None:
        raise InvalidData("X is None. Expected 2D array (rows, columns), or a frame, or a table: open_table(...)")
    if isinstance(x, list) and x and isinstance(x[0], Mapping):
        raise InvalidType(
            "X is a list of dicts: use pandas.DataFrame(X); systems that learn online take dicts one by one, by "
            "learn_one and predict_one"
        )
    if isinstance(x, Mapping):
        raise InvalidType("X is a dict, not rows: use pandas.DataFrame(X), or open_table(X, target=...)")


def _refuse_malformed(x: AnyArray) -> None:
    """Raise where the arrays of a sparse matrix contradict each other: kernels read them unchecked."""
    try:
        if x.format in ("csr", "csc", "bsr"):
            x.check_format(full_check=True)
        elif x.format == "coo" and x.nnz and x.ndim == 2:
            scipy.sparse.coo_array((x.data, x.coords), shape=x.shape)
    except ValueError as error:
        raise InvalidData(f"X is a malformed {x.format.upper()} matrix: {error}") from None


def _as_kernels_read(x: AnyArray) -> Any:
    """Return a CSR matrix with contiguous arrays and without duplicate entries; other formats as they are."""
    if x.format != "csr":
        return x
    parts = (x.data, x.indices, x.indptr)
    if not all(part.flags.c_contiguous for part in parts):
        x = type(x)(tuple(map(np.ascontiguousarray, parts)), shape=x.shape)
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return x


def _device_numbers(x: AnyArray) -> Any:
    """Return a device array as (n, D) floats; on the host where its device has no float64, which sums are in."""
    if x.ndim != 2 or 0 in x.shape:
        raise InvalidData(f"Expected 2D array with at least one row and column, got shape {tuple(x.shape)} instead")
    xp = namespace(x)
    if xp.isdtype(x.dtype, "complex floating"):
        raise InvalidData("Complex data not supported")
    x = x.detach() if package_of(x) == "torch" else x  # fits are not differentiated
    if not has_float64(on_torch(x)):
        return host(x)
    if x.dtype in (xp.float32, xp.float64):
        return x
    return xp.astype(x, xp.float32 if xp.isdtype(x.dtype, "real floating") else xp.float64)  # halves are exact there


def _from_frame(x: AnyArray) -> Any:
    """Return a data frame of numbers or a series as a NumPy array; other things as they are."""
    frame = nw.from_native(collected(x), pass_through=True, allow_series=True, eager_only=True)
    return frame.to_numpy() if isinstance(frame, nw.DataFrame | nw.Series) else x
