"""A log as blocks of whole lines: decompressed on the way, valid UTF-8, bounded memory whatever the file holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from dedupcrawl.crawl_logs.compressed import open_log
from dedupcrawl.crawl_logs.rows import LINE
from dedupcrawl.crawl_logs.tally import Tally

_BLOCK_BYTES = 16 << 20  # about 100,000 rows
_LINE_LIMIT = 8 << 20  # bytes; a longer line is left out, or a file without a line end would fill the memory


class LineBlock(NamedTuple):
    """Whole lines of a log, UTF-8, the last one ended; `first_line` counts from 1."""

    first_line: int
    data: bytes

    def lines(self) -> pl.DataFrame:
        """Columns `LINE` and "text", the latter without line ends."""
        return pl.read_lines(self.data, name="text").with_row_index(LINE, offset=self.first_line)


def line_blocks(path: Path, tally: Tally) -> Iterator[LineBlock]:
    """All lines of a log in blocks of some megabytes.

    Bytes that are no UTF-8 become U+FFFD, a byte order mark is dropped, a line over 8 MiB is left out and counted.

    Raises:
        LogError: As `open_log`.
    """
    with open_log(path) as (content, file):
        read_before = tally.bytes_read
        line, rest, overlong = 1, b"", False
        while chunk := content.read(_BLOCK_BYTES):
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
                block = LineBlock(line, _utf8(rest + chunk[:end]))
                line += block.data.count(b"\n")
                rest = chunk[end:]
                yield block
            else:
                rest += chunk
            if len(rest) > _LINE_LIMIT:
                tally.rows += 1
                tally.skip(str(path), f"line longer than {_LINE_LIMIT} bytes", 1, [line])
                rest, overlong = b"", True
        if rest:
            yield LineBlock(line, _utf8(rest + b"\n"))


def _utf8(data: bytes) -> bytes:
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return data
