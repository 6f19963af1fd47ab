"""Find elements of pages by CSS selectors (DEDUP_SELECTOR, DEDUP_IGNORE), in bounded time.

As one XPath expression, "div p" visits each p once for every div around it, and ":has(~ p)" all later siblings of each
element. A library that backtracks, such as lexbor, tries every four of the spans around an element for ".x span span
span span". So this module passes only one condition of a selector at a time to the library (cssselect, as in parsel),
and evaluates combinators, :not(), :is(), :where() and :has() as operations on sets of elements, each in one pass over
the page.
"""

from __future__ import annotations

import html
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import lru_cache
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from cssselect import FunctionalPseudoElement, parse
from cssselect import Selector as Parsed
from cssselect.parser import (
    Class,
    CombinedSelector,
    Element,
    Hash,
    Matching,
    Negation,
    Relation,
    SpecificityAdjustment,
)
from parsel import Selector
from parsel.csstranslator import HTMLTranslator

from dedupcrawl.core.tags import tame

if TYPE_CHECKING:
    from cssselect.parser import PseudoElement, Tree

MOST_ELEMENTS = 10_000
"""On a page with more elements none is selected, because :nth-child() counts the siblings of each element.

For this many siblings it takes 0.8 s of CPU, for twice as many 3.1 s. Of 53,000 pages of eleven sites one has more.
"""

Node = Any  # lxml has no types
_parent, _previous = methodcaller("getparent"), methodcaller("getprevious")
_STEPS: dict[str, tuple[Callable[[Node], Node | None], bool]] = {
    ">": (_parent, False),
    " ": (_parent, True),
    "+": (_previous, False),
    "~": (_previous, True),
}
"""Combinator → the step from the element on its right to the one on its left, and whether it may be repeated."""
_TRANSLATOR = HTMLTranslator()


def selected(markup: bytes, css: str) -> list[str]:
    """Markup of the elements that a selector finds, in page order; elements inside others are not repeated.

    The page is in UTF-8 and may be broken; the selector may have parsel's ::text and ::attr().

    Raises:
        ValueError: `css` is not a CSS selector.
    """
    page = _Page(tame(markup).decode("utf-8", "replace"))
    matches = [(page.matching(one.parsed_tree), one.pseudo_element) for one in parsed_selectors(css)]
    if not any(nodes for nodes, _ in matches):
        return []
    whole = {node for nodes, pseudo_element in matches if pseudo_element is None for node in nodes}
    inside = page.reached(" ", whole)
    partly = [(nodes, pseudo_element) for nodes, pseudo_element in matches if pseudo_element is not None]
    markups: list[str] = []
    for node in page.selector.root.xpath("//* | //text()") if partly else page.nodes:
        if node in whole and node not in inside:
            markups.append(Selector(root=node, type="html").get())
        for nodes, pseudo_element in partly:
            markups += map(html.escape, _texts(node, nodes, pseudo_element))
    return markups


def without(markup: bytes, selectors: Sequence[str]) -> bytes:
    """Remove the content of the elements that selectors find from markup in UTF-8, which may be broken.

    The elements themselves stay, so that the texts around them are not joined. If nothing is found, the markup is
    unchanged. Selectors must not have pseudo-elements (see `check_selector`).
    """
    trees = [one.parsed_tree for css in selectors if may_find(markup, css) for one in parsed_selectors(css)]
    if not trees:
        return markup
    page = _Page(tame(markup).decode("utf-8", "replace"))
    matches = set().union(*map(page.matching, trees))
    for node in matches:
        node.clear(keep_tail=True)
    return page.selector.get().encode("utf-8", "replace") if matches else markup


def check_selector(css: str) -> str:
    """Return the selector if it selects elements.

    Raises:
        ValueError: It is not a CSS selector, or has a pseudo-element.
    """
    if any(selector.pseudo_element is not None for selector in parsed_selectors(css)):
        raise ValueError(f"{css!r} is not a CSS selector: it is one of texts or attributes, not of elements")
    return css


@lru_cache(maxsize=256)
def parsed_selectors(css: str) -> list[Parsed]:
    """Parse a list of selectors, and check that each can be evaluated.

    Raises:
        ValueError: One of them is invalid.
    """
    try:
        _TRANSLATOR.css_to_xpath(css)  # raises for unknown pseudo-elements
        selectors = parse(css)
        page = _Page("<html>")
        for one in selectors:
            page.matching(one.parsed_tree)
    except (SyntaxError, RuntimeError, ValueError) as error:  # cssselect's, then parsel's
        raise ValueError(f"{css!r} is not a CSS selector: {error}") from error
    return selectors


def may_find(markup: bytes, *selectors: str) -> bool:
    """Whether a page has the classes and ids that one of the selectors needs, judging by its bytes alone.

    Parsing a page with lxml takes as long as all other work on it. (A class written with character references is
    overlooked, so its elements are not found.)
    """
    markup = markup.replace(b"\0", b"")  # as parsers do; so ASCII classes in UTF-16 are found, too
    wanted = (words for css in selectors for words in _words_of(css))
    return any(all(word in markup and whole.search(markup) for word, whole in words) for words in wanted)


@lru_cache(maxsize=256)
def _words_of(css: str) -> list[list[tuple[bytes, re.Pattern[bytes]]]]:
    """For each selector of a list, the classes and ids that it needs, each with a pattern that finds it."""
    return [list(map(_word, _names_in(one.parsed_tree))) for one in parsed_selectors(css)]


def _word(name: str) -> tuple[bytes, re.Pattern[bytes]]:
    word = name.encode("utf-8", "replace")  # the pattern begins with it, so a search skips most of the page
    return word, re.compile(rb"""%b(?<=[\s"'=;]%b)(?=[\s"'>/&])""" % (re.escape(word), re.escape(word)))


def _names_in(tree: Tree) -> Iterator[str]:
    """The classes and ids that an element, or one before or around it, must have if a selector matches the element."""
    if isinstance(tree, Class):
        yield tree.class_name
    elif isinstance(tree, Hash):
        yield tree.id
    elif isinstance(tree, CombinedSelector):
        yield from _names_in(tree.subselector)
    if not isinstance(tree, Element):
        yield from _names_in(tree.selector)


class _Page:
    """A page as a tree, and the sets of its elements that selectors match.

    Attributes:
        selector: The tree.
        nodes: Its elements in page order; empty if there are too many, or they are nested too deeply.
    """

    def __init__(self, text: str) -> None:
        is_huge = text.count("<") - text.count("</") >= MOST_ELEMENTS  # its tree would take 90 times the memory
        with warnings.catch_warnings(record=True) as cut:  # parsel warns of a page nested too deeply
            warnings.simplefilter("always")
            self.selector = Selector(text="" if is_huge else text, type="html", huge_tree=False)
        self.nodes: Sequence[Node] = [] if is_huge or cut else list(self.selector.root.iter("*"))

    def matching(self, tree: Tree) -> set[Node]:
        """The elements that a selector without pseudo-elements matches."""
        if isinstance(tree, Element):
            return self._by_library(tree) if tree.element or tree.namespace else set(self.nodes)
        base = self.matching(tree.selector)
        match tree:
            case CombinedSelector():
                return self.matching(tree.subselector) & self.reached(tree.combinator, base)
            case Negation():
                return base - self.matching(tree.subselector)
            case Matching() | SpecificityAdjustment():
                return base & set().union(*map(self.matching, tree.selector_list))
            case Relation():
                return base & set().union(*(self._having(*argument) for argument in _arguments(tree)))
        condition = copy(tree)
        while not isinstance(condition.selector, Element):
            condition.selector = condition.selector.selector
        return base & self._by_library(condition)

    def reached(self, combinator: str, left: set[Node]) -> set[Node]:
        """The elements on the right of a combinator that has one of `left` on its left."""
        step, repeated = _STEPS[combinator]
        reached: set[Node] = set()
        for node in self.nodes:
            before = step(node)
            if before in left or (repeated and before in reached):
                reached.add(node)
        return reached

    def _having(self, combinator: str, tree: Tree) -> set[Node]:
        """The elements with a match of a selector on the right of a combinator; works from its end to its start."""
        matches = set(self.nodes)
        while isinstance(tree, CombinedSelector):
            matches = _leading(tree.combinator, matches & self.matching(tree.subselector))
            tree = tree.selector
        return _leading(combinator, matches & self.matching(tree))

    def _by_library(self, tree: Tree) -> set[Node]:
        if not self.nodes:
            return set()
        return {match.root for match in self.selector.xpath(_TRANSLATOR.selector_to_xpath(Parsed(tree)))}


def _leading(combinator: str, right: set[Node]) -> set[Node]:
    """The elements on the left of a combinator that has one of `right` on its right."""
    step, repeated = _STEPS[combinator]
    leading: set[Node] = set()
    for node in right:
        before = step(node)
        while before is not None and before not in leading:
            leading.add(before)
            before = step(before) if repeated else None
    return leading


def _arguments(relation: Any) -> list[tuple[str, Tree]]:
    if hasattr(relation, "arguments"):
        return [(combinator.value, selector.parsed_tree) for combinator, selector in relation.arguments]
    return [(relation.combinator.value, relation.subselector.parsed_tree)]  # cssselect 1.5, the last for Python 3.10


def _texts(node: Node, nodes: set[Node], pseudo_element: PseudoElement) -> list[str]:
    """The attribute or text at `node` that ::attr() or ::text selects for the elements in `nodes`."""
    if isinstance(pseudo_element, FunctionalPseudoElement):
        value = node.get(pseudo_element.arguments[0].value) if node in nodes else None
        return [] if value is None else [value]
    if not hasattr(node, "is_tail"):  # not one of lxml's strings, which know their place
        return []
    page_context = node.getparent().getparent() if node.is_tail else node.getparent()
    return [node] if page_context in nodes else []
