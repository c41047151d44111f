"""How a regression explains itself: summary, tests of hypotheses, influence of rows, inflation by columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.inference.classical import infer
from adaline.inference.covariance import Covariance, check_errors, covariances, factor_of
from adaline.inference.hypotheses import HypothesisTest, read_hypotheses, wald
from adaline.inference.influence import Influence, inflation, influence, joined
from adaline.inference.left_out import LeftOutColumns, left_out, nothing_left_out
from adaline.inference.sample import Counted, Sample
from adaline.inference.summary import Summary
from adaline.input.basis import columns_of
from adaline.input.open import open_rows
from adaline.parameters import LEVEL
from adaline.penalties import no_penalty
from adaline.results import Certificate
from adaline.solvers.least_squares.factor import gram_factor
from adaline.solvers.least_squares.fit import Fit
from adaline.sources import Source
from adaline.sums import Moments


class RegressionInference:
    """Inference for systems that hold fits: everything but fitting and predicting."""

    fit_intercept: bool
    weights: str
    n_features_in_: int
    certificate_: Certificate
    aliased_: NDArray[np.object_] | None
    dependencies_: list[str] | None
    estimable_: NDArray[np.bool_] | None
    _fits: tuple[Fit, ...]
    _sums: Moments | None
    _counted: Counted | None
    _flat: bool

    def summary(
        self,
        level: float = 0.95,
        errors: str = "classical",
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Summary:
        """Return coefficients with standard errors, tests and confidence intervals, R^2, F, AIC, and the certificate.

        Classical errors come from the sums of the fit: Cov = sigma^2 (X'X)^-1, judged by Student's t. Robust errors
        take one more pass over the rows, which have to be given again, as the model keeps only sums:

            Cov = (X'X)^-1 [sum_n w_n r_n^2 / (1 - h_n)^a x_n x_n'] (X'X)^-1,   a = 0, 1, 2 for HC0, HC2, HC3

        HC1 is HC0 times N/(N - p). "cluster" adds the scores r_n x_n up by group before squaring them, times
        G/(G - 1) (N - 1)/(N - p) for G groups. As in statsmodels, z and p of robust errors and their intervals are
        those of the normal distribution, and the F line tests all slopes on the robust covariance, with N - p degrees
        of freedom in the denominator (cluster: G - 1). A weight of 2 is the row twice throughout; with
        weights="precision" the formulas are those of weighted least squares.

        Where columns are linear combinations of others, the table is that of the model without those that depend on
        columns before them, as in R: their rows say "left out", all others are determined by the rows fitted. `coef_`
        and predictions stay those of the fit, and `estimable_` says which coefficients are the same in every solution.

        Parameters
        ----------
        level : float
            Coverage of the intervals.
        errors : "classical", "HC0", "HC1", "HC2", "HC3" or "cluster"
            HC: unequal variances; cluster: also rows that belong together.
        X, y, sample_weight
            The rows that were fitted, for robust errors only. Other rows are refused.
        groups : (n,) labels of any kind
            Which rows belong together, for "cluster".

        Examples
        --------
        >>> from adaline import LinearRegression, datasets
        >>> data = datasets.load("penguins", target="body_mass_g")
        >>> model = LinearRegression().fit(data.X, data.y)
        >>> robust = model.summary(errors="HC3", X=data.X, y=data.y)
        >>> row = robust.to_dict()["coefficients"][3]
        >>> print(f"{row['estimate']:.4f} +- {row['std_error']:.4f}")
        50.7621 +- 2.3900

        References
        ----------
        J. G. MacKinnon and H. White, J. Econometrics 29 (1985), 305-325.
        """
        check_is_fitted(self, "coef_")
        LEVEL.check("level", level)
        check_errors(errors)
        fits = tuple(fit.without_dependent() for fit in self._fits)
        by_target, sample = self._by_target(fits), self._sample()
        found: list[Covariance | None] = [None] * len(by_target)
        if errors != "classical":
            found = [*self._covariances(fits, errors, X, y, sample_weight, groups)]
        parts = [
            infer(fit, k, self.fit_intercept, level, sample, robust)
            for (fit, k), robust in zip(by_target, found, strict=True)
        ]
        return Summary(
            title=type(self).__name__,
            names=self._names(),
            targets=[f"y{k}" for k in range(len(by_target))],
            parts=parts,
            level=level,
            rows=self._fits[0].rows,
            weight=self._fits[0].weight,
            certificate=self.certificate_,
            notes=self._notes(errors),
            errors=errors,
            intercept=self.fit_intercept,
            left_out=self._left_out(),
        )

    def test(
        self,
        hypothesis: Any,
        value: Any = 0.0,
        errors: str = "classical",
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> HypothesisTest:
        """Test linear hypotheses C theta = value: F = (C theta - value)' [C Cov C']^-1 (C theta - value) / q.

        F and its p value equal statsmodels' f_test, `chi2` and `chi2_p_value` of the result its wald_test: q F on q
        degrees of freedom. The denominator has N - p degrees of freedom, with clusters G - 1.

        Parameters
        ----------
        hypothesis : text, list of column names, or matrix (q, 1 + D)
            Text such as "x1 = x2", "x1 + 2*x2 = 3" or "age = 0, income = 0", with the names of the columns (x0, x1, ...
            where they have none) and `intercept`; names (all zero together); or C, intercept first.
        value : number or (q,)
            What C theta should be, for names and matrices.
        errors, X, y, sample_weight, groups
            As for `summary`: robust errors need the rows again.

        Examples
        --------
        >>> from adaline import LinearRegression, datasets
        >>> data = datasets.load("longley")
        >>> model = LinearRegression().fit(data.X, data.y)
        >>> print(model.test("x1 = 0, x2 = 2*x3"))
        hypothesis: x1 = 0
                    x2 - 2*x3 = 0
        F 1.12844 on 2 and 9 degrees of freedom, p 0.3654 (classical errors)

        References
        ----------
        A. Wald, Trans. AMS 54 (1943), 426-482.
        """
        check_is_fitted(self, "coef_")
        check_errors(errors)
        matrix, values, texts = read_hypotheses(hypothesis, value, self._names(), self.fit_intercept)
        found = self._covariances(self._fits, errors, X, y, sample_weight, groups)
        tests = np.array([wald(covariance, matrix, values, texts) for covariance in found])
        f, p = (float(column[0]) if self._flat else column for column in tests.T)
        return HypothesisTest(texts, f, (len(matrix), found[0].freedom), p, errors)

    def influence(self, X: Any, y: Any = None, sample_weight: Any = None) -> Influence:
        """Return what each row does to the fit: leverage, residuals, Cook's distance, DFFITS. One pass, n numbers each.

            h_n = x_n'(X'X)^-1 x_n,   standardized = r / (s sqrt(1 - h)),   studentized: the same, s without the row,
            cooks_distance = standardized^2 h / (1 - h) / p,   dffits = studentized sqrt(h / (1 - h))

        A weight of 2 is the row twice, and the numbers are those of one of the two; with weights="precision" they are
        those of weighted least squares (leverages times w, residuals times sqrt(w) where they are standardised).

        Parameters
        ----------
        X, y, sample_weight
            The rows that were fitted, in any order. Other rows are refused.

        Returns
        -------
        Influence : named tuple of leverage (n,), residual, standardized, studentized, cooks_distance and dffits, each
            (n,) or (n, K).

        Examples
        --------
        >>> from adaline import LinearRegression, datasets
        >>> data = datasets.load("longley")
        >>> rows = LinearRegression().fit(data.X, data.y).influence(data.X, data.y)
        >>> int(rows.cooks_distance.argmax()), round(float(rows.cooks_distance.max()), 4)
        (4, 0.6139)

        References
        ----------
        R. D. Cook and S. Weisberg, Residuals and Influence in Regression (1982).
        """
        check_is_fitted(self, "coef_")
        self._refuse_penalty("influence", "leave-one-out formulas of its variance do not hold")
        parts = [influence(fit, rows, self._sample()) for fit, rows in self._with_rows(X, y, sample_weight)]
        return joined(parts, self._flat)

    def variance_inflation(self) -> Array:
        """Return by how much each coefficient's variance is inflated by the other columns, (D,): no pass.

            VIF_j = S_jj (S^-1)_jj = 1 / (1 - R_j^2),   R_j^2 of column j regressed on the others

        S is centred with an intercept and raw without. Infinite for columns that are combinations of others. It is a
        property of the columns alone: a penalty plays no part.

        Examples
        --------
        >>> from adaline import LinearRegression, datasets
        >>> data = datasets.load("longley")
        >>> model = LinearRegression().fit(data.X, data.y)
        >>> [round(float(v), 1) for v in model.variance_inflation()]
        [135.5, 1788.5, 33.6, 3.6, 399.2, 759.0]

        References
        ----------
        D. W. Marquardt, Technometrics 12 (1970), 591-612.
        """
        check_is_fitted(self, "coef_")
        fit = self._fits[0]
        if fit.penalty.any() and self._sums is not None:
            return inflation(gram_factor(self._sums, self.fit_intercept, no_penalty(self._sums.shape.features))[0])
        return inflation(factor_of(fit))

    def _covariances(
        self, fits: tuple[Fit, ...], errors: str, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> list[Covariance]:
        if errors == "classical":
            return [found for fit in fits for found in covariances(fit, None, errors, self._sample())]
        if X is None:
            raise SumsMissing(
                f"errors={errors!r} needs the rows: this model keeps only sums; give X and y again (and sample_weight, "
                "if it was fitted with one)"
            )
        if groups is not None and errors != "cluster":
            raise InvalidParameter(f"groups are for errors='cluster', not for {errors!r}")
        return [
            found
            for fit, rows in self._with_rows(X, y, sample_weight, fits)
            for found in covariances(fit, rows, errors, self._sample(), groups)
        ]

    def _with_rows(
        self, X: Any, y: Any, sample_weight: Any, fits: tuple[Fit, ...] | None = None
    ) -> list[tuple[Fit, Source]]:
        """Return fits, those of the model unless given, each with the source of its rows and its own targets."""
        fits = self._fits if fits is None else fits
        for fit in fits:
            factor_of(fit)
        source = open_rows(self, X, y, sample_weight, reset=False).source
        targets = len(self._by_target())
        columns = fits[0].solution.theta.shape[1] - 1
        if source.shape != (columns, targets):
            raise InvalidData(
                f"the model has {columns} columns and {targets} targets, the rows {source.shape.features} and "
                f"{source.shape.targets}"
            )
        if len(fits) == 1:
            return [(fits[0], source)]
        return [(fit, source.with_target(k)) for k, fit in enumerate(fits)]

    def _refuse_penalty(self, what: str, why: str) -> None:
        if any(fit.penalty.any() for fit in self._fits):
            raise InvalidParameter(f"no {what} for a penalised fit: {why}. Use LinearRegression, or penalty=0.")

    def _sample(self) -> Sample:
        """Return how many observations the rows stand for."""
        weight = self._fits[0].weight
        if self._counted is None:
            return Sample(weight)
        return Sample(self._observations(weight), self._counted.log_weight, precision=True)

    def _observations(self, weight: float) -> float:
        """Return the number of observations that rows of this total weight are."""
        return weight if self._counted is None else float(self._counted.rows)

    def _notes(self, errors: str) -> list[str]:
        notes = []
        if errors != "classical":
            notes.append(f"{errors} standard errors; z, p and intervals by the normal distribution")
        if self._counted is not None:
            notes.append(f"weights are precisions: every row is one observation, {self._counted.rows} in all")
        notes += self._left_out().notes()
        if self._fits[0].factor is None:
            notes.append("no standard errors: the solver for wide data keeps no D x D matrix")
        elif any(self._sample().n - float(fit.trace[k]) <= 0.5 for fit, k in self._by_target()):
            notes.append("no standard errors: there are no more rows than parameters")
        return notes

    def _left_out(self) -> LeftOutColumns:
        """Return the columns that the summary leaves out."""
        factor = self._fits[0].factor
        return nothing_left_out() if factor is None else left_out(factor.dependence, self._names())

    def _by_target(self, fits: tuple[Fit, ...] | None = None) -> list[tuple[Fit, int]]:
        return [(fit, k) for fit in (self._fits if fits is None else fits) for k in range(len(fit.squares))]

    def _names(self) -> list[str]:
        return columns_of(self)
