"""What an index holds: pages, verdicts, rewrites, and who depends on whom."""

from __future__ import annotations

import msgspec

from dedupcrawl.verdict import Verdict


class Entry(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """What an index keeps of one accepted page."""

    url: str  # canonical, under which it is kept; where one run has fetched several variants, the first of them
    site: str  # registrable domain, or the host where there is none
    spider: str  # that kept it; empty outside a crawl
    run: str  # identifies the crawl; runs that resume one JOBDIR share it
    kept_at: float  # seconds since the epoch
    title: str
    outline: bytes  # the main text as 16-bit symbol hashes (see content.main_outline), for comparing side by side
    fetched_url: str = ""  # where it was fetched, when that is not `url`: a canonical URL need not exist
    asides: bytes = b""  # what it says around its main text, and where it links to (see content.around)
    # Check name → signature; a check that abstained is absent. The last field: a record holds them elsewhere.
    signatures: dict[str, bytes] = {}

    @property
    def source(self) -> str:
        """The URL that the page was fetched from."""
        return self.fetched_url or self.url

    def updates(self, kept: Entry) -> bool:
        """Whether this page is that which is `kept`, fetched again, so that it is no duplicate of it.

        Two pages that one run has fetched from two URLs are two, whatever rules take their URLs for.
        """
        return self.url == kept.url and (self.run != kept.run or self.source == kept.source)


class Dependent(msgspec.Struct, frozen=True, array_like=True):
    """A page that depends on one that is not stored yet: it was dropped because of that, or is that one itself."""

    spider: str
    url: str
    request: bytes  # what to ask for when it must be fetched again, packed; the index does not look into it


class Rewrite(msgspec.Struct, frozen=True, array_like=True):
    """A request that was sent to another URL than it named, because rules said so."""

    url: str  # as it was asked for
    canonical: str  # what was asked for instead
    rules: tuple[str, ...]  # their ids, in the order in which they were applied
    spider: str
    run: str
    at: float  # seconds since the epoch
    request: bytes = b""  # what to ask for to fetch `url` after all, packed; the index does not look into it


class Recorded(msgspec.Struct, frozen=True, array_like=True):
    """A verdict as an index holds it."""

    verdict: Verdict
    run: str
    site: str
    spider: str = ""
    at: float = 0.0  # seconds since the epoch
    # What to ask for to fetch the page again, packed; the index does not look into it. Empty when it was not dropped.
    request: bytes = b""

    @property
    def was_dropped(self) -> bool:
        """False for a page that went on to be stored.

        Nothing was in doubt, duplicates were only observed or marked, or it `was_judged_again` once it was stored.

        What is dropped is recorded with its request, for it may have to be fetched again; what is not, without.
        """
        return self.verdict.is_duplicate and bool(self.request)
