"""What the online systems share: epochs over a source, going on with more rows, one row at a time.

The state is a scan (`adaline.scans`), so that chunks give the bits of one go. Batch rules keep their weights in it too,
and so can go on by single rows. The certificate costs no pass: its objective is the loss of the last epoch, each row's
before its own step; no gap and no digits are claimed.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, ClassVar

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from adaline.arrays import Array, host, is_device, is_sparse
from adaline.basis.base import BASIS
from adaline.block import Shape
from adaline.construction import check_parameters
from adaline.errors import ConvergenceWarning, InvalidData, InvalidParameter, warn
from adaline.input.basis import basis_of, basis_of_row, columns_of, given_columns, rows_through_basis, width_of
from adaline.input.columns import InputColumns, set_columns
from adaline.input.meter import Meter
from adaline.input.open import read_finite
from adaline.input.random_state import generator
from adaline.parameters import AUTO, COUNT, FIRST_WEIGHTS, FLAG, NONE, POSITIVE, SEED, ZERO_OR_MORE, AnyOf, Check, OneOf
from adaline.results import Certificate, Status
from adaline.scans import Scan, State
from adaline.scans.schedules import SCHEDULE
from adaline.scans.tally import RUNNING, STATUS
from adaline.solvers.epochs.sweep import EpochOptions, SweepResult, sweep
from adaline.solvers.least_squares.factor import ROUNDED
from adaline.solvers.least_squares.fit import certificate
from adaline.solvers.smooth.problem import column_spread, varying
from adaline.sources import Source
from adaline.sources.standardized import Standard, standardized
from adaline.sums import Spread
from adaline.sums.wrong_rows import outputs


def row_of(system: Any, x: Mapping[Any, Any]) -> Array:
    """Return the row of a fitted system; refuse columns that are missing, unknown or no numbers."""
    known = system.__dict__
    names = known.get("_names") or names_of(system, x)
    try:
        if tuple(x) == names:
            return np.fromiter(x.values(), np.float64, len(names))
        if len(x) == len(names):
            return np.fromiter(map(x.__getitem__, names), np.float64, len(names))
    except (KeyError, TypeError, ValueError):
        pass
    if "coding_" in known:
        return _coded(known["coding_"], x)
    missing = [name for name in names if name not in x]
    if missing:
        raise InvalidData(f"the row has no column {missing[0]!r}; the model needs: {', '.join(map(str, names))}")
    strange = [name for name in x if name not in names]
    if strange:
        raise InvalidData(f"the model does not know the column {strange[0]!r}; leave it out of the row")
    bad = next(name for name in names if not _is_number(x[name]))
    raise InvalidData(f"column {bad!r} of the row holds {x[bad]!r}, not a number")


def names_of(system: Any, x: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Return the names of a fitted system's columns, kept as `_names`.

    Columns of arrays have no names: dicts with the keys 0, 1, ... stand for such rows.
    """
    known = system.__dict__
    if "feature_names_in_" in known:
        system._names = tuple(map(str, known["feature_names_in_"]))
    elif set(x) == set(range(known["n_features_in_"])):
        return tuple(range(known["n_features_in_"]))
    else:
        raise InvalidData("the model was fitted to columns without names: give rows as arrays")
    return tuple(system._names)


def _coded(coding: Any, x: Mapping[Any, Any]) -> Array:
    """Return the row that raw columns become, categories and all."""
    backend: Any = next(name for name in ("pyarrow", "pandas", "polars") if find_spec(name))
    frame = nw.from_dict({name: [value] for name, value in x.items()}, backend=backend)
    return np.ascontiguousarray(coding.code(frame)[0])


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


# One row at a time: an array or a dict by column names, checked, seen through the basis, learned from.


class SingleRows(BaseEstimator):
    """A system whose scan can begin, and go on, with single rows."""

    n_features_in_: int
    history_: list[float]
    n_iter_: int
    _scan: Scan
    _proof: Certificate
    _learned: tuple[int, int]
    _typical: Array | None
    standardize: bool

    @abstractmethod
    def _start(self, shape: Shape) -> Scan:
        """Return the scan before its first row."""

    @abstractmethod
    def _certify(self, status: Status, objective: float, solver: str) -> Certificate:
        """Return a certificate."""

    def _row(self, x: Any) -> Array:
        """Return one row as the scan sees it, contiguous float64, from an array or a dict of columns."""
        row = self._given_row(x)
        standard = self._standard_of()
        if basis_of(self) is None and standard is None:
            return row
        if not np.isfinite(row).all():
            self._refuse(row, given_columns(self))
        seen = rows_through_basis(self, row[None])
        return np.ascontiguousarray((seen if standard is None else standard.rows(seen))[0])

    def _standard_of(self) -> Standard | None:
        """Return the scales of the columns that the scan works in, None where it works in their own units."""
        return self.__dict__.get("_standard")

    def _sees_raw(self) -> bool:
        """Whether the scan sees rows as they are given."""
        return "basis_" not in self.__dict__ and "_standard" not in self.__dict__

    def _given_row(self, x: Any) -> Array:
        """Return one row of the columns as given, (D,); refuse other sizes."""
        if isinstance(x, Mapping):
            return row_of(self, x)
        try:
            row = np.ascontiguousarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidData(f"a row is an array of numbers or a dict by column names, got {x!r}") from None
        if row.shape != (self.n_features_in_,):
            raise InvalidData(
                f"a row must hold {self.n_features_in_} numbers, one for each column, got an array of shape {row.shape}"
            )
        return row

    def _begin(self, x: Any, outputs: int) -> Scan:
        """Start a new model with its first row."""
        check_parameters(self)
        if self.standardize:
            raise InvalidData(
                "standardize=True learns the scales of the columns from rows, and one row is too little: begin with "
                "fit or partial_fit"
            )
        columns = InputColumns(int(np.size(x)))
        if isinstance(x, Mapping):
            if not x:
                raise InvalidData("a row must have at least one column")
            self._names = tuple(x)
            columns = InputColumns(len(x), self._names if all(isinstance(name, str) for name in x) else None)
        set_columns(self, columns)
        row = self._given_row(x)
        if not np.isfinite(row).all():
            self._refuse(row, given_columns(self))
        set_columns(self, replace(columns, basis=basis_of_row(self, row)))
        self._scan = self._start(Shape(width_of(self), outputs))
        self._typical = self._row(x).copy()
        self._learned, self.history_, self.n_iter_ = (0, 0), [], 0
        self._proof = self._certify(Status.ONGOING, 0.0, "scan")
        return self._scan

    def _learn_row(self, scan: Scan, x: Any, t: Any) -> None:
        """Take one step; a row that is not finite is refused before it."""
        plain = self._sees_raw()
        if plain and scan.take(x, t, self.__dict__.get("_names")):
            return
        try:
            row = self._seen_row(x)
            if not row.dot(row) < math.inf:
                self._refuse(row)
            scan.learn(row, t)
        except (TypeError, ValueError):  # another type or shape than the scan takes
            if not plain or type(x) is not np.ndarray:
                raise
            row = self._row(x)
            if not row.dot(row) < math.inf:
                self._refuse(row)
            scan.learn(row, t)
        if scan.numbers[STATUS] != RUNNING:
            warn(
                f"{type(self).__name__} has diverged and learns no more: {Status.DIVERGED.advice}",
                ConvergenceWarning,
            )

    def _seen_row(self, x: Any) -> Any:
        """Return one row as the scan sees it; an array that needs no basis as it is, unchecked."""
        return x if type(x) is np.ndarray and self._sees_raw() else self._row(x)

    def _refuse(self, row: Array, names: list[str] | None = None) -> None:
        wrong = np.flatnonzero(~np.isfinite(row))
        if not len(wrong):
            raise InvalidData("Input X holds numbers too large to be squared: infinity came out. Rescale that column.")
        column = int(wrong[0])
        name = (columns_of(self) if names is None else names)[column]
        kind = "NaN" if np.isnan(row[column]) else "infinity"
        raise InvalidData(f"Input X contains {kind}: column {name!r}. Drop or fill such rows before learning.")


ORDER = (
    "what a scan learns depends on the order of rows and on the number of steps; a weight multiplies the rate of one"
)
WEIGHT_CHECKS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


@dataclass(frozen=True)
class Learned:
    """What a fit showed: errors by epoch, how it ended, the objective, and what a person can do about it."""

    history: list[float]
    status: Status
    objective: float
    solver: str
    advice: str = ""
    proof: Certificate | None = None
    """A certificate that says more, where the rule has one."""


class OnlineSystem(SingleRows):
    """A linear machine that learns row by row, or by batch steps, and can go on at any time."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({},)  # the settings that compare tries
    expected_failures: ClassVar[dict[str, str]] = dict.fromkeys(WEIGHT_CHECKS, ORDER)
    """Checks of scikit-learn that cannot pass, each with its reason."""
    parameters: ClassVar[dict[str, Check]] = {
        "rate": AnyOf(AUTO, POSITIVE),
        "schedule": SCHEDULE,
        "fit_intercept": FLAG,
        "init": AnyOf(NONE, OneOf("random"), FIRST_WEIGHTS),
        "epochs": COUNT,
        "tol": ZERO_OR_MORE,
        "shuffle": FLAG,
        "random_state": SEED,
        "warm_start": FLAG,
        "standardize": FLAG,
        "basis": BASIS,
    }
    fit_intercept: bool
    init: Any
    rate: Any
    schedule: Any
    epochs: int
    tol: float
    shuffle: bool
    random_state: Any
    warm_start: bool
    standardize: bool = False  # an argument of the systems that work in the units of the columns otherwise
    n_features_in_: int
    history_: list[float]
    n_iter_: int
    _scan: Scan
    _proof: Certificate
    _learned: tuple[int, int]  # rows seen by fits, and the steps of the scan by then

    # -- what a system says --------------------------------------------------------------------------------------

    @abstractmethod
    def _start(self, shape: Shape) -> Scan:
        """Return the scan before its first row."""

    def _plan(self, draw: np.random.Generator | None, epochs: int) -> EpochOptions:
        """Return how long to go on."""
        return EpochOptions(epochs, float(self.tol), draw=draw, title=type(self).__name__)

    def _learn(self, source: Source, scan: Scan, draw: np.random.Generator | None, epochs: int) -> Learned:
        """Go over the rows, in place."""
        return self._told(sweep(source, scan, self._plan(draw, epochs)))

    def _told(self, swept: SweepResult) -> Learned:
        """Return what the epochs of a scan mean here."""
        history = [tally.mean_loss for tally in swept.tallies]
        return Learned(history, swept.status, swept.tallies[-1].loss, "scan")

    def _weights(self) -> Array:
        """Return the weights that predict, (K, 1 + D), of the columns as the scan sees them."""
        return self._scan.theta

    # -- learning ------------------------------------------------------------------------------------------------

    def _fit(self, source: Source, goes_on: bool, meter: Meter) -> None:
        """Go over the rows for epochs, from the first weights or on from those there are."""
        if not goes_on:
            self.__dict__.pop("_names", None)
            self._typical = _typical(source)
        source = self._standardized(source, goes_on)
        scan = self._scan.copy() if goes_on else self._start(source.shape)
        draw = self._draws() if self.shuffle else None
        learned = self._learn(source, scan, draw, int(self.epochs))
        if self.fit_intercept and isinstance(self.rate, str) and not goes_on:
            _fold_constants(source, scan)
        self._keep(scan, source, learned, goes_on, meter)

    def _go_on(self, source: Source, meter: Meter) -> None:
        """Go over more rows once, in their order."""
        goes_on = hasattr(self, "_scan")
        if goes_on and self._scan.theta.shape[1] != 1 + source.shape.features:
            raise InvalidData(
                f"X has {source.shape.features} features, but {type(self).__name__} is expecting {self.n_features_in_}"
            )
        if not goes_on:
            self._typical = _typical(source)
        source = self._standardized(source, goes_on)
        scan = self._scan.copy() if goes_on else self._start(source.shape)
        learned = self._learn(source, scan, None, 1)
        if learned.status is Status.NOT_CONVERGED:
            learned = replace(learned, status=Status.ONGOING)
        self._keep(scan, source, learned, goes_on, meter)

    def _keep(self, scan: Scan, source: Source, learned: Learned, goes_on: bool, meter: Meter) -> None:
        rows = self._learned[0] if goes_on else 0
        history = self.history_ if goes_on else []
        self._scan = scan
        self._learned = rows + source.count_rows(), scan.steps
        self.history_ = [*history, *learned.history]
        self.n_iter_ = len(self.history_)
        proof = learned.proof or self._certify(learned.status, learned.objective, learned.solver)
        advice = learned.advice or learned.status.advice
        self._proof = meter.on(replace(proof, advice=advice), source)
        if learned.status is Status.DIVERGED:
            warn(f"{type(self).__name__} diverged in epoch {self.n_iter_}: {advice}", ConvergenceWarning)

    def _certify(self, status: Status, objective: float, solver: str) -> Certificate:
        return certificate(
            status=status,
            objective=objective,
            gradient=math.nan,
            gap=math.inf,
            digits=math.nan,
            condition=math.nan,
            rank=0,
            passes=0,
            solver=solver,
        )

    @property
    def certificate_(self) -> Certificate:
        """How the last fit ended; rows learned one at a time since then are taken into account."""
        proof = self._proof
        scan = self._scan
        if scan.steps == self._learned[1] or proof.status is Status.DIVERGED:
            return proof
        status = Status.ONGOING if scan.status is State.RUNNING else Status.DIVERGED
        return replace(proof, objective=scan.tally.loss, status=status, advice=status.advice)

    @property
    def rows_seen_(self) -> int:
        """Number of rows learned from, each counted once a fit."""
        return self._learned[0] + self._scan.steps - self._learned[1]

    # -- inside --------------------------------------------------------------------------------------------------

    def _outputs(self, X: Any) -> Array:
        """Return w.x + w0 for rows, (n, K), on the host."""
        check_is_fitted(self, "n_features_in_")
        x = read_finite(self, X)
        x = host(x) if is_device(x) else x
        standard = self._standard_of()
        if standard is None:
            return outputs(x, self._weights())
        if is_sparse(x) and standard.mean.any():
            return outputs(x, standard.raw(self._weights()))
        return outputs(standard.rows(x), self._weights())

    def _raw_weights(self) -> Array:
        """Return the weights that predict, (K, 1 + D), of the columns in their own units."""
        standard = self._standard_of()
        return self._weights() if standard is None else standard.raw(self._weights())

    def _standardized(self, source: Source, goes_on: bool) -> Source:
        """Return rows as the scan sees them: standardised if asked for, by the scales learned when the model began."""
        if not goes_on:
            self.__dict__.pop("_standard", None)
            if self.standardize:
                self._standard = _standard(source, bool(self.fit_intercept) and not source.sparse)
        standard = self._standard_of()
        if (standard is not None) != bool(self.standardize):
            raise InvalidParameter(
                f"standardize is {self.standardize}, and {type(self).__name__} was begun with {not self.standardize}: "
                "set it back to go on, or fit anew"
            )
        if standard is None:
            return source
        if source.sparse and standard.mean.any():
            raise InvalidData(
                f"{type(self).__name__} was begun with dense rows, which standardize=True centres, and sparse rows "
                "cannot be centred: give dense rows, or fit anew"
            )
        return standardized(source, standard)

    def _draws(self) -> np.random.Generator:
        return generator(self.random_state)

    def _begun(self, shape: Shape, rows: int) -> Any:
        """Return the first weights (rows, 1 + D): zero, as given, or drawn."""
        if isinstance(self.init, str):
            first = self._draws().normal(size=(rows, 1 + shape.features))
            first[:, 0] *= bool(self.fit_intercept)
            return first
        standard = self._standard_of()
        if self.init is None or standard is None:
            return self.init
        given = np.asarray(self.init, dtype=np.float64)
        return standard.inside(given) if given.shape[-1:] == (1 + shape.features,) else given

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _fold_constants(source: Source, scan: Scan) -> None:
    """Move the weights of columns that are constant in rows in memory onto the intercept: predictions are the same."""
    if source.streamed:
        return
    spread = Spread.zero(source.shape)
    for block in source.blocks():
        spread.add(block)
    scan.fold(~varying(spread), spread.mean)


def _standard(source: Source, centred: bool) -> Standard:
    """Return mean and standard deviation of the columns; zero and the root mean square where nothing is centred.

    A column that does not vary is scaled by its size: centred it is zero in every row, and gets no weight.
    """
    spread = column_spread(source)
    mean = spread.mean if centred else np.zeros_like(spread.mean)
    size = spread.deviation if centred else spread.root
    rest = np.where(spread.largest > 0, spread.largest, 1.0)
    return Standard(mean, np.where(size > ROUNDED * np.abs(mean), size, rest))


def _typical(source: Source) -> Array | None:
    """Return the first row, about which outputs can be computed without cancellation; None for sparse rows."""
    if source.sparse:
        return None
    block = source.peek().gathered()
    row = np.asarray(host(block.x[:1]), dtype=np.float64)[0].copy()
    return row if np.isfinite(row).all() else None
