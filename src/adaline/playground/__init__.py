"""The playground: the lectures' systems learn on a page in the browser. Nothing else imports this package.

The page draws, the server computes: JavaScript has no rule of a learner, and a number on the page is one of the
package. Messages over a WebSocket (`messages.py`) are answered by one session a page (`session.py`), which fits the
systems of the registry step by step (`traces.py`) and makes what is drawn of them (`pictures.py`, `instruments.py`).
Guided scenes and all texts are data, in `page/`.

- A **trace** is a system at the moments of its learning. Scans in order are run by `partial_fit` in chunks, which
  changes no bit, with a snapshot of the model at each moment; systems with epochs or iterations are fitted with so many
  of them, again from the start, as seeds make that the same each time; logistic regression gives the iterates of
  `newton`. The last moment is the fitted system, so that certificates and programs are its own. While a point is
  dragged only the end is computed, and its drawing comes in the same answer.
- **Messages** are typed records. A page requests its next frame when it has drawn the last one, so that it skips frames
  where it is slow, and no queue of frames builds up on either side. Of the fits waiting in a slot the newest is
  computed.
- **Classes** are an index on the board and a name in what systems learn, the page's own or that of a table, so that
  messages of a system name them as the page does. Texts cost about 1 ms a frame of the server's time.
- **Frames** touch only what has changed: nodes are used again, a list of points is never changed in place, and
  unchanged drawings are left. The place of a point is in its path, as a transform makes the browser paint each point
  separately; residuals are paths of a strip each, as one path of all is drawn whole in every tile; beyond 250 points of
  a regression have no rims. With 500 points the page's main thread takes 4 to 8 ms a picture; rendered in software on
  two cores, beside the server, there are 37 to 60 pictures a second.
- **Forms** come from the checks of the parameters (`parameters.py`), so that a new system has one the day it is
  registered.
- **Scenes** are data, and all words are in `page/texts.json`: a translation is one file. Tests run every step, answer
  every question and do every task.
- Plain ES modules, SVG and a canvas: no build step and nothing to fetch. Starlette and uvicorn, as they have WebSockets
  and are small; `websockets` is uvicorn's protocol. A policy in the page's headers lets it load nothing from elsewhere.
"""
