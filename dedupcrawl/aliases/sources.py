"""Sources: the places where a page says that other URLs lead to it.

Each source takes a few lines and reads what the core has parsed of the page, within bounds: an alias that it misses
costs one fetch. Nothing is tested here; the code that uses an alias tests it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urldefrag, urljoin

from dedupcrawl.core.facts import Facts
from dedupcrawl.sites import owner_of
from dedupcrawl.urls.sections import traits

DUPLICATE, ELEMENT, REDIRECT = "duplicate", "element", "redirect"
SOURCES = (
    "permalink",
    ELEMENT,
    "canonical",
    "shortlink",
    "og",
    "header",
    "json-ld",
    "alternate",
    "sort-link",
    REDIRECT,
)
"""Sources that a user can choose; "duplicate" stands for what a crawl finds out by itself."""

NAMING = ("canonical", "og")
"""Sources that state the canonical URL of a page, the more reliable first."""

Section = tuple[tuple[str, str], ...]

_MOST = 1_000  # aliases of a page; no thread has more posts
_MOST_SCRIPTS = 20  # JSON-LD scripts of a page
_MOST_TOLD = 200  # values of a header, and nodes of a JSON-LD graph
_LONGEST = 2_000  # characters of a URL
_FEWEST_ORDERS, _DIRECTIONS = 3, 2  # sort links have at least 3 different columns, and at most 2 directions
_MOST_LINKS_OF_LIST = 30  # links of a list with one entry: sort links, parent, entry; set by hand, to bound time
_LONGEST_LIST = 20_000  # bytes of a page with such a list; those of archive.glftpd.io have 2,000
_MOST_JSON = 65_536  # bytes of a JSON-LD script

# Elements that may state another URL of the page.
_TELLING = (
    ("link", b"rel", (b"canonical", b"shortlink", b"amphtml", b"alternate")),
    ("meta", b"property", (b"og:url",)),
)
_NUMBERS = re.compile("[0-9]+")
_FRAGMENT = re.compile("[A-Za-z_-]{0,20}([0-9]{1,15})")
# An absolute URL that `urljoin` would leave as it is, and its fragment.
_WHOLE = re.compile(r"(https?://[a-z0-9.-]+(?::[0-9]+)?/[^\s?#\\]*(?:\?[^\s#\\]+)?)(?:#\S*)?", re.ASCII)
_PATH = re.compile(r"[^?#]+")
_SLASHES = re.compile(r"^(https?:)?/{2,}", re.IGNORECASE)
_ORDER = re.compile(r"\?([A-Za-z_]+)=([A-Za-z_]+)[&;]([A-Za-z_]+)=([A-Za-z_]+)", re.ASCII)
_OF_A_PAGE = re.compile(
    r"(?:Web|Item|About|Contact|Profile|QA|FAQ)Page|[A-Za-z]*Article|BlogPosting|DiscussionForumPosting"
)
_LINK_HEADER = re.compile(r"<([^<>]{1,2000})>\s*;([^,<>]{0,500})")
_REL = re.compile(r"\brel\s*=\s*\"?([^\";]+)", re.IGNORECASE)


def aliases_said(
    url: str,
    facts: Facts,
    headers: Mapping[str, Sequence[str]],
    wanted: frozenset[str],
    linked: Iterable[str] = (),
) -> dict[str, str]:
    """Other URLs of the same owner that a page states as its own → the first source that states them.

    Args:
        url: The URL of the page, without a fragment.
        facts: What its markup says.
        headers: Name in lower case → values.
        wanted: The sources to read.
        linked: Links of other pages to elements of this one, see `PageElements`.
    """
    base = _base(url, facts)
    pairs: list[tuple[str, str]] = []
    if "header" in wanted:  # a base element does not apply to headers (RFC 8288, 3.1)
        pairs += [("header", _absolute(url, target)) for target in _headers(headers)]
    pairs += [(source, _absolute(base, target)) for source, target in _elements(facts) if source in wanted]
    if "json-ld" in wanted:
        pairs += [("json-ld", _absolute(base, target)) for target in _json_ld(facts)]
    if "permalink" in wanted:
        pairs += [("permalink", link) for link in permalinks(url, facts, base)]
    pairs += [(ELEMENT, link) for link in linked]
    if "sort-link" in wanted:
        pairs += [("sort-link", link) for link in sort_links(url, facts, base)]
    aliases: dict[str, str] = {}
    owner = owner_of(url)
    for source, other in pairs:
        if other and other != url and other not in aliases and owner_of(other) == owner:
            aliases[other] = source
            if len(aliases) >= _MOST:
                break
    return aliases


def may_lead(url: str, target: str) -> bool:
    """Whether a request may be sent from `url` to `target`: they have one owner, and it is not from https to http."""
    is_secure = target.startswith("https:") or (target.startswith("http:") and not url.startswith("https:"))
    return is_secure and owner_of(url) == owner_of(target)


def canonical_of(url: str, facts: Facts) -> str:
    """The absolute URL of the first rel=canonical link in the head of a page; empty where there is none."""
    target = next((target for source, target in _elements(facts) if source == "canonical"), "")
    return _absolute(_base(url, facts), target)


def permalinks(url: str, facts: Facts, base: str) -> list[str]:
    """URLs of links whose fragment names an element of this very page, and whose URL contains that element's number.

    In a thread each post has such a link: `<a href="viewtopic.php?p=42#p42">` beside `<a id="p42">`.
    """
    section = section_of(url)
    links: dict[str, dict[str, None]] = {}  # fragment → targets
    paths: dict[str, str] = {}  # path of a target → its absolute URL if it is in the page's own section, else empty
    for link in facts.numbered_anchors:
        if not (fragment := element_of(link)):
            continue
        target = link.partition("#")[0]
        path = target.partition("?")[0] or target
        if path not in paths:  # a portal page shows the first posts of threads with their permalinks, which lead away
            if len(paths) >= _MOST:
                break
            there = _absolute(base, path)
            paths[path] = there if section_of(there) == section else ""
        if paths[path]:
            links.setdefault(fragment, {})[target] = None
            if len(links) >= _MOST:
                break
    elements = facts.has_elements(links.keys()) if links else ()
    made = []
    for target in (target for fragment, targets in links.items() if fragment in elements for target in targets):
        path, mark, query = target.partition("?")
        is_joined = path and mark and query and "#" not in query  # `urljoin` costs more than all the rest
        made.append(f"{paths[path]}?{query}" if is_joined else _absolute(base, target))
    return made


def element_of(link: str) -> str:
    """The element that a link leads to, if its URL names that, too, as `viewtopic.php?p=42#p42` does; else empty."""
    target, _, fragment = link.partition("#")
    number = _FRAGMENT.fullmatch(fragment)
    return fragment if number is not None and number[1] in _NUMBERS.findall(target) else ""


def sort_links(url: str, facts: Facts, base: str) -> list[str]:
    """Absolute URLs of the links that sort a folder's list: if it has one entry, each leads to the same page.

    Each column of the list has one, `<a href="?C=M;O=A">`: it has the page's own path and two arguments with words for
    values, one for the column and one for the direction. Besides these, such a page links only to the parent of the
    folder and to one file or folder in it.
    """
    own = url.partition("?")[0]
    if own[-1:] != "/" or len(facts.markup) > _LONGEST_LIST:
        return []
    targets = facts.anchors
    if len(targets) > _MOST_LINKS_OF_LIST or sum("?" in target for target in targets) < _FEWEST_ORDERS:
        return []
    there = {_absolute(base, target) for target in targets} - {"", own}
    orders = {link: match for link in there if (match := _ORDER.fullmatch(link.removeprefix(own)))}
    entries = [link for link in there - {url, *orders} if link[-1] != "/" or not own.startswith(link)]
    if len(entries) != 1 or not entries[0].partition("?")[0].startswith(own) or entries[0].startswith(f"{own}?"):
        return []
    names = {match.group(1, 3) for match in orders.values()}
    directions, columns = sorted(len({match[value] for match in orders.values()}) for value in (2, 4))
    return sorted(orders) if len(names) == 1 and directions <= _DIRECTIONS and columns >= _FEWEST_ORDERS else []


def _base(url: str, facts: Facts) -> str:
    written = facts.base
    return (_absolute(url, written) or url) if written else url


def _elements(facts: Facts) -> list[tuple[str, str]]:
    values: list[tuple[str, str]] = []
    for name, attributes in facts.elements(_TELLING, True):
        if name == "meta":
            values.append(("og", attributes.get("content", "")))
            continue
        rels = attributes["rel"].lower().split()
        target = attributes.get("href", "")
        if "hreflang" in attributes or "stylesheet" in rels:  # it links to a translation, or to no page
            continue
        values += [(rel, target) for rel in ("canonical", "shortlink") if rel in rels]
        is_other_medium = "alternate" in rels and attributes.get("type", "text/html") == "text/html"
        if "amphtml" in rels or (is_other_medium and attributes.get("media")):
            values.append(("alternate", target))
    return values


def _headers(headers: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for value in headers.get("link", ())[:_MOST_TOLD]:
        for target, parameters in _LINK_HEADER.findall(value[: 2 * _LONGEST]):
            rel = _REL.search(parameters)
            if rel and "anchor=" not in parameters and {"canonical", "shortlink"}.intersection(rel[1].lower().split()):
                yield target
    yield from headers.get("content-location", ())


def _json_ld(facts: Facts) -> Iterator[str]:
    """URLs that JSON-LD states for the page itself, not for its author or publisher."""
    for content in facts.scripts(b"application/ld+json")[:_MOST_SCRIPTS]:
        try:
            data: Any = json.loads(content) if len(content) <= _MOST_JSON else None
        except (ValueError, RecursionError):
            continue
        graph = data.get("@graph", [data]) if isinstance(data, dict) else data
        for one in graph[:_MOST_TOLD] if isinstance(graph, list) else ():
            kinds = one.get("@type") if isinstance(one, dict) else None
            if any(_OF_A_PAGE.fullmatch(str(kind)) for kind in (kinds if isinstance(kinds, list) else [kinds])):
                page = one.get("mainEntityOfPage")
                for target in (one.get("url"), page.get("@id") if isinstance(page, dict) else page):
                    if isinstance(target, str):
                        yield target


def section_of(url: str) -> Section:
    """The host, the first folder, the kind of page, and its name unless that has a digit: the section of a URL.

    >>> section_of("http://a.example/forum/viewtopic.php?t=6")
    (('front', 'forum'), ('host', 'a.example'), ('page', 'viewtopic.php'), ('name', 'viewtopic.php'))
    """
    name = url.partition("?")[0].rstrip("/").rpartition("/")[2]
    of_url = tuple(one for one in traits(url) if one[0] in ("front", "host", "page"))
    return (*of_url, ("name", "" if _NUMBERS.search(name) else name))


def _absolute(base: str, target: str) -> str:
    """The URL that a browser would open, without its fragment; empty if that is no HTTP URL or cannot be told."""
    joined = _joined(base, target.strip()) if target else ""
    # A replacement character stands for bytes that are not UTF-8, so the URL is unknown.
    is_told = joined.startswith(("http://", "https://")) and "\ufffd" not in joined
    return joined if is_told else ""


def _joined(base: str, target: str) -> str:
    if not target or len(target) > _LONGEST:
        return ""
    if (whole := _WHOLE.fullmatch(target)) is not None:
        return whole[1]
    path = _PATH.match(target)
    if path is not None and ("\\" in path[0] or "//" in path[0]):  # browsers read \ as /, and ///host as //host
        target = _SLASHES.sub(r"\1//", path[0].replace("\\", "/")) + target[path.end() :]
    try:
        return urldefrag(urljoin(base, target)).url
    except ValueError:  # http://[
        return ""
