"""Scans: rules that go over rows in their order, native loops beside the textbook's as their reference."""

from adaline.scans.adaptive import Adaptive
from adaline.scans.base import Scan
from adaline.scans.kesler import Kesler
from adaline.scans.lms import LMS
from adaline.scans.perceptron import Perceptron
from adaline.scans.rls import RLS
from adaline.scans.schedules import Schedule
from adaline.scans.sigmoid import Sigmoid
from adaline.scans.softmax import Softmax
from adaline.scans.tally import State, Tally

SCANS: dict[str, type[Scan]] = {cls.__name__: cls for cls in (LMS, RLS, Perceptron, Kesler, Sigmoid, Softmax, Adaptive)}

__all__ = [
    "LMS",
    "RLS",
    "SCANS",
    "Adaptive",
    "Kesler",
    "Perceptron",
    "Scan",
    "Schedule",
    "Sigmoid",
    "Softmax",
    "State",
    "Tally",
]
