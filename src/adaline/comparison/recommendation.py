"""Which system to recommend, and why: among those as good as the best, the most informative one, then the simplest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adaline.comparison.result import Result
from adaline.comparison.table import LOSSES
from adaline.estimator import is_regressor
from adaline.fitted import has_summary, is_linear
from adaline.results import Status, some
from adaline.systems import SYSTEMS
from adaline.wording import amount, visible

# relative difference of errors that counts as none, even if it is significant; 10x larger recommends simpler systems
SAME_ERROR = 1e-3
# R^2, or share of the baseline's errors avoided, below which a system is hardly useful; doubling it reports more
HARDLY_USEFUL = 0.05
# standard errors within which a certified fit is preferred to one that is not; doubling it prefers it more often
SOLVED_PREFERENCE = 2.0
NAMED = 3  # columns that a sentence names; doubling it makes sentences hard to read
ROUNDING = 1e-9  # relative difference of errors that may be rounding; 10x larger treats more systems as one solution


@dataclass(frozen=True, eq=False)
class Recommendation:
    """Which system to use, and why; prints as the reason.

    Parameters
    ----------
    headline : the conclusion: "Use Ridge", or that nothing beats the constant, or hardly.
    text : why, in a sentence or two.
    result : how the system did, None where every system failed. Where nothing beats the constant it is the one that
        comes closest to being useful.
    useful : whether it predicts better than the constant by more than one standard error.
    baseline : how the constant did.
    measure : what the errors are.
    """

    headline: str
    text: str
    result: Result | None = None
    useful: bool = False
    baseline: Result | None = field(default=None, repr=False)
    measure: str = ""

    @property
    def system(self) -> str | None:
        """The system with its settings, as "Ridge"; None where every system failed."""
        return None if self.result is None else self.result.label

    @property
    def model(self) -> Any:
        """The system fitted to the rows compared; None where every system failed."""
        return None if self.result is None else self.result.model

    @property
    def skill(self) -> float:
        """R^2 of the system on held-out rows; for classes the share of the constant's errors that it avoids."""
        if self.result is None or self.baseline is None:
            return 0.0
        if self.measure != "error rate":
            return self.result.second
        return 1.0 - self.result.error / self.baseline.error if self.baseline.error > 0 else 0.0

    @property
    def conclusion(self) -> str:
        """The conclusion in a clause, with the error: "Ridge has RMSE 4.31 (R² 0.41)"."""
        if self.result is None or self.baseline is None:
            return "no system can be fitted"
        if not self.useful:
            return f"nothing beats {self.baseline.system} ({self.measure} {amount(self.baseline.error, self.measure)})"
        return f"{self.result.label} has {self.measure} {amount(self.result.error, self.measure)}{self._in_brackets()}"

    def _in_brackets(self) -> str:
        return "" if self.measure == "error rate" else f" (R² {self.skill:.2f})"

    def amended(self, condition: str, other: Recommendation) -> Recommendation:
        """Return the recommendation that says what another one concludes under a condition, as "without line 39"."""
        if not other.useful or other.result is None:
            after = other.conclusion
        else:
            same = self.useful and other.system == self.system
            what, size = "R²", f"{other.skill:.2f}"
            if self.measure == "error rate":
                what, size = self.measure, amount(other.result.error, self.measure)
            after = f"its {what} is {size}" if same else f"{other.system} has {what} {size}"
        return replace(self, headline=f"{self.headline}; {condition} {after}")

    def __str__(self) -> str:
        return visible(f"{self.headline}. {self.text}")


def recommend(results: list[Result], baseline: Result, measure: str, counts: bool = False) -> Recommendation:
    """Return the recommendation; `counts`: whether the target is a count, so that a model of counts comes first.

    A system does as well as the best one if its error is larger by no more than one standard error of the difference,
    paired over the folds, or by a thousandth of the error, or if both errors are rounding. Of those, systems whose
    probabilities are worse than the class shares, by the log loss, are excluded where others have better ones. Ties are
    broken in this order: a fit certified as solved; a model of counts where the target is a count; standard errors of
    the coefficients (LinearRegression, LogisticRegression); probabilities; then the simpler: linear weights, fewer of
    them, no penalty; then the faster, by reads of the rows; then the first in the registry, from least squares to
    learning row by row.
    Where the choice is not certified as solved, a system that is, within two standard errors of the best, comes first.
    Dependent columns do not affect predictions, so that "rank-deficient" counts as solved here. Systems judged on other
    rows than the baseline are not considered.
    """
    able = [one for one in results if not one.failure and one.judged_rows == baseline.judged_rows]
    if not able:
        return Recommendation("No recommendation", "No system could be fitted: see the errors beside their names.")
    useful = [result for result in able if not _within_error(baseline, result)]
    best = min(useful or able, key=lambda result: result.error)
    if not useful:
        text = (
            f"No system predicts better than {baseline.system} ({measure} {amount(baseline.error, measure)}) by more "
            f"than one standard error; {best.label} comes closest."
        )
        return Recommendation(f"Nothing beats {baseline.system}", text, best, False, baseline, measure)
    rounding = 0.0 if measure == "error rate" else ROUNDING * baseline.error  # errors up to it are those of exact fits
    good = [one for one in useful if _as_good(one, best) or max(one.error, best.error) <= rounding]
    considered = good
    if any(_is_informative(result, baseline) for result in good):
        considered = [one for one in good if one.probability is None or _is_informative(one, baseline)]
    chosen = min(considered, key=lambda result: _simplicity(result, counts))
    if not _is_solved(chosen):
        solved = [one for one in useful if _is_solved(one) and _within_error(one, best, SOLVED_PREFERENCE)]
        chosen = min(solved, key=lambda result: _simplicity(result, counts), default=chosen)
    if chosen is best:
        also = "" if counts and _is_count_model(chosen) else _rivals_text(chosen, considered, len(good))
        text = f"has the lowest cross-validated error, {measure} {with_error(chosen, measure)}{also}"
    elif 0 < chosen.error <= rounding:
        text = f"fits exactly, up to rounding, as {best.label} does"
    else:
        worthless = best not in considered and chosen in considered
        text = f"{_nearness(chosen, best, measure)}, and " + (
            f"its probabilities are better than the class shares, unlike those of {best.label}"
            if worthless
            else _advantage(chosen, best, counts)
        )
    if len(able) == 1:
        which = "compared" if len(results) == 1 else "that could be fitted"
        text = f"is the only system {which}; it predicts better than {baseline.system}"
    gain = _gain_text(chosen, able, measure)
    found = Recommendation(f"Use {chosen.label}", f"It {text}.{gain}", chosen, True, baseline, measure)
    return replace(found, headline=_faint_headline(found)) if _hardly_helps(found) else found


def _hardly_helps(found: Recommendation) -> bool:
    """Whether the error is hardly lower than the constant's, and probabilities are hardly better than class shares."""
    assert found.result is not None
    assert found.baseline is not None
    most = (1 - HARDLY_USEFUL) * found.baseline.second
    informed = found.result.probability is not None and found.result.second < most
    return found.skill < HARDLY_USEFUL and not informed


def _faint_headline(found: Recommendation) -> str:
    assert found.result is not None
    assert found.baseline is not None
    ours, theirs = (amount(one.error, found.measure) for one in (found.result, found.baseline))
    return (
        f"{found.system} hardly beats {found.baseline.system}: {found.measure} {ours} against {theirs}"
        f"{found._in_brackets()}"
    )


def _rivals_text(chosen: Result, considered: list[Result], good: int) -> str:
    """Return what the others that were considered lack, where the best is recommended; `good` did about as well."""
    rivals = [one.label for one in considered if one is not chosen and _is_solved(one) == _is_solved(chosen)]
    if not rivals:
        return ""
    if len(rivals) == 1:
        return f"; {rivals[0]} does about as well, but is neither more informative nor simpler"
    those = "that do about as well" if len(rivals) == good - 1 else "others considered"
    return f"; none of the {len(rivals)} {those} is more informative or simpler"


def _gain_text(chosen: Result, able: Sequence[Result], measure: str) -> str:
    """Return what curves and pooled levels gain over the best of the others, in a sentence; "" without such, or a gain.

    Systems fitted to a sample are not comparable with others.
    """
    rivals = [one for one in able if one.columns is None and one.sampled <= chosen.sampled]
    if chosen.columns is None or not rivals:
        return ""
    rival = min(rivals, key=lambda one: one.error)
    if rival.error <= chosen.error:
        return ""
    names, pooled = chosen.columns.names, chosen.columns.pooled
    curves = [names[j] for j, _ in chosen.columns.curves]
    what = [f"{'a curve' if len(curves) == 1 else 'curves'} of {some(curves, most=NAMED)}"] if curves else []
    what += [f"partial pooling of the levels of {some(pooled, most=NAMED)}"] if pooled else []
    said = " and ".join(what)
    verb = "lowers" if len(what) == 1 and len(curves) < 2 else "lower"
    ours, theirs = amount(chosen.error, measure), amount(rival.error, measure)
    return f" {said[:1].upper()}{said[1:]} {verb} the {measure} from {theirs} ({rival.label}) to {ours}."


def _nearness(chosen: Result, best: Result, measure: str) -> str:
    """Return how near the error of a system is to that of the best."""
    apart = chosen.fold_errors - best.fold_errors
    difference, spread = float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart)))
    if difference <= SAME_ERROR * best.error:
        return f"has about the same error as the best model ({best.label})"
    pair = with_error(replace(chosen, error=difference, std_error=spread), measure)
    by = "rows" if chosen.predicted is not None and len(apart) == len(chosen.predicted) else "folds"
    near = "one standard error" if _within_error(chosen, best) else "two standard errors"
    return f"is within {near} of the best model, {best.label} (difference {pair}, paired over the {by})"


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
    return _within_error(result, best) or result.error <= (1 + SAME_ERROR) * best.error


def _within_error(result: Result, best: Result, times: float = 1.0) -> bool:
    """Whether an error is larger by no more than some standard errors of the difference, or by rounding."""
    apart = result.fold_errors - best.fold_errors
    return bool(apart.mean() <= max(times * apart.std(ddof=1) / np.sqrt(len(apart)), ROUNDING * best.error))


def _simplicity(result: Result, counts: bool) -> tuple[Any, ...]:
    return (
        not _is_solved(result),
        counts and not _is_count_model(result),
        not _has_errors(result),
        result.probability is None,
        not _is_linear(result),
        _weight_count(result),
        has_penalty(result),
        _reads(result),
        list(SYSTEMS.values()).index(type(result.model)),
        len(result.settings),
    )


def _is_solved(result: Result) -> bool:
    return result.certificate is not None and result.certificate.status in (Status.SOLVED, Status.RANK_DEFICIENT)


def _is_count_model(result: Result) -> bool:
    return result.settings.get("loss") == "poisson"


def _is_informative(result: Result, baseline: Result) -> bool:
    """Whether probabilities are better than the shares of the classes, by the log loss."""
    return result.probability is not None and result.second < baseline.second


def _has_errors(result: Result) -> bool:
    """Whether `summary` gives standard errors of coefficients, and they mean something.

    Those of classes do unless a plane separates the classes, which is known without a summary: that costs the cube of
    classes times columns.
    """
    model = result.model
    if not has_summary(model) or getattr(model, "separation_", None) is not None:
        return False
    return result.probability is not None or any(
        np.isfinite(row["std_error"]) for row in model.summary().to_dict()["coefficients"]
    )


def _reads(result: Result) -> int:
    """Return how often the fit to all rows read them."""
    return 0 if result.certificate is None else result.certificate.passes


def _is_linear(result: Result) -> bool:
    """Whether the prediction of a model, or its score, is a weighted sum of the columns."""
    return is_linear(result.model) and result.settings.get("loss") not in LOSSES


def _weight_count(result: Result) -> float:
    """Return how many weights and intercepts the model has; infinity without weights, or with curves beside them."""
    if result.columns is not None:
        return np.inf
    known = [getattr(result.model, name) for name in ("coef_", "intercept_") if hasattr(result.model, name)]
    return float(sum(np.size(value) for value in known)) if known else np.inf


def has_penalty(result: Result) -> bool:
    """Whether the weights are shrunk by a penalty, which the data chose."""
    return bool(np.any(getattr(result.model, "penalty_", 0.0)))


def _advantage(chosen: Result, best: Result, counts: bool) -> str:
    """Return the first reason, in the order of `_simplicity`, for a system rather than another."""
    if _is_solved(chosen) and not _is_solved(best):
        solved = chosen.certificate is not None and chosen.certificate.status is Status.SOLVED
        return "its fit is certified as solved" if solved else "its predictions are certified"
    if counts and _is_count_model(chosen) and not _is_count_model(best):
        return "is a model of counts: its predictions are never negative"
    probabilities = chosen.probability is not None and best.probability is None
    if _has_errors(chosen) and not _has_errors(best):
        return f"gives {_errors_given(chosen)}" + (", and probabilities" if probabilities else "")
    if probabilities:
        return "gives probabilities as well as labels"
    if _is_linear(chosen) and not _is_linear(best):
        return f"is simpler: its {'predictions' if is_regressor(chosen.model) else 'boundaries'} are linear"
    if _weight_count(chosen) < _weight_count(best):
        return "is simpler: it has fewer weights"
    if has_penalty(best) and not has_penalty(chosen):
        return "is simpler: it has no penalty to choose"
    if _reads(chosen) < _reads(best):
        return "is faster: it reads the rows less often"
    return "is the simpler system"


def _errors_given(result: Result) -> str:
    """Return what `summary` gives: under a penalty no tests, and none of columns that depend on others."""
    if result.certificate is not None and result.certificate.status is Status.RANK_DEFICIENT:
        return "standard errors" + ("" if has_penalty(result) else " and tests") + " for the identified coefficients"
    return "a standard error" + ("" if has_penalty(result) else " and a test") + " for every coefficient"
