"""The ledger: what is skipped because something else stands for it, and what must hold for that.

A *skip* is a page that was dropped, or a kept page whose item has not reached any storage yet, which is a skip of
itself. It has a *premise*: that the page which stands for it, as it was kept at one moment, is stored. A premise is
*open* as long as the process that keeps the page has a lease on it; it *holds* once the item is stored, and *falls*
when the item is lost or the process dies. Then its skips are *due*: their spider has to fetch them again.

Invariant: every text that was skipped is stored, or its skip has an open premise, or is due, or has been fetched since,
and the result of that is stored or a newer skip. So a crash may cost a duplicate, never a page. `Ledger.broken` says
where the invariant is broken; `tests/index/test_stateful.py` tries to break it.

| table | key | |
| --- | --- | --- |
| `leases` | premise | who answers for it: a row for each open premise |
| `skips` | premise, then spider and URL | what depends on an open premise |
| `due` | spider and URL | what has to be fetched again |
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable
from typing import Protocol

import msgspec

from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.record import Entry, Premise, Raw, Skip, digest, pack_skip, plain
from dedupcrawl.index.tables import Cell

OWNER_BYTES = 16  # of a UUID (RFC 9562)
_MOMENT = struct.Struct(">d")


class Lessee(Protocol):
    """This process, as far as it answers for pages, and what it can tell of others: who lives.

    Attributes:
        owner: Its name, in `OWNER_BYTES`; empty while it answers for nothing.
    """

    owner: bytes

    def start(self) -> str:
        """Become a lessee, if this process is none yet; returns its name."""

    def dead(self, excluded: Collection[str]) -> set[str]:
        """Names of the lessees that are no more, but some."""

    def purge(self, dead: Collection[str]) -> None:
        """No lease of these is left."""

    def give_up(self, premises: Iterable[Premise]) -> None:
        """This process has no lease on these any more."""


def premise_of(entry: Entry) -> Premise:
    """That this page is stored."""
    return Premise(plain(entry.url), float(entry.kept_at))


def key_of(premise: Premise) -> bytes:
    return digest(f"{premise.kept_at.hex()} {premise.url}")


def lease_cell(premise: Premise, owner: bytes = b"") -> Cell:
    """The lease of a process on a premise; the value is left out where it is not known whose."""
    value = owner + _MOMENT.pack(premise.kept_at) + premise.url.encode() if owner else None
    return Cell("leases", b"", key_of(premise), value)


def read_lease(key: Raw, raw: Raw) -> tuple[bytes, Premise]:
    """Owner and premise of a lease.

    Raises:
        IndexDamagedError: It cannot be read, or is that on another premise: to take one for another would lose both.
    """
    owner, moment = bytes(raw[:OWNER_BYTES]), bytes(raw[OWNER_BYTES : OWNER_BYTES + _MOMENT.size])
    url = bytes(raw[OWNER_BYTES + _MOMENT.size :]).decode(errors="replace")
    premise = Premise(url, _MOMENT.unpack(moment)[0]) if len(moment) == _MOMENT.size else None
    if premise is None or key_of(premise) != key:
        raise IndexDamagedError(f"the lease on {url!r} is that on another page")
    return owner, premise


def skip_cell(premise: Premise, skip: Skip) -> Cell:
    return Cell("skips", key_of(premise), *pack_skip(msgspec.structs.replace(skip, premise=premise)))


def due_cell(skip: Skip) -> Cell:
    return Cell("due", b"", *pack_skip(msgspec.structs.replace(skip, premise=None)))
