"""Plots of rows without labels: the density of a mixture with its components, and the cells of k-means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.arrays import Array, RowsLike
from adaline.errors import InvalidParameter
from adaline.fitted import AnyModel
from adaline.plots.field import GRID_POINTS, Field, scatter_classes
from adaline.plots.inputs import column_names, method_values, need, plane, refuse_basis
from adaline.plots.style import INK, LINES, Axes, axes, colour, finished, marker, mixed, size, styled, thin

ELLIPSE_DEVIATIONS = 2.0  # standard deviations of the ellipses
TRANSFORMED = "fit it without one to phi(X), and draw that"
DENSITIES = 10.0 ** np.arange(-3, 0.01, 0.5)  # contours, as shares of the highest density


@styled
def mixture(model: AnyModel, X: RowsLike, ax: Axes | None = None, *, names: Sequence[Any] | None = None) -> Axes:
    """Draw the density of a mixture of Gaussians as contours, its components as ellipses, and the rows.

    A row has the colours of the components mixed by their responsibilities for it, and the marker of the largest; an
    ellipse is two standard deviations wide; a contour is half a power of ten above the next one outside.

    Parameters
    ----------
    model : a GaussianMixture, fitted to two columns.
    X : rows (n, 2).
    ax : where to draw; None: axes of a new figure.
    names : of the columns; None: those of a frame, of the model, or x0, x1.

    Examples
    --------
    >>> from adaline import GaussianMixture, datasets, plots
    >>> data = datasets.load("penguins")
    >>> X = data.X[:, :2]
    >>> ax = plots.mixture(GaussianMixture(n_components=3).fit(X), X, names=data.feature_names[:2])
    >>> len(ax.get_legend().get_texts())
    3

    References
    ----------
    Lecture S3, recap of mixtures of Gaussians and EM.
    """
    x = plane(X, "mixture")
    need(model, "covariances_", "mixture", "use a fitted GaussianMixture")
    refuse_basis(model, "mixture", TRANSFORMED)
    words = column_names(names, X, model, 2)
    means, count = np.asarray(model.means_), len(model.weights_)
    if means.shape[1] != 2:
        raise InvalidParameter(f"mixture draws two columns and the model has {means.shape[1]}: fit it on two")
    ax = axes(ax, 4.2)
    field = Field(ax, x)
    density = method_values(model.score_samples, field.points)
    share = np.exp(density - density.max()).reshape(GRID_POINTS, GRID_POINTS)
    ax.contourf(field.first, field.second, share, [*DENSITIES, 2.0], colors=_greys(len(DENSITIES)), zorder=0)
    ax.contour(field.first, field.second, share, DENSITIES, colors="#aaaaaa", linewidths=0.5)
    rows = thin(len(x))
    duty = method_values(model.predict_proba, x[rows])
    tints = mixed([colour(k) for k in range(count)], duty)
    best = duty.argmax(axis=1)
    for k, covariance in enumerate(_covariances(model, count)):
        own = best == k
        dots: dict[str, Any] = {"marker": marker(k), "s": size(len(rows)), "linewidths": 0, "rasterized": True}
        ax.scatter(x[rows][own, 0], x[rows][own, 1], color=tints[own], alpha=0.8, **dots)
        ring = _ellipse(means[k], covariance)
        line: dict[str, Any] = {"color": colour(k), "linestyle": LINES[k % 4], "linewidth": 1.8}
        ax.plot(ring[0], ring[1], label=f"component {k}: {model.weights_[k]:.2f}", **line)
        ax.plot(*means[k], marker="X", markersize=10, color=colour(k), markeredgecolor="white", zorder=4)
    ax.set(xlim=(field.low[0], field.high[0]), ylim=(field.low[1], field.high[1]))
    return finished(ax, *words)


@styled
def clusters(model: AnyModel, X: RowsLike, ax: Axes | None = None, *, names: Sequence[Any] | None = None) -> Axes:
    """Draw the cells of k-means, their centres, and the rows.

    Parameters
    ----------
    model : a KMeans, fitted to two columns.
    X : rows (n, 2).
    ax : where to draw; None: axes of a new figure.
    names : of the columns; None: those of a frame, of the model, or x0, x1.

    Examples
    --------
    >>> from adaline import KMeans, datasets, plots
    >>> data = datasets.load("penguins")
    >>> X = data.X[:, :2]
    >>> ax = plots.clusters(KMeans(n_clusters=3).fit(X), X, names=data.feature_names[:2])
    >>> len(ax.get_legend().get_texts())
    4

    References
    ----------
    Lecture S3, k-means and the mixtures that generalise it.
    """
    x = plane(X, "clusters")
    centres = np.asarray(need(model, "cluster_centers_", "clusters", "use a fitted KMeans"))
    refuse_basis(model, "clusters", TRANSFORMED)
    if centres.shape[1] != 2:
        raise InvalidParameter(f"clusters draws two columns and the model has {centres.shape[1]}: fit it on two")
    words = column_names(names, X, model, 2)
    ax = axes(ax, 4.2)
    field = Field(ax, x)
    away = method_values(model.transform, field.points)
    field.regions(away.argmin(axis=1), len(centres))
    if len(centres) > 1:
        field.borders(-away)
    scatter_classes(
        ax, x, method_values(model.predict, x).astype(np.intp), [f"cluster {k}" for k in range(len(centres))], None
    )
    style: dict[str, Any] = {"s": 90, "marker": "X", "color": INK, "edgecolors": "white", "linewidths": 1.2}
    ax.scatter(centres[:, 0], centres[:, 1], label="centre", zorder=4, **style)
    return finished(ax, *words)


def _greys(count: int) -> list[str]:
    return [f"#{level:02x}{level:02x}{level:02x}" for level in np.linspace(250, 205, count).astype(int)]


def _covariances(model: AnyModel, count: int) -> Array:
    """Return a matrix for each component, (K, 2, 2)."""
    found = np.asarray(model.covariances_)
    match model._fitted_with.covariance_type:
        case "tied":
            return np.broadcast_to(found, (count, 2, 2))
        case "diag":
            return found[:, :, None] * np.eye(2)
        case "spherical":
            return found[:, None, None] * np.eye(2)
    return found


def _ellipse(mean: Array, covariance: Array) -> Array:
    """Return points of the ellipse where the distance in standard deviations is ELLIPSE_DEVIATIONS, (2, m)."""
    angle = np.linspace(0, 2 * np.pi, 200)
    values, vectors = np.linalg.eigh(covariance)
    circle = np.array([np.cos(angle), np.sin(angle)])
    return np.asarray(mean[:, None] + ELLIPSE_DEVIATIONS * vectors @ (np.sqrt(values.clip(0))[:, None] * circle))
