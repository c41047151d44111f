r"""On separable data the weights of logistic regression grow without bound.

Lecture S3, caveats: the "linearly separable case often leads to overfitting", as "several possible parameter choices
minimize training error". If $w$ separates the rows, so does $2w$, with a larger likelihood:

$$L(w) = \sum_n \ln\left(1 + e^{-t_n (w'x_n + w_0)}\right) \to 0 \quad \text{as } \|w\| \to \infty.$$

Under a penalty that vanishes, $\|w\|$ of separable rows grows by about the same amount for each power of ten; that of
overlapping rows settles at the maximum of the likelihood. `LogisticRegression` without a penalty says which case it is.
"""

from __future__ import annotations

import warnings

import numpy as np
from matplotlib.figure import Figure

from adaline import LogisticRegression
from adaline.errors import AdalineWarning
from drawing import BLUE, VERMILION, finish, line, panels, points, show

PENALTIES = 10.0 ** np.arange(0, -9, -1)


def main() -> Figure:
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1], 40)
    figure, axes = panels(3, width=4.4)
    for ax, (kind, reach) in zip(axes, {"separable": 3.0, "overlapping": 0.8}.items(), strict=False):
        X = rng.uniform(-1, 1, size=(80, 2)) + np.where(y == 1, reach, -reach)[:, None] / 2
        sizes = np.array([np.linalg.norm(LogisticRegression(penalty=p).fit(X, y).coef_) for p in PENALTIES])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdalineWarning)
            model = LogisticRegression().fit(X, y)
        steps = np.diff(sizes)
        if kind == "separable":
            assert getattr(model.separation_, "kind", None) == "complete", "the model says that there is no maximum"
            assert np.all(steps > 0.5), "a smaller penalty means larger weights, whatever it is"
            assert steps[-1] > 0.8 * steps[-3], "and the growth does not slow down"
        else:
            assert model.separation_ is None, "the model has a maximum"
            assert abs(sizes[-1] - np.linalg.norm(model.coef_)) < 1e-5, "to which the weights settle"
        points(ax, X, y)
        line(ax, model.coef_, model.intercept_)
        finish(ax, f'{kind.capitalize()} rows: status "{model.certificate_.status}"', "$x_1$", "$x_2$")
        colour, mark = (VERMILION, "o") if kind == "separable" else (BLUE, "s")
        axes[2].semilogx(PENALTIES, sizes, f"{mark}-", color=colour, label=kind)
    axes[2].invert_xaxis()
    finish(axes[2], "Separable rows: $\\|w\\|$ has no limit", "penalty, falling", "$\\|w\\|$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
