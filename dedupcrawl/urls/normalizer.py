"""The normalizer: a URL in, its canonical form out, by the rules of its site.

Whatever the URL and the rules are, hostile ones included, it takes any string, never raises, terminates, gives the same
result every time and never leaves the site, and the canonical form of a canonical form is itself.
"""

from __future__ import annotations

import logging
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from dedupcrawl.core.url_forms import TokenIndex
from dedupcrawl.core.url_parts import UrlParts, split_url
from dedupcrawl.printable import printable
from dedupcrawl.setting import listed
from dedupcrawl.sites import other_form, site_of
from dedupcrawl.urls.compiled_rule import TooLongError, compiled
from dedupcrawl.urls.normalized import Normalized, as_of, left, result
from dedupcrawl.urls.overlaps import done_in_part, on_all_hosts
from dedupcrawl.urls.rule import Kind, Rule, RuleError
from dedupcrawl.urls.rule_files import SiteRules, checked, file_name, file_of, read_rules, rule_files, rules_of
from dedupcrawl.urls.spelling import LONGEST_URL, as_sent, canonical_url

logger = logging.getLogger(__name__)

# Characters of a URL that is short enough in its one spelling, too: in this each is twelve at most, as four bytes are.
_SURELY_SPELLED = LONGEST_URL // 12
MOST_PASSES = 16  # over the rules of a site; a URL that still changes is left alone
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
    have a host, or texts of which one must be in the URL. Rules that are not found this way are not tried. Of a million
    rules most lie in cold memory, so what differs from site to site is kept small: strings are interned, and rules that
    do the same, as on all sites of one software, are one object.
    """

    __slots__ = ("_hits", "_named", "_next", "_rules", "site")

    def __init__(self, site_rules: SiteRules) -> None:
        self.site = site_rules.site
        used = [one for one in site_rules.rules if not one.is_off and one.convert != "syntax"]  # done before any rule
        self._named = [(sys.intern(one.id), one.kind) for one in used]
        self._rules = list(map(compiled, used))
        index = TokenIndex([one.asks_for() for one in self._rules], tuple(one.conditions for one in self._rules))
        self._hits, self._next = index.hits, index.next

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
        form, changes = self._run(url, parts)
        if form is None:
            return url, []
        return (form, [self._named[i] for i, _ in changes]) if changes else None

    def _run(self, text: str, parts: UrlParts) -> tuple[str | None, list[tuple[int, UrlParts]]]:
        """The canonical form, None if the rules do not come to an end; the number of each rule that changed something,
        and what it made.
        """
        changes: list[tuple[int, UrlParts]] = []
        trail: list[str] = []
        while len(text) <= LONGEST_URL and len(trail) <= MOST_PASSES:
            before, hits, place = len(changes), self._hits(text, parts), -1
            while (fit := self._next(hits, place + 1, parts)) is not None:
                place, values = fit
                try:
                    after = self._rules[hits[place]].made(parts, values, self.site)
                except TooLongError:
                    return None, changes
                if after is not None:
                    parts = after
                    changes.append((hits[place], after))
            if len(changes) == before:
                return text, changes
            trail.append(text)
            text = parts.join()
            if text in trail:
                return min(trail[trail.index(text) :]), changes
        return None, changes

    def steps(self, url: str) -> list[tuple[str, str]]:
        """What `normalize` does, for people: the id of each rule that changes the spelled URL, and what it makes of it.

        Of a URL that goes round in a circle once round, of one that grows without end as far as it is followed.
        """
        spelled, parts = spelled_tokens(url)
        changes = [] if parts is None else self._run(spelled, parts)[1]
        return [(self._named[i][0], after.join()) for i, after in changes]


def spelled_tokens(url: str) -> tuple[str, UrlParts | None]:
    """A URL as all are spelled, and its tokens; None of a URL that is too long to be spelled so."""
    spelled = canonical_url(url)
    is_spelled = len(spelled) <= _SURELY_SPELLED or len(as_sent(spelled)) <= LONGEST_URL
    return spelled, split_url(spelled) if is_spelled else None


def identity(normalize: Callable[[str], Normalized], url: str) -> str:
    """What a page is known by in an index, or with its fragment an item of the page: its page's canonical form."""
    page, mark, item = url.partition("#")
    return f"{normalize(page).canonical}{mark}{item}"


class _Site:
    """The rules of a site, and those sets of them that are used on it, ready to be applied."""

    def __init__(self, site_rules: SiteRules) -> None:
        self.rules = site_rules
        self.all = SiteNormalizer(site_rules)
        self._some: dict[tuple[frozenset[str], bool], SiteNormalizer] = {}

    @cached_property
    def by_id(self) -> dict[str, Rule]:
        return {rule.id: rule for rule in self.rules.rules}

    def without(self, excluded: frozenset[str], *, are_rewrites: bool) -> SiteNormalizer:
        if not excluded and not are_rewrites:
            return self.all
        if (some := self._some.get((excluded, are_rewrites))) is None:
            if len(self._some) >= _REDUCED:
                self._some.clear()
            rules = (rule for rule in self.rules.rules if rule.id not in excluded)
            kept = tuple(rule for rule in rules if rule.kind == "rewrite" or not are_rewrites)
            some = self._some[excluded, are_rewrites] = SiteNormalizer(SiteRules(self.rules.site, kept))
        return some


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
        self._further: dict[str, set[str]] = {}  # site → ids of rules that no file has
        self._sites: dict[str, _Site | None] = {}
        self._names: dict[str, str] = {}  # host and port → site
        self._remembered: dict[tuple[SiteNormalizer, str], Normalized] = {}

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
        if (site := self._site(url)) is None:
            spelled = canonical_url(url)
            return left(url, url) if spelled == url else as_of(url, self.normalize(spelled))
        return self._by(site.all, url)

    def identity(self, url: str) -> str:
        """What a page is known by in an index, or with its fragment an item of the page: its page's canonical form."""
        return identity(self.normalize, url)

    def forms(self, url: str) -> set[str]:
        """What the rules make of a URL one after another, the canonical form included."""
        site = self._site(url)
        return set() if site is None else {after for _, after in site.all.steps(url)}

    def by_some(self, url: str, which: Excluded | None = None, *, are_rewrites: bool = False) -> Normalized:
        """What is made of any string without those rules on its way that `which` names; or by rewrites alone."""
        spelled, excluded = canonical_url(url), frozenset[str]()
        if (site := self._site(spelled)) is None:
            return left(url, spelled)
        normalized = self._by(site.without(excluded, are_rewrites=are_rewrites), spelled)
        while which is not None and (more := which(spelled, normalized.rules)):
            excluded |= more
            normalized = site.without(excluded, are_rewrites=are_rewrites).normalize(spelled)
        return as_of(url, normalized)

    def _by(self, rules: SiteNormalizer, url: str) -> Normalized:
        remembered, key = self._remembered, (rules, url)
        if (normalized := remembered.get(key)) is None:
            normalized = rules.normalize(url)
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
        return self._site(url) is not None

    def rules_of(self, site: str) -> tuple[Rule, ...]:
        """All rules of a site, with their evidence, as its file has them now."""
        site_rules = self._read(site)
        return () if site_rules is None else site_rules.rules

    def rule(self, site: str, rule_id: str) -> Rule | None:
        """One of them."""
        of_site = self._of(site)
        return None if of_site is None else of_site.by_id.get(rule_id)

    def is_further(self, site: str, rule_id: str) -> bool:
        """Whether a rule of a site is one of the further rules that `more` gives, and of no file."""
        return self.rule(site, rule_id) is not None and rule_id in self._further.get(site, ())

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
        self._sites.clear()

    def has_more(self, site: str) -> None:
        """The rules of a site have changed: forget what was made ready for it, and for no other site."""
        self._sites.pop(site, None)

    def _site(self, url: str) -> _Site | None:
        pieces = url.split("/", 3)
        if len(pieces) < 3 or pieces[1]:
            return None
        authority = pieces[2]
        if authority not in self._names:
            authority = authority.partition("?")[0].partition("#")[0]
            if len(authority) > _LONGEST_HOST:
                return None
            if len(self._names) >= _HOSTS_KEPT:
                self._names.clear()
                self._sites.clear()
            self._names[authority] = site_of(canonical_url(f"http://{authority}"))
        return self._of(self._names[authority])

    def _of(self, site: str) -> _Site | None:
        if site not in self._sites:
            rules = self._read(site)
            self._sites[site] = None if rules is None else _Site(rules)
        return self._sites[site]

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
            self._further[site] = {one.id for one in added}
            first = [*takewhile(Rule.is_given, site_rules.rules), *filter(Rule.is_given, added)]
            site_rules = SiteRules(site, tuple(dict.fromkeys((*first, *site_rules.rules, *added))))
        if site_rules is None:
            return None
        if site in self._equivalences:
            site_rules = site_rules.with_equivalences(self._equivalences[site])
        return site_rules.on_trial() if self._tries else site_rules
