"""Generalized linear machines: families of distributions with links, and any other loss of a row."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from adaline import enclosures, inference
from adaline.activations import Activation, ActivationName
from adaline.arrays import (
    Array,
    GroupsLike,
    HypothesisLike,
    OffsetsLike,
    RowsLike,
    TargetsLike,
    WeightsLike,
    host,
    is_device,
    like_rows,
)
from adaline.basis.base import BASIS
from adaline.construction import check_parameters
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidData, InvalidParameter, SumsMissing, warn
from adaline.estimator import available_if
from adaline.fits.constants import Constants, constants_of_targets
from adaline.fits.family_parameter import (
    FIRST,
    LEAST_POWER,
    MOST_POWER,
    LikelyPower,
    likely_shape,
    minimise_parameter,
    own_parameter,
    with_parameter,
)
from adaline.fits.likelihood import likelihood_of_family
from adaline.fits.linear_machine import FittedMachine, MachineOptions, Near, minimise
from adaline.fits.stochastic import walk_rows
from adaline.fitted import AnySystem, check_is_fitted, has_absorbed
from adaline.forms import Count, Finite, Intercepts, PerTarget, Positive, PositiveNumber, Slopes, Strings
from adaline.inference import view
from adaline.inference.classical import Interval, quantile, refuse_prediction
from adaline.inference.covariance import ErrorOptions
from adaline.inference.effects import MeanModel, likelihood_means, linked_means
from adaline.inference.family import FamilySummary, family_test, ratio_of, summarise_families
from adaline.inference.family_intervals import OutputErrors, family_interval, output_errors
from adaline.inference.hypotheses import HypothesisTest
from adaline.inference.influence import LikelihoodInfluence, likelihood_influence
from adaline.inference.profile import check_profile, profile_ends
from adaline.inference.sample import WeightKind
from adaline.inference.sandwich import JudgedLikelihoods, judge_likelihoods
from adaline.inference.simulation import FamilyAnswers
from adaline.inference.view import InferenceView, OffsetErrorArguments, RowsAgain
from adaline.input import Meter, by_blocks, generator, transaction
from adaline.input.basis import columns_of
from adaline.input.coded import refuse_absorbed
from adaline.input.open import open_rows, read_finite, refuse_overflow
from adaline.input.system import SystemState, columns_on
from adaline.links import LINK, Link, LinkName, name_of
from adaline.losses import FAMILIES, Loss, Offset, Tweedie
from adaline.losses.families import Family
from adaline.losses.registry import ACTIVATION, LOSS, LossName
from adaline.parameters import (
    BATCH_RATE,
    COEFFICIENT_INTERVAL,
    COUNT,
    FIRST_WEIGHTS,
    FLAG,
    LEVEL,
    NONE,
    POSITIVE,
    PREDICTED_INTERVAL,
    SEED,
    ZERO_OR_MORE,
    AnyInterval,
    AnyOf,
    CoefficientInterval,
    ErrorKind,
    Number,
    OneOf,
    PredictedInterval,
    UsedWith,
    one_of,
)
from adaline.penalties import RidgePenalty
from adaline.results import CONSTANT, EXPLAINED, Certificate, Status, changed, combine_certificates, without_constants
from adaline.scans.schedules import SCHEDULE, Decay
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.solvers.least_squares.dependence import named, say_dependent
from adaline.solvers.least_squares.descent import read_init
from adaline.solvers.smooth.likelihood import LARGEST_SHAPE, LikelihoodFit
from adaline.solvers.smooth.problem import Problem, build_problem
from adaline.sources import Source
from adaline.sources.absorbed import AbsorbedSource, Absorption
from adaline.sources.device import empty_on_device
from adaline.sources.views import of_target
from adaline.state import FittedAttribute, FittedWith
from adaline.sums.machine import dense
from adaline.sums.outputs import outputs
from adaline.systems.families.any_loss import (
    LossSettings,
    PosedRows,
    has_response,
    mean_of,
    pose,
    refuse_corners,
    refuse_outside,
    score_means,
)
from adaline.systems.families.named import named_system
from adaline.systems.families.near import NearFits
from adaline.systems.families.offsets import add_offset, refuse_exposure, refuse_other_rows
from adaline.systems.families.supervised import LinearRegressor
from adaline.systems.families.weights import split_theta, theta_of
from adaline.wording import counted

if TYPE_CHECKING:  # tables, and some of inference, are slow to import
    from adaline.enclosures.enclosure import Enclosure
    from adaline.inference.bootstrap import RowsOfFit
    from adaline.sources import TableSource

TOLERANCE = {"gradient": 1e-8, "stochastic": 1e-4}
PRECISE = 1e-10
MachineSolver = Literal["auto", "newton", "lbfgs", "newton-cg", "gradient", "stochastic"]
DispersionRule = Literal["pearson", "deviance", "ml"]
DENSE_POWERS = (0, 2, 3, "auto")  # of Tweedie's family, beside those of compound amounts, whose density is known
NEAR = (Status.SOLVED, Status.ILL_CONDITIONED, Status.RANK_DEFICIENT)  # start fits of nearly the same rows
SEPARATED = (
    "a hyperplane separates the classes, so the weights grow without bound and the likelihood has no maximum: "
    "{weights} are returned; give a number as penalty, or use LogisticRegression, whose separation_ is the hyperplane"
)


@dataclass(frozen=True)
class GeneralizedLinearSettings(LossSettings):
    """The settings that a generalized linear machine is read with."""

    fit_intercept: bool
    penalty: float
    l1: float

    def refuse_exposure(self, exposure: OffsetsLike) -> None:
        """Refuse an exposure where a mean does not grow in proportion to it; with an activation it may do."""
        if self.activation is None:
            refuse_exposure(self.of_row(), exposure)


@dataclass(frozen=True, kw_only=True, eq=False)
class GeneralizedLinearState(SystemState):
    """What a fit of a generalized linear machine has learned.

    Parameters
    ----------
    fitted_with : what the outputs mean.
    coef, intercept : (D,) and a number, or (K, D) and (K,).
    certificate : how good the solution is.
    history, n_iter : the objective after each step, or the mean loss of each epoch; and their number.
    rows_seen : number of rows.
    flat : whether predictions have the shape (n,).
    typical : (D,) means of the columns.
    aliased, dependencies : of the columns, as `LinearRegression` says.
    with_offset : whether the outputs had a known part.
    fits : what inference needs, one for each target; none where the loss is no likelihood.
    deviance, dispersion, shape, power : of a family.
    absorbed : what was absorbed from the rows.
    """

    fitted_with: GeneralizedLinearSettings
    coef: Slopes
    intercept: Intercepts
    certificate: Certificate
    history: list[float]
    n_iter: Count
    rows_seen: Count
    flat: bool
    typical: Annotated[Array, Finite("D")] | None
    aliased: Annotated[NDArray[np.object_], Strings(".")] | None = None
    dependencies: list[str] | None = None
    with_offset: bool | None = None
    fits: list[LikelihoodFit] | None = None
    deviance: PerTarget | None = None
    dispersion: PerTarget | None = None
    shape: PositiveNumber | Annotated[Array, Positive("K")] | None = None
    absorbed: Absorption | None = None
    power: PerTarget | None = None


@named_system
@dataclass(eq=False, repr=False)
class GeneralizedLinear(NearFits, LinearRegressor):
    """Generalized linear machine: minimises sum of weight x loss(z, t) + penalty/2 ||w||^2 + l1 |w|, w0 free.

    z = w'x + w0, and a known offset where one is given. Families of distributions are losses: minus the log-likelihood
    of t, whose mean is the inverse link of z; `summary` and `test` are about them. So is softmax, whose targets are the
    indices 0 .. K-1 of classes, and any other cost of a row. K targets have a machine each. Losses that are known to be
    convex are minimised to `tol`; others to a minimum that depends on the start. `CustomMachine` has a differentiable
    function G(W, x) of your own in place of w'x + w0.

    Parameters
    ----------
    loss : name, a family such as losses.Tweedie(power=1.5), or a Loss such as losses.Huber(delta=2.0)
        Families: "gaussian" (or "squared"), "poisson", "gamma", "inverse_gaussian", "tweedie" (of power 1.5;
        losses.Tweedie(power="auto") estimates it, between 1 and 2, with the dispersion by maximum likelihood),
        "negative_binomial" (its shape is estimated, or given: losses.NegativeBinomial(shape=2.0)), "binomial": y of
        two columns, successes and failures, or of shares, whose weights are numbers of trials (of zeros and ones alone
        they are frequencies). Others: "logistic" (t from 0 to 1), "softmax", "huber", "tukey", "absolute", "quantile",
        "perceptron" and "squared_hinge" (t = +-1), "sigmoid_squared", "tanh_squared". "absolute", "quantile" and
        "perceptron" have corners: solver="stochastic" only (RobustRegression and Perceptron know better ways).
    link : None, name, or links.Power(exponent)
        Of families: "identity", "log", "sqrt", "inverse", "inverse_squared"; of binomial "logit", "probit", "cloglog",
        "log", "identity". None: identity for gaussian, logit for binomial, inverse_squared for inverse_gaussian, log
        for all others. Gamma too has the log, under which all means are positive; that of R is the inverse.
    activation : None, name, or Activation
        g of least squares through g, as in the lectures: "identity", "tanh", "logistic", "exp", "softplus". None: the
        loss is taken of z itself. Likelihoods take a link instead.
    penalty : float
        In the columns' own units.
    l1 : float
        The same of absolute values, which sets coefficients to zero; by proximal Newton steps.
    dispersion : None, "pearson", "deviance", "ml" or a number
        Of the errors of a family: Pearson's chi-squared or the deviance over the degrees of freedom, the most likely
        one, or as given. None: 1 for poisson, binomial and negative binomial, else "pearson". Of gamma amounts "ml" is
        one over the shape of MASS::gamma.shape; the summary has its standard error, and a log-likelihood that no other
        dispersion exceeds.
    solver : "auto", "newton", "lbfgs", "newton-cg", "gradient" or "stochastic"
        "auto" chooses among the first and says so in `certificate_.solver`. "gradient" is the textbook's batch rule,
        "stochastic" one step a row, for which all losses but squared, sigmoid_squared, tanh_squared and softmax, and
        all penalties, take a loop in Python, tens of microseconds a row.
    tol : float or None
        Bounds the distance to the optimum as a share of the loss of the best constants; stochastic: ends when an epoch
        changes the progressive loss by no more than this share. None: 1e-10, gradient 1e-8, stochastic 1e-4.
    fit_intercept : bool
        Whether there is a constant w0; it is never penalised.
    init : array (1 + D,) or (K, 1 + D), intercept first, or None
        First weights. None: the best constants, or zero where the rate is a number.
    warm_start : bool
        Whether fit starts from the weights there are.
    rate : "auto", number; gradient: also a vector or matrix
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
        Where permutations are drawn from.
    weights : "frequency" or "precision"
        What sample_weight means: how often a row was observed (2 is the row twice, degrees of freedom included), or the
        inverse of its variance up to a factor, as `weights` of R's glm: a row of positive weight is one observation.
        The coefficients are the same; dispersions, standard errors and tests are not. Where the dispersion is
        estimated, the unit of precisions does not matter; of a rate, its exposure is the precision.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    coef_, intercept_ : (D,) and a number, or (K, D) and (K,).
    certificate_ : how good the solution is. history_ : objective after each step; stochastic: mean loss of each epoch.
    n_iter_ : steps or epochs. rows_seen_ : number of rows. aliased_ : names of the columns that are constant or depend
    on those before them. dependencies_ : how, as text.
    deviance_, dispersion_ : of families; a dispersion that no degrees of freedom are left to estimate is NaN.
    shape_ : of a negative binomial, given or estimated; (K,) where one is estimated for each target.
    power_ : of Tweedie's family where it is estimated.
    absorbed_, effects_ : of counts in a table opened with absorb=, what was absorbed, and the effect of each level.

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
    takes_offset: ClassVar[bool] = True
    used_with: ClassVar[UsedWith] = {
        "rate": {"solver": OneOf("gradient", "stochastic")},
        **{name: {"solver": OneOf("stochastic")} for name in ("schedule", "shuffle")},
        "stop_error": {"solver": OneOf("gradient")},
    }
    loss: Annotated[LossName | Loss | Family, LOSS] = "squared"
    _: KW_ONLY
    link: Annotated[LinkName | Link | None, LINK] = None
    activation: Annotated[ActivationName | Activation | None, ACTIVATION] = None
    penalty: Annotated[float, ZERO_OR_MORE] = 0.0
    l1: Annotated[float, ZERO_OR_MORE] = 0.0
    dispersion: Annotated[float | DispersionRule | None, AnyOf(NONE, one_of(DispersionRule), POSITIVE)] = None
    solver: Annotated[MachineSolver, one_of(MachineSolver)] = "auto"
    tol: Annotated[float | None, AnyOf(NONE, ZERO_OR_MORE)] = None
    fit_intercept: Annotated[bool, FLAG] = True
    init: Annotated[Any, AnyOf(NONE, FIRST_WEIGHTS)] = None
    warm_start: Annotated[bool, FLAG] = False
    rate: Annotated[Literal["auto"] | Any, BATCH_RATE] = "auto"
    schedule: Annotated[Decay, SCHEDULE] = "constant"
    epochs: Annotated[int, COUNT] = 200
    stop_error: Annotated[float | None, AnyOf(NONE, Number())] = None
    shuffle: Annotated[bool, FLAG] = False
    random_state: Annotated[Any, SEED] = 0
    weights: Annotated[WeightKind, one_of(WeightKind)] = "frequency"
    basis: Annotated[Any, BASIS] = None

    learns = GeneralizedLinearState
    _fitted_with = FittedWith(GeneralizedLinearSettings)
    coef_ = FittedAttribute[Array]()
    intercept_ = FittedAttribute[float | Array]()
    certificate_ = FittedAttribute[Certificate]()
    history_ = FittedAttribute[list[float]]()
    n_iter_ = FittedAttribute[int]()
    rows_seen_ = FittedAttribute[int]()
    aliased_ = FittedAttribute[NDArray[np.object_]]()
    dependencies_ = FittedAttribute[list[str]]()
    deviance_ = FittedAttribute[float | Array]()
    dispersion_ = FittedAttribute[float | Array]()
    shape_ = FittedAttribute[float | Array]()
    power_ = FittedAttribute[float | Array]()
    absorbed_ = FittedAttribute[Absorption]()
    _fits = FittedAttribute[list[LikelihoodFit]]()
    _flat = FittedAttribute[bool]()
    _typical = FittedAttribute[Array | None]()
    _with_offset = FittedAttribute[bool]()

    @transaction
    def fit(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> Self:
        """Fit to rows X (n, D) and targets y (n,) or (n, K), or to a source; `weights` says what sample_weight is.

        An offset (n,) is a known part of the output of each row, z = w'x + w0 + offset, and (n, K) one of each output;
        an exposure, a time or a size that counts grow with, is an offset by its logarithm. By stochastic steps a weight
        multiplies the rate of its row.
        """
        return self._fit(X, y, sample_weight, None, offset, exposure)

    @transaction
    def _fit_near(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, model: Self) -> Self:
        """Fit as `fit` does, starting from a model of nearly the same rows where that helps."""
        near = theta_of(model) if model.certificate_.status in NEAR else None
        return self._fit(X, y, sample_weight, near)

    def _fit(
        self,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        near: Array | None,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> Self:
        meter = Meter(X)
        check_parameters(self)
        settings = GeneralizedLinearSettings.of(self)
        settings.refuse_exposure(exposure)
        before = theta_of(self) if self.warm_start and self._state is not None else self.init
        self._state = None  # effects are absorbed afresh
        loss, stochastic = settings.of_row(), self.solver == "stochastic"
        free = own_parameter(loss)
        loss = with_parameter(loss, FIRST[free]) if free else loss
        posed = pose(self, loss, X, y, sample_weight, offset, exposure, held=stochastic)
        options = self._options(posed, before)
        if stochastic:
            state = self._learned(posed, [self._walk(posed, options)], [])
        else:
            state = self._learned(posed, *self._minima(posed, options, near, free))
        if isinstance(posed.source, AbsorbedSource):
            state = with_effects_of_counts(state, posed.source)
        self._state = replace(state, certificate=meter.on(state.certificate, posed.source))
        self._warn()
        return self

    def _walk(self, posed: PosedRows, options: MachineOptions) -> FittedMachine:
        """Return the machines after epochs of single steps."""
        draw = generator(self.random_state) if self.shuffle else None
        epochs = EpochOptions(int(self.epochs), self._tol(), draw=draw, title=type(self).__name__)
        return walk_rows(posed.source, posed.loss, options, self.schedule, epochs, posed.opening.spread, posed.constant)

    def _minima(
        self, posed: PosedRows, options: MachineOptions, near: Array | None, free: str
    ) -> tuple[list[FittedMachine], list[LikelihoodFit]]:
        """Return the machines of least objective, and what inference needs of their likelihoods.

        Coupled outputs are fitted together, others target by target, from the weights `near` where their shape suits;
        `free` names a parameter of the family that is estimated too.
        """
        source, loss, opening, constant, *_ = posed
        if near is not None and near.shape != (len(constant), 1 + source.shape.features):
            near = None
        alone = Offset(loss.loss) if isinstance(loss, Offset) else loss
        together = loss.coupled or len(constant) == 1
        found: list[FittedMachine] = []
        fits: list[LikelihoodFit] = []
        for k in range(1 if together else len(constant)):
            own, part = slice(None), posed._replace(loss=alone)
            columns: slice | list[int] = slice(None)
            if not together:
                own, columns = slice(k, k + 1), source.targets.columns_of(k)
                rows, found_first = of_target(source, k), opening._replace(sample=None)
                part = PosedRows(rows, alone, found_first, constant[own], True, posed.columns)
            one = options if options.init is None else replace(options, init=options.init[own])
            one = one if near is None else replace(one, near=Near(near[own]))
            lowest, mean = float(opening.targets.lowest[own].sum()), opening.targets.mean[columns]
            machine, fit = self._minimum(part, one, lowest, mean, free)
            found.append(machine)
            fits += [] if fit is None else [fit]
        return found, fits

    def _minimum(
        self, posed: PosedRows, options: MachineOptions, lowest: float, mean: Array, free: str
    ) -> tuple[FittedMachine, LikelihoodFit | None]:
        """Return the machine of targets of this mean, which cost at least `lowest`, and its likelihood."""
        source, loss, opening, constant, *_ = posed
        problem = build_problem(
            *(source, loss, len(constant), options.intercept, options.penalty), opening.spread, opening.sample
        )

        def constants_of(problem: Problem) -> Constants:
            return constants_of_targets(problem, constant, lowest, mean, options.init)

        own, fit, precision = None, None, self.weights == "precision"
        if free:
            likeliest = likely_shape if free == "shape" else LikelyPower(precision)
            found, constants, own = minimise_parameter(problem, constants_of, options, likeliest)
        else:
            constants = constants_of(problem)
            found = minimise(problem, constants, options)
        if loss.linked is not None:
            fit = likelihood_of_family(found, options, constants, self.dispersion, own, precision)
        known = found.solution.certificate
        if known.status in (Status.SEPARATED, Status.QUASI_SEPARATED):
            weights = (
                "those that the last step reached" if self.solver == "gradient" else "the weights under a tiny penalty"
            )
            known = replace(known, advice=SEPARATED.format(weights=weights))
            found = replace(found, solution=found.solution._replace(certificate=known))
        return found, fit

    def _learned(
        self, posed: PosedRows, found: list[FittedMachine], fits: list[LikelihoodFit]
    ) -> GeneralizedLinearState:
        """Return what was learned: the machines of a fit, and what inference needs of them."""
        source, flat = posed.source, posed.flat
        coef, intercept = split_theta(
            np.concatenate([one.solution.theta for one in found]), flat, empty_on_device(source)
        )
        absorbed = source.absorption is not None
        depend = [one.dependence for one in found if one.dependence is not None]
        columns = named(depend, posed.columns.coefficient_names(), absorbed)
        state = GeneralizedLinearState(
            columns=posed.columns,
            fitted_with=GeneralizedLinearSettings.of(self),
            coef=coef,
            intercept=intercept,
            certificate=without_constants(
                combine_certificates([one.solution.certificate for one in found]),
                columns.constant,
                EXPLAINED if absorbed else CONSTANT,
            ),
            history=[value for one in found for value in one.history],
            n_iter=max(len(one.history) for one in found),
            rows_seen=source.n_rows,
            flat=flat,
            typical=posed.opening.spread.mean,
            aliased=np.array(columns.aliased, dtype=object),
            dependencies=columns.combinations,
            with_offset=posed.with_offset,
            fits=fits,
        )
        parts = [fit.family for fit in fits if fit.family is not None]
        if not parts:
            return state
        deviance, dispersion, shape = np.array([[part.deviance, part.dispersion, part.shape] for part in parts]).T
        if not np.isnan(shape).any():
            one = flat or not own_parameter(state.fitted_with.of_row())
            state = replace(state, shape=float(shape[0]) if one else shape)
        if own_parameter(state.fitted_with.of_row()) == "power":
            state = replace(state, power=parts[0].power if flat else np.array([part.power for part in parts]))
        return replace(
            state,
            deviance=deviance[0] if flat else deviance,
            dispersion=dispersion[0] if flat else dispersion,
        )

    def _options(self, posed: PosedRows, before: Any) -> MachineOptions:
        features = posed.source.shape.features
        shape = (len(posed.constant), 1 + features)
        if before is not self.init and before.shape != shape:
            raise InvalidParameter(
                f"warm_start=True starts from the weights that there are, of shape {before.shape}, and these rows need "
                f"{shape}: use warm_start=False"
            )
        init = None if before is None else read_init(before, *shape)
        if init is not None:
            init[:, 0] *= bool(self.fit_intercept)
        penalty = RidgePenalty(float(self.penalty), np.ones(features))
        return MachineOptions(
            *(penalty, bool(self.fit_intercept), self._tol(), self.solver, init, float(self.l1)),
            rate=self.rate,
            epochs=int(self.epochs),
            stop_error=self.stop_error,
        )

    def _check_together(self) -> None:
        loss = GeneralizedLinearSettings.of(self).of_row()
        if self.l1 and self.solver in ("gradient", "stochastic"):
            raise InvalidParameter(f"l1 is not for solver={self.solver!r}: leave solver='auto'")
        if own_parameter(loss) and self.solver == "stochastic":
            raise InvalidParameter(
                f"stochastic steps do not estimate the {own_parameter(loss)} of a family: give a number"
            )
        family = None if loss.linked is None else loss.linked.family
        if self.dispersion == "ml" and not (
            isinstance(family, Tweedie) and (family.compound or family.power in DENSE_POWERS)
        ):
            raise InvalidParameter(
                "dispersion='ml' is for gaussian, gamma, inverse_gaussian and tweedie losses of a power between 1 and 2"
            )
        refuse_corners(loss, self.solver)
        if np.ndim(self.rate) and self.solver != "gradient":
            raise InvalidParameter("rate must be 'auto' or a number: only batch steps take more")

    def _loss(self) -> Loss:
        """Return the loss of a row of the fit without its offset; before a fit, of the next one."""
        settings: GeneralizedLinearSettings = self._fitted_with
        return settings.of_row()

    def _tol(self) -> float:
        return TOLERANCE.get(self.solver, PRECISE) if self.tol is None else float(self.tol)

    def _warn(self) -> None:
        status, advice = self.certificate_.status, self.certificate_.advice
        if status in (Status.NO_MINIMUM, Status.SEPARATED, Status.QUASI_SEPARATED):
            warn(f"{status}: {advice}", AdalineWarning)
        elif status in (Status.NOT_CONVERGED, Status.DIVERGED):
            warn(f"{status}: {advice}", ConvergenceWarning)
        elif np.max(getattr(self, "shape_", 0.0)) > LARGEST_SHAPE:
            warn(
                "the counts vary no more than poisson counts: the shape grows without end; use loss='poisson'",
                AdalineWarning,
            )
        elif not (np.min(power := getattr(self, "power_", 1.5)) > LEAST_POWER and np.max(power) < MOST_POWER):
            warn(
                f"the likelihood rises up to the border of the powers, {LEAST_POWER} to {MOST_POWER}: use "
                "loss='poisson' or loss='gamma', or give a power",
                AdalineWarning,
            )
        elif status is Status.RANK_DEFICIENT:
            warn(say_dependent(self.dependencies_), AdalineWarning)

    @property
    def effects_(self) -> dict[str, Any]:
        """The effects that a fit has absorbed: for each column a frame of its levels and their values, of mean zero."""
        return inference.absorbed_effects(self)

    def _absorb(self, table: TableSource) -> AbsorbedSource:
        """Return the rows of a table without the effects that it absorbs."""
        from adaline.solvers.absorb.poisson import Fitted, absorb_poisson  # tables are slow to import

        loss = self._loss()
        plain = self.solver == "auto" and self.fit_intercept and not (self.penalty or self.l1)
        if loss.linked is None or loss.linked.name != "poisson" or name_of(loss.linked.link) != "log" or not plain:
            raise InvalidParameter(
                "effects are absorbed under loss='poisson' with its log, by solver='auto', without a penalty and with "
                "an intercept; for the squared loss use LinearRegression"
            )
        frequencies = self.weights == "frequency"
        if not has_absorbed(self):
            return absorb_poisson(table, frequencies)
        fitted = Fitted(theta_of(self)[0], self.coding_.effects, self.absorbed_.separated)
        return absorb_poisson(table, frequencies, fitted)

    @overload
    def predict(
        self,
        X: RowsLike,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
        interval: None = None,
        level: float = 0.95,
    ) -> Array: ...
    @overload
    def predict(
        self,
        X: RowsLike,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
        *,
        interval: AnyInterval,
        level: float = 0.95,
    ) -> Interval: ...
    def predict(
        self,
        X: RowsLike,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
        interval: AnyInterval | None = None,
        level: float = 0.95,
    ) -> Array | Interval:
        """Return predictions (n,) or (n, K): g(z), or the mean of t under the loss; softmax: probabilities.

        A model fitted with offsets needs those of these rows; 0, or an exposure of 1, for rates. With `interval` a
        named tuple (prediction, lower, upper): "confidence" covers the mean, by the interval of z brought to it,
        "prediction" a new observation (gaussian, gamma, poisson, negative_binomial), with probability `level`;
        "conformal" a new observation for any distribution of the rows, with a width that follows the standard deviation
        of the family (see `adaline.conformal`).
        """
        if interval == "conformal":
            from adaline.systems.families.conformal import conformal  # seldom needed

            return conformal(self).predict(X, level, offset, exposure)
        if interval is not None:
            PREDICTED_INTERVAL.check("interval", interval)
            return self._interval(X, RowsAgain(offset=offset, exposure=exposure), None, interval, level)
        y = mean_of(self._loss(), self._shifted(X, offset, exposure))
        return like_rows(X, np.asarray(y[:, 0] if self._flat else y))

    def _interval(
        self,
        X: RowsLike,
        given: RowsAgain,
        judged: JudgedLikelihoods | None,
        interval: PredictedInterval,
        level: float,
    ) -> Interval:
        LEVEL.check("level", level)
        refuse_absorbed(self, "intervals of predictions")
        fits, linked, freedom = self._likelihoods(), self._loss().linked, None
        assert linked is not None
        if judged is not None:
            refuse_prediction(interval == "prediction" and judged.options.errors != "classical", judged.options.errors)
            fits, freedom = judged.at_all_columns(), judged.freedom
        z = self._shifted(X, given.offset, given.exposure)
        found = family_interval(fits, linked, self._output_errors(X, fits)._replace(output=z), interval, level, freedom)
        refuse_overflow(refuse_outside(self._loss(), z, found.prediction))
        return Interval(*(band[:, 0] if self._flat else band for band in found))

    def _score_units(self, mean: Array) -> Array:
        """Return the standard deviations of the family at means (n, K), for a dispersion of 1; 1 without a family."""
        loss = self._loss()
        if loss.coupled or (loss.linked is not None and loss.linked.family.name == "binomial"):
            raise InvalidParameter(
                "conformal intervals are of numbers: for labels use LogisticRegression().predict_set"
            )
        if loss.linked is None:
            return np.ones_like(mean)
        each = [one.linked.family for one in self._row_losses() if one.linked is not None] * mean.shape[1]
        variance = np.column_stack([family.variance(own) for family, own in zip(each, mean.T, strict=False)])
        return np.asarray(np.sqrt(np.maximum(variance, np.finfo(float).tiny)))

    @by_blocks
    def _output_errors(self, X: RowsLike, fits: list[LikelihoodFit] | None = None) -> OutputErrors:
        x = read_finite(self, X)
        return output_errors(self._fits if fits is None else fits, dense(host(x) if is_device(x) else x))

    @available_if(lambda system: has_response(system._loss()))
    def decision_function(self, X: RowsLike, offset: OffsetsLike = None, exposure: OffsetsLike = None) -> Array:
        """Return the outputs z, (n,) or (n, K), where predictions are made of them and are not z itself."""
        z = refuse_overflow(self._shifted(X, offset, exposure))
        return like_rows(X, z[:, 0] if self._flat else z)

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
        outputs, given = len(np.atleast_2d(host(self.coef_))), (X, y, sample_weight, offset, exposure)
        return score_means(self, self._loss(), *given, outputs=outputs, flat=self._flat)

    @available_if(lambda system: _has_likelihood(system))
    @view.spelled_out(OffsetErrorArguments)
    def summary(
        self,
        level: float = 0.95,
        interval: CoefficientInterval = "wald",
        **errors: Unpack[OffsetErrorArguments],
    ) -> FamilySummary:
        """Return coefficients with standard errors, z or t, p and intervals, deviance, dispersion, AIC and the like.

        Errors are those of the expected information, as in R; z where the dispersion is given, t where it is estimated.
        Robust errors and profile intervals take the rows again, with their offsets, and refuse others.

        Parameters
        ----------
        level : float
            Coverage of the intervals.
        errors, X, y, sample_weight, groups, lags, distribution
            As for `LogisticRegression.summary`.
        interval : "wald" or "profile"
            Estimate +- quantile x error, or where the deviance, least over all other coefficients, has risen by as much
            as chi-squared allows, times the dispersion.
        offset, exposure : (n,)
            Those of the rows, where the model was fitted with one.

        Examples
        --------
        >>> from adaline import GeneralizedLinear
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1, 3, 4, 8]
        >>> model = GeneralizedLinear(loss="poisson").fit(X, y)
        >>> row = model.summary().to_dict()["coefficients"][1]
        >>> row["name"], round(row["estimate"], 4), round(row["std_error"], 4)
        ('x0', 0.6051, 0.2584)
        >>> row = model.summary(interval="profile", X=X, y=y).to_dict()["coefficients"][1]
        >>> round(row["lower"], 3), round(row["upper"], 3)
        (0.128, 1.158)

        References
        ----------
        P. McCullagh and J. A. Nelder, Generalized Linear Models (1989); A. Zeileis, J. Statistical Software 16 (2006).
        """
        LEVEL.check("level", level)
        COEFFICIENT_INTERVAL.check("interval", interval)
        found: FamilySummary = self.with_errors(**errors).summary(level, interval)
        return found

    @available_if(lambda system: _has_likelihood(system))
    @view.spelled_out(OffsetErrorArguments)
    def test(
        self,
        hypothesis: HypothesisLike,
        value: Any = 0.0,
        **errors: Unpack[OffsetErrorArguments],
    ) -> HypothesisTest:
        """Test linear hypotheses about the coefficients, by Wald's F, or chi-squared where the dispersion is given.

        The hypothesis is written as for `LinearRegression.test`; the other arguments are those of `summary`.

        Examples
        --------
        >>> from adaline import GeneralizedLinear
        >>> model = GeneralizedLinear(loss="poisson").fit([[0.0], [1.0], [2.0], [3.0]], [1, 3, 4, 8])
        >>> round(model.test("x0 = 0").p_value, 4)
        0.0192
        """
        found: HypothesisTest = self.with_errors(**errors).test(hypothesis, value)
        return found

    default_errors: ClassVar[ErrorKind | None] = "classical"
    with_errors = available_if(lambda system: _has_likelihood(system))(view.with_errors)

    def _judge(self, options: ErrorOptions, rows: RowsAgain) -> JudgedLikelihoods:
        fits = self._likelihoods()
        sources = self._same_rows(*rows) if options.needs_rows(rows.X) else None
        return judge_likelihoods(fits, self._row_losses(), sources, options)

    def _bootstrap_rows(self, given: RowsAgain, groups: GroupsLike) -> list[RowsOfFit] | None:
        """Return each fit with its rows, where a fit to other weights maximises the same likelihood with them."""
        check_is_fitted(self, "certificate_")
        refuse_absorbed(self, "bootstrap")
        state = self._state
        assert state is not None
        learned = state.columns.basis is not None and state.columns.basis.learns
        fits: list[LikelihoodFit] = getattr(self, "_fits", None) or []
        if learned or self.l1 or not fits or fits[0].root is None or own_parameter(self._loss()):
            return None
        each = zip(self._likelihoods(), self._row_losses(), self._same_rows(*given), strict=True)
        return [inference.likelihood_rows(fit, loss, source, groups) for fit, loss, source in each]

    def _summarise(
        self,
        asked: InferenceView[FamilySummary, HypothesisTest, JudgedLikelihoods],
        level: float,
        interval: CoefficientInterval = "wald",
    ) -> FamilySummary:
        judged, intercept, ends = asked.judged, bool(self._fitted_with.fit_intercept), None
        if interval == "profile":
            refuse_absorbed(self, "profile intervals")
            check_profile(asked.options, asked.rows.X)
            reach = quantile(judged.freedom, level)
            each = zip(judged.given, self._row_losses(), self._same_rows(*asked.rows), strict=True)
            ends = [profile_ends(fit, loss, source, intercept, reach)[0] for fit, loss, source in each]
        return summarise_families(
            judged.fits,
            columns_of(self),
            title=type(self).__name__,
            intercept=intercept,
            certificate=self.certificate_,
            level=level,
            notes=judged.describe(),
            absorbed=getattr(self, "absorbed_", None),
            errors=asked.options.errors,
            freedom=judged.freedom,
            ends=ends,
        )

    def _test(
        self,
        asked: InferenceView[FamilySummary, HypothesisTest, JudgedLikelihoods],
        hypothesis: HypothesisLike,
        value: Any,
    ) -> HypothesisTest:
        return family_test(
            asked.judged.fits,
            columns_of(self),
            hypothesis,
            value,
            intercept=bool(self._fitted_with.fit_intercept),
            flat=self._flat,
            errors=asked.options.errors,
            freedom=asked.judged.freedom,
        )

    @available_if(lambda system: _has_likelihood(system))
    def influence(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> LikelihoodInfluence:
        """Return what each row does to the fit: leverage, residuals, Cook's distance, DFFITS, DFBETAS (one target).

        As `LogisticRegression.influence`, and as R's influence.measures. Rows are given again; others are refused.

        Examples
        --------
        >>> from adaline import GeneralizedLinear
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1, 3, 4, 8]
        >>> GeneralizedLinear(loss="poisson").fit(X, y).influence(X, y).pearson.round(3).tolist()
        [-0.261, 0.404, -0.169, 0.01]

        References
        ----------
        D. A. Williams, Applied Statistics 36 (1987), 181-191.
        """
        fits = self._likelihoods()
        refuse_absorbed(self, "influence")
        if len(fits) > 1:
            raise InvalidParameter(f"influence is for one target, and y has {len(fits)}: fit one model for each")
        source = self._same_rows(X, y, sample_weight, offset, exposure)[0]
        return likelihood_influence(fits[0], self._row_losses()[0], source)

    def enclose(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> Enclosure:
        """Return bounds that are proved to contain the exact coefficients; three passes, mostly.

        As `LinearRegression.enclose`, for the minimum of the penalised likelihood of every family with a link for which
        it is convex: binomial, poisson, gamma and tweedie (power 1 to 2) with the log link and some powers,
        inverse_gaussian, and negative_binomial with the log link, at the shape of the fit; and for squared. `predict`
        of the result has bounds on w0 + w'x, without the offset.

        Parameters
        ----------
        X, y, sample_weight, offset, exposure
            The rows that were fitted. Other rows are refused.

        Returns
        -------
        Enclosure : named tuple of `lower` and `upper`, each (1 + D) or (K, 1 + D), intercept first.

        Examples
        --------
        >>> from adaline import GeneralizedLinear
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1, 3, 4, 8]
        >>> found = GeneralizedLinear(loss="poisson").fit(X, y).enclose(X, y)
        >>> print(found.lower[1], found.upper[1])
        0.6051097136675521 0.6051097136675522
        """
        check_is_fitted(self, "certificate_")
        enclosures.refuse_loss(self._loss())
        fits = self._likelihoods()
        refuse_absorbed(self, "enclosures")
        settings = self._fitted_with
        if settings.l1:
            raise InvalidParameter("enclosures are of smooth objectives: without l1")
        sources = self._same_rows(X, y, sample_weight, offset, exposure)
        penalty = RidgePenalty(float(settings.penalty), np.ones(sources[0].shape.features))
        intercept = bool(settings.fit_intercept)
        losses = self._row_losses()
        each = zip(sources, losses, fits, strict=True)
        found = [
            enclosures.enclose_loss(rows, loss, intercept, penalty, fit.solution.theta[0]) for rows, loss, fit in each
        ]
        statement = enclosures.Statement.of(
            columns_on(self), X, sample_weight, sources[0], intercept, [(loss, penalty) for loss in losses]
        )
        proved = enclosures.enclosure_of(found, columns_of(self), self._flat, partial(read_finite, self), statement)
        return proved.beside(self.intercept_, self.coef_, self.certificate_.digits)

    def _mean_model(self, judged: JudgedLikelihoods | None = None) -> MeanModel:
        """Return the fits as a function from the design to the means, for `effects`."""
        fits, linked = self._likelihoods(), self._loss().linked
        assert linked is not None
        refuse_absorbed(self, "effects on the mean")
        link, border = name_of(linked.link), linked.family.range(linked.link)
        found = likelihood_means(fits, linked_means(linked), log_odds=link == "logit", judged=judged)
        answers = FamilyAnswers(fits)
        return replace(found, link=link, border=border, ratio=ratio_of(linked.family.name, link), answers=answers)

    def _row_losses(self) -> list[Loss]:
        """Return the loss of the rows of each fit as they were fitted: with the shape that was found, and offsets."""
        losses, fits = [self._loss()], getattr(self, "_fits", None) or [None]
        if own_parameter(losses[0]):
            losses = [with_parameter(losses[0], fit.family.parameter) for fit in fits]
        losses *= len(fits) // len(losses)
        return [Offset(loss) for loss in losses] if getattr(self, "_with_offset", None) else losses

    def _same_rows(
        self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, offset: OffsetsLike, exposure: OffsetsLike
    ) -> list[Source]:
        """Return rows given again, for each fit those of its targets; refuse others than the model could have."""
        source = open_rows(self, X, y, sample_weight, reset=False, offset=offset, exposure=exposure).source
        refuse_other_rows(self, source)
        given, targets = source.targets.given, len(self._fits)
        if given != targets and not (given == 2 and self._loss().name == "binomial"):
            raise InvalidData(f"the model has {counted(targets, 'target')}, the rows have {given}")
        return [source] if len(self._fits) == 1 else [of_target(source, k) for k in range(len(self._fits))]

    def _likelihoods(self) -> list[LikelihoodFit]:
        """Return the fits that inference is about; refuse a loss that is no likelihood."""
        check_is_fitted(self, "certificate_")
        _has_likelihood(self)
        fits: list[LikelihoodFit] | None = getattr(self, "_fits", None)
        if not fits:
            raise SumsMissing("this model has no sums for inference: fit it again with the arguments that it has now")
        return fits

    def _shifted(self, X: RowsLike, offset: OffsetsLike, exposure: OffsetsLike) -> Array:
        """Return z of rows with their offsets, (n, K)."""
        self._fitted_with.refuse_exposure(exposure)
        if has_absorbed(self) and (offset is not None or exposure is not None):
            raise InvalidParameter("the offset of a model with absorbed effects comes with its table: give none")
        fitted_so = bool(getattr(self, "_with_offset", None))
        return add_offset(self._outputs(X), self, X, offset, exposure, fitted_so=fitted_so)

    @by_blocks
    def _outputs(self, X: RowsLike) -> Array:
        """Return z of rows, (n, K), on the host, without offsets."""
        check_is_fitted(self, "certificate_")
        x = read_finite(self, X)
        return outputs(host(x) if is_device(x) else x, theta_of(self))


def with_effects_of_counts(state: GeneralizedLinearState, source: AbsorbedSource) -> GeneralizedLinearState:
    """Return what was learned with the effects absorbed from the rows."""
    effects = source.fitted_effects(np.append(host(state.intercept), host(state.coef)))
    coding = replace(source.coding, effects=effects)
    steps = source.removal.iterations
    solver = f"{state.certificate.solver}; effects absorbed, {steps} steps of conjugate gradients at most"
    proof = changed(state.certificate, solver=solver)
    if not source.removal.converged:
        advice = "the effects are not separated: leave out levels connected by few rows, or rows whose means vanish"
        proof = changed(proof, status=Status.NOT_CONVERGED, advice=advice)
    return replace(
        state,
        columns=state.columns._replace(coding=coding),
        absorbed=source.absorption,
        certificate=proof,
    )


def _has_likelihood(system: AnySystem) -> bool:
    """Whether the loss is a likelihood that was maximised; say what to do where it is not."""
    maximised = system.solver != "stochastic" if system._state is None else system._state.fits != []
    loss = system._loss()
    if maximised and loss.linked is not None:
        return True
    better = "LogisticRegression" if loss.coupled else "RobustRegression"
    raise InvalidParameter(
        "inference needs a likelihood, by another solver than 'stochastic': use loss='squared', "
        f"'logistic' or a family ({', '.join(FAMILIES)}), or {better}"
    )
