"""Copies: which of two pages that say the same is the better one, and stands for the other.

A crawl may meet the poorer one first: the plain text of an article, an old revision of it, a patch without the message
of its commit. Such a page is no reason to drop the better one.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import parse_qsl

from dedupcrawl.core.digests import Secret
from dedupcrawl.core.main_outline import symbols_of
from dedupcrawl.core.pair import Pair
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.view import View
from dedupcrawl.detection.analysis import OWN_SYMBOLS

_OF_REVISIONS = frozenset(("oldid", "rev", "revision", "version"))
"""Arguments of a URL that name a revision of a page: MediaWiki's, DokuWiki's, TWiki's and Trac's."""

_NOTICES = (
    *("this is an old revision", "this is an old version", "you are viewing an old version"),
    *("dies ist eine alte version", "это старая версия", "это старая ревизия", "to jest stara wersja"),
    *("ceci est une ancienne révision", "ceci est une ancienne version"),
    *("esta es una versión antigua", "esta es una revisión antigua", "esta é uma versão antiga"),
    *("questa è una vecchia versione", "questa è una vecchia revisione", "dit is een oude versie"),
    *("古い版です", "这是旧版本", "这是本页的旧版本", "这是本文档旧的修订版", "هذه نسخة قديمة"),
)
"""How wikis say that a page is not as it is today; traditional characters are read as simplified ones."""

_TEMPLATE = 0.1
"""Least share of a page that is its site's template, for words to tell that it says more. Texts without one are news,
of which a copy with an editor's note is a copy. Set by hand: .15 to .24 of pages of a blog, .06 at most of texts."""
_LACKS = 0.25
"""Most words that a page which says more may lack, for each that it says more; set by hand. (Of the pages
that would be dropped on nine archives eight are better by this, and none of them says what the kept one does.)"""


def is_better(pair: Pair) -> bool:
    """Whether the new page of two that say the same is the better one.

    The current page is better than an old revision; a page with a title than one without; of two pages of a host one
    with title and headline than one with either, and one with a name of its own before all that the other one's title
    says; and of two pages in the template of a host the one that says a text more, if it hardly lacks anything that the
    other says. Elsewhere a copy has another template, and other text around it, too.
    """
    here, there = (_standing(page, pair.is_of_one_host) for page in (pair.new, pair.kept))
    return here > there or (here == there and (_has_name(pair) or _says_more(pair)))


def _standing(page: View, is_of_one_host: bool) -> tuple[bool, int]:
    return not _is_old(page), bool(page.titled) + (is_of_one_host and bool(page.headline))


def _has_name(pair: Pair) -> bool:
    """Whether the new title is "Page - Site" beside "Site", and the kept page does not say the name of the page.

    (So the page of a commit is better than its diff without a message. Of the pages dropped on nine archives and four
    programs none of the same text has such a title, 53 of nearly the same, and 38 others.)
    """
    new, kept = pair.new, pair.kept
    if not (pair.is_of_one_host and new.titled and kept.titled and new.titled != kept.titled):
        return False
    title, its = (symbols_of(SymbolText.of((page.titled,), page.secret)) for page in (new, kept))
    if not len(title) > len(its) > 0 or not title.endswith(its):
        return False
    headline = symbols_of(SymbolText.of((kept.headline,), kept.secret))
    name, said = (set(memoryview(part).cast("H")) for part in (title[: -len(its)], headline))
    return not name <= said.union(kept.main.symbols)


def _says_more(pair: Pair) -> bool:
    more = pair.uncovered_symbols
    is_in_template = pair.template >= _TEMPLATE  # or nothing is known of the site's
    return is_in_template and more >= OWN_SYMBOLS and pair.kept_uncovered_symbols <= _LACKS * more


def _is_old(page: View) -> bool:
    """Whether it is an old revision of a page, by its URL or by what it says."""
    query = page.url.partition("#")[0].partition("?")[2]
    if query and not _OF_REVISIONS.isdisjoint(name.lower() for name, _ in parse_qsl(query)):
        return True
    return page.says_any(_notices(page.secret))


@lru_cache(maxsize=8)
def _notices(secret: Secret) -> tuple[bytes, ...]:
    return tuple(symbols_of(SymbolText.of((notice,), secret)) for notice in _NOTICES)
