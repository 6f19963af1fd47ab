"""Layouts: real pages whose article is taken out, so that any other text can be set in its place."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from parsel import Selector

_MOST_OF_IT = 0.8  # of the article's lines, which the container of the article holds
_LINE = 30  # characters of a line that is looked for
_CHINESE_LINE = 12
_NOT_READ = frozenset(
    ("head", "noscript", "script", "style", "template", "textarea")
)  # what is set in these, nobody sees


@dataclass(frozen=True, slots=True)
class Layout:
    """A page without its article.

    Attributes:
        name: Of the page that it was taken from.
        tree: The page, an element of lxml.
        path: Of the element that held the article.
    """

    name: str
    tree: Any
    path: str

    @classmethod
    def of(cls, name: str, markup: str, article: str) -> Layout | None:
        """The layout of a page whose article is known; None where no element holds it."""
        tree = Selector(text=markup, type="html").root
        lines = [line for line in map(_collapsed, article.splitlines()) if len(line) >= _least(line)]
        container = _container(tree, lines)
        if container is None:
            return None
        whole = _collapsed(article)
        for child in _elements(container):
            text = _collapsed("".join(child.itertext()))
            if text and (text in whole or any(line in text for line in lines)):
                container.remove(child)
            elif child.tail and _collapsed(child.tail) in whole:
                child.tail = None
        container.text = None
        path = tree.getroottree().getpath(container)
        return None if ":" in path else cls(name, tree, path)  # a made-up namespace, of which nothing can be found

    def page(self, headline: str, paragraphs: Sequence[str]) -> bytes:
        """The page with another article in it."""
        tree = copy.deepcopy(self.tree)
        container = tree.getroottree().xpath(self.path)[0]
        for place, text in enumerate(paragraphs):
            paragraph = container.makeelement("p")
            paragraph.text = text
            container.insert(place, paragraph)
        for heading in [*tree.iter("title"), *list(tree.iter("h1"))[:1]]:
            heading.clear()
            heading.text = headline
        whole: str = Selector(root=tree, type="html").get()
        return whole.encode("utf-8", "replace")


def _container(tree: Any, lines: Sequence[str]) -> Any | None:
    """The innermost element that holds most of the lines."""
    total = sum(map(len, lines))
    found = None
    element = tree
    while total:
        found = element
        inner = [
            child
            for child in _elements(element)
            if child.tag not in _NOT_READ and _held(child, lines) >= _MOST_OF_IT * total
        ]
        if not inner:
            break
        element = inner[0]
    return found if found is not None and found.tag not in ("html", "body") else None


def _elements(element: Any) -> list[Any]:
    """The children that are no comments."""
    return [child for child in element if isinstance(child.tag, str)]


def _held(element: Any, lines: Sequence[str]) -> int:
    text = _collapsed("".join(element.itertext()))
    return sum(len(line) for line in lines if line in text)


def _collapsed(text: str) -> str:
    return " ".join(text.split())


def _least(line: str) -> int:
    return _LINE if line.isascii() else _CHINESE_LINE
