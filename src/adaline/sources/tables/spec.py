"""The spec of a table: the arguments of `open_table`, and checks of them against its columns."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import Any, Literal, Self

from adaline.coding import Coding
from adaline.coding.coding import check_policies
from adaline.coding.columns import DEFAULT_WIDTH, MISSING_LEVEL, WordOptions, check_width
from adaline.coding.expressions import compiled, lag_of, names_in
from adaline.coding.numerals import date_in, is_word
from adaline.errors import InvalidData, InvalidParameter, UnknownParameter
from adaline.parameters import one_of
from adaline.sources.tables.failures import shorten
from adaline.sources.tables.notation import date_formats
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.sql import quoted
from adaline.wording import joined

SingletonRows = Literal["keep", "drop"]
DATE_SAMPLE = 20_000  # rows in which values that are no dates are looked for
MOST_SHOWN = 3  # such values, and their lines, that a message names


@dataclass(frozen=True)
class TableSpec:
    """The arguments of `open_table` that say which columns are used, and how."""

    target: str | tuple[str, ...] | None = None
    features: tuple[str, ...] | None = None
    weight: str | None = None
    categories: tuple[tuple[str, tuple[Any, ...] | None], ...] = ()
    dates: tuple[str, ...] = ()
    missing: str = "error"
    unseen: str = "error"
    formula: str | None = None
    offset: str | None = None
    absorb: tuple[str, ...] = ()
    singletons: str = "keep"
    hashed: tuple[tuple[str, int], ...] = ()
    words: tuple[tuple[str, WordOptions], ...] = ()

    @property
    def whole(self) -> dict[str, str]:
        """The columns that are hashed, or whose words are counted, with "hashed" or "words"."""
        return {name: "hashed" for name, _ in self.hashed} | {name: "words" for name, _ in self.words}

    @property
    def ticked(self) -> list[str]:
        """The categories of which a missing value is a level."""
        return [name for name, levels in self.categories if levels is not None and MISSING_LEVEL in levels]

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets, each a column or (from a formula) an expression."""
        if self.target is None:
            return ()
        return self.target if isinstance(self.target, tuple) else (self.target,)

    @classmethod
    def of(
        cls,
        *,
        target: Any = None,
        features: Any = None,
        categories: Any = None,
        dates: Any = None,
        absorb: Any = None,
        hashed: Any = None,
        words: Any = None,
        **others: Any,
    ) -> Self:
        """Return the options of `open_table`, names one by one or in lists, as a spec.

        Examples
        --------
        >>> from adaline.sources.tables.spec import TableSpec
        >>> spec = TableSpec.of(target="y", dates="when", missing="drop")
        >>> spec.dates, spec.options()
        (('when',), {'target': 'y', 'dates': ['when'], 'missing': 'drop'})
        """
        known = [one.name for one in fields(cls)]
        for name in others.keys() - set(known):
            near = similar(name, known)
            meant = f" Did you mean {near!r}?" if near is not None else ""
            raise UnknownParameter(f"there is no option {name!r} for a table;{meant} there are: {', '.join(known)}")
        levels = categories if isinstance(categories, dict) else dict.fromkeys(names_of(categories))
        return cls(
            target=tuple(target) if isinstance(target, list | tuple) else target,
            features=None if features is None else names_of(features),
            categories=tuple((name, None if given is None else tuple(given)) for name, given in levels.items()),
            dates=names_of(dates),
            absorb=names_of(absorb),
            hashed=tuple(
                (hashed if isinstance(hashed, dict) else dict.fromkeys(names_of(hashed), DEFAULT_WIDTH)).items()
            ),
            words=tuple(
                (name, WordOptions.of(given))
                for name, given in (words if isinstance(words, dict) else dict.fromkeys(names_of(words))).items()
            ),
            **others,
        )

    def offset_columns(self, schema: Collection[str]) -> list[str]:
        """Return the raw columns of the offset: itself, or those of its expression."""
        if not isinstance(self.offset, str | None):
            raise InvalidParameter("offset is a column or an expression of columns, such as 'log(t)'")
        if self.offset is None or self.offset in schema:
            return [] if self.offset is None else [self.offset]
        if not compiled(self.offset).plain:
            raise InvalidParameter(f"the offset {self.offset!r} needs more than numbers of its row: make it a column")
        return names_in(self.offset)

    def options(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, as `open_table` takes them."""
        given = _set_options(self)
        if self.categories:
            named = dict(self.categories)
            given["categories"] = list(named) if not any(named.values()) else named
        if self.hashed:
            widths = dict(self.hashed)
            given["hashed"] = list(widths) if {*widths.values()} == {DEFAULT_WIDTH} else widths
        if self.words:
            each = {name: _set_options(one) for name, one in self.words}
            given["words"] = each if any(each.values()) else list(each)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def read_spec(relation: Relation, spec: TableSpec) -> TableSpec:
    """Return the spec, whose names must all be columns of the table and of the kind that they are used for."""
    check_policies(spec.missing, spec.unseen)
    one_of(SingletonRows).check("singletons", spec.singletons)
    if spec.formula is not None and (spec.target is not None or spec.features is not None):
        raise InvalidParameter("a formula names target and features: give neither target= nor features=")
    listed: list[tuple[str, Iterable[str]]] = [
        ("target", spec.targets),
        ("features", spec.features or ()),
        ("weight", [spec.weight] if spec.weight is not None else []),
        ("offset", spec.offset_columns(relation.schema)),
        ("categories", [name for name, _ in spec.categories]),
        ("dates", spec.dates),
        ("absorb", spec.absorb),
        ("hashed", [name for name, _ in spec.hashed]),
        ("words", [name for name, _ in spec.words]),
    ]
    for argument, names in listed:
        for name in names:
            check_column(relation, name, argument)
    for name, width in spec.hashed:
        check_width(f"hashed: the width of {name!r}", width)
        if relation.kind(name) == "other":
            raise InvalidParameter(f"hashed: column {name!r} holds {relation.schema[name]}, neither texts nor numbers")
    named = [name for name, _ in (*spec.hashed, *spec.words, *spec.categories)]
    if repeated := {name for name in named if named.count(name) > 1}:
        raise InvalidParameter(f"column {min(repeated)!r} is named in two of categories=, hashed= and words=")
    check_absorbed(spec, spec.targets)
    if taken := {*spec.whole} & {*spec.targets, spec.weight}:
        name = min(map(str, taken))
        raise InvalidParameter(f"{spec.whole[name]}: column {name!r} is the target or the weight, no column of X")
    for name, _ in spec.words:
        if relation.kind(name) not in ("text", "category"):
            raise InvalidParameter(f"words: column {name!r} holds {relation.schema[name]}, no texts")
    for name in spec.dates:
        if relation.kind(name) != "date":
            raise InvalidParameter(f"dates: column {name!r} {_why_no_dates(relation, name)}")
    if spec.weight is not None and relation.kind(spec.weight) not in ("number", "boolean"):
        raise InvalidData(f"the weights in column {spec.weight!r} are {relation.schema[spec.weight]}, not numbers")
    for name in spec.offset_columns(relation.schema):
        if relation.kind(name) not in ("number", "boolean"):
            raise InvalidData(f"the offset needs numbers, and column {name!r} holds {relation.schema[name]}")
    if spec.features is not None:
        others = dict.fromkeys(spec.absorb, "absorbed") | {spec.offset: "the offset", spec.weight: "the weight"}
        others |= dict.fromkeys(spec.targets, "the target")
        for k, name in enumerate(spec.features):
            if name in others:
                raise InvalidParameter(
                    f"features= names {name!r}, which is {others[name]}: leave it out of the features"
                )
            if name in spec.features[:k]:
                raise InvalidParameter(f"features= names {name!r} twice")
        if beside := {*spec.whole} - {*spec.features}:
            name = min(beside)
            raise InvalidParameter(f"{spec.whole[name]}: column {name!r} is not among features=: name it there too")
    return spec


def _why_no_dates(relation: Relation, name: str) -> str:
    """Return why a column is not read as dates, in a clause that follows its name."""
    if relation.kind(name) != "text":
        return f"holds {relation.schema[name]}, not dates or times"
    first = f"SELECT {quoted(name)} AS t FROM {relation.sql} LIMIT {DATE_SAMPLE}"
    texts = [str(t) for (t,) in relation.rows(f"SELECT t FROM ({first}) WHERE t IS NOT NULL")]
    known = (date_formats(t.strip()) or date_in(t) is not None or is_word(t) for t in texts)
    others = list(dict.fromkeys(t for t, one in zip(texts, known, strict=True) if not one))
    if 2 * sum(t in others for t in texts) >= len(texts):
        return "holds text, not dates or times"
    if not others:
        return f"holds dates in different formats, as {min(texts)!r} and {max(texts)!r}: write them all as 2024-12-31"
    lines = relation.lines_with(name, others, MOST_SHOWN)
    where = f" (line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))})" if lines else ""
    shown = ", ".join(repr(shorten(t, 40)) for t in others[:MOST_SHOWN]) + ", ..." * (len(others) > MOST_SHOWN)
    return f"holds dates, but also {shown}{where}: name it in na= if it stands for a missing value, or correct it"


def check_absorbed(spec: TableSpec, targets: Collection[str]) -> None:
    """Refuse columns to be absorbed that are named twice, or that are something else as well."""
    if len({*spec.absorb}) < len(spec.absorb):
        raise InvalidParameter(f"absorb names a column twice: {', '.join(spec.absorb)}")
    others = dict.fromkeys(targets, "the target") | {spec.weight: "the weight"}
    others |= {name: "in categories=" for name, _ in spec.categories}
    others |= {name: f"in {option}=" for name, option in spec.whole.items()}
    if both := [name for name in spec.absorb if name in others]:
        raise InvalidParameter(f"absorb: column {both[0]!r} is {others[both[0]]} too: leave it out of one of the two")


def _set_options(options: Any) -> dict[str, Any]:
    """Return the options of a dataclass that differ from their defaults."""
    return {
        one.name: getattr(options, one.name) for one in fields(options) if getattr(options, one.name) != one.default
    }


def names_of(given: Any) -> tuple[str, ...]:
    """Return one name, a list of names or None as a tuple."""
    return (given,) if isinstance(given, str) else () if given is None else tuple(given)


def shown_columns(relation: Relation) -> str:
    """Return the names of the first columns, as a message shows them: whole names, and how many there are in all."""
    names = list(relation.schema)
    ends = accumulate(len(name) + 2 for name in names)
    few = max(1, min(20, sum(end <= 200 for end in ends)))
    shown = joined([shorten(name, 200) for name in names[:few]], ", ")
    return shown if few == len(names) else f"{shown}, ... ({len(names)} in all)"


def similar(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of some names, by letters whatever their case; None where none is similar.

    Examples
    --------
    >>> from adaline.sources.tables.spec import similar
    >>> similar("Y", ["x", "y"]), similar(" age", ["Age", "wage"]), similar("z", ["x", "y"])
    ('y', 'Age', None)
    """
    plain = {one.strip().casefold(): one for one in names}
    near = difflib.get_close_matches(name.strip().casefold(), plain, n=1)
    return plain[near[0]] if near else None


def check_column(relation: Relation, name: str, argument: str) -> None:
    """Refuse a name that is no column, naming a similar one and those there are."""
    if name in relation.schema:
        return
    near, shown = similar(str(name), relation.schema), shown_columns(relation)
    meant = f" Did you mean {near!r}?" if near is not None else ""
    what = "" if isinstance(name, str) else ", and columns are given by name"
    raise InvalidParameter(f"{argument}: {relation.title} has no column {name!r}{what}.{meant} There are: {shown}")


def check_needed(relation: Relation, coding: Coding) -> None:
    """Refuse a table that lacks a column which the coding of a model reads; name one that differs only in capitals."""
    known = relation.schema
    absent = [name for name in coding.needed if name not in known and (lag_of(name) or ("",))[0] not in known]
    if absent:
        plain = {name.strip().casefold(): name for name in known}
        near = plain.get(absent[0].strip().casefold())
        only = "" if near is None else f", only {near!r}"
        raise InvalidData(
            f"{relation.title} has no column {absent[0]!r}{only}; the model needs: {', '.join(coding.needed)}"
        )
