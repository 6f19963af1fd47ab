"""Where a page's links lead on its own host, written so that a link and the URL of the page it leads to are one string.

Escapes, the order of arguments, default ports and "www." do not count, about as in Scrapy's fingerprint of a request.
Only what is commonly written is read: a link that an author wrote in another way is not recognized, which costs nothing
but the knowledge that the one page lists the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from urllib.parse import unquote, urljoin, urlsplit

from dedupcrawl.content.outline import unescape
from dedupcrawl.sites import host_of

_MOST = 1_000  # links of a page that are read
_LONGEST = 2_000  # characters of a link that is read
_SHORT = 300  # bytes of attributes that are remembered
_HREF = re.compile(rb"(?<![\w-])href\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def host_alike(url: str) -> str:
    """The host of a URL, be it with "www." or not."""
    return host_of(url).removeprefix("www.")


def local_form(url: str) -> str:
    """Path and query of an absolute URL, without escapes and with sorted arguments: as links to it are kept.

    >>> local_form("https://a.example/it%27s/?topic=7&page=2#last")
    "/it's/?page=2&topic=7"
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return _form(f"{parts.path or '/'}?{parts.query}")


def local_links(
    anchors: Iterable[tuple[bytes, list[bytes], int]], base: bytes, url: str, main: Collection[int] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where the links lead that stay on the page's host, as `local_form` has it, each once; and those in some blocks.

    `anchors` and `base` are those of an `Outline`, `main` the positions of these blocks.
    """
    try:
        page = urlsplit(url)
        based = urlsplit(urljoin(url, _target(base))) if base else page
    except ValueError:
        return (), ()
    host, home = host_alike(url), host_alike(based.geturl())
    path = _form(based.path or "/")
    folder = path[: path.rfind("/") + 1]
    found: dict[str, None] = {}
    found_there: dict[str, None] = {}
    for attributes, _, block in anchors:
        its_host, target = _link(attributes) if len(attributes) <= _SHORT else _link.__wrapped__(attributes)
        if not target or (home if its_host is None else its_host) != host:
            continue
        if target[0] != "/":
            target = path + target if target[0] == "?" else _joined(folder, target)
        found[target] = None
        if block in main:
            found_there[target] = None
        if len(found) >= _MOST:
            break
    return tuple(found), tuple(found_there)


@lru_cache(maxsize=8192)  # some 5 MB at most: the pages of one site have most links in common
def _link(attributes: bytes) -> tuple[str | None, str]:
    """Where a link leads: its host, None for that of its page; its form, relative or not, empty for no other page."""
    target = _target(attributes).partition("#")[0]
    if not target or len(target) > _LONGEST:
        return None, ""
    if target.startswith("//") or (":" in target and target[0] not in "/?" and _SCHEME.match(target)):
        _, slashes, rest = target.partition("//")
        if not slashes:
            return None, ""
        host, slash, rest = rest.partition("/")
        return host_alike(f"//{host}"), _form(slash + rest or "/")
    return None, _form(target)


def _form(target: str) -> str:
    """A path, be it relative, and query: two of one form lead to one page."""
    path, _, query = target.partition("?")
    path = _unescaped(path)
    return f"{path}?{'&'.join(sorted(_unescaped(query.replace('+', ' ')).split('&')))}" if query else path


def _unescaped(part: str) -> str:
    return unquote(part, errors="backslashreplace") if "%" in part else part


def _target(attributes: bytes) -> str:
    match = _HREF.search(attributes)
    written = (match[1] or match[2] or match[3] or b"") if match else b""
    return unescape(written.decode("utf-8", "replace")).strip()


def _joined(folder: str, target: str) -> str:
    """A relative path from a folder on, with its dots resolved."""
    while target.startswith(("./", "../")):
        if target.startswith("./"):
            target = target[2:]
        else:
            target = target[3:]
            folder = folder[: folder[:-1].rfind("/") + 1] or "/"
    return folder + target
