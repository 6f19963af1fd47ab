"""Tags: where they are in a page, and what each means for the text around it. Pages are read as UTF-8."""

from __future__ import annotations

import re
import sys
from itertools import groupby

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


# Every alternative matches from its first characters on whatever follows, so nothing is read twice: a quote without a
# partner is searched for once a page, and the repeats are bounded because the engine keeps 120 bytes for each.
# Groups: name with its slash, attributes; None where there are none. The name is None for what is left out.
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


def rare_meaning(tag: bytes) -> Meaning | None:
    """As MEANINGS, of a tag that is not in it: of another case, or unknown."""
    return MEANINGS.get(tag.lower())


def tame(markup: bytes) -> bytes:
    """`markup` for a parser that builds a tree: without comments and scripts, and with tags of bounded length."""
    return TAG.sub(_tame_tag, markup)


def _tame_tag(match: re.Match[bytes]) -> bytes:
    if match[1] is None:
        return b""
    return match[0] if len(match[0]) <= _TAG_LIMIT else b"<" + match[1] + b">"
