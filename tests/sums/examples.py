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

from adaline.arrays import host
from adaline.block import Block, Shape
from adaline.losses import (
    CustomLoss,
    Gamma,
    Huber,
    Logistic,
    Loss,
    NegativeBinomial,
    Offset,
    Poisson,
    Quantile,
    Softmax,
    TanhSquared,
    Tukey,
    Tweedie,
    loss_of,
)
from adaline.losses.ordinal import CUMULATIVE_LINKS, Ordinal
from adaline.solvers.epochs.stochastic import Linear
from adaline.sources import SparseSource
from adaline.sums import (
    Ball,
    Centres,
    ClassMoments,
    ClassWeights,
    Clusters,
    Components,
    CurvatureChange,
    CurvatureDiagonal,
    Densities,
    ErrorCounts,
    FamilyPoint,
    FamilySums,
    FarthestRow,
    FirthScore,
    FittedDesign,
    FittedLikelihood,
    GroupScores,
    HessianProduct,
    JointSum,
    LeaveOneOut,
    MachineObjective,
    MachinePoint,
    MixtureMoments,
    Moments,
    NullScore,
    Objective,
    OrdinalObjective,
    OrdinalProduct,
    PlanePoint,
    Point,
    Prior,
    Ranks,
    RegressionPlane,
    Residual,
    ResidualTotals,
    Ridges,
    Scores,
    ShapeScore,
    Spread,
    Sum,
    Targets,
    Theta,
    ThinnedCurvature,
    Thinning,
    Triangle,
    TwofoldObjective,
    TwofoldPoint,
    View,
    WrongRivals,
    WrongRows,
)
from adaline.sums.ranks import key_of
from tests.layouts import lay

Array = NDArray[Any]

FEATURES, TARGETS = 4, 2
SHAPE = Shape(FEATURES, TARGETS)

DENSE = ("float64", "float32", "columns", "strided")
SPARSE = ("csr", "csr32")


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
    weight = rng.integers(0, 4, n).astype(np.float64) if weights else None
    block = Block(lay(x, layout), t, weight)
    return Block(block.x, t, weight, scales(block)) if sparse.issparse(block.x) else block


def scales(block: Block) -> Array:
    """Return the column scales that a source of these sparse rows would know."""
    return SparseSource(block.x, block.t).exponent


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
        point = self.theta.point if isinstance(self.theta, Thinning) else self.theta
        loss = [point.loss.name] if isinstance(point, Point) else []
        return "-".join([self.kind.__name__, *loss, *(f"{key}={value}" for key, value in self.config.items())])

    def zero(self) -> Any:
        return self.kind.zero(SHAPE, **self.config)

    def rows(self, n: int, layout: str = "float64", seed: int = 0, weights: bool = True) -> Block:
        """Return n rows that the sum can read."""
        block = rows_of(n, layout, seed, weights)
        block = Block(block.x, self.coded(block.t), block.weight)
        return Block(block.x, block.t, block.weight, scales(block)) if sparse.issparse(block.x) else block

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


def read_moments(m: Moments) -> dict[str, Reading]:
    """Return W, the mean or the sum, and S."""
    e = m.exponent.astype(np.int64)
    second = np.ldexp(m.second, e[:, None] + e)
    width = np.sqrt(np.diagonal(second))
    first = m.first_hi + m.first_lo if m.centred else np.ldexp(m.first_hi + m.first_lo, e)
    one = np.sqrt(max(m.weight, 1.0))
    return {
        "weight": Reading(np.array(m.weight), np.array(m.weight)),
        "first": Reading(first, width / one if m.centred else width * one),
        "second": Reading(second, np.outer(width, width)),
    }


def read_triangle(t: Triangle) -> dict[str, Reading]:
    """Return what the moments would be: R below the row of ones is a root of S."""
    e = t.exponent.astype(np.int64)
    if not t.centred:
        gram = _gram(t.r, e)
        return {"second": Reading(gram, _reach(gram))}
    if not len(t.r):
        zero = np.zeros(len(e))
        return {
            "weight": Reading(zero, zero),
            "first": Reading(zero, zero),
            "second": Reading(_gram(t.r[:, 1:], e), zero),
        }
    gram = _gram(t.r[1:, 1:], e)
    weight = np.array(t.r[0, 0] ** 2)
    mean = t.shift + np.ldexp(t.r[0, 1:] / t.r[0, 0], e)
    return {
        "weight": Reading(weight, weight),
        "first": Reading(mean, np.sqrt(np.diagonal(gram) / weight)),
        "second": Reading(gram, _reach(gram)),
    }


def _gram(r: Array, e: Array) -> Array:
    return np.ldexp(r.T @ r, e[:, None] + e)


def _reach(gram: Array) -> Array:
    width = np.sqrt(np.diagonal(gram))
    return np.outer(width, width)


def read_residual(r: Residual) -> dict[str, Reading]:
    """Return the sums as fractions, hi + lo exactly; their terms are of order one, times up to 3 rows' weights."""
    exact = np.vectorize(Fraction, otypes=[object])
    return {"sums": Reading(exact(r.sums[..., 0]) + exact(r.sums[..., 1]), np.array(1000.0))}


def read_errors(e: LeaveOneOut) -> dict[str, Reading]:
    """Return the sums of squares."""
    return {"sums": Reading(e.sums, e.sums)}


def read_classes(m: ClassMoments) -> dict[str, Reading]:
    """Return the moments of every class."""
    return {f"{what} of class {k}": r for k, part in enumerate(m.parts) for what, r in read_moments(part).items()}


def read_scores(s: Scores) -> dict[str, Reading]:
    """Return G, the squares and the smallest 1 - h."""
    meat = [Reading(g, _reach(g)) for g in s.meat]
    return {
        "meat": Reading(s.meat, np.stack([reading.size for reading in meat])),
        "squares": Reading(s.squares, s.squares),
        "rest": Reading(s.rest, np.ones(1)),
    }


def read_groups(s: GroupScores) -> dict[str, Reading]:
    """Return the scores of every group that has any, against those of all."""
    size = np.sqrt((s.scores**2).sum(axis=0, keepdims=True)) + np.zeros(s.scores.shape)
    return {
        "groups": Reading(s.groups, np.zeros(1)),
        "scores": Reading(s.scores, size),
        "squares": Reading(s.squares, s.squares),
    }


def read_wrong(s: WrongRows) -> dict[str, Reading]:
    """Return the sums over wrong rows, against the size of the rows and of their outputs."""
    return {
        "steps": Reading(s.steps, 1000 * np.array([1.0, 100.0, 1e-3, 1000.0, 5.0])),
        "criterion": Reading(s.criterion, np.array(1e6)),
        "count": Reading(s.count, s.count),
        "missed": Reading(s.missed, s.missed),
    }


def read_rivals(s: WrongRivals) -> dict[str, Reading]:
    """Return the criterion, against the size of outputs, and the count."""
    return {"criterion": Reading(s.sums[:1], np.array(1e6)), "count": Reading(s.sums[1:], s.sums[1:])}


def read_counts(s: ErrorCounts) -> dict[str, Reading]:
    """Return the counts."""
    return {"count": Reading(s.sums, s.sums)}


def read_firth(s: FirthScore) -> dict[str, Reading]:
    """Return the score, against the size of rows in the view."""
    return {"sums": Reading(s.sums, np.full(s.sums.shape, 1000.0))}


def any_prior() -> Prior:
    """Return weights whose outputs are of order one, and a root that leaves leverages below one."""
    rng = np.random.default_rng(4)
    view = View(1 / np.array([128.0, 2.0**-10, 1024.0, 8.0]), np.array([-0.5, 0.0, 0.7, -0.2]))
    return Prior(rng.normal(size=(1, 1 + FEATURES)), view, 0.2 * rng.normal(size=(1 + FEATURES, FEATURES)))


def read_spread(s: Spread) -> dict[str, Reading]:
    """Return weight, means, squares and reach, means against the spread of their column."""
    width = np.hypot(s.deviation, 1e-3 * s.largest)
    return {
        "weight": Reading(np.array(s.weight), np.array(s.weight)),
        "mean": Reading(s.mean, width),
        "second": Reading(s.second, s.weight * width**2),
        "largest": Reading(s.largest, np.zeros(1)),
    }


def read_class_weights(s: ClassWeights) -> dict[str, Reading]:
    """Return the weights of three classes; the lightest row is one of those given, not of their repetitions."""
    return {"weights": Reading(s.of(3), s.of(3))}


def read_joint(s: JointSum) -> dict[str, Reading]:
    """Return what the parts say."""
    spread, objective = s.parts
    return read_spread(spread) | read_objective(objective)


def read_objective(s: Any) -> dict[str, Reading]:
    """Return the sums; their terms are of order one, times up to 3 rows' weights."""
    return {"sums": Reading(s.sums, np.array(1000.0))}


def read_twofold(s: TwofoldObjective) -> dict[str, Reading]:
    """Return the sums, gradients as fractions, and H of a triangle."""
    exact = np.vectorize(Fraction, otypes=[object])
    matrix = s.matrix if s.root == "gram" else s.matrix.T @ s.matrix
    return {
        "value": Reading(np.array(s.value), np.array(1000.0)),
        "gradient": Reading(exact(s.gradient[..., 0]) + exact(s.gradient[..., 1]), np.array(1e4 * 2.0**-52)),
        "noise": Reading(s.noise, s.noise),
        "energy": Reading(np.array(np.minimum(s.energy, 1e300)), np.array(np.minimum(s.energy, 1e300))),
        "matrix": Reading(matrix, np.array(1000.0)),
    }


def read_change(s: CurvatureChange) -> dict[str, Reading]:
    """Return both bounds."""
    return {name: Reading(np.array(value), np.array(value)) for name, value in vars(s).items()}


def twofold_point(loss: Loss, outputs: int = 1) -> TwofoldPoint:
    """Return a point whose weights have a second part."""
    point = any_point(loss, outputs)
    return TwofoldPoint(loss, point.theta, point.theta * 2.0**-55, point.view)


def small_ball(loss: Loss) -> Ball:
    """Return a ball about such a point in which outputs change by a few hundredths."""
    return Ball(twofold_point(loss), np.eye(1 + FEATURES) / 8, 0.01)


def in_class(k: int) -> Callable[[Array], Array]:
    """Return what makes indices of k classes of targets."""
    return lambda t: np.floor(np.abs(t[:, :1]) * 10) % k


EVERY_ROW = np.full(TARGETS, 1e-300)


def ordinal_point(link: str) -> Point:
    """Return a point of three ordered classes, with a direction."""
    point = any_point(Ordinal(CUMULATIVE_LINKS[link], np.array([-0.5, 0.75])), 1)
    assert point.direction is not None
    theta = np.column_stack([[0.0], point.theta[:, 1:]])
    return point._replace(theta=theta, direction=np.column_stack([[0.25], point.direction]))


def any_point(loss: Loss, outputs: int = TARGETS) -> Point:
    """Return a point whose outputs are of order one, on both sides of zero, in a view of unit spread about zero."""
    rng = np.random.default_rng(4)
    view = View(np.ldexp(1.0, [-7, 9, -10, -3]), np.array([-0.75, 0.125, 1.0, -0.25]))
    theta, direction = rng.normal(size=(2, outputs, 1 + FEATURES))
    return Point(loss, theta, view, direction)


def any_plane() -> RegressionPlane:
    """Return a plane whose outputs are of order one."""
    point = any_point(Huber(0.5), 1)
    return RegressionPlane(point.theta, point.view)


def read_plane(s: ResidualTotals) -> dict[str, Reading]:
    """Return the totals, of numbers of order one, and the largest residual and change."""
    return {"sums": Reading(s.sums, np.array(1000.0)), "largest": Reading(s.largest, s.largest)}


class SecondTarget:
    """What `Ranks` reads of a row."""

    def read(self, block: Block) -> Array:
        return host(block.t)[:, 1]


def read_ranks(s: Ranks) -> dict[str, Reading]:
    """Return cells, their totals against those of all rows, and the ends, exactly."""
    size = s.below + s.above + s.totals.sum(axis=0)
    exact = [np.array(part) for part in (s.low, s.high, s.shift, s.keys.astype(object), s.ends.astype(object))]
    return {
        **{
            name: Reading(part, np.zeros(1))
            for name, part in zip(("low", "high", "shift", "keys", "ends"), exact, strict=True)
        },
        "totals": Reading(s.totals, size),
        "outside": Reading(np.stack([s.below, s.above]), size),
    }


def read_farthest(s: FarthestRow) -> dict[str, Reading]:
    """Return the square and the row."""
    return {"square": Reading(np.array(s.square), np.array(s.square)), "row": Reading(s.x, np.abs(s.x))}


def in_units(t: Array) -> Array:
    """Return targets of order one."""
    return np.asarray((t - [3.0, 0.0]) / [1.0, 1e4])


def in_amounts(t: Array) -> Array:
    """Return amounts above zero."""
    return np.asarray(np.abs(in_units(t)) + 0.125)


def in_two(t: Array) -> Array:
    """Return targets 0 and 1."""
    return np.asarray((in_units(t) > 0).astype(np.float64))


def one_of_three(t: Array) -> Array:
    """Return class indices from the first target alone."""
    return in_three_classes(t[:, :1])


PSEUDO_HUBER = CustomLoss(
    lambda z, t: (1 + (z - t) ** 2) ** 0.5 - 1,
    lambda z, t: (z - t) * (1 + (z - t) ** 2) ** -0.5,
    lambda z, t: (1 + (z - t) ** 2) ** -1.5,
)
LIKELIHOODS: tuple[tuple[Loss, Callable[[Array], Array]], ...] = (
    *((Logistic(), in_two), (Poisson(), in_amounts), (Gamma(), in_amounts), (Huber(0.5), in_units)),
    *((Tukey(2.0), in_units), (Quantile(0.3), in_units), (PSEUDO_HUBER, in_units)),
)


def read_clusters(s: Clusters) -> dict[str, Reading]:
    """Return the sums, whose terms are of order one."""
    return {"sums": Reading(s.sums, np.array(1000.0)), "weight": Reading(s.weight, s.weight)}


def read_mixture(s: MixtureMoments) -> dict[str, Reading]:
    """Return the log-likelihood and the moments, whose terms are of order a hundred."""
    return {"value": Reading(np.array(s.value), np.array(1e4)), "moments": Reading(s.moments, np.array(1000.0))}


def any_view() -> View:
    """Return a view in which columns are of order one."""
    return View(np.ldexp(1.0, [-7, 9, -10, -3]), np.array([-0.6, 0.1, 0.7, -0.2]))


def any_centres() -> Centres:
    """Return three points among the rows."""
    return Centres(np.random.default_rng(4).normal(size=(3, FEATURES)), any_view())


def any_components(whole: bool) -> Components:
    """Return three wide densities among the rows, one of them heavier."""
    rng = np.random.default_rng(5)
    factors = np.triu(0.3 * rng.normal(size=(3, FEATURES, FEATURES))) + np.eye(FEATURES)
    factors = factors if whole else rng.uniform(0.5, 2.0, (3, FEATURES))
    return Components(np.log([0.5, 0.3, 0.2]), rng.normal(size=(3, FEATURES)), factors, any_view())


def read_targets(s: Targets) -> dict[str, Reading]:
    """Return the sums, of numbers of order one, and the largest target."""
    return {"sums": Reading(s.sums, np.array(1000.0)), "largest": Reading(np.exp(s.largest), np.zeros(1))}


def with_offset(t: Array) -> Array:
    """Return amounts above zero, and offsets."""
    t = in_amounts(t)
    return np.column_stack([t[:, 0], t[:, 1] - 1.0])


def family_point(loss: Loss) -> FamilyPoint:
    """Return where sums of a family with an offset are taken."""
    point = any_point(loss)
    likelihood = Offset(loss).linked
    assert likelihood is not None
    return FamilyPoint(likelihood, point.theta[:1], point.view, 0.5)


def read_totals(s: FamilySums | NullScore | ShapeScore) -> dict[str, Reading]:
    """Return the totals, of numbers of order one."""
    return {"sums": Reading(s.sums, np.array(1000.0))}


def read_machine(s: MachineObjective) -> dict[str, Reading]:
    """Return the value and the gradient, against the size of the rows."""
    size = 1000 * np.tile([1.0, 100.0, 1e-3, 1000.0, 5.0], TARGETS)
    return {"value": Reading(s.value, np.array(1000.0)), "gradient": Reading(s.gradient, size)}


def in_amounts(t: Array) -> Array:
    """Return targets above zero, of order one."""
    return np.asarray(np.exp2(np.clip(t, -2.0, 2.0)))


def in_signs(t: Array) -> Array:
    """Return targets +-1."""
    return np.asarray(np.where(t > [3.0, 0.0], 1.0, -1.0))


def any_weights() -> Array:
    """Return weights whose outputs are of order one, on both sides of zero."""
    return np.asarray(any_theta().hi / np.array([1.0, 100.0, 1e-3, 1000.0, 5.0]))


def in_three_classes(t: Array) -> Array:
    """Return class indices of either target: 2 is rare."""
    return np.digitize(t, [3.0, 4.2]).astype(np.float64)


def in_five_groups(t: Array) -> Array:
    """Return the targets with the last turned into the number of a group."""
    return np.column_stack([t[:, :-1], np.floor(np.abs(t[:, -1:]) / 5e3) * 10 - 7])


def any_lens(targets: int, power: int = 0) -> FittedDesign:
    """Return a fit that leaves no row a leverage near one."""
    rng = np.random.default_rng(3)
    theta, ridges = any_theta(), any_ridges()
    rotation, slopes = 0.1 * rng.normal(size=(FEATURES, FEATURES)), theta.hi[:targets, 1:]
    offset = 0.1 * rng.normal(size=targets)
    return FittedDesign(ridges.mean, ridges.mean * 2.0**-54, theta.exponent, rotation, slopes, offset, 0.1, power)


def any_likelihood(loss: Loss, outputs: int, power: float) -> FittedLikelihood:
    """Return a fit of a likelihood that leaves no row a leverage near one."""
    rng = np.random.default_rng(4)
    size = np.exp2(-np.concatenate([[0.0], any_theta().exponent[:FEATURES]]))
    theta = 0.1 * rng.normal(size=(outputs, 1 + FEATURES)) * size
    root = 0.02 * rng.normal(size=(outputs, 1 + FEATURES, 4)) * size[:, None]
    return FittedLikelihood(loss, theta, root, power=power)


def any_theta() -> Theta:
    """Return coefficients with a trailing part, for scaled columns of order one."""
    rng = np.random.default_rng(1)
    hi = rng.normal(size=(TARGETS, 1 + FEATURES))
    return Theta(hi, hi * 2.0**-55 * rng.normal(size=hi.shape), np.array([7.0, -8.0, 11.0, 5.0, 2.0, 15.0]))


def any_ridges() -> Ridges:
    """Return three fits of each target that leave no row a leverage near one."""
    rng = np.random.default_rng(2)
    mean, exponent = np.array([70.0, 0.0, -700.0, 1.5, 3.0, 0.0]), any_theta().exponent
    rotation = rng.normal(size=(FEATURES, 3))
    penalties = np.array([[0.1, 1.0, 10.0], [0.3, 3.0, 30.0]])
    return Ridges(
        mean, exponent, rotation, np.array([90.0, 60.0, 30.0]), rng.normal(size=(TARGETS, 3)), penalties, 0.01
    )


EXAMPLES = (
    Example(Moments, read_moments, 1e-13, {"centred": True}, layouts=DENSE),  # sparse rows are never centred
    Example(Moments, read_moments, 1e-13, {"centred": False}),
    Example(Triangle, read_triangle, 1e-13, {"centred": True}),
    Example(Triangle, read_triangle, 1e-13, {"centred": False}),
    Example(Residual, read_residual, 2.0**-100, theta=any_theta()),
    Example(LeaveOneOut, read_errors, 1e-12, {"penalties": 3}, theta=any_ridges()),
    Example(ClassMoments, read_classes, 1e-13, {"centred": True, "classes": 3}, layouts=DENSE, coded=in_three_classes),
    Example(ClassMoments, read_classes, 1e-13, {"centred": False, "classes": 3}, coded=in_three_classes),
    Example(Scores, read_scores, 1e-13, theta=any_lens(TARGETS)),
    Example(Scores, read_scores, 1e-13, {"size": 1 + FEATURES}, theta=any_lens(TARGETS, power=2)),
    Example(GroupScores, read_groups, 1e-13, theta=any_lens(TARGETS - 1), coded=in_five_groups),
    Example(
        Scores, read_scores, 1e-12, {"size": 4, "targets": 1}, theta=any_likelihood(Logistic(), 1, 2.0), coded=in_two
    ),
    Example(
        Scores,
        read_scores,
        1e-12,
        {"size": 4, "targets": 1},
        theta=any_likelihood(Softmax(), 3, 2.0),
        coded=one_of_three,
    ),
    Example(WrongRows, read_wrong, 1e-13, theta=any_weights(), coded=in_signs),
    Example(
        WrongRivals,
        read_rivals,
        1e-13,
        theta=np.vstack([any_weights(), -any_weights()[:1]]),
        coded=in_three_classes,
    ),
    Example(
        ErrorCounts,
        read_counts,
        1e-13,
        {"candidates": 3},
        theta=np.stack([any_weights(), -any_weights(), 0.1 * any_weights()]),
        coded=in_signs,
    ),
    Example(Clusters, read_clusters, 1e-13, {"clusters": 3}, theta=any_centres()),
    *(
        Example(MixtureMoments, read_mixture, 1e-13, {"components": 3, "whole": whole}, theta=any_components(whole))
        for whole in (True, False)
    ),
    Example(FarthestRow, read_farthest, 1e-13, theta=any_centres()),
    Example(
        ResidualTotals,
        read_plane,
        1e-13,
        theta=PlanePoint(any_plane(), Huber(0.5), any_plane()._replace(theta=0.1 * any_plane().theta)),
        coded=in_units,
    ),
    Example(Ranks, read_ranks, 1e-13, theta=SecondTarget()),
    Example(Ranks, read_ranks, 1e-13, {"window": (key_of(3e3), key_of(1.5e4))}, theta=SecondTarget()),
    Example(FirthScore, read_firth, 1e-13, theta=any_prior(), coded=in_two),
    Example(Spread, read_spread, 1e-13),
    Example(ClassWeights, read_class_weights, 1e-13, coded=one_of_three),
    Example(
        JointSum,
        read_joint,
        1e-13,
        {"kinds": ((Spread, {}), (Objective, {"second": "none"}))},
        theta=(None, any_point(Logistic())),
        coded=in_two,
    ),
    *(
        Example(Objective, read_objective, 1e-13, {"second": second}, theta=any_point(loss), coded=coded)
        for loss, coded in LIKELIHOODS
        for second in ("none", "alone")
    ),
    *(
        Example(
            Objective,
            read_objective,
            1e-13,
            {"outputs": 3, "coupled": True, "second": second},
            theta=any_point(Softmax(), 3),
            coded=one_of_three,
        )
        for second in ("none", "alone", "all")
    ),
    *(
        Example(HessianProduct, read_objective, 1e-13, theta=any_point(loss), coded=coded)
        for loss, coded in LIKELIHOODS
    ),
    Example(HessianProduct, read_objective, 1e-13, {"outputs": 3}, theta=any_point(Softmax(), 3), coded=one_of_three),
    *(
        Example(CurvatureDiagonal, read_objective, 1e-13, theta=any_point(loss), coded=coded)
        for loss, coded in LIKELIHOODS
    ),
    *(
        Example(ThinnedCurvature, read_objective, 1e-13, theta=Thinning(any_point(loss), EVERY_ROW), coded=coded)
        for loss, coded in LIKELIHOODS
        if loss.convex
    ),
    *(
        Example(OrdinalObjective, read_objective, 1e-13, config, theta=ordinal_point(link), coded=one_of_three)
        for link, config in (("logit", {"second": True}), ("probit", {}), ("cloglog", {"second": True}))
        for config in ({"thresholds": 2, **config},)
    ),
    Example(
        OrdinalProduct, read_objective, 1e-13, {"thresholds": 2}, theta=ordinal_point("probit"), coded=one_of_three
    ),
    Example(TwofoldObjective, read_twofold, 1e-13, theta=twofold_point(Logistic()), coded=in_class(2)),
    Example(TwofoldObjective, read_twofold, 1e-13, {"root": "gram"}, twofold_point(Offset(Gamma())), coded=with_offset),
    Example(TwofoldObjective, read_twofold, 1e-13, {"outputs": 3}, twofold_point(Softmax(), 3), coded=in_class(3)),
    *(
        Example(CurvatureChange, read_change, 1e-12, theta=small_ball(loss), coded=in_class(2))
        for loss in (Logistic(), Huber(0.4))
    ),
    Example(Targets, read_targets, 1e-13, theta=Gamma(), coded=in_amounts),
    Example(FamilySums, read_totals, 1e-13, theta=family_point(Gamma()), coded=with_offset),
    Example(NullScore, read_totals, 1e-13, theta=(family_point(Gamma()).loss, 0.5), coded=with_offset),
    Example(*(Densities, read_totals, 1e-12, {"size": 2}), theta=(Tweedie(1.5), (0.5, 2.0)), coded=in_amounts),
    Example(ShapeScore, read_totals, 1e-13, theta=family_point(loss_of(NegativeBinomial(1.0))), coded=with_offset),
    Example(
        MachineObjective,
        read_machine,
        1e-13,
        {"size": TARGETS * (1 + FEATURES)},
        theta=MachinePoint(Linear(np.ones(FEATURES), np.zeros(FEATURES), True), TanhSquared(), any_weights()),
        coded=in_signs,
    ),
)
