"""A context put into words: the rule that holds within it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dedupcrawl.urls.learning.context_keys import NO_VALUE
from dedupcrawl.urls.learning.contexts import Condition, Context
from dedupcrawl.urls.rule import Rule, RuleError

_SPECIAL = re.compile(r"[{}]")
_FORMS = {"form", "kind", "part", "sort"}  # conditions whose values are templates
_EXCEPT = {"host": "!{}", "front": "!/{}/{{*}}", "last": "!/{{*}}/{}", "path": "!{}"}


def scoped(rule: Rule, context: Context) -> Rule | None:
    """The rule, within a context; None where the rule language cannot say it."""
    if any(_SPECIAL.search(v) for condition in context if condition.key[0] not in _FORMS for v in condition.values):
        return None
    hosts, within, unless = list(rule.hosts), list(rule.within), set(rule.unless)
    args: dict[str, str] = {}
    places: dict[str, Sequence[str]] = {}
    for condition in context:
        kind, name = condition.key
        if kind in {"has", "arg", "args", "form", "kind"}:
            if not _on_args(condition, args, unless):
                return None
        elif NO_VALUE in condition.values:
            return None
        elif kind in {"part", "sort"}:
            mark = "" if condition.holds else "!"
            within += [f"{mark}{'/{}' * int(name)}/{value}/{{*}}" for value in condition.values]
        elif not condition.holds:
            (hosts if kind == "host" else within).extend(_EXCEPT[kind].format(value) for value in condition.values)
        elif kind == "host":
            hosts += condition.values
        elif kind == "path":
            within += condition.values
        elif kind != "front" or int(name) >= int(places.get("depth", ["0"])[0]):
            places[kind] = condition.values
            if kind == "front":
                places["depth"] = [name]
    if places:
        fronts = [f"/{front}" for front in places["front"]] if "front" in places else [""]
        lasts = places.get("last")
        within += [f"{front}/{{*}}{f'/{last}' if lasts else ''}" for front in fronts for last in lasts or [""]]
    with_args = _with_args(rule.match, rule.to, args)
    if with_args is None:
        return None
    match, to = with_args
    found = replace(rule, hosts=tuple(hosts), within=tuple(within), unless=tuple(sorted(unless)), match=match, to=to)
    try:
        found.templates()
        found.scopes()
    except RuleError:
        return None
    return found


def _on_args(condition: Condition, args: dict[str, str], unless: set[str]) -> bool:
    """Put a condition on arguments into `args` (forms that they must have) and `unless`; False when it cannot be."""
    (kind, name), values = condition.key, condition.values
    if kind == "args":
        args |= dict(zip(name.split("&"), values[0].split("&"), strict=True))
        return True
    if kind in {"form", "kind"}:
        if condition.holds:
            args[name] = values[0]
            return len(values) == 1 and values[0] != NO_VALUE
        unless.update(f"{name}={value}" for value in values)
        return NO_VALUE not in values
    if kind == "has" and (NO_VALUE in values) == condition.holds:
        unless.add(name)
    elif kind == "has":
        args.setdefault(name, "{}")
    elif values == (NO_VALUE,):
        unless.add(name)
    elif len(values) == 1:
        args[name] = values[0]
    elif any("|" in value or not value for value in values) or NO_VALUE in values:
        return False
    else:
        args[name] = "{:" + "|".join(values) + "}"
    return True


def _with_args(match: str, to: str, args: dict[str, str]) -> tuple[str, str] | None:
    """`match` and `to` with these forms of arguments in them; None when a target would have to repeat an open one."""
    for name, form in args.items():
        if f"{name}={{}}" in match:
            match = match.replace(f"{name}={{}}", f"{name}={form}")
        elif f"?{name}=" in match or f"&{name}=" in match:
            return None
        else:
            match += f"{'&' if '?' in match else '?'}{name}={form}"
            if to and form.startswith("{"):
                return None
            if to:
                to += f"{'&' if '?' in to else '?'}{name}={form}"
    return match, to
