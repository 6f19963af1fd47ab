"""The contract of an index: it keeps accepted pages and finds similar ones, in one atomic step a page.

Each part is a class of its own, so that a caller that needs one does not ask for a whole index. It is written once:
over tables of cells (`index.tables`) what every index remembers besides pages (`index.notes`), and over what a process
has at hand of them the pages (`index.pages`). Every call may raise ValueError after `close`, IndexDamagedError when
what is stored cannot be read, and OSError when it cannot be read or written at all; IndexAwayError says that a server
cannot be reached.

Other pages may be dropped because of a kept page before its own item has reached any storage. The ledger
(`index.ledger`) says what becomes of these.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial

from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.ledger import due_cell, key_of, lease_cell, read_lease, skip_cell
from dedupcrawl.index.notes import Attachments, RewriteLog, SiteStates, VerdictLog
from dedupcrawl.index.pages import PageStore
from dedupcrawl.index.record import Premise, Raw, Skip, digest, unpack_skip
from dedupcrawl.index.seal import check_seal
from dedupcrawl.index.tables import COUNTED, OF_URL, Cell, in_turn, parts
from dedupcrawl.index.verify import Told, problems, table_problems


class Ledger(PageStore):
    """Pages that a process keeps and has not stored yet, and what was dropped because of them (see `index.ledger`)."""

    @in_turn
    def start_leasing(self) -> str:
        """From now on this process has a lease on what it keeps, until that is stored; returns its name as a lessee."""
        return self.leases.start()

    def is_open(self, premise: Premise) -> bool:
        """Whether a process has a lease on it: the page is kept, and not known to be stored."""
        lease = lease_cell(premise)
        return self.values(lease.table, [lease.field]) != [None]

    def hold(self, premises: Iterable[Premise]) -> None:
        """These pages are stored: others may be dropped as their duplicates from now on; only own leases end."""
        stored = list(premises)
        for some in parts(stored) if self.leases.owner else ():
            leases = [lease_cell(premise, self.leases.owner) for premise in some]
            while there := self._hold(leases):
                leases = [lease for lease, value in zip(leases, there, strict=True) if lease.value == value]
        with self.lock:
            self.leases.give_up(stored)

    def _hold(self, leases: list[Cell]) -> list[bytes | None] | None:
        """In one step with the leases, so that no skip can be added in between."""
        skips = zip(leases, self.groups("skips", [lease.field for lease in leases]), strict=True)
        gone = [Cell("skips", lease.field, field) for lease, fields in skips for field in fields]
        return self.change([*(lease._replace(value=None) for lease in leases), *gone], leases)

    def fall(self, premises: Iterable[Premise]) -> list[Skip]:
        """These pages will never be stored: forget them; what was skipped for them is due, and returned."""
        lost = list(premises)
        self._look()
        due = [skip for premise in lost for skip in self._fall(premise)[1]]
        with self.lock:
            self.leases.give_up(lost)
        return due

    @in_turn
    def expire(self, excluded: Collection[str] = ()) -> int:
        """The premises fall on which processes have leases that are no more.

        Lessees that are `excluded`, by name, are not looked at yet. Returns how many pages were forgotten.
        """
        self._look()
        dead = self.leases.dead(excluded)
        leases = [read_lease(field, raw) for field, raw in self.rows("leases")] if dead else []
        fallen = ((owner, premise) for owner, premise in leases if owner.hex() in dead)
        ended = [self._fall(premise, owner)[0] for owner, premise in fallen]
        self.leases.purge(dead)
        return sum(ended)

    def make_due(self, skips: Iterable[Skip]) -> None:
        """Their spiders ask for these at their next start."""
        self.change([due_cell(skip) for skip in skips])

    def due(self, spider: str) -> list[Skip]:
        """What is to be fetched again by this spider, because what stood for it was never stored."""
        return [self._due(key, raw) for key, raw in self.rows("due", digest(spider))]

    def _due(self, key: bytes, raw: bytes) -> Skip:
        return self._read(partial(unpack_skip, key=key), raw)

    def take(self, due: Iterable[Skip]) -> list[Skip]:
        """Of what is due that which this process is to ask for; who shares the index with others may get it all.

        It stays due until it is released. In an index of several machines each skip is given to one lessee, and once;
        when that ends and it still is due, to another.
        """
        return list(due)

    def release(self, skip: Skip, premise: Premise | None) -> None:
        """What was due was fetched again and judged; it is due again if the premise falls that it was kept for."""
        gone = due_cell(skip)._replace(value=None)
        if premise is not None:
            lease = lease_cell(premise)
            (leased,) = self.values(lease.table, [lease.field])
            while leased is not None:
                there = self.change([gone, skip_cell(premise, skip)], [lease._replace(value=leased)])
                if there is None:
                    return
                (leased,) = there
        self.change([gone])

    def forget_skips(self, is_meant: Callable[[str], bool]) -> int:
        """Pages are not to be fetched again whose URLs are meant; how many skips were removed.

        What was skipped for a page that is meant and not stored yet is due.
        """
        leases = (read_lease(key, raw)[1] for key, raw in self.rows("leases"))
        self.fall([premise for premise in leases if is_meant(premise.url)])
        gone = [skip for key, raw in self.rows("due") if is_meant((skip := self._due(key, raw)).url)]
        hanging = (cell for cell in self.cells("skips") if is_meant(unpack_skip(cell.value or b"", cell.field).url))
        return self.remove(map(due_cell, gone)) + self.remove(hanging)

    def broken(self) -> Iterator[str]:
        """Where the invariant of the ledger does not hold, in words; others may use the index meanwhile."""
        for key, raw in self.rows("leases"):
            read_lease(key, raw)
        for key, raw in self.rows("due"):
            self._due(key, raw)
        for some in parts(self.cells("skips")):
            leases = self.values("leases", [cell.group for cell in some])
            for cell, lease in zip(some, leases, strict=True):
                skip = unpack_skip(cell.value or b"", cell.field)
                url = skip.premise.url if skip.premise is not None else "nothing"
                if skip.premise is None or key_of(skip.premise) != cell.group:
                    yield f"{skip.url} is skipped for {url}, but hangs on another page"
                elif lease is None and self.groups("skips", [cell.group]) != [{}]:  # it may have come to hold
                    yield f"{skip.url} is skipped for {url}, which is not stored, and nobody answers for that"


FIRST_ID = "first"
"""Of the state of a run: the id of the page that comes next when it begins."""

_VERIFICATIONS = 5  # of an index that is written to meanwhile; what the last one finds is said


class Index(Ledger, VerdictLog, RewriteLog, SiteStates, Attachments):
    """All of it. Safe for several processes on one index.

    Attributes:
        where: What names it, for people.
    """

    where: str

    def first_id_of_run(self, run: str) -> int:
        """A page id that no page of `run` lies below; registers the run when it is new."""
        end = b"%d" % self._look()
        return int(self.update_site_state(run, FIRST_ID, lambda known: known or end))

    @in_turn
    def info(self) -> dict[str, int | float | str]:
        """Pages, postings by check, verdicts, bytes on disk."""
        self._refresh(fresh=True)
        counts = self._counts()
        return {
            "index": self.where,
            **self._catalog.info(),
            **{name: counts.get(kind, 0) for name, kind in OF_URL.items()},
            **{name: counts.get(table, 0) for name, table in COUNTED.items()},
            "bytes": self._bytes(),
        }

    def verify(self, advance: Told | None = None) -> list[str]:
        """Read everything and check every invariant: one sentence for each problem. Pages may be added meanwhile."""
        self._catalog.wait()
        return self._verify(advance)

    @in_turn
    def _verify(self, told: Told | None) -> list[str]:
        journal = self._store.journal
        with self._store.locked():
            for _ in range(_VERIFICATIONS):  # pages that others add meanwhile may end some after these were read
                end = self._look()
                found = self._store.problems() or problems(self._catalog, self._stored(end), told)
                if not found or self._look() == end:
                    break
            found = found or table_problems(journal) or list(self.broken())
            try:
                found or check_seal(journal.path)
            except IndexDamagedError as error:
                found = [str(error)]
            journal.is_sound &= not found
            return found

    def _stored(self, end: int) -> Iterator[tuple[int, Raw]]:
        """(id, packed record) of all records below `end`, where they are safe."""
        return self._store.journal.rows(0, end)

    @abstractmethod
    def _counts(self) -> Mapping[str | bytes, int]:
        """How many cells there are of each kind in the table "urls", and in each of the tables of `COUNTED`."""

    @abstractmethod
    def _bytes(self) -> int:
        """What it takes, where the pages are safe."""

    def compact(self) -> None:
        """Give back the room of what no longer counts.

        That is: ended pages, all but the newest verdict on a page, all but a spider's newest rewrite of a URL, and
        what the processes of a run agreed on.

        Raises:
            OSError: Others use the index, so that this cannot be done now.
        """
        self.drop_older_verdicts()
        self.drop_older_rewrites()

    @abstractmethod
    def close(self) -> None:
        """Flush and release. Further calls fail."""


_LONGEST = 100  # pages in a row


def standing_for(index: Index, url: str) -> str | None:
    """URL of the page at the end of those that supersede each other, from the one kept under `url` on, if any does.

    A page that is kept under another URL than its own is found where the index knows that it was rewritten.
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
