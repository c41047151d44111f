"""Plots in one readable style, safe for the colour-blind; public as `adaline.plots`.

Every function takes `ax`, where to draw (None: axes of a new figure), and returns the Axes; nothing is shown, and no
setting of matplotlib is changed. Legends stand above the axes: for a title use `ax.figure.suptitle`, and for axes of
your own `plt.subplots(layout="constrained")`, which leaves room for them. Scatter plots show at most 5000 rows, drawn
at random. `svg(ax)` is the figure as text; `ax.figure.savefig("plot.png")` writes a file.

| what | plots |
|---|---|
| regression | `line`, `residuals`, `quantiles`, `leverage` |
| coefficients | `coefficients`, `coefficient_path`, `penalty_path` |
| marginal means | `means` |
| additive models | `smooth`, `random_effects` |
| bootstrap replicates | `bootstrap` |
| classification | `confusion`, `calibration`, `roc`, `precision_recall`, `fisher_projection` |
| classes in the plane | `decision_regions`, `hyperplane`, `ambiguous_regions` |
| learning | `learning_curve`, `validation_curve`, `history`, `error_surface` with `trajectory` |
| signals | `filter_signals` |
| without labels | `mixture`, `clusters` |
| systems side by side | `comparison` |

Examples
--------
>>> from adaline import LinearRegression, datasets, plots
>>> data = datasets.load("penguins", target="body_mass_g")
>>> model = LinearRegression().fit(data.X, data.y)
>>> ax = plots.residuals(data.y, model.predict(data.X))
>>> ax.get_xlabel(), plots.svg(ax)[:4]
('prediction', '<svg')

Design
------
There is a file for each kind of picture. The style is on only while a plot is drawn. `style.py` alone imports
matplotlib, when the first plot is drawn: `from adaline import *` works without it, and a plot then names the extra.
Colours are those of Okabe and Ito; classes also differ by marker, lines by dashes. Legends stand above the axes, where
they hide nothing, and are as wide as the axes; direct labels are moved apart by least squares. Ticks of logarithmic
axes are plain text, as names of columns with dollars must not be read as formulas. A test draws every plot, in its own
figure and in narrow axes, and checks that no text covers another.

- Regions are an image (300 x 300) and contours of the scores, so that borders are lines and not stairs.
- The hyperplane has one scale on both axes, or its normal would not look normal; ranges that differ by more than 6
  times get scales of their own.
- Weights, centres and spreads of a system with a basis belong to phi(x): `hyperplane`, `mixture`, `clusters` and
  `trajectory` refuse such systems, all other plots accept them; a test checks this for every plot of a model.
- Curves have gaps where a candidate or a size failed, and no band where a method knows no standard error.
- `coefficient_path` fits the system again under each penalty: Ridge's sums give the criterion of all penalties, but
  keep the coefficients of one.
- Only the last weights of descent are kept by the solvers: `trajectory` takes the steps one by one.
"""

from adaline.plots.additive import random_effects, smooth
from adaline.plots.classification import calibration, confusion, fisher_projection
from adaline.plots.coefficients import coefficient_path, coefficients, penalty_path
from adaline.plots.comparison import comparison
from adaline.plots.curves import history, learning_curve, validation_curve
from adaline.plots.hyperplane import hyperplane
from adaline.plots.marginal import means
from adaline.plots.mixtures import clusters, mixture
from adaline.plots.regions import ambiguous_regions, decision_regions
from adaline.plots.regression import leverage, line, quantiles, residuals
from adaline.plots.replicates import bootstrap
from adaline.plots.signals import filter_signals
from adaline.plots.style import svg
from adaline.plots.surfaces import error_surface, trajectory
from adaline.plots.thresholds import precision_recall, roc

__all__ = [
    "ambiguous_regions",
    "bootstrap",
    "calibration",
    "clusters",
    "coefficient_path",
    "coefficients",
    "comparison",
    "confusion",
    "decision_regions",
    "error_surface",
    "filter_signals",
    "fisher_projection",
    "history",
    "hyperplane",
    "learning_curve",
    "leverage",
    "line",
    "means",
    "mixture",
    "penalty_path",
    "precision_recall",
    "quantiles",
    "random_effects",
    "residuals",
    "roc",
    "smooth",
    "svg",
    "trajectory",
    "validation_curve",
]
