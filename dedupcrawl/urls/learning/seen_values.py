"""Rules kept to what was seen: of which arguments the value is irrelevant, and which of its values are.

That `?page=1` is the page itself says nothing of `?page=2`, and a log may well hold the first only. So a rule that asks
nothing of a value, because no other one came, is kept to those that came: it is for any value when many have been seen
to make no difference, and for all of a kind (numbers, hexadecimal tokens of one length) when several of this kind have.
Where all were such tokens, it is for these: that `?s=` and 32 hexadecimal digits are a session says nothing of `?s=a`.
Where the log refuted a value, and the rule has an exception for it, others that did not come may matter as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from dedupcrawl.urls.learning.argument_forms import OPEN, argument_forms, with_argument
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.template import SHORTEST_TOKEN

MANY = 6  # values that made no difference: the others make none either
MANY_REFUTED = 40  # ... where an exception names another one of their kind, which does
_SEVERAL = 3  # ... of one kind: the others of this kind make none
_LONGEST_NUMBER = 20  # digits
UNSAYABLE = re.compile(r"[{}#&;|]")  # in a template
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")

Values = Set[str | None]  # None for an argument without "="


def open_arguments(rule: Rule) -> list[str]:
    """Names of the arguments that the rule takes out or forgets, whatever their values.

    >>> open_arguments(Rule("a", "rewrite", drop=("sid", "utm_*")))
    ['sid']
    >>> open_arguments(Rule("b", "rewrite", match="?id={}&page=1", drop=("page",)))
    []
    """
    args = argument_forms(rule.match)
    if rule.drop:
        return [name for name in rule.drop if name[-1] != "*" and args.get(name, OPEN) == OPEN]
    return [name for name, form in args.items() if rule.to and form == OPEN]


def kept_to_seen(rule: Rule, seen: Mapping[str, Values]) -> list[Rule]:
    """The rule, for the values for which there is evidence; several, where no single rule can say it.

    Args:
        rule: To be kept to them.
        seen: Of each of its open arguments the values that made no difference; of one that is not among them nothing is
            known, and it stays open.
    """
    few = {}
    for name, values in seen.items():
        if len(values) < MANY_REFUTED and _is_refuted(rule, name):
            few[name] = _forms(name, values)
        elif not _is_any(values):
            few[name] = _forms(name, values, kind_of(_words(values)))
    if not few:
        return [rule]
    found = []
    if rule.drop:
        rest = tuple(name for name in rule.drop if name not in few)
        if rest:
            found.append(replace(rule, drop=rest))
        alone = [
            replace(rule, drop=(name,), match=with_argument(rule.match, name, form))
            for name in few
            for form in few[name]
        ]
        found += [one for one in alone if is_sayable(one)]
    else:
        found = [rule]
        for name, forms in few.items():
            found = [replace(one, match=with_argument(one.match, name, form)) for one in found for form in forms]
        found = [one for one in found if is_sayable(one)]
    return [replace(one, id=f"{rule.id}-{i}" if i else rule.id) for i, one in enumerate(found)]


def _is_any(values: Values) -> bool:
    return len(values) >= MANY and kind_of([value for value in values if value]) != "token"


def _is_refuted(rule: Rule, name: str) -> bool:
    """True when an exception names a value of the argument (`page=25`): those that were not seen may matter, too."""
    values = [value for form in rule.unless for key, equals, value in [form.partition("=")] if equals and key == name]
    return any("{" not in value for value in values)


def _words(values: Values) -> list[str]:
    return sorted(value for value in values if value and not UNSAYABLE.search(value))


def _forms(name: str, values: Values, kind: str = "") -> list[str]:
    """These values as arguments of a template, or their kind."""
    words = _words(values)
    forms = []
    if kind:
        forms.append(f"{name}={{:{kind}}}")
    elif words:
        forms.append(f"{name}={words[0]}" if len(words) == 1 else f"{name}={{:{'|'.join(words)}}}")
    return forms + [f"{name}="] * ("" in values) + [name] * (None in values)


def kind_of(words: Sequence[str]) -> str:
    """The one kind of these values, if there are several of it; else empty."""
    if not words:
        return ""
    if all(word.isascii() and word.isdigit() and len(word) <= _LONGEST_NUMBER for word in words):
        return "digits" if len({int(word) for word in words}) >= _SEVERAL else ""
    lengths = set(map(len, words))
    is_token = len(lengths) == 1 and min(lengths) >= SHORTEST_TOKEN and all(map(_HEX.fullmatch, words))
    return "token" if is_token and len(words) >= _SEVERAL else ""


def is_sayable(rule: Rule) -> bool:
    """Whether the rule language can say it."""
    try:
        rule.templates()
    except RuleError:
        return False
    return True
