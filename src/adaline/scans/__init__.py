"""Scans: rules that go over rows in their order, each with a native loop and a readable reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline.lazy import Registry, lazily

if TYPE_CHECKING:
    from adaline.scans.adaptive import AdaptiveRule
    from adaline.scans.base import Scan
    from adaline.scans.kesler import KeslerRule
    from adaline.scans.lms import LMSRule
    from adaline.scans.perceptron import PerceptronRule
    from adaline.scans.rls import RLSRule
    from adaline.scans.schedules import Schedule
    from adaline.scans.sigmoid import SigmoidRule
    from adaline.scans.softmax import SoftmaxRule
    from adaline.scans.tally import State, Tally

SCANS = Registry(__name__, "LMSRule RLSRule PerceptronRule KeslerRule SigmoidRule SoftmaxRule AdaptiveRule", "Rule")

__all__ = [
    "SCANS",
    "AdaptiveRule",
    "KeslerRule",
    "LMSRule",
    "PerceptronRule",
    "RLSRule",
    "Scan",
    "Schedule",
    "SigmoidRule",
    "SoftmaxRule",
    "State",
    "Tally",
]

__getattr__ = lazily(
    __name__,
    {
        "adaptive": "AdaptiveRule",
        "base": "Scan",
        "kesler": "KeslerRule",
        "lms": "LMSRule",
        "perceptron": "PerceptronRule",
        "rls": "RLSRule",
        "schedules": "Schedule",
        "sigmoid": "SigmoidRule",
        "softmax": "SoftmaxRule",
        "tally": "State Tally",
    },
)
