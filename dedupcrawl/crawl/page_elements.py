"""Which page has an element, and which links lead to it: a link to a post also leads to the thread that holds it."""

from __future__ import annotations

from dataclasses import dataclass, field

from dedupcrawl.aliases.sources import Section, element_of, section_of
from dedupcrawl.core.facts import Facts
from dedupcrawl.crawl.request_meta import without_fragment

_MOST = 100_000  # elements and links that are remembered, some 200 bytes each


@dataclass(slots=True)
class _Elements:
    """Those of one section of a site."""

    kinds: set[str] = field(default_factory=set)  # names without their numbers, of elements that links lead to
    pages: dict[str, tuple[str, int]] = field(default_factory=dict)  # element → its page's URL, a hash of all on it
    links: dict[str, dict[str, None]] = field(default_factory=dict)  # element of a page to come → links to it


class PageElements:
    """Finds the page of a link such as `viewtopic.php?p=42#p42` by its element, if one page of the section has it.

    Such links lead to the posts of a thread from lists and other threads, often before the thread itself is fetched.
    """

    def __init__(self) -> None:
        self._sections: dict[Section, _Elements] = {}
        self._count = 0

    def page_of(self, link: str) -> str | None:
        """The URL of the page that a link to one of its elements leads to; empty if that is not known.

        None for any other link. The link is remembered until a page with this element comes.
        """
        if not (name := element_of(link)):
            return None
        url = without_fragment(link)
        if (there := self._sections.get(section := section_of(url))) is None:
            if self._count >= _MOST:
                return ""
            there = self._sections[section] = _Elements()
        if name in there.pages:
            return there.pages[name][0]
        if self._count < _MOST and url not in (links := there.links.setdefault(name, {})):
            self._count += 1
            there.kinds.add(_kind(name))
            links[url] = None
        return ""

    def links_to(self, url: str, facts: Facts) -> list[str]:
        """The remembered links to the elements of a page that has come.

        An element that two pages have with other elements beside it, such as a numbered section, belongs to neither.
        """
        there = self._sections.get(section_of(url))
        if there is None:
            return []
        names = [name for name in facts.numbered_elements if _kind(name) in there.kinds]
        all_of_them, links = hash(tuple(names)), list[str]()
        for name in names:
            leading = there.links.pop(name, ())
            links += leading
            self._count -= len(leading)
            if name in there.pages:
                if there.pages[name][1] != all_of_them:
                    there.pages[name] = "", 0
            elif self._count < _MOST:
                self._count += 1
                there.pages[name] = url, all_of_them
        return links


def _kind(name: str) -> str:
    return name.rstrip("0123456789")
