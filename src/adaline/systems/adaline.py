"""Adaline: LMS on targets +-1, decided by the sign."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

from adaline.fits.mixing import measure_loss, run_mixed
from adaline.fits.online import OnlineResult, run_lms
from adaline.losses import Squared
from adaline.parameters import MODE, POSITIVE, ClassWeight, Mode, OneOf, UsedWith
from adaline.results import Status
from adaline.scans import LMSRule, Scan
from adaline.scans.schedules import Decay
from adaline.scans.tally import STEPS
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.solvers.least_squares import descent
from adaline.solvers.least_squares.choose import read_moments
from adaline.sources import Source
from adaline.systems.families.named import named_system
from adaline.systems.families.online_classifier import OnlineClassifier
from adaline.systems.families.online_state import PreparedState


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class Adaline(OnlineClassifier):
    """Adaptive linear element: minimises the mean of (t - w0 - w'x)^2 / 2 over targets +-1, by steps of LMS.

    The sign decides but is not differentiated. Online, one step a row, of LMS itself where the rate is a number; batch,
    one step an epoch on the sum over rows, which ends at least squares: the sums are taken in one pass, whatever the
    number of steps. K > 2 classes: K machines, each one class against the rest, and the largest output decides.

    Parameters
    ----------
    mode : "online" or "batch"
        A step a row, or a step an epoch.
    rate : "auto" or number
        eta of LMS; "auto" learns a step for each direction from the rows instead, as recursive least squares does
        (`adaline.scans.adaptive`), which is safe in any units; with more than 128 columns, one for each column.
        Batch: of the sum over rows.
    schedule : "constant", "1/t", "power" or function
        How a rate that is a number falls with the steps t = 1, 2, ...: eta, eta/t, eta/(1 + t)^(3/4), or eta f(t).
    fit_intercept : bool
        Whether the machine has a constant w0, learned like a weight.
    init : array (1 + D,) or (K, 1 + D), "random", or None
        First weights, intercept first; None is zero.
    epochs : int
        Largest number of epochs of a fit.
    tol : float
        Online: fit ends when an epoch changes the progressive error by no more than this share of it. Batch: when every
        derivative, on standardised columns, is at most this share of the largest it can be.
    shuffle : bool
        Whether fit permutes the rows for every epoch; a table too large for memory is shuffled block by block.
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
        certificate says so, with the gap to the optimum. None refuses rows that lie in parts.

    Attributes
    ----------
    classes_ : labels; with two, classes_[1] has t = +1. coef_, intercept_ : (1, D) and (1,), or (K, D) and (K,).
    history_ : error of each epoch: online the mean of e^2/2, each row's before its own step; batch half the sum of e^2.
    n_iter_ : epochs. rate_bound_ : 2/Trace[Rxx] on the last online epoch and rows since. certificate_ : how it ended.
    rows_seen_ : rows learned from, each counted once a fit.

    Examples
    --------
    >>> from adaline import Adaline, datasets
    >>> data = datasets.load("penguins", target="species")
    >>> round(Adaline().fit(data.X, data.y).score(data.X, data.y), 2)
    0.98

    References
    ----------
    Lecture S0, section 5.5, (5.21)-(5.22); S1 (stochastic or not), S4 (batch). One pass an epoch; batch one pass.
    """

    _rule = LMSRule  # of a rate that is a number; `fits/online.py` chooses for rate="auto"
    used_with: ClassVar[UsedWith] = {
        "schedule": {"rate": POSITIVE},
        "shuffle": {"mode": OneOf("online")},
    }
    mode: Annotated[Mode, MODE] = "online"
    rate: float | Literal["auto"] = "auto"
    schedule: Decay = "constant"
    fit_intercept: bool = True
    init: Literal["random"] | Any = None
    epochs: int = 20
    tol: float = 1e-4
    shuffle: bool = False
    random_state: Any = 0
    warm_start: bool = False
    class_weight: ClassWeight = None
    basis: Any = None
    mixing: int | None = None

    @property
    def rate_bound_(self) -> float:
        """2 / Trace[Rxx] of (5.20) on the last epoch, and on rows learned one at a time since; infinite for batch."""
        return self._scan.tally.bound

    def _run(
        self, setup: PreparedState, source: Source, scan: Scan, options: EpochOptions, before: OnlineResult
    ) -> OnlineResult:
        if options.mixing is not None:
            return run_mixed(source, scan, options, options.mixing, measure_loss(Squared()), "LeastSquaresClassifier")
        if self.mode == "online":
            return run_lms(source, scan, options, self.rate, self.schedule)
        return self._descend(source, scan, options.epochs)

    def _descend(self, source: Source, scan: Scan, epochs: int) -> OnlineResult:
        """Take the batch steps, on sums of one pass; the history is half the sum of e^2 after each step."""
        intercept = bool(self.fit_intercept)
        rate: Any = self.rate if isinstance(self.rate, str) else float(self.rate)
        rule = descent.DescentOptions(rate, scan.theta, float(self.tol), None, epochs)
        fit, histories, bound = descent.solve_by_descent(read_moments(source, intercept), intercept, rule)
        steps = max(map(len, histories)) - 1
        scan.theta[:] = fit.solution.theta
        scan.numbers[STEPS] += steps
        history = [sum(errors[min(i, len(errors) - 1)] for errors in histories) for i in range(1, steps + 1)]
        proof = fit.solution.certificate
        advice = proof.status.advice
        if proof.status is Status.DIVERGED:
            advice += f"; on these columns a number must stay below {bound:.3g}"
        return OnlineResult(history, replace(proof, advice=advice))
