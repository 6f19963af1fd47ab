"""All log formats, and how the format of a file is recognized. A further format is one file and one line here."""

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
    """One format."""

    name: str
    matches: Callable[[bytes], bool]  # whether a file that begins with these (decompressed) bytes is of this format
    # the file's rows in batches. Fills the tally with what it leaves out; raises LogError when the file is broken as a
    # whole
    read: Callable[[Path, Tally], Iterator[list[LogRow]]] | None = None
    # in place of `read` where lines of the middle can be read without those before: given the beginning of a file and
    # its name, what reads any of its lines. May raise LogError
    block_reader: Callable[[bytes, str], BlockReader] | None = None

    def batches(self, path: Path, tally: Tally) -> Iterator[list[LogRow]]:
        """As `read`, of any format."""
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
"""In the order in which they are tried: those with a mark of their own first, those that any header line fits last."""


def format_of(path: Path) -> LogFormat | None:
    """The format of a log, recognized by its content, because many formats are called crawl.log. None: it is empty.

    Raises:
        LogError: No format fits, or the file cannot be opened.
    """
    return format_like(head_of(path), str(path))


def format_like(head: bytes, path: str) -> LogFormat | None:
    """The format of a log that begins with `head`. None: it is empty.

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
    """The usable rows of one log, in batches of at most a few hundred thousand.

    An empty file has no rows, and is named in `tally`. Rows that cannot be used are counted in `tally` by their reason.

    Raises:
        LogError: The file is of no known format, or broken as a whole; possibly after some batches.
    """
    log_format = format_of(path)
    if log_format is None:
        tally.empty.append(str(path))
        return
    for rows in log_format.batches(path, tally):
        yield usable_rows(rows, str(path), tally)
