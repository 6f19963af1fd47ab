# cython: language_level=3
"""Facts: what a page's markup says besides its text: about URLs, links, and the program that made it.

`Outline` reads the markup once, when the first fact is read. Facts that are needed for few pages only, such as all that
a page loads, take another pass of the tokenizer. Python objects are made only for the facts that are read.
"""

import cython
from cython.cimports.dedupcrawl.core.arrays import uint8s, unset
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

_KINDS = {"link": HEAD_LINK, "meta": META}


class Facts:
    """What the markup of a page says.

    The values of attributes have their character references replaced and the white space around them removed.

    Args:
        markup: HTML in UTF-8, however broken.
        body: The bytes that it was decoded from; they tell pages without text apart.
        is_cut: Whether `markup` is only the beginning of the page.
    """

    def __init__(self, markup: bytes, body: bytes = b"", is_cut: bool = False):
        self.markup, self.body, self.is_cut = markup, body, is_cut

    def read(self):
        if self.outline is None:
            self.outline = Outline(self.markup)
        return self.outline

    def taken(self):
        """An outline for a caller that takes its text away; each call returns another one."""
        if self.is_taken:
            self.outline = None
        self.is_taken = True
        return self.read()

    @property
    def base(self):
        """The href of the first base element that has one; empty if none has."""
        outline: Outline = self.read()
        i: cython.int
        for i in range(outline.note_count):
            if outline.notes[i].kind == BASE and (href := self.attributes(outline.notes[i].attributes).get("href")):
                return href
        return ""

    def elements(self, wanted: tuple, in_head: bool = False) -> list:
        """The wanted link and meta elements in page order, each as its name and its attributes.

        Args:
            wanted: Each the name of an element, the name of an attribute, and words in lower case, at least one of
                which the attribute must contain.
            in_head: Whether to return only elements in the head of the page.
        """
        outline: Outline = self.read()
        note: cython.pointer(Note)
        kind: Kind
        i: cython.int
        made: list = []
        for i in range(outline.note_count):
            note = cython.address(outline.notes[i])
            if in_head and not note.is_in_head:
                continue
            for name, key, words in wanted:
                kind = _KINDS[name]
                if note.kind == kind and self.has_word(note.attributes, key, words):
                    made.append((name, self.attributes(note.attributes)))
        return made

    def scripts(self, kind: bytes) -> list:
        """The contents of the script elements of a media type, given in lower case."""
        outline: Outline = self.read()
        note: cython.pointer(Note)
        i: cython.int
        made: list = []
        for i in range(outline.note_count):
            note = cython.address(outline.notes[i])
            if note.kind == SCRIPT and self.has_word(note.attributes, b"type", (kind,)):
                made.append(self.markup[note.content.begin : note.content.end])
        return made

    @property
    def anchors(self):
        """The targets of the links that people can follow, in page order."""
        outline: Outline = self.read()
        i: cython.int
        return [_decoded(self.markup, outline.anchors[i].target) for i in range(outline.anchor_count)]

    @property
    def numbered_anchors(self):
        """Those of `anchors` that lead to an element of another page, by a fragment that ends with a digit."""
        outline: Outline = self.read()
        text: Text = self.markup
        target: Span
        i: cython.int
        made: list = []
        for i in range(outline.anchor_count):
            target = outline.anchors[i].target
            while target.end > target.begin and is_space(text[target.end - 1]):
                target.end -= 1
            is_numbered: cython.bint = target.end > target.begin and is_digit(text[target.end - 1])
            if is_numbered and target.begin < find(0x23, text, target.begin, target.end) < target.end:
                made.append(_decoded(self.markup, target))
        return made

    @property
    def numbered_elements(self):
        """The ASCII ids and names of elements that end with a digit, each once, in page order."""
        there: dict = self.values(len(self.markup), False)
        return [name.decode() for name in there if name.isascii() and name[-1:].isdigit()]

    def has_elements(self, names: object) -> set:
        """Those of these ASCII names that elements of the page have as an id or a name."""
        there: dict = self.values(len(self.markup), False)
        return {name for name in names if name.encode() in there}

    def references(self, limit: cython.Py_ssize_t) -> list:
        """The different values of href, src, action and the like (data-src) in the first `limit` bytes of the page."""
        there: dict = self.values(limit, True)
        span: Span
        span.begin = 0
        made: list = []
        for value in there:
            span.end = len(value)
            made.append(_decoded(value, span))
        return made

    def values(self, limit, of_links):
        """The different raw values of the attributes that refer to something, or else of those that name elements."""
        text: Text = self.markup
        end: cython.Py_ssize_t = min(len(self.markup), limit)
        stop: cython.Py_ssize_t = (
            end  # of the page, or of an element that holds markup as text; nested ones are not read
        )
        resume: cython.Py_ssize_t = end
        is_inside: cython.bint = False
        after: cython.Py_ssize_t
        tag: Tag
        attribute: Attribute
        is_wanted: cython.bint
        made: dict = {}
        at: cython.Py_ssize_t = find(0x3C, text, 0, end)
        while at < end:
            if at >= stop:
                is_inside, at, stop = False, find(0x3C, text, resume, end), end
                continue
            after = read_tag(text, at, stop, cython.address(tag))
            if after < 0:
                after = at + 1
            elif not is_inside and _holds_markup(text, at + 1, cython.address(tag)):
                is_inside, stop, resume, after = True, tag.unread.end, after, tag.unread.begin
            while not tag.is_end and next_attribute(text, cython.address(tag.attributes), cython.address(attribute)):
                if of_links:
                    is_wanted = _refers(text, attribute.name)
                else:
                    is_wanted = equals(text, attribute.name, "id") or equals(text, attribute.name, "name")
                if is_wanted and attribute.value.end > attribute.value.begin:
                    made[self.markup[attribute.value.begin : attribute.value.end]] = None
            at = find(0x3C, text, after, stop)
        return made

    def has_word(self, left, key, words):
        """Whether an attribute contains one of some words, which white space and semicolons separate."""
        text: Text = self.markup
        attribute: Attribute
        word: Span
        while next_attribute(text, cython.address(left), cython.address(attribute)):
            if not equals(text, attribute.name, key):
                continue
            word.end = attribute.value.begin
            while word.end < attribute.value.end:
                word.begin = word.end
                while word.end < attribute.value.end and not (is_space(text[word.end]) or text[word.end] == 0x3B):
                    word.end += 1
                for one in words:
                    if equals(text, word, cython.cast(bytes, one)):
                        return True
                word.end += 1
            return False
        return False

    def attributes(self, left):
        """The attributes by their names in lower case; the first of each name counts."""
        attribute: Attribute
        made: dict = {}
        while next_attribute(self.outline.source, cython.address(left), cython.address(attribute)):
            name = self.markup[attribute.name.begin : attribute.name.end].decode("utf-8", "replace").lower()
            if name not in made:
                made[name] = _decoded(self.markup, attribute.value)
        return made


@cython.cfunc
@cython.exceptval(check=False)
def _holds_markup(text: Text, name_at: cython.Py_ssize_t, tag: cython.pointer(Tag)) -> cython.bint:
    """Whether a tag begins an element whose text the tokenizer skips although it holds markup."""
    name: Span
    name.begin, name.end = name_at, tag.attributes.begin
    is_unread: cython.bint = tag.unread.end > 0
    return is_unread and (equals(text, name, "noscript") or equals(text, name, "svg") or equals(text, name, "select"))


@cython.cfunc
@cython.exceptval(check=False)
def _refers(text: Text, name: Span) -> cython.bint:
    """Whether the name of an attribute, or its last part as in data-src, is "href", "src" or "action"."""
    begin: cython.Py_ssize_t = name.end
    while begin > name.begin and is_letter(text[begin - 1]):
        begin -= 1
    if begin > name.begin and (is_digit(text[begin - 1]) or text[begin - 1] == 0x5F or text[begin - 1] >= 0x80):
        return False
    name.begin = begin
    return equals(text, name, "href") or equals(text, name, "src") or equals(text, name, "action")


@cython.cfunc
def _decoded(markup: bytes, value: Span) -> str:
    """The text of an attribute's value, without white space around it."""
    text: Text = markup
    while value.end > value.begin and is_space(text[value.end - 1]):
        value.end -= 1
    while value.begin < value.end and is_space(text[value.begin]):
        value.begin += 1
    size: cython.Py_ssize_t = value.end - value.begin
    if find(0x26, text, value.begin, value.end) == value.end:
        return markup[value.begin : value.end].decode("utf-8", "replace")
    unescaped: bytes = unset(size + size // 5)
    size = unescape_into(text + value.begin, size, uint8s(unescaped), True)
    return unescaped[:size].decode("utf-8", "replace")
