"""Random problems whose enclosures are checked: regressions and likelihoods over designs that are hard for float64."""

from __future__ import annotations

import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from adaline import LinearRegression, Ridge
from adaline.errors import AdalineWarning
from tests.certificates.cases import DESIGNS, draw_case
from tests.certificates.exact import mp
from tests.enclosures.exact import contained, rational, solve

LIKELIHOODS = (
    *("logistic", "softmax", "binomial", "poisson", "gamma", "tweedie", "negative binomial"),
    *("probit", "cloglog", "binomial log", "poisson identity", "poisson sqrt", "gamma inverse", "inverse gaussian"),
)
DIGITS = 100  # of the arithmetic in which likelihoods are minimised
MODERATE = 1e6  # condition below which enclosures are as wide as a few units in the last place


class Problem(NamedTuple):
    """Rows, and the settings of the model."""

    family: str
    design: str
    x: Any
    t: Any
    weight: Any
    penalty: float
    intercept: bool


class Verdict(NamedTuple):
    """What became of a problem: whether the enclosure holds, whether it says anything, and its median width."""

    problem: Problem
    condition: float
    proved: bool
    holds: bool
    width: float


def draw_problem(rng: np.random.Generator) -> Problem:
    """Return a random problem; some have fewer rows than coefficients, or columns that depend on each other."""
    design = str(rng.choice(list(DESIGNS)))
    n, d = int(rng.integers(2, 25)), int(rng.integers(2, 6))
    x = DESIGNS[design](rng, n, d)
    if rng.uniform() < 0.1:
        x[:, -1] = x[:, 0] * 2.0 ** rng.integers(-3, 3)
    t = rng.normal(size=n) + (x @ rng.normal(size=d)) * (rng.uniform() < 0.8)
    weight = 10.0 ** rng.uniform(-4, 4, n) if rng.uniform() < 0.4 else None
    penalty = 10.0 ** rng.uniform(-8, 6) if rng.uniform() < 0.5 else 0.0
    return Problem("least squares", design, x, t, weight, penalty, bool(rng.uniform() < 0.7))


def fitted(problem: Problem) -> Any:
    """Return the fitted model."""
    kind = Ridge(penalty=problem.penalty) if problem.penalty else LinearRegression()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdalineWarning)
        model = kind.set_params(fit_intercept=problem.intercept)
        return model.fit(problem.x, problem.t, sample_weight=problem.weight)


def verify(seed: int, number: int) -> Verdict:
    """Check a random problem: every third is a likelihood."""
    if number % 3 == 2:
        return verify_likelihood(seed, number)
    problem = draw_problem(np.random.default_rng([seed, number]))
    model = fitted(problem)
    found = model.enclose(problem.x, problem.t, sample_weight=problem.weight)
    exact = solve(problem.x, problem.t, problem.weight, problem.penalty, problem.intercept)
    holds = not found.proved
    if found.proved and exact is not None:
        outputs = found.predict(problem.x)
        rows = rational(np.column_stack([np.ones(len(problem.x)), problem.x]))
        holds = contained(*found, exact) and contained(*outputs, rows @ np.array(exact, dtype=object))
    width = float(np.median(found.width[0 if problem.intercept else 1 :]))
    return Verdict(problem, model.certificate_.condition, found.proved, holds, width)


def verify_likelihood(seed: int, number: int) -> Verdict:
    """Check a random likelihood against 100-digit arithmetic; where that finds no minimum, there has to be no proof."""
    rng = np.random.default_rng([seed, number])
    case = draw_case(rng, LIKELIHOODS[number // 3 % len(LIKELIHOODS)])
    problem = Problem(case.family, case.design, case.x, case.t, case.weight, case.penalty, case.intercept)
    model = case.fit()
    if model is None:
        return Verdict(problem, np.nan, False, True, np.inf)
    given = {} if case.offset is None else {"offset": case.offset}
    found = model.enclose(case.x, case.t, sample_weight=case.weight, **given)
    start = np.column_stack([np.atleast_1d(model.intercept_), np.atleast_2d(model.coef_)])
    best = case.objective().minimum(start, digits=DIGITS) if found.proved else None
    holds = not found.proved
    if best is not None:
        with mp.workdps(DIGITS):
            theta = np.array(best.theta, dtype=object).reshape(start.shape)
            rows = [[mp.mpf(1), *map(mp.mpf, row)] for row in case.x.tolist()]
            z = [mp.fdot(row, one) for row in rows for one in theta]
            holds = _between(*found, theta) and _between(*found.predict(case.x), z)
    width = float(np.median(found.width[..., 0 if case.intercept else 1 :]))
    return Verdict(problem, model.certificate_.condition, found.proved, holds, width)


def _between(lower: Any, upper: Any, exact: Any) -> bool:
    ends = zip(np.ravel(lower).tolist(), np.ravel(upper).tolist(), np.ravel(exact), strict=True)
    return all(mp.mpf(low) <= value <= mp.mpf(high) for low, high, value in ends)


def verdicts(seed: int, count: int, jobs: int = 1) -> list[Verdict]:
    """Return the verdicts on so many random problems, on several processes."""
    if jobs == 1:
        return [verify(seed, i) for i in range(count)]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(partial(verify, seed), range(count), chunksize=50))
