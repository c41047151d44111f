"""`adaline predict`: writes predictions next to the rows, batch by batch, so that memory does not grow with them.

Every row of the table is written. A row that the model cannot predict, because a value is missing or a level was not
there in the fit, has an empty prediction and the reason in the last column, `reason`. That column depends on neither
the model nor the rows: it is there unless such rows are refused (`--strict`).
"""

from __future__ import annotations

import inspect
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import chain, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import parquet

from adaline import storage
from adaline.arrays import OffsetsLike
from adaline.cli.exit import check_output, note
from adaline.cli.open import opened_pipe, reading_for, shown_counts, with_notes, with_readable_notes
from adaline.cli.options import listed
from adaline.cli.output import json_text, print_json, say
from adaline.coding import Coding, Column
from adaline.coding.expressions import lag_of
from adaline.coding.frames import plain_terms
from adaline.coding.numerals import MISSING_WORDS, is_text_word
from adaline.coding.problems import Mask, RowProblems
from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import AnyModel, can_predict, gives_probabilities
from adaline.input.coded import as_coded, coding_of
from adaline.input.coded import coded as coded_rows
from adaline.lazy import nw
from adaline.sources import Source, TableSource
from adaline.sources.tables.altered import with_lags, with_texts
from adaline.sources.tables.batches import Runs, batch_table
from adaline.sources.tables.failures import Reporting, reported_batches
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.open_table import choose_engine
from adaline.sources.tables.parts import FileParts, over_tables
from adaline.sources.tables.pipes import Pipe, line_of, pipe_title, tables_in
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.rows import TableRows
from adaline.sources.tables.source import coded_by
from adaline.sources.tables.sparse_files import open_sparse, refuse_options, sparse_suffix
from adaline.sources.tables.spec import TableSpec, check_column, check_needed
from adaline.sources.tables.sql import quoted
from adaline.sources.tables.unreadable import readable_rows
from adaline.storage.container import replacing
from adaline.storage.pipelines import first_step, is_pipeline, last_step
from adaline.systems import SYSTEMS
from adaline.systems.families.filter import SignalSystem
from adaline.wording import counted, file_name, part_of, visible

NamedColumns = dict[str, NDArray[Any]]
WriteRows = Callable[[Any], None]
"""Writes the rows of an Arrow table after those before."""

BATCH = 2**15
REASON = "reason"
NO_LEVELS: dict[str, tuple[Any, ...]] = {}
"""The levels of the columns of a pipeline, whose steps know them."""


@dataclass(frozen=True)
class PredictOptions:
    """What to predict: values or labels, also probabilities, or an interval of a level; and which columns to keep.

    With `strict` a row that cannot be predicted is refused.
    """

    proba: bool = False
    interval: str | None = None
    level: float = 0.95
    keep: str = "all"
    strict: bool = False


class PredictedBatch(NamedTuple):
    """Rows of a table in order: which of them are predicted and what, and why the others are not."""

    rows: Any
    found: NamedColumns
    problems: RowProblems


@dataclass
class PredictionCounts:
    """How many rows were written, how many of them without a prediction and why, and the new columns."""

    rows: int = 0
    missing: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)

    def add(self, other: PredictionCounts | RowProblems) -> None:
        """Take in the rows of a batch, or of a file."""
        counts = other.reasons if isinstance(other, PredictionCounts) else other.counts
        self.rows += other.rows if isinstance(other, PredictionCounts) else len(other.codable)
        self.missing += other.missing if isinstance(other, PredictionCounts) else int(np.sum(~other.codable))
        for reason, count in counts.items():
            self.reasons[reason] = self.reasons.get(reason, 0) + count

    def tell_missing(self) -> None:
        """Say on stderr how many rows have no prediction, and why."""
        if self.missing:
            outcome = "it is an error" if self.missing == 1 else "they are errors"
            note(
                f"{part_of(self.missing, self.rows, 'have')} no prediction: {shown_counts(self.reasons)}; with "
                f"--strict {outcome}"
            )


class UnalteredTable(Relation):
    """A table whose columns keep their types, so that they can be written as they were read."""

    keeps_totals = True

    def runs(self, columns: Sequence[str], where: str, size: int, indexed: Sequence[str] = ()) -> Runs:
        """Return all rows in order, by a query: Parquet files too keep their whole numbers and decimals that way."""
        return self._stream(columns, where, size, indexed)

    def value(self, column: str) -> str:
        """Return a column as SQL; only what Arrow cannot hold becomes text."""
        kind = self.schema[column]
        if kind == "JSON":  # of values of several types; texts without their quotes
            return f"({quoted(column)} ->> '$')"
        return f"CAST({quoted(column)} AS VARCHAR)" if kind.startswith(("ENUM(", "UUID")) else quoted(column)

    def written(self, columns: Sequence[str]) -> Iterator[Any] | None:
        """Return all rows of some columns as the texts of their files, as Arrow tables; None of other files."""
        if self.text is None or not columns:
            return None
        chosen = ", ".join(map(quoted, columns))
        queries = (f"SELECT {chosen} FROM {self.text.dialect.as_written.sql([name])}" for name in self.text.files)
        readers = (self.database.cursor().sql(sql).to_arrow_reader(BATCH) for sql in queries)
        return (batch_table(batch) for reader in readers for batch in reported_batches(reader, self._reporting()))


class PipedTable(UnalteredTable):
    """A table that comes through a pipe and is read once: its columns are those of its first rows.

    They stay as they come, but for `words` that are missing values; a coding reads what it takes for numbers.
    """

    def __init__(self, title: str, tables: Iterator[Any], coding: Coding | None, words: Sequence[str] = ()) -> None:
        self.tables = tables
        categories = () if coding is None else (one for one in coding.columns if one.has_levels)
        self.levels = NO_LEVELS if coding is None else {one.name: one.levels for one in categories}
        self.title = self.place = title
        self.places: list[tuple[int, int | None]] = []  # the first row of each table and its line
        self.words = pa.array(words, pa.string())
        self.came: deque[Any] | None = None  # rows as they came, of those that were returned, if these are asked for
        self.first = next(tables, None)
        if self.first is None:
            raise InvalidData(f"{title} has no rows")
        super().__init__(self._with_gaps(self.first).replace_schema_metadata(None))
        self.title = self.place = title

    def runs(self, columns: Sequence[str], where: str, size: int, indexed: Sequence[str] = ()) -> Runs:
        """Return the rows as they come."""
        first = 0
        with Reporting(self.title):
            for table in chain([self.first], self.tables):
                self.places.append((first, line_of(table)))
                table = table.replace_schema_metadata(None)
                for rows in map(partial(table.slice, length=size), range(0, len(table), size)):
                    absent = [name for name in columns if name not in rows.column_names]
                    for name in absent:
                        rows = rows.append_column(name, pa.nulls(len(rows)))
                    rows = rows.select(columns)
                    if self.came is not None:
                        self.came.append(rows)
                    found = self._with_gaps(rows)
                    yield len(found), partial(iter, [found])
                    first += len(found)

    def written(self, columns: Sequence[str]) -> Iterator[Any] | None:
        """Return some columns of the rows that are returned from now on, as they came; None of what is no text."""
        if not len(self.words) or not columns:
            return None
        self.came = came = deque[Any]()
        return (came.popleft().select(columns) for _ in repeat(None))

    def row_name(self, row: int, where: str = "TRUE") -> str:
        """Return what to call a row: its line in a text, else its index, counted from 0."""
        first, line = next((place for place in reversed(self.places) if place[0] <= row), (0, line_of(self.first)))
        return f"row {row}" if line is None else f"line {line + row - first}"

    def _with_gaps(self, table: Any) -> Any:
        """Return rows without the words for missing values; for a pipeline, texts that are all numbers as such."""
        texts = [i for i, field_ in enumerate(table.schema) if pa.types.is_string(field_.type)]
        for i in texts if len(self.words) else ():
            name, values = table.column_names[i], table.column(i)
            absent, levels = pc.is_in(values, value_set=self.words), self.levels.get(name)
            if levels is not None:
                found = values.unique().to_pylist()
                more = [one for one in found if one is not None and is_text_word(one, levels)]
                absent = pc.or_(absent, pc.is_in(values, value_set=pa.array(more, pa.string())))
            table = table.set_column(i, name, pc.if_else(absent, pa.scalar(None, pa.string()), values))
        for i in texts if self.levels is NO_LEVELS else ():
            with suppress(pa.ArrowInvalid):
                trimmed = pc.replace_substring_regex(pc.utf8_trim_whitespace(table.column(i)), r"^\+", "")
                table = table.set_column(i, table.column_names[i], trimmed.cast(pa.float64()))
        return table


def run_predict(
    path: Path, data: str, reading: FileOptions, options: PredictOptions, output: Path | None, as_json: bool
) -> None:
    """Predict every row of a table and write the predictions next to its columns."""
    check_output(output, KINDS)
    model = storage.load(path)
    check_options(model, options)
    given = opened_pipe(data)
    if sparse_suffix(given) is not None:
        refuse_options(**reading.given())
        source = coded_rows(model, open_sparse(given), targets=False)
        kept = [] if options.keep == "none" else list(_labels_of(source))
        batches = sparse_predictions(model, source, options)
        tally = _write(model, pipe_title(given), kept, batches, options, output, as_json)
    else:
        one_type = output is not None and _is_parquet(output)
        relation = with_notes(table_to_predict(given, reading_for(model, reading), model, one_type))
        if output is not None and output.exists() and any(map(output.samefile, relation.opened.watched)):
            raise InvalidParameter(f"{output} is the table to predict: write the predictions to another file")
        tally = write_predictions(model, relation, options, output, as_json)
    tally.tell_missing()
    if output is not None:
        _tell_saved(output, tally, as_json)


def write_predictions(
    model: AnyModel, relation: UnalteredTable, options: PredictOptions, output: Path | None, as_json: bool = False
) -> PredictionCounts:
    """Write predictions next to the columns of a table; return how many, and of which rows there are none."""
    kept = _kept(relation, options.keep)
    if is_pipeline(model):
        relation, names = pipeline_columns(model, relation)
        batches = pipeline_predictions(model, relation, names, options)
    else:
        coding = coding_for(model, relation)
        relation = with_texts(relation, coding.texts)
        kinds = {one.name: one.kind for one in coding.columns}
        readable = with_readable_notes(readable_rows(relation, coding, kinds))
        relation, coding = readable.whole, readable.applied_to(coding)
        relation = with_lags(relation, coding.needed)
        batches = predictions(model, relation, coding, options)
        if as_json or (output is not None and _is_parquet(output)):
            batches = with_numbers(batches, coding)
    if not as_json and (output is None or not _is_parquet(output)):
        batches = as_written(batches, relation.written(kept))
    rows = with_totals(batches, relation)
    return _write(model, relation.title, kept, rows, options, output, as_json, relation.row_name)


def with_numbers(batches: Iterator[PredictedBatch], coding: Coding) -> Iterator[PredictedBatch]:
    """Return batches with the columns that the model takes for numbers or dates as such; texts that are none of these
    are missing.
    """
    for batch in batches:
        yield batch._replace(rows=coding.typed(nw.from_native(batch.rows, eager_only=True)).to_native())


def as_written(batches: Iterator[PredictedBatch], texts: Iterator[Any] | None) -> Iterator[PredictedBatch]:
    """Return batches with the texts of their rows instead of values, so that 007 and 1.50 are copied as they are."""
    if texts is None:
        yield from batches
        return
    rest: list[Any] = []
    for batch in batches:
        while sum(map(len, rest)) < len(batch.rows):
            rest.append(next(texts))
        joined = pa.concat_tables(rest)
        rest = [joined.slice(len(batch.rows))]
        yield batch._replace(rows=joined.slice(0, len(batch.rows)))


def with_totals(batches: Iterator[PredictedBatch], relation: Relation) -> Iterator[PredictedBatch]:
    """Return batches of the table, and then the totals below it, which have no predictions."""
    last = None
    for last in batches:
        yield last
    totals = relation.opened.totals
    if last is not None and totals and relation.text is not None:
        cells = dict(zip(relation.text.layout.names, zip(*totals, strict=True), strict=True))
        schema = last.rows.schema
        columns = {n: _as_type(cells.get(n, ("",) * len(totals)), schema.field(n).type) for n in schema.names}
        problems = RowProblems(len(totals))
        problems.add("total", "the table", problems.codable.copy())
        yield PredictedBatch(pa.table(columns), {name: values[:0] for name, values in last.found.items()}, problems)


def _as_type(cells: Sequence[str], kind: Any) -> Any:
    """Return cells as an Arrow array of a type; as texts where they cannot be converted."""
    texts = pa.array([cell or None for cell in cells], pa.string())
    try:
        return texts.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return texts


def _write(
    model: AnyModel,
    title: str,
    kept: list[str],
    batches: Iterator[PredictedBatch],
    options: PredictOptions,
    output: Path | None,
    as_json: bool,
    row_name: Callable[[int], str] = "row {}".format,
) -> PredictionCounts:
    """Write predictions next to the columns that are kept; return how many, and of which rows there are none."""
    tally = PredictionCounts()
    with writing(output, as_json) as write:
        for batch, found, problems in batches:
            codable = problems.codable
            if options.strict and not codable.all():
                row = int(codable.argmin())
                raise InvalidData(
                    f"{title}, {row_name(tally.rows + row)}: {problems.reasons()[row]}. Drop --strict to leave the "
                    "predictions of such rows empty"
                )
            new = unique([*found, *([] if options.strict else [REASON])], kept)
            out = batch.select(kept)
            for name, values in found.items():
                kind = _kind(model) if name == "prediction" and options.interval is None else pa.float64()
                out = out.append_column(new[name], _column(values, codable, kind))
            if not options.strict:
                reasons = (
                    pa.nulls(len(out), pa.string()) if codable.all() else pa.array(problems.reasons(), pa.string())
                )
                out = out.append_column(new[REASON], reasons)
            write(out)
            if output is None:
                sys.stdout.flush()
            tally.add(problems)
        if tally.rows == 0:
            raise InvalidData(f"{title} has no rows")
    tally.columns = list(new.values())
    return tally


def _tell_saved(output: Path, tally: PredictionCounts, as_json: bool) -> None:
    predicted = tally.rows - tally.missing
    if as_json:
        told = {"rows": tally.rows, "predicted": predicted, "reasons": tally.reasons, "columns": tally.columns}
        print_json({**told, "saved": str(output)})
    else:
        say(f"saved: {file_name(output)}, {counted(predicted, 'prediction')}")


@dataclass(frozen=True)
class PredictedFile:
    """A part on a cluster: predicts the rows of a file and writes them where it runs; returns a table of counts."""

    model: bytes
    data: str
    output: str
    options: PredictOptions

    def __call__(self) -> list[Any]:
        """Return a table of one row: the counts of rows and of those without a prediction, and the new columns."""
        with TemporaryDirectory() as folder:
            copy = Path(folder, "model.adaline")
            copy.write_bytes(self.model)
            model = storage.load(copy)
        relation = UnalteredTable(self.data, reading_for(model, FileOptions()))
        tally = write_predictions(model, relation, self.options, Path(self.output))
        counts = [list(tally.reasons.items())]
        columns = {"rows": [tally.rows], "missing": [tally.missing], "columns": [tally.columns]}
        return [pa.table({**columns, "reasons": pa.array(counts, pa.map_(pa.string(), pa.int64()))})]


def predict_on_cluster(
    path: Path, data: str, cluster: str, options: PredictOptions, output: Path | None, as_json: bool
) -> None:
    """Predict every row of files where the workers of a cluster are, each file into one of a folder."""
    if output is None or output.suffix or (output.exists() and (not output.is_dir() or any(output.iterdir()))):
        raise InvalidParameter("the workers of a cluster write one file each: name a new or empty folder, -o predicted")
    model = storage.load(path)
    check_options(model, options)
    relation = Relation(data, reading_for(model, FileOptions()))
    parts = FileParts(choose_engine(cluster), relation)
    if not is_pipeline(model):
        relation = with_lags(relation, coding_for(model, relation).needed)
    if isinstance(last_step(model), SignalSystem) or not relation.plain_files:
        raise InvalidParameter("each prediction of this model depends on the rows before it: predict without --cluster")
    output.mkdir(exist_ok=True)
    names = [
        (name, output.absolute() / f"{i:05d}-{Path(name).stem}.parquet") for i, name in enumerate(relation.opened.files)
    ]
    files = [PredictedFile(path.read_bytes(), os.path.abspath(one), str(out), options) for one, out in names]
    held = parts.engine.hold(files, [[1]] * len(files))
    parts_done = pa.concat_tables(table for tables in over_tables(held, list) for table in tables).to_pylist()
    tally = PredictionCounts(columns=parts_done[0]["columns"])
    for one in parts_done:
        tally.add(PredictionCounts(one["rows"], one["missing"], dict(one["reasons"])))
    tally.tell_missing()
    _tell_saved(output, tally, as_json)


def table_to_predict(data: str | Pipe, reading: FileOptions, model: AnyModel, one_type: bool) -> UnalteredTable:
    """Return a table; lines of text and Arrow streams that come through a pipe are read as they come.

    But for lines of JSON where a column must have one type, as they have the types of their rows.
    """
    coding = coding_of(model)
    lagged = coding is not None and any(lag_of(name) for name in coding.needed)
    if not isinstance(data, Pipe) or isinstance(model, SignalSystem) or lagged:  # which depend on rows before
        return UnalteredTable(data, reading)
    with Reporting(data.title):
        local = reading.given() or not all(one.plain for one in reading.notations)
        tables = None if local or (one_type and data.suffix == ".json") else tables_in(data)
        words = MISSING_WORDS if data.suffix == ".csv" else ()
        return UnalteredTable(data, reading) if tables is None else PipedTable(data.title, tables, coding, words)


def predictions(
    model: AnyModel, relation: Relation, coding: Coding, options: PredictOptions
) -> Iterator[PredictedBatch]:
    """Return batches of the table, with predictions of the rows that can be coded."""
    whole: NDArray[Any] | None = None  # of a filter, whose output depends on rows before: filtered as a whole
    if isinstance(model, SignalSystem):
        whole = np.asarray(
            model.predict(coded_by(TableSource(TableRows(relation), TableSpec()), coding, targets=False))
        )
    first = 0
    for _, run in relation.runs(list(relation.schema), "TRUE", BATCH):
        for batch in run():
            batch = batch_table(batch)
            if whole is not None:
                problems, found = RowProblems(len(batch)), _named("prediction", whole[first : first + len(batch)])
            else:
                frame = nw.from_native(batch, eager_only=True)
                x, problems = coding.code_possible(frame, first)
                codable = problems.codable
                known = coding.read_offset(frame if codable.all() else frame.filter(codable.tolist()), first)
                absorbed = known[:, None] if coding.effects and known is not None else None
                found = _answers(model, as_coded(x, absorbed), options, known if absorbed is None else None)
            yield PredictedBatch(batch, found, problems)
            first += len(batch)


def sparse_predictions(model: AnyModel, source: Source, options: PredictOptions) -> Iterator[PredictedBatch]:
    """Return the labels of blocks of sparse rows as tables, with predictions of all rows."""
    for block in source.blocks():
        known = block.t[:, -1] if source.targets.offset else None
        rows = {name: values[block.first_row :][: block.rows] for name, values in _labels_of(source).items()}
        found = _answers(model, as_coded(block.x), options, known)
        yield PredictedBatch(pa.table(rows), found, RowProblems(block.rows))


def _labels_of(source: Source) -> NamedColumns:
    """Return the labels of sparse rows as a column; their indices where they have no labels."""
    if source.targets.given:
        return {"label": source.read_targets()[:, 0]}
    return {"row": np.arange(source.count_rows())}


def pipeline_columns(pipeline: Any, relation: UnalteredTable) -> tuple[UnalteredTable, list[str]]:
    """Return the table as a pipeline takes it, text where its categories are text, and the columns that it takes."""
    from adaline.storage.steps import example

    first, row = first_step(pipeline), example(pipeline)[0]
    names = [str(name) for name in getattr(first, "feature_names_in_", relation.schema)]
    if getattr(first, "coding_", None) is not None:
        names = list(first.coding_.needed)
    absent = [name for name in names if name not in relation.schema]
    if absent:
        raise InvalidData(f"{relation.title} has no column {absent[0]!r}; the model needs: {', '.join(names)}")
    _check_count(len(row), len(names), relation)
    return with_texts(relation, [name for name, value in zip(names, row, strict=True) if isinstance(value, str)]), names


def pipeline_predictions(
    pipeline: Any, relation: Relation, names: list[str], options: PredictOptions
) -> Iterator[PredictedBatch]:
    """Return batches of the table, with predictions of the rows that the pipeline can predict.

    A pipeline is given every row, as it may handle missing values; where it refuses them, only the rows that its first
    step can code, or that have all values.
    """
    coding = getattr(first_step(pipeline), "coding_", None)
    named = hasattr(first_step(pipeline), "feature_names_in_")
    batches: Iterator[Any] = (
        batch_table(batch) for _, run in relation.runs(list(relation.schema), "TRUE", BATCH) for batch in run()
    )
    if isinstance(last_step(pipeline), SignalSystem):  # its output depends on rows before: filtered as a whole
        batches = iter([pa.concat_tables(batches)])
    for batch in batches:
        rows, problems = batch.select(names), RowProblems(len(batch))
        try:
            found = _answers(pipeline, _frame(rows, named), options)
        except ValueError as error:
            if coding is not None:
                problems = coding.problems(nw.from_native(rows, eager_only=True))
            for name, column in zip(names, rows.columns, strict=True) if coding is None else ():
                problems.add_missing(name, np.asarray(pc.is_null(column, nan_is_null=True)))
            if problems.codable.all() or not problems.codable.any():
                raise InvalidData(f"the pipeline cannot predict the rows of {relation.title}: {error}") from None
            found = _answers(pipeline, _frame(rows.filter(pa.array(problems.codable)), named), options)
        yield PredictedBatch(batch, found, problems)


def _frame(rows: Any, named: bool) -> Any:
    """Return rows of an Arrow table as scikit-learn takes them, what is missing as NaN; without names as an array."""
    if find_spec("pandas") is not None:
        frame = rows.to_pandas().fillna(np.nan)
        return frame if named else frame.to_numpy()
    return rows if named else nw.from_native(rows, eager_only=True).to_numpy()


def _check_count(expected: int, found: int, relation: Relation) -> None:
    if expected != found:
        raise InvalidData(
            f"the model was fitted to {counted(expected, 'column')} without names, and {relation.title} has {found}: "
            "give a table with these columns only, in the same order"
        )


def check_options(model: AnyModel, options: PredictOptions) -> None:
    """Refuse options that the model cannot serve, before a row is read."""
    last = last_step(model)
    name = type(last).__name__
    if not can_predict(last):
        raise InvalidParameter(f"the pipeline ends with {name}, which has no predict")
    if options.proba and not gives_probabilities(model):
        able = ", ".join(other for other, cls in SYSTEMS.items() if gives_probabilities(cls))
        raise InvalidParameter(f"{name} has no probabilities; these systems have: {able}")
    if options.interval is None:
        return
    if "interval" not in inspect.signature(last.predict).parameters:
        able = ", ".join(other for other, c in SYSTEMS.items() if "interval" in inspect.signature(c.predict).parameters)
        raise InvalidParameter(f"{name} has no intervals; these systems have: {able}")
    if not 0 < options.level < 1:
        raise InvalidParameter(f"--level must be between 0 and 1, got {options.level:g}")


def coding_for(model: AnyModel, relation: Relation) -> Coding:
    """Return how the model's columns are made from those of the table; without names they are taken in their order."""
    coding = coding_of(model)
    if coding is None:
        _check_count(model.n_features_in_, len(relation.schema), relation)
        columns = [Column(name, "number") for name in relation.schema]
        coding = Coding(tuple(columns), plain_terms(columns))
    check_needed(relation, coding)
    return coding


def unique(names: Any, taken: list[str]) -> dict[str, str]:
    """Return names for new columns that differ from those taken, by a number at the end where they must.

    Examples
    --------
    >>> from adaline.cli.predict import unique
    >>> unique(["prediction", "lower"], ["x", "prediction"])
    {'prediction': 'prediction_2', 'lower': 'lower'}
    """
    out: dict[str, str] = {}
    used = {name.lower() for name in taken}
    for name in names:
        new, count = name, 1
        while new.lower() in used:
            count += 1
            new = f"{name}_{count}"
        out[name] = new
        used.add(new.lower())
    return out


def _answers(model: AnyModel, x: Any, options: PredictOptions, offset: OffsetsLike = None) -> NamedColumns:
    """Return what the model says about rows, with their offsets where it has any, column by column."""
    given = {} if offset is None else {"offset": offset}
    if x.shape[0] == 0:
        none = None if offset is None else np.zeros(1)
        found = _answers(model, as_coded(np.zeros((1, x.shape[1]))), options, none)
        return {name: values[:0] for name, values in found.items()}
    if options.interval is not None:
        bands = model.predict(x, interval=options.interval, level=options.level, **given)
        parts = [_named(what, part) for what, part in zip(("prediction", "lower", "upper"), bands, strict=True)]
        return {name: column for part in parts for name, column in part.items()}
    out = _named("prediction", np.asarray(model.predict(x, **given)))
    if options.proba:
        shares = model.predict_proba(x)
        out |= {f"probability_{label}": shares[:, k] for k, label in enumerate(model.classes_.tolist())}
    return out


def _named(what: str, values: NDArray[Any]) -> NamedColumns:
    """Return an array as a column, or its columns with a number each."""
    return {what: values} if values.ndim == 1 else {f"{what}_{k}": column for k, column in enumerate(values.T)}


def _column(values: NDArray[Any], predicted: Mask, kind: Any) -> Any:
    """Return predictions of some rows as an Arrow column of all rows, empty at the others."""
    column = pa.array(values.tolist() if values.dtype.kind == "O" else values, kind)
    if predicted.all():
        return column
    return column.take(pa.array(np.cumsum(predicted) - 1, mask=~predicted))


def _kind(model: AnyModel) -> Any:
    """Return the Arrow type of predictions, whatever rows a batch has."""
    labels = getattr(last_step(model), "classes_", None)
    return pa.float64() if labels is None else pa.array(labels.tolist()).type


def _kept(relation: Relation, keep: str) -> list[str]:
    if keep in ("all", "none") and keep not in relation.schema:
        return list(relation.schema) if keep == "all" else []
    names = list(listed(keep) or ())
    for name in names:
        check_column(relation, name, "--keep")
    return names


# Writing Arrow tables batch by batch: to CSV, TSV or Parquet files, or as lines on stdout.


KINDS = (".csv", ".tsv", ".parquet")


def text_writer(file: BinaryIO, separator: str = ",", shown: Callable[[str], str] = str) -> WriteRows:
    """Return a function that writes rows as text under a line of names; values are quoted only where they must be.

    Text is written as it is (in a terminal as `shown` gives it), also where it begins with =, +, - or @, which a
    spreadsheet may take for a formula: what is read again is what was there. Import columns of strangers as text.
    """
    begun = False

    def write(table: Any) -> None:
        nonlocal begun
        if not begun:
            names = _quoted(pa.chunked_array([pa.array(table.column_names, pa.string())]), separator)
            file.write(shown(separator.join(names.to_pylist()) + "\n").encode())
            begun = True
        if table.num_rows:
            cells = [_quoted(_text(column), separator) for column in table.columns]
            lines = pc.binary_join_element_wise(*cells, separator, null_handling="replace", null_replacement="")
            file.write(shown("\n".join(lines.to_pylist()) + "\n").encode())

    return write


@contextmanager
def writing(path: Path | None, as_json: bool = False) -> Iterator[WriteRows]:
    """Open where rows go; a file appears under its name when it is whole, and what was there stays until then."""
    if path is None:
        out = sys.stdout.buffer

        def write_json(table: Any) -> None:
            out.write("".join(json_text(row) + "\n" for row in table.to_pylist()).encode())

        yield write_json if as_json else text_writer(out, shown=visible if sys.stdout.isatty() else str)
        out.flush()
        return
    with replacing(path) as temporary, ExitStack() as ends:
        if _is_parquet(path):
            opened: list[Any] = []

            def write_parquet(table: Any) -> None:
                if not opened:
                    opened.append(ends.enter_context(parquet.ParquetWriter(temporary, table.schema)))
                opened[0].write_table(_with_schema(table, opened[0].schema))

            yield write_parquet
        else:
            yield text_writer(ends.enter_context(open(temporary, "wb")), "\t" if path.suffix.lower() == ".tsv" else ",")


def _with_schema(table: Any, schema: Any) -> Any:
    """Return a table with the types of a schema, without texts that do not fit them, as those of totals."""
    columns = []
    for column, field_ in zip(table.columns, schema, strict=True):
        try:
            columns.append(column.cast(field_.type))
        except pa.ArrowInvalid:
            if not pa.types.is_string(column.type):
                raise
            columns.append(pa.chunked_array([_fitting(cell, field_.type) for cell in column], field_.type))
    return pa.table(columns, schema=schema)


def _fitting(cell: Any, kind: Any) -> Any:
    """Return a text as an array of one value of a type, which is missing where the text cannot be converted."""
    one = pa.array([cell.as_py()], pa.string())
    try:
        return one.cast(kind)
    except pa.ArrowInvalid:
        return pa.nulls(1, kind)


def _is_parquet(path: Path) -> bool:
    return path.name.lower().endswith(".parquet")


def _text(column: Any) -> Any:
    """Return a column as text; times without fractions of a second that are zero, NaN as nothing."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    try:
        text = column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        values = [None if value is None else str(value) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(values, pa.string())])
    return pc.replace_substring_regex(text, r"\.0+(Z|[+-][0-9:]+)?$", r"\1") if pa.types.is_timestamp(kind) else text


def _quoted(column: Any, separator: str) -> Any:
    """Return text with quotes around what would be read amiss without them."""
    odd = pc.match_substring_regex(column, f'[{separator}"\r\n]|^ | $')
    if not pc.any(odd).as_py():
        return column
    doubled = pc.replace_substring(column, '"', '""')
    return pc.if_else(odd, pc.binary_join_element_wise('"', doubled, '"', ""), column)
