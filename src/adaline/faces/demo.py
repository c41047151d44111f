"""A first look: Longley's labour statistics of 1967, the set that humbled the regression programs of its day.

`python -m adaline.faces.demo` prints what it finds and leaves `report.html`.
"""

from __future__ import annotations

import base64
import html
import io
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression as ScikitRegression

from adaline import LinearRegression, Ridge, datasets
from adaline.faces import plots

Array = NDArray[np.float64]

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>adaline: Longley</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}}
table{{border-collapse:collapse;margin:1rem 0}}caption{{text-align:left;font-weight:bold;padding-bottom:.4rem}}
td,th{{padding:.15rem .7rem;text-align:right}}th:first-child{{text-align:left}}thead{{border-bottom:2px solid #0072B2}}
img{{max-width:100%}}pre{{background:#f4f4f4;padding:1rem;overflow-x:auto}}</style>
<h1>Longley, solved and proved</h1><p>{description}</p>
<h2>How many digits are right?</h2><pre>{digits}</pre>
<h2>Least squares</h2>{regression}<h2>Ridge, its penalty found from the data</h2>{ridge}{pictures}</html>
"""


def main() -> None:
    """Fit, compare digits, show units and streaming, write report.html."""
    data = datasets.load("longley")
    frame = pyarrow.table(dict(zip(data.feature_names, data.X.T, strict=True)))
    model, ridge = LinearRegression().fit(frame, data.y), Ridge().fit(frame, data.y)
    table = _digits_table(data.X, data.y, model)
    print(f"{data.description}\n\n{model.summary()}\n\nCorrect digits of the worst coefficient, in rational arithmetic")
    print(f"{table}\n\n{_units()}\n\n{_streaming(data.X, data.y, model)}\n\n{ridge.summary()}\n")
    pictures = [plots.coefficients({"least squares": model, "ridge": ridge}), plots.penalty_path(ridge)]
    page = PAGE.format(
        description=html.escape(data.description),
        digits=html.escape(table),
        regression=model.summary()._repr_html_(),
        ridge=ridge.summary()._repr_html_(),
        pictures="".join(f'<p><img alt="" src="data:image/png;base64,{_png(ax)}"></p>' for ax in pictures),
    )
    temporary = Path("report.html.part")
    temporary.write_text(page, encoding="utf-8")
    temporary.replace("report.html")
    print("report.html written: tables and pictures of both models")


def _digits_table(x: Array, y: Array, model: LinearRegression) -> str:
    exact = _exact(x, y)
    scikit = ScikitRegression().fit(x, y)
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


def _units() -> str:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2)) * [2e6, 0.3]
    y = x @ [1e-6, 10.0] + 0.05 * rng.normal(size=200)
    tiny = x * [1e6, 1e-9]
    ours, theirs = LinearRegression().fit(tiny, y), ScikitRegression().fit(tiny, y)
    return (
        "Units: the same two columns in micro- and giga-units, R²\n"
        f"  adaline {ours.score(tiny, y):.4f}, scikit-learn {theirs.score(tiny, y):.4f}"
    )


def _streaming(x: Array, y: Array, model: LinearRegression) -> str:
    parts = LinearRegression().fit(x[:9], y[:9]).merge(LinearRegression().fit(x[9:], y[9:]))
    gone = LinearRegression().fit(x, y).forget(x[:2], y[:2])
    again = LinearRegression().fit(x[2:], y[2:])
    return (
        "Streaming: largest relative difference of a coefficient\n"
        f"  two halves merged, against one fit     {_gap(parts, model):.1e}\n"
        f"  two rows forgotten, against a new fit  {_gap(gone, again):.1e}"
    )


def _gap(a: LinearRegression, b: LinearRegression) -> float:
    return float(np.abs(a.coef_ / b.coef_ - 1).max())


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


def _png(ax: object) -> str:
    buffer = io.BytesIO()
    ax.figure.savefig(buffer, format="png", dpi=120)  # type: ignore[attr-defined]
    return base64.b64encode(buffer.getvalue()).decode()


if __name__ == "__main__":
    main()
