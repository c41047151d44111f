"""Engines: where the parts of a table are held and summed, in other processes and on other machines.

A part (`sources/tables/parts.py`) is a list of Arrow tables that can be made again: row groups of Parquet files, a file
of text, a partition of a data frame. An engine holds parts where its workers are (`hold`), runs a work on them
(`results`; `totals` merges sums on the way, `column` keeps values of rows there) and brings tables here one part at a
time (`tables`).

- **Views travel.** A work is a source with all its views, with its table replaced by the rows of a part, and a function
  of it; so folds, bases, recodings and weights are applied where the rows are. This process pickles it and the workers
  unpickle it: a user's own function travels with it, but nothing from a model file does. What a worker sends back is
  unpickled here, so an engine must be trusted as much as this process.
- **The same bits.** A worker returns a `Forest`: nodes of the tree of sums by the index of their leaves, merged where
  both neighbours are there. The leaves are those of one process, so that the total has the bits of one process, however
  many workers there are, and whichever are lost.
- **Dask** holds parts as futures named by their content, and makes lost ones again from files or the frame; one task a
  worker and pass, forests merged on the workers. Tasks are not bound to a worker: one bound to a worker that died would
  wait forever.
- **Spark** does the scheduling: its Python workers make the tables of their parts, keep them while memory allows, and
  make missing ones again. A data frame that only reads Parquet files is opened as these files. Any other frame is
  written once, as Arrow files on the executors' disks. Using `mapInArrow` in every pass is not offered: sending the
  rows through the JVM takes longer than MLlib's fit.
- **Scans** need an order of rows, and parts have none: scans are refused, and `LMS(mixing=rounds)` fits the mean of
  scans over the parts. `Pocket`, whose weights are judged on all rows, has no such mean. Tables of up to 2^23 numbers
  are held by this process, as without a cluster.
- **Effects** are absorbed by this process, from columns that the workers read and send, up to 2^27 numbers; more are
  refused.
"""
