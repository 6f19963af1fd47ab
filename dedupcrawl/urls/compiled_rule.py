"""A rule made ready to be applied to the tokens of a URL."""

from __future__ import annotations

from dedupcrawl.sites import site_of
from dedupcrawl.urls.conversions import URL_CONVERSIONS
from dedupcrawl.urls.path_form import PathForm
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Piece, Template
from dedupcrawl.urls.url_parts import UrlParts, split_url

LONGEST_URL = 16_384  # characters; longer ones are nobody's page and are left alone

Needle = tuple[str, int, str]


class CompiledRule:
    """One rule; `apply` gives new tokens and leaves those it was given as they are.

    Attributes:
        rule: The rule as written.
    """

    __slots__ = (
        "_args",
        "_convert",
        "_drop",
        "_drop_starts",
        "_hosts",
        "_match",
        "_not_hosts",
        "_path",
        "_to",
        "_to_args",
        "_unless",
        "_within",
        "_without",
        "rule",
    )

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        match, self._to = rule.templates()
        within, without = rule.scopes()
        self._within, self._without = [PathForm(path) for path in within], [PathForm(path) for path in without]
        self._match = match
        self._path = PathForm(match.path) if match and match.path else None
        self._args = [(name, f"{name}=", form) for name, form in match.args] if match else []
        self._to_args = dict(self._to.args) if self._to else {}
        self._hosts = frozenset(host.lower() for host in rule.hosts if not host.startswith("!"))
        self._not_hosts = frozenset(host[1:].lower() for host in rule.hosts if host.startswith("!"))
        self._unless = frozenset(rule.unless)
        self._drop = frozenset(name for name in rule.drop if not name.endswith("*"))
        self._drop_starts = tuple(name[:-1] for name in rule.drop if name.endswith("*"))
        self._convert = URL_CONVERSIONS.get(rule.convert)

    def needles(self) -> list[Needle]:
        """What a URL must have for the rule to apply, one of them: ("arg", 0, name) or ("seg", index, segment).

        Segments are counted from the start (0 and up) or from the end (-1 and down). Empty when it takes any URL.
        """
        if self._args:
            return [("arg", 0, self._args[0][0])]
        if self._drop or self._drop_starts:
            return [] if self._drop_starts else [("arg", 0, name) for name in sorted(self._drop)]
        for paths in ([self._path] if self._path else [], self._within):
            segments = [max(path.literals, key=_length, default=(0, "")) for path in paths]
            if segments and all(text for _, text in segments):
                return [("seg", i, text) for i, text in segments]
        return []

    def apply(self, parts: UrlParts, site: str) -> UrlParts | None:
        """What the rule makes of a URL of `site`: other tokens of the same site, or None when nothing changes."""
        values: dict[str, str] = {}
        if not self._fits(parts, values):
            return None
        if self._to is not None:
            built = self._build(self._to, parts, values, site)
            return None if built == parts else built
        if self._convert is None:
            return self._without_args(parts)
        after = parts.copy()
        self._convert(after)
        return None if after == parts else after

    def _fits(self, parts: UrlParts, values: dict[str, str]) -> bool:
        """True when the URL is of the rule's context; puts captured values into `values`."""
        for name, start, form in self._args:
            if not _arg_fits(name, start, form, parts.args, values):
                return False
        segments = parts.segments or [""]
        if self._path is not None and not self._path.fits(segments, values):
            return False
        if self._within and not any(path.fits(segments, {}) for path in self._within):
            return False
        if self._without and any(path.fits(segments, {}) for path in self._without):
            return False
        if self._hosts or self._not_hosts:
            authority = parts.authority.lower()
            if (self._hosts and authority not in self._hosts) or authority in self._not_hosts:
                return False
        if self._unless and parts.args and not self._unless_fits(parts):
            return False
        match = self._match
        if match is None:
            return True
        if match.scheme is not None and parts.scheme.lower() != match.scheme:
            return False
        return match.host is None or match.host.match(parts.authority.lower(), values)

    def _unless_fits(self, parts: UrlParts) -> bool:
        names = parts.names()
        if "*" in self._unless:
            return {name for name, _, _ in self._args}.issuperset(names)
        return self._unless.isdisjoint(names)

    def _without_args(self, parts: UrlParts) -> UrlParts | None:
        drop, starts = self._drop, self._drop_starts
        names = parts.names()
        gone = [i for i, name in enumerate(names) if name in drop or (starts and name.startswith(starts))]
        if not gone:
            return None
        after = UrlParts(
            parts.scheme, parts.authority, parts.segments, list(parts.args), parts.separators, parts.fragment
        )
        for i in reversed(gone):
            after.remove_arg(i)
        return after

    def _build(self, to: Template, parts: UrlParts, values: dict[str, str], site: str) -> UrlParts | None:
        if to.whole is not None:
            return _same_site(to.whole.build(values), parts, site)
        segments = _build_path(to.path, values) if to.path else parts.segments
        built = UrlParts(
            to.scheme or parts.scheme,
            to.host.build(values) if to.host else parts.authority,
            segments,
            parts.args,
            parts.separators,
            parts.fragment,
        )
        if self._args or self._to_args:
            built.args = list(parts.args)
            self._edit_args(built, values)
        if to.host and built.authority != parts.authority:
            return _same_site(built.join(), parts, site)
        return built if sum(map(len, segments)) + sum(map(len, built.args)) <= LONGEST_URL else None

    def _edit_args(self, built: UrlParts, values: dict[str, str]) -> None:
        """Arguments that `match` names go; those that `to` names come, at their old place if they had one."""
        wanted = {n: n if form is None else f"{n}={form.build(values)}" for n, form in self._to_args.items()}
        named = {name for name, _, _ in self._args}
        for i in range(len(built.args) - 1, -1, -1):
            name = built.args[i].partition("=")[0]
            if name in wanted:
                built.args[i] = wanted.pop(name)
            elif name in named or name in self._to_args:
                built.remove_arg(i)
        for arg in wanted.values():
            built.append_arg(arg)


def _length(literal: tuple[int, str]) -> int:
    return len(literal[1])


def _arg_fits(name: str, start: str, form: Piece | None, args: list[str], values: dict[str, str]) -> bool:
    """The first argument of the name decides."""
    for arg in args:
        if arg.startswith(start):
            return form is not None and form.match(arg[len(start) :], values)
        if arg == name:
            return form is None
    return False


def _build_path(path: tuple[Piece, ...], values: dict[str, str]) -> list[str]:
    """Segments with the values put in; a segment that is one empty value is left out, one with slashes is several."""
    segments: list[str] = []
    for piece in path:
        if piece.is_literal:
            segments.append(piece.literals[0])
        elif segment := piece.build(values):
            segments += segment.split("/")
    return segments or [""]


def _same_site(url: str, parts: UrlParts, site: str) -> UrlParts | None:
    """The tokens of `url` (a URL, or a path on the same host) if it is of `site`, else None."""
    if len(url) > LONGEST_URL:
        return None
    if url.startswith("/") and not url.startswith("//"):
        url = f"{parts.scheme}://{parts.authority}{url}"
    found = split_url(url)
    return found if found is not None and site_of(url) == site else None
