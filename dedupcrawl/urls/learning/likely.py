"""Likely rules: what the URLs of a site tell before any of its pages was seen.

"Likely" is the term of Bar-Yossef, Keidar and Schonfeld ("Do not crawl in the DUST", WWW 2007) for a rule for which
many pairs of URLs of a site speak. They let pages decide which of these hold. Here no page is seen, and so only those
hypotheses are tried for which two different pages would need names that nobody gives to two pages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.urls.compiled_rule import compiled
from dedupcrawl.urls.learning.learn import ASSUMED, SPELLINGS
from dedupcrawl.urls.learning.references import hypothesis
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_set import RuleSet
from dedupcrawl.urls.spelling import canonical_url

# Fifteen mirrors and four crawls, seed 0: 2 brings one merge more, 1 another five, all right. Two pages whose URLs
# differ by a slash are known from bug reports, three such pairs on one site are not.
_LEAST_PAIRS = 3
# Set by hand: of two wikis with such links one has 598 such pages; in the other 79 pages have several.
_LEAST_PAGES = 20

_SUFFIXES = tuple(
    hypothesis(match=f"/{{p*}}/{{last}}.{suffix}", to="/{p*}/{last}")
    for suffix in ("html", "htm", "shtml", "php", "asp", "aspx", "jsp", "cfm")
)
"""A server that finds files without their suffix; a site has `/about` and `/about.html` once or twice by chance."""

_PERMANENT = replace(hypothesis(match="?title={}&oldid={:digits}", drop=("oldid",)), unless=("diff", "direction"))
"""MediaWiki's permanent links name a version of a page: the current one where no page has two of them.

Histories link to the earlier versions; many wikis keep robots away from these.
"""


@dataclass(slots=True)
class _Site:
    """Of one site, in hashes: its URLs, with their arguments and without, and of how many a rule makes one form."""

    urls: set[int] = field(default_factory=set)
    made: defaultdict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))  # by number of a rule


class LikelyRules:
    """Looks at URLs, and says which rules are likely for their sites."""

    def __init__(self) -> None:
        hypotheses = (*ASSUMED, *SPELLINGS, *_SUFFIXES, _PERMANENT)
        self._rules = [replace(rule, id=f"likely.{_name(rule)}", source="prior") for rule in hypotheses]
        self._tried = RuleSet(*((rule.id, rule.kind, compiled(rule)) for rule in self._rules))
        self._sites: defaultdict[str, _Site] = defaultdict(_Site)

    def see_url(self, url: str) -> None:
        """Take note of a URL, unless an archive has it, whose copies of one page are years apart."""
        spelled = canonical_url(url)
        parts = split_url(spelled)
        if parts is None or url.partition("//")[2].partition("/")[0].endswith(":80"):
            return
        name = ascii_form(site_of(spelled))
        site = self._sites[name]
        if hash(spelled) in site.urls:
            return
        site.urls |= {hash(spelled), hash(spelled.partition("?")[0])}
        for number in self._tried.hits(spelled, parts):
            changed = self._tried.rules[number].apply(parts, name)
            if changed is not None:
                made = changed.join()
                site.made[number][hash(made if _is_of_arguments(self._rules[number]) else made.partition("?")[0])] += 1

    def rules_of(self, site: str) -> tuple[Rule, ...]:
        """The hypotheses for which enough URLs of the site speak, first those for which most do."""
        seen = self._sites.get(ascii_form(site), _Site())
        ranked = sorted((-_pairs(rule, seen, seen.made[n]), n) for n, rule in enumerate(self._rules) if n in seen.made)
        return tuple(self._rules[number] for pairs, number in ranked if pairs)


def _pairs(rule: Rule, seen: _Site, made: Counter[int]) -> int:
    """How many pairs of URLs speak for a rule; 0 where these are too few."""
    if rule.effect == _PERMANENT.effect:
        return len(made) * (len(made) >= _LEAST_PAGES and max(made.values()) == 1)
    pairs = len(made.keys() & seen.urls)
    if _is_of_arguments(rule):  # two URLs with other session ids need none without
        pairs += sum(urls > 1 and form not in seen.urls for form, urls in made.items())
    return pairs * (pairs >= _LEAST_PAIRS)


def _name(rule: Rule) -> str:
    return rule.id.strip("?") or rule.match or rule.convert or ",".join(rule.drop)


def _is_of_arguments(rule: Rule) -> bool:
    return bool(rule.drop) or rule.convert == "sort-query"
