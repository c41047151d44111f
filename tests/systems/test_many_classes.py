"""More classes than there is memory for: refused by name and size, not by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adaline import LinearRegression, Perceptron, SigmoidPerceptron
from adaline.errors import AdalineError, TooLarge
from adaline.systems.families import online_classifier


@pytest.mark.parametrize("system", [Perceptron, SigmoidPerceptron])
def test_the_bytes_of_many_classes_are_named(system: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online_classifier, "physical_memory", lambda: 2**34)
    X, y = np.ones((100_000, 1)), np.arange(100_000)
    with pytest.raises(TooLarge, match=r"100,000 classes need 80,000,000,000 bytes .* has 17,179,869,184\. Join rare"):
        system().fit(X, y)


def test_memory_that_is_not_there_is_an_error_of_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        np.empty((2**40, 2**15))

    monkeypatch.setattr("adaline.systems.families.linear_system.open_rows", full)
    with pytest.raises(AdalineError, match=r"LinearRegression: Unable to allocate .*PiB.*fewer columns") as found:
        LinearRegression().fit(np.ones((3, 1)), np.ones(3))
    assert isinstance(found.value, MemoryError)
