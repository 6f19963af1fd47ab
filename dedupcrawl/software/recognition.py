"""Recognize the programs that run a host or sections of it, by signs in its URLs and pages.

A program's rules are used only after two different signs with a total weight of three or more, and only below the path
where they were seen: it is better to miss a program than to take another for it. Signs against a program count as well.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Any
from urllib.parse import unquote

import msgspec

from dedupcrawl.core.url_forms import PathForm
from dedupcrawl.core.url_parts import UrlParts, split_url, without_default_port
from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.software.installation import Installation, distinct, recognized, with_parts_of_others
from dedupcrawl.software.program import BASE, Program, Sign, anchored
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.spelling import as_sent, canonical_url
from dedupcrawl.urls.template import BRACES, Piece, Template

DEEPEST = 4
"""Most segments of the path at which a program is installed."""

# Most arguments of a URL that are read. The 144,926 URLs of fifteen crawled sites have 11 at most; a malicious one of
# 2,000 characters takes 1.4 ms with all of its arguments and 0.2 with these.
_MOST_ARGUMENTS = 32

_FIRST_TEXT = re.compile(r"/([^/?{}]+)(?:[/?]|\Z)")
"""Matches a template whose first segment is a literal."""


def _readable(url: str, parts: UrlParts) -> UrlParts:
    """A URL in the spelling of signs, with unescaped delimiters, at least one segment, and only its first arguments."""
    if parts.segments and len(parts.args) <= _MOST_ARGUMENTS and "%" not in url:
        return parts
    segments, args = parts.segments or [""], parts.args[:_MOST_ARGUMENTS]
    if "%" in url:
        segments, args = [as_sent(unquote(text)) for text in segments], [as_sent(unquote(text)) for text in args]
    return parts.with_segments(segments).with_args(args)


class UrlSigns:
    """Finds the signs that a URL shows. Signs are numbered, and parsed only when a URL needs a comparison with them."""

    def __init__(self, signs: Iterable[tuple[int, Sign]]) -> None:
        self._signs = dict(signs)
        self._by_text: defaultdict[str, list[int]] = defaultdict(list)  # segment, or name of an argument → signs
        self._by_part: list[tuple[str, int]] = []  # part of a segment, and a sign that needs it
        self._forms: dict[int, tuple[Template, PathForm | None]] = {}  # sign → its parsed form, once it was compared
        self._lightness = {number: -sign.weight for number, sign in self._signs.items()}
        for number, sign in self._signs.items():
            if first := _FIRST_TEXT.match(anchored(sign.url, {})):
                self._by_text[as_sent(first[1])].append(number)
                continue
            template, _ = self._form(number)
            path = template.path or ()
            names = next(filter(None, map(_texts, path)), ()) or [name for name, _ in template.args[:1]]
            for text in names:
                self._by_text[text].append(number)
            if not names:
                literals = [literal for piece in path for literal in piece.literals]
                self._by_part.append((max(literals, key=len), number))

    def _form(self, number: int) -> tuple[Template, PathForm | None]:
        """Parse the template of a sign and the form of its path, which costs more than a comparison."""
        template = self._signs[number].template()
        made = self._forms[number] = template, PathForm(template.path) if template.path is not None else None
        return made

    def candidates(self, url: UrlParts, most: int) -> list[tuple[int, Sequence[int] | None]]:
        """The signs that the URL may show, heaviest first; `fit` compares one.

        With each come its possible starts: the numbers of first segments, below `most`, after which its path may begin;
        None for a sign without a path.
        """
        numbers = list[int]()
        texts = [*url.segments, *url.names()] if url.args else url.segments
        for text in dict.fromkeys(texts):
            numbers += self._by_text.get(text, ())
        if self._by_part:
            path = "/".join(url.segments)
            for part, number in self._by_part:
                if part in path:
                    numbers.append(number)
        numbers.sort(key=self._lightness.__getitem__)
        signs: list[tuple[int, Sequence[int] | None]] = []
        for number in numbers:
            _, form = self._forms.get(number) or self._form(number)
            starts = None if form is None else form.starts(url.segments, most)
            if starts is None or starts:
                signs.append((number, starts))
        return signs

    def fit(self, number: int, url: UrlParts, start: int) -> bool:
        """Whether the URL, without its first `start` segments, matches a sign."""
        template, path = self._forms.get(number) or self._form(number)
        if path is not None and not path.fits(url.segments[start:], {}):
            return False
        return not template.args or _args_fit(template, url.args)


def _args_fit(template: Template, args: Sequence[str]) -> bool:
    for name, piece in template.args:
        if piece is None:
            if name not in args:
                return False
        elif not any(arg.startswith(f"{name}=") and piece.form.match(arg[len(name) + 1 :], {}) for arg in args):
            return False
    return True


def _texts(piece: Piece) -> tuple[str, ...]:
    """All segments that match this form, if they can be listed; else none."""
    if piece.is_literal:
        return piece.literals if piece.literals[0] else ()
    is_word = len(piece.captures) == 1 and piece.literals == ("", "")
    return tuple(sorted(piece.captures[0].words)) if is_word else ()


_LONGEST = 100  # most characters of the path of a program
_LONGEST_URL = 2_000  # most characters of a URL; longer ones are ignored
_MOST_PATHS = 64  # most paths of an anchor on a host, and most pages with a sign
_MOST_HOSTS = 10_000  # set by hand, to bound memory
_MOST_SPELLINGS = 4  # of a host: with www., with a port
_NOTHING: dict[str, Any] = {}  # a default; nobody writes to it
_URLS_REMEMBERED = 100_000  # hashes of URLs already read: the links of a menu come with every page


class Sight(msgspec.Struct, frozen=True):
    """The parts of a page that may show signs."""

    url: str  # of the page
    links: Sequence[str] = ()  # URLs in it
    generators: Sequence[str] = ()  # from its meta elements
    cookies: Sequence[str] = ()  # names of the cookies that it sets
    markup: bytes = b""  # its first bytes, in UTF-8


class News(msgspec.Struct, frozen=True):
    """Whether a page has shown anything new about its host."""

    signs: bool = False  # a sign
    programs: bool = False  # URLs of a program that had none on the host


class _Seen(msgspec.Struct):
    """The signs seen on one host, by their numbers, for each program of which a URL has shown a sign."""

    spellings: set[str] = msgspec.field(default_factory=set)
    programs: dict[str, dict[str, dict[str, set[int]]]] = msgspec.field(default_factory=dict)  # → anchor → path → signs
    pages: dict[int, dict[str, None]] = msgspec.field(default_factory=dict)  # sign → paths of pages that show it
    everywhere: set[int] = msgspec.field(default_factory=set)  # signs without a path
    count: int = 0  # number of changes, by which callers notice news


class Recognizer:
    """Collects the signs in URLs and pages, in bounded memory, and tells which programs they show.

    Attributes:
        programs: The known programs, by name.
    """

    def __init__(self, programs: Sequence[Program]) -> None:
        self.programs: Mapping[str, Program] = {program.name: program for program in programs}
        self._signs = [(program.name, sign) for program in programs for sign in program.signs]
        self._texts = [str(sign) for _, sign in self._signs]
        self._told_by = [(program, sign.anchor) for program, sign in self._signs]
        self._of_urls = UrlSigns((number, sign) for number, (_, sign) in enumerate(self._signs) if sign.url)
        self._of_pages: defaultdict[str, list[tuple[int, Sign]]] = defaultdict(list)  # program → its signs of pages
        for number, (program, sign) in enumerate(self._signs):
            if not sign.url:
                self._of_pages[program].append((number, sign))
        self._hosts: dict[str, _Seen] = {}
        self._of_sites: defaultdict[str, list[str]] = defaultdict(list)  # site → hosts
        self._known_urls: set[int] = set()

    def see_url(self, url: str) -> None:
        parts = split_url(url) if len(url) <= _LONGEST_URL and hash(url) not in self._known_urls else None
        if parts is not None:
            self._see(url, parts)

    def _see(self, url: str, parts: UrlParts) -> None:
        if len(self._known_urls) >= _URLS_REMEMBERED:
            self._known_urls.clear()
        self._known_urls.add(hash(url))
        spelling = parts.authority.lower()  # as it is written: archives write out the default port
        if (spelled := canonical_url(url)) != url:
            url, parts = spelled, split_url(spelled) or parts
        seen = self._of(parts.authority, parts.scheme)
        if spelling not in seen.spellings and len(seen.spellings) < _MOST_SPELLINGS:
            seen.spellings.add(spelling)
            seen.count += bool(seen.programs)
        readable = _readable(url, parts)
        places = _places(parts.segments)[: len(readable.segments)]
        shown: dict[str, int] = {}  # program → its new sign here: a URL counts for one positive sign only
        for number, starts in self._of_urls.candidates(readable, len(places)):
            program, anchor = self._told_by[number]
            if shown.get(program, number) != number and self._signs[number][1].weight > 0:
                continue
            if starts is None:
                if number not in seen.everywhere and self._of_urls.fit(number, readable, 0):
                    shown[program] = number
                    seen.everywhere.add(number)
                    seen.programs.setdefault(program, {})
                    seen.count += 1
                continue
            for start in starts:
                path = places[start]
                paths = seen.programs.get(program, _NOTHING).get(anchor, _NOTHING)
                if number in paths.get(path, ()):  # as with nearly all URLs of a site
                    continue
                if self._of_urls.fit(number, readable, start) and _has_room(paths, path):
                    shown[program] = number
                    seen.programs.setdefault(program, {}).setdefault(anchor, {}).setdefault(path, set()).add(number)
                    seen.count += 1

    def see_page(self, sight: Sight) -> News:
        """Record the signs of a page and of its links to its own host.

        Signs of other kinds than URLs are searched only for programs of which the host has shown URLs. So when URLs of
        another program appear, it is worth reading pages again.
        """
        parts = split_url(canonical_url(sight.url))
        if parts is None:
            return News()
        seen = self._of(parts.authority, parts.scheme)
        before = seen.count, len(seen.programs)
        self.see_url(sight.url)
        own = _host(parts.authority, parts.scheme)
        for link in sight.links:
            if len(link) > _LONGEST_URL or hash(link) in self._known_urls:
                continue
            other = split_url(link)
            if other is not None and _host(other.authority, other.scheme) == own:
                self._see(link, other)
        path = "/" + "/".join(parts.segments)
        for number, sign in [one for program in seen.programs for one in self._of_pages.get(program, ())]:
            if _shows(sight, sign):
                paths = seen.pages.setdefault(number, {})
                if path not in paths:
                    if len(paths) >= _MOST_PATHS:
                        del paths[next(iter(paths))]
                    paths[path] = None
                    seen.count += 1
        return News(seen.count > before[0], len(seen.programs) > before[1])

    def recognized(self, site: str) -> list[Installation]:
        hosts = sorted(self._of_sites.get(ascii_form(site), ()))
        return recognized(one for host in hosts for one in self._on_host(host))

    def found_at(self, url: str) -> list[Installation]:
        """The installations on the host of a URL that are recognized, or nearly, or have signs against them.

        The last matter because another process may have recognized the program. Other hosts of the site are left out,
        because a service may give each user one.
        """
        parts = split_url(canonical_url(url))
        installations = self._on_host(_host(parts.authority, parts.scheme)) if parts is not None else ()
        return [one for one in installations if one.is_recognized or one.is_likely or one.is_spoken_against]

    def rules_of(self, site: str) -> tuple[Rule, ...]:
        """The rules of all programs on a site, including doubted ones, which crawls try and training tests on logs."""
        there = with_parts_of_others(self.recognized(site))
        return distinct(rule for one, others in there for rule in one.rules(self.programs, others))

    def _of(self, authority: str, scheme: str) -> _Seen:
        host = _host(authority, scheme)
        seen = self._hosts.get(host)
        if seen is None:
            if len(self._hosts) >= _MOST_HOSTS:
                self._hosts.clear()
                self._of_sites.clear()
                self._known_urls.clear()
            seen = self._hosts[host] = _Seen()
            self._of_sites[ascii_form(site_of("//" + authority))].append(host)
        return seen

    def _on_host(self, host: str) -> Iterator[Installation]:
        """Every place on a host of each program of which a URL has shown a sign."""
        seen = self._hosts.get(host, _Seen())
        for name in sorted(seen.programs):
            others = dict(seen.programs[name])
            at_base = others.pop(BASE, {})
            everywhere = {number for number in seen.everywhere if self._signs[number][0] == name}
            for base in sorted(at_base) or [""]:
                anchors = {BASE: base} if at_base or not others else {}
                shown = {*everywhere, *at_base.get(base, ())}
                for anchor, candidates in others.items():
                    if (path := _nearest(base, candidates)) is not None:
                        anchors[anchor] = path
                        shown |= candidates[path]
                below = tuple(path + "/" for path in anchors.values())
                for number, _ in self._of_pages.get(name, ()):
                    if any(page.startswith(below) for page in seen.pages.get(number, ())):
                        shown.add(number)
                signs = {self._texts[number]: self._signs[number][1].weight for number in sorted(shown)}
                yield Installation(name, host + base, signs, anchors, tuple(sorted(seen.spellings)))


@lru_cache(maxsize=_MOST_HOSTS)
def _host(authority: str, scheme: str) -> str:
    """The name of a host, without "www." and default port."""
    return without_default_port(scheme, authority).removeprefix("www.")


def _places(segments: Sequence[str]) -> list[str]:
    """The paths, from the root on, at which the program behind a page with these segments may be installed."""
    places = [""]
    for segment in segments[:DEEPEST]:
        path = f"{places[-1]}/{segment}"
        if not segment or len(path) > _LONGEST or BRACES.search(segment) or "<" in segment:
            break
        places.append(path)
    return places


def _has_room(paths: dict[str, set[int]], path: str) -> bool:
    """Whether another path can be recorded; if necessary, the oldest with a single sign is removed to make room."""
    if path not in paths and len(paths) >= _MOST_PATHS:
        oldest = next((place for place, signs in paths.items() if len(signs) == 1), None)
        if oldest is None:
            return False
        del paths[oldest]
    return True


def _shows(sight: Sight, sign: Sign) -> bool:
    if sign.generator:
        return any(text.lower().startswith(sign.generator.lower()) for text in sight.generators)
    if sign.cookie:
        return any(name.startswith(sign.cookie) for name in sight.cookies)
    return sign.html.encode() in sight.markup


def _nearest(base: str, candidates: Mapping[str, set[int]]) -> str | None:
    """The path of another anchor that is nearest to `base` and has most signs; None if two are equal."""

    def shared(path: str) -> int:
        pairs = zip(base.split("/"), path.split("/"), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    ranked = sorted(((shared(path), len(signs), path) for path, signs in candidates.items()), reverse=True)
    if len(ranked) > 1 and ranked[0][:2] == ranked[1][:2]:
        return None
    return ranked[0][2]
