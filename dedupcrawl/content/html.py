"""HTML: turn the body of a response into the page that the content checks read."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urljoin

from dedupcrawl.content.encoding import to_utf8
from dedupcrawl.core import page as core
from dedupcrawl.core.facts import Facts
from dedupcrawl.core.links import local_form
from dedupcrawl.core.tags import tame
from dedupcrawl.page import Page
from dedupcrawl.sites import host_alike, host_of, site_of
from dedupcrawl.text.ignored import NOTHING, Ignored

_BODY_LIMIT = 2_000_000  # bytes of HTML that are read; the digest covers the whole body
_SCHEME = re.compile("[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_TAMED_LIMIT = 8_000_000  # bytes of a longer page from which scripts and embedded pictures are removed before that


def facts_of(body: bytes | str, encoding: str | None = None) -> Facts:
    """What the markup of a page says; the markup is read on first use.

    Args:
        body: The undecoded body of the response, or HTML that was decoded before.
        encoding: The charset in the HTTP response, if it had one; it need not be right.
    """
    raw = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    markup = raw[:_TAMED_LIMIT]
    if isinstance(body, bytes):
        markup = to_utf8(markup, encoding)
    if len(markup) > _BODY_LIMIT:
        markup = tame(markup)
    is_cut = len(raw) > _TAMED_LIMIT or len(markup) > _BODY_LIMIT
    return Facts(markup[:_BODY_LIMIT], raw, is_cut)


def extract(  # noqa: PLR0913 - each may be left out
    body: bytes | str | Facts,
    url: str,
    *,
    encoding: str | None = None,
    selector: str | None = None,
    ignored: Ignored = NOTHING,
    fields: bool = True,
    also_at: tuple[str, ...] = (),
) -> Page:
    """Read a page: its main text in natural paragraphs, its title and links, and the text around its main text.

    It accepts any body; time and memory are bounded. A page with more than 2 MB of HTML, not counting scripts and data
    in tags, or with more than 100,000 tags, has no text: two such pages that begin alike may go on with different
    texts. Then only the same bytes are the same page.

    Args:
        body: As for `facts_of`, or its result.
        url: The URL of the page, after redirects.
        encoding: As for `facts_of`.
        selector: CSS selector of the elements that hold the main text. If it finds none, or the page has more than
            10,000 elements, or nests deeper than 255, the page is read without a selector, and `Page.selector_missed`
            says so.
        ignored: The parts of the page that do not count.
        fields: Whether to read headings, keywords, description and anchors as well.
        also_at: Other URLs that lead to the page.

    Raises:
        ValueError: `selector` is not a CSS selector.
    """
    facts = body if isinstance(body, Facts) else facts_of(body, encoding)
    if not facts.is_cut:
        markup = ignored.markup(facts.markup)
        if markup != facts.markup:  # it may be longer: a tree is serialized with all end tags and references
            facts = Facts(markup[:_BODY_LIMIT], facts.body, len(markup) > _BODY_LIMIT)
    site = site_of(url) if fields else ""
    page = core.read(
        facts,
        url,
        locate=lambda base: _located(url, base),
        host_alike=host_alike,
        selected=_selected(facts.markup, selector) if selector and not facts.is_cut else None,
        stays=(lambda target, base: _stays(target, base, site)) if fields else None,
        also_at=also_at,
    )
    return ignored.page(page)


def why_unread(page: Page) -> str:
    """Why no text of a page of HTML was read although it has some: it is too long, see `extract`. Empty for others."""
    is_too_long = page.body_tells and not page.has_text
    return "of more than 2 MB of HTML without its scripts, or 100,000 tags, no text is read" if is_too_long else ""


def _selected(markup: bytes, selector: str) -> bytes:
    from dedupcrawl.text.selection import selected  # which loads lxml

    return "<hr>".join(selected(markup, selector)).encode()


def _located(url: str, base: str) -> tuple[bytes, bytes, bytes]:
    """The host of a page, the host of its base URL, and the path of that URL; see `core.page.read`."""
    try:
        based = urljoin(url, base) if base else url
    except ValueError:
        based = url
    host = host_alike(url).encode("utf-8", "replace")
    base_host = host if based is url else host_alike(based).encode("utf-8", "replace")
    return host, base_host, local_form(based.partition("#")[0].partition("?")[0])


@lru_cache(maxsize=1 << 14)  # the pages of a site have most links in common
def _stays(target: str, base: str, site: str) -> bool | None:
    """Whether a link to this target stays on the site; None if it leads to no web page."""
    scheme = _SCHEME.match(target)
    if scheme and scheme[0].lower() not in ("http:", "https:"):
        return None
    rest = target[scheme.end() :] if scheme else target
    if not rest.startswith("//"):
        return _stays(base, "", site) if base else True
    host = host_of(rest)
    return site_of(host) == site if host else None
