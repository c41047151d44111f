"""Which system to recommend, and why: of those as good as the best the one that says most, then the simplest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from adaline.comparison.result import Result
from adaline.comparison.table import LOSSES
from adaline.results import Status
from adaline.systems import SYSTEMS
from adaline.wording import amount, visible

SAME = 1e-3  # errors that differ by less than this part are called the same


@dataclass(frozen=True, eq=False)
class Recommendation:
    """Which system to use, and why; prints as the reason.

    Parameters
    ----------
    headline : a few words, as "Use Ridge", or that nothing beats the constant.
    text : why, in a sentence.
    result : how the system did, None where every system failed. Where nothing beats the constant it is the one that
        comes closest to being useful.
    useful : whether it predicts better than the constant by more than one standard error.
    """

    headline: str
    text: str
    result: Result | None = None
    useful: bool = False

    @property
    def system(self) -> str | None:
        """The system with its settings, as "Ridge"; None where every system failed."""
        return None if self.result is None else self.result.label

    @property
    def model(self) -> Any:
        """The system fitted to the rows compared; None where every system failed."""
        return None if self.result is None else self.result.model

    def __str__(self) -> str:
        return visible(self.text)


def recommend(results: list[Result], baseline: Result, measure: str) -> Recommendation:
    """Return the recommendation.

    A system does as well as the best one if its error is larger by no more than one standard error of the difference,
    paired over the folds. Of those, one whose certificate says "solved" goes before others, then one whose coefficients
    have standard errors (LinearRegression, LogisticRegression), then one that gives probabilities; then the simpler:
    linear weights, and fewer numbers learned from the data (a penalty that was chosen is one more); then the faster, by
    reads of the rows; then the one that comes first in the registry, from least squares to learning row by row.
    Dependent columns leave predictions as they are, so that "rank-deficient" counts as solved here.
    """
    able = [result for result in results if not result.failure]
    if not able:
        return Recommendation("No recommendation", "No system could be fitted: see the errors beside their names.")
    useful = [result for result in able if not _as_good(baseline, result)]
    best = min(useful or able, key=lambda result: result.error)
    if not useful:
        text = (
            f"No system predicts better than {baseline.system} ({measure} {amount(baseline.error, measure)}) by more "
            f"than one standard error: {best.label} comes closest, but look for better columns first."
        )
        return Recommendation(f"Nothing beats {baseline.system}", text, best)
    good = [result for result in useful if _as_good(result, best)]
    chosen = min(good, key=_simplicity)
    return Recommendation(f"Use {chosen.label}", _reason(chosen, best, results, good, baseline, measure), chosen, True)


def _reason(
    chosen: Result, best: Result, results: list[Result], good: list[Result], baseline: Result, measure: str
) -> str:
    """Return why a system that beats the constant is recommended; `good` are those as good as the best."""
    able = [result for result in results if not result.failure]
    if len(able) == 1:
        which = "compared" if len(results) == 1 else "that could be fitted"
        return f"{chosen.label} is the only system {which}; it predicts better than {baseline.system}."
    if chosen is best:
        rivals = [result.label for result in good if result is not chosen]
        also = f", and none of the {len(rivals)} that do about as well says more or is simpler" if rivals else ""
        if len(rivals) == 1:
            also = f", and {rivals[0]}, which does about as well, neither says more nor is simpler"
        error = f"{measure} {with_error(chosen, measure)}"
        return f"{chosen.label} has the lowest error on rows it had not seen, {error}{also}."
    apart = chosen.fold_errors - best.fold_errors
    difference, spread = float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart)))
    equal = difference <= SAME * best.error
    same = "about the same error as" if equal else "an error within one standard error of that of"
    pair = replace(chosen, error=difference, std_error=spread)
    size = "" if equal else f" (more by {with_error(pair, measure)}, paired by fold)"
    return f"{chosen.label} has {same} the best, {best.label}{size}, and {_advantage(chosen, best)}."


def with_error(result: Result, measure: str) -> str:
    """Return an error with its standard error: "287.4 ± 9.1", "1.20% ± 0.31%"."""
    if result.failure:
        return "failed"
    if measure == "error rate":
        return f"{100 * result.error:.2f}% ± {100 * result.std_error:.2f}%"
    size = result.std_error if result.std_error > 0 else result.error
    places = 1 - int(np.floor(np.log10(size))) if size > 0 else 0
    if not -8 < places < 6:
        return f"{result.error:.4g} ± {result.std_error:.2g}"
    return f"{result.error:.{max(places, 0)}f} ± {result.std_error:.{max(places, 0)}f}"


def _as_good(result: Result, best: Result) -> bool:
    apart = result.fold_errors - best.fold_errors
    return bool(apart.mean() <= apart.std(ddof=1) / np.sqrt(len(apart)))


def _simplicity(result: Result) -> tuple[Any, ...]:
    return (
        not _is_solved(result),
        not _has_errors(result),
        result.probability is None,
        not _is_linear(result),
        _parameter_count(result),
        _reads(result),
        list(SYSTEMS.values()).index(type(result.model)),
        len(result.settings),
    )


def _is_solved(result: Result) -> bool:
    return result.certificate is not None and result.certificate.status in (Status.SOLVED, Status.RANK_DEFICIENT)


def _has_errors(result: Result) -> bool:
    """Whether `summary` gives the coefficients with standard errors and tests."""
    return hasattr(result.model, "summary")


def _reads(result: Result) -> int:
    """Return how often the fit to all rows read them."""
    return 0 if result.certificate is None else result.certificate.passes


def _is_linear(result: Result) -> bool:
    """Whether what the model predicts, or decides by, is a weighted sum of the columns."""
    return hasattr(result.model, "coef_") and result.settings.get("loss") not in LOSSES


def _parameter_count(result: Result) -> float:
    """Return how many numbers the model learned: weights, intercepts and penalties; infinity without weights."""
    known = [getattr(result.model, n) for n in ("coef_", "intercept_", "penalty_") if hasattr(result.model, n)]
    return float(sum(np.size(value) for value in known)) if known else np.inf


def _advantage(chosen: Result, best: Result) -> str:
    if _is_solved(chosen) and not _is_solved(best):
        return "its certificate says solved"
    if _has_errors(chosen) and not _has_errors(best):
        return "gives every coefficient with its standard error and a test" + (
            ", and probabilities" if chosen.probability is not None and best.probability is None else ""
        )
    if chosen.probability is not None and best.probability is None:
        return "gives probabilities as well as labels"
    if _is_linear(chosen) and not _is_linear(best):
        return f"is simpler: its {'predictions' if is_regressor(chosen.model) else 'boundaries'} are linear"
    if _parameter_count(chosen) < _parameter_count(best):
        return "is simpler: it has fewer numbers to learn"
    if _reads(chosen) < _reads(best):
        return "is faster: it reads the rows less often"
    return "is the plainer system"
