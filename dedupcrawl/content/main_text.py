"""Main text: which blocks of a page are its content, and which its navigation, advertising and small print.

Shallow text features as in boilerpipe (Kohlschütter, Fankhauser, Nejdl, WSDM 2010), summed over containers so that the
best container is a maximum subsequence (Pasternack, Roth, WWW 2009) of whole elements, with the hints that readability
and trafilatura take from class names. A page that has no article in it keeps all its text but the obvious boilerplate:
two pages of one template must not be reduced to the same small print.

Text is weighed in UTF-8 bytes: about six for an English word and a space, six for a Chinese word of two characters.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dedupcrawl.content.outline import Outline

_BLOCK_COST = 25  # bytes; a block of less speaks against its container
_LINKED = 0.5  # share of a block's characters in links, from which on it is a list of links
_BOILERPLATE_LIMIT = 0.7  # of the page's running text; what has more is content, whatever its class says
_SECOND_SHARE = 0.3  # of the best container's value; another container that has more is content too
_PRUNED = -50  # value of an element inside the best container, below which it is left out
_LITTLE = 100  # bytes; what is left of a page has as much
_ENOUGH = 500  # bytes; an article has as much
_ARTICLE_SHARE = 0.3  # of the page's content; an article that has less is a notice on a page of another kind
_TITLE_LENGTH = 10  # characters; a longer line that is part of the title is left out
_LONG_LINK = 24  # bytes; a shorter link text is a menu's, a longer one a headline's

_HINT_LIMIT = 500  # characters of an element's attributes that are looked at
# The look-behinds keep data-id and the like out; they stand last so that most characters fail at once.
_HINT_ATTRIBUTE = re.compile(
    r"(?:class(?<![\w-]class)|id(?<![\w-]id)|role(?<![\w-]role)|itemprop(?<![\w-]itemprop)|CLASS|ID)"
    r"\s*=\s*[\"']?([^\"'>]*)"
)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_HIDDEN = re.compile(r"(?:^|\s)hidden(?:[\s=/]|$)", re.IGNORECASE)
_NOT_DISPLAYED = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_NAME_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_CONTENT_NAME = re.compile(r"article-?body|(?:article|entry|post|story|news)[-_ ]?(?:body|content|text)")
_BOILERPLATE_ELEMENTS = frozenset(("aside", "dialog", "figcaption", "footer", "menu", "nav"))
_BOILERPLATE_NAMES = """
ad ads adv advert advertisement banner breadcrumb breadcrumbs byline caption captions carousel comment commentlist
comments consent cookie cookies copyright credit credits crumb crumbs disqus dropdown foot footer gdpr livefyre login
masthead menu modal mostread nav navbar navigation newsletter outbrain pager pagination popup popular promo promos
promotion rating ratings recommend recommendation recommendations recommended register related replies reply respond rss
share sharer sharing side sidebar signup slideshow social sponsor sponsored sponsors submenu subnav subscribe
subscription taboola tags teaser toolbar tooltip topbar trending widget widgets
banquan daohang fenxiang guanggao pinglun tuijian xiangguan
"""
_BOILERPLATE_WORDS = frozenset(_BOILERPLATE_NAMES.split())
_NEUTRAL, _BOILERPLATE, _CONTENT = range(3)
_TRACE = 1e-6


def main_blocks(page: Outline) -> list[int]:
    """Positions in ``page.blocks`` of the main text, rising; empty only when the page has no blocks.

    The first of these that is not too little: the article; the page without boilerplate and menus; the page without
    boilerplate; the page.
    """
    blocks = page.blocks
    sizes = [len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text, _, _, _ in blocks]
    linked = [min(1.0, link_chars / len(text)) if link_chars else 0.0 for text, _, link_chars, _ in blocks]
    # Bytes that speak for the containers of the block.
    values = [size * (1.0 - 2.0 * share) - _BLOCK_COST for size, share in zip(sizes, linked, strict=True)]
    roles = _roles(page, values)
    content = [position for position, block in enumerate(blocks) if roles[block[1]] != _BOILERPLATE]
    if sum(sizes) >= _ENOUGH:
        no_menus = [
            position
            for position in content
            if linked[position] < _LINKED
            or sizes[position] * linked[position] >= _LONG_LINK * max(1, blocks[position][3])
        ]
        size = sum(sizes[position] for position in no_menus)
        article = _article(page, values, linked, roles)
        if sum(sizes[position] for position in article) >= max(_ENOUGH, _ARTICLE_SHARE * size):
            return article
        if size >= _ENOUGH:
            return no_menus
    if sum(sizes[position] for position in content) >= _LITTLE:
        return content
    return list(range(len(blocks)))


def _article(page: Outline, values: list[float], linked: list[float], roles: list[int]) -> list[int]:
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
    parent = best
    while parent:
        parent = elements[parent][0]
        around.add(parent)
    inside = [False] * len(elements)
    for number, (parent, _, _) in enumerate(elements):
        if number == best or (inside[parent] and number):
            inside[number] = worth[number] >= _PRUNED
        elif number not in around and roles[number] != _BOILERPLATE:
            inside[number] = worth[number] > _SECOND_SHARE * worth[best]
    title = page.title
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


def _roles(page: Outline, values: list[float]) -> list[int]:
    """What each element holds, by the nearest hint at it or around it; nothing in boilerplate is content."""
    elements = page.elements
    running = [0.0] * len(elements)  # bytes of running text in each element; a trace where there is other text
    for (_, element, _, _), value in zip(page.blocks, values, strict=True):
        running[element] += value if value > 0 else _TRACE
    _add_up(running, elements)
    limit = _BOILERPLATE_LIMIT * running[0]
    roles: list[int] = []
    role = _NEUTRAL
    for (parent, name, attributes), text in zip(elements, running, strict=True):
        if roles:
            role = roles[parent]
        if text and role != _BOILERPLATE:
            hint = _hint(name, attributes[:_HINT_LIMIT])
            if hint and (hint == _CONTENT or text <= limit):
                role = hint
        roles.append(role)
    return roles


def _add_up(sums: list[float], elements: list[tuple[int, str, str]]) -> None:
    """Add to each element's own sum those of all elements in it."""
    for number in range(len(elements) - 1, 0, -1):
        sums[elements[number][0]] += sums[number]


def forget_hints() -> None:
    """Empty the memo of hints, for measurements; elements of one site's pages have much in common."""
    _hint.cache_clear()
    _name_hint.cache_clear()


@lru_cache(maxsize=16_384)
def _hint(name: str, attributes: str) -> int:
    if name in _BOILERPLATE_ELEMENTS:
        return _BOILERPLATE
    if not attributes or name in ("body", "html"):
        return _NEUTRAL
    if "hidden" in attributes and _HIDDEN.search(_QUOTED.sub("", attributes)):
        return _BOILERPLATE
    if "none" in attributes and _NOT_DISPLAYED.search(attributes):
        return _BOILERPLATE
    hint = _NEUTRAL
    for names in _HINT_ATTRIBUTE.findall(attributes):
        named = _name_hint(names)
        if named == _BOILERPLATE:
            return _BOILERPLATE
        hint = hint or named
    return hint


@lru_cache(maxsize=16_384)
def _name_hint(names: str) -> int:
    """The hint in the value of a class, id, role or itemprop attribute."""
    if not _BOILERPLATE_WORDS.isdisjoint(map(str.lower, _NAME_WORD.findall(names))):
        return _BOILERPLATE
    return _CONTENT if _CONTENT_NAME.search(names.lower()) else _NEUTRAL
