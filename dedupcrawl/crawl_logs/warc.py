"""WARC: the archived responses themselves. The reader computes the digest of each HTML page's main text.

A damaged file is split into its records, too: a broken record is lost, but not those that follow. (FastWARC, which
parses the records, stops at the first error.) A record states its length, and the bytes behind it show whether that is
right. If it is wrong, and after bytes that are not a record, the reader looks for the next version line. It does not
hold a record over `RECORD_LIMIT` in memory and relies on the stated length, because a page could forge a version line
inside. If the file is shorter than that, the reader says so and stops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from fastwarc.warc import HeaderMap, WarcRecord, WarcRecordType

from dedupcrawl.content.bodies import HTML
from dedupcrawl.content.checks.exact import OF_TEXT, ExactCheck
from dedupcrawl.content.html import extract
from dedupcrawl.core.digests import digest_of
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.crawl_logs.blocks import Content, open_log, utf8
from dedupcrawl.crawl_logs.rows import LogRow, rows_of_values
from dedupcrawl.crawl_logs.tally import Tally

RECORD_LIMIT = 64 << 20  # most bytes held in memory; a larger record is not a page
HEADER_LIMIT = 4 << 20  # bytes; even a sound file may have absurdly long URLs
CUT_SHORT = "the record is cut short"
TOO_LARGE = f"the record is larger than {RECORD_LIMIT >> 20} MiB"
BEYOND_THE_FILE = "its Content-Length reaches beyond the end of the file: what follows it is not read"
_CHUNK = 1 << 16  # bytes that are read at once

_MARK = re.compile(rb"WARC/\d\.\d{1,2}\r?\n(?=[A-Za-z])")  # the version line, and the beginning of the next line
_MARK_BYTES = 12  # most bytes of a match
_END_OF_HEADER = re.compile(rb"\r?\n\r?\n|" + _MARK.pattern)
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_LENGTHS = re.compile(rb"^[ \t]*content-length[ \t]*:.*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_AFTER_RECORD = re.compile(rb"\r?\n\r?\n|[\r\n]{0,4}(?:WARC/|\Z)")


class Found(NamedTuple):
    """The bytes of one record from its version line on, or a stretch of bytes that is not a record."""

    data: bytes  # header and block; only the header of a record over `RECORD_LIMIT`; empty if it is not a record
    problem: str = ""  # why the record is not complete; empty if it is


class _Window:
    """A window on the bytes of a stream: `data` begins where the next record may begin."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self.data = bytearray()

    def has(self, size: int) -> bool:
        """Read until the window holds this many bytes; False if the stream has fewer."""
        while len(self.data) < size:
            chunk = self._content.read(_CHUNK)
            if not chunk:
                return False
            self.data += chunk
        return True

    def skip(self, size: int) -> bool:
        """Skip this many bytes without holding them in memory; False if there are fewer."""
        while len(self.data) < size and self.data:
            size -= len(self.data)
            self.data.clear()
            self.has(1)
        is_there = len(self.data) >= size
        del self.data[:size]
        return is_there

    def search(self, pattern: re.Pattern[bytes], limit: int) -> re.Match[bytes] | None:
        """The first match after the version line; the search ends after about `limit` bytes."""
        start = len(b"WARC/")
        while not (match := pattern.search(self.data, start)):
            start = max(start, len(self.data) - _MARK_BYTES)
            if start > limit or not self.has(len(self.data) + 1):
                return None
        return match

    def to_mark(self) -> tuple[bool, bool]:
        """Move to the next version line; returns whether there is one, and whether it passed more than blanks."""
        passed = False
        while not (mark := _MARK.search(self.data)):
            searched = len(self.data)
            more = self.has(searched + 1)
            old = max(0, searched - _MARK_BYTES) if more else searched
            passed = passed or bool(self.data[:old].strip())
            del self.data[:old]
            if not more:
                return False, passed
        passed = passed or bool(self.data[: mark.start()].strip())
        del self.data[: mark.start()]
        return True, passed

    def unmarked(self) -> int:
        """Number of bytes that cannot be part of a version line, after none was found in the window."""
        return max(len(b"WARC/"), len(self.data) - _MARK_BYTES)

    def taken(self, size: int) -> bytes:
        data = bytes(self.data[:size])
        del self.data[:size]
        return data


def records(content: Content) -> Iterator[Found]:
    """All records of an open WARC, and one item for each stretch of other bytes between two records.

    Takes time linear in the bytes, and the memory of one record.
    """
    window = _Window(content)
    is_reported = False  # whether the problem of the last item also covers the bytes that follow it
    while True:
        is_record, passed = window.to_mark()
        if passed and not is_reported:
            yield Found(b"", "not a WARC record")
        if not is_record:
            return
        record = _record(window)
        is_reported = record.problem not in {"", TOO_LARGE}
        yield record


def framed(data: bytes) -> bytes:
    """Correct a record's Content-Length, because a parser allocates as much memory as a header promises."""
    end = _END_OF_HEADER.search(data, len(b"WARC/"))
    header, block = (data, b"") if end is None else (data[: end.end()], data[end.end() :])
    fields = _LENGTHS.sub(b"", header).rstrip(b"\r\n")
    return b"%b\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (fields, len(block), block)


def _record(window: _Window) -> Found:
    """Take the record at the beginning of the window, up to where the search for the next one must begin."""
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
    more = window.has(size + _MARK_BYTES)
    is_there = len(window.data) >= size
    if is_there and _AFTER_RECORD.match(window.data, size):
        return Found(window.taken(size))
    following = _MARK.search(window.data, len(header))
    if following is None and not is_there:
        return Found(window.taken(len(window.data)), CUT_SHORT)
    end_of_it = following.start() if following else window.unmarked() if more else len(window.data)
    return Found(window.taken(end_of_it), "its Content-Length is wrong")


_BODY_LIMIT = 16 << 20  # bytes; a larger body is left out, not cut, because two pages may begin alike
_HEAD = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """An archived response."""

    url: str
    date: str | None  # the time of the fetch, as written
    digest: str | None  # of the payload, as written, if the record has one
    is_revisit: bool  # whether its content is in another record
    status: int | None = None
    location: str | None = None
    mime: str = ""  # media type without parameters, lower case
    charset: str | None = None
    body: bytes = b""  # decoded content; empty if there is a `problem`
    problem: str = ""  # why the response is not complete; empty if it is


def answers(content: Content, kinds: Sequence[WarcRecordType] = (WarcRecordType.response,)) -> Iterator[Answer]:
    """All records of these kinds in an open WARC; for unreadable bytes, an answer with nothing but a `problem`."""
    for one in records(content):
        if not one.data:
            yield Answer("", None, None, False, problem=one.problem)
        elif (record := WarcRecord.from_bytes(framed(one.data))).record_type in (*kinds, WarcRecordType.no_type):
            yield _answer(record, one.problem)


def _answer(record: WarcRecord, problem: str) -> Answer:
    headers = record.headers
    url = _url(headers, b"WARC-Target-URI") or ""
    is_revisit = record.record_type == WarcRecordType.revisit
    facts = (url, headers.get("WARC-Date"), headers.get("WARC-Payload-Digest"), is_revisit)
    block = record.reader.read()
    if not problem and (reason := headers.get("WARC-Truncated")):
        problem = f"the record was truncated when it was written (WARC-Truncated: {reason:.40})"
    if not record.is_http:
        return Answer(*facts, problem=problem)
    try:
        http = _parsed(block, "none" if problem or is_revisit else "all")
        body = b"" if problem or is_revisit else http.reader.read(_BODY_LIMIT + 1)
        if len(body) > _BODY_LIMIT:
            problem, body = f"its content is larger than {_BODY_LIMIT >> 20} MiB", b""
    except OSError as error:
        problem, body = f"its content cannot be decoded ({str(error).rstrip('.')})", b""
        http = _parsed(block, "none")
    if http.http_headers is None:
        return Answer(*facts, problem=problem)
    mime = (http.http_content_type or "").lower()
    location = _url(http.http_headers, b"Location")
    return Answer(*facts, http.http_headers.status_code, location, mime, http.http_charset, body, problem)


def _url(headers: HeaderMap, name: bytes) -> str | None:
    """The URL in a header, in which bytes that are not UTF-8 are percent-encoded."""
    value = headers.get_bytes(name)
    return None if value is None else utf8(value).decode().strip("<>")


def _parsed(block: bytes, decode: Literal["none", "all"]) -> WarcRecord:
    """Parse the block of a record as a record of its own, so that a decoding error does not affect the file."""
    record: WarcRecord = WarcRecord.from_bytes(_HEAD % len(block) + block + b"\r\n\r\n")
    record.parse_http(auto_decode=decode, max_header_len=HEADER_LIMIT)
    return record


_EXACT = ExactCheck()
_ANSWERS = (WarcRecordType.response, WarcRecordType.revisit)
_RECORDS_A_BATCH = 20_000  # set by hand, to bound memory


def read(path: Path, tally: Tally) -> Iterator[list[LogRow]]:
    """Read the responses in a WARC in batches of rows, whose `line` counts records.

    A damaged file is read as far as possible, and the tally gets the position of the rest.
    """
    rows, number = [], 0
    with open_log(path, tally) as content:
        for number, answer in enumerate(answers(content, _ANSWERS), 1):
            if answer.problem:
                tally.skip(str(path), answer.problem, 1, [number], "record")
                continue
            rows.append((number, _row(answer)))
            if len(rows) == _RECORDS_A_BATCH:
                yield rows_of_values(rows, "", str(path), tally)
                rows = []
        content.tell(path, number + 1, "record")
    yield rows_of_values(rows, "", str(path), tally)


def _row(answer: Answer) -> dict[str, str | int | None]:
    row: dict[str, str | int | None] = {"url": answer.url, "digest": answer.digest, "fetched_at": answer.date}
    row["status"], row["redirect_to"] = answer.status, answer.location
    if answer.status is None or answer.is_revisit:  # the payload of a revisit is that of the record it refers to
        return row
    row["bytes"] = len(answer.body)
    row["digest"] = answer.digest or digest_of(answer.body).hex()
    if answer.mime in HTML:
        page = extract(answer.body, answer.url, encoding=answer.charset, fields=False)
        signature = _EXACT.signature(page, SymbolText.of(page.paragraphs))
        row["text_digest"] = signature.hex() if signature and signature.startswith(OF_TEXT) else None
        row["title"] = page.title
    return row
