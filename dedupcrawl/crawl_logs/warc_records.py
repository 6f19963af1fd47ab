"""The answers in a WARC, one at a time: HTTP undone, and those that are not whole named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Literal

from fastwarc.warc import HeaderMap, WarcRecord, WarcRecordType

from dedupcrawl.crawl_logs.compressed import UntilDamage
from dedupcrawl.crawl_logs.encoding import utf8
from dedupcrawl.crawl_logs.warc_split import HEADER_LIMIT, framed, records

HTML = ("text/html", "application/xhtml+xml")
_BODY_LIMIT = 16 << 20  # bytes; two larger pages may begin alike
_HEAD = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it was archived.

    Attributes:
        url: That was asked for.
        date: When, as written.
        digest: Of the payload, as written, where the record has one.
        is_revisit: True when its content is in another record.
        status: Of HTTP; None for other protocols.
        location: Where a redirect leads.
        mime: Media type without parameters, lower case.
        charset: That HTTP declares.
        body: Content, its encodings undone; empty where there is a `problem`.
        problem: Why it cannot be taken for the whole answer; empty when it can.
    """

    url: str
    date: str | None
    digest: str | None
    is_revisit: bool
    status: int | None = None
    location: str | None = None
    mime: str = ""
    charset: str | None = None
    body: bytes = b""
    problem: str = ""


def answers(content: IO[bytes], kinds: Sequence[WarcRecordType] = (WarcRecordType.response,)) -> Iterator[Answer]:
    """All records of these kinds in an open WARC; of what cannot be read, one with a `problem` and no more."""
    sound, problem = UntilDamage(content), ""
    for found in records(sound):
        problem = found.problem
        if not found.data:
            yield _unread(problem)
        elif (record := WarcRecord.from_bytes(framed(found.data))).record_type in (*kinds, WarcRecordType.no_type):
            yield _answer(record, problem)
    if sound.damage and not problem:
        yield _unread(sound.problem)


def _unread(problem: str) -> Answer:
    return Answer("", None, None, False, problem=problem)


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
