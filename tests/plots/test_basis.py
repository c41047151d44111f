"""Models that see rows by a basis: every plot of a model is right, or refuses."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

from adaline import (
    LMS,
    AdalineError,
    FisherDiscriminant,
    GaussianMixture,
    KMeans,
    LinearRegression,
    LogisticRegression,
    OneVsRest,
    Ridge,
    plots,
)
from adaline.basis import Basis, Custom, Polynomial
from tests.plots.drawn import SIDE, TWO, XC, C, X, Y


def bent(x: NDArray[Any]) -> NDArray[Any]:
    """As wide as x: nothing but the picture tells it from x."""
    return x**3 / 100 + x


CUBE, SQUARES = Custom(bent), Polynomial(degree=2)


def phi(x: Any, basis: Basis = CUBE) -> Any:
    return basis.fit_transform(x)


def names(columns: int, basis: Basis = CUBE) -> list[str]:
    return basis.names([f"x{j}" for j in range(columns)])


RIGHT: dict[str, Callable[[], tuple[Axes, Axes]]] = {
    "coefficients": lambda: (
        plots.coefficients(Ridge(penalty=1.0, basis=SQUARES).fit(X, Y), X),
        plots.coefficients(Ridge(penalty=1.0).fit(phi(X, SQUARES), Y), phi(X, SQUARES), names=names(4, SQUARES)),
    ),
    "coefficient_path": lambda: (
        plots.coefficient_path(Ridge(basis=SQUARES).fit(X, Y), X, Y),
        plots.coefficient_path(Ridge().fit(phi(X, SQUARES), Y), phi(X, SQUARES), Y, names=names(4, SQUARES)),
    ),
    "penalty_path": lambda: (
        plots.penalty_path(Ridge(basis=CUBE).fit(X, Y)),
        plots.penalty_path(Ridge().fit(phi(X), Y)),
    ),
    "line": lambda: (
        plots.line(LinearRegression(basis=CUBE).fit(X[:, :1], Y), X[:, :1], Y),
        plots.line(make_pipeline(CUBE, LinearRegression()).fit(X[:, :1], Y), X[:, :1], Y),
    ),
    "leverage": lambda: (
        plots.leverage(LinearRegression(basis=CUBE).fit(X, Y), X, Y),
        plots.leverage(LinearRegression().fit(phi(X), Y), phi(X), Y),
    ),
    "fisher_projection": lambda: (
        plots.fisher_projection(FisherDiscriminant(basis=CUBE).fit(XC, C), XC, C),
        plots.fisher_projection(FisherDiscriminant().fit(phi(XC), C), phi(XC), C),
    ),
    "decision_regions": lambda: (
        plots.decision_regions(LogisticRegression(penalty=1.0, basis=CUBE).fit(XC, C), XC, C),
        plots.decision_regions(make_pipeline(CUBE, LogisticRegression(penalty=1.0)).fit(XC, C), XC, C),
    ),
    "ambiguous_regions": lambda: (
        plots.ambiguous_regions(OneVsRest(LogisticRegression(penalty=1.0), basis=CUBE).fit(XC, C), XC, C),
        plots.ambiguous_regions(OneVsRest(LogisticRegression(penalty=1.0, basis=CUBE)).fit(XC, C), XC, C),
    ),
    "history": lambda: (
        plots.history(LMS(rate="auto", epochs=5, basis=CUBE).fit(X, Y)),
        plots.history(LMS(rate="auto", epochs=5).fit(phi(X), Y)),
    ),
}
REFUSED: dict[str, Callable[[], Any]] = {
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
def test_a_basis_is_drawn_as_what_it_is(name: str) -> None:
    found, expected = RIGHT[name]()
    for one, other in zip(drawn(found), drawn(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
    words = [[text.get_text() for text in (*ax.get_yticklabels(), *ax.texts)] for ax in (found, expected)]
    assert words[0] == words[1]


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_place_on_the_axes_is_refused(name: str) -> None:
    with pytest.raises(AdalineError, match=rf"{name} draws columns as given, and \w+ sees them by a basis: \w"):
        REFUSED[name]()


def test_every_plot_of_a_model_is_under_this_law() -> None:
    asks = {name: inspect.signature(getattr(plots, name)).parameters for name in plots.__all__}
    takers = {name for name, given in asks.items() if {"model", "path", "system"} & given.keys()}
    assert takers == RIGHT.keys() | REFUSED.keys()
