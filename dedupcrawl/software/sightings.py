"""Sightings: recognize known software by the first pages that arrive from each top-level folder of a host."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urljoin

from w3lib.url import safe_url_string

from dedupcrawl.core.facts import Facts
from dedupcrawl.software.installation import Installation
from dedupcrawl.software.program import Program
from dedupcrawl.software.recognition import Recognizer, Sight

_MOST_HTML = 200_000  # most bytes of a page that are read
_MOST_LINKS = 500  # most links of a page that are read
_LONGEST_LINK = 2_000  # most characters of a link

_GENERATOR = (("meta", b"name", (b"generator",)),)
# Most links match this: they begin at the root of the host and need no resolution. urljoin takes ten times as long.
_PLAIN_PATH = re.compile(r"(https?://[a-z][a-z0-9.-]*)?/[\w-]+(?:[/.]\w[\w-]*)*/?(?:\?[\w=&%.+/:;,-]+)?", re.ASCII)
_UNSENT = re.compile(r"[^!#$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]")  # must be percent-encoded

# Pages that are read in each folder, because a host may run several programs, each in its own folder. On nine crawled
# sites two pages show all that eight pages show.
_PAGES_OF_A_FOLDER = 3
_FOLDERS_OF_A_HOST = 32  # set by hand, to bound time
_MOST_HOSTS = 10_000  # then all are forgotten, and their pages are read anew
_LONGEST = 260  # characters of a host, or of a folder; set by hand, to bound memory
_NOTHING: Mapping[str, int] = {}


class Sightings:
    """Reads a few pages of each folder of a host, and tells which programs they show.

    Args:
        programs: Those that are known.

    Attributes:
        programs: The known programs, by name.
    """

    def __init__(self, programs: Sequence[Program]) -> None:
        self._recognizer = Recognizer(programs)
        self.programs = self._recognizer.programs
        self._ignored = {program.name: program.ignored for program in programs if program.ignored}
        self._looked: dict[str, Counter[str]] = {}  # host → folder → pages

    def wants(self, url: str) -> bool:
        """Whether the page at a URL is one of the first of its folder."""
        host, folder = _part(url)
        looked = self._looked.get(host, _NOTHING)
        return looked.get(folder, 0) < _PAGES_OF_A_FOLDER and (folder in looked or len(looked) < _FOLDERS_OF_A_HOST)

    def look(
        self, url: str, facts: Facts, cookies: Iterable[str] = (), encoding: str = "utf-8"
    ) -> tuple[Installation, ...]:
        """Read a page; if it shows a new sign, return the installations on its host (see `Recognizer.found_at`)."""
        host, folder = _part(url)
        if host not in self._looked:
            if len(self._looked) >= _MOST_HOSTS:
                self._looked.clear()
            self._looked[host] = Counter()
        news = self._recognizer.see_page(sight_of(url, facts, cookies, encoding))
        if news.programs:
            self._looked[host].clear()
        self._looked[host][folder] += 1
        return tuple(self._recognizer.found_at(url)) if news.signs else ()

    def ignored_at(self, url: str, recognized: Iterable[Installation]) -> tuple[str, ...]:
        """The parts to ignore on a page of the software that is recognized at its URL, as in DEDUP_IGNORE."""
        ignored = self._ignored
        return tuple(
            entry
            for one in recognized
            if one.program in ignored and one.contains(url)
            for entry in ignored[one.program]
        )


def _part(url: str) -> tuple[str, str]:
    """Host and top-level folder of a URL, each cut to `_LONGEST` characters."""
    host, _, rest = url.partition("//")[2].partition("/")
    return host[:_LONGEST], rest.partition("/")[0].partition("?")[0][:_LONGEST]


def sight_of(url: str, facts: Facts, cookies: Iterable[str] = (), encoding: str = "utf-8") -> Sight:
    """The parts of a page that may show signs, from the first `_MOST_HTML` bytes of its markup and its cookies.

    As in browsers, the arguments of links are encoded in the page's encoding, and their paths in UTF-8.
    """
    try:
        base = urljoin(url, facts.base)
    except ValueError:  # http://[
        base = url
    links: dict[str, None] = {}
    origin = "/".join(base.split("/", 3)[:3])
    for written in facts.references(_MOST_HTML):
        if written[:1] in ("", "#") or len(written) > _LONGEST_LINK:
            continue
        plain = _PLAIN_PATH.fullmatch(written)
        try:
            link = urljoin(base, written) if plain is None else written if plain[1] else origin + written
            links[safe_url_string(link, encoding) if _UNSENT.search(link) else link] = None
        except ValueError:
            continue
        if len(links) >= _MOST_LINKS:
            break
    generators = tuple(attributes.get("content", "") for _, attributes in facts.elements(_GENERATOR))
    return Sight(url, tuple(links), generators, tuple(cookies), facts.markup[:_MOST_HTML])
