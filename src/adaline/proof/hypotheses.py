"""Tests of linear hypotheses C theta = value by Wald's quadratic form.

    F = (C theta - value)' [C Cov C']^-1 (C theta - value) / q

With classical errors and normal residuals F has exactly the F distribution on q and N - p degrees of freedom. With
robust errors it is approximate, the denominator N - p for HC0 to HC3 and the number of groups less one for cluster, as
in statsmodels' f_test; q F, compared with chi-squared on q degrees of freedom, is statsmodels' wald_test.

A. Wald, Trans. AMS 54 (1943), 426-482.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from adaline.errors import InvalidData, InvalidParameter
from adaline.proof.contrasts import hint, parse
from adaline.proof.covariance import Covariance, about_mean, estimates, factor_of, quadratic
from adaline.proof.inference import OUTSIDE

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HypothesisTest:
    """The result of `test`: numbers for one target, arrays (K,) for several.

    Parameters
    ----------
    hypotheses : each hypothesis as text.
    statistic : F; `chi2` is q F.
    freedom : degrees of freedom of numerator and denominator.
    p_value : probability of an F at least as large if the hypotheses hold; `chi2_p_value` the one of chi-squared.
    errors : which standard errors were used.
    """

    hypotheses: tuple[str, ...]
    statistic: Any
    freedom: tuple[int, float]
    p_value: Any
    errors: str

    @property
    def chi2(self) -> Any:
        """Wald's statistic, q F."""
        return self.freedom[0] * self.statistic

    @property
    def chi2_p_value(self) -> Any:
        """Probability of a chi-squared with q degrees of freedom beyond `chi2`."""
        return special.chdtrc(self.freedom[0], self.chi2)

    def __str__(self) -> str:
        lines = ["hypothesis: " + "\n            ".join(self.hypotheses)]
        values = zip(np.atleast_1d(self.statistic), np.atleast_1d(self.p_value), strict=True)
        for k, (f, p) in enumerate(values):
            target = f"target y{k}: " if np.ndim(self.statistic) else ""
            chance = "<0.0001" if p < 1e-4 else f"{p:.4f}"
            lines.append(
                f"{target}F {f:.6g} on {self.freedom[0]} and {self.freedom[1]:g} degrees of freedom, p {chance} "
                f"({self.errors} errors)"
            )
        return "\n".join(lines)

    __repr__ = __str__


def read_hypotheses(
    hypothesis: Any, value: Any, names: Sequence[str], intercept: bool
) -> tuple[Array, Array, tuple[str, ...]]:
    """Return C (q, 1 + D), values (q,) and text of hypotheses given as text, as names or as a matrix."""
    if isinstance(hypothesis, str) or _are_names(hypothesis):
        texts = [hypothesis] if isinstance(hypothesis, str) else list(hypothesis)
        matrix, constant = _read_texts(texts, names, listed=not isinstance(hypothesis, str))
        if isinstance(hypothesis, str) and np.any(value):
            raise InvalidParameter(f"write the value into the hypothesis, '... = {value}', or give a matrix")
    else:
        matrix, constant = _read_matrix(hypothesis, len(names), intercept), np.zeros(1)
    values = np.asarray(value, dtype=np.float64)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != len(matrix)) or not np.isfinite(values).all():
        raise InvalidParameter(f"value must be one finite number for each of {len(matrix)} hypotheses, got {value!r}")
    values = np.broadcast_to(values + constant, (len(matrix),))
    if not intercept and matrix[:, 0].any():
        raise InvalidParameter("the hypothesis is about the intercept, and the model has none (fit_intercept=False)")
    if not matrix.any(axis=1).all():
        row = int(np.flatnonzero(~matrix.any(axis=1))[0])
        raise InvalidParameter(f"hypothesis {row + 1} says nothing about a coefficient: its row is zero")
    known = ("intercept", *names)
    return matrix, values, tuple(_write(row, v, known) for row, v in zip(matrix, values, strict=True))


def wald(covariance: Covariance, matrix: Array, value: Array, texts: Sequence[str]) -> tuple[float, float]:
    """Return F and its p value for one target."""
    if covariance.fit.penalty.any():
        raise InvalidParameter(
            "no tests for a penalised fit: its coefficients are shrunken on purpose, none is centred on the truth. "
            "Use LinearRegression, or penalty=0."
        )
    if not covariance.freedom > 0.5:
        raise InvalidData("no tests: there are no more rows than parameters, so that nothing is left to judge by")
    factor = factor_of(covariance.fit)
    lost = factor.outside(about_mean(factor, matrix)) > OUTSIDE
    if lost.any():
        raise InvalidData(
            f"the rows cannot tell whether {texts[int(np.flatnonzero(lost)[0])]}: the hypothesis involves columns that "
            "are linear combinations of others (see aliased_). Drop those columns."
        )
    difference = estimates(covariance.fit, covariance.k, matrix) - value
    if not covariance.root.any():  # a perfect fit
        return (np.inf, 0.0) if difference.any() else (np.nan, np.nan)
    squares = quadratic(covariance.along(matrix), difference)
    if np.isnan(squares):
        raise InvalidParameter(
            f"these {len(matrix)} hypotheses cannot be tested together: some follow from others"
            + (", or there are fewer groups than hypotheses" if covariance.errors == "cluster" else "")
        )
    f = squares / len(matrix)
    return f, float(special.fdtrc(len(matrix), covariance.freedom, f))


def _are_names(hypothesis: Any) -> bool:
    if not isinstance(hypothesis, list | tuple | np.ndarray):
        return False
    return len(hypothesis) > 0 and all(isinstance(entry, str) for entry in hypothesis)


def _read_texts(texts: list[str], names: Sequence[str], listed: bool) -> tuple[Array, Array]:
    """Read each text as the name of a column that is zero, or as hypotheses."""
    matrices, values = [], []
    for text in texts:
        if listed and text in names:
            matrices.append(np.eye(1, 1 + len(names), 1 + list(names).index(text)))
            values.append(np.zeros(1))
        elif listed and not set(text) & set("=+-*/ ") and text != "intercept":
            raise InvalidParameter(f"no column is called {text!r}" + hint(text, ["intercept", *names]))
        else:
            matrix, value = parse(text, names)
            matrices.append(matrix)
            values.append(value)
    return np.concatenate(matrices), np.concatenate(values)


def _read_matrix(hypothesis: Any, features: int, intercept: bool) -> Array:
    try:
        matrix = np.atleast_2d(np.asarray(hypothesis, dtype=np.float64))
    except (TypeError, ValueError):
        raise InvalidParameter(
            "hypothesis must be text such as 'x1 = x2', a list of column names, or a matrix of numbers, "
            f"got {type(hypothesis).__name__}"
        ) from None
    if not intercept and matrix.ndim == 2 and matrix.shape[1] == features:
        matrix = np.column_stack([np.zeros(len(matrix)), matrix])
    if matrix.ndim != 2 or matrix.shape[1] != 1 + features or len(matrix) == 0:
        raise InvalidParameter(
            f"hypothesis has shape {np.shape(hypothesis)}; it must be (q, {1 + features}): intercept first, then one "
            "number for each column"
        )
    if not np.isfinite(matrix).all():
        raise InvalidParameter("hypothesis has numbers that are not finite")
    return matrix


def _write(row: Array, value: float, names: Sequence[str]) -> str:
    """Return a hypothesis as text."""
    out = ""
    for place in map(int, np.flatnonzero(row)):
        size = abs(row[place])
        sign = ("-" if row[place] < 0 else "") if not out else (" - " if row[place] < 0 else " + ")
        out += sign + ("" if size == 1 else f"{size:.6g}*") + names[place]
    return f"{out} = {value:.6g}"
