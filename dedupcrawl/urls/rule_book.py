"""The rule book: the rules in use, the results of their trials, and what is written about them.

A rule is tested and trusted for each owner (`sites.owner_of`) separately: its results on the pages of one owner are no
evidence for the pages of another, who may be a stranger or an attacker.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from random import Random

import msgspec

from dedupcrawl.printable import counted, printable
from dedupcrawl.sites import owner_of, site_of
from dedupcrawl.urls.belief import Belief
from dedupcrawl.urls.credits import Credits, CreditStore
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.probation import as_equivalence, known_elsewhere, leads_nowhere
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import read_rules, replace_rules
from dedupcrawl.urls.sections import Section

logger = logging.getLogger(__name__)


class Ruling(msgspec.Struct, frozen=True):
    """What follows from a trial: ids of rules that are off from now on, or in one more section."""

    revoked: tuple[str, ...] = ()
    restricted: tuple[str, ...] = ()


class RuleBook:
    """Counts uses and trials by rule, revokes what its trials refute, and writes both into the rule files.

    Args:
        normalizer: Has the rules.
        share: Of the uses of a rule that has passed its probation, how many are tried at most, in (0, 1].
        chance: Draws these.
        sources: The sources of aliases, as rules. They are none of the normalizer's, and tried like all others.
        credits: What is known of rules that have no file, and of sources; None if nobody keeps it.
    """

    def __init__(
        self,
        normalizer: Normalizer,
        share: float,
        chance: Random,
        sources: Sequence[Rule] = (),
        credits: CreditStore | None = None,
    ) -> None:
        self._normalizer = normalizer
        self._sources = {one.id: one for one in sources}
        self._credits = credits
        self._share, self._chance = share, chance
        # By owner, those that were used or revoked: a site may have thousands of rules, most of them on other hosts.
        self._beliefs: dict[str, dict[str, Belief]] = defaultdict(dict)
        self._unwritten: list[tuple[Belief, str]] = []  # and notes: no file has these

    def is_due(self, url: str, rules: tuple[str, ...], *, is_fetched: bool = False) -> bool:
        """Count one use of these rules, on a URL of their site; True when it is to be tried, once for all of them.

        Args:
            url: That they change.
            rules: Their ids.
            is_fetched: Whether it is fetched anyway, so that nothing is left out.
        """
        is_due = any(one.is_due(url, self._share, self._chance) for one in self._of(url, rules))
        self.count(url, rules, is_tried=is_due, is_fetched=is_fetched)
        return is_due

    def count(self, url: str, rules: tuple[str, ...], *, is_tried: bool, is_fetched: bool = False) -> None:
        """Count one use of these rules, which is tried, or is not; `is_fetched` as for `is_due`."""
        for one in self._of(url, rules):
            one.count(url, self._chance, is_tried=is_tried, is_fetched=is_fetched)

    def last_uses(self) -> set[str]:
        """The URLs to test now that nothing more is fetched, each returned once."""
        return {url for one in self._in_use() for url in one.take_last(self._share, self._chance)}

    def is_off(self, url: str, rules: tuple[str, ...]) -> bool:
        """True when one of the rules is not to be used where this URL belongs to."""
        return bool(self.excluded(url, rules))

    def has_all(self, url: str, rules: tuple[str, ...]) -> bool:
        """True when all these rules are there, and in use where this URL belongs to."""
        return len(self._of(url, rules)) == len(rules) and not self.is_off(url, rules)

    def excluded(self, url: str, rules: Sequence[str]) -> frozenset[str]:
        """Those of the rules that are not to be used where this URL belongs to."""
        return frozenset(one.rule.id for one in self._known(url, rules) if one.is_off(url))

    def is_proved(self, url: str, rules: tuple[str, ...]) -> bool:
        """True when enough trials have passed where this URL belongs to for the rules to be taken for right there."""
        watched = self._of(url, rules)
        return len(watched) == len(rules) and all(one.holds_at(one.sections.of(url)) for one in watched)

    def unproved(self, url: str, rules: Sequence[str]) -> frozenset[str]:
        """Those of the rules that do not hold where this URL belongs to, or for which nothing has spoken there yet."""
        sections = [(one, one.sections.of(url)) for one in self._of(url, rules)]
        return frozenset(rules).difference(
            [one.rule.id for one, section in sections if section.is_backed and one.holds_at(section)]
        )

    def is_backed(self, url: str, rules: tuple[str, ...]) -> bool:
        """True when something has spoken for each of the rules where this URL belongs to: a log, or a trial."""
        watched = self._of(url, rules)
        return len(watched) == len(rules) and all(one.sections.of(url).is_backed for one in watched)

    def wanting(self) -> set[tuple[str, str]]:
        """Site and id of each rule whose earlier uses are to be tested now that nothing more is, see `is_wanting`."""
        for section in (section for one in self._in_use() for section in one.sections):
            section.settle()
        return {
            (site_of(one.owner), one.rule.id)
            for one in self._in_use()
            if any(section.uses > section.begun and one.is_wanting(section) for section in one.sections)
        }

    def is_wanting(self, url: str, rules: tuple[str, ...]) -> bool:
        """True when a trial is wanted of what these rules did with this URL."""
        return any(one.is_wanting(one.sections.of(url)) for one in self._of(url, rules))

    def takes_earlier(self, url: str, rules: tuple[str, ...]) -> bool:
        """Whether what an earlier crawl fetched at this URL counts as a trial of these rules.

        Only while they lack trials and none has failed in this crawl. A use that was drawn shows whether the site has
        changed since, and so do the uses of a rule that has failed.
        """
        return self.is_wanting(url, rules) and not any(one.failed for one in self._of(url, rules))

    def begin(self, url: str, rules: tuple[str, ...]) -> None:
        for one in self._of(url, rules):
            one.sections.of(url).begin()

    def end(self, url: str, rules: tuple[str, ...]) -> None:
        for one in self._of(url, rules):
            one.sections.of(url).end()

    def passed(self, url: str, rules: tuple[str, ...]) -> None:
        """The rules made of this URL one that leads to the same page."""
        for one in self._of(url, rules):
            one.sections.of(url).passes(url)

    def take_back(self, url: str, rules: tuple[str, ...]) -> None:
        """Withdraw a passed trial, which the caller then reports as failed."""
        for one in self._of(url, rules):
            one.sections.of(url).take_back()

    def failed(self, url: str, canonical: str, rules: tuple[str, ...]) -> Ruling:
        """The rules turned this URL into one that leads to another page.

        The failure counts against the rule that is not yet proven there (at most one); if all are proven, against all
        of them, and each has to be proven there again. A rule that this refutes is off in the section of the URL; if it
        has no evidence in another section, it is revoked. Of several rules none is revoked until nothing more is tested
        (`decide`).
        """
        if self.is_off(url, rules):
            return Ruling()  # begun before the culprit was found
        suspects = [(one, one.sections.of(url)) for one in self._of(url, self._suspects(url, rules))]
        for one, section in suspects:
            section.fails(url, canonical)
            if not one.is_shared:  # a crawl that is killed must not forget what speaks against it
                self._unwritten.append((one, ""))
        ruling = Ruling()
        if len(suspects) == 1 and suspects[0][0].is_refuted_at(suspects[0][1]):
            ruling = self._condemn(*suspects[0])
        self._write()
        return ruling

    def decide(self) -> dict[str, Ruling]:
        """Nothing more is tried: what is refuted is used no more; owner → what becomes of its rules."""
        rulings: dict[str, Ruling] = {}
        for one, section in [(belief, section) for belief in self._in_use() for section in belief.sections]:
            if not one.revoked and one.is_refuted_at(section):
                new, old = self._condemn(one, section), rulings.get(one.owner, Ruling())
                rulings[one.owner] = Ruling(old.revoked + new.revoked, old.restricted + new.restricted)
        self._write()
        return rulings

    def _suspects(self, url: str, rules: tuple[str, ...]) -> tuple[str, ...]:
        """Who is to blame where a trial fails: who has yet to be proved there, if anybody; else all."""
        unproved = self.unproved(url, rules)
        return tuple(rule for rule in rules if rule in unproved) or rules

    def there(self, url: str, rules: tuple[str, ...]) -> None:
        """The rules turned this URL into one that has a page; called once for each such page."""
        for one in self._of(url, rules):
            one.there += 1

    def gone(self, url: str, canonical: str, rules: tuple[str, ...]) -> Ruling:
        """The rules turned this URL, which has a page, into one that has none.

        A rule that does so too often may still be right about which URLs are one page: it becomes an equivalence. It is
        revoked if the URLs to which others are then sent lead nowhere, too.
        """
        revoked: list[str] = []
        for one in self._of(url, self._suspects(url, rules)):
            if one.rule.kind == "equivalence" and canonical in self._normalizer.forms(url):
                continue  # asked for before it became one, or by others
            one.gone.add(hash(canonical))  # however many URLs were sent there, as `there` counts them
            if not leads_nowhere(one.before[0] - known_elsewhere(one.rule) + one.there, len(one.gone)):
                continue
            reason = f"{counted(len(one.gone), 'canonical URL')} led nowhere, such as {url} → {canonical}"
            if one.rule.kind == "rewrite" and one.rule.source != "alias":
                self._make_equivalence(one, reason)
            else:
                self._revoke(one, reason)
                revoked.append(one.rule.id)
        self._write()
        return Ruling(tuple(revoked))

    def save(self) -> None:
        """Write what this crawl has found out into the rule files, or the index.

        Of a rule that has passed its probation, and passes again where it did before, there is no news: its file stays
        as it is.
        """
        for one in self._in_use():
            is_expected = one.rule.state != "probation" and not one.failed and not one.sections.proved()
            has_news = not (is_expected and one.has_file) or one.written[1]
            if has_news and (one.passed, one.failed) != one.written:
                self._unwritten.append((one, ""))
        self._write()

    @property
    def owners(self) -> set[str]:
        """Those for whom a rule was used or revoked."""
        return set(self._beliefs)

    def beliefs(self, owner: str, *sources: str) -> list[Belief]:
        """What is known of rules from these sources on an owner's pages, and of those that were revoked there."""
        return [one for one in self._beliefs.get(owner, {}).values() if one.rule.source in sources]

    def revoked(self, owner: str) -> set[str]:
        """Ids of rules that were revoked on an owner's pages."""
        return {name for name, one in self._beliefs.get(owner, {}).items() if one.revoked}

    def reread(self) -> None:
        """The rule files were written anew: save what is known, and take the rules as they are now.

        What was revoked meanwhile stays revoked, and what is off in a section stays off there.
        """
        self.save()
        before, self._beliefs = self._beliefs, defaultdict(dict)
        for owner, of in before.items():
            kept = sorted((one for one in of.values() if one.revoked or one.has_own_news), key=lambda one: one.revoked)
            known = {one.rule.effect: one for one in kept}  # of two that do the same, one that was revoked
            now = {name: one for name, one in of.items() if one.revoked}
            for rule in self._rules_of(owner) if known else ():
                one = known.get(rule.effect)
                if one is None or not one.revoked:
                    now.pop(rule.id, None)  # another rule has its id
                if one is not None and rule.state != "disabled":
                    has_file = self._has_file(owner, rule.id)
                    if has_file or not one.revoked:
                        now[rule.id] = one.reread(rule, has_file=has_file)
                    if has_file and one.revoked:
                        self._revoke(now[rule.id], one.revoked)
            if now:
                self._beliefs[owner] = now
        self._write()

    def _rules_of(self, owner: str) -> tuple[Rule, ...]:
        return (*self._normalizer.rules_of(site_of(owner)), *self._sources.values())

    def _in_use(self) -> list[Belief]:
        return [one for of in self._beliefs.values() for one in of.values() if not one.revoked]

    def _of(self, url: str, rules: Sequence[str]) -> list[Belief]:
        return [one for one in self._known(url, rules) if not one.revoked]

    def _known(self, url: str, rules: Sequence[str]) -> list[Belief]:
        owner = owner_of(url)
        of = self._beliefs.get(owner, {})
        return [one for name in rules if (one := of.get(name) or self._first_use(owner, name)) is not None]

    def _first_use(self, owner: str, name: str) -> Belief | None:
        """Watch a rule from now on; None for one that is not there, or is disabled."""
        rule, credit = self._normalizer.rule(site_of(owner), name) or self._sources.get(name), Credits()
        if rule is None or rule.state == "disabled":
            return None
        if not (has_file := self._has_file(owner, rule.id)):
            credit = self.credits_of(owner)
            rule = credit.of[name].told_to(rule) if name in credit.of else rule
        one = self._beliefs[owner][name] = Belief.of(rule, owner, has_file=has_file)
        one.revoked = credit.refuted.get(name, "")
        return one

    def credits_of(self, owner: str) -> Credits:
        return Credits() if self._credits is None else self._credits.of(owner)

    def _has_file(self, owner: str, name: str) -> bool:
        return name not in self._sources and not self._normalizer.is_further(site_of(owner), name)

    def _condemn(self, culprit: Belief, section: Section) -> Ruling:
        """Switch the rule off for the owner: in this section, or, when nothing speaks for it elsewhere, in all."""
        name = culprit.rule.id
        is_here = section.is_refuted and culprit.passes_elsewhere(section) and culprit.sections.switch_off(section)
        where = [section] if is_here else list(culprit.sections)
        passed, failed = sum(one.passed for one in where), sum(one.failed for one in where)
        trials, example = counted(passed + failed, "trial"), f"{section.counterexample} → {section.led_to}"
        reason = f"{failed} of {trials} led to another page, such as {example}"
        if not is_here:
            self._revoke(culprit, reason)
            return Ruling(revoked=(name,))
        note = f"not used in one part of the site in the crawl of {date.today()}: {reason}"
        self._note(culprit, note)
        return Ruling(restricted=(name,))

    def _revoke(self, culprit: Belief, reason: str) -> None:
        culprit.revoked = reason
        self._note(culprit, f"revoked on {date.today()}: {reason}")

    def _make_equivalence(self, one: Belief, reason: str) -> None:
        """For all of its site; the trials of this crawl still count."""
        name, site = one.rule.id, site_of(one.owner)
        for other in self._in_use():
            if other.rule.id == name and site_of(other.owner) == site:
                other.rule, other.there, other.gone = as_equivalence(other.rule), 0, set()
        self._normalizer.make_equivalence(site, name)
        self._note(one, f"turned into an equivalence on {date.today()}: {reason}")

    def _note(self, one: Belief, note: str) -> None:
        """Log what becomes of a rule; `_write` writes it down."""
        logger.warning("Rule %s of %s: %s", printable(one.rule.id), printable(one.owner), printable(note))
        self._unwritten.append((one, note))

    def _write(self) -> None:
        """Put what is new of rules, their counts and states and a note, into the file of each site, or the index."""
        by_site = defaultdict[str, list[tuple[Belief, str]]](list)
        unwritten, self._unwritten = self._unwritten, []
        for one, note in unwritten:
            if one.has_file:
                by_site[site_of(one.owner)].append((one, note))
                continue
            if self._credits is not None:
                refuted = {one.rule.id: one.revoked} if one.revoked else {}
                self._credits.tell(one.owner, Credits({one.rule.id: one.news}, refuted))
            one.written = one.passed, one.failed
        for site, of_site in by_site.items():
            if (path := self._normalizer.file_of(site)) is None:
                continue
            before = [(one, one.written) for one, _ in of_site]
            try:
                rules = {rule.id: rule for rule in read_rules(path).rules}
                for one, note in of_site:
                    if (rule := rules.get(one.rule.id)) is not None:
                        rules[rule.id] = one.update(rule, note)
                        one.written = one.passed, one.failed
                replace_rules(path, list(rules.values()))
            except (OSError, RuleError, ValueError) as error:
                logger.error("The results of trials of the rules of %s cannot be written: %s", printable(site), error)
                for one, written in reversed(before):
                    one.written = written
                self._unwritten += [news for news in of_site if news[1]]
