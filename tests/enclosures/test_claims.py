"""The digits that ordinary certificates claim, against enclosures: of NIST's sets, of bundled data, of likelihoods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adaline import GeneralizedLinear, LeastSquaresClassifier, LinearRegression, LogisticRegression, Ridge, datasets
from tests import nist


def _nist(name: str) -> Any:
    data = nist.read(name)
    return LinearRegression(fit_intercept=data.fit_intercept), data.X, data.y


def _loaded(model: Any, name: str, target: str | None = None) -> Any:
    data = datasets.load(name) if target is None else datasets.load(name, target=target)
    return model, data.X, data.y


def _classes_of_abalone() -> Any:
    model, x, t = _loaded(LeastSquaresClassifier(), "abalone")
    return model, x, (np.asarray(t, dtype=float) > 9).astype(int)


FITS: dict[str, Callable[[], Any]] = {
    **{name: lambda name=name: _nist(name) for name in nist.NAMES},
    "longley, ridge": lambda: _loaded(Ridge(penalty=1.0), "longley"),
    "penguins": lambda: _loaded(LinearRegression(), "penguins", "body_mass_g"),
    "penguins, classes": lambda: _loaded(LogisticRegression(), "penguins", "sex"),
    "penguins, least squares of classes": lambda: _loaded(LeastSquaresClassifier(), "penguins", "sex"),
    "abalone, least squares of classes": lambda: _classes_of_abalone(),
    "penguins, gamma": lambda: _loaded(GeneralizedLinear(loss="gamma"), "penguins", "body_mass_g"),
}


@pytest.mark.every
@pytest.mark.parametrize("name", FITS)
def test_no_certificate_claims_more_digits_than_are_proved(name: str) -> None:
    model, x, t = FITS[name]()
    found = model.fit(x, t).enclose(x, t)
    theta = np.append(model.intercept_, model.coef_)
    assert found.proved
    wrong = np.maximum(np.abs(theta - found.lower), np.abs(theta - found.upper))
    assert (wrong <= 10.0 ** (0.1 - model.certificate_.digits) * np.abs(theta) + np.spacing(np.abs(theta))).all()
