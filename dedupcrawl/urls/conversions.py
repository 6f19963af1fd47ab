"""Value conversions of a rule's transformation (Definition 2 of Koppula et al.), and conversions of a whole URL."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from urllib.parse import quote, unquote

import msgspec

from dedupcrawl.urls.url_parts import UrlParts, without_default_port

LONGEST_RUN = 8  # segments that are looked for as one repeated run
_SAFE = "/:@!$'()*,;~-._"
_DELIMITERS = frozenset(' "#%&+/;<=>?[\\]^`{|}')  # in a segment or an argument they mean something else, or nothing
_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")
_BASE64_URL = str.maketrans("-_,", "+/=")
_HEX_PAIR = re.compile(r"%[0-9A-Fa-f]{2}")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_PLUS = re.compile(r"(?<=[^\W_])\+(?=[^\W_])")  # between words
_LETTER = re.compile(r"[^\W\d_]")


def decoded_url(value: str) -> str:
    """A URL, or a path, that was escaped to be carried in another URL; what is neither stays a mere value.

    Bytes that are not UTF-8, blanks and what is not printable stay escaped: nothing could fetch, or write down, what
    they would become.
    """
    text = _fetchable(unquote(value, errors="surrogateescape"))
    return text if text.startswith(("http://", "https://", "/")) else _decode(value)


def _fetchable(text: str) -> str:
    """With escapes for blanks and for what is not printable, as line ends are."""
    if text.isprintable() and " " not in text:
        return text
    return "".join(char if char.isprintable() and char != " " else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    if "\udc80" <= char <= "\udcff":  # a byte that is not UTF-8
        return f"%{ord(char) - 0xDC00:02X}"
    return quote(char, safe="", errors="surrogatepass")


def _decode(value: str) -> str:
    """Escapes of delimiters and of what is not printable stay: without them it would be another URL, or none."""
    return _ESCAPES.sub(_decoded_run, value)


def _decoded_run(match: re.Match[str]) -> str:
    return "".join(
        char if char.isprintable() and char not in _DELIMITERS else quote(char, safe="", errors="surrogateescape")
        for char in unquote(match[0], errors="surrogateescape")
    )


def _encode(value: str) -> str:
    return quote(value, safe=_SAFE + "%", errors="surrogatepass")


def _base64(value: str) -> str:
    try:
        return _fetchable(
            base64.b64decode(value.translate(_BASE64_URL).rstrip("=") + "=" * (-len(value.rstrip(",=")) % 4)).decode()
        )
    except (binascii.Error, ValueError):
        return value


def _unpadded(value: str) -> str:
    """A number without the zeros before it; what is none stays."""
    return (value.lstrip("0") or "0") if value.isascii() and value.isdigit() else value


Conversions = Mapping[str, Callable[[str], str]]
VALUE_CONVERSIONS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "decode": _decode,
    "path": lambda value: _decode(value).replace("%2F", "/"),
    "encode": _encode,
    "base64": _base64,
    "underscores": lambda value: value.replace("%20", "_").replace("+", "_"),
    "spaces": lambda value: value.replace("_", "%20").replace("+", "%20"),
    "blanks": lambda value: value.replace("+", "%20"),
    "unpadded": _unpadded,
}
"""What a captured value can be turned into, by the name that rules use: `{title|lower}`. None of them raises."""


def _normal_escape(match: re.Match[str]) -> str:
    char = chr(int(match[0][1:], 16))
    return char if char in _UNRESERVED else match[0].upper()


def as_sent(text: str) -> str:
    """The spelling in which every client sends it: non-ASCII characters in percent-encoding (RFC 3987, 3.1).

    Percent-encoding is as RFC 3986, 6.2.2, has it: upper case, and none where it is not needed.
    """
    if not text.isascii():
        text = _NON_ASCII.sub(lambda run: quote(run[0], errors="surrogatepass"), text)
    return _HEX_PAIR.sub(_normal_escape, text) if "%" in text else text


def _syntax(parts: UrlParts) -> UrlParts | None:
    """RFC 3986, 6.2.2 and 6.2.3: case, percent-encoding, dot segments, empty path, default port; RFC 3987, 3.1."""
    authority = parts.authority
    if parts.segments and ":" not in authority and authority == authority.lower() and parts.scheme.islower():
        path = "/".join(parts.segments)
        dots = path.startswith(".") or path.endswith(".") or "/." in path
        if not dots and all(text.isascii() and "%" not in text for text in (path, *parts.args)):
            return None
    scheme = parts.scheme.lower()
    segments = [as_sent(segment) for segment in parts.segments] or [""]
    if "." in segments or ".." in segments:
        segments = _without_dot_segments(segments)
    args = [as_sent(arg) for arg in parts.args]
    authority = without_default_port(scheme, parts.authority).removesuffix(":")
    after = UrlParts(scheme, authority, segments, args, parts.separators, parts.fragment)
    return None if after == parts else after


def _without_dot_segments(segments: list[str]) -> list[str]:
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return kept or [""]


def _sort_query(parts: UrlParts) -> UrlParts | None:
    """Arguments by name, those of one name in their order; the separator is "&"; a space is "%20".

    A "+" that does not part two words stays: in "C++" it may be one that lost its escape. Where both "&" and ";" stand
    between arguments, the ";" may be of a value ("title=Faith;_Hope&action=edit"), and nothing is sorted.
    """
    if "&" in parts.separators and ";" in parts.separators:
        return None
    joined = "&".join(parts.args)
    if "+" not in joined and "\0" not in joined and not parts.separators:
        keys = joined.replace("=", "\0").split("&")  # nothing sorts before the end of a name
        if keys == sorted(keys):
            return None
    args = sorted((_PLUS.sub("%20", arg) for arg in parts.args), key=_name)
    return None if args == parts.args and not parts.separators else parts.with_args(args)


def _drop_empty(parts: UrlParts) -> UrlParts | None:
    """Without arguments that have an empty value, and without a lone "?"."""
    return parts.without_args({i for i, arg in enumerate(parts.args) if arg.find("=") == len(arg) - 1})


def _last_of_name(parts: UrlParts) -> UrlParts | None:
    """Of arguments of one name the last, as PHP takes it; names that end in [] may repeat."""
    names = parts.names()
    last = {name: i for i, name in enumerate(names)}
    gone = {i for i, name in enumerate(names) if last[name] != i and not unquote(name).endswith("[]")}
    return parts.without_args(gone)


def _collapse_slashes(parts: UrlParts) -> UrlParts | None:
    """Several slashes in a row are one."""
    if "" not in parts.segments[:-1]:
        return None
    return parts.with_segments([segment for segment in parts.segments[:-1] if segment] + parts.segments[-1:])


def _collapse_repeats(parts: UrlParts) -> UrlParts | None:
    """A run of segments repeated at once is there once: /contact/contact/contact/ is /contact/.

    Of numbers alone it is none: /2011/11/11/ is a day.
    """
    kept: list[str] = []
    for segment in parts.segments:
        kept.append(segment)
        for length in range(1, min(len(kept) // 2, LONGEST_RUN) + 1):
            run = kept[-length:]
            if segment and run == kept[-2 * length : -length] and any(map(_LETTER.search, run)):
                del kept[-length:]
                break
    return None if len(kept) == len(parts.segments) else parts.with_segments(kept)


def _lower_path(parts: UrlParts) -> UrlParts | None:
    """The path in lower case."""
    segments = [segment.lower() for segment in parts.segments]
    return None if segments == parts.segments else parts.with_segments(segments)


def _name(arg: str) -> str:
    return arg.partition("=")[0]


class UrlConversion(msgspec.Struct, frozen=True):
    """Something that a rule can do to a whole URL.

    Attributes:
        apply: Gives other tokens, or None when nothing changes; leaves those it was given as they are. Never raises.
        needles: Texts of which a URL must have one for it to change; one empty text when it may change any URL.
    """

    apply: Callable[[UrlParts], UrlParts | None]
    needles: tuple[str, ...] = ("",)


URL_CONVERSIONS: dict[str, UrlConversion] = {
    "syntax": UrlConversion(_syntax),
    "sort-query": UrlConversion(_sort_query, ("&", "+", ";")),
    "drop-empty": UrlConversion(_drop_empty, ("?",)),
    "last-of-name": UrlConversion(_last_of_name, ("&", ";")),
    "collapse-slashes": UrlConversion(_collapse_slashes),
    "collapse-repeats": UrlConversion(_collapse_repeats),
    "lower-path": UrlConversion(_lower_path),
}
"""What a rule can do to a whole URL, by the name that rules use."""
