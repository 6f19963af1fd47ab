"""What every index remembers besides pages: verdicts, rewrites, states of sites, attachments.

It lies in tables of cells, which a store has to read, to list, and to change where others have not. What is recorded
one after the other has the time for its field: so nobody has to ask for a number first, and it may be sent twice.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from dedupcrawl.index.packing import expanded, shrunk
from dedupcrawl.index.record import (
    check_name,
    digest,
    pack_dependent,
    pack_recorded,
    pack_rewrite,
    plain,
    unpack_recorded,
    unpack_rewrite,
)
from dedupcrawl.index.rows import Dependent, Recorded, Rewrite
from dedupcrawl.verdict import Verdict

ROWS_AT_ONCE = 256  # so short is what others wait for
COUNTED = {name: name for name in ("verdicts", "restored", "rewrites", "attachments", "orphans")} | {
    "claimed": "claims"
}
"""What `Index.info` calls the tables whose cells it counts."""

_WHOSE_BYTES = 8  # of the digest of a spider or a run: their users name them
_THERE = b"."

Item = TypeVar("Item")


class Cell(NamedTuple):
    """A cell of a table, and a value of it.

    Attributes:
        table: The table.
        group: What its cells that are read and removed together begin with; empty in a table without groups.
        field: The rest of its key.
        value: Not empty; None: there is no such cell.
    """

    table: str
    group: bytes
    field: bytes
    value: bytes | None = None


class Notes(ABC):
    """The part of the contract Index that has nothing to do with pages, over tables of cells."""

    def __init__(self) -> None:
        self._last = 0
        self._process = os.urandom(4)

    @abstractmethod
    def change(self, cells: Collection[Cell], given: Collection[Cell] = ()) -> list[bytes | None] | None:
        """Set and remove cells in one atomic step, if those that are `given` are as they are said to be.

        Returns:
            None where that was done; else the values that the given cells have.
        """

    @abstractmethod
    def send(self, cells: Collection[Cell]) -> None:
        """As `change`, but who has a server need not wait for it; then it may be done more than once."""

    @abstractmethod
    def values(self, table: str, fields: Sequence[bytes]) -> list[bytes | None]:
        """The values of cells of a table without groups."""

    @abstractmethod
    def groups(self, table: str, groups: Sequence[bytes], beginning: bytes = b"") -> list[dict[bytes, bytes]]:
        """Field → value of the cells of each of these groups whose fields begin so, in order."""

    @abstractmethod
    def clear(self, table: str, group: bytes, beginning: bytes = b"") -> None:
        """Remove the cells of a group whose fields begin so; who has a server need not wait for it."""

    @abstractmethod
    def rows(self, table: str, beginning: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """(field, value) of the cells of a table without groups whose fields begin so, in order."""

    @abstractmethod
    def _look(self) -> int:
        """The id of the next page."""

    def _read(self, unpack: Callable[[bytes], Item], raw: bytes) -> Item:
        """What a row says; who has a folder says of damage where it is."""
        return unpack(raw)

    # Verdicts

    def record(self, verdict: Verdict, *, run: str, site: str, spider: str = "", request: bytes = b"") -> None:
        raw = pack_recorded(Recorded(verdict, run, site, spider, time.time(), request))
        number = self._number()
        newest = Cell("verdict_urls", b"", digest(plain(verdict.url)), number)
        self.send([Cell("verdicts", b"", number, raw), newest])

    def verdict(self, url: str) -> Verdict | None:
        (number,) = self.values("verdict_urls", [digest(plain(url))])
        raw = None if number is None else self.values("verdicts", [number])[0]
        return None if raw is None else self._read(unpack_recorded, raw).verdict

    def verdicts(self) -> Iterator[Verdict]:
        return (row.verdict for row in self.recorded())

    def recorded(self) -> Iterator[Recorded]:
        return (self._read(unpack_recorded, raw) for _, raw in self.rows("verdicts"))

    def withdraw(self, urls: Iterable[str], *, refetch: bool = False) -> int:
        wanted = {digest(plain(url)) for url in urls}
        numbers: defaultdict[bytes, list[bytes]] = defaultdict(list)
        newest: dict[bytes, bytes] = {}
        for number, raw in self.rows("verdicts"):
            url = digest(self._read(unpack_recorded, raw).verdict.url)
            if url in wanted:
                numbers[url].append(number)
                newest[url] = raw
        return sum(self._withdraw(url, numbers[url], raw, refetch=refetch) for url, raw in newest.items())

    def _withdraw(self, url: bytes, numbers: list[bytes], raw: bytes, *, refetch: bool) -> bool:
        gone = [Cell("verdicts", b"", number) for number in numbers]
        cells = [*gone, Cell("verdict_urls", b"", url), Cell("restored", b"", url, raw)]
        if refetch:
            row = unpack_recorded(raw)
            cells.append(orphan_cell(Dependent(row.spider, row.verdict.url, row.request)))
        return self.change(cells, [gone[-1]._replace(value=raw)]) is None  # else another process was quicker

    def is_restored(self, url: str) -> bool:
        return self.values("restored", [digest(plain(url))]) != [None]

    def restored(self) -> Iterator[Recorded]:
        return (self._read(unpack_recorded, raw) for _, raw in self.rows("restored"))

    def refetch(self, dependents: Iterable[Dependent]) -> None:
        self.change([orphan_cell(dependent) for dependent in dependents])

    def drop_older_verdicts(self) -> None:
        """Of each page the newest stays."""
        for rows in parts(self.rows("verdicts")):
            newest = self.values("verdict_urls", [digest(unpack_recorded(raw).verdict.url) for _, raw in rows])
            pairs = zip(rows, newest, strict=True)
            self.change([Cell("verdicts", b"", number) for (number, _), last in pairs if number != last])

    # Rewrites: by a URL the number of the newest of each spider and run

    def record_rewrites(self, rewrites: Iterable[Rewrite]) -> None:
        newest: dict[tuple[bytes, bytes], Rewrite] = {}
        for rewrite in rewrites:
            newest.pop(_whose(rewrite), None)
            newest[_whose(rewrite)] = rewrite
        for some in parts(iter(newest.items())) if newest else [[]]:
            given, replaced = [Cell("rewrite_urls", *whose) for whose, _ in some], list[Cell]()
            while True:
                cells = []
                for cell, (_, rewrite) in zip(given, some, strict=True):
                    number = self._number()
                    cells += [*_cells_of(number, rewrite, pack_rewrite(rewrite)), cell._replace(value=number)]
                there = self.change([*replaced, *cells], given)
                if there is None:
                    break
                given = [cell._replace(value=number) for cell, number in zip(given, there, strict=True)]
                numbers = [number for number in there if number]
                olds = zip(numbers, self.values("rewrites", numbers), strict=True)
                replaced = [
                    cell for number, raw in olds if raw for cell in _cells_of(number, unpack_rewrite(raw), None)
                ]

    def rewrite(self, url: str) -> Rewrite | None:
        (numbers,) = self.groups("rewrite_urls", [digest(plain(url))])
        raw = self.values("rewrites", [max(numbers.values())])[0] if numbers else None
        return None if raw is None else self._read(unpack_rewrite, raw)

    def rewrites(self) -> Iterator[Rewrite]:
        return (self._read(unpack_rewrite, raw) for _, raw in self.rows("rewrites"))

    def rewrites_of(
        self, spider: str, run: str, *, canonicals: Iterable[str] = (), rules: Iterable[str] = ()
    ) -> Iterator[Rewrite]:
        keys = [_key("to", spider, run, canonical) for canonical in canonicals]
        keys += [_key("by", spider, run, rule) for rule in rules]
        numbers = {number for group in self.groups("rewrite_keys", keys) for number in group}
        for some in parts(iter(sorted(numbers))):
            yield from (self._read(unpack_rewrite, raw) for raw in self.values("rewrites", some) if raw is not None)

    def drop_older_rewrites(self) -> None:
        """Of each URL and spider the newest stays."""
        for rows in parts(self.rows("rewrites")):
            rewrites = [unpack_rewrite(raw) for _, raw in rows]
            numbers = self.groups("rewrite_urls", [digest(rewrite.url) for rewrite in rewrites])
            cells = []
            for (number, _), rewrite, known in zip(rows, rewrites, numbers, strict=True):
                url, whose = _whose(rewrite)
                of_spider = [last for field, last in known.items() if field[:_WHOSE_BYTES] == whose[:_WHOSE_BYTES]]
                if number != max(of_spider, default=b""):
                    cells += _cells_of(number, rewrite, None)
                    cells += [Cell("rewrite_urls", url, whose)] if known.get(whose) == number else []
            self.change(cells)

    # States of sites and runs

    def site_state(self, site: str, name: str) -> bytes | None:
        (raw,) = self.values("states", [_state(site, name)])
        return None if raw is None else expanded(raw, f"the state {name!r} of {site!r}")

    def update_site_state(
        self, site: str, name: str, change: Callable[[bytes | None], bytes], guess: bytes | None = None
    ) -> bytes:
        cell = Cell("states", b"", _state(site, name), None if guess is None else shrunk(guess))
        while True:
            old = None if cell.value is None else expanded(cell.value, f"the state {name!r} of {site!r}")
            new = change(old)
            there = self.change([cell._replace(value=shrunk(new))], [cell])
            if there is None:
                return new
            cell = cell._replace(value=there[0])

    def first_id_of_run(self, run: str) -> int:
        cell = Cell("runs", b"", digest(plain(run)), b"%d" % self._look())
        there = self.change([cell], [cell._replace(value=None)])
        return int((there or [cell.value])[0] or 0)

    def first_of_run(self, run: str, name: str, value: bytes) -> bytes:
        cell = Cell("agreed", digest(plain(run)), digest(plain(name)))
        there = self.change([cell._replace(value=shrunk(value))], [cell])
        return value if there is None else expanded(there[0] or b"", f"what the run {run!r} calls {name!r}")

    # Attachments

    def attach(self, url: str, name: str, data: bytes) -> None:
        self.send([_attachment(url, name, data)])

    def attach_new(self, name: str, rows: Mapping[str, bytes]) -> dict[str, bytes]:
        there: dict[str, bytes] = {}
        cells = {url: _attachment(url, name, data) for url, data in rows.items()}
        while told := self.change(cells.values(), [cell._replace(value=None) for cell in cells.values()]):
            found = zip(cells, told, strict=True)
            there |= {url: expanded(raw, f"what lies beside {url}") for url, raw in found if raw}
            cells = {url: cell for url, cell in cells.items() if url not in there}
        return there

    def attached(self, urls: Collection[str], beginning: str) -> dict[str, dict[str, bytes]]:
        asked = list(urls)
        found = self.groups("attachments", [digest(plain(url)) for url in asked], beginning.encode())
        return {
            url: {name.decode(): expanded(raw, f"what lies beside {url}") for name, raw in cells.items()}
            for url, cells in zip(asked, found, strict=True)
        }

    def attachments(self, url: str) -> dict[str, bytes]:
        return self.attached([url], "")[url]

    def detach(self, url: str, beginning: str) -> None:
        self.clear("attachments", digest(plain(url)), beginning.encode())

    def _number(self) -> bytes:
        """The field of what is recorded now: behind all that this process has recorded, and nobody else's."""
        self._last = max(time.time_ns(), self._last + 1)
        return self._last.to_bytes(8, "big") + self._process


def orphan_cell(dependent: Dependent) -> Cell:
    """What is to be fetched again."""
    return Cell("orphans", b"", *pack_dependent(dependent))


def _attachment(url: str, name: str, data: bytes) -> Cell:
    return Cell("attachments", digest(plain(url)), check_name(name).encode(), shrunk(data))


def _state(site: str, name: str) -> bytes:
    return digest(plain(site)) + digest(plain(name))


def _whose(rewrite: Rewrite) -> tuple[bytes, bytes]:
    """Group and field of its number by its URL: spiders and runs are kept apart."""
    spider, run = (digest(plain(name))[:_WHOSE_BYTES] for name in (rewrite.spider, rewrite.run))
    return digest(plain(rewrite.url)), spider + run


def _cells_of(number: bytes, rewrite: Rewrite, raw: bytes | None) -> list[Cell]:
    """Its row, and its number by where it was sent and by each of its rules; to be removed where there is no row."""
    of, mark = (rewrite.spider, rewrite.run), raw and _THERE
    keys = [_key("to", *of, rewrite.canonical), *(_key("by", *of, rule) for rule in dict.fromkeys(rewrite.rules))]
    return [Cell("rewrites", b"", number, raw), *(Cell("rewrite_keys", key, number, mark) for key in keys)]


def _key(*parts: str) -> bytes:
    return digest(plain("\0".join(parts)))


def parts(items: Iterator[Item]) -> Iterator[list[Item]]:
    """Lists of up to `ROWS_AT_ONCE` items."""
    while part := list(islice(items, ROWS_AT_ONCE)):
        yield part
