"""Losses of rows, by name. Tests, solvers and systems read LOSSES."""

from __future__ import annotations

from adaline.losses.absolute import Absolute, Quantile
from adaline.losses.base import Loss
from adaline.losses.gamma import Gamma
from adaline.losses.huber import Huber
from adaline.losses.logistic import Logistic
from adaline.losses.margins import PerceptronCriterion, SquaredHinge
from adaline.losses.poisson import Poisson
from adaline.losses.sigmoid import SigmoidSquared, TanhSquared
from adaline.losses.softmax import Softmax
from adaline.losses.squared import Squared
from adaline.losses.tukey import Tukey

LOSSES: dict[str, type[Loss]] = {
    cls.name: cls
    for cls in (
        *(Squared, Logistic, Softmax, Poisson, Gamma, Huber, Tukey, Absolute, Quantile),
        *(PerceptronCriterion, SquaredHinge, SigmoidSquared, TanhSquared),
    )
}
