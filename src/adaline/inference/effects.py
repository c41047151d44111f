"""Marginal effects: how a column changes the mean of the target, through link, basis and coding.

    effect of a number x_j     mean over rows of d mean / d x_j
    contrast of a level a      mean over rows of (mean with the level a - mean with the reference)

at="mean" takes both at one row, the mean of the columns of the design. Errors are by the delta method: an effect is a
function e(theta) of the coefficients, with variance  e' Cov e,  e' its gradient.

With outputs z = theta phi(x), Jacobian J of the mean by z, and d phi the change of the design along x_j:

    e = mean of J (theta d phi),   gradient by theta_k = mean of  J_k d phi + (change of J_k along theta d phi) phi

J and its change are exact; the change of a basis or a formula is a difference of fourth order. Where a column enters
the log odds, exp(theta d phi), on average, is its odds ratio.

T. Leeper, margins: An R port of Stata's margins command (2021); G. W. Oehlert, American Statistician 46 (1992), 27-29.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from adaline.arrays import AnyArray, Array, OffsetsLike, RowsLike, WeightsLike, as_dense, host, is_device, is_sparse
from adaline.coding.frames import collected
from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import AnyModel, check_is_fitted, has_absorbed
from adaline.inference.classical import judged
from adaline.inference.sandwich import JudgedLikelihoods
from adaline.inference.summary import LOWER, UPPER, IntervalTable
from adaline.input.basis import given_columns, rows_through_basis
from adaline.input.coded import CodedRows, coded, offset_of
from adaline.input.open import read_offset, read_rows, refuse_nonfinite
from adaline.lazy import nw
from adaline.losses import Likelihood, Logistic, Softmax
from adaline.parameters import FLAG, LEVEL, one_of
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.sources import Source, is_table
from adaline.sources.array import read_weights
from adaline.wording import counted

EffectsAt = Literal["average", "mean"]
# step of fourth-order differences, in standard deviations; doubling it makes their error 16 times as large
DIFFERENCE_STEP = 2.0**-9
# multiples of the step, and weights of the differences of the function there, of fourth order
STENCIL = ((1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0))
SLOPE = "slope"
EXACT_EFFECTS = "no standard errors: the fit is exact to rounding, so the residuals measure no error"
PENALISED_EFFECTS = "the penalty is read as a prior: effects are those of the mode, and errors those of the posterior"
UNBOUNDED_EFFECTS = "the likelihood has no maximum: errors of effects that rest on endless coefficients mean nothing"


MEANS = "LinearRegression, RobustRegression, LogisticRegression, GeneralizedLinear, AdditiveModel, OrdinalRegression"
"""The systems whose mean has standard errors, as messages name them."""
MeanFunction = Callable[[Array, Array], tuple[Array, Array, Array]]
Answers = Callable[[Array, np.random.Generator], AnyArray]


@dataclass(frozen=True)
class MeanModel:
    """A fitted system as a function from the design to the mean of the answer.

    Parameters
    ----------
    theta, root : (K, 1 + D) coefficients, and a root (K, 1 + D, M) of their covariance.
    targets : names of the C means; one, "", where there is one answer.
    mean : from outputs (n, K) and a direction (n, K) to means (n, C), their Jacobian (n, C, K), and the derivative of
        that along the direction.
    freedom : degrees of freedom of t, infinity for the normal distribution.
    log_odds : whether the outputs are log odds.
    notes : lines to put below the table.
    link : the name of the link of each mean with its own output; "" where a mean is of several outputs.
    border : the outputs that the link takes.
    ratio : what the exponential of a difference of outputs is a ratio of: "odds", "rate", "risk", "mean", or nothing.
    answers : from means (n, C) and a generator to simulated answers, (n, K), or labels (n,); None where their
        distribution is not known.
    """

    theta: Array
    root: Array
    targets: tuple[str, ...]
    mean: MeanFunction
    freedom: float = np.inf
    log_odds: bool = False
    notes: tuple[str, ...] = ()
    link: str = ""
    border: tuple[float, float] = (-np.inf, np.inf)
    ratio: str = ""
    answers: Answers | None = None


def mean_model_of(
    model: AnyModel, asked: str, known: str = "mean and standard errors are known", use: str = MEANS
) -> MeanModel:
    """Return the mean of a fitted model by its own standard errors; refuse other models by what is `asked` of them."""
    if not hasattr(model, "_mean_model"):
        raise InvalidParameter(f"{asked} needs a model whose {known}; got {type(model).__name__}: use {use}")
    check_is_fitted(model)
    found: MeanModel = model._mean_model()
    return found


def logistic_means(z: Array, along: Array) -> tuple[Array, Array, Array]:
    """Return p of the second of two classes, (n, 1), p q with q = 1 - p, (n, 1, 1), and p q (q - p) along."""
    p, q = Logistic().mean(z), Logistic().mean(-z)
    return p, (p * q)[:, :, None], (p * q * (q - p) * along)[:, :, None]


def softmax_means(z: Array, along: Array) -> tuple[Array, Array, Array]:
    """Return p of K classes, (n, K), J = diag(p) - p p', (n, K, K), and diag(d) - d p' - p d' with d = J along."""
    p, one = Softmax().mean(z), np.eye(z.shape[1])
    d = p * (along - (p * along).sum(axis=1, keepdims=True))
    rest = one - p[:, None, :]
    return p, p[:, :, None] * rest, d[:, :, None] * rest - p[:, :, None] * d[:, None, :]


def grouping_columns(model: AnyModel) -> frozenset[str]:
    """Return the columns that only group rows: effects and means are those of the population, whatever their value."""
    found: frozenset[str] = model._grouping_columns() if hasattr(model, "_grouping_columns") else frozenset()
    return found


def linked_means(loss: Likelihood) -> MeanFunction:
    """Return the function from outputs (n, K) to the means of a family, each of its own output."""

    def mean(z: Array, along: Array) -> tuple[Array, Array, Array]:
        value, one = loss.mean(z), np.eye(z.shape[1])
        if loss.family.name == "binomial":
            _, slope, bend = loss.link.share(z)[0]
            slope, bend = value * slope, value * (slope**2 + bend)
        else:
            _, slope, bend = loss.link.power(z, 1.0)
        return value, slope[:, :, None] * one, (bend * along)[:, :, None] * one

    return mean


def linear_means(
    theta: Array, roots: Sequence[Array], freedom: float, exact: bool = False, described: Sequence[str] = ()
) -> MeanModel:
    """Return the means of linear machines fitted one by one, from roots (1 + D, M) of their covariances.

    `exact`: whether the fits are exact to rounding, so that roots are NaN; `described`: lines about their errors.
    """
    k = len(theta)

    def mean(z: Array, along: Array) -> tuple[Array, Array, Array]:
        return z, np.broadcast_to(np.eye(k), (len(z), k, k)), np.zeros((len(z), k, k))

    notes = (*described, *([EXACT_EFFECTS] if exact else []))
    return MeanModel(theta, _joined(theta, roots), _names(k), mean, freedom, notes=notes, link="identity")


def likelihood_means(
    fits: Sequence[LikelihoodFit],
    mean: MeanFunction,
    targets: Sequence[Any] = (),
    log_odds: bool = False,
    judged: JudgedLikelihoods | None = None,
) -> MeanModel:
    """Return the means of a likelihood of K outputs, or of machines fitted one by one; refuse one without errors.

    Errors are those that the fits are `judged` by, or else classical ones.
    """
    fits = fits if judged is None else judged.fits
    kept = [fit.without_dependent() for fit in fits]
    theta = np.concatenate([fit.solution.theta for fit in kept])
    known = [fit.known_root("effects") for fit in kept]
    root = known[0] if len(fits) == 1 else _joined(theta, [one[0] for one in known])
    notes = {PENALISED_EFFECTS: fits[0].penalised, UNBOUNDED_EFFECTS: fits[0].unbounded or fits[0].at_border}
    return MeanModel(
        *(theta, root, tuple(map(str, targets)) or _names(len(fits)), mean),
        fits[0].freedom if judged is None else judged.freedom,
        log_odds,
        (*(() if judged is None else judged.describe()), *(note for note, holds in notes.items() if holds)),
    )


def _joined(theta: Array, roots: Sequence[Array]) -> Array:
    """Return a root (K, 1 + D, M) of the covariance of machines (K, 1 + D) fitted one by one."""
    root = np.zeros((*theta.shape, sum(one.shape[1] for one in roots)))
    first = 0
    for own, weights, one in zip(root, theta, roots, strict=True):
        absent = np.isnan(one).any(axis=1) & (weights == 0)  # left out, it has no error; others may have none known
        own[:, first : first + one.shape[1]] = np.where(absent[:, None], 0.0, one)
        first += one.shape[1]
    return root


def _names(targets: int) -> tuple[str, ...]:
    """Return the names of so many targets; the only one has none."""
    return ("",) if targets == 1 else tuple(f"y{k}" for k in range(targets))


class _Change(NamedTuple):
    """A change of the rows: of a column, as text; design along it (n, D), or from one design (n, D) to another."""

    column: str
    contrast: str
    slope: Array | None
    ends: tuple[Array, Array] | None


@dataclass(frozen=True, repr=False)
class Effects(IntervalTable):
    """What `effects` returns; prints as text, shows as HTML in a notebook.

    Parameters
    ----------
    title : of the model, and where the effects are taken.
    rows : one an effect: `name` of the column, `contrast` ("slope", or "b - a" of levels), `target` where there are
        several answers or classes, `estimate`, `std_error`, `statistic`, `p_value`, `lower`, `upper`; `odds_ratio`,
        `odds_lower` and `odds_upper` where outputs are log odds; `left_out` where the model does without the column.
    level : coverage of the intervals.
    notes : lines below the table.
    """

    COLUMNS: ClassVar[dict[str, str]] = {
        "name": "",
        "contrast": "contrast",
        "target": "target",
        "estimate": "effect",
        "std_error": "std error",
        "p_value": "p",
        "lower": LOWER,
        "upper": UPPER,
        "odds_ratio": "odds ratio",
        "odds_lower": LOWER,
        "odds_upper": UPPER,
    }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {"title": self.title, "level": self.level, "effects": [dict(row) for row in self.rows]}


def effects(
    model: AnyModel,
    X: RowsLike,
    at: EffectsAt = "average",
    columns: Sequence[str] | None = None,
    level: float = 0.95,
    sample_weight: WeightsLike = None,
    offset: OffsetsLike = None,
    exposure: OffsetsLike = None,
    pairwise: bool = False,
) -> Effects:
    """Return what each column does to the mean of the answer, with standard errors by the delta method.

    Of a number the slope, d mean / d x; of a category the difference of each level from the reference. The mean is that
    of the target, or the probability of a class: with two classes of classes_[1], with more of each class.

    Parameters
    ----------
    model : fitted LinearRegression, Ridge, RobustRegression, LogisticRegression, GeneralizedLinear, AdditiveModel or
        OrdinalRegression
    X : array, frame (n, D) or table
        Rows to take effects at, with the columns that the model was fitted to; a table is read into memory.
    at : "average" or "mean"
        The average over the rows (average marginal effects), or the effect at the mean of the design's columns.
    columns : names, or None
        Which columns; None for all.
    level : float
        Coverage of the intervals.
    sample_weight : (n,) or None
        How often each row counts; None for the model's column of weights, where X has it.
    offset, exposure : (n,) or None
        Of the rows, where the model was fitted with one.
    pairwise : bool
        Whether levels are compared with each other, all pairs of them, instead of with the first.

    Examples
    --------
    >>> import pandas as pd
    >>> from adaline import LogisticRegression, datasets, effects
    >>> birds = pd.read_csv(datasets.path("penguins")).dropna()
    >>> X = birds[["body_mass_g", "species"]]
    >>> model = LogisticRegression().fit(X, birds.sex)
    >>> for row in effects(model, X).rows:
    ...     print(f"{row['name']:12} {row['contrast']:20} {row['estimate']:8.4f} +- {row['std_error']:.4f}")
    body_mass_g  slope                  0.0007 +- 0.0000
    species      Chinstrap - Adelie    -0.0181 +- 0.0303
    species      Gentoo - Adelie       -0.4991 +- 0.0212

    References
    ----------
    T. Leeper, margins (2021); statsmodels' get_margeff. G. W. Oehlert, American Statistician 46 (1992), 27-29.
    """
    known = mean_model_of(model, "effects")
    return effects_with(known, model, X, at, columns, level, sample_weight, offset, exposure, pairwise)


def effects_with(
    known: MeanModel,
    model: AnyModel,
    X: RowsLike,
    at: EffectsAt,
    columns: Sequence[str] | None,
    level: float,
    sample_weight: WeightsLike,
    offset: OffsetsLike,
    exposure: OffsetsLike,
    pairwise: bool,
) -> Effects:
    """Return the effects of a model whose mean and errors are `known`; other arguments are those of `effects`."""
    one_of(EffectsAt).check("at", at)
    LEVEL.check("level", level)
    FLAG.check("pairwise", pairwise)
    rows = Designs(model, X)
    by = None
    if sample_weight is None:
        sample_weight, by = rows.weights(X)
    weight = np.ones(rows.count) if sample_weight is None else read_weights(sample_weight, rows.count)
    shift = read_offset(offset, exposure, rows.count, len(known.theta))
    shift = offset_of(model, X) if shift is None else shift
    if shift is None and getattr(model, "_with_offset", None):
        raise InvalidParameter("this model was fitted with an offset: give that of these rows, as offset= or exposure=")
    shift = np.zeros((rows.count, 1)) if shift is None else shift.reshape(rows.count, -1)
    unknown = [name for name in columns or () if name not in rows.names]
    if unknown:
        raise InvalidParameter(f"no column is called {unknown[0]!r}; there are {', '.join(rows.names[:8])}")
    found = []
    for change in rows.changes(rows.names if columns is None else columns, pairwise):
        found += _effect(known, rows.design, change, weight / weight.sum(), shift, at == "mean", level)
    steps = tuple(f"{name} has no slope: it enters by steps" for name in rows.by_steps)
    if not found:
        raise InvalidData(f"effects: {'; '.join(steps) or 'the model has no columns'}")
    where = f"averages over {counted(rows.count)}" if at == "average" else f"at the mean of {counted(rows.count)}"
    where += f", weighted by {by}" if by else ""
    return Effects(f"Effects of {type(model).__name__}, {where}", found, level, notes=(*known.notes, *steps))


def _effect(
    model: MeanModel, design: Array, change: _Change, share: Array, shift: Array, at_mean: bool, level: float
) -> list[dict[str, Any]]:
    """Return the effects of one change on each mean."""
    if at_mean:
        shift, design = (share @ shift)[None], (share @ design)[None]
        change = change._replace(
            slope=None if change.slope is None else (share @ change.slope)[None],
            ends=None if change.ends is None else ((share @ change.ends[0])[None], (share @ change.ends[1])[None]),
        )
        share = np.ones(1)
    theta, root = model.theta, model.root
    if change.slope is not None:
        z, along = _outputs(theta, design) + shift, change.slope @ theta[:, 1:].T
        jacobian, bend = _known(model.mean(z, along))[1:]
        estimate = share @ np.einsum("nck,nk->nc", jacobian, along)
        first = np.einsum("n,nck,nd->ckd", share, jacobian, change.slope)
        second = np.einsum("n,nck,nd->ckd", share, bend, _with_one(design))
        gradient = second
        gradient[:, :, 1:] += first
        moved = share @ change.slope
    else:
        assert change.ends is not None
        parts = []
        for sign, end in zip((-1.0, 1.0), change.ends, strict=True):
            z = _outputs(theta, end) + shift
            mean, jacobian, _ = _known(model.mean(z, z))
            parts.append((sign * (share @ mean), sign * np.einsum("n,nck,nd->ckd", share, jacobian, _with_one(end))))
        estimate, gradient = parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]
        moved = share @ (change.ends[1] - change.ends[0])
    along = np.einsum("ckd,kdm->cm", gradient, root)
    error = np.linalg.norm(along, axis=1)
    statistics = judged(estimate, error if error.any() or estimate.any() else error * np.nan, level, model.freedom)
    out: list[dict[str, Any]] = []
    for c, target in enumerate(model.targets):
        row: dict[str, Any] = {"name": change.column, "contrast": change.contrast}
        row |= {"target": target} if target else {}
        row |= {"left_out": True} if not (estimate.any() or along.any()) else {}
        out.append(row | {name: float(values[c]) for name, values in statistics.items()})
    if model.log_odds:
        log = judged(
            np.array([moved @ theta[0, 1:]]), np.array([np.linalg.norm(moved @ root[0, 1:])]), level, model.freedom
        )
        with np.errstate(over="ignore"):
            odds = {f"odds_{name}": float(np.exp(log[key][0])) for name, key in ODDS}
        out = [row | odds for row in out]
    return out


ODDS = (("ratio", "estimate"), ("lower", "lower"), ("upper", "upper"))


def _outputs(theta: Array, design: Array) -> Array:
    return np.asarray(design @ theta[:, 1:].T + theta[:, 0])


def _with_one(design: Array) -> Array:
    return np.column_stack([np.ones(len(design)), design])


def _known(found: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """Return means and their derivatives; refuse outputs that have no mean."""
    if not np.isnan(found[0]).any():
        return found
    row = int(np.argwhere(np.isnan(found[0]))[0, 0])
    raise InvalidData(
        f"effects: row {row} has no mean, its output being outside the range of the link: leave such rows out, or fit "
        "with a link that takes every output, such as log or logit"
    )


class Designs:
    """Rows as given, their design (n, D), and how it changes with each column.

    `frame` are the raw columns where the model codes some, else `raw` (n, D) are the numbers; `names` are their names.
    """

    def __init__(self, model: AnyModel, X: RowsLike) -> None:
        self.model = model
        self.coding: Any = getattr(model, "coding_", None)
        if has_absorbed(model):
            raise InvalidParameter("effects on the mean are not computed where effects were absorbed: read coef_")
        if isinstance(X, Source):
            X = _read_source(coded(model, X, targets=False), self.coding is not None)
        frame = nw.from_native(collected(X), pass_through=True, eager_only=True) if self.coding is not None else None
        if self.coding is not None and not isinstance(frame, nw.DataFrame):
            raise InvalidData(
                f"the model was fitted to a frame or a table: give X as a frame with {', '.join(self.coding.needed)}"
            )
        frame = self.coding.with_lags(frame) if self.coding is not None and frame is not None else frame
        self.frame = frame
        self.raw = None if frame is not None else self._numbers(X)
        aside = grouping_columns(model)
        needed = list(self.coding.needed) if self.coding is not None else given_columns(model)
        self.names = [name for name in needed if name not in aside]
        self.design = self._coded(frame) if frame is not None else self._expanded(self.raw)
        self.count = len(self.design)
        self.by_steps: list[str] = []  # columns found to have no slope

    def at(self, values: Mapping[str, Any]) -> Array:
        """Return the design (n, D) of the rows with one value each in some columns."""
        if self.frame is not None:
            frame = self.frame
            for name, value in values.items():
                column = nw.new_series(name, [value] * len(frame), backend=frame.implementation)
                frame = frame.with_columns(column)
            return self._coded(frame)
        assert self.raw is not None
        x = self.raw.copy()
        for name, value in values.items():
            x[:, given_columns(self.model).index(name)] = value
        return self._expanded(x)

    def weights(self, X: RowsLike) -> tuple[Any, str | None]:
        """Return the weights that the rows bring with them, (n,), and the name of their column; None without."""
        if isinstance(X, Source):
            return X.read_weights(), X.spec.weight if is_table(X) else None
        name = None if self.coding is None else self.coding.weight
        if name is None or self.frame is None or name not in self.frame.columns:
            return None, None
        return self.frame[name].to_numpy(), name

    def changes(self, columns: Sequence[str], pairwise: bool) -> Iterator[_Change]:
        """Yield the changes of each column: the slope of a number, levels against the first, or against each other."""
        for name in columns:
            if self.coding is None:
                yield _Change(name, SLOPE, self._slope_of_index(given_columns(self.model).index(name)), None)
                continue
            kinds = [column for column in self.coding.columns if column.name == name]
            levels = [column for column in kinds if column.kind not in ("number", "date")]
            if not levels:
                held = self._steps_of(name)
                if held is None:
                    self.by_steps.append(name)
                else:
                    yield _Change(name, SLOPE, self._slope_of_column(kinds[0], held), None)
                continue
            if levels[0].is_category and not levels[0].has_levels:
                raise InvalidParameter(f"column {name!r} is {levels[0].kind}: it has no levels to be compared")
            first, *others = (False, True) if levels[0].kind == "boolean" else levels[0].levels
            designs = {level: self._coded(self._with(name, level)) for level in (first, *others)}
            pairs = combinations(designs, 2) if pairwise else ((first, level) for level in others)
            for low, high in pairs:
                yield _Change(name, f"{high} - {low}", None, (designs[low], designs[high]))

    def _slope_of_index(self, j: int) -> Array:
        x = self.raw
        assert x is not None
        if getattr(self.model, "basis_", None) is None:
            return np.broadcast_to(np.eye(x.shape[1])[j], x.shape)

        def moved(by: float) -> Array:
            other = x.copy()
            other[:, j] += by
            return self._expanded(other)

        return _difference(moved, x[:, j])

    def _steps_of(self, name: str) -> Any:
        """Return which columns before the basis a number enters by steps alone, (D,); None where it does so in all.

        A step is a level that is computed from the number, or the indicator of its missing values.
        """
        held, enters = [], False
        for term in self.coding._all_terms:
            own = [factor for factor in term if name in (*factor.numbers(), *factor.categories())]
            steps = bool(own) and all(factor.category or factor.full for factor in own)
            enters |= bool(own) and not steps
            held += [steps] * self.coding.term_width(term)
        return np.array(held, dtype=bool) if enters or not any(held) else None

    def _slope_of_column(self, column: Any, held: Any) -> Array:
        """Return the derivative of the design by a column, `held` columns before the basis as they are."""
        assert self.frame is not None
        values = column.numbers(self.frame)
        gaps = np.isnan(values)  # filled by the mean in the fit, from where they move like other values
        values = np.where(gaps, column.mean, values) if gaps.any() else values
        if column.kind == "date":  # by days
            dates, day = self.frame[column.name], timedelta(days=1)
            if gaps.any():
                dates = dates.cast(nw.Datetime("us")).fill_null(datetime(1970, 1, 1) + column.mean * day)
            return _difference(lambda by: self._coded(self._with(column.name, dates + by * day), held), values)
        return _difference(lambda by: self._coded(self._with(column.name, values + by), held), values)

    def _with(self, name: str, value: Any) -> nw.DataFrame[Any]:
        """Return the frame with a column of other values."""
        assert self.frame is not None
        if isinstance(value, nw.Series):
            column = value.alias(name)
        else:
            values = value.tolist() if isinstance(value, np.ndarray) else [value] * len(self.frame)
            column = nw.new_series(name, values, backend=self.frame.implementation)
        changed: nw.DataFrame[Any] = self.frame.with_columns(column)
        return changed

    def _coded(self, frame: Any, held: Any = None) -> Array:
        x = np.asarray(as_dense(self.coding.code(frame)), dtype=np.float64)
        if held is not None and held.any():
            x[:, held] = np.asarray(as_dense(self.coding.code(self.frame)), dtype=np.float64)[:, held]
        return self._expanded(x)

    def _expanded(self, x: AnyArray) -> Array:
        refuse_nonfinite(self.model, x)
        return np.asarray(rows_through_basis(self.model, x), dtype=np.float64)

    def _numbers(self, X: RowsLike) -> Array:
        x = read_rows(self.model, X)
        return np.array(x.toarray() if is_sparse(x) else host(x) if is_device(x) else x, dtype=np.float64)


def _read_source(source: Source, raw: bool) -> Any:
    """Return the rows of a source in memory: the raw columns as a frame, or the numbers (n, D) that they are."""
    if raw and is_table(source):
        return source.learned().read_frame().to_native()
    return np.concatenate([as_dense(block.gathered().x) for block in source.blocks()]).view(CodedRows)


def _difference(moved: Callable[[float], Array], values: Array) -> Array:
    """Return the derivative of a design by one of its columns (n,), from the design moved by some steps of it."""
    step = float(2.0 ** np.round(np.log2(DIFFERENCE_STEP * (np.std(values) or np.abs(values).max() or 1.0))))
    return np.asarray(sum(w * (moved(k * step) - moved(-k * step)) for k, w in STENCIL) / step)
