"""What a crawl log says of pages: its rows reduced to site, URL, content and links between URLs."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import polars as pl
from polars.datatypes import DataType, DataTypeClass

from dedupcrawl.crawl_logs.rows import LINKS
from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.urls.spelling import SPELLED, canonical_url

Fault = Literal["error status", "empty page"]
FAULTS: tuple[Fault, ...] = ("error status", "empty page")
"""Why a row's content says nothing of its URL, best known first."""

PAGE_ROWS: dict[str, DataType | DataTypeClass] = {
    "site": pl.String,  # registrable domain, in ASCII: both spellings of an international name are one site
    "url": pl.String,  # in its one spelling, see `spelling.canonical_url`
    "content": pl.Int64,  # hash of what says which page it is; null where the row has none, or is a redirect
    "fault": pl.UInt8,  # index into FAULTS, null for a good page
    "redirect_to": pl.String,  # each of the four: an absolute URL of the same site, other than `url`
    "canonical": pl.String,
    "duplicate_of": pl.String,
    "alias_of": pl.String,
    "alias_held": pl.Boolean,  # whether it does lead to `alias_of`, as was found out
    "names_own": pl.Boolean,  # whether `canonical` is the row's own path with fewer arguments
    "simhash": pl.Int64,  # the 64 bits
    "importance": pl.Float64,
    "fetched_at": pl.Datetime("ms"),
}
"""Columns of the rows from which clusters are made; they mean the same wherever there is the same Polars."""

_HOST = r"^(?:[^\\@?#]*@)*(\[[^\]]*\]|[^\\:@?#]*)"  # of an authority, and of what may follow it
# Digests of zero bytes: SHA-1 in hex and base32, MD5, SHA-256, BLAKE2b of 128 bits, MurmurHash3 x64 128 (of 0.2).
_OF_NOTHING = (
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
    "d41d8cd98f00b204e9800998ecf8427e",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "cae66941d9efbd404e4d88758ea67670",
    "0" * 32,
)


@lru_cache(maxsize=1_000_000)  # of a log's hosts, which are asked for again with each batch
def _site(host: str) -> str:
    return ascii_form(site_of(host))


def sites_of(urls: pl.Expr, frame: pl.DataFrame) -> pl.Series:
    """Shape (n,): the registrable domain, in ASCII, of each http URL of an expression over `frame`; null for null."""
    authorities = frame.select(urls.str.splitn("/", 4).struct[2].alias("authority"))["authority"]
    unique = authorities.unique().drop_nulls()
    sites = pl.Series(map(_site, unique.str.extract(_HOST).str.to_lowercase()), dtype=pl.String)
    found: pl.Series = authorities.replace_strict(unique, sites, default=None)
    return found


def page_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of a log (`crawl_logs.rows.SCHEMA`) → the same rows in the columns of `PAGE_ROWS`.

    Of the content the digest of the main text counts where there is one, else that of the bytes, else the SimHash:
    equal bytes are rarely seen (a clock, a token), equal main text is what a duplicate is. An alias that was not
    fetched, because its source had held, leads to its page like a redirect.
    """
    is_believed = pl.col("alias_of").is_not_null() & pl.col("alias_held").is_null()
    redirects = pl.col("status").is_between(300, 399).fill_null(pl.col("redirect_to").is_not_null())
    signature = pl.coalesce("t" + pl.col("text_digest"), "d" + pl.col("digest"), "s" + pl.col("simhash"))
    empty = pl.coalesce("text_digest", "digest").is_in(_OF_NOTHING) | (pl.col("bytes") == 0)
    pages = rows.select(
        url=_spelled(rows["url"]),
        content=pl.when(~redirects & signature.is_not_null()).then(signature.hash().reinterpret(signed=True)),
        fault=pl.when(pl.col("status") >= 400).then(0).when(~redirects & empty).then(1).cast(pl.UInt8),
        importance="importance",
        fetched_at="fetched_at",
        redirect_to=pl.when(redirects).then("redirect_to").when(is_believed).then("alias_of"),
        canonical="canonical",
        duplicate_of="duplicate_of",
        alias_of=pl.when(~is_believed).then("alias_of"),
        alias_held="alias_held",
        simhash=_bits(pl.col("simhash")),
    )
    pages = pages.with_columns(sites_of(pl.col("url"), pages).alias("site"))
    for name in LINKS:
        pages = pages.with_columns(_spelled(pages.select(_absolute(pl.col(name)).alias(name))[name]))
        is_of_site = sites_of(pl.col(name), pages) == pl.col("site")
        pages = pages.with_columns(pl.when(is_of_site & (pl.col(name) != pl.col("url"))).then(name))
    return pages.with_columns(_names_its_own_page().alias("names_own")).select(*PAGE_ROWS)


def _bits(simhash: pl.Expr) -> pl.Expr:
    """16 hexadecimal digits as a signed number; null for anything else."""
    digits = pl.when(simhash.str.contains(r"^[0-9A-Fa-f]{16}$")).then(simhash)
    return digits.str.to_integer(base=16, dtype=pl.UInt64, strict=False).reinterpret(signed=True)


def _names_its_own_page() -> pl.Expr:
    """Whether the canonical link is the row's own URL with fewer arguments, or none, and not the front page; or null.

    Nothing but the link is known of a page without a signature, and many sites have one link on pages of all kinds.
    """
    path, query = r"^([^?]*)", r"\?(.*)"
    of_url, of_link = (pl.col(name).str.extract(query).str.split("&") for name in ("url", "canonical"))
    fewer = of_link.is_null() | (of_link.list.set_difference(of_url).list.len() == 0)
    is_front = pl.col("canonical").str.contains(r"^[^:]*://[^/?]*/?(?:\?|$)")
    is_own = (pl.col("url").str.extract(path) == pl.col("canonical").str.extract(path)) & fewer & ~is_front
    return pl.when(pl.col("canonical").is_not_null()).then(is_own)


def _spelled(urls: pl.Series) -> pl.Series:
    """Shape (n,): the one spelling of each URL, which nearly all have; null for null."""
    others = (
        urls.filter(~(urls.str.contains(f"^{SPELLED}$") & ~urls.str.contains("/.", literal=True))).unique().drop_nulls()
    )
    if others.is_empty():
        return urls
    spelled: pl.Series = urls.replace(others, pl.Series(map(canonical_url, others), dtype=pl.String))
    return spelled


def _absolute(link: pl.Expr) -> pl.Expr:
    """A link resolved against the column "url" (RFC 3986, 5.2, but for its dot segments); null if not http."""
    url = pl.col("url")
    return (
        pl.when(link.str.contains(r"^(?i)https?://[^/?#]"))
        .then(link)
        .when(link.str.contains(r"^[A-Za-z][A-Za-z0-9+.-]*:"))
        .then(None)
        .when(link.str.starts_with("//"))
        .then(url.str.extract(r"^([A-Za-z]+:)") + link)
        .when(link.str.starts_with("/"))
        .then(url.str.extract(r"^([A-Za-z]+://[^/?#]*)") + link)
        .when(link.str.starts_with("?"))
        .then(url.str.extract(r"^([^?#]*)") + link)
        .when(~link.str.starts_with("#"))
        .then(url.str.extract(r"^([A-Za-z]+://[^/?#]*/(?:[^?#]*/)?)") + link)
    )
