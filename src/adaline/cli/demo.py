"""A demonstration: `compare` on a bundled data set, then the digits of a regression counted in rational arithmetic.

`python -m adaline.cli.demo` prints what it finds and leaves `report.html`.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from adaline import LinearRegression, datasets
from adaline.arrays import Array
from adaline.cli import main as cli
from adaline.lazy import sklearn


def main() -> int:
    """Compare systems on the weight of penguins, which leaves report.html, and count the digits of Longley's fit."""
    print("$ adaline compare penguins --target body_mass_g", flush=True)
    code = cli(["compare", "penguins", "--target", "body_mass_g", "-o", "report.html"])
    longley = datasets.load("longley")
    print("\nCorrect digits of the worst coefficient of Longley's data (1967), in rational arithmetic")
    print(digits_table(longley.X, longley.y))
    return code


def digits_table(x: Array, y: Array) -> str:
    """Return how many digits of the worst coefficient are right, by program."""
    exact = _exact(x, y)
    model, scikit = LinearRegression().fit(x, y), sklearn.linear_model.LinearRegression().fit(x, y)
    ones = np.column_stack([np.ones(len(x)), x])
    answers = {
        "adaline": [model.intercept_, *model.coef_],
        "numpy.linalg.lstsq": list(np.linalg.lstsq(ones, y)[0]),
        "numpy, normal equations": list(np.linalg.solve(ones.T @ ones, ones.T @ y)),
        "scikit-learn": [scikit.intercept_, *scikit.coef_],
    }
    lines = [f"  {name:24s} {_digits(theta, exact):5.1f}" for name, theta in answers.items()]
    lines[0] += f"   (its certificate claims {model.certificate_.digits:.1f})"
    return "\n".join(lines)


def _exact(x: Array, y: Array) -> list[Fraction]:
    """Solve the normal equations in rational numbers, by elimination."""
    rows = [[Fraction(1), *map(Fraction, row.tolist())] for row in x]
    t = [Fraction(value) for value in y.tolist()]
    p = len(rows[0])
    system = [
        [
            sum((r[a] * v for r, v in zip(rows, values, strict=True)), Fraction(0))
            for values in (*zip(*rows, strict=True), t)
        ]
        for a in range(p)
    ]
    for c in range(p):
        system[c] = [value / system[c][c] for value in system[c]]
        for r in range(p):
            if r != c:
                system[r] = [a - system[r][c] * b for a, b in zip(system[r], system[c], strict=True)]
    return [row[p] for row in system]


def _digits(theta: list[float], exact: list[Fraction]) -> float:
    worst = max(abs((Fraction(float(a)) - b) / b) for a, b in zip(theta, exact, strict=True))
    return -math.log10(worst) if worst else 16.0


if __name__ == "__main__":
    raise SystemExit(main())
