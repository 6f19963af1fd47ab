# cython: language_level=3
"""Links within a host, in a form in which a link and the URL of the page that it leads to are the same string.

Escapes, the order of arguments, default ports and "www." do not count, about as in Scrapy's request fingerprint. Only
common spellings are read. A link in an unusual spelling is not recognized, and then the one page is just not known to
list the other.
"""

import cython
from cython.cimports.dedupcrawl.core.arrays import uint8s, unset
from cython.cimports.dedupcrawl.core.ascii import find, is_digit, is_letter, is_space, lower
from cython.cimports.dedupcrawl.core.characters import unescape_into
from cython.cimports.dedupcrawl.core.hashing import murmur3_32
from cython.cimports.dedupcrawl.core.memory import REMEMBERED, Remembered, key_of, place_of_key
from cython.cimports.dedupcrawl.core.tags import Span
from cython.cimports.libc.string import memcmp, memcpy

# Where links lead: to another host, or 2^32 and the hash. It depends on the host, of relative links on the path too.
_links = cython.declare(Remembered[REMEMBERED])
_LINK_SEED = cython.declare(uint32_t, 1)  # keeps the hashes of links apart from those of lines


@cython.cfunc
@cython.exceptval(check=False)
def _hex(c: uint8_t) -> cython.int:
    if is_digit(c):
        return c - 0x30
    c |= 0x20
    return c - 0x61 + 10 if 0x61 <= c <= 0x66 else -1


@cython.cfunc
@cython.exceptval(check=False)
def _unquoted(
    text: Text, size: cython.Py_ssize_t, out: cython.pointer(uint8_t), plus: cython.bint
) -> cython.Py_ssize_t:
    """Undo percent-encoding and, if `plus`, read plus signs as spaces; the bytes need not be UTF-8."""
    at: cython.Py_ssize_t = 0
    made: cython.Py_ssize_t = 0
    while at < size:
        byte: uint8_t = text[at]
        if byte == 0x25 and at + 2 < size and _hex(text[at + 1]) >= 0 and _hex(text[at + 2]) >= 0:
            byte = _hex(text[at + 1]) << 4 | _hex(text[at + 2])
            at += 2
        elif plus and byte == 0x2B:
            byte = 0x20
        out[made] = byte
        made += 1
        at += 1
    return made


@cython.cfunc
@cython.exceptval(check=False)
def _is_less(text: Text, one: Span, other: Span) -> cython.bint:
    length: cython.Py_ssize_t = min(one.end - one.begin, other.end - other.begin)
    order: cython.int = memcmp(text + one.begin, text + other.begin, length)
    return order < 0 or (order == 0 and one.end - one.begin < other.end - other.begin)


@cython.cfunc
@cython.exceptval(check=False)
def _sift(text: Text, parts: cython.pointer(Span), at: cython.int, count: cython.int) -> cython.void:
    while 2 * at + 1 < count:
        child: cython.int = 2 * at + 1
        if child + 1 < count and _is_less(text, parts[child], parts[child + 1]):
            child += 1
        if not _is_less(text, parts[at], parts[child]):
            return
        parts[at], parts[child] = parts[child], parts[at]
        at = child


@cython.cfunc
@cython.exceptval(check=False)
def _sorted_arguments(text: Text, size: cython.Py_ssize_t, out: cython.pointer(uint8_t)) -> cython.Py_ssize_t:
    """Write the parts between "&" in sorted order; heap sort, because a link may have a thousand arguments."""
    parts: Span[MOST_PARTS]
    count: cython.int = 0
    at: cython.Py_ssize_t = 0
    i: cython.int
    while count < MOST_PARTS - 1:
        parts[count].begin = at
        at = parts[count].end = find(0x26, text, at, size)
        count += 1
        if at == size:
            break
        at += 1
    if at < size:  # more arguments than a link of `LONGEST_LINK` bytes can have
        parts[count].begin, parts[count].end = at, size
        count += 1
    for i in range(count // 2 - 1, -1, -1):
        _sift(text, parts, i, count)
    for i in range(count - 1, 0, -1):
        parts[0], parts[i] = parts[i], parts[0]
        _sift(text, parts, 0, i)
    made: cython.Py_ssize_t = 0
    for i in range(count):
        if i:
            out[made] = 0x26
            made += 1
        memcpy(out + made, text + parts[i].begin, parts[i].end - parts[i].begin)
        made += parts[i].end - parts[i].begin
    return made


@cython.cfunc
@cython.exceptval(check=False)
def _form_into(target: Text, size: cython.Py_ssize_t, out: cython.pointer(uint8_t)) -> cython.Py_ssize_t:
    """Write the form of a path, absolute or relative, with its query, in at most `size` bytes; return its length."""
    scratch: uint8_t[MOST_BYTES]
    path_end: cython.Py_ssize_t = find(0x3F, target, 0, size)
    made: cython.Py_ssize_t = _unquoted(target, path_end, out, False)
    if path_end + 1 < size:
        out[made] = 0x3F
        length: cython.Py_ssize_t = _unquoted(target + path_end + 1, size - path_end - 1, scratch, True)
        made += 1 + _sorted_arguments(scratch, length, out + made + 1)
    return made


def local_form(url: str) -> bytes:
    """The path and query of an absolute URL, without escapes and with sorted arguments: the form of links to it.

    >>> local_form("https://a.example/it%27s/?topic=7&page=2#last")
    b"/it's/?page=2&topic=7"
    """
    raw: bytes = url.encode("utf-8", "replace")
    rest: bytes = raw.partition(b"#")[0]
    slashes = rest.find(b"//")
    if slashes >= 0:
        rest = rest[slashes + 2 :]
        begins = [at for at in (rest.find(b"/"), rest.find(b"?")) if at >= 0]
        rest = rest[min(begins) :] if begins else b""
    if rest[:1] != b"/":
        rest = b"/" + rest
    rest = rest[:MOST_BYTES]
    out: uint8_t[MOST_BYTES]
    made: cython.Py_ssize_t = _form_into(rest, len(rest), out)
    return out[:made]


def link_hash(form: bytes) -> int:
    """MurmurHash3 x86 32 of a link's path and query, in `local_form`."""
    return murmur3_32(form, len(form), _LINK_SEED)


class LinkReader:
    """Reads the links of one page.

    Args:
        host: The host of the page, without "www.".
        base_host: The host of the base URL of its relative links, likewise.
        path: The path of that URL, in `local_form`.
        host_of: Returns the host of an authority, without "www."; called for those that are not plain ASCII.
    """

    def __cinit__(self, host: bytes, base_host: bytes, path: bytes, host_of: object):
        self.host, self.host_of, self.path = host, host_of, path
        self.folder = path[: path.rfind(b"/") + 1]
        self.is_base_here = base_host == host
        both: bytes = host + b"/" + base_host
        self.of_site = key_of(uint8s(both), len(both), 0)
        self.of_path = key_of(uint8s(path), len(path), self.of_site)
        # Room for the link, for its form, and for the form joined to a path.
        self.buffer = unset(4 * MOST_BYTES)
        self.first = uint8s(self.buffer)
        self.form, self.joined = self.first + MOST_BYTES, self.first + 2 * MOST_BYTES

    def leads_here(self, href, size, hashed):
        """Hash a link to a page of the same host and return 1; return 0 for any other link."""
        at: cython.Py_ssize_t = 0
        while at < size and is_space(href[at]):
            at += 1
        while size > at and is_space(href[size - 1]):
            size -= 1
        href += at
        size -= at
        if not size or size > MOST_BYTES // 2:
            return 0
        is_of_site: cython.bint = href[0] == 0x2F or (size > 6 and not memcmp(href, b"http://", 7))
        is_of_site |= size > 7 and not memcmp(href, b"https://", 8)
        key: uint64_t = key_of(href, size, self.of_site if is_of_site else self.of_path)
        known: cython.pointer(Remembered) = place_of_key(_links, key)
        if known.key != key:
            leads: cython.int = self.follow(href, size, hashed)
            known.key, known.result = key, cython.cast(uint64_t, leads) << 32 | hashed[0]
        hashed[0] = cython.cast(uint32_t, known.result)
        return known.result >> 32

    def follow(self, href, size, hashed):
        """The same for a link without white space around it."""
        at: cython.Py_ssize_t
        made: cython.Py_ssize_t
        colon: cython.Py_ssize_t
        size = unescape_into(href, size, self.first, False)
        size = find(0x23, self.first, 0, size)
        while size and is_space(self.first[size - 1]):
            size -= 1
        if not size or size > LONGEST_LINK:
            return 0
        target: cython.pointer(uint8_t) = self.first
        is_absolute: cython.bint = size > 1 and target[0] == 0x2F and target[1] == 0x2F
        if not is_absolute and target[0] != 0x2F and target[0] != 0x3F and is_letter(target[0]):
            colon = 1
            while colon < size and (
                is_letter(target[colon])
                or is_digit(target[colon])
                or target[colon] == 0x2B
                or target[colon] == 0x2D
                or target[colon] == 0x2E
            ):
                colon += 1
            is_absolute = colon < size and target[colon] == 0x3A
            if is_absolute:
                if size < colon + 3 or target[colon + 1] != 0x2F or target[colon + 2] != 0x2F:
                    return 0
                target += colon + 1
                size -= colon + 1
        if is_absolute:
            target += 2
            size -= 2
            at = find(0x2F, target, 0, size)
            if not self.is_host(target, at):
                return 0
            target += at
            size -= at
            if not size:
                target = cython.cast(cython.pointer(uint8_t), b"/")
                size = 1
        elif not self.is_base_here:
            return 0
        made = _form_into(target, size, self.form)
        if not made:  # a question mark alone
            return 0
        if self.form[0] == 0x2F:
            hashed[0] = murmur3_32(self.form, made, _LINK_SEED)
            return 1
        return self.resolved(made, hashed)

    def resolved(self, made, hashed):
        """Hash a relative link, joined to the path of the base URL; 0 if that is too long."""
        at: cython.Py_ssize_t = 0
        begin: bytes = self.path if self.form[0] == 0x3F else self.folder
        length: cython.Py_ssize_t = len(begin)
        start: Text = begin
        if self.form[0] != 0x3F:
            while made - at >= 2 and self.form[at] == 0x2E:
                if self.form[at + 1] == 0x2F:
                    at += 2
                elif made - at >= 3 and self.form[at + 1] == 0x2E and self.form[at + 2] == 0x2F:
                    at += 3
                    if length > 1:
                        length -= 1
                        while length and start[length - 1] != 0x2F:
                            length -= 1
                    length = max(length, 1)
                else:
                    break
        if length > MOST_BYTES:
            return 0
        memcpy(self.joined, start, length)
        memcpy(self.joined + length, self.form + at, made - at)
        hashed[0] = murmur3_32(self.joined, length + made - at, _LINK_SEED)
        return 1

    def is_host(self, text, size):
        """Whether an authority is the page's host, with or without "www."."""
        i: cython.Py_ssize_t
        for i in range(size):
            if text[i] >= 0x80 or is_space(text[i]) or text[i] == 0x3F or text[i] == 0x5C:
                return (
                    self.host_of("//" + text[:size].decode("utf-8", "replace")).encode("utf-8", "replace") == self.host
                )
        for i in range(size - 1, -1, -1):  # without its user
            if text[i] == 0x40:
                text += i + 1
                size -= i + 1
                break
        # without its port, and final dots
        while True:
            i = size
            while i and is_digit(text[i - 1]):
                i -= 1
            if i and text[i - 1] == 0x3A:
                size = i - 1
            elif size and text[size - 1] == 0x2E:
                size -= 1
            else:
                break
        name: Text = self.host
        at: cython.Py_ssize_t = 0
        length: cython.Py_ssize_t = len(self.host)
        if (
            size > 4
            and lower(text[0]) == 0x77
            and lower(text[1]) == 0x77
            and lower(text[2]) == 0x77
            and text[3] == 0x2E
        ):
            at = 4
        if size - at != length:
            return 0
        for i in range(length):
            if lower(text[at + i]) != name[i]:
                return 0
        return 1
