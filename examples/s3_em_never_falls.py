r"""The likelihood of a mixture never falls under EM.

Lecture S3, recap of the EM algorithm. The E step assigns rows softly, the M step takes weights, means and covariances
of the soft assignments,

$$\gamma_j(x_n) = \frac{\pi_j \mathcal{N}(x_n \mid \mu_j, \Sigma_j)}
{\sum_k \pi_k \mathcal{N}(x_n \mid \mu_k, \Sigma_k)},
\qquad \mu_j = \frac{1}{N_j} \sum_n \gamma_j(x_n)\, x_n, \quad \dots$$

and neither can lower $\sum_n \ln \sum_j \pi_j \mathcal{N}(x_n \mid \mu_j, \Sigma_j)$. Twelve random starts: every curve
rises from step to step, some over long plateaus, and like k-means they end on different heights.
"""

from __future__ import annotations

import warnings

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning

from adaline import GaussianMixture
from drawing import BLUE, GREY, VERMILION, finish, panels, points, show


def log_likelihood(model: GaussianMixture, X: np.ndarray) -> float:
    """The mean over rows, from densities that are not adaline's."""
    parts = zip(model.weights_, model.means_, model.covariances_, strict=True)
    return float(logsumexp([np.log(w) + multivariate_normal(m, s).logpdf(X) for w, m, s in parts], axis=0).mean())


def main() -> Figure:
    rng = np.random.default_rng(9)
    groups = [([0, 0], [[1, 0.8], [0.8, 1]]), ([3, 0], [[0.3, 0], [0, 2]]), ([1, 4], [[2, -0.6], [-0.6, 0.4]])]
    X = np.concatenate([rng.multivariate_normal(mean, cov, 120) for mean, cov in groups])
    settings = {"n_components": 3, "init_params": "random_from_data", "reg_covar": 1e-9}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # runs that are cut short on purpose
        runs = [GaussianMixture(**settings, tol=1e-7, max_iter=400, random_state=s).fit(X) for s in range(12)]
        steps = (1, 2, 4, 8, 16, 32, 64)
        cut = [GaussianMixture(**settings, tol=0.0, max_iter=k, random_state=0).fit(X) for k in steps]
    rises = np.concatenate([np.diff(run.history_) for run in runs])
    assert rises.min() > -1e-12, "the likelihood never falls, whatever the start"
    outside = np.array([log_likelihood(model, X) for model in cut])
    assert np.all(np.diff(outside) > -1e-12), "by densities computed elsewhere neither"
    assert np.allclose(outside[:-1], [cut[-1].history_[k] for k in steps[:-1]], atol=1e-9), "which agree step by step"
    ends = np.array([run.history_[-1] for run in runs])
    assert np.ptp(ends) > 0.01, "and where it ends depends on the start"

    figure, (left, right) = panels(2)
    for run in runs:
        best = run.history_[-1] > ends.max() - 1e-4
        name, style, colour = ("ends at the best", "-", BLUE) if best else ("ends below it", "--", VERMILION)
        left.plot(run.history_, style, color=colour, linewidth=1.2, label=name)
    unique = dict(zip(*left.get_legend_handles_labels()[::-1], strict=True))
    finish(left, "Every step raises the likelihood", "step of EM", "mean log-likelihood of a row", legend=False)
    left.set_xscale("symlog", linthresh=1)
    left.legend(unique.values(), unique, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2, frameon=False)
    model = runs[int(ends.argmax())]
    points(right, X, np.zeros(len(X)), names=["rows"], color=GREY)
    for mean, cov in zip(model.means_, model.covariances_, strict=True):
        (small, large), axes = np.linalg.eigh(cov)
        angle = np.degrees(np.arctan2(*axes[::-1, 1]))
        size = 4 * np.sqrt([large, small])
        right.add_patch(Ellipse(mean, *size, angle=angle, fill=False, color=BLUE, linewidth=1.8))
    right.plot([], [], color=BLUE, label="components, 2 standard deviations")
    finish(right, "The best of twelve starts finds the three groups", "$x_1$", "$x_2$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
