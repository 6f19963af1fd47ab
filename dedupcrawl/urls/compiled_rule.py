"""A rule made ready to be applied to the tokens of a URL."""

from __future__ import annotations

from dedupcrawl.sites import site_of
from dedupcrawl.urls.conversions import URL_CONVERSIONS
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Piece, Template
from dedupcrawl.urls.url_parts import UrlParts, split_url

LONGEST_URL = 16_384  # characters; longer ones are nobody's page and are left alone


class CompiledRule:
    """One rule; `apply` edits the tokens of a URL in place.

    Attributes:
        rule: The rule as written.
        needs_any: The URL must have one of these argument names for the rule to apply; empty when it needs none.
    """

    __slots__ = ("_convert", "_drop", "_drop_starts", "_hosts", "_match", "_to", "_unless", "needs_any", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._match, self._to = rule.templates()
        self._hosts = frozenset(host.lower() for host in rule.hosts)
        self._unless = frozenset(rule.unless)
        self._drop = frozenset(name for name in rule.drop if not name.endswith("*"))
        self._drop_starts = tuple(name[:-1] for name in rule.drop if name.endswith("*"))
        self._convert = URL_CONVERSIONS.get(rule.convert)
        self.needs_any: frozenset[str] = frozenset()
        if self._match and self._match.args:
            self.needs_any = frozenset({self._match.args[0][0]})
        elif self._drop and not self._drop_starts:
            self.needs_any = self._drop

    def apply(self, parts: UrlParts, site: str) -> UrlParts | None:
        """What the rule makes of a URL of `site`: the same object, edited, or a new one; None when it does not apply.

        A URL that does not change may be given back as well as None. The result is of `site` if the URL was.
        """
        if self._hosts and parts.authority.lower() not in self._hosts:
            return None
        values: dict[str, str] = {}
        match = self._match
        if match is not None and not _fits(match, parts, values):
            return None
        if self._unless and not self._unless_fits(parts):
            return None
        if self._to is not None:
            return self._build(self._to, parts, values, site)
        if self._convert is not None:
            self._convert(parts)
            return parts
        return parts if self._drop_from(parts) else None

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
    """Segments with the values put in; a segment that is one empty value is left out."""
    segments = []
    for piece in path:
        segment = piece.build(values)
        if segment or piece.is_literal:
            segments.append(segment)
    return segments or [""]


def _same_site(url: str, parts: UrlParts, site: str) -> UrlParts | None:
    """The tokens of `url` (a URL, or a path on the same host) if it is of `site`, else None."""
    if len(url) > LONGEST_URL:
        return None
    if url.startswith("/") and not url.startswith("//"):
        url = f"{parts.scheme}://{parts.authority}{url}"
    found = split_url(url)
    return found if found is not None and site_of(url) == site else None
