"""Starting the playground: from the command line until it is interrupted, from a notebook beside it."""

from __future__ import annotations

import socket
import sys
import threading
import time
import webbrowser
from importlib.util import find_spec
from typing import Any

from adaline.errors import AdalineError, InvalidParameter
from adaline.playground.messages import LONGEST_MESSAGE

HOST = "127.0.0.1"
NEEDED = ("starlette", "uvicorn", "websockets")


class Playground:
    """A playground that runs in a thread of this process; a notebook shows it in a frame.

    Parameters
    ----------
    url : where its page is.
    """

    def __init__(self, url: str, server: Any, thread: threading.Thread) -> None:
        self.url, self._server, self._thread = url, server, thread

    def close(self) -> None:
        """Stop the server."""
        self._server.should_exit = True
        self._thread.join(timeout=5)

    def __repr__(self) -> str:
        return f"Playground({self.url!r})"

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{self.url}" width="100%" height="760" style="border:0" title="adaline playground"></iframe>'
        )


def play(data: Any = None, target: str | None = None, *, port: int = 0, scene: str | None = None) -> Playground:
    """Open the playground, where you watch the systems learn, beside a notebook or a program.

    It runs in a thread on this machine alone, and needs `adaline-learn[play]`. A notebook shows it in a frame;
    elsewhere open its `url` in a browser. `adaline play` does the same from the command line.

    Parameters
    ----------
    data, target : a table, as `open_table` takes it, and its target: the board has its two most telling columns, or the
        two directions that tell most. None: the board is empty, and has the guided scenes.
    port : where to listen; 0 picks a free port.
    scene : id of the guided scene to open.

    Examples
    --------
    >>> import adaline
    >>> playground = adaline.play()
    >>> playground.url.startswith("http://127.0.0.1:")
    True
    >>> playground.close()
    """
    listening, server = _prepare(data, target, port, scene)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True, name="adaline-play")
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    return Playground(_url(listening, scene), server, thread)


def run_until_interrupted(
    data: Any = None, target: str | None = None, port: int = 0, browser: bool = True, scene: str | None = None
) -> None:
    """Serve the playground and print its address; it ends by an interrupt."""
    listening, server = _prepare(data, target, port, scene)
    url = _url(listening, scene)
    print(url, flush=True)
    if browser:
        threading.Timer(0.5, webbrowser.open, (url,)).start()
        print("The playground is open in the browser; Ctrl-C ends it.", file=sys.stderr)
    server.run(sockets=[listening])


def _prepare(data: Any, target: str | None, port: int, scene: str | None) -> tuple[socket.socket, Any]:
    """Return the socket that is listened on, and the server."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise AdalineError(f"the playground needs {', '.join(missing)}: pip install 'adaline-learn[play]'")
    import uvicorn

    from adaline.playground.scenes import scenes
    from adaline.playground.server import application

    known = [one["id"] for one in scenes()]
    if scene is not None and scene not in known:
        raise InvalidParameter(f"there is no scene {scene!r}: {', '.join(known)}")
    board = None if data is None else _board(data, target)
    listening = _listen(port)
    config = uvicorn.Config(
        application(board),
        log_level="error",
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=LONGEST_MESSAGE,
        timeout_graceful_shutdown=1,
    )
    return listening, uvicorn.Server(config)


def _board(data: Any, target: str | None) -> dict[str, Any]:
    """Return the board of a table; what reads tables is imported for it alone."""
    from adaline.playground.table import board_of_table

    return board_of_table(data, target)


def _listen(port: int) -> socket.socket:
    if not 0 <= port < 2**16:
        raise InvalidParameter(f"port must be a whole number from 0 to 65535, got {port}")
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        raise AdalineError(f"port {port} cannot be listened on: {error.strerror}; --port 0 picks a free one") from None
    listening.listen(128)
    return listening


def _url(listening: socket.socket, scene: str | None) -> str:
    return f"http://{HOST}:{listening.getsockname()[1]}/" + (f"#scene={scene}" if scene else "")
