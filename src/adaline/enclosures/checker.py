"""Checks a proof of an enclosure in whole and rational numbers. It imports Python's standard library alone.

A proof says, of the rows of a table: the minimum theta* of the convex objective

    sum_i w_i loss(z_i, t_i) + 1/2 sum_j P_j theta_j^2,    z_i = theta'(1, x_i) + offset_i

is unique, and lies between `lower` and `upper`. It brings a centre c and a matrix T, which may be any: it is checked,
with -g the gradient and H the second derivatives, and norms that are largest sums of absolute values of rows, that

    || I - T'H(theta)T || <= alpha < 1   for all theta = c + T z, || z || <= r,   and   || T'g(c) || <= r (1 - alpha)

Then z + T'g(c + T z) contracts the ball into itself, so that g is zero at a point of it, where H is not singular: the
minimum, and no other. About any point c of the ball, with y near T'g(c),

    theta* = c + T y + T z,    || z || <= (|| T'g(c) - y || + alpha || y ||) / (1 - alpha)

Numbers of the table are floats, taken exactly. Outputs and slopes are intervals of whole numbers of units of 2^-1100,
so that every float is one; `exp_bounds` encloses the exponential. Softmax has one theta for each class, and adding the
same vector to all of them changes no loss; the proof is about the solution whose sum over the classes is zero. So theta
holds all classes but the last, which is minus their sum in the outputs and in the penalty.

    python checker.py m.proof data.csv
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from os import PathLike
from typing import Any, NamedTuple

PLACES = 1100
UNIT = 1 << PLACES
WORKING = 256  # binary places of exponentials; 64 fewer and the bounds of ill-conditioned problems are not confirmed
TERMS = 30  # terms of the exponential series, of arguments below 2^-8; a third fewer lose some of the WORKING bits
SERIES, FRACTION = 160, 400  # terms of the normal distribution near zero, and steps of its tail beyond 4
KEPT = 320  # bits to which a centre is rounded; doubling it makes exact arithmetic slower
STEPS = 4
MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}

WholeInterval = tuple[int, int]
GivenRow = tuple[list[float], list[float], float, float]


class Refuted(ValueError):
    """The proof does not prove what it says of these rows."""


class Unreadable(Refuted):
    """The table cannot be read as a comma-separated one with the columns of the proof, and decimal points."""


class ExactRow(NamedTuple):
    """A row: its columns and its weight in their units, the targets and the offset in UNIT."""

    x: list[int]
    t: list[int]
    weight: int
    offset: int


class ExactRows(NamedTuple):
    """The rows, and the binary places of the columns and of the weights."""

    rows: list[ExactRow]
    places: int
    weight_places: int


def exp_bounds(z: WholeInterval) -> WholeInterval:
    """Return bounds on exp of an interval, which is narrow."""
    low, high = z
    if low < 0 < high:
        return UNIT + low, exp_bounds((0, high))[1]
    if low < 0:
        return divided((UNIT, UNIT), exp_bounds((-high, -low)))
    if low > 800 * UNIT:
        raise Refuted("an output is beyond the range of exponentials")
    halvings = max(low.bit_length() - PLACES + 8, 0)
    r = low >> PLACES - WORKING + halvings
    under = over = first = last = 1 << WORKING
    for k in range(1, TERMS):
        first, last = (first * r >> WORKING) // k, (last * (r + 1) >> WORKING) // k + 1
        under, over = under + first, over + last
    over += last  # more than all terms that are left
    for _ in range(halvings):
        under, over = under * under >> WORKING, (over * over >> WORKING) + 1
    under, over = under << PLACES - WORKING, over << PLACES - WORKING
    wider = high - low
    if 2 * wider > UNIT:
        raise Refuted("the ball about the centre is too large")
    return under, over + 2 * over * wider // UNIT + 1


def times(a: WholeInterval, b: WholeInterval) -> WholeInterval:
    """Return the product of intervals, in UNIT."""
    ends = [p * q for p in a for q in b]
    return min(ends) // UNIT, -(-max(ends) // UNIT)


def divided(a: WholeInterval, b: WholeInterval) -> WholeInterval:
    """Return the quotient of intervals above zero, in UNIT."""
    if a[0] < 0 or b[0] <= 0:
        raise Refuted("an output is out of range")
    return a[0] * UNIT // b[1], -(-a[1] * UNIT // b[0])


def plus(*intervals: WholeInterval) -> WholeInterval:
    """Return the sum of intervals."""
    return sum(one[0] for one in intervals), sum(one[1] for one in intervals)


def minus(a: WholeInterval) -> WholeInterval:
    """Return an interval times -1."""
    return -a[1], -a[0]


def real(number: float) -> WholeInterval:
    """Return a float."""
    exact = int(Fraction(number) * UNIT)
    return exact, exact


def squared(z: WholeInterval, t: list[int], _: dict[str, Any]) -> tuple[WholeInterval, WholeInterval]:
    """Return slope and curvature of (z - t)^2 / 2."""
    return plus(z, (-t[0], -t[0])), (UNIT, UNIT)


def binomial(z: WholeInterval, t: list[int], loss: dict[str, Any]) -> tuple[WholeInterval, WholeInterval]:
    """Return them of -yes ln(mean) - no ln(1 - mean)."""
    yes, no = t if len(t) == 2 else (t[0], UNIT - t[0])
    if yes < 0 or no < 0:
        raise Refuted("a share is not between 0 and 1")
    of_mean, of_rest = LINKS[loss.get("link", "logit")]
    slope, curvature = (0, 0), (0, 0)
    for share, term in ((yes, of_mean), (no, of_rest)):
        if share:
            own, bend = term(z)
            slope, curvature = plus(slope, times((share, share), own)), plus(curvature, times((share, share), bend))
    return slope, curvature


LossTerm = Callable[[WholeInterval], tuple[WholeInterval, WholeInterval]]


def logit(z: WholeInterval) -> tuple[WholeInterval, WholeInterval]:
    """Return slope and curvature of -ln(mean), mean = 1 / (1 + exp(-z))."""
    one = (UNIT, UNIT)
    rest = divided(one, plus(one, exp_bounds(z)))
    return minus(rest), times(rest, divided(one, plus(one, exp_bounds(minus(z)))))


def probit(z: WholeInterval) -> tuple[WholeInterval, WholeInterval]:
    """Return them of the normal distribution: of r = phi(z) / Phi(z), which falls by less than z grows, r (z + r)."""
    low, high = mills_ratio(z[0])
    r = low - (z[1] - z[0]), high
    return minus(r), times(r, plus(z, r))


def mirrored(term: LossTerm) -> LossTerm:
    """Return the term of -ln(1 - mean) of a symmetric distribution."""

    def mirror(z: WholeInterval) -> tuple[WholeInterval, WholeInterval]:
        slope, curvature = term(minus(z))
        return minus(slope), curvature

    return mirror


def cloglog(z: WholeInterval) -> tuple[WholeInterval, WholeInterval]:
    """Return them of mean = 1 - exp(-v), v = exp(z): of r = v / (exp(v) - 1), and r (v + r - 1).

    r lies between 1 - v/2 and 1 - v/2 + v^2/12, which is used where v is small.
    """
    one, v = (UNIT, UNIT), exp_bounds(z)
    if v[1] < UNIT >> 80:
        left = v[0] // 2, v[1] // 2 + v[1] * v[1] // UNIT + 1
        r = plus(left, one, minus(v))
    else:
        r = divided(v, plus(exp_bounds(v), minus(one)))
        left = plus(v, r, minus(one))
    return minus(r), times(r, left)


def hazard(z: WholeInterval) -> tuple[WholeInterval, WholeInterval]:
    """Return them of -ln(1 - mean) = exp(z)."""
    v = exp_bounds(z)
    return v, v


def log_share(z: WholeInterval) -> tuple[WholeInterval, WholeInterval]:
    """Return them of mean = exp(z)."""
    if z[1] >= 0:
        raise Refuted("an output has no mean")
    return (-UNIT, -UNIT), (0, 0)


def log_rest(z: WholeInterval) -> tuple[WholeInterval, WholeInterval]:
    """Return them of -ln(1 - exp(z))."""
    log_share(z)
    one = (UNIT, UNIT)
    odds = divided(one, plus(exp_bounds(minus(z)), minus(one)))
    return odds, times(odds, plus(one, odds))


def itself(z: WholeInterval) -> tuple[WholeInterval, WholeInterval]:
    """Return them of mean = z."""
    if z[1] >= UNIT:
        raise Refuted("an output has no mean")
    r = divided((UNIT, UNIT), z)
    return minus(r), times(r, r)


def itself_rest(z: WholeInterval) -> tuple[WholeInterval, WholeInterval]:
    """Return them of -ln(1 - z)."""
    slope, curvature = itself(plus((UNIT, UNIT), minus(z)))
    return minus(slope), curvature


LINKS: dict[str, tuple[LossTerm, LossTerm]] = {
    "logit": (logit, mirrored(logit)),
    "probit": (probit, mirrored(probit)),
    "cloglog": (cloglog, hazard),
    "log": (log_share, log_rest),
    "identity": (itself, itself_rest),
}


def mills_ratio(z: int) -> WholeInterval:
    """Return bounds on phi(z) / Phi(z).

    With a = |z| up to 4, Phi(-a) = 1/2 - phi (a + a^3 / 3 + a^5 / (3 5) + ...), whose terms fall by half from the 16th
    on. Beyond, phi / Phi(-a) = a + 1 / (a + 2 / (a + 3 / (a + ...))), which lies between any two convergents in a row.
    """
    a, one = (abs(z), abs(z)), (UNIT, UNIT)
    if a[0] <= 4 * UNIT:
        square, term, total = times(a, a), a, a
        for k in range(1, SERIES):
            term = times(term, square)
            term = term[0] // (2 * k + 1), term[1] // (2 * k + 1) + 1
            total = plus(total, term)
        phi = density(square)
        tail = plus((UNIT // 2, UNIT // 2), minus(times(phi, (total[0], total[1] + term[1]))))
        return divided(phi, tail if z < 0 else plus(one, minus(tail)))
    ends: list[int] = []
    places = 2 * WORKING - PLACES
    low, high = a[0] >> -places, (a[0] >> -places) + 1
    for steps in (FRACTION, FRACTION + 1):
        least = most = 0
        for k in range(steps, 0, -1):
            top = k << 4 * WORKING
            least, most = top // (high + most), -(-top // (low + least))
        ends += low + least, high + most
    ratio = min(ends) << -places, max(ends) << -places
    if z < 0:
        return ratio
    phi = density(times(a, a))
    return divided(phi, plus(one, minus(divided(phi, ratio))))


def density(square: WholeInterval) -> WholeInterval:
    """Return bounds on exp(-square / 2) / sqrt(2 pi)."""
    half = square[0] // 2, square[1] // 2 + 1
    return divided(divided((UNIT, UNIT), exp_bounds(half)), root_of_two_pi())


@cache
def root_of_two_pi() -> WholeInterval:
    """Return bounds on sqrt(2 pi), pi = 16 arctan(1/5) - 4 arctan(1/239)."""

    def arctan(k: int) -> int:
        return sum((-1) ** i * (UNIT // ((2 * i + 1) * k ** (2 * i + 1))) for i in range(PLACES))

    pi, lost = 16 * arctan(5) - 4 * arctan(239), 32 * PLACES
    return math.isqrt(2 * (pi - lost) * UNIT), math.isqrt(2 * (pi + lost) * UNIT) + 1


def tweedie(z: WholeInterval, t: list[int], loss: dict[str, Any]) -> tuple[WholeInterval, WholeInterval]:
    """Return them of m^a / a - t m^b / b, a = 2 - p, b = 1 - p, with the limits where one of them is zero.

    The mean m is exp(z), or z^q where the proof has a link, of exponent 1 / q.
    """
    power = Fraction(loss["power"])
    if power < 1 or t[0] < 0:
        raise Refuted("the power is below 1, or a target is negative")
    each = []
    if "link" not in loss:
        if power > 2:
            raise Refuted("the power is not from 1 to 2")
        for a in (2 - power, 1 - power):
            ends = sorted((z[0] * a, z[1] * a))
            own = exp_bounds((math.floor(ends[0]), math.ceil(ends[1])))
            each.append((own, times((math.floor(a * UNIT), math.ceil(a * UNIT)), own)))
    else:
        q = 1 / Fraction(loss["link"])
        if q * (q * (2 - power) - 1) < 0 or q * (q * (1 - power) - 1) > 0:
            raise Refuted("the loss is not convex")
        for k in (q * (2 - power) - 1, q * (1 - power) - 1):
            own = times(fraction(q), powered(z, k))
            each.append((own, divided(times(fraction(abs(k)), magnitude(own)), z)))
            if (k < 0) != (q < 0):
                each[-1] = each[-1][0], minus(each[-1][1])
    (first, bend), (second, other) = each
    count = (t[0], t[0])
    return plus(first, minus(times(count, second))), plus(bend, minus(times(count, other)))


def fraction(value: Fraction) -> WholeInterval:
    """Return bounds on a rational number."""
    return math.floor(value * UNIT), math.ceil(value * UNIT)


def magnitude(a: WholeInterval) -> WholeInterval:
    """Return the absolute values of numbers that have one sign."""
    return a if a[0] >= 0 else minus(a)


def powered(z: WholeInterval, k: Fraction) -> WholeInterval:
    """Return a power of numbers above zero, the exponent a multiple of 1/2."""
    if z[0] <= 0 or 2 * k % 1:
        raise Refuted("an output has no mean, or its power is not a multiple of 1/2")
    found, root = (UNIT, UNIT), (math.isqrt(z[0] * UNIT), math.isqrt(z[1] * UNIT) + 1)
    for _ in range(abs(math.trunc(k))):
        found = times(found, z)
    if k % 1:
        found = times(found, root)
    return found if k >= 0 else divided((UNIT, UNIT), found)


def negative_binomial(z: WholeInterval, t: list[int], loss: dict[str, Any]) -> tuple[WholeInterval, WholeInterval]:
    """Return them of (t + k) ln(k + exp(z)) - t z, k the shape."""
    k, one = real(loss["shape"]), (UNIT, UNIT)
    if k[0] <= 0 or t[0] < 0:
        raise Refuted("the shape is not positive, or a target is negative")
    share = divided(one, plus(one, times(k, exp_bounds(minus(z)))))
    rest = divided(k, plus(k, exp_bounds(z)))
    n = (t[0] + k[0], t[0] + k[0])
    return plus(times(k, share), minus(times((t[0], t[0]), rest))), times(n, times(share, rest))


LOSSES: dict[str, Callable[[WholeInterval, list[int], dict[str, Any]], tuple[WholeInterval, WholeInterval]]] = {
    "squared": squared,
    "binomial": binomial,
    "tweedie": tweedie,
    "negative_binomial": negative_binomial,
}


def derivatives(
    z: list[WholeInterval], t: list[int], loss: dict[str, Any]
) -> tuple[list[WholeInterval], list[list[WholeInterval]]]:
    """Return the slopes of a row by its outputs, and its second derivatives."""
    if loss["name"] != "softmax":
        slope, curvature = LOSSES[loss["name"]](z[0], t, loss)
        return [slope], [[curvature]]
    z = [*z, minus(plus(*z))]
    top = max(one[1] for one in z)
    e = [exp_bounds(plus(one, (-top, -top))) for one in z]
    total = plus(*e)
    p = [divided(one, total) for one in e]
    slopes = [plus(one, (-UNIT, -UNIT)) if k == t[0] // UNIT else one for k, one in enumerate(p)]
    last, rest = p[-1], times(p[-1], plus((UNIT, UNIT), minus(p[-1])))
    second = [
        [
            plus(a if k == j else (0, 0), minus(times(a, b)), times(a, last), times(b, last), rest)
            for j, b in enumerate(p)
        ]
        for k, a in enumerate(p)
    ]
    return [plus(one, minus(slopes[-1])) for one in slopes[:-1]], [row[:-1] for row in second[:-1]]


class ConvexProblem:
    """The objective of a solution, in the coordinates that T gives: theta = c + T z.

    Parameters
    ----------
    rows : the rows; the first column is that of the ones, where there is a constant.
    solution : of the proof: the loss with its parameters, the penalty, the units it acts in, and T ("map").
    intercept : whether there is a constant, which is not penalised.
    outputs : how many outputs a row has, each with a coefficient of every column.
    """

    def __init__(self, rows: ExactRows, solution: dict[str, Any], intercept: bool, outputs: int) -> None:
        self.rows, self.loss, self.outputs = rows, solution["loss"], outputs
        penalties = [Fraction(unit) ** 2 * Fraction(solution["penalty"]) for unit in solution["units"]]
        self.penalties = outputs * [*([Fraction(0)] if intercept else []), *penalties]
        self.coupled = self.loss["name"] == "softmax"
        if any(one < 0 for one in self.penalties):
            raise Refuted("a penalty is negative")
        self.map = [[Fraction(value) for value in row] for row in solution["map"]]
        fine = _places([value for row in solution["map"] for value in row])
        across = list(zip(*([int(value * (1 << fine)) for value in row] for row in self.map), strict=True))
        self.across = [[column[k : k + self.width] for column in across] for k in range(0, len(across), self.width)]
        self.places = rows.places + fine

    @property
    def width(self) -> int:
        """The number of coefficients of one output."""
        return len(self.penalties) // self.outputs

    def mapped(self, row: ExactRow) -> list[list[int]]:
        """Return T'x of each output, in units of 2^-places."""
        return [[_dot(column, row.x) for column in own] for own in self.across]

    def outputs_at(self, theta: list[Fraction], row: ExactRow) -> list[Fraction]:
        """Return the outputs of a row, in UNIT."""
        starts, unit = range(0, len(theta), self.width), Fraction(UNIT, 1 << self.rows.places)
        return [_dot(theta[k : k + self.width], row.x) * unit + row.offset for k in starts]

    def drawn(self, theta: list[Fraction]) -> list[Fraction]:
        """Return the gradient of the penalty, which is also on the last of coupled classes."""
        each = enumerate(zip(self.penalties, theta, strict=True))
        return [
            p * (value + (sum(theta[j % self.width :: self.width]) if self.coupled else 0)) for j, (p, value) in each
        ]

    def with_last(self, values: list[Any]) -> list[Any]:
        """Return numbers of all coefficients, of coupled classes those of the last too."""
        if not self.coupled:
            return values
        return [*values, *(-sum(values[j :: self.width]) for j in range(self.width))]

    def pulled(self, theta: list[Fraction]) -> tuple[list[Fraction], Fraction]:
        """Return T'g near theta, -g the gradient, and a bound on its error."""
        middle, radius = [0] * len(theta), [0] * len(theta)
        for row in self.rows.rows:
            z = [(math.floor(one), math.ceil(one)) for one in self.outputs_at(theta, row)]
            for (low, high), a in zip(derivatives(z, row.t, self.loss)[0], self.mapped(row), strict=True):
                for j, value in enumerate(a):
                    middle[j] -= row.weight * (low + high) * value
                    radius[j] += row.weight * (high - low) * abs(value)
        unit = Fraction(1, 1 << 1 + PLACES + self.rows.weight_places + self.places)
        drawn = [_dot(column, self.drawn(theta)) for column in zip(*self.map, strict=True)]
        return [one * unit - own for one, own in zip(middle, drawn, strict=True)], max(radius) * unit

    def defect(self, theta: list[Fraction], reach: Fraction) -> Fraction:
        """Return a bound on || I - T'HT || wherever || T^-1 (. - theta) || is at most reach."""
        size, unit = len(theta), Fraction(UNIT, 1 << self.places)
        middle, radius = ([[0] * size for _ in theta] for _ in range(2))
        for row in self.rows.rows:
            each = self.mapped(row)
            away = [reach * sum(map(abs, a)) * unit for a in each]
            ends = zip(self.outputs_at(theta, row), away, strict=True)
            z = [(math.floor(here - wide), math.ceil(here + wide)) for here, wide in ends]
            second = derivatives(z, row.t, self.loss)[1]
            for k, a in enumerate(each):
                for q, b in enumerate(each):
                    low, high = second[k][q]
                    total, wide = row.weight * (low + high), row.weight * (high - low)
                    for i in range(size):
                        for j in range(i + 1):
                            product = a[i] * b[j]
                            middle[i][j] += total * product
                            radius[i][j] += wide * abs(product)
        unit = Fraction(1, 1 << 1 + PLACES + self.rows.weight_places + 2 * self.places)
        columns = [list(column) for column in zip(*self.map, strict=True)]
        drawn = [self.drawn(column) for column in columns]
        rows = [Fraction(0)] * size
        for i in range(size):
            for j in range(i + 1):
                value = middle[i][j] * unit + _dot(columns[i], drawn[j])
                error = abs((i == j) - value) + radius[i][j] * unit
                for k in {i, j}:
                    rows[k] += error
        return max(rows)


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _short(value: Fraction) -> Fraction:
    """Return a number near another one, of few bits."""
    shift = KEPT - value.numerator.bit_length() + value.denominator.bit_length()
    scale = Fraction(2) ** shift
    return Fraction(round(value * scale)) / scale


def check(problem: ConvexProblem, centre: list[Fraction], lower: list[float], upper: list[float]) -> None:
    """Check that the minimum is unique and lies between the bounds; raise Refuted where that is not confirmed."""
    columns = [problem.with_last(list(column)) for column in zip(*problem.map, strict=True)]
    lengths = [sum(map(abs, row)) for row in zip(*columns, strict=True)]
    y, lost = problem.pulled(centre)
    reach = 4 * (max(map(abs, y)) + lost) + Fraction(1, 1 << KEPT)
    alpha = problem.defect(centre, reach)
    if alpha >= 1:
        raise Refuted("it is not proved that there is exactly one minimum: T'HT is not near the identity")
    if max(map(abs, y)) + lost > reach * (1 - alpha):
        raise Refuted("it is not proved that there is a minimum near the centre")
    point, moved = centre, Fraction(0)
    for _ in range(STEPS):
        size = max(map(abs, y))
        away = (lost + alpha * size) / (1 - alpha)
        best = problem.with_last([c + _dot(row, y) for c, row in zip(point, problem.map, strict=True)])
        ends = [(value - away * length, value + away * length) for value, length in zip(best, lengths, strict=True)]
        wrong = [j for j, (low, high) in enumerate(ends) if not lower[j] <= low <= high <= upper[j]]
        if not wrong:
            return
        moved += size
        if moved > reach or any(ends[j][1] < lower[j] or ends[j][0] > upper[j] for j in wrong):
            break
        step = [_short(value) for value in y]
        point = [c + _dot(row, step) for c, row in zip(point, problem.map, strict=True)]
        y, lost = problem.pulled(point)
    raise Refuted(f"it is not confirmed that coefficient {wrong[0]} lies within its bounds")


def cell_number(text: str | None, what: str) -> float | None:
    """Return the float that a cell is, None where it is missing."""
    text = "" if text is None else text.strip()
    if text.lower() in MISSING:
        return None
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    try:
        found = float(text)
    except ValueError:
        raise Unreadable(f"{what} is {text!r}, which is no number") from None
    if not math.isfinite(found):
        raise Refuted(f"{what} is {text!r}, which is no finite number")
    return found


def same(text: str, label: str) -> bool:
    """Whether a cell is a label, as text or as a number."""
    if text == label:
        return True
    try:
        return float(text) == float(label)
    except ValueError:
        return text.lower() == label.lower() and label.lower() in ("true", "false")


def read_row(cells: dict[str, Any], proof: dict[str, Any], where: str) -> GivenRow | None:
    """Return the columns, the targets, the weight and the offset of a row; None where one of them is missing."""

    def cell(name: str) -> str:
        if name not in cells:
            raise Unreadable(f"the table has no column {name!r}")
        return str(cells[name] or "").strip()

    x = []
    for factors in proof["columns"]:
        value: float | None = 1.0
        for factor in factors:
            text = cell(factor["column"])
            if "level" in factor:
                own = None if text.lower() in MISSING else float(same(text, factor["level"]))
            else:
                own = cell_number(text, f"{where}, {factor['column']}")
            value = None if value is None or own is None else value * own
        x.append(value)
    weight = 1.0 if proof["weight"] is None else cell_number(cell(proof["weight"]), f"{where}, {proof['weight']}")
    offset = 0.0 if proof["offset"] is None else cell_number(cell(proof["offset"]), f"{where}, {proof['offset']}")
    if proof["classes"] is None:
        t = [cell_number(cell(name), f"{where}, {name}") for name in proof["targets"]]
    else:
        label = cell(proof["targets"][0])
        at = [k for k, one in enumerate(proof["classes"]) if same(label, one)]
        if label.lower() in MISSING and not at:
            return None
        if not at:
            raise Unreadable(f"{where}: {label!r} is none of the classes")
        t = proof["codes"][at[0]]
        if weight is not None and proof["class_weights"] is not None:
            weight *= proof["class_weights"][at[0]]
    if weight is None or offset is None or None in x or None in t:
        return None
    if weight < 0:
        raise Refuted(f"{where}: the weight is negative")
    return x, t, weight, offset  # type: ignore[return-value]


def table_rows(table: Iterator[dict[str, Any]], proof: dict[str, Any]) -> ExactRows:
    """Return the rows that the proof is about."""
    found = []
    for i, cells in enumerate(table):
        where = f"line {table.line_num}" if isinstance(table, csv.DictReader) else f"row {i}"
        row = read_row(cells, proof, where)
        if row is not None:
            found.append(row)
        elif not proof["drops_rows"]:
            raise Unreadable(f"{where} lacks a value")
    if len(found) != proof["rows"]:
        raise Unreadable(f"the proof is of {proof['rows']} rows, the table has {len(found)}")
    ones = [1.0] if proof["intercept"] else []
    places = _places([value for row in found for value in row[0]])
    heavy = _places([row[2] for row in found])
    rows = [
        ExactRow(
            [int(Fraction(value) * (1 << places)) for value in ones + x],
            [int(Fraction(value) * UNIT) for value in t],
            int(Fraction(weight) * (1 << heavy)),
            int(Fraction(offset) * UNIT),
        )
        for x, t, weight, offset in found
    ]
    return ExactRows(rows, places, heavy)


def _places(values: Sequence[float]) -> int:
    return max((Fraction(value).denominator.bit_length() - 1 for value in values), default=0)


def verify(proof: dict[str, Any], table: Iterator[dict[str, Any]]) -> int:
    """Check a proof against the rows of a table; return how many rows there are, raise Refuted where it fails."""
    try:
        rows, intercept = table_rows(table, proof), bool(proof["intercept"])
        bounds = list(zip(proof["lower"], proof["upper"], strict=True))
        if any(not low[0] <= 0 <= high[0] for low, high in bounds if not intercept):
            raise Refuted("the constant is not zero, and the model has none")
        several = proof["solutions"][0]["loss"]["name"] == "softmax"
        if len(proof["solutions"]) != (1 if several else len(bounds)):
            raise Refuted("there is not one solution for each row of bounds")
        for k, solution in enumerate(proof["solutions"]):
            given = bounds if several else bounds[k : k + 1]
            own = rows if len(proof["solutions"]) == 1 else _of_target(rows, k)
            problem = ConvexProblem(own, solution, intercept, len(given) - several)
            centre = [Fraction(hi) + Fraction(lo) for hi, lo in solution["centre"]]
            sides = [[value for pair in given for value in pair[side][not intercept :]] for side in range(2)]
            each = len(problem.with_last(centre))
            if not (
                len(problem.map) == len(centre) == len(problem.penalties) and len(sides[0]) == len(sides[1]) == each
            ):
                raise Refuted("the proof has not one number for each coefficient")
            check(problem, centre, *sides)
    except (KeyError, IndexError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise error if isinstance(error, Refuted) else Refuted(f"the proof is not well-formed: {error!r}") from error
    return len(rows.rows)


def _of_target(rows: ExactRows, k: int) -> ExactRows:
    return rows._replace(rows=[row._replace(t=row.t[k : k + 1]) for row in rows.rows])


def load_proof(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the proof of a file."""
    with open(path, encoding="utf-8") as file:
        try:
            proof = json.load(file)
        except ValueError as error:
            raise Refuted(f"{path} is no proof: {error}") from error
    if not isinstance(proof, dict) or proof.get("format") != "adaline proof 1":
        raise Refuted(f"{path} is no proof of this format")
    return proof


def verify_files(path: str | PathLike[str], data: str | PathLike[str]) -> tuple[dict[str, Any], int]:
    """Check the proof of a file against a CSV file with a heading; return it, and the number of rows."""
    proof = load_proof(path)
    with open(data, encoding="utf-8-sig", newline="") as file:
        return proof, verify(proof, csv.DictReader(file))


if __name__ == "__main__":
    print("verified:", verify_files(*sys.argv[1:])[1], "rows")
