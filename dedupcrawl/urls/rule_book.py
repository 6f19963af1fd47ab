"""The rule book: the rules in use, what trials say of each, and what becomes of it in its file."""

from __future__ import annotations

import logging
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import date

from dedupcrawl.sites import site_of
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.probation import is_refuted, is_sampled, remembered, trials_needed
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_edits import change_rule
from dedupcrawl.urls.rule_files import read_rules

logger = logging.getLogger(__name__)

_MOST_OPEN = 2  # trials begun for each that is needed: some never come to an end


@dataclass(slots=True)
class _Watched:
    """A rule and what this crawl did with it; `passed` and `failed` also hold what is remembered of earlier ones."""

    rule: Rule
    passed: int
    failed: int
    uses: int = 0
    begun: int = 0
    new_passed: int = 0
    new_failed: int = 0

    @property
    def is_on_probation(self) -> bool:
        return self.rule.state == "probation" or bool(self.new_failed)


class RuleBook:
    """Counts uses and trials by rule, revokes what its trials refute, and writes both into the rule files.

    Args:
        normalizer: Whose rules these are; what is revoked is switched off there at once.
        share: Of the uses of a rule that has passed its probation, how many are tried, in (0, 1].
    """

    def __init__(self, normalizer: Normalizer, share: float) -> None:
        self._normalizer = normalizer
        self._every = max(1, round(1 / share))
        self._sites: dict[str, dict[str, _Watched]] = {}
        self._failures: dict[str, list[tuple[str, ...]]] = defaultdict(list)  # site → rules of each failed trial

    def is_due(self, url: str, rules: tuple[str, ...]) -> bool:
        """Count one use of these rules, on a URL of their site; True when it shall be tried."""
        due = False
        for one in self._of(url, rules):
            one.uses += 1
            needed = trials_needed(one.rule, one.failed)
            wanted = one.is_on_probation and one.passed + one.failed < needed and one.begun < _MOST_OPEN * needed
            due = due or wanted or is_sampled(one.uses, self._every)
        return due

    def begin(self, url: str, rules: tuple[str, ...]) -> None:
        """A trial of these rules has begun."""
        for one in self._of(url, rules):
            one.begun += 1

    def passed(self, url: str, rules: tuple[str, ...]) -> None:
        """The rules made of this URL one that leads to the same page."""
        for one in self._of(url, rules):
            one.passed += 1
            one.new_passed += 1

    def failed(self, url: str, canonical: str, rules: tuple[str, ...]) -> list[str]:
        """The rules made of this URL one that leads to another page; ids of the rules that are revoked for it.

        When several rules had a part in it, the worst is taken for the culprit, and the others are cleared of what
        they did together with it.
        """
        site = site_of(url)
        self._failures[site].append(rules)
        for one in self._of(url, rules):
            one.failed += 1
            one.new_failed += 1
        revoked = []
        while refuted := [one for one in self._of(url, rules) if is_refuted(one.passed, one.failed)]:
            worst = max(refuted, key=lambda one: (one.failed / (one.passed + one.failed), -one.rule.evidence.correct))
            self._revoke(site, worst, f"{url} → {canonical}")
            revoked.append(worst.rule.id)
        return revoked

    def save(self) -> None:
        """Write what this crawl has found out into the rule files."""
        for site, watched in self._sites.items():
            for one in watched.values():
                if one.new_passed or one.new_failed:
                    self._write(site, one, "")

    def reread(self) -> None:
        """The rule files have changed: save what is known, and take the rules as they are now."""
        self.save()
        self._sites.clear()
        self._failures.clear()

    def _of(self, url: str, rules: tuple[str, ...]) -> list[_Watched]:
        site = site_of(url)
        watched = self._sites.get(site)
        if watched is None:
            found = self._normalizer.rules_of(site)
            watched = self._sites[site] = {
                rule.id: _Watched(rule, *remembered(rule)) for rule in found if rule.state != "disabled"
            }
        return [watched[rule] for rule in rules if rule in watched]

    def _revoke(self, site: str, culprit: _Watched, example: str) -> None:
        name = culprit.rule.id
        del self._sites[site][name]
        for rules in [rules for rules in self._failures[site] if name in rules]:
            self._failures[site].remove(rules)
            for other in rules:
                if other in self._sites[site]:
                    self._sites[site][other].failed -= 1
                    self._sites[site][other].new_failed -= 1
        self._normalizer.disable(site, name)
        tried = culprit.passed + culprit.failed
        note = f"revoked on {date.today()}: {culprit.failed} of {tried} trials led to another page, such as {example}"
        logger.warning("The rule %s of %s is %r.", name, site, note)
        self._write(site, culprit, note)

    def _write(self, site: str, one: _Watched, note: str) -> None:
        """Put the counts into the rule's file, and its state; with a `note` it is disabled for that."""
        path = self._normalizer.file_of(site)
        if path is None:
            return
        passed, failed = one.new_passed, one.new_failed
        one.new_passed = one.new_failed = 0
        try:
            rules = read_rules(path).rules
            number = next((n for n, rule in enumerate(rules) if rule.id == one.rule.id), None)
            if number is None:
                return
            rule = rules[number]
            state = rule.state
            if note:
                state = "disabled"
            elif state == "probation" and one.passed + one.failed >= trials_needed(rule, one.failed):
                state = "active"
            tried, failures = rule.tried + passed + failed, rule.failed + failed
            change_rule(path, number, replace(rule, state=state, tried=tried, failed=failures, note=note or rule.note))
        except (OSError, RuleError, ValueError) as error:
            logger.error("What trials say of the rule %s of %s cannot be written: %s", one.rule.id, site, error)
