"""The contract of an index: keep what was accepted, find what is alike, in one atomic step a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import msgspec

from dedupcrawl.verdict import Verdict


class IndexMismatchError(Exception):
    """The index was made with another format, other features or another version; the message says which and how."""


class IndexDamagedError(Exception):
    """What is stored cannot be what was written; the message says where and what to do."""


class Entry(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """What an index keeps of one accepted page.

    Attributes:
        url: Canonical URL; the same URL again is an update of this page, not a duplicate.
        site: Registrable domain, or the host where there is none.
        spider: Name of the spider that kept it, empty outside a crawl.
        run: Identifies the crawl; runs that resume one JOBDIR share it.
        kept_at: Seconds since the epoch.
        title: The page's title, for people.
        signatures: Check name → signature; a check that abstained is absent.
        outline: The main text as 16-bit symbol hashes (see content.evidence), for comparing side by side.
        fetched_url: Where the page was fetched, when that is not `url`: a canonical URL need not exist.
    """

    url: str
    site: str
    spider: str
    run: str
    kept_at: float
    title: str
    signatures: dict[str, bytes]
    outline: bytes
    fetched_url: str = ""

    @property
    def source(self) -> str:
        """The URL that the page was fetched from."""
        return self.fetched_url or self.url


class Dependent(msgspec.Struct, frozen=True, array_like=True):
    """A page that was dropped because of another, which is not stored yet.

    Attributes:
        spider: Name of the spider that fetched it.
        url: Where.
        request: What to ask for when it must be fetched again, packed; the index does not look into it.
    """

    spider: str
    url: str
    request: bytes


Judge = Callable[[str, Entry], "Verdict | None"]
"""Called with a check's name and a kept candidate: the verdict when the new page duplicates it, else None."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The page was added. `page_id` is its number; `supersedes` are the URLs of kept pages that lie inside it."""

    page_id: int
    supersedes: tuple[str, ...] = ()


Holds = Callable[[str, Entry], bool]
"""Called with a check's name and a kept page that by this check lies inside the new one: whether it does."""


class Index(Protocol):
    """Where signatures are kept and searched. Safe for several processes on one index."""

    def offer(self, entry: Entry, judge: Judge, *, first_id: int = 0, holds: Holds | None = None) -> Kept | Verdict:
        """Check and add, atomically: of two equal pages offered at once by two processes exactly one is kept.

        Asks each check for candidates among the pages with id >= `first_id`, in the order of the checks, and `judge`
        about each, most similar first, among equals the nearest by all signatures; the first verdict is returned
        and nothing is added. A page of the same URL is never a candidate: it is replaced. A page that is added
        supersedes those kept ones that lie inside it by a check and of which `holds` says so too, where it is given.
        Neither may call the index. Once this returns Kept the page survives a kill of the process.
        """
        ...

    def entry(self, url: str) -> Entry | None:
        """The newest kept page of this URL."""
        ...

    def record(self, verdict: Verdict, *, run: str, site: str) -> None:
        """Remember a verdict, for explain, report and restore: of duplicate, or of unique in doubt.

        The newest of a URL counts.
        """
        ...

    def verdict(self, url: str) -> Verdict | None:
        """The newest recorded verdict on this URL."""
        ...

    def entries(self) -> Iterator[Entry]:
        """All kept pages, oldest first, replaced ones left out."""
        ...

    def verdicts(self) -> Iterator[Verdict]:
        """All recorded verdicts, oldest first."""
        ...

    def first_id_of_run(self, run: str) -> int:
        """A page id that no page of `run` lies below; registers the run when it is new."""
        ...

    def superseded_by(self, url: str) -> str | None:
        """URL of the newest kept page that came after the page kept under `url` and holds it, by any check."""
        ...

    def forget(self, urls: Iterable[str]) -> int:
        """Erase the pages kept under these URLs, so that nothing is their duplicate any more; how many there were."""
        ...

    def start_claiming(self) -> int:
        """From now on this process claims what it keeps, until it confirms it.

        Pages that are claimed by processes that are no more are forgotten, and what was dropped because of them is
        orphaned. Returns how many pages were forgotten.
        """
        ...

    def confirm(self, urls: Iterable[str]) -> None:
        """The pages kept under these URLs are stored: they may justify drops for ever."""
        ...

    def abandon(self, urls: Iterable[str]) -> list[Dependent]:
        """The pages kept under these URLs will never be stored: forget them, and orphan what depends on them.

        Returns what was orphaned.
        """
        ...

    def depend(self, keeper: str, dependent: Dependent) -> bool:
        """`dependent` is dropped because of the page kept under `keeper`; remembered while that is claimed.

        Returns False when no such page is kept any more, so that this is no reason to drop anything.
        """
        ...

    def orphans(self, spider: str) -> list[Dependent]:
        """What is to be fetched again by this spider, because what it was dropped for was never stored."""
        ...

    def adopt(self, orphan: Dependent, kept_under: str | None) -> None:
        """An orphan was fetched again and judged; it is one again if the claim dies under which it was kept."""
        ...

    def info(self) -> dict[str, int | float | str]:
        """Pages, postings by check, verdicts, bytes on disk."""
        ...

    def verify(self) -> list[str]:
        """Read everything and check every invariant: one sentence for each problem found."""
        ...

    def close(self) -> None:
        """Flush and release. Further calls fail."""
        ...
