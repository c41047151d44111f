"""Simulated coefficients and answers of a fitted model.

    theta ~ normal(estimate, Cov),   answer ~ the distribution of the family about the mean at theta

The first is what the estimate would be in other samples, up to the usual approximation, the second the spread of single
answers; together they are predictive draws. A dispersion or a shape that was estimated counts as known.

G. King, M. Tomz and J. Wittenberg, American J. Political Science 44 (2000), 347-361; A. Gelman and J. Hill, Data
Analysis Using Regression (2006), chapter 7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from adaline.arrays import AnyArray, Array, OffsetsLike, RowsLike
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.fitted import AnyModel
from adaline.inference.effects import Designs, MeanModel, mean_model_of
from adaline.input import generator
from adaline.input.coded import offset_of
from adaline.input.open import read_offset
from adaline.losses import Tweedie
from adaline.parameters import COUNT, one_of
from adaline.solvers.smooth.likelihood import LikelihoodFit

CoefficientDraws = Literal["drawn", "fitted"]
RandomState = int | np.random.Generator | None
LARGEST_COUNT = 1e15  # mean beyond which counts are not drawn: NumPy's generators end at 2^63


def simulate(
    model: AnyModel,
    X: RowsLike,
    draws: int = 1000,
    coefficients: CoefficientDraws = "drawn",
    offset: OffsetsLike = None,
    exposure: OffsetsLike = None,
    random_state: RandomState = 0,
) -> AnyArray:
    """Return simulated answers of rows, (draws, n), of several targets (draws, n, K); labels of a classifier.

    Each draw takes coefficients from the normal distribution of the estimate, and then an answer for each row from the
    distribution of the family: normal, poisson, gamma, negative binomial, inverse gaussian, Tweedie's, a class by its
    probability. Quantiles of the draws of a row are a prediction interval; of any function of the answers, such as a
    total, the interval of that. Other standard errors: `model.with_errors("HC3", X, y).simulate(X)`.

    Parameters
    ----------
    model : fitted LinearRegression, Ridge, LogisticRegression, GeneralizedLinear or OrdinalRegression
    X : array, frame (n, D) or table
        Rows to answer for, as for `predict`.
    draws : int
    coefficients : "drawn" or "fitted"
        "fitted" are the coefficients of the model in all draws, as in R's `simulate`: the spread of answers alone.
    offset, exposure : (n,)
        Those of the rows, where the model was fitted with one.
    random_state : int, generator or None
        Where draws come from.

    Examples
    --------
    >>> from adaline import GeneralizedLinear, simulate
    >>> model = GeneralizedLinear("poisson").fit([[0.0], [1.0], [2.0], [3.0]], [1, 3, 4, 8])
    >>> simulate(model, [[1.0], [2.0]], draws=3).tolist()
    [[5.0, 3.0], [3.0, 1.0], [3.0, 6.0]]

    References
    ----------
    G. King, M. Tomz and J. Wittenberg (2000); A. Gelman and J. Hill (2006), chapter 7. One read of the rows.
    """
    distributions = "LinearRegression, LogisticRegression, GeneralizedLinear or OrdinalRegression"
    known = mean_model_of(model, "simulate", "answers have a known distribution", distributions)
    return simulated(known, model, X, draws, coefficients, offset, exposure, random_state)


def simulated(
    known: MeanModel,
    model: AnyModel,
    X: RowsLike,
    draws: int,
    coefficients: CoefficientDraws,
    offset: OffsetsLike,
    exposure: OffsetsLike,
    random_state: RandomState,
) -> AnyArray:
    """Return the answers of a model whose mean and errors are `known`; other arguments are those of `simulate`."""
    COUNT.check("draws", draws)
    one_of(CoefficientDraws).check("coefficients", coefficients)
    if known.answers is None:
        raise InvalidParameter(f"simulate: {type(model).__name__} has no distribution of its answers: use draws()")
    rows = Designs(model, X)
    shift = read_offset(offset, exposure, rows.count, len(known.theta))
    shift = offset_of(model, X) if shift is None else shift
    if shift is None and getattr(model, "_with_offset", None):
        raise InvalidParameter("this model was fitted with an offset: give that of these rows, as offset= or exposure=")
    shift = np.zeros((rows.count, 1)) if shift is None else shift.reshape(rows.count, -1)
    random, out = generator(random_state), []
    fitted = np.broadcast_to(known.theta, (draws, *known.theta.shape))
    for theta in drawn(known, draws, random) if coefficients == "drawn" else fitted:
        z = rows.design @ theta[:, 1:].T + theta[:, 0] + shift
        out.append(known.answers(known.mean(z, np.zeros_like(z))[0], random))
    found = np.stack(out)
    return found[:, :, 0] if found.ndim == 3 and found.shape[2] == 1 else found


def coefficient_draws(known: MeanModel, draws: int, random_state: RandomState) -> Array:
    """Return draws of the coefficients, (draws, 1 + D), intercept first, of several outputs (draws, K, 1 + D)."""
    COUNT.check("draws", draws)
    found = drawn(known, draws, generator(random_state))
    return found[:, 0] if found.shape[1] == 1 else found


def drawn(known: MeanModel, draws: int, random: np.random.Generator) -> Array:
    """Return draws (draws, K, 1 + D) of the normal distribution of the estimate; refuse errors that are unknown."""
    if not np.isfinite(known.root).all():
        raise SumsMissing(
            f"no draws: {known.notes[0]}" if known.notes else "no draws: the standard errors are not known"
        )
    return np.asarray(
        known.theta + np.einsum("sm,kjm->skj", random.normal(size=(draws, known.root.shape[2])), known.root)
    )


@dataclass(frozen=True)
class NormalAnswers:
    """Answers of several targets about their means, with standard deviations (K,)."""

    deviation: Array

    def __call__(self, mean: Array, random: np.random.Generator) -> Array:
        """Return answers (n, K)."""
        return np.asarray(random.normal(mean, self.deviation))


@dataclass(frozen=True)
class ClassAnswers:
    """Labels drawn by the probabilities of classes, of two classes by that of the second."""

    classes: Array

    def __call__(self, mean: Array, random: np.random.Generator) -> Array:
        """Return labels (n,)."""
        p = np.column_stack([1.0 - mean, mean]) if mean.shape[1] == 1 else np.maximum(mean, 0.0)
        below = np.cumsum(p, axis=1)
        place = (random.uniform(size=(len(p), 1)) * below[:, -1:] >= below).sum(axis=1)
        return np.asarray(self.classes[np.minimum(place, len(self.classes) - 1)])


@dataclass(frozen=True)
class FamilyAnswers:
    """Answers of fits of one family, each about its own mean."""

    fits: Sequence[LikelihoodFit]

    def __call__(self, mean: Array, random: np.random.Generator) -> Array:
        """Return answers (n, K)."""
        each = zip(self.fits, mean.T, strict=True)
        return np.column_stack([family_draw(fit)(own, random) for fit, own in each])


def family_draw(fit: LikelihoodFit) -> Callable[[Array, np.random.Generator], Array]:
    """Return the function that draws answers of a family about means (n,)."""
    family = fit.family
    assert family is not None
    phi, name, shape, power = family.dispersion, family.family, family.shape, family.power
    if name in ("poisson", "binomial", "negative_binomial") and (family.estimated or phi != 1):
        raise InvalidParameter(
            f"{name} answers whose dispersion is estimated have no distribution: use loss='negative_binomial', or "
            "dispersion=1"
        )
    if name == "gaussian":
        return lambda mean, random: random.normal(mean, np.sqrt(phi))
    if name == "gamma":
        return lambda mean, random: random.gamma(1 / phi, phi * mean)
    if name == "inverse_gaussian":
        return lambda mean, random: random.wald(mean, 1 / phi)
    if name == "poisson":
        return lambda mean, random: random.poisson(countable(mean)).astype(np.float64)
    if name == "binomial":
        return lambda mean, random: (random.uniform(size=len(mean)) < mean).astype(np.float64)
    if name == "negative_binomial":
        return lambda mean, random: random.poisson(countable(random.gamma(shape, mean / shape))).astype(np.float64)
    if Tweedie(power).compound:
        return lambda mean, random: compound(mean, phi, power, random)
    raise InvalidParameter(f"simulate has no answers of {name} with power {power:g}: use a power up to 2, or 3")


def compound(mean: Array, phi: float, p: float, random: np.random.Generator) -> Array:
    """Return sums of a poisson number of gamma amounts, with variance phi mean^p."""
    number = random.poisson(countable(mean ** (2 - p) / (phi * (2 - p))))
    amount = random.gamma(np.maximum(number, 1) * (2 - p) / (p - 1), phi * (p - 1) * mean ** (p - 1))
    return np.where(number > 0, amount, 0.0)


def countable(mean: Array) -> Array:
    """Return means of counts; refuse those that are too large to draw from."""
    if not (mean <= LARGEST_COUNT).all():
        row = int(np.argmax(~(mean <= LARGEST_COUNT)))
        raise InvalidData(f"simulate: the mean of row {row} is {mean[row]:g}, which no count is drawn for")
    return mean
