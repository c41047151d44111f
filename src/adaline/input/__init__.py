"""Input: what `fit` accepts, made into a source of rows: arrays, frames, tables, labels, bases, class weights.

Rows are opened in `input/open.py`: `open_rows`, `open_labelled` and `open_unlabelled` return a source, through the
basis, and the record of the columns (`InputColumns`: number, names, coding, basis as learned). They change nothing:
the record is part of the state that the system then learns. Integer and boolean arrays are converted block by block;
frames are converted whole, as their columns are not one array.

The checks of parameters (`parameters.py`), the names of peers (`peers.py`) and the decorator that explains them
(`construction.py`) lie below this package: bases, losses and scans check their arguments by the same table.

Threads and forks
-----------------
One thread at a time learns into a model. `fit`, `partial_fit`, `merge` and `forget` hold the lock of the model and work
on a draft, a new object with its parameters and state; at the end the model takes over the state of the draft by one
assignment, or, after an error, not at all (`input/drafts.py`). Methods that read take the state once and no lock, so
that they see the model before or after, whole, and do not wait. `learn_one` of the online systems changes the scan
in place by one call that no other thread can interleave; a scan from which `partial_fit` continues takes no more rows,
so that a late row waits for the lock. Readers copy its weights at once. Pickling or saving an online system or a
filter, and `predict_one` of a filter, wait for the lock. Locks lie beside the models (`locks.py`) and are never copied
or stored; a forked child finds them free. Not promised: free-threaded Python, setting parameters while another thread
learns, open tables in a forked child.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
