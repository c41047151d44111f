r"""Ridge damps the directions whose eigenvalues are below lambda, and some positive lambda generalises better.

S0, section 5.2 (Ridge regression), (5.12)-(5.13). Along the eigenvector $\mathbf{u}_i$ of $\mathbf{X}^T\mathbf{X}$
with eigenvalue $\lambda_i$ the ridge solution is that of least squares times a factor, one half where $\lambda_i =
\lambda$:

$$\mathbf{u}_i^T\mathbf{w}_\lambda = \frac{\lambda_i}{\lambda_i + \lambda}\;\mathbf{u}_i^T\mathbf{w}_0$$

Left, these factors measured on fits against the curve; "we effectively filter away all eigenvalues smaller than
lambda". Right, the error on new rows, averaged over training sets: "there always exists a positive lambda" with a
smaller one. The dots are what `penalty="auto"` chose, without seeing new rows.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import Ridge
from drawing import BLUE, GREEN, GREY, VERMILION, finish, panels, show

SPREAD = np.geomspace(3.0, 0.03, 12)  # of the inputs: nearly collinear


def rows(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, len(SPREAD))) * SPREAD
    return X, X @ np.tile([1.0, -1.0], len(SPREAD) // 2) + rng.normal(size=n)


def main(*, least: float = 3e-3, most: float = 30.0) -> Figure:
    penalties = np.geomspace(least, most, 21)
    figure, (left, right) = panels(2)
    rng = np.random.default_rng(0)
    X, y = rows(rng, 40)
    values, vectors = np.linalg.eigh(X.T @ X)
    plain = vectors.T @ Ridge(penalty=0.0, fit_intercept=False).fit(X, y).coef_
    for penalty, colour in ((0.1, GREEN), (3.0, BLUE), (100.0, VERMILION)):
        damped = vectors.T @ Ridge(penalty=penalty, fit_intercept=False).fit(X, y).coef_
        factors = damped / plain
        assert np.allclose(factors, values / (values + penalty), rtol=1e-6), "the factor is l / (l + lambda)"
        assert np.all((factors < 0.5) == (values < penalty)), "directions below lambda lose more than half"
        fine = np.geomspace(values[0] / 2, values[-1] * 2, 200)
        left.semilogx(fine, fine / (fine + penalty), color=colour, linewidth=1)
        left.semilogx(values, factors, "o", color=colour, ms=5, label=rf"$\lambda = {penalty:g}$")
        left.axvline(penalty, color=colour, linewidth=0.8, linestyle=":")
    left.axhline(0.5, color=GREY, linewidth=0.8, linestyle="--")

    new_X, new_y = rows(rng, 4000)

    def error(model: Ridge) -> float:
        return float(np.mean((new_y - model.predict(new_X)) ** 2))

    sets = [rows(rng, 40) for _ in range(20)]
    plain_error = np.mean([error(Ridge(penalty=0.0).fit(*train)) for train in sets])
    curve = [np.mean([error(Ridge(penalty=float(p)).fit(*train)) for train in sets]) for p in penalties]
    chosen = [Ridge(penalty="auto", standardize=False).fit(*train) for train in sets]
    assert min(curve) < 0.95 * plain_error, "a positive lambda generalises better than least squares"
    assert np.mean([error(model) for model in chosen]) < plain_error, "so does the one that is found automatically"

    right.axhline(plain_error, color=GREY, linestyle="--", label=r"least squares, $\lambda = 0$")
    right.semilogx(penalties, curve, color=BLUE, label="ridge")
    found = [model.penalty_ for model in chosen]
    right.semilogx(found, [error(model) for model in chosen], "o", color=VERMILION, ms=4, label='penalty="auto"')
    right.set_ylim(1.0, 2.2)
    finish(left, "Eigenvalues below lambda are filtered away", r"eigenvalue of $X^TX$", "what is left of the weight")
    finish(right, "A positive lambda is better on new rows", r"$\lambda$", "mean squared error on new rows")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
