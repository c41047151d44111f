"""One raw column of a table: its kind, and what was learned from its values.

Texts are categories, coded by their levels; or they are hashed, so that no level need be known; or their words are
counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.coding.numerals import Notation, plain_number
from adaline.coding.reading import is_missing, read_column
from adaline.coding.texts import (
    ABSENT,
    UNKNOWN,
    Codes32,
    NumberIndex,
    TextIndex,
    Texts,
    expected_collisions,
    join_entries,
    joinable,
    seed_of,
    signed_buckets,
    written,
)
from adaline.errors import InvalidParameter
from adaline.forms import Count, FiniteNumber, one_of_words
from adaline.lazy import nw, pa
from adaline.locks import cached_property
from adaline.parameters import one_of

Level = str | int | float | bool
WordWeighting = Literal["counts", "binary", "tfidf"]

# distinct values beyond which a text column is a category only if each occurs OFTEN times on average; doubling
# MOST_LEVELS codes columns with more levels, doubling OFTEN treats more columns as text
MOST_LEVELS = 1000
OFTEN = 10
# distinct values beyond which a text column is prose or names if each occurs less than twice on average; doubling it
# codes more such columns
FEW_LEVELS = 20
# columns that a text column is hashed to by default, and at most; doubling the default halves collisions
DEFAULT_WIDTH, MOST_WIDTH = 2**18, 2**30
MISSING_LEVEL = "(missing)"
LONG = 2**14  # texts of a series from which it pays to import Arrow


@dataclass(frozen=True)
class Column:
    """A raw column as a coding knows it.

    Parameters
    ----------
    name : of the column.
    kind : "number", "boolean", "date" (days since 1970) or "category".
    levels : of a category, the reference first. Missing values are the level "(missing)" where that is one of them.
    share : how often each level occurred, as a fraction of the rows.
    mean : of the values present, for numbers where missing ones are filled.
    gaps : whether missing values have a column (numbers) or a level (categories) of their own.
    """

    name: str
    kind: Annotated[str, one_of_words("number", "boolean", "date", "category", "hashed", "words")]
    levels: tuple[Level, ...] = ()
    share: tuple[FiniteNumber, ...] = ()
    mean: float = math.nan
    gaps: bool = False

    @property
    def is_category(self) -> bool:
        """Whether the column is coded by its different values, not as numbers."""
        return self.kind in ("category", "hashed", "words")

    def shown_levels(self) -> list[str]:
        """Return the levels as text, that of missing values last."""
        return [*map(str, self.levels), *([MISSING_LEVEL] if self.gaps else [])]

    def numbers(self, frame: nw.DataFrame[Any], first_row: int = 0, notation: Notation | None = None) -> Array:
        """Return the values in a frame as float64, dates as days since 1970, NaN where missing.

        Values that cannot be read as what the column is are refused; rows are counted from `first_row`.
        """
        found = read_column(frame, self.name, self.kind, notation)
        found.refuse_unreadable(self.name, self.kind, first_row)
        return found.values

    @property
    def has_levels(self) -> bool:
        """Whether each level has a column of its own, but for a reference."""
        return self.kind == "category"

    @cached_property
    def takes_gaps(self) -> bool:
        """Whether a missing value is one of the levels, as in a column that is ticked or empty."""
        return self.has_levels and MISSING_LEVEL in self.levels

    @cached_property
    def of_texts(self) -> bool:
        """Whether the levels are texts."""
        return all(isinstance(level, str) for level in self.levels)

    @cached_property
    def index(self) -> TextIndex:
        """The levels as they are found by their texts."""
        return TextIndex.of(self.levels if self.of_texts else [*map(str, self.levels)])  # type: ignore[arg-type]

    @cached_property
    def _numbers(self) -> NumberIndex | None:
        """The levels as they are found, where they are numbers."""
        known = [level for level in self.levels if isinstance(level, int | float)]
        return NumberIndex.of(known) if len(known) == len(self.levels) else None

    @cached_property
    def _known(self) -> dict[Level, int]:
        return {level: i for i, level in enumerate(self.levels)}

    def texts(self, frame: nw.DataFrame[Any]) -> Texts:
        """Return the values in a frame as texts."""
        return texts_of(frame[self.name])

    def codes(self, frame: nw.DataFrame[Any], exact: bool = False) -> Codes32:
        """Return the index of each value among the levels, (n,): ABSENT where missing, UNKNOWN for other levels.

        Unless `exact`, a text that is no level stands for one that it equals without blanks around it, or as a number.
        """
        found = self._codes(frame, exact)
        return np.where(found == ABSENT, np.int32(self._known[MISSING_LEVEL]), found) if self.takes_gaps else found

    def _codes(self, frame: nw.DataFrame[Any], exact: bool) -> Codes32:
        """Return what `codes` does, ABSENT wherever a value is missing."""
        series = frame[self.name]
        arrow = series.implementation.is_pyarrow()
        if self.of_texts and (series.dtype == nw.String or (arrow and series.dtype == nw.Categorical)):
            return codes_among(self.index, series, exact)
        if series.dtype.is_numeric() and self._numbers is not None:
            return self._numbers.find(read_column(frame, self.name, "number").values)
        if series.dtype.is_numeric():  # numbers where the levels are texts
            return codes_among(self.index, series)

        def code(value: Any) -> int:
            if is_missing(value):
                return ABSENT
            found = self._known.get(plain_level(value), UNKNOWN)
            alike = () if exact or found != UNKNOWN else _alike(value)
            return next((self._known[one] for one in alike if one in self._known), found)

        if arrow:
            return _arrow_codes(series.to_native(), code)
        index = {value: code(value) for value in series.unique().to_list()}
        return np.array([index.get(value, ABSENT) for value in series.to_list()], dtype=np.int32)


@dataclass(frozen=True)
class HashedColumn(Column):
    """A column whose different values are hashed to columns, 1 or -1 each, so that none need be known beforehand.

    `levels` and `share` are the most frequent values, where they were counted, and `distinct` how many there are, or 0.

    Parameters
    ----------
    width : the number of columns, a power of two.
    """

    width: Count = DEFAULT_WIDTH
    distinct: Count = 0

    @property
    def collisions(self) -> float | None:
        """How many of the different values are expected to share a column with another one; None if unknown."""
        return expected_collisions(self.distinct, self.width) if self.distinct else None

    def bucket_levels(self) -> dict[int, list[str]]:
        """Return the most frequent values in each bucket, the more frequent first."""
        out: dict[int, list[str]] = {}
        hashes = Texts.of(map(str, self.levels)).hashes(seed_of(self.name))
        for level, bucket in zip(self.levels, signed_buckets(hashes, self.width)[0].tolist(), strict=True):
            out.setdefault(bucket, []).append(str(level))
        return out


@dataclass(frozen=True)
class WordOptions:
    """How the words of a column are counted.

    Parameters
    ----------
    weighting : "counts", "binary" (1 for a word that is there), or "tfidf": counts times the rarity of the word among
        the rows, each row of length one.
    ngrams : up to how many neighbouring words are a word too, joined by a blank.
    least : the least number of rows that a word must be in.
    width : the number of columns that words are hashed to, a power of two; 0 where each word has its own.
    """

    weighting: str = "counts"
    ngrams: int = 1
    least: int = 1
    width: int = 0

    @classmethod
    def of(cls, given: dict[str, Any] | str | None) -> Self:
        """Return the options of a dictionary, or of a weighting alone; refuse unknown ones."""
        known = [one.name for one in fields(cls)]
        given = {"weighting": given} if isinstance(given, str) else given
        if given is not None and (not isinstance(given, dict) or not given.keys() <= {*known}):
            raise InvalidParameter(f"words: the options of a column are {', '.join(known)}, got {given!r:.80}")
        return cls(**(given or {}))

    def __post_init__(self) -> None:
        one_of(WordWeighting).check("words: weighting", self.weighting)
        for name, most in (("ngrams", 8), ("least", 2**53)):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= most:
                raise InvalidParameter(f"words: {name} is a whole number of 1 to {most:,}, got {value!r:.40}")
        if self.width:
            check_width("words: width", self.width)
            if self.weighting == "tfidf" or self.least > 1:
                raise InvalidParameter("words: hashed words have neither a least count nor weighting='tfidf'")


@dataclass(frozen=True)
class WordColumn(Column):
    """A column of texts whose words are counted; `levels` is the vocabulary, `share` the share of texts with each word.

    Parameters
    ----------
    weighting : "counts", "binary", or "tfidf": counts times 1 + ln((1 + n) / (1 + m)), m of n texts having the word,
        in rows of length one.
    ngrams : up to how many neighbours are words too, joined by a blank.
    width : the number of columns that words are hashed to, a power of two; 0 where each has a column of its own.
    rows : the number of texts that the vocabulary is of.
    """

    weighting: Annotated[str, one_of_words("counts", "binary", "tfidf")] = "counts"
    ngrams: Count = 1
    width: Count = 0
    rows: Count = 0

    @property
    def count(self) -> int:
        """Number of columns."""
        return self.width or len(self.levels)

    def entries(self, rows: Texts) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
        """Return where the words of each row begin, (n + 1,), the column of each and its value, sorted by column."""
        texts, starts = rows.words(self.ngrams)
        if self.width:
            codes, values = signed_buckets(texts.hashes(seed_of(self.name)), self.width)
        else:
            codes = self.index.find(texts)
            values = np.ones(len(codes))
        starts, codes = starts.copy(), np.ascontiguousarray(codes, dtype=np.int32)
        size = join_entries(starts, codes, values)
        codes, values = codes[:size], values[:size]
        if self.weighting == "binary":
            values = np.sign(values)
        elif self.weighting == "tfidf":
            values = values * self.rarity[codes]
            row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            values = values / np.sqrt(np.bincount(row, values**2, len(starts) - 1))[row]
        return starts, codes, values

    @cached_property
    def rarity(self) -> Array:
        """The weight of each word of the vocabulary: 1 + ln((1 + n) / (1 + m)) where m of n texts have it."""
        return 1.0 + np.log((1 + self.rows) / (1 + np.array(self.share) * self.rows))


def check_width(name: str, width: Any, most: int = MOST_WIDTH, where: str = "") -> None:
    """Refuse a number of columns to hash to that is no power of two, or more than `most`, one itself."""
    if type(width) is not int or not 2 <= width <= most or width & (width - 1):
        raise InvalidParameter(
            f"{name} must be a power of two from 2 to 2^{most.bit_length() - 1}, as 2**20{where}, got {width!r:.40}"
        )


def kind_of(dtype: Any) -> str:
    """Return "number", "boolean", "date", "category" (declared), "text", or "other"."""
    if dtype.is_numeric():
        return "number"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype in (nw.Date, nw.Datetime):
        return "date"
    if dtype in (nw.Categorical, nw.Enum):
        return "category"
    return "text" if dtype in (nw.String, nw.Object) else "other"


def is_text(distinct: int, rows: int) -> bool:
    """Whether a column with so many distinct texts in so many rows is prose or names, rather than a category."""
    return nearly_unique(distinct, rows) or (distinct > MOST_LEVELS and OFTEN * distinct > rows)


def nearly_unique(distinct: int, rows: int) -> bool:
    """Whether most texts of a column occur once: it names rows, or is prose."""
    return distinct > FEW_LEVELS and 2 * distinct > rows


def plain_level(value: Any) -> Any:
    """Return a level as a Python text, number or boolean, which can be stored."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, str | int | float | bool) else written(value)


def plain_levels(levels: Iterable[Any]) -> list[Any]:
    """Return levels as Python texts, numbers or booleans."""
    levels = list(levels)
    return levels if all(type(level) is str for level in levels) else [*map(plain_level, levels)]


def _alike(value: Any) -> Iterator[Level]:
    """Yield the levels that a value stands for where it is none itself, as one of another type, or between blanks."""
    if not isinstance(value, str):
        yield written(value)
        yield written(value).lower()  # True is written as true in SQL and in JSON
        if isinstance(value, Decimal):
            yield plain_level(float(value))
        return
    yield value.strip()
    number = plain_number(value)
    if number is not None:
        yield plain_level(number)


def texts_of(series: nw.Series[Any]) -> Texts:
    """Return the values of a series as texts; through Arrow where it is long, or has no texts."""
    if series.implementation.is_pyarrow():
        return Texts.of_column(series.to_native())
    if series.dtype != nw.String or len(series) > LONG:
        with suppress(ImportError, UnicodeEncodeError):  # Arrow is not there, or does not hold lone surrogates
            return Texts.of_column(series.to_arrow())
    values = series.to_list()
    absent = np.fromiter(map(is_missing, values), dtype=bool, count=len(values))
    texts = Texts.of("" if gone else written(value) for value, gone in zip(values, absent, strict=True))
    return replace(texts, absent=absent) if absent.any() else texts


def codes_among(index: TextIndex, series: nw.Series[Any], exact: bool = False) -> Codes32:
    """Return the index of each value of a series, as a text, among known texts, (n,); ABSENT where it is missing.

    Unless `exact`, a text that is not known is looked up without the blanks around it.
    """
    texts = texts_of(series)
    found = index.find(texts)
    unknown = found == UNKNOWN if texts.absent is None else (found == UNKNOWN) & ~texts.absent
    if unknown.any() and not exact:
        values = series.to_list()
        places = [i for i in np.flatnonzero(unknown).tolist() if str(values[i]).strip() != str(values[i])]
        if places:
            found[places] = index.find(Texts.of(str(values[i]).strip() for i in places))
    return found if texts.absent is None else np.where(texts.absent, np.int32(ABSENT), found)


def _arrow_codes(column: Any, code: Callable[[Any], int]) -> Codes32:
    """Return the code of each value of an Arrow column, (n,), from that of each different value."""
    column = joinable(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not isinstance(column, pa.ChunkedArray):
        column = pa.chunked_array([column])
    parts = [np.empty(0, dtype=np.int32)]
    for chunk in column.dictionary_encode("encode").chunks:  # a missing value is one of the dictionary's
        codes = np.array([*map(code, chunk.dictionary.to_pylist())], dtype=np.int32)
        parts.append(codes[np.from_dlpack(chunk.indices)])  # Arrow's own to_numpy imports pandas
    return np.concatenate(parts)
