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
from adaline.fits.additive.group_columns import GroupColumns
from adaline.fits.additive.group_freedom import column_freedom, freedoms
from adaline.fits.additive.grouped import GroupedSums
from adaline.fits.additive.penalties import CovariancePenalty
from adaline.fits.additive.ratios import first_ratios, solve_ratios
from tests.fits.additive.models import CASES, assemble

FORMULA = "y ~ x + s(z, bs='cr') + (1 + x | g) + (1 | h)"
CROSSED = "y ~ x + s(z, bs='cr', k=6) + (1 + x | g) + (1 + z | h) + (1 | w)"


def rows(n: int = 900, groups: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    g, h, x, z = rng.integers(0, groups, n), rng.integers(0, 7, n), rng.normal(size=n), rng.uniform(0, 6, n)
    y = 1 + x + np.sin(z) + rng.normal(size=groups)[g] + 0.5 * rng.normal(size=groups)[g] * x + rng.normal(size=7)[h]
    names = {"g": [f"g{k:03d}" for k in g], "h": [f"h{k}" for k in h]}
    frame = pd.DataFrame({"y": y + rng.normal(size=n), "x": x, "z": z, "w": rng.integers(1, 4, n)} | names)
    return frame.assign(y=frame["y"] + np.cos(2 * frame["w"]) + 0.4 * np.sin(h**2) * z)


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
    return GroupedSums(plain, replace(last, start=1 + p), np.einsum("gagb->gab", within), GroupColumns(along), target)


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
    parts = replace(parts, coordinates=apart)
    assert np.trace(column_freedom(parts, len(parts.inverse))) + freedoms(parts)[-1] == pytest.approx(
        whole.total_freedom, rel=1e-12
    )
    assert solve_ratios(apart, criterion).score == pytest.approx(solve_ratios(sums, criterion).score, rel=1e-12)


@pytest.mark.every
@pytest.mark.parametrize(
    ("formula", "crossed", "criterion"),
    [
        (FORMULA, 100, "reml"),
        (FORMULA.replace("~", "~ 0 +"), 100, "reml"),
        (CROSSED, 2, "reml"),
        (CROSSED.replace("~", "~ 0 +"), 2, "ml"),
    ],
)
def test_the_model_is_the_same(
    formula: str, crossed: int, criterion: Criterion, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    frame = rows()
    table = open_table(frame, formula=formula, weight="w")
    plain = AdditiveModel(criterion=criterion).fit(table)
    monkeypatch.setattr(design, "APART", 20)
    monkeypatch.setattr(design, "CROSSED", crossed)
    model = AdditiveModel(criterion=criterion).fit(table)
    assert len(model.basis_.apart_) == (1 if crossed == 100 else 3)
    assert model.certificate_.rank < plain.certificate_.rank - 100
    assert model.log_likelihood_ == pytest.approx(plain.log_likelihood_, rel=1e-12)
    assert model.edf_ == pytest.approx(plain.edf_, rel=1e-10)
    mine, theirs = ({row["term"]: row for row in one.terms_} for one in (model, plain))
    new = frame.head(6).assign(g=["none", *frame["g"][1:6]], h=[*frame["h"][:5], "none"])
    for interval in ("confidence", "prediction"):
        both = [one.predict(new, interval=interval) for one in (model, plain)]
        np.testing.assert_allclose(*both, rtol=1e-9)
    assert [row["edf"] for row in mine.values()] == pytest.approx([theirs[name]["edf"] for name in mine], rel=1e-8)
    for name in ("g", "h"):
        effects = [one.random_effects_[name].iloc[:, 1:] for one in (model, plain)]
        np.testing.assert_allclose(*effects, rtol=1e-8, atol=1e-10)
    for name in ("s(z)", "(1 | h)") if crossed == 100 else ("s(z)",):
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


def drawn(i: np.ndarray, factor: float) -> np.ndarray:
    """Return numbers between 0 and 1 that are the same in R."""
    x = np.sin(i * factor) * 43758.5453
    return np.asarray(x - np.floor(x))


LECTURES: dict[tuple[str, Criterion], list[float]] = {
    ("y ~ x + (1 | s) + (1 | d)", "reml"): [
        *(5987.175593311184, 0.593245365764, 3.043107119215, -1.004030025330),
        *(0.3795055654, 0.2361496431, 0.1703435957, 0.0177624832, 0.5049388428, -0.7974497367),
    ],
    ("y ~ x + (1 | s) + (1 + x | d)", "ml"): [
        *(5908.272813143443, 0.581734988132, 3.044339481875, -1.003450021946),
        *(0.2708317039, 0.3812306103, 0.3217602321, 0.2309649261),
        *(0.15566783251, -0.00745942757, 0.28054587333, -0.50721710620),
    ],
}
"""Of lmer: -logLik, sigma, fixef, VarCorr, and the first two effects of s and d, from lectures.R beside the figures."""


@pytest.mark.parametrize(("formula", "criterion"), LECTURES)
def test_crossed_groupings_of_many_levels_are_those_of_lme4(formula: str, criterion: Criterion) -> None:
    i = np.arange(1, 6001)
    s, d, x = np.floor(800 * drawn(i, 12.9898)), np.floor(300 * drawn(i, 78.233) ** 2), drawn(i, 3.7)
    y = 3 - x + 0.8 * (drawn(s + 1, 1.3) - 0.5) + drawn(d + 1, 2.1) - 0.5 + 2 * (drawn(i, 5.9) - 0.5)
    y += 1.5 * x * (drawn(d + 1, 7.7) - 0.5)
    frame = pd.DataFrame({"y": y, "x": x, "s": s, "d": d})
    model = AdditiveModel(criterion=criterion).fit(open_table(frame, formula=formula, categories=["s", "d"]))
    assert model.certificate_.rank == 1
    parts = model.variance_components_
    effects = [model.random_effects_[name] for name in ("s", "d")]
    first = [one["intercept"][np.argsort(one["level"].astype(float))[:2]].to_numpy() for one in effects]
    found = [
        *(model.certificate_.objective, parts[-1]["sd"], model.intercept_, model.coef_[0]),
        *(row["correlation"] if row["sd"] is None else row["sd"] for row in parts[:-1]),
        *np.concatenate(first),
    ]
    np.testing.assert_allclose(found[0], LECTURES[formula, criterion][0], rtol=1e-9)
    np.testing.assert_allclose(found[1:], LECTURES[formula, criterion][1:], rtol=1e-5, atol=1e-7)
