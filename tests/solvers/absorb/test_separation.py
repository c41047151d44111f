"""Rows of counts that levels and columns separate, against linear programs and pyfixest, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from adaline import GeneralizedLinear, load, open_table, save
from adaline.errors import InvalidData
from adaline.results import Status
from adaline.solvers.absorb.poisson import absorb_poisson
from adaline.solvers.absorb.separation import SeparatedRows
from adaline.sources.tables.effects import Levels
from tests.inference.against import column
from tests.solvers.absorb.designs import sparse_counts

PEER: dict[str, Any] = json.loads((Path(__file__).parents[2] / "data" / "effects" / "pyfixest.json").read_text())
ONE_WAY: dict[str, Any] = {
    "y": [1.0, 2, 3, 2, 4, 2, 3, 5, 1, 2, 0, 0, 0],
    "x": [0.3, 0.1, 0.7, 0.2, 0.9, 0.5, 0.4, 0.8, 0.1, 0.2, 0.6, 0.3, 0.5],
    "f": ["a"] * 5 + ["b"] * 5 + ["a"] * 3,
    "t": [0] * 5 + [1] * 5 + [1] * 3,
}  # rows of a at 1 count nothing, and there are none of b at 0


def program(design: Any, y: Any) -> Any:
    """Return which rows some combination of the columns of a design separates, (N,), by linear programming."""
    n, m = design.shape
    zero = np.flatnonzero(y == 0)
    above = np.zeros((len(zero), m + n))
    above[:, :m], above[np.arange(len(zero)), m + zero] = design[zero], 1.0
    bounds = [(None, None)] * m + [(0, float(count == 0)) for count in y]
    equal = np.hstack([design[y > 0], np.zeros((int((y > 0).sum()), n))])
    cost = np.concatenate([np.zeros(m), -np.ones(n)])
    found = linprog(cost, above, np.zeros(len(zero)), equal, np.zeros(len(equal)), bounds)
    return found.x[m:] > 0.5


def dummies(columns: Any) -> Any:
    return np.hstack([(np.asarray(column)[:, None] == np.unique(column)).astype(float) for column in columns])


def levels_of(**columns: Any) -> tuple[Levels, ...]:
    each = {name: np.unique(column, return_inverse=True) for name, column in columns.items()}
    return tuple(Levels(name, codes.astype(np.int32), values) for name, (values, codes) in each.items())


@pytest.mark.parametrize("seed", range(12))
def test_two_columns_of_levels_separate_what_a_linear_program_separates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, y = rng.integers(0, 7, 26), rng.integers(0, 6, 26), rng.poisson(0.7, 26).astype(np.float64)
    found = SeparatedRows.of_levels(levels_of(a=a, b=b), y)
    assert np.array_equal(~found.kept, program(dummies([a, b]), y))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("names", "levels"), [("xd", "ab"), ("x", "abc")])
@pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning")
def test_columns_and_levels_separate_together(seed: int, names: str, levels: str) -> None:
    data = sparse_counts(seed)
    design = np.hstack([dummies(data[name] for name in levels), np.stack([data[x] for x in names]).T])
    wanted = program(design, data["y"])
    table = open_table(data, formula=f"y ~ {' + '.join(names)} | {' + '.join(levels)}")
    table.learn_coding()
    source = absorb_poisson(table)
    kept = np.arange(len(wanted)) if source.rows.kept is None else source.rows.kept
    assert np.array_equal(kept, np.flatnonzero(~wanted))


@pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning")
@pytest.mark.parametrize("name", [name for name in PEER if name.startswith("separated")])
def test_what_is_left_is_fitted_as_by_pyfixest(name: str) -> None:
    data, known = sparse_counts(int(name.split()[1])), PEER[name]
    model = GeneralizedLinear(loss="poisson").fit(open_table(data, formula="y ~ x | a + b"))
    assert model.rows_seen_ == known["rows"]
    assert model.absorbed_.separated == len(data["y"]) - known["rows"]
    assert model.coef_ == pytest.approx(known["coef"], rel=1e-6)


def test_separated_rows_have_a_mean_of_zero(tmp_path: Path) -> None:
    table = open_table(ONE_WAY, formula="y ~ x | f + t")
    model = GeneralizedLinear(loss="poisson").fit(table)
    assert model.certificate_.status is Status.SOLVED
    assert model.absorbed_.separated == 3
    assert "3 rows left out, whose mean is zero" in str(model.summary())
    save(model, tmp_path / "m.adaline")
    for one in (model, load(tmp_path / "m.adaline")):
        found = one.predict(table)
        assert not found[10:].any()
        assert found.sum() == pytest.approx(sum(ONE_WAY["y"]))
        with pytest.raises(InvalidData, match=r"row 0 has no finite mean: .*f 'b', t 0.* are separated"):
            one.predict(open_table({"x": [0.1], "f": ["b"], "t": [0]}))
    rest = {key: values[:10] for key, values in ONE_WAY.items()}
    part = open_table(rest, formula="y ~ x | f + t")
    fewer = GeneralizedLinear(loss="poisson").fit(part)
    assert np.allclose(model.coef_, fewer.coef_, rtol=1e-9)
    errors = [column(m.summary(errors="HC1", X=t), "std_error")[1] for m, t in ((model, table), (fewer, part))]
    assert errors[0] == pytest.approx(errors[1], rel=1e-8)


def test_a_level_without_counts_has_a_mean_of_zero() -> None:
    data = {key: [*ONE_WAY[key], value] for key, value in {"y": 0.0, "x": 0.2, "f": "c", "t": 0}.items()}
    table = open_table(data, formula="y ~ x | f + t")
    model = GeneralizedLinear(loss="poisson").fit(table)
    assert model.predict(table)[-1] == 0.0
    assert model.effects_["f"]["value"].to_list()[-1] == -np.inf
    with pytest.raises(InvalidData, match="did not occur in the fit"):
        model.predict(open_table({"x": [0.1], "f": ["z"], "t": [0]}))


def test_a_column_that_separates_is_left_out() -> None:
    rng = np.random.default_rng(5)
    n = 120
    data: dict[str, Any] = {"x": rng.normal(size=n), "f": rng.integers(0, 6, n), "t": rng.integers(0, 4, n)}
    data["y"] = rng.poisson(2.0, n).astype(np.float64) + 1.0
    data["d"] = np.zeros(n)
    data["d"][:7], data["y"][:7] = 1.0, 0.0
    table = open_table(data, formula="y ~ x + d | f + t")
    model = GeneralizedLinear(loss="poisson").fit(table)
    rest = {key: values[7:] for key, values in data.items()}
    fewer = GeneralizedLinear(loss="poisson").fit(open_table(rest, formula="y ~ x | f + t"))
    assert model.absorbed_.separated == 7
    assert np.allclose(model.coef_, [fewer.coef_[0], 0.0], rtol=1e-9)
    assert list(model.aliased_) == ["d"]
    robust = column(model.summary(errors="cluster", X=table, groups="f"), "estimate")[1]
    assert robust == pytest.approx(fewer.coef_[0])
