"""Rows are the same rows in whatever form they come: layouts, sparse rows, frames, other arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from adaline.arrays import host, is_device
from tests.cases import Case, Given, assert_same, cases, fitted, reading
from tests.layouts import lay

NAMES = ["a", "b (m)", "ä", "d"]
FORMS: dict[str, Callable[[Any], Any]] = {
    **{name: lambda X, name=name: lay(X, name) for name in ("float32", "columns", "strided")},
    "backwards": lambda X: X[::-1].copy()[::-1],
    "lists": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "arrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
    "array API": array_api_strict.asarray,
}
SPARSE: dict[str, Callable[[Any], Any]] = {
    "csr": sparse.csr_array,
    "csr32": lambda X: lay(X, "csr32"),
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
}


def check_forms(case: Case, forms: dict[str, Callable[[Any], Any]], X: Any) -> None:
    """Fit a case to rows in all forms, and let the models predict rows in the same form."""
    given = case.rows()
    expected = case.fit(given.with_rows(lambda _: X))
    for name, form in forms.items():
        found = case.fit(given.with_rows(lambda _, form=form: form(X)))
        assert_same(found, expected, X)
        read = reading(found, form(X))
        np.testing.assert_allclose(read, reading(found, X), rtol=1e-6, atol=1e-6 * np.abs(read).max(), err_msg=name)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@cases()
def test_dense_rows(case: Case) -> None:
    check_forms(case, FORMS, case.rows().X)


@cases(law="sparse rows")
def test_sparse_rows(case: Case) -> None:
    X = case.rows().X
    check_forms(case, SPARSE, np.where(np.random.default_rng(3).random(X.shape) < 0.5, X, 0.0))


OF_ROWS = (
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "decisions", "ambiguous", "latent"),
    *("transform", "score_samples", "log_likelihood", "mahalanobis", "row_weights", "filter"),
)
"""Methods that return a value for each row."""
LACKING = {
    "row_weights": ("RobustRegression(loss='absolute'", "RobustRegression(loss='quantile'"),
    "mahalanobis": ("GaussianClassifier(covariance='full', components",),
}
"""Cases for whose settings a method is refused."""


@pytest.mark.parametrize("device", ["device1", "no_float64"])
@cases(lambda case: case.settings.get("method") != "autocorrelation")
def test_values_of_rows_lie_where_the_rows_do(case: Case, device: str) -> None:
    """`no_float64` stands for the devices of Apple (MPS): rows are summed on the host, and values come back there."""
    own, exact, given = array_api_strict.Device(device), device != "no_float64", case.rows()
    y = np.unique(given.y, return_inverse=True)[1] if case.classifies else given.y
    kind = np.float64 if exact else np.float32
    host_parts = [part if part.dtype.kind == "i" else part.astype(kind) for part in (given.X, y) if part is not None]
    parts = [array_api_strict.asarray(part, device=own) for part in host_parts]
    weight = np.random.default_rng(1).integers(1, 4, 60).astype(kind)
    there, here = (
        case.fit(Given(rows[0], rows[1] if len(rows) > 1 else None, own_weight))
        for rows, own_weight in ((parts, array_api_strict.asarray(weight, device=own)), (host_parts, weight))
    )
    found = [one for one in OF_ROWS if hasattr(there, one) and not case.name.startswith(LACKING.get(one, ("-",)))]
    assert found
    for method in found:
        needed = len(parts) if method in ("row_weights", "filter") else 1
        got, wanted = (getattr(model, method)(*rows[:needed]) for model, rows in ((there, parts), (here, host_parts)))
        for one, other in zip(got, wanted, strict=True) if method == "filter" else [(got, wanted)]:
            assert is_device(one), method
            assert one.device == own
            near = 1e-6 * np.abs(other[np.isfinite(other)]).max()
            np.testing.assert_allclose(host(one), other, rtol=1e-6 if exact else 1e-5, atol=near)
    assert there.score(*parts) == pytest.approx(here.score(*host_parts), rel=1e-6 if exact else 1e-4)


@pytest.mark.filterwarnings("error")
@cases(lambda case: "Filter" not in case.name)
def test_columns_are_known_by_their_names(case: Case) -> None:
    given = case.rows()
    frame = pd.DataFrame(given.X, columns=NAMES)
    model = case.fit(given.with_rows(lambda _: frame))
    assert list(model.feature_names_in_) == NAMES
    np.testing.assert_array_equal(reading(model, frame[NAMES[::-1]]), reading(model, frame))
    with pytest.raises(ValueError, match="feature names"):
        reading(model, frame.rename(columns={"a": "e"}))


@cases(law="one weight")
def test_a_fit_leaves_its_input_alone(case: Case) -> None:
    given = case.rows().with_weight(np.linspace(0.5, 2.0, 60))
    kept = [np.copy(part) for part in (*given.arguments, given.weight)]
    read = fitted(case.name).predict(given.X)
    case.fit(given)
    for part, copy in zip((*given.arguments, given.weight), kept, strict=True):
        np.testing.assert_array_equal(part, copy)
    assert len(read) == len(given.X)
