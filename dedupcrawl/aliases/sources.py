"""Sources: where a page says of other URLs that they lead to itself.

Each is a few lines of its own. They read markup as it is commonly written, in linear time and within bounds; what is
written in another way is missed, which costs a fetch. Nothing is believed here: whoever uses it tries it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from typing import Any
from urllib.parse import urldefrag, urljoin

from dedupcrawl.core.characters import unescape
from dedupcrawl.sites import site_of

DUPLICATE, REDIRECT = "duplicate", "redirect"
SOURCES = ("permalink", "canonical", "shortlink", "og", "header", "json-ld", "alternate", "sort-link", REDIRECT)
"""Those that can be chosen; "duplicate" is what a crawl found out by itself."""

NAMING = ("canonical", "og")
"""Those that name the URL which a page is to be known by, the more telling first."""

_HEAD = 65_536  # bytes of a page in which its head is looked for
_MOST_BYTES = 1_000_000  # of a page that are searched for links to its own elements
_MOST_TAGS = 200  # of a head
_MOST = 1_000  # aliases of a page; no thread has more posts
_MOST_FRAGMENTS = 20_000  # of links, that are looked at
_MOST_SCRIPTS = 20  # of JSON-LD
_LONGEST = 2_000  # characters of a URL
_LONGEST_LINK = 500  # bytes of a link to an element, and of the tag of that
_FEWEST_ORDERS, _DIRECTIONS = 3, 2  # by so many columns, up and down, for links to be taken for orders of a list
_MOST_LINKS_OF_LIST = 30  # of one entry: its orders, what is above it, and that; set by hand, to bound time
_LONGEST_LIST = 20_000  # bytes of a page with such a list; those of archive.glftpd.io have 2,000
_MOST_LOOKS = 8  # places where the name of an element stands
# Elements that are looked for in the whole page; most stand around their links. Of a page of 900 KB that links to a
# thousand which are not there, 30 take .02 s of CPU, and all of them 2 s.
_MOST_ABSENT = 30
_AROUND = 2_000  # bytes on either side of a link in which its element mostly stands
_MOST_JSON = 65_536  # bytes of JSON-LD

_LONGEST_TAG = 2_500  # bytes

_TAG = re.compile(rb"<(link|meta|base)\b([^<>]{1,%d})>" % _LONGEST_TAG)  # in lower case
_REFERENCE = re.compile(
    r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31})(?:;|(?![A-Za-z0-9=]))", re.ASCII
)
_ATTRIBUTE = re.compile(rb"([a-z:-]{2,20})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_TELLING = (b"canonical", b"shortlink", b"og:url", b"amphtml", b"alternate", b"<base")  # in lower case
_DIGIT = re.compile("[0-9]")
_NUMBERS = re.compile(rb"[0-9]+")
_FRAGMENT = re.compile(rb"#([A-Za-z_-]{0,20}([0-9]{1,15}))(?=[\"'\s>])")
_TARGET = re.compile(rb"href\s*=\s*[\"']?([^\"'#\s<>]+)", re.IGNORECASE)
_ID = re.compile(rb"<[A-Za-z][^<>]*\s(?:id|name)\s*=\s*[\"']?", re.IGNORECASE)  # up to its value
_LINK = re.compile(rb"<[aA]\b[^<>]{0,500}?\b[hH][rR][eE][fF]\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_PATH = re.compile(r"[^?#]+")
_SLASHES = re.compile(r"^(https?:)?/{2,}", re.IGNORECASE)
_AFTER_NAME = (b'"', b"'", b" ", b"\t", b"\n", b"\r", b"/", b">")
_ORDER = re.compile(r"\?([A-Za-z_]+)=([A-Za-z_]+)[&;]([A-Za-z_]+)=([A-Za-z_]+)", re.ASCII)
_JSON_LD = re.compile(rb"<script\b[^<>]{0,500}application/ld\+json[^<>]{0,500}>", re.IGNORECASE)
_OF_A_PAGE = re.compile(
    r"(?:Web|Item|About|Contact|Profile|QA|FAQ)Page|[A-Za-z]*Article|BlogPosting|DiscussionForumPosting"
)
_LINK_HEADER = re.compile(r"<([^<>]{1,2000})>\s*;([^,<>]{0,500})")
_REL = re.compile(r"\brel\s*=\s*\"?([^\";]+)", re.IGNORECASE)


def aliases_said(url: str, body: bytes, headers: Mapping[str, Sequence[str]], wanted: frozenset[str]) -> dict[str, str]:
    """Other URLs of the same site that a page says lead to itself → the first source that says so.

    Args:
        url: Of the page, without a fragment.
        body: Its HTML, undecoded.
        headers: Name in lower case → values.
        wanted: Sources that are looked at.
    """
    found: dict[str, str] = {}
    site = site_of(url)
    base, tags = _head(url, body)
    told: list[tuple[str, str]] = []
    if "header" in wanted:
        told += _headers(headers)
    told += [one for one in _tags(tags) if one[0] in wanted]
    if "json-ld" in wanted and b"ld+json" in body[:_MOST_BYTES]:
        told += (("json-ld", target) for target in _json_ld(body[:_MOST_BYTES]))
    # The base of a page is none of its headers' (RFC 8288, 3.1).
    said = ((source, _absolute(url if source == "header" else base, target)) for source, target in told)
    links = {name: find for name, find in (("permalink", permalinks), ("sort-link", sort_links)) if name in wanted}
    own = (zip(repeat(name), find(url, body, base)) for name, find in links.items())
    for source, other in chain(said, *own):
        if other and other != url and other not in found and site_of(other) == site:
            found[other] = source
            if len(found) >= _MOST:
                break
    return found


def may_lead(url: str, target: str) -> bool:
    """Whether who asks for a URL may be led to another: to a web page of the same site, and to none less secure."""
    is_secure = target.startswith("https:") or (target.startswith("http:") and not url.startswith("https:"))
    return is_secure and site_of(url) == site_of(target)


def canonical_of(url: str, body: bytes) -> str:
    """The URL of the first rel=canonical link in the head of a page, absolute; empty where there is none."""
    base, tags = _head(url, body, (b"canonical", b"<base"))
    return next((_absolute(base, target) for source, target in _tags(tags) if source == "canonical"), "")


def permalinks(url: str, body: bytes, base: str) -> Iterator[str]:
    """Links to elements of the page that holds them, whose URL has the number of the element as a token of its own.

    In a thread each post has one: `<a href="viewtopic.php?p=42#p42">` beside `<a id="p42">`.
    """
    place = _place(url)
    links: dict[bytes, set[bytes]] = {}
    begins: dict[bytes, int] = {}
    paths: dict[bytes, str] = {}  # of a target → its URL where that is of the page's own place, else empty
    for match in islice(_FRAGMENT.finditer(body, 0, _MOST_BYTES), _MOST_FRAGMENTS):
        target = _target_before(body, match.start())
        if match[2] in _NUMBERS.findall(target):
            path = target.partition(b"?")[0] or target
            if path not in paths and len(paths) >= _MOST:
                break
            if path not in paths:  # a portal shows first posts of threads, with their links
                there = _absolute(base, _value(path))
                paths[path] = there if _place(there) == place else ""
            if not paths[path]:
                continue
            links.setdefault(match[1], set()).add(target)
            begins.setdefault(match[1], match.start())
            if len(links) >= _MOST:
                break
    left = _MOST_ABSENT
    for fragment, targets in links.items():
        start = max(0, begins[fragment] - _AROUND)
        is_there = _is_element(body, fragment, start, begins[fragment] + _AROUND)
        if not is_there and left:
            left -= 1
            is_there = _is_element(body, fragment, 0, _MOST_BYTES)
        if is_there:
            for target in sorted(targets):
                path, mark, query = target.partition(b"?")
                arguments = _value(query)
                if path and mark and arguments and "#" not in arguments:
                    yield f"{paths[path]}?{arguments}"  # a join costs more than all the rest
                else:
                    yield _absolute(base, _value(target))


def sort_links(url: str, body: bytes, base: str) -> list[str]:
    """Links that put the list of a folder into another order, where it has one entry: absolute URLs of the page itself.

    There is one for each of its columns, `<a href="?C=M;O=A">`: of the page's own path, with two arguments that have
    words for values, of which one tells the column, and one of two directions. Besides, the page links to what is above
    the folder, and to one file or folder in it. Most pages have more links.
    """
    own = url.partition("?")[0]
    if len(body) > _LONGEST_LIST or body.count(b"href") + body.count(b"HREF") > _MOST_LINKS_OF_LIST or own[-1:] != "/":
        return []
    targets = {match[1] or match[2] or match[3] or b"" for match in _LINK.finditer(body)}
    if sum(b"?" in target for target in targets) < _FEWEST_ORDERS:
        return []
    there = {_absolute(base, _value(target)) for target in targets} - {"", own}
    orders = {link: match for link in there if (match := _ORDER.fullmatch(link.removeprefix(own)))}
    entries = [link for link in there - {url, *orders} if link[-1] != "/" or not own.startswith(link)]
    if len(entries) != 1 or not entries[0].partition("?")[0].startswith(own) or entries[0].startswith(f"{own}?"):
        return []
    names = {match.group(1, 3) for match in orders.values()}
    directions, columns = sorted(len({match[value] for match in orders.values()}) for value in (2, 4))
    return sorted(orders) if len(names) == 1 and directions <= _DIRECTIONS and columns >= _FEWEST_ORDERS else []


def _target_before(body: bytes, end: int) -> bytes:
    """The target of a link, up to where its fragment begins; empty where there is no link."""
    before = body[max(0, end - _LONGEST_LINK) : end]
    at = max(before.rfind(b"href"), before.rfind(b"HREF"))
    match = _TARGET.fullmatch(before, at) if at >= 0 else None
    return match[1] if match else b""


def _is_element(body: bytes, name: bytes, start: int, end: int) -> bool:
    """Whether an element has this id or name, in its tag, as far as a few looks at a part of the markup tell."""
    at = start - 1
    for _ in range(_MOST_LOOKS):
        at = body.find(name, at + 1, end)
        if at < 0:
            return False
        tag = body.rfind(b"<", max(0, at - _LONGEST_LINK), at)
        if tag >= 0 and body[at + len(name) : at + len(name) + 1] in _AFTER_NAME and _ID.fullmatch(body, tag, at):
            return True
    return False


def _head(
    url: str, body: bytes, telling: Sequence[bytes] = _TELLING
) -> tuple[str, list[tuple[bytes, dict[bytes, str]]]]:
    """The base of a page's relative URLs, and those link and meta tags that may say something: name and attributes."""
    ends = (body.find(name, 0, _HEAD) for name in (b"</head", b"</HEAD"))
    head = body[: next((end for end in ends if end >= 0), _HEAD)]
    lower = head.lower()
    tags: list[tuple[bytes, dict[bytes, str]]] = []
    base = ""
    begins = (start for start in _telling_tags(lower, telling) if _is_markup(lower, start))
    for match in filter(None, (_TAG.match(lower, start) for start in begins)):
        name = match[1]
        attributes: dict[bytes, str] = {}
        for key, *values in _ATTRIBUTE.findall(head[match.start(2) : match.end(2)]):
            value = next((one for one in values if one), b"")
            attributes.setdefault(key.lower(), _value(value).strip())
        if name == b"base":
            base = base or attributes.get(b"href", "")
        else:
            tags.append((name, attributes))
        if len(tags) >= _MOST_TAGS:
            break
    return _absolute(url, base) or url, tags


def _telling_tags(lower: bytes, telling: Sequence[bytes]) -> list[int]:
    """Where tags begin that have a telling word in them; most of a head is not looked at."""
    starts = set()
    for word in telling:
        at = lower.find(word)
        while at >= 0:
            starts.add(lower.rfind(b"<", max(0, at - _LONGEST_TAG), at + 1))
            at = lower.find(word, at + len(word))
    return sorted(starts - {-1})


def _is_markup(lower: bytes, start: int) -> bool:
    """Whether what begins there stands in no comment and in no script."""
    ends = ((b"<!--", b"-->"), (b"<script", b"</script"))
    return all(lower.rfind(begin, 0, start) <= lower.rfind(end, 0, start) for begin, end in ends)


def _tags(tags: list[tuple[bytes, dict[bytes, str]]]) -> Iterator[tuple[str, str]]:
    """Source and target of what link and meta elements say."""
    for name, attributes in tags:
        if name == b"meta":
            if attributes.get(b"property", "").lower() == "og:url":
                yield "og", attributes.get(b"content", "")
            continue
        rels = attributes.get(b"rel", "").lower().split()
        target = attributes.get(b"href", "")
        if b"hreflang" in attributes or "stylesheet" in rels:  # a translation, or no page
            continue
        for rel in ("canonical", "shortlink"):
            if rel in rels:
                yield rel, target
        is_other_medium = "alternate" in rels and attributes.get(b"type", "text/html") == "text/html"
        if "amphtml" in rels or (is_other_medium and attributes.get(b"media")):
            yield "alternate", target


def _headers(headers: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    for value in headers.get("link", ())[:_MOST_TAGS]:
        for target, parameters in _LINK_HEADER.findall(value[: 2 * _LONGEST]):
            rel = _REL.search(parameters)
            if rel and "anchor=" not in parameters and {"canonical", "shortlink"}.intersection(rel[1].lower().split()):
                yield "header", target
    for value in headers.get("content-location", ()):
        yield "header", value


def _json_ld(body: bytes) -> Iterator[str]:
    """URLs of the page itself, not of whoever wrote or published it."""
    for match in islice(_JSON_LD.finditer(body), _MOST_SCRIPTS):
        end = body.find(b"</script", match.end(), match.end() + _MOST_JSON)
        try:
            told: Any = json.loads(body[match.end() : end]) if end >= 0 else None
        except (ValueError, RecursionError):
            continue
        graph = told.get("@graph", [told]) if isinstance(told, dict) else told
        for one in graph[:_MOST_TAGS] if isinstance(graph, list) else ():
            kinds = one.get("@type") if isinstance(one, dict) else None
            if any(_OF_A_PAGE.fullmatch(str(kind)) for kind in (kinds if isinstance(kinds, list) else [kinds])):
                page = one.get("mainEntityOfPage")
                for target in (one.get("url"), page.get("@id") if isinstance(page, dict) else page):
                    if isinstance(target, str):
                        yield target


def _place(url: str) -> tuple[str, str, str]:
    """The host, the front of the path, and the script or kind of page, by which a site routes.

    >>> _place("http://a.example/forum/viewtopic.php?t=6"), _place("http://a.example/threads/why.17/post-23")
    (('a.example', 'forum', 'viewtopic.php'), ('a.example', 'threads', '*'))
    """
    path = url.partition("?")[0].rstrip("/").split("/", 4)
    host, front, last = path[2] if len(path) > 2 else "", path[3] if len(path) > 4 else "", path[-1].rpartition("/")[2]
    if _DIGIT.search(last):
        end = last.rpartition(".")[2]
        last = f"*.{end}" if end.isalpha() and end != last else "*"
    return host, "*" if _DIGIT.search(front) else front, last


def _value(raw: bytes) -> str:
    """The text of an attribute's value: without its ";" a reference is none before "=", a letter or a digit (HTML)."""
    text = raw.decode("utf-8", "replace")
    return _REFERENCE.sub(lambda found: unescape(found[0]), text) if "&" in text else text


def _absolute(base: str, target: str) -> str:
    """The URL that a browser would go to, without its fragment; empty where that is not a web page, or not told."""
    joined = _joined(base, target.strip()) if target else ""
    is_told = joined.startswith(("http://", "https://")) and "\ufffd" not in joined  # bytes that are not UTF-8
    return joined if is_told else ""


def _joined(base: str, target: str) -> str:
    if not target or len(target) > _LONGEST:
        return ""
    path = _PATH.match(target)
    if path is not None and ("\\" in path[0] or "//" in path[0]):  # which browsers take for slashes, and two at most
        target = _SLASHES.sub(r"\1//", path[0].replace("\\", "/")) + target[path.end() :]
    try:
        return urldefrag(urljoin(base, target)).url
    except ValueError:  # http://[
        return ""
