r"""LMS converges below 2/Trace[Rₓₓ] and diverges above it: exactly so for inputs of constant norm, about so for others.

S0, section 5.4 (Linear adaptive filters: the LMS algorithm), (5.20), with $\mathbf{R}_{xx} =
\mathbf{X}^T\mathbf{X}/N$:

$$0 < \eta < \frac{2}{\mathrm{Trace}[\mathbf{R}_{xx}]}$$

A step multiplies its own row's error by $1 - \eta\|\mathbf{x}\|^2$. Where all rows are of one length, the trace is
$\|\mathbf{x}\|^2$ and the bound is exact. Where they are not, it depends on more than the trace: five normal inputs
already diverge below the bound, a single normal input may go beyond it. Each point is the share of 10 noise-free runs
that end nearer to the solution than they began.
"""

from __future__ import annotations

import warnings

import numpy as np
from matplotlib.figure import Figure

from adaline import LMS, Status
from drawing import BLUE, GREEN, GREY, ORANGE, VERMILION, finish, panels, show

N = 1500


def inputs(kind: str, rng: np.random.Generator) -> np.ndarray:
    if kind == "one normal input":
        return rng.normal(size=(N, 1))
    if kind == "five with long tails":
        return rng.standard_t(3, size=(N, 5))
    X = rng.normal(size=(N, 5))
    return X / np.linalg.norm(X, axis=1, keepdims=True) if kind == "constant norm" else X


def converges(X: np.ndarray, share: float) -> bool:
    solution = np.ones(X.shape[1])
    bound = 2 / np.mean(np.sum(X**2, axis=1))
    model = LMS(rate=share * bound, fit_intercept=False).partial_fit(X, X @ solution)
    distance = np.linalg.norm(model.coef_ - solution) / np.linalg.norm(solution)
    return model.certificate_.status is not Status.DIVERGED and bool(distance < 0.5)


def main(*, exact: str = "constant norm") -> Figure:
    shares = np.sort([*np.arange(0.6, 1.45, 0.05), 0.99, 1.01])
    shares = shares[np.abs(shares - 1) > 0.005]  # at the bound itself only the sign of the error changes
    kinds = {
        "constant norm": (BLUE, "o-"),
        "five normal inputs": (VERMILION, "s--"),
        "five with long tails": (ORANGE, "D:"),
        "one normal input": (GREEN, "^-."),
    }
    figure, (ax,) = panels(1, width=6.4, height=4.6)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # half of these runs are meant to diverge
        for kind, (colour, style) in kinds.items():
            runs = [inputs(kind, np.random.default_rng(seed)) for seed in range(10)]
            found[kind] = np.array([np.mean([converges(X, share) for X in runs]) for share in shares])
            ax.plot(shares, found[kind], style, color=colour, ms=4.5, label=kind)

    edge = {kind: shares[np.argmax(share < 0.5)] for kind, share in found.items()}
    assert np.array_equal(found[exact], shares < 1), "for inputs of constant norm the bound is exact"
    assert edge["five normal inputs"] < 0.95, "five normal inputs diverge below the bound"
    assert edge["one normal input"] > 1.05, "one normal input converges beyond it"
    assert all(0.6 < at < 1.45 for at in edge.values()), "but it is about right for all of them"
    ax.axvline(1.0, color=GREY, linewidth=1)
    title = "The bound is exact for inputs of constant norm, about right for others"
    finish(ax, title, r"rate $\eta$ / (2/Trace[$R_{xx}$])", "share of runs that converge")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
