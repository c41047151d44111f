"""Random fits whose certificates are checked: families and links over designs that are hard for float64."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from adaline import GeneralizedLinear, LinearRegression, LogisticRegression, Ridge, Status
from adaline.errors import AdalineError, AdalineWarning
from adaline.fits import linear_machine
from adaline.losses import Huber, NegativeBinomial, Tweedie
from tests.certificates import exact
from tests.certificates.exact import Cost, Jet

Draw = Callable[[np.random.Generator, Any], Any]
NEGLIGIBLE = 2.0**-70  # share of the largest coefficient, columns of equal length, below which one counts as zero
MOST = 17.0  # digits of a coefficient that is right to its last bit
CLAIMING = (Status.SOLVED, Status.ILL_CONDITIONED, Status.FEW_DIGITS)
WELL_CONDITIONED = 1e8


class Family(NamedTuple):
    """A loss with its link, as the package and as the oracle know it.

    `centre` and `spread` are of the outputs that targets are drawn from; `draw` makes targets of them.
    """

    model: Callable[..., Any]
    cost: Cost | None
    draw: Draw
    centre: float = 0.3
    spread: float = 0.7
    convex: bool = True
    classes: int = 1


def _linked(loss: Any, link: str | None) -> Callable[..., Any]:
    return partial(GeneralizedLinear, loss=loss, link=link)


def _counts(mean: Callable[[Any], Any]) -> Draw:
    return lambda rng, z: rng.poisson(mean(z)).astype(float)


def _amounts(mean: Callable[[Any], Any]) -> Draw:
    return lambda rng, z: mean(z) * rng.gamma(4.0, 0.25, len(z)) + 1e-3


def _classes(mean: Callable[[Any], Any]) -> Draw:
    return lambda rng, z: (rng.uniform(size=len(z)) < mean(z)).astype(float)


@dataclass(frozen=True)
class _LeastSquares:
    """Least squares, with a penalty where one is given."""

    penalty: float
    fit_intercept: bool

    def model(self) -> Any:
        if self.penalty:
            return Ridge(penalty=self.penalty, fit_intercept=self.fit_intercept)
        return LinearRegression(fit_intercept=self.fit_intercept)

    def fit(self, x: Any, t: Any, sample_weight: Any = None) -> Any:
        return self.model().fit(x, t, sample_weight=sample_weight)


def _in_three_calls(model: Any, x: Any, t: Any, w: Any) -> Any:
    for rows in np.array_split(np.arange(len(t)), 3):
        model.partial_fit(x[rows], t[rows], sample_weight=None if w is None else w[rows])
    return model


def _row_by_row(model: Any, x: Any, t: Any, w: Any) -> Any:
    for i in range(len(t)):
        model.partial_fit(x[i : i + 1], t[i : i + 1], sample_weight=None if w is None else w[i : i + 1])
    return model


def _merged(model: Any, x: Any, t: Any, w: Any) -> Any:
    first, second = None if w is None else w[:7], None if w is None else w[7:]
    other = clone(model).partial_fit(x[7:], t[7:], sample_weight=second)
    return model.partial_fit(x[:7], t[:7], sample_weight=first).merge(other)


def _forgotten(model: Any, x: Any, t: Any, w: Any) -> Any:
    rows = 3 * x[::-1], 2 * t, None if w is None else w[::-1]
    model.partial_fit(x, t, sample_weight=w).partial_fit(*rows[:2], sample_weight=rows[2])
    return model.forget(*rows)


def _sparse(model: Any, x: Any, t: Any, w: Any) -> Any:
    return _in_three_calls(model, sparse.csr_array(x), t, w)


@dataclass(frozen=True)
class _Sums(_LeastSquares):
    """The same from sums that took in the rows in a way of their own."""

    way: Callable[[Any, Any, Any, Any], Any] = _in_three_calls

    def fit(self, x: Any, t: Any, sample_weight: Any = None) -> Any:
        return self.way(self.model(), x, t, sample_weight)


def _logistic(z: Any) -> Any:
    return 1 / (1 + np.exp(-z))


def _power(k: float) -> Callable[[Jet], Jet]:
    return lambda z: z.power(exact.mpf(k))


def _itself(z: Any) -> Any:
    return z


FAMILIES: dict[str, Family] = {
    "logistic": Family(LogisticRegression, exact.binomial(exact.logit), _classes(_logistic)),
    "softmax": Family(LogisticRegression, None, lambda rng, z: rng.permutation(np.arange(len(z)) % 3.0), classes=3),
    "binomial": Family(_linked("binomial", None), exact.binomial(exact.logit), _classes(_logistic)),
    "probit": Family(_linked("binomial", "probit"), exact.binomial(exact.probit), _classes(_logistic)),
    "cloglog": Family(_linked("binomial", "cloglog"), exact.binomial(exact.cloglog), _classes(_logistic)),
    "binomial log": Family(
        _linked("binomial", "log"),
        exact.binomial(exact.logged),
        lambda rng, z: rng.uniform(0.1, 0.6, len(z)),
        -1.2,
        0.1,
    ),
    "poisson": Family(_linked("poisson", None), exact.tweedie(1, Jet.exp), _counts(np.exp), 1.0),
    "poisson identity": Family(_linked("poisson", "identity"), exact.tweedie(1, _itself), _counts(_itself), 20.0, 1.0),
    "poisson sqrt": Family(_linked("poisson", "sqrt"), exact.tweedie(1, _power(2)), _counts(np.square), 5.0, 0.3),
    "gamma": Family(_linked("gamma", None), exact.tweedie(2, Jet.exp), _amounts(np.exp)),
    "gamma inverse": Family(
        _linked("gamma", "inverse"), exact.tweedie(2, _power(-1)), _amounts(np.reciprocal), 3.0, 0.2
    ),
    "gamma identity": Family(
        _linked("gamma", "identity"), exact.tweedie(2, _itself), _amounts(_itself), 20.0, 0.5, convex=False
    ),
    "inverse gaussian": Family(
        _linked("inverse_gaussian", None), exact.tweedie(3, _power(-0.5)), _amounts(lambda z: z**-0.5), 4.0, 0.2
    ),
    "inverse gaussian log": Family(
        _linked("inverse_gaussian", "log"), exact.tweedie(3, Jet.exp), _amounts(np.exp), convex=False
    ),
    "tweedie": Family(_linked(Tweedie(1.5), None), exact.tweedie(1.5, Jet.exp), _amounts(np.exp)),
    "gaussian log": Family(
        _linked("gaussian", "log"), exact.tweedie(0, Jet.exp), _amounts(np.exp), 1.0, 0.3, convex=False
    ),
    "negative binomial": Family(
        _linked(NegativeBinomial(2.0), None), exact.negative_binomial(2.0, Jet.exp), _counts(np.exp), 1.0
    ),
    "huber": Family(_linked(Huber(0.5), None), exact.huber(0.5), lambda rng, z: z + rng.standard_t(2, len(z))),
    "least squares": Family(_LeastSquares, exact.tweedie(0, _itself), lambda rng, z: z + rng.normal(size=len(z)), 2.0),
    **{
        name: Family(
            partial(_Sums, way=way), exact.tweedie(0, _itself), lambda rng, z: z + rng.normal(size=len(z)), 2.0
        )
        for name, way in {
            "least squares sums": _in_three_calls,
            "sums row by row": _row_by_row,
            "sums merged": _merged,
            "sums after forget": _forgotten,
            "sums of sparse rows": _sparse,
        }.items()
    },
    "squared hinge": Family(
        partial(GeneralizedLinear, loss="squared_hinge"),
        exact.squared_hinge,
        lambda rng, z: np.where(rng.uniform(size=len(z)) < _logistic(z), 1.0, -1.0),
    ),
}


@dataclass(frozen=True)
class Case:
    """One fit: a family, its rows and its settings."""

    family: str
    design: str
    x: Any
    t: Any
    weight: Any
    offset: Any
    penalty: float
    intercept: bool

    def fit(self) -> Any:
        """Return the fitted model, or None where the rows are refused."""
        family = FAMILIES[self.family]
        model = family.model(penalty=self.penalty, fit_intercept=self.intercept)
        given = {} if self.offset is None else {"offset": self.offset}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdalineWarning)
            try:
                return model.fit(self.x, self.t, sample_weight=self.weight, **given)
            except AdalineError:
                return None

    def objective(self) -> exact.Objective:
        """Return what the oracle minimises."""
        n, family = len(self.t), FAMILIES[self.family]
        weight = np.ones(n) if self.weight is None else self.weight
        offset = np.zeros(n) if self.offset is None else self.offset
        rest = (self.penalty, self.intercept, family.cost, family.classes)
        return exact.Objective(self.x, self.t, weight, offset, *rest)


def _plain(rng: np.random.Generator, n: int, d: int) -> Any:
    return rng.normal(size=(n, d))


def _polynomial(rng: np.random.Generator, n: int, d: int) -> Any:
    start = 10.0 ** rng.uniform(0, 2)
    return rng.uniform(start, start + 1, (n, 1)) ** np.arange(1, d + 1)[None, ::-1]


def _near_collinear(rng: np.random.Generator, n: int, d: int) -> Any:
    x = rng.normal(size=(n, d))
    x[:, -1] = x[:, 0] + 10.0 ** -rng.uniform(1, 9) * x[:, -1]
    return x


def _one_row(rng: np.random.Generator, n: int, d: int) -> Any:
    x = rng.normal(size=(n, d))
    x[:, -1] = x[:, 0]
    x[rng.integers(n), -1] += 10.0 ** rng.uniform(-8, 0)
    return x


def _graded_columns(rng: np.random.Generator, n: int, d: int) -> Any:
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-8, 8, d)


def _graded_rows(rng: np.random.Generator, n: int, d: int) -> Any:
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-4, 0, (n, 1))


def _far(rng: np.random.Generator, n: int, d: int) -> Any:
    return rng.normal(size=(n, d)) + 10.0 ** rng.uniform(0, 6, d)


DESIGNS = {
    "plain": _plain,
    "polynomial": _polynomial,
    "near-collinear": _near_collinear,
    "one row": _one_row,
    "graded columns": _graded_columns,
    "graded rows": _graded_rows,
    "far": _far,
}


def draw_case(rng: np.random.Generator, name: str) -> Case:
    """Return a random fit of a family."""
    family = FAMILIES[name]
    design = str(rng.choice(list(DESIGNS)))
    n, d = int(rng.integers(10, 18)), int(rng.integers(2, 5))
    x = DESIGNS[design](rng, n, max(d, 2))
    u = x[:, 0] / (np.abs(x[:, 0] - x[:, 0].mean()).max() or 1.0)
    z = family.centre + family.spread * (u - u.mean() + 0.5 * rng.normal(size=n)).clip(-1.5, 1.5)
    t = family.draw(rng, z)
    weight = 10.0 ** rng.uniform(-4, 4, n) if rng.uniform() < 0.25 else None
    intercept = bool(rng.uniform() < 0.9)
    offset = None
    everywhere = family.centre <= 1 and name not in ("softmax", "logistic", "binomial log")
    if everywhere and rng.uniform() < 0.3:
        size = 10.0 ** rng.uniform(-1, 12)
        offset = (size if intercept else 0.0) + 0.5 * rng.normal(size=n)
        if rng.uniform() < 0.3:
            offset = offset + min(size, 10.0) * u
    penalty = 10.0 ** rng.uniform(-6, 2) if rng.uniform() < 0.4 else 0.0
    return Case(name, design, x, t, weight, offset, penalty, intercept)


class Outcome(NamedTuple):
    """What a certificate claimed, and what was true; NaN where nothing was claimed or known."""

    case: Case
    status: Status
    condition: float
    claimed: float
    true: float
    gap: float
    true_gap: float

    @property
    def over(self) -> float:
        """Digits claimed beyond the truth."""
        return self.claimed - self.true

    @property
    def gap_ratio(self) -> float:
        """By what factor the true gap exceeds the claimed one."""
        if not math.isfinite(self.gap) or math.isnan(self.true_gap):
            return 0.0
        return self.true_gap / self.gap if self.gap > 0 else (math.inf if self.true_gap > 0 else 0.0)


def check(case: Case) -> Outcome | None:
    """Return the claims of one fit beside the truth; None where the rows were refused."""
    model = case.fit()
    if model is None:
        return None
    proof, nan = model.certificate_, math.nan
    theta = np.column_stack([np.atleast_1d(model.intercept_), np.atleast_2d(model.coef_)])
    claims = proof.status in CLAIMING and (proof.digits > 0 or proof.gap < math.inf)
    family = FAMILIES[case.family]
    found = case.objective().minimum(theta, not family.convex) if claims else None
    if found is None:
        return Outcome(case, proof.status, proof.condition, nan, nan, nan, nan)
    best = np.array([float(v) for v in found.theta]).reshape(theta.shape)
    error = np.array([float(abs(a - b)) for a, b in zip(theta.ravel().tolist(), found.theta, strict=True)])
    error = error.reshape(theta.shape)
    length = np.concatenate([[1.0], np.sqrt((case.x**2).mean(axis=0))])
    size = np.abs(best)
    counted = np.maximum(size, error) * length > NEGLIGIBLE * (size * length).max(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        worst = float((error[counted] / size[counted]).max(initial=0.0))
    true = min(-math.log10(worst), MOST) if worst > 0 else MOST
    digits = proof.digits if proof.digits > 0 else nan
    return Outcome(case, proof.status, proof.condition, digits, max(true, 0.0), proof.gap, float(found.gap))


class Tally(NamedTuple):
    """Figures of one family: fits, those that claim digits, gaps, the worst of each, and the median conservatism."""

    family: str
    fits: int
    digits: int
    over: float
    gaps: int
    gap_ratio: float
    conservatism: float


def tally(family: str, outcomes: list[Outcome]) -> Tally:
    """Return the figures of a family."""
    over = [one.over for one in outcomes if not math.isnan(one.over)]
    gaps = [one.gap_ratio for one in outcomes if math.isfinite(one.gap)]
    beyond = [-one.over for one in outcomes if not math.isnan(one.over) and one.condition < WELL_CONDITIONED]
    return Tally(
        family,
        len(outcomes),
        len(over),
        max(over, default=math.nan),
        len(gaps),
        max(gaps, default=math.nan),
        float(np.median(beyond)) if beyond else math.nan,
    )


@contextmanager
def unrefined() -> Iterator[None]:
    """Have likelihoods claim what float64 alone proves, as those of large tables do."""
    before = linear_machine.ALWAYS_REFINED_SIZE, linear_machine.LARGEST_REFINED_SIZE
    linear_machine.ALWAYS_REFINED_SIZE = linear_machine.LARGEST_REFINED_SIZE = 0
    try:
        yield
    finally:
        linear_machine.ALWAYS_REFINED_SIZE, linear_machine.LARGEST_REFINED_SIZE = before


def run(seed: int, fits: int, families: list[str] | None = None, jobs: int = 1) -> list[Outcome]:
    """Return the outcomes of so many fits, the families in turn, on several processes."""
    names = families or list(FAMILIES)
    numbered = [(seed, i, names[i % len(names)]) for i in range(fits)]
    if jobs == 1:
        found = [check_one(one) for one in numbered]
    else:
        with ProcessPoolExecutor(jobs) as pool:
            found = list(pool.map(check_one, numbered, chunksize=20))
    return [outcome for outcome in found if outcome is not None]


def check_one(numbered: tuple[int, int, str]) -> Outcome | None:
    """Return the outcome of fit i of a seed, of a family."""
    seed, i, family = numbered
    return check(draw_case(np.random.default_rng([seed, i]), family))
