"""`select`: the candidate with the smallest error on new rows, by a formula where there is one, else by folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from adaline import peers
from adaline.arrays import Array, OffsetsLike, RowsLike, TargetsLike, WeightsLike
from adaline.errors import AdalineError, InvalidData, InvalidParameter
from adaline.estimator import clone
from adaline.fitted import AnySystem, can_fit
from adaline.input.system import System
from adaline.locks import cached_property
from adaline.parameters import WholeNumber, one_of
from adaline.selection.cross_validation import (
    CandidateErrors,
    Fits,
    Progress,
    by_folds,
    fit,
    refuse_absorbing,
    refuse_offset,
    reporting,
    split_rows,
)
from adaline.selection.formula import by_formula, why_not
from adaline.selection.measures import InformationCriterion, Measure, RowLoss, one_measure, refuse_no_targets
from adaline.selection.table import ErrorTable, grouped_notes
from adaline.sources import Source
from adaline.state import change_state
from adaline.wording import counted, number

SelectionMethod = Literal["auto", "loo", "gcv", "folds"]
SelectionRule = Literal["best", "one-standard-error"]
SHRINKING = ("penalty", "l1", "alpha", "shrinkage", "reg_covar")
"""Parameters of which a larger value is the simpler choice."""

SYSTEM = "system"


def select(
    system: AnySystem,
    X: RowsLike,
    y: TargetsLike = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    sample_weight: WeightsLike = None,
    offset: OffsetsLike = None,
    method: SelectionMethod = "auto",
    folds: int = 10,
    scoring: Any = None,
    rule: SelectionRule = "best",
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
    offset : a known part of each row's output, (n,), for systems that take one: see `GeneralizedLinear.fit`.
    method : "auto", "loo", "gcv" or "folds"
        Exact leave-one-out, generalised cross-validation, or K folds; "auto" is "loo" where the formula holds for all
        candidates (LinearRegression, Ridge with numbers as penalties, LeastSquaresClassifier), else "folds". The
        formulas take columns as given: what a basis or `standardize` learns from X alone is that of all rows.
    folds : number of folds; each class is spread evenly over them.
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
    one_of(SelectionMethod).check("method", method)
    one_of(SelectionRule).check("rule", rule)
    WholeNumber(2).check("folds", folds)
    if not isinstance(X, Source):
        for one in candidates:
            refuse_no_targets(one.system, y)
            refuse_offset(one.system, offset)
    measure = one_measure([one.system for one in candidates], scoring)
    if isinstance(X, Source) and not isinstance(measure, InformationCriterion):
        refuse_absorbing(X, "select")
    if rule != "best" and (method == "gcv" or isinstance(measure, InformationCriterion)):
        raise InvalidParameter("rule='one-standard-error' needs a standard error: use method='loo' or 'folds'")
    chosen = _method(method, candidates, X, measure)
    with reporting(progress, "select", 1) as before_fit:
        how = candidates, (X, y, sample_weight), measure, folds, random_state, offset, before_fit
        tried = _try_all(chosen, *how)
        if method == "auto" and chosen == "loo" and all(one.failure for one in tried):
            with suppress(AdalineError):  # where folds cannot be cut either, what the formula said is the reason
                tried, chosen = _try_all("folds", *how), "folds"
        index, winner = _choice(candidates, tried, rule)
        before_fit("all rows")
        best = candidates[index].system
        best = best.fit(X) if isinstance(X, Source) else fit(best, X, y, sample_weight, offset)
        if isinstance(best, System):
            change_state(best, chosen_from=len(candidates))
    given = [one.parameters for one in candidates]
    again = partial(select, system, parameters=both, folds=folds, scoring=scoring, rule=rule, random_state=random_state)
    whole = "folds" if chosen == "loo" else chosen if chosen in get_args(SelectionMethod) else "auto"
    again = partial(again, method=whole, progress=False)
    return Selection(best, given[index], index, winner, given, tried, chosen, measure.name, rule, folds, again)


@dataclass(frozen=True, eq=False)
class ValidationCurve:
    """Errors along one parameter: its values, errors on the rows learned from and on new rows, and the latter's
    standard errors, arrays (m,); NaN where a candidate failed. `chosen` is the index of the one chosen, `others` the
    values of the other parameters.
    """

    parameter: str
    values: NDArray[Any]
    training: Array
    validation: Array
    std_error: Array
    chosen: int
    measure: str
    others: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """What `select` found; prints as its table.

    Parameters
    ----------
    best : the system chosen, fitted to all rows.
    parameters : what sets it apart from the other candidates.
    index : its index among them. winner : the index of the one with the smallest error, another under
        rule="one-standard-error".
    candidates : the parameters of each.
    tried : training error, error on new rows, its standard error, effective number of parameters, seconds, warning and
        failure of each.
    method : "loo", "gcv" or "folds", or the name of a criterion of the fit. measure : what the error is.
    rule, folds : as asked for.
    again : `select` with the same arguments for other rows or weights, (X, y, sample_weight=...). It holds rows out as
        a whole: leave-one-out becomes folds, as it would leave the other copies of a row that counts twice.
    """

    best: Any
    parameters: dict[str, Any]
    index: int
    winner: int
    candidates: Sequence[dict[str, Any]]
    tried: Sequence[CandidateErrors]
    method: str
    measure: str
    rule: str
    folds: int
    again: Callable[..., Selection]

    @property
    def curve(self) -> ValidationCurve:
        """The validation curve along the first parameter, the others at the values chosen."""
        return self.along(next(iter(self.parameters)))

    def along(self, parameter: str) -> ValidationCurve:
        """Return the validation curve along one parameter, the others at the values chosen."""
        if parameter not in self.parameters:
            raise InvalidParameter(f"{parameter!r} was not varied. There are: {', '.join(self.parameters)}")
        others = {name: value for name, value in self.parameters.items() if name != parameter}
        indices = [
            i for i, one in enumerate(self.candidates) if all(one[name] is value for name, value in others.items())
        ]
        values = [self.candidates[i][parameter] for i in indices]
        numbers = all(isinstance(value, int | float) for value in values)
        kept = np.array(values) if numbers else np.array([as_text(value) for value in values], dtype=object)
        training, validation, std_error = np.array([self.tried[i][:3] for i in indices]).T
        chosen = indices.index(self.index)
        return ValidationCurve(parameter, kept, training, validation, std_error, chosen, self.measure, others)

    @cached_property
    def table(self) -> ErrorTable:
        """One row a candidate, in the order given; the one chosen is marked >, the smallest error *."""
        names = list(self.parameters)
        known = not all(np.isnan(one.freedom) for one in self.tried)
        head = ["", *names, "training", self.measure, "std. error", *(["parameters"] if known else []), "seconds"]
        cells, rows = [], []
        for i, (given, one) in enumerate(zip(self.candidates, self.tried, strict=True)):
            mark = ">" if i == self.index else "*" if i == self.winner else ""
            values = ["failed" if one.failure else number(one.error), number(one.std_error)]
            freedom = [f"{one.freedom:.4g}".replace("nan", "-")] if known else []
            cells.append(
                [mark, *map(as_text, given.values()), number(one.training), *values, *freedom, f"{one.seconds:.2g}"]
            )
            plain = {name: value if isinstance(value, int | float) else as_text(value) for name, value in given.items()}
            rows.append({**plain, **one._asdict(), "chosen": i == self.index, "best": i == self.winner})
        notes = [f"{self._name(i)} failed: {one.failure}" for i, one in enumerate(self.tried) if one.failure]
        notes += grouped_notes([(self._name(i), one.warning) for i, one in enumerate(self.tried)])
        return ErrorTable(self._title(), head, cells, rows, [self._reason(), *notes], left=1 + len(names))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the fitted system as plain values."""
        return {
            "parameters": {name: as_text(value) for name, value in self.parameters.items()},
            "index": self.index,
            "method": self.method,
            "measure": self.measure,
            "rule": self.rule,
            **self.table.to_dict(),
        }

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def _name(self, i: int) -> str:
        return ", ".join(f"{name}={as_text(value)}" for name, value in self.candidates[i].items())

    def _title(self) -> str:
        how = {
            "loo": "by exact leave-one-out",
            "gcv": "by generalised cross-validation",
            "folds": f"by {self.folds} folds",
        }.get(self.method, "of the fit to all rows")
        return f"{counted(len(self.tried), 'candidate')}, {self.measure} {how}"

    def _reason(self) -> str:
        if self.index == self.winner:
            return f"chosen: {self._name(self.index)}, the smallest error"
        best = self.tried[self.winner]
        limit = best.error + best.std_error
        return f"chosen: {self._name(self.index)}, the simplest within one standard error of the smallest ({limit:.6g})"


class Candidate(NamedTuple):
    """A system to fit, the parameters that set it apart from the others, and a key that sorts from simple to rich."""

    system: Any
    parameters: dict[str, Any]
    richness: tuple[Any, ...]

    @property
    def label(self) -> str:
        """What sets it apart, as text."""
        if list(self.parameters) == [SYSTEM]:
            return as_text(self.system)
        return ", ".join(f"{name}={as_text(value)}" for name, value in self.parameters.items())


def read_candidates(system: AnySystem, grid: Mapping[str, Any]) -> list[Candidate]:
    """Return the candidates in the order given, the last parameter varying fastest."""
    if isinstance(system, type) or not hasattr(system, "get_params"):
        return _whole_systems(system, grid)
    if not grid:
        raise InvalidParameter(
            f"nothing to choose from: name a parameter of {type(system).__name__} and its values, as in "
            "select(Ridge(), X, y, penalty=[0.1, 1, 10])"
        )
    known = system.get_params()
    names = [_full_name(system, known, name) for name in grid]
    if len(set(names)) < len(names):
        raise InvalidParameter(f"a parameter is named twice: {', '.join(names)}")
    lists = [_values(name, values) for name, values in grid.items()]
    ranks = [_richness(name, values) for name, values in zip(names, lists, strict=True)]
    out = []
    for chosen in product(*(range(len(values)) for values in lists)):
        given = {name: values[i] for name, values, i in zip(names, lists, chosen, strict=True)}
        made = clone(system).set_params(**{name: clone(value, safe=False) for name, value in given.items()})
        out.append(Candidate(made, given, tuple(rank[i] for rank, i in zip(ranks, chosen, strict=True))))
    return out


def as_text(value: Any) -> str:
    """Return a value of a parameter as one short line."""
    text = f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _try_all(
    method: str,
    candidates: Sequence[Candidate],
    data: tuple[Any, Any, Any],
    measure: Measure,
    folds: int,
    seed: int,
    offset: OffsetsLike,
    before_fit: Fits,
) -> list[CandidateErrors]:
    """Return how each candidate did on rows, targets and weights."""
    if method != "folds":
        before_fit.expect(len(candidates))
        tried = []
        for one in candidates:
            before_fit(one.label)
            tried.append(by_formula(method, one.system, *data, measure))
        return tried
    rows = split_rows(candidates[0].system, *data, folds, seed, offset)
    if rows.whole and not isinstance(measure, RowLoss):
        what = "a source" if isinstance(data[0], Source) else "signals"
        raise InvalidParameter(f"{measure.name} of {what} is not a mean over rows: leave scoring out")
    before_fit.expect(len(candidates) * folds)
    return [by_folds(one.system, rows, folds, measure, partial(before_fit, one.label)) for one in candidates]


def _method(method: str, candidates: Sequence[Candidate], X: RowsLike, measure: Measure) -> str:
    """Return the method to use; refuse a formula that does not hold."""
    if isinstance(measure, InformationCriterion):
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


def _choice(candidates: Sequence[Candidate], tried: Sequence[CandidateErrors], rule: str) -> tuple[int, int]:
    """Return the index of the candidate chosen, and of that with the smallest error."""
    fitted = [i for i, one in enumerate(tried) if not one.failure]
    if not fitted:
        raise InvalidData(f"no candidate could be fitted; {candidates[0].label}: {tried[0].failure}")
    known = not any(np.isnan(tried[i].freedom) for i in fitted)

    def richness(i: int) -> tuple[Any, ...]:
        return (tried[i].freedom if known else 0.0, candidates[i].richness)

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


def _whole_systems(systems: Any, grid: Mapping[str, Any]) -> list[Candidate]:
    if isinstance(systems, type | str) or not isinstance(systems, Iterable):
        raise InvalidParameter(f"select takes a system or a list of systems, as Ridge(), got {systems!r}")
    if grid:
        raise InvalidParameter("several systems are compared as they are: leave the parameters out, or give one system")
    given = list(systems)
    if not given:
        raise InvalidParameter("nothing to choose from: the list of systems is empty")
    for one in given:
        if not (can_fit(one) and hasattr(one, "get_params")) or isinstance(one, type):
            raise InvalidParameter(f"select takes a system or a list of systems, as Ridge(), got {one!r}")
    return [Candidate(clone(one), {SYSTEM: one}, (i,)) for i, one in enumerate(given)]


def _full_name(system: AnySystem, known: Mapping[str, Any], name: str) -> str:
    """Return the parameter that a name stands for: itself, or that of the basis or of one step of a pipeline."""
    if name in known:
        return name
    inner = [full for full in known if full.endswith(f"__{name}")]
    if f"basis__{name}" in inner:
        return f"basis__{name}"
    if len(inner) == 1:
        return inner[0]
    owner = type(system).__name__
    if inner:
        raise InvalidParameter(f"{name!r} may be {' or '.join(inner)} of {owner}: write it in full")
    raise InvalidParameter(peers.unknown(owner, known, {name: None}))


def _values(name: str, values: Any) -> Sequence[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidParameter(
            f"{name} needs a list of values to choose from, got {values!r}: write {name}=[{values!r}]"
        )
    out = [value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value for value in values]
    if not out:
        raise InvalidParameter(f"{name} has no values to choose from: the list is empty")
    return out


def _richness(name: str, values: Sequence[Any]) -> list[int]:
    """Return the rank of each value from simple to rich: the order given, but large penalties first."""
    if name.rpartition("__")[2] not in SHRINKING or not all(isinstance(value, int | float) for value in values):
        return list(range(len(values)))
    order = sorted(range(len(values)), key=lambda i: -values[i])
    return [order.index(i) for i in range(len(values))]
