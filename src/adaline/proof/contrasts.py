"""Linear hypotheses as text: "x1 = x2", "x1 + 2*x2 = 3", "age = 0, income = 0".

    hypotheses = equation {"," equation}        equation = sum {"=" sum}; without "=", the sum is zero
    sum        = ["+" | "-"] term {("+" | "-") term}
    term       = factor {("*" | "/") factor}    factor = number | name | "(" sum ")"

A name is that of a column, or `intercept`; one with spaces or signs is found too, the longest name first, and a name in
backquotes is taken as it stands. Numbers are exact: 0.1 is a tenth until the end. Nothing is evaluated as Python.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidParameter

Array = NDArray[np.float64]

CONSTANT = -1
LONGEST = 1000  # digits of a number
_NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")

Linear = dict[int, Fraction]
"""Coefficients by place: 0 the intercept, 1, 2, ... the columns, CONSTANT a number by itself."""


def parse(text: str, names: Sequence[str]) -> tuple[Array, Array]:
    """Return the matrix C (q, 1 + D) and the values (q,) of hypotheses C theta = value."""
    equations = _Parser(text, names).hypotheses()
    matrix = np.zeros((len(equations), 1 + len(names)))
    value = np.zeros(len(equations))
    for row, equation in enumerate(equations):
        try:
            value[row] = -float(equation.pop(CONSTANT, Fraction(0)))
            for place, coefficient in equation.items():
                matrix[row, place] = float(coefficient)
        except OverflowError:
            raise InvalidParameter(f"hypothesis {row + 1} of {text!r} has a number beyond 1.8e308") from None
        if not matrix[row].any():
            raise InvalidParameter(f"hypothesis {row + 1} of {text!r} says nothing about a coefficient")
    return matrix, value


class _Parser:
    """Recursive descent over one text."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text = text
        self.names = list(names)
        self.places = {"intercept": 0} | {name: place for place, name in enumerate(names, start=1)}
        self.longest_first = sorted(self.places, key=len, reverse=True)
        self.at = 0

    def hypotheses(self) -> list[Linear]:
        out = self.equation()
        while self.take(","):
            out += self.equation()
        if self.at < len(self.text):
            raise self.error("expected +, -, *, /, = or a comma")
        return out

    def equation(self) -> list[Linear]:
        sides = [self.sum()]
        while self.take("="):
            sides.append(self.sum())
        if len(sides) == 1:
            return sides
        return [_add(left, right, Fraction(-1)) for left, right in pairwise(sides)]

    def sum(self) -> Linear:
        sign = Fraction(-1 if self.take("-") else 1)
        if sign > 0:
            self.take("+")
        out = _add({}, self.term(), sign)
        while True:
            if self.take("+"):
                out = _add(out, self.term(), Fraction(1))
            elif self.take("-"):
                out = _add(out, self.term(), Fraction(-1))
            else:
                return out

    def term(self) -> Linear:
        out = self.factor()
        while True:
            start = self.at
            if self.take("*"):
                other = self.factor()
                if not _is_number(other):
                    out, other = other, out
                if not _is_number(other):
                    raise self.error("a product of coefficients is not linear", start)
                out = _add({}, out, other.get(CONSTANT, Fraction(0)))
            elif self.take("/"):
                other = self.factor()
                if not _is_number(other) or not other.get(CONSTANT):
                    raise self.error("can only divide by a number that is not zero", start)
                out = _add({}, out, 1 / other[CONSTANT])
            else:
                return out

    def factor(self) -> Linear:
        if self.take("("):
            out = self.sum()
            if not self.take(")"):
                raise self.error("expected )")
            return out
        start = self.at
        if self.take("`"):
            stop = self.text.find("`", self.at)
            name = self.text[self.at : stop] if stop >= 0 else ""
            if name not in self.places:
                raise self.error(f"no column is called {name!r}" + self.hint(name), start)
            self.at = stop + 1
            self.skip()
            return {self.places[name]: Fraction(1)}
        number = _NUMBER.match(self.text, self.at)
        for name in self.longest_first:
            end = self.at + len(name)
            if self.text.startswith(name, self.at) and not _continues(self.text, end) and not _NUMBER.fullmatch(name):
                self.at = end
                self.skip()
                return {self.places[name]: Fraction(1)}
        if number and not _continues(self.text, number.end()):
            if len(number.group()) > LONGEST or abs(int((number.group(3) or "e0")[1:])) > LONGEST:
                raise self.error("a number of so many digits")
            self.at = number.end()
            self.skip()
            return {CONSTANT: Fraction(number.group())}
        word = re.match(r"[^\s+\-*/=,()`]+", self.text[self.at :])
        if word is None:
            raise self.error("expected a column or a number")
        raise self.error(f"no column is called {word.group()!r}" + self.hint(word.group()))

    def take(self, sign: str) -> bool:
        """Step over a sign if it is next."""
        self.skip()
        found = self.text.startswith(sign, self.at)
        self.at += len(sign) * found
        if found and sign != "`":
            self.skip()
        return found

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def error(self, what: str, at: int | None = None) -> InvalidParameter:
        place = (self.at if at is None else at) + 1
        return InvalidParameter(f"cannot read the hypothesis {self.text!r}: {what}, at character {place}")

    def hint(self, word: str) -> str:
        return hint(word, list(self.places))


def hint(word: str, names: Sequence[str]) -> str:
    """Return a close name, or some of the names there are."""
    close = difflib.get_close_matches(word, names, 1)
    if close:
        return f" (did you mean {close[0]!r}?)"
    return f" (there are {', '.join(names[:8])}{', ...' if len(names) > 8 else ''})"


def _add(a: Linear, b: Linear, times: Fraction) -> Linear:
    out = dict(a)
    for place, coefficient in b.items():
        out[place] = out.get(place, Fraction(0)) + times * coefficient
    return out


def _is_number(a: Linear) -> bool:
    return all(place == CONSTANT or not coefficient for place, coefficient in a.items())


def _continues(text: str, at: int) -> bool:
    """Whether a word that ends at `at` in fact goes on there."""
    return at < len(text) and at > 0 and _in_word(text[at]) and _in_word(text[at - 1])


def _in_word(character: str) -> bool:
    return character.isalnum() or character in "_."
