"""What every index remembers besides pages: verdicts, states of sites, attachments, rewrites."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial

from dedupcrawl.index.record import (
    Recorded,
    Rewrite,
    check_name,
    compressed,
    decompressed,
    digest,
    pack_row,
    unpack_row,
)
from dedupcrawl.index.tables import Cell, Tables, parts
from dedupcrawl.verdict import Verdict

_verdict_of = partial(unpack_row, Recorded)


class VerdictLog(Tables):
    """What was said of pages, and taken back."""

    def record(self, verdict: Verdict, *, run: str, site: str, spider: str = "", request: bytes = b"") -> None:
        """Remember a verdict, for explain, report and restore: of duplicate, or of unique in doubt.

        The newest of a URL counts. `request` is given where the page is dropped, and nowhere else.
        """
        raw = pack_row(Recorded(verdict, run, site, spider, time.time(), request))
        number = self._number()
        newest = Cell("verdict_urls", b"", digest(verdict.url), number)
        self.send([Cell("verdicts", b"", number, raw), newest])

    def verdict(self, url: str) -> Verdict | None:
        """The newest recorded verdict on this URL."""
        judged = self.judged(url)
        return None if judged is None else judged.verdict

    def judged(self, url: str) -> Recorded | None:
        """The same with where and when it fell."""
        (number,) = self.values("verdict_urls", [digest(url)])
        raw = None if number is None else self.values("verdicts", [number])[0]
        return None if raw is None else self._read(_verdict_of, raw)

    def recorded(self) -> Iterator[Recorded]:
        """All recorded verdicts, oldest first."""
        return (self._read(_verdict_of, raw) for _, raw in self.rows("verdicts"))

    def withdraw(self, urls: Iterable[str]) -> int:
        """The verdicts on these pages no longer hold, nor will any later one: the pages are restored.

        Each page in one atomic step: its verdicts go, and the newest is remembered among the restored. Pages without a
        recorded verdict are left as they are.

        Returns:
            How many were restored.
        """
        wanted = {digest(url) for url in urls}
        numbers: defaultdict[bytes, list[bytes]] = defaultdict(list)
        newest: dict[bytes, bytes] = {}
        for number, raw in self.rows("verdicts"):
            url = digest(self._read(_verdict_of, raw).verdict.url)
            if url in wanted:
                numbers[url].append(number)
                newest[url] = raw
        return sum(self._withdraw(url, numbers[url], raw) for url, raw in newest.items())

    def _withdraw(self, url: bytes, numbers: list[bytes], raw: bytes) -> bool:
        gone = [Cell("verdicts", b"", number) for number in numbers]
        cells = [*gone, Cell("verdict_urls", b"", url), Cell("restored", b"", url, raw)]
        return self.change(cells, [gone[-1]._replace(value=raw)]) is None  # else another process was quicker

    def is_restored(self, *urls: str) -> bool:
        """True when a verdict on one of these pages was withdrawn: it is not a duplicate, whatever it looks like."""
        return any(self.values("restored", [digest(url) for url in urls]))

    def restored(self) -> Iterator[Recorded]:
        """The newest withdrawn verdict on each restored page, in any order."""
        return (self._read(_verdict_of, raw) for _, raw in self.rows("restored"))

    def forget_verdicts(self, is_meant: Callable[[Recorded], bool]) -> int:
        """Remove recorded and withdrawn verdicts, with their requests, where they are meant; how many there were."""
        count = 0
        for some in parts(self.rows("verdicts")):
            gone = [(number, row) for number, raw in some if is_meant(row := self._read(_verdict_of, raw))]
            urls = [digest(row.verdict.url) for _, row in gone]
            newest = zip(gone, urls, self.values("verdict_urls", urls), strict=True)
            cells = [Cell("verdict_urls", b"", url) for (number, _), url, last in newest if number == last]
            self.change([*(Cell("verdicts", b"", number) for number, _ in gone), *cells])
            count += len(gone)
        for some in parts(self.rows("restored")):
            urls = [url for url, raw in some if is_meant(self._read(_verdict_of, raw))]
            self.change([Cell("restored", b"", url) for url in urls])
            count += len(urls)
        return count

    def drop_older_verdicts(self) -> None:
        """Of each page the newest stays."""
        for rows in parts(self.rows("verdicts")):
            newest = self.values("verdict_urls", [digest(_verdict_of(raw).verdict.url) for _, raw in rows])
            pairs = zip(rows, newest, strict=True)
            self.change([Cell("verdicts", b"", number) for (number, _), last in pairs if number != last])


class SiteStates(Tables):
    """Small values that last: of a site, or of a run."""

    def site_state(self, site: str, name: str) -> bytes | None:
        """A small value that lasts, one for each site and name; None until it is set."""
        (raw,) = self.values("states", [_state(site, name)])
        return None if raw is None else decompressed(raw, f"the state {name!r} of {site!r}")

    def update_site_state(
        self, site: str, name: str, change: Callable[[bytes | None], bytes], guess: bytes | None = None
    ) -> bytes:
        """Set a value to what `change` makes of it, in one atomic step over all processes; returns the new one.

        `change` may be called more than once, also with `guess`, what the value may be: if it is, the index is asked
        but once. What it raises is raised here, and the value stays.
        """
        cell = Cell("states", b"", _state(site, name), None if guess is None else compressed(guess))
        while True:
            old = None if cell.value is None else decompressed(cell.value, f"the state {name!r} of {site!r}")
            new = change(old)
            there = self.change([cell._replace(value=compressed(new))], [cell])
            if there is None:
                return new
            cell = cell._replace(value=there[0])

    def first_of_run(self, run: str, name: str, value: bytes) -> bytes:
        """What any process of a run named first under `name`: `value`, when nobody has named anything.

        For as long as the run lasts: who compacts the index ends it, and a server forgets it after some weeks.
        """
        cell = Cell("agreed", digest(run), digest(name))
        there = self.change([cell._replace(value=compressed(value))], [cell])
        return value if there is None else decompressed(there[0] or b"", f"what the run {run!r} calls {name!r}")

    def agree(self, run: str, facts: Mapping[str, bytes]) -> None:
        """Remember facts of a run, by name, for as long as `first_of_run` does."""
        self.send([Cell("agreed", digest(run), digest(name), compressed(fact)) for name, fact in facts.items()])

    def facts_of_run(self, run: str) -> Iterator[bytes]:
        """All that `agree` was told of a run, in any order."""
        (cells,) = self.groups("agreed", [digest(run)])
        return (decompressed(raw, f"a fact of the run {run!r}") for raw in cells.values())


class Attachments(Tables):
    """What lies beside a URL: its text, its items, its links."""

    def attach(self, url: str, name: str, data: bytes) -> None:
        """Put something beside a URL, kept or dropped: its text, its item. The same name again takes its place.

        Raises:
            ValueError: The name is not 1 to 64 characters of ASCII.
        """
        self.attach_all([(url, name, data)])

    def attach_all(self, rows: Iterable[tuple[str, str, bytes]]) -> None:
        """The same for any number of them, in one step: URL, name and bytes of each."""
        self.send([_attachment(*row) for row in rows])

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
            there |= {url: decompressed(raw, f"what lies beside {url}") for url, raw in found if raw}
            cells = {url: cell for url, cell in cells.items() if url not in there}
        return there

    def attached(self, urls: Collection[str], beginning: str) -> dict[str, dict[str, bytes]]:
        """For each URL what lies beside it under names that begin so; in an index on a server with one round trip."""
        asked = list(urls)
        found = self.groups("attachments", [digest(url) for url in asked], beginning.encode())
        return {
            url: {name.decode(): decompressed(raw, f"what lies beside {url}") for name, raw in cells.items()}
            for url, cells in zip(asked, found, strict=True)
        }

    def attachments(self, url: str) -> dict[str, bytes]:
        """All that lies beside a URL, by name; gone once the page is forgotten."""
        return self.attached([url], "")[url]

    def detach(self, url: str, beginning: str) -> None:
        """Remove what lies beside a URL under names that begin so."""
        self.clear("attachments", digest(url), beginning.encode())

    def detach_if(self, name: str, is_meant: Callable[[str, bytes], bool], urls: Iterable[str] = ()) -> int:
        """Remove what lies under this name beside any URL, where it is meant; how much there was.

        Args:
            name: Of what is removed.
            is_meant: Called with what lies there, and with its URL, which is empty unless it is one of `urls`: an index
                has only digests.
            urls: Those that are to be told apart.
        """
        known = {digest(url): url for url in urls}
        removed = 0
        for some in parts(self.group_names("attachments")):
            # A server may tell a group twice.
            groups = dict(zip(some, self.groups("attachments", some, name.encode()), strict=True))
            there = ((group, raw) for group, cells in groups.items() if (raw := cells.get(name.encode())) is not None)
            gone = [
                Cell("attachments", group, name.encode())
                for group, raw in there
                if is_meant(known.get(group, ""), decompressed(raw, f"what lies beside {known.get(group, 'a URL')}"))
            ]
            self.change(gone)
            removed += len(gone)
        return removed


def _attachment(url: str, name: str, data: bytes) -> Cell:
    return Cell("attachments", digest(url), check_name(name).encode(), compressed(data))


def _state(site: str, name: str) -> bytes:
    return digest(site) + digest(name)


_WHOSE_BYTES = 8  # of the digest of a spider or a run: their users name them
_THERE = b"."

_rewrite_of = partial(unpack_row, Rewrite)


class RewriteLog(Tables):
    """Which URLs were sent to others."""

    def record_rewrites(self, rewrites: Iterable[Rewrite]) -> None:
        """Remember what was rewritten, in one transaction.

        Of a URL and a spider in one run the newest rewrite takes the place of an older.
        """
        newest: dict[tuple[bytes, bytes], Rewrite] = {}
        for rewrite in rewrites:
            newest.pop(_whose(rewrite), None)
            newest[_whose(rewrite)] = rewrite
        for some in parts(newest.items()) if newest else [[]]:
            given, replaced = [Cell("rewrite_urls", *whose) for whose, _ in some], list[Cell]()
            while True:
                cells = []
                for cell, (_, rewrite) in zip(given, some, strict=True):
                    number = self._number()
                    cells += [*_cells_of(number, rewrite, pack_row(rewrite)), cell._replace(value=number)]
                there = self.change([*replaced, *cells], given)
                if there is None:
                    break
                given = [cell._replace(value=number) for cell, number in zip(given, there, strict=True)]
                numbers = [number for number in there if number]
                olds = zip(numbers, self.values("rewrites", numbers), strict=True)
                replaced = [cell for number, raw in olds if raw for cell in _cells_of(number, _rewrite_of(raw), None)]

    def rewrite(self, url: str) -> Rewrite | None:
        """The newest rewrite of this URL, by whichever spider and run."""
        (numbers,) = self.groups("rewrite_urls", [digest(url)])
        raw = self.values("rewrites", [max(numbers.values())])[0] if numbers else None
        return None if raw is None else self._read(_rewrite_of, raw)

    def rewrites(self) -> Iterator[Rewrite]:
        """All rewrites, in the order in which they were recorded."""
        return (self._read(_rewrite_of, raw) for _, raw in self.rows("rewrites"))

    def rewrites_of(
        self, spider: str, run: str, *, canonicals: Iterable[str] = (), rules: Iterable[str] = ()
    ) -> Iterator[Rewrite]:
        """What a spider rewrote in a run to one of these canonical URLs, or by one of these rules, in that order.

        It takes as long as the answer is, however many rewrites there are.
        """
        keys = [_key("to", spider, run, canonical) for canonical in canonicals]
        keys += [_key("by", spider, run, rule) for rule in rules]
        numbers = {number for group in self.groups("rewrite_keys", keys) for number in group}
        for some in parts(sorted(numbers)):
            yield from (self._read(_rewrite_of, raw) for raw in self.values("rewrites", some) if raw is not None)

    def drop_older_rewrites(self) -> None:
        """Of each URL and spider the newest stays."""
        for rows in parts(self.rows("rewrites")):
            rewrites = [_rewrite_of(raw) for _, raw in rows]
            numbers = self.groups("rewrite_urls", [digest(rewrite.url) for rewrite in rewrites])
            cells = []
            for (number, _), rewrite, known in zip(rows, rewrites, numbers, strict=True):
                _, whose = _whose(rewrite)
                of_spider = [last for field, last in known.items() if field[:_WHOSE_BYTES] == whose[:_WHOSE_BYTES]]
                if number != max(of_spider, default=b""):
                    cells += _gone(number, rewrite, known)
            self.change(cells)

    def forget_rewrites(self, is_meant: Callable[[Rewrite], bool]) -> int:
        """Remove rewrites, with their requests, where they are meant; how many there were."""
        count = 0
        for rows in parts(self.rows("rewrites")):
            gone = [(number, row) for number, raw in rows if is_meant(row := self._read(_rewrite_of, raw))]
            numbers = self.groups("rewrite_urls", [digest(rewrite.url) for _, rewrite in gone])
            self.change([cell for one, known in zip(gone, numbers, strict=True) for cell in _gone(*one, known)])
            count += len(gone)
        return count


def _whose(rewrite: Rewrite) -> tuple[bytes, bytes]:
    """Group and field of its number by its URL: spiders and runs are kept apart."""
    spider, run = (digest(name)[:_WHOSE_BYTES] for name in (rewrite.spider, rewrite.run))
    return digest(rewrite.url), spider + run


def _cells_of(number: bytes, rewrite: Rewrite, raw: bytes | None) -> list[Cell]:
    """Its row, and its number by where it was sent and by each of its rules; to be removed where there is no row."""
    of, mark = (rewrite.spider, rewrite.run), raw and _THERE
    keys = [_key("to", *of, rewrite.canonical), *(_key("by", *of, rule) for rule in dict.fromkeys(rewrite.rules))]
    return [Cell("rewrites", b"", number, raw), *(Cell("rewrite_keys", key, number, mark) for key in keys)]


def _gone(number: bytes, rewrite: Rewrite, known: Mapping[bytes, bytes]) -> list[Cell]:
    """What removes a rewrite, given the numbers that its URL is known by."""
    url, whose = _whose(rewrite)
    by_url = [Cell("rewrite_urls", url, whose)] if known.get(whose) == number else []
    return [*_cells_of(number, rewrite, None), *by_url]


def _key(*parts: str) -> bytes:
    return digest("\0".join(parts))
