"""What an index holds: pages, verdicts, rewrites, and who depends on whom."""

from __future__ import annotations

import msgspec

from dedupcrawl.verdict import Verdict


class Entry(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """What an index keeps of one accepted page.

    Attributes:
        url: Canonical URL, under which the page is kept; where one run has fetched several variants, the first of them.
        site: Registrable domain, or the host where there is none.
        spider: Name of the spider that kept it, empty outside a crawl.
        run: Identifies the crawl; runs that resume one JOBDIR share it.
        kept_at: Seconds since the epoch.
        outline: The main text as 16-bit symbol hashes (see content.main_outline), for comparing side by side.
        fetched_url: Where the page was fetched, when that is not `url`: a canonical URL need not exist.
        asides: What it says around its main text, and where it links to (see content.around).
        signatures: Check name → signature; a check that abstained is absent.
    """

    url: str
    site: str
    spider: str
    run: str
    kept_at: float
    title: str
    outline: bytes
    fetched_url: str = ""
    asides: bytes = b""
    signatures: dict[str, bytes] = {}  # the last: a record holds them elsewhere

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
    """A page that depends on one that is not stored yet: it was dropped because of that, or is that one itself.

    Attributes:
        request: What to ask for when it must be fetched again, packed; the index does not look into it.
    """

    spider: str
    url: str
    request: bytes


class Rewrite(msgspec.Struct, frozen=True, array_like=True):
    """A request that was sent to another URL than it named, because rules said so.

    Attributes:
        url: As it was asked for.
        canonical: What was asked for instead.
        rules: Ids of the rules, in the order in which they were applied.
        at: Seconds since the epoch.
        request: What to ask for to fetch `url` after all, packed; the index does not look into it.
    """

    url: str
    canonical: str
    rules: tuple[str, ...]
    spider: str
    run: str
    at: float
    request: bytes = b""


class Recorded(msgspec.Struct, frozen=True, array_like=True):
    """A verdict as an index holds it.

    Attributes:
        at: Seconds since the epoch.
        request: What to ask for to fetch the page again, packed; the index does not look into it. Empty when the page
            was not dropped.
    """

    verdict: Verdict
    run: str
    site: str
    spider: str = ""
    at: float = 0.0
    request: bytes = b""

    @property
    def was_dropped(self) -> bool:
        """False for a page that went on to be stored: nothing was in doubt, or duplicates were only observed or marked.

        What is dropped is recorded with its request, for it may have to be fetched again; what is not, without.
        """
        return self.verdict.is_duplicate and bool(self.request)
