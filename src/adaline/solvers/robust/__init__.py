"""Robust criteria: M-estimates with their scale, and quantiles by linear programs.

M-estimates
-----------
Huber's and Tukey's losses have a scale s of the residuals, estimated with the weights
(`solvers/robust/m_estimation.py`). Residuals are held in memory, 8 bytes a row, so that medians and line searches read
no rows; an iteration is two passes.

- **Huber**: Newton steps. The scale is found by secant steps: the scale of the residuals of the weights at s is
  piecewise linear in s.
- **Tukey**: reweighted least squares from the start, then Newton. The start is least trimmed squares on a sample of
  rows, as least squares may lead to another minimum (as it does in statsmodels), or Huber's estimate if that has the
  smaller scale after ten steps. On 129 columns, 125 of them levels of one category, the trimmed start led to a minimum
  of larger scale and a held-out error of 1,525; the better of the two starts led to 1,130.
- **A scale of zero** (the plane goes through more than half of the rows) is an answer, not an error.

Quantiles
---------
Absolute and quantile losses are linear programs (`solvers/robust/quantile.py`). The Frisch-Newton method solves them in
memory for the rows near the plane; all other rows enter as two rows, the sums of those above and below, and a pass
checks whether each row was on the right side. At the end every row either lies on the plane in every solution or off
it; theta is moved onto the rows of the first kind, and the dual gives the gap. With an intercept, every level below
half the share of the lightest row has the same answer, the lowest plane, and is solved at that level. Programs that
stall at the boundary (97 programs of 480 fits at levels from 1e-9 to 1 - 1e-9) are left to the simplex method of HiGHS.

Standard errors of quantiles are in `inference/quantile.py`. All four kinds are computed with the fit: at 1e5 rows of
ten columns the default, "smoothed", takes about a fifth of its time, the two neighbouring planes of "nid" a third.

Limits: quantiles (`loss="quantile"`, `"absolute"`) of streamed rows hold some numbers of every row, and are refused
beyond 2^26 rows.
"""
