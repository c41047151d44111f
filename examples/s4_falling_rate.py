r"""Stochastic gradient with a rate of η₀/t converges; a constant rate trembles, a faster fall stops short.

Lecture S4, online/stochastic gradient. "One condition for convergence is that $\eta(t)$ must be decreased according to
a schedule such that $\sum_t \eta(t)^2$ converges while $\sum_t \eta(t)$ diverges. One possible such sequence is
$\eta(t) = \eta_0 / t$":

$$w(t + 1) = w(t) + \eta(t)\, (y - w(t)'x)\, x.$$

The figure follows the distance to the least-squares solution of all rows. The constant rate violates the first half of
the condition, and stays at a distance; $\eta_0/t^2$ violates the second, and freezes on the way.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LMS, LinearRegression
from drawing import BLUE, GREEN, VERMILION, finish, panels, show

SCHEDULES = {"constant": "constant", "$\\eta_0/t$": "1/t", "$\\eta_0/t^2$": lambda t: 1.0 / t**2}


def main() -> Figure:
    rng = np.random.default_rng(10)
    X = rng.choice([-1.0, 1.0], size=(1000, 3))
    y = X @ [1.0, -2.0, 0.5] + 1.0 + rng.normal(size=1000)
    best = LinearRegression().fit(X, y)
    goal = np.array([best.intercept_, *best.coef_])
    seen = np.unique(np.geomspace(1, 200_000, 60).astype(int))
    order = np.concatenate([rng.permutation(1000) for _ in range(200)])

    distance = {}
    for name, schedule in SCHEDULES.items():
        model = LMS(rate=0.2 if schedule == "constant" else 1.0, schedule=schedule)
        ways, start = [], 0
        for stop in seen:
            model.partial_fit(X[order[start:stop]], y[order[start:stop]])
            ways.append(np.linalg.norm(np.array([model.intercept_, *model.coef_]) - goal))
            start = stop
        distance[name] = np.array(ways)

    constant, falling, fast = distance.values()
    assert falling[-1] < 0.01, "eta0/t reaches the solution"
    assert falling[-1] < 0.2 * falling[seen > 1000][0], "and still comes nearer after the first epoch"
    assert np.median(constant[-15:]) > 0.5 * np.median(constant[20:35]), "at a constant rate it keeps fluctuating"
    assert constant[-15:].min() > 5 * falling[-1], "at a distance"
    assert abs(fast[-1] - fast[-15]) < 1e-3 < 0.1 < fast[-1], "eta0/t^2 stops, and not at the solution"

    figure, (ax,) = panels(1, width=6.4, height=4.4)
    for (name, ways), colour, style in zip(distance.items(), (VERMILION, BLUE, GREEN), ("--", "-", "-."), strict=True):
        ax.loglog(seen, ways, style, color=colour, label=name)
    finish(ax, "Only $\\eta_0/t$ keeps approaching the solution", "rows seen", "$\\|w(t) - w^*\\|$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
