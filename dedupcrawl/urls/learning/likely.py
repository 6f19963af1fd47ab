"""Likely rules: what the URLs of a site tell before any of its pages was seen.

"Likely" is the term of Bar-Yossef, Keidar and Schonfeld ("Do not crawl in the DUST", WWW 2007) for a rule for which
many pairs of URLs of a site speak. They let pages decide which of these hold. Here no page is seen, and so only those
hypotheses are tried for which two different pages would need names that nobody gives to two pages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from dedupcrawl.core.url_forms import TokenIndex
from dedupcrawl.core.url_parts import UrlParts, split_url
from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.urls.compiled_rule import TooLongError, compiled
from dedupcrawl.urls.learning.learn import ASSUMED, SPELLINGS
from dedupcrawl.urls.learning.references import hypothesis
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.spelling import canonical_url

# Fifteen mirrors and four crawls, seed 0: 2 brings one merge more, 1 another five, all right. Two pages whose URLs
# differ by a slash are known from bug reports, three such pairs on one site are not.
_LEAST_PAIRS = 3
# Set by hand: of two wikis with such links one has 598 such pages; in the other 79 pages have several.
_LEAST_PAGES = 20
# Both set by hand to bound memory: 300,000 made-up URLs, of one site or of many, with arguments or without, left 17 to
# 54 MB (tracemalloc; no command prints it).
_MOST_HASHES = 500_000  # of all sites that are looked at
_OF_A_SITE = 10  # hashes for which there were room in place of what a site takes besides its own

_SUFFIXES = tuple(
    hypothesis(match=f"/{{p*}}/{{last}}.{suffix}", to="/{p*}/{last}")
    for suffix in ("html", "htm", "shtml", "php", "asp", "aspx", "jsp", "cfm")
)
"""A server that finds files without their suffix; a site has `/about` and `/about.html` once or twice by chance."""

_PERMANENT = replace(hypothesis(match="?title={}&oldid={:digits}", drop=("oldid",)), unless=("diff", "direction"))
"""MediaWiki's permanent links name a version of a page: the current one where no page has two of them.

Histories link to the earlier versions; many wikis keep robots away from these.
"""


def _two_spellings(urls: AbstractSet[int], made: Mapping[int, int]) -> int:
    pairs = len(made.keys() & urls)
    return pairs * (pairs >= _LEAST_PAIRS)


def _two_values(urls: AbstractSet[int], made: Mapping[int, int]) -> int:
    """The same, or two URLs with other values of what is dropped: none need be without."""
    pairs = sum(form in urls or count > 1 for form, count in made.items())
    return pairs * (pairs >= _LEAST_PAIRS)


def _one_version(_: AbstractSet[int], made: Mapping[int, int]) -> int:
    return len(made) * (len(made) >= _LEAST_PAGES and max(made.values()) == 1)


class _Hypothesis(NamedTuple):
    """A rule that may be likely.

    Attributes:
        rule: It.
        pairs: Of the URLs of a site, and what the rule makes of them with how many URLs each: how many pairs speak for
            the rule; 0 if they are too few.
        minds_arguments: Whether URLs are compared with their arguments.
    """

    rule: Rule
    pairs: Callable[[AbstractSet[int], Mapping[int, int]], int]
    minds_arguments: bool


def _name(rule: Rule) -> str:
    return rule.id.strip("?") or rule.match or rule.convert or ",".join(rule.drop)


def _hypotheses() -> list[_Hypothesis]:
    hypotheses = []
    for rule in (*ASSUMED, *SPELLINGS, *_SUFFIXES):
        is_of_arguments = bool(rule.drop) or rule.convert == "sort-query"
        hypotheses.append(_Hypothesis(rule, _two_values if is_of_arguments else _two_spellings, is_of_arguments))
    hypotheses.append(_Hypothesis(_PERMANENT, _one_version, minds_arguments=True))
    return [one._replace(rule=replace(one.rule, id=f"likely.{_name(one.rule)}", source="prior")) for one in hypotheses]


_HYPOTHESES = _hypotheses()
_TRIED = {one.rule.id: replace(one.rule, kind="equivalence", state="probation") for one in _HYPOTHESES}
LIKELY = {name: rule for name, rule in _TRIED.items() if not rule.match.endswith(".")}
"""What crawls use, by id: all but the name before a full stop, of which 304 of 313 uses are right on a mirror.

A crawl asks for .98 (`TARGET`), and loses 3 pages of this mirror by it. Of http and https 1,207 of 1,292 are, of www 80
of 85, on three crawls whose pages were fetched at two times, so that less cannot be told; of all others 1,061 of 1,067,
and 38 besides are nearly right. They are equivalences: the site may have neither of two spellings everywhere.
"""


@dataclass(slots=True)
class _Site:
    """Of one site, in hashes: its URLs, with their arguments and without, and of how many a rule makes one form.

    Attributes:
        count: Of its URLs.
        due: How many there are when other rules may be likely: a quarter more each time.
    """

    urls: set[int] = field(default_factory=set)
    made: defaultdict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))  # by number of a rule
    count: int = 0
    due: int = 10

    @property
    def size(self) -> int:
        """In hashes."""
        return _OF_A_SITE + len(self.urls) + sum(map(len, self.made.values()))


class LikelyRules:
    """Looks at URLs, and says which rules are likely for their sites."""

    def __init__(self) -> None:
        self._ready = [compiled(one.rule) for one in _HYPOTHESES]
        self._index = TokenIndex([one.asks_for() for one in self._ready], tuple(one.conditions for one in self._ready))
        self._sites: dict[str, _Site] = {}
        self._hashes = 0

    def see_url(self, url: str) -> str:
        """Take note of a URL, unless an archive has it, whose copies of one page are years apart.

        Of fifteen mirrors one has such URLs; there .779 of the merges would be right, or nearly.

        Returns:
            Its site, when so many more of its URLs are known that other rules may be likely; else nothing.
        """
        spelled = canonical_url(url)
        parts = split_url(spelled)
        if parts is None or url.partition("//")[2].partition("/")[0].endswith(":80"):
            return ""
        name = ascii_form(site_of(spelled))
        if name not in self._sites:
            self._sites[name] = _Site()
            self._hashes += _OF_A_SITE
        site = self._sites[name]
        if hash(spelled) in site.urls:
            return ""
        self._hashes -= len(site.urls)
        site.urls |= {hash(spelled), hash(spelled.partition("?")[0])}
        self._hashes += len(site.urls)
        hits, place = self._index.hits(spelled, parts), -1
        while (fit := self._index.next(hits, place + 1, parts)) is not None:
            place, values = fit
            self._count(site, hits[place], parts, values, name)
        site.count += 1
        while self._hashes > _MOST_HASHES:  # sites that were met first are forgotten first
            self._hashes -= self._sites.pop(next(iter(self._sites))).size
        if site.count < site.due:
            return ""
        site.due += 1 + site.due // 4
        return name

    def _count(self, site: _Site, number: int, parts: UrlParts, values: dict[str, str], name: str) -> None:
        """Count what a rule makes of a URL that has its form, with what the form has captured."""
        try:
            changed = self._ready[number].made(parts, values, name)
        except TooLongError:
            return
        if changed is not None:
            made = changed.join()
            form = hash(made if _HYPOTHESES[number].minds_arguments else made.partition("?")[0])
            counts = site.made[number]
            self._hashes += form not in counts
            counts[form] += 1

    def rules_of(self, site: str) -> tuple[Rule, ...]:
        """The hypotheses for which enough URLs of the site speak, first those for which most do."""
        seen = self._sites.get(ascii_form(site), _Site())
        pairs = {number: _HYPOTHESES[number].pairs(seen.urls, made) for number, made in seen.made.items()}
        ranked = sorted(filter(pairs.get, pairs), key=lambda number: (-pairs[number], number))
        return tuple(_HYPOTHESES[number].rule for number in ranked)


def likely_rules(site: str, urls: Iterable[str]) -> tuple[Rule, ...]:
    """The rules that all these URLs of a site make likely, to be tried."""
    seen = LikelyRules()
    for url in urls:
        seen.see_url(url)
    return tuple(_TRIED[rule.id] for rule in seen.rules_of(site))
