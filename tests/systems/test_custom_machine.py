"""CustomMachine against the linear machines of GeneralizedLinear, and on what no linear machine learns."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import CustomMachine, GeneralizedLinear, open_table, save
from adaline.errors import AdalineWarning, InvalidParameter, InvalidType
from adaline.losses import NegativeBinomial
from adaline.results import Status
from adaline.storage import export_onnx
from adaline.systems import system_name
from tests.systems.own_machines import Plane, TwoLayers

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Z = X @ [0.2, 0.5, -0.3] + 0.3
COUNTS = RNG.poisson(np.exp(Z))
OFFSET = 0.5 * RNG.normal(size=len(X))
STEPS = {"solver": "stochastic", "rate": 0.01, "schedule": "1/t", "shuffle": True, "random_state": 3, "epochs": 3}


class Narrow(Plane):
    """A plane whose derivative has another shape than its weights."""

    def gradient(self, W: Any, X: Any, slopes: Any) -> Any:
        """Return the derivative without the constants."""
        return super().gradient(W, X, slopes)[:, 1:]


@pytest.mark.every
@pytest.mark.parametrize(
    ("settings", "y", "given"),
    [
        ({"loss": "poisson", "penalty": 2.0}, COUNTS, {}),
        ({"loss": "poisson"}, COUNTS, {"offset": OFFSET}),
        ({"loss": "poisson"}, COUNTS, {"exposure": np.exp(OFFSET)}),
        ({"loss": "gamma", "link": "log"}, COUNTS + 1.0, {"sample_weight": np.arange(300) % 3}),
        ({"loss": NegativeBinomial(2.0)}, COUNTS, {}),
        ({"loss": "softmax", "penalty": 1.0}, np.digitize(Z, [0.0, 0.6]), {}),
        ({"loss": "binomial"}, np.column_stack([COUNTS, 1 + COUNTS[::-1]]), {}),
        ({"activation": "tanh"}, np.tanh(Z + OFFSET), {}),
        ({"penalty": 1.0}, np.column_stack([Z + OFFSET, -Z]), {}),
        ({"solver": "gradient", "rate": 1e-4, "epochs": 20}, Z, {}),
        ({"loss": "huber", **STEPS}, Z + OFFSET, {}),
        ({"loss": "absolute", "penalty": 3.0, **STEPS}, np.column_stack([Z, OFFSET]), {}),
    ],
    ids=str,
)
def test_a_plane_of_ones_own_is_the_linear_machine(settings: Any, y: Any, given: Any) -> None:
    tol = {} if "solver" in settings else {"tol": 1e-15}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = CustomMachine(Plane(), **settings, **tol).fit(X, y, **given)
        if "solver" in settings:
            settings = {**settings, "init": np.zeros_like(ours.weights_)}  # where the plane starts
        theirs = GeneralizedLinear(**settings).fit(X, y, **given)
    known = {name: value for name, value in given.items() if name != "sample_weight"}
    expected = theirs.predict(X, **known)
    np.testing.assert_allclose(ours.predict(X, **known), expected, atol=1e-5 * np.abs(expected).max())
    assert ours.certificate_.objective == pytest.approx(theirs.certificate_.objective, rel=1e-8)
    assert ours.score(X, y, **given) == pytest.approx(theirs.score(X, y, **given), abs=1e-5)
    assert hasattr(ours, "decision_function") == hasattr(theirs, "decision_function")
    if hasattr(theirs, "decision_function"):
        outputs = theirs.decision_function(X, **known)
        if settings.get("loss") != "softmax":  # whose outputs have a common term that is free
            np.testing.assert_allclose(ours.decision_function(X, **known), outputs, atol=1e-4)
    assert not hasattr(ours, "coef_")


@pytest.mark.parametrize("solver", ["lbfgs", "stochastic", "gradient"])
def test_two_layers_learn_the_exclusive_or(solver: str) -> None:
    corners, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0.0, 1, 1, 0])
    settings: Any = {"rate": 0.1, "tol": 0.0, "epochs": 3000} if solver != "lbfgs" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CustomMachine(TwoLayers(), solver=solver, random_state=1, **settings).fit(corners, y)
    np.testing.assert_allclose(model.predict(corners), y, atol=1e-3)
    if solver == "lbfgs":
        assert model.certificate_.objective < 1e-9
        assert model.certificate_.status is Status.SOLVED


def test_offsets_of_a_table_come_with_its_rows() -> None:
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "n": COUNTS, "o": OFFSET}
    table = open_table(columns, target="n", offset="o")
    model = CustomMachine(Plane(), loss="poisson").fit(table)
    same = CustomMachine(Plane(), loss="poisson").fit(X, COUNTS, offset=OFFSET)
    np.testing.assert_allclose(model.predict(table), same.predict(X, offset=OFFSET), rtol=1e-12)
    assert model.score(table) == pytest.approx(same.score(X, COUNTS, offset=OFFSET))
    with pytest.raises(InvalidParameter, match="fitted with an offset"):
        same.predict(X)


def test_a_stream_is_scored_as_rows_in_memory_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.sources.tables.source.KEPT", 10)
    text = "\n".join(["a,b,c,n", *(",".join(map(repr, row)) for row in np.column_stack([X, COUNTS]).tolist())])
    (tmp_path / "rows.csv").write_text(text)
    table = open_table(tmp_path / "rows.csv", target="n")
    assert table.streamed
    model = CustomMachine(Plane(), loss="poisson").fit(table)
    assert model.score(table) == pytest.approx(model.score(pd.DataFrame(X, columns=["a", "b", "c"]), COUNTS), rel=1e-12)


def test_first_weights_are_those_given_those_there_are_or_the_machines() -> None:
    settings: Any = {"solver": "gradient", "epochs": 3, "tol": 1e-14}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CustomMachine(TwoLayers(), warm_start=True, random_state=2, **settings).fit(X, Z)
        before = model.weights_
        goes_on = model.fit(X, Z)
        given = CustomMachine(TwoLayers(), init=before, **settings).fit(X, Z)
        other = CustomMachine(TwoLayers(), random_state=3, **settings).fit(X, Z)
    np.testing.assert_array_equal(goes_on.weights_, given.weights_)
    assert not np.allclose(other.weights_, before)


@pytest.mark.every
@pytest.mark.parametrize(
    ("machine", "settings", "message"),
    [
        (object(), {}, "machine must be an object with start.*lacks start, value, gradient"),
        (Plane, {}, "it is a class"),
        (Plane(), {"solver": "newton"}, "solver must be one of lbfgs, gradient, stochastic"),
        (Plane(), {"rate": [1.0, 1.0], "solver": "gradient"}, "rate must be 'auto' or a positive number"),
        (Plane(), {"loss": "negative_binomial"}, "the shape of negative_binomial is not estimated here"),
        (Plane(), {"loss": "absolute"}, "corners.*RobustRegression"),
        (Plane(), {"init": np.zeros((2, 4))}, r"value of the machine is \(2, 2\) for 2 rows, not \(2, 1\)"),
        (Narrow(), {}, r"gradient of the machine has shape \(1, 3\), the weights \(1, 4\)"),
    ],
    ids=lambda given: str(given).partition(" at 0x")[0],  # an address differs between processes
)
def test_settings_that_mean_nothing_are_refused(machine: Any, settings: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        CustomMachine(machine, **settings).fit(X, Z)


def test_settings_of_another_solver_are_named() -> None:
    with pytest.warns(AdalineWarning, match="ignores stop_error=1.0: it needs solver to be 'gradient'"):
        CustomMachine(Plane(), stop_error=1.0).fit(X, Z)


def test_generalized_linear_says_where_its_machine_is() -> None:
    message = r"machine= is now the system CustomMachine\(machine, loss=\.\.\.\)"
    with pytest.raises(TypeError, match=message):
        GeneralizedLinear(machine=Plane())  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=message):
        GeneralizedLinear().set_params(machine=Plane())


def test_python_code_is_for_python_alone(tmp_path: Path) -> None:
    model = CustomMachine(Plane()).fit(X, Z)
    with pytest.raises(InvalidType, match="never code"):
        save(model, tmp_path / "m")
    with pytest.raises(InvalidType, match="Python code"):
        export_onnx(model, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InvalidParameter, match="for Python alone"):
        system_name("CustomMachine")
