"""What plots can be given: rows of any kind, and bad ones, which are refused with advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.axes import Axes
from scipy import sparse

from adaline import (
    LMS,
    AdalineError,
    FisherDiscriminant,
    GaussianClassifier,
    GaussianMixture,
    KMeans,
    LeastSquaresClassifier,
    LinearRegression,
    OneVsRest,
    Ridge,
    plots,
    select,
)
from tests.plots.drawn import GAUSS, LINE, LINEAR, SIDE, SLOPE, TWO, XC, C, X, Y

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
