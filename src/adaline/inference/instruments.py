"""Tests of instruments, from the same sums as a fit with them, and the table that shows them.

    weak instruments   F that the instruments have no part in d_j beside x: the first stage of an endogenous column
    Wu-Hausman         F that y does not depend on the residuals of d in the first stage, beside X: d is exogenous
    Sargan             n r'(1 - M) r / r'r, chi-squared: the instruments are not related to the errors
    Anderson-Rubin     F that y does not depend on the instruments beside x: the coefficients of d are zero; it holds
                       for weak instruments too

J. A. Hausman, Econometrica 46 (1978), 1251-1271; J. D. Sargan, Econometrica 26 (1958), 393-415; T. W. Anderson and H.
Rubin, Ann. Math. Statist. 20 (1949), 46-63; D. Staiger and J. H. Stock, Econometrica 65 (1997), 557-586.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import scipy

from adaline.arrays import Array
from adaline.attributes import own_attributes
from adaline.forms import FiniteNumber, Floats
from adaline.inference.classical import Inference
from adaline.inference.regression import Summary
from adaline.penalties import no_penalty
from adaline.results import made
from adaline.solvers.least_squares.direct import solve_gram
from adaline.solvers.least_squares.k_class import ProjectedColumns, Roles, project
from adaline.sums import Moments
from adaline.wording import degrees, number, p_value

LIKELIHOOD = ("log_likelihood", "aic", "bic")  # which two-stage least squares does not have
WEAK = 10.0  # F of a first stage below which instruments are called weak; doubling it warns more often


@dataclass(frozen=True, eq=False)
class InstrumentTests:
    """Statistics of the tests above, and their degrees of freedom; of chi-squared the second is infinite.

    Parameters
    ----------
    first_stage : (E,) F of each endogenous column.
    hausman, sargan, anderson_rubin : (K,) of each target; NaN of Sargan where there are as many instruments as columns.
    first_stage_freedom, hausman_freedom, anderson_rubin_freedom : (2,) of numerator and denominator.
    sargan_freedom : how many instruments there are beyond the endogenous columns.
    """

    first_stage: Annotated[Array, Floats("E")]
    first_stage_freedom: Annotated[Array, Floats("2")]
    hausman: Annotated[Array, Floats("K")]
    hausman_freedom: Annotated[Array, Floats("2")]
    sargan: Annotated[Array, Floats("K")]
    sargan_freedom: FiniteNumber
    anderson_rubin: Annotated[Array, Floats("K")]
    anderson_rubin_freedom: Annotated[Array, Floats("2")]

    def rows(self, k: int, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the tests of target k, one a row; `names` are those of the endogenous columns."""
        out = [
            _row("weak instruments", f, self.first_stage_freedom, name)
            for name, f in zip(names, self.first_stage, strict=True)
        ]
        out.append(_row("Wu-Hausman", self.hausman[k], self.hausman_freedom))
        if self.sargan_freedom:
            out.append(_row("Sargan", self.sargan[k], [self.sargan_freedom, np.inf]))
        out.append(_row("Anderson-Rubin", self.anderson_rubin[k], self.anderson_rubin_freedom))
        return out


def _row(test: str, statistic: float, freedom: Array | list[float], column: str | None = None) -> dict[str, Any]:
    df, rest = float(freedom[0]), float(freedom[1])
    chance = scipy.special.chdtrc(df, statistic) if np.isinf(rest) else scipy.special.fdtrc(df, rest, statistic)
    row: dict[str, Any] = {"test": test} | ({} if column is None else {"column": column})
    row |= {"chi2" if np.isinf(rest) else "F": float(statistic), "df": df}
    return row | ({} if np.isinf(rest) else {"df_residual": rest}) | {"p_value": float(chance)}


@np.errstate(divide="ignore", invalid="ignore")
def test_instruments(
    moments: Moments, roles: Roles, theta: Array, squares: Array, intercept: bool, observations: float, absorbed: float
) -> InstrumentTests:
    """Return the tests of a fit with instruments.

    Parameters
    ----------
    moments, roles : of the columns [X z] and the targets.
    theta, squares : scaled coefficients (K, D) and sums of squared residuals (K,) of the fit.
    intercept : whether there is a constant.
    observations, absorbed : how many the rows stand for, and how many degrees of freedom absorbed effects take.
    """
    features, k = moments.shape
    d, e = roles.regressors, len(roles.endogenous)
    columns = [*map(int, roles.endogenous), *range(features, features + k)]
    first = project(moments, intercept, roles.instruments(features), columns)
    without = project(moments, intercept, roles.exogenous(), columns)
    left, before = first.left.diagonal(), without.left.diagonal()
    q = first.factor.rank - without.factor.rank
    rest = observations - absorbed - intercept - first.factor.rank
    reduced = (before - left) / q / (left / rest if rest > 0 else np.nan)
    added, more, plain = _beside_residuals(moments, roles, first, intercept)
    rank = gram_rank(moments, roles, intercept)
    remain = observations - absorbed - intercept - rank - more
    hausman = (plain - added) / more / (added / remain if remain > 0 else np.nan) if more else np.full(k, np.nan)
    own = moments.among(roles.instruments(features), range(features, features + k))
    z = len(own.second) - k
    score = own.second[z:, :z] - theta @ moments.second[np.ix_(range(d), roles.instruments(features))]
    sargan = observations * (score * first.factor.solve(score)).sum(axis=1) / squares
    spare = float(first.factor.rank - rank)
    return InstrumentTests(
        first_stage=reduced[:e],
        first_stage_freedom=np.array([float(q), rest]),
        hausman=hausman,
        hausman_freedom=np.array([float(more), remain]),
        sargan=sargan if spare > 0 else np.full(k, np.nan),
        sargan_freedom=max(spare, 0.0),
        anderson_rubin=reduced[e:],
        anderson_rubin_freedom=np.array([float(q), rest]),
    )


def gram_rank(moments: Moments, roles: Roles, intercept: bool) -> int:
    """Return the rank of the regressors, the intercept not counted."""
    return project(moments, intercept, list(range(roles.regressors)), []).factor.rank


def _beside_residuals(
    moments: Moments, roles: Roles, first: ProjectedColumns, intercept: bool
) -> tuple[Array, int, Array]:
    """Return the sums of squared residuals (K,) of the targets on X and the residuals v of the first stage, how many
    of v are independent of X, and the sums on X alone.
    """
    (features, k), d, e = moments.shape, roles.regressors, len(roles.endogenous)
    targets = range(features, features + k)
    out = moments.among([*range(d), *map(int, roles.endogenous)], targets)  # v in place of d, twice
    v = np.arange(d, d + e)
    left = first.left
    out.second[v], out.second[:, v] = 0.0, 0.0
    out.second[np.ix_(v, v)] = left[:e, :e]
    for places, part in ((roles.endogenous, left[:e, :e]), (np.arange(d + e, d + e + k), left[:e, e:])):
        out.second[np.ix_(v, places)] = part
        out.second[np.ix_(places, v)] = part.T
    out.noise[v] = first.grain[:e] ** 2
    found, ranks = [], []
    for one in (out, moments.among(range(d), targets)):
        size = one.shape.features
        normal = solve_gram(one, intercept, no_penalty(size))
        total = one.second.diagonal()[size:]
        found.append(np.maximum(total - (normal.u * one.second[size:, :size]).sum(axis=1), 0.0))
        ranks.append(normal.factor.rank)
    return found[0], ranks[0] - ranks[1], found[1]


@dataclass(frozen=True, repr=False)
class InstrumentalSummary(Summary):
    """Coefficients with their statistics, the tests of the instruments, and the certificate.

    `to_dict()["tests"]` is a list of rows with `test`, `F` or `chi2`, `df`, `df_residual` and `p_value`, and with the
    `column` of a first stage; with several targets it is a list of such lists.
    """

    tests: list[list[dict[str, Any]]] = field(default_factory=list)

    @classmethod
    def of(cls, table: Summary, tests: list[list[dict[str, Any]]]) -> InstrumentalSummary:
        """Return the table of a regression with the tests of each target."""
        return made(cls, **own_attributes(table), tests=tests)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return super().to_dict() | {"tests": self.tests[0] if len(self.tests) == 1 else self.tests}

    def _quality(self, part: Inference) -> dict[str, Any]:
        found = super()._quality(part)
        return {name: value for name, value in found.items() if name not in LIKELIHOOD or not np.isnan(value)}

    def _lines(self, part: Inference) -> list[str]:
        k = next(i for i, one in enumerate(self.parts) if one is part)
        lines = super()._lines(part)
        if len(lines) == 1 and not np.isnan(part.f_statistic):  # there is no likelihood
            lines.append(
                f"F {number(part.f_statistic)} on {degrees(part.model_freedom)} and {degrees(part.f_freedom)} "
                f"(p {p_value(part.f_p_value)})"
            )
        return [*lines, *(said_of_test(row) for row in (self.tests[k] if self.tests else []))]


def said_of_test(row: dict[str, Any]) -> str:
    """Return a test as a line."""
    name = row["test"] + (f" ({row['column']})" if "column" in row else "")
    if "chi2" in row:
        return f"{name}: chi² {number(row['chi2'])} on {degrees(row['df'])} (p {p_value(row['p_value'])})"
    freedom = f"{degrees(row['df'])} and {degrees(row['df_residual'])}"
    return f"{name}: F {number(row['F'])} on {freedom} (p {p_value(row['p_value'])})"


def weak_notes(tests: InstrumentTests, names: Sequence[str]) -> list[str]:
    """Return the line about weak instruments, where there are some; `names` are those of the endogenous columns."""
    weak = [f"{name} (F {number(f)})" for name, f in zip(names, tests.first_stage, strict=True) if f < WEAK]
    if not weak:
        return []
    return [
        f"weak instruments for {', '.join(weak)}, below {WEAK:g}: two-stage least squares is biased towards least "
        "squares and its intervals are too narrow. method='liml' has less bias; Anderson-Rubin holds all the same"
    ]
