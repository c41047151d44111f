"""Effects of coefficients, and whether probabilities hold."""

from __future__ import annotations

import numpy as np
import pandas as pd

from adaline import GaussianClassifier, LeastSquaresClassifier, LinearRegression, OrdinalRegression
from adaline.basis import Polynomial
from adaline.inference.strengths import strengths, strongest
from adaline.selection.probabilities import reliability
from tests.comparison.examples import labels
from tests.plots.drawn import LINEAR, NAMES, X, Y


def test_effects_do_not_depend_on_units() -> None:
    scale = np.array([1e3, 1e-3, 1.0, 7.0])
    for kind, y in ((LinearRegression, Y), (LeastSquaresClassifier, np.where(Y > Y.mean(), "p", "q"))):
        one = strengths(kind().fit(X, y), X, NAMES)
        two = strengths(kind().fit(X * scale, y), X * scale, NAMES)
        np.testing.assert_allclose([e.strength for e in one], [e.strength for e in two], rtol=1e-9)


def test_effects_of_a_basis_are_those_of_its_columns() -> None:
    phi = Polynomial(degree=2)
    columns = phi.fit_transform(X)
    names = phi.get_feature_names_out(NAMES).tolist()
    for kind in (LinearRegression, GaussianClassifier):
        target = Y if kind is LinearRegression else np.median(Y) < Y
        found = strengths(kind(basis=phi).fit(X, target), X, NAMES)
        assert found == strengths(kind().fit(columns, target), columns, names)


def test_effects_are_those_of_the_summary_and_sum_to_zero_over_classes() -> None:
    rows = LINEAR.summary().to_dict()["coefficients"]
    assert [e.upper for e in strengths(LINEAR, X, NAMES)] == [row["upper"] for row in rows]
    three, kinds = labels(classes=3)
    by_class = strengths(GaussianClassifier().fit(three, kinds), three, NAMES[:3])
    assert len(by_class) == 9
    assert abs(sum(e.estimate for e in by_class if e.name == "a")) < 1e-12
    assert strengths(GaussianClassifier(covariance="full").fit(three, kinds), three, NAMES) == []
    names, left = strongest(by_class, 2)
    assert (len(names), left) == (2, 1)


def test_true_probabilities_are_found_reliable_and_wrong_ones_are_not() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(size=20_000)
    happened = rng.uniform(size=20_000) < p
    true, bold = reliability(p, happened), reliability(np.where(p > 0.5, 0.99, 0.01), happened)
    assert ((true.lower <= true.probability) & (true.probability <= true.upper)).sum() >= 8
    assert not ((bold.lower <= bold.probability) & (bold.probability <= bold.upper)).any()


def test_slopes_of_ordered_classes_come_with_their_errors_and_thresholds_are_none_of_them() -> None:
    three, kinds = labels(classes=3)
    for y in (kinds, kinds == kinds[0]):
        model = OrdinalRegression(penalty=1.0).fit(three, y)
        slopes = model.summary().to_dict()["coefficients"][:3]
        found = strengths(model, three, NAMES[:3])
        assert [(e.name, e.estimate, e.std_error) for e in found] == [
            (name, row["estimate"], row["std_error"]) for name, row in zip(NAMES, slopes, strict=False)
        ]


def test_a_column_may_be_called_intercept() -> None:
    for has in (False, True):
        model = LinearRegression(fit_intercept=has).fit(pd.DataFrame({"intercept": X[:, 0]}), Y)
        found = strengths(model, X[:, :1], ["intercept"])
        assert [e.spread > 0 for e in found] == [False, True][1 - has :]
