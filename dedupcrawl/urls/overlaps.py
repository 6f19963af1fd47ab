"""Which rules of a site do again what an earlier one has done."""

from __future__ import annotations

from collections.abc import Iterable

from dedupcrawl.urls.rule import Rule


def dropped_before(rules: Iterable[Rule]) -> dict[str, tuple[str, ...]]:
    """Rule → ids of the rules before it that drop, wherever it applies, some of the arguments that it drops.

    They are applied in their order, so nothing of these is left for the later one. One that is disabled drops nothing.

    >>> dropped_before([Rule("a", "rewrite", drop=("s*",)), Rule("b", "rewrite", drop=("lang", "sid"))])
    {'b': ('a',)}
    """
    found = {}
    before: list[Rule] = []
    for rule in rules:
        earlier = tuple(
            other.id
            for other in before
            if _scope(other) in (_EVERYWHERE, _scope(rule)) and any(_drops(other, name) for name in rule.drop)
        )
        if earlier:
            found[rule.id] = earlier
        if rule.state != "disabled" and rule.drop and not rule.to:
            before.append(rule)
    return found


def _scope(rule: Rule) -> tuple[object, ...]:
    return rule.hosts, rule.within, rule.match, rule.unless


_EVERYWHERE = _scope(Rule("", "rewrite"))


def _drops(rule: Rule, name: str) -> bool:
    return any(name == own or (own.endswith("*") and name.startswith(own[:-1])) for own in rule.drop)
