"""Inference from the likelihood of a family of distributions: coefficients, deviance, dispersion, tests.

    Cov = dispersion x inverse expected information,   AIC = 2 parameters - 2 ln L
    dispersion = Pearson's chi-squared, or the deviance, over N - p, or a number, such as 1

Where the dispersion is known, coefficients are judged by the normal distribution and hypotheses by chi-squared; where
it is estimated, by Student's t and by F. Log-likelihoods are those of R: a dispersion that the family has counts as a
parameter, and is then deviance / N, or the most likely one where that was asked for. Quasi-likelihoods, counts with a
dispersion that was estimated, have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.arrays import Array, HypothesisLike
from adaline.errors import InvalidData, InvalidParameter
from adaline.inference.classical import EXACT_FIT, NO_EXACT_TESTS, CoefficientStatistics, judged
from adaline.inference.covariance import lengths
from adaline.inference.hypotheses import HypothesisTest, read_hypotheses, wald_chance, wald_of_slopes, wald_squares
from adaline.inference.left_out import left_out, left_out_notes
from adaline.inference.likelihood import AT_BORDER, NO_MAXIMUM, PENALISED, TOO_LARGE, check_maximum, with_ends
from adaline.inference.summary import TargetsTable, named_test
from adaline.parameters import LEVEL
from adaline.results import CONSTANT, EXPLAINED, Certificate
from adaline.solvers.smooth.likelihood import LARGEST_SHAPE, LikelihoodFit
from adaline.sources.absorbed import Absorption
from adaline.wording import degrees, number, p_value, wald_words

QUASI = (
    "the dispersion is estimated beside a family that has none (quasi-likelihood): no log-likelihood, AIC or BIC; "
    "compare models by F"
)

AS_POISSON = (
    "the counts vary no more than poisson counts: the shape grows without end, and its standard error means nothing; "
    "use loss='poisson'"
)
# residuals of an exact fit, relative to those of the mean alone: steps to a maximum end near it, further off than least
# squares; 10x larger takes more fits for exact
EXACT_RATIO = 1e-11

COUNTS = ("poisson", "negative_binomial")


def ratio_of(family: str, link: str) -> str:
    """Return what the exponential of a coefficient is a ratio of: "odds", "rate", "risk" or "mean"; "" of other links.

    Examples
    --------
    >>> from adaline.inference.family import ratio_of
    >>> ratio_of("binomial", "logit"), ratio_of("poisson", "log"), ratio_of("gamma", "log"), ratio_of("poisson", "sqrt")
    ('odds', 'rate', 'mean', '')
    """
    if link == "logit":
        return "odds"
    if link != "log":
        return ""
    return "rate" if family in COUNTS else "risk" if family == "binomial" else "mean"


@dataclass(frozen=True)
class FamilyInference(CoefficientStatistics):
    """Statistics of one target: of its coefficients, and of the fit; NaN where a number does not exist.

    `chi2` is the likelihood ratio against the model without columns, or, where the dispersion is estimated, F times its
    degrees of freedom; of robust errors it is Wald's statistic of all columns. Its p value is that of F where
    `test_freedom`, that of the denominator, is finite. `pseudo_r_squared` is McFadden's, `deviance_explained` the share
    of the null deviance.
    """

    family: str
    link: str
    dispersion: float
    dispersion_error: float
    estimated: bool
    freedom: float
    deviance: float
    null_deviance: float
    null_freedom: float
    pearson_chi2: float
    chi2: float
    chi2_freedom: int
    chi2_p_value: float
    test_freedom: float
    log_likelihood: float
    null_log_likelihood: float
    aic: float
    bic: float
    pseudo_r_squared: float
    deviance_explained: float
    shape: float
    shape_error: float
    power: float
    power_error: float


@dataclass(frozen=True, repr=False)
class FamilySummary(TargetsTable):
    """Coefficients with their statistics, deviance and dispersion of the fit, and its certificate.

    Rows of `to_dict()["coefficients"]` also have the exponential of a coefficient with its interval where that is a
    ratio: `rate_ratio`, `rate_lower` and `rate_upper` of counts, `mean_ratio` and so on of other families under the log
    link, `risk_ratio` of a binomial one; `odds_ratio` under the logit.
    """

    parts: list[FamilyInference]

    def _ratios(self) -> dict[str, str]:
        """Return the columns of ratios, each with the column that it is the exponential of; none where it is none."""
        word = ratio_of(self.parts[0].family, self.parts[0].link)
        ends = {"ratio": "estimate", "lower": "lower", "upper": "upper"}
        return {f"{word}_{name}": of for name, of in ends.items()} if word else {}

    def groups(self) -> list[dict[str, str]]:
        """Return columns and their headings, the ratios in a group of their own."""
        ratios = list(self._ratios())
        headings = (ratios[0].replace("_", " "), *self._ends()) if ratios else ()
        return [*super().groups(), *([dict(zip(ratios, headings, strict=True))] if ratios else [])]

    @np.errstate(over="ignore")
    def _rows(self, part: FamilyInference) -> list[dict[str, Any]]:
        return [
            row | {name: float(np.exp(row[of])) for name, of in self._ratios().items()} for row in super()._rows(part)
        ]

    def _quality(self, part: FamilyInference) -> dict[str, Any]:
        found = super()._quality(part)
        return named_test(found, found.pop("test_freedom"))

    def _lines(self, part: FamilyInference) -> list[str]:
        likeliest = not np.isnan(part.dispersion_error)
        of = "maximum likelihood" if likeliest else "estimated" if part.estimated else "given"
        error = f", standard error {number(part.dispersion_error)}" if likeliest else ""
        without = "columns and effects" if self.absorbed else "columns"
        lines = [
            f"{part.family}, link {part.link}, dispersion {number(part.dispersion)}{error} ({of})",
            f"deviance {number(part.deviance)} on {degrees(part.freedom)} degrees of freedom, without {without} "
            f"{number(part.null_deviance)} on {degrees(part.null_freedom)};  explained "
            f"{number(part.deviance_explained)}",
        ]
        if not np.isnan(part.chi2_p_value):
            what = f"all {without}" if self.errors == "classical" else "all columns"
            test = wald_words(part.chi2, part.chi2_freedom, part.test_freedom)
            lines.append(f"{what} together: {test} (p {p_value(part.chi2_p_value)})")
        if not np.isnan(part.log_likelihood):
            criteria = "" if np.isnan(part.aic) else f", AIC {number(part.aic)}, BIC {number(part.bic)}"
            lines.append(f"log-likelihood {number(part.log_likelihood)}{criteria}")
        if not np.isnan(part.shape_error):
            lines.append(f"shape {number(part.shape)}, standard error {number(part.shape_error)}")
        if not np.isnan(part.power_error):
            lines.append(f"power {number(part.power)}, standard error {number(part.power_error)}")
        if likeliest and part.family == "gamma" and not np.isnan(part.log_likelihood):
            shape = 1.0 / part.dispersion
            lines.append(f"shape {number(shape)}, standard error {number(shape**2 * part.dispersion_error)}")
        return lines


def _is_exact(fit: LikelihoodFit) -> bool:
    """Whether the dispersion is estimated from residuals that are rounding, so that it measures no error."""
    part = fit.family
    assert part is not None
    return part.estimated and part.pearson <= EXACT_RATIO**2 * part.null_deviance


def infer_family(fit: LikelihoodFit, intercept: bool, level: float, freedom: float, errors: str) -> FamilyInference:
    """Return the statistics of one target, judged by t with `freedom`, under the `errors` that it has."""
    part = fit.family
    assert part is not None
    theta, root = fit.solution.theta[0], fit.root
    error = np.full(len(theta), np.nan) if root is None or fit.at_border else lengths(root[0])
    error[1:][~fit.dependence.kept] = np.nan
    n, columns = part.freedom + fit.parameters, fit.parameters - intercept
    exact = _is_exact(fit)
    plain = np.nan if exact or fit.penalised else 1.0
    gained = part.null_deviance - part.deviance
    if not np.isnan(part.shape_error):  # the model without columns has a shape of its own
        gained = 2 * (fit.log_likelihood - fit.null)
    gained = float(np.float64(plain * max(gained, 0.0)) / part.dispersion)
    likely, parameters = np.nan if exact else fit.log_likelihood, fit.parameters + part.extra
    test_freedom = part.freedom if part.estimated else np.inf
    p = wald_chance(gained, columns, test_freedom)
    if errors != "classical" and root is not None:
        columns, test_freedom = int(fit.dependence.kept.sum()), freedom
        gained, p = wald_of_slopes(fit, [theta], [plain * root[0]], errors, freedom)
    statistics = judged(theta, error, level, freedom)
    if exact:
        statistics |= dict.fromkeys(("statistic", "p_value"), np.full_like(theta, np.nan))
    return FamilyInference(
        **statistics,
        family=part.family,
        link=part.link,
        dispersion=part.dispersion,
        dispersion_error=part.dispersion_error,
        estimated=part.estimated,
        freedom=part.freedom,
        deviance=part.deviance,
        null_deviance=part.null_deviance,
        null_freedom=n - intercept,
        pearson_chi2=part.pearson,
        chi2=gained,
        chi2_freedom=columns,
        chi2_p_value=p if columns > 0 and part.freedom > 0.5 else np.nan,
        test_freedom=test_freedom,
        log_likelihood=likely,
        null_log_likelihood=fit.null,
        aic=plain * (2 * parameters - 2 * likely),
        bic=plain * (float(np.log(n)) * parameters - 2 * likely),
        pseudo_r_squared=1.0 - likely / fit.null if fit.null < 0 else np.nan,
        deviance_explained=max(1.0 - part.deviance / part.null_deviance, 0.0) if part.null_deviance > 0 else np.nan,
        shape=part.shape,
        shape_error=part.shape_error,
        power=part.power,
        power_error=part.power_error,
    )


def summarise_families(
    fits: Sequence[LikelihoodFit],
    names: Sequence[str],
    *,
    title: str,
    intercept: bool,
    certificate: Certificate,
    level: float = 0.95,
    notes: Sequence[str] = (),
    errors: str = "classical",
    freedom: float | None = None,
    ends: Sequence[Array] | None = None,
    absorbed: Absorption | None = None,
) -> FamilySummary:
    """Return the table of the fits of one or more targets.

    Parameters
    ----------
    fits : one for each target.
    names : of the D columns.
    title, intercept, certificate : of the model.
    level : coverage of the intervals.
    notes : lines to put before those that the fits give rise to.
    errors, freedom : which standard errors the fits have; degrees of freedom of t, infinity for the normal
        distribution, None for those of the fit.
    ends : of the intervals of each target, (2, 1 + D), where they are not Wald's.
    absorbed : the effects that were absorbed from the rows.
    """
    LEVEL.check("level", level)
    freedom = fits[0].freedom if freedom is None else freedom
    missing = left_out(fits[0].dependence, names, CONSTANT if absorbed is None else EXPLAINED)
    plain = [infer_family(fit.without_dependent(), intercept, level, freedom, errors) for fit in fits]
    parts, profiled = with_ends(plain, ends)
    quasi = parts[0].estimated and parts[0].family in ("poisson", "binomial", "negative_binomial")
    found = {
        NO_MAXIMUM: any(fit.unbounded for fit in fits),
        AT_BORDER: any(fit.at_border for fit in fits),
        PENALISED: fits[0].penalised,
        QUASI: quasi,
        AS_POISSON: any(part.shape > LARGEST_SHAPE and not np.isnan(part.shape_error) for part in parts),
        TOO_LARGE: fits[0].root is None and fits[0].rows > 0,
        EXACT_FIT: any(map(_is_exact, fits)),
        "no standard errors: there are no more rows than parameters": not parts[0].freedom > 0.5 and parts[0].estimated,
        **dict.fromkeys(left_out_notes(missing), True),
    }
    return FamilySummary(
        title=title,
        names=list(names),
        targets=[f"y{k}" for k in range(len(fits))],
        parts=parts,
        level=level,
        rows=fits[0].rows,
        weight=fits[0].weight,
        certificate=certificate,
        notes=[
            *([] if absorbed is None else [absorbed.describe()]),
            *notes,
            *profiled,
            *(note for note, holds in found.items() if holds),
        ],
        intercept=intercept,
        left_out=missing,
        absorbed={} if absorbed is None else absorbed.by_name(),
        errors=errors,
        student=bool(np.isfinite(freedom)),
    )


def family_test(
    fits: Sequence[LikelihoodFit],
    names: Sequence[str],
    hypothesis: HypothesisLike,
    value: Any,
    *,
    intercept: bool,
    flat: bool,
    errors: str = "classical",
    freedom: float | None = None,
) -> HypothesisTest:
    """Return the test of C theta = value for each target: F, whose second freedom is infinite where it is chi-squared.

    The other arguments are those of `summarise_families`; `flat`: numbers instead of arrays, for the only target.
    """
    tested = read_hypotheses(hypothesis, value, names, intercept)
    freedom = fits[0].freedom if freedom is None else freedom
    q, statistics, chances = len(tested.matrix), [], []
    for fit in fits:
        if fit.penalised:
            raise InvalidParameter(
                "no tests for a penalised fit: its coefficients are shrunken on purpose, none is centred on the truth. "
                "Use penalty=0 and l1=0."
            )
        check_maximum(fit, "Wald tests")
        fit.known_root("tests")
        if not freedom > 0.5:
            raise InvalidData("no tests: there are no more rows than parameters, so that nothing is left to judge by")
        if _is_exact(fit):
            raise InvalidData(NO_EXACT_TESTS)
        kept = fit.without_dependent()
        assert kept.root is not None
        squares = wald_squares(fit, tested, [kept.solution.theta[0]], [kept.root[0]], errors, freedom)
        statistics.append(squares / q)
        chances.append(wald_chance(squares, q, freedom))
    f, p = (float(part[0]) if flat else np.array(part) for part in (statistics, chances))
    return HypothesisTest(tested.texts, f, (q, freedom), p, errors)
