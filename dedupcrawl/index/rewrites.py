"""Which URLs were sent to others: by a URL the number of the newest rewrite of each spider and run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from dedupcrawl.index.record import digest, pack_row, plain, unpack_row
from dedupcrawl.index.rows import Rewrite
from dedupcrawl.index.tables import Cell, Tables, parts

_WHOSE_BYTES = 8  # of the digest of a spider or a run: their users name them
_THERE = b"."

_unpack = partial(unpack_row, Rewrite)


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
        for some in parts(iter(newest.items())) if newest else [[]]:
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
                replaced = [cell for number, raw in olds if raw for cell in _cells_of(number, _unpack(raw), None)]

    def rewrite(self, url: str) -> Rewrite | None:
        """The newest rewrite of this URL, by whichever spider and run."""
        (numbers,) = self.groups("rewrite_urls", [digest(plain(url))])
        raw = self.values("rewrites", [max(numbers.values())])[0] if numbers else None
        return None if raw is None else self._read(_unpack, raw)

    def rewrites(self) -> Iterator[Rewrite]:
        """All rewrites, in the order in which they were recorded."""
        return (self._read(_unpack, raw) for _, raw in self.rows("rewrites"))

    def rewrites_of(
        self, spider: str, run: str, *, canonicals: Iterable[str] = (), rules: Iterable[str] = ()
    ) -> Iterator[Rewrite]:
        """What a spider rewrote in a run to one of these canonical URLs, or by one of these rules, in that order.

        It takes as long as the answer is, however many rewrites there are.
        """
        keys = [_key("to", spider, run, canonical) for canonical in canonicals]
        keys += [_key("by", spider, run, rule) for rule in rules]
        numbers = {number for group in self.groups("rewrite_keys", keys) for number in group}
        for some in parts(iter(sorted(numbers))):
            yield from (self._read(_unpack, raw) for raw in self.values("rewrites", some) if raw is not None)

    def drop_older_rewrites(self) -> None:
        """Of each URL and spider the newest stays."""
        for rows in parts(self.rows("rewrites")):
            rewrites = [_unpack(raw) for _, raw in rows]
            numbers = self.groups("rewrite_urls", [digest(rewrite.url) for rewrite in rewrites])
            cells = []
            for (number, _), rewrite, known in zip(rows, rewrites, numbers, strict=True):
                url, whose = _whose(rewrite)
                of_spider = [last for field, last in known.items() if field[:_WHOSE_BYTES] == whose[:_WHOSE_BYTES]]
                if number != max(of_spider, default=b""):
                    cells += _cells_of(number, rewrite, None)
                    cells += [Cell("rewrite_urls", url, whose)] if known.get(whose) == number else []
            self.change(cells)


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
