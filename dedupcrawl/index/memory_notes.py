"""What a memory index remembers besides pages: verdicts, rewrites, states of sites, attachments."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from dedupcrawl.index.journal import DIGEST_BYTES
from dedupcrawl.index.note_rows import (
    check_name,
    looked_for,
    pack_recorded,
    pack_rewrite,
    rewrite_key,
    rewrite_keys,
    unpack_recorded,
    unpack_rewrite,
)
from dedupcrawl.index.record import plain
from dedupcrawl.index.rows import Dependent, Recorded, Rewrite
from dedupcrawl.verdict import Verdict


class MemoryNotes:
    """The part of the contract Index that has nothing to do with pages."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._closed = False
        self._orphans: dict[tuple[str, str], Dependent] = {}
        self._verdicts: dict[int, bytes] = {}  # by ascending number
        self._recorded = 0
        self._verdict_of: dict[str, int] = {}
        self._restored: dict[str, bytes] = {}
        self._rewrites: dict[int, bytes] = {}  # by ascending number
        self._rewritten = 0
        self._rewrite_numbers: dict[bytes, list[int]] = {}  # by what they are looked for; some may be gone
        self._agreed: dict[tuple[str, str], bytes] = {}
        self._states: dict[tuple[str, str], bytes] = {}
        self._attachments: dict[str, dict[str, bytes]] = {}

    def record(self, verdict: Verdict, *, run: str, site: str, spider: str = "", request: bytes = b"") -> None:
        """Remember a verdict of duplicate; the newest of a URL counts."""
        with self._lock:
            self._usable()
            self._verdict_of[plain(verdict.url)] = self._recorded
            self._verdicts[self._recorded] = pack_recorded(Recorded(verdict, run, site, spider, time.time(), request))
            self._recorded += 1

    def verdict(self, url: str) -> Verdict | None:
        """The newest recorded verdict on this URL."""
        with self._lock:
            self._usable()
            number = self._verdict_of.get(plain(url))
            return None if number is None else unpack_recorded(self._verdicts[number]).verdict

    def verdicts(self) -> Iterator[Verdict]:
        """All recorded verdicts, oldest first."""
        return (row.verdict for row in self.recorded())

    def recorded(self) -> Iterator[Recorded]:
        """The same with where and when they fell."""
        with self._lock:
            self._usable()
            return map(unpack_recorded, list(self._verdicts.values()))

    def withdraw(self, urls: Iterable[str], *, refetch: bool = False) -> int:
        """The verdicts on these pages hold no more, and no later one shall (see Index)."""
        wanted = {plain(url) for url in urls}
        with self._lock:
            self._usable()
            newest: dict[str, Recorded] = {}
            for number, raw in list(self._verdicts.items()):
                row = unpack_recorded(raw)
                if row.verdict.url in wanted:
                    newest[row.verdict.url] = row
                    self._restored[row.verdict.url] = self._verdicts.pop(number)
                    self._verdict_of.pop(row.verdict.url, None)
            if refetch:
                self.refetch(Dependent(row.spider, url, row.request) for url, row in newest.items())
            return len(newest)

    def _drop_older_verdicts(self) -> None:
        newest = set(self._verdict_of.values())
        self._verdicts = {number: raw for number, raw in self._verdicts.items() if number in newest}

    def is_restored(self, url: str) -> bool:
        """True when a verdict on this page was withdrawn."""
        with self._lock:
            self._usable()
            return plain(url) in self._restored

    def restored(self) -> Iterator[Recorded]:
        """The newest withdrawn verdict on each restored page, in any order."""
        with self._lock:
            self._usable()
            return map(unpack_recorded, list(self._restored.values()))

    def refetch(self, dependents: Iterable[Dependent]) -> None:
        """Make orphans of these, so that their spiders ask for them at their next start."""
        with self._lock:
            self._usable()
            self._orphans |= {(one.spider, one.url): one for one in dependents}

    def record_rewrites(self, rewrites: Iterable[Rewrite]) -> None:
        """Remember what was rewritten (see Index)."""
        with self._lock:
            self._usable()
            for rewrite in rewrites:
                whose, *others = rewrite_keys(rewrite)
                keys = whose[:DIGEST_BYTES], *others
                for older in self._numbers(keys[:1]):
                    if rewrite_keys(unpack_rewrite(self._rewrites[older]))[0] == whose:
                        del self._rewrites[older]
                for key in keys:
                    self._rewrite_numbers.setdefault(key, []).append(self._rewritten)
                self._rewrites[self._rewritten] = pack_rewrite(rewrite)
                self._rewritten += 1

    def _numbers(self, keys: Iterable[bytes]) -> list[int]:
        """The numbers of the rewrites that are found by these keys, ascending."""
        found = {number for key in keys for number in self._rewrite_numbers.get(key, ())}
        return sorted(found & self._rewrites.keys())

    def _drop_older_rewrites(self) -> None:
        """Of each URL and spider the newest stays."""
        rows = ((number, unpack_rewrite(raw)) for number, raw in self._rewrites.items())
        newest = {(row.url, row.spider): number for number, row in rows}
        self._rewrites = {number: self._rewrites[number] for number in sorted(newest.values())}
        self._rewrite_numbers = {key: left for key in self._rewrite_numbers if (left := self._numbers([key]))}

    def rewrite(self, url: str) -> Rewrite | None:
        """The newest rewrite of this URL, by whichever spider and run."""
        with self._lock:
            self._usable()
            numbers = self._numbers([rewrite_key(url)])
            return unpack_rewrite(self._rewrites[numbers[-1]]) if numbers else None

    def rewrites_of(
        self, spider: str, run: str, *, canonicals: Iterable[str] = (), rules: Iterable[str] = ()
    ) -> Iterator[Rewrite]:
        """What a spider rewrote in a run to one of these canonical URLs, or by one of these rules (see Index)."""
        with self._lock:
            self._usable()
            numbers = self._numbers(looked_for(spider, run, canonicals, rules))
            return map(unpack_rewrite, [self._rewrites[number] for number in numbers])

    def rewrites(self) -> Iterator[Rewrite]:
        """All rewrites, in the order in which they were recorded."""
        with self._lock:
            self._usable()
            return map(unpack_rewrite, list(self._rewrites.values()))

    def site_state(self, site: str, name: str) -> bytes | None:
        """A small value that lasts, one for each site and name; None until it is set."""
        with self._lock:
            self._usable()
            return self._states.get((plain(site), plain(name)))

    def update_site_state(self, site: str, name: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Set a value to what `change` makes of it, in one atomic step; returns the new one."""
        with self._lock:
            self._usable()
            key = plain(site), plain(name)
            self._states[key] = change(self._states.get(key))
            return self._states[key]

    def first_of_run(self, run: str, name: str, value: bytes) -> bytes:
        """What any process of a run named first under `name` (see Index)."""
        with self._lock:
            self._usable()
            return self._agreed.setdefault((plain(run), plain(name)), value)

    def attach(self, url: str, name: str, data: bytes) -> None:
        """Put something beside a URL; the same name again takes its place (see Index)."""
        with self._lock:
            self._usable()
            self._attachments.setdefault(plain(url), {})[check_name(name)] = data

    def attach_new(self, name: str, rows: Mapping[str, bytes]) -> dict[str, bytes]:
        """Put something beside each of several URLs where nothing lies under this name yet (see Index)."""
        check_name(name)
        with self._lock:
            self._usable()
            there = {url: self._attachments.setdefault(plain(url), {}).get(name) for url in rows}
            for url, data in rows.items():
                self._attachments[plain(url)].setdefault(name, data)
            return {url: data for url, data in there.items() if data is not None}

    def attached(self, url: str, name: str) -> bytes | None:
        """What lies beside a URL under one name."""
        with self._lock:
            self._usable()
            return self._attachments.get(plain(url), {}).get(name)

    def detach(self, url: str, beginning: str) -> None:
        """Remove what lies beside a URL under names that begin so."""
        with self._lock:
            self._usable()
            attached = self._attachments.get(plain(url), {})
            for name in [name for name in attached if name.startswith(beginning)]:
                del attached[name]

    def attachments(self, url: str) -> dict[str, bytes]:
        """All that lies beside a URL, by name."""
        with self._lock:
            self._usable()
            return dict(sorted(self._attachments.get(plain(url), {}).items()))

    def _notes_info(self) -> dict[str, int]:
        attached = sum(map(len, self._attachments.values()))
        return {
            "verdicts": len(self._verdicts),
            "restored": len(self._restored),
            "rewrites": len(self._rewrites),
            "attachments": attached,
        }

    def _notes_bytes(self) -> int:
        named = (row for rows in self._attachments.values() for row in rows.values())
        held = (self._verdicts.values(), self._restored.values(), self._rewrites.values(), self._states.values(), named)
        return sum(len(row) for rows in held for row in rows)

    def _usable(self) -> None:
        if self._closed:
            raise ValueError("the index is closed")
