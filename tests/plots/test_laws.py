"""Laws that every plot obeys: what it may be given, axes, labels, texts that cover nothing, models with a basis."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import adaline
from adaline import (
    LMS,
    AdalineError,
    FisherDiscriminant,
    GaussianClassifier,
    GaussianMixture,
    KMeans,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    OneVsRest,
    Ridge,
    plots,
    select,
)
from adaline.basis import Basis, Custom, Polynomial
from adaline.plots.inputs import plain_array
from tests.plots.drawn import DRAWN, GAUSS, LINE, LINEAR, SIDE, SLOPE, TWO, XC, C, X, Y

every = pytest.mark.parametrize("name", DRAWN)


@cache
def own(name: str) -> tuple[Axes, str]:
    """Return the axes of the plot's own figure, which the laws only look at, and its text as SVG."""
    ax = DRAWN[name](None)
    return ax, plots.svg(ax)


@cache
def narrow(name: str) -> tuple[Axes, Axes]:
    """Return the narrow axes that a plot was told to draw on, and those that it returned."""
    given = Figure(figsize=(3.6, 5.0), layout="constrained").add_subplot()
    return given, DRAWN[name](given)


@every
def test_plots_return_axes_and_draw_where_they_are_told(name: str) -> None:
    before = dict(matplotlib.rcParams)
    (ax, text), (given, returned) = own(name), narrow(name)
    assert isinstance(ax, Axes)
    assert returned is given
    assert ax.has_data()
    ElementTree.fromstring(text)
    assert "mathdefault" not in text, "ticks are plain text"
    assert text == plots.svg(DRAWN[name](None)), "the same data, the same bytes"
    assert dict(matplotlib.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


@every
def test_axes_are_labelled_and_what_differs_is_told_apart(name: str) -> None:
    ax, _ = own(name)
    named = [label.get_text() for label in ax.get_yticklabels()]
    assert ax.get_xlabel()
    assert ax.get_ylabel() or (named and not any(text[0].isdigit() for text in named))
    names = ax.get_legend_handles_labels()[1]
    assert len(set(names)) == len(names)
    assert ax.get_legend() is not None or len(names) < 2


@every
@pytest.mark.parametrize("drawn", [own, narrow], ids=["own figure", "narrow axes"])
def test_no_text_covers_another_or_leaves_the_figure(name: str, drawn: Callable[[str], tuple[Axes, object]]) -> None:
    ax, _ = drawn(name)
    figure: Any = ax.figure
    figure.draw_without_rendering()
    boxes = _boxes(ax)
    for (one, a), (two, b) in combinations(boxes, 2):
        assert not a.shrunk(0.9, 0.8).overlaps(b.shrunk(0.9, 0.8)), f"{one!r} covers {two!r}"
    page = figure.bbox.padded(2)
    for text, box in boxes if drawn is own else []:
        assert page.x0 <= box.x0 <= box.x1 <= page.x1, text
        assert page.y0 <= box.y0 <= box.y1 <= page.y1, text


def _boxes(ax: Axes) -> list[tuple[str, Any]]:
    """Return all visible texts, with their positions."""
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


def test_every_public_plot_is_under_these_laws() -> None:
    drawn = {name.split()[0] for name in DRAWN}
    assert drawn | {"svg", "trajectory"} == set(plots.__all__)
    assert adaline.plots is plots
    for name in plots.__all__:
        for part in ("Parameters\n", "Examples\n"):
            assert part in (getattr(plots, name).__doc__ or ""), name


@pytest.mark.slow
def test_without_matplotlib_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['matplotlib'] = None; from adaline import *; plots.quantiles([1.0, 2.0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith("pip install 'adaline-learn[app]'")


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


@pytest.mark.parametrize("column", [pd.Series, pl.Series], ids=["pandas", "polars"])
def test_columns_of_frames_are_arrays_to_plots(column: Any) -> None:
    assert type(plain_array(column([1.0, 2.0]))) is np.ndarray


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
    "unknown label": (lambda: plots.decision_regions(GAUSS, XC, np.where(C == "a", "z", C)), "know: z, at row 0"),
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
    "no comparison": (lambda: plots.comparison(select(Ridge(), X, Y, penalty=[1.0, 2.0])), "what compare"),
    "no comparison at all": (lambda: plots.comparison(3), "what compare"),
    "not varied": (lambda: plots.validation_curve(select(Ridge(), X, Y, penalty=[1.0]), name="tol"), "not varied"),
    "no curve": (lambda: plots.learning_curve(LINEAR), "needs `sizes`"),
    "no errors": (lambda: plots.learning_curve(([1, 2], [1.0, 2.0], [np.nan, np.nan])), "no finite value"),
    "no probabilities": (lambda: plots.calibration(SIDE, GAUSS.decision_function(TWO)[:, :2]), "between 0 and 1"),
    "columns of classes": (lambda: plots.calibration(SIDE, GAUSS.predict_proba(TWO)), "name them by classes"),
    "names": (lambda: plots.decision_regions(GAUSS, XC, C, names=["u"]), "1 name for 2"),
    "no steps": (lambda: plots.trajectory(GAUSS, XC, C), "does not learn in steps"),
    "unknown start": (lambda: plots.trajectory(LMS(init="random"), X, Y), "start that is known"),
    "many inputs": (lambda: plots.filter_signals(np.ones((9, 5)), np.ones(9), np.ones(9)), "choose some"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_drawn_is_refused_with_advice(case: str) -> None:
    draw, message = REFUSED[case]
    with pytest.raises(AdalineError, match=message):
        draw()


def bent(x: NDArray[Any]) -> NDArray[Any]:
    """As wide as x: nothing but the picture tells it from x."""
    return x**3 / 100 + x


CUBE, SQUARES = Custom(bent), Polynomial(degree=2)


MACHINES, CUBED = LogisticRegression(penalty=1.0), LogisticRegression(penalty=1.0, basis=CUBE)
RIGHT: dict[str, tuple[Any, Basis, Any, Any, slice, Any]] = {
    "coefficients": (Ridge(penalty=1.0), SQUARES, X, Y, slice(1), None),
    "coefficient_path": (Ridge(), SQUARES, X, Y, slice(2), None),
    "penalty_path": (Ridge(), CUBE, X, Y, slice(0), None),
    "line": (LinearRegression(), CUBE, X[:, :1], Y, slice(2), make_pipeline(CUBE, LinearRegression())),
    "leverage": (LinearRegression(), CUBE, X, Y, slice(2), None),
    "fisher_projection": (FisherDiscriminant(), CUBE, XC, C, slice(2), None),
    "decision_regions": (MACHINES, CUBE, XC, C, slice(2), make_pipeline(CUBE, MACHINES)),
    "ambiguous_regions": (
        OneVsRest(MACHINES),
        CUBE,
        XC,
        C,
        slice(2),
        OneVsRest(CUBED),
    ),
    "history": (LMS(rate="auto", epochs=5), CUBE, X, Y, slice(0), None),
}
"""By plot a system, its basis, rows and targets, which of the two the plot takes, and what is the same on these rows;
None: the system without the basis, on rows that the basis has changed."""
UNSUITED: dict[str, Callable[[], Any]] = {
    "hyperplane": lambda: plots.hyperplane(LogisticRegression(penalty=1.0, basis=CUBE).fit(TWO, SIDE), TWO, SIDE),
    "clusters": lambda: plots.clusters(KMeans(n_clusters=2, basis=CUBE).fit(XC), XC),
    "mixture": lambda: plots.mixture(GaussianMixture(n_components=2, basis=CUBE).fit(XC), XC),
    "trajectory": lambda: plots.trajectory(LMS(rate=1e-3, basis=CUBE), X, Y),
}


def drawn(ax: Axes) -> list[NDArray[Any]]:
    """Return lines, positions of points, and filled shapes."""
    lines = [line.get_xydata() for line in ax.lines]
    positions = [np.asarray(part.get_offsets()) for part in ax.collections]
    shapes = [path.vertices for part in ax.collections for path in part.get_paths()]
    return [np.asarray(one, dtype=np.float64) for one in (*lines, *positions, *shapes)]


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.every
def test_a_basis_is_drawn_as_what_it_is(name: str) -> None:
    model, basis, x, y, taken, same = RIGHT[name]
    plot, phi = getattr(plots, name), basis.fit_transform(x)
    found = plot(clone(model).set_params(basis=basis).fit(x, y), *(x, y)[taken])
    named = {"names": basis.names([f"x{j}" for j in range(x.shape[1])])} if name.startswith("coefficient") else {}
    if same is None:
        expected = plot(model.fit(phi, y), *(phi, y)[taken], **named)
    else:
        expected = plot(same.fit(x, y), *(x, y)[taken])
    for one, other in zip(drawn(found), drawn(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
    words = [[text.get_text() for text in (*ax.get_yticklabels(), *ax.texts)] for ax in (found, expected)]
    assert words[0] == words[1]


@pytest.mark.parametrize("name", UNSUITED)
def test_what_has_no_place_on_the_axes_is_refused(name: str) -> None:
    with pytest.raises(AdalineError, match=rf"{name} draws columns as given, and \w+ sees them by a basis: \w"):
        UNSUITED[name]()


def test_every_plot_of_a_model_is_under_this_law() -> None:
    asks = {name: inspect.signature(getattr(plots, name)).parameters for name in plots.__all__}
    takers = {name for name, given in asks.items() if {"model", "path", "system"} & given.keys()}
    without_a_basis = {"smooth", "random_effects"}  # of AdditiveModel, which has no parameter of that name
    assert takers == RIGHT.keys() | UNSUITED.keys() | without_a_basis
