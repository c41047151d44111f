"""Standard errors of regression quantiles (Koenker 2005).

    Cov = D^-1 J D^-1,   D = sum_n w_n f_n x_n x_n',   J = q (1 - q) X'X   or   sum_n w_n psi_n^2 x_n x_n'

f_n is the density of the target of row n at its quantile q; psi_n is q above the plane and q - 1 below.

    smoothed (Brown, Wang 2005)    f_n = phi(r_n / s_n) / s_n,  s_n^2 = x_n' Cov x_n, and the second J
    nid (Hendricks, Koenker 1992)  f_n = 2 h / d_n,  d_n = x_n'(b(q + h) - b(q - h)), the distance of two planes
    kernel (Powell 1991)           f_n = phi(r_n / g) / g
    iid (Siddiqui 1960)            f_n = 2 h / d,  d the distance of the quantiles q - h and q + h of the residuals

h is Hall and Sheather's bandwidth, halved until q - h and q + h are quantiles; g the distance of these two in a normal
distribution as wide as the residuals. R's quantreg computes "nid" and "ker" so.

"smoothed", the default, averages the sign of a residual over the sampling distribution of the plane: the width s_n is
the standard error of the plane at row n. So no bandwidth has to be chosen, and rows with wide errors get a wide kernel.
Cov is the fixed point of this definition. Its second J also holds where the conditional quantile is not a plane. The p
rows that the plane goes through say nothing about the density: they are left out of D, and both sums are multiplied by
W / (W - p) (W the sum of weights, p the number of coefficients). D rests on few rows: a sum with terms m_n = f_n s_n^2
has the relative error of (sum m)^2 / sum m^2 rows, and Student's t has half as many degrees of freedom.

95 % intervals of a coefficient were simulated for normal, t(2), exponential and lognormal errors of equal width and of
widths .2 + |x|, .2 + x, .5 + x^2 / 2, exp(x / 2), for one or two columns, n = 200 and 1000, quantiles .1, .5 and .9
(300 and 150 data sets, 36 slopes each): "smoothed" covers 92.3 to 98.3 % and 90.7 to 98.7 %, on average 95.5 and 95.4;
"nid" as few as 57 % (at the median with width .2 + |x|), "kernel" 78 %. A bootstrap of 120 exponential weights is its
equal (89.3 to 99.3 %, on average 94.6, of 150 data sets), but takes as many fits and depends on chance; a wild
bootstrap (Feng, He, Hu 2011) covers 64 %. Under equal width "iid" covers 92 to 98 %, R's "iid", which takes
the smallest residuals, 82 to 96 %, a kernel 80 to 100 %.

For "nid" R divides by the distance of two planes even where they nearly meet; there the distance is noise, and
intervals become too short. Here d_n is at least half its own standard error, [2 h (1 - 2 h) x_n'(X'X)^-1 x_n]^(1/2)
mean(d) / (2 h), which falls faster with the number of rows than d_n does; a note counts the rows where this bound
applies. The density rests on the 2 h W rows between the planes, so intervals use Student's t with h W degrees of
freedom, much as Kaplan (2015) corrects those of a sample quantile.

B. M. Brown, Y.-G. Wang, Biometrika 92 (2005), 149-158; L. Pang, W. Lu, H. J. Wang, Comput. Stat. Data Anal. 56 (2012),
785-796.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, get_args

import numpy as np
import scipy

from adaline.arrays import AnyArray, Array
from adaline.inference.robust import FEW_ROWS, ON_PLANE, StandardErrors, none, raw_root
from adaline.losses import Loss
from adaline.parameters import QuantileErrorKind
from adaline.solvers.least_squares.dependence import Dependence
from adaline.solvers.robust.row_residuals import gather_rows, row_lengths
from adaline.solvers.smooth.newton import Curvature, factor_hessian
from adaline.solvers.smooth.problem import Problem

QUANTILE_ERRORS: tuple[str, ...] = get_args(QuantileErrorKind)
"""Standard errors of regression quantiles, the default first."""

FEW_PER_COEFFICIENT = 5.0  # rows per coefficient; with fewer, some 95 % intervals of the simulations covered 89 to 91 %
# degrees of freedom of "smoothed" below which a note says how far its coverage varies; 200 rows have 10 to 21, 1,000
# rows 23 to 41: doubled, the note is also shown where intervals cover what they say
FEW_NEAR = 22.0
SPARSE = "no {} standard errors: too few rows lie near the plane to tell the density of the residuals there"
NONE_BEYOND = "no standard errors: less than one row is expected beyond such a quantile"
SAME = "no standard errors: the residuals next to the plane are all the same"
KERNEL_REACH = 6.0  # widths of a kernel beyond which rows count nothing: exp(-18); a larger reach gathers more rows
# of the way to the covariance by the present widths; 1 may swing between two, smaller takes more steps
STEP = 0.7
FIXED = 1e-8  # relative change of the covariance at which it is fixed; 10x smaller takes three more steps
MOST_STEPS = 100
VANISHING = 1e-5  # share of its first width at which a kernel vanishes; 10x larger may stop one that does not
LARGEST_GROWTH = 4.0  # of the covariance in a step: where kernels meet no rows it has no bound


@dataclass(frozen=True)
class TargetAsCurvature(Loss):
    """A loss whose curvature is the target, to sum t x x' over the rows."""

    name: ClassVar[str] = "target as curvature"

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return 0."""
        return z * 0.0

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return 0."""
        return z * 0.0

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return t."""
        return t + 0.0 * z


def quantile_errors(
    problem: Problem,
    level: float,
    r: Array,
    weight: Array,
    gram: Curvature,
    depends: Dependence,
    residuals_at: Callable[[float], Array],
) -> dict[str, StandardErrors]:
    """Return the standard errors of a regression quantile by name; `residuals_at` fits another level."""
    total, p = float(weight.sum()), gram.rank - (not problem.intercept)
    if total - p < 0.5:
        return dict.fromkeys(QUANTILE_ERRORS, none(problem, FEW_ROWS))
    beyond = min(level, 1.0 - level) * total
    if beyond < 1.0:
        return dict.fromkeys(QUANTILE_ERRORS, none(problem, NONE_BEYOND))
    h = bandwidth(level, total)
    square = _weighed(problem, np.ones_like(r))
    on_plane = max(float(weight[r == 0].sum()), float(p))
    lengths, share = row_lengths(problem, gram.root), 1.0 - p / on_plane  # the plane was put through p of these rows
    quotient = _between_quantiles(np.append(r[r != 0], 0.0), np.append(weight[r != 0], on_plane - p), level, h)
    densities = {
        "nid": _between_planes(residuals_at(level - h) - residuals_at(level + h), lengths, h, weight),
        "kernel": _kernel(r, weight, level, h),
        "iid": (None, SAME) if quotient is None else (np.full_like(r, quotient), ""),
    }
    few = (
        f"about {beyond:.3g} rows lie beyond the plane, fewer than {FEW_PER_COEFFICIENT:g} for each of {p} "
        "coefficients: standard errors and intervals of such a quantile are rough",
    ) * (beyond < FEW_PER_COEFFICIENT * p)
    if quotient is None:
        out = {"smoothed": none(problem, SAME)}
    else:
        rows = r, weight, np.where(r == 0, share * weight, weight), lengths
        found = _smoothed(problem, level, rows, gram, quotient)
        if found is None:
            out = {"smoothed": none(problem, SAME)}
        else:
            near = (
                f"the density rests on about {2 * found[1]:.0f} rows near the plane: with so few, 95 % intervals cover "
                "92 to 98 % in simulations",
            ) * (found[1] < FEW_NEAR and not few)
            out = {"smoothed": StandardErrors(raw_root(problem, found[0], depends), (*few, *near), found[1])}
    for name, (f, note) in densities.items():
        matrix = None if f is None else _weighed(problem, f)
        bread = None if matrix is None or not np.isfinite(matrix).all() else factor_hessian(matrix)
        if bread is None or bread.rank < gram.rank:
            out[name] = none(problem, note or SPARSE.format(name))
            continue
        values, vectors = np.linalg.eigh(bread.root.T @ square @ bread.root)
        spread = np.sqrt(level * (1.0 - level) * np.maximum(values, 0.0))
        freedom = max(h * total, 1.0) if name == "nid" else np.inf
        notes = (*((note,) if note else ()), *few)
        out[name] = StandardErrors(raw_root(problem, bread.root @ (vectors * spread), depends), notes, freedom)
    return {name: out[name] for name in QUANTILE_ERRORS}


def bandwidth(level: float, total: float) -> float:
    """Return the distance from `level`, in quantiles, at which the density is taken (Hall and Sheather 1988)."""
    z = float(scipy.special.ndtri(level))
    density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    h = total ** (-1 / 3) * scipy.special.ndtri(0.975) ** (2 / 3) * (1.5 * density**2 / (2 * z * z + 1)) ** (1 / 3)
    while not (0 < level - h and level + h < 1):
        h *= 0.5
    return float(h)


def _between_quantiles(r: Array, weight: Array, level: float, h: float) -> float | None:
    """Return the density of the residuals at their quantile, from those on either side; None where these are equal."""
    distance = percentile(r, weight, level + h) - percentile(r, weight, level - h)
    return 2.0 * h / distance if distance > 0 else None


def _smoothed(
    problem: Problem, level: float, rows: tuple[Array, Array, Array, Array], gram: Curvature, density: float
) -> tuple[Array, float] | None:
    """Return a root of the covariance in the view whose kernels are as wide as its planes, and degrees of freedom.

    None where so many rows lie on the plane itself that kernels shrink onto them.

    In coordinates z = A'(1, v) with A A' = (X'X)^-1. `rows` are residuals, weights, weights without the rows of the
    plane, and lengths of z, (N,) each; `density` is what the widths of the first step come from.
    """
    r, weight, between, lengths = rows
    psi = np.where(r > 0, level, level - 1.0) ** 2
    psi[r == 0] = level * (1.0 - level)
    basis = gram.root.copy()
    basis[0] *= problem.intercept
    basis = basis[:, np.abs(basis).max(axis=0) > 0]
    more = float(weight.sum()) / (float(weight.sum()) - basis.shape[1])
    meat = more * basis.T @ _weighed(problem, psi) @ basis
    covariance = np.eye(basis.shape[1]) * level * (1.0 - level) / density**2
    reach, first = 0.0, np.sqrt(level * (1.0 - level)) / density
    for _ in range(MOST_STEPS):
        largest = np.linalg.norm(covariance, 2)
        if KERNEL_REACH * np.sqrt(largest) > reach:
            reach = 2.0 * KERNEL_REACH * np.sqrt(largest)
            near = (np.abs(r) <= reach * lengths) & (between > 0)
            z, w, away = gather_rows(problem, near)[:, :-1] @ basis, between[near], r[near]
        width = np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", z, covariance, z, optimize=True), 0.0))
        if (width < VANISHING * first * lengths[near]).any():
            return None
        f = w * np.exp(-0.5 * (away / width) ** 2) / (np.sqrt(2 * np.pi) * width)
        bread = np.linalg.pinv(more * (z * f[:, None]).T @ z, hermitian=True)
        found = bread @ meat @ bread
        found *= min(1.0, LARGEST_GROWTH * largest / np.linalg.norm(found, 2))
        change = found - covariance
        covariance = covariance + STEP * change
        if np.linalg.norm(change) <= FIXED * np.linalg.norm(covariance):
            break
    terms = f * width**2
    freedom = 0.5 * float(terms.sum()) ** 2 / float((terms**2 / w).sum())
    values, vectors = np.linalg.eigh(covariance)
    return basis @ (vectors * np.sqrt(np.maximum(values, 0.0))), max(freedom, 1.0)


def _between_planes(distance: Array, shares: Array, h: float, weight: Array) -> tuple[Array | None, str]:
    """Return the density of each row, (N,), and a note; `shares` are the lengths of the rows, [x'(X'X)^-1 x]^(1/2)."""
    mean = float(weight @ distance / weight.sum())
    if not mean > 0:
        return None, (
            "no nid standard errors: the planes of the neighbouring quantiles, whose distance gives the density, do "
            "not lie apart; errors='smoothed' takes it from the residuals"
        )
    noise = np.sqrt(2.0 * h * (1.0 - 2.0 * h)) * shares * mean / (2.0 * h)
    lifted = float(weight[distance < 0.5 * noise].sum())
    note = ""
    if lifted:
        note = (
            f"{lifted:g} of {weight.sum():g} rows lie where the planes of the neighbouring quantiles nearly meet: "
            "their distance, which gives the density, counts as half of its standard error there"
        )
    return 2.0 * h / np.maximum(distance, 0.5 * noise), note


def _kernel(r: Array, weight: Array, level: float, h: float) -> tuple[Array | None, str]:
    """Return the densities of the rows by a normal kernel, and a note."""
    total = float(weight.sum())
    quartiles = [percentile(r, weight, share) for share in (0.75, 0.25)]
    centre = float(weight @ r) / total
    with np.errstate(over="ignore"):
        deviation = float(np.sqrt(weight @ (r - centre) ** 2 / (total - 1.0)))
    spread = min(deviation, (quartiles[0] - quartiles[1]) / 1.34)
    if spread <= 0:
        return None, ON_PLANE
    width = spread * float(scipy.special.ndtri(level + h) - scipy.special.ndtri(level - h))
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(-0.5 * (r / width) ** 2) / (np.sqrt(2 * np.pi) * width), ""


def _weighed(problem: Problem, f: Array) -> Array:
    """Return the sum of w f x x' over the rows, in the view."""
    rows = problem.source.with_targets(np.ascontiguousarray(f[:, None]))
    weighed = replace(problem, source=rows, loss=TargetAsCurvature(), ridge=np.zeros_like(problem.ridge))
    hessian = weighed.evaluate(np.zeros((1, 1 + problem.features)), second=True).hessian
    assert hessian is not None
    return hessian


def percentile(values: Array, weight: Array, share: float) -> float:
    """Return the percentile of values that count `weight` times, with straight lines between them."""
    ascending = np.argsort(values, kind="stable")
    below = np.cumsum(weight[ascending])
    rank = share * (below[-1] - 1.0)
    low, high = (
        values[ascending[min(int(np.searchsorted(below, i, side="right")), len(ascending) - 1)]]
        for i in (np.floor(rank), np.ceil(rank))
    )
    return float(low + (rank - np.floor(rank)) * (high - low))
