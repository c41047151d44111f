r"""A monotone activation keeps boundaries linear, another one does not.

Lecture S3, generalized linear models. The machine is $y(x) = g(w'x + w_0)$, and for a monotone activation $g$

$$y(x) = \text{const} \iff w'x + w_0 = \text{const}.$$

Three activations are fitted to two overlapping classes: the outputs differ, each boundary is one straight line, and
`separability` proves it for every level. The bump $g(a) = e^{-a^2}$ is not monotone. It is fitted to a class that lies
between the others, and its region is a band with two edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from adaline import GeneralizedLinear, separability
from adaline.activations import Activation
from drawing import panels, points, regions, show


class Bump(Activation):
    name = "bump"

    def value(self, z: Any) -> Any:
        return np.exp(-(z**2))

    def slope(self, z: Any) -> Any:
        return -2 * z * np.exp(-(z**2))

    def bend(self, z: Any) -> Any:
        return (4 * z**2 - 2) * np.exp(-(z**2))


def straight(model: GeneralizedLinear, grid: np.ndarray) -> bool:
    """Whether the sides y(x) > c of the model are half-planes, for levels c all over its range."""
    outputs = model.predict(grid)
    levels = np.quantile(outputs, [0.1, 0.3, 0.5, 0.7, 0.9])
    return all(separability(grid, outputs > level).separable for level in levels)


def main() -> Figure:
    rng = np.random.default_rng(0)
    t = np.repeat([0.0, 1.0], 150)
    X = rng.normal(size=(300, 2)) + np.where(t[:, None] == 1, [1.2, 0.8], [-1.2, -0.8])
    between = (np.abs(X @ [0.8, 0.6]) < 1.1).astype(float)
    grid = np.column_stack([a.ravel() for a in np.meshgrid(*2 * [np.linspace(-4, 4, 25)])])

    figure, axes = panels(4, width=3.2, height=3.6)
    for ax, activation in zip(axes, ["identity", "logistic", "softplus", Bump()], strict=True):
        target, start = (t, None) if isinstance(activation, str) else (between, [0.0, 0.6, 0.4])
        model = GeneralizedLinear(activation=activation, init=start).fit(X, target)
        name = activation if isinstance(activation, str) else "bump"
        assert straight(model, grid) == (name != "bump"), "one straight line if and only if g is monotone"

        points(ax, X, target, names=["$t = 0$", "$t = 1$"], s=10)
        regions(ax, lambda rows, model=model: model.predict(rows) > 0.5)
        ends = "one line" if name != "bump" else "two lines: a band"
        ax.set(title=f"{name}: {ends}", xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
