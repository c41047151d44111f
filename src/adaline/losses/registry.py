"""The registry of losses, and losses and activations by name or as objects, as users give them."""

from __future__ import annotations

from typing import Any, Literal

from adaline.activations import ACTIVATIONS, Activation
from adaline.errors import InvalidParameter
from adaline.links import LINK, LINKS, Link
from adaline.losses.absolute import Absolute, Quantile
from adaline.losses.base import Loss
from adaline.losses.composed import compose
from adaline.losses.families import FAMILIES, Family, Tweedie
from adaline.losses.gamma import Gamma
from adaline.losses.huber import Huber
from adaline.losses.linked import Linked
from adaline.losses.logistic import Logistic
from adaline.losses.margins import PerceptronCriterion, SquaredHinge
from adaline.losses.poisson import Poisson
from adaline.losses.sigmoid import SigmoidSquared, TanhSquared
from adaline.losses.softmax import Softmax
from adaline.losses.squared import Squared
from adaline.losses.tukey import Tukey
from adaline.parameters import NONE, AnyOf, Instance, OneOf

_Robust = Literal["huber", "tukey", "absolute", "quantile"]
_OfClasses = Literal["logistic", "softmax", "perceptron", "squared_hinge", "sigmoid_squared", "tanh_squared"]
_OfFamilies = Literal["gaussian", "poisson", "gamma", "inverse_gaussian", "tweedie", "negative_binomial", "binomial"]
LossName = Literal["squared", _OfFamilies, _OfClasses, _Robust]
LOSSES: dict[str, type[Loss]] = {
    cls.name: cls
    for cls in (
        *(Squared, Logistic, Softmax, Poisson, Gamma, Huber, Tukey, Absolute, Quantile),
        *(PerceptronCriterion, SquaredHinge, SigmoidSquared, TanhSquared),
    )
}
LOSS = AnyOf(
    OneOf(*dict.fromkeys([*LOSSES, *FAMILIES])),
    Instance(Family, "a family such as losses.Tweedie(power=1.5)"),
    Instance(Loss, "a Loss of your own"),
)
ACTIVATION = AnyOf(NONE, OneOf(*ACTIVATIONS), Instance(Activation, "an Activation of your own"))
NATIVE: dict[tuple[Family, Link], type[Loss]] = {
    (Tweedie(0), LINKS["identity"]): Squared,
    (Tweedie(1), LINKS["log"]): Poisson,
    (Tweedie(2), LINKS["log"]): Gamma,
}
"""Families with a link that have native kernels."""


def loss_of(loss: Any, activation: Any = None, link: Any = None) -> Loss:
    """Return a loss, given by its name, as a family or as an object; with an activation g the loss of g(z).

    A likelihood takes a link instead, by name or as an object: the mean of t is then its inverse of z.

    Examples
    --------
    >>> from adaline.losses import loss_of
    >>> loss_of("huber").name, loss_of("squared", "tanh").name, loss_of("poisson", link="sqrt").link
    ('huber', 'tanh_squared', Power(exponent=0.5))
    """
    LOSS.check("loss", loss)
    ACTIVATION.check("activation", activation)
    LINK.check("link", link)
    if isinstance(loss, str):
        loss = LOSSES[loss]() if loss in LOSSES else FAMILIES[loss]
    own: Loss = loss_of_family(loss) if isinstance(loss, Family) else loss
    if activation is None:
        return own if link is None else _with_link(own, LINKS[link] if isinstance(link, str) else link)
    if link is not None:
        raise InvalidParameter(
            "link and activation are two ways to the mean: an activation is for least squares through g, a link for "
            "likelihoods. Give one of them."
        )
    if isinstance(activation, str):
        activation = ACTIVATIONS[activation]
    if activation.flat:
        raise InvalidParameter(
            f"activation={activation.name!r} is flat, so that nothing can be learned through it: use tanh or logistic, "
            "or Perceptron, which learns by mistakes"
        )
    if own.coupled and activation.name == own.response:
        return own
    if own.coupled or activation.coupled:
        raise InvalidParameter("softmax couples its outputs: use loss='softmax' and activation=None")
    if own.linked is not None and not isinstance(own, Squared):
        raise InvalidParameter(
            f"loss={own.name!r} has a link of its own, so that activation={activation.name!r} would come on top of it: "
            "choose its link by link=, such as link='identity', and leave activation=None"
        )
    return compose(own, activation)


def loss_of_family(family: Family, link: Link | None = None) -> Loss:
    """Return the loss of a family with a link, its own by default; that of a native kernel where there is."""
    link = family.default_link if link is None else link
    native = NATIVE.get((family, link))
    return Linked(family, link) if native is None else native()


def _with_link(loss: Loss, link: Link) -> Loss:
    if loss.linked is None:
        raise InvalidParameter(
            f"link= is for likelihoods ({', '.join(FAMILIES)}), and loss={loss.name!r} is none: leave link=None"
        )
    return loss_of_family(loss.linked.family, link)
