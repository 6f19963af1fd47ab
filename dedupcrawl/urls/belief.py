"""Beliefs: rules, and what pages say of URLs, in use on the pages of one owner, with the results of their trials."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import msgspec

from dedupcrawl.sites import owner_of, site_of
from dedupcrawl.urls.compiled_rule import CompiledRule, example
from dedupcrawl.urls.credits import Credit
from dedupcrawl.urls.probation import (
    TRIALS_OF_NEW,
    audit_chance,
    is_refuted,
    known_before,
    known_elsewhere,
    share_tried,
    trials_needed,
)
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.sections import Section, Sections

_MOST_BEGUN = 2  # trials begun for each that is needed: some tell nothing


def is_shared(rule: Rule, owner: str) -> bool:
    """Whether something has spoken for a rule on pages of others than this owner."""
    return any(owner_of(url) != owner for url, _ in rule.examples)


def for_owner(rule: Rule, owner: str) -> Rule:
    """A rule with what speaks of it on the pages of one owner.

    What the pages of others taught is the reason to try it here, and no more, see `Sections`.
    """
    own, wrong = (
        tuple(pair for pair in pairs if owner_of(pair[0]) == owner) for pairs in (rule.examples, rule.counterexamples)
    )
    if rule.is_by_people or len(own) == len(rule.examples):
        return replace(rule, counterexamples=wrong)

    def part(count: int) -> int:
        return count * len(own) // len(rule.examples)

    evidence = rule.evidence
    return replace(
        rule,
        state="active"
        if rule.state == "probation" and not own
        else rule.state,  # each part of the owner's site tries it
        tried=part(rule.tried),
        failed=part(rule.failed),
        evidence=Evidence(coverage=part(evidence.coverage), correct=part(evidence.correct), wrong=part(evidence.wrong)),
        examples=own,
        counterexamples=wrong,
    )


class Belief(msgspec.Struct):
    """A rule, or a source of aliases, and what this crawl did with it on the pages of one owner.

    Attributes:
        rule: As it was in its file, see `for_owner`.
        sections: Where it was used.
        owner: Whose pages these are.
        has_file: Whether the rule is in a rule file; else its credit is kept in the index.
        is_shared: Whether something has spoken for it on pages of others than this owner.
        untried: Uses since the last one that was tested.
        drawn_use: The URL of one of these, drawn at random; empty if there are none.
        last_use: The URL of the last of these, because a site may change.
        there: Its canonical URLs that have a page.
        gone: Hashes of its canonical URLs that have no page, although the original URLs have one.
        written: How many of the trials that passed and failed are in the file, or in the index.
        revoked: Why this crawl no longer uses it; empty while it does.
    """

    rule: Rule
    sections: Sections
    owner: str
    has_file: bool = True
    is_shared: bool = False
    untried: int = 0
    drawn_use: str = ""
    last_use: str = ""
    there: int = 0
    gone: set[int] = msgspec.field(default_factory=set)
    written: tuple[int, int] = (0, 0)
    revoked: str = ""

    @classmethod
    def of(cls, rule: Rule, owner: str, *, has_file: bool = True) -> Belief:
        own = for_owner(rule, owner)
        sections = Sections(own, is_new=bool(rule.examples) and not own.examples)
        return cls(own, sections, owner, has_file, is_shared(rule, owner))

    def reread(self, rule: Rule, *, has_file: bool) -> Belief:
        """The same rule as it was written anew, perhaps with the trials of this crawl, which are counted here.

        Nor is the log of this crawl evidence besides: what is wrong in it is what these trials are about.
        """
        before, rule = self.rule, for_owner(rule, self.owner)
        rule = replace(rule, tried=before.tried, failed=before.failed, evidence=before.evidence)
        return msgspec.structs.replace(self, rule=rule, has_file=has_file)

    def is_off(self, url: str) -> bool:
        """Whether it is not to be used where this URL belongs to."""
        return bool(self.revoked) or self.sections.is_off(url)

    @property
    def before(self) -> tuple[int, int]:
        """What counts like trials that passed and that failed, before this crawl."""
        return known_before(self.rule)

    @property
    def passed(self) -> int:
        return sum(section.passed for section in self.sections)

    @property
    def failed(self) -> int:
        """Trials, but for sections where the rule is off: of what it does elsewhere they tell nothing."""
        return sum(section.failed for section in self.sections if not section.is_off)

    @property
    def has_own_news(self) -> bool:
        """Whether something is known of it that a rule file does not say."""
        is_doubted = any(section.failed or section.is_off for section in self.sections)
        return is_doubted or self.rule.rests_on_others or self.rule.source == "alias"

    @property
    def is_on_probation(self) -> bool:
        """True when trials have to pass before it is taken for right."""
        is_new = self._is_tried_first and self._trials < trials_needed(self.rule, 0)
        return is_new or any(section.failed and section.lacking and not section.is_off for section in self.sections)

    @property
    def _is_tried_first(self) -> bool:
        return self.rule.state == "probation" and self.sections.needs_trials

    def holds_at(self, section: Section) -> bool:
        """Whether enough trials have passed for it to be taken for right in this section."""
        return not (self.is_on_probation or section.lacking or section.is_off)

    @property
    def is_refuted(self) -> bool:
        return bool(self.failed) and is_refuted(self.before[0] + self.passed, self.before[1] + self.failed)

    def is_refuted_at(self, section: Section) -> bool:
        """By all trials together, or by those in one of its sections, where it is in use and a trial has failed."""
        return section.failed > 0 and not section.is_off and (self.is_refuted or section.is_refuted)

    @property
    def _is_found_out(self) -> bool:
        """True for what was found out of each URL by itself: there is nothing that might be wrong for all of them."""
        return self.rule.source == "alias" and self.rule.evidence.correct > 0

    @property
    def _trials(self) -> int:
        return self.rule.tried + self.passed + self.failed

    def is_due(self, url: str, share: float, chance: Random) -> bool:
        """Whether the next use, on this URL, is to be tried; `share` as in `probation.share_tried`."""
        section = self.sections.of(url)
        if self.is_wanting(section):
            return True
        due = share_tried(share, self._trials - self.rule.failed - self.failed, self.rule.failed + self.failed)
        if not self._is_found_out:
            uses = 1 + sum(one.uses for one in self.sections)
            due = audit_chance(uses, due, is_new=not self.rule.tried)
        return chance.random() < due

    def count(self, url: str, chance: Random, *, is_tried: bool, is_fetched: bool) -> None:
        """It was used on a URL, which is to be tried, for its own sake or another rule's, or is not.

        One that is fetched anyway tells nothing of those that are left out: which of them is the last stays as it is.
        """
        self.sections.of(url).uses += 1
        if is_fetched:
            return
        self.untried = 0 if is_tried else self.untried + 1
        self.last_use = "" if is_tried else url
        if is_tried or chance.randrange(self.untried) == 0:
            self.drawn_use = self.last_use

    def take_last(self, share: float, chance: Random) -> set[str]:
        """Uses to test now that nothing more is fetched, each returned once: the last, and one that no site can
        predict.

        They are due where many were not tried, for a site may have changed meanwhile; one use in `share` has been tried
        before much was known of the rule. Of what earlier crawls have found out, which each crawl may use but a few
        times, one is, and as much is tried on the whole. The last use of a rule that a person has brought, and that few
        trials have spoken for, is due anyway: where a crawl ends, that page may be what leads on.
        """
        is_due = self.untried * share >= (1.0 - chance.random() if self._is_found_out else 1)
        uses = {self.drawn_use} if self._is_found_out else {self.drawn_use, self.last_use}
        if not is_due and self.rule.is_by_people and self._trials < TRIALS_OF_NEW:
            is_due, uses = True, {self.last_use}
        if is_due or self._is_found_out:
            self.untried, self.drawn_use, self.last_use = 0, "", ""
        return uses - {""} if is_due else set()

    def is_wanting(self, section: Section) -> bool:
        """True when a use in this section is tried whether it is sampled or not."""
        if section.is_wanting:
            return True
        if not self._is_tried_first:
            return False
        needed = trials_needed(self.rule, 0)
        are_open = sum(one.open for one in self.sections)
        return self._trials + are_open < needed and sum(one.begun for one in self.sections) < _MOST_BEGUN * needed

    def passes_elsewhere(self, section: Section) -> bool:
        """True when the log or a trial of this site spoke for it in another section."""
        elsewhere = known_elsewhere(self.rule)
        others = (other for other in self.sections if other is not section and not other.is_off)
        return any(other.before[0] - elsewhere + other.passed for other in others)

    @property
    def news(self) -> Credit:
        """What trials have shown that is not written yet.

        A counterexample begins with the URL on trial, which says what section is meant. The rule need not change it: it
        may have the form that the rule makes of others, one of which stood for it.
        """
        is_said = self.rule.source == "alias"  # of each URL by itself: no template makes one of another
        ready = None if is_said else CompiledRule(self.rule)
        right = [example(ready, url, site_of(url)) if ready else (url, url) for url in self.sections.proved()]
        wrong = self.sections.failing() if self.revoked else self.sections.refuted()
        passed, failed = self.written
        tried = self.passed + self.failed - passed - failed
        return Credit(tried, self.failed - failed, tuple(filter(None, right)), tuple(wrong))

    def update(self, rule: Rule, note: str) -> Rule:
        """A rule of a file with what is new of it.

        What is revoked for one owner, while the pages of others speak for it, is off for that one only.
        """
        credit, rule = Credit.of(rule).joined(self.news), replace(rule, note=note or rule.note)
        if self.revoked and is_shared(rule, self.owner):
            others = tuple(pair for pair in rule.examples if owner_of(pair[0]) != self.owner)
            return replace(rule, examples=others, counterexamples=credit.counterexamples)
        state = rule.state
        if self.revoked:
            state = "disabled"
        elif state == "probation" and not self.is_on_probation:
            state = "active"
        elif state == self.rule.state == "active" and self.is_on_probation and not rule.is_by_people:
            state = "probation"
        told = replace(credit.told_to(rule), kind=self.rule.kind, state=state)
        is_as_before = self.revoked or rule.is_by_people
        return replace(told, examples=rule.examples, counterexamples=rule.counterexamples) if is_as_before else told
