r"""A perceptron on separable rows makes at most R²/M² updates, since its weights outgrow their own length.

S1, the perceptron convergence theorem, from $\mathbf{w}(0) = 0$ with $\alpha = 1$. After $n$ updates, with a solution
$\mathbf{w}_{sol}$ of length one, margin $M$ and the longest row $R$:

$$nM \;\leq\; \mathbf{w}_{sol}^T\mathbf{w} \;\leq\; \|\mathbf{w}\| \;\leq\; \sqrt{n}\,R
\qquad\Rightarrow\qquad n \leq R^2/M^2$$

The projection on a solution is bounded below by a line in $n$, the length above by a square root. They cross at
$R^2/M^2$, and there the updates must have ended. These end earlier, because the bounds are those of the worst case.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import Perceptron, separability
from drawing import BLUE, GREY, VERMILION, finish, panels, show


def main(*, gap: float = 0.5) -> Figure:
    rng = np.random.default_rng(2)
    X = rng.uniform(0, 6, size=(150, 2))
    away = X @ [0.8, 0.6] - 3.0
    X, y = X[np.abs(away) > gap], (away[np.abs(away) > gap] > 0).astype(int)
    ones, t = np.column_stack([np.ones(len(X)), X]), 2 * y - 1
    proof = separability(X, y)
    assert proof.separable, "the rows are separable"
    solution = np.append(proof.intercept, proof.coef)
    solution /= np.linalg.norm(solution)
    M, R = np.min(t * (ones @ solution)), np.max(np.linalg.norm(ones, axis=1))

    model = Perceptron()
    path = [np.zeros(3)]
    for _ in range(1000):
        for k in range(len(X)):
            model.partial_fit(X[k : k + 1], y[k : k + 1], classes=[0, 1])
            if model.mistakes_ == len(path):
                path.append(np.append(model.intercept_, model.coef_[0]))
        if model.score(X, y) == 1:
            break
    n, w = np.arange(len(path)), np.array(path)
    length, along = np.linalg.norm(w, axis=1), w @ solution
    slack = 1 + 1e-12
    assert np.all(length <= np.sqrt(n) * R * slack), "the length grows no faster than sqrt(n) max ||x||"
    assert np.all(along * slack >= n * M), "the projection on a solution grows at least linearly"
    assert n[-1] <= R**2 / M**2, "there are at most R²/M² updates"
    fitted = Perceptron().fit(X, y)
    assert fitted.mistakes_ == n[-1], "fit makes the same updates"
    assert fitted.mistakes_ <= fitted.bound_, "and its own bound, from its own margin, holds"

    figure, (ax,) = panels(1, width=6.6, height=4.8)
    more = np.geomspace(1, 2 * R**2 / M**2, 200)
    ax.loglog(more, np.sqrt(more) * R, ":", color=BLUE, label=r"$\sqrt{n}\,R$")
    ax.loglog(n[1:], length[1:], color=BLUE, label=r"$\|\mathbf{w}\|$")
    ax.loglog(n[1:], along[1:], color=VERMILION, label=r"$\mathbf{w}_{sol}^T\mathbf{w}$")
    ax.loglog(more, more * M, ":", color=VERMILION, label=r"$n\,M$")
    ax.axvline(R**2 / M**2, color=GREY, linewidth=1, label=f"$R^2/M^2$ = {R**2 / M**2:.0f}")
    ax.plot(n[-1], length[-1], "k*", ms=12, linewidth=0, label=f"converged: {n[-1]} updates")
    finish(ax, "The updates end before the line and the root cross", "updates $n$", "length, projection")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
