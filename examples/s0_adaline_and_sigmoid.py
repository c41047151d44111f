r"""Adaline's LMS, which skips the derivative of the sign, finds the boundary of the exact sigmoidal rule in more steps.

S0, sections 5.5 (The Adaline) and 5.7 (Gradient descent and LMS for a sigmoidal Perceptron). The exact rule (5.30) is
LMS on the output $\phi(\mathbf{w}^T\mathbf{x})$, with the factor $\phi'$, "always a positive number":

$$\text{LMS: } \Delta\mathbf{w} = \eta\,(y - \mathbf{w}^T\mathbf{x})\,\mathbf{x}, \qquad
\text{exact: } \Delta\mathbf{w} = \eta\,(y - \phi(z))\,\phi'(z)\,\mathbf{x}, \quad z = \mathbf{w}^T\mathbf{x}$$

Left, both boundaries on the same rows. Right, how far from the best boundary both are after so many rows, at one
rate: a row far on its right side shakes LMS and not the sigmoid, so that LMS needs more of them. With a rate small
enough both do the same ("if the learning rate is small then it should work fine with LMS").
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import Adaline, SigmoidPerceptron
from drawing import BLUE, VERMILION, finish, line, panels, points, show

RULES = {"Adaline (LMS)": (Adaline, VERMILION, "--"), "sigmoidal perceptron": (SigmoidPerceptron, BLUE, "-")}
STEPS = np.unique(np.geomspace(20, 6000, 25).astype(int))


def rows(seed: int, n: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes; the best boundary is the plane x1 = 0."""
    y = np.arange(n) % 2
    X = np.random.default_rng(seed).normal(size=(n, columns))
    X[:, 0] += 1.5 * (2 * y - 1)
    return X, y


def degrees(model: Adaline | SigmoidPerceptron) -> float:
    """The angle between the boundary and the best one, in the space of (1, x)."""
    w = np.append(model.intercept_, model.coef_[0])
    return float(np.degrees(np.arccos(w[1] / np.linalg.norm(w))))


def wander(rule: type, rate: float, seed: int) -> list[float]:
    X, y = rows(seed, STEPS[-1], 5)
    model = rule(mode="online", rate=rate)
    return [
        degrees(model.partial_fit(X[a:b], y[a:b], classes=[0, 1])) for a, b in zip([0, *STEPS], STEPS, strict=False)
    ]


def main(*, rate: float = 0.0015, goal: float = 4.0) -> Figure:
    figure, (left, right) = panels(2)
    X, y = rows(0, 2000, 2)
    points(left, X[:300], y[:300])
    ends, last, needed = [], [], {}
    for name, (rule, colour, style) in RULES.items():
        ends.append(rule(mode="batch", epochs=500).fit(X, y))
        line(left, ends[-1].coef_, ends[-1].intercept_, color=colour, linestyle=style, label=name)
        angles = np.mean([wander(rule, rate, seed) for seed in range(20)], axis=0)
        last.append(angles[-1])
        needed[name] = STEPS[np.argmax(angles < goal)] if np.any(angles < goal) else np.inf
        right.semilogx(STEPS, angles, color=colour, linestyle=style, marker=".", label=name)
    slow, quick = needed.values()
    assert np.mean(ends[0].predict(X) != ends[1].predict(X)) < 0.01, "both rules find the same boundary"
    assert quick <= 0.75 * slow, "the exact rule is there in fewer steps"
    careful = [
        np.mean([wander(rule, 1e-4, seed) for seed in range(3)], axis=0) for rule in (Adaline, SigmoidPerceptron)
    ]
    assert np.allclose(*careful, rtol=0.1), "at a small rate both rules do the same"
    right.axhline(goal, color="black", linewidth=0.8, linestyle=":")
    finish(left, "LMS and the exact rule end at one boundary", "$x_1$", "$x_2$")
    finish(
        right,
        f"Within {goal:g} degrees after {quick} rows against {slow}",
        "rows learned from",
        "degrees from the best",
    )
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
