"""What the online systems share: epochs over a source, more rows later, one row at a time.

The state is a scan (`adaline.scans`), so that rows in chunks give the same bits as all at once. Batch rules keep their
weights in it too, and so can continue with single rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from adaline.arrays import AnyArray, Array, RowsLike, copy_at_once, host, is_device, is_sparse
from adaline.basis.base import BASIS
from adaline.block import Shape
from adaline.construction import check_parameters
from adaline.errors import ConvergenceWarning, InvalidData, InvalidParameter, warn
from adaline.fits.online import OnlineResult, continue_at, run_epochs, scan_certificate, start_scan
from adaline.fitted import check_is_fitted
from adaline.input import Meter, continuation, generator
from adaline.input.basis import basis_of_row
from adaline.input.columns import InputColumns
from adaline.input.drafts import snapshot
from adaline.input.open import read_finite, refuse_overflow
from adaline.input.system import System
from adaline.locks import lock_of
from adaline.parameters import AUTO, COUNT, FIRST_WEIGHTS, FLAG, NONE, POSITIVE, SEED, ZERO_OR_MORE, AnyOf, OneOf
from adaline.results import Certificate, Status, say_constant, with_note, without_constants
from adaline.scans import CoordinateRule, Scan
from adaline.scans.schedules import SCHEDULE
from adaline.scans.tally import RUNNING, STATUS, STEPS
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.solvers.least_squares.factor import LEAST_SPREAD
from adaline.solvers.smooth.problem import check_spread, column_spread, varying_columns
from adaline.sources import Source
from adaline.sources.standardized import Standard, standardized
from adaline.state import FittedAttribute
from adaline.sums import Spread
from adaline.sums.outputs import outputs
from adaline.systems.families.online_state import FittedScan, OnlineState, PreparedState, copied, learned_by
from adaline.systems.families.single_row import (
    by_name,
    finite_row,
    given_row,
    let_scan_read_rows,
    refuse_row,
    scanned_row,
)
from adaline.systems.families.supervised import LinearRegressor

ORDER = (
    "what a scan learns depends on the order of rows and on the number of steps; a weight multiplies the rate of one"
)
WEIGHT_CHECKS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


# first rows in which columns are checked for constants, and range of a column that varies there, relative to its size
FEW, SEEN = 16, 1e-6


class OnlineSystem(System):
    """A linear machine that learns row by row, or by batch steps, and can continue at any time.

    A learner names the rule of its scan (`_rule`, `_rule_options`); where epochs of the scan are not all there is to
    it, it has a `_run` of its own.
    """

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({},)  # the settings that compare tries
    compared_visits: ClassVar[int | None] = 2**22  # numbers of X that a fit may visit in a comparison, over all epochs
    expected_failures: ClassVar[dict[str, str]] = dict.fromkeys(WEIGHT_CHECKS, ORDER)
    """Checks of scikit-learn that cannot pass, each with its reason."""
    basis: Annotated[Any, BASIS]
    fit_intercept: Annotated[bool, FLAG]
    init: Annotated[Any, AnyOf(NONE, OneOf("random"), FIRST_WEIGHTS)]
    rate: Annotated[Any, AnyOf(AUTO, POSITIVE)]
    schedule: Annotated[Any, SCHEDULE]
    epochs: Annotated[int, COUNT]
    tol: Annotated[float, ZERO_OR_MORE]
    shuffle: Annotated[bool, FLAG]
    random_state: Annotated[Any, SEED]
    warm_start: Annotated[bool, FLAG]
    standardize: Annotated[bool, FLAG] = False  # an argument only of systems that work in the units of the columns
    mixing: Annotated[int | None, AnyOf(NONE, COUNT)] = None  # an argument only of systems whose parts can be averaged

    coefficients = LinearRegressor.coefficients

    _rule: ClassVar[type[Scan]]
    """The scan of a rate that is a number; `start_scan` chooses another for rate="auto"."""

    learns = OnlineState
    _state: OnlineState | None
    _scan = FittedAttribute[Scan]()
    _result = FittedAttribute[OnlineResult]()
    _standard = FittedAttribute[Standard | None]()
    _names = FittedAttribute[Any]()
    _typical = FittedAttribute[Array | None]()

    def _check_together(self) -> None:
        mode = getattr(self, "mode", "online")
        if self.mixing is not None and mode != "online":
            raise InvalidParameter(
                f"mixing={self.mixing} takes the place of epochs of mode='online', and mode is {mode!r}: give one of "
                "the two"
            )

    # -- what a learner says -------------------------------------------------------------------------------------

    def _rule_options(self, setup: PreparedState) -> dict[str, Any]:
        """Return what the rule takes beside rate, intercept and first weights."""
        return {}

    def _run(
        self, setup: PreparedState, source: Source, scan: Scan, options: EpochOptions, before: OnlineResult
    ) -> OnlineResult:
        """Learn from the rows, changing the scan in place; return the result of this fit, `before` being the last."""
        return run_epochs(source, scan, options)

    def _first_result(self, scan: Scan) -> OnlineResult:
        """Return the result before the first fit."""
        return OnlineResult([], scan_certificate(Status.ONGOING, 0.0))

    def _weights(self) -> Array:
        """Return the weights that predict, (K, 1 + D), of the columns that the scan works in; they may change."""
        return self._scan.theta

    # -- learning from many rows ---------------------------------------------------------------------------------

    def _setup(self, source: Source, columns: InputColumns, **known: Any) -> PreparedState:
        """Return what a new model takes from its rows; `known`: flat, or classes and targets."""
        standard = None
        if self.standardize:
            standard = _learn_standard(source, bool(self.fit_intercept) and not source.sparse)
        names, typical = columns.names, _first_row(source)
        return PreparedState(
            columns=columns,
            standard=standard,
            names=names,
            typical=typical,
            fitted_with=self._settings_of_fit(),
            **known,
        )

    def _learn(self, setup: PreparedState, source: Source, meter: Meter, *, once: bool = False) -> None:
        """Learn for `epochs` epochs, or `once` in the order of the rows; a state as setup keeps learning."""
        if once or self.mixing is None:
            source.runner.refuse_parts()
        rows, goes_on = self._scanned_rows(setup, source), isinstance(setup, OnlineState)
        with self._continued(setup, rows) as before:
            result = self._run(setup, rows, before.scan, self._epoch_options(once), before.result)
            if self.fit_intercept and not goes_on and not once:
                result = self._note_constants(setup, rows, before.scan, result)
            self._keep(setup, before, result, rows, meter, once)

    @contextmanager
    def _continued(self, setup: PreparedState, rows: Source) -> Iterator[FittedScan[Scan]]:
        """Give what replaces the scan of a state, which takes no row from then on; of a setup, a new scan."""
        if not isinstance(setup, OnlineState):
            scan = self._start(setup, rows.shape, rows.sparse)
            yield FittedScan(scan, self._first_result(scan))
            return
        with setup.fitted.continued() as before:
            self._go_on(setup, before.scan)
            yield before

    def _note_constants(self, setup: PreparedState, source: Source, scan: Scan, result: OnlineResult) -> OnlineResult:
        """Return the result with a note on columns that are constant in rows in memory.

        With rate="auto" their weights are moved onto the intercept, which changes no prediction.
        """
        # a coordinate rule may have millions of columns, most of them empty in these rows
        judged = not source.costly and not isinstance(scan, CoordinateRule)
        spread = _spread_of_constants(source) if judged else None
        if spread is None:
            return result
        constant = ~varying_columns(spread)
        if isinstance(self.rate, str):
            scan.fold(constant, spread.mean)
        known = setup.columns.coefficient_names()
        names = [known[j] for j in np.flatnonzero(constant)]
        if isinstance(self.rate, str) or setup.standard is not None:
            return replace(result, certificate=without_constants(result.certificate, names))
        note = say_constant(names).replace("and left out", "beside the intercept: leave out")
        return replace(result, certificate=with_note(result.certificate, note))

    def _scanned_rows(self, setup: PreparedState, source: Source) -> Source:
        """Return the rows in the columns that the scan works in."""
        name = type(self).__name__
        if isinstance(setup, OnlineState) and setup.scan.theta.shape[1] != 1 + source.shape.features:
            raise InvalidData(f"X has {source.shape.features} features, but {name} is expecting {setup.columns.count}")
        standard = setup.standard
        if (standard is not None) != bool(self.standardize):
            raise InvalidParameter(
                f"standardize is {self.standardize}, and {name} was begun with {not self.standardize}: "
                "restore it to continue, or refit"
            )
        if standard is None:
            return source
        if source.sparse and standard.mean.any():
            raise InvalidData(
                f"{name} was begun with dense rows, which standardize=True centres, and sparse rows "
                "cannot be centred: give dense rows, or refit"
            )
        return standardized(source, standard)

    def _start(self, setup: PreparedState, shape: Shape, sparse: bool = False) -> Scan:
        """Return the scan before its first row."""
        settings = self._settings(setup)
        init = self._first_weights(setup, settings.get("classes", shape.targets), 1 + shape.features)
        return start_scan(self._rule, shape, self.rate, self.schedule, sparse, init=init, **settings)

    def _settings(self, setup: PreparedState) -> dict[str, Any]:
        """Return what a scan is begun with beside its rate and first weights."""
        return {"intercept": bool(self.fit_intercept), **self._rule_options(setup)}

    def _first_weights(self, setup: PreparedState, machines: int, size: int) -> Any:
        """Return the first weights (machines, size), intercept first: as given, or drawn; None for zero."""
        if isinstance(self.init, str):
            first = generator(self.random_state).normal(size=(machines, size))
            first[:, 0] *= bool(self.fit_intercept)
            return first
        if self.init is None or setup.standard is None:
            return self.init
        given = np.asarray(self.init, dtype=np.float64)
        return setup.standard.inside(given) if given.shape[-1:] == (size,) else given

    def _epoch_options(self, once: bool) -> EpochOptions:
        epochs, draw = (1, None) if once else (int(self.epochs), generator(self.random_state) if self.shuffle else None)
        mixing = None if once else self.mixing
        return EpochOptions(epochs, float(self.tol), draw, type(self).__name__, mixing)

    def _keep(
        self,
        setup: PreparedState,
        before: FittedScan[Scan],
        result: OnlineResult,
        source: Source,
        meter: Meter,
        once: bool,
    ) -> None:
        """Keep the scan, and the result joined to that before; warn where the weights diverged."""
        proof = result.certificate
        if once and proof.status is Status.NOT_CONVERGED:
            proof = replace(proof, status=Status.ONGOING, advice=Status.ONGOING.advice)
        if setup.standard is not None and not np.isfinite(setup.standard.raw(before.scan.theta)).all():
            raise InvalidData("the weights overflow float64 in the units of the columns: some columns are too small")
        rows = source.count_rows()
        after = before.joined(result, meter.on(proof, source), rows)
        after.scan.doubt_settings()  # another thread may have set them meanwhile
        self._state = learned_by(setup, after)
        if proof.status is Status.DIVERGED:
            epoch, way_on = len(after.result.history), _way_on(after.scan)
            warn(f"{type(self).__name__} diverged in epoch {epoch}: {proof.advice}{way_on}", ConvergenceWarning)

    # -- what is known afterwards --------------------------------------------------------------------------------

    @property
    def history_(self) -> list[float]:
        """The error of each epoch."""
        check_is_fitted(self, "_scan")
        return self._result.history.copy()

    @property
    def n_iter_(self) -> int:
        """Number of epochs."""
        check_is_fitted(self, "_scan")
        return len(self._result.history)

    @property
    def certificate_(self) -> Certificate:
        """How the last fit ended; rows learned one at a time since then are taken into account."""
        check_is_fitted(self, "_scan")
        return FittedScan(self._scan, self._result).certificate

    @property
    def rows_seen_(self) -> int:
        """Number of rows learned from, each counted once a fit."""
        check_is_fitted(self, "_scan")
        return FittedScan(self._scan, self._result).rows_seen

    def _outputs(self, X: RowsLike) -> Array:
        """Return w.x + w0 for rows, (n, K), on the host."""
        check_is_fitted(self, "n_features_in_")
        x = read_finite(self, X)
        x = host(x) if is_device(x) else x
        standard, theta = self._standard, copy_at_once(self._weights())
        if standard is None:
            return refuse_overflow(outputs(x, theta))
        if is_sparse(x) and standard.mean.any():
            return refuse_overflow(outputs(x, standard.raw(theta)))
        return refuse_overflow(outputs(standard.rows(x), theta))

    def _raw_weights(self) -> Array:
        """Return the weights that predict, (K, 1 + D), of the columns in their own units; they do not change."""
        check_is_fitted(self, "n_features_in_")
        theta = copy_at_once(self._weights())
        return theta if self._standard is None else self._standard.raw(theta)

    def __getstate__(self) -> dict[str, Any]:
        with lock_of(self):
            attributes, state = super().__getstate__(), self._state
            return attributes if state is None else {**attributes, "_state": copied(state)}

    # -- one row at a time ---------------------------------------------------------------------------------------

    @continuation
    def _begin(self, x: AnyArray, machines: int, **known: Any) -> None:
        """Start a new model with its first row, an array (D,) or a dict; `known`: flat, or classes and targets."""
        check_parameters(self)
        x = by_name(x)
        if self.standardize:
            raise InvalidData(
                "standardize=True learns the scales of the columns from rows, and one row is too little: begin with "
                "fit or partial_fit"
            )
        names = tuple(x) if isinstance(x, Mapping) else None
        if np.size(x) == 0 or names == ():
            raise InvalidData("a row must have at least one column")
        columns = InputColumns(int(np.size(x)))
        if names is not None:
            columns = InputColumns(len(names), names if all(isinstance(name, str) for name in names) else None)
        setup = PreparedState(
            columns=columns, standard=None, names=names, typical=None, fitted_with=self._settings_of_fit(), **known
        )
        given = given_row(setup, x)
        if not np.isfinite(given).all():
            refuse_row(given, columns.given_names())
        setup = replace(setup, columns=columns._replace(basis=basis_of_row(self, given)))
        setup = replace(setup, typical=scanned_row(setup, x).copy())
        scan = self._start(setup, Shape(setup.columns.width, machines))
        self._state = learned_by(setup, FittedScan(scan, self._first_result(scan)))

    def _learn_row(self, x: AnyArray, t: AnyArray) -> None:
        """Take one step, with the lock of the model; a row that is not finite is refused before it."""
        state = self._state
        assert state is not None
        row, scan = finite_row(state, x), state.scan
        scan.revive()
        self._follow_settings(state, scan)
        if not scan.learns_at_once:
            scan = scan.copy()
        scan.learn(row, t)
        if scan is not state.scan:
            self._state = replace(state, scan=scan)
        let_scan_read_rows(state, scan)
        if scan.numbers[STATUS] != RUNNING:
            said = f"has diverged and learns no more: {Status.DIVERGED.advice}{_way_on(scan)}"
            warn(f"{type(self).__name__} {said}", ConvergenceWarning)

    def _follow_settings(self, setup: PreparedState, scan: Scan) -> None:
        """Let a scan whose settings may have changed continue at the present rate; refuse other changes."""
        if scan.settings_may_differ:
            check_parameters(self)
            self._go_on(setup, scan)

    def _go_on(self, setup: PreparedState, scan: Scan) -> None:
        """Let a scan under way continue at the present rate; refuse other parameters that it was not begun with."""
        continue_at(scan, type(self).__name__, self._rule, self.rate, self.schedule, **self._settings(setup))

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, also those of parameters, as `name__inner`; they hold from the next row on.

        A plain assignment to a parameter holds from the next `partial_fit` on. A model that has diverged continues at
        another number as rate, from the weights that it has kept.
        """
        super().set_params(**params)
        if self._state is not None:
            self._state.scan.doubt_settings()
        return self

    def _still_outputs(self, x: AnyArray) -> tuple[OnlineState, Array]:
        """Return the state of the model and its outputs of one row, (K,): not those of two fits."""
        while True:
            state, z = self._state, self._row_outputs(x)
            if state is not None and self._state is state:
                return state, z

    def _row_outputs(self, x: AnyArray) -> Array:
        """Return w.x + w0 of one row, (K,); nothing is checked of an array that the scan can take as it is."""
        state = self._state
        if state is None:
            check_is_fitted(self, "n_features_in_")
        assert state is not None
        theta = self._weights()
        plain = type(x) is np.ndarray and x.ndim == 1 and x.dtype.kind in "fiub"
        if plain and state.standard is None and state.columns.basis is None:
            numbers = state.scan.numbers
            steps = numbers[STEPS]
            try:
                with np.errstate(all="ignore"):
                    z = np.asarray(theta[:, 1:].dot(x) + theta[:, 0])
            except (TypeError, ValueError):  # of another type or shape
                pass
            else:
                still_so = numbers[STEPS] == steps and self._state is state  # no other thread has learned meanwhile
                if still_so and (math.isfinite(z[0]) if len(z) == 1 else np.isfinite(z).all()):
                    return z
        still = snapshot(self)
        assert still._state is not None
        theta, row = copy_at_once(still._weights()), scanned_row(still._state, x)
        if not np.isfinite(row).all():
            refuse_row(row, state.columns.coefficient_names())
        with np.errstate(all="ignore"):
            return refuse_overflow(np.asarray(theta[:, 1:].dot(row) + theta[:, 0]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _way_on(scan: Scan) -> str:
    """Return how a model that has diverged continues, as the end of a message."""
    ended = scan.numbers[STATUS] != RUNNING
    return "; set_params with another number as rate, then partial_fit, continues from them" if ended else ""


def _first_row(source: Source) -> Array | None:
    """Return the first row, (D,); None for sparse rows, and where it is not finite."""
    if source.sparse:
        return None
    block = source.peek().gathered()
    row = np.asarray(host(block.x[:1]), dtype=np.float64)[0].copy()
    return row if np.isfinite(row).all() else None


def _learn_standard(source: Source, centred: bool) -> Standard:
    """Return mean and standard deviation of the columns; zero and the root mean square where nothing is centred.

    A column that does not vary is scaled by its size: centred it is zero in every row, and gets no weight.
    """
    spread = column_spread(source)
    mean = spread.mean if centred else np.zeros_like(spread.mean)
    size = spread.deviation if centred else spread.root
    rest = np.where(spread.largest > 0, spread.largest, 1.0)
    return Standard(mean, np.where(size > LEAST_SPREAD * np.abs(mean), size, rest))


def _spread_of_constants(source: Source) -> Spread | None:
    """Return mean and spread of columns of which some are constant; None as soon as all of them vary."""
    some = source.peek().gathered().x[:FEW]
    if not is_sparse(some) and (np.ptp(host(some), axis=0) > SEEN * np.abs(host(some)).max(axis=0)).all():
        return None
    spread = Spread.zero(source.shape)
    for block in source.blocks():
        heavy = block.heavy()  # rows without a weight may hold what is not finite
        if is_sparse(heavy.x) and _have_zeros_and_others(heavy.x):
            return None
        spread.add(heavy)
        if varying_columns(spread).all():
            return None
    spread = check_spread(spread, source) if spread.extreme else spread
    return None if varying_columns(spread).all() else spread


def _have_zeros_and_others(x: AnyArray) -> bool:
    """Return whether every column of CSR rows has a zero and another number; few rows show it as a rule."""
    rows, features = x.shape
    if not x.has_canonical_format:
        return False
    numbers, seen = np.zeros(features, np.intp), 0
    while seen < rows:
        first, seen = seen, min(max(2 * seen, FEW), rows)
        part = slice(x.indptr[first], x.indptr[seen])
        data, at = x.data[part], x.indices[part]
        numbers += np.bincount(at if data.all() else at[data != 0], minlength=features)
        if ((numbers > 0) & (numbers < seen)).all():
            return True
    return False
