"""How databases write numbers, texts, names, choices and functions, where they differ."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from adaline.errors import InvalidParameter
from adaline.exporting.program import WHITE
from adaline.exporting.tree import Breaks, Input, Label

SQLDialect = Literal["duckdb", "postgres", "sqlite", "spark", "bigquery"]
LARGEST_EXPONENT, SMALLEST_EXPONENT = 709.0, -708.0  # beyond which exp is an error of PostgreSQL


@dataclass(frozen=True)
class Language:
    """How a database writes what the others write otherwise.

    Parameters
    ----------
    double : the type of float64.
    text : the type of texts.
    infinity : the number.
    reads : by the kind of an input, its value as a number or text, "{}" the column.
    backticks : whether names are between backticks.
    escapes : whether a backslash in a text is the beginning of an escape.
    strict : whether a number that overflows is an error.
    domains : whether the logarithm or root of a number that has none is an error.
    nan : NaN, where a number can be one; it then equals itself.
    trim : a text without the blanks in the text "{1}" around it.
    booleans : whether TRUE is a value.
    """

    double: str
    text: str
    infinity: str
    reads: dict[str, str]
    nan: str | None
    trim: str
    strict: bool = False
    domains: bool = False
    backticks: bool = False
    escapes: bool = False
    booleans: bool = True


LANGUAGES: dict[str, Language] = {
    "duckdb": Language(
        double="DOUBLE",
        text="VARCHAR",
        infinity="'inf'::DOUBLE",
        reads={
            "number": "TRY_CAST({} AS DOUBLE)",
            "boolean": "CAST(TRY_CAST({} AS BOOLEAN) AS DOUBLE)",
            "date": "(epoch_us(TRY_CAST({} AS TIMESTAMP)) / 86400000000.0)",
            "text": "CAST({} AS VARCHAR)",
        },
        nan="'nan'::DOUBLE",
        trim="trim({0}, {1})",
        domains=True,
    ),
    "postgres": Language(
        double="double precision",
        text="text",
        infinity="'Infinity'::double precision",
        reads={
            "number": "CAST({} AS double precision)",
            "boolean": "CAST(CAST(CAST({} AS boolean) AS integer) AS double precision)",
            "date": "CAST(EXTRACT(EPOCH FROM CAST({} AS timestamp)) / 86400.0 AS double precision)",
            "text": "CAST({} AS text)",
        },
        nan="'NaN'::double precision",
        trim="btrim({0}, {1})",
        strict=True,
        domains=True,
    ),
    "sqlite": Language(
        double="REAL",
        text="TEXT",
        infinity="9e999",
        reads={
            "number": "CASE WHEN CAST({0} AS NUMERIC) = {0} THEN CAST({0} AS REAL) END",  # also of numbers in texts
            "boolean": "CASE WHEN {0} IN (0, 1) THEN CAST({0} AS REAL) END",
            "date": "(julianday({}) - 2440587.5)",
            "text": "CAST({} AS TEXT)",
        },
        nan=None,
        trim="trim({0}, {1})",
        booleans=False,
    ),
    "spark": Language(
        double="DOUBLE",
        text="STRING",
        infinity="double('Infinity')",
        reads={
            "number": "CAST({} AS DOUBLE)",
            "boolean": "CAST(CAST({} AS BOOLEAN) AS DOUBLE)",
            "date": "(unix_micros(CAST({} AS TIMESTAMP)) / 86400000000D)",
            "text": "CAST({} AS STRING)",
        },
        nan="double('NaN')",
        trim="trim(BOTH {1} FROM {0})",
        backticks=True,
        escapes=True,
    ),
    "bigquery": Language(
        double="FLOAT64",
        text="STRING",
        infinity="CAST('inf' AS FLOAT64)",
        reads={
            "number": "SAFE_CAST({} AS FLOAT64)",
            "boolean": "CAST(CAST(SAFE_CAST({} AS BOOL) AS INT64) AS FLOAT64)",
            "date": "(UNIX_MICROS(TIMESTAMP({})) / 86400000000.0)",
            "text": "CAST({} AS STRING)",
        },
        nan=None,
        trim="TRIM({0}, {1})",
        backticks=True,
        escapes=True,
        strict=True,
        domains=True,
    ),
}
FUNCTIONS = {"min": "LEAST", "max": "GREATEST", "log": "LN", "pow": "POWER"}
OF_DIALECT = {
    "sqlite": {"min": "min", "max": "max"},
    "bigquery": {"log2": "LOG2"},
}


class SQLWriter:
    """What is written in a dialect; `padded` are the texts some of whose levels have blanks at their ends."""

    def __init__(self, dialect: SQLDialect, padded: Collection[Input]) -> None:
        self.dialect, self.language, self.padded = dialect, LANGUAGES[dialect], padded

    def name(self, text: str) -> str:
        """Return a name between the quotes of the dialect."""
        if "\0" in text or not text:
            raise InvalidParameter(f"the name {text!r:.80} cannot be written in SQL: rename the column")
        if self.dialect == "spark" and "${" in text:
            raise InvalidParameter(
                f"Spark replaces ${{...}} in queries, also in the name {text!r:.80}: rename the column"
            )
        if not self.language.backticks:
            return '"' + text.replace('"', '""') + '"'
        if self.language.escapes and self.dialect == "bigquery":
            return "`" + _escaped(text, "`") + "`"
        return "`" + text.replace("`", "``") + "`"

    def literal(self, text: str) -> str:
        """Return a text between quotes."""
        if "\0" in text:
            raise InvalidParameter(f"the text {text!r:.80} has a zero byte, which SQL cannot write: rename the level")
        if self.language.escapes:
            return "'" + _escaped(text, "'") + "'"
        doubled = text.replace("'", "''")
        if self.dialect == "postgres" and "\\" in text:
            return "E'" + doubled.replace("\\", "\\\\") + "'"
        return f"'{doubled}'"

    def number(self, value: float) -> str:
        if math.isinf(value):
            return self.language.infinity if value > 0 else f"-{self.language.infinity}"
        text = repr(value)
        if self.dialect == "bigquery":
            return text
        if self.dialect == "spark":
            return f"{text}D"
        return text if "e" in text or self.dialect != "duckdb" else f"{text}e0"  # else it is a decimal

    def read(self, one: Input) -> str:
        """Return a raw column as a number, or as a text without blanks around it where no level has some."""
        read = self.language.reads["text" if one.is_text else one.kind].format(self.name(one.name))
        return (
            self.language.trim.format(read, self._blanks()) if one.kind == "text" and one not in self.padded else read
        )

    def _blanks(self) -> str:
        """Return the text of all blanks."""
        if self.dialect == "sqlite":
            return f"char({', '.join(str(ord(one)) for one in WHITE)})"
        if self.dialect == "duckdb":
            return f"concat({', '.join(f'chr({ord(one)})' for one in WHITE)})"
        escaped = "".join(one if one == " " else f"\\u{ord(one):04x}" for one in WHITE)
        return f"'{escaped}'" if self.language.escapes else f"E'{escaped}'"

    def function(self, name: str, *given: str) -> str:
        language = self.language
        if name == "finite":
            if self.dialect == "bigquery":
                return f"CASE WHEN abs({given[0]}) < {language.infinity} THEN {given[0]} END"
            if self.dialect == "duckdb":  # a third faster than what other databases are given
                return f"CASE WHEN isfinite({given[0]}) THEN {given[0]} END"
            text = f"nullif(nullif({given[0]}, {language.infinity}), -{language.infinity})"
            return text if language.nan is None else f"nullif({text}, {language.nan})"
        written = f"{OF_DIALECT.get(self.dialect, {}).get(name, FUNCTIONS.get(name, name.upper()))}({', '.join(given)})"
        if name == "log" and language.domains:
            return f"CASE WHEN {given[0]} > 0 THEN {written} END"
        if name == "sqrt" and language.domains:
            return f"CASE WHEN {given[0]} >= 0 THEN {written} END"
        if name == "exp" and language.strict:
            return (
                f"CASE WHEN {given[0]} > {LARGEST_EXPONENT} THEN {language.infinity} WHEN {given[0]} < "
                f"{SMALLEST_EXPONENT} THEN 0.0 ELSE {written} END"
            )
        return written

    def by_level(self, read: Input, text: str, levels: tuple[Label, ...], options: list[str]) -> str:
        *known, unknown, absent = options
        default = f" ELSE {unknown}" if unknown != "NULL" else ""
        gaps = f"WHEN {self._is_absent(text, levels)} THEN {absent} " if absent != unknown else ""
        if not isinstance(levels[0], str):
            numbers = map(self.number, map(float, levels))
            cases = "".join(f"WHEN {text} = {one} THEN {value} " for one, value in zip(numbers, known, strict=True))
            return f"CASE {gaps}{cases.rstrip()}{default} END"
        pairs = [(self.literal(str(one)), value) for one, value in zip(levels, known, strict=True)]
        if read in self.padded:
            trimmed = self.language.trim.format(text, self._blanks())
            cases = "".join(f"WHEN {text} = {one} THEN {value} " for one, value in pairs)
            cases += "".join(
                f"WHEN {trimmed} = {one} THEN {value} "
                for (one, value), level in zip(pairs, levels, strict=True)
                if level == str(level).strip()
            )
            return f"CASE {gaps}{cases.rstrip()}{default} END"
        if gaps:
            cases = "".join(f"WHEN {text} = {one} THEN {value} " for one, value in pairs)
            return f"CASE {gaps}{cases.rstrip()}{default} END"
        return f"CASE {text} " + " ".join(f"WHEN {one} THEN {value}" for one, value in pairs) + f"{default} END"

    def _is_absent(self, text: str, levels: tuple[Label, ...]) -> str:
        if self.language.nan is None or isinstance(levels[0], str):
            return f"{text} IS NULL"
        return f"({text} IS NULL OR {text} = {self.language.nan})"

    def by_interval(self, x: str, breaks: Breaks, options: list[str]) -> str:
        *known, unknown, absent = options
        missing = f"{x} IS NULL" if self.language.nan is None else f"({x} IS NULL OR {x} = {self.language.nan})"
        sign = "<" if breaks.closed_left else "<="
        inside = [unknown, *known, unknown] if breaks.inside else known
        cases = "".join(
            f"WHEN {x} {sign} {self.number(one)} THEN {value} "
            for one, value in zip(breaks.numbers, inside, strict=False)
        )
        return f"CASE WHEN {missing} THEN {absent} {cases}ELSE {inside[-1]} END"

    def best(self, scores: list[str], labels: Sequence[Label]) -> str:
        written = [self._label(one) for one in labels]
        if len(written) == 1:
            return written[0]
        if len(scores) == 1:
            return f"CASE WHEN {scores[0]} > 0 THEN {written[1]} ELSE {written[0]} END"
        cases = []
        for k, score in enumerate(scores[:-1]):
            tests = " AND ".join(f"{score} >= {other}" for other in scores[k + 1 :])
            cases.append(f"WHEN {tests} THEN {written[k]}")
        return f"CASE {' '.join(cases)} ELSE {written[-1]} END"

    def _label(self, one: Label) -> str:
        if isinstance(one, str):
            return self.literal(one)
        if isinstance(one, bool):
            return str(one).upper() if self.language.booleans else str(int(one))
        return str(one) if isinstance(one, int) else self.number(one)


def _escaped(text: str, quote: str) -> str:
    known = {"\\": "\\\\", quote: "\\" + quote, "\n": "\\n", "\r": "\\r", "$": "\\u0024"}  # Spark replaces ${...}
    return "".join(known.get(letter, letter) for letter in text)
