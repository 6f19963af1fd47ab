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
from itertools import groupby

LINE_BREAK = "\0"  # stands in a block's text where a <br> stood; never in a page, where NUL is dropped
_MAX_TAGS = 100_000  # of one page; what follows is left out
_TAG_LIMIT = 5_000  # characters of a tag in tame markup
_MAX_DEPTH = 100  # open elements; a deeper one counts as part of the hundredth

# Elements whose content is no text of the page; left with their content, to their end tag or the end of the page.
_UNREAD = ("script", "style", "noscript", "textarea", "iframe")
# The same, but an end tag that is missing must not swallow the page: a block element ends them too.
_UNREAD_TO_BLOCK = ("svg", "select")
# Elements whose content is shown only by scripts or by browsers that lack something.
_HIDDEN = frozenset(("audio", "button", "canvas", "datalist", "object", "template", "video"))
_BLOCK_NAMES = """
address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer
form frameset h1 h2 h3 h4 h5 h6 head header hgroup html legend li main menu nav noframes ol p pre search section summary
table tbody td tfoot th thead tr ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
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
_CELLS = frozenset(("td", "th"))
_AROUND_CELLS = frozenset(("body", "html", "table", "tbody", "td", "tfoot", "th", "thead", "tr"))

_INLINE, _LINK, _LINK_END, _BREAK, _META, _BASE, _END, _START, _TITLE = range(9)
_FIRST_BLOCK_KIND = _END  # this kind and those after it end a block of text


def _unread(name: str) -> str:
    rest = rf"(?i:{name[1:]})(?=[\s/>])[^>]*>"
    stop = rf"(?i:{name})"
    if name in _UNREAD_TO_BLOCK:
        stop = rf"(?i:{name}|div\b|p\b|table\b|td\b|tr\b|ul\b|li\b|h[1-6]\b)"
        return rf"{rest}[^<]*(?:<(?!/?{stop})[^<]*){{0,300000}}"
    return rf"{rest}[^<]*(?:<(?!/{stop})[^<]*){{0,300000}}"


def _unread_by_letter() -> str:
    names = sorted(_UNREAD + _UNREAD_TO_BLOCK)
    return "|".join(
        f"[{letter}{letter.upper()}](?:{'|'.join(map(_unread, group))})"
        for letter, group in groupby(names, key=lambda name: name[0])
    )


# Every alternative matches from its first characters on whatever follows, so nothing is read twice: a quote without a
# partner is searched for once a page, and the repeats are bounded because the engine keeps 120 bytes for each.
# Groups: name with its slash, attributes. Both are None for what is left out.
_TAG = re.compile(
    rf"""<(?:
        (?=[sntiSNTI])(?:{_unread_by_letter()})
      | (/?[a-zA-Z][a-zA-Z0-9:-]*)
        ([^>=]*(?:=(?:\s*(?:"[^"]*"|'[^']*')|)[^>=]*){{0,2000}})>?
      | !--(?:-?>|[^-]*(?:-(?!-!?>)[^-]*){{0,300000}}(?:--!?>)?)
      | [!?/][^>]*>?
    )""",
    re.VERBOSE,
)
_CHARACTER = re.compile(r"&(?:#(?:[0-9]{1,9}|[xX][0-9a-fA-F]{1,8})|[a-zA-Z][a-zA-Z0-9]{1,31});?")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")


class _Tags(dict[str | None, tuple[int, str, frozenset[str]]]):
    """What to do at a tag, by its name with slash: kind, name, and the innermost elements that it ends."""

    def __init__(self) -> None:
        kinds = {
            **dict.fromkeys(_BLOCKS | _HIDDEN | {"hr"}, _START),
            **{f"/{name}": _END for name in _BLOCKS | _HIDDEN},
            **{"a": _LINK, "/a": _LINK_END, "br": _BREAK, "/br": _BREAK},
            **{"title": _TITLE, "/title": _END, "meta": _META, "base": _BASE},
        }
        inline = "b big code em font i img input label link s small span strong sub sup tt u"
        kinds.update({name: _INLINE for word in inline.split() for name in (word, f"/{word}")})
        for name, kind in kinds.items():
            bare = name.lstrip("/")
            self[name] = self[name.upper()] = (kind, bare, _ENDED_BY.get(bare, _ENDED_BY_ANY))
        self[None] = self._other = (_INLINE, "", _ENDED_BY_ANY)

    def __missing__(self, name: str | None) -> tuple[int, str, frozenset[str]]:
        return self.get(name.lower(), self._other) if name is not None else self._other


_TAGS = _Tags()


@dataclass(frozen=True, slots=True)
class Outline:
    """A page as blocks of text and the elements around them, both in page order, as plain tuples for speed.

    Attributes:
        title: Text of the first title element.
        blocks: The text between two block-level tags, hidden elements left out: the text, never empty, with white space
            collapsed and LINE_BREAK where a br element stood; number of its innermost element; how many of its
            characters are in links; how many links begin in it.
        elements: Number of the element around it, name in lower case, attributes as they were written. Element 0 is the
            page itself, its own parent; the parent of every other one stands before it.
        anchors: Attributes and text of each link with an href, as they were written; empty unless asked for.
        metas: Attributes of each meta element; empty unless asked for.
        base: Attributes of the first base element.
    """

    title: str
    blocks: list[tuple[str, int, int, int]]
    elements: list[tuple[int, str, str]]
    anchors: list[tuple[str, str]]
    metas: list[str]
    base: str


@lru_cache(maxsize=4096)
def _character(reference: str) -> str:
    return html.unescape(reference)


def unescape(text: str) -> str:
    """`text` with its character references replaced; numbers of any length are harmless."""
    return _CHARACTER.sub(lambda match: _character(match[0]), text) if "&" in text else text


def collapse(text: str) -> str:
    """`text` with character references replaced and every run of white space made one space."""
    return " ".join(unescape(text).split())


def tame(markup: str) -> str:
    """`markup` for a parser that builds a tree: without comments and scripts, and with tags of bounded length."""
    return _TAG.sub(_tame_tag, markup)


def _tame_tag(match: re.Match[str]) -> str:
    if match[1] is None:
        return ""
    return match[0] if len(match[0]) <= _TAG_LIMIT else f"<{match[1]}>"


def outline(markup: str, *, fields: bool = False) -> Outline:  # noqa: PLR0915 - one loop, and calls would cost half of it
    """Read `markup` once, in time and memory linear in its length.

    Args:
        markup: HTML, however broken.
        fields: Collect anchors and metas too.
    """
    parts = _TAG.split(markup.replace("\0", ""), _MAX_TAGS)
    if len(parts) > 3 * _MAX_TAGS:
        parts[-1] = parts[-1].partition("<")[0]  # what follows is markup that was not looked at
    parts += ("/a", "", "", "/html", "", "")  # end the last link and the last block
    title = base = ""
    blocks: list[tuple[str, int, int, int]] = []
    elements = [(0, "", "")]
    anchors: list[tuple[str, str]] = []
    metas: list[str] = []
    stack, numbers = [""], [0]  # the open elements, outermost first: names and numbers
    link_depth = hidden_depth = 0  # depth of the stack at the open link and in the outermost hidden element, 0 without
    link_attributes = ""
    link_texts: list[str] = []
    link_chars = links = 0
    in_title = False
    rest = iter(parts)
    text = next(rest)
    texts = [] if text.isspace() else [text]  # of the block at hand
    for tag, attributes, text in zip(rest, rest, rest, strict=True):
        kind, name, ended = _TAGS[tag]
        if kind:
            if kind >= _FIRST_BLOCK_KIND:
                if texts:
                    block = "".join(texts)
                    texts.clear()
                    if "&" in block:
                        block = unescape(block)
                    if stack[-1] == "pre":
                        block = _BLANK_LINE.sub(LINE_BREAK, block)
                    block = " ".join(block.split())
                    if in_title:
                        title = block
                    elif not hidden_depth and block and (block[0] != LINE_BREAK or block.strip(" \0")):
                        blocks.append((block, numbers[-1], link_chars, links))
                    link_chars = links = 0
                    in_title = False
                if kind == _END:
                    depth = len(stack) - 1 if stack[-1] == name else _depth_of(name, stack)
                    if depth:
                        del stack[depth:], numbers[depth:]
                elif kind == _START:
                    while stack[-1] in ended:
                        del stack[-1], numbers[-1]
                    depth = len(stack)
                    if depth < _MAX_DEPTH and name != "hr":
                        numbers.append(len(elements))
                        elements.append((numbers[-2], name, attributes))
                        stack.append(name)
                        if name in _HIDDEN and not hidden_depth:
                            hidden_depth = depth + 1
                else:
                    in_title = not title
                depth = len(stack)
                if depth < hidden_depth:
                    hidden_depth = 0
                if depth < link_depth:
                    kind = _LINK_END
            if kind <= _LINK_END:
                if link_depth:
                    if fields and not hidden_depth:
                        anchors.append((link_attributes, "".join(link_texts)))
                    link_texts.clear()
                    link_depth = 0
                if kind == _LINK and ("href" in attributes or "HREF" in attributes):
                    link_depth = len(stack)
                    link_attributes = attributes
                    links += 1
            elif kind == _BREAK:
                texts.append(LINE_BREAK)
            elif kind == _META:
                if fields:
                    metas.append(attributes)
            elif kind == _BASE:
                base = base or attributes
        if text and (texts or not text.isspace()):
            texts.append(text)
            if link_depth:
                link_chars += len(text.strip())
                link_texts.append(text)
    return Outline(title, blocks, elements, anchors, metas, base)


def _depth_of(name: str, stack: list[str]) -> int:
    """How many elements stay open at an end tag; 0 where it ends none, since it must not reach out of a table cell."""
    if name in stack:
        for depth in range(len(stack) - 1, 0, -1):
            if stack[depth] == name:
                return depth
            if stack[depth] in _CELLS and name not in _AROUND_CELLS:
                return 0
    return 0
