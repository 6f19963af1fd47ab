"""Markup to blocks of text: one linear pass that builds no tree of nodes.

Tree builders follow the page wherever it leads: nested formatting elements make them copy nodes without end, nested
blocks make them search their stack again and again. A crawler reads what enemies write, so this pass has one regular
expression that never goes back over what it has read, a stack of bounded depth, and nothing else. Implied end tags,
misnested and unknown elements are treated as browsers do wherever that changes which text stands together.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import lru_cache

from dedupcrawl.content import kernels
from dedupcrawl.content.tags import (
    AROUND_CELLS,
    BASE,
    BREAK,
    CELLS,
    END,
    HIDDEN,
    LINK,
    LINK_END,
    MEANINGS,
    PART,
    START,
    TAG,
    TITLE,
    rare_meaning,
)

LINE_BREAK = "\0"  # stands in a block's text where a <br> stood, or a zero byte, which has no meaning in a page
_MAX_TAGS = 100_000  # of one page; what follows is not read
_MAX_DEPTH = 100  # open elements; a deeper one counts as part of the hundredth

_CHARACTER = re.compile(r"&(?:#(?:[0-9]{1,9}|[xX][0-9a-fA-F]{1,8})|[a-zA-Z][a-zA-Z0-9]{1,31});?")
_BREAK = LINE_BREAK.encode()
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")


def byte_length(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Outline:
    """A page as blocks of text and the elements around them, both in page order, as plain tuples for speed.

    Attributes:
        title: Text of the first title element.
        blocks: The text between two block-level tags, hidden elements left out: the text, never empty, with white space
            collapsed and LINE_BREAK where a br element stood; number of its innermost element; how many bytes of its
            UTF-8 are in links, roughly; how many links begin in it.
        elements: Number of the element around it, name in lower case, attributes as they were written. Element 0 is the
            page itself, its own parent; the parent of every other one stands before it. Paragraphs, list items and rows
            without attributes are left out: their text belongs to what they are parts of.
        anchors: Attributes and pieces of text of each link with an href, as they were written; the position in `blocks`
            of the block that it begins in, or of the next one.
        metas: Attributes of each meta element.
        base: Attributes of the first base element.
        is_whole: False where the page has more tags than are read.
    """

    title: str
    blocks: list[tuple[str, int, int, int]]
    elements: list[tuple[int, str, bytes]]
    anchors: list[tuple[bytes, list[bytes], int]]
    metas: list[bytes]
    base: bytes
    is_whole: bool


@lru_cache(maxsize=4096)
def _character(reference: str) -> str:
    return html.unescape(reference)


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
    """Read `markup` once, in time and memory linear in its length.

    Args:
        markup: HTML in UTF-8, however broken.
    """
    if kernels.compiled is not None:
        return Outline(*kernels.compiled.outline(markup, MEANINGS, CELLS, AROUND_CELLS, _block_text))
    return _outline(markup)


def _outline(markup: bytes) -> Outline:  # noqa: PLR0912, PLR0915 - one loop, and calls would cost half of it
    parts = TAG.split(markup, _MAX_TAGS)
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
    in_title = False
    rest = iter(parts)
    text = next(rest)
    texts = [] if text.isspace() else [text]  # of the block at hand
    for tag, attributes, text in zip(rest, rest, rest, strict=True):
        try:
            meaning = MEANINGS[tag]
        except KeyError:
            meaning = rare_meaning(tag)
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
                links += 1
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
                link_bytes += len(text.strip())
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
