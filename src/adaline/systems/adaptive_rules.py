"""The rules of adaptive filters: which one is meant, with which numbers, and what is wrong with them."""

from __future__ import annotations

import math
from typing import Any

from adaline.errors import InvalidParameter
from adaline.results import Certificate, Status
from adaline.solvers.fit import certificate
from adaline.systems.adaptation import Adaptation

RULES = ("lms", "nlms", "sign", "sign-data", "sign-sign", "rls")
AUTO_RATE = 0.5  # of the normalised rule, which is stable from 0 to 2


def rule_of(system: Any) -> dict[str, Any]:
    """Return the rule that a filter's arguments mean, and its numbers, as `Adaptation` has them."""
    rule, auto = system.rule, is_auto(system.rate)
    if rule == "lms":
        rule = "nlms" if auto else "leaky" if system.leak else "lms"
    return {
        "rule": rule,
        "rate": AUTO_RATE if auto else float(system.rate),
        **{name: float(getattr(system, name)) for name in ("eps", "leak", "forgetting", "regularization")},
        "intercept": bool(system.fit_intercept),
    }


def check_rule(system: Any) -> None:
    """Refuse numbers that the rule has no use for."""
    rule, auto = system.rule, is_auto(system.rate)
    if auto and rule.startswith("sign"):
        raise InvalidParameter(f"rule {rule!r} needs a number as rate: its steps are in units of w")
    if not auto and rule == "rls":
        raise InvalidParameter("rule 'rls' has no rate: how fast it follows is set by forgetting")
    if system.leak and (auto or rule != "lms"):
        raise InvalidParameter("leak needs rule='lms' and a number as rate")


def is_auto(rate: Any) -> bool:
    """Whether a rate is left to the rule."""
    return isinstance(rate, str) and rate == "auto"


def first_certificate(state: Adaptation) -> Certificate:
    """Return the certificate before the first sample: no digits are claimed, no gap is known."""
    memory = f"forgetting {state.forgetting:g}" if state.rule == "rls" else f"rate {state.rate:g}"
    return certificate(
        status=Status.SOLVED,
        objective=0.0,
        gradient=math.nan,
        gap=math.inf,
        digits=math.nan,
        condition=math.nan,
        rank=sum(state.taps),
        passes=1,
        solver=f"{state.rule}, {memory}, sample by sample",
    )
