"""Smooth objectives: Newton, L-BFGS, truncated and proximal Newton, and the gaps they prove.

A problem (`solvers/smooth/problem.py`) is a loss over a source with a penalty; solvers ask it for value, gradient,
matrix, products, diagonal. It works in a view of the columns, x scale + offset, with powers of two as scales and means
as offsets (none for sparse rows, except for wide ones with columns far from zero): no copy, no dependence on units, and
the gradient keeps its digits where means are 1e9.

Which solver
------------
`minimise_smooth` in `solvers/smooth/choose.py` chooses.

- **Few rows**: damped Newton.
- **Many rows**: Newton on a sample of 24 rows a coefficient, then on one six times as large. If the matrix of all rows
  costs little, Newton follows; else L-BFGS on all rows in the metric of the sample's matrix, 2 to 4 passes. The matrix
  of all rows is computed in the pass that gets near enough, for the proof, the standard errors and one last step.
- **Many coefficients**: L-BFGS in the metric of each machine's own matrix, or in that of the diagonal (wide and sparse;
  columns far from zero are centred by an offset, which keeps zeros), recomputed from time to time; where that gains
  little, truncated Newton.
- **One machine of sparse rows of 2^14 columns or more**: truncated Newton in a metric of two levels
  (`solvers/smooth/two_level.py`): a matrix of the 512 columns of largest curvature and of 128 combinations of the
  others, and the diagonal. It takes 29 passes instead of 64 over a click log of 1e5 rows.

The matrix of a machine is summed over about 12 rows a column, drawn with probabilities in proportion to their
curvature: near the minimum most rows have hardly any. With coupled machines steps sum to zero over the machines:
otherwise the metric slows a direction that only the penalty curves. Where groups of classes are rarely confused with
each other, all machines of a group can change together at little cost, which no machine's own matrix shows: contrasts
of machines with much less curvature have matrices of their own in the metric (`low_contrasts`). All are recomputed
twice after 10 steps, then every 40. MNIST takes 32 passes, Fashion-MNIST 37. A sample is one row of each of as many
stretches of equal length.

A sample can mislead if some rows lie far from those drawn and the curvature of the loss is unbounded (counts: e^z). If
the loss of those rows rises by more than that of the others falls, Newton starts from constants instead.

Passes
------
Methods that read rows are verbs, and `Source.readers` counts: `certificate_.passes` is the number of times the rows
were read. Labels, class weights, targets, spread and sample of a stream come from one first pass, a product of sums
(`JointSum`): a streamed two-class fit takes at most 6 reads, weighted or not.

Certificates
------------
`solvers/smooth/refine.py` has the derivation. Up to 2^14 numbers (rows x coefficients), and up to 2^21 where float64
alone proves fewer than 7 digits, weights hi + lo are refined on the raw rows: outputs, slopes and gradient in
double-double (`twofold.py`; every family and link has its slope so, `slope_twofold`), Newton steps through the triangle
of the rows times roots of their curvature. The remaining error of a step is bounded by the rounding of the gradient,
that of the triangle, and the change of the second derivatives in a ball that contains the minimum (by concordance, else
from the curvature at the ends of each row's interval). The weights returned are hi, and lo is known, so that `digits`
and `gap` are about the float64 numbers that a user sees. A fit whose steps stalled above `tol` (offsets of 1e12) is
"solved" if this proves a minimum. A read in NumPy takes about 2 ms for 100 x 5 and 35 ms for 6,000 x 20.

Larger fits claim what float64 proves without another read (`bounded`): the rounding of sums from the sizes of their
terms, and of outputs from those of the terms w_j x_j. Where neither proves anything, digits are unknown and the gap is
infinite. `python -m tests.certificates` checks claims against 65-digit arithmetic.

Stopping
--------
Fits stop by self-concordance with the matrix of all rows: the length of a row in its metric is bounded by the largest
magnitudes of the columns. Where a matrix is rounding along a direction, its curvature there is that of the penalty; an
unpenalised objective that decreases along it has no gap. Where no matrix is formed but every coefficient has a penalty,
and for l1, the gap comes from a dual point: tangent planes, combined so that they are level in the intercepts
(`Planes`). Planes at other intercepts differ from the last one in the rows of a sample alone, so that no other row is
read for them. Strong convexity only decides when to stop. `tol` bounds the gap relative to the objective of the best
constants.

Rank and nearly dependent columns
---------------------------------
- The rank of a likelihood is that of its rows as a design for least squares: where the curvature vanishes along a
  direction, and where there are as many columns as rows, the least-squares solver decides rank and status. Rows of
  weight zero do not count.
- A column whose spread is within four roundings of its mean is constant: 0.1 + 0.2 in some rows and 0.3 in others would
  otherwise be an ordinary column once it is centred and scaled.
- Nearly dependent columns are replaced by their residuals on the others, in double-double
  (`solvers/smooth/near_columns.py`); coefficients and covariances are mapped back.

Softmax, nets and few rows
--------------------------
- **Softmax** machines sum to zero over the classes: steps stay in that space, and what is added to the matrix keeps it
  regular outside it. Covariances are held by a root in raw units; tables show differences from a reference class.
- **Ordered classes** are a problem of their own (`solvers/smooth/ordinal.py`) under the same driver, thresholds and
  slopes together.
- **Few rows** (`solvers/smooth/stacked.py`): where the overhead of calls exceeds that of sums, the machines of all
  folds, and in a comparison those of the folds within each fold, take Newton steps together, in a few NumPy calls: nets
  and `penalty="auto"` of 150 rows of three classes take 0.7 s of processor time for all folds, 4 s one by one. Machines
  are not scored on classes they have not seen, which would cost without bound whatever the penalty. Only the net of all
  rows has proven gaps along its path; those without a fold have NaN, and a certificate at the end.
"""
