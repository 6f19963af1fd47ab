"""A context put into words: the rule that holds within it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dedupcrawl.urls.learning.argument_forms import OPEN, argument_forms, with_argument
from dedupcrawl.urls.learning.context_keys import NO_VALUE
from dedupcrawl.urls.learning.contexts import Condition, Context
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.template import BRACES

_FORMS = {"form", "kind", "part", "sort"}  # conditions whose values are templates
_MOST_SCOPES = 100  # of a rule
_EXCEPT = {"front": "!/{}/{{*}}", "last": "!/{{*}}/{}", "path": "!{}"}


def scoped(rule: Rule, context: Context) -> Rule | None:
    """The rule, within a context; None where the rule language cannot say it."""
    if any(BRACES.search(v) for condition in context if condition.key[0] not in _FORMS for v in condition.values):
        return None
    hosts, within, unless = list(rule.hosts), list(rule.within), set(rule.unless)
    args: dict[str, str] = {}
    paths = _Paths()
    for condition in context:
        kind, name = condition.key
        if kind in {"has", "arg", "args", "form", "kind"}:
            if not _on_args(condition, args, unless):
                return None
        elif NO_VALUE in condition.values:
            return None
        elif kind == "host":
            hosts += condition.values if condition.holds else (f"!{value}" for value in condition.values)
        elif condition.holds:
            paths.add(condition)
        elif kind in {"part", "sort"}:
            within += [f"!{'/{}' * int(name)}/{value}/{{*}}" for value in condition.values]
        else:
            within += [_EXCEPT[kind].format(value) for value in condition.values]
    within += paths.templates()
    if len(within) > _MOST_SCOPES:
        return None
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


@dataclass(slots=True)
class _Paths:
    """What a path must be like, all of it at once: a rule holds where one of its templates fits.

    Attributes:
        whole: Paths.
        fronts: What they begin with; of several depths the deepest, which says the others.
        depth: Segments of these.
        segments: Place of a segment → its forms, the finest that there are.
        lasts: What they end with.
    """

    whole: tuple[str, ...] = ()
    fronts: tuple[str, ...] = ("",)
    depth: int = 0
    segments: dict[int, tuple[str, ...]] = field(default_factory=dict)
    lasts: tuple[str, ...] = ("",)

    def add(self, condition: Condition) -> None:
        """One more condition that holds."""
        (kind, name), values = condition.key, condition.values
        if kind == "path":
            self.whole = values
        elif kind == "last":
            self.lasts = tuple(f"/{value}" for value in values)
        elif kind == "front":
            if int(name) > self.depth:
                self.fronts, self.depth = tuple(f"/{value}" for value in values), int(name)
        elif kind == "part" or int(name) not in self.segments:
            self.segments[int(name)] = values

    def templates(self) -> list[str]:
        """Paths and fronts are literal, and were seen with the forms: what they say of a segment is enough."""
        if self.whole:
            return list(self.whole)
        middles, depth = [""], self.depth
        for place in sorted(self.segments):
            if place >= depth:
                open_ = "/{}" * (place - depth)
                middles = [f"{middle}{open_}/{form}" for middle in middles for form in self.segments[place]]
                depth = place + 1
        found = [f"{front}{middle}/{{*}}{last}" for front in self.fronts for middle in middles for last in self.lasts]
        return [] if found == ["/{*}"] else found


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
    forms = argument_forms(match)
    for name, form in args.items():
        if forms.get(name, OPEN) != OPEN:
            return None
        if to and name not in forms:
            if form.startswith("{"):
                return None
            to += f"{'&' if '?' in to else '?'}{name}={form}"
        match = with_argument(match, name, f"{name}={form}")
    return match, to
