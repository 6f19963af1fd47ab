# cython: language_level=3
"""Theme: which of its templates a site shows a page in, by a sketch of the page's markup.

A site may show one text in several themes: for phones, for printing, before and after a redesign. What stands around
the text then differs, and says nothing about the text. Pages of one theme have most names of elements and classes in
common. The sketch holds the least of their hashes (bottom-k MinHash, Broder 1997), from which the Jaccard similarity of
two pages' names is estimated.

Of 260 labelled pairs of different pages in one template, on four sites, 11 are taken for pages of two themes.
"""

import cython
from cython.cimports.dedupcrawl.core.arrays import uint16s
from cython.cimports.dedupcrawl.core.ascii import is_digit, lower
from cython.cimports.dedupcrawl.core.memory import REMEMBERED, Remembered, key_of, place_of_key
from cython.cimports.dedupcrawl.core.outline import Element
from cython.cimports.dedupcrawl.core.tags import Attribute, Span, equals, next_attribute
from cython.cimports.libc.stdint import uint32_t, uint64_t

SKETCH = 8
"""Hashes in a sketch, 16 bits each."""

_SKETCH = cython.declare(cython.int, SKETCH)
_READ = cython.declare(cython.int, 128)  # the first elements, which are read; 256 take no more pairs for one theme
_LONGEST = cython.declare(cython.int, 200)  # bytes of an element's attributes that are read; set by hand
_SAME = cython.declare(cython.double, 0.45)  # Jaccard similarity of two pages of one theme

_names = cython.declare(Remembered[REMEMBERED])  # what `_name_in` says


@cython.cfunc
@cython.exceptval(check=False)
def _hashed(value: uint32_t, text: Text, span: Span) -> uint32_t:
    """A hash (FNV-1a) of a name, in which a number counts as one digit: "post-12" is every post's class."""
    i: cython.Py_ssize_t
    for i in range(span.begin, span.end):
        c: uint8_t = lower(text[i])
        if is_digit(c):
            if i > span.begin and is_digit(text[i - 1]):
                continue
            c = 0x30
        value = (value ^ c) * 16777619
    return value


@cython.cfunc
@cython.exceptval(check=False)
def _name_in(name: cython.int, text: Text, left: Span) -> uint32_t:
    """A hash of an element's name with its class or else its id; of the name alone if it has neither."""
    start: uint32_t = 0x811C9DC5
    start = (start ^ name) * 16777619
    hashed: uint32_t = start
    attribute: Attribute
    while next_attribute(text, cython.address(left), cython.address(attribute)):
        if equals(text, attribute.name, "class"):
            hashed = _hashed(start, text, attribute.value)
            break
        if equals(text, attribute.name, "id"):
            hashed = _hashed(start, text, attribute.value)
    return hashed ^ hashed >> 16


@cython.cfunc
@cython.exceptval(check=False)
def _name_of(text: Text, element: cython.pointer(Element)) -> uint32_t:
    """`_name_in` an element; 0 of a heading without class or id, because the text decides which headings there are."""
    written: Span = element.attributes
    written.end = min(written.end, written.begin + _LONGEST)
    key: uint64_t = key_of(text + written.begin, written.end - written.begin, 1 + element.name)
    known: cython.pointer(Remembered) = place_of_key(_names, key)
    if known.key != key:
        known.key, known.result = key, _name_in(element.name, text, written)
    if not element.is_heading:
        return known.result
    written.end = written.begin
    return 0 if known.result == _name_in(element.name, text, written) else known.result


def theme_of(page):
    """The sketch of a page's theme: up to `SKETCH` different hashes of 16 bits, ascending."""
    least: uint16_t[8]
    count: cython.int = 0
    i: cython.int
    at: cython.int
    for i in range(1, min(page.element_count, _READ)):
        hashed: uint16_t = _name_of(page.source, cython.address(page.elements[i]))
        if not hashed or (count == _SKETCH and hashed >= least[count - 1]):
            continue
        at = count
        while at and least[at - 1] > hashed:
            at -= 1
        if at and least[at - 1] == hashed:
            continue
        count = min(count + 1, _SKETCH)
        memmove(least + at + 1, least + at, 2 * (count - 1 - at))
        least[at] = hashed
    return cython.cast(cython.p_char, least)[: 2 * count]


def is_one_theme(one, other):
    """Whether two sketches are of one theme, as far as they tell; an empty one is of a page without markup."""
    here: cython.pointer(uint16_t) = uint16s(one)
    there: cython.pointer(uint16_t) = uint16s(other)
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = len(one) // 2
    other_count: cython.Py_ssize_t = len(other) // 2
    common: cython.int = 0
    union: cython.int = 0
    while union < _SKETCH and (i < count or j < other_count):
        is_here: cython.bint = i < count and (j == other_count or here[i] <= there[j])
        is_there: cython.bint = j < other_count and (i == count or there[j] <= here[i])
        common += is_here and is_there
        union += 1
        i += is_here
        j += is_there
    return not count or not other_count or common >= _SAME * union
