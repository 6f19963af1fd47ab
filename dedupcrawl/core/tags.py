# cython: language_level=3
"""Tags of HTML: find where a tag ends, what it consists of, and what its name means for the text around it.

One pass suffices for any page: the search for a missing quote fails once a page, and repeated searches are bounded.
Implied end tags, misnested and unknown elements are treated as browsers do wherever that changes which text stands
together (`dedupcrawl.core.outline`).
"""

import cython
from cython.cimports.dedupcrawl.core.ascii import ENDS_NAME, IN_NAME, find, is_digit, is_letter, is_space, lower, traits
from cython.cimports.libc.stdint import uint8_t, uint32_t
from cython.cimports.libc.string import memset

# Elements whose content is not text of the page. A tag of a block element ends the first `UNREAD_TO_BLOCK` too: if
# their end tag is missing, they must not swallow the page.
_UNREAD_NAMES = (b"svg", b"select", b"script", b"style", b"noscript", b"textarea", b"iframe")
_ENDING_NAMES = (b"div", b"p", b"table", b"td", b"tr", b"ul", b"li", b"h1", b"h2", b"h3", b"h4", b"h5", b"h6")
_unread = cython.declare(uint8_t[12][7])
_ending = cython.declare(uint8_t[12][13])
_meanings = cython.declare(Meaning[512])
_begins_unread = cython.declare(uint8_t[256])  # of each byte, whether the name of an unread element begins with it

# Elements whose content is shown only by scripts or by browsers that lack a feature.
_NOT_SHOWN = ("audio", "button", "canvas", "datalist", "object", "template", "video")
# Elements without text that show something or take input.
_EMBEDDED = ("area", "embed", "img", "input", "meter", "progress", "source")
# Elements that are lines when a select element or a drawing is read for them.
_LINES = ("optgroup", "option", "text")
_BLOCK_NAMES = """
address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer
form frameset h1 h2 h3 h4 h5 h6 head header hgroup html legend li main menu nav noframes ol p pre search section summary
table tbody td tfoot th thead tr ul
"""
# Blocks that are parts of the element around them, and no elements of their own unless they have attributes.
_PARTS = ("dd", "dt", "li", "p", "tbody", "tr")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# A start tag ends these elements when they are innermost, since their own end tags may be left out.
_ENDED_BY = {
    "li": ("p", "li"),
    "dt": ("p", "dt", "dd"),
    "dd": ("p", "dt", "dd"),
    "td": ("p", "td", "th"),
    "th": ("p", "td", "th"),
    "tr": ("p", "td", "th", "tr"),
}
_ENDED = ("p", "li", "dt", "dd", "td", "th", "tr")  # the bits of `Meaning.bit` and `Meaning.ends`
# An end tag closes elements outside its table cell only if it ends a part of the table.
_CELLS = ("td", "th")
_AROUND_CELLS = ("body", "html", "table", "tbody", "td", "tfoot", "th", "thead", "tr")
# Elements whose name alone says what they hold.
_HINTS = {
    "body": NEUTRAL,
    "html": NEUTRAL,
    **dict.fromkeys(("aside", "dialog", "figcaption", "footer", "menu", "nav"), BOILERPLATE),
}
_BLOCKS = _BLOCK_NAMES.split()
_NAMES = ["", *_BLOCKS, *_NOT_SHOWN]  # an element's number is its index here


def _kinds():
    """Name of a tag, with a slash before that of an end tag → its kind."""
    kinds = dict.fromkeys(_BLOCKS, START)
    kinds.update(dict.fromkeys(_PARTS, PART))
    kinds.update(dict.fromkeys(_NOT_SHOWN, HIDDEN))
    kinds.update(dict.fromkeys(_EMBEDDED, EMBEDDED))
    kinds.update(dict.fromkeys(_LINES, LINE))
    kinds.update({f"/{name}": END for name in _NAMES[1:]})
    kinds.update({"a": LINK, "/a": LINK_END, "br": BREAK, "/br": BREAK, "hr": RULE})
    kinds.update({"title": TITLE, "/title": END, "meta": META, "base": BASE, "link": HEAD_LINK})
    return kinds


@cython.cfunc
@cython.exceptval(check=False)
def _slot(text: Text, begin: cython.Py_ssize_t, length: cython.Py_ssize_t, is_end: cython.bint) -> cython.int:
    """The slot where the search for a tag's meaning begins; few names share both end letters and their length."""
    ends: uint32_t = lower(text[begin]) << 8 | lower(text[begin + length - 1])
    value: uint32_t = (ends << 5 | cython.cast(uint32_t, length) << 1 | is_end) * cython.cast(uint32_t, 0x9E3779B1)
    return value >> 23  # nine bits, as there are `MEANING_SLOTS`


def _fill():
    for number, name in enumerate(_UNREAD_NAMES):
        for i, byte in enumerate(name):
            _unread[number][i] = byte
        _begins_unread[name[0]] = _begins_unread[name[0] & 0xDF] = 1
    for number, name in enumerate(_ENDING_NAMES):
        for i, byte in enumerate(name):
            _ending[number][i] = byte
    for tag, kind in _kinds().items():
        element = tag.lstrip("/")
        name = element.encode()
        is_end: cython.bint = tag[0] == "/"
        slot: cython.int = _slot(cython.cast(bytes, name), 0, len(name), is_end)
        while _meanings[slot].length:
            slot = (slot + 1) & (MEANING_SLOTS - 1)
        meaning: cython.pointer(Meaning) = cython.address(_meanings[slot])
        for i, byte in enumerate(name):
            meaning.written[i] = byte
        meaning.length, meaning.is_end, meaning.kind = len(name), is_end, kind
        meaning.hint = _HINTS.get(element, BY_ATTRIBUTES)
        meaning.name = _NAMES.index(element) if element in _NAMES else 0
        meaning.bit = 1 << _ENDED.index(element) if element in _ENDED else 0
        meaning.ends = sum([1 << _ENDED.index(ended) for ended in _ENDED_BY.get(element, ("p",))])
        meaning.is_cell, meaning.is_around_cells = element in _CELLS, element in _AROUND_CELLS
        meaning.is_pre, meaning.is_heading, meaning.is_h1 = element == "pre", element in HEADINGS, element == "h1"
        meaning.is_head, meaning.is_body = element == "head", element == "body"
        meaning.is_caption = element == "figcaption"


_fill()


def meaning_of(text, tag):
    """The meaning of a tag; NULL if it does not change which text stands together."""
    length: cython.Py_ssize_t = tag.name.end - tag.name.begin
    if length > LONGEST_NAME:
        return cython.NULL
    slot: cython.int = _slot(text, tag.name.begin, length, tag.is_end)
    i: cython.Py_ssize_t
    while _meanings[slot].length:
        meaning: cython.pointer(Meaning) = cython.address(_meanings[slot])
        if meaning.length == length and meaning.is_end == tag.is_end:
            i = 0
            while i < length and lower(text[tag.name.begin + i]) == meaning.written[i]:
                i += 1
            if i == length:
                return meaning
        slot = (slot + 1) & (MEANING_SLOTS - 1)
    return cython.NULL


def equals(text, span, name):
    """Whether a span is a name, which is given in lower case."""
    i: cython.Py_ssize_t
    for i in range(span.end - span.begin):
        if not name[i] or lower(text[span.begin + i]) != name[i]:
            return False
    return not name[span.end - span.begin]


@cython.cfunc
@cython.exceptval(check=False)
def _after_name(
    name: cython.pointer(uint8_t), text: Text, at: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """The end of a name, given in lower case, if it stands at `at`; else -1."""
    i: cython.Py_ssize_t = 0
    while name[i]:
        if at + i >= end or lower(text[at + i]) != name[i]:
            return -1
        i += 1
    return at + i


@cython.cfunc
@cython.exceptval(check=False)
def _ends_unread(element: cython.int, text: Text, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Whether the tag whose "<" is right before `at` ends an element whose content is not read."""
    if element >= UNREAD_TO_BLOCK:
        return at < end and text[at] == 0x2F and _after_name(_unread[element], text, at + 1, end) >= 0
    if at < end and text[at] == 0x2F:
        at += 1
    if _after_name(_unread[element], text, at, end) >= 0:
        return True
    i: cython.int
    for i in range(ENDING):
        stop: cython.Py_ssize_t = _after_name(_ending[i], text, at, end)
        if stop >= 0 and (stop == end or not (is_letter(text[stop]) or is_digit(text[stop]) or text[stop] == 0x5F)):
            return True
    return False


@cython.cfunc
@cython.exceptval(check=False)
def _after_unread(
    text: Text, at: cython.Py_ssize_t, end: cython.Py_ssize_t, tag: cython.pointer(Tag)
) -> cython.Py_ssize_t:
    """The end of the element at `at` if its content is not read; -1 for any other."""
    stop: cython.Py_ssize_t = -1
    element: cython.int = 0
    first: uint8_t = lower(text[at])
    second: uint8_t = lower(text[at + 1]) if at + 1 < end else 0
    while element < UNREAD:
        if _unread[element][0] == first and _unread[element][1] == second:
            stop = _after_name(_unread[element], text, at, end)
            if stop >= 0:
                break
        element += 1
    if stop < 0 or stop == end or not (is_space(text[stop]) or text[stop] == 0x2F or text[stop] == 0x3E):
        return -1
    tag_end: cython.Py_ssize_t = find(0x3E, text, stop, end)
    if tag_end == end:
        return -1
    tag.attributes.begin, tag.attributes.end = stop, tag_end
    tag.is_script = element == UNREAD_SCRIPT
    at = find(0x3C, text, tag_end + 1, end)
    pieces: cython.int = 0
    while at < end and pieces < MAX_PIECES and not _ends_unread(element, text, at + 1, end):
        at = find(0x3C, text, at + 1, end)
        pieces += 1
    tag.unread.begin, tag.unread.end = tag_end + 1, at
    if at + 1 < end and text[at + 1] == 0x2F:
        stop = _after_name(_unread[element], text, at + 2, end)
        if stop >= 0:
            tag_end = find(0x3E, text, stop, end)
            if tag_end < end:
                return tag_end + 1
    return at


@cython.cfunc
@cython.exceptval(check=False)
def _after_comment(text: Text, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The end of a comment, of which "<!--" was read."""
    if at < end and text[at] == 0x3E:
        return at + 1
    if end - at > 1 and text[at] == 0x2D and text[at + 1] == 0x3E:
        return at + 2
    at = find(0x2D, text, at, end)
    pieces: cython.int = 0
    while at < end:
        if end - at > 2 and text[at + 1] == 0x2D:
            if text[at + 2] == 0x3E:
                return at + 3
            if end - at > 3 and text[at + 2] == 0x21 and text[at + 3] == 0x3E:
                return at + 4
        if pieces == MAX_PIECES:
            break
        at = find(0x2D, text, at + 1, end)
        pieces += 1
    return at


@cython.cfunc
@cython.exceptval(check=False)
def _after_quoted(text: Text, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The end of a value in quotes, after optional white space; `at` if there is none."""
    quote: cython.Py_ssize_t = at
    while quote < end and is_space(text[quote]):
        quote += 1
    if quote == end or (text[quote] != 0x22 and text[quote] != 0x27):
        return at
    other: cython.Py_ssize_t = find(text[quote], text, quote + 1, end)
    return other + 1 if other < end else at


def read_tag(text, at, end, tag):
    """Fill in the tag that begins with the "<" at `at`; return its end, or -1 if none begins there.

    A tag without a name is left out of the page: a comment, a declaration, or a whole element whose content is not
    read. For such an element, `unread` is its content and `attributes` are its attributes.
    """
    memset(tag, 0, cython.sizeof(Tag))
    at += 1
    if at == end:
        return -1
    after: cython.Py_ssize_t
    if _begins_unread[text[at]]:
        after = _after_unread(text, at, end, tag)
        if after >= 0:
            return after
    tag.is_end = text[at] == 0x2F
    letter: cython.Py_ssize_t = at + tag.is_end
    if letter == end or not is_letter(text[letter]):
        if text[at] != 0x21 and text[at] != 0x3F and text[at] != 0x2F:
            return -1
        if end - at > 2 and text[at] == 0x21 and text[at + 1] == 0x2D and text[at + 2] == 0x2D:
            return _after_comment(text, at + 3, end)
        at = find(0x3E, text, at, end)
        return at + (at < end)
    tag.name.begin = at = letter
    while at < end and traits[text[at]] & IN_NAME:
        at += 1
    tag.name.end = tag.attributes.begin = at
    values: cython.int = 0
    while True:
        while at < end and cython.cast(uint8_t, text[at] - 0x3D) > 1:  # neither "=" nor ">"
            at += 1
        if at == end or text[at] == 0x3E or values == MAX_VALUES:
            break
        at = _after_quoted(text, at + 1, end)
        values += 1
    if values == MAX_VALUES:
        at = find(0x3E, text, at, end)
    tag.attributes.end = at
    return at + (at < end)


def next_attribute(text, left, found):
    """Take the next attribute off the rest of a tag; False if there is none.

    The value is given without its quotes, and is an empty span if there is none.
    """
    at: cython.Py_ssize_t = left.begin
    end: cython.Py_ssize_t = left.end
    while at < end and traits[text[at]] & ENDS_NAME:
        at += 1
    if at == end:
        return False
    found.name.begin = at
    while at < end and not traits[text[at]] & ENDS_NAME:
        at += 1
    found.name.end = found.value.begin = found.value.end = at
    after: cython.Py_ssize_t = at
    while after < end and is_space(text[after]):
        after += 1
    if after < end and text[after] == 0x3D:
        at = after + 1
        while at < end and is_space(text[at]):
            at += 1
        stop: cython.Py_ssize_t = end
        if at < end and (text[at] == 0x22 or text[at] == 0x27):
            stop = find(text[at], text, at + 1, end)
            at += stop < end
        if stop == end:  # a value without quotes, or with a quote that is not closed
            stop = at
            while stop < end and not is_space(text[stop]):
                stop += 1
        found.value.begin, found.value.end = at, stop
        at = stop + (stop < end)
    left.begin = at
    return True


def tame(markup: bytes) -> bytes:
    """`markup` made safe for a parser that builds a tree: no comments or scripts, and tags of bounded length."""
    text: Text = markup
    end: cython.Py_ssize_t = len(markup)
    pieces: list = []
    kept: cython.Py_ssize_t = 0
    after: cython.Py_ssize_t
    tag: Tag
    at: cython.Py_ssize_t = find(0x3C, text, 0, end)
    while at < end:
        after = read_tag(text, at, end, cython.address(tag))
        if after < 0:
            after = at + 1
        elif not tag.name.end or after - at > TAG_LIMIT:
            pieces.append(markup[kept:at])
            if tag.name.end:
                pieces.append(b"<" + markup[tag.name.begin - tag.is_end : tag.name.end] + b">")
            kept = after
        at = find(0x3C, text, after, end)
    pieces.append(markup[kept:])
    return b"".join(pieces)
