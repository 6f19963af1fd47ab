"""Titles: pages of one host that have the same title.

A product in a shop, a wiki's special page or a list repeats nearly every block of other pages of its site, so only a
price or a name is left for the other checks. Its other addresses have the title in common with it. That two titles are
equal says little, so a match is no more than a candidate, and evidence decides even where the target precision is 0 and
checks decide otherwise. A title that many pages have is the site's and belongs to none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dedupcrawl.content.checks.base import Equality
from dedupcrawl.core.digests import digest_of
from dedupcrawl.core.postings import Postings
from dedupcrawl.core.symbols import SYMBOLS_VERSION, SymbolText
from dedupcrawl.core.view import TITLE
from dedupcrawl.page import Page
from dedupcrawl.sites import host_alike

MOST_PAGES = 64
"""Kept pages of one title; of more none is a candidate. Set by hand, to bound what a page costs on a
site of one title."""

_MIN_SYMBOLS = 18  # of a main text, as the exact check asks for


@dataclass(frozen=True, slots=True)
class TitleCheck(Equality):
    """Symmetric: pages of one host and title. A signature is its only key, 8 bytes, little-endian."""

    name: ClassVar[str] = "title"

    def header(self) -> Mapping[str, str | int | float]:
        return {"symbols": SYMBOLS_VERSION, "hash": "blake2b", "characters": TITLE}

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        """Half of a digest of title and host; none if there is no title or very little text."""
        title = SymbolText.of((page.title[:TITLE],)).normalized
        if not title or len(text) < _MIN_SYMBOLS:
            return None
        host = host_alike(page.url).encode("utf-8", "surrogatepass")
        return digest_of(title + b"\0" + host, text.secret)[:8]

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        """Pages of the same key, unless they are many."""
        return postings.pages_of(int.from_bytes(signature[:8], "little"), MOST_PAGES)
