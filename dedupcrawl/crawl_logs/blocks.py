"""A log as blocks of whole lines: decompressed on the way, valid UTF-8, bounded memory whatever the file holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dedupcrawl.crawl_logs.compressed import open_log
from dedupcrawl.crawl_logs.tally import Tally

_STRAY_BYTES = re.compile("[\udc80-\udcff]+")  # as "surrogateescape" has them


def utf8(data: bytes) -> bytes:
    r"""The same bytes, each that is not UTF-8 percent-encoded: two URLs that differ stay two.

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
    """All lines of a log in blocks of a few megabytes; those of nothing but blanks are left out, unless `blanks`.

    Bytes that are not UTF-8 are percent-encoded if `sound`, else they stay; a byte order mark is dropped, a line over
    8 MiB is left out and counted. Of a compressed log that was cut or is damaged the whole lines before are read, and
    the rest is counted once.

    Raises:
        LogError: As `open_log`.
    """
    with open_log(path) as content:
        read_before = tally.bytes_read
        line, rest = 1, b""
        while True:
            # What is behind the last line end is a line, too, unless the rest of it was lost.
            chunk = content.read(_BLOCK_BYTES) or (b"\n" if rest and content.damage is None else b"")
            if not chunk:
                break
            tally.bytes_read = read_before + content.file.tell()
            if line == 1 and not rest:
                chunk = chunk.removeprefix(b"\xef\xbb\xbf")
            data = rest + chunk
            end = data.rfind(b"\n") + 1
            rest = data[end : end + LINE_LIMIT + 1]  # of a line that is too long no more than shows that it is
            for block in _blocks(line, data[:end], str(path), tally):
                if blanks or not block.data.isspace():
                    yield block._replace(data=utf8(block.data)) if sound else block
            line += line_count(data)
        if content.damage is not None:
            tally.rows += 1
            tally.skip(str(path), content.problem, 1, [line])


def _blocks(line: int, data: bytes, path: str, tally: Tally) -> Iterator[LineBlock]:
    """Whole lines, the first of them number `line`, without those that are too long."""
    size = LINE_LIMIT + 1 if line_count(data) <= _BLOCK_LINES else _PIECE_BYTES
    start = 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + size) + 1 or data.find(b"\n", start) + 1
        piece = data[start:end]
        if len(piece) > LINE_LIMIT + 1:  # one line, or it would be cut within
            skip_long_line(tally, path, line)
        else:
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
