"""Standard errors of robust fits, as statsmodels has them, and their table.

M-estimates (Huber 1981, H1):  Cov = k^2 [s^2 sum w psi(u)^2 / (W - p)] / [mean psi'(u)]^2 (X'X)^-1,  u = r/s,
                               k = 1 + p/W var psi'(u) / [mean psi'(u)]^2
Quantiles (Powell 1991):       Cov = (X'X)^-1 [sum w d x x'] (X'X)^-1,  d = (level/f)^2 above, ((1 - level)/f)^2 below,
                               f the density of r at zero by Epanechnikov's kernel, Hall and Sheather's bandwidth
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from adaline.losses import Loss
from adaline.namespaces import namespace
from adaline.proof.tables import STATISTICS, CoefficientTable, Part
from adaline.results import Solution
from adaline.solvers.curvature import Curvature
from adaline.solvers.problem import Problem

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RobustFit:
    """A robust fit of one target.

    Parameters
    ----------
    solution : theta (1, 1 + D) in raw units, and the certificate.
    scale : of the residuals; NaN where the loss needs none.
    std_error : (1 + D,) NaN where there is none.
    beyond : weight of the rows beyond the threshold, of those off the plane for an exact fit; NaN without threshold.
    rows, weight : number of rows, and the sum of their weights.
    """

    solution: Solution
    scale: float
    std_error: Array
    beyond: float
    rows: int
    weight: float


@dataclass(frozen=True)
class Sided(Loss):
    """A loss of curvature `up` above the plane and `down` below it, to sum rows by."""

    up: float
    down: float
    name: ClassVar[str] = "sided"

    def value(self, z: Any, t: Any) -> Any:
        """Return 0."""
        return z * 0.0

    def slope(self, z: Any, t: Any) -> Any:
        """Return 0."""
        return z * 0.0

    def curvature(self, z: Any, t: Any) -> Any:
        """Return `up` where t > z, `down` elsewhere."""
        return namespace(z).where(t > z, self.up + 0.0 * z, self.down + 0.0 * z)


def m_errors(problem: Problem, loss: Loss, r: Array, weight: Array, gram: Curvature, p: int) -> Array:
    """Return the standard errors of (w0, w), in raw units of the columns; the loss has its threshold in units of r."""
    total, zero = float(weight.sum()), np.zeros_like(r)
    bent = loss.curvature(zero, r)
    mean = float(weight @ bent) / total
    if total - p < 0.5 or not mean > 0:
        return np.full(1 + problem.features, np.nan)
    k = 1.0 + p / total * float(weight @ (bent - mean) ** 2) / total / mean**2
    pull = float(weight @ loss.slope(zero, r) ** 2) / (total - p)
    return _lengths(problem, gram.root * (k * np.sqrt(pull) / mean))


def quantile_errors(problem: Problem, theta: Array, level: float, r: Array, weight: Array, gram: Curvature) -> Array:
    """Return the standard errors of a regression quantile at theta in the view."""
    total = float(weight.sum())
    t = problem.source.read_targets()[:, 0]
    quartiles = [_percentile(r, weight, share) for share in (0.75, 0.25)]
    centre = float(weight @ t) / total
    with np.errstate(over="ignore"):
        spread = min(float(np.sqrt(weight @ (t - centre) ** 2 / total)), (quartiles[0] - quartiles[1]) / 1.34)
    z = float(special.ndtri(level))
    density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    width = total ** (-1 / 3) * special.ndtri(0.975) ** (2 / 3) * (1.5 * density**2 / (2 * z * z + 1)) ** (1 / 3)
    if not 0 < level - width < level + width < 1 or spread <= 0:
        return np.full(1 + problem.features, np.nan)
    width = spread * (special.ndtri(level + width) - special.ndtri(level - width))
    f = float(weight @ (0.75 * (1 - np.clip(r / width, -1, 1) ** 2))) / (total * width)
    if f == 0:
        return np.full(1 + problem.features, np.nan)
    sides = Sided((level / f) ** 2, ((1 - level) / f) ** 2)
    meat = replace(problem, loss=sides, ridge=np.zeros_like(problem.ridge)).at(theta, second=True).hessian
    assert meat is not None
    inner = gram.root.T @ meat @ gram.root
    values, vectors = np.linalg.eigh(inner)
    return _lengths(problem, gram.root @ (vectors * np.sqrt(np.maximum(values, 0.0))))


def _lengths(problem: Problem, root: Array) -> Array:
    """Return the square roots of the diagonal of Cov = root root', brought from the view to raw units."""
    slopes = root[1:] * problem.view.scale[:, None]
    first = root[:1] + problem.view.offset[None] @ root[1:]
    out = np.linalg.norm(np.concatenate([first, slopes]), axis=1)
    out[0] = out[0] if problem.intercept else np.nan
    return np.asarray(out)


def _percentile(values: Array, weight: Array, share: float) -> float:
    """Return the percentile of values that count `weight` times, with straight lines between them."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    place = share * (below[-1] - 1.0)
    low, high = (
        values[order[min(int(np.searchsorted(below, i, side="right")), len(order) - 1)]]
        for i in (np.floor(place), np.ceil(place))
    )
    return float(low + (place - np.floor(place)) * (high - low))


@dataclass(frozen=True)
class RobustEstimate:
    """What the table shows of one target: arrays are (1 + D)."""

    estimate: Array
    std_error: Array
    statistic: Array
    p_value: Array
    lower: Array
    upper: Array
    scale: float
    beyond: float


def judged(fit: RobustFit, level: float) -> RobustEstimate:
    """Return estimates judged by the normal distribution."""
    theta, error = fit.solution.theta[0], fit.std_error
    with np.errstate(divide="ignore", invalid="ignore"):
        z = theta / error
    half = float(special.ndtri(0.5 + level / 2)) * error
    return RobustEstimate(
        theta, error, z, 2 * special.ndtr(-np.abs(z)), theta - half, theta + half, fit.scale, fit.beyond
    )


@dataclass(frozen=True, repr=False)
class RobustSummary(CoefficientTable):
    """Coefficients of a robust fit with their statistics, its scale, and the certificate."""

    errors: str = "H1"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        several = len(self.targets) > 1
        return {
            **self._head(),
            "errors": self.errors,
            "coefficients": [
                row | ({"target": target} if several else {})
                for target, part in zip(self.targets, self.parts, strict=True)
                for row in self._rows(part, STATISTICS)
            ],
            "targets": [
                {"target": target, "scale": part.scale, "beyond": part.beyond}
                for target, part in zip(self.targets, self.parts, strict=True)
            ],
            "scale": self.parts[0].scale,
            "beyond": self.parts[0].beyond,
            **self._foot(),
        }

    def _groups(self) -> list[dict[str, str]]:
        headings = ("estimate", "std error", "z", "p", *self._ends())
        return [dict(zip(STATISTICS, headings, strict=True))]

    def _sections(self) -> list[Part]:
        several = len(self.targets) > 1
        return [
            Part(f"target {target}" if several else "", self._rows(part, STATISTICS), self._lines(part))
            for target, part in zip(self.targets, self.parts, strict=True)
        ]

    def _lines(self, part: RobustEstimate) -> list[str]:
        if np.isnan(part.scale):
            return []
        where = "off the plane that more than half of them lie on" if part.scale == 0 else "beyond the threshold"
        return [f"scale {part.scale:.6g};  {part.beyond:g} of {self.weight:g} rows {where}"]
