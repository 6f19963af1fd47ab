# cython: language_level=3
"""Copies: decides which of two pages with the same content is the better copy and becomes the keeper.

A crawl may meet the poorer copy first: the plain text of an article, an old revision of it, a patch without the message
of its commit. The better copy must not be dropped because of it.
"""

from functools import lru_cache
from urllib.parse import parse_qsl

import cython
from cython.cimports.dedupcrawl.core.main_outline import symbols_of
from cython.cimports.dedupcrawl.core.pair import Pair
from cython.cimports.dedupcrawl.core.symbols import SymbolText
from cython.cimports.dedupcrawl.core.view import View

from dedupcrawl.core.view import OWN_SYMBOLS

_OF_REVISIONS = frozenset(("oldid", "rev", "revision", "version"))
"""Query parameters that name a revision of a page in MediaWiki, DokuWiki, TWiki and Trac."""

_NOTICES = (
    *("this is an old revision", "this is an old version", "you are viewing an old version"),
    *("dies ist eine alte version", "это старая версия", "это старая ревизия", "to jest stara wersja"),
    *("ceci est une ancienne révision", "ceci est une ancienne version"),
    *("esta es una versión antigua", "esta es una revisión antigua", "esta é uma versão antiga"),
    *("questa è una vecchia versione", "questa è una vecchia revisione", "dit is een oude versie"),
    *("古い版です", "这是旧版本", "这是本页的旧版本", "这是本文档旧的修订版", "هذه نسخة قديمة"),
)
"""Notices by which wikis mark an old revision; the tokenizer reads traditional characters as simplified ones."""

_TEMPLATE = 0.1
"""Least share of a page that must be site template before additional text makes it the better copy. Texts without a
template are news, and there a copy with an editor's note is still a copy. Set by hand: .15 to .24 of pages of a blog,
.06 at most of texts."""
_LACKS = 0.25
"""Most symbols that the better copy may lack, for each symbol that it adds; set by hand. (Of the pages that would be
dropped on nine archives eight are better by this, and none of them says what the kept one does.)"""

_CURRENT = cython.declare(cython.int, 3)  # more than a title and a headline count


def is_better(pair):
    """Whether the new page is the better copy of the two.

    The current page beats an old revision, and a page with a title beats one without. On one host, a page with title
    and headline beats one with only one of them, and a title "Page - Site" beats "Site". In a site template, the page
    with additional text beats the other if it lacks hardly any of the other's text; without a template, additional
    text says nothing, because a copy on another site has other text around it.
    """
    here: cython.int = _standing(pair.new, pair.is_of_one_host)
    there: cython.int = _standing(pair.kept, pair.is_of_one_host)
    return here > there or (here == there and (_says_more(pair) or _has_name(pair)))


@cython.cfunc
def _standing(page: View, is_of_one_host: cython.bint) -> cython.int:
    """The greater, the better: what is no old revision, then what has a title, or title and headline."""
    named: cython.int = bool(page.titled) + (is_of_one_host and bool(page.headline))
    return named if _is_old(page) else _CURRENT + named


@cython.cfunc
def _has_name(pair: Pair) -> cython.bint:
    """Whether the new title is "Page - Site", the kept one "Site", and the kept page does not contain "Page".

    (So the page of a commit is better than its diff without a message. Of the pages dropped on nine archives and four
    programs, none with the same text has such a title, 53 with nearly the same text have, and 38 others.)
    """
    new: View = pair.new
    kept: View = pair.kept
    if not (pair.is_of_one_host and new.titled and kept.titled and new.titled != kept.titled):
        return False
    title, its = [symbols_of(SymbolText.of((page.titled,), page.secret)) for page in (new, kept)]
    if not len(title) > len(its) > 0 or not title.endswith(its):
        return False
    headline = symbols_of(SymbolText.of((kept.headline,), kept.secret))
    name, words = [set(memoryview(part).cast("H")) for part in (title[: -len(its)], headline)]
    return not name <= words.union(kept.read_main().symbols)


@cython.cfunc
def _says_more(pair: Pair) -> cython.bint:
    more: cython.Py_ssize_t = pair.tally.uncovered
    is_in_template: cython.bint = pair.template >= _TEMPLATE  # below this, the site's template may also be unknown
    return is_in_template and more >= OWN_SYMBOLS and pair.tally.kept_uncovered <= _LACKS * more


@cython.cfunc
def _is_old(page: View) -> cython.bint:
    """Whether the page is an old revision, according to its URL or a notice in its text."""
    query = page.url.partition("#")[0].partition("?")[2]
    if query and not _OF_REVISIONS.isdisjoint([name.lower() for name, _ in parse_qsl(query)]):
        return True
    return page.says_any(_notices(page.secret))


@lru_cache(maxsize=8)
def _notices(secret: object) -> tuple:
    return tuple(symbols_of(SymbolText.of((notice,), secret)) for notice in _NOTICES)
