"""Systems: the named learners of the lectures. Tests, command line, docs and benchmarks read SYSTEMS.

The laws of a family select from it by base class: `LinearSystem` (regression from moments), `ClosedFormClassifier`
(classification from class moments), `OnlineSystem` (scans and their batch rules). Systems without targets are in
UNSUPERVISED: model files know them, `compare` and the command line's fit do not. `CustomMachine`, whose machine is code
of the user's, is in CUSTOM: for Python alone.

- **Online fits.** `OnlineSystem._learn` starts or copies the scan, a learner's `_run` changes it in place and returns
  an `OnlineResult`; a `FittedScan` is the scan with the result of all its fits. `LogisticRegression(solver="online")`
  has the same two and reads them through `OnlineLogistic` (`systems/families/online_logistic.py`), whose methods return
  another one.
- **Classes from two-class machines.** `systems/families/decisions.py` knows which classes each machine separates and
  what pairs give each class, for `OneVsRest`, `OneVsOne` and `LogisticRegression(scheme=...)`.
- **`decision_function`** exists only where predictions are not the outputs themselves: scikit-learn's checks allow a
  regressor none.

Scikit-learn's interface
------------------------
The base classes are in `estimator.py`. Importing scikit-learn takes four times as long as everything that a fit needs,
which imports pandas and the statistics of SciPy. So `BaseEstimator` and the mixins are classes of our own, with
parameters, `clone`, a short `repr` and the kind of target; everything else of scikit-learn's interface (tags, metadata
routing, `set_output`, HTML, `score`) is scikit-learn's own code: `join` imports it and exchanges the bases of our
classes for its classes of the same names (`__bases__`), existing models included. It is called when a class or a model
is made, or a model fits, transforms or is unpickled or copied, and scikit-learn is loaded, and when scikit-learn has to
answer a request. Then `isinstance(model, sklearn.base.BaseEstimator)` is true, as are those of the mixins and of
`NotFittedError`. One case is lost: it is false for a model that was made before scikit-learn was imported, and not used
since. `sklearn.base` cannot be asked to let a class in later, so that the alternative would be a hook on its import;
the next fit is enough in practice. A class of a user whose bases would have no order after the join is refused where it
is written, as after the join; a join that fails leaves all classes as they were. A `__new__` that joins would be
shorter, but Python keeps the old constructor when the base it came from goes.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
