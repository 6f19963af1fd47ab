"""`core.tags` and `core.outline`, by one regular expression and a stack."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby

from tests.core.definitions import collapsed

# What a tag is; from END on, the tags that end a block of text.
LINK, LINK_END, BREAK, META, BASE, OTHER, END, START, PART, TITLE, HIDDEN, RULE = range(12)

_UNREAD = ("script", "style", "noscript", "textarea", "iframe")
_UNREAD_TO_BLOCK = ("svg", "select")
_NOT_SHOWN = frozenset(("audio", "button", "canvas", "datalist", "object", "template", "video"))
_BLOCK_NAMES = """
address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer
form frameset h1 h2 h3 h4 h5 h6 head header hgroup html legend li main menu nav noframes ol p pre search section summary
table tbody td tfoot th thead tr ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_PARTS = ("dd", "dt", "li", "p", "tbody", "tr")
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_ENDED_BY = {
    "li": ("p", "li"),
    "dt": ("p", "dt", "dd"),
    "dd": ("p", "dt", "dd"),
    "td": ("p", "td", "th"),
    "th": ("p", "td", "th"),
    "tr": ("p", "td", "th", "tr"),
}
_CELLS = ("td", "th")
_AROUND_CELLS = ("body", "html", "table", "tbody", "td", "tfoot", "th", "thead", "tr")
_KINDS = {
    **dict.fromkeys(_BLOCKS, START),
    **dict.fromkeys(_PARTS, PART),
    **dict.fromkeys(_NOT_SHOWN, HIDDEN),
    **{f"/{name}": END for name in _BLOCKS | _NOT_SHOWN},
    **{"a": LINK, "/a": LINK_END, "br": BREAK, "/br": BREAK, "hr": RULE},
    **{"title": TITLE, "/title": END, "meta": META, "base": BASE},
}
_MAX_TAGS = 100_000
_MAX_DEPTH = 100
_TAG_LIMIT = 5_000


def _unread(name: str) -> str:
    stop = rf"/(?i:{name})"
    if name in _UNREAD_TO_BLOCK:
        stop = rf"/?(?i:{name}|div\b|p\b|table\b|td\b|tr\b|ul\b|li\b|h[1-6]\b)"
    return rf"(?i:{name[1:]})(?=[\s/>])[^>]*>[^<]*(?:<(?!{stop})[^<]*){{0,300000}}(?:</(?i:{name})[^>]*>)?"


def _unread_by_letter() -> str:
    names = sorted(_UNREAD + _UNREAD_TO_BLOCK)
    return "|".join(
        f"[{letter}{letter.upper()}](?:{'|'.join(map(_unread, group))})"
        for letter, group in groupby(names, key=lambda name: name[0])
    )


# Groups: name with its slash, attributes; the name is None for what is left out.
TAG = re.compile(
    rf"""<(?:
        (?=[sntiSNTI])(?:{_unread_by_letter()})
      | (/?[a-zA-Z][a-zA-Z0-9:-]*)
        (?:>|([^>=]*(?:=(?:"[^"]*"|\s*"[^"]*"|\s*'[^']*'|)[^>=]*){{0,2000}}[^>]*)>?)
      | !--(?:-?>|[^-]*(?:-(?!-!?>)[^-]*){{0,300000}}(?:--!?>)?)
      | [!?/][^>]*>?
    )""".encode(),
    re.VERBOSE,
)
_ATTRIBUTE = re.compile(rb"""[\s/=]*([^\s/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S*)))?""")


def attributes(written: bytes) -> list[tuple[bytes, bytes]]:
    """Names, in lower case, and values."""
    return [(match[1].lower(), match[2] or match[3] or match[4] or b"") for match in _ATTRIBUTE.finditer(written)]


def tame(markup: bytes) -> bytes:
    """`core.tags.tame`."""
    return TAG.sub(_tame_tag, markup)


def _tame_tag(match: re.Match[bytes]) -> bytes:
    if match[1] is None:
        return b""
    return match[0] if len(match[0]) <= _TAG_LIMIT else b"<" + match[1] + b">"


@dataclass
class Block:
    """Text between two block-level tags; `\\0` stands where a br element stood."""

    text: str
    element: int
    link_bytes: int
    links: int


@dataclass
class Element:
    """What blocks stand in; element 0 is the page, its own parent."""

    parent: int
    name: str
    attributes: bytes


@dataclass
class Anchor:
    """A link: its href, its texts, and the position of the block that it begins in."""

    target: bytes
    texts: list[bytes]
    block: int


@dataclass
class Outline:
    """`core.outline.Outline`."""

    title: str = ""
    blocks: list[Block] = field(default_factory=list)
    elements: list[Element] = field(default_factory=lambda: [Element(0, "", b"")])
    anchors: list[Anchor] = field(default_factory=list)
    metas: list[bytes] = field(default_factory=list)
    base: bytes = b""
    is_whole: bool = True


def outline(markup: bytes) -> Outline:  # noqa: PLR0912, PLR0915 - one loop
    """Read a page."""
    parts = TAG.split(markup, _MAX_TAGS)
    end = parts[-1].find(b"<") if len(parts) > 3 * _MAX_TAGS else -1
    if end >= 0:
        parts[-1] = parts[-1][:end]
    parts += (b"/html", b"", b"")  # ends the last block
    page = Outline(is_whole=end < 0)
    stack, numbers = [""], [0]  # the open elements, outermost first: names and numbers
    link_depth = hidden_depth = 0  # depth of the stack at the open link and in the outermost hidden element
    link_texts: list[bytes] = []
    link_bytes = links = 0
    is_new_link = in_title = False
    rest = iter(parts)
    text = next(rest)
    texts = [] if text.isspace() else [text]  # of the block at hand
    for tag, written, text in zip(rest, rest, rest, strict=True):
        name = tag.decode().lower() if tag else ""
        kind = _KINDS.get(name, OTHER)
        if kind >= END:
            if texts:
                block = collapsed(b"".join(texts), stack[-1] == "pre")
                texts.clear()
                if in_title:
                    page.title = block
                elif not hidden_depth and block.strip(" \0"):
                    page.blocks.append(Block(block, numbers[-1], link_bytes, links))
                link_bytes = links = 0
            in_title = False
        if kind == END:
            depth = _depth_after(name[1:], stack)
            del stack[depth:], numbers[depth:]
        elif kind in (START, PART):
            while stack[-1] in _ENDED_BY.get(name, ("p",)):
                stack.pop()
                numbers.pop()
                link_depth = link_depth if len(stack) >= link_depth else 0
            if len(stack) < _MAX_DEPTH:
                if written or kind == START:
                    page.elements.append(Element(numbers[-1], name, written or b""))
                    numbers.append(len(page.elements) - 1)
                else:
                    numbers.append(numbers[-1])
                stack.append(name)
        elif kind == TITLE:
            in_title = not page.title
        elif kind == HIDDEN and len(stack) < _MAX_DEPTH:
            stack.append(name)
            numbers.append(numbers[-1])
            hidden_depth = hidden_depth or len(stack)
        elif kind == LINK:
            link_depth = 0
            targets = [value for named, value in attributes(written or b"") if named == b"href"]
            if targets:
                link_depth = len(stack)
                is_new_link = True
                link_texts = []
                if not hidden_depth:
                    page.anchors.append(Anchor(targets[0], link_texts, len(page.blocks)))
        elif kind == LINK_END:
            link_depth = 0
        elif kind == BREAK:
            texts.append(b"\0")
        elif kind == BASE:
            page.base = page.base or written or b""
        elif kind == META and written:
            page.metas.append(written)
        link_depth = link_depth if len(stack) >= link_depth else 0
        hidden_depth = hidden_depth if len(stack) >= hidden_depth else 0
        if text and (texts or not text.isspace()):
            texts.append(text)
            if link_depth:
                size = len(text.strip())
                link_bytes += size
                if is_new_link and size:  # an image's link is none of the text that follows it
                    links += 1
                    is_new_link = False
                link_texts.append(text)
    return page


def _depth_after(name: str, stack: list[str]) -> int:
    """How many elements stay open at an end tag; all, where it would reach out of a table cell."""
    for depth in range(len(stack) - 1, 0, -1):
        if stack[depth] == name:
            return depth
        if stack[depth] in _CELLS and name not in _AROUND_CELLS:
            break
    return len(stack)
