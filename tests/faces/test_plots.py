"""Plots: a list of them, and laws that each obeys; then what single ones must show."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import combinations
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy import sparse

import adaline
from adaline import (
    LMS,
    AdalineError,
    AdaptiveFilter,
    FisherDiscriminant,
    GaussianClassifier,
    GaussianMixture,
    KMeans,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    OneVsOne,
    OneVsRest,
    Perceptron,
    Ridge,
    datasets,
    plots,
)
from adaline.faces.compare import compare
from adaline.faces.effects import effects, strongest
from adaline.faces.plots.style import COLOURS, MARKERS, MOST_POINTS, _apart, _power, colour, marker
from adaline.faces.reliability import reliability
from adaline.faces.table import Table
from tests.faces.examples import bundled, classification, labels, numbers

X, Y = numbers()
XC, C = labels(classes=3, apart=4.0)
XC, NAMES = XC[:, :2], ("a", "b", "c", "d")
TWO, SIDE = XC[C != "c"], C[C != "c"]
MANY, KINDS = labels(classes=8, n=400, apart=3.0)
MANY = MANY[:, :2] + 4.0 * np.random.default_rng(1).normal(size=(8, 2))[np.arange(400) % 8]
LINE = np.random.default_rng(0).normal(size=(150, 1))
SLOPE = 1 + 2 * LINE[:, 0] + np.random.default_rng(1).normal(size=150)
WAVE = np.sin(0.3 * np.arange(900))
HEARD = 0.7 * np.roll(WAVE, 2) + 0.05 * np.random.default_rng(0).normal(size=900)
GAUSS, LINEAR = GaussianClassifier().fit(XC, C), LinearRegression().fit(X, Y)
LONGLEY = datasets.load("longley")
SIZES = np.array([10, 20, 50, 100, 400])
CURVE = SimpleNamespace(sizes=SIZES, training=0.5 - 1 / SIZES, validation=0.5 + 3 / SIZES, error=1 / SIZES)
STEPS = np.arange(5)
CHOSEN = SimpleNamespace(values=10.0 ** (STEPS - 3), training=STEPS, validation=STEPS[::-1], chosen=1.0)
FOUND = compare(classification())
LOGISTIC, OTHERS = LogisticRegression(penalty=1.0).fit(TWO, SIDE), GaussianClassifier().fit(MANY, KINDS)
FAN = ([1.0, 9.0], np.linspace(1, 2, 40).reshape(2, 20))
PATHS = {
    "descent": plots.trajectory(LinearRegression(solver="gradient", rate=0.002), LINE, SLOPE, steps=20),
    "LMS": plots.trajectory(LMS(rate=0.05), LINE, SLOPE),
}

DRAWN: dict[str, Callable[[Axes | None], Axes]] = {
    "comparison": lambda ax: plots.comparison(FOUND, ax),
    "coefficients": lambda ax: plots.coefficients(LINEAR, X, ax, names=NAMES),
    "coefficients of classes": lambda ax: plots.coefficients(GAUSS, XC, ax),
    "coefficient_path": lambda ax: plots.coefficient_path(
        Ridge().fit(LONGLEY.X, LONGLEY.y), LONGLEY.X, LONGLEY.y, ax, names=LONGLEY.feature_names
    ),
    "coefficient_path of numbers": lambda ax: plots.coefficient_path(
        ([0.1, 1.0, 10.0], [[2.0, -1.0, 1.99], [1.0, -0.5, 0.9], [0.1, 0.0, 0.1]]), ax=ax
    ),
    "coefficient_path of many": lambda ax: plots.coefficient_path(FAN, ax=ax),
    "penalty_path": lambda ax: plots.penalty_path(Ridge().fit(X, Y), ax),
    "line": lambda ax: plots.line(LinearRegression().fit(X[:, :1], Y), X[:, 0], Y, ax),
    "residuals": lambda ax: plots.residuals(Y, Y + 0.1 * X[:, 0], ax),
    "quantiles": lambda ax: plots.quantiles(Y, ax),
    "leverage": lambda ax: plots.leverage(LinearRegression().fit(LONGLEY.X, LONGLEY.y), LONGLEY.X, LONGLEY.y, ax),
    "leverage without contours": lambda ax: plots.leverage(LINEAR, X, Y, ax),
    "confusion": lambda ax: plots.confusion(C, GAUSS.predict(XC), ax),
    "confusion of many": lambda ax: plots.confusion(KINDS, OTHERS.predict(MANY), ax),
    "calibration": lambda ax: plots.calibration(C, GAUSS.predict_proba(XC), ax),
    "calibration of two": lambda ax: plots.calibration(SIDE, LOGISTIC.predict_proba(TWO), ax),
    "fisher_projection": lambda ax: plots.fisher_projection(FisherDiscriminant().fit(TWO, SIDE), TWO, SIDE, ax),
    "fisher_projection of three": lambda ax: plots.fisher_projection(FisherDiscriminant().fit(XC, C), XC, C, ax),
    "decision_regions": lambda ax: plots.decision_regions(GAUSS, XC, C, ax),
    "decision_regions of many": lambda ax: plots.decision_regions(OTHERS, MANY, KINDS, ax),
    "decision_regions without posteriors": lambda ax: plots.decision_regions(
        LeastSquaresClassifier().fit(TWO, SIDE), TWO, SIDE, ax
    ),
    "hyperplane": lambda ax: plots.hyperplane(LOGISTIC, TWO, SIDE, ax),
    "hyperplane in unlike units": lambda ax: plots.hyperplane(
        LeastSquaresClassifier().fit(TWO * [1, 1e4], SIDE), TWO * [1, 1e4], SIDE, ax
    ),
    "ambiguous_regions": lambda ax: plots.ambiguous_regions(OneVsRest(LeastSquaresClassifier()).fit(XC, C), XC, C, ax),
    "ambiguous_regions of pairs": lambda ax: plots.ambiguous_regions(OneVsOne().fit(MANY, KINDS), MANY, KINDS, ax),
    "learning_curve": lambda ax: plots.learning_curve(CURVE, ax),
    "validation_curve": lambda ax: plots.validation_curve(CHOSEN, ax, name="penalty", measure="RMSE"),
    "history": lambda ax: plots.history(LMS(rate=0.01, epochs=12, tol=0).fit(LINE, SLOPE), ax),
    "history of several": lambda ax: plots.history({"small": [9.0, 3.0, 1.0], "large": [900.0, 1.0]}, ax),
    "error_surface": lambda ax: plots.error_surface(LINE, SLOPE, PATHS, ax),
    "error_surface of two columns": lambda ax: plots.error_surface(X[:, [0, 1]], Y, None, ax, names="uv"),
    "filter_signals": lambda ax: plots.filter_signals(WAVE, HEARD, AdaptiveFilter(taps=4).filter(WAVE, HEARD), ax),
    "mixture": lambda ax: plots.mixture(GaussianMixture(n_components=3).fit(XC), XC, ax),
    "clusters": lambda ax: plots.clusters(KMeans(n_clusters=3).fit(XC), XC, ax),
}

every = pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)


@every
def test_plots_return_axes_and_draw_where_they_are_told(draw: Callable[[Axes | None], Axes]) -> None:
    ax = draw(None)
    assert isinstance(ax, Axes)
    given = Figure().add_subplot()
    assert draw(given) is given
    assert ax.has_data()
    text = plots.svg(ax)
    ElementTree.fromstring(text)
    assert "mathdefault" not in text, "ticks are plain text"
    assert text == plots.svg(draw(None)), "the same data, the same bytes"


@every
def test_plots_leave_no_trace(draw: Callable[[Axes | None], Axes]) -> None:
    before = dict(matplotlib.rcParams)
    draw(None)
    assert dict(matplotlib.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not matplotlib.pyplot.get_fignums()


@every
def test_axes_are_labelled_and_what_differs_is_told_apart(draw: Callable[[Axes | None], Axes]) -> None:
    ax = draw(None)
    named = [label.get_text() for label in ax.get_yticklabels()]
    assert ax.get_xlabel()
    assert ax.get_ylabel() or (named and not any(text[0].isdigit() for text in named))
    names = ax.get_legend_handles_labels()[1]
    assert len(set(names)) == len(names)
    assert (ax.get_legend() is not None) == bool(names) or len(names) == 1


@every
@pytest.mark.parametrize("width", [None, 3.6], ids=["own figure", "narrow axes"])
def test_no_text_covers_another_or_leaves_the_figure(draw: Callable[[Axes | None], Axes], width: float | None) -> None:
    given = None if width is None else Figure(figsize=(width, 5.0), layout="constrained").add_subplot()
    ax = draw(given)
    figure: Any = ax.figure
    FigureCanvasAgg(figure).draw()
    boxes = _boxes(ax)
    for (one, a), (two, b) in combinations(boxes, 2):
        assert not a.shrunk(0.9, 0.8).overlaps(b.shrunk(0.9, 0.8)), f"{one!r} covers {two!r}"
    if width is None:
        for name, box in boxes:
            assert figure.bbox.padded(2).containsx(box.x0), name
            assert figure.bbox.padded(2).containsx(box.x1), name
            assert figure.bbox.padded(2).containsy(box.y0), name
            assert figure.bbox.padded(2).containsy(box.y1), name


def _boxes(ax: Axes) -> list[tuple[str, Any]]:
    """Return all texts that are seen, with their places."""
    legend = ax.get_legend()
    texts: list[Any] = [*ax.texts, ax.xaxis.label, ax.yaxis.label, ax.title, ax._left_title, ax._right_title]  # type: ignore[attr-defined]
    texts += [] if legend is None else legend.get_texts()
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        low, high = min(low, high), max(low, high)
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        texts += [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]
    seen = [text for text in texts if text.get_visible() and text.get_text().strip()]
    tilted = [text for text in seen if text.get_rotation() not in (0.0, 90.0)]  # their boxes are wider than they are
    return [(text.get_text(), Text.get_window_extent(text)) for text in seen if text not in tilted]


KINDS_OF_ROWS: dict[str, Callable[[Any], Any]] = {
    "float32": lambda x: x.astype(np.float32),
    "lists": lambda x: x.tolist(),
    "sparse": sparse.csr_array,
    "pandas": lambda x: pd.DataFrame(x, columns=["left", "right"]),
    "polars": lambda x: pl.DataFrame(x, schema=["left", "right"]),
}
IN_THE_PLANE: dict[str, Callable[[Any], Axes]] = {
    "decision_regions": lambda x: plots.decision_regions(GaussianClassifier().fit(x, C), x, C),
    "hyperplane": lambda x: plots.hyperplane(LeastSquaresClassifier().fit(x, C == "a"), x, C == "a"),
    "ambiguous_regions": lambda x: plots.ambiguous_regions(OneVsRest().fit(x, C), x, C),
    "fisher_projection": lambda x: plots.fisher_projection(FisherDiscriminant().fit(x, C), x, C),
    "clusters": lambda x: plots.clusters(KMeans(n_clusters=2).fit(x), x),
    "mixture": lambda x: plots.mixture(GaussianMixture(n_components=2).fit(XC), x),
    "coefficients": lambda x: plots.coefficients(LinearRegression().fit(x, XC[:, 0]), x),
    "coefficient_path": lambda x: plots.coefficient_path(Ridge().fit(x, XC[:, 0] ** 2), x, XC[:, 0] ** 2),
    "leverage": lambda x: plots.leverage(LinearRegression().fit(x, XC[:, 0] ** 2), x, XC[:, 0] ** 2),
    "error_surface": lambda x: plots.error_surface(x, XC[:, 0]),
}


@pytest.mark.filterwarnings("error:X does not have valid feature names", "error:X has feature names")
@pytest.mark.parametrize("kind", KINDS_OF_ROWS)
@pytest.mark.parametrize("plot", IN_THE_PLANE)
def test_rows_may_come_as_anything(plot: str, kind: str) -> None:
    if (plot, kind) in (("mixture", "pandas"), ("mixture", "polars")):
        rows = KINDS_OF_ROWS[kind](XC)
        ax = plots.mixture(GaussianMixture(n_components=2).fit(rows), rows)
    else:
        ax = IN_THE_PLANE[plot](KINDS_OF_ROWS[kind](XC))
    text = plots.svg(ax)
    if kind in ("pandas", "polars") and plot not in ("fisher_projection", "leverage"):
        assert ">left<" in text or "of left<" in text
    elif plot in ("decision_regions", "hyperplane", "ambiguous_regions", "clusters", "mixture"):
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")


def test_names_are_those_given_then_the_models() -> None:
    model = GaussianClassifier().fit(pd.DataFrame(XC, columns=["left", "right"]), C)
    assert plots.decision_regions(model, XC, C).get_xlabel() == "left"
    assert plots.decision_regions(model, XC, C, names=["u", "v"]).get_ylabel() == "v"


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "three columns": (lambda: plots.decision_regions(GAUSS, X[:, :3], Y), "choose two columns, and fit"),
    "three columns of clusters": (lambda: plots.clusters(KMeans(n_clusters=2).fit(X), X), "choose two columns"),
    "a model of three columns": (lambda: plots.clusters(KMeans(n_clusters=2).fit(X), X[:, :2]), "fit it on two"),
    "a mixture of three columns": (lambda: plots.mixture(GaussianMixture().fit(X), X[:, :2]), "fit it on two"),
    "three weights": (lambda: plots.error_surface(X, Y), "choose one or two columns"),
    "paths of three weights": (lambda: plots.error_surface(LINE, SLOPE, np.ones((4, 3))), r"give \(m, 2\)"),
    "not finite": (lambda: plots.decision_regions(GAUSS, np.where(XC > 3, np.nan, XC), C), "first at row"),
    "text": (lambda: plots.clusters(KMeans().fit(XC), np.full((9, 2), "u")), "must be numbers"),
    "nothing": (lambda: plots.residuals([], []), "nothing to draw"),
    "lengths": (lambda: plots.residuals([1.0], [1.0, 2.0]), "row by row"),
    "labels of other lengths": (lambda: plots.decision_regions(GAUSS, XC, C[1:]), "row by row"),
    "unknown label": (
        lambda: plots.decision_regions(GAUSS, XC, np.where(C == "a", "z", C)),
        "know: z, at row 0",
    ),
    "a regression": (lambda: plots.decision_regions(LINEAR, XC, C), "use a fitted classifier"),
    "three classes": (lambda: plots.hyperplane(GAUSS, XC, C), "draw `decision_regions`"),
    "no machines": (lambda: plots.ambiguous_regions(GAUSS, XC, C), "use OneVsRest or OneVsOne"),
    "no direction": (lambda: plots.fisher_projection(GAUSS, XC, C), "FisherDiscriminant"),
    "direction": (lambda: plots.fisher_projection(FisherDiscriminant().fit(XC, C), XC, C, direction=2), "from 0 to 1"),
    "no influence": (lambda: plots.leverage(GAUSS, XC, C), "use LinearRegression"),
    "two targets": (lambda: plots.leverage(LinearRegression().fit(X, X), X, X), "one at a time"),
    "no history": (lambda: plots.history(LINEAR), "only iterative systems"),
    "no path": (lambda: plots.penalty_path(LINEAR), "fit Ridge"),
    "no rows": (lambda: plots.coefficient_path(Ridge().fit(X, Y)), "give X and y"),
    "no penalty": (lambda: plots.coefficient_path(LINEAR, X, Y), "one number as penalty"),
    "penalty zero": (lambda: plots.coefficient_path(([0.0, 1.0], [[1.0], [1.0]])), "above zero"),
    "no curve": (lambda: plots.learning_curve(LINEAR), "needs `sizes`"),
    "no probabilities": (lambda: plots.calibration(SIDE, GAUSS.decision_function(TWO)[:, :2]), "between 0 and 1"),
    "columns of classes": (lambda: plots.calibration(SIDE, GAUSS.predict_proba(TWO)), "name them by classes"),
    "names": (lambda: plots.decision_regions(GAUSS, XC, C, names=["u"]), "1 names for 2"),
    "no steps": (lambda: plots.trajectory(GAUSS, XC, C), "does not learn in steps"),
    "unknown start": (lambda: plots.trajectory(LMS(init="random"), X, Y), "start that is known"),
    "many inputs": (lambda: plots.filter_signals(np.ones((9, 5)), np.ones(9), np.ones(9)), "choose some"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_drawn_is_refused_with_advice(case: str) -> None:
    draw, message = REFUSED[case]
    with pytest.raises(AdalineError, match=message):
        draw()


def test_every_public_plot_is_under_these_laws() -> None:
    drawn = {name.split()[0] for name in DRAWN}
    assert drawn | {"svg", "trajectory"} == set(plots.__all__)
    assert adaline.plots is plots
    for name in plots.__all__:
        assert "Examples" in (getattr(plots, name).__doc__ or ""), name


def test_without_matplotlib_the_error_names_the_extra() -> None:
    code = """
import sys
sys.modules["matplotlib"] = None
import adaline
from adaline import *
try:
    plots.quantiles([1.0, 2.0])
except adaline.AdalineError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'adaline[app]'" in done.stdout


def test_large_data_are_thinned() -> None:
    y = np.random.default_rng(0).normal(size=50_000)
    points = plots.residuals(y, y / 2).collections[0].get_offsets()
    assert len(points) == MOST_POINTS
    assert len(plots.quantiles(y).collections[0].get_offsets()) < MOST_POINTS
    assert len(plots.svg(plots.residuals(y, y / 2))) < 300_000
    long = plots.filter_signals(y, y, y)
    seen = next(line.get_ydata() for line in long.lines if len(line.get_ydata()) > 2)
    assert len(seen) == 4000
    assert np.ptp(seen) * 2.15 * np.abs(y).max() / 2 == pytest.approx(np.ptp(y) / 2, rel=1e-12), "no peak is lost"


def test_names_that_look_like_formulas_are_text() -> None:
    drawn = plots.svg(plots.coefficients(LINEAR, X, names=["$x^{", "$a$", "<script>", "\x00\x1b"]))
    assert drawn.startswith("<svg")
    assert "<script>" not in drawn


def test_classes_differ_by_colour_or_marker() -> None:
    assert len({(colour(k), marker(k)) for k in range(49)}) == 49
    assert len(COLOURS) == len(MARKERS) == 7


def test_ticks_of_powers_are_plain() -> None:
    assert [_power(v) for v in (1e-11, 2e-5, 0.001, 0.5, 1, 20, 50_000, 5e6, 1e7)] == [
        "10⁻¹¹",
        "2·10⁻⁵",
        "0.001",
        "0.5",
        "1",
        "20",
        "50000",
        "5·10⁶",
        "10⁷",
    ]


def test_labels_move_apart_as_little_as_needed() -> None:
    np.testing.assert_allclose(_apart(np.array([0.0, 0.5, 0.52, 1.0]), 0.1), [0.0, 0.46, 0.56, 1.0])
    placed = _apart(np.sort(np.random.default_rng(0).uniform(size=12)), 0.07)
    assert np.diff(placed).min() >= 0.07 - 1e-12


def test_the_hyperplane_has_its_margin_and_its_normal() -> None:
    points = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 1.0], [3.0, 2.0]])
    sides = np.array(["no", "no", "yes", "yes"])
    model = Perceptron().fit(points, sides)
    w, w0 = model.coef_[0], model.intercept_[0]
    ax = plots.hyperplane(model, points, sides)
    nearest = np.abs(points @ w + w0).min() / np.linalg.norm(w)
    assert f"margin {nearest:.3g}" in ax.get_legend_handles_labels()[1]
    for line in ax.lines:
        ends = np.column_stack([line.get_xdata(), line.get_ydata()])
        distance = np.abs(ends @ w + w0) / np.linalg.norm(w)
        assert np.allclose(distance, 0, atol=1e-9) or np.allclose(distance, nearest)
    arrow = next(text for text in ax.texts if not text.get_text())
    up = np.subtract(arrow.xy, arrow.xyann)
    assert up @ w == pytest.approx(np.linalg.norm(up) * np.linalg.norm(w)), "along w"
    wrong = plots.hyperplane(model, points, np.array(["yes", "no", "yes", "yes"]))
    names = wrong.get_legend_handles_labels()[1]
    assert "wrong" in names
    assert not any(name.startswith("margin") for name in names)


def test_the_threshold_is_where_the_decision_changes() -> None:
    model = FisherDiscriminant(threshold="prior").fit(TWO, SIDE)
    ax = plots.fisher_projection(model, TWO, SIDE)
    cut = ax.lines[0].get_xdata()[0]
    np.testing.assert_array_equal(model.transform(TWO)[:, 0] > cut, model.predict(TWO) == model.classes_[1])


def test_trajectories_are_those_of_the_rules() -> None:
    phi, w, rate = np.column_stack([np.ones(150), LINE]), np.zeros(2), 0.002
    for seen in PATHS["descent"]:
        np.testing.assert_allclose(seen, w, rtol=1e-9, atol=1e-12)
        w = w + rate * phi.T @ (SLOPE - phi @ w)
    model = LMS(rate=0.05, epochs=1).fit(LINE, SLOPE)
    np.testing.assert_allclose(PATHS["LMS"][-1], [model.intercept_, *model.coef_], rtol=1e-12)
    bare = plots.trajectory(LinearRegression(solver="gradient", fit_intercept=False), X[:, :2], Y, steps=3)
    assert bare.shape == (4, 2)


def test_cook_contours_are_cooks_distance() -> None:
    model = LinearRegression().fit(LONGLEY.X, LONGLEY.y)
    found = model.influence(LONGLEY.X, LONGLEY.y)
    ax = plots.leverage(model, LONGLEY.X, LONGLEY.y)
    line = next(line for line in ax.lines if line.get_label() == "Cook's distance 1")
    reach = np.interp(found.leverage, line.get_xdata(), line.get_ydata())
    np.testing.assert_array_equal(np.abs(found.standardized) > reach, found.cooks_distance > 1)


def test_curves_come_as_objects_mappings_tuples_and_folds() -> None:
    one = plots.learning_curve(CURVE).lines[1].get_ydata()
    parts = (CURVE.sizes, CURVE.training, CURVE.validation, CURVE.error)
    keys = ("sizes", "training", "validation", "standard_error")
    for given in (parts, dict(zip(keys, parts, strict=True))):
        np.testing.assert_array_equal(plots.learning_curve(given).lines[1].get_ydata(), one)
    folds = plots.learning_curve((SIZES, np.ones((5, 3)), CURVE.validation[:, None] + [[-1, 0, 1]]))
    np.testing.assert_allclose(folds.lines[1].get_ydata(), one)
    assert "± standard error" in folds.get_legend_handles_labels()[1]
    within = SimpleNamespace(curve=CHOSEN, chosen=0.1)
    assert "chosen: 1" in plots.validation_curve(within).get_legend_handles_labels()[1]


def test_the_coefficient_path_ends_at_least_squares() -> None:
    ax = plots.coefficient_path(Ridge().fit(X, Y), X, Y, penalties=[1e-12, 1.0, 1e3])
    ends = sorted(line.get_ydata()[-1] for line in ax.lines if len(line.get_ydata()) == 3)
    np.testing.assert_allclose(ends, np.sort(LINEAR.coef_ * X.std(axis=0)), rtol=1e-6)


def test_ambiguous_regions_name_what_there_is() -> None:
    rest = plots.ambiguous_regions(OneVsRest(LeastSquaresClassifier()).fit(XC, C), XC, C)
    names = rest.get_legend_handles_labels()[1]
    assert {"claimed by none", "claimed by several", "a against the rest"} <= set(names)
    assert "vote tied" not in names


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_ellipses_are_two_standard_deviations(kind: str) -> None:
    model = GaussianMixture(n_components=2, covariance_type=kind).fit(XC)
    ax = plots.mixture(model, XC)
    for k, line in enumerate(line for line in ax.lines if len(line.get_xdata()) > 2):
        away = np.column_stack([line.get_xdata(), line.get_ydata()]) - model.means_[k]
        precision = model.precisions_ if kind == "tied" else model.precisions_[k]
        precision = precision * np.eye(2) if kind in ("diag", "spherical") else precision
        np.testing.assert_allclose(np.einsum("ni,ij,nj->n", away, precision, away), 4.0)


def test_effects_do_not_depend_on_units() -> None:
    scale = np.array([1e3, 1e-3, 1.0, 7.0])
    for kind, y in ((LinearRegression, Y), (LeastSquaresClassifier, np.where(Y > Y.mean(), "p", "q"))):
        one = effects(kind().fit(X, y), X, NAMES)
        two = effects(kind().fit(X * scale, y), X * scale, NAMES)
        np.testing.assert_allclose([e.strength for e in one], [e.strength for e in two], rtol=1e-9)


def test_effects_are_those_of_the_summary_and_sum_to_zero_over_classes() -> None:
    rows = LINEAR.summary().to_dict()["coefficients"]
    assert [e.upper for e in effects(LINEAR, X, NAMES)] == [row["upper"] for row in rows]
    three, kinds = labels(classes=3)
    by_class = effects(GaussianClassifier().fit(three, kinds), three, NAMES[:3])
    assert len(by_class) == 9
    assert abs(sum(e.estimate for e in by_class if e.name == "a")) < 1e-12
    assert effects(GaussianClassifier(covariance="full").fit(three, kinds), three, NAMES) == []
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
