"""Is what a recommendation says true? Every claim of its text, looked up in the results."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from adaline.comparison.recommendation import Recommendation
from adaline.comparison.result import Result
from adaline.results import Status


def false_claims(advice: Recommendation, results: list[Result], baseline: Result) -> list[str]:
    """Return the claims of a recommendation that its results do not bear out; a text without a claim is one itself."""
    able = [result for result in results if not result.failure]
    best = min(able, key=lambda result: result.error)
    claims = {claim: check for claim, check in CLAIMS.items() if re.search(claim, advice.text)}
    if not claims:
        return [advice.text]
    assert advice.result is not None
    named = re.search(r"the best model(?: \((.+)\),|, (.+?) \(difference)", advice.text)
    assert (named is None) == ("the best model" not in advice.text)
    out = [claim for claim, check in claims.items() if not check(advice.result, best, able, baseline)]
    return out + ([] if named is None or best.label in named.groups() else [named[0]])


def standard_errors(result: Result) -> list[float]:
    """Return the standard errors of all coefficients; none where they mean nothing."""
    if not hasattr(result.model, "summary") or getattr(result.model, "separation_", None) is not None:
        return []
    return [row["std_error"] for row in result.model.summary().to_dict()["coefficients"]]


def gives_errors(result: Result) -> bool:
    return bool(np.isfinite(standard_errors(result)).any())


def worse(result: Result, other: Result) -> tuple[float, float]:
    """Return by how much an error is larger than another, and the standard error of that, paired over the folds."""
    apart = result.fold_errors - other.fold_errors
    return float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart)))


def as_good(result: Result, other: Result) -> bool:
    difference, spread = worse(result, other)
    return difference <= max(spread, 1e-9 * other.error)


def status(result: Result) -> Any:
    return None if result.certificate is None else result.certificate.status


def solved(result: Result) -> bool:
    return status(result) in (Status.SOLVED, Status.RANK_DEFICIENT)


def weights(result: Result) -> float:
    return float(np.size(result.model.coef_) + np.size(result.model.intercept_)) if has_weights(result) else np.inf


def has_weights(result: Result) -> bool:
    return hasattr(result.model, "coef_")


def penalised(result: Result) -> bool:
    return bool(np.any(getattr(result.model, "penalty_", 0.0)))


def worthless(result: Result, baseline: Result) -> bool:
    """Whether probabilities are no better than the shares of the classes."""
    return result.probability is not None and not result.second < baseline.second


def says(result: Result) -> tuple[bool, bool]:
    return gives_errors(result), result.probability is not None


def is_linear(result: Result) -> bool:
    return has_weights(result) and result.system != "GeneralizedLinear"


def plainness(result: Result) -> tuple[bool, float, bool]:
    return not is_linear(result), weights(result), penalised(result)


def no_rival_says_more(chosen: Result, best: Result, able: list[Result], baseline: Result) -> bool:
    rivals = [
        one for one in able if as_good(one, best) and not as_good(baseline, one) and solved(one) == solved(chosen)
    ]
    if any(one.probability is not None and not worthless(one, baseline) for one in rivals):
        rivals = [one for one in rivals if not worthless(one, baseline)]
    more = [one for one in rivals if any(a and not b for a, b in zip(says(one), says(chosen), strict=True))]
    return not more and all(plainness(one) >= plainness(chosen) for one in rivals if says(one) == says(chosen))


Check = Callable[[Result, Result, list[Result], Result], bool]
CLAIMS: dict[str, Check] = {
    "No system predicts better than": lambda c, b, able, base: all(as_good(base, one) for one in able),
    "comes closest": lambda c, b, able, base: c is b,
    "is the only system": lambda c, b, able, base: able == [c] and not as_good(base, c),
    "lowest cross-validated error": lambda c, b, able, base: c.error == b.error,
    "about the same error": lambda c, b, able, base: c.error <= 1.001 * b.error,
    "within one standard error": lambda c, b, able, base: as_good(c, b),
    "within two standard errors": lambda c, b, able, base: solved(c) and not solved(b) and not as_good(c, b),
    "fits exactly, up to rounding": lambda c, b, able, base: b.error <= c.error <= 1e-9 * base.error,
    "more informative": no_rival_says_more,
    "certified as solved": lambda c, b, able, base: status(c) is Status.SOLVED and not solved(b),
    "predictions are certified": lambda c, b, able, base: status(c) is Status.RANK_DEFICIENT and not solved(b),
    "for every coefficient": lambda c, b, able, base: bool(np.isfinite(standard_errors(c)).all()),
    "for (every|the identified) coef": lambda c, b, able, base: gives_errors(c) and not gives_errors(b),
    "tests?\\b": lambda c, b, able, base: not penalised(c),
    "better than the class shares": lambda c, b, able, base: worthless(b, base) and not worthless(c, base),
    "(and|gives) probabilities": lambda c, b, able, base: c.probability is not None and b.probability is None,
    "model of counts": lambda c, b, able, base: c.settings["loss"] == "poisson" != b.settings.get("loss"),
    "are linear": lambda c, b, able, base: is_linear(c) and not is_linear(b),
    "fewer weights": lambda c, b, able, base: weights(c) < weights(b),
    "no penalty": lambda c, b, able, base: penalised(b) and not penalised(c),
    "less often": lambda c, b, able, base: c.certificate.passes < b.certificate.passes,  # type: ignore[union-attr]
    "simpler system": lambda c, b, able, base: plainness(c) <= plainness(b),
}
