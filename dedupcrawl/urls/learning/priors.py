"""What is known of URLs in general, before a site is looked at. A site's own evidence overrules it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dedupcrawl.urls.learning.search import hypothesis
from dedupcrawl.urls.rule import Rule

_INDEX_FILES = tuple(
    f"{name}.{suffix}"
    for name in ("index", "default")
    for suffix in ("html", "htm", "shtml", "php", "asp", "aspx", "jsp", "cgi", "cfm")
)
_TRACKING = ("utm_*", "gclid", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "mc_cid", "mc_eid", "igshid")
_SESSIONS = (
    "PHPSESSID",
    "phpsessid",
    "JSESSIONID",
    "jsessionid",
    "ASPSESSIONID*",
    "CFID",
    "CFTOKEN",
    "osCsid",
    "zenid",
)
# Names that mean one thing wherever they are: `s` is a session here and a search there, `sid` a story or a song.
_USUALLY_IRRELEVANT = ("sessionid", "replytocom", "printable")
_ENDS = ("trackback", "page/1", "comment-page-1", "amp", "print")
_FIRST_PAGES = ("start=0", "offset=0", "page=0", "page=1", "paged=1")


def _assumed(id_: str, *, match: str = "", to: str = "", drop: tuple[str, ...] = (), convert: str = "") -> Rule:
    return Rule(id_, "rewrite", match=match, to=to, drop=drop, convert=convert, source="prior")


@dataclass(frozen=True, slots=True)
class Priors:
    """Rules that hold on most sites.

    Attributes:
        assumed: Used wherever there are URLs for them, unless the site speaks against them.
        expected: Hypotheses that are tried on every site, and believed when a single cluster speaks for them.
    """

    assumed: tuple[Rule, ...]
    expected: tuple[Rule, ...]

    def with_dropped(self, names: Sequence[str]) -> Priors:
        """These, and the assumption that arguments of these names are irrelevant, each by itself."""
        return Priors((*self.assumed, *(_assumed(f"known-{name}", drop=(name,)) for name in names)), self.expected)

    def with_software(self, rules: Sequence[Rule]) -> Priors:
        """These, and the rules of the software of the site: they come first, as the learner need not find them."""
        return Priors((*rules, *self.assumed), self.expected)


GENERAL = Priors(
    assumed=(
        _assumed("syntax", convert="syntax"),
        _assumed("tracking", drop=_TRACKING),
        _assumed("session-arguments", drop=_SESSIONS),
        _assumed("session-path", match="/{path*}/{name};jsessionid={}", to="/{path}/{name}"),
    ),
    expected=(
        *(hypothesis(match=f"/{{p*}}/{name}", to="/{p*}/") for name in _INDEX_FILES),
        *(hypothesis(match=f"?{arg}", drop=(arg.partition("=")[0],)) for arg in _FIRST_PAGES),
        *(hypothesis(drop=(name,)) for name in _USUALLY_IRRELEVANT),
        hypothesis(convert="sort-query"),
        hypothesis(convert="drop-empty"),
        hypothesis(convert="last-of-name"),
        hypothesis(convert="collapse-slashes"),
        hypothesis(match="http://", to="https://"),
        hypothesis(match="//www.{host}", to="//{host}"),
        *(hypothesis(match=f"/{{p*}}/{last}/", to="/{p*}/") for last in _ENDS),
        *(hypothesis(match=f"/{{p*}}/{last}", to="/{p*}") for last in _ENDS),
        hypothesis(match="/{p*}/", to="/{p*}"),
    ),
)
"""The RFC's equivalent URLs, tracking and session arguments; index files, first pages, mirrors of the host."""
