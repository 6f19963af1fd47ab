# cython: language_level=3
"""View: a page as it is compared, by what is known of its site when that is done.

The same of a page at hand and of one that is kept, of which there is but its outline, the hashes of what stands around
its main text, and its title. Blocks whose skeleton the site repeats are the site template; what is left is the page's
own text. Most pages are told apart by their main texts, so the rest is made when it is asked for.
"""

from functools import lru_cache

import cython
from cython.cimports.cpython import array
from cython.cimports.dedupcrawl.core.arrays import uint8s, uint16s
from cython.cimports.dedupcrawl.core.main_outline import MainOutline, symbols_of
from cython.cimports.dedupcrawl.core.page_context import PageContext
from cython.cimports.dedupcrawl.core.symbols import SymbolText
from cython.cimports.dedupcrawl.core.template import Template
from cython.cimports.dedupcrawl.core.words import IDEOGRAPH, LETTER
from cython.cimports.libc.string import memcmp, memset

from dedupcrawl.core.digests import NO_SECRET
from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.main_outline import READ_LAST, read
from dedupcrawl.core.template import RECURRING
from dedupcrawl.core.words import kinds_of

TITLE = 200
"""Characters of a title that are looked at, and kept."""

LITTLE = 12  # set by hand
"""Symbols of own text, below which some of a page's template counts as its own: all but what nearly all pages of its
site have; and where that is as little, all of it, for the page says nothing else."""

_TITLE = cython.declare(cython.Py_ssize_t, TITLE)
_LITTLE = cython.declare(cython.Py_ssize_t, LITTLE)
_recurring = cython.declare(cython.Py_ssize_t, RECURRING)
_COMMON = cython.declare(cython.double, 0.7)
"""Least share of a new page's own symbols that occur in a kept one to which it is compared, to spare alignments. Of the
13,557 pairs of `benchmarks.labelled_pairs` 2,629 have less in common; two of these are among the 4,757 that the default
target precision drops, one rightly."""

_occurs = cython.declare(uint8_t[VALUES])  # all zeros but while a function of this module uses it


class Line:
    """A title or headline: its symbols in their order, their kinds, and each of its words once, ascending."""

    def __cinit__(self, text: str, secret: object):
        line: str = " ".join(text.split())
        made: SymbolText = SymbolText.of((line,), secret)
        self.symbols, self.kinds = symbols_of(made), kinds_of(made)
        said: bytes = self.symbols if line == text else symbols_of(SymbolText.of((text,), secret))
        words = array.array("H", sorted(set(memoryview(said).cast("H"))))
        self.words, self.count = words.tobytes(), len(words)


_line = lru_cache(maxsize=READ_LAST)(Line)


def common_words(one, other):
    """How many words two lines have in common."""
    here: cython.pointer(uint16_t) = uint16s(one.words)
    there: cython.pointer(uint16_t) = uint16s(other.words)
    common: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(one.count):
        while j < other.count and there[j] < here[i]:
            j += 1
        common += j < other.count and there[j] == here[i]
    return common


class View:
    """A page as it is compared.

    Args:
        url: Where it was found.
        host: Of that, without "www.".
        titled: Its title.
        outline: Its main text; as bytes, of a kept page.
        all_around: What stands around its main text; as bytes, of a kept page.
        site: What its host repeats.
        secret: Of the index.
        headline: Its headline.
    """

    def __cinit__(
        self,
        url: str,
        host: str,
        titled: str,
        outline: object,
        all_around: object,
        site: Template,
        secret: object = NO_SECRET,
        headline: str = "",
    ):
        self.url, self.host, self.titled, self.headline = url, host, titled, headline
        if isinstance(outline, bytes):
            self.outline = outline
        else:
            self.main_text = outline
        self.all_around, self.site, self.secret = all_around, site, secret

    def read_main(self):
        if self.main_text is None:
            self.main_text = read(self.outline, self.secret)
        return self.main_text

    def read_title(self):
        if self.title_line is None:
            self.title_line = _line(self.titled[:_TITLE], self.secret)
        return self.title_line

    def read_headline(self):
        if self.headline_line is None:
            self.headline_line = _line(self.headline[:_TITLE], self.secret)
        return self.headline_line

    def read_said_around(self):
        if self.around_all is None:
            page_context = self.all_around
            self.around_all = PageContext.from_bytes(page_context) if isinstance(page_context, bytes) else page_context
        return self.around_all

    def read_around(self):
        if self.around_own is None:
            self.around_own = self.read_said_around().without(self.site)
        return self.around_own

    def read_own(self):
        """Which symbols of its main text are its own, one byte each."""
        if self.own_flags is not None:
            return self.own_flags
        main: MainOutline = self.read_main()
        made: bytes = bytes(main.count)
        own: cython.pointer(uint8_t) = uint8s(made)
        self.not_repeated = self.own_in_main = _keep(main, self.site, False, own)
        if self.own_in_main + main.tail < _LITTLE:  # names of products that many lists have tell the lists apart
            self.own_in_main = _keep(main, self.site, True, own)
        if self.own_in_main + main.tail < _LITTLE:
            memset(own, 1, main.count)
            self.own_in_main = main.count
        self.own_flags = made
        return made

    @property
    def main(self):
        """Its main text."""
        return self.read_main()

    @property
    def title(self):
        """The symbols of its title."""
        line: Line = self.read_title()
        return frozenset(memoryview(line.words).cast("H"))

    @property
    def blocks(self):
        """The blocks of its main text, by their hashes."""
        return self.read_main().read_blocks()

    @property
    def own(self):
        """A flag, a byte, for each symbol of its main text: whether it is its own."""
        return self.read_own()

    @property
    def own_count(self):
        """How many of all its symbols are its own, tail included."""
        return self.count_own()

    def count_own(self):
        self.read_own()
        return self.own_in_main + self.read_main().tail

    @property
    def said_around(self):
        """What stands around its main text; of a kept page, what is not of the site template."""
        return self.read_said_around()

    @property
    def page_context(self):
        """What stands around its main text and is not of the site template."""
        return self.read_around()

    @property
    def kept_around(self):
        """What an index keeps of what stands around its main text: all but the site template, and all its resources.

        A picture that recurs on the pages of a small site may be one page's own once there are more: which are its own
        is asked anew whenever it is compared.
        """
        return self.read_around().showing(self.read_said_around().resources).to_bytes()

    @property
    def is_all_own(self):
        """Whether no template was told apart: it has none, or too little else to be compared by."""
        self.read_own()
        return self.own_in_main == self.read_main().count

    def says_any(self, parts: tuple) -> bool:
        """Whether its main text has any of these parts, two bytes a symbol."""
        main: MainOutline = self.read_main()
        text: cython.pointer(uint16_t) = uint16s(main.raw)
        part: bytes
        at: cython.Py_ssize_t
        found: cython.bint = False
        for part in parts:
            _occurs[uint16s(part)[0]] = 1
        for at in range(main.count):
            if _occurs[text[at]]:
                for part in parts:
                    size: cython.Py_ssize_t = len(part)
                    found |= size <= 2 * (main.count - at) and not memcmp(
                        text + at, cython.cast(cython.p_const_char, part), size
                    )
                if found:
                    break
        for part in parts:
            _occurs[uint16s(part)[0]] = 0
        return found

    def words(self):
        """How many words its own text has: an ideograph is half of one, a letter of Thai and its like a quarter."""
        main: MainOutline = self.read_main()
        kinds: cython.pointer(uint8_t) = uint8s(main.kinds)
        flags: bytes = self.read_own()
        own: cython.pointer(uint8_t) = uint8s(flags)
        less: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        for i in range(main.count):
            if own[i]:
                less += 3 * (kinds[i] & LETTER != 0) + 2 * (kinds[i] & IDEOGRAPH != 0)
        return self.own_in_main + main.tail - less // 4

    def repeated(self):
        """Share of all that it says, around its main text too, that is site template; of a kept page not known.

        All of it, before a host's template is known: an error should keep a page.
        """
        if self.site.pages < _recurring:
            return 1.0
        self.read_own()
        main: MainOutline = self.read_main()
        own: cython.Py_ssize_t = self.not_repeated + main.tail + self.read_around().size
        total: cython.Py_ssize_t = main.count + main.tail + self.read_said_around().size
        return 1 - cython.cast(cython.double, own) / total if total else 0.0

    def everywhere(self, blocks):
        """Which of these blocks nearly all pages of its site have."""
        return {block for block in blocks if self.site.is_everywhere(block)}

    def links_to(self, other):
        """Whether this page has a link to another one of its host."""
        page_context: PageContext = self.read_around()
        if self.host != other.host or not page_context.links:
            return False
        return page_context.links_to((link_hash(local_form(other.url)), *other.read_said_around().also_at))


@cython.cfunc
@cython.exceptval(-1, check=False)
def _keep(main: MainOutline, site: Template, of_all: cython.bint, own: cython.pointer(uint8_t)) -> cython.Py_ssize_t:
    """Flag what stands in blocks that the site does not repeat, or that not nearly all of its pages have; how much."""
    begin: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(len(main.ends)):
        end: cython.Py_ssize_t = main.ends[i]
        block: uint32_t = main.hashes[i]
        stays: cython.bint = not (site.is_everywhere(block) if of_all else site.recurs(block))
        memset(own + begin, stays, end - begin)
        kept += end - begin if stays else 0
        begin = end
    return kept


def is_worth_comparing(new: View, kept: View) -> bool:
    """Whether an alignment can come to anything: whatever it finds, it covers no symbol that occurs nowhere."""
    here: MainOutline = new.read_main()
    there: MainOutline = kept.read_main()
    own: bytes = new.read_own()
    beyond: cython.Py_ssize_t = here.tail if here.tail_hash != there.tail_hash else 0
    found: cython.Py_ssize_t = occurring(
        uint16s(here.raw),
        here.count,
        uint8s(own),
        uint16s(there.raw),
        there.count,
        cython.NULL,
        1,
    )
    return found >= _COMMON * (new.own_in_main + beyond)


def occurring(symbols, count, counting, text, size, said, flag):
    """How many of these symbols a text has: of both those count that are flagged, or all where there are no flags.

    Of the text, flags count that are not 0 where `flag` is 1, and that are 0 where it is 0.
    """
    found: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(size):
        if said is cython.NULL or (said[i] != 0) == flag:
            _occurs[text[i]] = 1
    for i in range(count):
        if counting is cython.NULL or counting[i]:
            found += _occurs[symbols[i]]
    for i in range(size):
        _occurs[text[i]] = 0
    return found
