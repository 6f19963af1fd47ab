"""New rules beside old ones: what a person decided outlives a training run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import SiteRules, file_name, read_rules, write_rules

_BY_PEOPLE = ("hand", "imported")


def write_learned(folder: Path, learned: SiteRules) -> str | None:
    """Write a site's learned rules over its former learned rules, atomically.

    Rules by hand and imported ones stay, and stay first; so do disabled ones, and a rule that is learned again after it
    was disabled stays disabled. What crawls have tried of a rule stays, too; a rule that is new is on probation.

    Returns:
        What is wrong with the site's present file when it cannot be read; it is then left as it is, for a person wrote
        in it. None when all is well.

    Raises:
        OSError: The file cannot be written.
    """
    path = folder / file_name(learned.site)
    old: tuple[Rule, ...] = ()
    if path.exists():
        try:
            old = read_rules(path).rules
        except RuleError as error:
            return str(error)
    write_rules(folder, SiteRules(learned.site, merged(old, learned.rules)))
    return None


def merged(old: Iterable[Rule], learned: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules of a file after a training run."""
    before = tuple(old)
    known = {_what_it_does(rule): rule for rule in before}
    kept = (rule for rule in before if rule.source in _BY_PEOPLE or rule.state == "disabled")
    return added(kept, (_watched(rule, known.get(_what_it_does(rule))) for rule in learned))


def _watched(rule: Rule, before: Rule | None) -> Rule:
    """A learned rule with what crawls have found out of the same rule before."""
    if before is None:
        return replace(rule, state="probation")
    return replace(rule, state=before.state, tried=before.tried, failed=before.failed)


def added(old: Iterable[Rule], new: Iterable[Rule]) -> tuple[Rule, ...]:
    """The old rules and after them the new ones that do something else than those before; their ids differ."""
    rules = list(old)
    does = {_what_it_does(rule) for rule in rules}
    taken = {rule.id for rule in rules}
    for rule in new:
        if _what_it_does(rule) in does:
            continue
        number, name = 2, rule.id
        while name in taken:
            name, number = f"{rule.id}-{number}", number + 1
        does.add(_what_it_does(rule))
        taken.add(name)
        rules.append(replace(rule, id=name))
    return tuple(rules)


def _what_it_does(rule: Rule) -> tuple[object, ...]:
    return rule.hosts, rule.within, rule.match, rule.unless, rule.to, rule.drop, rule.convert
