"""Titles: pages of one host that have the same title.

A product in a shop, a wiki's special page or a list repeats nearly every block of other pages of its site, so only a
price or a name is left for the other checks. Under another URL it has the same title. Equal titles say little, so a
match is only a candidate, and evidence decides, even if the target precision is 0 and checks decide everything else. A
title that many pages have is the site's and belongs to none of them.
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
"""If more kept pages have the same title, none is a candidate. Set by hand, to bound the cost of a page on a site whose
pages all have one title."""

_MIN_SYMBOLS = 18  # of a main text, as for the exact check


@dataclass(frozen=True, slots=True)
class TitleCheck(Equality):
    """Symmetric: pages with the same host and title. A signature is its only key, 8 bytes, little-endian."""

    name: ClassVar[str] = "title"

    def header(self) -> Mapping[str, str | int | float]:
        return {"symbols": SYMBOLS_VERSION, "hash": "polynomial", "characters": TITLE}

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        """Half of a digest of title and host; None if there is no title or very little text."""
        if not page.title or len(text) < _MIN_SYMBOLS or not (title := SymbolText.of((page.title[:TITLE],)).normalized):
            return None
        host = host_alike(page.url).encode("utf-8", "surrogatepass")
        return digest_of(title + b"\0" + host, text.secret)[:8]

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        """Pages with the same key, unless there are more than `MOST_PAGES`."""
        return postings.pages_of(int.from_bytes(signature[:8], "little"), MOST_PAGES)
