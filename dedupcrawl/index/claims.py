"""Claims: which kept pages are not stored yet, and what was dropped because of them.

A page that an index keeps may cost others their place in the output before its own item has reached any storage. So
who keeps it claims it, and confirms it once it is stored. What is dropped because of a claimed page depends on it, and
so does the page itself where nobody else will ask for it again. When the claimant dies first, its claims die with it:
the pages are forgotten, and what depended on them is orphaned, to be fetched again. A crash may cost a duplicate, never
a page.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Protocol

from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.notes import Cell, Notes, orphan_cell, parts
from dedupcrawl.index.packing import Raw
from dedupcrawl.index.record import digest, pack_dependent, plain, unpack_dependent
from dedupcrawl.index.rows import Dependent

OWNER_BYTES = 16


class Claimant(Protocol):
    """This process, as far as it claims pages.

    Attributes:
        owner: Its name, in `OWNER_BYTES`; empty while it claims nothing.
    """

    owner: bytes


class Ledger(Notes):
    """The part of the contract Index that is about claims, as far as no page is looked for."""

    claims: Claimant

    def confirm(self, urls: Iterable[str]) -> None:
        for some in parts(map(plain, list(urls))) if self.claims.owner else ():
            claims = [claim_cell(url, self.claims.owner) for url in some]
            while there := self._confirm(claims):
                claims = [claim for claim, value in zip(claims, there, strict=True) if claim.value == value]

    def _confirm(self, claims: list[Cell]) -> list[bytes | None] | None:
        """In one step with the claims: who claims a page anew may have dependents of its own at once."""
        dependents = self.groups("dependents", [claim.field for claim in claims])
        pairs = zip(claims, dependents, strict=True)
        gone = [Cell("dependents", claim.field, field) for claim, fields in pairs for field in fields]
        return self.change([*(claim._replace(value=None) for claim in claims), *gone], claims)

    def orphans(self, spider: str) -> list[Dependent]:
        found = self.rows("orphans", digest(spider))
        return [self._read(partial(unpack_dependent, key=key), raw) for key, raw in found]

    def adopt(self, orphan: Dependent, kept_under: str | None) -> None:
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
