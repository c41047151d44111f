"""The digits that ordinary certificates claim, against enclosures: of NIST's sets, of bundled data, of likelihoods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adaline import (
    FisherDiscriminant,
    GeneralizedLinear,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    Ridge,
    datasets,
)
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


@pytest.mark.parametrize("seed", [26, 33, 46])
def test_discriminants_of_close_classes_have_the_digits_of_their_certificate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t, size = rng.integers(0, 4, 400), np.array([0.4, 115, 0.4])
    x = np.round(rng.normal(size=(400, 3)) * size + [0.3, 587, 3.4] + 0.1 * t[:, None] * size, 2)
    model = FisherDiscriminant().fit(x, t)
    lower, upper = (end[:, 1:] for end in model.enclose(x, t))
    away = np.maximum(lower - model.coef_, model.coef_ - upper)
    assert (away <= 10.0**-model.certificate_.digits * np.abs(model.coef_)).all()
