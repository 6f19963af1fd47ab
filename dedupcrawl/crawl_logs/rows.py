"""The rows that every log format is read into: one schema, and the names by which other programs call its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

import polars as pl
from polars.datatypes import DataType, DataTypeClass

from dedupcrawl.core.digests import digest_of
from dedupcrawl.crawl_logs.blocks import LineBlock, utf8
from dedupcrawl.crawl_logs.tally import Tally

SCHEMA: dict[str, DataType | DataTypeClass] = {
    "url": pl.String,  # as in the log, http or https
    "digest": pl.String,  # of the bytes
    "text_digest": pl.String,  # of the main text
    "simhash": pl.String,
    "status": pl.Int64,
    "bytes": pl.Int64,  # of the body
    "title": pl.String,
    "canonical": pl.String,  # rel=canonical, as in the page
    "redirect_to": pl.String,  # as in the answer
    "duplicate_of": pl.String,  # URL of the page that a near-duplicate verdict names
    "unique": pl.Boolean,  # whether the page was compared with all before it, and is like none
    "alias_of": pl.String,  # URL that leads to the same page, as a page says
    "alias_held": pl.Boolean,  # whether it was so when both were fetched; null where `url` was not
    "importance": pl.Float64,
    "fetched_at": pl.Datetime("ms"),  # UTC
    "run": pl.String,  # which of the crawls that share a log
}
"""Column → type of every batch of rows; what a log does not say is null."""

LINE = "line"
"""A batch's own extra column, until `usable_rows`: where the row stands in its file, from 1; null where unknown."""

UNREAD = "unread"
"""Another: what a row says that must not be taken for nothing, and cannot be read, as a reason; null where all can."""

BlockReader = Callable[[LineBlock, str, Tally], pl.DataFrame]
"""Called with a block of lines, the log's name and its tally: the rows in the columns of `SCHEMA`, and `LINE`."""

TEXT = "text"
"""A feed's main text: becomes a text_digest where the row has no signature of its own."""

# Names in other programs' logs, best first; ours come before all of them. Compared in lower case.
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
NAMES = {column: (column, *_ALIASES.get(column, ())) for column in (*SCHEMA, TEXT)}
"""Column → the names it may have in a log, best first."""
KNOWN_NAMES = frozenset(name for names in NAMES.values() for name in names)
"""All the names of `NAMES`: what a reader has to take from a file."""

URL_LIMIT = 16_384  # bytes; browsers and servers stop well below
SIGNATURES = ("text_digest", "digest", "simhash")
LINKS = ("redirect_to", "canonical", "duplicate_of", "alias_of")
"""The columns that lead to another URL."""

# How logs write that there is no value, or no link; the zeros are the SimHash of no features.
_NOT_SAID = (
    "", "-", "0" * 16, "null", "NULL", "None", "none", "nan", "NaN", "\\N",
    "[]", "{}", "false", "False", "true", "True",
)  # fmt: skip
_TRUTHS = dict.fromkeys(("true", "t", "yes", "y", "1", "1.0"), True)
_TRUTHS |= dict.fromkeys(("false", "f", "no", "n", "0", "0.0"), False)  # in lower case
_NEITHER = {column: f"{column} is neither true nor false" for column, dtype in SCHEMA.items() if dtype == pl.Boolean}
_MOST_IMPORTANT = 1e15  # sums of so much stay numbers
_DIGEST_KIND = r"^[A-Za-z][A-Za-z0-9-]*:"  # "sha1:…": one log writes it, the next does not
_NO_URL, _TOO_LONG = "no URL", f"URL longer than {URL_LIMIT} bytes"
_BROKEN = (_NO_URL, _TOO_LONG, *_NEITHER.values())
# Labels of a letter, a digit or a symbol at least. Of ASCII, hosts have letters, digits, "-" and "_" (RFC 3986 allows
# more, which no name server has); of escapes those of bytes that are not UTF-8; and no full-width form of other ASCII.
_ESCAPED = r"%[89A-Fa-f][0-9A-Fa-f]"
_LABEL = rf"(?:[A-Za-z0-9_-]|{_ESCAPED}|[^\x00-\x7f\s。．｡！-，／：-＠［-＾｀｛-～])"
_NAME = rf"{_LABEL}*(?:[\p{{L}}\p{{N}}\p{{So}}]|{_ESCAPED}){_LABEL}*"
# A name, or an address in brackets.
_HOST = rf"(?:{_NAME}(?:[.。．｡]{_NAME})*[.。．｡]?|\[[0-9A-Fa-f:.]+\])"
_HTTP = rf"^(?i)https?://(?:[^/?#\\]*@)?{_HOST}(?::\d*)?(?:[/?#\\]|$)"
_SAYS_NOTHING = "no digest, redirect or canonical link"
_ERROR = "error status, without a digest"
_SHA1_OF_NOTHING = "da39a3ee5e6b4b0d3255bfef95601890afd80709"


Values = Iterable[tuple[int | None, Mapping[str, Any] | None]]
"""Rows with the numbers of their lines, None for one that was made of others; None in place of a row that is broken."""


def rows_of_values(values: Values, problem: str, path: str, tally: Tally) -> pl.DataFrame:
    """Rows of values in a log's own names → the columns of `SCHEMA`, `LINE`, `UNREAD`. Broken ones are counted."""
    numbers, rows, broken = list[int | None](), list[Mapping[str, Any]](), list[int]()
    for number, row in values:
        if row is not None:
            numbers.append(number)
            rows.append(row)
        elif number is not None:
            broken.append(number)
    tally.skip(path, problem, len(broken), broken)
    names = [name for name in dict.fromkeys(chain.from_iterable(rows)) if name.strip().lower() in KNOWN_NAMES]
    columns = {}
    for name in names:
        found = [row.get(name) for row in rows]
        texts = found if set(map(type, found)) <= {str, type(None)} else [_text(value) for value in found]
        columns[name] = pl.Series(texts, dtype=pl.String)
    return canonical_rows(pl.DataFrame({**columns, LINE: pl.Series(numbers, dtype=pl.Int64)}))


def _text(value: object) -> str | None:
    """A value as text, of any number of digits; of a list the first: Scrapy's ItemLoader writes {"url": ["http://…"]}.

    Polars is not given lists: one of 1,800 bytes that is nested 900 deep takes it 45 s and 9.7 GB.
    """
    value = value[0] if isinstance(value, list) and value else value
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if isinstance(value, (list, dict)) else str(value)


def canonical_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """One batch in a log's own columns → the same rows in the columns of `SCHEMA`, `LINE` and `UNREAD`.

    Names are looked up in `NAMES`, other columns dropped; a value that does not fit its column's type becomes null.
    """
    have = {name.strip().lower(): name for name in reversed(frame.columns)}  # of equal names the first counts
    have = {name: column for name, column in have.items() if frame[column].null_count() < frame.height}
    columns = {}
    for column, names in NAMES.items():
        dtype = SCHEMA.get(column, pl.String)
        sources = [_value(column, pl.col(have[name]), frame.schema[have[name]]) for name in names if name in have]
        columns[column] = pl.coalesce(sources) if sources else pl.lit(None, dtype)
    text = columns.pop(TEXT)
    line = pl.col(LINE).cast(pl.Int64) if LINE in frame.columns else pl.lit(None, pl.Int64)
    said = {name: _said(pl.col(have[name]), frame.schema[have[name]]) for name in _NEITHER if name in have}
    known = {name: one.is_in(_NOT_SAID) | one.str.to_lowercase().is_in(list(_TRUTHS)) for name, one in said.items()}
    unread = pl.coalesce(
        *(pl.when(~one).then(pl.lit(_NEITHER[name])) for name, one in known.items()), pl.lit(None, pl.String)
    )
    rows = frame.with_columns(text.alias(TEXT), line.alias(LINE), unread.alias(UNREAD), **columns)
    rows = rows.select(TEXT, *columns, LINE, UNREAD)
    if any(name in have for name in NAMES[TEXT]):
        unsigned = pl.all_horizontal(pl.col(name).is_null() for name in SIGNATURES)
        digest = pl.col(TEXT).map_batches(_digests, return_dtype=pl.String)
        rows = rows.with_columns(text_digest=pl.when(unsigned).then(digest).otherwise("text_digest"))
    return rows.drop(TEXT)


def usable_rows(rows: pl.DataFrame, path: str, tally: Tally) -> pl.DataFrame:
    """Leave out the rows that nothing can be learned from, count them by reason, and drop `LINE` and `UNREAD`.

    A row without URL, or with one that no server would take, or with a verdict that cannot be read, is broken: its line
    is told. Other schemes than http,
    hosts that are none, and rows that say nothing of their page are in every log; they are only counted. Rows without
    `LINE` were made of other rows and are not counted.
    """
    says_nothing = pl.all_horizontal(pl.col(name).is_null() for name in (*SIGNATURES, *LINKS, "unique"))
    reason = (
        pl.when(pl.col("url").is_null())
        .then(pl.lit(_NO_URL))
        .when(pl.col("url").str.len_bytes() > URL_LIMIT)
        .then(pl.lit(_TOO_LONG))
        .when(~pl.col("url").str.contains(_HTTP))
        .then(pl.lit("not an http URL"))
        .when(pl.col(UNREAD).is_not_null())
        .then(UNREAD)
        .when(says_nothing & (pl.col("status") >= 400))
        .then(pl.lit(_ERROR))
        .when(says_nothing)
        .then(pl.lit(_SAYS_NOTHING))
    )
    rows = rows.with_columns(reason=reason)
    left_out = rows.filter(pl.col("reason").is_not_null()).group_by("reason", maintain_order=True)
    for (said,), group in left_out:
        broken = group[LINE].drop_nulls() if said in _BROKEN else ()
        tally.skip(path, str(said), group.height, broken)
        tally.rows -= group[LINE].null_count()
    rows = rows.filter(pl.col("reason").is_null())
    tally.rows += rows.height - rows[LINE].null_count()
    return rows.select(*SCHEMA)


def _value(column: str, value: pl.Expr, dtype: DataType | DataTypeClass) -> pl.Expr:  # noqa: PLR0911 - a column each
    """One source column as the type that `SCHEMA` wants, null where the log says nothing."""
    target = SCHEMA.get(column, pl.String)
    if dtype == target and target not in (pl.String, pl.Float64):
        return value
    if column == TEXT:
        return _text_of(value, dtype)
    value = _said(value, dtype)
    if target == pl.Boolean:
        return value.str.to_lowercase().replace_strict(_TRUTHS, default=None, return_dtype=pl.Boolean)
    value = pl.when(~value.is_in(_NOT_SAID)).then(value)
    if target in (pl.Int64, pl.Float64):
        number = value.cast(pl.Float64, strict=False)
        if column == "importance":
            number = pl.when(number.is_finite()).then(number.clip(0, _MOST_IMPORTANT))
        return number.cast(target, strict=False)
    if column == "fetched_at":
        return _time(value)
    if column in SIGNATURES:
        is_json = value.str.starts_with("[") | value.str.starts_with("{")
        return pl.when(~is_json).then(value.str.replace(_DIGEST_KIND, ""))
    return value


def _said(value: pl.Expr, dtype: DataType | DataTypeClass) -> pl.Expr:
    """One source column as text without white space around it."""
    return _text_of(value, dtype).str.strip_chars()


def _text_of(value: pl.Expr, dtype: DataType | DataTypeClass) -> pl.Expr:
    if isinstance(dtype, pl.List):  # Scrapy's ItemLoader without an output processor
        value, dtype = value.list.first(), dtype.inner
    if dtype == pl.Binary:  # Parquet whose writer did not say that it is text
        value = value.map_batches(_as_text, return_dtype=pl.String)
    return value.cast(pl.String, strict=False)


def _as_text(values: pl.Series) -> pl.Series:
    try:
        text: pl.Series = values.cast(pl.String)
    except pl.exceptions.PolarsError:
        said = (None if value is None else utf8(value).decode() for value in values.to_list())
        text = pl.Series(values.name, said, dtype=pl.String)
    return text


def _time(value: pl.Expr) -> pl.Expr:
    """A time as logs write it: ISO 8601, the 14 (or 17) digits of archives, seconds or milliseconds since the epoch."""
    digits = value.str.extract(r"^(\d{14})").str.to_datetime("%Y%m%d%H%M%S", time_unit="ms", strict=False)
    iso = value.str.extract(r"^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)").str.replace(" ", "T", literal=True)
    zone = value.str.extract(r"^\d{4}-\d\d-\d\d[T ][\d:.,]+([+-]\d\d:?\d\d)$").str.replace(":", "", literal=True)
    minutes = zone.str.slice(1, 2).cast(pl.Int64) * 60 + zone.str.slice(3, 2).cast(pl.Int64)
    ahead = pl.duration(minutes=pl.when(zone.str.starts_with("-")).then(-minutes).otherwise(minutes).fill_null(0))
    epoch = value.str.extract(r"^(\d{9,10}(?:\.\d+)?)$").cast(pl.Float64, strict=False) * 1000
    milliseconds = value.str.extract(r"^(\d{13})$").cast(pl.Float64, strict=False)
    return pl.coalesce(
        iso.str.to_datetime("%Y-%m-%dT%H:%M:%S", time_unit="ms", strict=False) - ahead,
        digits,
        pl.coalesce(epoch, milliseconds).cast(pl.Int64).cast(pl.Datetime("ms")),
    )


def _digests(texts: pl.Series) -> pl.Series:
    """Of each text a digest without its white space; the same in every process, of any machine."""
    bare = (None if text is None else "".join(text.split()) for text in texts.to_list())
    said = (text if text is None else digest_of(text.encode()).hex() if text else _SHA1_OF_NOTHING for text in bare)
    return pl.Series(texts.name, said, dtype=pl.String)
