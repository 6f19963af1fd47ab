"""WARC: the archived answers themselves. The main text of each HTML page is digested while it is read.

Answers cannot be had without parsing them, so here, unlike in the other formats, each row costs what its page costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mmh3
import polars as pl
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from dedupcrawl.content.checks.exact import OF_TEXT, ExactCheck
from dedupcrawl.content.html import extract
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.crawl_logs.compressed import open_log
from dedupcrawl.crawl_logs.rows import LINE, canonical_rows
from dedupcrawl.crawl_logs.tally import LogError, Tally

_EXACT = ExactCheck()
_ANSWERS = WarcRecordType.response | WarcRecordType.revisit
_HTML = ("text/html", "application/xhtml+xml")
_BODY_LIMIT = 16 << 20  # bytes; of a larger page the beginning is compared
_HEADER_LIMIT = 4 << 20  # bytes; a URL may be absurd without the file being broken
_RECORDS_A_BATCH = 20_000
_COLUMNS = ("url", "digest", "text_digest", "status", "mime", "bytes", "title", "redirect_to", "fetched_at")


def matches(head: bytes) -> bool:
    """Whether a file that begins with `head` is a WARC."""
    return head.startswith(b"WARC/")


def read(path: Path, tally: Tally) -> Iterator[pl.DataFrame]:
    """The answers in a WARC, in batches of `rows.SCHEMA` and `rows.LINE`, which counts records.

    Raises:
        LogError: The file is no whole WARC.
    """
    read_before, rows = tally.bytes_read, []
    with open_log(path) as (content, file):
        try:
            records = ArchiveIterator(
                content, record_types=_ANSWERS, parse_http=True, auto_decode="all", max_header_len=_HEADER_LIMIT
            )
            for number, record in enumerate(records, 1):
                rows.append({LINE: number, **_row(record)})
                if len(rows) == _RECORDS_A_BATCH:
                    tally.bytes_read = read_before + file.tell()
                    yield _batch(rows)
                    rows = []
        except OSError as error:
            raise LogError(f"{path} is no whole WARC ({error}): copy or write it again.") from error
        tally.bytes_read = read_before + file.tell()
    yield _batch(rows)


def _batch(rows: list[dict[str, str | int | None]]) -> pl.DataFrame:
    columns = {name: [None if row[name] is None else str(row[name]) for row in rows] for name in _COLUMNS}
    lines = pl.Series(LINE, [row[LINE] for row in rows], dtype=pl.Int64)
    return canonical_rows(pl.DataFrame(columns, schema=dict.fromkeys(_COLUMNS, pl.String)).with_columns(lines))


def _row(record: WarcRecord) -> dict[str, str | int | None]:
    http = record.http_headers
    row: dict[str, str | int | None] = dict.fromkeys(_COLUMNS)
    row["url"] = (record.headers.get("WARC-Target-URI") or "").strip("<>")
    row["digest"] = record.headers.get("WARC-Payload-Digest")
    row["fetched_at"] = record.headers.get("WARC-Date")
    if http is None:
        return row
    row["status"] = http.status_code
    row["redirect_to"] = http.get("Location")
    row["mime"] = (record.http_content_type or "").lower()
    if record.record_type == WarcRecordType.revisit:  # its payload is that of the record it refers to
        return row
    body = record.reader.read(_BODY_LIMIT)
    row["bytes"] = len(body)
    row["digest"] = row["digest"] or mmh3.hash_bytes(body).hex()
    if row["mime"] in _HTML:
        page = extract(body, str(row["url"]), encoding=record.http_charset, fields=False)
        signature = _EXACT.signature(page, SymbolText.of(page.paragraphs))
        row["text_digest"] = signature.hex() if signature and signature.startswith(OF_TEXT) else None
        row["title"] = page.title
    return row
