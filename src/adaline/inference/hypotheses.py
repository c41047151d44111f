"""Tests of linear hypotheses C theta = value by Wald's quadratic form.

    F = (C theta - value)' [C Cov C']^-1 (C theta - value) / q

With classical errors and normal residuals F has exactly the F distribution on q and N - p degrees of freedom. With
robust errors it is approximate, the denominator N - p for HC0 to HC3 and the number of groups less one for clusters, as
in statsmodels' f_test; q F, compared with chi-squared on q degrees of freedom, is statsmodels' wald_test.

A. Wald, Trans. AMS 54 (1943), 426-482.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import Array, HypothesisLike
from adaline.errors import InvalidData, InvalidParameter
from adaline.inference.classical import EXTRAPOLATED, NO_EXACT_TESTS
from adaline.inference.clusters import CLUSTERED, judges_together
from adaline.inference.covariance import Covariance, about_mean, estimates, factor_of, quadratic
from adaline.solvers.least_squares.dependence import Dependence
from adaline.solvers.least_squares.fit import Fit
from adaline.wording import counted, p_value, visible


class Determined(Protocol):
    """A fit that knows how its columns depend on each other."""

    @property
    def dependence(self) -> Dependence:
        """The constant columns and combinations among columns."""


@dataclass(frozen=True)
class HypothesisTest:
    """The result of `test`: numbers for one target, arrays (K,) for several.

    Parameters
    ----------
    hypotheses : each hypothesis as text.
    statistic : F; `chi2` is q F.
    freedom : degrees of freedom of numerator and denominator; the latter is infinite where `chi2` is the test.
    p_value : probability of an F at least as large if the hypotheses hold; `chi2_p_value` the one of chi-squared.
    errors : which standard errors were used.
    """

    hypotheses: tuple[str, ...]
    statistic: Any
    freedom: tuple[int, float]
    p_value: Any
    errors: str

    @property
    def chi2(self) -> Any:
        """Wald's statistic, q F."""
        return self.freedom[0] * self.statistic

    @property
    def chi2_p_value(self) -> Any:
        """Probability of a chi-squared with q degrees of freedom beyond `chi2`."""
        return scipy.special.chdtrc(self.freedom[0], self.chi2)

    def __str__(self) -> str:
        lines = ["hypothesis: " + "\n            ".join(self.hypotheses)]
        values = zip(np.atleast_1d(self.statistic), np.atleast_1d(self.p_value), strict=True)
        for k, (f, p) in enumerate(values):
            target = f"target y{k}: " if np.ndim(self.statistic) else ""
            q, rest = self.freedom
            test = f"F {f:.6g} on {q:g} and {rest:g} degrees of freedom"
            test = test if np.isfinite(rest) else f"chi² {q * f:.6g} on {counted(q, 'degree', '.6g')} of freedom"
            lines.append(f"{target}{test}, p {p_value(p)} ({self.errors} errors)")
        return visible("\n".join(lines))

    __repr__ = __str__


class Hypotheses(NamedTuple):
    """Linear hypotheses C theta = value.

    Parameters
    ----------
    matrix, values : C (q, 1 + D) and (q,).
    texts : each hypothesis as text.
    assumed : (a, 1 + D) further combinations that are zero whether the hypotheses hold or not, none by default. With
        them W is what the hypotheses add to the statistic of these combinations alone: of the model without them.
    reduced : whether the hypotheses are about the model without dependent columns, so that the rows identify them.
    """

    matrix: Array
    values: Array
    texts: tuple[str, ...]
    assumed: Array
    reduced: bool = False

    def along(self, root: Array) -> Array:
        """Return a root of the covariance of the combinations, those assumed first, from that of the coefficients."""
        return np.concatenate([self.assumed, self.matrix]) @ root

    def unidentified(self, lost: NDArray[np.bool_]) -> str:
        """Return the sentence that the rows do not identify the first hypothesis that is `lost`, (q,)."""
        return (
            f"the rows cannot tell whether {self.texts[int(np.flatnonzero(lost)[0])]}: the hypothesis involves columns "
            "that are constant or linear combinations of others (see aliased_)."
        )

    def differences(self, theta: Array) -> Array:
        """Return by how much the combinations of coefficients (1 + D,) are off, those assumed first."""
        return np.concatenate([self.assumed @ theta, self.matrix @ theta - self.values])


def read_hypotheses(hypothesis: HypothesisLike, value: Any, names: Sequence[str], intercept: bool) -> Hypotheses:
    """Return hypotheses given as text, as names or as a matrix; those that were read already as they are."""
    if isinstance(hypothesis, Hypotheses):
        return hypothesis
    if isinstance(hypothesis, str) or _are_names(hypothesis):
        texts = [hypothesis] if isinstance(hypothesis, str) else list(hypothesis)
        matrix, constant = _read_texts(texts, names, not isinstance(hypothesis, str), intercept)
        if isinstance(hypothesis, str) and np.any(value):
            raise InvalidParameter(f"write the value into the hypothesis, '... = {value}', or give a matrix")
    else:
        matrix, constant = _read_matrix(hypothesis, len(names), intercept), np.zeros(1)
    values = np.asarray(value, dtype=np.float64)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != len(matrix)) or not np.isfinite(values).all():
        raise InvalidParameter(f"value must be one finite number for each of {len(matrix)} hypotheses, got {value!r}")
    values = np.broadcast_to(values + constant, (len(matrix),))
    if not intercept and matrix[:, 0].any():
        raise InvalidParameter("the hypothesis is about the intercept, and the model has none (fit_intercept=False)")
    if not matrix.any(axis=1).all():
        row = int(np.flatnonzero(~matrix.any(axis=1))[0])
        raise InvalidParameter(f"hypothesis {row + 1} says nothing about a coefficient: its row is zero")
    known = ("intercept", *names)
    written = tuple(_write(row, v, known) for row, v in zip(matrix, values, strict=True))
    return Hypotheses(matrix, values, written, np.empty((0, 1 + len(names))))


def wald(fit: Fit, covariance: Covariance, tested: Hypotheses) -> tuple[float, float]:
    """Return F and its p value for one target of a fit; the covariance may be without its dependent columns."""
    if covariance.fit.penalty.any():
        raise InvalidParameter(
            "no tests for a penalised fit: its coefficients are shrunken on purpose, none is centred on the truth. "
            "Use LinearRegression, or penalty=0."
        )
    if not covariance.freedom > 0.5:
        raise InvalidData("no tests: there are no more rows than parameters, so that nothing is left to judge by")
    factor, matrix, assumed = factor_of(fit), tested.matrix, len(tested.assumed)
    lost = factor.untestable(about_mean(factor, matrix)) > EXTRAPOLATED
    if lost.any() and not tested.reduced:
        raise InvalidData(
            f"{tested.unidentified(lost)} Drop those columns; LinearRegression tests the model without them under "
            "rank='drop'."
        )
    if covariance.fit.exact[covariance.k]:
        raise InvalidData(NO_EXACT_TESTS)
    every = np.concatenate([tested.assumed, matrix])
    difference = estimates(covariance.fit, covariance.k, every)
    difference[assumed:] -= tested.values
    squares = quadratic(covariance.along(every), difference, assumed)
    _refuse_dependent(squares, len(every), covariance.errors, covariance.freedom)
    f = squares / len(matrix)
    if assumed and covariance.wild is not None:
        raise InvalidParameter("errors='wild' tests a term beside all others: use type=3")
    return f, covariance.chance(f, matrix, difference[assumed:])


def _refuse_dependent(squares: float, count: int, errors: str, freedom: float) -> None:
    """Refuse hypotheses of which some follow from others, so that `squares` is NaN, or more than groups can judge."""
    if np.isnan(squares) or not judges_together(errors, count, freedom):
        raise InvalidParameter(
            f"these {count} hypotheses cannot be tested together: some follow from others"
            + (", or there are fewer groups than hypotheses" if errors in CLUSTERED else "")
        )


def wald_squares(
    fit: Determined,
    tested: Hypotheses,
    thetas: Sequence[Array],
    roots: Sequence[Array],
    errors: str,
    freedom: float,
) -> float:
    """Return d'(root root')^-1 d of hypotheses about one or more machines; refuse what the rows do not identify.

    `thetas` and `roots` are the coefficients (1 + D,) of each machine, and roots (1 + D, M) of their covariance, which
    is that of `errors`, with so many degrees of freedom.
    """
    lost = ~fit.dependence.determines(tested.matrix)
    if lost.any() and not tested.reduced:
        raise InvalidData(f"{tested.unidentified(lost)} Drop those columns.")
    assumed, count = len(tested.assumed), len(roots)
    along, off = [tested.along(root) for root in roots], [tested.differences(theta) for theta in thetas]
    root = np.concatenate([part[:assumed] for part in along] + [part[assumed:] for part in along])
    difference = np.concatenate([part[:assumed] for part in off] + [part[assumed:] for part in off])
    squares = quadratic(root, difference, count * assumed)
    _refuse_dependent(squares, len(root), errors, freedom)
    return squares


def wald_chance(squares: float, count: int, freedom: float) -> float:
    """Return the chance of as much if the hypotheses hold: by F, or by chi-squared where `freedom` is infinite."""
    if np.isinf(freedom):
        return float(scipy.special.chdtrc(count, squares))
    return float(scipy.special.fdtrc(count, freedom, squares / max(count, 1)))


def wald_of_slopes(
    fit: Determined, thetas: Sequence[Array], roots: Sequence[Array], errors: str, freedom: float
) -> tuple[float, float]:
    """Return Wald's statistic of all slopes, and its p value; NaN where groups or rows are too few to judge them.

    The arguments are those of `wald_squares`, of a fit without its dependent columns.
    """
    kept = fit.dependence.kept
    root, slopes = (np.concatenate([one[1:][kept] for one in each]) for each in (roots, thetas))
    if not len(slopes) or not judges_together(errors, len(slopes), freedom):
        return np.nan, np.nan
    squares = quadratic(root, slopes)
    return squares, wald_chance(squares, len(slopes), freedom)


def _are_names(hypothesis: HypothesisLike) -> bool:
    if not isinstance(hypothesis, list | tuple | np.ndarray):
        return False
    return len(hypothesis) > 0 and all(isinstance(entry, str) for entry in hypothesis)


def _read_texts(texts: list[str], names: Sequence[str], listed: bool, intercept: bool) -> tuple[Array, Array]:
    """Read each text as the name of a column that is zero, or as hypotheses."""
    matrices, values = [], []
    for text in texts:
        if listed and text in names:
            matrices.append(np.eye(1, 1 + len(names), 1 + list(names).index(text)))
            values.append(np.zeros(1))
        elif listed and not set(text) & set("=+-*/ ") and text != "intercept":
            offered = ["intercept", *names] if intercept else names
            raise InvalidParameter(f"no column is called {text!r}" + hint(text, offered))
        else:
            matrix, value = parse(text, names, intercept)
            matrices.append(matrix)
            values.append(value)
    return np.concatenate(matrices), np.concatenate(values)


def _read_matrix(hypothesis: HypothesisLike, features: int, intercept: bool) -> Array:
    try:
        matrix = np.atleast_2d(np.asarray(hypothesis, dtype=np.float64))
    except (TypeError, ValueError):
        raise InvalidParameter(
            "hypothesis must be text such as 'x1 = x2', a list of column names, or a matrix of numbers, "
            f"got {type(hypothesis).__name__}"
        ) from None
    if not intercept and matrix.ndim == 2 and matrix.shape[1] == features:
        matrix = np.column_stack([np.zeros(len(matrix)), matrix])
    if matrix.ndim != 2 or matrix.shape[1] != 1 + features or len(matrix) == 0:
        raise InvalidParameter(
            f"hypothesis has shape {np.shape(hypothesis)}; it must be (q, {1 + features}): intercept first, then one "
            "number for each column"
        )
    if not np.isfinite(matrix).all():
        raise InvalidParameter("hypothesis has numbers that are not finite")
    return matrix


def _write(row: Array, value: float, names: Sequence[str]) -> str:
    """Return a hypothesis as text."""
    out = ""
    for j in map(int, np.flatnonzero(row)):
        size = abs(row[j])
        sign = ("-" if row[j] < 0 else "") if not out else (" - " if row[j] < 0 else " + ")
        out += sign + ("" if size == 1 else f"{size:.6g}*") + names[j]
    return f"{out} = {value:.6g}"


# Linear hypotheses as text: "x1 = x2", "x1 + 2*x2 = 3", "age = 0, income = 0".
#
#     hypotheses = equation {"," equation}        equation = sum {"=" sum}; without "=", the sum is zero
#     sum        = ["+" | "-"] term {("+" | "-") term}
#     term       = factor {("*" | "/") factor}    factor = number | name | "(" sum ")"
#
# A name is that of a column, or `intercept`; one with spaces or signs is found too, the longest name first, and a name
# in backquotes is taken as it stands. Numbers are exact: 0.1 is a tenth until the end. Nothing is evaluated as Python.


CONSTANT = -1
# digits of a number, and size of its exponent; doubling it lets long hypotheses take longer to parse
MOST_DIGITS = 1000
MOST_NESTED = 50  # brackets inside each other; much larger ones would exceed Python's limit of recursion
_NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")

LinearSum = dict[int, Fraction]
"""Coefficients by index: 0 the intercept, 1, 2, ... the columns, CONSTANT a number alone."""


def parse(text: str, names: Sequence[str], intercept: bool = True) -> tuple[Array, Array]:
    """Return the matrix C (q, 1 + D) and the values (q,) of hypotheses C theta = value."""
    equations = _Parser(text, names, intercept).hypotheses()
    matrix = np.zeros((len(equations), 1 + len(names)))
    value = np.zeros(len(equations))
    for row, equation in enumerate(equations):
        try:
            value[row] = -float(equation.pop(CONSTANT, Fraction(0)))
            for j, coefficient in equation.items():
                matrix[row, j] = float(coefficient)
        except OverflowError:
            raise InvalidParameter(f"hypothesis {row + 1} of {text!r} has a number beyond 1.8e308") from None
        if not matrix[row].any():
            raise InvalidParameter(f"hypothesis {row + 1} of {text!r} says nothing about a coefficient")
    return matrix, value


class _Parser:
    """Recursive descent over one text."""

    def __init__(self, text: str, names: Sequence[str], intercept: bool) -> None:
        self.text, self.intercept = text, intercept
        self.names = list(names)
        self.index = {"intercept": 0} | {name: j for j, name in enumerate(names, start=1)}
        self.longest_first = sorted(self.index, key=len, reverse=True)
        self.at = self.depth = 0

    def hypotheses(self) -> list[LinearSum]:
        out = self.equation()
        while self.take(","):
            out += self.equation()
        if self.at < len(self.text):
            raise self.error("expected +, -, *, /, = or a comma")
        return out

    def equation(self) -> list[LinearSum]:
        sides = [self.sum()]
        while self.take("="):
            sides.append(self.sum())
        if len(sides) == 1:
            return sides
        return [_add(left, right, Fraction(-1)) for left, right in pairwise(sides)]

    def sum(self) -> LinearSum:
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

    def term(self) -> LinearSum:
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

    def factor(self) -> LinearSum:
        if self.take("("):
            self.depth += 1
            if self.depth > MOST_NESTED:
                raise self.error(f"more than {MOST_NESTED} brackets inside each other")
            out = self.sum()
            self.depth -= 1
            if not self.take(")"):
                raise self.error("expected )")
            return out
        start = self.at
        if self.take("`"):
            stop = self.text.find("`", self.at)
            name = self.text[self.at : stop] if stop >= 0 else ""
            if name not in self.index:
                raise self.error(f"no column is called {name!r}" + self.hint(name), start)
            self.at = stop + 1
            self.skip()
            return {self.index[name]: Fraction(1)}
        number = _NUMBER.match(self.text, self.at)
        for name in self.longest_first:
            end = self.at + len(name)
            if self.text.startswith(name, self.at) and not _continues(self.text, end) and not _NUMBER.fullmatch(name):
                self.at = end
                self.skip()
                return {self.index[name]: Fraction(1)}
        if number and not _continues(self.text, number.end()):
            if len(number.group()) > MOST_DIGITS or abs(int((number.group(3) or "e0")[1:])) > MOST_DIGITS:
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
        position = (self.at if at is None else at) + 1
        return InvalidParameter(f"cannot read the hypothesis {self.text!r}: {what}, at character {position}")

    def hint(self, word: str) -> str:
        return hint(word, list(self.index) if self.intercept else self.names)


def hint(word: str, names: Sequence[str]) -> str:
    """Return a close name, or some of the names there are."""
    close = difflib.get_close_matches(word, names, 1)
    if close:
        return f" (did you mean {close[0]!r}?)"
    return f" (there are {', '.join(names[:8])}{', ...' if len(names) > 8 else ''})"


def _add(a: LinearSum, b: LinearSum, times: Fraction) -> LinearSum:
    out = dict(a)
    for j, coefficient in b.items():
        out[j] = out.get(j, Fraction(0)) + times * coefficient
    return out


def _is_number(a: LinearSum) -> bool:
    return all(j == CONSTANT or not coefficient for j, coefficient in a.items())


def _continues(text: str, at: int) -> bool:
    """Whether a word that seems to end at `at` continues there."""
    return at < len(text) and at > 0 and _in_word(text[at]) and _in_word(text[at - 1])


def _in_word(character: str) -> bool:
    return character.isalnum() or character in "_."
