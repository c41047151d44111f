"""The same regression for every group of a table, beside loops, expressions of polars, and an aggregate of DuckDB."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import race

OURS = "adaline"
COLUMNS = ["a", "b", "c", "d"]
LOOPED = 200  # groups that loops fit, whose time is multiplied


@benchmark("groups")
def groups(settings: Settings) -> Section:
    """Groups of 20 rows in no order, in a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    count = settings.rows(100_000)
    columns = _columns(count, 20)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pq.write_table(pa.table(columns), path)
        return Section(
            "Many small models",
            _TEXT,
            [
                _table(f"least squares: {count} groups of 20 rows, 4 columns", _least_squares(path, columns, count)),
                _table(f"one column: {count} groups of 20 rows", _one_column(path)),
                _table(f"logistic regression: {count} groups of 20 rows, 4 columns", _logistic(path, columns, count)),
                _table(f"Poisson regression: {count} groups of 20 rows, 4 columns", _poisson(path, columns, count)),
                _table(f"windows of 250 rows: {count} rows, 4 columns", _windows(columns, count)),
            ],
        )


def _table(caption: str, contenders: dict[str, tuple[Callable[[], Any], float]]) -> Table:
    found = race({name: run for name, (run, _) in contenders.items()}, rounds=4)
    times = {name: found[name].seconds * share for name, (_, share) in contenders.items()}
    lines = [
        (name, seconds(time), "-" if name == OURS else ratio(time / times[OURS]), str(found[name].runs))
        for name, time in times.items()
    ]
    return Table(caption, ("", "time", "ratio", "best of"), lines)


def _least_squares(path: Path, columns: dict[str, Any], count: int) -> dict[str, tuple[Callable[[], Any], float]]:
    import statsmodels.api as sm

    from adaline import LinearRegression

    def statsmodels(x: Any, t: Any) -> Any:
        fit = sm.OLS(t, sm.add_constant(x)).fit()
        return fit.params, fit.bse, fit.tvalues, fit.pvalues

    return {
        OURS: (_ours(LinearRegression(), path, "y", COLUMNS), 1.0),
        "loop of adaline's fit and summary": _loop(
            lambda x, t: LinearRegression().fit(x, t).summary(), columns, "y", count
        ),
        "loop of statsmodels": _loop(statsmodels, columns, "y", count),
        **_polars(path),
    }


def _one_column(path: Path) -> dict[str, tuple[Callable[[], Any], float]]:
    import duckdb

    from adaline import LinearRegression

    query = f"SELECT g, regr_slope(y, a), regr_intercept(y, a) FROM '{path}' GROUP BY g"
    return {
        OURS: (_ours(LinearRegression(), path, "y", ["a"]), 1.0),
        "DuckDB's regr_slope": (lambda: duckdb.sql(query).fetchnumpy(), 1.0),
    }


def _logistic(path: Path, columns: dict[str, Any], count: int) -> dict[str, tuple[Callable[[], Any], float]]:
    import statsmodels.api as sm

    from adaline import LogisticRegression

    return {
        OURS: (_ours(LogisticRegression(), path, "up", COLUMNS), 1.0),
        "loop of statsmodels": _loop(
            lambda x, t: sm.GLM(t, sm.add_constant(x), sm.families.Binomial()).fit().pvalues, columns, "up", count
        ),
    }


def _poisson(path: Path, columns: dict[str, Any], count: int) -> dict[str, tuple[Callable[[], Any], float]]:
    import statsmodels.api as sm

    from adaline import GeneralizedLinear

    return {
        OURS: (_ours(GeneralizedLinear("poisson"), path, "count", COLUMNS), 1.0),
        "loop of statsmodels": _loop(
            lambda x, t: sm.GLM(t, sm.add_constant(x), sm.families.Poisson()).fit().pvalues, columns, "count", count
        ),
    }


def _windows(columns: dict[str, Any], count: int) -> dict[str, tuple[Callable[[], Any], float]]:
    import pandas as pd
    import statsmodels.api as sm
    from statsmodels.regression.rolling import RollingOLS

    from adaline import LinearRegression, fit_groups

    frame = pd.DataFrame({name: columns[name][:count] for name in ("y", *COLUMNS)})

    def rolling() -> Any:
        fit = RollingOLS(frame["y"], sm.add_constant(frame[COLUMNS]), window=250).fit()
        return fit.params, fit.bse

    return {
        OURS: (lambda: fit_groups(LinearRegression(), frame, target="y", window=250), 1.0),
        "RollingOLS of statsmodels": (rolling, 1.0),
    }


def _ours(system: Any, path: Path, target: str, features: list[str]) -> Callable[[], Any]:
    from adaline import fit_groups

    return lambda: fit_groups(system, path, target=target, by="g", features=features)


def _loop(
    fit: Callable[[Any, Any], Any], columns: dict[str, Any], target: str, count: int
) -> tuple[Callable[[], Any], float]:
    """Return a loop over some of the groups, cut out beforehand, and by what its time is multiplied."""
    order = np.argsort(columns["g"], kind="stable")[: 20 * LOOPED].reshape(LOOPED, 20)
    x = np.column_stack([columns[name] for name in COLUMNS])
    parts = [(x[own], columns[target][own]) for own in order]

    def run() -> None:
        for part in parts:
            fit(*part)

    return run, count / LOOPED


def _polars(path: Path) -> dict[str, tuple[Callable[[], Any], float]]:
    out: dict[str, tuple[Callable[[], Any], float]] = {}
    try:
        import polars as pl
        import polars_ols  # noqa: F401

        expression: Any = pl.col("y")
        ols = expression.least_squares.ols(*map(pl.col, COLUMNS), mode="statistics", add_intercept=True).over("g")
        out["polars-ols"] = (lambda: pl.read_parquet(path).select(ols), 1.0)
    except ImportError:
        print("  polars-ols is not installed", file=sys.stderr)
    try:
        import polars as pl
        import polars_ds

        report = polars_ds.lin_reg_report(*COLUMNS, target="y", add_bias=True).over("g", mapping_strategy="explode")
        out["polars-ds"] = (lambda: pl.read_parquet(path).select(report), 1.0)
    except ImportError:
        print("  polars-ds is not installed", file=sys.stderr)
    return out


def _columns(count: int, rows: int) -> dict[str, Any]:
    """Return the columns of groups in no order, with a number, a label and a count to predict."""
    rng = np.random.default_rng(0)
    g = np.repeat(np.arange(count), rows)
    rng.shuffle(g)
    x = rng.normal(size=(4, len(g)))
    z = 0.5 * (x[0] - x[1]) + 0.2 * rng.normal(size=count)[g]
    out = dict(zip(COLUMNS, x, strict=True))
    return out | {
        "y": z + rng.normal(size=len(g)),
        "up": (rng.random(len(g)) < 1 / (1 + np.exp(-z))).astype(float),
        "count": rng.poisson(np.exp(1 + 0.3 * z)).astype(float),
        "g": g,
    }


_TEXT = """
`fit_groups` from a Parquet file whose rows are in no order: coefficients, standard errors, tests, proven digits and a
status for each group. Loops fit 200 of the groups, cut out beforehand, and their time is that for all. polars-ols and
polars-ds read the same file. DuckDB's aggregates are slope and intercept alone.
"""
