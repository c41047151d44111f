"""`select`: the candidate that does best on new rows, by a formula where there is one, by folds elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from adaline.errors import AdalineError, InvalidData, InvalidParameter
from adaline.parameters import OneOf, Whole
from adaline.sources import Source
from adaline.systems.choosing.candidates import Candidate, read_candidates
from adaline.systems.choosing.formula import generalised, leave_one_out, why_not
from adaline.systems.choosing.measures import Criterion, Measure, RowLoss, one_measure, refuse_no_targets
from adaline.systems.choosing.rows import Rows, cut, fit
from adaline.systems.choosing.selection import Selection
from adaline.systems.choosing.trying import Fits, Progress, Tried, by_folds, by_formula, reporting

METHODS = ("auto", "loo", "gcv", "folds")
RULES = ("best", "one-standard-error")


def select(
    system: Any,
    X: Any,
    y: Any = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    sample_weight: Any = None,
    method: str = "auto",
    folds: int = 10,
    scoring: Any = None,
    rule: str = "best",
    random_state: int = 0,
    progress: Progress = None,
    **values: Any,
) -> Selection:
    """Choose parameters, a basis or a system by the error on new rows, and fit the choice to all rows.

    A family that is too rich follows the noise of the rows it learned from, one that is too poor cannot follow their
    shape: the training error falls with richness, the error on new rows has a minimum. For least squares and ridge the
    leave-one-out error is exact and costs one fit and one pass a candidate, r / (1 - h) with the leverages h; every
    other system is cross-validated, all candidates on the same folds.

    Parameters
    ----------
    system : a system or any scikit-learn estimator, such as a pipeline; or a list of them to compare as they are.
    X, y : rows and targets as for `fit`, or a source, cut into folds by a hash of its row numbers. Signals are cut into
        stretches.
    parameters : mapping from names to lists of values; several names span a grid. Keyword arguments do the same:
        `penalty=[0.1, 1, 10]`. A name that the system does not have is looked for in its basis and in the steps of a
        pipeline: `degree` for `basis__degree`. `basis` itself may be listed.
    sample_weight : weights of the rows, frequencies. A row is held out as a whole by folds, one of its copies by "loo".
    method : "auto", "loo", "gcv" or "folds"
        Exact leave-one-out, generalised cross-validation, or K folds; "auto" is "loo" where the formula holds for all
        candidates (LinearRegression, Ridge with numbers as penalties, LeastSquaresClassifier), else "folds". The
        formulas take columns as given: what a basis or `standardize` learns from X alone is that of all rows.
    folds : number of folds; classes are dealt evenly among them.
    scoring : what the error is. None: mean squared error for regressions, share of wrong labels for classifiers, minus
        the log density (GaussianMixture) or the squared distance (KMeans) of a row without targets. "log_loss",
        "mean_absolute_error", or another scorer of scikit-learn, by name or as a function (system, X, y) -> score: the
        error is then minus the score. "bic" and "aic" of a GaussianMixture judge the fit to all rows.
    rule : "best" or "one-standard-error"
        The smallest error; or the simplest candidate whose error exceeds the smallest by no more than its standard
        error. Simplest: fewest effective parameters where the system knows them (least squares, ridge), else the order
        given, by the first parameter first, and for penalties the largest first.
    random_state : seed of the cut into folds.
    progress : whether to show a line on stderr while it takes long (None: where that is a terminal), or a function
        (done, total, text).

    Returns
    -------
    Selection : `best` (fitted to all rows), `parameters`, `index`, `table`, `curve`, `method`, `rule`. A candidate that
        cannot be fitted is a row of the table with the reason.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from adaline import LinearRegression, Ridge, basis, datasets, select
    >>> data = datasets.load("longley")
    >>> found = select(Ridge(), data.X, data.y, penalty=[0.001, 0.01, 0.1, 1.0, 10.0])
    >>> found.method, found.parameters
    ('loo', {'penalty': 0.1})
    >>> x = np.linspace(0, 3, 60)[:, None]
    >>> y = np.sin(2 * x[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 60)
    >>> family = make_pipeline(basis.Polynomial(), LinearRegression())
    >>> select(family, x, y, degree=range(1, 9), rule="one-standard-error").parameters
    {'polynomial__degree': 5}

    References
    ----------
    Lecture S4, a richer class of functions: overfitting. D. M. Allen, Technometrics 16 (1974), 125-127 (leave-one-out);
    G. H. Golub, M. Heath and G. Wahba, Technometrics 21 (1979), 215-223 (GCV); L. Breiman et al., Classification and
    Regression Trees (1984), section 3.4.3 (one standard error).

    Cost: one fit a candidate by formula, `folds` fits otherwise, and one for the choice.
    """
    both = {**(parameters or {}), **values}
    if len(both) < len(parameters or {}) + len(values):
        raise InvalidParameter("a parameter is given twice: in the mapping and as a keyword")
    candidates = read_candidates(system, both)
    OneOf(*METHODS).check("method", method)
    OneOf(*RULES).check("rule", rule)
    Whole(2).check("folds", folds)
    if not isinstance(X, Source):
        for one in candidates:
            refuse_no_targets(one.system, y)
    measure = one_measure([one.system for one in candidates], scoring)
    if rule != "best" and (method == "gcv" or isinstance(measure, Criterion)):
        raise InvalidParameter("rule='one-standard-error' needs a standard error: use method='loo' or 'folds'")
    chosen = _method(method, candidates, X, measure)
    with reporting(progress, "select", 1) as tell:
        run = _Run(X, y, sample_weight, measure, folds, random_state, tell)
        tried = run.all(chosen, candidates)
        if method == "auto" and chosen == "loo" and all(one.failure for one in tried):
            with suppress(AdalineError):  # where folds cannot be cut either, what the formula said is the reason
                tried, chosen = run.all("folds", candidates), "folds"
        index, winner = _choice(candidates, tried, rule)
        tell("all rows")
        best = candidates[index].system
        best = best.fit(X) if isinstance(X, Source) else fit(best, X, y, sample_weight)
    given = [one.parameters for one in candidates]
    return Selection(best, given[index], index, winner, given, tried, chosen, measure.name, rule, folds)


@dataclass(frozen=True)
class _Run:
    """The rows to try candidates on."""

    X: Any
    y: Any
    sample_weight: Any
    measure: Measure
    folds: int
    seed: int
    tell: Fits

    def all(self, method: str, candidates: Sequence[Candidate]) -> list[Tried]:
        """Return how each candidate did."""
        data = self.X, self.y, self.sample_weight
        rows = None
        if method == "folds":
            rows = cut(candidates[0].system, *data, self.folds, self.seed)
            if rows.whole and not isinstance(self.measure, RowLoss):
                what = "a source" if isinstance(self.X, Source) else "signals"
                raise InvalidParameter(f"{self.measure.name} of {what} is not a mean over rows: leave scoring out")
        self.tell.expect(len(candidates) * (1 if rows is None else self.folds))
        return [self._one(method, one, rows) for one in candidates]

    def _one(self, method: str, one: Candidate, rows: Rows | None) -> Tried:
        if rows is not None:
            return by_folds(one.system, rows, self.folds, self.measure, partial(self.tell, one.label))
        self.tell(one.label)
        return by_formula(partial(self._by_formula, method, one.system))

    def _by_formula(self, method: str, system: Any) -> Tried:
        data = self.X, self.y, self.sample_weight
        if method == "loo":
            return leave_one_out(system, *data, self.measure)
        if method == "gcv":
            return generalised(system, *data)
        assert isinstance(self.measure, Criterion)
        model = fit(system, *data)
        return Tried(error=self.measure.value(model, self.X, self.sample_weight))


def _method(method: str, candidates: Sequence[Candidate], X: Any, measure: Measure) -> str:
    """Return the method to use; refuse a formula that does not hold."""
    if isinstance(measure, Criterion):
        if method != "auto":
            raise InvalidParameter(f"{measure.name} judges the fit to all rows: leave method out")
        return measure.name
    if method == "folds":
        return method
    formula = "loo" if method == "auto" else method
    reasons = [why for one in candidates if (why := why_not(one.system, X, measure, formula))]
    if not reasons:
        return formula
    if method == "auto":
        return "folds"
    more = " (folds equal to the number of rows leave one out by refitting)" if method == "loo" else ""
    raise InvalidParameter(f"there is no formula for method={method!r}: {reasons[0]}. Use method='folds'{more}")


def _choice(candidates: Sequence[Candidate], tried: Sequence[Tried], rule: str) -> tuple[int, int]:
    """Return the place of the candidate chosen, and of that with the smallest error."""
    fitted = [i for i, one in enumerate(tried) if not one.failure]
    if not fitted:
        raise InvalidData(f"no candidate could be fitted; {candidates[0].label}: {tried[0].failure}")
    known = not any(np.isnan(tried[i].freedom) for i in fitted)

    def richness(i: int) -> tuple[Any, ...]:
        return (tried[i].freedom if known else 0.0, candidates[i].place)

    winner = min(fitted, key=lambda i: (tried[i].error, richness(i)))
    if rule == "best":
        return winner, winner
    limit = tried[winner].error + tried[winner].std_error
    if np.isnan(limit):
        raise InvalidParameter(
            f"rule='one-standard-error' needs a standard error, and {candidates[winner].label} has none: one "
            "observation does not spread. Use rule='best', or more rows"
        )
    return min((i for i in fitted if tried[i].error <= limit), key=richness), winner
