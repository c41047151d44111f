"""A grouping that is eliminated group by group: as the same model whose effects are columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import adaline
from adaline import AdditiveModel, open_table
from adaline.errors import AdalineError
from adaline.fits.additive import design
from adaline.fits.additive.criteria import Criterion, PenalisedFit, PenalisedSums
from adaline.fits.additive.grouped import GroupedSums
from adaline.fits.additive.penalties import CovariancePenalty
from adaline.fits.additive.ratios import first_ratios, solve_ratios
from tests.fits.additive.models import CASES, assemble

FORMULA = "y ~ x + s(z, bs='cr') + (1 + x | g) + (1 | h)"


def rows(n: int = 900, groups: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    g, h, x, z = rng.integers(0, groups, n), rng.integers(0, 7, n), rng.normal(size=n), rng.uniform(0, 6, n)
    y = 1 + x + np.sin(z) + rng.normal(size=groups)[g] + 0.5 * rng.normal(size=groups)[g] * x + rng.normal(size=7)[h]
    names = {"g": [f"g{k:03d}" for k in g], "h": [f"h{k}" for k in h]}
    return pd.DataFrame({"y": y + rng.normal(size=n), "x": x, "z": z, "w": rng.integers(1, 4, n)} | names)


def eliminated(sums: PenalisedSums) -> GroupedSums:
    """Return the same problem with its last grouping apart."""
    last = sums.penalties[-1]
    assert isinstance(last, CovariancePenalty)
    assert sums.weight is not None
    assert sums.means is not None
    p, weight, z = last.start, sums.weight, sums.means[last.start :]
    gram = np.zeros((1 + p, 1 + p))
    gram[0, 0], gram[1:, 1:] = weight, sums.gram[:p, :p]
    within = (sums.gram[p:, p:] + weight * np.outer(z, z)).reshape(last.groups, last.size, last.groups, last.size)
    along = np.column_stack([weight * z, sums.gram[p:, :p]]).reshape(last.groups, last.size, 1 + p)
    penalties = [replace(one, start=one.start + 1) for one in sums.penalties[:-1]]  # type: ignore[type-var]
    plain = PenalisedSums(gram, np.append(0.0, sums.cross[:p]), sums.square, sums.rows, None, penalties)
    target = sums.cross[p:].reshape(last.groups, last.size)
    return GroupedSums(plain, replace(last, start=1 + p), np.einsum("gagb->gab", within), along, target)


@pytest.mark.parametrize("criterion", ["reml", "ml"])
@pytest.mark.parametrize("name", ["sleepstudy", "machines_slopes", "plants"])
def test_criteria_and_their_derivatives_are_those_of_all_columns(name: str, criterion: Criterion) -> None:
    sums = assemble(CASES[name]).sums
    apart, theta = eliminated(sums), first_ratios(sums) + 0.3 * np.sin(np.arange(sums.parameters) + 1)
    whole, parts = PenalisedFit(sums, theta), apart.at(theta)
    assert parts.score(criterion) == pytest.approx(whole.score(criterion), rel=1e-12)
    for one, other in zip(parts.derivatives(criterion), whole.derivatives(criterion), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)
    np.testing.assert_allclose(parts.used(), whole.used(), atol=1e-9)
    assert np.trace(parts.freedom) + parts.group_freedom == pytest.approx(whole.total_freedom, rel=1e-12)
    assert solve_ratios(apart, criterion).score == pytest.approx(solve_ratios(sums, criterion).score, rel=1e-12)


@pytest.mark.parametrize("formula", [FORMULA, FORMULA.replace("~", "~ 0 +")])
def test_the_model_is_the_same(formula: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    frame = rows()
    table = open_table(frame, formula=formula, weight="w")
    plain = AdditiveModel().fit(table)
    monkeypatch.setattr(design, "APART", 20)
    model = AdditiveModel().fit(table)
    assert model.certificate_.rank < plain.certificate_.rank - 100
    assert model.log_likelihood_ == pytest.approx(plain.log_likelihood_, rel=1e-12)
    assert model.edf_ == pytest.approx(plain.edf_, rel=1e-10)
    new = frame.head(6).assign(g=["none", *frame["g"][1:6]], h=[*frame["h"][:5], "none"])
    for interval in ("confidence", "prediction"):
        both = [one.predict(new, interval=interval) for one in (model, plain)]
        np.testing.assert_allclose(*both, rtol=1e-9)
    for name in ("g", "h"):
        effects = [one.random_effects_[name].iloc[:, 1:] for one in (model, plain)]
        np.testing.assert_allclose(*effects, rtol=1e-8, atol=1e-10)
    mine, theirs = ({row["term"]: row for row in one.terms_} for one in (model, plain))
    for name in ("s(z)", "(1 | h)"):
        ours, other = (list(one[name].values())[1:] for one in (mine, theirs))
        np.testing.assert_allclose(ours, other, rtol=1e-7, atol=1e-12)
    errors = [[row["std_error"] for row in one.summary().to_dict()["coefficients"]] for one in (model, plain)]
    np.testing.assert_allclose(*errors, rtol=1e-9)
    adaline.save(model, tmp_path / "model.adaline")
    loaded = adaline.load(tmp_path / "model.adaline").predict(new, interval="confidence")
    np.testing.assert_array_equal(loaded, model.predict(new, interval="confidence"))


def test_many_groups_take_the_memory_of_their_blocks() -> None:
    rng = np.random.default_rng(1)
    group = rng.integers(0, 20_000, 100_000)
    X = np.column_stack([rng.normal(size=len(group)), group])
    y = 1 + 2 * X[:, 0] + rng.normal(size=20_000)[group] + rng.normal(size=len(group))
    model = AdditiveModel(terms=["(1 | x1)"]).fit(X, y)
    first, last = model.variance_components_
    np.testing.assert_allclose([first["sd"], last["sd"], model.coef_[0]], [1.0, 1.0, 2.0], rtol=0.02)
    assert model.edf_ > 10_000


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ x + (1 | g) + (1 | other)", "Only one grouping may have very many levels"),
        ("one ~ x + (1 | g)", "target is constant"),
        ("y ~ x + double + s(x, k=5) + (1 | g)", "'x' is linear and has a curve"),
        ("y ~ s(x, k=5) + s(double, k=5) + (1 | g)", r"do not tell s\(x\), s\(double\) apart"),
    ],
)
def test_what_cannot_be_told_apart_is_named(formula: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = rows(300, 50).assign(one=1.0, other=lambda f: f["g"].str[::-1])
    monkeypatch.setattr(design, "APART", 20)
    monkeypatch.setattr(design, "MOST_COEFFICIENTS", 40)
    with pytest.raises(AdalineError, match=message):
        AdditiveModel().fit(open_table(frame.assign(double=2 * frame["x"]), formula=formula))
