"""Enclosures of likelihoods: beside the random problems of `cases.py`, R's figures, refusals, settings, and files."""

from __future__ import annotations

import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from adaline import GeneralizedLinear, LeastSquaresClassifier, LogisticRegression, datasets, open_table
from adaline.block import Block, Shape
from adaline.enclosures.likelihood import enclose_loss, refuse_loss
from adaline.errors import AdalineError
from adaline.links import FRACTION, LINKS, Power
from adaline.losses import Binomial, Linked, Logistic, Tweedie
from adaline.penalties import no_penalty
from adaline.sources import ArraySource
from adaline.sums import LinkedPoint, bounded_score, mapped
from adaline.sums.bounded_slope import bounded_slope, is_enclosed, weighing
from adaline.twofold import Twofold
from tests.certificates.cases import FAMILIES
from tests.certificates.exact import Jet
from tests.enclosures.cases import LIKELIHOODS
from tests.enclosures.exact import contained, rational, solve

RNG = np.random.default_rng(8)
X = RNG.normal(size=(60, 2)) + np.array([0.0, 3.0])
CLASSES = (RNG.uniform(size=60) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
COUNTS = RNG.poisson(np.exp(0.5 * X[:, 0]))


@pytest.mark.parametrize("exponential", [Twofold.exp, Twofold.exp_reference])
def test_exponentials_in_double_double_are_as_near_as_their_bound(exponential: Any) -> None:
    z = np.concatenate([RNG.uniform(-1, 1, 300), RNG.uniform(-40, 40, 300), RNG.uniform(-499, 499, 300)])
    lo = z * 2.0**-53 * RNG.uniform(-0.5, 0.5, 900)
    found = exponential(Twofold(z, lo))
    with mpmath.mp.workdps(60):
        worst = max(
            float(abs((mpmath.mpf(hi) + mpmath.mpf(low)) / mpmath.exp(mpmath.mpf(a) + mpmath.mpf(b)) - 1))
            / ((2**10 + 2**7 * abs(a)) * 2.0**-106)
            for hi, low, a, b in zip(found.hi.tolist(), found.lo.tolist(), z.tolist(), lo.tolist(), strict=True)
        )
    assert 0.001 < worst < 0.5


@pytest.mark.parametrize("native", [bounded_score.native, None])
def test_outputs_in_double_double_are_as_near_as_their_bound(native: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_score, "native", native)
    v, offset = RNG.normal(size=(5, 61)) * 2.0 ** RNG.integers(-30, 30, (5, 61)), RNG.normal(size=61)
    hi, lo = RNG.normal(size=5), RNG.normal(size=5) * 2.0**-54
    found = bounded_score.outputs_twofold(v, hi, lo, offset)
    exact = rational(v).T @ (rational(hi) + rational(lo)) + rational(offset)
    wrong = np.abs(rational(found.hi[:, 0]) + rational(found.lo[:, 0]) - exact).astype(float)
    assert (wrong <= 8 * 8**2 * 2.0**-106 * (np.abs(hi) @ np.abs(v) + np.abs(offset))).all()
    assert wrong.max() > 0


OUTPUTS = {  # of families whose outputs have ends, or whose terms are not treated everywhere
    "probit": (-30, 29),
    "cloglog": (-30, 6),
    "binomial log": (-20, -1e-3),
    **dict.fromkeys(("poisson identity", "poisson sqrt", "gamma inverse", "inverse gaussian"), (1e-3, 60)),
}


@pytest.mark.parametrize("name", LIKELIHOODS[2:])
def test_slopes_are_as_near_as_their_bound(name: str) -> None:
    linked, cost, few = FAMILIES[name].model()._loss().linked, FAMILIES[name].cost, 60
    assert cost is not None
    z = RNG.uniform(*OUTPUTS.get(name, (-30, 30)), (few, 1))
    if isinstance(linked.link, Power):  # no exponentials of their outputs are taken
        z[few // 3 :] *= 1e3 / 60
        z[2 * few // 3 :] *= 1e3
    lo = z * RNG.uniform(-0.5, 0.5, (few, 1)) * 2.0**-53
    classes = isinstance(linked.family, Binomial)
    t = (RNG.uniform(size=(few, 1)) ** 4).round(RNG.integers(4)) if classes else RNG.gamma(1.0, 1.0, (few, 1))
    slope, error, curvature, change = bounded_slope(linked, Twofold(z, lo), t)
    weight, again = weighing(linked, z, t)
    assert np.isfinite(error).all()
    assert (np.abs(again - change) <= 2.0**-48 * change).all()  # at z, and at z + lo
    for k in range(few):
        with mpmath.mp.workdps(120):
            at, y = mpmath.mpf(float(z[k, 0])), mpmath.mpf(float(t[k, 0]))
            exact = cost(Jet(at + mpmath.mpf(float(lo[k, 0])), 1), y)
            assert abs(mpmath.mpf(float(slope.hi[k, 0])) + mpmath.mpf(float(slope.lo[k, 0])) - exact.b) <= error[k, 0]
            assert exact.c <= curvature[k, 0]
            here = cost(Jet(at, 1), y).c
            assert abs(here - weight[k, 0]) <= 2.0**-40 * here
            for way in (-1, 1):
                moved = cost(Jet(at + way / mpmath.mpf(float(change[k, 0])), 1), y).c
                assert not here or abs(mpmath.log(moved / here)) <= 1 + 2.0**-50  # equal to 1 of exponentials
    assert (error <= 2.0**-60 * (np.abs(slope.hi) + 1e-3)).all()


def test_two_convergents_of_the_normal_tail_are_near_each_other() -> None:
    first, second = Fraction(0), Fraction(0)
    for k in range(FRACTION + 1, 0, -1):
        second = Fraction(k) / (4 + second)
        first = Fraction(k) / (4 + first) if k <= FRACTION else first
    assert abs(first - second) < (4 + first) / 2**101


@pytest.mark.parametrize("link", ["log", "identity"])
def test_outputs_without_a_mean_have_no_bound(link: Any) -> None:
    linked = GeneralizedLinear(loss="binomial", link=link)._loss().linked
    z = np.array([[-0.5], [0.5], [1.5]])
    error = bounded_slope(linked, Twofold(z, 0 * z), np.ones_like(z)).error[:, 0]
    assert np.isfinite(error).tolist() == [link == "log", link == "identity", False]


def test_power_links_have_no_bound_where_logarithms_are_beyond_their_range() -> None:
    linked = GeneralizedLinear(loss="poisson", link="identity")._loss().linked
    z = np.array([[1e-140], [1e-120], [1e120], [1e140]])
    assert np.isfinite(bounded_slope(linked, Twofold(z, 0 * z), 1 + 0 * z).error[:, 0]).tolist() == [0, 1, 1, 0]


def test_large_counts_have_enclosures_with_the_identity() -> None:
    x = np.linspace(1, 3, 40)[:, None]
    y = RNG.poisson(1000 * x[:, 0])
    found = GeneralizedLinear(loss="poisson", link="identity").fit(x, y).enclose(x, y)
    assert found.proved
    assert found.width.max() <= 2


def test_outputs_beyond_the_range_of_probit_are_named() -> None:
    far, y = np.append(X[:, 0], 200.0)[:, None], np.append(CLASSES, 1)
    found = GeneralizedLinear(loss="binomial", link="probit").fit(far, y).enclose(far, y)
    assert "beyond the range in which the rounding of slopes is proved" in found.reason


def test_gaussian_targets_may_be_negative_and_are_enclosed_as_least_squares_alone() -> None:
    gaussian, y = Linked(Tweedie(0), LINKS["identity"]), X[:, 0] - X[:, 1]
    assert not is_enclosed(gaussian)
    with pytest.raises(AdalineError, match="use loss='squared'"):
        refuse_loss(gaussian)
    squared = GeneralizedLinear(loss="squared").fit(X, y).enclose(X, y)
    for loss in ("gaussian", Tweedie(0)):
        found = GeneralizedLinear(loss=loss, link="identity").fit(X, y).enclose(X, y)
        assert found.proved
        assert np.array_equal(found, squared)


@pytest.mark.parametrize(("weight", "finite"), [(0.0, True), (1.0, False)])
def test_an_unknown_change_of_a_curvature_leaves_no_margin(
    weight: float, finite: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(loss: Any, z: Any, t: Any) -> Any:
        return np.ones_like(z), np.array([[1.0], [np.nan]])

    monkeypatch.setattr(mapped, "weighing", unknown)
    linked = GeneralizedLinear(loss="poisson")._loss().linked
    point = LinkedPoint(linked, False, np.array([0.5, 1.0]), np.zeros(2), np.zeros(1))
    found = mapped.Mapped.zero(Shape(1, 1))
    found.add(Block(X[:2, :1], np.ones((2, 1)), np.array([1.0, weight])), mapped.RowMap(point=point))
    assert np.isfinite(found.margin) == finite


def test_settings_files_and_threads(tmp_path: Path) -> None:
    model = LogisticRegression(penalty=0.7).fit(X, CLASSES, sample_weight=1.0 + CLASSES)
    found = model.enclose(X, CLASSES, sample_weight=1.0 + CLASSES)
    assert found.proved
    assert found.width.max() <= 2
    assert found.contains([*model.intercept_, *model.coef_[0]]).all()
    np.savetxt(tmp_path / "t.csv", np.column_stack([X, CLASSES]), "%.17g", ",", header="a,b,y", comments="")
    table = open_table(tmp_path / "t.csv", target="y")
    plain, other = LogisticRegression().fit(X, CLASSES).enclose(X, CLASSES), LogisticRegression().fit(table)
    apart = other.enclose(table)
    assert (np.maximum(plain.lower, apart.lower) <= np.minimum(plain.upper, apart.upper)).all()
    weighted = LogisticRegression(class_weight="balanced").fit(X, CLASSES)
    assert weighted.enclose(X, CLASSES).contains([*weighted.intercept_, *weighted.coef_[0]]).all()


def test_several_targets_offsets_and_outputs() -> None:
    offset = RNG.normal(size=60)
    model = GeneralizedLinear(loss="poisson").fit(X, COUNTS, offset=offset)
    found = model.enclose(X, COUNTS, offset=offset)
    assert found.contains([model.intercept_, *model.coef_]).all()
    both = np.column_stack([COUNTS, COUNTS[::-1]])
    model = GeneralizedLinear(loss="poisson").fit(X, both)
    found = model.enclose(X, both)
    assert found.lower.shape == (2, 3)
    lower, upper = found.predict(X)
    assert (lower <= np.log(model.predict(X)) + 1e-9).all()
    assert (upper >= np.log(model.predict(X)) - 1e-9).all()
    assert np.abs(upper - lower).max() < 1e-14


def test_weights_far_from_the_minimum_are_led_there() -> None:
    near = LogisticRegression().fit(X, CLASSES).enclose(X, CLASSES)
    rows = ArraySource(X, CLASSES[:, None].astype(float))
    found = enclose_loss(rows, Logistic(), True, no_penalty(2), np.zeros(3))
    lower, upper = (end[0] for end in found.bounds)
    assert found.passes > 6
    assert (np.maximum(near.lower, lower) <= np.minimum(near.upper, upper)).all()


def test_no_maximum_is_no_proof() -> None:
    apart = (X[:, 0] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model, y in (
            (LogisticRegression(), apart),
            (GeneralizedLinear(loss="poisson"), np.maximum(0 * X[:, 0], 0)),
        ):
            found = model.fit(X, y).enclose(X, y)
            assert not found.proved
            assert np.isinf(found.width).all()
            assert found.reason
    same = np.column_stack([X, X[:, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression().fit(same, CLASSES)
    assert not model.enclose(same, CLASSES).proved
    assert LogisticRegression(penalty=1e-4).fit(same, CLASSES).enclose(same, CLASSES).proved


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (LogisticRegression(firth=True), "firth"),
        (LogisticRegression(l1=1.0), "l1"),
        (LogisticRegression(penalty="auto"), "standardize"),
        (GeneralizedLinear(loss="poisson", l1=1.0), "l1"),
        (GeneralizedLinear(loss="huber"), "no enclosures of loss='huber'"),
        (GeneralizedLinear(loss="tukey"), "strictly convex"),
        (GeneralizedLinear(loss="softmax"), "LogisticRegression"),
        (GeneralizedLinear(loss="gaussian", link="log"), "strictly convex"),
    ],
)
def test_what_has_no_enclosure_says_so(model: Any, why: str) -> None:
    with pytest.raises(AdalineError, match=why):
        model.fit(X, CLASSES).enclose(X, CLASSES)


@pytest.mark.parametrize("intercept", [True, False])
def test_softmax(intercept: bool) -> None:
    data = datasets.load("penguins", target="island")
    weight = 1.0 + np.arange(333) % 3
    model = LogisticRegression(penalty=0.5, fit_intercept=intercept).fit(data.X, data.y, sample_weight=weight)
    found = model.enclose(data.X, data.y, sample_weight=weight)
    assert found.lower.shape == (3, 5)
    assert found.contains(np.column_stack([model.intercept_, model.coef_])).all()
    assert found.width[:, not intercept :].max() <= 2
    lower, upper = found.predict(data.X)
    assert ((lower <= model.decision_function(data.X) + 1e-9) & (model.decision_function(data.X) - 1e-9 <= upper)).all()
    assert ((lower[:, 0] > upper[:, 1:].max(axis=1)) == (model.predict(data.X) == model.classes_[0])).all()


@pytest.mark.parametrize("coding", ["one-of-k", "signed", "fisher"])
def test_least_squares_classifiers(coding: Any) -> None:
    model = LeastSquaresClassifier(coding=coding, penalty=0.5).fit(X, CLASSES)
    found = model.enclose(X, CLASSES)
    one, other = (60 / (CLASSES == k).sum() for k in (1, 0))
    t = np.where(CLASSES == 1, one, -other) if coding == "fisher" else 2.0 * CLASSES - 1
    assert contained(*found, solve(X, t, penalty=0.5))
    assert found.width.max() <= 2
    three = RNG.integers(0, 3, 60)
    model = LeastSquaresClassifier().fit(X, three)
    found = model.enclose(X, three)
    for k in range(3):
        assert contained(found.lower[k], found.upper[k], solve(X, (three == k).astype(float)))
    lower = found.predict(X).lower
    assert lower.shape == (60, 3)
    assert (lower <= model.decision_function(X) + 1e-12).all()
    with pytest.raises(AdalineError, match="threshold"):
        LeastSquaresClassifier(threshold=0.1).fit(X, CLASSES).enclose(X, CLASSES)
