"""LMS: stochastic gradient descent on the squared error, one step a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np

from adaline.arrays import Array, RowLike, RowsLike, TargetLike, TargetsLike, WeightsLike, like_rows
from adaline.construction import check_parameters
from adaline.errors import InvalidData
from adaline.estimator import RegressorMixin
from adaline.fits.mixing import measure_loss, run_mixed
from adaline.fits.online import OnlineResult, run_lms
from adaline.input import Meter, by_blocks, continuation, transaction
from adaline.input.basis import check_basis
from adaline.input.coded import scored
from adaline.input.open import open_rows
from adaline.locks import lock_of
from adaline.losses import Squared
from adaline.parameters import CONFORMAL_INTERVAL, NONE, POSITIVE, UsedWith
from adaline.scans import LMSRule, Scan
from adaline.scans.schedules import Decay
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.sources import Source
from adaline.sources.views import in_memory
from adaline.state import FittedAttribute, read_only
from adaline.systems.families.named import named_system
from adaline.systems.families.online import OnlineSystem
from adaline.systems.families.online_state import OnlineState, PreparedState
from adaline.wording import counted

if TYPE_CHECKING:  # inference is imported by the methods that need it
    from adaline.inference.classical import Interval


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class LMS(RegressorMixin, OnlineSystem):
    """Least mean squares: minimises the mean of (y - w0 - w'x)^2 / 2 by one step a row, w += eta e x.

    With a number as rate it is exactly the textbook's delta rule: raw columns, weights from zero, rows in their
    order. Such a rate must stay below about 2/Trace[Rxx]; at a constant one the weights keep varying about the
    solution, and a falling one, such as schedule="1/t", settles. rate="auto" needs no number and no scaling.

    Parameters
    ----------
    rate : "auto" or number
        eta of LMS; "auto" learns a step for each direction from the rows instead, as recursive least squares does
        (`adaline.scans.adaptive`), which is safe in any units; with more than 128 columns, one for each column.
    schedule : "constant", "1/t", "power" or function
        How a rate that is a number falls with the steps t = 1, 2, ...: eta, eta/t, eta/(1 + t)^(3/4), or eta f(t).
    fit_intercept : bool
        Whether the model has a constant w0, learned like a weight.
    init : array (1 + D,) or (K, 1 + D), "random", or None
        First weights, intercept first; None is zero.
    epochs : int
        Largest number of epochs of a fit.
    tol : float
        fit ends when an epoch changes the progressive error by no more than this share of it.
    shuffle : bool
        Whether fit permutes the rows for every epoch; a table too large for memory is shuffled block by block.
    random_state : int, generator or None
        Seed or generator of permutations and random weights.
    warm_start : bool
        Whether fit continues from the present weights.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.
    mixing : int or None
        Rounds of parameter mixing, for tables on clusters, in place of epochs: every part of the rows is scanned at
        once from common weights, which are then averaged. It is not the rule in order, and the certificate says so,
        with the gap to the optimum; rows that are sorted it learns badly. None refuses rows that lie in parts.

    Attributes
    ----------
    coef_, intercept_ : the weights. history_ : mean of e^2/2 in each epoch, each row's before its own step.
    n_iter_ : epochs. rate_bound_ : 2/Trace[Rxx] on the last epoch and rows since. certificate_ : how it ended.
    rows_seen_ : rows learned from, each counted once a fit.

    Examples
    --------
    >>> from adaline import LMS
    >>> model = LMS(rate=0.1, epochs=200).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> print(f"{model.intercept_:.3f} {model.coef_[0]:.3f}")
    1.000 2.000
    >>> online = LMS(rate=0.1).learn_one({"x": 1.0}, 3.0)
    >>> round(online.predict_one({"x": 2.0}), 3)
    0.9

    References
    ----------
    Lecture S0, section 5.4, (5.20); S1, S3 and S4: stochastic gradient, Robbins and Monro's schedules. One pass an
    epoch; partial_fit one pass; learn_one about a microsecond.
    """

    _rule = LMSRule  # of a rate that is a number; `fits/online.py` chooses for rate="auto"
    used_with: ClassVar[UsedWith] = {
        "schedule": {"rate": POSITIVE},
        "epochs": {"mixing": NONE},
        "shuffle": {"mixing": NONE},
    }
    rate: float | Literal["auto"] = "auto"
    schedule: Decay = "constant"
    fit_intercept: bool = True
    init: Literal["random"] | Any = None
    epochs: int = 20
    tol: float = 1e-4
    shuffle: bool = False
    random_state: Any = 0
    warm_start: bool = False
    basis: Any = None
    mixing: int | None = None

    _flat = FittedAttribute[bool]()

    @transaction
    def fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit to rows X (n, D) and targets y (n,) or (n, K), or to a source, for up to `epochs` epochs.

        A weight multiplies the rate of its row's step. With `warm_start` learning continues from the present weights.
        """
        meter = Meter(X)
        check_parameters(self)
        source, setup = self._open(X, y, sample_weight, self._state if self.warm_start else None)
        self._learn(replace(setup, flat=source.targets.flat), source, meter)
        return self

    @continuation
    def partial_fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Go over more rows once, in their order; rows in chunks give the same bits as all at once."""
        meter = Meter(X)
        check_parameters(self)
        if self._state is not None:
            check_basis(self)
        source, setup = self._open(X, y, sample_weight, self._state)
        self._learn(setup, source, meter, once=True)
        return self

    def learn_one(self, x: RowLike, y: TargetLike) -> Self:
        """Learn from one row: an array (D,), or a dict by column names; y a number, or an array of K."""
        try:
            if self._state.scan._native.take(x, y):  # type: ignore[union-attr]  # at once, from the second row on
                return self
        except AttributeError:  # there is no scan, or no native one yet
            pass
        with lock_of(self):
            if self._state is None:
                self._begin(x, int(np.size(y)), flat=np.ndim(y) == 0)
            self._learn_row(x, self._target(y))
        return self

    def predict_one(self, x: RowLike) -> TargetLike:
        """Return the prediction for one row: a number, or an array of K."""
        state, z = self._still_outputs(x)
        return float(z[0]) if state.flat else z

    def score(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> float:
        """Return R^2 for rows X (n, D) and y, or for a source."""
        return scored(self, super().score, X, y, sample_weight)

    @overload
    def predict(self, X: RowsLike, interval: None = None, level: float = 0.95) -> Array: ...
    @overload
    def predict(self, X: RowsLike, interval: Literal["conformal"], level: float = 0.95) -> Interval: ...
    def predict(
        self, X: RowsLike, interval: Literal["conformal"] | None = None, level: float = 0.95
    ) -> Array | Interval:
        """Return predictions (n,) or (n, K); with interval="conformal" a named tuple (prediction, lower, upper).

        These cover a new observation with probability `level`, for any distribution of the rows: `adaline.conformal`.
        """
        if interval is not None:
            CONFORMAL_INTERVAL.check("interval", interval)
            from adaline.systems.families.conformal import conformal  # seldom needed

            return conformal(self).predict(X, level)
        return self._values(X)

    @by_blocks
    def _values(self, X: RowsLike) -> Array:
        values = self._outputs(X)
        return like_rows(X, values[:, 0] if self._flat else values)

    @property
    def coef_(self) -> Array:
        """The weights, (D,) or (K, D)."""
        theta = self._raw_weights()
        return read_only(theta[0, 1:].copy() if self._flat else theta[:, 1:].copy())

    @property
    def intercept_(self) -> float | Array:
        """The constant, or K of them."""
        theta = self._raw_weights()
        return float(theta[0, 0]) if self._flat else read_only(theta[:, 0].copy())

    @property
    def rate_bound_(self) -> float:
        """2 / Trace[Rxx] of (5.20) on the last epoch, and on rows learned one at a time since."""
        return self._scan.tally.bound

    def _run(
        self, setup: PreparedState, source: Source, scan: Scan, options: EpochOptions, before: OnlineResult
    ) -> OnlineResult:
        if options.mixing is not None:
            return run_mixed(source, scan, options, options.mixing, measure_loss(Squared()), "LinearRegression")
        return run_lms(source, scan, options, self.rate, self.schedule)

    def _open(
        self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, before: OnlineState | None
    ) -> tuple[Source, PreparedState]:
        """Return the rows and what learning begins with; refuse another number of targets than the state before has."""
        opened = open_rows(self, X, y, sample_weight, reset=before is None)
        source = in_memory(opened.source)
        if before is None:
            return source, self._setup(source, opened.columns, flat=source.targets.flat)
        if source.shape.targets != len(before.scan.theta):
            given = counted(source.shape.targets, "target")
            raise InvalidData(f"y has {given}, but LMS was fitted to {len(before.scan.theta)}")
        return source, before

    def _target(self, y: TargetsLike) -> Any:
        """Return one row's target as a number, or as K numbers; refuse what is not finite."""
        try:
            if np.iscomplexobj(y):
                raise TypeError
            t = float(y) if self._flat else np.ascontiguousarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidData(f"a regression needs numbers as targets, got {y!r}") from None
        if not (t - t == 0 if self._flat else np.isfinite(t).all()):
            raise InvalidData(f"Input y contains {'NaN' if np.isnan(t).any() else 'infinity'}: {y!r}")
        return t
