"""Elements of pages that CSS selectors find (DEDUP_SELECTOR, DEDUP_IGNORE), in bounded time.

As one XPath expression, "div p" takes each p once for every div around it, and ":has(~ p)" looks at all later siblings
of each element; a library that backtracks, as lexbor does, tries every four of the spans around an element for ".x span
span span span". So the library (cssselect, as parsel has it) is asked for one condition of a selector at a time.
Combinators, :not(), :is(), :where() and :has() are operations on sets of elements, one pass over the page each.
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
"""In a page with more no element is selected: for :nth-child() the siblings of each element are counted.

So many siblings take 0.8 s of CPU, twice as many 3.1 s. Of 53,000 pages of eleven sites one has more.
"""

Node = Any  # lxml has no types
_parent, _previous = methodcaller("getparent"), methodcaller("getprevious")
_STEPS: dict[str, tuple[Callable[[Node], Node | None], bool]] = {
    ">": (_parent, False),
    " ": (_parent, True),
    "+": (_previous, False),
    "~": (_previous, True),
}
"""Combinator → the step from what stands on its right to what stands on its left, and whether it may be repeated."""
_TRANSLATOR = HTMLTranslator()


def selected(markup: bytes, css: str) -> list[str]:
    """Markup of the elements that a selector finds, each once where one holds another, in page order.

    The page is in UTF-8, however broken; the selector as parsel takes it, with ::text and ::attr().

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
    """Markup in UTF-8, however broken, without the content of the elements that selectors find; unchanged without any.

    The elements themselves stay, empty, so that the text before and after them is as far apart as it was. Selectors
    have no pseudo-elements, see `check_selector`.
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
    """The selector itself, or a ValueError: it is not a CSS selector, or not one of elements."""
    if any(selector.pseudo_element is not None for selector in parsed_selectors(css)):
        raise ValueError(f"{css!r} is not a CSS selector: it is one of texts or attributes, not of elements")
    return css


@lru_cache(maxsize=256)
def parsed_selectors(css: str) -> list[Parsed]:
    """The selectors of a list of them, each of which can be looked for, or a ValueError."""
    try:
        _TRANSLATOR.css_to_xpath(css)  # raises where a pseudo-element has no meaning
        selectors = parse(css)
        page = _Page("<html>")
        for one in selectors:
            page.matching(one.parsed_tree)
    except (SyntaxError, RuntimeError, ValueError) as error:  # cssselect's, then parsel's
        raise ValueError(f"{css!r} is not a CSS selector: {error}") from error
    return selectors


def may_find(markup: bytes, *selectors: str) -> bool:
    """False if a page has none of the classes and ids that the selectors need, which can be seen without a tree.

    To parse a page with lxml takes as long as everything else that is done with it. (A class that is written in
    character references is not seen, and then not left out.)
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
        nodes: Its elements in page order; none where there are too many, or nested too deeply, to look for any.
    """

    def __init__(self, text: str) -> None:
        is_huge = text.count("<") - text.count("</") >= MOST_ELEMENTS  # of which a tree would take 90 times the memory
        with warnings.catch_warnings(record=True) as cut:  # parsel warns of a page that nests deeper than is safe
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
        """The elements that have, on the right of a combinator, what a selector matches: from its end to its start."""
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
    """The combinators and selectors that :has() asks for."""
    if hasattr(relation, "arguments"):
        return [(combinator.value, selector.parsed_tree) for combinator, selector in relation.arguments]
    return [(relation.combinator.value, relation.subselector.parsed_tree)]  # cssselect 1.5, the last for Python 3.10


def _texts(node: Node, nodes: set[Node], pseudo_element: PseudoElement) -> list[str]:
    """The attribute of an element, or the text, that ::attr() or ::text finds here, for the elements `nodes`."""
    if isinstance(pseudo_element, FunctionalPseudoElement):
        value = node.get(pseudo_element.arguments[0].value) if node in nodes else None
        return [] if value is None else [value]
    if not hasattr(node, "is_tail"):  # lxml's strings know where they stand
        return []
    page_context = node.getparent().getparent() if node.is_tail else node.getparent()
    return [node] if page_context in nodes else []
