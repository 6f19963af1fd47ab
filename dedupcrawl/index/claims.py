"""Claims: which kept pages are not stored yet, and what was dropped because of them.

A page that an index keeps may cost others their place in the output before its own item has reached any storage. So
who keeps it claims it, and confirms it once it is stored. What is dropped because of a claimed page depends on it, and
so does the page itself where nobody else will ask for it again. When the claimant dies first, its claims die with it:
the pages are forgotten, and what depended on them is orphaned, to be fetched again. A crash may cost a duplicate, never
a page.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import Protocol

from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.notes import orphan_cell
from dedupcrawl.index.pages import PageStore
from dedupcrawl.index.record import Raw, digest, pack_dependent, plain, unpack_dependent
from dedupcrawl.index.rows import Dependent
from dedupcrawl.index.search import Ending
from dedupcrawl.index.tables import Cell, in_turn, parts

OWNER_BYTES = 16


class Claimant(Protocol):
    """This process, as far as it claims pages, and what it can tell of others: who lives.

    Attributes:
        owner: Its name, in `OWNER_BYTES`; empty while it claims nothing.
    """

    owner: bytes

    def start(self) -> str:
        """Become a claimant, if this process is none yet; returns its name."""

    def dead(self, excluded: Collection[str]) -> list[tuple[str, bytes]]:
        """The URLs that are claimed by processes that are no more, but some, and by whom."""

    def bury(self, excluded: Collection[str]) -> None:
        """No claim of these processes is left."""

    def give_up(self, urls: Iterable[str]) -> None:
        """There is no claim of this process on these pages any more."""


class ClaimLedger(PageStore):
    """Pages that a process keeps and has not stored yet, and what was dropped because of them."""

    claims: Claimant

    @in_turn
    def start_claiming(self) -> str:
        """From now on this process claims what it keeps, until it confirms it; returns its name as a claimant."""
        return self.claims.start()

    def confirm(self, urls: Iterable[str]) -> None:
        """The pages kept under these URLs are stored: they may justify drops forever."""
        stored = list(map(plain, urls))
        for some in parts(iter(stored)) if self.claims.owner else ():
            claims = [claim_cell(url, self.claims.owner) for url in some]
            while there := self._confirm(claims):
                claims = [claim for claim, value in zip(claims, there, strict=True) if claim.value == value]
        with self.lock:
            self.claims.give_up(stored)

    def _confirm(self, claims: list[Cell]) -> list[bytes | None] | None:
        """In one step with the claims: who claims a page anew may have dependents of its own at once."""
        dependents = self.groups("dependents", [claim.field for claim in claims])
        pairs = zip(claims, dependents, strict=True)
        gone = [Cell("dependents", claim.field, field) for claim, fields in pairs for field in fields]
        return self.change([*(claim._replace(value=None) for claim in claims), *gone], claims)

    def abandon(self, urls: Iterable[str]) -> list[Dependent]:
        """The pages kept under these URLs will never be stored: forget them, and orphan what depends on them.

        Returns what was orphaned.
        """
        orphaned: list[Dependent] = []
        abandoned = list(map(plain, urls))
        self._end_all([Ending(url, owner=b"") for url in abandoned], [], orphaned)
        with self.lock:
            self.claims.give_up(abandoned)
        return orphaned

    def depend(self, keeper: str, dependent: Dependent) -> bool:
        """`dependent` is dropped because of the page kept under `keeper`; remembered while that is claimed.

        Returns False when no such page is kept any more, so that this is no reason to drop anything.
        """
        return self.depend_all([(keeper, dependent)])[0]

    @abstractmethod
    def depend_all(self, drops: Sequence[tuple[str, Dependent]]) -> list[bool]:
        """As `depend` of each, in an index on a server with one round trip."""

    @in_turn
    def reap_expired(self, excluded: Collection[str] = ()) -> int:
        """Forget the pages that processes claim which are no more, and orphan what was dropped because of them.

        Claimants that are `excluded`, by name, are not looked at yet. Returns how many pages were forgotten.
        """
        self._look()
        ended = [self._end(Ending(url, owner=owner))[0] for url, owner in self.claims.dead(excluded)]
        self.claims.bury(excluded)
        return sum(ended)

    def orphans(self, spider: str) -> list[Dependent]:
        """What is to be fetched again by this spider, because what it was dropped for was never stored."""
        found = self.rows("orphans", digest(spider))
        return [self._read(partial(unpack_dependent, key=key), raw) for key, raw in found]

    @abstractmethod
    def take(self, orphans: Iterable[Dependent]) -> list[Dependent]:
        """Of these orphans those that this process is to ask for; who shares the index with others may get them all.

        They stay orphans until they are adopted. In an index of several machines each is given to one claimant, and
        once; when that ends and it still is one, to another.
        """

    def adopt(self, orphan: Dependent, kept_under: str | None) -> None:
        """An orphan was fetched again and judged; it is one again if the claim dies under which it was kept."""
        gone = orphan_cell(orphan)._replace(value=None)
        if kept_under is not None:
            claim = claim_cell(plain(kept_under))
            (claimed,) = self.values(claim.table, [claim.field])
            while claimed is not None:
                cells = [gone, dependent_cell(plain(kept_under), orphan)]
                there = self.change(cells, [claim._replace(value=claimed)])
                if there is None:
                    return
                (claimed,) = there
        self.change([gone])


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
