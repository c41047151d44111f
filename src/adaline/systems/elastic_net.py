"""The elastic net: lasso and ridge together, for any convex loss, with l1 found by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from adaline import inference
from adaline.arrays import Array, OffsetsLike, RowsLike, TargetsLike, WeightsLike, host, like_rows
from adaline.basis.base import BASIS
from adaline.construction import check_parameters
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidData, InvalidParameter, warn
from adaline.estimator import RegressorMixin, available_if, clone
from adaline.fits.elastic_net.choose import fit_nets, refuse_rough
from adaline.fits.elastic_net.memory import MOST_DENSE_COLUMNS
from adaline.fits.elastic_net.net import FittedNet, NetOptions
from adaline.fits.elastic_net.squared import fit_net_folds
from adaline.fits.elastic_net.stacked import fit_stacked
from adaline.fits.family_parameter import own_parameter
from adaline.fitted import check_is_fitted
from adaline.forms import ClassesOf, Count, Curves, Finite, Floats, Intercepts, Slopes, Strings
from adaline.inference.sample import WeightKind
from adaline.input import Meter, by_blocks, transaction
from adaline.input.coded import scored
from adaline.input.columns import InputColumns
from adaline.input.labels import Labels, too_few_classes
from adaline.input.open import open_labelled, open_rows, read_finite, refuse_overflow
from adaline.input.system import SystemState
from adaline.links import name_of
from adaline.losses import Absolute, Logistic, Loss, Offset, Quantile, Softmax, Squared, loss_of
from adaline.losses.families import Family
from adaline.losses.registry import LOSS, LossName
from adaline.parameters import (
    AUTO,
    CONFORMAL_INTERVAL,
    COUNT,
    FLAG,
    LEVEL,
    NONE,
    PENALTY,
    POSITIVE,
    ZERO_OR_MORE,
    AnyOf,
    Instance,
    ListOf,
    Number,
    Numbers,
    UsedWith,
    WholeNumber,
    one_of,
)
from adaline.results import CONSTANT, EXPLAINED, Certificate, Status, combine_certificates, without_constants
from adaline.sources import Source
from adaline.sources.absorbed import AbsorbedSource, Absorption
from adaline.sources.device import empty_on_device
from adaline.sources.targets import shares_of
from adaline.sources.totals import weight_totals
from adaline.sources.views import as_shares
from adaline.state import FitSettings, FittedAttribute, FittedWith
from adaline.sums import Targets
from adaline.systems.families.decisions import label_of_largest
from adaline.systems.families.folds import FoldFits
from adaline.systems.families.named import named_system
from adaline.systems.families.offsets import add_offset
from adaline.systems.families.online import WEIGHT_CHECKS
from adaline.systems.families.supervised import LinearClassifier, LinearRegressor
from adaline.systems.families.weights import finite_outputs, split_theta

if TYPE_CHECKING:  # tables are slow to import
    from adaline.sources import TableSource

PathRule = Literal["best", "one-standard-error"]
MIX = Number(above=0, most=1)
LABEL = AnyOf(Instance(str, "a text"), WholeNumber())


@dataclass(frozen=True)
class NetSettings(FitSettings):
    """The settings that an elastic net is read with."""

    loss: LossName | Loss | Family

    def of_row(self) -> Loss:
        """Return the loss of a row."""
        return loss_of(self.loss)

    @property
    def classifies(self) -> bool:
        """Whether the targets are labels."""
        return isinstance(self.of_row(), Logistic | Softmax)

    def refuse_exposure(self, exposure: OffsetsLike) -> None:
        """Refuse an exposure where a mean does not grow in proportion to it."""
        linked = self.of_row().linked
        if exposure is not None and (linked is None or name_of(linked.link) != "log"):
            raise InvalidParameter("exposure is the logarithm's offset: it needs link='log'; give offset= instead")


@dataclass(frozen=True, kw_only=True, eq=False)
class ElasticNetState(SystemState):
    """What a fit of an elastic net has learned.

    Parameters
    ----------
    fitted_with : the loss.
    coef, intercept : (D,) and a number, (K, D) and (K,) of several targets or classes.
    l1, penalty : the penalties used.
    aliased : names of constant columns.
    certificate : how good the solution is.
    rows_seen : number of rows fitted.
    flat : whether the targets were one vector.
    typical : (D,) means of the columns.
    classes : the labels, where the targets are labels.
    path : the solutions along the path of penalties, where one was chosen.
    absorbed : what was absorbed from the rows.
    with_offset : whether the outputs had a known part.
    """

    fitted_with: NetSettings
    coef: Slopes
    intercept: Intercepts
    l1: float | Annotated[Array, Floats(".")]
    penalty: float | Annotated[Array, Floats(".", ". .")]
    aliased: Annotated[NDArray[np.object_], Strings(".")]
    certificate: Certificate
    rows_seen: Count
    flat: bool
    typical: Annotated[Array, Finite("D")] | None
    classes: Annotated[Labels, ClassesOf("C")] | None = None
    path: Curves | list[Curves] | None = None
    absorbed: Absorption | None = None
    with_offset: bool = False


class OpenedNet(NamedTuple):
    """The rows of a fit, with targets or the indices of their labels, the loss, and the labels if there are any.

    `offset` says whether the outputs have a known part.
    """

    source: Source
    loss: Loss
    columns: InputColumns
    classes: Labels | None = None
    offset: bool = False

    @property
    def flat(self) -> bool:
        """Whether the targets are one vector of numbers."""
        return self.source.targets.flat and self.classes is None


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class ElasticNet(LinearRegressor):
    """Elastic net: minimises sum_n weight_n loss(y_n, w0 + w'x_n) + penalty/2 ||w||^2 + l1 |w|, w0 free.

    l1 sets coefficients to zero, and so selects columns. `l1="auto"` goes down a path of penalties, from the one that
    leaves no coefficient, for all rows and without each fold at once, and takes the one that predicts the rows held out
    best. Every point has a duality gap, a proven bound on its distance from the minimum. Squared losses are solved from
    second moments of the folds: one read of the rows.

    Parameters
    ----------
    loss : name of a convex loss, or a Loss
        "squared" (half of it; the lasso), "huber", "poisson", "gamma", "quantile", ... take numbers. "logistic" and
        "softmax" take labels, and predict them: the system is a classifier then. "logistic" is the softmax for more
        than two labels. "absolute" and "quantile" are linear programs over rows in memory, without a ridge penalty.
        "binomial" takes shares, weighted by their trials, or two columns: successes, failures.
    l1 : "auto" or number
        A number acts in the columns' own units; it is n alpha l1_ratio of scikit-learn and n lambda alpha of glmnet,
        for n rows.
    penalty : number, or array (D,) of one a column
        Ridge penalty beside l1, the same all along the path.
    mix : None or number above 0 and at most 1
        Ties the ridge penalty to l1: l1 = mix x strength and penalty = (1 - mix) x strength at every point, so that
        penalty = l1 (1 - mix)/mix. It is glmnet's alpha (glmnet's gaussian scales y first) and
        scikit-learn's l1_ratio.
    folds : int
        Parts of the cross-validation. Without a fold the penalties are smaller by its share of the rows, as glmnet has
        it; in Ridge and LogisticRegression they are the same numbers.
    rule : "best" or "one-standard-error"
        What "auto" takes: the least loss of the rows held out, or the largest l1 whose loss is within a standard error.
    positive : bool
        Whether coefficients have to be zero or more; not with "softmax", "absolute" and "quantile".
    groups : None or array (D,)
        The group of each column, by any label: l1 becomes l1 sum over groups of sqrt(columns) |w of the group|, so that
        the columns of a group enter together; not with "softmax", "absolute" and "quantile".
    points : int
        How many penalties the path has, in geometric progression.
    ratio : number
        The smallest penalty of the path over the largest.
    standardize : bool or None
        Whether penalties act on columns of unit standard deviation. None: for "auto" yes, for a number no.
        Coefficients are in raw units either way.
    tol : float
        Bounds the gap of the points of the path, as a share of the loss of the best constants. The model returned is
        solved as far as numbers allow.
    fit_intercept : bool
        Whether the model has a constant w0; it is never penalised.
    weights : "frequency" or "precision"
        What sample_weight means: how often a row was observed (2 is the row twice), or the inverse of its variance up
        to a factor. Precisions are divided by their mean over rows of positive weight, as in glmnet, so that penalties
        and coefficients do not depend on their unit.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    coef_, intercept_ : (D,) and a number, or (K, D) and (K,); with labels (1, D) and (1,), or a row for each class.
    l1_, penalty_ : the penalties used, one for each target if there are several.
    path_ : for "auto", a dictionary with P values, the largest l1 first: `l1` and `penalties` (P,), `coef` and
        `intercept` of each, `values`, the mean loss of a held-out row, with standard `errors`, and `gaps` (NaN in
        models of classes that a cross-validation fitted without a fold). With several targets one for each.
    classes_ : labels. certificate_ : how good the solution is. rows_seen_ : number of rows.
    aliased_ : names of the columns that are constant.
    absorbed_, effects_ : of a table opened with absorb=, as for LinearRegression; effects are not penalised.

    Examples
    --------
    >>> from adaline import ElasticNet, datasets
    >>> data = datasets.load("longley")
    >>> model = ElasticNet(rule="one-standard-error").fit(data.X, data.y)
    >>> print(int((model.coef_ != 0).sum()), model.certificate_.status)
    3 solved

    References
    ----------
    Lecture S0, section 5.2, and S3: regularisation. R. Tibshirani (1996); H. Zou and T. Hastie (2005); J. Friedman et
    al. (2010). Squared losses take one pass over the rows, others about 5 for a point of the path and all folds.
    """

    expected_failures: ClassVar[dict[str, str]] = dict.fromkeys(
        WEIGHT_CHECKS, "l1='auto': rows are in folds by their index, so that a row given twice may be in two of them"
    )
    compared: ClassVar[tuple[dict[str, Any], ...]] = ({"points": 50}, {"loss": "logistic", "points": 20})  # less time
    used_with: ClassVar[UsedWith] = {
        **{name: {"l1": AUTO} for name in ("folds", "rule", "points", "ratio")},
        "standardize": {"l1": AnyOf(AUTO, POSITIVE), "penalty": POSITIVE},
    }
    takes_offset: ClassVar[bool] = True
    loss: Annotated[LossName | Loss | Family, LOSS] = "squared"
    l1: Annotated[float | Literal["auto"], PENALTY] = "auto"
    penalty: Annotated[Any, AnyOf(ZERO_OR_MORE, Numbers("one number a column", (1,)))] = 0.0
    mix: Annotated[float | None, AnyOf(NONE, MIX)] = None
    folds: Annotated[int, WholeNumber(2)] = 5
    rule: Annotated[PathRule, one_of(PathRule)] = "best"
    positive: Annotated[bool, FLAG] = False
    groups: Annotated[Any, AnyOf(NONE, ListOf(LABEL, "one label a column"))] = None
    points: Annotated[int, COUNT] = 100
    ratio: Annotated[float, LEVEL] = 1e-3
    standardize: Annotated[bool | None, AnyOf(NONE, FLAG)] = None
    tol: Annotated[float, ZERO_OR_MORE] = 1e-7
    fit_intercept: Annotated[bool, FLAG] = True
    weights: Annotated[WeightKind, one_of(WeightKind)] = "frequency"
    basis: Annotated[Any, BASIS] = None

    learns = ElasticNetState
    _fitted_with = FittedWith(NetSettings)
    coef_ = FittedAttribute[Array]()
    intercept_ = FittedAttribute[float | Array]()
    l1_ = FittedAttribute[float | Array]()
    penalty_ = FittedAttribute[float | Array]()
    aliased_ = FittedAttribute[NDArray[np.object_]]()
    certificate_ = FittedAttribute[Certificate]()
    rows_seen_ = FittedAttribute[int]()
    classes_ = FittedAttribute[Labels]()
    path_ = FittedAttribute[Any]()
    absorbed_ = FittedAttribute[Absorption]()
    _flat = FittedAttribute[bool]()
    _with_offset = FittedAttribute[bool]()
    _typical = FittedAttribute[Array | None]()

    @transaction
    def fit(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> Self:
        """Fit to rows X (n, D) and targets or labels y (n,), or to a source; `weights` says what sample_weight is.

        Several targets (n, K) are fitted separately. X may be an array, a frame, a SciPy sparse matrix, or a
        source, such as `open_table` returns. An offset (n,), of several targets also (n, K), is a known part of the
        outputs, w'x + w0 + offset, as of glmnet, and of two classes at most; an exposure one by its logarithm.
        """
        meter = Meter(X)
        check_parameters(self)
        rows = self._open(X, y, sample_weight, loss_of(self.loss), offset, exposure)
        nets = fit_nets(rows.source, rows.loss, self._options(rows.source.shape.features))
        self._state = self._learned(nets, rows, meter)
        self._warn()
        return self

    def _fit_folds(
        self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, fold: NDArray[np.intp], shared: dict[Any, Any]
    ) -> FoldFits | None:
        """Return fits to all rows and to all but those of each fold (N,), together; None where they are not."""
        check_parameters(self)
        if self.basis is not None or self.weights == "precision":  # the mean weight is another one without a fold
            return None
        if NetSettings.of(self).classifies:
            return self._fit_class_folds(X, y, sample_weight, fold)
        if not isinstance(loss_of(self.loss), Squared):
            return None
        models = [clone(self) for _ in range(int(fold.max()) + 2)]
        meter = Meter(X)
        opened = [one._open(X, y, sample_weight, Squared()) for one in models]
        source = opened[0].source
        found = fit_net_folds(source, self._options(source.shape.features), fold)
        if found is None:
            return None
        for model, nets, rows in zip(models, found, opened, strict=True):
            model._state = model._learned(nets, rows, meter)
        return FoldFits(models[0], models[1:])

    def _fit_class_folds(
        self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, fold: NDArray[np.intp]
    ) -> FoldFits | None:
        """Return fits to all rows and without each fold, whose paths are found together; None where rows are many.

        A fold without which there are only two of several classes has no fit here, as it is of another loss.
        """
        if not isinstance(X, np.ndarray):
            return None
        whole, meter = clone(self), Meter(X)
        opened = whole._open(X, y, sample_weight, loss_of(self.loss))
        source, loss, classes = opened.source, opened.loss, opened.classes
        assert classes is not None
        models: list[Self | None] = []
        fitting, rows = [(whole, opened)], [np.arange(source.n_rows)]
        for k in range(int(fold.max()) + 1):
            model, kept = clone(self), np.flatnonzero(fold != k)
            weight = None if sample_weight is None else np.asarray(sample_weight)[kept]
            part = model._open(X[kept], np.asarray(y)[kept], weight, loss_of(self.loss))
            same = type(part.loss) is type(loss)
            models.append(model if same else None)
            if same:
                fitting.append((model, part))
                rows.append(kept)
        outputs = [np.searchsorted(classes, one.classes) for _, one in fitting if one.classes is not None]
        outputs = [np.zeros(1, np.intp)] * len(fitting) if isinstance(loss, Logistic) else outputs
        sources = [one.source for _, one in fitting]
        nets = fit_stacked(sources, rows, outputs, loss, self._options(source.shape.features))
        if nets is None:
            return None
        for (model, part), net in zip(fitting, nets, strict=True):
            model._state = model._learned([net], part, meter)
            model._warn()
        return FoldFits(whole, models)

    def predict(
        self,
        X: RowsLike,
        interval: Literal["conformal"] | None = None,
        level: float = 0.95,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> Any:
        """Return predictions (n,) or (n, K): the mean of the target under the loss; for labels the likeliest one.

        A model fitted with an offset needs that of these rows.

        With interval="conformal" a named tuple (prediction, lower, upper), which covers a new observation with
        probability `level`, for any distribution of the rows: `adaline.conformal`.
        """
        if interval is not None:
            CONFORMAL_INTERVAL.check("interval", interval)
            from adaline.systems.families.conformal import conformal  # seldom needed

            return conformal(self).predict(X, level, offset, exposure)
        return self._values(X, offset, exposure)

    @by_blocks
    def _values(self, X: RowsLike, offset: OffsetsLike = None, exposure: OffsetsLike = None) -> Any:
        z = self._outputs(X, offset, exposure)
        if self._fitted_with.classifies:
            return label_of_largest(like_rows(X, z[:, 0] if z.shape[1] == 1 else z), self.classes_)
        y = refuse_overflow(self._fitted_with.of_row().mean(z))
        return like_rows(X, np.asarray(y[:, 0] if self._flat else y))

    predict_set = available_if(lambda net: net._fitted_with.classifies)(LinearClassifier.predict_set)

    @available_if(lambda net: net._fitted_with.classifies)
    @by_blocks
    def decision_function(self, X: RowsLike, offset: OffsetsLike = None) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else (n, K)."""
        z = self._outputs(X, offset)
        return like_rows(X, z[:, 0] if z.shape[1] == 1 else z)

    @available_if(lambda net: net._fitted_with.classifies)
    @by_blocks
    def predict_proba(self, X: RowsLike, offset: OffsetsLike = None) -> Array:
        """Return the probability of each class, (n, K)."""
        z = self._outputs(X, offset)
        if z.shape[1] == 1:
            return like_rows(X, np.column_stack([Logistic().mean(-z[:, 0]), Logistic().mean(z[:, 0])]))
        return like_rows(X, np.asarray(Softmax().mean(z)))

    def score(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> float:
        """Return R^2 for rows X (n, D) and y, or for a source; for labels the share predicted.

        Of successes and failures, it is R^2 of the shares, weighted by the trials.
        """
        measure = ElasticNet._accuracy if self._fitted_with.classifies else ElasticNet._determination
        return scored(self, measure, X, y, sample_weight, offset=offset, exposure=exposure)

    def _determination(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike = None) -> float:
        if self.predict(X).ndim == 1 and np.ndim(y) == 2 and np.shape(y)[1] == 2:
            y, sample_weight = shares_of(y, sample_weight)
        return float(RegressorMixin.score(self, X, y, sample_weight))

    def _accuracy(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike = None) -> float:
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    @property
    def effects_(self) -> dict[str, Any]:
        """The effects that a fit has absorbed: for each column a frame of its levels and their values, of mean zero."""
        return inference.absorbed_effects(self)

    def _absorb(self, table: TableSource) -> AbsorbedSource:
        """Return the rows of a table without the effects that it absorbs."""
        from adaline.solvers.absorb.absorb import absorb  # tables are slow to import

        if not isinstance(loss_of(self.loss), Squared) or isinstance(self.l1, str) or not self.fit_intercept:
            raise InvalidParameter(
                "ElasticNet absorbs effects under the squared loss, beside an intercept, at a given l1: folds have "
                "other levels than all rows. Give l1 as a number, or code the levels by categories="
            )
        if table.targets.offset:
            raise InvalidParameter("ElasticNet takes no offset beside absorbed effects: give one of offset and absorb")
        return absorb(table)

    def _open(
        self,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        loss: Loss,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> OpenedNet:
        """Return the rows, the loss, and the labels where the targets are labels."""
        settings, classes = NetSettings.of(self), None
        settings.refuse_exposure(exposure)
        if settings.classifies:
            given = open_labelled(self, X, y, sample_weight, reset=True, offset=offset)
            columns, classes = given.columns, given.all_classes()
            if len(classes) < 2:
                raise too_few_classes("ElasticNet", classes)
            source, loss = self._weighed(given.encoded(classes)), loss if len(classes) == 2 else Softmax()
        else:
            source, columns = open_rows(self, X, y, sample_weight, reset=True, offset=offset, exposure=exposure)
            source = self._weighed(source)
        known = source.targets
        if known.offset and loss.coupled:
            raise InvalidData(
                "an offset is a known part of one output, and there are several, one for each class: join classes, or "
                "leave the offset out"
            )
        offset = known.offset > 0
        if offset and isinstance(loss, Squared | Absolute | Quantile):  # of what is left of the targets
            return OpenedNet(source.changed(known.without_offset()), loss, columns, None, offset)
        if loss.name == "binomial" and known.given > 1:
            if known.offset > 1:
                raise InvalidData(f"successes and failures are one target: give one offset a row, not {known.offset}")
            if not source.sum(Targets, Offset(loss) if offset else loss).finite:  # refuses what are no counts
                source.refuse_nonfinite()
            source = as_shares(source)
        return OpenedNet(source, Offset(loss) if offset else loss, columns, classes, offset)

    def _weighed(self, source: Source) -> Source:
        """Return rows with weights of mean 1 where they are precisions."""
        if self.weights == "frequency" or not source.targets.weighted:
            return source
        totals = weight_totals(source)
        return source.changed(source.targets.reweighing(totals.rows / totals.weight)) if totals.weight else source

    def _options(self, features: int) -> NetOptions:
        automatic = isinstance(self.l1, str)
        penalty = np.asarray(self.penalty, dtype=np.float64)
        if penalty.ndim and len(penalty) != features:
            raise InvalidParameter(f"penalty must be one number a column, got {len(penalty)} for {features} columns")
        return NetOptions(
            None if automatic else float(self.l1),
            penalty,
            None if self.mix is None else float(self.mix),
            *(int(self.folds), int(self.points), float(self.ratio), self.rule),
            automatic if self.standardize is None else bool(self.standardize),
            bool(self.fit_intercept),
            float(self.tol),
            bool(self.positive),
            self._groups(features),
        )

    def _groups(self, features: int) -> tuple[NDArray[np.intp], ...] | None:
        """Return the columns of each group."""
        if self.groups is None:
            return None
        if len(self.groups) != features:
            raise InvalidParameter(f"groups must be one label a column, got {len(self.groups)} for {features} columns")
        _, index = np.unique(np.asarray(self.groups), return_inverse=True)
        return tuple(np.flatnonzero(index == g) for g in range(index.max() + 1))

    def _learned(self, nets: list[FittedNet], rows: OpenedNet, meter: Meter) -> ElasticNetState:
        """Return what was learned: the nets, one for each target."""
        source, columns = rows.source, rows.columns
        theta = np.concatenate([net.theta for net in nets])
        coef, intercept = split_theta(theta, rows.flat, empty_on_device(source))
        options = self._options(source.shape.features)
        l1s, ridges = [net.l1 for net in nets], [options.ridge(net.l1) for net in nets]
        ridge = np.array(ridges[0] if len(nets) == 1 else ridges)
        paths = [_shown_path(net, options) for net in nets if net.path is not None]
        constant: list[str] = []
        if self.fit_intercept and not nets[0].varying.all():
            names = columns.coefficient_names()
            constant = [names[j] for j in np.flatnonzero(~nets[0].varying)]
        proof = combine_certificates([net.certificate for net in nets])
        if isinstance(source, AbsorbedSource):
            from adaline.solvers.absorb.absorb import beside_effects  # tables are slow to import

            coding = replace(source.coding, effects=source.fitted_effects(nets[0].theta[0]))
            columns, proof = columns._replace(coding=coding), beside_effects(proof, source)
        what = CONSTANT if source.absorption is None else EXPLAINED
        return ElasticNetState(
            columns=columns,
            fitted_with=NetSettings.of(self),
            coef=coef,
            intercept=intercept,
            l1=l1s[0] if len(nets) == 1 else np.array(l1s),
            penalty=ridge if ridge.ndim else float(ridge),
            aliased=np.array(constant, dtype=object),
            certificate=meter.on(without_constants(proof, constant, what), source),
            rows_seen=source.n_rows,
            flat=rows.flat,
            typical=nets[0].mean,
            classes=rows.classes,
            path=None if not paths else paths[0] if len(paths) == 1 else paths,
            absorbed=source.absorption,
            with_offset=rows.offset,
        )

    def _warn(self) -> None:
        """Warn where there is no minimum, or it was not reached."""
        proof = self.certificate_
        if proof.status is Status.NOT_CONVERGED:
            warn(f"not converged: {proof.advice}", ConvergenceWarning)
        elif proof.status in (Status.SEPARATED, Status.QUASI_SEPARATED, Status.NO_MINIMUM):
            warn(f"{proof.status}: {proof.advice}", AdalineWarning)

    def _outputs(self, X: RowsLike, offset: OffsetsLike = None, exposure: OffsetsLike = None) -> Array:
        """Return the outputs, (n, K), on the host."""
        check_is_fitted(self, "coef_")
        self._fitted_with.refuse_exposure(exposure)
        z = host(finite_outputs(read_finite(self, X), np.atleast_2d(host(self.coef_)), self.intercept_))
        return add_offset(z, self, X, offset, exposure, fitted_so=self._with_offset)

    def _check_together(self) -> None:
        loss = loss_of(self.loss)
        if own := own_parameter(loss):
            raise InvalidParameter(
                f"the {own} of {loss.name} is not estimated along a path: give a number, such as that which "
                f"GeneralizedLinear finds, its {own}_"
            )
        if not isinstance(loss, Quantile | Absolute):
            refuse_rough(loss)
        if self.positive and self.groups is not None:
            raise InvalidParameter("groups have no sign: give one of positive=True and groups")
        more = np.any(self.penalty) or self.mix not in (None, 1) or self.positive or self.groups is not None
        if loss.corners and more:
            raise InvalidParameter(
                f"loss={loss.name!r} with l1 is a linear program, which has no ridge penalty, groups or bounds: leave "
                "out penalty, mix, groups and positive, or use loss='huber'"
            )
        if self.mix is not None and np.any(self.penalty):
            raise InvalidParameter("mix ties the ridge penalty to l1: give one of mix and penalty")
        if np.any(np.asarray(self.penalty) < 0):
            raise InvalidParameter(f"penalty must be numbers of zero or more, got {self.penalty!r}")

    @property
    def compared_columns(self) -> int:
        """Columns up to which a fit learns from all rows in a comparison: those whose second moments are formed."""
        return 0 if self._fitted_with.classifies else MOST_DENSE_COLUMNS

    @property
    def compared_numbers(self) -> int:
        """Numbers of X that a fit learns from in a comparison, beyond so many columns."""
        return 2**16 if self._fitted_with.classifies else 2**20

    @property
    def compared_products(self) -> int | None:
        """Products of columns that a step of a likelihood forms in a comparison, at most: those of 128 columns."""
        return 2**24 if self._fitted_with.classifies else None

    @property
    def compared_work(self) -> int | None:
        """Multiplications of a Newton step of several classes beyond which a comparison leaves the system out."""
        return 2**23 if self._fitted_with.classifies else None

    @property
    def _estimator_type(self) -> str:  # type: ignore[override]
        return "classifier" if self._fitted_with.classifies else "regressor"


def _shown_path(net: FittedNet, options: NetOptions) -> dict[str, Array]:
    """Return the path of a net as `path_` shows it."""
    assert net.path is not None
    theta = net.path.theta if len(net.theta) > 1 else net.path.theta[:, 0]
    return {
        "l1": net.path.l1,
        "penalties": np.array([options.ridge(l1) for l1 in net.path.l1]),
        "coef": theta[..., 1:],
        "intercept": theta[..., 0],
        "values": net.path.values,
        "errors": net.path.errors,
        "gaps": net.path.gaps,
    }
