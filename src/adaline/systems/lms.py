"""LMS: stochastic gradient descent on the squared error, one step a row."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from adaline.arrays import Array
from adaline.block import Shape
from adaline.construction import check_parameters, configured
from adaline.errors import InvalidData
from adaline.fits.stochastic import start_scan, warn_of_bound
from adaline.input.basis import check_basis
from adaline.input.by_blocks import by_blocks
from adaline.input.coded import scored
from adaline.input.columns import set_columns
from adaline.input.meter import Meter
from adaline.input.open import open_rows
from adaline.input.transaction import transaction
from adaline.scans import SCANS, Scan
from adaline.solvers.epochs.sweep import SweepResult
from adaline.sources.views import in_memory
from adaline.systems.families.online import Learned, OnlineSystem


@configured
class LMS(MultiOutputMixin, RegressorMixin, OnlineSystem):
    """Least mean squares: minimises the mean of (y - w0 - w'x)^2 / 2 by one step a row, w += eta e x.

    With a number as rate it is the textbook's delta rule to the letter: raw columns, weights from zero, rows in their
    order. Such a rate must stay below about 2/Trace[Rxx]; at a constant one the weights go on trembling about the
    solution, and a falling one, such as schedule="1/t", settles. rate="auto" needs no number and no scaling.

    Parameters
    ----------
    rate : "auto" or number
        eta; "auto" is safe in any units.
    schedule : "constant", "1/t", "power" or function
        How a number falls with the steps t = 1, 2, ...: eta, eta/t, eta/(1 + t)^(3/4), or eta f(t).
    fit_intercept : bool
        Whether the model has a constant w0, learned like a weight.
    init : array (1 + D,) or (K, 1 + D), "random", or None
        First weights, intercept first; None is zero.
    epochs : int
        Most times that fit goes over the rows.
    tol : float
        fit ends when an epoch changes the progressive error by no more than this share of it.
    shuffle : bool
        Whether fit draws an order of rows for every epoch; a table too large for memory is shuffled block by block.
    random_state : int, generator or None
        Where orders and random weights are drawn from.
    warm_start : bool
        Whether fit goes on from the weights there are.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    coef_, intercept_ : the weights. history_ : mean of e^2/2 in each epoch, each row's before its own step.
    n_iter_ : epochs. rate_bound_ : 2/Trace[Rxx] on the last epoch. certificate_ : how it ended.

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

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({},)

    def __init__(
        self,
        *,
        rate: Any = "auto",
        schedule: Any = "constant",
        fit_intercept: bool = True,
        init: Any = None,
        epochs: int = 20,
        tol: float = 1e-4,
        shuffle: bool = False,
        random_state: Any = 0,
        warm_start: bool = False,
        basis: Any = None,
    ) -> None:
        self.rate = rate
        self.schedule = schedule
        self.fit_intercept = fit_intercept
        self.init = init
        self.epochs = epochs
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.warm_start = warm_start
        self.basis = basis

    @transaction
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X (n, D) and targets y (n,) or (n, K), or to a source, for up to `epochs` epochs.

        A weight multiplies the rate of its row's step. With `warm_start` learning goes on from the weights there are.
        """
        meter = Meter(X)
        check_parameters(self)
        goes_on = bool(self.warm_start) and hasattr(self, "_scan")
        opened = open_rows(self, X, y, sample_weight, reset=not goes_on)
        set_columns(self, opened.columns)
        source = in_memory(opened.source)
        self._check_targets(source.shape.targets, goes_on)
        self._flat = source.flat
        self._fit(source, goes_on, meter)
        return self

    @transaction
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go over more rows once, in their order: chunks give the bits of one go."""
        meter = Meter(X)
        first = not hasattr(self, "_scan")
        check_parameters(self)
        if not first:
            check_basis(self)
        opened = open_rows(self, X, y, sample_weight, reset=first)
        set_columns(self, opened.columns)
        source = in_memory(opened.source)
        self._check_targets(source.shape.targets, not first)
        self._flat = source.flat if first else self._flat
        self._go_on(source, meter)
        return self

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn from one row: an array (D,), or a dict by column names; y a number, or an array of K."""
        scan = self.__dict__.get("_scan")
        if scan is None:
            self._flat = np.ndim(y) == 0
            scan = self._begin(x, int(np.size(y)))
        t = self._target(y)
        self._learn_row(scan, x, t)
        return self

    def predict_one(self, x: Any) -> Any:
        """Return the prediction for one row: a number, or an array of K."""
        theta = self._scan.theta
        row = self._seen_row(x)
        try:
            z = theta[:, 1:].dot(row) + theta[:, 0]
        except (TypeError, ValueError):
            z = theta[:, 1:].dot(self._row(x)) + theta[:, 0]
        return float(z[0]) if self._flat else z

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R^2 for rows X (n, D) and y, or for a source."""
        return scored(self, super().score, X, y, sample_weight)

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Return predictions (n,) or (n, K)."""
        values = self._outputs(X)
        return values[:, 0] if self._flat else values

    @property
    def coef_(self) -> Array:
        """The weights, (D,) or (K, D)."""
        theta = self._weights()
        return theta[0, 1:].copy() if self._flat else theta[:, 1:].copy()

    @property
    def intercept_(self) -> float | Array:
        """The constant, or K of them."""
        theta = self._weights()
        return float(theta[0, 0]) if self._flat else theta[:, 0].copy()

    def _target(self, y: Any) -> Any:
        """Return one row's target as a number, or as K numbers; refuse what is not finite."""
        try:
            t = float(y) if self._flat else np.ascontiguousarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidData(f"a regression needs numbers as targets, got {y!r}") from None
        if not (t - t == 0 if self._flat else np.isfinite(t).all()):
            raise InvalidData(f"Input y contains {'NaN' if np.isnan(t).any() else 'infinity'}: {y!r}")
        return t

    def _start(self, shape: Shape) -> Scan:
        init = self._begun(shape, shape.targets)
        return start_scan(SCANS["LMS"], shape, self.rate, self.schedule, intercept=bool(self.fit_intercept), init=init)

    def _told(self, swept: SweepResult) -> Learned:
        warn_of_bound(self, swept.tallies[0])
        self.rate_bound_ = swept.tallies[-1].bound
        return super()._told(swept)

    def _check_targets(self, targets: int, goes_on: bool) -> None:
        if goes_on and targets != len(self._scan.theta):
            raise InvalidData(f"y has {targets} targets, but LMS was fitted to {len(self._scan.theta)}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
