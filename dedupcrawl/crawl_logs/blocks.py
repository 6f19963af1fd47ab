"""A log as blocks of whole lines: decompressed on the way, valid UTF-8, bounded memory whatever the file holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dedupcrawl.crawl_logs.compressed import UntilDamage, open_log
from dedupcrawl.crawl_logs.tally import Tally

_STRAY_BYTES = re.compile("[\udc80-\udcff]+")  # as "surrogateescape" has them


def utf8(data: bytes) -> bytes:
    r"""The same bytes, each that is no UTF-8 percent-encoded: two URLs that differ stay two.

    >>> utf8(b"http://a.com/caf\xe9"), utf8("café".encode()).decode()
    (b'http://a.com/caf%E9', 'café')
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        return _STRAY_BYTES.sub(_escaped, data.decode("utf-8", "surrogateescape")).encode()
    return data


def _escaped(stray: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in stray[0].encode("utf-8", "surrogateescape"))


_FIRST_LINES = 3  # that are asked which format a file has: the first may be the end of a line that was cut
_BLOCK_BYTES = 16 << 20  # about 100,000 rows
_BLOCK_LINES = 1 << 20  # what reads a block takes memory by the line; one that has more is cut …
_PIECE_BYTES = 1 << 20  # … into pieces of so many bytes, or one line
LINE_LIMIT = 8 << 20
"""Bytes; a longer line is left out, or a file without a line end would fill the memory."""

_TEXT_OF_LINE = re.compile(rb"\S[^\n]*")


class LineBlock(NamedTuple):
    """Whole lines of a log, the last one ended; `first_line` counts from 1."""

    first_line: int
    data: bytes

    def texts(self) -> Iterator[tuple[int, bytes]]:
        """Number and text of each line that is not blank, without the blanks before it."""
        number, counted = self.first_line, 0
        for found in _TEXT_OF_LINE.finditer(self.data):  # blank lines by the million cost next to nothing
            number += self.data.count(b"\n", counted, found.start())
            counted = found.start()
            yield number, found[0]


def line_count(data: bytes) -> int:
    """Line ends: `bytes.count` takes twice as long where they are close together."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == 10))


def line_blocks(path: Path, tally: Tally, *, blanks: bool = False, sound: bool = True) -> Iterator[LineBlock]:
    """All lines of a log in blocks of some megabytes; those of nothing but blanks are left out, unless `blanks`.

    Bytes that are no UTF-8 are percent-encoded if `sound`, else they stay; a byte order mark is dropped, a line over
    8 MiB is left out and counted. Of a compressed log that was cut or is damaged the whole lines before are read, and
    the rest is counted once.

    Raises:
        LogError: As `open_log`.
    """
    with open_log(path) as (content, file):
        log = UntilDamage(content)
        read_before = tally.bytes_read
        line, rest, overlong = 1, b"", False
        while chunk := log.read(_BLOCK_BYTES):
            tally.bytes_read = read_before + file.tell()
            if line == 1 and not rest and not overlong:
                chunk = chunk.removeprefix(b"\xef\xbb\xbf")
            if overlong:
                end = chunk.find(b"\n") + 1
                if not end:
                    continue
                chunk, overlong, line = chunk[end:], False, line + 1
            end = chunk.rfind(b"\n") + 1
            if end:
                data, rest = rest + chunk[:end], chunk[end:]
                for first, part in _without_long_lines(line, data, path, tally):
                    yield from _blocks(first, utf8(part) if sound else part, blanks)
                line += line_count(data)
            else:
                rest += chunk
            if len(rest) > LINE_LIMIT:
                skip_long_line(tally, str(path), line)
                rest, overlong = b"", True
        if log.damage:
            tally.rows += 1
            tally.skip(str(path), log.problem, 1, [line])
        elif rest:
            yield from _blocks(line, utf8(rest + b"\n") if sound else rest + b"\n", blanks)


def _without_long_lines(line: int, data: bytes, path: Path, tally: Tally) -> Iterator[tuple[int, bytes]]:
    """Whole lines as they are, or what is before, between and after those that are too long, with its first number."""
    start = at = 0  # of what was not yielded, and of what was not looked at: some line's
    while len(data) - at > LINE_LIMIT:
        end = data.rfind(b"\n", at, at + LINE_LIMIT + 1) + 1
        if not end:
            end = data.find(b"\n", at) + 1
            if start < at:
                yield line, data[start:at]
            line += data.count(b"\n", start, at)
            skip_long_line(tally, str(path), line)
            line, start = line + 1, end
        at = end
    if start < len(data):
        yield line, data[start:]


def _blocks(line: int, data: bytes, blanks: bool) -> Iterator[LineBlock]:
    """Whole lines as one block; as several, where there are too many of them."""
    if line_count(data) <= _BLOCK_LINES:
        if blanks or not data.isspace():
            yield LineBlock(line, data)
        return
    start = 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + _PIECE_BYTES) + 1 or data.find(b"\n", start) + 1
        piece = data[start:end]
        if blanks or not piece.isspace():
            yield LineBlock(line, piece)
        line += line_count(piece)
        start = end


def first_lines(head: bytes) -> list[bytes]:
    """The first few lines that are not blank of a file that begins with `head`, without blanks around; one at least."""
    texts = (found[0].rstrip() for found in _TEXT_OF_LINE.finditer(head))
    return list(islice(texts, _FIRST_LINES)) or [b""]


def skip_long_line(tally: Tally, path: str, line: int) -> None:
    """Count a line of more than `LINE_LIMIT` bytes."""
    tally.rows += 1
    tally.skip(path, f"line longer than {LINE_LIMIT} bytes", 1, [line])
