"""Enclosures of Fisher's discriminant, of Gaussian classifiers with one covariance, and of Wiener filters."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaline import FisherDiscriminant, GaussianClassifier, WienerFilter, datasets, open_table
from adaline.enclosures.rational import Between, below
from adaline.errors import AdalineError
from tests.certificates.exact import mp
from tests.enclosures.exact import contained, discriminants, rational, scatter, solve

RNG = np.random.default_rng(12)
N = 45
X = RNG.normal(size=(N, 3)) * [1.0, 100.0, 1e-3] + [0.0, 1e4, 0.0]
WEIGHT = RNG.uniform(0.1, 3.0, N)


def real(value: Any) -> Any:
    """Return a rational number in many digits."""
    return mp.mpf(value.numerator) / value.denominator


def inside(ends: Any, exact: Any) -> bool:
    """Return whether numbers of many digits lie between bounds."""
    return all(
        mp.mpf(low) <= value <= mp.mpf(high)
        for low, high, value in zip(*(np.ravel(end).tolist() for end in ends), np.ravel(exact), strict=True)
    )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("kind", ["own priors", "given priors", "middle", "prior", 0.25])
def test_discriminants_lie_within_their_bounds(classes: int, weight: Any, kind: Any) -> None:
    codes = np.arange(N) % classes
    x = X + np.column_stack([0.7 * codes, 0 * codes, 0 * codes])
    with mp.workdps(60):
        solved = [(np.array([real(v) for v in u]), real(c)) for u, c in discriminants(x, codes, weight) or []]
        totals = scatter(x, codes, weight)[1]
        shares = [real(one / sum(totals)) for one in totals]
        gaussian = str(kind).endswith("priors")
        if kind == "given priors":
            shares = [mp.mpf(p) for p in np.full(classes, 1 / classes).tolist()]
        model: Any = (
            GaussianClassifier(priors=np.full(classes, 1 / classes) if kind == "given priors" else None)
            if gaussian
            else FisherDiscriminant(threshold=kind if classes == 2 or kind != 0.25 else "middle")
        ).fit(x, codes, sample_weight=weight)
        logs = [mp.log(p) if gaussian or kind == "prior" else mp.mpf(0) for p in shares]
        added = [logs[1] - logs[0]] if classes == 2 else logs
        exact = [[c + more, *u] for (u, c), more in zip(solved, added, strict=True)]
        if classes == 2 and not gaussian:
            means = scatter(x, codes, weight)[0]
            scale = mp.sqrt(np.array([real(v) for v in means[1] - means[0]]) @ solved[0][0])
            exact = [[v / scale for v in exact[0]]]
            if kind == 0.25:
                exact[0][0] = mp.mpf(-0.25)
        model.set_params(**({"shrinkage": 0.5} if gaussian else {"threshold": 3.0}))  # those of the fit count
        found = model.enclose(x, codes, sample_weight=weight)
        assert found.proved
        assert inside(found, exact)
        assert found.width.max() <= 2
        outputs = found.predict(x)
        z = [
            [one[0] + sum(w * mp.mpf(v) for w, v in zip(one[1:], row, strict=True)) for one in exact]
            for row in x.tolist()
        ]
        assert inside(outputs, z)
        assert np.abs(outputs.upper - outputs.lower).max() < 1e-9
        assert found.certain(x).all()


@pytest.mark.parametrize("rare", [0, 1])
@pytest.mark.parametrize("least", [1e-12, 1e-20, 1e-31, 1e-40])
def test_a_class_of_tiny_weight_lies_within_its_bounds_or_has_none(rare: int, least: float) -> None:
    codes = np.arange(N) % 2
    weight = np.where(codes == rare, least, 1.0) * WEIGHT
    found = GaussianClassifier().fit(X, codes, sample_weight=weight).enclose(X, codes, sample_weight=weight)
    assert found.proved == (rare == 1 or least > 1e-30)
    ((u, constant),) = discriminants(X, codes, weight) or []
    totals = scatter(X, codes, weight)[1]
    with mp.workdps(60):
        odds = mp.log(real(totals[1] / totals[0]))
        assert inside(found, [real(constant) + odds, *(real(v) for v in u)])


def test_rows_between_the_classes_are_not_certain() -> None:
    found = (
        GaussianClassifier()
        .fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
        .enclose([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    )
    assert found.certain([[2.0], [2.0 + 1e-9], [-50.0]]).tolist() == [False, True, True]


def test_files_and_several_classes(tmp_path: Path) -> None:
    data = datasets.load("penguins", target="species")
    model = FisherDiscriminant().fit(data.X, data.y)
    found = model.enclose(data.X, data.y)
    assert found.width.max() <= 2
    assert (found.predict(data.X).lower <= model.decision_function(data.X) + 1e-9).all()
    np.savetxt(
        tmp_path / "t.csv",
        np.column_stack([data.X, np.unique(data.y, return_inverse=True)[1]]),
        "%.17g",
        ",",
        header="a,b,c,d,y",
        comments="",
    )
    table = open_table(tmp_path / "t.csv", target="y")
    apart = FisherDiscriminant().fit(table).enclose(table)
    assert (np.maximum(found.lower, apart.lower) <= np.minimum(found.upper, apart.upper)).all()


def test_what_has_no_enclosure_says_so() -> None:
    codes = np.arange(N) % 3
    for model, why in (
        (GaussianClassifier(covariance="full"), "shared"),
        (GaussianClassifier(shrinkage=0.5), "shrinkage=0"),
        (FisherDiscriminant(components=1), "as many directions"),
        (FisherDiscriminant(covariance="identity"), "within"),
    ):
        with pytest.raises(AdalineError, match=why):
            model.fit(X, codes).enclose(X, codes)
    line = FisherDiscriminant().fit(X[:, :1], codes)  # three means span one direction
    ends, found = line.enclose(X[:, :1], codes).predict(X[:, :1]), line.decision_function(X[:, :1])
    assert ((ends.lower - 1e-9 < found) & (found < ends.upper + 1e-9)).all()
    constant = np.column_stack([X, codes])  # no spread within the classes
    found = GaussianClassifier().fit(X, codes).enclose(X, codes)
    with pytest.raises(AdalineError, match="a proof can be saved only of a regression"):
        found.save("no.proof")
    with pytest.warns(UserWarning, match="within any class"):
        model = GaussianClassifier().fit(constant, codes)
    assert "within the classes" in model.enclose(constant, codes).reason


@pytest.mark.parametrize("method", ["covariance", "autocorrelation"])
@pytest.mark.parametrize(("taps", "delay", "penalty"), [(3, 0, 0.0), ((2, 3), -1, 0.5), ((1, 2), 2, 0.0)])
def test_wiener_filters_lie_within_their_bounds(method: Any, taps: Any, delay: int, penalty: float) -> None:
    x, d = RNG.normal(size=(40, 1 if taps == 3 else 2)), RNG.normal(size=40)
    model = WienerFilter(taps=taps, method=method, delay=delay, penalty=penalty).fit(x, d)
    counts = (taps,) if isinstance(taps, int) else taps
    first = min(delay, 0) if method == "autocorrelation" else 0
    last = 40 + max(delay + max(counts) - 1, 0) if method == "autocorrelation" else 40

    def sample(signal: int, i: int) -> float:
        return float(x[i, signal]) if 0 <= i < 40 else 0.0

    rows = np.array(
        [[sample(c, n - delay - j) for c, m in enumerate(counts) for j in range(m)] for n in range(first, last)]
    )
    t = np.array([d[n] if 0 <= n < 40 else 0.0 for n in range(first, last)])
    exact = solve(rows, t, penalty=penalty, intercept=False)
    model.set_params(penalty=7.0)
    found = model.enclose(x, d)
    assert found.width[1:].max() <= 2
    assert contained(*found, exact)
    inputs = rational(rows[-first : 40 - first])
    assert contained(*found.predict(x), inputs @ np.array(exact[1:], dtype=object))  # type: ignore[index]


def test_intervals_of_rational_numbers() -> None:
    with mp.workdps(80):
        for value in (Fraction(1, 10**30), Fraction(7, 5), Fraction(10**20, 3), Fraction(1)):
            log, root = Between(value, value).log(), Between(value, value).root()
            assert real(log.low) <= mp.log(real(value)) <= real(log.high)
            assert real(root.low) <= mp.sqrt(real(value)) <= real(root.high)
            assert log.high - log.low < Fraction(1, 2**130)
            assert root.high - root.low <= root.high / 2**98
    assert below(Fraction(1, 3)) < Fraction(1, 3) < np.nextafter(below(Fraction(1, 3)), 1)
    assert below(Fraction(10) ** 400) == np.finfo(float).max
    assert below(-(Fraction(10) ** 400)) == -np.inf
