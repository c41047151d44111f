"""Tables as sources: files, queries, databases and frames, read by DuckDB and Arrow.

A relation (`sources/tables/relation.py`) is a table that DuckDB can read again and again; a coding (`coding/`) is the
recipe from its raw columns to those of X; a coded table (`coded_table.py`) says which rows and columns are read and how
they become X, targets and weights; a table source (`source.py`) yields them as blocks, from memory where they are few,
and `target_labels.py` finds the labels of its target.
A table is opened (`open_files.py`, `open_text.py`) as a frozen value, `Opened`, with its connection (`database.py`) and
its text files (`text_files.py`); the same table with fewer rows, or columns read in another way, is a function of a
relation (`altered.py`).
Table options are the fields of `TableSpec`, the arguments of `open_table` and `table_options` of the command line; a
test holds the three equal.

- **Passes.** Tables of up to 2^23 numbers are held in memory after the first read. Larger ones are read again for each
  pass, so that a fit takes its answer from the sums where these promise 6 digits instead of 7.5: refinement would
  double the time. One scan for levels and means is made only where there are categories or values to fill. A look at
  the first rows, for labels or a first row, begins a read that the next one continues; labels are looked for in the
  whole table only when one appears that its first rows lack.
- **One read.** An epoch of a scan takes the blocks of a source in order, once. Meanwhile other threads read, decode and
  code the next ones, and so does the thread of the scan where it would wait (`done_ahead`). So an online fit of a table
  of numbers and hashed columns reads its file once.
- **Learning a coding** takes two steps: `Design` from the options and the kinds of columns, then
  `design.coding(summary)`, by the learner that frames in memory have too (`coding/learn.py`). `TableSummary` is a sum
  over Arrow tables of whole numbers (counts, and exact sums in units of 2^-1074), so that it merges in any order with
  the same bits. Where the rows lie, `ReduceRows` runs it. First rows are inspected by SQL. Levels are counted in
  `coding/levels.py`: texts by a hash table over Arrow's buffers (`native/texts.cpp`), numbers by sorting. A merge
  puts counts side by side; equal levels are joined when these take 64 MB, or three times what they took when last
  joined, and at the end.
- **Parquet** is described and decoded by Arrow, without DuckDB unless there is a query, a row group a thread, from a
  map of the file that lasts as long as its row group: half the processor time of a stream of batches from DuckDB, and
  resident memory does not grow. Everything else is a stream of batches by DuckDB, cut to blocks of a fixed size so that
  threads change no bit.
- **Columns.** Blocks of a table are lists of columns (`block.Columns`); the kernels read them in place. Only sums that
  declare it (`reads_columns`) see them, all others get a matrix.
- **Queries.** A connection is confined before a query runs: the files given are allowed, everything else outside is
  off, extensions are neither installed nor loaded, settings are locked. A query is one SELECT by DuckDB's own parser;
  files that it names as tables are found in its parse tree.
- **Sparse files** (LIBSVM, VW) are sources of their own (`sources/tables/sparse_files.py`).
- **Interrupts.** A fit that is interrupted leaves the model as it was; a file that changed since it was opened is
  refused.

Limits
------
- A text file is read by DuckDB's parser; dates, thousands separators and decimal commas are not guessed. SQLite files
  are copied into a temporary DuckDB file first. A file that is cut short while it is mapped ends the process, as with
  any map.
- In text files beyond 64 MiB, words for missing values other than NA, NULL and nothing are known only if the first MiB
  holds them; later ones stop the reading with their line.
- In a program or a notebook, a query that takes long before its first row (a sort, a join) does not answer Ctrl-C until
  then.
- Labels and weights of LIBSVM and VW files stay in memory, 8 bytes a row each; a line has at most 64 MiB, an index at
  most 2^28.
"""
