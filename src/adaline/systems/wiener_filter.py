"""The Wiener filter: the best linear filter of given length between signals."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from adaline import enclosures
from adaline.arrays import AnyArray, Array, RowsLike, TargetsLike, WeightsLike, like_rows, on_host
from adaline.construction import check_parameters
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.fitted import check_is_fitted
from adaline.forms import Count, Finite, Intercepts, RowsOf, Slopes, Strings
from adaline.input import Meter, continuation, transaction
from adaline.input.basis import check_basis
from adaline.input.columns import InputColumns
from adaline.input.drafts import snapshot
from adaline.input.open import open_rows, refuse_overflow
from adaline.input.system import check_same_columns, columns_on
from adaline.parameters import ZERO_OR_MORE, one_of
from adaline.penalties import RidgePenalty
from adaline.results import Certificate
from adaline.solvers.least_squares import toeplitz
from adaline.solvers.least_squares.choose import GRAM_BYTES, is_wide, read_moments, solve_least_squares, solve_wide
from adaline.solvers.least_squares.direct import output_digits, solve_sums
from adaline.solvers.least_squares.fit import Fit
from adaline.sources import Source
from adaline.sources.array import source_of
from adaline.sources.signal import SignalSource
from adaline.sources.views import GivenTargets
from adaline.state import FitSettings, FittedAttribute, FittedWith
from adaline.sums import Moments
from adaline.systems.families.closed_form import refuse_few_digits, without
from adaline.systems.families.filter import Filtered, FilterState, Signals, SignalSystem, tap_names
from adaline.systems.families.named import named_system
from adaline.systems.families.weights import column_notes, split_theta, warn_of_dependence

if TYPE_CHECKING:
    from adaline.enclosures.enclosure import Enclosure

WindowMethod = Literal["covariance", "autocorrelation"]


@dataclass(frozen=True)
class Recording:
    """A recording in progress: the sums of its complete rows, and the samples and targets that later rows need.

    A row u_n needs the samples from n - delay - taps + 1 to n - delay. Rows that look ahead (delay < 0) wait for later
    samples; until these come they count with zeros instead, as in a recording that ends here. The same is true of the
    rows after the end, which the autocorrelation method adds: they are taken back when the recording continues.

    Parameters
    ----------
    taps, delay : of the filter; taps one a signal.
    windowed : whether the signals are zero also after the end, with rows until the filter is empty.
    intercept : whether the sums are centred.
    x : (m, C) last samples, which rows to come need.
    t, weight : (p, K), (p,) or None: of the rows that wait for samples, the last one at the last sample.
    done, total : sums over the complete rows, and over all rows; None before the first sample.
    """

    taps: tuple[Count, ...]
    delay: int
    windowed: bool
    intercept: bool
    x: Annotated[Any, RowsOf(". S")]
    t: Annotated[Array, Finite("P K")]
    weight: Annotated[Array, Finite("P")] | None = None
    done: Moments | None = None
    total: Moments | None = None

    @classmethod
    def begin(cls, taps: tuple[int, ...], delay: int, targets: int, *, windowed: bool, intercept: bool) -> Recording:
        """Return a recording of no samples; a windowed one that looks ahead has rows before the first sample."""
        ahead = max(-delay, 0) if windowed else 0
        return cls(taps, delay, windowed, intercept, np.zeros((0, len(taps))), np.zeros((ahead, targets)))

    @property
    def after(self) -> int:
        """Number of rows after the last sample."""
        return max(self.delay + max(self.taps) - 1, 0) if self.windowed else 0

    def sums(self, verb: str) -> Moments:
        """Return the sums over all rows; refuse to do what `verb` says where there are none."""
        if self.total is None:
            raise SumsMissing(f"cannot {verb}: this filter has more taps than rows and was solved without sums")
        return self.total

    def open(self, x: AnyArray, t: Array, weight: Array | None, names: tuple[str, ...] | None) -> SignalSource:
        """Return the rows of new samples x (n, C): those that waited, the new ones, those after the end."""
        if t.shape[1] != self.t.shape[1]:
            raise InvalidData(f"y has {t.shape[1]} desired signals; the filter was fitted to {self.t.shape[1]}")
        if weight is not None or self.weight is not None:
            weight = _joined(_ones(self.weight, self.t), _ones(weight, t))
        return SignalSource(
            _joined(self.x, x),
            _joined(self.t, t, np.zeros((self.after, t.shape[1]))),
            self.taps,
            self.delay,
            origin=len(self.x) - len(self.t),
            history=len(self.x),
            weight=weight,
            names=names,
        )

    def take(self, source: SignalSource) -> Recording:
        """Return the recording continued by the rows that `open` gave."""
        rows = source.n_rows - self.after
        waiting = min(max(-self.delay, 0), rows)
        done = total = self._plus(self.done, source.rows(0, rows - waiting))
        if waiting + self.after:
            total = self._plus(done, source.rows(rows - waiting, source.n_rows))
        kept = min(max(waiting + self.delay + source.longest - 1, 0), len(source.x))
        t, weight = source.targets.of_rows(slice(rows - waiting, rows))
        return replace(
            self,
            x=source.x[len(source.x) - kept :].copy(),
            t=t.copy(),
            weight=None if weight is None else weight.copy(),
            done=done,
            total=total,
        )

    def merge(self, other: Moments) -> Recording:
        """Return the recording with the sums of another one added; it can be continued."""
        assert self.done is not None
        assert self.total is not None
        done, total = self.done.copy(), self.total.copy()
        done.merge(other)
        total.merge(other)
        return replace(self, done=done, total=total)

    def afresh(self, total: Moments | None) -> Recording:
        """Return a new recording of the same kind, added to these sums."""
        new = self.begin(self.taps, self.delay, self.t.shape[1], windowed=self.windowed, intercept=self.intercept)
        return replace(new, done=total, total=total)

    def _plus(self, before: Moments | None, source: SignalSource) -> Moments:
        """Return the sums with those of more rows added."""
        if source.n_rows == 0:
            return Moments.zero(source.shape, centred=self.intercept) if before is None else before
        found = read_moments(source, self.intercept)
        if before is None:
            return found
        out = before.copy()
        out.merge(found)
        return out


@dataclass(frozen=True)
class WienerSettings(FitSettings):
    """The settings that a Wiener filter is read with, beside those of its recording."""

    penalty: float


@dataclass(frozen=True, kw_only=True, eq=False)
class WienerState(FilterState):
    """What a fit of a Wiener filter has learned.

    Parameters
    ----------
    coef, intercept : (D,) and a number, or (K, D) and (K,).
    rank, aliased, dependencies : of R_xx, and of the taps, as `WienerFilter` says.
    certificate : how good the solution is.
    recording : the sums of the rows, and the samples that the next ones need.
    """

    coef: Slopes
    intercept: Intercepts
    rank: Count
    aliased: Annotated[NDArray[np.object_], Strings(".")] | None
    dependencies: list[str] | None
    certificate: Certificate
    recording: Recording


@named_system
@dataclass(eq=False, repr=False)
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
        Samples by which the input lags; negative: the filter uses -delay future samples.
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
    `aliased_` : taps that depend on those before them, as "x0(n-3)" (None for wide filters solved in the dual);
    `dependencies_` : how, as text.

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

    taps: Any = None
    _: KW_ONLY
    method: Annotated[WindowMethod, one_of(WindowMethod)] = "covariance"
    delay: int = 0
    penalty: Annotated[float, ZERO_OR_MORE] = 0.0
    fit_intercept: bool = False
    basis: Any = None

    learns = WienerState
    _fitted_with = FittedWith(WienerSettings)
    rank_ = FittedAttribute[int]()
    aliased_ = FittedAttribute[NDArray[np.object_] | None]()
    dependencies_ = FittedAttribute[list[str] | None]()
    certificate_ = FittedAttribute[Certificate]()
    _recording = FittedAttribute[Recording]()

    @transaction
    def fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit to input signals X (n,) or (n, C) and the desired signal y (n,) or (n, K); weights are of rows.

        The signals may also be the columns of a source, in its order of rows.
        """
        meter = Meter(X)
        check_parameters(self)
        if isinstance(X, Source):
            self._state = self._after_blocks(X, y, sample_weight, meter, None)
            self._warn_of_dependence(None)
            return self
        given = self._read(X, y, sample_weight, reset=True)
        recording = self._begin(given.columns, given.t.shape[1])
        source = self._rows(recording, given)
        if is_wide(source):
            self._refuse_large(source)
            fit = solve_wide(source, self.fit_intercept, self._ridge(source.shape.features))
        else:
            recording = recording.take(source)
            fit = self._solve(source, given.columns, recording.sums("continue"))
        self._state = self._found(fit, recording, given.columns, given.flat, meter.on(fit.solution.certificate, None))
        self._warn_of_dependence(None)
        return self

    @continuation
    def partial_fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Take in the signals' next samples: the result equals one fit to all of them, to the digits certified."""
        meter = Meter(X)
        check_parameters(self)
        begun = None if self._state is None else self._recording
        if begun is not None:
            check_basis(self)
            begun.sums("continue")
        before = None if begun is None else self.dependencies_
        if isinstance(X, Source):
            self._state = self._after_blocks(X, y, sample_weight, meter, begun)
        else:
            given = self._read(X, y, sample_weight, reset=begun is None)
            recording = self._begin(given.columns, given.t.shape[1]) if begun is None else begun
            self._state = self._after(recording.take(self._rows(recording, given)), given.columns, given.flat, meter)
        self._warn_of_dependence(before)
        return self

    @continuation
    def merge(self, other: Self) -> Self:
        """Take in a filter fitted to another recording; `partial_fit` continues this one."""
        meter = Meter()
        if type(other) is not type(self):
            raise InvalidParameter(f"cannot merge {type(self).__name__} with {type(other).__name__}")
        other = snapshot(other)
        mine, theirs = self._own_sums("merge"), other._own_sums("merge")
        kinds = [
            (model._layout(columns_on(model)), model.method, model.delay, model.fit_intercept)
            for model in (self, other)
        ]
        if kinds[0] != kinds[1] or mine.shape != theirs.shape:
            raise InvalidData(
                f"cannot merge filters of different kind: (taps, method, delay, fit_intercept) = {kinds[0]} for "
                f"{mine.shape.targets} and {kinds[1]} for {theirs.shape.targets} desired signals"
            )
        check_same_columns(self, other)
        before = self.dependencies_
        self._state = self._after(self._recording.merge(theirs), columns_on(self), self._flat, meter)
        self._warn_of_dependence(before)
        return self

    @continuation
    def forget(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Take a whole recording back out, one that was fitted or merged; the next `partial_fit` starts a new one.

        Refused where too few digits would be left.
        """
        meter = Meter(X)
        check_parameters(self)
        mine = self._own_sums("forget")
        given = self._read(X, y, sample_weight, reset=False)
        recording = self._recording.afresh(None)
        source = self._rows(recording, given)
        left = without(mine, recording.take(source).sums("forget"), source)
        fit = self._solve(None, given.columns, left) if left.weight > 0 else None
        outputs = [] if fit is None else [partial(output_digits, left, self.fit_intercept, fit.penalty)]
        refuse_few_digits(0.0 if fit is None else fit.solution.certificate.digits, outputs, self.dependencies_)
        assert fit is not None
        proof, before = meter.on(fit.solution.certificate, None), self.dependencies_
        self._state = self._found(fit, self._recording.afresh(left), given.columns, given.flat, proof)
        self._warn_of_dependence(before)
        return self

    def enclose(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Enclosure:
        """Return bounds that are proved to contain the exact filter for these signals, as `LinearRegression` does.

        Both methods solve least squares over rows of the delay line, the autocorrelation method with the rows after
        the end; none of their faster sums is relied on. `predict` of the result has bounds on the outputs.

        Parameters
        ----------
        X, y, sample_weight
            The signals, as for `fit`: of one recording.

        Returns
        -------
        Enclosure : named tuple of `lower` and `upper`, each (1 + D,) or (K, 1 + D), the constant first.

        Examples
        --------
        >>> from adaline import WienerFilter
        >>> x, d = [1.0, 2.0, -1.0, 3.0], [2.0, 5.0, 0.0, 5.0]
        >>> found = WienerFilter(taps=2).fit(x, d).enclose(x, d)
        >>> print(found.contains([0.0, 2.0, 1.0]))
        [ True  True  True]
        """
        check_is_fitted(self, "coef_")
        if isinstance(X, Source):
            self._refuse_sparse(X)
            opened = source_of(list(open_rows(self, X, y, sample_weight, reset=False)[0].blocks()), None)
            given = Signals(opened.x, opened.read_targets(), opened.read_weights(), self._flat, columns_on(self))
        else:
            given = self._read(X, y, sample_weight, reset=False)
        begun = self._recording.afresh(None)
        rows = begun.open(given.x, given.t, given.weight, None)
        penalty = RidgePenalty(float(self._fitted_with.penalty), np.ones(rows.shape.features))
        theta = np.column_stack([np.atleast_1d(self.intercept_), np.atleast_2d(self.coef_)])
        plain = GivenTargets(rows, rows.read_targets())  # no sums by the recursion of the delay line
        found = enclosures.enclose_least_squares(plain, begun.intercept, penalty, theta)
        proved = enclosures.enclosure_of([found], self._tap_names(), self._flat, self._delayed, None)
        return proved.beside(self.intercept_, self.coef_, self.certificate_.digits)

    def _delayed(self, X: RowsLike) -> Any:
        """Return the rows of the delay line for input signals X, (n, D)."""
        x, _ = self._read_signals(X, reset=False)
        rows = SignalSource(x, np.zeros((len(x), 1)), *self._line)
        return np.concatenate([block.x for block in rows.blocks()])

    @overload
    def filter(self, x: AnyArray, d: None = None) -> Array: ...
    @overload
    def filter(self, x: AnyArray, d: Any) -> Filtered: ...
    @np.errstate(all="ignore")
    def filter(self, x: AnyArray, d: Any = None) -> Array | Filtered:
        """Return the output for input signals x; with the desired signal d a named tuple (output, error d - output)."""
        output = self.predict(x)
        if d is None:
            return output
        desired = self._read_desired(d, output.shape[0])
        if desired.shape != output.shape:
            raise InvalidData(f"d has shape {desired.shape}, the output {output.shape}")
        return Filtered(output, like_rows(x, refuse_overflow(desired - on_host(output))))

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

    def _after_blocks(
        self, X: Source, y: TargetsLike, sample_weight: WeightsLike, meter: Meter, begun: Recording | None
    ) -> WienerState:
        """Return the state after the rows of a source, taken in block by block, and solved from the sums alone."""
        self._refuse_sparse(X)
        source, columns = open_rows(self, X, y, sample_weight, reset=begun is None)
        recording = self._begin(columns, source.shape.targets) if begun is None else begun
        flat = source.targets.flat if begun is None else self._flat
        for block in source.blocks():
            given = Signals(block.x, block.t, block.weight, flat, columns)
            recording = recording.take(self._rows(recording, given))
        return self._after(recording, columns, flat, meter, source)

    def _after(
        self, recording: Recording, columns: InputColumns, flat: bool, meter: Meter, source: Source | None = None
    ) -> WienerState:
        """Return the state after a recording, solved from its sums."""
        fit = self._solve(None, columns, recording.sums("continue"))
        return self._found(fit, recording, columns, flat, meter.on(fit.solution.certificate, source))

    def _begin(self, columns: InputColumns, targets: int) -> Recording:
        """Return a recording of no samples."""
        return Recording.begin(
            self._layout(columns), int(self.delay), targets, windowed=self._windowed, intercept=self.fit_intercept
        )

    def _rows(self, recording: Recording, given: Signals) -> SignalSource:
        """Return the rows that new samples complete."""
        if given.weight is not None and self._windowed:
            raise InvalidParameter("sample_weight needs method='covariance': with weights R_xx is not Toeplitz.")
        return recording.open(given.x, given.t, given.weight, tuple(given.columns.coefficient_names()))

    def _ridge(self, taps: int) -> RidgePenalty:
        return RidgePenalty(float(self.penalty), np.ones(taps))

    def _solve(self, source: SignalSource | None, columns: InputColumns, total: Moments) -> Fit:
        """Solve from sums, with the rows they came from where they are at hand."""
        if self._windowed and columns.width == 1:
            return toeplitz.solve_wiener(source, total, float(self.penalty))
        ridge = self._ridge(total.shape.features)
        if source is None:
            return solve_sums(total, self.fit_intercept, ridge)
        return solve_least_squares(source, total, self.fit_intercept, ridge)

    def _found(
        self, fit: Fit, recording: Recording, columns: InputColumns, flat: bool, proof: Certificate
    ) -> WienerState:
        """Return the state: the weights of a fit, and what is known of them."""
        coef, intercept = split_theta(fit.solution.theta, flat, None)
        notes = column_notes(fit, lambda: tap_names(columns, recording.taps, recording.delay))
        return WienerState(
            fitted_with=self._settings_of_fit(),
            columns=columns,
            coef=coef,
            intercept=intercept,
            flat=flat,
            rank=proof.rank,
            aliased=notes.aliased,
            dependencies=notes.dependencies,
            certificate=proof,
            recording=recording,
        )

    def _warn_of_dependence(self, before: list[str] | None) -> None:
        """Warn of taps that are combinations of others, unless there are too few rows, or it was known before."""
        total = self._recording.total
        if total is not None and total.rows > total.shape.features:
            warn_of_dependence(self.dependencies_, before)

    def _own_sums(self, verb: str) -> Moments:
        """Return the sums of the recording; refuse to do what `verb` says where there are none."""
        check_is_fitted(self, "_recording")
        return self._recording.sums(verb)

    def _refuse_large(self, source: SignalSource) -> None:
        """Refuse rows whose products with each other would not fit in memory."""
        if 8 * source.n_rows**2 > GRAM_BYTES:
            raise InvalidParameter(
                f"{source.shape.features} taps in all: R_xx exceeds the limit of {GRAM_BYTES >> 20} MiB. Use fewer "
                "taps, or resample the signals."
            )


def _joined(*parts: Any) -> Any:
    """Return arrays one after the other; the only one that is not empty is not copied."""
    filled = [part for part in parts if len(part)]
    return filled[0] if len(filled) == 1 else np.concatenate(filled or parts)


def _ones(weight: Array | None, rows: Array) -> Array:
    return np.ones(len(rows)) if weight is None else weight
