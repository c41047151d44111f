"""Likelihoods that have no maximum: what is still finite is given, and what is not is said, not blamed on a penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from adaline import GeneralizedLinear, LogisticRegression, anova
from adaline.errors import InvalidParameter
from adaline.inference.likelihood import PENALISED

pytestmark = pytest.mark.filterwarnings("ignore")
LEVEL = np.repeat([0, 1, 2], 20)
X = np.column_stack([np.cos(np.arange(60.0)), LEVEL == 1, LEVEL == 2]).astype(float)
COUNTS = np.where(LEVEL == 2, 0, np.arange(60) % 4)
CLASSES = np.where(LEVEL == 2, 0, np.arange(60) % 2)


def systems() -> list[tuple[Any, Any]]:
    """Return systems with targets of which one level has only zeros."""
    return [
        (GeneralizedLinear(loss="poisson"), COUNTS),
        (GeneralizedLinear(loss="binomial"), CLASSES),
        (LogisticRegression(), CLASSES),
    ]


@pytest.mark.parametrize("which", range(3))
def test_a_level_of_zeros_is_compared_by_its_likelihood(which: int) -> None:
    system, y = systems()[which]
    few, all_of_them = (type(system)(**system.get_params()).fit(x, y) for x in (X[:, :1], X))
    without = type(system)(**system.get_params()).fit(X[LEVEL < 2, :2], y[LEVEL < 2])  # the same, the level left out
    likely = without.summary().to_dict()["log_likelihood"]
    table, found = anova(few, all_of_them), all_of_them.summary().to_dict()
    assert found["log_likelihood"] == pytest.approx(likely, abs=1e-4)
    assert found["aic"] == pytest.approx(8 - 2 * likely, abs=1e-4)
    assert table.chi2[1] == pytest.approx(2 * (likely - few.summary().to_dict()["log_likelihood"]), abs=1e-3)
    assert table.p_value[1] == pytest.approx(special.chdtrc(2, table.chi2[1]))
    text = str(all_of_them.summary())
    assert PENALISED not in text
    assert "mean nothing" in text


@pytest.mark.parametrize("which", range(3))
def test_what_needs_a_maximum_names_what_to_use_instead(which: int) -> None:
    system, y = systems()[which]
    model = system.fit(X, y)
    for ask in (
        lambda: model.test("x2 = 0"),
        lambda: model.summary(interval="profile", X=X, y=y),
        lambda: model.summary(errors="HC0", X=X, y=y),
        lambda: model.influence(X, y),
    ):
        with pytest.raises(InvalidParameter, match=r"no finite estimate.*anova"):
            ask()


@pytest.mark.parametrize("link", ["log", "identity"])
def test_a_maximum_on_the_border_of_a_link_has_no_errors(link: str) -> None:
    x = np.linspace(0, 1, 40)
    y = ((x > 0.3) ^ np.isin(np.arange(40), [2, 20])).astype(float)
    model = GeneralizedLinear(loss="binomial", link=link).fit(x[:, None], y)
    assert "logit, probit or cloglog" in model.certificate_.advice
    assert "log or logit" not in model.certificate_.advice
    table = model.summary()
    assert "border" in str(table)
    assert all(np.isnan(row["std_error"]) for row in table.to_dict()["coefficients"])
    with pytest.raises(InvalidParameter, match="border"):
        model.test("x0 = 0")


def test_counts_that_vary_no_more_than_poisson_are_said_to() -> None:
    model = GeneralizedLinear(loss="negative_binomial").fit(X[:, :1], 2 + np.arange(60) % 2)
    assert "no more than poisson counts" in str(model.summary())
    wide = GeneralizedLinear(loss="negative_binomial").fit(X[:, :1], COUNTS**2)
    assert "poisson" not in str(wide.summary())
