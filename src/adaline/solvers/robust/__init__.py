"""Robust criteria: M-estimates with their scale, and quantiles by linear programs.

M-estimates
-----------
Huber's and Tukey's losses have a scale s of the residuals, estimated with the weights
(`solvers/robust/m_estimation.py`). Residuals are held in memory, 8 bytes a row, so that medians and line searches read
no rows; an iteration is two passes.

- **Huber**: Newton steps. The scale follows by secants, as s -> scale of the residuals of the weights at s is piecewise
  straight.
- **Tukey**: reweighted least squares from the start, then Newton. The start is least trimmed squares on a sample of
  rows, as least squares may lead to another minimum (in statsmodels too), or Huber's estimate, if that has the smaller
  scale after ten steps: of 129 columns, 125 of them levels of one category, the trimmed start ended in a minimum of
  larger scale and a held-out error of 1,525, the better of the two in one of 1,130.
- **A scale of zero** (the plane goes through more than half of the rows) is an answer, not an error.

Quantiles
---------
Absolute and quantile losses are linear programs (`solvers/robust/quantile.py`): the Frisch-Newton method in memory on
the rows near the plane, all others as two rows that are sums; a pass over all rows checks whether they were on the
right side. At the end every row is on the plane at every solution, or off it; theta is moved onto the rows of the first
kind, and the dual gives the gap. With an intercept every level below half the share of the lightest row has the lowest
plane as its answer, so that it is solved at that level. Programs that stall at the boundary (97 programs of 480 fits at
levels from 1e-9 to 1 - 1e-9) are left to the simplex method of HiGHS.

Standard errors of quantiles are in `inference/quantile.py`. All four kinds are computed with the fit: at 1e5 rows of
ten columns the default, "smoothed", takes about a fifth of its time, the two neighbouring planes of "nid" a third.

Limits: quantiles (`loss="quantile"`, `"absolute"`) of streamed rows hold some numbers of every row, and are refused
beyond 2^26 rows.
"""
