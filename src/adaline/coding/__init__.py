"""From the columns of a table to columns of numbers: categories, dates, missing values, formulas.

A coding is the recipe from the raw columns of a table to those of X. It is kept on the model as `coding_`, so that rows
to predict, to continue with or to forget are turned into the same columns.

- **One learner.** A column is summarised by its levels and the sum of its numbers. These summaries merge, and they are
  the same for a frame in memory, a table, and the parts of a table on a cluster. `coding/learn.py` learns the coded
  column from the summary and from the `ColumnPlan` that options and types give.
- **One reader.** `Coding.code` makes X of a frame of pandas, polars or Arrow, and so of the blocks of a table, the
  batches of `adaline predict` and the rows of the service. Numbers, booleans and dates that are given as texts or
  objects are read in `coding/reading.py`, in the notation of the fit; what cannot be read is refused with its row, or
  left out where `Coding.problems` is asked for. Plain rows of the service skip the frame, to the same bits
  (`serve/direct.py`).
- **Terms.** A design is a list of terms, a term a product of factors, a factor a number, an expression or the levels of
  a category. Without a formula every column is a term. Categories lose their reference level exactly where the constant
  or an earlier term has it already (the rule of S, R and patsy), and columns are named as patsy names them.
  `feature_names_in_` and `n_features_in_` are those of the coded columns, one for each coefficient.
- **Formulas** are parsed by formulaic and evaluated here from a short list of functions: nothing in a formula, or in a
  model file that holds one, is executed. Functions that learn (`coding/learned.py`) do so once, when the table is
  opened, and are kept as tuples of numbers in the coding; beyond 2^23 values they learn by passes in bounded memory,
  quantiles exactly, by radix selection.
- **Sparse rows.** A coding is sparse where a column is hashed or words, or where it has more than 500 columns of which
  at most an eighth of the numbers differ from zero (`Coding.sparse`). Each term then gives entries (`coding/rows.py`: a
  column for a row, or several), which are joined to CSR natively; texts become codes from Arrow's buffers without an
  object for a row (`coding/texts.py`). Names of more than 2^16 columns are computed when they are used.
- **Missing values** are refused with counts by default. "mean" fills numbers by their mean and categories by the shares
  of their levels (the mean of the coded columns), "indicator" adds a column or a level for missing values. NULL and NaN
  are treated alike. An unseen level under "other" is coded by the shares too: as an average one.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
