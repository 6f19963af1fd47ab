"""`core.main_text`, by lists of numbers and regular expressions."""

from __future__ import annotations

import re

from tests.core.reference.outline import Block, Element, Outline, attributes

_BLOCK_COST = 25
_LINKED = 0.5
_BOILERPLATE_LIMIT = 0.7
_SECOND_SHARE = 0.3
_PRUNED = -50
_SOME_LINKED = 0.25
_LITTLE = 100
_ENOUGH = 500
_ARTICLE_SHARE = 0.3
_TITLE_LENGTH = 10
_TITLE_LIMIT = 1_000
_LONG_LINK = 24
_REPLIES_SHARE = 0.8
_HINT_LIMIT = 500
_TRACE = 1e-6

_NOT_DISPLAYED = re.compile(rb"display[\s:]*none", re.IGNORECASE)
_NUMBER = re.compile(rb"[0-9]+")
_DIGIT = re.compile("[0-9]")
_NAME_WORD = re.compile(rb"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_CONTENT_NAME = re.compile(rb"(?:article|entry|post|story|news)[-_ ]?(?:body|content|text)")
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
_ELEMENT_HINTS = {
    "body": _NEUTRAL,
    "html": _NEUTRAL,
    **dict.fromkeys(("aside", "dialog", "figcaption", "footer", "menu", "nav"), _BOILERPLATE),
}


def bytes_of(text: str) -> int:
    """In UTF-8."""
    return len(text.encode())


def main_blocks(page: Outline) -> list[int]:
    """Positions in `page.blocks` of the main text, rising."""
    blocks = page.blocks
    sizes = [bytes_of(block.text) for block in blocks]
    linked = [min(1.0, block.link_bytes / size) for block, size in zip(blocks, sizes, strict=True)]
    values = [size * (1.0 - 2.0 * share) - _BLOCK_COST for size, share in zip(sizes, linked, strict=True)]
    roles = _roles(page, values)
    content = [position for position, block in enumerate(blocks) if roles[block.element] != _BOILERPLATE]
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
    for block, value, share in zip(blocks, values, linked, strict=True):
        role = roles[block.element]
        if role == _BOILERPLATE:
            worth[block.element] -= abs(value)
        elif role == _NEUTRAL or value > 0 or share >= _LINKED:
            worth[block.element] += value
    _add_up(worth, elements)
    best = len(worth) - 1 - worth[::-1].index(max(worth))  # the innermost of equals
    if worth[best] <= 0:
        return []
    around, siblings = {0}, {_kind_of(elements[best])}  # a short reply is as much of a thread as the longest one
    parent = best
    while parent:
        parent = elements[parent].parent
        around.add(parent)
        siblings.add(_kind_of(elements[parent]))
    siblings.discard(None)
    unlinked = [0.0] * len(elements)
    for block, size, share in zip(blocks, sizes, linked, strict=True):
        unlinked[block.element] += size * (1 - share / _SOME_LINKED)
    _add_up(unlinked, elements)
    in_thread = _threads(page, sizes, linked, roles, best)
    inside = [False] * len(elements)
    for number, element in enumerate(elements):
        if in_thread[number]:
            inside[number] = True
        elif number == best or (inside[element.parent] and number):
            inside[number] = worth[number] >= _PRUNED or unlinked[number] > 0
        elif number not in around and roles[number] != _BOILERPLATE:
            inside[number] = worth[number] > _SECOND_SHARE * worth[best] or _kind_of(element) in siblings
    title = page.title[:_TITLE_LIMIT]
    return [
        position
        for position, block in enumerate(blocks)
        if inside[block.element]
        and roles[block.element] != _BOILERPLATE
        and linked[position] < _LINKED
        and elements[block.element].name != "h1"
        and not (len(block.text) > _TITLE_LENGTH and block.text in title)
    ]


def _is_headline(block: Block, size: int, share: float) -> bool:
    return share >= _LINKED and size * share >= _LONG_LINK * max(1, block.links)


def _threads(page: Outline, sizes: list[int], linked: list[float], roles: list[int], best: int) -> list[bool | None]:
    """Whether each element after the best one is of a thread; None outside of rows."""
    elements = page.elements
    lines, texts, headlines = ([0.0] * len(elements) for _ in range(3))
    row_sizes, replies, first, latest = ([0] * len(elements) for _ in range(4))
    for block, size, share in zip(page.blocks, sizes, linked, strict=True):
        lines[block.element] += 1
        texts[block.element] += share < _LINKED
        headlines[block.element] += _is_headline(block, size, share) and not _DIGIT.search(block.text)
    for sums in (lines, texts, headlines):
        _add_up(sums, elements)
    for number, element in enumerate(elements):
        if number > best and lines[number] and roles[number] != _BOILERPLATE:
            row = latest[element.parent]
            if not row or elements[row].name != element.name or not element.attributes:
                row = latest[element.parent] = number
            first[number] = row
            row_sizes[row] += 1
            replies[row] += lines[number] > 1 and texts[number] > 0 and not headlines[number]
    in_thread: list[bool | None] = [None] * len(elements)
    for number, element in enumerate(elements):
        row, in_thread[number] = first[number], in_thread[element.parent]
        if in_thread[number] is None and row_sizes[row] > 1:
            in_thread[number] = replies[row] >= _REPLIES_SHARE * row_sizes[row]
    return in_thread


def _kind_of(element: Element) -> tuple[int, str, bytes] | None:
    """What siblings that were made by one template have in common; None where nothing tells."""
    kind = element.parent, element.name, _NUMBER.sub(b"0", element.attributes[:_HINT_LIMIT])
    return kind if element.attributes else None


def _roles(page: Outline, values: list[float]) -> list[int]:
    """What each element holds, by the nearest hint at it or around it; nothing in boilerplate is content."""
    elements = page.elements
    running = [0.0] * len(elements)  # bytes of running text in each element; a trace where there is other text
    for block, value in zip(page.blocks, values, strict=True):
        running[block.element] += value if value > 0 else _TRACE
    _add_up(running, elements)
    limit = _BOILERPLATE_LIMIT * running[0]
    roles = [_NEUTRAL] * len(elements)
    for number, element in enumerate(elements):
        roles[number] = roles[element.parent]
        if number and running[number] and roles[number] != _BOILERPLATE:
            hint = _ELEMENT_HINTS[element.name] if element.name in _ELEMENT_HINTS else _hint(element.attributes)
            if hint == _CONTENT or (hint == _BOILERPLATE and running[number] <= limit):
                roles[number] = hint
    return roles


def _add_up(sums: list[float], elements: list[Element]) -> None:
    """Add to each element's own sum those of all elements in it."""
    for number in range(len(elements) - 1, 0, -1):
        sums[elements[number].parent] += sums[number]


def _hint(written: bytes) -> int:
    hint = _NEUTRAL
    for name, value in attributes(written[:_HINT_LIMIT]):
        if name == b"hidden" or (name == b"style" and _NOT_DISPLAYED.search(value)):
            return _BOILERPLATE
        if name in (b"class", b"id", b"role", b"itemprop"):
            if not _BOILERPLATE_WORDS.isdisjoint(map(bytes.lower, _NAME_WORD.findall(value))):
                return _BOILERPLATE
            if _CONTENT_NAME.search(value.lower()):
                hint = _CONTENT
    return hint
