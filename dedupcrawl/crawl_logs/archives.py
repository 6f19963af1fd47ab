"""CDX and CDXJ, the capture indexes of web archives, and the crawl.log of their crawler, Heritrix.

A row of CDX has 9 or 11 fields, or those that the header line names by the letters of
https://iipc.github.io/warc-specifications/specifications/cdx-format/cdx-2015/. A row of CDXJ (pywb, Common Crawl's
index server) has a sorted URL key, a time stamp of 14 digits, and a JSON object. A line of crawl.log (1.x and 3.x) is
one fetch, with columns padded by blanks: time, status, size, URL, discovery path, referring URL, media type, thread,
fetch time and duration, SHA-1, source tag, annotations
(https://heritrix.readthedocs.io/en/latest/glossary.html#status-codes explains negative statuses).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dedupcrawl.crawl_logs.blocks import LineBlock, first_lines
from dedupcrawl.crawl_logs.delimited import named
from dedupcrawl.crawl_logs.jsonl import NOT_OBJECT, decoded
from dedupcrawl.crawl_logs.rows import BlockReader, LogRow, rows_of_values
from dedupcrawl.crawl_logs.tally import LogError, Tally

_HEADER = re.compile(rb" CDX( [A-Za-z])+\s*\Z")
_ROW = re.compile(rb"\S+ \d{1,14} \S+ \S+ (?:\d{3}|-) ")
WITH_TIME = re.compile(rb"\S+ \d{14} ")  # no line of prose begins like this
_LETTERS = {"a": "url", "s": "status", "k": "digest", "r": "redirect_to", "b": "fetched_at", "N": "key"}
_WITHOUT_HEADER = {9: "N b a m s k r V g", 11: "N b a m s k r M S V g"}
NOT_GET = "__wb_method="  # part of the key of captures of other requests than GET


def matches_cdx(head: bytes) -> bool:
    """Whether a file that begins with `head` is CDX, judging by its header line or its first rows."""
    first, *others = first_lines(head)
    if _header_of(head) or _ROW.match(first):
        return True
    return any(_ROW.match(line) and WITH_TIME.match(line) for line in others)


def _header_of(head: bytes) -> bytes | None:
    return next((line for line in head.split(b"\n", 3)[:3] if _HEADER.match(line)), None)


def cdx_reader(head: bytes, path: str) -> BlockReader:
    """A reader for any lines of a CDX file that begins with `head`; it leaves out captures that do not answer a GET.

    Raises:
        LogError: The file has no header line, and its rows have neither 9 nor 11 fields.
    """
    fields = [len(line.split(b" ")) for line in first_lines(head)]
    if header := _header_of(head):
        letters = header.decode().split()[1:]
    elif layouts := [_WITHOUT_HEADER[count] for count in fields if count in _WITHOUT_HEADER]:
        letters = layouts[0].split()
    else:
        raise LogError(f"{path} has a CDX row of {fields[0]} fields: put its header line (' CDX N b a …') on top.")
    return partial(_rows_of_cdx, [_LETTERS.get(letter, f"_{letter}") for letter in letters])


def _rows_of_cdx(names: Sequence[str], block: LineBlock, path: str, tally: Tally) -> list[LogRow]:
    lines = ((number, line.rstrip(b"\r").decode().split(" ")) for number, line in block.texts())
    captures = [(number, named(names, fields)) for number, fields in lines if fields[0] != "CDX"]
    return _rows_of_gets(captures, f"not {len(names)} fields", path, tally)


def _rows_of_gets(
    captures: Sequence[tuple[int, Mapping[str, Any] | None]], problem: str, path: str, tally: Tally
) -> list[LogRow]:
    """The rows of captures that answer a GET, as their "key" says; the tally counts the others."""
    gets = [one for one in captures if not (one[1] and NOT_GET in (one[1].get("key") or ""))]
    tally.skip(path, "not a GET request", len(captures) - len(gets))
    return rows_of_values(gets, problem, path, tally)


_CDXJ_ROW = re.compile(rb"\S+ \d{1,17} \{")
_HEADERS = re.compile(rb"^[!@][^\n]*", re.MULTILINE)
_OF_THE_RECORD = {"length", "timestamp"}  # the length is that of the archived record, not of the body


def matches_cdxj(head: bytes) -> bool:
    """Whether a file that begins with `head` is CDXJ, judging by its first lines that are not headers."""
    first, *others = first_lines(_HEADERS.sub(b"", head))
    return _CDXJ_ROW.match(first) is not None or any(_CDXJ_ROW.match(line) and WITH_TIME.match(line) for line in others)


def rows_of_cdxj(block: LineBlock, path: str, tally: Tally) -> list[LogRow]:
    """The captures in a block of lines that answer a GET; a `BlockReader`."""
    captures = []
    for number, line in block.texts():
        key, time, json = (*line.split(b" ", 2), b"", b"")[:3]
        if not line.startswith((b"!", b"@")):
            row = {name: value for name, value in (decoded(json) or {}).items() if name not in _OF_THE_RECORD}
            captures.append((number, {**row, "key": key.decode(), "fetched_at": time.decode()} if row else None))
    return _rows_of_gets(captures, NOT_OBJECT, path, tally)


_FETCH = re.compile(rb"(?:\d{4}-\d\d-\d\dT[\d:.]+Z|\d{14}|\d{17})\s+-?\d+\s+(?:\d+|-)\s+\S+\s+\S+\s+\S+\s+\S+\s+#")
_METADATA = b"metadata://"  # NetarchiveSuite puts the URL of the metadata record on top
_FIELDS = re.compile(
    r"(?P<fetched_at>\S+)\s+(?P<status>-?\d+)\s+(?P<bytes>\d+|-)\s+(?P<url>\S+)\s+(?P<path>\S+)\s+(?P<via>\S+)"
    r"\s+\S+\s+\S+\s+\S+\s+(?P<digest>\S+)"
)


def matches_heritrix(head: bytes) -> bool:
    """Whether a file that begins with `head` is a Heritrix crawl.log, judging by its first lines."""
    return any(_FETCH.match(line) for line in first_lines(head))


def rows_of_heritrix(block: LineBlock, path: str, tally: Tally) -> list[LogRow]:
    """The fetches in a block of lines; a `BlockReader`.

    Heritrix does not log the target of a redirect. But the target has a discovery path that ends in R, and the
    redirecting page as its referrer. From this the function derives `redirect_to`, which it returns as an extra row.
    """
    matches = [
        (number, _FIELDS.match(line.decode())) for number, line in block.texts() if not line.startswith(_METADATA)
    ]
    fetches = [(number, row and row.groupdict()) for number, row in matches]
    redirects = [
        (None, {"url": row["via"], "redirect_to": row["url"]})
        for _, row in fetches
        if row and row["path"].endswith("R") and row["via"].startswith("http")
    ]
    return rows_of_values([*fetches, *redirects], "not a line of Heritrix", path, tally)
