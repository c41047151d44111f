r"""A few outliers move the least-squares model, not the robust one.

S1, about the sum-of-squares criterion: "a single or a few outlier(s) may then influence a lot the criterion, and
consequently the model", "don't hesitate to reconsider the criterion". An error $e$ pulls with the slope of its loss:

$$\text{squares: } e, \qquad \text{Huber: } \max(-\delta, \min(\delta, e)), \qquad
\text{Tukey: } e\,(1 - (e/c)^2)^2 \text{ for } |e| < c, \text{ else } 0$$

Left, sixty rows of which four went wrong. Right, the further these four are off, the further they pull least squares,
without end; Huber's criterion lets them pull no more than its threshold, Tukey's lets them go.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LinearRegression, RobustRegression
from drawing import BLUE, GREEN, GREY, VERMILION, finish, panels, show

MODELS = {
    "least squares": (LinearRegression, {}, VERMILION, "s--"),
    "Huber": (RobustRegression, {"loss": "huber"}, BLUE, "o-"),
    "Tukey": (RobustRegression, {"loss": "tukey"}, GREEN, "^-."),
}


def main(*, robust: tuple[str, ...] = ("Huber", "Tukey")) -> Figure:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 10, 60))
    clean = 1 + 0.5 * x + 0.4 * rng.normal(size=60)
    X, wrong = x[:, None], np.arange(56, 60)
    distances = np.array([0, 2, 5, 10, 20, 50, 100])
    slopes = {name: [] for name in MODELS}
    figure, (left, right) = panels(2)
    for distance in distances:
        y = clean.copy()
        y[wrong] -= distance
        for name, (system, options, colour, style) in MODELS.items():
            model = system(**options).fit(X, y)
            slopes[name].append(model.coef_[0])
            if distance == 10:
                left.plot(x, model.predict(X), style[1:], color=colour, linewidth=1.8, label=name)
        if distance == 10:
            left.plot(x, y, "o", color=GREY, ms=4, zorder=0)
            left.plot(x[wrong], y[wrong], "X", color="black", ms=8, label="four outliers")
    moved = {name: np.abs(np.array(found) - found[0]) for name, found in slopes.items()}
    for name, (_, _, colour, style) in MODELS.items():
        right.plot(distances, slopes[name], style, color=colour, ms=5, label=name)
    assert moved["least squares"][3] > 0.3, "four outliers of sixty rows turn the line of least squares"
    assert np.allclose(np.diff(slopes["least squares"]) / np.diff(distances), -moved["least squares"][1] / 2), (
        "as far as they like"
    )
    for name in robust:
        assert moved[name].max() < 0.15, f"they hardly move the model of {name}"
        assert abs(slopes[name][-1] - slopes[name][-2]) < 0.01, f"and the further ones no more, under {name}"
    finish(left, "Four outliers turn least squares", "$x$", "$t$")
    finish(right, "The robust slopes stay, however far the outliers", "distance of the four outliers", "slope")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
