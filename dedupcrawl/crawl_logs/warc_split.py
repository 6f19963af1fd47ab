"""A WARC cut into its records, also where it is damaged: what is broken costs itself and not what follows.

A record says how long it is, and what follows it tells whether that is true. Where it is not, and behind what is no
record at all, the next version line is looked for. (FastWARC, which reads the records, ends at the first error.) Only
a record over `RECORD_LIMIT` is taken at its word, as its bytes are not held: a version line within it would be that of
a record which a page can forge. Where it promises more than the file has, that is said, and nothing follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dedupcrawl.crawl_logs.compressed import UntilDamage

RECORD_LIMIT = 64 << 20  # bytes held in memory; a larger record is no page
HEADER_LIMIT = 4 << 20  # bytes; a URL may be absurd without the file being broken
CUT_SHORT = "the record is cut short"
TOO_LARGE = f"the record is larger than {RECORD_LIMIT >> 20} MiB"
BEYOND_THE_FILE = "its Content-Length reaches beyond the end of the file: what follows it is not read"
_CHUNK = 1 << 16

_MARK = re.compile(rb"WARC/\d\.\d{1,2}\r?\n(?=[A-Za-z])")  # the first line of a record, and that another follows
_MARK_BYTES = 12  # of it, at most
_END_OF_HEADER = re.compile(rb"\r?\n\r?\n|" + _MARK.pattern)
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_LENGTHS = re.compile(rb"^[ \t]*content-length[ \t]*:.*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_AFTER_RECORD = re.compile(rb"\r?\n\r?\n|[\r\n]{0,4}(?:WARC/|\Z)")


class Found(NamedTuple):
    """Bytes of one record, from its version line, as far as they are there; or of none, if empty.

    Attributes:
        data: Header and block; the header alone of a record over `RECORD_LIMIT`.
        problem: Why it is not the whole record; empty when it is.
    """

    data: bytes
    problem: str = ""


class _Window:
    """The bytes of a stream that are looked at: `data` begins where the next record may."""

    def __init__(self, content: UntilDamage) -> None:
        self._content = content
        self.data = bytearray()

    def holds(self, size: int) -> bool:
        """Whether there are so many bytes, after reading what is missing."""
        while len(self.data) < size:
            chunk = self._content.read(_CHUNK)
            if not chunk:
                return False
            self.data += chunk
        return True

    def skip(self, size: int) -> bool:
        """Go on behind so many bytes, without holding them; False if there are not so many."""
        while len(self.data) < size and self.data:
            size -= len(self.data)
            self.data.clear()
            self.holds(1)
        is_there = len(self.data) >= size
        del self.data[:size]
        return is_there

    def search(self, pattern: re.Pattern[bytes], limit: int) -> re.Match[bytes] | None:
        """The first match behind the version line that begins within `limit` bytes."""
        start = len(b"WARC/")
        while not (found := pattern.search(self.data, start)):
            start = max(start, len(self.data) - _MARK_BYTES)
            if start > limit or not self.holds(len(self.data) + 1):
                return None
        return found

    def to_mark(self) -> tuple[bool, bool]:
        """Go on to the next version line: whether there is one, and whether more than blanks was before it."""
        passed = False
        while not (mark := _MARK.search(self.data)):
            searched = len(self.data)
            more = self.holds(searched + 1)
            old = max(0, searched - _MARK_BYTES) if more else searched
            passed = passed or bool(self.data[:old].strip())
            del self.data[:old]
            if not more:
                return False, passed
        passed = passed or bool(self.data[: mark.start()].strip())
        del self.data[: mark.start()]
        return True, passed

    def unmarked(self) -> int:
        """How many of the bytes, among which no version line was found, can hold no part of one."""
        return max(len(b"WARC/"), len(self.data) - _MARK_BYTES)

    def taken(self, size: int) -> bytes:
        """So many bytes; go on behind them."""
        data = bytes(self.data[:size])
        del self.data[:size]
        return data


def records(content: UntilDamage) -> Iterator[Found]:
    """All records of an open WARC, and what is none, once for all that lies between two records.

    Time is linear in the bytes, memory is that of one record.
    """
    window = _Window(content)
    told = False  # whether that is said of what comes next which is no record
    while True:
        is_record, passed = window.to_mark()
        if passed and not told:
            yield Found(b"", "not a WARC record")
        if not is_record:
            return
        found = _record(window)
        told = found.problem not in {"", TOO_LARGE}
        yield found


def framed(data: bytes) -> bytes:
    """A record that says of itself how long it is: its readers take memory for whatever a header promises."""
    end = _END_OF_HEADER.search(data, len(b"WARC/"))
    header, block = (data, b"") if end is None else (data[: end.end()], data[end.end() :])
    fields = _LENGTHS.sub(b"", header).rstrip(b"\r\n")
    return b"%b\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (fields, len(block), block)


def _record(window: _Window) -> Found:
    """The record that begins here; go on behind it, or to where the next one is to be looked for."""
    end = window.search(_END_OF_HEADER, HEADER_LIMIT)
    if end is None or end[0].startswith(b"WARC"):
        return Found(window.taken(window.unmarked() if end is None else end.start()), CUT_SHORT)
    header = bytes(window.data[: end.end()])
    length = _LENGTH.search(header)
    if length is None:
        return Found(window.taken(len(header)), CUT_SHORT)
    promised = int(length[1])
    if promised > RECORD_LIMIT:
        is_there = window.skip(len(header) + promised)
        return Found(header, TOO_LARGE) if is_there else Found(b"", BEYOND_THE_FILE)
    size = len(header) + promised
    more = window.holds(size + _MARK_BYTES)
    is_there = len(window.data) >= size
    if is_there and _AFTER_RECORD.match(window.data, size):
        return Found(window.taken(size))
    following = _MARK.search(window.data, len(header))
    if following is None and not is_there:
        return Found(window.taken(len(window.data)), CUT_SHORT)
    end_of_it = following.start() if following else window.unmarked() if more else len(window.data)
    return Found(window.taken(end_of_it), "its Content-Length is wrong")
