"""Systems: the named learners of the lectures. Tests, command line, docs and benchmarks read SYSTEMS.

Each is in the file of its name: objective, parameters, what its fit learns. All are a `System` (`input/system.py`).
The laws of a family select from it by base class: `LinearSystem` (regression from moments), `ClosedFormClassifier`
(classification from class moments), `OnlineSystem` (scans and their batch rules). Systems without targets are in
UNSUPERVISED: model files know them, `compare` and the command line's fit do not. `CustomMachine`, whose machine is code
of the user's, is in CUSTOM: for Python alone.

- **Online fits.** `OnlineSystem._learn` starts or copies the scan, a learner's `_run` changes it in place and returns
  an `OnlineResult`; a `FittedScan` is the scan with the result of all its fits. Rows of `OnlineLogistic` that are dicts
  bring new columns: the scan that has them replaces the one before. `LogisticRegression(solver="online")`, its former
  name, hands over to it (`systems/online_alias.py`).
- **Classes from two-class machines.** `systems/families/decisions.py` knows which classes each machine separates and
  what pairs give each class, for `OneVsRest`, `OneVsOne` and `LogisticRegression(scheme=...)`.
- **`decision_function`** exists only where predictions are not the outputs themselves: scikit-learn's checks allow a
  regressor none.

Scikit-learn's interface
------------------------
`estimator.py` makes systems and bases scikit-learn estimators by protocol. `BaseEstimator` and the mixins inherit from
nothing: `get_params`, `set_params`, `__sklearn_clone__`, `__sklearn_is_fitted__`, `__sklearn_tags__`, metadata routing,
`set_output`, `score` and the HTML diagram are methods of ours, and each imports what it needs of scikit-learn when it
is called. Importing `sklearn.base` takes four times as long as importing all that a fit needs, as it imports pandas and
the statistics of SciPy. Pipelines, searches, stacking, voting and calibration ask only for these methods;
`tests/laws/test_scikit_learn.py` compares what they give with what they give with subclasses of scikit-learn's classes.

- **`isinstance(model, sklearn.base.BaseEstimator)` is false.** scikit-learn itself asks for its base class in three
  places: to break the lines of a `repr`, to warn in its checks of estimators, and there to choose the checks of
  clusterings. A subclass `class MyKMeans(KMeans, sklearn.base.ClusterMixin, sklearn.base.BaseEstimator)` has both, and
  passes these checks.
- **Errors and warnings** have to be subclasses of scikit-learn's: no method can answer for them in an `except` or a
  filter. What is raised as `NotFittedError` and issued as `ConvergenceWarning` is a subclass of our class and of
  scikit-learn's (`errors.of_both`); the warning only where scikit-learn is imported, as nobody else has its class.
- **Frames as output** are made by scikit-learn: a transformer of its own that returns what ours found.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
