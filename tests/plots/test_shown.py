"""What single plots must show: planes, thresholds, paths, contours where they belong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from adaline import (
    LMS,
    FisherDiscriminant,
    GaussianMixture,
    LeastSquaresClassifier,
    LinearRegression,
    OneVsRest,
    Perceptron,
    Ridge,
    l1_path,
    learning_curve,
    plots,
    select,
)
from adaline.basis import Polynomial
from adaline.comparison.compare import compare_table
from adaline.comparison.table import Table
from adaline.errors import InvalidParameter
from adaline.plots.coefficients import _spread_apart
from adaline.plots.hyperplane import ARROW_SHARE, _arrow, _frame
from adaline.plots.style import COLOURS, MARKERS, MOST_POINTS, _power, colour, marker, mixed
from tests.comparison.examples import bundled
from tests.plots.drawn import (
    CHOSEN,
    CURVE,
    FAILED,
    GROWN,
    LINE,
    LINEAR,
    LONGLEY,
    PATHS,
    SIDE,
    SIZES,
    SLOPE,
    TWO,
    XC,
    C,
    X,
    Y,
)


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
    np.testing.assert_allclose(255 * mixed(["#102030", "#ffffff"], np.eye(2)), [[16, 32, 48], [255] * 3])


def test_ticks_of_powers_are_plain() -> None:
    shown = "10⁻¹¹ 2·10⁻⁵ 0.001 0.5 1 20 50000 5·10⁶ 10⁷"
    assert [_power(v) for v in (1e-11, 2e-5, 0.001, 0.5, 1, 20, 50_000, 5e6, 1e7)] == shown.split()


def test_labels_move_apart_as_little_as_needed() -> None:
    np.testing.assert_allclose(_spread_apart(np.array([0.0, 0.5, 0.52, 1.0]), 0.1), [0.0, 0.46, 0.56, 1.0])
    placed = _spread_apart(np.sort(np.random.default_rng(0).uniform(size=12)), 0.07)
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


def test_the_frame_has_the_rows_and_the_foot_of_the_normal_where_it_is_near() -> None:
    rows = np.array([[100.0, 100.0], [101.0, 102.0], [102.0, 101.0]])
    for w0, reach in ((-103.0, (99.7, 103.3)), (-108.0, (99.8, 102.2)), (-99.0, (98.7, 102.3))):
        low, high = _frame(rows, np.array([1.0, 0.0]), w0)
        assert (low[0], high[0]) == pytest.approx(reach)


def test_the_arrow_of_the_normal_has_a_share_of_the_frame() -> None:
    ax = Figure().add_subplot()
    _arrow(ax, np.array([30.0, 40.0]), 0.0, np.zeros(2), np.array([10.0, 8.0]))
    arrow: Any = ax.texts[0]
    assert np.abs(np.subtract(arrow.xy, arrow.xyann) / [10, 8]).max() == pytest.approx(ARROW_SHARE)
    assert arrow.xyann == pytest.approx((1.28, -0.96)), "from the point of the line nearest to the middle (5, 4)"


def test_steps_are_counted_from_the_first_that_is_known() -> None:
    ax = plots.history({"one": [9.0], "two": [9.0, 1.0], "three": [9.0, 3.0, 1.0]})
    assert [line.get_xdata().tolist() for line in ax.lines[:3]] == [[1], [1, 2], [1, 2, 3]]


def test_the_threshold_is_where_the_decision_changes() -> None:
    few = (SIDE == "a") | (np.arange(len(SIDE)) % 6 == 1)
    rows, sides = TWO[few], SIDE[few]
    model = FisherDiscriminant(threshold="prior").fit(rows, sides)
    cut = plots.fisher_projection(model, rows, sides).lines[0].get_xdata()[0]
    assert abs(cut) > 0.5
    np.testing.assert_array_equal(model.transform(TWO)[:, 0] > cut, model.predict(TWO) == model.classes_[1])


def test_a_class_that_is_only_predicted_is_shown() -> None:
    shown = plots.confusion(["a", "a", "b"], ["a", "c", "b"])
    assert [text.get_text() for text in shown.texts] == ["1", "0", "1", "0", "1", "0", "0", "0", "0"]
    assert (shown.get_xlim(), shown.get_ylim()) == ((-0.5, 2.5), (2.5, -0.5))
    cells = {(bar.get_x() + 0.5, bar.get_y() + 0.5): bar.get_facecolor()[3] for bar in shown.patches}
    assert cells == {(j, i): [[0.5, 0, 0.5], [0, 1, 0], [0, 0, 0]][i][j] for i in range(3) for j in range(3)}


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
    parts = (CURVE.sizes, CURVE.training, CURVE.validation, CURVE.std_error)
    keys = ("sizes", "training", "validation", "std_error")
    for given in (parts, dict(zip(keys, parts, strict=True))):
        np.testing.assert_array_equal(plots.learning_curve(given).lines[1].get_ydata(), one)
    folds = plots.learning_curve((SIZES, np.ones((5, 3)), CURVE.validation[:, None] + [[-1, 0, 1]]))
    np.testing.assert_allclose(folds.lines[1].get_ydata(), one)
    assert "± standard error" in folds.get_legend_handles_labels()[1]
    within = SimpleNamespace(curve=CHOSEN)
    assert "chosen: 1" in plots.validation_curve(within).get_legend_handles_labels()[1]


def test_what_is_not_known_of_a_curve_is_a_gap() -> None:
    ax = plots.validation_curve(FAILED)
    order = np.argsort(FAILED.curve.values)
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), FAILED.curve.validation[order])
    assert np.isnan(ax.lines[1].get_ydata()).sum() == 1
    assert ax.get_xscale() == "log", "the penalty that failed is not drawn, so that it need not be positive"
    assert "± standard error" in ax.get_legend_handles_labels()[1]
    assert np.isnan(GROWN.validation).any()
    np.testing.assert_array_equal(plots.learning_curve(GROWN).lines[1].get_ydata(), GROWN.validation)
    formula = plots.validation_curve(select(Ridge(), X, Y, penalty=[0.1, 1.0], method="gcv"))
    assert formula.get_legend_handles_labels()[1][:-1] == ["learned from", "held out"]
    criterion = plots.validation_curve(select(GaussianMixture(), XC, n_components=[1, 2], scoring="bic"))
    assert criterion.get_legend_handles_labels()[1] == ["chosen: 2"]


@pytest.mark.parametrize("model", [Ridge(), Ridge().fit(X, Y)], ids=["not fitted", "fitted"])
def test_the_coefficient_path_ends_at_least_squares(model: Ridge) -> None:
    ax = plots.coefficient_path(model, X, Y, penalties=[1e-12, 1.0, 1e3])
    ends = sorted(line.get_ydata()[-1] for line in ax.lines if len(line.get_ydata()) == 3)
    np.testing.assert_allclose(ends, np.sort(LINEAR.coef_ * X.std(axis=0)), rtol=1e-6)


def test_the_coefficient_path_of_an_l1_path() -> None:
    found = l1_path(X, Y, loss="squared", points=7)
    ax = plots.coefficient_path(found)
    drawn = np.array([line.get_ydata() for line in ax.lines if len(line.get_ydata()) == 7])
    np.testing.assert_allclose(drawn[np.argsort(drawn[:, -1])], found.coef.T[np.argsort(found.coef[-1])])
    assert ax.get_xlim() == pytest.approx((found.l1[0], found.l1[-1]))
    with pytest.raises(InvalidParameter, match="one at a time"):
        plots.coefficient_path(l1_path(XC, C, points=3))


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


def test_the_baseline_is_on_the_chart_only_where_it_is_near() -> None:
    rng = np.random.default_rng(0)
    noise = Table.of(rng.normal(size=(90, 3)), rng.normal(size=90))
    for table, said in ((bundled("norris"), "far to the right"), (bundled("wine"), "far"), (noise, "dashed")):
        ax = plots.comparison(compare_table(table, systems=["LinearRegression", "Ridge"]))
        assert ax.get_title(loc="right").startswith(said)


def test_what_select_and_learning_curve_return_is_drawn() -> None:
    chosen = select(Ridge(), X, Y, penalty=[0.1, 1.0, 10.0])
    ax = plots.validation_curve(chosen)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("penalty", "mean squared error")
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), chosen.curve.validation)
    ax = plots.validation_curve(select(Ridge(), X, Y, standardize=[True, False]))
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1].startswith("chosen: ")
    words = SimpleNamespace(values=["tanh", "logistic"], training=[1.0, 2.0], validation=[2.0, 3.0], chosen=1)
    ax = plots.validation_curve(words)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["tanh", "logistic"]
    assert [plots.validation_curve(words, name=name).get_xlabel() for name in (None, "g")] == ["value", "g"]
    grown = learning_curve(Ridge(penalty=1.0), X, Y)
    np.testing.assert_array_equal(plots.learning_curve(grown).lines[1].get_ydata(), grown.validation)


def test_a_name_chooses_the_parameter_of_a_grid_and_the_others_are_told() -> None:
    found = select(LinearRegression(basis=Polynomial()), X, Y, degree=[1, 2, 3], interactions=[True, False])
    ax = plots.validation_curve(found, name="interactions")
    assert ax.get_xlabel() == f"basis__interactions, at basis__degree={found.parameters['basis__degree']}"
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), found.along("basis__interactions").validation[::-1])
    np.testing.assert_array_equal(plots.validation_curve(found, name="degree").lines[1].get_xdata(), [1, 2, 3])


def test_systems_side_by_side_are_not_joined_and_their_names_do_not_overlap() -> None:
    found = select([Ridge(penalty=one) for one in (0.1, 1.0, 10.0, 100.0)], X, Y)
    ax = plots.validation_curve(found)
    assert [line.get_linestyle() for line in ax.lines[:2]] == ["None", "None"]
    ax.figure.canvas.draw()
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {30.0}
