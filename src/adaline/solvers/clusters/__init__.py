"""Clusters: k-means and EM, which alternate assignments and updates.

- **k-means.** The sums of the rows are taken about a fixed origin, so that equal assignments give equal bits: centres
  that no longer move are known to have converged, without a label in memory for each row. The kernel finds the nearest
  centre by products and by differences where rounding could mislead; the error is always a sum of differences. A centre
  without rows moves to the row that is farthest from its own (one more pass, and rare); scikit-learn also takes that
  row out of the mean of its old cluster, which the next iteration does here.
- **EM** runs on columns that are shifted and scaled by powers of two; moments are taken about the previous means, so
  that they lose no digits near convergence. `reg_covar` is added to the variances in raw units, as in scikit-learn: it
  is the one thing that depends on units, and the only one that can lower the likelihood; such a step is undone. The
  mixtures of `GaussianClassifier` add a millionth of the class's own variances instead.
- **Stopping.** The likelihood is flat at its maximum: when it no longer rises, the parameters may be off by the root of
  its rounding, 1e-8. With `tol=0` EM ends when means and covariances stop moving.
- **Starts** are drawn from all rows or, beyond 2^14 of them, from a sample: one pass. The k-means start of a mixture is
  in units of the columns' spreads, not in raw ones.
- `KMeans` and `GaussianMixture` are in `UNSUPERVISED`, not in `SYSTEMS`: all code that reads that registry assumes a
  target.

Limits: no command of their own, mixtures of classes included; `GaussianMixture` takes dense rows only.
Centres, means and covariances are on the host, also for rows on a device.
"""
