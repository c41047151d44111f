"""Who may do what: bearer tokens of three roles, read from a file, compared in constant time, and never shown."""

from __future__ import annotations

import hmac
import os
import re
from dataclasses import dataclass, field
from functools import lru_cache

from adaline.errors import InvalidParameter, UnreadableTable
from adaline.wording import file_name

ROLES = ("read", "learn", "admin")
"""Each role may do what those before it may."""
SHORTEST_TOKEN = 16  # characters of a token; shorter ones can be guessed
LARGEST_FILE = 2**20  # bytes of a file of tokens
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
"""The names that a model may have: none leads out of a folder."""
LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")


@dataclass(frozen=True)
class Tokens:
    """The tokens of a service and the role of each; without any, everyone who reaches the service may do everything.

    Parameters
    ----------
    roles : tokens to roles: "read" (predict, look), "learn" (also learn) or "admin" (also replace models).

    Examples
    --------
    >>> from adaline.serve import Tokens
    >>> tokens = Tokens({b"correct-horse-battery": "learn"})
    >>> tokens.allow("Bearer correct-horse-battery", "read"), tokens.allow("Bearer guess", "read")
    (True, False)
    >>> tokens
    Tokens()
    """

    roles: dict[bytes, str] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        return bool(self.roles)

    def allow(self, header: str | None, role: str) -> bool:
        """Return whether a header "Authorization: Bearer TOKEN" has at least a role; every token is compared."""
        if not self.roles:
            return True
        scheme, _, given = (header or "").partition(" ")
        token = given.strip().encode("utf-8", "surrogateescape") if scheme.lower() == "bearer" else b""
        best = -1
        for known, its_role in self.roles.items():
            if hmac.compare_digest(known, token):
                best = ROLES.index(its_role)
        return best >= ROLES.index(role)


def read_tokens(path: str | os.PathLike[str]) -> Tokens:
    """Return the tokens in a file of lines "role token"; empty lines and those that begin with # are left out.

    No message quotes a line of the file, as it may hold a token.
    """
    name = file_name(path)
    try:
        with open(path, "rb") as file:
            lines = file.read(LARGEST_FILE).decode().splitlines()
            more = file.read(1)  # of a device there is no end
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise UnreadableTable(f"the tokens in {name} cannot be read: {reason}") from None
    if more:
        raise UnreadableTable(f"the tokens in {name} cannot be read: there are more than {LARGEST_FILE:,} bytes")
    roles: dict[bytes, str] = {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or words[0] not in ROLES:
            raise InvalidParameter(f"{name}, line {number}: a line is a role (read, learn, admin), a blank and a token")
        if len(words[1]) < SHORTEST_TOKEN:
            raise InvalidParameter(f"{name}, line {number}: a token needs at least {SHORTEST_TOKEN} characters")
        if words[1].encode() in roles:
            raise InvalidParameter(f"{name}, line {number}: this token is there already")
        roles[words[1].encode()] = words[0]
    if not roles:
        raise InvalidParameter(f"{name} holds no token: write lines as 'read TOKEN', 'learn TOKEN', 'admin TOKEN'")
    return Tokens(roles)


def check_model_name(name: str) -> str:
    """Return the name of a model; refuse one that is not letters, digits, `_`, `.` and `-`, at most 64 of them."""
    if not NAME.fullmatch(name):
        raise InvalidParameter(
            f"{name!r} cannot be the name of a model: use letters, digits, '_', '.' and '-', at most 64, a letter or "
            "digit first"
        )
    return name


@lru_cache(maxsize=64)
def is_local(host: str) -> bool:
    """Return whether a Host header names this machine itself, whatever the port.

    A service without tokens answers no other name: a page in a browser could reach it under a name of its own.
    """
    return re.sub(r":\d+$", "", host.lower()) in LOOPBACK
