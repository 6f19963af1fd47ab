"""A rule made ready to be applied to the tokens of a URL."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from typing import Any, NamedTuple
from unicodedata import normalize

from dedupcrawl.core.url_forms import Conditions, Scope, ValueForm, build_path
from dedupcrawl.core.url_parts import WEB_SCHEMES, UrlParts, split_url, without_default_port
from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.urls.conversions import URL_CONVERSIONS, VALUE_CONVERSIONS
from dedupcrawl.urls.rule import Kind, Rule
from dedupcrawl.urls.spelling import LONGEST_URL, as_sent, canonical_url
from dedupcrawl.urls.template import WHOLE_CONVERSIONS, Piece, Template, argument_forms, path_form, scope_of

_LONGEST_EXAMPLE = 300  # characters

_RULES_SHARED = 10_000  # that are kept for other sites with the same
_NO_NAMES: frozenset[str] = frozenset()  # one for all: of a million rules most have no hosts, no exceptions, …
_ANYWHERE = Scope(None, ())

_PLAIN_AUTHORITY = re.compile(r"(?:\[[^\[\]]*\]|[^\[\]:/?#@\\]*)(?::[0-9]*)?")


class TooLongError(ValueError):
    """What a rule makes of a URL is longer than `LONGEST_URL`."""


class CompiledRule:
    """One rule; `made` and `apply` give new tokens and leave those they were given as they are.

    They take the tokens of a URL in its one spelling (`spelling.canonical_url`), and make such tokens.

    Attributes:
        conditions: What it asks of the tokens of a URL, but for the scheme and the host of its template.
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        match, self._to = rule.templates()
        within, without = rule.scopes()
        self._within = tuple(map(scope_of, within))
        self._match = match
        self._arg_names = _names(name for name, _ in match.args) if match else _NO_NAMES
        self._hosts = _names(host for host in rule.hosts if not host.startswith("!"))
        unless = _names(as_sent(name) for name in rule.unless if "=" not in name)
        self.conditions = Conditions(
            _names(f"{scheme}://{host}" for scheme, host in _spelled_hosts(self._hosts)),
            _names(f"{scheme}://{host}" for scheme, host in _spelled_hosts(_excluded(rule.hosts))),
            scope_of(match) if match else _ANYWHERE,
            self._within,
            tuple(map(scope_of, without)),
            unless,
            tuple((f"{name}=", piece.form) for name, piece in rule.exceptions()),
            self._arg_names if "*" in unless else None,
        )
        self._drop, self._drop_starts, self._kept = dropped(rule)
        self._conversion = URL_CONVERSIONS[rule.convert] if rule.convert else None
        self._minds_front = match is not None and (match.scheme is not None or match.host is not None)

    def asks_for(self) -> tuple[list[str], list[str], bool]:
        """Tokens and texts of which a URL must have one, and whether the rule may apply to any URL with arguments, too.

        Tokens are segments, arguments, their names, and "//" with a host. The text is empty, which all URLs contain, if
        the rule takes any URL.
        """
        if self.rule.drop and ("*" not in self.rule.drop or not self._arg_names):
            return sorted(self._drop), list(self._drop_starts), False
        path, args = (self._match.path, self._match.args) if self._match else (None, ())
        if args:  # one whose value is known is the rarest; the first is what most URLs of a script have
            alternatives = [texts for name, piece in args if (texts := _texts_of(name, piece))]
            return (alternatives or [[args[-1][0]]])[0], [], False
        for paths in ([path_form(path)] if path else [], [scope.path for scope in self._within]):
            segments = [max((text for _, text in one.literals), key=len, default="") if one else "" for one in paths]
            if segments and all(segments):
                return segments, [], False
        host = self._match.host if self._match else None
        hosts = self._hosts or (host.literals if host and host.is_literal else ())
        needs_args = self._conversion is not None and self._conversion.of_arguments
        if hosts and not needs_args:
            return sorted({f"//{name}" for _, name in _spelled_hosts(hosts)}), [], False
        if self._conversion:
            return [], [] if needs_args else list(self._conversion.needles), needs_args
        texts = _texts_of_path(path) if path else []
        if host:
            front, *others = host.literals
            texts += [text for text in (f"//{front}", *others) if text.isascii()]
        if self._match and self._match.scheme:
            texts.append(f"{self._match.scheme}://")
        return [], [max(texts, key=len, default="")], False

    def apply(self, parts: UrlParts, site: str) -> UrlParts | None:
        """What the rule makes of a URL of `site`; None when nothing changes, or the result would be too long."""
        values: dict[str, str] = {}
        try:
            return self.made(parts, values, site) if self.conditions.fits(parts, values) else None
        except TooLongError:
            return None

    def made(self, parts: UrlParts, values: dict[str, str], site: str) -> UrlParts | None:
        """What the rule makes of a URL of `site` that fits the conditions, with what they have captured.

        Other tokens of the same site, or None when nothing changes.

        Raises:
            TooLongError: The rule adds to a URL, which would then have more than `LONGEST_URL` characters.
        """
        if self._minds_front and not self._front_fits(parts, values):
            return None
        if self._to is None:
            conversion, starts = self._conversion, self._drop_starts
            changed = conversion.apply(parts) if conversion else parts.without_names(self._drop, starts, self._kept)
            # Few fragments are kept, one of them for the query before it.
            return changed if changed is None or not changed.fragment else split_url(canonical_url(changed.join()))
        if sum([len(values.get(name, "")) for name in self._target.uses]) > LONGEST_URL:
            raise TooLongError  # before so much is put together
        url = self._built(self._to, parts, values)
        if len(url) > LONGEST_URL:
            raise TooLongError
        built = split_url(url := canonical_url(url))
        leaves = (self._to.whole or self._to.host) and (built is None or built.authority != parts.authority)
        return None if built == parts or (leaves and not _is_of(site, url, built)) else built

    def _front_fits(self, parts: UrlParts, values: dict[str, str]) -> bool:
        """True when scheme and host are those of the template; puts captured values into `values`."""
        scheme, host = (self._match.scheme, self._match.host) if self._match else (None, None)
        if scheme is not None and parts.scheme != scheme:
            return False
        if host is None or host.form.match(parts.authority, values):
            return True
        return host.is_literal and (parts.scheme, parts.authority) in _spelled_hosts(host.literals)

    @cached_property
    def _target(self) -> _Target:
        """Made when first asked for: of the rules of a host most meet no URL."""
        assert self._to is not None
        args = dict(argument_forms(self._to.args))
        uses = tuple(use.name for use in self._to.captures())
        return _Target(tuple(piece.form for piece in self._to.path or ()), args, self._arg_names | args.keys(), uses)

    def _built(self, to: Template, parts: UrlParts, values: dict[str, str]) -> str:
        if to.whole is not None:
            url = to.whole.form.build(values, WHOLE_CONVERSIONS)
            is_path = url.startswith("/") and not url.startswith("//")
            return f"{parts.scheme}://{parts.authority}{url}" if is_path else url
        target = self._target
        args = self._built_args(target, parts, values) if target.edited else parts.args
        return UrlParts(
            to.scheme or parts.scheme,
            to.host.form.build(values, VALUE_CONVERSIONS) if to.host else parts.authority,
            build_path(target.path, values, VALUE_CONVERSIONS) if target.path else parts.segments,
            args,
            parts.separators if len(args) == len(parts.args) else "",
            parts.fragment,
        ).join()

    def _built_args(self, target: _Target, parts: UrlParts, values: dict[str, str]) -> list[str]:
        """Arguments that `match` names go; those that `to` names come, at their old place if they had one."""
        wanted = {
            n: n if form is None else f"{n}={form.build(values, VALUE_CONVERSIONS)}" for n, form in target.args.items()
        }
        args = []
        for arg in parts.args:
            name = arg.partition("=")[0]
            if name in wanted:
                args.append(wanted.pop(name))
            elif name not in target.edited:
                args.append(arg)
        return [*args, *wanted.values()]


class _Target(NamedTuple):
    """What builds URLs: forms of the path and of arguments by name, names of arguments that come or go, captures."""

    path: tuple[ValueForm, ...]
    args: dict[str, ValueForm | None]
    edited: AbstractSet[str]
    uses: tuple[str, ...]


def dropped(rule: Rule) -> tuple[frozenset[str], tuple[str, ...], frozenset[str]]:
    """Arguments that a rule takes out: names, starts of names, and names that have such a start and stay."""
    names = _names(as_sent(name) for name in rule.drop if not name.endswith("*"))
    starts = tuple(as_sent(name[:-1]) for name in rule.drop if name.endswith("*"))
    match = rule.templates()[0] if "*" in rule.drop else None
    return names, starts, _names(dict(match.args)) if match else _NO_NAMES


def example(rule: CompiledRule, url: str, site: str) -> tuple[str, str] | None:
    """A URL and what this rule alone makes of it; None when it is no example for people or leaves the URL alone."""
    if len(url) > _LONGEST_EXAMPLE or not url.isprintable() or not (parts := split_url(canonical_url(url))):
        return None
    after = rule.apply(parts, site)
    return None if after is None else (url, after.join())


def _texts_of(name: str, form: Piece | None) -> list[str]:
    """All arguments of this name and form; empty where these are too many to be named."""
    if form is None:
        return [name]
    if form.is_literal:
        return [f"{name}={form.literals[0]}"]
    front, *others = form.literals
    return [f"{name}={front}{word}{others[0]}" for word in form.captures[0].words] if len(others) == 1 else []


def _excluded(hosts: Iterable[str]) -> list[str]:
    return [host[1:] for host in hosts if host.startswith("!")]


def _spelled_hosts(hosts: Iterable[str]) -> set[tuple[str, str]]:
    """Schemes and hosts in the one spelling of URLs: international names in ASCII, no port that the scheme stands for.

    >>> sorted(_spelled_hosts(["a.com:80"]))
    [('http', 'a.com'), ('https', 'a.com:80')]
    """
    names = [ascii_form(host.lower()) for host in hosts]
    return {(scheme, without_default_port(scheme, name)) for scheme in WEB_SCHEMES for name in names}


def _names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(names) or _NO_NAMES


def _texts_of_path(path: tuple[Piece, ...]) -> list[str]:
    texts = ["/", *(f"/{piece.literals[0]}" for piece in path if piece.is_literal)]
    for piece in path:
        if piece.captures and not piece.is_star and not piece.is_whole:
            texts += [f"/{piece.literals[0]}", *piece.literals[1:]]
    return texts


def _is_of(site: str, url: str, parts: UrlParts | None) -> bool:
    """Whether a URL, given with its tokens, is of the site, for every client."""
    spellings = () if parts is None else (parts.authority, normalize("NFKC", parts.authority))
    if not spellings or not all(map(_PLAIN_AUTHORITY.fullmatch, spellings)):
        return False  # of others every client takes something else for the host
    led_to = site_of(url)
    return led_to == site or ascii_form(led_to) == ascii_form(site)


def compiled(rule: Rule) -> CompiledRule:
    """What a rule does, without its metadata; one object for all rules that do the same."""
    return _compiled(rule.kind, *rule.effect)


@lru_cache(maxsize=_RULES_SHARED)
def _compiled(kind: Kind, *effect: Any) -> CompiledRule:
    hosts, within, match, unless, to, drop, convert = effect
    return CompiledRule(Rule("-", kind, hosts, within, match, unless, to, drop, convert))
