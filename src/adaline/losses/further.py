"""Third and fourth derivatives of likelihoods by the output: how their curvature moves, which Laplace's method needs.

Tweedie            m^(2-p) / (2-p) - t m^(1-p) / (1-p), powers of the mean;  of power 0  (m - t)^2 / 2
NegativeBinomial   (t + shape) ln(1 + m / shape) - t ln m
Binomial           -successes ln m - failures ln(1 - m)
"""

from __future__ import annotations

from adaline.arrays import Array
from adaline.errors import InvalidParameter
from adaline.links import Further, Link, Power
from adaline.losses.base import Likelihood
from adaline.losses.families import Binomial, Family, NegativeBinomial, Tweedie, counts
from adaline.losses.offset import Offset


def further_derivatives(loss: Likelihood, z: Array, t: Array) -> Further:
    """Return the third and the fourth derivative of the cost of outputs z (n, 1), on the host.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Poisson
    >>> from adaline.losses.further import further_derivatives
    >>> third, fourth = further_derivatives(Poisson().linked, np.array([[0.0]]), np.array([[3.0]]))
    >>> float(third[0, 0]), float(fourth[0, 0])
    (1.0, 1.0)
    """
    if isinstance(loss, Offset):
        return further_derivatives(loss.loss, z + t[:, -loss.columns :], t[:, : -loss.columns])
    family: Family = loss.family
    if isinstance(family, Tweedie):
        return _tweedie(family, loss.link, z, t)
    if isinstance(family, NegativeBinomial):
        return _negative_binomial(family, loss.link, z, t)
    if isinstance(family, Binomial):
        yes, no = counts(z, t)
        return Further(*(-yes * a - no * b for a, b in zip(*loss.link.share_further(z), strict=True)))
    raise InvalidParameter(f"the curvature of {family.name} has no known derivatives: use another family")


def _tweedie(family: Tweedie, link: Link, z: Array, t: Array) -> Further:
    if family.power == 0:
        m, (third, fourth) = link.power(z, 1.0), link.power_further(z, 1.0)
        off = (z if link == Power(1.0) else m.value) - t
        return Further(3.0 * m.slope * m.bend + off * third, 3.0 * m.bend**2 + 4.0 * m.slope * third + off * fourth)
    first, second = (link.power_further(z, k - family.power) for k in (2.0, 1.0))
    return Further(*(a - t * b for a, b in zip(first, second, strict=True)))


def _negative_binomial(family: NegativeBinomial, link: Link, z: Array, t: Array) -> Further:
    """With L = ln m and s = m / (m + shape): the derivatives of s L', of which (t + shape) are added up."""
    m, (_, one, two), (three, four) = link.power(z, 1.0).value, link.power(z, 0.0), link.power_further(z, 0.0)
    s = 1.0 / (1.0 + family.shape / m)
    v, away = s / (1.0 + m / family.shape), 1.0 - 2.0 * s
    slope = v * one
    bend = slope * away * one + v * two
    last = (bend * away - 2.0 * slope**2) * one + 2.0 * slope * away * two + v * three
    third = bend * one + 2.0 * slope * two + s * three
    fourth = last * one + 3.0 * (bend * two + slope * three) + s * four
    n = t + family.shape
    return Further(n * third - t * three, n * fourth - t * four)
