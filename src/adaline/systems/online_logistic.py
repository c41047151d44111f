"""Logistic regression row by row: each row takes one step, of a size of its own for every column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from adaline.arrays import (
    AnyArray,
    Array,
    LabelsLike,
    RowLike,
    RowsLike,
    TargetLike,
    TargetsLike,
    host,
    is_sparse,
    like_rows,
)
from adaline.block import Block, Shape
from adaline.construction import check_parameters
from adaline.errors import AdalineWarning, InvalidData, warn
from adaline.fits.online import OnlineResult, refuse_changes, run_epochs, scan_certificate
from adaline.fitted import check_is_fitted
from adaline.input import Meter, by_blocks, continuation
from adaline.input.basis import basis_of, basis_of_row, columns_of, given_columns
from adaline.input.columns import InputColumns
from adaline.input.drafts import snapshot
from adaline.input.labels import Labels
from adaline.input.open import LabelledRows, read_finite, refuse_overflow
from adaline.input.system import columns_on
from adaline.locks import lock_of
from adaline.losses import Logistic
from adaline.parameters import FIRST_WEIGHTS, FLAG, NONE, ZERO_OR_MORE, AnyOf, ClassWeight, one_of
from adaline.results import Certificate, Status
from adaline.scans import CoordinateRule, Scan
from adaline.scans.tally import LOSS, WEIGHT
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.sources import Source
from adaline.sources.expanded import phi
from adaline.sources.views import in_memory, recoded
from adaline.state import FitSettings, FittedWith, read_only
from adaline.systems.families.decisions import (
    coupled_log_probabilities,
    coupled_probabilities,
    shares,
)
from adaline.systems.families.named import named_system
from adaline.systems.families.online_classifier import OnlineClassifier, classes_of_first, signed, weights_of_classes
from adaline.systems.families.online_state import FittedScan, OnlineState, PreparedState, learned_by
from adaline.systems.families.single_row import by_name, coded_row, number_in, refuse_row, row_of_array, row_of_dict
from adaline.systems.families.weights import finite_outputs

OnlineScheme = Literal["softmax", "one-vs-rest"]
TALLIED = [LOSS, WEIGHT]
"""The numbers of a scan that `progressive_loss_` is made of."""


@dataclass(frozen=True)
class OnlineLogisticSettings(FitSettings):
    """The settings that an online logistic regression is read with."""

    scheme: OnlineScheme


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class OnlineLogistic(OnlineClassifier):
    """Online logistic regression: minimises the loss of `LogisticRegression` by one step a row, in the rows' order.

    The objective is minus the log-likelihood of the labels + penalty/2 ||w||^2 + l1 |w|, w0 free. Two classes:
    P(classes_[1]) = 1 / (1 + exp(-w'x - w0)). K > 2 classes: P(class k) is the softmax of K outputs. A row moves w by
    eta_j (t - P) x_j, with a step size eta_j of its own for every column, in the units of that column (AdaGrad in
    normalised units; penalties by FTRL-proximal), and only the columns in which it is not zero: for streams, and for
    millions of sparse columns.

    `fit` takes the rows once, or `epochs` times. `partial_fit` continues with more rows, `learn_one` with one, which
    may be a dict: keys left out are zero, and a new key is a new column. Rows in several calls give the same bits as in
    one. The weights do not maximise the likelihood and have no standard errors; for these use
    `LogisticRegression`. Penalties count once for all rows so far, not once a row, and once more with every
    further epoch: one pass shrinks weights less than the objective asks for, and many epochs approach its minimum.

    Parameters
    ----------
    penalty : number
        Of ||w||^2 / 2, in the columns' own units.
    l1 : number
        Adds l1 |w|, which sets coefficients to zero; with a penalty it is the elastic net.
    scheme : "softmax" or "one-vs-rest"
        What is done with K > 2 classes: one likelihood, or K machines, each one class against the rest.
    fit_intercept : bool
        Whether the machines have a constant w0; it is never penalised.
    class_weight : None, "balanced" or dict by labels
        Weights of the classes, times those of the rows; "balanced" makes classes weigh the same.
    init : array (1, 1 + D) or (K, 1 + D), or None
        First weights, intercept first; None is zero.
    warm_start : bool
        Whether fit continues from the present weights.
    epochs : int
        How often fit goes over the rows.
    average : bool
        Whether to predict by the mean of the weights after each row, which varies less, instead of the last ones,
        which steps are taken from (averaging of Polyak and Ruppert). It costs no pass. `progressive_loss_` is that of
        the last ones either way.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    classes_ : labels; with two, classes_[1] is the one whose probability rises with w'x.
    coef_, intercept_ : (1, D) and (1,), or (K, D) and (K,).
    progressive_loss_ : mean loss on each row before learning from it, in the last epoch of fit and since.
    n_iter_, history_ : epochs, and the mean progressive loss of each. rows_seen_ : rows, each counted once a fit.
    certificate_ : how it ended; its objective is NaN, as no pass is made to compute it.

    Examples
    --------
    >>> from adaline import OnlineLogistic, datasets
    >>> data = datasets.load("breast_cancer")
    >>> model = OnlineLogistic().fit(data.X, data.y)
    >>> print(model.score(data.X, data.y) > 0.85, model.progressive_loss_ < 0.4, model.certificate_.status)
    True True ongoing

    Rows one at a time, whose new keys are new columns:

    >>> model = OnlineLogistic()
    >>> for row, clicked in (({"user=a": 1}, True), ({"user=b": 1}, False), ({"user=a": 1, "ad=c": 1}, True)):
    ...     _ = model.learn_one(row, clicked)
    >>> model.feature_names_in_.tolist(), bool(model.predict_one({"ad=c": 1}))
    (['user=a', 'user=b', 'ad=c'], True)

    References
    ----------
    Lecture S0, section 5.9, and S2 (the likelihood and its gradient); S4 (online gradient). One pass an epoch. J.
    Duchi, E. Hazan, Y. Singer, JMLR 12 (2011), 2121-2159; H. B. McMahan, AISTATS (2011), 525-533.
    """

    compared: ClassVar[tuple[dict[str, Any], ...]] = ()  # LogisticRegression, which it approaches, is compared

    _rule = CoordinateRule
    _fitted_with = FittedWith(OnlineLogisticSettings)
    penalty: Annotated[float, ZERO_OR_MORE] = 0.0
    l1: Annotated[float, ZERO_OR_MORE] = 0.0
    scheme: Annotated[OnlineScheme, one_of(OnlineScheme)] = "softmax"
    fit_intercept: bool = True
    class_weight: ClassWeight = None
    init: Annotated[Any, AnyOf(NONE, FIRST_WEIGHTS)] = None
    warm_start: bool = False
    epochs: int = 1
    average: Annotated[bool, FLAG] = False
    basis: Any = None

    def _learn_next(self, x: RowLike, y: TargetLike, classes: LabelsLike) -> None:
        if self._state is None:
            self._begin_with(x, y, classes)
        else:
            self._follow_settings(self._state, self._state.scan)
            self._learn_from(x, y)

    @by_blocks
    def predict_proba(self, X: RowsLike) -> Array:
        """Return the probability of each class, (n, K); of several machines made to add up."""
        z = self._outputs(X)
        if z.shape[1] == 1 or self._fitted_with.scheme == "softmax":
            return like_rows(X, coupled_probabilities(z))
        return like_rows(X, shares(Logistic().mean(host(z))))

    @by_blocks
    def predict_log_proba(self, X: RowsLike) -> Array:
        """Return the logarithms of the probabilities, (n, K)."""
        z = host(self._outputs(X))
        if z.shape[1] == 1 or self._fitted_with.scheme == "softmax":
            return like_rows(X, coupled_log_probabilities(z))
        with np.errstate(divide="ignore"):
            return like_rows(X, np.log(shares(Logistic().mean(z))))

    @property
    def coef_(self) -> Array:
        """The weights that predict, (1, D) for two classes, else (K, D)."""
        check_is_fitted(self, "_scan")
        return read_only(self._coordinates.weights(slice(1, None)))

    @property
    def intercept_(self) -> Array:
        """The constants, (1,) or (K,)."""
        check_is_fitted(self, "_scan")
        return read_only(self._coordinates.weights(slice(1))[:, 0])

    @property
    def progressive_loss_(self) -> float:
        """The mean loss on each row before learning from it, in the last epoch of fit and since."""
        check_is_fitted(self, "_scan")
        loss, weight = self._scan.numbers[TALLIED].tolist()
        return loss / weight if weight else np.nan

    @property
    def _coordinates(self) -> CoordinateRule:
        """The scan."""
        return cast("CoordinateRule", self._scan)

    # -- the scan --------------------------------------------------------------------------------------------------

    def _class_targets(self, classes: int) -> Array:
        """Return the targets of each class: (C, 1) of two classes, 0 and 1, or of softmax, the index; else (C, C)."""
        return np.arange(float(classes))[:, None] if self._coupled(classes) else signed(classes, 0.0)

    def _coupled(self, classes: int) -> bool:
        """Whether one likelihood has an output for each of so many classes."""
        return classes > 2 and self.scheme == "softmax"

    def _start(self, setup: PreparedState, shape: Shape, sparse: bool = False) -> CoordinateRule:
        return self._scan_of(setup, shape.features, self.init)

    def _scan_of(self, setup: PreparedState, columns: int, init: Any = None) -> CoordinateRule:
        """Return the scan of these parameters before its first row."""
        k = len(setup.labels)
        return CoordinateRule.start(
            Shape(columns, 1 if self._coupled(k) or k == 2 else k),
            loss="softmax" if self._coupled(k) else "logistic",
            classes=k,
            intercept=bool(self.fit_intercept),
            init=init,
            penalty=float(self.penalty),
            l1=float(self.l1),
            average=bool(self.average),
        )

    def _go_on(self, setup: PreparedState, scan: Scan) -> None:
        """Let a scan under way continue; refuse parameters that it was not begun with."""
        changed = scan.follow(self._scan_of(setup, 1))
        refuse_changes(["scheme" if name == "loss" else name for name in changed], type(self).__name__)

    def _first_result(self, scan: Scan) -> OnlineResult:
        return OnlineResult([], scan_certificate(Status.ONGOING, np.nan, "online"))

    # -- learning from many rows -------------------------------------------------------------------------------------

    def _setup(self, source: Source, columns: InputColumns, **known: Any) -> PreparedState:
        return self._setup_of(columns, _plain_names(columns), known)

    def _setup_of(self, columns: InputColumns, names: dict[str, int] | None, known: dict[str, Any]) -> PreparedState:
        settings = self._settings_of_fit()
        return PreparedState(columns=columns, fitted_with=settings, standard=None, names=names, typical=None, **known)

    def _with_targets(self, given: LabelledRows, classes: Labels, balance: bool) -> Source:
        """Return the rows with the targets of the machines, weighted by class; a single pass holds none in memory."""
        source = given.encoded(classes)
        if (balance and self.epochs > 1) or isinstance(self.class_weight, str):
            source = in_memory(source)
        weights = weights_of_classes(self.class_weight, classes, source if balance else None)
        return recoded(source, self._class_targets(len(classes)), weights)

    def _learn(self, setup: PreparedState, source: Source, meter: Meter, *, once: bool = False) -> None:
        title, epochs = type(self).__name__, 1 if once else int(self.epochs)
        source.runner.refuse_parts()
        goes_on = isinstance(setup, OnlineState)
        with self._continued(setup, source) as before:
            scan = before.scan
            if goes_on and not once:
                scan.begin(again=True)
            seen = scan.numbers[TALLIED] if goes_on and once else 0.0
            result = run_epochs(source, scan, EpochOptions(epochs, title=title))
            scan.numbers[TALLIED] += seen
            diverged = result.certificate.status is Status.DIVERGED
            proof = meter.on(_certificate(diverged, len(result.history)), source)
            after = before.joined(result, proof, source.count_rows())
            after.scan.doubt_settings()  # another thread may have set them meanwhile
            self._state = learned_by(setup, after)
        if diverged:
            warn(f"{title}: a row's loss is not finite, and no row was learned after it", AdalineWarning)

    # -- one row at a time -------------------------------------------------------------------------------------------

    @continuation
    def _begin_with(self, x: AnyArray, y: TargetsLike, classes: LabelsLike) -> OnlineState:
        """Start a new model with its first row and label, and learn from them."""
        check_parameters(self)
        known = self._with_classes(classes_of_first(y, classes, type(self).__name__))
        x = by_name(x)
        grows = isinstance(x, Mapping) and self.basis is None
        columns = InputColumns(0) if grows else self._columns_of_row(x)
        setup = self._setup_of(columns, {} if grows else None, known)
        scan = self._scan_of(setup, columns.width, self.init)
        self._state = learned_by(setup, FittedScan(scan, self._first_result(scan)))
        self._learn_from(x, y)
        return self._state

    def _columns_of_row(self, x: AnyArray) -> InputColumns:
        """Return the columns of a first row, an array or a dict, with the basis over them."""
        if not isinstance(x, Mapping):
            row = row_of_array(x, int(np.size(x)))
            return InputColumns(len(row), basis=basis_of_row(self, row))
        names = tuple(x)
        row = np.array([number_in(name, x[name]) for name in names])
        return InputColumns(len(row), names, basis=basis_of_row(self, row))

    def _learn_from(self, x: AnyArray, y: TargetsLike) -> None:
        """Learn from one row and its label, in place; columns that are new come in one assignment."""
        state = self._state
        assert state is not None
        scan, names, basis = self._coordinates, state.names, state.columns.basis
        if names is not None:
            x = by_name(x)
        target = np.array(self._target(y), dtype=np.float64, ndmin=2)
        weights = weights_of_classes(self.class_weight, self.classes_, None)
        weight = None if weights is None else weights[list(self._targets).index(y)][None]
        if isinstance(names, dict) and isinstance(x, Mapping):
            scan = _with_columns(scan, names, x)
        at, values = self._entries(x, scan.features)
        scan.revive()
        row = csr_array((values, at, [0, len(at)]), shape=(1, scan.features))
        scan.run(Block(row, target, weight))
        if basis is None:
            scan.read_rows_by(names, state.targets)
        if scan is not state.scan:  # the names of the columns are made of `names` when they are asked for
            self._state = replace(state, scan=scan, columns=InputColumns(scan.features))

    def _row_outputs(self, x: AnyArray) -> Array:
        check_is_fitted(self, "_scan")
        still = snapshot(self)
        scan = still._coordinates
        at, values = still._entries(x, scan.features)
        theta = scan.weights(np.append(0, 1 + at))
        return refuse_overflow(np.asarray(theta[:, 1:] @ values + theta[:, 0]))

    def _entries(self, x: AnyArray, columns: int) -> tuple[NDArray[np.int64], Array]:
        """Return columns, in their order, and numbers of one row, an array or a dict; refuse what is not finite.

        Keys of a dict that are none of the first `columns` columns are left out: `_names` may have more, of a row that
        another thread is learning from.
        """
        names, coding, basis = self._names, getattr(self, "coding_", None), basis_of(self)
        x = x if names is None and coding is None else by_name(x)
        row: Any
        if not isinstance(x, Mapping):
            row = row_of_array(x, columns if basis is None else basis.n_features_in_)
        elif names is not None:
            known = ((names.get(name, columns), name) for name in x)
            found = sorted((j, number_in(name, x[name])) for j, name in known if j < columns)
            at = np.array([j for j, _ in found], np.int64)
            return at, self._finite(at, np.array([v for _, v in found], np.float64))
        elif coding is not None:
            row = coded_row(x, coding)
        else:
            row = row_of_dict(x, self._names_for(x), None)
        if basis is not None:
            if not is_sparse(row) and not np.isfinite(row).all():
                refuse_row(row, given_columns(self))
            row = phi(basis, np.atleast_2d(row))
        if is_sparse(row):
            row.sort_indices()
            at = row.indices.astype(np.int64)
            return at, self._finite(at, row.data)
        row = np.ravel(row)
        at = np.flatnonzero(row)
        return at, self._finite(at, row[at])

    def _names_for(self, x: Mapping[Any, Any]) -> tuple[Any, ...]:
        """Return the columns that a row that is a dict has to have: by name, or by index where they have no names."""
        columns = columns_on(self)
        if columns.names is None and set(x) != set(range(columns.count)):
            raise InvalidData("the model was fitted to columns without names: give rows as arrays")
        return tuple(range(columns.count)) if columns.names is None else columns.names

    def _finite(self, at: NDArray[np.int64], values: Array) -> Array:
        """Return the numbers of columns of a row; refuse those whose squares have no finite sum."""
        if not _has_square(values):
            names = columns_of(self)
            refuse_row(values, [names[j] for j in at])
        return values

    def _outputs(self, X: RowsLike) -> Array:
        """Return w.x + w0 of rows, (n, machines), where these lie."""
        check_is_fitted(self, "_scan")
        theta = self._coordinates.weights(slice(None))  # read once: rows may be learned meanwhile
        return finite_outputs(read_finite(self, X), theta[:, 1:], theta[:, 0])

    def _raw_weights(self) -> Array:
        check_is_fitted(self, "_scan")
        return self._coordinates.weights(slice(None))

    def __getattr__(self, name: str) -> Any:
        """Return `feature_names_in_` of a model whose rows are dicts: it is made when it is asked for."""
        names = None if self._state is None else self._state.made_names()
        if name == "feature_names_in_" and names is not None:
            return names
        return object.__getattribute__(self, name)  # which says what is missing

    def __getstate__(self) -> dict[str, Any]:
        with lock_of(self):
            attributes = super().__getstate__()
            state = attributes.get("_state")
            if state is not None and state.names is not None:
                attributes["_state"] = replace(state, names=state.names.copy())
            return attributes


def _plain_names(columns: InputColumns) -> dict[str, int] | None:
    """Return the columns by name where they are numbers as they are given, neither coded nor of a basis."""
    if columns.names is None or columns.coding is not None or columns.basis is not None:
        return None
    return {name: j for j, name in enumerate(columns.names)}


def _with_columns(scan: CoordinateRule, names: dict[str, int], x: Mapping[Any, Any]) -> CoordinateRule:
    """Return the scan with the keys of a row that are new as columns, after those that there are; name them."""
    more = [name for name in x if name not in names]
    for name in more:
        if not isinstance(name, str):
            raise InvalidData(f"the columns of a row are named by text, got {name!r}")
    values = np.array([number_in(name, value) for name, value in x.items()])
    if not _has_square(values):
        refuse_row(values, [*x])
    if not more:
        return scan
    grown = scan.grown(len(names) + len(more))
    names.update({name: len(names) + k for k, name in enumerate(more)})
    return grown


def _certificate(diverged: bool, passes: int) -> Certificate:
    said = f"online, {'one pass' if passes == 1 else f'{passes} passes'}, each row's loss before its own step"
    return scan_certificate(Status.DIVERGED if diverged else Status.ONGOING, np.nan, said)


def _has_square(values: Array) -> bool:
    """Whether the squares of numbers have a finite sum."""
    with np.errstate(all="ignore"):
        return bool(values @ values < np.inf)
