"""Sums: statistics of rows that merge, computed block by block in threads, out of core or on a device.

`sums/__init__.pyi` says in which module each of them is; the module says where its kernel is.

| sum | what it holds | cost a row | used for |
|---|---|---|---|
| `Moments` | weight, mean (hi + lo), centred scaled Gram matrix of [x t], rounding error | D²/2 | all closed forms |
| `ClassMoments` | one `Moments` a class | D²/2 | classifiers |
| `Triangle` | R of a QR decomposition of [1 x t] | 2 D² | ill-conditioned data |
| `Mapped` | `Moments` of rows (x - m) Q, which Q makes nearly orthonormal | 3/2 D² | enclosures |
| `BoundedScore` | gradient of a likelihood in double-double, its rounding proved | 100 D, D² | enclosures |
| `BoundedSoftmax` | the same of softmax, and its second derivatives | 100 K D, K² D² | enclosures |
| `Residual` | X'(t - Xw) and SSE in double-double | about 24 D | refinement |
| `LeaveOneOut` | exact leave-one-out errors of L ridge penalties | D² + L D | `Ridge(criterion="loo")` |
| `Scores` | squared scores r z of rows, z the row where X'X is the identity | 3/2 D² | HC0 to HC3 |
| `GroupScores` | scores of each group: labels and sums, merged by label | D² | clustered errors |
| `Spread` | mean, spread and largest magnitude of every column | 4 D | views of iterative solvers |
| `Objective` | value, gradient and second derivatives of K machines | 4 K D, and K D²/2 | losses |
| `TwofoldObjective` | gradient in double-double, its rounding, R of curved rows | about 100 D, and 2 D² | refinement |
| `CurvatureChange` | largest change of the second derivatives in a ball about a point | D² | certificates |
| `HessianProduct` | second derivatives times a direction | 6 K D | wide data |
| `CurvatureDiagonal` | diagonal of the second derivatives | 6 K D | wide data |
| `OrdinalObjective` | objective of thresholds and slopes together | 4 D, D²/2 + K D | ordered classes |
| `OrdinalProduct` | its second derivatives times a direction | 6 D | ordered classes |
| `ThinnedCurvature` | second derivatives of machines and contrasts, from drawn rows | 2 K D, D²/2 drawn | metrics |
| `FamilySums` | deviances, Pearson's chi-squared, log-likelihood of a family | K D | dispersion, AIC |
| `NullScore` | value, slope and information at one output for all rows | constant | null deviance with offsets |
| `Densities` | log densities of amounts at their own mean | a series or a formula | Tweedie likelihoods, precisions |
| `ShapeScore` | derivatives of the likelihood by the shape of a negative binomial | K D | the most likely shape |
| `MachineObjective` | value and gradient of a user's machine | the machine's | `CustomMachine` |
| `WrongRows` | sum of t x over misclassified rows, criterion, count | 2 K D | batch perceptrons |
| `WrongRivals` | classes above the class of their row: criterion and count | K D | `KeslerPerceptron`, mixed |
| `ErrorCounts` | errors of each of C candidates | C K D | `Pocket` |
| `ClassWeights` | weight of each class, lightest row | 1 | first pass of likelihoods of classes |
| `JointSum` | several sums in one read | theirs | first pass of streamed fits |
| `Targets` | weight, mean, least cost and largest of the targets | K | where fits of a loss start |
| `FirthScore` | gradient of Firth's penalised likelihood, leverages | D² | Firth's correction |
| `Clusters` | weight, sum and squared distances of the rows nearest to each of K centres | K D | `KMeans` |
| `MixtureMoments` | log-likelihood, moments of rows assigned to K densities | K D² (K D) | `GaussianMixture` |
| `Ranks` | weights of rows by the size of a residual | D | robust scales of streamed rows |
| `ResidualTotals` | totals of a loss of residuals, largest residual and change | D | robust fits of streamed rows |
| `FarthestRow` | the row farthest from its centre | K D | empty clusters |

Laws, tested for each: zero is neutral, merging is associative to rounding, any split into blocks gives the same answer,
integer weights equal repeated rows, native and reference agree, the reference runs on any array-API namespace.

Scale and shift
---------------
A block is shifted by the mean of 32 of its rows (`PILOT_ROWS`), spread evenly, and its columns are scaled by powers of
two from the same rows. As these rows belong to the block, the sum of squares about the worst possible shift is at most
rows/32 times that about the mean: no data can make it fail badly. Blocks are merged by Chan's formula. One shift for
all blocks would lose digits on sorted files; the exact mean of each block would need a second read of it.

Rounding errors
---------------
`Moments.noise` carries the rounding error of each column's sum of squares through centring, merging and subtracting.
Ranks are decided by it, and `forget` refuses by it. Small blocks (rows x columns^2 up to 2^13, typical of calls of
`partial_fit`) and all merges are computed in double-double, so that S is rounded once each time and `noise` is a bound.
Larger blocks typically round by 8 units; `Moments.bound` counts the additions of the largest block instead (96 rows of
a panel, then 682 panels), which is 100 times more. By Cauchy's inequality an entry S_ij is off by at most sqrt(bound_i
bound_j). Rows on a GPU are counted like those of the processor's kernels.

Threads
-------
Blocks have a fixed number of rows (about 2^20 elements), whatever the number of threads, and are merged in a fixed
binary tree by block index: the bits are the same on 1 or 16 threads.

Classes
-------
`ClassMoments` is one `Moments` a class. The within-class scatter is their sum, the total scatter their merge, and the
moments of [x t] for coded targets follow from the class means, so that one pass serves Gaussian, Fisher and
least-squares classifiers. The kernel reads the rows of a class by index, without a copy. Groups of clustered errors are
one more target column, so that no kernel has to know about groups.

Likelihoods
-----------
The matrix of second derivatives of softmax is a sum over pairs of classes, p_k p_l (1, v)(1, v)', each symmetric: half
the work of the whole matrix. As probabilities add up to one, the block of one machine is the sum over its pairs. Short
rows of many classes are summed as one panel, side by side; sparse rows with more than a fifth of their entries are
summed as dense ones.
"""

from adaline.lazy import Registry, lazily

SUMS = Registry(
    __name__,
    "Moments ClassMoments Triangle Residual LeaveOneOut Scores GroupScores WrongRows WrongRivals ErrorCounts Spread "
    "Objective HessianProduct FirthScore Clusters MixtureMoments Targets MachineObjective CurvatureDiagonal "
    "ThinnedCurvature ClassWeights JointSum FamilySums NullScore Densities ShapeScore OrdinalObjective OrdinalProduct "
    "Ranks ResidualTotals FarthestRow TwofoldObjective CurvatureChange Mapped "
    "BoundedScore BoundedSoftmax",
)

__getattr__, __dir__, __all__ = lazily(__name__)
