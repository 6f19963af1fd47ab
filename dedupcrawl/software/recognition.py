"""Recognition: which programs run which parts of a host, by the signs that its URLs and pages show.

It errs on the safe side: a program's rules are used only where two different signs at least were seen, of a total
weight of three or more, and only below the path at which they were seen. What speaks against a program counts as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile

from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.software.anchors import BASE
from dedupcrawl.software.program import Program, Sign, rules_at
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Piece, Template, has_braces
from dedupcrawl.urls.url_parts import DEFAULT_PORTS, UrlParts, split_url

ENOUGH = 3
"""Total weight of the signs of a program that is recognized."""

MOST_OF_A_SITE = 100
"""Programs in places: a service may have a host for each of a million users."""

_FEWEST = 2  # different signs
_DEEPEST = 4  # segments of the path of a program
_LONGEST = 100  # characters of it
_LONGEST_URL = 2_000  # characters; of longer ones nothing is told
_MOST_ARGUMENTS = 32  # of a URL that are looked at
_MOST_PATHS = 64  # of a program on a host, and pages with a sign
_MOST_HOSTS = 10_000
_MOST_PARTS = 16  # of a program's own that are another's
_MOST_SPELLINGS = 4  # of a host: with www., with a port
_URLS_REMEMBERED = 100_000  # hashes of those that were looked at: the links of a menu come with every page


@dataclass(frozen=True, slots=True)
class Sight:
    """What a page shows besides its URL.

    Attributes:
        url: Of the page.
        links: URLs that it names.
        generators: Of its meta elements.
        cookies: Names of those that it sets.
        html: As far as it is looked at.
    """

    url: str
    links: Sequence[str] = ()
    generators: Sequence[str] = ()
    cookies: Sequence[str] = ()
    html: str = ""


@dataclass(frozen=True, slots=True)
class Installation:
    """A program that was recognized somewhere.

    Attributes:
        program: Its name.
        where: Host and path.
        signs: What was seen.
        weight: Their total.
        anchors: Its paths.
        hosts: The spellings of the host, with www. and port.
    """

    program: str
    where: str
    signs: tuple[str, ...]
    weight: int
    anchors: Mapping[str, str]
    hosts: tuple[str, ...]

    def rules(self, known: Mapping[str, Program], others: Sequence[str] = ()) -> tuple[Rule, ...]:
        """What follows, on probation; nothing of a program that is not known (any more).

        Args:
            known: The programs.
            others: The paths below its own that are another's, see `parts_of_others`.
        """
        program = known.get(self.program)
        return () if program is None else tuple(rules_at(program, self.anchors, self.hosts, self.where, others))

    def undoubted_rules(self, known: Mapping[str, Program], others: Sequence[str] = ()) -> tuple[Rule, ...]:
        """What may be used where nothing tries it.

        None where the default port is written out, as archives do: their copies of one page are years apart.
        """
        if any(host.endswith(":80") for host in self.hosts):
            return ()
        doubted = {f"{self.program}.{name}@{self.where}" for name in known[self.program].doubted}
        return tuple(rule for rule in self.rules(known, others) if rule.id not in doubted)

    def parts_of_others(self, there: Iterable[Installation]) -> tuple[str, ...]:
        """The paths below its own at which others of its host were recognized: its rules are not for them."""
        if BASE not in self.anchors:
            return ()
        below = self.anchors[BASE] + "/"
        inner = (one for one in there if one.where != self.where and not set(one.hosts).isdisjoint(self.hosts))
        paths = {path for one in inner for path in one.anchors.values() if path.startswith(below)}
        return tuple(sorted(paths)[:_MOST_PARTS])

    def holds(self, url: str) -> bool:
        """Whether a URL lies below one of its paths."""
        parts = split_url(url)
        if parts is None or parts.authority.lower() not in self.hosts:
            return False
        path = "".join(f"/{segment}" for segment in parts.segments) or "/"
        return any(path.startswith(f"{anchor}/") for anchor in self.anchors.values())


@dataclass(slots=True)
class _Seen:
    """Of one host. Signs are known by their number among all; programs are those of which a URL shows a sign."""

    programs: set[str] = field(default_factory=set)
    spellings: set[str] = field(default_factory=set)
    paths: dict[tuple[str, str], dict[str, set[int]]] = field(default_factory=dict)  # program, anchor → path → signs
    pages: dict[int, set[str]] = field(default_factory=dict)  # sign → paths of pages that show it
    everywhere: set[int] = field(default_factory=set)  # signs without a path


class Recognizer:
    """Looks at URLs and pages, remembers what they show, and says what follows. Bounded, whatever comes.

    Args:
        known: The programs.
    """

    def __init__(self, known: Sequence[Program]) -> None:
        self._programs = {program.name: program for program in known}
        self._signs: list[tuple[str, Sign]] = []
        self._by_segment: defaultdict[str, list[tuple[int, int, Template]]] = defaultdict(list)  # with its place
        self._by_argument: defaultdict[str, list[tuple[int, Template]]] = defaultdict(list)
        self._by_text: list[tuple[str, int, Template]] = []
        self._of_pages: defaultdict[str, list[tuple[int, Sign]]] = defaultdict(list)  # by program
        self._hosts: dict[str, _Seen] = {}
        self._of_sites: defaultdict[str, list[str]] = defaultdict(list)  # hosts
        self._known_urls: set[int] = set()
        self.changed = False  # since someone last made it False: there is something new to recognize by
        self.met_another = False  # likewise: a host has URLs of a program that it had none of
        for program in known:
            for sign in program.signs:
                self._add(program.name, sign)

    @property
    def programs(self) -> Mapping[str, Program]:
        """Those that it knows, by name."""
        return self._programs

    def _add(self, program: str, sign: Sign) -> None:
        number = len(self._signs)
        self._signs.append((program, sign))
        if not sign.url:
            self._of_pages[program].append((number, sign))
            return
        template = sign.template()
        known = [(place, texts) for place, piece in enumerate(template.path or ()) if (texts := _texts(piece))]
        if known:
            place, texts = known[0]
            for text in texts:
                self._by_segment[text].append((place, number, template))
        elif template.args:
            self._by_argument[template.args[0][0]].append((number, template))
        else:
            literals = [literal for piece in template.path or () for literal in piece.literals]
            self._by_text.append((max(literals, key=len), number, template))

    def see_url(self, url: str) -> None:
        """Take note of a URL of the host that it names."""
        parts = split_url(url) if len(url) <= _LONGEST_URL and hash(url) not in self._known_urls else None
        if parts is not None:
            self._see(url, parts)

    def _see(self, url: str, parts: UrlParts) -> None:
        if len(self._known_urls) >= _URLS_REMEMBERED:
            self._known_urls.clear()
        self._known_urls.add(hash(url))
        seen = self._of(parts.authority, parts.scheme)
        segments = parts.segments or [""]
        for at, segment in enumerate(segments):
            for place, number, template in self._by_segment.get(segment, ()):
                if 0 <= at - place <= _DEEPEST:
                    self._try(seen, number, template, segments, at - place, parts)
        path = "/".join(segments)
        for text, number, template in self._by_text:
            if text in path:
                for start in range(min(len(segments), _DEEPEST + 1)):
                    self._try(seen, number, template, segments, start, parts)
        for name in dict.fromkeys(arg.partition("=")[0] for arg in parts.args[:_MOST_ARGUMENTS]):
            for number, template in self._by_argument.get(name, ()):
                if template.path is not None:
                    for start in range(min(len(segments), _DEEPEST + 1)):
                        self._try(seen, number, template, segments, start, parts)
                elif number not in seen.everywhere and _args_fit(template, parts):
                    seen.everywhere.add(number)
                    self._meet(seen, self._signs[number][0])

    def see_page(self, sight: Sight) -> None:
        """Take note of a page, and of the links to its own host.

        What it shows besides counts for the programs of which the host has URLs, and is not looked for of others: so
        pages are worth another look when it has some of another.
        """
        parts = split_url(sight.url)
        if parts is None:
            return
        seen = self._of(parts.authority, parts.scheme)
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
                paths = seen.pages.setdefault(number, set())
                if len(paths) < _MOST_PATHS and path not in paths:
                    paths.add(path)
                    self.changed = True

    def recognized(self, site: str) -> list[Installation]:
        """What runs where on the hosts of a site."""
        hosts = sorted(self._of_sites.get(ascii_form(site), ()))
        found = (one for host in hosts for one in self._on_host(host, self._hosts[host]))
        return list(islice(found, MOST_OF_A_SITE))

    def recognized_at(self, url: str) -> list[Installation]:
        """What runs where on the host of a URL, which is one of many where a service gives each user one."""
        parts = split_url(url)
        host = _host(parts.authority, parts.scheme) if parts is not None else ""
        return list(self._on_host(host, self._hosts[host])) if host in self._hosts else []

    def rules_of(self, site: str) -> tuple[Rule, ...]:
        """The rules of all that runs on a site."""
        there = list(self.recognized(site))
        return distinct(rule for one in there for rule in one.rules(self._programs, one.parts_of_others(there)))

    def undoubted_rules_of(self, site: str) -> tuple[Rule, ...]:
        """Those of them that may be used where neither a crawl tries them nor a log speaks of them."""
        there = list(self.recognized(site))
        return distinct(
            rule for one in there for rule in one.undoubted_rules(self._programs, one.parts_of_others(there))
        )

    def _of(self, authority: str, scheme: str) -> _Seen:
        host = _host(authority, scheme)
        seen = self._hosts.get(host)
        if seen is None:
            if len(self._hosts) >= _MOST_HOSTS:
                self._hosts.clear()
                self._of_sites.clear()
                self._known_urls.clear()
            seen = self._hosts[host] = _Seen()
            self._of_sites[ascii_form(site_of("//" + host))].append(host)
        if len(seen.spellings) < _MOST_SPELLINGS:
            seen.spellings.add(authority.lower())
        return seen

    def _try(  # noqa: PLR0913 - called for each URL: a value to hold them costs more than the work
        self, seen: _Seen, number: int, template: Template, segments: list[str], start: int, parts: UrlParts
    ) -> None:
        above = segments[:start]
        path = "".join(f"/{segment}" for segment in above)
        program, sign = self._signs[number]
        known = seen.paths.get((program, sign.anchor))
        if known is not None and number in known.get(path, ()):  # as of nearly all URLs of a site
            return
        if len(path) > _LONGEST or "" in above or has_braces(path) or "<" in path:
            return
        if _fits(template, segments[start:], parts):
            self._note(seen, number, path)

    def _note(self, seen: _Seen, number: int, path: str) -> None:
        program, sign = self._signs[number]
        paths = seen.paths.setdefault((program, sign.anchor), {})
        if path not in paths and len(paths) >= _MOST_PATHS:
            return
        signs = paths.setdefault(path, set())
        if number not in signs:
            signs.add(number)
            self._meet(seen, program)

    def _meet(self, seen: _Seen, program: str) -> None:
        self.changed = True
        if program not in seen.programs:
            seen.programs.add(program)
            self.met_another = True

    def _on_host(self, host: str, seen: _Seen) -> Iterator[Installation]:
        for name, program in self._programs.items():
            anchors = {anchor: paths for (of, anchor), paths in seen.paths.items() if of == name}
            everywhere = {number for number in seen.everywhere if self._signs[number][0] == name}
            if not anchors and not everywhere:
                continue
            for base in sorted(anchors.pop(BASE, {"": set()}) if BASE in anchors else [""]):
                yield from self._at(program, base, anchors, everywhere, host, seen)

    def _at(  # noqa: PLR0913 - called for each URL: a value to hold them costs more than the work
        self,
        program: Program,
        base: str,
        others: Mapping[str, Mapping[str, set[int]]],
        everywhere: Iterable[int],
        host: str,
        seen: _Seen,
    ) -> Iterator[Installation]:
        at_base = seen.paths.get((program.name, BASE), {}).get(base, set())
        shown = {*at_base, *everywhere}
        paths = {BASE: base} if at_base or not others else {}
        for anchor, candidates in others.items():
            path = _nearest(base, candidates)
            if path is not None:
                paths[anchor] = path
                shown |= candidates[path]
        below = [path.removesuffix("/") + "/" for path in paths.values()]
        shown |= {
            number
            for number, pages in seen.pages.items()
            if self._signs[number][0] == program.name and any(page.startswith(tuple(below)) for page in pages)
        }
        signs = [self._signs[number][1] for number in sorted(shown)]
        weight = sum(sign.weight for sign in signs)
        if weight < ENOUGH or sum(sign.weight > 0 for sign in signs) < _FEWEST:
            return
        where = host + base
        yield Installation(program.name, where, tuple(map(str, signs)), weight, paths, tuple(sorted(seen.spellings)))


def distinct(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Of rules that do the same the first."""
    found: dict[tuple[object, ...], Rule] = {}
    for rule in rules:
        found.setdefault(rule.effect, rule)
    return tuple(found.values())


def _host(authority: str, scheme: str) -> str:
    """The name of a host, whichever way it is written."""
    return authority.lower().removesuffix(DEFAULT_PORTS.get(scheme.lower(), ":")).removeprefix("www.")


def _texts(piece: Piece) -> tuple[str, ...]:
    """All that a segment of this form can be; none where that is too much to say."""
    if piece.is_literal:
        return piece.literals if piece.literals[0] else ()
    is_word = len(piece.captures) == 1 and piece.literals == ("", "")
    return tuple(sorted(piece.captures[0].words)) if is_word else ()


def _fits(template: Template, segments: Sequence[str], parts: UrlParts) -> bool:
    pieces: tuple[Piece, ...] = template.path or ()
    if pieces[-1].is_star:
        pieces = pieces[:-1]
    elif len(pieces) != len(segments):
        return False
    if len(segments) < len(pieces):
        return False
    if not all(piece.match(segment, {}) for piece, segment in zip(pieces, segments, strict=False)):
        return False
    return _args_fit(template, parts)


def _args_fit(template: Template, parts: UrlParts) -> bool:
    args = parts.args[:_MOST_ARGUMENTS]
    for name, form in template.args:
        if form is None:
            if name not in parts.args:
                return False
        elif not any(arg.startswith(f"{name}=") and form.match(arg[len(name) + 1 :], {}) for arg in args):
            return False
    return True


def _shows(sight: Sight, sign: Sign) -> bool:
    if sign.generator:
        return any(text.lower().startswith(sign.generator.lower()) for text in sight.generators)
    if sign.cookie:
        return any(name.startswith(sign.cookie) for name in sight.cookies)
    return sign.html in sight.html


def _nearest(base: str, candidates: Mapping[str, set[int]]) -> str | None:
    """Of the paths of another part of the program the one that goes with this one; None where that cannot be told."""

    def shared(path: str) -> int:
        pairs = zip(base.split("/"), path.split("/"), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    ranked = sorted(((shared(path), len(signs), path) for path, signs in candidates.items()), reverse=True)
    if len(ranked) > 1 and ranked[0][:2] == ranked[1][:2]:
        return None
    return ranked[0][2]
