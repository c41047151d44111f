"""What the README shows is what runs: every block in order, and the output of the first."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from adaline import LinearRegression

README = Path(__file__).parents[1] / "README.md"


def test_the_readme_is_true() -> None:
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    shown = re.search(r"prints\n\n```\n(.*?)```", text, re.DOTALL)
    assert shown is not None
    assert len(blocks) >= 4
    rng = np.random.default_rng(0)
    X, X_other, X_new = (rng.normal(size=(n, 5)) for n in (200, 50, 10))
    y, y_other = X @ np.arange(5.0) + rng.normal(size=200), X_other @ np.arange(5.0) + rng.normal(size=50)
    x = rng.normal(size=2000)
    names: dict[str, Any] = {
        "X": X,
        "y": y,
        "parts": [(X[:120], y[:120]), (X[120:], y[120:])],
        "X_other": X_other,
        "y_other": y_other,
        "X_new": X_new,
        "small": LinearRegression().fit(X[:, :3], y),
        "w": rng.uniform(0.5, 2.0, size=200),
        "x": x,
        "d": np.convolve(x, [0.5, -0.2, 0.1])[:2000],
    }
    printed = []
    for block in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, "README.md", "exec"), names)
        printed.append(out.getvalue())
    until_certificate = [part.partition("certificate:")[0] for part in (printed[0], shown.group(1))]
    assert until_certificate[0] == until_certificate[1]
    assert printed[-1].strip() == "0.988"
