"""Least squares from sums: direct, refined, wide, by descent.

1. One pass builds the moments. They are equilibrated and factored by Cholesky; the condition number gives an a-priori
   bound on the error of every coefficient.
2. Large data (N D >= 1e6) whose bound proves 7.5 digits of every coefficient (6 where a pass reads a file) and 9 of the
   residual sum of squares need no more. The true error is mostly a thousand times below the bound.
3. Otherwise residual passes in double-double on the raw rows refine the solution. The last correction, times the rate
   at which corrections shrink (never taken smaller than the a-priori contraction), bounds the remaining error.
4. Beyond a condition of 1e3 (small data) or 1e4 (large) the triangle replaces the Gram matrix, also because standard
   errors need it. If it is numerically singular, the SVD of the triangle gives the solution of minimum norm in raw
   units.
5. More columns than rows (and more than 128 columns), or a Gram matrix beyond 512 MiB: the dual N x N system. If
   neither matrix fits in 512 MiB, LSMR on sparse products; dense rows are then refused with that reason.

`choose.py` is this list in code. Regressions with instruments are solved likewise, from moments of projections:
`k_class.py`.

The a-priori bound
------------------
Let C be the Gram matrix of columns of length one, g the square roots of their bounds, and h = |C^-1| g. The
coefficients are off by at most h (g'|u| + g_t) / (1 - 2 g'h), whatever the signs of the rounding errors. The solution
of streamed sums is refined once on the normal equations in double-double, so that its own rounding is not amplified.
Sums of weights that are not whole numbers add rows x rounding x standard error. An earlier estimate treated rounding
errors as independent and claimed up to 0.3 digits too many in 8 of 3,688 streams with weights over eight decades;
`WienerFilter` still uses it for Toeplitz sums, where a bound for any signs would be larger by a factor of the number of
taps. The cost of the bound: `partial_fit` of few rows takes about 0.5 ms instead of 0.4.

Decisions
---------
- **Rank.** A direction is cut off when its singular value, on centred columns of equal length, is below 2 (D + 10) eps,
  or below what rounding the raw columns to float64 can produce (a column 1e9 + small has a rounding error of 1e-7 of
  its spread). In the second case the exact answer for the float64 input may differ: the status is `rank uncertain` and
  no digits are claimed.
- **Dependent columns.** A column that looks dependent on the sums is regressed on the kept ones in double-double on the
  rows; if nothing is left, the rank is decided without the triangle (100k x 100 with one such column takes about 1.5
  times the full-rank time, with the triangle about 9 times, measured by hand on a busy machine). `coef_` is the
  solution of minimum norm unless `rank="drop"`; `summary` leaves out later dependent columns, as R does, and writes the
  dependence out. Constant columns are left out beside an intercept.
- **Means.** The mean is known to rounding of the spread. The intercept from which refinement starts is computed in
  double-double: in float64 its error, times the inverse of S, cost up to two digits on columns of mean 1e4 and spread
  0.2.
- **Triangular solves.** OpenBLAS runs its triangular solver (dtrtrs) on many threads even for a 4 x 4 matrix, which
  takes milliseconds. R^-1 is formed once instead.
- **Descent** runs on the sums: the sum of e(n) x(n) is c - A w, so that one pass serves all steps of the textbook's
  rule.
- **Ridge.** A number is a penalty in raw units; "auto" works on standardised columns. With several targets, each has
  its own automatic penalty, so that several targets give the same as one at a time.
- **Discriminants** are taken about the overall mean. Shrinkage is towards the diagonal of the covariance, not towards a
  multiple of the identity: the units of the columns must not matter. Their certificates have no gap, as the estimate is
  in closed form; its rounding shows in `digits`.

Limits
------
- Streamed sums cannot be refined: `partial_fit`, `merge` and `forget` give the digits of the Gram matrix. Likewise a
  source that can be read only once falls back to the sums alone; the certificate says "on sums" and states the digits
  left.
- `aliased_` is None where wide data were solved in the dual: finding which D - rank columns depend on earlier ones
  would cost more than the fit.
- `LinearRegression` on sparse data too large for any Gram matrix (LSMR) tests whether the columns are independent, but
  not which are not: `rank_` is then an upper bound, `aliased_` None or empty, and no digits are claimed.
"""
