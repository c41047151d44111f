"""AdditiveModel in a comparison: offered where columns bend or levels are many, and it explains what it gains."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

import adaline
from adaline import AdditiveModel
from adaline.comparison import additive
from adaline.comparison.additive import additive_columns
from adaline.comparison.compare import compare_table
from adaline.comparison.table import Table


def curved(n: int = 400) -> Table:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 3)).round(3)
    y = np.sin(2 * x[:, 0]) + x[:, 1] + 0.3 * rng.normal(size=n)
    return Table.of(x, y, names=["hour", "a b", "c"], target="y")


def visits(n: int = 3000, clinics: int = 600) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    clinic, ward = rng.integers(clinics, size=n), rng.integers(25, size=n)
    age = rng.uniform(20, 80, size=n).round(1)
    stay = 0.05 * age + rng.normal(size=clinics)[clinic] + 0.5 * rng.normal(size=25)[ward] + rng.normal(size=n)
    names = np.array([f"clinic {k:04}" for k in range(clinics)], dtype=object)[clinic]
    names[5] = None
    return {"stay": stay.round(3), "age": age, "clinic": names, "ward": [f"w{k:02}" for k in ward]}


def test_the_curve_that_is_there_is_offered_and_its_gain_is_said() -> None:
    found = compare_table(curved(), systems=None)
    best = found.recommended
    assert best is not None
    assert best.label == "AdditiveModel(s(hour))"
    assert best.settings == {"terms": ['s(hour, bs="cr")']}
    linear = next(one for one in found.results if one.system == "LinearRegression")
    assert best.error < 0.5 * linear.error
    assert re.search(r"A curve of hour lowers the RMSE from 0\.\d+ \(\w+.*\) to 0\.3\d+\.$", found.recommendation.text)
    assert found.fit().terms_[0]["term"] == "s(x0)"


@pytest.mark.slow
def test_straight_lines_are_offered_curves_as_rarely_as_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(additive, "LINEAR_OFFERED", 0.05)
    rng, offered = np.random.default_rng(0), 0
    for _ in range(400):
        x = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 4))
        offered += additive_columns(Table.of(x, x @ rng.normal(size=4) + rng.normal(size=80))) is not None
    assert 2 <= offered <= 30  # 20 expected at most; 30 and more have a chance of 2 %


def test_the_test_of_curvature_is_that_of_hc3_errors_of_the_line() -> None:
    """(V'r)' [sum r^2 / (1 - h)^2 v v']^-1 (V'r) / q, V the spline's directions left by all columns."""
    table = curved(150)
    f, p = additive._curvatures(table, [0], slice(None))[0]
    directions = additive._curved_directions(table.X[:, 0], np.ones(150))
    lines = np.column_stack([np.ones(150), table.X])
    hat = lines @ np.linalg.inv(lines.T @ lines) @ lines.T
    v, left = directions - hat @ directions, table.y - hat @ table.y
    meat = v.T @ (np.square(left / (1 - hat.diagonal()))[:, None] * v)
    assert directions.shape == (150, 3)
    assert f == pytest.approx(v.T @ left @ np.linalg.inv(meat) @ v.T @ left / 3, rel=1e-9)
    assert p == pytest.approx(scipy.stats.f.sf(f, 3, 146), rel=1e-9)


def test_straight_lines_with_unequal_errors_are_rarely_offered_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 5 %, which the F of errors of equal spread exceeds many times."""
    monkeypatch.setattr(additive, "LINEAR_OFFERED", 0.05)
    rng, offered = np.random.default_rng(0), 0
    for _ in range(100):
        x = rng.normal(size=(300, 3))
        errors = np.abs(x[:, 0]) * rng.normal(size=300)
        offered += additive_columns(Table.of(x, x @ rng.normal(size=3) + errors)) is not None
    assert offered <= 11  # 5 expected; 12 and more have a chance of 0.4 %


def test_levels_too_many_to_be_coded_are_pooled_and_so_are_those_of_a_long_category(tmp_path: Path) -> None:
    data = visits()
    found = adaline.compare(data, "stay", systems=["LinearRegression", "AdditiveModel"])
    best = found.recommended
    assert best is not None
    assert best.label == "AdditiveModel(s(age) + (1 | ward) + (1 | clinic))"
    assert "partial pooling of the levels of ward, clinic lower the RMSE" in found.recommendation.text
    assert any("'clinic': AdditiveModel alone uses it" in text for text in found.notes)
    model = found.fit()
    table = adaline.open_table(data, target="stay", categories=["clinic"], missing="indicator")
    direct = AdditiveModel(terms=best.settings["terms"]).fit(table)
    assert model.log_likelihood_ == pytest.approx(direct.log_likelihood_, rel=1e-10)
    levels = set(model.random_effects_["clinic"]["level"])
    assert len(levels) == len({*data["clinic"]})
    page = found.report(tmp_path / "report.html").read_text(encoding="utf-8")
    for text in ("Curves and groups", "variation between", "Effects of clinic on stay, in order"):
        assert text in page
    assert "categories=[&#39;clinic&#39;]" in page
    lines = found.to_dict()["results"][0]
    assert lines["settings"]["terms"][-1] == "(1 | clinic)"


def test_rows_left_out_keep_their_levels() -> None:
    data = visits(1500, 520)
    data["age"][7:20] = np.nan
    held = adaline.compare(data, "stay", systems=["AdditiveModel"], missing="drop")
    kept = {name: np.delete(np.asarray(values), np.arange(7, 20)) for name, values in data.items()}
    assert held.data.indices is not None
    (levels,) = held.data.levels
    values = np.asarray(levels.values, dtype=object)[levels.codes][held.data.indices]
    order = np.argsort(held.data.indices)
    assert values[order].tolist() == kept["clinic"].tolist()


def test_names_that_a_term_cannot_hold_are_left_as_they_are() -> None:
    table = curved()
    names = ("x`y", "a b", "c")
    odd = Table.of(table.X, table.y, names=names)
    assert additive_columns(odd) is None
    spaced = Table.of(table.X, table.y, names=["hour of day", "b", "c"])
    found = additive_columns(spaced)
    assert found is not None
    assert found.terms() == ['s(`hour of day`, bs="cr")']
    assert (
        compare_table(spaced, systems=["AdditiveModel"]).results[0].label.startswith("AdditiveModel(s(`hour of day`)")
    )


def test_a_formula_has_the_terms_that_the_user_wants() -> None:
    data = visits(600, 20)
    found = adaline.compare(data, formula="stay ~ age + ward", systems=["LinearRegression"])
    assert additive_columns(found.data) is None
