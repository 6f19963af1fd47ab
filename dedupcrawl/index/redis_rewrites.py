"""What an index in Redis remembers of rewritten URLs.

They are appended under ascending numbers to one hash; a sorted set holds their numbers behind what they are looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dedupcrawl.index.note_rows import looked_for, pack_rewrite, rewrite_key, rewrite_keys, unpack_rewrite
from dedupcrawl.index.redis_note_scripts import RECORD_REWRITES
from dedupcrawl.index.redis_rows import ROWS_AT_ONCE, RedisRows
from dedupcrawl.index.rows import Rewrite
from dedupcrawl.index.turns import in_turn

_REWRITES_AT_ONCE = 256
_NUMBER_BYTES = 4  # behind the key of a rewrite


class RedisRewrites(RedisRows):
    """The part of the contract Index that has to do with rewrites."""

    def record_rewrites(self, rewrites: Iterable[Rewrite]) -> None:
        """Remember what was rewritten (see Index)."""
        rows = [(pack_rewrite(rewrite), rewrite_keys(rewrite)) for rewrite in rewrites]
        for first in range(0, max(1, len(rows)), _REWRITES_AT_ONCE):
            self._record_rewrites(rows[first : first + _REWRITES_AT_ONCE])

    @in_turn
    def _record_rewrites(self, rows: list[tuple[bytes, list[bytes]]]) -> None:
        arguments: list[bytes | int] = []
        for raw, keys in rows:
            arguments += raw, len(keys), *keys
        replaced = self.link.call(RECORD_REWRITES, self._keys("rewrites", "rewrite_keys", "counters"), *arguments)
        self._drop_rewrite_keys(zip(replaced[::2], replaced[1::2], strict=True))

    def _drop_rewrite_keys(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Of rewrites that are gone. Should this not come to pass, they lead to nothing."""
        gone = [key + _number(number) for number, raw in rows for key in rewrite_keys(unpack_rewrite(raw))]
        if gone:
            self.link.ask("ZREM", self.address.key("rewrite_keys"), *gone)

    @in_turn
    def rewrite(self, url: str) -> Rewrite | None:
        """The newest rewrite of this URL, by whichever spider and run."""
        for number in reversed(self._rewrite_numbers(rewrite_key(url))):
            raw = self.link.ask("HGET", self.address.key("rewrites"), number)
            if raw is not None:
                return unpack_rewrite(raw)
        return None

    def rewrites(self) -> Iterator[Rewrite]:
        """All rewrites, in the order in which they were recorded."""
        return (unpack_rewrite(raw) for _, raw in self._numbered("rewrites"))

    def rewrites_of(
        self, spider: str, run: str, *, canonicals: Iterable[str] = (), rules: Iterable[str] = ()
    ) -> Iterator[Rewrite]:
        """What a spider rewrote in a run to one of these canonical URLs, or by one of these rules (see Index)."""
        numbers: set[int] = set()
        for key in looked_for(spider, run, canonicals, rules):
            numbers.update(self._numbers_of(key))
        wanted = sorted(numbers)
        for first in range(0, len(wanted), ROWS_AT_ONCE):
            for raw in self._values_at(self.address.key("rewrites"), wanted[first : first + ROWS_AT_ONCE]):
                if raw is not None:
                    yield unpack_rewrite(raw)

    @in_turn
    def _numbers_of(self, key: bytes) -> list[int]:
        return self._rewrite_numbers(key)

    def _rewrite_numbers(self, key: bytes) -> list[int]:
        """The numbers of the rewrites that are found by `key` or what begins with it, ascending."""
        end = b"[" + key + b"\xff" * (len(rewrite_key("", "", "")) + _NUMBER_BYTES - len(key))
        members = self.link.ask("ZRANGEBYLEX", self.address.key("rewrite_keys"), b"[" + key, end)
        return sorted(int.from_bytes(member[-_NUMBER_BYTES:], "big") for member in members)

    def drop_older_rewrites(self) -> None:
        """Of each URL and spider the newest stays."""
        older: list[tuple[int, bytes]] = []
        for number, raw in self._numbered("rewrites"):
            rewrite = unpack_rewrite(raw)
            if self._numbers_of(rewrite_key(rewrite.url, rewrite.spider))[-1:] != [number]:
                older.append((number, raw))
            if len(older) == ROWS_AT_ONCE:
                self._drop_rewrites(older)
                older.clear()
        self._drop_rewrites(older)

    @in_turn
    def _drop_rewrites(self, rows: list[tuple[int, bytes]]) -> None:
        if rows:
            self.link.ask("HDEL", self.address.key("rewrites"), *(number for number, _ in rows))
            self._drop_rewrite_keys(rows)


def _number(number: int) -> bytes:
    return number.to_bytes(_NUMBER_BYTES, "big")
