"""Exchange with duplicate-url-discarder: its JSON rules to ours and back, as far as each can express the other.

Its patterns are those of url-matcher: a domain, which includes its subdomains, and a path, which stands for all paths
that begin so, in any case; "*" takes anything, slashes included. Rules of dedupcrawl belong to one site, take whole
segments and distinguish cases. So an imported rule never applies to more URLs than the original, and sometimes to
fewer; an exported one applies to more only where paths differ in case alone.

What cannot be expressed is refused with a reason, never approximated:

- imported: a rule for every site; "queryRemovalExcept" with arguments; "normalizer"; patterns with a query, fragment,
  scheme, port, "exclude" or "|"; "subpathRemoval" that would apply to its own result.
- exported: rewritten values and paths other than segments taken out; equivalences; conversions; hosts; "unless"; names
  with "*"; conditions on arguments.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from dedupcrawl.sites import host_of, site_of
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import MOST_RULES, SiteRules
from dedupcrawl.urls.template import Piece

_ORDER = 100  # as duplicate-url-discarder's own learner of rules writes it


class Refused(msgspec.Struct, frozen=True):
    """A rule that the other side cannot express."""

    what: str
    why: str


class _CannotExpressError(Exception):
    """Its message is why."""


def imported(rows: object) -> tuple[list[SiteRules], list[Refused]]:
    """Turn a duplicate-url-discarder file's content into rules by site, and what could not be turned.

    Raises:
        RuleError: It is not content of that kind.
    """
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise RuleError("no rules of duplicate-url-discarder: those are a JSON array of objects")
    by_site: dict[str, list[Rule]] = {}
    refused: list[Refused] = []
    numbers: Counter[tuple[str, str]] = Counter()
    for row in sorted(rows, key=_order):
        processor, args, pattern = row.get("processor"), row.get("args") or [], row.get("urlPattern")
        if not isinstance(processor, str) or not isinstance(args, list) or not isinstance(pattern, dict):
            raise RuleError(
                f"no rule of duplicate-url-discarder, which has processor, args and urlPattern: {row!r:.200}"
            )
        includes = pattern.get("include")
        if not isinstance(includes, list) or not all(isinstance(include, str) for include in includes):
            raise RuleError(f"urlPattern has a list of texts as include: {row!r:.200}")
        for include in includes:
            try:
                site, rule = _imported(processor, args, include, pattern)
            except _CannotExpressError as error:
                refused.append(Refused(f"{processor} for {include or 'every site'!r}", str(error)))
                continue
            rules = by_site.setdefault(site, [])
            if len(rules) == MOST_RULES:
                refused.append(Refused(f"{processor} for {include!r}", f"a site has at most {MOST_RULES:,} rules"))
                continue
            number = numbers[site, rule.id] = numbers[site, rule.id] + 1
            rules.append(rule if number == 1 else replace(rule, id=f"{rule.id}-{number}"))
    return [SiteRules(site, tuple(rules)) for site, rules in sorted(by_site.items())], refused


def exported(sites: Iterable[SiteRules]) -> tuple[list[dict[str, Any]], list[Refused]]:
    """Turn rules into the content of a duplicate-url-discarder file, and what could not be turned.

    Disabled rules are left out silently.
    """
    rows: list[dict[str, Any]] = []
    refused: list[Refused] = []
    for site_rules in sites:
        for rule in site_rules.rules:
            if rule.is_off:
                continue
            try:
                rows.append(_exported(site_rules.site, rule))
            except _CannotExpressError as error:
                refused.append(Refused(f"{site_rules.site} {rule.id}", f"in duplicate-url-discarder {error}"))
    return rows, refused


def _order(row: Mapping[str, Any]) -> int:
    order = row.get("order", 0)
    if type(order) is not int:
        raise RuleError(f"order is a whole number, not {order!r}")
    return order


def _refuse(*checks: tuple[object, str]) -> None:
    """Raise for the first of these that holds."""
    for holds, why in checks:
        if holds:
            raise _CannotExpressError(why)


def _imported(processor: str, args: list[Any], include: str, pattern: Mapping[str, Any]) -> tuple[str, Rule]:
    host, slash, path = include.partition("/")
    site = site_of(host)
    _refuse(
        (pattern.get("exclude"), "the pattern excludes URLs"),
        (not include, "rules belong to one site"),
        (re.search(r"://|[?#]|^[^/]*[:*]", include), "the pattern has a scheme, port, query or fragment"),
        (path.endswith("|") or host.endswith("|"), "the pattern wants an exact end"),
        ("|" in include, "the pattern has a |"),
        (not site or host_of(host) != host.lower(), "the pattern has no host"),
    )
    # With a path the host is meant alone, with or without www.; without one its subdomains are meant too.
    hosts = () if host == site and not slash else tuple(dict.fromkeys((host, f"www.{host}")))
    segments = [segment for segment in path.split("/") if segment] if slash else []
    if any("{" in segment or "}" in segment or ("*" in segment and segment != "*") for segment in segments):
        raise _CannotExpressError("the pattern has a * inside a segment")
    common: dict[str, Any] = {"kind": "rewrite", "source": "imported", "hosts": list(hosts)}
    if processor == "subpathRemoval":
        return site, _rule({"id": "subpath", **common, **_subpath(args, segments)})
    names = [name for name in args if isinstance(name, str) and name and "*" not in name]
    is_removal, keeps_some = processor == "queryRemoval", processor == "queryRemovalExcept"
    _refuse(
        (is_removal and (len(names) != len(args) or not names), "the arguments to remove have no names"),
        (keeps_some and args, "rules name the arguments that go, not those that stay"),
        (not is_removal and not keeps_some, "there is no such processor here"),
    )
    within = ["/" + "/".join("{}" if segment == "*" else segment for segment in [*segments, "{*}"])] if segments else []
    return site, _rule({"id": "query", **common, "drop": names if is_removal else ["*"], "within": within})


def _rule(row: dict[str, Any]) -> Rule:
    try:
        return Rule.from_dict(row)
    except RuleError as error:
        raise _CannotExpressError(str(error)) from error


def _subpath(args: list[Any], segments: list[str]) -> dict[str, str]:
    if not args or not all(type(index) is int and index >= 0 for index in args):
        raise _CannotExpressError("the segments to remove have no numbers")
    pieces = [f"{{s{i}}}" if segment == "*" else segment for i, segment in enumerate(segments)]
    if max(args) >= len(segments) or not any(segment != "*" for segment in segments[max(args) + 1 :]):
        raise _CannotExpressError("it would apply to its own result")
    kept = [piece for i, piece in enumerate(pieces) if i not in args]
    return {"match": "/" + "/".join([*pieces, "{rest*}"]), "to": "/" + "/".join([*kept, "{rest}"])}


def _exported(site: str, rule: Rule) -> dict[str, Any]:
    scopes, without = rule.scopes()
    _refuse(
        (rule.kind == "equivalence", "an equivalence has no target"),
        (rule.convert, "there is no such processor"),
        (rule.unless, "a pattern cannot ask for arguments to be absent"),
        (
            any(host not in (site, f"www.{site}") for host in rule.hosts) or len(rule.hosts) == 1,
            "a pattern cannot be for some hosts of a site",
        ),
    )
    if rule.to:
        args, path = _removed_segments(rule)
        return _row("subpathRemoval", args, site + path)
    _refuse(
        (any("*" in name and name != "*" for name in rule.drop), "names of arguments have no *"),
        (rule.match, "no pattern asks for values"),
        (without, "a scope that excludes is not the pattern's exclude"),
        (any(scope.args for scope in scopes), "no pattern asks for values"),
    )
    include = [site + _path_pattern(scope.path) for scope in scopes if scope.path]
    include = include or [f"{site}/" if rule.hosts else site]
    return (
        _row("queryRemovalExcept", [], *include) if "*" in rule.drop else _row("queryRemoval", [*rule.drop], *include)
    )


def _removed_segments(rule: Rule) -> tuple[list[int], str]:
    """Which segments of the path a rule takes out, when that is all it does, and the pattern of such paths."""
    match, to = rule.templates()
    why = "only whole segments of the path can be taken out"
    if rule.within or match is None or to is None or match.path is None or to.path is None:
        raise _CannotExpressError(why)
    _refuse((match.args or match.host or match.scheme or to.args or to.host or to.scheme, why))
    removed, kept = [], list(to.path)
    for position, piece in enumerate(match.path):
        if kept and _same(kept[0], piece):
            kept.pop(0)
        else:
            removed.append(position)
    _refuse((kept or not removed or len(to.path) + len(removed) != len(match.path), why))
    return removed, _path_pattern(match.path)


def _path_pattern(path: tuple[Piece, ...]) -> str:
    """The pattern of paths that begin like this; a path that does not end in {name*} has no pattern."""
    *pieces, last = path
    plain = all(piece.is_literal or (piece.literals == ("", "") and not _narrow(piece)) for piece in pieces)
    if not last.is_star or any(piece.is_star for piece in pieces) or not plain:
        raise _CannotExpressError("a pattern is the beginning of a path, with * for whole segments")
    return "/" + "".join(f"{piece.literals[0]}/" if piece.is_literal else "*/" for piece in pieces)


def _same(one: Piece, other: Piece) -> bool:
    names = [[capture.name for capture in piece.captures] for piece in (one, other)]
    plain = not any(capture.conversions for capture in one.captures)
    return one.literals == other.literals and names[0] == names[1] and plain


def _narrow(piece: Piece) -> bool:
    return any(capture.words or capture.characters for capture in piece.captures)


def _row(processor: str, args: list[Any], *include: str) -> dict[str, Any]:
    return {"args": args, "order": _ORDER, "processor": processor, "urlPattern": {"include": list(include)}}
