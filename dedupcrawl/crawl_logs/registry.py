"""All log formats, and the recognition of a file's format. A further format is one module, and one line here."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from dedupcrawl.crawl_logs import archives, delimited, jsonl
from dedupcrawl.crawl_logs.blocks import head_of, line_blocks
from dedupcrawl.crawl_logs.rows import BlockReader, LogRow, usable_rows
from dedupcrawl.crawl_logs.tally import THE_LOG_OF_A_CRAWL, LogError, Tally


class LogFormat(NamedTuple):
    """One format. It has either `read` or `block_reader`."""

    name: str
    matches: Callable[[bytes], bool]  # whether a file that begins with these (decompressed) bytes has this format
    # Reads a file's rows in batches, and counts in the tally what it leaves out. Raises LogError if the file is broken
    # as a whole.
    read: Callable[[Path, Tally], Iterator[list[LogRow]]] | None = None
    # For formats in which any lines can be read without those before them: takes the beginning of a file and its name,
    # and returns a reader of blocks of its lines. May raise LogError.
    block_reader: Callable[[bytes, str], BlockReader] | None = None

    def batches(self, path: Path, tally: Tally) -> Iterator[list[LogRow]]:
        """Like `read`, for any format."""
        if self.read is not None:
            yield from self.read(path, tally)
        elif self.block_reader is not None:
            rows_of: BlockReader | None = None
            for block in line_blocks(path, tally):
                rows_of = rows_of or self.block_reader(block.data, str(path))
                yield rows_of(block, str(path), tally)


def _parquet(path: Path, tally: Tally) -> Iterator[list[LogRow]]:
    from dedupcrawl.crawl_logs import parquet  # needs an extra

    return parquet.read(path, tally)


def _warc(path: Path, tally: Tally) -> Iterator[list[LogRow]]:
    from dedupcrawl.crawl_logs import warc  # needs an extra

    return warc.read(path, tally)


FORMATS = (
    LogFormat("Parquet", lambda head: head.startswith(b"PAR1"), _parquet),
    LogFormat("WARC", lambda head: head.startswith(b"WARC/"), _warc),
    LogFormat("JSON Lines", jsonl.matches, None, lambda *_: jsonl.rows_of),
    LogFormat("JSON array", lambda head: head.lstrip().startswith(b"["), jsonl.read_array),
    LogFormat("Heritrix crawl.log", archives.matches_heritrix, None, lambda *_: archives.rows_of_heritrix),
    LogFormat("CDXJ", archives.matches_cdxj, None, lambda *_: archives.rows_of_cdxj),
    LogFormat("CDX", archives.matches_cdx, None, archives.cdx_reader),
    LogFormat("TSV", partial(delimited.matches, "\t"), partial(delimited.read, "\t")),
    LogFormat("CSV", partial(delimited.matches, ","), partial(delimited.read, ",")),
)
"""The formats in the order in which they are tried: those with marks of their own first, those with any header last."""


def format_of(path: Path) -> LogFormat | None:
    """The format of a log, or None if it is empty. The content decides, because many formats are called crawl.log.

    Raises:
        LogError: No format fits, or the file cannot be opened.
    """
    return format_like(head_of(path), str(path))


def format_like(head: bytes, path: str) -> LogFormat | None:
    """The format of a log that begins with `head`, or None if it is empty.

    Raises:
        LogError: No format fits.
    """
    head = head.removeprefix(BOM_UTF8)
    if not head.strip():
        return None
    for log_format in FORMATS:
        if log_format.matches(head):
            return log_format
    names = ", ".join(log_format.name for log_format in FORMATS)
    raise LogError(
        f"{path} is not a crawl log in a known format ({names}; the first line of a CSV or TSV names its url column). "
        f"Scrapy's own log and the access log of a server do not say what was on a page: {THE_LOG_OF_A_CRAWL}."
    )


def read_log(path: Path, tally: Tally) -> Iterator[list[LogRow]]:
    """Read the usable rows of one log, in batches of at most a few hundred thousand.

    The tally names an empty file, and counts unusable rows by reason.

    Raises:
        LogError: The file has no known format, or is broken as a whole; possibly after some batches.
    """
    log_format = format_of(path)
    if log_format is None:
        tally.empty.append(str(path))
        return
    for rows in log_format.batches(path, tally):
        yield usable_rows(rows, str(path), tally)
