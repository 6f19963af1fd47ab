"""Sections: parts of a site in which a rule is tried separately: it may be right in one and wrong in another.

The part that a URL belongs to follows from what sites usually route by: the host, the first two segments of the path,
the script or page at the end, and arguments whose value is a word (`route=product/search`, `view=print`), except those
that the rule drops. Only values in lower case are words. A value with capitals or figures is the name of one of many
pages; of it only the namespace counts (`Special:Search`), or the ending. Folders may have other names (`Our-people`,
`v2`).

In each part URLs that the rule changes are tried apart from those that have the form it makes. The latter are left out
as well, where another form was fetched first, and of two pages with the same text only one may have a link to a third.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.sites import site_of
from dedupcrawl.urls.compiled_rule import compiled, dropped, example
from dedupcrawl.urls.probation import (
    TRIALS_FOR_A_FAILURE,
    TRIALS_OF_A_SECTION,
    is_refuted,
    known_before,
    known_elsewhere,
    passes_lacking,
)
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.spelling import canonical_url

_MOST_ARGUMENTS = 32  # of a URL that are looked at
_MOST_SECTIONS = 24  # tried separately; set by hand, for twelve folders with two forms: tests/crawls/test_likely.py
_MOST_OFF = 16  # sections besides; a rule that is wrong in more is wrong
_SECTIONS_LIKE_A_TRIAL = 4  # of 2 to 100 all let through as few wrong uses, 1 one more
_LONGEST = 40  # characters of a word, and of an argument's name
_TRAITS_KEPT = 256  # URLs: all rules that were used on one ask, when it is rewritten, audited and told

_WORD = re.compile(r"[a-z]+(?:[_./:][a-z]+){0,3}", re.ASCII)
# Of a folder. Set by hand: a longer name, or one with more figures, is rather that of one of many pages.
_FOLDER = re.compile(r"[A-Za-z]+[0-9]{0,2}(?:[-_.][A-Za-z]+[0-9]{0,2}){0,2}", re.ASCII)
_SPACE = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)?:", re.ASCII)  # of names

_Key = tuple[tuple[str, str], ...]


@lru_cache(maxsize=_TRAITS_KEPT)
def traits(url: str) -> tuple[tuple[str, str], ...]:
    """Positions, sorted, and what a URL has there that may tell which part of its site it belongs to.

    >>> dict(traits("http://a.example/shop/list.php?route=product/search&limit=25"))
    {'?route': 'product/search', 'front': 'shop', 'host': 'a.example', 'page': 'list.php'}
    >>> dict(traits("http://a.example/wiki/Special:Search?title=Main_Page"))
    {'front': 'wiki', 'host': 'a.example', 'page': 'Special:*'}
    """
    parts = split_url(canonical_url(url))
    if parts is None:
        return ()
    made = {"host": parts.authority.partition(":")[0].lower()[:_LONGEST]}
    segments = [segment for segment in parts.segments if segment]
    if len(segments) > 1:
        made["front"] = _kind(segments[0], _FOLDER)
    if len(segments) > 2:
        made["second"] = _kind(segments[1], _FOLDER)
    if segments:
        made["page"] = _kind(segments[-1])
    for arg in parts.args[:_MOST_ARGUMENTS]:
        name, _, value = arg.partition("=")
        if len(name) <= _LONGEST and (kind := _kind(value)) != "*":
            made.setdefault(f"?{name}", kind)
    return tuple(sorted(made.items()))


def folders(url: str) -> tuple[tuple[str, str], ...]:
    """Of the `traits` of a URL its host and the folders at its root.

    >>> folders("http://a.example/shop/list.php?route=product/search")
    (('front', 'shop'), ('host', 'a.example'))
    """
    return tuple(one for one in traits(url) if one[0] in ("front", "host", "second"))


def _is_word(text: str, word: re.Pattern[str] = _WORD) -> bool:
    return len(text) <= _LONGEST and word.fullmatch(text) is not None


def _kind(text: str, word: re.Pattern[str] = _WORD) -> str:
    """A word, else the space of names that a name is in, or what it ends in; * for any other name."""
    if _is_word(text, word):
        return text
    if (space := _SPACE.match(text)) and len(space[0]) <= _LONGEST:
        return f"{space[0]}*"
    _, dot, end = text.rpartition(".")
    return f"*.{end}" if dot and _is_word(end) else "*"


class Section(msgspec.Struct):
    """What became of one rule in one part of a site, in this crawl.

    Attributes:
        before: What counts like trials here that passed and that failed, before this crawl.
        lacking: Trials that still have to pass until a use here is taken for right without one.
        doubted: The same, until it is sure that those which failed are few of all; known when nothing more is tried.
        left: Trials that may be begun to these ends; some tell nothing.
        failed: Of them.
        is_off: The rule is used here no more.
        counterexample: The first whose trial failed.
        led_to: What the rule made of that.
    """

    before: tuple[int, int]
    lacking: int
    doubted: int = 0
    left: int = 0
    uses: int = 0
    begun: int = 0
    open: int = 0
    passed: int = 0
    failed: int = 0
    is_off: bool = False
    example: str = ""
    counterexample: str = ""
    led_to: str = ""

    def __post_init__(self) -> None:
        self.left = 2 * self.lacking

    @property
    def is_wanting(self) -> bool:
        """True when the next use is to be tried."""
        return max(self.lacking, self.doubted) > self.open and self.left > 0 and not self.is_off

    @property
    def is_refuted(self) -> bool:
        """By what was found out here."""
        return bool(self.failed) and is_refuted(self.before[0] + self.passed, self.before[1] + self.failed)

    @property
    def is_backed(self) -> bool:
        """True when something has spoken for the rule here: a log, or a trial."""
        return self.before[0] + self.passed > 0

    def begin(self) -> None:
        self.begun += 1
        self.open += 1
        self.left = max(0, self.left - 1)

    def end(self) -> None:
        self.open = max(0, self.open - 1)

    def passes(self, url: str = "") -> None:
        """It found one page, of this URL."""
        self.passed += 1
        self.example = self.example or url
        self.lacking, self.doubted = max(0, self.lacking - 1), max(0, self.doubted - 1)

    def take_back(self) -> None:
        """One that has passed did not."""
        self.passed = max(0, self.passed - 1)

    def fails(self, url: str = "", led_to: str = "") -> None:
        """The trial found two pages: that of this URL, and another one where the rule led."""
        self.failed += 1
        if not self.counterexample:
            self.counterexample, self.led_to = url, led_to
        self.lacking = TRIALS_FOR_A_FAILURE
        self.left = 2 * self.lacking

    def settle(self) -> None:
        """Nothing more is tried: where some failed, earlier uses have to pass until it is sure that few are wrong."""
        before, self.doubted, self.open = max(self.lacking, self.doubted), 0, 0
        if self.failed and not self.is_off:
            self.doubted = passes_lacking(self.before[0] + self.passed, self.before[1] + self.failed)
        self.left += 2 * max(0, self.doubted - before)


class Sections:
    """Those of one rule. Bounded, whatever URLs come.

    Where the log has spoken for the rule, as its examples say, is one section. A rule that a person wrote, or that is
    known of other sites and tested by a log, or that was learned and has no examples, is spoken for everywhere; one of
    known software, or a likely one, is only where its own examples are, as this site may be another, and what pages say
    of their URLs nowhere, as is one that `is_new` to the owner of the pages. For one that is lossless its form speaks,
    everywhere.

    Attributes:
        needs_trials: Whether some have to pass in a section for which nothing speaks yet.
    """

    def __init__(self, rule: Rule, *, is_new: bool = False) -> None:
        failed_lately = rule.failed and rule.state == "probation"
        self.needs_trials = not rule.is_lossless
        passed, failed = known_before(rule)
        counts = (passed, failed) if self.needs_trials else (passed + 1, failed)
        self._known = Section(counts, TRIALS_FOR_A_FAILURE if failed_lately else 0)
        self._elsewhere = known_elsewhere(rule)
        of_others = is_new or rule.rests_on_others or (rule.source == "alias" and not rule.evidence.correct)
        is_of_any = not of_others and (rule.source != "learned" or not rule.examples)
        self._is_known_everywhere = is_of_any or not self.needs_trials
        self._dropped, self._dropped_starts, self._kept = dropped(rule)
        self._compiled = None if rule.source == "alias" else compiled(rule)
        self._spoken_for = {self._key(url) for url, _ in rule.examples}
        self._sections: dict[tuple[_Key, bool], Section] = {}  # and whether the rule changes the URLs
        self._off = {
            self._key(url): Section((0, 0), 0, is_off=True, counterexample=url, led_to=led_to)
            for url, led_to in rule.counterexamples[:_MOST_OFF]
        }

    def __iter__(self) -> Iterator[Section]:
        yield self._known
        yield from self._sections.values()
        yield from self._off.values()

    def of(self, url: str) -> Section:
        """The section of a URL that the rule is used on."""
        if self._is_known_everywhere:
            return self._known
        part = self._key(url)
        if part in self._off:
            return self._off[part]
        if part in self._spoken_for:
            return self._known
        key = part, self._changes(url)
        if key not in self._sections and len(self._spoken_for) + len(self._sections) >= _MOST_SECTIONS:
            key = (), False
        if key not in self._sections:
            alike = self._like_trials()
            self._sections[key] = Section((self._elsewhere + alike, 0), max(0, TRIALS_OF_A_SECTION - alike))
        return self._sections[key]

    def _changes(self, url: str) -> bool:
        """Whether the rule makes another URL of this one, by itself."""
        return self._compiled is not None and example(self._compiled, url, site_of(url)) is not None

    def _like_trials(self) -> int:
        """How many trials that passed in a new section what is known of others is like; none if any has failed."""
        if any(section.failed or section.is_off for section in self):
            return 0
        passed = sum(section.passed > 0 for section in self._sections.values())
        return (len(self._spoken_for) + passed) // _SECTIONS_LIKE_A_TRIAL

    def proved(self) -> list[str]:
        """An example of each section where trials have spoken for the rule, and nothing did before."""
        sections = self._sections.values()
        return [section.example for section in sections if section.passed and not section.lacking and section.example]

    def failing(self) -> list[tuple[str, str]]:
        """A pair that is two pages of each section where it was wrong: a URL of the section first."""
        return [(section.counterexample, section.led_to) for section in self if section.counterexample]

    def refuted(self) -> list[tuple[str, str]]:
        """The same of each section where the rule is no longer used."""
        return [(section.counterexample, section.led_to) for section in self._off.values() if section.counterexample]

    def is_off(self, url: str) -> bool:
        return bool(self._off) and self._key(url) in self._off

    def switch_off(self, section: Section) -> bool:
        """The rule is used in this section no more; False when it cannot be said what URLs are meant."""
        part = next((part for (part, _), one in self._sections.items() if one is section), ())
        if not part or len(self._off) >= _MOST_OFF:
            return False
        self._sections = {key: one for key, one in self._sections.items() if key[0] != part}
        self._off[part] = section
        section.is_off = True
        return True

    def _key(self, url: str) -> _Key:
        return tuple([(position, kind) for position, kind in traits(url) if not self._is_dropped(position)])

    def _is_dropped(self, position: str) -> bool:
        name = position[1:]
        if position[0] != "?" or name in self._kept:
            return False
        return name in self._dropped or name.startswith(self._dropped_starts)
