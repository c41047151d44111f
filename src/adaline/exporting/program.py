"""Programs of a prediction: what C, JavaScript and Python have in common, statement by statement.

A node that is used more than once is a constant of the program; levels are looked up in tables.
"""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from typing import ClassVar

from adaline.exporting.graph import CONDITIONS, by_dependence, shared_parts, uses
from adaline.exporting.prediction import Prediction
from adaline.exporting.tree import COMPARED, SIGNS, STRENGTH, Breaks, Input, Label, Node

ATOM, SIGNED = 9, 3  # of what needs no brackets, and of numbers below zero
WHITE = (
    " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + "\u2028\u2029\u202f\u205f\u3000"
)
"""What Python strips from the ends of a text."""
UNKNOWN: int = -1
ABSENT: int = -2
FEW = 2  # levels with a number each; more are looked up in a table


class Program(ABC):
    """The text of one prediction in a language; printers of expressions are in `expressions.py` of each.

    Parameters
    ----------
    prediction : the trees.
    name : of the function, and the beginning of all other names.
    outputs : which of "prediction", "score" and "probability" are wanted.
    """

    lacking: ClassVar[tuple[str, ...]] = ()
    missing: ClassVar[str]
    conjunction: ClassVar[str] = "&&"
    equals: ClassVar[str] = "=="

    def __init__(self, prediction: Prediction, name: str, outputs: tuple[str, ...]) -> None:
        self.name = identifier(name)
        self.classes = prediction.classes
        groups = {group: found for group, found in prediction.outputs.items() if group in outputs}
        self.groups = {group: list(found) for group, found in groups.items()}
        flat = {f"{group}/{key}": one for group, found in groups.items() for key, one in found.items()}
        self.nodes = shared_parts(flat, self.lacking)
        self.order = by_dependence(self.nodes.values())
        self.inputs = [one.value for one in self.order if one.name == "input"]
        self.fields = self.field_names([one.name for one in self.inputs])
        self.tables: list[str] = []
        self.statements: list[str] = []
        self.written: dict[int, tuple[str, int]] = {}
        counts = uses(self.nodes, lambda one, k: 1)
        for one in self.order:
            text, strength = self.text(one)
            simple = one.name in ("number", "missing", "input") or (strength == ATOM and text.isidentifier())
            if not simple and (
                counts[id(one)] > 1 or one.name in ("level", "interval", "finite", "label") or len(text) > 2000
            ):
                own = f"v{len(self.statements)}"
                self.statements.append(self.declare(own, self.kind(one), text))
                text, strength = own, ATOM
            self.written[id(one)] = text, strength

    @staticmethod
    def kind(one: Node) -> str:
        """Return "number", "index", "label" or "condition"."""
        if one.name in CONDITIONS:
            return "condition"
        if one.name in ("level", "interval"):
            return "index"
        named = one.arguments[1] if one.name == "where" else one
        return "label" if named.name == "label" else "number"

    def of(self, one: Node, least: int = ATOM) -> str:
        """Return the text of a node, in brackets unless it binds as strongly as `least`."""
        text, strength = self.written[id(one)]
        return text if strength >= least else f"({text})"

    def text(self, one: Node) -> tuple[str, int]:
        """Return the text of a node whose arguments are written, and how strongly it binds."""
        name, given = one.name, one.arguments
        if name == "number":
            text = self.number(one.value)
            return text, SIGNED if text.startswith("-") else ATOM
        if name == "missing":
            return self.missing, ATOM
        if name == "input":
            return self.field(self.inputs.index(one.value)), ATOM
        if name in SIGNS:
            strength, sign = STRENGTH[name], SIGNS[name]
            left, right = self.of(given[0], strength), self.of(given[1], strength + 1)
            if strength == 1 and right.startswith("-"):
                sign, right = "-" if sign == "+" else "+", right[1:]
            return self.operation(sign, left, right, strength)
        if name == "neg":
            return f"-{self.of(given[0], 3)}", 0
        if name in COMPARED:
            return f"{self.of(given[0], 1)} {COMPARED[name]} {self.of(given[1], 1)}", 0
        if name == "where":
            if given[2].name == "missing" and given[1].name == "label":
                return self.choice(self.of(given[0], 1), self.of(given[1]), str(UNKNOWN)), 0
            return self.choice(self.of(given[0], 1), self.of(given[1], 1), self.of(given[2], 1)), 0
        if name == "and":
            return f" {self.conjunction} ".join(self.of(part, 1) for part in given), 0
        if name == "level":
            if not isinstance(one.value[0], str):
                return self.found_number(self.of(given[0]), one.value), ATOM
            return self.found_level(self.of(given[0]), one.value, _is_verbatim(given[0])), ATOM
        if name == "interval":
            return self.found_interval(self.of(given[0]), one.value), 0
        if name == "choose":
            text = self.chosen(given[0], list(given[1:]))
            return text, ATOM if text.endswith("]") else 0
        if name == "label":
            return self.best(
                [self.of(part) for part in given], [_class_index(each, self.classes) for each in one.value]
            ), ATOM
        return self.function(name, [self.of(part, 0) for part in given]), ATOM

    def operation(self, sign: str, left: str, right: str, strength: int) -> tuple[str, int]:
        """Return an operation of two numbers."""
        return f"{left} {sign} {right}", strength

    @abstractmethod
    def number(self, value: float) -> str:
        """Return a number, to the last bit."""

    @abstractmethod
    def field(self, k: int) -> str:
        """Return the value of input k."""

    @abstractmethod
    def declare(self, name: str, kind: str, text: str) -> str:
        """Return the statement that gives a constant its value."""

    @abstractmethod
    def function(self, name: str, given: list[str]) -> str:
        """Return a call of a function."""

    def choice(self, condition: str, yes: str, no: str) -> str:
        """Return one of two values by a condition."""
        return f"{condition} ? {yes} : {no}"

    @abstractmethod
    def found_level(self, text: str, levels: tuple[Label, ...], verbatim: bool) -> str:
        """Return the index of a text among levels, with the blanks around it or without them."""

    def found_number(self, text: str, levels: tuple[Label, ...]) -> str:
        """Return the index of a number among levels."""
        found = self.choice(self.function("is_missing", [text]), str(ABSENT), str(UNKNOWN))
        for k, one in reversed(list(enumerate(levels))):
            found = self.choice(f"{text} {self.equals} {self.number(float(one))}", str(k), found)
        return f"({found})"

    def found_interval(self, text: str, breaks: Breaks) -> str:
        """Return the index of a number among intervals."""
        sign, shift = "<" if breaks.closed_left else "<=", -1 if breaks.inside else 0
        last = len(breaks.numbers) + shift
        found = str(UNKNOWN if breaks.inside and last >= len(breaks.numbers) - 1 else last)
        for k, one in reversed(list(enumerate(breaks.numbers, shift))):
            found = self.choice(f"{text} {sign} {self.number(one)}", str(max(k, UNKNOWN)), found)
        return self.choice(self.function("is_missing", [text]), str(ABSENT), found)

    @abstractmethod
    def best(self, scores: list[str], own: list[int]) -> str:
        """Return the index of the class with the largest score; of one score by whether it is above zero."""

    def chosen(self, index: Node, options: list[Node]) -> str:
        """Return one of some nodes by an index; the last two are for unknown levels and missing ones."""
        found, texts = self.of(index), [self.of(one) for one in self.sorted(index, options)]
        *known, unknown, absent = texts
        if len(known) > FEW and all(one.name in ("number", "missing") for one in options):
            name = f"table{len(self.tables)}"
            self.tables.append(self.table(name, [absent, unknown, *known]))  # of -2, -1, 0, ...
            return f"{name}[{found} + 2]"
        cases = [*enumerate(known), *([(UNKNOWN, unknown)] if unknown != absent else [])]
        for k, text in reversed(cases):
            absent = self.choice(f"{found} {self.equals} {k}", text, absent)
        return absent

    def sorted(self, index: Node, options: list[Node]) -> list[Node]:
        """Return the nodes in the order of the language's own table of levels."""
        return options

    @abstractmethod
    def table(self, name: str, numbers: list[str]) -> str:
        """Return the statement that makes a table of numbers."""

    @abstractmethod
    def field_names(self, names: list[str]) -> list[str]:
        """Return the names of the inputs in the language."""

    @abstractmethod
    def source(self) -> str:
        """Return the whole program."""


def identifier(name: str) -> str:
    """Return a name with letters, digits and _ alone, as C has them."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    word = re.sub(r"\W+", "_", plain, flags=re.ASCII).strip("_") or "x"
    return word if word[0].isalpha() else f"x{word}"


def distinct(names: list[str], taken: set[str]) -> list[str]:
    """Return identifiers for names, each different from the others, in any case, and from those taken."""
    used = {one.lower() for one in taken}
    out = []
    for name in map(identifier, names):
        free, k = name, 2
        while free.lower() in used:
            free, k = f"{name}_{k}", k + 1
        used.add(free.lower())
        out.append(free)
    return out


def inputs_of(prediction: Prediction) -> list[Input]:
    """Return the raw columns that a prediction reads."""
    nodes = [one for found in prediction.outputs.values() for one in found.values()]
    return list(dict.fromkeys(one.value for one in by_dependence(nodes) if one.name == "input"))


def input_notes(inputs: list[Input]) -> list[str]:
    """Return what each input is, for comments."""
    kinds = {"number": "a number", "boolean": "0 or 1", "date": "days since 1970-01-01"}
    return [kinds.get(one.kind, "a text") for one in inputs]


def _is_verbatim(of: Node) -> bool:
    return of.name == "input" and of.value.kind == "verbatim"


def _class_index(label: Label, classes: tuple[Label, ...]) -> int:
    """Return the index of a label among the classes; of a cluster its own."""
    return classes.index(label) if classes else int(label)
