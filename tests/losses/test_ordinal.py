"""The terms of ordered classes against arbitrary precision, in both tails and where thresholds nearly meet."""

from __future__ import annotations

from itertools import product

import mpmath as mp
import numpy as np
import pytest

from adaline.losses.ordinal import CUMULATIVE_LINKS, Ordinal

ENDS = {
    "logit": (-300.0, -30.0, -3.0, 0.2, 9.0, 300.0),
    "probit": (-300.0, -30.0, -8.5, -3.0, 0.0, 0.2, 6.0, 30.0, 300.0),
    "cloglog": (-799.8, -300.0, -30.0, -3.0, 0.2, 1.0, 5.0),
}
WIDTHS = (1e-9, 1e-3, 0.2, 1.0, 4.0, 40.0, 800.0)
FUNCTIONS = {
    "logit": (lambda z: 1 / (1 + mp.exp(-z)), lambda z: mp.exp(-z) / (1 + mp.exp(-z)) ** 2),
    "probit": (mp.ncdf, mp.npdf),
    "cloglog": (lambda z: -mp.expm1(-mp.exp(z)), lambda z: mp.exp(z - mp.exp(z))),
}
SLOPES = {  # g'' / g'
    "logit": lambda z: (1 - mp.exp(z)) / (1 + mp.exp(z)),
    "probit": lambda z: -z,
    "cloglog": lambda z: 1 - mp.exp(z),
}


def _exact(link: str, a: float, b: float) -> list[mp.mpf]:
    """Return value, derivatives by a and b, those of their sum, and the mixed one."""
    g, density = FUNCTIONS[link]
    top, bottom = (mp.mpf(x) if np.isfinite(x) else None for x in (a, b))
    if link == "probit" and bottom is not None and bottom > 0:
        p = mp.ncdf(-bottom) - (0 if top is None else mp.ncdf(-top))
    else:
        p = (1 if top is None else g(top)) - (0 if bottom is None else g(bottom))
    at_a, at_b = (mp.mpf(0) if x is None else density(x) / p for x in (top, bottom))
    slope_a, slope_b = (mp.mpf(0) if x is None else SLOPES[link](x) for x in (top, bottom))
    by_a, by_b = at_a * (at_a - at_b - slope_a), at_b * (at_b - at_a + slope_b)
    return [-mp.log(p), -at_a, at_b, by_a, by_b, -at_a * at_b]


@pytest.mark.parametrize("link", CUMULATIVE_LINKS)
def test_terms_are_exact_in_the_tails_and_between_thresholds_that_nearly_meet(link: str) -> None:
    cases = [(b + width, b) for b, width in product(ENDS[link], WIDTHS) if link != "cloglog" or b + width < 6]
    cases += [(np.inf, b) for b in ENDS[link]] + [(b, -np.inf) for b in ENDS[link]]
    a, b = np.array(cases).T
    found = CUMULATIVE_LINKS[link].terms(a, b, a - b, np.arange(len(a)))
    with mp.workdps(400):
        for i, (upper, lower) in enumerate(cases):
            for name, exact, terms in zip(found._fields, _exact(link, upper, lower), found, strict=True):
                if abs(exact) > 1e-290:
                    off = float(abs(mp.mpf(float(terms[i])) / exact - 1))
                    assert off < 1e-13, f"{name} of {link} from {lower} to {upper} is off by {off}"
                else:
                    assert abs(terms[i]) < 1e-250


def test_the_loss_of_z_and_its_derivatives() -> None:
    z, t = np.linspace(-2, 2, 9)[:, None], np.tile([0.0, 1.0, 2.0], 3)[:, None]
    for link in CUMULATIVE_LINKS.values():
        loss = Ordinal(link, np.array([-0.5, 0.75]))
        step = 1e-5
        slope = (loss.value(z + step, t) - loss.value(z - step, t)) / (2 * step)
        curvature = (loss.slope(z + step, t) - loss.slope(z - step, t)) / (2 * step)
        np.testing.assert_allclose(loss.slope(z, t), slope, atol=1e-9)
        np.testing.assert_allclose(loss.curvature(z, t), curvature, atol=1e-9)
        np.testing.assert_allclose(np.exp(loss.log_probabilities(z[:, 0])).sum(axis=1), 1.0)
        np.testing.assert_allclose(link.link.mean(link.link.quantile(np.array([0.1, 0.9]))), [0.1, 0.9])
