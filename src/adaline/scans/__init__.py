"""Scans: rules that go over rows in their order, each with a native loop and a readable reference."""

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

SCANS: dict[str, type[Scan]] = {
    cls.__name__.removesuffix("Rule"): cls
    for cls in (LMSRule, RLSRule, PerceptronRule, KeslerRule, SigmoidRule, SoftmaxRule, AdaptiveRule)
}

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
