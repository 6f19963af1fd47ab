"""A rule made ready to be applied to the tokens of a URL."""

from __future__ import annotations

from dedupcrawl.sites import site_of
from dedupcrawl.urls.conversions import URL_CONVERSIONS
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Piece, Template
from dedupcrawl.urls.url_parts import UrlParts, split_url

LONGEST_URL = 16_384  # characters; longer ones are nobody's page and are left alone


class CompiledRule:
    """One rule; `apply` gives new tokens and leaves those it was given as they are.

    Attributes:
        rule: The rule as written.
    """

    __slots__ = (
        "_convert",
        "_drop",
        "_drop_starts",
        "_hosts",
        "_match",
        "_not_hosts",
        "_to",
        "_unless",
        "_within",
        "_without",
        "rule",
    )

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._match, self._to = rule.templates()
        self._within, self._without = rule.scopes()
        self._hosts = frozenset(host.lower() for host in rule.hosts if not host.startswith("!"))
        self._not_hosts = frozenset(host[1:].lower() for host in rule.hosts if host.startswith("!"))
        self._unless = frozenset(rule.unless)
        self._drop = frozenset(name for name in rule.drop if not name.endswith("*"))
        self._drop_starts = tuple(name[:-1] for name in rule.drop if name.endswith("*"))
        self._convert = URL_CONVERSIONS.get(rule.convert)

    def keys(self) -> list[tuple[str, int, str]]:
        """What a URL must have for the rule to apply, one of them: ("arg", 0, name) or ("seg", index, segment).

        Segments are counted from the start (0, 1) or from the end (-1, -2, -3). Empty when it takes any URL.
        """
        if self._match and self._match.args:
            return [("arg", 0, self._match.args[0][0])]
        if self._drop and not self._drop_starts:
            return [("arg", 0, name) for name in sorted(self._drop)]
        if self._match and self._match.path:
            return _path_keys(self._match.path)
        if len(self._within) == 1:
            return _path_keys(self._within[0])
        return []

    def apply(self, parts: UrlParts, site: str) -> UrlParts | None:
        """What the rule makes of a URL of `site`: other tokens of the same site, or None when nothing changes."""
        if self._hosts and parts.authority.lower() not in self._hosts:
            return None
        if self._not_hosts and parts.authority.lower() in self._not_hosts:
            return None
        values: dict[str, str] = {}
        segments = parts.segments or [""]
        if self._within and not any(_path_fits(path, segments, {}) for path in self._within):
            return None
        if self._without and any(_path_fits(path, segments, {}) for path in self._without):
            return None
        if self._match is not None and not _fits(self._match, parts, values):
            return None
        if self._unless and not self._unless_fits(parts):
            return None
        if self._to is not None:
            built = self._build(self._to, parts, values, site)
            return None if built == parts else built
        after = parts.copy()
        if self._convert is not None:
            self._convert(after)
            return None if after == parts else after
        return after if self._drop_from(after) else None

    def _unless_fits(self, parts: UrlParts) -> bool:
        names = set(parts.names())
        if "*" in self._unless:
            named = {name for name, _ in self._match.args} if self._match else set()
            return names <= named
        return self._unless.isdisjoint(names)

    def _drop_from(self, parts: UrlParts) -> bool:
        dropped = False
        for index in range(len(parts.args) - 1, -1, -1):
            name = parts.args[index].partition("=")[0]
            if name in self._drop or (self._drop_starts and name.startswith(self._drop_starts)):
                parts.remove_arg(index)
                dropped = True
        return dropped

    def _build(self, to: Template, parts: UrlParts, values: dict[str, str], site: str) -> UrlParts | None:
        if to.whole is not None:
            return _same_site(to.whole.build(values), parts, site)
        scheme = to.scheme or parts.scheme
        authority = to.host.build(values) if to.host else parts.authority
        segments = _build_path(to.path, values) if to.path else parts.segments
        args, separators = self._build_args(to, parts, values)
        built = UrlParts(scheme, authority, segments, args, separators, parts.fragment)
        if authority != parts.authority:
            return _same_site(built.join(), parts, site)
        return built if sum(map(len, segments)) + sum(map(len, args)) <= LONGEST_URL else None

    def _build_args(self, to: Template, parts: UrlParts, values: dict[str, str]) -> tuple[list[str], list[str]]:
        if (self._match is None or not self._match.args) and not to.args:
            return parts.args, parts.separators
        wanted = {name: name if value is None else f"{name}={value.build(values)}" for name, value in to.args}
        kept = UrlParts("", "", [], list(parts.args), list(parts.separators), "")
        named = {name for name, _ in self._match.args} if self._match else set()
        for index in range(len(kept.args) - 1, -1, -1):
            name = kept.args[index].partition("=")[0]
            if name in wanted:
                kept.args[index] = wanted.pop(name)
            elif name in named or name in dict(to.args):
                kept.remove_arg(index)
        for arg in wanted.values():
            kept.append_arg(arg)
        return kept.args, kept.separators


def _path_keys(path: tuple[Piece, ...]) -> list[tuple[str, int, str]]:
    for i, piece in enumerate(reversed(path[-3:])):
        if piece.is_star:
            break
        if piece.is_literal and piece.literals[0]:
            return [("seg", -i - 1, piece.literals[0])]
    for i, piece in enumerate(path[:2]):
        if piece.is_star:
            break
        if piece.is_literal and piece.literals[0]:
            return [("seg", i, piece.literals[0])]
    return []


def _fits(match: Template, parts: UrlParts, values: dict[str, str]) -> bool:
    if match.scheme is not None and parts.scheme.lower() != match.scheme:
        return False
    for name, form in match.args:
        if not _arg_fits(name, form, parts.args, values):
            return False
    if match.path is not None and not _path_fits(match.path, parts.segments or [""], values):
        return False
    return match.host is None or match.host.match(parts.authority.lower(), values)


def _arg_fits(name: str, form: Piece | None, args: list[str], values: dict[str, str]) -> bool:
    """The first argument of the name decides."""
    for arg in args:
        if arg == name:
            return form is None
        if arg.startswith(name) and arg[len(name)] == "=":
            return form is not None and form.match(arg[len(name) + 1 :], values)
    return False


def _path_fits(path: tuple[Piece, ...], segments: list[str], values: dict[str, str]) -> bool:
    star = next((i for i, piece in enumerate(path) if piece.is_star), None)
    if star is None:
        return len(path) == len(segments) and all(
            piece.match(segment, values) for piece, segment in zip(path, segments, strict=True)
        )
    after = len(path) - star - 1
    stop = len(segments) - after
    if stop < star:
        return False
    if not all(piece.match(segment, values) for piece, segment in zip(path[:star], segments, strict=False)):
        return False
    if not all(piece.match(segment, values) for piece, segment in zip(path[star + 1 :], segments[stop:], strict=True)):
        return False
    capture = path[star].captures[0]
    value = "/".join(segments[star:stop])
    return not capture.name or values.setdefault(capture.name, value) == value


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
