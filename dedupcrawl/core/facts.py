# cython: language_level=3
"""Facts: what the markup of a page says besides its text: of its URL and others, of its links, of what made it.

The markup is read once, by `Outline`, when something of it is asked for. What only few pages are asked for, such as
all that they load, takes another pass of the tokenizer. Python objects are made of what is asked for, and of no more.
"""

import cython
from cython.cimports.dedupcrawl.core.ascii import Text, find, is_digit, is_letter, is_space
from cython.cimports.dedupcrawl.core.characters import unescape_into
from cython.cimports.dedupcrawl.core.tags import (
    BASE,
    HEAD_LINK,
    META,
    SCRIPT,
    Attribute,
    Tag,
    equals,
    next_attribute,
    read_tag,
)
from cython.cimports.libc.stdint import uint8_t
from cython.cimports.libc.stdlib import free, malloc
from cython.cimports.libc.string import memcpy

_LONGEST_FRAGMENT = cython.declare(cython.int, 35)  # bytes: twenty letters and fifteen digits
_MOST_DIGITS = cython.declare(cython.int, 15)


class Facts:
    """What the markup of a page says.

    Args:
        markup: HTML in UTF-8, however broken.
        digest: Of the body that it was decoded from.
        is_cut: There is more than `markup`.
        keeps_anchors: A page with anchors will be made of it.

    Values of attributes are given with their character references replaced, and without white space around them.
    """

    def __init__(self, markup: bytes, digest: bytes = b"", is_cut: bool = False, keeps_anchors: bool = False):
        self.markup, self.digest, self.is_cut, self.keeps_anchors = markup, digest, is_cut, keeps_anchors

    def read(self):
        if self.outline is None:
            self.outline = Outline(self.markup, self.keeps_anchors)
        return self.outline

    def taken(self, keeps_anchors):
        """The outline, for a page that takes its text: another one each time."""
        if self.is_taken or (keeps_anchors and not self.keeps_anchors):
            self.outline, self.keeps_anchors = None, keeps_anchors
        self.is_taken = True
        return self.read()

    @property
    def base(self):
        """The href of the first base element that has one; empty where there is none."""
        note: cython.pointer(Note)
        i: cython.int
        for i in range(self.read().note_count):
            note = self.note_of(i, BASE, False)
            if note is not cython.NULL and (found := self.attributes(note.attributes)).get("href"):
                return found["href"]
        return ""

    def head_links(self, relations: tuple) -> list:
        """The attributes of each link element in the head that has one of these relations, given in lower case."""
        note: cython.pointer(Note)
        i: cython.int
        found: list = []
        for i in range(self.read().note_count):
            note = self.note_of(i, HEAD_LINK, True)
            if note is not cython.NULL and _has_relation(self.outline.source, note.attributes, relations):
                found.append(self.attributes(note.attributes))
        return found

    def metas(self, key: str, name: str, in_head: bool) -> list:
        """The contents of meta elements whose attribute `key` is `name`, in lower case: in the head, or anywhere."""
        note: cython.pointer(Note)
        i: cython.int
        wanted: bytes = name.encode()
        by: bytes = key.encode()
        found: list = []
        for i in range(self.read().note_count):
            note = self.note_of(i, META, in_head)
            if note is not cython.NULL and _has_value(self.outline.source, note.attributes, by, wanted):
                found.append(self.attributes(note.attributes).get("content", ""))
        return found

    def scripts(self, kind: str) -> list:
        """The contents of the script elements of a media type, undecoded."""
        note: cython.pointer(Note)
        i: cython.int
        wanted: bytes = kind.encode()
        found: list = []
        for i in range(self.read().note_count):
            note = self.note_of(i, SCRIPT, False)
            if note is not cython.NULL and _has_value(self.outline.source, note.attributes, b"type", wanted):
                found.append(self.markup[note.content.begin : note.content.end])
        return found

    @property
    def anchor_count(self):
        """How many links of the page people can follow."""
        return self.read().anchor_count

    @property
    def anchors(self):
        """Where they lead, in page order."""
        i: cython.int
        return [self.value(self.outline.anchors[i].target) for i in range(self.read().anchor_count)]

    @property
    def numbered_fragments(self):
        """Of those links whose fragment is letters and a number that is a token of what stands before it: both.

        >>> Facts(b"<a href='/t?p=42#p42'><a href='/t?p=42#p43'>").numbered_fragments
        [('/t?p=42', 'p42')]
        """
        outline: Outline = self.read()
        target: Span
        hash_at: cython.Py_ssize_t
        i: cython.int
        found: list = []
        for i in range(outline.anchor_count):
            target = outline.anchors[i].target
            hash_at = _numbered_fragment(outline.source, cython.address(target))
            if hash_at > target.begin:
                fragment: str = self.markup[hash_at + 1 : target.end].decode("ascii")
                target.end = hash_at
                found.append((self.value(target), fragment))
        return found

    def elements(self, names: object) -> set:
        """Which of some names the page has an element of: as its id or, of anchors and others, its name."""
        text: Text = self.markup
        end: cython.Py_ssize_t = len(self.markup)
        after: cython.Py_ssize_t
        tag: Tag
        attribute: Attribute
        found: set = set()
        at: cython.Py_ssize_t = find(0x3C, text, 0, end)
        while at < end and len(found) < len(names):
            after = read_tag(text, at, end, cython.address(tag))
            if after < 0:
                after = at + 1
            elif not tag.is_end:
                while next_attribute(text, cython.address(tag.attributes), cython.address(attribute)):
                    if equals(text, attribute.name, "id") or equals(text, attribute.name, "name"):
                        value: str = self.value(attribute.value)
                        if value in names:
                            found.add(value)
            at = find(0x3C, text, _inside(text, at, after, cython.address(tag)), end)
        return found

    def references(self, limit: cython.Py_ssize_t) -> list:
        """The different values of href, src and action, be they of data-src, among the first bytes of the page."""
        text: Text = self.markup
        end: cython.Py_ssize_t = min(len(self.markup), limit)
        after: cython.Py_ssize_t
        tag: Tag
        attribute: Attribute
        found: dict = {}
        at: cython.Py_ssize_t = find(0x3C, text, 0, end)
        while at < end:
            after = read_tag(text, at, end, cython.address(tag))
            if after < 0:
                after = at + 1
            elif not tag.is_end:
                while next_attribute(text, cython.address(tag.attributes), cython.address(attribute)):
                    if _refers(text, attribute.name) and attribute.value.end > attribute.value.begin:
                        found[self.markup[attribute.value.begin : attribute.value.end]] = None
            at = find(0x3C, text, _inside(text, at, after, cython.address(tag)), end)
        return [_decoded(value) for value in found]

    def note_of(self, number, kind, in_head):
        """A note of the outline, NULL where it is of another kind or place."""
        note: cython.pointer(Note) = cython.address(self.outline.notes[number])
        return note if note.kind == kind and (note.is_in_head or not in_head) else cython.NULL

    def value(self, span):
        return _decoded(self.markup[span.begin : span.end])

    def attributes(self, left):
        """By their names in lower case; the first of a name counts."""
        attribute: Attribute
        found: dict = {}
        while next_attribute(self.outline.source, cython.address(left), cython.address(attribute)):
            name = self.markup[attribute.name.begin : attribute.name.end].decode("utf-8", "replace").lower()
            if name not in found:
                found[name] = self.value(attribute.value)
        return found


@cython.cfunc
@cython.exceptval(check=False)
def _inside(text: Text, at: cython.Py_ssize_t, after: cython.Py_ssize_t, tag: cython.pointer(Tag)) -> cython.Py_ssize_t:
    """The end of a tag, of an element that is not read too, where what is in that is markup."""
    name: Span
    name.begin, name.end = at + 1, tag.attributes.begin
    if tag.unread.end and (equals(text, name, "noscript") or equals(text, name, "svg") or equals(text, name, "select")):
        return tag.unread.begin
    return after


@cython.cfunc
@cython.exceptval(check=False)
def _token_after(text: Text, left: cython.pointer(Span), token: cython.pointer(Span)) -> cython.bint:
    """Take the next token off a value; False where there is none."""
    at: cython.Py_ssize_t = left.begin
    while at < left.end and is_space(text[at]):
        at += 1
    token.begin = at
    while at < left.end and not is_space(text[at]):
        at += 1
    token.end = left.begin = at
    return token.end > token.begin


@cython.cfunc
def _has_relation(text: Text, left: Span, relations: tuple) -> cython.bint:
    attribute: Attribute
    token: Span
    while next_attribute(text, cython.address(left), cython.address(attribute)):
        if equals(text, attribute.name, "rel"):
            while _token_after(text, cython.address(attribute.value), cython.address(token)):
                for relation in relations:
                    name: bytes = relation
                    if equals(text, token, name):
                        return True
            return False
    return False


@cython.cfunc
def _has_value(text: Text, left: Span, key: bytes, wanted: bytes) -> cython.bint:
    """Whether an attribute has a value, perhaps with parameters after it, as those of a media type."""
    attribute: Attribute
    token: Span
    while next_attribute(text, cython.address(left), cython.address(attribute)):
        if equals(text, attribute.name, key):
            if not _token_after(text, cython.address(attribute.value), cython.address(token)):
                return False
            token.end = find(0x3B, text, token.begin, token.end)
            return equals(text, token, wanted)
    return False


@cython.cfunc
@cython.exceptval(check=False)
def _refers(text: Text, name: Span) -> cython.bint:
    """Whether an attribute's name is, or ends with a part that is, "href", "src" or "action"."""
    begin: cython.Py_ssize_t = name.end
    while begin > name.begin and is_letter(text[begin - 1]):
        begin -= 1
    if begin > name.begin and (is_digit(text[begin - 1]) or text[begin - 1] == 0x5F or text[begin - 1] >= 0x80):
        return False
    name.begin = begin
    return equals(text, name, "href") or equals(text, name, "src") or equals(text, name, "action")


@cython.cfunc
@cython.exceptval(check=False)
def _numbered_fragment(text: Text, target: cython.pointer(Span)) -> cython.Py_ssize_t:
    """Where the fragment of a link begins that is letters and a number which is a token before it; else -1."""
    while target.end > target.begin and is_space(text[target.end - 1]):
        target.end -= 1
    digits: cython.Py_ssize_t = target.end
    while digits > target.begin and is_digit(text[digits - 1]):
        digits -= 1
    size: cython.Py_ssize_t = target.end - digits
    if not size or size > _MOST_DIGITS:
        return -1
    hash_at: cython.Py_ssize_t = digits - 1
    while hash_at >= target.begin and (is_letter(text[hash_at]) or text[hash_at] == 0x2D or text[hash_at] == 0x5F):
        hash_at -= 1
    if hash_at < target.begin or text[hash_at] != 0x23 or target.end - hash_at > _LONGEST_FRAGMENT:
        return -1
    at: cython.Py_ssize_t = target.begin
    i: cython.Py_ssize_t
    while at < hash_at:
        stop: cython.Py_ssize_t = at
        while stop < hash_at and is_digit(text[stop]):
            stop += 1
        if stop - at == size:
            i = 0
            while i < size and text[at + i] == text[digits + i]:
                i += 1
            if i == size:
                return hash_at
        at = stop + 1
    return -1


@cython.cfunc
def _decoded(value: bytes) -> str:
    """The text of an attribute's value, without white space around it."""
    text: Text = value
    size: cython.Py_ssize_t = len(value)
    at: cython.Py_ssize_t = 0
    while size and is_space(text[size - 1]):
        size -= 1
    while at < size and is_space(text[at]):
        at += 1
    if find(0x26, text, at, size) == size:
        return value[at:size].decode("utf-8", "replace")
    out: cython.pointer(uint8_t) = cython.cast(cython.pointer(uint8_t), malloc(size + size // 5 + 1))
    if out is cython.NULL:
        raise MemoryError
    try:
        return out[: _unescaped_into(text + at, size - at, out)].decode("utf-8", "replace")
    finally:
        free(out)


@cython.cfunc
@cython.exceptval(check=False)
def _unescaped_into(text: Text, size: cython.Py_ssize_t, out: cython.pointer(uint8_t)) -> cython.Py_ssize_t:
    """As `unescape_into`, but that a name without its ";" is none before "=", a letter or a digit (HTML, 13.2.5.73)."""
    at: cython.Py_ssize_t = 0
    written: cython.Py_ssize_t = 0
    while at < size:
        stop: cython.Py_ssize_t = find(0x26, text, at, size)
        memcpy(out + written, text + at, stop - at)
        written += stop - at
        at = stop
        if at == size:
            break
        stop += 1
        is_number: cython.bint = stop < size and text[stop] == 0x23
        stop += is_number
        while stop < size and (is_letter(text[stop]) or is_digit(text[stop])):
            stop += 1
        is_ended: cython.bint = stop < size and text[stop] == 0x3B
        stop += is_ended
        made: cython.Py_ssize_t = 0
        if is_number or is_ended or stop == size or text[stop] != 0x3D:
            made = unescape_into(text + at, stop - at, out + written)
        if not is_number and (made == 0 or _is_left(out[written + made - 1], made, is_ended)):
            made = stop - at
            memcpy(out + written, text + at, made)
        written += made
        at = stop
    return written


@cython.cfunc
@cython.exceptval(check=False)
def _is_left(last: uint8_t, made: cython.Py_ssize_t, is_ended: cython.bint) -> cython.bint:
    """Whether some of a name was left, by the end of what was made of it: it was none, or but began with one."""
    return made > 1 and last == 0x3B if is_ended else is_letter(last) or is_digit(last)
