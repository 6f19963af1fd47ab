"""Heritrix crawl.log, 1.x and 3.x: one line per fetch, columns padded with blanks.

Time, status, size, URL, discovery path, URL it was found on, media type, thread, fetch time and duration, SHA-1,
source tag, annotations (https://heritrix.readthedocs.io/en/latest/glossary.html#status-codes for negative statuses).
"""

from __future__ import annotations

import re

import polars as pl

from dedupcrawl.crawl_logs.blocks import LineBlock, first_lines
from dedupcrawl.crawl_logs.rows import LINE, canonical_rows, lines_of
from dedupcrawl.crawl_logs.tally import Tally

_ROW = re.compile(rb"(?:\d{4}-\d\d-\d\dT[\d:.]+Z|\d{14}|\d{17})\s+-?\d+\s+(?:\d+|-)\s+\S+\s+\S+\s+\S+\s+\S+\s+#")
_METADATA = "metadata://"  # NetarchiveSuite puts the record's own URL on top
_FIELDS = (
    r"^(?P<fetched_at>\S+)\s+(?P<status>-?\d+)\s+(?P<bytes>\d+|-)\s+(?P<url>\S+)\s+(?P<path>\S+)\s+(?P<via>\S+)"
    r"\s+\S+\s+\S+\s+\S+\s+(?P<digest>\S+)"
)


def matches(head: bytes) -> bool:
    """Whether a file that begins with `head` is a Heritrix crawl.log, told by one of its first lines."""
    return any(_ROW.match(line) for line in first_lines(head))


def rows_of(block: LineBlock, path: str, tally: Tally) -> pl.DataFrame:
    """The fetches of some lines; a `BlockReader`.

    Heritrix does not write where a redirect led. But the page that it led to was found by a path that ends in R, on the
    page that redirected: from this each such fetch tells its source's `redirect_to`, as an extra row.
    """
    lines = lines_of(block).filter((pl.col("text") != "") & ~pl.col("text").str.starts_with(_METADATA))
    fetches = lines.select(LINE, pl.col("text").str.extract_groups(_FIELDS).alias("field")).unnest("field")
    broken = fetches.filter(pl.col("url").is_null())[LINE]
    tally.skip(path, "not a line of Heritrix", broken.len(), broken)
    fetches = fetches.filter(pl.col("url").is_not_null())
    redirected = fetches.filter(pl.col("path").str.ends_with("R") & pl.col("via").str.starts_with("http"))
    made = canonical_rows(redirected.select(url="via", redirect_to="url"))
    return pl.concat([canonical_rows(fetches), made])
