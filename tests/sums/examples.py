"""Every sum with all that its laws need: configurations, parameters, and a reading free of shift and scale.

The rows are the same numbers in every layout: float32 holds them exactly, and three in ten are zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline import losses, sums
from adaline.arrays import host
from adaline.block import Block, Shape
from adaline.enclosures.preconditioner import Preconditioner, Stage
from adaline.losses import CustomLoss, Gamma, Huber, Logistic, Loss, Offset, Poisson, Softmax
from adaline.losses.ordinal import CUMULATIVE_LINKS, Ordinal
from adaline.solvers.epochs.stochastic import Linear
from adaline.sources import SparseSource
from adaline.sums import Point, Sum, View
from adaline.sums.ranks import key_of
from tests.layouts import lay

Array = NDArray[Any]

FEATURES, TARGETS = 4, 2
SHAPE = Shape(FEATURES, TARGETS)
DENSE = ("float64", "float32", "columns", "strided")
SPARSE = ("csr", "csr32")

KERNELS: dict[str, Callable[[], Loss]] = {  # of losses, by name
    **{name: cls for name, cls in losses.LOSSES.items() if cls().kernel is not None},
    "negative_binomial": lambda: losses.loss_of(losses.NegativeBinomial(1.5)),
}

exact = np.vectorize(Fraction, otypes=[object])


class Reading(NamedTuple):
    """Numbers of a sum in raw units, and the size in which their rounding errors are measured."""

    value: Array
    size: Array


def rows_of(n: int, layout: str = "float64", seed: int = 0, weights: bool = True) -> Block:
    """Return n rows of unlike columns, with whole-number weights from 0 to 3 or without."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, FEATURES)) * [1.0, 1e-3, 300.0, 5.0] + [100.0, 0.0, -1000.0, 2.0]
    x = np.where(rng.random(x.shape) < 0.3, 0.0, x).astype(np.float32).astype(np.float64)
    t = rng.normal(size=(n, TARGETS)) * [1.0, 1e4] + [3.0, 0.0]
    return scaled(Block(lay(x, layout), t, rng.integers(0, 4, n).astype(np.float64) if weights else None))


def scaled(block: Block) -> Block:
    """Return a block; one of sparse rows with the column scales that their source would know."""
    if not sparse.issparse(block.x):
        return block
    return Block(block.x, block.t, block.weight, SparseSource(block.x, block.t).exponent)


def cut(block: Block, rows: Any) -> Block:
    """Return some rows of a block, given as a slice or as indices."""
    weight = None if block.weight is None else block.weight[rows]
    return Block(block.x[rows], block.t[rows], weight, block.exponent)


@dataclass(frozen=True)
class Example:
    """A sum with a configuration.

    theta are parameters for rows of SHAPE, any will do for the laws; `coded` makes of the targets what the sum reads
    in them: class indices, groups.
    """

    kind: type[Sum]
    reading: Callable[[Any], dict[str, Reading]]
    rounding: float
    config: Mapping[str, Any] = field(default_factory=dict)
    theta: Any = None
    layouts: tuple[str, ...] = DENSE + SPARSE
    coded: Callable[[Array], Array] = lambda t: t

    def __str__(self) -> str:
        point = self.theta.point if isinstance(self.theta, sums.Thinning) else self.theta
        loss = [point.loss.name] if isinstance(point, Point) else []
        return "-".join([self.kind.__name__, *loss, *(f"{key}={value}" for key, value in self.config.items())])

    def zero(self) -> Any:
        return self.kind.zero(SHAPE, **self.config)

    def rows(self, n: int, layout: str = "float64", seed: int = 0, weights: bool = True) -> Block:
        """Return n rows that the sum can read."""
        block = rows_of(n, layout, seed, weights)
        return scaled(Block(block.x, self.coded(block.t), block.weight))

    def over(self, *blocks: Block) -> Any:
        """Return the sum over blocks, each merged in turn."""
        out = self.zero()
        for block in blocks:
            out.add(block, self.theta)
        return out

    def assert_close(self, a: Any, b: Any, rounding: float | None = None) -> None:
        """Assert that two sums say the same, up to rounding."""
        theirs = self.reading(b)
        for what, mine in self.reading(a).items():
            bound = (self.rounding if rounding is None else rounding) * np.maximum(mine.size, theirs[what].size)
            error = np.abs(mine.value - theirs[what].value)
            assert np.all(error <= bound), f"{what} of {self} is off by {error} where {bound} is allowed"


# --- readings ------------------------------------------------------------------------------------------------------

OWN = None  # errors are measured in the numbers themselves
UNITS = np.array([1.0, 100.0, 1e-3, 1000.0, 5.0])  # of the intercept and the columns


def read(**sizes: Any) -> Callable[[Any], dict[str, Reading]]:
    """Return a reading of attributes; terms of order one, times up to 3 rows' weights, have a size of 1000."""

    def reading(s: Any) -> dict[str, Reading]:
        values = {name: np.asarray(getattr(s, name)) for name in sizes}
        return {k: Reading(v, np.abs(v) if sizes[k] is OWN else np.asarray(sizes[k])) for k, v in values.items()}

    return reading


SUMS_OF_ONES = read(sums=1000.0)
read_mixture = read(value=1e4, moments=1000.0)
read_machine = read(value=1000.0, gradient=1000 * np.tile(UNITS, TARGETS))


ANY_MAP = sums.RowMap(
    np.array([7.0, -9.0, 9.0, 3.0, 0.0, 14.0]), np.array([0.7, 0.0, -1.9, 0.2]), np.eye(4) + 0.5 * np.eye(4, k=1)
)


KNOWN_SCORE = (
    sums.LinkedPoint(Poisson().linked, True, np.full(5, 0.1), np.full(5, 1e-18), ANY_MAP.exponent),
    Preconditioner((Stage(ANY_MAP.shift, ANY_MAP.matrix),), 0.5, 0.25),
)
KNOWN_SOFTMAX = (
    sums.SoftmaxPoint(np.full((2, 5), 0.1), np.full((2, 5), 1e-18), ANY_MAP.exponent),
    KNOWN_SCORE[1],
)


def read_moments(m: Any) -> dict[str, Reading]:
    """Return W, the mean or the sum, and S."""
    e = m.exponent.astype(np.int64)
    second = np.ldexp(m.second, e[:, None] + e)
    width, one = np.sqrt(np.diagonal(second)), np.sqrt(max(m.weight, 1.0))
    first = m.first_hi + m.first_lo if m.centred else np.ldexp(m.first_hi + m.first_lo, e)
    return {
        "weight": Reading(np.array(m.weight), np.array(m.weight)),
        "first": Reading(first, width / one if m.centred else width * one),
        "second": Reading(second, reach(second)),
    }


def read_classes(m: Any) -> dict[str, Reading]:
    """Return the moments of every class."""
    return {f"{what} of class {k}": r for k, part in enumerate(m.parts) for what, r in read_moments(part).items()}


def read_triangle(t: Any) -> dict[str, Reading]:
    """Return what the moments would be: R below the row of ones is a root of S."""
    e, ones = t.exponent.astype(np.int64), int(t.centred)
    r = t.r[ones:, ones:]
    gram = np.ldexp(r.T @ r, e[:, None] + e)
    if not t.centred:
        return {"second": Reading(gram, reach(gram))}
    weight, mean = np.zeros(1), np.zeros(len(e))
    if len(t.r):
        weight, mean = t.r[0, :1] ** 2, t.shift + np.ldexp(t.r[0, 1:] / t.r[0, 0], e)
    size = np.sqrt(np.diagonal(gram) / np.maximum(weight, 1e-300))
    return {"weight": Reading(weight, weight), "first": Reading(mean, size), "second": Reading(gram, reach(gram))}


def reach(gram: Array) -> Array:
    """Return the bounds of the entries of a Gram matrix by Cauchy's inequality."""
    width = np.sqrt(np.diagonal(gram))
    return np.outer(width, width)


def read_residual(r: Any) -> dict[str, Reading]:
    """Return the sums as fractions, hi + lo exactly."""
    return {"sums": Reading(exact(r.sums[..., 0]) + exact(r.sums[..., 1]), np.array(1000.0))}


def read_scores(s: Any) -> dict[str, Reading]:
    """Return G, the squares and the smallest 1 - h."""
    return {"meat": Reading(s.meat, np.stack([reach(g) for g in s.meat])), **read(squares=OWN, rest=1.0)(s)}


def read_groups(s: Any) -> dict[str, Reading]:
    """Return the scores of every group that has any, against those of all."""
    size = np.sqrt((s.scores**2).sum(axis=0, keepdims=True)) + np.zeros(s.scores.shape)
    return {"scores": Reading(s.scores, size), **read(groups=0.0, squares=OWN)(s)}


def read_spread(s: Any) -> dict[str, Reading]:
    """Return weight, means, squares and reach, means against the spread of their column."""
    width = np.hypot(s.deviation, 1e-3 * s.largest)
    return read(weight=OWN, mean=width, second=s.weight * width**2, largest=0.0)(s)


def read_twofold(s: Any) -> dict[str, Reading]:
    """Return the sums, gradients as fractions, and H of a triangle."""
    matrix, energy = s.matrix if s.root == "gram" else s.matrix.T @ s.matrix, np.minimum(s.energy, 1e300)
    return {
        "gradient": Reading(exact(s.gradient[..., 0]) + exact(s.gradient[..., 1]), np.array(1e4 * 2.0**-52)),
        "energy": Reading(energy, energy),
        "matrix": Reading(matrix, np.array(1000.0)),
        **read(value=1000.0, noise=OWN)(s),
    }


def read_change(s: Any) -> dict[str, Reading]:
    """Return both bounds."""
    return read(**dict.fromkeys(vars(s), OWN))(s)


def read_joint(s: Any) -> dict[str, Reading]:
    """Return what the parts say."""
    return read_spread(s.parts[0]) | SUMS_OF_ONES(s.parts[1])


def read_targets(s: Any) -> dict[str, Reading]:
    """Return the sums, and the largest target exactly."""
    return {**SUMS_OF_ONES(s), "largest": Reading(np.exp(s.largest), np.zeros(1))}


def read_ranks(s: Any) -> dict[str, Reading]:
    """Return cells, their totals against those of all rows, and the ends, exactly."""
    size, whole = s.below + s.above + s.totals.sum(axis=0), ("keys", "ends")
    return {
        **read(low=0.0, high=0.0, shift=0.0)(s),
        **{name: Reading(getattr(s, name).astype(object), np.zeros(1)) for name in whole},
        "totals": Reading(s.totals, size),
        "outside": Reading(np.stack([s.below, s.above]), size),
    }


# --- targets -------------------------------------------------------------------------------------------------------


def in_units(t: Array) -> Array:
    """Return targets of order one."""
    return np.asarray((t - [3.0, 0.0]) / [1.0, 1e4])


def in_amounts(t: Array) -> Array:
    """Return amounts above zero."""
    return np.asarray(np.abs(in_units(t)) + 0.125)


def in_two(t: Array) -> Array:
    """Return targets 0 and 1."""
    return np.asarray((in_units(t) > 0).astype(np.float64))


def in_signs(t: Array) -> Array:
    """Return targets +-1."""
    return 2.0 * in_two(t) - 1.0


def in_three_classes(t: Array) -> Array:
    """Return class indices of either target: 2 is rare."""
    return np.digitize(t, [3.0, 4.2]).astype(np.float64)


def in_class(k: int) -> Callable[[Array], Array]:
    """Return what makes indices of k classes of the first target."""
    return lambda t: np.floor(np.abs(t[:, :1]) * 10) % k


def in_five_groups(t: Array) -> Array:
    """Return the targets with the last turned into the number of a group."""
    return np.column_stack([t[:, :-1], np.floor(np.abs(t[:, -1:]) / 5e3) * 10 - 7])


def with_offset(t: Array) -> Array:
    """Return amounts above zero, and offsets."""
    return in_amounts(t) - [0.0, 1.0]


# --- parameters ----------------------------------------------------------------------------------------------------

VIEW = View(np.ldexp(1.0, [-7, 9, -10, -3]), np.array([-0.75, 0.125, 1.0, -0.25]))  # of unit spread about zero
EXPONENT = np.array([7.0, -8.0, 11.0, 5.0, 2.0, 15.0])
EVERY_ROW = np.full(TARGETS, 1e-300)


def any_point(loss: Loss, outputs: int = TARGETS) -> Point:
    """Return a point whose outputs are of order one, on both sides of zero."""
    theta, direction = np.random.default_rng(4).normal(size=(2, outputs, 1 + FEATURES))
    return Point(loss, theta, VIEW, direction)


def twofold_point(loss: Loss, outputs: int = 1) -> sums.TwofoldPoint:
    """Return a point whose weights have a second part."""
    theta = any_point(loss, outputs).theta
    return sums.TwofoldPoint(loss, theta, theta * 2.0**-55, VIEW)


def ordinal_point(link: str) -> Point:
    """Return a point of three ordered classes, with a direction of both thresholds and the columns."""
    point = any_point(Ordinal(CUMULATIVE_LINKS[link], np.array([-0.5, 0.75])), 1)
    point.theta[:, 0] = 0.0
    return point._replace(direction=np.column_stack([[0.25], np.asarray(point.direction)]))


def family_point(loss: Loss) -> sums.FamilyPoint:
    """Return where sums of a family with an offset are taken."""
    likelihood = Offset(loss).linked
    assert likelihood is not None
    return sums.FamilyPoint(likelihood, any_point(loss).theta[:1], VIEW, 0.5)


def small_ball(loss: Loss) -> sums.Ball:
    """Return a ball about such a point in which outputs change by a few hundredths."""
    return sums.Ball(twofold_point(loss), np.eye(1 + FEATURES) / 8, 0.01)


def any_plane(size: float = 1.0) -> sums.RegressionPlane:
    """Return a plane whose outputs are of order one."""
    return sums.RegressionPlane(size * any_point(Huber(0.5), 1).theta, VIEW)


class SecondTarget:
    """What `Ranks` reads of a row."""

    def read(self, block: Block) -> Array:
        return host(block.t)[:, 1]


def any_prior() -> sums.Prior:
    """Return weights whose outputs are of order one, and a root that leaves leverages below one."""
    rng = np.random.default_rng(4)
    return sums.Prior(rng.normal(size=(1, 1 + FEATURES)), VIEW, 0.2 * rng.normal(size=(1 + FEATURES, FEATURES)))


def any_centres() -> sums.Centres:
    """Return three points among the rows."""
    return sums.Centres(np.random.default_rng(4).normal(size=(3, FEATURES)), VIEW)


def any_components(whole: bool) -> sums.Components:
    """Return three wide densities among the rows, one of them heavier."""
    rng = np.random.default_rng(5)
    factors = np.triu(0.3 * rng.normal(size=(3, FEATURES, FEATURES))) + np.eye(FEATURES)
    factors = factors if whole else rng.uniform(0.5, 2.0, (3, FEATURES))
    return sums.Components(np.log([0.5, 0.3, 0.2]), rng.normal(size=(3, FEATURES)), factors, VIEW)


def any_theta() -> sums.Theta:
    """Return coefficients with a trailing part, for scaled columns of order one."""
    rng = np.random.default_rng(1)
    hi = rng.normal(size=(TARGETS, 1 + FEATURES))
    return sums.Theta(hi, hi * 2.0**-55 * rng.normal(size=hi.shape), EXPONENT)


def any_ridges() -> sums.Ridges:
    """Return three fits of each target that leave no row a leverage near one."""
    rng = np.random.default_rng(2)
    mean, eigenvalues = np.array([70.0, 0.0, -700.0, 1.5, 3.0, 0.0]), np.array([90.0, 60.0, 30.0])
    rotation, penalties = rng.normal(size=(FEATURES, 3)), np.array([[0.1, 1.0, 10.0], [0.3, 3.0, 30.0]])
    return sums.Ridges(mean, EXPONENT, rotation, eigenvalues, rng.normal(size=(TARGETS, 3)), penalties, 0.01)


def any_design(targets: int, power: int = 0) -> sums.FittedDesign:
    """Return a fit that leaves no row a leverage near one."""
    rng, mean = np.random.default_rng(3), any_ridges().mean
    rotation, offset = 0.1 * rng.normal(size=(FEATURES, FEATURES)), 0.1 * rng.normal(size=targets)
    slopes = any_theta().hi[:targets, 1:]
    return sums.FittedDesign(mean, mean * 2.0**-54, EXPONENT, rotation, slopes, offset, 0.1, power)


def any_likelihood(loss: Loss, outputs: int, power: float) -> sums.FittedLikelihood:
    """Return a fit of a likelihood that leaves no row a leverage near one."""
    rng = np.random.default_rng(4)
    size = np.exp2(-np.concatenate([[0.0], EXPONENT[:FEATURES]]))
    theta = 0.1 * rng.normal(size=(outputs, 1 + FEATURES)) * size
    root = 0.02 * rng.normal(size=(outputs, 1 + FEATURES, 4)) * size[:, None]
    return sums.FittedLikelihood(loss, theta, root, power=power)


PSEUDO_HUBER = CustomLoss(
    lambda z, t: (1 + (z - t) ** 2) ** 0.5 - 1,
    lambda z, t: (z - t) * (1 + (z - t) ** 2) ** -0.5,
    lambda z, t: (1 + (z - t) ** 2) ** -1.5,
)
LIKELIHOODS: tuple[tuple[Loss, Callable[[Array], Array]], ...] = (
    *((Logistic(), in_two), (losses.Poisson(), in_amounts), (Gamma(), in_amounts), (Huber(0.5), in_units)),
    *((losses.Tukey(2.0), in_units), (losses.Quantile(0.3), in_units), (PSEUDO_HUBER, in_units)),
)
WEIGHTS = any_theta().hi / UNITS  # outputs are of order one, on both sides of zero
CANDIDATES = np.stack([WEIGHTS, -WEIGHTS, 0.1 * WEIGHTS])
CHANGED_PLANE = sums.PlanePoint(any_plane(), Huber(0.5), any_plane(0.1))
MACHINE = sums.MachinePoint(Linear(np.ones(FEATURES), np.zeros(FEATURES), True), losses.TanhSquared(), WEIGHTS)
JOINT = ((sums.Spread, {}), (sums.Objective, {"second": "none"}))
COUPLED = {"outputs": 3, "coupled": True}
SIMPLE: tuple[tuple[type[Sum], Any, dict[str, Any], Any, Any], ...] = (  # reading, configuration, parameters, targets
    (sums.Triangle, read_triangle, {"centred": True}, None, np.asarray),
    (sums.Triangle, read_triangle, {"centred": False}, None, np.asarray),
    (sums.ClassMoments, read_classes, {"centred": False, "classes": 3}, None, in_three_classes),
    (sums.Scores, read_scores, {}, any_design(TARGETS), np.asarray),
    (sums.Scores, read_scores, {"size": 1 + FEATURES}, any_design(TARGETS, power=2), np.asarray),
    (sums.GroupScores, read_groups, {}, any_design(TARGETS - 1), in_five_groups),
    (sums.WrongRows, read(steps=1e3 * UNITS, criterion=1e6, count=OWN, missed=OWN), {}, WEIGHTS, in_signs),
    (sums.WrongRivals, read(sums=[1e6, 1e3]), {}, np.vstack([WEIGHTS, -WEIGHTS[:1]]), in_three_classes),
    (sums.ErrorCounts, read(sums=OWN), {"candidates": 3}, CANDIDATES, in_signs),
    (sums.Clusters, read(sums=1000.0, weight=OWN), {"clusters": 3}, any_centres(), np.asarray),
    *(
        (sums.MixtureMoments, read_mixture, {"components": 3, "whole": whole}, any_components(whole), np.asarray)
        for whole in (True, False)
    ),
    (sums.FarthestRow, read(square=OWN, x=OWN), {}, any_centres(), np.asarray),
    (sums.ResidualTotals, read(sums=1000.0, largest=OWN), {}, CHANGED_PLANE, in_units),
    (sums.Ranks, read_ranks, {}, SecondTarget(), np.asarray),
    (sums.Ranks, read_ranks, {"window": (key_of(3e3), key_of(1.5e4))}, SecondTarget(), np.asarray),
    (sums.FirthScore, SUMS_OF_ONES, {}, any_prior(), in_two),
    (sums.Spread, read_spread, {}, None, np.asarray),
    (sums.ClassWeights, lambda s: {"weights": Reading(s.of(3), s.of(3))}, {}, None, in_class(3)),
    (sums.JointSum, read_joint, {"kinds": JOINT}, (None, any_point(Logistic())), in_two),
    *(
        (kind, SUMS_OF_ONES, config, any_point(loss), coded)
        for kind, config in (
            (sums.Objective, {"second": "none"}),
            (sums.Objective, {"second": "alone"}),
            (sums.HessianProduct, {}),
            (sums.CurvatureDiagonal, {}),
        )
        for loss, coded in LIKELIHOODS
    ),
    *(
        (sums.Objective, SUMS_OF_ONES, {**COUPLED, "second": second}, any_point(Softmax(), 3), in_class(3))
        for second in ("none", "alone", "all")
    ),
    (sums.HessianProduct, SUMS_OF_ONES, {"outputs": 3}, any_point(Softmax(), 3), in_class(3)),
    *(
        (sums.ThinnedCurvature, SUMS_OF_ONES, {}, sums.Thinning(any_point(loss), EVERY_ROW), coded)
        for loss, coded in LIKELIHOODS
        if loss.convex
    ),
    *(
        (sums.OrdinalObjective, SUMS_OF_ONES, {"thresholds": 2, **config}, ordinal_point(link), in_class(3))
        for link, config in (("logit", {"second": True}), ("probit", {}), ("cloglog", {"second": True}))
    ),
    (sums.OrdinalProduct, SUMS_OF_ONES, {"thresholds": 2}, ordinal_point("probit"), in_class(3)),
    (sums.TwofoldObjective, read_twofold, {}, twofold_point(Logistic()), in_class(2)),
    (sums.TwofoldObjective, read_twofold, {"root": "gram"}, twofold_point(Offset(Gamma())), with_offset),
    (sums.TwofoldObjective, read_twofold, {"outputs": 3}, twofold_point(Softmax(), 3), in_class(3)),
    (sums.FamilySums, SUMS_OF_ONES, {}, family_point(Gamma()), with_offset),
    (sums.NullScore, SUMS_OF_ONES, {}, (family_point(Gamma()).loss, 0.5), with_offset),
    (sums.ShapeScore, SUMS_OF_ONES, {}, family_point(losses.loss_of(losses.NegativeBinomial(1.0))), with_offset),
    (sums.Targets, read_targets, {}, Gamma(), in_amounts),
    (sums.MachineObjective, read_machine, {"size": TARGETS * (1 + FEATURES)}, MACHINE, in_signs),
)
EXAMPLES = (
    Example(sums.Moments, read_moments, 1e-13, {"centred": True}, layouts=DENSE),  # sparse rows are never centred
    Example(sums.Moments, read_moments, 1e-13, {"centred": False}),
    Example(sums.ClassMoments, read_classes, 1e-13, {"centred": True, "classes": 3}, None, DENSE, in_three_classes),
    Example(sums.Residual, read_residual, 2.0**-100, theta=any_theta()),
    Example(sums.Residual, read_residual, 2.0**-100, {"most_rows": 7}, theta=any_theta()),
    Example(
        sums.BoundedScore,
        read(gradient=OWN, size=OWN, wrong=OWN, farthest=OWN),
        1e-12,
        theta=KNOWN_SCORE,
        coded=lambda t: np.abs(t) * [1.0, 1e-4],
    ),
    Example(
        sums.BoundedSoftmax,
        read(gradient=OWN, size=OWN, metric=OWN, scalars=OWN),
        1e-12,
        {"classes": 3},
        KNOWN_SOFTMAX,
        coded=in_class(3),
    ),
    *(
        Example(sums.Mapped, lambda s: read_moments(s.moments), 1e-12, {"centred": centred}, ANY_MAP)
        for centred in (True, False)
    ),
    Example(sums.LeaveOneOut, read(sums=OWN), 1e-12, {"penalties": 3}, any_ridges()),
    *(
        Example(sums.Scores, read_scores, 1e-12, {"size": 4, "targets": 1}, any_likelihood(loss, k, 2.0), coded=coded)
        for loss, k, coded in ((Logistic(), 1, in_two), (Softmax(), 3, in_class(3)))
    ),
    *(
        Example(sums.CurvatureChange, read_change, 1e-12, theta=small_ball(loss), coded=in_class(2))
        for loss in (Logistic(), Huber(0.4))
    ),
    Example(
        sums.Densities, SUMS_OF_ONES, 1e-12, {"size": 2}, (losses.Tweedie(1.5), (0.5, 2.0), False), coded=in_amounts
    ),
    *(Example(kind, reading, 1e-13, config, theta, coded=coded) for kind, reading, config, theta, coded in SIMPLE),
)
