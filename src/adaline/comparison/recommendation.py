"""Which system to recommend, and why: of those as good as the best the one that says most, then the simplest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adaline.comparison.result import Result
from adaline.comparison.table import LOSSES
from adaline.estimator import is_regressor
from adaline.results import Status
from adaline.systems import SYSTEMS
from adaline.wording import amount, visible

SAME = 1e-3  # errors that differ by less than this part are called the same, though many rows tell them apart
ROUNDING = 1e-9  # errors that differ by less than this part may be those of one solution


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
    paired over the folds, or by a thousandth of the error. Of those, systems whose probabilities are worse than the
    shares of the classes, by the log loss, stay out where others have better ones. One whose certificate says "solved"
    goes before others, then one whose coefficients have standard errors (LinearRegression, LogisticRegression), then
    one that gives probabilities; then the simpler: linear weights, fewer of them, no penalty; then the faster, by reads
    of the rows; then the one that comes first in the registry, from least squares to learning row by row.
    Dependent columns leave predictions as they are, so that "rank-deficient" counts as solved here.
    """
    able = [one for one in results if not one.failure and one.judged_rows == baseline.judged_rows]
    if not able:
        return Recommendation("No recommendation", "No system could be fitted: see the errors beside their names.")
    useful = [result for result in able if not _within_error(baseline, result)]
    best = min(useful or able, key=lambda result: result.error)
    if not useful:
        text = (
            f"No system predicts better than {baseline.system} ({measure} {amount(baseline.error, measure)}) by more "
            f"than one standard error: {best.label} comes closest, but look for better columns first."
        )
        return Recommendation(f"Nothing beats {baseline.system}", text, best)
    good = [result for result in useful if _as_good(result, best)]
    considered = good
    if any(_is_informative(result, baseline) for result in good):
        considered = [one for one in good if one.probability is None or _is_informative(one, baseline)]
    chosen = min(considered, key=_simplicity)
    if chosen is best:
        also = _rivals_text(chosen, considered, len(good))
        text = f"has the lowest error on rows it had not seen, {measure} {with_error(chosen, measure)}{also}"
    else:
        worthless = best not in considered
        text = f"{_nearness(chosen, best, measure)}, and " + (
            f"does not give probabilities worse than the shares of the classes, as {best.label} does"
            if worthless
            else _advantage(chosen, best)
        )
    if len(able) == 1:
        which = "compared" if len(results) == 1 else "that could be fitted"
        text = f"is the only system {which}; it predicts better than {baseline.system}"
    return Recommendation(f"Use {chosen.label}", f"{chosen.label} {text}.", chosen, True)


def _rivals_text(chosen: Result, considered: list[Result], good: int) -> str:
    """Return what the others that were considered lack, where the best is recommended; `good` did about as well."""
    rivals = [one.label for one in considered if one is not chosen and _is_solved(one) == _is_solved(chosen)]
    if not rivals:
        return ""
    if len(rivals) == 1:
        return f", and {rivals[0]}, which does about as well, does not say more, nor as much more simply"
    those = "that do about as well" if len(rivals) == good - 1 else "others to consider"
    return f", and none of the {len(rivals)} {those} says more, or as much more simply"


def _nearness(chosen: Result, best: Result, measure: str) -> str:
    """Return how near the error of a system is to that of the best."""
    apart = chosen.fold_errors - best.fold_errors
    difference, spread = float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart)))
    if difference <= SAME * best.error:
        return f"has about the same error as the best, {best.label}"
    pair = with_error(replace(chosen, error=difference, std_error=spread), measure)
    by = "row" if chosen.predicted is not None and len(apart) == len(chosen.predicted) else "fold"
    return f"has an error within one standard error of that of the best, {best.label} (more by {pair}, paired by {by})"


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
    return _within_error(result, best) or result.error <= (1 + SAME) * best.error


def _within_error(result: Result, best: Result) -> bool:
    """Whether an error is larger by no more than one standard error of the difference, or by rounding."""
    apart = result.fold_errors - best.fold_errors
    return bool(apart.mean() <= max(apart.std(ddof=1) / np.sqrt(len(apart)), ROUNDING * best.error))


def _simplicity(result: Result) -> tuple[Any, ...]:
    return (
        not _is_solved(result),
        not _has_errors(result),
        result.probability is None,
        not _is_linear(result),
        _weight_count(result),
        _is_penalised(result),
        _reads(result),
        list(SYSTEMS.values()).index(type(result.model)),
        len(result.settings),
    )


def _is_solved(result: Result) -> bool:
    return result.certificate is not None and result.certificate.status in (Status.SOLVED, Status.RANK_DEFICIENT)


def _is_informative(result: Result, baseline: Result) -> bool:
    """Whether probabilities are better than the shares of the classes, by the log loss."""
    return result.probability is not None and result.second < baseline.second


def _has_errors(result: Result) -> bool:
    """Whether `summary` gives standard errors of coefficients, and they mean something.

    Those of classes do unless a plane separates the classes, which is known without a summary: that costs the cube of
    classes times columns.
    """
    model = result.model
    if not hasattr(model, "summary") or getattr(model, "separation_", None) is not None:
        return False
    return result.probability is not None or any(
        np.isfinite(row["std_error"]) for row in model.summary().to_dict()["coefficients"]
    )


def _reads(result: Result) -> int:
    """Return how often the fit to all rows read them."""
    return 0 if result.certificate is None else result.certificate.passes


def _is_linear(result: Result) -> bool:
    """Whether what the model predicts, or decides by, is a weighted sum of the columns."""
    return hasattr(result.model, "coef_") and result.settings.get("loss") not in LOSSES


def _weight_count(result: Result) -> float:
    """Return how many weights and intercepts the model has; infinity without weights."""
    known = [getattr(result.model, name) for name in ("coef_", "intercept_") if hasattr(result.model, name)]
    return float(sum(np.size(value) for value in known)) if known else np.inf


def _is_penalised(result: Result) -> bool:
    """Whether the weights are shrunk by a penalty, which the data chose."""
    return bool(np.any(getattr(result.model, "penalty_", 0.0)))


def _advantage(chosen: Result, best: Result) -> str:
    """Return the first reason, in the order of `_simplicity`, for a system rather than another."""
    if _is_solved(chosen) and not _is_solved(best):
        solved = chosen.certificate is not None and chosen.certificate.status is Status.SOLVED
        return "its certificate says solved" if solved else "its certificate vouches for its predictions"
    probabilities = chosen.probability is not None and best.probability is None
    if _has_errors(chosen) and not _has_errors(best):
        return f"gives {_errors_given(chosen)}" + (", and probabilities" if probabilities else "")
    if probabilities:
        return "gives probabilities as well as labels"
    if _is_linear(chosen) and not _is_linear(best):
        return f"is simpler: its {'predictions' if is_regressor(chosen.model) else 'boundaries'} are linear"
    if _weight_count(chosen) < _weight_count(best):
        return "is simpler: it has fewer weights"
    if _is_penalised(best) and not _is_penalised(chosen):
        return "is simpler: it has no penalty to choose"
    if _reads(chosen) < _reads(best):
        return "is faster: it reads the rows less often"
    return "is the plainer system"


def _errors_given(result: Result) -> str:
    """Return what `summary` gives: under a penalty no tests, and none of columns that depend on others."""
    if result.certificate is not None and result.certificate.status is Status.RANK_DEFICIENT:
        return "coefficients with standard errors" + ("" if _is_penalised(result) else " and tests")
    return "every coefficient with its standard error" + ("" if _is_penalised(result) else " and a test")
