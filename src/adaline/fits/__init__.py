"""Fits: the drivers that start, have a problem solved, certify the answer, and return it.

`minimise` (`fits/linear_machine.py`) fits every likelihood and loss: it chooses the start, calls the solver, checks
whether there is a minimum, and certifies. The best constants (`fits/constants.py`) are where it starts;
`fits/likelihood.py` returns what inference needs of the result, `fits/family_parameter.py` estimates a shape or power
too, and `fits/class_machines.py` fits the machines of classes, with penalty="auto" too. The other files drive fits
that are not one smooth problem: penalty paths (`fits/penalty_path.py`, `fits/l1_path.py`, `fits/elastic_net/`), robust
criteria (`fits/robust.py`), ordered classes (`fits/ordinal.py`), scans (`fits/online.py`) and stochastic steps
(`fits/stochastic.py`). Drivers take values, never a system.

Any loss, any machine
---------------------
`GeneralizedLinear` minimises any loss of rows. A loss is taken of z or, with an activation g, of g(z)
(`losses/composed.py`). K targets are fitted one after the other; coupled outputs (softmax) together.

- **Vanishing curvature.** Huber's and Tukey's losses have no curvature beyond their thresholds, so that Newton can stop
  on a slope. Fits start from least squares if that costs less than constants, and Newton's result is checked in the
  metric of the columns alone: if it is not flat there, gradient steps continue, then Newton again.
- **Negative curvature** (losses that are not convex) changes its sign when H is factored. No gap is claimed for such
  losses, nor for a user's own.
- **Classes.** Softmax, and logistic with targets 0 and 1, check separation as `LogisticRegression` does
  (`fits/separation.py`) and end with the same status and weights.
- **No minimum.** Counts that are all zero on one side of a plane let weights grow without bound. A fit stops after
  eight whole Newton steps whose gains shrink only by 1/e and that move outputs by 1/2. The status is `no minimum`,
  and the weights are those under a tiny penalty. The rule applies only where little is left to gain, since an outlier
  slows Newton down too until its mean is closer.
- **Stochastic steps** run on the native scans where there is one for the loss and no penalty; else in a Python loop.
  `rate="auto"` starts at the mean loss of a row above its least, over the mean square of its gradient.
- **Machines of the user's own** (`CustomMachine`) go through the same L-BFGS: it asks for `evaluate(theta)` and a
  metric, not for a linear machine. A user's own loss or machine is Python code: model files refuse it. ONNX holds what
  is predicted, so that it can hold a fit of a user's own loss, but not a user's own machine.

Separation
----------
The classes may be separated when the objective falls below half of ln 2 (then every row is on the right side), or when
eight successive whole Newton steps gain only linearly. Weights that grow suggest a plane and an overlap on it, which
two linear systems in integers make exact (`separation/confirm.py`). Otherwise `separability` decides, within a budget
of 5e9 products of floats, or integer work that takes as long (`separation/budget.py`: counted, not timed). Beyond that
budget, separation is reported as suspected if steps were slow or there are as many columns as rows. The weights
returned are those under a penalty of 1e-6 on standardised columns.

Paths of penalties
------------------
- **`penalty="auto"`**: folds by a hash of the row number; one machine per fold along one path of 17 penalties over 8
  decades, which ends three penalties after the best. Each pass gives the loss and gradient of every fold for every
  machine. Second derivatives by fold are recomputed only if steps slow down, and the step to the next penalty needs no
  pass. Cross-validating such a fit takes the penalties without each fold from the same passes.
- **Nets.** `ElasticNet` with the squared loss works on the second moments of all rows and of the rows without each fold
  (`solvers/coordinates/quadratics.py`), restricted to relevant columns if there are many. Other losses take proximal
  Newton steps. Every point of a path has its duality gap.
"""
