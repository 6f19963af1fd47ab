"""Markup to blocks of text: where tags are, what each means for the text around it, and one pass that builds no tree.

Tree builders follow the page wherever it leads: nested formatting elements make them copy nodes without end, nested
blocks make them search their stack again and again. A crawler reads what enemies write, so this pass has one regular
expression that never goes back over what it has read, a stack of bounded depth, and nothing else. Implied end tags,
misnested and unknown elements are treated as browsers do wherever that changes which text stands together.
"""

from __future__ import annotations

import html
import re
import sys
from functools import cache, lru_cache
from itertools import groupby

import msgspec

from dedupcrawl.content import kernels

_TAG_LIMIT = 5_000  # bytes of a tag in tame markup

# What a tag is; from END on, the tags that end a block of text.
LINK, LINK_END, BREAK, META, BASE, END, START, PART, TITLE, HIDDEN, RULE = range(11)

# Elements whose content is not text of the page; left with their content, to their end tag or the end of the page.
_UNREAD = ("script", "style", "noscript", "textarea", "iframe")
# The same, but an end tag that is missing must not swallow the page: a block element ends them too.
_UNREAD_TO_BLOCK = ("svg", "select")
# Elements whose content is shown only by scripts or by browsers that lack something.
_NOT_SHOWN = frozenset(("audio", "button", "canvas", "datalist", "object", "template", "video"))
_BLOCK_NAMES = """
address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer
form frameset h1 h2 h3 h4 h5 h6 head header hgroup html legend li main menu nav noframes ol p pre search section summary
table tbody td tfoot th thead tr ul
"""
_INLINE_NAMES = """
abbr acronym area b bdi bdo big blink cite code col colgroup data del dfn em embed font frame i img input ins kbd label
link map mark nobr option optgroup param picture q rp rt ruby s samp script small source span strike strong style sub
sup svg time track tt u var wbr
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
# Blocks that are parts of the element around them, and no elements of their own unless they have attributes.
_PARTS = ("dd", "dt", "li", "p", "tbody", "tr")
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))

# A start tag ends these elements when they are innermost, since their own end tags may be left out.
_ENDED_BY = {
    "li": frozenset(("p", "li")),
    "dt": frozenset(("p", "dt", "dd")),
    "dd": frozenset(("p", "dt", "dd")),
    "td": frozenset(("p", "td", "th")),
    "th": frozenset(("p", "td", "th")),
    "tr": frozenset(("p", "td", "th", "tr")),
}
_ENDED_BY_ANY = frozenset(("p",))
# An end tag reaches out of a table cell only when it ends a part of the table.
CELLS = frozenset(("td", "th"))
AROUND_CELLS = frozenset(("body", "html", "table", "tbody", "td", "tfoot", "th", "thead", "tr"))


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


@cache  # to compile it takes 4 ms, and where there are the compiled steps only who builds a tree needs it
def tag_pattern() -> re.Pattern[bytes]:
    """What a tag is, with what is left out. Groups: name with its slash, attributes; None where there are none."""
    # Every alternative matches from its first characters on whatever follows, so nothing is read twice: a quote without
    # a partner is searched for once a page, and the repeats are bounded because the engine keeps 120 bytes for each.
    # The name is None for what is left out.
    return re.compile(
        rf"""<(?:
            (?=[sntiSNTI])(?:{_unread_by_letter()})
          | (/?[a-zA-Z][a-zA-Z0-9:-]*)
            (?:>|([^>=]*(?:=(?:"[^"]*"|\s*"[^"]*"|\s*'[^']*'|)[^>=]*){{0,2000}}[^>]*)>?)
          | !--(?:-?>|[^-]*(?:-(?!-!?>)[^-]*){{0,300000}}(?:--!?>)?)
          | [!?/][^>]*>?
        )""".encode(),
        re.VERBOSE,
    )


Meaning = tuple[int, str, frozenset[str]]


def _what_tags_mean() -> dict[bytes | None, Meaning | None]:
    kinds = {
        **dict.fromkeys(_BLOCKS, START),
        **dict.fromkeys(_PARTS, PART),
        **dict.fromkeys(_NOT_SHOWN, HIDDEN),
        **{f"/{name}": END for name in _BLOCKS | _NOT_SHOWN},
        **{"a": LINK, "/a": LINK_END, "br": BREAK, "/br": BREAK, "hr": RULE},
        **{"title": TITLE, "/title": END, "meta": META, "base": BASE},
    }
    meanings: dict[bytes | None, Meaning | None] = {None: None}
    for inline in _INLINE_NAMES.split():
        meanings |= dict.fromkeys(name.encode() for name in (inline, f"/{inline}"))
    for tag, kind in kinds.items():
        name = sys.intern(tag.lstrip("/"))  # one object an element: the compiled pass compares by it
        meanings[tag.encode()] = (kind, name, _ENDED_BY.get(name, _ENDED_BY_ANY))
    return meanings | {tag.upper(): meaning for tag, meaning in meanings.items() if tag}


# Name of a tag with its slash, None for what is left out → kind, name of the element, and the innermost elements that
# the tag ends; None for a tag that does not change which text stands together.
MEANINGS = _what_tags_mean()


def tame(markup: bytes) -> bytes:
    """`markup` for a parser that builds a tree: without comments and scripts, and with tags of bounded length."""
    return tag_pattern().sub(_tame_tag, markup)


def _tame_tag(match: re.Match[bytes]) -> bytes:
    if match[1] is None:
        return b""
    return match[0] if len(match[0]) <= _TAG_LIMIT else b"<" + match[1] + b">"


LINE_BREAK = "\0"  # stands in a block's text where a <br> stood, or a zero byte, which has no meaning in a page
_MAX_TAGS = 100_000  # of one page; what follows is not read
_MAX_DEPTH = 100  # open elements; a deeper one counts as part of the hundredth

_CHARACTER = re.compile(r"&(?:#(?:[0-9]{1,9}|[xX][0-9a-fA-F]{1,8})|[a-zA-Z][a-zA-Z0-9]{1,31});?")
_BREAK = LINE_BREAK.encode()
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")


def byte_length(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class Outline(msgspec.Struct, frozen=True):
    """A page as blocks of text and the elements around them, both in page order, as plain tuples for speed."""

    title: str  # text of the first title element
    # the text between two block-level tags, hidden elements left out: the text, never empty, with white space
    # collapsed and LINE_BREAK where a br element stood; number of its innermost element; how many bytes of its
    # UTF-8 are in links, roughly; the texts of how many links begin in it
    blocks: list[tuple[str, int, int, int]]
    # number of the element around it, name in lower case, attributes as they were written. Element 0 is the page
    # itself, its own parent; the parent of every other one stands before it. Paragraphs, list items and rows
    # without attributes are left out: their text belongs to what they are parts of
    elements: list[tuple[int, str, bytes]]
    # attributes and pieces of text of each link with an href, as they were written; the position in `blocks` of
    # the block that it begins in, or of the next one
    anchors: list[tuple[bytes, list[bytes], int]]
    metas: list[bytes]  # attributes of each meta element
    base: bytes  # attributes of the first base element
    is_whole: bool  # False where the page has more tags than are read


_character = lru_cache(maxsize=4096)(html.unescape)


def unescape(text: str) -> str:
    """`text` with its character references replaced; numbers of any length are harmless."""
    return _CHARACTER.sub(lambda match: _character(match[0]), text) if "&" in text else text


def collapse(text: str) -> str:
    """`text` with character references replaced and every run of white space made one space."""
    return " ".join(unescape(text).split())


def _block_text(raw: bytes, is_pre: int) -> str:
    text = unescape(raw.decode("utf-8", "replace"))
    if is_pre:
        text = _BLANK_LINE.sub(LINE_BREAK, text)
    return " ".join(text.split())


def outline(markup: bytes) -> Outline:
    """Read HTML in UTF-8, however broken, once, in time and memory linear in its length."""
    if kernels.compiled is not None:
        return Outline(*kernels.compiled.outline(markup, MEANINGS, CELLS, AROUND_CELLS, _block_text))
    return _outline(markup)


def _outline(markup: bytes) -> Outline:  # noqa: PLR0912, PLR0915 - one loop, and calls would cost half of it
    parts = tag_pattern().split(markup, _MAX_TAGS)
    end = parts[-1].find(b"<") if len(parts) > 3 * _MAX_TAGS else -1
    if end >= 0:
        parts[-1] = parts[-1][:end]  # what follows is markup that was not looked at
    parts += (b"/html", b"", b"")  # ends the last block
    title, base = "", b""
    blocks: list[tuple[str, int, int, int]] = []
    elements = [(0, "", b"")]
    anchors: list[tuple[bytes, list[bytes], int]] = []
    metas: list[bytes] = []
    stack, numbers = [""], [0]  # the open elements, outermost first: names and numbers
    # Depth of the stack at the open link and in the outermost hidden element, 0 without; the greater of the two.
    link_depth = hidden_depth = watched_depth = 0
    link_texts: list[bytes] = []
    link_bytes = links = 0
    is_new_link = in_title = False
    rest = iter(parts)
    text = next(rest)
    texts = [] if text.isspace() else [text]  # of the block at hand
    for tag, attributes, text in zip(rest, rest, rest, strict=True):
        try:
            meaning = MEANINGS[tag]
        except KeyError:
            meaning = MEANINGS.get(tag.lower())  # of another case, or unknown
        if meaning is None:
            pass
        elif (kind := meaning[0]) >= END:
            name = meaning[1]
            if texts:
                block = _block_text(b"".join(texts), stack[-1] == "pre")
                texts.clear()
                if in_title:
                    title = block
                elif not hidden_depth and block and (block[0] != LINE_BREAK or block.strip(" \0")):
                    blocks.append((block, numbers[-1], link_bytes, links))
                link_bytes = links = 0
            in_title = False
            if kind == END:
                if stack[-1] == name:
                    stack.pop()
                    numbers.pop()
                elif name in stack:
                    depth = _depth_of(name, stack)
                    del stack[depth:], numbers[depth:]
                if len(stack) < watched_depth:
                    if len(stack) < link_depth:
                        link_depth = 0
                    if len(stack) < hidden_depth:
                        hidden_depth = 0
                    watched_depth = max(link_depth, hidden_depth)
            elif kind <= PART:
                while stack[-1] in meaning[2]:
                    stack.pop()
                    numbers.pop()
                    if len(stack) < link_depth:
                        link_depth = 0
                if len(stack) < _MAX_DEPTH:
                    if attributes or kind == START:
                        elements.append((numbers[-1], name, attributes or b""))
                        numbers.append(len(elements) - 1)
                    else:
                        numbers.append(numbers[-1])
                    stack.append(name)
            elif kind == TITLE:
                in_title = not title
            elif kind == HIDDEN and len(stack) < _MAX_DEPTH:
                stack.append(name)
                numbers.append(numbers[-1])
                if not hidden_depth:
                    hidden_depth = watched_depth = len(stack)
        elif kind == LINK:
            link_depth = 0
            if attributes and (b"href" in attributes or b"HREF" in attributes):
                link_depth = len(stack)
                watched_depth = max(link_depth, hidden_depth)
                is_new_link = True
                link_texts = []
                if not hidden_depth:
                    anchors.append((attributes, link_texts, len(blocks)))
        elif kind == LINK_END:
            link_depth = 0
        elif kind == BREAK:
            texts.append(_BREAK)
        elif kind == BASE:
            base = base or attributes or b""
        elif attributes:
            metas.append(attributes)
        if text and (texts or not text.isspace()):
            texts.append(text)
            if link_depth:
                size = len(text.strip())
                link_bytes += size
                if is_new_link and size:  # an image's link is none of the text that follows it
                    links += 1
                    is_new_link = False
                link_texts.append(text)
    return Outline(title, blocks, elements, anchors, metas, base, end < 0)


def _depth_of(name: str, stack: list[str]) -> int:
    """How many elements stay open at an end tag of `name`; all, where it would reach out of a table cell."""
    for depth in range(len(stack) - 1, 0, -1):
        if stack[depth] == name:
            return depth
        if stack[depth] in CELLS and name not in AROUND_CELLS:
            break
    return len(stack)
