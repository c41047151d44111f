"""The Wiener filter: the best linear filter of given length between signals."""

from __future__ import annotations

from typing import Any, ClassVar, Self, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adaline.arrays import Array
from adaline.construction import check_parameters, configured
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.input.basis import check_basis, width_of
from adaline.input.columns import check_same_columns, set_columns
from adaline.input.meter import Meter
from adaline.input.open import open_rows, read_weights
from adaline.input.transaction import transaction
from adaline.parameters import ZERO_OR_MORE, Check, OneOf
from adaline.penalties import RidgePenalty
from adaline.results import Certificate
from adaline.solvers.least_squares import toeplitz
from adaline.solvers.least_squares.choose import GRAM_BYTES, is_wide, solve_least_squares, solve_wide
from adaline.solvers.least_squares.direct import solve_sums
from adaline.solvers.least_squares.fit import Fit
from adaline.sources import Source
from adaline.sources.signal import SignalSource
from adaline.sums import Moments
from adaline.systems.families.closed_form import refuse_few_digits, without
from adaline.systems.families.filter import Filtered, Recording, SignalSystem

METHODS = ("covariance", "autocorrelation")


@configured
class WienerFilter(SignalSystem):
    """The linear filter whose output is closest to a desired signal d: minimises 1/2 sum_n weight_n (d_n - w'u_n)^2.

    u_n holds the last samples of the input, u_n = [x_(n-delay), x_(n-delay-1), ..., x_(n-delay-taps+1)], all taps of
    the first signal, then those of the second, and so on; samples before the start and after the end are zero. The
    minimum is where R_xx w = r_xy. With d = x and delay=1 it is the one-step predictor, with a negative delay it
    smooths, looking ahead. The rows u_n are never stored; one pass over the signal, C x taps products for a sample.

    Parameters
    ----------
    taps : int, a sequence of ints (one a signal), or None
        Length of the filter. None: no memory, the columns of X are the x_k(n) of (5.10) as they stand; a signal (n,)
        needs a number.
    method : "covariance" or "autocorrelation"
        "covariance" sums over the n rows, exact least squares. "autocorrelation" takes the signals as zero outside the
        record, also after its end (d too): R_xx holds the biased correlations r(k) = 1/N sum x_n x_(n-k) and is
        Toeplitz, which makes a predictor stable, at the cost of a bias of about taps/n. One signal is then solved by
        Levinson's recursion.
    delay : int
        Samples by which the input lags; negative: the filter sees -delay future samples.
    penalty : float
        lambda of (5.13), added to the diagonal of N R_xx.
    fit_intercept : bool
        Whether the output has a constant w0; method="covariance" only.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the signals phi(x_n) instead of x_n; `basis_` is as learned. With taps a Hammerstein
        filter; with taps=None and past samples as columns of X, Polynomial makes a Volterra filter.

    Attributes
    ----------
    coef_ : (D,) or (K, D), the filter, all taps of signal 0 first; `taps_` : one view of it for each signal;
    intercept_ : w0, or 0; `certificate_` : how good the solution is; `rank_` : of R_xx;
    `aliased_` : taps that depend on those before them, as "x0(n-3)" (None for wide filters solved in the dual).

    Examples
    --------
    An echo path of three taps is found from what goes in and what comes back:

    >>> import numpy as np
    >>> from adaline import WienerFilter
    >>> x = np.random.default_rng(0).standard_normal(1000)
    >>> d = np.convolve(x, [0.5, -0.25, 0.125])[:1000]
    >>> echo = WienerFilter(taps=4).fit(x, d)
    >>> np.round(echo.coef_, 12) + 0.0
    array([ 0.5  , -0.25 ,  0.125,  0.   ])
    >>> bool(abs(echo.filter(x, d).error).max() < 1e-14)
    True

    References
    ----------
    Lecture S0, section 5.1, (5.9)-(5.11).
    """

    certificate_: Certificate
    rank_: int
    aliased_: NDArray[np.object_] | None
    _recording: Recording

    parameters: ClassVar[dict[str, Check]] = {"method": OneOf(*METHODS), "penalty": ZERO_OR_MORE}

    def __init__(
        self,
        *,
        taps: Any = None,
        method: str = "covariance",
        delay: int = 0,
        penalty: float = 0.0,
        fit_intercept: bool = False,
        basis: Any = None,
    ) -> None:
        self.taps = taps
        self.method = method
        self.delay = delay
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.basis = basis

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to input signals X (n,) or (n, C) and the desired signal y (n,) or (n, K); weights are of rows.

        The signals may also be the columns of a source, in its order of rows.
        """
        meter = Meter(X)
        check_parameters(self)
        if isinstance(X, Source):
            source, columns = open_rows(self, X, y, sample_weight, reset=True)
            set_columns(self, columns)
            return self._listen(source, meter, afresh=True)
        x, t, weight = self._read(X, y, sample_weight, reset=True)
        recording = self._begin(t.shape[1])
        source = recording.open(x, t, weight, self._names())
        if is_wide(source):
            self._refuse_large(source)
            self._recording = recording
            self._keep(
                solve_wide(
                    source, self.fit_intercept, RidgePenalty(float(self.penalty), np.ones(source.shape.features))
                ),
                meter,
                None,
            )
        else:
            self._recording = recording.take(source)
            self._keep(self._solve(source, self._own_sums("continue")), meter, None)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take in the signals' next samples: the result equals one fit to all of them, to the digits certified."""
        meter = Meter(X)
        check_parameters(self)
        new = not hasattr(self, "_recording")
        if not new:
            check_basis(self)
            self._own_sums("continue")
        if isinstance(X, Source):
            opened = open_rows(self, X, y, sample_weight, reset=new)
            set_columns(self, opened.columns)
            return self._listen(opened.source, meter, afresh=new)
        x, t, weight = self._read(X, y, sample_weight, reset=new)
        recording = self._begin(t.shape[1]) if new else self._recording
        self._recording = recording.take(recording.open(x, t, weight, self._names()))
        self._keep(self._solve(None, self._own_sums("continue")), meter, None)
        return self

    def merge(self, other: Self) -> Self:
        """Take in a filter fitted to another recording; `partial_fit` goes on with this one."""
        meter = Meter()
        mine, theirs = self._own_sums("merge"), other._own_sums("merge")
        kinds = [(model._layout(), model.method, model.delay, model.fit_intercept) for model in (self, other)]
        if kinds[0] != kinds[1] or mine.shape != theirs.shape:
            raise InvalidData(
                f"cannot merge filters of different kind: (taps, method, delay, fit_intercept) = {kinds[0]} for "
                f"{mine.shape.targets} and {kinds[1]} for {theirs.shape.targets} desired signals"
            )
        check_same_columns(self, other)
        self._recording = self._recording.merge(theirs)
        self._keep(self._solve(None, self._own_sums("merge")), meter, None)
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take a whole recording back out, one that was fitted or merged; the next `partial_fit` starts a new one.

        Refused where too few digits would be left.
        """
        meter = Meter(X)
        check_parameters(self)
        mine = self._own_sums("forget")
        x, t, weight = self._read(X, y, sample_weight, reset=False)
        trial = self._recording.afresh(None)
        gone = trial.take(trial.open(x, t, weight, self._names())).total
        assert gone is not None
        left = without(mine, gone)
        fit = self._solve(None, left) if left.weight > 0 else None
        refuse_few_digits(0.0 if fit is None else fit.solution.certificate.digits)
        assert fit is not None
        self._recording = self._recording.afresh(left)
        self._keep(fit, meter, None)
        return self

    @overload
    def filter(self, x: Any, d: None = None) -> Array: ...
    @overload
    def filter(self, x: Any, d: Any) -> Filtered: ...
    def filter(self, x: Any, d: Any = None) -> Array | Filtered:
        """Return the output for input signals x; with the desired signal d a named tuple (output, error d - output)."""
        output = self.predict(x)
        if d is None:
            return output
        desired = self._read_desired(d, len(output))
        if desired.shape != output.shape:
            raise InvalidData(f"d has shape {desired.shape}, the output {output.shape}")
        return Filtered(output, desired - output)

    def _check_together(self) -> None:
        if self.fit_intercept and self._windowed:
            raise InvalidParameter(
                "fit_intercept=True needs method='covariance': with a constant R_xx is not Toeplitz. "
                "Or subtract the means from the signals first."
            )

    @property
    def _windowed(self) -> bool:
        """Whether the record is taken as zero also after its end."""
        return self.method == "autocorrelation"

    @property
    def _line(self) -> tuple[tuple[int, ...], int]:
        return self._recording.taps, self._recording.delay

    def _read(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, Array, Array | None]:
        """Return signals (n, C), desired signals (n, K) and weights."""
        x = self._read_signals(X, reset=reset)
        t = self._read_desired(y, len(x))
        weight = None if sample_weight is None else read_weights(sample_weight, len(x))
        if weight is not None and self._windowed:
            raise InvalidParameter("sample_weight needs method='covariance': with weights R_xx is not Toeplitz.")
        if reset:
            self._flat = t.ndim == 1
        return x, t.reshape(len(t), -1), weight

    @transaction
    def _listen(self, source: Source, meter: Meter, *, afresh: bool) -> Self:
        """Take in the rows of a source, block by block; the filter is solved from the sums alone."""
        if afresh:
            self._flat = source.flat
        recording = self._begin(source.shape.targets) if afresh else self._recording
        for block in source.blocks():
            weight = block.weight
            if weight is not None and self._windowed:
                raise InvalidParameter("sample_weight needs method='covariance': with weights R_xx is not Toeplitz.")
            recording = recording.take(recording.open(block.x, block.t, weight, self._names()))
        self._recording = recording
        self._keep(self._solve(None, self._own_sums("continue")), meter, source)
        return self

    def _begin(self, targets: int) -> Recording:
        return Recording.begin(
            self._layout(), int(self.delay), targets, windowed=self._windowed, intercept=self.fit_intercept
        )

    def _solve(self, source: SignalSource | None, total: Moments) -> Fit:
        """Solve from sums, with the rows they came from where they are at hand."""
        if self._windowed and width_of(self) == 1:
            return toeplitz.solve_wiener(source, total, float(self.penalty))
        ridge = RidgePenalty(float(self.penalty), np.ones(total.shape.features))
        if source is None:
            return solve_sums(total, self.fit_intercept, ridge)
        return solve_least_squares(source, total, self.fit_intercept, ridge)

    def _keep(self, fit: Fit, meter: Meter, source: Source | None) -> None:
        theta = fit.solution.theta
        self.coef_ = theta[0, 1:] if self._flat else theta[:, 1:]
        self.intercept_ = float(theta[0, 0]) if self._flat else theta[:, 0]
        self.certificate_ = meter.on(fit.solution.certificate, source)
        self.rank_ = self.certificate_.rank
        names = self._tap_names()
        if self.rank_ == len(names):
            self.aliased_ = np.array([], dtype=object)
        else:
            self.aliased_ = (
                None if fit.factor is None else np.array([names[j] for j in fit.factor.aliased()], dtype=object)
            )

    def _own_sums(self, verb: str) -> Moments:
        check_is_fitted(self, "_recording")
        if self._recording.total is None:
            raise SumsMissing(f"cannot {verb}: this filter has more taps than rows and was solved without sums")
        return self._recording.total

    def _refuse_large(self, source: SignalSource) -> None:
        if 8 * source.n_rows**2 > GRAM_BYTES:
            raise InvalidParameter(
                f"{source.shape.features} taps in all: R_xx exceeds the limit of {GRAM_BYTES >> 20} MiB. Use fewer "
                "taps, or resample the signals."
            )
