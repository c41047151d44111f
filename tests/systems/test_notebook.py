"""A notebook shows coefficients and certificate of every fitted system that has them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import sklearn

from adaline import Adaline, ElasticNet, GaussianClassifier, LinearRegression, LogisticRegression, Pocket
from tests.comparison.examples import labels

X, KIND = labels(n=60)
Y = X @ np.arange(1.0, 1 + X.shape[1])


@pytest.mark.parametrize(
    ("system", "y"),
    [
        (LinearRegression(), Y + np.sin(np.arange(60))),
        (ElasticNet(l1=0.1), Y),
        (LogisticRegression(penalty=1.0), KIND),
        (Pocket(), KIND),
        (Adaline(), KIND),
        (GaussianClassifier(covariance="full"), KIND),
    ],
)
def test_the_fit_is_shown_above_the_diagram(system: Any, y: Any) -> None:
    before = system._repr_mimebundle_()["text/html"]
    assert "certificate" not in before
    model = system.fit(X, y)
    shown, _, diagram = model._repr_mimebundle_()["text/html"].partition("<style>")
    assert model._repr_html_().partition("<style>")[0] == shown
    assert f"certificate: {model.certificate_.status} by" in shown
    assert type(model).__name__ in diagram
    if hasattr(model, "coef_"):
        first = f"{np.ravel(model.coef_)[0]:.4g}".rstrip("0")
        assert re.search(rf"<t[hd]>x?0</t[hd]>|{re.escape(first)}", shown)
    with sklearn.config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(model, "_repr_html_")


def test_of_many_coefficients_the_largest_are_shown() -> None:
    X = np.eye(80)[:, :60] + np.arange(80)[:, None] % 7
    shown = LinearRegression().fit(X, np.arange(80.0) ** 2)._repr_html_().partition("<style>")[0]
    assert "and 30 more, each no larger" in shown
    assert "certificate: " in shown
