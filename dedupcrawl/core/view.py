# cython: language_level=3
"""View: a page as it is compared, with what is known of its site at that time.

New pages and kept ones have the same view; of a kept page there are only its outline, the hashes of its page context,
its title and its headline. Blocks whose skeleton the site repeats are the site template; the rest is the page's own
text. Most comparisons need only the main texts, so the other parts are read on first use.
"""

from functools import lru_cache

import cython
from cython.cimports.cpython import array
from cython.cimports.dedupcrawl.core.arrays import uint8s, uint16s
from cython.cimports.dedupcrawl.core.main_outline import MainOutline, symbols_of
from cython.cimports.dedupcrawl.core.page_context import PageContext, hashes_of
from cython.cimports.dedupcrawl.core.symbols import SymbolText
from cython.cimports.dedupcrawl.core.template import Template
from cython.cimports.dedupcrawl.core.words import FUNCTION, IDEOGRAPH, KIND, LETTER
from cython.cimports.libc.string import memcmp, memset

from dedupcrawl.core.digests import NO_SECRET
from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.main_outline import READ_LAST, read
from dedupcrawl.core.template import RECURRING
from dedupcrawl.core.words import kinds_of

OWN_SYMBOLS = 20
"""A page with fewer symbols than this outside its site's template is found only by the checks of the whole page."""

TITLE = 200
"""Characters of a title that are read and stored."""

LITTLE = 12  # set by hand
"""A page with fewer symbols of own text counts part of its template as own: all blocks but those that nearly all pages
of its site have. If that is too little as well, its whole main text is its own, because it says nothing else."""

_TITLE = cython.declare(cython.Py_ssize_t, TITLE)
_LITTLE = cython.declare(cython.Py_ssize_t, LITTLE)
_recurring = cython.declare(cython.Py_ssize_t, RECURRING)
_COMMON = cython.declare(cython.double, 0.7)
"""Two pages are aligned only if at least this share of the new one's own symbols occurs in the kept one. Of the 13,557
pairs of `benchmarks.labelled_pairs` 2,629 have less in common; two of these are among the 4,757 that the default target
precision drops, one rightly."""

_occurs = cython.declare(uint8_t[VALUES])  # all zeros except while a function of this module uses it


class Line:
    """A title or headline: its symbols in order, their kinds, its different words, and those with content, ascending.

    If it has only function words, they are its content.
    """

    def __cinit__(self, text: str, secret: object):
        line: str = " ".join(text.split())
        made: SymbolText = SymbolText.of((line,), secret)
        self.symbols, self.kinds = symbols_of(made), kinds_of(made)
        symbols: bytes = self.symbols if line == text else symbols_of(SymbolText.of((text,), secret))
        words = array.array("H", sorted(set(memoryview(symbols).cast("H"))))
        self.words, self.count = words.tobytes(), len(words)
        pairs = zip(memoryview(self.symbols).cast("H"), self.kinds, strict=False)
        content = array.array("H", sorted({symbol for symbol, kind in pairs if kind & KIND != FUNCTION})) or words
        self.content, self.content_count = content.tobytes(), len(content)


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
        url: Its URL.
        host: The host of its URL, without "www.".
        titled: Its title.
        outline: Its main text; bytes for a kept page.
        all_around: Its page context; bytes for a kept page.
        site: The template of its host.
        secret: The secret of the index.
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
        """A byte for each symbol of its main text, 1 if it is the page's own."""
        if self.own_flags is not None:
            return self.own_flags
        main: MainOutline = self.read_main()
        made: bytes = bytes(main.count)
        own: cython.pointer(uint8_t) = uint8s(made)
        self.not_repeated = self.own_in_main = _keep(main, self.site, False, own)
        if self.own_in_main + main.tail < _LITTLE:  # products that many lists name still tell two lists apart
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
        """The hashes of the blocks of its main text."""
        return self.read_main().read_blocks()

    @property
    def own(self):
        """A byte for each symbol of its main text, 1 if it is the page's own."""
        return self.read_own()

    @property
    def own_count(self):
        """The number of its own symbols, tail included."""
        return self.count_own()

    def count_own(self):
        self.read_own()
        return self.own_in_main + self.read_main().tail

    @property
    def page_context(self):
        """Its page context without the site template."""
        return self.read_around()

    @property
    def kept_around(self):
        """Its page context as an index stores it: without the site template, but with all its resources.

        A picture that recurs on the pages of a small site may turn out to be this page's own when there are more pages,
        so each comparison decides again which are.
        """
        return self.read_around().showing(self.read_said_around().resources).to_bytes()

    def says_any(self, parts: tuple) -> bool:
        """Whether its main text contains any of these sequences of symbols, two bytes each."""
        main: MainOutline = self.read_main()
        text: cython.pointer(uint16_t) = uint16s(main.raw)
        part: bytes
        at: cython.Py_ssize_t
        says: cython.bint = False
        for part in parts:
            _occurs[uint16s(part)[0]] = 1
        for at in range(main.count):
            if _occurs[text[at]]:
                for part in parts:
                    size: cython.Py_ssize_t = len(part)
                    says |= size <= 2 * (main.count - at) and not memcmp(
                        text + at, cython.cast(cython.p_const_char, part), size
                    )
                if says:
                    break
        for part in parts:
            _occurs[uint16s(part)[0]] = 0
        return says

    def words(self):
        """The words of its own text: an ideograph counts half a word, a letter of a script without spaces a quarter."""
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
        """Share of main text and page context that is site template; only for new pages, whose context has it all.

        1 until the template of the host is known, because an error should keep a page.
        """
        if self.site.pages < _recurring:
            return 1.0
        self.read_own()
        main: MainOutline = self.read_main()
        own: cython.Py_ssize_t = self.not_repeated + main.tail + self.read_around().size
        total: cython.Py_ssize_t = main.count + main.tail + self.read_said_around().size
        return 1 - cython.cast(cython.double, own) / total if total else 0.0

    def links_to(self, other):
        """Whether this page links to the other one; False if they are on different hosts."""
        page_context: PageContext = self.read_around()
        if self.host != other.host or not page_context.links:
            return False
        if page_context.leads_to(link_hash(local_form(other.url))):
            return True
        return page_context.links_to(hashes_of(other.read_said_around().also_at))


@cython.cfunc
@cython.exceptval(-1, check=False)
def _keep(main: MainOutline, site: Template, of_all: cython.bint, own: cython.pointer(uint8_t)) -> cython.Py_ssize_t:
    """Flag and count the symbols of blocks that do not recur on the site or, if `of_all`, not on nearly all pages."""
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


def is_worth_comparing(new, kept):
    """Whether enough of the new page's own symbols occur in the kept page: an alignment can cover no others."""
    here: MainOutline = new.read_main()
    there: MainOutline = kept.read_main()
    own: bytes = new.read_own()
    beyond: cython.Py_ssize_t = here.tail if here.tail_hash != there.tail_hash else 0
    common: cython.Py_ssize_t = occurring(
        uint16s(here.raw),
        here.count,
        uint8s(own),
        uint16s(there.raw),
        there.count,
        cython.NULL,
    )
    return common >= _COMMON * (new.own_in_main + beyond)


def occurring(symbols, count, counting, text, size, bits):
    """How many of these symbols occur in a text.

    Only symbols flagged in `counting` count, and only the text's symbols flagged in `bits`. NULL instead of flags: all.
    """
    total: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(size):
        if bits is cython.NULL or bits[i]:
            _occurs[text[i]] = 1
    for i in range(count):
        if counting is cython.NULL or counting[i]:
            total += _occurs[symbols[i]]
    for i in range(size):
        _occurs[text[i]] = 0
    return total
