from adaline.lazy import Registry
from adaline.scans.adaptive import AdaptiveRule as AdaptiveRule
from adaline.scans.base import Scan as Scan
from adaline.scans.coordinate import CoordinateRule as CoordinateRule
from adaline.scans.kesler import KeslerRule as KeslerRule
from adaline.scans.lms import LMSRule as LMSRule
from adaline.scans.perceptron import PerceptronRule as PerceptronRule
from adaline.scans.rls import RLSRule as RLSRule
from adaline.scans.schedules import Schedule as Schedule
from adaline.scans.sigmoid import SigmoidRule as SigmoidRule
from adaline.scans.softmax import SoftmaxRule as SoftmaxRule
from adaline.scans.tally import State as State
from adaline.scans.tally import Tally as Tally

SCANS: Registry
