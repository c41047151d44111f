"""The registry of losses, and losses and activations by name or as objects, as users give them."""

from __future__ import annotations

from typing import Any

from adaline.activations import ACTIVATIONS, Activation
from adaline.errors import InvalidParameter
from adaline.losses.absolute import Absolute, Quantile
from adaline.losses.base import Loss
from adaline.losses.composed import compose
from adaline.losses.gamma import Gamma
from adaline.losses.huber import Huber
from adaline.losses.logistic import Logistic
from adaline.losses.margins import PerceptronCriterion, SquaredHinge
from adaline.losses.poisson import Poisson
from adaline.losses.sigmoid import SigmoidSquared, TanhSquared
from adaline.losses.softmax import Softmax
from adaline.losses.squared import Squared
from adaline.losses.tukey import Tukey
from adaline.parameters import NONE, AnyOf, Instance, OneOf

LOSSES: dict[str, type[Loss]] = {
    cls.name: cls
    for cls in (
        *(Squared, Logistic, Softmax, Poisson, Gamma, Huber, Tukey, Absolute, Quantile),
        *(PerceptronCriterion, SquaredHinge, SigmoidSquared, TanhSquared),
    )
}
LOSS = AnyOf(OneOf(*LOSSES), Instance(Loss, "a Loss of your own"))
ACTIVATION = AnyOf(NONE, OneOf(*ACTIVATIONS), Instance(Activation, "an Activation of your own"))


def loss_of(loss: Any, activation: Any = None) -> Loss:
    """Return a loss, given by its name or as an object; with an activation g the loss of g(z).

    Examples
    --------
    >>> from adaline.losses import loss_of
    >>> loss_of("huber").name, loss_of("squared", "tanh").name
    ('huber', 'tanh_squared')
    """
    LOSS.check("loss", loss)
    ACTIVATION.check("activation", activation)
    own: Loss = LOSSES[loss]() if isinstance(loss, str) else loss
    if activation is None:
        return own
    if isinstance(activation, str):
        activation = ACTIVATIONS[activation]
    if activation.flat:
        raise InvalidParameter(
            f"activation={activation.name!r} is flat, so that nothing can be learned through it: use tanh or logistic, "
            "or Perceptron, which learns by mistakes"
        )
    if own.coupled and activation.name == own.link:
        return own
    if own.coupled or activation.coupled:
        raise InvalidParameter("softmax couples its outputs: use loss='softmax' and activation=None")
    return compose(own, activation)
