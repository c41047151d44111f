"""Classification by least squares on coded targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.input.basis import columns_of
from adaline.parameters import FLAG, PENALTY, Number, OneOf
from adaline.penalties import RidgePenalty
from adaline.results import Certificate
from adaline.solvers.least_squares.choose import is_wide, solve_least_squares, solve_wide
from adaline.solvers.least_squares.direct import output_digits, solve_sums
from adaline.solvers.least_squares.ridge import choose_penalty
from adaline.sources import Source
from adaline.sums import ClassMoments, Moments
from adaline.systems.families.closed_form import ClosedFormClassifier
from adaline.systems.families.named import named_system
from adaline.systems.families.weights import column_notes, warn_of_dependence
from adaline.systems.ridge import eigenbasis, spread_of

CODINGS = ("one-of-k", "signed", "fisher")


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class LeastSquaresClassifier(ClosedFormClassifier):
    """Least squares on coded labels: minimises 1/2 sum_n weight_n ||T(class_n) - W'(1, x_n)||^2 + penalty/2 ||W||^2.

    Parameters
    ----------
    coding : "one-of-k", "signed" or "fisher"
        Targets: 1 for the class and 0 for the others; +1 for the class and -1 for the others; or, for two classes,
        N/N_1 for C1 = classes_[1] and -N/N_0, which gives Fisher's discriminant.
    threshold : number
        Two classes: C1 is predicted where its output exceeds the other's by more than this (one-of-k), or where the
        output exceeds it (signed, fisher).
    penalty : number or "auto"
        Ridge penalty on the weights, constants free. A number acts in the columns' own units; "auto" minimises the
        generalised cross-validation error of all targets together, on columns of unit standard deviation.
    fit_intercept : bool
        Whether the machines have a constant.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    classes_ : labels. coef_, intercept_ : (1, D) and (1,) for two classes, else (K, D) and (K,).
    rank_ : of the design. certificate_ : digits, condition, rank. aliased_ : names of the columns that are constant or
    depend on those before them (None for wide data). dependencies_ : how, as text. penalty_ : penalty used.
    path_ : for "auto", a dictionary with `penalties` and `values` of the criterion.

    Examples
    --------
    >>> from adaline import LeastSquaresClassifier, datasets
    >>> data = datasets.load("penguins", target="species")
    >>> model = LeastSquaresClassifier().fit(data.X, data.y)
    >>> model.coef_.shape
    (3, 4)

    References
    ----------
    Lectures S2 and S3, least-squares classifiers; S1 and S4, classification by regression. Passes as LinearRegression.
    """

    coding: Annotated[str, OneOf(*CODINGS)] = "one-of-k"
    threshold: Annotated[float, Number()] = 0.0
    penalty: Annotated[float | str, PENALTY] = 0.0
    fit_intercept: Annotated[bool, FLAG] = True
    basis: Any = None

    def _solve(self, source: Source | None, sums: ClassMoments) -> Certificate:
        targets = self._targets(sums.weights)
        rows = None if source is None else source.recoded(targets)
        moments = self._coded(sums, targets)
        penalty = self._ridge(moments)
        self.penalty_ = penalty.value
        if rows is None:
            fit = solve_sums(moments, self.fit_intercept, penalty)
        elif is_wide(rows):
            fit = solve_wide(rows, self.fit_intercept, penalty)
        else:
            fit = solve_least_squares(rows, moments, self.fit_intercept, penalty)
        theta = fit.solution.theta
        if len(self.classes_) == 2:
            theta = theta[1:] - theta[:1] if len(theta) == 2 else theta
            theta = theta - np.append(self.threshold, np.zeros(sums.features))
        self.coef_, self.intercept_ = theta[:, 1:], theta[:, 0]
        self.rank_, before = fit.solution.certificate.rank, self.__dict__.get("dependencies_")
        self.aliased_, self.dependencies_, *_ = column_notes(fit, lambda: columns_of(self))
        if source is not None or sums.rows > sums.features:
            warn_of_dependence(self.dependencies_, None if source is not None else before)
        return fit.solution.certificate

    def _coded(self, sums: ClassMoments, targets: Array) -> Moments:
        """Return the moments of the rows with the targets of their classes."""
        moments = sums.coded(targets)
        return moments if self.fit_intercept else moments.about_zero()

    def _output_digits(self) -> float:
        sums = self._sums
        if not (sums.weights > 0).all():
            return super()._output_digits()
        moments = self._coded(sums, self._targets(sums.weights))
        return output_digits(moments, bool(self.fit_intercept), self._ridge(moments))

    def _ridge(self, moments: Moments) -> RidgePenalty:
        """Return the penalty given, or the one that "auto" finds."""
        self.__dict__.pop("path_", None)
        if not isinstance(self.penalty, str):
            return RidgePenalty(float(self.penalty), np.ones(moments.shape.features))
        unit = spread_of(moments)
        spectrum = eigenbasis(moments, unit, self.fit_intercept, moments.weight, False).spectrum
        scale = np.exp2(2 * (spectrum.exponent - spectrum.exponent.max()))

        def error(penalty: Array) -> Array:
            return sum((share * spectrum.gcv(k, penalty) for k, share in enumerate(scale)), np.zeros(len(penalty)))

        found = choose_penalty(error, float(spectrum.d.max(initial=0.0)) or 1.0)
        with np.errstate(over="ignore"):
            values = np.ldexp(found.values, 2 * int(spectrum.exponent.max()))
        self.path_ = {"penalties": found.penalties, "values": values}
        return RidgePenalty(found.penalty, unit)

    def _targets(self, weights: Array) -> Array:
        """Return the targets of each class, (K, m)."""
        k = len(weights)
        if k > 2 and self.coding == "fisher":
            raise InvalidData(f"coding='fisher' needs two classes, y has {k}; use 'one-of-k' or FisherDiscriminant")
        if k > 2 and self.threshold:
            raise InvalidData(f"a threshold needs two classes, y has {k}")
        if self.coding == "one-of-k":
            return np.eye(k)
        if k > 2:
            return 2 * np.eye(k) - 1
        if self.coding == "signed":
            return np.array([[-1.0], [1.0]])
        return np.asarray(np.array([[-1.0], [1.0]]) * weights.sum() / weights[:, None])
