"""What every index remembers besides pages: verdicts, states of sites, attachments; rewrites: index.rewrites."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial

from dedupcrawl.index.packing import expanded, shrunk
from dedupcrawl.index.record import check_name, digest, pack_dependent, pack_row, plain, unpack_row
from dedupcrawl.index.rows import Dependent, Recorded
from dedupcrawl.index.tables import Cell, Tables, parts
from dedupcrawl.verdict import Verdict

_unpack = partial(unpack_row, Recorded)


class VerdictLog(Tables):
    """What was said of pages, and taken back."""

    def record(self, verdict: Verdict, *, run: str, site: str, spider: str = "", request: bytes = b"") -> None:
        """Remember a verdict, for explain, report and restore: of duplicate, or of unique in doubt.

        The newest of a URL counts. `request` is given where the page is dropped, and nowhere else.
        """
        raw = pack_row(Recorded(verdict, run, site, spider, time.time(), request))
        number = self._number()
        newest = Cell("verdict_urls", b"", digest(plain(verdict.url)), number)
        self.send([Cell("verdicts", b"", number, raw), newest])

    def verdict(self, url: str) -> Verdict | None:
        """The newest recorded verdict on this URL."""
        (number,) = self.values("verdict_urls", [digest(plain(url))])
        raw = None if number is None else self.values("verdicts", [number])[0]
        return None if raw is None else self._read(_unpack, raw).verdict

    def verdicts(self) -> Iterator[Verdict]:
        """All recorded verdicts, oldest first."""
        return (row.verdict for row in self.recorded())

    def recorded(self) -> Iterator[Recorded]:
        """The same with where and when they fell."""
        return (self._read(_unpack, raw) for _, raw in self.rows("verdicts"))

    def withdraw(self, urls: Iterable[str], *, refetch: bool = False) -> int:
        """The verdicts on these pages no longer hold, nor will any later one: the pages are restored.

        Each page in one atomic step: its verdicts go, the newest is remembered among the restored, and with `refetch`
        it becomes an orphan of its spider. Pages without a recorded verdict are left as they are.

        Returns:
            How many were restored.
        """
        wanted = {digest(plain(url)) for url in urls}
        numbers: defaultdict[bytes, list[bytes]] = defaultdict(list)
        newest: dict[bytes, bytes] = {}
        for number, raw in self.rows("verdicts"):
            url = digest(self._read(_unpack, raw).verdict.url)
            if url in wanted:
                numbers[url].append(number)
                newest[url] = raw
        return sum(self._withdraw(url, numbers[url], raw, refetch=refetch) for url, raw in newest.items())

    def _withdraw(self, url: bytes, numbers: list[bytes], raw: bytes, *, refetch: bool) -> bool:
        gone = [Cell("verdicts", b"", number) for number in numbers]
        cells = [*gone, Cell("verdict_urls", b"", url), Cell("restored", b"", url, raw)]
        if refetch:
            row = _unpack(raw)
            cells.append(orphan_cell(Dependent(row.spider, row.verdict.url, row.request)))
        return self.change(cells, [gone[-1]._replace(value=raw)]) is None  # else another process was quicker

    def is_restored(self, url: str) -> bool:
        """True when a verdict on this page was withdrawn: it is not a duplicate, whatever it looks like."""
        return self.values("restored", [digest(plain(url))]) != [None]

    def restored(self) -> Iterator[Recorded]:
        """The newest withdrawn verdict on each restored page, in any order."""
        return (self._read(_unpack, raw) for _, raw in self.rows("restored"))

    def refetch(self, dependents: Iterable[Dependent]) -> None:
        """Make orphans of these, so that their spiders ask for them at their next start."""
        self.change([orphan_cell(dependent) for dependent in dependents])

    def drop_older_verdicts(self) -> None:
        """Of each page the newest stays."""
        for rows in parts(self.rows("verdicts")):
            newest = self.values("verdict_urls", [digest(_unpack(raw).verdict.url) for _, raw in rows])
            pairs = zip(rows, newest, strict=True)
            self.change([Cell("verdicts", b"", number) for (number, _), last in pairs if number != last])


class SiteStates(Tables):
    """Small values that last: of a site, or of a run."""

    def site_state(self, site: str, name: str) -> bytes | None:
        """A small value that lasts, one for each site and name; None until it is set."""
        (raw,) = self.values("states", [_state(site, name)])
        return None if raw is None else expanded(raw, f"the state {name!r} of {site!r}")

    def update_site_state(
        self, site: str, name: str, change: Callable[[bytes | None], bytes], guess: bytes | None = None
    ) -> bytes:
        """Set a value to what `change` makes of it, in one atomic step over all processes; returns the new one.

        `change` may be called more than once, also with `guess`, what the value may be: if it is, the index is asked
        but once. What it raises is raised here, and the value stays.
        """
        cell = Cell("states", b"", _state(site, name), None if guess is None else shrunk(guess))
        while True:
            old = None if cell.value is None else expanded(cell.value, f"the state {name!r} of {site!r}")
            new = change(old)
            there = self.change([cell._replace(value=shrunk(new))], [cell])
            if there is None:
                return new
            cell = cell._replace(value=there[0])

    def first_of_run(self, run: str, name: str, value: bytes) -> bytes:
        """What any process of a run named first under `name`: `value`, when nobody has named anything.

        For as long as the run lasts: who compacts the index ends it, and a server forgets it after some weeks.
        """
        cell = Cell("agreed", digest(plain(run)), digest(plain(name)))
        there = self.change([cell._replace(value=shrunk(value))], [cell])
        return value if there is None else expanded(there[0] or b"", f"what the run {run!r} calls {name!r}")

    def first_id_of_run(self, run: str) -> int:
        """A page id that no page of `run` lies below; registers the run when it is new."""
        cell = Cell("runs", b"", digest(plain(run)), b"%d" % self._look())
        there = self.change([cell], [cell._replace(value=None)])
        return int((there or [cell.value])[0] or 0)

    @abstractmethod
    def _look(self) -> int:
        """Catch up with the other processes; returns the id of the next page."""


class Attachments(Tables):
    """What lies beside a URL: its text, its items, its links."""

    def attach(self, url: str, name: str, data: bytes) -> None:
        """Put something beside a URL, kept or dropped: its text, its item. The same name again takes its place.

        Raises:
            ValueError: The name is not 1 to 64 characters of ASCII.
        """
        self.send([_attachment(url, name, data)])

    def attach_new(self, name: str, rows: Mapping[str, bytes]) -> dict[str, bytes]:
        """Put something beside each of several URLs, in one step, where nothing lies under this name yet.

        Returns:
            URL → what lay there already.

        Raises:
            ValueError: The name is not 1 to 64 characters of ASCII.
        """
        there: dict[str, bytes] = {}
        cells = {url: _attachment(url, name, data) for url, data in rows.items()}
        while told := self.change(cells.values(), [cell._replace(value=None) for cell in cells.values()]):
            found = zip(cells, told, strict=True)
            there |= {url: expanded(raw, f"what lies beside {url}") for url, raw in found if raw}
            cells = {url: cell for url, cell in cells.items() if url not in there}
        return there

    def attached(self, urls: Collection[str], beginning: str) -> dict[str, dict[str, bytes]]:
        """For each URL what lies beside it under names that begin so; in an index on a server with one round trip."""
        asked = list(urls)
        found = self.groups("attachments", [digest(plain(url)) for url in asked], beginning.encode())
        return {
            url: {name.decode(): expanded(raw, f"what lies beside {url}") for name, raw in cells.items()}
            for url, cells in zip(asked, found, strict=True)
        }

    def attachments(self, url: str) -> dict[str, bytes]:
        """All that lies beside a URL, by name; gone once the page is forgotten."""
        return self.attached([url], "")[url]

    def detach(self, url: str, beginning: str) -> None:
        """Remove what lies beside a URL under names that begin so."""
        self.clear("attachments", digest(plain(url)), beginning.encode())


def orphan_cell(dependent: Dependent) -> Cell:
    """What is to be fetched again."""
    return Cell("orphans", b"", *pack_dependent(dependent))


def _attachment(url: str, name: str, data: bytes) -> Cell:
    return Cell("attachments", digest(plain(url)), check_name(name).encode(), shrunk(data))


def _state(site: str, name: str) -> bytes:
    return digest(plain(site)) + digest(plain(name))
