"""Systems: the named learners of the lectures. Tests, command line, docs and benchmarks read SYSTEMS.

The laws of a family select from it by base class: `LinearSystem` (regression from moments), `ClosedFormClassifier`
(classification from class moments), `OnlineSystem` (scans and their batch rules). Systems without targets are in
UNSUPERVISED: model files know them, `compare` and the command line's fit do not.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
