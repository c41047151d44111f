"""Families: what several named learners share.

| base, and its file | learners | state of a fit |
|---|---|---|
| `LinearSystem`, `linear_system.py` | `LinearRegression`, `Ridge`, `InstrumentalVariables` | `LeastSquaresState` |
| `ClosedFormClassifier`, `closed_form.py` | the least-squares, Fisher and Gaussian classifiers | `ClosedFormState` |
| `OnlineSystem`, `online.py` | `LMS`, and all online classifiers | `OnlineState` |
| `OnlineClassifier`, `online_classifier.py` | `Adaline`, the perceptrons, `Pocket`, `OnlineLogistic` | `OnlineState` |
| `SignalSystem`, `filter.py` | `WienerFilter`, `AdaptiveFilter` | `FilterState` |
| `Scheme`, `scheme.py` | `OneVsRest`, `OneVsOne` | `SchemeState` |
| `UnsupervisedSystem`, `unsupervised.py` | `KMeans`, `GaussianMixture` | `UnsupervisedState` |
| `LinearRegressor`, `LinearClassifier`, `supervised.py` | all others | in the learner's file |

What a learner learns beyond the state of its family is a subclass of that state in the learner's own file.
`any_loss.py` has what `GeneralizedLinear` and `CustomMachine` share, `weights.py` makes `coef_` and `intercept_` of
theta, `decisions.py` classes of outputs, `folds.py` and `near.py` fits without each fold, `offsets.py` known parts of
outputs, `single_row.py` one row of a stream, `conformal.py` intervals that assume no distribution.
"""
