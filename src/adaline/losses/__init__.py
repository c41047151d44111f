"""Losses: what one row costs, as a function of its output and target. LOSSES lists them by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline.lazy import lazily

if TYPE_CHECKING:
    from adaline.losses.absolute import Absolute, Quantile
    from adaline.losses.base import Likelihood, Loss
    from adaline.losses.composed import Composed
    from adaline.losses.custom import CustomLoss
    from adaline.losses.families import FAMILIES, Binomial, Family, NegativeBinomial, Tweedie
    from adaline.losses.gamma import Gamma
    from adaline.losses.huber import Huber
    from adaline.losses.linked import Linked, Scoring, Working
    from adaline.losses.logistic import Logistic
    from adaline.losses.margins import PerceptronCriterion, SquaredHinge
    from adaline.losses.offset import Offset
    from adaline.losses.poisson import Poisson
    from adaline.losses.registry import LOSSES, loss_of
    from adaline.losses.sigmoid import SigmoidSquared, TanhSquared
    from adaline.losses.softmax import Softmax
    from adaline.losses.squared import Squared
    from adaline.losses.tukey import Tukey

__all__ = [
    "FAMILIES",
    "LOSSES",
    "Absolute",
    "Binomial",
    "Composed",
    "CustomLoss",
    "Family",
    "Gamma",
    "Huber",
    "Likelihood",
    "Linked",
    "Logistic",
    "Loss",
    "NegativeBinomial",
    "Offset",
    "PerceptronCriterion",
    "Poisson",
    "Quantile",
    "Scoring",
    "SigmoidSquared",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "TanhSquared",
    "Tukey",
    "Tweedie",
    "Working",
    "loss_of",
]

__getattr__ = lazily(
    __name__,
    {
        "absolute": "Absolute Quantile",
        "base": "Likelihood Loss",
        "composed": "Composed",
        "custom": "CustomLoss",
        "families": "FAMILIES Binomial Family NegativeBinomial Tweedie",
        "gamma": "Gamma",
        "huber": "Huber",
        "linked": "Linked Scoring Working",
        "logistic": "Logistic",
        "margins": "PerceptronCriterion SquaredHinge",
        "offset": "Offset",
        "poisson": "Poisson",
        "registry": "LOSSES loss_of",
        "sigmoid": "SigmoidSquared TanhSquared",
        "softmax": "Softmax",
        "squared": "Squared",
        "tukey": "Tukey",
    },
)
