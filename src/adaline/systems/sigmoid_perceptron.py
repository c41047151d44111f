"""The sigmoidal perceptron: the exact gradient through tanh or the logistic function."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from adaline.arrays import Array, RowsLike, like_rows
from adaline.errors import AdalineWarning, warn
from adaline.fits.mixing import measure_loss, run_mixed
from adaline.fits.online import OnlineResult, run_epochs, scan_certificate
from adaline.input import by_blocks
from adaline.losses import Logistic, Loss, SigmoidSquared, TanhSquared
from adaline.parameters import MODE, NONE, POSITIVE, AnyOf, ClassWeight, Mode, Number, OneOf, UsedWith
from adaline.results import Status
from adaline.scans import Scan, SigmoidRule
from adaline.scans.schedules import Decay
from adaline.scans.tally import STEPS
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.solvers.smooth.majorize import Errors, bound_curvature, majorize
from adaline.sources import Source
from adaline.state import FitSettings, FittedWith
from adaline.sums import Objective, Point, View
from adaline.systems.families.named import named_system
from adaline.systems.families.online_classifier import OnlineClassifier, signed
from adaline.systems.families.online_state import PreparedState

NO_SPREAD = (
    "no column varies in these rows, so that a batch step of rate='auto', which takes their scales from them, changes "
    "the intercept alone: give several rows in a call, a number as rate, or mode='online' for single rows"
)
LOSSES: dict[str, Loss] = {"tanh": TanhSquared(), "logistic": SigmoidSquared()}


@dataclass(frozen=True)
class SigmoidSettings(FitSettings):
    """The settings that a sigmoid perceptron is read with."""

    activation: Literal["tanh", "logistic"]


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class SigmoidPerceptron(OnlineClassifier):
    """Sigmoidal perceptron: minimises 1/2 sum of weight (t - phi(w'x + w0))^2 by its exact gradient.

    Batch, w += eta sum e phi'(z) x once an epoch; online, w += eta e phi'(z) x for each row. The error has no single
    minimum in general, and on separable rows none at all: w grows without bound, while the boundary settles. As the
    squared error is lowest at the probability of the class, phi is an estimate of it. K > 2 classes: K machines, each
    one class against the rest, and the largest output decides.

    Parameters
    ----------
    activation : "tanh" or "logistic"
        phi, with targets +-1 or 0 and 1.
    mode : "batch" or "online"
        A step an epoch, or a step a row. Batch: `partial_fit` takes one step, on the sum over the rows of its call, and
        `learn_one` the step of its row.
    rate : "auto" or number
        eta; batch: of the sum over rows. "auto" is safe in any units; batch: steps that never raise the error, from the
        second moments of the columns, so that columns that do not vary in the rows of a call, as those of a single row,
        keep their weights beside the intercept; online, of sparse rows with more than 128 columns, each has a rate of
        its own.
    schedule : "constant", "1/t", "power" or function
        How a number falls with the steps t = 1, 2, ...: eta, eta/t, eta/(1 + t)^(3/4), or eta f(t).
    fit_intercept : bool
        Whether the machine has a constant w0, learned like a weight.
    init : array (1 + D,) or (K, 1 + D), "random", or None
        First weights, intercept first; None is zero.
    epochs : int
        Largest number of epochs of a fit.
    tol : float
        Online: fit ends when an epoch changes the progressive error by no more than this share of it. Batch: when the
        next step cannot lower the error by more than this share.
    stop_error : float or None
        Batch: fit also ends when the error is at most this.
    shuffle : bool
        Online: whether fit permutes the rows for every epoch; a table too large for memory is shuffled block by block.
        Rows sorted by class or by time end far from the minimum otherwise.
    random_state : int, generator or None
        Seed or generator of permutations and random weights.
    warm_start : bool
        Whether fit continues from the present weights.
    class_weight : None, "balanced" or dict by labels
        Weights of the classes, times those of the rows; "balanced" makes classes weigh the same.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.
    mixing : int or None
        Rounds of parameter mixing, for tables on clusters, in place of epochs of mode="online": every part of the rows
        is scanned at once from common weights, which are then averaged. It is not the rule in order, and the
        certificate says so, with what a Newton step would gain. None refuses rows that lie in parts.

    Attributes
    ----------
    classes_ : labels; with two, classes_[1] has the target 1. coef_, intercept_ : (1, D) and (1,), or (K, D) and (K,).
    history_ : error of each epoch: batch half the sum of e^2, online its mean, each row's before its own step.
    n_iter_ : epochs. certificate_ : how it ended.
    rows_seen_ : rows learned from, each counted once a fit.

    Examples
    --------
    >>> from adaline import SigmoidPerceptron
    >>> model = SigmoidPerceptron(activation="logistic").fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> model.predict([[0.2], [2.9]]).tolist()
    [0, 1]

    References
    ----------
    Lecture S0, section 5.7, (5.25)-(5.30). One pass an epoch; batch with rate="auto" one more.
    """

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({"activation": "logistic"},)
    compared_visits: ClassVar[int | None] = None  # its steps are passes over the rows, of which it takes few
    compared_numbers: ClassVar[int] = 2**24  # of X, that a fit learns from in a comparison
    expected_failures: ClassVar[dict[str, str]] = {}  # a batch step is a sum over rows: weights are repetitions

    _rule = SigmoidRule
    _fitted_with = FittedWith(SigmoidSettings)
    used_with: ClassVar[UsedWith] = {
        "schedule": {"rate": POSITIVE},
        "shuffle": {"mode": OneOf("online")},
        "stop_error": {"mode": OneOf("batch")},
    }
    activation: Annotated[Literal["tanh", "logistic"], OneOf(*LOSSES)] = "tanh"
    mode: Annotated[Mode, MODE] = "batch"
    rate: float | Literal["auto"] = "auto"
    schedule: Decay = "constant"
    fit_intercept: bool = True
    init: Literal["random"] | Any = None
    epochs: int = 200
    tol: float = 1e-4
    stop_error: Annotated[float | None, AnyOf(NONE, Number())] = None
    shuffle: bool = False
    random_state: Any = 0
    warm_start: bool = False
    class_weight: ClassWeight = None
    basis: Any = None
    mixing: int | None = None

    @by_blocks
    def predict_proba(self, X: RowsLike) -> Array:
        """Return phi as the probability of each class, (n, C); K machines: their outputs, made to add up to one."""
        one = Logistic().mean(self._outputs(X) * (2.0 if self._fitted_with.activation == "tanh" else 1.0))
        if one.shape[1] == 1:
            return like_rows(X, np.column_stack([1 - one, one]))
        return like_rows(X, np.asarray(one / np.maximum(one.sum(axis=1, keepdims=True), np.finfo(float).tiny)))

    def _class_targets(self, classes: int) -> Array:
        return signed(classes, -1.0 if self.activation == "tanh" else 0.0)

    def _rule_options(self, setup: PreparedState) -> dict[str, Any]:
        return {"activation": self.activation}

    def _run(
        self, setup: PreparedState, source: Source, scan: Scan, options: EpochOptions, before: OnlineResult
    ) -> OnlineResult:
        if options.mixing is not None:
            return run_mixed(
                source, scan, options, options.mixing, measure_loss(LOSSES[self.activation]), "LogisticRegression"
            )
        if self.mode == "online":
            return run_epochs(source, scan, options)
        errors = self._errors(source)
        if isinstance(self.rate, str):
            bound = bound_curvature(source, bool(self.fit_intercept), LOSSES[self.activation].steepest)
            if options.epochs == 1 and not bound.inverse.any():
                warn(NO_SPREAD, AdalineWarning)
            theta, history, status = majorize(errors, scan.theta, bound, options, self.stop_error)
        else:
            theta, history, status = _take_gradient_steps(errors, scan, options, self.stop_error)
        scan.theta[:] = theta
        scan.numbers[STEPS] += len(history)
        return OnlineResult(history, scan_certificate(status, history[-1], "batch steps"))

    def _errors(self, source: Source) -> Errors:
        """Return the function from theta (K, 1 + D) to the error of each machine (K,) and minus its gradient."""
        loss, d = LOSSES[self.activation], source.shape.features
        view = View(np.ones(d), np.zeros(d))

        def errors(theta: Array) -> tuple[Array, Array]:
            found = source.sum(Objective, Point(loss, theta, view), outputs=len(theta), second="none")
            if not found.finite:
                source.refuse_nonfinite()
            downhill = -found.gradient
            downhill[:, 0] *= bool(self.fit_intercept)
            return found.value, downhill

        return errors


def _take_gradient_steps(
    errors: Errors, scan: Scan, options: EpochOptions, stop_error: float | None
) -> tuple[Array, list[float], Status]:
    """Take steps of the scan's schedule; return weights, the error after each step, and the status.

    Where the rate was too large, so that the error ends above twice its lowest, the best weights are returned.
    """
    history: list[float] = []
    theta, best, lowest = scan.theta.copy(), scan.theta.copy(), math.inf
    for epoch in range(options.epochs + 1):
        each, downhill = errors(theta)
        error = float(each.sum())
        if epoch > 0:
            history.append(error)
        if error < lowest:
            best, lowest = theta, error
        step = downhill * scan.schedule.at(scan.steps + epoch + 1)
        gain = float((downhill * step).sum())
        if gain <= options.tol * error or (stop_error is not None and error <= stop_error):
            return theta, history or [error], Status.SOLVED
        if epoch < options.epochs:
            theta = theta + step
    if history[-1] > 2 * lowest:
        return best, history, Status.DIVERGED
    return theta, history, Status.NOT_CONVERGED
