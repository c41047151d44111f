"""A model in service: it predicts, keeps learning, and never loses a row that it has acknowledged.

`serve/` has two halves. Below: `rows.py` (rows of clients, converted for a model), `journal.py`, `snapshots.py`,
`learning_model.py` (a model that learns in blocks, and counts its `progressive_error.py`), `queue.py` (batches and
requests that wait for the learning thread), `learner.py` (that thread) and `replay.py`. Above: HTTP. Nothing below
imports from above. The file `application.py` is not named after the function `adaline.serve.app`, which a module of
that name would hide.

Learning
--------
- **Journal.** SQLite in WAL mode with `synchronous=FULL`: a commit is a checksummed append and one fsync, a torn end is
  dropped, and anyone can open the file. A batch is an Arrow record batch without its schema, which is kept once:
  doubles keep their bits, and a row of ten numbers takes microseconds. One thread writes; all rows that wait meanwhile
  are the next commit, and one batch where cuts change no bit. Plain rows (numbers, known levels, labels) are arrays
  until then, levels by their indices, and are coded with those of their group: a row costs 13 µs before it waits, and
  400 µs where it is made a batch of its own.
- **Rows are checked before** they are written, by the code that a replay uses: a row in the journal can be learned. If
  a model refuses a block all the same, learning ends with that error, and predictions continue.
- **Blocks.** A learner keeps the model at the last whole block, counted from a snapshot, and the rows since then.
  `current` is that model with these rows learned on top; once the block is complete, it is learned again as a whole. So
  weights, sums, tallies and history depend only on the rows and their order, not on the batches. If each group were
  learned into the model directly, scans would have the same weights, but the last bits of sums would depend on the
  grouping, and after a million groups digits would be lost. Each published model costs learning the rows of at most one
  block again; publishing takes at most a fifth of the time, or happens once a second for systems in closed form. A
  model that learns row by row learns each group before the commit, to see whether it diverges. This copy, with all
  acknowledged rows, predicts; the model of the blocks is computed for a download and at the end of a block.
- **Models are values.** `partial_fit` of a `snapshot` of a model replaces attributes and changes none, so that the
  model before it stays as it is: predictions read it without a lock, and nothing is copied beyond what `partial_fit`
  copies.
- **Snapshots** are model files of whole blocks only, written every 100,000 rows, with the number of rows in their
  names. A new version, a rollback and a promotion are snapshots too: learning continues from the last one in the folder
  that can be read.
- **Progressive errors** are those of the predictions that a client would have received: of `current`, before the rows
  are learned, by one measure for a model and its challengers, and also by the loss of the model itself. They are
  written with the next commit.

HTTP
----
- **Stack.** Starlette (routes, the life of an application) on uvicorn with uvloop and httptools: the plainest ASGI
  stack that gunicorn, proxies and tests know; FastAPI would check rows by models of pydantic, which cost more than a
  prediction. JSON is read by msgspec into rows of plain cells, so that nesting and other types end at the decoder.
  Endpoints are ASGI functions of their own (`serve/application.py`), without Starlette's requests and responses; the
  paths of models are found in a dictionary before routes are tried. Uvicorn writes the head and the body of an answer
  separately, and the system call is a quarter of a prediction: `JoinedWrites` (`serve/server.py`) sends both at once.
- **Immediate answers.** A scope, a task and the messages of ASGI take longer than the prediction of a row.
  `ServiceProtocol` (`serve/server.py`), uvicorn's own protocol with callbacks of its own in front, keeps the body of a
  request for predictions until it is whole, 20 ms and 512 KiB at most, and calls `Service.predict_at_once` for the
  bytes of the answer. Everything else (errors, intervals, bases, other options, other roles), and requests that are
  slow, long or pipelined, are passed to ASGI from the beginning, so that each error is reported in one place. For one
  row, 335 µs of processor time a request became 232; `tests/serve/test_at_once.py` holds both ways to the same bytes.
- **Plain rows** (`serve/direct.py`) are written straight into X: numbers, booleans and known levels, none missing. A
  row through a table takes 390 µs, this way 8 µs; the bits are the same, and all other rows go through a table, which
  reports errors. JSON is read into structs with the columns of the model as fields, in half the time of dicts; Arrow
  streams of one batch are read from their messages, and doubles in the order of the model become X by one copy.
- **Threads.** Requests are answered on the event loop, as a prediction takes less than handing it to another thread;
  bodies beyond 1 MiB (8 MiB of Arrow), solving and files go to threads. One task checks all connections for late
  bodies: a timer for each would cost a tenth of a request.
- **Workers** (`serve/workers.py`) share the listening socket. The process that learns writes models to a folder when
  they have changed, five times a second at most; workers load them, predict, and pass on all other requests over a
  socket of the file system. Counts of all processes are added up where metrics are requested.
- **Untrusted Arrow streams** are validated in full, and refused where the flatbuffer of a message declares compressed
  buffers: no option of pyarrow bounds their decompressed size. Metrics and OpenAPI are written by hand, a page each:
  client libraries for them bring more than they save.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
