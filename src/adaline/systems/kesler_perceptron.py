"""Kesler's construction: K perceptrons that learn together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from adaline.arrays import Array, copy_at_once
from adaline.fits.mixing import measure_rivals, run_mixed
from adaline.fits.online import OnlineResult, explain_mistakes, run_corrections
from adaline.parameters import POSITIVE, ClassWeight
from adaline.scans import KeslerRule, Scan
from adaline.scans.schedules import Decay
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.sources import Source
from adaline.systems.families.named import named_system
from adaline.systems.families.online_classifier import OnlineClassifier
from adaline.systems.families.online_state import PreparedState


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class KeslerPerceptron(OnlineClassifier):
    """Kesler's perceptron of K classes: minimises the sum of w_j'x - w_i'x over the rivals j that lie above class i.

    For a row of class i, each rival j in order is rechecked, and where w_j'x >= w_i'x, w_i += eta x and w_j -= eta x.
    It ends at the first epoch without a correction, which comes if and only if K weight vectors exist whose largest
    output is right for every row: more than one against the rest can do.

    Parameters
    ----------
    rate : number
        eta. From zero weights and under a constant schedule it changes nothing but the length of the weights.
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
        Rounds of parameter mixing, for tables on clusters, in place of epochs: every part of the rows is scanned at
        once from common weights, which are then averaged. It is not the rule in order, and the certificate says so,
        with the criterion that is left. None refuses rows that lie in parts.

    Attributes
    ----------
    classes_ : labels. coef_, intercept_ : (K, D) and (K,); with two classes the difference, (1, D) and (1,).
    history_ : rows with a correction in each epoch. n_iter_ : epochs. certificate_ : how it ended.
    mistakes_ : corrections made since the start.
    rows_seen_ : rows learned from, each counted once a fit.

    Examples
    --------
    >>> from adaline import KeslerPerceptron
    >>> X = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]]
    >>> model = KeslerPerceptron().fit(X, list("aabbcc"))
    >>> model.predict([[0.5], [4.5], [8.5]]).tolist()  # b lies between: no plane cuts it off from the rest
    ['a', 'b', 'c']

    References
    ----------
    Lecture S2, Kesler's construction. One pass an epoch.
    """

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({"epochs": 100, "standardize": True},)
    _rule = KeslerRule

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

    def _class_targets(self, classes: int) -> Array:
        return np.arange(float(classes))[:, None]

    def _rule_options(self, setup: PreparedState) -> dict[str, Any]:
        return {"classes": len(setup.labels)}

    def _weights(self) -> Array:
        theta = self._scan.theta
        if len(theta) > 2:
            return theta
        first, second = copy_at_once(theta)
        return np.asarray(second - first)[None]

    def _run(
        self, setup: PreparedState, source: Source, scan: Scan, options: EpochOptions, before: OnlineResult
    ) -> OnlineResult:
        if options.mixing is not None:
            return run_mixed(source, scan, options, options.mixing, measure_rivals, "LogisticRegression")
        bounded = self.init is None and self.schedule == "constant" and not source.targets.weighted
        result = replace(run_corrections(source, scan, options, before), bounded=bounded)
        known = type(self).__name__, setup.labels, self.standardize, self.fit_intercept
        return explain_mistakes(source, scan, options, result, *known)
