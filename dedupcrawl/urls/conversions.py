"""Value conversions of a rule's transformation (Definition 2 of Koppula et al.), and conversions of a whole URL."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from urllib.parse import quote, unquote

from dedupcrawl.urls.url_parts import UrlParts

_SAFE = "/:@!$'()*,;~-._"
_BASE64_URL = str.maketrans("-_,", "+/=")
_HEX_PAIR = re.compile(r"%[0-9A-Fa-f]{2}")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def _decode(value: str) -> str:
    return unquote(value, errors="surrogateescape")


def _encode(value: str) -> str:
    return quote(value, safe=_SAFE + "%", errors="surrogatepass")


def _base64(value: str) -> str:
    try:
        return base64.b64decode(
            value.translate(_BASE64_URL).rstrip("=") + "=" * (-len(value.rstrip(",=")) % 4)
        ).decode()
    except (binascii.Error, ValueError):
        return value


VALUE_CONVERSIONS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "decode": _decode,
    "encode": _encode,
    "base64": _base64,
    "underscores": lambda value: value.replace("%20", "_").replace("+", "_"),
    "spaces": lambda value: value.replace("_", "%20").replace("+", "%20"),
}
"""What a captured value can be turned into, by the name that rules use: `{title|lower}`. None of them raises."""


def _normal_escape(match: re.Match[str]) -> str:
    char = chr(int(match[0][1:], 16))
    return char if char in _UNRESERVED else match[0].upper()


def _syntax(parts: UrlParts) -> None:
    """RFC 3986, 6.2.2 and 6.2.3: case, percent-encoding, dot segments, empty path, default port, fragment kept."""
    parts.scheme = parts.scheme.lower()
    parts.authority = parts.authority.lower().removesuffix(_DEFAULT_PORTS[parts.scheme]).removesuffix(":")
    if any("%" in segment for segment in parts.segments):
        parts.segments = [_HEX_PAIR.sub(_normal_escape, segment) for segment in parts.segments]
    if any("%" in arg for arg in parts.args):
        parts.args = [_HEX_PAIR.sub(_normal_escape, arg) for arg in parts.args]
    if not parts.segments:
        parts.segments = [""]
    elif "." in parts.segments or ".." in parts.segments:
        parts.segments = _without_dot_segments(parts.segments)


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


def _query(parts: UrlParts) -> None:
    """Arguments by name, those of one name in their order; a space is "%20"."""
    parts.args = sorted((arg.replace("+", "%20") for arg in parts.args), key=lambda arg: arg.partition("=")[0])
    parts.separators = ""


def _drop_empty(parts: UrlParts) -> None:
    """Drop arguments with an empty value, and a lone "?"."""
    for index in range(len(parts.args) - 1, -1, -1):
        if parts.args[index].endswith("=") or not parts.args[index]:
            parts.remove_arg(index)


def _last_of_name(parts: UrlParts) -> None:
    """Of arguments of one name keep the last, as PHP does; names that end in [] may repeat."""
    seen: set[str] = set()
    for index in range(len(parts.args) - 1, -1, -1):
        name = parts.args[index].partition("=")[0]
        if name in seen:
            parts.remove_arg(index)
        elif not name.endswith(("[]", "%5B%5D")):
            seen.add(name)


def _collapse_slashes(parts: UrlParts) -> None:
    """Several slashes in a row are one."""
    parts.segments = [segment for segment in parts.segments[:-1] if segment] + parts.segments[-1:]


def _collapse_repeats(parts: UrlParts) -> None:
    """A run of segments repeated at once is there once: /contact/contact/contact/ is /contact/."""
    kept: list[str] = []
    for segment in parts.segments:
        kept.append(segment)
        for length in range(1, len(kept) // 2 + 1):
            if segment and kept[-length:] == kept[-2 * length : -length]:
                del kept[-length:]
                break
    parts.segments = kept


def _lower_path(parts: UrlParts) -> None:
    """The path in lower case."""
    parts.segments = [segment.lower() for segment in parts.segments]


URL_CONVERSIONS: dict[str, Callable[[UrlParts], None]] = {
    "syntax": _syntax,
    "sort-query": _query,
    "drop-empty": _drop_empty,
    "last-of-name": _last_of_name,
    "collapse-slashes": _collapse_slashes,
    "collapse-repeats": _collapse_repeats,
    "lower-path": _lower_path,
}
"""What a rule can do to a whole URL, by the name that rules use. None of them raises."""
