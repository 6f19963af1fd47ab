# cython: language_level=3
"""Secondary text and resources: what a page shows, or has ready to show, besides its text.

A page that scripts fill has its content in templates, in JSON or in a noscript element; a form has it in its values; a
photograph is the content of its page. Two pages with the same text are different pages if this differs. Text that is in
boilerplate or repeats the page's text, tokens, icons and pixels say nothing about a page and are left out.
"""

import cython
from cython.cimports.dedupcrawl.core.arrays import uint8s, unset, zeros
from cython.cimports.dedupcrawl.core.ascii import Text, find, is_digit, is_letter, is_space
from cython.cimports.dedupcrawl.core.main_text import hint_of
from cython.cimports.dedupcrawl.core.outline import Block
from cython.cimports.dedupcrawl.core.tags import BOILERPLATE, Attribute, equals, next_attribute
from cython.cimports.libc.string import memcpy

from dedupcrawl.core.characters import collapse
from dedupcrawl.core.resources import FILES, identity, is_decoration, is_small, is_token, says_something

_MOST_LINES = cython.declare(cython.int, 200)  # of a page; these limits bound the cost of a page, and are set by hand
_MOST_CHARACTERS = cython.declare(cython.int, 20_000)  # of all lines
_MOST_RESOURCES = cython.declare(cython.int, 200)  # of a page
_MOST_INNER = cython.declare(cython.int, 50)  # elements whose inner markup is read
_MOST_OF_ONE = cython.declare(cython.int, 50)  # lines of one list of options, or one block of data
_LONG = cython.declare(cython.int, 60)  # characters; for a longer line, the page's text is searched for both its ends
_END = cython.declare(cython.int, 40)  # characters of such an end
_LONGEST_ADDRESS = cython.declare(cython.int, 2_000)  # bytes; a longer address is read only if it is a data: URL
_LONGEST_EXTENSION = cython.declare(cython.int, 7)  # characters, as "torrent" has
# Attributes with the address of a picture, in the order of search: what is loaded later comes before its placeholder.
_SOURCES = ("data-src", "data-original", "data-lazy-src", "data-lazy", "srcset", "data-srcset", "src", "poster")
_WRITTEN = ("", "text", "search", "email", "tel", "url", "number", "button", "reset", "submit", "date", "month", "time")
"""Types of input elements whose values are shown; the values of submit buttons are their labels."""
_MARKED = ("checkbox", "radio")
_CONTROLS = (b"input", b"meter", b"progress")


# Name and attributes of an element as written → what it shows. A cache, because pages of a site share elements.
_read = cython.declare(dict, {})
_MOST_KNOWN = cython.declare(cython.int, 4_096)  # entries of the cache
_LONGEST_KNOWN = cython.declare(cython.int, 1_000)  # bytes of the longest key in the cache


class Reader:
    """Reads the elements and hidden texts that an outline has collected."""

    def read(self):
        i: cython.int
        for i in range(self.outline.shown_count):
            if len(self.lines) >= _MOST_LINES and len(self.resources) >= _MOST_RESOURCES:
                break
            if self.is_beside(self.outline.shown[i].element):
                self.read_shown(cython.address(self.outline.shown[i]))
        return self.read_files()

    def is_beside(self, element):
        """Whether an element is outside boilerplate; `main_text` has not found that out for elements without text."""
        outline: Outline = self.outline
        if not self.has_roles:
            return True
        seen: cython.pointer(uint8_t) = uint8s(self.seen) + element
        if not seen[0]:
            remembered: cython.bint = outline.elements[element].role != BOILERPLATE
            at: cython.int = element
            while remembered and at and outline.elements[at].running == 0:
                remembered = hint_of(outline.source, cython.address(outline.elements[at])) != BOILERPLATE
                at = outline.elements[at].parent
            seen[0] = 1 + remembered
        return seen[0] == 2

    def read_shown(self, shown):
        text: Text = self.outline.source
        name: Span = shown.name
        if shown.text >= 0:
            self.add_lines(self.outline.hidden[shown.text])
        elif equals(text, name, "textarea"):
            written: bytes = self.outline.markup[shown.content.begin : shown.content.end].replace(b"\0", b"\n")
            for raw in written.split(b"\n", _MOST_LINES):
                self.add(collapse(raw).strip())
        elif equals(text, name, "noscript") or equals(text, name, "select") or equals(text, name, "svg"):
            is_menu: cython.bint = equals(text, name, "select") and _is_jump_menu(self.attributes(shown.attributes))
            self.read_inner(self.outline.markup[shown.content.begin : shown.content.end], is_menu)
        elif equals(text, name, "script"):
            if _is_data(text, shown.attributes):
                self.read_data(shown.content)
        elif equals(text, name, "source") and not shown.is_hidden:  # of a picture: its img shows the same
            self.pictured = _embedded(b"source", self.attributes(shown.attributes))[0]
        elif not equals(text, name, "style"):
            self.read_embedded(shown)
        return 0

    def read_embedded(self, shown):
        """Read an image, a frame, a medium, or an input element."""
        attributes: dict
        written: bytes = self.outline.markup[shown.name.begin : shown.attributes.end]
        if equals(self.outline.source, shown.name, "iframe") and b"srcdoc" in written.lower():
            whole: Span = shown.attributes
            whole.end = max(whole.end, shown.content.end)  # its tag seems to end with the first tag in it
            attributes = self.attributes(whole)
            return (
                self.read_inner(attributes.get("srcdoc", "").encode("utf-8", "replace"), False)
                if not is_small(attributes)
                else 0
            )
        embedded: object = _read.get(written)
        if embedded is None:
            name: bytes = self.outline.markup[shown.name.begin : shown.name.end].lower()
            attributes = self.attributes(shown.attributes)
            embedded = (_written if name in _CONTROLS else _embedded)(name, attributes)
            if len(written) <= _LONGEST_KNOWN:
                if len(_read) >= _MOST_KNOWN:
                    _read.clear()
                _read[written] = embedded
        named: str = cython.cast(tuple, embedded)[0]
        if self.pictured and equals(self.outline.source, shown.name, "img"):  # it may have no address of its own
            named, self.pictured = named or self.pictured, ""
        i: cython.int
        for i in range(1, len(cython.cast(tuple, embedded))):
            self.add(cython.cast(tuple, embedded)[i])
        return self.add_resource(named)

    def read_inner(self, markup, is_menu):
        """Read the markup inside an element, which the tokenizer has skipped; in a menu nothing counts as selected."""
        if self.inner == _MOST_INNER:
            return 0
        self.inner += 1
        inner: Outline = Outline(markup, True)
        left: cython.int = _MOST_OF_ONE
        i: cython.int
        for i in range(min(inner.block_count, left)):
            lines: bytes = inner.text[inner.blocks[i].begin : inner.blocks[i].end]
            self.add_lines(lines.removeprefix(_SELECTED) if is_menu else lines)
        outer: Outline = self.outline
        has_roles: cython.bint = self.has_roles
        self.outline, self.has_roles = inner, False
        for i in range(inner.shown_count):
            if inner.shown[i].text >= 0 or not (inner.shown[i].content.end or inner.shown[i].content.begin):
                self.read_shown(cython.address(inner.shown[i]))
        self.outline, self.has_roles = outer, has_roles
        return 0

    def read_data(self, content):
        """Add the strings of JSON that are texts: values, not names."""
        text: Text = self.outline.source
        at: cython.Py_ssize_t = find(0x22, text, content.begin, content.end)
        begin: cython.Py_ssize_t
        after: cython.Py_ssize_t
        is_text: cython.bint
        left: cython.int = _MOST_OF_ONE
        while at < content.end and left > 0:
            begin = at = at + 1
            is_text = False
            while at < content.end and text[at] != 0x22:
                is_text = is_text or text[at] == 0x20 or text[at] >= 0x80 or text[at] == 0x5C
                at += 1 + (text[at] == 0x5C)
            if at >= content.end:
                break
            after = at + 1
            while after < content.end and is_space(text[after]):
                after += 1
            if is_text and not (after < content.end and text[after] == 0x3A):
                line: str = says_something(self.outline.markup[begin:at])
                if line:
                    left -= 1
                    self.add(line)
            at = find(0x22, text, at + 1, content.end)
        return 0

    def read_files(self):
        """Add the links that lead to files by their extension, or that have the attribute "download"."""
        outline: Outline = self.outline
        i: cython.int
        for i in range(outline.anchor_count):
            target: Span = outline.anchors[i].target
            if target.end - target.begin > _LONGEST_ADDRESS:
                continue
            is_file: cython.bint = outline.anchors[i].is_download or _leads_to_file(outline, target)
            if is_file and self.is_beside(outline.anchors[i].element):
                self.add_resource(identity(self.value(target).encode("utf-8", "replace")))
        return 0

    def add_resource(self, named):
        """Add a resource by its identity, unless that is empty or there is no room for it."""
        if named and len(self.resources) < _MOST_RESOURCES:
            self.resources.append(named)
        return 0

    def add_lines(self, text):
        """Add the lines of a block; what comes after so many is one line, so that it still tells pages apart."""
        for line in text.split(b"\0", _MOST_LINES):
            self.add(line.replace(b"\0", b" ").decode("utf-8", "replace").strip())
        return 0

    def add(self, line):
        """Add a line of text, which has been stripped, unless there is no room for it or it is a token."""
        left: cython.int = _MOST_CHARACTERS - self.characters
        if line and left > 0 and len(self.lines) < _MOST_LINES and not is_token(line):
            self.lines.append(line[:left])
            self.characters += min(left, len(line))
        return 0

    def value(self, value):
        return collapse(self.outline.markup[value.begin : value.end])

    def attributes(self, left):
        """The attributes by their names in lower case; the first of each name counts."""
        attribute: Attribute
        made: dict = {}
        while next_attribute(self.outline.source, cython.address(left), cython.address(attribute)):
            if len(made) == _MOST_OF_ONE:
                break
            name = self.outline.markup[attribute.name.begin : attribute.name.end].decode("utf-8", "replace").lower()
            if name not in made:
                made[name] = self.value(attribute.value)
        return made


_SELECTED = b"\xe2\x9c\x93 "  # what `Outline.start_line` puts before the text of a selected option


@cython.cfunc
def _is_jump_menu(attributes: dict) -> cython.bint:
    """Whether a choice in a select element leads to another page: what it has selected tells where one is."""
    script: str = attributes.get("onchange", "")
    return "submit(" in script or "location" in script


@cython.cfunc
@cython.exceptval(check=False)
def _is_data(text: Text, left: Span) -> cython.bint:
    """Whether a script element holds JSON: its type ends with "json"."""
    attribute: Attribute
    end: Span
    while next_attribute(text, cython.address(left), cython.address(attribute)):
        if equals(text, attribute.name, "type"):
            end = attribute.value
            while end.end > end.begin and is_space(text[end.end - 1]):
                end.end -= 1
            end.begin = max(end.begin, end.end - 4)
            return end.end > end.begin and equals(text, end, "json")
    return False


@cython.cfunc
def _leads_to_file(outline: Outline, target: Span) -> cython.bint:
    """Whether the target of a link, as it is written, has the extension of a file that is no page."""
    text: Text = outline.source
    end: cython.Py_ssize_t = find(0x3B, text, target.begin, find(0x3F, text, target.begin, target.end))
    at: cython.Py_ssize_t = target.begin
    dot: cython.Py_ssize_t
    end = find(0x23, text, at, end)
    while True:
        at = dot = find(0x2E, text, at, end) + 1
        if dot > end:
            return False
        while at < end and (is_letter(text[at]) or is_digit(text[at])):
            at += 1
        if at == end or is_space(text[at]):
            break
    if not 2 <= at - dot <= _LONGEST_EXTENSION:
        return False
    if (text[dot] | 0x20 == 0x70 and text[dot + 1] | 0x20 == 0x68) or text[dot] | 0x20 == 0x68:
        return False  # most of these are .php, .html and .htm
    return outline.markup[dot:at].lower() in FILES


def shown_by(outline, has_roles):
    """The lines of secondary text, each once, and the resources of a page, both in page order, files last.

    `has_roles`: `choose_main_text` has found out what is boilerplate.
    """
    captions: list = _captions(outline) if has_roles else []
    if not outline.shown_count and not outline.anchor_count and not captions:
        return (), ()
    reader: Reader = Reader.__new__(Reader)
    reader.outline, reader.has_roles = outline, has_roles
    reader.lines, reader.resources, reader.pictured = [], [], ""
    reader.seen = zeros(outline.element_count if has_roles else 0)
    reader.read()
    lines: list = reader.lines
    if lines:
        text: bytes = _text_of(outline)
        lines = [line for line in dict.fromkeys(lines) if not _is_said(line, text)]
    reader.lines = lines
    for caption in captions:
        reader.add_lines(caption)
    return tuple(dict.fromkeys(reader.lines)), tuple(reader.resources)


@cython.cfunc
@cython.exceptval(check=False)
def _is_caption(outline: Outline, block: cython.pointer(Block)) -> cython.bint:
    """Whether a block is the caption of a picture outside boilerplate, neither main text nor mostly links."""
    element: cython.int = block.element
    if block.is_main or not outline.elements[element].is_caption or 2 * block.link_bytes >= block.end - block.begin:
        return False
    while outline.elements[element].is_caption:
        element = outline.elements[element].parent
    return outline.elements[element].role != BOILERPLATE


@cython.cfunc
def _captions(outline: Outline) -> list:
    made: list = []
    i: cython.int
    for i in range(outline.block_count):
        if _is_caption(outline, cython.address(outline.blocks[i])):
            made.append(outline.text[outline.blocks[i].begin : outline.blocks[i].end])
    return made


def _written(name: bytes, attributes: dict) -> tuple:
    """The lines of a control or a meter, after an empty string for the resource that it lacks."""
    kind: str = attributes.get("type", "").lower()
    if name != b"input":
        return "", f"{attributes.get('value', '')}/{attributes.get('max', '1')}"
    if kind == "image":
        return "", attributes.get("alt", "")
    if kind in _MARKED:
        return "", f"✓ {attributes.get('name', '')} {attributes.get('value', '')}" if "checked" in attributes else ""
    return ("", attributes.get("value", ""), attributes.get("placeholder", "")) if kind in _WRITTEN else ("",)


def _embedded(name: bytes, attributes: dict) -> tuple:
    """The resource that an element shows, and its alternative text; neither for decoration."""
    if name == b"button" or is_small(attributes) or is_decoration(attributes):
        return ("",)
    address: str = attributes.get("data", "") if name == b"object" else ""
    for key in _SOURCES if name != b"area" else ():
        if address:
            break
        address = attributes.get(key, "")
        if key.endswith("srcset") and not address.startswith("data:"):
            address = address.partition(" ")[0].rstrip(",")
        elif key == "src" and len(address) <= _LONGEST_ADDRESS and address.startswith("data:image/svg"):
            address = ""  # a placeholder for what is loaded later
    is_read: cython.bint = len(address) <= _LONGEST_ADDRESS or address.startswith("data:")
    named: str = identity(address.encode("utf-8", "replace")) if address and is_read else ""
    return (named, attributes.get("alt", "")) if named or not address or address.startswith("data:") else ("",)


@cython.cfunc
def _text_of(outline: Outline) -> bytes:
    i: cython.int
    title: bytes = outline.title.encode("utf-8", "replace")
    made: bytes = unset(outline.text_size + outline.block_count)
    out: cython.pointer(uint8_t) = uint8s(made)
    for i in range(outline.block_count):
        size: cython.Py_ssize_t = outline.blocks[i].end - outline.blocks[i].begin
        out[0] = 0x0A
        memcpy(out + 1, outline.text + outline.blocks[i].begin, size)
        out += 1 + size
    return title + made[: out - uint8s(made)].replace(b"\0", b"\n")


@cython.cfunc
def _is_said(line: str, text: bytes) -> cython.bint:
    """Whether a text contains a line; of a long line, both its ends."""
    if len(line) <= _LONG:
        return line.encode("utf-8", "replace") in text
    return line[:_END].encode("utf-8", "replace") in text and line[-_END:].encode("utf-8", "replace") in text
