"""Text for people: counts, sizes and times in words, and foreign text made safe to print."""

from __future__ import annotations

import re
import time
import unicodedata

_LIMIT = 2_000  # characters of one value
_ESCAPED = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
_USER = re.compile(r"(?<=://)[^\s/?#\\]*@")
_OF_A_KIND = re.compile(r"Expected `([^`]*)`, got `([^`]*)`")
_MISSING = re.compile(r"Object missing required field `([^`]*)`")
_KINDS = {"str": "a string", "bool": "a boolean", "object": "an object", "array": "a list"}
_KINDS |= dict.fromkeys(("int", "float"), "a number")


def printable(text: str, *, letters: bool = True) -> str:
    r"""`text` in one line, with control characters (escape sequences, direction overrides) escaped.

    URLs in it lose user and password. Letters that a URL has percent-encoded in UTF-8 are decoded, as a browser treats
    both forms as equal; without `letters` they stay encoded, for output that must tell the two apart.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    >>> printable("not answered: http://user:password@a.example/")
    'not answered: http://a.example/'
    >>> printable("http://a.example/%E6%96%B0%E9%97%BB/a%2Fb%E2%80%AE")
    'http://a.example/新闻/a%2Fb%E2%80%AE'
    """
    cut = text if len(text) <= _LIMIT else text[:_LIMIT] + "…"
    if "@" in cut:
        cut = _USER.sub("", cut)
    if letters and "%" in cut:
        cut = _ESCAPED.sub(_as_letters, cut)
    if cut.isprintable():
        return cut
    return "".join(c if unicodedata.category(c)[0] not in "CZ" or c == " " else ascii(c)[1:-1] for c in cut)


def _as_letters(escaped: re.Match[str]) -> str:
    try:
        text = bytes.fromhex(escaped[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return escaped[0]
    return text if all(unicodedata.category(char)[0] in "LMN" for char in text) else escaped[0]


def counted(count: int, noun: str) -> str:
    """A number with its noun, in the singular or plural.

    >>> counted(1, "page"), counted(1_234, "page"), counted(2, "match")
    ('1 page', '1,234 pages', '2 matches')
    """
    plural = f"{noun}es" if noun.endswith(("s", "ch", "sh", "x")) else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def megabytes(count: int) -> str:
    """A number of bytes, in megabytes or kilobytes.

    >>> megabytes(1_234_567)
    '1.2 MB'
    """
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"


def moment(seconds: float) -> str:
    """A time, given in seconds since the epoch.

    >>> moment(86_400)
    '1970-01-02 00:00 UTC'
    """
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def mismatch(error: str, whole: str) -> str:
    """Turn msgspec's message about a value of the wrong type into words; `whole` names the whole value, msgspec's $.

    >>> mismatch("Expected `str | null`, got `int` - at `$.text`", "the row")
    'text must be a string or null, not a number'
    >>> mismatch("Object missing required field `new`", "the row")
    'the row has no "new"'
    """
    said, _, path = error.partition(" - at `$")
    place = path.strip("`.") or whole
    if found := _MISSING.fullmatch(said):
        return f'{place} has no "{found[1]}"'
    if found := _OF_A_KIND.fullmatch(said):
        wanted, got = (" or ".join(_KINDS.get(kind, kind) for kind in kinds.split(" | ")) for kinds in found.groups())
        return f"{place} must be {wanted}, not {got}"
    return f"{place}: {said}"
