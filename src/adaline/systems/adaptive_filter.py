"""Adaptive filters: a filter that learns from every sample as it comes (S0 section 5.4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np

from adaline.arrays import (
    AnyArray,
    Array,
    RowLike,
    RowsLike,
    TargetLike,
    TargetsLike,
    WeightsLike,
    copy_at_once,
    like_rows,
)
from adaline.block import Block
from adaline.construction import check_parameters
from adaline.errors import ConvergenceWarning, InvalidData, InvalidParameter, warn
from adaline.fits.online import LONGEST_HISTORY, scan_certificate
from adaline.fitted import AnyModel, check_is_fitted
from adaline.forms import Finite
from adaline.input import Meter, continuation
from adaline.input.basis import basis_of_row, check_basis
from adaline.input.columns import InputColumns
from adaline.input.open import open_rows
from adaline.locks import lock_of
from adaline.parameters import AUTO, FLAG, POSITIVE, ZERO_OR_MORE, AnyOf, Number, OneOf, UsedWith, WholeNumber, one_of
from adaline.results import Certificate, Status
from adaline.scans import Tally
from adaline.sources import Source
from adaline.sources.expanded import phi
from adaline.sources.signal import SignalSource
from adaline.state import MISSING, FittedAttribute, alike, change_state, read_only
from adaline.systems.families.adaptation import Adaptation
from adaline.systems.families.filter import Filtered, FilterState, SignalSystem
from adaline.systems.families.named import named_system

T = TypeVar("T")
FilterRule = Literal["lms", "nlms", "sign", "sign-data", "sign-sign", "rls"]
AUTO_RATE = 0.5  # of the normalised rule, which is stable from 0 to 2


@dataclass(frozen=True, kw_only=True, eq=False)
class AdaptiveState(FilterState):
    """What an adaptive filter has learned.

    Parameters
    ----------
    adaptation : the weights, and all else that samples taken one by one change in place.
    proof : the certificate before the first sample, with the passes and seconds of the last call.
    history : mean squared error by call.
    recorded : the weights kept by `record`, (K, D) each; `learn_one` appends to it.
    """

    adaptation: Adaptation
    proof: Certificate
    history: list[float]
    recorded: list[Annotated[Array, Finite(". D")]]

    @property
    def coef(self) -> Array:
        """(D,) or (K, D): a copy of the weights, which samples change in place."""
        coef = copy_at_once(self.adaptation.coef)
        return read_only(coef[0] if self.flat else coef)

    @property
    def intercept(self) -> float | Array:
        """A number, or (K,)."""
        theta = self.adaptation.theta
        return float(theta[0, 0]) if self.flat else read_only(theta[:, 0].copy())


class AdaptedAttribute(FittedAttribute[T]):
    """An attribute that reads what samples change in place.

    It can be assigned: the filter then continues from a copy, so that nobody who reads the present one is disturbed.
    """

    def __init__(self, part: Callable[[AdaptiveState], T], put: Callable[[Adaptation, T], Adaptation]) -> None:
        self.part, self.put = part, put

    def read(self, model: AnyModel) -> object:
        """Return the part as it is now, MISSING where there is none."""
        value = None if model._state is None else self.part(model._state)
        return MISSING if value is None else value

    def __set__(self, model: Any, value: T) -> None:
        with lock_of(model):  # no sample comes between the reading of the adaptation and its replacement
            given: Any = alike(self.read(model), value, self.name)
            change_state(model, adaptation=self.put(model._adaptation, given))


class SignalBlocks(NamedTuple):
    """Signals for a fit, block by block.

    targets, flat : the number of desired signals, and whether they are one vector.
    columns : of the input.
    blocks : of samples as the filter works on them.
    """

    targets: int
    flat: bool
    columns: InputColumns
    blocks: Iterable[Block]


@named_system
@dataclass(eq=False, repr=False)
class AdaptiveFilter(SignalSystem):
    """The filter that follows a desired signal d: each sample's step minimises (d_n - w'u_n)^2, in part or for all.

    u_n = [x_(n-delay), ..., x_(n-delay-taps+1)], all taps of the first signal first, zero before the start; the error
    e_n = d_n - w'u_n is taken before the step, and the rule is one of

        "lms"        w += rate e u                      "sign"       w += rate sign(e) u
        "nlms"       w += rate e u / (eps + u'u)        "sign-data"  w += rate e sign(u)
        "rls"        w = the exact minimum of           "sign-sign"  w += rate sign(e) sign(u)
                     sum_i forgetting^(n-i) e_i^2 + forgetting^(n+1) regularization ||w||^2

    Noise and echo cancelling: x the reference, d what the microphone hears; the error is the clean signal. Line
    enhancement: x = d and a delay longer than the noise is correlated; the output is the line. Prediction: x = d,
    delay=1. System identification: x and d are what goes in and what comes out.

    Signals may come whole, in blocks or sample by sample: outputs and weights are the same to the bit. One pass, 2 D
    (rls: 3 D^2) multiply-adds a sample for D taps in all. Memory: the last delay + taps samples (rls: and D^2 numbers).

    Parameters
    ----------
    rule : "lms", "nlms", "sign", "sign-data", "sign-sign" or "rls"
        "rls" is in square-root form: P stays positive definite however long it runs.
    taps : int, a sequence of ints (one a signal), or None
        Length of the filter. None: no memory, the columns of X are the rows u_n.
    delay : int
        Samples by which the input lags, 0 or more. To look ahead, delay d instead.
    rate : float or "auto"
        eta of (5.20). "auto" is 0.5 for "nlms", and takes "lms" in its normalised form: safe in any units. The sign
        rules need a number; "rls" has none.
    eps : float
        Keeps the steps of "nlms" small where the input is silent, in units of u'u.
    leak : float
        For "lms" with a number as rate: w = (1 - rate leak) w + rate e u, the penalty leak/2 ||w||^2.
    forgetting : float
        lambda of "rls": what a sample weighs less with each that follows; it remembers about 1 / (1 - forgetting).
    regularization : float
        For "rls": P_0 = I / regularization (others write delta); the penalty on the first weights, which fades.
    fit_intercept : bool
        Whether the output has a constant w0.
    record : bool or int
        Keep the weights after every sample (True) or every record-th one, in `weights_over_time_`: 8 K D bytes each.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the signals phi(x_n) instead of x_n; `basis_` is as learned. With taps a Hammerstein
        filter; with taps=None and past samples as columns of X, Polynomial makes a Volterra filter.

    Attributes
    ----------
    coef_ : (D,) or (K, D), the filter, all taps of signal 0 first. `taps_` : its part for each signal;
    `intercept_` : w0, or 0; `output_` : of the last sample of `learn_one`, before its step;
    `rows_seen_` : samples since the start;
    `rate_bound_` : 2 / Trace[Rxx], about where "lms" gets unstable (5.20); `history_` : mean squared error by call;
    `weights_over_time_` : (m, D) or (m, K, D); `certificate_` : `objective` is 1/2 sum e_n^2 as it went along, `status`
    tells divergence: then the last good weights are kept, and further samples change nothing.

    Examples
    --------
    A hum is taken out of a signal, with the mains as reference:

    >>> import numpy as np
    >>> from adaline import AdaptiveFilter
    >>> n = np.arange(4000)
    >>> mains, signal = np.sin(0.3 * n), 0.1 * np.sign(np.sin(0.01 * n))
    >>> heard = signal + 0.8 * np.sin(0.3 * n - 1.0)
    >>> canceller = AdaptiveFilter(rule="nlms", taps=4, rate=0.02)
    >>> clean = canceller.filter(mains, heard).error
    >>> bool(abs(clean - signal)[2000:].mean() < 0.01)
    True
    >>> again = AdaptiveFilter(rule="nlms", taps=4, rate=0.02)
    >>> outputs = [again.learn_one(x, d).output_ for x, d in zip(mains, heard)]
    >>> bool((again.coef_ == canceller.coef_).all())
    True

    References
    ----------
    Lecture S0, section 5.4, (5.20). Haykin, Adaptive Filter Theory; Potter's square root for "rls".
    """

    expected_failures: ClassVar[dict[str, str]] = {
        "check_sample_weight_equivalence_on_dense_data": "a weight is a larger step, which is not two steps",
        "check_sample_weight_equivalence_on_sparse_data": "a weight is a larger step, which is not two steps",
    }
    used_with: ClassVar[UsedWith] = {
        "eps": {"rule": OneOf("nlms"), "rate": AUTO},
        **{name: {"rule": OneOf("rls")} for name in ("forgetting", "regularization")},
    }
    taps: Any = None
    _: KW_ONLY
    rule: Annotated[FilterRule, one_of(FilterRule)] = "nlms"
    delay: Annotated[int, WholeNumber(0, hint="to look ahead, delay d instead of x")] = 0
    rate: Annotated[float | Literal["auto"], AnyOf(AUTO, POSITIVE)] = "auto"
    eps: Annotated[float, ZERO_OR_MORE] = 1e-6
    leak: Annotated[float, ZERO_OR_MORE] = 0.0
    forgetting: Annotated[float, Number(above=0, most=1)] = 1.0
    regularization: Annotated[float, POSITIVE] = 1e-3
    fit_intercept: bool = False
    record: Annotated[bool | int, AnyOf(FLAG, WholeNumber(0))] = False
    basis: Any = None

    learns = AdaptiveState
    coef_ = AdaptedAttribute[Array](lambda state: state.coef, lambda now, coef: now.of_weights(coef=coef))
    intercept_ = AdaptedAttribute[float | Array](
        lambda state: state.intercept, lambda now, w0: now.of_weights(intercept=w0)
    )
    output_ = AdaptedAttribute[Any](lambda state: state.adaptation.output, lambda now, output: now.copy(output=output))
    history_ = FittedAttribute[list[float]]()
    _adaptation = FittedAttribute[Adaptation]()
    _proof = FittedAttribute[Certificate]()
    _recorded = FittedAttribute[list[Array]]()

    def fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Start afresh on signals X (n,) or (n, C) and the desired y (n,) or (n, K), or on a source.

        Weights scale the step of a sample; for "rls" they are weights of its squared error.
        """
        self._adapt(X, y, sample_weight, afresh=True)
        return self

    def partial_fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Continue with the next samples of the signals."""
        self._adapt(X, y, sample_weight)
        return self

    def filter(self, x: AnyArray, d: Any = None) -> Filtered:
        """Continue with the next samples; return (output, error), each taken before its own step.

        A source brings its own d.
        """
        found = self._adapt(x, d, None)
        both = map(np.concatenate, zip(*found, strict=True))
        return Filtered(*(like_rows(x, part[:, 0] if self._flat else part) for part in both))

    def learn_one(self, x: RowLike, y: TargetLike) -> Self:
        """Continue with one sample, a number or one for each signal (array or dict); `output_` precedes the step."""
        with lock_of(self):
            state: Any = self._state or self._first(x, y)
            adaptation: Adaptation = state.adaptation
            if not adaptation.learns_at_once:  # it may be read meanwhile
                adaptation = adaptation.copy()
                self._state = replace(state, adaptation=adaptation)
            adaptation.learn(self._sample(x, state.columns), y)
            if self.record and adaptation.count % int(self.record) == 0:
                state.recorded.append(adaptation.coef.copy())
        return self

    def predict_one(self, x: RowLike) -> TargetLike:
        """Return the output for one more sample; nothing is learned or kept. It waits for other threads that learn."""
        check_is_fitted(self, "_adaptation")
        with lock_of(self):
            state: Any = self._state
            return state.adaptation.output_of(self._sample(x, state.columns))

    @continuation
    def reset(self) -> Self:
        """Forget all: the next samples start afresh."""
        self._state = None
        return self

    def __getstate__(self) -> dict[str, Any]:
        with lock_of(self):
            own = super().__getstate__()
            state = own.get("_state")
            if state is not None:  # single samples change it in place
                kept = {"adaptation": state.adaptation.copy(), "recorded": [*state.recorded]}
                own["_state"] = replace(state, **kept)
            return own

    @property
    def rows_seen_(self) -> int:
        """Samples learned from since the start."""
        check_is_fitted(self, "_adaptation")
        return self._adaptation.count

    @property
    def rate_bound_(self) -> float:
        """2 / Trace[Rxx] of (5.20): about the largest rate for which "lms" is stable."""
        check_is_fitted(self, "_adaptation")
        return self._adaptation.scan.tally.bound

    @property
    def weights_over_time_(self) -> Array:
        """The weights kept by `record`, (m, D) or (m, K, D)."""
        check_is_fitted(self, "_adaptation")
        kept = np.stack(self._recorded) if self._recorded else np.zeros((0, *self._adaptation.coef.shape))
        return read_only(kept[:, 0] if self._flat else kept)

    @property
    def certificate_(self) -> Certificate:
        """What is known of the weights, at no extra pass: the errors made on the way, and whether they diverged."""
        check_is_fitted(self, "_adaptation")
        state, tally = self._adaptation, self._adaptation.scan.tally
        status = Status.DIVERGED if state.diverged else Status.SOLVED
        advice = status.advice
        if status is Status.SOLVED and state.rule in ("lms", "leaky") and state.rate > tally.bound:
            advice = f"the rate {state.rate:g} is above about {tally.bound:.3g} (5.20): lower it, or use rate='auto'"
        condition = float(np.linalg.cond(state.covariance_root)) if len(state.root) else math.nan
        return replace(self._proof, objective=tally.loss, condition=condition, status=status, advice=advice)

    @continuation
    def _adapt(
        self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, *, afresh: bool = False
    ) -> list[Filtered]:
        """Continue with signals, or start again; return the outputs and errors of each block, (n, K)."""
        meter = Meter(X)
        check_parameters(self)
        begun: Any = None if afresh else self._state
        if begun is not None:
            check_basis(self)
        given = self._open(X, y, sample_weight, reset=begun is None)
        state = self._begin(given) if begun is None else self._continued(begun, given)
        adaptation = state.adaptation
        before, had_diverged = adaptation.scan.tally, adaptation.diverged
        found, recorded = self._run(state, given.blocks)
        self._state = replace(
            state,
            proof=meter.on(state.proof, X if isinstance(X, Source) else None),
            history=[*state.history[1 - LONGEST_HISTORY :], *_mean_squared_error(before, adaptation)],
            recorded=[*state.recorded, *recorded],
        )
        if adaptation.diverged and not had_diverged:
            warn(f"{type(self).__name__} diverged: {Status.DIVERGED.advice}", ConvergenceWarning)
        return found

    def _open(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, *, reset: bool) -> SignalBlocks:
        """Return the signals block by block; with `reset` columns and basis are learned from them."""
        if isinstance(X, Source):
            self._refuse_sparse(X)
            source, columns = open_rows(self, X, y, sample_weight, reset=reset)
            source.runner.refuse_parts()
            flat = source.targets.flat if reset else self._flat
            return SignalBlocks(source.shape.targets, flat, columns, source.blocks())
        given = self._read(X, y, sample_weight, reset=reset)
        return SignalBlocks(given.t.shape[1], given.flat, given.columns, [Block(given.x, given.t, given.weight)])

    def _begin(self, given: SignalBlocks) -> AdaptiveState:
        """Return the state before the first sample; nothing is known of the weights yet."""
        adaptation = Adaptation.begin(
            self._layout(given.columns), int(self.delay), given.targets, **self._rule_numbers()
        )
        rls = adaptation.rule == "rls"
        memory = f"forgetting {adaptation.forgetting:g}" if rls else f"rate {adaptation.rate:g}"
        proof = scan_certificate(Status.SOLVED, 0.0, f"{adaptation.rule}, {memory}, sample by sample")
        return AdaptiveState(
            columns=given.columns,
            flat=given.flat,
            adaptation=adaptation,
            proof=replace(proof, rank=sum(adaptation.taps), passes=1, seconds=0.0),
            history=[],
            recorded=[],
        )

    def _continued(self, state: AdaptiveState, given: SignalBlocks) -> AdaptiveState:
        """Return a copy of the state, so that what fails changes nothing; the rule's numbers may be other ones."""
        adaptation, numbers = state.adaptation, self._rule_numbers()
        fixed = (adaptation.rule == "rls", adaptation.taps, adaptation.delay, adaptation.intercept)
        if fixed != (numbers["rule"] == "rls", self._layout(given.columns), int(self.delay), numbers["intercept"]):
            raise InvalidParameter(
                "taps, delay, fit_intercept, or the rule from or to 'rls', were changed since the start: reset() first"
            )
        if given.targets != len(adaptation.theta):
            raise InvalidData(
                f"there are {given.targets} desired signals; the filter was started with {len(adaptation.theta)}"
            )
        return replace(state, columns=given.columns, adaptation=adaptation.copy(**numbers))

    def _run(self, state: AdaptiveState, blocks: Iterable[Block]) -> tuple[list[Filtered], list[Array]]:
        """Run the rule over blocks, in place; return outputs and errors of each, and the weights kept by `record`."""
        found, recorded, adaptation = [], [], state.adaptation
        for block in blocks:
            try:
                outputs, kept = adaptation.run(block.x, block.t, block.weight, int(self.record))
            except InvalidData:
                SignalSource(
                    block.x,
                    block.t,
                    adaptation.taps,
                    history=-block.first_row,
                    names=tuple(state.columns.coefficient_names()),
                ).refuse_nonfinite()
                raise
            found.append(Filtered(outputs, block.t - outputs))
            recorded += kept
        return found, recorded

    def _rule_numbers(self) -> dict[str, Any]:
        """Return the rule and its numbers as `Adaptation` takes them; an automatic rate makes "lms" normalised."""
        rule: str = self.rule
        auto = isinstance(self.rate, str)
        if rule == "lms":
            rule = "nlms" if auto else "leaky" if self.leak else "lms"
        return {
            "rule": rule,
            "rate": AUTO_RATE if auto else float(self.rate),
            **{name: float(getattr(self, name)) for name in ("eps", "leak", "forgetting", "regularization")},
            "intercept": bool(self.fit_intercept),
        }

    @continuation
    def _first(self, x: AnyArray, y: TargetsLike) -> AdaptiveState:
        """Start with one sample, which says how many signals there are; return the state before it."""
        check_parameters(self)
        names, row = (tuple(x), list(x.values())) if isinstance(x, dict) else (None, x)
        if not np.size(row):
            raise InvalidData("a sample must have at least one signal")
        columns = InputColumns(int(np.size(row)), names, basis=basis_of_row(self, row))
        state = self._begin(SignalBlocks(np.size(y), np.ndim(y) == 0, columns, []))
        self._state = state
        return state

    def _sample(self, x: AnyArray, columns: InputColumns) -> Any:
        """Return one sample, an array or a dict, through the basis."""
        given = x
        if isinstance(x, dict):
            names = columns.names
            if names is None or any(name not in x for name in names):
                known = "none" if names is None else [*names]
                raise InvalidData(f"the sample has columns {list(x)}, the filter {known}")
            given = [x[name] for name in names]
        return given if columns.basis is None else phi(columns.basis, np.atleast_2d(given))[0]

    def _weights(self) -> tuple[Array, Any]:
        still = replace(self._adaptation, theta=copy_at_once(self._adaptation.theta))
        return still.coef, still.theta[:, 0]

    @property
    def _line(self) -> tuple[tuple[int, ...], int]:
        return self._adaptation.taps, self._adaptation.delay

    def _check_together(self) -> None:
        rule, auto = self.rule, isinstance(self.rate, str)
        if auto and rule.startswith("sign"):
            raise InvalidParameter(f"rule {rule!r} needs a number as rate: its steps are in units of w")
        if not auto and rule == "rls":
            raise InvalidParameter("rule 'rls' has no rate: how fast it follows is set by forgetting")
        if self.leak and (auto or rule != "lms"):
            raise InvalidParameter("leak needs rule='lms' and a number as rate")


def _mean_squared_error(before: Tally, state: Adaptation) -> list[float]:
    """Return the mean of e^2 since a tally, as a list of one number; of none where no sample had a weight."""
    now = state.scan.tally
    if not now.weight > before.weight:
        return []
    return [2 * (now.loss - before.loss) / (now.weight - before.weight) / len(state.theta)]
