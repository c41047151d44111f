r"""Gradient descent on a parabola converges if and only if the rate alpha is between 0 and 1.

S1, gradient descent, elementary example, which "converges to y(t)=0 (or x(t)=-2) if 0 < alpha < 1". The minimum of
$f(x) = (x + 2)^2$ is at $-2$; with $y = x + 2$ each step multiplies the distance by one number:

$$x(t+1) = x(t) - \alpha f'(x(t)) \quad\Rightarrow\quad y(t+1) = (1 - 2\alpha)\,y(t)$$

Below one half the steps come from one side, above it from both, at 1 they oscillate, beyond it they diverge. The
machine is a linear regression of one row without a constant, whose rate $\eta = 2\alpha$ has absorbed the factor 2.
"""

from __future__ import annotations

import warnings

import numpy as np
from matplotlib.figure import Figure

from adaline import LinearRegression, Status
from drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, finish, panels, show


def descent(alpha: float, epochs: int) -> LinearRegression:
    """Descent on f(x) = (x + 2)^2 = (t - w)^2 with t = -2, from x = 1."""
    model = LinearRegression(
        solver="gradient", rate=2 * alpha, init=np.array([0.0, 1.0]), fit_intercept=False, epochs=epochs
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of these are meant to diverge, others are stopped on the way
        return model.fit([[1.0]], [-2.0])


def main(*, edge: float = 1.0) -> Figure:
    figure, (left, right) = panels(2)
    x = np.linspace(-6, 2, 200)
    left.plot(x, (x + 2) ** 2, color=GREY)
    for alpha, colour, marker in ((0.1, GREEN, "o-"), (0.45, BLUE, "s-"), (0.9, ORANGE, "^-")):
        steps = np.array([1.0, *(descent(alpha, n).coef_[0] for n in range(1, 7))])
        assert np.allclose(steps + 2, 3 * (1 - 2 * alpha) ** np.arange(7)), "each step multiplies by 1 - 2 alpha"
        left.plot(steps, (steps + 2) ** 2, marker, color=colour, ms=5, linewidth=1, label=rf"$\alpha={alpha}$")
    alphas = np.array([0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.01, 1.1, 1.2])
    ends = [descent(float(alpha), 2000) for alpha in alphas]
    found = np.array([model.certificate_.status is Status.SOLVED and abs(model.coef_[0] + 2) < 1e-6 for model in ends])
    assert np.array_equal(found, alphas < edge), "descent converges for 0 < alpha < 1, and only then"
    right.semilogy(alphas[found], [ends[i].n_iter_ for i in np.flatnonzero(found)], "o-", color=BLUE, label="converged")
    right.semilogy(alphas[~found], [2000] * np.sum(~found), "X", color=VERMILION, ms=8, linewidth=0, label="diverged")
    right.axvline(1.0, color=PURPLE, linestyle=":", label=r"$\alpha = 1$")
    finish(left, "Steps from one side, or from both", "$x$", "$f(x) = (x + 2)^2$")
    finish(right, "Beyond 1 there is no convergence", r"$\alpha$", "steps to the minimum")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
