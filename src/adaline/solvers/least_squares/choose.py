"""The choice of a solver for least squares and ridge, by shape, sparsity, memory and conditioning.

- `is_wide`, D > N and many columns, or a Gram matrix beyond the memory limit: `solve_wide`, by the dual N x N system
  where N is small enough, else by LSMR on products (sparse).
- Otherwise `solve_least_squares`: one pass for the Gram matrix, and Cholesky. That is the answer where its a-priori
  bound promises `PROMISED_DIGITS` (`STREAMED_DIGITS` where every pass reads a file) and the data are large; else
  residual passes refine it.
- Columns that depend on others: proven on the rows, then solved from the Gram matrix of the kept ones.
- Too ill-conditioned for the Gram matrix: the triangle (QR), refined; numerically singular: SVD of the triangle.

The certificate names the solver. `solver="gradient"` is batch gradient descent on the sums: `descent.py`.
"""

from __future__ import annotations

from typing import Literal

from adaline.arrays import Array
from adaline.errors import InvalidParameter, SumsMissing
from adaline.penalties import RidgePenalty
from adaline.solvers.least_squares import wide
from adaline.solvers.least_squares.direct import assemble, gram_name, solve_gram
from adaline.solvers.least_squares.factor import SpectralFactor, triangle_factor
from adaline.solvers.least_squares.fit import Fit, digits
from adaline.solvers.least_squares.rank_deficient import proven_factor
from adaline.solvers.least_squares.refine import Refined, refine
from adaline.sources import Source
from adaline.sources.array import SparseSource
from adaline.sources.threads import blas_threads_for
from adaline.sums import Moments, Triangle
from adaline.sums.moments import FEW_PRODUCTS

LeastSquaresSolver = Literal["auto", "normal", "qr", "svd", "gradient"]
GRAM_BYTES = 2**29  # size of a Gram matrix; doubling it takes 1 GiB, for up to 11,600 columns instead of 8,200
# columns up to which the Gram matrix is formed even if D > N; doubling it takes D^2 work where N^2 would do
MOST_NARROW_COLUMNS = 128
SMALL_NUMBERS = 1e6  # N D up to which fits are always refined; 10x larger, refinement shows in the time of a fit
# columns up to which the a-priori bound, in 3 D^3 operations, costs less than a pass; doubling it costs eight times as
# much
MOST_BOUNDED_COLUMNS = 2000
PROMISED_DIGITS = 7.5  # proven digits that need no refinement (mostly 10 are right); doubling it refines every fit
STREAMED_DIGITS = 6.0  # the same where a pass reads a file, which doubles the time of a fit
# SSE / total below which SSE needs a pass over residuals; 10x smaller, SSE may have 8 digits instead of 9
PROMISED_SQUARES = 1e-6
# condition of the design of small data beyond which the triangle is used; 10x larger loses two digits
SMALL_CONDITION = 1e3
LARGE_CONDITION = 1e4  # the same of large data


def is_wide(source: Source) -> bool:
    """Return whether to solve without the D x D Gram matrix."""
    d = source.shape.features
    return (d > MOST_NARROW_COLUMNS and d > source.count_rows()) or not gram_fits(source)


def gram_fits(source: Source) -> bool:
    """Return whether the D x D Gram matrix is within the memory limit."""
    return 8 * sum(source.shape) ** 2 <= GRAM_BYTES


def read_moments(source: Source, intercept: bool) -> Moments:
    """Return the moments of a source, centred if there is an intercept; refuse numbers that are not finite."""
    if not gram_fits(source):
        raise SumsMissing(
            f"sums of {source.shape.features} columns exceed the limit of {GRAM_BYTES >> 20} MiB: such data can be "
            "fitted in one go, but not streamed"
        )
    few = isinstance(source, SparseSource) and source.n_rows * sum(source.shape) ** 2 <= FEW_PRODUCTS
    moments = source.sum(Moments, centred=intercept and (few or not source.sparse))  # few rows may be dense for a while
    if not moments.finite:
        source.refuse_nonfinite()
    return moments.about_mean() if intercept else moments


def solve_least_squares(
    source: Source,
    moments: Moments,
    intercept: bool,
    penalty: RidgePenalty,
    solver: str = "auto",
    drop: bool = False,
) -> Fit:
    """Return the least-squares or ridge fit, given the sums and the rows they came from.

    Where columns depend on each other the solution has minimum norm; with `drop`, later ones are left out instead.
    """
    with blas_threads_for(moments.shape.features):
        fit = _solve(source, moments, intercept, penalty, solver)
    if not drop or not isinstance(fit.factor, SpectralFactor) or not len(fit.factor.dependence.left_out):
        return fit
    kept, d = fit.factor.kept(), moments.shape.features
    out = refine(source, kept, kept.solve(moments.second[d:, :d]), penalty)
    return assemble(moments, kept, out, penalty, fit.solution.certificate.solver)


def _solve(source: Source, moments: Moments, intercept: bool, penalty: RidgePenalty, solver: str) -> Fit:
    if solver in ("qr", "svd"):
        return _by_triangle(source, moments, intercept, penalty, solver)
    normal = solve_gram(moments, intercept, penalty)
    factor = normal.factor
    small = source.count_rows() * source.shape.features < SMALL_NUMBERS
    limit = SMALL_CONDITION if small else LARGE_CONDITION
    if solver == "auto" and isinstance(factor, SpectralFactor) and not penalty.any():
        decided = proven_factor(source, normal, limit)
        if decided is not None:
            solved = refine(source, *decided, penalty)
            return assemble(moments, decided[0], solved, penalty, "normal equations without dependent columns, refined")
    if solver == "auto" and (isinstance(factor, SpectralFactor) or factor.condition > limit or not factor.decided):
        return _by_triangle(source, moments, intercept, penalty, "svd" if factor.rank == 0 else "qr")
    how = gram_name(factor)
    out = None if small or source.shape.features > MOST_BOUNDED_COLUMNS else normal.bounded(penalty)
    wanted = STREAMED_DIGITS if source.costly else PROMISED_DIGITS
    if out is None or not promised(moments, factor.lengths, out, wanted):
        out = refine(source, factor, normal.u, penalty)
        how += ", refined"
    return assemble(moments, factor, out, penalty, how)


def solve_wide(source: Source, intercept: bool, penalty: RidgePenalty) -> Fit:
    """Return the least-squares or ridge fit without a D x D matrix."""
    if 8 * source.count_rows() ** 2 <= GRAM_BYTES:
        return wide.solve_dual(source, intercept, penalty)
    if source.sparse:
        return wide.solve_lsmr(source, intercept, penalty)
    raise InvalidParameter(
        f"{source.count_rows()} x {source.shape.features} dense: both X'X and XX' exceed the limit of "
        f"{GRAM_BYTES >> 20} MiB. Drop columns, or give X as a sparse matrix."
    )


def _by_triangle(source: Source, moments: Moments, intercept: bool, penalty: RidgePenalty, solver: str) -> Fit:
    """Solve from the triangle (QR; by its SVD where the solver is "svd") and refine; one more pass for the triangle."""
    triangle = source.sum(Triangle, centred=intercept)
    factor, u = triangle_factor(triangle, moments.shape.features, moments.weight, penalty, solver == "svd")
    out = refine(source, factor, u, penalty)
    how = "triangle (SVD), refined" if isinstance(factor, SpectralFactor) else "triangle (QR), refined"
    return assemble(moments, factor, out._replace(passes=out.passes + 1), penalty, how)


def promised(moments: Moments, lengths: Array, out: Refined, wanted: float = PROMISED_DIGITS) -> bool:
    """Return whether the a-priori bound gives enough digits of coefficients and residual sum of squares."""
    total = moments.second.diagonal()[moments.shape.features :]
    return bool(digits(out.error, out.theta, lengths) >= wanted and (out.squares >= PROMISED_SQUARES * total).all())
