"""`core.page.read` and `core.links`, from an outline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import unquote_to_bytes

from dedupcrawl.core.links import link_hash
from dedupcrawl.page import Page
from dedupcrawl.sites import host_alike
from tests.core.definitions import collapsed, unescaped
from tests.core.reference.main_text import bytes_of, main_blocks
from tests.core.reference.outline import HEADINGS, Anchor, Outline, attributes, outline

_MOST_LINKS = 1_000
_LONGEST_WRITTEN = 4_000
_LONGEST_LINK = 2_000
_TELLING = 40
_SCHEME = re.compile(rb"[a-zA-Z][a-zA-Z0-9+.-]*:")
_ASCII_SPACE = b" \t\n\r\f\v"


def read(
    markup: bytes, url: str, base: tuple[bytes, bytes, bytes], stays: Callable[[str, str], bool | None] | None
) -> Page:
    """What `core.page.read` makes where `locate` says this of any base, with `sites.host_alike`."""
    page = outline(markup)
    if not page.is_whole:
        return Page(url, title=page.title, headline=_headline(page, []), body_tells=True)
    main = main_blocks(page)
    links, main_links = _links(page.anchors, *base, range(0) if not main else range(_first(page, main), main[-1] + 1))
    in_main = {*main}
    around = [block for position, block in enumerate(page.blocks) if position not in in_main]
    is_link = [bool(block.link_bytes) and 2 * block.link_bytes >= bytes_of(block.text) for block in around]
    fields: dict[str, Any] = {} if stays is None else _fields(page, stays)
    return Page(
        url,
        title=page.title,
        headline=_headline(page, main),
        paragraphs=_lines(page.blocks[position].text for position in main),
        asides=_lines(block.text for block, flag in zip(around, is_link, strict=True) if not flag),
        link_lines=_lines(block.text for block, flag in zip(around, is_link, strict=True) if flag),
        body_tells=sum(len(block.text) for block in page.blocks) >= _TELLING,
        links=links,
        main_links=main_links,
        **fields,
    )


def _headline(page: Outline, main: list[int]) -> str:
    """Of the first h1, or the first heading above the main text, or its first line if that is short."""
    headings = [(at, page.elements[block.element].name) for at, block in enumerate(page.blocks)]
    headings = [heading for heading in headings if heading[1] in HEADINGS]
    texts = [at for at in main if 2 * page.blocks[at].link_bytes < bytes_of(page.blocks[at].text)]
    above = [at for at, _ in headings if not texts or at <= texts[0]]
    first = [at for at, name in headings if name == "h1"] or above
    if first:
        return " ".join(_lines([page.blocks[first[0]].text]))
    line = next(iter(_lines([page.blocks[texts[0]].text])), "") if len(texts) > 1 else ""
    is_short = len(line) <= 60 and not any(map(str.isdigit, line)) and not line.endswith(tuple(".!?:;,。！？：；，"))
    return line if is_short else ""


def _lines(texts: Iterable[str]) -> tuple[str, ...]:
    """Without empty ones."""
    return tuple(filter(None, (line.strip(" ") for text in texts for line in text.split("\0"))))


def _first(page: Outline, main: list[int]) -> int:
    """The heading of a main text, or its first block."""
    headings = (at for at in range(main[0], -1, -1) if page.elements[page.blocks[at].element].name in HEADINGS)
    return next(headings, main[0])


def _links(anchors: list[Anchor], host: bytes, base_host: bytes, path: bytes, main: range) -> tuple[set[int], set[int]]:
    """Hashes of the links that stay on the page's host; and of those in some blocks."""
    found, found_there = set[int](), set[int]()
    for anchor in anchors:
        leads_to = _local(anchor.target, host, base_host, path)
        if leads_to:
            found.add(link_hash(leads_to))
            if anchor.block in main:
                found_there.add(link_hash(leads_to))
            if len(found) >= _MOST_LINKS:
                break
    return found, found_there


def _local(written: bytes, host: bytes, base_host: bytes, path: bytes) -> bytes:  # noqa: PLR0911 - a grammar
    """Where a link leads, in `core.links.local_form`; empty where it leads to no page of the host."""
    written = written.strip(_ASCII_SPACE)
    if len(written) > _LONGEST_WRITTEN:
        return b""
    target = unescaped(written.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    target = target.partition(b"#")[0].rstrip(_ASCII_SPACE)
    if not target or len(target) > _LONGEST_LINK:
        return b""
    if target.startswith(b"//") or _SCHEME.match(target):
        before, slashes, rest = target.partition(b"//")
        if not slashes or before not in (b"", (_SCHEME.match(target) or [b""])[0]):
            return b""
        authority, slash, rest = rest.partition(b"/")
        named = host_alike("//" + authority.decode("utf-8", "replace")).encode("utf-8", "replace")
        return form(slash + rest or b"/") if named == host else b""
    if base_host != host:
        return b""
    made = form(target)
    if not made or made.startswith(b"/"):
        return made
    folder = path[: path.rfind(b"/") + 1]
    if made.startswith(b"?"):
        return path + made
    while made.startswith((b"./", b"../")):
        if made.startswith(b"./"):
            made = made[2:]
        else:
            made = made[3:]
            folder = folder[: folder[:-1].rfind(b"/") + 1] or b"/"
    return folder + made


def form(target: bytes) -> bytes:
    """A path, be it relative, and query: two of one form lead to one page."""
    path, _, query = target.partition(b"?")
    arguments = sorted(unquote_to_bytes(query.replace(b"+", b" ")).split(b"&"))
    return unquote_to_bytes(path) + (b"?" + b"&".join(arguments) if query else b"")


def _fields(page: Outline, stays: Callable[[str, str], bool | None]) -> dict[str, Any]:
    """Headings, metas and anchors."""
    base = next((value for name, value in attributes(page.base) if name == b"href"), b"")
    told = [
        (collapsed(b"".join(anchor.texts), False), stays(collapsed(anchor.target, False), collapsed(base, False)))
        for anchor in page.anchors
    ]
    metas = [{name: collapsed(value, False) for name, value in attributes(written)} for written in page.metas]
    contents = {
        name: [meta.get(b"content", "") for meta in metas if meta.get(b"name", "").lower() == name]
        for name in ("keywords", "description")
    }
    headings = (block.text for block in page.blocks if page.elements[block.element].name in HEADINGS)
    return {
        "headings": _lines(headings),
        "anchors_same_site": tuple(text for text, leads in told if text and leads),
        "anchors_other_sites": tuple(text for text, leads in told if text and leads is False),
        **{name: next(filter(None, texts), "") for name, texts in contents.items()},
    }
