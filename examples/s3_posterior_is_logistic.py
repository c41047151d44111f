r"""The posterior of two normal classes with one covariance is a logistic function of a line.

Lecture S3, logistic sigmoid activation function. Bayes' rule says

$$p(C_1 \mid x) = \frac{1}{1 + e^{-a}}, \qquad a = \ln \frac{p(x \mid C_1)\, p(C_1)}{p(x \mid C_2)\, p(C_2)},$$

and with equal covariances the squares cancel: $a = \beta' x + \gamma$. The figure shows both densities, the posterior
by Bayes' rule, and the logistic of a straight line on top of it. With unequal covariances $a$ is a parabola, and no
logistic of a line fits.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.special import expit, logit
from scipy.stats import norm

from adaline import GaussianClassifier, LogisticRegression
from drawing import BLUE, GREEN, VERMILION, finish, panels, show


def main() -> Figure:
    rng = np.random.default_rng(3)
    y = (rng.uniform(size=20_000) < 0.4).astype(int)
    x = np.linspace(-4, 6, 401)

    figure, axes = panels(2)
    for ax, spreads in zip(axes, [(1.2, 1.2), (1.2, 0.5)], strict=True):
        X = (np.array([0.0, 2.0])[y] + np.array(spreads)[y] * rng.normal(size=len(y)))[:, None]
        equal = spreads[0] == spreads[1]
        bayes = GaussianClassifier(covariance="shared" if equal else "full").fit(X, y)
        sigma = np.sqrt(np.broadcast_to(np.ravel(bayes.covariance_), 2))
        joint = bayes.priors_ * norm.pdf(x[:, None], bayes.means_[:, 0], sigma)
        posterior = joint[:, 1] / joint.sum(axis=1)
        assert np.allclose(bayes.predict_proba(x[:, None])[:, 1], posterior, atol=1e-12), "it is Bayes' rule"

        model = LogisticRegression().fit(X, y)
        off = np.abs(model.predict_proba(x[:, None])[:, 1] - posterior).max()
        if equal:
            line = bayes.beta_ * x + bayes.gamma_
            assert np.allclose(logit(posterior), line, atol=1e-8), "the log odds are a straight line"
            assert np.allclose(expit(line), posterior, atol=1e-12), "the posterior is its logistic"
            assert off < 0.02, "logistic regression, which knows nothing of densities, finds the same"
        else:
            bend = np.diff(np.log(joint[:, 1] / joint[:, 0]), 2)
            assert np.all(bend < -1e-4), "unequal covariances: the log odds are a parabola"
            assert off > 0.2, "and no logistic of a line is near the posterior"

        ax.fill_between(x, joint[:, 0], color=BLUE, alpha=0.3, linewidth=0, label="$p(x|C_2)\\,p(C_2)$")
        ax.fill_between(x, joint[:, 1], color=VERMILION, alpha=0.3, linewidth=0, label="$p(x|C_1)\\,p(C_1)$")
        ax.plot(x, posterior, color="black", linewidth=3.5, alpha=0.35, label="posterior by Bayes' rule")
        ax.plot(x, model.predict_proba(x[:, None])[:, 1], color=GREEN, linestyle="--", label="logistic of a line")
        title = "Equal covariances: a logistic" if equal else "Unequal covariances: not a logistic"
        finish(ax, title, "$x$", "$p(C_1|x)$, and densities")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
