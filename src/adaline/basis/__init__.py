"""Bases: functions phi(x) of the columns, in which every system can be linear. BASES lists them by name.

Every system takes `basis=`. Rows are transformed in one place, where they are opened or read (`input/open.py`, by
`input/basis.py`). `basis_` is a copy of the argument, fitted to the rows of positive weight, or to 2^14 of them drawn
at random if there are more; weights play no other part. `n_features_in_` and `feature_names_in_` describe X;
coefficients and their names belong to phi.

- **Block by block.** phi(x) is held as an array up to 64 MiB. Beyond that `sources/expanded.py` computes it in blocks
  of at most 2^21 numbers as they are read, for sums, scans in any order, products and dual forms; a pass then costs phi
  once more. Degree 2 of 10^6 x 20 (230 columns, 1.8 GB) is fitted by `LogisticRegression` in 135 MB beside X on two
  threads, its sample included. Streams stay streams.
- **Columns first.** Polynomials are evaluated column by column: five to ten times as fast as row by row, and the
  kernels read either layout.
- **Not finite.** A bump or a sine can map infinity to a finite number, so all columns of phi are NaN for rows that are
  not finite; messages name the row and column as given, or the column of phi that overflows.
- **Hosts.** phi is dense NumPy: sparse rows are made dense a block at a time, device arrays are brought to the host,
  and results are returned there.
- **Merging** requires the same basis that has learned the same; a basis that learns nothing from rows (plain
  polynomials, sines, functions) always fulfils that. `partial_fit` and `forget` keep the basis of the first rows and
  are exact for it. A basis learns from a sample in which rows count alike, however large their weights. `learn_one`
  cannot begin with a basis that learns from rows.
- **Filters** use the signals phi(x_n), held in memory: with taps this is a Hammerstein filter (a function, then a
  linear filter), with past samples as columns a Volterra filter. Products of taps within the delay line would need a
  source of their own.
- **Schemes** may have a basis themselves, which all machines share, or give their machines one, or both.
- **Model files** hold bases by their arguments and what they learned; `Custom` is code and refused. ONNX has no bases
  yet.
"""

from adaline.lazy import Registry, lazily

BASES = Registry(__name__, "Polynomial Spline Fourier Radial Custom Beside After")

__getattr__, __dir__, __all__ = lazily(__name__)
