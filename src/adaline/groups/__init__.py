"""Many small models at once: the same regression for every group of a table.

`fit_groups` reads a table once, sorts its rows by their keys, and fits every group by a kernel (`native/groups.hpp`).

Decisions
---------
- **Rows, not sums.** A group is small enough for the cache: its columns are centred and factored by reflections (QR),
  and the solution is refined on the rows in double-double. The standard errors have the digits of the triangle, and
  what one more step would change is the certificate: a bound on the error of every coefficient.
- **Windows.** Sums in double-double of overlapping windows are updated and downdated (`native/group_windows.hpp`): in
  float64 they would lose digits with every row that goes. The bound on their drift is part of the certificate.
- **Rank.** A column is left out, as in R, if less than 2 (D + 10) eps of it remains after projecting out the columns
  before it. If more remains, but the condition exceeds 1e7 or the rounding of the numbers themselves is as large, the
  kernel decides nothing, and the system fits the group like any other table.
- **Likelihoods.** Newton's steps are taken in the orthonormal columns of that factor. The certificate is that of a
  single fit (`solvers/smooth/refine.py`): the gradient on the rows in double-double, and a ball that contains the
  maximum. If the weights of some step separate the labels, there is no maximum; if neither is proven, a single fit
  decides.
- **One law.** What is found equals `fit` and `summary` of the rows of the group; settings that the kernel does not
  know, such as `Ridge(penalty="auto")`, are fitted group by group.
"""
