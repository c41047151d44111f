"""Plots in one readable style, safe for the colour-blind: what `adaline.faces.plots` draws.

Examples
--------
>>> from adaline import Perceptron, plots
>>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 1.0], [2.0, 2.0]], ["no", "no", "yes", "yes"]
>>> ax = plots.hyperplane(Perceptron().fit(X, y), X, y)
>>> ax.figure.suptitle("A perceptron").get_text()
'A perceptron'
"""

from adaline.faces.plots import *  # noqa: F403
from adaline.faces.plots import __all__ as __all__
