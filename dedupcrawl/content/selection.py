"""What a reader has selected of pages, or left out (DEDUP_SELECTOR, DEDUP_IGNORE), by CSS selectors and by patterns.

Elements are found in time that an enemy cannot make grow with the square of the page.

As one XPath expression "div p" takes each p once for every div around it, and for each looks through all that was
found. So the library (cssselect, as parsel has it) is asked for the parts of a selector between its combinators, and
these are combined here, each in one pass over the page. (What stands within :not() and :has() is still the library's.)
"""

from __future__ import annotations

import html
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import msgspec
from cssselect import FunctionalPseudoElement, parse
from cssselect import Selector as Parsed
from cssselect.parser import Attrib, Class, CombinedSelector, Function, Hash, Pseudo
from parsel import Selector
from parsel.csstranslator import HTMLTranslator

from dedupcrawl.core.tags import tame
from dedupcrawl.page import Page

if TYPE_CHECKING:
    from cssselect.parser import PseudoElement, Tree

MOST_ELEMENTS = 10_000
"""In a page with more no element is selected: to tell which child of its parent one is, its siblings are counted.

So many siblings take 0.8 s of CPU, twice as many 3.1 s. Of 53,000 pages of eleven sites one has more.
"""

Element = Any  # lxml has no types
_parent, _previous = methodcaller("getparent"), methodcaller("getprevious")
_TRANSLATOR = HTMLTranslator()


def selected(markup: bytes, css: str) -> list[str]:
    """Markup of the elements that a selector finds, each once where one holds another, in page order.

    The page is in UTF-8, however broken; the selector as parsel takes it, with ::text and ::attr().

    Raises:
        ValueError: `css` is not a CSS selector.
    """
    page, elements = _parsed(markup)
    found = _found(page, elements, css)
    whole = {element for matching, pseudo_element in found if pseudo_element is None for element in matching}
    inside = _reaching(elements, whole, _parent)
    markups: list[str] = []
    for element in elements if any(matching for matching, _ in found) else ():
        if element in whole and element not in inside:
            markups.append(Selector(root=element, type="html").get())
        for matching, pseudo_element in found:
            if pseudo_element is not None and element in matching:
                markups += map(html.escape, _texts(element, pseudo_element))
    return markups


def without(markup: bytes, selectors: Sequence[str]) -> bytes:
    """Markup in UTF-8, however broken, without what stands in the elements that selectors find; as it is without any.

    The elements themselves stay, empty, so that what stands before and after them is as far apart as it was. Selectors
    have no pseudo-elements, see `check_selector`.
    """
    selectors = [css for css in selectors if may_find(markup, css)]
    if not selectors:
        return markup
    page, elements = _parsed(markup)
    found = {one for css in selectors for matching, _ in _found(page, elements, css) for one in matching}
    if not found:
        return markup
    for element in found:
        element.clear(keep_tail=True)
    whole: str = page.get()
    return whole.encode("utf-8", "replace")


def check_selector(css: str) -> str:
    """The selector itself, or a ValueError: it is not a CSS selector, or not one of elements."""
    if any(selector.pseudo_element is not None for selector in parsed_selectors(css)):
        raise ValueError(f"{css!r} is not a CSS selector: it is one of texts or attributes, not of elements")
    return css


def parsed_selectors(css: str) -> list[Parsed]:
    """The selectors of a list of them, or a ValueError: it is none."""
    try:
        _TRANSLATOR.css_to_xpath(css)  # raises where a part of it has no meaning
        return parse(css)
    except (SyntaxError, RuntimeError, ValueError) as error:  # cssselect's, then parsel's
        raise ValueError(f"{css!r} is not a CSS selector: {error}") from error


def may_find(markup: bytes, *selectors: str) -> bool:
    """False where a page has none of the classes and ids that selectors ask for; to see that takes no tree.

    To parse a page by lxml takes as long as all else that is done to it. (A class that is written in character
    references is not seen, and then not left out.)
    """
    markup = markup.replace(b"\0", b"")  # as parsers do; so UTF-16 has its ASCII classes too
    wanted = (words for css in selectors for words in _words_of(css))
    return any(all(word in markup and whole.search(markup) for word, whole in words) for words in wanted)


@lru_cache(maxsize=256)
def _words_of(css: str) -> list[list[tuple[bytes, re.Pattern[bytes]]]]:
    """For each selector of a list, the classes and ids without which it matches nothing, and what finds them."""
    return [list(map(_word, _names_in(one.parsed_tree))) for one in parsed_selectors(css)]


def _word(name: str) -> tuple[bytes, re.Pattern[bytes]]:
    word = name.encode("utf-8", "replace")  # which the pattern begins with: so most of a page is stepped over
    return word, re.compile(rb"""%b(?<=[\s"'=;]%b)(?=[\s"'>/&])""" % (re.escape(word), re.escape(word)))


def _names_in(tree: Tree) -> Iterator[str]:
    """The classes and ids that an element has, or one before or around it, if a selector matches it."""
    match tree:
        case CombinedSelector():
            yield from _names_in(tree.selector)
            yield from _names_in(tree.subselector)
        case Class():
            yield tree.class_name
            yield from _names_in(tree.selector)
        case Hash():
            yield tree.id
            yield from _names_in(tree.selector)
        case Attrib() | Pseudo() | Function():
            yield from _names_in(tree.selector)


def _parsed(markup: bytes) -> tuple[Selector, list[Element]]:
    """A page and its elements; none of a page in which nothing is to be found."""
    with warnings.catch_warnings(record=True) as cut:  # parsel warns of a page that nests deeper than is safe
        warnings.simplefilter("always")
        page = Selector(text=tame(markup).decode("utf-8", "replace"), type="html", huge_tree=False)
    elements = [] if cut else list(page.root.iter("*"))
    return page, elements if len(elements) <= MOST_ELEMENTS else []


def _found(page: Selector, elements: Sequence[Element], css: str) -> list[tuple[set[Element], PseudoElement | None]]:
    """For each selector of a list, the elements that it matches, and what of them it asks for."""
    selectors = parsed_selectors(css)
    try:
        return [(_matching(page, elements, one.parsed_tree), one.pseudo_element) for one in selectors]
    except ValueError as error:  # a namespace, which only the page lacks
        raise ValueError(f"{css!r} is not a CSS selector: {error}") from error


def _matching(page: Selector, elements: Sequence[Element], tree: Tree) -> set[Element]:
    """Those of all elements of a page, given in its order, that a selector without pseudo-elements matches."""
    if not elements:
        return set()
    if not isinstance(tree, CombinedSelector):
        return {match.root for match in page.xpath(_TRANSLATOR.selector_to_xpath(Parsed(tree)))}
    left, right = _matching(page, elements, tree.selector), _matching(page, elements, tree.subselector)
    match tree.combinator:
        case ">":
            return {element for element in right if _parent(element) in left}
        case "+":
            return {element for element in right if _previous(element) in left}
        case "~":
            return right & _reaching(elements, left, _previous)
        case _:
            return right & _reaching(elements, left, _parent)


def _reaching(
    elements: Sequence[Element], goals: set[Element], step: Callable[[Element], Element | None]
) -> set[Element]:
    """The elements, of all given in page order, from which a step, or several, lead to one of the goals."""
    reaching: set[Element] = set()
    for element in elements:
        following = step(element)
        if following in goals or following in reaching:
            reaching.add(element)
    return reaching


def _texts(element: Element, pseudo_element: PseudoElement) -> list[str]:
    """What ::text or ::attr() finds."""
    if isinstance(pseudo_element, FunctionalPseudoElement):
        value = element.get(pseudo_element.arguments[0].value)
        return [] if value is None else [value]
    return [text for text in (element.text, *(child.tail for child in element)) if text]


CSS, PATTERN = "css:", "re:"
# Characters in which a pattern is looked for at once, as it may take the cube of so many steps: "a.*b.*c" takes 0.02 s
# in 1,000 of "ab ab", 1.4 s in 4,000.
_PIECE = 1_000
_ONE_CHARACTER = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)  # which is escaped, or of a class
_GROUP = re.compile(r"\((?:\?[^()]*?[:=!>])?([^()]*)\)(?=([*+{]?))")  # that has no others in it; whether it is repeated
_CHOICE = re.compile(r"[*+?|]|\{[0-9]*,")


class Ignored(msgspec.Struct, frozen=True, gc=False):
    """What does not count."""

    selectors: tuple[str, ...] = ()  # CSS selectors of elements
    patterns: tuple[re.Pattern[str], ...] = ()  # regular expressions, each for what it finds in one line

    def may_find(self, html: bytes) -> bool:
        """False where a page certainly has nothing of it."""
        return bool(self.patterns) or may_find(html, *self.selectors)

    def markup(self, html: bytes) -> bytes:
        """A page in UTF-8 without what the selectors find."""
        return without(html, self.selectors) if self.selectors else html

    def line(self, text: str) -> str:
        """A line without what the patterns find; blanks beside that are one."""
        for pattern in self.patterns:
            left = _without(pattern, text)
            if left != text:
                text = " ".join(left.split())
        return text

    def lines(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Lines without what the patterns find, those left out of which nothing stays."""
        return tuple(left for text in texts if (left := self.line(text))) if self.patterns else tuple(texts)

    def page(self, page: Page) -> Page:
        """A page without what the patterns find."""
        if not self.patterns:
            return page
        return page.replace(
            title=self.line(page.title),
            paragraphs=self.lines(page.paragraphs),
            headings=self.lines(page.headings),
            asides=self.lines(page.asides),
            link_lines=self.lines(page.link_lines),
        )


NOTHING = Ignored()


def _without(pattern: re.Pattern[str], text: str) -> str:
    """A line without what a pattern finds; of a line longer than `_PIECE` what is longer than half of that may stay."""
    if len(text) <= _PIECE:
        return pattern.sub(" ", text)
    left, at, kept = [], 0, 0
    while at < len(text):
        found = pattern.search(text, at, at + _PIECE)
        if found and found.start() < at + _PIECE // 2 and found.end() > found.start():
            left.append(text[kept : found.start()])
            at = kept = found.end()
        else:
            at += _PIECE // 2
    return " ".join((*left, text[kept:]))


def entries_of(value: Any) -> tuple[str, ...]:
    """The entries of DEDUP_IGNORE, checked, or a ValueError that says why; a string is JSON, or one entry."""
    if isinstance(value, str):
        value = json.loads(value) if value.lstrip().startswith("[") else [value] if value.strip() else []
    if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
        raise ValueError("that is not a list of strings")
    read_ignored(tuple(value))
    return tuple(value)


@lru_cache(maxsize=256)
def read_ignored(entries: tuple[str, ...]) -> Ignored:
    """What the entries of DEDUP_IGNORE say: "css:.stats", "re:[(]Read [0-9]+ times[)]".

    Raises:
        ValueError: There is one that is neither, or no selector, or no pattern.
    """
    return Ignored(
        tuple(_selectors(entries)),
        tuple(_pattern(entry.removeprefix(PATTERN)) for entry in entries if entry.startswith(PATTERN)),
    )


def read_ignored_of(named: Iterable[tuple[str, tuple[str, ...]]]) -> Ignored:
    """What the entries of several files say together, each given with its name.

    Raises:
        ValueError: As `read_ignored`; the message begins with the name.
    """
    known: list[str] = []
    for name, entries in named:
        try:
            read_ignored(entries)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        known += entries
    return read_ignored(tuple(known))


def _selectors(entries: Iterable[str]) -> Iterable[str]:
    for entry in entries:
        if entry.startswith(CSS):
            yield check_selector(entry.removeprefix(CSS).strip())
        elif not entry.startswith(PATTERN):
            raise ValueError(f"{entry!r} begins neither with {CSS!r} nor with {PATTERN!r}")


def _pattern(written: str) -> re.Pattern[str]:
    try:
        found = re.compile(written)
    except re.error as error:
        raise ValueError(f"{written!r} is not a regular expression: {error}") from error
    if found.fullmatch(""):
        raise ValueError(f"{written!r} finds nothing at all in every line: say what is to be found")
    if _may_explode(written):
        raise ValueError(
            f"{written!r} repeats a group that has repeats or alternatives in it, as (x+)+: "
            "in a line made for it that would take years; write it without, as [0-9,]+ in place of ([0-9]+,?)+"
        )
    return found


def _may_explode(written: str) -> bool:
    """Whether a pattern repeats a choice, so that there are exponentially many ways to find, or not, the same text."""
    left = _ONE_CHARACTER.sub("x", written)
    while group := _GROUP.search(left):
        has_choice = _CHOICE.search(group[1])
        if has_choice and group[2]:
            return True
        left = left[: group.start()] + ("x?" if has_choice else "x") + left[group.end() :]
    return False
