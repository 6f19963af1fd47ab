"""What every index remembers besides pages: verdicts, states of sites, attachments, rewrites."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import groupby

from dedupcrawl.index.record import (
    DIGEST_BYTES,
    Recorded,
    Rewrite,
    check_name,
    compressed,
    decompressed,
    digest,
    pack_row,
    plain,
    unpack_row,
)
from dedupcrawl.index.tables import BESIDE, NUMBER_BYTES, RESTORED, REWRITE, VERDICT, Cell, Tables, parts
from dedupcrawl.sites import site_of
from dedupcrawl.verdict import Verdict

_verdict_of = partial(unpack_row, Recorded)

_WHOSE_BYTES = 8  # of the digest of a spider or a run: their users name them


@lru_cache(maxsize=16)
def _whose(*names: str) -> bytes:
    return b"".join(digest(name)[:_WHOSE_BYTES] for name in names)


class UrlRows(Tables):
    """What is known of URLs: a group of cells of each, whose fields begin with their kind (`tables.OF_URL`)."""

    def _newest(self, kind: bytes, url: str, whose: bytes = b"") -> bytes | None:
        """What came last of a URL; values of this kind begin with the number under which they came."""
        (cells,) = self.groups("urls", [digest(url)], kind + whose)
        return max(cells.values())[NUMBER_BYTES:] if cells else None

    def _in_order(self, kind: bytes) -> Iterator[bytes]:
        """All of this kind, oldest first; some 80 bytes of each are held."""
        cells = self.cells("urls", kind)
        keys = sorted((cell.value or b"")[:NUMBER_BYTES] + cell.group + cell.field for cell in cells)
        for some in parts(keys):
            groups = self.groups("urls", [key[NUMBER_BYTES:][:DIGEST_BYTES] for key in some], kind)
            for key, of_url in zip(some, groups, strict=True):
                raw = of_url.get(key[NUMBER_BYTES + DIGEST_BYTES :], b"")
                if raw and key.startswith(raw[:NUMBER_BYTES]):  # else another came meanwhile
                    yield raw[NUMBER_BYTES:]

    def _older(self, kind: bytes, length: int = 0) -> Iterator[Cell]:
        """All cells of this kind but the newest of each URL, or of those whose fields go on alike, so many bytes."""
        for _, some in groupby(self.cells("urls", kind), lambda cell: (cell.group, cell.field[: len(kind) + length])):
            yield from sorted(some, key=lambda cell: cell.value or b"")[:-1]


def _content(cell: Cell) -> bytes:
    return (cell.value or b"")[NUMBER_BYTES:]


class Values(Tables):
    """Tables of values that are compressed."""

    def update(self, cell: Cell, change: Callable[[bytes | None], bytes], what: str) -> bytes:
        """Set a value to what `change` makes of it, in one atomic step over all processes; returns the new one.

        Args:
            cell: With a guess at its value.
            change: May be called more than once. What it raises is raised here, and the value stays.
            what: The value, for people.
        """
        while True:
            new = change(None if cell.value is None else decompressed(cell.value, what))
            there = self.change([cell._replace(value=compressed(new))], [cell])
            if there is None:
                return new
            cell = cell._replace(value=there[0])


class VerdictLog(UrlRows):
    """What was said of pages, and taken back. Of a page the newest verdict of each run is kept."""

    def record(self, verdict: Verdict, *, run: str, site: str, spider: str = "", request: bytes = b"") -> None:
        """Remember a verdict, for explain, report and restore: of duplicate, or of unique in doubt.

        `request` is given where the page is dropped, and nowhere else.
        """
        self.send([self.verdict_cell(Recorded(verdict, run, site, spider, time.time(), request))])

    def verdict_cell(self, recorded: Recorded) -> Cell:
        """What is remembered of a verdict, for who changes other cells with it."""
        raw = self._number() + pack_row(recorded)
        return Cell("urls", digest(recorded.verdict.url), VERDICT + _whose(recorded.run), raw)

    def verdict(self, url: str) -> Verdict | None:
        """The newest recorded verdict on this URL."""
        judged = self.judged(url)
        return None if judged is None else judged.verdict

    def judged(self, url: str) -> Recorded | None:
        """The same with where and when it fell."""
        raw = self._newest(VERDICT, url)
        return None if raw is None else self._read(_verdict_of, raw)

    def recorded(self) -> Iterator[Recorded]:
        return (self._read(_verdict_of, raw) for raw in self._in_order(VERDICT))

    def withdraw(self, urls: Iterable[str]) -> int:
        """The verdicts on these pages no longer hold, nor will any later one: the pages are restored.

        Each page in one atomic step: its verdicts go, and the newest is remembered among the restored. Pages without a
        recorded verdict are left as they are.

        Returns:
            How many were restored.
        """
        pages = dict.fromkeys(map(digest, urls))
        return sum(
            self._withdraw(page, cells)
            for some in parts(pages)
            for page, cells in zip(some, self.groups("urls", some, VERDICT), strict=True)
            if cells
        )

    def _withdraw(self, page: bytes, cells: dict[bytes, bytes]) -> bool:
        there = [Cell("urls", page, field, raw) for field, raw in cells.items()]
        restored = Cell("urls", page, RESTORED, max(cells.values())[NUMBER_BYTES:])
        gone = [cell._replace(value=None) for cell in there]
        return self.change([*gone, restored], there) is None  # else another process was quicker

    def is_restored(self, *urls: str) -> bool:
        """True when a verdict on one of these pages was withdrawn: it is not a duplicate, whatever it looks like."""
        return any(self.groups("urls", [digest(url) for url in urls], RESTORED))

    def restored(self) -> Iterator[Recorded]:
        """The newest withdrawn verdict on each restored page, in any order."""
        return (self._read(_verdict_of, cell.value or b"") for cell in self.cells("urls", RESTORED))

    def forget_verdicts(self, is_meant: Callable[[Recorded], bool]) -> int:
        """Remove recorded and withdrawn verdicts, with their requests, where they are meant; how many there were."""
        verdicts, restored = self.cells("urls", VERDICT), self.cells("urls", RESTORED)
        count = self.remove(cell for cell in verdicts if is_meant(self._read(_verdict_of, _content(cell))))
        return count + self.remove(cell for cell in restored if is_meant(self._read(_verdict_of, cell.value or b"")))

    def drop_older_verdicts(self) -> None:
        """Of each page the newest stays."""
        self.remove(self._older(VERDICT))


class SiteStates(Values):
    """Small values that last: of a site, or of a run."""

    def site_state(self, site: str, name: str) -> bytes | None:
        """A small value that lasts, one for each site and name; None until it is set."""
        (raw,) = self.values("states", [state_key(site, name)])
        return None if raw is None else decompressed(raw, f"the state {name!r} of {site!r}")

    def update_site_state(
        self, site: str, name: str, change: Callable[[bytes | None], bytes], guess: bytes | None = None
    ) -> bytes:
        """Set a value to what `change` makes of it, in one atomic step over all processes; returns the new one.

        `change` may be called more than once, also with `guess`, what the value may be: if it is, the index is asked
        but once. What it raises is raised here, and the value stays.
        """
        cell = Cell("states", b"", state_key(site, name), None if guess is None else compressed(guess))
        return self.update(cell, change, f"the state {name!r} of {site!r}")

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


class Attachments(UrlRows, Values):
    """What lies beside a URL: its text, its items, its links."""

    def attach(self, url: str, name: str, data: bytes) -> None:
        """Put something beside a URL, kept or dropped: its text, its item. The same name again takes its place.

        Raises:
            ValueError: The name is not 1 to 64 characters of ASCII.
        """
        self.attach_all([(url, name, data)])

    def attach_all(self, rows: Iterable[tuple[str, str, bytes]]) -> None:
        """The same for any number of them, in one step: URL, name and bytes of each."""
        self.send([attachment_cell(*row) for row in rows])

    def attach_new(self, name: str, rows: Mapping[str, bytes]) -> dict[str, bytes]:
        """Put something beside each of several URLs, in one step, where nothing lies under this name yet.

        Returns:
            URL → what lay there already.

        Raises:
            ValueError: The name is not 1 to 64 characters of ASCII.
        """
        there: dict[str, bytes] = {}
        cells = {url: attachment_cell(url, name, data) for url, data in rows.items()}
        while existing := self.change(cells.values(), [cell._replace(value=None) for cell in cells.values()]):
            pairs = zip(cells, existing, strict=True)
            there |= {url: decompressed(raw, f"what lies beside {url}") for url, raw in pairs if raw}
            cells = {url: cell for url, cell in cells.items() if url not in there}
        return there

    def update_attachment(self, url: str, name: str, change: Callable[[bytes | None], bytes]) -> None:
        """Put beside a URL what `change` makes of what lies there, as `update_site_state` does with a state."""
        self.update(attachment_cell(url, name), change, f"what lies beside {url}")

    def attached(self, urls: Collection[str], beginning: str) -> dict[str, dict[str, bytes]]:
        """For each URL what lies beside it under names that begin so; in an index on a server with one round trip."""
        requested = list(urls)
        groups = self.groups("urls", [digest(url) for url in requested], BESIDE + beginning.encode())
        return {
            url: {name[1:].decode(): decompressed(raw, f"what lies beside {url}") for name, raw in cells.items()}
            for url, cells in zip(requested, groups, strict=True)
        }

    def attachments(self, url: str, beginning: str = "") -> dict[str, bytes]:
        """The same of one URL, by default all that lies beside it; gone once the page is forgotten."""
        return self.attached([url], beginning)[url]

    def detach(self, url: str, beginning: str) -> None:
        self.clear("urls", digest(url), BESIDE + beginning.encode())

    def detach_if(self, name: str, is_meant: Callable[[str, bytes], bool], urls: Iterable[str] = ()) -> int:
        """Remove what lies under this name beside any URL, where it is meant; how much there was.

        Args:
            name: Of what is removed.
            is_meant: Called with what lies there, and with its URL, which is empty unless it is one of `urls`: an index
                has only digests.
            urls: Those that are to be told apart.
        """
        by_digest, field = {digest(url): url for url in urls}, BESIDE + name.encode()

        def is_named(cell: Cell) -> bool:
            url = by_digest.get(cell.group, "")
            return is_meant(url, decompressed(cell.value or b"", f"what lies beside {url or 'a URL'}"))

        return self.remove(cell for cell in self.cells("urls", field) if cell.field == field and is_named(cell))


def attachment_cell(url: str, name: str, data: bytes | None = None) -> Cell:
    """What lies beside a URL, for who changes other cells with it."""
    value = None if data is None else compressed(data)
    return Cell("urls", digest(url), BESIDE + check_name(name).encode(), value)


def state_key(site: str, name: str) -> bytes:
    return digest(site) + digest(name)


_THERE = b"."

_rewrite_of = partial(unpack_row, Rewrite)


class RewriteLog(UrlRows):
    """Which URLs were sent to others. Of a URL the newest rewrite of each spider and run is kept."""

    def record_rewrites(self, rewrites: Iterable[Rewrite]) -> None:
        """Remember what was rewritten, some hundreds in one transaction."""
        for some in parts(rewrites):
            self.change([cell for rewrite in some for cell in self._cells_of(rewrite)])

    def _cells_of(self, rewrite: Rewrite) -> list[Cell]:
        """Its row, and by where it was sent, and by each of its rules, that there is one."""
        of, url = (rewrite.spider, rewrite.run), digest(rewrite.url)
        row = Cell("urls", url, REWRITE + _whose(*of), self._number() + pack_row(rewrite))
        by = (_key("by", *of, *pair) for pair in dict.fromkeys(_rules_of(rewrite)))
        keys = [_key("to", *of, rewrite.canonical), *by]
        return [row, *(Cell("rewrite_keys", key, url + row.field, _THERE) for key in keys)]

    def rewrite(self, url: str, *whose: str) -> Rewrite | None:
        """The newest rewrite of this URL, by whichever spider and run, or by those that are named."""
        raw = self._newest(REWRITE, url, _whose(*whose))
        return None if raw is None else self._read(_rewrite_of, raw)

    def rewrites(self) -> Iterator[Rewrite]:
        """All rewrites, in the order in which they were recorded."""
        return (self._read(_rewrite_of, raw) for raw in self._in_order(REWRITE))

    def rewrites_of(
        self, spider: str, run: str, *, canonicals: Iterable[str] = (), rules: Iterable[tuple[str, str]] = ()
    ) -> list[Rewrite]:
        """What a spider rewrote in a run to one of these canonical URLs, or by one of these rules, in that order.

        It takes as long as the answer is, however many rewrites there are.

        Args:
            spider: The spider.
            run: The run.
            canonicals: Canonical URLs.
            rules: Pairs of a site and the id of a rule: rules of many sites have one id.
        """
        targets, by, whose = set(map(plain, canonicals)), set(rules), _whose(spider, run)
        keys = [*(_key("to", spider, run, one) for one in targets), *(_key("by", spider, run, *one) for one in by)]
        urls = {field[:DIGEST_BYTES] for group in self.groups("rewrite_keys", keys) for field in group}
        groups = (group for some in parts(urls) for group in self.groups("urls", some, REWRITE + whose))
        ordered = sorted(raw for group in groups for raw in group.values())
        rows = (self._read(_rewrite_of, raw[NUMBER_BYTES:]) for raw in ordered)
        return [row for row in rows if row.canonical in targets or not by.isdisjoint(_rules_of(row))]  # by the newest

    def drop_older_rewrites(self) -> None:
        """Of each URL and spider the newest stays."""
        self._remove_rewrites(self._older(REWRITE, _WHOSE_BYTES))

    def forget_rewrites(self, is_meant: Callable[[Rewrite], bool]) -> int:
        """Remove rewrites, with their requests, where they are meant; how many there were."""
        rewrites = self.cells("urls", REWRITE)
        return self._remove_rewrites(cell for cell in rewrites if is_meant(self._read(_rewrite_of, _content(cell))))

    def _remove_rewrites(self, cells: Iterable[Cell]) -> int:
        """And the keys of what is not there."""
        count = self.remove(cells)
        for some in parts(self.cells("rewrite_keys")):
            rows = self.groups("urls", [cell.field[:DIGEST_BYTES] for cell in some], REWRITE)
            pairs = zip(some, rows, strict=True)
            self.remove(cell for cell, row in pairs if cell.field[DIGEST_BYTES:] not in row)
        return count


def _rules_of(rewrite: Rewrite) -> list[tuple[str, str]]:
    """The site of the URL, and the id of a rule, for each rule that rewrote it."""
    site = site_of(rewrite.url)
    return [(site, rule) for rule in rewrite.rules]


def _key(*parts: str) -> bytes:
    return digest("\0".join(parts))
