"""What a page's markup shows of the program that made it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from html import unescape
from urllib.parse import urljoin

from w3lib.url import safe_url_string

from dedupcrawl.software.recognition import Sight

_MOST_HTML = 200_000  # characters of a page that are looked at
_MOST_LINKS = 500
_LONGEST = 2_000  # characters of a link
_LINKS_KEPT = 4_096  # as they are written: those of a menu come with every page

# href, src and action, whatever the case, looked for from their ends: a fifth of the time.
_LINK = re.compile(
    r"""[fFcCnN](?=\s*=)(?:(?<=\b[hH][rR][eE][fF])|(?<=\b[sS][rR][cC])|(?<=\b[aA][cC][tT][iI][oO][nN]))"""
    r"""\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))"""
)
# Most links, which begin at the root of the host and hold nothing to be resolved: urljoin takes ten times as long.
_PLAIN_PATH = re.compile(r"(https?://[a-z][a-z0-9.-]*)?/[\w-]+(?:[/.]\w[\w-]*)*/?(?:\?[\w=&%.+/:;,-]+)?", re.ASCII)
_UNSENT = re.compile(r"[^!#$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]")  # what is sent in percent-encoding
_META = re.compile(r"<meta\b[^<>]{0,1000}>", re.IGNORECASE)
_NAME = re.compile(r"""\bname\s*=\s*["']?generator\b""", re.IGNORECASE)
_CONTENT = re.compile(r"""\bcontent\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))""", re.IGNORECASE)


@lru_cache(_LINKS_KEPT)
def _read(written: str) -> tuple[str, str | None]:
    """A link; empty if it leads nowhere else.

    And where it need not be resolved its URL, empty if it has no host; None where it must be.
    """
    if len(written) > _LONGEST:  # before its references are read: a number of thousands of digits is an error
        return "", None
    raw = (unescape(written) if "&" in written else written).strip()
    if raw[:1] == "#":
        return "", None
    plain = _PLAIN_PATH.fullmatch(raw)
    return raw, None if plain is None else raw if plain[1] else ""


def sight_of(url: str, html: str, cookies: Iterable[str] = (), encoding: str = "utf-8") -> Sight:
    """What there is to see of a page, in the first `_MOST_HTML` characters of its HTML and the names of its cookies.

    Links send their arguments in the encoding of the page, and their paths in UTF-8.
    """
    html = html[:_MOST_HTML]
    links: dict[str, None] = {}
    origin = "/".join(url.split("/", 3)[:3])
    for written in dict.fromkeys(quoted or single or bare for quoted, single, bare in _LINK.findall(html)):
        raw, plain = _read(written)
        if not raw:
            continue
        try:
            link = urljoin(url, raw) if plain is None else plain or origin + raw
            links[safe_url_string(link, encoding) if _UNSENT.search(link) else link] = None
        except ValueError:  # http://[
            continue
        if len(links) >= _MOST_LINKS:
            break
    generators = []
    for meta in _META.findall(html):
        if _NAME.search(meta) and (content := _CONTENT.search(meta)):
            generators.append(unescape(content[1] or content[2] or content[3] or "").strip())
    return Sight(url, tuple(links), tuple(generators), tuple(cookies), html)
