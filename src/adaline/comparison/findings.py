"""Findings about the data and the fits, each with its place and a remedy.

Each check returns nothing on clean data. Thresholds are those of the textbooks named beside them; tests of many rows
are corrected for their number, so that a thousand clean rows raise no alarm.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, RowsLike
from adaline.attributes import own_attributes
from adaline.comparison.recommendation import has_penalty
from adaline.comparison.result import Result
from adaline.comparison.suspects import FAR_RANGES, LARGE_COOK, Alternative, Inspection
from adaline.comparison.table import REGRESSION, Table, is_count, skewness
from adaline.errors import AdalineError, AdalineWarning
from adaline.fitted import is_linear
from adaline.results import Status
from adaline.separation.budget import Undecided
from adaline.separation.separability import is_separable
from adaline.sums import Moments
from adaline.systems import LinearRegression, LogisticRegression
from adaline.wording import counted, part_of, visible

SERIOUS, WARNING, NOTE = "serious", "warning", "note"
REPEATED = "Columns that repeat others"
MOST_NAMED = 6  # columns or rows that a sentence names; doubling it makes sentences hard to read
ROWS_A_PARAMETER = 10  # fewer rows per coefficient make it mostly noise; doubling it warns about twice as many tables
# share of missing values from which filling in a column is guessing; doubling it warns about emptier columns only
MANY_MISSING = 0.3
# share of other classes below which predicting the largest one looks good; doubling it reports this more often
MOSTLY_ONE = 0.3
IMBALANCE = 20  # rows of the largest class per row of the smallest; doubling it warns about fewer tables
# classes up to which each is checked for a separating hyperplane; doubling it takes twice as long
MOST_SEPARATED_CLASSES = 10
# Marquardt (1970): the variance of a coefficient is ten times what it would be without the other columns
INFLATED = 10.0
DETERMINED = 0.999  # R^2 of a single column from which it may be the target itself; nearer to 1 reports fewer leaks
SCREENED = 0.99  # R^2 on the screened rows below which a column cannot determine the target; nearer to 1 may miss it
MOST_SCREENED = 20_000  # rows that are screened; doubling it takes twice as long
MOST_CORRELATED_COLUMNS = 1000  # columns up to which correlations are computed; doubling it takes eight times as long
# products, a few seconds of them, after which it stays open whether a hyperplane separates the classes
SEPARATION_WORK = 5e9
# rows that are tried first for a separating hyperplane; doubling it takes twice as long where these are not separable
FIRST_ROWS = 1000
LEAST_COUNT_VARIANCE = 0.5  # variance relative to a Poisson's below which numbers are no counts
OVERDISPERSED = 1.5  # the same, above which it is reported; doubling it reports fewer counts
# variance of counts relative to a Poisson's, beyond which whole numbers are amounts; doubling it suggests counts more
# often
MOST_DISPERSED = 100.0
MANY_COPIES = 0.01  # share of repeated rows from which they are a warning, not a note; doubling it warns less often
# rows from which a column that determines the target is no coincidence; doubling it misses leaks of small tables
LEAST_DETERMINED_ROWS = 20


def findings(
    table: Table, task: str, results: list[Result], recommended: Result | None, seen: Inspection
) -> list[Finding]:
    """Return what a user should know about the rows and the fits, gravest first; `seen`: suspicious rows."""
    by_task = (_target_shape,) if task == REGRESSION else (_class_sizes, _separable)
    dependent = _run(_dependent, table)
    found = [
        *_run(_decisive_rows, seen),
        *_run(_repeated_rows, table, seen),
        *_run(_spellings, table, seen.spelled),
        *_run(_constant, table),
        *dependent,
        *_run(_far_values, table, seen),
        *_run(_outliers, table, seen),
        *_run(_leaking, table, task),
        *_run(_few_rows, table, recommended),
        *_run(_missing, table),
        *_run(_left_out, table),
        *(finding for check in by_task for finding in _run(check, table, results)),
        *_run(_recommended_fit, table, recommended, any(one.title == REPEATED for one in dependent)),
    ]
    order = (SERIOUS, WARNING, NOTE)
    return sorted(found, key=lambda finding: order.index(finding.severity))


def _run(check: Callable[..., Iterator[Finding]], *arguments: Any) -> list[Finding]:
    """Return the findings of a check; if its linear algebra fails, a note that names it, as fits are done by then."""
    try:
        return list(check(*arguments))
    except (np.linalg.LinAlgError, FloatingPointError) as error:
        name = check.__name__.strip("_").replace("_", " ")
        return [Finding(NOTE, "A check could not be made", f"The check {name!r} failed: {error}. The others hold.")]


@dataclass(frozen=True)
class Finding:
    """One thing a user should know about the data or the fits.

    Parameters
    ----------
    severity : "serious" (do not trust the result before it is cleared up), "warning" or "note".
    title : a few words.
    text : what was found, where, and what to do.
    columns : names of the columns of the data it is about, where it is about some.

    Examples
    --------
    >>> from adaline.comparison.findings import Finding
    >>> Finding("note", "A title", "What to do.").to_dict()["severity"]
    'note'
    """

    severity: str
    title: str
    text: str
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        return visible(f"{self.severity}: {self.title}. {self.text}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {**own_attributes(self), "columns": list(self.columns)}


def nearly_numbers_text(nearly: dict[str, str]) -> str:
    """Return which columns of numbers cannot be used as such, given what is done with each, and why."""
    shown, more = [f"column {name!r} {what}" for name, what in nearly.items()], len(nearly) - MOST_NAMED
    return "; ".join(shown[:MOST_NAMED]) + (f"; and {counted(more, 'more column')}" if more > 0 else "")


def mistyped_columns(nearly: dict[str, str]) -> Finding:
    """Return the finding about columns of numbers that a few texts, or different units, keep from being used."""
    text = nearly_numbers_text(nearly)
    units = [what for what in nearly.values() if "different units" in what]
    ways = ["correct the texts, or name them as missing values"] if len(units) < len(nearly) else []
    ways += ["convert the values to one unit"] if units else []
    remedy = "; ".join(ways)
    return Finding(
        SERIOUS,
        "Columns of numbers that hold a few texts or different units",
        f"{text[:1].upper()}{text[1:]}. {remedy[:1].upper()}{remedy[1:]}; then compare again.",
        tuple(nearly),
    )


def _decisive_rows(seen: Inspection) -> Iterator[Finding]:
    """Find a few rows without which another conclusion follows."""
    one = seen.wrong
    if one is not None and one.changes:
        name, they = one.condition.removeprefix("without "), "it" if one.rows == 1 else "them"
        yield Finding(
            SERIOUS,
            "A few rows decide the result",
            f"{name[:1].upper()}{name[1:]}: with {they}, {one.given.conclusion}; without {they}, "
            f"{one.other.conclusion}. Correct or remove {they}, then compare again.",
        )


def _repeated_rows(table: Table, seen: Inspection) -> Iterator[Finding]:
    """Find rows that are copies of others, and what the comparison concludes without them."""
    one = seen.repeated
    if one is not None:
        n, count = len(table.y), one.rows
        share, they = count / n, "it" if count == 1 else "them"
        yield Finding(
            SERIOUS if one.changes else WARNING if share >= MANY_COPIES else NOTE,
            "Repeated rows",
            f"{count:,} of {counted(n)} ({percent(share)}) repeat{'s' if count == 1 else ''} another row in every "
            f"column. Copies in different folds can make errors look too low: with {they}, "
            f"{one.given.conclusion}; without {they}, {one.other.conclusion}. Remove {they} unless the observations "
            "are distinct.",
        )


def _spellings(table: Table, merged: Alternative | None) -> Iterator[Finding]:
    """Find levels of categories, and labels, that are written in several ways."""
    found = {column["name"]: column["same"] for column in table.columns if column.get("same")}
    if not found:
        return
    certain = [f"{name} ({_quoted(one.spellings)})" for name, own in found.items() for one in own if one.certain]
    probable = [
        f"{one.spellings[1]!r} for {one.spellings[0]!r} in {name}"
        for name, own in found.items()
        for one in own
        if not one.certain
    ]
    texts = [f"The same but for case, space or punctuation: {some_names(certain)}."] if certain else []
    texts += [f"Probably typing errors: {some_names(probable)}."] if probable else []
    changes = merged is not None and merged.changes
    if merged is not None and changes:
        texts.append(f"As they are, {merged.given.conclusion}; merged, {merged.other.conclusion}.")
    yield Finding(
        SERIOUS if changes else WARNING,
        "Levels in several spellings",
        f"{' '.join(texts)} Each spelling counts as a level of its own: correct them, then compare again.",
        tuple(found),
    )


def _quoted(texts: Sequence[str]) -> str:
    return some_names([repr(text) for text in texts])


def _constant(table: Table) -> Iterator[Finding]:
    """Find columns that hold one value in the rows compared."""
    names = table.constant
    if names:
        verb, was = ("holds", "is") if len(names) == 1 else ("hold", "are")
        yield Finding(
            NOTE,
            "Constant columns",
            f"{some_names(names)} {verb} the same value in every row and {was} left out of the comparison.",
            names,
        )


class ColumnRelations(NamedTuple):
    """The columns that do not depend on those before them, the dependencies of the others in names, and the moments."""

    independent: NDArray[np.intp]
    dependencies: list[str]
    moments: Moments


def _relations(table: Table) -> ColumnRelations | None:
    """Return how columns are related.

    None where there are too many columns, or too few rows, to tell.
    """
    n, d = table.X.shape
    if d > MOST_CORRELATED_COLUMNS or d + 1 >= n or d < 2:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdalineWarning)  # the finding says it with the names of the columns
            model = LinearRegression().fit(table.X, table.column(0), table.weight)
    except AdalineError:
        return None
    aliased = [] if model.aliased_ is None else [int(str(name)[1:]) for name in model.aliased_]  # "x3"
    if model._sums is None:
        return None
    dependencies = [table.with_names(text) for text in model.dependencies_ or ()]
    return ColumnRelations(np.setdiff1d(np.arange(d), aliased), dependencies, model._sums)


def _dependent(table: Table) -> Iterator[Finding]:
    """Find columns that are linear combinations of others, exactly and nearly."""
    found = _relations(table)
    if found is None:
        return
    independent, dependencies, moments = found
    if len(independent) < table.X.shape[1]:
        copies = _copies(table)
        coded = tuple(name for j, name in enumerate(table.names) if j not in independent)
        others = [name for name in coded if table.origin[table.names.index(name)] not in copies]
        told = [text for text in dependencies if text.partition(" = ")[0] in others] or others
        texts = [f"{some_names([f'{name} repeats {other}' for name, other in copies.items()])}."] if copies else []
        texts += [f"Exact linear combinations of earlier columns: {some_names(told)}."] if told else []
        marks = not copies and set(others) <= {mark for _, mark in table.filled}  # of columns missing together
        advice = "are not affected" if marks else "are not affected, but coefficients are not unique: drop such columns"
        yield Finding(
            NOTE if marks else WARNING,
            REPEATED,
            f"{' '.join(texts)} Predictions {advice}.",
            (*copies, *others),
        )
    inflated = _inflation(table, independent, moments)
    if inflated:
        ordered = sorted(inflated.items(), key=lambda item: -item[1])
        named = some_names([f"{name} (VIF {value:,.0f})" for name, value in ordered])
        yield Finding(
            WARNING,
            "Collinear columns",
            f"Nearly linear combinations of other columns: {named}. Above a variance inflation of {INFLATED:g}, "
            "coefficients are imprecise even where predictions are good: drop one of the columns, or use a penalised "
            f"system such as {_penalised(table)}.",
            tuple(name for name, _ in ordered),
        )


def _copies(table: Table) -> dict[str, str]:
    """Return the columns of the data that are coded as an earlier one is, up to the names of levels, and that one."""
    seen: dict[tuple[bytes, ...], str] = {}
    out = {}
    for name, members in table.groups().items():
        columns = (np.ascontiguousarray(table.column(j)).data for j in members)
        own = sorted(hashlib.blake2b(column).digest() for column in columns)  # renamed levels come in another order
        first = seen.setdefault(tuple(own), name)
        if first != name:
            out[name] = first
    return out


def _inflation(table: Table, columns: NDArray[np.intp], moments: Moments) -> dict[str, float]:
    """Return columns of the data whose generalised variance inflation is beyond the limit.

    GVIF = det C_aa det (C^-1)_aa for the correlations C and the columns a made of one: the same whichever level of a
    category is left out, so that coding raises no alarm. GVIF^(1/size) is comparable with the VIF of one column.
    J. Fox and G. Monette, JASA 87 (1992), 178-183.
    """
    scatter = moments.second[np.ix_(columns, columns)]
    length = np.sqrt(scatter.diagonal())
    correlation = scatter / np.outer(length, length)
    try:
        inverse = np.linalg.inv(correlation)
    except np.linalg.LinAlgError:
        return {}
    out = {}
    for name, members in table.groups().items():
        own = np.flatnonzero(np.isin(columns, members))
        if len(own):
            logs = [np.linalg.slogdet(m[np.ix_(own, own)])[1] for m in (correlation, inverse)]
            inflation = float(np.exp(sum(logs) / len(own)))
            if inflation > INFLATED:
                out[name] = inflation
    return out


def _far_values(table: Table, seen: Inspection) -> Iterator[Finding]:
    """Report single values far outside the bulk of a column of numbers."""
    if seen.far:
        named = some_names(
            [
                f"{one.name} ({counted(len(one.rows))}, up to {table.column(one.column)[one.rows[0]]:.4g})"
                for one in seen.far
            ]
        )
        yield Finding(
            WARNING,
            "Values far from all others",
            f"More than {FAR_RANGES:g} interquartile ranges outside the quartiles: {named}. Check for typing errors "
            "and codes for missing values (such as 9999); for a long tail, take logarithms.",
            tuple(one.name for one in seen.far),
        )


def _outliers(table: Table, seen: Inspection) -> Iterator[Finding]:
    """Report rows far from the least-squares surface, and rows that decide it, or that it passes through all rows."""
    found = seen.outliers
    if found is None:
        return
    if found.exact:
        yield Finding(
            WARNING,
            "The target is computed from the columns",
            f"A linear function of the columns gives {table.target} in every row, up to rounding. Leave out columns "
            "that are not known before the target, and compare again.",
            (table.target,),
        )
        return
    rows = found.influence
    counting = " (counting from 0)" if table.line_name is None else ""
    if len(found.far):
        named = some_names([f"{table.row_name(i)} ({rows.studentized[i]:+.1f})" for i in found.far])
        yield Finding(
            WARNING,
            "Outlying targets",
            f"{part_of(len(found.far), len(table.y))} further from the least-squares fit than chance explains, beyond "
            f"{found.limit:.1f} studentised residuals{counting}: {named}. Check them: one wrong value can shift every "
            "coefficient, and intervals assume there is none.",
        )
    if len(found.decisive) and not (seen.wrong is not None and seen.wrong.changes):
        named = some_names([f"{table.row_name(i)} ({rows.cooks_distance[i]:.1f})" for i in found.decisive])
        yield Finding(
            WARNING,
            "Single rows decide the fit",
            f"Cook's distance exceeds {LARGE_COOK:g} at {named}{counting}: without such a row the coefficients differ "
            "clearly. Check these rows.",
        )


def _leaking(table: Table, task: str) -> Iterator[Finding]:
    """Find columns that alone determine the target, where there are others."""
    groups = table.groups()
    if len(groups) < 2 or len(table.y) < LEAST_DETERMINED_ROWS:
        return
    target = table.y if task == REGRESSION else table.classes[1]
    determines: Callable[..., bool] = _determines_number if task == REGRESSION else _determines_class
    few = slice(None, None, 1 + len(target) // MOST_SCREENED)  # a column that fails on some rows need not see all
    names = tuple(
        name
        for name, members in groups.items()
        if determines(table.dense(members, few), target[few], SCREENED)
        and determines(table.dense(members), target, DETERMINED)
    )
    if names:
        how = f"with R² above {DETERMINED:g}" if task == REGRESSION else "without a single error"
        yield Finding(
            SERIOUS,
            "A column that gives the target away",
            f"{some_names(names)} alone predict{'s' if len(names) == 1 else ''} {table.target} {how}. Leave it out if "
            "it is not known before the target, or is the target in another form, and compare again.",
            names,
        )


def _determines_number(X: Array, y: NDArray[Any], least: float) -> bool:
    """Whether one column of the data alone has an R^2, adjusted for its size, above `least`."""
    n, d = X.shape
    if n < 5 * (d + 1):
        return False
    left, centred = _centred(y[:, None].astype(np.float64))[:, 0], _centred(X)
    total = float(left @ left)
    if total == 0:  # screened rows, none of which has a rare target, prove nothing
        return least < DETERMINED
    slopes, *_ = np.linalg.lstsq(centred.T @ centred, centred.T @ left)
    rest = left - centred @ slopes
    return bool(1 - (float(rest @ rest) / total) * (n - 1) / (n - d - 1) > least)


def _centred(X: Array) -> Array:
    """Return columns about their means and up to 1 in size, zero where they are constant; no number overflows."""
    size = np.abs(X).max(axis=0)
    x = X / np.where(size > 0, size, 1.0)
    x -= x.mean(axis=0)
    reach = np.abs(x).max(axis=0)  # zero where screened rows have no row of a rare level
    x /= np.where(reach > 0, reach, 1.0)
    return np.asarray(x)


def _determines_class(X: Array, codes: NDArray[np.intp], least: float) -> bool:
    """Whether one column of the data alone separates classes 0, 1, ...: intervals that do not meet, pure levels.

    Of screened rows (`least` below DETERMINED) too few of a class prove nothing.
    """
    classes = int(codes.max()) + 1
    if np.bincount(codes).min() < 5:
        return least < DETERMINED
    if X.shape[1] > 1:
        place = X @ np.random.default_rng(0).normal(size=X.shape[1])  # different levels are at different places
        levels, level = np.unique(place, return_inverse=True)
        counts = np.bincount(level * classes + codes, minlength=len(levels) * classes).reshape(-1, classes)
        return bool(((counts > 0).sum(axis=1) == 1).all()) and len(levels) <= len(codes) / 5
    x = X[:, 0]
    ends = sorted((float(x[codes == k].min()), float(x[codes == k].max())) for k in range(classes))
    return all(before[1] < after[0] for before, after in pairwise(ends))


def _penalised(table: Table) -> str:
    """Return a penalised system for the target: of numbers, or of labels."""
    return "Ridge" if table.y.dtype.kind == "f" else "LogisticRegression(penalty='auto')"


def _few_rows(table: Table, recommended: Result | None) -> Iterator[Finding]:
    """Report fewer rows than coefficients need; a note, where the recommended system has a penalty for that."""
    n, d = table.X.shape
    if d + 1 >= n:
        yield Finding(
            SERIOUS,
            "No more rows than columns",
            f"{d} columns and {n} rows: a linear model fits any target exactly, so training errors mean nothing. Rely "
            "on the cross-validated error; drop columns or collect rows.",
        )
    elif n < ROWS_A_PARAMETER * (d + 1):
        shrinks = recommended is not None and has_penalty(recommended)
        ways = "Drop columns, merge rare levels, or use a penalised system such as"
        yield Finding(
            NOTE if shrinks else WARNING,
            "Few rows for so many columns",
            f"{n} rows for {d + 1} coefficients, {n / (d + 1):.1f} each. With fewer than about {ROWS_A_PARAMETER}, "
            "estimates without a penalty are mostly noise. "
            + (f"{recommended.label} has a penalty." if shrinks and recommended else f"{ways} {_penalised(table)}."),
        )


def _missing(table: Table) -> Iterator[Finding]:
    rows = max(table.total_rows, len(table.y)) + table.dropped  # missing values were counted in all
    heavy = [
        (column["missing"] / rows, column["name"])
        for column in table.columns
        if column["missing"] > MANY_MISSING * rows and column["role"] not in ("left out", "target")
    ]
    if heavy:
        named = some_names([f"{name} ({percent(share)})" for share, name in sorted(heavy, reverse=True)])
        yield Finding(
            WARNING,
            "Many missing values",
            f"Missing in the data: {named}. Filled-in values are guesses, and dropping rows biases the result unless "
            "values are missing at random. Consider leaving the column out.",
            tuple(name for _, name in heavy),
        )


def _left_out(table: Table) -> Iterator[Finding]:
    n, total, dropped = len(table.y), table.total_rows, table.dropped
    if dropped:
        yield Finding(
            NOTE,
            "Rows were left out",
            f"{dropped:,} of {counted(total + dropped)} ({percent(dropped / (total + dropped))}) "
            f"{'is' if dropped == 1 else 'are'} left out because a value is missing. The results hold for rows like "
            "the remaining ones.",
        )
    if n < total:
        all_rows = "" if table.stream is None else "; closed-form systems were fitted to all rows, and judged on these"
        yield Finding(
            NOTE,
            "Not all rows were compared",
            f"The comparison used a random sample of {n:,} of {total:,} rows{all_rows}. Fit the recommended system to "
            "all rows before using it.",
        )


def _target_shape(table: Table, results: list[Result]) -> Iterator[Finding]:
    y = table.y
    labels = {result.label for result in results}
    poisson, gamma = (f"GeneralizedLinear(loss={loss!r})" for loss in ("poisson", "gamma"))
    times = _dispersion(table, results) if poisson in labels and is_count(y) else np.inf
    if times <= MOST_DISPERSED:
        more = (
            f" The variance is {times:,.1f} times that of Poisson counts: use dispersion='pearson' or "
            "loss='negative_binomial' for valid intervals and tests."
        )
        yield Finding(
            NOTE,
            "The target may be a count",
            f"{table.target} holds whole numbers, none of them negative, so {poisson} was compared too: its "
            f"predictions are never negative, and errors may grow with them.{more if times > OVERDISPERSED else ''}",
            (table.target,),
        )
    skew = skewness(y)
    if skew is not None:
        too = f" {gamma}, a model of positive targets, was compared too." if gamma in labels else ""
        yield Finding(
            NOTE,
            "The target is skewed",
            f"{table.target} is positive with a long upper tail (skewness {skew.raw:.1f}; of its logarithm "
            f"{skew.log:.1f}).{too} A model of the logarithm may fit better.",
            (table.target,),
        )


def _dispersion(table: Table, results: list[Result]) -> float:
    """Return the variance of the target in units of that of Poisson counts; 0 where that is not known.

    Of sums, not of quotients: a mean that is predicted as nearly zero would decide it alone.
    """
    sane = [one for one in results if one.settings.get("loss") == "poisson" and not one.failure and one.second > -1]
    if not sane:
        return 0.0
    mean = np.asarray(sane[0].predicted)
    total = float(np.average(mean, weights=table.weight))
    return float(np.average((table.y - mean) ** 2, weights=table.weight)) / total if total > 0 else 0.0


def varies_as_counts(table: Table, results: list[Result]) -> bool:
    """Whether a target holds counts, and varies about as much as counts of independent events do, or some times more.

    Grades and ratings are whole numbers too, but vary far less than counts of their size, and amounts of money or
    populations far more: their variance is that of a count only in a larger unit.
    """
    return is_count(table.y) and LEAST_COUNT_VARIANCE <= _dispersion(table, results) <= MOST_DISPERSED


def _class_sizes(table: Table, results: list[Result]) -> Iterator[Finding]:
    labels, codes = table.classes
    counts = np.bincount(codes)
    if counts.max() > IMBALANCE * counts.min():
        least, most = int(counts.argmin()), int(counts.argmax())
        wrong = 1 - counts.max() / counts.sum()
        always = f"Always predicting '{labels[most]}' is wrong in only {100 * wrong:.1f}% of the rows. "
        always = always if wrong < MOSTLY_ONE else ""
        yield Finding(
            WARNING,
            "Classes of very unequal size",
            f"'{labels[least]}' has {counted(counts[least])}, '{labels[most]}' {counts[most]:,}. {always}Judge by the "
            "confusion table, not by the error rate alone.",
        )
    folds = max((len(result.fold_errors) for result in results), default=0)
    folds = 2 if folds == len(codes) else folds  # leave-one-out
    small = [str(label) for label, count in zip(labels, counts, strict=True) if count < folds]
    if small:
        yield Finding(
            WARNING,
            "Classes with very few rows",
            f"Fewer rows than folds: {some_names(small)}. Their recall cannot be estimated: merge them or collect more "
            "rows.",
        )


def _separable(table: Table, results: list[Result]) -> Iterator[Finding]:
    labels, codes = table.classes
    perfect = [r for r in results if r.train_error == 0 and not r.budget and is_linear(r.model)]
    linear = [r.label for r in perfect if len(labels) == 2]
    apart = [str(label) for label in labels] if linear else []
    if not linear and not any(map(_overlapping, results)):
        apart = _separable_classes(table.X, codes, labels)
    if apart:
        what = (
            "each class"
            if len(apart) == len(labels)
            else f"{'class' if len(apart) == 1 else 'classes'} {some_names(apart)}"
        )
        proof = f"{linear[0]} makes no error on its training rows" if linear else "a separating hyperplane was found"
        yield Finding(
            NOTE,
            "Classes are linearly separable",
            f"A hyperplane separates {what} from the others without error ({proof}). Unpenalised logistic weights then "
            "grow without bound, and probabilities near 0 and 1 are overconfident: rely on the error on held-out rows.",
        )


def _overlapping(result: Result) -> bool:
    """Whether a likelihood has a maximum over all rows, which it has where no plane separates a class from the others.

    A. Albert and J. A. Anderson, Biometrika 71 (1984), 1-10.
    """
    model, proof = result.model, result.certificate
    if not isinstance(model, LogisticRegression) or result.budget or proof is None:
        return False
    return proof.status is Status.SOLVED and model.separation_ is None and not np.any(model.penalty_) and not model.l1


def _separable_classes(X: RowsLike, codes: NDArray[np.intp], labels: NDArray[Any]) -> list[str]:
    """Return the classes that a hyperplane separates from all others; none where that takes too long to know.

    Where some of the rows cannot be separated, all of them cannot.
    """
    if len(labels) > MOST_SEPARATED_CLASSES or X.shape[1] + 1 >= len(codes):
        return []
    step = max(len(codes) // max(FIRST_ROWS, 10 * X.shape[1]), 1)
    chosen = range(1, 2) if len(labels) == 2 else range(len(labels))

    def apart(k: int, rows: slice) -> bool:
        return is_separable(X[rows], codes[rows] == k, SEPARATION_WORK)

    try:
        found = [
            str(labels[k]) for k in chosen if apart(k, slice(None, None, step)) and (step == 1 or apart(k, slice(None)))
        ]
    except Undecided:
        return []
    return [str(label) for label in labels] if found and len(labels) == 2 else found


def _recommended_fit(table: Table, chosen: Result | None, dependent: bool) -> Iterator[Finding]:
    """Find what the certificate and the warnings say, but for dependent columns where a finding names them."""
    if chosen is None:
        return
    proof = chosen.certificate
    if (
        proof is not None
        and proof.status is not Status.SOLVED
        and not (dependent and proof.status is Status.RANK_DEFICIENT)
    ):
        yield Finding(
            WARNING,
            f"The fit of {chosen.label} is {proof.status}",
            f"{proof.advice[:1].upper()}{proof.advice[1:]}.",
        )
    warned = [text for text in chosen.warnings if not (dependent and "linear combinations" in text)]
    if warned:
        text = table.with_names(". ".join(warned[:3]))
        yield Finding(NOTE, f"Warnings of {chosen.label}", f"{text[:1].upper()}{text[1:].rstrip('.')}.")


def some_names(names: Sequence[str]) -> str:
    """Return names as text, and how many more there are where there are many."""
    more = len(names) - MOST_NAMED
    shown = ", ".join(name if len(name) <= 60 else name[:57] + "..." for name in names[:MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown


def percent(share: float) -> str:
    """Return a share as text, never rounded to nothing or to all.

    Examples
    --------
    >>> from adaline.comparison.findings import percent
    >>> percent(0.417), percent(0.0002), percent(0.999)
    ('42%', '0.02%', '99.9%')
    """
    places = 0 if 0.01 <= share <= 0.99 or share in (0, 1) else 1 if 0.001 <= share <= 0.999 else 2
    return f"{100 * share:.{places}f}%"
