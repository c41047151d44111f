"""Logistic and softmax regression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Unpack, get_args, overload

import numpy as np
from numpy.typing import NDArray

from adaline import enclosures, inference
from adaline.arrays import (
    Array,
    GroupsLike,
    HypothesisLike,
    OffsetsLike,
    RowsLike,
    TargetsLike,
    WeightsLike,
    host,
    is_sparse,
    like_rows,
)
from adaline.basis.base import BASIS
from adaline.block import Shape
from adaline.construction import check_parameters
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidData, InvalidParameter, warn
from adaline.estimator import ClassifierMixin, available_if, clone
from adaline.fits.class_machines import (
    ClassOptions,
    LikelihoodMachine,
    MachinesBefore,
    fit_codings,
    fit_likelihood,
    paths_without_folds,
)
from adaline.fits.penalty_path import PenaltyPath
from adaline.fits.separation import Separation
from adaline.fitted import check_is_fitted
from adaline.forms import ClassesOf, Count, Curves, Finite, Floats, Strings
from adaline.inference import view
from adaline.inference.classical import Interval, quantile
from adaline.inference.covariance import ErrorOptions
from adaline.inference.effects import MeanModel, likelihood_means, logistic_means, softmax_means
from adaline.inference.influence import ClassInfluence, LikelihoodInfluence, class_influence, likelihood_influence
from adaline.inference.likelihood import (
    SEPARATED,
    LikelihoodSummary,
    WaldTest,
    index_of,
    mean_interval,
    summarise,
    wald_test,
)
from adaline.inference.profile import check_profile, profile_ends
from adaline.inference.sandwich import JudgedLikelihoods, judge_likelihoods
from adaline.inference.simulation import ClassAnswers
from adaline.inference.view import InferenceView, OffsetErrorArguments, RowsAgain
from adaline.input import Meter, by_blocks, transaction
from adaline.input.basis import columns_of
from adaline.input.class_weights import ClassifiedRows, class_weights, open_classes
from adaline.input.coded import scored
from adaline.input.columns import InputColumns
from adaline.input.first_pass import class_weights_of
from adaline.input.labels import Labels
from adaline.input.open import open_labelled, read_finite
from adaline.input.system import SystemState, columns_on
from adaline.losses import Logistic, Loss, Offset, Softmax
from adaline.parameters import (
    AUTO,
    CLASS_WEIGHT,
    COEFFICIENT_INTERVAL,
    COUNT,
    FIRST_WEIGHTS,
    FLAG,
    LEVEL,
    NONE,
    PENALTY,
    POSITIVE,
    ZERO_OR_MORE,
    AnyOf,
    ClassWeight,
    CoefficientInterval,
    ErrorKind,
    OneOf,
    PredictedInterval,
    UsedWith,
    WholeNumber,
    one_of,
)
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Status, combine_certificates, without_constants
from adaline.scans.base import first_theta
from adaline.solvers.least_squares.dependence import named, say_dependent
from adaline.solvers.smooth.choose import SmoothSolver
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.sources import Source
from adaline.sources.device import empty_on_device
from adaline.sources.views import in_memory, recoded
from adaline.state import FitSettings, FittedAttribute, FittedWith
from adaline.systems import online_alias
from adaline.systems.families.decisions import (
    coupled_log_probabilities,
    coupled_probabilities,
    label_of_largest,
    one_against_one,
    shares,
    sum_of_pairs,
)
from adaline.systems.families.folds import FoldFits
from adaline.systems.families.named import named_system
from adaline.systems.families.near import FoldFilling, NearFits, without_fold
from adaline.systems.families.offsets import add_offset, refuse_other_rows
from adaline.systems.families.supervised import LinearClassifier
from adaline.systems.families.weights import finite_outputs, split_theta, theta_of

if TYPE_CHECKING:
    from adaline.enclosures.enclosure import Enclosure
    from adaline.inference.bootstrap import RowsOfFit

ClassScheme = Literal["softmax", "one-vs-rest", "one-vs-one"]
LogisticSolver = Literal[SmoothSolver, "online"]
# folds up to which a cross-validation with penalty="auto" fits a machine without every pair of folds; doubling it fits
# up to four times as many
MOST_PAIRED = 10


@dataclass(frozen=True)
class LogisticSettings(FitSettings):
    """The settings that a logistic regression is read with."""

    scheme: ClassScheme
    fit_intercept: bool
    class_weight: ClassWeight
    penalty: float | Literal["auto"]
    l1: float
    standardize: bool | None
    firth: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class LogisticState(SystemState):
    """What a fit of the likelihood of labels has learned.

    Parameters
    ----------
    fitted_with : what the machines are, and the weights of the classes.
    classes : the labels.
    coef, intercept : (1, D) and (1,) of two classes, else a row for each machine.
    certificate : how good the solution is.
    history, n_iter : the objective after each step, and their number.
    rows_seen : number of rows.
    penalty, path : the penalties used, and the errors that chose them.
    separation : what separates the classes, or None.
    aliased, dependencies : of the columns, as `LinearRegression` says.
    fits : what inference needs, one for each machine.
    typical : (D,) means of the columns.
    """

    fitted_with: LogisticSettings
    classes: Annotated[Labels, ClassesOf("C")]
    coef: Annotated[Array, Finite("K D")]
    intercept: Annotated[Array, Finite("K")]
    certificate: Certificate
    history: list[float]
    n_iter: Count
    rows_seen: Count
    penalty: float | Annotated[Array, Floats(".", ". .")]
    separation: Separation | None
    aliased: Annotated[NDArray[np.object_], Strings(".")]
    dependencies: list[str]
    fits: list[LikelihoodFit]
    typical: Annotated[Array, Finite("D")] | None
    path: Curves | list[Curves] | None = None


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class LogisticRegression(NearFits, LinearClassifier):
    """Logistic regression: minimises minus the log-likelihood of the labels + penalty/2 ||w||^2 + l1 |w|, w0 free.

    Two classes: P(classes_[1]) = 1 / (1 + exp(-w'x - w0)). K > 2 classes: P(class k) is the softmax of K outputs, whose
    weights add up to zero over the classes. Exact maximum likelihood in any units, by Newton
    steps (IRLS) or, for many rows or columns, by L-BFGS in a metric learned on a sample; nothing is regularised unless
    asked for. Where a plane separates the classes there is no maximum: `separation_` says so, and the weights under a
    tiny penalty are returned.

    For streams, and for millions of sparse columns, `OnlineLogistic` takes a step for each row instead.
    `solver="online"` is its former name here, and will be removed in the next release.

    Parameters
    ----------
    penalty : number or "auto"
        1/C of scikit-learn; a number acts in the columns' own units, "auto" is found by cross-validation on
        standardised columns, along a path of warm starts.
    l1 : number
        Adds l1 |w|, which sets coefficients to zero; with a penalty it is the elastic net. Proximal Newton steps, and
        a duality gap as proof.
    scheme : "softmax", "one-vs-rest" or "one-vs-one"
        What is done with K > 2 classes: one likelihood, K machines, or one for each pair, which vote.
    solver : "auto", "newton", "lbfgs" or "newton-cg"
        "auto" chooses one, named in `certificate_.solver`. The result does not depend on it beyond `tol`. "online" is
        deprecated: use `OnlineLogistic`.
    tol : float
        Bounds the distance to the optimum, as a share of the objective of the best constants.
    standardize : bool or None
        Whether the penalty acts on columns of unit standard deviation. None: for "auto" yes, for a number no.
    fit_intercept : bool
        Whether the machines have a constant w0; it is never penalised.
    class_weight : None, "balanced" or dict by labels
        Weights of the classes, times those of the rows; "balanced" makes classes weigh the same.
    init : array (1, 1 + D) or (K, 1 + D), or None
        First weights, intercept first; None starts from the best constants.
    warm_start : bool
        Whether fit starts from the weights there are.
    folds : int
        Parts of the cross-validation for penalty="auto". Where such a fit is itself cross-validated, by `select` or
        `compare`, the penalty without a fold is chosen by the other ones. A penalty is the same number without a fold
        as for all rows; ElasticNet takes it smaller by the fold's share of the rows.
    firth : bool
        Whether to maximise the likelihood times the square root of the determinant of the information (two classes):
        less bias in small samples, and finite weights where the classes are separated.
    epochs : int
        Deprecated, for solver="online".
    average : bool
        Deprecated, for solver="online".
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    classes_ : labels; with two, classes_[1] is the one whose probability rises with w'x.
    coef_, intercept_ : (1, D) and (1,), or (K, D) and (K,), or one row for each pair of classes.
    certificate_ : how good the solution is. rows_seen_ : number of rows.
    n_iter_, history_ : steps, and the objective after each.
    aliased_ : names of the columns that are constant or depend on those before them. dependencies_ : how, as text.
    separation_ : None, or `kind` ("complete", "quasi", or "suspected" where that is too large to be decided) and
        `direction` of a plane that separates the classes.
    penalty_ : penalty used. path_ : for "auto", a dictionary with `penalties`, `values`, the loss of a held-out row
        under each, and `errors`, their standard errors. With several machines one for each.

    Examples
    --------
    >>> from adaline import LogisticRegression, datasets
    >>> data = datasets.load("breast_cancer")
    >>> model = LogisticRegression(penalty="auto").fit(data.X, data.y)
    >>> print(model.score(data.X, data.y) > 0.95, model.certificate_.status)
    True solved

    References
    ----------
    Lecture S0, section 5.9; S2: IRLS, softmax. Passes over the rows: 5 to 15; l1 some more; firth=True 1 + D fits more,
    for its tests; penalty="auto" two or three a penalty, for all folds at once.
    """

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"penalty": "auto"})
    takes_offset: ClassVar[bool] = True
    used_with: ClassVar[UsedWith] = {
        "epochs": {"solver": OneOf(online_alias.SOLVER)},
        "average": {"solver": OneOf(online_alias.SOLVER)},
        "folds": {"penalty": AUTO},
        "standardize": {"penalty": AnyOf(AUTO, POSITIVE), "l1": POSITIVE},
    }
    penalty: Annotated[float | Literal["auto"], PENALTY] = 0.0
    l1: Annotated[float, ZERO_OR_MORE] = 0.0
    scheme: Annotated[ClassScheme, one_of(ClassScheme)] = "softmax"
    solver: Annotated[LogisticSolver, OneOf(*get_args(SmoothSolver), online_alias.SOLVER)] = "auto"
    tol: Annotated[float, ZERO_OR_MORE] = 1e-10
    standardize: Annotated[bool | None, AnyOf(NONE, FLAG)] = None
    fit_intercept: Annotated[bool, FLAG] = True
    class_weight: Annotated[ClassWeight, CLASS_WEIGHT] = None
    init: Annotated[Any, AnyOf(NONE, FIRST_WEIGHTS)] = None
    warm_start: Annotated[bool, FLAG] = False
    folds: Annotated[int, WholeNumber(2)] = 5
    firth: Annotated[bool, FLAG] = False
    epochs: Annotated[int, COUNT] = 1
    average: Annotated[bool, FLAG] = False
    basis: Annotated[Any, BASIS] = None

    learns = LogisticState
    _fitted_with = FittedWith(LogisticSettings)
    classes_ = FittedAttribute[Labels]()
    coef_ = FittedAttribute[Array]()
    intercept_ = FittedAttribute[Array]()
    certificate_ = FittedAttribute[Certificate]()
    history_ = FittedAttribute[list[float]]()
    n_iter_ = FittedAttribute[int]()
    rows_seen_ = FittedAttribute[int]()
    penalty_ = FittedAttribute[float | Array]()
    separation_ = FittedAttribute[Separation | None]()
    aliased_ = FittedAttribute[NDArray[np.object_]]()
    dependencies_ = FittedAttribute[list[str]]()
    path_ = FittedAttribute[Any]()
    _fits = FittedAttribute[list[LikelihoodFit]]()
    _typical = FittedAttribute[Array | None]()

    partial_fit, learn_one, predict_one = online_alias.partial_fit, online_alias.learn_one, online_alias.predict_one
    set_params, __getattr__, __getstate__ = (
        online_alias.set_params,
        online_alias.shown_attribute,
        online_alias.copied_state,
    )

    @transaction
    def fit(
        self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None, *, offset: OffsetsLike = None
    ) -> Self:
        """Fit to rows X (n, D) and labels y (n,), or to a source; weights are frequencies.

        With two classes an offset (n,) is a known part of the log odds, w'x + w0 + offset, as of R's glm.
        """
        self._fit(X, y, sample_weight, None, offset=offset)
        return self

    @property
    def compared_work(self) -> int:
        """Multiplications of a Newton step of several classes beyond which a comparison leaves the system out."""
        return 2**25 if self.penalty == "auto" else 2**27

    @transaction
    def _fit_near(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, model: Self) -> Self | None:
        """Fit as `fit` does, starting from a model of nearly the same rows, in its metric, where that helps.

        None where a class has no weight here: without its rows there is one class less.
        """
        return self._fit(X, y, sample_weight, model)

    def _fit_folds(
        self,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        fold: NDArray[np.intp],
        shared: dict[Any, Any],
        filled_for: FoldFilling | None = None,
    ) -> FoldFits | None:
        """Return fits to all rows and to all but those of each fold (N,); None where a basis learns from the rows.

        With penalty="auto" the folds are those given, if they are few; without one of them the others choose the
        penalty.
        """
        few = 1 < fold.max() < MOST_PAIRED  # two others at least
        automatic = self.penalty == "auto" and self.basis is None and few and filled_for is None
        paths = self._paths(X, y, sample_weight, fold) if automatic else None
        if paths is None:
            return super()._fit_folds(X, y, sample_weight, fold, shared, filled_for)
        model = clone(self)._fit_along(X, y, sample_weight, None, paths[0])
        rows = (without_fold(X, y, sample_weight, fold, k) for k in range(fold.max() + 1))
        fits = zip(rows, paths[1], strict=True)
        return FoldFits(model, [clone(self)._fit_along(*one, model, path) for one, path in fits])

    @transaction
    def _fit_along(
        self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, model: Self | None, path: PenaltyPath
    ) -> Self | None:
        return self._fit(X, y, sample_weight, model, path)

    def _paths(
        self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, fold: NDArray[np.int64]
    ) -> tuple[PenaltyPath, list[PenaltyPath]] | None:
        """Return the paths of penalties of all rows and without each fold, from the same passes.

        None where there are several machines, or weights of classes that depend on the rows, or where without a fold a
        class has no rows.
        """
        check_parameters(self)
        draft = clone(self)  # for which a formula may choose the constant
        rows = open_classes(open_labelled(draft, X, y, sample_weight, reset=True), self.class_weight)
        several = len(rows.counts) > 2 and self.scheme != "softmax"
        if several or isinstance(self.class_weight, str):
            return None
        if empty_on_device(rows.source) is None:
            rows = replace(rows, source=in_memory(rows.source))
        return paths_without_folds(rows, fold, draft._class_options())

    def _fit(
        self,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        model: Self | None,
        path: PenaltyPath | None = None,
        offset: OffsetsLike = None,
    ) -> Self | None:
        """Fit; None where the model to start from is of all classes, and one of them has no weight here."""
        if self.solver == online_alias.SOLVER and offset is not None:
            raise InvalidParameter(f"solver={self.solver!r} takes no offset: use another solver")
        if online_alias.fitted_online(self, X, y, sample_weight):
            return self
        meter = Meter(X)
        check_parameters(self)
        before = theta_of(self) if self.warm_start and self._state is not None else None
        given = open_labelled(self, X, y, sample_weight, reset=True, offset=offset)
        rows = open_classes(given, self.class_weight, hold=self.penalty not in (0, "auto"))
        if rows.source.targets.offset and len(rows.classes) > 2:
            raise InvalidData(
                f"an offset is a known part of one output, and there are {len(rows.classes)} classes: join some of "
                "them, or leave the offset out"
            )
        if model is not None and not (rows.counts > 0).all():
            return None
        present = self._present(rows)
        machines = self._fit_machines(rows, given.columns.width, present, before, model, path)
        if rows.columns is not None:  # the rows that were held are let go: vectors of all columns come next
            rows = replace(rows, source=given.encoded(rows.classes))
        self._state = self._learned(machines, rows, given.columns, present, meter)
        self._warn()
        return self

    @by_blocks
    def decision_function(self, X: RowsLike, offset: OffsetsLike = None) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else (n, K)."""
        z = self._outputs(X, offset)
        k = len(self.classes_)
        if self._fitted_with.scheme == "one-vs-one" and k > 2:  # votes; the probabilities of the pairs break ties
            z = host(z)
            voted = (z > 0).astype(float)
            return like_rows(X, sum_of_pairs(1.0 - voted, voted, k) + self._pair_probabilities(z) / k**2)
        return like_rows(X, z[:, 0] if z.shape[1] == 1 else z)

    @overload
    def predict(
        self, X: RowsLike, interval: None = None, level: float = 0.95, offset: OffsetsLike = None
    ) -> Labels: ...
    @overload
    def predict(
        self, X: RowsLike, interval: Literal["confidence"], level: float = 0.95, offset: OffsetsLike = None
    ) -> Interval: ...
    def predict(
        self,
        X: RowsLike,
        interval: Literal["confidence"] | None = None,
        level: float = 0.95,
        offset: OffsetsLike = None,
    ) -> Labels | Interval:
        """Return the most probable label of each row; with interval="confidence" probabilities and their intervals.

        These are a named tuple (prediction, lower, upper), each (n,), of P(classes_[1]), or (n, K) with K > 2 classes.
        They cover the probability with probability `level`: intervals of the log odds, brought to probabilities. A
        model fitted with an offset needs that of these rows.
        """
        if interval is None:
            return label_of_largest(self.decision_function(X, offset), self.classes_)
        OneOf("confidence").check("interval", interval)
        return self._mean_interval(X, level, offset=offset)

    @by_blocks
    def _mean_interval(
        self, X: RowsLike, level: float, judged: JudgedLikelihoods | None = None, offset: OffsetsLike = None
    ) -> Interval:
        fit = self._one_fit("predict(interval=...)")
        fit = fit if judged is None else judged.at_all_columns()[0]
        if fit.coupled and len(self._fitted_classes()) < len(self.classes_):
            raise InvalidParameter("no intervals: some classes have no rows")
        x = read_finite(self, X)
        freedom = np.inf if judged is None else judged.freedom
        known = add_offset(np.zeros((x.shape[0], 1)), self, X, offset, fitted_so=self._with_offset)
        return mean_interval(fit, x.toarray() if is_sparse(x) else host(x), level, freedom, known)

    @by_blocks
    def predict_proba(self, X: RowsLike, offset: OffsetsLike = None) -> Array:
        """Return the probability of each class, (n, K); of several machines made to add up."""
        z, scheme = self._outputs(X, offset), self._fitted_with.scheme
        if z.shape[1] == 1 or scheme == "softmax":
            return like_rows(X, coupled_probabilities(z))
        z = host(z)
        return like_rows(X, shares(Logistic().mean(z) if scheme == "one-vs-rest" else self._pair_probabilities(z)))

    @by_blocks
    def predict_log_proba(self, X: RowsLike, offset: OffsetsLike = None) -> Array:
        """Return the logarithms of the probabilities, (n, K)."""
        z = host(self._outputs(X, offset))
        if z.shape[1] == 1 or self._fitted_with.scheme == "softmax":
            return like_rows(X, coupled_log_probabilities(z))
        with np.errstate(divide="ignore"):
            return like_rows(X, np.log(host(self.predict_proba(X))))

    @available_if(online_alias.has_maximum)
    @np.errstate(all="ignore")  # statistics that overflow are shown as they are
    @view.spelled_out(OffsetErrorArguments)
    def summary(
        self,
        level: float = 0.95,
        reference: Any = None,
        interval: CoefficientInterval = "wald",
        **errors: Unpack[OffsetErrorArguments],
    ) -> LikelihoodSummary:
        """Return coefficients with standard errors, z, p, intervals and odds ratios, and how well the model fits.

        With K > 2 classes each class is compared with `reference`, the first by default. Classical standard errors are
        from the inverse of the observed information; with a penalty they are posterior ones. Robust errors take one
        more pass over the rows, which have to be given again, as the model keeps only sums:

            Cov = A [sum_n w_n s_n s_n'] A,   A = inverse information,   s_n = the score of row n

        HC2 to HC4 divide scores by powers of 1 - h, the leverage (with K > 2 classes a matrix). "cluster", CR1, CR2
        and CR3 add them up by group, as `LinearRegression.summary` says.

        Parameters
        ----------
        level : float
            Coverage of the intervals.
        reference : label
            The class that others are compared with.
        errors : "classical", "HC0", "HC1", "HC2", "HC3", "HC4", "cluster", "CR1", "CR2", "CR3" or "HAC"
            HC: the likelihood need not be right; cluster: rows may belong together; HAC: follow each other.
        X, y, sample_weight
            The rows that were fitted, for robust errors. Other rows are refused.
        groups : (n,) labels of any kind, or the name of a column of X, a table
            Which rows belong together, for "cluster" and CR1 to CR3.
        lags : int or None
            For "HAC"; None is as many as Newey and West (1994) find in the rows, as R's `NeweyWest(prewhite=FALSE)`.
        distribution : None, "normal" or "t"
            What judges coefficients: t has N - p degrees of freedom, G - 1 with clusters. None: t for clustered
            errors, the normal distribution for others.
        interval : "wald" or "profile"
            Estimate +- quantile x error, or where the likelihood, maximised over all other coefficients, has fallen as
            far as chi-squared allows (also Firth's): needs the rows, and refits.

        Examples
        --------
        >>> from adaline import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> model = LogisticRegression().fit(X, y)
        >>> row = model.summary().to_dict()["coefficients"][1]
        >>> row["name"], round(row["estimate"], 4), round(row["std_error"], 4)
        ('x0', 1.214, 0.9126)
        >>> round(model.summary(errors="HC3", X=X, y=y).to_dict()["coefficients"][1]["std_error"], 4)
        0.724

        References
        ----------
        A. Wald, Trans. AMS 54 (1943), 426-482; H. White, Econometrica 50 (1982), 1-25.
        """
        LEVEL.check("level", level)
        COEFFICIENT_INTERVAL.check("interval", interval)
        return self.with_errors(**errors).summary(level, interval, reference)

    @view.spelled_out(OffsetErrorArguments)
    def test(
        self,
        hypothesis: HypothesisLike,
        value: Any = 0.0,
        target: Any = None,
        reference: Any = None,
        **errors: Unpack[OffsetErrorArguments],
    ) -> WaldTest:
        """Test linear hypotheses about the coefficients by Wald's chi-squared.

        The hypothesis is written as for `LinearRegression.test`. With K > 2 classes it is about `target` against
        `reference`, or about all classes together where no target is named. Nested models are compared by `anova`.
        Robust errors are those of `summary`, and need the rows again; distribution="t" takes F on q and N - p degrees
        of freedom instead of chi-squared.

        Examples
        --------
        >>> from adaline import LogisticRegression
        >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1])
        >>> round(model.test("x0 = 0").p_value, 3)
        0.183
        """
        return self.with_errors(**errors).test(hypothesis, value, target, reference)

    default_errors: ClassVar[ErrorKind | None] = "classical"
    with_errors = view.with_errors

    def _judge(self, options: ErrorOptions, rows: RowsAgain) -> JudgedLikelihoods:
        fit = self._one_fit("inference")
        rows.refuse_exposure(self)
        sources = self._same_rows(*rows) if options.needs_rows(rows.X) else None
        return judge_likelihoods([fit], [self._loss()], sources, options)

    def _bootstrap_rows(self, given: RowsAgain, groups: GroupsLike) -> list[RowsOfFit] | None:
        """Return the fit with its rows, where a fit to other weights maximises the same likelihood with them."""
        check_is_fitted(self, "classes_")
        given.refuse_exposure(self)
        basis = self._state.columns.basis if self._state is not None else None
        settings = self._fitted_with
        other = (
            settings.firth or settings.l1 or settings.penalty == "auto" or (settings.penalty and settings.standardize)
        )
        several = len(self._fits) != 1 or not np.isfinite(host(self.intercept_)).all()
        if other or several or settings.class_weight is not None or self._fits[0].root is None:
            return None
        if basis is not None and basis.learns:
            return None
        return [inference.likelihood_rows(self._fits[0], self._loss(), self._same_rows(*given)[0], groups)]

    @np.errstate(all="ignore")  # statistics that overflow are shown as they are
    def _summarise(
        self,
        asked: InferenceView[LikelihoodSummary, WaldTest, JudgedLikelihoods],
        level: float,
        interval: CoefficientInterval = "wald",
        reference: Any = None,
    ) -> LikelihoodSummary:
        judged, ends = asked.judged, None
        if interval == "profile":
            check_profile(asked.options, asked.rows.X)
            rows = self._same_rows(*asked.rows)[0]
            base = index_of(self._fitted_classes(), reference, "reference")
            reach = quantile(judged.freedom, level)
            ends = profile_ends(judged.fits[0], self._loss(), rows, bool(self._fitted_with.fit_intercept), reach, base)
        return summarise(
            judged.fits[0],
            columns_of(self),
            self._fitted_classes(),
            title=type(self).__name__,
            intercept=bool(self._fitted_with.fit_intercept),
            level=level,
            reference=reference,
            notes=[*([SEPARATED] if self.separation_ is not None else []), *judged.describe()],
            certificate=self.certificate_,
            errors=asked.options.errors,
            freedom=judged.freedom,
            ends=ends,
        )

    def _test(
        self,
        asked: InferenceView[LikelihoodSummary, WaldTest, JudgedLikelihoods],
        hypothesis: HypothesisLike,
        value: Any,
        target: Any = None,
        reference: Any = None,
    ) -> WaldTest:
        return wald_test(
            asked.judged.fits[0],
            hypothesis,
            value,
            columns_of(self),
            self._fitted_classes(),
            intercept=bool(self._fitted_with.fit_intercept),
            target=target,
            reference=reference,
            errors=asked.options.errors,
            freedom=asked.judged.freedom,
        )

    def _interval(
        self, X: RowsLike, given: RowsAgain, judged: JudgedLikelihoods, interval: PredictedInterval, level: float
    ) -> Interval:
        given.refuse_exposure(self)
        OneOf("confidence").check("interval", interval)
        return self._mean_interval(X, level, judged, given.offset)

    @np.errstate(all="ignore")
    def influence(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        reference: Any = None,
        offset: OffsetsLike = None,
    ) -> LikelihoodInfluence | ClassInfluence:
        """Return what each row does to the fit: leverage, residuals, Cook's distance, DFFITS, DFBETAS.

            h_n = p (1 - p) x_n' A x_n,   pearson = (t - p) / sqrt(p (1 - p)),   deviance = sign(t - p) sqrt(2 loss),
            cooks_distance = pearson^2 h / (1 - h)^2 / parameters

        as in R's influence.measures: one pass, n numbers each. A weight of 2 is the row twice, and the numbers are
        those of one of the two. With K > 2 classes they are those of one Newton step without the row.

        Parameters
        ----------
        X, y, sample_weight, offset
            The rows that were fitted, in any order. Other rows are refused.
        reference : label
            With K > 2 classes, the class that DFBETAS compare others with, the first by default.

        Returns
        -------
        LikelihoodInfluence : named tuple of leverage, residual, pearson, deviance, standardized, studentized,
            cooks_distance, dffits, each (n,), and dfbetas, (n, 1 + D), intercept first.
        ClassInfluence : with K > 2 classes, named tuple of leverage, deviance and cooks_distance, each (n,), residual
            and pearson, (n, K), and dfbetas, (n, (K - 1) (1 + D)), in the order of `summary`.

        Examples
        --------
        >>> from adaline import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> LogisticRegression().fit(X, y).influence(X, y).cooks_distance.round(3).tolist()
        [0.013, 0.079, 0.711, 0.711, 0.079, 0.013]

        References
        ----------
        D. Pregibon, Annals of Statistics 9 (1981), 705-724; D. A. Williams, Applied Statistics 36 (1987), 181-191; E.
        Lesaffre and A. Albert, Applied Statistics 38 (1989), 425-440.
        """
        fit, rows = self._one_fit("influence"), self._same_rows(X, y, sample_weight, offset)[0]
        if not fit.coupled:
            return likelihood_influence(fit, self._loss(), rows)
        k, base = len(fit.solution.theta), index_of(self._fitted_classes(), reference, "reference")
        pairs = np.delete(np.eye(k) - np.eye(k)[base], base, axis=0)
        own = np.eye(fit.solution.theta.shape[1])[0 if self._fitted_with.fit_intercept else 1 :]
        return class_influence(fit, Softmax(), rows, np.einsum("pk,jd->pjkd", pairs, own).reshape(-1, k, own.shape[1]))

    def enclose(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
    ) -> Enclosure:
        """Return bounds that are proved to contain the exact coefficients; three passes, mostly.

        As `LinearRegression.enclose`, for the maximum of the likelihood, or the minimum under a number as penalty.
        `predict` of the result has bounds on log odds, without the offset: a class is certain where they exclude zero.
        More than two classes are enclosed together, as softmax, without offsets; their bounds are (K, 1 + D).

        Parameters
        ----------
        X, y, sample_weight, offset
            The rows that were fitted. Other rows are refused.

        Returns
        -------
        Enclosure : named tuple of `lower` and `upper`, each (1 + D), or (K, 1 + D), intercept first.

        Examples
        --------
        >>> from adaline import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> found = LogisticRegression().fit(X, y).enclose(X, y)
        >>> print(found.lower[1], found.upper[1])
        1.2140275858514202 1.2140275858514205
        """
        fit = self._one_fit("enclosures")
        if fit.coupled and self._with_offset:
            raise InvalidParameter("enclosures of more than two classes are without offsets")
        settings = self._fitted_with
        standardized = settings.penalty == "auto" if settings.standardize is None else settings.standardize
        if settings.firth or settings.l1 or (settings.penalty and standardized):
            raise InvalidParameter(
                "enclosures are of the likelihood, or with a number as penalty in the columns' own units: without "
                "firth, l1 and standardize"
            )
        source, factors = self._rows_again(X, y, sample_weight, offset)
        penalty = RidgePenalty(float(settings.penalty), np.ones(source.shape.features))
        intercept, loss = bool(settings.fit_intercept), self._loss()
        if fit.coupled:
            found = enclosures.enclose_softmax(source, intercept, penalty, fit.solution.theta)
        else:
            found = enclosures.enclose_loss(source, loss, intercept, penalty, fit.solution.theta[0])
        labels = self._fitted_classes()
        classes = enclosures.ClassTargets(labels, np.arange(float(len(labels)))[:, None], factors)
        statement = enclosures.Statement.of(
            columns_on(self), X, sample_weight, source, intercept, [(loss, penalty)], classes
        )
        read = partial(read_finite, self)
        proved = enclosures.enclosure_of([found], columns_of(self), not fit.coupled, read, statement)
        return proved.beside(self.intercept_, self.coef_, self.certificate_.digits)

    def _mean_model(self, judged: JudgedLikelihoods | None = None) -> MeanModel:
        """Return the fit as a function from the design to the probabilities, for `effects`."""
        fit = self._one_fit("effects")
        if fit.coupled:
            found = likelihood_means([fit], softmax_means, self._fitted_classes(), judged=judged)
            return replace(found, answers=ClassAnswers(np.asarray(self._fitted_classes())))
        found = likelihood_means([fit], logistic_means, log_odds=True, judged=judged)
        return replace(found, link="logit", ratio="odds", answers=ClassAnswers(np.asarray(self._fitted_classes())))

    def _loss(self) -> Loss:
        loss: Loss = Logistic() if len(self._fitted_classes()) == 2 and not self._fits[0].coupled else Softmax()
        return Offset(loss) if self._with_offset else loss

    def _same_rows(
        self,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> list[Source]:
        """Return rows given again as they were fitted."""
        RowsAgain(X, y, sample_weight, offset, exposure).refuse_exposure(self)
        return [self._rows_again(X, y, sample_weight, offset)[0]]

    def _rows_again(
        self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, offset: OffsetsLike
    ) -> tuple[Source, Array | None]:
        """Return rows given again as they were fitted, without classes of no weight, and the weights of the classes."""
        own: Array | None = None
        source = open_labelled(self, X, y, sample_weight, reset=False, offset=offset).encoded(self.classes_)
        refuse_other_rows(self, source)
        weights = self._fitted_with.class_weight
        if weights is not None:
            own = class_weights(weights, self.classes_, class_weights_of(source).of(len(self.classes_)))
            source = recoded(source, np.arange(len(self.classes_), dtype=float)[:, None], own)
        present = host(self.intercept_) > -np.inf
        if len(self.classes_) > 2 and not present.all():
            index = np.where(present, np.cumsum(present) - 1.0, 0.0)
            source = recoded(source, index[:, None], present.astype(np.float64))
        return source, own

    def _check_together(self) -> None:
        if self.firth and (self.penalty != 0 or self.l1 != 0):
            raise InvalidParameter("firth=True corrects the likelihood itself: use penalty=0 and l1=0 with it")
        if self.l1 and self.penalty == "auto":
            raise InvalidParameter("penalty='auto' finds a penalty without l1: give a number beside l1")

    def _present(self, rows: ClassifiedRows) -> NDArray[np.bool_]:
        """Return which classes are fitted, (C,): with an intercept, those whose rows have a weight."""
        present = rows.counts > 0 if self.fit_intercept else np.ones(len(rows.counts), dtype=bool)
        if not present.all():
            absent = f"no row of class {rows.classes[~present][0]!s} has a weight"
            if self.scheme == "one-vs-one":
                raise InvalidData(f"{absent}: scheme='one-vs-one' needs rows of every class")
            warn(f"{absent}: its probability is zero everywhere", AdalineWarning)
        return present

    def _fit_machines(
        self,
        rows: ClassifiedRows,
        width: int,
        present: NDArray[np.bool_],
        weights: Array | None,
        model: Self | None,
        path: PenaltyPath | None,
    ) -> list[LikelihoodMachine]:
        """Return the fitted machines, of `width` columns: one, or K coupled ones, or one for each class or pair.

        They start from `weights` or from a model of nearly the same rows, where there are such.
        """
        k, options = len(rows.counts), self._class_options()
        if weights is not None and len(weights) == k:
            weights = weights[present]
        if options.intercept:
            rows = rows.with_rows()
        if options.firth and k > 2 and self.scheme == "softmax":
            raise InvalidParameter(f"firth=True is for two classes, there are {k}: use scheme='one-vs-rest'")
        known = None
        if model is not None:
            known = MachinesBefore(model.classes_, model._fits, model.separation_, bool(model.dependencies_))
        if k == 2 or self.scheme == "softmax":
            init = self._first(weights, width, 1 if k == 2 else len(rows.counts))
            machines = [fit_likelihood(rows, k == 2, init, known, path, options)]
        else:
            codings = (np.eye if self.scheme == "one-vs-rest" else one_against_one)(len(rows.counts))
            machines = fit_codings(rows, codings, self._first(weights, width, len(codings)), known, options)
        if rows.columns is None:
            return machines
        return [machine._replace(fit=machine.fit.in_columns(rows.columns, width)) for machine in machines]

    def _class_options(self) -> ClassOptions:
        automatic = self.penalty == "auto"
        return ClassOptions(
            penalty="auto" if automatic else float(self.penalty),
            l1=float(self.l1),
            intercept=bool(self.fit_intercept),
            tol=float(self.tol),
            solver=self.solver,
            firth=bool(self.firth),
            standardize=automatic if self.standardize is None else bool(self.standardize),
            folds=int(self.folds),
        )

    def _first(self, before: Array | None, width: int, machines: int) -> Array | None:
        fits = before is not None and before.shape == (machines, 1 + width)  # columns may have changed
        given = before if fits else self.init
        return None if given is None else first_theta(Shape(width, machines), given)

    def _learned(
        self,
        machines: list[LikelihoodMachine],
        rows: ClassifiedRows,
        columns: InputColumns,
        present: NDArray[np.bool_],
        meter: Meter,
    ) -> LogisticState:
        """Return what was learned; classes that have no rows score minus infinity."""
        theta = np.concatenate([machine.fit.solution.theta for machine in machines])
        if not present.all():
            every = np.zeros((len(present), theta.shape[1]))
            every[:, 0] = np.where(present, 0.0, -np.inf)
            every[present] = theta
            theta = every
        typical = rows.spread.mean
        if rows.columns is not None:
            typical = np.zeros(columns.width)
            typical[rows.columns] = rows.spread.mean
        coef, intercept = split_theta(theta, False, empty_on_device(rows.source))
        fits = [machine.fit for machine in machines]
        known = named([fit.dependence for fit in fits], columns.coefficient_names())
        proof = combine_certificates([fit.solution.certificate for fit in fits])
        penalties = [self.penalty if one.path is None else one.path.best for one in machines]
        paths = [
            {"penalties": one.path.penalties, "values": one.path.values, "errors": one.path.errors}
            for one in machines
            if one.path is not None
        ]
        return LogisticState(
            columns=columns,
            fitted_with=LogisticSettings.of(self),
            classes=rows.classes,
            coef=coef,
            intercept=intercept,
            certificate=meter.on(without_constants(proof, known.constant), rows.source),
            history=machines[0].history if len(machines) == 1 else [h for one in machines for h in one.history],
            n_iter=max(len(machine.history) for machine in machines),
            rows_seen=rows.source.n_rows,
            penalty=float(penalties[0]) if len(penalties) == 1 else np.array(penalties, dtype=float),
            separation=next((one.separation for one in machines if one.separation is not None), None),
            aliased=np.array(known.aliased, dtype=object),
            dependencies=known.combinations,
            fits=fits,
            typical=typical,
            path=None if not paths else paths[0] if len(paths) == 1 else paths,
        )

    def _warn(self) -> None:
        if self.separation_ is not None:
            warn(self.separation_.warning(columns_of(self)), AdalineWarning)
        elif self.certificate_.status is Status.NOT_CONVERGED:
            warn(f"not converged: {self.certificate_.advice}", ConvergenceWarning)
        elif self.dependencies_:
            warn(say_dependent(self.dependencies_), AdalineWarning)

    @property
    def _with_offset(self) -> bool:
        """Whether the model was fitted with an offset; by one step a row it never is."""
        fits: list[LikelihoodFit] | None = getattr(self, "_fits", None)
        return fits is not None and len(fits) > 0 and fits[0].offset

    def score(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
    ) -> float:
        """Return the share of labels predicted for rows X (n, D) and y, or for a source."""
        return scored(self, ClassifierMixin.score, X, y, sample_weight, offset=offset)

    def _outputs(self, X: RowsLike, offset: OffsetsLike = None) -> Array:
        """Return the outputs of the machines, (n, machines), where the rows lie, with the known part of one output."""
        check_is_fitted(self, "classes_")
        z, fitted_so = finite_outputs(read_finite(self, X), self.coef_, self.intercept_), self._with_offset
        if offset is None and not fitted_so:
            return z
        if z.shape[1] > 1:
            raise InvalidParameter(f"an offset is a known part of one output, and there are {z.shape[1]}")
        return add_offset(host(z), self, X, offset, fitted_so=fitted_so)

    def _pair_probabilities(self, z: Array) -> Array:
        """Return the probabilities that the pairs of classes give to each, added up, (n, K)."""
        return sum_of_pairs(Logistic().mean(-z), Logistic().mean(z), len(self.classes_))

    def _one_fit(self, what: str) -> LikelihoodFit:
        """Return the likelihood that inference is about; refuse several."""
        check_is_fitted(self, "classes_")
        if not online_alias.has_maximum(self):
            raise InvalidParameter(
                f"{what} needs a maximum of the likelihood, and solver='online' takes each row once: use another solver"
            )
        if len(self._fits) > 1:
            raise InvalidParameter(
                f"{what} needs one likelihood, and there are {len(self._fits)} machines: use scheme='softmax'"
            )
        return self._fits[0]

    def _fitted_classes(self) -> list[Any]:
        """Return the labels that have coefficients: those of classes with rows."""
        present = host(self.intercept_) > -np.inf
        return list((self.classes_ if len(self.classes_) == 2 else self.classes_[present]).tolist())
