"""Rules of arguments kept to the places of a site where they were seen to hold.

That `zoom=` makes no difference at `/view?doc=7&zoom=2` says nothing of `/map?zoom=2`, which may not be in the log. So
a rule that takes an argument out, or forgets or changes its value, is for any path only if it held at many; else it is
kept to these: to a script as a whole (`/view`, `/forum/viewtopic.php`) where other arguments tell its pages apart, or
to a section (`/news/{}/{*}`). Much software has one script for all, of which an argument tells the kind of page
(`?route=product/product`): such an argument is one that all the evidence has, with few words for many pages.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.argument_forms import argument_forms, with_argument
from dedupcrawl.urls.learning.seen_sections import Met, section
from dedupcrawl.urls.learning.seen_values import MANY, UNSAYABLE, is_sayable
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import BRACES
from dedupcrawl.urls.url_parts import UrlParts

_PAGES_OF_A_WORD = 3  # that an argument has at least, on average, if it tells the kind of page
_LONGEST_WORD = 64  # characters
_TOKEN = re.compile(r"(?=.*[0-9])[A-Za-z0-9]{8,}")  # letters and digits without a delimiter
_SCRIPT = re.compile(r"\.(?!html?$)[A-Za-z]\w{0,4}$")
_Found = tuple[UrlParts, UrlParts, int]  # before, after, form
_EXCEPTION = re.compile(r"!/([^/{}]+)/.*")  # of a section


def is_of_arguments(rule: Rule) -> bool:
    """True when a rule is about arguments alone, on any path."""
    match, to = rule.templates()
    if rule.convert or any(not scope.startswith("!") for scope in rule.within):
        return False
    if match is not None and (match.path is not None or match.host or match.scheme):
        return False
    return bool(rule.drop) or (match is not None and to is not None and bool(match.args))


def kept_to_seen_places(rule: Rule, met: Sequence[Met], others: Sequence[Rule], site: str) -> Rule:
    """The rule, within the places for which there is evidence, if these are few.

    Args:
        rule: One that `is_of_arguments`.
        met: URLs that it was right about, and those that they met.
        others: All rules of the site.
        site: Of these URLs.
    """
    found = list(_found(rule, met, others, site))
    if not found:
        return rule
    template = rule.templates()[1]
    by_path = template is not None and template.whole is not None  # `?url={url}` is where it leads
    places = _places(found, by_path)
    kept = rule
    if places and len(places) < MANY:
        sections = {place.split("/")[1] for place in places}
        exceptions = [one for one in rule.within if not (at := _EXCEPTION.fullmatch(one)) or section(at[1]) in sections]
        kept = replace(rule, within=(*exceptions, *sorted(places)))
    if rule.drop and rule.drop != ("*",):
        in_use = _taken_out(others) | argument_forms(rule.match).keys()
        for name, form in _in_common([after for _, after, _ in found], len({form for _, _, form in found})):
            if name not in in_use:
                kept = replace(kept, match=with_argument(kept.match, name, f"{name}={form}"))
    return kept if is_sayable(kept) else rule


def _found(rule: Rule, met: Sequence[Met], others: Sequence[Rule], site: str) -> Iterator[_Found]:
    """URLs as the rule finds them, and what it makes of them, where what it takes out made no difference."""
    compiled = CompiledRule(rule)
    movers = [CompiledRule(other) for other in others if other.to and other.match]
    values: dict[int, set[tuple[str, ...]]] = defaultdict(set)
    for one in met:
        values[one.form].add(_values(one.parts, rule.drop))
    for one in met:
        if not one.changed or (rule.drop and len(values[one.form]) < 2):
            continue
        parts = one.parts
        if after := compiled.apply(parts, site):
            yield parts, after, one.form
        moved = parts
        for mover in movers:
            moved = mover.apply(moved, site) or moved
        if moved is not parts and (after := compiled.apply(moved, site)):
            yield moved, after, one.form


def _values(parts: UrlParts, names: Sequence[str]) -> tuple[str, ...]:
    """The arguments of these names; all, if one of them is a wildcard."""
    is_any = any(name[-1] == "*" for name in names)
    return tuple(arg for arg, name in zip(parts.args, parts.names(), strict=True) if is_any or name in names)


def _taken_out(rules: Sequence[Rule]) -> set[str]:
    """Names of arguments that a rule takes out or moves: a URL may not have them when another is tried."""
    moved = {name for rule in rules if rule.to for name in argument_forms(rule.match)}
    return moved.union(*(rule.drop for rule in rules))


def _places(found: Sequence[_Found], by_path: bool) -> set[str]:
    """Templates of the paths of the evidence; without those that cannot be said, of which an enemy may plant one."""
    exact = {_place(parts, by_path or _is_of_script(after)) for parts, after, _ in found} - {""}
    if exact and len(exact) < MANY:
        return exact
    return {_place(parts, False) for parts, _, _ in found} - {""}


def _is_of_script(after: UrlParts) -> bool:
    """True when arguments tell which page of a script it is."""
    named = [segment for segment in after.segments if segment]
    return bool(after.args) and (len(named) < 2 or bool(_SCRIPT.search(named[-1])))


def _place(parts: UrlParts, by_path: bool) -> str:
    segments = parts.segments or [""]
    if "" in segments[:-1] or any(UNSAYABLE.search(segment) for segment in segments):
        return ""
    if by_path or segments == [""]:
        return "/" + "/".join(segments)
    if len(segments) == 1 or segments[1:] == [""]:
        return "/{}" + "/" * (len(segments) - 1)
    return f"/{section(segments[0])}/{{}}/{{*}}"


def _in_common(urls: Sequence[UrlParts], pages: int) -> Iterator[tuple[str, str]]:
    """Arguments that all of these URLs have, each with the words that it takes if it tells the kind of page."""
    values: Mapping[str, set[str]] = {}
    for i, parts in enumerate(urls):
        here = dict(zip(parts.names(), (arg.partition("=")[2] for arg in parts.args), strict=True))
        if i == 0:
            values = {name: {value} for name, value in here.items()}
        else:
            values = {name: seen | {here[name]} for name, seen in values.items() if name in here}
    for name, seen in values.items():
        if not name or BRACES.search(name) or name[-1] == "*" or not all(seen):
            continue
        is_kind = len(seen) * _PAGES_OF_A_WORD <= pages and len(seen) < MANY and all(map(_is_word, seen))
        yield name, ("{:" + "|".join(sorted(seen)) + "}" if len(seen) > 1 else min(seen)) if is_kind else "{}"


def _is_word(value: str) -> bool:
    """False for numbers and for tokens: one session may be all that a crawl had."""
    return (
        len(value) <= _LONGEST_WORD
        and not value.isdigit()
        and not _TOKEN.fullmatch(value)
        and not UNSAYABLE.search(value)
    )
