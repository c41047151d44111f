"""The pocket algorithm: a perceptron on rows drawn at random, and the best weights it ever had."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

from adaline.arrays import Array, LabelsLike, RowLike, TargetLike, copy_at_once
from adaline.fits.online import OnlineResult, scan_certificate
from adaline.fits.separation import convergence_outlook
from adaline.input.labels import Labels
from adaline.locks import lock_of
from adaline.parameters import POSITIVE, ClassWeight
from adaline.results import Status
from adaline.scans import PerceptronRule, Scan
from adaline.scans.schedules import Decay
from adaline.solvers.epochs.pocket import BestWeights, run_pocket, stream_pocket
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.sources import Source
from adaline.sources.array import ArraySource
from adaline.state import read_only
from adaline.systems.families.named import named_system
from adaline.systems.families.online_classifier import OnlineClassifier
from adaline.systems.families.online_state import PreparedState
from adaline.systems.families.single_row import let_scan_read_rows

FEWEST = "these are the fewest errors found, which need not be the fewest there are: "


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class Pocket(OnlineClassifier):
    """Pocket algorithm: minimises the number of wrong rows, by keeping the best weights that a perceptron comes upon.

    A perceptron runs on rows drawn at random. When it gets more rows in a row right than the weights in the pocket did,
    the errors on all rows are counted, by one sum for all such weights of an epoch, and the pocket takes the weights if
    they make fewer (Gallant's ratchet); so it does with the weights at the end of each epoch. Its error never rises,
    with more epochs either, and reaches the optimum with probability 1. K > 2 classes: K machines, each one class
    against the rest with a pocket of its own, and the largest output decides.

    partial_fit and learn_one have no rows to count on: there the pocket takes the weights of the longest streak.

    Parameters
    ----------
    rate : number
        eta. From zero weights and under a constant schedule it changes nothing but the length of w.
    schedule : "constant", "1/t", "power" or function
        How a number falls with the steps t = 1, 2, ...: eta, eta/t, eta/(1 + t)^(3/4), or eta f(t).
    fit_intercept : bool
        Whether the machine has a constant w0, learned like a weight.
    init : array (1 + D,) or (K, 1 + D), "random", or None
        First weights, intercept first; None is zero.
    epochs : int
        Largest number of epochs of a fit; in each, as many rows are drawn as there are.
    tol : float
        fit ends when the share of rows that the pocket gets wrong is no more than this; zero: when it gets all right.
    random_state : int, generator or None
        Seed or generator of the rows drawn and of random weights. A table too large for memory is read in its order,
        and its rows are drawn inside each block.
    warm_start : bool
        Whether fit continues from the present weights.
    standardize : bool
        Whether the rule gets columns centred and scaled to standard deviation 1, so that units do not matter; `coef_`,
        `intercept_` and `init` are in the columns' own units all the same. False is exactly the textbook's rule.
        Scales are learned from the first rows, by one more pass, and kept by `partial_fit`, `learn_one` and
        `warm_start`; sparse rows, and rows without an intercept, are scaled and not centred.
    class_weight : None, "balanced" or dict by labels
        Weights of the classes, times those of the rows, in corrections and in counts.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    classes_ : labels; with two, classes_[1] has t = +1. coef_, intercept_ : of the pocket, (1, D) and (1,), or (K, D)
    and (K,). errors_ : weight of the rows that each machine in the pocket gets wrong; None after partial_fit.
    history_ : errors of the pocket after each epoch. n_iter_ : epochs. certificate_ : its gap is the number of errors.
    rows_seen_ : rows learned from, each counted once a fit.

    Examples
    --------
    >>> from adaline import Pocket
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = Pocket().fit(X, [0, 0, 1, 0, 1, 1])  # not separable: one error is the best there is
    >>> model.history_[-1], model.score(X, [0, 0, 1, 0, 1, 1]) > 0.8
    (1.0, True)

    References
    ----------
    Lecture S2, the pocket algorithm; S. I. Gallant (1990). Two passes an epoch, one of them to count errors, and a
    third where a streak beats the record; over a streamed table one, and a second where a streak beats the record.
    """

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({"standardize": True},)
    compared_visits: ClassVar[int | None] = 2**20  # an epoch visits the rows several times
    draws_rows: ClassVar[str] = "rows are drawn at random, and from a streamed table block by block"
    shuffle: ClassVar[bool] = True  # type: ignore[misc]
    _rule = PerceptronRule
    rate: Annotated[float, POSITIVE] = 1.0
    schedule: Decay = "constant"
    fit_intercept: bool = True
    init: Literal["random"] | Any = None
    epochs: int = 100
    tol: float = 0.0
    random_state: Any = 0
    warm_start: bool = False
    standardize: bool = False
    class_weight: ClassWeight = None
    basis: Any = None

    @property
    def errors_(self) -> Array | None:
        """Weight of the rows that each machine in the pocket gets wrong; None where they were not counted."""
        errors = self._best().errors
        return None if errors is None else read_only(errors.copy())

    def learn_one(self, x: RowLike, y: TargetLike, classes: LabelsLike = None) -> Self:
        """Learn from one row: an array (D,), or a dict by column names; the pocket goes by streaks."""
        self._check_named(classes)
        with lock_of(self):
            state = self._state or self._begin_with(x, y, classes)
            scan, best = state.scan, self._best()
            core = scan._native
            pocket = (best.theta, best.record, best.streak)  # by the longest streak, where errors are not counted
            if not (
                core is not None and best.errors is None and self.class_weight is None and core.take_into(x, y, *pocket)
            ):
                row, t, weight = self._weighted_row(x, y)
                self._follow_settings(state, scan)
                scan = scan.copy()  # other threads may read it while it runs
                best, _ = stream_pocket(ArraySource(row[None, :], t, weight), scan, self._best())
                self._state = replace(state, scan=scan, result=replace(state.result, pocket=best))
                let_scan_read_rows(state, scan)
        return self

    def _best(self) -> BestWeights:
        """Return the pocket, which is there from the first row on."""
        best = self._result.pocket
        assert best is not None
        return best

    def _weights(self) -> Array:
        return copy_at_once(self._best().theta)

    def _first_result(self, scan: Scan) -> OnlineResult:
        return replace(super()._first_result(scan), pocket=BestWeights.first(scan.theta))

    def _run(
        self, setup: PreparedState, source: Source, scan: Scan, options: EpochOptions, before: OnlineResult
    ) -> OnlineResult:
        assert before.pocket is not None
        if options.draw is None:
            best, missed = stream_pocket(source, scan, before.pocket)
            return OnlineResult([missed], scan_certificate(Status.NOT_CONVERGED, missed), pocket=best)
        best, history = run_pocket(source, scan, before.pocket, options)
        errors = history[-1]
        status = Status.SOLVED if errors <= options.tol * source.n_rows else Status.NOT_CONVERGED
        proof = scan_certificate(status, errors, "pocket with ratchet", gap=errors)
        if status is not Status.SOLVED:
            proof = replace(proof, advice=self._advice(source, setup.labels, scan))
        return OnlineResult(history, proof, pocket=best)

    def _advice(self, source: Source, classes: Labels, scan: Scan) -> str:
        """Return what to do about the errors that are left."""
        found = convergence_outlook(source, classes, scan)
        more = "raise epochs" if self.standardize else "set standardize=True, or raise epochs"
        further = f"{more} to look further"
        if found.separable is None:
            return FEWEST + further
        if not found.separable:
            return f"{found.reason}, so that there must be errors; {FEWEST}{further}"
        if not self.fit_intercept:
            return f"a plane separates the classes, but perhaps none through the origin; {FEWEST}{further}"
        return f"a plane separates the classes without an error (adaline.separability returns one): {more}"
