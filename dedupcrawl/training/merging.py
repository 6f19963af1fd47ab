"""The rules of a site after a training run: new rules are merged with old ones, and a person's decisions stay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from dedupcrawl.urls.credits import MOST_EXAMPLES
from dedupcrawl.urls.overlaps import done_in_part, where_not_off
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import MOST_RULES, added


def merged(old: Iterable[Rule], learned: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules of a file after a training run.

    A rule that a person or a trial has switched off stays off where it was, whatever scope it is learned with now. A
    doubted rule is removed if a rule of known software or of a person is in use for fewer URLs.
    """
    before = tuple(old)
    by_effect = {rule.effect: rule for rule in before}
    kept = [rule for rule in before if not is_learned(rule)]
    off = [rule for rule in kept if rule.state == "disabled" and not _is_refuted_by_log(rule)]
    new = [rule for one in learned if (rule := one if one.effect in by_effect else where_not_off(one, off)) is not None]
    is_done = done_in_part(filter(Rule.is_given, [*kept, *new]))
    watched = [
        _watched(rule, by_effect.get(rule.effect)) for rule in new if rule.state != "doubted" or not is_done(rule)
    ]
    return added(kept, watched, {rule.id: rule for rule in before})[:MOST_RULES]  # a file of more could not be read


def _is_refuted_by_log(rule: Rule) -> bool:
    """Known of other sites, and no trial spoke against it: what is learned besides is for where it is right."""
    return rule.source in {"software", "prior"} and not rule.failed and rule.evidence.wrong > 0


def is_learned(rule: Rule) -> bool:
    """True for what training and crawls wrote, and nobody switched off."""
    return not rule.is_by_people and rule.state != "disabled"


def _watched(rule: Rule, before: Rule | None) -> Rule:
    """A learned rule with what crawls have found out of the same rule before, and with the id that they know it by."""
    is_off = rule.is_off  # known software's, that the log speaks against
    if before is None:
        return replace(rule, state=rule.state if is_off else "probation", learned=rule.learned or date.today())
    return replace(
        rule,
        id=before.id,
        state=rule.state if is_off else "probation" if before.state == "doubted" else before.state,
        tried=before.tried,
        failed=before.failed,
        learned=before.learned,
        counterexamples=before.counterexamples,
        examples=tuple(dict.fromkeys((*rule.examples, *before.examples)))[:MOST_EXAMPLES],
    )
