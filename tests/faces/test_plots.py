"""Plots: each returns Axes, draws on axes given, thins what is large, and says what the data say."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from adaline import GaussianClassifier, LeastSquaresClassifier, LinearRegression, Ridge
from adaline.basis import Polynomial
from adaline.faces import plots
from adaline.faces.compare import compare
from adaline.faces.effects import effects, strongest
from adaline.faces.reliability import reliability
from adaline.faces.table import Table
from tests.faces.examples import bundled, classification, labels, numbers

X, Y = numbers()
XC, C = labels(classes=3)
NAMES = ("a", "b", "c", "d")
GAUSS = GaussianClassifier().fit(XC, C)

DRAWN: dict[str, Any] = {
    "comparison": lambda ax: plots.comparison(compare(classification()), ax),
    "coefficients": lambda ax: plots.coefficients(LinearRegression().fit(X, Y), X, NAMES, ax=ax),
    "coefficients of classes": lambda ax: plots.coefficients(GAUSS, XC, NAMES[:3], ax=ax),
    "penalty_path": lambda ax: plots.penalty_path(Ridge().fit(X, Y), ax),
    "residuals": lambda ax: plots.residuals(Y, Y + 0.1, ax),
    "quantiles": lambda ax: plots.quantiles(Y, ax),
    "confusion": lambda ax: plots.confusion(C, GAUSS.predict(XC), ax=ax),
    "calibration": lambda ax: plots.calibration(C, GAUSS.predict_proba(XC), list("abc"), ax),
    "decision_regions": lambda ax: plots.decision_regions(
        GaussianClassifier().fit(XC[:, :2], C), XC[:, :2], C, "uv", ax
    ),
    "line": lambda ax: plots.line(LinearRegression().fit(X[:, :1], Y), X[:, 0], Y, ("x", "y"), ax),
}


@pytest.mark.parametrize("name", DRAWN)
def test_plots_return_axes_and_draw_where_they_are_told(name: str) -> None:
    ax = DRAWN[name](None)
    assert isinstance(ax, Axes)
    given = Figure().add_subplot()
    assert DRAWN[name](given) is given
    assert ax.has_data()
    text = plots.svg(ax)
    ElementTree.fromstring(text)
    assert text == plots.svg(DRAWN[name](None)), "the same data, the same bytes"


def test_large_data_are_thinned() -> None:
    y = np.random.default_rng(0).normal(size=50_000)
    points = plots.residuals(y, y / 2).collections[0].get_offsets()
    assert len(points) == plots.MOST_POINTS
    assert len(plots.quantiles(y).collections[0].get_offsets()) < plots.MOST_POINTS
    assert len(plots.svg(plots.residuals(y, y / 2))) < 300_000


def test_names_that_look_like_formulas_are_text() -> None:
    model = LinearRegression().fit(X, Y)
    drawn = plots.svg(plots.coefficients(model, X, ["$x^{", "$a$", "<script>", "\x00\x1b"]))
    assert drawn.startswith("<svg")
    assert "<script>" not in drawn


def test_effects_do_not_depend_on_units() -> None:
    scale = np.array([1e3, 1e-3, 1.0, 7.0])
    for kind, y in ((LinearRegression, Y), (LeastSquaresClassifier, np.where(Y > Y.mean(), "p", "q"))):
        one = effects(kind().fit(X, y), X, NAMES)
        two = effects(kind().fit(X * scale, y), X * scale, NAMES)
        np.testing.assert_allclose([e.strength for e in one], [e.strength for e in two], rtol=1e-9)


def test_effects_of_a_basis_are_those_of_its_columns() -> None:
    phi = Polynomial(degree=2)
    columns = phi.fit_transform(X)
    names = phi.get_feature_names_out(NAMES).tolist()
    for kind in (LinearRegression, GaussianClassifier):
        target = Y if kind is LinearRegression else np.median(Y) < Y
        found = effects(kind(basis=phi).fit(X, target), X, NAMES)
        assert found == effects(kind().fit(columns, target), columns, names)


def test_effects_are_those_of_the_summary_and_sum_to_zero_over_classes() -> None:
    model = LinearRegression().fit(X, Y)
    rows = model.summary().to_dict()["coefficients"]
    assert [e.upper for e in effects(model, X, NAMES)] == [row["upper"] for row in rows]
    by_class = effects(GAUSS, XC, NAMES[:3])
    assert len(by_class) == 9
    assert abs(sum(e.estimate for e in by_class if e.name == "a")) < 1e-12
    assert effects(GaussianClassifier(covariance="full").fit(XC, C), XC, NAMES) == []
    names, left = strongest(by_class, 2)
    assert (len(names), left) == (2, 1)


def test_true_probabilities_are_found_reliable_and_wrong_ones_are_not() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(size=20_000)
    happened = rng.uniform(size=20_000) < p
    true, bold = reliability(p, happened), reliability(np.where(p > 0.5, 0.99, 0.01), happened)
    assert ((true.lower <= true.probability) & (true.probability <= true.upper)).sum() >= 8
    assert not ((bold.lower <= bold.probability) & (bold.probability <= bold.upper)).any()


def test_the_baseline_is_on_the_chart_only_where_it_is_near() -> None:
    assert plots.comparison(compare(bundled("norris"))).get_title(loc="right").startswith("far to the right")
    assert plots.comparison(compare(bundled("wine"))).get_title(loc="right").startswith("far")
    rng = np.random.default_rng(0)
    noise = compare(Table.of(rng.normal(size=(90, 3)), rng.normal(size=90)))
    assert plots.comparison(noise).get_title(loc="right").startswith("dashed")
