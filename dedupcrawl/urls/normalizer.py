"""The normalizer: a URL in, its canonical form out, by the rules of its site.

Whatever the URL and the rules are, hostile ones included, it takes any string, never raises, terminates, gives the same
result every time and never leaves the site, and the canonical form of a canonical form is itself.
"""

from __future__ import annotations

import logging
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from dedupcrawl.core.url_parts import UrlParts, split_url
from dedupcrawl.printable import printable
from dedupcrawl.setting import listed
from dedupcrawl.sites import other_form, site_of
from dedupcrawl.urls.compiled_rule import TooLongError, compiled, host_key
from dedupcrawl.urls.normalized import Normalized, as_of, left, result
from dedupcrawl.urls.overlaps import done_in_part, on_all_hosts
from dedupcrawl.urls.rule import Kind, Rule, RuleError
from dedupcrawl.urls.rule_files import SiteRules, checked, file_name, file_of, read_rules, rule_files, rules_of
from dedupcrawl.urls.rule_set import RuleSet, rule_set
from dedupcrawl.urls.spelling import LONGEST_URL, as_sent, canonical_url

logger = logging.getLogger(__name__)

# Characters of a URL that is short enough in its one spelling, too: in this each is twelve at most, as four bytes are.
_SURELY_SPELLED = LONGEST_URL // 12
MOST_PASSES = 16  # over the rules of a site; a URL that still changes is left alone
_HOSTS_OF_A_SITE = 1_000  # whose rules are ready to be applied
_HOSTS_KEPT = 10_000  # hosts whose rules, or whose lack of rules, are remembered
_REDUCED = 100  # sets of the rules of a site without some, ready to be applied: 48 KB each of a hundred rules
_URLS_KEPT = 10_000  # whose canonical form is remembered (docs/measured/cost.md, "Where it goes")
_LONGEST_KEPT = 500  # characters of such a URL
_LONGEST_HOST = 260  # characters of a name (253, RFC 1035) and its port; no host has more

Applied = Callable[[str, UrlParts], tuple[str, list[tuple[str, Kind]]] | None]
"""`SiteNormalizer.applied`."""

Excluded = Callable[[str, Sequence[str]], frozenset[str]]
"""Gives, of rules that change a URL, those that are not used on it."""


class SiteNormalizer:
    """The rules of one site, ready to be applied.

    Most rules are for URLs that have a certain argument or segment, so they are found by it in a dictionary; the others
    have texts of which one must be in the URL. Rules that are not found this way are not tried, nor are rules for other
    hosts. Of a million rules most lie in cold memory, so what differs from site to site is kept small: strings are
    interned, and rules that do the same, as on all sites of one software, are one object.
    """

    __slots__ = ("_by_host", "_rules", "_sets", "_sole", "_stays", "site")

    def __init__(self, site_rules: SiteRules) -> None:
        self.site = site_rules.site
        used = [one for one in site_rules.rules if not one.is_off and one.convert != "syntax"]  # done before any rule
        rules = [(sys.intern(one.id), one.kind, compiled(one)) for one in used]
        self._stays = all(rule.stays_on_host() for _, _, rule in rules)
        self._sole: RuleSet | None = None
        self._sets = dict[str, RuleSet]()
        if not any(one.rule.hosts for _, _, one in rules):
            self._sole = rule_set(*rules)
            return
        self._rules = rules
        self._by_host: defaultdict[str, list[int]] = defaultdict(list)
        for i, (_, _, rule) in enumerate(rules):
            for host in rule.hosts or ("",):
                self._by_host[host_key(host)].append(i)

    def _of(self, authority: str) -> RuleSet:
        """The rules that may be for this host and port.

        Of 38 hosts of a university that run one program each had the rules of all to try: 25 a link.
        """
        if self._sole is not None:
            return self._sole
        if (compiled := self._sets.get(authority)) is None:
            if len(self._sets) >= _HOSTS_OF_A_SITE:
                self._sets.clear()
            numbers = sorted({*self._by_host[""], *self._by_host.get(host_key(authority), ())})
            compiled = self._sets[authority] = rule_set(*[self._rules[i] for i in numbers])
        return compiled

    def decided_by(self, authority: str) -> object:
        """What is the same object as long as what is made of the URLs of this host and port is the same."""
        return self._of(authority) if self._stays else self

    def normalize(self, url: str) -> Normalized:
        """Spell the URL as all are spelled, and apply the rules, see `applied`.

        A URL of more than `LONGEST_URL` characters is left as it is.
        """
        spelled, parts = spelled_tokens(url)
        done = None if parts is None else self.applied(spelled, parts)
        return left(url, spelled) if done is None else result(url, spelled, *done)

    def applied(self, url: str, parts: UrlParts) -> tuple[str, list[tuple[str, Kind]]] | None:
        """Apply the rules to a spelled URL, given with its tokens, in order, until nothing changes.

        Rules that go round in a circle give the smallest URL of the circle. Rules that do not come to an end leave the
        URL.

        Returns:
            The canonical form, and id and kind of each rule that changed something; None if no rule does.
        """
        text, site = url, self.site
        here = self._sole or self._sets.get(parts.authority) or self._of(parts.authority)
        hits = here.hits(text, parts)
        trail: list[str] = []
        used: list[tuple[str, Kind]] = []
        while True:
            by, place = [], -1
            try:
                while (fit := here.next(hits, place + 1, parts)) is not None:
                    place, values = fit
                    after = here.rules[hits[place]].made(parts, values, site)
                    if after is not None:
                        parts = after
                        by.append(hits[place])
            except TooLongError:
                return url, []
            if not by:
                return (text, used) if used else None
            used += [here.named[i] for i in by]
            # Sorting makes "%20" of "+", which rules may ask for, and "&" of ";", of which both together keep it off.
            if here.settled.issuperset(by) and "+" not in text and ";" not in text:
                return parts.join(), used
            trail.append(text)
            text = parts.join()
            if text in trail:
                return min(trail[trail.index(text) :]), used
            if len(text) > LONGEST_URL or len(trail) > MOST_PASSES:
                return url, []
            before, here = here, self._of(parts.authority)
            tried, hits = hits, here.hits(text, parts)
            if here is before:
                # What came after the last change has been tried on this very URL.
                last = by[-1]
                done = {i for i in tried if i > last} | ({last} & here.idempotent)
                if done.issuperset(hits):  # else all of them: an earlier one may make another URL of it
                    return text, used

    def steps(self, url: str) -> Iterator[tuple[str, str]]:
        """What `normalize` does, for people: the id of each rule that changes the spelled URL, and what it makes of it.

        Of a URL that goes round in a circle once round, of one that grows without end as far as it is followed.
        """
        seen: set[str] = set()
        text, parts = spelled_tokens(url)
        while parts is not None and text not in seen and len(seen) <= MOST_PASSES:
            seen.add(text)
            here = self._of(parts.authority)
            for i in here.hits(text, parts):
                try:
                    after = here.rules[i].change(parts, self.site)
                except TooLongError:
                    return
                if after is not None:
                    parts, text = after, after.join()
                    yield here.named[i][0], text


def spelled_tokens(url: str) -> tuple[str, UrlParts | None]:
    """A URL as all are spelled, and its tokens; None of a URL that is too long to be spelled so."""
    spelled = canonical_url(url)
    is_spelled = len(spelled) <= _SURELY_SPELLED or len(as_sent(spelled)) <= LONGEST_URL
    return spelled, split_url(spelled) if is_spelled else None


def _site(authority: str) -> str:
    return site_of(canonical_url(f"http://{authority}"))


def identity(normalize: Callable[[str], Normalized], url: str) -> str:
    """What a page is known by in an index, or with its fragment an item of the page: its page's canonical form."""
    page, mark, item = url.partition("#")
    return f"{normalize(page).canonical}{mark}{item}"


class _Host(NamedTuple):
    """A host and port: the rules of its site, if any, and what decides what they make of its URLs."""

    site: SiteNormalizer | None = None
    decided_by: object = None


_NO_HOST = _Host()


class Normalizer:
    """The rules of all sites. A file is opened at the first URL of its site, so 100,000 cost a listing.

    A file that cannot be read is logged once and counts as empty: a crawl goes on.

    Args:
        sites: Rules in memory.
        files: Rule files by name.
        named: Site → a file whose rules are among `sites`.
        more: Gives further rules of a site, unless its file has them, if disabled or for fewer URLs: those of known
            software come before what was learned, likely ones after it.
        tries: Whether this is for a crawl, which also tries doubted rules.
    """

    def __init__(
        self,
        sites: Iterable[SiteRules] = (),
        files: dict[str, Path] | None = None,
        named: Mapping[str, Path] | None = None,
        more: Callable[[str], Sequence[Rule]] | None = None,
        *,
        tries: bool = False,
    ) -> None:
        self._given = {site_rules.site: site_rules for site_rules in sites}
        self._files = files or {}
        self._named = named or {}  # site → a file that is read already
        self._more, self._tries = more, tries
        self._equivalences = defaultdict[str, set[str]](set)  # site → ids of rules that became equivalences
        self._by_site: dict[str, SiteNormalizer | None] = {}
        self._by_authority: dict[str, _Host] = {}
        self._authorities: dict[str, list[str]] = {}  # by site, of these
        self._rules: dict[str, dict[str, Rule]] = {}  # site → id → rule
        self._reduced: dict[str, dict[tuple[frozenset[str], bool], SiteNormalizer]] = {}  # without some of its rules
        self._remembered: dict[tuple[str, object, bool], Normalized] = {}

    @classmethod
    def from_paths(
        cls,
        paths: Sequence[str | Path] | str | Path,
        more: Callable[[str], Sequence[Rule]] | None = None,
        *,
        tries: bool = False,
    ) -> Normalizer:
        """A normalizer with the rules of these files, and of the files of these folders; or of this one.

        Args:
            paths: Of files or folders; or one of them.
            more: Gives further rules of a site, as in `Normalizer`.
            tries: As in `Normalizer`.

        Raises:
            RuleError: When a path does not exist, or a file that is named itself cannot be read.
        """
        where = [Path(path) for path in listed(paths)]
        files = checked(rule_files([path for path in where if not path.is_file()]))
        named = {path: read_rules(path) for path in where if path.is_file()}
        by_site = {site_rules.site: path for path, site_rules in named.items()}
        return cls(named.values(), files, by_site, more, tries=tries)

    def normalize(self, url: str) -> Normalized:
        """The canonical form of any string, see `SiteNormalizer.normalize`."""
        if not isinstance(url, str):
            raise TypeError(f"a URL is text, not {type(url).__name__}.")
        pieces = url.split("/", 3)  # inlined: it is asked about every link
        host = self._by_authority.get(pieces[2]) if len(pieces) > 2 and not pieces[1] else _NO_HOST
        if host is None:
            host = self._host(url)
        if host.site is None:
            spelled = canonical_url(url)
            return left(url, url) if spelled == url else as_of(url, self.normalize(spelled))
        return self._remembered.get((url, host.decided_by, False)) or self._by_all(url)

    def identity(self, url: str) -> str:
        """What a page is known by in an index, or with its fragment an item of the page: its page's canonical form."""
        return identity(self.normalize, url)

    def forms(self, url: str) -> set[str]:
        """What the rules make of a URL one after another, the canonical form included."""
        site = self._host(url).site
        return set() if site is None else {after for _, after in site.steps(url)}

    def by_some(self, url: str, which: Excluded | None = None, *, are_rewrites: bool = False) -> Normalized:
        """What is made of any string without those rules on its way that `which` names; or by rewrites alone."""
        spelled, excluded = canonical_url(url), frozenset[str]()
        normalized, site = self._by_all(spelled, are_rewrites=are_rewrites), site_of(spelled)
        while which is not None and (more := which(spelled, normalized.rules)):
            excluded |= more
            normalized = self._without(site, excluded, are_rewrites=are_rewrites).normalize(spelled)
        return as_of(url, normalized)

    def _without(self, site: str, excluded: frozenset[str], *, are_rewrites: bool = False) -> SiteNormalizer:
        """By the rules of a site but some; or of those by the rewrites alone."""
        reduced, key = self._reduced.setdefault(site, {}), (excluded, are_rewrites)
        if key not in reduced:
            if len(reduced) >= _REDUCED:
                reduced.clear()
            rules = (rule for rule in self._by_id(site).values() if rule.id not in excluded)
            kept = tuple(rule for rule in rules if rule.kind == "rewrite" or not are_rewrites)
            reduced[key] = SiteNormalizer(SiteRules(site, kept))
        return reduced[key]

    def _by_all(self, url: str, *, are_rewrites: bool = False) -> Normalized:
        host = self._host(url)
        if host.site is None:
            return left(url, url)
        remembered, key = self._remembered, (url, host.decided_by, are_rewrites)
        if (normalized := remembered.get(key)) is None:
            site = self._without(site_of(url), frozenset(), are_rewrites=True) if are_rewrites else host.site
            normalized = site.normalize(url)
            if len(url) <= _LONGEST_KEPT:
                if len(remembered) >= _URLS_KEPT:
                    remembered.clear()
                remembered[key] = normalized
        return normalized

    @property
    def site_count(self) -> int:
        """Number of sites that there are rule files for."""
        return len(set(map(file_name, self._given)) | self._files.keys())

    def has_rules_for(self, url: str) -> bool:
        """True when there is a rule file that can be read, if an empty one, for the site of this URL."""
        return self._host(url).site is not None

    def rules_of(self, site: str) -> tuple[Rule, ...]:
        """All rules of a site, with their evidence."""
        site_rules = self._read(site)
        return () if site_rules is None else site_rules.rules

    def rule(self, site: str, rule_id: str) -> Rule | None:
        """One of them."""
        return self._by_id(site).get(rule_id)

    def file_of(self, site: str) -> Path | None:
        """The file with the rules of a site."""
        for form in (site, other_form(site)):
            if form in self._given:
                return self._named.get(form)
        return file_of(self._files, site)

    def make_equivalence(self, site: str, rule_id: str) -> None:
        """Use this rule as an equivalence, whatever its file says."""
        self._equivalences[site].add(rule_id)
        self.has_more(site)

    def add_file(self, path: Path) -> None:
        """Take a rule file that is new, or take one as it is now."""
        self._files[path.name] = path
        self._forget()

    def has_more(self, site: str) -> None:
        """The rules of a site have changed: forget what was made ready for it, and for no other site."""
        for authority in self._authorities.pop(site, ()):
            self._by_authority.pop(authority, None)
        for cache in (self._by_site, self._rules, self._reduced):
            cache.pop(site, None)

    def _forget(self) -> None:
        for cache in (self._by_authority, self._authorities, self._by_site, self._rules, self._reduced):
            cache.clear()

    def _host(self, url: str) -> _Host:
        pieces = url.split("/", 3)
        if len(pieces) < 3 or pieces[1]:
            return _NO_HOST
        authority = pieces[2]
        if authority in self._by_authority:
            return self._by_authority[authority]
        for mark in "?#":
            authority = authority.partition(mark)[0]
        if len(authority) > _LONGEST_HOST:
            return _NO_HOST
        name = _site(authority)
        if len(self._by_authority) >= _HOSTS_KEPT:
            self._forget()
        if name not in self._by_site:
            rules = self._read(name)
            self._by_site[name] = None if rules is None else SiteNormalizer(rules)
        site = self._by_site[name]
        host = self._by_authority[authority] = _Host(site, None if site is None else site.decided_by(authority))
        self._authorities.setdefault(name, []).append(authority)
        return host

    def _by_id(self, site: str) -> dict[str, Rule]:
        if (rules := self._rules.get(site)) is None:
            rules = self._rules[site] = {rule.id: rule for rule in self.rules_of(site)}
        return rules

    def _read(self, site: str) -> SiteRules | None:
        site_rules = self._given.get(site) or self._given.get(other_form(site))
        try:
            site_rules = site_rules or rules_of(self._files, site)
        except RuleError as error:
            logger.warning("No rules for %r: %s", site, printable(str(error)))
        if self._more is not None and (more := self._more(site)):
            site_rules = SiteRules(site, tuple(on_all_hosts(site_rules.rules, more)) if site_rules else ())
            keys = {key for rule in site_rules.rules for key in (rule.id, rule.effect)}
            is_done = done_in_part(filter(Rule.is_given, site_rules.rules))
            added = [one for one in more if one.id not in keys and one.effect not in keys and not is_done(one)]
            first = [*takewhile(Rule.is_given, site_rules.rules), *filter(Rule.is_given, added)]
            site_rules = SiteRules(site, tuple(dict.fromkeys((*first, *site_rules.rules, *added))))
        if site_rules is None:
            return None
        if site in self._equivalences:
            site_rules = site_rules.with_equivalences(self._equivalences[site])
        return site_rules.on_trial() if self._tries else site_rules
