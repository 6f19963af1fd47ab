"""The contract of an index: keep what was accepted, find what is alike, in one atomic step a page.

Each part is a protocol of its own, so that who needs one does not ask for an index. Of every call: ValueError after
`close`, IndexDamagedError when what is stored cannot be read, OSError when it cannot be read or written at all, of
which IndexAwayError says that a server cannot be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dedupcrawl.index.rows import Dependent, Entry, Recorded, Rewrite
from dedupcrawl.index.search import Search
from dedupcrawl.verdict import Verdict


class VerdictLog(Protocol):
    """What was said of pages, and taken back."""

    def record(self, verdict: Verdict, *, run: str, site: str, spider: str = "", request: bytes = b"") -> None:
        """Remember a verdict, for explain, report and restore: of duplicate, or of unique in doubt.

        The newest of a URL counts. `request` is given where the page is dropped, and nowhere else.
        """

    def verdict(self, url: str) -> Verdict | None:
        """The newest recorded verdict on this URL."""

    def verdicts(self) -> Iterator[Verdict]:
        """All recorded verdicts, oldest first."""

    def recorded(self) -> Iterator[Recorded]:
        """The same with where and when they fell."""

    def withdraw(self, urls: Iterable[str], *, refetch: bool = False) -> int:
        """The verdicts on these pages no longer hold, nor will any later one: the pages are restored.

        Each page in one atomic step: its verdicts go, the newest is remembered among the restored, and with `refetch`
        it becomes an orphan of its spider. Pages without a recorded verdict are left as they are.

        Returns:
            How many were restored.
        """

    def is_restored(self, url: str) -> bool:
        """True when a verdict on this page was withdrawn: it is not a duplicate, whatever it looks like."""

    def restored(self) -> Iterator[Recorded]:
        """The newest withdrawn verdict on each restored page, in any order."""

    def refetch(self, dependents: Iterable[Dependent]) -> None:
        """Make orphans of these, so that their spiders ask for them at their next start."""


class RewriteLog(Protocol):
    """Which URLs were sent to others."""

    def record_rewrites(self, rewrites: Iterable[Rewrite]) -> None:
        """Remember what was rewritten, in one transaction.

        Of a URL and a spider in one run the newest rewrite takes the place of an older.
        """

    def rewrite(self, url: str) -> Rewrite | None:
        """The newest rewrite of this URL, by whichever spider and run."""

    def rewrites(self) -> Iterator[Rewrite]:
        """All rewrites, in the order in which they were recorded."""

    def rewrites_of(
        self, spider: str, run: str, *, canonicals: Iterable[str] = (), rules: Iterable[str] = ()
    ) -> Iterator[Rewrite]:
        """What a spider rewrote in a run to one of these canonical URLs, or by one of these rules, in that order.

        It takes as long as the answer is, however many rewrites there are.
        """


class SiteStates(Protocol):
    """Small values that last: of a site, or of a run."""

    def site_state(self, site: str, name: str) -> bytes | None:
        """A small value that lasts, one for each site and name; None until it is set."""

    def update_site_state(
        self, site: str, name: str, change: Callable[[bytes | None], bytes], guess: bytes | None = None
    ) -> bytes:
        """Set a value to what `change` makes of it, in one atomic step over all processes; returns the new one.

        `change` may be called more than once, also with `guess`, what the value may be: if it is, the index is asked
        but once. What it raises is raised here, and the value stays.
        """

    def first_of_run(self, run: str, name: str, value: bytes) -> bytes:
        """What any process of a run named first under `name`: `value`, when nobody has named anything.

        For as long as the run lasts: who compacts the index ends it, and a server forgets it after some weeks.
        """

    def first_id_of_run(self, run: str) -> int:
        """A page id that no page of `run` lies below; registers the run when it is new."""


class Attachments(Protocol):
    """What lies beside a URL: its text, its items, its links."""

    def attach(self, url: str, name: str, data: bytes) -> None:
        """Put something beside a URL, kept or dropped: its text, its item. The same name again takes its place.

        Raises:
            ValueError: The name is not 1 to 64 characters of ASCII.
        """

    def attach_new(self, name: str, rows: Mapping[str, bytes]) -> dict[str, bytes]:
        """Put something beside each of several URLs, in one step, where nothing lies under this name yet.

        Returns:
            URL → what lay there already.

        Raises:
            ValueError: The name is not 1 to 64 characters of ASCII.
        """

    def attached(self, urls: Collection[str], beginning: str) -> dict[str, dict[str, bytes]]:
        """For each URL what lies beside it under names that begin so; in an index on a server with one round trip."""

    def attachments(self, url: str) -> dict[str, bytes]:
        """All that lies beside a URL, by name; gone once the page is forgotten."""

    def detach(self, url: str, beginning: str) -> None:
        """Remove what lies beside a URL under names that begin so."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The page was added.

    Attributes:
        page_id: Its number.
        supersedes: URLs of kept pages that lie inside it.
        replaces: Whether it took the place of a kept page of the same URL.
    """

    page_id: int
    supersedes: tuple[str, ...] = ()
    replaces: bool = False


Told = Callable[[int, int], None]
"""Called with how many records are done, and how many there are."""


class PageStore(Protocol):
    """Kept pages and their signatures.

    Attributes:
        pages_at_once: How many pages it pays to search for before the first of them is added: one where the index is
            at hand, more where each question is a round trip.
    """

    pages_at_once: int

    def search(self, entry: Entry, *, first_id: int = 0, after: Search | None = None) -> Search:
        """What there is that may concern a new page: candidates for a detector to decide about.

        Args:
            entry: The page.
            first_id: Pages below are no candidates.
            after: An earlier search for the same page, which this one goes on with: it brings up what came since.

        Raises:
            ValueError: The index was opened to be read, or the entry has a signature of an unknown check.
        """

    def add(self, found: Search, *, request: bytes = b"") -> Kept | None:
        """Keep the page that was searched for, in one atomic step; None if what came since may change what was found.

        Then who asks has to search on, after this search, and decide anew. So of two equal pages that two processes
        find unique at the same time exactly one is kept. A page of the same URL is replaced, and those in
        `found.superseded` are remembered to lie inside this one.

        A page that this process claims (see `start_claiming`) depends on itself where `request` says what to ask for:
        should the claim die, it is an orphan like those that were dropped because of it.

        Once this returns Kept the page survives a kill of the process; after an IndexAwayError it may have been kept.

        Raises:
            ValueError: The index was opened to be read.
        """

    def add_all(self, offers: Sequence[tuple[Search, bytes]]) -> list[Kept | None]:
        """As `add` of each, with what its request is, in their order; in an index on a server with one round trip.

        Each page is atomic, not all of them together. One that a page before it may concern, whether that was added or
        not, is not added either.
        """

    def renew(self, entry: Entry) -> bool:
        """Put another reading of a page in the place of that which is kept, in one atomic step.

        Nothing is done, and False returned, unless the page kept under this URL was kept at the same moment in the same
        run: it may have been forgotten, or fetched again since. Claims, and what depends on them, stay as they are.
        """

    def entry(self, url: str, *, fresh: bool = True) -> Entry | None:
        """The newest kept page of this URL.

        What other machines did within the last second need not count unless it is to be `fresh`: no server is asked.
        """

    def entries(self) -> Iterator[Entry]:
        """All kept pages, oldest first, replaced ones left out; those that are added meanwhile may be missing."""

    def superseded_by(self, url: str) -> str | None:
        """URL of the newest kept page that came after the page kept under `url` and holds it, by any check."""

    def forget(self, urls: Iterable[str]) -> int:
        """Erase the pages kept under these URLs, so that nothing is their duplicate any more; how many there were.

        What is attached to these URLs goes too, whether a page was kept there or not.
        """


class ClaimLedger(Protocol):
    """Pages that a process keeps and has not stored yet, and what was dropped because of them."""

    def start_claiming(self) -> str:
        """From now on this process claims what it keeps, until it confirms it; returns its name as a claimant."""

    def confirm(self, urls: Iterable[str]) -> None:
        """The pages kept under these URLs are stored: they may justify drops forever."""

    def abandon(self, urls: Iterable[str]) -> list[Dependent]:
        """The pages kept under these URLs will never be stored: forget them, and orphan what depends on them.

        Returns what was orphaned.
        """

    def depend(self, keeper: str, dependent: Dependent) -> bool:
        """`dependent` is dropped because of the page kept under `keeper`; remembered while that is claimed.

        Returns False when no such page is kept any more, so that this is no reason to drop anything.
        """

    def depend_all(self, drops: Sequence[tuple[str, Dependent]]) -> list[bool]:
        """As `depend` of each, in an index on a server with one round trip."""

    def reap_expired(self, excluded: Collection[str] = ()) -> int:
        """Forget the pages that processes claim which are no more, and orphan what was dropped because of them.

        Args:
            excluded: Names of claimants that are not looked at yet, whether they live or not.

        Returns how many pages were forgotten.
        """

    def orphans(self, spider: str) -> list[Dependent]:
        """What is to be fetched again by this spider, because what it was dropped for was never stored."""

    def take(self, orphans: Iterable[Dependent]) -> list[Dependent]:
        """Of these orphans those that this process is to ask for; who shares the index with others may get them all.

        They stay orphans until they are adopted. In an index of several machines each is given to one claimant, and
        once; when that ends and it still is one, to another.
        """

    def adopt(self, orphan: Dependent, kept_under: str | None) -> None:
        """An orphan was fetched again and judged; it is one again if the claim dies under which it was kept."""


class Index(PageStore, ClaimLedger, VerdictLog, RewriteLog, SiteStates, Attachments, Protocol):
    """All of it. Safe for several processes on one index."""

    def info(self) -> dict[str, int | float | str]:
        """Pages, postings by check, verdicts, bytes on disk."""

    def verify(self, told: Told | None = None) -> list[str]:
        """Read everything and check every invariant: one sentence for each problem. Pages may be added meanwhile."""

    def compact(self) -> None:
        """Give back the room of what no longer counts.

        That is: ended pages, all but the newest verdict on a page, all but a spider's newest rewrite of a URL, and
        what the processes of a run agreed on.

        Raises:
            OSError: Others use the index, so that this cannot be done now.
        """

    def close(self) -> None:
        """Flush and release. Further calls fail."""


_LONGEST = 100  # pages in a row


def standing_for(index: Index, url: str) -> str | None:
    """URL of the page at the end of those that supersede each other, from the one kept under `url` on.

    Args:
        index: Where they are kept.
        url: A page's own; one that is kept under another URL is found where the index knows that it was rewritten.

    Returns:
        None where no page supersedes it.
    """
    rewrite = index.rewrite(url) if index.entry(url) is None else None
    passed = [rewrite.canonical if rewrite is not None else url]
    while len(passed) <= _LONGEST:
        larger = index.superseded_by(passed[-1])
        if larger is None or larger in passed:
            break
        passed.append(larger)
    last = index.entry(passed[-1]) if len(passed) > 1 else None
    return last.source if last is not None else None
