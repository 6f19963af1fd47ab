"""A rule made ready to be applied to the tokens of a URL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any
from unicodedata import normalize

from dedupcrawl.core.url_forms import Conditions, Scope, ValueForm, build_path
from dedupcrawl.core.url_parts import DEFAULT_PORTS, UrlParts, split_url, without_default_port
from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.urls.conversions import URL_CONVERSIONS, VALUE_CONVERSIONS
from dedupcrawl.urls.rule import Kind, Rule
from dedupcrawl.urls.spelling import LONGEST_URL, as_sent, canonical_url
from dedupcrawl.urls.template import WHOLE_CONVERSIONS, Piece, Template, argument_forms, may_grow, path_form, scope_of

_LONGEST_EXAMPLE = 300  # characters

_RULES_SHARED = 10_000  # that are kept for other sites with the same
_NO_NAMES: frozenset[str] = frozenset()  # one for all: of a million rules most have no hosts, no exceptions, …
_NO_ARGS: Mapping[str, ValueForm | None] = {}
_ANYWHERE = Scope(None, ())

_PLAIN_AUTHORITY = re.compile(r"(?:\[[^\[\]]*\]|[^\[\]:/?#@\\]*)(?::[0-9]*)?")


class TooLongError(ValueError):
    """What a rule makes of a URL is longer than `LONGEST_URL`."""


class CompiledRule:
    """One rule; `apply` gives new tokens and leaves those it was given as they are.

    Attributes:
        hosts: Those that it is for, in ASCII; none where it names none.
        conditions: What it asks of the tokens of a URL besides.
    """

    __slots__ = (
        "_arg_names", "_convert", "_drop", "_drop_starts", "_edited", "_is_path_only", "_is_ready", "_keeps_spelling",
        "_keeps_tokens", "_kept", "_match", "_may_grow", "_minds_host", "_not_hosts", "_to", "_to_args", "_to_path",
        "_uses", "_within", "conditions", "hosts", "rule",
    )  # fmt: skip

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        match, self._to = rule.templates()
        within, without = rule.scopes()
        self._within = tuple(map(scope_of, within))
        self._match = match
        self._arg_names = _names(name for name, _ in match.args) if match else _NO_NAMES
        self.hosts = _names(ascii_form(host.lower()) for host in rule.hosts if not host.startswith("!"))
        self._not_hosts = _names(ascii_form(host[1:].lower()) for host in rule.hosts if host.startswith("!"))
        unless = _names(as_sent(name) for name in rule.unless if "=" not in name)
        self.conditions = Conditions(
            scope_of(match) if match else _ANYWHERE,
            self._within,
            tuple(map(scope_of, without)),
            unless,
            tuple((f"{name}=", piece.form) for name, piece in rule.exceptions()),
            self._arg_names if "*" in unless else None,
        )
        self._drop, self._drop_starts, self._kept = dropped(rule)
        self._convert = URL_CONVERSIONS[rule.convert].apply if rule.convert else None
        has_front = match is not None and (match.scheme is not None or match.host is not None)
        self._minds_host = has_front or bool(rule.hosts)
        self._is_ready = self._to is None

    def _make_ready(self, to: Template) -> None:
        """What building targets takes; of the rules of a host most meet no URL."""
        match = self._match
        self._to_args = dict(argument_forms(to.args)) if to.args else _NO_ARGS
        self._to_path = tuple(piece.form for piece in to.path or ())
        self._edited = self._arg_names | self._to_args.keys() if self._to_args else self._arg_names
        self._uses = tuple(use.name for use in to.captures())
        self._keeps_tokens = _keeps_tokens(match, to)
        self._keeps_spelling = self._keeps_tokens and _keeps_spelling(match, to)
        self._may_grow = match is not None and may_grow(match, to)
        self._is_path_only = self._keeps_tokens and not self._edited and not self._may_grow
        self._is_ready = True

    def asks_for(self) -> tuple[list[str], list[str]]:
        """Tokens (segments, arguments, their names) and texts, one of which a URL must have for the rule to apply.

        Both are empty if `needs_args` alone decides; the text is empty, which all URLs contain, if the rule takes any
        URL. Texts are for URLs whose scheme and host are in lower case.
        """
        if self.rule.drop and ("*" not in self.rule.drop or not self._arg_names):
            return sorted(self._drop), list(self._drop_starts)
        path, args = (self._match.path, self._match.args) if self._match else (None, ())
        if args:  # one whose value is known is the rarest; the first is what most URLs of a script have
            alternatives = [texts for name, piece in args if (texts := _texts_of(name, piece))]
            return (alternatives or [[args[-1][0]]])[0], []
        for paths in ([path_form(path)] if path else [], [scope.path for scope in self._within]):
            segments = [max((text for _, text in one.literals), key=len, default="") if one else "" for one in paths]
            if segments and all(segments):
                return segments, []
        if self.needs_args():
            return [], []
        if self.rule.convert:
            return [], list(URL_CONVERSIONS[self.rule.convert].needles)
        texts = _texts_of_path(path) if path else []
        if self._match and self._match.host and self._match.host.captures:
            front, *others = self._match.host.literals
            texts += [text for text in (f"//{front}", *others) if text.isascii()]
        if self._match and self._match.scheme:
            texts.append(f"{self._match.scheme}://")
        return [], [max(texts, key=len, default="")]

    def needs_args(self) -> bool:
        """True when it changes arguments only, whatever they are called."""
        return bool(self.rule.convert) and URL_CONVERSIONS[self.rule.convert].of_arguments

    def stays_on_host(self) -> bool:
        """True when what it makes of a URL is always of the same host, written in the same way."""
        is_built_there = self._to is None or (self._to.whole is None and self._to.host is None)
        return is_built_there and (not self.rule.convert or self.needs_args())

    def is_idempotent(self) -> bool:
        """True when it is known to leave its own result alone."""
        if self.rule.to:
            return self.rule.to == self.rule.match
        return bool(self.rule.drop) or self.rule.convert in {"sort-query", "drop-empty", "collapse-slashes"}

    def minds_more_arguments(self) -> bool:
        """True when it may apply to a URL once some of its arguments are gone, and did not before."""
        return bool(self.rule.unless or (self._to and self._to.args)) or self.rule.convert == "last-of-name"

    def is_settled_after(self, *, counting: bool) -> bool:
        """True when no earlier rule, nor this one, can apply to its result unless it applied to what it was given.

        What only takes arguments away, or puts them in another order, gives no rule that merely asks for some its
        chance, unless an earlier one `minds_more_arguments` (`counting`). Sorting also makes "%20" of "+", and "&" of
        ";" where no "&" is: where there is one of these, this says nothing.
        """
        return not counting if self.rule.drop else self.rule.convert == "sort-query"

    def apply(self, parts: UrlParts, site: str) -> UrlParts | None:
        """As `change`; None also where that would be too long."""
        try:
            return self.change(parts, site)
        except TooLongError:
            return None

    def change(self, parts: UrlParts, site: str) -> UrlParts | None:
        """What the rule makes of a URL of `site`: other tokens of the same site, or None when nothing changes.

        Raises:
            TooLongError: The rule adds to a URL, which would then have more than `LONGEST_URL` characters.
        """
        values: dict[str, str] = {}
        return self.made(parts, values, site) if self.conditions.fits(parts, values) else None

    def made(self, parts: UrlParts, values: dict[str, str], site: str) -> UrlParts | None:
        """As `change`, of a URL that fits the conditions, with what they have captured."""
        if self._minds_host and not self._host_fits(parts, values):
            return None
        if self._to is None:
            convert, starts = self._convert, self._drop_starts
            changed = parts.without_names(self._drop, starts, self._kept) if convert is None else convert(parts)
            return changed if changed is None or not changed.fragment else _spelled(changed)
        if not self._is_ready:
            self._make_ready(self._to)
        if self._is_path_only:
            segments = build_path(self._to_path, values, VALUE_CONVERSIONS) if self._to_path else parts.segments
            if segments == parts.segments:
                return None
            built: UrlParts | None = parts.with_segments(segments)
        else:
            make = self._build_measured if self._may_grow else self._build
            built = make(self._to, parts, values, site)
        if built is not None and (built.fragment or not self._keeps_spelling):
            built = _spelled(built)
        return None if built == parts else built

    def _host_fits(self, parts: UrlParts, values: dict[str, str]) -> bool:
        """True when scheme and host are those of the rule; puts captured values into `values`."""
        match, authority = self._match, parts.authority
        if self._not_hosts or (self.hosts and authority not in self.hosts):  # mostly as it is written
            spellings = _spellings(parts.scheme, authority)
            if not self._not_hosts.isdisjoint(spellings) or (self.hosts and self.hosts.isdisjoint(spellings)):
                return False
        if match is None or (match.scheme is not None and parts.scheme.lower() != match.scheme):
            return match is None
        if match.host is None or match.host.form.match(authority.lower(), values):
            return True
        is_named = match.host.is_literal
        return is_named and ascii_form(match.host.literals[0]) in _spellings(parts.scheme, authority)

    def _build_measured(self, to: Template, parts: UrlParts, values: dict[str, str], site: str) -> UrlParts | None:
        if sum([len(values.get(name, "")) for name in self._uses]) > LONGEST_URL:
            raise TooLongError  # before so much is put together
        built = self._build(to, parts, values, site)
        if built is not None and built.size() > LONGEST_URL:
            raise TooLongError
        return built

    def _build(self, to: Template, parts: UrlParts, values: dict[str, str], site: str) -> UrlParts | None:
        if to.whole is not None:
            return _same_site(to.whole.form.build(values, WHOLE_CONVERSIONS), parts, site)
        built = UrlParts(
            to.scheme or parts.scheme,
            to.host.form.build(values, VALUE_CONVERSIONS) if to.host else parts.authority,
            build_path(self._to_path, values, VALUE_CONVERSIONS) if self._to_path else parts.segments,
            self._build_args(parts, values) if self._edited else parts.args,
            parts.separators,
            parts.fragment,
        )
        if len(built.args) != len(parts.args):
            built.separators = ""
        if to.host and built.authority != parts.authority:
            return _same_site(built.join(), parts, site)
        return built if self._keeps_tokens else split_url(built.join())

    def _build_args(self, parts: UrlParts, values: dict[str, str]) -> list[str]:
        """Arguments that `match` names go; those that `to` names come, at their old place if they had one."""
        if not self._to_args:
            return [arg for arg in parts.args if arg.partition("=")[0] not in self._edited]
        wanted = {
            n: n if form is None else f"{n}={form.build(values, VALUE_CONVERSIONS)}"
            for n, form in self._to_args.items()
        }
        args = []
        for arg in parts.args:
            name = arg.partition("=")[0]
            if name in wanted:
                args.append(wanted.pop(name))
            elif name not in self._edited:
                args.append(arg)
        return [*args, *wanted.values()] if wanted else args


def dropped(rule: Rule) -> tuple[frozenset[str], tuple[str, ...], frozenset[str]]:
    """Arguments that a rule takes out: names, starts of names, and names that have such a start and stay."""
    names = _names(as_sent(name) for name in rule.drop if not name.endswith("*"))
    starts = tuple(as_sent(name[:-1]) for name in rule.drop if name.endswith("*"))
    match = rule.templates()[0] if "*" in rule.drop else None
    return names, starts, _names(dict(match.args)) if match else _NO_NAMES


def example(rule: CompiledRule, url: str, site: str) -> tuple[str, str] | None:
    """A URL and what this rule alone makes of it; None when it is no example for people or leaves the URL alone."""
    if len(url) > _LONGEST_EXAMPLE or not url.isprintable() or not (parts := split_url(url)):
        return None
    after = rule.apply(parts, site)
    return None if after is None else (url, after.join())


def _keeps_tokens(match: Template | None, to: Template) -> bool:
    """Whether what was a segment or a value of an argument stays one: it holds no delimiter that means more there."""
    if match is None or to.whole or to.host or to.scheme or any(capture.conversions for capture in to.captures()):
        return False
    of_path = {capture.name for piece in match.path or () for capture in piece.captures}
    of_args = {capture.name for _, piece in match.args if piece for capture in piece.captures}
    path = {capture.name for piece in to.path or () for capture in piece.captures}
    args = {capture.name for _, piece in to.args if piece for capture in piece.captures}
    return path - {""} <= of_path and args - {""} <= of_args - of_path and not match.host


def _spelled(parts: UrlParts) -> UrlParts | None:
    """The tokens of a URL in its one spelling. Few fragments are kept, one of them for the query before it."""
    url = parts.join()
    spelled = canonical_url(url)
    return parts if spelled == url else split_url(spelled)


def _keeps_spelling(match: Template | None, to: Template) -> bool:
    """Whether tokens are put together without a look into them, so that no dot segment and no escape comes of two."""
    templates = [template for template in (match, to) if template is not None]
    pieces = [piece for template in templates for piece in (*(template.path or ()), *dict(template.args).values())]
    return all(
        piece.literals[0] not in {".", ".."} if piece.is_literal else _is_uncut(piece) for piece in pieces if piece
    )


def _is_uncut(piece: Piece) -> bool:
    return len(piece.captures) == 1 and not any(piece.literals)


def _texts_of(name: str, form: Piece | None) -> list[str]:
    """All arguments of this name and form; empty where these are too many to be named."""
    if form is None:
        return [name]
    if form.is_literal:
        return [f"{name}={form.literals[0]}"]
    front, *others = form.literals
    return [f"{name}={front}{word}{others[0]}" for word in form.captures[0].words] if len(others) == 1 else []


def host_key(authority: str) -> str:
    """What a host is looked up by: international names in ASCII, without a port that some scheme stands for."""
    for scheme in DEFAULT_PORTS:
        authority = without_default_port(scheme, authority)
    return ascii_form(authority)


def _spellings(scheme: str, authority: str) -> tuple[str, ...]:
    """Host and port in ASCII, with and without the port that the scheme stands for."""
    plain = ascii_form(without_default_port(scheme, authority))
    return (plain,) if ":" in plain.rpartition("]")[2] else (plain, plain + DEFAULT_PORTS.get(scheme.lower(), ""))


def _names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(names) or _NO_NAMES


def _texts_of_path(path: tuple[Piece, ...]) -> list[str]:
    """Texts that a URL with such a path has."""
    texts = ["/", *(f"/{piece.literals[0]}" for piece in path if piece.is_literal)]
    for piece in path:
        if piece.captures and not piece.is_star and not piece.is_whole:
            texts += [f"/{piece.literals[0]}", *piece.literals[1:]]
    return texts


def _same_site(url: str, parts: UrlParts, site: str) -> UrlParts | None:
    """The tokens of `url` (a URL, or a path on the same host) if it is of `site`, else None.

    Raises:
        TooLongError: It has more than `LONGEST_URL` characters.
    """
    if len(url) > LONGEST_URL:
        raise TooLongError
    if url.startswith("/") and not url.startswith("//"):
        url = f"{parts.scheme}://{parts.authority}{url}"
    url = canonical_url(url)
    split = split_url(url)
    spellings = () if split is None else (split.authority, normalize("NFKC", split.authority))
    if split is None or not all(map(_PLAIN_AUTHORITY.fullmatch, spellings)):
        return None  # of others every client takes something else for the host
    led_to = site_of(url)
    return split if led_to == site or ascii_form(led_to) == ascii_form(site) else None


def compiled(rule: Rule) -> CompiledRule:
    """What a rule does, without its metadata; one object for all rules that do the same."""
    return _compiled(rule.kind, *rule.effect)


@lru_cache(maxsize=_RULES_SHARED)
def _compiled(kind: Kind, *effect: Any) -> CompiledRule:
    hosts, within, match, unless, to, drop, convert = effect
    return CompiledRule(Rule("-", kind, hosts, within, match, unless, to, drop, convert))
