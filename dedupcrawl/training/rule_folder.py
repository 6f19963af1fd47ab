"""New rules beside old ones: what a person decided outlives a training run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from dedupcrawl.sites import ascii_form
from dedupcrawl.urls.overlaps import done_in_part
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_edits import replace_rules
from dedupcrawl.urls.rule_files import MOST_RULES, SiteRules, file_of, path_in, read_rules, write_rules
from dedupcrawl.urls.watched_rule import MOST_EXAMPLES


def carried_over_rules(files: Mapping[str, Path], site: str) -> tuple[Rule, ...]:
    """The rules of a site that were learned from earlier logs and are in use.

    Args:
        files: As from `rule_files`.
        site: Its name.
    """
    path = file_of(files, site)
    return () if path is None else learned_rules(path)


def learned_rules(path: Path) -> tuple[Rule, ...]:
    """Those of one rule file; none if it cannot be read."""
    try:
        return tuple(filter(_is_learned, read_rules(path).rules))
    except RuleError:
        return ()


def write_learned(folder: Path, learned: SiteRules, carried_over: Sequence[Rule] = ()) -> str | None:
    """Write a site's learned rules over its earlier learned rules, of which `carried_over` stay, atomically.

    Rules by hand and imported ones stay, and stay first; so do disabled ones, and a rule that is learned again after it
    was disabled stays disabled. Comments at what stays, stay. What crawls have tried of a rule stays, too, and the day
    when it was first learned; a rule that is new has today's, and is on probation.

    Returns:
        What is wrong with the site's present file when it cannot be read, or is for another site; it is then left as it
        is, for a person wrote in it. None when all is well.

    Raises:
        OSError: The file cannot be written.
    """
    path = path_in(folder, learned.site)
    if not path.exists():
        write_rules(folder, SiteRules(learned.site, merged((), [*learned.rules, *carried_over])))
        return None
    try:
        present = read_rules(path)
        if ascii_form(present.site) != ascii_form(learned.site):
            return f"{path}: it is for the site {present.site}, so rules of {learned.site} cannot be written into it"
        before = present.rules
        after = merged(before, [*learned.rules, *carried_over])
        if after != before:
            replace_rules(path, after)
    except RuleError as error:
        return str(error)
    return None


def merged(old: Iterable[Rule], learned: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules of a file after a training run; what is doubted goes where it is in use for fewer URLs."""
    before, learned = tuple(old), tuple(learned)
    known = {rule.effect: rule for rule in before}
    kept = [rule for rule in before if not _is_learned(rule)]
    is_done = done_in_part([*kept, *learned])
    watched = [
        _watched(rule, known.get(rule.effect)) for rule in learned if rule.state != "doubted" or not is_done(rule)
    ]
    return added(kept, watched, {rule.id: rule for rule in before})[:MOST_RULES]  # a file of more could not be read


def _is_learned(rule: Rule) -> bool:
    return not rule.is_by_people and rule.state != "disabled"


def _watched(rule: Rule, before: Rule | None) -> Rule:
    """A learned rule with what crawls have found out of the same rule before, and with the id that they know it by."""
    if rule.is_off:  # known software's, that the log speaks against
        return replace(rule, tried=before.tried, failed=before.failed) if before else rule
    if before is None:
        return replace(rule, state="probation", learned=rule.learned or date.today())
    return replace(
        rule,
        id=before.id,
        state="probation" if before.state == "doubted" else before.state,
        tried=before.tried,
        failed=before.failed,
        learned=before.learned,
        counterexamples=before.counterexamples,
        names_at=before.names_at,
        examples=tuple(dict.fromkeys((*rule.examples, *before.examples)))[:MOST_EXAMPLES],
    )


def added(old: Iterable[Rule], new: Iterable[Rule], reserved: Mapping[str, Rule] | None = None) -> tuple[Rule, ...]:
    """The old rules and after them the new ones that do something else than those before; their ids differ.

    Args:
        old: They keep their ids.
        new: Renamed where their id is taken.
        reserved: Id → the rule that had it before; no other rule gets it.
    """
    rules = list(old)
    does = {rule.effect for rule in rules}
    owners = {name: rule.effect for name, rule in (reserved or {}).items()} | {rule.id: rule.effect for rule in rules}
    numbers: dict[str, int] = {}  # id → the last number that was put to it
    for rule in new:
        if rule.effect in does:
            continue
        name = rule.id
        while owners.get(name, rule.effect) != rule.effect:
            numbers[rule.id] = numbers.get(rule.id, 1) + 1
            name = f"{rule.id}-{numbers[rule.id]}"
        does.add(rule.effect)
        owners[name] = rule.effect
        rules.append(replace(rule, id=name))
    return tuple(rules)
