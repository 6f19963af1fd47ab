"""Pages in files: JSON Lines rows with `html` or `text`, or the HTML responses of a WARC."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
from fastwarc.warc import WarcRecordType

from dedupcrawl.content.html import extract
from dedupcrawl.crawl_logs.blocks import line_blocks
from dedupcrawl.crawl_logs.compressed import head_of, open_log
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.crawl_logs.warc_records import HTML, answers
from dedupcrawl.page import Page, paragraphs_of


class _Row(msgspec.Struct):
    url: str
    html: str | None = None
    text: str | None = None
    title: str = ""


def read_pages(path: Path, tally: Tally, *, fields: bool = False) -> Iterator[Page]:
    """All pages of one file, compressed or not; a broken row is counted in `tally` and left out.

    Args:
        path: The file.
        tally: Filled in while pages are drawn.
        fields: Whether headings, meta elements and anchors are wanted too.

    Raises:
        LogError: the file cannot be opened, decompressed or read to its end.
    """
    return (_warc_pages if head_of(path, 5) == b"WARC/" else _json_pages)(path, tally, fields)


def page_of_row(row: bytes, *, fields: bool = False) -> Page:
    """One JSON row as a Page.

    Raises:
        ValueError: it is no such row; the message says why.
    """
    try:
        read = msgspec.convert(json.loads(row), _Row)  # not msgspec.json: it refuses lone surrogates, which pages have
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    url, title = _sound(read.url), _sound(read.title)
    if read.html is not None:
        return extract(_sound(read.html), url, fields=fields)
    if read.text is None:
        raise ValueError("neither html nor text")
    return Page(url, title, paragraphs_of(_sound(read.text)))


def _sound(text: str) -> str:
    """Without lone surrogates, which no encoder takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _json_pages(path: Path, tally: Tally, fields: bool) -> Iterator[Page]:
    for block in line_blocks(path, tally):
        for number, row in enumerate(block.data.splitlines(), block.first_line):
            if not row.strip():
                continue
            tally.rows += 1
            try:
                page = page_of_row(row, fields=fields)
            except (ValueError, msgspec.ValidationError) as error:
                tally.skip(str(path), str(error), 1, [number])
            else:
                yield page


def _warc_pages(path: Path, tally: Tally, fields: bool) -> Iterator[Page]:
    read_before = tally.bytes_read
    with open_log(path) as (content, file):
        for number, answer in enumerate(answers(path, content, WarcRecordType.response), 1):
            is_page = answer.status == 200 and answer.mime in HTML
            if not is_page and not (answer.problem and answer.status is None):
                continue
            tally.rows += 1
            tally.bytes_read = read_before + file.tell()
            if answer.problem:
                tally.skip(str(path), answer.problem, 1, [number], "record")
            else:
                yield extract(answer.body, answer.url, encoding=answer.charset, fields=fields)
