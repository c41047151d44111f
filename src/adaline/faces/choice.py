"""Which system to recommend, and why: the simplest of those that do as well as the best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adaline.faces.trial import Result
from adaline.results import Status

SAME = 1e-3  # errors that differ by less than this part are called the same


def choose(results: list[Result], baseline: Result, measure: str) -> tuple[Result | None, str]:
    """Return the recommended result and the reason, a sentence.

    A system does as well as the best one if its error is larger by no more than one standard error of the difference,
    paired over the folds. Of those, one whose certificate says "solved" goes before others, then one with linear
    weights, then fewer numbers learned from the data (a penalty that was chosen is one more), then one whose
    certificate knows the digits of its coefficients, then one that gives probabilities, then the smaller error.
    """
    able = [result for result in results if not result.failure]
    if not able:
        return None, "No system could be fitted: see the errors beside their names."
    best = min(able, key=lambda result: result.error)
    level = [result for result in able if _as_good(result, best)]
    chosen = min(level, key=_simplicity)
    if _as_good(baseline, chosen):
        return chosen, (
            f"No system predicts better than {baseline.system} ({measure} {amount(baseline.error, measure)}) by more "
            f"than one standard error: {chosen.label} comes closest to being useful, but look for better columns first."
        )
    if len(able) == 1:
        which = "compared" if len(results) == 1 else "that could be fitted"
        return chosen, f"{chosen.label} is the only system {which}; it predicts better than {baseline.system}."
    if chosen is best:
        rivals = [result.label for result in level if result is not chosen]
        also = f", and none of the {len(rivals)} that do about as well is simpler" if rivals else ""
        if len(rivals) == 1:
            also = f", and {rivals[0]}, which does about as well, is not simpler"
        error = f"{measure} {with_error(chosen, measure)}"
        return chosen, f"{chosen.label} has the lowest error on rows it had not seen, {error}{also}."
    apart = chosen.fold_errors - best.fold_errors
    difference, spread = float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart)))
    equal = difference <= SAME * best.error
    same = "about the same error as" if equal else "an error within one standard error of that of"
    pair = replace(chosen, error=difference, std_error=spread)
    size = "" if equal else f" (more by {with_error(pair, measure)}, paired by fold)"
    return chosen, f"{chosen.label} has {same} the best, {best.label}{size}, and {_advantage(chosen, best)}."


def amount(error: float, measure: str) -> str:
    """Return an error as people read it: a share of wrong labels in per cent, else four digits."""
    if np.isnan(error):
        return "-"
    return f"{100 * error:.2f}%" if measure == "error rate" else f"{error:.4g}"


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


def _simplicity(result: Result) -> tuple[bool, bool, float, bool, bool, float]:
    return (
        not _is_solved(result),
        not _is_linear(result),
        _numbers(result),
        not _has_digits(result),
        result.probability is None,
        result.error,
    )


def _is_solved(result: Result) -> bool:
    return result.certificate is not None and result.certificate.status is Status.SOLVED


def _has_digits(result: Result) -> bool:
    return result.certificate is not None and not np.isnan(result.certificate.digits)


def _is_linear(result: Result) -> bool:
    return hasattr(result.model, "coef_")


def _numbers(result: Result) -> float:
    """Return how many numbers the model learned, as far as its linear weights tell."""
    known = [getattr(result.model, n) for n in ("coef_", "intercept_", "penalty_") if hasattr(result.model, n)]
    return float(sum(np.size(value) for value in known)) if known else np.inf


def _advantage(chosen: Result, best: Result) -> str:
    if _is_solved(chosen) and not _is_solved(best):
        return "its certificate says solved"
    if _is_linear(chosen) and not _is_linear(best):
        return "is simpler: its boundaries are linear"
    if _numbers(chosen) < _numbers(best):
        return "is simpler: it has fewer numbers to learn"
    if _has_digits(chosen) and not _has_digits(best):
        return "its certificate knows how many digits are right"
    if chosen.probability is not None and best.probability is None:
        return "gives probabilities as well as labels"
    return "is no less simple"
