"""The rows of a crawl log, reduced to URL, content and links between URLs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal
from urllib.parse import urljoin

import mmh3
import msgspec

from dedupcrawl.crawl_logs.rows import LogRow
from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.urls.spelling import canonical_url

Fault = Literal["error status", "empty page"]
FAULTS: tuple[Fault, ...] = ("error status", "empty page")
"""Why a row's content says nothing of its URL, best known first."""


class PageRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row of a log, from which clusters are made."""

    url: str  # in its one spelling, see `spelling.canonical_url`
    content: int | None = None  # signed 64-bit hash of what says which page it is; None of a redirect, too
    fault: int | None = None  # index into FAULTS, None for a good page
    redirect_to: str | None = None  # each of the four: an absolute URL of the same site, other than `url`
    canonical: str | None = None
    duplicate_of: str | None = None
    alias_of: str | None = None
    kept_in: int | None = None  # of a page that the content checks told from all others: hash of the crawl in which
    alias_held: bool | None = None  # whether it does lead to `alias_of`, as was found out
    names_own: bool | None = None  # whether `canonical` is the row's own path with fewer arguments
    simhash: int | None = None  # the 64 bits, as a signed number
    importance: float | None = None
    fetched_at: int | None = None  # milliseconds since the epoch


SiteRows = dict[str, list[PageRow]]
"""Site → its rows in the order of the log. A site is a registrable domain in ASCII, which both spellings of an
international name have; that of a row is a function of its URL."""

_AUTHORITY = re.compile(r"[^/]*//([^/]*)")
_HOST = re.compile(r"(?:[^\\@?#]*@)*(\[[^\]]*\]|[^\\:@?#]*)")  # of an authority, and of what may follow it
# Digests of zero bytes: SHA-1 in hex and base32, MD5, SHA-256, BLAKE2b of 128 bits, MurmurHash3 x64 128 (of 0.2).
_OF_NOTHING = frozenset({
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
    "d41d8cd98f00b204e9800998ecf8427e",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "cae66941d9efbd404e4d88758ea67670",
    "0" * 32,
})  # fmt: skip
_SIMHASH = re.compile(r"[0-9A-Fa-f]{16}", re.ASCII)


def site_of_url(url: str) -> str | None:
    """The registrable domain, in ASCII, of an http URL; None of what has no authority."""
    authority = _AUTHORITY.match(url)
    return None if authority is None else _site(authority[1])


@lru_cache(maxsize=65_536)  # of a log's authorities, which are asked for again and again
def _site(authority: str) -> str:
    host = _HOST.match(authority)
    return ascii_form(site_of(host[1].lower() if host else ""))


def page_rows(rows: Iterable[LogRow]) -> SiteRows:
    """Usable rows of a log by their sites, those of each in their order."""
    by_site: SiteRows = {}
    for row in rows:
        url = canonical_url(row.url or "")
        site = site_of_url(url) or ""
        by_site.setdefault(site, []).append(_page_row(row, url, site))
    return by_site


def _page_row(row: LogRow, url: str, site: str) -> PageRow:
    """A row of a URL in its one spelling.

    Of the content the digest of the main text counts where there is one, else that of the bytes, else the SimHash:
    equal bytes are rarely seen (a clock, a token), equal main text is what a duplicate is. An alias that was not
    fetched, because its source had held, leads to its page like a redirect.
    """
    is_believed = row.alias_of is not None and row.alias_held is None
    redirects = row.redirect_to is not None if row.status is None else 300 <= row.status <= 399
    canonical = _link(row.canonical, url, site)
    return PageRow(
        url,
        None if redirects else _content(row),
        _fault(row, redirects),
        _link(row.redirect_to if redirects else row.alias_of if is_believed else None, url, site),
        canonical,
        _link(row.duplicate_of, url, site),
        None if is_believed else _link(row.alias_of, url, site),
        mmh3.hash64(row.run or "")[0] if row.unique else None,
        row.alias_held,
        None if canonical is None else _names_its_own_page(url, canonical),
        _bits(row.simhash),
        row.importance,
        row.fetched_at,
    )


def _content(row: LogRow) -> int | None:
    for kind, signature in (("t", row.text_digest), ("d", row.digest), ("s", row.simhash)):
        if signature is not None:
            return mmh3.hash64(kind + signature)[0]
    return None


def _fault(row: LogRow, redirects: bool) -> int | None:
    if row.status is not None and row.status >= 400:
        return 0
    digest = row.digest if row.text_digest is None else row.text_digest
    return 1 if not redirects and (digest in _OF_NOTHING or row.bytes == 0) else None


def _bits(simhash: str | None) -> int | None:
    """16 hexadecimal digits as a signed number; None for anything else."""
    if simhash is None or not _SIMHASH.fullmatch(simhash):
        return None
    bits = int(simhash, 16)
    return bits - (1 << 64) if bits >> 63 else bits


_FRONT = re.compile(r"[^:]*://[^/?]*/?(?:\?|\Z)")


def _names_its_own_page(url: str, canonical: str) -> bool:
    """Whether the canonical link is the row's own URL with fewer arguments, or none, and not the front page.

    Nothing but the link is known of a page without a signature, and many sites have one link on pages of all kinds.
    """
    (path, _, query), (own, asks, fewer) = url.partition("?"), canonical.partition("?")
    return (
        path == own and (not asks or set(query.split("&")).issuperset(fewer.split("&"))) and not _FRONT.match(canonical)
    )


_ABSOLUTE = re.compile(r"(?i:https?)://[^/?#]")


def _link(link: str | None, url: str, site: str) -> str | None:
    """The one spelling of where a link leads to on this site, other than to the row's own URL; else None."""
    if link is None:
        return None
    try:
        link = canonical_url(link if _ABSOLUTE.match(link) else urljoin(url, link))
    except ValueError:  # no address in brackets
        return None
    return link if link != url and _ABSOLUTE.match(link) and site_of_url(link) == site else None
