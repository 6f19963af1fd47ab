"""Templates: how a rule says to which URLs it applies and what it makes of them.

A template is a URL, or a part of one, with captures in braces:

    /wiki/{title}                    the path is "wiki" and one more segment
    /{folders*}/index.html           any number of segments (none too), then index.html
    /index.php?title={t}&action=raw  arguments by name, in any order; other arguments may be there as well
    ?sid={}                          an argument, on any path; a capture without a name is matched and forgotten
    //www.{host}                     the host, on any path
    http://                          the scheme, on any host

    {n:digits}  {n:hex}  {n:letters} only these characters
    {n:token}                        hexadecimal digits, eight or more: what is random, not a year nor "cafe"
    {lang:en|de|fr}                  one of these words
    {title|lower}                    in a target: the captured value, converted (see `conversions`)
    {}                               in a target: an irrelevant value; the result is an identity, not a URL to fetch
    {url|decode}                     in a target, alone: the captured value is itself the URL, or a path on this host;
                                     elsewhere `decode` leaves the escapes of delimiters as they are

An argument that a URL has several times must be of the form each time, with the same named captures.

A capture takes at least one character and stays within its segment, argument or host; only `{name*}`, a whole segment
of its own and at most once in a path, may be empty or contain slashes; behind ";" or ";name=" it ends at the next ";".
Of two captures in one segment the first takes as little as it can; if the last one does not fit what is then left, the
one before it takes as much as it can: `{words}-{id:digits}` fits `any-words-7`, and `{a}-{b:digits}-{c}` fits
`x-7-any-words`. Matching takes time linear in the length of the URL: there is no backtracking to exploit.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from dedupcrawl.core.url_forms import PathForm, Scope, ValueForm
from dedupcrawl.core.url_parts import WEB_SCHEMES
from dedupcrawl.urls.conversions import VALUE_CONVERSIONS, Conversions, decoded_url
from dedupcrawl.urls.spelling import as_sent

BRACES = re.compile(r"[{}]")  # no literal has one
SPECIAL = re.compile(r"[{}&=#?/]")  # what has none of these can be a literal anywhere
_CAPTURE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)?(\*)?(?::([^{}]*)|((?:\|[a-z0-9]+)+))?\}")
WHOLE_CONVERSIONS: Conversions = VALUE_CONVERSIONS | {"decode": decoded_url}  # of what is a whole URL
SHORTEST_TOKEN = 8  # hexadecimal digits, that are random and no word or number
_LIMIT = 4096  # characters of a template
_SHARED = 16_384  # pieces of templates that are kept for other templates with the same

_WHOLE = ("", "")  # literals of a piece that is one capture
_ASCII_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_PARAMETER = re.compile(r";(?:[^;]*=)?$")  # before a capture of what a segment has behind ";" or ";name="
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_CLASSES: dict[str, frozenset[str]] = {
    "digits": frozenset("0123456789"),
    "hex": _HEX_DIGITS,
    "token": _HEX_DIGITS,
    "letters": _ASCII_LETTERS,
    "alnum": _ASCII_LETTERS | frozenset("0123456789"),
}


class TemplateError(ValueError):
    """A template that cannot be read; the message says which and why."""


class Capture(msgspec.Struct, frozen=True, gc=False):
    """One pair of braces.

    Attributes:
        name: Empty for a value that is matched and not kept, or that does not matter.
        star: True when it takes any number of segments.
        words: The only values it takes; empty for any.
        characters: The only characters it takes; empty for any.
        least: How many of them, at least.
        conversions: Names in `VALUE_CONVERSIONS`, applied in order (targets only).
        is_parameter: True when it takes a parameter of a segment, which ends at the next ";".
    """

    name: str = ""
    star: bool = False
    words: frozenset[str] = frozenset()
    characters: frozenset[str] = frozenset()
    conversions: tuple[str, ...] = ()
    is_parameter: bool = False
    least: int = 1


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A segment, host or argument value: literals around captures, `literals[0] captures[0] literals[1] …`."""

    literals: tuple[str, ...]
    captures: tuple[Capture, ...]

    @property
    def is_literal(self) -> bool:
        return not self.captures

    @property
    def is_star(self) -> bool:
        return bool(self.captures) and self.captures[0].star

    @property
    def is_whole(self) -> bool:
        """True when it is one capture, of any value."""
        one = self.captures[0] if self.literals == _WHOLE else None
        return one is not None and not (one.star or one.words or one.characters or one.is_parameter)

    @property
    def form(self) -> ValueForm:
        return _form_of(self)


@lru_cache(maxsize=_SHARED)
def _form_of(piece: Piece) -> ValueForm:
    return ValueForm(piece.literals, piece.captures)


class Template(msgspec.Struct, frozen=True, gc=False):
    """A parsed template. None for a part that it does not mention.

    Attributes:
        scheme: "http", "https" or None.
        host: Form of host and port.
        path: Forms of the segments; an empty tuple is never used ("/" is one empty segment).
        args: Forms of the arguments by name; the value is None for an argument without "=".
        whole: Form of the whole URL (targets only); the other parts are then None and empty.
    """

    scheme: str | None = None
    host: Piece | None = None
    path: tuple[Piece, ...] | None = None
    args: tuple[tuple[str, Piece | None], ...] = ()
    whole: Piece | None = None

    def captures(self) -> list[Capture]:
        pieces = [self.whole, self.host, *(self.path or ()), *(value for _, value in self.args)]
        return [capture for piece in pieces if piece is not None for capture in piece.captures]

    def names(self) -> set[str]:
        return {capture.name for capture in self.captures() if capture.name}

    def has_irrelevant(self) -> bool:
        """True when some capture has no name: in a target, the result cannot be fetched."""
        return not all(capture.name for capture in self.captures())


@lru_cache(maxsize=_SHARED)
def parse_template(text: str) -> Template:
    """Read a template.

    Raises:
        TemplateError: When it is too long, names an unknown conversion or class, has two `{name*}`, no host after //,
            or could not be part of a URL.
    """
    if len(text) > _LIMIT:
        raise TemplateError(f"a template of {len(text)} characters is too long (at most {_LIMIT})")
    if text.startswith("{") and _CAPTURE.fullmatch(text):
        return Template(whole=_piece(text, text))
    if "#" in text:
        raise TemplateError(f"template {text!r} has a fragment: no server is asked for what stands behind a #")
    scheme, host, rest = _split_front(text)
    path_text, question_mark, query = rest.partition("?")
    if path_text and not path_text.startswith("/"):
        raise TemplateError(f"template {text!r} should start with a scheme, //, / or ?")
    path = (
        tuple(_sent(_piece(segment, text, star_allowed=True)) for segment in path_text[1:].split("/"))
        if path_text
        else None
    )
    if path and sum(piece.is_star for piece in path) > 1:
        raise TemplateError(f"template {text!r} has more than one {{name*}}")
    args: list[tuple[str, Piece | None]] = []
    for arg in query.split("&") if question_mark and query else ():
        name, equals, value = arg.partition("=")
        name = as_sent(name) if "{" not in name else name
        if ";" in arg:
            raise TemplateError(f"template {text!r}: arguments are parted by &; a ; takes its place in URLs by itself")
        if "{" in name or any(name == other for other, _ in args):
            raise TemplateError(f"template {text!r}: argument names are plain text and named once, not {name!r}")
        args.append((name, _sent(_piece(value, text)) if equals else None))
    return Template(scheme, _host(_piece(host, text)) if host else None, path, tuple(args))


def _host(piece: Piece) -> Piece:
    """Of hosts case says nothing (RFC 3986, 3.2.2)."""
    return Piece(tuple(map(str.lower, piece.literals)), piece.captures)


def _sent(piece: Piece) -> Piece:
    """What a piece is for, as URLs have it: in their one spelling (`spelling.canonical_url`)."""
    captures = [replace(one, words=frozenset(map(as_sent, one.words))) if one.words else one for one in piece.captures]
    sent = Piece(tuple(map(as_sent, piece.literals)), tuple(captures))
    return piece if sent == piece else sent


def _split_front(text: str) -> tuple[str | None, str, str]:
    scheme: str | None = None
    before, found, rest = text.partition("://")
    if found and before in WEB_SCHEMES:
        scheme = before
    elif text.startswith("//"):
        rest = text[2:]
    else:
        return None, "", text
    end = min((i for i in (rest.find("/"), rest.find("?")) if i >= 0), default=len(rest))
    if not end and (scheme is None or rest.startswith("/")):
        raise TemplateError(f"template {text!r} has no host after //: //{{}}/… is for any, and no path begins with //")
    return scheme, rest[:end], rest[end:]


def _piece(text: str, template: str, star_allowed: bool = False) -> Piece:
    try:
        return _shared_piece(text, star_allowed)
    except TemplateError as error:
        raise TemplateError(f"template {template!r}: {error}") from None


@lru_cache(maxsize=_SHARED)
def _shared_piece(text: str, star_allowed: bool) -> Piece:
    """One object for all templates with the same piece: of a million rules most are made of a few thousand."""
    literals, captures = [""], []
    position = 0
    for match in _CAPTURE.finditer(text):
        literals[-1] += text[position : match.start()]
        captures.append(_capture(match, is_parameter=_PARAMETER.search(literals[-1]) is not None))
        literals.append("")
        position = match.end()
    literals[-1] += text[position:]
    if any("{" in literal or "}" in literal for literal in literals):
        raise TemplateError(f"braces that do not pair in {text!r}")
    if any(c.star for c in captures) and not (star_allowed and len(captures) == 1 and literals == ["", ""]):
        raise TemplateError("{name*} must be a whole segment of the path")
    if "" in literals[1:-1]:
        raise TemplateError(f"two captures need text between them in {text!r}")
    return Piece(tuple(literals), tuple(captures))


def _capture(match: re.Match[str], *, is_parameter: bool) -> Capture:
    name, star, kind, conversions = match.groups()
    if star and kind is not None:
        raise TemplateError(f"{match[0]!r}: {{name*}} takes any segments, neither a class nor words")
    words: frozenset[str] = frozenset()
    characters: frozenset[str] = frozenset()
    if kind is not None and "|" in kind:
        words = frozenset(kind.split("|"))
    elif kind is not None:
        if kind not in _CLASSES:
            raise TemplateError(f"{kind!r} is not one of {', '.join(_CLASSES)} or words a|b")
        characters = _CLASSES[kind]
    names = tuple((conversions or "").split("|")[1:])
    if unknown := [c for c in names if c not in VALUE_CONVERSIONS]:
        raise TemplateError(f"unknown conversion {unknown[0]!r}")
    return Capture(
        sys.intern(name or ""),
        bool(star),
        words,
        characters,
        names,
        is_parameter,
        SHORTEST_TOKEN if kind == "token" else 1,
    )


path_form = lru_cache(maxsize=_SHARED)(PathForm)
"""Pieces → the form of a path, one object for all rules with the same."""


def scope_of(template: Template) -> Scope:
    path = path_form(template.path) if template.path else None
    return Scope(path, argument_forms(template.args))


def argument_forms(args: Sequence[tuple[str, Piece | None]]) -> tuple[tuple[str, ValueForm | None], ...]:
    return tuple((name, None if piece is None else piece.form) for name, piece in args)
