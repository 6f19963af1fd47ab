"""The contract of an index, beside its pages: what is remembered of verdicts, rewrites, sites, and of single URLs.

Each part is a protocol of its own, so that who needs one does not ask for an index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from dedupcrawl.index.rows import Dependent, Recorded, Rewrite
from dedupcrawl.verdict import Verdict


class VerdictLog(Protocol):
    """What was said of pages, and taken back."""

    def record(self, verdict: Verdict, *, run: str, site: str, spider: str = "", request: bytes = b"") -> None:
        """Remember a verdict, for explain, report and restore: of duplicate, or of unique in doubt.

        The newest of a URL counts. `request` is given where the page is dropped, and nowhere else.
        """
        ...

    def verdict(self, url: str) -> Verdict | None:
        """The newest recorded verdict on this URL."""
        ...

    def verdicts(self) -> Iterator[Verdict]:
        """All recorded verdicts, oldest first."""
        ...

    def recorded(self) -> Iterator[Recorded]:
        """The same with where and when they fell."""
        ...

    def withdraw(self, urls: Iterable[str], *, refetch: bool = False) -> int:
        """The verdicts on these pages hold no more, and no later one shall: the pages are restored.

        Each page in one atomic step: its verdicts go, the newest is remembered among the restored, and with `refetch`
        it becomes an orphan of its spider. Pages without a recorded verdict are left as they are.

        Returns:
            How many were restored.
        """
        ...

    def is_restored(self, url: str) -> bool:
        """True when a verdict on this page was withdrawn: it is no duplicate, whatever it looks like."""
        ...

    def restored(self) -> Iterator[Recorded]:
        """The newest withdrawn verdict on each restored page, in any order."""
        ...

    def refetch(self, dependents: Iterable[Dependent]) -> None:
        """Make orphans of these, so that their spiders ask for them at their next start."""
        ...


class RewriteLog(Protocol):
    """Which URLs were sent to others."""

    def record_rewrites(self, rewrites: Iterable[Rewrite]) -> None:
        """Remember what was rewritten, in one transaction.

        Of a URL and a spider in one run the newest rewrite takes the place of an older.
        """
        ...

    def rewrite(self, url: str) -> Rewrite | None:
        """The newest rewrite of this URL, by whichever spider and run."""
        ...

    def rewrites(self) -> Iterator[Rewrite]:
        """All rewrites, in the order in which they were recorded."""
        ...

    def rewrites_of(
        self, spider: str, run: str, *, canonicals: Iterable[str] = (), rules: Iterable[str] = ()
    ) -> Iterator[Rewrite]:
        """What a spider rewrote in a run to one of these canonical URLs, or by one of these rules, in that order.

        It takes as long as the answer is, however many rewrites there are.
        """
        ...


class SiteStates(Protocol):
    """Small values that last: of a site, or of a run."""

    def site_state(self, site: str, name: str) -> bytes | None:
        """A small value that lasts, one for each site and name; None until it is set."""
        ...

    def update_site_state(self, site: str, name: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Set a value to what `change` makes of it, in one atomic step over all processes; returns the new one.

        `change` must be quick, must not call the index, and may be called more than once. What it raises is raised
        here, and the value stays.
        """
        ...

    def first_of_run(self, run: str, name: str, value: bytes) -> bytes:
        """What any process of a run named first under `name`: `value`, when nobody has named anything.

        For as long as the run lasts: who compacts the index ends it, and a server forgets it after some weeks.
        """
        ...

    def first_id_of_run(self, run: str) -> int:
        """A page id that no page of `run` lies below; registers the run when it is new."""
        ...


class Attachments(Protocol):
    """What lies beside a URL: its text, its items, its links."""

    def attach(self, url: str, name: str, data: bytes) -> None:
        """Put something beside a URL, kept or dropped: its text, its item. The same name again takes its place.

        Raises:
            ValueError: The name is not 1 to 64 characters of ASCII.
        """
        ...

    def attach_new(self, name: str, rows: Mapping[str, bytes]) -> dict[str, bytes]:
        """Put something beside each of several URLs, in one step, where nothing lies under this name yet.

        Returns:
            URL → what lay there already.

        Raises:
            ValueError: The name is not 1 to 64 characters of ASCII.
        """
        ...

    def attached(self, url: str, name: str) -> bytes | None:
        """What lies beside a URL under one name."""
        ...

    def attachments(self, url: str) -> dict[str, bytes]:
        """All that lies beside a URL, by name; gone once the page is forgotten."""
        ...

    def detach(self, url: str, beginning: str) -> None:
        """Remove what lies beside a URL under names that begin so."""
        ...
