"""Analysis of variance: `anova` of one model or of several nested ones, and `drop1`."""

from __future__ import annotations

from adaline.arrays import OffsetsLike, RowsLike, TargetsLike, WeightsLike
from adaline.errors import InvalidParameter
from adaline.fitted import AnyModel
from adaline.inference.nested_models import Anova, Deviances, FamilyDeviances, compare_nested
from adaline.inference.term_ratios import Refits, dropped_likelihoods, likelihood_tests
from adaline.inference.term_tests import (
    JudgedModel,
    TermTests,
    TestType,
    check_testable,
    check_type,
    dropped_terms,
    terms_tested,
)
from adaline.inference.view import RowsAgain
from adaline.solvers.smooth.likelihood import LikelihoodFit


def anova(
    model: AnyModel,
    *larger: AnyModel,
    type: TestType = 2,
    X: RowsLike = None,
    y: TargetsLike = None,
    sample_weight: WeightsLike = None,
    offset: OffsetsLike = None,
    exposure: OffsetsLike = None,
) -> TermTests | Anova | Deviances | FamilyDeviances:
    """Test the terms of a model, or compare nested models, each with the one before it.

    **One model.** A term is a factor of the formula or a product of some, with all of its columns; without a formula it
    is a column. Type 1 tests each term beside those before it, so that sums of squares add up to that of the model;
    type 2 beside all terms that do not contain it (`a:b` contains `a`); type 3 beside all others, as effects that add
    up to zero over the levels of each category, whatever the coding of these, as in SAS, and in R under `contr.sum`.
    The three agree where terms are orthogonal, types 2 and 3 also where no term contains another.

    Least squares are tested by F, exactly, and likelihoods by Wald's chi-squared, or by F where the dispersion is
    estimated: no pass over the rows. With the rows (`X`, `y`), likelihoods are tested by their ratio, with a fit for
    each model without a term. `model.with_errors(...).anova(type=...)` tests terms with robust errors.

    **Several models**, the smallest first: least squares by F with the residual variance of the last model, which is
    the largest, likelihoods by their ratio, or by F where the dispersion is estimated, by the last model. The rows must
    be the same for all and each model must contain the columns of the one before. No pass over the rows: models know
    the number and weight of their rows and how well constants fit their targets, and are refused where these differ;
    that the larger contains the columns of the smaller is checked by their names, and assumed where there are none.

    Parameters
    ----------
    model : a fitted model of one target, without penalty.
    *larger : further models, in order of size.
    type : 1, 2 or 3
        Of one model: what is assumed of the other terms.
    X, y, sample_weight, offset, exposure
        Of one model: the rows that were fitted, for tests by likelihood ratios. They are held in memory.

    Returns
    -------
    TermTests : of one model; `to_dict()["terms"]` has a row for each term: `term`, `df`, `F` or `chi2`, `p_value`.
    Anova, Deviances, FamilyDeviances : of several models of least squares, of classes, or of a family: `p_value`,
        `f_statistic` or `chi2`, `freedom_more` and more, with one entry for each model. All print as tables.

    Examples
    --------
    >>> import pandas as pd
    >>> from adaline import LinearRegression, anova, datasets
    >>> birds = pd.read_csv(datasets.path("penguins")).dropna()
    >>> model = LinearRegression().fit(birds[["species", "sex", "flipper_length_mm"]], birds.body_mass_g)
    >>> print(anova(model))
    LinearRegression: tests of terms, each given all other terms that do not contain it (type 2)
    <BLANKLINE>
                       df           SS        F        p
    ----------------------------------------------------
    species             2  1.31418e+07  75.2177  <0.0001
    sex                 1  1.71896e+07  196.771  <0.0001
    flipper_length_mm   1  4.32562e+06  49.5157  <0.0001
    <BLANKLINE>
    residuals: SS 2.86536e+07 on 328 degrees of freedom
    >>> small = LinearRegression().fit(birds[["flipper_length_mm"]], birds.body_mass_g)
    >>> print(f"F {anova(small, model).f_statistic[1]:.2f}")
    F 86.08

    References
    ----------
    R. A. Fisher, Statistical Methods for Research Workers (1925); S. S. Wilks, Annals of Mathematical Statistics 9
    (1938), 60-62; J. Fox and S. Weisberg, An R Companion to Applied Regression (2019), `Anova` of their car.
    """
    if larger:
        if type != 2 or any(given is not None for given in (X, y, sample_weight, offset, exposure)):
            raise InvalidParameter(
                "anova of several models compares each with the one before it: it takes no type or X"
            )
        return compare_nested([model, *larger])
    check_type(type)
    check_testable(model, "anova")
    if X is None or not isinstance(model._fits[0], LikelihoodFit):
        return terms_tested(view_of(model), type)
    return likelihood_tests(Refits(model, RowsAgain(X, y, sample_weight, offset, exposure)), type)


def drop1(
    model: AnyModel,
    X: RowsLike = None,
    y: TargetsLike = None,
    sample_weight: WeightsLike = None,
    offset: OffsetsLike = None,
    exposure: OffsetsLike = None,
) -> TermTests:
    """Return what each term adds to a model: tests and AIC of the models without one of the terms.

    Terms that others contain, such as `a` beside `a:b`, are not dropped. Least squares need no pass over the rows.
    Likelihoods are tested by Wald's statistic; with the rows the models without a term are fitted, and the table has
    likelihood ratios, deviances and AIC.

    Parameters
    ----------
    model : a fitted model of one target, without penalty.
    X, y, sample_weight, offset, exposure
        The rows that were fitted, for likelihoods.

    Returns
    -------
    TermTests : `to_dict()["terms"]` has a row for each term, the first, "(none)", for the model itself.

    Examples
    --------
    >>> from adaline import LinearRegression, datasets, drop1
    >>> data = datasets.load("penguins", target="body_mass_g")
    >>> for row in drop1(LinearRegression().fit(data.X, data.y)).rows:
    ...     print(f"{row['term']:8} {row['aic']:.1f}")
    (none)   4927.6
    x0       4925.9
    x1       4927.2
    x2       5196.5

    References
    ----------
    J. M. Chambers in J. M. Chambers and T. J. Hastie, Statistical Models in S (1992), chapter 4. AIC differs from that
    of R's `drop1` of least squares by the same constant in all rows.
    """
    check_testable(model, "drop1")
    if X is None or not isinstance(model._fits[0], LikelihoodFit):
        return dropped_terms(view_of(model))
    return dropped_likelihoods(Refits(model, RowsAgain(X, y, sample_weight, offset, exposure)))


def view_of(model: AnyModel) -> JudgedModel:
    """Return a model with the standard errors that it has by default."""
    found: JudgedModel = model.with_errors()
    return found
