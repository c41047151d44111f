"""Simulations of every kind of interval: data with a known truth, and the 95 % intervals that the package gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline import (
    GeneralizedLinear,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    RobustRegression,
    basis,
    bootstrap,
    effects,
    select,
)
from adaline.estimator import clone

Ends = tuple[Any, Any, Any]
"""Lower ends, upper ends and the truth."""


@dataclass(frozen=True)
class Case:
    """Intervals of one kind on data of one design.

    Parameters
    ----------
    interval, design : what they are, and of which data.
    draw : makes data from a generator, and returns the ends and the truth.
    note : why coverage may be outside 92 to 97 %; empty where it must not be.
    draws : how many data sets `make night` draws.
    """

    interval: str
    design: str
    draw: Callable[[np.random.Generator], Ends]
    note: str = ""
    draws: int = 2000


CASES: list[Case] = []


def case(interval: str, design: str, note: str = "", draws: int = 2000) -> Callable[[Any], Any]:
    """Enter a simulation."""

    def entered(draw: Callable[[np.random.Generator], Ends]) -> Callable[[np.random.Generator], Ends]:
        CASES.append(Case(interval, design, draw, note, draws))
        return draw

    return entered


def coverage(one: Case, draws: int, seed: int = 0) -> tuple[float, float]:
    """Return the share of intervals that contain the truth, and its standard error over data sets."""
    shares = []
    for i in range(draws):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lower, upper, truth = one.draw(np.random.default_rng([seed, i]))
        shares.append(np.mean((lower <= truth) & (truth <= upper)))
    return float(np.mean(shares)), float(np.std(shares, ddof=1) / np.sqrt(draws))


def slopes(table: Any, truth: Any) -> Ends:
    """Return the ends of the slopes in a table of coefficients, and their truth."""
    rows = [row for row in table.to_dict()["coefficients"] if "intercept" not in row["name"]]
    return np.array([row["lower"] for row in rows]), np.array([row["upper"] for row in rows]), np.asarray(truth)


SLOPES = np.array([1.0, -0.5])


def rows(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Return columns, one normal and one skew, and their outputs."""
    x = np.column_stack([rng.normal(size=n), rng.exponential(size=n) - 1])
    return x, x @ SLOPES


# ------------------------------------------------------------------------------------------- least squares


@case("classical", "15 rows, equal normal errors")
def classical(rng: np.random.Generator) -> Ends:
    x, z = rows(rng, 15)
    return slopes(LinearRegression().fit(x, z + rng.normal(size=15)).summary(), SLOPES)


def unequal(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Return rows whose errors grow with |x0|."""
    x, z = rows(rng, n)
    return x, z + rng.normal(size=n) * (0.3 + np.abs(x[:, 0]))


def by_errors(kind: str, n: int) -> Callable[[np.random.Generator], Ends]:
    """Return a simulation of robust intervals where errors grow with |x0|."""

    def draw(rng: np.random.Generator) -> Ends:
        x, y = unequal(rng, n)
        return slopes(LinearRegression().fit(x, y).summary(errors=kind, X=x, y=y), SLOPES)  # type: ignore[arg-type]

    return draw


SMALL = "too short with few rows: use HC3, or studentised bootstrap"
for kind, n, note in (("HC0", 50, SMALL), ("HC3", 50, ""), ("HC3", 200, ""), ("HC4", 50, "")):
    case(kind, f"{n} rows, unequal errors", note)(by_errors(kind, n))


def grouped(rng: np.random.Generator, groups: int) -> tuple[Any, Any, Any]:
    """Return rows in groups, whose errors and columns have a part of the group."""
    label = np.repeat(np.arange(groups), 8)
    x = rng.normal(size=(len(label), 2)) + rng.normal(size=(groups, 2))[label]
    return x, x @ SLOPES + rng.normal(size=len(label)) + rng.normal(size=groups)[label], label


def by_groups(kind: str, groups: int) -> Callable[[np.random.Generator], Ends]:
    """Return a simulation of clustered intervals."""

    def draw(rng: np.random.Generator) -> Ends:
        x, y, label = grouped(rng, groups)
        table = LinearRegression().fit(x, y).summary(errors=kind, X=x, y=y, groups=label)  # type: ignore[arg-type]
        return slopes(table, SLOPES)

    return draw


FEW = "too short with few groups, as in other packages: use the default, CR3"
for kind, n, note in (("cluster", 10, ""), ("cluster", 40, ""), ("CR2", 40, ""), ("CR1", 10, FEW)):
    case(kind, f"{n} groups of 8 rows", note)(by_groups(kind, n))
for n in (6, 10):
    case("wild", f"{n} groups of 8 rows", draws=1000)(by_groups("wild", n))


@case("HAC", "300 rows in order, errors related over 5 rows", "too short, as always with estimated lags")
def related(rng: np.random.Generator) -> Ends:
    x, _ = rows(rng, 304)
    x[:, 0] = np.convolve(x[:, 0], np.ones(5) / 2, "same")
    y = x @ SLOPES + np.convolve(rng.normal(size=304), np.ones(5) / 2, "same")
    return slopes(LinearRegression().fit(x, y).summary(errors="HAC", X=x, y=y), SLOPES)


# ------------------------------------------------------------------------------------------- predictions

NEW = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 2.0]])


@case("mean", "30 rows, equal normal errors")
def mean(rng: np.random.Generator) -> Ends:
    x, z = rows(rng, 30)
    found = LinearRegression().fit(x, z + rng.normal(size=30)).predict(NEW, interval="confidence")
    return found.lower, found.upper, NEW @ SLOPES


@case("prediction", "30 rows, equal normal errors")
def prediction(rng: np.random.Generator) -> Ends:
    x, z = rows(rng, 30)
    found = LinearRegression().fit(x, z + rng.normal(size=30)).predict(NEW, interval="prediction")
    return found.lower, found.upper, NEW @ SLOPES + rng.normal(size=len(NEW))


@case("conformal, jackknife+", "60 rows, skew, unequal errors; new rows alike")
def jackknife(rng: np.random.Generator) -> Ends:
    x, z = rows(rng, 160)
    y = z + rng.exponential(0.3 + np.abs(x[:, 0]))
    found = LinearRegression().fit(x[:60], y[:60]).predict(x[60:], interval="conformal")
    return found.lower, found.upper, y[60:]


@case("conformal, CV+", "100 rows, counts with more variance than Poisson", draws=300)
def cross_validated(rng: np.random.Generator) -> Ends:
    x, z = rows(rng, 200)
    y = rng.poisson(np.exp(1 + 0.4 * z) * rng.gamma(3, 1 / 3, 200)).astype(float)
    found = GeneralizedLinear("poisson").fit(x[:100], y[:100]).predict(x[100:], interval="conformal")
    return found.lower, found.upper, y[100:]


# ------------------------------------------------------------------------------------------- likelihoods


def labels(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Return rows with labels of two classes."""
    x, z = rows(rng, n)
    return x, (rng.uniform(size=n) < 1 / (1 + np.exp(-z))).astype(int)


@case("Wald, logistic", "150 rows", draws=1000)
def wald(rng: np.random.Generator) -> Ends:
    x, y = labels(rng, 150)
    return slopes(LogisticRegression().fit(x, y).summary(), SLOPES)


@case("profile, logistic", "60 rows", draws=500)
def profile(rng: np.random.Generator) -> Ends:
    x, y = labels(rng, 60)
    return slopes(LogisticRegression().fit(x, y).summary(interval="profile", X=x, y=y), SLOPES)


@case("Wald, softmax", "200 rows of 3 classes", draws=500)
def softmax(rng: np.random.Generator) -> Ends:
    x, z = rows(rng, 200)
    gumbel = rng.gumbel(size=(200, 3)) + np.column_stack([0 * z, z, -0.5 * z])
    table = LogisticRegression().fit(x, gumbel.argmax(axis=1)).summary()
    return slopes(table, np.concatenate([SLOPES, -0.5 * SLOPES]))


@case("Wald, ordered classes", "150 rows of 4 classes", draws=300)
def ordered(rng: np.random.Generator) -> Ends:
    x, z = rows(rng, 150)
    y = np.searchsorted([-1.0, 0.0, 1.0], z + rng.logistic(size=150))
    table = OrdinalRegression().fit(x, y).summary().to_dict()["coefficients"]
    own = [row for row in table if row["name"] in ("x0", "x1")]
    return np.array([row["lower"] for row in own]), np.array([row["upper"] for row in own]), SLOPES


def of_family(name: str, n: int, interval: str) -> Callable[[np.random.Generator], Ends]:
    """Return a simulation of a family with the logarithm as link."""

    def draw(rng: np.random.Generator) -> Ends:
        x, z = rows(rng, n)
        mean = np.exp(1 + 0.5 * z)
        y: Any = rng.poisson(mean) if name == "poisson" else rng.gamma(2, mean / 2)
        y = rng.poisson(rng.gamma(2, mean / 2)) if name == "negative_binomial" else y
        model = GeneralizedLinear(name, link="log").fit(x, y)  # type: ignore[arg-type]
        given = {"interval": interval, "X": x, "y": y} if interval == "profile" else {}
        return slopes(model.summary(**given), 0.5 * SLOPES)  # type: ignore[arg-type]

    return draw


for name, n, interval in (
    ("poisson", 50, "Wald"),
    ("gamma", 50, "Wald"),
    ("gamma", 20, "profile"),
    ("negative_binomial", 200, "Wald"),
):
    case(f"{interval}, {name.replace('_', ' ')}", f"{n} rows", draws=300 if interval == "profile" else 500)(
        of_family(name, n, interval)
    )


@case("marginal effects", "logistic, 150 rows", draws=500)
def marginal(rng: np.random.Generator) -> Ends:
    x, y = labels(rng, 150)
    known = 1 / (1 + np.exp(-x @ SLOPES))
    found = effects(LogisticRegression().fit(x, y), x).to_dict()["effects"]
    truth = (known * (1 - known)).mean() * SLOPES
    return np.array([row["lower"] for row in found]), np.array([row["upper"] for row in found]), truth


@case("Huber's M-estimate", "60 rows, errors of Student's t with 2 degrees of freedom")
def huber(rng: np.random.Generator) -> Ends:
    x, z = rows(rng, 60)
    return slopes(RobustRegression().fit(x, z + rng.standard_t(2, size=60)).summary(), SLOPES)


Noise = Callable[[np.random.Generator, Any], Any]
NOISES: dict[str, Noise] = {
    "normal errors": lambda rng, x: rng.normal(size=len(x)),
    "errors that grow with |x|": lambda rng, x: rng.normal(size=len(x)) * (0.2 + np.abs(x)),
    "errors that grow with x^2": lambda rng, x: rng.normal(size=len(x)) * (0.5 + 0.5 * x**2),
    "heavy-tailed errors, t(2)": lambda rng, x: rng.standard_t(2, size=len(x)),
    "skew errors, exponential": lambda rng, x: rng.exponential(size=len(x)),
}


def of_quantile(level: float, n: int, noise: Noise, errors: str) -> Callable[[np.random.Generator], Ends]:
    """Return a simulation of intervals of a quantile's slopes, which are those of the mean in all of these designs.

    Where errors grow with |x| or x^2, the quantile is no plane. Its best plane has the slopes of the mean, as x is
    symmetric and the other column independent of the errors.
    """

    def draw(rng: np.random.Generator) -> Ends:
        x, z = rows(rng, n)
        model = RobustRegression(loss="quantile", quantile=level).fit(x, z + noise(rng, x[:, 0]))
        return slopes(model.summary(errors=errors), SLOPES)  # type: ignore[arg-type]

    return draw


for design, noise in NOISES.items():
    for n in (200, 1000):
        for level in (0.1, 0.5, 0.9):
            drawing = of_quantile(level, n, noise, "smoothed")
            case(f"quantile {level}", f"{n} rows, {design}", draws=400)(drawing)
            if n == 200 and "grow" not in design:
                case(f"iid, quantile {level}", f"{n} rows, {design}", draws=400)(of_quantile(level, n, noise, "iid"))


# ------------------------------------------------------------------------------------------- the bootstrap


def drawn(interval: str, method: str, n: int) -> Callable[[np.random.Generator], Ends]:
    """Return a simulation of bootstrap intervals where errors are skew and grow with |x0|."""

    def draw(rng: np.random.Generator) -> Ends:
        x, z = rows(rng, n)
        y = z + (rng.exponential(size=n) - 1) * (0.3 + np.abs(x[:, 0]))
        found = bootstrap(LinearRegression().fit(x, y), x, y, method=method, interval=interval)  # type: ignore[arg-type]
        return (*found.ends()[:, 1:], SLOPES)

    return draw


SHORT = "too short with few rows: use 'studentised'"
for interval, method, n, note in (
    ("bca", "pairs", 60, SHORT),
    ("percentile", "pairs", 60, SHORT),
    ("studentised", "pairs", 60, ""),
    ("studentised", "wild", 60, ""),
    ("bca", "pairs", 300, ""),
):
    what = f"bootstrap, {interval}" + (", wild" if method == "wild" else "")
    case(what, f"{n} rows, skew, unequal errors", note, draws=1000)(drawn(interval, method, n))


@case("bootstrap, studentised", "30 groups of 8 rows", draws=500)
def groups_drawn(rng: np.random.Generator) -> Ends:
    x, y, label = grouped(rng, 30)
    found = bootstrap(LinearRegression().fit(x, y), x, y, groups=label, interval="studentised")
    return (*found.ends()[:, 1:], SLOPES)


@case("bootstrap, bca", "logistic, 150 rows", draws=200)
def labels_drawn(rng: np.random.Generator) -> Ends:
    x, y = labels(rng, 150)
    return (*bootstrap(LogisticRegression().fit(x, y), x, y).ends()[:, 1:], SLOPES)


CHOICE = np.linspace(-1, 1, 9)[:, None]
POWERS = [basis.Polynomial(degree) for degree in range(1, 5)]


def curve(x: Any) -> Any:
    """Return the mean of rows whose curvature is hard to see."""
    return x[:, 0] + 0.6 * x[:, 0] ** 2 - 0.5 * x[:, 0] ** 3


def chosen(rng: np.random.Generator, how: str) -> Ends:
    """Return intervals of the mean after the choice of a degree: of the model chosen, of choices repeated, or split.

    Split, half of the rows choose and the others are fitted; the truth is then the best curve of the degree chosen.
    """
    x = rng.uniform(-1.2, 1.2, (60, 1))
    y = curve(x) + rng.normal(size=60)
    choosing = slice(30) if how == "split" else slice(None)
    found = select(LinearRegression(), x[choosing], y[choosing], basis=POWERS, method="gcv")
    if how == "repeated":
        ends = bootstrap(found, x, y, replicates=60).predict(CHOICE)
    elif how == "given":
        ends = found.best.predict(CHOICE, interval="confidence")
    else:
        ends = clone(found.best).fit(x[30:], y[30:]).predict(CHOICE, interval="confidence")
        many = np.linspace(-1.2, 1.2, 500)[:, None]
        return ends.lower, ends.upper, clone(found.best).fit(many, curve(many)).predict(CHOICE)
    return ends.lower, ends.upper, curve(CHOICE)


@case("mean after a choice", "60 rows, degree of a polynomial by GCV", "takes the choice as given", draws=500)
def choice_given(rng: np.random.Generator) -> Ends:
    return chosen(rng, "given")


@case("mean after a choice by other rows", "30 rows choose the degree, 30 are fitted", draws=500)
def choice_split(rng: np.random.Generator) -> Ends:
    return chosen(rng, "split")


@case("bootstrap of the choice", "60 rows, degree of a polynomial by GCV", draws=60)
def choice_repeated(rng: np.random.Generator) -> Ends:
    return chosen(rng, "repeated")
