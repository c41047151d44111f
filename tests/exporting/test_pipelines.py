"""Pipelines of scikit-learn's steps in other languages: what they predict, in two of the engines."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

from adaline import LinearRegression, LogisticRegression, Ridge, basis
from adaline.errors import InvalidType
from adaline.exporting import export
from tests.exporting.agreement import asked, far
from tests.exporting.engines import ENGINES, is_there

NUMBERS: list[Callable[[], Any]] = [
    StandardScaler,
    lambda: StandardScaler(with_mean=False),
    lambda: StandardScaler(with_std=False),
    lambda: RobustScaler(with_scaling=False),
    MaxAbsScaler,
    lambda: MinMaxScaler((-1, 2), clip=True),
    lambda: Normalizer("l1"),
    lambda: make_pipeline(Normalizer("max"), Normalizer()),
    lambda: Binarizer(threshold=0.3),
    lambda: FunctionTransformer(np.tanh),
    lambda: make_pipeline("passthrough", PolynomialFeatures(3, interaction_only=True)),
    lambda: KBinsDiscretizer(4, encode="onehot-dense", quantile_method="averaged_inverted_cdf"),
    lambda: KBinsDiscretizer(3, encode="ordinal", strategy="uniform"),
    lambda: PCA(2, whiten=True),
    lambda: TruncatedSVD(2),
    lambda: make_pipeline(VarianceThreshold(), SelectKBest(k=2)),
    lambda: basis.Spline(4),
    lambda: QuantileTransformer(n_quantiles=20),
    lambda: make_pipeline(FunctionTransformer(np.floor), QuantileTransformer(n_quantiles=60)),
    lambda: SplineTransformer(4, knots="quantile", include_bias=False),
    lambda: SplineTransformer(5, degree=2, extrapolation="linear", handle_missing="zeros"),
    lambda: SplineTransformer(4, degree=2, extrapolation="linear"),
    lambda: SplineTransformer(5, extrapolation="periodic"),
    lambda: SplineTransformer(4, extrapolation="error"),
    lambda: SplineTransformer(4, extrapolation="continue", sparse_output=True),
    lambda: SimpleImputer(missing_values=1e9),
    lambda: make_pipeline(Binarizer(), OneHotEncoder(drop="first")),
    lambda: make_pipeline(KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), OneHotEncoder()),
]
CODES: list[Callable[[], Any]] = [
    lambda: OneHotEncoder(handle_unknown="ignore"),
    lambda: OneHotEncoder(drop="if_binary"),
    lambda: OneHotEncoder(min_frequency=40, handle_unknown="infrequent_if_exist"),
    lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-3, encoded_missing_value=-1),
    lambda: OrdinalEncoder(encoded_missing_value=9),
    lambda: TargetEncoder(),
    lambda: make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
    lambda: make_pipeline(OrdinalEncoder(), OneHotEncoder(handle_unknown="ignore")),
]


class MaxAbsScalerOfMine(MaxAbsScaler):
    """A step of a user's own."""


def rows_to_learn() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 150
    frame = pd.DataFrame({"a": rng.normal(size=n), "it's": rng.gamma(2.0, size=n), "c": rng.uniform(size=n)})
    frame["kind"] = rng.choice(["left", "o'x", "both"], n, p=[0.6, 0.2, 0.2])
    frame["floor"] = rng.integers(1, 5, n).astype(float)
    frame["gap"] = np.where(np.arange(n) % 5 == 2, np.nan, rng.normal(size=n))
    frame["y"] = frame["a"] + np.log(frame["it's"]) + (frame["kind"] == "left") + rng.normal(size=n)
    return frame


def rows_to_score() -> pd.DataFrame:
    rows = rows_to_learn()[:14].copy()
    rows.loc[3, "kind"], rows.loc[4, "kind"], rows.loc[5, "floor"] = "new", np.nan, 77.0
    rows.loc[10, "kind"] = " left"  # what encoders compare as it is
    rows.loc[6, "a"], rows.loc[7, "it's"], rows.loc[8, "c"], rows.loc[9, "floor"] = np.nan, 1e9, np.inf, np.nan
    return rows


def agrees(model: Any, columns: list[str], folder: Path) -> None:
    """Assert that the engines say what the pipeline says, and nothing where it refuses a row."""
    given = asked(model, rows_to_score()[columns].reset_index(drop=True))
    assert None in given.wanted["prediction"] or "gap" in columns
    for engine in ("python", "c", "javascript", "duckdb"):
        if is_there(engine):
            assert not far(ENGINES[engine](model, given.rows, folder), given), engine


@pytest.mark.filterwarnings("ignore")  # of columns that are combinations of others, in what is learned
@pytest.mark.parametrize("make", NUMBERS)
def test_steps_of_numbers(make: Callable[[], Any], tmp_path: Path) -> None:
    rows, columns = rows_to_learn(), ["a", "it's", "c"]
    model = make_pipeline(make(), LinearRegression()).fit(rows[columns], rows["y"])
    agrees(model, columns, tmp_path)


@pytest.mark.parametrize("make", CODES)
def test_encoders_of_categories(make: Callable[[], Any], tmp_path: Path) -> None:
    rows = rows_to_learn()
    rows.loc[rows.index[20:60:9], "kind"] = np.nan
    parts = make_column_transformer((make(), ["kind"]), (make(), ["floor"]), remainder="passthrough")
    columns = ["c", "floor", "kind"]
    agrees(make_pipeline(parts, Ridge(0.1)).fit(rows[columns], rows["y"]), columns, tmp_path)


def test_many_categories_are_one_lookup(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [f"user {k % 700}" for k in range(1400)], "x": np.arange(1400.0)})
    parts = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["id"]), remainder="passthrough")
    model = make_pipeline(parts, StandardScaler(with_mean=False), Ridge(1.0)).fit(frame, np.sin(frame["x"]))
    text = export(model, tmp_path / "m.py")
    assert len(text) < 60_000
    program: dict[str, Any] = {}
    exec(text, program)
    found = [program["predict"](row)["prediction"] for row in frame[:50].to_dict("records")]
    np.testing.assert_allclose(found, model.predict(frame[:50]), rtol=1e-11)


def test_gaps_weights_and_classes(tmp_path: Path) -> None:
    rows, columns = rows_to_learn(), ["a", "gap", "kind", "c"]
    parts = ColumnTransformer(
        [
            ("n", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["a", "gap"]),
            ("g", MissingIndicator(), ["gap"]),
            ("k", OneHotEncoder(handle_unknown="ignore"), ["kind"]),
            ("none", "drop", ["c"]),
        ],
        transformer_weights={"n": 2.0},
    )
    labels = np.where(rows["y"] > 1, "it's", "low")
    agrees(make_pipeline(parts, LogisticRegression(penalty=1.0)).fit(rows[columns], labels), columns, tmp_path)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (SplineTransformer(degree=1, extrapolation="linear"), "confuses the columns: use extrapolation='continue'"),
        (PowerTransformer(), "PowerTransformer has no form outside Python: use FunctionTransformer of np.log1p"),
        (QuantileTransformer(n_quantiles=9, output_distribution="normal"), "'normal': use 'uniform'"),
        (MaxAbsScalerOfMine(), "MaxAbsScalerOfMine has no form outside Python: make its columns before"),
        (FunctionTransformer(lambda X: X + 1), "code of your own"),
        (OneHotEncoder(categories=[[np.nan]] * 3, handle_unknown="ignore"), "no category"),
    ],
)
def test_a_step_without_a_form_is_refused_by_name(step: Any, said: str) -> None:
    rows = rows_to_learn()
    model = make_pipeline(step, Ridge(1.0)).fit(rows[["a", "it's", "c"]], rows["y"])
    with pytest.raises(InvalidType, match=re.escape(said)):
        export(model, to="c")


def test_a_pipeline_of_tables_or_without_a_system_is_refused() -> None:
    from sklearn.svm import SVR

    rows = rows_to_learn()
    with pytest.raises(InvalidType, match="ends with SVR"):
        export(make_pipeline(StandardScaler(), SVR()).fit(rows[["a"]], rows["y"]), to="sql")
    table = make_pipeline(FunctionTransformer(), LinearRegression()).fit(rows[["a", "kind"]], rows["y"])
    with pytest.raises(InvalidType, match="codes the columns"):
        export(table, to="sql")
