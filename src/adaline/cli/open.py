"""Opens what the options of a command name: data, a system, and its parameters; notes go to stderr."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from adaline import peers
from adaline.arrays import DataLike
from adaline.basis import Basis, Fourier, Polynomial, Radial
from adaline.cli.exit import note
from adaline.cli.options import Options, listed, power
from adaline.coding import Coding
from adaline.coding.expressions import lag_of
from adaline.coding.formula import targets_of
from adaline.comparison.open_data import DataRequest, OpenedData, open_data, open_sparse_data
from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import AnyModel
from adaline.input.coded import coded, coding_of
from adaline.input.system import set_coding
from adaline.lazy import nw, pa
from adaline.sources import Source, TableSource
from adaline.sources.tables.coding import target_columns
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.pipes import Pipe, is_pipe, open_pipe
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.rows import TableRows
from adaline.sources.tables.sparse_files import open_sparse, refuse_options, sparse_suffix
from adaline.sources.tables.spec import TableSpec, read_spec
from adaline.sources.tables.unreadable import ReadableRows, readable_rows
from adaline.storage.pipelines import first_step
from adaline.systems import SYSTEMS, system_name
from adaline.wording import counted

Table = TypeVar("Table", bound=Relation)

SHOWN_REASONS = 5  # reasons that the note about rows without a prediction names
FOR_NUMBERS, FOR_LABELS = "LinearRegression", "GaussianClassifier"


def open_with_notes(
    options: Options, trusting: bool = False, named: bool = False, penalised: bool = False
) -> OpenedData:
    """Open a table with a target, as `open_data` does, and say on stderr what is left out."""
    options = {**options, "data": opened_pipe(options["data"])}
    if sparse_suffix(options["data"]) is not None:
        width, others = options["hashed"], {**options, "hashed": None}
        return open_sparse_data(DataRequest.of(**others, shell=True), None if width is None else power(",".join(width)))
    request = DataRequest.of(**options, shell=True)
    trusting = trusting and not isinstance(request.data, Pipe)  # which is read once
    opened = open_data(request, trusting, named, penalised=penalised)
    for text in opened.notes:
        note(text)
    return opened


def with_notes(relation: Table) -> Table:
    """Return a table, after saying on stderr how its files were understood."""
    for text in relation.notes:
        note(text)
    return relation


def with_readable_notes(rows: ReadableRows[Table]) -> ReadableRows[Table]:
    """Return the rows that a model can read, after saying on stderr how their columns were understood."""
    for text in rows.notes:
        note(text)
    return rows


def chosen_system(opened: OpenedData, named: str | None, settings: Iterable[str], passes: int | None = None) -> Any:
    """Return the system to fit: the one named, else the plainest for numbers or for labels.

    With a number of passes it learns row by row, so often over all rows.
    """
    if named is None:
        named = FOR_LABELS if opened.labels else FOR_NUMBERS
        if opened.few > 1:  # the summary says that a target is constant
            note(
                f"{opened.target} has only {opened.few} different whole numbers and is treated as a quantity; if they "
                f"are classes, name a classifier, as in --system {FOR_LABELS}"
            )
    named, own = split_call(named)
    name = system_name(named)
    epochs = [] if passes is None else [f"epochs={passes}"]
    given = read_settings(name, [*own, *settings, *epochs])
    if epochs and "mode" not in given and "mode" in inspect.signature(SYSTEMS[name]).parameters:
        given["mode"] = "online"
    if "standardize" not in given and any("standardize" in one for one in SYSTEMS[name].compared):
        given["standardize"] = True
        note(f"{name} is fitted to standardised columns; --set standardize=False fits the original columns")
    return SYSTEMS[name](**given)


def is_penalised(named: str | None, settings: Iterable[str]) -> bool:
    """Whether the system that is named shrinks coefficients by a penalty that is a number, in the columns' own units.

    Such a penalty shrinks the coefficient of a level by its number of rows: n / (n + penalty). On standardised columns,
    as with penalty="auto", it shrinks all levels and all numbers alike, so that many levels hurt.

    Examples
    --------
    >>> from adaline.cli.open import is_penalised
    >>> is_penalised("Ridge", ["penalty=10"]), is_penalised("Ridge", []), is_penalised(None, [])
    (True, False, False)
    """
    if named is None:
        return False
    named, own = split_call(named)
    name = system_name(named)
    model = SYSTEMS[name](**read_settings(name, [*own, *settings]))
    penalty = getattr(model, "penalty", None)
    return not isinstance(penalty, str) and bool(np.any(penalty)) and not getattr(model, "standardize", False)


def opened_pipe(data: DataLike) -> Any:
    """Return the open pipe that a name stands for, so that its first bytes tell its format; other names as they are."""
    return open_pipe(data) if isinstance(data, str) and is_pipe(data) else data


def reading_for(model: AnyModel, reading: FileOptions) -> FileOptions:
    """Return how to read files for a fitted model: in the notation of its fit, unless options say otherwise."""
    coding = getattr(first_step(model), "coding_", None)
    return reading if coding is None else reading.as_fitted(coding)


def sparse_rows_for(
    model: AnyModel, data: DataLike, reading: FileOptions, target: str | None, weight: str | None
) -> Source:
    """Return the rows of a file of sparse rows in the columns of a fitted model, with their labels."""
    refuse_options(**reading.given(), target=target, weight=weight)
    source = coded(model, open_sparse(data))
    if not source.targets.given:
        raise InvalidData(source.targets.advice)
    return source


def rows_for(model: AnyModel, relation: Relation, target: str | None, weight: str | None) -> TableSource:
    """Return the rows of a table with targets for a fitted model: its own target and weights, or those named."""
    coding = getattr(model, "coding_", None)
    if target is None and (coding is None or coding.target is None):
        raise InvalidParameter("the model has no name for its target: name the column with --target")
    if weight is not None and target is None:
        raise InvalidParameter("--weight needs --target: name both columns, or neither to use those of the model")
    if target is None:
        return TableSource(TableRows(relation), TableSpec())
    features = None if coding is None else tuple(coding.needed)
    ticked = () if coding is None else tuple((one.name, one.levels) for one in coding.columns if one.takes_gaps)
    spec = TableSpec(target=target, weight=weight or (coding and coding.weight), features=features, categories=ticked)
    return TableSource(TableRows(relation), read_spec(relation, spec))


def shown_counts(counts: dict[str, int]) -> str:
    """Return reasons and how many rows each has, the most frequent first.

    Examples
    --------
    >>> from adaline.cli.open import shown_counts
    >>> shown_counts({"missing value of age": 2, "unseen level of carrier": 7})
    'unseen level of carrier (7), missing value of age (2)'
    """
    worst = sorted(counts, key=lambda reason: -counts[reason])
    shown = ", ".join(f"{reason} ({counts[reason]:,})" for reason in worst[:SHOWN_REASONS])
    return shown + (f" and {counted(len(worst) - SHOWN_REASONS, 'other reason')}" if len(worst) > SHOWN_REASONS else "")


def readable_rows_for(model: AnyModel, relation: Relation, rows: TableSource) -> ReadableRows[Relation]:
    """Return the rows of a table with targets whose numbers and dates a fitted model can read; refuse one without."""
    coding, classes = coding_of(model), getattr(model, "classes_", None)
    if coding is None:
        return ReadableRows(relation, {}, (), relation)
    targets = rows.target_names or (() if coding.target is None else targets_of(coding.target))
    labels = classes is not None and classes.dtype.kind in "UO"
    numbers = [] if labels else [name for one in targets for name in target_columns(relation, one)]
    numbers += [] if coding.offset is None else target_columns(relation, coding.offset)
    numbers += [name for name in (rows.spec.weight or coding.weight,) if name is not None]
    kinds = {column.name: column.kind for column in coding.columns} | dict.fromkeys(numbers, "number")
    found = with_readable_notes(readable_rows(relation, coding, kinds))
    if found.problems and any(map(lag_of, coding.needed)):
        where = shown_counts(found.counts())
        raise InvalidData(
            f"{relation.title}: {where}; the model has lags, so rows are not left out. Correct the values"
        )
    if found.problems and not found.relation.count("TRUE"):
        raise InvalidData(f"the model can read no row of {relation.title}: {shown_counts(found.counts())}")
    return found


def unseen_levels(relation: Relation, coding: Coding) -> dict[str, list[Any]]:
    """Return the different values of each column that a model cannot code: levels that its fit did not have."""
    out: dict[str, list[Any]] = {}
    for name in filter(coding.refuses_levels, coding.needed):
        values = [value for (value,) in relation.rows(f"SELECT DISTINCT {relation.value(name)} FROM {relation.sql}")]
        out[name] = coding.unseen_levels(name, nw.from_native(pa.table({name: values}), eager_only=True))
    return out


@contextmanager
def dropping_gaps(model: AnyModel, strict: bool = False) -> Iterator[str]:
    """Let a model that refuses missing values leave such rows out for a while; yield its policy for missing values.

    A model refuses them if its own rows had none, also where `adaline fit` would have left them out. If `strict`, rows
    that it would leave out are refused.
    """
    coding = getattr(model, "coding_", None)
    refused = "error" if strict else "drop"
    policy = refused if coding is None or coding.missing in ("error", "drop") else coding.missing
    if coding is not None:
        set_coding(model, replace(coding, missing=policy))
    try:
        yield policy
    finally:
        if coding is not None:
            set_coding(model, replace(model.coding_, missing=coding.missing))


def read_settings(system: str, settings: Iterable[str]) -> dict[str, Any]:
    """Return constructor arguments from key=value texts: Python literals, names of systems and bases, else text.

    Arguments of a basis are named basis__degree and so on, as scikit-learn does.
    """
    known = inspect.signature(SYSTEMS[system]).parameters
    out: dict[str, Any] = {}
    of_basis: dict[str, Any] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals:
            raise InvalidParameter(f"--set takes key=value, got {text!r}")
        if key.startswith("basis__"):
            of_basis[key.removeprefix("basis__")] = _literal(value)
            continue
        if key not in known:
            raise InvalidParameter(peers.unknown(system, known, {key: _literal(value)}))
        if key in out:
            raise InvalidParameter(f"--set names {key} twice")
        out[key] = _NAMED.get(key, _literal)(value.strip())
    if of_basis:
        _set_basis(out.get("basis"), of_basis)
    return out


def split_call(named: str) -> tuple[str, list[str]]:
    """Return the name of a system and its settings, key=value each, where it is written as a call.

    Examples
    --------
    >>> from adaline.cli.open import split_call
    >>> split_call('LogisticRegression(solver="lbfgs", l1=2)')
    ('LogisticRegression', ["solver='lbfgs'", 'l1=2'])
    """
    name, bracket, _ = named.partition("(")
    if not bracket:
        return named, []
    try:
        call = ast.parse(named.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        call = None
    if not isinstance(call, ast.Call) or call.args or any(one.arg is None for one in call.keywords):
        raise InvalidParameter(f"--system takes a name, or Name(key=value, ...), got {named!r}")
    return name.strip(), [f"{one.arg}={ast.unparse(one.value)}" for one in call.keywords]


def read_grid(parameters: Iterable[str]) -> dict[str, list[Any]]:
    """Return the values of each parameter from key=a,b,c texts: Python literals, names of systems and bases, else text.

    Examples
    --------
    >>> from adaline.cli.open import read_grid
    >>> read_grid(["penalty=0.1, 1", "coding=signed"])
    {'penalty': [0.1, 1], 'coding': ['signed']}
    """
    out: dict[str, list[Any]] = {}
    for text in parameters:
        key, equals, values = text.partition("=")
        texts = listed(values) or ()
        if not equals or not texts:
            raise InvalidParameter(f"--parameter takes key=value,value,..., got {text!r}")
        if key.strip() in out:
            raise InvalidParameter(f"--parameter names {key.strip()} twice")
        out[key.strip()] = [_NAMED.get(key.strip(), _literal)(value.strip()) for value in texts]
    return out


def _system(named: str) -> Any:
    return SYSTEMS[system_name(named)]()


def _basis(named: str) -> Basis | None:
    """Return a basis with its defaults by its name, whatever the case."""
    found = {cls.__name__.lower(): cls for cls in (Polynomial, Fourier, Radial)}.get(named.lower())
    if found is None and named.lower() != "none":
        raise InvalidParameter(f"there is no basis {named!r} here. There are: Polynomial, Fourier, Radial")
    return None if found is None else found()


def _set_basis(basis: Basis | None, settings: dict[str, Any]) -> None:
    if basis is None:
        raise InvalidParameter(f"--set basis__{next(iter(settings))} needs a basis: --set basis=Polynomial beside it")
    basis.set_params(**settings)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return {"true": True, "false": False, "none": None}.get(text.strip().lower(), text.strip())


_NAMED: dict[str, Callable[[str], Any]] = {"system": _system, "basis": _basis}
