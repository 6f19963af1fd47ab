"""Main text: which blocks of a page are its content, and which its navigation, advertising and small print.

Shallow text features as in boilerpipe (Kohlschütter, Fankhauser, Nejdl, WSDM 2010), summed over containers so that the
best container is a maximum subsequence (Pasternack, Roth, WWW 2009) of whole elements, with the hints that readability
and trafilatura take from class names. A page that has no article in it keeps all its text but the obvious boilerplate:
two pages of one template must not be reduced to the same small print.

Text is weighed in UTF-8 bytes: about six for an English word and a space, six for a Chinese word of two characters.
"""

from __future__ import annotations

import re

from dedupcrawl.content import kernels
from dedupcrawl.content.outline import Outline, byte_length

_BLOCK_COST = 25  # bytes; a block of less speaks against its container
_LINKED = 0.5  # share of a block's characters in links, from which on it is a list of links
_BOILERPLATE_LIMIT = 0.7  # of the page's running text; what has more is content, whatever its class says
_SECOND_SHARE = 0.3  # of the best container's value; another container that has more is content too
_PRUNED = -50  # value of an element inside the best container, below which it is left out,
_SOME_LINKED = 0.25  # if so much of its text is in links
_LITTLE = 100  # bytes; what is left of a page has as much
_ENOUGH = 500  # bytes; an article has as much
_ARTICLE_SHARE = 0.3  # of the page's content; an article that has less is a notice on a page of another kind
_TITLE_LENGTH = 10  # characters; a longer line that is part of the title is left out
_TITLE_LIMIT = 1_000  # characters of the title in which it is looked for
_LONG_LINK = 24  # bytes; a shorter link text is a menu's, a longer one a headline's
# Share of a row of siblings that are replies, from which on it is a thread. With .5 other lists come in: F1 of the
# English articles to tune by .924 instead of .926; with 1 fewer comments of ripper234.com: 1,621 of 1,931, not 1,703.
_REPLIES_SHARE = 0.8

_MEMO_LIMIT = 16_384  # hints; 10 MB at most
_HINT_LIMIT = 500  # bytes of an element's attributes that are looked at
# The look-behinds keep data-id and the like out; they stand last so that most characters fail at once.
_HINT_ATTRIBUTE = re.compile(
    rb"(?:class(?<![\w-]class)|id(?<![\w-]id)|role(?<![\w-]role)|itemprop(?<![\w-]itemprop)|CLASS|ID)"
    rb"\s*=\s*[\"']?([^\"'>]*)"
)
_QUOTED = re.compile(rb"\"[^\"]*\"|'[^']*'")
_HIDDEN = re.compile(rb"(?:^|\s)hidden(?:[\s=/]|$)", re.IGNORECASE)
_NOT_DISPLAYED = re.compile(rb"display\s*:\s*none", re.IGNORECASE)
_NUMBER = re.compile(rb"[0-9]+")
_DIGIT = re.compile("[0-9]")
_NAME_WORD = re.compile(rb"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_CONTENT_NAME = re.compile(rb"article-?body|(?:article|entry|post|story|news)[-_ ]?(?:body|content|text)")
_BOILERPLATE_NAMES = """
ad ads adv advert advertisement banner breadcrumb breadcrumbs byline caption captions carousel consent cookie cookies
copyright credit credits crumb crumbs dropdown foot footer gdpr login masthead menu modal mostread nav navbar navigation
newsletter outbrain pager pagination popup popular promo promos promotion rating ratings recommend recommendation
recommendations recommended register related respond rss share sharer sharing side sidebar signup slideshow social
sponsor sponsored sponsors submenu subnav subscribe subscription taboola tags teaser toolbar tooltip topbar trending
widget widgets banquan daohang fenxiang guanggao tuijian xiangguan
"""
_BOILERPLATE_WORDS = frozenset(_BOILERPLATE_NAMES.encode().split())
_NEUTRAL, _BOILERPLATE, _CONTENT = range(3)
# Elements whose attributes do not count.
_ELEMENT_HINTS = {
    "body": _NEUTRAL,
    "html": _NEUTRAL,
    **dict.fromkeys(("aside", "dialog", "figcaption", "footer", "menu", "nav"), _BOILERPLATE),
}
_TRACE = 1e-6


def main_blocks(page: Outline) -> list[int]:
    """Positions in ``page.blocks`` of the main text, rising; empty only when the page has no blocks.

    The first of these that is not too little: the article; the page without boilerplate and menus; the page without
    boilerplate; the page.
    """
    if kernels.compiled is not None:
        return kernels.compiled.main_blocks(page.title, page.blocks, page.elements, _hints, _ELEMENT_HINTS)
    blocks = page.blocks
    sizes = [byte_length(text) for text, _, _, _ in blocks]
    linked = [min(1.0, block[2] / size) if block[2] else 0.0 for block, size in zip(blocks, sizes, strict=True)]
    # Bytes that speak for the containers of the block.
    values = [size * (1.0 - 2.0 * share) - _BLOCK_COST for size, share in zip(sizes, linked, strict=True)]
    roles = _roles(page, values)
    content = [position for position, block in enumerate(blocks) if roles[block[1]] != _BOILERPLATE]
    if sum(sizes) >= _ENOUGH:
        no_menus = [
            position
            for position in content
            if linked[position] < _LINKED or _is_headline(blocks[position], sizes[position], linked[position])
        ]
        size = sum(sizes[position] for position in no_menus)
        article = _article(page, sizes, values, linked, roles)
        if sum(sizes[position] for position in article) >= max(_ENOUGH, _ARTICLE_SHARE * size):
            return article
        if size >= _ENOUGH:
            return no_menus
    if sum(sizes[position] for position in content) >= _LITTLE:
        return content
    return list(range(len(blocks)))


def _article(page: Outline, sizes: list[int], values: list[float], linked: list[float], roles: list[int]) -> list[int]:
    """The blocks of the container that is worth most, and of others that are worth nearly as much."""
    blocks, elements = page.blocks, page.elements
    worth = [0.0] * len(elements)
    for (_, element, _, _), value, share in zip(blocks, values, linked, strict=True):
        role = roles[element]
        if role == _BOILERPLATE:
            worth[element] -= abs(value)
        elif role == _NEUTRAL or value > 0 or share >= _LINKED:
            worth[element] += value
    _add_up(worth, elements)
    best = len(worth) - 1 - worth[::-1].index(max(worth))  # the innermost of equals
    if worth[best] <= 0:
        return []
    around = {0}
    siblings = {_kind_of(elements[best])}  # a short reply is as much of a thread as the longest one
    parent = best
    while parent:
        parent = elements[parent][0]
        around.add(parent)
        siblings.add(_kind_of(elements[parent]))
    siblings.discard(None)
    unlinked = [0.0] * len(elements)
    for (_, element, _, _), size, share in zip(blocks, sizes, linked, strict=True):
        unlinked[element] += size * (1 - share / _SOME_LINKED)
    _add_up(unlinked, elements)
    in_thread = _threads(page, sizes, linked, roles, best)
    inside = [False] * len(elements)
    for number, (parent, _, _) in enumerate(elements):
        if in_thread[number]:
            inside[number] = True
        elif number == best or (inside[parent] and number):
            # A table or list is many small blocks: only its links tell that it is none of the article's.
            inside[number] = worth[number] >= _PRUNED or unlinked[number] > 0
        elif number not in around and roles[number] != _BOILERPLATE:
            inside[number] = worth[number] > _SECOND_SHARE * worth[best] or _kind_of(elements[number]) in siblings
    title = page.title[:_TITLE_LIMIT]
    return [
        position
        for position, (text, element, _, _) in enumerate(blocks)
        if inside[element]
        and roles[element] != _BOILERPLATE
        and linked[position] < _LINKED
        # The title stands inside the container in one template and outside of it in another.
        and elements[element][1] != "h1"
        and not (len(text) > _TITLE_LENGTH and text in title)
    ]


def _is_headline(block: tuple[str, int, int, int], size: int, share: float) -> bool:
    return share >= _LINKED and size * share >= _LONG_LINK * max(1, block[3])


def _threads(page: Outline, sizes: list[int], linked: list[float], roles: list[int], best: int) -> list[bool | None]:
    """Whether each element after the best one is of a thread: of a row of siblings nearly all of which are replies.

    A reply is a text and something beside it, as its author's name, but no headline in a link, as each item of a list
    of other pages has it. (A date may be a link of any length.) Only outermost rows are judged; None outside of these.
    """
    elements = page.elements
    lines, texts, headlines = ([0.0] * len(elements) for _ in range(3))
    row_sizes, replies, first, latest = ([0] * len(elements) for _ in range(4))
    for block, size, share in zip(page.blocks, sizes, linked, strict=True):
        lines[block[1]] += 1
        texts[block[1]] += share < _LINKED
        headlines[block[1]] += _is_headline(block, size, share) and not _DIGIT.search(block[0])
    for sums in (lines, texts, headlines):
        _add_up(sums, elements)
    for number, (parent, name, attributes) in enumerate(elements):
        if number > best and lines[number] and roles[number] != _BOILERPLATE:
            row = latest[parent]
            if not row or elements[row][1] != name or not attributes:
                row = latest[parent] = number
            first[number] = row
            row_sizes[row] += 1
            replies[row] += lines[number] > 1 and texts[number] > 0 and not headlines[number]
    in_thread: list[bool | None] = [None] * len(elements)
    for number, (parent, _, _) in enumerate(elements):
        row, in_thread[number] = first[number], in_thread[parent]
        if in_thread[parent] is None and row_sizes[row] > 1:
            in_thread[number] = replies[row] >= _REPLIES_SHARE * row_sizes[row]
    return in_thread


def _kind_of(element: tuple[int, str, bytes]) -> tuple[int, str, bytes] | None:
    """What siblings that were made by one template have in common; None where nothing tells."""
    parent, name, attributes = element
    return (parent, name, _NUMBER.sub(b"0", attributes[:_HINT_LIMIT])) if attributes else None


def _roles(page: Outline, values: list[float]) -> list[int]:
    """What each element holds, by the nearest hint at it or around it; nothing in boilerplate is content."""
    elements = page.elements
    running = [0.0] * len(elements)  # bytes of running text in each element; a trace where there is other text
    for (_, element, _, _), value in zip(page.blocks, values, strict=True):
        running[element] += value if value > 0 else _TRACE
    _add_up(running, elements)
    limit = _BOILERPLATE_LIMIT * running[0]
    roles = [_NEUTRAL] * len(elements)
    for number, (parent, name, attributes) in enumerate(elements):
        role = roles[parent]
        text = running[number]
        if text and role != _BOILERPLATE:
            hint = _ELEMENT_HINTS.get(name)
            if hint is None:
                hint = _hints[attributes[:_HINT_LIMIT]]
            if hint and (hint == _CONTENT or text <= limit):
                role = hint
        roles[number] = role
    return roles


def _add_up(sums: list[float], elements: list[tuple[int, str, bytes]]) -> None:
    """Add to each element's own sum those of all elements in it."""
    for number, (parent, _, _) in zip(range(len(elements) - 1, 0, -1), reversed(elements), strict=False):
        sums[parent] += sums[number]


class _Hints(dict[bytes, int]):
    """Memo of the hints in the attributes of an element, emptied when full: pages of one site have most in common."""

    def __missing__(self, attributes: bytes) -> int:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        hint = self[attributes] = _hint(attributes)
        return hint


_hints = _Hints()


def _hint(attributes: bytes) -> int:
    if not attributes:
        return _NEUTRAL
    if b"hidden" in attributes and _HIDDEN.search(_QUOTED.sub(b"", attributes)):
        return _BOILERPLATE
    if b"none" in attributes and _NOT_DISPLAYED.search(attributes):
        return _BOILERPLATE
    hint = _NEUTRAL
    for names in _HINT_ATTRIBUTE.findall(attributes):
        if not _BOILERPLATE_WORDS.isdisjoint(map(bytes.lower, _NAME_WORD.findall(names))):
            return _BOILERPLATE
        if _CONTENT_NAME.search(names.lower()):
            hint = _CONTENT
    return hint
