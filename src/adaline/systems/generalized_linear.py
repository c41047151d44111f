"""Generalized linear machines: any loss, any activation, or any differentiable machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from adaline.arrays import Array, host, is_device, to_device_of
from adaline.basis.base import BASIS
from adaline.construction import check_parameters, configured
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidParameter, warn
from adaline.fits.custom_machine import MACHINE, first_weights, fit_machine
from adaline.fits.linear_machine import FittedMachine, Options, best_constants, constants_of_targets, minimise
from adaline.fits.stochastic import walk_rows
from adaline.input.basis import columns_of
from adaline.input.by_blocks import by_blocks
from adaline.input.coded import coded, scored
from adaline.input.columns import set_columns
from adaline.input.first_pass import FirstPass, first_pass
from adaline.input.meter import Meter
from adaline.input.open import open_rows, read_finite, refuse_overflow
from adaline.input.random_state import generator
from adaline.input.transaction import transaction
from adaline.losses import Composed, Loss, loss_of
from adaline.losses.registry import ACTIVATION, LOSS
from adaline.parameters import BATCH_RATE, COUNT, FLAG, NONE, SEED, ZERO_OR_MORE, AnyOf, Check, Number, Numbers, OneOf
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Status, combine_certificates, without_constants
from adaline.scans.schedules import SCHEDULE
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.solvers.least_squares.dependence import named, say_dependent
from adaline.solvers.least_squares.descent import read_init
from adaline.solvers.smooth.problem import build_problem
from adaline.sources import Source
from adaline.sources.views import in_memory
from adaline.sums import Targets
from adaline.sums.machine import dense
from adaline.sums.wrong_rows import outputs

TOLERANCE = {"gradient": 1e-8, "stochastic": 1e-4}
PRECISE = 1e-10
SOLVERS = ("auto", "newton", "lbfgs", "newton-cg", "gradient", "stochastic")
OF_MACHINES = ("auto", "lbfgs", "gradient", "stochastic")
SEPARATED = (
    "a plane has the rows of the classes on its sides, so that weights grow without end and the likelihood has no "
    "maximum: {weights} are returned; give a number as penalty, or use LogisticRegression, whose separation_ is the "
    "plane"
)


@configured
class GeneralizedLinear(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Generalized linear machine: minimises sum of weight x loss(g(w'x + w0), t) + penalty/2 ||w||^2, w0 free.

    Any loss of rows and any activation g; K targets have a machine each. Poisson and Gamma regression are losses, and
    so is softmax, whose targets are the indices 0 .. K-1 of classes. With `machine` the linear machine itself is
    replaced by a differentiable function G(W, X) of the user's own. Losses that are convex are minimised to `tol`;
    others (tukey, sigmoid_squared, tanh_squared, activations, own machines) to a minimum that depends on the start.

    Parameters
    ----------
    loss : name, or a Loss such as losses.Huber(delta=2.0) or losses.CustomLoss(...)
        "squared", "logistic" (t from 0 to 1), "softmax", "poisson", "gamma", "huber", "tukey", "absolute", "quantile",
        "perceptron" and "squared_hinge" (t = +-1), "sigmoid_squared", "tanh_squared". "absolute", "quantile" and
        "perceptron" have corners: solver="stochastic" only (RobustRegression and Perceptron know better ways).
    activation : None, name, or Activation
        g: "identity", "tanh", "logistic", "exp", "softplus". None: the loss is taken of z = w'x + w0 itself.
    machine : None, or an object
        With `start(features, outputs, rng)`, which gives the first weights W, an array of any shape, `value(W, X)`, the
        outputs (n, K), and `gradient(W, X, slopes)`, the sum over rows of slopes (n, K) times d outputs / dW. If it has
        `penalised(W)`, the penalty of each weight is multiplied by that.
    penalty : float
        In the columns' own units; with a machine on all its weights.
    solver : "auto", "newton", "lbfgs", "newton-cg", "gradient" or "stochastic"
        "auto" chooses among the first and says so in `certificate_.solver`. "gradient" is the textbook's batch rule,
        "stochastic" one step a row, for which all losses but squared, sigmoid_squared, tanh_squared and softmax, and
        all penalties, take a loop in Python, tens of microseconds a row.
    tol : float or None
        Bounds the distance to the optimum as a share of the loss of the best constants; stochastic: ends when an epoch
        changes the progressive loss by no more than this share. None: 1e-10, gradient 1e-8, stochastic 1e-4.
    fit_intercept : bool
        Whether linear machines have a constant w0; it is never penalised.
    init : array (1 + D,) or (K, 1 + D), intercept first, or like W; or None
        First weights. None: the best constants, or zero where the rate is a number.
    warm_start : bool
        Whether fit starts from the weights there are.
    rate : "auto", number; gradient of linear machines: also a vector or matrix
        eta of gradient (on the sum over rows) and stochastic (on one row); "auto" is safe in any units.
    schedule : "constant", "1/t", "power" or function
        Stochastic: how a number falls with the steps t = 1, 2, ...: eta, eta/t, eta/(1 + t)^(3/4), or eta f(t).
    epochs : int
        Most steps of gradient, most times that stochastic goes over the rows.
    stop_error : float or None
        Gradient: ends also when the objective is at most this.
    shuffle : bool
        Stochastic: whether every epoch draws a permutation of the rows. Rows sorted by target or by time need it.
    random_state : int, generator or None
        Where permutations and the first weights of machines are drawn from.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    coef_, intercept_ : (D,) and a number, or (K, D) and (K,). weights_ : W of a machine of one's own.
    certificate_ : how good the solution is. history_ : objective after each step; stochastic: mean loss of each epoch.
    n_iter_ : steps or epochs.

    Examples
    --------
    >>> from adaline import GeneralizedLinear
    >>> counts = GeneralizedLinear(loss="poisson").fit([[0.0], [1.0], [2.0], [3.0]], [1, 2, 4, 8])
    >>> print(counts.predict([[4.0]]).round(6), counts.certificate_.status)
    [16.] solved

    References
    ----------
    Lectures S2 and S3: activations on the linear machine, delta = g'(a) (y - t); S4: learning as function estimation.
    Passes over the rows: 5 to 15 by Newton, one a step of gradient, one an epoch of stochastic.
    """

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({"loss": "poisson"}, {"loss": "gamma"})
    """Settings for targets that suit them; with the squared loss it is LinearRegression."""
    parameters: ClassVar[dict[str, Check]] = {
        "loss": LOSS,
        "activation": ACTIVATION,
        "machine": AnyOf(NONE, MACHINE),
        "penalty": ZERO_OR_MORE,
        "solver": OneOf(*SOLVERS),
        "tol": AnyOf(NONE, ZERO_OR_MORE),
        "fit_intercept": FLAG,
        "init": AnyOf(NONE, Numbers("weights, intercept first, or those of a machine", range(1, 9))),
        "warm_start": FLAG,
        "rate": BATCH_RATE,
        "schedule": SCHEDULE,
        "epochs": COUNT,
        "stop_error": AnyOf(NONE, Number()),
        "shuffle": FLAG,
        "random_state": SEED,
        "basis": BASIS,
    }
    coef_: Array
    intercept_: float | Array
    weights_: Array
    n_features_in_: int
    certificate_: Certificate
    history_: list[float]
    n_iter_: int
    rows_seen_: int
    _flat: bool
    _typical: Array  # the mean of the columns

    def __init__(
        self,
        *,
        loss: Any = "squared",
        activation: Any = None,
        machine: Any = None,
        penalty: float = 0.0,
        solver: str = "auto",
        tol: float | None = None,
        fit_intercept: bool = True,
        init: Any = None,
        warm_start: bool = False,
        rate: Any = "auto",
        schedule: Any = "constant",
        epochs: int = 200,
        stop_error: float | None = None,
        shuffle: bool = False,
        random_state: Any = 0,
        basis: Any = None,
    ) -> None:
        self.loss = loss
        self.activation = activation
        self.machine = machine
        self.penalty = penalty
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.init = init
        self.warm_start = warm_start
        self.rate = rate
        self.schedule = schedule
        self.epochs = epochs
        self.stop_error = stop_error
        self.shuffle = shuffle
        self.random_state = random_state
        self.basis = basis

    @transaction
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X (n, D) and targets y (n,) or (n, K), or to a source; weights are frequencies.

        By stochastic steps a weight multiplies the rate of its row.
        """
        meter = Meter(X)
        check_parameters(self)
        loss = _read_loss(self)
        before = self._before() if self.warm_start and hasattr(self, "certificate_") else None
        for name in ("coef_", "intercept_", "weights_"):
            self.__dict__.pop(name, None)
        source, columns = open_rows(self, X, y, sample_weight, reset=True)
        set_columns(self, columns)
        if self.machine is not None or self.solver == "stochastic":
            source = in_memory(source)
        opening = first_pass(source, Targets, loss)
        if not opening.targets.finite:
            source.refuse_nonfinite()
        constant = best_constants(source, loss, opening.targets)
        self._flat, self.rows_seen_ = source.flat and not loss.coupled, source.n_rows
        if self.machine is None:
            self._fit_linear(source, loss, opening, constant, before)
        else:
            self._fit_machine(source, loss, len(constant), before)
        self.certificate_ = meter.on(self.certificate_, source)
        self._warn()
        return self

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Return predictions (n,) or (n, K): g(z), or the mean of t under the loss; softmax: probabilities."""
        y = refuse_overflow(loss_of(self.loss, self.activation).mean(self._outputs(X)))
        return np.asarray(y[:, 0] if self._flat else y)

    @available_if(lambda system: _has_outputs_of_its_own(system))  # type: ignore[untyped-decorator]
    @by_blocks
    def decision_function(self, X: Any) -> Array:
        """Return the outputs z, (n,) or (n, K), where predictions are made of them and are not z itself."""
        z = self._outputs(X)
        return z[:, 0] if self._flat else z

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R^2 of the predictions; softmax: of the probabilities, with 1 for a row's own class and 0 else."""
        if not loss_of(self.loss, self.activation).coupled:
            return scored(self, super().score, X, y, sample_weight)
        if isinstance(X, Source):
            X = coded(self, X)
            y, sample_weight = X.read_targets()[:, 0], X.read_weights()
        p = self.predict(X)
        own = np.arange(p.shape[1]) == np.asarray(y)[:, None]
        weight = np.ones(len(p)) if sample_weight is None else np.asarray(sample_weight)
        away = own - np.average(own, axis=0, weights=weight)
        return float(1 - (weight @ (own - p) ** 2).sum() / (weight @ away**2).sum())

    def _fit_linear(self, source: Source, loss: Loss, opening: FirstPass, constant: Array, before: Any) -> None:
        self._typical = opening.spread.mean
        options = self._options(len(constant), source.shape.features, before)
        if self.solver == "stochastic":
            found = [walk_rows(source, loss, options, self.schedule, self._plan(), opening.spread, constant)]
        elif loss.coupled or len(constant) == 1:
            found = [self._minimum(source, loss, options, opening, constant, slice(None))]
        else:
            found = []
            for k in range(len(constant)):
                own = slice(k, k + 1)
                one = options if options.init is None else replace(options, init=options.init[own])
                part = opening._replace(sample=None)
                found.append(self._minimum(source.with_target(k), loss, one, part, constant[own], own))
        self._take(found, source)

    def _minimum(
        self, source: Source, loss: Loss, options: Options, opening: FirstPass, constant: Array, own: slice
    ) -> FittedMachine:
        """Return the machine of the targets `own`."""
        problem = build_problem(
            *(source, loss, len(constant), options.intercept, options.penalty), opening.spread, opening.sample
        )
        constants = constants_of_targets(problem, constant, float(opening.targets.lowest[own].sum()))
        found = minimise(problem, constants, options)
        if found.solution.certificate.status not in (Status.SEPARATED, Status.QUASI_SEPARATED):
            return found
        weights = (
            "those that the last step reached" if self.solver == "gradient" else "the weights under a tiny penalty"
        )
        known = replace(found.solution.certificate, advice=SEPARATED.format(weights=weights))
        return replace(found, solution=replace(found.solution, certificate=known))

    def _fit_machine(self, source: Source, loss: Loss, outputs: int, before: Any) -> None:
        first = first_weights(
            source, self.machine, outputs, self.init if before is None else before, generator(self.random_state)
        )
        self.weights_, self.history_, self.certificate_ = fit_machine(
            source, self.machine, loss, first, float(self.penalty), self, self._plan()
        )
        self.n_iter_ = len(self.history_)

    def _take(self, found: list[FittedMachine], source: Source) -> None:
        theta = np.concatenate([one.solution.theta for one in found])
        self.coef_ = theta[0, 1:].copy() if self._flat else theta[:, 1:].copy()
        self.intercept_ = float(theta[0, 0]) if self._flat else theta[:, 0].copy()
        like = source.empty_on_device()
        if like is not None:
            self.coef_, self.intercept_ = to_device_of(like, self.coef_), to_device_of(like, self.intercept_)
        self.history_ = [value for one in found for value in one.history]
        self.n_iter_ = max(len(one.history) for one in found)
        columns = named([one.dependence for one in found if one.dependence is not None], columns_of(self))
        self.aliased_, self.dependencies_ = np.array(columns.aliased, dtype=object), columns.combinations
        self.certificate_ = without_constants(
            combine_certificates([one.solution.certificate for one in found]), columns.constant
        )

    def _options(self, outputs: int, features: int, before: Any) -> Options:
        given = self.init if before is None else before
        init = None if given is None else read_init(given, outputs, 1 + features)
        if init is not None:
            init[:, 0] *= bool(self.fit_intercept)
        penalty = RidgePenalty(float(self.penalty), np.ones(features))
        return Options(
            *(penalty, bool(self.fit_intercept), self._tol(), self.solver, init),
            rate=self.rate,
            epochs=int(self.epochs),
            stop_error=self.stop_error,
        )

    def _plan(self) -> EpochOptions:
        draw = generator(self.random_state) if self.shuffle and self.solver == "stochastic" else None
        return EpochOptions(int(self.epochs), self._tol(), draw=draw, title=type(self).__name__)

    def _tol(self) -> float:
        return TOLERANCE.get(self.solver, PRECISE) if self.tol is None else float(self.tol)

    def _outputs(self, X: Any) -> Array:
        """Return z of rows, (n, K), on the host."""
        check_is_fitted(self, "certificate_")
        x = read_finite(self, X)
        x = host(x) if is_device(x) else x
        if self.machine is not None:
            return np.asarray(self.machine.value(self.weights_, dense(x)))
        return outputs(x, self._theta())

    def _theta(self) -> Array:
        coef = np.atleast_2d(host(self.coef_))
        return np.column_stack([np.broadcast_to(host(self.intercept_), (len(coef),)), coef])

    def _before(self) -> Array:
        return self.weights_ if self.machine is not None else self._theta()

    def _warn(self) -> None:
        status, advice = self.certificate_.status, self.certificate_.advice
        if status in (Status.NO_MINIMUM, Status.SEPARATED, Status.QUASI_SEPARATED):
            warn(f"{status}: {advice}", AdalineWarning)
        elif status in (Status.NOT_CONVERGED, Status.DIVERGED):
            warn(f"{status}: {advice}", ConvergenceWarning)
        elif status is Status.RANK_DEFICIENT:
            warn(say_dependent(self.dependencies_), AdalineWarning)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags


def _read_loss(system: Any) -> Loss:
    """Return the loss of a system; refuse constructor arguments that mean nothing."""
    loss = loss_of(system.loss, system.activation)
    if system.machine is not None:
        OneOf(*OF_MACHINES).check("solver", system.solver)
    inner = loss.loss if isinstance(loss, Composed) else loss
    if inner.corners and system.solver != "stochastic":
        better = "Perceptron" if inner.name == "perceptron" else "RobustRegression"
        raise InvalidParameter(
            f"loss={inner.name!r} has corners and no curvature to step by: use solver='stochastic', or {better}, which "
            "is made for it"
        )
    if np.ndim(system.rate) and (system.machine is not None or system.solver != "gradient"):
        raise InvalidParameter("rate must be 'auto' or a number: only batch steps of linear machines take more")
    return loss


def _has_outputs_of_its_own(system: Any) -> bool:
    """Whether predictions are not the outputs themselves; a plain regressor has no decision_function."""
    loss = loss_of(system.loss, system.activation)
    return isinstance(loss, Composed) or loss.link != "identity"
