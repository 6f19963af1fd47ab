"""WARC: the archived answers themselves. The main text of each HTML page is digested while it is read.

A damaged file is split into its records, too: a broken record is lost, but not the records that follow. (FastWARC,
which reads the records, ends at the first error.) A record says how long it is, and what follows it shows whether that
is true. If it is not, and after bytes that are not a record, the reader looks for the next version line. The reader
does not hold the bytes of a record over `RECORD_LIMIT`, so it relies on the length that the record states: a version
line inside could be forged by a page. If the file is shorter than that, the reader says so and stops.
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

RECORD_LIMIT = 64 << 20  # bytes held in memory; a larger record is not a page
HEADER_LIMIT = 4 << 20  # bytes; a URL may be absurd without the file being broken
CUT_SHORT = "the record is cut short"
TOO_LARGE = f"the record is larger than {RECORD_LIMIT >> 20} MiB"
BEYOND_THE_FILE = "its Content-Length reaches beyond the end of the file: what follows it is not read"
_CHUNK = 1 << 16  # bytes that are read at once

_MARK = re.compile(rb"WARC/\d\.\d{1,2}\r?\n(?=[A-Za-z])")  # the first line of a record, and that another follows
_MARK_BYTES = 12  # of it, at most
_END_OF_HEADER = re.compile(rb"\r?\n\r?\n|" + _MARK.pattern)
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_LENGTHS = re.compile(rb"^[ \t]*content-length[ \t]*:.*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_AFTER_RECORD = re.compile(rb"\r?\n\r?\n|[\r\n]{0,4}(?:WARC/|\Z)")


class Found(NamedTuple):
    """Bytes of one record, from its version line, as far as they are there; or of none, if empty."""

    data: bytes  # header and block; the header alone of a record over `RECORD_LIMIT`
    problem: str = ""  # why it is not the whole record; empty when it is


class _Window:
    """The bytes of a stream that are looked at: `data` begins where the next record may."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self.data = bytearray()

    def has(self, size: int) -> bool:
        """Whether there are this many bytes, after reading what is missing."""
        while len(self.data) < size:
            chunk = self._content.read(_CHUNK)
            if not chunk:
                return False
            self.data += chunk
        return True

    def skip(self, size: int) -> bool:
        """Skip this many bytes without holding them; False if there are fewer."""
        while len(self.data) < size and self.data:
            size -= len(self.data)
            self.data.clear()
            self.has(1)
        is_there = len(self.data) >= size
        del self.data[:size]
        return is_there

    def search(self, pattern: re.Pattern[bytes], limit: int) -> re.Match[bytes] | None:
        """The first match behind the version line that begins within `limit` bytes."""
        start = len(b"WARC/")
        while not (found := pattern.search(self.data, start)):
            start = max(start, len(self.data) - _MARK_BYTES)
            if start > limit or not self.has(len(self.data) + 1):
                return None
        return found

    def to_mark(self) -> tuple[bool, bool]:
        """Go on to the next version line: whether there is one, and whether more than blanks was before it."""
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
        """How many of the bytes, among which no version line was found, can hold no part of one."""
        return max(len(b"WARC/"), len(self.data) - _MARK_BYTES)

    def taken(self, size: int) -> bytes:
        """So many bytes; go on behind them."""
        data = bytes(self.data[:size])
        del self.data[:size]
        return data


def records(content: Content) -> Iterator[Found]:
    """All records of an open WARC, and one item for all bytes between two records that are not a record.

    Time is linear in the bytes, memory is that of one record.
    """
    window = _Window(content)
    told = False  # whether that is said of what comes next which is not a record
    while True:
        is_record, passed = window.to_mark()
        if passed and not told:
            yield Found(b"", "not a WARC record")
        if not is_record:
            return
        found = _record(window)
        told = found.problem not in {"", TOO_LARGE}
        yield found


def framed(data: bytes) -> bytes:
    """A record that says of itself how long it is: its readers take memory for whatever a header promises."""
    end = _END_OF_HEADER.search(data, len(b"WARC/"))
    header, block = (data, b"") if end is None else (data[: end.end()], data[end.end() :])
    fields = _LENGTHS.sub(b"", header).rstrip(b"\r\n")
    return b"%b\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (fields, len(block), block)


def _record(window: _Window) -> Found:
    """The record that begins here; go on behind it, or to where the next one is to be looked for."""
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


_BODY_LIMIT = 16 << 20  # bytes; two larger pages may begin alike
_HEAD = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it was archived."""

    url: str
    date: str | None  # when, as written
    digest: str | None  # of the payload, as written, where the record has one
    is_revisit: bool  # true when its content is in another record
    status: int | None = None
    location: str | None = None
    mime: str = ""  # media type without parameters, lower case
    charset: str | None = None
    body: bytes = b""  # content, its encodings undone; empty where there is a `problem`
    problem: str = ""  # why it cannot be taken for the whole answer; empty when it can


def answers(content: Content, kinds: Sequence[WarcRecordType] = (WarcRecordType.response,)) -> Iterator[Answer]:
    """All records of these kinds in an open WARC; of what cannot be read, one with a `problem` and no more."""
    for found in records(content):
        if not found.data:
            yield Answer("", None, None, False, problem=found.problem)
        elif (record := WarcRecord.from_bytes(framed(found.data))).record_type in (*kinds, WarcRecordType.no_type):
            yield _answer(record, found.problem)


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
    """A header that is a URL: UTF-8, and what is none percent-encoded."""
    value = headers.get_bytes(name)
    return None if value is None else utf8(value).decode().strip("<>")


def _parsed(block: bytes, decode: Literal["none", "all"]) -> WarcRecord:
    """The block of a record as a record of its own: one that fails to decode leaves the file readable."""
    record: WarcRecord = WarcRecord.from_bytes(_HEAD % len(block) + block + b"\r\n\r\n")
    record.parse_http(auto_decode=decode, max_header_len=HEADER_LIMIT)
    return record


_EXACT = ExactCheck()
_ANSWERS = (WarcRecordType.response, WarcRecordType.revisit)
_RECORDS_A_BATCH = 20_000  # set by hand, to bound memory


def read(path: Path, tally: Tally) -> Iterator[list[LogRow]]:
    """The answers in a WARC, in batches of `rows.LogRow`, which counts records.

    Of a damaged file all that can be read is read, and the tally gets the place where the rest begins.
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
