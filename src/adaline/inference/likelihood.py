"""Inference from a likelihood: Wald's standard errors, z and intervals, odds ratios, and how well the model fits.

    z = w / (Cov_ww)^(1/2),   Cov = inverse information,   odds ratio = exp(w)
    chi2 = 2 (ln L - ln L_0),   McFadden's R^2 = 1 - ln L / ln L_0

With K classes the machines of a softmax are identified up to a vector common to all. The rows identify differences of
classes: w_k - w_ref, with Cov of the difference. Any reference gives the same model.

A. Wald, Trans. AMS 54 (1943), 426-482; D. McFadden, in Frontiers in Econometrics (1974), 105-142.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy

from adaline.arrays import Array, HypothesisLike
from adaline.attributes import own_attributes
from adaline.errors import InvalidParameter
from adaline.inference.classical import CoefficientStatistics, Interval, judged, quantile
from adaline.inference.covariance import lengths
from adaline.inference.hypotheses import read_hypotheses, wald_chance, wald_of_slopes, wald_squares
from adaline.inference.left_out import left_out, left_out_notes
from adaline.inference.summary import STATISTICS, CoefficientTable, named_test
from adaline.losses import Logistic
from adaline.parameters import LEVEL
from adaline.results import Certificate
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.wording import counted, number, p_value, visible, wald_words

Part = TypeVar("Part", bound=CoefficientStatistics)
ODDS = ("odds_ratio", "odds_lower", "odds_upper")

PENALISED = (
    "the penalty is read as a prior: estimates are the mode of its posterior, and errors, z, p and intervals those of "
    "the normal approximation there, not of repeated samples; no likelihood-ratio test, AIC or BIC"
)
FIRTH = (
    "Firth's correction (Jeffreys' prior): errors, z and intervals are those of the information at the estimate, rough "
    "near separation, where the likelihood is skew; no AIC or BIC"
)
BY_RATIO = "chi² and the p of slopes are those of penalised likelihood ratios"
SEPARATED = (
    "the classes are separated: the likelihood has no maximum, the coefficients are those of a tiny penalty, and their "
    "errors, z, p and intervals mean nothing; use penalty='auto', a number, or firth=True"
)
NO_MAXIMUM = (
    "the likelihood has no maximum: some coefficients have no finite estimate, those shown are of a tiny penalty, and "
    "their errors and intervals mean nothing; compare models by anova, or give a number as penalty"
)
AT_BORDER = (
    "the fit ended at the border of what the link allows, where the likelihood still rises: there are no standard "
    "errors, z, p or intervals; use a link that takes every output"
)
BY_PROFILE = "intervals are those of the profile likelihood"
NO_END = "some ends of profile intervals were not found, and are left open: interval='wald' has them all"
TOO_LARGE = "no standard errors: the matrix of second derivatives was not formed (l1, or too many coefficients)"


class WaldInference(CoefficientStatistics):
    """Statistics of one class against another."""

    @property
    def odds_ratio(self) -> Array:
        """The factor by which the odds change when a column increases by one."""
        return _exp(self.estimate)

    @property
    def odds_lower(self) -> Array:
        """Lower end of the interval of the odds ratio."""
        return _exp(self.lower)

    @property
    def odds_upper(self) -> Array:
        """Upper end of the interval of the odds ratio."""
        return _exp(self.upper)


@dataclass(frozen=True)
class Quality:
    """How likely the model makes the rows; NaN where a penalty leaves a number without its meaning.

    `chi2` compares with the constants alone, or, without an intercept, with equal odds of all classes; so does
    `null_log_likelihood`. It is the likelihood ratio, or, of robust errors, Wald's statistic of all slopes, whose p
    value is that of F where `residual_freedom` is finite.
    """

    log_likelihood: float
    null_log_likelihood: float
    pseudo_r_squared: float
    chi2: float
    chi2_freedom: int
    chi2_p_value: float
    parameters: int
    aic: float
    bic: float
    residual_freedom: float = np.inf

    def entries(self) -> dict[str, Any]:
        """Return all by name, the test as an F test where it is one."""
        found = own_attributes(self)
        return named_test(found, found.pop("residual_freedom"))


@dataclass(frozen=True)
class WaldTest:
    """The result of `wald_test`.

    Parameters
    ----------
    hypotheses : each hypothesis as text.
    about : which classes they are about, and against which.
    chi2, freedom, p_value : the statistic, its degrees of freedom, and the chance of as much if the hypotheses hold.
    errors : which standard errors were used.
    residual_freedom : those of the denominator of F = chi2 / freedom, which p_value is of; infinity for chi-squared.
    """

    hypotheses: tuple[str, ...]
    about: str
    chi2: float
    freedom: int
    p_value: float
    errors: str = "classical"
    residual_freedom: float = np.inf

    @property
    def statistic(self) -> float:
        """F: chi-squared over its degrees of freedom."""
        return self.chi2 / self.freedom

    def __str__(self) -> str:
        what = "\n            ".join(self.hypotheses)
        test = wald_words(self.chi2, self.freedom, self.residual_freedom)
        robust = "" if self.errors == "classical" else f" ({self.errors} errors)"
        about = f"{self.about}: " if self.about else ""
        return visible(f"hypothesis: {what}\n{about}{test}, p {p_value(self.p_value)}{robust}")

    __repr__ = __str__


def against(fit: LikelihoodFit, k: int, reference: int) -> tuple[Array, Array | None]:
    """Return w_k - w_reference, (1 + D), and a root of its covariance, (1 + D, M); two classes are 0 and 1."""
    theta, root = fit.solution.theta, fit.root
    if fit.coupled:
        return theta[k] - theta[reference], None if root is None else root[k] - root[reference]
    sign = float(k - reference)
    return sign * theta[0], None if root is None else sign * root[0]


def infer_class(fit: LikelihoodFit, k: int, reference: int, level: float, freedom: float = np.inf) -> WaldInference:
    """Return the statistics of class k against the reference, judged by t where `freedom` is finite."""
    estimate, root = against(fit, k, reference)
    error = np.full(len(estimate), np.nan) if root is None else lengths(root)
    error[1:][~fit.dependence.kept] = np.nan
    found = judged(estimate, error, level, freedom)
    if fit.ratios is not None:
        found["p_value"][1:] = np.where(np.isnan(error[1:]), np.nan, scipy.special.chdtrc(1, fit.ratios[1:]))
    return WaldInference(**found)


def with_ends(parts: Sequence[Part], ends: Sequence[Array] | None) -> tuple[list[Part], list[str]]:
    """Return statistics with other interval ends (2, q), if any are given, and a note on them."""
    if ends is None:
        return list(parts), []
    found = [replace(part, lower=own[0], upper=own[1]) for part, own in zip(parts, ends, strict=True)]
    lost = any(np.isnan(own[:, part.std_error > 0]).any() for part, own in zip(parts, ends, strict=True))
    return found, [BY_PROFILE, NO_END] if lost else [BY_PROFILE]


def quality(fit: LikelihoodFit, classes: int, intercept: bool) -> Quality:
    """Return how well the model fits."""
    freedom = fit.parameters - (classes - 1) * intercept
    plain = 1.0 if not (fit.penalised or fit.firth) else np.nan
    chi2 = plain * max(2 * (fit.log_likelihood - fit.null), 0.0) if fit.ratios is None else float(fit.ratios[0])
    return Quality(
        log_likelihood=fit.log_likelihood,
        null_log_likelihood=fit.null,
        pseudo_r_squared=1.0 - fit.log_likelihood / fit.null if fit.null < 0 else np.nan,
        chi2=chi2,
        chi2_freedom=freedom,
        chi2_p_value=float(scipy.special.chdtrc(freedom, chi2)) if freedom > 0 else np.nan,
        parameters=fit.parameters,
        aic=plain * (2 * fit.parameters - 2 * fit.log_likelihood),
        bic=plain * (float(np.log(fit.weight)) * fit.parameters - 2 * fit.log_likelihood),
    )


def judged_quality(
    found: Quality, fit: LikelihoodFit, machines: Sequence[tuple[Array, Array | None]], errors: str, freedom: float
) -> Quality:
    """Return how well a model fits, all slopes of its machines, (theta, root), tested by robust errors."""
    thetas, roots = zip(*machines, strict=True)
    if errors == "classical" or roots[0] is None:
        return found
    chi2, p = wald_of_slopes(fit, thetas, roots, errors, freedom)
    return replace(found, chi2=chi2, chi2_p_value=p, residual_freedom=freedom)


def check_maximum(fit: LikelihoodFit, what: str) -> None:
    """Refuse `what`, named in the plural, of a likelihood that has no maximum, or none inside its border."""
    if fit.at_border:
        raise InvalidParameter(f"no {what}: {AT_BORDER}")
    if fit.unbounded:
        raise InvalidParameter(
            f"no {what}: the likelihood has no maximum, some coefficients have no finite estimate. Compare nested "
            "models by anova; a penalised fit, or LogisticRegression(firth=True) of two classes, has finite estimates"
        )


def wald_test(
    fit: LikelihoodFit,
    hypothesis: HypothesisLike,
    value: Any,
    names: Sequence[str],
    classes: Sequence[Any],
    *,
    intercept: bool,
    target: Any = None,
    reference: Any = None,
    errors: str = "classical",
    freedom: float = np.inf,
) -> WaldTest:
    """Test C (w_k - w_reference) = value by Wald's chi-squared, for one class k or for all of them together.

    Parameters
    ----------
    fit : what was fitted, without a penalty.
    hypothesis, value : text, column names or a matrix, as for `LinearRegression.test`.
    names, classes : of the columns and of the classes, in the order of the machines.
    intercept : whether the model has one.
    target : the class the hypothesis is about; None for all but the reference.
    reference : the class that others are compared with, the first by default.
    errors, freedom : which standard errors the fit has; degrees of freedom of the denominator of F, infinity for
        chi-squared.
    """
    if fit.penalised:
        raise InvalidParameter(
            "no tests for a penalised fit: its coefficients are shrunken on purpose, none is centred on the truth. "
            "Use penalty=0."
        )
    check_maximum(fit, "Wald tests")
    fit.known_root("tests")
    given = read_hypotheses(hypothesis, value, names, intercept)
    base = index_of(classes, reference, "reference")
    tested = [k for k in range(len(classes)) if k != base]
    if target is not None:
        tested = [index_of(classes, target, "target")]
        if tested == [base]:
            raise InvalidParameter(f"target {target!r} is the reference: name another class, or another reference")
    kept = fit.without_dependent()
    thetas, roots = zip(*(against(kept, k, base) for k in tested), strict=True)
    squares = wald_squares(fit, given, thetas, roots, errors, freedom)
    about = f"log odds of {', '.join(str(classes[k]) for k in tested)} against {classes[base]}"
    q = len(given.matrix) * len(tested)
    return WaldTest(given.texts, about, squares, q, wald_chance(squares, q, freedom), errors, freedom)


def mean_interval(
    fit: LikelihoodFit, x: Array, level: float, freedom: float = np.inf, known: Array | float = 0.0
) -> Interval:
    """Return probabilities at rows x (n, D) with confidence intervals: (n,) of the second of two classes, else (n, K).

    `known` is a known part of the outputs, (n, 1).

    Intervals are made where probabilities are nearly normal, of the log odds ln p / (1 - p), by the delta method, and
    brought back: they stay between 0 and 1. Rows that the fitted rows do not span have NaN.
    """
    LEVEL.check("level", level)
    root = fit.known_root("intervals")
    z = x @ fit.solution.theta[:, 1:].T + fit.solution.theta[:, 0] + known
    along = np.einsum("nd,kdm->nkm", x, root[:, 1:]) + root[:, 0]
    if fit.coupled:
        z, along = log_odds(z, along)
    reach = reach_at(fit, x, along, quantile(freedom, level))
    bands = (Logistic().mean(band) for band in (z, z - reach, z + reach))
    return Interval(*(band if fit.coupled else band[:, 0] for band in bands))


def log_odds(z: Array, along: Array) -> tuple[Array, Array]:
    """Return the log odds of K classes, z_k - ln sum_j!=k exp z_j, (n, K), from their logarithms up to a constant.

    `along` (n, K, M) is the derivative of z, and its second value that of the log odds.
    """
    every = z[:, None, :] + np.where(np.eye(z.shape[1], dtype=bool), -np.inf, 0.0)
    top = every.max(axis=2, keepdims=True)
    rest = np.exp(every - top)
    total = rest.sum(axis=2, keepdims=True)
    return z - (top + np.log(total))[:, :, 0], along - (rest / total) @ along


def reach_at(fit: LikelihoodFit, x: Array, along: Array, times: float) -> Array:
    """Return `times` the standard errors (n, K) whose roots are `along` (n, K, M); NaN where there are none."""
    reach = times * np.sqrt((along**2).sum(axis=2))
    varying = np.where(fit.dependence.constant, 0.0, x)
    reach[~fit.dependence.determines(np.column_stack([np.ones(len(x)), varying]))] = np.nan
    return np.asarray(reach)


def index_of(classes: Sequence[Any], label: Any, what: str) -> int:
    """Return the index of a class, that of the first where none is named."""
    if label is None:
        return 0
    found = [k for k, own in enumerate(classes) if np.all(own == label)]
    if not found:
        raise InvalidParameter(f"{what} must be one of the classes {', '.join(map(str, classes))}; got {label!r}")
    return found[0]


def _exp(a: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(a))


@dataclass(frozen=True, repr=False)
class LikelihoodSummary(CoefficientTable):
    """Coefficients of each class against the reference, odds ratios, and how likely the model makes the rows.

    `to_dict()["coefficients"]` is a list of rows with name, estimate, std_error, statistic (z), p_value, lower, upper,
    odds_ratio, odds_lower, odds_upper, intercept first; with more than two classes each row also has its `target`.
    """

    columns: ClassVar[tuple[str, ...]] = STATISTICS + ODDS

    parts: list[WaldInference]
    reference: str
    quality: Quality
    errors: str = "classical"
    freedom: float = np.inf

    def _statistic(self) -> str:
        return "t" if np.isfinite(self.freedom) else "z"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {
            **self._head(),
            "errors": self.errors,
            "reference": self.reference,
            "targets": list(self.targets),
            "coefficients": self._coefficients(),
            **self.quality.entries(),
            **self._foot(),
        }

    def groups(self) -> list[dict[str, str]]:
        """Return columns and their headings, the odds ratios in a group of their own."""
        return [*super().groups(), dict(zip(ODDS, ("odds ratio", *self._ends()), strict=True))]

    def _heading(self, target: str) -> str:
        return f"log odds of {target} against {self.reference}"

    def closing(self) -> list[str]:
        """Return how likely the model makes the rows, in lines."""
        return quality_lines(self.quality, "constants alone" if self.intercept else "equal odds", self.errors)


def quality_lines(q: Quality, null: str, errors: str) -> list[str]:
    """Return lines on the likelihood of a model; `null` names the model it is compared with."""
    lines = [
        f"log-likelihood {q.log_likelihood:.6g}, {null} {q.null_log_likelihood:.6g};  "
        f"McFadden's R² {number(q.pseudo_r_squared)}"
    ]
    if not np.isnan(q.chi2):
        what = "likelihood ratio" if errors == "classical" else "all columns together:"
        test = wald_words(q.chi2, q.chi2_freedom, q.residual_freedom)
        lines.append(f"{what} {test} (p {p_value(q.chi2_p_value)})")
    criteria = "" if np.isnan(q.aic) else f"AIC {number(q.aic)}, BIC {number(q.bic)}, "
    return [*lines, f"{criteria}{counted(q.parameters, 'parameter')}"]


def summarise(
    fit: LikelihoodFit,
    names: Sequence[str],
    classes: Sequence[Any],
    *,
    title: str,
    intercept: bool,
    level: float = 0.95,
    reference: Any = None,
    notes: Sequence[str] = (),
    certificate: Certificate | None = None,
    errors: str = "classical",
    freedom: float = np.inf,
    ends: Sequence[Array] | None = None,
) -> LikelihoodSummary:
    """Return the table of a fit; `reference` is one of the classes, the first by default.

    Parameters
    ----------
    fit : what was fitted; theta has one machine for two classes, otherwise one for each class.
    names, classes : of the columns and of the classes, in the order of the machines.
    title, intercept : of the model, and whether it has one.
    level : coverage of the intervals.
    reference : the class that all others are compared with.
    notes : lines to put below the table, such as `SEPARATED`.
    certificate : of the model, where it is not that of the fit.
    errors, freedom : which standard errors the fit has; degrees of freedom of t, infinity for the normal distribution.
    ends : of the intervals of each class against the reference, (2, 1 + D), where they are not Wald's.
    """
    LEVEL.check("level", level)
    base = index_of(classes, reference, "reference")
    others = [k for k in range(len(classes)) if k != base]
    automatic = [
        (fit.penalised and SEPARATED not in notes, PENALISED),
        (fit.firth, FIRTH),
        (fit.ratios is not None, BY_RATIO),
        (fit.root is None and fit.rows > 0, TOO_LARGE),
    ]
    fit = fit.without_dependent()
    missing = left_out(fit.dependence, names)
    machines = [against(fit, k, base) for k in others]
    parts, profiled = with_ends([infer_class(fit, k, base, level, freedom) for k in others], ends)
    return LikelihoodSummary(
        title=title,
        names=list(names),
        targets=[str(classes[k]) for k in others],
        parts=parts,
        level=level,
        rows=fit.rows,
        weight=fit.weight,
        certificate=certificate or fit.solution.certificate,
        notes=[*notes, *profiled, *(note for holds, note in automatic if holds), *left_out_notes(missing)],
        intercept=intercept,
        reference=str(classes[base]),
        quality=judged_quality(quality(fit, len(classes), intercept), fit, machines, errors, freedom),
        left_out=missing,
        errors=errors,
        freedom=freedom,
    )
