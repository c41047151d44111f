"""Steps with a size of their own for every coordinate, in the units of that coordinate, for sparse rows.

    s_j = max |x_j| so far,   x' = x / s,   z_k = w_k.x,   g_k = the derivative of the loss of the row by z_k
    G_jk += weight g_k^2 x'_j^2,   N += weight,   Q += weight x'.x',   m = sqrt(N / Q)
    w_jk += m u_k x'_j / (s_j sqrt(G_jk)),   which moves z_k by q_k u_k,   q_k = m sum_j x'_j^2 / sqrt(G_jk)

AdaGrad in normalised units: columns that are rare or small take large steps. Where s_j grows, w_j shrinks in proportion
and G_j by the square. (A row that is already certain, |g| below 2^-24, changes nothing, not even s: rows with the
largest numbers are often certain.) Results do not depend on the units of the columns: multiplying a column by a power
of two changes no bit of the predictions.

u_k is the distance moved along the flow dz/dh = -q_k g(z) in time h = eta weight, eta = 1/2. So no step passes its
target, and a weight of 2 is nearly the same as two copies of the row in succession: z moves 0.83 times as far at the
first row, and 0.98 to 1 times as far after a hundred rows, since G adds both copies at once.

    squared            u = (t - z) (1 - exp(-h q)) / q,   where eta is times the largest |t| so far
    logistic           y z + exp(y z) grows by h q,   y = 1 where t > 0, else -1
    softmax            u = -h g / (1 + h q p (1 - p)), one implicit step

For sigmoids, e = t - phi(z), with the slope phi' (logistic: 4 phi', so that both slopes are 1 at zero). The squared
error of a misclassified row hardly changes with z, and most rows are misclassified at first. So the first epoch follows
the log likelihood, g = -e, and later epochs the squared error:

    first epoch        as logistic, with eta = 1; tanh is that of 2 z, so that its eta is 1/2
    later ones         g = -e slope,   u = -h g / (1 + h q phi' slope), one implicit step

(In one pass over four pairs of newsgroups the mean of e^2 is 1.01 to 1.16 times that of Vowpal Wabbit's squared loss
with steps of the squared error, 0.70 to 0.89 times with these. Vowpal Wabbit keeps outputs of the squared loss between
the least and the largest target so far; without these limits its loss is that of `squared` here, to five digits.)

With `penalty` or `l1` (on the weights in the units of the columns, not on the intercept) the weights after a row
minimise the sum of three terms: all gradients so far, quadratics about earlier weights, and penalty/2 ||w||^2 + l1 |w|.
The penalties count once in the first epoch and e times in the e-th (FTRL-proximal): the sums over e epochs are those of
e objectives, so that many epochs approach the minimum. Weights are exactly zero where l1 outweighs the rows. d is what
the penalties hold back:

    H = sqrt(G) / (eta m),   a = d + (u / eta) x' + H s w,   s w = soft(a, e l1 / s) / (H + e penalty / s^2)
    d = a - H s w

With `average` the weights that predict are the mean of those after each row, which a step does not see. It is kept by
sums S of the coordinates that a row visits: before row n S += (n - 1 - last) w, after it S += w and last = n; the mean
after N rows is (S + (N - last) w) / N.

Only the coordinates of a row that are not zero are visited: a row costs as many steps as it has numbers, whatever the
number of columns. The state of a coordinate lies together: s, then w, G (and d, and S) of each output, and last.

References: J. Duchi, E. Hazan, Y. Singer, JMLR 12 (2011), 2121-2159; S. Ross, P. Mineiro, J. Langford, UAI (2013),
537-545; N. Karampatziakis, J. Langford, UAI (2011), 392-399; H. B. McMahan, AISTATS (2011), 525-533; B. T. Polyak,
A. B. Juditsky, SIAM J. Control Optim. 30 (1992), 838-855.

In C++: `native/coordinates.cpp`.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, copy_at_once
from adaline.attributes import give_attributes, own_attributes
from adaline.block import Shape
from adaline.forms import Count, FiniteNumber
from adaline.kernels import native
from adaline.parameters import ZERO_OR_MORE, OneOf
from adaline.scans.base import Scan, aligned_zeros, first_theta
from adaline.scans.schedules import Schedule
from adaline.scans.sigmoid import sigmoid_values
from adaline.scans.softmax import softmax_outcome
from adaline.scans.tally import CURVES, HOLD, REACH, REPLACED, SIZE, SPARE, STATUS, RowOutcome

LOSSES = ("logistic", "squared", "softmax", "sigmoid_squared", "tanh_squared")
DEFAULT_RATE = 0.5  # eta; doubling it lets steps follow the targets of single rows more closely
LEAST_SCALE = 2.0**-900  # least magnitude that sets the scale of a column; the squares of smaller ones underflow
# h q below which a step is the first term of the flow; 10x larger makes steps inexact by a share of 1e-8
FIRST_TERM = 1e-9
NO_CHANGE = 2.0**-48  # squared derivative of a row below which it changes nothing; 10x larger skips more rows
WIDTHS = {"tanh_squared": 2.0, "sigmoid_squared": 1.0}
"""The difference of the targets of a sigmoid: it is the logistic function of so many times z."""
STEEPNESS = {"tanh_squared": 1.0, "sigmoid_squared": 4.0}
"""One over the slope of a sigmoid at zero."""


class CoordinateRule(Scan):
    """The rule for a loss: targets are numbers ("squared"), 0 and 1 ("logistic", "sigmoid_squared"), +-1
    ("tanh_squared"), or class indices ("softmax").

    Examples
    --------
    >>> scan = CoordinateRule.start(Shape(2, 1))
    >>> for x, t in (([1.0, 0.0], 1.0), ([0.0, 1e9], 0.0), ([1.0, 0.0], 1.0)):
    ...     z = scan.learn(np.array(x), t)
    >>> (scan.theta * [1, 1, 1e9]).round(3)
    array([[ 0.215,  0.499, -0.31 ]])
    """

    default_rate: ClassVar[float] = DEFAULT_RATE
    features: Count
    outputs: Count
    loss: str
    penalty: FiniteNumber
    l1: FiniteNumber
    average: bool

    def __init__(
        self,
        features: int,
        outputs: int,
        intercept: bool = True,
        loss: str = "logistic",
        penalty: float = 0.0,
        l1: float = 0.0,
        average: bool = False,
    ) -> None:
        OneOf(*LOSSES).check("loss", loss)
        ZERO_OR_MORE.check("penalty", penalty)
        ZERO_OR_MORE.check("l1", l1)
        self.loss, self.penalty, self.l1, self.average = loss, float(penalty), float(l1), average
        self.schedule, self.intercept = Schedule(DEFAULT_RATE), intercept
        self.features, self.outputs = features, outputs
        self.root = aligned_zeros((1, 1 + self.features, -(-(self._last + average) // 4) * 4))
        self.numbers = np.zeros(SIZE)
        self.good, self.lag = np.zeros((0, 0)), np.zeros((0, 0))
        self._native = None
        self.begin()

    @classmethod
    def start(
        cls,
        shape: Shape,
        *,
        loss: str = "logistic",
        classes: int | None = None,
        intercept: bool = True,
        init: Any = None,
        **config: Any,
    ) -> Self:
        """Return the scan before its first row; `classes` is that of softmax."""
        outputs = classes if loss == "softmax" and classes is not None else shape.targets
        scan = cls(shape.features, outputs, intercept, loss, **config)
        if init is not None:  # zeros are not written: memory is taken by the coordinates that come
            scan.theta[:] = first_theta(Shape(shape.features, outputs), init)
        return scan

    @property
    def classes(self) -> bool:  # type: ignore[override]
        """Whether the target is the index of a class: the rule has a softmax."""
        return self.loss == "softmax"

    @property
    def theta(self) -> Array:  # type: ignore[override]
        """The weights that steps are taken from, (K, 1 + D): a view of the state."""
        return self.root[0, : 1 + self.features, 1 : self._last : self.pace].T

    def weights(self, columns: slice | NDArray[np.int64]) -> Array:
        """Return a copy of columns of the weights that predict, made while no other thread can take a row."""
        while True:
            steps = self.steps
            still = copy_at_once(self.root[:, : 1 + self.features][:, columns])[0]
            if self.steps == steps:
                break
        theta: Array = still[:, 1 : self._last : self.pace].T.copy()
        if self.average and steps:
            sums, last = still[:, self.pace : self._last : self.pace].T, still[:, self._last]
            theta = (sums + (steps - last) * theta) / steps
        return theta

    @property
    def pace(self) -> int:
        """Numbers that a coordinate has for each output."""
        return 2 + self._held + self.average

    @property
    def _held(self) -> bool:
        """Whether there is a d."""
        return bool(self.penalty or self.l1)

    @property
    def _last(self) -> int:
        """The index of `last` among the numbers of a coordinate."""
        return 1 + self.outputs * self.pace

    @property
    def rule(self) -> str:
        """The loss."""
        return f"coordinate_{self.loss}"

    @property
    def settings(self) -> dict[str, Any]:
        """The intercept, the loss, the penalties, and whether weights are averaged."""
        own = {"loss": self.loss, "penalty": self.penalty, "l1": self.l1, "average": self.average}
        return super().settings | own

    def begin(self, again: bool = False) -> None:
        """Reset the tallies for a new epoch; where its rows are taken `again`, penalties count once more."""
        super().begin()
        self.numbers[HOLD] += again

    def grown(self, columns: int) -> Self:
        """Return the scan with `columns` columns, at least as many as so far; it replaces this one.

        Both share their state where there is room; where not, there is room for as many again.
        """
        other = type(self).__new__(type(self))
        give_attributes(other, own_attributes(self))
        if 1 + columns > self.root.shape[1]:
            status = self.numbers[STATUS]
            self.numbers[STATUS] += REPLACED  # first: a row that comes now waits for the other one
            other.numbers = self.numbers.copy()
            other.numbers[STATUS] = status
            other.root = aligned_zeros((1, 1 + 2 * columns, self.root.shape[2]))
            other.root[:, : 1 + self.features] = self.root[:, : 1 + self.features]
        other.features, other._native = columns, None
        return other

    def step(self, x: Array, t: Array, eta: float, square: float) -> RowOutcome:
        """Take the step of the row's coordinates that are not zero; eta is rate times weight."""
        at, weight = np.flatnonzero(x), eta / DEFAULT_RATE
        s = self.root[0, at, 0]
        w, G = (self.root[0, at, k : self._last : self.pace] for k in (1, 2))
        z = self.theta @ x
        g, outcome = self._slopes(z, t)
        width = 2.0 if self.loss == "sigmoid_squared" else 1.0
        if self.loss == "squared":
            self.numbers[REACH] = max(self.numbers[REACH], float((t * t).max()))
            width = math.sqrt(self.numbers[REACH])
        if not math.isfinite(outcome.loss) or not g @ g > (0.0 if self.loss == "squared" else NO_CHANGE):
            return outcome
        self._sum_up(at, self.steps)
        x = x[at]
        size = np.maximum(np.abs(x), LEAST_SCALE)
        ratio = np.where((size > s) & (s > 0), s / size, 1.0)[:, None]
        w, G, s = w * ratio, G * ratio**2, np.maximum(s, size)
        part = x / s
        G = G + weight * np.outer(part**2, g**2)
        root = np.sqrt(G)
        factor = np.divide((part / s)[:, None], root, out=np.zeros_like(root), where=G > 0)
        self.numbers[SPARE] += weight
        self.numbers[CURVES] += weight * float(part @ part)
        m = math.sqrt(self.numbers[SPARE] / self.numbers[CURVES]) if self.numbers[CURVES] > 0 else 1.0
        u = self._steps(z, g, t, eta * width, m * (x @ factor))
        free = np.full(len(at), not self._held) | (at == 0)
        new = w + m * u * factor
        if self._held:
            d = self.root[0, at, 3 : self._last : self.pace] * ratio
            H = root / (DEFAULT_RATE * m)
            a = d + np.outer(part, u / DEFAULT_RATE) + H * w * s[:, None]
            times = 1 + self.numbers[HOLD]
            soft = np.copysign(np.maximum(np.abs(a) - times * self.l1 / s[:, None], 0.0), a)
            held = soft / (H + (times * self.penalty / s / s)[:, None])
            new = np.where(free[:, None], new, held / s[:, None])
            self.root[0, at, 3 : self._last : self.pace] = np.where(free[:, None], d, a - H * held)
        self.root[0, at, 0] = s
        for k, values in ((1, new), (2, G)):
            self.root[0, at, k : self._last : self.pace] = values
        self._sum_up(at, self.steps + 1)
        return outcome

    def _sum_up(self, at: NDArray[np.intp], n: int) -> None:
        """Take the weights of coordinates into their sums, for the rows since `last` up to and including row n."""
        if self.average:
            last = self.root[0, at, self._last][:, None]
            self.root[0, at, self.pace : self._last : self.pace] += (n - last) * self.theta.T[at]
            self.root[0, at, self._last] = n

    def _slopes(self, z: Array, t: Array) -> tuple[Array, RowOutcome]:
        """Return the derivative of the loss by each output, (K,), and the outcome of the row."""
        if self.loss == "softmax":
            p = np.exp(z - z.max())
            i = int(t[0])
            return p / p.sum() - (np.arange(len(z)) == i), softmax_outcome(z, i)
        if self.loss == "logistic":
            y = np.where(t > 0, 1.0, -1.0)
            small = np.exp(-np.abs(z))
            loss = float((np.log1p(small) + np.maximum(-y * z, 0.0)).sum())
            g = -y * np.where(y * z >= 0, small, 1.0) / (1 + small)
            return g, RowOutcome(z, loss, 0.0, int((y * z <= 0).sum()), len(z), float((y * z).min()))
        if self.loss == "squared":
            return z - t, RowOutcome.of_squares(z, t - z, t * z)
        phi, slope, sign = sigmoid_values(self._activation, z, t)
        outcome = RowOutcome.of_squares(z, t - phi, sign * z)
        if self._likelihood:
            return phi - np.where(sign > 0, 1.0, 1.0 - WIDTHS[self.loss]), outcome
        return -(t - phi) * slope * STEEPNESS[self.loss], outcome

    def _steps(self, z: Array, g: Array, t: Array, h: float, q: Array) -> Array:
        """Return u of each output, (K,)."""
        small = (g == 0) | (h * q < FIRST_TERM)
        q = np.where(small, 1.0, q)
        if self.loss == "squared":
            u = g * np.expm1(-h * q) / q
        elif self.loss == "softmax":
            p = np.where(g < 0, 1 + g, g)
            u = -h * g / (1 + h * q * p * (1 - p))
        elif self.loss == "logistic" or self._likelihood:
            wide = WIDTHS.get(self.loss, 1.0)
            p = np.where(small, 0.5, np.abs(g) / wide)
            u = -np.copysign(log_steps((1 - p) / p, wide * wide * h * q) / (wide * q), g)
        else:
            slope = sigmoid_values(self._activation, z, t)[1]
            u = -h * g / (1 + h * q * slope * slope * STEEPNESS[self.loss])
        return np.where(small, -h * g, u)

    @property
    def _likelihood(self) -> bool:
        """Whether sigmoids take steps of the log likelihood: in the first epoch."""
        return bool(self.numbers[HOLD] == 0)

    @property
    def _activation(self) -> str:
        return "tanh" if self.loss == "tanh_squared" else "logistic"

    def _core(self) -> Any:
        if self._native is None and native is not None:
            self._native = native.CoordinateScan(
                native.Loss[self.loss],
                self.root,
                self.numbers,
                self.features,
                self.outputs,
                self._held,
                self.average,
                self.intercept,
                self.penalty,
                self.l1,
            )
        return self._native

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "root": self.root[:, : 1 + self.features]}


def log_steps(E: Array, h: Array) -> Array:
    """Return d, (K,), that solves d + E (e^d - 1) = h: a step of Halley from above, three of them for a large h."""
    d = 2 * h / (1 + E + np.sqrt((1 + E) ** 2 + 2 * E * h))
    d = np.where(h > E, np.minimum(d, np.log1p(h / E)), d)
    for more_than in (0.0, 1.0, 1.0):
        more = np.expm1(d)
        bend = E * (more + 1)
        slope, f = 1 + bend, d + E * more - h
        d = np.where(h > more_than, d - 2 * f * slope / (2 * slope * slope - f * bend), d)
    return np.maximum(d, 0.0)
