"""`adaline serve`: models over HTTP, until the process is asked to end."""

from __future__ import annotations

from pathlib import Path

from adaline import storage
from adaline.cli.exit import note
from adaline.errors import InvalidParameter
from adaline.serve.requests import Limits
from adaline.serve.security import LOOPBACK, Tokens, read_tokens
from adaline.serve.server import Address, run


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
    rivals = {path.stem: path for path in challengers}
    if len(rivals) < len(challengers):
        raise InvalidParameter("two challengers have the same name: rename one of the files")
    run(
        models,
        address,
        workers=workers,
        learn=learn,
        journal=journal,
        challengers={name: storage.load(path) for name, path in rivals.items()},
        tokens=tokens,
        limits=limits,
        local=local and not tokens,
    )
