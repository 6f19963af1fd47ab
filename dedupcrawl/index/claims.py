"""Claims: how an index remembers which process answers for a page until it is stored, and what depends on that."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.record import Dependent, Raw, digest, pack_dependent
from dedupcrawl.index.tables import Cell

OWNER_BYTES = 16


class Claimant(Protocol):
    """This process, as far as it claims pages, and what it can tell of others: who lives.

    Attributes:
        owner: Its name, in `OWNER_BYTES`; empty while it claims nothing.
    """

    owner: bytes

    def start(self) -> str:
        """Become a claimant, if this process is none yet; returns its name."""

    def dead(self, excluded: Collection[str]) -> set[str]:
        """Names of the claimants that are no more, but some."""

    def bury(self, dead: Collection[str]) -> None:
        """No claim of these is left."""

    def give_up(self, urls: Iterable[str]) -> None:
        """There is no claim of this process on these pages any more."""


def claim_cell(url: str, owner: bytes = b"") -> Cell:
    """The claim of a process on a page; the value is left out where it is not known whose."""
    return Cell("claims", b"", digest(url), owner + url.encode() if owner else None)


def dependent_cell(keeper: str, dependent: Dependent) -> Cell:
    """`dependent` is dropped because of the page under `keeper`, which is claimed, or is that page."""
    return Cell("dependents", digest(keeper), *pack_dependent(dependent))


def read_claim(key: Raw, raw: Raw) -> tuple[bytes, str]:
    """Owner and URL of a claim.

    Raises:
        IndexDamagedError: It cannot be read, or is that of another page: to take one for another would lose both.
    """
    owner, url = bytes(raw[:OWNER_BYTES]), bytes(raw[OWNER_BYTES:]).decode(errors="replace")
    if digest(url) != key:
        raise IndexDamagedError(f"the claim of {url!r} is that of another page")
    return owner, url
