"""The rule book: the rules in use, what trials say of each, and what becomes of it in its file."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from dedupcrawl.counts import counted
from dedupcrawl.printable import printable
from dedupcrawl.sites import site_of
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.probation import is_refuted, is_sampled, known_before, leads_nowhere, trials_needed
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_edits import change_rules
from dedupcrawl.urls.rule_files import read_rules

logger = logging.getLogger(__name__)

_MOST_BEGUN = 2  # trials begun for each that is needed: some tell nothing


@dataclass(slots=True)
class _Watched:
    """A rule and what this crawl did with it.

    Attributes:
        rule: As it was in its file.
        before: What counts like trials that passed and that failed, before this crawl.
        uses: Of this crawl, as are all others.
        begun: Trials.
        open: Of them.
        passed: Of them.
        failed: Of them.
        gone: URLs that have a page while what the rule made of them has none.
        written: How many of those that passed and failed are in the file.
    """

    rule: Rule
    before: tuple[int, int]
    uses: int = 0
    begun: int = 0
    open: int = 0
    passed: int = 0
    failed: int = 0
    gone: int = 0
    written: tuple[int, int] = (0, 0)

    @property
    def is_on_probation(self) -> bool:
        return self.rule.state == "probation" or bool(self.failed)

    @property
    def trials_needed(self) -> int:
        return trials_needed(self.rule, self.rule.failed + self.failed)

    @property
    def trials(self) -> int:
        """That are known of, in this crawl and in earlier ones."""
        return self.rule.tried + self.passed + self.failed

    @property
    def is_refuted(self) -> bool:
        return bool(self.failed) and is_refuted(self.before[0] + self.passed, self.before[1] + self.failed)


def _badness(one: _Watched) -> tuple[float, int, int]:
    """The greater, the more a rule is to blame."""
    return one.failed / (one.passed + one.failed), one.failed, -one.rule.evidence.correct


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
        self._failures: dict[str, list[tuple[str, str, tuple[str, ...]]]] = defaultdict(list)
        self._revoked: dict[str, set[str]] = defaultdict(set)
        self._unwritten: list[tuple[str, _Watched, str]] = []  # revoked rules and their notes, of which no file tells
        self._culprits: dict[str, dict[tuple[object, ...], str]] = {}  # site → effect of a revoked rule → why

    def is_due(self, url: str, rules: tuple[str, ...]) -> bool:
        """Count one use of these rules, on a URL of their site; True when it shall be tried."""
        due = False
        for one in self._of(url, rules):
            one.uses += 1
            needed = one.trials_needed
            wanted = one.is_on_probation and one.trials + one.open < needed and one.begun < _MOST_BEGUN * needed
            due = due or wanted or is_sampled(one.uses, self._every)
        return due

    def begin(self, url: str, rules: tuple[str, ...]) -> None:
        """A trial of these rules has begun."""
        for one in self._of(url, rules):
            one.begun += 1
            one.open += 1

    def end(self, url: str, rules: tuple[str, ...]) -> None:
        """It has ended, in whatever way."""
        for one in self._of(url, rules):
            one.open = max(0, one.open - 1)

    def passed(self, url: str, rules: tuple[str, ...]) -> None:
        """The rules made of this URL one that leads to the same page."""
        for one in self._of(url, rules):
            one.passed += 1

    def failed(self, url: str, canonical: str, rules: tuple[str, ...]) -> list[str]:
        """The rules made of this URL one that leads to another page; ids of the rules that are revoked for it.

        When several rules had a part in it, the worst is taken for the culprit, and the others are cleared of what
        they did together with it. While none stands out, none is revoked: all are tried at every use until one does.
        """
        site = site_of(url)
        if not self._revoked[site].isdisjoint(rules):
            return []  # begun before the culprit was found
        self._failures[site].append((url, canonical, rules))
        for one in self._of(url, rules):
            one.failed += 1
        refuted = sorted((one for one in self._of(url, rules) if one.is_refuted), key=_badness, reverse=True)
        if not refuted or (len(refuted) > 1 and _badness(refuted[0])[:2] == _badness(refuted[1])[:2]):
            return []
        self._revoke_for_failing(site, refuted[0])
        return [refuted[0].rule.id]

    def decide(self) -> dict[str, list[str]]:
        """Nothing more is tried: revoke of those that may be the culprits the worst; site → ids of the revoked."""
        revoked: dict[str, list[str]] = {}
        for site, watched in self._sites.items():
            while refuted := [one for one in watched.values() if one.is_refuted]:
                worst = max(refuted, key=_badness)
                self._revoke_for_failing(site, worst)
                revoked.setdefault(site, []).append(worst.rule.id)
        return revoked

    def gone(self, url: str, canonical: str, rules: tuple[str, ...]) -> list[str]:
        """The rules made of this URL, which has a page, one that has none; ids of the rules that are revoked for it."""
        revoked = []
        for one in self._of(url, rules):
            one.gone += 1
            if leads_nowhere(one.before[0] + one.passed, one.gone):
                said = f"{counted(one.gone, 'URL')} led nowhere, such as {url} → {canonical}"
                self._revoke(site_of(url), one, said)
                revoked.append(one.rule.id)
        return revoked

    def save(self) -> None:
        """Write what this crawl has found out into the rule files.

        Of a rule that has passed its probation, and passes again, there is no news: its file stays as it is.
        """
        unwritten, self._unwritten = self._unwritten, []
        for site, one, note in unwritten:
            self._write(site, [one], note)
        for site, watched in self._sites.items():
            self._write(
                site, [one for one in watched.values() if one.is_on_probation or one.written[1] > one.failed], ""
            )

    def reread(self) -> None:
        """The rule files were written anew: save what is known, and take the rules as they are now.

        What was revoked meanwhile stays revoked.
        """
        self.save()
        self._sites.clear()
        self._failures.clear()
        self._revoked.clear()
        self._normalizer.enable_all()
        for site, revoked in self._culprits.items():
            for rule in self._normalizer.rules_of(site):
                if rule.effect in revoked and rule.state != "disabled":
                    self._revoke(site, _Watched(rule, (0, 0)), revoked[rule.effect])

    def _of(self, url: str, rules: tuple[str, ...]) -> list[_Watched]:
        site = site_of(url)
        watched = self._sites.get(site)
        if watched is None:
            found = self._normalizer.rules_of(site)
            watched = self._sites[site] = {
                rule.id: _Watched(rule, known_before(rule)) for rule in found if rule.state != "disabled"
            }
        return [watched[rule] for rule in rules if rule in watched]

    def _revoke_for_failing(self, site: str, culprit: _Watched) -> None:
        url, canonical = next((u, c) for u, c, rules in self._failures[site] if culprit.rule.id in rules)
        trials = counted(culprit.passed + culprit.failed, "trial")
        said = f"{culprit.failed} of {trials} led to another page, such as {url} → {canonical}"
        self._revoke(site, culprit, said)

    def _revoke(self, site: str, culprit: _Watched, said: str) -> None:
        name = culprit.rule.id
        self._sites.get(site, {}).pop(name, None)
        self._culprits.setdefault(site, {})[culprit.rule.effect] = said
        self._revoked[site].add(name)
        for failure in [failure for failure in self._failures[site] if name in failure[2]]:
            self._failures[site].remove(failure)
            for other in failure[2]:
                if other in self._sites.get(site, {}):
                    self._sites[site][other].failed -= 1
        self._normalizer.disable(site, name)
        note = f"revoked on {date.today()}: {said}"
        logger.warning("Rule %s of %s: %s", printable(name), printable(site), printable(note))
        self._write(site, [culprit], note)

    def _write(self, site: str, those: Sequence[_Watched], note: str) -> None:
        """Put counts and states into the site's file; with a `note` they are disabled for that."""
        path = self._normalizer.file_of(site)
        news = {one.rule.id: one for one in those if note or (one.passed, one.failed) != one.written}
        if path is None or not news:
            return
        try:
            rules = read_rules(path).rules
            changes = {n: _updated(rule, news[rule.id], note) for n, rule in enumerate(rules) if rule.id in news}
            change_rules(path, changes)
        except (OSError, RuleError, ValueError) as error:
            logger.error("What trials say of the rules of %s cannot be written: %s", printable(site), error)
            self._unwritten += [(site, one, note) for one in those if note]
            return
        for one in news.values():
            one.written = one.passed, one.failed


def _updated(rule: Rule, one: _Watched, note: str) -> Rule:
    """A rule of a file with what is new of it."""
    state = rule.state
    if note:
        state = "disabled"
    elif state == "probation" and one.trials >= one.trials_needed:
        state = "active"
    failed = max(0, rule.failed + one.failed - one.written[1])
    tried = max(failed, rule.tried + one.passed + one.failed - sum(one.written))  # as a rule file wants it
    return replace(rule, state=state, tried=tried, failed=failed, note=note or rule.note)
