"""The laws of a loss of rows, for every registered loss and for one of a user's own."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from adaline import kernels
from adaline.block import Block, Shape
from adaline.errors import InvalidData, InvalidParameter
from adaline.links import LINKS, Power, name_of
from adaline.losses import FAMILIES, LOSSES, CustomLoss, Huber, Linked, Loss, NegativeBinomial, Quantile, Tukey, Tweedie
from adaline.losses.ordinal import CUMULATIVE_LINKS, Ordinal
from adaline.sums import HessianProduct, Objective, Point, View
from adaline.twofold import Twofold
from tests.turns import needs_native

OWN = CustomLoss(lambda z, t: np.log(np.cosh(z - t)), lambda z, t: np.tanh(z - t), lambda z, t: 1 / np.cosh(z - t) ** 2)
LINKED: tuple[Loss, ...] = tuple(
    Linked(family, link)
    for family in (
        *(one for one in FAMILIES.values() if one.name != "negative_binomial"),
        *(Tweedie(2.5), NegativeBinomial(1.0), NegativeBinomial(0.3), NegativeBinomial(1e12)),
    )
    for link in (*(LINKS[name] for name in family.links), *([] if "logit" in family.links else [Power(-0.7)]))
)
ALL: tuple[Loss, ...] = (*(cls() for cls in LOSSES.values()), Huber(0.4), Tukey(1.5), Quantile(0.9), OWN, *LINKED)


def shown(loss: Loss) -> str:
    return f"{loss.name}-{name_of(loss.link)}" if isinstance(loss, Linked) else f"{loss.name}-{loss.parameter:g}"


def every_loss(law: Any) -> Any:
    return pytest.mark.every(pytest.mark.parametrize("loss", ALL, ids=shown)(law))


every_linked = pytest.mark.parametrize("loss", LINKED, ids=shown)

OUTPUTS = 4
STEP = 1e-5

# targets that each loss takes, and some that it does not
SIGNS = ([-1.0, 1.0], [0.0])
SHARES = ([0.0, 1.0, 0.25], [-0.1, 1.1, np.nan])
COUNTS = ([0.0, 1.0, 7.5], [-1.0, np.nan])
TAKES: dict[str, tuple[list[float], list[float]]] = {
    **{
        "logistic": SHARES,
        "binomial": SHARES,
        "sigmoid_squared": (SHARES[0], []),
        "softmax": ([0.0, 1.0, 2.0, 3.0], []),
    },
    **{"poisson": COUNTS, "negative_binomial": COUNTS, "tweedie": ([0.0, 1e-3, 1.0, 7.5], COUNTS[1])},
    **{"gamma": ([1e-3, 1.0, 7.5], [0.0, -1.0, np.nan]), "inverse_gaussian": ([0.1, 1.0, 7.5], [0.0, -1.0, np.nan])},
    **{"perceptron": SIGNS, "squared_hinge": SIGNS, "tanh_squared": (SIGNS[0], [])},
}
ANY: tuple[list[float], list[float]] = ([-2.0, 0.0, 0.7, 3.0], [])


def taken(loss: Loss) -> Any:
    """Return targets that a loss takes."""
    good = np.array(TAKES.get(loss.name, ANY)[0])
    return good[loss.family.good(good[:, None])[0][:, 0]] if isinstance(loss, Linked) else good


def rows(loss: Loss, n: int = 400) -> tuple[Any, Any]:
    """Return outputs and targets, away from the corners of the loss."""
    rng = np.random.default_rng(3)
    z = inside(loss, rng.normal(size=(n, OUTPUTS)) * 2)
    t = rng.choice(taken(loss), size=(n, 1 if loss.coupled else OUTPUTS))
    corner = {
        **dict.fromkeys(("absolute", "quantile"), z - t),
        **dict.fromkeys(("huber", "tukey"), np.abs(z - t) - loss.parameter),
        **{"perceptron": t * z, "squared_hinge": 1 - t * z},
    }.get(loss.name, np.ones(z.shape))
    smooth = (np.abs(corner) > 1e-3).all(axis=1)
    assert smooth.sum() > n / 2
    return z[smooth], t[smooth]


def inside(loss: Loss, z: Any) -> Any:
    """Return outputs that give means, from any numbers."""
    if not isinstance(loss, Linked) or loss.family.inside(loss.link, z).all():
        return z
    if name_of(loss.link) == "log":
        return -np.abs(z) - 0.5
    low = 0.3 if loss.name == "binomial" else 1.0
    return low + 0.4 * special.ndtr(z)


def along(f: Any, z: Any, t: Any, direction: Any) -> Any:
    """Return the derivative of f along a direction, to eight digits."""
    return (f(z + STEP * direction, t) - f(z - STEP * direction, t)) / (2 * STEP)


@every_loss
def test_slope_curvature_and_product_are_derivatives(loss: Loss) -> None:
    z, t = rows(loss)
    slope, curvature, q = loss.slope(z, t), loss.curvature(z, t), np.random.default_rng(1).normal(size=z.shape)
    assert slope.shape == curvature.shape == z.shape
    assert loss.value(z, t).shape == (len(z), 1 if loss.coupled else OUTPUTS)
    for k in range(OUTPUTS):
        found = along(loss.value, z, t, np.eye(OUTPUTS)[k])
        np.testing.assert_allclose(found[:, 0 if loss.coupled else k], slope[:, k], rtol=1e-7, atol=1e-7)
        found = along(loss.slope, z, t, np.eye(OUTPUTS)[k])
        np.testing.assert_allclose(found[:, k], curvature[:, k], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(loss.product(z, t, q), along(loss.slope, z, t, q), rtol=1e-6, atol=1e-6)
    together = loss.coupling(z, t, np.ones((len(z), 1))) @ q[0]
    np.testing.assert_allclose(together, loss.product(z, t, q[:1]).sum(axis=0), rtol=1e-9, atol=1e-9)


@every_loss
def test_slopes_in_double_double_hold_what_they_promise(loss: Loss) -> None:
    """Against slopes at two nearby outputs whose difference the curvature gives, and at a second part of nothing."""
    z, t = rows(loss, 60)
    if loss.corners:
        return
    slope, bent = loss.slope(z, t), np.abs(loss.curvature(z, t))
    plain = loss.slope_twofold(Twofold(z, 0.0 * z), t)
    size = (1 + np.abs(z)) * (np.abs(slope) + (1 + np.abs(z)) * bent)
    assert (np.abs(plain.hi - slope) <= 2.0**-48 * size + 2.0**-51 * loss.coupled + 1e-200).all()
    assert (np.abs(plain.lo) <= 2.0**-52 * np.maximum(np.abs(plain.hi), size * 2.0**-52)).all()
    moved = loss.slope_twofold(Twofold(z, z * 2.0**-54), t) - plain
    change = loss.product(z, t, z * 2.0**-54)
    np.testing.assert_allclose(moved.hi, change, rtol=1e-3, atol=2.0**-90 * size.max())


@every_loss
def test_bounds_of_the_curvature_hold(loss: Loss) -> None:
    z, t = rows(loss)
    curvature = loss.curvature(z, t)
    assert curvature.max() <= loss.steepest * (1 + 1e-12)
    if loss.convex:
        assert curvature.min() >= 0
    elif loss.kernel is not None:
        assert curvature.min() < 0
    if np.isfinite(loss.concordance):
        for k in range(OUTPUTS):
            change = np.abs(along(loss.curvature, z, t, np.eye(OUTPUTS)[k])[:, k])
            assert (change <= loss.concordance * curvature[:, k] * (1 + 1e-6) + 1e-8).all()


@every_loss
def test_the_constant_predicts_the_mean(loss: Loss) -> None:
    if loss.name == "perceptron":  # its best constant is zero, or any other
        assert loss.constant(np.array([0.5])) == 0
        return
    mean = np.array([0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(loss.mean(loss.constant(mean)[None])[0], mean, rtol=1e-12)


@every_loss
def test_large_outputs_do_not_overflow(loss: Loss) -> None:
    far = {"poisson": [-800.0], "gamma": [800.0]}.get(loss.name, [-800.0, 800.0])
    if isinstance(loss, Linked):
        far = [z for z in (-300.0, 30.0) if loss.family.inside(loss.link, np.array(z))]
    if loss is OWN:
        return  # a user's formula is the user's
    for t in taken(loss):
        for z in far:
            outputs = inside(loss, np.full((1, OUTPUTS), 1.0))
            outputs[0, 0] = z
            target = np.full((1, 1 if loss.coupled else OUTPUTS), t)
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                parts = [f(outputs, target) for f in (loss.value, loss.slope, loss.curvature)]
            assert all(np.isfinite(part).all() for part in parts)
            assert_native(loss, outputs, target)


@every_loss
def test_targets_are_checked(loss: Loss) -> None:
    good, bad = taken(loss), TAKES.get(loss.name, ANY)[1]
    loss.check(good[:, None])
    for one in bad:
        with pytest.raises(InvalidData, match="row 1"):
            loss.check(np.array([[good[-1]], [one]]))


@pytest.mark.parametrize("shape", [True, 0, -1.0, np.inf, np.nan, "two", None])
def test_what_is_no_shape_of_a_negative_binomial(shape: Any) -> None:
    with pytest.raises(InvalidParameter, match="shape must be a positive number or 'auto'"):
        NegativeBinomial(shape)


MEANS: dict[str, Any] = {
    "logit": lambda z: 1 / (1 + mp.exp(-z)),
    "probit": mp.ncdf,
    "cloglog": lambda z: -mp.expm1(-mp.exp(z)),
    "log": mp.exp,
}


@every_linked
def test_linked_losses_are_those_of_many_digits(loss: Linked) -> None:
    """Value, slope and curvature against mpmath with 220 digits, deep in the tails too."""
    family, link = loss.family, loss.link
    mean = MEANS.get(link.name, lambda z: z ** (1 / mp.mpf(link.exponent)))

    def cost(z: Any, t: Any) -> Any:
        m = mean(z)
        if isinstance(family, NegativeBinomial):
            return (t + family.shape) * mp.log1p(m / family.shape) - t * mp.log(m)
        if family.name == "binomial":
            return -(t * mp.log(m) if t else 0) - ((1 - t) * mp.log(1 - m) if t < 1 else 0)
        p = mp.mpf(family.power)
        if p == 0:
            return (m - t) ** 2 / 2
        first, second = ((mp.log(m) if a == 0 else m**a / a) for a in (2 - p, 1 - p))
        return first - t * second

    for t in taken(loss).tolist():
        for z in (-20.0, -3.0, -1e-3, 0.6, 4.0, 20.0):
            if not family.inside(link, np.array(z)) or (link.name == "cloglog" and z > 5):
                continue
            with mp.workdps(220):
                at = partial(cost, t=mp.mpf(t))
                want = [mp.diff(at, mp.mpf(z), k, h=mp.mpf(10) ** -50) for k in range(3)]
            found = [f(np.array([[z]]), np.array([[t]]))[0, 0] for f in (loss.value, loss.slope, loss.curvature)]
            terms = [abs(float(x)) + float(size) for x, size in zip(want, cancelled(loss, z, t), strict=True)]
            for one, exact, size in zip(found, want, terms, strict=True):
                assert abs(one - float(exact)) <= 1e-12 * size + 1e-300, (z, t, one, float(exact))


@pytest.mark.parametrize("shape", [0.3, 15.9, 16.0, 1e3, 1e7, 1e12])
def test_a_negative_binomial_of_any_shape_has_its_digits(shape: float) -> None:
    """Deviance, density at mean = t, and derivatives by the shape, against mpmath; poisson's at 1e12."""
    family, poisson = NegativeBinomial(shape), Tweedie(1)
    for t in (0.0, 1.0, 7.0, 300.0):
        for m in (0.5, 7.25, 280.0):
            with mp.workdps(60):
                k, y, mu = map(mp.mpf, (shape, t, m))
                free = y * mp.log(y) if t else mp.mpf(0)
                density = mp.loggamma(y + k) - mp.loggamma(k) - mp.loggamma(y + 1)
                want = [
                    2 * (free - y * mp.log(mu) - (y + k) * mp.log((y + k) / (mu + k))),
                    density + free + k * mp.log(k) - (y + k) * mp.log(y + k),
                    mp.psi(0, y + k) - mp.psi(0, k) - mp.log1p(mu / k) - (y - mu) / (mu + k),
                    mp.psi(1, y + k) - mp.psi(1, k) + mu / (k * (mu + k)) + (y - mu) / (mu + k) ** 2,
                ]
            mean, target, one = np.array([[m]]), np.array([[t]]), np.ones(1)
            found = [
                family.deviance(mean, target),
                family.saturated(target, one),
                *family.shape_score(mean, target),
            ]
            assert [part.item() for part in found] == pytest.approx([float(x) for x in want], rel=1e-11, abs=0.0)
            if shape == 1e12:
                plain = [poisson.deviance(mean, target).item(), poisson.saturated(target, one).item()]
                assert [part.item() for part in found[:2]] == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize("power", [1.0 + 1e-9, 1.5, 2.0 - 1e-9, 2.0 + 1e-9, 2.5])
def test_a_tweedie_of_any_power_has_its_digits(power: float) -> None:
    for t in (0.0, 0.3, 7.0)[power >= 2 :]:
        for m in (0.5, 7.25):
            with mp.workdps(60):
                p, y, mu = map(mp.mpf, (power, t, m))
                least = y ** (2 - p) / ((1 - p) * (2 - p))
                want = 2 * (least - y * mu ** (1 - p) / (1 - p) + mu ** (2 - p) / (2 - p))
            with np.errstate(divide="ignore", invalid="ignore"):
                found = Tweedie(power).deviance(np.array([[m]]), np.array([[t]]))
            assert found.item() == pytest.approx(float(want), rel=1e-12, abs=0.0)


@pytest.mark.parametrize("power", [1.05, 1.5, 1.9])
@pytest.mark.parametrize("rows", [1, 400])
def test_the_density_of_compound_amounts_is_its_series(power: float, rows: int) -> None:
    """Of a few terms and of many; of many rows together, which share a polynomial."""
    amounts = np.geomspace(1e-3, 1e3, 5) if rows == 1 else np.geomspace(0.01, 20.0, rows)
    for dispersion in (0.01, 1.0, 20.0):
        found = Tweedie(power).log_density(amounts, np.full(len(amounts), dispersion))
        for i in range(0, len(amounts), max(1, rows // 4)):
            with mp.workdps(30):
                p, y, phi = map(mp.mpf, (power, float(amounts[i]), dispersion))
                a, top = (2 - p) / (p - 1), y ** (2 - p) / (phi * (2 - p))
                if top > 4000:
                    continue
                log_x = a * mp.log(y / (p - 1)) - (1 + a) * mp.log(phi) - mp.log(2 - p)
                width = int(14 * mp.sqrt(top / (1 + a))) + 60
                terms = range(max(1, int(top) - width), int(top) + width)
                series = mp.fsum(mp.e ** (k * log_x - mp.loggamma(k + 1) - mp.loggamma(a * k)) for k in terms)
                want = mp.log(series / y) - y ** (2 - p) / ((p - 1) * (2 - p) * phi)
            assert found[i] == pytest.approx(float(want), rel=1e-9, abs=1e-9 + 1e-13 * float(top))
    assert Tweedie(power).log_density(np.zeros(2), np.ones(2)).tolist() == [0.0, 0.0]


def cancelled(loss: Linked, z: float, t: float) -> list[float]:
    """Return the size of the terms that a cost and its derivatives are differences of; zero for one-sided shares."""
    if loss.name == "binomial":
        return [0.0, 0.0, 0.0] if t in (0.0, 1.0) else [1.0, 1.0, 1.0]
    one = np.array([[z]])
    parts = [loss.family.cost(loss.link, one, np.array([[s * t]])) for s in (-1.0, 0.0)]
    return [float(np.abs(part[0, 0]) + np.abs(other[0, 0])) for part, other in zip(*parts, strict=True)]


def assert_native(loss: Loss, z: Any, t: Any) -> None:
    """Assert that the kernel finds the loss of one row, whose outputs are the intercepts of as many machines."""
    if kernels.native is None:
        return
    outputs = z.shape[1]
    theta = np.stack([z[0], np.zeros(outputs)], axis=1)
    direction = np.stack([np.linspace(-1, 1, outputs), np.zeros(outputs)], axis=1)
    point = Point(loss, theta, View(np.ones(1), np.zeros(1)), direction)
    block = Block(np.ones((1, 1)), t)
    sums = Objective.zero(Shape(1, t.shape[1]), outputs=outputs, coupled=loss.coupled, second="alone")
    sums.add(block, point)
    product = HessianProduct.zero(Shape(1, t.shape[1]), outputs=outputs)
    product.add(block, point)
    close = {"rtol": 1e-14, "atol": 1e-14}  # terms are of order one
    np.testing.assert_allclose(sums.value, loss.value(z, t)[0], **close)
    np.testing.assert_allclose(sums.gradient[:, 0], loss.slope(z, t)[0], **close)
    np.testing.assert_allclose(sums.hessian[:, 0, 0], loss.curvature(z, t)[0], **close)
    np.testing.assert_allclose(product.sums[:, 0], loss.product(z, t, direction[None, :, 0])[0], **close)


@needs_native
@every_loss
def test_the_kernel_equals_the_functions(loss: Loss) -> None:
    z, t = rows(loss)
    for i in range(0, len(z), 80 if isinstance(loss, Linked) else 4):
        assert_native(loss, z[i : i + 1], t[i : i + 1])
    corners = np.array([[-1.0, 0.0, 0.7, 1.0]])
    for one in taken(loss):
        assert_native(loss, corners, np.full((1, 1 if loss.coupled else OUTPUTS), one))


def test_registered_losses_have_names_of_their_own() -> None:
    assert all(cls.name == name for name, cls in LOSSES.items())


# --- ordered classes: arbitrary precision, in both tails and where thresholds nearly meet --------------------------

ENDS = {
    "logit": (-300.0, -30.0, -3.0, 0.2, 9.0, 300.0),
    "probit": (-300.0, -30.0, -8.5, -3.0, 0.0, 0.2, 6.0, 30.0, 300.0),
    "cloglog": (-799.8, -300.0, -30.0, -3.0, 0.2, 1.0, 5.0),
}
WIDTHS = (1e-9, 1e-3, 0.2, 1.0, 4.0, 40.0, 800.0)
DENSITIES = {
    "logit": lambda z: mp.exp(-z) / (1 + mp.exp(-z)) ** 2,
    "probit": mp.npdf,
    "cloglog": lambda z: mp.exp(z - mp.exp(z)),
}
SLOPES = {  # g'' / g'
    "logit": lambda z: (1 - mp.exp(z)) / (1 + mp.exp(z)),
    "probit": lambda z: -z,
    "cloglog": lambda z: 1 - mp.exp(z),
}


def _exact(link: str, a: float, b: float) -> list[mp.mpf]:
    """Return value, derivatives by a and b, those of their sum, and the mixed one."""
    g, density = (MEANS[link], DENSITIES[link])
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
