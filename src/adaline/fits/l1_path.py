"""`l1_path`: the coefficients under all l1 penalties, beginning with the smallest penalty under which all are zero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, RowsLike, TargetsLike, WeightsLike
from adaline.errors import InvalidData
from adaline.fits.elastic_net.choose import refuse_rough
from adaline.fits.elastic_net.net import NetOptions
from adaline.fits.elastic_net.smooth import raw_weights, smooth_net
from adaline.fits.elastic_net.squared import squared_nets
from adaline.input.labels import too_few_classes
from adaline.input.open import open_labelled, open_rows
from adaline.input.system import System
from adaline.losses import Logistic, Loss, Softmax, Squared, loss_of
from adaline.parameters import COUNT, LEVEL, ZERO_OR_MORE
from adaline.results import Certificate, Status
from adaline.solvers.least_squares.fit import certificate
from adaline.solvers.smooth.problem import Problem
from adaline.solvers.smooth.proximal_newton import l1_points
from adaline.sources import Source


@dataclass(frozen=True)
class L1Path:
    """A path of l1 penalties, the largest first, where all coefficients are zero; P points, D columns.

    A target that the columns say nothing about, such as a constant one, has one point, with a penalty of zero.

    Parameters
    ----------
    l1 : (P,) penalties.
    coef, intercept : (P, D) and (P,), or (P, K, D) and (P, K) for K > 2 classes, in raw units.
    certificates : one for each point; `gap` is proven by a dual point.
    classes : the labels, where there are any.
    """

    l1: Array
    coef: Array
    intercept: Array
    certificates: tuple[Certificate, ...]
    classes: NDArray[Any] | None


def l1_path(
    X: RowsLike,
    y: TargetsLike = None,
    sample_weight: WeightsLike = None,
    *,
    loss: Any = "logistic",
    penalty: float = 0.0,
    points: int = 20,
    ratio: float = 1e-3,
    standardize: bool = False,
    fit_intercept: bool = True,
    tol: float = 1e-7,
) -> L1Path:
    """Minimise sum of weight x loss + penalty/2 ||w||^2 + l1 |w| for falling l1, each from the solution before.

    Parameters
    ----------
    X, y, sample_weight : rows (n, D), labels or targets (n,), and frequencies; or a source alone.
    loss : name of a convex loss, or a Loss
        "logistic" takes labels, and is the softmax where there are more than two; "squared" (the lasso), "huber",
        "poisson", "gamma", ... take numbers.
    penalty : ridge penalty beside l1 (elastic net).
    points, ratio : how many penalties, in geometric progression, and the smallest over the largest.
    standardize : whether both penalties act on columns of unit standard deviation.
    fit_intercept : whether there is a constant, which is never penalised.
    tol : bound on the proven gap, as a share of the loss of the best constants.

    Examples
    --------
    >>> from adaline import datasets, l1_path
    >>> data = datasets.load("breast_cancer")
    >>> found = l1_path(data.X, data.y, standardize=True, points=5, ratio=0.1)
    >>> [int((w != 0).sum()) for w in found.coef], {str(proof.status) for proof in found.certificates}
    ([0, 3, 2, 4, 5], {'solved'})

    References
    ----------
    Lecture S3, regularisation. R. Tibshirani (1996); Tibshirani et al. (2012), strong rules. About 3 to 10 passes a
    point, most of them over the columns that are not zero; one for all points of squared losses, whose certificates
    have the passes and seconds of all at the first point.
    """
    COUNT.check("points", points)
    LEVEL.check("ratio", ratio)
    ZERO_OR_MORE.check("penalty", penalty)
    ZERO_OR_MORE.check("tol", tol)
    start, reads = perf_counter(), X.reads[0] if isinstance(X, Source) else 0
    source, chosen, classes = _opened(X, y, sample_weight, loss)
    if isinstance(chosen, Squared):
        given = NetOptions(
            *(None, np.asarray(float(penalty)), None, 0, int(points), float(ratio), "best"),
            *(bool(standardize), bool(fit_intercept), float(tol)),
        )
        nets = squared_nets(source, given)
        if nets is not None and nets[0].path is not None:
            path = nets[0].path
            spent = replace(path.certificates[0], passes=source.reads[0] - reads, seconds=perf_counter() - start)
            rest = (replace(proof, seconds=0.0) for proof in path.certificates[1:])
            return L1Path(path.l1, path.theta[:, 0, 1:], path.theta[:, 0, 0], (spent, *rest), None)
    net = smooth_net(source, chosen, bool(fit_intercept), bool(standardize))
    problem = replace(net.problem, ridge=float(penalty) * net.size**2)
    wanted = float(tol) * net.null
    thetas, proofs, penalties = [], [], []
    for l1, found in l1_points(problem, net.size, net.constant, wanted, int(points), float(ratio)):
        proof = _proof(problem, found.evaluation, found.gap, found.converged)
        now, passes = perf_counter(), source.reads[0]
        proofs.append(replace(proof, passes=passes - reads, seconds=now - start))
        start, reads = now, passes
        thetas.append(raw_weights(problem, found.theta))
        penalties.append(l1)
    every = np.array(thetas)[:, 0] if len(net.constant) == 1 else np.array(thetas)
    return L1Path(np.array(penalties), every[..., 1:], every[..., 0], tuple(proofs), classes)


def _opened(
    X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, loss: Any
) -> tuple[Source, Loss, NDArray[Any] | None]:
    """Return the rows, the loss, and the labels of "logistic"."""
    reader, chosen = System(), loss_of(loss, None)
    refuse_rough(chosen)
    if isinstance(chosen, Logistic):
        given = open_labelled(reader, X, y, sample_weight, reset=True)
        classes = given.all_classes()
        if len(classes) < 2:
            raise too_few_classes("l1_path", classes)
        return given.encoded(classes), chosen if len(classes) == 2 else Softmax(), classes
    source = open_rows(reader, X, y, sample_weight, reset=True).source
    if source.shape.targets > 1:
        raise InvalidData(f"l1_path takes one target, y has {source.shape.targets}")
    return source, chosen, None


def _proof(problem: Problem, evaluation: Any, gap: float, converged: bool) -> Certificate:
    return certificate(
        status=Status.SOLVED if converged else Status.NOT_CONVERGED,
        objective=evaluation.value,
        gradient=problem.steepness(evaluation.gradient),
        gap=gap,
        rank=problem.features,
        solver="proximal Newton along a path",
        advice=None if converged else "raise tol, or end the path earlier by a larger ratio",
    )
