"""Columns that are linear combinations of the columns before them.

    x_a = constant_a + sum_j weight_aj x_j     for each column a that can be left out, j over columns that are kept

The combinations follow from any basis of the null space of the columns, brought to echelon form from the last column
on: a column depends on those before it exactly where a null vector ends at it. Reflections do this without a loss of
digits. Columns are taken at equal length, so that units play no part.

Leaving columns out moves their coefficients onto the kept ones, w_j += sum_a weight_aj w_a, as R does for a model
without full rank. The rows identify a coefficient only if no combination involves its column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.coding.names import MadeNames
from adaline.forms import Finite, Integers, Truths
from adaline.results import some

Mask = NDArray[np.bool_]

# part of a column, relative to it, that is rounding; 10x larger leaves small terms out of combinations
NEGLIGIBLE_PART = 1e-9
# relative distance within which a weight counts as a fraction; 10x larger reports fractions that are none
NEAT_DISTANCE = 1e-9
# denominator of such a fraction; doubling it reports fractions that hardly explain a dependence
MOST_DENOMINATOR = 1000
# convergents of a continued fraction: their denominators exceed 1000 at the 17th (Fibonacci numbers at least)
MOST_CONVERGENTS = 18
CHANCE_OF_FRACTION = 1e-3  # share of all numbers that count as a fraction by chance; 10x larger reports odd fractions
# weights up to which fractions are looked for; doubling it takes twice as long, and wide data have none
MOST_NEAT_WEIGHTS = 2**14
MOST_TERMS, MOST_SHOWN = 5, 3  # terms of a combination, and combinations, that a warning shows
# share of a combination of coefficients that rows do not identify, from which it is refused; 10x larger refuses less
UNIDENTIFIED_SHARE = 1e-6
# length of a part of a unit null vector from which it involves a column; 10x larger calls fewer columns dependent
LEAST_PIVOT = 1e-10
LEAST_SQUARED_PIVOT = 1e-6  # the same for null vectors of second derivatives, which square the condition of the columns
FEW_VECTORS = 32  # null vectors beyond which a QR decomposition is tried first; either way gives the same answer


@dataclass(frozen=True)
class Dependence:
    """The combinations among D columns.

    Parameters
    ----------
    left_out : (A,) indices of columns that are combinations of columns before them, ascending.
    weights : (A, D) what each is made of, in raw units, zero at columns left out.
    constants : (A,) the constants of the combinations; zero in a model without intercept.
    constant : (D,) which columns do not vary, so that the intercept takes their part; not among those left out.
    """

    left_out: Annotated[NDArray[np.intp], Integers("A")]
    weights: Annotated[Array, Finite("A D")]
    constants: Annotated[Array, Finite("A")]
    constant: Annotated[Mask, Truths("D")]

    @property
    def kept(self) -> Mask:
        """Which columns (D,) are neither constant nor left out."""
        out = ~self.constant
        out[self.left_out] = False
        return out

    @property
    def rank(self) -> int:
        """Number of columns that are kept."""
        return int(self.kept.sum())

    @property
    def estimable(self) -> Mask:
        """Which coefficients (D,) the rows determine: those of columns that vary and are in no combination."""
        out = ~self.constant & ~(self.weights != 0).any(axis=0)
        out[self.left_out] = False
        return np.asarray(out)

    def determines(self, contrasts: Array) -> Mask:
        """Return which combinations C theta, (q,), are the same in every solution, for the rows of C (q, 1 + D)."""
        null = -np.column_stack([self.constants, self.weights])
        null[np.arange(len(null)), 1 + self.left_out] = 1.0
        changed = np.abs(contrasts @ null.T) > UNIDENTIFIED_SHARE * (np.abs(contrasts) @ np.abs(null.T))
        return np.asarray(~(changed.any(axis=1) | contrasts[:, 1:][:, self.constant].any(axis=1)))

    def drop(self, theta: Array) -> Array:
        """Return coefficients (K, 1 + D) that predict the same without the columns left out, theirs zero."""
        return np.asarray(theta @ self._moves().T)

    def drop_root(self, root: Array) -> Array:
        """Return the root (..., 1 + D, M) of the covariance of the coefficients once columns are left out."""
        return np.asarray(self._moves() @ root)

    def _moves(self) -> Array:
        """Return the matrix (1 + D, 1 + D) that moves the coefficients of columns left out onto the kept ones."""
        out = np.eye(1 + self.weights.shape[1])
        out[1 + self.left_out, 1 + self.left_out] = 0.0
        out[0, 1 + self.left_out] = self.constants
        out[1:, 1 + self.left_out] += self.weights.T
        return out

    def texts(self, names: Sequence[str], effects: bool = False) -> list[str]:
        """Return the combinations as text, such as "sched = 100 hour + minute"; effects hold the constants."""
        end = " + effects" * effects
        return [
            f"{_quoted(names[a])} = {_combination(weights, 0.0 if effects else constant, names)}{end}"
            for a, weights, constant in zip(self.left_out, self.weights, self.constants, strict=True)
        ]


class Named(NamedTuple):
    """By name: columns that are constant or combinations of others, the combinations, and the constant columns."""

    aliased: list[str]
    combinations: list[str]
    constant: list[str]


def named(found: Sequence[Dependence], names: Sequence[str], effects: bool = False) -> Named:
    """Return by name the dependences that fits found among the same columns; constant are those that are so in all."""
    constant = set[int]()
    if found and not isinstance(names, MadeNames):  # of very many columns, those without entries are not named
        constant = {*np.flatnonzero(np.logical_and.reduce([one.constant for one in found])).tolist()}
    aliased = sorted(constant | {int(j) for one in found for j in one.left_out})
    texts = list(dict.fromkeys(text for one in found for text in one.texts(names, effects)))
    return Named([names[j] for j in aliased], texts, [names[j] for j in sorted(constant)])


def say_dependent(texts: Sequence[str]) -> str:
    """Return the warning for combinations given as text."""
    return (
        f"some columns are linear combinations of others: {some(texts, '; ', MOST_SHOWN)}. The rows do not determine "
        "their coefficients singly, though they do determine predictions of rows in which the same holds; leave out a "
        "column of each combination"
    )


def independent(constant: Mask) -> Dependence:
    """Return the dependence of columns without combinations, of which some may be constant, (D,)."""
    return Dependence(np.zeros(0, dtype=np.intp), np.zeros((0, len(constant))), np.zeros(0), constant)


def dependence(null: Array, size: Array, mean: Array | None, pivot: float = LEAST_PIVOT) -> Dependence:
    """Return the combinations among columns, from their null vectors.

    Parameters
    ----------
    null : (D, A) with X null = 0, X the columns over their sizes, about constants in a model with intercept.
    size : (D,) of the columns, in raw units; zero where a column is constant.
    mean : (D,) of the columns in raw units; None without an intercept.
    pivot : length, of unit vectors, from which a null vector reaches a column: its accuracy.
    """
    constant = size == 0
    if not null.shape[1]:
        return independent(constant)
    left_out, weights = echelon(null, pivot)
    weights[np.abs(weights) <= NEGLIGIBLE_PART * np.maximum(np.abs(weights).max(axis=1, keepdims=True), 1.0)] = 0.0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        raw = np.where(weights != 0, weights * size[left_out, None] / size, 0.0)
    if np.count_nonzero(raw) <= MOST_NEAT_WEIGHTS:
        raw = neat(raw)
    return combinations(left_out, raw, size, mean)


def combinations(left_out: NDArray[np.intp], raw: Array, size: Array, mean: Array | None) -> Dependence:
    """Return the dependence of columns left out on others, with weights (A, D) in raw units; the rest as above."""
    constant = size == 0
    constants = np.zeros(len(left_out))
    if mean is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            constants = mean[left_out] - raw @ mean
            reach = np.abs(mean[left_out]) + np.abs(raw) @ np.abs(mean) + size[left_out]
        constants = np.where(np.abs(constants) <= NEGLIGIBLE_PART * reach, 0.0, constants)
        constants = neat(constants, NEAT_DISTANCE * reach)
    combined = raw.any(axis=1)  # others are constant: combinations of the intercept alone
    constant[left_out[~combined]] = True
    return Dependence(left_out[combined], raw[combined], constants[combined], constant)


def echelon(null: Array, pivot: float = LEAST_PIVOT) -> tuple[NDArray[np.intp], Array]:
    """Return the columns at which null vectors (D, A) end, ascending, and each as a combination of the others, (A, D).

    From the last column on, a reflection of the null vectors leaves one of them nonzero at that column; then each
    vector is cleared of the columns at which others end. For the last columns, up to one
    that is no end, a QR decomposition does it in blocks.
    """
    rows = np.linalg.qr(null)[0].T.copy()
    ends: list[int] = []
    if len(rows) > FEW_VECTORS:
        reflected: Array = np.asarray(np.linalg.qr(rows[:, ::-1], mode="r"))
        short = np.flatnonzero(np.abs(reflected.diagonal()) <= pivot)
        rows = reflected[:, ::-1].copy()
        ends = [rows.shape[1] - 1 - i for i in range(short[0] if len(short) else len(rows))]
    for j in range(rows.shape[1] - 1 - len(ends), -1, -1):
        done = len(ends)
        if done == len(rows):
            break
        reach = rows[done:, j]
        length = float(np.linalg.norm(reach))
        if length <= pivot:
            rows[done:, j] = 0.0
            continue
        mirror = reach.copy()
        mirror[0] += np.copysign(length, mirror[0])
        mirror /= np.linalg.norm(mirror)
        rows[done:, : j + 1] -= 2.0 * np.outer(mirror, mirror @ rows[done:, : j + 1])
        rows[done + 1 :, j] = 0.0
        ends.append(j)
    order = np.array(ends[::-1], dtype=np.intp)
    rows = rows[: len(ends)][::-1]
    weights = -np.linalg.solve(rows[:, order], rows)
    weights[:, order] = 0.0
    return order, np.asarray(weights, dtype=np.float64)


def neat(value: Array | float, within: Array | float | None = None) -> Array:
    """Return the nearest fractions of a small denominator, or the numbers themselves where none is near.

    About 0.3 d^2 fractions of denominators up to d lie between whole numbers: d is bounded, so that one of them is
    within the tolerance by chance for less than one number in a thousand. A fraction that near, closer than 1/(2 d^2),
    is a convergent of the continued fraction (Legendre), and there is no second one.

    Examples
    --------
    >>> from adaline.solvers.least_squares.dependence import neat
    >>> bool(neat(0.33333333333) == 1 / 3), float(neat(12345.678901))
    (True, 12345.678901)
    """
    out = np.array(value, dtype=np.float64)
    tolerance = NEAT_DISTANCE * np.abs(out) if within is None else np.broadcast_to(np.asarray(within), out.shape)
    open_ = np.isfinite(out) & (out != 0) & (tolerance > 0)  # which underflows for the smallest numbers
    given, allowed = out[open_], tolerance[open_]
    most = np.clip(np.sqrt(CHANCE_OF_FRACTION / allowed), 1, MOST_DENOMINATOR).astype(np.int64)
    found, todo = given.copy(), np.ones(len(given), dtype=bool)
    rest = given.copy()
    p, p_before, q, q_before = np.ones_like(rest), np.zeros_like(rest), np.zeros_like(rest), np.ones_like(rest)
    for _ in range(MOST_CONVERGENTS):
        whole = np.where(most > 1, np.floor(rest), np.ceil(rest - 0.5))
        p, p_before, q, q_before = whole * p + p_before, p, whole * q + q_before, q
        todo &= q <= most
        if not todo.any():
            break
        near = todo & (p != 0) & (np.abs(p / np.where(todo, q, 1.0) - given) <= allowed)
        found[near] = p[near] / q[near]
        todo &= ~near & ((rest - whole) * (most + 1) >= 1)  # else the next denominator is too large
        rest = 1.0 / np.where(todo, rest - whole, 1.0)
    out[open_] = found
    return out


def _fraction(value: float) -> Fraction:
    return Fraction(value).limit_denominator(MOST_DENOMINATOR)


def _quoted(name: str) -> str:
    """Return a name as formulas and hypotheses take it: in backquotes where it would not read as one name."""
    bare = re.sub(r"\(.*?\)|\[.*?\]", "", name)
    return f"`{name}`" if re.search(r"^\d|[\s+*/=-]", bare) else name


def _combination(weights: Array, constant: float, names: Sequence[str]) -> str:
    """Return a constant and weighted names as a sum, the first ones of many."""
    places = np.flatnonzero(weights)
    terms = [(constant, "")] if constant else []
    rest = len(terms) + len(places) - MOST_TERMS + 1
    terms += [(float(weights[j]), _quoted(names[j])) for j in map(int, places[:MOST_TERMS])]
    if rest > 1:
        return f"{_sum(terms[: MOST_TERMS - 1])} + ... ({rest} more terms)"
    return _sum(terms) or "0"


def _sum(terms: list[tuple[float, str]]) -> str:
    out = ""
    rising = any(name and value > 0 for value, name in terms)
    for value, name in sorted(terms, key=lambda term: (not term[1]) == rising):  # 2 x + 1, but 1 - x
        sign = ("-" if value < 0 else "") if not out else (" - " if value < 0 else " + ")
        size = _number(abs(value))
        out += sign + (name if size == "1" and name else f"{size} {name}".rstrip())
    return out


def _number(value: float) -> str:
    """Return a number as a whole one, a short decimal or a fraction where that is exact, else with six digits."""
    short = f"{value:.6g}"
    if float(short) == value or not np.isfinite(value):
        return short
    multiples = value * np.arange(1, MOST_DENOMINATOR + 1)
    if not (np.abs(multiples - np.rint(multiples)) <= NEAT_DISTANCE * multiples).any():  # as a fraction's would be
        return short
    fraction = _fraction(value)
    if float(fraction) == value and fraction.denominator > 1:
        return f"{fraction.numerator}/{fraction.denominator}"
    return short
