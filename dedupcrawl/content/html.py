"""HTML to Page: the one way a response's body becomes something that the content checks can look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

import mmh3

from dedupcrawl.content.encoding import to_utf8
from dedupcrawl.content.links import local_links
from dedupcrawl.content.main_text import main_blocks
from dedupcrawl.content.outline import HEADINGS, LINE_BREAK, Outline, byte_length, collapse, outline, tame
from dedupcrawl.page import Page
from dedupcrawl.sites import host_of, site_of
from dedupcrawl.text.ignored import NOTHING, Ignored

_BODY_LIMIT = 2_000_000  # bytes of HTML that are read; the digest is of all of it
_TAMED_LIMIT = 8_000_000  # of a longer page so many, to read what is neither script nor picture
_TELLING = 40  # characters that a page shows anywhere, from which on its body is more than a JavaScript shell
_META_NAME = re.compile(rb"(?<![\w-])name\s*=\s*(?:[\"']\s*)?(keywords|description)\b", re.IGNORECASE)
_CONTENT = re.compile(rb"(?<![\w-])content\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_HREF = re.compile(
    rb"href(?<![\w-]href)\s*=\s*[\"']?\s*(?:(?i:https?):(?=//))?(//[^/\\?#\"'\s>]*|(?i:[a-z][a-z0-9+.-]*:)|)"
)


def extract(  # noqa: PLR0913 - each may be left out
    body: bytes | str,
    url: str,
    *,
    encoding: str | None = None,
    selector: str | None = None,
    ignored: Ignored = NOTHING,
    fields: bool = True,
) -> Page:
    """What a page says: its main text by natural paragraphs and, if asked for, its title, headings, metas and anchors.

    Total for any body; time and memory are bounded. Of a page that has more than 2 MB of HTML without its scripts and
    what is embedded in its tags, or more than 100,000 tags, no text is told: two such pages that begin alike may go on
    with different texts. Only the same bytes are the same page then.

    Args:
        body: The undecoded response body, or HTML that was decoded before.
        url: Where the page was found, after redirects.
        encoding: Charset of the HTTP response, if it had one; it need not be right.
        selector: CSS selector of the elements that hold the main text. Where it finds none, or the page has more than
            10,000 elements, or nests deeper than 255, the page is treated as if there were none, and
            `Page.selector_missed` says so.
        ignored: What does not count.
        fields: Fill headings, keywords, description and anchors.

    Raises:
        ValueError: `selector` is not a CSS selector.
    """
    raw = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    digest = mmh3.hash_bytes(raw) if raw else b""
    markup = raw[:_TAMED_LIMIT]
    if isinstance(body, bytes):
        markup = to_utf8(markup, encoding)
    if len(markup) > _BODY_LIMIT:
        markup = tame(markup)
    if len(raw) <= _TAMED_LIMIT and len(markup) <= _BODY_LIMIT:
        markup = ignored.markup(markup)  # which may be longer: a tree is written with all its end tags and references
    is_cut = len(raw) > _TAMED_LIMIT or len(markup) > _BODY_LIMIT
    page = outline(markup[:_BODY_LIMIT])
    if is_cut or not page.is_whole:
        return Page(url, title=page.title, body_digest=digest, body_tells=True)
    return ignored.page(_read(markup, page, url, selector, digest, fields=fields))


def why_unread(page: Page) -> str:
    """Why nothing was read of a page of HTML that shows something: it is too long, see `extract`. Empty for others."""
    is_too_long = page.body_tells and not (page.paragraphs or page.asides or page.link_lines)
    return "of more than 2 MB of HTML without its scripts, or 100,000 tags, no text is read" if is_too_long else ""


def _read(markup: bytes, page: Outline, url: str, selector: str | None, digest: bytes, *, fields: bool) -> Page:  # noqa: PLR0913 - each may be left out
    """A page that is neither too long nor cut."""
    paragraphs: tuple[str, ...] = ()
    if selector:
        from dedupcrawl.text.selection import selected

        paragraphs = _paragraphs(block[0] for block in outline("<hr>".join(selected(markup, selector)).encode()).blocks)
    missed = bool(selector) and not paragraphs
    asides: tuple[str, ...] = ()
    link_lines: tuple[str, ...] = ()
    main: list[int] = []
    if not paragraphs:
        main = main_blocks(page)
        paragraphs = _paragraphs(page.blocks[position][0] for position in main)
        asides, link_lines = _around(page, main)
    links, main_links = local_links(page.anchors, page.base, url, _amid(page, main))
    tells = any(length >= _TELLING for length in accumulate(len(text) for text, _, _, _ in page.blocks))
    return Page(
        url,
        title=page.title,
        paragraphs=paragraphs,
        body_digest=digest,
        body_tells=tells,
        asides=asides,
        link_lines=link_lines,
        links=links,
        main_links=main_links,
        selector_missed=missed,
        **(_fields(page, url) if fields else {}),
    )


def _fields(page: Outline, url: str) -> dict[str, Any]:
    """Headings, metas and anchors."""
    metas = dict(_metas(page.metas))
    same_site, other_sites = _anchors(page, url)
    return {
        "headings": _paragraphs([text for text, element, _, _ in page.blocks if page.elements[element][1] in HEADINGS]),
        "keywords": metas.get("keywords", ""),
        "description": metas.get("description", ""),
        "anchors_same_site": same_site,
        "anchors_other_sites": other_sites,
    }


def _amid(page: Outline, main: list[int]) -> range:
    """The blocks from the heading of a main text to its end, whatever stands between its parts."""
    if not main:
        return range(0)
    first = main[0]
    headings = (at for at in range(first, -1, -1) if page.elements[page.blocks[at][1]][1] in HEADINGS)
    return range(next(headings, first), main[-1] + 1)


def _around(page: Outline, main: list[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines of the blocks that are not of the main text: those that are not half links, and those that are."""
    inside = set(main)
    asides: list[str] = []
    links: list[str] = []
    for position, (text, _, linked, _) in enumerate(page.blocks):
        if position not in inside:
            (links if linked and 2 * linked >= byte_length(text) else asides).append(text)
    return _paragraphs(asides), _paragraphs(links)


def _paragraphs(texts: Iterable[str]) -> tuple[str, ...]:
    """The lines of `texts`, empty ones left out."""
    return tuple(filter(None, map(str.strip, LINE_BREAK.join(texts).split(LINE_BREAK))))


def _metas(metas: list[bytes]) -> Iterator[tuple[str, str]]:
    """Name and content of the meta elements that have a name of interest; the first of each name last."""
    for attributes in reversed(metas):
        lowered = attributes.lower()
        if b"keywords" in lowered or b"description" in lowered:
            name = _META_NAME.search(attributes)
            content = _CONTENT.search(attributes)
            if name and content:
                yield _text(name[1]).lower(), _text(content[1] or content[2] or content[3] or b"")


def _text(markup: bytes) -> str:
    return collapse(markup.decode("utf-8", "replace"))


def _anchors(page: Outline, url: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Texts of the links within the site of `url`, and of those that leave it; others (mailto, javascript) left out."""
    site = site_of(url)
    base_stays = _stays(_target(page.base), site)
    same: list[str] = []
    other: list[str] = []
    for attributes, texts, _ in page.anchors:
        text = collapse(b"".join(texts).decode("utf-8", "replace"))
        if text:
            target = _target(attributes) if b":" in attributes or b"//" in attributes else b""
            stays = _stays(target, site) if target else base_stays
            if stays:
                same.append(text)
            elif stays is not None:
                other.append(text)
    return tuple(same), tuple(other)


def _target(attributes: bytes) -> bytes:
    """What an href begins with: ``//`` and its host, another scheme and a colon, or nothing where it is relative."""
    match = _HREF.search(attributes) or _HREF.search(attributes.lower())
    return match[1] or b"" if match else b""


def _stays(target: bytes, site: str) -> bool | None:
    """Whether a link to this target stays on the site; None where it leads to no web page."""
    if not target.startswith(b"//"):
        return True if target.lower() in (b"", b"http:", b"https:") else None
    host = host_of(target.decode("utf-8", "replace"))
    return host.endswith(site) and site_of(host) == site if host else None
