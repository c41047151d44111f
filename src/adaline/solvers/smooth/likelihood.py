"""The result of a likelihood fit for inference: coefficients, their covariance, and the log-likelihood of the rows.

    Cov = A H^-1 A',   H the (penalised) information in the view of the solver, A the map from there to raw units

It is stored by a root, Cov = root root': standard errors are the lengths of its rows, which neither overflow nor vanish
where a column's unit is 1e200, and combinations of coefficients are formed before anything is squared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import SumsMissing
from adaline.forms import Count, FiniteNumber, Floats
from adaline.results import UNKNOWN_ROWS, Solution, Status
from adaline.solvers.least_squares.dependence import Dependence, independent
from adaline.solvers.smooth.newton import Curvature
from adaline.solvers.smooth.problem import Problem

# shape of a negative binomial beyond which counts are Poisson; 10x larger estimates shapes that rounding decides
LARGEST_SHAPE = 1e7


@dataclass(frozen=True)
class FamilyFit:
    """The part of a likelihood fit that only families of distributions have.

    Parameters
    ----------
    family, link : their names.
    dispersion : phi, the variance of t over that of the family; it is part of `LikelihoodFit.root`.
    estimated : whether it was estimated, so that statistics are Student's t with `freedom` degrees of freedom, or F.
    freedom : number of observations less that of free coefficients.
    deviance, null_deviance : twice the cost above that of means that are the targets; null: without columns.
    pearson : Pearson's chi-squared.
    extra : parameters of the likelihood beside the coefficients: a dispersion, a shape or power that was estimated.
    shape, shape_error : of a negative binomial and its standard error; NaN where there is none.
    precision : whether a row is one observation, whatever its weight: inverse variances, or numbers of trials of which
        targets are shares, rather than frequencies.
    dispersion_error : standard error of a dispersion of maximum likelihood, NaN of others.
    power, power_error : of Tweedie's family, and its standard error where it was estimated; else NaN.
    """

    family: str
    link: str
    dispersion: float
    estimated: bool
    freedom: float
    deviance: float
    null_deviance: float
    pearson: float
    extra: Count
    shape: float
    shape_error: float
    precision: bool
    dispersion_error: float = math.nan
    power: float = math.nan
    power_error: float = math.nan

    @property
    def parameter(self) -> float:
        """The parameter of the family that a fit can estimate: a shape or a power."""
        return self.shape if math.isnan(self.power) else self.power

    @property
    def own_parameter(self) -> bool:
        """Whether a shape or power was estimated, so that deviances are not those of other fits."""
        return not (math.isnan(self.shape_error) and math.isnan(self.power_error))


@dataclass(frozen=True)
class LikelihoodFit:
    """A solution with what inference needs, all in raw units.

    Parameters
    ----------
    solution : theta (K, 1 + D), intercept first, and the certificate; two classes have K = 1.
    root : (K, 1 + D, M), a root of the inverse of the (penalised) information, see `raw_root`, or None where that was
        too large to form. With coupled machines it is that of coefficients that sum to zero over the machines.
    log_likelihood, null : of the rows at the solution, and of the best constants alone, or of equal odds where there is
        no intercept; without the penalty, Firth's included.
    rows, weight : number of rows, and the sum of their weights.
    parameters : number of free coefficients, intercepts included.
    penalised : whether the coefficients have a penalty.
    coupled : whether the machines are those of a softmax.
    firth : whether Firth's correction was made.
    ratios : its chi-squared statistics of all slopes and of each, (1 + D), see `firth_ratios`, where they were taken.
    dependence : the constant columns, and the combinations among columns whose coefficients no penalty determines.
    offset : whether the outputs had a known part.
    family : what the likelihood of a family has beside; then the information is the expected one, and `root` is that of
        the covariance, dispersion included. None for classes.
    """

    solution: Solution
    root: Annotated[Array, Floats("K 1+D M")] | None
    log_likelihood: float
    null: float
    rows: Count
    weight: FiniteNumber
    parameters: Count
    penalised: bool
    coupled: bool
    dependence: Dependence
    firth: bool = False
    ratios: Annotated[Array, Floats("1+D")] | None = None
    family: FamilyFit | None = None
    offset: bool = False

    def in_columns(self, columns: NDArray[np.intp], count: int) -> LikelihoodFit:
        """Return the fit in `count` columns, of which these are some, by their indices; all others have only zeros."""
        theta = np.zeros((len(self.solution.theta), 1 + count))
        theta[:, 0] = self.solution.theta[:, 0]
        theta[:, 1 + columns] = self.solution.theta[:, 1:]
        constant = np.ones(count, dtype=np.bool_)
        constant[columns] = self.dependence.constant
        return replace(self, solution=self.solution._replace(theta=theta), root=None, dependence=independent(constant))

    @property
    def freedom(self) -> float:
        """Degrees of freedom of t and of F; infinity, for normal and chi-squared, where the dispersion is known."""
        return math.inf if self.family is None or not self.family.estimated else self.family.freedom

    @property
    def unbounded(self) -> bool:
        """Whether the likelihood has no maximum: it rises to a finite limit as some coefficients grow without bound."""
        return self.solution.certificate.status in (Status.NO_MINIMUM, Status.SEPARATED, Status.QUASI_SEPARATED)

    @property
    def at_border(self) -> bool:
        """Whether steps ended at the border of what the link allows, which the certificate then has advice of."""
        proof = self.solution.certificate
        return proof.status is Status.NOT_CONVERGED and proof.advice != proof.status.advice

    def known_root(self, what: str) -> Array:
        """Return the root, or say why there is none for what needs it."""
        if self.root is not None:
            return self.root
        if self.solution.certificate.status is Status.GIVEN:
            raise SumsMissing(f"no {what}: {UNKNOWN_ROWS}. Fit to the rows.")
        raise SumsMissing(f"no {what}: the matrix of second derivatives was too large to form. Use fewer columns.")

    @property
    def covariance(self) -> Array | None:
        """The covariance of the coefficients, (K (1 + D), K (1 + D)), machine after machine."""
        if self.root is None:
            return None
        root = self.root.reshape(-1, self.root.shape[2])
        with np.errstate(over="ignore"):
            return np.asarray(root @ root.T)

    def without_dependent(self) -> LikelihoodFit:
        """Return the same fit without the columns that are combinations of columns before them, as in R."""
        theta = self.dependence.drop(self.solution.theta)
        root = None if self.root is None else self.dependence.drop_root(self.root)
        return replace(self, solution=self.solution._replace(theta=theta), root=root)


def raw_root(problem: Problem, curvature: Curvature) -> Array:
    """Return a root of the covariance of the coefficients in raw units, (K, 1 + D, M): Cov_jk = root_j root_k'.

    The term that `Problem` adds to the matrix of coupled machines, to keep it regular, is removed again: columns of the
    root then sum to zero over the machines.
    """
    root = curvature.root.reshape(problem.outputs, 1 + problem.features, -1).copy()
    root[:, 0] *= problem.intercept
    if problem.loss.coupled:
        root -= root.mean(axis=0)
    return problem.root_to_raw(root)
