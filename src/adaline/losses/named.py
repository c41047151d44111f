"""Losses and activations as users ask for them: by name, or as objects."""

from __future__ import annotations

from typing import Any

from adaline.activations import ACTIVATIONS, Activation
from adaline.errors import InvalidParameter
from adaline.losses.base import Loss
from adaline.losses.composed import through
from adaline.losses.registry import LOSSES
from adaline.parameters import NONE, AnyOf, Instance, OneOf

LOSS = AnyOf(OneOf(*LOSSES), Instance(Loss, "a Loss of your own"))
ACTIVATION = AnyOf(NONE, OneOf(*ACTIVATIONS), Instance(Activation, "an Activation of your own"))


def loss_of(loss: Any, activation: Any = None) -> Loss:
    """Return a loss by its name, or as given; with an activation the loss of what that makes of the output.

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
    return through(own, activation)
