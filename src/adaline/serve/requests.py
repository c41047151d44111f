"""The bodies of requests: JSON, CSV or an Arrow stream, which become rows, within limits, or are refused."""

from __future__ import annotations

import json
import re
import struct
from collections import Counter
from collections.abc import Mapping
from csv import Error as CsvError
from csv import reader
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Literal

import msgspec
import pyarrow as pa
from pyarrow import csv

from adaline.errors import AdalineError
from adaline.fitted import AnyModel
from adaline.input.coded import coding_of
from adaline.serve.direct import DirectRows
from adaline.wording import counted

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"
"""The kinds of bodies that hold rows; the answer is of the same kind."""
LONGEST_KEY = 256  # characters of a key
ALONE = pa.ipc.IpcReadOptions(use_threads=False)  # a request is one of many
FIRST_LINE = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*([^\r\n]*)")
NULLS = ["", "NA", "NaN", "nan", "null"]
TEXT = re.compile(rb'"[^"]*"')  # of JSON, without escaped quotes
APART = (b" :", b"\t:", b"\n:", b"\r:")  # a name and its colon apart from each other, or part of a text

Cell = None | bool | int | float | str
JsonRows = list[dict[str, Cell] | list[Cell]]


@dataclass(frozen=True)
class Limits:
    """Limits on a request.

    Parameters
    ----------
    body : bytes of a request.
    rows : rows of a request.
    columns : columns that a row may have, those that the model does not need included.
    seconds : a request may take to arrive; one that takes longer is answered by 408.
    waiting : rows that may wait to be learned; beyond that, learning is answered by 429.

    Examples
    --------
    >>> from adaline.serve import Limits
    >>> Limits(body=1000).body
    1000
    """

    body: int = 2**24
    rows: int = 1_000_000
    columns: int = 4096
    seconds: float = 30.0
    waiting: int = 100_000


class Refused(AdalineError):
    """A request that is answered by an error, with its status and what more the answer says."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = dict(headers or {})
        self.more = {name: value for name, value in more.items() if value is not None}

    def body(self) -> bytes:
        """Return the answer as a problem detail (RFC 9457), in JSON."""
        title = HTTPStatus(self.status).phrase
        return msgspec.json.encode({"status": self.status, "title": title, "detail": str(self), **self.more})


class PredictBody(msgspec.Struct, forbid_unknown_fields=True):
    """A request for predictions, in JSON."""

    rows: JsonRows
    probabilities: bool = False
    interval: Literal["confidence", "prediction"] | None = None
    level: float = 0.95


class LearnBody(msgspec.Struct, forbid_unknown_fields=True):
    """Rows to learn from, in JSON."""

    rows: JsonRows
    key: str | None = None


class RollbackBody(msgspec.Struct, forbid_unknown_fields=True):
    """Which snapshot to go back to, in JSON."""

    snapshot: int


class PromoteBody(msgspec.Struct, forbid_unknown_fields=True):
    """Which challenger takes the place of the model, in JSON."""

    challenger: str


PREDICT, LEARN = msgspec.json.Decoder(PredictBody), msgspec.json.Decoder(LearnBody)
ROLLBACK, PROMOTE = msgspec.json.Decoder(RollbackBody), msgspec.json.Decoder(PromoteBody)


class PredictRequest(msgspec.Struct, frozen=True):
    """Rows to predict, and what to say about them; x are the rows as the model takes them, where that is known yet."""

    rows: Any
    kind: str
    probabilities: bool = False
    interval: str | None = None
    level: float = 0.95
    x: Any = None


@dataclass(frozen=True)
class LearnRequest:
    """Rows to learn from, and a key under which they are learned once."""

    rows: Any
    kind: str
    key: str | None = None


def read_predict(
    model: AnyModel, direct: DirectRows | None, kind: str, body: bytes, query: Mapping[str, str], limits: Limits
) -> PredictRequest:
    """Return the rows and options of a request for predictions; options are in the JSON, or else in the query.

    `direct` is the short way from its rows to X, where there is one.
    """
    if kind == JSON:
        _refuse_beside_json(query, ("version",))
        _refuse_many(body, limits)
        found, x = _read_plain(direct, body, limits) or (decoded_json(PREDICT, body), None)
        request = PredictRequest(found.rows, kind, found.probabilities, found.interval, found.level, x)
    else:
        _refuse_unknown(query, ("probabilities", "interval", "level", "version"))
        request = PredictRequest(
            _table(model, kind, body, limits),
            kind,
            _flag("probabilities", query.get("probabilities", "false")),
            _one_of("interval", query.get("interval"), ("confidence", "prediction")),
            _number("level", query.get("level", "0.95")),
        )
    if not 0 < request.level < 1:
        raise Refused(422, f"level must lie between 0 and 1, got {request.level:g}")
    if request.x is None:
        _check_size(request.rows, limits)
    return request


def _read_plain(direct: DirectRows | None, body: bytes, limits: Limits) -> tuple[PredictBody, Any] | None:
    """Return a body of JSON and X of its rows, where all are plain, and within limits; None for all others."""
    if direct is None or direct.row_type is None or len(direct.columns) > limits.columns:
        return None
    try:
        found = _plain_decoder(direct.row_type).decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if not _names_once(body, len(found.rows) * len(direct.columns) + _given(found)):
        return None
    x = direct.code_typed(found.rows) if 0 < len(found.rows) <= limits.rows else None
    return None if x is None else (found, x)


@lru_cache(maxsize=64)
def _plain_decoder(row: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    """Return what reads requests for predictions of rows of a type."""
    body = msgspec.defstruct("PlainBody", [("rows", list[row])], bases=(PredictBody,), forbid_unknown_fields=True)  # type: ignore[valid-type]
    return msgspec.json.Decoder(body)


def read_learn(model: AnyModel, kind: str, body: bytes, query: Mapping[str, str], limits: Limits) -> LearnRequest:
    """Return the rows and the key of a request to learn; the key is in the JSON, or else in the query."""
    if kind == JSON:
        _refuse_beside_json(query, ())
        _refuse_many(body, limits)
        found = decoded_json(LEARN, body)
        request = LearnRequest(found.rows, kind, found.key)
    else:
        _refuse_unknown(query, ("key",))
        request = LearnRequest(_table(model, kind, body, limits), kind, query.get("key"))
    if request.key is not None and not 0 < len(request.key) <= LONGEST_KEY:
        raise Refused(422, f"a key has 1 to {LONGEST_KEY} characters")
    _check_size(request.rows, limits)
    return request


@lru_cache(maxsize=64)
def body_kind(content_type: str | None, encoding: str | None) -> str:
    """Return which of the kinds of bodies a request has; others are refused."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind not in (JSON, CSV, ARROW):
        raise Refused(415, f"the Content-Type of rows is {JSON}, {CSV} or {ARROW}")
    if encoding not in (None, "", "identity"):
        raise Refused(415, "send rows as they are: a Content-Encoding is not taken")
    return kind


def decoded_json(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    """Return a body of JSON; an error names the row and the column where there is one."""
    try:
        found = decoder.decode(body)
        names = sum(len(row) for row in getattr(found, "rows", ()) if isinstance(row, dict))
        if not _names_once(body, names + _given(found)):
            json.loads(body, object_pairs_hook=_no_name_twice, parse_int=str, parse_float=str)
        return found
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        message = str(error) or "JSON that is nested too deeply"
        row = re.search(r"\$\.rows\[(\d+)\]", message)
        number = None if row is None else int(row[1])
        column = None if number is None else _odd_column(body, number)
        where = f"row {number}" + ("" if column is None else f", column {column!r}")
        form = '; rows are {"rows": [{"column": value, ...}, ...]}' if decoder in (PREDICT, LEARN) else ""
        told = f"{message}{form}" if number is None else f"{where}: {message}"
        raise Refused(422, told, row=number, column=column) from None


def most_rows(body: bytes) -> int:
    """Return how many rows a body of JSON can have at most, without reading it: brackets in texts count too."""
    return min(body.count(b"{") + body.count(b"[") - 2, body.count(b",") + 1)


def _refuse_many(body: bytes, limits: Limits) -> None:
    """Refuse a body of JSON of too many rows before they are read: an empty row of 3 bytes takes 70 in memory."""
    if len(body) > 2 * limits.rows and most_rows(body) > limits.rows:
        _refuse_count(_rows_in(body), limits)


def _rows_in(body: bytes) -> int:
    """Return how many rows a body of valid JSON has: each has one bracket outside texts."""
    plain = body.replace(rb"\\", b"").replace(rb"\"", b"")
    in_texts = sum(text[0].count(b"{") + text[0].count(b"[") for text in TEXT.finditer(plain))
    return plain.count(b"{") + plain.count(b"[") - in_texts - 2


def _refuse_count(count: int, limits: Limits) -> None:
    if count > limits.rows:
        raise Refused(413, f"{counted(count)} are more than the {limits.rows:,} that a request may have")


def _given(found: Any) -> int:
    """Return how many fields of a body certainly were there: those without a default, or of another value."""
    kind: type[msgspec.Struct] = type(found)
    return sum(getattr(found, name) != default for name, default in _fields(kind))


@lru_cache(maxsize=64)
def _fields(body: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((one.name, one.default) for one in msgspec.structs.fields(body))


def _names_once(body: bytes, names: int) -> bool:
    """Whether no object of a body has a name twice, given how many names are in what it was read into.

    Each name is followed by a quote and a colon; a text may have these too. So where there are as many as names, each
    is one of them. Otherwise it has to be looked at more closely.
    """
    return body.count(b'":') == names and not any(one in body for one in APART)


def _no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise msgspec.ValidationError(f"an object has the name {twice!r:.70} twice")
    return out


def _odd_column(body: bytes, row: int) -> str | None:
    """Return the first column of a row whose value is none of a cell."""
    try:
        cells = msgspec.json.decode(body)["rows"][row]
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, LookupError, TypeError):
        return None
    if not isinstance(cells, dict):
        return None
    return next((name for name, cell in cells.items() if not isinstance(cell, Cell)), None)


def _check_size(rows: Any, limits: Limits) -> None:
    count = len(rows)
    if count == 0:
        raise Refused(422, "there are no rows")
    _refuse_count(count, limits)
    if isinstance(rows, list):
        if max(map(len, rows)) > limits.columns:
            row = next(i for i, cells in enumerate(rows) if len(cells) > limits.columns)
            raise Refused(422, f"row {row} has more than the {limits.columns:,} columns that a row may have", row=row)
    elif rows.num_columns > limits.columns:
        raise Refused(422, f"rows may have at most {limits.columns:,} columns, and these have {rows.num_columns:,}")


# Tables: CSV and Arrow streams.


def _table(model: AnyModel, kind: str, body: bytes, limits: Limits) -> Any:
    return _read_arrow(body, limits) if kind == ARROW else _read_csv(model, body, limits)


def _read_csv(model: AnyModel, body: bytes, limits: Limits) -> Any:
    """Return rows of CSV under a line of names; columns have the types that the model knows."""
    coding = coding_of(model)
    kinds = {} if coding is None else {column.name: _csv_type(column) for column in coding.columns}
    classes = getattr(model, "classes_", None)
    if coding is not None and coding.target is not None and classes is not None and classes.dtype.kind in "UO":
        kinds[coding.target] = pa.string()
    options = csv.ConvertOptions(
        column_types=kinds, null_values=NULLS, strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    try:
        _check_names(body, limits)
        table = csv.read_csv(
            pa.BufferReader(body),
            read_options=csv.ReadOptions(use_threads=False, block_size=max(len(body), 1)),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=options,
        )
        return _named(table)
    except (pa.ArrowException, ValueError, CsvError) as error:
        message = str(error).splitlines()[0]
        row = re.search(r"Row #(\d+)", message)
        found = None if row is None else max(int(row[1]) - 2, 0)  # lines are counted from 1, the names included
        column = re.search(r"CSV column #(\d+)", message)
        name = None if column is None else _csv_name(body, int(column[1]))
        raise Refused(422, f"the CSV cannot be read: {message}", row=found, column=name) from None


def _check_names(body: bytes, limits: Limits) -> None:
    """Refuse a line of names that is too wide, before it is read; it ends where the first line that is not empty does.

    A name that continues beyond the end of the line would hide others behind it.
    """
    names = FIRST_LINE.match(body)[1]  # type: ignore[index]
    if names.count(b",") >= limits.columns:
        raise Refused(422, f"rows may have at most {limits.columns:,} columns")
    if b'"' in names and any("\n" in name for name in next(reader([names.decode("latin-1") + "\n"]))):
        raise Refused(422, "the name of a column in CSV may have no line break")


def _csv_type(column: Any) -> Any:
    if column.kind == "number":
        return pa.float64()
    numeric = column.has_levels and not column.of_texts
    return {"boolean": pa.bool_(), "date": pa.timestamp("us")}.get(
        column.kind, pa.float64() if numeric else pa.string()
    )


def _csv_name(body: bytes, index: int) -> str | None:
    names = body.partition(b"\n")[0].decode("utf-8", "replace").strip().split(",")
    return names[index].strip('"') if index < len(names) else None


def _read_arrow(body: bytes, limits: Limits) -> Any:
    """Return the rows of an Arrow stream, checked in full; compressed ones, which may grow without end, are refused."""
    try:
        messages = list(pa.ipc.MessageReader.open_stream(pa.BufferReader(body)))
        if any(one.type != "schema" and _is_compressed(one.metadata.to_pybytes()) for one in messages):
            raise Refused(422, "the Arrow stream is compressed: send it without compression")
        if [one.type for one in messages] == ["schema", "record batch"]:
            table = pa.ipc.read_record_batch(messages[1], pa.ipc.read_schema(messages[0]))
        else:
            with pa.ipc.open_stream(pa.BufferReader(body), options=ALONE) as reader:
                table = reader.read_all()
        _refuse_count(table.num_rows, limits)
        table.validate(full=True)
        return _named(table)
    except (pa.ArrowException, ValueError, OSError, StopIteration, LookupError, struct.error, MemoryError) as error:
        raise Refused(422, f"the Arrow stream cannot be read: {str(error)[:200] or type(error).__name__}") from None


def _named(table: Any) -> Any:
    """Return a table; refuse names that are no text, which are found when they are asked for."""
    for name in table.schema.names:
        name.encode()
    return table


RECORDS, DICTIONARY = 3, 2  # kinds of messages of Arrow


def _is_compressed(metadata: bytes) -> bool:
    """Return whether a message holds compressed buffers: its flatbuffer then has field 3 of the table RecordBatch."""
    message = struct.unpack_from("<I", metadata)[0]
    kind = _field(metadata, message, 1)
    if not kind or metadata[kind] not in (RECORDS, DICTIONARY):
        return False
    batch = _followed(metadata, message, 2)
    if batch and metadata[kind] == DICTIONARY:
        batch = _followed(metadata, batch, 1)
    return bool(batch) and bool(_field(metadata, batch, 3))


def _field(data: bytes, table: int, k: int) -> int:
    """Return where field k of a table of a flatbuffer begins; 0 where it is not there."""
    entries = table - struct.unpack_from("<i", data, table)[0]
    if entries < 0:
        raise ValueError("its metadata are broken")
    slot = 4 + 2 * k
    offset = (
        struct.unpack_from("<H", data, entries + slot)[0] if slot < struct.unpack_from("<H", data, entries)[0] else 0
    )
    return table + offset if offset else 0


def _followed(data: bytes, table: int, k: int) -> int:
    where = _field(data, table, k)
    return where + int(struct.unpack_from("<I", data, where)[0]) if where else 0


# Options in the query of a request.


def _refuse_unknown(query: Mapping[str, str], known: tuple[str, ...]) -> None:
    for name in query:
        if name not in known:
            raise Refused(422, f"there is no option {name!r}; there are: {', '.join(known)}")


def _refuse_beside_json(query: Mapping[str, str], known: tuple[str, ...]) -> None:
    for name in query:
        if name not in known:
            raise Refused(422, f"options of JSON are in the body, beside the rows, and not in the query: {name!r:.70}")


def _flag(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise Refused(422, f"{name} is true or false, not {text!r}")
    return text == "true"


def _one_of(name: str, text: str | None, known: tuple[str, ...]) -> str | None:
    if text is not None and text not in known:
        raise Refused(422, f"{name} is {' or '.join(known)}, not {text!r}")
    return text


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Refused(422, f"{name} is a number, not {text!r}") from None
