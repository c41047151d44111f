"""A machine of the user's own under any loss (S4: learning as function estimation).

minimise over W   sum over rows of weight x loss(G(W, x), t)  +  penalty/2 |W|^2

G is any function with a derivative by W, so there may be several minima: the one that is reached depends on the start.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np

from adaline.activations import Activation, ActivationName
from adaline.arrays import Array, OffsetsLike, RowsLike, TargetsLike, WeightsLike, host, is_device, like_rows
from adaline.basis.base import BASIS
from adaline.construction import check_parameters
from adaline.errors import ConvergenceWarning, InvalidParameter, warn
from adaline.estimator import RegressorMixin, available_if
from adaline.fits.family_parameter import own_parameter
from adaline.fitted import check_is_fitted
from adaline.input import Meter, by_blocks, generator, transaction
from adaline.input.open import read_finite, refuse_overflow
from adaline.input.system import System, SystemState
from adaline.links import LINK, Link, LinkName
from adaline.losses import Loss
from adaline.losses.families import Family
from adaline.losses.registry import ACTIVATION, LOSS, LossName
from adaline.parameters import (
    AUTO,
    CONFORMAL_INTERVAL,
    COUNT,
    FLAG,
    NONE,
    POSITIVE,
    SEED,
    ZERO_OR_MORE,
    AnyOf,
    Having,
    Number,
    Numbers,
    OneOf,
    UsedWith,
    one_of,
)
from adaline.results import Certificate, Status
from adaline.scans import Schedule
from adaline.scans.schedules import SCHEDULE, Decay
from adaline.solvers.epochs.stochastic import stochastic_descent
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.solvers.least_squares.fit import certificate
from adaline.solvers.smooth.gradient import FunctionProblem, Stop, first_metric, gradient_descent, minimise_function
from adaline.sources.views import total_weight
from adaline.state import FittedAttribute, FittedWith
from adaline.sums.machine import DifferentiableMachine, dense
from adaline.systems.families.any_loss import (
    LossSettings,
    PosedRows,
    has_response,
    mean_of,
    pose,
    refuse_corners,
    score_means,
)
from adaline.systems.families.named import named_system
from adaline.systems.families.offsets import add_offset

if TYPE_CHECKING:  # inference is imported by the methods that need it
    from adaline.inference.classical import Interval

DescentSolver = Literal["lbfgs", "gradient", "stochastic"]
TOLERANCE = {"lbfgs": 1e-10, "gradient": 1e-8, "stochastic": 1e-4}
MOST = 10000  # steps of L-BFGS
MACHINE = Having(
    *("start", "value", "gradient"),
    what="an object with start(features, outputs, rng), value(W, X) and gradient(W, X, slopes)",
)


@dataclass(frozen=True)
class CustomMachineSettings(LossSettings):
    """The settings that a machine of one's own is read with."""

    machine: DifferentiableMachine


@dataclass(frozen=True, kw_only=True, eq=False)
class CustomMachineState(SystemState):
    """What a fit of a machine of one's own has learned.

    Parameters
    ----------
    fitted_with : the machine, and what its outputs mean.
    weights : W, of any shape.
    history, n_iter : the objective after each step, or the mean loss of each epoch; and their number.
    certificate : how the solver ended.
    rows_seen : number of rows.
    with_offset : whether the outputs had a known part.
    row_shape : the shape of a prediction: () or (K,).
    """

    fitted_with: CustomMachineSettings
    weights: Array
    history: list[float]
    n_iter: int
    certificate: Certificate
    rows_seen: int
    with_offset: bool
    row_shape: tuple[int, ...]


@named_system
@dataclass(eq=False, repr=False)
class CustomMachine(RegressorMixin, System):
    """Machine of your own: minimises sum of weight x loss(G(W, x), t) + penalty/2 ||W||^2, for any differentiable G.

    The outputs z = G(W, x), (n, K), take the place of w'x + w0, and a known offset is added where one is given. K
    targets have K outputs of one machine; softmax, whose targets are the indices 0 .. K-1 of classes, has K too.

    Parameters
    ----------
    machine : object
        With `start(features, outputs, rng)`, which gives the first weights W, an array of any shape, `value(W, X)`, the
        outputs (n, K), and `gradient(W, X, slopes)`, the sum over rows of slopes (n, K) times d outputs / dW. If it has
        `penalised(W)`, the penalty of each weight is multiplied by that. A constant is one of its weights.
    loss : name, a family such as losses.Tweedie(power=1.5), or a Loss such as losses.Huber(delta=2.0)
        As for `GeneralizedLinear`; a negative binomial with its shape. "absolute", "quantile" and "perceptron" have
        corners: solver="stochastic" only.
    link : None, name, or links.Power(exponent)
        Of families, as for `GeneralizedLinear`: predictions are the inverse link of z.
    activation : None, name, or Activation
        g of least squares through g: "identity", "tanh", "logistic", "exp", "softplus". None: the loss is taken of z.
    penalty : float
        On all weights, or on those that the machine names by `penalised`.
    solver : "lbfgs", "gradient" or "stochastic"
        L-BFGS, the textbook's batch rule, or one step a row, in Python: tens of microseconds a row.
    tol : float or None
        Bounds the estimated distance to the minimum as a share of the objective at the start; stochastic: ends when an
        epoch changes the progressive loss by no more than this share. None: 1e-10, gradient 1e-8, stochastic 1e-4.
    init : array like W, or None
        First weights. None: those of the machine's `start`.
    warm_start : bool
        Whether fit starts from the weights there are.
    rate : "auto" or number
        eta of gradient (on the sum over rows) and stochastic (on one row).
    schedule : "constant", "1/t", "power" or function
        Stochastic: how a number falls with the steps t = 1, 2, ...: eta, eta/t, eta/(1 + t)^(3/4), or eta f(t).
    epochs : int
        Most steps of gradient, most times that stochastic goes over the rows.
    stop_error : float or None
        Gradient: ends also when the objective is at most this.
    shuffle : bool
        Stochastic: whether every epoch draws a permutation of the rows. Rows sorted by target or by time need it.
    random_state : int, generator or None
        Where the first weights and permutations are drawn from.
    basis : a basis of `adaline.basis`, or None
        phi: the machine works on the columns phi(x) instead of x; `basis_` is as learned.

    Attributes
    ----------
    weights_ : W. history_ : objective after each step; stochastic: mean loss of each epoch.
    certificate_ : how the solver ended. n_iter_ : steps or epochs. rows_seen_ : number of rows.

    Examples
    --------
    A curve that levels off, y = w0 (1 - exp(-w1 x)):

    >>> import numpy as np
    >>> from adaline import CustomMachine
    >>> class Saturation:
    ...     def start(self, features, outputs, rng):
    ...         return np.ones(2)
    ...
    ...     def value(self, W, X):
    ...         return W[0] * (1 - np.exp(-W[1] * X))
    ...
    ...     def gradient(self, W, X, slopes):
    ...         left = np.exp(-W[1] * X)
    ...         return np.array([(slopes * (1 - left)).sum(), (slopes * W[0] * X * left).sum()])
    >>> x = np.array([[0.5], [1.0], [2.0], [4.0]])
    >>> model = CustomMachine(Saturation()).fit(x, 3 * (1 - np.exp(-0.5 * x[:, 0])))
    >>> model.weights_.round(4), str(model.certificate_.status)
    (array([3. , 0.5]), 'solved')

    References
    ----------
    Lecture S4: learning as function estimation, any machine G(W, X) and any loss of a row. Passes over the rows: one a
    step of L-BFGS or gradient, one an epoch of stochastic.
    """

    compared: ClassVar[tuple[dict[str, Any], ...]] = ()
    takes_offset: ClassVar[bool] = True
    used_with: ClassVar[UsedWith] = {
        **{name: {"solver": OneOf("gradient", "stochastic")} for name in ("rate", "epochs")},
        **{name: {"solver": OneOf("stochastic")} for name in ("schedule", "shuffle")},
        "stop_error": {"solver": OneOf("gradient")},
    }
    machine: Annotated[DifferentiableMachine, MACHINE]
    _: KW_ONLY
    loss: Annotated[LossName | Loss | Family, LOSS] = "squared"
    link: Annotated[LinkName | Link | None, LINK] = None
    activation: Annotated[ActivationName | Activation | None, ACTIVATION] = None
    penalty: Annotated[float, ZERO_OR_MORE] = 0.0
    solver: Annotated[DescentSolver, one_of(DescentSolver)] = "lbfgs"
    tol: Annotated[float | None, AnyOf(NONE, ZERO_OR_MORE)] = None
    init: Annotated[Any, AnyOf(NONE, Numbers("weights of the machine", range(1, 9)))] = None
    warm_start: Annotated[bool, FLAG] = False
    rate: Annotated[Literal["auto"] | float, AnyOf(AUTO, POSITIVE)] = "auto"
    schedule: Annotated[Decay, SCHEDULE] = "constant"
    epochs: Annotated[int, COUNT] = 200
    stop_error: Annotated[float | None, AnyOf(NONE, Number())] = None
    shuffle: Annotated[bool, FLAG] = False
    random_state: Annotated[Any, SEED] = 0
    basis: Annotated[Any, BASIS] = None

    learns = CustomMachineState
    _fitted_with = FittedWith(CustomMachineSettings)
    weights_ = FittedAttribute[Array]()
    history_ = FittedAttribute[list[float]]()
    n_iter_ = FittedAttribute[int]()
    certificate_ = FittedAttribute[Certificate]()
    rows_seen_ = FittedAttribute[int]()
    _with_offset = FittedAttribute[bool]()
    _row_shape = FittedAttribute[tuple[int, ...]]()

    @transaction
    def fit(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> Self:
        """Fit to rows X (n, D) and targets y (n,) or (n, K), or to a source; weights are frequencies.

        An offset (n,) or (n, K) is a known part of the outputs of each row, z = G(W, x) + offset, and an exposure is an
        offset by its logarithm. By stochastic steps a weight multiplies the rate of its row.
        """
        meter = Meter(X)
        check_parameters(self)
        settings = CustomMachineSettings.of(self)
        posed = pose(self, settings.of_row(), X, y, sample_weight, offset, exposure, held=True)
        first = self._first_weights(posed)
        weights, history, proof = self._minimise(posed, first)
        self._state = CustomMachineState(
            columns=posed.columns,
            fitted_with=settings,
            weights=weights,
            history=history,
            n_iter=len(history),
            certificate=meter.on(proof, posed.source),
            rows_seen=posed.source.n_rows,
            with_offset=posed.with_offset,
            row_shape=() if posed.flat else posed.constant.shape,
        )
        if self.certificate_.status in (Status.NOT_CONVERGED, Status.DIVERGED):
            warn(f"{self.certificate_.status}: {self.certificate_.advice}", ConvergenceWarning)
        return self

    def _check_together(self) -> None:
        loss = CustomMachineSettings.of(self).of_row()
        refuse_corners(loss, self.solver)
        if own := own_parameter(loss):
            raise InvalidParameter(f"the {own} of {loss.name} is not estimated here: give a number")

    def _first_weights(self, posed: PosedRows) -> Array:
        """Return the weights to start from, tried on a few rows."""
        outputs, machine = len(posed.constant), self.machine
        before = self.weights_ if self.warm_start and self._state is not None else self.init
        if before is None:
            before = machine.start(posed.source.shape.features, outputs, generator(self.random_state))
        weights = np.array(before, dtype=np.float64)
        x = dense(posed.source.peek().gathered().x[:2])
        y = np.asarray(machine.value(weights, x))
        if y.shape != (len(x), outputs):
            raise InvalidParameter(f"value of the machine is {y.shape} for {len(x)} rows, not ({len(x)}, {outputs})")
        slopes = np.asarray(machine.gradient(weights, x, np.zeros_like(y)))
        if slopes.shape != weights.shape:
            raise InvalidParameter(f"gradient of the machine has shape {slopes.shape}, the weights {weights.shape}")
        return weights

    def _minimise(self, posed: PosedRows, first: Array) -> tuple[Array, list[float], Certificate]:
        """Return weights, history and certificate of the steps down from the first weights."""
        penalised = getattr(self.machine, "penalised", np.ones_like)(first)
        hold = float(self.penalty) * np.broadcast_to(np.asarray(penalised, dtype=np.float64), first.shape)
        if self.solver == "stochastic":
            return self._step_by_rows(posed, first, hold)
        problem = FunctionProblem(posed.source, self.machine, posed.loss, hold)
        if self.solver == "lbfgs":
            found = minimise_function(problem, first, self._tol(), MOST)
            status = Status.SOLVED if found.converged else Status.NOT_CONVERGED
        else:
            start = problem.evaluate(first)
            scale = abs(start.value)
            stop = Stop(self._tol() * scale, self.stop_error, int(self.epochs), scale)
            rate = None if isinstance(self.rate, str) else np.asarray(float(self.rate))
            found, status = gradient_descent(problem.evaluate, first, first_metric(start), rate, stop, start)
        evaluation = found.evaluation
        gradient = float(np.abs(evaluation.gradient).max(initial=0.0))
        return found.theta, found.history, self._proof(status, evaluation.value, gradient)

    def _step_by_rows(self, posed: PosedRows, first: Array, hold: Array) -> tuple[Array, list[float], Certificate]:
        """Return the same of single steps; `hold` is the penalty of each weight on the sum over rows."""
        total = total_weight(posed.source)
        rate = None if isinstance(self.rate, str) else Schedule(float(self.rate), self.schedule)
        draw = generator(self.random_state) if self.shuffle else None
        options = EpochOptions(int(self.epochs), self._tol(), draw=draw, title=type(self).__name__)
        found = stochastic_descent(posed.source, self.machine, posed.loss, first, hold / total, rate, options)
        return found.weights, found.history, self._proof(found.status, found.history[-1] * total, math.nan)

    def _proof(self, status: Status, objective: float, gradient: float) -> Certificate:
        names = {"lbfgs": "L-BFGS", "gradient": "batch gradient descent", "stochastic": "stochastic gradient descent"}
        solver = f"{names[self.solver]} on the machine's own gradient"
        return certificate(status=status, objective=objective, gradient=gradient, solver=solver)

    def predict(
        self,
        X: RowsLike,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
        interval: Literal["conformal"] | None = None,
        level: float = 0.95,
    ) -> Array | Interval:
        """Return predictions (n,) or (n, K): g(z), or the mean of t under the loss; softmax: probabilities.

        A model fitted with offsets needs those of these rows; 0, or an exposure of 1, for rates. With
        interval="conformal" a named tuple (prediction, lower, upper), which covers a new observation with probability
        `level`, for any distribution of the rows: `adaline.conformal`.
        """
        if interval is not None:
            CONFORMAL_INTERVAL.check("interval", interval)
            from adaline.systems.families.conformal import conformal  # seldom needed

            return conformal(self).predict(X, level, offset, exposure)
        return self._shaped(X, mean_of(self._loss(), self._shifted(X, offset, exposure)))

    @available_if(lambda system: has_response(system._loss()))
    def decision_function(self, X: RowsLike, offset: OffsetsLike = None, exposure: OffsetsLike = None) -> Array:
        """Return the outputs z, (n,) or (n, K), where predictions are made of them and are not z itself."""
        return self._shaped(X, refuse_overflow(self._shifted(X, offset, exposure)))

    def score(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> float:
        """Return R^2 of the predictions; softmax: of the probabilities, with 1 for a row's own class and 0 else.

        Of successes and failures, it is that of the shares, weighted by the trials.
        """
        check_is_fitted(self, "certificate_")
        flat, outputs = not self._row_shape, math.prod(self._row_shape)
        given = (X, y, sample_weight, offset, exposure)
        return score_means(self, self._loss(), *given, outputs=outputs, flat=flat)

    def _shaped(self, X: RowsLike, values: Array) -> Array:
        return like_rows(X, values.reshape(len(values), *self._row_shape))

    def _shifted(self, X: RowsLike, offset: OffsetsLike, exposure: OffsetsLike) -> Array:
        """Return z of rows with their offsets, (n, K)."""
        return add_offset(self._outputs(X), self, X, offset, exposure, fitted_so=self._with_offset)

    @by_blocks
    def _outputs(self, X: RowsLike) -> Array:
        """Return G(W, x) of rows, (n, K), on the host."""
        check_is_fitted(self, "certificate_")
        x = read_finite(self, X)
        return np.asarray(self._fitted_with.machine.value(self.weights_, dense(host(x) if is_device(x) else x)))

    def _loss(self) -> Loss:
        """Return the loss of a row of the fit without its offset; before a fit, of the next one."""
        settings: CustomMachineSettings = self._fitted_with
        return settings.of_row()

    def _tol(self) -> float:
        return TOLERANCE[self.solver] if self.tol is None else float(self.tol)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
