"""Value conversions of a rule's transformation (Definition 2 of Koppula et al.), and conversions of a whole URL."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from urllib.parse import quote, unquote

import msgspec

from dedupcrawl.core.url_parts import UrlParts, split_url
from dedupcrawl.urls.spelling import as_sent, canonical_url, without_dot_segments

LONGEST_RUN = 8  # segments that are looked for as one repeated run
_SAFE = "/:@!$'()*,;~-._"
_DELIMITERS = frozenset(' "#%&+/;<=>?[\\]^`{|}')  # in a segment or an argument they mean something else, or nothing
_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")
_BASE64_URL = str.maketrans("-_,", "+/=")
_PLUS = re.compile(r"(?<=[^\W_])\+(?=[^\W_])")  # between words
_LETTER = re.compile(r"[^\W\d_]")
# As HTML writes it, once or several times, escaped or not.
_AMPERSAND = re.compile(r"&(?:(?:amp|(?:#|%23)(?:0*38|[xX]0*26))(?:;|%3B))+")
_ESCAPED_TWICE = re.compile(r"%(?:25)+(?=[0-9A-Fa-f]{2})")
_LIST = re.compile(r"(.+?)(?:\[|%5B)([0-9]*)(?:\]|%5D)")
_DELIMITERS_OF_A_QUERY = re.compile("%(?:2[14789ACF]|3A|40|5B|5D)")  # ! $ ' ( ) * , / : @ [ ]


def decoded_url(value: str) -> str:
    """A URL, or a path, that was escaped to stand in another URL; anything else stays a mere value.

    Bytes that are not UTF-8, blanks and unprintable characters stay escaped, because the result could not be fetched or
    written down.
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


@lru_cache(maxsize=1_024)  # many links of a page carry the page's own URL
def _base64(value: str) -> str:
    """What an encoder would not write stays, as it would be a second spelling of another value."""
    digits = value.translate(_BASE64_URL).rstrip("=")
    try:
        decoded = base64.b64decode(digits + "=" * (-len(digits) % 4))
        return _fetchable(decoded.decode()) if base64.b64encode(decoded).decode().rstrip("=") == digits else value
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


def _sort_query(parts: UrlParts) -> UrlParts | None:
    """Arguments by name, those of one name in their order; the separator is "&"; a space is "%20".

    A "+" that does not part two words stays: in "C++" it may be one that lost its escape. Where both "&" and ";" stand
    between arguments, the ";" may be of a value ("title=Faith;_Hope&action=edit"), and nothing is sorted.
    """
    if parts.is_sorted() or ("&" in parts.separators and ";" in parts.separators):
        return None
    args = sorted((_PLUS.sub("%20", arg) for arg in parts.args), key=_name)
    return None if args == parts.args and not parts.separators else parts.with_args(args)


def _drop_empty(parts: UrlParts) -> UrlParts | None:
    """Without arguments that have an empty value, and without a lone "?"."""
    return parts.without_args({i for i, arg in enumerate(parts.args) if arg.find("=") == len(arg) - 1})


def _last_of_name(parts: UrlParts) -> UrlParts | None:
    """Of arguments of one name the last, as PHP takes it; names that end in [] may repeat."""
    if not parts.repeats_names():
        return None
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
    """The path in lower case, but for the digits of its escapes."""
    segments = [as_sent(segment.lower()) for segment in parts.segments]
    return None if segments == parts.segments else parts.with_segments(segments)


def _ampersands(parts: UrlParts) -> UrlParts | None:
    """What HTML writes for an ampersand is one: ?f=1&amp;t=2 and ?f=1&#38;t=2 are ?f=1&t=2."""
    front, _, query = parts.join().partition("?")
    after = _AMPERSAND.sub("&", query) if parts.args else query
    return None if after == query else split_url(canonical_url(f"{front}?{after}"))


def _question_marks(parts: UrlParts) -> UrlParts | None:
    """A second question mark parts arguments, too, and what stands behind it comes in the place of one of that name.

    So ?page=1?page=5 is ?page=5, and ?a=1?b=2 is ?a=1&b=2.
    """
    if parts.separators or not any("?" in arg for arg in parts.args):
        return None
    args: list[str] = []
    instead: dict[str, int] = {}  # name → place of the last that a question mark brought
    for arg in parts.args:
        first, *others = arg.split("?")
        args.append(first)
        for other in others:
            instead[_name(other)] = len(args)
            args.append(other)
    return parts.with_args([arg for i, arg in enumerate(args) if i >= instead.get(_name(arg), 0)])


def _first_query(parts: UrlParts) -> UrlParts | None:
    """A value ends at a second question mark, as where a number is read of it: ?id=5?utm_source=a is ?id=5."""
    args = [arg.partition("?")[0] for arg in parts.args]
    return None if args == parts.args else parts.with_args(args, parts.separators)


def _sort_lists(parts: UrlParts) -> UrlParts | None:
    """The values of a list in their order: ?f[0]=b&f[1]=a is ?f[0]=a&f[1]=b, and ?f=b&f=a is ?f=a&f=b."""
    lists: dict[str, list[int]] = {}
    for i, name in enumerate(parts.names()):
        match = _LIST.fullmatch(name)
        lists.setdefault(f"{match[1]}[" if match else name, []).append(i)
    if len(lists) == len(parts.args):
        return None
    args = parts.args.copy()
    for places in lists.values():
        names = [_name(args[i]) for i in places]
        indices = [match[2] for name in names if (match := _LIST.fullmatch(name))]
        if any(indices) and len(set(indices)) < len(indices):  # one value comes in the place of another
            continue
        values = sorted(args[i][len(name) :] for i, name in zip(places, names, strict=True))
        for i, name, value in zip(places, sorted(names), values, strict=True):
            args[i] = name + value
    return None if args == parts.args else parts.with_args(args, parts.separators)


def _sort_commas(parts: UrlParts) -> UrlParts | None:
    """What commas part in the values of arguments in its order: ?tags=b,a is ?tags=a,b."""
    args = []
    for arg in parts.args:
        name, _, value = arg.partition("=")
        comma = "," if "," in value else "%2C"
        args.append(f"{name}={comma.join(sorted(value.split(comma)))}" if comma in value else arg)
    return None if args == parts.args else parts.with_args(args, parts.separators)


def _plain_query(parts: UrlParts) -> UrlParts | None:
    """No escapes of delimiters that part nothing in a query: ?f%5B0%5D=a%2Fb%3A1 is ?f[0]=a/b:1."""
    args = [_DELIMITERS_OF_A_QUERY.sub(lambda match: unquote(match[0]), arg) for arg in parts.args]
    return None if args == parts.args else parts.with_args(args, parts.separators)


def _plain_slashes(parts: UrlParts) -> UrlParts | None:
    """An escaped slash of the path is one: /a%2Fb is /a/b."""
    path = "/".join(parts.segments)
    if "%2F" not in path:
        return None
    return parts.with_segments(without_dot_segments(path.replace("%2F", "/").split("/")))


def _escaped_once(parts: UrlParts) -> UrlParts | None:
    """What was escaped twice, or oftener, is escaped once: /a%2520b is /a%20b."""
    url, front = parts.join(), f"{parts.scheme}://{parts.authority}"
    after = front + _ESCAPED_TWICE.sub("%", url.removeprefix(front))
    return None if after == url else split_url(canonical_url(after))


def _syntax(parts: UrlParts) -> UrlParts | None:
    """The one spelling of the URL, which the normalizer gives to every URL by itself."""
    url = parts.join()
    spelled = canonical_url(url)
    return None if spelled == url else split_url(spelled)


def _name(arg: str) -> str:
    return arg.partition("=")[0]


class UrlConversion(msgspec.Struct, frozen=True):
    """Something that a rule can do to a whole URL.

    Attributes:
        apply: Gives other tokens, or None when nothing changes; leaves those it was given as they are. Never raises.
            The tokens of a URL in its one spelling (`spelling.canonical_url`) become such tokens.
        needles: Texts of which a URL must have one for it to change; one empty text when it may change any URL.
        of_arguments: Whether it changes arguments alone.
    """

    apply: Callable[[UrlParts], UrlParts | None]
    needles: tuple[str, ...] = ("",)
    of_arguments: bool = False


URL_CONVERSIONS: dict[str, UrlConversion] = {
    "syntax": UrlConversion(_syntax),
    "ampersands": UrlConversion(_ampersands, ("&amp", "&#", "&%23"), of_arguments=True),
    "question-marks": UrlConversion(_question_marks, ("?",), of_arguments=True),
    "first-query": UrlConversion(_first_query, ("?",), of_arguments=True),
    "escaped-once": UrlConversion(_escaped_once, ("%25",)),
    "plain-query": UrlConversion(_plain_query, ("%",), of_arguments=True),
    "plain-slashes": UrlConversion(_plain_slashes, ("%2F",)),
    "sort-query": UrlConversion(_sort_query, ("&", "+", ";"), of_arguments=True),
    "sort-lists": UrlConversion(_sort_lists, ("&", ";"), of_arguments=True),
    "sort-commas": UrlConversion(_sort_commas, (",", "%2C"), of_arguments=True),
    "drop-empty": UrlConversion(_drop_empty, ("?",), of_arguments=True),
    "last-of-name": UrlConversion(_last_of_name, ("&", ";"), of_arguments=True),
    "collapse-slashes": UrlConversion(_collapse_slashes),
    "collapse-repeats": UrlConversion(_collapse_repeats),
    "lower-path": UrlConversion(_lower_path),
}
"""What a rule can do to a whole URL, by the name that rules use."""
