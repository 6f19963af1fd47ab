"""The rows into which every log format is read, and the names that other programs have for their fields."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Any

import msgspec
import regex  # type: ignore[import-untyped]  # it ships no types

from dedupcrawl.core.digests import digest_of
from dedupcrawl.crawl_logs.blocks import LineBlock, utf8
from dedupcrawl.crawl_logs.tally import Tally


class LogRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One row of a log; a field that the log does not have is None."""

    url: str | None = None  # as in the log
    digest: str | None = None  # of the bytes
    text_digest: str | None = None  # of the main text
    simhash: str | None = None
    status: int | None = None
    bytes: int | None = None  # of the body
    title: str | None = None
    canonical: str | None = None  # rel=canonical, as in the page
    redirect_to: str | None = None  # as in the response
    duplicate_of: str | None = None  # URL of the keeper, by a near-duplicate verdict
    unique: bool | None = None  # whether the page was compared with all before it and resembles none
    alias_of: str | None = None  # URL that leads to the same page, according to some page
    alias_held: bool | None = None  # whether fetching both URLs confirmed the alias; None if `url` was not fetched
    importance: float | None = None
    fetched_at: int | None = None  # milliseconds since the epoch, UTC
    run: str | None = None  # the crawl, if several share a log
    line: int | None = None  # 1-based position in the file; None for a row derived from others
    unread: str | None = None  # why a value that must not be ignored cannot be read; None if all can


COLUMNS = tuple(name for name in LogRow.__struct_fields__ if name not in {"line", "unread"})
"""The fields that a log may have."""

BlockReader = Callable[[LineBlock, str, Tally], list[LogRow]]
"""Reads the rows in a block of lines, given the log's name and its tally."""

TEXT = "text"
"""The column with the main text in a feed; it becomes the text_digest of a row without signatures."""

# Lower-case names in other programs' logs, best first; our own names come before all of them.
_ALIASES: dict[str, tuple[str, ...]] = {
    "url": ("uri", "original", "original_url", "page_url", "response_url", "target_uri"),
    "digest": (
        "content_digest", "payload_digest", "body_digest", "raw_sha1", "sha1", "sha256", "md5", "checksum",
        "content_hash", "hash",
    ),
    "text_digest": ("text_sha1", "text_sha256", "text_md5", "text_hash"),
    "simhash": ("simhash64",),
    "status": ("fetch_status", "http_status", "status_code"),
    "bytes": ("content_length", "size", "length"),
    "canonical": ("canonical_url", "rel_canonical"),
    "redirect_to": ("fetch_redirect", "redirect_url", "redirect", "location"),
    "importance": ("inlinks", "in_links", "pagerank"),
    "fetched_at": ("fetch_time", "crawled_at", "timestamp", "time", "date"),
    TEXT: ("main_text",),
}  # fmt: skip
NAMES = {column: (column, *_ALIASES.get(column, ())) for column in (*COLUMNS, TEXT)}
"""Column → the names it may have in a log, best first."""
KNOWN_NAMES = frozenset(name for names in NAMES.values() for name in names)
"""All the names in `NAMES`: the columns that a reader must read."""

_MOST_NAMES, _MOST_OF_NAMES = 100, 4_000  # most names in a row, and characters of them, that are cached
URL_LIMIT = 16_384  # most bytes of a URL; the limits of browsers and servers are far below
SIGNATURES = ("text_digest", "digest", "simhash")
LINKS = ("redirect_to", "canonical", "duplicate_of", "alias_of")
"""The fields that contain another URL."""

# Values by which logs say that there is none; the zeros are the SimHash of no features.
_NOT_SAID = frozenset((
    "", "-", "0" * 16, "null", "NULL", "None", "none", "nan", "NaN", "\\N",
    "[]", "{}", "false", "False", "true", "True",
))  # fmt: skip
_TRUTHS = dict.fromkeys(("true", "t", "yes", "y", "1", "1.0"), True)
_TRUTHS |= dict.fromkeys(("false", "f", "no", "n", "0", "0.0"), False)  # in lower case
_NEITHER = {column: f"{column} is neither true nor false" for column in ("unique", "alias_held")}
_MOST_IMPORTANT = 1e15  # sums of such values stay finite
_INT_64 = 1 << 63  # numbers from minus this to below it fit in 64 bits
_DIGEST_KIND = re.compile(r"[A-Za-z][A-Za-z0-9-]*:")  # "sha1:…", a prefix that only some logs write
_NO_URL, _TOO_LONG = "no URL", f"URL longer than {URL_LIMIT} bytes"
_SAYING = (*SIGNATURES, *LINKS)
_BROKEN = (_NO_URL, _TOO_LONG, *_NEITHER.values())
# A host (a name, or an address in brackets), with or without user and port. A label has at least one letter, digit or
# symbol. Of ASCII it may have letters, digits, "-" and "_" (RFC 3986 allows more, but no name server has such names),
# of escapes only those of bytes that are not UTF-8, and no full-width forms of other ASCII.
_ESCAPED = r"%[89A-Fa-f][0-9A-Fa-f]"
_CHARACTER = rf"(?:[A-Za-z0-9_-]|{_ESCAPED}|[^\x00-\x7f\s。．｡！-，／：-＠［-＾｀｛-～])"
_LABEL = rf"(?={_CHARACTER}*?(?:[\p{{L}}\p{{N}}\p{{So}}]|{_ESCAPED})){_CHARACTER}++"
_DOT = "[.。．｡]"
_HOST = regex.compile(rf"(?:.*@)?(?:\[[0-9A-Fa-f:.]+\]|{_LABEL}(?:{_DOT}{_LABEL})*+{_DOT}?)(?::\d*)?", regex.DOTALL)
_AUTHORITY = re.compile(r"(?i:https?)://([^/?#\\]*)")
_SAYS_NOTHING = "no digest, redirect or canonical link"
_ERROR = "error status, without a digest"
_SHA1_OF_NOTHING = "da39a3ee5e6b4b0d3255bfef95601890afd80709"


Values = Iterable[tuple[int | None, Mapping[str, Any] | None]]
"""Rows with their line numbers (None for rows derived from others); a broken row is None."""


def rows_of_values(values: Values, problem: str, path: str, tally: Tally) -> list[LogRow]:
    """Convert rows with a log's own names to `LogRow`; broken ones are counted under `problem`."""
    rows, broken = list[LogRow](), list[int]()
    for number, row in values:
        if row is not None:
            rows.append(canonical_row(row, number))
        elif number is not None:
            broken.append(number)
    tally.skip(path, problem, len(broken), broken)
    return rows


def canonical_row(row: Mapping[str, Any], line: int | None = None) -> LogRow:
    """Convert a row with a log's own names to a `LogRow`.

    Names that are not in `NAMES` are dropped; a value that does not fit its field becomes None.
    """
    values = dict[str, Any]()
    for column, keys in _keys_of(row):
        read = _READERS.get(column, _said)
        for key in keys:
            if (value := row[key]) is not None and (value := read(value)) is not None:
                values[column] = value
                break
        else:
            if column in _NEITHER and any(_is_unread(row[key]) for key in keys):
                values.setdefault("unread", _NEITHER[column])
    text = values.pop(TEXT, None)
    if text is not None and not any(name in values for name in SIGNATURES):
        bare = "".join(text.split())
        values["text_digest"] = digest_of(bare.encode()).hex() if bare else _SHA1_OF_NOTHING
    return LogRow(line=line, **values)


def _keys_of(row: Mapping[str, Any]) -> Sequence[tuple[str, Sequence[str]]]:
    """Each field that a row has, with the row's keys for it, best first."""
    names = tuple(row)
    is_usual = len(names) <= _MOST_NAMES and sum(map(len, names)) <= _MOST_OF_NAMES
    return _keys(names) if is_usual else _keys.__wrapped__(names)


@lru_cache(maxsize=256)  # the rows of a log have few different sets of names
def _keys(names: tuple[str, ...]) -> Sequence[tuple[str, Sequence[str]]]:
    keys = dict[str, list[str]]()
    for name in names:
        keys.setdefault(name.strip().lower(), []).append(name)
    columns = ((column, [key for one in synonyms for key in keys.get(one, ())]) for column, synonyms in NAMES.items())
    return [(column, some) for column, some in columns if some]


def usable_rows(rows: Iterable[LogRow], path: str, tally: Tally) -> list[LogRow]:
    """Leave out the rows from which nothing can be learned, and count them by reason.

    A row is broken, and its line is reported, if it has no URL, one that no server would accept, or an unreadable
    verdict. Rows with other schemes than http, invalid hosts or no facts about their page occur in every log; they are
    only counted. Rows without a line were derived from other rows and are not counted.
    """
    usable, left_out = list[LogRow](), dict[str, list[LogRow]]()
    for row in rows:
        reason = _why_not(row)
        if reason is None:
            usable.append(row)
            tally.rows += row.line is not None
        else:
            left_out.setdefault(reason, []).append(row)
    for reason, some in left_out.items():
        lines = [row.line for row in some if row.line is not None]
        tally.skip(path, reason, len(some), lines if reason in _BROKEN else ())
        tally.rows -= len(some) - len(lines)
    return usable


def _why_not(row: LogRow) -> str | None:
    """Why nothing can be learned from a row, or None if something can."""
    url = row.url
    if url is None:
        return _NO_URL
    if len(url) > URL_LIMIT or (not url.isascii() and len(url.encode()) > URL_LIMIT):
        return _TOO_LONG
    match = _AUTHORITY.match(url)
    if match is None or not _is_authority(match[1]):
        return "not an http URL"
    if row.unread is not None:
        return row.unread
    if row.text_digest is None and row.unique is None and all(getattr(row, name) is None for name in _SAYING):
        return _ERROR if row.status is not None and row.status >= 400 else _SAYS_NOTHING
    return None


@lru_cache(maxsize=4_096)  # up to 16 KB each
def _is_authority(text: str) -> bool:
    return _HOST.fullmatch(text) is not None


def _text(value: object) -> str | None:
    """A value as text. Of a list the first element counts, as Scrapy's ItemLoader writes {"url": ["http://…"]}."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):  # from Parquet
        return utf8(value).decode()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if value is None or isinstance(value, (list, dict)) else str(value)


def _bare(value: object) -> str | None:
    text = _text(value)
    return None if text is None else text.strip()


def _said(value: object) -> str | None:
    text = _bare(value)
    return None if text in _NOT_SAID else text


def _truth(value: object) -> bool | None:
    return _TRUTHS.get((_bare(value) or "").lower())


def _is_unread(value: object) -> bool:
    text = _bare(value)
    return text is not None and text not in _NOT_SAID and text.lower() not in _TRUTHS


def _number(value: object) -> float | None:
    """A finite number, from a number or text."""
    if not isinstance(value, (int, float)):
        value = _said(value)
        if value is None or "_" in value or not value.isascii():
            return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _whole(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and -_INT_64 <= number < _INT_64 else None


def _importance(value: object) -> float | None:
    number = _number(value)
    return None if number is None else min(max(number, 0.0), _MOST_IMPORTANT)


def _digest(value: object) -> str | None:
    text = _said(value)
    if text is None or text.startswith(("[", "{")):
        return None
    kind = _DIGEST_KIND.match(text)
    return text[kind.end() :] if kind else text


_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[\d.,:]*([+-])(\d\d):?(\d\d)$)?", re.ASCII)
_ARCHIVED = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)", re.ASCII)
_EPOCH = re.compile(r"(\d{9,10})(?:\.\d+)?|(\d{13})", re.ASCII)


def _time(value: object) -> int | None:
    """A time in any notation of logs: ISO 8601, the 14 or 17 digits of archives, (milli)seconds since the epoch."""
    if isinstance(value, datetime):
        return round((value if value.tzinfo else value.replace(tzinfo=timezone.utc)).timestamp() * 1000)
    text = _said(value)
    if text is None:
        return None
    try:
        if match := _TIME.match(text):
            at = datetime.fromisoformat(f"{match[1]}T{match[2]}+00:00")
            if match[3]:
                ahead = timedelta(hours=int(match[4]), minutes=int(match[5]))
                at = at + ahead if match[3] == "-" else at - ahead
            return round(at.timestamp() * 1000)
        if match := _ARCHIVED.match(text):
            return round(datetime(*map(int, match.groups()), tzinfo=timezone.utc).timestamp() * 1000)  # type: ignore[arg-type,misc]
    except (ValueError, OverflowError):
        return None
    match = _EPOCH.fullmatch(text)
    return None if match is None else int(match[2]) if match[2] else int(float(text) * 1000)


_READERS: Mapping[str, Callable[[object], Any]] = {
    **dict.fromkeys(SIGNATURES, _digest),
    **dict.fromkeys(_NEITHER, _truth),
    **dict.fromkeys(("status", "bytes"), _whole),
    "importance": _importance,
    "fetched_at": _time,
    TEXT: _text,
}
"""Field → the function that converts a log's value, to None if it cannot; the other fields are text (`_said`)."""
