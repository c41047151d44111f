"""Sources: where rows come from, cut into blocks of a fixed size that run in threads.

A source is a frozen value of four things. Its class says where **rows** lie and how they are read. Its **columns**
(`sources/columns.py`) say what those of X mean: their names, and their coding of a table. Its **targets** and weights
are one value (`sources/targets.py`): in memory, or what is known of those that are read with the rows. Its **runner**
(`sources/runners.py`) computes sums of the rows and functions of their blocks: in the threads of
this process (`sources/threads.py`; no other module starts threads for arithmetic), on a device, or on the engine that
holds the parts of a table. Nothing is set on a source after its construction: one with another part is a copy by
`replaced`, or a view (`sources/views.py`), which reads the rows of another source with other targets, weights or
columns, without a copy. Samples and folds are functions beside the sources (`sources/sample.py`, `sources/views.py`).
A `Block` carries column scales that a sparse source knows (`exponent`) and rows of one class, read by index (`chosen`).
Solvers that need products with X ask for `Source.matrix()` (`sources/matrix.py`).

- **Why a source is not one record of four parts.** Rows in memory and rows of a stream differ in how they are cut into
  blocks, scanned and sampled, and a view of either must do that as its base does. So the class is the rows, and the
  other parts are its fields; a record around it would hand on each of its methods.
- **What reads find** is remembered beside a source and not on it: counts of reads and of rows are those of all sources
  of the same rows (`reads`, `TableRows`), the coding of a table is learned once (`TableSource.learned`), and its labels
  are kept with the rows that are coded by them (`TargetLabels`). `tests/test_house.py` reads the methods of every
  source for assignments.

- **Held rows.** `open_classes` reads sparse rows of 2^14 columns or more once and holds them (`sources/held.py`) where
  they take no more than 1 GiB: entries of 1 or -1 as a signed column alone (`UnitsApart`, 4 bytes instead of 12), in
  lots that share one sum, and columns numbered by their counts, so that the most frequent ones lie side by side in the
  cache. `LogisticRegression` under a ridge penalty uses them, and works in the columns that have entries,
  `ClassifiedRows.columns`, up to the fitted coefficients: a penalty holds those of all others at zero. Vectors of ten
  million columns would take more memory than the rows.
- **Effects of levels** that a table absorbs are read here (`sources/tables/effects.py`) and projected out by
  `solvers/absorb`.

Arrays on a device
------------------
Arrays of other namespaces run on the references of the kernels, which are written in the array API. On a CUDA device
with Triton the kernels of `fused` take their place. Elsewhere X'X is computed without shift or scale, in batches of
4096 rows or more, where 32 pilot rows show that every column lies within 4 spreads of zero; otherwise pieces of X are
shifted and scaled, as everywhere. Blocks are large, and run one after the other.

- **What stays on a device.** Rows, targets, weights, class indices, samples, residuals of a robust fit and outputs;
  sums come to the host, where the small problems are solved. Matrices of a metric go back to the device to be factored,
  and gradients with them. Targets and weights follow the rows, to the device or to the host.
- **Packages.** cupy and jax arrays on a CUDA device are read as torch tensors of the same memory (DLPack), so that the
  three give the same bits. A tensor that requires gradients is read without its history; float16 and bfloat16 are
  copied to float32, which holds them exactly; integers to float64. An error of the device, out of memory among them, is
  that of its package, and the model is then as it was before.
- **Rows on the host, sums on a device.** `open_table(data, device="cuda")` keeps rows on the host. `SentToDevice`
  sends each dense block to the device for sums that have a kernel there (`Sum.has_device_kernel`), through one of two
  buffers: while one is summed the next is copied on a stream of its own. Pages of an array are locked block by block
  (20 to 50 GB/s; a machine that locks memory at less than 10 GB/s copies through buffers instead), and then copied at
  90 % of the rate of the bus. Samples, labels and predictions stay on the host.

Limits
------
- Without torch and Triton device arrays run on the references. torch (CPU and CUDA), cupy and jax (CUDA) and
  array-api-strict have been run; MPS has not, but a device of array-api-strict without float64 has: rows are fitted on
  the host there, and values come back in float32. Predictions, posteriors and labels that are numbers come back where
  the rows lie; those of `ElasticNet`, `OrdinalRegression`, online learners and schemes are computed on the host.
- A table that is sent to a device is read and coded by the host, at the host's speed; sparse rows are summed on the
  host.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
