"""Fused passes over rows on a CUDA device, in Triton: a sum in one read of the rows.

    objective   value, gradient and second derivatives of machines under any native loss
    moments     products of rows and targets, of all rows or of chosen ones, such as those of a class
    spread      first and second moments of the columns about a row, and their largest numbers
    clusters    a step of k-means
    mixture     a step of a Gaussian mixture
    residual    X'(t - X w) and the squared error in double-double

**Choice.** `adaline.kernels.fused_kernels` of the rows decides, where native kernels are chosen too: it returns this
package for rows on a CUDA device, and None without Triton. It alone imports this package, which imports torch and
Triton. A function that returns None has no kernel for such rows, such as second derivatives of more than 255 columns;
the sum then takes products with X, without a copy of float64 rows.

**Numbers** are those of the references in `adaline.sums`, which the tests hold every kernel against, on a device or in
Triton's interpreter. Rows may be float32; sums and products are float64. Programs add up tiles in their order, and the
partial sums of programs are added in theirs, without atomics: two runs give the same bits. A scalar given to a kernel
would become float32, so that numbers come in a tensor.

**Products** of a tile of rows with a few columns of weights are matrix products (`tl.dot`), which use the tensor cores
in float64 and round as usual; the weights are padded to 8 columns, and the constant 1 is one more column of the tile.
Rows of one machine are packed, so that few columns of a product are padding: with 20 columns, six rows share a row of a
tile of 128; with 50 columns, two do (in float32 five, in a tile of 256). If all means are within 8 spreads of zero
(`near`), the view is applied to the weights and x itself is multiplied: at most one digit of a sum is lost, and
10^7 x 50 take 1.7 ms instead of 2.3. Multiplying two halves of the columns separately saves a quarter of the work of
wide moments.

**Rows in registers** need no tensor cores. They serve an even number of columns, 20 to 64, under the logistic loss.
Each number is multiplied twice in the thread that read it, mostly at 3.1 to 4.4 TB/s; with 64 columns this is the rate
of a plain sum, in float64 and in float32. With 50 columns of float32 (2.4 TB/s) a thread reads two numbers at once, 32
threads share a row, and the shuffles that add up its output take as long as the read. Under most other losses Triton
repeats the loss in every thread of a row, which takes up to three times as long.

**Wide rows**, of more than 255 columns, or 127 with several outputs, are read twice: for the outputs, whose slopes are
stored, and for the gradient, a strip of columns a program. 600,000 x 784 of float32 with 10 outputs take 1.5 ms instead
of 9.8 by products with copies in float64, and of float64 2.0 ms instead of 3.3.

**Second derivatives** of less than 64 columns are summed in the same read. Of more, rows times the root of their
curvature are held, a gigabyte at a time, and multiplied by cuBLAS, whose products of large matrices are faster.

**Losses** are computed once for each row: after a product four threads have each output, and `tl.gather` hands outputs
out. ln(1 + y) of a share is a polynomial of degree 10 in (y / (2 + y))^2.

**Residuals** split each product by a fused multiply-add. The compiler may fuse nothing else (`enable_fp_fusion=False`),
because the error terms assume that all other operations are rounded one by one. Triton's interpreter has no fused
multiply-add and splits numbers into halves instead. The oracle of the tests is rational arithmetic.

Measured on one H200 (`docs/benchmarks-device.md`): the kernels of packed rows read 3.0 to 3.4 TB/s. A branch for the
second nearest centre of k-means doubled the time of its kernel, and was taken out again. Two-dimensional tiles of
outputs gave wrong sums in some shapes with Triton 3.6: outputs are reshaped to one dimension.
"""

from adaline.fused.clusters import clusters
from adaline.fused.mixture import mixture
from adaline.fused.moments import WIDEST_PRODUCT, moments
from adaline.fused.objective import objective
from adaline.fused.residual import residual
from adaline.fused.spread import spread

__all__ = ["WIDEST_PRODUCT", "clusters", "mixture", "moments", "objective", "residual", "spread"]
