"""The one spelling of a URL: two URLs that RFC 3986 and the URL standard call equivalent are spelled alike.

This is the same on every site, so it comes before any rule. Equivalent are, in an http or https URL,

- scheme and host in either case, a host in Unicode or in ASCII (IDNA), and one whose characters are escaped;
- the scheme's default port, an empty one, and none; a port with leading zeros;
- percent-encoding in either case, escapes of characters that need none, and characters that every client escapes;
- no path and "/"; a path with dot segments and the path to which they lead;
- a URL with blanks around it, or line ends in it;
- a URL with a fragment and without, unless the fragment names a page of its own: see `_kept_fragment`.

(RFC 3986, 6.2.2 and 6.2.3; RFC 3987, 3.1; https://url.spec.whatwg.org.)
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote, unquote

from dedupcrawl.core.url_parts import DEFAULT_PORTS
from dedupcrawl.sites import ascii_form

LONGEST_URL = 16_384  # characters; longer ones are nobody's page and are left alone

_REMEMBERED = 256  # URLs: few, because one may be long, and as many as the links of a page, each asked about thrice

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PLAIN = r"[!$&-;=?-\[\]_a-z~]*"  # what stands for itself
_NEEDED = r"%(?:[0189A-F][0-9A-F]|2[0-9ABCF]|3[A-F]|40|5[B-E]|60|7[BCDF])"  # an escape of something else
SPELLED = rf"https?://[a-z0-9.-]+/{_PLAIN}(?:{_NEEDED}{_PLAIN})*"
"""A URL that is spelled so already, as nearly all are, unless it holds "/.": that may begin a dot segment."""
_SPELLED = re.compile(SPELLED)
_DOT = "/."
_NEVER_SENT = re.compile(r"[^!#-;=?-\[\]_a-z~]+")
_ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%[0-9A-Fa-f]{2}")  # of "%%37e" the "7" would make an escape: it stays
_URL = re.compile(r"([A-Za-z]+)://([^/?#\\]*)((?:/[^?#]*)?)(\?[^#]*)?(?:#(.*))?")
_USUAL = re.compile(r"[a-z0-9.-]+")  # host
_AUTHORITY = re.compile(r"((?:[^@]*@)?)(\[[0-9A-Fa-f:.]+\]|[^@\[\]:]+)(?::([0-9]*))?")
_NO_HOST = re.compile(r"[^!$&-.0-9;=A-Z_a-z~]")
_AROUND = "".join(map(chr, range(0x21)))  # control characters and the blank
_LINE_ENDS = str.maketrans("", "", "\t\r\n")
_ESCAPED_AMPERSAND = re.compile(r"(?:0*38|[xX]0*26);")  # what HTML writes for "&", behind "&#"


@lru_cache(maxsize=_REMEMBERED)
def canonical_url(url: str) -> str:
    """The one spelling of an http or https URL; any other text as it is.

    It accepts any text and is idempotent. A URL of more than `LONGEST_URL` characters, in either spelling, and one with
    an invalid host, stay as they are.

    >>> canonical_url("HTTP://Www.Example.COM:80/%7ejoe/./a/../?q=%c3%a4#top")
    'http://www.example.com/~joe/?q=%C3%A4'
    >>> canonical_url("https://bücher.example"), canonical_url("http://a.com/#!/news")
    ('https://xn--bcher-kva.example/', 'http://a.com/#!/news')
    """
    if (_SPELLED.fullmatch(url) and _DOT not in url) or len(url) > LONGEST_URL:
        return url
    match = _URL.fullmatch(url.strip(_AROUND).translate(_LINE_ENDS))
    if match is None or (scheme := match[1].lower()) not in DEFAULT_PORTS:
        return url
    authority = _authority(scheme, match[2])
    if authority is None:
        return url
    path, query = as_sent(match[3]) or "/", as_sent(match[4] or "")
    if _DOT in path:
        path = "/" + "/".join(without_dot_segments(path[1:].split("/")))
    spelled = f"{scheme}://{authority}{path}{query}{_kept_fragment(query, match[5] or '')}"
    return spelled if len(spelled) <= LONGEST_URL else url


def as_sent(text: str) -> str:
    """A part of a URL in the spelling in which every client sends it.

    Characters that no URL may hold, such as those that are not ASCII, are percent-encoded (RFC 3987, 3.1). Escapes are
    as RFC 3986, 6.2.2, has them: in upper case, and none of a character that needs none.
    """
    if _NEVER_SENT.search(text):
        text = _NEVER_SENT.sub(lambda run: quote(run[0], safe="", errors="surrogatepass"), text)
    return _ESCAPE.sub(_normal_escape, text) if "%" in text else text


def _normal_escape(match: re.Match[str]) -> str:
    char = chr(int(match[0][1:], 16))
    return char if char in _UNRESERVED else match[0].upper()


def without_dot_segments(segments: list[str]) -> list[str]:
    """The segments of the path that a path leads to (RFC 3986, 5.2.4)."""
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return kept or [""]


def _authority(scheme: str, text: str) -> str | None:
    """User, host and port; None where the host is none, or the port no number."""
    if _USUAL.fullmatch(text):
        return text
    match = _AUTHORITY.fullmatch(text)
    host = match and _host(match[2])
    if not match or not host:
        return None
    user = "" if match[1] == "@" else as_sent(match[1])
    port = f":{match[3].lstrip('0') or '0'}" if match[3] else ""
    return user + host + ("" if port == DEFAULT_PORTS[scheme] else port)


def _host(host: str) -> str | None:
    """The host in ASCII and in lower case; None where that is no host."""
    if host.startswith("["):
        return host.lower()
    if "%" in host:
        host = unquote(host, errors="surrogateescape")
    host = ascii_form(host.lower())
    return None if _NO_HOST.search(host) else host


def _kept_fragment(query: str, fragment: str) -> str:
    """The fragment that names a page of its own, with its "#"; empty for any other.

    "#!/news" or "#/news" asks a program in the page for another page. What follows "#" in "?f=2&#38;t=3" is no
    fragment: the link was escaped twice, or never unescaped.
    """
    is_route = fragment.startswith(("!", "/"))
    is_query = query.endswith("&") and _ESCAPED_AMPERSAND.match(fragment)
    return "#" + as_sent(fragment) if is_route or is_query else ""
