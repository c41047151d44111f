"""The simple perceptron: corrections where a row lies on the wrong side."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from adaline.fits.mixing import measure_mistakes, run_mixed
from adaline.fits.online import OnlineResult, explain_mistakes, run_corrections, scan_certificate
from adaline.parameters import MODE, POSITIVE, ClassWeight, Mode, OneOf, UsedWith
from adaline.results import Status
from adaline.scans import PerceptronRule, Scan
from adaline.scans.schedules import Decay
from adaline.scans.tally import STEPS
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.sources import Source
from adaline.sums import WrongRows
from adaline.systems.families.named import named_system
from adaline.systems.families.online_classifier import OnlineClassifier
from adaline.systems.families.online_state import PreparedState


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(OnlineClassifier):
    """Rosenblatt's perceptron: minimises -sum of t (w'x + w0) over the wrong rows, those with t (w'x + w0) <= 0.

    Online, w += eta t x for each wrong row when it is met; batch, eta times the sum of t x over all wrong rows,
    once an epoch. It ends at the first epoch without a mistake, which comes if and only if a plane separates the
    classes: after at most (R/M)^2 corrections in all, R the length of the longest row and M the margin. K > 2 classes:
    K machines, each one class against the rest, and the largest output decides.

    Parameters
    ----------
    mode : "online" or "batch"
        A correction a wrong row when it is met, or one for all of them an epoch.
    rate : number
        eta. From zero weights and under a constant schedule it changes nothing but the length of w.
    schedule : "constant", "1/t", "power" or function
        How a number falls with the steps t = 1, 2, ...: eta, eta/t, eta/(1 + t)^(3/4), or eta f(t).
    fit_intercept : bool
        Whether the machine has a constant w0, learned like a weight.
    init : array (1 + D,) or (K, 1 + D), "random", or None
        First weights, intercept first; None is zero.
    epochs : int
        Largest number of epochs of a fit.
    tol : float
        fit ends when the share of wrong rows in an epoch is no more than this; zero: at the first clean epoch.
    shuffle : bool
        Whether fit permutes the rows for every epoch; a table too large for memory is shuffled block by block.
    random_state : int, generator or None
        Seed or generator of permutations and random weights.
    warm_start : bool
        Whether fit continues from the present weights.
    standardize : bool
        Whether the rule gets columns centred and scaled to standard deviation 1, so that units do not matter; `coef_`,
        `intercept_` and `init` are in the columns' own units all the same. False is exactly the textbook's rule.
        Scales are learned from the first rows, by one more pass, and kept by `partial_fit`, `learn_one` and
        `warm_start`; sparse rows, and rows without an intercept, are scaled and not centred.
    class_weight : None, "balanced" or dict by labels
        Weights of the classes, times those of the rows; "balanced" makes classes weigh the same.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.
    mixing : int or None
        Rounds of parameter mixing, for tables on clusters, in place of epochs of mode="online": every part of the rows
        is scanned at once from common weights, which are then averaged. It is not the rule in order, and the
        certificate says so, with the criterion that is left. None refuses rows that lie in parts.

    Attributes
    ----------
    classes_ : labels; with two, classes_[1] has t = +1. coef_, intercept_ : (1, D) and (1,), or (K, D) and (K,).
    history_ : mistakes (batch: wrong rows) in each epoch. n_iter_ : epochs. certificate_ : how it ended.
    mistakes_ : corrections made since the start. radius_, margin_, bound_ : R, M and R^2/M^2 in the space of (1, x),
        where x are the columns that the rule works in (`standardize`), from the clean epoch itself; NaN and infinity
        where there was none, or the theorem does not apply (weights, another start, a schedule, the batch rule). K
        machines: the smallest M they share, and K R^2/M^2.
    rows_seen_ : rows learned from, each counted once a fit.

    Examples
    --------
    >>> from adaline import Perceptron
    >>> model = Perceptron().fit([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["no", "no", "no", "yes"])
    >>> model.predict([[0.9, 0.8]]).tolist(), model.mistakes_ <= model.bound_
    (['yes'], True)

    References
    ----------
    Lecture S0, section 5.6, (5.23)-(5.24); S1 (criterion, rule, convergence theorem), S2 (batch and sequential), S4.
    Novikoff (1962). One pass an epoch.
    """

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({"epochs": 100, "standardize": True},)
    _rule = PerceptronRule

    used_with: ClassVar[UsedWith] = {
        "shuffle": {"mode": OneOf("online")},
    }
    mode: Annotated[Mode, MODE] = "online"
    rate: Annotated[float, POSITIVE] = 1.0
    schedule: Decay = "constant"
    fit_intercept: bool = True
    init: Literal["random"] | Any = None
    epochs: int = 1000
    tol: float = 0.0
    shuffle: bool = False
    random_state: Any = 0
    warm_start: bool = False
    standardize: bool = False
    class_weight: ClassWeight = None
    basis: Any = None
    mixing: int | None = None

    @property
    def mistakes_(self) -> int:
        """Corrections made since the start."""
        return int(self._result.corrections + self._scan.tally.updates)

    @property
    def radius_(self) -> float:
        """R, the length of the longest row (1, x), in the columns that the rule works in."""
        tally = self._scan.tally
        return tally.radius if tally.weight > 0 else math.nan

    @property
    def margin_(self) -> float:
        """M, the smallest distance of a row from the plane, in the space of (1, x) as for R."""
        tally, result = self._scan.tally, self._result
        largest = float(np.abs(self._scan.theta).max()) or 1.0  # whose square may overflow
        length = largest * float(np.sqrt(((self._scan.theta / largest) ** 2).sum(axis=1).max()))
        clean = result.certificate.status is Status.SOLVED and tally.weight > 0 and tally.mistakes == 0
        return tally.margin / length if clean and length and self._scan.steps == result.steps else math.nan

    @property
    def bound_(self) -> float:
        """R^2 / M^2, which the number of mistakes never exceeds."""
        radius, margin = self.radius_, self.margin_  # no margin is known once a row has been learned since the fit
        if not self._result.bounded or not margin > 0:
            return math.inf
        return len(self._scan.theta) * (radius / margin) ** 2

    def _run(
        self, setup: PreparedState, source: Source, scan: Scan, options: EpochOptions, before: OnlineResult
    ) -> OnlineResult:
        if options.mixing is not None:
            return run_mixed(source, scan, options, options.mixing, measure_mistakes, "LogisticRegression")
        if self.mode == "online":
            bounded = self.init is None and self.schedule == "constant" and not source.targets.weighted
            result = replace(run_corrections(source, scan, options, before), bounded=bounded)
        else:
            result = self._correct_batches(source, scan, options, before)
        known = type(self).__name__, setup.labels, self.standardize, self.fit_intercept
        return explain_mistakes(source, scan, options, result, *known)

    def _correct_batches(self, source: Source, scan: Scan, options: EpochOptions, before: OnlineResult) -> OnlineResult:
        """Take the batch steps, w += eta sum of t x over the wrong rows; the history is their number in each epoch."""
        history: list[float] = []
        status, objective = Status.NOT_CONVERGED, math.inf
        corrections = before.corrections + scan.tally.updates
        scan.begin()
        for _ in range(options.epochs):
            wrong = source.sum(WrongRows, scan.theta)
            if not wrong.finite:
                source.refuse_nonfinite()
            history.append(float(wrong.count.sum()))
            objective = float(wrong.criterion.sum())
            if history[-1] <= options.tol * source.n_rows:
                status = Status.SOLVED
                break
            step = wrong.steps * scan.schedule.at(scan.steps + 1)
            step[:, 0] *= bool(self.fit_intercept)
            scan.theta += step
            scan.numbers[STEPS] += 1
            corrections += history[-1]
        return OnlineResult(history, scan_certificate(status, objective, "batch steps"), corrections=corrections)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # where no plane separates, the weights are what the last mistake left
        return tags
