"""What is particular to the systems that learn without targets; the laws of all systems are in tests/laws."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import adaline
from adaline.cli import main
from adaline.errors import InvalidData
from adaline.storage import read_header, save
from adaline.systems import SYSTEMS, UNSUPERVISED

RNG = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 3.0], [0.0, 7.0, -3.0], [6.0, 7.0, 0.0]])
X = (RNG.normal(size=(200, 3)) + CENTRES[np.arange(200) % 4]) * [1.0, 20.0, 0.1] + [100.0, -3000.0, 5.0]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
EACH = pytest.mark.parametrize(
    "model", [adaline.KMeans(n_clusters=4), adaline.GaussianMixture(n_components=4)], ids=["KMeans", "GaussianMixture"]
)


@pytest.mark.parametrize("system", UNSUPERVISED.values(), ids=UNSUPERVISED)
def test_they_are_documented_and_never_compared(system: type[Any]) -> None:
    text = inspect.getdoc(system) or ""
    for name in inspect.signature(system).parameters:
        assert f"{name} :" in text or f"{name}, " in text or f", {name} :" in text, name
    assert "imises" in text.splitlines()[0]
    assert "Lecture" in text
    assert system.compared == ()
    assert system.__name__ in adaline.__all__
    assert system.__name__ not in SYSTEMS


@EACH
def test_the_command_line_shows_and_applies_them(
    model: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.fit(FRAME)
    assert model.certificate_.status is adaline.Status.SOLVED
    assert model.certificate_.passes >= model.n_iter_
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    save(model, tmp_path / "m")
    assert read_header(tmp_path / "m")["system"] == type(model).__name__
    assert main(["summary", str(tmp_path / "m")]) == 0
    assert "certificate: solved" in capsys.readouterr().out
    assert main(["predict", str(tmp_path / "m"), str(tmp_path / "t.csv"), "-o", str(tmp_path / "out.csv")]) == 0
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "out.csv")["prediction"], model.predict(FRAME))


@EACH
def test_too_few_rows_and_bad_rows_are_named(model: Any) -> None:
    model.fit(X)
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        bad = X.copy()
        bad[7, 1] = value
        for call in (model.fit, model.predict, model.score):
            with pytest.raises(InvalidData, match=f"{word}: first at row 7, column 'x1'"):
                call(bad)
    with pytest.raises(InvalidData, match="n_samples=3 is fewer than the 4"):
        model.fit(X[:3])
    with pytest.raises(InvalidData, match="n_samples=2 is fewer"):
        model.fit(X, sample_weight=(np.arange(200) < 2).astype(float))
