"""`adaline serve`: models over HTTP, until the process is asked to end."""

from __future__ import annotations

from pathlib import Path

from adaline import storage
from adaline.cli.exit import note
from adaline.errors import InvalidParameter
from adaline.leftovers import temporary_folder
from adaline.serve.application import app
from adaline.serve.requests import Limits
from adaline.serve.security import LOOPBACK, Tokens, read_tokens
from adaline.serve.server import Address, serve
from adaline.wording import file_name


def run_serve(
    models: list[Path],
    address: Address,
    learn: bool,
    journal: Path | None,
    token_file: Path | None,
    challengers: list[Path],
    limits: Limits,
    workers: int,
) -> None:
    """Serve models until the process is interrupted or terminated; rows that wait are learned before it ends."""
    tokens = Tokens() if token_file is None else read_tokens(token_file)
    local = address.host in LOOPBACK
    if not tokens and not local:
        note(f"everyone who reaches {address.host} may use and replace the models: give tokens by --token-file")
    named = {path.stem: path for path in challengers}
    if len(named) < len(challengers):
        raise InvalidParameter("two challengers have the same name: rename one of the files")
    rivals = {name: storage.load(path) for name, path in named.items()}
    listening = address.bound()
    try:
        with temporary_folder() as folder:
            service = app(
                models,
                learn=learn,
                journal=journal,
                challengers=rivals,
                tokens=tokens,
                limits=limits,
                local=local and not tokens,
                publish=Path(folder) if workers > 1 else None,
            )
            for one in service.state.service.models.values():
                if one.origin is not None:
                    note(file_name(one.origin))
            names = ", ".join(service.state.service.models)
            line = f"serving {names} on {address.url(listening.getsockname()[1])}"
            if workers > 1:
                from adaline.serve.workers import run_workers

                run_workers(service, Path(folder), listening, address, workers, line)
            else:
                serve(service, [listening], address, line)
    finally:
        listening.close()
