"""Which rules of a site only repeat what another rule does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from dedupcrawl.urls.rule import Rule

_ANY, _NONE = "*", ""  # in place of a host: rules for whatever host, rules that name none


def done_in_part(rules: Iterable[Rule]) -> Callable[[Rule], bool]:
    """Tells of any rule whether one of these that is in use changes URLs as it does, except its own exceptions.

    >>> is_done = done_in_part([Rule("a", "rewrite", drop=("sid",), within=("!/search.php",))])
    >>> is_done(Rule("b", "rewrite", drop=("sid",))), is_done(Rule("c", "rewrite", drop=("id",)))
    (True, False)
    """
    by_effect: defaultdict[tuple[object, ...], list[Rule]] = defaultdict(list)  # a site may have thousands of hosts
    for rule in rules:
        if not rule.is_off:
            for host in (_ANY, *(_named(rule.hosts) or (_NONE,))):
                by_effect[_change(rule, host)].append(rule)

    def is_done(rule: Rule) -> bool:
        return any(
            _meet(rule.hosts, one.hosts) and _meet(rule.within, one.within)
            for host in ((_NONE, *_named(rule.hosts)) if _named(rule.hosts) else (_ANY,))
            for one in by_effect.get(_change(rule, host), ())
        )

    return is_done


def on_all_hosts(rules: Iterable[Rule], seen: Iterable[Rule]) -> Iterator[Rule]:
    """The rules of known software on all hosts on which a program was seen since they were written, by their ids."""
    hosts = {one.id: one.hosts for one in seen}
    for rule in rules:
        is_wider = rule.source == "software" and not rule.is_off and {*rule.hosts} < {*hosts.get(rule.id, ())}
        yield replace(rule, hosts=hosts[rule.id]) if is_wider else rule


def where_not_off(rule: Rule, disabled: Iterable[Rule]) -> Rule | None:
    """A rule limited to where none of these, which are off, would do the same; None if that is nowhere.

    >>> off = Rule("a", "rewrite", drop=("v",), within=("/list/{*}",), state="disabled")
    >>> where_not_off(Rule("b", "rewrite", drop=("v",)), [off]).within
    ('!/list/{*}',)
    """
    for one in disabled:
        if _change(rule, "") != _change(one, "") or not _meet(rule.hosts, one.hosts):
            continue
        arguments, off = _named(rule.within), _named(one.within)
        if not off or (arguments and off.issuperset(arguments)):
            return None
        left = (scope for scope in rule.within if scope not in off)
        rule = replace(rule, within=tuple(dict.fromkeys((*left, *(f"!{scope}" for scope in sorted(off))))))
    return rule


def _change(rule: Rule, host: str) -> tuple[object, ...]:
    return host, rule.match, rule.to, rule.drop, rule.convert


def _named(names: Iterable[str]) -> set[str]:
    return {name for name in names if not name.startswith("!")}


def _meet(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two lists of hosts, or of paths, have something in common; nothing named is anything."""
    named = [_named(names) for names in (one, other)]
    common = named[0] & named[1] if all(named) else named[0] | named[1]
    return not any(named) or any(f"!{name}" not in (*one, *other) for name in common)
