"""What runs on the Redis server: each of these Lua scripts is one atomic step on the keys of one index.

The journal is a hash of rows numbered from 0, which are never removed, so its length is the next number. A client that
says how many rows it *knows* gets those it does not know with the answer, and how many verdicts were withdrawn. The
window holds the tokens (see `index.redis_replica`) of the newest rows: by them a script sees whether any row that the
client does not know could change what the client has found out.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

WINDOW = 256
"""Rows whose tokens are kept; a client that knows fewer of the rows is first told what it missed."""

_BYTES_AT_ONCE = 4_000_000  # of rows in one answer, about

# An orphan that is taken has before it a mark, the name of its taker in hexadecimal, and that of the take.
TAKEN = b"+"
TAKE_BYTES = 8
TAKEN_BYTES = len(TAKEN) + 32 + TAKE_BYTES

_CONSTANTS = f"""\
local WINDOW, BYTES_AT_ONCE = {WINDOW}, {_BYTES_AT_ONCE}
local TAKEN, TAKEN_BYTES = '{TAKEN.decode()}', {TAKEN_BYTES}
"""


class Script(NamedTuple):
    """A Lua script: the server compiles its source once, and it is called by its SHA-1 from then on."""

    source: str
    sha: str


def lua(folder: Path, *names: str) -> str:
    """The text of Lua files of a folder, one behind the other."""
    return "".join((folder / f"{name}.lua").read_text(encoding="utf-8") for name in names)


def _script(*names: str) -> Script:
    source = _CONSTANTS + lua(Path(__file__).parent / "lua", *names)
    return Script(source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())


GREET = _script("greet")
READ, OFFER, FORGET = (_script("journal", name) for name in ("read", "offer", "forget"))
RESTORE, TAKE, CHANGE, GROUPS, CLEAR = map(_script, ("restore", "take", "change", "groups", "clear"))
