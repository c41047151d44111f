"""A coding: the recipe from the raw columns of a table to the columns of X, learned once and stored with the model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from math import prod
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, is_sparse
from adaline.block import Columns
from adaline.coding.columns import MISSING_LEVEL, Column, HashedColumn, WordColumn, kind_of
from adaline.coding.contrasts import INDEX, Contrast, contrast_of
from adaline.coding.effects import Effect, effects_of_rows
from adaline.coding.expressions import compiled, evaluate, lag_of, names_in
from adaline.coding.learned import Cut, Facts
from adaline.coding.names import NAMED, MadeNames
from adaline.coding.numerals import Notation
from adaline.coding.problems import Mask, RowProblems, shown_level
from adaline.coding.reading import ARROW_TYPES, ReadColumn, read_column, read_values
from adaline.coding.rows import AVERAGED, Entries, as_csr, product_of, put_levels
from adaline.coding.terms import Term, TermFactor
from adaline.coding.texts import ABSENT, UNKNOWN, Codes32, Texts, joined_hashes, seed_of, signed_buckets
from adaline.errors import InvalidData, MissingValues
from adaline.forms import Count, FiniteNumber, one_of_words
from adaline.lazy import nw, pa
from adaline.locks import cached_property
from adaline.parameters import one_of
from adaline.wording import counted

MissingPolicy = Literal["error", "drop", "mean", "indicator"]
UnseenPolicy = Literal["error", "other"]
# columns beyond which X may be sparse, and the share of nonzero entries up to which it is; doubling the share keeps X
# sparse where dense products are faster
MANY, FILLED = 500, 0.125
TYPICAL_WORDS = 64.0  # words assumed for a text whose words were not counted


@dataclass(frozen=True)
class Learned:
    """What a function of a formula has learned from the rows: the text of its call, as "scale(x)", and numbers."""

    text: str
    facts: tuple[FiniteNumber, ...]


@dataclass(frozen=True)
class Coding:
    """How raw columns become the columns of X.

    A number stays what it is, a boolean is 0 or 1, a date the days since 1970, a category of L levels the L - 1 columns
    of its levels but the first (reference coding). A formula adds products and expressions.

    Parameters
    ----------
    columns : the raw columns.
    terms : products of factors that make up X; a column that is in no term is not used.
    target, weight : the target's column or expression, and the column of weights, where the table had them.
    missing : what is done about missing values: "error", "drop" (an error here; tables leave out the rows), "mean"
        (numbers by their mean, categories by the frequencies of their levels) or "indicator" (numbers by their mean,
        with an indicator column, categories by a level of their own).
    unseen : what is done about levels that were not there when levels were learned: "error", or "other", coded by the
        frequencies of the levels, that is as an average one.
    intercept : whether the design has a constant; False for formulas that say so.
    offset : the column or expression of a known part of the output of each row, where the table had one.
    learned : what functions in the terms have learned: means, knots, breaks.
    effects : the columns whose effects are absorbed, with those effects once they are fitted.
    endogenous, instruments : how many of the last terms are endogenous columns, and instruments after them.
    additive : smooths and random effects, as written in the formula.
    arguments : how many of the last terms are columns that only these are functions of.
    na : words that stood for missing values in the files of the fit, besides the usual ones.
    notations : how those files wrote numbers and dates, of the target too, unless as 1234.5 and 2024-12-31.
    """

    columns: tuple[Column, ...]
    terms: tuple[Term, ...]
    target: str | None = None
    weight: str | None = None
    missing: Annotated[str, one_of_words("error", "drop", "mean", "indicator")] = "error"
    unseen: Annotated[str, one_of_words("error", "other")] = "error"
    intercept: bool = True
    offset: str | None = None
    learned: tuple[Learned, ...] = ()
    effects: tuple[Effect, ...] = ()
    na: tuple[str, ...] = field(default=(), compare=False)
    notations: tuple[Notation, ...] = field(default=(), compare=False)
    endogenous: Count = 0
    instruments: Count = 0
    additive: tuple[str, ...] = ()
    arguments: Count = 0

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields: what is computed from them is computed again."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def names(self) -> Sequence[str]:
        """Names of the columns of X, as in "distance", "carrier[T.UA]", "log(x):C(y)[T.b]", "user[#17]" (hashed)."""
        names = ColumnNames(self)
        return tuple(names) if len(names) <= NAMED else names

    @cached_property
    def count(self) -> int:
        """Number of columns of X."""
        return sum(map(self.term_width, self._all_terms))

    @cached_property
    def sparse(self) -> bool:
        """Whether X is sparse: where columns are hashed or words, and where they are many that are mostly zero."""
        if any(column.is_category and not column.has_levels for column in self.columns):
            return True
        return self.count > MANY and self.entries <= FILLED * self.count

    @cached_property
    def entries(self) -> float:
        """About how many numbers of a row of X are not zero."""
        hashed = self.hashed_width
        return sum(1.0 if hashed(term) else prod(map(self._entries, term)) for term in self._all_terms)

    @cached_property
    def raw_texts(self) -> tuple[str, ...]:
        """The columns that are read as they are, whole numbers and texts that are repeated too: X is sparse."""
        return tuple(column.name for column in self.columns if column.is_category) if self.sparse else ()

    @cached_property
    def origin(self) -> tuple[str, ...]:
        """The raw column (columns, for products) that each column of X comes from."""
        out: list[str] = []
        for term in self._all_terms:
            width = self.term_width(term)
            raw = dict.fromkeys(name for factor in term for name in (*factor.numbers(), *factor.categories()))
            out += [":".join(raw)] * width
        return tuple(out)

    def term_columns(self) -> list[list[int]]:
        """Return for each term the indices of its columns of X, those that indicate gaps in its numbers included."""
        out: list[list[int]] = []
        first = 0
        for factors in self._all_terms:
            width = self.term_width(factors)
            if len(out) < len(self.terms) and factors is self.terms[len(out)].factors:
                out.append([])
            out[-1] += range(first, first + width)
            first += width
        return out

    def only(self, terms: Collection[int]) -> Coding:
        """Return the coding with some of its terms alone, by their indices, which are plain columns then."""
        kept = tuple(term for k, term in enumerate(self.terms) if k in terms)
        factors = [factor for term in kept for factor in term.factors]
        used = {(n, False) for f in factors for n in f.numbers()} | {(n, True) for f in factors for n in f.categories()}
        texts = {call.text for f in factors if f.column is None for call in compiled(f.text).calls}
        return replace(
            self,
            columns=tuple(column for column in self.columns if (column.name, column.is_category) in used),
            terms=kept,
            learned=tuple(one for one in self.learned if one.text in texts),
            endogenous=0,
            instruments=0,
            additive=(),
            arguments=0,
        )

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The raw columns that X, and the effects of rows, are computed from."""
        names = (*(column.name for column in self.columns), *(effect.name for effect in self.effects))
        return tuple(dict.fromkeys(names))

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The raw columns without those in which a missing value is a level."""
        free = {column.name for column in self.columns if column.takes_gaps}
        return tuple(name for name in self.needed if name not in free)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The categories and effects whose levels are texts."""
        columns = (column for column in self.columns if column.is_category)
        found = [c.name for c in columns if not c.has_levels or c.of_texts]
        return (*found, *(effect.name for effect in self.effects if effect.texts))

    def notations_to_read(self) -> tuple[Notation, ...]:
        """Return how columns are written in new files: the notations, and the plain one of the other numbers."""
        known = {name for one in self.notations for name in one.columns}
        plain = dict.fromkeys(c.name for c in self.columns if c.kind == "number" and c.name not in known)
        return (*self.notations, Notation(".", "", tuple(plain))) if plain else self.notations

    def code(self, frame: nw.DataFrame[Any], first_row: int = 0) -> Any:
        """Return X, (n, D), column-major or CSR, for the rows of a frame; errors count rows from `first_row`."""
        return self._rows(frame, first_row).packed()

    def columns_of(self, frame: nw.DataFrame[Any], first_row: int = 0) -> Any:
        """Return the columns of X, or X in CSR where it is sparse; numbers of the frame are not copied.

        A missing number that is not filled stays NaN, which sums and predictions show.
        """
        return self._rows(frame, first_row).columns()

    def value(self, text: str, frame: nw.DataFrame[Any], first_row: int = 0) -> Array:
        """Return an expression of the raw columns, such as the offset, for the rows of a frame, (n,)."""
        return np.broadcast_to(self._rows(frame, first_row).value(text), (len(frame),))

    def with_lags(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        """Return a frame with the columns that are called as in "lag(x, 2)"; refuse one without those of the model."""
        present = set(frame.columns)
        for name in (name for name in self.needed if name not in present):
            lag = lag_of(name)
            if lag is None or lag[0] not in present:
                raise InvalidData(
                    f"column {name!r} is missing from the table; the model needs: {', '.join(self.needed)}"
                )
            frame = frame.with_columns(nw.col(lag[0]).shift(lag[1]).alias(name))
        return frame

    def _rows(self, frame: nw.DataFrame[Any], first_row: int) -> _Rows:
        return _Rows(self, self.with_lags(frame), first_row)

    def problems(self, frame: nw.DataFrame[Any]) -> RowProblems:
        """Return which rows of a frame cannot be coded, and why, in one pass over its raw columns.

        These are rows with missing values that are not filled, without an offset, or with levels that were not there in
        the fit where `unseen` is "error".

        Examples
        --------
        >>> import narwhals as nw, pyarrow as pa
        >>> from adaline.coding import Coding, Column
        >>> from adaline.coding.frames import plain_terms
        >>> columns = Column("age", "number"), Column("carrier", "category", ("AA", "UA"), (0.5, 0.5))
        >>> frame = nw.from_native(pa.table({"age": [1.0, None], "carrier": ["AA", "ZZ"]}), eager_only=True)
        >>> Coding(columns, plain_terms(columns)).problems(frame).reasons()
        [None, "missing value of age; unseen level 'ZZ' of carrier"]
        """
        return self._rows(frame, 0).problems()

    def _coded_by_levels(self, name: str) -> list[Column | Effect]:
        """Return the category, and the effect, of a column whose unseen levels are refused."""
        columns = [c for c in self.columns if c.name == name and c.has_levels and name in self._by_levels]
        effects = [effect for effect in self.effects if effect.name == name and effect.fitted]
        return [*columns, *effects] if self.unseen == "error" else []

    def refuses_levels(self, name: str) -> bool:
        """Whether unseen levels of a raw column are refused."""
        return bool(self._coded_by_levels(name))

    def unseen_levels(self, name: str, frame: nw.DataFrame[Any]) -> list[Any]:
        """Return the values of a raw column in a frame that are refused as unseen levels."""
        values, codes = frame[name].to_list(), [one.codes(frame) for one in self._coded_by_levels(name)]
        return [value for k, value in enumerate(values) if any(own[k] == UNKNOWN for own in codes)]

    @cached_property
    def _by_levels(self) -> frozenset[str]:
        """The raw columns that are coded by their levels."""
        factors = (f for term in self.terms for f in term.factors if f.category and not is_index(f))
        return frozenset(f.column for f in factors if f.column is not None)

    @cached_property
    def _computed_levels(self) -> tuple[str, ...]:
        """The expressions whose values are levels, such as cut(x, 3)."""
        computed = (f.text for term in self.terms for f in term.factors if f.column is None)
        return tuple(dict.fromkeys(text for text in computed if compiled(text).kind == "levels"))

    def code_possible(self, frame: nw.DataFrame[Any], first_row: int = 0) -> tuple[Any, RowProblems]:
        """Return X of the rows that can be coded, (m, D), and the problems of the others.

        Rows in which a column of X is not finite are among the others.
        """
        rows = self._rows(frame, first_row)
        problems = rows.problems()
        if not problems.codable.all():
            rows = _Rows(self, rows.frame.filter(problems.codable.tolist()), first_row)
        x = rows.packed() if len(rows.frame) else np.empty((0, self.count))
        bad = _not_finite(x)
        if bad is None:
            return x, problems
        at, columns = bad
        places = np.flatnonzero(problems.codable)[at]
        for k in np.unique(columns).tolist():
            problems.add("no finite value", self.names[k], _mask(len(frame), places[columns == k]))
        return x[np.setdiff1d(np.arange(x.shape[0]), at)], problems

    def typed(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        """Return an Arrow table whose columns of numbers, booleans and dates are such, where the model reads them.

        Values that cannot be read are missing.

        Examples
        --------
        >>> import narwhals as nw, pyarrow as pa
        >>> from adaline.coding import Coding, Column
        >>> from adaline.coding.frames import plain_terms
        >>> columns = (Column("day", "date"),)
        >>> frame = nw.from_native(pa.table({"day": ["2024-12-31", "unknown"]}), eager_only=True)
        >>> Coding(columns, plain_terms(columns)).typed(frame)["day"].to_list()
        [datetime.datetime(2024, 12, 31, 0, 0), None]
        """
        native = frame.to_native()
        for column in self.columns:
            at = native.schema.get_field_index(column.name)
            if at < 0 or column.is_category or kind_of(frame[column.name].dtype) == column.kind:
                continue
            values, _ = read_values(frame[column.name].to_list(), column.kind, self.notation(column.name))
            native = native.set_column(at, column.name, pa.array(values, ARROW_TYPES[column.kind]))
        return nw.from_native(native, eager_only=True)

    def notation(self, name: str) -> Notation | None:
        """Return how the files of the fit wrote a column, or the one that it is a lag of; None where plainly."""
        if not self.notations:
            return None
        name = (lag_of(name) or (name,))[0]
        return next((one for one in self.notations if name in one.columns), None)

    @cached_property
    def facts(self) -> dict[str, Facts]:
        """What functions have learned, by the text of their calls."""
        return {one.text: one.facts for one in self.learned}

    def width(self, factor: TermFactor) -> int:
        """Return the number of columns of a factor."""
        if factor.column is None:
            return compiled(factor.text).size(self.facts) - (factor.category and not factor.full)
        if not factor.category:
            return 1
        if is_index(factor):
            return 1
        column = self.column(factor.column, True)
        if isinstance(column, HashedColumn):
            return column.width
        if isinstance(column, WordColumn):
            return column.count
        return len(column.levels) + column.gaps - (not factor.full)

    def term_width(self, term: tuple[TermFactor, ...]) -> int:
        """Return the number of columns of a term: the product of those of its factors, or what it is hashed to."""
        return self.hashed_width(term) or prod(map(self.width, term))

    def hashed_width(self, term: tuple[TermFactor, ...]) -> int:
        """Return the number of columns that a term is hashed to, the largest of its hashed factors; 0 if it is not."""
        if not self._hashed:
            return 0
        return max((self._hashed.get(f.column or "", 0) for f in term if f.category), default=0)

    @cached_property
    def _hashed(self) -> dict[str, int]:
        return {column.name: column.width for column in self.columns if isinstance(column, HashedColumn)}

    def base(self, factor: TermFactor) -> int:
        """Return the index of the reference level of a category; beyond the last one where it has none."""
        if factor.full:
            return self.width(factor)
        contrast = _contrast(factor)
        return 0 if contrast.reference is None else contrast.base(self.levels(factor)[0])

    def _entries(self, factor: TermFactor) -> float:
        """Return how many columns of a factor are not zero in a row: at most, of words on average."""
        column = self.column(factor.column, True) if factor.category and factor.column is not None else None
        if isinstance(column, WordColumn):
            return sum(column.share) or TYPICAL_WORDS
        one = factor.category and (factor.full or _contrast(factor).kind == "Treatment")
        return 1 if one else self.width(factor)

    @property
    def known_part(self) -> bool:
        """Whether a part of the output of each row is known: an offset, or effects that were fitted."""
        return self.offset is not None or any(effect.fitted for effect in self.effects)

    def read_offset(self, frame: nw.DataFrame[Any], first_row: int = 0) -> Array | None:
        """Return the known part of the output of each row of a frame, (n,): its offset and fitted effects.

        It is NaN where the offset is missing, and None where the coding has neither.
        """
        fitted = [effect for effect in self.effects if effect.fitted]
        effects = effects_of_rows(fitted, frame, self.unseen, first_row) if fitted else None
        if self.offset is None:
            return effects
        known = _Rows(self, frame, first_row).offset()
        return known if effects is None else known + effects

    def column(self, name: str, category: bool) -> Column:
        """Return a raw column by its name, as a number or as a category."""
        return self._by_name[name, category]

    @cached_property
    def _by_name(self) -> dict[tuple[str, bool], Column]:
        """The raw columns by their names, and by whether they are categories."""
        return {(column.name, column.is_category): column for column in reversed(self.columns)}

    @cached_property
    def _all_terms(self) -> list[tuple[TermFactor, ...]]:
        """The terms; the first that reads a number with gaps is followed by its indicator, a factor "x[missing]"."""
        out: list[tuple[TermFactor, ...]] = []
        indicated: set[str] = set()
        for term in self.terms:
            out.append(term.factors)
            for name in dict.fromkeys(n for f in term.factors for n in f.numbers()):
                if self.column(name, False).gaps and name not in indicated:
                    indicated.add(name)
                    out.append((TermFactor(f"{name}[missing]", name, full=True),))
        return out

    def term_name(self, term: tuple[TermFactor, ...], k: int) -> str:
        """Return the name of column k of a term."""
        if self.hashed_width(term):
            return f"{':'.join(factor.text for factor in term)}[#{k}]"
        parts = []
        for factor in reversed(term):
            k, i = divmod(k, self.width(factor))
            parts.append(self._labels(factor)[i])
        return ":".join(reversed(parts))

    def term_names(self, term: tuple[TermFactor, ...]) -> Iterator[str]:
        """Return the names of the columns of a term."""
        if width := self.hashed_width(term):
            return (self.term_name(term, k) for k in range(width))
        return map(":".join, _product([self._labels(factor) for factor in term]))

    def _labels(self, factor: TermFactor) -> list[str]:
        if factor not in self._known_labels:
            self._known_labels[factor] = self._make_labels(factor)
        return self._known_labels[factor]

    @cached_property
    def _known_labels(self) -> dict[TermFactor, list[str]]:
        return {}

    def _make_labels(self, factor: TermFactor) -> list[str]:
        column = self.column(factor.column, True) if factor.category and factor.column is not None else None
        if isinstance(column, WordColumn):
            names = map("#{}".format, range(column.width)) if column.width else map(str, column.levels)
            return [f"{factor.text}[{name}]" for name in names]
        if factor.category:
            levels, _ = self.levels(factor)
            return (
                [f"{factor.text}[{level}]" for level in levels]
                if factor.full
                else _contrast(factor).names(factor.text, levels)
            )
        if factor.column is None and compiled(factor.text).kind == "columns":
            return [f"{factor.text}{suffix}" for suffix in compiled(factor.text).suffixes(self.facts)]
        return [factor.text]

    def contrast_columns(self, factor: TermFactor) -> Array:
        """Return the columns of a category for each of its levels, (L, M)."""
        levels, _ = self.levels(factor)
        contrast = _contrast(factor)
        if factor.full:
            return np.eye(len(levels))
        if contrast.kind == "Treatment":
            return np.delete(np.eye(len(levels)), contrast.base(levels), axis=1)
        return np.column_stack([*contrast.columns(len(levels))])

    def levels(self, factor: TermFactor) -> tuple[list[str], Facts]:
        """Return the levels of a category, or of an expression that has some, and the share of each among the rows."""
        if factor.column is not None:
            column = self.column(factor.column, True)
            return column.shown_levels(), (*column.share, *([0.0] if column.gaps else []))
        found = compiled(factor.text)
        if found.kind == "boolean":
            return ["False", "True"], ()
        learner, facts = found.calls[-1].learner, self.facts[found.calls[-1].text]
        assert isinstance(learner, Cut)
        return learner.labels(facts), learner.share(facts)


class _RawRows:
    """The raw columns of one frame, each of which is read once."""

    def __init__(self, coding: Coding, frame: nw.DataFrame[Any], first_row: int) -> None:
        self.coding = coding
        self.frame = frame
        self.first_row = first_row
        self.read: dict[tuple[str, bool], Any] = {}
        self._as_read: dict[str, ReadColumn] = {}
        self._levels: dict[str, Codes32] = {}

    def problems(self) -> RowProblems:
        """Return which rows cannot be coded, and why."""
        coding, frame = self.coding, self.frame
        out = RowProblems(len(frame))
        refused, filled = coding.unseen == "error", coding.missing in ("mean", "indicator")
        if coding.offset is not None:
            for name in self._offset_names():
                self._add_unread(out, name)
            out.add_missing(coding.offset, ~np.isfinite(self.offset(strict=False)) & out.codable)
        for effect in coding.effects:
            codes = effect.codes(frame)
            if np.isnan(effect.missing):
                out.add_missing(effect.name, codes == ABSENT)
            if refused and effect.fitted:
                self._add_unseen(out, effect.name, codes, effect.levels.tolist())
        for column in coding.columns:
            name = column.name
            if column.has_levels:
                codes = self._codes_of(column)
                if not filled:
                    out.add_missing(name, codes == ABSENT)
                if refused and name in coding._by_levels:
                    self._add_unseen(out, name, codes, column.levels)
            elif column.is_category:
                absent = None if filled else column.texts(frame).absent
                if absent is not None:
                    out.add_missing(name, absent)
            else:
                unread = self._add_unread(out, name)
                if not filled:
                    out.add_missing(name, np.isnan(self._read_column(name).values) & ~unread)
        for text in coding._computed_levels if refused else ():
            outside = np.isnan(self.value(text, strict=False))
            out.add("value outside the intervals", text, outside & ~out.missing)
        return out

    def _add_unread(self, problems: RowProblems, name: str) -> Mask:
        """Add the values of a column of numbers that cannot be read; return which they are, (n,)."""
        found, unread = self._read_column(name), np.zeros(len(self.frame), dtype=bool)
        for problem, rows in found.wrong.items():
            problems.add(problem, name, rows, found.given)
            unread |= rows
        return unread

    def _add_unseen(self, problems: RowProblems, name: str, codes: Codes32, levels: Sequence[Any]) -> None:
        unknown = codes == UNKNOWN
        if unknown.any():
            alike = {level.strip().casefold(): level for level in levels if isinstance(level, str)}
            problems.add("unseen level", name, unknown, self.frame[name].to_list(), alike)

    def _read_column(self, name: str) -> ReadColumn:
        """Return a column of numbers as it is read, one of the offset too."""
        if name not in self._as_read:
            column = self.coding._by_name.get((name, False))
            kind = "number" if column is None else column.kind
            self._as_read[name] = read_column(self.frame, name, kind, self.coding.notation(name))
        return self._as_read[name]

    def _codes_of(self, column: Column) -> Codes32:
        if column.name not in self._levels:
            self._levels[column.name] = column.codes(self.frame)
        return self._levels[column.name]

    def _offset_names(self) -> list[str]:
        """Return the raw columns of the offset."""
        text = self.coding.offset
        assert text is not None
        names = [text] if text in self.frame.columns else names_in(text)
        for name in names:
            if name not in self.frame.columns:
                raise InvalidData(f"column {name!r} is missing from the table; the offset of the model needs it")
        return names

    def offset(self, strict: bool = True) -> Array:
        """Return the offset of each row, (n,), NaN where it is missing; or cannot be read, which `strict` refuses."""
        text, columns = self.coding.offset or "", {name: self._read_column(name) for name in self._offset_names()}
        for name, column in columns.items() if strict else ():
            column.refuse_unreadable(name, "number", self.first_row)
        values = {name: column.values for name, column in columns.items()}
        return np.broadcast_to(values[text] if text in values else evaluate(text, values), (len(self.frame),))

    def value(self, text: str, strict: bool = True) -> Array:
        """Return an expression of the columns: (n,), (n, M), or one number; NaN of unreadable ones unless `strict`."""
        columns = {name: self._numbers(name, strict)[0] for name in names_in(text)}
        columns |= {key: self._equals(name, level) for key, name, level in compiled(text).compared}
        return evaluate(text, columns, self.coding.facts)

    def _equals(self, name: str, level: str) -> Array:
        """Return 1 where a category has a level, else 0; where it is missing and filled, the share of the level."""
        column = self.coding.column(name, True)
        levels = [str(one) for one in column.levels]
        if level not in levels:
            raise InvalidData(
                f"column {name!r} has no level {level!r} to be compared with; there are: {_some(column.levels)}"
            )
        codes = self._codes_of(column)
        out: Array = (codes == levels.index(level)).astype(np.float64)
        absent = codes == ABSENT
        if absent.any():
            if self.coding.missing not in ("mean", "indicator"):
                self._refuse_missing(name, absent)
            out[absent] = column.share[levels.index(level)]
        return out

    def _numbers(self, name: str, strict: bool = True) -> tuple[Array, Any]:
        """Return a column of numbers, filled where the coding fills it, and which values are missing, or None."""
        column, found = self.coding.column(name, False), self._read_column(name)
        if strict:
            found.refuse_unreadable(name, column.kind, self.first_row)
        if self.coding.missing not in ("mean", "indicator"):
            return found.values, None
        if (name, False) not in self.read:
            gaps = np.isnan(found.values)
            self.read[name, False] = (np.where(gaps, column.mean, found.values) if gaps.any() else found.values), gaps
        known: tuple[Array, Any] = self.read[name, False]
        return known

    def _codes(self, factor: TermFactor) -> Codes32:
        index = is_index(factor)
        key = (factor.text if factor.column is None or index else factor.column, True)
        if key not in self.read:
            self.read[key] = (
                self._computed_codes(factor) if factor.column is None else self._level_codes(factor.column, index)
            )
        found: Codes32 = self.read[key]
        return found

    def _level_codes(self, name: str, any_level: bool) -> Codes32:
        """Return the indices of levels, UNKNOWN of those that did not occur where `any_level` or they are averaged."""
        column = self.coding.column(name, True)
        codes = self._codes_of(column)
        if codes.min(initial=0) >= 0:
            return codes
        codes, absent = codes.copy(), codes == ABSENT
        if absent.any():
            if self.coding.missing not in ("mean", "indicator"):
                self._refuse_missing(column.name, absent)
            if column.gaps:
                codes[absent] = len(column.levels)
        if not any_level and self.coding.unseen == "error" and (codes == UNKNOWN).any():
            row = int(np.flatnonzero(codes == UNKNOWN)[0])
            level = self.frame[column.name].to_list()[row]
            raise InvalidData(
                f"column {column.name!r} has the level {shown_level(level)} at row {self.first_row + row}, which did "
                f"not occur in the fit ({_some(column.levels)}). To treat such levels as an average level, fit to "
                "open_table(..., unseen='other'); or name all levels by categories="
            )
        return codes

    def _computed_codes(self, factor: TermFactor) -> Codes32:
        """Return the indices of levels that an expression computes, UNKNOWN where a number is in no interval."""
        values = np.broadcast_to(self.value(factor.text), (len(self.frame),))
        for name in names_in(factor.text):
            gaps = np.isnan(self._numbers(name)[0])
            if gaps.any():
                self._refuse_missing(name, gaps)
        nowhere = np.isnan(values)
        if nowhere.any() and self.coding.unseen == "error":
            row = self.first_row + int(nowhere.argmax())
            raise InvalidData(
                f"{factor.text} has no level for row {row}: its value is outside all intervals. Give breaks that "
                "cover it, or fit the model with unseen='other' to treat it as an average level"
            )
        return np.where(nowhere, UNKNOWN, values).astype(np.int32)

    def _refuse_missing(self, name: str, gaps: NDArray[np.bool_]) -> None:
        row = self.first_row + int(np.flatnonzero(gaps)[0])
        raise MissingValues(
            f"column {name!r} has {counted(int(gaps.sum()), 'missing value')} (NaN or none), first at row {row}. Fill "
            "them, leave such rows out, or open the table with missing='drop', 'mean' or 'indicator'"
        )


class _Rows(_RawRows):
    """The columns of X of the rows of one frame."""

    def columns(self) -> Any:
        """Return the columns of X, or X in CSR."""
        coding, count = self.coding, len(self.frame)
        if not coding.terms:
            return np.empty((count, 0))
        with np.errstate(all="ignore"):  # sums refuse what is not finite
            if coding.sparse:
                return as_csr(count, [(coding.term_width(term), self.parts(term)) for term in coding._all_terms])
            return Columns(np.ascontiguousarray(column) for term in coding._all_terms for column in self.term(term))

    def packed(self) -> Any:
        """Return X, (n, D), column-major or CSR."""
        columns = self.columns()
        return columns.packed() if isinstance(columns, Columns) else columns

    def parts(self, factors: tuple[TermFactor, ...]) -> list[Entries]:
        """Return the columns of a term as parts of sparse rows."""
        width = self.coding.hashed_width(factors)
        if width:
            return [self._hashed(factors, width)]
        each = [(self._factor_parts(factor), self.coding.width(factor)) for factor in factors]
        return reduce(product_of, each)[0]

    def _factor_parts(self, factor: TermFactor) -> list[Entries]:
        column = self.coding.column(factor.column, True) if factor.category and factor.column is not None else None
        if isinstance(column, WordColumn):
            texts = column.texts(self.frame)
            self._absent(column.name, texts)
            starts, words, values = column.entries(texts)
            return [Entries(words, values, starts)]
        if not factor.category or not (factor.full or _contrast(factor).kind == "Treatment"):
            return [Entries.of_column(column, j) for j, column in enumerate(self._factor(factor))]
        codes, width = self._codes(factor), self.coding.width(factor)
        base = self.coding.base(factor)
        if codes.min(initial=0) >= 0 and base in (0, width):  # the common case
            return [Entries(codes if base else codes - np.int32(1))]
        without_level = codes < 0
        one = np.where(codes == base, np.int32(-1), codes - (codes > base))
        if not without_level.any():
            return [Entries(one)]
        share = self.coding.levels(factor)[1]
        others = np.array(share) if factor.full else np.delete(share, base)
        if int(without_level.sum()) * width > AVERAGED:
            raise InvalidData(
                f"{int(without_level.sum()):,} of {len(codes):,} rows have no level of {factor.text!r}, or one that "
                f"did not occur in the fit; the average of its {width:,} levels takes too much memory for so many "
                f"rows. Leave such rows out, or open the table with hashed=['{factor.column}']"
            )
        return [Entries(one).with_average(without_level, others)]

    def _hashed(self, factors: tuple[TermFactor, ...], width: int) -> Entries:
        """Return the part of a term that is hashed: its categories by their texts, times its numbers."""
        if len(factors) == 1 and factors[0].column is not None:
            texts = self.coding.column(factors[0].column, True).texts(self.frame)
            if texts.absent is None:  # the common case
                which = None if texts.indices is None else np.ascontiguousarray(texts.indices, dtype=np.int32)
                return Entries(*texts.buckets(seed_of(factors[0].column), width), which=which)
        hashes, absent = [], np.zeros(len(self.frame), dtype=bool)
        for factor in (factor for factor in factors if factor.category):
            name = factor.column or factor.text
            if factor.column is None:
                texts = Texts.of(self.coding.levels(factor)[0])
                texts = Texts(texts.data, texts.offsets, np.maximum(self._codes(factor), 0))
            else:
                texts = self.coding.column(name, True).texts(self.frame)
            missing, found = self._absent(name, texts), texts.hashes(seed_of(name))
            if missing is not None and self.coding.missing == "indicator":
                found = np.where(missing, Texts.of([MISSING_LEVEL]).hashes(seed_of(name)), found)
            elif missing is not None:
                absent |= missing
            hashes.append(found)
        codes, values = signed_buckets(np.ascontiguousarray(joined_hashes(hashes)), width)
        for factor in (factor for factor in factors if not factor.category):
            (column,) = self._factor(factor)
            values *= column
        return Entries(np.where(absent, -1, codes).astype(np.int32) if absent.any() else codes, values)

    def _absent(self, name: str, texts: Texts) -> NDArray[np.bool_] | None:
        """Return which rows have no text, or None; refuse them where missing values are not filled."""
        if texts.absent is not None and self.coding.missing not in ("mean", "indicator"):
            self._refuse_missing(name, texts.absent)
        return texts.absent

    def term(self, factors: tuple[TermFactor, ...]) -> Iterator[Array]:
        """Yield the columns of a term."""
        for parts in _product([list(self._factor(factor)) for factor in factors]):
            out = parts[0]
            for part in parts[1:]:
                out = out * part
            yield out

    def _factor(self, factor: TermFactor) -> Iterator[Array]:
        if factor.column is None and compiled(factor.text).kind != "levels":
            value = self.value(factor.text)
            columns = value.T if value.ndim == 2 else [np.broadcast_to(value, (len(self.frame),))]
            yield from [1.0 - columns[0], *columns] if factor.category and factor.full else columns
        elif factor.category:
            yield from self._contrasts(factor)
        else:
            values, gaps = self._numbers(factor.column or "")
            yield gaps.astype(np.float64) if factor.full else values

    def _contrasts(self, factor: TermFactor) -> Iterator[Array]:
        levels, share = self.coding.levels(factor)
        codes = self._codes(factor)
        without_level = codes < 0
        unknown = bool(without_level.any())
        if factor.full or _contrast(factor).kind == "Treatment":
            base = len(levels) if factor.full else _contrast(factor).base(levels)
            out = np.zeros((len(levels) - (not factor.full), len(codes)))
            put_levels(out, np.where(without_level, base, codes) if unknown else codes, base)
            if unknown:
                out[:, without_level] = np.delete(share, [] if factor.full else base)[:, None]
            yield from out
            return
        if is_index(factor):
            yield codes.astype(np.float64)
            return
        for column in _contrast(factor).columns(len(levels)):
            values = column[codes]
            if unknown:
                values[without_level] = column @ np.array(share)
            yield values


class ColumnNames(MadeNames):
    """The names of the columns of a coding, each made when it is asked for."""

    def __init__(self, coding: Coding) -> None:
        self.coding = coding
        self.ends = np.cumsum([coding.term_width(term) for term in coding._all_terms], dtype=np.int64)

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def _name(self, k: int) -> str:
        term = int(np.searchsorted(self.ends, k, side="right"))
        return self.coding.term_name(self.coding._all_terms[term], k - (int(self.ends[term - 1]) if term else 0))

    def __iter__(self) -> Iterator[str]:
        return (name for term in self.coding._all_terms for name in self.coding.term_names(term))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnNames) and self.coding == other.coding

    def __hash__(self) -> int:
        return hash(len(self))


def _contrast(factor: TermFactor) -> Contrast:
    """Return the contrasts of a category: those that the formula names, else the reference coding."""
    return (contrast_of(factor.text) if factor.text != factor.column else None) or Contrast(
        factor.column or factor.text
    )


def is_index(factor: TermFactor) -> bool:
    """Whether a category is given by the indices of its levels."""
    return factor.column is not None and factor.text.startswith(INDEX) and factor.text != factor.column


def check_policies(missing: str, unseen: str) -> None:
    """Refuse unknown policies."""
    one_of(MissingPolicy).check("missing", missing)
    one_of(UnseenPolicy).check("unseen", unseen)


def _not_finite(x: AnyArray) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return rows and columns of the numbers of X, dense or CSR, that are not finite; None where all are."""
    values = x.data if is_sparse(x) else x
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):  # one pass; where the sum overflows, each number is looked at
            return None
    if is_sparse(x):
        entries = x.tocoo()
        bad = ~np.isfinite(entries.data)
        rows, columns = entries.row[bad], entries.col[bad]
    else:
        rows, columns = np.nonzero(~np.isfinite(x))
    return (rows, columns) if len(rows) else None


def _mask(size: int, places: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return (n,) True at some places."""
    out = np.zeros(size, dtype=bool)
    out[places] = True
    return out


def _product(lists: list[list[Any]]) -> list[list[Any]]:
    """Return the Cartesian product of lists; the first list varies slowest."""
    out: list[list[Any]] = [[]]
    for items in lists:
        out = [[*before, item] for before in out for item in items]
    return out


def _some(levels: tuple[Any, ...]) -> str:
    shown = ", ".join(shown_level(level).strip("'\"") for level in levels[:8])
    return shown + (", ..." if len(levels) > 8 else "")
