"""WARC: the archived answers themselves. The main text of each HTML page is digested while it is read.

Answers cannot be had without parsing them, so here, unlike in the other formats, each row costs what its page costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mmh3
import polars as pl
from fastwarc.warc import WarcRecordType

from dedupcrawl.content.checks.exact import OF_TEXT, ExactCheck
from dedupcrawl.content.html import extract
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.crawl_logs.compressed import open_log
from dedupcrawl.crawl_logs.rows import LINE, canonical_rows
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.crawl_logs.warc_records import HTML, Answer, answers

_EXACT = ExactCheck()
_ANSWERS = (WarcRecordType.response, WarcRecordType.revisit)
_RECORDS_A_BATCH = 20_000
_NAMES = ("url", "digest", "text_digest", "mime", "title", "redirect_to", "fetched_at")
_SCHEMA = dict.fromkeys(_NAMES, pl.String()) | dict.fromkeys((LINE, "status", "bytes"), pl.Int64())


def matches(head: bytes) -> bool:
    """Whether a file that begins with `head` is a WARC."""
    return head.startswith(b"WARC/")


def read(path: Path, tally: Tally) -> Iterator[pl.DataFrame]:
    """The answers in a WARC, in batches of `rows.SCHEMA` and `rows.LINE`, which counts records.

    Of a damaged file all that can be read is read, and the rest counted.

    Raises:
        LogError: As `open_log`.
    """
    read_before, rows = tally.bytes_read, []
    with open_log(path) as content:
        for number, answer in enumerate(answers(content, _ANSWERS), 1):
            if answer.problem:
                tally.rows += 1
                tally.skip(str(path), answer.problem, 1, [number], "record")
                continue
            rows.append({LINE: number, **_row(answer)})
            if len(rows) == _RECORDS_A_BATCH:
                tally.bytes_read = read_before + content.file.tell()
                yield canonical_rows(pl.DataFrame(rows, _SCHEMA))
                rows = []
        tally.bytes_read = read_before + content.file.tell()
    yield canonical_rows(pl.DataFrame(rows, _SCHEMA))


def _row(answer: Answer) -> dict[str, str | int | None]:
    row: dict[str, str | int | None] = {"url": answer.url, "digest": answer.digest, "fetched_at": answer.date}
    row["status"], row["redirect_to"], row["mime"] = answer.status, answer.location, answer.mime
    if answer.status is None or answer.is_revisit:  # the payload of a revisit is that of the record it refers to
        return row
    row["bytes"] = len(answer.body)
    row["digest"] = answer.digest or mmh3.hash_bytes(answer.body).hex()
    if answer.mime in HTML:
        page = extract(answer.body, answer.url, encoding=answer.charset, fields=False)
        signature = _EXACT.signature(page, SymbolText.of(page.paragraphs))
        row["text_digest"] = signature.hex() if signature and signature.startswith(OF_TEXT) else None
        row["title"] = page.title
    return row
