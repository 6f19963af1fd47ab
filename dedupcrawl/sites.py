"""Sites and owners of URLs, according to the Public Suffix List (from the package publicsuffixlist).

A site is a registrable domain. An owner is responsible for a page: two users of one hosting service, two ports of one
host and the folders of two users have different owners, and evidence about one does not count for the other.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from unicodedata import normalize

from publicsuffixlist import PSLFILE

_CACHE_SIZE = 16_384  # hosts
_HOST_LIMIT = 253  # most characters of a host name (RFC 1035)
_AUTHORITY_LIMIT = 1000  # most characters of user, host and port that are parsed; longer ones are left as they are
_PLAIN = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9.-]*[a-z])(?:[/?#]|\Z)")  # most URLs: the host needs no change
_AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//([^/?#\\]*)|([^/?#\\]*)")
_USER = re.compile(r"\A((?:[A-Za-z][A-Za-z0-9+.-]*:)?//)[^/?#\\]*@")
_DOTS = str.maketrans("。．｡", "...")  # these separate labels like a full stop (RFC 3490, 3.1)
_END_OF_ICANN = "// ===END ICANN DOMAINS==="
_END = re.compile(r"(?:\.|:\d*)+\Z")  # port, final dot
_PORT = re.compile(r":0*([1-9]\d*)\Z")
_LONGEST_PORT = 20  # characters at the end in which a port is searched
_USUAL_PORTS = ("80", "443")
_PATH = re.compile(r"(?:[^/?#]*//)?[^/?#]*/([^?#]*)")
_MARKS = (("%7E", "~"), ("%7e", "~"), ("%2E", "."), ("%2e", "."))  # servers treat both spellings alike


@cache
def _suffixes() -> tuple[dict[str, None], dict[str, None]]:
    """The lines of the list with its comments: ICANN's part, and the private part.

    "!name" is an exception, and "*.name" stands for all names with one more label.
    """
    # A dict of strings only, because the garbage collector skips it, while it visits every string of a set each time.
    # The library takes 40 ms to read the list, and reading the file in text mode takes three times as long as this.
    by_icann, _, by_others = Path(PSLFILE).read_bytes().decode().partition(_END_OF_ICANN)
    return dict.fromkeys(by_icann.split("\n")), dict.fromkeys(by_others.split("\n"))


@lru_cache(maxsize=_CACHE_SIZE)
def _registrable(host: str, only_icann: bool) -> str:
    if host.startswith("[") or len(host) > _HOST_LIMIT:
        return host
    by_icann, by_others = _suffixes()
    listed = (by_icann,) if only_icann else (by_icann, by_others)  # all of github.io may share a template
    labels = host.split(".")
    read = other_form(host).split(".") if "xn--" in host else labels
    if "" in read or len(read) != len(labels):  # not a domain name
        return host
    names = [".".join(read[at:]) for at in range(len(read))]  # longest first, as the longest suffix counts
    for at, (name, above) in enumerate(zip(names, [*names[1:], ""], strict=True)):
        if any(f"!{name}" in some for some in listed):
            return ".".join(labels[at:])
        if any(name in some or f"*.{above}" in some or f"*.{name}" in some for some in listed):
            return ".".join(labels[max(at - 1, 0) :])
    return host


def without_user(url: str) -> str:
    """A URL without user and password.

    >>> without_user("http://user:password@a.example/b@c")
    'http://a.example/b@c'
    """
    return _USER.sub(r"\1", url, count=1) if "@" in url else url


def _authority(url_or_host: str) -> str:
    match = _AUTHORITY.match("".join(url_or_host.split()))
    return (match[1] or match[2] or "") if match else ""


@lru_cache(maxsize=64)  # enough for a page and its candidates, and few, because a URL may be long
def host_of(url_or_host: str) -> str:
    """The host of a URL or a bare host, in lower case, without user, port and final dot; empty if there is none.

    >>> host_of("https://user@News.Example.com:8080/a?b")
    'news.example.com'
    """
    if plain := _PLAIN.match(url_or_host):
        return plain[1]
    authority = _authority(url_or_host)
    if len(authority) > _AUTHORITY_LIMIT:  # no host is so long, and `_END` would take forever on many colons
        return authority.lower()
    return _END.sub("", authority.rpartition("@")[2].translate(_DOTS)).lower()


def host_alike(url_or_host: str) -> str:
    """The host of a URL, without "www."."""
    return host_of(url_or_host).removeprefix("www.")


def site_of(url_or_host: str) -> str:
    """The registrable domain of a URL or host, or the host itself if it has none (an IP address, localhost).

    Any string has a site, which may be empty.

    >>> site_of("https://news.example.co.uk/today")
    'example.co.uk'
    >>> site_of("http://127.0.0.1:8000/")
    '127.0.0.1'
    """
    return _registrable(host_of(url_or_host), True)


def other_form(site: str) -> str:
    """Convert an international name to ASCII (RFC 3490), or back from ASCII; other names stay as they are.

    "ß" and "ς" keep encodings of their own (RFC 5891), because the name with "ss" or "σ" may be another site.
    """
    if len(site) > _HOST_LIMIT:  # not a name, and the conversion takes quadratic time
        return site
    try:
        if not site.isascii():
            return ".".join(map(_ascii_label, site.translate(_DOTS).split(".")))
        return site.encode("ascii").decode("idna") if "xn--" in site else site
    except UnicodeError:
        return site


def _ascii_label(label: str) -> str:
    """Convert one label of a name to ASCII.

    Raises:
        UnicodeError: It is not a valid label.
    """
    if "\u200c" in label or "\u200d" in label:  # RFC 3490 has no rules for where joiners are valid
        raise UnicodeError(label)
    if "ß" in label or "ς" in label:
        return f"xn--{normalize('NFKC', label).encode('punycode').decode()}"
    return label.encode("idna").decode("ascii")


def ascii_form(site: str) -> str:
    """The normal form of a site's name: an international name is converted to ASCII (RFC 3490).

    >>> ascii_form("bücher.example"), ascii_form("xn--bcher-kva.example")
    ('xn--bcher-kva.example', 'xn--bcher-kva.example')
    """
    return site if site.isascii() else other_form(site)


@lru_cache(maxsize=64)
def tenancy_of(url_or_host: str) -> str:
    """The part of its host that a URL belongs to: the port unless it is 80 or 443, and the user whose folder it is in.

    >>> tenancy_of("http://uni.example:8080/~bob/a.html"), tenancy_of("https://uni.example/a.html")
    (':8080/~bob', '')
    """
    port = "" if _PLAIN.match(url_or_host) else _port_of(_authority(url_or_host))
    return port + _user_of(url_or_host) if "~" in url_or_host or "%7" in url_or_host else port


def _port_of(authority: str) -> str:
    if len(authority) > _AUTHORITY_LIMIT:
        return ""  # `host_of` returns all of it, with the port
    match = _PORT.search(authority[-_LONGEST_PORT:])
    return f":{match[1]}" if match and match[1] not in _USUAL_PORTS else ""


def _user_of(url: str) -> str:
    """The first folder of the path that begins with "~", after "." and ".." are resolved."""
    match = _PATH.match(url)
    path = match[1] if match else ""
    for written, mark in _MARKS:
        path = path.replace(written, mark)
    folders: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            folders = folders[:-1]
        elif segment != ".":
            folders.append(segment)
    return next((f"/{folder}" for folder in folders if len(folder) > 1 and folder[0] == "~"), "")


def owner_of(url_or_host: str) -> str:
    """The owner of a URL: the registrable name of its host by the whole list, with its `tenancy_of`.

    >>> owner_of("https://alice.github.io/"), site_of("https://alice.github.io/")
    ('alice.github.io', 'github.io')
    >>> owner_of("http://www.uni.example:8080/~bob/a.html")
    'uni.example:8080/~bob'
    """
    return _registrable(host_of(url_or_host), False) + tenancy_of(url_or_host)
