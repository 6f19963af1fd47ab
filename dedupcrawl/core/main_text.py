# cython: language_level=3
"""Main text: tell the content of a page from its navigation, advertising and small print.

Shallow text features as in boilerpipe (Kohlschütter, Fankhauser, Nejdl, WSDM 2010) are summed over containers, so the
best container is a maximum subsequence (Pasternack, Roth, WWW 2009) of whole elements. Class names give hints, as in
readability and trafilatura. A page without an article keeps all its text except obvious boilerplate: two pages of one
template must not be reduced to the same small print.

Text is weighed in UTF-8 bytes: about six for an English word and a space, six for a Chinese word of two characters.
"""

import cython
from cython.cimports.dedupcrawl.core.ascii import Text, is_digit, is_letter, is_space, lower
from cython.cimports.dedupcrawl.core.memory import REMEMBERED, Remembered, key_of, place_of_key
from cython.cimports.dedupcrawl.core.outline import Block, Element
from cython.cimports.dedupcrawl.core.tags import (
    BOILERPLATE,
    BY_ATTRIBUTES,
    CONTENT,
    NEUTRAL,
    Attribute,
    Span,
    equals,
    next_attribute,
)
from cython.cimports.libc.stdint import int64_t, uint8_t, uint32_t, uint64_t
from cython.cimports.libc.string import memchr, memcmp, memset

_BLOCK_COST = cython.declare(cython.double, 25)  # bytes; a smaller block counts against its container
_LINKED = cython.declare(cython.double, 0.5)  # a block with at least this share in links is a list of links
_BOILERPLATE_LIMIT = cython.declare(
    cython.double, 0.7
)  # of the running text; an element with more is content, whatever its class
_SECOND_SHARE = cython.declare(
    cython.double, 0.3
)  # of the best container's value; another container with more is content too
_PRUNED = cython.declare(cython.double, -50)  # an element of lower value inside the best one is left out,
_SOME_LINKED = cython.declare(cython.double, 0.25)  # if at least this share of its text is in links
_LITTLE = cython.declare(cython.int, 100)  # bytes that must be left of a page without boilerplate
_ENOUGH = cython.declare(cython.int, 500)  # bytes of the shortest article,
_ENOUGH_PROSE = cython.declare(cython.int, 200)  # or of one that is mostly prose
_PROSE_SHARE = cython.declare(cython.double, 0.7)  # of the article's container is in no list of links, and
_MOSTLY = cython.declare(cython.double, 0.5)  # of the content is in the article; both as measured on short pages
_ARTICLE_SHARE = cython.declare(cython.double, 0.3)  # of the content; a smaller article is a notice on another page
_TITLE_LENGTH = cython.declare(cython.int, 10)  # characters; a longer line that is part of the title is left out
_TITLE_LIMIT = cython.declare(cython.int, 1_000)  # characters of the title that are searched for such lines
_LONG_LINK = cython.declare(cython.double, 24)  # bytes; a shorter link text is a menu's, a longer one a headline's
# A row of siblings with at least this share of replies is a thread. With .5 it finds other lists, too: F1 on the
# English articles to tune by is .924, not .926. With 1 it finds 1,621 of 1,931 comments of ripper234.com, not 1,703.
_REPLIES_SHARE = cython.declare(cython.double, 0.8)
_HINT_LIMIT = cython.declare(cython.int, 500)  # bytes of an element's attributes that are read
_FACTS = cython.declare(cython.int, 4)  # lines of the shortest list of facts; set by hand, as is the next
_FACT = cython.declare(cython.double, 40)  # bytes of such a line, on average
# Cells of the smallest table of data. With 4 to 30, and with .5 to .95 below, `archive.py` finds and loses the same
# number of pages, and F1 on articles changes by .002 at most.
_DATA_CELLS = cython.declare(cython.int, 8)
_SHORT_SHARE = cython.declare(cython.double, 0.75)  # of its cells with text hold one line
_TRACE = cython.declare(cython.double, 1e-6)  # bytes of running text of a block that counts against its container

_BOILERPLATE_NAMES = """
ad ads adv advert advertisement banner breadcrumb breadcrumbs byline caption captions carousel consent cookie cookies
copyright credit credits crumb crumbs dropdown foot footer gdpr login masthead menu modal mostread nav navbar navigation
newsletter outbrain pager pagination popup popular promo promos promotion rating ratings recommend recommendation
recommendations recommended register related respond rss share sharer sharing side sidebar signup slideshow social
sponsor sponsored sponsors submenu subnav subscribe subscription taboola tags teaser toolbar tooltip topbar trending
widget widgets banquan daohang fenxiang guanggao tuijian xiangguan
"""
_LONGEST_WORD = cython.declare(cython.int, 15)  # letters, so that a word and a zero fill 16 bytes
_WORD_SLOTS = cython.declare(cython.int, 512)  # a power of two, six for each word
_hints = cython.declare(Remembered[REMEMBERED])  # the hints in attributes
_words = cython.declare(uint8_t[16][512])  # a hash table with open addressing; zeros follow each word

_IN_NO_ROW = cython.declare(cython.int, 0)  # values of `Element.place`
_IN_THREAD = cython.declare(cython.int, 1)  # ...
_IN_OTHER_ROW = cython.declare(cython.int, 2)  # ...


@cython.cfunc
@cython.exceptval(check=False)
def _slot_of(text: Text, span: Span) -> cython.int:
    value: uint32_t = 0x811C9DC5
    i: cython.Py_ssize_t
    for i in range(span.begin, span.end):
        value = (value ^ lower(text[i])) * 16777619
    return (value ^ value >> 15) & (_WORD_SLOTS - 1)


def _fill():
    for word in map(str.encode, _BOILERPLATE_NAMES.split()):
        span: Span
        span.begin, span.end = 0, len(word)
        slot: cython.int = _slot_of(cython.cast(bytes, word), span)
        while _words[slot][0]:
            slot = (slot + 1) & (_WORD_SLOTS - 1)
        for i, byte in enumerate(word):
            _words[slot][i] = byte


_fill()


@cython.cfunc
@cython.exceptval(check=False)
def _is_boilerplate_word(text: Text, span: Span) -> cython.bint:
    length: cython.Py_ssize_t = span.end - span.begin
    i: cython.Py_ssize_t
    if length > _LONGEST_WORD:
        return False
    slot: cython.int = _slot_of(text, span)
    while _words[slot][0]:
        i = 0
        while i < length and _words[slot][i] == lower(text[span.begin + i]):
            i += 1
        if i == length and not _words[slot][i]:
            return True
        slot = (slot + 1) & (_WORD_SLOTS - 1)
    return False


@cython.cfunc
@cython.exceptval(check=False)
def _is_upper(c: uint8_t) -> cython.bint:
    return 0x41 <= c <= 0x5A


@cython.cfunc
@cython.exceptval(check=False)
def _after(name: cython.p_const_char, text: Text, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The end of a name, given in lower case, if it stands at `at`; else -1."""
    i: cython.Py_ssize_t = 0
    while name[i]:
        if at + i >= end or lower(text[at + i]) != cython.cast(uint8_t, name[i]):
            return -1
        i += 1
    return at + i


@cython.cfunc
@cython.exceptval(check=False)
def _is_content_name(text: Text, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Whether a name such as "article-body" or "post_text" stands at `at`."""
    first: uint8_t = lower(text[at])
    after: cython.Py_ssize_t = -1
    if first == 0x61:
        after = _after(b"article", text, at, end)
    elif first == 0x65:
        after = _after(b"entry", text, at, end)
    elif first == 0x70:
        after = _after(b"post", text, at, end)
    elif first == 0x73:
        after = _after(b"story", text, at, end)
    elif first == 0x6E:
        after = _after(b"news", text, at, end)
    if after < 0:
        return False
    if after < end and (text[after] == 0x2D or text[after] == 0x5F or text[after] == 0x20):
        after += 1
    return (
        _after(b"body", text, after, end) >= 0
        or _after(b"content", text, after, end) >= 0
        or _after(b"text", text, after, end) >= 0
    )


@cython.cfunc
@cython.exceptval(check=False)
def _hint_in_names(text: Text, value: Span) -> cython.int:
    """The hint in the names of a class or similar attribute: sidebar, navBar, article-body."""
    hint: cython.int = NEUTRAL
    word: Span
    at: cython.Py_ssize_t = value.begin
    while at < value.end:
        if not is_letter(text[at]):
            at += 1
            continue
        word.begin = at
        while at < value.end and _is_upper(text[at]):
            at += 1
        if at < value.end and is_letter(text[at]):  # a lower-case letter
            if at - word.begin > 1:  # the last capital begins the next word
                at -= 1
            else:
                while at < value.end and is_letter(text[at]) and not _is_upper(text[at]):
                    at += 1
        word.end = at
        if _is_boilerplate_word(text, word):
            return BOILERPLATE
    for at in range(value.begin, value.end):
        if hint == NEUTRAL and is_letter(text[at]) and _is_content_name(text, at, value.end):
            hint = CONTENT
    return hint


@cython.cfunc
@cython.exceptval(check=False)
def _is_not_displayed(text: Text, value: Span) -> cython.bint:
    """Whether a style contains "display: none"."""
    at: cython.Py_ssize_t
    after: cython.Py_ssize_t
    for at in range(value.begin, value.end):
        after = _after(b"display", text, at, value.end) if lower(text[at]) == 0x64 else -1
        if after >= 0:
            while after < value.end and (is_space(text[after]) or text[after] == 0x3A):
                after += 1
            if _after(b"none", text, after, value.end) >= 0:
                return True
    return False


def hint_of(text, element):
    """What an element holds, by its name and attributes."""
    if element.hint != BY_ATTRIBUTES:
        return element.hint
    written: Span = element.attributes
    written.end = min(written.end, written.begin + _HINT_LIMIT)
    key: uint64_t = key_of(text + written.begin, written.end - written.begin, 0)
    known: cython.pointer(Remembered) = place_of_key(_hints, key)
    if known.key != key:
        known.key, known.result = key, _hint_in(text, written)
    element.hint = known.result
    return element.hint


@cython.cfunc
@cython.exceptval(check=False)
def _hint_in(text: Text, left: Span) -> cython.int:
    """The hint in an element's attributes."""
    hint: cython.int = NEUTRAL
    attribute: Attribute
    while next_attribute(text, cython.address(left), cython.address(attribute)):
        first: uint8_t = lower(text[attribute.name.begin])
        if first != 0x68 and first != 0x73 and first != 0x63 and first != 0x69 and first != 0x72:
            continue  # no attribute that gives a hint begins with another letter
        if equals(text, attribute.name, "hidden"):
            return BOILERPLATE
        if equals(text, attribute.name, "style"):
            if _is_not_displayed(text, attribute.value):
                return BOILERPLATE
        elif (
            equals(text, attribute.name, "class")
            or equals(text, attribute.name, "id")
            or equals(text, attribute.name, "role")
            or equals(text, attribute.name, "itemprop")
        ):
            named: cython.int = _hint_in_names(text, attribute.value)
            if named == BOILERPLATE:
                return BOILERPLATE
            if named == CONTENT:
                hint = CONTENT
    return hint


@cython.cfunc
@cython.exceptval(check=False)
def _weigh(page: Outline) -> cython.void:
    """Compute the share of each block that is in links, and its value for its containers in bytes."""
    i: cython.int
    for i in range(page.block_count):
        block: cython.pointer(Block) = cython.address(page.blocks[i])
        size: cython.double = block.end - block.begin
        block.linked = min(1.0, block.link_bytes / size)
        block.value = size * (1.0 - 2.0 * block.linked) - _BLOCK_COST


@cython.cfunc
@cython.exceptval(check=False)
def _find_roles(page: Outline) -> cython.void:
    """Find each element's role by the nearest hint at it or around it; nothing inside boilerplate is content."""
    elements: cython.pointer(Element) = page.elements
    alike: cython.int[64]  # the elements whose attributes were read last: rows of a list share them
    other: cython.pointer(Element)
    i: cython.int
    memset(alike, 0, cython.sizeof(alike))
    for i in range(page.block_count):
        block: cython.pointer(Block) = cython.address(page.blocks[i])
        elements[block.element].running += block.value if block.value > 0 else _TRACE
    for i in range(page.element_count - 1, 0, -1):
        elements[elements[i].parent].running += elements[i].running
    limit: cython.double = _BOILERPLATE_LIMIT * elements[0].running
    elements[0].role = NEUTRAL
    for i in range(1, page.element_count):
        element: cython.pointer(Element) = cython.address(elements[i])
        element.role = elements[element.parent].role
        if element.running != 0 and element.role != BOILERPLATE:
            if element.hint == BY_ATTRIBUTES:
                size: cython.Py_ssize_t = element.attributes.end - element.attributes.begin
                middle: cython.Py_ssize_t = element.attributes.begin + (size >> 1)
                slot: cython.pointer(cython.int) = cython.address(alike[(size + page.source[middle]) & 63])
                other = cython.address(elements[slot[0]])
                if (
                    slot[0]
                    and other.attributes.end - other.attributes.begin == size
                    and not memcmp(page.source + other.attributes.begin, page.source + element.attributes.begin, size)
                ):
                    element.hint = other.hint
                slot[0] = i
            hint: cython.int = hint_of(page.source, element)
            if hint == CONTENT or (hint == BOILERPLATE and element.running <= limit):
                element.role = hint


@cython.cfunc
@cython.exceptval(check=False)
def _is_width(text: Text, begin: cython.Py_ssize_t, at: cython.Py_ssize_t) -> cython.bint:
    """Whether a number is the width of a column ("col-md-8", "span8"): columns of other widths hold other things."""
    word: Span
    word.end = at
    while word.end > begin and (text[word.end - 1] == 0x2D or text[word.end - 1] == 0x5F):
        word.end -= 1
    word.begin = word.end
    while word.begin > begin and is_letter(text[word.begin - 1]):
        word.begin -= 1
    return (
        equals(text, word, "col")
        or equals(text, word, "sm")
        or equals(text, word, "md")
        or equals(text, word, "lg")
        or equals(text, word, "xl")
        or equals(text, word, "span")
        or equals(text, word, "grid")
    )


@cython.cfunc
@cython.exceptval(check=False)
def _are_alike(text: Text, one: Span, other: Span) -> cython.bint:
    """Whether the attributes of two elements are equal but for numbers that are no widths, as far as they are read."""
    i: cython.Py_ssize_t = one.begin
    j: cython.Py_ssize_t = other.begin
    end: cython.Py_ssize_t = min(one.end, i + _HINT_LIMIT)
    stop: cython.Py_ssize_t = min(other.end, j + _HINT_LIMIT)
    while i < end and j < stop:
        if is_digit(text[i]) and is_digit(text[j]):
            if text[i] != text[j] and _is_width(text, one.begin, i):
                return False
            while i < end and is_digit(text[i]):
                i += 1
            while j < stop and is_digit(text[j]):
                j += 1
        elif text[i] != text[j]:
            return False
        else:
            i += 1
            j += 1
    return i == end and j == stop


@cython.cfunc
@cython.exceptval(check=False)
def _has_attributes(element: cython.pointer(Element)) -> cython.bint:
    return element.attributes.end > element.attributes.begin


@cython.cfunc
@cython.exceptval(check=False)
def _is_sibling(page: Outline, element: cython.pointer(Element), best: cython.int) -> cython.bint:
    """Whether an element was made by the same template as the best one, or one around that."""
    if not _has_attributes(element):
        return False
    i: cython.int = best
    while i:
        other: cython.pointer(Element) = cython.address(page.elements[i])
        if (
            other.parent == element.parent
            and _has_attributes(other)
            and other.name == element.name
            and _are_alike(page.source, other.attributes, element.attributes)
        ):
            return True
        i = other.parent
    return False


@cython.cfunc
@cython.exceptval(check=False)
def _is_headline(block: cython.pointer(Block)) -> cython.bint:
    size: cython.double = block.end - block.begin
    return block.linked >= _LINKED and size * block.linked >= _LONG_LINK * max(1, block.links)


@cython.cfunc
@cython.exceptval(check=False)
def _has_digit(page: Outline, block: cython.pointer(Block)) -> cython.bint:
    i: cython.Py_ssize_t
    for i in range(block.begin, block.end):
        if is_digit(page.text[i]):
            return True
    return False


@cython.cfunc
@cython.exceptval(check=False)
def _count_lines(page: Outline) -> cython.void:
    """Count the lines in each element, and the cells of each table."""
    elements: cython.pointer(Element) = page.elements
    element: cython.pointer(Element)
    parent: cython.pointer(Element)
    i: cython.int
    for i in range(page.block_count):
        block: cython.pointer(Block) = cython.address(page.blocks[i])
        element = cython.address(elements[block.element])
        element.lines += 1
        element.texts += block.linked < _LINKED
        element.headlines += _is_headline(block) and not _has_digit(page, block)
    for i in range(page.element_count - 1, 0, -1):
        element, parent = cython.address(elements[i]), cython.address(elements[elements[i].parent])
        parent.lines += element.lines
        parent.texts += element.texts
        parent.headlines += element.headlines
        if element.is_cell and element.lines:
            elements[element.table].cells += 1
            elements[element.table].short_cells += element.lines == 1


@cython.cfunc
@cython.exceptval(check=False)
def _is_data(page: Outline, table: cython.int) -> cython.bint:
    """Whether a table holds data, one line a cell, and is no layout of the page."""
    cells: cython.int = page.elements[table].cells
    return table > 0 and cells >= _DATA_CELLS and page.elements[table].short_cells >= _SHORT_SHARE * cells


@cython.cfunc
@cython.exceptval(check=False)
def _find_threads(page: Outline, best: cython.int) -> cython.void:
    """Find the elements after the best one that belong to a thread: a row of siblings nearly all of which are replies.

    A reply has text and something beside it, such as its author's name, but no headline in a link, which the items in a
    list of other pages have. (A date may be a link of any length.) Only outermost rows are judged. A row is identified
    by its first element.
    """
    elements: cython.pointer(Element) = page.elements
    element: cython.pointer(Element)
    parent: cython.pointer(Element)
    row: cython.pointer(Element)
    i: cython.int
    for i in range(best + 1, page.element_count):
        element, parent = cython.address(elements[i]), cython.address(elements[elements[i].parent])
        if not element.lines or element.role == BOILERPLATE:
            continue
        if not parent.latest_row or not _has_attributes(element) or elements[parent.latest_row].name != element.name:
            parent.latest_row = i
        element.row = parent.latest_row
        row = cython.address(elements[element.row])
        row.row_size += 1
        row.replies += element.lines > 1 and element.texts > 0 and not element.headlines
    for i in range(page.element_count):
        element = cython.address(elements[i])
        row = cython.address(elements[element.row])
        element.place = elements[element.parent].place
        if element.place == _IN_NO_ROW and row.row_size > 1:
            element.place = _IN_THREAD if row.replies >= _REPLIES_SHARE * row.row_size else _IN_OTHER_ROW


@cython.cfunc
@cython.exceptval(check=False)
def _is_fact_list(element: cython.pointer(Element)) -> cython.bint:
    """Whether an element holds only short lines without links, such as the data of what the article describes."""
    return element.lines >= _FACTS and element.lines == element.texts and element.unlinked <= _FACT * element.lines


@cython.cfunc
@cython.exceptval(check=False)
def _find_article(page: Outline) -> cython.void:
    """Find the container of the greatest value, and others that are part of the article."""
    elements: cython.pointer(Element) = page.elements
    element: cython.pointer(Element)
    best: cython.int = 0
    i: cython.int
    for i in range(page.block_count):
        block: cython.pointer(Block) = cython.address(page.blocks[i])
        element = cython.address(elements[block.element])
        if element.role == BOILERPLATE:
            element.worth -= abs(block.value)
        elif element.role == NEUTRAL or block.value > 0 or block.linked >= _LINKED:
            element.worth += block.value
        size: cython.double = block.end - block.begin
        element.unlinked += size * (1 - block.linked / _SOME_LINKED)
    for i in range(page.element_count - 1, 0, -1):
        elements[elements[i].parent].worth += elements[i].worth
        elements[elements[i].parent].unlinked += elements[i].unlinked
    for i in range(1, page.element_count):
        if elements[i].worth >= elements[best].worth:  # of equals, the innermost
            best = i
    if elements[best].worth <= 0:
        return
    _count_lines(page)
    if _is_data(page, elements[best].table):  # all rows of a table belong together
        best = elements[best].table
    elements[0].is_around = True
    i = best
    while i:
        i = elements[i].parent
        elements[i].is_around = True
    _find_threads(page, best)
    for i in range(page.element_count):
        element = cython.address(elements[i])
        if element.place == _IN_THREAD:
            element.is_inside = True
        elif i == best or (i and elements[element.parent].is_inside):
            # A table or list has many small blocks; only links show that it is not part of the article.
            element.is_inside = element.worth >= _PRUNED or element.unlinked > 0 or _is_data(page, element.table)
        elif not element.is_around and element.role != BOILERPLATE:
            element.is_inside = (
                element.worth > _SECOND_SHARE * elements[best].worth
                or _is_sibling(page, element, best)
                or (element.parent == elements[best].parent and _is_fact_list(element))
            )


@cython.cfunc
@cython.exceptval(check=False)
def _holds(text: Text, size: cython.Py_ssize_t, part: Text, length: cython.Py_ssize_t) -> cython.bint:
    """Whether a text contains a part; quadratic, so the text must be short."""
    at: Text = text
    last: Text = text + size - length
    while length and size >= length and at <= last:
        at = cython.cast(Text, memchr(at, part[0], last - at + 1))
        if at is cython.NULL:
            return False
        if not memcmp(at, part, length):
            return True
        at += 1
    return not length


_ARTICLE = cython.declare(cython.int, 0)  # choices of a page's main text
_WITH_LISTS = cython.declare(cython.int, 1)  # the article with its lists of links, which is never chosen
_NO_MENUS = cython.declare(cython.int, 2)  # ...
_NO_BOILERPLATE = cython.declare(cython.int, 3)  # ...
_ALL = cython.declare(cython.int, 4)  # ...


@cython.cfunc
@cython.exceptval(check=False)
def _is_of(
    page: Outline, block: cython.pointer(Block), choice: cython.int, title: Text, title_size: cython.Py_ssize_t
) -> cython.bint:
    element: cython.pointer(Element) = cython.address(page.elements[block.element])
    if choice == _ALL:
        return True
    if element.role == BOILERPLATE:
        return False
    if choice == _NO_BOILERPLATE:
        return True
    if choice == _NO_MENUS:
        return block.linked < _LINKED or _is_headline(block)
    # Some templates put the title inside the container and others outside, so it is left out of the article.
    if not element.is_inside or element.is_h1:
        return False
    if block.linked >= _LINKED and choice != _WITH_LISTS and not _is_data(page, element.table):
        return False
    is_title: cython.bint = block.characters > _TITLE_LENGTH and _holds(
        title, title_size, page.text + block.begin, block.end - block.begin
    )
    return not is_title


@cython.cfunc
@cython.exceptval(check=False)
def _bytes_of(page: Outline, choice: cython.int, title: Text, title_size: cython.Py_ssize_t) -> int64_t:
    total: int64_t = 0
    i: cython.int
    for i in range(page.block_count):
        if _is_of(page, cython.address(page.blocks[i]), choice, title, title_size):
            total += page.blocks[i].end - page.blocks[i].begin
    return total


def choose_main_text(page):
    """Mark the blocks of a page that are its main text.

    It is the first of these that is large enough: the article; the page without boilerplate and menus; the page without
    boilerplate; the whole page.
    """
    title: bytes = page.title[:_TITLE_LIMIT].encode("utf-8", "surrogatepass")
    size: cython.Py_ssize_t = len(title)
    choice: cython.int = -1
    i: cython.int
    _weigh(page)
    _find_roles(page)
    if _bytes_of(page, _ALL, title, size) >= _ENOUGH:
        rest: int64_t = _bytes_of(page, _NO_MENUS, title, size)
        _find_article(page)
        article: int64_t = _bytes_of(page, _ARTICLE, title, size)
        is_prose: cython.bint = article >= _PROSE_SHARE * _bytes_of(page, _WITH_LISTS, title, size)
        is_prose = is_prose and article >= _MOSTLY * rest
        if article >= (_ENOUGH_PROSE if is_prose else _ENOUGH) and article >= _ARTICLE_SHARE * rest:
            choice = _ARTICLE
        elif rest >= _ENOUGH:
            choice = _NO_MENUS
    if choice < 0:
        choice = _NO_BOILERPLATE if _bytes_of(page, _NO_BOILERPLATE, title, size) >= _LITTLE else _ALL
    for i in range(page.block_count):
        page.blocks[i].is_main = _is_of(page, cython.address(page.blocks[i]), choice, title, size)
    return 0
